#!/usr/bin/env python3
"""Further problems that people reported in public threads, as in public_cases.py: with folders that hold more than ranks, accelerators
whose calls state their work in other words, and profiles of several kinds."""
import itertools
import json
import os
import pickle
import re
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from public import answers, case, converted, devices, dump, equal, has, main, put, ranks, run, said, top, x  # noqa: E402


ARROWS = 'select o.name, i.name from flow f join slice o on o.id = f.slice_out join slice i on i.id = f.slice_in'


# ---- ranks ----

def worker(rank, offset=0.0):
    """Returns the trace of a worker whose collectives end when those of the other worker end; `offset`: error of its clock in us."""
    events = []
    for i in range(60):
        at = 1.7e15 + 1000 * i + offset
        for name, start, end in (('gemm_kernel', 100 + 7 * rank * (i % 5), 300 + i % 10), ('ncclDevKernel_AllReduce_Sum_bf16_RING_LL', 310 + 20 * (rank ^ i % 2), 650 + i % 7)):
            number = 2 * i + (name[0] == 'n')
            meta = {'Collective name': 'allreduce', 'In msg nelems': 4096 + i, 'Out msg nelems': 4096 + i, 'Group size': 2, 'dtype': 'BFloat16',
                    'Process Group Name': 'tp'} if name[0] == 'n' else {}
            events += [x('cudaLaunchKernel', round(at + start - 50, 3), 5, cat='cuda_runtime', pid=100 + rank, args={'correlation': number + 1}),
                       x(name, round(at + start, 3), end - start, cat='kernel', pid=rank, tid=7, args={'correlation': number + 1, 'stream': 7, 'device': rank, **meta})]
    return {'schemaVersion': 1, 'deviceProperties': [{'id': rank, 'name': 'H100'}], 'traceEvents': events}


@case('AMD-AGI/Magpie#7', 'rank', 'a server without a rank beside its workers takes no number of theirs')
def _():
    server = put('run/5a1b_42.async_llm.1773000000000009.pt.trace.json', {'schemaVersion': 1, 'traceEvents': [
        x('async_llm.py(300): generate', 1.7e15, 60000, cat='python_function', pid=99), x('aten::empty', 1.7e15 + 100, 3, cat='cpu_op', pid=99)]})
    workers = [put(f'run/dp0_pp0_tp{r}_rank{r}.177300000000000{r}.pt.trace.json', worker(r, 4321 * r)) for r in (0, 1)]
    has(said('report', 'run'), '3 inputs: 2 ranks,')
    def overhead(path):
        rows = [r['split'] for r in json.loads(run('report', '--json', path).stdout)['ranks'] if r['device']]
        return max(100 * (s['launch_ns'] + s['runtime_ns'] + s['host_ns']) / s['length_ns'] for s in rows)
    host = overhead('run')
    for ending, options in (('json', ()), ('pftrace', ()), ('json', ('--align', 'none'))):
        p = run('merge', server, *workers, '--force', '-o', f'all.{ending}', *options)
        has(p.stderr, 'contains no rank, unlike other inputs; it is called rank')
        assert 'claims the same rank' not in p.stderr, p.stderr
        merged = overhead(f'all.{ending}')
        assert abs(merged - host) < 0.1, (merged, host)
        has(said('report', f'all.{ending}'), '1 input: 2 ranks,')
        given = {r['rank']: r['rank_given'] for r in json.loads(run('report', '--json', f'all.{ending}').stdout)['ranks']}
        equal(given, {0: False, 1: False, 2: True})
    scan = lambda *inputs: json.loads(run('scan', '--json', '--force', *inputs).stdout)  # noqa: E731
    p = scan(server, *workers, '-o', 'all.scan')
    equal([p['ranks'], p['others']], [2, 1])
    p = scan('--join', 'all.scan', '-o', 'joined.scan')
    equal([p['ranks'], p['others']], [2, 1])
    p = scan(server, '-o', 'server.scan')
    equal([p['ranks'], p['others']], [1, 0])
    equal(sorted(ranks(server, *workers)), [0, 1, 2])
    equal([r['rank'] for r in json.loads(run('merge', server, *workers, '--rank', '0', '-n', '--json').stdout)['ranks'] if 'rank' in r], [0])
    p = json.loads(run('merge', 'run', '-n', '--json').stdout)
    equal([r['rank'] for r in p['ranks'] if r['input'] == server], [2])
    trust = [h['trust'] for h in p['align']['hosts'] if 'tp0' in h['host']]
    has(trust[0], 'other hosts that share collectives with it are aligned with it')


