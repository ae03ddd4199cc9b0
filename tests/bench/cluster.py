#!/usr/bin/env python3
"""Measures how a merge in steps scales with the number of ranks, and extrapolates to 100 workers.

    cluster.py TRACEKIT WORKDIR [--ranks 16,64,256,1000] [--events 3000] [--to SIZE] [--spark PYTHON] [--wall]
    cluster.py TRACEKIT WORKDIR --plan 10000 [--events 3000]

For each number of generated ranks of equal size (tests/support/ranks.py): CPU time of scan and apply per rank, of plan, of
concat, of the same merge by merge -j2, and the largest resident set size of the steps that see all ranks. CPU time is
reliable even on a busy machine; --wall adds wall time on one core and on two, for a quiet machine with at least two cores.
--spark: a Python with pyspark and pyarrow, which runs the same in Spark's local mode and shows the overhead of Spark.

--plan: measures only the plan of that many ranks, 8 per host: its time, its memory, and the error of its clocks, compared
with 8 hosts. Each rank is removed as soon as it has been scanned.

The last part is a model of 100 workers: arithmetic on the table and on the assumptions that it prints."""
import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'support'))
from ranks import make_rank, wrong_clock  # noqa: E402

FORMAT, ENDING = 'pftrace.gz', '.pftrace.gz'
# Parameters of the model. RANK_MB: size of a rank; DISK, NET: MB/s of the driver's disk and network.
WORKERS, CORES, JOB, RANK_MB, DISK, NET = 100, 2, 10000, 200, 500, 1000
LARGE = 60000  # events in a rank of 30 MB


def measure(command, cwd, env=None):
    """Returns wall and CPU seconds of the process and its children, and the largest resident set size of any of them in MB."""
    before, start = os.times(), time.monotonic()
    process = subprocess.Popen(command, cwd=cwd, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f'failed: {" ".join(command)[:300]}: {said.decode()[-500:]}')
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.monotonic() - start, cpu, usage.ru_maxrss / 1024


