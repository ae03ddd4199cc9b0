"""Random Perfetto traces of nested tracks with every property of a descriptor, and annotations of every type; and the meaning of
a trace: its tracks by path with their properties, and the events of each."""
import collections
import random
import struct

from extensions import field, fixed
from protobuf import parse

PACKET, EVENT, DESCRIPTOR, INTERNED, DEFAULTS = 1, 11, 60, 12, 59
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
NAMES = ('Main', 'queue', 'a b', 'wörk', 'q/r', 'x [2]', 'io')
KEYS = ('k', 'size', 'a.b', 'list[0]', 'ключ', 'e')
OURS = 1990  # number of our private fields
LOCATION = field(33, field(2, b'a.cc') + field(3, b'Run()') + field(4, 12))  # source_location of an event


# ---- making traces ----

def annotation(rng, name, level=0):
    head = b'' if name is None else field(10, name.encode())
    kind = rng.randrange(9 if level < 3 else 6)
    if kind == 0:
        return head + field(2, rng.randrange(2))
    if kind == 1:
        return head + field(3, rng.choice((0, 7, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1)))
    if kind == 2:
        return head + field(4, rng.choice((0, -1, 2**63 - 1, -2**63, 12345)))
    if kind == 3:
        return head + fixed(5, 'd', rng.choice((0.0, 1.0, -2.5, 1e300, 0.1, 3e-9, 4e18)))
    if kind == 4:
        return head + field(6, rng.choice(('text', '', '12', 'a"b\\c\n', 'ü', '{"x":1}')).encode())
    if kind == 5:
        return head + field(7, rng.choice((0, 0xdeadbeef, 2**64 - 1)))
    if kind == 6:
        return head + b''.join(field(12, annotation(rng, None, level + 1)) for _ in range(rng.randrange(1, 4)))
    keys = rng.sample(KEYS, rng.randrange(1, 4))
    return head + b''.join(field(11, annotation(rng, key, level + 1)) for key in keys)


def counter_fields(rng):
    out = b''
    if rng.random() < .3:
        out += field(3, rng.randrange(1, 4))
    elif rng.random() < .5:
        out += field(6, rng.choice(('MHz', 'bytes', 'W per m²')).encode())
    if rng.random() < .3:
        out += field(4, rng.choice((1000, 1024, 4)))
    if rng.random() < .3:
        out += field(5, 1)
    if rng.random() < .2:
        out += field(7, b'share')
    if rng.random() < .2:
        out += b''.join(field(2, category) for category in (b'gpu', b'power')[:rng.randrange(1, 3)])
    return out


def some(rng, *fields):
    return b''.join(f for f in fields if rng.random() < .15)


def merging(rng):
    """Returns the fields that state how a track is merged with its siblings: sibling_merge_behavior, and the key as text or
    number."""
    if rng.random() < .6:
        return b''
    behavior = rng.randrange(4)
    return field(15, behavior) + (rng.choice((field(16, b'key'), field(17, 77))) if behavior == 3 else b'')


def named_as(rng):
    """Returns the name of a track in one of the three fields for names: name, static_name, atrace_name."""
    return field(rng.choice((2, 2, 2, 10, 13)), rng.choice(NAMES).encode())


