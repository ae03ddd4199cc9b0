#!/usr/bin/env python3
"""Checks that merge with a selection keeps the same events of each rank as filter, on one timeline.

    ranks   --rank and --every-rank: the output equals a merge of those ranks, except that all ranks are used to align clocks
    steps   --step: as many events of each rank as filter --step keeps
    time    --time: nothing outside the range, and everything inside, whatever the hosts' clocks
    size    --to: not larger; the ranks are still identified
    offsets --offsets-from: a report of the merge, the merged file, and reports made elsewhere reproduce the same times
    again   merged files merge like their ranks: names, ranks, clocks, top-level keys, table of collectives
    faults  invalid ranges, ranks without input, manifests

Uses a job of four ranks on two hosts (tests/gen), 5 ms apart, as JSON, Perfetto and XPlane."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import finish, judge  # noqa: E402

TRACEKIT, GEN = os.environ['TRACEKIT'], os.environ.get('GEN') or os.path.join(os.environ['B'], 'tests/gen/gen')
RANKS, HOSTS, STEP = 4, 2, '11'  # steps are numbered from 10
FORMATS = ('json', 'pftrace', 'xplane.pb')


def run(folder, *args, status=0):
    p = subprocess.run([TRACEKIT, *args], cwd=folder, capture_output=True, text=True)
    if p.returncode != status:
        print(f'tracekit {" ".join(args)}: status {p.returncode}: {p.stderr[-300:]}')
    return p


def load(folder, name):
    run(folder, 'convert', name, '-o', 'read.json', '--force')
    with open(os.path.join(folder, 'read.json'), encoding='utf-8') as f:
        return json.load(f)


def spans(trace):
    return [e for e in trace['traceEvents'] if e.get('ph') == 'X']


def rank_of(trace):
    """Returns {pid: rank} from the metadata of the merged trace."""
    return {str(p): r['rank'] for r in trace['tracekit']['ranks'] for p in r['pids'].values()}


def count(trace, wanted):
    ranks = rank_of(trace)
    return sum(ranks.get(str(e['pid'])) == wanted for e in spans(trace))


def make(folder, ending, *more):
    paths = []
    for rank in range(RANKS):
        name = f'rank{rank}.{ending}'
        out = subprocess.run([GEN, 'kineto', '--ranks', str(RANKS), '--hosts', str(HOSTS), '--rank', str(rank), '--steps', '3',
                              '--layers', '2', '--offset-us', '0,5000', *more], capture_output=True, check=True).stdout
        with open(os.path.join(folder, 'one.json'), 'wb') as f:
            f.write(out)
        os.rename(os.path.join(folder, 'one.json'), os.path.join(folder, f'rank{rank}.json'))
        if ending != 'json':
            run(folder, 'convert', f'rank{rank}.json', '-o', name)
        paths.append(name)
    return paths


def ranks(folder, paths, ending):
    whole = run(folder, 'merge', *paths, '-o', f'all.{ending}', '--json')
    offsets = {r['rank']: r['shift_ns'] for r in json.loads(whole.stdout)['ranks']}
    part = run(folder, 'merge', *paths, '--rank', '1..2', '-o', f'two.{ending}', '--json')
    report = json.loads(part.stdout)['ranks']
    judge(f'{ending}: --rank leaves out', '' if [r.get('left_out', False) for r in report] == [True, False, False, True] else report)
    moved = {r['rank']: r['shift_ns'] for r in report if 'rank' in r}
    judge(f'{ending}: clocks by all', '' if all(abs(moved[r] - offsets[r]) < 2000 for r in moved) else f'{moved} {offsets}')
    kept, trace = load(folder, f'two.{ending}'), load(folder, f'all.{ending}')
    why = [r for r in range(RANKS) if count(kept, r) != (count(trace, r) if r in (1, 2) else 0)]
    judge(f'{ending}: --rank 1..2', f'ranks {why}' if why else '')
    run(folder, 'merge', *paths, '--every-rank', '3', '-o', f'third.{ending}')
    judge(f'{ending}: --every-rank 3', '' if sorted(set(rank_of(load(folder, f'third.{ending}')).values())) == [0, 3] else 'others')
    run(folder, 'merge', *paths, '--rank', '1..', '--every-rank', '2', '--align', 'none', '-o', f'one.{ending}')
    judge(f'{ending}: both, in one pass', '' if set(rank_of(load(folder, f'one.{ending}')).values()) == {2} else 'others')
    run(folder, 'merge', f'all.{ending}', '--rank', '3', '-o', f'again.{ending}')
    again = load(folder, f'again.{ending}')
    judge(f'{ending}: of a merged file', '' if len(spans(again)) == count(trace, 3) else f'{len(spans(again))} {count(trace, 3)}')


def steps(folder, paths, ending):
    run(folder, 'merge', *paths, '--step', STEP, '-o', f'step.{ending}')
    kept, why = load(folder, f'step.{ending}'), []
    for rank, path in enumerate(paths):
        run(folder, 'filter', path, '--step', STEP, '-o', f'own.{ending}', '--force')
        alone = len(spans(load(folder, f'own.{ending}')))
        if alone != count(kept, rank) or alone == 0:
            why.append((rank, alone, count(kept, rank)))
    judge(f'{ending}: --step', why)


def time(folder, paths, ending):
    whole = load(folder, f'all.{ending}')
    times = [(float(e['ts']), float(e['ts']) + float(e['dur'])) for e in spans(whole)]
    start = min(float(e['ts']) for e in whole['traceEvents'] if e.get('ph', '-') in ('X', 'i'))
    low, high = start + 9000, start + 18000
    run(folder, 'merge', *paths, '--time', '+9ms..+18ms', '--to-zero', '-o', f'time.{ending}')
    kept = spans(load(folder, f'time.{ending}'))
    inside = sum(b > low + 0.002 and a < high - 0.002 for a, b in times)
    judge(f'{ending}: --time keeps what is inside', '' if abs(len(kept) - inside) <= 4 and inside > 20 else f'{len(kept)} of {inside}')
    first, last = min(float(e['ts']) for e in kept), max(float(e['ts']) + float(e['dur']) for e in kept)
    judge(f'{ending}: and nothing else', '' if first >= -0.002 and last <= high - low + 0.002 else f'{first}..{last} of {high - low}')
    both = {rank for rank in range(RANKS) if count(load(folder, f'time.{ending}'), rank)}
    judge(f'{ending}: of all ranks', '' if both == set(range(RANKS)) else both)


def size(folder, paths, ending):
    most = os.path.getsize(os.path.join(folder, f'all.{ending}')) * 7 // 10
    p = run(folder, 'merge', *paths, '--to', str(most), '-o', f'small.{ending}', '--json')
    report, written = json.loads(p.stdout), os.path.getsize(os.path.join(folder, f'small.{ending}'))
    judge(f'{ending}: --to', '' if most * 8 // 10 < written <= most else f'{written} of {most}')
    judge(f'{ending}: --to counts', '' if report['events_before'] > report['written_events'] and report['bytes'] == written else report)
    judge(f'{ending}: --to keeps ranks', '' if set(rank_of(load(folder, f'small.{ending}')).values()) == set(range(RANKS)) else 'lost')
    p = run(folder, 'merge', *paths, '--to', '100B', '-o', f'none.{ending}', status=3)
    judge(f'{ending}: --to what cannot be', '' if '100 B' in p.stderr else p.stderr)


def times(folder, name):
    return [(e.get('ph', '-'), e['name'], float(e['ts']), float(e.get('dur', 0))) for e in load(folder, name)['traceEvents'] if 'ts' in e]


def offsets(folder, paths, ending):
    run(folder, 'merge', *paths, '-o', f'moved.{ending}', '--align-report', 'clocks.json')
    want = times(folder, f'moved.{ending}')
    for source in ('clocks.json',) + ((f'moved.{ending}',) if ending == 'json' else ()):
        run(folder, 'merge', *paths, '-o', f'again.{ending}', '--force', '--offsets-from', source)
        got = times(folder, f'again.{ending}')
        far = max(abs(a[2] - b[2]) for a, b in zip(want, got)) if len(want) == len(got) else None
        judge(f'{ending}: --offsets-from {source}', '' if far is not None and far < 0.0021 else f'{len(got)} of {len(want)}, {far} us off')
    made = {'hosts': [{'rank': 2, 'offset_ns': 4000000}, {'ranks': [3], 'offset_ns': 4e6}, {'host': paths[1], 'offset_ns': -1000}]}
    with open(os.path.join(folder, 'made.json'), 'w', encoding='utf-8') as f:
        json.dump(made, f)
    p = run(folder, 'merge', *paths, '-o', f'other.{ending}', '--offsets-from', 'made.json', '--json')
    shifts = [r['shift_ns'] for r in json.loads(p.stdout)['ranks']]
    judge(f'{ending}: --offsets-from made elsewhere', '' if shifts == [0, 1000, -4000000, -4000000] else shifts)
    judge(f'{ending}: of whom it knows nothing', '' if '1 of the inputs' in p.stderr else p.stderr)
    far = '{"rank":2,"offset_ns":1,"pieces":[{"from_ns":-9223372036854775808,"to_ns":9223372036854775807,"offset_ns":1}]}'
    for text, word, status in (('{"hosts":[%s]}' % far, 'invalid pieces', 3), ('{"hosts":[{"rank":2,"offset_ns":1e30}]}', 'no offset_ns', 3),
                               ('{}', 'no list of hosts', 3), ("'x'", 'invalid JSON', 3), ('{"hosts":[{"host":"a"}]}', 'no offset_ns', 3),
                               ('{"hosts":[{"offset_ns":1}]}', 'neither a name', 3), ('{"hosts":[{"rank":9,"offset_ns":1}]}', 'any of the inputs', 2)):
        with open(os.path.join(folder, 'bad.json'), 'w', encoding='utf-8') as f:
            f.write(text)
        p = run(folder, 'merge', *paths, '-o', 'bad.out.json', '--offsets-from', 'bad.json', status=status)
        judge(f'--offsets-from {text}', '' if word in p.stderr else p.stderr)


def names(trace):
    return sorted(e['args']['name'] for e in trace['traceEvents'] if e.get('ph') == 'M' and e['name'] == 'process_name')


def again(folder, paths, ending):
    for name, two in (('a', paths[:2]), ('b', paths[2:])):
        run(folder, 'merge', *two, '-o', f'{name}.{ending}')
    run(folder, 'merge', f'a.{ending}', f'b.{ending}', '-o', f'ab.{ending}', '--collectives', 'ab.csv', '--json')
    run(folder, 'merge', *paths, '-o', f'whole.{ending}', '--collectives', 'whole.csv')
    got, want = load(folder, f'ab.{ending}'), load(folder, f'whole.{ending}')
    judge(f'{ending}: again: names', '' if names(got) == names(want) else f'{names(got)[:3]} {names(want)[:3]}')
    ours, theirs = got['tracekit']['ranks'], want['tracekit']['ranks']
    judge(f'{ending}: again: ranks', '' if [(r['rank'], r['input']) for r in ours] == [(r['rank'], r['input']) for r in theirs] else ours)
    keys = [(sorted(r['pids']), sorted(r.get('meta', {}))) for r in ours], [(sorted(r['pids']), sorted(r.get('meta', {}))) for r in theirs]
    judge(f'{ending}: again: what is told of them', '' if keys[0] == keys[1] else keys)
    far = max(abs(a['shift_ns'] - b['shift_ns']) for a, b in zip(ours, theirs))
    judge(f'{ending}: again: clocks', '' if far < 2000 and abs(ours[2]['shift_ns']) > 4000000 else far)
    judge(f'{ending}: again: spans', '' if all(count(got, r) == count(want, r) > 0 for r in range(RANKS)) else 'others')
    rows = [[line.split(',')[:6] for line in open(os.path.join(folder, f), encoding='utf-8')] for f in ('ab.csv', 'whole.csv')]
    judge(f'{ending}: again: collectives', '' if sorted(rows[0]) == sorted(rows[1]) and len(rows[0]) > 8 else rows[0][:3])
    judge(f'{ending}: again: check', '' if run(folder, 'check', f'ab.{ending}').returncode == 0 else 'wrong')


def faults(folder, paths):
    cases = [(('--rank', '3..1'), "range '3..1'"), (('--rank', 'x'), "range 'x'"), (('--step', 'x'), 'steps'), (('--time', '5'), 'time range'),
             (('--rank', '99'), 'nothing matched'), (('--step', '77'), 'nothing matched'), (('--every-rank', '0'), 'range 1..'),
             (('--manifest', '--time', '1%..2%'), 'cannot be combined')]
    for args, word in cases:
        out = 'no.tar' if '--manifest' in args else 'no.json'
        p = run(folder, 'merge', *paths, *args, '-o', out, status=1 if args[1] in ('99', '77') else 2)
        judge(f'{" ".join(args)}', '' if word in p.stderr and not os.path.exists(os.path.join(folder, out)) else p.stderr)


def main():
    for ending in FORMATS:
        with tempfile.TemporaryDirectory() as folder:
            paths = make(folder, ending)
            ranks(folder, paths, ending)
            steps(folder, paths, ending)
            time(folder, paths, ending)
            size(folder, paths, ending)
            again(folder, paths, ending)
            if ending == 'json':
                faults(folder, paths)
        with tempfile.TemporaryDirectory() as folder:
            offsets(folder, make(folder, ending, '--drift-ppm', '0,80'), ending)
    return finish()


sys.exit(main())
