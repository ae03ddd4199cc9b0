#!/usr/bin/env python3
"""Checks that a merge keeps the packets of Perfetto inputs even if it changes names of processes, times (by different amounts),
the trace clock, or the clocks of further machines. A packet and a track event with equal times still have equal times
afterwards.

    programs    ranks with GPU work: names contain the rank, and render stages, counters and pids stay
    labels      new names are in descriptors and in process trees; a process without either gets a descriptor, also if only GPU
                work names it
    untimed     descriptions without a time apply from the start of their rank
    extensions  two descriptions of one field of events are not in one file
    chrome      type, priority, labels and start of Chrome's processes and threads
    drift       times in packets are corrected as those of events are, on all clocks
    clocks      inputs with different trace clocks are written with one trace clock
    machines    the clocks of further machines move with the clock of their input
    damage      invalid contents do no harm"""
import collections
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import machines  # noqa: E402
import system_trace as system  # noqa: E402
from clock_trace import BOOTTIME, LOG, MONOTONIC, N, REALTIME, STATS, UNKNOWN, pairs  # noqa: E402
import torch_pftrace  # noqa: E402
import trackprops  # noqa: E402
from protobuf import parse, varint as read_varint  # noqa: E402
from verdict import check, finish  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']
field, packet, get = system.field, system.packet, trackprops.get
work = tempfile.TemporaryDirectory()


def path(name):
    return os.path.join(work.name, name)


def write(name, data):
    with open(path(name), 'wb') as f:
        f.write(data)
    return path(name)


def run(*args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, capture_output=True)
    return p.returncode, p.stdout.decode(), p.stderr.decode()


def done(what, *args):
    status, out, err = run(*args)
    check(f'{what}: succeeds', status == 0, err)
    return out


def merge(what, *args):
    return done(what, 'merge', '-q', '--force', '--no-loss', *args, '-o', path('merged.pftrace'))


def packets(name):
    with open(path(name), 'rb') as f:
        return [parse(p) for n, p in parse(f.read()) if n == 1]


def of_machine(name, machine):
    return [p for p in packets(name) if get(p, 98, 0) == machine]


def contents(name, machine, number):
    return [v for p in of_machine(name, machine) for n, v in p if n == number]


def process_names(name, machine):
    """Returns ({pid: names in descriptors}, {pid: names in process trees})."""
    described, listed = collections.defaultdict(set), {}
    for d in contents(name, machine, 60):
        process = get(parse(d), 3)
        if process is not None:
            described[get(parse(process), 1)].add((get(parse(process), 6) or b'').decode())
    for tree in contents(name, machine, 2):
        for n, p in parse(tree):
            if n == 1:
                listed[get(parse(p), 1)] = [v.decode() for k, v in parse(p) if k == 3]
    return dict(described), listed


# ---- ranks of a program ----

def by_rank(name):
    out = done(f'top of {name}', 'top', '-q', '--json', '--kind', 'kernel', '--by', 'rank', path(name))
    return {int(row['name']): (row['count'], row['total_ns']) for row in json.loads(out)['rows']}


def programs():
    for rank, steps in enumerate((4, 5, 3)):
        data = torch_pftrace.trace(steps) + field(1, field(128, field(1, field(2, f'the GPU of {rank}'))) + field(10, 5))
        write(f'rank{rank}.pftrace', data)
    merge('ranks', *[path(f'rank{r}.pftrace') for r in range(3)])
    want = {}
    for rank in range(3):
        for number, what in ((53, 'stages'), (52, 'samples'), (128, 'GPUs')):
            a, b = contents(f'rank{rank}.pftrace', 0, number), contents('merged.pftrace', rank, number)
            check(f'ranks: {what} of {rank}', a and a == b, f'{len(a)}, {len(b)}')
        described, _ = process_names('merged.pftrace', rank)
        check(f'ranks: names of {rank}', described == {4242: {f'rank {rank} - python'}}, described)
        alone = json.loads(done('top', 'top', '-q', '--json', '--kind', 'kernel', '--by', 'kind', path(f'rank{rank}.pftrace')))['rows'][0]
        want[rank] = alone['count'], alone['total_ns']
    check('ranks: kernels by rank', by_rank('merged.pftrace') == want, by_rank('merged.pftrace'))
    for name in ('again.json', 'again.pftrace'):
        done('convert', 'convert', '-q', '--force', path('merged.pftrace'), '-o', path(name))
        check(f'ranks: kernels by rank in {name}', by_rank(name) == want, by_rank(name))
    done('merge of a merge', 'merge', '-q', '--force', '--no-loss', path('merged.pftrace'), path('rank2.pftrace'), '-o', path('twice.pftrace'))
    found = by_rank('twice.pftrace')
    check('ranks: merge of a merge', {0: want[0], 1: want[1]} == {r: found[r] for r in (0, 1)} and len(found) <= 4, found)


