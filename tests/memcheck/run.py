#!/usr/bin/env python3
"""Runs every command under valgrind's memcheck: reading uninitialised or freed memory is a failure.

AddressSanitizer does not detect uninitialised reads, and a golden file only if the value happens to differ. Each command
runs on a small trace in each format, with the arguments of tests/property/faults.py; in addition each fixture with one
command, with LONG=1 with all.

    run.py [WORD]    only cases whose name contains WORD"""
import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile

TRACEKIT, SRC, FIXTURES = (os.path.abspath(os.environ[name]) for name in ('TRACEKIT', 'SRC', 'FIXTURES'))
LONG = bool(os.environ.get('LONG'))
JOBS = int(os.environ.get('JOBS') or os.cpu_count() or 2)
SECONDS = 120
LARGEST = 200_000  # bytes of a fixture: valgrind is 30 times slower than direct execution
FOUND = 99
VALGRIND = ['valgrind', '-q', f'--error-exitcode={FOUND}', '--exit-on-first-error=no', '--num-callers=30']
QUERY = "select name, count(*), sum(dur) from slice left join thread_track on thread_track.id = track_id group by name order by 3 desc"
ON_FIXTURES = (
    ['tree'], ['report', '--json'], ['top', '--by', 'track'], ['sql', QUERY], ['dump'], ['check'], ['info', '--json'], ['size'],
    ['convert', '-o', 'out.json'], ['convert', '-o', 'out.pftrace'], ['convert', '-o', 'out.xplane.pb'], ['shrink', '--to', '2KB', '-o', 'out.json'],
    ['redact', '-o', 'out.pftrace'], ['split', '--by', 'process', '-o', 'part-{}.json'], ['report', '--html', 'out.html'],
)

sys.path.insert(0, os.path.join(SRC, 'tests', 'property'))
import faults  # noqa: E402


def fixtures():
    for folder, _, names in sorted(os.walk(FIXTURES)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            if not name.endswith(('.tsv', '.md')) and os.path.getsize(path) <= LARGEST:
                yield path


def cases(folder):
    """Yields name and arguments."""
    for name, args, files in faults.cases(folder):
        yield name, args + (['--force'] if files else [])
    for ending in ('.json', '.pftrace', '.xplane.pb'):
        yield 'sql' + ending, ['sql', faults.inputs(ending), QUERY]
    for i, path in enumerate(fixtures()):
        for command in ON_FIXTURES if LONG else [ON_FIXTURES[i % len(ON_FIXTURES)]]:
            yield f'{"-".join(command[:1])} {os.path.relpath(path, FIXTURES)}', [command[0], path, *command[1:]]


def judge(args):
    """Returns valgrind's report, or None. Whether the command succeeds is left to other tests."""
    work = tempfile.mkdtemp()
    try:
        p = subprocess.run([*VALGRIND, TRACEKIT, *args], cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return 'it never ends'
    finally:
        shutil.rmtree(work)
    text = p.stderr.decode(errors='replace')
    return None if 0 <= p.returncode < FOUND and '\n==' not in '\n' + text else f'status {p.returncode}\n{text[:3000]}'


def main():
    if not shutil.which('valgrind'):
        print('SKIPPED: memcheck: valgrind is not installed')
        return 0
    word = sys.argv[1] if len(sys.argv) > 1 else os.environ.get('T', '')
    failed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        faults.make_ranks(folder)
        chosen = [(name, args) for name, args in cases(folder) if word in name]
        for (name, args), why in zip(chosen, pool.map(judge, (args for _, args in chosen))):
            if why:
                failed += 1
                print(f'not ok  {name}: {" ".join(args)}: {why}')
    print(f'{len(chosen) - failed} passed, {failed} failed')
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
