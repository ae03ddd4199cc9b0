"""Which traces to test with: the fixtures, and an external corpus with an inventory.tsv.

Of the inventory's columns `file` is needed, `ph` (counts by phase, JSON) and `format` are used.  Chrome JSON that lies in the corpus
without a row counts as well, and so do the members of a .tar.gz, which are unpacked."""
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
    """Paths below `top`, relative to it, in order."""
    for where, folders, names in os.walk(top, followlinks=True):
        folders.sort()
        yield from (os.path.relpath(os.path.join(where, name), top) for name in sorted(names))


def fixtures(top):
    return ['json/' + path for path in walk(os.path.join(top, 'json'))]


def inventory(corpus):
    """{path: row}; nothing without an inventory."""
    path = os.path.join(corpus, 'inventory.tsv')
    if not os.path.exists(path):
        return {}
    csv.field_size_limit(sys.maxsize)
    with open(path, encoding='utf-8', newline='') as f:
        return {row['file']: row for row in csv.DictReader(f, delimiter='\t', quoting=csv.QUOTE_NONE)}


def counts(row):
    """Events by phase that the inventory states, or None."""
    return json.loads(row['ph']) if row and row.get('ph') else None


def unpack(archive, into):
    """Members of a tar archive that are JSON: their paths below `into`."""
    with tarfile.open(archive) as tar:
        members = [m for m in tar.getmembers() if m.isfile() and is_named_json(m.name) and '..' not in m.name and m.name[:1] != '/']
        for member in members:
            target = os.path.join(into, member.name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with tar.extractfile(member) as f, open(target, 'wb') as g:
                g.write(f.read())
    return sorted(m.name for m in members)


def corpus_files(corpus, work):
    """[(label, path, row or None)] of all Chrome JSON; archives are unpacked below `work`.  Inputs of other programs' tests, in
    folders *_cases, are not traces to be read in full."""
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
    """Chrome JSON of at most so many bytes as it lies there, none out of archives."""
    with tempfile.TemporaryDirectory() as work:
        files, _ = corpus_files(corpus, work)
        return [path for label, path, _ in files if '.tar.gz/' not in label and os.path.getsize(path) <= most]


if __name__ == '__main__':  # sources.py CORPUS BYTES: for xargs -0
    sys.stdout.write(''.join(path + '\0' for path in small(sys.argv[1], int(sys.argv[2]))))
