#!/usr/bin/env python3
"""Checks databases of Ascend (torch_npu, msprof): the trace has the same number of spans and sum of durations as each table, by SQL on
the database; the rows of trace_view.json; parts and wholes; links; the rank; damage.

Tables are those of torch_npu's ascend_pytorch_profiler_RANK.db."""
import collections
import json
import os
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from databases import check_damage, check_formats, converted, measure, named, path, spans, tracekit  # noqa: E402
from verdict import check, finish  # noqa: E402

EPOCH = 1736410576000000000
NONE = 4294967295
PID = 3096504
TABLES = '''
CREATE TABLE STRING_IDS (id INTEGER, value TEXT);
CREATE TABLE SESSION_TIME_INFO (startTimeNs INTEGER, endTimeNs INTEGER);
CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, deviceId INTEGER);
CREATE TABLE CONNECTION_IDS (id INTEGER, connectionId INTEGER);
CREATE TABLE PYTORCH_API (startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER, name INTEGER, sequenceNumber INTEGER,
  fwdThreadId INTEGER, inputDtypes INTEGER, inputShapes INTEGER, callchainId INTEGER, type INTEGER, depth INTEGER);
CREATE TABLE CANN_API (startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER, connectionId INTEGER, name INTEGER, depth INTEGER);
CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER, globalPid INTEGER,
  taskType INTEGER, contextId INTEGER, streamId INTEGER, taskId INTEGER, modelId INTEGER);
CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER, blockDim INTEGER, opType INTEGER, inputShapes INTEGER, outputShapes INTEGER);
CREATE TABLE COMMUNICATION_TASK_INFO (name INTEGER, globalTaskId INTEGER, planeId INTEGER, groupName INTEGER, srcRank INTEGER, dstRank INTEGER,
  size INTEGER);
CREATE TABLE COMMUNICATION_OP (opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER, groupName INTEGER, algType INTEGER,
  count NUMERIC, opType INTEGER, dataType INTEGER);
CREATE TABLE AICORE_FREQ (deviceId INTEGER, timestampNs NUMERIC, freq INTEGER);
CREATE TABLE MEMORY_RECORD (component INTEGER, timestamp INTEGER, totalAllocated INTEGER, totalReserved INTEGER, totalActive INTEGER,
  streamPtr INTEGER, deviceId INTEGER);
CREATE TABLE LLC (deviceId INTEGER, llcId INTEGER, timestampNs INTEGER, hitRate REAL);
'''


class Database:
    def __init__(self, name):
        self.db = sqlite3.connect(path(name))
        self.db.executescript(TABLES)
        self.texts, self.tasks = {}, 0

    def add(self, table, **values):
        self.db.execute(f'INSERT INTO {table} ({", ".join(values)}) VALUES ({", ".join("?" * len(values))})', list(values.values()))

    def text(self, value):
        if value not in self.texts:
            self.texts[value] = (1 << 28) + len(self.texts)
            self.add('STRING_IDS', id=self.texts[value], value=value)
        return self.texts[value]

    def torch(self, start, end, name, kind=50001, connection=None, tid=PID):
        self.add('PYTORCH_API', startNs=str(EPOCH + start), endNs=str(EPOCH + end), globalTid=PID << 32 | tid, connectionId=connection,
                 name=self.text(name), sequenceNumber=3, inputShapes=self.text('2,3;4'), type=kind, depth=1)

    def cann(self, start, end, name, connection, kind=20000, tid=PID):
        self.add('CANN_API', startNs=EPOCH + start, endNs=EPOCH + end, type=kind, globalTid=PID << 32 | tid, connectionId=connection,
                 name=self.text(name), depth=0)

    def task(self, start, end, kind, connection=NONE, context=NONE, stream=2):
        self.tasks += 1
        self.add('TASK', startNs=EPOCH + start, endNs=EPOCH + end, deviceId=0, connectionId=connection, globalTaskId=self.tasks, globalPid=PID,
                 taskType=self.text(kind), contextId=context, streamId=stream, taskId=self.tasks, modelId=NONE)
        return self.tasks

    def close(self):
        self.db.commit()
        self.db.close()


