#!/usr/bin/env python3
"""Checks that packets of a Perfetto trace which are not track events move with it, and that a merge keeps such packets of all inputs.

    rebase    each packet, and each time inside of one, moves as the events do; moving back gives the same packets; a range is cut
              from the moved trace as from the original; a scale drops the packets, and counts them
    merge     the packets of each input, apart from the machine and the offset of its clock, are those of the input
    damage    invalid contents are copied"""
import collections
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import system_trace as system  # noqa: E402
import trackprops  # noqa: E402
from extensions import varint  # noqa: E402
from protobuf import parse, varint as read_varint  # noqa: E402
from verdict import check, finish  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']
field, packet, START = system.field, system.packet, system.START
REAL = 10**18  # REALTIME at BOOTTIME 0, see system_trace.head
MONOTONIC = 5  # BOOTTIME is ahead of it by this, see there
LOG, CONFIG, UI, UNKNOWN, RAILS, SYS_STATS = 39, 33, 78, 901, 40, 7
work = tempfile.TemporaryDirectory()


def path(name):
    return os.path.join(work.name, name)


def read(name):
    with open(path(name), 'rb') as f:
        return f.read()


def write(name, data):
    with open(path(name), 'wb') as f:
        f.write(data)
    return path(name)


def run(*args):
    p = subprocess.run([TRACEKIT, *args, '--force'], stdin=subprocess.DEVNULL, capture_output=True)
    return p.returncode, p.stderr.decode()


def done(what, *args):
    status, err = run(*args)
    check(f'{what}: succeeds', status == 0, err)
    check(f'{what}: nothing is lost', 'lost' not in err and 'cannot' not in err, err)


# ---- a trace, and the times of its items on the trace clock ----

def trace(seed, is_compact, at=0):
    """Returns a system trace with items of several kinds, named KIND@TIME; `at`: offset of all its times."""
    rng = random.Random(seed)
    scheduler = system.Scheduler(rng)
    out = [system.head(), scheduler.packets(is_compact), system.atrace(rng)[0]]
    for i in range(12):
        ns = START + rng.randrange(2_000_000)
        text = field(8, f'log@{ns}.')
        out.append(packet(field(LOG, field(1, field(5, REAL + ns) + text)), sequence=8))
        out.append(packet(field(SYS_STATS, field(9, ns + 3) + field(900, f'stats@{ns}.')), ns=ns, sequence=8))
        out.append(packet(field(UNKNOWN, f'mono@{ns}.') + field(58, 3), ns=ns - MONOTONIC, sequence=8))
        out.append(packet(field(UNKNOWN, f'unknown@{ns}.'), ns=ns, sequence=9))
    out.append(packet(field(59, field(58, 3)), sequence=10, flags=1))
    out.append(packet(field(UNKNOWN, f'default@{START + 77}.'), ns=START + 77 - MONOTONIC, sequence=10, flags=2))
    out.append(packet(field(CONFIG, field(3, 1000))))
    out.append(packet(field(UI, field(1, START) + field(2, START + 5)), ns=START))
    maker = trackprops.Maker(seed)
    maker.packet = lambda *fields: out.append(packet(*fields, sequence=99))
    thread = maker.thread(maker.process(100), 100, 101)
    maker.event(START + 1000, 1, thread, field(23, b'sdk'))
    maker.event(START + 2000, 2, thread)
    return b''.join(out)


def packed_times(data, first=0):
    """Returns the absolute times of packed deltas."""
    at, now, out = 0, 0, []
    while at < len(data):
        delta, at = read_varint(data, at)
        now += delta
        out.append(now)
    return out


