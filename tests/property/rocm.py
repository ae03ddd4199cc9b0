#!/usr/bin/env python3
"""Checks databases of AMD's profilers, rpd (schema 2) and rocpd (schema 3 and 4): the trace has the same
number of spans and sum of durations as each table, by SQL on the database; names, queues, links, counters, clocks; several processes;
data that is never read; damage.

Tables are those of ROCm/rocmProfileData and of rocprofiler-sdk-rocpd in ROCm/rocm-systems."""
import collections
import json
import os
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from databases import check_damage, check_formats, converted, measure, named, path, spans, tracekit  # noqa: E402
from verdict import check, finish  # noqa: E402

BOOT = 97 * 86400 * 10**9  # of a host that has run for 97 days

RPD = '''
CREATE TABLE rocpd_metadata ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "tag" varchar(4096) NOT NULL, "value" varchar(4096) NOT NULL);
CREATE TABLE rocpd_string ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "string" varchar(4096) NOT NULL);
CREATE TABLE rocpd_api ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "pid" integer NOT NULL, "tid" integer NOT NULL, "start" integer NOT NULL,
  "end" integer NOT NULL, "apiName_id" integer NOT NULL, "args_id" integer NOT NULL);
CREATE TABLE rocpd_op ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "gpuId" integer NOT NULL, "queueId" integer NOT NULL, "sequenceId" integer,
  "completionSignal" varchar(18), "start" integer NOT NULL, "end" integer NOT NULL, "description_id" integer NOT NULL, "opType_id" integer NOT NULL);
CREATE TABLE rocpd_api_ops ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "api_id" integer NOT NULL, "op_id" integer NOT NULL);
CREATE TABLE rocpd_kernelapi ("api_ptr_id" integer NOT NULL PRIMARY KEY, "stream" varchar(18), "gridX" integer, "gridY" integer, "gridZ" integer,
  "workgroupX" integer, "workgroupY" integer, "workgroupZ" integer, "kernelName_id" integer);
CREATE TABLE rocpd_copyapi ("api_ptr_id" integer NOT NULL PRIMARY KEY, "stream" varchar(18), "size" integer, "kind" integer);
CREATE TABLE rocpd_monitor ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "deviceType" varchar(16), "deviceId" integer, "monitorType" varchar(16),
  "start" integer, "end" integer, "value" varchar(255));
CREATE TABLE ext_callstack (id integer);
CREATE TABLE ext_autogradapi (api_ptr_id integer PRIMARY KEY, autogradName_id integer, seq integer, op_id integer, sizes text, input_op_ids text);
'''
TABLES = {
    'metadata': 'tag TEXT, value TEXT',
    'string': 'guid TEXT, string TEXT',
    'info_process': 'guid TEXT, nid INTEGER, ppid INTEGER, pid INTEGER, command TEXT, environment JSONB DEFAULT "{}" NOT NULL',
    'info_thread': 'guid TEXT, nid INTEGER, ppid INTEGER, pid INTEGER, tid INTEGER, name TEXT',
    'info_agent': 'guid TEXT, nid INTEGER, pid INTEGER, type TEXT CHECK ("type" IN (\'CPU\', \'GPU\')), absolute_index INTEGER, type_index INTEGER',
    'info_queue': 'guid TEXT, nid INTEGER, pid INTEGER, name TEXT',
    'info_stream': 'guid TEXT, nid INTEGER, pid INTEGER, name TEXT',
    'info_kernel_symbol': 'guid TEXT, nid INTEGER, pid INTEGER, kernel_name TEXT, display_name TEXT',
    'info_pmc': 'guid TEXT, nid INTEGER, pid INTEGER, agent_id INTEGER, name TEXT',
    'track': 'guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, name_id INTEGER',
    'event': 'guid TEXT, category_id INTEGER, stack_id INTEGER, correlation_id INTEGER',
    'region': 'guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, track_id INTEGER, start BIGINT NOT NULL, "end" BIGINT NOT NULL, '
              'name_id INTEGER, event_id INTEGER, FOREIGN KEY (nid) REFERENCES x (id) ON UPDATE CASCADE',
    'kernel_dispatch': 'guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, agent_id INTEGER, kernel_id INTEGER, dispatch_id INTEGER, '
                       'queue_id INTEGER, stream_id INTEGER, start BIGINT, "end" BIGINT, group_segment_size INTEGER, '
                       'workgroup_size_x INTEGER, workgroup_size_y INTEGER, workgroup_size_z INTEGER, '
                       'grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER, event_id INTEGER',
    'memory_copy': 'guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, start BIGINT, "end" BIGINT, name_id INTEGER, dst_agent_id INTEGER, '
                   'src_agent_id INTEGER, size INTEGER, queue_id INTEGER, stream_id INTEGER, event_id INTEGER',
    'memory_allocate': 'guid TEXT, start BIGINT, size INTEGER',
    'sample': 'guid TEXT, track_id INTEGER, timestamp BIGINT, event_id INTEGER',
    'pmc_event': 'guid TEXT, event_id INTEGER, pmc_id INTEGER, value REAL',
}


