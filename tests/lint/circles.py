"""Circles of files: strongly connected components of "an object uses a symbol that another defines", of the library and the command.

Includes do not show these, for a header may declare what several files define.  Each circle is printed with the symbols that make it.
A row in circles_exceptions.tsv takes one use of one file by another out of the graph; a row without which there are the same circles
is a fault."""
import collections
import os
import subprocess
import sys

from common import exceptions, files


def symbols(build):
    """(symbol -> file that defines it, file -> symbols that it uses); of sources that exist, for a build may hold objects of others."""
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
    """{file: {other file: the symbols of it that it uses}}"""
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
    """Two files are in one circle when each reaches the other."""
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