@case('AMD-AGI/Magpie#7', 'advice', 'a command about kernels names the inputs that contain kernels')
def _():
    put('run/5a1b_42.async_llm.1.pt.trace.json', {'schemaVersion': 1, 'traceEvents': [x('aten::empty', 1.7e15, 3, cat='cpu_op', pid=99)]})
    for r in (0, 1):
        work = [x(n, 1.7e15 + 300 * i + at, dur, cat='kernel', pid=r, tid=7, args={'stream': 7, 'device': r, 'correlation': 1000 * i + at})
                for i in range(9) for n, at, dur in (('gemm_kernel', 10, 200), ('silu', 210, 50), ('softmax', 260, 40))]
        calls = [x('cudaLaunchKernel', k['ts'] - 5, 2, cat='cuda_runtime', pid=100 + r, args={'correlation': k['args']['correlation']}) for k in work]
        put(f'run/tp{r}_rank{r}.1.pt.trace.json',
            {'schemaVersion': 1, 'traceEvents': [x('aten::mm', 1.7e15, 2800, cat='cpu_op', pid=100 + r), *calls, *work]})
    commands = re.findall(r'tracekit top (.*) --kind kernel', said('report', 'run'))
    assert commands and all('rank0' in c and 'rank1' in c and 'async_llm' not in c for c in commands), commands


# ---- launches whose work was not recorded ----

def npu(lost=()):
    """Returns a trace of torch_npu, level 1: operators, their launches by CANN, and tasks; the work of the launches in `lost` is missing."""
    events = [{'ph': 'M', 'name': 'process_name', 'pid': p, 'args': {'name': n}} for p, n in ((1, 'Python'), (2, 'Ascend Hardware'), (4, 'CANN'))]
    events.append({'ph': 'M', 'name': 'thread_name', 'pid': 2, 'tid': 3, 'args': {'name': 'Stream 3'}})
    for i in range(20):
        at = 1700000000000000 + 1000 * i
        events += [x('aten::matmul', at, 50, cat='cpu_op'), x('Node@launch', at + 20, 15, pid=4, args={'connection_id': 500 + i}),
                   x('Hccl@Launch_Ffts', at + 40, 2, pid=4, args={'connection_id': 900 + i}),
                   {'ph': 's', 'bp': 'e', 'name': 'async_npu', 'cat': 'async_npu', 'id': str(100 + i), 'pid': 1, 'tid': 1, 'ts': at}]
        if i in lost:
            continue
        task = x('EVENT_RECORD', at + 100, 1, pid=2, tid=3, args={'Task Type': 'EVENT_RECORD', 'connection_id': 500 + i}) if i == 19 else x(
            'MatMulV2', at + 100, 200, pid=2, tid=3, args={'Task Type': 'AI_CORE', 'Stream Id': 3, 'connection_id': 500 + i})
        events += [task, {'ph': 'f', 'bp': 'e', 'name': 'async_npu', 'cat': 'async_npu', 'id': str(100 + i), 'pid': 2, 'tid': 3, 'ts': at + 100}]
    return events


@case('Ascend/pytorch#167', 'device', 'launches of an NPU without work: idle time is not judged')
def _():
    put('lost/trace_view.json', npu((4, 5, 6, 7)))
    text = said('report', 'lost/trace_view.json')
    has(text, '4 of 20 launching calls of the host .20.0%. have no recorded work', '4 of 20 calls of Node@launch launched work that was not recorded')
    assert not re.search(r'NPU was idle', text), text
    put('all/trace_view.json', npu())
    text = said('report', 'all/trace_view.json')
    has(text, 'NPU was idle')
    assert 'not recorded, so busy' not in text, text


