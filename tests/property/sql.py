#!/usr/bin/env python3
"""Checks the results of `sql`.

  pushed     conditions, orders and groupings that the tables evaluate themselves give the rows that SQLite would select
  in order   groups come in the requested order, whatever the tables have already sorted
  copied     the database written by --db has the rows of the tables
  ways       the same statements through -e, a file or standard input, on every format and on several inputs, give the same rows
  figures    sums of slices equal those of `top`; parents, children, ancestors and descendants are consistent
  patterns   LIKE and GLOB equal SQLite's own, which Python provides
  linear     joins on ids, parents, tracks, arg sets or ranges of times take linear time on deep, wide and flat traces
  ranges     100000 intervals and the events in each of them, of a million, take little more than a scan
  side by side  statements that run in parallel threads give the results of one thread: in order, with the error of the first
             failure, and with tables created by earlier statements visible
  left out   a query that needs no flows or args gives the same result as after loading everything
  safe       an interrupt, a limit or a closed pipe ends an endless query; nothing is written"""
import itertools
import json
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from schema import conforms  # noqa: E402
from verdict import check, finish, judge  # noqa: E402

TRACEKIT, FIXTURES, SRC = os.environ['TRACEKIT'], os.environ['FIXTURES'], os.environ['SRC']
LONG = bool(os.environ.get('LONG'))
TRACES = ['json/viz/viz_small.json', 'json/torch/ddp2_plain/rank0.json.gz', 'json/odd/mixed.json', 'json/odd/cut.json',
          'json/odd/counters.json',
          'perfetto/small.pftrace.gz', 'xplane/mlp_train/vm.xplane.pb', 'xplane/synth/types.xplane.pb']
with open(f'{SRC}/schemas/sql.schema.json', encoding='utf-8') as f:
    SCHEMA = json.load(f)


def run(args, text=None, fine=(0,)):
    p = subprocess.run([TRACEKIT, 'sql', '-q', *args], input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding='utf-8',
                       errors='replace', timeout=300, stdin=None if text is not None else subprocess.DEVNULL)
    if p.returncode not in fine:
        raise RuntimeError(f'{args}: status {p.returncode}: {p.stderr[:300]}')
    return p.stdout


def ask(trace, *statements):
    """Returns the rows of each statement."""
    report = json.loads(run([*trace.split('|'), '--json', *(word for s in statements for word in ('-e', s))]))
    fault = conforms(SCHEMA, report)
    if fault:
        raise RuntimeError(f'schema: {fault}')
    return [[tuple(row) for row in result['rows']] for result in report['results']]


def fixture(name):
    return os.path.join(FIXTURES, name)


# ---- pushed ----

# {0} becomes "" or "+"; "+" makes the column an expression, which SQLite does not push down to the table.
CONDITIONS = ['{0}id = 7', '{0}id IN (1, 3, 5, 999999)', '{0}id = 3.0', '{0}id = 3.5', '{0}id = NULL', '{0}id IS NULL',
              '{0}parent_id = 3', '{0}parent_id = 1', '{0}parent_id IS NULL', '{0}parent_id IN (2, 4, 6)',
              '{0}track_id = 2', '{0}track_id = 0', '{0}track_id = 1', '{0}track_id = 9999',
              '{0}dur > 1000', '{0}dur >= 1000', '{0}dur < 1000', '{0}dur <= 1000', '{0}dur = 0', '{0}dur = -1', '{0}dur < 0',
              '{0}dur > 1e3', '{0}dur > 999.5 AND {0}dur < 100000.25', "{0}dur > 'x'", '{0}dur > NULL',
              '{0}dur > 9223372036854775807', '{0}dur >= -9223372036854775808', '{0}dur < 1e300', '{0}dur BETWEEN 100 AND 5000',
              '{0}depth = 0', '{0}depth <= 1', '{0}depth > 1', '{0}depth BETWEEN 1 AND 2', '{0}depth < 0',
              '{0}ts > (SELECT min(ts) FROM slice)', '{0}ts < (SELECT avg(ts) FROM slice)', '{0}ts >= (SELECT max(ts) FROM slice)',
              '{0}ts BETWEEN (SELECT min(ts) + 1000 FROM slice) AND (SELECT max(ts) - 1000 FROM slice)',
              '{0}ts = (SELECT ts FROM slice WHERE id = 4)',
              "{0}name = 'whole'", "{0}name LIKE '%a%'", "{0}name LIKE 'A%'", "{0}name NOT LIKE '%a%'", "{0}name GLOB '*a*'",
              "{0}name LIKE '%o%' OR {0}name LIKE '%e'", "{0}name LIKE '%a%' AND {0}name GLOB '*e*'", "{0}name IN ('whole', 'pair', 'x')",
              '{0}name IS NOT NULL', '{0}name IS NULL', '{0}name IS NOT NULL AND {0}id IS NOT NULL AND {0}ts IS NOT NULL AND {0}track_id IS NOT NULL',
              "{0}name LIKE '%a%' OR {0}name IS NOT NULL", "{0}name IS NOT NULL AND ({0}name LIKE '%a%' OR {0}name LIKE '%o%' OR {0}depth = 1)", '{0}name = NULL', '{0}name LIKE NULL', "{0}name = x'61'", '{0}name = 5',
              "{0}name LIKE '%a%' AND {0}dur > 1000 AND {0}depth < 3", "{0}track_id = 2 AND {0}dur > 10 AND {0}name LIKE '%e%'",
              '{0}depth = 0 AND {0}ts > 5 ORDER BY ts, id', '{0}track_id = 2 ORDER BY ts, id', '1 ORDER BY {0}id']
