"""Random small traces that use every property of events: Chrome JSON, Perfetto's protobuf, XPlane.

Chrome JSON: counters with series and ids, async spans of every scope of ids, instants of every scope, flows by points and by
bind_id, names and order of threads and processes, labels, args of every type and depth, spans without names, empty records,
objects. Perfetto: tracks below tracks, counters with units, multipliers, deltas and descriptions, samples on spans, sequences
with interned data and defaults, typed fields, annotations of every type and depth, flows, correlation ids, older events.
XPlane: metadata ids beyond 32 bits, display names, bytes and children of metadata, stats of every type, two ids of one name,
references, flows, counter lines.

Spans of a thread nest: engines differ on spans that overlap (docs/sql.md)."""
import json
import struct

from xspace import message, number

NAMES = ('a', 'b', 'aten::mm', 'train step', 'c.d', 'ü', 'x[0]')
WORDS = ('one', 'two', 'a b', '', 'ü', 'x.y', '0x1f')
KEYS = ('k', 'stream', 'a b', 'c.d', 'list', 'External id', 'e[0]', 'dict')


class Spans:
    """Draws nested spans as (begin, end, depth), in units of the format."""

    def __init__(self, rng, low=0, high=4000):
        self.rng, self.found = rng, []
        self.fill(low, high, 0)

    def fill(self, low, high, depth):
        at = low
        for _ in range(self.rng.randint(1, 3)):
            if high - at < 8:
                return
            begin = self.rng.randint(at, (at + high) // 2)
            end = self.rng.randint(begin, high)
            self.found.append((begin, end, depth))
            if depth < 3 and self.rng.random() < 0.6:
                self.fill(begin + 1, end - 1, depth + 1)
            at = end + 1


# ---- Chrome JSON ----

def json_value(rng, depth=0):
    kind = rng.randint(0, 12 if depth < 2 else 9)
    if kind == 0:
        return rng.randint(-5, 5)
    if kind == 1:
        return rng.choice((0, -1, 1 << 31, 1 << 40, (1 << 63) - 1, -(1 << 63)))
    if kind == 2:
        return rng.choice((0.5, 1.0, -2.25, 1e30, 0.1, 123456.789))
    if kind == 3:
        return rng.random() < 0.5
    if kind == 4:
        return None if rng.random() < 0.3 else 'null'
    if kind < 10:
        return rng.choice(WORDS)
    if kind == 10:
        return [json_value(rng, depth + 1) for _ in range(rng.randint(0, 3))]
    return {rng.choice(KEYS): json_value(rng, depth + 1) for _ in range(rng.randint(0, 3))}


class Json:
    def __init__(self, rng):
        self.rng, self.events = rng, []
        self.step = rng.choice((1, 0.5, 0.25, 0.001))
        self.shift = rng.choice((0, 0, 1000, 7))

    def ts(self, t):
        v = round(self.shift + t * self.step, 3)
        return int(v) if v == int(v) else v

    def args(self, often=0.6):
        if self.rng.random() > often:
            return {}
        return {'args': {self.rng.choice(KEYS): json_value(self.rng) for _ in range(self.rng.randint(0, 3))}}

    def add(self, ph, t, pid, tid, **more):
        e = {'ph': ph, 'pid': pid, 'ts': self.ts(t)}
        if tid is not None:
            e['tid'] = tid
        if self.rng.random() < 0.8 and 'cat' not in more:
            e['cat'] = self.rng.choice(('c', 'op', 'c,d', ''))
        e.update(more)
        self.events.append(e)
        return e

    def name(self, often=0.95):
        return {'name': self.rng.choice(NAMES)} if self.rng.random() < often else {}

    def thread(self, pid, tid):
        rng = self.rng
        for begin, end, _ in Spans(rng).found:
            if rng.random() < 0.7:
                e = self.add('X', begin, pid, tid, **self.name(), **self.args())
                e['dur'] = round(self.ts(end) - self.ts(begin), 3)
                if rng.random() < 0.15:
                    e.update(bind_id=rng.choice(('0xa1', '0xa2', '0xb000')), **rng.choice(({'flow_in': True}, {'flow_out': True},
                                                                                {'flow_in': True, 'flow_out': True})))
                if rng.random() < 0.1:
                    e.update(tts=self.ts(begin), tdur=e['dur'])
            elif begin < end:
                name = self.name(1)
                cat = self.add('B', begin, pid, tid, **name, **self.args()).get('cat')
                e = self.add('E', end, pid, tid, **(name if rng.random() < 0.5 else {}), **self.args(0.2))
                e.pop('cat', None)
                if cat is not None and rng.random() < 0.5:
                    e['cat'] = cat
        if rng.random() < 0.1:
            self.add('B', 4010, pid, tid, **self.name(1), **self.args())

    def counter(self, pid):
        rng = self.rng
        series = rng.sample(('used', 'free', 'x y', 'value', ''), rng.randint(1, 3))
        more = rng.choice(({}, {}, {'id': '0x5'}, {'id': 3}))
        name = rng.choice(('mem', 'queue depth', 'c'))
        for i in range(rng.randint(1, 3)):
            self.add('C', rng.randint(0, 4000), pid, rng.choice((1, 11, None)), name=name, **more,
                     args={s: rng.choice((i, i + 0.5, -i, 1 << 40)) for s in series})

    def asyncs(self, pid):
        rng = self.rng
        ident = rng.choice(({'id': '0x1'}, {'id': 5}, {'id': 'abc'}, {'id2': {'local': '0x1'}}, {'id2': {'global': '0x2'}}, {'id': '0x1', 'scope': 's'}))
        name, t, cat = rng.choice(NAMES), rng.randint(0, 3000), rng.choice('cd')
        tid = rng.choice((1, 11))
        self.add('b', t, pid, tid, name=name, cat=cat, **ident, **self.args())
        if rng.random() < 0.4:
            inner = rng.choice(NAMES)
            self.add('b', t + 10, pid, tid, name=inner, cat=cat, **ident, **self.args(0.3))
            self.add('e', t + 60, pid, tid, name=inner, cat=cat, **ident)
        if rng.random() < 0.3:
            self.add('n', t + 70, pid, tid, name=name, cat=cat, **ident, **self.args(0.3))
        if rng.random() < 0.95:
            self.add('e', t + rng.randint(100, 900), pid, tid, name=name, cat=cat, **ident, **self.args(0.2))

    def instants(self, pid):
        for _ in range(self.rng.randint(1, 3)):
            scope = self.rng.choice(({'s': 't'}, {'s': 'p'}, {'s': 'g'}, {}))
            self.add(self.rng.choice('iiI'), self.rng.randint(0, 4000), pid, self.rng.choice((1, 11)), **self.name(1), **scope, **self.args())

    def flows(self):
        rng = self.rng
        spans = [e for e in self.events if e.get('ph', '-') == 'X' and e['dur'] > 4 * self.step]
        if len(spans) < 2:
            return
        for i in range(rng.randint(1, 2)):
            ends = sorted(rng.sample(spans, rng.randint(2, min(3, len(spans)))), key=lambda e: e['ts'])
            if len({e['ts'] for e in ends}) < len(ends):
                continue
            for k, e in enumerate(ends):
                ph = 's' if k == 0 else 'f' if k == len(ends) - 1 else 't'
                self.events.append({'ph': ph, 'pid': e['pid'], 'tid': e['tid'], 'ts': e['ts'], 'name': 'flow', 'cat': 'f', 'id': 10 + i, 'bp': 'e'})

    def record(self, name, pid, args, tid=None):
        self.events.append({'ph': 'M', 'name': name, 'pid': pid, **({} if tid is None else {'tid': tid}), 'args': args})

    def metadata(self, pid, tids):
        rng = self.rng
        if rng.random() < 0.7:
            self.record('process_name', pid, {'name': rng.choice(('python', 'GPU 0', 'p q'))})
        if rng.random() < 0.4:
            self.record('process_labels', pid, {'labels': rng.choice(('CPU', 'x,y'))})
        if rng.random() < 0.4:
            self.record('process_sort_index', pid, {'sort_index': rng.randint(-3, 9)})
        for tid in tids:
            if rng.random() < 0.6:
                self.record('thread_name', pid, {'name': rng.choice(('main', 'stream 7', 'thread'))}, tid)
            if rng.random() < 0.3:
                self.record('thread_sort_index', pid, {'sort_index': rng.randint(-3, 9)}, tid)

    def make(self):
        rng = self.rng
        for pid in rng.sample((1, 5, 0, 77), rng.randint(1, 2)):
            tids = rng.sample((1, 11, 5, 300), rng.randint(1, 2))
            if rng.random() < 0.7:
                self.metadata(pid, tids)
            for tid in tids:
                self.thread(pid, tid)
            for part, often in ((self.counter, 0.5), (self.asyncs, 0.4), (self.instants, 0.4)):
                if rng.random() < often:
                    part(pid)
        if rng.random() < 0.5:
            self.flows()
        if rng.random() < 0.1:
            self.events.append({'ph': 'O', 'pid': 1, 'tid': 1, 'ts': self.ts(5), 'id': 1, 'name': 'object', 'args': {'snapshot': {}}})
        self.events.sort(key=lambda e: (e.get('ph', '-') != 'M', e.get('ts', 0)))
        if rng.random() < 0.5:
            return json.dumps(self.events, ensure_ascii=False).encode()
        top = rng.choice(({}, {'displayTimeUnit': 'ms'}, {'otherData': {'a': 1}}, {'baseTimeNanoseconds': 1700000000000000000}))
        return json.dumps({**top, 'traceEvents': self.events}, ensure_ascii=False).encode()


# ---- Perfetto ----

def double(field, value):
    return bytes([field << 3 | 1]) + struct.pack('<d', value)


def fixed(field, value):
    return (bytes([field << 3 | 1]) if field < 16 else bytes([field << 3 & 127 | 1 | 128, field >> 4])) + struct.pack('<Q', value)


def wide_double(field, value):
    return bytes([field << 3 & 127 | 1 | 128, field >> 4]) + struct.pack('<d', value)


class Perfetto:
    def __init__(self, rng):
        self.rng, self.out, self.tracks = rng, [], []
        self.uuid, self.seen = 100, set()
        self.interned = {}

    def packet(self, body, sequence=None):
        self.out.append(message(1, body + (number(10, sequence) if sequence else b'')))

    def next_uuid(self):
        self.uuid += self.rng.choice((1, 1, 1 << 40))
        return self.uuid

    def annotation(self, name, depth=0):
        rng = self.rng
        out = message(10, name.encode()) if name is not None else b''
        kind = rng.randint(0, 9 if depth < 3 else 6)
        if kind == 0:
            return out + number(2, rng.randint(0, 1))
        if kind == 1:
            return out + number(3, rng.choice((0, 7, 1 << 63, (1 << 64) - 1)))
        if kind == 2:
            return out + number(4, rng.choice((0, -7, 1 << 40, -(1 << 63))))
        if kind == 3:
            return out + double(5, rng.choice((0.0, 1.0, -2.5, 1e30, 0.1)))
        if kind in (4, 5):
            return out + message(6, rng.choice(WORDS).encode())
        if kind == 6:
            return out + number(7, rng.choice((0, 0xdead, 1 << 63)))
        if kind == 7:
            return out + b''.join(message(12, self.annotation(None, depth + 1)) for _ in range(rng.randint(0, 3)))
        if kind == 8:
            return out + b''.join(message(11, self.annotation(rng.choice(KEYS), depth + 1)) for _ in range(rng.randint(0, 3)))
        return out + message(9, json.dumps(json_value(rng, 1), ensure_ascii=False).encode())

    def extras(self):
        rng = self.rng
        out = b''
        if rng.random() < 0.5:
            out += b''.join(message(4, self.annotation(k)) for k in rng.sample(KEYS, rng.randint(1, 3)))
        if rng.random() < 0.1:
            out += rng.choice((number(52, rng.choice((5, 1 << 63))), message(53, b'corr')))
        if rng.random() < 0.1:
            out += message(33, message(2, b'file.cc') + message(3, b'f()') + number(4, 12))
        if rng.random() < 0.05:
            out += message(21, number(1, 5) + number(2, 6))
        return out

    def categories(self):
        return b''.join(message(22, c.encode()) for c in self.rng.choice(((), ('c',), ('c', 'd'))))

    def spans(self, uuid, sequence, low=0, high=4000):
        rng = self.rng
        events = []
        for begin, end, depth in Spans(rng, low, high).found:
            name = message(23, rng.choice(NAMES).encode()) if rng.random() < 0.95 else b''
            flows = b''
            if rng.random() < 0.15:
                flows = fixed(rng.choice((47, 47, 48)), rng.choice((1, 2, 1 << 60)))
            events.append((begin, 1, depth, number(9, 1) + name + self.categories() + self.extras() + flows))
            events.append((end, 0, -depth, number(9, 2) + (self.extras() if rng.random() < 0.2 else b'')))
        if rng.random() < 0.1:
            events.append((4010, 1, 0, number(9, 1) + message(23, b'unfinished')))
        for t, _, _, body in self.ordered(events):
            self.timed.append((t, message(11, body + number(11, uuid)), sequence))

    def ordered(self, events):
        """Returns the events by time. The sort is stable, so events of one time keep the order in which they were made: a span without
        length stays a pair of begin and end."""
        return sorted(events, key=lambda e: e[0])

    def instants(self, uuid, sequence):
        for _ in range(self.rng.randint(1, 2)):
            body = number(9, 3) + message(23, self.rng.choice(NAMES).encode()) + self.categories() + self.extras() + number(11, uuid)
            self.timed.append((self.rng.randint(0, 4000), message(11, body), sequence))

    def describe(self, uuid, parent=0, name=None, sequence=1, **more):
        rng = self.rng
        body = number(1, uuid) + (number(5, parent) if parent else b'') + (message(2, name.encode()) if name is not None else b'')
        for field, value in more.get('fields', ()):
            body += message(field, value) if isinstance(value, bytes) else number(field, value)
        if rng.random() < 0.2:
            body += number(11, rng.randint(1, 3))
        if rng.random() < 0.2:
            body += number(12, rng.randint(-3, 5))
        if rng.random() < 0.2:
            body += message(14, b'what it shows')
        self.packet(message(60, body), sequence if rng.random() < 0.5 else None)
        return uuid

    def counter(self, parent, sequence):
        rng = self.rng
        body = b''
        if rng.random() < 0.4:
            body += number(3, rng.choice((1, 2, 3)))
        if rng.random() < 0.3:
            body += message(6, rng.choice((b'MHz', b'tok/s')))
        if rng.random() < 0.2:
            body += number(4, rng.choice((1000, 1024)))
        incremental = rng.random() < 0.2
        if incremental:
            body += number(5, 1)
        uuid = self.describe(self.next_uuid(), parent, rng.choice(('mem', 'load', 'mem used')), sequence, fields=[(8, body)])
        for _ in range(rng.randint(1, 4)):
            value = number(30, rng.choice((0, 5, -5, 1 << 40))) if rng.random() < 0.6 else wide_double(44, rng.choice((0.5, -1.25, 1e20)))
            self.timed.append((rng.randint(0, 4000), message(11, number(9, 4) + number(11, uuid) + value), sequence))

    def make(self):
        rng = self.rng
        self.timed = []
        sequence = rng.choice((1, 7))
        with_clock = rng.random() < 0.3
        self.zero = 1700000000000000000 - 10 if with_clock else 0  # realtime of time 0
        self.packet(number(13, 1) + message(6, message(1, number(1, 6) + number(2, 10)) + message(1, number(1, 1) + number(2, 1700000000000000000)))
                    if with_clock else number(13, 1), sequence)
        for pid in rng.sample((5, 1, 900), rng.randint(1, 2)):
            process = self.describe(self.next_uuid(), 0, None, sequence, fields=[(3, number(1, pid) + rng.choice(
                (b'', message(6, b'python'), message(6, b'python') + message(8, b'GPU'))))])
            places = [process, 0]
            for tid in rng.sample((5, 11, 12), rng.randint(0, 2)):
                places.append(self.describe(self.next_uuid(), rng.choice((process, process, 0)), None, sequence,
                                            fields=[(4, number(1, pid) + number(2, tid) + rng.choice((b'', message(5, b'worker'))))]))
                self.spans(places[-1], sequence)
            if rng.random() < 0.3:
                self.spans(process, sequence)
            for _ in range(rng.randint(0, 2)):
                parent = rng.choice(places)
                places.append(self.describe(self.next_uuid(), parent, rng.choice(('queue', 'sub', 'requests')), sequence))
                self.spans(places[-1], sequence)
            while rng.random() < 0.4:
                self.counter(rng.choice(places), sequence)
            while rng.random() < 0.3:
                self.instants(rng.choice([p for p in places if p]), sequence)
        for t, body, seq in sorted(self.timed, key=lambda e: e[0]):
            self.packet(number(8, t + 1000) + body, seq)
        return b''.join(self.out)


# ---- XPlane ----

STATS = ('k', 'bytes accessed', 'flops', 'a', 'hlo_op', 'correlation_id', 'flow')


class Xplane:
    def __init__(self, rng):
        self.rng = rng

    def ident(self, small):
        return self.rng.choice((small, small, small, small + (1 << 32), 4294967295, (1 << 62) + small))

    def stat(self, ident, refs):
        rng = self.rng
        body, kind = number(1, ident), self.kinds[self.names[ident]]
        if kind == 0:
            return body + double(2, rng.choice((0.0, 1.5, -2e30)))
        if kind == 1:
            return body + number(3, rng.choice((0, 7, (1 << 64) - 1)))
        if kind == 2:
            return body + number(4, rng.choice((0, -7, 1 << 40)))
        if kind in (3, 4):
            return body + message(5, rng.choice(WORDS).encode())
        if kind == 5:
            return body + message(6, rng.choice((b'\x00\xff', b'ab')))
        return body + number(7, rng.choice(refs))

    def stats(self, field, ids, refs):
        return b''.join(message(field, self.stat(i, refs)) for i in self.rng.sample(ids, self.rng.randint(0, min(3, len(ids)))))

    def make(self):
        rng = self.rng
        out = b''
        for place, name in enumerate(rng.sample(('/host:CPU', '/device:GPU:0', '/device:TPU:0', '/device:CUSTOM:x', 'other'), rng.randint(1, 2))):
            out += message(1, self.plane(place, name))
        if rng.random() < 0.5:
            out += message(4, b'host0')
        return out

    def plane(self, place, name):
        rng = self.rng
        stat_ids = [self.ident(i) for i in range(1, rng.randint(3, 7))]
        stat_ids = list(dict.fromkeys(stat_ids))
        self.names = {i: rng.choice(STATS) for i in stat_ids}
        self.kinds = {name: rng.randint(0, 6) for name in STATS}  # a producer uses one type for each stat
        event_ids = list(dict.fromkeys(self.ident(i) for i in range(1, rng.randint(2, 5))))
        body = number(1, place) + message(2, name.encode())
        for i in range(rng.randint(1, 2)):
            body += message(3, self.line(i + 1, event_ids, stat_ids))
        for i in event_ids:
            meta = number(1, i) + (message(2, rng.choice(NAMES).encode()) if rng.random() < 0.9 else b'')
            if rng.random() < 0.2:
                meta += message(3, b'\x01\x02meta')
            if rng.random() < 0.3:
                meta += message(4, rng.choice((b'shown', b'a')))
            meta += self.stats(5, stat_ids, stat_ids) if rng.random() < 0.4 else b''
            if rng.random() < 0.2:
                meta += number(7, rng.choice(event_ids))
            body += message(4, number(1, i) + message(2, meta))
        for i in stat_ids:
            meta = number(1, i) + message(2, self.names[i].encode())
            if rng.random() < 0.2:
                meta += message(3, b'described')
            body += message(5, number(1, i) + message(2, meta))
        return body + self.stats(6, stat_ids, stat_ids)

    def line(self, ident, event_ids, stat_ids):
        rng = self.rng
        body = number(1, self.ident(ident)) + message(2, rng.choice((b'XLA Ops', b'Stream #7', b'python', b'')))
        if rng.random() < 0.5:
            body += number(3, rng.choice((1000, 2000000)))  # ns since the epoch are rounded in JSON
        if rng.random() < 0.2:
            body += number(10, ident + 50)
        if rng.random() < 0.2:
            body += message(11, b'display')
        for begin, end, _ in Spans(rng).found:
            event = number(1, rng.choice(event_ids)) + number(2, begin * 1000) + number(3, (end - begin) * 1000)
            event += self.stats(4, stat_ids, stat_ids) if rng.random() < 0.5 else b''
            if rng.random() < 0.05:
                event = number(1, rng.choice(event_ids)) + number(5, 17) + number(3, 5000)
            body += message(4, event)
        return body


class Samples(Json):
    """Chrome JSON with the samples of V8's profiler in chunks, on threads of their own: deep and recursive stacks, idle ones, chunks that
    come late, and nodes that refer to nodes of an earlier chunk. `expected` has (pid, tid, ns, names from the outermost, weight in us) of
    each sample."""
    weights = True

    def __init__(self, rng):
        super().__init__(rng)
        self.expected = []

    def add_expected(self, pid, tid, found, stacks, end):
        """Adds the expected samples. A sample lasts until the next one, the last one until the end of the profile; the root is
        not a frame."""
        for i, (node, at) in enumerate(found):
            until = found[i + 1][1] if i + 1 < len(found) else end
            self.expected.append((pid, tid, at * 1000, tuple(n or '(anonymous)' for n in stacks[node]), until - at))

    def profile(self, pid, tid, number):
        rng, ident = self.rng, f'0x{number:x}'
        at = start = rng.randrange(1, 1 << 30)
        self.events.append({'ph': 'P', 'name': 'Profile', 'cat': 'disabled-by-default-v8.cpu_profiler', 'pid': pid, 'tid': tid, 'id': ident, 'ts': at,
                            'args': {'data': {'startTime': start}}})
        n, found, stacks, last = 0, [], {0: ()}, at
        for _ in range(rng.randint(1, 3)):
            nodes = []
            for _ in range(rng.randint(0 if n else 1, 12)):
                n += 1
                name = '(root)' if n == 1 else rng.choice(('f', 'g', 'ns::h(int)', '(idle)', '(program)', '', 'ü'))
                frame = {'functionName': name, 'scriptId': '0', **rng.choice(({}, {'url': 'a.js', 'lineNumber': 3, 'columnNumber': 4}))}
                parent = rng.choice((n - 1, rng.randint(1, n - 1))) if n > 1 else 0
                nodes.append({'id': n, 'callFrame': frame, **({'parent': parent} if parent else {})})
                stacks[n] = stacks[parent] + (() if n == 1 and 'url' not in frame else (name,))
            samples = [rng.randint(1, n) for _ in range(rng.randint(0, 15))]
            deltas = [rng.randint(1, 2000) for _ in samples]
            for node, delta in zip(samples, deltas):
                last += delta
                found.append((node, last))
            at += sum(deltas)
            self.events.append({'ph': 'P', 'name': 'ProfileChunk', 'cat': 'disabled-by-default-v8.cpu_profiler', 'pid': pid, 'tid': 900 + number, 'id': ident,
                                'ts': at, 'args': {'data': {'cpuProfile': {'nodes': nodes, 'samples': samples}, 'timeDeltas': deltas}}})
        self.add_expected(pid, tid, found, stacks, last)

    def make(self):
        for i in range(self.rng.randint(1, 3)):
            self.profile(40 + i, 400 + i, i + 1)
        return super().make()


class Perf(Perfetto):
    """Perfetto with packets of its perf producer: mappings with and without a range of addresses, build ids, frames that differ only in
    their address, stacks that share frames, samples without a stack or a CPU, reports of lost records, and state that is cleared."""
    weights = False

    def __init__(self, rng):
        super().__init__(rng)
        self.expected = []

    def intern_parts(self):
        """Returns interned data, and the names of each callstack."""
        rng, out = self.rng, b''
        names = ('f', 'g (x)', 'operator()', 'ü', 'main', '[unknown]')
        for i, name in enumerate(names):
            out += message(5, number(1, i + 1) + message(2, name.encode()))
        for i, part in enumerate((b'lib', b'a.so', b'/bin/b c', b'kernel')):
            out += message(17, number(1, i + 1) + message(2, part))
        for i, ident in enumerate((b'\x01\xff', b'B' * 20)):
            out += message(16, number(1, i + 1) + message(2, ident))
        n_mappings = rng.randint(1, 3)
        for i in range(n_mappings):
            start = rng.choice((0, 0x1000))
            out += message(19, number(1, i + 1) + (number(2, rng.randint(1, 2)) if rng.random() < 0.5 else b'') + number(4, start)
                           + number(5, start + rng.choice((0, 0x500))) + b''.join(number(7, rng.randint(1, 4)) for _ in range(rng.randint(0, 2)))
                           + (number(8, 0x100) if rng.random() < 0.3 else b''))
        frames = []
        for i in range(rng.randint(1, 8)):
            frames.append(rng.choice((None, *range(1, len(names) + 1))) if rng.random() < 0.3 else rng.randint(1, 3))
            out += message(6, number(1, i + 1) + (number(2, frames[-1]) if frames[-1] else b'') + number(3, rng.randint(1, n_mappings))
                           + number(4, rng.choice((0, 0x10, 0x20, 1 << 40))))
        stacks = []
        for i in range(rng.randint(1, 5)):
            ids = [rng.randint(1, len(frames)) for _ in range(rng.choice((1, 2, 3, 30)))]
            out += message(7, number(1, i + 1) + b''.join(number(2, f) for f in ids))
            stacks.append(tuple(names[frames[f - 1] - 1] if frames[f - 1] else '' for f in ids))
        return out, stacks

    def producer(self, sequence, at):
        rng = self.rng
        for generation in range(rng.randint(1, 2)):
            interned, stacks = self.intern_parts()
            self.packet(number(8, at) + number(13, 1) + message(12, interned), sequence)
            for _ in range(rng.randint(1, 12)):
                at += rng.randint(1, 5000)
                if rng.random() < 0.1:
                    self.packet(number(8, at) + message(66, number(1, 0) + number(17, 3)), sequence)
                    continue
                pid = rng.choice((40, 41))
                tid = pid * 10 + rng.randint(0, 2)
                stack = rng.choice((None, *range(len(stacks)), *range(len(stacks))))
                body = (number(1, rng.randint(0, 3)) if rng.random() < 0.8 else b'') + number(2, pid) + number(3, tid)
                body += (number(4, stack + 1) if stack is not None else b'') + (number(5, rng.randint(0, 5)) if rng.random() < 0.8 else b'')
                body += (number(6, at * 10) if rng.random() < 0.8 else b'') + (number(16, rng.randint(0, 15)) if rng.random() < 0.1 else b'')
                self.packet(number(8, at) + number(13, 2) + message(66, body), sequence)
                self.expected.append((pid, tid, at, stacks[stack] if stack is not None else (), 1))

    def make(self):
        super().make()
        for i in range(self.rng.randint(1, 2)):
            self.producer(50 + i, self.rng.randint(1, 1 << 30))
        return b''.join(self.out)


MAKERS = {'perf': (Perf, 'pftrace'), 'samples': (Samples, 'json'), 'json': (Json, 'json'), 'perfetto': (Perfetto, 'pftrace'), 'xplane': (Xplane, 'xplane.pb')}
