#!/usr/bin/env python3
"""ascend.py CORPUS - compares reports of Ascend's traces (trace_view.json of msprof and torch_npu) with the summary in the traces.

    computing       the union of kernels equals the rows "Computing" of the process "Overlap Analysis"
    communication   the union of collectives equals its rows "Communication"
    clocks          ranks of one folder that share the wall clock to within a collective's ends are not moved
    shifted         with the clock of one rank 3 ms ahead, the offset is found to within the claimed error

The summary is computed by msprof from all tasks, in ns; the report computes it from the rows of the device."""
import glob
import json
import os
import subprocess
import sys
import tempfile
from decimal import Decimal

TRACEKIT = os.environ['TRACEKIT']
MOST_NS = 100  # rounding of the ends of each row to ns
failed = compared = 0


def judge(what, good, said):
    global failed, compared
    compared += 1
    failed += not good
    print(f'{"ok  " if good else "FAIL"} {what}: {said}')


def union(spans):
    total, last = 0.0, float('-inf')
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, last))
        last = max(last, end)
    return total


def summary(path):
    """Returns the us of each kind in "Overlap Analysis", or None if the trace has none."""
    with open(path, encoding='utf-8') as f:
        events = json.load(f)
    events = events if isinstance(events, list) else events['traceEvents']
    pids = {e['pid'] for e in events if e.get('name') == 'process_name' and e['args'].get('name') == 'Overlap Analysis'}
    zero = min((float(e['ts']) for e in events if e.get('ph') == 'X'), default=0)
    rows = {}
    for e in events:
        if e.get('pid') in pids and e.get('ph') == 'X':
            start = float(e['ts']) - zero
            rows.setdefault(e['name'], []).append((start, start + e['dur']))
    return {name: union(spans) for name, spans in rows.items()} if pids else None


def compare(path):
    expected = summary(path)
    if not expected:
        return
    p = subprocess.run([TRACEKIT, 'report', '-q', '--json', path], capture_output=True, check=True)
    rows = [r for r in json.loads(p.stdout)['ranks'] if r['device'] and r['work']]
    for name, key in (('Computing', 'compute_ns'), ('Communication', 'communication_ns')):
        if name not in expected:
            continue
        want, got = expected[name] * 1000, sum(r[key] or 0 for r in rows)
        judge(f'{os.path.basename(path)}: {name}', len(rows) == 1 and abs(want - got) <= MOST_NS, f'{got / 1e6:.6f} ms, the trace states {want / 1e6:.6f} ms')


def clocks(paths):
    p = subprocess.run([TRACEKIT, 'merge', '-q', *paths, '-o', os.devnull, '-f', 'chrome', '--force', '--align-report', '/dev/stdout'],
                       capture_output=True, check=True)
    hosts = json.loads(p.stdout).get('hosts', [])
    moved = [h for h in hosts if h.get('offset_ns')]
    judge(f'{os.path.dirname(paths[0])}: clocks', not moved, f'{len(paths)} ranks, {len(moved)} moved')


def shifted(paths, work, ahead=3000):
    with open(paths[1], encoding='utf-8') as f:
        events = json.load(f, parse_float=Decimal)
    for e in events if isinstance(events, list) else events['traceEvents']:
        if 'ts' in e:
            e['ts'] = str(Decimal(e['ts']) + ahead)
    other = os.path.join(work, 'shifted_rank1.json')
    with open(other, 'w', encoding='utf-8') as f:
        json.dump(events, f, default=float)
    report = os.path.join(work, 'clocks.json')
    subprocess.run([TRACEKIT, 'merge', '-q', '--force', paths[0], other, '-o', os.path.join(work, 'merged.json'), '--align-report', report],
                   capture_output=True, check=True)
    with open(report, encoding='utf-8') as f:
        host = json.load(f)['hosts'][-1]
    error = abs(host['offset_ns'] / 1e3 - ahead)
    judge(f'{os.path.dirname(paths[0])}: shifted', not host['trusted'] or error <= host['error_us'], f'error {error:.1f} us, claimed {host["error_us"]} us')


def main():
    paths = sorted(glob.glob(os.path.join(glob.escape(sys.argv[1]), '**', '*trace_view.json'), recursive=True))
    for path in paths:
        compare(path)
    folders = {}
    for path in paths:
        folders.setdefault(os.path.dirname(path), []).append(path)
    for ranks in folders.values():
        if len(ranks) > 1:
            clocks(ranks)
            with tempfile.TemporaryDirectory() as work:
                shifted(ranks, work)
    if not compared:
        print('SKIPPED: there is no trace of Ascend in the corpus')
    print(f'{compared - failed} passed, {failed} failed')
    return 1 if failed else 0


sys.exit(main())
