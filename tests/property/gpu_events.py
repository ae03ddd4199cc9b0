#!/usr/bin/env python3
"""Checks --gpu-events: the work of devices becomes GpuRenderStageEvents whose queues, names, times and args are those of the source, and
reading them again gives the same graph as reading track events does.

The model reads the protobuf by itself: fields are those of Perfetto's protos/perfetto/trace/gpu/gpu_render_stage_event.proto."""
import collections
import glob
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import protobuf  # noqa: E402
import torch_pftrace  # noqa: E402
from verdict import check, finish  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']
FIXTURES = os.environ['FIXTURES']
BASE = 1_000_000  # ns: start of the crafted traces

work = tempfile.TemporaryDirectory()


def path(name):
    return os.path.join(work.name, name)


def tracekit(*args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, capture_output=True)
    return p.returncode, p.stdout.decode(errors='replace'), p.stderr.decode(errors='replace')


def convert(what, source, target, *more):
    status, _, err = tracekit('convert', source, '-o', path(target), '--force', '-q', '--no-provenance', *more)
    check(f'{what}: is written', status == 0, err)
    return path(target)


# ---- the model ----

Stage = collections.namedtuple('Stage', 'queue name dur gpu submission args pid')


def stages(name):
    """Returns the stages of a file by the rules of Perfetto's importer: interned specifications and contexts belong to a sequence."""
    with open(name, 'rb') as f:
        packets = [dict_of(p) for n, p in protobuf.parse(f.read()) if n == 1]
    texts, names, pids, out = {}, {}, {}, []
    for p in packets:
        sequence = (p.get(98, [0])[0], p.get(10, [0])[0])
        if p.get(13, [0])[0] & 1:
            texts = {k: v for k, v in texts.items() if k[0] != sequence}
        for interned in p.get(12, []):
            for n, entry in protobuf.parse(interned):
                entry = dict_of(entry) if n in (2, 23, 24) else {}
                if n == 24:
                    texts[sequence, entry[1][0]] = entry.get(2, [b''])[0].decode()
                if n == 2:
                    names[sequence, entry[1][0]] = entry.get(2, [b''])[0].decode()
                if n == 23:
                    pids[sequence, entry[1][0]] = entry.get(2, [0])[0]
        for s in p.get(53, []):
            s = dict_of(s)
            extra = [dict_of(e) for e in s.get(6, [])]
            name = names.get((sequence, s[20][0])) if 20 in s else texts.get((sequence, s[14][0]))
            out.append(Stage(texts.get((sequence, s[13][0])), name, s.get(2, [0])[0], s.get(11, [0])[0],
                             s.get(10, [None])[0], {e[1][0].decode(): e.get(2, [b''])[0].decode() for e in extra},
                             pids.get((sequence, s.get(5, [None])[0]))))
    ids = [dict_of(s)[1][0] for p in packets for s in p.get(53, [])]
    check(f'{os.path.basename(name)}: ids of stages are unique', len(ids) == len(set(ids)))
    return out


def dict_of(message):
    fields = {}
    for number, value in protobuf.parse(message):
        fields.setdefault(number, []).append(value)
    return fields


def graph(name):
    """Returns the graph of a file as text, without the lines about its packets."""
    status, out, err = tracekit('dump', '--graph', name)
    check(f'{os.path.basename(name)}: is read', status == 0, err)
    return [line for line in out.splitlines() if not line.startswith('meta perfetto.counts ')]


def report(name):
    status, out, err = tracekit('report', '--json', name)
    return status, re.sub(r'[a-z]+\.pftrace', 'FILE', out)


