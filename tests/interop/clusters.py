#!/usr/bin/env python3
"""Checks that a merge by tracekit.cluster writes the same bytes as `tracekit merge`: 16 ranks on four hosts, with every executor
given as an argument (default: process). Clusters run on this machine.

    same       the bytes, in each format, with options of merge, on the command line and by the function
    killed     the worker of a rank is killed once in each step: the step is repeated, and the output is the same
    failing    a step that fails because of the machine is repeated; if it always fails, its message is printed
    damaged    an unreadable rank: the message of the command and no output or, on request, output of all others
    mapped     a function that kills its process once is called again
    usage      a missing package, unknown names, options that only merge supports, an output that exists"""
import concurrent.futures
import os
import signal
import stat
import subprocess
import sys
import tempfile

SRC = os.environ['SRC']
TRACEKIT = os.path.realpath(os.environ['TRACEKIT'])
os.environ['TRACEKIT'] = TRACEKIT
os.environ.pop('PYSPARK_PYTHON', None)  # the executor must choose the interpreter
os.environ.setdefault('SPARK_LOCAL_IP', '127.0.0.1')
PACKAGE = f'{SRC}/python/tracekit'
sys.path[:0] = [f'{SRC}/tests/support', PACKAGE]
import _executors  # noqa: E402
import cluster  # noqa: E402
from ranks import make_rank  # noqa: E402
from verdict import check, finish  # noqa: E402

RANKS, STEPS = 16, 4
NAMES = [f'rank{i:02}.json' for i in range(RANKS)]
LOCAL = {'submitit': ['--address', 'local']}
WORKERS = {'submitit': '16'}  # a job takes seconds to start


def read(path):
    if not os.path.exists(path):
        return b''
    with open(path, 'rb') as f:
        return f.read()


def tracekit(folder, *args, status=0):
    p = subprocess.run([TRACEKIT, *args], cwd=folder, capture_output=True, text=True, errors='replace', check=False)
    check(f'tracekit {" ".join(args)[:60]}: status', p.returncode == status, p.stderr[-300:])
    return p.stderr


def merged(folder, out, *options, names=None):
    tracekit(folder, 'merge', '-q', '--force', *(names or NAMES), *options, '-o', out)
    return read(f'{folder}/{out}')


def run(folder, executor, out, *args, status=0, python=sys.executable, env=None):
    """Runs the command line. Returns its standard error."""
    at = args.index('--') if '--' in args else len(args)
    p = subprocess.run([python, f'{PACKAGE}/cluster.py', 'merge', 'rank*.json', '-o', out, '--executor', executor, '--workers', WORKERS.get(executor, '2'),
                        *LOCAL.get(executor, []), *args], cwd=folder, capture_output=True, text=True, errors='replace', check=False,
                       env=env, timeout=400)
    check(f'{executor} {" ".join(args[:at])} {out}: status {status}', p.returncode == status, f'{p.returncode}: {p.stderr[-1500:]}')
    return p.stderr


def left(folder):
    return [n for n in os.listdir(folder) if 'parts' in n or n.startswith(('.', 'tmp'))]


def script(folder, name, text):
    """Writes a script that runs the shell commands `text`, then tracekit. Returns its path."""
    path = f'{folder}/{name}'
    with open(path, 'w', encoding='ascii') as f:
        f.write(f'#!/bin/bash\n{text}\nexec {TRACEKIT} "$@"\n')
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    return path


def same(folder, executor):
    some = [('json.gz', ()), ('pftrace', ('--group-by', 'host', '--threads', '1', '--every-rank=2'))]
    for ending, options in some + ([('xplane.pb', ('--to', '200KB')), ('pftrace.gz', ())] if executor == 'process' else []):
        want = merged(folder, f'want.{ending}', *options)
        run(folder, executor, f'got.{ending}', '--force', '--', *options)
        check(f'{executor} {ending}: the bytes of a merge', want and want == read(f'{folder}/got.{ending}'))
    check(f'{executor}: nothing else is left', not left(folder), left(folder))


def killed(folder, executor):
    want = merged(folder, 'want.json')
    once = f'{folder}/once.{executor}'
    command = script(folder, 'killer', f'if [[ "$*" = *rank03.json* ]] && mkdir "{once}.$1" 2> /dev/null; then kill -9 $PPID; sleep 1; exit 1; fi')
    run(folder, executor, 'killed.json', '--force', '--command', command)
    check(f'{executor}: a worker was killed in each step', os.path.isdir(f'{once}.scan') and os.path.isdir(f'{once}.apply'))
    check(f'{executor}: killed: the bytes of a merge', want == read(f'{folder}/killed.json'))


def failing(folder, executor):
    want = merged(folder, 'want.json')
    once = f'{folder}/fails.{executor}'
    command = script(folder, 'once', f'if [[ "$1 $*" = apply*rank05.json* ]] && mkdir "{once}" 2> /dev/null; then exit 4; fi')
    run(folder, executor, 'again.json', '--force', '--command', command)
    check(f'{executor}: a step that fails once: the bytes of a merge', os.path.isdir(once) and want == read(f'{folder}/again.json'))
    command = script(folder, 'always', 'if [[ "$1 $*" = apply*rank05.json* ]]; then echo "tracekit: rank05.json: the disk is full" >&2; exit 4; fi')
    said = run(folder, executor, 'none.json', '--command', command, status=1)
    check(f'{executor}: a step that always fails', said.strip().split('\n')[-1] == 'tracekit: rank05.json: the disk is full', said[-800:])
    check(f'{executor}: ... leaves nothing', not os.path.exists(f'{folder}/none.json') and not left(folder), left(folder))


