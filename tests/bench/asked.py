#!/usr/bin/env python3
"""Times commands that need only part of a trace, and merges, compared with other programs that do the same with the same file:
filtering kernels on one core and on two, reading with and without args and flows, and merging four ranks into one .json.gz,
with clocks that can be aligned and with clocks that cannot. Medians of alternating rounds, in wall seconds; ratios are to the
first row. A missing program is reported as SKIPPED.

    asked.py TRACEKIT GENERATOR WORKDIR INTEROP [MEGABYTES...]"""
import os
import shutil
import subprocess
import sys

from timing import engine, race

HERE = os.path.dirname(os.path.abspath(__file__))
TRACEKIT, GENERATOR, WORK, INTEROP = sys.argv[1:5]
SIZES = [int(size) for size in sys.argv[5:]] or [50, 200] + ([2000] if os.environ.get('LONG') else [])
SPAN_BYTES = 405  # bytes of generated JSON per span, approximately
MOST = 400  # MB: the largest file for programs that need many times its size as memory
OUT = os.path.join(WORK, 'asked.out.json')
PACKED = OUT + '.gz'

KERNELS = {
    'ijson': ('ijson', False, 'import ijson, sys; print(sum(e.get("cat") == "kernel" for e in '
              'ijson.items(open(sys.argv[1], "rb"), "traceEvents.item", use_float=True)))'),
    'orjson': ('orjson', True, 'import orjson, sys; print(sum(e.get("cat") == "kernel" for e in '
               'orjson.loads(open(sys.argv[1], "rb").read())["traceEvents"]))'),
    'simdjson': ('simdjson', True, 'import simdjson, sys; print(sum(e.get("cat") == "kernel" for e in '
                 'simdjson.Parser().load(sys.argv[1])["traceEvents"]))'),
}
MERGE = ('orjson', True, '''
import sys, gzip, orjson
events = []
for rank, path in enumerate(sys.argv[2:]):
    for e in orjson.loads(open(path, "rb").read())["traceEvents"]:
        if isinstance(e.get("pid"), int): e["pid"] += 10000000 * rank
        if "id" in e: e["id"] = f'{rank}.{e["id"]}'
        events.append(e)
with gzip.open(sys.argv[1], "wb", compresslevel=1) as out: out.write(orjson.dumps({"traceEvents": events}))
''')


def generate(name, *options):
    path = os.path.join(WORK, name)
    if not os.path.exists(path):
        with open(path + '.tmp', 'wb') as out:
            subprocess.run([GENERATOR, 'kineto', *options], stdout=out, check=True)
        os.rename(path + '.tmp', path)
    return path


def skipped(what, why):
    print(f'SKIPPED: asked: {what} {why}')


def python(module, is_large, text, size, *args):
    """Returns the command of a peer in Python, or None."""
    if subprocess.run([sys.executable, '-c', f'import {module}'], capture_output=True, check=False).returncode:
        return skipped(module, 'is not installed')
    if is_large and size > MOST * 1e6:
        return skipped(module, f'needs many times {size / 1e6:.0f} MB')
    return [sys.executable, '-c', text, *args]


def peers(path, size, env):
    """Returns {name: command} of programs that count the kernels of the file."""
    found = {name: python(*row, size, path) for name, row in KERNELS.items()}
    if shutil.which('jq') and size <= MOST * 1e6:
        found['jq'] = ['jq', '[.traceEvents[] | select(.cat == "kernel")] | length', path]
    else:
        skipped('jq', 'is not installed, or needs too much memory')
    if env and size <= MOST * 1e6:
        found['trace_processor wasm'] = [env['NODE'], '--max-old-space-size=8192', os.path.join(HERE, '..', 'interop', 'tpq.mjs'), path,
                                         "select count(*) from slice where category = 'kernel'"]
    else:
        skipped('trace_processor', 'is not installed (make interop), or needs too much memory')
    return {name: command for name, command in found.items() if command}


def ours(command, threads, *args):
    return [TRACEKIT, command, '-q', f'-j{threads}', *args]


def table(title, size, commands, env=None):
    print(f'\n{title}, {size / 1e6:.0f} MB')
    results = race(commands, 5 if size < 1e9 else 3, env)
    base = next(iter(results.values()))[0]
    for name, (wall, cpu, memory) in results.items():
        print(f'  {name:34} {wall:8.3f} s {cpu:8.3f} s cpu {memory:7.0f} MB {size / wall / 1e9:6.2f} GB/s {wall / base:6.1f}x')
    sys.stdout.flush()


def measure(megabytes, env):
    path = generate(f'asked.{megabytes}.json', '--spans', str(megabytes * 1000000 // SPAN_BYTES), '--seed', '7')
    size = os.path.getsize(path)
    kernels = {f'filter --kind kernel -j{j}': ours('filter', j, '--force', path, '--kind', 'kernel', '-o', OUT) for j in (1, 2)}
    table('kernels', size, kernels | peers(path, size, env), env)
    table('reading', size, {'info -j1: everything': ours('info', 1, path), 'top -j1: no args, no flows': ours('top', 1, '--json', path),
                            'tree --folded -j1: the same': ours('tree', 1, '--folded', path)})


def merges(megabytes):
    spans = str(megabytes * 1000000 // SPAN_BYTES // 4)
    job = [generate(f'asked.{megabytes}.rank{i}.json', '--spans', spans, '--ranks', '4', '--hosts', '2', '--offset-us', '0,900', '--rank',
                    str(i), '--seed', '7') for i in range(4)]
    strangers = [generate(f'asked.{megabytes}.alone{i}.json', '--spans', spans, '--seed', str(20 + i)) for i in range(4)]
    for title, ranks in (('merge of 4 ranks that can be aligned', job), ('merge of 4 ranks that cannot be aligned', strangers)):
        size = sum(map(os.path.getsize, ranks))
        peer = python(*MERGE, size, PACKED, *ranks)
        table(title, size, {f'merge --align {how} -j{j}': ours('merge', j, '--force', '--align', how, *ranks, '-o', PACKED)
                            for j, how in ((2, 'auto'), (1, 'auto'), (2, 'clock'))} | ({'orjson, gzip -1': peer} if peer else {}))


def main():
    env = engine(INTEROP)
    for megabytes in SIZES:
        measure(megabytes, env)
        merges(megabytes)
    for path in (OUT, PACKED):
        if os.path.exists(path):
            os.unlink(path)


main()
