"""The public header of the library, as tests of its ABI read it."""
import os
import re

LIB = os.path.join(os.environ['SRC'], 'lib')
STRUCT = re.compile(r'\bstruct\s+(tk_\w+)\s*\{')


def files():
    return [name for name in sorted(os.listdir(LIB)) if re.fullmatch(r'tracekit\w*\.h', name)]


def text_of(name):
    with open(os.path.join(LIB, name), encoding='utf-8') as f:
        return f.read()


def without_comments(text):
    return re.sub(r'/\*.*?\*/', ' ', text, flags=re.S)


def body_of(text, at):
    """Returns the text from `at` to the brace that closes it, and the position after the brace."""
    depth, end = 1, at
    while depth:
        depth += {'{': 1, '}': -1}.get(text[end], 0)
        end += 1
    return text[at:end - 1], end


def growing():
    """Structs that may get fields at their ends within a soname: reports and inspections, which functions return by pointer, and the
    rows that enum tk_row lists, but no struct that another one contains by value."""
    text = ''.join(map(text_of, files()))
    rows = set(re.findall(r'TK_ROW_\w+,\s*/\* (tk_\w+)', text))
    code = without_comments(text)
    reports = set(re.findall(r'struct (tk_\w+) \*\*report', code)) | {'tk_inspection'}
    contained = {name for m in STRUCT.finditer(code)
                 for name in re.findall(r'\bstruct (tk_\w+) [a-z]\w*', body_of(code, m.end())[0])}
    return (rows | reports) - contained
