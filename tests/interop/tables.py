#!/usr/bin/env python3
"""Compares Perfetto traces before and after operations by all tables of an engine: tables that tables_exceptions.tsv does not
list must be equal, row for row, apart from the engine's own ids, which are replaced by text about the item that they refer to.

    again     converted from Perfetto to Perfetto: the same rows
    rebase    the same rows, later
    cut       three ranges: the same rows inside of the range
    split     four parts, and the parts in one file again: the same rows inside of each part
    merge     with itself, and with another trace: the rows of each machine are those of its input, also with new names of processes
              (--label), on another trace clock, and after a correction of drift

    tables.py [FOLDER...]    traces of tests/support/system_trace.py, and the Perfetto files in the folders"""
import collections
import fnmatch
import glob
import json
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'support'))
from common import Engines, Refused, tracekit  # noqa: E402
from exceptions import Exceptions  # noqa: E402
import system_trace as system  # noqa: E402
import clock_trace as clocks  # noqa: E402
import torch_pftrace  # noqa: E402
import machines  # noqa: E402
from protobuf import parse  # noqa: E402
from legacy import QUERY, Legacy  # noqa: E402

MOST = 1 << 40 if os.environ.get('LONG') else 4_000_000
ENDINGS = ('.pftrace', '.perfetto-trace')
LABEL = 'rank {rank} - {process}'  # in the form that RANK removes
UNIT = 1_000_000  # all times of a trace can move by this: power rails have milliseconds
BY = 7_000 * UNIT
DAY = 86_400_000 * UNIT
RANK = re.compile(r'rank \d+(, \d+)?( \S+)? - ')  # prefix that a merge adds to names of processes
NO_NAME = re.compile(RANK.pattern + r'pid \d+')  # the label of a process without a name

SCHEMA = {'columns': "select m.name as tab, p.name as col from sqlite_master m join pragma_table_info(m.name) p order by p.cid",
          'views': "select name from sqlite_master where type = 'view' and sql not like '%where%'"}

# Queries that replace an id of the engine with text that does not depend on the engine's numbering. {} is the id.
THREAD = "(select printf('%s/%s/%s', t.tid, t.name, p.pid) from thread t left join process p using (upid) where t.utid = {})"
PROCESS = "(select printf('%s/%s', pid, name) from process where upid = {})"
TRACK = "(select printf('%s/%s', name, type) from track where id = {})"
SLICE = "(select name from slice where id = {})"
FRAME = "(select printf('%s/%s/%s', f.name, f.rel_pc, m.name) from stack_profile_frame f left join stack_profile_mapping m on m.id = f.mapping where f.id = {})"
CALLSITE = "(select printf('%s/%s', c.depth, " + FRAME.format('c.frame_id') + ") from stack_profile_callsite c where c.id = {})"
CPU = "(select cpu from cpu where id = {})"
ARGS = "(select text from arg_texts where arg_set_id = {})"
MEANING = {'clock_id': '{}', 'ucpu': CPU, 'cpu': '{} % 4096',  # the engine numbers the CPUs of further machines from 4096 on
           'callsite_id': CALLSITE, 'frame_id': FRAME, 'mapping':
           "(select printf('%s/%s', name, build_id) from stack_profile_mapping where id = {})"}
REFERS = {'utid': THREAD, 'upid': PROCESS, 'arg_set_id': ARGS, 'track_id': TRACK}  # also with a prefix: waker_utid
IN_TABLE = {('flow', 'slice_out'): SLICE, ('flow', 'slice_in'): SLICE,
            ('slice', 'thread_ts'): "x.thread_ts - case when x.name glob '%[0-9]*' then x.ts else 0 end",  # computed by the engine
            ('stack_profile_callsite', 'parent_id'): CALLSITE}
