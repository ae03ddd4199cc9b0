#!/usr/bin/env python3
"""Checks that conversions, cuts, moves and merges keep what only Chrome writes to Perfetto traces:

    thread times      CPU time and instructions of the thread, in the packets of the begin and end events, from incremental counters
    legacy events     phases that the graph does not represent, on the thread of their sequence, with counter samples in their packets
    local clocks      snapshots that relate clocks of one sequence to clocks of all sequences
    described events  a file that describes TrackEvent itself, whose field `name` is also a name of args
    messages          annotations whose value is a message of another type

Packets are built and examined here, without the library's own reader."""
import collections
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from extensions import MESSAGE, STRING, described, field, varint  # noqa: E402
from protobuf import parse  # noqa: E402
from verdict import check, finish  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']
LONG = bool(os.environ.get('LONG'))
BOOT, MONO, LOCAL = 6, 3, 64
PID, TIDS = 900, (901, 902)
START, MONO_BEHIND = 5_000_000_000, 1_234_567
THREAD, COUNTER, TICKS, TRACK = 100, 200, 300, 400  # uuids of the first thread and its counters; the other thread has the next ones
work = tempfile.TemporaryDirectory()


def path(name):
    return os.path.join(work.name, name)


def tracekit(*args):
    done = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, capture_output=True)
    check(f'{args[0]} works', done.returncode == 0, done.stderr.decode()[-300:])
    return done.stdout.decode()


def get(fields, number, otherwise=None):
    return next((value for n, value in fields if n == number), otherwise)


def every(fields, number):
    return [value for n, value in fields if n == number]


def signed(value):
    return value - (1 << 64) if value >= 1 << 63 else value


# ---- a trace ----

