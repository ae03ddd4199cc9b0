#!/usr/bin/env python3
"""Laws of filter, split and rebase, on every fixture that is read without repair.

Python's own parser reads the events, and the expected result of a filter is computed here from the JSON, so that neither
side of a comparison relies on tracekit alone. Every output must pass `tracekit check`."""
import collections
import glob
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

TRACEKIT, FIXTURES = os.environ['TRACEKIT'], os.environ['FIXTURES']
MOST = 60_000_000 if os.environ.get('LONG') else 3_000_000  # bytes of JSON


class Wrong(Exception):
    pass


def tracekit(*args, fine=(0,)):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode not in fine:
        raise Wrong(f'{" ".join(args)}: status {p.returncode}: {p.stderr.decode("utf-8", "replace").strip()[:300]}')
    return p


def write(command, source, target, *args):
    tracekit(command, '-q', '--force', '--no-provenance', source, *args, '-o', target)
    tracekit('check', '-q', target)
    return target


def load(path):
    with open(path, 'rb') as f:
        return json.loads(f.read(), parse_float=Decimal)['traceEvents']


def content(path):
    """Returns the lines of a file except the block with properties of Perfetto's tracks, which contains their ids in the file."""
    with open(path, 'rb') as f:
        return [line for line in f.read().split(b'\n') if not line.startswith(b'"perfetto":')]


def same(what, a, b):
    """Checks that two files have equal bytes; if one was converted from another format, after another round through JSON, which
    fixes the order of members."""
    if content(a) == content(b):
        return
    for path in (a, b):
        tracekit('convert', '-q', '--no-provenance', path, '-o', path + '.again.json', '--force')
    if content(a + '.again.json') != content(b + '.again.json'):
        raise Wrong(f'{what}: {os.path.basename(a)} and {os.path.basename(b)} differ')


def key(event):
    """Returns the event as text without flow fields, because filter removes a flow if one of its ends is removed."""
    return json.dumps({k: v for k, v in event.items() if k not in ('bind_id', 'flow_in', 'flow_out')}, sort_keys=True, default=str)


def whole(events):
    """Returns the complete spans (X), which need no pairing."""
    return [e for e in events if e.get('ph') == 'X']


def check_kept(what, before, path, wanted):
    want = collections.Counter(key(e) for e in whole(before) if wanted(e))
    got = collections.Counter(key(e) for e in whole(load(path)))
    if want != got:
        raise Wrong(f'{what}: {sum((want - got).values())} spans are missing, {sum((got - want).values())} should not be there, '
                    f'such as {next(iter(want - got or got - want))[:200]}')


def common(values):
    counted = collections.Counter(v for v in values if v is not None)
    return counted.most_common(1)[0][0] if counted else None


def quoted(text):
    return '"' + text.replace('\\', '\\\\').replace('"', '\\"') + '"'