GROUPS = ['SELECT name, count(*), sum(dur), min(ts) FROM slice GROUP BY {0}name',
          "SELECT name, count(*), sum(dur) FROM slice WHERE {0}name LIKE '%a%' GROUP BY {0}name",
          'SELECT name, track_id, count(*), max(dur) FROM slice GROUP BY {0}name, {0}track_id',
          'SELECT track_id, name, count(*) FROM slice GROUP BY {0}track_id, {0}name',
          'SELECT track_id, count(*), sum(dur) FROM slice GROUP BY {0}track_id',
          "SELECT track_id, count(*) FROM slice WHERE {0}name LIKE '%e%' GROUP BY {0}track_id",
          'SELECT DISTINCT {0}name FROM slice', 'SELECT DISTINCT {0}name, depth FROM slice', 'SELECT count(DISTINCT {0}name) FROM slice',
          'SELECT DISTINCT {0}track_id FROM slice WHERE dur > 100', 'SELECT name FROM slice GROUP BY {0}name HAVING count(*) > 2',
          'SELECT thread_name, name, count(*) FROM thread_slice GROUP BY {0}name, thread_name',
          'SELECT name, count(*) FROM event GROUP BY {0}name', 'SELECT kind, count(*) FROM event GROUP BY 1',
          'SELECT c.name, p.name, count(*) FROM slice c JOIN slice p ON c.parent_id = {0}p.id WHERE c.id < 400 AND p.id < 400 GROUP BY 1, 2',
          'SELECT t.utid, count(*) FROM thread_track t JOIN slice s ON s.track_id = {0}t.id WHERE s.id < 2000 GROUP BY 1',
          'SELECT a.id, b.id FROM slice a LEFT JOIN slice b ON b.id = {0}a.id * 3 WHERE {0}b.name IS NOT NULL AND a.id < 900',
          "SELECT a.id, b.name FROM slice a LEFT JOIN slice b ON b.id = {0}a.id * 3 AND {0}b.name IS NOT NULL WHERE a.id < 900",
          'SELECT p.pid, count(*) FROM thread t JOIN process p ON t.upid = {0}p.upid GROUP BY 1',
          'SELECT count(*), sum(value) FROM counter c JOIN counter_track t ON c.track_id = {0}t.id',
          'SELECT count(*) FROM flow f JOIN slice s ON s.id = {0}f.slice_out WHERE s.id < 500',
          'SELECT a.key, count(*) FROM slice s JOIN args a ON s.arg_set_id = {0}a.arg_set_id WHERE s.id < 60 AND a.arg_set_id < 60 GROUP BY 1',
          "SELECT count(*), count(int_value) FROM args WHERE {0}key = 'args.k' OR {0}flat_key = 'args.a'",
          *(f'SELECT f.id, count(e.id), sum(e.dur), min(e.ts), max(e.name) FROM slice f LEFT JOIN {table} e ON {on} WHERE f.id % 7 = 0 AND f.id < 3000 GROUP BY 1'
            for table in ('event', 'slice', 'thread_slice', 'process_slice')
            for on in ('{0}e.ts BETWEEN f.ts AND f.ts + f.dur', '{0}e.ts > f.ts AND {0}e.ts < f.ts + 1e5', '{0}e.ts >= f.ts - 0.5 AND e.ts < f.ts + 1',
                       '{0}e.ts = f.ts', "{0}e.ts BETWEEN f.ts AND f.ts + 1000000 AND {0}e.name LIKE '%a%' AND e.dur > 10",
                       '{0}e.ts BETWEEN f.ts - 50000 AND f.ts AND {0}e.name = f.name', '{0}e.ts BETWEEN f.ts AND f.ts + f.dur AND {0}e.track_id = f.track_id')),
          'SELECT f.id, (SELECT e.id FROM event e WHERE {0}e.ts <= f.ts ORDER BY e.ts DESC, e.id DESC LIMIT 1) FROM slice f WHERE f.id < 500',
          'SELECT f.id, (SELECT e.id FROM event e WHERE {0}e.ts > f.ts ORDER BY e.ts, e.id LIMIT 1) FROM slice f WHERE f.id < 500',
          'SELECT f.id, (SELECT c.ts FROM counter c WHERE {0}c.ts <= f.ts ORDER BY c.ts DESC LIMIT 1) FROM slice f WHERE f.id < 500',
          'SELECT f.id, (SELECT count(*) FROM counter c WHERE {0}c.ts BETWEEN f.ts AND f.ts + 1000000) FROM slice f WHERE f.id < 500',
          'SELECT t.id, (SELECT max(c.ts) FROM counter c WHERE {0}c.track_id = t.id AND {0}c.ts <= (SELECT avg(ts) FROM counter)) FROM counter_track t',
          'SELECT id, (SELECT number FROM step p WHERE {0}p.ts <= s.ts ORDER BY p.ts DESC LIMIT 1) FROM slice s WHERE s.id < 200',
          'SELECT count(*), sum(v.value) FROM counters v WHERE {0}v.ts > 5 AND {0}v.ts < 9e300']
ORDERED = ['SELECT id, ts FROM slice ORDER BY ts{1}, id{1}', "SELECT id, ts FROM event WHERE ts > (SELECT min(ts) FROM slice) ORDER BY ts{1}, id{1}",
           'SELECT id FROM event ORDER BY ts{1}, id{1} LIMIT 9', "SELECT id FROM thread_slice WHERE name LIKE '%e%' ORDER BY ts{1}, id{1}",
           'SELECT track_id, ts, id FROM event ORDER BY track_id{1}, ts{1}', 'SELECT ts FROM counter ORDER BY ts{1}', 'SELECT ts FROM slice ORDER BY ts{1}',
           'SELECT id, lag(ts) OVER (PARTITION BY track_id ORDER BY ts{1}, id{1}) FROM slice ORDER BY id{1}', 'SELECT ts FROM step ORDER BY ts{1}']