LEGACY = 'legacy events'  # a query rather than a table
OWN = ('id', 'slice_id', 'stack_id', 'parent_stack_id')  # ids of rows, and hashes of them
# Args that contain internal numbers of the engine, its notes about packets and track numbers, or the phase R, which becomes an instant.
HIDDEN_ARGS = ("key not glob 'debug.json_end_json_*' and key not glob '*utid' and key not glob '*upid' and flat_key not glob 'tracekit*' and key not glob 'legacy_unnestable_*' and not (key = 'legacy_event.phase' and string_value = 'R') "
               "and key not in ('source_id', 'trace_id', 'cookie', 'trace_id_is_process_scoped', 'ucpu', 'packet_ts', 'hw_queue_id', 'perf_session_id', 'track_uuid', 'has_first_packet_on_sequence')")
WITH = ("with arg_texts as materialized (select arg_set_id, group_concat(flat_key || '=' || coalesce(display_value, ''), ';') as text "
        f"from (select * from args where {HIDDEN_ARGS} order by arg_set_id, flat_key, key, display_value) group by 1) ")
TIMES = ('ts', 'ts_end', 'end_ts', 'graph_sample_ts', 'start_ts', 'first_ts', 'last_ts')
# How to find the machine of a row: by the first of these columns that the table has.
MACHINES = {'machine_id': '{}', 'utid': '(select machine_id from thread where utid = {})', 'upid': '(select machine_id from process where upid = {})',
            'track_id': '(select machine_id from track where id = {})', 'ucpu': '(select machine_id from cpu where id = {})',
            'slice_out': '(select k.machine_id from slice s join track k on k.id = s.track_id where s.id = {})'}


def meaning(table, column):
    if (table, column) in IN_TABLE:
        return IN_TABLE[table, column].format(f'x.{column}')
    if column in MEANING:
        return MEANING[column].format(f'x.{column}')
    for name, text in REFERS.items():
        if column == name or column.endswith('_' + name):
            return text.format(f'x.{column}')
    if column == 'parent_id' and 'slice' in table:
        return SLICE.format('x.parent_id')
    if column in OWN or column.endswith(('_id', '_node', 'parent')):
        return None
    return f'x.{column}'


def query(table, columns):
    found = [(c, meaning(table, c)) for c in columns if not excepted(table, c)]
    parts = [f'{text} as {c}' for c, text in found if text]
    of = next((MACHINES[c].format(f'x.{c}') for c in MACHINES if c in columns), None)
    if of:
        parts.append(f"coalesce((select raw_id from machine where id = {of}), 0) as _machine")
    if not parts:
        return None
    uses = any('arg_texts' in p for p in parts)
    kept = [f'not ({row[1]})' for row in LEFT_OUT if row[0] == f'rows:{table}'] + [HIDDEN_ARGS] * (table in ('args', '__intrinsic_args'))
    where = f' where {" and ".join(kept)}' if kept else ''
    return (WITH if uses else '') + f'select {", ".join(parts)} from {table} x{where}'


with open(os.path.join(HERE, 'tables_exceptions.tsv'), encoding='utf-8') as f:
    LEFT_OUT = [line.rstrip('\n').split('\t') for line in f if line.startswith(('table:', 'more:', 'rows:'))]


ADDED_TO = {row[0][5:] for row in LEFT_OUT if row[0].startswith('more:')}


def excepted(table, column=None):
    """True if an exception leaves out the table, or the column of the table: `table:NAME` or `table:NAME.COLUMN`, both globs."""
    what = f'table:{table}.{column}' if column else f'table:{table}'
    return any(('.' in row[0]) == bool(column) and fnmatch.fnmatchcase(what, row[0]) for row in LEFT_OUT)


def queries(path):
    """Returns {table: query} for all tables that the engine lists. The table __intrinsic_NAME is left out if a view shows all of its
    rows and columns."""
    engines = Engines(SCHEMA)
    answer = engines.mine().ask(path)
    engines.close()
    columns = collections.defaultdict(list)
    for row in map(json.loads, answer['columns']):
        columns[row['tab']].append(row['col'])
    views = {json.loads(row)['name'] for row in answer['views']}
    shown = {table for table in columns if table.removeprefix('__intrinsic_') != table and table.removeprefix('__intrinsic_') in views
             and set(columns[table]) <= set(columns[table.removeprefix('__intrinsic_')])}
    made = {table: query(table, cols) for table, cols in sorted(columns.items()) if table not in shown and not excepted(table)}
    return {**{table: text for table, text in made.items() if text}, LEGACY: QUERY}


