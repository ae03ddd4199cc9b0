#!/usr/bin/env python3
"""Checks the operators of TensorFlow on a GPU. A profiler records an operator as "scope/name:Type" and displays only the type, and it
names a launch after the launched kernel. The device time of each operator must be the sum of the kernels whose own args name it, in an
XPlane and in the JSON that xprof makes from one."""
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import check, finish  # noqa: E402
from xspace import Plane  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']
TYPES = ('Cast', 'MatMul', '_FusedMatMul', 'RandomUniform', 'BiasAddGrad')
KERNEL = 'void functor::FillKernelLaunch<half>(half*, long)'


def run(*args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, capture_output=True)
    check(f'{args[0]}: status', p.returncode == 0, p.stderr.decode()[:300])
    return p.stdout.decode()


def model(rng):
    """Returns spans (start, duration, long name, type, kernels) of operators, with kernels (launch, start, duration); in us."""
    ops, at, free = [], 0, 0
    for i in range(60):
        kind = rng.choice(TYPES)
        kernels, begin = [], at
        for _ in range(rng.choice((0, 1, 1, 2))):
            at += rng.randrange(1, 5)
            start = max(at + 2, free)
            free = start + rng.randrange(1, 40)
            kernels.append((at, start, free - start))
            at += 2
        at += 3
        ops.append((begin, at - begin, f'replica_1/dense_{i % 4}/{kind}_{i}:{kind}', kind, kernels))
    return ops


# ---- XPlane ----

def xspace(ops):
    host, device = Plane(1, '/host:CPU'), Plane(2, '/device:GPU:0')
    calls, work, correlation = [], [], 0
    for start, dur, name, kind, kernels in ops:
        calls.append(host.event(name, start, dur, kind))
        for launch, begin, length in kernels:
            correlation += 1
            calls.append(host.event(KERNEL, launch, 1, correlation_id=correlation))
            work.append(device.event(KERNEL, begin, length, correlation_id=correlation, tf_op=name))
    host.line(1, 'tf_gpu_private_0', calls)
    device.line(7, 'Stream #7(Compute)', work)
    return host.bytes() + device.bytes()


# ---- JSON ----

def chrome(ops):
    named = ((1, '/host:CPU', 1, 'tf_gpu_private_0'), (2, '/device:GPU:0', 7, 'Stream #7(Compute)'))
    events = [{'ph': 'M', 'name': 'process_name', 'pid': pid, 'args': {'name': process}} for pid, process, _, _ in named]
    events += [{'ph': 'M', 'name': 'thread_name', 'pid': pid, 'tid': tid, 'args': {'name': thread}} for pid, _, tid, thread in named]
    correlation = 0

    def add(pid, tid, ts, dur, name, **args):
        events.append({'ph': 'X', 'pid': pid, 'tid': tid, 'ts': ts, 'dur': dur, 'name': name, 'args': args})
    for start, dur, name, kind, kernels in ops:
        add(1, 1, start, dur, kind, long_name=name, is_eager=0)
        for launch, begin, length in kernels:
            correlation += 1
            add(1, 1, launch, 1, KERNEL, correlation_id=correlation)
            add(2, 7, begin, length, KERNEL, correlation_id=correlation, tf_op=name, is_eager=0)
    return json.dumps({'traceEvents': events}).encode()


def examine(path, ops):
    what = os.path.basename(path)
    want = collections.Counter()
    for _, _, _, kind, kernels in ops:
        if kernels:
            want[kind] += sum(length for _, _, length in kernels) * 1000
    got = {r['name']: r['total_ns'] for r in json.loads(run('top', '-q', '--json', '--kind', 'kernel', '--by', 'op', path))['rows']}
    check(f'{what}: device time of the operators', got == dict(want), f'got  {got}\nwant {dict(want)}')
    report = json.loads(run('report', '-q', '--json', path))
    rank = report['ranks'][0]
    launches = sum(len(kernels) for *_, kernels in ops)
    got = tuple(rank[key] for key in ('host_ops', 'host_only_ops', 'runtime_calls', 'kernels'))
    want = (len(ops), sum(not kernels for *_, kernels in ops), launches, launches)
    check(f'{what}: operators, without launch, calls, kernels', got == want, f'got  {got}\nwant {want}')
    classes = {h['name']: h['kind'] for h in report['operators']}
    check(f'{what}: the call named after its kernel is a launch', classes.get(KERNEL) == 'launch', classes)
    kinds = {(e['process'].split()[0], e['name']): e for e in map(json.loads, run('dump', '-q', '--jsonl', '--kind', 'runtime', path).splitlines())}
    check(f'{what}: no work of the device is a call', set(kinds) == {('/host:CPU', KERNEL)}, set(kinds))