# ---- labels ----

def labels():
    system.write(path('system.pftrace'), 1, False)
    maker, out = trackprops.Maker(1), []
    maker.packet = lambda *fields: out.append(packet(*fields, sequence=99))
    maker.slices(maker.thread(maker.process(100), 100, 101), system.START + 1000)
    maker.slices(maker.thread(maker.process(300), 300, 301), system.START + 1000)
    lone = system.bundle(3, [system.printed(system.START + 5, 400, 'B|400|alone'), system.printed(system.START + 9, 400, 'E|400')])
    with open(path('system.pftrace'), 'ab') as f:
        f.write(b''.join(out) + lone)
    before = process_names('system.pftrace', 0)
    merge('labels', '--label', '{rank}: {process}', path('system.pftrace'), path('system.pftrace'))
    for rank in (0, 1):
        described, listed = process_names('merged.pftrace', rank)
        for pid, names in before[0].items():
            if pid not in before[1]:
                check(f'label in the descriptor of {pid}', all(n.startswith(f'{rank}: ') for n in described[pid]), described)
        more = before[1][100][1:] or ['']  # importers take the first word of a command line with one part
        check('label in the tree', listed[100][0].startswith(f'{rank}: ') and listed[100][1:] == more, listed)
        check('label with a space in the tree', all(len(parts) > 1 for parts in listed.values() if ' ' in parts[0]), listed)
        check('label of a process that only ftrace names', any(n.startswith(f'{rank}: ') for n in described.get(400, ())), described)
        check('labels: packets stay', len(contents('merged.pftrace', rank, 1)) == len(contents('system.pftrace', 0, 1)))
    names = {t['name'] for t in json.loads(done('top', 'top', '-q', '--json', '--by', 'process', path('merged.pftrace')))['rows']}
    check('labels are read again', {'0: process 100 (100)', '0: pid 400 (400)', '0: /usr/bin/server (200)'} <= names, names)
    check('labels: no name is without', all(n.startswith(('0: ', '1: ')) for n in names), names)


def stages_only():
    """Merges a trace whose only process is the pid of a graphics context."""
    interned = field(24, field(1, 1) + field(2, b'Stream 7')) + field(24, field(1, 2) + field(2, b'gemm')) + field(23, field(1, 5) + field(2, 4242))
    stage = field(1, 1) + field(2, 500) + field(5, 5) + field(13, 1) + field(14, 2)
    write('stages.pftrace', packet(field(12, interned), field(13, 1)) + packet(field(53, stage), field(8, 1000), field(13, 2)))
    merge('stages: label', '--label', '{rank}: {process}', path('stages.pftrace'), path('stages.pftrace'))
    for rank in (0, 1):
        described, _ = process_names('merged.pftrace', rank)
        check(f'stages: label of rank {rank}', described == {4242: {f'{rank}: pid 4242'}}, described)
        check('stages: packets stay', len(contents('merged.pftrace', rank, 53)) == 1)
    done('stages: convert', 'convert', '-q', '--force', path('stages.pftrace'), '-o', path('again.pftrace'))
    check('stages: no descriptor without a label', process_names('again.pftrace', 0)[0] == {}, process_names('again.pftrace', 0))