def pushed(name):
    templates = [f'SELECT id, ts, dur, name, depth FROM slice WHERE {condition}' for condition in CONDITIONS]
    templates += [f'SELECT id, ts, name FROM {table} WHERE {condition}' for table in ('thread_slice', 'process_slice', 'event')
                  for condition in ('{0}dur > 1000', "{0}name LIKE '%a%'", '{0}ts > 2000', '{0}id = 3', '{0}track_id = 2')]
    templates += GROUPS
    answers = ask(fixture(name), *(template.format(plus) for plus in ('', '+') for template in templates))
    for template, plain, defeated in zip(templates, answers, answers[len(templates):]):
        same = sorted(plain, key=str) == sorted(defeated, key=str)
        judge(f'{name}: {template}', '' if same else f'{len(plain)} rows, {len(defeated)} without')
    ordered = [template.replace('{1}', way) for way in ('', ' DESC') for template in ORDERED]
    defeated = [query.replace('BY ts', 'BY +ts').replace('BY track_id', 'BY +track_id') for query in ordered]
    for query, plain, sorted_rows in zip(ordered, *(ask(fixture(name), *queries) for queries in (ordered, defeated))):
        columns = 2 if 'track_id, ts, id' in query else None
        judge(f'{name}: {query}', '' if [r[:columns] for r in plain] == [r[:columns] for r in sorted_rows] else 'another order')
    texts = ask(fixture(name), "SELECT count(*) FROM slice WHERE dur > '1000'", 'SELECT count(*) FROM slice WHERE dur > 1000',
                "SELECT count(*) FROM slice WHERE id = '3'", 'SELECT count(*) FROM slice WHERE id = 3')
    check(f'{name}: numbers as text', texts[0] == texts[1] and texts[2] == texts[3], texts)


# ---- ways ----

EIGHT = '''SELECT name, COUNT(*) as launches, SUM(dur)/1e6 as total_ms, AVG(dur)/1e6 as avg_ms FROM slices WHERE name IS NOT NULL GROUP BY name ORDER BY total_ms DESC, name LIMIT 50;
SELECT ts/1e9 as start_sec, dur/1e9 as dur_sec, name FROM slices WHERE dur > 100000 AND depth <= 2 ORDER BY ts, id LIMIT 50;
SELECT name, COUNT(*) as launches, AVG(dur)/1e3 as avg_us FROM slices WHERE dur < 100000 GROUP BY name HAVING launches > 10 ORDER BY launches DESC, name LIMIT 30;
SELECT name, COUNT(*) as count, SUM(dur)/1e6 as total_ms FROM slices WHERE name LIKE '%Memcpy%' OR name LIKE '%copy%' OR name LIKE '%Copy%' GROUP BY name ORDER BY total_ms DESC LIMIT 20;
SELECT name, COUNT(*) as count, SUM(dur)/1e6 as total_ms, AVG(dur)/1e3 as avg_us FROM slices WHERE name LIKE '%fmha%' OR name LIKE '%attention%' OR name LIKE '%sdpa%' GROUP BY name ORDER BY total_ms DESC;
SELECT name, COUNT(*) as launches, MIN(dur)/1e3 as min_us, MAX(dur)/1e3 as max_us FROM slices WHERE name LIKE '%kernel%' OR name LIKE '%Launch%' GROUP BY name ORDER BY launches DESC, name LIMIT 50;
SELECT (ts - (SELECT MIN(ts) FROM slices))/1e9 as elapsed_sec, name, CASE WHEN name LIKE '%fmha%' THEN 'ATTENTION' ELSE 'OTHER' END as category FROM slices WHERE depth = 0 AND dur > 10000 ORDER BY ts, id LIMIT 100;
SELECT CASE WHEN name LIKE '%HtoD%' THEN 'Host->Device' ELSE name END as direction, COUNT(*) as count, SUM(dur)/1e6 as total_ms FROM slices WHERE name LIKE '%Memcpy%' GROUP BY direction ORDER BY total_ms DESC;
'''


def in_order(work, name):
    """Checks that groups come in the requested order, in all directions, against the copy, whose rows SQLite sorts. SQLite
    assumes that rows of a GROUP BY are already in the order of an ORDER BY of the same columns."""
    path = os.path.join(work, 'order.sqlite')
    run([fixture(name), '--force', '--db', path])
    copy = sqlite3.connect(path)
    queries = [f'SELECT {columns}, count(*) AS n, sum(dur) AS d FROM {table} WHERE {where} GROUP BY {columns} ORDER BY {order}'
               for table, where in (('slice', 'name IS NOT NULL'), ('event', '1'), ('slice', "name LIKE '%a%' AND dur > 5"),
                                    ('thread_slice', '1'), ('process_slice', 'dur < 1000'))
               for columns in ('name', 'track_id', 'name, track_id', 'track_id, name') for order in orders(columns.split(', '))]
    for query, ours in zip(queries, ask(fixture(name), *queries)):
        theirs = copy.execute(query).fetchall()
        odd = [f'row {i}: {o}, SQLite {t}' for i, (o, t) in enumerate(itertools.zip_longest(ours, theirs)) if o != t]
        judge(f'{name}: {query}', odd[0] if odd else '')
    copy.close()