def same(what, source, *more, flags=True):
    """Writes the source both ways and compares the graphs and reports. Returns the stages. `flags`: False if the number of
    stages may differ, because reading Perfetto loses properties that decide whether a span becomes a stage."""
    plain, gpu = convert(what, source, 'plain.pftrace', *more), convert(what, source, 'gpu.pftrace', '--gpu-events', *more)
    check(f'{what}: the same graph', graph(plain) == graph(gpu))
    check(f'{what}: the same report', report(plain) == report(gpu))
    again = convert(what, gpu, 'again.pftrace', '--gpu-events')
    check(f'{what}: the same graph again', graph(again) == graph(gpu))
    check(f'{what}: as many stages again', not flags or len(stages(again)) == len(stages(gpu)), (len(stages(again)), len(stages(gpu))))
    back = convert(what, gpu, 'back.pftrace')
    check(f'{what}: no stages without the option', graph(back) == graph(plain) and not stages(back))
    with open(convert(what, gpu, 'gpu.json'), 'rb') as f, open(convert(what, plain, 'plain.json'), 'rb') as g:
        check(f'{what}: the same JSON', f.read() == g.read())
    chain = convert(what, path('gpu.json'), 'chain.pftrace', '--gpu-events')
    check(f'{what}: as many stages by way of JSON', not flags or len(stages(chain)) == len(stages(gpu)), (len(stages(chain)), len(stages(gpu))))
    return stages(gpu)


def saved(name, events):
    with open(path(name), 'w', encoding='utf-8') as f:
        json.dump({'traceEvents': events}, f)
    return path(name)


def device(pid, number):
    return [{'ph': 'M', 'name': 'process_name', 'pid': pid, 'args': {'name': 'python'}},
            {'ph': 'M', 'name': 'process_labels', 'pid': pid, 'args': {'labels': f'GPU {number}'}}]


def kernel(ts, dur, pid=0, tid=7, name='gemm', cat='kernel', **args):
    e = {'ph': 'X', 'ts': ts, 'dur': dur, 'pid': pid, 'tid': tid, 'name': name, 'cat': cat, 'args': args}
    return {k: v for k, v in e.items() if v is not None}


# ---- PyTorch: kernels, copies and annotations with their launches ----

def torch_events():
    events = device(0, 0) + device(1, 1)
    events += [{'ph': 'M', 'name': 'thread_name', 'pid': pid, 'tid': 7, 'args': {'name': 'stream 7'}} for pid in (0, 1)]
    for i in range(60):
        at = 100 + 10 * i
        events += [{'ph': 'X', 'cat': 'cuda_runtime', 'name': 'cudaLaunchKernel', 'pid': 42, 'tid': 42, 'ts': at, 'dur': 4,
                    'args': {'External id': i, 'correlation': i + 1}},
                   {'ph': 's', 'cat': 'ac2g', 'name': 'ac2g', 'id': i + 1, 'pid': 42, 'tid': 42, 'ts': at},
                   kernel(at + 5.123, 6 + i % 8, i % 2, 7, ('gemm', 'relu<float>', 'ncclDevKernel_AllReduce_Sum')[i % 3], device=i % 2,
                          correlation=i + 1, grid=[1, i, 3], occupancy=0.074074, whole=2.0, large=1 << 63, ok=True, none=None, text='é "x"', empty=''),
                   {'ph': 'f', 'bp': 'e', 'cat': 'ac2g', 'name': 'ac2g', 'id': i + 1, 'pid': i % 2, 'tid': 7, 'ts': at + 5.123}]
    events += [kernel(50, 3, 0, 20, 'Memcpy HtoD (Pageable -> Device)', 'gpu_memcpy', bytes=1 << 40),
               kernel(55, 1, 0, 20, 'Memset (Device)', 'gpu_memset'), kernel(100, 900, 0, 7, 'ProfilerStep#1', 'gpu_user_annotation'),
               {'ph': 'i', 's': 't', 'ts': 130, 'pid': 0, 'tid': 7, 'name': 'mark'}]
    return events


