#!/usr/bin/env python3
"""Checks that `sql` returns the same rows about a file as trace_processor: queries over all tables of docs/sql.md, on every trace as
Chrome JSON, Perfetto and XPlane.

The engine does not read XPlane: `sql` on such a file must give the engine's rows on the Chrome JSON that `convert` makes of it.
Ids that the engine generates differ, so the queries identify rows by other columns. Rows are compared as a multiset. A
difference is excused only if tracekit notes it for the trace at hand: a row of oracle_exceptions.tsv has the note (a glob), the query, and
the reason; docs/sql.md lists all of them. Another row excuses a kind of file and a path: "json:path".

    oracle.py [CORPUS]                       fixtures, and traces of a corpus: those of its inventory, or else all its files
    oracle.py --random json=N,perfetto=N,xplane=N,samples=N,perf=N [SEED]   random traces (tests/support/richtrace.py)"""
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from common import HERE, THREADS, Engines, Refused, tracekit

sys.path.insert(0, os.path.join(HERE, '..', 'support'))
import chromejson  # noqa: E402
import richtrace  # noqa: E402
import sources  # noqa: E402
from exceptions import Exceptions  # noqa: E402

MOST = 20_000_000 if os.environ.get('LONG') else 1_000_000
SLICE_OF = 'left join slice p on p.id = s.parent_id left join track k on k.id = s.track_id'
WALK = '''with recursive up(sample, depth, frame, parent) as (
  select s.id, c.depth, c.frame_id, c.parent_id from {0} s join stack_profile_callsite c on c.id = s.callsite_id
  union all select up.sample, c.depth, c.frame_id, c.parent_id from up join stack_profile_callsite c on c.id = up.parent)
  select s.ts, up.depth, f.name, f.rel_pc, m.name as module from up join {0} s on s.id = up.sample join stack_profile_frame f on f.id = up.frame
  join stack_profile_mapping m on m.id = f.mapping'''
ON = 'left join thread t using (utid) left join process p on p.upid = t.upid'
QUERIES = {
    'slice': f'select s.ts, s.dur, s.name, s.category, s.depth, p.name as parent, p.ts as parent_ts from slice s {SLICE_OF}',
    'slice track': f'select s.ts, s.name, k.name as track, k.type as type from slice s {SLICE_OF}',
    'slice thread time': 'select ts, name, thread_ts, thread_dur, thread_instruction_count, thread_instruction_delta from slice',
    'thread_slice': '''include perfetto module slices.with_context; select ts, dur, name, track_name, thread_name, tid, process_name, pid,
                       is_main_thread, depth from thread_slice''',
    'process_slice': '''include perfetto module slices.with_context; select ts, dur, name, track_name, process_name, pid, depth
                        from process_slice''',
    'either_slice': '''include perfetto module slices.with_context; select ts, dur, name, track_name, thread_name, tid, process_name, pid
                       from thread_or_process_slice''',
    'instant': 'select i.ts, i.name, k.name as track, k.type as type from instant i left join track k on k.id = i.track_id',
    'thread': '''select t.tid, t.name, p.pid, p.name as process, t.is_main_thread, t.start_ts, t.end_ts from thread t
                 left join process p using (upid)''',
    'process': 'select pid, name, parent_upid is null as no_parent, uid, cmdline, start_ts, end_ts from process',
    'track': '''select k.name, k.type, p.name as parent, p.type as parent_type, k.source_arg_set_id is null as no_source from track k
                left join track p on p.id = k.parent_id''',
    'thread_track': f'select k.name, k.type, t.tid, p.pid, k.parent_id is null as no_parent from thread_track k {ON}',
    'process_track': 'select k.name, k.type, p.pid, k.parent_id is null as no_parent from process_track k left join process p using (upid)',
    'counter_track': '''select k.name, k.type, k.unit, k.description, p.name as parent, p.type as parent_type from counter_track k
                        left join track p on p.id = k.parent_id''',
    'process_counter_track': 'select k.name, k.type, k.unit, k.description, p.pid from process_counter_track k left join process p using (upid)',
    'thread_counter_track': f'select k.name, k.type, k.unit, k.description, t.tid, p.pid from thread_counter_track k {ON}',
    'counter': 'select c.ts, c.value, k.name, k.type from counter c left join track k on k.id = c.track_id',
    'counters': 'select ts, value, name, unit from counters',
    'args of slices': '''select s.ts, s.name, a.flat_key, a.key, a.int_value, a.string_value, a.real_value, a.value_type, a.display_value
                         from slice s join args a using (arg_set_id)''',
    'args of counters': 'select c.ts, a.key, a.display_value from counter c join args a using (arg_set_id)',
    'args of tracks': '''select k.name, k.type, a.key, iif(a.key in ('utid', 'upid'), 0, a.display_value) as value from track k
                         join args a on a.arg_set_id = k.source_arg_set_id where a.key not in ('trace_id', 'trace_id_is_process_scoped',
                         'parent_track_id', 'track_uuid', 'parent_track_uuid', 'source_id', 'source_scope', 'upid', 'utid', 'is_root_in_scope', 'source')''',
    'args of processes': 'select p.pid, a.key, a.display_value from process p join args a using (arg_set_id)',
    'flow': '''select a.ts as out_ts, a.name as out_name, b.ts as in_ts, b.name as in_name, f.trace_id from flow f join slice a on a.id = f.slice_out
               join slice b on b.id = f.slice_in''',
    'args of flows': 'select a.key, a.display_value from flow f join args a using (arg_set_id)',
    'connected': '''select s.ts, s.name, (select count(*) from directly_connected_flow(s.id)) as direct, (select count(*) from preceding_flow(s.id)) as before,
                    (select count(*) from following_flow(s.id)) as behind from slice s''',
    'relatives': '''select s.ts, s.name, (select count(*) from ancestor_slice(s.id)) as above, (select count(*) from descendant_slice(s.id)) as below
                    from slice s''',
    'extract_arg': '''select ts, name, coalesce(extract_arg(arg_set_id, 'args.k'), extract_arg(arg_set_id, 'debug.k')) as k,
                      coalesce(extract_arg(arg_set_id, 'args.dict.k'), extract_arg(arg_set_id, 'debug.dict.k')) as d from slice''',
    'stacks': 'select count(distinct stack_id) as n, count(distinct parent_stack_id) as above from slice',
    'stack samples': 'select s.ts, s.process_priority, t.tid, t.name from cpu_profile_stack_sample s left join thread t using (utid)',
    'stacks of samples': WALK.format('cpu_profile_stack_sample'),
    'perf samples': 'select s.ts, s.cpu, s.cpu_mode, s.unwind_error, t.tid, t.name from perf_sample s left join thread t using (utid)',
    'stacks of perf samples': WALK.format('perf_sample'),
    'symbols': '''select f.name, y.name as symbol, y.source_file, y.line_number, count(*) as n from stack_profile_frame f
                  left join stack_profile_symbol y using (symbol_set_id) group by 1, 2, 3, 4''',
    'call sites': 'select depth, count(*) as n, count(distinct frame_id) as frames, count(parent_id) as parents from stack_profile_callsite group by 1',
    'modules': 'select name, build_id, exact_offset, start_offset, load_bias, count(*) as n from stack_profile_mapping group by 1, 2, 3, 4, 5',
    'bounds': 'select start_ts, end_ts, trace_dur() as dur from trace_bounds',
    'machine': 'select count(*) as n from machine',
    'self': 'include perfetto module slices.self_dur; select s.ts, s.name, d.self_dur from slice_self_dur d join slice s using (id)',
}


