#!/usr/bin/env python3
"""Measures whether cost is linear in the number of bytes: the same work on files of 50 MB to 2 GB, compared with the lower
bound for these bytes (limits.c).

For each kind of work, the fastest of alternating rounds counts: CPU seconds, wall seconds, the largest resident set size. `ns`
is CPU time per event, `limit` the ratio to the lower bound of CPU time: inflate for reading, inflate and deflate for writing.
The last column is the cost per event in the largest file relative to the smallest. The upper bound for the gain of a second
thread is measured with two independent processes: on machines with shared cores it is less than 2. Results are also written to
WORKDIR/../bench.json (schemas/bench.schema.json). QUICK=1: 12 and 50 MB, under two minutes; LONG=1: also 8 GB.

    growth.py TRACEKIT GENERATOR STAGES LIMITS WORKDIR
    growth.py TRACEKIT GENERATOR STAGES LIMITS WORKDIR --check RATIOS

--check compares the ratios for reading and writing 25 MB with those that RATIOS lists for this kind of processor, and fails
if a ratio is 15% worse in each of several tries; GOLDEN=1 writes them."""
import json
import os
import subprocess
import sys
import time

from timing import keep, measure

TRACEKIT, GENERATOR, STAGES, LIMITS, WORK = sys.argv[1:6]
QUICK, LONG = bool(os.environ.get('QUICK')), bool(os.environ.get('LONG'))
SIZES = (12, 50) if QUICK else (50, 200, 800, 2000) + ((8000,) if LONG else ())
SPAN_BYTES = 320  # bytes of generated JSON per span, approximately
WORSE, TRIES = 1.15, 6
UNDER = {'info': ('inflate',), 'convert': ('inflate', 'deflate'), 'to pftrace': ('inflate',), 'filter kernels': ('inflate',),
         'shrink to 20%': ('inflate', 'deflate')}