events = torch_events()
found = same('PyTorch', saved('torch.json', events))
want = [e for e in events if e['ph'] == 'X' and e['pid'] != 42]
key = lambda s: (s.gpu, s.pid, s.name, s.dur)  # noqa: E731
check('PyTorch: names, durations and devices', sorted(map(key, found)) == sorted(
    (e['pid'], e['pid'], e['name'], round(1000 * e['dur'])) for e in want), found[:3])
check('PyTorch: queues', {(s.gpu, s.queue) for s in found} == {(0, 'stream 7'), (1, 'stream 7'), (0, '20')}, {s.queue for s in found})
one = next(s for s in found if s.submission == 5)
check('PyTorch: args', one.args == {'device': '0', 'correlation': '5', 'grid': '[1,4,3]', 'occupancy': '0.074074', 'whole': one.args['whole'],
                                    'large': str(1 << 63), 'ok': 'true', 'none': 'null', 'text': 'é "x"', 'empty': ''}, one.args)
check('PyTorch: submissions', sorted(s.submission for s in found if s.submission is not None) == list(range(1, 61)))
status, _, err = tracekit('convert', path('torch.json'), '-o', path('gpu.pftrace'), '--gpu-events', '--no-loss', '--force', '-q')
check('PyTorch: nothing is lost', status == 0, err)
check('other formats ignore the option', tracekit('convert', path('torch.json'), '-f', 'json', '--gpu-events')[1] ==
      tracekit('convert', path('torch.json'), '-f', 'json')[1])

# ---- counters: each packet has the value of the sample before it, and the last packet the last value ----

Sample = collections.namedtuple('Sample', 'name gpu value')


def number(sample):
    return sample[2][0] if 2 in sample else struct.unpack('<d', sample[3][0])[0]


def samples(name):
    with open(name, 'rb') as f:
        packets = [dict_of(p) for n, p in protobuf.parse(f.read()) if n == 1]
    specs, out = {}, []
    for event in (dict_of(e) for p in packets for e in p.get(52, [])):
        for d in event.get(1, []):
            for spec in (dict_of(s) for n, s in protobuf.parse(d) if n == 1):
                check(f'{os.path.basename(name)}: a counter is described once', spec[1][0] not in specs)
                specs[spec[1][0]] = spec[2][0].decode()
        out += [Sample(specs[s[1][0]], event.get(3, [0])[0], number(s)) for s in map(dict_of, event.get(2, []))]
    return out


def counter(ts, pid, name, **values):
    return {'ph': 'C', 'ts': ts, 'pid': pid, 'name': name, 'args': values}


events = device(0, 0) + device(1, 1) + [kernel(1, 99)]
events += [counter(10 + i, i % 2, 'memory', used=100 * i, free=0.5 + i) for i in range(10)]
events += [counter(50, 0, 'large', value=1 << 63), counter(51, 0, 'large', value=None), counter(52, 0, 'large', value='text', other='7'), counter(53, 42, 'host', n=1)]
same('counters', saved('counters.json', events))
found = samples(path('gpu.pftrace'))
of = lambda name, gpu: [s.value for s in found if s.name == name + f' (device {gpu})' * gpu and s.gpu == gpu]  # noqa: E731
check('counters: values', of('memory used', 0) == [0, 0, 200, 400, 600, 800] and of('memory used', 1) == [100, 100, 300, 500, 700, 900], found)
check('counters: decimals', of('memory free', 1) == [1.5, 1.5, 3.5, 5.5, 7.5, 9.5], of('memory free', 1))
check('counters: values of any type', of('large value', 0) == [2.0 ** 63] * 2 and of('large other', 0) == [7, 7], found[-6:])
check('counters: those of the host are no GPU counters', not [s for s in found if s.name.startswith('host')])
check('counters: as many again', samples(path('again.pftrace')) == found)
merged = tracekit('merge', path('gpu.pftrace'), path('gpu.pftrace'), '-o', path('merged.pftrace'), '--align=none', '--gpu-events', '--force')
check('counters: a merge has both', len(samples(path('merged.pftrace'))) == 2 * len(found), merged)
same('many series', saved('series.json', device(0, 0) + [counter(i, 0, 'c', **{f's{k}': k + i for k in range(300)}) for i in range(20)]))