REAL = re.compile(r'-?\d*\.\d*(e[+-]\d+)?')


def value(v):
    """Rounds numbers to the precision that both print: the engine returns integers as doubles, so those beyond 2^53 are rounded. If the
    engine prints 15 digits, the last one may be rounded up or down."""
    if isinstance(v, str) and REAL.fullmatch(v) and sum(c.isdigit() for c in v.partition('e')[0].lstrip('-0.')) == 15:
        return f'{float(v):.13g}'
    if isinstance(v, (int, float)) and abs(v) >= 1 << 53:
        return f'{float(v):.15g}'
    return int(v) if isinstance(v, float) and v == int(v) else f'{v:.9g}' if isinstance(v, float) else v


def counted(rows):
    return collections.Counter(json.dumps([[k, value(v)] for k, v in row], ensure_ascii=False) for row in rows)


def of_engine(rows):
    return counted(sorted(json.loads(row).items()) for row in rows)


def of_tracekit(path):
    """Runs all queries with tracekit. Returns {query: rows as a multiset}, and the notes that tracekit printed."""
    p = subprocess.run([os.environ['TRACEKIT'], 'sql', '--json', path, *(word for q in QUERIES.values() for word in ('-e', q))],
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding='utf-8', errors='replace', timeout=600)
    if p.returncode:
        raise Refused(f'status {p.returncode}: {p.stderr[:300]}')
    results = json.loads(p.stdout)['results']
    notes = [line.partition('note: ')[2] for line in p.stderr.splitlines() if line.startswith('tracekit: note: ')]
    return {name: counted(sorted(zip(r['columns'], row)) for row in r['rows']) for name, r in zip(QUERIES, results)}, notes


# ---- the kinds of file that a trace becomes ----