def make(name, rank=5):
    d = Database(name)
    d.add('RANK_DEVICE_MAP', rankId=rank, deviceId=0)
    for i in range(20):
        at = 10000 * i
        d.torch(at, at + 3000, 'aten::mm', connection=i)
        d.add('CONNECTION_IDS', id=i, connectionId=1000 + i)
        d.cann(at + 100, at + 900, 'aclnnMm', 1000 + i)
        task = d.task(at + 4000, at + 6500, 'KERNEL_AICORE', 1000 + i)
        d.add('COMPUTE_TASK_INFO', name=d.text('MatMulV2'), globalTaskId=task, blockDim=32, opType=d.text('MatMul'),
              inputShapes=d.text('2,3'), outputShapes=d.text('3,2'))
    d.torch(0, 500000, 'train.py(1): <module>', kind=50003)
    d.torch(210000, 210100, 'Enqueue', kind=50002, connection=50)
    d.torch(210200, 210900, 'Dequeue@Mm', kind=50002, connection=50, tid=PID + 1)
    d.add('CONNECTION_IDS', id=50, connectionId=9000)
    d.add('COMMUNICATION_OP', opName=d.text('hcom_allReduce__210_0_1'), startNs=EPOCH + 300000, endNs=EPOCH + 390000, connectionId=1500,
          groupName=d.text('group'), algType=d.text('MESH-RING'), count=4096, opType=d.text('hcom_allReduce_'), dataType=4)
    d.cann(299000, 299500, 'launch', 1500, kind=10000)
    d.task(299900, 390100, 'AI_CORE', 1500)
    for k in range(4):
        part = d.task(300000 + 10000 * k, 309000 + 10000 * k + 5000, 'Notify Wait', 1500, context=k)
        d.add('COMMUNICATION_TASK_INFO', name=d.text('hcom_allReduce__210_0_1'), globalTaskId=part, planeId=k % 2, groupName=d.text('group'),
              srcRank=0, dstRank=1, size=64)
    d.task(400000, 400500, 'MEMCPY_ASYNC')
    d.task(400600, 400900, 'EVENT_WAIT')
    for k, value in enumerate((1800, 1650)):
        d.add('AICORE_FREQ', deviceId=0, timestampNs=EPOCH + 1000 * k, freq=value)
    d.add('MEMORY_RECORD', component=d.text('PTA'), timestamp=EPOCH + 5000, totalAllocated=100, totalReserved=200, totalActive=90, deviceId=0)
    d.add('LLC', deviceId=0, llcId=0, timestampNs=EPOCH, hitRate=0.5)
    d.close()


def whole():
    make('ascend_pytorch_profiler_5.db')
    source = path('ascend_pytorch_profiler_5.db')
    events, _ = converted(source)
    names, threads = named(events, 'process_name'), named(events, 'thread_name')
    db = sqlite3.connect(source)
    for table, where in (('PYTORCH_API', {'Python'}), ('CANN_API', {'CANN'})):
        want = db.execute(f'SELECT count(*), total(endNs - startNs) FROM {table}').fetchone()
        found = [e for e in events if e['ph'] == 'X' and names[e['pid']] in where]
        got = measure(found)
        check(f'{table}: number and sum', got == (want[0], int(want[1])), f'{got} instead of {want}')
    work_rows = [e for e in events if e['ph'] == 'X' and names[e['pid']] in ('Ascend Hardware', 'Communication')]
    want = db.execute('SELECT count(*), sum(endNs - startNs) FROM (SELECT startNs, endNs FROM TASK UNION ALL SELECT startNs, endNs FROM '
                      'COMMUNICATION_OP)').fetchone()
    got = measure(work_rows)
    check('tasks and collectives: number and sum', got == want, f'{got} instead of {want}')
    db.close()
    check('processes are those of trace_view.json', set(names.values()) >= {'Python', 'CANN', 'Ascend Hardware', 'Communication'}, names)
    check('their numbers, too', {PID, PID << 10 | 7 << 5, PID << 10 | 13 << 5} <= set(names), names)
    kernel = spans(events, 'npu_kernel')[0]
    check('a kernel has the name and args of its info', kernel['name'] == 'MatMulV2' and kernel['args']['Block Dim'] == 32 and
          kernel['args']['Op Type'] == 'MatMul' and threads[kernel['pid'], kernel['tid']] == 'Stream 2', kernel)
    check('a task that consists of others is no kernel', [e['name'] for e in spans(events, 'npu_sync')] == ['AI_CORE'])
    planes = {threads[e['pid'], e['tid']] for e in work_rows if names[e['pid']] == 'Communication'}
    check('collectives and their planes', planes == {'Group 0 Communication', 'Plane 0', 'Plane 1'}, planes)
    check('calls are named as in trace_view.json', {'AscendCL@aclnnMm', 'Node@launch'} == {e['name'] for e in spans(events, 'npu_runtime')})
    check('ts is absolute', abs(kernel['ts'] - (EPOCH + 4000) / 1000) < 1, kernel['ts'])
    flows = collections.Counter(e['cat'] for e in events if e['ph'] == 's')
    check('links', flows == {'HostToDevice': 21, 'async_npu': 20, 'async_task_queue': 1}, flows)
    samples = [e['args'] for e in events if e['ph'] == 'C']
    check('counters', {'freq': 1650} in samples and {'totalAllocated': 100, 'totalReserved': 200, 'totalActive': 90} in samples, samples)
    out, said = tracekit('info', source)[1:]
    check('rank and device', 'rank      5' in out and 'NPU 0' in out, out)
    check('tables that are not read are named', 'LLC' in said, said)
    report = json.loads(tracekit('report', '--json', source)[1])
    times = {k['name']: k['count'] for k in report['kernels']}
    rows = json.loads(tracekit('top', '-q', '--json', '--kind', 'kernel', '--by', 'op', source)[1])['rows']
    check('kernels belong to operators by flows', {r['name']: r['count'] for r in rows} == {'aten::mm': 20, None: 1}, rows)
    check('the report knows kernels, copies and collectives', times == {'MatMulV2': 20, 'hcom_allReduce__*_*_*': 1, 'MEMCPY_ASYNC': 1}, times)


