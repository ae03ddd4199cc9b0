#!/usr/bin/env python3
"""Converts random Perfetto traces of nested tracks, with every property of a descriptor and annotations of every type
(tests/support/trackprops.py), through each format and back: if --no-loss accepts the conversion, tracks, parents, properties,
events and the types of all values are those of the input. Merges of two such traces, and a filter of both that drops nothing, keep
parents and properties as well. LONG=1 tries more; SEED selects the first trace."""
import base64
import collections
import json
import os
import random
import subprocess
import sys
import tempfile

TRACEKIT, SRC = os.environ['TRACEKIT'], os.environ['SRC']
sys.path.insert(0, os.path.join(SRC, 'tests', 'support'))
import trackprops  # noqa: E402
from extensions import field  # noqa: E402
from verdict import check, finish  # noqa: E402

TRACES = 1000 if os.environ.get('LONG') else 20
WAYS = (('pftrace',), ('pftrace', 'pftrace'), ('json', 'pftrace'), ('xplane.pb', 'pftrace'), ('json', 'xplane.pb', 'pftrace'),
        ('xplane.pb', 'json', 'pftrace'))


def converted(path, out):
    """Returns false if --no-loss refuses the conversion."""
    p = subprocess.run([TRACEKIT, 'convert', '-q', '--force', '--no-loss', path, '-o', out], stdin=subprocess.DEVNULL, capture_output=True)
    if p.returncode and b'refused by --no-loss' not in p.stderr:
        raise RuntimeError(p.stderr.decode())
    return p.returncode == 0


def through(way, source, work):
    path = source
    for i, ending in enumerate(way):
        out = os.path.join(work, f'{i}.{ending}')
        if not converted(path, out):
            return None
        path = out
    with open(path, 'rb') as f:
        return trackprops.meaning(f.read())


def damaged(work, source, rng):
    """Checks that no event is lost if the block in JSON is damaged, or if it describes tracks that no longer exist."""
    whole, path, out, again = (os.path.join(work, name) for name in ('whole.json', 'damaged.json', 'damaged.pftrace', 'again.json'))
    if not converted(source, whole):
        return
    with open(whole, encoding='utf-8') as f:
        trace = json.load(f)
    if 'perfetto' not in trace:
        return
    block = bytearray(base64.b64decode(trace['perfetto']))
    n = len([e for e in trace['traceEvents'] if e['ph'] != 'M'])
    for kind in range(6):
        changed = bytearray(block)
        for _ in range(3 if kind < 4 else 0):
            changed[rng.randrange(len(changed))] = rng.choice((0, 1, 0x7f, 0x80, 0xff, rng.randrange(256)))
        if kind == 4:
            del changed[rng.randrange(len(changed)):]
        events = [{**e, **({'tid': f'{e["tid"]} renamed'} if kind == 5 and isinstance(e.get('tid'), str) else {})} for e in trace['traceEvents']]
        with open(path, 'w', encoding='utf-8') as f:
            json.dump({**trace, 'perfetto': base64.b64encode(changed).decode(), 'traceEvents': events}, f)
        for ends in ((path, out), (out, again)):
            p = subprocess.run([TRACEKIT, 'convert', '-q', '--force', ends[0], '-o', ends[1]], stdin=subprocess.DEVNULL, capture_output=True)
            check(f'damaged block {kind}: {ends[1]}', p.returncode == 0, p.stderr)
        with open(again, encoding='utf-8') as f:
            found = len([e for e in json.load(f)['traceEvents'] if e['ph'] != 'M'])
        check(f'damaged block {kind}', found == n, f'{found} of {n} events')


def annotated(path, *annotations):
    """Writes a span with annotations: (name, field with the value)."""
    event = field(9, 1) + field(11, 2) + field(23, b'a') + b''.join(field(4, field(10, name) + value) for name, value in annotations)
    thread = field(60, field(1, 2) + field(4, field(1, 10) + field(2, 11) + field(5, b't')))
    packets = (thread, field(8, 5) + field(11, event), field(8, 9) + field(11, field(9, 2) + field(11, 2)))
    with open(path, 'wb') as f:
        f.write(b''.join(field(1, packet + field(10, 3)) for packet in packets))


def types_of(path):
    """Returns the types of the annotations of the spans, by path."""
    out = subprocess.run([TRACEKIT, 'sql', '-q', '--csv', path, 'SELECT key, value_type FROM args WHERE key LIKE \'debug.%\' ORDER BY 1'],
                         stdin=subprocess.DEVNULL, capture_output=True)
    return dict(line.replace('"', '').split(',') for line in out.stdout.decode().splitlines()[1:])


