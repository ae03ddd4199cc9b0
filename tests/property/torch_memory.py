#!/usr/bin/env python3
"""Checks memory snapshots of PyTorch: the timeline equals a model of the history (amounts, allocations, annotations, instants), in
pickles of every protocol; streams and devices; a history without its start; refused, truncated and damaged files; no field of
the environment is read; time grows linearly."""
import collections
import json
import os
import pickle
import pickletools
import random
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from databases import check_damage, check_formats, converted, named, path, tracekit  # noqa: E402
from snapshot import BASE_US, Snapshot, expected  # noqa: E402
from verdict import check, finish, judge  # noqa: E402

LONG = bool(os.environ.get('LONG'))


def save(name, data):
    with open(path(name), 'wb') as f:
        f.write(data)
    return path(name)


def counters(events, base, pid, name):
    found = [(e['ts'] * 1000 + base, e['args']['bytes']) for e in events if e['ph'] == 'C' and e['pid'] == pid and e['name'] == name]
    return [(round(ts / 1000), value) for ts, value in found]


def allocations(events, base, pid):
    """Returns (start, end or None, bytes) of each asynchronous span, in us since the epoch."""
    begins, found = {}, []
    for e in events:
        if e['pid'] != pid or e['ph'] not in 'be':
            continue
        if e['ph'] == 'b':
            begins[e['id']] = e
        else:
            begin = begins.pop(e['id'])
            found.append((begin, e['ts']))
    found += [(begin, None) for begin in begins.values()]
    us = lambda ts: None if ts is None else round(ts + base / 1000)
    return sorted(((us(b['ts']), us(end), b['args']['bytes']) for b, end in found), key=lambda s: (s[0], s[1] or 0, s[2]))


def equals_model(name, root):
    events, base = converted(path(name))
    for device in range(len(root['device_traces'])):
        samples, reserved, spans = expected(root, device)
        found = counters(events, base, device, 'allocated memory')
        check(f'{name}: allocated memory of GPU {device}', found == samples, f'{found[:3]} instead of {samples[:3]}')
        found = counters(events, base, device, 'reserved memory')
        check(f'{name}: reserved memory of GPU {device}', found == reserved, f'{found[:3]} instead of {reserved[:3]}')
        found = allocations(events, base, device)
        check(f'{name}: allocations of GPU {device}', found == spans, f'{found[:3]} instead of {spans[:3]}')
    return events


def protocols():
    for seed in range(12 if LONG else 4):
        drawn = Snapshot(seed, events=40 + 30 * seed, devices=1 + seed % 3, streams=1 + seed % 2, older=seed, lost=3 * (seed % 2))
        for protocol in (2, 3, 4, 5):
            name = f'drawn{seed}.{protocol}.pickle'
            save(name, drawn.make(protocol))
            events = equals_model(name, drawn.root())
        check(f'{name}: names', named(events, 'process_name') == {d: f'GPU {d} memory' for d in range(drawn.devices)}, named(events, 'process_name'))
        streams = {e['name'] for e in events if e['ph'] == 'C' and 'stream' in e['name']}
        check(f'{name}: a counter for each of several streams', len(streams) == (2 if len(drawn.streams) > 1 else 0), streams)


def details():
    drawn = Snapshot(7, events=80)
    save('details.pickle', drawn.make())
    events, base = converted(path('details.pickle'))
    names = collections.Counter(e['name'] for e in events if e['ph'] == 'b')
    check('allocations are named after code', set(names) <= {'allocation', 'aten::mul_2', 'aten::mul_5', *(f'function_{i} (model_{i}.py:{10 + i})' for i in (0, 1, 3, 4))}, names)
    stacks = {tuple(e['args'].get('stack', ())) for e in events if e['ph'] == 'b'}
    check('stacks have frames of Python', any(s and s[0].startswith('function_') and '/home/me/project/' in s[0] for s in stacks), stacks)
    freed = [e for e in events if e['ph'] == 'b' and 'free_stack' in e['args']]
    check('the stack of a free names no allocation', freed and all(e['name'] == 'allocation' and e['args']['before_history'] for e in freed), freed)
    oom = [e for e in events if e['name'] == 'out of memory']
    check('out of memory is an instant', [e['args'] for e in oom if e['ph'] == 'i'][0].items() >= {'bytes': 1 << 33, 'device_free': 12345}.items(), oom)
    spans = [e for e in events if e['name'] == 'Optimizer.step#AdamW.step']
    begin, end = (round(e['ts'] + base / 1000) - BASE_US for e in spans)
    check('annotations are spans', (begin, end) == (20, 90), spans)
    check('the environment is not read', 'secret' not in str(events) and 'secret' not in tracekit('info', '-v', path('details.pickle'))[1])
    status, _, said = tracekit('info', path('details.pickle'))
    check('info states the end', status == 0 and 'GPU 0 at the end' in said and 'largest free block' in said, said)
    twice = {**drawn.root(), 'external_annotations': []}
    lost = [e for e in twice['device_traces'][0] if e['action'] not in ('free_completed', 'free_requested')]
    again = {**lost[0], 'time_us': lost[-1]['time_us'] + 1}
    save('twice.pickle', pickle.dumps({**twice, 'device_traces': [[lost[0], again]]}))
    said = tracekit('check', path('twice.pickle'))[2] + tracekit('check', path('twice.pickle'))[1]
    check('an address without a free', 'was not freed' in said, said)