class Maker:
    """Makes a trace. `first`: pid of its first process."""

    def __init__(self, seed, first=1):
        self.rng, self.first = random.Random(seed), first
        self.uuid = self.rng.randrange(1, 1 << 40)
        self.out = b''

    def packet(self, *fields):
        self.out += field(PACKET, b''.join(fields) + field(10, 1))

    def describe(self, *fields, parent=0):
        self.uuid += self.rng.randrange(1, 9)
        rng, more = self.rng, b''
        if rng.random() < .3:
            more += field(11, rng.randrange(1, 4))
        if rng.random() < .3:
            more += field(12, rng.choice((0, 3, -7, 2**31 - 1)))
        if rng.random() < .2:
            more += field(14, b'what it shows')
        self.packet(field(DESCRIPTOR, field(1, self.uuid) + (field(5, parent) if parent else b'') + b''.join(fields) + more))
        return self.uuid

    def process(self, pid):
        rng = self.rng
        more = field(4, rng.randrange(1, 5)) if rng.random() < .3 else b''  # chrome_process_type of ProcessDescriptor
        more += some(rng, field(2, b'/bin/tool') + field(2, b'--flag'), field(3, -5), field(5, 3), field(7, 900), field(8, b'label') + field(8, b'b'))
        chrome = some(rng, field(6, field(1, 2) + field(2, 4) + field(3, 7) + field(4, b'app') + field(5, 99)), field(9, 1))
        return self.describe(field(3, field(1, pid) + field(6, b'process %d' % pid) + more), chrome)

    def thread(self, parent, pid, tid):
        rng = self.rng
        more = field(4, rng.randrange(1, 5)) if rng.random() < .3 else b''
        more += some(rng, field(3, -2))
        chrome = some(rng, field(7, field(1, 3) + field(2, 4)), field(9, 1))
        return self.describe(field(4, field(1, pid) + field(2, tid) + field(5, b'thread %d' % tid) + more), chrome, parent=parent)

    def named(self, parent):
        return self.describe(named_as(self.rng), merging(self.rng), parent=parent)

    def counter(self, parent):
        fields = counter_fields(self.rng)
        return self.describe(field(2, self.rng.choice(('mem', 'power', 'rate')).encode()), field(8, fields), parent=parent), fields

    def event(self, ts, kind, track, *fields):
        self.packet(field(8, ts), field(EVENT, field(9, kind) + field(11, track) + b''.join(fields)))

    def slices(self, track, ts):
        for _ in range(self.rng.randrange(3)):
            ts += self.rng.randrange(1, 1000)
            args = b''.join(field(4, annotation(self.rng, key)) for key in self.rng.sample(KEYS, self.rng.randrange(3)))
            name = field(23, self.rng.choice(NAMES).encode()) + some(self.rng, LOCATION, field(34, 3), field(52, 7))
            if self.rng.random() < .3:
                self.event(ts, INSTANT, track, name, args)
                continue
            self.event(ts, BEGIN, track, name, args)
            ts += self.rng.randrange(1, 1000)
            self.event(ts, END, track)
        return ts

    def samples(self, track, ts):
        for _ in range(self.rng.randrange(1, 3)):
            ts += self.rng.randrange(1, 1000)
            self.event(ts, COUNTER, track, field(30, self.rng.randrange(-5, 1000)))

    def trace(self):
        rng = self.rng
        self.packet(field(13, 1), field(INTERNED, field(4, field(1, 3) + field(2, b'interned.cc'))))
        parents = [0]
        for pid in range(self.first, self.first + rng.randrange(1, 3)):
            process = self.process(pid)
            parents.append(process)
            parents += [self.thread(process, pid, pid * 100 + i) for i in range(rng.randrange(3))]
        slices = parents[1:]
        for _ in range(rng.randrange(5)):
            parents.append(self.named(rng.choice(parents)))
            slices.append(parents[-1])
        counters = [self.counter(rng.choice(parents))[0] for _ in range(rng.randrange(3))]
        for track in slices:
            self.slices(track, 1000)
        for track in counters:
            self.samples(track, 1000)
        return self.out


def trace(seed, first=1):
    return Maker(seed, first).trace()


# ---- reading traces ----

def get(fields, n, otherwise=None):
    return next((value for k, value in reversed(fields) if k == n), otherwise)


def signed(v):
    return v - (1 << 64) if v >> 63 else v


class Sequence:
    """State of a sequence of packets: interned data, default track, and time on its clock."""

    def __init__(self):
        self.interned, self.default, self.now = {}, 0, 0

    def follow(self, fields):
        if get(fields, 13, 0) & 1:
            self.interned, self.now = {}, 0
        for n, value in fields:
            if n == INTERNED:
                for kind, entry in parse(value):
                    entry = parse(entry)
                    self.interned.setdefault((kind, get(entry, 1)), get(entry, 2))
            elif n == DEFAULTS:
                event = get(parse(value), 11)
                self.default = get(parse(event), 11) if event else 0
            elif n == 6:
                self.now = 0