def missing():
    """Checks that a first row without a time does not become the origin, whether or not the session has a start."""
    for session in (0, EPOCH):
        d = Database('missing.db')
        d.torch(-EPOCH, -EPOCH, 'lost')
        d.torch(1000, 3000, 'kept')
        if session:
            d.add('SESSION_TIME_INFO', startTimeNs=session)
        d.close()
        status, out, said = tracekit('convert', path('missing.db'), '-f', 'json')
        document = json.loads(out)
        found = [(e['name'], round(e['ts'] * 1000) + document.get('baseTimeNanoseconds', 0)) for e in document['traceEvents'] if e['ph'] == 'X']
        check('a row without a time is skipped, the others keep theirs', [n for n, _ in found] == ['kept'] and abs(found[0][1] - EPOCH - 1000) < 1000, found)
        check('it is counted', 'without a usable start' in said, said)
        os.unlink(path('missing.db'))


def ranks():
    make('rank6.db', rank=6)
    status, _, said = tracekit('merge', '-q', '--force', path('ascend_pytorch_profiler_5.db'), path('rank6.db'), '-o', path('m.json'),
                               '--align-report', path('report.json'))
    with open(path('report.json'), encoding='utf-8') as f:
        hosts = json.load(f)['hosts']
    check('two ranks merge', status == 0 and sorted(sum((h['ranks'] for h in hosts), [])) == [5, 6], said or hosts)
    want = shares(path('ascend_pytorch_profiler_5.db'), path('rank6.db'))
    check('each rank communicates', all(row[2] for row in want), want)
    for name in ('m.json', 'm.pftrace'):
        tracekit('merge', '-q', '--force', path('ascend_pytorch_profiler_5.db'), path('rank6.db'), '-o', path(name))
        check(f'{name} has the times of its ranks', shares(path(name)) == want, (shares(path(name)), want))
    with open(path('m.json'), encoding='utf-8') as f:
        names = [(e['pid'], e['args']['name']) for e in json.load(f)['traceEvents'] if e.get('name') == 'process_name']
    tracekit('convert', '-q', '--force', path('rank6.db'), '-o', path('c.json'))
    with open(path('c.json'), encoding='utf-8') as f:
        types = [e['args'].get('data_type') for e in json.load(f)['traceEvents'] if e['name'].startswith('hcom_') and 'count' in e.get('args', {})]
    check('type of the elements', types == ['FP32'], types)
    check('processes have different names', len({name for _, name in names}) == len(names), names)
    for names in (['rank6.db'], ['ascend_pytorch_profiler_5.db', 'rank6.db']):
        row, = json.loads(tracekit('report', '-q', '--json', *map(path, names))[1])['collectives']
        moved = 4096 * 4 * len(names)
        check(f'bytes of collectives of {len(names)} ranks', (row['bytes'], row['bytes_known'], row['sized']) == (moved, len(names), 0), row)
    check('the text has the bytes, too', ' 32.8 KB ' in tracekit('report', '-q', path('ascend_pytorch_profiler_5.db'), path('rank6.db'))[1])
    want = answers('rank6.db')
    for name in ('rank.json', 'rank.pftrace', 'rank.xplane.pb'):
        status, _, said = tracekit('convert', '-q', '--force', '--no-loss', path('rank6.db'), '-o', path(name))
        check(f'{name} loses nothing', status == 0, said)
        check(f'{name} has the rank, the device and the collectives', answers(name) == want, (answers(name), want))


