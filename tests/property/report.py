#!/usr/bin/env python3
"""Checks `report` against a model in Python, computed from the JSON of generated jobs: times of each device by class, exact to
the picosecond, in total and per step; idle time by cause, queues, launches, kernels, copies, and which rank waited for which.
The figures must be equal for every format, and for separate and merged ranks. The HTML page must be one file that loads nothing
else."""
import collections
import html.parser
import json
import os
import random
import subprocess
import sys
import tempfile
from decimal import Decimal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from schema import conforms  # noqa: E402
from verdict import finish, judge  # noqa: E402

TRACEKIT, FIXTURES, SRC = os.environ['TRACEKIT'], os.environ['FIXTURES'], os.environ['SRC']
WORK = {'kernel', 'gpu_memcpy', 'gpu_memset'}
CALLS = {'kernel': 'cudaLaunchKernel', 'gpu_memcpy': 'cudaMemcpyAsync', 'gpu_memset': 'cudaMemsetAsync'}
with open(f'{SRC}/schemas/job.schema.json', encoding='utf-8') as f:
    SCHEMA = json.load(f)


def run(*args, fine=(0,)):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode not in fine:
        raise RuntimeError(f'{" ".join(args)}: status {p.returncode}: {p.stderr.decode("utf-8", "replace")[:300]}')
    return p.stdout


def report(*args):
    out = json.loads(run('report', '-q', '--json', *args), parse_float=Decimal)
    fault = conforms(SCHEMA, json.loads(json.dumps(out, default=float)))
    if fault:
        raise RuntimeError(f'schema: {fault}')
    return out


# ---- jobs ----

def make_rank(rnd, rank, starts):
    """Returns a Kineto trace: calls, the work they launch on three queues, steps, and collectives, each with a number and a
    start."""
    events, at, queue_free, correlation = [], 0, collections.Counter(), 0
    span = lambda name, cat, tid, ts, dur, **args: events.append(  # noqa: E731
        {'ph': 'X', 'name': name, 'cat': cat, 'pid': 0 if cat in WORK else 100 + rank, 'tid': tid, 'ts': ts, 'dur': dur, 'args': args})
    for step in range(3):
        begin = at
        for _ in range(rnd.randrange(5, 25)):
            cat = rnd.choice(['kernel'] * 4 + ['gpu_memcpy', 'gpu_memset'])
            correlation += 1
            call = rnd.randrange(3, 20)
            span('aten::op', 'cpu_op', 1, at, call + 4)
            span(CALLS[cat], 'cuda_runtime', 1, at + 2, call, correlation=correlation)
            tid = rnd.choice((7, 7, 7, 20))
            start = max(at + 2 + rnd.randrange(0, 40), queue_free[tid])
            dur = rnd.choice((0, 1, 5, 9, 10, 11, 60, 99, 100, 140))
            args = {'stream': tid, 'device': 0}
            if rnd.random() < 0.9:
                args['correlation'] = correlation
            if cat != 'kernel' and rnd.random() < 0.8:
                args['bytes'] = rnd.randrange(1, 1 << 20)
            name = {'kernel': rnd.choice(('gemm', 'add', 'gelu')), 'gpu_memcpy': rnd.choice(('Memcpy HtoD (Pinned -> Device)', 'Memcpy DtoD')),
                    'gpu_memset': 'Memset (Device)'}[cat]
            span(name, cat, tid, start, dur, **args)
            queue_free[tid] = start + dur - (3 if rnd.random() < 0.1 else 0)  # some work overlaps on its queue
            at += call + rnd.randrange(5, 60)
        events.append({'ph': 'X', 'name': f'ProfilerStep#{step}', 'cat': 'user_annotation', 'pid': 100 + rank, 'tid': 1, 'ts': begin, 'dur': at - begin})
        at += rnd.randrange(1, 30)
    for i, (start, end) in enumerate(starts):
        args = {'stream': 30, 'device': 0, 'Collective name': 'allreduce', 'In msg nelems': 1000 * (i + 1), 'Out msg nelems': 1000 * (i + 1),
                'Group size': 2, 'dtype': 'Float', 'Process Group Name': '0', 'Process Group Ranks': '[0, 1]', 'Seq': i}
        span('ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)', 'kernel', 30, start, end - start, **args)
    events.append({'ph': 'B', 'name': 'gemm', 'cat': 'kernel', 'pid': 0, 'tid': 50, 'ts': at, 'args': {'stream': 50}})  # open
    events.append({'ph': 'i', 'name': '[memory]', 'pid': 100 + rank, 'tid': 1, 'ts': 5, 's': 't',
                   'args': {'Device Type': 1, 'Device Id': 0, 'Total Allocated': 4096 * (rank + 1), 'Total Reserved': 8192}})
    events.append({'ph': 'i', 'name': '[memory]', 'pid': 100 + rank, 'tid': 1, 'ts': 9, 's': 't',
                   'args': {'Device Type': 1, 'Device Id': 0, 'Total Allocated': 77, 'Total Reserved': 8192}})
    return {'schemaVersion': 1, 'distributedInfo': {'rank': rank, 'world_size': 2}, 'host_name': 'host', 'baseTimeNanoseconds': 1700000000000000000,
            'deviceProperties': [{'id': 0, 'name': 'Test GPU'}], 'traceEvents': events}


def make_job(rnd, folder):
    at, meetings = 50, []
    for _ in range(6):
        come = [at + rnd.randrange(0, 70) for _ in range(2)]
        end = max(come) + rnd.randrange(5, 40)
        meetings.append([(come[0], end + rnd.randrange(0, 2)), (come[1], end + rnd.randrange(0, 2))])
        at = end + rnd.randrange(20, 200)
    traces, paths = [], []
    for rank in range(2):
        traces.append(make_rank(rnd, rank, [m[rank] for m in meetings]))
        paths.append(f'{folder}/rank{rank}.json')
        with open(paths[-1], 'w', encoding='utf-8') as f:
            json.dump(traces[-1], f)
    return traces, paths, meetings


# ---- the model: evaluates each interval between two consecutive starts or ends ----

def class_of(e):
    if e['cat'] == 'gpu_memcpy':
        return 'copy'
    if e['cat'] == 'gpu_memset':
        return 'fill'
    return 'comm' if 'nccl' in e['name'] else 'compute'


def work_of(trace):
    return [e for e in trace['traceEvents'] if e.get('ph', '-') == 'X' and e['cat'] in WORK]


