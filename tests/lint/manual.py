#!/usr/bin/env python3
"""Generates docs/api/ from the public headers: a page for each header, with a section for each function.

A section has the declaration, the comment, and the parts that every function has: parameters, result, failure, lifetime and threads.
These follow from types and from sentences of the comment by the rules below. A function without a comment, or with a pointer as
result about whose lifetime nothing is stated, is a fault. --write rewrites the pages; otherwise they are compared."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import common  # noqa: E402

HEADERS = sorted(f for f in os.listdir('lib') if re.fullmatch(r'tracekit\w*\.h', f))
FOLDER = 'docs/api'
DECLARATION = re.compile(r'^TK_(API|EXPERIMENTAL)\s+([^;{]*?)\b(tk_\w+)\(([^;]*)\);[ \t]*(/\*.*?\*/)?', re.M | re.S)
# Structs that a caller owns, each with the function that frees it; reports are found by their names.
FREED = {'tk_trace': 'tk_free', 'tk_sources': 'tk_sources_close', 'tk_diagnostics': 'tk_diagnostics_free', 'tk_sql': 'tk_sql_close',
         'tk_inspection': 'tk_inspection_free', 'tk_redact_list': 'tk_redact_list_free'}
LASTING = re.compile(r'\b(live|lives|frees?|freed|outlives?|owns?|valid (as long|until))\b')
# Texts that are constant, so that nothing needs to be stated.
CONSTANT = re.compile(r'^const (char|struct tk_(format_info|setting|threshold|field)) \*$')


def words(text):
    """Returns a comment as one line."""
    return re.sub(r'\s+', ' ', re.sub(r'^\s*/?\*+/?|\*/', ' ', text, flags=re.M)).strip()


def split(text):
    return [s.strip() for s in re.split(r'(?<=[.:])\s+(?=[A-Z`"*])', text) if s.strip()]


class Function:
    def __init__(self, m, comment, shared):
        self.stable, self.name = m.group(1) == 'API', m.group(3)
        self.result = re.sub(r'\s+', ' ', m.group(2)).strip()
        self.parameters = re.sub(r'\s+', ' ', m.group(4)).strip()
        self.declaration = re.sub(r'\s+', ' ', f'{m.group(2)}{self.name}({m.group(4)});').replace('* tk', '*tk')
        self.comment, self.shared = ' '.join(filter(None, [comment, words(m.group(5) or '')])), shared
        self.takes_err = 'struct tk_err *err' in self.parameters

    def list_of_parameters(self):
        depth, part = 0, ''
        for c in self.parameters + ',':
            depth += {'(': 1, ')': -1}.get(c, 0)
            if c == ',' and not depth:
                if part.strip() not in ('', 'void'):
                    yield part.strip()
                part = ''
            else:
                part += c


def functions(header):
    """Yields the functions of a header in their order; one comment may belong to several declarations that follow it,
    but not to the function that frees what they return."""
    text = common.read(f'lib/{header}')
    at, comment, shared = 0, '', 0
    for m in DECLARATION.finditer(text):
        before = text[at:m.start()]
        found = re.findall(r'/\*.*?\*/', before, flags=re.S)
        gap = re.sub(r'/\*.*?\*/', '', before, flags=re.S)
        if found and re.search(r'/\*(?:(?!\*/).)*\*/\s*\Z', before, flags=re.S):
            comment, shared = words(found[-1]), 0
        elif gap.strip():
            comment = ''
        else:
            shared += 1
        frees = shared and m.group(2).strip() == 'void' and m.group(3).endswith('_free')
        yield Function(m, 'Frees the object and everything in it. NULL is allowed.' if frees else comment, shared)
        at = m.end()


def parameter(text):
    name = re.search(r'\(\*(\w+)\)|(\w+)(?:\[\])?$', text)
    name = name.group(1) or name.group(2)
    options = re.search(r'const struct (tk_\w+_options) \*', text)
    if text == 'struct tk_err *err':
        return f'`{text}`: receives the first error; may be NULL'
    if options:
        return f'`{text}`: see `struct {options.group(1)}`; NULL = all defaults'
    if name == 'report' and text.endswith('**report'):
        return f'`{text}`: receives a report, also if the function fails'
    return f'`{text}`'


def result(f):
    found = [s for s in split(f.comment) if re.match(r'(Also )?[Rr]eturns?\b', s)]
    if any(not re.match(r'(Also )?[Rr]eturns? (NULL|false)\b', s) for s in found):
        return ' '.join(found)
    if '*' in f.result:
        return f'`{f.result}`, or NULL on failure'
    if f.result == 'void':
        return 'none'
    return 'true, or false on failure' if f.result == 'bool' and f.takes_err else f'`{f.result}`'


def failure(f):
    if f.result == 'void' and not f.takes_err:
        return 'cannot fail'
    found = [s for s in split(f.comment) if re.search(r'\b(false|NULL|fails?|refused|malformed|out of memory)\b', s)]
    if f.takes_err:
        found.append('`err` has the code, the message and, where one exists, the option that would avoid the error.')
    return ' '.join(found) or 'cannot fail'


def freeing(name, functions_by_name):
    for free in (f'{name}_free', FREED.get(name, '')):
        if free in functions_by_name:
            return free
    return None


def lifetime(f, by_name):
    """Returns the lifetime of the results as text; '' if the header does not state it."""
    stated = [s for s in split(f.comment) if LASTING.search(s)]
    owned = re.search(r'struct (tk_\w+) \*\*report', f.parameters) or re.match(r'struct (tk_\w+) \*$', f.result)
    if owned and freeing(owned.group(1), by_name):
        stated.append(f'The caller frees the result with `{freeing(owned.group(1), by_name)}`.')
    if stated:
        return ' '.join(dict.fromkeys(stated))
    if '*' not in f.result:
        return 'the return value need not be freed'
    return 'as long as the program runs, or as long as the object that was passed' if CONSTANT.match(f.result) else ''


def threads(f):
    if re.search(r'\bstruct tk_trace \*t\b', f.parameters):
        return 'one thread at a time may use the trace' + (', which is not changed' if 'const struct tk_trace *t' in f.parameters else '')
    if re.search(r'\bstruct tk_(sources|sql|redact_list|args) \*', f.parameters):
        return 'one thread at a time may use the object'
    return 'may be called by several threads at the same time'


def page(header, functions_of, by_name, faults):
    text = common.read(f'lib/{header}')
    head = words(re.match(r'/\*.*?\*/', text, flags=re.S).group(0))
    out = [f'# {header}', '', f'Generated from [lib/{header}](../../lib/{header}) by `tests/lint/manual.py --write`.', '',
           re.sub(r'^\S+ - ', '', head), '']
    for f in functions_of:
        if not f.comment:
            faults.append(f'lib/{header}: {f.name} has no comment')
        lasts = lifetime(f, by_name)
        if not lasts:
            faults.append(f'lib/{header}: {f.name}: how long does the result live?')
        out += [f'## {f.name}', '', '```c', f.declaration, '```', '', f.comment, '']
        if not f.stable:
            out += ['Experimental: may change with the soname.', '']
        out += ['| | |', '|---|---|']
        rows = [('Parameters', '<br>'.join(map(parameter, f.list_of_parameters())) or 'none'), ('Result', result(f)), ('Failure', failure(f)),
                ('Lifetime', lasts), ('Threads', threads(f))]
        out += [f'| {name} | {value.replace("|", chr(92) + "|")} |' for name, value in rows] + ['']
    return '\n'.join(out).rstrip() + '\n'


def main():
    by_header = {header: list(functions(header)) for header in HEADERS}
    by_name = {f.name for functions_of in by_header.values() for f in functions_of}
    faults, pages = [], {}
    for header, functions_of in by_header.items():
        if functions_of:
            pages[header.replace('.h', '.md')] = page(header, functions_of, by_name, faults)
    index = ['# Functions of the library', '', 'A section for each function, generated from the headers. [library.md](../library.md) explains how they work together.', '']
    for header, functions_of in by_header.items():
        md = header.replace('.h', '.md')
        if functions_of:
            index += [f'* [{header}]({md}): ' + ', '.join(f'[{f.name}]({md}#{f.name})' for f in functions_of)]
    pages['README.md'] = '\n'.join(index) + '\n'
    if '--write' in sys.argv:
        os.makedirs(FOLDER, exist_ok=True)
        for name in os.listdir(FOLDER):
            os.remove(f'{FOLDER}/{name}')
        for name, text in pages.items():
            with open(f'{FOLDER}/{name}', 'w', encoding='utf-8') as out:
                out.write(text)
    there = set(os.listdir(FOLDER)) if os.path.isdir(FOLDER) else set()
    faults += [f'{FOLDER}/{name}: {"missing" if name in pages else "no header has this page"}' for name in there ^ set(pages)]
    faults += [f'{FOLDER}/{name} is behind the headers: tests/lint/manual.py --write' for name in there & set(pages)
               if common.read(f'{FOLDER}/{name}') != pages[name]]
    print('\n'.join(faults), end='\n' if faults else '')
    return 1 if faults else 0


sys.exit(main())
