"""Checks the includes of every source file against the layering of folders.

A file may include headers from its own folder and from folders in the rows above its own. Folders in one row do not include
each other, so a format's reader and its writer are independent, and so are formats; only the file with a format's row includes
both sides. The command includes only the public interface. No folder is exempt: an exception is a row with its reason in
layers_exceptions.tsv, and an unused row is a fault."""
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
    ('lib/format/*/read', 'lib/format/*/write'),
    ('lib/op', 'lib/align/solve'),
    ('lib/align/collect',),
    ('lib/align',),
    ('lib/source',),
    ('lib/analysis',),
    ('lib/sql', 'lib/arrow'),
    ('lib/load',),
    ('lib/shrink',),
    ('lib/scan',),
    ('lib/merge',),
    ('lib/cluster',),
    ('lib/command',),
    ('cli/print',),
    ('cli/options',),
    ('cli/shared',),
    ('cli/diff', 'cli/report', 'cli/sql', 'cli/docs', 'cli/mcp'),
    ('cli/view',),
    ('cli/wasm',),
    ('cli',),
)
# Folders that may include less than the rows above allow: the clock solver works on numbers alone.
SEES = {'lib/align/solve': ('lib/base',)}
PUBLIC = ('lib/tracekit.h', 'lib/tracekit_ops.h', 'lib/tracekit_arrow.h', 'lib/tracekit_build.h', 'lib/tracekit_io.h',
          'lib/tracekit_fields.h', 'lib/tracekit_redact.h', 'lib/tracekit_files.h', 'lib/tracekit_rows.h', 'lib/tracekit_report.h', 'lib/tracekit_diff.h', 'lib/tracekit_steps.h',
          'lib/tracekit_text.h')
SEEN_BY_CLI = ('lib/tracekit.h',)

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.M)


def folder_of(path):
    """Returns the folder of a file. Files directly in lib/ combine folders, so they count as files of lib/command/."""
    folder = os.path.dirname(path)
    return 'lib/command' if folder == 'lib' else folder


def layer_of(folder):
    for rank, row in enumerate(LAYERS):
        if any(re.fullmatch(pattern.replace('*', '[^/]+'), folder) for pattern in row):
            return rank
    return None


def format_of(path):
    """Returns the format whose folder contains the file, or None."""
    found = re.match(r'lib/format/([^/]+)/', path)
    return found.group(1) if found else None


def is_row(path):
    """True for the file with the row of a format, such as chrome/chrome.c, which combines reader and writer."""
    return path == f'lib/format/{format_of(path)}/{format_of(path)}.c'


def includes(path):
    """Yields the files of this repository that a file includes; generated files are ignored."""
    for name in INCLUDE.findall(without_comments(read(path))):
        beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
        for found in (beside, f'lib/{name}', f'cli/{name}'):
            if os.path.exists(found):
                yield found
                break


def fault_of(path, other):
    """Returns why a file must not include another, or None."""
    mine, theirs = folder_of(path), folder_of(other)
    command = mine.startswith('cli')
    if mine == theirs or other in (SEEN_BY_CLI if command else PUBLIC):
        return None
    if command and not theirs.startswith('cli'):
        return f'the command sees {" ".join(SEEN_BY_CLI)} and cli/ alone'
    if format_of(path) and format_of(other) and format_of(path) != format_of(other):
        return 'formats do not see each other'
    if is_row(path) and format_of(path) == format_of(other):
        return None
    if theirs not in SEES.get(mine, (theirs,)):
        return f'{mine} sees {" ".join(SEES[mine])} alone'
    if layer_of(theirs) is None or layer_of(theirs) >= layer_of(mine):
        return f'{mine} may not see {theirs}'
    return None


def main():
    paths = files('lib', 'cli')
    allowed, faults = exceptions('layers_exceptions.tsv')
    needed = set()
    for path in paths:
        if layer_of(folder_of(path)) is None:
            faults.append(f'{path}: its folder has no place in the rule')
            continue
        for other in includes(path):
            why = fault_of(path, other)
            if not why:
                continue
            if (path, other) in allowed:
                needed.add((path, other))
            else:
                faults.append(f'{path} includes {other}: {why}')
    faults += [f'layers_exceptions.tsv: nothing needs the row {path} {other}' for path, other in sorted(allowed - needed)]
    print('\n'.join(faults), end='\n' if faults else '')
    return 1 if faults else 0


sys.exit(main())
