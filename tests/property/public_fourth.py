#!/usr/bin/env python3
"""More problems that people reported in public threads, as in public_cases.py: tables of later versions, hosts whose clocks name their
folders apart, time bases in other units, and further dialects of known files."""
import json
import os
import shutil
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import nsysreport  # noqa: E402
from public import answers, case, converted, dump, equal, has, main, put, run, said, top, x  # noqa: E402
from xspace import message, number  # noqa: E402


# ---- databases ----

def nsys(name, renamed):
    """Writes an export with a launch and its kernel, whose tables have the names that `renamed` gives."""
    r = nsysreport.Report(name)
    r.call(42, 43, 1000, 2000, correlation=7)
    r.kernel(42, 3000, 9000, 'gemm<float>', correlation=7)
    r.add('NVTX_EVENTS', start=500, end=9500, eventType=59, text='step', globalTid=nsysreport.process(42) + 43, domainId=0)
    for old, new in renamed.items():
        r.db.execute(f'ALTER TABLE {old} RENAME TO {new}')
    r.close()
    return name


@case('GindaChen/nsys-ai#291', 'nsys', 'tables with the suffix of a version are read')
def _():
    names = ('CUPTI_ACTIVITY_KIND_KERNEL', 'CUPTI_ACTIVITY_KIND_RUNTIME', 'NVTX_EVENTS')
    plain, later = nsys('plain.sqlite', {}), nsys('later.sqlite', {n: n + '_V3' for n in names})
    equal(dump(later), dump(plain))
    equal(top(later, '--kind', 'span')['gemm<float>'], 6000)
    for n in names[:2]:
        has(said('info', '-v', later), f'table {n}_V3 is read as a later version of {n}')
    both = nsys('both.sqlite', {})
    db = sqlite3.connect(both)
    db.execute('CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL_V2 AS SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL')
    db.commit()
    db.close()
    equal(len(dump(both)), len(dump(plain)))
    has(said('info', '-v', both), 'rows of table CUPTI_ACTIVITY_KIND_KERNEL_V2 are not read')
    db = sqlite3.connect(both)
    db.execute('ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME TO CUPTI_ACTIVITY_KIND_KERNEL_V10')
    db.execute('DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL_V2')
    db.commit()
    db.close()
    equal(len(dump(both)), len(dump(plain)))


@case('GindaChen/nsys-ai#237', 'nsys', 'a report does not claim that there is no device work if a table was not read')
def _():
    claim = 'no GPU or TPU activity was found, so'
    odd = nsys('odd.sqlite', {'CUPTI_ACTIVITY_KIND_KERNEL': 'CUPTI_ACTIVITY_KIND_WARP'})
    text = said('report', odd)
    has(text, 'CUPTI_ACTIVITY_KIND_WARP, which was not read, may contain some')
    assert claim not in text, text
    db = sqlite3.connect(odd)
    db.execute('DROP TABLE CUPTI_ACTIVITY_KIND_WARP')
    db.commit()
    db.close()
    has(said('report', odd), claim)


# ---- runs ----

def session(folder, *hosts):
    """Copies profiles of hosts into a folder of a session."""
    os.makedirs(folder)
    for host, name in hosts:
        shutil.copy(os.path.join(os.environ['FIXTURES'], f'xplane/multihost/host-{host}.xplane.pb'), f'{folder}/{name}.xplane.pb')


def inputs(*args):
    return len(json.loads(run('report', '--json', *args).stdout)['ranks'])


@case('vllm-project/tpu-inference#2521', 'run', 'hosts whose clocks give the folders of one session different names are one run')
def _():
    session('a/plugins/profile/2026_11_20_10_21_49', (0, 'host-0'))
    session('a/plugins/profile/2026_11_20_10_21_51', (1, 'host-1'))
    equal(inputs('a'), 2)
    has(said('report', 'a'), '2026_11_20_10_21_49 to 2026_11_20_10_21_51 are read as one run')
    equal([inputs('a', '--run', f'2026_11_20_10_21_{s}') for s in (49, 51)], [2, 2])
    session('a/plugins/profile/2026_11_20_10_21_55', (0, 'host-0'), (2, 'host-2'))
    equal(inputs('a'), 2)
    has(said('report', 'a'), 'reading the newest of 2 runs, 2026_11_20_10_21_55')
    session('later/plugins/profile/2026_11_20_10_21_49', (0, 'host-0'))
    session('later/plugins/profile/2026_11_20_10_22_09', (1, 'host-1'))
    equal(inputs('later'), 1)
    for pod in (0, 1):
        session(f'pods/pod-{pod}/plugins/profile/2026_11_20_10_21_5{pod}', (pod, 'localhost'))
        session(f'pods/pod-{pod}/plugins/profile/2026_11_20_10_21_5{pod + 6}', (pod, 'localhost'))
        session(f'jobs/job{"ab"[pod]}/plugins/profile/2026_11_20_10_21_5{pod}', (pod, 'localhost'))
    equal(inputs('pods'), 2)
    has(said('report', 'pods'), 'reading the newest of 2 runs')
    equal(inputs('jobs'), 1)


