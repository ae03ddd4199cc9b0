#!/usr/bin/env python3
"""Checks `diff` of three and more runs: each run is compared with the first one as `diff` compares two runs. The lasting changes of
--over are compared with a model in Python that integrates Student's density numerically: no change is found in a series without one,
and a step is found at its place."""
import csv
import io
import json
import math
import os
import random
import shutil
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from diffs import asked, run  # noqa: E402
from verdict import finish, judge  # noqa: E402


def make_run(path, durations, extra=None):
    """Writes a run of one rank: a step for each list of {name: us}."""
    os.makedirs(path, exist_ok=True)
    events, at = [], 10
    for number, step in enumerate(durations):
        begin = at
        for name, us in step.items():
            events.append({'ph': 'X', 'name': name, 'pid': 1, 'tid': 1, 'ts': at, 'dur': us})
            at += us + 1
        events.append({'ph': 'X', 'name': f'ProfilerStep#{number}', 'pid': 1, 'tid': 1, 'ts': begin, 'dur': at - begin})
        at += 3
    events += extra or []
    with open(f'{path}/rank0.json', 'w', encoding='utf-8') as f:
        json.dump({'distributedInfo': {'rank': 0}, 'traceEvents': events}, f)


# ---- each run against the first ----

def near(a, b):
    return a is b or (a is not None and b is not None and math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-6))


def against_pairs(folders):
    together = asked(*folders)
    rows = {row['name']: row for row in together['rows']}
    fault = ''
    for k, folder in enumerate(folders):
        pair = asked(folders[0], folder)
        states = {'new': 'new', 'gone': 'gone', 'changed': 'changed', 'noise': 'noise', 'unknown': 'unknown'}
        for row in [*pair['rows'], {**pair['step'], 'name': 'step'}, {**pair['all'], 'name': 'all'}]:
            cell = (together[row['name']] if row['name'] in ('step', 'all') else rows[row['name']])['runs'][k]
            for ours, theirs in ((cell['total_ns'], row['after']['total_ns']), (cell['self_ns'], row['after']['self_ns']),
                                 (cell['count'], row['after']['count']), (cell['delta_ns'], row['delta_ns']), (cell['ratio'], row['ratio'])):
                fault = fault or ('' if near(ours, theirs) else f'{row["name"]} of run {k}: {ours}, not {theirs}')
            if k:
                fault = fault or ('' if near(cell['noise_ns'], row['noise_ns']) else f'{row["name"]} of run {k}: noise {cell["noise_ns"]}')
                fault = fault or ('' if cell['state'] == states[row['state']] else f'{row["name"]} of run {k} is {cell["state"]}')
    fault = fault or ('' if all(row['runs'][0]['state'] in ('base', 'absent') for row in together['rows']) else 'the first is not the base')
    judge('each run is compared with the first as two runs are', fault)
    changes = [max(abs(c['delta_ns']) for c in row['runs']) for row in together['rows']]
    judge('rows are in order', '' if changes == sorted(changes, reverse=True) else str(changes))
    return together


# ---- lasting changes ----

def probability(t, freedom):
    """Returns the two-sided probability of Student's t, integrated by Simpson's rule over the angle."""
    top, n = math.atan(t / math.sqrt(freedom)), 2000
    values = [math.cos(top * i / n) ** (freedom - 1) for i in range(n + 1)]
    area = (values[0] + values[-1] + 4 * sum(values[1:-1:2]) + 2 * sum(values[2:-1:2])) * top / n / 3
    return 1 - 2 * math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi) * area


def best(values, errors):
    """Returns (corrected probability, index) of the most significant division of the values into two parts."""
    n, found = len(values), (-1, 0)
    for at in range(2, n - 1):
        before, after = values[:at], values[at:]
        spread = (sum((v - statistics.mean(before)) ** 2 for v in before) + sum((v - statistics.mean(after)) ** 2 for v in after)) / (n - 2)
        error = math.sqrt(max(spread, statistics.mean(e * e for e in errors)) * (1 / at + 1 / (n - at)))
        delta = abs(statistics.mean(after) - statistics.mean(before))
        t = 0 if not delta else delta / error if error else math.inf
        found = (t, at) if t > found[0] else found
    return (min(1, probability(found[0], n - 2) * (n - 3)), found[1]) if n >= 4 else (1, 0)


