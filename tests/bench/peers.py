#!/usr/bin/env python3
"""Measures the tools that people use today on the same files in the same run: reading a trace, merging the ranks of a job,
iterating over an XPlane file, and starting up.

Programs alternate; the fastest round of each counts, and `spread` is the slowest round over the fastest. Ratios are wall
seconds over those of tracekit with two threads (in brackets: with one). The startup of a peer, including imports, is
measured on an empty input and subtracted. A missing program is reported as SKIPPED; a program that needs more than three
quarters of the machine's memory, or ten minutes, as failed. Results are also added to WORKDIR/../bench.json, which growth.py
creates.

    peers.py TRACEKIT GENERATOR WORKDIR INTEROP [MEGABYTES...]"""
import json
import os
import resource
import shutil
import subprocess
import sys
import time

from timing import engine, keep

HERE = os.path.dirname(os.path.abspath(__file__))
TRACEKIT, GENERATOR, WORK, INTEROP = sys.argv[1:5]
SIZES = [int(size) for size in sys.argv[5:]] or [50, 200, 800] + ([2000] if os.environ.get('LONG') else [])
SPAN_BYTES = 320  # bytes of generated JSON per span, approximately
MEMORY = os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') * 3 // 4
PATIENCE_S = 600
READERS = {'python json': ('json', 'import json, sys; json.load(open(sys.argv[1], "rb"))'),
           'orjson': ('orjson', 'import orjson, sys; orjson.loads(open(sys.argv[1], "rb").read())'),
           'ijson': ('ijson', 'import ijson, sys; sum(1 for _ in ijson.items(open(sys.argv[1], "rb"), "traceEvents.item", use_float=True))')}
VIZTRACER = 'import sys; from viztracer.report_builder import ReportBuilder; ' \
            'ReportBuilder(sys.argv[2:], verbose=0).save(sys.argv[1]) if len(sys.argv) > 2 else None'
JAXLIB = '''
import sys
from jax.profiler import ProfileData
n = 0
for plane in ProfileData.from_file(sys.argv[1]).planes:
    for line in plane.lines:
        for event in line.events:
            n += sum(1 for _ in event.stats)
'''


def have(module):
    return subprocess.run([sys.executable, '-c', f'import {module}'], capture_output=True, check=False).returncode == 0


def limited():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def once(command, env=None):
    """Returns wall and CPU seconds and the largest resident set size in MB; None on failure."""
    start = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env, preexec_fn=limited) as process:
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                process.returncode = status
                break
            if time.monotonic() - start > PATIENCE_S:
                process.kill()
            time.sleep(0.002)
    wall = time.monotonic() - start
    return None if status else (wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def alternate(commands, rounds, env=None):
    """Runs each command of {name: command} in several rounds. Returns {name: list of runs}; the list is empty if the command
    fails."""
    runs = {name: [] for name in commands}
    failed = set()
    for _ in range(rounds):
        for name, command in commands.items():
            run = None if name in failed else once(command, env)
            failed |= set() if run else {name}
            runs[name] += [run] if run else []
    return {name: [] if name in failed else found for name, found in runs.items()}


def compare(work, size, commands, idle, rounds, env=None):
    """Prints and returns the peers' results relative to the first two commands, which are tracekit with two threads and with
    one."""
    runs = alternate(commands, rounds, env)
    ours = [min(r[0] for r in runs[name]) for name in list(commands)[:2]]
    print(f'{work}, {size / 1e6:.0f} MB:')
    rows = []
    for name, found in runs.items():
        if not found:
            print(f'  {name:22} fails: memory, time, or what it cannot read')
            continue
        wall, cpu, memory = (min(column) for column in zip(*found))
        wall = max(wall - idle.get(name, 0), 0.001)
        spread = max(r[0] for r in found) / min(r[0] for r in found)
        rows.append({'work': work, 'bytes': size, 'program': name, 'wall_s': round(wall, 3), 'cpu_s': round(cpu, 3),
                     'rss_mb': round(memory, 1), 'ratio': round(wall / ours[0], 1), 'spread': round(spread, 2)})
        print(f'  {name:22} {wall:8.2f} s {cpu:8.2f} s cpu {memory:7.0f} MB {wall / ours[0]:7.1f}x ({wall / ours[1]:.1f}x), spread {spread:.2f}')
    sys.stdout.flush()
    return rows


def generate(path, *options):
    if not os.path.exists(path):
        with open(path + '.tmp', 'wb') as out:
            subprocess.run([GENERATOR, *options], stdout=out, check=True)
        os.rename(path + '.tmp', path)
    return path


def skipped(name, why):
    print(f'SKIPPED: peers: {name} {why}')


def start_of(command, env=None):
    return min((r[0] for r in alternate({'': command}, 3, env)['']), default=0)


def readers(env):
    """Returns {name: (command before the path, command after it, seconds to start up)}."""
    found = {}
    for name, (module, text) in READERS.items():
        if have(module):
            found[name] = ([sys.executable, '-c', text], [], start_of([sys.executable, '-c', f'import {module}']))
        else:
            skipped(name, 'is not installed')
    if shutil.which('jq'):
        found['jq'] = (['jq', '.traceEvents | length'], [], start_of(['jq', '-n', '1']))
    else:
        skipped('jq', 'is not installed')
    if env:
        tpq = [env['NODE'], '--max-old-space-size=8192', os.path.join(HERE, '..', 'interop', 'tpq.mjs')]
        empty = generate_text('empty.json', '[]')
        found['trace_processor wasm'] = (tpq, ['SELECT 1'], start_of([*tpq, empty, 'SELECT 1'], env))
    else:
        skipped('trace_processor', 'is not installed (make interop)')
    return found


def generate_text(name, text):
    path = os.path.join(WORK, name)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)
    return path