# ---- Chrome JSON ----

@case('google/perfetto#2048', 'json', 'names without pid and tid belong to the events without them')
def _():
    name = lambda what, text, **ids: {'ph': 'M', 'name': what, 'args': {'name': text}, **ids}  # noqa: E731
    put('a.json', {'traceEvents': [name('process_name', 'P'), name('thread_name', 'T'), name('thread_name', 'T5', tid=5),
                                   {'ph': 'X', 'name': 'a', 'ts': 1, 'dur': 2}, {'ph': 'X', 'name': 'b', 'ts': 1, 'dur': 2, 'tid': 5}]})
    want = [('a', 'P', 'T'), ('b', 'P', 'T5')]
    for source in ('a.json', converted('a.json', 'b.pftrace'), converted('b.pftrace', 'c.json')):
        equal([(e['name'], e.get('process'), e.get('thread')) for e in dump(source)], want)
    equal(json.load(open('c.json'))['traceEvents'][:3], json.load(open('a.json'))['traceEvents'][:3])


@case('google/perfetto#983', 'json', 'a base in ns is read as such, with a note about the unit of the timestamps')
def _():
    put('a.json', {'displayTimeUnit': 'ns', 'beginningOfTime': 1700000000123456789, 'traceEvents': [
        {'name': 'TU', 'ph': ph, 'cat': 'TU', 'ts': ts, 'pid': 7, 'tid': 0, 'args': {'UID': 0}} for ph, ts in (('B', 0), ('E', 13981869565))]})
    text = said('info', '-v', 'a.json')
    has(text, 'from 2023-11-14T22:13:20.123456789Z')
    has(text, 'beginningOfTime is in ns')
    run('rebase', 'a.json', '--shift', '1s', '-o', 'b.json', '--force')
    equal(json.load(open('b.json'))['beginningOfTime'], 1700000000123456789)
    put('c.json', {'beginningOfTime': 1700000000123456, 'traceEvents': [{'name': 'a', 'ph': 'X', 'ts': 1, 'dur': 2, 'pid': 7, 'tid': 0}]})
    has(said('info', '-v', 'c.json'), 'from 2023-11-14T22:13:20.123457000Z')
    assert 'beginningOfTime is' not in said('info', '-v', 'c.json')


@case('google/perfetto#879', 'json', 'events without a pid have the names of process 0, as in trace_processor')
def _():
    put('a.json', {'traceEvents': [{'name': 'process_name', 'ph': 'M', 'pid': 0, 'args': {'name': 'kram'}}, {'name': 'thread_name', 'ph': 'M', 'tid': 0, 'args': {'name': 'Main'}},
                                   {'name': 'thread_name', 'ph': 'M', 'pid': 7, 'tid': 7, 'args': {'name': 'T7'}},
                                   {'name': 'unzip', 'ph': 'X', 'tid': 0, 'ts': 0.022, 'dur': 0.239}, {'name': 'open', 'ph': 'X', 'pid': 7, 'ts': 1, 'dur': 2}]})
    for source in ('a.json', converted('a.json', 'b.pftrace')):
        equal([(e['name'], e.get('process'), e.get('thread')) for e in dump(source)], [('unzip', 'kram', 'Main 0'), ('open', 'process 7', 'T7')])
    equal(json.load(open(converted('a.json', 'c.json')))['traceEvents'], json.load(open('a.json'))['traceEvents'])


