#!/usr/bin/env python3
"""Times whole processes alternately (A B A B ...), so that speed drift of the machine affects both programs alike. Reports the
median of wall and CPU seconds and the largest resident set size; ratios are between medians. Absolute seconds are valid for
this machine only.

Usage: bench.py TRACEKIT GENERATOR STAGES WORKDIR [MEGABYTES]"""
import json
import os
import subprocess
import sys

from timing import race

TRACEKIT, GENERATOR, STAGES, WORK = sys.argv[1:5]
MEGABYTES = int(sys.argv[5]) if len(sys.argv) > 5 else 185
ROUNDS = 5
SPAN_BYTES = 400  # bytes of generated JSON per span, approximately


def table(title, size, events, commands):
    print(f'\n{title}')
    print(f'  {"":34} {"wall s":>8} {"cpu s":>8} {"MB":>7} {"GB/s cpu":>9} {"ns/event":>9} {"ratio":>7}')
    results = race(commands, ROUNDS)
    base = next(iter(results.values()))
    for name, (wall, cpu, memory) in results.items():
        print(f'  {name:34} {wall:8.3f} {cpu:8.3f} {memory:7.0f} {size / cpu / 1e9:9.2f} {cpu / events * 1e9:9.0f} {wall / base[0]:6.1f}x')


def generate(path, *options):
    if not os.path.exists(path):
        with open(path + '.tmp', 'wb') as out:
            subprocess.run([GENERATOR, 'kineto', *options], stdout=out, check=True)
        os.rename(path + '.tmp', path)


def stages(path):
    """Times reading and writing alone, inside one process: the best of the rounds."""
    best = json.loads(subprocess.run([STAGES, path, '9'], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True).stderr)
    for stage in ('read', 'write'):
        print(f'  {stage:6} alone: {best["bytes"] / best[stage] / 1e9:5.2f} GB/s of one core, {best[stage] / best["events"] * 1e9:4.0f} ns an event')


def have(module):
    return subprocess.run([sys.executable, '-c', f'import {module}'], stderr=subprocess.DEVNULL).returncode == 0


def have_orjson():
    return have('orjson')


def have_ijson():
    return have('ijson')


LOAD = 'import sys, orjson; orjson.loads(open(sys.argv[1], "rb").read())'
COPY = 'import sys, orjson; open(sys.argv[2], "wb").write(orjson.dumps(orjson.loads(open(sys.argv[1], "rb").read())))'
MERGE = '''
import gzip, sys, orjson
events = []
for rank, path in enumerate(sys.argv[2:]):
    for e in orjson.loads(gzip.open(path).read())["traceEvents"]:
        if isinstance(e.get("pid"), int): e["pid"] += 10000000 * rank
        if "id" in e: e["id"] = f'{rank}.{e["id"]}'
        events.append(e)
gzip.open(sys.argv[1], "wb", compresslevel=1).write(orjson.dumps({"traceEvents": events}))
'''


FILTER = '''
import gzip, sys, ijson, json
kept = [e for e in ijson.items(gzip.open(sys.argv[1]), "traceEvents.item", use_float=True) if e.get("cat") == "kernel"]
gzip.open(sys.argv[2], "wt", compresslevel=1).write(json.dumps({"traceEvents": kept}))
'''


