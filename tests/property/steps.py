#!/usr/bin/env python3
"""Checks that info, report, top and diff agree on the length of a step, on all fixtures whose traces mark steps.

docs/analysis.md defines the length. info shows the rank with the most steps, diff the mean over all ranks, and top the spans of
each track, one of which contains the steps."""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from dumped import covered  # noqa: E402
from verdict import finish, judge  # noqa: E402

TRACEKIT, FIXTURES = os.environ['TRACEKIT'], os.environ['FIXTURES']
ENDINGS = ('.json', '.json.gz', '.xplane.pb', '.pftrace', '.pftrace.gz', '.sqlite')


def run(*args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        return json.loads(p.stdout)
    except ValueError:
        return None


def near(a, b):
    return abs(a - b) <= 0.01


def fault(path, ranks, whole=True):
    """`ranks`: step durations of each row of report that has steps; `whole`: no rank lacks steps, so that diff compares steps."""
    most = max(ranks, key=lambda s: s['count'])
    shown = run('info', '-q', '--json', path)['traces'][0]['step']
    if any(shown[k] != most[k] for k in ('count', 'mean_ns', 'min_ns', 'max_ns')):
        return f'info: {shown}, report: {most}'
    rows = run('top', '-q', '--json', '--kind', 'step', '--by', 'track', path)['rows']
    if not any(r['count'] == most['count'] and near(r['total_ns'] / r['count'], most['mean_ns']) for r in rows):
        return f'top: no track with {most}'
    if len(ranks) > 1 or not whole:
        return ''
    before = run('diff', '-q', '--json', path, path)['step']['before']
    return '' if near(before['total_ns'], most['mean_ns']) and before['events'] == most['count'] else f'diff: {before}, report: {most}'


def drawn(folder):
    """Checks that the length of a step does not include copies of the step on a device, or work beyond its end."""
    span = lambda name, cat, pid, tid, ts, dur, **args: {'ph': 'X', 'name': name, 'cat': cat, 'pid': pid, 'tid': tid, 'ts': ts, 'dur': dur,  # noqa: E731
                                                         'args': args}
    events = [span(f'ProfilerStep#{i}', 'user_annotation', 9, 1, 100 * i, 90 + i) for i in range(4)]
    events += [span(f'ProfilerStep#{i}', 'gpu_user_annotation', 0, 7, 100 * i + 20, 110) for i in range(4)]
    events += [span('cudaLaunchKernel', 'cuda_runtime', 9, 1, 100 * i + 80, 5, correlation=i + 1) for i in range(4)]
    events += [span('k', 'kernel', 0, 7, 100 * i + 85, 40, correlation=i + 1, stream=7) for i in range(4)]
    path = os.path.join(folder, 'steps.json')
    with open(path, 'w', encoding='utf-8') as f:
        json.dump({'traceEvents': events}, f)
    ranks = [r['step'] for r in run('report', '-q', '--json', path)['ranks'] if r['step']]
    judge('steps of 91.5 us', '' if [r['mean_ns'] for r in ranks] == [91500] else f'{ranks}')
    judge('steps of two threads', fault(path, ranks))


def collections(folder):
    """Checks the garbage collections of each step against a model: those that start in it, and its time in which at least one ran, on
    any thread. A collection within another one of its thread is a part of that one."""
    for seed in range(20):
        rnd = random.Random(seed)
        events, collected, at, steps = [], [], 0, []
        for number in range(rnd.randrange(1, 6)):
            dur = rnd.randrange(50, 200)
            steps.append((number, at, at + dur))
            events.append({'name': f'ProfilerStep#{number}', 'cat': 'user_annotation', 'tid': 1, 'ts': at, 'dur': dur})
            at += dur + rnd.choice((0, 30))
        for tid in (2, 3, 4):
            begin = rnd.randrange(20)
            while begin < at + 20:
                dur = rnd.randrange(1, 120)
                collected.append((begin, begin + dur))
                events.append({'name': 'gc.collect', 'cat': 'python_function', 'tid': tid, 'ts': begin, 'dur': dur})
                if dur > 4:
                    events.append({'name': 'Python GC', 'cat': 'python_function', 'tid': tid, 'ts': begin + 1, 'dur': dur - 3})
                begin += dur + rnd.randrange(200)
        path = os.path.join(folder, 'collections.json')
        with open(path, 'w', encoding='utf-8') as f:
            json.dump({'traceEvents': [{'ph': 'X', 'pid': 1, **e} for e in events]}, f)
        row = run('report', '-q', '--json', path)['ranks'][0]
        want = [(n, sum(a <= s < b for s, _ in collected), 1000 * covered([(max(a, s), min(b, e)) for s, e in collected if s < b and e > a])) for n, a, b in steps]
        got = [(s['number'], s['garbage_collections'], s['garbage_collection_ns']) for s in row['steps']]
        judge(f'collections of the steps, {seed}', '' if got == want else f'{got} is not {want}')
        judge(f'all collections, {seed}', '' if (row['garbage_collections'], row['garbage_collection_ns']) == (len(collected), 1000 * covered(collected)) else str(row)[:300])
        table = subprocess.run([TRACEKIT, 'report', path], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, check=True).stdout.decode()
        line = table.split('\nSteps: duration and % busy, and % in garbage collections')[1].splitlines()
        share = 100 * sum(ns for _, _, ns in want) / sum(1000 * (b - a) for _, a, b in steps)
        at = re.split('  +', line[1].strip()).index('GC')
        judge(f'share in the table, {seed}', '' if re.split('  +', line[2].strip())[at] == f'{share:.1f}' else f'{line[2]}, not {share}')
    plain = run('report', '-q', '--json', os.path.join(FIXTURES, 'json/torch/ddp2_plain/rank0.json.gz'))['ranks'][0]
    judge('steps without collections', '' if 'garbage_collections' not in plain['steps'][0] else str(plain['steps'][0]))


def main():
    found = 0
    for folder, _, names in sorted(os.walk(FIXTURES)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            if 'nasty' in path or not name.endswith(ENDINGS) or os.path.getsize(path) > 4 << 20:
                continue
            report = run('report', '-q', '--json', path)
            ranks = [r['step'] for r in report['ranks'] if r['step']] if report else []
            if ranks:
                found += 1
                whole = {r['rank'] for r in report['ranks']} == {r['rank'] for r in report['ranks'] if r['step']}
                judge(os.path.relpath(path, FIXTURES), fault(path, ranks, whole))
    judge('fixtures with steps', '' if found >= 20 else f'only {found}')
    with tempfile.TemporaryDirectory() as folder:
        drawn(folder)
        collections(folder)


main()
sys.exit(finish())
