#!/usr/bin/env python3
"""Finds stale comments: comments that name a source file that does not exist, and, in headers, a comment directly above another
one, whose declaration was moved away. Section comments (---- name ----) and the head comment of a file are exempt."""
import os
import re
import sys

from common import comments, files, read

SOURCE = re.compile(r'\b([A-Za-z0-9_]+(?:/[A-Za-z0-9_]+)*\.[ch])\b')
OURS = 'lib', 'cli', 'tests', 'python'
SYSTEM = {'sqlite3.h', 'zlib.h', 'archive.h', 'Python.h', 'cmocka.h', 'protobuf-c.h', 'sqlite3ext.h', 'isa-l.h'}


def stacked(text):
    """Yields the line numbers of comments directly above another one."""
    found = list(comments(text))
    for (start, end, comment), (below, _, other) in zip(found[1:], found[2:]):
        line = text[text.rfind('\n', 0, start) + 1:start]
        between = text[end:below]
        if not line.strip() and not between.strip() and '----' not in comment and '----' not in other:
            yield text.count('\n', 0, start) + 1


def main():
    paths = [p for folder in OURS if os.path.isdir(folder) for p in files(folder)]
    names = {part for p in paths for part in (p, *(p.split('/', k)[-1] for k in range(1, p.count('/') + 1)))} | SYSTEM
    faults = []
    for path in paths:
        text = read(path)
        for start, _, comment in comments(text):
            line = text.count('\n', 0, start) + 1
            faults += [f'{path}:{line}: names {name}, which does not exist' for name in SOURCE.findall(comment)
                       if name not in names and not name.endswith('.pb-c.h')]
        if path.endswith('.h'):
            faults += [f'{path}:{line}: a comment directly above another one' for line in stacked(text)]
    print('\n'.join(faults)) if faults else None
    return 1 if faults else 0


sys.exit(main())
