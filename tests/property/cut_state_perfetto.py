#!/usr/bin/env python3
"""Checks that a cut in time of a Perfetto trace keeps the state at the start of the range, and what importers need to show the rows in the range.

    pairs       the begin event of a span that is open at the start stays; spans that ended before it do not. For each pair of ftrace events
    latest      the last event of each key stays, if the event states a value
    frames      frames (frame_timeline_event) and buffers (graphics_frame_event) are kept like other pairs
    gpu         the first sample of a GPU counter after the range stays, because it contains the value of the last one in the range
    lists       statsd atoms and network packets are cut one by one, by their own times"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import extensions  # noqa: E402
from protobuf import parse, varint  # noqa: E402
from verdict import check, finish  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']
START, MS = 1_000_000_000, 1_000_000
FTRACE, GPU, GRAPHICS, FRAMES, STATSD, NETWORK = 1, 52, 57, 76, 84, 92
work = tempfile.TemporaryDirectory()


def field(number, value):
    return extensions.field(number, value.encode() if isinstance(value, str) else value)


def path(name):
    return os.path.join(work.name, name)


def get(fields, number, otherwise=None):
    return next((value for n, value in fields if n == number), otherwise)


def packet(content, ms=None, sequence=7):
    return field(1, content + (b'' if ms is None else field(8, START + ms * MS)) + field(10, sequence))


def cut(what, data, first, last):
    """Returns the packets, as lists of fields, of the range from `first` to `last` ms."""
    with open(path('in.pftrace'), 'wb') as f:
        f.write(data)
    p = subprocess.run([TRACEKIT, 'filter', path('in.pftrace'), '--time', f'{START + first * MS}ns..{START + last * MS}ns', '--allow-empty',
                        '--force', '-o', path('out.pftrace')], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    check(f'{what}: the cut succeeds', p.returncode == 0 and b'lost' not in p.stderr, p.stderr)
    with open(path('out.pftrace'), 'rb') as f:
        return [parse(v) for n, v in parse(f.read()) if n == 1]


def contents(packets, number):
    return [get(p, number) for p in packets if get(p, number) is not None]


def ms_of(ns):
    return (ns - START) // MS


# ---- events of ftrace ----

def events_left(what, events, first, last):
    """Cuts one bundle of CPU 0. events: (ms, thread, field number, content). Returns the times of the events that stay, in ms."""
    content = b''.join(field(2, field(1, START + ms * MS) + field(2, tid) + field(number, body)) for ms, tid, number, body in events)
    left = cut(what, packet(field(FTRACE, field(1, 0) + content)), first, last)
    return [ms_of(get(parse(e), 1)) for p in left for n, b in p if n == FTRACE for m, e in parse(b) if m == 2]


def keys(*fields):
    """Returns the content of the events of two spans, which differ in the last of these fields."""
    same = b''.join(field(n, 'a') if isinstance(n, str) else field(n, 1) for n in fields[:-1])
    return same + field(fields[-1], 1), same + field(fields[-1], 2)


def texts(number):
    return field(number, 'a'), field(number, 'b')


NOTHING = (b'', b'')
# begin, end, contents of two spans that are independent of each other; by thread if they are equal
PAIRS = (
    (46, 47, NOTHING, NOTHING), (58, 57, NOTHING, NOTHING), (329, 330, keys(1), keys(1)), (338, 339, NOTHING, NOTHING),
    (345, 343, keys(1), keys(1)), (344, 343, keys(1), keys(1)), (404, 405, texts(1), texts(1)), (412, 413, keys(2), keys(1)),
    (414, 416, keys(1, 3), keys(1, 3)), (415, 416, keys(1, 3), keys(1, 3)), (417, 418, NOTHING, NOTHING), (432, 431, keys(4, 5), keys(2, 3)),
    (437, 438, NOTHING, NOTHING), (441, 442, keys(7, 5, 6), keys(7, 5, 6)), (443, 444, NOTHING, NOTHING), (445, 446, NOTHING, NOTHING),
    (447, 448, NOTHING, NOTHING), (449, 450, NOTHING, NOTHING), (451, 452, NOTHING, NOTHING), (455, 456, NOTHING, NOTHING),
    (460, 461, NOTHING, NOTHING), (465, 466, NOTHING, NOTHING), (465, 576, NOTHING, NOTHING), (468, 469, keys(5, 7), keys(5, 7)),
    (504, 505, texts(1), texts(1)), (546, 547, keys(1), keys(1)), (594, 592, keys(5, 6), keys(1, 2)), (607, 608, NOTHING, NOTHING))
ON_CPU = ((24, 25), (36, 37), (365, 366), (553, 554), (559, 560))
# one number for both events: contents of two begin events, contents of two end events
SWITCHED = (
    (113, [t + field(2, 3) + field(3, 1) for t in texts(1)], [t + field(2, 3) for t in texts(1)]),
    (335, [k + field(2, 4096) for k in keys(1)], [k + field(2, -4096 & (1 << 64) - 1) for k in keys(1)]),
    (351, [k + field(2, 4096) for k in keys(1)], [k + field(2, -4096 & (1 << 64) - 1) for k in keys(1)]),
    (406, keys(7), [k + field(10, 1) for k in keys(7)]))
LATEST = ((12, keys(3)), (14, texts(1)), (16, texts(1)), (313, keys(4, 3, 1)), (332, keys(1)), (340, keys(1, 2)), (341, texts(4)), (342, texts(2)),
          (362, keys(8)), (489, texts(1)), (509, keys(2)), (579, NOTHING))


def pairs():
    both = [(first, last, *contents) for first, last, *contents in PAIRS] + [(n, n, *contents) for n, *contents in SWITCHED]
    for first, last, begins, ends in both:
        what = f'{first} and {last}'
        threads = (42, 43) if begins[0] == begins[1] else (42, 42)
        events = [(1, threads[0], first, begins[0]), (2, threads[0], last, ends[0]), (3, threads[0], first, begins[0]),
                  (4, threads[1], first, begins[1]), (5, threads[1], last, ends[1]), (12, threads[0], last, ends[0]),
                  (14, threads[1], first, begins[1]), (25, threads[1], last, ends[1])]
        found = events_left(what, events, 10, 20)
        check(f'{what}: the open span keeps its begin', found == [3, 12, 14], found)
    for first, last in ON_CPU:
        found = events_left(f'{first} and {last}', [(1, 42, first, b''), (2, 43, last, b''), (3, 42, first, b''), (12, 43, last, b'')], 10, 20)
        check(f'{first} and {last}: the open span of the CPU keeps its begin', found == [3, 12], found)
    nested = [(1, 42, 437, b''), (2, 42, 437, b''), (3, 42, 437, b''), (4, 42, 438, b''), (12, 42, 438, b''), (13, 42, 438, b'')]
    check('nested functions keep their begins', events_left('nested', nested, 10, 20) == [1, 2, 12, 13])
    freeze = field(1, 'timekeeping_freeze')
    frozen = [(1, 1, 113, freeze + field(2, 1) + field(3, 1)), (2, 1, 113, freeze + field(2, 2)), (11, 1, 113, freeze + field(3, 1))]
    check('the CPU does not identify timekeeping_freeze', events_left('freeze', frozen, 10, 20) == [11])
    idle = [(1, 0, 437, b''), (2, 0, 438, b''), (12, 0, 438, b'')]
    check('functions of idle threads', events_left('idle', idle, 10, 20) == [12])


def latest():
    for number, (a, b) in LATEST:
        threads = (42, 43) if a == b else (42, 42)
        events = [(1, threads[0], number, a), (2, threads[1], number, b), (3, threads[0], number, a), (12, threads[0], number, a), (30, threads[0], number, a)]
        found = events_left(f'{number}', events, 10, 20)
        check(f'{number}: the last event of each key stays', found == [2, 3, 12], found)
    for events, want in (([(1, 1, 14, field(1, 'a')), (2, 1, 15, field(1, 'a'))], [2]), ([(1, 1, 601, b''), (2, 1, 601, b'')], [2]),
                         ([(1, 1, 407, b''), (2, 1, 407, b'')], [2]), ([(1, 1, 548, b''), (2, 1, 548, b'')], [2])):
        found = events_left('state', events, 10, 20)
        check(f'{events[0][2]}: the last state stays', found == want, found)


# ---- packets ----

def times_left(packets, number):
    return [ms_of(get(p, 8)) for p in packets if get(p, number) is not None]


def frames():
    for kind in (1, 2, 3, 4):
        steps = ((1, kind, 5), (2, 5, 5), (3, kind, 6), (4, kind, 7), (12, 5, 6), (13, kind, 8), (25, 5, 8), (26, 5, 7))
        data = b''.join(packet(field(FRAMES, field(k, field(1, cookie))), ms) for ms, k, cookie in steps)
        found = times_left(cut(f'frame {kind}', data, 10, 20), FRAMES)
        check(f'frame {kind}: open frames keep their starts', found == [3, 4, 12, 13], found)
    dequeue, queue, acquire, latch, present = 1, 2, 4, 5, 8
    steps = [(1, dequeue, 1), (2, queue, 1), (3, present, 1), (4, dequeue, 1), (5, present, 2), (6, queue, 1), (12, acquire, 1), (13, latch, 1)]
    data = b''.join(packet(field(GRAPHICS, field(1, field(2, kind) + field(3, 'layer') + field(5, buffer))), ms) for ms, kind, buffer in steps)
    found = times_left(cut('buffers', data, 10, 20), GRAPHICS)
    check('buffers: states since the last dequeue, and what is shown', found == [4, 5, 6, 12, 13], found)


def gpu():
    def sample(ms, ids, sequence=7, more=b''):
        return packet(field(GPU, more + b''.join(field(2, field(1, i) + field(2, ms)) for i in ids)), ms, sequence)
    described = field(1, field(1, field(1, 1) + field(2, 'busy')))
    data = packet(field(GPU, described), 0) + b''.join(sample(ms, (1,)) for ms in (1, 5, 11, 15, 24, 28))
    found = times_left(cut('gpu', data, 10, 20), GPU)
    check('gpu: the sample before the range and the one after it stay', found == [0, 5, 11, 15, 24], found)
    data = sample(1, (1, 2)) + sample(12, (1, 2)) + sample(22, (2,)) + sample(23, (3,)) + sample(24, (1, 2)) + sample(26, (1,)) + sample(27, (3,))
    found = times_left(cut('gpu counters', data, 10, 20), GPU)
    check('gpu: one sample after the range for each counter', found == [1, 12, 22, 24], found)
    interned = [field(4, iid) for iid in (1, 2)]
    data = b''.join(sample(ms, (1,), more=interned[i]) for ms, i in ((1, 0), (2, 1), (12, 0), (22, 1), (23, 1), (24, 0)))
    found = times_left(cut('gpu interned', data, 10, 20), GPU)
    check('gpu: ids of interned descriptions are apart', found == [1, 2, 12, 22, 24], found)


def unpacked(data):
    out, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        out.append(value)
    return out


def lists():
    atoms = b''.join(field(1, field(10, ms)) for ms in (5, 12, 15, 22)) + b''.join(field(2, START + ms * MS) for ms in (5, 12, 15, 22))
    for ms, want in ((3, [12, 15]), (30, [12, 15])):
        left = contents(cut('statsd', packet(field(STATSD, atoms), ms), 10, 20), STATSD)
        found = [([get(parse(v), 10) for n, v in parse(a) if n == 1], [ms_of(v) for n, v in parse(a) if n == 2]) for a in left]
        check(f'statsd at {ms} ms: atoms in the range stay', found == [(want, want)], found)
    check('statsd: out of the range', not contents(cut('statsd', packet(field(STATSD, atoms), 15), 30, 40), STATSD))
    late = field(1, field(10, 1)) + field(2, START + 5 * MS) + field(1, field(10, 2))
    found = contents(cut('statsd', packet(field(STATSD, late), 15), 10, 20), STATSD)
    check('statsd: an atom without a time has the time of the packet', found == [field(1, field(10, 2))], found)

    def packed(values):
        return b''.join(map(extensions.varint, values))
    offsets = (1, 8, 12, 30)
    bundle = field(1, 5) + field(3, packed(ms * MS for ms in offsets)) + field(4, packed((100, 800, 1200, 3000)))
    left = [parse(b) for b in contents(cut('network', packet(field(NETWORK, bundle), 5), 10, 20), NETWORK)]
    found = [(get(b, 1), [v // MS for v in unpacked(get(b, 3))], unpacked(get(b, 4))) for b in left]
    check('network: packets in the range stay', found == [(5, [8, 12], [800, 1200])], found)
    total = field(1, 5) + field(5, 3) + field(6, 8 * MS) + field(7, 999)
    for ms, stays in ((1, False), (4, True), (12, True), (22, False)):
        found = contents(cut('network', packet(field(NETWORK, total), ms), 10, 20), NETWORK)
        check(f'network: totals from {ms} ms to {ms + 8} ms', found == [total] * stays, found)


pairs()
latest()
frames()
gpu()
lists()
sys.exit(finish())