class Times:
    """Collects all timestamps in a file, converted to the trace clock by the snapshots of their machine: `found` counts (machine, item,
    time)."""

    def __init__(self, data):
        self.packets = [parse(p) for n, p in parse(data) if n == 1]
        self.clocks, self.defaults, self.found = {}, {}, collections.Counter()
        for p in self.packets:
            self.snapshot(p)
        for p in self.packets:
            self.packet(p)

    def snapshot(self, p):
        get, machine = trackprops.get, trackprops.get(p, 98, 0)
        for _, content in (f for f in p if f[0] == 6):
            clocks = {get(c, 1): get(c, 2) for c in (parse(c) for n, c in parse(content) if n == 1)}
            for clock, time in clocks.items():
                if 6 in clocks and clock < 64:
                    self.clocks.setdefault((machine, clock), clocks[6] - time)

    def on_trace_clock(self, machine, clock, time):
        return time + self.clocks.get((machine, clock), 0) if clock != 6 else time

    def packet(self, p):
        get, machine, sequence = trackprops.get, trackprops.get(p, 98, 0), trackprops.get(p, 10, 0)
        if get(p, 13, 0) & 1:
            self.defaults[machine, sequence] = 6
        if get(p, 59) is not None:
            self.defaults[machine, sequence] = get(parse(get(p, 59)), 58, 6)
        clock = get(p, 58, self.defaults.get((machine, sequence), 6))
        for n, content in p:
            if not isinstance(content, bytes) or n in (6, 11, 12, 59, 60, 126):
                continue
            for name, time in self.items(n, parse(content) if n in (1, LOG, SYS_STATS, UI) else content, machine):
                self.found[machine, name, time] += 1
            if get(p, 8) is not None:
                self.found[machine, (n, content if n == UNKNOWN else ''), self.on_trace_clock(machine, clock, get(p, 8))] += 1

    def items(self, n, content, machine):
        get = trackprops.get
        if n == LOG:
            return [(get(parse(e), 8), self.on_trace_clock(machine, 1, get(parse(e), 5))) for k, e in content if k == 1]
        if n == SYS_STATS:
            return [('collected', get(content, 9))]
        if n == UI:
            return [('from', get(content, 1)), ('to', get(content, 2))]
        if n != 1:
            return []
        events = [(tuple(f for f in parse(e) if f[0] != 1), get(parse(e), 1)) for k, e in content if k == 2]
        for k, columns in content:
            if k == 4:
                events += [((k, c), t) for c, data in parse(columns) if c in (1, 7) for t in packed_times(data)]
        return [((get(content, 1), repr(e)), t) for e, t in events]


def moved(times, by, machine=0):
    """Returns the expected times after a move. Times that would be negative are 0, as for state such as a process tree."""
    out = collections.Counter()
    for (_, name, time), n in times.items():
        out[machine, name, max(0, time + by)] += n
    return out


def distances(before, after):
    """Returns the set of distances by which the items of one kind moved."""
    a, b = (sorted(time for _, name, time in times if name == 'collected') for times in (before, after))
    return {y - x for x, y in zip(a, b)}


def difference(want, got):
    return f'gone {list((want - got).items())[:2]}; new {list((got - want).items())[:2]}'


# ---- rebase ----

def shifted(name, seed):
    before = Times(read(name)).found
    for by in (5_000_000_000, -900_000_000, 1):
        done(f'{seed}: rebase by {by}', 'rebase', '--shift', f'{by}ns', path(name), '-o', path('moved.pftrace'))
        got = Times(read('moved.pftrace')).found
        check(f'{seed}: everything moves by {by} ns', got == moved(before, by), difference(moved(before, by), got))
        done(f'{seed}: rebase back', 'rebase', '--shift', f'{-by}ns', path('moved.pftrace'), '-o', path('back.pftrace'))
        same = Times(read('back.pftrace'))
        check(f'{seed}: moved by {by} ns and back', same.found == before, difference(before, same.found))
        reals = {offset for (_, clock), offset in same.clocks.items() if clock == 1}
        check(f'{seed}: moved by {by} ns and back: the wall clock', reals == {-REAL}, reals)


def before_zero(name, seed):
    """Checks that a trace which would begin before 0 is moved less, so that its items keep their distances."""
    before = Times(read(name)).found
    done(f'{seed}: rebase to before 0', 'rebase', '--shift', '-3s', path(name), '-o', path('moved.pftrace'))
    got = Times(read('moved.pftrace')).found
    by = distances(before, got)
    check(f'{seed}: all move by one distance', len(by) == 1 and min(by) > -3_000_000_000, by)
    check(f'{seed}: distances stay', got == moved(before, min(by)), difference(moved(before, min(by)), got))


def to_zero(name, seed):
    """Checks that if the wall clock is known, only the zero of the file changes, and wall clock times are unchanged."""
    before = Times(read(name))
    done(f'{seed}: rebase --to 0', 'rebase', '--to', '0', path(name), '-o', path('moved.pftrace'))
    got = Times(read('moved.pftrace'))
    by = distances(before.found, got.found)
    check(f'{seed}: --to 0 moves all by one distance', len(by) == 1, by)
    check(f'{seed}: --to 0 moves everything', got.found == moved(before.found, min(by)), difference(moved(before.found, min(by)), got.found))
    check(f'{seed}: --to 0 keeps the wall clock', got.clocks[0, 1] == min(by) - REAL, got.clocks)


