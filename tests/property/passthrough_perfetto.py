#!/usr/bin/env python3
"""Checks a filter that drops every event of a Perfetto trace: no string of a dropped event is in the output. This covers names,
categories, arg keys and values, and data that passes through uninterpreted (interned data of unknown packets, descriptors of
extensions, fields of tracks)."""
import json
import os
import subprocess
import sys
import tempfile

TRACEKIT, SRC, FIXTURES = (os.environ[name] for name in ('TRACEKIT', 'SRC', 'FIXTURES'))
sys.path.insert(0, os.path.join(SRC, 'tests', 'support'))
import extensions  # noqa: E402
import machines  # noqa: E402
from extensions import field  # noqa: E402
from protobuf import parse  # noqa: E402
from verdict import check, finish  # noqa: E402

LEAST = 6  # bytes; shorter strings occur by chance


def run(*args):
    return subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, capture_output=True)


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def of_events(text):
    """Returns the strings of events, except those that also occur in metadata, which is kept."""
    trace = json.loads(text)
    events = trace.pop('traceEvents')
    known = {'ph', 'pid', 'tid', 'ts', 'dur', 'name', 'cat', 'args', 'id', 'id2', 'bp', 's', 'scope'}
    stays = ' '.join([*strings(trace), *(s for e in events if e.get('ph', '-') == 'M' for s in strings(e))])
    found = {s for e in events if e.get('ph', '-') != 'M' for s in strings(e)} - known
    return {s.encode() for s in found if len(s.encode()) >= LEAST and s not in stays}


def shared_sequence():
    """Returns events and unknown packets on one sequence that interns names for both."""
    def packet(*fields):
        return field(1, b''.join(fields) + field(10, 1))
    interned = field(12, field(2, field(1, 1) + field(2, b'interned name')) + field(3, field(1, 1) + field(2, b'interned key')))
    args = field(4, field(1, 1) + field(6, b'value of the arg'))
    out = packet(field(13, 1), field(59, b''), interned) + packet(field(35, field(15, b'interned name')))
    out += packet(field(60, field(1, 7) + field(4, field(1, 1) + field(2, 2)) + field(999, b'field of the track')))
    out += packet(field(8, 1000), field(13, 2), field(11, field(9, 1) + field(11, 7) + field(10, 1) + args))
    return out + packet(field(8, 2000), field(13, 2), field(11, field(9, 2) + field(11, 7)))


def made(work):
    traces = {'shared_sequence': shared_sequence(), 'machines': machines.trace(),
              'extensions': extensions.trace(extensions.CASES, extensions.field(9903, 5))}
    for name, data in traces.items():
        path = os.path.join(work, f'{name}.pftrace')
        with open(path, 'wb') as f:
            f.write(data)
        yield path, True
    for folder in ('perfetto', 'nasty/pftrace'):
        for name in sorted(os.listdir(os.path.join(FIXTURES, folder))):
            yield os.path.join(FIXTURES, folder, name), False


def body_of(data):
    """Returns, by name of its event, the interned text to which the log message (field 21) of each event refers."""
    texts, out = {}, {}
    for _, fields in ((n, parse(value)) for n, value in parse(data) if n == 1):
        get = dict(fields)
        sequence = get.get(10, 0)
        if get.get(13, 0) & 1:
            texts[sequence] = {}
        for number, entry in parse(get.get(12, b'')):
            entry = dict(parse(entry))
            texts.setdefault(sequence, {})[number, entry.get(1)] = entry.get(2)
        event = dict(parse(get.get(11, b'')))
        if 21 in event:
            name = event.get(23) or texts[sequence].get((2, event.get(10)))
            out[name] = texts.get(sequence, {}).get((20, dict(parse(event[21])).get(2)))
    return out


def interned_stays(work):
    """Checks that events which an operation keeps also keep the interned data of their fields, also through another format."""
    def packet(*fields):
        return field(1, b''.join(fields) + field(10, 1))

    def event(ts, name, iid):
        begin = field(9, 1) + field(11, 7) + field(23, name) + field(21, field(2, iid))
        return packet(field(8, ts), field(13, 2), field(11, begin)) + packet(field(8, ts + 10), field(13, 2), field(11, field(9, 2) + field(11, 7)))
    head = packet(field(60, field(1, 7) + field(4, field(1, 1) + field(2, 2))))
    first = packet(field(13, 1), field(12, field(20, field(1, 1) + field(2, b'dropped')))) + event(1000, b'other', 1)
    second = packet(field(13, 1), field(12, field(20, field(1, 1) + field(2, b'kept')))) + event(2000, b'one', 1) + event(3000, b'two', 1)
    source, out, text, back = (os.path.join(work, name) for name in ('in.pftrace', 'kept.pftrace', 'kept.json', 'back.pftrace'))
    with open(source, 'wb') as f:
        f.write(head + first + second)
    kind = ('-e', 'name == one || name == two')
    for args in (('filter', '--no-loss', *kind, source, '-o', out), ('filter', '--no-loss', *kind, source, '-o', text), ('convert', text, '-o', back)):
        p = run(*args, '-q', '--force', '--no-provenance')
        check(' '.join(args), p.returncode == 0, p.stderr)
    for path in (out, back):
        with open(path, 'rb') as f:
            data = f.read()
        check(f'{os.path.basename(path)}: texts of log messages', body_of(data) == {b'one': b'kept', b'two': b'kept'}, body_of(data))
        check(f'{os.path.basename(path)}: nothing that only dropped events used', b'dropped' not in data)


def main():
    n_strings = 0
    with tempfile.TemporaryDirectory() as work:
        out = os.path.join(work, 'out.pftrace')
        for path, must_load in made(work):
            name = os.path.basename(path)
            whole = run('convert', '-q', path, '-f', 'json', '-o', '-')
            if whole.returncode and not must_load:
                continue
            wanted = of_events(whole.stdout)
            same = run('convert', '-q', '--force', path, '-f', 'perfetto', '-o', out)
            with open(out, 'rb') as f:
                all_there = f.read()
            if must_load:
                check(f'{name}: there are strings before', same.returncode == 0 and any(s in all_there for s in wanted), same.stderr)
            less = run('filter', '-q', '--allow-empty', '--force', '--no-provenance', '-e', 'name == "there is no such event"', path,
                       '-f', 'perfetto', '-o', out)
            check(f'{name}: filter', less.returncode == 0, less.stderr)
            with open(out, 'rb') as f:
                left = f.read()
            check(f'{name}: nothing of a dropped event', not any(s in left for s in wanted), [s for s in wanted if s in left][:5])
            n_strings += len(wanted)
        interned_stays(work)
    check('there are strings to look for', n_strings > 100, n_strings)
    return finish()


sys.exit(main())