def untimed():
    """Merges traces with packets that have no time: descriptions of GPU stages are in effect before the first stage of their rank, and shell
    transitions name no machine."""
    names = field(2, field(1, b'stage 0')) + field(4, field(1, b'queue 0'))  # GpuRenderStageEvent.Specifications: hw_queue, stage
    described = packet(field(53, field(7, names)))
    stages = b''.join(packet(field(53, field(1, i) + field(2, 10) + field(3, 0) + field(4, 0)), field(8, 1000 + 100 * i)) for i in range(4))
    write('untimed.pftrace', described + stages + packet(field(96, field(1, 5) + field(2, 1000))))
    status, _, err = run('merge', '-q', '--force', '--no-loss', '--align', 'none', path('untimed.pftrace'), path('untimed.pftrace'), '-o', path('merged.pftrace'))
    check('untimed: succeeds', status == 0, err)
    for rank in (0, 1):
        at = [(get(p, 8), get(parse(get(p, 53)), 7) is not None) for p in of_machine('merged.pftrace', rank) if get(p, 53) is not None]
        times = [ns for ns, describes in at if not describes]
        check(f'untimed: stages of rank {rank}', len(times) == 4, at)
        check(f'untimed: names of rank {rank}', all(ns is not None and ns <= min(times) for ns, describes in at if describes), at)
    check('untimed: shell transitions', [len(contents('merged.pftrace', rank, 96)) for rank in (0, 1)] == [2, 0])


def chrome():
    """Merges traces whose descriptors have what Chrome states of its processes and threads, with times that move."""
    chrome_process, chrome_thread = field(1, 2) + field(2, 5) + field(4, b'app'), field(1, 3) + field(2, 1)
    def trace(first):
        process = field(1, 10) + field(5, b'a page') + field(6, b'Renderer') + field(7, first - 500)
        described = field(60, field(1, 1) + field(3, process) + field(6, chrome_process))
        thread = field(60, field(1, 2) + field(4, field(1, 10) + field(2, 11) + field(5, b'main')) + field(7, chrome_thread))
        events = b''.join(packet(field(8, first + 100 * i), field(11, field(9, 1 + i) + field(11, 2) + field(23, b'task'))) for i in range(2))
        return packet(described) + packet(thread) + events

    def stated(name, machine):
        descriptors = [parse(d) for d in contents(name, machine, 60)]
        process = parse(next(get(d, 3) for d in descriptors if get(d, 3) is not None))
        return (get(process, 7), get(process, 5), next(get(d, 6) for d in descriptors if get(d, 6) is not None),
                next(get(d, 7) for d in descriptors if get(d, 7) is not None))

    def begin_of(name, machine):
        """Returns the time of the first event, in ns, from the incremental clock of its sequence."""
        base = 0
        for p in of_machine(name, machine):
            base = next((get(c, 2) for c in (parse(c) for n, c in parse(get(p, 6) or b'') if n == 1) if get(c, 1) >= 64), base)
            if get(p, 11) is not None:
                return base + (get(p, 8) or 0)
        return None

    write('page0.pftrace', trace(5_000_000))
    write('page1.pftrace', trace(9_000_000))
    ranks = [path(f'page{rank}.pftrace') for rank in (0, 1)]
    for what, args in (('aligned', ('--align', 'start')), ('moved', ('--align', 'none', '--offset', '1=2ms'))):
        merge(f'chrome: {what}', *args, *ranks)
        for rank in (0, 1):
            want = begin_of('merged.pftrace', rank) - 500, b'a page', chrome_process, chrome_thread
            check(f'chrome: rank {rank} {what}', stated('merged.pftrace', rank) == want, (stated('merged.pftrace', rank), want))
    done('chrome: rebase', 'rebase', '-q', '--force', '--no-loss', '--shift', '3ms', path('page0.pftrace'), '-o', path('moved.pftrace'))
    check('chrome: rebase', stated('moved.pftrace', 0)[0] == 8_000_000 - 500, stated('moved.pftrace', 0))
    done('chrome: filter', 'filter', '-q', '--force', '--no-loss', '--name', 'task', path('page0.pftrace'), '-o', path('named.pftrace'))
    check('chrome: filter', stated('named.pftrace', 0)[0] == 5_000_000 - 500, stated('named.pftrace', 0))


