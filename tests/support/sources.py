"""Traces for tests: the fixtures, and an external corpus with an inventory.tsv.

In the inventory, the column `file` is required; `ph` (counts by phase, JSON) and `format` are used if present. Chrome JSON
in the corpus without a row is included, too, and so are the members of a .tar.gz, which are unpacked."""
import csv
import json
import os
import sys
import tarfile
import tempfile

NAMES = ('.json', '.json.gz')


def is_named_json(name):
    return name.endswith(NAMES) or name.endswith('_gz.gz')


def walk(top):
    """Yields the paths below `top`, relative to it, sorted."""
    for where, folders, names in os.walk(top, followlinks=True):
        folders.sort()
        yield from (os.path.relpath(os.path.join(where, name), top) for name in sorted(names))


def fixtures(top):
    return ['json/' + path for path in walk(os.path.join(top, 'json'))]


def inventory(corpus):
    """Returns {path: row}; empty without an inventory."""
    path = os.path.join(corpus, 'inventory.tsv')
    if not os.path.exists(path):
        return {}
    csv.field_size_limit(sys.maxsize)
    with open(path, encoding='utf-8', newline='') as f:
        return {row['file']: row for row in csv.DictReader(f, delimiter='\t', quoting=csv.QUOTE_NONE)}


def counts(row):
    """Returns the inventory's number of events by phase, or None."""
    return json.loads(row['ph']) if row and row.get('ph') else None


def unpack(archive, into):
    """Extracts the JSON members of a tar archive; returns their paths below `into`."""
    with tarfile.open(archive) as tar:
        members = [m for m in tar.getmembers() if m.isfile() and is_named_json(m.name) and '..' not in m.name and m.name[:1] != '/']
        for member in members:
            target = os.path.join(into, member.name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with tar.extractfile(member) as f, open(target, 'wb') as g:
                g.write(f.read())
    return sorted(m.name for m in members)


def corpus_files(corpus, work):
    """Returns ([(label, path, row or None)] of all Chrome JSON, inventory rows without a file); archives are unpacked below
    `work`. Without a row, JSON in folders *_cases is skipped: inputs of other programs' tests need not be readable in full."""
    rows, found = inventory(corpus), []
    for label in walk(corpus):
        path, row = os.path.join(corpus, label), rows.get(label)
        if label.endswith('.tar.gz'):
            into = os.path.join(work, str(len(found)))
            found += [(f'{label}/{member}', os.path.join(into, member), None) for member in unpack(path, into)]
        elif row.get('format', '').startswith('chrome') if row else is_named_json(label) and '_cases/' not in label:
            found.append((label, path, row))
    missing = sorted(set(rows) - set(walk(corpus)))
    return found, missing


def small(corpus, most):
    """Returns Chrome JSON files of at most `most` bytes on disk, none from archives."""
    with tempfile.TemporaryDirectory() as work:
        files, _ = corpus_files(corpus, work)
        return [path for label, path, _ in files if '.tar.gz/' not in label and os.path.getsize(path) <= most]


if __name__ == '__main__':  # prints NUL-terminated paths, for xargs -0
    sys.stdout.write(''.join(path + '\0' for path in small(sys.argv[1], int(sys.argv[2]))))
