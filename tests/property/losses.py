#!/usr/bin/env python3
"""What a format cannot hold is said by kind and count: for every trace and every format that is written, what is read back and what the
report calls lost add up to what the trace had.  --no-loss refuses to write exactly where something is lost, and leaves no file."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import finish, judge  # noqa: E402

TRACEKIT, FIXTURES = os.environ['TRACEKIT'], os.environ['FIXTURES']
ODD = {'traceEvents': [
    {'ph': 'X', 'pid': 1, 'tid': 1, 'ts': 1, 'dur': 5, 'name': 'span', 'cat': 'c', 'args': {'a': [1]}},
    {'ph': 'i', 'pid': 1, 'tid': 1, 'ts': 2, 'name': 'instant', 's': 't'},
    {'ph': 'C', 'pid': 1, 'tid': 1, 'ts': 3, 'name': 'counter', 'args': {'x': 1}},
    {'ph': 's', 'pid': 1, 'tid': 1, 'ts': 2, 'id': 1, 'name': 'f', 'cat': 'c'},
    {'ph': 'f', 'pid': 1, 'tid': 2, 'ts': 9, 'id': 1, 'name': 'f', 'cat': 'c', 'bp': 'e'},
    {'ph': 'X', 'pid': 1, 'tid': 2, 'ts': 8, 'dur': 5, 'name': 'target'},
    {'ph': 's', 'pid': 1, 'tid': 1, 'ts': 4, 'id': 2, 'name': 'dangling', 'cat': 'c'},
    {'ph': 'b', 'pid': 1, 'tid': 1, 'ts': 1, 'id': 7, 'name': 'async', 'cat': 'c'},
    {'ph': 'e', 'pid': 1, 'tid': 1, 'ts': 9, 'id': 7, 'name': 'async', 'cat': 'c'},
    {'ph': 'O', 'pid': 1, 'tid': 1, 'ts': 1, 'id': 7, 'name': 'object', 'args': {'snapshot': {}}},
    {'ph': 'N', 'pid': 1, 'tid': 1, 'ts': 1, 'id': 7, 'name': 'object'}], 'otherKey': {'value': 1}}


def run(*args):
    return subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def info(path):
    p = run('info', '--json', '-q', path)
    return json.loads(p.stdout)['traces'][0] if p.returncode == 0 else None


def sums_fault(before, after, lost):
    """A sample of several series may come back as several samples, and xprof writes samples as spans on a line "_counters_", which are
    read as samples: so of spans and samples none may be missing together.  Flow points that lead nowhere are lost to viewers alone."""
    pairs = [('instants', before['instants'], after['instants'], lost.get('instants', 0))]
    pairs += [(key, before[key], after[key], lost.get(key, 0)) for key in ('spans', 'flow_points')]
    for kind, had, has, gone in pairs:
        if has + gone == had:
            continue
        if kind == 'flow_points' and has + gone <= had <= has + gone + lost.get('flow_points_that_lead_nowhere', 0):
            continue
        samples = after['counter_samples'] + lost.get('counter_samples', 0) - before['counter_samples']
        if kind == 'spans' and has + gone + samples >= had and has + gone < had:
            continue
        return f'{has} {kind} and {gone} lost of {had}'
    if after['counter_samples'] + lost.get('counter_samples', 0) < before['counter_samples']:
        return f'{after["counter_samples"]} counter samples of {before["counter_samples"]}'
    return ''


def one(source, fmt, readable, folder):
    out, refused = f'{folder}/x', f'{folder}/refused'
    before = info(source)
    p = run('convert', source, '-f', fmt, '-o', out, '--force', '--json')
    if p.returncode:
        judge(f'{source} -> {fmt}', p.stderr.decode())
        return
    lost = json.loads(p.stdout)['lost']
    judge(f'{source} -> {fmt}: said', '' if bool(lost) == (b': lost, since ' in p.stderr) else p.stderr.decode())
    if fmt in readable:
        judge(f'{source} -> {fmt}: sums', sums_fault(before, info(out), lost))
    p = run('convert', source, '-f', fmt, '-o', refused, '--no-loss')
    fine = p.returncode == (3 if lost else 0) and os.path.exists(refused) == (not lost)
    judge(f'{source} -> {fmt}: --no-loss', '' if fine else f'status {p.returncode}, lost {lost}: {p.stderr.decode()}')
    if os.path.exists(refused):
        os.remove(refused)


def main():
    formats = run('__docs', 'formats').stdout.decode().split()
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
