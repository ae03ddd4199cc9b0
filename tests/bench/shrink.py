#!/usr/bin/env python3
"""Shrinks a trace that is too large for its viewer, and loads it with trace_processor's WebAssembly before and after.

Usage: shrink.py TRACEKIT GENERATOR WORKDIR INTEROP [MEGABYTES [TARGET]]; make interop installs the engine, else this is
SKIPPED."""
import os
import subprocess
import sys
import time

from timing import engine

HERE = os.path.dirname(os.path.abspath(__file__))
TRACEKIT, GENERATOR, WORK, INTEROP = sys.argv[1:5]
MEGABYTES = int(sys.argv[5]) if len(sys.argv) > 5 else 400
TARGET = sys.argv[6] if len(sys.argv) > 6 else f'{MEGABYTES * 1000 // 19}KB'
SPAN_BYTES = 404


def run(command, env=None):
    """Returns (error or '', wall seconds, largest resident set size in MB)."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env)
    text = process.stdout.read().decode('utf-8', 'replace')
    _, status, usage = os.wait4(process.pid, 0)
    return '' if status == 0 else (text.strip().splitlines() or ['died'])[-1][:100], time.monotonic() - start, usage.ru_maxrss / 1024


def opens(path, env):
    why, seconds, memory = run([env['NODE'], os.path.join(HERE, '..', 'interop', 'tpq.mjs'), path, 'select count(*) from slice'], env)
    print(f'  {os.path.getsize(path) / 1e6:8.1f} MB  {seconds:6.1f} s  {memory:6.0f} MB  {os.path.basename(path)}  {why or "opens"}')


def main():
    source = os.path.join(WORK, f'large.{MEGABYTES}.json')
    if not os.path.exists(source):
        with open(source + '.tmp', 'wb') as out:
            subprocess.run([GENERATOR, 'kineto', '--spans', str(MEGABYTES * 1000000 // SPAN_BYTES)], stdout=out, check=True)
        os.rename(source + '.tmp', source)
    small = [os.path.join(WORK, name) for name in ('small.json', 'small.json.gz', 'small.pftrace')]
    print(f'shrink {os.path.getsize(source) / 1e6:.0f} MB of JSON to {TARGET}')
    for path in small:
        why, seconds, memory = run([TRACEKIT, 'shrink', '-q', '--force', source, '--to', TARGET, '-o', path])
        print(f'  {os.path.basename(path):14} {why or f"{os.path.getsize(path)} bytes"}, {seconds:.1f} s, {memory:.0f} MB')
    env = engine(INTEROP)
    if not env:
        print('SKIPPED: trace_processor: make interop installs it')
        return
    print('trace_processor (WebAssembly), load and count')
    for path in [source, *small]:
        if os.path.exists(path):
            opens(path, env)


main()