ENDLESS = 1 << 63  # end of a slice that never ends, whose duration is -1


def without_labels(text):
    """Returns the row without the names that --label gave to unnamed processes."""
    return NO_NAME.sub('', text).replace('"name": ""', '"name": null') if NO_NAME.search(text) else text


SAME_THREAD = re.compile(r'.*next_pid=(\d+);.*prev_pid=\1;')


def without_previous(row):
    """Returns the row of a switch without the thread that ran before."""
    args = [arg for arg in (row['arg_set_id'] or '').split(';') if not arg.startswith('prev_')]
    return {**row, 'arg_set_id': ';'.join(args), 'utid': None}


def repeats_switch(table, row):
    """True for a row from a switch of a thread to itself, which appears if a trace contains the same switch twice."""
    if table == 'ftrace_event':
        return row['name'] == 'sched_switch' and bool(SAME_THREAD.match(row['arg_set_id'] or ''))
    return table in ('sched', 'thread_state') and row['dur'] == 0


class Rows:
    """The rows of a trace by table; each is (machine or None, [start, end) or None, text)."""

    def __init__(self, answer, by=0):
        self.of = {}
        for table, rows in answer.items():
            if table != LEGACY:
                self.of[table] = [self.row(json.loads(row), by) for row in rows]
        self.legacy = Legacy({table: [text for _, _, text in rows] for table, rows in self.of.items()}, answer.get(LEGACY, ()))

    @staticmethod
    def row(row, by):
        machine, start = row.pop('_machine', None), row.get('ts')
        dur = row.get('dur') or 0
        end = None if start is None else start + dur if dur >= 0 else ENDLESS
        if row.get('cmdline'):
            row['cmdline'] = row['cmdline'].rstrip()  # a new name may add an empty component
        row = {k: v + by if k in TIMES and isinstance(v, int) else v for k, v in row.items()}
        return machine, (start, end), RANK.sub('', without_labels(json.dumps(row, sort_keys=True)))

    def counts(self, table, machine=None):
        return collections.Counter(text for m, _, text in self.of.get(table, ()) if machine is None or m in (None, machine))

    def inside(self, table, a, b):
        """Returns the rows that have a time, and begin and end inside of the range."""
        first = a + (table == 'counter')  # where the last sample before the range may be repeated
        return collections.Counter(text for _, (start, end), text in self.of.get(table, ())
                                   if start is not None and first <= start and end < b and 'tracekit_clipped' not in text)

    def state(self, table, a, b):
        """Returns the same rows as a set and without depths, because each part of a split trace repeats samples, open spans, and the
        last switch of each CPU from the part before: without the thread that ran before, or after a switch to the idle thread."""
        rows = [{k: v for k, v in json.loads(text).items() if k not in ('depth', 'parent_id')} for text in self.inside(table, a, b)]
        rows = [without_previous(row) if table == 'ftrace_event' and row['name'] == 'sched_switch' else row for row in rows]
        busy = {(row['ts'], row['cpu']) for row in rows if table == 'ftrace_event' and 'next_pid=0;' not in (row['arg_set_id'] or '')}
        rows = [row for row in rows if table != 'ftrace_event' or 'next_pid=0;' not in (row['arg_set_id'] or '') or (row['ts'], row['cpu']) not in busy]
        return collections.Counter({json.dumps(row) for row in rows if not repeats_switch(table, row)})

    def has_machine(self, table):
        return any(m is not None for m, _, _ in self.of.get(table, ()))


def difference(want, got, table, legacy):
    if table == 'args' and legacy:  # equal sets are stored once, and parts of those of legacy events are not compared
        want, got = collections.Counter(set(want)), collections.Counter(set(got))
    gone, new = want - got, got - want
    if table in ADDED_TO:
        new.clear()
    legacy.excuse(table, gone, new)
    if not gone and not new:
        return ''
    return f'{sum(want.values())} rows, {sum(got.values())}; gone {[t[:250] for t in list(gone)[:1]]}, new {[t[:250] for t in list(new)[:1]]}'