@case('ROCm/rocm-systems, rocprofv3', 'device', 'launches of rocprofv3 without work: idle time is not judged')
def _():
    events = [{'ph': 'M', 'name': 'process_name', 'pid': 2, 'args': {'name': 'GPU 0'}}]
    for i in range(20):
        events.append(x('hipLaunchKernel', 1000 * i, 5, cat='hip_api', args={'corr_id': i + 1}))
        if i not in (4, 5, 6, 7):
            events.append(x('gemm', 1000 * i + 50, 200, cat='kernel_dispatch', pid=2, tid=3, args={'corr_id': i + 1}))
    put('a.json', {'traceEvents': events})
    has(said('report', 'a.json'), '4 of 20 calls of hipLaunchKernel launched work that was not recorded')


# ---- ids of several calls ----

def shared(flows):
    """Returns four copies, each launched by a call of its own, and all with the same correlation id."""
    events = []
    for i in range(4):
        args = {'correlation': 77, 'device': 0, 'stream': i + 1}
        events += [x(f'hipMemcpyAsync{i}', 100 * i, 10, cat='cuda_runtime', args={'correlation': 77}),
                   x(f'Memcpy DtoH{i}', 100 * i + 20, 60 + i, cat='gpu_memcpy', pid=0, tid=i + 1, args=args)]
        if flows:
            events += [{'ph': 's', 'cat': 'ac2g', 'name': 'ac2g', 'id': 77, 'pid': 1, 'tid': 1, 'ts': 100 * i},
                       {'ph': 'f', 'bp': 'e', 'cat': 'ac2g', 'name': 'ac2g', 'id': 77, 'pid': 0, 'tid': i + 1, 'ts': 100 * i + 20}]
    return {'schemaVersion': 1, 'traceEvents': events}


@case('ROCm/omnitrace#77', 'device', 'one correlation id for all copies: flows decide, or nothing does')
def _():
    put('flows.json', shared(True))
    rows = json.loads(run('tree', '--json', 'flows.json').stdout)
    found = {}

    def visit(node):
        if isinstance(node, dict):
            if str(node.get('name', '')).startswith('hip'):
                found[node['name']] = node.get('device_ns')
            for v in node.values():
                visit(v)
        elif isinstance(node, list):
            for v in node:
                visit(v)
    visit(rows)
    equal(found, {f'hipMemcpyAsync{i}': 60000 + 1000 * i for i in range(4)})
    assert 'belongs to several calls' not in said('report', 'flows.json')
    for i in range(4):
        run('filter', 'flows.json', '--name', f'hipMemcpyAsync{i}', '--keep', 'flows', '-o', 'part.json', '--force')
        equal(sorted(e['name'] for e in dump('part.json')), [f'Memcpy DtoH{i}', f'hipMemcpyAsync{i}'])
    put('none.json', shared(False))
    run('filter', 'none.json', '--name', 'hipMemcpyAsync0', '--keep', 'flows', '-o', 'part.json', '--force')
    equal(len(dump('part.json')), 8)  # nothing decides, so nothing that may belong to the call is removed
    has(said('report', 'none.json'), 'belongs to several calls, with no flow that identifies the launch: 4;')


@case('facebookincubator/dynolog', 'rank', 'numbers in names that are the processes of the events are no ranks')
def _():
    def traces(form, *numbers, pid=None):
        return [put(form % n, {'schemaVersion': 1, 'traceEvents': [x('aten::add', 10, 5, cat='cpu_op', pid=n if pid is None else pid, tid=n)]}) for n in numbers]
    for form, numbers in (('libkineto_trace_%d.json', (389, 390)), ('libkineto_activities_%d.json', (77, 78)), ('trace_%d.json', (2812, 813, 1200))):
        names = traces(form, *numbers)
        equal(dict(zip(numbers, ranks(*names))), {n: i for i, n in enumerate(sorted(numbers))})
    p = run('merge', '-n', *traces('d/trace_%d.json', 813, 812))
    has(p.stderr, '813.json: note: contains no rank; its rank is its position among the sorted names')
    equal(ranks(*traces('e/trace_%d.json', 812, 813, pid=5)), [812, 813])  # another process
    equal(ranks(*traces('f/trace_%d.json', 8, 9)), [8, 9])  # the rank as the process
    equal(ranks(*traces('g/rank%d.json', 812, 813)), [812, 813])
    equal(ranks(*traces('h/gpu%d.json', 812, 813)), [812, 813])


