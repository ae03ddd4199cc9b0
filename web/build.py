#!/usr/bin/env python3
"""build.py WASM SITE PAGE - assembles the web page from web/, the WASI layer of npm/, and the program.

SITE is a folder for any static server; it has a single script for workers, which the page starts as a blob. PAGE is a single
file, which also works when it is opened from a disk. Browsers then load neither modules nor other files, so PAGE has a single
script, which its policy allows by its hash."""
import base64
import gzip
import hashlib
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = ['wasi.js', 'memory.js']
IMPORT = re.compile(r"^import \{([^}]*)\} from '\./([\w.]+)';\n", re.M)


def sources():
    """Returns {file name: code} of all modules."""
    paths = [*sorted((ROOT / 'web').glob('*.js')), *(ROOT / 'npm' / name for name in SHARED)]
    return {path.name: path.read_text(encoding='utf-8') for path in paths}


def ordered(modules, entry, seen):
    """Returns the names of `entry` and of all modules that it needs; a module follows the modules that it imports."""
    for _, name in IMPORT.findall(modules[entry]):
        if name not in seen:
            ordered(modules, name, seen)
    if entry not in seen:
        seen.append(entry)
    return seen


def variable(name):
    return 'module_' + re.sub(r'\W', '_', name)


def imported(modules, name):
    """Returns the names that other modules import from the module `name`."""
    found = {part.split(' as ')[0].strip() for text in modules.values() for names, source in IMPORT.findall(text) if source == name
             for part in names.split(',')}
    return sorted(found - {''})


def as_function(modules, name):
    """Returns the code of a module as a function that is called once and returns the module's exports."""
    text, names = modules[name], imported(modules, name)
    body = IMPORT.sub(lambda m: f"const {{{m[1].replace(' as ', ': ')}}} = {variable(m[2])};\n", text)
    body = re.sub(r'^export (?=(?:async )?(?:const|let|class|function) )', '', body, flags=re.M)
    if re.search(r'^(?:import|export)\b', body, re.M):
        sys.exit(f'build.py: {name}: an import or export of another form')
    return f'const {variable(name)} = (() => {{\n{body}return {{ {", ".join(names)} }};\n}})();\n'


def bundle(modules, entry):
    script = ''.join(as_function(modules, name) for name in ordered(modules, entry, []))
    if '</script' in script.lower() or '<!--' in script:
        sys.exit(f'build.py: {entry}: contains markup that would end the script')
    return f"'use strict';\n{script}"


def write_site(site, modules, wasm):
    shutil.rmtree(site, ignore_errors=True)
    site.mkdir(parents=True)
    for name in [*ordered(modules, 'page.js', []), 'sw.js']:
        (site / name).write_text(modules[name], encoding='utf-8')
    (site / 'worker.js').write_text(bundle(modules, 'worker.js'), encoding='utf-8')
    for name in ('index.html', 'page.css'):
        shutil.copyfile(ROOT / 'web' / name, site / name)
    shutil.copyfile(wasm, site / 'tracekit.wasm')
    names = sorted(path.name for path in site.iterdir() if path.name != 'sw.js')
    digest = hashlib.sha256(b''.join(name.encode() + (site / name).read_bytes() for name in names)).hexdigest()[:16]
    worker = modules['sw.js'].replace('@FILES@', ' '.join(['./', *names])).replace('@HASH@', digest)
    (site / 'sw.js').write_text(worker, encoding='utf-8')


def source_of(text):
    """Returns the expression of a policy that allows a script by its hash."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def write_page(page, modules, wasm):
    html = (ROOT / 'web' / 'index.html').read_text(encoding='utf-8')
    style = (ROOT / 'web' / 'page.css').read_text(encoding='utf-8')
    script, worker = bundle(modules, 'page.js'), bundle(modules, 'worker.js')
    program = base64.b64encode(gzip.compress(wasm.read_bytes(), 9, mtime=0)).decode()
    for old, new in (
            ("script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; "
             "worker-src 'self' blob:",
             # this policy allows starting the worker, which is a blob, and also applies to it
             f"script-src {source_of(script)} 'wasm-unsafe-eval'; style-src 'unsafe-inline'; img-src data:; worker-src blob:"),
            ('<link rel="stylesheet" href="page.css">', f'<style>\n{style}</style>'),
            ('<script src="page.js" type="module"></script>\n', ''),
            ('</body>', f'<script type="text/plain" id="worker">{worker}</script>\n<script type="text/plain" id="program">{program}</script>\n'
             f'<script>{script}</script>\n</body>')):
        if html.count(old) != 1:
            sys.exit(f'build.py: index.html: expected exactly one {old}')
        html = html.replace(old, new)
    page.write_text(html, encoding='utf-8')


def main():
    wasm, site, page = map(pathlib.Path, sys.argv[1:])
    modules = sources()
    write_site(site, modules, wasm)
    write_page(page, modules, wasm)


main()