def flows(events):
    """Returns the pairs of points: start and end of each flow."""
    points = collections.defaultdict(dict)
    for e in events:
        if e['ph'] in 'sf':
            points[e['id']][e['ph']] = e
    return [(p['s'], p['f']) for p in points.values()]


def sums_agree(source, tables):
    events, _ = converted(source)
    db = sqlite3.connect(source)
    for table, categories in tables.items():
        want = db.execute(f'SELECT count(*), total("end" - start) FROM "{table}"').fetchone()
        found = spans(events, *categories)
        got = measure(found)
        check(f'{table}: number and sum', got == (want[0], int(want[1])), f'{got} instead of {want}')
    db.close()
    return events


# ---- rpd ----

class Rpd:
    def __init__(self, name):
        self.db = sqlite3.connect(path(name))
        self.db.executescript(RPD)
        self.texts = {}
        self.session = 1 << 32
        self.id = 0

    def text(self, value):
        if value not in self.texts:
            self.texts[value] = self.session + len(self.texts) + 1
            self.db.execute('INSERT INTO rocpd_string VALUES (?, ?)', (self.texts[value], value))
        return self.texts[value]

    def add(self, table, **values):
        self.id += 1
        values = values if 'api_ptr_id' in values or 'tag' in values else {'id': self.session + self.id, **values}
        self.db.execute(f'INSERT INTO {table} ({", ".join(values)}) VALUES ({", ".join("?" * len(values))})', list(values.values()))
        return values.get('id')

    def call(self, pid, start, end, name, args=''):
        return self.add('rocpd_api', pid=pid, tid=pid + 1, start=BOOT + start, end=BOOT + end, apiName_id=self.text(name), args_id=self.text(args))

    def op(self, start, end, kind, name='', gpu=2, queue=0):
        return self.add('rocpd_op', gpuId=gpu, queueId=queue, sequenceId=0, completionSignal='', start=BOOT + start, end=BOOT + end,
                        description_id=self.text(name), opType_id=self.text(kind))

    def close(self):
        self.db.commit()
        self.db.close()