def cause(start, end, launch):
    return 'host' if launch is not None and launch > start else 'kernel' if end - start < 30 else 'other'


def cause_of_gap(start, end, call):
    """Returns the cause of a gap. The return of the launching call, even of one that began before the gap, divides the gap into two
    parts, and the longer part determines the cause. Without a call, a gap that is not short has no known cause."""
    found = cause(start, end, call and call['ts'])
    if found == 'kernel' or call is None:
        return found if found == 'kernel' else None
    back = call['ts'] + call['dur']
    return 'other' if back <= end and back - start < end - back else 'host'


def times(work, launches, start, end):
    """Returns the expected times in us."""
    out = collections.Counter()
    cuts = sorted({t for e in work for t in (e['ts'], e['ts'] + e['dur'])} | {start, end})
    first, last = min(e['ts'] for e in work), max(e['ts'] + e['dur'] for e in work)
    for a, b in zip(cuts, cuts[1:]):
        if a < start or b > end:
            continue
        running = {class_of(e) for e in work if e['ts'] <= a and e['ts'] + e['dur'] >= b}
        n = b - a
        if not running:
            out['idle'] += n
            if a < first or b > last:
                out['host'] += n
                continue
            before = max(e['ts'] + e['dur'] for e in work if e['ts'] + e['dur'] <= a)
            after = min(e['ts'] for e in work if e['ts'] >= b)
            known = [launches[e['args']['correlation']]['ts'] for e in work if e['ts'] == after and e['args'].get('correlation') in launches]
            begin = max([before] + [e['ts'] for e in work if e['dur'] == 0 and before <= e['ts'] <= a])
            firsts = sorted((e for e in work if e['ts'] == after), key=lambda e: 'correlation' not in e['args'])
            out[cause(begin, after, known[0] if known and firsts else None)] += n
            continue
        out['busy'] += n
        for c in running:
            out[c] += n
        out['memory'] += n * bool(running & {'copy', 'fill'})
        out['overlap'] += n * (running >= {'compute', 'comm'})
        if 'compute' not in running:
            out['exposed_' + ('comm' if 'comm' in running else 'copy' if 'copy' in running else 'fill')] += n
    return out


NAMES = {'busy': 'busy_ns', 'idle': 'idle_ns', 'compute': 'compute_ns', 'comm': 'communication_ns', 'memory': 'memory_ns', 'overlap': 'overlap_ns',
         'exposed_comm': 'exposed_communication_ns', 'exposed_copy': 'exposed_copy_ns', 'exposed_fill': 'exposed_fill_ns'}
CAUSES = {'host': 'idle_host_ns', 'kernel': 'idle_kernel_ns', 'other': 'idle_other_ns', 'copy': 'copy_ns', 'fill': 'fill_ns'}


def streams(work, launches):
    """Returns name -> (work, busy, idle by cause, longest queue)."""
    found = {}
    for tid in {e['tid'] for e in work}:
        idle, busy, end, changes = collections.Counter(), 0, None, []
        for e in sorted((e for e in work if e['tid'] == tid), key=lambda e: (e['ts'], -e['dur'])):
            call = launches.get(e['args'].get('correlation'))
            if end is not None and e['ts'] > end:
                idle[cause(end, e['ts'], call and call['ts'])] += e['ts'] - end
            busy += max(0, e['ts'] + e['dur'] - max(e['ts'], end if end is not None else e['ts']))
            end = max(end or 0, e['ts'] + e['dur'])
            if call:
                changes += [(call['ts'], 1), (e['ts'], -1)]
        waiting = [sum(by for at, by in changes if at <= t) for t, by in changes]
        found[str(tid)] = (sum(e['tid'] == tid for e in work), busy, idle, max(waiting, default=0))
    return found