# ---- devices ----

@case('tensorflow/tensorflow#1824', 'device', 'devices of several workers, with the job before them')
def _():
    names = {0: 'task:7/cpu:0', 1: 'task:7/gpu:0/stream:13', 2: 'task:7/gpu:0/stream:14', 3: 'task:3/device:GPU:0/stream:13', 4: 'task:3/device:GPU:0/stream:all'}
    events = [{'ph': 'M', 'name': 'process_name', 'pid': p, 'args': {'name': f'/job:worker/replica:0/{n} Compute'}} for p, n in names.items()]
    events += [{'ph': 'X', 'cat': 'Op', 'name': f'op{p}', 'pid': p, 'tid': 0, 'ts': 1000 + 100 * i + 20 * p, 'dur': 10 + p, 'args': {'op': 'MatMul'}}
               for i in range(10) for p in names]
    put('a.json', {'traceEvents': events})
    job = 'GPU 0 of /job:worker/replica:0/task:'
    equal({d['device']: (d['busy_ns'], d['kernels']) for d in devices('a.json')}, {job + '7': (230000, 20), job + '3': (130000, 10)})


# ---- samples of V8 ----

NODES = [{'id': 1, 'callFrame': {'functionName': '(root)', 'scriptId': '0', 'url': '', 'lineNumber': -1, 'columnNumber': -1}, 'children': [2, 3]},
         {'id': 2, 'callFrame': {'functionName': 'run', 'scriptId': '5', 'url': 'http://a/b.js', 'lineNumber': 1, 'columnNumber': 2}},
         {'id': 3, 'callFrame': {'functionName': '(idle)', 'scriptId': '0', 'url': '', 'lineNumber': -1, 'columnNumber': -1}}]


@case('firefox-devtools/profiler#1878', 'stack', 'CpuProfile, one event with the whole profile, as Chrome wrote it up to version 57')
def _():
    profile = {'nodes': NODES, 'startTime': 400000, 'endTime': 401000, 'samples': [2, 2, 3], 'timeDeltas': [100, 300, 500]}
    whole = {'pid': 7, 'tid': 7, 'ts': 500000, 'ph': 'I', 's': 't', 'cat': 'disabled-by-default-devtools.timeline', 'name': 'CpuProfile', 'args': {'data': {'cpuProfile': profile}}}
    put('a.json', {'traceEvents': [whole, x('EvaluateScript', 400000, 900, cat='devtools.timeline', pid=7, tid=7)]})
    equal(top('a.json'), {'EvaluateScript': 900000, 'run': 800000, '(idle)': 100000})
    events = json.load(open(converted('a.json', 'b.json'), encoding='utf-8'))['traceEvents']
    equal([e for e in events if e['name'] == 'CpuProfile'], [whole])
    equal(top('b.json'), top('a.json'))
    run('filter', 'a.json', '--name', 'run', '-o', 'c.json')
    equal(top('c.json'), {'run': 800000})
    put('d.json', {'traceEvents': [{**whole, 'cat': 'mine'}, {**whole, 'args': {}}, x('a', 1, 2)]})  # no profiles
    equal([e['name'] for e in dump('d.json')], ['a', 'CpuProfile'])


@case('jlfwong/speedscope#159', 'stack', 'a sample that V8 recorded late: its delta is negative')
def _():
    profile = {'nodes': NODES, 'startTime': 5000, 'endTime': 6000, 'samples': [2, 3, 2, 3], 'timeDeltas': [100, 200, -50, 450]}
    put('a.cpuprofile', profile)  # run at 100 and 250, (idle) at 300 and 700
    equal(top('a.cpuprofile'), {'run': 200000, '(idle)': 700000})
    event = {'pid': 7, 'tid': 7, 'ph': 'P', 'cat': 'disabled-by-default-v8.cpu_profiler', 'id': '0x1', 'ts': 5000}
    chunks = [{'cpuProfile': {'nodes': [{**n, 'parent': 1} if n['id'] > 1 else n for n in NODES], 'samples': [2, 3]}, 'timeDeltas': [100, 200]},
              {'cpuProfile': {'samples': [2, 3]}, 'timeDeltas': [-50, 450], 'endTime': 6000}]
    put('a.json', {'traceEvents': [{**event, 'name': 'Profile', 'args': {'data': {'startTime': 5000}}}, *({**event, 'name': 'ProfileChunk', 'args': {'data': c}} for c in chunks)]})
    equal(top('a.json'), {'run': 200000, '(idle)': 700000})
    has(said('info', '-v', 'a.json'), 'samples after a sample with a later time: sorted by time')


