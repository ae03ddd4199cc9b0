"""Chrome JSON of a given size that would take disproportionate time if any step were not linear: a hundred thousand items of
one kind, with equal times, equal names, deep, wide, shuffled, crossing, and so on. Each kind is a function of the number of
events."""
import json
import random


def x(i, **more):
    return {'ph': 'X', 'pid': 1, 'tid': 1, 'ts': i, 'dur': 1, 'name': 'a', **more}


def colliding_names(n):
    """Yields names that differ only at positions that cheap hashes skip or where differences cancel out."""
    return ('%08x' % (i * 0x9e3779b1 & 0xffffffff) + 'x' * 24 + '%08x' % (-i * 0x9e3779b1 & 0xffffffff) for i in range(n))


KINDS = {}


def kind(function):
    KINDS[function.__name__] = function
    return function


@kind
def plain(n):
    return [x(i * 2, name='op%d' % (i % 100), args={'i': i}) for i in range(n)]


@kind
def names(n):
    return [x(i * 2, name='name %d' % i) for i in range(n)]


@kind
def hashes(n):
    return [x(i * 2, name=name) for i, name in enumerate(colliding_names(n))]


@kind
def categories(n):
    return [x(i * 2, cat='c%d' % i) for i in range(n)]


@kind
def keys(n):
    return [x(i * 2, args={'k%d' % i: 1}) for i in range(n)]


@kind
def shapes(n):
    return [x(i * 2, args={'abcdefghijklmnop'[k]: 1 for k in range(16) if i >> k & 1}) for i in range(n)]


@kind
def values(n):
    return [x(i * 2, args={'k': 'value %d' % i}) for i in range(n)]


@kind
def users(n):
    return [x(i * 2, name='/home/u%d/a/b.py' % i) for i in range(n)]


