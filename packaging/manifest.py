#!/usr/bin/env python3
"""manifest.py FOLDER VERSION - writes SHA256SUMS and manifest.json of the packages in a folder: the name, size, checksum
and system of each."""
import hashlib
import json
import pathlib
import re
import sys

# Pattern of the name, kind of file, and system; the first row that matches counts.
KINDS = [
    (r'manylinux2014_(\w+)\.whl', 'wheel', 'Linux with glibc 2.17 or newer'),
    (r'musllinux_1_2_(\w+)\.whl', 'wheel', 'Linux with musl 1.2 or newer'),
    (r'macosx_11_0_(\w+)\.whl', 'wheel', 'macOS 11 or newer'),
    (r'-linux-(\w+)\.tar\.gz', 'command', 'Linux, static'),
    (r'-macos-(\w+)\.tar\.gz', 'command', 'macOS 11 or newer'),
    (r'_(amd64|arm64)\.deb', 'Debian package', 'Debian 12'),
    (r'-web\.tar\.gz', 'web page', 'static web server'),
    (r'\.html', 'web page in one file', 'browser'),
    (r'-npm\.tgz', 'npm package', 'node 20 or newer, browsers'),
    (r'\.wasm', 'program', 'WASI preview 1'),
    (r'\.cdx\.json', 'bill of materials', 'CycloneDX 1.5'),
    (r'\.rb', 'recipe', 'Homebrew'),
    (r'recipe\.yaml', 'recipe', 'conda-forge'),
    (r'Dockerfile', 'recipe', 'Docker'),
    (r'\.tar\.gz', 'source distribution', 'C compiler, make and the libraries of README.md'),
]


def describe(path):
    for pattern, kind, system in KINDS:
        found = re.search(pattern + '$', path.name)
        if found:
            processor = {'processor': found[1]} if found.groups() else {}
            data = path.read_bytes()
            return {'file': path.name, 'kind': kind, 'system': system, **processor, 'size': len(data),
                    'sha256': hashlib.sha256(data).hexdigest()}
    sys.exit(f'manifest.py: {path.name}: no row describes this file')


def main(folder, version):
    paths = sorted(p for p in pathlib.Path(folder).iterdir() if p.name not in ('SHA256SUMS', 'manifest.json'))
    files = [describe(path) for path in paths]
    text = json.dumps({'name': 'tracekit', 'version': version, 'files': files}, indent=2)
    (pathlib.Path(folder) / 'manifest.json').write_text(text + '\n', encoding='utf-8')
    sums = [f'{f["sha256"]}  {f["file"]}\n' for f in files]
    (pathlib.Path(folder) / 'SHA256SUMS').write_text(''.join(sums), encoding='utf-8')


if __name__ == '__main__':
    main(*sys.argv[1:])
