#!/usr/bin/env python3
"""Measures what our Perfetto file costs its reader, compared with the JSON it was made from: size, and seconds and memory of an
import by the pinned trace_processor; also the speed of converting in both directions; from Perfetto to JSON, compared with
traceconv's WebAssembly.

Rounds alternate between the files, so that speed drift of the machine affects all alike; figures are medians. The memory of an
engine is that of its process minus that of a process that loads an empty trace. Args dominate the cost of an import: without
args, a file of begin and end events loads hardly faster than JSON without args; lib/format/perfetto/write/write.c has the
experiment. Without the engine (make interop installs it) that part is SKIPPED.

Usage: perfetto.py TRACEKIT GENERATOR WORKDIR INTEROP [SPANS]"""
import os
import subprocess
import sys
import zlib

from timing import engine, race

HERE = os.path.dirname(os.path.abspath(__file__))
TRACEKIT, GENERATOR, WORK, INTEROP = sys.argv[1:5]
SPANS = int(sys.argv[5]) if len(sys.argv) > 5 else 1_000_000
ROUNDS = 3


def convert(source, target, *options):
    subprocess.run([TRACEKIT, 'convert', '-q', '--force', *options, source, '-o', target], check=True)


def strip_args(source, target):
    """Writes the same trace without args. Uses another process, because the memory of this one would count for its children."""
    subprocess.run([TRACEKIT, 'filter', '-q', '--force', '--drop-args', '*', source, '-o', target], check=True)


def inputs():
    full, bare = (os.path.join(WORK, f'perfetto.{SPANS}.{kind}.json') for kind in ('full', 'bare'))
    if not os.path.exists(full):
        with open(full + '.tmp', 'wb') as out:
            subprocess.run([GENERATOR, 'kineto', '--spans', str(SPANS), '--seed', '7'], stdout=out, check=True)
        os.rename(full + '.tmp', full)
    if not os.path.exists(bare):
        strip_args(full, bare)
    return full, bare


def deflated(path, level):
    """Returns the size of the file after compression by zlib."""
    n, z = 0, zlib.compressobj(level)
    with open(path, 'rb') as f:
        while piece := f.read(1 << 20):
            n += len(z.compress(piece))
    return n + len(z.flush())


def sizes(path):
    """Prints the figures of the JSON file and of our Perfetto file made from it; returns the latter's path."""
    ours = path[:-len('.json')] + '.pftrace'
    convert(path, ours)
    for target in (path + '.gz', ours + '.gz'):
        convert(path, target)
    found = [[os.path.getsize(p), os.path.getsize(p + '.gz'), deflated(p, 1), deflated(p, 6)] for p in (path, ours)]
    columns = zip(('plain', 'as tracekit gzips', 'gzip -1', 'gzip -6'), *found)
    print(f'{os.path.basename(path)}, MB of JSON and of .pftrace: ' +
          '; '.join(f'{name} {a / 1e6:.1f}, {b / 1e6:.1f} ({b / a:.2f}x)' for name, a, b in columns))
    return ours


def varint(v):
    out = bytearray()
    while v >= 128:
        out.append(v & 127 | 128)
        v >>= 7
    out.append(v)
    return bytes(out)


def field(number, v):
    """Encodes a field: an integer, or bytes with their length."""
    return varint(number << 3) + varint(v) if isinstance(v, int) else varint(number << 3 | 2) + varint(len(v)) + v


def bare_minimum(path):
    """Writes the smallest Perfetto file with this many spans: a begin and an end each, on one track, with 64 interned names."""
    names = b''.join(field(2, field(1, i + 1) + field(2, b'name%d' % i)) for i in range(64))
    ends = field(10, 1) + field(13, 2) + field(11, field(9, 2) + field(11, 7))
    begins = [field(10, 1) + field(13, 2) + field(11, field(9, 1) + field(10, i + 1) + field(11, 7)) for i in range(64)]
    with open(path, 'wb') as out:
        out.write(field(1, field(60, field(1, 7) + field(2, b'track'))))
        out.write(field(1, field(10, 1) + field(13, 1) + field(12, names)))
        for i in range(SPANS):
            out.write(field(1, field(8, 1000 * i + 1) + begins[i % 64]) + field(1, field(8, 1000 * i + 900) + ends))


