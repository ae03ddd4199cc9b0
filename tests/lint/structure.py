"""Measures how easily a reader finds code in the sources, and compares each figure with its limit.

    structure.py BUILD [--list]      --list names what each figure counts

A reader finds a function by its name: one that other files use begins with the word of its file or of a folder that contains it,
and is declared in the header of its file. A header whose file belongs to a family, as num.h does, declares the functions of
num_print.c too. Symbols come from the objects in BUILD."""
import collections
import os
import re
import subprocess
import sys

from common import exceptions, files, read, without_comments
from length import called_once, code_of, functions

# Figures and their limits: minimums for shares of good names, maximums for all others.
LEAST = {'named after their file, %': 90}
MOST = {
    'headers that declare functions of other files': 0,
    'static names in more than 5 files': 0,
    'comma operators in a return': 0,
    'tokens of a function, 90th percentile': 245,
    'tokens of a function, most': 400,
    'static functions used once, %': 50,
}
STATIC_FILES = 5

TOKEN = re.compile(r'[A-Za-z_]\w*|\d[\w.]*|->|\+\+|--|<<=|>>=|&&|\|\||[<>=!+\-*/%&|^]=|<<|>>|\S')


def exported(build):
    """Returns {function: file that defines it}."""
    found = {}
    for source in files('lib', 'cli', endings='c'):
        out = subprocess.run(['nm', '-g', '--defined-only', f'{build}/obj/{source[:-2]}.o'], capture_output=True, text=True, check=True)
        for line in out.stdout.splitlines():
            kind, name = line.split()[-2:]
            if kind == 'T' and name != 'main':
                found[name] = source
    return found


def words_of(path):
    """Returns the words with which the name of a function may begin: those of its file, of the file's family and of its folders, in
    singular and plural."""
    parts = path.split('/')
    stem = parts[-1][:-2]
    words = {stem, stem.split('_')[0], *parts[1:-1]} - {'format'}
    return words | {f'{w}s' for w in words} | {w[:-1] for w in words if w.endswith('s')}


def is_named(name, path):
    """True if the name begins with a word of its file, or is that of a table row, such as command_merge in merge.c."""
    stem = os.path.basename(path)[:-2]
    return name in (f'command_{stem}', f'format_{stem}') or any(name == w or name.startswith(f'{w}_') for w in words_of(path))


def badly_named(defined):
    return sorted((path, name) for name, path in defined.items() if not name.startswith('tk_') and not is_named(name, path))


def strangers(defined):
    """Yields (header, function of another file that it declares)."""
    allowed, _ = exceptions('structure_exceptions.tsv')
    for header in files('lib', 'cli', endings='h'):
        if os.path.basename(header).startswith('tracekit'):
            continue
        code = re.sub(r'\bstatic\b[^;{]*?\(|\{[^{}]*\}', ' ', without_comments(read(header)))
        for name in set(re.findall(r'^[a-z][\w \*]*?\b(\w+)\s*\(', code, re.M)):
            source = defined.get(name)
            if source and source[:-2] != header[:-2] and not source.startswith(f'{header[:-2]}_') and (header, source) not in allowed:
                yield header, name


def statics():
    """Returns {name of a static function: files}, for names in too many files."""
    found = collections.defaultdict(set)
    for path in files('lib', 'cli', endings='c'):
        for name in re.findall(r'^static\b[^;{=()]*?\b(\w+)\s*\([^;{]*\{', code_of(read(path)), re.M):
            found[name].add(path)
    return {name: sorted(paths) for name, paths in found.items() if len(paths) > STATIC_FILES}


def commas(code):
    """Yields the numbers of lines with `return a, b`."""
    for match in re.finditer(r'\breturn\b([^;]*);', code):
        depth = 0
        for c in match.group(1):
            depth += (c in '([{') - (c in ')]}')
            if c == ',' and depth == 0:
                yield code.count('\n', 0, match.start()) + 1
                break


def sizes():
    """Returns ([(tokens, file, function)], number of functions, number of static functions used once, lines with a comma)."""
    tokens, total, once, lines = [], 0, 0, []
    for path in files('lib', 'cli'):
        code = code_of(read(path))
        rows, found = code.splitlines(), list(functions(code))
        for name, line, length, _ in found:
            tokens.append((len(TOKEN.findall('\n'.join(rows[line - 1:line - 1 + length]))), path, name))
        total += len(found)
        once += called_once(code, {name for name, *_ in found})
        lines += [(path, n) for n in commas(code)]
    return sorted(tokens), total, once, lines


def main():
    defined = exported(sys.argv[1])
    internal = [name for name in defined if not name.startswith('tk_')]
    bad, foreign, many = badly_named(defined), sorted(strangers(defined)), statics()
    tokens, total, once, comma = sizes()
    figures = {
        'named after their file, %': 100 * (1 - len(bad) / max(1, len(internal))),
        'headers that declare functions of other files': len({header for header, _ in foreign}),
        'static names in more than 5 files': len(many),
        'comma operators in a return': len(comma),
        'tokens of a function, 90th percentile': tokens[int(0.9 * len(tokens))][0] if tokens else 0,
        'tokens of a function, most': tokens[-1][0] if tokens else 0,
        'static functions used once, %': 100 * once / max(1, total),
    }
    listed = {'named after their file, %': bad, 'headers that declare functions of other files': foreign,
              'static names in more than 5 files': sorted(many.items()), 'comma operators in a return': comma,
              'tokens of a function, most': tokens[-30:]}
    status = 0
    for name, value in figures.items():
        fault = value < LEAST[name] if name in LEAST else value > MOST[name]
        status |= fault
        limit = f'at least {LEAST[name]}' if name in LEAST else f'at most {MOST[name]}'
        if fault or '--list' in sys.argv:
            print(f'{name}: {value:.4g} ({limit})')
            print('\n'.join(f'  {" ".join(map(str, row))}' for row in listed.get(name, [])))
    return status


if __name__ == '__main__':
    sys.exit(main())
