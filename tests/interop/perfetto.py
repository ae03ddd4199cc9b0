#!/usr/bin/env python3
"""Checks that an engine gives the same answers about Chrome JSON, about our Perfetto file made from it, and about that file
read and written again. If the engine gives the expected answer of a TrackEvent case on the original, it must also give it on
our output, and the spans of its JSON must equal those of the original.

    perfetto.py [CORPUS]    the fixtures; of a corpus, the Chrome JSON files, and the JSON and TrackEvent cases of perfetto_cases

Known differences are listed in perfetto_exceptions.tsv with reasons; a row that a corpus meets but does not need is a
failure. Args are compared by the keys that both importers can keep: "args.a.b" in JSON is "debug.a.b" here, where '.', '['
and ']' in a key become '_'."""
import collections
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'support'))
from common import Engines, Refused, THREADS, tracekit  # noqa: E402
from exceptions import Exceptions  # noqa: E402

FIXTURES = os.environ['FIXTURES']
MOST = 120_000_000  # limit on the size of a file
THREAD = 'left join thread_track tt on tt.id = s.track_id left join thread t using (utid) left join process p using (upid)'
QUERIES = {
    'slices': f"""select coalesce(p.name, '') as process, coalesce(t.name, '') as thread, s.depth, coalesce(s.name, '[No name]') as name, s.category, count(*) as n,
                  sum(s.ts % 1000000007) as ts, sum(iif(s.dur < 0, 0, s.dur)) as dur, sum(s.dur < 0) as open
                  from slice s {THREAD} group by 1, 2, 3, 4, 5""",
    # Thread and process 0 are the engine's own, unless a trace names them; an empty name in a descriptor counts as missing; JSON makes
    # a thread of every tid mentioned, even by events that are not on it (async, global).
    'threads': """select coalesce(p.name, '') as process, coalesce(t.name, '') as thread, count(*) as n
                  from thread t left join process p using (upid) where t.utid in (select utid from thread_track) group by 1, 2""",
    'processes': """select coalesce(name, '') as name, count(*) as n from process where upid > 0 or name is not null or
                    upid in (select upid from thread join thread_track using (utid) union select upid from process_track) group by 1""",
    'counters': """select t.name, p.name as process, count(*) as n, printf('%.9g', total(c.value)) as sum, sum(c.ts % 1000000007) as ts
                   from counter c join counter_track t on t.id = c.track_id left join process_counter_track pt on pt.id = t.id
                   left join process p using (upid) group by 1, 2""",
    'flows': """select a.name as source, b.name as target, count(*) as n, sum(a.ts % 1000000007) as ts, sum(b.ts % 1000000007) as end
                from flow f join slice a on a.id = f.slice_out join slice b on b.id = f.slice_in group by 1, 2""",
    'args': """with sets as materialized (select arg_set_id, count(*) as c from slice where arg_set_id is not null group by 1)
               select replace(replace(replace(replace(replace(substr(flat_key, instr(flat_key, '.') + 1), '.', '_'), '[', '_'), ']', '_'),
               '__', '_'), ' ', ' ') as key, value_type, sum(c) as n, sum(c * (int_value % 1000000007)) as ints,
               printf('%.6g', total(c * real_value)) as reals, sum(c * length(string_value)) as chars, count(distinct string_value) as strings
               from sets join args using (arg_set_id)
               where (flat_key glob 'args.*' or flat_key glob 'debug.*') and not flat_key glob 'debug.json.*'
               and not flat_key glob 'debug.json_*' group by 1, 2""",
    'errors': "select name, value from stats where severity in ('error', 'data_loss') and value > 0",
}


def sources(corpus):
    for root, part in ((FIXTURES, 'json'), (corpus, '')):
        for folder, _, names in sorted(os.walk(os.path.join(root, part))) if root else []:
            for name in sorted(names):
                path = os.path.join(folder, name)
                if name.endswith(('.json', '.json.gz')) and os.path.getsize(path) <= MOST:
                    yield os.path.relpath(path, root), path
    if not corpus:
        return
    for folder, _, names in sorted(os.walk(os.path.join(corpus, 'perfetto_cases'))):
        for name in sorted(names):
            if name.endswith('.pftrace'):
                yield os.path.relpath(os.path.join(folder, name), corpus), os.path.join(folder, name)


def first_difference(a, b):
    for x, y in zip(a, b):
        if x != y:
            return f'{x} | {y}'
    return f'{len(a)} rows | {len(b)} rows'


def compare(want, got):
    return {what: '' if want[what] == got[what] else first_difference(sorted(set(want[what]) - set(got[what])) or want[what],
                                                                     sorted(set(got[what]) - set(want[what])) or got[what])
            for what in QUERIES if what != 'errors'}


