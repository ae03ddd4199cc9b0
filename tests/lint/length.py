"""Measures functions without a parser: comments and strings are blanked out, then a definition is a parenthesis list followed
by `{` at brace depth 0.  That holds for any C that compiles and keeps its braces out of macros."""
import glob
import os
import re
import sys

# Lines aim at 128 columns; a little over is not worth a worse break.
MAX_FUNCTION, MAX_FILE, MAX_PARAMETERS, MAX_COLUMNS = 80, 600, 6, 136

BLANK = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
PREPROCESSOR = re.compile(r'^[ \t]*#(?:[^\n\\]|\\.)*(?:\\\n(?:[^\n\\]|\\.)*)*', re.M | re.S)


def blanked(match):
    return re.sub(r'[^\n]', ' ', match.group(0))


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
    """Yields (name, first line, lines, parameters)."""
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


def check(path):
    with open(path, encoding='utf-8') as f:
        text = f.read()
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
    code = PREPROCESSOR.sub(blanked, BLANK.sub(blanked, text))
    code = re.sub(r'extern\s+{', '        ', code)
    for name, line, length, count in functions(code):
        if length > MAX_FUNCTION:
            yield f'{path}:{line}: {name} has {length} lines (at most {MAX_FUNCTION})'
        if count > MAX_PARAMETERS:
            yield f'{path}:{line}: {name} has {count} parameters (at most {MAX_PARAMETERS})'


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
    paths = [p for pattern in ('lib/*.[ch]', 'lib/*/*.[ch]', 'cli/*.[ch]', 'tests/*/*.[ch]') for p in sorted(glob.glob(pattern))]
    faults = [fault for path in paths for fault in check(path)]
    print('\n'.join(faults), end='\n' if faults else '')
    return 1 if faults else 0


sys.exit(main())
