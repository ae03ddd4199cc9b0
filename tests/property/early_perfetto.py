#!/usr/bin/env python3
"""Checks that a cut in time writes the same bytes whether or not the reader already leaves out packets and events that the cut removes. It
does so for a file and for a pipe, but not for a member of an archive. Inputs are all Perfetto fixtures and random traces; ranges are random, and
often end at times of the trace.

    early_perfetto.py [FOLDER...]    also uses the Perfetto files in these folders"""
import gzip
import os
import random
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from extensions import field, varint  # noqa: E402
from protobuf import parse  # noqa: E402
import ordered_trace as ordered  # noqa: E402
import system_trace as system  # noqa: E402
from verdict import check, finish  # noqa: E402

TRACEKIT, FIXTURES = os.environ['TRACEKIT'], os.environ['FIXTURES']
LONG = bool(os.environ.get('LONG'))
SANITIZED = '/san/' in TRACEKIT  # sanitizers replace the allocator, so only counted memory is limited
TRACES, RANGES = (200, 12) if LONG else (40, 6)
BOOT, REAL, MONO, RAW = 6, 1, 3, 5
START, SPAN = 1_000_000_000, 1_000_000
LONG_UP = 300 * 86400 * 10**9  # a time after boot that has more than 64 bits of picoseconds
# Numbers of fields of TracePacket whose contents are samples, states, or items with times, or that have only a time; 901 is
# unknown
TIMED = (7, 9, 52, 53, 57, 66, 70, 71, 76, 77, 84, 86, 92, 136, 901)
EVENTS = (3, 4, 5, 5, 11, 12, 20, 50, 51, 80, 323, 348, 113, 404, 405, 414, 416, 437, 438)  # of ftrace