def copies(folder):
    """Copies and fills of ROCm, whose names and lines CUDA does not have, by the stats that describe them."""
    device, details = Plane(1, '/device:GPU:0'), 'kind:Unknown size:655360 dest:2 async:1'
    device.line(9, 'Stream #9(MemcpyOther)', [device.event('CopyDeviceToDevice', 10 * i, 5, memcpy_details=details) for i in range(4)])
    device.line(1, 'Stream #1(Kernel)', [device.event(KERNEL, 100, 20), device.event('Fill', 130, 3, memset_details='kind:Unknown size:64')])
    path = f'{folder}/copies.xplane.pb'
    with open(path, 'wb') as f:
        f.write(device.bytes())
    got = json.loads(run('report', '-q', '--json', path))
    rows = {k['name']: (k['kind'], k['count'], k['total_ns'], k.get('bytes')) for k in got['kernels']}
    want = {'CopyDeviceToDevice': ('copy', 4, 20000, 4 * 655360), 'Fill': ('fill', 1, 3000, 64), KERNEL: ('compute', 1, 20000, None)}
    check('copies, fills and kernels', {k: v[:3] for k, v in rows.items()} == {k: v[:3] for k, v in want.items()}, rows)
    check('bytes', rows['CopyDeviceToDevice'][3] == 4 * 655360, rows)
    check('kernels of the device', [r['kernels'] for r in got['ranks']] == [1], got['ranks'][0]['kernels'])


PLANES = {'/device:GPU:0/stream:13 Compute': [('MatMul', 100, 50), ('MEMCPYDtoH', 200, 5)], '/device:GPU:0/stream:7 Compute': [('Conv2D', 110, 30)],
          '/device:GPU:0/stream:all Compute': [('MatMul', 100, 50), ('Conv2D', 110, 30)], '/device:GPU:0/memcpy Compute': [('MEMCPYDtoH', 200, 5)],
          '/job:localhost/replica:0/task:0/device:CPU:0 Compute': [('NoOp', 90, 20)]}


def timeline(folder):
    """TensorFlow 1 writes a process for each stream, and processes that show the work of all streams again."""
    for what, left_out, device in (('streams', '', {'NoOp': 1, 'MatMul': 1, 'Conv2D': 1, 'MEMCPYDtoH': 1}),
                                   ('all streams together', '/stream:[0-9]', {'NoOp': 1, 'MatMul': 1, 'Conv2D': 1, 'MEMCPYDtoH': 1}),
                                   ('the summary alone', '/stream:[0-9]|memcpy', {'NoOp': 1, 'MatMul': 1, 'Conv2D': 1})):
        events = []
        for pid, (process, spans) in enumerate(PLANES.items()):
            if left_out and re.search(left_out, process):
                continue
            events.append({'ph': 'M', 'name': 'process_name', 'pid': pid, 'args': {'name': process}})
            events += [{'ph': 'X', 'cat': 'Op', 'name': name, 'pid': pid, 'tid': 0, 'ts': ts, 'dur': dur, 'args': {'op': name}} for name, ts, dur in spans]
        path = f'{folder}/timeline.json'
        with open(path, 'w', encoding='utf-8') as f:
            json.dump({'traceEvents': events}, f)
        row = json.loads(run('report', '-q', '--json', path))['ranks'][0]
        want = ('GPU 0', 55000 if 'MEMCPYDtoH' in device else 50000)
        check(f'timeline, {what}: device', (row['device'], row['busy_ns']) == want, (row['device'], row['busy_ns']))
        top = {r['name']: r['count'] for r in json.loads(run('top', '-q', '--json', path))['rows']}
        check(f'timeline, {what}: top', top == device, top)
        tree = {r['name']: r['count'] for r in json.loads(run('tree', '-q', '--json', path))['paths']}
        check(f'timeline, {what}: tree', tree == device, tree)
        if not left_out:
            streams = {r['name']: r['count'] for r in json.loads(run('top', '-q', '--json', '--by', 'stream', '--kind', 'device', path))['rows']}
            check('timeline: streams', streams == {'7': 1, '13': 2}, streams)
            found = {r['name'] for r in json.loads(run('top', '-q', '--json', '-e', 'stream == 13', path))['rows']}
            check('timeline: stream == 13', found == {'MatMul', 'MEMCPYDtoH'}, found)
            found = {r['name'] for r in json.loads(run('top', '-q', '--json', '-e', "track ~ '*stream:all*'", path))['rows']}
            check('timeline: the summary by expression', found == {'MatMul', 'Conv2D'}, found)


def main():
    rng = random.Random(5)
    with tempfile.TemporaryDirectory() as folder:
        copies(folder)
        timeline(folder)
        for i in range(3):
            ops = model(rng)
            for name, data in ((f'gpu{i}.xplane.pb', xspace(ops)), (f'gpu{i}.json', chrome(ops))):
                with open(f'{folder}/{name}', 'wb') as f:
                    f.write(data)
                examine(f'{folder}/{name}', ops)
    return finish()


if __name__ == '__main__':
    sys.exit(main())
