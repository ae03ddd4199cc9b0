#!/usr/bin/env python3
"""Measures how well every core is used, and how small the graph is, at 50 MB, 200 MB and (LONG=1) 2 GB of Kineto JSON.

    read      one core, in GB/s of CPU time; two cores against one, in wall time, of reading and of the command info; and what 8 and 16 cores could reach at most: the time
              of one thread, divided by the serial part plus an equal share of the rest (stages.c)
    pftrace   reading the same trace as Perfetto protobuf, against its JSON, in CPU time; JSON to .pftrace on two cores, in GB/s of wall time
    gz        .gz to .gz on two cores, in wall time, against the CPU time of inflating and deflating the bytes (limits.c)
    shrink    shrinking to half, against converting, in wall time
    graph     bytes of the graph per event

Medians of alternating rounds, except for the parts that stages.c and limits.c measure, of which the best round counts.

    cores.py TRACEKIT GENERATOR WORKDIR INTEROP [MEGABYTES...]"""
import json
import os
import subprocess
import sys

from timing import race

TRACEKIT, GENERATOR, WORK = sys.argv[1:4]
STAGES, LIMITS = (os.path.join(os.path.dirname(GENERATOR), '..', 'bench', name) for name in ('stages', 'limits'))
SIZES = [int(size) for size in sys.argv[5:]] or [50, 200] + ([2000] if os.environ.get('LONG') else [])
SPAN_BYTES = 405  # bytes of generated JSON per span, approximately


def source(megabytes):
    """Returns the path of a trace of about this size, beside which it is also stored as .pftrace and .json.gz."""
    path = os.path.join(WORK, f'cores.{megabytes}.json')
    if not os.path.exists(path):
        with open(path + '.tmp', 'wb') as out:
            subprocess.run([GENERATOR, 'kineto', '--spans', str(megabytes * 1000000 // SPAN_BYTES), '--seed', '7'], stdout=out, check=True)
        os.rename(path + '.tmp', path)
    for other in ('.pftrace', '.gz'):
        subprocess.run([TRACEKIT, 'convert', '-q', '--force', path, '-o', path[:-5] + other if other == '.pftrace' else path + other], check=True)
    return path


def stages(path, rounds):
    return json.loads(subprocess.run([STAGES, path, str(rounds)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True).stderr)


def measure_size(megabytes):
    path, rounds = source(megabytes), 9 if megabytes <= 200 else 5
    out, quiet = os.path.join(WORK, 'cores.out'), ['-q', '--force']
    parts, packed = stages(path, rounds), stages(path[:-5] + '.pftrace', rounds)
    limits = json.loads(subprocess.run([LIMITS, path + '.gz', str(rounds)], stdout=subprocess.PIPE, check=True).stdout)
    info = json.loads(subprocess.run([TRACEKIT, 'info', '-q', '--json', path], stdout=subprocess.PIPE, check=True).stdout)['traces'][0]
    walls = {name: wall for name, (wall, _, _) in race(
        {'j1': [TRACEKIT, 'info', '-q', '-j1', path],
         'j2': [TRACEKIT, 'info', '-q', '-j2', path],
         'pftrace': [TRACEKIT, 'convert', '-j2', *quiet, path, '-o', out + '.pftrace'],
         'gz': [TRACEKIT, 'convert', '-j2', *quiet, path + '.gz', '-o', out + '.json.gz'],
         'convert': [TRACEKIT, 'convert', *quiet, path, '-o', out + '.json.gz'],
         'shrink': [TRACEKIT, 'shrink', *quiet, path, '--percent', '50', '-o', out + '.json.gz']}, rounds).items()}
    size = os.path.getsize(path)
    most = {n: parts['read'] / (parts['serial'] + parts['shared'] / (n - 1)) for n in (8, 16)}
    print(f'  {size / 1e6:.0f} MB, {info["events"]} events, {rounds} rounds')
    print(f'    read      {size / parts["read"] / 1e9:.2f} GB/s of one core; two cores {parts["gain"]:.2f}x (info {walls["j1"] / walls["j2"]:.2f}x); {parts["serial"] * 1e3:.0f} of '
          f'{parts["read"] * 1e3:.0f} ms serial, so at most {most[8]:.1f}x on 8 cores, {most[16]:.1f}x on 16')
    print(f'    pftrace   read in {packed["read"] / parts["read"]:.2f}x the time of JSON; JSON to .pftrace {size / walls["pftrace"] / 1e9:.2f} GB/s on two cores')
    print(f'    gz        {walls["gz"] / (limits["inflate"] + limits["deflate"]):.2f}x of inflate and deflate')
    print(f'    shrink    {walls["shrink"] / walls["convert"]:.2f}x of convert')
    print(f'    graph     {info["memory"]["graph_bytes"] / info["events"]:.1f} bytes an event')


print('cores: reading, writing and the size of the graph')
for size_of_trace in SIZES:
    measure_size(size_of_trace)
