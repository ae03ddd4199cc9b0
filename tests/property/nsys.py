#!/usr/bin/env python3
"""Checks exports of Nsight Systems: the trace has the same number of spans and sum of durations as each table, by SQL on the export;
calls and kernels are linked within their process; names, clocks, NVTX and counters; data that is never read; damage; and files that
are not exports.

Tables are those that 'nsys export -t sqlite' writes (tests/support/nsysreport.py)."""
import collections
import json
import os
import random
import sqlite3
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from databases import check_damage, check_formats, converted, folder, measure, named, path, spans, tracekit  # noqa: E402
from nsysreport import EPOCH, Report, process  # noqa: E402
from verdict import check, finish  # noqa: E402

CATEGORIES = {'CUPTI_ACTIVITY_KIND_KERNEL': ('kernel',), 'CUPTI_ACTIVITY_KIND_MEMCPY': ('gpu_memcpy',), 'OSRT_API': ('osrt',),
              'CUPTI_ACTIVITY_KIND_MEMSET': ('gpu_memset',), 'CUPTI_ACTIVITY_KIND_SYNCHRONIZATION': ('cuda_sync',),
              'CUPTI_ACTIVITY_KIND_RUNTIME': ('cuda_runtime', 'cuda_driver'), 'MPI_COLLECTIVES_EVENTS': ('mpi',),
              'CUPTI_ACTIVITY_KIND_OVERHEAD': ('overhead',)}


