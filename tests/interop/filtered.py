#!/usr/bin/env python3
"""Checks that filter keeps the events that an engine selects by an equivalent query on the original, and that the engine
reports no new errors, neither for its output nor for shrink's.

Usage: filtered.py [CORPUS]. Corpus files of more than MOST bytes are checked only by `make interop CORPUS=` with LONG=1."""
import json
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from common import HERE, THREADS, Engines, Refused, Results, tracekit

sys.path.insert(0, os.path.join(HERE, '..', 'support'))
import chromejson  # noqa: E402
import sources  # noqa: E402

MOST = 1 << 40 if os.environ.get('LONG') else 4_000_000
# The engine drops or moves spans that overlap, and drops events before 0: its counts then differ from the trace.
MOVED = ('slice_drop_overlapping_complete_event', 'slice_spill_overlapping_complete_event', 'misplaced_end_event',
         'trace_sorter_negative_timestamp_dropped')

# Options, and the equivalent condition for the engine; None: the engine must only accept the result. An unfinished slice has
# the duration -1 in the engine.
FILTERS = {
    'depth': (['--depth', '0..1', '-e', 'kind != async'], 'depth <= 1 and not async'),
    'dur': (['--min-dur', '50us', '-e', 'kind != async'], 'iif(dur < 0, (select end_ts from trace_bounds) - ts, dur) >= 50000 and not async'),
    'name': (['-e', 'name =~ "^[a-m]" && kind != async'], "name glob '[a-m]*' and not async"),
    'cat': (['-e', 'cat == "kernel" && kind != async'], "category = 'kernel' and not async"),
    'time': (['--time', '25%..75%'], None),
    'tied': (['--kind', 'kernel', '--keep', 'flows', '--keep', 'parents'], None),
    'bare': (['--no-python', '--drop-args', '*', '--drop-flows'], None),
}
ASYNC = "s.track_id in (select id from track where type like '%async%')"
QUERIES = {name: f"select count(*) as n from slice s where {where.replace('async', '(' + ASYNC + ')')}"
           for name, (_, where) in FILTERS.items() if where}
QUERIES['slices'] = 'select count(*) as n from slice'
QUERIES['errors'] = "select name, value from stats where severity in ('error', 'data_loss') and value > 0"


def count(answer, name):
    return json.loads(answer[name][0])['n']


def errors(answer):
    return {row['name']: row['value'] for row in map(json.loads, answer['errors'])}


def complaint(before, after, moved):
    if 'failed' in after:
        return f'does not load: {after["failed"][:200]}'
    was, now = errors(before), errors(after)
    return '; '.join(f'{name} {was.get(name, 0)} -> {value}' for name, value in now.items()
                     if value > was.get(name, 0) and not (moved and name in MOVED))


def kept(path, options, target):
    report = json.loads(tracekit('filter', '--json', '-q', '--force', '--allow-empty', path, *options, '-o', target))
    return report['events']


def shrunk(path, percent, target):
    """Shrinks a trace to a percentage. Returns False if the command reports that the trace cannot be made to fit."""
    try:
        tracekit('shrink', '-q', '--force', path, '--percent', percent, '-o', target)
    except Refused as e:
        if 'cannot be made to fit' not in str(e):
            raise
        return False
    return True


def samples(path):
    """Returns the number of events per filter, without counter samples, which pass filters as events but are stored elsewhere
    in the engine."""
    return {name: json.loads(tracekit('filter', '--json', '-q', '-n', '--allow-empty', path, *options, '-e', 'kind != counter', '-f', 'json', '-o', '/dev/null'))['events']
            for name, (options, where) in FILTERS.items() if where}


def one(job):
    label, path, engines = job
    engine, found = engines.mine(), {}
    with tempfile.TemporaryDirectory() as work:
        try:
            before = engine.record(path)
            if 'failed' in before:
                return label, {'filter.load': f'the original does not load: {before["failed"][:100]}'}
            ours = samples(path)
            # the engine moved overlapping spans, and may move others after a filter
            moved = any(name in errors(before) for name in MOVED)
            for name, (options, where) in FILTERS.items():
                target = os.path.join(work, f'{name}.json')
                kept(path, options, target)
                found[f'filter.{name}.errors'] = complaint(before, engine.ask(target), moved)
                if not where:
                    continue
                said = count(before, name)
                found[f'filter.{name}'] = '' if moved or said == ours[name] else f'the engine keeps {said}, we {ours[name]}'
            for percent in ('50', '10'):
                target = os.path.join(work, f'{percent}.json')
                if shrunk(path, percent, target):
                    found[f'shrink.{percent}.errors'] = complaint(before, engine.ask(target), moved)
            return label, found
        except (Refused, OSError, ValueError, KeyError) as e:
            return label, {'filter': str(e)}


def files(corpus):
    fixtures = os.environ['FIXTURES']
    yield from ((path, os.path.join(fixtures, path)) for path in sources.fixtures(fixtures))
    for path in sources.inventory(corpus) if corpus else ():
        if sources.is_named_json(path):
            yield path, os.path.join(corpus, path)


def sound(path):
    return os.path.exists(path) and os.path.getsize(path) <= MOST and chromejson.is_trace(path)


def main():
    corpus = sys.argv[1] if len(sys.argv) > 1 else ''
    engines = Engines(QUERIES)
    with open(os.path.join(os.environ['INTEROP'], 'filtered.txt'), 'w', encoding='utf-8') as report:
        results = Results(report, 'filter_exceptions.tsv')
        jobs = [(label, path, engines) for label, path in files(corpus) if sound(path)]
        with ThreadPoolExecutor(THREADS) as pool:
            for label, found in pool.map(one, jobs):
                results.judge(label, found)
        engines.close()
        return results.close()


sys.exit(main())
