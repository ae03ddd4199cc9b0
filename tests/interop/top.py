#!/usr/bin/env python3
"""Compares the sums of `top` by name with an engine's for the same trace in SQL: counts are equal, total and self times up to 1
ns per event and child. An unfinished slice has the duration -1 in the engine; it is counted here, but not added.

Usage: top.py [CORPUS]. Corpus files of more than MOST bytes are included only with LONG=1."""
import json
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

from common import HERE, THREADS, Engines, Refused, Results, tracekit

sys.path.insert(0, os.path.join(HERE, '..', 'support'))
import chromejson  # noqa: E402
import sources  # noqa: E402

MOST = 1 << 40 if os.environ.get('LONG') else 20_000_000
# The engine drops or moves spans that overlap, and drops events before 0: its counts then differ from the trace.
MOVED = ('slice_drop_overlapping_complete_event', 'slice_spill_overlapping_complete_event', 'misplaced_end_event',
         'trace_sorter_negative_timestamp_dropped')
ASYNC = "track_id in (select id from track where type like '%async%')"
ROWS = '''select name, count(*) as n, sum(max(dur, 0)) as total, sum(iif(dur < 0, 0, dur - ifnull(below, 0))) as self,
  sum(ifnull(children, 0)) as children from slice left join
  (select parent_id as parent, sum(max(dur, 0)) as below, count(*) as children from slice where parent_id is not null group by 1)
  on slice.id = parent where {where} group by name'''
QUERIES = {
    'threads': ROWS.format(where=f'not ({ASYNC})'),
    'asyncs': f"select name, count(*) as n, sum(max(dur, 0)) as total from slice where {ASYNC} group by name",
    'errors': "select name, value from stats where severity in ('error', 'data_loss') and value > 0",
}


def rows(answer, query):
    return {row['name'] or '': row for row in map(json.loads, answer[query])}


def ours(path, *options):
    report = json.loads(tracekit('top', '-q', '--json', path, *options), parse_float=Decimal)
    found = {}
    for row in report['rows']:
        name = (row['name'] or '').replace('\0', '')
        n, total, own = found.get(name, (0, 0, 0))
        found[name] = (n + row['count'], total + Decimal(row['total_ns']), own + Decimal(row['self_ns']))
    return found


def far(a, b, events):
    return abs(a - b) > events


def difference(theirs, mine, with_self):
    if theirs.keys() != mine.keys():
        return {'count': f'names: {sorted(theirs.keys() ^ mine.keys())[:3]}', 'total': '', 'self': ''}
    faults = {'count': '', 'total': '', 'self': ''}
    for name, row in theirs.items():
        n, total, own = mine[name]
        if row['n'] != n:
            faults['count'] = f'{name!r}: {row["n"]}, here {n}'
        if far(row['total'], total, n):
            faults['total'] = f'{name!r}: {row["total"]} ns, here {total} of {n}'
        if with_self and far(row['self'], own, n + row['children']):
            faults['self'] = f'{name!r}: {row["self"]} ns, here {own} of {n}'
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
                return label, {'top.load': f'the engine does not load it: {answer["failed"][:100]}'}
            if any(json.loads(row)['name'] in MOVED for row in answer['errors']):
                return label, None
            found = {f'top.{k}': v for k, v in difference(rows(answer, 'threads'), ours(path, '-e', 'kind != async'), True).items()}
            found.update({f'top.async.{k}': v for k, v in difference(rows(answer, 'asyncs'), ours(path, '--kind', 'async'), False).items()})
            return label, found
        except (Refused, OSError, ValueError, KeyError) as e:
            return label, {'top': str(e)}


def files(corpus):
    fixtures = os.environ['FIXTURES']
    for folder in ('json', 'perfetto', 'xplane'):
        yield from ((f'{folder}/{path}', os.path.join(fixtures, folder, path)) for path in sources.walk(os.path.join(fixtures, folder)))
    for path in sources.inventory(corpus) if corpus else ():
        if sources.is_named_json(path):
            yield path, os.path.join(corpus, path)


def sound(path):
    if not os.path.exists(path) or os.path.getsize(path) > MOST:
        return False
    return chromejson.is_trace(path) if sources.is_named_json(path) else path.endswith(('.pftrace', '.pftrace.gz', '.xplane.pb'))


def main():
    corpus = sys.argv[1] if len(sys.argv) > 1 else ''
    engines = Engines(QUERIES)
    moved = 0
    with open(os.path.join(os.environ['INTEROP'], 'top.txt'), 'w', encoding='utf-8') as report:
        results = Results(report, 'top_exceptions.tsv')
        jobs = [(label, path, engines) for label, path in files(corpus) if sound(path)]
        with ThreadPoolExecutor(THREADS) as pool:
            for label, found in pool.map(one, jobs):
                moved += found is None
                if found is not None:
                    results.judge(label, found)
        results.say(f'{moved} left out: the engine drops or moves spans of theirs')
        engines.close()
        return results.close()


if __name__ == '__main__':
    sys.exit(main())
