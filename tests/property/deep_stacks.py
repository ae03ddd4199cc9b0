#!/usr/bin/env python3
"""Checks the size of output for a chain of calls with a sample or a span at each depth, whose stacks share frames in the input. Formats that
list all frames of each stack must refuse to write it, with an error about the limit, if the lists would be out of proportion. Chrome
JSON, in which stacks share frames too, grows in proportion to the input. Commands that only print answers need no such lists."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import check, finish  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']
FRAMES_MOST, DEPTH_MOST = 1 << 24, 1024  # lib/graph/stack.h
ENDINGS = ('speedscope.json', 'pprof', 'pftrace')


def chain(path, n):
    """Writes a CPU profile: n functions, each called by the one before it, and a sample in each."""
    nodes = [{'id': i, 'callFrame': {'functionName': f'f{i % 100}' if i else '(root)', 'scriptId': '0'},
              'children': [i + 1] if i < n else []} for i in range(n + 1)]
    with open(path, 'w', encoding='utf-8') as f:
        json.dump({'nodes': nodes, 'startTime': 0, 'endTime': 10 * n, 'samples': list(range(1, n + 1)), 'timeDeltas': [10] * n}, f)


def nested(path, n):
    """Writes n spans, each in the one before it."""
    with open(path, 'w', encoding='utf-8') as f:
        json.dump([{'name': f'f{i % 100}', 'ph': 'X', 'ts': i, 'dur': 2 * (n - i), 'pid': 1, 'tid': 1} for i in range(n)], f)


def run(*args):
    return subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def main():
    most = next(n for n in range(1, 100000) if (n + 1) * (n + 2) // 2 > FRAMES_MOST + DEPTH_MOST * (n + 1))
    with tempfile.TemporaryDirectory() as folder:
        for n in (most, most + 1):
            chain(f'{folder}/{n}.cpuprofile', n)
            for ending in ENDINGS:
                out = f'{folder}/{n}.{ending}'
                p = run('convert', '-q', f'{folder}/{n}.cpuprofile', '-o', out)
                if n == most:
                    check(f'{ending}: {n} deep', p.returncode == 0 and os.path.getsize(out) > n * n / 2, (p.returncode, p.stderr[:200]))
                else:
                    check(f'{ending}: {n} deep is refused', p.returncode == 3 and not os.path.exists(out) and b'the limit is' in p.stderr, (p.returncode, p.stderr[:200]))
                if os.path.exists(out):
                    os.remove(out)
        for n in (most, most + 2):
            nested(f'{folder}/{n}.json', n)
            for ending in ('pprof', 'folded'):
                out = f'{folder}/spans{n}.{ending}'
                p = run('convert', '-q', f'{folder}/{n}.json', '-o', out)
                if n == most:
                    check(f'{ending}: {n} spans deep', p.returncode == 0 and os.path.getsize(out) > n * n / 2, (p.returncode, p.stderr[:200]))
                    os.remove(out)
                else:
                    check(f'{ending}: {n} spans deep are refused', p.returncode == 3 and not os.path.exists(out) and b'the limit is' in p.stderr, (p.returncode, p.stderr[:200]))
        deep = f'{folder}/{most + 1}.cpuprofile'
        for ending in ENDINGS:
            p = run('filter', '-q', deep, '--time', '0%..50%', '-o', f'{folder}/half.{ending}')
            check(f'{ending}: half of the samples are written', p.returncode == 0, p.stderr[:200])
        p = run('convert', '-q', deep, '-o', f'{folder}/deep.json')
        size, of_input = os.path.getsize(f'{folder}/deep.json'), os.path.getsize(deep)
        check('JSON grows in proportion', p.returncode == 0 and size < 3 * of_input, (size, of_input))
        for command in (['top', '--json'], ['tree', '--folded'], ['info'], ['sql', '-q', '-e', 'select count(*) from stack_profile_callsite']):
            p = run(*command, deep)
            check(f'{command[0]} answers', p.returncode == 0 and len(p.stdout) < of_input, (p.returncode, len(p.stdout), of_input))


main()
sys.exit(finish())
