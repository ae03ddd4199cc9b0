"""A pprof profile (proto/profile.proto of google/pprof): a writer and a reader of the wire format, by hand.

    pprof.py FILE    writes the fixture"""
import gzip
import sys

UNITS = {'nanoseconds': 'ns', 'microseconds': 'us', 'milliseconds': 'ms', 'seconds': 's'}


def varint(n):
    n &= (1 << 64) - 1
    out = b''
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def number(field, n):
    return varint(field << 3) + varint(n) if n else b''


def data(field, b):
    return varint(field << 3 | 2) + varint(len(b)) + b


def packed(field, numbers):
    return data(field, b''.join(map(varint, numbers))) if numbers else b''


class Profile:
    """Collects strings and functions; locations are lists of (function, file, line), innermost first."""

    def __init__(self, types, default='', time_nanos=0):
        self.strings = ['']
        self.head = b''.join(data(1, number(1, self.text(t)) + number(2, self.text(u))) for t, u in types)
        self.default, self.time_nanos = self.text(default), time_nanos
        self.functions, self.locations, self.samples, self.mappings = {}, [], [], []

    def text(self, s):
        if s not in self.strings:
            self.strings.append(s)
        return self.strings.index(s)

    def mapping(self, name):
        self.mappings.append(name)
        return len(self.mappings)

    def location(self, lines, mapping=0, address=0):
        body = number(1, len(self.locations) + 1) + number(2, mapping) + number(3, address)
        for name, file, line in lines:
            function = self.functions.setdefault((name, file), len(self.functions) + 1)
            body += data(4, number(1, function) + number(2, line))
        self.locations.append(body)
        return len(self.locations)

    def sample(self, locations, values, labels=(), is_packed=True):
        ids = packed(1, locations) if is_packed else b''.join(varint(1 << 3) + varint(i) for i in locations)
        body = ids + (packed(2, values) if is_packed else b''.join(varint(2 << 3) + varint(v) for v in values))
        for key, value in labels:
            body += data(3, number(1, self.text(key)) + (number(2, self.text(value)) if isinstance(value, str) else number(3, value)))
        self.samples.append(body)

    def make(self):
        out = self.head + b''.join(data(2, s) for s in self.samples)
        out += b''.join(data(3, number(1, i + 1) + number(5, self.text(m))) for i, m in enumerate(self.mappings))
        out += b''.join(data(4, body) for body in self.locations)
        for (name, file), i in self.functions.items():
            out += data(5, number(1, i) + number(2, self.text(name)) + number(4, self.text(file)))
        out += b''.join(data(6, s.encode()) for s in self.strings)
        return out + number(9, self.time_nanos) + number(14, self.default)


def fixture():
    p = Profile([('samples', 'count'), ('cpu', 'nanoseconds')], time_nanos=1795578744770750448)
    app, lib = p.mapping('/opt/app'), p.mapping('/usr/lib/libm.so')
    main, load = p.location([('main', 'main.c', 3)], app), p.location([('load', 'load.c', 40), ('outer', 'load.c', 7)], app)
    bare = p.location([], lib, 0x1f2e)
    p.sample([load, main], [3, 30000000], [('thread', 'worker'), ('bytes', 64)])
    p.sample([bare, load, main], [1, 10000000], is_packed=False)
    p.sample([main], [2, 20000000])
    p.sample([load, load, main], [1, 10000001])
    return p.make()


def fields(b):
    at = 0

    def take():
        nonlocal at
        n = shift = 0
        while True:
            n |= (b[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if b[at - 1] < 128:
                return n

    while at < len(b):
        key = take()
        if key & 7 == 0:
            yield key >> 3, take()
        elif key & 7 == 2:
            n = take()
            yield key >> 3, b[at:at + n]
            at += n
        else:
            raise ValueError(key)


def numbers(value):
    return [value] if isinstance(value, int) else [n for _, n in fields(b''.join(b'\x08' + v for v in split(value)))]


def split(b):
    """Splits packed varints."""
    start = 0
    for i, c in enumerate(b):
        if c < 128:
            yield b[start:i + 1]
            start = i + 1


def signed(n):
    return n - (1 << 64) if n >> 63 else n


def read(path):
    """Returns the samples: (stack with the outermost frame first, weight), and the unit."""
    b = open(path, 'rb').read()
    top = list(fields(gzip.decompress(b) if b[:2] == b'\x1f\x8b' else b))
    strings = [v.decode() for k, v in top if k == 6]
    rows = {k: {dict(fields(v)).get(1, 0): list(fields(v)) for n, v in top if n == k} for k in (3, 4, 5)}
    types = [dict(fields(v)) for k, v in top if k == 1]
    wanted = dict(v for v in top if v[0] == 14).get(14, 0)
    at = next((i for i, t in enumerate(types) if wanted and t.get(1) == wanted), len(types) - 1)

    def frames(location):
        row = rows[4][location]
        lines = [dict(fields(v)) for k, v in row if k == 4]
        names = [strings[dict(rows[5][line[1]])[2]] for line in lines]
        return names[::-1] or ['0x%x' % dict(row).get(3, 0)]

    samples = []
    for k, v in top:
        if k != 2:
            continue
        ids = [n for f, x in fields(v) if f == 1 for n in numbers(x)]
        values = [signed(n) for f, x in fields(v) if f == 2 for n in numbers(x)]
        samples.append((tuple(f for i in reversed(ids) for f in frames(i)), values[at]))
    unit = strings[types[at].get(2, 0)]
    return samples, UNITS.get(unit, unit)


if __name__ == '__main__':
    with open(sys.argv[1], 'wb') as out:
        out.write(gzip.compress(fixture(), mtime=0))
