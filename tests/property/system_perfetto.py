#!/usr/bin/env python3
"""Checks that the timeline of a system trace is read: text of programs (atrace), counters of the system, names of processes and threads,
and the scheduler on request; and that it is written once, as packets while the trace is unedited, otherwise as track events."""
import collections
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import system_trace as system  # noqa: E402
from verdict import check, finish  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']
SEEDS = int(os.environ.get('SEEDS', '6'))

work = tempfile.TemporaryDirectory()


def path(name):
    return os.path.join(work.name, name)


def tracekit(*args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, capture_output=True)
    return p.returncode, p.stdout.decode(), p.stderr.decode()


def save(name, data):
    with open(path(name), 'wb') as f:
        f.write(data)
    return path(name)


def read(name):
    with open(path(name), 'rb') as f:
        return f.read()


def events(name, *more):
    status, out, err = tracekit('convert', path(name), '-f', 'json', *more)
    check(f'{name}: is read', status == 0, err)
    return json.loads(out)


def ns(us):
    return round(us * 1000)


def timeline(trace):
    """Returns the timeline as rows in the form of system_trace.atrace()."""
    rows, stacks, asyncs = [], collections.defaultdict(list), collections.defaultdict(list)
    base = 10**18  # REALTIME at BOOTTIME 0, which is the base of the file
    shift = int(trace.get('baseTimeNanoseconds', base)) - base
    for e in sorted(trace['traceEvents'], key=lambda e: e.get('ts', -1)):
        phase, at = e.get('ph'), ns(e.get('ts', 0)) + shift
        if phase == 'X' and e.get('cat') not in ('sched', 'thread_state'):
            rows.append(('slice', e['name'], e['tid'], at, at + ns(e['dur'])))
        elif phase == 'B':
            stacks[e['tid']].append((e['name'], at))
        elif phase == 'E':
            name, start = stacks[e['tid']].pop()
            rows.append(('slice', name, e['tid'], start, at))
        elif phase in 'iI':
            rows.append(('instant', e['name'], e['tid'], at, at))
        elif phase == 'C' and e['name'] == 'frames':
            rows.append(('counter', e['name'], e['pid'], at, e['args']['value']))
        elif phase == 'n':
            rows.append(('async instant', e['name'], e['pid'], at, at))
        elif phase == 'b':
            asyncs[e['pid'], e['scope'], e['id']].append((e['name'], at))
        elif phase == 'e':
            name, start = asyncs[e['pid'], e['scope'], e['id']].pop()
            rows.append(('async', name, e['pid'], start, at))
    return sorted(rows, key=str)


def names(trace, what):
    return {e['pid' if what == 'process_name' else 'tid']: e['args']['name'] for e in trace['traceEvents'] if e.get('name') == what}


def scheduler_rows(trace, end):
    """Returns rows of CPUs and states of threads, as system_trace.Scheduler.rows() does; `end`: the time at which rows without an
    end are cut."""
    threads = {(e['pid'], e['tid']): e['args']['name'] for e in trace['traceEvents'] if e.get('name') == 'thread_name'}
    cpus, states = [], []
    shift = int(trace.get('baseTimeNanoseconds', 10**18)) - 10**18
    for e in trace['traceEvents']:
        if e.get('ph') not in ('X', 'B') or e.get('cat') not in ('sched', 'thread_state'):
            continue
        at = ns(e['ts']) + shift
        till = None if e['ph'] == 'B' or at + ns(e['dur']) == end else at + ns(e['dur'])
        row = threads.get((e['pid'], e['tid']), str(e['tid']))
        if e['cat'] == 'sched':
            cpus.append((int(row.split()[1]), e['name'], at, till))
        else:
            states.append((int(row.split()[-2]), e['name'], at, till))
    return sorted(cpus, key=str), sorted(states, key=str)


