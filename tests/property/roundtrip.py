#!/usr/bin/env python3
"""Chrome JSON -> graph -> Chrome JSON is the same trace: every event and record with every member, every top-level key, as values.

Two parsers that know nothing of tracekit's compare: Python's, with numbers kept as the text that they were.  ts and dur are equal to
1 ps.  Order may differ (metadata comes first, flow points last), so events are compared as a multiset; records that are {} say
nothing and may go.  Also: writing is stable (the second round gives the same bytes), and --pretty changes blanks only.

Over the fixtures, or over the files that are named."""
import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

TRACEKIT, FIXTURES = os.environ['TRACEKIT'], os.environ['FIXTURES']
PICOSECOND = Decimal('0.000001')

# Inputs whose values cannot all be the same afterwards, although nothing had to be repaired.
EXCEPTIONS = {}


class Number(str):
    """A number as it was printed: 1.0 is not 1, and no digit is lost."""


def read(path):
    with open(path, 'rb') as f:
        data = f.read()
    if data[:2] == b'\x1f\x8b':
        data = gzip.decompress(data)
    if data[:2] in (b'\xff\xfe', b'\xfe\xff'):
        data = data.decode('utf-16').encode()
    return json.loads(data, parse_float=Number, parse_int=Number)


def time(value):
    return str(Decimal(value).quantize(PICOSECOND).normalize() + 0)


def canonical(event):
    if not isinstance(event, dict):
        return json.dumps(event)
    event = dict(event)
    for key in ('ts', 'dur'):
        if isinstance(event.get(key), str):
            event[key] = time(event[key])
    return json.dumps(event, sort_keys=True, default=str)


def parts(trace):
    if isinstance(trace, list):
        return Counter(canonical(e) for e in trace if e != {}), {}
    rest = {k: v for k, v in trace.items() if k not in ('traceEvents', 'tracekit')}
    return Counter(canonical(e) for e in trace['traceEvents'] if e != {}), rest


def convert(*args):
    subprocess.run([TRACEKIT, 'convert', '-q', *args], check=True, stdin=subprocess.DEVNULL, timeout=300)


def same_bytes(a, b):
    with open(a, 'rb') as f, open(b, 'rb') as g:
        return f.read() == g.read()


def shortened(counter, n=3):
    return '; '.join(text[:300] for text in list(counter)[:n])


def faults(path, work):
    name = os.path.join(work, path.replace('/', '_')[-150:])
    source = os.path.join(FIXTURES, path)
    once, twice, pretty = name + '.1.json', name + '.2.json', name + '.pretty.json.gz'
    convert(source, '-o', once)
    convert(once, '-o', twice)
    convert(source, '--pretty', '-o', pretty)
    before, keys_before = parts(read(source))
    after, keys_after = parts(read(once))
    if before - after:
        yield f'lost or changed: {shortened(before - after)}'
    if after - before:
        yield f'appeared: {shortened(after - before)}'
    if keys_before != keys_after:
        changed = [k for k in {**keys_before, **keys_after} if keys_before.get(k) != keys_after.get(k)]
        yield f'top-level keys differ: {changed}'
    if not same_bytes(once, twice):
        yield 'the second round gives other bytes'
    if parts(read(pretty)) != (after, keys_after):
        yield '--pretty changes more than blanks'


def sound_nasty_files():
    with open(os.path.join(FIXTURES, 'nasty', 'EXPECT.tsv'), encoding='utf-8') as f:
        for line in list(f)[1:]:
            path, _, verdict = line.split('\t')[:3]
            if verdict in ('ok', 'note'):
                yield 'nasty/' + path


def fixtures():
    for where, _, names in sorted(os.walk(os.path.join(FIXTURES, 'json'))):
        yield from (os.path.relpath(os.path.join(where, n), FIXTURES) for n in sorted(names))
    yield from sound_nasty_files()


def is_json(path):
    try:
        trace = read(os.path.join(FIXTURES, path))
        return isinstance(trace, list) or isinstance(trace['traceEvents'], list)
    except (ValueError, KeyError, TypeError):
        return False  # not JSON to Python either: nasty.py looks after those


def check(path):
    with tempfile.TemporaryDirectory() as work:
        try:
            return path, list(faults(path, work))
        except (subprocess.SubprocessError, ValueError, ArithmeticError) as e:
            return path, [str(e)]


def main():
    paths = [p for p in sys.argv[1:] or fixtures() if is_json(p)]
    failed = 0
    with ThreadPoolExecutor(2) as pool:
        for path, found in pool.map(check, paths):
            if path in EXCEPTIONS:
                found = [] if found else ['stands in EXCEPTIONS without need']
            failed += bool(found)
            for fault in found:
                print(f'{path}: {fault}')
    print(f'{len(paths) - failed} passed, {failed} failed')
    return 1 if failed else 0


sys.exit(main())
