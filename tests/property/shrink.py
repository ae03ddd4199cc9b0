#!/usr/bin/env python3
"""Checks that the output of shrink and its account of removed events add up to the original, exactly, on every fixture and at
every target, that no name gets more time than it had, and that a trace that was shrunk is said to be so.

Python takes counts and sums of durations by (process, name) from the JSON: from the original, from the output, in which a
span that absorbed others has `count` and `total`, and from the table of removed events. A generated trace is large enough to
be planned from a sample. Usage: shrink.py [TRACE...]"""
import collections
import json
import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

TRACEKIT, FIXTURES, GEN = os.environ['TRACEKIT'], os.environ['FIXTURES'], os.environ['GEN']
MOST = 200_000_000 if os.environ.get('LONG') else 3_000_000  # bytes of JSON
TARGETS = (50, 20, 5, 1)
PLAIN = 'XiIRC'  # one event each; the writer pairs begins and ends


class Wrong(Exception):
    pass


def run(*args):
    return subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def load(path):
    with open(path, 'rb') as f:
        return json.loads(f.read(), parse_float=Decimal)


def hashable(pid):
    return json.dumps(pid)


def add_pairs(events, sums):
    """Pairs B and E with a stack in time order, as viewers do, and async begins and ends by id."""
    stacks, open_async = collections.defaultdict(list), collections.defaultdict(list)
    timed = [e for e in events if e.get('ph', '-') in ('B', 'E', 'b', 'e', 'n', 'S', 'F', 'T', 'p') and 'ts' in e]
    for e in sorted(timed, key=lambda e: Decimal(e['ts'])):
        pid, ph = hashable(e.get('pid')), e.get('ph', '-')
        if ph in ('n', 'T', 'p'):
            sums[pid, e.get('name')] += (1, Decimal(0))
        elif ph == 'B':
            stacks[pid, e.get('tid')].append(e)
        elif ph == 'E' and stacks[pid, e.get('tid')]:
            b = stacks[pid, e.get('tid')].pop()
            add(sums, b, Decimal(e['ts']) - Decimal(b['ts']))
        elif ph in 'bS':
            open_async[pid, e.get('cat'), json.dumps(e.get('id', e.get('id2')))].append(e)
        elif ph in 'eF' and open_async[pid, e.get('cat'), json.dumps(e.get('id', e.get('id2')))]:
            b = open_async[pid, e.get('cat'), json.dumps(e.get('id', e.get('id2')))].pop()
            add(sums, b, Decimal(e['ts']) - Decimal(b['ts']))
    return sum(map(len, stacks.values())) + sum(map(len, open_async.values()))


class Sum:
    def __init__(self):
        self.count, self.total = 0, Decimal(0)

    def __iadd__(self, other):
        self.count += other[0]
        self.total += Decimal(other[1])
        return self

    def __repr__(self):
        return f'{self.count} x {self.total}'

    def __eq__(self, other):
        return self.count == other.count and self.total == other.total


def add(sums, event, dur):
    args = event.get('args') if isinstance(event.get('args'), dict) else {}
    merged = 'count' in args and 'total' in args
    sums[hashable(event.get('pid')), event.get('name')] += (int(args['count']), args['total']) if merged else (1, dur)


def totals(trace):
    sums = collections.defaultdict(Sum)
    events = [e for e in trace['traceEvents'] if isinstance(e, dict)]
    for e in events:
        if e.get('ph', '-') in PLAIN and 'ts' in e:
            add(sums, e, Decimal(e.get('dur', 0)) if e.get('ph', '-') == 'X' else Decimal(0))
    add_pairs(events, sums)
    for pid, _, _, name, count, total in trace.get('tracekit', {}).get('shrink', {}).get('dropped', []):
        sums[hashable(pid), name or None] += (count, total)
    return {key if key[1] else (key[0], None): value for key, value in sums.items() if value.count}


def compare(what, before, after):
    different = [key for key in before.keys() | after.keys() if before.get(key, Sum()) != after.get(key, Sum())]
    if different:
        key = different[0]
        raise Wrong(f'{what}: {len(different)} names do not add up, such as {key}: {before.get(key)} became {after.get(key)}')


def times(trace):
    """Sums of the durations of spans by name, as any reader of the file computes them."""
    sums = collections.Counter()
    for e in trace['traceEvents']:
        if isinstance(e, dict) and e.get('ph') == 'X':
            sums[hashable(e.get('pid')), str(e.get('name'))] += Decimal(e.get('dur') or 0)
    return sums


def grows(what, before, after):
    longer = [key for key in after if after[key] > before[key]]
    if longer:
        raise Wrong(f'{what}: {longer[0]} took {before[longer[0]]} us and now takes {after[longer[0]]} us')


