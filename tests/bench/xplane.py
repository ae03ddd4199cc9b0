#!/usr/bin/env python3
"""Benchmarks the conversion of XPlane to gzipped JSON against the xprof package, on the same file in one run: wall time, CPU time and
peak memory.

xprof runs its `trace_viewer`, which stops at a million events, and gzips the output, as its own server does. Each run is a
separate process; its startup and import are measured on an empty file and subtracted. The two programs take turns, and the
figures are medians. Because xprof may stop early, figures are in seconds per million events that the program wrote. Without
xprof (make interop installs it) its part is SKIPPED.

Usage: xplane.py TRACEKIT GENERATOR WORKDIR INTEROP [SPANS]"""
import gzip
import json
import os
import re
import subprocess
import sys

from timing import race

TRACEKIT, GENERATOR, WORK, INTEROP = sys.argv[1:5]
SPANS = int(sys.argv[5]) if len(sys.argv) > 5 else 1_000_000
ROUNDS = 3
XPROF = '''
import gzip, sys
from xprof.convert import raw_to_tool_data
data, _ = raw_to_tool_data.xspace_to_tool_data([sys.argv[1]], 'trace_viewer', {})
with gzip.open(sys.argv[2], 'wb', compresslevel=6) as out:
    out.write(data.encode() if isinstance(data, str) else data or b'')
'''


def peer():
    """Returns a Python with xprof, or None."""
    for venv in (os.environ.get('XPROF_VENV'), os.path.join(INTEROP, 'xprof'), os.path.join(INTEROP, 'venv')):
        python = os.path.join(venv, 'bin', 'python') if venv else ''
        if os.path.exists(python) and subprocess.run([python, '-c', 'from xprof.convert import raw_to_tool_data'],
                                                     capture_output=True).returncode == 0:
            return python
    return None


def source():
    path = os.path.join(WORK, f'{SPANS}.xplane.pb')
    if not os.path.exists(path):
        with open(path + '.tmp', 'wb') as out:
            subprocess.run([GENERATOR, 'xplane', '--spans', str(SPANS), '--seed', '7'], stdout=out, check=True)
        os.rename(path + '.tmp', path)
    return path


def spans_of(path):
    with gzip.open(path, 'rb') as f:
        return len(re.findall(rb'"ph": ?"X"', f.read()))


def graph(path):
    trace = json.loads(subprocess.run([TRACEKIT, 'info', '-q', '--json', path], check=True, stdout=subprocess.PIPE).stdout)['traces'][0]
    return trace['events'], trace['memory']['graph_bytes'] / max(1, trace['events'])


def main():
    path = source()
    ours, theirs, empty = (os.path.join(WORK, name) for name in ('xplane.ours.json.gz', 'xplane.theirs.json.gz', 'empty.xplane.pb'))
    events, per_event = graph(path)
    print(f'{os.path.basename(path)}: {os.path.getsize(path) / 1e6:.1f} MB, {events} events, {per_event:.1f} bytes of graph each')
    commands = {f'tracekit -j{j}': [TRACEKIT, 'convert', '-q', '--force', f'-j{j}', path, '-o', ours] for j in (1, 2)}
    python = peer()
    if python:
        with open(empty, 'wb') as f:
            f.write(b'\x12\x00')  # an XSpace with one empty error
        commands['xprof, empty'] = [python, '-c', XPROF, empty, theirs + '.empty']
        commands['xprof'] = [python, '-c', XPROF, path, theirs]
    found = race(commands, ROUNDS)
    for name, (wall, cpu, memory) in found.items():
        print(f'{name}: {wall:.2f} s, cpu {cpu:.2f} s, {memory:.0f} MB')
    if not python:
        print('SKIPPED: xprof is not here: make interop installs it')
        return
    written, shown = spans_of(ours), spans_of(theirs)
    wall, memory = found['xprof'][0] - found['xprof, empty'][0], found['xprof'][2]
    print(f'spans written: tracekit {written}, xprof {shown}{" (capped)" if shown < written * 0.9 else ""}')
    for name in ('tracekit -j1', 'tracekit -j2'):
        mine = found[name]
        ratio = (wall / max(1, shown)) / (mine[0] / max(1, written))
        print(f'xprof takes {ratio:.1f}x the time a span of {name} (without start and import), {memory / mine[2]:.1f}x the memory')


main()
