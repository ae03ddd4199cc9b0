#!/usr/bin/env python3
"""components.py licences|sbom TARGET... - lists the libraries that are linked statically in the packages for these targets of
deps.sh.

licences prints the copyright files of the libraries, as their licences require of binaries. sbom prints the libraries, with versions
and licences, as a CycloneDX bill of materials. The libraries are those that deps.sh built; one without a row in components.tsv is
an error."""
import json
import pathlib
import re
import sys
import uuid

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = HERE.parent / 'build' / 'package'


def rows():
    """Returns licence and home page by library."""
    lines = (HERE / 'components.tsv').read_text(encoding='utf-8').splitlines()
    return {name: (licence, page) for name, licence, page in (line.split('\t') for line in lines if not line.startswith('#'))}


def linked(targets):
    """Returns {library: copyright file}, sorted, of all targets."""
    found = {path.name: path for target in targets for path in (PACKAGE / target / 'licences').iterdir()}
    if not found:
        sys.exit('components.py: no libraries were built for ' + ' '.join(targets))
    return dict(sorted(found.items()))


def versions(targets):
    """Returns the version of each library: Debian's source package, or zig for its C library."""
    text = '\n'.join((PACKAGE / target / 'done').read_text(encoding='utf-8') for target in targets)
    found = dict(re.findall(r'^([\w.+-]+)_(\S+)\.dsc$', text, re.M))
    zig = re.search(r'^ziglang==(\S+)', (HERE / 'tools.txt').read_text(encoding='utf-8'), re.M)
    return found, zig[1]


def version_of_project():
    header = (HERE.parent / 'lib' / 'tracekit.h').read_text(encoding='utf-8')
    return re.search(r'TK_VERSION "([^"]+)"', header)[1]


def print_licences(targets):
    known = rows()
    print('tracekit links these libraries statically. Their copyright and licences follow.')
    for name, path in linked(targets).items():
        print(f'\n{"=" * 100}\n{name}: {known[name][0]}, {known[name][1]}\n{"=" * 100}\n')
        print(path.read_text(encoding='utf-8', errors='replace').rstrip())


def component(name, version, zig, licence, page):
    whole = {'type': 'library', 'name': name, 'version': version or f'as in zig {zig}',
             'licenses': [{'license': {'name': 'public domain'}} if licence.startswith('LicenseRef') else {'license': {'id': licence}}],
             'externalReferences': [{'type': 'website', 'url': page}]}
    if version:
        whole['purl'] = f'pkg:deb/debian/{name}@{version.replace("+", "%2B")}?arch=source'
        whole['bom-ref'] = whole['purl']
    return whole


def print_sbom(targets):
    known = rows()
    found, zig = versions(targets)
    parts = [component(name, found.get(name), zig, *known[name]) for name in linked(targets)]
    main = {'type': 'application', 'name': 'tracekit', 'version': version_of_project(), 'bom-ref': 'tracekit',
            'licenses': [{'license': {'id': 'Apache-2.0'}}]}
    bill = {'bomFormat': 'CycloneDX', 'specVersion': '1.5', 'version': 1,
            'serialNumber': f'urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([main, parts], sort_keys=True))}',
            'metadata': {'component': main}, 'components': parts}
    print(json.dumps(bill, indent=2))


if __name__ == '__main__':
    if len(sys.argv) < 3 or sys.argv[1] not in ('licences', 'sbom'):
        sys.exit('usage: components.py licences|sbom TARGET...')
    (print_licences if sys.argv[1] == 'licences' else print_sbom)(sys.argv[2:])