def ours(command, *rest):
    return {f'tracekit -j{j}': [TRACEKIT, command, '-q', f'-j{j}', *rest] for j in (2, 1)}


def reading(env):
    rows, peers = [], readers(env)
    for megabytes in SIZES:
        path = generate(os.path.join(WORK, f'peers.{megabytes}.json'), 'kineto', '--spans', str(megabytes * 1000000 // SPAN_BYTES), '--seed', '7')
        commands = ours('info', path) | {name: [*before, path, *after] for name, (before, after, _) in peers.items()}
        idle = {name: start for name, (_, _, start) in peers.items()}
        rows += compare('read', os.path.getsize(path), commands, idle, 3 if megabytes <= 200 else 1, env)
        os.unlink(path)
    return rows


def merging():
    if not have('viztracer'):
        return skipped('viztracer', 'is not installed') or []
    ranks = [generate(os.path.join(WORK, f'peers.rank{i}.json'), 'kineto', '--spans', '50000', '--ranks', '4', '--rank', str(i), '--seed', '7')
             for i in range(4)]
    out = os.path.join(WORK, 'peers.merged')
    start = start_of([sys.executable, '-c', VIZTRACER, out])
    return compare('merge of 4', sum(map(os.path.getsize, ranks)),
                   ours('merge', '--force', *ranks, '-o', out + '.json') | {'viztracer': [sys.executable, '-c', VIZTRACER, out + '.json', *ranks]},
                   {'viztracer': start}, 3)


def planes():
    if not have('jax.profiler'):
        return skipped('jaxlib', 'is not installed') or []
    path = generate(os.path.join(WORK, 'peers.xplane.pb'), 'xplane', '--spans', '300000', '--seed', '7')
    start = start_of([sys.executable, '-c', 'from jax.profiler import ProfileData'])
    return compare('walk through XPlane', os.path.getsize(path), ours('info', path) | {'jaxlib': [sys.executable, '-c', JAXLIB, path]},
                   {'jaxlib': start}, 3)


def starting():
    events = ','.join(f'{{"ph":"X","name":"op {i % 9}","cat":"cpu_op","pid":1,"tid":{i % 3},"ts":{100 * i},"dur":50,"args":{{"id":{i}}}}}' for i in range(110))
    small = generate_text('peers.small.json', f'[{events}]')
    commands = {'nothing_ms': [shutil.which('true')], 'start_ms': [TRACEKIT, '--version'], 'small_file_ms': [TRACEKIT, 'info', '-q', small]}
    found = {name: round(sorted(timed(command) for _ in range(100))[50] * 1e3, 2) for name, command in commands.items()}
    print(f'start: {found["start_ms"]} ms; info of {os.path.getsize(small) / 1e3:.1f} KB: {found["small_file_ms"]} ms; '
          f'a process that does nothing: {found["nothing_ms"]} ms (medians of 100)')
    return found


def timed(command):
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    start = time.monotonic()
    os.waitpid(os.posix_spawn(command[0], command, os.environ, file_actions=quiet), 0)
    return time.monotonic() - start


def main():
    path = os.path.join(WORK, '..', 'bench.json')
    found = {}
    if os.path.exists(path):
        with open(path, encoding='utf-8') as f:
            found = json.load(f)
    found['start'] = starting()
    found['peers'] = reading(engine(INTEROP)) + merging() + planes()
    if 'sizes' not in found:
        return 0  # growth.py has not run: there is no file to extend
    return keep(path, found)


if __name__ == '__main__':
    sys.exit(main())
