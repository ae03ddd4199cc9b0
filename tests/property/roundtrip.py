#!/usr/bin/env python3
"""Checks that Chrome JSON -> graph -> Chrome JSON gives the same trace: every event and record with every member, every
top-level key, compared as values.

tests/support/chromejson.py defines equality, and uses Python's parser. Also checks that writing is stable (the second round
gives the same bytes), and that --pretty changes only whitespace.

Checks the fixtures, or the files given as arguments."""
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from chromejson import differences, is_trace, parts, read  # noqa: E402

TRACEKIT, FIXTURES = os.environ['TRACEKIT'], os.environ['FIXTURES']

# Inputs with values that change although nothing had to be repaired.
EXCEPTIONS = {
}


def convert(*args):
    subprocess.run([TRACEKIT, 'convert', '-q', *args], check=True, stdin=subprocess.DEVNULL, timeout=300)


def same_bytes(a, b):
    with open(a, 'rb') as f, open(b, 'rb') as g:
        return f.read() == g.read()


def faults(path, work):
    name = os.path.join(work, path.replace('/', '_')[-150:])
    source = os.path.join(FIXTURES, path)
    once, twice, pretty = name + '.1.json', name + '.2.json', name + '.pretty.json.gz'
    convert(source, '-o', once)
    convert(once, '-o', twice)
    convert(source, '--pretty', '-o', pretty)
    after = read(once)
    yield from differences(read(source), after)
    if not same_bytes(once, twice):
        yield 'the second round gives other bytes'
    if parts(read(pretty)) != parts(after):
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


def check(path):
    with tempfile.TemporaryDirectory() as work:
        try:
            return path, list(faults(path, work))
        except (subprocess.SubprocessError, ValueError, ArithmeticError) as e:
            return path, [str(e)]


def main():
    paths = [p for p in sys.argv[1:] or fixtures() if is_trace(os.path.join(FIXTURES, p))]
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
