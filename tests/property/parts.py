#!/usr/bin/env python3
"""Checks inputs that contain several ranks: a node's report of Nsight Systems or ROCm holds a rank for each process with a GPU.

list, info, report, merge and --rank see each rank; the ranks of two nodes are aligned like files of ranks; every row of the
database belongs to exactly one rank, as counts and sums by SQL show; a file of one process is read as before."""
import csv
import json
import os
import random
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from databases import folder, measure, path, spans, tracekit  # noqa: E402
from nsysreport import Report, process  # noqa: E402
from verdict import check, finish  # noqa: E402

REDUCE = 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)'
AHEAD = 3700123  # ns by which the clock of the second node is ahead
GPUS, STEPS = 4, 40


def node(name, first, ahead, hostname=None, ranks=False, seed=1, devices=None):
    """Writes the report of a node with GPUS processes, which take part in one collective a step with all other nodes."""
    together = random.Random(99)  # equal on all nodes
    alone = random.Random(seed)
    r = Report(path(name))
    if hostname:
        r.add('TARGET_INFO_SYSTEM_ENV', globalVid=1, devStateName='', name='Hostname', nameEnum=1, value=hostname)
        r.add('TARGET_INFO_SYSTEM_ENV', globalVid=1, devStateName='', name='DeviceEnvironment', nameEnum=2, value='HF_TOKEN=hf_planted')
    launcher = 900 + first
    r.add('PROCESSES', globalPid=process(launcher), pid=launcher, name='torchrun')
    r.add('OSRT_API', start=10 + ahead, end=500 + ahead, eventClass=27, globalTid=process(launcher) + 1, nameId=r.text('poll'), returnValue=0, callchainId=0)
    ends = [1_000_000 * (s + 1) + together.randrange(40_000) for s in range(STEPS)]
    for local in range(GPUS):
        pid = 1000 + first + (GPUS - local if devices is None else local)  # pids are not in the order of the GPUs
        device = local if devices is None else devices
        r.add('PROCESSES', globalPid=process(pid), pid=pid, name='python3')
        if ranks:
            r.db.execute('CREATE TABLE IF NOT EXISTS MPI_RANKS (globalTid INTEGER, rank INTEGER)')
            r.db.execute('INSERT INTO MPI_RANKS VALUES (?, ?)', (process(pid) + 5, first + GPUS - 1 - local))
        for s, end in enumerate(ends):
            start = end - 900_000 + alone.randrange(20_000)
            work = start + 8_000
            arrives = work + 200_000 + alone.randrange(300_000)
            r.call(pid, 5, start + ahead, start + ahead + 6_000, correlation=2 * s + 1)
            r.kernel(pid, work + ahead, arrives - 2_000 + ahead, f'gemm_{s % 3}<float>', correlation=2 * s + 1, device=device)
            r.call(pid, 5, start + ahead + 6_500, start + ahead + 7_500, correlation=2 * s + 2)
            r.kernel(pid, arrives + ahead, end + alone.randrange(2_000) + ahead, REDUCE, correlation=2 * s + 2, device=device, stream=20)
            r.add('NVTX_EVENTS', start=start + ahead, end=end + ahead, eventType=59, globalTid=process(pid) + 5, text=f'step {s}', domainId=0)
        r.copy(pid, 20_000 + ahead, 30_000 + ahead, device=device)
    r.close()


def listed(*names):
    status, out, said = tracekit('list', '--json', *names)
    check('list', status == 0, said)
    return json.loads(out)['files']


def sums(name, files):
    """Checks that the spans of all ranks together have the number and sum of durations of each table, so that no row is missing or
    duplicated."""
    db = sqlite3.connect(path(name))
    for table, categories in (('CUPTI_ACTIVITY_KIND_KERNEL', ('kernel',)), ('CUPTI_ACTIVITY_KIND_MEMCPY', ('gpu_memcpy',)),
                              ('CUPTI_ACTIVITY_KIND_RUNTIME', ('cuda_runtime',)), ('OSRT_API', ('osrt',)), ('NVTX_EVENTS', ('nvtx',))):
        want = db.execute(f'SELECT count(*), total(end - start) FROM {table}').fetchone()
        got = [measure(spans(events, *categories)) for events in files]
        total = (sum(n for n, _ in got), sum(d for _, d in got))
        check(f'{name}: {table}: ranks hold each row once', total == (want[0], int(want[1])), f'{got}, {want}')
    db.close()


