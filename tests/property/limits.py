#!/usr/bin/env python3
"""--max-memory of any size: a command does what it does without a limit, or says in one line what it could not hold, with status 3;
never a signal, never silence.  LONG=1 tries more sizes."""
import concurrent.futures
import os
import subprocess
import sys
import tempfile

TRACEKIT, SRC = os.environ['TRACEKIT'], os.environ['SRC']
JOBS = int(os.environ.get('JOBS') or os.cpu_count() or 2)
STEP, GROWTH = (2, 1.05) if os.environ.get('LONG') else (13, 1.3)
ENDINGS = ('.json', '.pftrace', '.xplane.pb')


def commands():
    small = os.path.join(SRC, 'fixtures', 'hostile', 'small')
    for ending in ENDINGS:
        a = small + ending
        for out in (*ENDINGS, '.json.gz', '.json.zst', '.speedscope.json'):
            yield ['convert', a, '-o', 'out' + out]
        yield ['merge', a, small + '.json', '-o', 'out' + ending]
        yield ['redact', a, '--names', 'hash', '-o', 'out' + ending]
        yield ['filter', a, '-e', 'dur > 1us', '-o', 'out' + ending]
        yield ['shrink', a, '--to', '2KB', '-o', 'out' + ending]
        yield ['rebase', a, '--shift', '1ms', '-o', 'out' + ending]
        yield ['split', a, '--by', 'process', '-o', 'out{}' + ending]
        for command in ('info', 'size', 'dump', 'check'):
            yield [command, a]


def limits():
    size = 100
    while size < 16500:
        yield size
        size = size + STEP if size < 700 else int(size * GROWTH)


def judge(args, size):
    """What is wrong, or None."""
    with tempfile.TemporaryDirectory() as work:
        p = subprocess.run([TRACEKIT, *args, '--max-memory', f'{size}K'], cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE)
        files = os.listdir(work)
    if p.returncode not in (0, 3):
        return f'status {p.returncode}: {p.stderr.decode(errors="replace")[-200:]}'
    if p.returncode == 3 and (files or not p.stderr.strip()):
        return f'status 3, {len(p.stderr)} bytes of message, files {files}'
    if p.returncode == 0 and '-o' in args and not files:
        return 'status 0 and no file'
    return None


def main():
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for args in commands():
            sizes = list(limits())
            bad = [(size, why) for size, why in zip(sizes, pool.map(lambda size, args=args: judge(args, size), sizes)) if why]
            passed += len(sizes) - len(bad)
            failed += len(bad)
            for size, why in bad[:3]:
                print(f'not ok  {" ".join(args)} --max-memory {size}K: {why}')
    print(f'{passed} passed, {failed} failed')
    return failed != 0


sys.exit(main())
