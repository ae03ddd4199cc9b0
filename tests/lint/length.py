"""Measures functions without a parser: comments and strings are blanked, and a definition is a parenthesised list followed by
`{` at brace depth 0. This works for any C that compiles and has no braces in macros."""
import collections
import os
import re
import statistics
import sys

from common import blank, files, read, without_strings

# Lines should have at most 128 columns; slightly more is better than an awkward break.
MAX_FUNCTION, MAX_FILE, MAX_PARAMETERS, MAX_COLUMNS = 80, 600, 6, 136
MAX_MEDIAN = 12  # limit for the median of the library's functions, in lines
MAX_README = 8000  # bytes; more is only a warning while README_WARNS is set
README_WARNS = False

PREPROCESSOR = re.compile(r'^[ \t]*#(?:[^\n\\]|\\.)*(?:\\\n(?:[^\n\\]|\\.)*)*', re.M | re.S)


def parameters(text):
    text = text.strip()
    if text in ('', 'void'):
        return 0
    depth, count = 0, 1
    for c in text:
        depth += (c in '([') - (c in ')]')
        count += c == ',' and depth == 0
    return count


def opening(code, close):
    depth = 0
    for i in range(close, -1, -1):
        depth += (code[i] == ')') - (code[i] == '(')
        if depth == 0:
            return i
    return 0


def functions(code):
    """Yields (name, first line, number of lines, number of parameters)."""
    depth, start = 0, None
    for i, c in enumerate(code):
        if c == '{':
            if depth == 0:
                head = code[:i].rstrip()
                start = None
                if head.endswith(')'):
                    left = opening(head, len(head) - 1)
                    name = re.search(r'(\w+)\s*$', head[:left])
                    if name and not re.search(r'=\s*$', head[:left]):
                        start = (name.group(1), code.count('\n', 0, name.start()) + 1, parameters(head[left + 1:-1]))
            depth += 1
        elif c == '}':
            depth -= 1
            if depth == 0 and start:
                yield start[0], start[1], code.count('\n', 0, i) + 2 - start[1], start[2]
                start = None


def code_of(text):
    return re.sub(r'extern\s+{', '        ', PREPROCESSOR.sub(blank, without_strings(text)))


def check_lines(path, text):
    lines = text.splitlines()
    if len(lines) > MAX_FILE:
        yield f'{path}: {len(lines)} lines (at most {MAX_FILE})'
    for n, line in enumerate(lines, 1):
        if len(line) > MAX_COLUMNS:
            yield f'{path}:{n}: {len(line)} columns (at most {MAX_COLUMNS})'
        if '\t' in line:
            yield f'{path}:{n}: a tab'
        if line != line.rstrip():
            yield f'{path}:{n}: blanks at the end'


def check(path):
    text = read(path)
    yield from check_lines(path, text)
    for name, line, length, count in functions(code_of(text)):
        if length > MAX_FUNCTION:
            yield f'{path}:{line}: {name} has {length} lines (at most {MAX_FUNCTION})'
        if count > MAX_PARAMETERS:
            yield f'{path}:{line}: {name} has {count} parameters (at most {MAX_PARAMETERS})'


def called_once(code, names):
    """Returns the number of static functions that are referenced once, not counting definition and declarations."""
    words = collections.Counter(re.findall(r'\w+', code))
    heads = collections.Counter(re.findall(r'^static\b[^;{=]*?(\w+)\s*\(', code, re.M))
    return sum(1 for name in names if heads[name] and words[name] == heads[name] + 1)


def check_library():
    """Prints statistics on the library's functions; yields those that exceed a limit."""
    lengths, once = [], 0
    for path in files('lib'):
        code = code_of(read(path))
        found = list(functions(code))
        lengths += [length for _, _, length, _ in found]
        once += called_once(code, {name for name, *_ in found})
    median = statistics.median(lengths) if lengths else 0
    print(f'{len(lengths)} functions in lib: {median:g} lines in the median, {100 * once / max(1, len(lengths)):.0f}% static and used once')
    if median > MAX_MEDIAN:
        yield f'lib: functions of {median:g} lines in the median (at most {MAX_MEDIAN})'


def check_readme():
    size = os.path.getsize('README.md')
    if size <= MAX_README:
        return
    said = f'README.md: {size} bytes (at most {MAX_README})'
    if README_WARNS:
        print(f'warning: {said}')
    else:
        yield said


def main():
    faults = [fault for path in files('lib', 'cli', 'tests') for fault in check(path)]
    faults += [*check_library(), *check_readme()]
    print('\n'.join(faults), end='\n' if faults else '')
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