# ---- operations ----

convert('operations', path('torch.json'), 'plain.pftrace'), convert('operations', path('torch.json'), 'gpu.pftrace', '--gpu-events')
found = stages(path('gpu.pftrace'))

for what, command in (('filter', ('filter', '--name', 'gemm')), ('cut', ('filter', '--time', '+100us..+300us')), ('rebase', ('rebase', '--shift', '5s')),
                      ('shrink', ('shrink', '--percent', '60'))):
    for source in ('gpu', 'plain'):
        status, _, err = tracekit(command[0], path(f'{source}.pftrace'), *command[1:], '-o', path(f'{source}_op.pftrace'), '--force', '-q', '--no-provenance',
                                  '--gpu-events')
        check(f'{what}: status', status == 0, err)
    check(f'{what}: the same graph of both', graph(path('gpu_op.pftrace')) == graph(path('plain_op.pftrace')))
    check(f'{what}: stages', 0 < len(stages(path('gpu_op.pftrace'))) <= len(found))
status, _, err = tracekit('merge', path('gpu.pftrace'), path('gpu.pftrace'), '-o', path('merged.pftrace'), '--align=none', '--gpu-events', '--force')
check('merge: each stage once a rank', status == 0 and len(stages(path('merged.pftrace'))) == 2 * len(found), err)
status, _, err = tracekit('split', path('gpu.pftrace'), '--by', 'process', '-o', path('part{}.pftrace'), '--gpu-events', '--force')
parts = glob.glob(path('part*.pftrace'))
check('split: each stage once', status == 0 and sum(len(stages(p)) for p in parts) == len(found), err)

# ---- stages of other producers: passed through while unedited, then written as ours ----

torch_pftrace.write(path('theirs.pftrace'))
theirs = stages(path('theirs.pftrace'))
check('theirs: passed through', stages(convert('theirs', path('theirs.pftrace'), 'kept.pftrace', '--gpu-events')) == theirs)
for option in ('--gpu-events', '--no-gpu-events'):
    status, _, err = tracekit('filter', path('theirs.pftrace'), '--exclude', 'nothing*', '--min-dur', '1ns', '-o', path(f'theirs{option}.pftrace'),
                              '--no-provenance', option)
    check(f'theirs: filter {option}', status == 0, err)
ours = stages(path('theirs--gpu-events.pftrace'))
check('theirs: the same graph', graph(path('theirs--gpu-events.pftrace')) == graph(path('theirs--no-gpu-events.pftrace')))
check('theirs: the same stages', sorted((s.name, s.dur, s.queue) for s in ours) == sorted((s.name, s.dur, s.queue) for s in theirs), (ours[:2], theirs[:2]))

# ---- unusual queues ----

check('overlaps: all are stages', len(same('overlaps', saved('overlaps.json', device(0, 0) + [kernel(10 + i, 5) for i in range(30)]))) == 30)
check('nested: all are stages', len(same('nested', saved('nested.json', device(0, 0) + [kernel(10, 50), kernel(10, 20), kernel(15, 5), kernel(60, 0),
                                                                                       kernel(60, 0)]))) == 5)
check('no stream: all are stages', len(same('no stream', saved('absent.json', device(0, 0) + [kernel(10, 5, tid=None)]))) == 1)
check('many streams: all are stages', len(same('many streams', saved('many.json', device(0, 0) + [
    kernel(10 + i, 5, tid=i) for i in range(3000)]))) == 3000)
for number in (-1, 2147483647, 2147483648, 1 << 70):
    got = same(f'GPU {number}', saved('number.json', device(0, number) + [kernel(10, 5)]))
    check(f'GPU {number}: its number', [s.gpu for s in got] in ([], [number if number == 2147483647 else 0]), got)
