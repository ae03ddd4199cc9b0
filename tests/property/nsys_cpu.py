#!/usr/bin/env python3
"""Checks data about CPUs in exports of Nsight Systems: the counts of stack samples by function and by path, and the sums of the runs of
each CPU and of the states of each thread, equal those by SQL on the export; call chains are args of their calls; and no data of the
scheduler is read unless requested."""
import collections
import json
import os
import random
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from databases import check_damage, converted, folder, named, path, spans, tracekit  # noqa: E402
from nsysreport import Report, process  # noqa: E402
from verdict import check, finish  # noqa: E402

LIBC = '/usr/lib/libc.so.6'


def shuffle(source, *tables, seed=1):
    """Stores the rows of tables in random order. Rowids decide the order in which a file is read."""
    db = sqlite3.connect(source)
    for table in tables:
        sql = db.execute('SELECT sql FROM sqlite_schema WHERE name = ?', (table,)).fetchone()[0]
        rows = db.execute(f'SELECT * FROM {table}').fetchall()
        random.Random(seed).shuffle(rows)
        db.execute(f'DROP TABLE {table}')
        db.execute(sql)
        db.executemany(f'INSERT INTO {table} VALUES ({", ".join("?" * len(rows[0]))})', rows)
    db.commit()
    db.close()


def rows_of(command, source, *options):
    status, out, said = tracekit(command, '--json', '--full-names', '--kind', 'sample', *options, source)
    check(f'{command} reads {os.path.basename(source)}', status == 0, said)
    found = json.loads(out)
    check(f'{command}: the unit', found['unit'] == 'samples', found['unit'])
    return found['rows' if command == 'top' else 'paths']


def counts_agree(source):
    """Compares the self and total sample counts of each function with SQL on the database."""
    db = sqlite3.connect(source)
    name = "SELECT value, count(DISTINCT c.id) FROM SAMPLING_CALLCHAINS c JOIN COMPOSITE_EVENTS e ON e.id = c.id AND e.cpuCycles != 0 " \
           'JOIN StringIds s ON s.id = c.symbol'
    alone = dict(db.execute(f'{name} WHERE stackDepth = 0 GROUP BY value'))
    whole = dict(db.execute(f'{name} GROUP BY value'))
    rows = [row for row in rows_of('top', source, '--top=1000') if row['name']]
    check(f'{os.path.basename(source)}: samples of each function', {row['name']: row['self_ns'] for row in rows if row['self_ns']} == alone, rows)
    check(f'{os.path.basename(source)}: samples below each function', {row['name']: row['total_ns'] for row in rows} == whole, rows)
    stacks = collections.Counter()
    for (number,) in db.execute('SELECT id FROM COMPOSITE_EVENTS WHERE cpuCycles != 0').fetchall():
        frames = db.execute('SELECT value FROM SAMPLING_CALLCHAINS c JOIN StringIds s ON s.id = c.symbol WHERE c.id = ? ORDER BY stackDepth DESC',
                            (number,)).fetchall()
        if frames:
            stacks[';'.join(f for (f,) in frames)] += 1
    db.close()
    out = tracekit('tree', '--folded', '--kind', 'sample', source)[1]
    found = {line.rsplit(' ', 1)[0]: int(line.rsplit(' ', 1)[1]) for line in out.splitlines()}
    found.pop('(unnamed)', None)
    check(f'{os.path.basename(source)}: samples of each path', found == stacks, (found, stacks))