def types(work):
    """Checks that a merge keeps the types of annotations of each input, and a filter those of the annotations that it does not drop."""
    UINT, POINTER = 3, 7
    a, b, merged, out = (os.path.join(work, name) for name in ('a.pftrace', 'b.pftrace', 'merged.json', 'out.pftrace'))
    annotated(a, (b'x', field(UINT, 5)))
    annotated(b, (b'y', field(UINT, 5)))
    subprocess.run([TRACEKIT, 'merge', '-q', '--force', a, b, '-o', merged], stdin=subprocess.DEVNULL, check=True)
    subprocess.run([TRACEKIT, 'convert', '-q', '--force', merged, '-o', out], stdin=subprocess.DEVNULL, check=True)
    check('types of several inputs', types_of(out) == {'debug.x': 'uint', 'debug.y': 'uint'}, types_of(out))
    nested = {name: field(11, field(10, b'k') + value) for name, value in ((b'a', field(UINT, 5)), (b'b', field(POINTER, 9)))}
    annotated(a, *nested.items())
    for dropped, left in (('a', {'debug.b.k': 'pointer'}), ('b', {'debug.a.k': 'uint'})):
        subprocess.run([TRACEKIT, 'filter', '-q', '--force', '--drop-args', dropped, a, '-o', out], stdin=subprocess.DEVNULL, check=True)
        check(f'types without {dropped}', types_of(out) == left, types_of(out))


NAMES, OWN = (2, 10, 13), (1, 3, 6, 7, 8)  # names of tracks; pid, order, name, start and labels of processes, which a merge changes or joins


def properties(meaning):
    """Returns the paths of tracks with events and their properties, without those that a merge may write differently: the field of the
    name, and the identity of processes. A merge shows tracks without a process in a process of the rank."""
    out = collections.Counter()
    for (path, fields, events), n in meaning.items():
        if not events:
            continue
        is_process = path[0][0] == 'process'
        fields = sorted((12, f[2]) if f[:2] == (4, 3) else f for f in fields)  # legacy_sort_index of a thread
        left = [f for f in fields if f[0] not in NAMES and not (is_process and (f[0] == 12 or f[0] == 3 and f[1] in OWN))]
        out[tuple(p for p in path if p[0] != 'process' or 0 < p[1] < 1000), tuple(left)] += n
    return out


def merged(work, seed):
    """Merges two traces, directly and through JSON if --no-loss accepts it, and filters both without dropping anything."""
    folder = os.path.join(work, 'ranks')
    os.makedirs(folder, exist_ok=True)
    ranks = [os.path.join(folder, f'rank{i}.pftrace') for i in range(2)]
    want = collections.Counter()
    for i, path in enumerate(ranks):
        data = trackprops.trace(2 * seed + i, 1 + 10 * i)
        want += properties(trackprops.meaning(data))
        with open(path, 'wb') as f:
            f.write(data)
    direct, filtered, text, back = (os.path.join(work, name) for name in ('direct.pftrace', 'filtered.pftrace', 'm.json', 'back.pftrace'))
    ways = ((direct, ('merge', '--align', 'none', *ranks, '-o', direct)),
            (filtered, ('filter', '-e', 'ts >= 0ns', folder, '-o', filtered)),
            (text, ('merge', '--align', 'none', '--no-loss', *ranks, '-o', text)), (back, ('convert', text, '-o', back)))
    for out, args in ways:
        if out == back and not os.path.exists(text):
            break
        p = subprocess.run([TRACEKIT, *args, '-q', '--force', '--no-provenance'], stdin=subprocess.DEVNULL, capture_output=True)
        refused = out == text and b'refused by --no-loss' in p.stderr
        check(f'seed {seed}: {args[0]} to {os.path.basename(out)}', p.returncode == 0 or refused, p.stderr.decode())
        if out == text or p.returncode:
            continue
        with open(out, 'rb') as f:
            got = properties(trackprops.meaning(f.read()))
        check(f'seed {seed}: properties in {os.path.basename(out)}', got == want, trackprops.first_difference(want, got))


def main():
    accepted = collections.Counter()
    first = int(os.environ.get('SEED', '1'))
    with tempfile.TemporaryDirectory() as work:
        source = os.path.join(work, 'source.pftrace')
        for seed in range(first, first + TRACES):
            data = trackprops.trace(seed)
            with open(source, 'wb') as f:
                f.write(data)
            want = trackprops.meaning(data)
            for way in WAYS:
                got = through(way, source, work)
                if got is None:
                    continue
                accepted[way] += 1
                check(f'seed {seed} through {" ".join(way)}', got == want, trackprops.first_difference(want, got))
            with tempfile.TemporaryDirectory() as folder:
                merged(folder, seed)
            if seed % 4 == 0:
                damaged(work, source, random.Random(seed))
        types(work)
    for way in WAYS:  # other formats mix up counters of one name in one process, and types of numbers of one key
        least = TRACES if set(way) == {'pftrace'} else TRACES // 3
        check(f'{" ".join(way)}: traces accepted', accepted[way] >= least, f'{accepted[way]} of {TRACES}')
    return finish()


sys.exit(main())
