#!/usr/bin/env python3
"""Compares merged and moved Perfetto traces of systems with their originals by all tables of an engine that describe what happened:
the rows of each machine of a merge, and of a trace moved by `rebase`, are those of the original, apart from the engine's own ids.

    moved.py [CORPUS]    traces of tests/support/system_trace.py, and the .pftrace and .perfetto-trace files of a corpus"""
import json
import os
import random
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'support'))
from common import Engines, Refused, tracekit  # noqa: E402
from exceptions import Exceptions  # noqa: E402
import system_trace as system  # noqa: E402
import trackprops  # noqa: E402

OWNER = """(select utid, tid, t.name as thread, pid, p.name as process, m.raw_id as machine
           from thread t left join process p using (upid) left join machine m on m.id = coalesce(p.machine_id, t.machine_id))"""
QUERIES = {
    'slices': f"""select (select raw_id from machine where id = k.machine_id) as machine, s.ts, s.dur, s.name, s.category, s.depth, o.tid, o.pid, k.name as track, k.type
                  from slice s join track k on k.id = s.track_id left join thread_track tt on tt.id = k.id left join {OWNER} o using (utid)""",
    'sched': f"select o.machine, s.ts, s.dur, c.cpu, o.tid, o.thread, s.end_state, s.priority from sched s join {OWNER} o using (utid) join cpu c using (ucpu)",
    'thread_state': f"select o.machine, s.ts, s.dur, s.state, o.tid, o.thread, w.tid as waker from thread_state s join {OWNER} o using (utid) left join {OWNER} w on w.utid = s.waker_utid",
    'counters': """select (select raw_id from machine where id = k.machine_id) as machine, c.ts, c.value, k.name, k.type, p.pid from counter c join track k on k.id = c.track_id
                   left join process_counter_track pc on pc.id = k.id left join process p using (upid)""",
    'processes': '''select (select raw_id from machine where id = p.machine_id) as machine, p.pid, p.name, p.start_ts, p.cmdline, up.pid as parent
                    from process p left join process up on up.upid = p.parent_upid''',
    'threads': f'select machine, tid, thread, pid, process from {OWNER} where tid or thread is not null',
    'logs': f'select o.machine, l.ts, l.prio, l.tag, l.msg, o.tid from android_logs l join {OWNER} o using (utid)',
    'ftrace': 'select (select raw_id from machine where id = c.machine_id) as machine, e.ts, e.name, c.cpu from ftrace_event e join cpu c using (ucpu)',
    'args': """select (select raw_id from machine where id = k.machine_id) as machine, s.ts, s.name, a.key, a.value_type, a.display_value from slice s join track k on k.id = s.track_id
               join args a using (arg_set_id) where a.key not glob 'debug.json_id*' and a.key not in ('utid', 'upid', 'end_utid', 'legacy_event.passthrough_utid', 'legacy_unnestable_last_begin_ts')""",
    'arrows': """select (select raw_id from machine where id = k.machine_id) as machine, a.ts, a.name, b.ts as ts_in, b.name as target from flow f
                 join slice a on a.id = f.slice_out join slice b on b.id = f.slice_in join track k on k.id = a.track_id""",
    'errors': "select 0 as machine, name, value from stats where severity in ('error', 'data_loss') and value > 0",
}
TIMES = ('ts', 'ts_in', 'start_ts')


def rows(answer, what, machine=0, by=0):
    """Returns the rows of a machine, with times moved by `by`."""
    found = []
    for row in map(json.loads, answer[what]):
        if (row.pop('machine') or 0) == machine:
            found.append(json.dumps({k: v + by if k in TIMES and v is not None else v for k, v in row.items()}, sort_keys=True))
    return sorted(found)


def difference(want, got):
    gone, new = sorted(set(want) - set(got))[:1], sorted(set(got) - set(want))[:1]
    return '' if want == got else f'{len(want)} rows, {len(got)}; gone {gone}, new {new}'




class Judge:
    def __init__(self):
        self.passed = self.failed = 0
        self.exceptions = Exceptions(os.path.join(HERE, 'moved_exceptions.tsv'))

    def check(self, label, faults):
        bad = {what: fault for what, fault in faults.items() if fault}
        if self.exceptions.reason(label, label.split()[0], bool(bad)):
            bad = {}
        self.passed, self.failed = self.passed + (not bad), self.failed + bool(bad)
        print('FAIL' if bad else 'ok  ', label, flush=True)
        for what, fault in bad.items():
            print(f'       {what}: {fault[:600]}')


