#!/usr/bin/env python3
"""Tests the semantics, rule by rule: semantics/<rule>.json is a trace of a few lines, the first of which states its rule;
<rule>.dump is the expected output of `tracekit dump --graph`, including notes. GOLDEN=1 (make golden) writes the dumps
instead: review the diff.

Independently of the dump, each case must satisfy the invariants of the graph, and its output must read back with the same
meaning."""
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

TRACEKIT, GOLDEN = os.environ['TRACEKIT'], bool(os.environ.get('GOLDEN'))
HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'semantics')


def tracekit(*args, most=0):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    if not 0 <= p.returncode <= most:
        raise ValueError(f'{args[0]}: status {p.returncode}: {p.stderr.decode()}')
    return p.stdout.decode()


def meaning(dump):
    """Returns the lines of a dump without differences that writing may introduce: order, notes and repairs, the time origin,
    async tracks with nothing but an end, and the first of two values of a top-level key."""
    origin = int(re.search(r'origin=(-?\d+)ns', dump)[1]) * 1000
    lines = [line for line in dump.splitlines()[1:] if not line.startswith(('note ', 'meta tracekit '))]
    lines = [line.replace(' repaired', '') for line, below in zip(lines, lines[1:] + [''])
             if not line.startswith('track async') or below.startswith('  ')]
    metas = {line.split()[1]: line for line in lines if line.startswith('meta ')}
    lines = [line for line in lines if not line.startswith('meta ')] + list(metas.values())
    timed = r'((?:  \d+ [a-z]+|flow [a-z]+|record .|.* ->) )(-?\d+)(?= |$)'
    for _ in range(2):  # a flow point has its own time and the time of the event it is bound to
        lines = [re.sub('^' + timed, lambda m: f'{m[1]}@{int(m[2]) + origin}', line) for line in lines]
    # The first event of a track determines the spelling of its ids, and other spellings are recorded; the file's order decides
    # which event is first.
    lines = [re.sub(r'(pid|tid)="(-?\d+)"', r'\1=\2', re.sub(r' ?\{json\.respelled="[a-z ]*"\}', '', line)) for line in lines]
    return sorted(lines)


def difference(expected, got):
    expected, got = expected.splitlines(), got.splitlines()
    lines = [f'  - {line}' for line in expected if line not in got] + [f'  + {line}' for line in got if line not in expected]
    return '\n'.join(lines) or '  (the same lines in another order)'


def faults(rule, work):
    source, golden = os.path.join(HERE, rule + '.json'), os.path.join(HERE, rule + '.dump')
    written = os.path.join(work, rule + '.json')
    dump = tracekit('dump', '--graph', source)
    tracekit('check', '-q', source, most=1)  # status 1: the input needed repair
    if GOLDEN:
        with open(golden, 'w', encoding='utf-8') as f:
            f.write(dump)
    else:
        with open(golden, encoding='utf-8') as f:
            expected = f.read()
        if dump != expected:
            yield 'not what its golden says:\n' + difference(expected, dump)
    tracekit('convert', '-q', source, '-o', written)
    again = tracekit('dump', '--graph', written)
    if meaning(again) != meaning(dump):
        yield 'means something else once it was written:\n' + difference(*('\n'.join(meaning(d)) for d in (dump, again)))


def check(args):
    try:
        return args[0], list(faults(*args))
    except (OSError, ValueError, subprocess.SubprocessError) as e:
        return args[0], [str(e)]


def main():
    rules = sorted(name[:-5] for name in os.listdir(HERE) if name.endswith('.json'))
    stale = [name for name in os.listdir(HERE) if name.endswith('.dump') and name[:-5] not in rules]
    failed = len(stale)
    for name in stale:
        print(f'{name}: a golden without an input')
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(2) as pool:
        for rule, found in pool.map(check, [(rule, work) for rule in rules]):
            failed += bool(found)
            for fault in found:
                print(f'{rule}: {fault}')
    print(f'{len(rules) + len(stale) - failed} passed, {failed} failed')
    return 1 if failed else 0


sys.exit(main())
