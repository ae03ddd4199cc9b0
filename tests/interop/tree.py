#!/usr/bin/env python3
"""Compares the sums of `tree` by call path with an engine's table of slices, their parents and durations: sums and self times
up to 1 ns per event, and numbers of spans if the trace has no instants, which are slices in the engine but have no path
here.

Usage: tree.py [CORPUS]. Uses the files of top.py up to MOST bytes; tree_exceptions.tsv lists the differences and their
reasons."""
import collections
import json
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import top
from common import HERE, THREADS, Engines, Refused, Results, tracekit

sys.path.insert(0, os.path.join(HERE, '..', 'support'))
import sources  # noqa: E402

MOST = top.MOST if os.environ.get('LONG') else 1_000_000
QUERIES = {
    'slices': f"select id, ifnull(parent_id, -1) as parent, ifnull(name, '') as name, dur from slice where not ({top.ASYNC})",
    'errors': top.QUERIES['errors'],
}


def theirs(answer):
    """Returns path -> [slices, sum, self, children]."""
    rows = sorted(map(json.loads, answer['slices']), key=lambda r: r['id'])
    path, ended, found = {}, {r['id']: r['dur'] >= 0 for r in rows}, collections.defaultdict(lambda: [0, 0, 0, 0])
    for r in rows:
        path[r['id']] = path.get(r['parent'], ()) + (r['name'],)
        row = found[path[r['id']]]
        row[0] += 1
        row[1] += max(r['dur'], 0)
        row[2] += max(r['dur'], 0)
        if ended.get(r['parent']):
            above = found[path[r['parent']]]
            above[2] -= max(r['dur'], 0)
            above[3] += 1
    return found


def ours(path):
    report = json.loads(tracekit('tree', '-q', '--json', path, '-e', 'kind != async'), parse_float=Decimal)
    names, found = {}, collections.defaultdict(lambda: [0, 0, 0])
    for r in report['paths']:
        names[r['id']] = names.get(r['parent'], ()) + ((r['name'] or '').replace('\0', ''),)
        row = found[names[r['id']]]
        for i, key in enumerate(('count', 'total_ns', 'self_ns')):
            row[i] += r[key]
    return found


def differences(want, got, counted):
    faults = {'tree.count': '', 'tree.total': '', 'tree.self': ''}
    for path in want.keys() | got.keys():
        n, total, own, children = want.get(path, [0, 0, 0, 0])
        row = got.get(path, [0, 0, 0])
        shown = ' > '.join(path)[-80:]
        if counted and n != row[0]:
            faults['tree.count'] = f'{shown}: {n}, here {row[0]}'
        if abs(total - row[1]) > n:
            faults['tree.total'] = f'{shown}: {total} ns, here {row[1]} of {n}'
        if abs(own - row[2]) > n + children:
            faults['tree.self'] = f'{shown}: {own} ns, here {row[2]} of {n}'
    return faults


def one(job):
    label, path, engines = job
    engine = engines.mine()
    with tempfile.TemporaryDirectory() as work:
        try:
            asked = path
            if not sources.is_named_json(path) and 'pftrace' not in path:
                asked = os.path.join(work, 'a.pftrace')
                tracekit('convert', '-q', path, '-o', asked)
            answer = engine.record(path) if asked == path else engine.ask(asked)
            if 'failed' in answer:
                return label, {'tree.load': f'the engine does not load it: {answer["failed"][:100]}'}
            if any(json.loads(row)['name'] in top.MOVED for row in answer['errors']):
                return label, None
            info = json.loads(tracekit('info', '-q', '--json', path))['traces'][0]
            return label, differences(theirs(answer), ours(path), not info['instants'])
        except (Refused, OSError, ValueError, KeyError) as e:
            return label, {'tree': str(e)}


def main():
    corpus = sys.argv[1] if len(sys.argv) > 1 else ''
    engines = Engines(QUERIES)
    with open(os.path.join(os.environ['INTEROP'], 'tree.txt'), 'w', encoding='utf-8') as report:
        results = Results(report, 'tree_exceptions.tsv')
        jobs = [(label, path, engines) for label, path in top.files(corpus) if top.sound(path) and os.path.getsize(path) <= MOST]
        with ThreadPoolExecutor(THREADS) as pool:
            for label, found in pool.map(one, jobs):
                if found is not None:
                    results.judge(label, found)
        engines.close()
        return results.close()


if __name__ == '__main__':
    sys.exit(main())