def rpd():
    half_sized()
    r = Rpd('one.rpd')
    for i in range(50):
        call = r.call(100, 1000 * i, 1000 * i + 300, 'hipLaunchKernel')
        r.add('rocpd_kernelapi', api_ptr_id=call, stream='0x0', gridX=4, gridY=5, gridZ=6, workgroupX=64, workgroupY=1, workgroupZ=1,
              kernelName_id=r.text(f'kernel_{i % 3}'))
        r.add('rocpd_api_ops', api_id=call, op_id=r.op(1000 * i + 400, 1000 * i + 1100, 'KernelExecution'))
    copy = r.call(200, 60000, 60100, 'hipMemcpyAsync', 'dst=0x7f | size=8')
    r.add('rocpd_copyapi', api_ptr_id=copy, stream='0x1', size=4096, kind=1)
    r.add('rocpd_api_ops', api_id=copy, op_id=r.op(60200, 60900, 'CopyHostToDevice', queue=1))
    graph = r.call(200, 70000, 70100, 'hipGraphLaunch')
    for k in range(3):
        r.add('rocpd_api_ops', api_id=graph, op_id=r.op(70200 + 100 * k, 70250 + 100 * k, 'Task', f'in graph {k}'))
    r.op(71000, 71100, 'Task')
    r.op(71000, 71200, 'FillBuffer', gpu=3)
    r.call(100, 10, 50000, 'UserMarker', 'aten::linear')
    r.call(100, 20, 40000, 'UserMarker', 'aten::mm, seq = 4, op_id = 5, sizes = [[2, 3], [3, 4]]')
    for i, (name, *parts) in enumerate([('aten::bmm', 7, 9, '[[1, 2, 3], [1, 3, 4]]'), ('FlashAttnFunc', '', 8, ''), ('bad', 1, 2, 'x'), ('execute', None)]):
        call = r.call(100, 51000 + 100 * i, 51050 + 100 * i, 'UserMarker', name)
        if parts != [None]:
            r.db.execute('INSERT INTO ext_autogradapi VALUES (?, 0, ?, ?, ?, "")', (call, *parts))
    for start, value in ((0, '800'), (500, '1700.5'), (900, 'n/a')):
        r.add('rocpd_monitor', deviceType='gpu', deviceId=2, monitorType='sclk', start=BOOT + start, end=BOOT + start + 1, value=value)
    r.add('rocpd_metadata', tag='schema_version', value='2')
    r.db.execute('INSERT INTO ext_callstack VALUES (1)')
    r.close()
    events = sums_agree(path('one.rpd'), {'rocpd_api': ('hip_api', 'marker_api', 'api', 'cpu_op'), 'rocpd_op': ('kernel', 'gpu_memcpy', 'gpu_memset', 'gpu_sync')})
    kernels = spans(events, 'kernel')
    check('kernels of calls are called by their name', [e['name'] for e in kernels].count('kernel_1') == 17, len(kernels))
    check('kernels of a graph are kernels, a task without a name is a barrier',
          len(kernels) == 53 and [e['name'] for e in spans(events, 'gpu_sync')] == ['Task'])
    check('grid and workgroup', kernels[0]['args']['grid'] == [4, 5, 6] and kernels[0]['args']['block'] == [64, 1, 1], kernels[0])
    check('a marker is called by its text', [e['name'] for e in spans(events, 'marker_api')] == ['execute'], spans(events, 'marker_api'))
    check('a marker of PyTorch is an operator', [(e['name'], e.get('args')) for e in sorted(spans(events, 'cpu_op'), key=lambda e: e['ts'])] ==
          [('aten::linear', None), ('aten::mm', {'Sequence number': 4, 'op_id': 5, 'Input Dims': [[2, 3], [3, 4]]}),
           ('aten::bmm', {'Sequence number': 7, 'op_id': 9, 'Input Dims': [[1, 2, 3], [1, 3, 4]]}), ('FlashAttnFunc', {'op_id': 8}), ('bad', None)],
          spans(events, 'cpu_op'))
    check('args of calls', spans(events, 'hip_api')[-2]['args']['args'] == 'dst=0x7f | size=8', spans(events, 'hip_api')[-2])
    check('bytes of copies', spans(events, 'gpu_memcpy')[0]['args']['bytes'] == 4096)
    check('GPUs and queues', set(named(events, 'process_name').values()) >= {'GPU 2', 'GPU 3'} and
          set(named(events, 'thread_name').values()) >= {'queue 0', 'queue 1'}, named(events, 'thread_name'))
    found = flows(events)
    check('every call is linked with its work', len(found) == 54 and all(s['ts'] <= f['ts'] for s, f in found), len(found))
    samples = [(round((e['ts'] - kernels[0]['ts']) * 1000) + 400, e['args']['value']) for e in events if e['ph'] == 'C']
    check('monitors are counters', samples == [(0, 800), (500, 1700.5)], samples)
    status, out, said = tracekit('info', path('one.rpd'))
    check('the clock is that of the host since its start', status == 0 and 'monotonic' in out, out)
    check('samples that are no numbers are counted', 'a numeric value' in said, said)
    check('tables of other tools are named', 'ext_callstack' in said, said)
    sized = [(line.split()[3], *line.split()[6:8]) for line in tracekit('report', path('half.rpd'))[1].splitlines() if line.endswith('CopyHostToDevice')]
    check('the number of copies with a size is beside the bytes', sized == [('3', '1', '4.1')], sized)
    out = tracekit('report', '--json', path('one.rpd'))[1]
    check('the report knows kernels and copies', {k['kind'] for k in json.loads(out)['kernels']} == {'compute', 'copy', 'fill'}, out[:200])


