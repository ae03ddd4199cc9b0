"""Checks the includes of every source file against the layering of folders.

A file may include headers from its own folder and from folders in the rows above its own. Folders in one row do not include
each other, so no format depends on another. The command includes only the public interface. No folder is exempt: an
exception is a row with its reason in layers_exceptions.tsv, and an unused row is a fault."""
import os
import re
import sys

from common import exceptions, files, read, without_comments

LAYERS = (
    ('lib/base',),
    ('lib/io',),
    ('lib/graph',),
    ('lib/format',),
    ('lib/format/*',),
    ('lib/op', 'lib/align', 'lib/source'),
    ('lib/analysis',),
    ('lib/sql', 'lib/arrow'),
    ('lib/command',),
    ('cli',),
)
ONE_FORMAT = LAYERS.index(('lib/format/*',))
PUBLIC = ('lib/tracekit.h', 'lib/tracekit_ops.h', 'lib/tracekit_arrow.h', 'lib/tracekit_build.h', 'lib/tracekit_io.h',
          'lib/tracekit_redact.h', 'lib/tracekit_report.h', 'lib/tracekit_steps.h', 'lib/tracekit_text.h')
SEEN_BY_CLI = ('lib/tracekit.h',)

# Within a format, reader and writer each have their own layers. Files of neither side, such as the format's row, may be
# included by both.
READER = (r'reader', r'read_\w+', r'finish\w*', r'read')
WRITER = (r'writer', r'write_\w+', r'write')

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.M)


def folder_of(path):
    """Files directly in lib/ combine folders, as those in lib/command/ do."""
    folder = os.path.dirname(path)
    return 'lib/command' if folder == 'lib' else folder


def layer_of(folder):
    for rank, row in enumerate(LAYERS):
        if folder in row or (os.path.dirname(folder) + '/*') in row:
            return rank
    return None


def includes(path):
    """Yields the files of this repository that a file includes; generated files are ignored."""
    for name in INCLUDE.findall(without_comments(read(path))):
        beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
        found = beside if os.path.exists(beside) else f'lib/{name}'
        if os.path.exists(found):
            yield found


def rung(path, ladder):
    stem = os.path.splitext(os.path.basename(path))[0]
    return next((i for i, step in enumerate(ladder) if re.fullmatch(step, stem)), None)


def fault_of_folders(path, other):
    mine, theirs = folder_of(path), folder_of(other)
    if mine == theirs or (other in PUBLIC and mine != 'cli') or (other in SEEN_BY_CLI and mine == 'cli'):
        return None
    if mine == 'cli':
        return f'the command sees {" ".join(SEEN_BY_CLI)} and cli/ alone'
    if layer_of(theirs) is None or layer_of(theirs) >= layer_of(mine):
        return f'{mine} may not see {theirs}'
    return None


def fault_of_ladders(path, other):
    for ladder in (READER, WRITER):
        low, high = rung(path, ladder), rung(other, ladder)
        if low is not None and high is not None and high > low:
            return 'it is above on its side of the format'
    return None


def crossings(path, graph):
    """Headers of the other side that a file of one side includes, directly or through others of its format."""
    sides = [ladder for ladder in (READER, WRITER) if rung(path, ladder) is not None]
    other_side = WRITER if sides == [READER] else READER
    seen, todo = set(), [path] if sides else []
    while todo:
        for header in graph[todo.pop()]:
            if header not in seen and os.path.dirname(header) == os.path.dirname(path):
                seen.add(header)
                todo.append(header)
    return [(header, 'it is of the other side of the format') for header in sorted(seen) if rung(header, other_side) is not None]


def faults_of(path, graph):
    """Yields (included file, reason why it must not be included)."""
    in_format = layer_of(folder_of(path)) == ONE_FORMAT
    for other in graph[path]:
        why = fault_of_folders(path, other)
        if not why and in_format and folder_of(path) == folder_of(other):
            why = fault_of_ladders(path, other)
        if why:
            yield other, why
    if in_format:
        yield from crossings(path, graph)


def main():
    paths = files('lib', 'cli')
    graph = {path: list(includes(path)) for path in paths}
    allowed, faults = exceptions('layers_exceptions.tsv')
    needed = set()
    for path in paths:
        if layer_of(folder_of(path)) is None:
            faults.append(f'{path}: its folder has no place in the rule')
            continue
        for other, why in faults_of(path, graph):
            if (path, other) in allowed:
                needed.add((path, other))
            else:
                faults.append(f'{path} includes {other}: {why}')
    faults += [f'layers_exceptions.tsv: nothing needs the row {path} {other}' for path, other in sorted(allowed - needed)]
    print('\n'.join(faults), end='\n' if faults else '')
    return 1 if faults else 0


sys.exit(main())
