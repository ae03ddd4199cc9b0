#!/usr/bin/env python3
"""Converts random Perfetto traces of nested tracks, with every property of a descriptor and annotations of every type
(tests/support/trackprops.py), through each format and back: if --no-loss accepts the conversion, tracks, parents, properties,
events and the types of all values are those of the input. LONG=1 tries more; SEED selects the first trace."""
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
    """Changes the block that JSON embeds: no event is lost, whatever the block contains, nor if tracks of the block are gone."""
    whole, path, out, again = (os.path.join(work, name) for name in ('whole.json', 'damaged.json', 'damaged.pftrace', 'again.json'))
    converted(source, whole)
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
            if seed % 4 == 0:
                damaged(work, source, random.Random(seed))
    for way in WAYS:  # other formats mix up counters of one name in one process, and types of numbers of one key
        least = TRACES if set(way) == {'pftrace'} else TRACES // 3
        check(f'{" ".join(way)}: traces accepted', accepted[way] >= least, f'{accepted[way]} of {TRACES}')
    return finish()


sys.exit(main())
