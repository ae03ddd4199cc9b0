#!/usr/bin/env python3
"""Prints test coverage of the library: lines and branches per folder, and the files with less than 90% of lines covered.

    coverage.py BUILD [LEAST]    BUILD: a build with --coverage, after its tests; fails below LEAST percent of lines (92)"""
import collections
import json
import os
import subprocess
import sys


def counts(build):
    """Returns file -> line -> count, and file -> (branch taken?...), from gcov's output on every object, because headers are in
    many objects."""
    lines, branches = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
    objects = [os.path.join(folder, name) for folder, _, names in os.walk(os.path.join(build, 'obj', 'lib')) for name in names
               if name.endswith('.gcda')]
    for first in range(0, len(objects), 20):
        out = subprocess.run(['gcov', '--json-format', '--stdout', '--branch-probabilities', *objects[first:first + 20]],
                             check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        for text in out.splitlines():
            for file in json.loads(text)['files']:
                name = os.path.relpath(file['file'])
                if not name.startswith('lib/'):
                    continue
                for line in file['lines']:
                    number = line['line_number']
                    lines[name][number] += line['count']
                    for i, branch in enumerate(line['branches']):
                        branches[name][number, i] += branch['count']
    return lines, branches


def share(counter):
    return sum(1 for n in counter.values() if n), len(counter)


def percent(ran, of):
    return f'{100 * ran / of:5.1f}%' if of else '    -'


def main():
    least = float(sys.argv[2]) if len(sys.argv) > 2 else 92
    lines, branches = counts(sys.argv[1])
    folders = collections.defaultdict(lambda: [0, 0, 0, 0])
    for name in lines:
        for key in (os.path.dirname(name), 'lib, all'):
            for i, n in enumerate((*share(lines[name]), *share(branches[name]))):
                folders[key][i] += n
    print('folder                     lines  branches')
    for key in sorted(folders):
        f = folders[key]
        print(f'{key:<24} {percent(f[0], f[1]):>7} {percent(f[2], f[3]):>9}   of {f[1]} lines')
    print('\nfiles of which less than 90% ran')
    for name in sorted(lines, key=lambda name: share(lines[name])[0] / max(1, share(lines[name])[1])):
        ran, of = share(lines[name])
        if of and ran / of < 0.9:
            missed = sorted(n for n, times in lines[name].items() if not times)
            print(f'{percent(ran, of)}  {name}: {" ".join(map(str, missed[:30]))}{" ..." if len(missed) > 30 else ""}')
    ran, of = folders['lib, all'][:2]
    ok = of and 100 * ran / of >= least
    print(f'\n{percent(ran, of).strip()} of the lines of the library ran, at least {least:g}% must')
    print(f'{int(bool(ok))} passed, {int(not ok)} failed')
    return not ok


sys.exit(main())