def ask(*command):
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def source(megabytes):
    """Returns the path of a gzipped trace of about this size."""
    path = os.path.join(WORK, f'growth.{megabytes}.json')
    if not os.path.exists(path + '.gz'):
        with open(path, 'wb') as out:
            subprocess.run([GENERATOR, 'kineto', '--spans', str(megabytes * 1000000 // SPAN_BYTES), '--seed', '7'], stdout=out, check=True)
        subprocess.run([TRACEKIT, 'convert', '-q', '--force', path, '-o', path + '.gz'], check=True)
        os.unlink(path)
    return path + '.gz'


def works(path):
    out = os.path.join(WORK, 'growth.out')
    quiet = ['-q', '--force', path]
    return {'info': [TRACEKIT, 'info', '-q', path],
            'convert': [TRACEKIT, 'convert', *quiet, '-o', out + '.json.gz'],
            'to pftrace': [TRACEKIT, 'convert', *quiet, '-o', out + '.pftrace'],
            'filter kernels': [TRACEKIT, 'filter', *quiet, '--kind', 'kernel', '-o', out + '.json.gz'],
            'shrink to 20%': [TRACEKIT, 'shrink', *quiet, '--percent', '20', '--level', '1', '-o', out + '.json.gz']}


def two_at_once(command, rounds):
    """Returns the throughput of two concurrent processes relative to one."""
    def wall(n):
        start = time.monotonic()
        for process in [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(n)]:
            process.wait()
        return time.monotonic() - start
    one, two = (min(column) for column in zip(*[(wall(1), wall(2)) for _ in range(rounds)]))
    return round(2 * one / two, 2)


def of_size(megabytes):
    path = source(megabytes)
    rounds = 5 if megabytes <= 200 else 3
    bare = ask(LIMITS, path, str(rounds))
    info = ask(TRACEKIT, 'info', '-q', '--json', path)['traces'][0]
    row = {'bytes': bare['bytes'], 'events': info['events'], 'graph_bytes': info['memory']['graph_bytes'],
           'limits': {name: bare[name] for name in ('inflate', 'deflate', 'copy', 'faults')}, 'works': {}}
    row['two_at_once'] = two_at_once([TRACEKIT, 'info', '-q', '-j1', path], rounds)
    runs = {f'{name}{j}': [] for name in works(path) for j in (' -j1', ' -j2')}
    for _ in range(rounds):
        for name, command in works(path).items():
            for j in ('-j1', '-j2'):
                runs[f'{name} {j}'].append(measure([*command[:2], j, *command[2:]]))
    for name, figures in runs.items():
        wall, cpu, memory = (min(column) for column in zip(*figures))
        under = sum(bare[limit] for limit in UNDER[name[:-4]])
        row['works'][name] = {'wall_s': round(wall, 3), 'cpu_s': round(cpu, 3), 'rss_mb': round(memory, 1),
                              'ns_per_event': round(cpu / info['events'] * 1e9, 1), 'to_limit': round(cpu / under, 2),
                              'spread': round(max(f[1] for f in figures) / cpu, 2)}
    return row


def report(rows):
    sizes = ', '.join(f"{r['bytes'] / 1e6:.0f} MB" for r in rows)
    print(f'growth: {sizes}: for each wall s, CPU s, ns an event, times the limit, MB held')
    for r in rows:
        limits = ', '.join(f'{name} {seconds:.2f}' for name, seconds in r['limits'].items())
        print(f'  {r["bytes"] / 1e6:6.0f} MB  {r["events"]} events, {r["graph_bytes"] / r["events"]:.1f} bytes an event; CPU s at least: {limits}')
        gains = ', '.join(f"{name} {r['works'][name + ' -j1']['wall_s'] / r['works'][name + ' -j2']['wall_s']:.2f}" for name in UNDER)
        print(f'             two threads over one: two processes at once {r["two_at_once"]:.2f}; {gains}')
    for name in rows[0]['works']:
        cells = [r['works'][name] for r in rows]
        print(f'  {name:20}' + ''.join(f'  {c["wall_s"]:6.2f} {c["cpu_s"]:6.2f} {c["ns_per_event"]:5.0f} {c["to_limit"]:4.1f}x {c["rss_mb"]:5.0f}' for c in cells)
              + f'  {cells[-1]["ns_per_event"] / cells[0]["ns_per_event"]:.2f}')


def ratios():
    """Returns the CPU time of reading and of writing, relative to their lower bounds, measured now on this machine."""
    path = source(25)
    bare = ask(LIMITS, path, '3')
    stages = json.loads(subprocess.run([STAGES, path, '3'], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True).stderr)
    return {'read': stages['read'] / (bare['inflate'] + bare['copy']), 'write': stages['write'] / (bare['deflate'] + bare['copy'])}


def processor():
    """Returns name, family and model of the processor, because rented machines hide the name."""
    said = {}
    with open('/proc/cpuinfo', encoding='ascii', errors='replace') as f:
        for line in f:
            key, _, value = line.partition(':')
            said.setdefault(key.strip(), value.strip())
    return ' '.join(said.get(key, '?') for key in ('model name', 'cpu family', 'model', 'stepping'))


def check(path):
    known = {}
    if os.path.exists(path):
        with open(path, encoding='utf-8') as f:
            known = json.load(f)
    best, wanted = {}, known.get(processor())
    if not wanted and not os.environ.get('GOLDEN'):
        print(f'SKIPPED: speed: no ratios are known of {processor()} (GOLDEN=1 writes them)')
        return 0
    for _ in range(TRIES):
        now = ratios()
        best = {name: min(best.get(name, 1e9), now[name]) for name in now}
        if wanted and not os.environ.get('GOLDEN') and all(best[name] <= wanted[name] * WORSE for name in wanted):
            break
    if os.environ.get('GOLDEN'):
        with open(path, 'w', encoding='utf-8') as f:
            json.dump({**known, processor(): {name: round(v, 2) for name, v in best.items()}}, f, indent=1, sort_keys=True)
            f.write('\n')
        return 0
    slow = [name for name in wanted if best[name] > wanted[name] * WORSE]
    for name in wanted:
        print(f'{"not ok" if name in slow else "ok"}  {name}: {best[name]:.2f} times its limit, {wanted[name]:.2f} is known')
    print(f'{len(wanted) - len(slow)} passed, {len(slow)} failed')
    return 1 if slow else 0


def main():
    os.makedirs(WORK, exist_ok=True)
    if len(sys.argv) > 7:
        return check(sys.argv[7])
    rows = [of_size(size) for size in SIZES]
    report(rows)
    found = {'processor': processor(), 'cores': os.cpu_count(), 'sizes': rows}
    return keep(os.path.join(WORK, '..', 'bench.json'), found)


sys.exit(main())