def extensions_apart():
    """Merges two traces that describe field 9980 of TrackEvent differently: only one description may be in the file, and the field of
    the other trace becomes an annotation. Equal descriptions stay."""
    def trace(name, kind, value):
        extended = field(6, field(1, name) + field(3, 9980) + field(4, 1) + field(5, kind) + field(2, b'.perfetto.protos.TrackEvent'))
        file = field(1, name + b'.proto') + field(2, name) + field(4, field(1, b'Ext') + extended)
        event = field(9, 3) + field(11, 7) + field(23, name) + field(9980, value)
        described = packet(field(72, field(1, field(1, file))))
        return described + packet(field(60, field(1, 7) + field(4, field(1, 1) + field(2, 2)))) + packet(field(8, 1000), field(11, event))

    def found(name, rank):
        described = contents(name, rank, 72)
        return len(described), {get(e, 9980) is not None for e in map(parse, contents(name, rank, 11))}
    write('text.pftrace', trace(b'text', 9, b'hello'))
    write('number.pftrace', trace(b'number', 4, 5))
    os.makedirs(path('extended'))
    for rank, name in enumerate(('text', 'number')):
        os.replace(path(f'{name}.pftrace'), path(f'extended/rank{rank}.pftrace'))
    ranks = [path(f'extended/rank{rank}.pftrace') for rank in range(2)]
    done('extensions', 'merge', '-q', '--force', *ranks, '-o', path('merged.pftrace'))
    check('extensions: first', found('merged.pftrace', 0) == (1, {True}), found('merged.pftrace', 0))
    check('extensions: second', found('merged.pftrace', 1) == (0, {False}), found('merged.pftrace', 1))
    dump = done('extensions: dump', 'dump', '--graph', path('merged.pftrace'))
    check('extensions: values', 'text=hello' in dump.replace('"', '') and 'number=5' in dump, dump)
    refused = run('merge', '--force', '--no-loss', *ranks, '-o', path('loss.pftrace'))
    check('extensions: counted', 'refused by --no-loss' in refused[2], refused)
    done('extensions: joined', 'filter', '-q', '--force', '-e', 'ts >= 0ns', path('extended'), '-o', path('joined.pftrace'))
    with open(path('joined.pftrace'), 'rb') as f:
        joined = [parse(value) for n, value in parse(f.read()) if n == 1]
    check('extensions: joined', sum(get(p, 72) is not None for p in joined) == 1, 'two descriptions')
    merge('extensions: equal', ranks[0], ranks[0])
    check('extensions: equal', [found('merged.pftrace', rank)[1] for rank in (0, 1)] == [{True}, {True}], 'differ')


# ---- pairs of an event and packets of the same time ----

class Clocks:
    """Converts times of one machine to the trace clock as importers do: by the last snapshot that is not later than the time."""

    def __init__(self, name, machine, trace_clock):
        self.trace_clock, self.snapshots = trace_clock, []
        for s in contents(name, machine, 6):
            self.snapshots.append({get(c, 1): get(c, 2) for c in (parse(c) for n, c in parse(s) if n == 1)})

    def on_trace(self, clock, ns):
        if clock in (0, self.trace_clock):
            return ns
        known = [s for s in self.snapshots if clock in s and self.trace_clock in s]
        assert known, f'no snapshot relates {clock} to {self.trace_clock}'
        before = [s for s in known if s[clock] <= ns] or known[:1]
        best = max(before, key=lambda s: s[clock])
        return ns - best[clock] + best[self.trace_clock]


def item_times(name, machine, trace_clock):
    """Returns {kind: [time on the trace clock of item 1, 2, ...]}."""
    clocks, found = Clocks(name, machine, trace_clock), collections.defaultdict(dict)

    def add(text, clock, ns):
        kind, i = text.decode().rstrip('.').split(' ')
        found[kind][int(i)] = clocks.on_trace(clock, ns)

    for p in of_machine(name, machine):
        for n, v in p:
            if n == UNKNOWN:
                add(v, get(p, 58, 0), get(p, 8))
            elif n == STATS:
                add(get(parse(v), 900), BOOTTIME, get(parse(v), 9))
            elif n == LOG:
                for e in (parse(e) for k, e in parse(v) if k == 1):
                    add(get(e, 8), REALTIME, get(e, 5))
            elif n == 1:
                for k, e in parse(v):
                    if k == 2:
                        text = get(parse(get(parse(e), 3)), 2)
                        add(text.split(b'|')[2], BOOTTIME, get(parse(e), 1))
                    elif k == 4:
                        now, i, data, start = 0, 0, get(parse(e), 1), 0
                        while start < len(data):
                            delta, start = read_varint(data, start)
                            now, i = now + delta, i + 1
                            add(b'switch %d' % i, BOOTTIME, now)
    return {kind: [times[i] for i in sorted(times)] for kind, times in found.items()}