for seed in range(SEEDS):
    is_compact = bool(seed % 2)
    scheduler, want = system.write(path('system.pftrace'), seed, is_compact)
    trace = events('system.pftrace')
    got = timeline(trace)
    check(f'seed {seed}: text of programs', got == want, [x for x in zip(got, want) if x[0] != x[1]][:3] or (len(got), len(want)))
    check(f'seed {seed}: names of processes', {k: v for k, v in names(trace, 'process_name').items() if k in (100, 200)} ==
          {100: 'com.app', 200: '/usr/bin/server'}, names(trace, 'process_name'))
    found = names(trace, 'thread_name')
    check(f'seed {seed}: names of threads', all(found.get(t, n) == n for t, n in system.THREADS.items()), found)
    check(f'seed {seed}: no scheduler unless asked for', not any(e.get('cat') == 'sched' for e in trace['traceEvents']))

    counters = {e['name']: next(iter(e['args'].values())) for e in trace['traceEvents'] if e.get('ph') == 'C'}
    stats = system.statistics(0)[1]
    check(f'seed {seed}: counters', all(counters.get(k) == v for k, v in stats.items()), {k: counters.get(k) for k in stats})

    with_sched = events('system.pftrace', '--sched')
    end = max(n for n, *_ in scheduler.events + scheduler.wakings)
    cpus, states = scheduler_rows(with_sched, end)
    want_cpus, want_states = (sorted(((*r[:3], None if r[3] == end else r[3]) for r in rows), key=str) for rows in scheduler.rows(is_compact))
    check(f'seed {seed}: rows of CPUs', cpus == want_cpus, [x for x in zip(cpus, want_cpus) if x[0] != x[1]][:3] or (len(cpus), len(want_cpus)))
    check(f'seed {seed}: states of threads', states == want_states, [x for x in zip(states, want_states) if x[0] != x[1]][:3] or (len(states), len(want_states)))
    check(f'seed {seed}: the same text with the scheduler', timeline(with_sched) == want)

    # Each event is written once.
    tracekit('convert', path('system.pftrace'), '-o', path('same.pftrace'), '--force', '--no-provenance')
    check(f'seed {seed}: unedited: packets as they came', sorted(read('same.pftrace')) == sorted(read('system.pftrace')) or
          read('same.pftrace').count(b'draw|') == read('system.pftrace').count(b'draw|'))
    check(f'seed {seed}: unedited: the same events', timeline(events('same.pftrace')) == want)
    for how in ((), ('--sched',)):
        for ending in ('json', 'xplane.pb'):
            tracekit('convert', path('system.pftrace'), '-o', path(f'by.{ending}'), '--force', *how)
            status, _, err = tracekit('convert', path(f'by.{ending}'), '-o', path('again.pftrace'), '--force')
            check(f'seed {seed}: by {ending} {how}: status', status == 0, err)
            again = events('again.pftrace', *how)
            got = timeline(again)
            check(f'seed {seed}: by {ending} {how}: each event once', got == want,
                  [x for x in zip(got, want) if x[0] != x[1]][:3] or (len(got), len(want)))
            n = sum(e.get('cat') == 'sched' for e in again['traceEvents'])
            check(f'seed {seed}: by {ending} {how}: each run once', n == (sum(e.get('cat') == 'sched' for e in with_sched['traceEvents']) if how else 0), n)

    status, _, err = tracekit('filter', path('system.pftrace'), '--name', 'draw*', '-o', path('some.pftrace'), '--force')
    got = timeline(events('some.pftrace'))
    check(f'seed {seed}: filter by name', got == [r for r in want if r[1].startswith('draw')], got[:3])
    check(f'seed {seed}: filter by name says what it drops', 'perfetto' in err.lower(), err)

    middle = sorted(r[3] for r in want)[len(want) // 2]
    status, _, err = tracekit('filter', path('system.pftrace'), '--time', f'{middle}ns..', '-o', path('late.pftrace'), '--force')
    check(f'seed {seed}: cut: status', status == 0, err)
    def pick(rows, what):
        return [r for r in rows if r[0] == what]

    late = timeline(events('late.pftrace'))
    check(f'seed {seed}: cut: instants in the range', pick(late, 'instant') == [r for r in pick(want, 'instant') if r[3] >= middle], late[:3])
    samples = sorted(pick(want, 'counter'), key=lambda r: r[3])
    before = {r[2]: r for r in samples if r[3] < middle}  # the last one of each process
    check(f'seed {seed}: cut: samples in the range, and the last before it',
          sorted(pick(late, 'counter'), key=str) == sorted([*before.values(), *(r for r in samples if r[3] >= middle)], key=str), pick(late, 'counter')[:3])
    got = {(r[0], r[1], r[3]) for r in timeline(events('late.pftrace')) if r[0] in ('slice', 'async')}
    spans = {(r[0], r[1], r[3]) for r in want if r[0] in ('slice', 'async') and r[4] > middle}
    check(f'seed {seed}: cut: spans with a part in the range, whole', got == spans, [sorted(got - spans)[:3], sorted(spans - got)[:3]])

    parts = []
    status, _, err = tracekit('split', path('system.pftrace'), '--by', 'time', '--every', '100us', '-o', path('part{}.pftrace'), '--force')
    check(f'seed {seed}: split: status', status == 0, err)
    for name in sorted(n for n in os.listdir(work.name) if n.startswith('part')):
        parts += pick(timeline(events(name)), 'instant')
        os.remove(path(name))
    check(f'seed {seed}: split: instants once', sorted(parts, key=str) == pick(want, 'instant'), len(parts))

    report = json.loads(tracekit('top', '--json', '--name', 'draw*', path('system.pftrace'))[1])
    check(f'seed {seed}: top', sum(row['count'] for row in report['rows']) == sum(r[1].startswith('draw') for r in want), report['rows'][:2])

# A thread that also has track events: these keep their own track, and both tracks are in the output.
track = system.packet(system.field(60, system.field(1, 77) + system.field(4, system.field(1, 100) + system.field(2, 101) + system.field(5, 'Described'))))
both = track + b''.join(system.packet(system.field(11, system.field(9, kind) + system.field(11, 77) + system.field(23, 'own')), ns=at)
                        for kind, at in ((1, system.START), (2, system.START + 500)))
text = system.bundle(0, [system.printed(system.START + 100, 101, 'B|100|traced'), system.printed(system.START + 200, 101, 'E|100')])
save('both.pftrace', system.head() + both + text)
trace = events('both.pftrace')
got = timeline(trace)
check('a thread with both: spans', [(r[1], r[2]) for r in got] == [('own', 101), ('traced', 101)], got)
check('a thread with both: its name', names(trace, 'thread_name').get(101) == 'Described', names(trace, 'thread_name'))
tracekit('convert', path('both.pftrace'), '-o', path('same.pftrace'), '--force')
check('a thread with both: pf to pf', timeline(events('same.pftrace')) == got, timeline(events('same.pftrace')))

# Text that is not an event, and other kernel events, remain packets and are counted.
odd = ['hello', 'B|x|name', 'C|1|a|', 'S|1|n|cookie', 'Q|1|n', '', '|', 'I|5', 'E|', 'G|1|t|n', '\x00', 'B|99999999999|n', 'C|1|n|9223372036854775808']
save('odd.pftrace', system.head() + system.bundle(0, [system.printed(system.START + i, 101, t) for i, t in enumerate(odd)] +
                                                  [(system.START + 50, system.field(2, system.field(1, system.START + 50) + system.field(50, b'')))]))
status, out, err = tracekit('info', '-v', path('odd.pftrace'))
check('text that is no event: counted', 'ftrace events kept only in Perfetto output' in err + out, err)
check('text that is no event: an end without a begin', not [r for r in timeline(events('odd.pftrace')) if r[0] != 'slice'])
status, _, err = tracekit('convert', path('odd.pftrace'), '-f', 'json', '--no-loss', '-o', path('odd.json'), '--force')
check('text that is no event: a loss in JSON', status == 3, err)

# Damage at every byte: no crash.
whole = read('system.pftrace')
rng = random.Random(1)
for n in range(60):
    data = bytearray(whole)
    for _ in range(rng.randrange(1, 4)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    save('cut.pftrace', bytes(data[:rng.randrange(len(data))] if n % 2 else data))
    status, _, err = tracekit('info', path('cut.pftrace'), '--sched')
    if status not in (0, 3):
        check(f'damage {n}', False, f'status {status}: {err}')
check('damage', True)
sys.exit(finish())