def cut_and_moved(name, seed):
    def cut(of, out, at):
        done(f'{seed}: cut {out}', 'filter', '-q', path(of), '--time', f'{(START + at + 200_000) / 1000:f}..{(START + at + 900_000) / 1000:f}', '-o', path(out))
    cut(name, 'cut.pftrace', 0)
    run('rebase', '-q', '--shift', '2s', path('cut.pftrace'), '-o', path('cut-moved.pftrace'))
    run('rebase', '-q', '--shift', '2s', path(name), '-o', path('moved.pftrace'))
    cut('moved.pftrace', 'moved-cut.pftrace', 2_000_000_000)
    a, b = Times(read('cut-moved.pftrace')).found, Times(read('moved-cut.pftrace')).found
    check(f'{seed}: cut and moved, moved and cut', a == b, difference(a, b))
    check(f'{seed}: something is cut', 0 < sum(a.values()) < sum(Times(read(name)).found.values()))


def scaled(name):
    status, err = run('rebase', '--scale', '1.5', path(name), '-o', path('moved.pftrace'))
    check('a scale counts the packets as lost', status == 0 and 'data blocks specific to the input format' in err, err)
    check('a scale drops the packets', not any(n == 'collected' for _, n, _ in Times(read('moved.pftrace')).found))


# ---- times inside of packets ----

S = 10**9
# Fields on the trace clock: number of the packet's content, path of the field, units of a second. Sources: protos/perfetto/trace/.
INSIDE = {'start of a process in a tree': (2, (1, 7), S), 'end of a tree': (2, (3,), S), 'end of statistics': (9, (2,), S),
          'start of a process': (60, (3, 7), S), 'rails': (40, (2, 2), 1000), 'start of a range of interest': (90, (1,), 10**6),
          'last entry of a state': (91, (2, 5), 1000), 'layers': (93, (1,), S), 'end of a transition': (96, (9,), S),
          'removal of a starting window': (96, (17,), S)}


def wrapped(numbers, value):
    return field(numbers[0], value if len(numbers) == 1 else wrapped(numbers[1:], value))


def inside(data, number, numbers):
    contents = [v for p in (parse(v) for n, v in parse(data) if n == 1) for n, v in p if n == number]
    for n in numbers:
        contents = [v for c in contents for k, v in parse(c) if k == n]
    return contents


def times_inside():
    """Checks that times on the trace clock move, and that times on MONOTONIC_COARSE need not, because the snapshots move instead."""
    packets = [packet(field(number, wrapped(numbers, 50 * unit)), ns=50 * S, sequence=20 + i)
               for i, (number, numbers, unit) in enumerate(INSIDE.values())]
    heap = packet(field(37, field(5, field(1, 55) + field(9, 40 * S))), ns=50 * S, sequence=40)
    modem = packet(field(110, field(2, varint(50 * S) + varint(7))), ns=50 * S, sequence=41)
    clocks = packet(field(6, b''.join(field(1, field(1, clock) + field(2, at)) for clock, at in ((6, 50 * S), (4, 40 * S)))), ns=None)
    write('inside.pftrace', clocks + b''.join(packets) + heap + modem)
    done('times inside', 'rebase', '-q', '--no-loss', '--shift', '5s', path('inside.pftrace'), '-o', path('out.pftrace'))
    out = read('out.pftrace')
    for name, (number, numbers, unit) in INSIDE.items():
        found = inside(out, number, numbers)
        check(f'times inside: {name}', found == [55 * unit], found)
    check('times inside: heap dump', inside(out, 37, (5, 9)) == [40 * S], inside(out, 37, (5, 9)))
    check('times inside: first of the modem\'s times', inside(out, 110, (2,)) == [varint(55 * S) + varint(7)], inside(out, 110, (2,)))


