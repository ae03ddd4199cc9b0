#!/usr/bin/env python3
"""Converts random Perfetto traces of nested tracks, with every property of a descriptor and annotations of every type
(tests/support/trackprops.py), through each format and back: if --no-loss accepts the conversion, tracks, parents, properties,
events and the types of all values are those of the input. LONG=1 tries more; SEED selects the first trace."""
import collections
import os
import subprocess
import sys
import tempfile

TRACEKIT, SRC = os.environ['TRACEKIT'], os.environ['SRC']
sys.path.insert(0, os.path.join(SRC, 'tests', 'support'))
import trackprops  # noqa: E402
from verdict import check, finish  # noqa: E402

TRACES = 1000 if os.environ.get('LONG') else 40
WAYS = (('pftrace',), ('pftrace', 'pftrace'))


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
    for way in WAYS:
        check(f'{" ".join(way)}: traces accepted', accepted[way] == TRACES, f'{accepted[way]} of {TRACES}')
    return finish()


sys.exit(main())