def shifts(values, errors, limit, first=0):
    p, at = best(values, errors)
    if p >= 1 or p > limit:
        return []
    return shifts(values[:at], errors[:at], limit, first) + [(first + at, p)] + shifts(values[at:], errors[at:], limit, first + at)


def against_model(report):
    series = {row['name']: ([c['total_ns'] for c in row['runs']], [c['error_ns'] or 0 for c in row['runs']]) for row in report['rows']}
    ordered = sorted(best(*s)[0] for s in series.values())
    limit = max([p for i, p in enumerate(ordered) if p <= 0.05 * (i + 1) / len(ordered)], default=-1)
    fault = ''
    for row in [*report['rows'], {**report['step'], 'name': 'step'}]:
        cells = row['runs']
        want = shifts([c['total_ns'] for c in cells], [c['error_ns'] or 0 for c in cells], 0.05 if row['name'] == 'step' else limit + 1e-12)
        got = [(s['run'], s['p']) for s in row['shifts']]
        same = len(got) == len(want) and all(a[0] == b[0] and abs(a[1] - b[1]) < 1e-6 for a, b in zip(got, want))
        fault = fault or ('' if same else f'{row["name"]}: {got}, not {want}')
    return fault


def over(work, rnd):
    for i in range(12):
        slow, none = (20 if i >= 7 else 0), rnd.gauss(0, 2)
        make_run(f'{work}/over/run{i + 1}', [{'gemm': 100 + slow + rnd.randrange(9), 'add': 40 + rnd.randrange(9) + none, 'same': 5, 'tiny': 1 + (i >= 7),
                                              **({'later': 30} if i >= 4 else {})} for _ in range(6)])
    report = asked('--over', f'{work}/over')
    rows = {row['name']: row for row in report['rows']}
    judge('runs are in natural order', '' if [r['name'] for r in report['runs']] == [f'run{i + 1}' for i in range(12)] else 'no')
    judge('a change is found where it is', '' if [s['run'] for s in rows['gemm']['shifts']] == [7] else str(rows['gemm']['shifts']))
    judge('and one from nothing', '' if [s['run'] for s in rows['later']['shifts']] == [4] else str(rows['later']['shifts']))
    judge('the same is no change', '' if not rows['same']['shifts'] and not rows['add']['shifts'] else str(rows['add']['shifts']))
    shift = rows['gemm']['shifts'][0]
    means = [statistics.mean(c['total_ns'] for c in part) for part in (rows['gemm']['runs'][:7], rows['gemm']['runs'][7:])]
    judge('with its means', '' if near(shift['before_ns'], means[0]) and near(shift['after_ns'], means[1]) else str(shift))
    judge('as the model says', against_model(report))
    os.makedirs(f'{work}/logdir/plugins')
    shutil.copytree(f'{work}/over', f'{work}/logdir/plugins/profile')
    log = asked('--over', f'{work}/logdir')
    judge('a logdir of TensorBoard', '' if [r['name'] for r in log['runs']] == [r['name'] for r in report['runs']] and
          [r['runs'] for r in log['rows']] == [r['runs'] for r in report['rows']] else str([r['name'] for r in log['runs']]))
    text = run('--over', f'{work}/over')[1]
    most = max(c['total_ns'] for c in report['step']['runs'])
    fault = [(r['name'], s) for r in report['rows'] for s in r['shifts'] if s['small'] != (abs(s['after_ns'] - s['before_ns']) < most / 100)]
    judge('small changes', '' if not fault and rows['tiny']['shifts'][0]['small'] and not shift['small'] else f'{fault} {rows["tiny"]["shifts"]}')
    large = [any(not s['small'] for s in r['shifts']) for r in report['rows']]
    judge('rows with a change that is not small come first', '' if large == sorted(large, reverse=True) else str(large))
    judge('small changes are counted below the table', '' if '1 lasting change of less than 1% of the time of a step not listed' in text else text)
    judge('and not listed', '' if all('run8' not in line for line in text.splitlines() if line.endswith(' tiny')) else text)
    judge('the table names the run', '' if any('gemm' in line and 'run8' in line and '<0.001' in line for line in text.splitlines()) else text)