# ---- samples of perf ----

PRINTED = {'comm': 'py run', 'tid': '11634/11635', 'cpu': '[002]', 'time': '7719.142344:', 'period': '250000', 'event': 'cycles:u:'}


def perf(fields, at, chain):
    """Returns a sample as perf script -F FIELDS prints it, `at` ms after the first one."""
    head = ' '.join((f'7719.{142344 + 1000 * at}:' if f == 'time' else PRINTED[f]).rjust(6) for f in fields)
    frames = ['7f1c2b5f3a90 inner+0x10 (/usr/lib/a.so)', '400500 main+0x10 (/usr/bin/ls)']
    return head + ' \n' + ''.join(f'\t    {f}\n' for f in frames) + '\n' if chain else f'{head} {frames[0]}\n'


@case('torvalds/linux, perf script -F', 'sample', 'any selection of fields that has a thread or a time, and a time or an event')
def _():
    for chosen in (c for n in range(1, 7) for c in itertools.combinations(PRINTED, n)):
        if not ({'tid', 'time'} & set(chosen) and {'time', 'event'} & set(chosen)):
            continue
        for chain in (True, False):
            put('a.txt', perf(chosen, 0, chain) + perf(chosen, 1, chain))
            number = '11635' if 'tid' in chosen else ''
            thread = f'py run {number}'.strip() if 'comm' in chosen else f"thread {number or 'all'}"
            for at, e in enumerate(dump('a.txt')):
                weight = e.get('args', {}).get('tracekit.weight', 1)
                found = (e['name'], e['time_ms'], weight, e.get('category', ''))
                right = ('inner', at if 'time' in chosen else 0, 250000 if 'period' in chosen else 1, 'cycles:u' if 'event' in chosen else '')
                assert found == right and e['thread'] == thread, (chosen, chain, e)
            equal(len(dump('a.txt')), 2)
            notes = said('info', '-v', 'a.txt')
            for field, words in (('time', 'samples without times'), ('tid', 'samples without threads')):
                assert (words in notes) == (field not in chosen), (chosen, notes)


@case('aosp, simpleperf report_sample.py', 'sample', 'tabs between the fields of the first line')
def _():
    put('a.txt', ''.join(f'ple.maps\t21452 [007] 11371.48{i}014:\t\t201198 cpu-clock:\nffffffff9c80735c\t__schedule ([kernel.kallsyms])\n\n' for i in (3, 4)))
    equal([(e['name'], e['thread'], e['time_ms'], e['args']['tracekit.weight']) for e in dump('a.txt')],
          [('__schedule', 'ple.maps 21452', i, 201198) for i in (0, 1)])


@case('brendangregg/FlameGraph, difffolded.pl', 'sample', 'folded stacks with two counts in each line')
def _():
    put('a.folded', 'main;a 10 12\nmain;b 3 0\nmain;c 0.5 4\n')
    found = [(e['name'], e['args'].get('tracekit.weight', 1), float(e['args']['before'])) for e in dump('a.folded')]
    equal(found, [('a', 12, 10), ('b', 0, 3), ('c', 4, 0.5)])
    has(said('info', 'a.folded'), 'two counts in each line')
    put('b.folded', 'main;thread 7 12\nmain;b 3\n')  # the name of a frame ends in a number
    equal([e['name'] for e in dump('b.folded')], ['thread 7', 'b'])


@case('iovisor/bpftrace', 'sample', 'a negative count in folded stacks')
def _():
    put('a.folded', 'main;a 10\nmain;b -3\n')
    equal([(e['name'], e['args']['tracekit.weight']) for e in dump('a.folded')], [('a', 10), ('b', -3)])