def answers(name):
    """Returns what a report states about the ranks and the collectives of a file, but for names of files and hosts."""
    report = json.loads(tracekit('report', '-q', '--json', path(name))[1])
    rows = [{k: v for k, v in row.items() if k not in ('input', 'host')} for row in report['ranks']]
    return rows, report['collectives'], report['kernels'], report['launches'], report['memory']


def levels():
    """Checks that modules contain the work of their operators at every profiler level: level 1 also records the calls of CANN, which
    another thread makes after the operator has ended, in the span of a later operator."""
    answers = {}
    for level in (0, 1):
        d = Database(f'level{level}.db')
        d.add('RANK_DEVICE_MAP', rankId=0, deviceId=0)
        for i in range(3):
            at = 10000 * i
            d.torch(at, at + 5000, f'nn.Module: Linear_{i}', kind=50003)
            d.torch(at + 100, at + 200, 'aclnnMm', connection=i)
            d.add('CONNECTION_IDS', id=i, connectionId=1000 + i)
            if level:
                d.cann(at + 11000, at + 11500, 'launch', 1000 + i, kind=10000, tid=PID + 1)
            task = d.task(at + 12000, at + 13000 + 100 * i, 'KERNEL_AICORE', 1000 + i)
            d.add('COMPUTE_TASK_INFO', name=d.text('MatMulV2'), globalTaskId=task, opType=d.text('MatMul'), inputShapes=d.text('2,3'))
        d.torch(40000, 60000, 'nn.Module: Late', kind=50003)
        d.close()
        for name in (f'level{level}.db', *(f'level{level}.{ending}' for ending in ('json', 'pftrace', 'xplane.pb'))):
            if not name.endswith('.db'):
                tracekit('convert', '-q', '--force', path(f'level{level}.db'), '-o', path(name))
            rows = json.loads(tracekit('tree', '-q', '--json', '--layers', path(name))[1])['paths']
            select = ('--allow-empty', '--kind', 'kernel', '--launched-by')
            launched = [json.loads(tracekit('top', '-q', '--json', *select, f'nn.Module: Linear_{i}', path(name))[1]) for i in range(3)]
            calls = json.loads(tracekit('report', '-q', '--json', path(name))[1])['launches']
            answers[name] = ({r['name']: r['device_ns'] for r in rows}, [sum(r['total_ns'] for r in a['rows']) for a in launched],
                             [(c['name'], c['work'], c['delay_ns']) for c in calls])
    want = ({'nn.Module: Linear_0': 1000, 'nn.Module: Linear_1': 1100, 'nn.Module: Linear_2': 1200, 'nn.Module: Late': None}, [1000, 1100, 1200],
            [('aclnnMm', 3, 3 * 11800)])
    for name, answer in answers.items():
        check(f'{name}: work belongs to the module of its operator', answer == want, (answer, want))


def shares(*paths):
    """Returns rank, device, and the times of communication and computation in ns."""
    rows = json.loads(tracekit('report', '-q', '--json', *paths)[1])['ranks']
    return [(r['rank'], r['device'], r['communication_ns'], r['compute_ns']) for r in rows]


def main():
    whole()
    missing()
    ranks()
    levels()
    check_formats('ascend_pytorch_profiler_5.db')
    check_damage('rank6.db', seed=3)
    return finish()


if __name__ == '__main__':
    sys.exit(main())