got = same('without a name', saved('nameless.json', device(0, 0) + [kernel(10, 5, name=None), kernel(20, 5, name='')]))
check('without a name: stages are called by their category', [s.name for s in got] == ['kernel', ''], got)
check('a key without letters: no arg', [s.args for s in same('empty key', saved('key.json', device(0, 0) + [kernel(10, 5, **{'': 1, 'a': 2})]))] == [{'a': '2'}])
same('unfinished', saved('unfinished.json', device(0, 0) + [kernel(10, 5), dict(kernel(20, 1), ph='B')]))
check('unfinished: track events', not stages(path('gpu.pftrace')))
paired = [dict(kernel(ts, 1, **{'n': ts}), ph=ph) for ts, ph in ((10, 'B'), (15, 'E'), (15, 'B'), (21, 'E'))]
check('pairs in a row: stages', len(same('pairs in a row', saved('pairs.json', device(0, 0) + paired))) == 2)
nested = [dict(kernel(ts, 1), ph=ph) for ts, ph in ((10, 'B'), (12, 'B'), (12, 'E'), (12, 'E'))]
check('nested pairs: track events', not same('nested pairs', saved('pairs.json', device(0, 0) + nested)))
lost = same('no clock', saved('clock.json', device(0, 0) + [kernel(1e15 + i, 5) for i in range(9)] + [kernel(0, 5)]), flags=False)
check('no clock: track events', not lost, lost)
check('host work: no stages', not same('host', saved('host.json', [dict(kernel(10, 5, cat='cpu_op'), pid=1)])))

# Random flows between devices and hosts: chains, and flows that lack a start or an end.
draw = random.Random(1)
for round_of in range(12):
    events = device(0, 0) + device(1, 1)
    for i in range(60):
        pid = draw.choice((0, 1, 9))
        ts, dur = draw.randrange(1, 400), draw.choice((0, 1, 3, 20))
        events.append(kernel(ts, dur, pid, draw.randrange(2), draw.choice('abc'), 'kernel' if pid < 9 else 'cpu_op', n=i))
        events.append({'ph': draw.choice('stf'), 'bp': 'e', 'id': draw.randrange(1, 12), 'cat': 'f', 'name': 'f', 'pid': pid, 'tid': events[-1]['tid'],
                       'ts': ts})
    check(f'random {round_of}: stages', len(same(f'random {round_of}', saved('random.json', events))) == sum(
        e.get('cat') == 'kernel' for e in events))

# ---- fixtures with device work ----

for pattern in ('xplane/synth/*.pb', 'xplane/synth/*.json.gz', 'nsys/*.sqlite', 'rocm/*.db', 'rocm/graph.rpd', 'rocm/work_results.json', 'ascend/rank5.db'):
    names = sorted(glob.glob(os.path.join(FIXTURES, pattern)))
    check(f'{pattern}: exists', names)
    some = 0
    for name in names:
        some += len(same(os.path.basename(name), name))
    check(f'{pattern}: has stages', some > 0)

# ---- damage ----

with open(convert('damage', saved('small.json', device(0, 0) + [kernel(10, 5, n=1), kernel(20, 5, n=2)]), 'small.pftrace', '--gpu-events'), 'rb') as f:
    whole = f.read()
for n in range(0, len(whole), 5):
    for data in (whole[:n], whole[:n] + bytes([whole[n] ^ 1 << n % 8]) + whole[n + 1:]):
        with open(path('damaged.pftrace'), 'wb') as f:
            f.write(data)
        status, _, err = tracekit('convert', path('damaged.pftrace'), '-o', path('mended.pftrace'), '--gpu-events', '--force')
        if status not in (0, 3):
            check(f'damage at byte {n}', False, f'status {status}: {err}')
check('damage at every fifth byte', True)
sys.exit(finish())