@case('P403n1x87/austin', 'sample', 'the weights of austin -f: time, idle, memory')
def _():
    put('a.austin', 'P7;T7;/a/foo.py:main:12;/a/bar.py:f:3 300,0,-1024\nP7;T7;/a/foo.py:main:12 200,1,4096\n')
    equal([(e['name'], e['args']) for e in dump('a.austin')],
          [('/a/bar.py:f:3', {'idle': False, 'memory_bytes': -1024, 'tracekit.weight': 300}), ('/a/foo.py:main:12', {'idle': True, 'memory_bytes': 4096, 'tracekit.weight': 200})])
    equal(top('a.austin'), {'P7': 500000, 'T7': 500000, '/a/foo.py:main:12': 500000, '/a/bar.py:f:3': 300000})
    has(said('info', 'a.austin'), "weights of Austin's full mode: the time counts")
    put('b.austin', 'main;a 300,2,5\n')  # no state of a thread
    has(said('info', 'b.austin'), 'not a recognised trace format')


# ---- memory ----

@case('pytorch/pytorch, _memory_viz.py', 'memory', 'an allocation that failed is a finding, in snapshots and in Kineto')
def _():
    frames = [{'filename': '/a/train.py', 'line': 10, 'name': 'forward'}]
    trace = [{'action': 'alloc', 'addr': 1 << 40, 'size': 18874368, 'stream': 0, 'time_us': 1700000000000001, 'frames': frames},
             {'action': 'oom', 'addr': 0, 'device_free': 1048576, 'size': 104857600, 'stream': 0, 'time_us': 1700000000000006, 'frames': frames},
             {'action': 'oom', 'addr': 0, 'device_free': 2097152, 'size': 52428800, 'stream': 0, 'time_us': 1700000000000009, 'frames': frames}]
    put('a.pickle', pickle.dumps({'segments': [], 'device_traces': [[], trace], 'allocator_settings': {}}, 2))
    found, = [f for f in json.loads(run('report', '--json', 'a.pickle').stdout)['findings'] if f['id'] == 'out-of-memory']
    equal((found['severity'], found['figure'], found['at_ns']), ('bad', 2, 5000))
    has(found['text'], '^GPU 1 ran out of memory: the program asked for 104.9 MB while 1.0 MB was free on the device; 2 allocations failed$')
    args = {'Device Type': 1, 'Device Id': 3, 'Bytes': 2000000}
    put('a.json', {'schemaVersion': 1, 'traceEvents': [x('aten::empty', 10, 5, cat='cpu_op'), {'ph': 'i', 's': 't', 'cat': 'cpu_instant_event', 'name': '[OutOfMemory]', 'pid': 1, 'tid': 1, 'ts': 12.5, 'args': args}]})
    has(said('report', 'a.json'), r'GPU 3 ran out of memory: the program asked for 2.0 MB\n')


@case('pytorch/pytorch#130964', 'memory', 'annotations that are actions of the history, as PyTorch wrote them before external_annotations')
def _():
    def entry(action, at, size=0, name='', file=''):
        return {'action': action, 'addr': size and 4096, 'size': size, 'stream': 0, 'time_us': at, 'frames': [{'name': name, 'filename': file, 'line': 0}] if name else []}
    trace = [entry('user_defined', 100, 0, 'START', 'ProfilerStep#0'), entry('alloc', 110, 512), entry('user_defined', 120, 0, 'START', '## forward ##'),
             entry('user_defined', 130, 0, 'END', '## forward ##'), entry('free_completed', 150, 512), entry('user_defined', 160, 0, 'END', 'ProfilerStep#0'),
             entry('user_defined', 170, 0, 'mark', 'a.py')]  # no stage, so not an annotation
    put('a.pickle', pickle.dumps({'segments': [], 'device_traces': [trace, []]}, 2))
    equal([(e['name'], float(e['time_ms']) * 1000, float(e['dur_ms']) * 1000, e['thread']) for e in dump('a.pickle') if e.get('category') == 'annotation'],
          [('ProfilerStep#0', 0, 60, 'annotations 2'), ('## forward ##', 20, 10, 'annotations 2')])
    equal([e['name'] for e in dump('a.pickle') if e['kind'] == 'instant'], ['user_defined'])


