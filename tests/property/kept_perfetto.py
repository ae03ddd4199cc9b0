#!/usr/bin/env python3
"""Checks that Perfetto -> Perfetto keeps, byte for byte, what the event graph does not represent: packets that are not track events,
unknown fields of track events with the interned data to which they refer, and the state of sequences. Track descriptors must keep
their uuids, names and parents. A second round must write the same bytes.

    kept_perfetto.py [FOLDER...]    checks the fixtures, and every .pftrace below the folders"""
import collections
import gzip
import json
import os
import subprocess
import sys
import tempfile
import zlib

TRACEKIT, SRC, FIXTURES = (os.environ[name] for name in ('TRACEKIT', 'SRC', 'FIXTURES'))
sys.path.insert(0, os.path.join(SRC, 'tests', 'support'))
from extensions import field  # noqa: E402
from protobuf import parse  # noqa: E402
from verdict import check, finish  # noqa: E402

OF_PACKET = {3, 8, 10, 13, 41, 42, 58, 79, 87, 98}  # transport fields, and the state of the sequence
MODELLED_PACKETS = {6, 12, 43, 44, 50, 59, 60, 133, 1990}
MODELLED_EVENT = {1, 2, 3, 4, 6, 8, 9, 10, 11, 12, 16, 22, 23, 30, 31, 36, 42, 44, 45, 46, 47, 48, 52, 53, 54}
MODELLED_LEGACY = {1, 2, 3, 6, 7, 8, 10, 11, 12, 13, 14, 18, 19}
MODELLED_INTERNED = {1, 2, 3, 29, 43}
LEGACY, TYPE, COUNTER, MULTIPLIER, INCREMENTAL = 6, 9, 8, 4, 5


def packets(data):
    for number, value in parse(data):
        if number != 1 or not isinstance(value, bytes):
            yield [(0, (number, value))]
            continue
        packet = parse(value)
        packed = [v for n, v in packet if n == 50]
        if packed:
            yield from packets(zlib.decompress(packed[0]))
        else:
            yield packet


def event_facts(event):
    fields = parse(event)
    for number, value in fields:
        if number not in MODELLED_EVENT:
            yield 'field of an event', number, value
        if number == LEGACY:
            yield from (('field of a legacy event', n, v) for n, v in parse(value) if n not in MODELLED_LEGACY)
    if dict(fields).get(TYPE, 0) not in (0, 1, 2, 3, 4):
        yield 'event', event


def descriptor_facts(descriptor):
    """Yields the descriptor, except that of a counter with incremental or scaled samples, which is rewritten for absolute values."""
    fields = parse(descriptor)
    counter = dict(parse(dict(fields).get(COUNTER, b'')))
    if counter.get(INCREMENTAL) or counter.get(MULTIPLIER, 1) != 1:
        return
    yield 'descriptor', descriptor


def facts(data):
    found = collections.Counter()
    for packet in packets(data):
        for number, value in packet:
            if number == 11:
                found.update(event_facts(value))
            elif number == 12:
                found.update(('interned', n, v) for n, v in parse(value) if n not in MODELLED_INTERNED)
            elif number == 60:
                found.update(descriptor_facts(value))
            elif number not in OF_PACKET | MODELLED_PACKETS:
                found[number, value] += 1
    for fact in found:
        if fact[0] in ('descriptor', 'interned'):  # repeated whenever the state of a sequence is cleared
            found[fact] = 1
    return found


def convert(source, target):
    p = subprocess.run([TRACEKIT, 'convert', '-q', '--force', source, '-f', 'perfetto', '-o', target], stdin=subprocess.DEVNULL,
                       capture_output=True, check=False)
    return p.returncode, p.stderr.decode('utf-8', 'replace')


def read(path):
    with (gzip.open if path.endswith('.gz') else open)(path, 'rb') as f:
        return f.read()


def one(label, path, work):
    once, twice = (os.path.join(work, name) for name in ('once.pftrace', 'twice.pftrace'))
    status, said = convert(path, once)
    if status:
        return  # damaged, or empty
    status, said = convert(once, twice)
    check(f'{label}: again', status == 0 and read(once) == read(twice), said or 'other bytes')
    try:
        before = facts(read(path))
    except (ValueError, zlib.error):
        return  # damaged: other tests check what is kept
    gone = before - facts(read(once))
    check(f'{label}: kept', not gone, [str(fact)[:200] for fact in gone][:3])