class Maker:
    """Makes a trace with one sequence per thread. Clock and counters are incremental: relative to the previous packet or sample."""

    def __init__(self, seed, ticks=True):
        self.rng, self.ticks, self.out = random.Random(seed), ticks, []
        self.samples = collections.defaultdict(list)  # counter: [(ns, value)]
        self.slices = []  # (name, begin, end, time of the thread there) in ns
        self.raw = []     # (ns, tid, phase)

    def packet(self, content, sequence, flags=2):
        self.out.append(field(1, content + field(10, sequence) + field(13, flags)))

    def head(self, i):
        clocks = field(1, field(1, BOOT) + field(2, START)) + field(1, field(1, MONO) + field(2, START - MONO_BEHIND))
        clocks += field(1, field(1, LOCAL) + field(2, START // 1000) + field(3, 1) + field(4, 1000))
        extra = field(31, COUNTER + i) + (field(31, TICKS + i) if self.ticks else b'')
        self.packet(field(6, clocks) + field(59, field(58, LOCAL) + field(11, field(11, THREAD + i) + extra)), i + 1, 1)
        self.packet(field(60, field(1, THREAD + i) + field(4, field(1, PID) + field(2, TIDS[i]))), i + 1)
        self.packet(field(60, field(1, COUNTER + i) + field(5, THREAD + i) + field(8, field(1, 1) + field(4, 1000) + field(5, 1))), i + 1)
        if self.ticks:
            self.packet(field(60, field(1, TICKS + i) + field(5, THREAD + i) + field(8, field(1, 2) + field(5, 1))), i + 1)

    def event(self, i, content, counted=True):
        """Adds an event after a random time. Returns (ns, time of the thread)."""
        step = self.rng.choice((0, 0, 1, 2, 5))
        self.now[i] += step * 1000
        if counted:
            used, ticks = self.rng.randrange(step + 1), self.rng.randrange(50)
            self.used[i] += used * 1000
            self.count[i] += ticks
            self.samples[COUNTER + i].append((self.now[i], self.used[i]))
            content += field(12, used)
            if self.ticks:
                self.samples[TICKS + i].append((self.now[i], self.count[i]))
                content += field(12, ticks)
        self.packet(field(8, step) + field(11, content), i + 1)
        return self.now[i], self.used[i] if counted else None

    def end(self, stack, ns, used):
        name, begin, first = stack.pop()
        self.slices.append((name, begin, ns, first, used))

    def thread(self, i):
        rng, stack = self.rng, []
        for n in range(60):
            kind = rng.random()
            if kind < .4 or not stack and kind < .8:
                name = f'slice {i} {n}'
                args = field(4, field(10, b'name') + field(6, b'arg'))
                stack.append((name, *self.event(i, field(9, 1) + field(23, name.encode()) + args, rng.random() < .9)))
            elif kind < .8:
                self.end(stack, *self.event(i, field(9, 2), rng.random() < .9))
            elif kind < .9:
                self.event(i, field(9, 3) + field(23, b'instant'))
            else:
                phase = rng.choice('(OD')
                at, _ = self.event(i, field(11, 0) + field(6, field(2, ord(phase)) + field(6, 7)), rng.random() < .7)
                self.raw.append((at, TIDS[i], phase))
        while stack:
            self.end(stack, *self.event(i, field(9, 2)))

    def trace(self):
        names = ((b'name', 23, STRING), (b'type', 9, 5), (b'source_location', 33, MESSAGE))
        event = field(1, b'TrackEvent') + b''.join(field(2, described(name, number, kind, b'.perfetto.protos.SourceLocation' if kind == MESSAGE else b''))
                                                   for name, number, kind in names)
        self.packet(field(72, field(1, field(1, field(1, b'e.proto') + field(2, b'perfetto.protos') + field(4, event)))), 9, 0)
        self.now, self.used, self.count = [START, START], [0, 0], [0, 0]
        for i in range(2):
            self.head(i)
        for i in range(2):
            self.thread(i)
        self.out.append(field(1, field(9, b'') + field(8, START - MONO_BEHIND + 2000) + field(58, MONO) + field(10, 8)))
        return b''.join(self.out)


# ---- what a file contains ----

class Read:
    """Reads the events of a file with simple clocks, such as the input or our output."""

    def __init__(self, name):
        with open(path(name), 'rb') as f:
            packets = [parse(p) for n, p in parse(f.read()) if n == 1]
        self.counters, self.threads, self.parents = {}, {}, {}
        self.samples, self.slices, self.raw = collections.defaultdict(list), [], []
        self.sequences = collections.defaultdict(dict)
        self.snapshots = [{get(parse(c), 1): get(parse(c), 2) for c in every(parse(s), 1)} for p in packets for s in every(p, 6)]
        self.timed = [(get(p, 58), get(p, 8)) for p in packets if get(p, 9) is not None]
        for p in packets:
            self.read_packet(p, get(p, 10, 0), get(p, 13, 0))

    def describe(self, d):
        d = parse(d)
        uuid, thread, counter = get(d, 1), get(d, 4), get(d, 8)
        if thread is not None:
            self.threads[uuid] = get(parse(thread), 2)
        if counter is not None:
            c = parse(counter)
            self.counters[uuid] = (get(c, 1, 0), get(c, 4, 1), get(c, 5, 0), get(d, 5))

    def read_packet(self, p, sequence, flags):
        q = self.sequences[sequence]
        if flags & 1:
            q.clear()
        for d in every(p, 60):
            self.describe(d)
        for s in every(p, 6):
            for c in map(parse, every(parse(s), 1)):
                if get(c, 1) == LOCAL:
                    q['clock'], q['unit'] = get(c, 2) * get(c, 4, 1), get(c, 4, 1)
        if get(p, 59):
            of_event = parse(get(parse(get(p, 59)), 11, b''))
            q['track'], q['extra'], q['default'] = get(of_event, 11), every(of_event, 31), get(parse(get(p, 59)), 58)
        for d in every(p, 12):
            for kind, text in parse(d):
                q[kind, get(parse(text), 1)] = get(parse(text), 2)
        if get(p, 11) is not None:
            self.read_event(p, q, parse(get(p, 11)))

    def time_of(self, p, q):
        if get(p, 58, q.get('default')) != LOCAL:
            return get(p, 8)
        q['clock'] = (q['clock'] + get(p, 8, 0) * q['unit']) % (1 << 64)
        return q['clock']

    def sample(self, q, uuid, ns, value):
        kind, unit, is_incremental, parent = self.counters[uuid]
        value = signed(value)
        if is_incremental:
            value = q['sum', uuid] = q.get(('sum', uuid), 0) + value
        self.samples[self.threads[parent], kind].append((ns, value * unit))
        return kind, value * unit

    def read_event(self, p, q, e):
        ns, extra, used = self.time_of(p, q), every(e, 31) or q.get('extra', []), {}
        values = every(e, 12)
        check('as many counters as values', len(values) <= len(extra), f'{len(values)} values, {len(extra)} counters')
        check('counters are described before their samples', all(u in self.counters for u in extra[:len(values)]))
        used = dict(self.sample(q, u, ns, v) for u, v in zip(extra, values) if u in self.counters)
        legacy = parse(get(e, 6, b''))
        track = get(e, 11, q.get('track'))
        name = get(e, 23) if get(e, 23) is not None else q.get((2, get(e, 10)), b'')
        if get(e, 9) == 1:
            q.setdefault(('stack', track), []).append((name.decode(), ns, used.get(1), [parse(a) for a in every(e, 4)]))
        elif get(e, 9) == 2:
            begin = q['stack', track].pop()
            self.slices.append((*begin[:3], used.get(1)))
        elif get(e, 9) == 4:
            self.sample(q, track, ns, get(e, 30))
        elif legacy:
            self.raw.append((ns, get(legacy, 19), chr(get(legacy, 2))))


def same(what, got, want):
    got, want = collections.Counter(got), collections.Counter(want)
    check(what, got == want, f'missing {list((want - got).elements())[:3]}, new {list((got - want).elements())[:3]}')


def inside(rows, a, b, at=0):
    return [row for row in rows if a <= row[at] < b]


def compare(label, name, maker, span=(0, 1 << 62), by=0):
    """Compares a file with the trace in a range of the trace's times; `by`: ns by which the trace was moved."""
    read, (a, b) = Read(name), span
    for i, tid in enumerate(TIDS):
        for kind, uuid in ((1, COUNTER + i), (2, TICKS + i)):
            want = [(ns + by, v) for ns, v in inside(maker.samples[uuid], a, b)]
            same(f'{label}: samples of counter {kind}', inside(read.samples[tid, kind], a + by + 1, b + by), want)
    whole = [(name, ns + by, *rest) for name, ns, end, *rest in maker.slices if a <= ns and end < b]
    names = {row[0] for row in whole}
    same(f'{label}: slices and their thread times', [row for row in read.slices if row[0] in names], whole)
    same(f'{label}: legacy events', read.raw, [(ns + by, *rest) for ns, *rest in inside(maker.raw, a, b)])
    shared = [{k: v for k, v in s.items() if k < LOCAL} for s in read.snapshots]
    check(f'{label}: clocks of all sequences stay related', any({BOOT, MONO} <= set(s) for s in shared), f'{shared[:3]}')
    return read


def args_of(label, name):
    """Checks that names and args of events are unchanged if the file describes TrackEvent itself."""
    for line in tracekit('dump', '--jsonl', '-q', path(name)).splitlines():
        event = json.loads(line)
        if event['name'].startswith('slice'):
            check(f'{label}: an arg called name', event['args'].get('name') == 'arg', line[:300])
    check(f'{label}: names of events', sum('"name": "slice ' in line for line in tracekit('dump', '--jsonl', '-q', path(name)).splitlines()) > 20)


def trace(seed):
    maker = Maker(seed, seed % 3 != 2)
    with open(path('in.pftrace'), 'wb') as f:
        f.write(maker.trace())
    source = path('in.pftrace')
    tracekit('convert', '-q', '--force', source, '-o', path('again.pftrace'))
    compare(f'{seed} again', 'again.pftrace', maker)
    args_of(f'{seed} again', 'again.pftrace')
    tracekit('convert', '-q', '--force', path('again.pftrace'), '-o', path('twice.pftrace'))
    compare(f'{seed} twice', 'twice.pftrace', maker)
    tracekit('rebase', '-q', '--force', '--shift', '3ms', source, '-o', path('moved.pftrace'))
    compare(f'{seed} rebase', 'moved.pftrace', maker, by=3_000_000)
    last = max(ns for rows in maker.samples.values() for ns, _ in rows)
    a, b = (START + (last - START) // n // 1000 * 1000 + 500 for n in (4, 2))  # between samples: the last one is repeated at the start
    tracekit('filter', '-q', '--force', '--time', f'{a / 1000:.3f}..{b / 1000:.3f}', source, '-o', path('cut.pftrace'))
    compare(f'{seed} cut', 'cut.pftrace', maker, (a, b))
    parsed = tracekit('sql', '-q', '--jsonl', source, 'select name, thread_ts, thread_dur from slice where name glob "slice*"')
    want = [(name, t, e - t if t is not None and e is not None else None) for name, _, _, t, e in maker.slices]
    rows = map(json.loads, parsed.splitlines())
    same(f'{seed}: thread times of a query', [(r['name'], r['thread_ts'], r['thread_dur']) for r in rows], want)


def merged():
    """Checks that the start of tracing of one input does not apply to the events of another input."""
    maker = Maker(1)
    for name, at in (('a', START), ('b', START + 1_000_000_000)):
        with open(path(f'{name}.pftrace'), 'wb') as f:
            f.write(maker.trace() + field(1, field(69, field(2, 1)) + field(8, at) + field(10, 1)))
        maker = Maker(2)
    tracekit('merge', '-q', '--force', '--align', 'none', path('a.pftrace'), path('b.pftrace'), '-o', path('merged.pftrace'))
    with open(path('merged.pftrace'), 'rb') as f:
        packets = [parse(p) for n, p in parse(f.read()) if n == 1]
    starts = [s for p in packets for s in every(p, 69) if get(parse(s), 2)]
    check('a merge does not state when tracing started', not starts, starts)


def zero_bytes():
    """Checks that JSON in an annotation remains JSON if a string in it has a zero byte: as plain text, importers would cut it there."""
    event = field(9, 3) + field(23, b'e') + field(4, field(10, b'a') + field(9, rb'{"b":["x\u0000y"]}'))
    with open(path('zero.pftrace'), 'wb') as f:
        f.write(field(1, field(8, START) + field(11, event) + field(10, 1) + field(13, 1)))
    tracekit('convert', '-q', '--force', path('zero.pftrace'), '-o', path('zero2.pftrace'))
    with open(path('zero2.pftrace'), 'rb') as f:
        check('a zero byte in JSON', rb'x\u0000y' in f.read())


def values_of(annotation, interned, path=b''):
    """Returns the messages in an annotation: [(path of names, name of the type, bytes)]."""
    a = parse(annotation)
    name = get(a, 10) if get(a, 10) is not None else interned[3, get(a, 1)]
    found = [(path + name, get(a, 16) if get(a, 16) is not None else interned[27, get(a, 13)], v) for v in every(a, 14)]
    return found + [row for inner in every(a, 11) for row in values_of(inner, interned, path + name + b'/')]


def messages():
    """Checks that messages of other types in annotations are kept, with the names of their types and their place in dictionaries."""
    texts = [(3, 1, b'outer'), (3, 2, b'inner'), (27, 5, b'.a.Type')]
    state = field(12, b''.join(field(kind, field(1, iid) + field(2, text)) for kind, iid, text in texts)) + field(10, 1) + field(13, 1)
    deep = field(4, field(1, 1) + field(11, field(1, 2) + field(13, 5) + field(14, b'deep')) + field(11, field(10, b'n') + field(4, 7)))
    event = field(9, 3) + field(23, b'e') + deep + field(4, field(10, b'top') + field(16, b'.b.Type') + field(14, b'value'))
    with open(path('messages.pftrace'), 'wb') as f:
        f.write(field(1, state) + field(1, field(8, START) + field(11, event) + field(10, 1) + field(13, 2)))
    for source, target in (('messages', 'messages2'), ('messages2', 'messages3')):
        tracekit('convert', '-q', '--force', path(f'{source}.pftrace'), '-o', path(f'{target}.pftrace'))
        with open(path(f'{target}.pftrace'), 'rb') as f:
            packets = [parse(p) for n, p in parse(f.read()) if n == 1]
        interned, found = collections.defaultdict(dict), []
        for p in packets:
            for kind, text in (row for d in every(p, 12) for row in parse(d)):
                interned[get(p, 10)][kind, get(parse(text), 1)] = get(parse(text), 2)
            found += [row for e in every(p, 11) for a in every(parse(e), 4) for row in values_of(a, interned[get(p, 10)])]
        want = [(b'outer/inner', b'.a.Type', b'deep'), (b'top', b'.b.Type', b'value')]
        same(f'messages in annotations of {target}', found, want)


def flow_ids():
    """Checks that queries give the same flows of legacy events as Perfetto's engine, which ignores a begin of an id that is in
    use, and a step or end of an id that has not begun."""
    rng, packets, want, opened = random.Random(5), [], [], {}
    track = field(1, field(60, field(1, THREAD) + field(4, field(1, PID) + field(2, TIDS[0]))) + field(10, 1) + field(13, 1))
    for i in range(200):
        flow, direction = rng.randrange(1, 6), rng.randrange(1, 4)
        legacy = field(2, ord('X')) + field(3, 1) + field(8, flow) + field(13, direction)
        event = field(11, THREAD) + field(23, b'e%d' % i) + field(6, legacy)
        packets.append(field(1, field(8, START + i * 10000) + field(11, event) + field(10, 1) + field(13, 2)))
        if flow not in opened:
            opened.update({flow: i} if direction == 2 else {})
        elif direction != 2:
            want.append((f'e{opened[flow]}', f'e{i}'))
            opened[flow] = i if direction == 3 else opened[flow]
    with open(path('flow_ids.pftrace'), 'wb') as f:
        f.write(track + b''.join(packets))
    query = 'select o.name as a, i.name as b from flow f join slice o on o.id = f.slice_out join slice i on i.id = f.slice_in'
    found = [json.loads(row) for row in tracekit('sql', '-q', path('flow_ids.pftrace'), '-e', query, '--jsonl').splitlines()]
    same('flows of legacy events', sorted((row['a'], row['b']) for row in found), sorted(want))


def at_once():
    """Checks that many events with the same time and counter value take linear time: a search through all samples for each event would
    take minutes."""
    n, most = 300000, 60
    rest = field(10, 1) + field(13, 2)
    head = field(1, field(6, field(1, field(1, BOOT) + field(2, START))) + field(10, 1) + field(13, 1))
    head += field(1, field(60, field(1, THREAD) + field(4, field(1, PID) + field(5, TIDS[0]))) + rest)
    head += field(1, field(60, field(1, COUNTER) + field(5, THREAD) + field(8, field(1, 1))) + rest)
    event = field(9, 3) + field(11, THREAD) + field(31, COUNTER) + field(12, 0) + field(23, b'e')
    with open(path('at_once.pftrace'), 'wb') as f:
        f.write(head + field(1, field(8, START) + field(11, event) + rest) * n)
    try:
        done = subprocess.run([TRACEKIT, 'convert', '-q', path('at_once.pftrace'), '-o', path('at_once2.pftrace')], timeout=most, check=False)
        check('many events at one time', done.returncode == 0, done.returncode)
    except subprocess.TimeoutExpired:
        check('many events at one time', False, f'more than {most} s')
    counted = json.loads(tracekit('info', '--json', path('at_once2.pftrace')))['traces'][0]
    same('all are there', (counted['instants'], counted['counter_samples']), (n, n))


def main():
    for seed in range(30 if LONG else 6):
        trace(seed)
    merged()
    zero_bytes()
    messages()
    flow_ids()
    at_once()
    return finish()


if __name__ == '__main__':
    sys.exit(main())
