#!/usr/bin/env python3
"""Checks what comes back after Perfetto -> JSON or XPlane -> Perfetto.

    machines   two machines with equal uuids and pids: each event stays with its process
    flows      an event with several flows does not cost the fields that refer to interned data, neither its own nor those of others
    odd        doubles that are not finite stay numbers, in args and in counters
    types      a counter and an arg may have the same key, with numbers of different types
    times      legacy complete events keep their thread durations, also directly, with and without track descriptors"""
import os
import struct
import subprocess
import sys
import tempfile

TRACEKIT, SRC = os.environ['TRACEKIT'], os.environ['SRC']
sys.path.insert(0, os.path.join(SRC, 'tests', 'support'))
from extensions import field, fixed  # noqa: E402
from protobuf import parse  # noqa: E402
from verdict import check, finish  # noqa: E402

BEGIN, END = 1, 2
LEGACY, TYPE, THREAD_US, SOURCE_IID = 6, 9, 17, 34
SOURCES = 4  # interned source locations
WAYS = ('json', 'xplane.pb')


def packet(*fields, flags=2, sequence=3):
    return field(1, b''.join(fields) + field(10, sequence) + (field(13, flags) if flags else b''))


def process(uuid, pid, name, *more):
    return packet(field(60, field(1, uuid) + field(3, field(1, pid) + field(6, name))), *more)


def thread(uuid, pid, tid, *more):
    return packet(field(60, field(1, uuid) + field(4, field(1, pid) + field(2, tid) + field(5, b'main'))), *more)


def event(ts, track, *fields, more=b'', sequence=3):
    return packet(field(8, ts), field(11, b''.join(fields) + (field(11, track) if track else b'')), more, sequence=sequence)