def samples():
    draw = random.Random(5)
    r = Report(path('samples.sqlite'))
    number = 0
    for i in range(400):
        number += 1
        depth = draw.randrange(1, 9)
        frames = [draw.choice(('solve', 'norm', 'memcpy', 'main', ('__sin_fma', LIBC), ('vfs_read', '[kernel.kallsyms]'))) for _ in range(depth)]
        r.sample(number, 1000000 + 1000 * i, 50, 50 + i % 3, *frames, ('_start', LIBC), cpu=i % 4, cycles=0 if i % 10 == 9 else 1)
    r.add('OSRT_API', start=5, end=9, eventClass=27, globalTid=process(50) + 50, nameId=r.text('read'), returnValue=0, callchainId=0)
    r.close()
    shuffle(path('samples.sqlite'), 'SAMPLING_CALLCHAINS', 'COMPOSITE_EVENTS')
    counts_agree(path('samples.sqlite'))
    status, _, said = tracekit('info', '-v', path('samples.sqlite'))
    check('stacks of switches are named with the option that reads them', status == 0 and 'not read without the setting nsys.sched (40 times)' in said, said)
    cats = collections.Counter(row['name'] for row in rows_of('top', path('samples.sqlite'), '--by', 'cat') for _ in range(row['count']))
    check('periodic samples alone', cats == {'cpu_sample': 360}, cats)
    cats = {row['name']: row['count'] for row in rows_of('top', path('samples.sqlite'), '--by', 'cat', '--sched')}
    check('stacks of switches are apart', cats == {'cpu_sample': 360, 'context_switch': 40}, cats)
    want = tracekit('top', '--csv', '--top=100', '--kind', 'sample', path('samples.sqlite'))[1]
    for ending in ('json.gz', 'pftrace'):
        check(f'{ending}: converts', tracekit('convert', '-q', '--force', path('samples.sqlite'), '-o', path(f's.{ending}'))[0] == 0)
        check(f'{ending}: the same samples', tracekit('top', '--csv', '--top=100', '--kind', 'sample', path(f's.{ending}'))[1] == want)
    status, out, said = tracekit('sql', '--csv', path('samples.sqlite'), 'SELECT count(*) FROM cpu_profile_stack_sample')
    check('sql has the samples', status == 0 and out.split() == ['count(*)', '360'] or '360' in out, out + said)
    status, out, said = tracekit('sql', '--csv', path('samples.sqlite'), "SELECT DISTINCT m.name FROM stack_profile_frame f JOIN "
                                 "stack_profile_mapping m ON f.mapping = m.id WHERE f.name = '__sin_fma'")
    check('sql has the modules', status == 0 and LIBC in out, out + said)
    for ending, format in (('speedscope.json', 'speedscope'), ('pb.gz', 'pprof')):
        status, _, said = tracekit('convert', '-q', '--force', '-f', format, path('samples.sqlite'), '-o', path(f'p.{ending}'))
        check(f'{format}: is written', status == 0, said)
        status, out, said = tracekit('top', '--json', '--full-names', '--kind', 'sample', path(f'p.{ending}'))
        got = {row['name']: row['count'] for row in json.loads(out)['rows']}
        check(f'{format}: has the functions', status == 0 and set(row['name'] for row in rows_of('top', path('samples.sqlite'))) <= set(got), got)
    status, out, said = tracekit('diff', '--json', '--kind', 'sample', path('samples.sqlite'), path('s.pftrace'))
    check('diff compares them', status == 0 and '"solve"' in out, out[:300] + said)