@case('pytorch/pytorch, memory_snapshot', 'memory', 'a list of segments without a history: the message names what writes one')
def _():
    block = {'address': 8192, 'size': 2048, 'requested_size': 2048, 'state': 'active_allocated', 'frames': []}
    put('a.pickle', pickle.dumps([{'device': 0, 'address': 4096, 'total_size': 2097152, 'allocated_size': 2048, 'segment_type': 'small', 'blocks': [block]}], 2))
    has(said('report', 'a.pickle'), "not a trace: the segments of PyTorch's allocator .*_dump_snapshot writes a snapshot that can be read")


# ---- smaller ones ----

@case('google/pprof, nothing to lose', 'question', 'an empty object of args is no loss')
def _():
    put('a.json', {'traceEvents': [{**x('A', 0, 10), 'args': {}}, x('B', 20, 10)]})
    equal(run('convert', 'a.json', '-o', 'a.speedscope.json', '--no-loss').returncode, 0)
    put('b.json', {'traceEvents': [{**x('A', 0, 10), 'args': 'text'}]})
    has(run('convert', 'b.json', '-o', 'b.speedscope.json', '--force').stderr, 'lost: args: 1')


@case('microsoft/onnxruntime#9567', 'device', 'kernels of a process -1')
def _():
    events = [{'cat': 'Kernel', 'pid': -1, 'tid': -1, 'dur': 300, 'ts': 250 + 400 * i, 'ph': 'X', 'name': 'scudnn', 'args': {'stream': '0x5', 'grid_x': '1'}} for i in range(3)]
    put('a.json', [{**x('model_run', 100, 20000, cat='Session'), 'args': {}}, *events])
    equal([(d['device'], d['busy_ns']) for d in devices('a.json')], [('GPU', 900000)])


@case('NVIDIA, nsys export', 'device', 'graphs that were recorded as a whole: their kernels are unknown, and which option records these')
def _():
    db = sqlite3.connect('a.sqlite')
    db.executescript("""create table StringIds(id integer, value text); insert into StringIds values (1, 'cudaGraphLaunch_v10000');
        create table CUPTI_ACTIVITY_KIND_RUNTIME(start integer, end integer, globalTid integer, correlationId integer, nameId integer);
        create table CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start integer, end integer, deviceId integer, contextId integer, streamId integer, correlationId integer,
            globalPid integer, graphId integer, graphExecId integer)""")
    for i in range(9):
        db.execute('insert into CUPTI_ACTIVITY_KIND_RUNTIME values (?, ?, ?, ?, 1)', (1000000 * i, 1000000 * i + 5000, 77 << 24 | 5, i + 1))
        db.execute('insert into CUPTI_ACTIVITY_KIND_GRAPH_TRACE values (?, ?, 0, 1, 7, ?, ?, 3, 4)', (1000000 * i + 50000, 1000000 * i + 650000, i + 1, 77 << 24))
    db.commit()
    db.close()
    has(said('report', 'a.sqlite'), '9 launches of CUDA graphs were recorded as a whole, so their kernels are unknown; nsys profile --cuda-graph-trace=node')


@case('google/perfetto, id2 of flows', 'flow', 'flows with ids that are local to their processes')
def _():
    events = []
    for pid in (100, 101):
        for i in range(3):
            at = 1000 * i + 5 * (pid - 100)
            point = {'cat': 'flow', 'name': 'launch', 'id2': {'local': f'0x{i}'}, 'pid': pid}
            events += [x(f'L{pid}{i}', at, 10, pid=pid), x(f'K{pid}{i}', at + 50, 100, pid=pid, tid=9), {'ph': 's', **point, 'tid': 1, 'ts': at},
                       {'ph': 'f', 'bp': 'e', **point, 'tid': 9, 'ts': at + 50}]
    right = sorted(f'L{pid}{i},K{pid}{i}' for pid in (100, 101) for i in range(3))
    put('a.json', {'traceEvents': events})
    assert 'kept, but no flow' not in said('info', 'a.json'), said('info', 'a.json')
    equal(sorted(answers(converted('a.json', 'a.pftrace'), ARROWS)), right)
    again = json.load(open(converted('a.json', 'b.json'), encoding='utf-8'))['traceEvents']
    equal(sorted(json.dumps(e, sort_keys=True) for e in again if e['ph'] != 'M'), sorted(json.dumps(e, sort_keys=True) for e in events))
    run('merge', 'a.json', 'b.json', '--align', 'none', '-o', 'c.json')
    equal(sorted(answers(converted('c.json', 'c.pftrace'), ARROWS)), sorted(2 * right))
    put('d.json', {'traceEvents': [x('a', 0, 5), {'ph': 's', 'cat': 'c', 'name': 'n', 'id2': {}, 'pid': 1, 'tid': 1, 'ts': 1}]})
    has(said('info', 'd.json'), 'flow event without a plain id: kept, but no flow')


