#!/usr/bin/env python3
"""Checks that `sql` gives the same answers as an engine for the same statement and trace.

  users     eight typical queries of Perfetto's users, and the queries of the other comparisons, on every trace that the
            engine reads
  cases     statements of Perfetto's own tests, in CORPUS/perfetto_cases (which cannot be shipped: skipped without a corpus):
            the answer must be the engine's, or the one expected by the test, which is written for a newer engine

Rows are compared as a multiset. If a LIMIT cuts through rows with equal order keys, either choice is accepted. In cases, ids
are compared only by being null or not: other columns identify the rows. Exceptions are rows of sql_exceptions.tsv.

Usage: sql.py [CORPUS]. Corpus files of more than MOST bytes are included only with LONG=1."""
import collections
import csv
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from common import HERE, SECONDS, THREADS, Engines, Refused, Results, tracekit

sys.path.insert(0, os.path.join(HERE, '..', 'support'))
import chromejson  # noqa: E402
import queries  # noqa: E402
import sources  # noqa: E402

MOST = 1 << 40 if os.environ.get('LONG') else 20_000_000
SUMS = 'COUNT(*) AS launches, SUM(dur)/1e6 AS total_ms'
INCLUDE = 'INCLUDE PERFETTO MODULE slices.with_context;'
# Name: statement, and the column that determines the rows of a LIMIT.
USERS = {
    'top': (f'''SELECT name, {SUMS}, AVG(dur)/1e6 AS avg_ms FROM slices WHERE name IS NOT NULL GROUP BY name
                ORDER BY total_ms DESC LIMIT 50''', 'total_ms'),
    'long': ('''SELECT ts/1e9 AS start_sec, dur/1e9 AS dur_sec, name FROM slices WHERE dur > 1000000 AND depth <= 2
                ORDER BY ts LIMIT 50''', 'start_sec'),
    'small': ('''SELECT name, COUNT(*) AS launches, AVG(dur)/1e3 AS avg_us FROM slices WHERE dur < 100000 GROUP BY name
                 HAVING launches > 10 ORDER BY launches DESC LIMIT 30''', 'launches'),
    'copies': (f'''SELECT name, {SUMS} FROM slices WHERE name LIKE '%Memcpy%' OR name LIKE '%copy%' OR name LIKE '%Copy%'
                   GROUP BY name ORDER BY total_ms DESC LIMIT 20''', 'total_ms'),
    'attention': (f'''SELECT name, {SUMS}, AVG(dur)/1e3 AS avg_us FROM slices WHERE name LIKE '%fmha%' OR name LIKE '%attention%'
                      OR name LIKE '%mm%' GROUP BY name ORDER BY total_ms DESC''', None),
    'launches': (f'''SELECT name, {SUMS}, MIN(dur)/1e3 AS min_us, MAX(dur)/1e3 AS max_us FROM slices WHERE name LIKE '%kernel%'
                     OR name LIKE '%Launch%' GROUP BY name ORDER BY total_ms DESC LIMIT 50''', 'total_ms'),
    'phases': ('''SELECT (ts - (SELECT MIN(ts) FROM slices))/1e9 AS elapsed_sec, dur/1e9 AS duration_sec, name,
                  CASE WHEN name LIKE '%fmha%' THEN 'ATTENTION' WHEN name LIKE '%copy%' THEN 'MEMORY' ELSE 'OTHER' END AS category
                  FROM slices WHERE depth = 0 AND dur > 100000 ORDER BY ts LIMIT 100''', 'elapsed_sec'),
    'directions': (f'''SELECT CASE WHEN name LIKE '%HtoD%' THEN 'Host->Device' WHEN name LIKE '%DtoH%' THEN 'Device->Host' ELSE name END
                       AS direction, {SUMS} FROM slices WHERE name LIKE '%Mem%' GROUP BY direction ORDER BY total_ms DESC''', None),
    'parents': ('''SELECT p.name AS parent, c.name AS child, count(*) AS n, sum(c.dur) AS dur, sum(c.ts - p.ts) AS after
                   FROM slice c JOIN slice p ON c.parent_id = p.id GROUP BY 1, 2''', None),
    'thread_slices': (f'''{INCLUDE} SELECT thread_name, process_name, is_main_thread, name, count(*) AS n, sum(dur) AS dur FROM thread_slice
                         GROUP BY 1, 2, 3, 4''', None),
    'process_slices': (f'{INCLUDE} SELECT process_name, name, count(*) AS n, sum(dur) AS dur FROM process_slice GROUP BY 1, 2', None),
    'flow_args': ('''SELECT a.key, count(*) AS n, count(DISTINCT a.display_value) AS distinct_values FROM flow f
                     JOIN args a USING (arg_set_id) GROUP BY 1''', None),
    'connected': ('''SELECT s.name, count(*) AS n, sum((SELECT count(*) FROM directly_connected_flow(s.id))) AS direct,
                     sum((SELECT count(*) FROM preceding_flow(s.id))) AS before, sum((SELECT count(*) FROM following_flow(s.id))) AS behind
                     FROM slice s WHERE s.id IN (SELECT slice_out FROM flow UNION SELECT slice_in FROM flow) GROUP BY 1''', None),
    'bounds': ('SELECT start_ts, end_ts FROM trace_bounds', None),
    'inside': ('''SELECT p.name, count(*) AS n, count(DISTINCT c.name) AS names, sum(c.dur) AS dur FROM slice p
                  JOIN slice c ON c.ts BETWEEN p.ts AND p.ts + p.dur WHERE p.depth = 0 AND p.dur >= 0 GROUP BY 1''', None),
    'sampled': ('''SELECT s.name, count(*) AS n, sum((SELECT count(*) FROM counter c WHERE c.ts <= s.ts)) AS before,
                   sum((SELECT max(c.ts) FROM counter c WHERE c.ts < s.ts)) AS last FROM slice s WHERE s.depth < 2 GROUP BY 1''', None),
    **{join: (f'''CREATE VIEW {join}_a AS SELECT ts, dur, track_id, name AS a FROM slice WHERE depth = 0 AND dur >= 0;
                  CREATE VIEW {join}_b AS SELECT ts, dur, track_id, name AS b FROM slice WHERE depth = 1 AND dur >= 0;
                  CREATE VIRTUAL TABLE {join}_ab USING {join}({join}_a PARTITIONED track_id, {join}_b PARTITIONED track_id);
                  SELECT a, b, count(*) AS n, sum(dur) AS dur, min(ts) AS first FROM {join}_ab GROUP BY 1, 2''', None)
       for join in ('span_join', 'span_left_join', 'span_outer_join')},
    'stacks': ('SELECT count(DISTINCT stack_id) AS n, count(DISTINCT parent_stack_id) AS above FROM slice', None),
}
USERS.update((name, (statement, None)) for name, statement in queries.QUERIES.items() if name != 'errors')
ERRORS = {'errors': queries.QUERIES['errors']}
# If the engine drops overlapping spans, or does not read the format, both are asked about the output of `convert`. There
# overlapping spans are on separate tracks, so that only results independent of tracks and depths can be compared.
FLAT = ('top', 'small', 'copies', 'attention', 'launches', 'directions', 'bounds', 'counters')
MOVED = ('slice_drop_overlapping_complete_event', 'slice_spill_overlapping_complete_event', 'misplaced_end_event',
         'trace_sorter_negative_timestamp_dropped')