def case_sql(path, trace):
    """Returns the output of a case's own query, in the form of its .expected, or None."""
    sql = path[:-len('.pftrace')] + '.sql'
    if not os.path.exists(sql):
        return None
    p = subprocess.run([os.environ['NODE'], os.path.join(HERE, 'tpq.mjs'), trace, '@' + sql], stdout=subprocess.PIPE,
                       stderr=subprocess.DEVNULL, timeout=120)
    return p.stdout if p.returncode == 0 else None


def normal(table):
    """Converts TSV of the engine and CSV of the expectation to rows without quotes."""
    return [line.replace('"', '').replace('\t', ',') for line in table.decode('utf-8', 'replace').strip().splitlines()]


def case_faults(path, again):
    """Returns None if the engine itself does not give the expected answer, so that the case is not applicable."""
    want, original = path[:-len('.pftrace')] + '.expected', case_sql(path, path)
    if original is None or not os.path.exists(want):
        return None
    with open(want, 'rb') as f:
        expected = normal(f.read())
    if normal(original) != expected:
        return None
    got = case_sql(path, again)
    return {'case': '' if got is not None and normal(got) == expected else first_difference(expected, normal(got or b'failed'))}


def spans(answer):
    """Returns {name: [spans, start, duration, open]}: figures that do not depend on tracks and nesting."""
    found = collections.defaultdict(lambda: [0, 0, 0, 0])
    for row in map(json.loads, answer['slices']):
        for i, column in enumerate(('n', 'ts', 'dur', 'open')):
            found[row['name']][i] += row[column]
    return {name: tuple(row) for name, row in found.items()}


def json_faults(path, target, engine):
    """Compares a case's spans as JSON with those of the original."""
    tracekit('convert', '-q', '--force', path, '-o', target)
    wanted, got = engine.record(path), engine.ask(target)
    if 'failed' in wanted:
        return {}
    if 'failed' in got:
        return {'json': got['failed'] if wanted['slices'] else ''}
    wanted, got = spans(wanted), spans(got)
    return {'json': '' if wanted == got else first_difference(sorted(set(wanted.items()) - set(got.items())) or wanted,
                                                             sorted(set(got.items()) - set(wanted.items())) or got)}


def check(label, path, work, engines):
    base = os.path.join(work, label.replace('/', '_')[-120:])
    once, twice = base + '.1.pftrace', base + '.2.pftrace'
    try:
        tracekit('convert', '-q', '--force', path, '-o', once)
        if path.endswith('.pftrace'):
            faults = case_faults(path, once)
            return label, faults and {**faults, **json_faults(path, base + '.json', engines.mine())}, ()
        tracekit('convert', '-q', '--force', once, '-o', twice)
        engine = engines.mine()
        original, first, second = engine.record(path), engine.ask(once), engine.ask(twice)
        for answer in (first, second):
            if 'failed' in answer:
                return label, {'load': answer['failed']}, ()
        faults = {'errors': first_difference([], first['errors']) if first['errors'] else ''}
        faults.update(('again-' + what, fault) for what, fault in compare(first, second).items())
        if 'failed' in original:
            return label, {**faults, 'original': original['failed']}, ()
        return label, {**faults, **compare(original, first)}, [eval_name(row) for row in original['errors']]
    except Refused as e:
        return label, {'convert': str(e)}, ()
    finally:
        for f in (once, twice, base + '.json'):
            if os.path.exists(f):
                os.remove(f)


def eval_name(row):
    return row.split('"name": "')[1].split('"')[0]


def main():
    corpus = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else None
    exceptions = Exceptions(os.path.join(HERE, 'perfetto_exceptions.tsv'))
    passed = failed = unverified = 0
    engines = Engines(QUERIES)
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(THREADS) as pool:
        for label, faults, stats in pool.map(lambda s: check(*s, work, engines), sources(corpus)):
            if faults is None:
                unverified += 1
                print(f'     unverified {label}: the engine does not give the expected answer on the original')
                continue
            excused, bad = [], []
            for what, fault in faults.items():
                reasons = [r for name in (label, *(f'stat:{s}' for s in stats)) if (r := exceptions.reason(name, what, bool(fault)))]
                if fault:
                    (excused if reasons else bad).append((what, fault))
            passed += not bad
            failed += bool(bad)
            print(f'{"FAIL" if bad else "ok":4} {label}', f'[{" ".join(w for w, _ in excused)}]' if excused else '')
            for what, fault in bad:
                print(f'       {what}: {fault[:700]}')
            sys.stdout.flush()
    engines.close()
    for row in exceptions.needless() if corpus else ():  # the fixtures alone need only few rows
        print(f'perfetto_exceptions.tsv: not needed: {row}')
        failed += 1
    print(f'{unverified} unverified')
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
