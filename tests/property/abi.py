#!/usr/bin/env python3
"""Checks that the ABI is unchanged: sizes and offsets of structs, values of enums and macros, functions and their symbol
versions.

abi.tsv lists the ABI, one line per item. A new line is accepted if it cannot break a program: a function, an enum value, or a
field at the end of a report, of a row, or of a struct that begins with its size (`growing` in header.py). To change the ABI on
purpose, run `make golden T=abi`, read the diff, and raise SOVERSION in the Makefile if a line was removed or changed.

The header must also compile as C++, as C99, and with warnings about missing prototypes.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import header as public  # noqa: E402
from header import body_of  # noqa: E402

SRC, B = os.environ['SRC'], os.environ['B']
CC = shlex.split(os.environ.get('CC', 'cc'))
TABLE = os.path.join(SRC, 'tests/property/abi.tsv')
passed, failed = 0, 0


def check(ok, what):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f'FAIL {what}')


def header():
    """Returns all public headers without comments and preprocessor lines, and the macros that are numbers or strings."""
    text = public.without_comments(''.join(public.text_of(name) for name in public.files()))
    macros = re.findall(r'^#define (TK_[A-Z_]+) ("[^"]*"|\d+)\s*$', text, re.M)
    return re.sub(r'^#.*(?:\\\n.*)*$', '', text, flags=re.M), macros


def fields_of(body):
    """Returns the names of the members of a struct, including those of anonymous unions; a nested struct counts as one member."""
    flat, at = '', 0
    for m in re.finditer(r'\b(struct|union)\s*\{', body):
        if m.start() < at:
            continue
        inner, end = body_of(body, m.end())
        name = re.match(r'\s*\w', body[end:])
        flat += body[at:m.start()] + ('int ' if name else inner + ' ')
        at = end
        if not name:
            at += body[end:].index(';') + 1
    flat += body[at:]
    for declaration in flat.split(';'):
        pointer = re.search(r'\(\*(\w+)\)', declaration)
        if pointer:
            yield pointer.group(1)
            continue
        for part in declaration.split(','):
            name = re.search(r'(\w+)\s*(?:\[[^]]*\]\s*)*$', part)
            if name:
                yield name.group(1)


def enumerators(text):
    for m in re.finditer(r'\benum\s*(\w*)\s*\{', text):
        for name in re.findall(r'(?:^|,)\s*(\w+)', body_of(text, m.end())[0]):
            yield m.group(1), name


def probe(text, macros):
    """Returns a C program that prints sizes, offsets and values as the compiler sees them in the header."""
    lines = []
    for m in re.finditer(r'\bstruct\s+((?:tk_|Arrow)\w+)\s*\{', text):
        struct = m.group(1)
        lines.append(f'printf("struct\\t{struct}\\t\\t%zu\\n", sizeof(struct {struct}));')
        for field in fields_of(body_of(text, m.end())[0]):
            lines.append(f'printf("field\\t{struct}\\t{field}\\t%zu+%zu\\n", offsetof(struct {struct}, {field}), '
                         f'sizeof ((struct {struct} *)0)->{field});')
    for enum, name in enumerators(text):
        lines.append(f'printf("enum\\t{enum}\\t{name}\\t%lld\\n", (long long){name});')
    for name, value in macros:
        kind = ('%s', name) if value[0] == '"' else ('%lld', f'(long long){name}')
        lines.append(f'printf("macro\\t\\t{name}\\t{kind[0]}\\n", {kind[1]});')
    return '#include <tracekit.h>\n#include <stdio.h>\nint main(void) {\n' + '\n'.join(lines) + '\nreturn 0; }\n'


def symbols():
    """Lists exported functions with their symbol versions, and the functions of the header with their types."""
    said = subprocess.run(['nm', '-D', '--defined-only', '--with-symbol-versions', f'{B}/libtracekit.so'], capture_output=True,
                          text=True, check=True).stdout
    for line in said.splitlines():
        _, kind, name = line.split()
        if kind == 'T':
            yield re.split('@+', name)


def functions(text):
    for m in re.finditer(r'\bTK_(?:API|EXPERIMENTAL)\b([^;{]*?)\b(tk_\w+)(\([^;]*\));', text):
        yield m.group(2), re.sub(r'\s+', ' ', f'{m.group(1).strip()} {m.group(3)}').replace('* (', '*(')


def build(language, flags, source, folder):
    name = os.path.join(folder, f'probe.{language}')
    with open(name, 'w', encoding='utf-8') as f:
        f.write(source)
    return subprocess.run([*CC, *flags, f'-I{SRC}/lib', '-o', f'{name}.out', name], capture_output=True, text=True), f'{name}.out'


def table(folder):
    text, macros = header()
    done, program = build('c', [], probe(text, macros), folder)
    if done.returncode:
        sys.exit(f'{done.stderr}\n0 passed, 1 failed')
    rows = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
    versions = {name: version for name, version in symbols()}
    types = dict(functions(text))
    check(set(versions) == set(types), f'the header and the library differ: {sorted(set(versions) ^ set(types))}')
    rows += [f'function\t{name}\t{versions.get(name, "-")}\t{types[name]}' for name in sorted(types)]
    return rows


def grows(row, was):
    """True if a new row cannot break existing programs."""
    kind, of, name, value = row.split('\t')
    if kind in ('function', 'macro', 'enum'):
        return True
    old = [r.split('\t') for r in was if r.split('\t')[1] == of]
    if not old:
        return True
    sized = of in public.growing() or any(r[0] == 'field' and r[2] == 'size' and r[3].startswith('0+') for r in old)
    last = max(sum(map(int, r[3].split('+'))) for r in old if r[0] == 'field')
    return sized and kind == 'field' and int(value.split('+')[0]) >= last


def compare(rows):
    with open(TABLE, encoding='utf-8') as f:
        was = f.read().splitlines()
    sized = {r.split('\t')[1] for r in was if r.startswith('field') and r.split('\t')[2:] == ['size', '0+8']} | public.growing()
    gone = [r for r in was if r not in rows and not r.startswith('macro') and not (r.startswith('struct') and r.split('\t')[1] in sized)]
    came = [r for r in rows if r not in was and not r.startswith('macro')]
    harm = [r for r in came if not grows(r, was) and not (r.startswith('struct') and r.split('\t')[1] in sized)]
    for r in gone:
        print(f'  was  {r}')
    for r in harm:
        print(f'  is   {r}')
    check(not gone and not harm, 'programs that are linked with the library break: see this file for what to do if that is meant')
    lacks = [r for r in rows if r not in was]
    check(gone or not lacks, f'abi.tsv lacks {len(lacks)} lines that break nothing: make golden T=abi')


CPP = r'''
#include <tracekit.h>
#include <cstdio>
int main() {
  struct tk_err err = TK_ERR_INIT;
  struct tk_top_options options = TK_TOP_OPTIONS_INIT;
  struct tk_trace *t = tk_new(nullptr, &err);
  tk_id key = tk_add_text(t, "key");
  struct tk_arg arg = tk_arg_double(key, 0.5);
  uint32_t args = tk_add_args(t, &arg, 1);
  bool ok = args && tk_add_process(t, tk_ident_int(1)) && tk_seal(t, &err) && options.size == sizeof options;
  tk_free(t);
  std::printf("%s\n", ok ? "good" : err.msg);
  return !ok;
}
'''


def other_languages(folder):
    warnings = ['-Wall', '-Wextra', '-Werror', '-pedantic']
    sanitizer = ['-fsanitize=address,undefined'] if B.endswith('/san') else ['-fsanitize=thread'] if B.endswith('/tsan') else []
    link = ['-x', 'none', f'-L{B}', '-l:libtracekit.so', f'-Wl,-rpath,{B}', '-lstdc++', *sanitizer]
    for standard in ('c++11', 'c++20'):
        name = os.path.join(folder, 'user.cc')
        with open(name, 'w', encoding='utf-8') as f:
            f.write(CPP)
        done = subprocess.run([*CC, '-x', 'c++', f'-std={standard}', *warnings, f'-I{SRC}/lib', name, *link, '-o', f'{name}.out'],
                              capture_output=True, text=True)
        if 'cannot execute' in done.stderr or 'file not found' in done.stderr or 'cannot find -lstdc++' in done.stderr:
            print(f'SKIPPED: {standard}: there is no compiler of C++')
            continue
        check(done.returncode == 0, f'{standard}: {done.stderr}')
        if done.returncode == 0:
            said = subprocess.run([f'{name}.out'], capture_output=True, text=True)
            check(said.stdout == 'good\n', f'{standard}: {said.stdout}{said.stderr}')
    for standard in ('gnu99', 'c11', 'gnu17'):  # anonymous members are a C11 feature, but compilers also accept them in earlier modes
        strict = [w for w in warnings if standard != 'gnu99' or w != '-pedantic']
        done, _ = build('c', [f'-std={standard}', *strict, '-Wstrict-prototypes', '-Wmissing-prototypes', '-c'],
                        '#include <tracekit.h>\nextern int x;\nint x;\n', folder)
        check(done.returncode == 0, f'{standard}: {done.stderr}')
    for write in ('t->events[1].ts = 0', 't->tracks[1].name = 0', 'r->rows[0].count = 0', 's->inputs[0].rank = 0', 'd->list[0].count = 0'):
        given = 'struct tk_trace *t, struct tk_top_report *r, struct tk_sources *s, struct tk_diagnostics *d'
        source = f'#include <tracekit.h>\nvoid f({given});\nvoid f({given}) {{ (void)t, (void)r, (void)s, (void)d; (void)(WRITE); }}\n'
        done, _ = build('c', ['-c'], source.replace('WRITE', write), folder)
        check('read-only' in done.stderr or 'const' in done.stderr, f'{write}: a caller may change what is the library\'s')
        done, _ = build('c', ['-c'], source.replace('WRITE', write.replace(' = ', ' == ')), folder)
        check(done.returncode == 0, f'{write}: {done.stderr}')
    done, _ = build('c', ['-fshort-enums', '-c'], '#include <tracekit.h>\n', folder)
    check(done.returncode != 0, 'enums of another width are not refused')


with tempfile.TemporaryDirectory() as work:
    now = table(work)
    if os.environ.get('GOLDEN'):
        with open(TABLE, 'w', encoding='utf-8') as f:
            f.write('\n'.join(now) + '\n')
    compare(now)
    if not os.environ.get('GOLDEN'):
        other_languages(work)
print(f'{passed} passed, {failed} failed')
sys.exit(failed != 0)
