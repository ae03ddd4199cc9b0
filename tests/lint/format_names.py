"""Finds code outside lib/format that refers to a format by name.

The row of a format describes everything that others need, so that a new format is a folder and a row. Two kinds of lines are
found: lines with a string that is a format's name, its extension or the prefix of its keys, and lines that compare text with
a literal that begins with its name, such as the key "perfetto.packets". A literal that only looks like a format has a row
(file, literal, reason) in format_names_exceptions.tsv; an unused row is a fault."""
import re
import sys

from common import exceptions, files, read, without_comments

NAME = r'(?:json|xplane|perfetto|pftrace|speedscope|chrome)'
ENDING = r'(?:perfetto-trace|pb|xplane\.pb|trace\.json|speedscope\.json)'
WHOLE = re.compile(rf'\.?(?:{NAME}|{ENDING})(?:\.(?:gz|zst|bz2|xz)?)?')
BEGINS = re.compile(rf'\.?{NAME}\b')
LITERAL = re.compile(r'"((?:\\.|[^"\\\n])*)"')
COMPARES = re.compile(r'(?:cmp|str[cr]?str|equal\w*|ends\w*|starts\w*|begins\w*|suffix|prefix)\s*\(')


def sites(path):
    """Yields (line number, line, literals in it that name a format)."""
    for n, line in enumerate(without_comments(read(path)).splitlines(), 1):
        if re.match(r'\s*#\s*include', line):
            continue
        compares = COMPARES.search(line)
        named = [w for w in LITERAL.findall(line) if WHOLE.fullmatch(w) or (compares and BEGINS.match(w))]
        if named:
            yield n, line.strip(), named


def main():
    excused, faults = exceptions('format_names_exceptions.tsv')
    needed, found = set(), []
    for path in (p for p in files('lib', 'cli') if not p.startswith('lib/format/')):
        for n, line, named in sites(path):
            needed |= {(path, word) for word in named} & excused
            if any((path, word) not in excused for word in named):
                found.append(f'{path}:{n}: {line}')
    faults += [f'format_names_exceptions.tsv: nothing needs the row {" ".join(row)}' for row in sorted(excused - needed)]
    print('\n'.join(found + faults), end='\n' if found or faults else '')
    return 1 if found or faults else 0


sys.exit(main())