def made(work):
    """Returns one packet of each kind."""
    def packet(*fields):
        return field(1, b''.join(fields) + field(10, 3))

    def event(ts, *fields):
        return packet(field(8, ts), field(13, 2), field(11, b''.join(fields) + field(11, 77)))
    interned = field(12, field(2, field(1, 1) + field(2, b'name')) + field(20, field(1, 1) + field(2, b'body of a log message')) +
                     field(7, field(1, 9) + field(2, 5)))
    other = field(12, field(20, field(1, 1) + field(2, b'of the same id, after a clearing')))
    out = packet(field(13, 1), field(59, b''), interned)
    out += packet(field(60, field(1, 70) + field(3, field(1, 7) + field(6, b'process') + field(15, b'?'))))
    out += packet(field(60, field(1, 77) + field(5, 70) + field(4, field(1, 7) + field(2, 8)) + field(999, 5)))
    out += packet(field(60, field(1, 78) + field(5, 77) + field(2, b'first name') + field(15, 2)))
    out += packet(field(60, field(1, 79) + field(5, 78) + field(2, b'counter of a named track') + field(8, field(3, 3))))
    out += packet(field(60, field(1, 80) + field(5, 70) + field(2, b'state') + field(18, b'')))
    out += packet(field(60, field(1, 81) + field(5, 4711) + field(2, b'of a parent that is not there')))
    out += event(1000, field(9, 1), field(10, 1), field(21, field(2, 1)), field(55, b'\x0a\x00'), field(56, 9))
    out += event(1500, field(9, 2), field(57, 9), field(3, b'\x00'[:0]))
    out += packet(field(8, 1600), field(13, 2), field(11, field(9, 5) + field(11, 80) + field(10, 1)))
    out += packet(field(8, 1700), field(13, 2), field(11, field(9, 4) + field(11, 79) + field(30, 5) + field(23, b'name of a sample') +
                                                      field(4, field(10, b'a') + field(4, 1)) + field(56, 9)))
    out += packet(field(8, 1800), field(13, 2), field(11, field(9, 3) + field(11, 78) + field(23, b'instant') + field(6, field(9, 1))))
    out += packet(field(60, field(1, 78) + field(5, 77) + field(2, b'second name') + field(15, 2)))
    out += packet(field(13, 1), field(59, b''), other)
    out += event(2000, field(9, 3), field(23, b'x'), field(21, field(2, 1)), field(25, b'\x08\x01'), field(34, 1), field(17, 99))
    out += packet(field(72, field(1, b'')), field(8, 5)) + packet(field(8, 3000), field(35, b'?')) + field(900, b'of the file')
    path = os.path.join(work, 'made.pftrace')
    with open(path, 'wb') as f:
        f.write(out)
    return path


