#!/usr/bin/env python3
"""Checks --max-memory with any size: a command gives the same result as without a limit, or reports in one line, with status 3,
that memory did not suffice; it never dies from a signal or fails silently. From 16 MB on, peak memory is at most 10% above the
limit, and the lowest limit that suffices is at most 10% above the peak memory; to both, 2 MB are added, because two threads
measure memory once per megabyte each. LONG=1 tries more sizes and larger traces."""
import concurrent.futures
import os
import subprocess
import sys
import tempfile

TRACEKIT, SRC = os.environ['TRACEKIT'], os.environ['SRC']
JOBS = int(os.environ.get('JOBS') or os.cpu_count() or 2)
SANITIZED = os.environ['B'].endswith('san')  # sanitizers replace the allocator and use extra memory
STEP, GROWTH = (2, 1.05) if os.environ.get('LONG') else (29, 1.5) if SANITIZED else (13, 1.3)
CC = os.environ.get('CC', 'cc')
GEN = os.path.join(os.environ['B'], 'tests', 'gen', 'gen')
SPANS = '300000' if os.environ.get('LONG') else '100000'
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
    """Returns the fault, or None."""
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


# ---- peak memory ----

def run(args, folder):
    """Returns the exit status, and the peak resident memory in KB. MALLOC_PERTURB_ would touch all memory that is reserved."""
    peak = os.path.join(folder, 'peak')
    p = subprocess.run([TRACEKIT, *args], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       env={**{name: value for name, value in os.environ.items() if name != 'MALLOC_PERTURB_'},
                            'PEAK': peak, 'LD_PRELOAD': os.path.join(folder, 'peak.so')})
    with open(peak) as f:
        return p.returncode, int(f.read())


def large_commands(path, ending):
    for out in (*ENDINGS, '.json.gz', '.json.zst', '.speedscope.json'):
        yield ['convert', path, '-o', 'out' + out]
    yield ['redact', path, '-o', 'out' + ending]
    yield ['filter', path, '-e', 'dur > 1us', '-o', 'out' + ending]
    yield ['shrink', path, '--to', str(os.path.getsize(path) // 4), '-o', 'out' + ending]
    yield ['rebase', path, '--shift', '1ms', '-o', 'out' + ending]
    yield ['merge', path, path, '-o', 'out' + ending]
    yield ['split', path, '--by', 'process', '-o', 'out{}' + ending]
    for command in (['info'], ['size'], ['dump'], ['check'], ['list', '--deep']):
        yield [*command, path]


def peak_is_within(args, folder):
    """Searches for the lowest limit with which the command succeeds, and checks it. Returns the fault, or None."""
    args = [*args, '-j2', *(['--force'] if '-o' in args else [])]
    too_little, enough = 16 << 10, 512 << 10
    needed = None
    while enough - too_little > enough * 0.02:
        limit = (too_little + enough) // 2
        status, peak = run([*args, '--max-memory', f'{limit}K'], folder)
        if status not in (0, 3) or peak > limit * 1.1 + 2048:
            return f'--max-memory {limit}K: status {status}, {peak} KB'
        if status == 0:
            enough, needed = limit, peak
        else:
            too_little = limit
    if needed is None:
        return 'no limit is enough'
    return f'--max-memory {enough}K is needed for {needed} KB' if enough > max(needed * 1.1 + 2048, 18 << 10) else None


def judge_peaks():
    passed = failed = 0
    if SANITIZED:
        print('SKIPPED: limits: what memory is taken, under a sanitizer')
        return 0, 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*CC.split(), '-std=c11', '-O1', '-shared', '-fPIC', '-o', os.path.join(folder, 'peak.so'),
                        os.path.join(SRC, 'tests', 'preload', 'peak.c')], check=True)
        for kind, ending in zip(('kineto', 'perfetto', 'xplane'), ENDINGS):
            path = os.path.join(folder, 'in' + ending)
            with open(path, 'wb') as f:
                subprocess.run([GEN, kind, '--spans', SPANS], stdout=f, check=True)
            for args in large_commands(path, ending):
                why = peak_is_within(args, folder)
                passed += not why
                failed += bool(why)
                if why:
                    print(f'not ok  {" ".join(args)}: {why}')
    return passed, failed


def main():
    passed, failed = judge_peaks()
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
