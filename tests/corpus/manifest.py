#!/usr/bin/env python3
"""Compares our model of Perfetto's manifest rules (tests/support/manifest.py) with Perfetto's own test cases: inputs that
Perfetto 58 refuses must be refused with the same words, and no others.

    manifest.py CORPUS"""
import glob
import os
import sys
import tarfile
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from manifest import refusal  # noqa: E402

REFUSED = 'EXPECTED_ERROR contains: '


def members_of(path):
    if path.endswith('.zip'):
        with zipfile.ZipFile(path) as archive:
            return [(name, archive.read(name)) for name in archive.namelist()]
    with tarfile.open(path) as archive:
        return [(member.name, archive.extractfile(member).read()) for member in archive.getmembers()]


def main(corpus):
    cases = sorted(glob.glob(f'{corpus}/**/trace_manifest/*.zip', recursive=True) + glob.glob(f'{corpus}/**/trace_manifest/*.tar',
                                                                                              recursive=True))
    if not cases:
        print('SKIPPED: there are no cases of manifests in the corpus')
        return 0
    passed = failed = 0
    for path in cases:
        with open(f'{path[:-4]}.expected', encoding='utf-8') as f:
            expected = f.read().strip()
        want = expected.removeprefix(REFUSED).removeprefix('perfetto_manifest: ') if expected.startswith(REFUSED) else ''
        found = refusal(members_of(path))
        ok = (want == '') == (found == '') and want in found
        print('ok  ' if ok else 'FAIL', os.path.basename(path), '' if ok else f'{found!r}, Perfetto: {want!r}')
        passed, failed = passed + ok, failed + (not ok)
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