def expected(trace):
    work = work_of(trace)
    launches = {e['args']['correlation']: e for e in trace['traceEvents'] if e.get('cat') == 'cuda_runtime'}
    start, end = min(e['ts'] for e in work), max(e['ts'] + e['dur'] for e in work)
    figures = times(work, launches, start, end)
    want = {key: 1000 * figures[name] for name, key in {**NAMES, **CAUSES}.items()}
    kernels = [e['dur'] for e in work if e['cat'] == 'kernel']
    linked = [(e, launches[e['args']['correlation']]) for e in work if e['args'].get('correlation') in launches]
    delays = [max(0, e['ts'] - c['ts'] - c['dur']) for e, c in linked]
    want.update(window_ns=1000 * (end - start), non_compute_ns=1000 * (figures['busy'] - figures['compute']), work=len(work), linked=len(linked),
                unfinished=1, kernels=len(kernels), kernels_under_10us=sum(d < 10 for d in kernels), kernels_under_100us=sum(d < 100 for d in kernels),
                time_under_10us_ns=1000 * sum(d for d in kernels if d < 10), kernel_sum_ns=1000 * sum(kernels), launch_delay_max_ns=1000 * max(delays),
                launch_delay_mean_ns=Decimal(sum(delays) * 1000000 // len(delays)) / 1000,
                launch_latency_mean_ns=Decimal(sum(e['ts'] - c['ts'] for e, c in linked) * 1000000 // len(linked)) / 1000,
                overlap_percent=round(Decimal(100 * figures['overlap']) / figures['comm'], 3) if figures['comm'] else None,
                device_busy_percent=round(Decimal(100 * figures['busy']) / (end - start), 3))
    steps = [e for e in trace['traceEvents'] if e['name'].startswith('ProfilerStep')]
    by_step = [(int(e['name'][13:]), e['dur'], times(work, launches, e['ts'], e['ts'] + e['dur'])) for e in steps]
    return want, by_step, streams(work, launches)


def compare(want, got):
    return next((f'{k} is {got[k]}, not {v}' for k, v in want.items() if got[k] != v), '')


def rank_fault(trace, got):
    want, steps, queues = expected(trace)
    fault = compare(want, got)
    for (number, dur, figures), step in zip(steps, got['steps']):
        fault = fault or compare({'number': number, 'duration_ns': 1000 * dur, **{key: 1000 * figures[k] for k, key in NAMES.items()}}, step)
    durations = sorted(s[1] for s in steps)
    spread = got['step']
    if not fault and (spread['count'], spread['min_ns'], spread['p50_ns'], spread['max_ns']) != (3, *(1000 * d for d in durations)):
        fault = f'steps {durations}: {spread}'
    for s in got['streams']:
        n, busy, idle, most = queues[s['stream']]
        fault = fault or compare({'work': n, 'busy_ns': 1000 * busy, 'queue_max': most, **{CAUSES[c]: 1000 * idle[c] for c in ('host', 'kernel', 'other')}}, s)
    return fault or ('' if {s['stream'] for s in got['streams']} == set(queues) else 'streams')


def table_fault(traces, got):
    kernels = collections.defaultdict(list)
    for trace in traces:
        for e in work_of(trace):
            kernels[e['name']].append(e)
    rows = {k['name']: k for k in got['kernels']}
    if rows.keys() != kernels.keys():
        return f'kernels: {rows.keys() ^ kernels.keys()}'
    for name, events in kernels.items():
        durations, sized = [1000 * e['dur'] for e in events], [e['args']['bytes'] for e in events if 'bytes' in e['args']]
        want = {'count': len(events), 'total_ns': sum(durations), 'min_ns': min(durations), 'max_ns': max(durations)}
        if sized:
            want['bytes'] = sum(sized)
        fault = compare(want, rows[name])
        if fault:
            return f'{name}: {fault}'
    totals = [k['total_ns'] for k in got['kernels']]
    if totals != sorted(totals, reverse=True) or sum(totals) != got['work_ns']:
        return 'kernels are not in order, or do not add up'
    memory = {(m['rank'], m['allocator']): (m['peak_allocated_bytes'], m['peak_reserved_bytes']) for m in got['memory']}
    if memory != {(0, 'GPU 0'): (4096, 8192), (1, 'GPU 0'): (8192, 8192)}:
        return f'memory: {memory}'
    return '' if got['devices'] == ['Test GPU'] else f'devices: {got["devices"]}'


def wait_fault(meetings, got):
    waits, last, cost = collections.Counter(), collections.Counter(), collections.Counter()
    for ends in meetings:
        come = [e[0] for e in ends]
        late = max(come)
        who = sorted((c, r) for r, c in enumerate(come))[-1][1]
        last[who] += 1
        cost[who] += abs(come[0] - come[1])
        for r in range(2):
            waits[r] += late - come[r]
    for row in got['waits']:
        fault = compare({'met': len(meetings), 'last': last[row['rank']], 'wait_ns': 1000 * waits[row['rank']], 'cost_ns': 1000 * cost[row['rank']]}, row)
        if fault:
            return f'rank {row["rank"]} waits: {fault}'
    row = next((c for c in got['collectives'] if c['name'] == 'allreduce'), None)
    if not row or len(got['waits']) != 2:
        return f'collectives: {got["collectives"]}, {len(got["waits"])} waits'
    spans = [e[1] - e[0] for ends in meetings for e in ends]
    size = [4000 * (i + 1) for i in range(len(meetings))]
    shortest = [min(e[1] - e[0] for e in ends) for ends in meetings]
    want = {'count': len(spans), 'total_ns': 1000 * sum(spans), 'bytes': 2 * sum(size), 'met': len(meetings), 'shortest_ns': 1000 * sum(shortest),
            'wait_ns': 1000 * sum(waits.values()), 'bus_gb_per_s': round(Decimal(2 * sum(size)) / sum(spans) / 1000, 3),
            'shortest_bus_gb_per_s': round(Decimal(sum(size)) / sum(shortest) / 1000, 3)}
    return compare(want, row)


def gaps_fault(traces, got):
    """Compares the five longest idle times of each rank: length, place, cause and the work on both sides."""
    for rank, trace in enumerate(traces):
        work = work_of(trace)
        launches = {e['args']['correlation']: e for e in trace['traceEvents'] if e.get('cat') == 'cuda_runtime'}
        zero = min(e['ts'] for e in trace['traceEvents'] if e.get('ph') == 'X')
        ends = [t for e in work for t in (e['ts'], e['ts'] + e['dur'])]
        cuts = sorted({min(ends), max(ends), *(t for e in work if e['dur'] for t in (e['ts'], e['ts'] + e['dur']))})
        idle = [(a, b) for a, b in zip(cuts, cuts[1:]) if not any(e['ts'] <= a and e['ts'] + e['dur'] >= b for e in work)]
        longest = sorted((b - a for a, b in idle), reverse=True)[:5]
        rows = [g for g in got['idle_gaps'] if g['rank'] == rank]
        if [g['length_ns'] for g in rows] != [1000 * n for n in longest]:
            return f'idle gaps of rank {rank}: {[str(g["length_ns"]) for g in rows]}, not {longest} us'
        for g in rows:
            start = zero + g['at_ns'] / 1000
            end = start + g['length_ns'] / 1000
            after = sorted((e for e in work if e['ts'] == end), key=lambda e: e['args'].get('correlation') not in launches)
            launch = launches.get(after[0]['args'].get('correlation')) if after else None
            if (start, end) not in idle or g['after'] not in {e['name'] for e in after}:
                return f'idle gap at {start}: {g}'
            if g['before'] not in {e['name'] for e in work if e['ts'] + e['dur'] == start} or g['cause'] != cause_of_gap(start, end, launch):
                return f'idle gap at {start}: {g}'
            if g['host_span'] and not 0 < g['host_span_ns'] <= g['length_ns']:
                return f'idle gap at {start}: {g}'
    return ''


def gap_of_host(folder):
    """Checks that the host's span reported for an idle gap is the innermost span over at least half of the gap, on a thread
    that launches work."""
    span = lambda name, cat, tid, ts, dur, **args: {'ph': 'X', 'name': name, 'cat': cat, 'pid': 0 if cat == 'kernel' else 9, 'tid': tid,  # noqa: E731
                                                    'ts': ts, 'dur': dur, 'args': args}
    events = [span('aten::first', 'cpu_op', 1, 0, 10), span('cudaLaunchKernel', 'cuda_runtime', 1, 2, 5, correlation=1),
              span('k1', 'kernel', 7, 10, 10, correlation=1, stream=7),
              span('aten::slow', 'cpu_op', 1, 12, 150), span('cudaMalloc', 'cuda_runtime', 1, 40, 60, correlation=8),
              span('cudaLaunchKernel', 'cuda_runtime', 1, 150, 5, correlation=2), span('aten::idle', 'cpu_op', 2, 0, 500),
              span('k2', 'kernel', 7, 160, 10, correlation=2, stream=7)]
    with open(f'{folder}/gap.json', 'w', encoding='utf-8') as f:
        json.dump({'traceEvents': events}, f)
    want = {'at_ns': 20000, 'length_ns': 140000, 'cause': 'host', 'before': 'k1', 'after': 'k2', 'host_span': 'aten::slow', 'host_span_ns': 140000}
    gaps = report(f'{folder}/gap.json')['idle_gaps']
    judge('the host in a gap', compare(want, gaps[0]) if len(gaps) == 1 else f'{len(gaps)} gaps')
    launch = next(e for e in events if e['args'].get('correlation') == 2 and e['pid'] == 9)
    for ts, dur, cause in ((15, 150, 'host'), (15, 80, 'host'), (15, 70, 'other'), (15, 5, 'other'), (150, 5, 'host')):
        launch.update(ts=ts, dur=dur)
        with open(f'{folder}/gap.json', 'w', encoding='utf-8') as f:
            json.dump({'traceEvents': events}, f)
        judge(f'cause of a gap, launched from {ts} us for {dur}', compare({'cause': cause}, report(f'{folder}/gap.json')['idle_gaps'][0]))
    call = next(e for e in events if e['name'] == 'cudaMalloc')
    call['dur'] = 71
    with open(f'{folder}/gap.json', 'w', encoding='utf-8') as f:
        json.dump({'traceEvents': events}, f)
    judge('the innermost in a gap', compare({'host_span': 'cudaMalloc', 'host_span_ns': 71000}, report(f'{folder}/gap.json')['idle_gaps'][0]))
    events = [e for e in events if e['pid'] == 0 or 'cudaLaunch' in e['name']]
    events += [span('cudaLaunchKernel', 'cuda_runtime', tid, 3, 2, correlation=20 + tid) for tid in (2, 3)]
    events += [span('k3', 'kernel', 8, 12, 1, correlation=20 + tid, stream=8) for tid in (2, 3)]
    events += [span('aten::same', 'cpu_op', tid, 21, 50 + tid) for tid in (2, 3)]
    events += [span('aten::other', 'cpu_op', 1, at, 3) for at in range(21, 81, 3)]
    with open(f'{folder}/gap.json', 'w', encoding='utf-8') as f:
        json.dump({'traceEvents': events}, f)
    gap = report(f'{folder}/gap.json')['idle_gaps'][0]
    judge('spans of two threads do not add up', compare({'host_span': None, 'host_span_ns': 60000}, gap))
    others = [span('$api.py:3165 try_to_block', 'python_function', 4, 25, 130), span('torch/threads.py(3): idle', 'python_function', 5, 20, 145),
              span('lock.acquire', 'python_function', 6, 20, 145)]
    with open(f'{folder}/other.json', 'w', encoding='utf-8') as f:
        json.dump({'traceEvents': events + others}, f)
    judge('a wait for the device on another thread', compare({'host_span': '$api.py:3165 try_to_block', 'host_span_ns': 130000},
                                                             report(f'{folder}/other.json')['idle_gaps'][0]))
    text = run('report', f'{folder}/gap.json').decode()
    judge('no span over half of a gap', '' if 'no span over more than 42.9%' in text else text)
    for e in events:
        e['dur'] += e['name'] == 'aten::other'
    events += [span('aten::other', 'cpu_op', 1, at, 3) for at in range(90, 102, 3)]
    with open(f'{folder}/gap.json', 'w', encoding='utf-8') as f:
        json.dump({'traceEvents': events}, f)
    gap = report(f'{folder}/gap.json')['idle_gaps'][0]
    judge('many short spans', compare({'host_span': 'aten::other', 'host_span_ns': 73000}, gap))


def key_figures(name, got):
    """Checks the key figures of a report against its rows: the worst device, its value, and the verdict by the limits of
    docs/analysis.md."""
    limits = {'device utilization': (80, 50), 'mean kernel duration': (1, .1), 'host overhead': (10, 20), 'compilation time': (2, 10),
              'memory bandwidth': (60, 40), 'peak memory': (90, 97), 'occupancy': (50, 25), 'largest kernel or copy': (50, None)}
    more = {'device utilization', 'mean kernel duration', 'memory bandwidth', 'occupancy'}
    want = {}

    def add(what, value, row):
        if what not in want or (value < want[what][0] if what in more else value > want[what][0]):
            want[what] = value, row['rank'], row['device']
    for row in got['ranks']:
        parts = [s['split'] for s in row['steps'] or [] if s.get('split') and s['split']['length_ns']]
        works = lambda splits: sum(s['compute_ns'] + s['communication_ns'] + s['copy_ns'] for s in splits)  # noqa: E731
        parts = parts if works(parts) else [row['split']]
        length = sum(s['length_ns'] for s in parts)
        if row['device'] and length:
            add('device utilization', 100 * works(parts) / length, row)
            calls, idle = sum(s[k] for s in parts for k in ('launch_ns', 'runtime_ns', 'host_ns')), sum(s['idle_ns'] for s in parts)
            if 10 * idle <= length or 5 * calls >= length:
                add('host overhead', 100 * calls / length, row)
        if row['kernels']:
            add('mean kernel duration', row['kernel_sum_ns'] / row['kernels'] / 1e6, row)
    found = {f['name']: f for f in got['key_figures']}
    for what, (value, rank, device) in want.items():
        f = found.get(what, {})
        judge(f'{name}, {what}: value', '' if f and abs(f['value'] - value) < .01 * max(1, value) else f'{f}, not {value}')
        judge(f'{name}, {what}: device', '' if (f.get('rank'), f.get('device')) == (rank, device) else f'{f}, not {rank}, {device}')
    if any(row['device'] for row in got['ranks']):
        judge(f'{name}: figures of the guide', '' if set(limits) <= set(found) else f'{set(limits) - set(found)} are missing')
    for what, f in found.items():
        if f['value'] is None:
            judge(f'{name}, {what}: not recorded', '' if (f['verdict'], f['rank'], f['device']) == (None,) * 3 and what in limits else f'{f}')
            continue
        good, bad = limits.get(what, (None, None))
        worse = lambda limit: f['value'] < limit if what in more else f['value'] >= limit  # noqa: E731
        verdict = None if good is None else 'good' if not worse(good) else 'bad' if bad is not None and worse(bad) and f['value'] != bad else 'warning'
        judge(f'{name}, {what}: verdict', '' if f['verdict'] in (verdict, None) and (good is None) == (f['good'] is None) else f'{f}, not {verdict}')
    return len(want)


def widths(folder):
    """Lines of tables have at most 160 columns in a pipe, or COLUMNS; launches that are called like their kernels have short names."""
    name = f'void at::native::elementwise_kernel<{", ".join(f"at::native::Functor{i}<float>" for i in range(30))}>(int)'
    events = []
    for i in range(20):
        args = {'correlation': i + 1, 'stream': 7}
        events += [{'ph': 'X', 'name': name, 'cat': 'cuda_runtime', 'pid': 1, 'tid': 1, 'ts': 100 * i, 'dur': 5, 'args': args},
                   {'ph': 'X', 'name': name, 'cat': 'kernel', 'pid': 0, 'tid': 7, 'ts': 100 * i + 10, 'dur': 20, 'args': args},
                   {'ph': 'X', 'name': 'aten::' + 400 * 'x', 'cat': 'cpu_op', 'pid': 1, 'tid': 1, 'ts': 100 * i + 50, 'dur': 5}]
    path = f'{folder}/widths.json'
    with open(path, 'w', encoding='utf-8') as f:
        json.dump({'traceEvents': events}, f)
    short = next(k['short_name'] for k in report(path)['kernels'])
    for columns, most in (('', 160), ('100', 100), ('400', 400)):
        env = {**{k: v for k, v in os.environ.items() if k != 'COLUMNS'}, **({'COLUMNS': columns} if columns else {})}
        out = subprocess.run([TRACEKIT, 'report', '-q', path], env=env, capture_output=True, check=True).stdout.decode()
        tables = [t for t in out.split('\n\n') if t.split('\n')[0].split(':')[0] in ('Kernels', 'Launches', 'Host')]
        widest = max(len(line) for t in tables for line in t.splitlines())
        judge(f'COLUMNS={columns}', '' if len(tables) == 3 and most // 2 < widest <= most and all(short[:20] in t for t in tables) else f'{widest}\n{out}')
    out = run('report', '-q', '--full-names', path).decode()
    judge('full names', '' if name in out else out)


def geometry(folder):
    """Checks that occupancy, registers and shared memory are means over time, and grid and block those of the longest kernel."""
    kernel = lambda ts, dur, occ, regs, x: {'ph': 'X', 'name': 'k', 'cat': 'kernel', 'pid': 0, 'tid': 7, 'ts': ts, 'dur': dur,  # noqa: E731
                                            'args': {'stream': 7, 'est. achieved occupancy %': occ, 'registers per thread': regs,
                                                     'shared memory': 1024, 'grid': [x, 2, 1], 'block': [128, 1, 1]}}
    other = {'ph': 'X', 'name': 'bare', 'cat': 'kernel', 'pid': 0, 'tid': 7, 'ts': 90, 'dur': 1, 'args': {'stream': 7}}
    with open(f'{folder}/geometry.json', 'w', encoding='utf-8') as f:
        json.dump({'traceEvents': [kernel(0, 10, 20, 32, 4), kernel(20, 30, 60, 64, 9), kernel(60, 10, 20, 32, 5), other]}, f)
    want = {'occupancy_percent': 44, 'registers_per_thread': Decimal('51.2'), 'shared_memory_bytes': 1024, 'grid': '9,2,1', 'block': '128,1,1'}
    run('convert', '-q', f'{folder}/geometry.json', '-o', f'{folder}/geometry.xplane.pb')
    for name in ('geometry.json', 'geometry.xplane.pb'):
        rows = {k['name']: k for k in report(f'{folder}/{name}')['kernels']}
        judge(f'{name}: k', compare(want, rows['k']))
        judge(f'{name}: bare', f'{rows["bare"]}' if 'occupancy_percent' in rows['bare'] or 'grid' in rows['bare'] else '')
    few, many = ({'args': {**kernel(0, 10, 0, 32, 4)['args'], 'warps per SM': warps}} for warps in (.3, 1))
    with open(f'{folder}/occupancy.json', 'w', encoding='utf-8') as f:  # an occupancy of 0 means unknown, unless the kernel has very few warps
        json.dump({'traceEvents': [kernel(0, 10, 0, 32, 4), kernel(20, 10, 60, 64, 9), {**kernel(40, 30, 20, 32, 5), 'name': 'other'},
                                   {**kernel(80, 40, 0, 32, 4), **few}, {**kernel(130, 20, 0, 32, 4), **many}]}, f)
    found = report(f'{folder}/occupancy.json')
    got = {f['name']: f['value'] for f in found['key_figures']}['occupancy']
    judge('occupancy: the mean by time of kernels that state it', '' if got == 15 else f'{got}, not 15')
    judge('occupancy: its share of the time', '' if any('known for 73%' in s for s in found['unknown']) else str(found['unknown']))


def job(seed, folder):
    os.mkdir(folder)
    traces, paths, meetings = make_job(random.Random(seed), folder)
    try:
        got = report(*paths)
        faults = [rank_fault(t, r) for t, r in zip(traces, got['ranks'])] + [table_fault(traces, got), wait_fault(meetings, got), gaps_fault(traces, got)]
        judge(f'job {seed}', next((f for f in faults if f), ''))
        figures = [{k: v for k, v in r.items() if k not in ('input', 'device', 'start_ns')} for r in got['ranks']]
        for ending in ('pftrace', 'xplane.pb'):
            run('convert', '-q', paths[0], '-o', f'{folder}/a.{ending}')
            other = report(f'{folder}/a.{ending}')['ranks']
            rank = next(r for r in other if r['device'])
            same = [k for k in ('window_ns', 'compute_ns', 'communication_ns', 'memory_ns', 'overlap_ns', 'idle_host_ns', 'exposed_copy_ns', 'work', 'linked')
                    if rank[k] != figures[0][k]]
            judge(f'job {seed} as {ending}', f'{same} differ' if same else '')
        run('merge', '-q', *paths, '-o', f'{folder}/merged.json')
        merged = report(f'{folder}/merged.json')
        pick = lambda rows: [{k: r[k] for k in (*NAMES.values(), *CAUSES.values(), 'rank', 'work', 'linked')} for r in rows]  # noqa: E731
        judge(f'job {seed} merged', '' if pick(merged['ranks']) == pick(figures) else 'figures differ')
        judge(f'job {seed} merged: waits', wait_fault(meetings, merged))
        step = report(paths[0], '--step', '1')['ranks'][0]
        whole = got['ranks'][0]['steps'][1]
        judge(f'job {seed} --step', compare({k: whole[k] for k in NAMES.values() if k != 'idle_ns'}, step))
        alone = report(*paths, '--rank', '1')
        judge(f'job {seed} --rank', '' if [r['rank'] for r in alone['ranks'] if r['work']] == [1] else 'other ranks')
    except (RuntimeError, ValueError, KeyError, IndexError) as e:
        judge(f'job {seed}', f'{type(e).__name__}: {e}')


def planes(folder):
    """Checks a TPU plane: an operation with nested operations counts only with the time between them; a parallel line copies
    data."""
    events = [{'ph': 'M', 'name': 'process_name', 'pid': 3, 'args': {'name': '/device:TPU:0'}}]
    for tid, name in ((1, 'Steps'), (2, 'XLA Modules'), (3, 'XLA Ops'), (4, 'Async XLA Ops'), (5, 'XLA TraceMe')):
        events.append({'ph': 'M', 'name': 'thread_name', 'pid': 3, 'tid': tid, 'args': {'name': name}})
    span = lambda tid, name, start, end: events.append({'ph': 'X', 'name': name, 'pid': 3, 'tid': tid, 'ts': start, 'dur': end - start})  # noqa: E731
    span(1, '7', 0, 130)
    span(2, 'jit_step', 0, 120)
    span(5, 'all-reduce.9', 0, 500)
    for args in ((3, 'while.1', 0, 100), (3, 'all-reduce.1', 20, 40), (3, 'fusion.2', 50, 60), (3, 'all-reduce.1', 110, 115), (4, 'async-copy', 55, 98),
                 (4, 'async-copy', 105, 120)):
        span(*args)
    with open(f'{folder}/tpu.json', 'w', encoding='utf-8') as f:
        json.dump(events, f)
    got = report(f'{folder}/tpu.json')
    row = next(r for r in got['ranks'] if r['device'])
    want = {'device': 'TPU:0', 'window_ns': 120000, 'compute_ns': 80000, 'communication_ns': 25000, 'copy_ns': 58000, 'exposed_copy_ns': 10000,
            'overlap_ns': 0, 'idle_ns': 5000, 'work': 6, 'idle_host_ns': None, 'launch_delay_mean_ns': None}
    names = {k['name']: (k['count'], k['total_ns']) for k in got['kernels']}
    fault = compare(want, row) or ('' if names['while.1'] == (1, 70000) and names['all-reduce.1'] == (2, 25000) else f'kernels: {names}')
    judge('a plane of a TPU', fault or ('' if row['steps'][0]['idle_ns'] == 15000 and row['step']['max_ns'] == 130000 else f'steps: {row["steps"]}'))


# ---- the page ----

class Page(html.parser.HTMLParser):
    VOID = {'meta', 'link', 'br'}

    def __init__(self):
        super().__init__()
        self.open, self.fault, self.words, self.svgs = [], '', [], 0

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ('src', 'href') and not (value or '').startswith('data:'):
                self.fault = f'{tag} fetches {value}'
        self.svgs += tag == 'svg'
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.fault = self.fault or f'</{tag}> closes nothing'

    def handle_data(self, data):
        self.words.append(data)


def page(what, out, *args, words=(), svgs=0):
    run('report', '-q', '--html', out, '--force', *args)
    with open(out, encoding='utf-8') as f:
        text = f.read()
    p = Page()
    p.feed(text)
    fault = p.fault or (f'left open: {p.open}' if p.open else '')
    fault = fault or ('it names an address' if '://' in text or text.count('<script>') != 1 or '<script ' in text or '@import' in text else '')
    said = ' '.join(p.words)
    fault = fault or next((f'does not say {w}' for w in words if w not in said), '')
    judge(f'page of {what}', fault or ('' if p.svgs >= svgs else f'{p.svgs} drawings'))


def all_fixtures():
    """Checks that every trace has a report whose classes add up to the window."""
    for name in ('json/torch/ddp4_full/rank0.json.gz', 'json/viz/viz_small.json', 'xplane/mlp_train/vm.xplane.pb', 'perfetto/small.pftrace.gz',
                 'xplane/synth/gpu.xplane.pb', 'xplane/synth/tpu.xplane.pb', 'xplane/multihost'):
        path = os.path.join(FIXTURES, name)
        if not os.path.exists(path):
            judge(name, 'is not there')
            continue
        fault, got = '', report(path)
        key_figures(name, json.loads(json.dumps(got, default=float)))
        for r in got['ranks']:
            if r['device'] is None:
                fault = fault or ('' if r['busy_ns'] is None and r['device_busy_percent'] is None else 'tells of a device that is none')
            elif r['compute_ns'] + r['exposed_communication_ns'] + r['exposed_copy_ns'] + r['exposed_fill_ns'] + r['idle_ns'] != r['window_ns']:
                fault = fault or 'does not add up'
        judge(f'report of {name}', fault)


def never_ended(work):
    """Checks that an annotation within an unfinished span is not nested in an earlier annotation that has ended."""
    mark = {'cat': 'user_annotation', 'pid': 1, 'tid': 1}
    events = [{'ph': 'X', 'name': 'before', 'ts': 0, 'dur': 5, **mark}, {'ph': 'B', 'name': 'open', 'ts': 10, **mark},
              {'ph': 'X', 'name': 'within', 'ts': 12, 'dur': 3, **mark}]
    with open(f'{work}/open.json', 'w', encoding='utf-8') as f:
        json.dump(events, f)
    found = [(a['name'], a['depth']) for a in report(f'{work}/open.json')['annotations']]
    judge('a span that never ended', '' if found == [('before', 0), ('within', 0)] else found)


def addresses(work):
    """Checks that a function has one row in the tables of hosts, even if its calls have different addresses in their names."""
    names = [f'<built-in method f of T object at 0x7f{i}c0>' for i in range(3)]
    row = '<built-in method f of T object at 0x*>'
    at = lambda name, cat, ts, **more: {'ph': 'X', 'name': name, 'cat': cat, 'pid': 1, 'tid': 1, 'ts': ts, 'dur': 10, **more}  # noqa: E731
    events = [at(name, cat, 100 * i + 20 * k) for i, name in enumerate(names) for k, cat in enumerate(('cpu_op', 'python_function', 'user_annotation'))]
    events += [{**at('k', 'kernel', ts, args={'stream': 7}), 'pid': 0, 'tid': 7} for ts in (0, 110)] + [at(names[0], 'cpu_op', 300, dur=200)]
    events += [{**at('k', 'kernel', 500, args={'stream': 7}), 'pid': 0, 'tid': 7}]
    with open(f'{work}/addresses.json', 'w', encoding='utf-8') as f:
        json.dump(events, f)
    got = report(f'{work}/addresses.json')
    rows = sorted((r['kind'], r['name'], r['count'], r['total_ns']) for r in got['operators'])
    want = [('operator', row, 4, 230000), ('python', row, 3, 30000)]
    judge('addresses: operators', '' if [r for r in rows if r[0] != 'annotation'] == want else str(rows))
    rows = [(a['name'], a['count']) for a in got['annotations']]
    judge('addresses: annotations', '' if rows == [(row, 3)] else str(rows))
    spans = {g['host_span'] for g in got['idle_gaps']}
    judge('addresses: spans of the host during idle times', '' if row in spans and not spans & set(names) else str(got['idle_gaps']))


def long_operators(work):
    """Checks that long operators are counted by rank, and the worst rank is reported: self times of different ranks are not
    added up."""
    figure = lambda *paths: next((f['value'], f['rank']) for f in report(*paths)['key_figures'] if f['name'] == 'operators with self time above 50 ms')  # noqa: E731
    paths = [f'{work}/long{rank}.json' for rank in range(3)]
    for rank, path in enumerate(paths):
        spans = [('a', 0, 30000), ('b', 40000, 30000), ('b', 80000, 30000 if rank == 1 else 20000), ('c', 120000, 50000)]
        events = [{'ph': 'X', 'name': f'aten::{name}', 'cat': 'cpu_op', 'pid': 1, 'tid': 1, 'ts': ts, 'dur': dur} for name, ts, dur in spans]
        with open(path, 'w', encoding='utf-8') as f:
            json.dump({'distributedInfo': {'rank': rank}, 'traceEvents': events}, f)
    subprocess.run([TRACEKIT, 'merge', '-q', *paths, '-o', f'{work}/long.json'], check=True)
    for what, given, want in (('alone', paths[:1], (0, 0)), ('long alone', paths[1:2], (1, 1)), ('of three', paths, (1, 1)), ('merged', [f'{work}/long.json'], (1, 1))):
        judge(f'long operators: {what}', '' if figure(*given) == want else f'{figure(*given)}, not {want}')


def system_calls(work):
    """Checks that calls of the operating system are not operators. A call that waits counts as a wait, also within an operator;
    the time of another call within an operator belongs to the operator."""
    waits = ('usleep', 'clock_nanosleep', 'wait', 'wait4', 'waitpid', 'poll', 'epoll_pwait2', 'sem_wait', 'pthread_join', 'pthread_cond_timedwait',
             'pthread_cond_wait', 'pthread_mutex_lock', 'pthread_rwlock_timedrdlock', 'sigwaitinfo', 'sigtimedwait', 'futex')
    others = ('fork', 'pthread_create', 'read', 'ioctl', 'sem_post', 'sem_trywait', 'pthread_mutex_unlock', 'pthread_mutex_trylock', 'waiter', 'futex_wake',
              'execve', 'compile_fx')
    span = lambda name, cat, ts, dur: {'ph': 'X', 'name': name, 'cat': cat, 'pid': 1, 'tid': 1, 'ts': ts, 'dur': dur}  # noqa: E731
    for cat in ('osrt', 'syscall', 'pthread', 'cpu_op'):
        events = [span(name, cat, 10 * i, 5) for i, name in enumerate(waits + others)]
        events += [span('aten::op', 'cpu_op', 1000, 100), span('poll', cat, 1010, 20), span('read', cat, 1040, 20)]
        with open(f'{work}/system.json', 'w', encoding='utf-8') as f:
            json.dump(events, f)
        got = report(f'{work}/system.json')
        kinds, split = {r['name']: r['kind'] for r in got['operators']}, got['ranks'][0]['split']
        if cat == 'cpu_op':
            judge('operators with the names of system calls', '' if {kinds[n] for n in ('usleep', 'fork', 'read', 'poll')} == {'operator'} else str(kinds))
            continue
        want = {**dict.fromkeys(waits, 'wait'), **dict.fromkeys(others, 'system'), 'aten::op': 'operator'}
        judge(f'kinds of calls of {cat}', '' if kinds == want else str({k: v for k, v in kinds.items() if want.get(k) != v}))
        want = (5000 * len(others) + 80000, 5000 * len(waits) + 20000)
        judge(f'split with calls of {cat}', '' if (split['host_ns'], split['other_ns']) == want else f'{split} is not {want}')


def equal_names(work):
    """Checks that rows of inputs with the same name are told apart by their folders, and rows of other inputs by their names."""
    paths = [f'{work}/{name}' for name in ('x/one/trace.json', 'y/one/trace.json', 'y/two/trace.json', 'y/two/other.json')]
    for i, path in enumerate(paths):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as f:
            json.dump([{'ph': 'X', 'cat': 'kernel', 'name': 'k', 'pid': 0, 'tid': 7, 'ts': 100 * i, 'dur': 10, 'args': {'stream': 7, 'device': 0}}], f)
    table = run('report', '-q', *paths).decode().split('\nDevice time')[1].splitlines()[2:6]
    names = [line.split()[-3].rstrip(',') for line in table]
    judge('inputs of equal names', '' if names == ['x/one/trace.json', 'y/one/trace.json', 'two/trace.json', 'other.json'] else f'{table}')


def graph_launches(work):
    """Checks that a call counts once in the table of launches, however many kernels it launched."""
    calls = {1: (0, 50, 100), 2: (100, 10, 1), 3: (200, 30, 4)}
    events = [{'ph': 'X', 'cat': 'cuda_runtime', 'name': 'cudaGraphLaunch', 'pid': 1, 'tid': 1, 'ts': ts, 'dur': dur, 'args': {'correlation': i}}
              for i, (ts, dur, _) in calls.items()]
    events += [{'ph': 'X', 'cat': 'kernel', 'name': 'k', 'pid': 0, 'tid': 7, 'ts': 1000 * i + 3 * k, 'dur': 2, 'args': {'correlation': i, 'stream': 7, 'device': 0}}
               for i, (_, _, n) in calls.items() for k in range(n)]
    with open(f'{work}/graphs.json', 'w', encoding='utf-8') as f:
        json.dump(events, f)
    got = json.loads(run('report', '-q', '--json', f'{work}/graphs.json'))['launches']
    judge('launches of graphs', '' if [(r['calls'], r['work'], r['call_ns'], r['work_ns']) for r in got] == [(3, 105, 90000, 210000)] else str(got))
    text = run('report', '-q', f'{work}/graphs.json').decode().split('\nLaunches')[1].splitlines()[2].split()
    judge('mean of a call', '' if text[:3] == ['105', '30.000', 'us'] else str(text))


def only_samples(work):
    """Checks that the report of a profile of stack samples lists its functions."""
    with open(f'{work}/samples.folded', 'w', encoding='utf-8') as f:
        f.write('main;load 30\nmain;train;step 70\n')
    with open(f'{work}/cycles.speedscope.json', 'w', encoding='utf-8') as f:
        json.dump({'$schema': 'https://www.speedscope.app/file-format-schema.json', 'shared': {'frames': [{'name': 'load'}]},
                   'profiles': [{'type': 'sampled', 'name': 't', 'unit': 'bytes', 'startValue': 0, 'endValue': 5, 'samples': [[0]], 'weights': [5]}]}, f)
    got = [[f[k] for k in ('name', 'unit', 'samples', 'self_ns', 'total_ns', 'self_percent', 'total_percent')]
           for f in json.loads(run('report', '-q', '--json', f'{work}/samples.folded', f'{work}/cycles.speedscope.json'))['functions']]
    want = [['step', 'samples', 1, 70, 70, 70, 70], ['load', 'samples', 1, 30, 30, 30, 30], ['main', 'samples', 2, 0, 100, 0, 100],
            ['train', 'samples', 1, 0, 70, 0, 70], ['load', 'bytes', 1, 5, 5, 100, 100]]
    judge('functions', '' if got == want else str(got))
    text = run('report', '-q', f'{work}/samples.folded', f'{work}/cycles.speedscope.json').decode()
    rows = [line.split() for line in text.splitlines() if line.split()[-1:] in (['step'], ['load'], ['train'])]
    judge('text of functions', '' if rows[0] == ['70', '70.0', '70', '70.0', '1', 'step'] and len(rows) == 4 else text)
    judge('unit in the text', '' if 'by self weight (samples)' in text and 'by self weight (bytes)' in text else text)


def late_work(work):
    """Checks that the busy time and the parts of steps are left out if the work of the steps runs after they have ended, but not if the
    device is as busy during the steps, with the work of earlier ones."""
    at = lambda name, cat, pid, tid, ts, dur, **args: {'ph': 'X', 'name': name, 'cat': cat, 'pid': pid, 'tid': tid, 'ts': ts, 'dur': dur, 'args': args}  # noqa: E731
    for what, delay, steps, busy in (('after all steps', 5000, 2, '-'), ('in later steps', 1000, 12, '91.7'), ('in their step', 20, 2, '100.0')):
        events = [{'ph': 'M', 'name': 'process_labels', 'pid': 0, 'args': {'labels': 'GPU 0'}}]
        for i in range(steps):
            events += [at(f'ProfilerStep#{i}', 'user_annotation', 1, 1, 1000 * i, 1000), at('cudaLaunchKernel', 'cuda_runtime', 1, 1, 1000 * i, 2, correlation=i + 1),
                       at('k', 'kernel', 0, 7, 1000 * i + (delay if delay > 20 else 0), 1000, correlation=i + 1, device=0, stream=7)]
        with open(f'{work}/late.json', 'w', encoding='utf-8') as f:
            json.dump({'schemaVersion': 1, 'traceEvents': events}, f)
        text = run('report', '-q', f'{work}/late.json').decode()
        lines = text.split('\n')
        row = lines[next(i for i, line in enumerate(lines) if line.startswith('Steps:')) + 2].split()
        judge(f'work {what}: busy', '' if busy in row[13:14] else str(row))
        judge(f'work {what}: parts', '' if ('Parts of the steps' in text) == (busy != '-') == ('busy is unknown' not in text) else text)
        judge(f'work {what}: facts', '' if all('busy_ns' in s['times'] if 'times' in s else 'busy_ns' in s for s in report(f'{work}/late.json')['ranks'][0]['steps']) else 'lost')


def extreme_times(work):
    """Checks work that takes no time, with and without steps, and idle time of 90 days."""
    at = lambda name, cat, pid, ts, dur, **args: {'ph': 'X', 'name': name, 'cat': cat, 'pid': pid, 'tid': 7, 'ts': ts, 'dur': dur, 'args': args}  # noqa: E731
    step = [at(f'ProfilerStep#{i}', 'user_annotation', 1, 1000 * i, 900) for i in range(3)]
    brief = [at('k', 'kernel', 0, 1000 * i + 5, 0, device=0, stream=7) for i in range(3)]
    far = [at('k', 'kernel', 0, ts, 10, device=0, stream=7) for ts in (0, 90 * 86_400_000_000)]
    for what, events, busy in (('no time', brief, 0), ('no time, steps', step + brief, 0), ('90 days', far, 20_000), ('90 days, steps', step + far, None)):
        with open(f'{work}/extreme.json', 'w', encoding='utf-8') as f:
            json.dump(events, f)
        got = report(f'{work}/extreme.json')['ranks'][0]
        judge(f'work: {what}', '' if busy in (None, got['busy_ns']) else str(got['busy_ns']))


def main():
    with tempfile.TemporaryDirectory() as work:
        for seed in range(40 if os.environ.get('LONG') else 6):
            job(seed, f'{work}/{seed}')
        page('a job', f'{work}/p.html', f'{work}/0/rank0.json', f'{work}/0/rank1.json', words=('rank 0', 'rank 1', 'Test GPU', 'allreduce'), svgs=4)
        odd = {'traceEvents': [{'ph': 'X', 'name': '<b>&"\x1b', 'cat': 'kernel', 'pid': 0, 'tid': 7, 'ts': 1, 'dur': 2, 'args': {'stream': 7}}]}
        with open(f'{work}/odd.json', 'w', encoding='utf-8') as f:
            json.dump(odd, f)
        page('odd names', f'{work}/p.html', f'{work}/odd.json', words=('<b>&"',))
        page('a host alone', f'{work}/p.html', f'{FIXTURES}/json/viz/viz_small.json', words=('no busy or idle time',))
        planes(work)
        gap_of_host(work)
        widths(work)
        geometry(work)
        never_ended(work)
        only_samples(work)
        page('functions', f'{work}/p.html', f'{work}/samples.folded', f'{work}/cycles.speedscope.json', words=('step', 'bytes'))
        addresses(work)
        long_operators(work)
        system_calls(work)
        equal_names(work)
        graph_launches(work)
        late_work(work)
        extreme_times(work)
        all_fixtures()


main()
sys.exit(finish())