def barrier_times(name):
    """Returns, for each process, the times of the barriers in ns as in the file."""
    trace = json.loads(done('events', 'convert', '-q', path(name), '-f', 'json', '-o', '-'))
    found = collections.defaultdict(dict)
    base = trace.get('baseTimeNanoseconds', 0)
    for e in trace['traceEvents']:
        if e.get('ph', '-') in 'XB' and e['name'].startswith('barrier'):
            found[e['pid']][int(e['name'].split()[1])] = base + round(e['ts'] * 1000)
    return [[times[i] for i in sorted(times)] for _, times in sorted(found.items(), key=lambda f: str(f[0]))]


def compare(what, machine, trace_clock, slack=0):
    items = item_times('merged.pftrace', machine, trace_clock)
    events = barrier_times('merged.pftrace')[machine]
    check(f'{what}: all kinds are there', set(items) == {'log', 'unknown', 'monotonic', 'boottime', 'stats', 'print', 'switch'}, set(items))
    check(f'{what}: all barriers are there', len(events) == N, len(events))
    first = events[0] - items['unknown'][0]
    for kind, times in items.items():
        apart = [e - t - first for e, t in zip(events, times)]
        check(f'{what}: {kind} of {machine} stays at the events', len(times) == N and max(map(abs, apart)) <= slack, apart)
    return events


def drift():
    write('a.pftrace', pairs(BOOTTIME))
    for ppm, ahead in ((40, 0), (-25, 3_000_000), (300, 10_000_000_000)):
        write('b.pftrace', pairs(BOOTTIME, ppm / 1e6, ahead))
        merge(f'drift {ppm}', '--anchor', 'barrier', '--require-align', path('a.pftrace'), path('b.pftrace'))
        a, b = compare(f'drift {ppm}', 0, BOOTTIME), compare(f'drift {ppm}', 1, BOOTTIME)
        check(f'drift {ppm}: is corrected', max(abs(x - y) for x, y in zip(a, b)) < 100, [x - y for x, y in zip(a, b)])
        # with --time, the merge keeps packets and events of the same range
        merge(f'drift {ppm} and a range', '--anchor', 'barrier', '--require-align', '--time', '+2.25s..+8.25s', path('a.pftrace'), path('b.pftrace'))
        kept = item_times('merged.pftrace', 1, BOOTTIME)
        events = barrier_times('merged.pftrace')[1]
        for kind in ('unknown', 'log', 'monotonic', 'boottime', 'print'):
            check(f'drift {ppm} and a range: {kind}', len(kept[kind]) == len(events) == 12, (len(kept[kind]), len(events)))


def clocks():
    write('boot.pftrace', pairs(BOOTTIME))
    write('mono.pftrace', pairs(MONOTONIC, ahead=700))
    for names, out in ((('boot', 'mono'), BOOTTIME), (('mono', 'boot'), MONOTONIC), (('mono', 'mono'), MONOTONIC)):
        what = ' and '.join(names)
        merge(what, '--align', 'none', *[path(f'{n}.pftrace') for n in names])
        for machine in (0, 1):
            compare(f'clocks: {what}', machine, out)
        primaries = {get(parse(s), 2) for s in contents('merged.pftrace', 1, 6)}
        check(f'clocks: {what}: trace clock of the second', primaries - {None} <= {out}, primaries)
    # a time on BOOTTIME is lost if no snapshot relates BOOTTIME to the trace clock
    unrelated = packet(field(6, field(1, field(1, MONOTONIC) + field(2, 1000)) + field(2, MONOTONIC))) + \
        packet(field(UNKNOWN, 'nowhere') + field(58, BOOTTIME), ns=5, sequence=8) + packet(field(UNKNOWN, 'somewhere'), ns=5000, sequence=8)
    args = ('merge', '--force', '--align', 'none', path('boot.pftrace'), write('unrelated.pftrace', unrelated), '-o', path('merged.pftrace'))
    status, _, err = run(*args)
    check('clocks: unrelated times are lost, and counted', status == 0 and 'specific to the input format: 1' in err, err)
    check('clocks: only they are', contents('merged.pftrace', 1, UNKNOWN) == [b'somewhere'], contents('merged.pftrace', 1, UNKNOWN))
    check('clocks: --no-loss refuses', run(*args, '--no-loss')[0] == 3)