def made(work):
    """Makes two traces with events of programs and of the scheduler, logs, and track events; their ids are equal."""
    for seed, is_compact in ((1, False), (2, True)):
        path = os.path.join(work, f'system{seed}.pftrace')
        system.write(path, seed, is_compact)
        rng, out = random.Random(seed), []
        for i in range(5):
            ns = system.START + rng.randrange(1_000_000)
            event = system.field(5, 10**18 + ns) + system.field(2, 100) + system.field(3, 101) + system.field(7, 4) + system.field(6, 'tag')
            out.append(system.packet(system.field(39, system.field(1, event + system.field(8, f'message {i}')))))
        maker = trackprops.Maker(seed)
        maker.packet = lambda *fields: out.append(system.packet(*fields, sequence=99))
        thread = maker.thread(maker.process(100), 100, 101)
        maker.slices(thread, system.START + 1000)
        maker.slices(maker.named(thread), system.START + 2000)
        with open(path, 'ab') as f:
            f.write(b''.join(out))
        yield path


def corpus_files(corpus):
    for folder, _, names in sorted(os.walk(corpus)):
        yield from (os.path.join(folder, n) for n in sorted(names) if n.endswith(('.pftrace', '.perfetto-trace')))


def compared(merged, machine):
    """Returns the tables to compare, without those of processes and their events if the merge has put ranks into process names."""
    is_named = any('"name": "rank' in row for row in rows(merged, 'processes', machine))
    return [what for what in QUERIES if what != 'errors' and not (is_named and what in ('processes', 'threads', 'counters', 'slices'))]


def merge(judge, engine, label, paths, work):
    out = os.path.join(work, 'merged.pftrace')
    tracekit('merge', '-q', '--force', '--align', 'none', *paths, '-o', out)
    originals, merged = [engine.record(p) for p in paths], engine.ask(out)
    if any('failed' in o for o in originals):
        print('     the engine refuses the original of', label)
        return
    if 'failed' in merged:
        judge.check(f'merge {label}', {'load': merged['failed']})
        return
    faults = {}
    for machine, original in enumerate(originals):
        faults.update({f'{what} of {machine}': difference(rows(original, what), rows(merged, what, machine)) for what in compared(merged, machine)})
    judge.check(f'merge {label}', faults)


def rebase(judge, engine, label, path, work):
    out = os.path.join(work, 'moved.pftrace')
    by = 7_000_000_001
    tracekit('rebase', '-q', '--force', '--shift', f'{by}ns', path, '-o', out)
    original, moved = engine.record(path), engine.ask(out)
    if 'failed' in original:
        print('     the engine refuses', label)
        return
    faults = {'load': moved['failed']} if 'failed' in moved else \
        {what: difference(rows(original, what, by=by), rows(moved, what)) for what in QUERIES if what != 'errors'}
    judge.check(f'rebase {label}', faults)


def main():
    engines, judge = Engines(QUERIES), Judge()
    engine = engines.mine()
    with tempfile.TemporaryDirectory() as work:
        systems = list(made(work))
        merge(judge, engine, 'two systems', systems, work)
        merge(judge, engine, 'a system with itself, and another', [systems[1], systems[1], systems[0]], work)
        for path in systems:
            rebase(judge, engine, os.path.basename(path), path, work)
        for path in corpus_files(sys.argv[1]) if len(sys.argv) > 1 else ():
            label = os.path.relpath(path, sys.argv[1])
            again = os.path.join(work, 'again.pftrace')
            try:
                tracekit('convert', '-q', '--force', path, '-o', again)  # perfetto.py compares this with the original
                rebase(judge, engine, label, again, work)
                merge(judge, engine, f'{label} with a system', [again, systems[0]], work)
            except Refused as e:
                print('     refused', label, str(e)[:150])
    engines.close()
    for row in judge.exceptions.needless():
        print(f'moved_exceptions.tsv: not needed: {row}')
        judge.failed += 1
    print(f'{judge.passed} passed, {judge.failed} failed')
    return 1 if judge.failed else 0


if __name__ == '__main__':
    sys.exit(main())