def operations(path, size, events, out, peer):
    """Times operations between reading and writing, compared with reading and writing alone."""
    quiet = ['-q', '--force', path]
    table('operations on a plain file, -j1', size, events,
          {'tracekit convert': [TRACEKIT, 'convert', '-j1', *quiet, '-o', out],
           'tracekit filter, all events': [TRACEKIT, 'filter', '-j1', *quiet, '-o', out],
           'tracekit filter --min-dur 10us': [TRACEKIT, 'filter', '-j1', *quiet, '--min-dur', '10us', '-o', out],
           'tracekit filter, regex and arg': [TRACEKIT, 'filter', '-j1', *quiet, '-e', 'name =~ "mm|nccl" || arg.stream == 7', '-o', out],
           'tracekit filter --time 25%..75%': [TRACEKIT, 'filter', '-j1', *quiet, '--time', '25%..75%', '-o', out],
           'tracekit rebase --to-zero': [TRACEKIT, 'rebase', '-j1', *quiet, '--to-zero', '-o', out],
           'tracekit rebase --scale': [TRACEKIT, 'rebase', '-j1', *quiet, '--scale', '-20ppm', '-o', out]})
    table('kernels only, .gz to .gz', size, events,
          {'tracekit filter --kind kernel': [TRACEKIT, 'filter', '-q', '--force', path + '.gz', '--kind', 'kernel', '-o', out + '.gz'],
           **({'ijson': [sys.executable, '-c', FILTER, path + '.gz', out + '.gz']} if peer else {})})
    table('shrink, .gz to .gz', size, events,
          {'tracekit convert': [TRACEKIT, 'convert', '-q', '--force', path + '.gz', '-o', out + '.gz'],
           'tracekit shrink --percent 50': [TRACEKIT, 'shrink', '-q', '--force', path + '.gz', '--percent', '50', '-o', out + '.gz'],
           'tracekit shrink --percent 20': [TRACEKIT, 'shrink', '-q', '--force', path + '.gz', '--percent', '20', '-o', out + '.gz']})


def main():
    spans = str(MEGABYTES * 1000000 // SPAN_BYTES)
    ranks = [os.path.join(WORK, f'rank{i}.{MEGABYTES}.json') for i in range(4)]
    for i, path in enumerate(ranks):
        generate(path, '--spans', spans, '--ranks', '4', '--rank', str(i), '--seed', '7')
        if not os.path.exists(path + '.gz'):
            subprocess.run([TRACEKIT, 'convert', '-q', path, '-o', path + '.gz', '--level', '1'], check=True)
    info = json.loads(subprocess.run([TRACEKIT, 'info', '-q', '--json', ranks[0]], stdout=subprocess.PIPE, check=True).stdout)
    events, size = info['traces'][0]['events'], os.path.getsize(ranks[0])
    print(f'{size / 1e6:.0f} MB of Kineto JSON, {events} events, {ROUNDS} rounds, medians; one core unless -j2 is said')
    stages(ranks[0])
    peer = have_orjson()
    out = os.path.join(WORK, 'out.json')
    table('read', size, events, {'tracekit info -j1': [TRACEKIT, 'info', '-q', '-j1', ranks[0]],
                                 'tracekit info -j1, .gz': [TRACEKIT, 'info', '-q', '-j1', ranks[0] + '.gz'],
                                 'tracekit info -j2, .gz': [TRACEKIT, 'info', '-q', '-j2', ranks[0] + '.gz'],
                                 **({'orjson.loads': [sys.executable, '-c', LOAD, ranks[0]]} if peer else {})})
    table('read and write', size, events,
          {'tracekit convert -j1': [TRACEKIT, 'convert', '-q', '-j1', '--force', ranks[0], '-o', out],
           'tracekit convert -j2, .gz to .gz': [TRACEKIT, 'convert', '-q', '-j2', '--force', ranks[0] + '.gz', '-o', out + '.gz'],
           **({'orjson loads, dumps': [sys.executable, '-c', COPY, ranks[0], out]} if peer else {})})
    operations(ranks[0], size, events, out, have_ijson())
    gz = [path + '.gz' for path in ranks]
    table('merge 4 ranks, .gz to .gz', 4 * size, 4 * events,
          {'tracekit merge -j2': [TRACEKIT, 'merge', '-q', '-j2', '--force', *gz, '-o', out + '.gz'],
           'tracekit merge -j1': [TRACEKIT, 'merge', '-q', '-j1', '--force', *gz, '-o', out + '.gz'],
           **({'orjson, gzip -1': [sys.executable, '-c', MERGE, out + '.gz', *gz]} if peer else {})})


main()
