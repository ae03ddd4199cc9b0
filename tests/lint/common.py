"""Helpers of the lints: sources of the library and the command, text without comments, and tables of exceptions.

Paths are relative to the root of the repository, which becomes the working directory."""
import glob
import os
import re

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
COMMENT = r'//[^\n]*|/\*.*?\*/'
STRING = r'"(?:\\.|[^"\\\n])*"'
CHARACTER = r"'(?:\\.|[^'\\\n])*'"


def files(*folders, endings='ch'):
    return sorted(p for folder in folders for p in glob.glob(f'{folder}/**/*.[{endings}]', recursive=True))


def read(path):
    with open(path, encoding='utf-8') as f:
        return f.read()


def comments(text):
    """Yields start, end and text of each comment outside strings."""
    for match in re.finditer(f'{STRING}|{CHARACTER}|({COMMENT})', text, flags=re.S):
        if match.group(1):
            yield match.start(), match.end(), match.group(1)


def blank(match):
    return re.sub(r'[^\n]', ' ', match.group(0))


def without_comments(text):
    """Replaces comments with spaces, which preserves lines and columns. Strings that contain the start of a comment are kept."""
    return re.sub(f'({STRING}|{CHARACTER})|{COMMENT}', lambda m: m.group(0) if m.group(1) else blank(m), text, flags=re.S)


def without_strings(text):
    return re.sub(f'{COMMENT}|{STRING}|{CHARACTER}', blank, text, flags=re.S)


def exceptions(name):
    """Reads a table in tests/lint with three columns, the last of which is the reason. Returns ({(from, to)}, faults)."""
    path = f'tests/lint/{name}'
    rows = [line.rstrip('\n').split('\t') for line in read(path).splitlines()[1:] if line.strip()]
    faults = [f'{path}: a row has no reason: {" ".join(row)}' for row in rows if len(row) != 3 or not row[2].strip()]
    return {(row[0], row[1]) for row in rows if len(row) >= 2}, faults