def shrink(source, percent, target, *args):
    """Returns the report, or None if the trace cannot be made to fit and the message names the smallest possible size."""
    p = run('shrink', '--json', '-q', '--force', source, '--percent', str(percent), *args, '-o', target)
    if p.returncode == 3 and b' remain' in p.stderr:
        return None
    if p.returncode:
        raise Wrong(f'{percent}%: status {p.returncode}: {p.stderr.decode("utf-8", "replace")[:300]}')
    return json.loads(p.stdout)


def laws(source, most=MOST, targets=TARGETS):
    reached = 0
    with tempfile.TemporaryDirectory() as work:
        plain, small = work + '/plain.json', work + '/small.json'
        if run('convert', '-q', '--no-provenance', source, '-o', plain).returncode or os.path.getsize(plain) > most:
            return None
        before, lasted, valid = totals(load(plain)), times(load(plain)), run('check', '-q', plain).returncode == 0
        for percent in targets:
            for hard in ([], ['--hard']):
                report = shrink(source, percent, small, *hard)
                if not report:
                    continue
                size = os.path.getsize(small)
                if size != report['bytes'] or size > report['target']:
                    raise Wrong(f'{percent}%: {size} bytes, asked for {report["target"]}')
                if size < 0.85 * report['target'] and report['events_before'] > 100:
                    raise Wrong(f'{percent}%: only {size} of {report["target"]} bytes are used')
                if report.get('estimate') and abs(report['estimate'] - size) > 0.1 * size:
                    raise Wrong(f'{percent}%: {report["estimate"]} bytes were expected, {size} written')
                if valid and run('check', '-q', small).returncode:
                    raise Wrong(f'{percent}%: not valid')
                compare(f'{percent}% {"".join(hard)}', before, totals(load(small)))
                grows(f'{percent}% {"".join(hard)}', lasted, times(load(small)))
                reached += 1
                break
    return reached


def neighbours(name, cat, starts, dur):
    return [{'ph': 'X', 'pid': 1, 'tid': name, 'name': name, 'cat': cat, 'ts': ts, 'dur': dur, 'args': {'correlation': i + 1}}
            for i, ts in enumerate(starts)]


def merges():
    """Only neighbours that follow closely are merged, runtime calls and the profiler's overhead never; readers are told."""
    close = range(1000, 2000, 10)
    rows = {('near', 'cpu_op', 9): close, ('far', 'cpu_op', 4): close, ('cudaLaunchKernel', 'cuda_runtime', 9): close,
            ('Buffer Flush', 'overhead', 9): close}
    with tempfile.TemporaryDirectory() as work:
        full, small = work + '/full.json', work + '/small.json'
        with open(full, 'w', encoding='utf-8') as out:
            json.dump({'traceEvents': [e for (name, cat, dur), at in rows.items() for e in neighbours(name, cat, at, dur)]}, out)
        if run('shrink', '-q', full, '--ladder', 'coalesce', '--events', '330', '-o', small).returncode:
            raise Wrong('merges: not shrunk')
        kept = load(small)['traceEvents']
        counts = {name: sum(e.get('name') == name for e in kept) for name, _, _ in rows}
        merged = [e for e in kept if e.get('name') == 'near' and 'count' in e['args']]
        if counts['near'] >= 100 or [counts[name] for name, _, _ in list(rows)[1:]] != [100] * 3:
            raise Wrong(f'merges: {counts}')
        if not merged or any(e['dur'] != e['args']['total'] or e['dur'] != 9 * e['args']['count'] for e in merged):
            raise Wrong(f'merges: {merged[:2]}')
        told = f'the trace was shrunk (events removed: 0, merged into others: {100 - counts["near"]}, without some args: 0)'
        for command in ('info', 'report', 'top', 'tree'):
            if told not in run(command, small).stderr.decode():
                raise Wrong(f'merges: {command} does not say that the trace was shrunk')
            if 'was shrunk' in run(command, full).stderr.decode():
                raise Wrong(f'merges: {command} calls a whole trace shrunk')
        if f'1 input was shrunk, so counts and times are incomplete (events removed or merged: {100 - counts["near"]})' not in run('report', small).stdout.decode():
            raise Wrong('merges: the report does not say that the trace was shrunk')