@case('pytorch/pytorch#113001', 'json', 'a call in raw quotes does not end a name at its comma')
def _():
    call = 'lib = torch.library.Library("_inductor_test", "IMPL")'
    put('a.json', '{"traceEvents": [{"ph": "X", "name": "' + call + """
(1): <module>", "pid": 2, "tid": 2, "ts": 10, "dur": 7, "args": {"Python id": 1}}, {"ph": "X", "name": "b", "pid": 2, "tid": 2, "ts": 11, "dur": 1}]}""")
    equal([(e['name'], e['dur_ms'] * 1000) for e in dump('a.json')], [(call + '\n(1): <module>', 7), ('b', 1)])
    has(said('info', 'a.json'), 'unescaped quote inside a string')
    put('b.json', '{"traceEvents": [{"ph": "X", "name": "a "quoted" one", "cat": "k", "pid": 2, "tid": 2, "ts": 10, "dur": 7, "args": {"l": ["x "y"", "z"]}}]}')
    equal([(e['name'], e['args']['l']) for e in dump('b.json')], [('a "quoted" one', ['x "y"', 'z'])])


@case('google/pprof#239', 'pprof', 'info prints weights in bytes as bytes')
def _():
    strings = ('', 'alloc_space', 'bytes', 'main.f', 'main.go')
    location = message(4, number(1, 1) + message(4, number(1, 1) + number(2, 3))) + message(5, number(1, 1) + number(2, 3) + number(4, 4))
    put('a.pb', message(1, number(1, 1) + number(2, 2)) + message(2, number(1, 1) + number(2, 4096)) + location + b''.join(message(6, t.encode()) for t in strings))
    has(said('info', '-v', 'a.pb'), '4096 bytes in 1 event of main.f')
    equal(json.loads(run('info', '-v', '--json', 'a.pb').stdout)['traces'][0]['unit'], 'bytes')


@case('ocaml/dune#13911', 'json', 'timestamps that are dates in s or in ns are read in us, with a note')
def _():
    for ts, note in ((1774400000.123456, 'in s rather'), (1525770000000000000, 'in ns rather')):
        put('a.json', [x('exec', ts, 0.0123), x('link', ts + 1, 0.2)])
        has(said('info', 'a.json'), f'dates if they were {note} than in us')
        equal(run('rebase', 'a.json', '--scale', '1000000', '-o', 'b.json', '--force').returncode, 0)
    for ts, dur in ((1774400000.123, 12.5), (1774400000123456.5, 0.2), (123456, 0.1), (1525770000000, 0.1)):
        put('a.json', [x('exec', ts, dur), x('link', ts + 1, dur)])
        assert 'dates if' not in said('info', 'a.json'), ts


@case('google/perfetto#387', 'json', 'stackFrames may be an array, and a sample without its frame is reported')
def _():
    sample = lambda sf: {'cpu': 0, 'tid': 1, 'ts': 10, 'name': 'cpu', 'sf': sf, 'weight': 1}  # noqa: E731
    frames = [{'id': '1', 'category': 'Dart', 'name': 'main'}, {'id': '2', 'category': 'Dart', 'name': 'build', 'parent': '1'}]
    for stacks in (frames, {f['id']: f for f in frames}):
        put('a.json', {'traceEvents': [x('frame', 0, 100)], 'stackFrames': stacks, 'samples': [sample('2')]})
        equal([e['name'] for e in dump('a.json')], ['frame', 'build'])
        assert 'without their stack' not in said('info', 'a.json')
        put('b.json', {'traceEvents': [x('frame', 0, 100)], 'stackFrames': stacks, 'samples': [sample('3')]})
        has(said('info', 'b.json'), 'not in stackFrames: without their stack')
        equal(json.load(open(converted('a.json', 'c.json')))['stackFrames'], stacks)


# ---- profiles ----

@case('async-profiler/async-profiler#48', 'folded', 'lines with only a weight are samples without a stack')
def _():
    put('a.folded', 'main;f 3\n 5\nmain;g 2\n7\n')
    equal(len(dump('a.folded')), 2)
    has(said('info', 'a.folded'), 'samples without a stack: left out .2 times')


@case('facebookarchive/BOLT#29', 'perf', 'lines of --show-task-events and --show-mmap-events are no samples')
def _():
    put('a.txt', """     swapper     0 [000]     0.000000: PERF_RECORD_COMM exec: ls:100979/100979
          ls 100979 [003] 90.100000: PERF_RECORD_MMAP2 100979/100979: [0x400000(0x1000) @ 0 08:01 1 1]: r-xp /usr/bin/ls
          ls 100979 [003] 90.100200:     1000 cycles:u:
\t      4005d0 main+0x10 (/usr/bin/ls)

          ls 100979 [003] 90.200000: PERF_RECORD_EXIT(100979:100979):(1:1)
""")
    equal([e['name'] for e in dump('a.txt')], ['main'])
    has(said('info', 'a.txt'), 'lines about tasks and mappings')


sys.exit(main())