# Packets that are modelled: events, descriptors, clocks, state. A merge renumbers and renames processes of the other traces.
MODELLED = {3, 6, 8, 10, 11, 12, 13, 41, 42, 43, 44, 58, 59, 60, 72, 79, 87, 98, 107, 1990}
DESCRIBED = ('args', 'process', 'thread', 'track', 'process_track', 'thread_track', 'counter_track', 'process_counter_track',
             'thread_counter_track', 'slice', 'instant', 'counter', '__intrinsic_track', 'android_logs', 'clock_snapshot')


def has_packets(path):
    with open(path, 'rb') as f:
        data = f.read()
    try:
        return any(n == 1 and isinstance(p, bytes) and any(k not in MODELLED for k, _ in parse(p)) for n, p in parse(data))
    except ValueError:
        return True


class Judge:
    def __init__(self):
        self.passed = self.failed = self.files = self.rows = 0
        self.exceptions = Exceptions(os.path.join(HERE, 'tables_exceptions.tsv'))

    def check(self, label, what, faults):
        """Reports differences that no exception excuses. `faults`: {table: difference}. An exception `GLOB of the file,
        OPERATION TABLE, reason` is for one operation, `GLOB, TABLE, reason` for all. An exception for a view also applies to
        its table."""
        bad = {}
        for table, fault in faults.items():
            names = dict.fromkeys((f'{what} {table}', table, table.removeprefix('__intrinsic_')))
            reason = next(filter(None, (self.exceptions.reason(label, name, bool(fault)) for name in names)), None)
            if fault and not reason:
                bad[table] = fault
        self.passed, self.failed = self.passed + (not bad), self.failed + bool(bad)
        if bad:
            print('FAIL', what, label, flush=True)
        for table, fault in bad.items():
            print(f'       {table}: {fault[:900]}')


class Trace:
    def __init__(self, judge, engine, label, path, work):
        self.judge, self.engine, self.label, self.path, self.work = judge, engine, label, path, work
        answer = engine.record(path)
        self.failed = answer.get('failed') if len(answer) == 1 else None
        self.answer = {} if self.failed else answer
        self.rows = Rows(self.answer)

    def ask(self, path, by=0):
        answer = self.engine.ask(path)
        return answer['failed'] if set(answer) == {'failed'} else Rows(answer, by)

    def compare(self, what, path, by=0):
        got = self.ask(path)
        if isinstance(got, str):
            self.judge.check(self.label, what, {'load': got})
            return
        want = Rows(self.answer, by) if by else self.rows
        self.judge.check(self.label, what, {t: difference(want.counts(t), got.counts(t), t, want.legacy) for t in want.of})

    def extent(self):
        times = [s if e == ENDLESS else e for t in ('slice', 'counter', 'ftrace_event', 'sched') for _, (s, e), _ in self.rows.of.get(t, ())]
        return (min(times), max(times) + 1) if times else None

    def compare_range(self, what, got, a, b, of=Rows.inside):
        if isinstance(got, str):
            self.judge.check(self.label, what, {'load': got})
            return
        self.judge.check(self.label, what, {t: difference(of(self.rows, t, a, b), of(got, t, a, b), t, self.rows.legacy) for t in self.rows.of})


def out(trace, name):
    return os.path.join(trace.work, name)


def times(a, b):
    return '..'.join(f'{ns // 1000}.{ns % 1000:03}' for ns in (a, b))


def cuts(trace, source):
    extent = trace.extent()
    if not extent:
        return
    a, b = extent
    for i, (x, y) in enumerate(((0, 30), (30, 60), (55, 100))):
        start, end = a + (b - a) * x // 100, a + (b - a) * y // 100 + (y == 100)
        target = out(trace, 'cut.pftrace')
        tracekit('filter', '-q', '--force', '--allow-empty', '--time', times(start, end), source, '-o', target)
        trace.compare_range('cut', trace.ask(target), start, end)


