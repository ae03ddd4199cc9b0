"""Finds dependency cycles between files: strongly connected components of "an object uses a symbol that another defines", in
the library and the command.

Includes do not show these cycles, because a header may declare what several files define. Each cycle is printed with its
symbols. A row in circles_exceptions.tsv removes one edge (file, used file) from the graph; a row that changes nothing is a
fault."""
import collections
import os
import subprocess
import sys

from common import exceptions, files


def symbols(build):
    """Returns ({symbol: defining file}, {file: symbols used}), only for existing sources, because a build folder may contain
    stale objects."""
    defined, used = {}, {}
    for source in files('lib', 'cli', endings='c'):
        path = f'{build}/obj/{source[:-2]}.o'
        if not os.path.exists(path):
            sys.exit(f'{path}: there is no such object; run make first')
        used[source] = set()
        for line in subprocess.run(['nm', '-g', path], capture_output=True, text=True, check=True).stdout.splitlines():
            kind, name = line.split()[-2:]
            if kind == 'U':
                used[source].add(name)
            else:
                defined[name] = source
    return defined, used


def graph_of(defined, used):
    """Returns {file: {other file: its symbols that the file uses}}."""
    graph = {}
    for source, names in used.items():
        graph[source] = collections.defaultdict(set)
        for name in names:
            if defined.get(name, source) != source:
                graph[source][defined[name]].add(name)
    return graph


def reached(graph, start, without):
    seen, todo = set(), [start]
    while todo:
        source = todo.pop()
        for other in graph[source]:
            if other not in seen and (source, other) not in without:
                seen.add(other)
                todo.append(other)
    return seen


def circles_of(graph, without):
    """Returns the cycles: two files are in one cycle if each reaches the other."""
    reach = {source: reached(graph, source, without) for source in graph}
    circles = {frozenset(other for other in reach[source] if source in reach[other]) for source in graph if source in reach[source]}
    return sorted(sorted(circle) for circle in circles)


def show(graph, circle, without):
    print(f'a circle of {len(circle)} files:')
    for source in circle:
        for other in circle:
            if other in graph[source] and (source, other) not in without:
                print(f'  {source} -> {other}: {" ".join(sorted(graph[source][other]))}')


def main():
    graph = graph_of(*symbols(os.path.abspath(sys.argv[1])))
    without, faults = exceptions('circles_exceptions.tsv')
    circles = circles_of(graph, without)
    for circle in circles:
        show(graph, circle, without)
    faults += [f'circles_exceptions.tsv: nothing needs the row {row[0]} {row[1]}' for row in sorted(without)
               if circles_of(graph, without - {row}) == circles]
    print('\n'.join(faults), end='\n' if faults else '')
    return 1 if circles or faults else 0


sys.exit(main())