def allocators():
    """Checks that operators which only allocate name no allocation if something more telling is around them."""
    frame = lambda name: {'name': name, 'filename': '??', 'line': 0}  # noqa: E731
    op, engine = (lambda name: frame(f'at::_ops::{name}::call(c10::ArrayRef<long>)')), frame('torch::autograd::Engine::thread_main(std::shared_ptr<int> const&)')
    node = lambda name: frame(f'torch::autograd::{name}::apply(std::vector<at::Tensor, std::allocator<at::Tensor> >&&)')  # noqa: E731
    stacks = {'AccumulateGrad': [op('empty_strided'), frame('at::native::new_empty_strided_symint(int)'), op('new_empty_strided'),
                                 frame('clone_obey_contract'), node('AccumulateGrad'), engine],
              'MulBackward0': [op('empty_memory_format'), node('generated::MulBackward0'), node('AccumulateGrad'), engine],
              'aten::mm': [op('empty_memory_format'), op('resize_'), op('mm'), node('generated::MmBackward0')],
              'aten::empty_like': [op('empty_like'), frame('allocate(int)')]}
    root = {'segments': [], 'device_traces': [[{'action': 'alloc', 'addr': 4096 * (i + 1), 'size': 512, 'stream': 0, 'time_us': BASE_US + i, 'frames': frames}
                                               for i, frames in enumerate(stacks.values())]]}
    save('allocators.pickle', pickle.dumps(root))
    events, _ = converted(path('allocators.pickle'))
    names = [e['name'] for e in sorted((e for e in events if e['ph'] == 'b'), key=lambda e: e['ts'])]
    check('names of allocators', names == list(stacks), names)


def fragmented():
    """Checks the largest free block of each device against the sizes in the pickle: a free block has a requested size of 0."""
    root = Snapshot(13, events=70, devices=2, streams=2).root()
    block = {'address': 7 << 20, 'size': 2_095_616, 'requested_size': 0, 'state': 'inactive', 'frames': []}
    root['segments'][-1]['blocks'].append(block)
    save('fragments.pickle', pickle.dumps(root))
    said = tracekit('info', path('fragments.pickle'))[2]
    for device in range(2):
        blocks = [b for s in root['segments'] if s['device'] == device for b in s['blocks'] if b['state'] == 'inactive']
        want = {8192: '8.2 KB', 2_095_616: '2.1 MB'}[max(b['size'] for b in blocks)]
        line = next((text for text in said.splitlines() if f'GPU {device} at the end' in text), '')
        check(f'largest free block of GPU {device}', line.endswith(f'the largest free block has {want}'), line)


