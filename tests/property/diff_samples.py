#!/usr/bin/env python3
"""Checks `diff` over stack samples against a model in Python: self, total and count of each name and path in two and three
runs; recursion counts once; samples whose weight has a unit different from the unit of the comparison count as samples without
weight; spans and stack samples in one comparison."""
import collections
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from schema import conforms  # noqa: E402
from verdict import check, finish, judge  # noqa: E402

TRACEKIT, SRC = os.environ['TRACEKIT'], os.environ['SRC']
SCHEMAS = [json.load(open(f'{SRC}/schemas/{name}.schema.json', encoding='utf-8')) for name in ('diff', 'diff_runs')]
folder = tempfile.mkdtemp()


def diff(*args):
    p = subprocess.run([TRACEKIT, 'diff', '--json', *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode:
        judge(' '.join(args), f'status {p.returncode}: {p.stderr.decode()[:300]}')
        return None, ''
    return json.loads(p.stdout), p.stderr.decode()


def make(path, r, events):
    """Writes a text of perf script; returns its samples: (stack, outermost first; weight; unit)."""
    out, samples = [], []
    for i in range(r.randrange(1, 60)):
        stack = [f'f{r.randrange(6)}' for _ in range(r.choice((1, 2, 4, 300)))]
        event, weight = r.choice(events), r.randrange(1, 10**9)
        out.append(f'app 1/{r.randrange(1, 4)} {i}.000001: {weight} {event}: ')
        out += [f'\t1 {name} (m)' for name in reversed(stack)] + ['']
        samples.append((stack, weight, 'ns' if event == 'cpu-clock' else event))
    with open(path, 'w', encoding='utf-8') as f:
        f.write('\n'.join(out) + '\n')
    return samples


def sums(samples, unit, by_path):
    """Returns {row: [count, total, self]}, and the number and total weight of all samples."""
    rows, everything = collections.defaultdict(lambda: [0, 0, 0]), [0, 0]
    for stack, weight, of in samples:
        weight = weight if of == unit else 0
        places = [' > '.join(stack[:i + 1]) for i in range(min(len(stack), 200))] if by_path else stack
        for row in set(places):
            rows[row][0] += 1
            rows[row][1] += weight
        rows[places[-1]][2] += weight
        everything[0] += 1
        everything[1] += weight
    return dict(rows), everything


def unit_of(runs):
    every = [s for run in runs for s in run]
    return 'ns' if any(of == 'ns' for _, _, of in every) else every[0][2]


def seen(cell):
    return [cell['events'], cell['total_ns'], cell['self_ns']]




def two(seed, events, by_path):
    r = random.Random(seed)
    paths = [f'{folder}/{seed}.{i}.perf' for i in range(2)]
    runs = [make(path, r, events) for path in paths]
    unit = unit_of(runs)
    report, notes = diff(*paths, *(('--by', 'path') if by_path else ()))
    if not report:
        return
    fault = conforms(SCHEMAS[0], report)
    check(f'{seed}: schema', not fault, fault)
    want = [sums(run, unit, by_path) for run in runs]
    for side, (rows, everything) in zip(('before', 'after'), want):
        found = {row['name']: seen(row[side]) for row in report['rows'] if row[side]['events']}
        check(f'{seed} {side}: rows', found == rows, f'{len(found)} of {len(rows)}: {[(k, found.get(k), rows.get(k)) for k in rows if found.get(k) != rows[k]][:2]}')
        check(f'{seed} {side}: all', seen(report['all'][side])[:2] == everything, (seen(report['all'][side]), everything))
    other = sum(of != unit for run in runs for _, _, of in run)
    check(f'{seed}: other units are noted', ('not in the unit compared' in notes and f'({other})' in notes) == (other > 0), (other, notes))
    check(f'{seed}: the unit is noted', ('1 ns means 1 ' in notes) == (unit != 'ns'), notes)


def three():
    r = random.Random(5)
    paths = [f'{folder}/n{i}.perf' for i in range(3)]
    runs = [make(path, r, ('cpu-clock',)) for path in paths]
    report, _ = diff(*paths)
    fault = conforms(SCHEMAS[1], report)
    check('schema of runs', not fault, fault)
    for i, run in enumerate(runs):
        rows, everything = sums(run, 'ns', False)
        found = {row['name']: seen(row['runs'][i]) for row in report['rows'] if row['runs'][i]['events']}
        check(f'run {i}: rows', found == rows, f'{len(found)} of {len(rows)}')
        check(f'run {i}: all', seen(report['all']['runs'][i])[:2] == everything)


def with_spans():
    """Checks that runs with spans are compared by time, whatever the units of their samples are."""
    for name, weight in (('a', 5), ('b', 7)):
        doc = {'$schema': 'https://www.speedscope.app/file-format-schema.json', 'shared': {'frames': [{'name': 'work'}, {'name': 'load'}]}, 'profiles': [
            {'type': 'evented', 'name': 't', 'unit': 'nanoseconds', 'startValue': 0, 'endValue': 90,
             'events': [{'type': 'O', 'frame': 0, 'at': 0}, {'type': 'C', 'frame': 0, 'at': weight * 10}]},
            {'type': 'sampled', 'name': 'u', 'unit': 'nanoseconds', 'startValue': 0, 'endValue': 9, 'samples': [[0, 1], [0]], 'weights': [weight, 2]},
            {'type': 'sampled', 'name': 'v', 'unit': 'bytes', 'startValue': 0, 'endValue': 9, 'samples': [[1]], 'weights': [1000]}]}
        with open(f'{folder}/{name}.speedscope.json', 'w', encoding='utf-8') as f:
            json.dump(doc, f)
    report, notes = diff(f'{folder}/a.speedscope.json', f'{folder}/b.speedscope.json')
    rows = {row['name']: (seen(row['before']), seen(row['after'])) for row in report['rows']}
    check('spans and stack samples', rows == {'work': ([3, 57, 52], [3, 79, 72]), 'load': ([2, 5, 5], [2, 7, 7])}, rows)
    check('the weights in bytes are noted', 'not in the unit compared' in notes, notes)
    report, _ = diff(f'{folder}/a.speedscope.json', f'{folder}/b.speedscope.json', '--kind', 'sample', '--by', 'process')
    check('by process', [seen(report['all'][side])[:2] for side in ('before', 'after')] == [[3, 7], [3, 9]], report['all'])


seed_ = 0
for events_ in (('cpu-clock',), ('cycles',), ('cycles', 'cpu-clock'), ('page-faults', 'cpu-clock')):
    for path_ in (False, True):
        two(seed_, events_, path_)
        seed_ += 1
three()
with_spans()
sys.exit(finish())