def incremental_counters(work):
    """Checks that samples of an incremental counter add up within a sequence, from 0 each time its state is cleared, as in
    trace_processor."""
    described = field(60, field(1, 10) + field(2, b'sum') + field(8, field(5, 1)))
    out = b''.join(field(1, described + field(10, q) + field(13, 1)) for q in (1, 2))
    sums, want = {1: 0, 2: 0}, []
    for i, (sequence, value) in enumerate(((1, 100), (2, 50), (1, 10), (1, None), (2, 5), (1, 7), (1, 1), (2, None), (2, 3))):
        if value is None:
            sums[sequence] = 0
            out += field(1, described + field(10, sequence) + field(13, 1))
            continue
        sums[sequence] += value
        want.append(sums[sequence])
        out += field(1, field(8, 1000 * (i + 1)) + field(10, sequence) + field(13, 2) + field(11, field(9, 4) + field(11, 10) + field(30, value)))
    path, text = os.path.join(work, 'sums.pftrace'), os.path.join(work, 'sums.json')
    with open(path, 'wb') as f:
        f.write(out)
    p = subprocess.run([TRACEKIT, 'convert', '-q', '--force', path, '-o', text], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    with open(text, encoding='utf-8') as f:
        found = [v for e in json.load(f)['traceEvents'] if e['ph'] == 'C' for v in e['args'].values()]
    check('incremental counters', p.returncode == 0 and found == want, f'{found}, not {want}')


def symbols(work):
    """Checks that packets with symbol names still follow the events of their input, because importers apply them only to earlier
    events."""
    event = field(1, field(8, 1000) + field(10, 3) + field(13, 1) + field(11, field(9, 3) + field(11, 77) + field(23, b'x')))
    names = b''.join(field(1, field(n, field(1, b'names')) + field(10, 3)) for n in (61, 64))
    path, out = os.path.join(work, 'symbols.pftrace'), os.path.join(work, 'out.pftrace')
    with open(path, 'wb') as f:
        f.write(event + field(1, field(35, b'?') + field(10, 3)) + names)
    for args, n in ((('convert', path), 1), (('merge', path, path), 2)):
        p = subprocess.run([TRACEKIT, *args, '-q', '--force', '--no-loss', '-o', out], stdin=subprocess.DEVNULL, capture_output=True, check=False)
        kinds = [k for packet in packets(read(out)) for k, _ in packet if k in (11, 61, 64)]
        check(f'names of code after {args[0]}', p.returncode == 0 and kinds == [11, 61, 64] * n, f'{kinds}: {p.stderr.decode()}')


def descriptor_times(work):
    """Checks descriptors written before the snapshots: their times are converted to the trace clock, or dropped if that is
    impossible."""
    clocks = ((6, 5000), (3, 4000), (64, 100))  # BOOTTIME, MONOTONIC, and a clock of the sequence
    snapshot = field(6, b''.join(field(1, field(1, c) + field(2, t) + (field(3, 1) if c == 64 else b'')) for c, t in clocks))
    out, want = field(1, snapshot + field(10, 3) + field(13, 1)), []
    for uuid, (time, clock, at) in enumerate(((7000, None, 7000), (4200, 3, 5200), (50, 64, 5050), (30, 64, 5080), (9, 5, None)), 71):
        out += field(1, field(8, time) + (field(58, clock) if clock else b'') + field(10, 3) + field(60, field(1, uuid) + field(2, b'track')))
        out += field(1, field(8, 8000) + field(10, 3) + field(11, field(9, 3) + field(11, uuid) + field(23, b'x')))
        want.append((at, 6 if clock and at else None))
    path, written = os.path.join(work, 'times.pftrace'), os.path.join(work, 'out.pftrace')
    with open(path, 'wb') as f:
        f.write(out)
    p = subprocess.run([TRACEKIT, 'convert', '-q', '--force', path, '-o', written], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    found = [(dict(packet).get(8), dict(packet).get(58)) for packet in packets(read(written)) if 60 in dict(packet)]
    check('times of descriptors', p.returncode == 0 and found == want, f'{found}, not {want}: {p.stderr.decode()}')


def concatenated(work):
    """Checks that events belong to the first of two tracks with one uuid, as in trace_processor v52, in a file of two runs."""
    def run(pid, ts):
        head = field(1, field(10, 3) + field(13, 1)) + field(1, field(60, field(1, 1) + field(3, field(1, pid) + field(6, b'run %d' % pid))))
        head += field(1, field(60, field(1, 2) + field(5, 1) + field(4, field(1, pid) + field(2, pid) + field(5, b'main'))))
        return head + b''.join(field(1, field(8, at) + field(10, 3) + field(11, field(9, kind) + field(11, 2) + field(23, b'work %d' % pid)))
                               for at, kind in ((ts, 1), (ts + 5, 2)))
    path, written = os.path.join(work, 'runs.pftrace'), os.path.join(work, 'out.pftrace')
    with open(path, 'wb') as f:
        f.write(run(100, 1000) + run(200, 2000))
    convert(path, written)
    query = 'select s.name, p.pid from slice s join thread_track k on k.id = s.track_id join thread using (utid) join process p using (upid)'
    for file in (path, written):
        for text, want in ((query, [('work 100', 100), ('work 200', 100)]),
                           ('select name, pid from process where pid > 0 order by pid', [('run 100', 100), ('run 200', 200)])):
            p = subprocess.run([TRACEKIT, 'sql', '-q', '--json', file, text], stdin=subprocess.DEVNULL, capture_output=True, check=False)
            rows = [tuple(row) for row in json.loads(p.stdout)['results'][0]['rows']] if p.returncode == 0 else p.stderr
            check(f'two runs in {os.path.basename(file)}', rows == want, rows)


def main():
    with tempfile.TemporaryDirectory() as work:
        path = made(work)
        check('there is something to keep', len(facts(read(path))) > 15, facts(read(path)))
        one('made', path, work)
        incremental_counters(work)
        symbols(work)
        descriptor_times(work)
        concatenated(work)
        for root in [os.path.join(FIXTURES, 'perfetto'), os.path.join(FIXTURES, 'nasty', 'pftrace'), *sys.argv[1:]]:
            for folder, _, names in sorted(os.walk(root)):
                for name in sorted(names):
                    if name.endswith(('.pftrace', '.pftrace.gz')):
                        one(os.path.relpath(os.path.join(folder, name), root), os.path.join(folder, name), work)
    return finish()


sys.exit(main())
