#!/usr/bin/env python3
"""Checks --max-memory with any size: a command gives the same result as without a limit, or reports in one line, with status 3,
that memory did not suffice; it never dies from a signal or fails silently. From 16 MB on, peak memory is at most 10% above the
limit, plus the memory of a run on an empty trace. LONG=1 tries more sizes and larger traces."""
import concurrent.futures
import os
import subprocess
import sys
import tempfile

TRACEKIT, SRC = os.environ['TRACEKIT'], os.environ['SRC']
JOBS = int(os.environ.get('JOBS') or os.cpu_count() or 2)
STEP, GROWTH = (2, 1.05) if os.environ.get('LONG') else (13, 1.3)
SANITIZED = os.environ['B'].endswith('san')  # sanitizers replace the allocator and use extra memory
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
    """Returns the exit status, and the peak resident memory in KB."""
    pid = os.fork()
    if pid == 0:
        os.chdir(folder)
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        os.execv(TRACEKIT, [TRACEKIT, *args])
    _, status, usage = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_maxrss


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


def peak_is_within(args, folder, empty):
    """Returns the fault, or None. Raises the limit until the command succeeds."""
    for limit in (16, 24, 32, 48, 64, 96, 128, 192, 256):
        status, peak = run([*args, '--max-memory', f'{limit}M', *(['--force'] if '-o' in args else [])], folder)
        most = limit * 1024 * 1.1 + empty
        if status not in (0, 3) or peak > most:
            return f'--max-memory {limit}M: status {status}, {peak} KB, at most {most:.0f}'
        if status == 0:
            return None
    return 'no limit is enough'


def judge_peaks():
    passed = failed = 0
    if SANITIZED:
        print('SKIPPED: limits: what memory is taken, under a sanitizer')
        return 0, 0
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, 'empty.json'), 'w') as f:
            f.write('[]')
        empty = run(['info', 'empty.json'], folder)[1]
        for kind, ending in zip(('kineto', 'perfetto', 'xplane'), ENDINGS):
            path = os.path.join(folder, 'in' + ending)
            with open(path, 'wb') as f:
                subprocess.run([GEN, kind, '--spans', SPANS], stdout=f, check=True)
            for args in large_commands(path, ending):
                why = peak_is_within(args, folder, empty)
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
