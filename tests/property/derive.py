#!/usr/bin/env python3
"""Checks tk_derive on the XPlane fixtures: without the derived parts the JSON equals the JSON of the original trace; XPlane
output after a round trip through JSON or Perfetto is unchanged; the invariants hold. tests/interop compares the derived lines
with xprof's."""
import collections
import glob
import json
import os
import subprocess
import sys
import tempfile

TRACEKIT, SRC, FIXTURES = (os.environ[name] for name in ('TRACEKIT', 'SRC', 'FIXTURES'))
sys.path.insert(0, os.path.join(SRC, 'tests', 'support'))
from verdict import check, finish  # noqa: E402

MARK = 'tracekit.derived'


def tracekit(*args):
    p = subprocess.run([TRACEKIT, *args], capture_output=True, stdin=subprocess.DEVNULL, check=False)
    check(' '.join(args), p.returncode == 0, p.stderr.decode())


def events(path):
    with open(path, encoding='utf-8') as f:
        return [e for e in json.load(f)['traceEvents']]


def less_derived(all_events):
    """Yields the events of the JSON without all that was derived: lines, events, args, and names of steps."""
    made = {(e['pid'], e['tid']) for e in all_events if e.get('args', {}).get(MARK) is True}
    for e in all_events:
        args = e.get('args', {})
        if (e['pid'], e.get('tid')) in made:
            continue
        given = args.pop(MARK, '')
        for key in given.split(',') if given else ():
            args.pop(key)
        if 'step_name' in given:
            e['name'] = args.pop('xplane.name', e['name'])
        if not args:
            e.pop('args', None)
        yield e


def counted(some):
    return collections.Counter(json.dumps(e, sort_keys=True) for e in some)


def sums(path, *args):
    """Returns the number of events and the time, in us, that a command adds up in all rows; its status if it fails."""
    p = subprocess.run([TRACEKIT, *args, '--json', path], capture_output=True, stdin=subprocess.DEVNULL, check=False)
    if p.returncode:
        return p.returncode, 0
    told = json.loads(p.stdout)
    rows = told.get('rows', told.get('paths'))
    return sum(row['count'] for row in rows), round(sum(row['self_ns'] for row in rows) / 1000)


def counts_once(label, derived, path):
    """Derived lines show work of other lines again, so they are in no sum, unless the user selects lines."""
    for args in (['top'], ['top', '--kind', 'kernel'], ['top', '--kind', 'device'], ['top', '--kind', 'op'], ['top', '--kind', 'collective'],
                 ['top', '--by', 'class'], ['tree', '--kind', 'device'], ['tree']):
        was, now = sums(path, *args), sums(derived, *args)
        check(f'{label}: {" ".join(args)} after derive', was == now, (was, now))
    names = [e['args']['name'] for e in events(derived) if e.get('ph') == 'M' and e['name'] == 'thread_name']
    ops = any(name.startswith('XLA Ops - from') for name in names)
    check(f'{label}: derived lines can be selected', not ops or sums(derived, 'top', '-e', 'track ~ "*XLA Ops - from*"')[0] > 1)


def look(path, work):
    label = os.path.relpath(path, FIXTURES)
    plain, derived, perfetto, back = (os.path.join(work, name) for name in ('plain.json', 'derived.json', 'derived.pftrace', 'back.xplane.pb'))
    reference = os.path.join(work, 'reference.xplane.pb')
    tracekit('convert', '--force', '--no-provenance', path, '-o', plain)
    tracekit('convert', '--force', '--no-provenance', '--derive', path, '-o', derived)
    was, now = counted(events(plain)), counted(less_derived(events(derived)))
    check(f'{label}: less what is marked it is the same', was == now, (list((was - now))[:2], list((now - was))[:2]))
    tracekit('check', '-q', derived)
    counts_once(label, derived, path)
    for between, undived in ((derived, plain), (perfetto, os.path.join(work, 'plain.pftrace'))):
        if between == perfetto:
            tracekit('convert', '--force', '--no-provenance', '--derive', path, '-o', perfetto)
            tracekit('convert', '--force', '--no-provenance', path, '-o', undived)
        tracekit('convert', '--force', '--no-provenance', between, '-o', back)
        tracekit('convert', '--force', '--no-provenance', undived, '-o', reference)
        with open(back, 'rb') as ours, open(reference, 'rb') as theirs:
            check(f'{label}: nothing goes back by way of {os.path.basename(between)}', ours.read() == theirs.read())
    return any(e.get('args', {}).get(MARK) for e in events(derived))


def main():
    paths = sorted(glob.glob(os.path.join(FIXTURES, 'xplane', '*', '*.xplane.pb')))
    with tempfile.TemporaryDirectory() as work:
        any_derived = [look(path, work) for path in paths]
    check('most files get something', sum(any_derived) > len(paths) / 2, any_derived)
    return finish()


if __name__ == '__main__':
    sys.exit(main())