class Reader:
    """Collects the tracks and events of a trace. Values are absolute and in the unit of the track."""

    def __init__(self, data):
        self.tracks, self.events, self.sequences = {}, [], collections.defaultdict(Sequence)
        for _, packet in (f for f in parse(data) if f[0] == PACKET):
            self.packet(parse(packet))

    def packet(self, fields):
        self.sequence = sequence = self.sequences[get(fields, 10, 0)]
        sequence.follow(fields)
        for descriptor in (parse(value) for n, value in fields if n == DESCRIPTOR):
            self.tracks.setdefault(get(descriptor, 1, 0), descriptor)
        event = get(fields, EVENT)
        if event is None:
            return
        ts = get(fields, 8, 0)
        if sequence.default and get(fields, 58) is None:
            sequence.now = ts = (sequence.now + ts) % (1 << 64)
        self.event(ts, parse(event))

    def event(self, ts, fields):
        interned = self.sequence.interned
        name = get(fields, 23)
        if name is None:
            name = interned.get((2, get(fields, 10)))
        args = [self.annotation(value, True) for n, value in fields if n == 4]
        args += [(None, n, interned[4, value] if n == 34 else value) for n, value in fields if n in (33, 34, 52)]
        value = signed(get(fields, 30, 0)) if get(fields, 44) is None else struct.unpack('<d', get(fields, 44))[0]
        kind = get(fields, 9)
        self.events.append((get(fields, 11, self.sequence.default), ts, kind, name if kind != END else None, tuple(sorted(args, key=repr)),
                            value if kind == COUNTER else None))

    def annotation(self, data, named):
        fields = parse(data)
        name = get(fields, 10, self.sequence.interned.get((3, get(fields, 1)))) if named else None
        for n, value in fields:
            if n in (2, 3, 7):
                return name, n, value
            if n == 4:
                return name, n, signed(value)
            if n == 5:
                return name, n, struct.unpack('<d', value)[0]
            if n == 6:
                return name, 6, value
            if n == 17:
                return name, 6, self.sequence.interned[29, value]
            if n == 9:
                return name, 9, value
        if any(n == 11 for n, _ in fields):
            return name, 11, tuple(self.annotation(value, True) for n, value in fields if n == 11)
        if any(n == 12 for n, _ in fields):
            return name, 12, tuple(self.annotation(value, False) for n, value in fields if n == 12)
        return name, 0, None

    # ---- meaning ----

    def path(self, uuid):
        out = []
        while uuid and uuid in self.tracks:
            descriptor = self.tracks[uuid]
            process, thread = get(descriptor, 3), get(descriptor, 4)
            if process is not None:
                out.append(('process', get(parse(process), 1, 0)))
                break
            if thread is not None:
                out.append(('thread', get(parse(thread), 1, 0), get(parse(thread), 2, 0)))
                break
            name = next((get(descriptor, n) for n in (2, 10, 13) if get(descriptor, n) is not None), None)
            out.append(('counter' if get(descriptor, 8) is not None else 'named', name))
            uuid = get(descriptor, 5, 0)
        return tuple(out)

    def properties(self, uuid):
        out = []
        for n, value in self.tracks.get(uuid, []):
            if n in (3, 4, 8):
                out += [(n, k, v) for k, v in parse(value) if not (n == 8 and k in (4, 5))]
            elif n not in (1, 5, OURS):
                out.append((n, value))
        return tuple(sorted(out))

    def meaning(self):
        events = collections.defaultdict(list)
        sums = collections.Counter()
        for track, ts, kind, name, args, value in self.events:
            if kind == COUNTER:
                counter = parse(get(self.tracks.get(track, []), 8, b''))
                value = (value + (sums[track] if get(counter, 5) else 0))
                sums[track] = value
                value *= get(counter, 4, 1)
            events[track].append((ts, kind, name, args, value))
        return collections.Counter((self.path(u), self.properties(u), tuple(sorted(events[u], key=repr)))
                                   for u in {*self.tracks, *events} if u)


def meaning(data):
    return Reader(data).meaning()


def first_difference(a, b):
    gone, new = a - b, b - a
    return f'gone {next(iter(gone), None)}; new {next(iter(new), None)}'