def damaged(folder, executor):
    whole, others = read(f'{folder}/rank05.json'), [n for n in NAMES if n != 'rank05.json']
    with open(f'{folder}/rank05.json', 'wb') as f:
        f.write(whole[:len(whole) // 2])
    message = tracekit(folder, 'scan', '-q', 'rank05.json', '-o', 'none.scan', status=3).strip()
    said = run(folder, executor, 'none.json', status=1)
    check(f'{executor}: damaged: the message of the command', message and message in said and 'Traceback' not in said, said[-800:])
    check(f'{executor}: damaged: leaves nothing', not os.path.exists(f'{folder}/none.json') and not left(folder), left(folder))
    said = run(folder, executor, 'most.json', '--force', '--keep-going', status=3)
    want = merged(folder, 'fifteen.json', names=others)
    check(f'{executor}: ... or left out', 'rank05.json: left out' in said and read(f'{folder}/most.json') == want != b'', said[-500:])
    with open(f'{folder}/rank05.json', 'wb') as f:
        f.write(whole)


def double_or_die(item):
    path, n = item
    if n == 3 and not os.path.exists(path):
        os.mkdir(path)
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * n


def mapped(folder, executor):
    """Checks that map() of the executor repeats the items of a worker process that was killed."""
    address = 'local' if executor == 'submitit' else None
    e = _executors.make(executor, workers=2, address=address, folder=f'{folder}/jobs')
    try:
        got = list(e.map(double_or_die, [(f'{folder}/mapped.{executor}', n) for n in range(8)]))
    finally:
        e.close()
    check(f'{executor}: map repeats what a killed worker did', got == [2 * n for n in range(8)], got)
    check(f'{executor}: ... and one was killed', os.path.isdir(f'{folder}/mapped.{executor}'))


def function(folder):
    """Merges with executors that are not ours: a function, and an object with map()."""
    want = merged(folder, 'want.json.gz')
    paths = [f'{folder}/{n}' for n in NAMES]
    want_here = merged(folder, 'paths.json.gz', names=paths)
    cluster.merge(paths, f'{folder}/f.json.gz', executor=map)
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        cluster.merge(f'{folder}/rank*.json', f'{folder}/g.json.gz', executor=pool)
    check('a function as the executor', want and want_here == read(f'{folder}/f.json.gz'))
    check('a pool as the executor', want_here == read(f'{folder}/g.json.gz'))


def alone(folder):
    """Returns a Python without packages."""
    python = f'{folder}/alone/bin/python'
    if not os.path.exists(python):
        subprocess.run([sys.executable, '-m', 'venv', '--without-pip', f'{folder}/alone'], check=True)
    return python


def usage(folder):
    for executor, package in (('ray', 'ray'), ('dask', "'dask[distributed]'"), ('spark', 'pyspark'), ('submitit', 'submitit')):
        said = run(folder, executor, 'none.json', status=1, python=alone(folder))
        check(f'{executor} is not installed', said.strip().endswith(f'pip install {package}') and said.count('\n') == 1, said)
    said = run(folder, 'slurm', 'none.json', status=1)
    check('an unknown executor', "unknown executor 'slurm'; expected process, ray" in said, said)
    for option in ('--redact', '--link-collectives', '--pretty'):
        said = run(folder, 'process', 'none.json', '--', option, status=1)
        check(f'{option} is for merge alone', f'{option}: only `tracekit merge` supports it' in said, said)
    said = run(folder, 'process', 'none.json', '--', '--every-rnk', '2', status=1)
    check('an unknown option has the message of plan', '--every-rank' in said, said)
    said = run(folder, 'process', 'none.json.zst', status=1)
    check('.zst is refused', '.zst' in said, said)
    with open(f'{folder}/there.json', 'wb') as f:
        f.write(b'mine')
    said = run(folder, 'process', 'there.json', status=1)
    check('an output that exists is kept', 'exists already' in said and read(f'{folder}/there.json') == b'mine', said)
    said = run(folder, 'process', 'none.json', '--set', 'a=1', status=1)
    check('settings of an executor without any', '--set' in said, said)
    said = run(folder, 'process', 'nowhere/none.json', status=1)
    check('a folder that does not exist', 'there is no folder' in said and not os.path.exists(f'{folder}/nowhere'), said)
    check('nothing is left', not left(folder) and not os.path.exists(f'{folder}/none.json'), left(folder))


def unreachable(folder):
    """Checks that settings and addresses that the cluster refuses are reported."""
    for executor, args in (('submitit', ('--set', 'nonsense=1')), ('spark', ('--address', 'nonsense'))):
        if executor in sys.argv[1:]:
            said = run(folder, executor, 'none.json', *args, status=1)
            check(f'{executor} refuses {args[1]}', f'--executor {executor}: ' in said and 'Traceback' not in said, said[-600:])
    check('refused: nothing is left', not left(folder), left(folder))


def java(folder):
    env = {**{k: v for k, v in os.environ.items() if k != 'JAVA_HOME'}, 'PATH': f'{folder}/nothing'}
    said = run(folder, 'spark', 'none.json', status=1, env=env)
    check('spark: Java is missing', said.count('\n') == 1 and 'Spark needs Java' in said and 'JAVA_HOME' in said, said)


def main():
    chosen = sys.argv[1:] or ['process']
    with tempfile.TemporaryDirectory() as folder:
        for rank, name in enumerate(NAMES):
            make_rank(f'{folder}/{name}', rank, rank // 4, 100, 0, RANKS, 0, STEPS)
        for executor in chosen:
            for step in (same, killed, failing, damaged, mapped):
                step(folder, executor)
        if 'process' in chosen:
            function(folder)
            usage(folder)
        unreachable(folder)
        if 'spark' in chosen:
            java(folder)
    return finish()


if __name__ == '__main__':
    sys.exit(main())