def sums_agree(source):
    """Compares the number of spans and the sum of their durations by table with SQL on the database."""
    events, _ = converted(source)
    db = sqlite3.connect(source)
    there = {name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    for table, categories in CATEGORIES.items():
        if table not in there:
            continue
        want = db.execute(f'SELECT count(*), total(end - start) FROM {table}').fetchone()
        found = spans(events, *categories)
        got = measure(found)
        check(f'{os.path.basename(source)}: {table}: number and sum', got == (want[0], int(want[1])), f'{got} instead of {want}')
    if 'NVTX_EVENTS' in there:
        want = db.execute('SELECT count(*), total(end - start) FROM NVTX_EVENTS WHERE end IS NOT NULL '
                          'AND (eventType = 59 OR eventType = 60 AND (endGlobalTid IS NULL OR endGlobalTid = globalTid))').fetchone()
        found = [e for e in spans(events, 'nvtx') if e.get('name') != 'open']
        got = measure(found)
        check(f'{os.path.basename(source)}: ranges: number and sum', got == (want[0], int(want[1])), f'{got} instead of {want}')
    db.close()


def whole():
    """Writes an export of two processes, each with a device 0 of its own, equal correlation ids, and rows in random order."""
    draw = random.Random(3)
    r = Report(path('whole.sqlite'))
    jobs = []
    for rank, pid in enumerate((4001, 4002)):
        r.add('PROCESSES', globalPid=process(pid), pid=pid, name=f'/usr/bin/python{rank}')
        for i in range(60):
            t = 1000000 + 50000 * i + 7 * rank
            jobs.append((r.call, (pid, pid, t, t + 9000), {'correlation': i + 1}))
            jobs.append((r.kernel, (pid, t + 10000, t + 30001, f'gemm_{i % 4}<float>'), {'correlation': i + 1}))
        jobs.append((r.copy, (pid, 900000, 950000), {'correlation': 500}))
        jobs.append((r.copy, (pid, 910000, 990000), {'kind': 11, 'stream': 0}))
        jobs.append((r.call, (pid, pid, 880000, 890000, 'cuMemcpyAsync'), {'correlation': 500, 'eventClass': 1}))
    draw.shuffle(jobs)
    for function, args, more in jobs:
        function(*args, **more)
    r.add('CUPTI_ACTIVITY_KIND_MEMSET', start=1, end=501, deviceId=0, contextId=1, streamId=8, globalPid=process(4001), value=0, bytes=64)
    r.add('CUPTI_ACTIVITY_KIND_SYNCHRONIZATION', start=905000, end=1500000, deviceId=0, contextId=1, streamId=7, globalPid=process(4001),
          correlationId=0, syncType=3)
    r.add('CUPTI_ACTIVITY_KIND_SYNCHRONIZATION', start=905000, end=1600000, deviceId=0, contextId=1, streamId=4294967295,
          globalPid=process(4001), correlationId=0, syncType=1)
    r.add('CUPTI_ACTIVITY_KIND_OVERHEAD', start=880100, end=880200, eventClass=103, globalTid=process(4001) + 4001, correlationId=500,
          nameId=r.text('Buffer flush'), overheadType=3)
    r.add('OSRT_API', start=5, end=5, eventClass=27, globalTid=process(4001) + 4003, nameId=r.text('sem_wait'), returnValue=0, callchainId=0)
    r.add('MPI_COLLECTIVES_EVENTS', start=10, end=90, globalTid=process(4001) + 4003, textId=r.text('MPI_Allreduce'), commHandle=1, size=8)
    r.add('SCHED_EVENTS', start=7, cpu=1, isSchedIn=1, globalTid=process(4001) + 4001)
    r.add('ThreadNames', nameId=r.text('main'), priority=10, globalTid=process(4001) + 4001)
    r.add('ThreadNames', nameId=r.text('a bystander'), priority=10, globalTid=process(4999) + 4999)
    r.add('ThreadNames', nameId=r.text('better'), priority=20, globalTid=process(4001) + 4001)
    r.close()
    sums_agree(path('whole.sqlite'))
    events, base = converted(path('whole.sqlite'))
    check('the session starts at its wall clock', base == EPOCH, base)
    names, threads = named(events, 'process_name'), named(events, 'thread_name')
    check('processes have their names', names[4001] == '/usr/bin/python0' and names[4002] == '/usr/bin/python1', names)
    check('devices are told apart by their process', {'GPU 0 (process 4001)', 'GPU 0 (process 4002)'} <= set(names.values()), names)
    check('the better name of a thread wins', threads[4001, 4001] == 'better', threads)
    check('threads without events have no row', 4999 not in names and 'a bystander' not in threads.values(), threads)
    check('streams are named', 'stream 7' in threads.values() and 'stream 7 synchronization' in threads.values(), threads)
    rows = {threads[e['pid'], e['tid']] for e in spans(events, 'gpu_memcpy') if 'Unified' in e['name']}
    check('unified memory has a row of its own', rows == {'unified memory'}, rows)
    check('copies are called as Nsight calls them', {e['name'] for e in spans(events, 'gpu_memcpy')} ==
          {'[CUDA memcpy Host-to-Device]', '[CUDA memcpy Unified Host-to-Device]'})
    check('calls lose their version', {e['name'] for e in spans(events, 'cuda_runtime')} == {'cudaLaunchKernel'})
    check('calls of the driver are told apart', [e['name'] for e in spans(events, 'cuda_driver')] == ['cuMemcpyAsync'] * 2)
    kernel = spans(events, 'kernel')[0]
    check('args have the names of Kineto', kernel['args']['grid'] == [2, 3, 4] and kernel['args']['block'] == [128, 1, 1] and
          kernel['args']['stream'] == 7 and kernel['args']['device'] == 0, kernel)
    linked(events, names)
    status, out, _ = tracekit('info', path('whole.sqlite'))
    check('tables that are not read are named', 'SCHED_EVENTS' in tracekit('info', '-v', path('whole.sqlite'))[2])
    check('two devices are found', status == 0 and 'devices' in out, out)
    status, out, _ = tracekit('report', '--json', path('whole.sqlite'))
    check('the report knows kernels', status == 0 and sum(k['count'] for k in json.loads(out)['kernels'] if k['kind'] == 'compute') == 120, json.loads(out)['kernels'])


def linked(events, names):
    """Checks that each flow leads from a call of a process to a kernel on the device of that process."""
    points = collections.defaultdict(list)
    for e in events:
        if e['ph'] in 'sf':
            points[e['id']].append(e)
    check('every kernel and copy has a flow', len(points) == 122, len(points))
    wrong = 0
    for both in points.values():
        start, end = [e for e in both if e['ph'] == 's'], [e for e in both if e['ph'] == 'f']
        wrong += len(start) != 1 or len(end) != 1 or f'(process {start[0]["pid"]})' not in names[end[0]['pid']] or end[0]['ts'] < start[0]['ts']
    check('flows stay within a process', wrong == 0, wrong)
    calls = [e['args']['correlation'] for e in spans(events, 'cuda_runtime', 'cuda_driver')]
    check('correlation ids are told apart', len(set(calls)) == len(calls), len(set(calls)))
    check('those of a process and its device agree', sorted(calls) == sorted(e['args']['correlation'] for e in spans(events, 'kernel', 'gpu_memcpy')
                                                                             if e['args']['correlation']))


def ranges():
    r = Report(path('nvtx.sqlite'))
    thread, other = process(77) + 77, process(77) + 78
    events = (
        dict(start=1, eventType=75, text='train', globalTid=thread, domainId=1),
        dict(start=100, end=900, eventType=59, text='outer', globalTid=thread, domainId=0),
        dict(start=200, end=300, eventType=59, textId=r.text('by id'), globalTid=thread, domainId=1, category=7, color=4281558732),
        dict(start=150, eventType=33, text='io', globalTid=thread, domainId=1, category=7),
        dict(start=310, end=5000, eventType=60, text='async', globalTid=thread, endGlobalTid=other, domainId=0, rangeId=9),
        dict(start=400, eventType=34, text='mark', globalTid=other, domainId=0, uint64Value=-1),
        dict(start=410, eventType=34, text='half', globalTid=other, domainId=0, doubleValue=0.5),
        dict(start=420, eventType=39, text='loader', globalTid=other, domainId=0),
        dict(start=950, eventType=59, text='open', globalTid=thread, domainId=0),
        dict(start=960, end=970, eventType=59, textId=99999, globalTid=thread, domainId=0))
    for e in events:
        r.add('NVTX_EVENTS', **e)
    r.close()
    sums_agree(path('nvtx.sqlite'))
    found, _ = converted(path('nvtx.sqlite'))
    by_name = {e.get('name'): e for e in found}
    check('a text of StringIds is the name', by_name['by id']['args'] == {'domain': 'train', 'category': 'io', 'color': 4281558732}, by_name['by id'])
    check('a range across threads is async', by_name['async']['ph'] in 'be' and [e['ph'] for e in found if e.get('name') == 'async'] == ['b', 'e'])
    check('a payload above 2^63 is not negative', by_name['mark']['args']['payload'] == 2**64 - 1, by_name['mark'])
    check('a payload may be a fraction', by_name['half']['args']['payload'] == 0.5)
    check('NVTX names threads', named(found, 'thread_name')[77, 78] == 'loader')
    status, out, said = tracekit('size', path('nvtx.sqlite'))
    check('size weighs JSON, because reports cannot be written', status == 0 and 'as tracekit writes json' in out, out + said)
    status, _, said = tracekit('convert', '--force', path('nvtx.sqlite'), '-o', path('out.pftrace'))
    check('a name that StringIds lacks is a repair', status == 0 and 'unknown name ids' in said, said)
    check('a range that never ended is kept', 'open' in by_name and by_name['open']['ph'] in 'BX')


def started():
    """Checks that work launched within a range that started and ended on one thread belongs to the range, as in nsys's projection of
    ranges, and also with versioned tables (_V2, _V3). SQL determines the calls within a range."""
    for version in ('', '_V2', '_V3'):
        name = path(f'started{version}.sqlite')
        r = Report(name)
        thread = process(77) + 77
        for i in range(12):
            r.call(77, 77, 1000 * i, 1000 * i + 200, correlation=i + 1)
            r.kernel(77, 1000 * i + 300, 1000 * i + 900, f'k{i}', correlation=i + 1)
        for start, end, kind, text, other in ((900, 4500, 60, 'same', None), (3900, 7500, 60, 'overlapping', thread), (5900, 6500, 59, 'pushed', None),
                                              (7900, 9500, 60, 'moved', thread + 1)):
            r.add('NVTX_EVENTS', start=start, end=end, eventType=kind, text=text, globalTid=thread, endGlobalTid=other, domainId=0, rangeId=start)
        want = dict(r.db.execute('SELECT n.text, count(k.start) FROM NVTX_EVENTS n LEFT JOIN CUPTI_ACTIVITY_KIND_RUNTIME c ON c.start >= n.start '
                                 'AND c.end <= n.end AND c.globalTid = n.globalTid AND ifnull(n.endGlobalTid, n.globalTid) = n.globalTid '
                                 'LEFT JOIN CUPTI_ACTIVITY_KIND_KERNEL k ON k.correlationId = c.correlationId GROUP BY n.text'))
        if version:
            r.db.execute(f'ALTER TABLE NVTX_EVENTS RENAME TO NVTX_EVENTS{version}')
        r.close()
        found = {}
        for text in want:
            _, out, _ = tracekit('top', '-q', '--json', '--launched-by', text, name)
            found[text] = sum(row['count'] for row in json.loads(out)['rows']) if out.startswith('{') else 0
        check(f'work launched within started ranges{version}', found == want, f'{found} instead of {want}')
        out = json.loads(tracekit('tree', '-q', '--json', name)[1])
        device = {n['name']: n['device_ns'] for n in out['paths']}
        # A call within two ranges that overlap counts for the one that started last.
        check(f'tree of started ranges{version}', device.get('same') == 3 * 600 and device.get('overlapping') == 4 * 600, device)
        check(f'no table is unread{version}', 'NVTX_EVENTS' not in tracekit('info', '-v', name)[2])


def clocks():
    for name, shift in (('plain', 0), ('normal', EPOCH), ('moved', -5000)):
        r = Report(path(f'{name}.sqlite'), shift=shift)
        r.call(9, 9, 1000000, 1002000, correlation=1)
        r.kernel(9, 1003000, 1005000, 'k', correlation=1)
        r.close()
    plain, base = converted(path('plain.sqlite'))
    for name in ('normal', 'moved'):
        events, other = converted(path(f'{name}.sqlite'))
        check(f'{name}: the shift of an export is taken back', (events, other) == (plain, base), (events[:3], other))
    status, out, _ = tracekit('info', '-v', path('plain.sqlite'))
    check('info names where the clock comes from', status == 0 and 'TARGET_INFO_SESSION_START_TIME' in out, out)


def counters():
    r = Report(path('counters.sqlite'))
    r.kernel(5, 10, 20, 'k')
    for start, size, operation in ((300, 50, 1), (100, 100, 0), (200, 50, 0), (400, 100, 1)):
        r.add('CUDA_GPU_MEMORY_USAGE_EVENTS', start=start, globalPid=process(5), deviceId=0, contextId=1, address=1, bytes=size, memKind=2,
              memoryOperationType=operation)
    r.add('TARGET_INFO_GPU_METRICS', typeId=0x301, sourceId=1, typeName='GPU', metricId=4, metricName='SM Active [Throughput %]')
    for t in range(5):
        r.add('GPU_METRICS', timestamp=t * 100, typeId=0x301, metricId=4, value=t * 20)
    r.close()
    events, _ = converted(path('counters.sqlite'))
    samples = collections.defaultdict(list)
    for e in events:
        if e['ph'] == 'C':
            samples[e['name']].append((round(e['ts'] * 1000), list(e['args'].values())[0]))
    check('memory in use is summed in order of time', samples['memory in use'] == [(100, 100), (200, 150), (300, 100), (400, 0)], samples)
    check('metrics are counters', samples['SM Active [Throughput %]'] == [(t * 100, t * 20) for t in range(5)], samples)


def secrets():
    r = Report(path('secret.sqlite'))
    r.call(9, 9, 1, 2)
    r.add('TARGET_INFO_SYSTEM_ENV', devStateName='DeviceEnvironment', name='DeviceEnvironment', nameEnum=1, value='TOKEN=hush-hush')
    r.add('META_DATA_CAPTURE', name='COMMAND_LINE', value='train --key hush-hush')
    r.add('ProcessStreams', globalPid=process(9), filenameId=r.text('/tmp/stdout'), contentId=r.text('printed hush-hush'))
    r.close()
    for ending in ('json', 'pftrace', 'xplane.pb'):
        status, _, said = tracekit('convert', '-q', '--force', path('secret.sqlite'), '-o', path(f'secret.{ending}'))
        with open(path(f'secret.{ending}'), 'rb') as f:
            check(f'{ending}: nothing of environment, command line and output', status == 0 and b'hush-hush' not in f.read(), said)


def ways():
    """Checks that an export is read alike from a file, standard input, gzip and an archive."""
    with open(path('whole.sqlite'), 'rb') as f:
        data = f.read()
    subprocess.run(['gzip', '-k', '-f', path('whole.sqlite')], check=True)
    subprocess.run(['tar', '-C', folder.name, '-cf', path('whole.tar'), 'whole.sqlite'], check=True)
    want = tracekit('dump', path('whole.sqlite'))[1].split('\n', 1)[1]
    for name, args, stdin in (('gzip', [path('whole.sqlite.gz')], None), ('stdin', ['-'], data), ('tar', [path('whole.tar')], None)):
        status, out, said = tracekit('dump', *args, stdin=stdin)
        check(f'{name}: the same graph', status == 0 and out.split('\n', 1)[1] == want, said or out[:200])
    check('nothing is left in the temporary folder', not [f for f in os.listdir(folder.name) if f.startswith('tracekit-')], os.listdir(folder.name))
    for encoding in ('UTF-16le', 'UTF-16be'):
        r = Report(path('wide.sqlite'), f"PRAGMA encoding = '{encoding}'; PRAGMA page_size = 512")
        r.kernel(9, 1, 2, 'k\u00e9rnel ' + 'x' * 3000)
        r.close()
        events, _ = converted(path('wide.sqlite'))
        check(f'{encoding}: long names over several pages', spans(events, 'kernel')[0]['name'] == 'k\u00e9rnel ' + 'x' * 3000)
        os.unlink(path('wide.sqlite'))


def formats():
    check_formats('whole.sqlite')
    status, _, said = tracekit('merge', '-q', '--force', path('whole.sqlite'), path('back.json.gz'), '-o', path('merged.json'))
    check('merges with a trace of another format', status == 0, said)
    status, _, said = tracekit('convert', '--force', path('plain.sqlite'), '-o', path('x.sqlite'))
    check('is not written', status == 2 and 'cannot be written' in said, said)


def damage():
    with open(path('whole.sqlite'), 'rb') as f:
        data = f.read()
    for share in (0.3, 0.6, 0.9):
        with open(path('cut.sqlite'), 'wb') as f:
            f.write(data[:int(len(data) * share)])
        status, _, said = tracekit('info', path('cut.sqlite'))
        check(f'{share:.0%} of a file: read and said, or refused', status in (0, 3) and said, said)
        check(f'{share:.0%} of a file: refused with --strict', tracekit('info', '--strict', path('cut.sqlite'))[0] == 3)
    check_damage('whole.sqlite', rounds=60, seed=1)


def strangers():
    db = sqlite3.connect(path('other.sqlite'))
    db.execute('CREATE TABLE cars (a, b)')
    db.commit()
    db.close()
    status, _, said = tracekit('info', path('other.sqlite'))
    check('another database is named', status == 3 and 'other tables' in said, said)
    with open(path('report.nsys-rep'), 'wb') as f:
        f.write(b'\x0b\x00\x00NVIDIA Tegra Profiler Report 2025@6@1')
    status, _, said = tracekit('info', path('report.nsys-rep'))
    check('a report is named with the command that exports it', status == 3 and 'nsys export -t sqlite' in said, said)
    r = Report(path('odd.sqlite'))
    r.call(9, 9, 1, 2)
    r.db.execute('CREATE VIEW NVTX_EVENTS AS SELECT 1')
    r.db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ('text', x'00ff', 'a', 'b', 'c', 'd', 'e', 'f')")
    r.close()
    status, out, said = tracekit('info', path('odd.sqlite'))
    check('values of other types are skipped and counted', status == 0 and 'without a usable start' in said, said)
    r = Report(path('wal.sqlite'), 'PRAGMA journal_mode = WAL;')
    r.call(9, 9, 1, 2)
    r.close()
    status, _, said = tracekit('info', path('wal.sqlite'))
    check('WAL mode is said', status == 0 and 'WAL mode' in said, said)


def rows_of(source):
    """Returns rank, host, device, work and busy time of each row of report, and the hosts of its host activity."""
    status, out, _ = tracekit('report', '-q', '--json', source)
    return [(r['rank'], r['host'], r['device'], r['work'], r.get('busy_ns')) for r in json.loads(out)['ranks']] if not status else None


def overhead():
    """Checks that the profiler's own overhead is told from the program's."""
    r = Report(path('overhead.sqlite'))
    kinds = (('CUDA profiling initialization', 300), ('CUDA profiling data flush on process exit', 40), ('CUPTI Buffer flush', 5),
             ('Lazy Function Loading', 1000), ('Command Buffer Full', 2000))
    for i, (name, dur) in enumerate(kinds):
        r.add('CUPTI_ACTIVITY_KIND_OVERHEAD', start=10000 * i, end=10000 * i + dur, eventClass=103, globalTid=process(9) + 9, correlationId=0,
              nameId=r.text(name), overheadType=3)
    r.kernel(9, 0, 100, 'gemm')
    r.kernel(9, 50000, 90000, 'gemm')
    r.close()
    status, out, said = tracekit('report', '-q', '--json', path('overhead.sqlite'))
    check('overhead of the profiler', status == 0 and json.loads(out)['ranks'][0]['profiler_ns'] == 345, said or out[:200])


def properties():
    """Checks that each device has the properties of the GPU that its process saw under the device's number, and none if that is not
    certain."""
    def devices(name, gpus, visible):
        r = Report(path(name))
        for pid in (21, 22):
            r.kernel(pid, 1000, 2000, 'gemm')
            r.call(pid, pid, 500, 900)
        r.db.execute('CREATE TABLE TARGET_INFO_GPU (vmId INT, id INT, name TEXT, totalMemory INT, smCount INT, cuDevice INT, computeMajor INT)')
        r.db.executemany("INSERT INTO TARGET_INFO_GPU VALUES (0, ?, ?, ?, ?, ?, 8)", gpus)
        if visible:
            r.db.execute('CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INT, cudaId INT NOT NULL, pid INT NOT NULL)')
            r.db.executemany('INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (?, ?, ?)', visible)
        r.close()
        tracekit('convert', '-q', '--force', path(name), '-o', path('gpus.json'))
        with open(path('gpus.json'), encoding='utf-8') as f:
            trace = json.load(f)
        owner = {e['pid']: e['args']['name'] for e in trace['traceEvents'] if e.get('name') == 'process_name'}
        return {owner[d['id']]: (d['name'], d['numSms'], d['totalGlobalMem']) for d in trace.get('deviceProperties', ())}
    two = [(0, 'NVIDIA A100', 40, 108, 0), (1, 'NVIDIA RTX 3090 "Ti"', 24, 82, 1)]
    a, b = ((name, sms, size) for _, name, size, sms, _ in two)
    found = devices('gpus.sqlite', two, [(1, 0, 21), (0, 0, 22)])
    check('a device has the properties of the GPU that its process saw', sorted(found.values()) == sorted([a, b]) and
          next(v for k, v in found.items() if '21' in k) == b, found)
    check('a report names the GPUs', 'NVIDIA A100' in tracekit('report', path('gpus.sqlite'))[1])
    check('no properties if the GPU is not certain', devices('gpus2.sqlite', two, []) == {})
    check('GPUs of one name are certain', set(devices('gpus3.sqlite', [(0, 'NVIDIA A100', 40, 108, 0), (1, 'NVIDIA A100', 40, 108, 1)], []).values()) == {a})


def kept_identity():
    """Checks that outputs in every format have the ranks and hosts of a report with two ranks, and of one with a single rank."""
    r = Report(path('one.sqlite'))
    r.kernel(9, 1000, 2000, 'gemm')
    r.call(9, 9, 500, 900)
    r.db.execute('CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INT, devStateName TEXT, name TEXT, nameEnum INT, value TEXT)')
    r.db.execute("INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (NULL, 'x', 'Hostname', 1, 'node7')")
    r.close()
    for source, hosts in ((path('whole.sqlite'), None), (path('one.sqlite'), {'node7'})):
        want = rows_of(source)
        check(f'{os.path.basename(source)}: hosts', want and (not hosts or {w[1] for w in want} == hosts), str(want))
        for ending in ('json', 'pftrace', 'xplane.pb'):
            for args in (('convert',), ('filter',), ('convert', '--no-provenance'))[:3 if hosts is None else 2]:
                out = path(f'kept.{ending}')
                tracekit(*args, '-q', '--no-loss', '--force', source, '-o', out)
                check(f'{os.path.basename(source)}: ranks and hosts after {" ".join(args)} to {ending}', rows_of(out) == want, f'{rows_of(out)} is not {want}')


def main():
    os.environ['TMPDIR'] = folder.name
    whole()
    ranges()
    started()
    clocks()
    counters()
    secrets()
    ways()
    formats()
    kept_identity()
    properties()
    overhead()
    damage()
    strangers()
    return finish()


if __name__ == '__main__':
    sys.exit(main())
