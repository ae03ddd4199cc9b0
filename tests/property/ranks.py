#!/usr/bin/env python3
"""Checks that merging many ranks takes as much time per rank as merging few, and little memory.

Merges tiny ranks of one job with tensor, data and pipeline groups, eight per host, with and without host names. CPU seconds
per rank, the better of two runs, may grow by at most RATIO from few to many ranks; memory may be at most what the two passes
keep on purpose plus ROOM per rank. LONG=1: up to 10,000 ranks, within 512 MB."""
import json
import os
import random
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import finish, judge  # noqa: E402

TRACEKIT, LONG = os.environ['TRACEKIT'], bool(os.environ.get('LONG'))
FEW, MANY = (1000, 10000) if LONG else (240, 1200)
RATIO, SLACK = 1.8, 0.15  # seconds
KEPT, ROOM = 85, 0.016  # MB
SANITIZED = os.environ.get('B', '').endswith('san')  # sanitizers replace the allocator and use extra memory
EACH, STAGES = 8, 4


def when(*key):
    return random.Random(str(key)).uniform(0, 50)


def kernel(name, end, noise, args):
    start = end - noise.uniform(30, 100)
    return {'ph': 'X', 'cat': 'kernel', 'name': f'ncclDevKernel_{name}', 'pid': 0, 'tid': 7, 'ts': round(start, 3), 'dur': round(end - start, 3),
            'args': {'Collective name': name, 'In msg nelems': 64, 'Out msg nelems': 64, **args}}


def group(name, ranks):
    text = str(ranks) if len(ranks) < 10 else f'[{ranks[0]}, {ranks[1]}, ..., {ranks[-1]}]'
    return {'Process Group Name': name, 'Process Group Ranks': text, 'Group size': len(ranks)}


def events(rank, n):
    host = rank // EACH
    stage, pipe, place = host % STAGES, host // STAGES, rank % EACH
    noise, ahead = random.Random(rank), random.Random(-host).uniform(-500, 500) if host else 0
    own = group('1', list(range(EACH * host, EACH * host + EACH)))
    line = group('2', [(pipe * STAGES + s) * EACH + place for s in range(STAGES)])
    data = group('3', [(p * STAGES + stage) * EACH + place for p in range(n // EACH // STAGES)])
    for step in range(3):
        t, seq = 20000 * step + ahead, 10 * step
        for i in range(3):
            yield kernel('allreduce', t + 1000 * i + when('own', host, step, i) + noise.uniform(0, 4), noise, {**own, 'Seq': seq + i})
        if stage + 1 < STAGES:
            sent = t + 4000 + 1000 * stage + when('line', pipe, stage, step)
            yield kernel('send', sent, noise, {**line, 'Src Rank': rank, 'Dst Rank': rank + EACH})
        if stage:
            came = t + 3030 + 1000 * stage + when('line', pipe, stage - 1, step)
            yield kernel('recv', came, noise, {**line, 'Src Rank': rank - EACH, 'Dst Rank': rank})
        for i in range(2):
            end = t + 12000 + 2000 * i + when('data', stage, place, step, i) + noise.uniform(0, 4)
            yield kernel('allgather', end, noise, {**data, 'Seq': seq + i})
            yield kernel('broadcast', end + 500, noise, {**data, 'Seq': seq + 5 + i, 'Rank': 0})
        yield {'ph': 'X', 'cat': 'user_annotation', 'name': f'ProfilerStep#{step + 5}', 'pid': 1, 'tid': 1, 'ts': round(t, 3), 'dur': 19999}


def make(folder, n, named):
    os.mkdir(folder)
    with open(os.path.join(folder, 'list'), 'w', encoding='utf-8') as names:
        for rank in range(n):
            path = os.path.join(folder, f'node{rank // EACH}_{rank}.{rank}.pt.trace.json' if named else f'rank{rank}.json')
            with open(path, 'w', encoding='utf-8') as f:
                json.dump({'baseTimeNanoseconds': 17 * 10 ** 17, 'distributedInfo': {'rank': rank, 'world_size': n},
                           'traceEvents': list(events(rank, n))}, f)
            print(path, file=names)


def measure(folder):
    """Returns CPU seconds and peak memory in MB."""
    p = subprocess.Popen([TRACEKIT, 'merge', f'@{folder}/list', '-q', '-n', '-o', 'merged.json', '--align-report', f'{folder}/report', '--force',
                          '--max-memory', '1G'])  # 1/32 of it is for graphs that wait
    _, status, used = os.wait4(p.pid, 0)
    if status:
        print(f'status {status}')
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if SANITIZED:
        print('SKIPPED: ranks: what memory is taken, under a sanitizer')
    with tempfile.TemporaryDirectory() as work:
        for named in (True, False):
            what, seconds = 'with names' if named else 'without names', {}
            for n in (FEW, MANY):
                folder = os.path.join(work, f'{n}{named}')
                make(folder, n, named)
                runs = [measure(folder) for _ in range(2)]
                seconds[n], most = min(r[0] for r in runs), KEPT + ROOM * n
                if not SANITIZED:
                    judge(f'{what}: memory of {n}', '' if runs[0][1] <= min(most, 512) else f'{runs[0][1]:.0f} MB, at most {most:.0f}')
                with open(os.path.join(folder, 'report'), encoding='utf-8') as f:
                    good = sum(h['inputs'] for h in json.load(f)['hosts'] if h['trusted'])
                judge(f'{what}: clocks of {n}', '' if good >= EACH else good)
            most = RATIO * seconds[FEW] * MANY / FEW + SLACK
            judge(f'{what}: seconds', '' if seconds[MANY] <= most else f'{seconds[MANY]:.2f} s, at most {most:.2f}')
    return finish()


sys.exit(main())