def half_sized():
    """Writes a file in which one of three copies has a size."""
    r = Rpd('half.rpd')
    for i, size in enumerate((4096, None, None)):
        call = r.call(200, 1000 * i, 1000 * i + 100, 'hipMemcpyAsync')
        if size:
            r.add('rocpd_copyapi', api_ptr_id=call, stream='0x1', size=size, kind=1)
        r.add('rocpd_api_ops', api_id=call, op_id=r.op(1000 * i + 200, 1000 * i + 900, 'CopyHostToDevice', queue=1))
    r.close()


def missing():
    """Checks that a first row without a time does not become the origin."""
    r = Rpd('missing.rpd')
    r.call(100, -BOOT, -BOOT, 'lost')
    r.call(100, 1000, 3000, 'kept')
    r.close()
    status, out, said = tracekit('dump', path('missing.rpd'))
    check('a row without a time is skipped and counted, the others stay', 'kept' in out and 'lost' not in out and 'without a usable start' in said, said)


# ---- rocpd ----

class Rocpd:
    def __init__(self, db, number, pid):
        self.db, self.guid, self.pid = db, f'0000000{number}-0000-7000-8000-000000000001', pid
        self.end = '_' + self.guid.replace('-', '_')
        for table, columns in TABLES.items():
            self.db.execute(f'CREATE TABLE `rocpd_{table}{self.end}` ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, {columns})')
        self.texts = {}
        self.process = self.add('info_process', nid=1, pid=pid, command='train --key hush-hush', environment='{"TOKEN": "hush-hush"}')
        self.thread = self.add('info_thread', nid=1, pid=self.process, tid=pid, name='main')
        self.add('info_agent', nid=1, pid=1, type='CPU', absolute_index=0, type_index=0)
        self.gpu = self.add('info_agent', nid=1, pid=1, type='GPU', absolute_index=1, type_index=0)
        self.other = self.add('info_agent', nid=1, pid=1, type='GPU', absolute_index=2, type_index=1)
        self.queue = self.add('info_queue', nid=1, pid=1, name=f'Queue {16 + number}')
        self.stream = self.add('info_stream', nid=1, pid=1, name='Stream 5')

    def add(self, table, **values):
        names = ', '.join(f'"{name}"' for name in values)
        sql = f'INSERT INTO `rocpd_{table}{self.end}` (guid, {names}) VALUES (?{", ?" * len(values)})'
        if table == 'metadata':
            sql = sql.replace('(guid, ', '(').replace('(?, ', '(')
            return self.db.execute(sql, list(values.values())).lastrowid
        return self.db.execute(sql, [self.guid, *values.values()]).lastrowid

    def text(self, value):
        if value not in self.texts:
            self.texts[value] = self.add('string', string=value)
        return self.texts[value]

    def event(self, category, stack):
        return self.add('event', category_id=self.text(category), stack_id=stack, correlation_id=0)

    def region(self, start, end, name, category, stack=0, **place):
        place = place or {'nid': 1, 'pid': self.process, 'tid': self.thread}
        self.add('region', start=BOOT + start, end=BOOT + end, name_id=self.text(name), event_id=self.event(category, stack), **place)

    def kernel(self, start, end, name, stack=0, agent=None):
        symbol = self.add('info_kernel_symbol', kernel_name=name + '.kd', display_name=name)
        event = self.event('KERNEL_DISPATCH', stack)
        self.add('kernel_dispatch', nid=1, pid=self.process, tid=self.thread, agent_id=agent or self.gpu, kernel_id=symbol, dispatch_id=7,
                 queue_id=self.queue, stream_id=self.stream, start=BOOT + start, end=BOOT + end, group_segment_size=64, workgroup_size_x=256,
                 workgroup_size_y=1, workgroup_size_z=1, grid_size_x=1024, grid_size_y=2, grid_size_z=1, event_id=event)
        return event

    def copy(self, start, end, stack=0):
        self.add('memory_copy', nid=1, pid=self.process, tid=self.thread, start=BOOT + start, end=BOOT + end,
                 name_id=self.text('MEMORY_COPY_HOST_TO_DEVICE'), dst_agent_id=self.gpu, src_agent_id=1, size=4096, queue_id=self.queue,
                 stream_id=self.stream, event_id=self.event('MEMORY_COPY', stack))