def overflowed():
    """Checks the fact that the history has lost its beginning: settings for each device or for all, at the top level or in the settings."""
    root = Snapshot(17, events=40, devices=2).root()
    limit = {'trace_alloc_max_entries': [100000, 8], 'trace_alloc_overflowed': [False, True]}
    settings = root['allocator_settings']
    cases = {'list': ({**root, **limit}, [1]), 'settings': ({**root, 'allocator_settings': {**settings, **limit}}, [1]),
             'all': ({**root, 'allocator_settings': {**settings, 'trace_alloc_max_entries': 8, 'trace_alloc_overflowed': True}}, [0, 1]),
             'complete': ({**root, 'trace_alloc_max_entries': [8, 8], 'trace_alloc_overflowed': [False, False]}, []),
             'short': ({**root, 'trace_alloc_max_entries': [], 'trace_alloc_overflowed': [1]}, [0]), 'older': (root, [])}
    for name, (made, devices) in cases.items():
        save('overflowed.pickle', pickle.dumps(made))
        said = tracekit('info', path('overflowed.pickle'))[2]
        size = '' if name == 'short' else ' (max_entries 8)'
        want = [f'GPU {d}: the ring buffer of the history overflowed{size}: earlier events are missing' for d in devices]
        found = [line.split('fact: ')[1] for line in said.splitlines() if 'ring buffer' in line]
        check(f'overflow, {name}', found == want, f'{found} instead of {want}')


def reported():
    """Checks each device's peaks in the report, for a snapshot alone and together with another input."""
    root = Snapshot(11, events=90, devices=2).root()
    save('peaks.pickle', pickle.dumps(root))
    want = {}
    for device in range(2):
        samples, reserved, _ = expected(root, device)
        want[f'GPU {device}'] = (max(v for _, v in samples), max(v for _, v in reserved))
    with open(path('beside.json'), 'w', encoding='utf-8') as f:
        json.dump([{'ph': 'X', 'name': 'a', 'pid': 1, 'tid': 1, 'ts': BASE_US, 'dur': 50}], f)
    for inputs in (['peaks.pickle'], ['beside.json', 'peaks.pickle']):
        status, out, said = tracekit('report', '-q', '--json', *map(path, inputs))
        found = {m['allocator']: (m['peak_allocated_bytes'], m['peak_reserved_bytes']) for m in json.loads(out)['memory']} if status == 0 else said
        check(f'report of {len(inputs)} inputs', found == want, f'{found} instead of {want}')
        check('no device is suspected', 'looks like a device' not in out)
    other = Snapshot(12, events=90, devices=2).root()
    save('other.pickle', pickle.dumps(other))
    of_other = [expected(other, device) for device in range(2)]
    peaks = [tuple(max(p) for p in zip(*want.values())), (max(v for s, _, _ in of_other for _, v in s), max(v for _, r, _ in of_other for _, v in r))]
    _, out, said = tracekit('diff', '-q', '--json', path('peaks.pickle'), path('other.pickle'))
    runs = [json.loads(out)[side] for side in ('before', 'after')]
    found = [(r['peak_allocated_bytes'], r['peak_memory_bytes']) for r in runs]
    check('peaks of two snapshots', found == peaks and peaks[0] != peaks[1], f'{found} instead of {peaks}; {said}')
    _, out, _ = tracekit('diff', '-q', '--json', path('beside.json'), path('beside.json'))
    check('no peak', json.loads(out)['after']['peak_allocated_bytes'] is None, out[:300])


class Code:
    def __reduce__(self):
        return os.system, ('touch ' + path('ran'),)


def refused():
    root = Snapshot(1).root()
    save('code.pickle', pickle.dumps({**root, 'allocator_settings': Code()}))
    status, _, said = tracekit('info', path('code.pickle'))
    check('a pickle with code is refused', status == 3 and 'would run code' in said and not os.path.exists(path('ran')), said)
    save('other.pickle', pickle.dumps({'weights': [1, 2], 'epoch': 3}))
    status, _, said = tracekit('info', path('other.pickle'))
    check('another pickle is named', status == 3 and 'pickle' in said, said)
    save('empty.pickle', pickle.dumps({'segments': [], 'device_traces': [[]]}))
    status, _, said = tracekit('info', path('empty.pickle'))
    check('a snapshot without a history', status == 0 and '_record_memory_history' in said, said)
    loop = dict(root)
    loop['segments'] = [*root['segments'], loop]
    loop['device_traces'] = root['device_traces']
    save('loop.pickle', pickle.dumps(loop))
    equals_model('loop.pickle', {**loop, 'segments': root['segments']})