def odd_samples():
    r = Report(path('odd.sqlite'))
    r.sample(1, 100, 7, 7, ('0x7f00dead', '/lib/libclosed.so'), 'main', cpu=3, state=2)
    r.sample(2, 200, 7, 7)
    r.sample(3, 300, 7, 7, *[f'f{i}' for i in range(5000)])
    r.sample(4, 400, 7, 7, 'main', cycles=123456)
    r.chain('SAMPLING_CALLCHAINS', 99, 'nobody')
    r.add('SAMPLING_CALLCHAINS', id=5, symbol=424242, module=r.text('x'), stackDepth=0)
    r.add('COMPOSITE_EVENTS', id=5, start=500, globalTid=process(7) + 7, cpuCycles=1)
    r.db.execute("INSERT INTO COMPOSITE_EVENTS VALUES (6, 'soon', 0, 1, NULL, 1)")
    r.close()
    status, _, said = tracekit('convert', '--force', '-v', path('odd.sqlite'), '-o', path('odd.json'))
    check('odd samples are repaired and said', status == 0 and 'more than 4,096 frames' in said and 'unknown name ids' in said and
          'no thread or no time' in said, said)
    check('odd samples are refused with --strict', tracekit('info', '--strict', path('odd.sqlite'))[0] == 3)
    rows = {row['name']: row for row in rows_of('top', path('odd.sqlite'), '--top=9999')}
    check('an unresolved function is called by its address', rows['0x7f00dead']['self_ns'] == 1, rows.get('0x7f00dead'))
    check('a chain without a sample is no sample', 'nobody' not in rows)
    check('outer frames of a deep stack are cut', 'f4095' in rows and 'f4096' not in rows)
    check('a sample counts once, whatever its cycles', rows['main']['total_ns'] == 2, rows['main'])
    check('a sample without a stack is counted', sum(row['self_ns'] for row in rows.values()) == 5, rows)
    dumped = tracekit('dump', '--graph', path('odd.sqlite'))[1]
    check('CPU and state are args', 'cpu=3' in dumped and 'thread state="Sleeping"' in dumped, dumped[:2000])


def chains():
    r = Report(path('chains.sqlite'))
    r.chain('OSRT_CALLCHAINS', 4, ('read', LIBC), ('0x1234', '/opt/libx "y".so'), 'main')
    r.chain('CUDA_CALLCHAINS', 4, 'launch', 'step')
    r.add('OSRT_API', start=5, end=9, eventClass=27, globalTid=process(9) + 9, nameId=r.text('read'), returnValue=0, callchainId=4)
    r.add('OSRT_API', start=15, end=19, eventClass=27, globalTid=process(9) + 9, nameId=r.text('poll'), returnValue=0, callchainId=0)
    r.call(9, 9, 20, 30, correlation=1, callchainId=4)
    r.chain('OSRT_CALLCHAINS', 5, *['l\u00f6ng' * 2000] * 50)
    r.add('OSRT_API', start=35, end=39, eventClass=27, globalTid=process(9) + 9, nameId=r.text('write'), returnValue=0, callchainId=5)
    r.close()
    shuffle(path('chains.sqlite'), 'OSRT_CALLCHAINS')
    events, _ = converted(path('chains.sqlite'))
    by_name = {e['name']: e.get('args', {}) for e in events if e['ph'] == 'X'}
    check('a chain is an arg of its call', by_name['read']['callchain'] == ['read (libc.so.6)', '0x1234 (libx "y".so)', 'main (app)'], by_name['read'])
    check('chains of CUDA are numbered apart', by_name['cudaLaunchKernel']['callchain'] == ['launch (app)', 'step (app)'], by_name)
    check('a call without a chain has none', 'callchain' not in by_name['poll'], by_name['poll'])
    check('the text of a chain is limited', 1 < len(by_name['write']['callchain']) < 50, len(by_name['write']['callchain']))
    check('the text of a frame is limited', by_name['write']['callchain'][0] == 'l\u00f6ng' * 204 + 'l\u00f6n...', by_name['write']['callchain'][0][-10:])


