#!/usr/bin/env python3
"""Checks that the parts of a Perfetto trace (split by time), read one after the other, contain each event and each packet of the trace once:
with convert, for a file of all parts, and with merge --join. Then the scheduler, spans of programs and counters are those of the trace.
Parts that do not follow each other stay as they are.

Inputs are system traces with events of programs, drivers, frames, GPU counters and lists of items, as single events and in columns."""
import collections
import itertools
import json
import os
import random
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import extensions  # noqa: E402
import system_trace as system  # noqa: E402
from protobuf import parse, varint  # noqa: E402
from verdict import check, finish  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']
START, SPAN = system.START, 3_000_000
GPU, FRAMES, STATSD, NETWORK, LAST, UNKNOWN, LOG = 52, 76, 84, 92, 86, 901, 39
OLD_THREAD = 300
KINDS = (7, GPU, FRAMES, LAST, UNKNOWN)
TABLES = ('select s.ts, s.dur, s.name, s.depth, t.name from slice s join track t on t.id = s.track_id order by s.ts, t.name, s.depth',
          'select c.ts, c.value, t.name from counter c join track t on t.id = c.track_id order by c.ts, t.name, c.value',
          'select s.ts, s.dur, s.name, a.key, a.display_value from slice s join args a using (arg_set_id) order by s.ts, s.dur, s.name, a.key',
          "select count(*) from slice where name like 'work%'")
field, packet = system.field, system.packet
work = tempfile.TemporaryDirectory()


def path(name):
    return os.path.join(work.name, name)


def read(name):
    with open(path(name), 'rb') as f:
        return f.read()