def main():
    env = engine(INTEROP)
    files = {}
    for path in inputs():
        files[path] = sizes(path)
    full, ours = next(iter(files.items()))
    back = os.path.join(WORK, 'perfetto.back.json')
    there = race({'JSON -> .pftrace': [TRACEKIT, 'convert', '-q', '-j1', '--force', full, '-o', os.path.join(WORK, 'perfetto.out.pftrace')],
                  '.pftrace -> JSON': [TRACEKIT, 'convert', '-q', '-j1', '--force', ours, '-o', back]}, ROUNDS)
    for name, (wall, cpu, memory) in there.items():
        print(f'{name}: {wall:.2f} s, cpu {cpu:.2f} s, {memory:.0f} MB, {os.path.getsize(full) / 1e6 / cpu:.0f} MB of JSON a cpu second')
    if not env:
        print('SKIPPED: the engine is not here: make interop installs it')
        return
    tpq = [env['NODE'], os.path.join(HERE, '..', 'interop', 'tpq.mjs')]
    empty = os.path.join(WORK, 'perfetto.empty.json')
    with open(empty, 'w', encoding='utf-8') as f:
        f.write('{"traceEvents":[]}')
    json_with_args = None
    for path, mine in files.items():
        found = race({'empty': tpq + [empty], 'json': tpq + [path], 'pftrace': tpq + [mine]}, ROUNDS, env)
        (_, zero, floor), (wall_j, cpu_j, mem_j), (wall_p, cpu_p, mem_p) = found['empty'], found['json'], found['pftrace']
        print(f'import of {os.path.basename(path)}: JSON {wall_j:.2f} s wall, {cpu_j:.2f} s cpu, {mem_j:.0f} MB; .pftrace {wall_p:.2f} s, '
              f'{cpu_p:.2f} s, {mem_p:.0f} MB: {(cpu_p - zero) / (cpu_j - zero):.2f}x the time, {(mem_p - floor) / (mem_j - floor):.2f}x the memory '
              f'({mem_p / mem_j:.2f}x with the {floor:.0f} MB of an engine that holds nothing)')
        json_with_args = json_with_args or cpu_j - zero
    print(f'import of the .pftrace without args: the JSON with them takes {json_with_args / (cpu_p - zero):.1f} times as long')
    least = os.path.join(WORK, 'perfetto.least.pftrace')
    bare_minimum(least)
    bare = list(files)[1]
    found = race({'empty': tpq + [empty], 'json': tpq + [bare], 'least': tpq + [least]}, ROUNDS, env)
    zero, json_cpu, cpu = (found[name][1] for name in ('empty', 'json', 'least'))
    print(f'import of {SPANS} spans, the least that a Perfetto file can say of them (a begin and an end each): {cpu:.2f} s cpu, of the JSON '
          f'without args {json_cpu:.2f} s: {(cpu - zero) / (json_cpu - zero):.2f}x the time')
    try:
        theirs = race({'traceconv': [env['NODE'], os.path.join(HERE, 'traceconv.mjs'), ours, back]}, ROUNDS, env)['traceconv']
    except SystemExit:
        print('.pftrace -> JSON by traceconv.wasm: it cannot convert this file')
        return
    print(f'.pftrace -> JSON by traceconv.wasm: {theirs[0]:.2f} s, cpu {theirs[1]:.2f} s, {theirs[2]:.0f} MB: '
          f'{theirs[0] / there[".pftrace -> JSON"][0]:.1f}x as long')


main()