@kind
def separators(n):
    return [x(i, name=word * (n // 4)) for i, word in enumerate(('a.b-c=d:e/f@g_h ', '=', 'a@', '1.', 'a:', '--token ', '://', 'a+'))]


@kind
def one_event_of_args(n):
    return [x(0, args={'k%d' % i: i for i in range(n * 4)})]


@kind
def nested_args(n):
    return [x(i, args={'k': {'a': [1, {'b': [2, 3]}]}}) for i in range(n)]


@kind
def long_string(n):
    return [x(0, args={'k': 'y' * (n * 60)})]


@kind
def escapes(n):
    return [x(i, name='\u0001\u0002\u0003"\\%d' % i) for i in range(n)]


@kind
def processes(n):
    return [x(0, pid=i) for i in range(n)]


@kind
def named_processes(n):
    return [e for i in range(n // 2) for e in ({'ph': 'M', 'pid': i, 'name': 'process_name', 'args': {'name': 'p'}}, x(0, pid=i))]


@kind
def threads(n):
    return [x(0, tid=i) for i in range(n)]


@kind
def named_threads(n):
    return [e for i in range(n // 2) for e in ({'ph': 'M', 'pid': 1, 'tid': i, 'name': 'thread_name', 'args': {'name': 't'}}, x(0, tid=i))]


@kind
def text_tids(n):
    return [x(0, tid='thread %d' % i) for i in range(n)]


@kind
def quoted_tids(n):
    return [x(i, tid=str(i % 9) if i & 1 else i % 9) for i in range(n)]


@kind
def one_time(n):
    return [x(0, name='n%d' % (i % 9)) for i in range(n)]


@kind
def no_time(n):
    return [x(0, dur=0) for i in range(n)]


@kind
def deep(n):
    return [x(i, dur=2 * (n - i)) for i in range(n)]


@kind
def deep_pairs(n):
    return [{'ph': 'B', 'pid': 1, 'tid': 1, 'ts': i, 'name': 'a'} for i in range(n // 2)] + \
           [{'ph': 'E', 'pid': 1, 'tid': 1, 'ts': n + i} for i in range(n // 2)]


@kind
def never_ending(n):
    return [{'ph': 'B', 'pid': 1, 'tid': 1, 'ts': i, 'name': 'a'} for i in range(n)]


@kind
def ends_alone(n):
    return [{'ph': 'E', 'pid': 1, 'tid': 1, 'ts': i} for i in range(n)]


@kind
def overlapping(n):
    return [x(i, dur=1000) for i in range(n)]


@kind
def staircase(n):
    return [x(i, dur=n + i) for i in range(n)]


@kind
def pairs_across_spans(n):
    return [e for i in range(n // 3) for e in ({'ph': 'B', 'pid': 1, 'tid': 1, 'ts': 3 * i, 'name': 'b'}, x(3 * i + 1, dur=4),
                                               {'ph': 'E', 'pid': 1, 'tid': 1, 'ts': 3 * i + 2})]


@kind
def backwards(n):
    return [x(2 * (n - i)) for i in range(n)]


@kind
def shuffled(n):
    events = plain(n)
    random.Random(1).shuffle(events)
    return events


@kind
def zigzag(n):
    return [x(2 * i if i & 1 else 4 * n - 2 * i) for i in range(n)]


@kind
def asyncs(n):
    return [{'ph': p, 'cat': 'c', 'id': i, 'pid': 1, 'tid': 1, 'ts': i + (p == 'e'), 'name': 'a'} for i in range(n // 2) for p in 'be']


def one_async(n, order, name='a'):
    begins = [{'ph': 'b', 'cat': 'c', 'id': 1, 'pid': 1, 'tid': 1, 'ts': i, 'name': name if name else 'n%d' % i} for i in range(n // 2)]
    ends = [{'ph': 'e', 'cat': 'c', 'id': 1, 'pid': 1, 'tid': 1, 'ts': n + k, 'name': name if name else 'n%d' % i}
            for k, i in enumerate(order(range(n // 2)))]
    return begins + ends


@kind
def asyncs_that_end_elsewhere(n):
    return [{'ph': p, 'cat': 'c', 'id': i, 'pid': i if p == 'b' else i * 7 % n, 'tid': 1, 'ts': i + 5 * (p == 'e'), 'name': 'a'}
            for i in range(n // 2) for p in 'be']


@kind
def nested_asyncs(n):
    return one_async(n, reversed)


@kind
def crossing_asyncs(n):
    return one_async(n, list, None)


@kind
def one_name_asyncs(n):
    return one_async(n, list)


@kind
def asyncs_at_once(n):
    return [{'ph': p, 'cat': 'c', 'id': i, 'pid': 1, 'tid': 1, 'ts': p == 'e', 'name': 'a'} for p in 'be' for i in range(n // 2)]


@kind
def steps_of_one_async(n):
    return [{'ph': 'n', 'cat': 'c', 'id': 1, 'pid': 1, 'tid': 1, 'ts': i, 'name': 'a'} for i in range(n)]


@kind
def flows(n):
    return [e for i in range(n // 3) for e in (x(2 * i), {'ph': 's', 'id': i, 'pid': 1, 'tid': 1, 'ts': 2 * i, 'name': 'f', 'cat': 'f'},
                                               {'ph': 'f', 'bp': 'e', 'id': i, 'pid': 1, 'tid': 1, 'ts': 2 * i + 1, 'name': 'f', 'cat': 'f'})]


@kind
def one_flow(n):
    return [x(0, dur=n)] + [{'ph': 't', 'id': 1, 'pid': 1, 'tid': 1, 'ts': i, 'name': 'f', 'cat': 'f'} for i in range(n)]


@kind
def flows_at_once(n):
    return [x(0, dur=n)] + [{'ph': 's' if i & 1 else 'f', 'id': i // 2, 'pid': 1, 'tid': 1, 'ts': 1, 'name': 'f', 'cat': 'f'} for i in range(n)]


@kind
def flow_starts(n):
    return [x(0, dur=n)] + [{'ph': 's', 'id': i, 'pid': 1, 'tid': 1, 'ts': i, 'name': 'f', 'cat': 'f'} for i in range(n)]


@kind
def points_of_one_span(n):
    return [x(0, dur=n)] + [{'ph': 's', 'id': i, 'pid': 1, 'tid': 1, 'ts': 1, 'name': 'f%d' % (i % 50), 'cat': 'f'} for i in range(n)]


@kind
def flows_after_nest(n):
    return [*({'ph': 'B', 'pid': 1, 'tid': 1, 'ts': i, 'name': 'a'} for i in range(n // 3)),
            *({'ph': 'E', 'pid': 1, 'tid': 1, 'ts': n + i} for i in range(n // 3)),
            *({'ph': 'f', 'bp': 'e', 'pid': 1, 'tid': 1, 'ts': 3 * n + i, 'id': i, 'name': 'f'} for i in range(n // 3))]


@kind
def flows_among_ties(n):
    return [*(x(5, dur=0) for _ in range(n // 2)),
            *({'ph': 'f', 'pid': 1, 'tid': 1, 'ts': 5, 'id': i, 'name': 'f'} for i in range(n // 2))]


@kind
def flows_before_instants(n):
    return [*({'ph': 'i', 's': 't', 'pid': 1, 'tid': 1, 'ts': 9, 'name': 'a'} for _ in range(n // 2)),
            *({'ph': 'f', 'pid': 1, 'tid': 1, 'ts': 5, 'id': i, 'name': 'f'} for i in range(n // 2))]


@kind
def bound_flows(n):
    return [x(i * 2, bind_id=i // 2, flow_in=bool(i & 1), flow_out=not i & 1) for i in range(n)]


@kind
def counters(n):
    return [{'ph': 'C', 'pid': 1, 'ts': i, 'name': 'c', 'args': {'v': i}} for i in range(n)]


@kind
def counter_names(n):
    return [{'ph': 'C', 'pid': 1, 'ts': i, 'name': 'c%d' % i, 'args': {'v': i}} for i in range(n)]


@kind
def counter_series(n):
    return [{'ph': 'C', 'pid': 1, 'ts': i, 'name': 'c', 'args': {'v%d' % i: 1}} for i in range(n)]


@kind
def instants(n):
    return [{'ph': 'i', 's': 'tpg'[i % 3], 'pid': 1, 'tid': 1, 'ts': 0, 'name': 'i'} for i in range(n)]


@kind
def metadata(n):
    return [{'ph': 'M', 'pid': 1, 'tid': 1, 'name': 'thread_name', 'args': {'name': 't%d' % i}} for i in range(n)] + [x(0)]


@kind
def records(n):
    return [{'ph': 'O', 'id': i, 'pid': 1, 'tid': 1, 'ts': i, 'name': 'o', 'args': {'snapshot': {'v': i}}} for i in range(n)]


@kind
def unknown_phases(n):
    return [{'ph': 'z', 'pid': 1, 'tid': 1, 'ts': i, 'name': 'o'} for i in range(n)]


@kind
def without_pid(n):
    return [{'ph': 'X', 'ts': i, 'dur': 1, 'name': 'a'} for i in range(n)]


@kind
def lost_clocks(n):
    return [x(i if i & 1 else 1 << 62) for i in range(n)]


@kind
def ranks(n):
    return [e for i in range(n // 3) for e in ({'ph': 'M', 'pid': i, 'name': 'process_labels', 'args': {'labels': 'GPU %d' % i}},
                                               {'ph': 'M', 'pid': i, 'name': 'process_sort_index', 'args': {'sort_index': -i}}, x(0, pid=i))]


@kind
def steps(n):
    return [x(10 * i, dur=9, name='ProfilerStep#%d' % i) for i in range(n)]


@kind
def nested_steps(n):
    return [x(i, dur=10 * n - 2 * i, cat='user_annotation', name='ProfilerStep#%d' % i) for i in range(n // 2)] + [
        x(n + 4 * i, dur=2, cat='cpu_op', tid=2) for i in range(n // 2)]


@kind
def collectives(n):
    args = {'Collective name': 'allreduce', 'Process Group Name': '0', 'Group size': 2, 'In msg nelems': 4, 'dtype': 'Float'}
    return [x(10 * i, cat='kernel', name='ncclDevKernel_AllReduce', args={**args, 'Seq': i}) for i in range(n // 3)]


@kind
def devices(n):
    return [x(10 * i, cat='kernel', pid=i, tid=7, args={'correlation': i, 'stream': 7, 'device': i}) for i in range(n)]


@kind
def streams(n):
    return [x(10 * i, cat='kernel', pid=i % 9, tid=i, args={'correlation': i, 'stream': i, 'device': i % 9}) for i in range(n)]


@kind
def devices_with_steps(n):
    return [e for i in range(n // 2) for e in (x(10 * i, cat='kernel', pid=i, tid=7, args={'stream': 7}),
                                               x(10 * i, cat='user_annotation', pid=n + i, tid=1, name='ProfilerStep#%d' % i))]


@kind
def allocators(n):
    return [{'ph': 'i', 'pid': 1, 'tid': 1, 'ts': i, 'name': '[memory]', 's': 't', 'args': {'Device Type': 1, 'Device Id': i, 'Total Allocated': i}}
            for i in range(n)]


@kind
def frames(n):
    return [x(i, cat='python_function', name='f%d' % i, args={'Python id': i, 'Python parent id': i - 1}) for i in range(n)]


@kind
def empty_objects(n):
    return [{} for i in range(n)]


# Texts that no JSON writer would print; write_raw() repeats one of them in an arg that never ends.
RAW = {'quotes': '"a"b"', 'dicts': '"{"x"', 'open dicts': '"{"x": "y', 'numbers': '7,757', 'commas': ',', 'brackets': '[{'}


def write_raw(path, name, size):
    """Writes a file of about `size` bytes that is cut off within an arg."""
    with open(path, 'w', encoding='utf-8') as f:
        f.write('{"traceEvents":[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":1,"name":"a","args":{"k":[')
        f.write(','.join([RAW[name]] * (size // (len(RAW[name]) + 1))))


def write(path, name, size):
    """Writes a file of about `size` bytes."""
    few = KINDS[name](2000)
    each = len(json.dumps(few)) / 2000
    with open(path, 'w', encoding='utf-8') as f:
        json.dump({'traceEvents': KINDS[name](max(1, int(size / each)))}, f)