def kinds_of(path, folder):
    """Yields (kind of file, file for tracekit, file for the engine)."""
    out = {ending: os.path.join(folder, f'x.{ending}') for ending in ('json', 'pftrace', 'xplane.pb')}
    engine_reads = not path.endswith('.pb')
    if engine_reads:
        yield ('perfetto' if 'pftrace' in path else 'json'), path, path
    for ending, file in out.items():
        tracekit('convert', '-q', '--force', path, '-o', file)
    yield 'as json', out['json'], out['json']
    yield 'as perfetto', out['pftrace'], out['pftrace']
    if engine_reads and 'pftrace' in path:
        return  # named tracks become threads with text ids, which no other program numbers alike
    theirs = os.path.join(folder, 'of_xplane.json')
    xplane = out['xplane.pb'] if engine_reads else path
    tracekit('convert', '-q', '--force', '--no-derive', xplane, '-o', theirs)
    yield 'as xplane', xplane, theirs


class Judge:
    def __init__(self, report):
        self.engines = Engines(QUERIES)
        self.exceptions = Exceptions(os.path.join(HERE, 'oracle_exceptions.tsv'))
        self.report, self.traces, self.compared, self.unread = report, 0, 0, 0
        self.bad, self.excused, self.examples = collections.Counter(), collections.Counter(), {}

    def answers(self, path):
        """Returns [(kind, {query: difference}, notes)] of a trace; None instead of differences if the engine does not read it."""
        found = []
        with tempfile.TemporaryDirectory() as folder:
            try:
                for kind, ours, theirs in kinds_of(path, folder):
                    answer = self.engines.mine().ask(theirs)
                    if 'failed' in answer:
                        found.append((kind, None, ()))
                        continue
                    mine, notes = of_tracekit(ours)
                    rows = {}
                    for name in QUERIES:
                        a, b = of_engine(answer[name]), mine[name]
                        if a != b:
                            rows[name] = (list((a - b).elements())[:2], list((b - a).elements())[:2])
                    found.append((kind, rows, notes))
            except (Refused, OSError, ValueError, KeyError, subprocess.TimeoutExpired) as e:
                found.append(('run', {'run': (repr(e)[:300], '')}, ()))
        return found

    def judge(self, label, found):
        self.traces += 1
        for kind, rows, notes in found:
            if rows is None:
                self.unread += 1
                continue
            for name in QUERIES if kind != 'run' else ('run',):
                self.compared += 1
                reasons = [self.exceptions.reason(key, name, name in rows) for key in (f'{kind}:{label}', *notes)]
                reason = next((r for r in reasons if r), None)
                if name in rows:
                    (self.excused if reason else self.bad)[kind, name] += 1
                    self.examples.setdefault((kind, name, bool(reason)), (label, rows[name]))

    def close(self):
        self.engines.close()
        for (kind, name), n in sorted(self.bad.items()):
            label, (theirs, ours) = self.examples[kind, name, False]
            self.say(f'not ok  {kind}: {name}: {n} traces, such as {label}: engine {theirs}, here {ours}'[:1500])
        for (kind, name), n in sorted(self.excused.items()):
            self.say(f'ok      {kind}: {name}: {n} traces differ with a reason')
        failed = sum(self.bad.values())
        self.say(f'{self.traces} traces, each in several formats; {self.unread} files that the engine does not read')
        self.say(f'{self.compared - failed} passed, {failed} failed')
        return failed != 0

    def say(self, line):
        print(line, flush=True)
        print(line, file=self.report, flush=True)


def random_files(spec, seed, folder):
    for word in spec.split(','):
        kind, n = word.split('=')
        maker, ending = richtrace.MAKERS[kind]
        for i in range(int(n)):
            path = os.path.join(folder, f'{kind}{i}.{ending}')
            with open(path, 'wb') as f:
                f.write(maker(random.Random(f'{seed}.{kind}.{i}')).make())
            yield f'random/{kind}', path


def stored_files(corpus):
    fixtures = os.environ['FIXTURES']
    for folder in ('json', 'perfetto', 'xplane', 'truth'):
        root = os.path.join(fixtures, folder)
        yield from ((f'{folder}/{path}', os.path.join(root, path)) for path in sources.walk(root) if os.path.isdir(root))
    for path in (sources.inventory(corpus) or sources.walk(corpus)) if corpus else ():
        yield path, os.path.join(corpus, path)


def sound(path):
    if not os.path.exists(path) or os.path.getsize(path) > MOST:
        return False
    return chromejson.is_trace(path) if sources.is_named_json(path) else path.endswith(('.pftrace', '.pftrace.gz', '.xplane.pb'))


def main():
    args = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder, open(os.path.join(os.environ['INTEROP'], 'oracle.txt'), 'w', encoding='utf-8') as report:
        folder = os.environ.get('KEEP', folder)
        if args[:1] == ['--random']:
            files = random_files(args[1], args[2] if len(args) > 2 else '1', folder)
        else:
            files = ((label, path) for label, path in stored_files(os.path.abspath(args[0]) if args else '') if sound(path))
        judge = Judge(report)
        with ThreadPoolExecutor(THREADS) as pool:
            for label, found in pool.map(lambda f: (f[0] if 'KEEP' not in os.environ else f[1], judge.answers(f[1])), list(files)):
                judge.judge(label, found)
        return judge.close()


sys.exit(main())
