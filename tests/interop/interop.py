#!/usr/bin/env python3
"""Checks how engines by others read our output, on the fixtures and, if given, on a corpus.

    interop.py [CORPUS]     roundtrip.py, native.py and merged.py define the comparisons; exceptions.tsv lists known differences
    interop.py --self-test  readers with one deliberate bug must be detected

Results also go to report.txt in the folder $INTEROP."""
import os
import sys
import tempfile

from common import Results
import merged
import native
import roundtrip
import sources

FIXTURES, REPORT = os.environ['FIXTURES'], os.path.join(os.environ['INTEROP'], 'report.txt')
SELF_TEST = 'json/torch/ddp2_plain/rank0.json.gz'
# fault of the reader: the query whose answer must change
FAULTS = {'drop_event': 'slices', 'one_ns': 'slices', 'lost_flow': 'flows', 'swapped_track': 'names', 'lost_arg': 'args'}


def fixture(*path):
    return os.path.join(FIXTURES, *path)


def nasty():
    """Returns the paths of unusual and damaged inputs that can be read."""
    with open(fixture('nasty', 'EXPECT.tsv'), encoding='utf-8') as f:
        rows = [line.split('\t') for line in list(f)[1:]]
    return ['nasty/' + row[0] for row in rows if row[2] in ('ok', 'note', 'repair') and not row[0].startswith('merge/')]


def ranks_in(folder):
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]


def merges(corpus, work, results):
    merged.run('ddp4_full', ranks_in(fixture('json', 'torch', 'ddp4_full')), results)
    merged.run('ddp2_plain', ranks_in(fixture('json', 'torch', 'ddp2_plain')), results)
    merged.run_generated(work, results)
    for label in sources.walk(corpus) if corpus else ():
        if label.endswith('.tar.gz'):
            into = os.path.join(work, 'ranks')
            members = sources.unpack(os.path.join(corpus, label), into)
            merged.run(label, [os.path.join(into, m) for m in members], results)


def interop(corpus):
    files = [(path, fixture(path), False) for path in sources.fixtures(FIXTURES)]
    files += [(path, fixture(path), True) for path in nasty()]
    with open(REPORT, 'w', encoding='utf-8') as report, tempfile.TemporaryDirectory() as work:
        results = Results(report)
        if corpus:
            files += [(label, path, False) for label, path, _ in sources.corpus_files(corpus, work)[0]]
        roundtrip.run(files, results)
        if corpus:
            native.run(corpus, results)
        merges(corpus, work, results)
        return results.close()


def self_test():
    os.environ['TRACEKIT'] = os.environ['BROKEN']
    engines = roundtrip.Engines(roundtrip.QUERIES)
    with open(os.devnull, 'w', encoding='utf-8') as report:
        results = Results(report)
        for fault, what in [('', ''), *FAULTS.items()]:
            os.environ['TEST_FAULT'] = fault
            found = roundtrip.one((SELF_TEST, fixture(SELF_TEST), False, engines))[2]
            seen = ' '.join(name for name, text in found.items() if text)
            good = bool(found.get(what)) if what else not seen
            results.judge(f'self-test: {fault or "no fault"}: {"caught by " + seen if seen else "nothing found"}',
                          {what: '' if good else 'not as it should be'})
        merged.self_test(ranks_in(fixture('json', 'torch', 'ddp2_plain')), results)
        engines.close()
        return results.close()


if __name__ == '__main__':
    sys.exit(self_test() if sys.argv[1:] == ['--self-test'] else interop(sys.argv[1] if len(sys.argv) > 1 else ''))
