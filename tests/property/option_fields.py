#!/usr/bin/env python3
"""Checks that tk_option_field names a member of a public struct for every enumerator of enum tk_option, and that Python knows all
of them."""
import os
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import header  # noqa: E402
from verdict import check, finish  # noqa: E402

SRC, B = os.environ['SRC'], os.environ['B']
CC = shlex.split(os.environ.get('CC', 'cc'))
CODE = header.without_comments(''.join(map(header.text_of, header.files())))


def enumerators(name):
    m = re.search(r'\benum\s+%s\s*\{' % name, CODE)
    return re.findall(r'\w+', header.body_of(CODE, m.end())[0])


def fields(names):
    """Returns the result of tk_option_field for each enumerator, and for the number after the last one."""
    calls = [f'tk_option_field({name})' for name in names] + [f'tk_option_field((enum tk_option)({names[-1]} + 1))']
    source = '#include <tracekit.h>\n#include <stdio.h>\nstatic void put(const char *s) { puts(s ? s : ""); }\nint main(void) {\n'
    source += ''.join(f'  put({call});\n' for call in calls) + '  return 0;\n}\n'
    sanitizer = ['-fsanitize=address,undefined'] if B.endswith('/san') else ['-fsanitize=thread'] if B.endswith('/tsan') else []
    with tempfile.TemporaryDirectory() as work:
        program = os.path.join(work, 'program')
        with open(f'{program}.c', 'w', encoding='utf-8') as f:
            f.write(source)
        subprocess.run([*CC, f'-I{SRC}/lib', '-o', program, f'{program}.c', f'-L{B}', '-l:libtracekit.so', f'-Wl,-rpath,{B}', *sanitizer],
                       check=True)
        return subprocess.run([program], capture_output=True, text=True, check=True).stdout.split('\n')[:-1]


def is_member(field):
    struct, _, name = field.partition('.')
    m = re.search(r'\bstruct\s+%s\s*\{' % struct, CODE)
    return m and re.search(r'\b%s\b\s*[;,\[]' % name, header.body_of(CODE, m.end())[0])


def main():
    names = enumerators('tk_option')
    *named, beyond = fields(names)
    check('there are options', len(names) > 10, names)
    check('the number after the last one has no field', beyond == '', beyond)
    for name, field in zip(names, named):
        if name == 'TK_OPTION_NONE':
            check(name, field == '', field)
        else:
            check(name, field == 'output' if name == 'TK_OPTION_OUTPUT' else is_member(field), field)
    with open(f'{SRC}/python/native.c', encoding='utf-8') as f:
        python = set(re.findall(r'\[(TK_OPTION_\w+)\] = "', f.read()))
    check('options of Python', python == set(names), python ^ set(names))
    return finish()


sys.exit(main())