IDS = {'id', 'slice_id', 'track_id', 'utid', 'upid', 'arg_set_id', 'parent_id', 'stack_id', 'parent_stack_id', 'machine_id', 'trace_id',
       'slice_out', 'slice_in'}


def value(v):
    """Rounds numbers to nine digits, because sums of doubles depend on the order."""
    return f'{v:.9g}' if isinstance(v, float) and v != int(v) else int(v) if isinstance(v, float) else v


def known(row, without_ids):
    return json.dumps([[k, ('id' if v is not None else None) if without_ids and k in IDS else value(v)] for k, v in row])


def difference(theirs, ours, tied=None, without_ids=False):
    """Returns '' if the rows are equal, apart from rows that tie with the last."""
    a = collections.Counter(known(row, without_ids) for row in theirs)
    b = collections.Counter(known(row, without_ids) for row in ours)
    if a == b:
        return ''
    if tied and len(theirs) == len(ours):
        last = value(dict(theirs[-1])[tied])
        if all(value(dict(map(tuple, json.loads(row)))[tied]) == last for row in (a - b) + (b - a)):
            return ''
    return f'{len(theirs)} rows there, {len(ours)} here: {list((a - b))[:2]} there, {list((b - a))[:2]} here'[:500]


def answers(path, statements):
    """Returns the rows, as (column, value), of the last statement with columns in each text."""
    found = []
    for statement in statements:
        text = tracekit('sql', '-q', '--json', path, '-e', statement)
        result = json.loads(text)['results'][-1]
        found.append([list(zip(result['columns'], row)) for row in result['rows']])
    return found


# ---- queries of users ----

def ordered(rows, tied):
    """Sorts the engine's rows, which come sorted as text, so that the last row of a LIMIT is the last by its column."""
    rows = [list(json.loads(row).items()) for row in rows]
    descending = tied not in ('start_sec', 'elapsed_sec')
    return sorted(rows, key=lambda row: dict(row)[tied], reverse=descending) if tied else rows


def of_users(job):
    label, path, engines = job
    engine = engines.mine()
    with tempfile.TemporaryDirectory() as work:
        try:
            asked, theirs = path, {'errors': [], 'failed': ''}
            if sources.is_named_json(path) or 'pftrace' in path:
                theirs = engine.record(path)
            stats = [json.loads(row)['name'] for row in theirs.get('errors', ())]
            if theirs.get('failed'):
                return label, None, ()
            if 'failed' in theirs or any(name in MOVED for name in stats):
                asked = os.path.join(work, 'a.pftrace')
                tracekit('convert', '-q', path, '-o', asked)
                theirs = engine.ask(asked)
            moved = asked != path and bool(stats)
            wanted = {name: statement for name, statement in USERS.items() if not moved or name in FLAT}
            ours = answers(asked, [statement for statement, _ in wanted.values()])
            found = {}
            for (name, (_, tied)), mine in zip(wanted.items(), ours):
                mine = [sorted(row) for row in mine]
                found[name] = difference([sorted(row) for row in ordered(theirs[name], tied)], mine, tied)
            return label, found, () if moved else stats
        except (Refused, OSError, ValueError, KeyError, subprocess.TimeoutExpired) as e:
            return label, {'asked': repr(e)[:300]}, ()


