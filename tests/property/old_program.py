#!/usr/bin/env python3
"""Checks that a program which was compiled with older headers runs with this library: reports and rows have grown since then.

The older headers are copies of the present ones, in which the last field of every struct that may grow is missing."""
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
TRACES = ('fixtures/json/torch/ddp2_plain/rank0.json.gz', 'fixtures/json/viz/viz_small.json')


def shorten(code, names):
    """Removes the last declaration of each of the structs."""
    for name in sorted(names):
        m = re.search(r'\bstruct\s+%s\s*\{' % name, code)
        if m:
            body, end = header.body_of(code, m.end())
            kept = ';'.join(body.split(';')[:-2])
            code = f'{code[:m.end()]}{kept};{code[end - 1:]}'
    return code


def write_headers(folder, names):
    for name in header.files():
        with open(os.path.join(folder, name), 'w', encoding='utf-8') as f:
            f.write(shorten(header.without_comments(header.text_of(name)), names))


def build(folder, include, *flags):
    program = os.path.join(folder, f'program{len(os.listdir(folder))}')
    sanitizer = ['-fsanitize=address,undefined'] if B.endswith('/san') else ['-fsanitize=thread'] if B.endswith('/tsan') else []
    done = subprocess.run([*CC, '-Wall', '-Werror', *flags, f'-I{include}', '-o', program, f'{SRC}/tests/property/programs/old_program.c',
                           f'-L{B}', '-l:libtracekit.so', f'-Wl,-rpath,{B}', *sanitizer], capture_output=True, text=True, check=False)
    check('old_program.c compiles', done.returncode == 0, done.stderr)
    return program


def run(program, trace):
    done = subprocess.run([program, f'{SRC}/{trace}'], capture_output=True, text=True, errors='replace', check=False)
    return done.returncode, done.stdout


def compare_rows(programs, trace):
    (status, text), (old_status, old_text), (_, careless) = (run(p, trace) for p in programs)
    sizes, rows = text.split('\n', 1)
    old_sizes, old_rows = old_text.split('\n', 1)
    check(f'{trace}: status', (status, old_status) == (0, 0), f'{status}, {old_status}')
    check(f'{trace}: rows were smaller', all(int(a) > int(b) for a, b in zip(sizes.split(), old_sizes.split())), f'{sizes}, {old_sizes}')
    check(f'{trace}: there are rows', len(rows.splitlines()) > 20, rows)
    check(f'{trace}: the older program reads the same rows', rows == old_rows, old_rows)
    check(f'{trace}: the older program needs tk_row_at', careless.split('\n', 1)[-1] != rows)


def main():
    names = header.growing()
    known = {'tk_top_row', 'tk_top_report', 'tk_report_rank', 'tk_report', 'tk_diff_row', 'tk_merge_report', 'tk_merge_rank'}
    check('structs that may grow', known <= names, sorted(names))
    with tempfile.TemporaryDirectory() as work:
        older = os.path.join(work, 'older')
        os.mkdir(older)
        write_headers(older, names)
        programs = build(work, f'{SRC}/lib'), build(work, older), build(work, older, '-DBY_INDEX')
        for trace in TRACES:
            compare_rows(programs, trace)
    return finish()


sys.exit(main())