def orders(columns):
    """Returns ORDER BY clauses: the columns in all directions, alone and after an aggregate."""
    ways = [', '.join(map(' '.join, zip(columns, way))) for way in itertools.product(('ASC', 'DESC'), repeat=len(columns))]
    return [*ways, *(f'n DESC, {way}' for way in ways), *(f'd, {way}' for way in ways)]


def ways(trace, script):
    operand = run([*trace.split('|'), '--csv', '-e', EIGHT])
    check(f'{trace}: a file', run([*trace.split('|'), '--csv', '--script', script]) == operand)
    check(f'{trace}: standard input', run([*trace.split('|'), '--csv'], EIGHT) == operand)
    check(f'{trace}: eight answers', operand.count('launches') == 3 and operand.count('elapsed_sec') == 1, operand[:300])


def of_each_format(work, name):
    """Checks that data which all formats can represent is the same in all of them."""
    question = "SELECT name, count(*), sum(dur), max(dur) FROM slice GROUP BY name"
    same = ask(fixture(name), question)
    for ending in ('pftrace', 'xplane.pb', 'json.gz'):
        out = os.path.join(work, f'of.{ending}')
        subprocess.run([TRACEKIT, 'convert', '-q', '--force', fixture(name), '-o', out], check=True, stdin=subprocess.DEVNULL)
        near = {row[0]: row[1:] for row in ask(out, question)[0]}
        far = [row for row in same[0] if row[0] not in near or row[1] != near[row[0]][0] or abs(row[2] - near[row[0]][1]) > row[1]]
        judge(f'{name} as {ending}', f'{far[:2]}' if far else '')