def in_steps(first, second, suffix, *options):
    """Merges the reports of two nodes by scan, plan, apply and concat: the bytes of merge."""
    def run(*args):
        status, _, said = tracekit(*args)
        check(f'{args[0]} of nodes', status == 0, said)
    scans, parts, nodes = [], [], [path(name) for name in (first, second)]
    for i, report in enumerate(nodes):
        scans.append(path(f'node{i}.scan'))
        run('scan', '-q', '--force', report, '-o', scans[-1])
    run('plan', '-q', '--force', *scans, '-f', suffix, *options, '-o', path('nodes.plan'))
    with open(path('nodes.plan'), encoding='utf-8') as f:
        ranks = json.load(f)['ranks']
    check('plan: the ranks of nodes', [(r['input'], r['rank'], r['part']) for r in ranks] == [(nodes[k // GPUS], k, k % GPUS) for k in range(2 * GPUS)],
          str(ranks)[:400])
    for rank in ranks:
        parts.append(path(f'{rank["rank"]}.part'))
        run('apply', '-q', '--force', path('nodes.plan'), rank['input'], '--rank', str(rank['rank']), '-o', parts[-1])
    run('concat', '-q', '--force', path('nodes.plan'), *parts, '-o', path('steps.' + suffix))
    run('merge', '-q', '--force', *nodes, '-f', suffix, *options, '-o', path('whole.' + suffix))
    with open(path('steps.' + suffix), 'rb') as a, open(path('whole.' + suffix), 'rb') as b:
        check(f'{first} {suffix} {options}: the same in steps', a.read() == b.read())


def by_steps():
    for ranks in (False, True):
        names = [f'{"stated" if ranks else "unstated"}{i}.sqlite' for i in (0, 1)]
        node(names[0], 0, 0, ranks=ranks)
        node(names[1], GPUS, AHEAD, ranks=ranks, seed=2)
        for suffix, options in (('json', ()), ('pftrace', ('--to', '20KB')), ('xplane', ('--group-by', 'host'))):
            in_steps(*names, suffix, *options)
    for arguments, why in (((), 'contains 4 ranks'), (('--rank', '8'), 'no rank 8'), (('--rank', '5', '--input', 'none'), "rank 5 of 'none'")):
        status, _, said = tracekit('apply', path('nodes.plan'), path('stated1.sqlite'), *arguments, '-o', path('none.part'))
        check(f'apply {arguments}', status == 2 and why in said and not os.path.exists(path('none.part')), f'{status}: {said}')


def events_of(*args):
    status, _, said = tracekit(*args, '-q', '--force', '-o', path('rank.json'))
    check(f'{args} writes', status == 0, said)
    with open(path('rank.json'), encoding='utf-8') as f:
        return json.load(f)['traceEvents']


def one_node():
    node('node0.sqlite', 0, 0)
    source = path('node0.sqlite')
    files = listed(source)
    check('list shows each rank with its host', [(f.get('rank'), f.get('host')) for f in files] == [(k, 'node0') for k in range(4)], files)
    check('list --rank shows one', [f['rank'] for f in json.loads(tracekit('list', '--json', '--rank=2', source)[1])['files']] == [2])
    status, out, said = tracekit('info', '--json', source)
    check('info shows each rank', status == 0 and out.count('"rank":') >= 4, said)
    rows = json.loads(tracekit('top', '--json', '--by', 'rank', source)[1])['rows']
    check('top knows the ranks', sorted(r['name'] for r in rows) == ['0', '1', '2', '3'], rows)
    for k in range(4):
        work = json.loads(tracekit('top', '--json', '--rank', str(k), '--kind', 'kernel', source)[1])
        calls = json.loads(tracekit('top', '--json', '--rank', str(k), '--kind', 'runtime', '--by', 'process', source)[1])['rows']
        check(f'top --rank {k}', (work['events'], len(calls)) == (2 * STEPS, 1) and str(1000 + GPUS - k) in calls[0]['name'], (work, calls))
    ranks = [events_of('extract', source, '--rank', str(k)) for k in range(4)]
    sums('node0.sqlite', ranks)
    db = sqlite3.connect(source)
    for k, events in enumerate(ranks):
        want = db.execute('SELECT count(*), total(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE deviceId = ?', (k,)).fetchone()
        check(f'rank {k} has the kernels of GPU {k}', measure(spans(events, 'kernel')) == (want[0], int(want[1])))
        pids = {e['pid'] for e in spans(events, 'cuda_runtime')}
        check(f'rank {k} has the calls of its process', pids == {1000 + GPUS - k}, pids)
        check(f'rank {k}: calls and kernels are linked', sum(e['ph'] == 's' for e in events) == 2 * STEPS)
    db.close()
    check('the first rank keeps the launcher', len(spans(ranks[0], 'osrt')) == 1 and not spans(ranks[1], 'osrt'))
    status, _, said = tracekit('extract', source, '--rank', '7', '-q', '-o', path('none.json'))
    check('a rank that is not there is refused', status == 3 and not os.path.exists(path('none.json')), (status, said))
    whole = events_of('convert', source)
    check('convert keeps the whole report', measure(spans(whole, 'kernel'))[0] == 2 * STEPS * GPUS)
    merged = events_of('merge', source)
    check('merge labels each rank', {e['args']['name'].split(' - ')[0] for e in merged if e.get('name') == 'process_name'} == {f'rank {k}' for k in range(4)})
    sums('node0.sqlite', [merged])
    with open(source, 'rb') as f:
        status, out, said = tracekit('report', '--json', '-', stdin=f.read())
    check('a pipe has ranks, too', status == 0 and len(json.loads(out)['ranks']) == 4, said)


def two_nodes():
    node('node1.sqlite', GPUS, AHEAD, seed=2)
    both = path('node0.sqlite'), path('node1.sqlite')
    files = listed(*both)
    check('ranks of two nodes are numbered in the order of the files', [f['rank'] for f in files] == list(range(8)), files)
    files = listed(*reversed(both))
    check('the numbers in the names decide the order', [f['rank'] for f in files if f['host'] == 'node1'] == [4, 5, 6, 7], files)
    status, _, said = tracekit('merge', '-q', '--force', *both, '-o', path('both.json'), '--align-report', path('clocks.json'),
                               '--collectives', path('met.csv'))
    check('two nodes merge', status == 0, said)
    with open(path('clocks.json'), encoding='utf-8') as f:
        clocks = json.load(f)
    hosts = {h['host']: h for h in clocks['hosts']}
    check('two hosts with four ranks each', {k: h['ranks'] for k, h in hosts.items()} == {'node0': [0, 1, 2, 3], 'node1': [4, 5, 6, 7]}, clocks)
    moved = hosts['node1']
    check('the offset is found within the claimed error', moved['method'] == 'collectives' and abs(moved['offset_ns'] - AHEAD) <= 1000 * moved['error_us'],
          (moved['offset_ns'], moved['error_us']))
    check('the error is that of collectives', moved['error_us'] < 100, moved['error_us'])
    with open(path('met.csv'), encoding='utf-8') as f:
        rows = list(csv.DictReader(f))
    check('every collective has eight ranks', len(rows) > 0 and len(rows) % 8 == 0, len(rows))
    with open(path('both.json'), encoding='utf-8') as f:
        merged = json.load(f)['traceEvents']
    check('the merge has the kernels of both', measure(spans(merged, 'kernel'))[0] == 2 * 2 * STEPS * GPUS)
    for select, want in (('1', 1), ('2..5', 4)):
        part = events_of('merge', *both, '--rank', select)
        check(f'merge --rank={select}', measure(spans(part, 'kernel'))[0] == want * 2 * STEPS)
    status, out, said = tracekit('report', '--json', *both)
    rows = json.loads(out)['ranks'] if status == 0 else []
    check('report has a row each rank', [(r['rank'], r['host']) for r in rows] == [(k, f'node{k // 4}') for k in range(8)], said)
    status, out, _ = tracekit('top', '--csv', '--top=1', '--kind=collective', *both)
    check('other commands merge the ranks, too', str(2 * STEPS * GPUS) in out, out)


def stated():
    """Checks the ranks and the host's name that a report states, processes that each call their GPU 0, and that nothing else of the
    environment is read."""
    node('a.sqlite', 8, 0, hostname='gpu-a', ranks=True, seed=3)
    files = listed(path('a.sqlite'))
    check('stated ranks', [(f['rank'], f['host']) for f in files] == [(k, 'gpu-a') for k in (8, 9, 10, 11)], files)
    events = events_of('extract', path('a.sqlite'), '--rank', '8')
    check('the stated rank decides', {e['pid'] for e in spans(events, 'cuda_runtime')} == {1008 + 1}, {e['pid'] for e in spans(events, 'cuda_runtime')})
    status, out, said = tracekit('info', path('a.sqlite'))
    check('info says where the rank is stated', status == 0 and 'MPI_RANKS' in out, out)
    check('nothing of the environment', 'hf_planted' not in out + said + json.dumps(events))
    node('zero.sqlite', 0, 0, devices=0, seed=4)
    files = listed(path('zero.sqlite'))
    check('processes that call their GPU 0', [f['rank'] for f in files] == [0, 1, 2, 3], files)
    events = events_of('extract', path('zero.sqlite'), '--rank', '3')
    check('in the order of the processes', {e['pid'] for e in spans(events, 'cuda_runtime')} == {1003})
    r = sqlite3.connect(path('zero.sqlite'))
    r.execute('CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER)')
    r.executemany('INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (?, 0, ?)', [(3 - k, 1000 + k) for k in range(4)])
    r.commit()
    r.close()
    events = events_of('extract', path('zero.sqlite'), '--rank', '3')
    check('the machine\'s number of the GPU decides', {e['pid'] for e in spans(events, 'cuda_runtime')} == {1000})


def single():
    """Checks that a report with only one process that uses a GPU is one input without a rank."""
    r = Report(path('single.sqlite'))
    for pid in (50, 60):
        r.call(pid, pid, 100, 200, correlation=1)
    r.kernel(60, 300, 400, 'gemm', correlation=1)
    r.close()
    files = listed(path('single.sqlite'))
    check('one process is one input', len(files) == 1 and 'rank' not in files[0] and 'host' not in files[0], files)
    check('and is written alike by convert and merge', events_of('convert', path('single.sqlite')) == events_of('merge', path('single.sqlite')))


def alone():
    """Checks reports of one rank each: their ranks are stated by MPI_RANKS or by the environment in which the launcher started the profiler."""
    def report(name, mpi=(), threads=(50,), **environment):
        r = Report(path(name))
        r.call(50, 50, 100, 200, correlation=1)
        r.kernel(50, 300, 400, 'gemm', correlation=1)
        for variable, value in {**environment, 'HF_TOKEN': 'hf_planted', 'RANKING': '9', 'XRANK': '8'}.items():
            r.add('META_DATA_CAPTURE', name='PROCESS_0:ENVIRONMENT_VARIABLE', value=f'{variable}={value}')
        r.add('META_DATA_CAPTURE', name='PROCESS_0:COMMAND', value='RANK=6')
        for rank in mpi:
            r.db.execute('CREATE TABLE IF NOT EXISTS MPI_RANKS (globalTid INTEGER, rank INTEGER)')
            r.db.executemany('INSERT INTO MPI_RANKS VALUES (?, ?)', [(process(50) + tid, rank) for tid in threads])
        r.close()
        return path(name)
    cases = [('mpi_x.sqlite', 5, 'MPI_RANKS', {'mpi': (5,), 'threads': (50, 51), 'RANK': 1, 'WORLD_SIZE': 8}),
             ('two_x.sqlite', None, None, {'mpi': (5, 6)}),
             ('torchrun_x.sqlite', 3, 'environment', {'RANK': 3, 'WORLD_SIZE': 8, 'LOCAL_RANK': 1}),
             ('mpirun_x.sqlite', 12, 'environment', {'OMPI_COMM_WORLD_RANK': 12, 'OMPI_COMM_WORLD_SIZE': 16}),
             ('srun_x.sqlite', 0, 'environment', {'SLURM_PROCID': 0, 'SLURM_STEP_NUM_TASKS': 4, 'SLURM_NTASKS': 4}),
             ('both_x.sqlite', 2, 'environment', {'PMI_RANK': 2, 'PMI_SIZE': 4, 'SLURM_PROCID': 2, 'SLURM_STEP_NUM_TASKS': 4}),
             ('batch_x.sqlite', None, None, {'SLURM_PROCID': 0, 'SLURM_NTASKS': 4}),
             ('single_x.sqlite', None, None, {'RANK': 0, 'WORLD_SIZE': 1}),
             ('dispute_x.sqlite', None, None, {'RANK': 0, 'WORLD_SIZE': 4, 'PMI_RANK': 2, 'PMI_SIZE': 4}),
             ('beyond_x.sqlite', None, None, {'RANK': 4, 'WORLD_SIZE': 4}),
             ('text_x.sqlite', None, None, {'RANK': '1a', 'WORLD_SIZE': 4}), ('long_x.sqlite', None, None, {'RANK': 10**30, 'WORLD_SIZE': 10**31})]
    for name, rank, origin, how in cases:
        source = report(name, **how)
        status, out, said = tracekit('info', '--json', source)
        trace = json.loads(out)['traces'][0]
        check(f'{name}: rank', status == 0 and (trace.get('rank'), trace.get('rank_from')) == (rank, origin), (trace.get('rank'), trace.get('rank_from')))
        check(f'{name}: list', listed(source)[0].get('rank') == rank)
        status, written, _ = tracekit('convert', '-q', source, '-f', 'json')
        check(f'{name}: nothing of the environment', 'hf_planted' not in out + said + written and status == 0)
    known = [path(name) for name, rank, _, _ in cases if rank is not None]
    one = events_of('merge', *known, '--rank', '12')
    check('merge --rank', len(spans(one, 'kernel')) == 1 and any(e.get('args', {}).get('name', '').startswith('rank 12 - ') for e in one))
    merged = events_of('merge', *known)
    check('merge labels each rank', {e['args']['name'].split(' - ')[0] for e in merged if e.get('name') == 'process_name'} == {f'rank {k}' for k in (0, 2, 3, 5, 12)})
    files = [report(f'job{7 - k}.sqlite', RANK=k, WORLD_SIZE=2) for k in range(2)]
    check('the content decides, not the numbers in the names', [f['rank'] for f in listed(*files)] == [0, 1], listed(*files))


RPD = '''CREATE TABLE rocpd_string (id integer PRIMARY KEY, string text);
CREATE TABLE rocpd_api (id integer PRIMARY KEY, pid integer, tid integer, start integer, "end" integer, apiName_id integer, args_id integer);
CREATE TABLE rocpd_op (id integer PRIMARY KEY, gpuId integer, queueId integer, sequenceId integer, completionSignal text, start integer, "end" integer,
  description_id integer, opType_id integer);
CREATE TABLE rocpd_api_ops (id integer PRIMARY KEY, api_id integer, op_id integer);'''


def rpd():
    """Checks two processes whose sessions used the same queue numbers, on one GPU each or on the same GPU."""
    for name, gpus in (('two.rpd', (1, 0)), ('shared.rpd', (0, 0))):
        db = sqlite3.connect(path(name))
        db.executescript(RPD)
        db.executemany('INSERT INTO rocpd_string VALUES (?, ?)', [(1, 'hipLaunchKernel'), (2, 'KernelExecution'), (3, 'gemm'), (4, '')])
        for k, gpu in enumerate(gpus):
            for i in range(20):
                ident = (k + 1 << 32) + i + 1
                at = 10**12 + 1000 * i
                db.execute('INSERT INTO rocpd_api VALUES (?, ?, ?, ?, ?, 1, 4)', (ident, 300 + k, 300 + k, at, at + 90))
                db.execute("INSERT INTO rocpd_op VALUES (?, ?, 0, 0, '', ?, ?, 3, 2)", (ident, gpu, at + 100, at + 700 + k))
                db.execute('INSERT INTO rocpd_api_ops VALUES (?, ?, ?)', (ident, ident, ident))
        db.commit()
        db.close()
        ranks = [events_of('extract', path(name), '--rank', str(k)) for k in range(2)]
        order = sorted(range(2), key=lambda k: (gpus[k], k))
        for k, events in enumerate(ranks):
            check(f'{name}: rank {k} has its operations', measure(spans(events, 'kernel')) == (20, 20 * (600 + order[k])), measure(spans(events, 'kernel')))
            check(f'{name}: rank {k} has its calls', {e['pid'] for e in spans(events, 'hip_api')} == {300 + order[k]})
            check(f'{name}: rank {k}: linked', sum(e['ph'] == 's' for e in events) == 20)
        rows = json.loads(tracekit('report', '--json', path(name))[1])['ranks']
        check(f'{name}: report has a row each rank', [r['rank'] for r in rows] == [0, 1], rows)


def mixed():
    """Merges a file of several ranks with files of one rank each."""
    for k in (4, 5):
        with open(path(f'rank{k}.json'), 'w', encoding='utf-8') as f:
            json.dump({'distributedInfo': {'rank': k}, 'traceEvents': [{'ph': 'X', 'name': 'gemm', 'cat': 'kernel', 'pid': 0, 'tid': 7, 'ts': 1, 'dur': 5,
                                                                      'args': {'device': 0, 'stream': 7}}]}, f)
    status, out, said = tracekit('report', '--json', path('node0.sqlite'), path('rank4.json'), path('rank5.json'))
    ranks = sorted(r['rank'] for r in json.loads(out)['ranks']) if status == 0 else []
    check('stated ranks keep their numbers beside a file without', {4, 5} <= set(ranks) and len(set(ranks)) == 6, (ranks, said))


def memory():
    """Checks that the output is the same whether all ranks of a file are made from one reading of the file (if memory permits),
    or each from a separate reading."""
    def written(*options):
        status, _, said = tracekit('merge', '-q', '--force', path('node0.sqlite'), path('node1.sqlite'), '-o', path('whole.json'), *options)
        check(f'merge {options}', status == 0, said)
        with open(path('whole.json'), 'rb') as f:
            return f.read()
    want = written()
    for threads in ('1', '2'):
        for most in ('30M', '60M', '100M', '2G'):
            check(f'-j{threads} --max-memory {most}: the same output', written('-j', threads, '--max-memory', most) == want)
    for command in (('info', '-v'), ('info', '--json'), ('list', '--deep', '--json')):
        want = None
        for name in ('node0.sqlite', 'two.rpd'):
            for options in (('-j1', '--max-memory=4G'), ('-j2', '--max-memory=4G'), ('-j1', '--max-memory=20M')):
                got = tracekit(*command, *options, path(name))
                want = got if options == ('-j1', '--max-memory=4G') else want
                check(f'{command} {name} {options}: the same output', got[0] == 0 and got == want, f'{got[2]}')


def main():
    os.environ['TMPDIR'] = folder.name
    one_node()
    two_nodes()
    stated()
    single()
    alone()
    rpd()
    mixed()
    by_steps()
    memory()
    return finish()


if __name__ == '__main__':
    sys.exit(main())