def ranks_of(folder, n, events):
    os.makedirs(folder, exist_ok=True)
    names = [f'rank{i:05}.json' for i in range(n)]
    for i, name in enumerate(names):
        if not os.path.exists(f'{folder}/{name}'):
            make_rank(f'{folder}/{name}', i, i // 8, events, 50 if i == n // 2 else 0, n)
    return names


def each(jobs, commands, folder):
    """Runs several commands at a time; xargs waits for all, so that its CPU time includes theirs."""
    text = '\n'.join(commands).encode()
    path = f'{folder}/commands'
    with open(path, 'wb') as f:
        f.write(text + b'\n')
    return measure(['xargs', '-a', path, '-P', str(jobs), '-I', '{}', 'sh', '-c', '{}'], folder)


def steps(tracekit, folder, names, jobs, to):
    """Returns {step: (wall, cpu, MB)}."""
    scans = [f'{tracekit} scan -q --force {n} -o {n}.scan' for n in names]
    applies = [f'{tracekit} apply -q --force plan.json {n} -o {n}.part' for n in names]
    budget = ['--to', to] if to else []
    out = {'scan': each(jobs, scans, folder)}
    out['plan'] = measure([tracekit, 'plan', '-q', '--force', *(f'{n}.scan' for n in names), '-f', FORMAT, *budget, '-o', 'plan.json'], folder)
    out['apply'] = each(jobs, applies, folder)
    out['concat'] = measure([tracekit, 'concat', '-q', '--force', 'plan.json', *(f'{n}.part' for n in names), '-o', 'got' + ENDING], folder)
    return out


def on_spark(python, tracekit, folder, cores):
    source = os.path.join(HERE, '..', '..', 'python', 'tracekit', 'spark.py')
    env = dict(os.environ, TRACEKIT=tracekit, PYSPARK_PYTHON=python, SPARK_LOCAL_IP='127.0.0.1')
    return measure([python, source, 'merge', '-q', '--force', '--master', f'local[{cores}]', '--command', tracekit, 'rank?????.json', 'spark' + ENDING],
                   folder, env)


def same(folder, *names):
    contents = []
    for name in names:
        with open(f'{folder}/{name}', 'rb') as f:
            contents.append(f.read())
    if any(c != contents[0] for c in contents):
        raise SystemExit(f'{names} are not the same')


def of_size(a, n):
    folder = f'{a.work}/cluster.{n}.{a.events}'
    names = ranks_of(folder, n, a.events)
    size = sum(os.path.getsize(f'{folder}/{name}') for name in names) / n / 1e6
    budget = ['--to', a.to] if a.to else []
    row = {'ranks': n, 'mb': size, 'steps': steps(a.tracekit, folder, names, 1, a.to)}
    row['merge'] = measure([a.tracekit, 'merge', '-q', '--force', '-j2', *names, *budget, '-o', 'want' + ENDING], folder)
    same(folder, 'got' + ENDING, 'want' + ENDING)
    row['out_mb'] = os.path.getsize(f'{folder}/want{ENDING}') / 1e6
    if a.wall:
        row['two'] = steps(a.tracekit, folder, names, 2, a.to)
    if a.spark:
        row['spark'] = on_spark(a.spark, a.tracekit, folder, 1)
        row['spark two'] = on_spark(a.spark, a.tracekit, folder, 2) if a.wall else None
        if not a.to:
            same(folder, 'spark' + ENDING, 'want' + ENDING)
    for name in os.listdir(folder):
        if not name.startswith('rank') or not name.endswith('.json'):
            os.unlink(f'{folder}/{name}')
    return row


def wall(times):
    return sum(t[0] for t in times.values())


def table(rows, a):
    titles = ['ranks', 'MB a rank', 'scan, ms a rank', 'apply, ms a rank', 'plan, s', 'plan, MB', 'concat, s', 'concat, MB', 'merge -j2, ms a rank',
              'merge, MB']
    titles += ['1 -> 2 workers'] if a.wall else []
    titles += ['Spark, ms a rank', 'its driver, MB'] + (['Spark 1 -> 2'] if a.wall else []) if a.spark else []
    print('| ' + ' | '.join(titles) + ' |\n|' + '---:|' * len(titles))
    for r in rows:
        n, s = r['ranks'], r['steps']
        cells = [f'{n:,}', f'{r["mb"]:.1f}', f'{s["scan"][1] / n * 1e3:.1f}', f'{s["apply"][1] / n * 1e3:.1f}', f'{s["plan"][1]:.2f}', f'{s["plan"][2]:.0f}',
                 f'{s["concat"][1]:.2f}', f'{s["concat"][2]:.0f}', f'{r["merge"][1] / n * 1e3:.1f}', f'{r["merge"][2]:.0f}']
        cells += [f'{wall(s) / wall(r["two"]):.2f}x'] if a.wall else []
        cells += [f'{r["spark"][1] / n * 1e3:.1f}', f'{r["spark"][2]:.0f}'] if a.spark else []
        cells += [f'{r["spark"][0] / r["spark two"][0]:.2f}x'] if a.spark and a.wall else []
        print('| ' + ' | '.join(cells) + ' |')


def of_large(a):
    """Returns CPU seconds per MB of scan and apply, for ranks so large that process startup does not matter."""
    folder = f'{a.work}/cluster.large'
    names = ranks_of(folder, 2, LARGE)
    times = steps(a.tracekit, folder, names, 1, a.to)
    return (times['scan'][1] + times['apply'][1]) / sum(os.path.getsize(f'{folder}/{n}') for n in names) * 1e6


def model(rows, a):
    """Prints the model. CPU time per rank is proportional to its bytes (tests/bench/growth.py), so larger ranks cost
    proportionally more."""
    last = rows[-1]
    n, s = last['ranks'], last['steps']
    cpu = of_large(a)
    tasks = JOB * RANK_MB * cpu / (WORKERS * CORES)
    plan = s['plan'][1] / n * JOB
    out = bytes_of(a.to) / 1e6 if a.to else last['out_mb'] / last['mb'] / n * JOB * RANK_MB
    fetch, joined = out / NET, out / DISK
    print(f'\n{JOB:,} ranks of {RANK_MB} MB of JSON on {WORKERS} workers of {CORES} cores, of two of 30 MB and by the row of {n:,} ranks:')
    print(f'    scan and apply   {tasks:8.1f} s    {cpu * 1e3:.2f} ms of CPU a MB, no worker idle, reading as fast as that')
    print(f'    plan             {plan:8.1f} s    in the driver, in proportion to the ranks')
    print(f'    fetch and concat {fetch + joined:8.1f} s    {"as large as asked for" if a.to else "all events"}: network {NET} MB/s, disk {DISK} MB/s')
    print(f'    in all           {tasks + plan + fetch + joined:8.1f} s    one core alone: {JOB * RANK_MB * cpu / 3600:.1f} hours')


def scan_of(task):
    tracekit, folder, rank, n, events = task
    path = f'{folder}/{rank:05}'
    if not os.path.exists(path + '.scan'):
        make_rank(path + '.json', rank, rank // 8, events, 0, n)
        subprocess.run([tracekit, 'scan', '-q', '--force', path + '.json', '-o', path + '.scan'], check=True)
        os.unlink(path + '.json')
    return path + '.scan'


def plan_of(a, n):
    """Prints time and memory of the plan, and the maximum and median error of its clocks in us."""
    folder = f'{a.work}/plan.{n}.{a.events}'
    os.makedirs(folder, exist_ok=True)
    with multiprocessing.Pool() as pool:
        scans = pool.map(scan_of, [(a.tracekit, folder, rank, n, a.events) for rank in range(n)], 16)
    took = measure([a.tracekit, 'plan', '-q', '--force', *scans, '-f', FORMAT, '-o', f'{folder}/plan.json'], folder)
    with open(f'{folder}/plan.json', encoding='utf-8') as f:
        hosts = json.load(f)['align']['hosts']
    wrong = sorted(abs(h['offset_ns'] - wrong_clock(int(h['host'][4:])) + wrong_clock(0)) / 1e3 for h in hosts[1:])
    trusted = sum(h['trusted'] for h in hosts)
    print(f'plan of {n:,} ranks on {len(hosts):,} hosts: {took[0]:.1f} s, {took[2]:.0f} MB; {trusted:,} hosts trusted; clocks wrong by '
          f'{wrong[len(wrong) // 2]:.2f} us (median), {wrong[-1]:.2f} us (worst)', flush=True)


def bytes_of(text):
    units = {'KB': 1e3, 'MB': 1e6, 'GB': 1e9}
    return float(text[:-2]) * units[text[-2:]] if text[-2:] in units else float(text)


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n', 1)[0])
    p.add_argument('tracekit', type=os.path.abspath)
    p.add_argument('work')
    p.add_argument('--ranks', default='16,64,256,1000')
    p.add_argument('--events', type=int, default=3000)
    p.add_argument('--to', help='a size for the merged trace, such as 200MB')
    p.add_argument('--spark', metavar='PYTHON')
    p.add_argument('--wall', action='store_true')
    p.add_argument('--plan', type=int, metavar='RANKS')
    a = p.parse_args()
    if a.plan:
        plan_of(a, 64)
        plan_of(a, a.plan)
        return
    rows = [of_size(a, int(n)) for n in a.ranks.split(',')]
    table(rows, a)
    model(rows, a)


if __name__ == '__main__':
    main()