def plain(row):
    """Normalises numbers: JSON does not distinguish 1.0 from 1."""
    return str([int(v) if isinstance(v, float) and v == v // 1 else v for v in row])


def copied(work, name):
    """Checks that --db writes the same rows, completely or not at all, and replaces a file only with --force."""
    path = os.path.join(work, 'copy.sqlite')
    run([fixture(name), '--force', '--db', path])
    db = sqlite3.connect(path)
    for table in ('slice', 'thread_slice', 'process_slice', 'event', 'thread', 'process', 'track', 'counter', 'args', 'flow', 'step', 'instant'):
        rows = db.execute(f'SELECT * FROM {table}').fetchall()
        ours = ask(fixture(name), f'SELECT {", ".join(c[1] for c in db.execute(f"PRAGMA table_info({table})"))} FROM {table}')[0]
        check(f'{name}: {table} of the copy', sorted(map(plain, rows)) == sorted(map(plain, ours)), f'{len(rows)} rows, here {len(ours)}')
    db.close()
    before = os.path.getmtime(path)
    run([fixture(name), '--db', path], fine=(4,))
    check(f'{name}: the copy is not replaced', os.path.getmtime(path) == before and os.listdir(work).count('copy.sqlite') == 1)


# ---- figures ----

def figures(name):
    report = json.loads(subprocess.run([TRACEKIT, 'top', '-q', '--json', fixture(name)], stdout=subprocess.PIPE, check=True,
                                       stdin=subprocess.DEVNULL).stdout)
    rows = {row[0]: row[1:] for row in ask(fixture(name), "SELECT name, count(*), sum(max(dur, 0)), sum(self_dur) FROM event "
                                           "WHERE type <> 'counter' GROUP BY name")[0]}
    for row in report['rows']:
        n, total, own = rows.get(row['name'] or '[No name]', rows.get(row['name'], (0, 0, 0)))
        own = 0 if row['is_mark'] else own or 0  # marks of a profiler have no self time in top
        near = n == row['count'] and abs(total - row['total_ns']) <= n and abs(own - row['self_ns']) <= n
        judge(f'{name}: {row["name"]}', '' if near else f'{(n, total, own)}, top says {row["count"], row["total_ns"], row["self_ns"]}')
    laws = [  # each counts its violations
        'SELECT count(*) FROM slice c JOIN slice p ON c.parent_id = p.id WHERE p.depth <> c.depth - 1 OR p.track_id <> c.track_id OR p.ts > c.ts',
        'SELECT count(*) FROM slice WHERE (parent_id IS NULL) <> (depth = 0) AND dur >= 0',
        'SELECT count(*) FROM slice s WHERE s.id < 200 AND (SELECT count(*) FROM ancestor_slice(s.id)) <> s.depth',
        'SELECT count(*) FROM slice s JOIN ancestor_slice(s.id) a WHERE s.id < 200 AND NOT slice_is_ancestor(a.id, s.id)',
        'SELECT count(*) FROM slice s JOIN descendant_slice(s.id) d WHERE s.id < 200 AND NOT slice_is_ancestor(s.id, d.id)',
        'SELECT count(*) FROM slice s WHERE s.id < 100 AND (SELECT count(*) FROM descendant_slice(s.id)) <> '
        '(SELECT count(*) FROM slice d WHERE slice_is_ancestor(s.id, d.id))',
        'SELECT count(*) FROM slice s WHERE NOT EXISTS (SELECT 1 FROM track t WHERE t.id = s.track_id)',
        'SELECT count(*) FROM counter c WHERE NOT EXISTS (SELECT 1 FROM counter_track t WHERE t.id = c.track_id)',
        'SELECT count(*) FROM thread t WHERE NOT EXISTS (SELECT 1 FROM process p WHERE p.upid = t.upid)',
        'SELECT abs((SELECT count(*) FROM thread_or_process_slice) - (SELECT count(*) FROM thread_slice) - (SELECT count(*) FROM process_slice))',
        'SELECT count(*) FROM slice WHERE id < 300 AND arg_set_id IS NOT NULL AND '
        '(SELECT count(*) FROM args a WHERE a.arg_set_id = slice.arg_set_id) = 0 AND 0',
        "SELECT count(*) FROM slice s JOIN args a USING (arg_set_id) WHERE s.id < 300 AND a.value_type = 'int' "
        'AND extract_arg(s.arg_set_id, a.key) IS NOT a.int_value',
        "SELECT count(*) FROM slice s JOIN args a USING (arg_set_id) WHERE s.id < 300 AND a.value_type = 'string' "
        'AND extract_arg(s.arg_set_id, a.key) IS NOT a.string_value']
    for law, answer in zip(laws, ask(fixture(name), *laws)):
        judge(f'{name}: {law}', '' if answer == [(0,)] else f'{answer}')


def reached(start, flows, parents, children, kind):
    """Returns the flows reachable from a slice, found one by one."""
    found, seen, queue = [], {start}, [(start, 'any')]
    while queue:
        at, way = queue.pop(0)
        onward = [(flow, into, 'on') for flow, out, into in flows if out == at] if kind != 'preceding_flow' and way != 'back' else []
        back = [(flow, out, 'back') for flow, out, into in flows if into == at] if kind != 'following_flow' and way != 'on' else []
        around = []
        if kind == 'preceding_flow':
            up = parents.get(at)
            while up:
                around.append(up)
                up = parents.get(up)
        if kind == 'following_flow':
            below = list(children.get(at, ()))
            for one in below:
                below += children.get(one, ())
            around = below
        found += [flow for flow, _, _ in back + onward]
        for other, w in [(other, w) for _, other, w in back + onward] + [(other, 'any') for other in around]:
            if other not in seen:
                seen.add(other)
                queue.append((other, w))
    return sorted(found)


def connected(name):
    flows, slices = ask(fixture(name), 'SELECT id, slice_out, slice_in FROM flow', 'SELECT id, parent_id FROM slice')
    if not flows:
        return
    parents, children = dict(slices), {}
    for one, above in slices:
        children.setdefault(above, []).append(one)
    starts = random.Random(3).sample(sorted({s for row in flows for s in row[1:]}), min(20, len(flows)))
    starts += [parents[s] for s in starts if parents[s]]
    kinds = [(kind, s) for kind in ('directly_connected_flow', 'preceding_flow', 'following_flow') for s in starts]
    answers = ask(fixture(name), *(f'SELECT id FROM {kind}({s})' for kind, s in kinds))
    for (kind, s), answer in zip(kinds, answers):
        want = reached(s, flows, parents, children, kind)
        judge(f'{name}: {kind}({s})', '' if sorted(x for x, in answer) == want else f'{len(answer)} flows, {len(want)} are reached')


# ---- patterns ----

def patterns():
    draw = random.Random(7)
    db = sqlite3.connect(':memory:')
    cases = []
    for _ in range(20000 if LONG else 3000):
        text = ''.join(draw.choice('aAbB%_*?[]^-\u00e9\u20ac') for _ in range(draw.randrange(7)))
        pattern = ''.join(draw.choice('aAbB%%__**??[]^-\u00e9\u20ac') for _ in range(draw.randrange(7)))
        cases.append((draw.choice(('LIKE', 'GLOB')), text, pattern))
    asked = [f"('{text}' {op} '{pattern}')" for op, text, pattern in cases]
    for i in range(0, len(asked), 500):
        statement = 'SELECT ' + ' UNION ALL SELECT '.join(asked[i:i + 400])
        theirs = [row[0] for row in db.execute(statement)]
        ours = [row[0] for row in ask(fixture('json/odd/mixed.json'), statement)[0]]
        wrong = [case for case, a, b in zip(cases[i:], theirs, ours) if a != b]
        judge(f'patterns {i}', f'{wrong[:3]}' if wrong else '')
    texts = [draw.choice(('', 'void ', 'x' * 480)) + ''.join(draw.choice('ab') for _ in range(draw.choice((3, 3, 4, 16)))) for _ in range(500)]
    values = ','.join(f"('{text}')" for text in texts)
    for pattern in ('%ab%', 'v%', '%aab', '%x_b%'):
        answers = [f"x LIKE '{pattern}'", f"x || '' LIKE '{pattern}'", f"substr(x, -3) LIKE '{pattern}'", "x LIKE substr(x, 1, 2) || '%'",
                   f"x NOT LIKE '{pattern}'", f"x GLOB '{pattern.replace('%', '*').replace('_', '?')}'", f"rowid LIKE '{pattern}'",
                   f"nullif(x, 'aab') LIKE '{pattern}'", 'x LIKE NULL', f"length(x) LIKE '1{pattern}'"]
        for order in ('rowid', 'x', 'length(x), rowid'):
            statement = f'WITH t(rowid, x) AS (SELECT row_number() OVER (), column1 FROM (VALUES {values})) SELECT {", ".join(answers)} FROM t ORDER BY {order}'
            theirs, ours = db.execute(statement).fetchall(), ask(fixture('json/odd/mixed.json'), statement)[0]
            judge(f'texts that come again: {pattern} by {order}', '' if theirs == ours else f'{[p for p in zip(theirs, ours) if p[0] != p[1]][:2]}')
    escaped = ask(fixture('json/odd/mixed.json'), r"SELECT 'a%b' LIKE 'a\%b' ESCAPE '\', 'axb' LIKE 'a\%b' ESCAPE '\', 'abc' REGEXP 'b.$'")
    check('ESCAPE and REGEXP', escaped == [[(1, 0, 1)]], escaped)


# ---- linear ----

def cpu(args):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([TRACEKIT, 'sql', '-q', '--csv', *args], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=200)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def crafted(kind, n):
    """Returns n events: flat on one thread, each nested in the previous one, each on its own thread, or all below one."""
    span = '{{"ph":"X","pid":1,"tid":{},"name":"n{}","ts":{},"dur":{},"args":{{"k":{}}}}}'.format
    if kind == 'flat':
        return [span(1, i % 50, 2 * i, 1, i) for i in range(n)]
    if kind == 'deep':
        return [span(i // 500, i % 50, 1000 * (i // 500) + i % 500, 998 - 2 * (i % 500), i) if i % 500 < 499 else span(i // 500, 1, i, 0, i)
                for i in range(n)]
    if kind == 'tracks':
        return [span(i // 4 + 1, i % 50, i, 1, i) for i in range(n)]
    if kind == 'names':
        return [span(1, i, 2 * i, 1, i) for i in range(n)]
    return [span(1, 0, 0, 3 * n, 0), *(span(1, i % 50, 2 * i + 1, 1, i) for i in range(1, n))]


JOINS = ['SELECT count(*), sum(p.dur) FROM slice c JOIN slice p ON c.parent_id = p.id',
         'SELECT count(*), sum(c.dur) FROM slice p JOIN slice c ON c.parent_id = p.id',
         'SELECT t.name, count(*) FROM slice s JOIN thread_track tt ON s.track_id = tt.id JOIN thread t USING (utid) GROUP BY t.utid',
         'SELECT count(*) FROM thread t JOIN thread_track tt USING (utid) JOIN slice s ON s.track_id = tt.id',
         'SELECT count(*) FROM thread t JOIN process p USING (upid)',
         "SELECT sum(a.int_value) FROM slice s JOIN args a USING (arg_set_id) WHERE a.key = 'args.k'",
         "SELECT sum(extract_arg(arg_set_id, 'args.k')) FROM slice",
         'SELECT name, count(*), sum(dur) FROM slice GROUP BY name ORDER BY 3 DESC LIMIT 5',
         'SELECT a.id, b.id FROM slice a JOIN slice b ON b.id = a.id + 1 LIMIT 5',
         'SELECT count(*), sum(e.dur) FROM slice f JOIN event e ON e.ts BETWEEN f.ts - 1 AND f.ts + 1',
         'SELECT count(*), sum((SELECT e.dur FROM event e WHERE e.ts <= f.ts ORDER BY e.ts DESC LIMIT 1)) FROM slice f',
         'SELECT count(*), sum(later) FROM (SELECT lead(ts) OVER (PARTITION BY track_id ORDER BY ts) - ts AS later FROM slice)',
         'CREATE VIEW a AS SELECT ts, dur, track_id, id FROM slice; CREATE VIEW b AS SELECT ts, 5 AS dur, track_id FROM slice; CREATE VIRTUAL TABLE j USING span_join(a PARTITIONED track_id, b PARTITIONED track_id); SELECT count(*) FROM j']


def linear(work):
    n = 60000 if LONG else 8000
    for kind in ('flat', 'deep', 'tracks', 'names', 'wide'):
        times = []
        for size in (n, 4 * n):
            path = os.path.join(work, f'{kind}{size}.json')
            with open(path, 'w', encoding='ascii') as out:
                out.write('{"traceEvents":[' + ',\n'.join(crafted(kind, size)) + ']}')
            base = cpu([path, '-e', 'SELECT 1'])
            times.append([max(cpu([path, '-e', join, '--timeout', '60s']) - base, 0) for join in JOINS])
        for join, small, large in zip(JOINS, *times):
            judge(f'{kind}: {join}', f'{small:.2f} s, {large:.2f} s of four times as many' if large > 8 * small + 0.3 else '')


def ranges(work):
    """Joins intervals with a million events on 16 tracks and a million samples of a counter."""
    n, path = 1000000 if LONG else 250000, os.path.join(work, 'ranges.json')
    with open(path, 'w', encoding='ascii') as out:
        out.write('{"traceEvents":[' + ',\n'.join(f'{{"ph":"X","pid":1,"tid":{i % 16},"name":"n{i % 900}","ts":{i},"dur":3}}' for i in range(n)))
        out.write(''.join(f',\n{{"ph":"C","pid":1,"name":"c","ts":{i},"args":{{"v":{i}}}}}' for i in range(0, n, 2)) + ']}')
    join = 'SELECT count(*), sum(e.ts - f.a) FROM f JOIN event e ON e.ts BETWEEN f.a AND f.b'
    table = f'CREATE TABLE f AS SELECT 1000 * id * 10 AS a, 1000 * id * 10 + 9999 AS b FROM slice WHERE id <= {n // 10} AND id % 2 = 0'
    plan = run([path, '-e', table, '-e', f'EXPLAIN QUERY PLAN {join}'])
    check('ranges: plan', 'SCAN f' in plan and 'in the order of ts' in plan and plan.index('SCAN f') < plan.index('SCAN e'), plan)
    inside, samples = ask(path, table, join, 'SELECT count(*), sum(v.value = f.a / 1000) FROM f JOIN counter v ON v.ts BETWEEN f.a AND f.a')[-2:]
    check('ranges: rows', inside[0][0] == sum(15 for i in range(2, n // 10 + 1, 2) if 10 * i < n - 9) and inside[0][1] == 65000 * (inside[0][0] // 15)
          and samples[0][0] == samples[0][1] > n // 20 - 10, (inside, samples))
    base, scan, joined = (cpu([path, *(word for s in statements for word in ('-e', s))])
                          for statements in ((table,), (table, 'SELECT sum(ts + dur) FROM event'), (table, join)))
    check('ranges: time', joined - base < 3 * (scan - base) + 0.5, f'{joined - base:.2f} s, a scan takes {scan - base:.2f} s')


# ---- safe ----

ENDLESS = 'WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT max(x) FROM r'


def interrupted(folder):
    p = subprocess.Popen([TRACEKIT, 'sql', fixture('json/viz/viz_small.json'), '-e', ENDLESS], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder)
    time.sleep(1.0)
    p.send_signal(signal.SIGINT)
    start = time.monotonic()
    _, said = p.communicate(timeout=30)
    check('an interrupt', p.returncode == 130 and time.monotonic() - start < 5, f'{p.returncode} {said}')


def safe(work):
    folder = os.path.join(work, 'empty')
    os.mkdir(folder)
    trace = fixture('json/viz/viz_small.json')
    interrupted(folder)
    start = time.monotonic()
    run([trace, '--timeout', '300ms', '-e', ENDLESS], fine=(3,))
    check('--timeout', time.monotonic() - start < 5)
    endless_rows = 'WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT x FROM r'
    check('--max-rows', len(run([trace, '--csv', '--max-rows', '5', '-e', endless_rows]).splitlines()) == 6)
    closed = subprocess.run(f'"{TRACEKIT}" sql "{trace}" --csv --timeout 60s -e "{endless_rows}" | head -n 3', shell=True, stdout=subprocess.PIPE,
                            timeout=60, stdin=subprocess.DEVNULL)
    check('a closed pipe', closed.stdout.split() == [b'x', b'1', b'2'], closed)
    cross = 'SELECT count(*) FROM slice a, slice b, slice c, slice d WHERE a.dur + b.dur + c.dur + d.dur = 17'
    run([trace, '--timeout', '300ms', '-e', cross], fine=(3,))
    for statement in ("ATTACH 'x.db' AS x", "VACUUM INTO 'x.db'", "PRAGMA temp_store_directory = '.'", "SELECT load_extension('x.so')",
                      "SELECT writefile('x', 'y')", "SELECT readfile('/etc/passwd')", "PRAGMA wal_checkpoint", "DETACH main"):
        run([trace, '-e', statement], fine=(2,))
    judge('random words', random_words(trace))
    check('nothing is written', os.listdir(folder) == [], os.listdir(folder))


def random_words(trace):
    """Checks that random statements are refused or answered, and never end the program in any other way."""
    draw = random.Random(11)
    words = ('SELECT FROM WHERE slice args ( ) * , name dur = < LIKE \'%a%\' 1 NULL GROUP BY ORDER LIMIT 3 JOIN ON id parent_id UNION ALL '
             'WITH AS INCLUDE PERFETTO MODULE slices.stack CREATE VIEW x ; -- /* ancestor_slice(1) extract_arg( \x00 \xff').split(' ')
    for _ in range(400 if LONG else 60):
        text = ' '.join(draw.choice(words) for _ in range(draw.randrange(14)))
        p = subprocess.run([TRACEKIT, 'sql', '-q', '--timeout', '2s', trace], input=text.encode('latin1'), stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, timeout=60)
        if p.returncode not in (0, 2, 3):
            return f'{text!r}: status {p.returncode}: {p.stderr[:200]}'
    return ''


# ---- statements in parallel ----

SELECTS = ['SELECT count(*), sum(dur) FROM slice', 'SELECT name, count(*) FROM slice GROUP BY name ORDER BY 2 DESC, 1',
           "SELECT 'ä' || name, x'00ff', NULL, 1.5, -7 FROM slice LIMIT 3", 'VALUES (1), (2)', 'SELECT 1 WHERE 0',
           'WITH a AS (SELECT depth FROM slice) SELECT depth, count(*) FROM a GROUP BY 1', 'SELECT id, ts, dur, name FROM slice']
SCRIPTS = {'queries': SELECTS,
           'many': [f'SELECT {i}, count(*) FROM slice WHERE depth = {i % 5}' for i in range(80)],
           'an error': [*SELECTS[:3], 'SELECT nonsense FROM slice', *SELECTS],
           'an error while it runs': [*SELECTS[:2], "SELECT abs(-9223372036854775808)", *SELECTS],
           'a table between': [*SELECTS[:2], 'CREATE TABLE mine AS SELECT count(*) AS n FROM slice', 'SELECT n FROM mine', *SELECTS[:2]],
           'modules': ['INCLUDE PERFETTO MODULE slices.with_context', *SELECTS[:4]],
           'other words': ['PRAGMA table_info(slice)', 'SELECT 1', 'EXPLAIN SELECT 1', 'SELECT 2', 'SELECT 3']}


def answer(trace, script, *args):
    p = subprocess.run([TRACEKIT, 'sql', '-q', trace, *args], input=script.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return p.returncode, p.stdout, p.stderr


def side_by_side(work):
    trace = f'{work}/large.json'
    with open(trace, 'wb') as out:
        subprocess.run([os.environ['GEN'], 'kineto', '--spans', '60000'], stdout=out, check=True)
    n = ask(trace, 'SELECT count(*) FROM slice')[0][0][0]
    check('side by side: large enough', n > 60000, n)
    for name, statements in SCRIPTS.items():
        script = ';\n'.join(statements)
        for args in ([], ['--jsonl'], ['--json', '--max-rows', '5']):
            one = answer(trace, script, '-j1', *args)
            for threads in (2, 8):
                other = answer(trace, script, f'-j{threads}', *args)
                judge(f'side by side: {name} {" ".join(args)} -j{threads}', '' if other == one else f'{one[0]} {one[2][:200]} / {other[0]} {other[2][:200]}')
    check('side by side: they fail', answer(trace, ';'.join(SCRIPTS['an error']), '-j4')[0] == 2, '')
    closed = subprocess.run(f"'{TRACEKIT}' sql -q -j4 '{trace}' --jsonl -e 'SELECT name FROM slice' -e 'SELECT 2' -e 'SELECT name FROM slice' | head -n 1",
                            shell=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    check('side by side: closed pipe', closed.stdout.count(b'\n') == 1 and not closed.stderr, closed.stderr)
    endless = 'WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT count(*) FROM r'
    p = subprocess.Popen([TRACEKIT, 'sql', '-q', '-j2', trace, '-e', 'SELECT 1', '-e', endless, '-e', endless], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    time.sleep(2)
    p.send_signal(signal.SIGINT)
    said = p.communicate(timeout=30)[1]
    check('side by side: interrupt', p.returncode in (130, -signal.SIGINT), f'{p.returncode} {said[:200]}')
    began = time.monotonic()
    status, _, said = answer(trace, f'SELECT 1; {endless}; {endless}', '-j2', '--timeout', '1s')
    check('side by side: timeout', status == 3 and time.monotonic() - began < 20, said)


# ---- columns and rows that are not loaded ----

PLAIN = ['slice', 'slices', 'slice_with_stack_id', 'thread_slice', 'process_slice', 'thread_or_process_slice', 'instant', 'thread', 'process',
         'track', 'thread_track', 'process_track', 'slice_self_dur']
FUNCTIONS = [f'SELECT s.id, a.id, a.name FROM slice s, {name}(s.id) a WHERE s.id < 200' for name in ('ancestor_slice', 'descendant_slice')]
EVERYTHING = 'SELECT 0 FROM flow, args LIMIT 0'


def left_out(work):
    columns = {table: [name for name, in ask(fixture(TRACES[0]), f"SELECT name FROM pragma_table_info('{table}')")[0] if 'arg_set_id' not in name]
               for table in PLAIN}
    queries = [f'SELECT {", ".join(columns[table])} FROM {table}' for table in PLAIN] + FUNCTIONS
    traces = [os.path.join(folder, name) for folder, _, names in os.walk(FIXTURES) for name in names
              if name.endswith(('.json', '.json.gz', '.pftrace', '.pftrace.gz', '.xplane.pb'))]
    for kind, ending in (('kineto', 'json'), ('perfetto', 'pftrace'), ('xplane', 'xplane.pb')):
        traces.append(f'{work}/some.{ending}')
        with open(traces[-1], 'wb') as out:
            subprocess.run([os.environ['GEN'], kind, '--spans', '9000'], stdout=out, check=True)
    usual = '"a":1,"b":2.5,"s":"x","n":[1,2]'
    odd = [usual.replace('[1,2]', '[1 2]'), usual.replace('[1,2]', '{"k":[1,2}'), usual.replace('"x"', '"\xff"'), usual.replace('"x"', '"\\u00e9\\q"'),
           usual.replace(':1,', ':01,'), usual.replace(':1,', ':1e5,'), usual.replace('2.5', '-'), usual + ',"a":3', usual.replace('"x"', '"x')]
    for i, args in enumerate(odd):
        events = [f'{{"ph":"X","name":"f{k}","pid":1,"tid":1,"ts":{k + 1}0,"dur":5,"args":{{{args if k == 5 else usual}}}}}' for k in range(9)]
        traces.append(f'{work}/odd{i}.json')
        with open(traces[-1], 'w', encoding='latin-1') as out:
            out.write('[' + ',\n'.join(events) + ']')
    n_asked = 0
    instants = queries.index(next(query for query in queries if query.endswith('FROM instant')))  # a view that reads arg sets
    scripts = [';\n'.join(queries[:instants] + queries[instants + 1:]), queries[instants]]
    for trace, script in ((trace, script) for trace in traces for script in scripts):
        bare, whole = answer(trace, script, '--jsonl'), answer(trace, f'{script};\n{EVERYTHING}', '--jsonl')
        judge(f'left out: {trace}: {script[-20:]}', '' if bare == whole else f'{bare[0]} {bare[1][:100]} {bare[2][:200]} / {whole[0]} {whole[1][:100]} {whole[2][:200]}')
        n_asked += bare[0] == 0
    check('left out: enough traces', n_asked > 20, n_asked)


def main():
    with tempfile.TemporaryDirectory() as work:
        script = os.path.join(work, 'eight.sql')
        with open(script, 'w', encoding='utf-8') as out:
            out.write(EIGHT)
        for name in TRACES:
            pushed(name)
            figures(name)
            in_order(work, name)
            connected(name)
            ways(fixture(name), script)
            copied(work, name)
        ranks = '|'.join(fixture(f'json/torch/ddp2_plain/rank{i}.json.gz') for i in range(2))
        ways(ranks, script)
        counts = ask(ranks, 'SELECT rank, count(*) FROM event GROUP BY 1 ORDER BY 1', 'SELECT count(DISTINCT pid) > 1 FROM process')
        check('ranks of a merge', len(counts[0]) == 2 and all(n > 100 for _, n in counts[0]) and counts[1] == [(1,)], counts)
        of_each_format(work, 'json/torch/ddp2_plain/rank0.json.gz')
        patterns()
        linear(work)
        ranges(work)
        side_by_side(work)
        left_out(work)
        safe(work)
    return finish()


sys.exit(main())
