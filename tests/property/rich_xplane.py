#!/usr/bin/env python3
"""Checks XPlane to XPlane, directly and through the other formats, on random profiles that use every property of
events (tests/support/richtrace.py), and on small ones.

  wire       every output can be parsed to its end, and `check` accepts it
  whole      planes, lines, events, and the metadata that they refer to: names, bytes, children, stats with their names, types and
             order of values; ids may differ only for two names of one stat
  restored   XPlane -> JSON -> XPlane and XPlane -> Perfetto -> XPlane have the same planes as XPlane -> XPlane

    rich_xplane.py [TRACES [SEED]]"""
import collections
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import richtrace  # noqa: E402
import xspace  # noqa: E402
from verdict import finish, judge  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']
# Small profiles: ids of metadata beyond 32 bits, of stats beyond 31; two ids of one name, with and without values.
FOUND = {
    'big id': '0a161a092207088080808080202209088080808080201200',
    'big stat id': '0a351201701a1112016c220c08012208088080808010200322090801120508011201612a12088080808010120a08808080801012027374',
    'two stats of one name': '0a371201701a1312016c220e08012204080120012204080220022207080112031201652a09080212050802120161'
                             '2a09080112050801120161',
    'two ids without values': '0a401a0c220a08162202081d2202080e2204081612002a14080e1210120e636f7272656c6174696f6e5f6964'
                              '2a14081d1210120e636f7272656c6174696f6e5f6964',
}
N = int(sys.argv[1]) if len(sys.argv) > 1 else 150 if os.environ.get('LONG') else 60
SEED = sys.argv[2] if len(sys.argv) > 2 else '1'


def run(*args):
    p = subprocess.run([TRACEKIT, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=120)
    if p.returncode:
        raise RuntimeError(f'{" ".join(args)}: status {p.returncode}: {p.stderr.decode("utf-8", "replace")[:300]}')


def parsed(data):
    """Returns the fields of a message. Raises if it does not end with its last field."""
    found = list(xspace.fields(data))
    if sum(len(xspace.message(n, v)) if isinstance(v, bytes) else 0 for n, v in found) > len(data):
        raise ValueError('a field exceeds its message')
    return found


def stat(data, names):
    parts = parsed(data)
    ident = next((v for n, v in parts if n == 1), 0)
    value = [(n, names.get(v, ('', b''))[0] if n == 7 else v) for n, v in parts if n != 1]
    return names.get(ident, (f'#{ident}', b''))[0], tuple(value[-1:])


def entries(plane, number):
    found = {}
    for n, entry in plane:
        if n == number:
            parts = dict(parsed(entry))
            found[parts.get(1, 0)] = parsed(parts.get(2, b''))
    return found


def text(fields, number):
    return next((v.decode() for n, v in reversed(fields) if n == number), '')


def by_name(stats):
    """Returns the values of each name, in order; the last of several stats of one id and name may move."""
    found = collections.defaultdict(list)
    for name, value in stats:
        found[name].append(value)
    return tuple(sorted((name, tuple(values)) for name, values in found.items()))


def metadata(ident, classes, names, depth=0):
    fields = classes.get(ident)
    if fields is None:
        return ('#', ident)
    return (text(fields, 2), text(fields, 4), tuple(v for n, v in fields if n == 3),
            tuple(metadata(v, classes, names, depth + 1) if depth < 2 else 0 for n, v in fields if n == 7),
            by_name(stat(v, names) for n, v in fields if n == 5))


def meaning(data):
    """Returns the planes as values: events with all of their metadata."""
    found = []
    for n, plane in parsed(data):
        if n != 1:
            found.append((n, plane))
            continue
        fields = parsed(plane)
        names = {key: (text(value, 2), text(value, 3)) for key, value in entries(fields, 5).items()}
        classes = entries(fields, 4)
        lines = []
        for line in (parsed(v) for n, v in fields if n == 3):
            events = []
            for event in (parsed(v) for n, v in line if n == 4):
                parts = {n: v for n, v in event if n != 4}
                about = metadata(parts.pop(1, 0), classes, names)
                for absent in (2, 3):  # zero is the default
                    if parts.get(absent) == 0:
                        del parts[absent]
                events.append((about, tuple(sorted(parts.items())), by_name(stat(v, names) for n, v in event if n == 4)))
            lines.append((tuple(sorted((n, v) for n, v in line if n != 4)), tuple(sorted(map(str, events)))))
        unused = sorted(str(metadata(key, classes, names)) for key in classes)
        found.append((text(fields, 2), next((v for n, v in fields if n == 1), 0), tuple(lines), tuple(unused),
                      by_name(stat(v, names) for n, v in fields if n == 6)))
    return found


def read(path):
    with open(path, 'rb') as f:
        return f.read()


def differ(a, b):
    """Returns a text with the innermost values in which two nested values differ."""
    while isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)) and len(a) == len(b):
        a, b = next((x, y) for x, y in zip(a, b) if x != y)
    if isinstance(a, tuple) and isinstance(b, tuple):
        a, b = [x for x in a if x not in b][:2], [x for x in b if x not in a][:2]
    return f'{str(a)[:300]} became {str(b)[:300]}'