def by_chance(work, rnd):
    """Checks that a change is found in at most about one of twenty series without a change."""
    found = 0
    for trial in range(40):
        for i in range(8):
            make_run(f'{work}/chance{trial}/{i}', [{'x': 1000 + shift} for shift in [rnd.gauss(0, 20)] * 2])
        report = asked('--over', f'{work}/chance{trial}', '--name', 'x')
        found += bool(report['rows'][0]['shifts'])
        fault = against_model(report)
        if fault:
            judge(f'trial {trial} as the model says', fault)
    judge('noise is rarely a change', '' if found <= 6 else f'{found} of 40')


def commands(folders, work):
    a, b, c = folders
    for expr, want in (('total > 5%', 1), ('total > 500%', 0), ('total(gemm) > 1.3x', 1), ('total(none) > 5%', 3), ('mean(step) > 1s', 0), ('busy_percent > 1', 2)):
        got, _, err = run('-q', a, c, b, '--top', '1', '--fail-if', expr)
        judge(f'--fail-if {expr}', '' if got == want else f'status {got}, not {want}: {err[:200]}')
    _, _, err = run('-q', a, a, b, '--top', '1', '--fail-if', 'total(gemm) > 1.3x')
    judge('--fail-if names the run', '' if 'in b' in err and err.count('failed') == 1 else err)
    lines = list(csv.DictReader(io.StringIO(run('-q', '--csv', *folders)[1])))
    judge('CSV', '' if len(lines) == 3 * asked(*folders)['rows_in_all'] and {row['run'] for row in lines} == {'a', 'b', 'c'} else f'{len(lines)} lines')
    judge('--label', '' if [r['name'] for r in asked(*folders, '--label', 'x', '--label', 'y')['runs']] == ['x', 'y', 'c'] else 'no')
    judge('names that are alike', '' if [r['name'] for r in asked(*(f'{f}/rank0.json' for f in folders))['runs']] == ['a', 'b', 'c'] else 'no')
    for args in (['--over', work, a], [a], ['--before', a, '--after', b, c], [*folders, '--label', '1', '--label', '2', '--label', '3', '--label', '4'],
                 [a, b, c, '--fail-if', 'busy > 3%']):
        got, _, err = run(*args)
        judge(f'is refused: {len(args)} words', '' if got == 2 and err else f'{got}: {err[:200]}')
    page = f'{work}/page.html'
    got, out, _ = run(*folders, '--html', page)
    with open(page, encoding='utf-8') as f:
        text = f.read()
    judge('page', '' if got == 0 and out.startswith(f'wrote {page}: ') and 'gemm' in text and '<script' not in text and '&lt;b&gt;' in text and '<b>' not in text.split('</style>')[1]
          else f'{got}: {out}')
    judge('a page replaces no file', '' if run(*folders, '--html', page)[0] not in (0, 1) else 'replaced')
    judge('a page of two', '' if run(a, b, '--html', f'{work}/two.html')[0] == 0 and os.path.getsize(f'{work}/two.html') > 3000 else 'no')
    os.mkdir(f'{work}/nothing')
    judge('an empty folder', '' if run('--over', f'{work}/nothing')[0] == 3 else 'no')


