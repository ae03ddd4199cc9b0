#!/usr/bin/env python3
"""Checks that an asynchronous collective is not the parent of what its thread runs meanwhile, in `tree`, `diff --by path` and `diff
--match tree`, for --launched-by, phases, and the annotations of `report`. Near misses: a collective that only contains its own calls, and an operator with another name."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import check, finish  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']


def run(*args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if p.returncode:
        raise RuntimeError(f'{" ".join(args)}: status {p.returncode}: {p.stderr[:300]}')
    return json.loads(p.stdout)


def x(name, cat, ts, dur, pid=1, tid=1, **args):
    return {'ph': 'X', 'name': name, 'cat': cat, 'pid': pid, 'tid': tid, 'ts': ts, 'dur': dur, 'args': args}


def paths(report):
    """Returns {path: (count, total in us, self in us, device time in us)} of a tree."""
    found, path = {}, []
    for n in report['paths']:
        path[n['depth']:] = [n['name']]
        found[' > '.join(path)] = (n['count'], n['total_ns'] / 1000, n['self_ns'] / 1000, (n.get('device_ns') or 0) / 1000)
    return found


def trace(name, cat, start, dur, step=200):
    """A step with a collective that begins at `start`, and the forward pass, which launches a kernel."""
    return [x('step', 'user_annotation', 0, step), x('c10d::alltoall_', 'cpu_op', start - 2, 6), x(name, cat, start, dur),
            x('forward', 'user_annotation', 50, 40), x('aten::mm', 'cpu_op', 60, 20), x('cudaLaunchKernel', 'cuda_runtime', 65, 5, correlation=3),
            x('gemm', 'kernel', 100, 30, 0, 7, correlation=3, device=0, stream=7),
            {'ph': 'M', 'name': 'process_labels', 'pid': 0, 'args': {'labels': 'GPU 0'}}]


def judge_launches(write):
    """Work that the collective launched itself, and work of the forward pass."""
    for name in ('hccl:all_to_all', 'nccl:_all_gather_base'):
        events = trace(name, 'user_annotation', 10, 100) + [x('cudaLaunchKernel', 'cuda_runtime', 11, 2, correlation=4),
                                                           x('exchange', 'kernel', 140, 9, 0, 8, correlation=4, device=0, stream=8)]
        for caller in (True, False): # without the operator that started it, the collective ends where the model goes on
            path = write('e.json', [e for e in events if caller or 'c10d' not in e['name']])
            got = {r['name'] for r in run('top', '-q', '--json', '--launched-by', name, path)['rows']}
            check(f'{name}: launched by', got == {'exchange'}, got)
            got = {r['name'] for r in run('top', '-q', '--json', '--launched-by', 'forward', path)['rows']}
            check(f'{name}: launched by forward', got == {'gemm'}, got)
            rows = {r['name'] for r in run('diff', '-q', '--json', '--match', 'tree', '--kind', 'kernel', path, path)['rows']}
            want = {'step > forward > aten::mm > kernel 1', f'step > {name} > kernel 1'}
            check(f'{name}: rows by launch', rows == want, rows)
            got = {r['name']: r['total_ns'] for r in run('top', '-q', '--json', '--by', 'phase', '--kind', 'kernel', path)['rows']}
            check(f'{name}: phases', got.get('forward') == 30000, got)
            spans = run('report', '-q', '--json', path)['annotations']
            got = {a['name']: (a['depth'], a['total_ns'] // 1000, a['self_ns'] // 1000) for a in spans}
            own = 4 if caller else 40
            check(f'{name}: annotations', got == {'step': (0, 200, 160 - own), name: (1, 100, own), 'forward': (1, 40, 40)}, got)


def main():
    with tempfile.TemporaryDirectory() as folder:
        def write(name, events):
            with open(f'{folder}/{name}', 'w', encoding='utf-8') as f:
                json.dump({'schemaVersion': 1, 'traceEvents': events}, f)
            return f'{folder}/{name}'
        for name, dur in (('gloo:all_reduce', 100), ('hccl:all_to_all', 100), ('nccl:_all_gather_base', 1000)):
            path = write('a.json', trace(name, 'cpu_op' if dur == 100 else 'user_annotation', 10, dur))
            got = paths(run('tree', '-q', '--json', path))
            check(f'{name}: forward', got.get('step > forward > aten::mm', ())[:2] == (1, 20), got)
            check(f'{name}: nothing below', not any(f'{name} >' in p for p in got), got)
            check(f'{name}: device time', got.get('step > forward', (0,) * 4)[3] == 30 and all(v[3] == 0 for p, v in got.items() if p.endswith(name)), got)
            rows = {r['name'] for r in run('diff', '-q', '--json', '--by', 'path', path, path)['rows']}
            want = 'forward' if dur == 1000 else 'step > forward'
            check(f'{name}: diff', f'{want} > aten::mm' in rows or 'step > forward > aten::mm' in rows, rows)
        alone = [e for e in trace('gloo:all_reduce', 'cpu_op', 10, 100) if 'c10d' not in e['name'] and e['name'] != 'forward']
        got = paths(run('tree', '-q', '--json', write('d.json', alone)))
        check('without c10d', {'step > gloo:all_reduce', 'step > aten::mm'} <= set(got), got)
        got = paths(run('tree', '-q', '--json', write('b.json', trace('my:all_reduce', 'cpu_op', 10, 100))))
        check('another name', 'step > my:all_reduce > forward > aten::mm' in got, got)
        short = [x('nccl:all_reduce', 'user_annotation', 10, 100), x('cudaLaunchKernel', 'cuda_runtime', 20, 5), x('record_param_comms', 'cpu_op', 30, 5),
                 x('aten::copy_', 'cpu_op', 40, 5)]
        got = paths(run('tree', '-q', '--json', write('c.json', short)))
        check('its own calls', set(got) == {'nccl:all_reduce', 'nccl:all_reduce > cudaLaunchKernel', 'nccl:all_reduce > record_param_comms', 'nccl:all_reduce > aten::copy_'}, got)
        judge_launches(write)
    return finish()


if __name__ == '__main__':
    sys.exit(main())