def other_machine():
    """Checks that the clock of a guest, which a RemoteClockSync relates to the host's clock, moves with it."""
    def clock(at):
        return field(1, field(1, 6) + field(2, at))

    sync = field(1, field(107, field(1, field(2, clock(100 * S)) + field(3, clock(500 * S)))) + field(98, 7))
    guest = field(1, field(1, field(1, 0) + field(2, field(1, 101 * S) + field(2, 11) + field(3, field(2, 'I|10|guest')))) + field(98, 7))
    write('remote.pftrace', packet(field(6, clock(500 * S))) + packet(field(UNKNOWN, 'host'), ns=501 * S) + sync + guest)
    done('the clock of another machine', 'rebase', '--shift', '7s', path('remote.pftrace'), '-q', '--no-loss', '-o', path('out.pftrace'))
    out = read('out.pftrace')
    sides = [inside(out, 107, (1, side, 1, 2)) for side in (2, 3)]
    check('the clock of another machine: both sides move', sides == [[107 * S], [507 * S]], sides)
    check('the clock of another machine: events of the guest move', inside(out, 1, (2, 1)) == [108 * S], inside(out, 1, (2, 1)))


# ---- merge ----

def plain(packets, machine):
    """Returns the contents, without times, of the packets of a machine that are not track events, clocks or state."""
    out = collections.Counter()
    for p in packets:
        if trackprops.get(p, 98, 0) == machine:
            out.update((n, trackprops.get(p, 10)) for n, v in p if isinstance(v, bytes) and n not in (6, 11, 12, 59, 60, 126, 1990))
    return out


def merged(names):
    done(f'merge of {len(names)}', 'merge', '-q', *map(path, names), '-o', path('merged.pftrace'))
    whole = Times(read('merged.pftrace'))
    for machine, name in enumerate(names):
        part = Times(read(name))
        got = collections.Counter({key: n for key, n in whole.found.items() if key[0] == machine})
        check(f'merge: times of {name}', got == moved(part.found, 0, machine), difference(moved(part.found, 0, machine), got))
        a, b = plain(part.packets, 0), plain(whole.packets, machine)
        check(f'merge: packets of {name}', a == b, difference(a, b))
    status, out = run('convert', '-q', path('merged.pftrace'), '-o', path('merged.json'))
    counts = [len(json.loads(subprocess.run([TRACEKIT, 'convert', '-q', path(n), '-f', 'json'], stdin=subprocess.DEVNULL,
                                            capture_output=True).stdout)['traceEvents']) for n in (*names, 'merged.pftrace')]
    check('merge: has the events of its parts', counts[-1] == sum(counts[:-1]), counts)
    done('merge of a merge', 'merge', '-q', path('merged.pftrace'), path(names[0]), '-o', path('twice.pftrace'))
    again = Times(read('twice.pftrace'))
    machines = {m for m, *_ in again.found}
    check('merge of a merge: all packets', sum(again.found.values()) == sum(whole.found.values()) + sum(Times(read(names[0])).found.values()))
    check('merge of a merge: machines stay apart', len(machines) == len(names) + 1, machines)


# ---- damage ----

def damaged(data, seed):
    rng = random.Random(seed)
    for _ in range(30):
        broken = bytearray(data)
        for _ in range(rng.randrange(1, 9)):
            broken[rng.randrange(len(broken))] = rng.choice((0, 0x7f, 0x80, 0xff, rng.randrange(256)))
        write('broken.pftrace', bytes(broken))
        for args in (['rebase', '--shift', '-1s', path('broken.pftrace')], ['merge', path('broken.pftrace'), path('0.pftrace')]):
            status, err = run(*args, '-q', '-o', path('out.pftrace'))
            check(f'damage: {args[0]}', status in (0, 3), f'status {status}: {err}')


def long_times():
    """Checks that a move does not crash on times at both ends of 64 bits: it succeeds or reports an error."""
    edge = b''.join(packet(field(UNKNOWN, 'edge'), ns=ns, sequence=8) for ns in (0, 1, 2**63 - 1, 2**64 - 1))
    write('edge.pftrace', edge + trace(1, False) + field(1, field(1, field(4, field(1, varint(2**64 - 1) + b'\x80'))) + field(10, 8)))
    for by in ('-9000000s', '9000000s'):
        status, err = run('rebase', '-q', '--shift', by, path('edge.pftrace'), '-o', path('out.pftrace'))
        check(f'times at the edge, {by}', status in (0, 2, 3, 4), err)


for n, compact in enumerate((False, True)):
    write(f'{n}.pftrace', trace(n, compact))
    shifted(f'{n}.pftrace', n)
    before_zero(f'{n}.pftrace', n)
    to_zero(f'{n}.pftrace', n)
    cut_and_moved(f'{n}.pftrace', n)
scaled('0.pftrace')
times_inside()
other_machine()
merged(['0.pftrace', '1.pftrace', '0.pftrace'])
damaged(read('1.pftrace'), 1)
long_times()
sys.exit(finish())