def leaves_out(work):
    """Runs and inputs that cannot be read are left out with --keep-going; the rest is compared as if they were not there."""
    sound = [f'{work}/keep/{i}' for i in (2, 4, 6)]
    for i, folder in enumerate(sound):
        make_run(folder, [{'gemm': 100 + 10 * i + k} for k in range(4)])
        make_run(f'{work}/sound/{folder[-1]}', [{'gemm': 100 + 10 * i + k} for k in range(4)])
    for i, text in ((1, 'no trace'), (5, '{"traceEvents": 7')):
        os.makedirs(f'{work}/keep/{i}')
        with open(f'{work}/keep/{i}/rank0.json', 'w', encoding='utf-8') as f:
            f.write(text)
    os.makedirs(f'{work}/keep/3')
    got, _, err = run('-q', '--over', f'{work}/keep')
    judge('a run that cannot be read', '' if got == 3 and '--keep-going' in err else f'{got}: {err}')
    got, out, err = run('--json', '--keep-going', '--over', f'{work}/keep')
    want = json.loads(run('--json', '--over', f'{work}/sound')[1])
    judge('--over --keep-going', '' if got == 0 and json.loads(out) == want else f'{got}: {err}')
    left = [line for line in err.splitlines() if 'left out' in line]
    judge('notes name the runs', '' if len(left) == 3 and all(any(f'keep/{i}' in x for x in left) for i in (1, 3, 5)) else err)
    got, out, err = run('--json', '-k', f'{work}/keep/1', *sound)
    judge('operands', '' if got == 0 and json.loads(out)['rows'] == want['rows'] and 'keep/1: left out' in err else f'{got}: {err}')
    pair = asked(sound[0], sound[1])
    listed = ['--before', f'{work}/keep/1', '--before', sound[0], '--after', sound[1]]
    kept = asked('-k', *listed)
    for report in (pair, kept):
        report['before'].pop('name')  # it is the name of the first input, which differs
    judge('an input of a run', '' if run('-q', *listed)[0] == 3 and kept == pair else 'is not left out')
    for args in ([f'{work}/keep/1', sound[0]], [sound[0], f'{work}/keep/1'], [sound[0], f'{work}/keep/1', f'{work}/keep/5'],
                 [sound[0], f'{work}/keep/1', '--label', 'x'], [sound[0], f'{work}/none', f'{work}/keep/5']):
        got, out, err = run('-k', *args, '--fail-if', 'total > 500%')
        judge(f'too few runs: {len(args)} words', '' if got == 3 and not out and err else f'{got}: {out}{err}')
    for i in (2, 4):
        with open(f'{work}/keep/{i}/rank0.json', 'w', encoding='utf-8') as f:
            f.write('no trace')
    got, out, err = run('-k', '--over', f'{work}/keep')
    judge('too few runs in a folder', '' if got == 3 and not out and 'fewer than two runs' in err else f'{got}: {out}{err}')


def main():
    with tempfile.TemporaryDirectory() as work:
        rnd = random.Random(int(os.environ.get('SEED', '1')))
        folders = [f'{work}/{name}' for name in 'abc']
        for folder, slow, steps, other in zip(folders, (0, 50, 2), (5, 5, 4), ('old', 'new', '<b>')):
            make_run(folder, [{'gemm': 100 + slow + rnd.randrange(9), 'add': 40 + rnd.randrange(5), other: 7} for _ in range(steps)],
                     [{'ph': 'X', 'name': 'beside', 'pid': 1, 'tid': 1, 'ts': 1, 'dur': 2}])
        try:
            together = against_pairs(folders)
            judge('runs', '' if [(r['name'], r['samples'], r['matched_by']) for r in together['runs']] ==
                  [('a', 5, 'number'), ('b', 5, 'number'), ('c', 4, None)] else str(together['runs']))
            judge('a name outside of all steps has no row', '' if all(r['name'] != 'beside' for r in together['rows']) else 'it has one')
            over(work, rnd)
            by_chance(work, rnd)
            commands(folders, work)
            leaves_out(work)
        except (RuntimeError, ValueError, KeyError, IndexError) as e:
            judge('diff', f'{type(e).__name__}: {e}')


main()
sys.exit(finish())