def rocpd():
    db = sqlite3.connect(path('two.db'))
    sets = [Rocpd(db, number, pid) for number, pid in ((1, 501), (2, 502))]
    for s in sets:
        for i in range(40):
            s.region(1000 * i, 1000 * i + 200, 'hipLaunchKernel', 'HIP_RUNTIME_API', stack=i + 1)
            s.kernel(1000 * i + 300, 1000 * i + 1400, f'gemm_{i % 2}', stack=i + 1)
        s.region(50000, 50100, 'hipMemcpyAsync', 'HIP_RUNTIME_API', stack=99)
        s.copy(50200, 50300, stack=99)
        s.region(0, 60000, 'train', 'MARKER_CORE_API')
        track = s.add('track', nid=1, pid=s.process, tid=s.thread)
        s.region(61000, 61500, 'by track', 'HSA_CORE_API', track_id=track)
        s.kernel(70000, 70100, 'elsewhere', agent=s.other)
    first = sets[0]
    counter = first.add('info_pmc', nid=1, pid=1, agent_id=first.gpu, name='SQ_WAVES')
    event = first.kernel(80000, 80100, 'counted')
    first.add('pmc_event', event_id=event, pmc_id=counter, value=12.5)
    timed = first.event('sampling', 0)
    first.add('sample', track_id=1, timestamp=BOOT + 90000, event_id=timed)
    first.add('pmc_event', event_id=timed, pmc_id=counter, value=3.0)
    first.add('memory_allocate', start=BOOT, size=1)
    db.execute(f'CREATE VIEW rocpd_region AS SELECT * FROM `rocpd_region{first.end}`')
    db.commit()
    db.close()
    events, _ = converted(path('two.db'))
    db = sqlite3.connect(path('two.db'))
    for table, categories in (('region', ('hip_api', 'marker_api', 'hsa_api')), ('kernel_dispatch', ('kernel_dispatch',)), ('memory_copy', ('memory_copy',))):
        each = [db.execute(f'SELECT count(*), total("end" - start) FROM `rocpd_{table}{s.end}`').fetchone() for s in sets]
        want = (sum(n for n, _ in each), int(sum(total for _, total in each)))
        found = spans(events, *categories)
        got = measure(found)
        check(f'{table}: number and sum', got == want, f'{got} instead of {want}')
    db.close()
    names, threads = named(events, 'process_name'), named(events, 'thread_name')
    check('a GPU is one for all processes, its queues are not', sorted(names.values()) == ['GPU 0', 'GPU 1'] and
          {'Queue 17', 'Queue 18', 'main'} == set(threads.values()), (names, threads))
    check('regions are on the threads of their processes', {(e['pid'], e['tid']) for e in spans(events, 'hip_api', 'hsa_api', 'marker_api')} ==
          {(501, 501), (502, 502)})
    kernel = spans(events, 'kernel_dispatch')[0]
    check('args of a kernel', kernel['args']['grid'] == [1024, 2, 1] and kernel['args']['block'] == [256, 1, 1] and
          kernel['args']['stream'] == 'Stream 5' and kernel['args']['device'] == 0, kernel)
    found = flows(events)
    queue_of = {501: 'Queue 17', 502: 'Queue 18'}
    check('work is linked within its process', len(found) == 82 and
          all(threads[f['pid'], f['tid']] == queue_of[s['pid']] and s['ts'] < f['ts'] for s, f in found), len(found))
    samples = [e['args']['value'] for e in events if e['ph'] == 'C']
    check('counters of dispatches and samples', samples == [12.5, 3], samples)
    status, out, said = tracekit('info', path('two.db'))
    check('what is not read is named', status == 0 and 'rocpd_memory_allocate' in said, said)
    check('devices are found', 'GPU 0, GPU 1' in out, out)
    for ending in ('json', 'pftrace', 'xplane.pb'):
        tracekit('convert', '-q', '--force', path('two.db'), '-o', path(f'secret.{ending}'))
        with open(path(f'secret.{ending}'), 'rb') as f:
            check(f'{ending}: neither command line nor environment', b'hush-hush' not in f.read())


def main():
    rpd()
    missing()
    rocpd()
    check_formats('one.rpd', 'two.db')
    check_damage('one.rpd', 'two.db')
    return finish()


if __name__ == '__main__':
    sys.exit(main())
