#!/usr/bin/env python3
"""Times five typical queries on a profile, including loading, compared with trace_processor's WebAssembly; and a group-by
without loading.

Uses files of Kineto JSON of several sizes; both programs alternate in one run, and the median of each counts. Without the engine
(make interop installs it) this is SKIPPED; a file that the engine cannot load (it has at most 4 GiB of memory) is reported as
failed.

Usage: sql.py TRACEKIT GENERATOR WORKDIR INTEROP [MEGABYTES...]"""
import os
import subprocess
import sys

from timing import engine, measure, race

HERE = os.path.dirname(os.path.abspath(__file__))
TRACEKIT, GENERATOR, WORK, INTEROP = sys.argv[1:5]
SIZES = [int(size) for size in sys.argv[5:]] or [50, 200, 800]
SPAN_BYTES = 320  # bytes of generated JSON per span, approximately
FIVE = ["SELECT name, COUNT(*) AS n, SUM(dur) / 1e6 AS ms, AVG(dur) / 1e6 AS mean FROM slices WHERE name IS NOT NULL GROUP BY name "
        "ORDER BY ms DESC LIMIT 50",
        "SELECT ts / 1e9 AS start, dur / 1e9 AS s, name FROM slices WHERE dur > 1000000 AND depth <= 2 ORDER BY ts LIMIT 50",
        "SELECT name, COUNT(*) AS n, AVG(dur) / 1e3 AS us FROM slices WHERE dur < 100000 GROUP BY name HAVING n > 10 ORDER BY n DESC LIMIT 30",
        "SELECT name, COUNT(*) AS n, SUM(dur) / 1e6 AS ms FROM slices WHERE name LIKE '%Memcpy%' OR name LIKE '%copy%' OR name LIKE '%Copy%' "
        "GROUP BY name ORDER BY ms DESC LIMIT 20",
        "SELECT name, COUNT(*) AS n, SUM(dur) / 1e6 AS ms, MIN(dur) / 1e3 AS least, MAX(dur) / 1e3 AS most FROM slices "
        "WHERE name LIKE '%kernel%' OR name LIKE '%Launch%' GROUP BY name ORDER BY ms DESC LIMIT 50"]
GROUP = "SELECT name, track_id, COUNT(*), SUM(dur) FROM slice GROUP BY name, track_id ORDER BY 4 DESC LIMIT 10"


def source(megabytes):
    path = os.path.join(WORK, f'sql.{megabytes}.json')
    if not os.path.exists(path):
        with open(path + '.tmp', 'wb') as out:
            subprocess.run([GENERATOR, 'kineto', '--spans', str(megabytes * 1000000 // SPAN_BYTES), '--seed', '7'], stdout=out, check=True)
        os.rename(path + '.tmp', path)
    return path


def ours(path, queries, *options):
    return [TRACEKIT, 'sql', '-q', *options, path, *(word for q in queries for word in ('-e', q))]


def works(command, env):
    try:
        measure(command, env)
    except SystemExit:
        return False
    return True


def main():
    env = engine(INTEROP)
    if not env:
        print('SKIPPED: sql: trace_processor is not installed (make interop)')
        return
    tpq = [env['NODE'], '--max-old-space-size=8192', os.path.join(HERE, '..', 'interop', 'tpq.mjs')]
    for megabytes in SIZES:
        path = source(megabytes)
        size = os.path.getsize(path) / 1e6
        commands = {'one': ours(path, FIVE, '-j1'), 'two': ours(path, FIVE, '-j2'), 'one, no query': ours(path, ['SELECT 1'], '-j1'),
                    'one, group': ours(path, [GROUP], '-j1')}
        if works([*tpq, path, 'SELECT 1'], env):
            commands.update({'theirs': [*tpq, path, *FIVE], 'theirs, no query': [*tpq, path, 'SELECT 1'], 'theirs, group': [*tpq, path, GROUP]})
        runs = race(commands, 3, env)
        one, two, theirs = runs['one'], runs['two'], runs.get('theirs')
        line = f'load and five queries of {size:.0f} MB: {two[0]:.2f} s ({one[0]:.2f} with one thread), {two[2]:.0f} MB'
        if not theirs:
            print(f'{line}; trace_processor cannot load it')
            continue
        print(f'{line}; trace_processor {theirs[0]:.1f} s, {theirs[2]:.0f} MB: {theirs[0] / two[0]:.1f}x ({theirs[0] / one[0]:.1f}x) as fast, '
              f'1/{theirs[2] / two[2]:.0f} of the memory')
        groups = [max(runs[f'{who}, group'][0] - runs[f'{who}, no query'][0], 0.001) for who in ('one', 'theirs')]
        print(f'  a group-by without loading: {groups[0]:.2f} s, trace_processor {groups[1]:.2f} s: {groups[1] / groups[0]:.1f}x as fast')
        sys.stdout.flush()


main()