@case('pytorch/kineto#129', 'json', 'values that no program quoted: N/A, and what the C library of Windows prints for NaN and infinity')
def _():
    for word, text in (('N/A', 'N/A'), ('-nan(ind)', 'NaN'), ('nan(ind)', 'NaN'), ('-1.#IND', 'NaN'), ('1.#QNAN', 'NaN'), ('1.#INF', 'Infinity'), ('-1.#INF', '-Infinity')):
        event = json.dumps({**x('k', 0, 5), 'args': {'bytes': 200, 'rate': 0.125}}).replace('0.125', word)
        put('a.json', '{"traceEvents": [' + event + ', ' + event.replace('"k"', '"l"') + '/* the last */]}')
        equal([(e['name'], e['args']) for e in dump('a.json')], [(name, {'bytes': 200, 'rate': text}) for name in 'kl'])


@case('brendangregg/FlameGraph#205', 'perf', 'lines with the place in the source belong to the frame before')
def _():
    put('a.txt', """ls  3441 [001] 11234.123456:     250000 cycles:uppp:
\t            5581a2a8d2f0 work+0x10 (/usr/bin/ls)
  ls.c:120
\t            5581a2a8d2f0 inner
  /src/a b/ls.c:77 (inlined)
\t            7f93a2a8d000 _start+0x0 (/usr/lib/ld-2.29.so)
  ld-2.29.so[11640]

  Analysis thr  3442 [001] 11234.223456:     250000 cycles:uppp:
\t            5581a2a8d2f0 work+0x10 (/usr/bin/ls)
  ls.c:121
""")
    assert 'skipped' not in said('info', '-v', 'a.txt')
    frames = [[(f['name'], f.get('file'), f.get('line')) for f in p['frames']] for p in [json.load(open(converted('a.txt', 'a.speedscope.json')))['shared']]][0]
    equal(sorted(frames), sorted([('work', 'ls.c', 120), ('inner', '/src/a b/ls.c', 77), ('_start', None, None), ('work', 'ls.c', 121)]))
    equal(len(dump('a.txt')), 2)


@case('torvalds/linux, perf script -F ip,sym', 'perf', 'frames without a module keep their names')
def _():
    put('a.txt', """ls  3441 11234.123456:     250000 cycles:
\t            7f93a2a8d2f0 [unknown]
\t            7f93a2a8d2f1 std::function<void (int)>::operator()
\t                    abc1 foo(int)
\t                    abc2 foo(int)+0x1f ([kernel.kallsyms])
\t                    abc3 main
""")
    run('convert', 'a.txt', '-o', 'a.folded', '--force')
    equal(open('a.folded').read(), 'ls;main;foo(int);foo(int);std::function<void (int)>::operator();[unknown] 250000\n')
    assert 'skipped' not in said('info', '-v', 'a.txt')


@case('google/pprof, legacy_profile.go', 'pprof', 'text profiles of Go are named')
def _():
    for head in ('goroutine profile: total 2\n1 @ 0x4a 0x4b\n', 'threadcreate profile: total 8\n', 'my/own.profile profile: total 3\n', '--- mutex:\ncycles/second=1\n'):
        put('a.txt', head + '#\t0x4a\tmain.main+0x1\t/x/main.go:3\n')
        has(said('info', 'a.txt'), "'pprof -proto' converts it")


sys.exit(main())
