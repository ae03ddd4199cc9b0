"""Counts the function calls per kernel event when converting Chrome JSON to Perfetto, in a build without inlining.

    make BUILD=build/o0 CFLAGS='-O0 -g' build/o0/tracekit
    tests/bench/calls.py [--args=13] [--general] [--inlines] [--by-function] [build/o0/tracekit]

Converts two traces that differ by EVENTS kernel events under callgrind. The difference between the counts, divided by EVENTS,
is the cost of one event; startup and shutdown cancel out. Kineto prints 13 args per kernel, and 20 per collective kernel.
Prints the number of calls of functions in .c files, and the number of these calls that lead into another file ("moves");
--inlines also counts functions in headers. Every event uses the template learned from the first; --general forces all events
onto the general path, by giving each its own order of keys. Calls into libc and zlib are excluded, because they cannot be
inlined here."""
import argparse
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

EVENTS, WARM_UP = 500, 500

ARGS = [('External id', lambda i: 1000 + i), ('queued', lambda i: 0), ('device', lambda i: 0), ('context', lambda i: 1),
        ('stream', lambda i: 7), ('correlation', lambda i: 5000 + i), ('registers per thread', lambda i: 16 + i % 16 * 8),
        ('shared memory', lambda i: i % 4 * 400), ('blocks per SM', lambda i: 1.5 + i % 8),
        ('warps per SM', lambda i: 12.25 + i % 8), ('grid', lambda i: [1 + i % 8, 1, 1]), ('block', lambda i: [128, 1, 1]),
        ('est. achieved occupancy %', lambda i: i % 101), ('Collective name', lambda i: 'allreduce'),
        ('In msg nelems', lambda i: 4096 * (1 + i % 4)), ('Out msg nelems', lambda i: 4096 * (1 + i % 4)),
        ('Group size', lambda i: 8), ('dtype', lambda i: 'Float'), ('Process Group Name', lambda i: '0'), ('Seq', lambda i: i)]


def kernel(i, general, n_args=len(ARGS)):
    names = ['sgemm_128x64_nn', 'vectorized_elementwise_kernel', 'ncclDevKernel_AllReduce']
    args = {key: value(i) for key, value in ARGS[:n_args]}
    if general:  # no two consecutive events have their args in the same order, so no template ever matches
        keys = list(args)
        for step in range(3):
            at = i // len(keys) ** step % len(keys)
            keys = keys[at:] + keys[:at] if step % 2 == 0 else keys[at::-1] + keys[at + 1:]
        args = {key: args[key] for key in keys}
    return {'ph': 'X', 'cat': 'kernel', 'name': names[i % 3], 'pid': 0, 'tid': 7, 'ts': 1000 + i * 20.125, 'dur': 10.5 + i % 7, 'args': args}


def calls(program, folder, events, *form):
    """Returns {(caller's file, callee's file, callee): calls}."""
    source, counts = os.path.join(folder, 'in.json'), os.path.join(folder, 'counts')
    with open(source, 'w', encoding='utf-8') as f:
        json.dump({'traceEvents': [kernel(i, *form) for i in range(events)]}, f)
    subprocess.run(['valgrind', '--tool=callgrind', '--compress-strings=no', '--callgrind-out-file=' + counts, program, 'convert',
                    '-qj1', '--force', source, '-o', os.path.join(folder, 'out.pftrace')], check=True, capture_output=True)
    return read_counts(counts)


def read_counts(path):
    found = collections.Counter()
    home = here = callee = function = ''
    with open(path, encoding='utf-8') as f:
        for line in f:
            key, _, value = line.rstrip('\n').partition('=')
            if key in ('fl', 'fi', 'fe'):
                home = value if key == 'fl' else home
                here = value
            elif key == 'fn':
                callee = home
            elif key in ('cfi', 'cfl'):
                callee = value
            elif key == 'cfn':
                function = re.sub(r"'\d+$", '', value)
            elif key == 'calls':
                found[here, callee, function] += int(value.split()[0])
                callee = home
    return found


def of_project(path):
    at = re.search(r'(?:^|/)((?:lib|cli)/[\w/]+\.[ch])$', path)
    return at.group(1) if at else None


def per_event(program, *form):
    with tempfile.TemporaryDirectory() as folder:
        few, many = (calls(program, folder, n, *form) for n in (WARM_UP, WARM_UP + EVENTS))
    for at in many:
        n = (many[at] - few[at]) / EVENTS
        if n and of_project(at[1]):
            yield of_project(at[0]) or '', of_project(at[1]), at[2], n


def main():
    say = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    say.add_argument('--args', type=int, default=len(ARGS))
    say.add_argument('--general', action='store_true')
    say.add_argument('--inlines', action='store_true')
    say.add_argument('--by-function', action='store_true')
    say.add_argument('program', nargs='?', default='build/o0/tracekit')
    o = say.parse_args()
    if not shutil.which('valgrind'):
        print('SKIPPED: no valgrind: calls are not counted (apt install valgrind)')
        return 0
    total, moves, files, functions = 0, 0, collections.Counter(), collections.Counter()
    for caller, callee, function, n in per_event(o.program, o.general, o.args):
        if callee.endswith('.h') and not o.inlines:
            continue
        total += n
        files[callee] += n
        functions[callee, function] += n
        moves += n if caller != callee else 0
    for at, n in functions.most_common() if o.by_function else files.most_common():
        print(f'{n:9.2f}  {" ".join(at) if o.by_function else at}')
    print(f'{total:9.2f}  calls an event, {moves:.2f} of them into another file; {len(files)} files')
    return 0


sys.exit(main())