def repeats():
    """The limit is used although the file repeats the metadata of its tracks, as Kineto on MTIA does: metadata is not scaled up with the
    events of the sample."""
    rnd = random.Random(3)
    events = [{'ph': 'M', 'name': n, 'pid': 9, 'tid': i % 7, 'args': {k: f'{i % 7}'}} for i in range(30000)
              for n, k in (('process_name', 'name'), ('process_labels', 'labels'), ('thread_name', 'name'))]
    events += [{'ph': 'X', 'name': f'op{i % 50}', 'cat': 'cpu_op', 'pid': 1, 'tid': 1, 'ts': i * 10, 'dur': rnd.randrange(1, 9)} for i in range(80000)]
    events += [{'ph': 'X', 'name': f'k{i % 20}', 'cat': 'kernel', 'pid': 9, 'tid': i % 7, 'ts': i * 70, 'dur': 20} for i in range(7000)]
    with tempfile.TemporaryDirectory() as work:
        full, small = work + '/full.json', work + '/small.json'
        with open(full, 'w', encoding='utf-8') as out:
            json.dump({'traceEvents': events}, out)
        for percent in (80, 70):
            limit = os.path.getsize(full) * percent // 100
            if run('shrink', '-q', full, '--to', str(limit), '-o', small, '--force').returncode:
                raise Wrong(f'repeats: {percent}% cannot be reached')
            if not .95 * limit <= os.path.getsize(small) <= limit:
                raise Wrong(f'repeats: {os.path.getsize(small)} of {limit} bytes are used')


def counters():
    """Checks that a trace with more counter samples than spans loses both in proportion, and that no trace without events is written."""
    spans = [{'ph': 'X', 'pid': 1, 'tid': 1, 'ts': 10000 * i, 'dur': 100 + i, 'name': f'work {i}'} for i in range(400)]
    levels = [{'ph': 'C', 'pid': 1, 'ts': 1000 * i, 'name': 'level', 'args': {'v': i}} for i in range(4000)]
    odd = [{'ph': 'M', 'pid': 1, 'tid': 1, 'name': f'odd {i}', 'args': {'v': 'x' * 100}} for i in range(400)]
    with tempfile.TemporaryDirectory() as work:
        full, small = work + '/full.json', work + '/small.json'

        def shrunk(events, to):
            with open(full, 'w') as out:
                json.dump({'traceEvents': events}, out)
            done = run('shrink', '-q', full, '--to', str(to), '-o', small, '--force')
            return collections.Counter(e['ph'] for e in load(small)['traceEvents']) if done.returncode == 0 else done.stderr.decode()

        for share in .3, .5, .8:
            left = shrunk(spans + levels, int(share * len(json.dumps(spans + levels, separators=(',', ':')))))
            if not (left['X'] >= 100 * share and left['C'] >= 1000 * share):
                raise Wrong(f'counters: {left} at {share}')
        left = shrunk(spans[:20] + odd, 20000)
        if 'no event would remain' not in left or os.path.exists(small) and not load(small)['traceEvents']:
            raise Wrong(f'counters: a trace without events: {left}')


def generated(work):
    """Checks a trace three times larger than a sample, without args, which Python would take long to read."""
    full, bare = work + '/generated.json', work + '/bare.json'
    with open(full, 'wb') as out:
        subprocess.run([GEN, 'kineto', '--spans', '100000', '--seed', '3'], stdout=out, check=True)
    if run('filter', '-q', '--drop-args', '*', full, '-o', bare).returncode:
        raise Wrong('the generated trace cannot be filtered')
    os.remove(full)
    return bare


def sources():
    for where in ('json', 'xplane', 'perfetto'):
        for top, _, names in sorted(os.walk(os.path.join(FIXTURES, where))):
            for name in sorted(names):
                path = os.path.join(top, name)
                if run('info', '-q', '--strict', path).returncode == 0:
                    yield path


def main():
    passed = failed = reached = asked = 0
    try:
        merges()
        repeats()
        counters()
    except Wrong as e:
        print(f'not ok  {e}')
        failed = 1

    def one(task):
        try:
            return task, laws(*task), None
        except Wrong as e:
            return task, -1, e

    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(int(os.environ.get('JOBS', '2'))) as pool:
        tasks = [(path,) for path in sys.argv[1:] or sources()]
        if not sys.argv[1:]:
            tasks.append((generated(work), 1 << 40, (50, 20)))
        for task, n, why in pool.map(one, tasks):
            if n is None:
                continue
            passed += n >= 0
            failed += n < 0
            reached += max(n, 0)
            asked += len(task[2] if len(task) > 2 else TARGETS)
            if n < 0:
                print(f'not ok  {task[0]}: {why}')
    print(f'targets reached: {reached} of {asked}; the others say the smallest size there is')
    print(f'{passed} passed, {failed} failed')
    return failed > 0 or not passed or reached < passed


sys.exit(main())
