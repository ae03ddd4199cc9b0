#!/usr/bin/env python3
"""Checks that `dump` with options that select events prints the same events as `filter` keeps. Each line must equal the line of that
event in the dump of the whole trace. An empty selection must exit with status 1, and incompatible or invalid options with status 2."""
import collections
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import check, finish  # noqa: E402

TRACEKIT, FIXTURES = os.environ['TRACEKIT'], os.environ['FIXTURES']
SELECTIONS = [['--kind=kernel'], ['--min-dur=20us'], ['--depth=..1'], ['--name=*add*', '--name=*gemm*'], ['--time=10%..60%'],
              ['-e', 'kind == host && dur > 5us'], ['--no-python'], ['--step=0..1'], ['--exclude=*a*']]


def run(*args, stdin=None):
    return subprocess.run([TRACEKIT, *args], input=stdin, stdin=None if stdin else subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)


def traces():
    found = []
    for root, _, names in os.walk(FIXTURES):
        found += [os.path.join(root, name) for name in names if name.endswith(('.json.gz', '.xplane.pb', '.pftrace'))]
    small = [path for path in sorted(found) if os.path.getsize(path) < 300000 and 'nasty' not in path]
    return small if os.environ.get('LONG') else small[::3]


def lines(*args):
    """Returns the status, and the events as (name, duration, the whole line)."""
    p = run('dump', '-q', '--jsonl', *args)
    rows = [json.loads(line) for line in p.stdout.decode().splitlines()]
    return p.returncode, [(row['name'], row.get('dur_ms'), json.dumps(row)) for row in rows]


def compare(path, folder, selection):
    what = f'{os.path.relpath(path, FIXTURES)} {" ".join(selection)}'
    status, got = lines(*selection, path)
    kept = f'{folder}/kept.json'
    if os.path.exists(kept):
        os.remove(kept)
    p = run('filter', '-q', *selection, path, '-o', kept)
    if p.returncode == 2:  # the trace has no steps
        check(f'{what}: refused too', status == 2, status)
        return
    want = lines(kept)[1] if p.returncode == 0 else []
    whole = collections.Counter(line for *_, line in lines(path)[1])
    check(f'{what}: status', status == (0 if got else 1), status)
    inside = [e for e in got if e[1] is not None]
    if not any(option.startswith(('--time', '--step')) for option in selection):  # filter cuts spans at the edges of a range
        names = collections.Counter(e[:2] for e in inside)
        check(f'{what}: events', names == collections.Counter(e[:2] for e in want if e[1] is not None),
              f'{len(inside)} and {len(want)} events')
    else:
        check(f'{what}: number', len(inside) == len([e for e in want if e[1] is not None]), f'{len(inside)} and {len(want)}')
    check(f'{what}: as in the whole trace', not collections.Counter(line for *_, line in got) - whole)
    if got:
        rows = run('dump', '-q', '--csv', *selection, path).stdout.decode().splitlines()
        check(f'{what}: CSV', len(rows) >= len(got) + 1, len(rows))


def refused(path):
    for args in (['--graph', '--kind=kernel'], ['--kind=nosuch'], ['-e', 'dur >'], ['--time=x']):
        p = run('dump', *args, path)
        check(f'{args}: refused', p.returncode == 2 and not p.stdout and p.stderr, p.stderr.decode())
    p = run('dump', '--name=no such name', path)
    check('nothing is a finding', p.returncode == 1 and not p.stdout and b'nothing matched' in p.stderr, p.stderr.decode())
    p = run('dump', '--name=no such name', '--allow-empty', path)
    check('unless it may be', p.returncode == 0 and p.stdout.count(b'\n') == 1, p.stderr.decode())
    p = run('dump', '--min-dur=1us', '--head=2', path)
    check('the first of the selected', p.stdout.count(b'\n') == 4 and b'(2 of ' in p.stdout, p.stdout.decode())


def main():
    with tempfile.TemporaryDirectory() as folder:
        paths = traces()
        check('there are traces', len(paths) > 3, paths)
        for path in paths:
            for selection in SELECTIONS:
                compare(path, folder, selection)
        refused(next(path for path in paths if 'torch' in path))
    return finish()


if __name__ == '__main__':
    sys.exit(main())