def truncated():
    """Checks that the intact start of a truncated pickle is read if it contains a part of the history."""
    data = Snapshot(3, events=50).make()
    begins = data.index(b'device_traces')
    read = 0
    for cut in range(1, len(data), 37 if LONG else 211):
        save('cut.pickle', data[:cut])
        status, out, said = tracekit('info', path('cut.pickle'))
        judge(f'cut at {cut}', '' if status in (0, 3) and said else f'{status} {said}')
        read += status == 0 and 'counter samples' in out
        if status == 0 and 'truncated' not in said:
            judge(f'cut at {cut}', f'not announced: {said}')
        check(f'cut at {cut}: strict', tracekit('info', '--strict', path('cut.pickle'))[0] == 3)
    check('truncated histories are read', read > (len(data) - begins) / 211 / 2, read)


def hostile():
    """Checks random opcodes, which state sizes beyond the end of the file and indices that the memo lacks, and deep nesting."""
    draw = random.Random(5)
    head = b'\x80\x04}\x94(\x8c\x08segments\x94'
    codes = [op.code.encode('latin1') for op in pickletools.opcodes]
    for i in range(400 if LONG else 80):
        body = b''.join(draw.choice((draw.choice(codes), draw.randbytes(draw.randrange(5)), b']', b'}', b'(', b'h\0', b'a', b'K\1')) for _ in range(60))
        save('hostile.pickle', head + body)
        status = tracekit('info', path('hostile.pickle'))[0]
        check(f'hostile {i}', status in (0, 3), status)
    deep = head + b'(]' * 200000
    save('deep.pickle', deep)
    check('deep nesting', tracekit('info', path('deep.pickle'))[0] in (0, 3))


def shared():
    """Checks that lists which many devices or segments share are read once."""
    root = Snapshot(4, events=3000).root()
    history, blocks = root['device_traces'][0], root['segments'][0]['blocks']
    segment = {**root['segments'][0], 'blocks': blocks * 500}
    save('shared.pickle', pickle.dumps({**root, 'device_traces': [history] * 200000, 'segments': [{**segment} for _ in range(20000)]}))
    begin = time.monotonic()
    status, out, said = tracekit('info', path('shared.pickle'))
    check('shared lists take no time each', status == 0 and time.monotonic() - begin < 5, f'{time.monotonic() - begin} s {said}')
    check('shared lists are read once', '1 process' in out and 'more than 256 devices' in said, f'{out} {said}')


def durations():
    """Checks that top and diff state what durations of allocations are."""
    one, two = (save(f'{n}.pickle', Snapshot(n).make()) for n in (4, 5))
    _, out, _ = tracekit('top', one)
    check('top states what durations are', ' of memory: their durations are how long' in out, out[-300:])
    _, _, said = tracekit('diff', one, two)
    check('diff states what durations are', 'compared by how long the memory was held' in said, said)
    _, out, _ = tracekit('top', '--kind', 'instant', one)
    check('top without allocations', 'how long the memory' not in out, out[-300:])


def ordered():
    """Checks that events without times are shown in their order: the model is the same history with ordinals as its times."""
    for seed in (2, 3):
        root = Snapshot(seed).root()
        bare = [[{k: v for k, v in e.items() if k != 'time_us'} for e in d] for d in root['device_traces']]
        save('timeless.pickle', pickle.dumps({**root, 'device_traces': bare, 'external_annotations': []}))
        numbered = [[{**e, 'time_us': i} for i, e in enumerate(d)] for d in root['device_traces']]
        events = equals_model('timeless.pickle', {**root, 'device_traces': numbered})
        check('no time of a request', not any('free_requested_us' in e.get('args', {}) for e in events))
        status, _, said = tracekit('info', path('timeless.pickle'))
        check('order as time is announced', status == 0 and 'have no times' in said, said)
        status, _, said = tracekit('info', '--strict', path('timeless.pickle'))
        check('order as time with --strict', status == 3, said)


def linear():
    times = []
    for events in (4000, 16000):
        save(f'{events}.pickle', Snapshot(9, events=events).make())
        best = 9
        for _ in range(3):
            begin = time.monotonic()
            tracekit('info', path(f'{events}.pickle'))
            best = min(best, time.monotonic() - begin)
        times.append(best)
    check('four times as many events take at most eight times as long', times[1] < 8 * times[0] + .2, times)


def main():
    protocols()
    details()
    allocators()
    fragmented()
    overflowed()
    reported()
    refused()
    ordered()
    durations()
    truncated()
    hostile()
    shared()
    linear()
    check_formats('details.pickle')
    check_damage('details.pickle')
    return finish()


sys.exit(main())