def traces(corpus):
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


# ---- Perfetto's own tests ----

def pairs(rows):
    return [row for line in rows.splitlines() if line for row in [json.loads(line, object_pairs_hook=list)]]


def recorded(path, script):
    """Returns the engine's answer, cached by content; None if it refuses the statement or the trace."""
    with open(path, 'rb') as a, open(script, 'rb') as b:
        name = hashlib.sha256(b'case' + a.read() + b.read()).hexdigest()[:32] + '.case'
    record = os.path.join(os.environ['INTEROP'], 'oracle', name)
    if not os.path.exists(record):
        p = subprocess.run([os.environ['NODE'], os.path.join(HERE, 'tpq.mjs'), '--json', path, f'@{script}'], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, timeout=SECONDS)
        os.makedirs(os.path.dirname(record), exist_ok=True)
        with open(f'{record}.{os.getpid()}.tmp', 'wb') as f:
            f.write(b'' if p.returncode == 0 else b'refused\n')
            f.write(p.stdout if p.returncode == 0 else b'')
        os.replace(f.name, record)
    with open(record, encoding='utf-8', errors='replace') as f:
        text = f.read()
    return None if text.startswith('refused') else pairs(text)


def expected(script):
    """Returns the rows that the test itself expects from the newest engine, as text."""
    with open(script[:-len('.sql')] + '.expected', encoding='utf-8', newline='') as f:
        rows = [row for row in csv.reader(f) if row]
    return [list(zip(rows[0], row)) for row in rows[1:]] if rows else []


def as_text(v):
    """Formats a cell as the engine's shell prints it."""
    return '[NULL]' if v is None else f'{v:f}' if isinstance(v, float) else f'{v}'


def is_as_expected(script, ours):
    theirs = expected(script)
    if len(theirs) != len(ours):
        return False
    rows = [sorted(json.dumps([(k.lower(), 'id' if k in IDS else as_text(v)) for k, v in row]) for row in answer) for answer in (theirs, ours)]
    return rows[0] == rows[1]


def of_case(job):
    label, path, script = job
    try:
        theirs = recorded(path, script)
        result = json.loads(tracekit('sql', '-q', '--json', path, '--script', script))['results'][-1]
        ours = [list(zip(result['columns'], row)) for row in result['rows']]
        if is_as_expected(script, ours):
            return label, {'case': ''}, ()
        if theirs is None:
            return label, None, ()
        return label, {'case': difference([[tuple(pair) for pair in row] for row in theirs], ours, None, True)}, ()
    except (Refused, OSError, ValueError, KeyError, subprocess.TimeoutExpired) as e:
        return label, {'case': repr(e)[:300]}, ()


def cases(corpus):
    root = os.path.join(corpus, 'perfetto_cases')
    for path in sources.walk(root):
        stem, ending = os.path.splitext(os.path.join(root, path))
        for input_ending in ('.json', '.pftrace', '.zip', '.tar') if ending == '.sql' else ():
            if os.path.exists(stem + input_ending):
                yield f'perfetto_cases/{path}', stem + input_ending, stem + '.sql'
                break


def judge_all(results, asked, jobs):
    """Returns how many answers were compared with the engine's rows, and how many traces the engine cannot read."""
    held = unread = 0
    with ThreadPoolExecutor(THREADS) as pool:
        for label, found, stats in pool.map(asked, jobs):
            unread += found is None
            held += found is not None
            if found is not None:
                results.judge(label, found, '', stats)
    return held, unread


def main():
    corpus = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else ''
    engines = Engines({**{name: statement for name, (statement, _) in USERS.items()}, **ERRORS})
    with open(os.path.join(os.environ['INTEROP'], 'sql.txt'), 'w', encoding='utf-8') as report:
        results = Results(report, 'sql_exceptions.tsv')
        held, unread = judge_all(results, of_users, [(label, path, engines) for label, path in traces(corpus) if sound(path)])
        results.say(f'{len(USERS)} statements on {held} traces; the engine does not read {unread} more')
        if corpus and os.path.isdir(os.path.join(corpus, 'perfetto_cases')):
            held, unread = judge_all(results, of_case, list(cases(corpus)))
            results.say(f'{held} cases; neither the engine nor tracekit answers {unread} more as the tests expect')
        else:
            results.say('SKIPPED: cases: there is no CORPUS/perfetto_cases')
        engines.close()
        return results.close()


sys.exit(main())
