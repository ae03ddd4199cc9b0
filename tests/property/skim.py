#!/usr/bin/env python3
"""Checks that commands that load less than the whole trace (flows, args) print the same as if they loaded everything: top, diff, sql and
the graphs of tree on every fixture, on random rich traces and on crafted ones in which the graph itself reads args, with one and with
four threads. --strict and --verbose load everything."""
import glob
import json
import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import richtrace  # noqa: E402
from verdict import check, finish, judge  # noqa: E402

TRACEKIT, FIXTURES, GEN = os.environ['TRACEKIT'], os.environ['FIXTURES'], os.environ['GEN']
LONG = bool(os.environ.get('LONG'))
TRACES = 400 if LONG else 15
MOST = 20_000_000 if LONG else 1_000_000  # bytes of a fixture
COMMANDS = (
    ['top', '--json'], ['top', '--json', '--by', 'kind'], ['top', '--json', '--by', 'step'],
    ['top', '--json', '--kind', 'kernel', '--by', 'track'], ['top', '--json', '-e', 'depth > 0 && dur > 1us', '--by', 'process'],
    ['top', '--json', '--step', '1..2'],
    # these need args or flows
    ['top', '--json', '--by', 'stream'], ['top', '--json', '--by', 'phase'], ['top', '--json', '--by', 'op'],
    ['top', '--json', '-e', 'launched_by ~ "*"'], ['top', '--json', '-e', 'arg.k || stream >= 0 || device == 0'],
    ['top', '--json', '--cols', 'arg.k', '--by', 'arg.stream'],
    ['diff', '--json'], ['diff', '--json', '--by', 'path'],
    ['tree', '--folded'], ['tree', '--speedscope', '--kind', 'span'], ['tree', '--folded', '--by', 'process', '-e', 'dur > 1us'],
    ['tree', '--svg', '--by', 'stream'], ['tree', '--folded', '--path', 'k'], ['tree', '--folded', '--per', 'n*'],
    ['sql', 'select name, count(*), sum(dur), sum(depth), min(ts) from slice group by name order by name', '--csv'],
)
PARTS = 4 # groups of commands; each trace is tested with the next group, so that every group meets traces of every kind


def run(*args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return p.returncode, p.stdout, p.stderr


def differs(args):
    """Returns the difference from a run that loads everything (--strict); '' if there is none. If --strict fails because the
    file needs repairs, compares with a run with --verbose, without the notes."""
    less, whole = run(*args), run(*args, '--strict')
    if whole[0] == 3:
        less, whole = less[:2], run(*args, '--verbose')[:2]
    return '' if less == whole else f'{" ".join(args)}: {less} instead of {whole}'[:2000]


def same(path, turn, *more):
    """Compares one of PARTS groups of commands, selected by `turn`; with LONG=1 all of them."""
    for name, *options in COMMANDS if LONG else COMMANDS[turn % PARTS::PARTS]:
        fault = differs((name, *([path, path] if name == 'diff' else [path]), *options, *more))
        if fault:
            return fault
    return ''


def span(i, **fields):
    return {'ph': 'X', 'pid': 1, 'tid': 1, 'ts': 10 * i, 'dur': 5, 'name': 'n', 'cat': 'c', **fields}


def frames():
    """Returns Python frames, some of which have lost their return and therefore last until the end of the trace (seal_frames.c)."""
    events = []
    for i in range(0, 400, 4):
        for k, dur in enumerate((30, 9000 if i % 7 == 0 else 20, 8)):
            events.append(span(i, ts=10 * i + k, dur=dur, name=f'f{k}', cat='python_function',
                               args={'Python id': i + k, 'Python parent id': i + k - 1}))
    return events


def crafted():
    """Yields traces in which times, kinds or steps depend on args that the command line does not mention."""
    yield 'frames', frames()
    yield 'steps', [span(i, name='train', args={'step_num': i // 3, 'x': i}) for i in range(300)]
    yield 'ops', [span(i, name=f'fusion.{i % 3}', args={'hlo_op': f'fusion.{i}'}) for i in range(300)]
    yield 'only flows', [{'ph': 's', 'pid': 1, 'tid': 1, 'ts': i, 'id': i, 'name': 'f', 'cat': 'c'} for i in range(5)] + [
        {'ph': 's', 'pid': 1, 'tid': 1, 'ts': 'never', 'id': 9, 'name': 'f', 'cat': 'c'}]
    yield 'launches', [e for i in range(100) for e in (
        span(i, name='launch', cat='cuda_runtime', args={'correlation': i + 1}),
        {'ph': 's', 'pid': 1, 'tid': 1, 'ts': 10 * i, 'id': i, 'name': 'ac2g', 'cat': 'ac2g'},
        span(i, pid=2, tid=7, ts=10 * i + 3, name='gemm', cat='kernel', args={'correlation': i + 1, 'stream': 7, 'device': 0}),
        {'ph': 'f', 'pid': 2, 'tid': 7, 'ts': 10 * i + 3, 'id': i, 'name': 'ac2g', 'cat': 'ac2g', 'bp': 'e'})]


def fixtures():
    for path in sorted(glob.glob(f'{FIXTURES}/**', recursive=True)):
        if os.path.isfile(path) and not path.endswith(('.tsv', '.md')) and os.path.getsize(path) <= MOST:
            yield path


def inputs(folder):
    for name, events in crafted():
        path = f'{folder}/{name}.json'
        with open(path, 'w', encoding='utf-8') as f:
            f.write('[' + ',\n'.join(json.dumps(e) for e in events) + ']')
        yield path
    for kind, (maker, ending) in richtrace.MAKERS.items():
        for i in range(TRACES):
            made = maker(random.Random(f'skim.{kind}.{i}')).make()
            path = f'{folder}/{kind}{i}.{ending}'
            with open(path, 'wb') as f:
                f.write(made if isinstance(made, bytes) else made.encode())
            yield path


def main():
    with tempfile.TemporaryDirectory() as folder:
        large = f'{folder}/kineto.json'
        with open(large, 'wb') as f:
            subprocess.run([GEN, 'kineto', '--spans', '40000' if LONG else '12000'], stdout=f, check=True)
        jobs = [(path, '-j1') for path in (*fixtures(), *inputs(folder))]
        jobs += [(path, '-j4') for path, _ in jobs[::9]] + [(large, '-j1'), (large, '-j4')]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for (path, threads), fault in zip(jobs, pool.map(lambda n: same(jobs[n][0], n, jobs[n][1]), range(len(jobs)))):
                judge(f'{os.path.basename(path)} {threads}', fault)
        steps = json.loads(run('top', '--json', '--by', 'step', f'{folder}/steps.json')[1])
        check('the steps are found without args', len(steps['rows']) == 100, len(steps['rows']))
    return finish()


sys.exit(main())
