#!/usr/bin/env python3
"""Checks that losses are reported by kind and count: for every trace and output format, the events read back plus the reported
losses equal the events of the input. --no-loss must fail exactly if something is lost, and leave no file."""
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from counted import info, run, sums_fault  # noqa: E402
from verdict import finish, judge  # noqa: E402

FIXTURES = os.environ['FIXTURES']
ODD = {'traceEvents': [
    {'ph': 'X', 'pid': 1, 'tid': 1, 'ts': 1, 'dur': 5, 'name': 'span', 'cat': 'c', 'args': {'a': [1]}},
    {'ph': 'i', 'pid': 1, 'tid': 1, 'ts': 2, 'name': 'instant', 's': 't'},
    {'ph': 'C', 'pid': 1, 'tid': 1, 'ts': 3, 'name': 'counter', 'args': {'x': 1}},
    {'ph': 's', 'pid': 1, 'tid': 1, 'ts': 2, 'id': 1, 'name': 'f', 'cat': 'c'},
    {'ph': 'f', 'pid': 1, 'tid': 2, 'ts': 9, 'id': 1, 'name': 'f', 'cat': 'c', 'bp': 'e'},
    {'ph': 'X', 'pid': 1, 'tid': 2, 'ts': 8, 'dur': 5, 'name': 'target'},
    {'ph': 's', 'pid': 1, 'tid': 1, 'ts': 4, 'id': 2, 'name': 'dangling', 'cat': 'c'},
    {'ph': 's', 'pid': 1, 'tid': 3, 'ts': 4, 'id': 3, 'name': 'of no span', 'cat': 'c'},
    {'ph': 'X', 'pid': 1, 'tid': 4, 'ts': 8, 'dur': 5, 'name': 'out', 'bind_id': '0x9', 'flow_out': True},
    {'ph': 'b', 'pid': 1, 'tid': 1, 'ts': 1, 'id': 7, 'name': 'async', 'cat': 'c'},
    {'ph': 'e', 'pid': 1, 'tid': 1, 'ts': 9, 'id': 7, 'name': 'async', 'cat': 'c'},
    {'ph': 'O', 'pid': 1, 'tid': 1, 'ts': 1, 'id': 7, 'name': 'object', 'args': {'snapshot': {}}},
    {'ph': 'N', 'pid': 1, 'tid': 1, 'ts': 1, 'id': 7, 'name': 'object'}], 'otherKey': {'value': 1}}


def one(source, fmt, readable, folder):
    out, refused = f'{folder}/x', f'{folder}/refused'
    before = info(source)
    p = run('convert', source, '-f', fmt, '-o', out, '--force', '--json')
    if p.returncode:
        judge(f'{source} -> {fmt}', p.stderr.decode())
        return
    lost = json.loads(p.stdout)['lost']
    judge(f'{source} -> {fmt}: said', '' if bool(lost) == (b': lost: ' in p.stderr) else p.stderr.decode())
    if fmt in readable:
        judge(f'{source} -> {fmt}: sums', sums_fault(before, info(out), lost))
    p = run('convert', source, '-f', fmt, '-o', refused, '--no-loss')
    fine = p.returncode == (3 if lost else 0) and os.path.exists(refused) == (not lost)
    judge(f'{source} -> {fmt}: --no-loss', '' if fine else f'status {p.returncode}, lost {lost}: {p.stderr.decode()}')
    if os.path.exists(refused):
        os.remove(refused)


def main():
    listed = re.findall(r'^  (\w+) .*\((?:read, )?write;', run('convert', '-f', 'help').stdout.decode(), re.M)
    formats = [f for f in run('__docs', 'formats').stdout.decode().split() if f in listed]
    readable = [f for f in formats if f in ('json', 'xplane', 'perfetto')]
    traces = [os.path.join(d, n) for d, _, names in os.walk(FIXTURES) for n in names if '/nasty' not in d]
    traces = sorted(t for t in traces if t.endswith(('.json', '.json.gz', '.pb', '.pftrace.gz')))
    with tempfile.TemporaryDirectory() as folder:
        with open(f'{folder}/odd.json', 'w', encoding='utf-8') as f:
            json.dump(ODD, f)
        for trace in [f'{folder}/odd.json'] + traces:
            for fmt in formats:
                one(trace, fmt, readable, folder)
    judge('formats', '' if len(formats) > 3 else f'only {formats}')
    return finish()


sys.exit(main())