class Maker:
    """Makes random traces of packets of all kinds, on several clocks and sequences, in random order."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.clocks = self.rng.choice(((BOOT,), (BOOT, MONO), (BOOT, MONO, RAW, REAL)))
        self.start = LONG_UP if seed % 5 == 4 else START
        self.span = SPAN * 10**5 if seed % 4 == 3 else SPAN  # the long one exceeds the slack of other clocks than the trace clock
        self.is_steady = seed % 8 != 7

    def time(self):
        return self.start + self.rng.randrange(self.span // 1000) * 1000

    def event(self, ns, kind):
        rng = self.rng
        text = rng.choice((b'B|1|work', b'E|1', b'C|1|level|%d' % rng.randrange(9), b'S|1|async|7', b'F|1|async|7', b'I|1|now'))
        mark = field(1, 1) + field(2, b'mark')
        content = {80: mark + field(3, rng.randrange(2)), 348: mark + field(5, rng.choice(b'BEC')) + field(6, rng.randrange(9)),
                   5: field(2, text), 4: field(1, b'a') + field(2, 5) + field(6, 6), 11: field(1, rng.randrange(9)) + field(2, 1),
                   12: field(1, 1) + field(2, 0), 20: field(1, b'b') + field(2, 7), 3: field(2, text),
                   50: field(1, rng.randrange(9)) + field(5, rng.randrange(2)) + field(7, rng.randrange(2)),
                   51: field(1, rng.randrange(9)), 323: field(2, rng.randrange(9)),
                   113: field(1, b'suspend') + field(2, 3) + field(3, rng.randrange(2)), 404: field(1, b'lock'), 405: field(1, b'lock'),
                   414: field(1, 1) + field(3, rng.randrange(3)), 416: field(1, 1) + field(3, rng.randrange(3)),
                   437: field(2, 9), 438: field(3, 9)}[kind]
        return field(2, (field(1, ns) if rng.random() < .97 else b'') + field(2, rng.randrange(4, 7)) + field(kind, content))

    def compact(self, ns):
        steps = [self.rng.randrange(2000) for _ in range(self.rng.randrange(1, 5))]
        times = b''.join(map(varint, [ns, *steps]))
        ones = bytes(len(steps) + 1)
        return field(4, field(5, b'name') + field(1, times) + field(2, ones) + field(3, ones) + field(4, ones) + field(6, ones))

    def bundle(self):
        rng, at = self.rng, self.time()
        content = field(1, rng.randrange(3)) + (field(5, 4) if rng.random() < .1 else b'')
        for _ in range(rng.randrange(6)):
            content += self.event(at + rng.randrange(self.span // 20), rng.choice(EVENTS))
        content += self.compact(at) if rng.random() < .2 else b''
        content += field(11, b'') if rng.random() < .1 else b''
        return field(1, content)

    def defaults(self):
        return field(59, field(58, self.rng.choice(self.clocks)) if self.rng.random() < .5 else field(11, field(11, 3)))

    def content(self, number):
        rng = self.rng
        times = [rng.randrange(self.span // 10) for _ in range(rng.randrange(4))]
        packed = b''.join(map(varint, times))
        special = {52: field(2, field(1, rng.randrange(3)) + field(2, 5)), 57: field(1, field(2, rng.choice((1, 2, 5, 8))) + field(5, rng.randrange(2))),
                   76: field(rng.randrange(1, 6), field(1, rng.randrange(4))), 92: field(3, packed) + field(4, packed),
                   84: b''.join(field(1, b'') + field(2, self.start + time) for time in times)}
        if number in special and rng.random() < .8:
            return special[number]
        return field(1, rng.randrange(3)) + field(2, b'x' * rng.randrange(9))

    def packet(self):
        rng, kind, stamp = self.rng, self.rng.random(), b''
        if kind < .4:
            content = self.bundle()
        elif kind < .5:
            content = field(11, field(9, rng.choice((1, 2, 3))) + field(11, 9) + field(23, b'span'))
        else:
            number = rng.choice(TIMED)
            content = field(number, self.content(number))
        if kind >= .4 and rng.random() < .95:
            stamp = field(8, self.time()) + (field(58, rng.choice((0, *self.clocks))) if rng.random() < .3 else b'')
        content += field(12, field(2, field(1, 1) + field(2, b'iid'))) if rng.random() < .1 else b''
        content += self.defaults() if rng.random() < .05 else b''
        flags = field(13, rng.choice((1, 2, 2, 3))) if rng.random() < .3 else b''
        machine = field(98, 4) if rng.random() < .05 else b''
        return field(1, content + stamp + field(10, rng.randrange(1, 4)) + flags + machine)

    def snapshot(self, primary=0):
        at = self.time()
        ahead = 0 if self.is_steady else self.rng.randrange(3 * 10**9)
        clocks = ((BOOT, at), (REAL, 10**18 + at), (MONO, at - 5000), (RAW, at - 7000 + ahead))
        shown = b''.join(field(1, field(1, c) + field(2, t)) for c, t in clocks if c in self.clocks)
        return field(1, field(6, shown + (field(2, primary) if primary else b'')) + field(10, 9))

    def trace(self):
        rng = self.rng
        out = [self.packet() for _ in range(rng.randrange(5, 60))]
        out.insert(0 if rng.random() < .7 else rng.randrange(len(out)), self.snapshot())
        if rng.random() < .2:
            out.insert(rng.randrange(len(out)), self.snapshot(rng.choice(self.clocks)))
        if rng.random() < .2:
            out.insert(rng.randrange(len(out)), field(1, field(1990, field(8, self.span // 3)) + field(10, 8)))
        if rng.random() < .3:  # parts that follow each other, each with packets of any time
            for at in sorted(rng.sample(range(len(out)), 3)):
                edges = [self.start + self.span // 4 * (at % 3 + k) for k in range(2)]
                out.insert(at, field(1, field(1990, field(12, field(1, edges[0]) + field(2, edges[1])))))
        return b''.join(out)


def times_in(data):
    """Returns the times of packets and of ftrace events, as far as the bytes can be parsed."""
    found = []
    try:
        packets = [parse(p) for n, p in parse(data) if n == 1 and isinstance(p, bytes)]
        for fields in packets:
            found += [v for n, v in fields if n == 8 and isinstance(v, int)]
            for bundle in (parse(v) for n, v in fields if n == 1 and isinstance(v, bytes)):
                found += [t for n, v in bundle if n == 2 and isinstance(v, bytes) for m, t in parse(v) if m == 1 and isinstance(t, int)]
    except (ValueError, IndexError):
        pass
    return sorted(t for t in found if t < 1 << 62) or [START, START + SPAN]


def range_of(rng, times):
    a, b = sorted(rng.choice(times) + rng.choice((0, 0, 0, -1, 1, rng.randrange(-1000, 1000))) for _ in range(2))
    first, last = (f'{max(t, 0) / 1000:.3f}' if rng.random() < .8 else '' for t in (a, b))
    return f'{first}..{last}'


def cut(span, source, target, data=None, more=()):
    command = [TRACEKIT, 'filter', '-j1', '--force', '--allow-empty', '--time', span, source, '-f', 'perfetto', '-o', target, *more]
    done = subprocess.run(command, input=data, capture_output=True)
    out = b''
    if os.path.exists(target):
        with open(target, 'rb') as f:
            out = f.read()
        os.remove(target)
    said = (done.stderr + done.stdout).replace(target.encode(), b'OUT')
    return done.returncode, out, said.replace(source.encode() + b':trace', b'IN').replace(source.encode(), b'IN').replace(b'standard input', b'IN')


def archive_of(path):
    with tarfile.open(path + '.tar', 'w') as tar:
        tar.add(path, 'trace')
    return path + '.tar'


def compare(work, label, data, seed, ranges):
    rng, times = random.Random(seed), times_in(data)
    path = os.path.join(work, f'{seed}.pftrace')
    with open(path, 'wb') as f:
        f.write(data)
    found, archive = [], archive_of(path)
    for i, span in enumerate(range_of(rng, times) for _ in range(ranges)):
        late = cut(span, archive, path + '.late')
        for what, early in (('', cut(span, path, path + '.early')), *([(' piped', cut(span, '-', path + '.piped', data))] if i % 3 == 0 else [])):
            found.append((f'{label} {span}{what}', early[:2] == late[:2], f'{early[0]}, {len(early[1])} bytes, not {late[0]}, {len(late[1])}'))
            if b'contains no trace' not in late[2]:  # an archive has a message of its own
                found.append((f'{label} {span}{what}: messages', early[2] == late[2], f'{early[2][-300:]} not {late[2][-300:]}'))
    os.remove(path)
    os.remove(archive)
    return found


def files(folders):
    for folder in folders:
        for at, _, names in sorted(os.walk(folder)):
            for path in (os.path.join(at, n) for n in sorted(names) if '.pftrace' in n or '.perfetto-trace' in n):
                with (gzip.open if path.endswith('.gz') else open)(path, 'rb') as f:
                    yield os.path.relpath(path, folder), f.read()


def written(work):
    """Returns Perfetto files that tracekit writes from other fixtures; with LONG, from all of them."""
    found = sorted(os.path.join(at, n) for at, _, names in os.walk(FIXTURES) for n in names if not n.endswith(('.tsv', '.md')))
    for path in found[::1 if LONG else 12]:
        target = os.path.join(work, 'written.pftrace')
        done = subprocess.run([TRACEKIT, 'convert', '-q', '--force', path, '-o', target], capture_output=True)
        if done.returncode == 0 and os.path.isfile(target):
            with open(target, 'rb') as f:
                yield os.path.relpath(path, FIXTURES) + ' written', f.read()


def systems(work):
    for seed in range(4):
        path = os.path.join(work, 'system')
        system.write(path, seed, seed % 2 == 1)
        with open(path, 'rb') as f:
            yield f'system {seed}', f.read()


def large(work):
    """Checks that a trace larger than the memory limit can be cut from a file or a pipe, also by a range that depends on its
    events, for which it is read twice."""
    rng, path, switch = random.Random(1), os.path.join(work, 'large.pftrace'), field(4, field(1, b'a' * 400) + field(2, 5) + field(6, 6))
    with open(path, 'wb') as f:
        f.write(Maker(1).snapshot())
        for at in range(START, START + 60 * SPAN, SPAN):
            events = (field(2, field(1, at + i * 500) + field(2, 5) + switch) for i in range(2000))
            text = field(2, field(1, at + rng.randrange(SPAN)) + field(2, 5) + field(3, field(2, b'I|1|now')))
            f.write(field(1, field(1, field(1, 0) + b''.join(events) + text) + field(10, 2)))
    with open(path, 'rb') as f:
        data = f.read()
    archive = archive_of(path)
    limit = ('--max-memory', f'{len(data) // 2}')
    check('a trace larger than the limit is refused', cut('..', path, path + '.out', None, limit)[0] == 3)
    for span in ('1003000..1005000', '+3ms..+5ms', '-3ms..-1ms', '10%..15%'):
        late = cut(span, archive, path + '.late')
        for what, early in (('file', cut(span, path, path + '.early', None, limit)), ('pipe', cut(span, '-', path + '.piped', data, limit))):
            check(f'large {what} {span}', early[0] == 0 and early[:2] == late[:2],
                  f'{early[0]}, {len(early[1])} bytes, not {late[0]}, {len(late[1])}: {early[2][:300]}')


def many_events(work):
    """Checks that a trace with more track events than the memory limit allows can be cut from a file, near its start and near its end, and
    that a file whose spans cannot be judged while it is read is read again."""
    rng, path = random.Random(2), os.path.join(work, 'events.pftrace')
    maker = ordered.Ordered(7)
    out, depth, now = maker.head(), dict.fromkeys((102, 103, 104), 0), ordered.START
    for _ in range(400_000):
        now += rng.randrange(100, 1000)
        track = rng.choice((102, 103, 104))
        ends = depth[track] and rng.random() < .5
        depth[track] += -1 if ends else 1
        event = field(9, 2) if ends else field(9, 1) + field(23, b'span') + field(4, field(10, b'k') + field(4, rng.randrange(1 << 20)))
        out.append(field(1, field(11, event + field(11, track)) + field(8, now) + field(10, 2)))
    data = b''.join(out)
    late = data + field(1, field(11, field(9, 1) + field(11, 102) + field(23, b'late')) + field(8, ordered.START + 5000) + field(10, 2))
    length = (now - ordered.START) / 1e5
    for label, content, limit in (('', data, ('--max-memory', '8M' if SANITIZED else '14M')), (' read again', late, ())):
        with open(path, 'wb') as f:
            f.write(content)
        archive = archive_of(path)
        if limit:
            check('more events than the limit are refused', cut('..', path, path + '.out', None, limit)[0] == 3)
        for percent in (10, 50, 90):
            at = ordered.START / 1000 + percent * length
            span = f'{at:.0f}..{at + length:.0f}'
            whole, early = cut(span, archive, path + '.late'), cut(span, path, path + '.early', None, limit)
            check(f'many events{label} {span}', early[0] == 0 and early == whole,
                  f'{early[0]}, {len(early[1])} bytes, not {whole[0]}, {len(whole[1])}: {early[2][:300]}')


def main():
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(os.cpu_count()) as pool:
        made = ((f'random {seed}', Maker(seed).trace()) for seed in range(TRACES))
        events = ((f'events {seed}', ordered.Ordered(seed).trace()) for seed in range(TRACES // 2))
        inputs = [*systems(work), *made, *events, *written(work), *files([FIXTURES, *sys.argv[1:]])]
        large(work)
        many_events(work)
        tasks = [pool.submit(compare, work, label, data, seed, RANGES) for seed, (label, data) in enumerate(inputs)]
        for task in tasks:
            for what, ok, found in task.result():
                check(what, ok, found)
    return finish()


if __name__ == '__main__':
    sys.exit(main())
