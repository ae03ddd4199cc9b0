#!/usr/bin/env python3
"""Checks the unmodelled data that an XPlane filter passes through: nothing of removed events is left, and everything of kept
events remains.

    to nothing    no string of six bytes or more of any event (name, args, text in its programs) is in the output, nor a program
    less an arg   no string of six bytes or more that occurred only in the arg's values is in the output (for files without
                  programs)
    to one name   the metadata of that name is unchanged, and so are the programs of its events; no other program is in the
                  output

Arguments: files or directories to search (default: the fixtures)."""
import collections
import glob
import gzip
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from xspace import fields, plane_name  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']
SHORT = 6  # bytes; shorter texts occur by chance
PROGRAMS = (b'Hlo Proto', b'hlo_proto')


def run(*args):
    return subprocess.run([TRACEKIT, *args], capture_output=True, text=True, timeout=300)


ALLOW_EMPTY = ['--allow-empty'] if '--allow-empty' in run('help', 'filter').stdout else []


def filtered(path, out, *options):
    p = run('filter', '--force', '--no-provenance', path, '-o', out, *ALLOW_EMPTY, *options)
    if p.returncode != 0:
        raise RuntimeError(f'{path}: filter {options}: status {p.returncode}: {p.stderr.strip()}')
    with open(out, 'rb') as f:
        return f.read()


def read(path):
    with (gzip.open if path.endswith('.gz') else open)(path, 'rb') as f:
        return f.read()


# ---- the wire ----

def entries(plane, number):
    """Returns {id: value message} of a map field of a plane."""
    found = {}
    for field, data in fields(plane):
        if field == number:
            entry = dict(fields(data))
            found[entry.get(1, 0)] = entry.get(2, b'')
    return found


def values(message, number, names):
    """Yields (name, field, value) of the stats of a message; a reference is resolved to its name."""
    for field, data in fields(message):
        if field != number:
            continue
        stat = list(fields(data))
        name = names.get(dict(stat).get(1, 0), b'?')
        for kind, value in stat:
            if kind != 1:
                yield name, kind, names.get(value, b'') if kind == 7 else value


class Plane:
    def __init__(self, data):
        self.name = plane_name(data)
        self.lines = [d for f, d in fields(data) if f == 3]
        self.stats = {k: dict(fields(v)).get(2, b'') for k, v in entries(data, 5).items()}
        self.metadata = entries(data, 4)

    def stats_of(self, key):
        return sorted(map(repr, values(self.metadata[key], 5, self.stats)))

    def called(self, key):
        metadata = dict(fields(self.metadata[key]))
        return metadata.get(4) or metadata.get(2, b'')

    def programs(self):
        """Returns {program id: HLO} from the metadata of the plane."""
        found = {}
        for key, message in self.metadata.items():
            stats = {name: value for name, _, value in values(message, 5, self.stats)}
            hlo = next((stats[n] for n in PROGRAMS if n in stats), None)
            if hlo is not None:
                name = dict(fields(message)).get(2, b'')
                number = name[name.rfind(b'(') + 1:-1] if name.endswith(b')') else b''
                found[int(number) if number.isdigit() else stats.get(b'program_id', key)] = hlo
        return found


def planes_of(space):
    return [Plane(data) for field, data in fields(space) if field == 1]


def programs_of(space):
    return {key: hlo for plane in planes_of(space) for key, hlo in plane.programs().items()}


# ---- the laws ----

def texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for k, v in value.items():
            yield k
            yield from texts(v)
    elif isinstance(value, list):
        for v in value:
            yield from texts(v)


def events_of(path, work):
    out = os.path.join(work, 'events.json')
    p = run('convert', '--force', '-q', path, '-o', out)
    if p.returncode != 0:
        raise RuntimeError(f'{path}: convert: {p.stderr.strip()}')
    return [e for e in json.loads(read(out))['traceEvents'] if e.get('ph', '-') in ('X', 'C', 'i', 'I')]


def strings_of(events):
    found = set()
    for e in events:
        for text in [e['name'], *texts(e.get('args', {}))]:
            if not text.startswith(('xplane.', 'data:;base64,')) and len(text.encode()) >= SHORT:
                found.add(text.encode())
    return found