def compare(a, b):
    return '' if a == b else differ(a, b)


def one(label, path, folder):
    out = f'{folder}/out.xplane.pb'
    try:
        run('convert', '-q', '--force', '--no-provenance', path, '-o', out)
        run('check', '-q', out)
        judge(f'{label}: whole', compare(meaning(read(path)), meaning(read(out))))
        for ending in ('json', 'pftrace'):
            run('convert', '-q', '--force', '--no-provenance', path, '-o', f'{folder}/via.{ending}')
            run('convert', '-q', '--force', '--no-provenance', f'{folder}/via.{ending}', '-o', f'{folder}/back.xplane.pb')
            judge(f'{label}: through {ending}', compare(meaning(read(out)), meaning(read(f'{folder}/back.xplane.pb'))))
    except (RuntimeError, ValueError, IndexError) as e:
        judge(label, repr(e))


def without_ids(folder):
    """Checks that async spans whose ids were damaged remain spans: JSON cannot pair them."""
    spans = [(f'a{i}', 10 * i, 25) for i in range(3)]
    rows = [{'ph': ph, 'cat': 'm', 'id': name, 'pid': 1, 'tid': 2, 'ts': ts + dur * (ph == 'e'), 'name': name} for ph in 'be' for name, ts, dur in spans]
    with open(f'{folder}/async.json', 'w', encoding='utf-8') as f:
        json.dump(rows, f)
    run('convert', '-q', '--force', f'{folder}/async.json', '-o', f'{folder}/async.xplane.pb')
    with open(f'{folder}/async.xplane.pb', 'rb') as f:
        data = f.read()
    with open(f'{folder}/damaged.xplane.pb', 'wb') as f:
        f.write(data.replace(b'json.id', b'json.ix'))
    run('convert', '-q', '--force', f'{folder}/damaged.xplane.pb', '-o', f'{folder}/damaged.json')
    with open(f'{folder}/damaged.json', encoding='utf-8') as f:
        found = [(e['name'], e['ts'], e['dur']) for e in json.load(f)['traceEvents'] if e['ph'] == 'X']
    judge('async spans without ids', '' if data.count(b'json.id') == 1 and found == spans else repr(found))


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = os.environ.get('KEEP', folder)
        for i in range(N):
            path = f'{folder}/x{i}.xplane.pb'
            with open(path, 'wb') as f:
                f.write(richtrace.Xplane(random.Random(f'{SEED}.xplane.{i}')).make())
            one(f'random {i}', path, folder)
        for name, data in FOUND.items():
            path = f'{folder}/{name}.xplane.pb'
            with open(path, 'wb') as f:
                f.write(bytes.fromhex(data))
            one(name, path, folder)
        without_ids(folder)
    return finish()


sys.exit(main())
