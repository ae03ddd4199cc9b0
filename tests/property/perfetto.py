#!/usr/bin/env python3
"""Checks that JSON -> Perfetto -> JSON keeps every event of the fixtures (name, category, time to the ns, track, args, flow
points, counters of several series) and every record, and that Perfetto -> Perfetto -> Perfetto writes the same bytes.

LOSS lists what Perfetto cannot represent. Both sides of a comparison are JSON from our own writer, so that repairs by the
JSON reader are not tested here."""
import collections
import gzip
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal, InvalidOperation, ROUND_HALF_UP

TRACEKIT, FIXTURES = os.environ['TRACEKIT'], os.environ['FIXTURES']
MOST = 40_000_000 if os.environ.get('LONG') else 8_000_000  # bytes of JSON

LOSS = """
times below 1 ns; 1.50 is 1.5
spans that overlap come back whole, not as B and E
"""


def convert(source, target):
    p = subprocess.run([TRACEKIT, 'convert', '-q', '--force', source, '-o', target], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return p.returncode, p.stderr.decode('utf-8', 'replace').strip()


def load(path):
    with open(path, 'rb') as f:
        return json.loads(f.read(), parse_float=Decimal)


def ns(us):
    try:
        return int((Decimal(us) * 1000).quantize(Decimal(1), ROUND_HALF_UP)) if us is not None else None
    except InvalidOperation:
        return us  # text that is not a number


def plain(v):
    """Converts numbers as a double stores them: 1.50 and 1.5 are equal."""
    if isinstance(v, Decimal):
        return int(v) if v == int(v) and abs(v) < 1 << 53 else float(v)
    if isinstance(v, int) and not isinstance(v, bool) and abs(v) >= 1 << 63:
        return float(v)
    if isinstance(v, dict):
        return {k: plain(x) for k, x in v.items()}
    if isinstance(v, list):
        return [plain(x) for x in v]
    return v


def text(v):
    return json.dumps(plain(v), sort_keys=True)


def event_key(e):
    ph = e.get('ph')
    rest = {k: v for k, v in e.items() if k not in ('ph', 'ts', 'dur', 'args')}
    args = e.get('args')
    return ph, ns(e.get('ts')), text(rest), text(args)


def events(trace):
    out = collections.defaultdict(list)
    for e in trace['traceEvents']:
        end = None
        if e.get('ph') == 'X':
            end = ns(Decimal(e['ts']) + Decimal(e.get('dur', 0))) - ns(e['ts'])
        out[event_key(e)].append(end or 0)
    return out


def differences(a, b):
    for key in sorted(set(a) | set(b), key=repr):
        x, y = sorted(a.get(key, [])), sorted(b.get(key, []))
        if len(x) != len(y):
            yield f'{len(x)} against {len(y)}: {key}'
        elif any(abs(p - q) > 1 for p, q in zip(x, y)):
            yield f'durations {x[:3]} against {y[:3]}: {key}'


def against(straight, back):
    """Returns the faults of the JSON file `back` relative to `straight`."""
    return list(differences(events(load(straight)), events(load(back))))


def check(path, work):
    base = os.path.join(work, path.replace('/', '_'))
    straight, there, back, again, more = (base + s for s in ('.a.json', '.pftrace', '.b.json', '.2.pftrace', '.3.pftrace'))
    for source, target in ((path, straight), (straight, there), (there, back), (there, again), (again, more)):
        status, err = convert(source, target)
        if status != 0:
            return [] if source == path else [f'{source} -> {target}: status {status}: {err}']
    faults = against(straight, back)
    with open(again, 'rb') as f, open(more, 'rb') as g:
        if f.read() != g.read():
            faults.append('Perfetto -> Perfetto: other bytes the second time')
    for f in (straight, there, back, again, more):
        os.remove(f)
    return faults


def size(path):
    with open(path, 'rb') as f:
        head = f.read(2)
    if head != b'\x1f\x8b':
        return os.path.getsize(path)
    n = 0
    with gzip.open(path) as f:
        while block := f.read(1 << 20):
            n += len(block)
    return n


def main(check):
    paths = sys.argv[1:]
    for folder, _, files in sorted(os.walk(os.path.join(FIXTURES, 'json'))) if not paths else []:
        paths += [p for f in sorted(files) if size(p := os.path.join(folder, f)) <= MOST]
    failed = 0
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(2) as pool:
        for path, faults in zip(paths, pool.map(lambda p: check(p, work), paths)):
            failed += bool(faults)
            for fault in faults[:8]:
                print(f'{os.path.relpath(path, FIXTURES)}: {fault[:300]}')
    print(f'{len(paths) - failed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(check))