# ---- further machines ----

def spans(name):
    """Returns [(name, ns since the span of the host)] of the spans in machines.trace."""
    trace = json.loads(done('events', 'convert', '-q', path(name), '-f', 'json', '-o', '-'))
    found = [(e['name'], round(e['ts'] * 1000)) for e in trace['traceEvents'] if e.get('ph', '-') in 'BX']
    zero = next(ns for n, ns in found if n == 'of the host')
    return sorted((n, ns - zero) for n, ns in found if n in machines.CASES)


def further_machines():
    extra = machines.packet(7, field(UNKNOWN, 'of the guest') + field(8, 10_500_000) + field(58, BOOTTIME) + field(10, 6))
    write('guest.pftrace', machines.trace() + extra)
    write('a.pftrace', pairs(BOOTTIME))
    want = spans('guest.pftrace')
    for args, name in ((('rebase', '--shift', '3s', path('guest.pftrace')), 'a shift'), (('rebase', '--shift', '-100us', path('guest.pftrace')), 'a shift back'),
                       (('merge', '--align', 'start', path('guest.pftrace'), path('a.pftrace')), 'a merge as the first'),
                       (('merge', '--align', 'start', path('a.pftrace'), path('guest.pftrace')), 'a merge as the second')):
        done(name, *args, '-q', '--force', '--no-loss', '-o', path('merged.pftrace'))
        check(f'machines: events after {name}', spans('merged.pftrace') == want, spans('merged.pftrace'))
        syncs = [p for p in packets('merged.pftrace') if get(p, 107) is not None]
        check(f'machines: the offset stays after {name}', len(syncs) == 1 and offsets(syncs[0]) == [9_797_900, 9_797_890], list(map(offsets, syncs)))
        guest = next(p for p in packets('merged.pftrace') if get(p, UNKNOWN) == b'of the guest')
        begun = next(get(p, 8) for p in packets('merged.pftrace') if get(p, 98, 0) == get(syncs[0], 98) and get(p, 107) is None and get(p, 6) is not None)
        check(f'machines: a packet after {name}', get(guest, 98) == get(syncs[0], 98) and get(guest, 8) > 0, (guest, begun))


def offsets(p):
    """Returns by how much the client's BOOTTIME is ahead of the host's in each pair of a RemoteClockSync."""
    def boot(snapshot):
        return next(get(c, 2) for c in (parse(c) for n, c in parse(snapshot) if n == 1) if get(c, 1) == BOOTTIME)
    return [boot(get(parse(pair), 2)) - boot(get(parse(pair), 3)) for n, pair in parse(get(p, 107)) if n == 1]


# ---- damage ----

def damage():
    rng = random.Random(3)
    write('a.pftrace', pairs(BOOTTIME))
    sources = [pairs(MONOTONIC, 1e-4), machines.trace() + torch_pftrace.trace(1), machines.trace() + pairs(MONOTONIC)]
    for i in range(90):
        broken = bytearray(sources[i % 3])
        for _ in range(rng.randrange(1, 9)):
            broken[rng.randrange(len(broken))] = rng.choice((0, 0x7f, 0x80, 0xff, rng.randrange(256)))
        write('broken.pftrace', bytes(broken))
        how = rng.choice((['--label', '{rank}'], ['--anchor', 'barrier'], ['--align', 'none']))
        order = [path('a.pftrace'), path('broken.pftrace')]
        status, _, err = run('merge', '-q', '--force', *how, *(order if rng.random() < .5 else order[::-1]), '-o', path('out.pftrace'))
        check('damage: a merge ends', status in (0, 3), f'status {status}: {err}')


programs()
labels()
stages_only()
untimed()
extensions_apart()
chrome()
drift()
clocks()
further_machines()
damage()
sys.exit(finish())