def filters(events):
    """Yields (expression, predicate in Python on an X event) from values that occur in the trace."""
    spans = whole(events)
    name, cat = common(e.get('name') for e in spans), common(e.get('cat') for e in spans)
    pid = common(e['pid'] for e in spans if isinstance(e.get('pid'), int))
    arg = common(k for e in spans for k, v in e.get('args', {}).items() if isinstance(v, int) and not isinstance(v, bool))
    durations = sorted(e['dur'] for e in spans)
    if name and '\0' not in name and '\n' not in name:
        yield f'name == {quoted(name)}', lambda e: e.get('name') == name
    if cat:
        yield f'cat != {quoted(cat)}', lambda e: e.get('cat') != cat
    if pid is not None:
        yield f'pid == {pid}', lambda e: e.get('pid') == pid
    if durations:
        middle = durations[len(durations) // 2]
        yield f'dur >= {middle}us', lambda e: e['dur'] >= middle
    if arg and all(c.isalnum() or c in '_ ' for c in arg) and ' ' not in arg:
        value = common(e['args'][arg] for e in spans if isinstance(e.get('args', {}).get(arg), int))
        number = lambda v: isinstance(v, (int, Decimal)) and not isinstance(v, bool)
        yield f'arg.{arg} >= {value}', lambda e: number(e.get('args', {}).get(arg)) and e['args'][arg] >= value


def comparable(events):
    """True if the model can judge all complete spans: durations are numbers and args are objects."""
    for e in whole(events):
        if not isinstance(e.get('dur'), (int, Decimal)) or not isinstance(e.get('args', {}), dict):
            return False
    return True


def dangling(path):
    """Returns the number of flow points without a counterpart."""
    return json.loads(tracekit('info', '-q', '--json', path).stdout)['traces'][0]['dangling_flow_points']


def filter_laws(source, plain, work):
    events = load(plain)
    loose = dangling(source)
    identity = write('filter', source, work + 'identity.json')
    same('filter(true) = identity', plain, identity)
    everything = write('filter', source, work + 'all.json', '-e', 'pid || !pid')
    same('a filter that all pass = identity', plain, everything)
    if not comparable(events):
        return
    chosen = list(filters(events))
    for text, wanted in chosen:
        once = write('filter', source, work + 'once.json', '-e', text, '--allow-empty')
        check_kept(text, events, once, wanted)
        twice = write('filter', once, work + 'twice.json', '-e', text, '--allow-empty')
        same(f'{text}: twice = once', once, twice)
    for (a, _), (b, _) in zip(chosen, chosen[1:]):
        both = write('filter', source, work + 'both.json', '-e', f'({a}) && ({b})', '--allow-empty')
        first = write('filter', source, work + 'b.json', '-e', b, '--allow-empty')
        then = write('filter', first, work + 'ab.json', '-e', a, '--allow-empty')
        check = collections.Counter(map(key, whole(load(both)))), collections.Counter(map(key, whole(load(then))))
        if check[0] != check[1]:
            raise Wrong(f'filter({a} && {b}) is not filter({a}) of filter({b})')
    for name in ('parents', 'children', 'flows'):
        if chosen:
            kept = write('filter', source, work + 'kept.json', '-e', chosen[0][0], '--keep', name, '--allow-empty')
            if dangling(kept) > loose:
                raise Wrong(f'--keep {name}: {dangling(kept)} ends dangle, {loose} did')
    window = write('filter', source, work + 'window.json', '--time', '25%..75%', '--allow-empty')
    if dangling(window) > loose:
        raise Wrong(f'--time: {dangling(window)} ends dangle, {loose} did')


def multiset(events):
    """Counts events without parts that a merge assigns anew: pids, flow ids, metadata."""
    out = collections.Counter()
    for e in events:
        if e.get('ph', '-') in 'XBEiIC':
            out[json.dumps([e.get('ph'), e.get('name'), e.get('cat'), e.get('ts'), e.get('dur'), e.get('args')], default=str)] += 1
    return out


def split_law(source, plain, work):
    folder = work + 'parts'
    os.makedirs(folder, exist_ok=True)
    for old in glob.glob(folder + '/*'):
        os.remove(old)
    p = tracekit('split', '-q', '--no-provenance', source, '--by', 'process', '-o', folder + '/{}.json', fine=(0, 2))
    if p.returncode:
        return
    parts = sorted(glob.glob(glob.escape(folder) + '/*.json'))
    tracekit('merge', '-q', '--force', '--no-provenance', *parts, '-o', work + 'merged.json')
    before, after = multiset(load(plain)), multiset(load(work + 'merged.json'))
    if before != after:
        raise Wrong(f'split by process, then merged: {sum((before - after).values())} events are missing, '
                    f'{sum((after - before).values())} are new, such as {next(iter(before - after or after - before))[:200]}')


def has_samples(path):
    """True if events of a JSON trace are records of stack samples, which any edit replaces by events of tracekit's own."""
    return any(e.get('ph') == 'P' for e in load(path))


def rebase_laws(source, plain, work):
    if has_samples(plain):
        edited = write('rebase', source, work + 'edited.json', '--shift', '1us')
        plain = write('rebase', edited, work + 'plain_again.json', '--shift', '-1us')
    there = write('rebase', source, work + 'there.json', '--shift', '1234567.891ns')
    back = write('rebase', there, work + 'back.json', '--shift', '-1234567.891ns')
    same('a shift there and back', plain, back)
    moved = Decimal('1234.567891')
    for a, b in zip(whole(load(plain)), whole(load(there))):
        if b['ts'] - a['ts'] != moved or a['dur'] != b['dur']:
            raise Wrong(f'shift: {a["ts"]} became {b["ts"]}')
    zero = write('rebase', source, work + 'zero.json', '--to-zero')
    times = [e['ts'] for e in load(zero) if e.get('ph', '-') in ('X', 'B', 'i', 'C', 'b') and isinstance(e.get('ts'), (int, Decimal))]
    if times and abs(min(times)) > Decimal('0.000001') and not has_lost_clock(source):
        raise Wrong(f'--to-zero: the first event is at {min(times)}')


def has_lost_clock(source):
    return b'lost their clock' in tracekit('info', source).stderr or b'100 days' in tracekit('info', source).stderr


def laws(source):
    with tempfile.TemporaryDirectory() as folder:
        work = folder + '/'
        plain = work + 'plain.json'
        tracekit('convert', '-q', '--no-provenance', source, '-o', plain)
        if os.path.getsize(plain) > MOST:
            return None
        filter_laws(source, plain, work)
        split_law(source, plain, work)
        rebase_laws(source, plain, work)
    return True


def sources():
    for where in ('json', 'xplane', 'perfetto'):
        for top, _, names in sorted(os.walk(os.path.join(FIXTURES, where))):
            for name in sorted(names):
                path = os.path.join(top, name)
                if subprocess.run([TRACEKIT, 'info', '-q', '--strict', path], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL).returncode == 0:
                    yield path


def main():
    passed, failed, large = 0, 0, 0

    def run(path):
        try:
            return path, laws(path), None
        except (Wrong, KeyError, TypeError) as e:
            return path, False, e

    with ThreadPoolExecutor(int(os.environ.get('JOBS', '2'))) as pool:
        for path, fine, why in pool.map(run, sources()):
            passed += fine is True
            failed += fine is False
            large += fine is None
            if fine is False:
                print(f'not ok  {os.path.relpath(path, FIXTURES)}: {why}')
    if large:
        print(f'{large} traces of more than {MOST // 1000000} MB wait for LONG=1')
    print(f'{passed} passed, {failed} failed')
    return failed > 0 or passed < 20


sys.exit(main())