def random_switches(name, count, seed, states):
    """Writes random switches of the threads of two processes on four CPUs. Returns the switches in order of time."""
    draw = random.Random(seed)
    threads = [(60, 60), (60, 61), (60, 62), (70, 70), (70, 71)]
    running, switches, t = {}, [], 1000
    for _ in range(count):
        t += draw.randrange(1, 5000)
        cpu = draw.randrange(4)
        if cpu in running:
            switches.append((t, cpu, 0, *running.pop(cpu), draw.choice(states), draw.choice((None, 1))))
        idle = [x for x in threads if x not in running.values()]
        if idle and draw.random() < .7:
            running[cpu] = draw.choice(idle)
            switches.append((t, cpu, 1, *running[cpu], 1, 1))
    r = Report(path(name))
    draw.shuffle(rows := list(switches))
    order = {row: i for i, row in enumerate(switches)}
    rows.sort(key=lambda row: (row[0] // 40000 % 3, order[row]))  # blocks of the file are out of order, rows of a time are not
    for row in rows:
        r.switch(*row)
    r.add('ENUM_SCHEDULING_THREAD_BLOCK', id=1, name='Resource', label='Waits for a resource')
    r.add('ThreadNames', nameId=r.text('main'), priority=10, globalTid=process(60) + 60)
    r.add('PROCESSES', globalPid=process(60), pid=60, name='app')
    r.close()
    return switches


RUNS = '''WITH s AS (SELECT *, LEAD(start) OVER w AS stop FROM SCHED_EVENTS WINDOW w AS (PARTITION BY cpu ORDER BY start, isSchedIn))
  SELECT cpu, count(*), sum(stop - start) FROM s WHERE isSchedIn AND stop IS NOT NULL GROUP BY cpu'''
STATES = '''WITH s AS (SELECT *, LEAD(start) OVER w AS stop FROM SCHED_EVENTS WINDOW w AS (PARTITION BY globalTid ORDER BY start, isSchedIn))
  SELECT globalTid & 16777215, isSchedIn, count(*), sum(stop - start) FROM s WHERE stop IS NOT NULL GROUP BY 1, 2'''


def switches_agree(source):
    """Compares the runs of each CPU and the states of each thread with SQL on the database. Returns the events, and the row of each thread."""
    events, _ = converted(source, '--sched')
    names = named(events, 'thread_name')
    db = sqlite3.connect(source)
    want = {f'CPU {cpu}': (n, total) for cpu, n, total in db.execute(RUNS)}
    got = collections.defaultdict(lambda: (0, 0))
    for e in spans(events, 'sched'):
        n, total = got[names[e['pid'], e['tid']]]
        got[names[e['pid'], e['tid']]] = (n + 1, total + round(e['dur'] * 1000))
    check('runs of each CPU', {cpu: got[cpu] for cpu in want} == want, (dict(got), want))
    want = collections.Counter()
    for tid, runs, _, total in db.execute(STATES):
        want[tid, bool(runs)] += total
    db.close()
    got, rows = collections.Counter(), {}
    for e in spans(events, 'thread_state'):
        tid = int(e['tid'].split()[-2])
        rows[tid] = e['tid']
        got[tid, e['name'] == 'Running'] += round(e['dur'] * 1000)
    check('time that each thread ran and did not run', got == want, (got, want))
    return events, rows


def scheduler():
    switches = random_switches('sched.sqlite', 900, 11, (1, 2, 3, 6, None))
    status, _, said = tracekit('info', '-v', path('sched.sqlite'))
    check('without the option, rows are counted and the option is named',
          status == 0 and f'rows of table SCHED_EVENTS are not read without the setting nsys.sched ({len(switches):,} times)' in said, said)
    events, _ = converted(path('sched.sqlite'))
    check('without the option, nothing is read', not spans(events, 'sched', 'thread_state'), len(events))
    events, rows = switches_agree(path('sched.sqlite'))
    check('the process has its name', 'CPU scheduling' in named(events, 'process_name').values())
    check('a state that did not end is open', sum(e['ph'] == 'B' for e in events if e.get('cat') == 'thread_state') == 5)
    check('rows of states are called as in traces of Perfetto', rows[60] == 'main 60 state' and rows[71] == '71 state', rows)
    states = {e['name'] for e in spans(events, 'thread_state')}
    check('states are called as in traces of Perfetto',
          states == {'Running', 'Runnable (Preempted)', 'Sleeping', 'Uninterruptible Sleep', 'Not running'}, states)
    blocked = [e for e in spans(events, 'thread_state') if 'blocked by' in e.get('args', {})]
    check('a state knows what blocks it', blocked and {e['args']['blocked by'] for e in blocked} == {'Waits for a resource'} and
          'Running' not in {e['name'] for e in blocked}, blocked[:2])
    run = next(e for e in spans(events, 'sched') if e['name'] == 'main')
    check('a run has the thread and how it ended', run['args']['tid'] == 60 and run['args']['end_state'], run)
    out = tracekit('convert', '-q', '--force', '--sched', path('sched.sqlite'), '-o', path('sched.pftrace'))
    check('converts to Perfetto', out[0] == 0, out)
    same = ('top', '--csv', '--by', 'name', '--top=100')
    got, want = tracekit(*same, path('sched.pftrace'))[1], tracekit(*same, '--sched', path('sched.sqlite'))[1]
    check('Perfetto output has the same rows', got == want, (got, want))


def odd_switches():
    r = Report(path('odd_switches.sqlite'))
    for row in ((10, 0, 0, 8, 8), (20, 0, 1, 8, 8), (30, 0, 1, 8, 9), (40, 0, 0, 8, 8), (50, 0, 0, 8, 9, 9), (60, 0, 0, 8, 9, 77), (70, 1, 1, 8, 0)):
        r.switch(*row)
    r.db.execute("INSERT INTO SCHED_EVENTS VALUES ('x', 1, 1, 5, 1, 1), (80, -1, 1, 5, 1, 1), (90, 1, 'in', 5, 1, 1)")
    r.close()
    events, _ = converted(path('odd_switches.sqlite'), '--sched')
    runs = [(round(e['ts'] * 1000), round(e['dur'] * 1000), e['args']['tid']) for e in spans(events, 'sched')]
    check('a run ends at the next one of the CPU', sorted(runs) == [(20, 10, 8), (30, 20, 9)], runs)
    states = [(e['name'], round(e['ts'] * 1000), round(e['dur'] * 1000)) for e in spans(events, 'thread_state')]
    check('leaving twice is two states', ('Initialized', 50, 10) in states and 'Not running' in {e['name'] for e in events if e['ph'] == 'B'}, states)
    status, _, said = tracekit('info', '-v', '--sched', path('odd_switches.sqlite'))
    check('rows without a place are counted', status == 0 and 'without a time, CPU or thread: skipped (3 times)' in said, said)


def secrets():
    """Checks that redact removes paths of modules, call chains and payloads, and keeps names of functions (as names of events)."""
    r = Report(path('private.sqlite'))
    r.sample(1, 10, 5, 5, ('solve', '/home/hush-user/solver.so'), ('main', '/home/hush-user/app'))
    r.chain('OSRT_CALLCHAINS', 1, ('hush_callback', '/home/hush-user/solver.so'))
    r.add('OSRT_API', start=5, end=9, eventClass=27, globalTid=process(5) + 5, nameId=r.text('read'), returnValue=0, callchainId=1)
    r.schema(1 << 24, (76, 'file', 0, 0, 16), size=16)
    r.payload(20, 30, 'load', 1 << 24, b'hush-payload\0\0\0\0', pid=5)
    r.payload(40, 50, 'load', 99, b'hush-binary', pid=5)
    r.close()
    for ending in ('json', 'pftrace'):
        status, _, said = tracekit('redact', '--force', path('private.sqlite'), '-o', path(f'redacted.{ending}'))
        with open(path(f'redacted.{ending}'), 'rb') as f:
            data = f.read()
        check(f'{ending}: redact keeps functions and removes paths, chains and payloads', status == 0 and b'hush' not in data and b'solve' in data, said)


def main():
    os.environ['TMPDIR'] = folder.name
    samples()
    odd_samples()
    chains()
    scheduler()
    odd_switches()
    secrets()
    check_damage('samples.sqlite', 'chains.sqlite', 'sched.sqlite', rounds=30, seed=4)
    return finish()


if __name__ == '__main__':
    sys.exit(main())