def facts_of(space):
    """Returns the names of planes without lines, and names and values of their stats: these describe the profile, not its
    events."""
    facts = [plane_name(d).encode() for f, d in fields(space) if f == 1 and not any(g == 3 for g, _ in fields(d))]
    for field, data in fields(space):
        if field == 1 and not any(f == 3 for f, _ in fields(data)):
            names = Plane(data).stats
            facts += [*names.values(), *(v for _, _, v in values(data, 6, names) if isinstance(v, bytes))]
    return b'\n'.join(facts)


def to_nothing(path, strings, work):
    facts = facts_of(read(path))
    for options in ([], ['--drop-args', '*']):
        left = filtered(path, os.path.join(work, 'nothing.xplane.pb'), '-e', 'name == "no such event"', *options)
        found = sorted(s for s in strings if s in left and s not in facts)
        if found:
            yield f'to nothing {options}: {len(found)} of {len(strings)} strings are left: {found[:3]}'
        if programs_of(left):
            yield f'to nothing {options}: {len(programs_of(left))} programs are left'


def less_arg(path, events, work):
    keys = sorted({k for e in events for k, v in e.get('args', {}).items() if isinstance(v, str)})
    for key in keys[:8]:
        values_of = strings_of([{'name': '', 'args': {key: e['args'][key]}} for e in events if key in e.get('args', {})])
        others = strings_of([{**e, 'args': {k: v for k, v in e.get('args', {}).items() if k != key}} for e in events])
        left = filtered(path, os.path.join(work, 'less.xplane.pb'), '--drop-args', key)
        found = sorted(s for s in values_of if s in left and not any(s in o for o in others))
        if found:
            yield f'less {key}: {len(found)} of {len(values_of)} values are left: {found[:3]}'


def some_names(events):
    """Returns the most frequent name, and that of each program if events record their program."""
    count = collections.defaultdict(collections.Counter)
    for e in events:
        count[e.get('args', {}).get('program_id')][e['name']] += 1
    return sorted({c.most_common(1)[0][0] for c in list(count.values())[:4]})


def to_name(path, name, events, work):
    space = read(path)
    left = filtered(path, os.path.join(work, 'some.xplane.pb'), '-e', 'name == ' + json.dumps(name, ensure_ascii=False))
    before = {p.name: p for p in planes_of(space)}
    for plane in planes_of(left):
        was = before[plane.name]
        for key in plane.metadata if plane.lines else ():
            if key not in was.metadata:
                yield f'{name}: {plane.name}: metadata {key} was not there'
            elif plane.called(key) != was.called(key) or plane.stats_of(key) != was.stats_of(key):
                yield f'{name}: {plane.name}: metadata {key} is another: {plane.stats_of(key)} for {was.stats_of(key)}'
    used = {str(e.get('args', {}).get('program_id')) for e in events if e['name'] == name}
    had, has = programs_of(space), programs_of(left)
    wanted = {key for key in had if str(key) in used}
    if any(has.get(key) != had[key] for key in wanted):
        yield f'{name}: programs {sorted(wanted)} are wanted, there are {sorted(has)}'
    if used != {'None'} and set(has) - wanted:
        yield f'{name}: programs {sorted(set(has) - wanted)} are left'


def laws(path, work):
    events = events_of(path, work)
    yield from to_nothing(path, strings_of(events), work)
    if not programs_of(read(path)):
        yield from less_arg(path, events, work)
    for name in some_names(events):
        yield from to_name(path, name, events, work)


def main():
    roots = sys.argv[1:] or [os.path.join(os.environ['FIXTURES'], 'xplane')]
    paths = sorted(p for root in roots for p in
                   ([root] if os.path.isfile(root) else glob.glob(os.path.join(root, '**', '*.xplane.pb'), recursive=True)))
    passed = failed = 0
    with tempfile.TemporaryDirectory() as work:
        for path in paths:
            if read(path).count(b'\xef\xbf\xbd') > 100:
                continue  # damaged by a text filter: not a trace
            faults = list(laws(path, work))
            for fault in faults[:5]:
                print(f'{path}: {fault}')
            failed += bool(faults)
            passed += not faults
    if not sys.argv[1:] and sum(bool(programs_of(read(p))) for p in paths) < 2:
        print('fewer than two fixtures have programs')
        failed += 1
    print(f'{passed} passed, {failed} failed')
    sys.exit(failed != 0)


if __name__ == '__main__':
    main()