def splits(trace, source):
    extent = trace.extent()
    if not extent or extent[1] - extent[0] < 8:
        return
    a, b = extent
    edges = [a + (b - a) * i // 4 for i in range(4)] + [b + 1]
    parts = [out(trace, f'part{i}.pftrace') for i in range(4)]
    for i, part in enumerate(parts):
        tracekit('filter', '-q', '--force', '--allow-empty', '--time', times(edges[i], edges[i + 1]), source, '-o', part)
    whole = out(trace, 'joined.pftrace')
    with open(whole, 'wb') as f:
        for part in parts:
            with open(part, 'rb') as p:
                f.write(p.read())
    joined = trace.ask(whole)
    for i in range(4):
        trace.compare_range('split', trace.ask(parts[i]), edges[i], edges[i + 1])
        trace.compare_range('joined', joined, edges[i], edges[i + 1], Rows.state)


def has_machines(rows, table):
    return any(m for m, _, _ in rows.of.get(table, ()))


def compare_merge(trace, what, target, other, described=()):
    """Compares the rows of each machine of a merge with those of its input. `other`: the second input, whose times may have moved."""
    got = trace.ask(target)
    if isinstance(got, str):
        trace.judge.check(trace.label, what, {'load': got})
        return
    faults = {}
    for table in trace.rows.of:
        if table in described:
            continue
        if got.has_machine(table) or trace.rows.has_machine(table) or other.has_machine(table):
            if has_machines(trace.rows, table) or has_machines(other, table):
                continue  # machines of an input get other numbers: tests/property/merged_perfetto.py
            for machine, part in enumerate((trace.rows, other)):
                faults[table] = faults.get(table) or difference(part.counts(table, 0), got.counts(table, machine), table, part.legacy)
        else:
            want, found = ({text for _, _, text in of} for of in (trace.rows.of[table] + other.of.get(table, []), got.of.get(table, [])))
            faults[table] = difference(collections.Counter(want), collections.Counter(found), table, trace.rows.legacy)
    trace.judge.check(trace.label, what, faults)


def beside(trace, other):
    """Returns the other trace, moved to the start of this one: the engine drops ftrace events before the start of tracing."""
    extent, of_other = trace.extent(), other.extent()
    by = (extent[0] - of_other[0]) // UNIT * UNIT if extent else 0
    if by <= 0 or by > 100 * DAY:  # a trace with absolute times since 1970
        return other
    path = out(trace, 'beside.pftrace')
    tracekit('rebase', '-q', '--force', '--shift', f'{by}ns', other.path, '-o', path)
    return Trace(trace.judge, trace.engine, other.label, path, trace.work)


def merges(trace, source, other):
    other = beside(trace, other)
    target = out(trace, 'merged.pftrace')
    for what, second in (('itself', trace), ('another', other)):
        paths = [source, source if second is trace else other.path]
        tracekit('merge', '-q', '--force', '--align', 'none', *paths, '-o', target)
        described = () if has_packets(source) and has_packets(paths[1]) else DESCRIBED
        compare_merge(trace, f'merge {what}', target, second.rows, described)
        tracekit('merge', '-q', '--force', '--align', 'none', '--label', LABEL, *paths, '-o', target)
        compare_merge(trace, f'label {what}', target, second.rows, described)


def record(judge, engine, work, name, data):
    path = os.path.join(work, name)
    with open(path, 'wb') as f:
        f.write(data)
    return Trace(judge, engine, f'made/{name}', path, work)


def other_clock(judge, engine, work):
    """Merges two traces with different trace clocks: the second one is converted to the clock of the first, so its times move."""
    boot, mono = (record(judge, engine, work, f'{name}.pftrace', clocks.pairs(clock))
                  for name, clock in (('boot', clocks.BOOTTIME), ('mono', clocks.MONOTONIC)))
    for first, second, by in ((boot, mono, clocks.BEHIND), (mono, boot, -clocks.BEHIND)):
        target = out(first, 'merged.pftrace')
        tracekit('merge', '-q', '--force', '--align', 'clock', first.path, second.path, '-o', target)
        compare_merge(first, 'clock', target, Rows(second.answer, by))


def without_times(rows, table, machine):
    """Returns the rows of a machine as {text without times: [times in order]}."""
    found = collections.defaultdict(list)
    for _, _, text in (r for r in rows.of[table] if r[0] in (None, machine)):
        row = json.loads(text)
        found[json.dumps({k: v for k, v in row.items() if k not in (*TIMES, 'dur')})].append([row.get(k) or 0 for k in (*TIMES, 'dur')])
    return {text: sorted(times) for text, times in found.items()}


def drifts(judge, engine, work):
    """Merges two traces of the same events, one of them with a clock that drifts: after the correction, both have the same rows at the
    same times."""
    a = record(judge, engine, work, 'even.pftrace', clocks.pairs(clocks.BOOTTIME))
    for ppm in (40, -25):
        b = record(judge, engine, work, f'drift{ppm}.pftrace', clocks.pairs(clocks.BOOTTIME, ppm / 1e6))
        target = out(a, 'merged.pftrace')
        tracekit('merge', '-q', '--force', '--anchor', 'barrier', '--require-align', a.path, b.path, '-o', target)
        got, faults = a.ask(target), {}
        for table in a.rows.of if not isinstance(got, str) else ():
            if not got.has_machine(table):
                continue
            first, second = (without_times(got, table, machine) for machine in (0, 1))
            same = {t: len(v) for t, v in first.items()} == {t: len(v) for t, v in second.items()}
            apart = max((abs(x - y) for t in first for u, v in zip(first[t], second.get(t, ())) for x, y in zip(u, v)), default=0)
            only = list(first.keys() ^ second.keys())[:2]
            faults[table] = '' if same and apart < 1000 else f'{len(first)} rows, {len(second)}, {apart} ns apart; only in one: {only}'
        judge.check(b.label, 'drift', faults if not isinstance(got, str) else {'load': got})


def examine(trace, other):
    source = out(trace, 'again.pftrace')
    tracekit('convert', '-q', '--force', trace.path, '-o', source)
    trace.compare('again', source)
    moved = out(trace, 'moved.pftrace')
    tracekit('rebase', '-q', '--force', '--shift', f'{BY}ns', trace.path, '-o', moved)
    trace.compare('rebase', moved, BY)
    cuts(trace, trace.path)
    splits(trace, trace.path)
    merges(trace, trace.path, other)


def made(work):
    for seed, is_compact in ((1, False), (2, True)):
        path = os.path.join(work, f'system{seed}.pftrace')
        system.write(path, seed, is_compact)
        yield f'made/system{seed}.pftrace', path
    path = os.path.join(work, 'rank0.pftrace')
    torch_pftrace.write(path)
    yield 'made/torch.pftrace', path
    path = os.path.join(work, 'machines.pftrace')
    with open(path, 'wb') as f:
        f.write(machines.trace())
    yield 'made/machines.pftrace', path


def is_json(path):
    """True for Chrome JSON with the name of a Perfetto trace, as some repositories have it."""
    with open(path, 'rb') as f:
        return f.read(64).lstrip()[:1] in (b'{', b'[')


def files(folders):
    for folder in folders:
        for path in sorted(glob.glob(os.path.join(folder, '**', '*'), recursive=True)):
            if path.endswith(ENDINGS) and 0 < os.path.getsize(path) <= MOST and not is_json(path):
                yield os.path.relpath(path, folder), path


def main():
    judge = Judge()
    with tempfile.TemporaryDirectory() as work:
        own = list(made(work))
        engines = Engines(queries(own[0][1]))
        engine = engines.mine()
        print(f'{len(engine.names)} tables')
        other = Trace(judge, engine, *own[1], work)
        for label, path in [*own, *files(sys.argv[1:])]:
            trace = Trace(judge, engine, label, path, work)
            if trace.failed:
                print('     the engine refuses', label)
                continue
            judge.files += 1
            judge.rows += sum(map(len, trace.rows.of.values()))
            try:
                examine(trace, other)
            except Refused as e:
                print('     refused', label, str(e)[:150])
        other_clock(judge, engine, work)
        drifts(judge, engine, work)
    engines.close()
    for row in judge.exceptions.needless():
        print(f'tables_exceptions.tsv: not needed: {row}')
        judge.failed += len(sys.argv) > 1
    print(f'{judge.files} files, {judge.rows} rows of the originals')
    print(f'{judge.passed} passed, {judge.failed} failed')
    return 1 if judge.failed else 0


if __name__ == '__main__':
    sys.exit(main())