def tracekit(*args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    check(' '.join(os.path.basename(a) for a in args), p.returncode == 0, p.stderr.decode('utf-8', 'replace'))
    return p.stdout.decode('utf-8', 'replace')


def written(work, name, data):
    path = os.path.join(work, name)
    with open(path, 'wb') as f:
        f.write(data)
    return path


def detours(work, path):
    """Yields each chain of conversions and the Perfetto file that it produces."""
    for way in WAYS:
        between, back = os.path.join(work, f'between.{way}'), os.path.join(work, 'back.pftrace')
        tracekit('convert', '-q', '--force', path, '-o', between)
        tracekit('convert', '-q', '--force', between, '-o', back)
        yield way, back


def events(path):
    """Returns the track events of a file, as dictionaries."""
    with open(path, 'rb') as f:
        packets = [dict(parse(value)) for number, value in parse(f.read()) if number == 1]
    return [dict(parse(p[11])) for p in packets if 11 in p]


# ---- machines ----

def spans_by_process(path):
    """Returns the names of the spans of each process, by its name."""
    found, at, names = {}, '', {}
    for line in tracekit('dump', '--graph', path).splitlines():
        if line.startswith('track process'):
            pid = line.split('pid=')[1].split()[0]
            names[pid] = line.split('"')[1] if '"' in line else ''
        elif line.startswith('track thread'):
            at = names[line.split('pid=')[1].split()[0]]
        elif ' span ' in line:
            found.setdefault(at, []).append(line.split('"')[1])
    return found


def machines(work):
    data = b''
    for machine, (name, span) in enumerate(((b'host', b'on the host'), (b'guest', b'on the guest'))):
        more = field(98, machine) if machine else b''
        data += process(1, 10, name, more) + thread(2, 10, 11, more)
        for i in range(3):
            for kind in (BEGIN, END):
                data += packet(field(8, 1000 + 100 * i + 50 * kind), field(11, field(TYPE, kind) + field(11, 2) + (field(23, span) if kind == BEGIN else b'')),
                               more, sequence=3 + machine)
    path = written(work, 'machines.pftrace', data)
    want = {'host': ['on the host'] * 3, 'guest': ['on the guest'] * 3}
    check('machines: read', spans_by_process(path) == want, spans_by_process(path))
    for way, back in detours(work, path):
        found = spans_by_process(back)
        check(f'machines through {way}', found == want, found)


# ---- flows ----

def flows(work):
    source = field(12, field(SOURCES, field(1, 4) + field(2, b'f.cc') + field(3, b'F') + field(4, 3)))
    data = packet(source, flags=1) + process(1, 10, b'p') + thread(2, 10, 11)
    for i, ids in enumerate(((), (77, 78), (77,), (78,), ())):
        flow = b''.join(bytes([0xf9, 0x02]) + v.to_bytes(8, 'little') for v in ids)  # field 47, fixed64
        data += event(1000 * i, 2, field(TYPE, BEGIN), field(23, b'task'), field(SOURCE_IID, 4), flow)
        data += event(1000 * i + 500, 2, field(TYPE, END))
    path = written(work, 'flows.pftrace', data)
    for way, back in detours(work, path):
        n = sum(e.get(SOURCE_IID) == 4 for e in events(back))
        check(f'flows through {way}', n == 5, f'{n} events have their source location, not 5')
        again = os.path.join(work, 'again.pftrace')
        tracekit('convert', '-q', '--force', back, '-o', again)
        lines = [[line for line in tracekit('dump', '--graph', p).splitlines() if line.startswith('flow ')] for p in (back, again)]
        check(f'flows through {way}: the same points again', lines[0] and lines[0] == lines[1], lines)


# ---- numbers ----

ODD = (float('nan'), float('inf'), float('-inf'), 1.5)


def doubles(path):
    """Returns the doubles of counters and of annotations."""
    counters, annotations = [], []
    for e in events(path):
        counters += [str(struct.unpack('<d', e[44])[0])] if 44 in e else []
        annotations += [str(struct.unpack('<d', dict(parse(e[4]))[5])[0])] if 4 in e else []
    return counters, annotations


def odd(work):
    data = packet(flags=1) + process(1, 10, b'p') + thread(2, 10, 11) + packet(field(60, field(1, 3) + field(2, b'c') + field(5, 1) + field(8, b'')))
    for i, value in enumerate(ODD):
        data += event(1000 * i, 3, field(TYPE, 4), fixed(44, 'd', value))
        data += event(1000 * i, 2, field(TYPE, 3), field(23, b'n'), field(4, field(10, b'd') + fixed(5, 'd', value)))
    path = written(work, 'odd.pftrace', data)
    want = ([str(v) for v in ODD],) * 2
    check('odd: the input', doubles(path) == want, doubles(path))
    for way, back in detours(work, path):
        check(f'odd through {way}', doubles(back) == want, doubles(back))


def types(work):
    counter = field(8, field(6, b'bytes'))
    data = packet(flags=1) + process(1, 10, b'p') + thread(2, 10, 11) + packet(field(60, field(1, 3) + field(2, b'c') + field(5, 1) + counter))
    data += event(0, 3, field(TYPE, 4), fixed(44, 'd', 2.5)) + event(5, 3, field(TYPE, 4), field(30, 7))
    data += event(0, 2, field(TYPE, 3), field(23, b'n'), field(4, field(10, b'bytes') + field(3, 4096)))
    path = written(work, 'types.pftrace', data)
    for way in WAYS:
        between, back = os.path.join(work, f'between.{way}'), os.path.join(work, 'back.pftrace')
        tracekit('convert', '-q', '--force', '--no-loss', path, '-o', between)
        tracekit('convert', '-q', '--force', between, '-o', back)
        args = [dict(parse(e[4])) for e in events(back) if 4 in e]
        check(f'types through {way}', len(args) == 1 and args[0].get(3) == 4096, args)


# ---- thread times ----

def complete(ts, us, track):
    legacy = field(LEGACY, field(2, ord('X')) + field(3, 50) + field(4, 20))
    return event(ts, track, field(23, b'x'), legacy, field(THREAD_US, us))


def times(work):
    spans = ((1000, 2000), (100000, 2100))
    described = packet(flags=1) + process(1, 10, b'p') + thread(2, 10, 11) + b''.join(complete(*span, 2) for span in spans)
    own = packet(field(44, field(1, 5) + field(2, 6) + field(5, b'w')), flags=1) + b''.join(complete(*span, 0) for span in spans)
    for name, data in (('described', described), ('thread descriptor', own)):
        path = written(work, 'times.pftrace', data)
        direct = os.path.join(work, 'direct.pftrace')
        tracekit('convert', '-q', '--force', path, '-o', direct)
        for way, back in (('perfetto', direct), *detours(work, path)):
            found = [(e.get(TYPE), e.get(THREAD_US)) for e in events(back)]
            want = [(BEGIN, 2000), (END, 2020), (BEGIN, 2100), (END, 2120)]
            check(f'times, {name}, through {way}', found == want, found)
            check(f'times, {name}, through {way}: no raw duration', not any(LEGACY in e for e in events(back)))


def main():
    with tempfile.TemporaryDirectory() as work:
        machines(work)
        flows(work)
        odd(work)
        types(work)
        times(work)
    return finish()


sys.exit(main())
