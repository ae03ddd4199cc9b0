#!/usr/bin/env python3
"""Checks the table of operators in `report` (device_operators) against `top --by op` on fixtures, and against a model on a trace
with nested operators: calls, work, device time, self time of the host and category of each operator."""
import collections
import glob
import json
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import finish, judge  # noqa: E402

TRACEKIT, FIXTURES = os.environ['TRACEKIT'], os.environ['FIXTURES']
KERNELS = {'ampere_sgemm_64x64_nn': 'matmul', 'vectorized_elementwise_kernel<4>': 'elementwise', 'Memcpy HtoD (Pageable -> Device)': 'copy'}


def answer(*args):
    out = subprocess.run([TRACEKIT, *args, '-q', '--json'], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True)
    return json.loads(out.stdout)


def like_top(path):
    """Compares work and device time of each operator with those of top, which also counts device events that are not work."""
    ops = answer('report', path)['device_operators']
    if not ops:
        return 'none'
    rows = {r['name']: (r['count'], r['self_ns']) for r in answer('top', path, '--by', 'op', '--kind', 'device')['rows'] if r['name']}
    found = {o['name']: (o['work'], o['device_ns']) for o in ops if o['name']}
    share = sum(o['percent'] for o in ops)
    times = [o['device_ns'] for o in ops]
    fault = '' if abs(share - 100) < 0.01 else f'{share} % in all'
    fault = fault or ('' if times == sorted(times, reverse=True) else f'not sorted: {times}')
    return fault or ('' if found == rows else f'{found}, not {rows}'[:400])


def job(rnd, path):
    """Writes operators within operators, whose calls launch one or two pieces of work each; returns the expected rows."""
    want = collections.defaultdict(lambda: {'calls': 0, 'work': 0, 'device': 0, 'host': 0, 'count': 0, 'kinds': collections.Counter()})
    events, at, device, last = [], 0, 5000, 0
    for _ in range(60):
        outer, inner = rnd.choice(('aten::linear', 'aten::relu')), rnd.choice(('aten::mm', 'aten::add', None))
        length, launches = rnd.randrange(40, 80), rnd.randrange(3)
        name = inner or outer
        events.append({'ph': 'X', 'cat': 'cpu_op', 'name': outer, 'pid': 1, 'tid': 1, 'ts': at, 'dur': length})
        if inner:
            events.append({'ph': 'X', 'cat': 'cpu_op', 'name': inner, 'pid': 1, 'tid': 1, 'ts': at + 2, 'dur': 30})
            want[inner]['count'] += 1
            want[inner]['host'] += 30 - 3 * launches
        want[outer]['count'] += 1
        want[outer]['host'] += length - (30 if inner else 3 * launches)
        want[name]['calls'] += launches > 0
        for k in range(launches):
            last += 1
            kernel, dur = rnd.choice(list(KERNELS)), rnd.randrange(5, 60)
            events += [{'ph': 'X', 'cat': 'cuda_runtime', 'name': 'cudaLaunchKernel', 'pid': 1, 'tid': 1, 'ts': at + 4 + 8 * k, 'dur': 3,
                        'args': {'correlation': last}},
                       {'ph': 'X', 'cat': 'gpu_memcpy' if 'Memcpy' in kernel else 'kernel', 'name': kernel, 'pid': 0, 'tid': 7, 'ts': device, 'dur': dur,
                        'args': {'correlation': last, 'stream': 7, 'device': 0}}]
            want[name]['work'] += 1
            want[name]['device'] += dur
            want[name]['kinds'][KERNELS[kernel]] += dur
            device += dur + 1
        at += length + 5
    with open(path, 'w', encoding='utf-8') as f:
        json.dump({'schemaVersion': 1, 'traceEvents': events}, f)
    return {n: w for n, w in want.items() if w['work']}


def model_fault(path, want):
    found = answer('report', path)['device_operators']
    if {o['name'] for o in found} != set(want):
        return f'{[o["name"] for o in found]}, not {list(want)}'
    for o in found:
        w = want[o['name']]
        got = (o['calls'], o['work'], o['device_ns'], o['host_self_ns'], o['host_count'])
        if got != (w['calls'], w['work'], 1000 * w['device'], 1000 * w['host'], w['count']):
            return f'{o["name"]}: {got}, not {dict(w)}'
        if w['kinds'][o['category']] != max(w['kinds'].values()):
            return f'{o["name"]}: {o["category"]}, not {w["kinds"]}'
    return ''


def main():
    traces = [f'{FIXTURES}/perfetto/small.pftrace.gz', f'{FIXTURES}/xplane/synth/gpu.xplane.pb', *sorted(glob.glob(f'{FIXTURES}/nsys/*.sqlite')),
              f'{FIXTURES}/rocm/graph.rpd']
    for path in traces:
        judge(f'{os.path.basename(path)}: as in top', like_top(path))
    host = answer('report', f'{FIXTURES}/json/torch/ddp2_plain/rank0.json.gz')['device_operators']
    judge('a host without devices has none', '' if host == [] else str(host))
    tpu = answer('report', f'{FIXTURES}/xplane/synth/tpu.xplane.pb')['device_operators']
    got = {(o['name'], o['category'], o['calls'], o['work'], o['host_self_ns']) for o in tpu}
    judge('instructions of a TPU', '' if {('fusion.0', 'loop fusion', 3, 3, None), ('custom-call', 'other', 15, 15, None)} <= got and None not in {o['name'] for o in tpu} else str(got))
    with tempfile.TemporaryDirectory() as work:
        for seed in range(3):
            path = f'{work}/{seed}.json'
            want = job(random.Random(int(os.environ.get('SEED', '1')) * 100 + seed), path)
            judge(f'{seed}: model', model_fault(path, want))
        subprocess.run([TRACEKIT, 'report', '-q', path, '--top', '1', '--html', f'{work}/page.html'], stdout=subprocess.PIPE, check=True)
        with open(f'{work}/page.html', encoding='utf-8') as f:
            page = f.read()
        first = max(want, key=lambda n: want[n]['device'])
        judge('the page has the table', '' if re.search(rf'<h2>Operators by device time</h2>.*?<div title="{first}">', page, re.S) else 'it lacks it')
        text = subprocess.run([TRACEKIT, 'report', '-q', path, '--top', '1'], stdout=subprocess.PIPE, check=True).stdout.decode()
        judge('the text has the table', '' if re.search(rf'^Operators by device time.*\n.*operator\n.*  {first}$', text, re.M) else text)


main()
sys.exit(finish())
