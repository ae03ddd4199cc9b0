#!/usr/bin/env bash
# Checks that every fixture has a row in fixtures/MANIFEST.tsv with its sha256, and every row a file. --write updates sums and
# adds rows.
set -u
cd "$(dirname "$0")/../../fixtures" || exit 1
exec python3 - "${1:-}" <<'PY'
import hashlib, os, sys, zlib
HEAD = 'path\torigin\tlicence\tsha256\tshows'
with open('MANIFEST.tsv', encoding='utf-8') as f:
    rows = {line.split('\t')[0]: line.rstrip('\n').split('\t') for line in list(f)[1:]}
files = sorted(os.path.relpath(os.path.join(d, n), '.') for d, _, names in os.walk('.') for n in names)
files = [p for p in files if p not in ('MANIFEST.tsv', 'README.md', 'nasty/EXPECT.tsv')]
sums = {p: hashlib.sha256(open(p, 'rb').read()).hexdigest() for p in files}
if sys.argv[1] == '--write':
    with open('MANIFEST.tsv', 'w', encoding='utf-8') as f:
        print(HEAD, file=f)
        for p in files:
            row = rows.get(p, [p, '', 'Apache-2.0', '', ''])
            row[3] = sums[p]
            print('\t'.join(row), file=f)
    sys.exit(0)
faults = [f'fixtures/{p}: not in MANIFEST.tsv' for p in files if p not in rows]
faults += [f'fixtures/{p}: in MANIFEST.tsv, but there is no such file' for p in rows if p not in sums]
faults += [f'fixtures/{p}: not the file of MANIFEST.tsv' for p in files if p in rows and rows[p][3] != sums[p]]
faults += [f'fixtures/{p}: its row lacks the origin' for p in rows if not rows[p][1]]
total = sum(len(zlib.compress(open(p, 'rb').read())) for p in files)  # as git stores them
if total > 3_500_000:
    faults.append(f'fixtures: {total} bytes; keep the repository small')
print('\n'.join(faults), end='\n' if faults else '')
sys.exit(1 if faults else 0)
PY