def done(what, *args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    check(f'{what}: succeeds', p.returncode == 0, p.stderr.decode())
    return p.stdout


# ---- the trace ----

def packed(values):
    return b''.join(map(extensions.varint, values))


def texts(rng):
    """Returns events of two threads of programs, and of drivers."""
    out, depth = [], {101: 0, 201: 0}
    for ns in sorted(rng.sample(range(START, START + SPAN), 80)):
        tid = rng.choice((101, 201))
        pid, kind = system.PROCESS_OF[tid], rng.random()
        if kind < .3:
            depth[tid] += 1
            out.append(system.printed(ns, tid, f'B|{pid}|span {ns}'))
        elif kind < .55 and depth[tid]:
            depth[tid] -= 1
            out.append(system.printed(ns, tid, f'E|{pid}'))
        elif kind < .75:
            out.append(system.printed(ns, tid, f'C|{pid}|level|{rng.randrange(9)}'))
        else:
            number = rng.choice((404, 405))
            out.append((ns, field(2, field(1, ns) + field(2, tid) + field(number, field(1, 'lock')))))
    return out


def others(rng):
    """Returns packets with samples, states and lists."""
    out = [packet(field(GPU, field(1, field(1, field(1, 1) + field(2, 'busy')))), ns=START), packet(field(UNKNOWN, 'untimed'))]
    for ns in sorted(rng.sample(range(START, START + SPAN), 40)):
        times = [ns + rng.randrange(SPAN // 4) for _ in range(rng.randrange(1, 4))]
        contents = {7: field(2, field(1, 1) + field(2, ns % 999)), GPU: field(2, field(1, 1) + field(2, ns % 999)),
                    FRAMES: field(rng.choice((1, 5)), field(1, rng.randrange(3))), LAST: field(1, field(1, 'a') + field(2, str(ns))),
                    UNKNOWN: field(1, ns), STATSD: b''.join(field(1, field(47, field(2, t % 9))) + field(2, t) for t in times),
                    NETWORK: field(3, packed(t - ns for t in times)) + field(4, packed(t % 999 for t in times))}
        number = rng.choice(sorted(contents))
        out.append(packet(field(number, contents[number]), ns=ns, sequence=6))
    return out


def track_events(rng):
    """Returns nested spans of two threads, and samples of two counters, as track events."""
    tracks = {70: 102, 71: 201}
    head = [field(60, field(1, uuid) + field(2, f'track {uuid}') + field(4, field(1, system.PROCESS_OF[tid]) + field(2, tid))) for uuid, tid in tracks.items()]
    head += [field(60, field(1, uuid) + field(2, f'counter {uuid}') + field(8, b'')) for uuid in (80, 81)]
    out, depth = [packet(h, sequence=9, flags=1 if i == 0 else 0) for i, h in enumerate(head)], dict.fromkeys(tracks, 0)
    for ns in sorted(rng.sample(range(START + 1, START + SPAN, 1000), 120)):
        uuid, kind = rng.choice(sorted(tracks)), rng.random()
        if kind < .3:
            event = field(9, 4) + field(11, uuid + 10) + field(30, rng.randrange(3))
        elif kind < .65 and depth[uuid]:
            depth[uuid] -= 1
            event = field(9, 2) + field(11, uuid)
        elif kind < .97:
            depth[uuid] += 1
            arg = field(4, field(10, 'n') + field(4, ns % 7))
            event = field(9, 1) + field(11, uuid) + field(23, f'work {depth[uuid]}') + (arg if rng.random() < .5 else b'')
        else:
            event = field(9, 3) + field(11, uuid) + field(23, 'now')
        out.append(packet(field(11, event), ns=ns, sequence=9))
    ends = [packet(field(11, field(9, 2) + field(11, uuid)), ns=START + SPAN, sequence=9) for uuid in tracks for _ in range(depth[uuid])]
    return out + ends


def trace(seed):
    rng = random.Random(seed)
    scheduler = system.Scheduler(rng, steps=90)
    ends = [START] + sorted(rng.sample(range(START, START + SPAN), 4)) + [START + SPAN]
    events = texts(rng)
    bundles = [system.bundle(0, [e for e in events if a <= e[0] < b]) for a, b in zip(ends, ends[1:])]
    packets = scheduler.packets(seed % 2 == 1)
    return system.head() + b''.join([packets] if isinstance(packets, bytes) else packets) + b''.join(bundles) + b''.join(others(rng) + track_events(rng))


# ---- the contents ----

def unpacked(data):
    out, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        out.append(value)
    return out


def get(fields, number, otherwise=None):
    return next((value for n, value in fields if n == number), otherwise)


def column_facts(cpu, columns):
    fields = parse(columns)
    names = [v for n, v in fields if n == 5]
    for kind, (time, others_of, name) in {'switch': (1, (2, 3, 4), 6), 'waking': (7, (8, 9, 10), 11)}.items():
        now = 0
        rows = zip(unpacked(get(fields, time, b'')), unpacked(get(fields, name, b'')), *(unpacked(get(fields, n, b'')) for n in others_of))
        for delta, index, *values in rows:
            now += delta
            yield kind, cpu, now, names[index], *values


def list_facts(fields, number):
    content = parse(get(fields, number))
    if number == STATSD:
        yield from zip([number] * 9, [v for n, v in content if n == 1], [v for n, v in content if n == 2])
    else:
        yield from ((number, get(fields, 8) + t, v) for t, v in zip(unpacked(get(content, 3, b'')), unpacked(get(content, 4, b''))))


def facts(data):
    """Counts the events of ftrace, the items of lists, and the packets of other kinds."""
    found = collections.Counter()
    for fields in (parse(v) for n, v in parse(data) if n == 1):
        bundle = parse(get(fields, 1, b''))
        for n, v in bundle:
            if n == 2:
                found[get(bundle, 1, 0), v] += 1
            if n == 4:
                found.update(column_facts(get(bundle, 1, 0), v))
        for number in (STATSD, NETWORK):
            if get(fields, number) is not None:
                found.update(list_facts(fields, number))
        found.update((number, get(fields, 8), get(fields, number)) for number in (*KINDS, 2, 45) if get(fields, number) is not None)
    return found


def difference(a, b):
    return f'missing {sorted((a - b).items(), key=str)[:3]}, more than once {sorted((b - a).items(), key=str)[:3]}'


def rows(name, query):
    return json.loads(done(name, 'sql', '-q', '--json', '--sched', path(name), query))['results'][0]['rows']


# ---- checks ----

def split(n):
    for old in os.listdir(work.name):
        if old.startswith('part'):
            os.remove(path(old))
    done('split', 'split', '-q', path('in.pftrace'), '--by', 'time', '--every', f'{SPAN // n + 1}ns', '-o', path('part{}.pftrace'), '--force')
    return sorted(f for f in os.listdir(work.name) if f.startswith('part'))


def joined(what, parts, name):
    with open(path('all.pftrace'), 'wb') as f:
        f.write(b''.join(map(read, parts)))
    done(f'{what}: convert', 'convert', '-q', '--force', path('all.pftrace'), '-o', path('converted.pftrace'))
    done(f'{what}: merge', 'merge', '-q', '--force', '--join', *map(path, parts), '-o', path(name))


def whole():
    for seed in range(6):
        with open(path('in.pftrace'), 'wb') as f:
            f.write(trace(seed))
        want = facts(read('in.pftrace'))
        for n in (2, 4, 9):
            what = f'seed {seed}, {n} parts'
            parts = split(n)
            check(f'{what}: they repeat events', facts(b''.join(map(read, parts))) != want and len(parts) == n, len(parts))
            joined(what, parts, 'merged.pftrace')
            for name in ('converted.pftrace', 'merged.pftrace'):
                found = facts(read(name))
                check(f'{what}, {name}: everything is there once', found == want, difference(want, found))
            if n == 4:
                for query in TABLES:
                    check(f'{what}: {query}', rows('in.pftrace', query) == rows('merged.pftrace', query))


def apart():
    """Checks that parts with a gap between them, or in the wrong order, are not joined, and that a range of the file of all parts is that of the trace."""
    with open(path('in.pftrace'), 'wb') as f:
        f.write(trace(1))
    parts = split(4)
    for chosen in ((0, 2), (2, 1), (1, 1)):
        joined(f'parts {chosen}', [parts[i] for i in chosen], 'merged.pftrace')
        want = facts(b''.join(read(parts[i]) for i in chosen))
        check(f'parts {chosen}: nothing is removed', facts(read('converted.pftrace')) == want)
    joined('all', parts, 'merged.pftrace')
    for name in ('in', 'all'):
        span = f'{START + SPAN // 3}ns..{START + SPAN * 2 // 3}ns'
        done(f'a range of {name}', 'filter', '-q', '--force', path(f'{name}.pftrace'), '--time', span, '-o', path(f'{name}.cut.pftrace'))
    a, b = (facts(read(f'{name}.cut.pftrace')) for name in ('in', 'all'))
    check('a range of all parts is the range of the trace', a == b, difference(a, b))


def ranges():
    """Checks that a range of the file of all parts has the same bytes whether or not the reader leaves out events early."""
    with tarfile.open(path('all.tar'), 'w') as tar:
        tar.add(path('all.pftrace'), 'trace')
    rng = random.Random(4)
    for _ in range(20):
        a, b = sorted(rng.sample(range(START, START + SPAN), 2))
        for source in ('all.pftrace', 'all.tar'):
            done(f'{a}..{b} of {source}', 'filter', '-q', '-j1', '--force', '--allow-empty', path(source), '--time', f'{a}ns..{b}ns', '-f', 'perfetto', '-o', path(source + '.cut'))
        check(f'the range {a}..{b}', read('all.pftrace.cut') == read('all.tar.cut'))


def times_of_threads():
    """Returns a trace of four threads, the first of which has events in all quarters and the last in one. Their events state the time of
    the thread as deltas (extra_counter_values). A fifth thread is named by a descriptor of its sequence."""
    out = []
    for i in range(4):
        thread, counter = 1 << 40 | i, 1 << 41 | i
        defaults = field(59, field(11, field(11, thread) + field(31, counter)))
        out.append(field(1, defaults + field(10, 20 + i) + field(13, 1)))
        out.append(packet(field(60, field(1, thread) + field(4, field(1, 7) + field(2, 100 + i))), sequence=20 + i))
        out.append(packet(field(60, field(1, counter) + field(5, thread) + field(8, field(1, 1) + field(4, 1000) + field(5, 1))), sequence=20 + i))
        for quarter, at in itertools.product(range(i, 4), range(2, 10)):
            event = field(9, 1 + at % 2) + field(12, at) + (b'' if at % 2 else field(23, f'work {i}'))
            out.append(packet(field(11, event), ns=START + SPAN * quarter // 4 + at * 10_000, sequence=20 + i, flags=2))
    old = [packet(field(44, field(1, 7) + field(2, OLD_THREAD)), sequence=30, flags=1)]
    old += [packet(field(11, field(9, 3) + field(23, 'now')), ns=START + SPAN * i // 4 + 500, sequence=30, flags=2) for i in range(4)]
    return system.head() + b''.join(out + old)


def tracks_of(data):
    """Returns the uuids of tracks in a file, each with the parent, the thread and the name that its descriptor states."""
    out = {}
    for _, content in parse(data):
        for number, descriptor in parse(content):
            fields = dict(parse(descriptor)) if number == 60 else {}
            if fields.get(1):
                out[fields[1]] = tuple(fields.get(n) for n in (5, 4, 2))
    return out


def uuids():
    """Checks that parts do not give one uuid to different tracks, or several uuids to one track: a file of all parts would then lose events
    or times of threads."""
    with open(path('in.pftrace'), 'wb') as f:
        f.write(times_of_threads())
    known, old = {}, collections.Counter()
    parts = split(4)
    for part in parts:
        tracks = tracks_of(read(part))
        check(f'uuids of {part}: a thread and its counter are described', len(tracks) > 1, tracks)
        for uuid, track in tracks.items():
            check(f'uuids of {part}: {uuid}', known.setdefault(uuid, track) == track, (known[uuid], track))
            old[uuid] += bool(track[1]) and dict(parse(track[1])).get(2) == OLD_THREAD
    check('uuids: a thread that no track of the input describes has the same one in all parts', [n > 2 for n in old.values() if n] == [True], old)
    joined('threads', parts, 'merged.pftrace')
    for query in TABLES:
        check(f'threads: {query}', rows('in.pftrace', query) == rows('merged.pftrace', query), rows('merged.pftrace', query)[:3])


def damage():
    """Checks that invalid marks and events do no harm."""
    rng, data = random.Random(5), read('all.pftrace')
    for _ in range(60):
        broken = bytearray(data)
        for _ in range(rng.randrange(1, 20)):
            broken[rng.randrange(len(broken))] = rng.choice((0, 0x7f, 0x80, 0xff, rng.randrange(256)))
        with open(path('broken.pftrace'), 'wb') as f:
            f.write(bytes(broken))
        p = subprocess.run([TRACEKIT, 'convert', '-q', '--force', path('broken.pftrace'), '-o', path('out.pftrace')], stdin=subprocess.DEVNULL, capture_output=True, check=False)
        check('damage: a conversion ends', p.returncode in (0, 3), p.stderr)


whole()
apart()
ranges()
damage()
uuids()
sys.exit(finish())
