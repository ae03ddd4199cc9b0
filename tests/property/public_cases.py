#!/usr/bin/env python3
"""Problems that people reported in public threads: for each one, the smallest input that reproduces it, and the expected result.

Each case states its thread and its kind. The inputs are written here, following the source of the producer or the thread; none is a
copy of a user's file."""
import contextlib
import gzip
import json
import os
import re
import sqlite3
import sys
import tarfile
import zipfile
import zlib
from decimal import Decimal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from public import (answers, case, converted, depths, devices, dump, durations, equal, has, kernel, main, named_ranks, packet, put,  # noqa: E402
                    ranks, run, said, slice_event, top, track, typing, x)
from xspace import message, number  # noqa: E402

# ---- invalid JSON ----

@case('MobileNativeFoundation/bluepill#437', 'json', 'nan in small letters within a counter')
def _():
    put('a.json', '[{"name":"CPU", "ph": "C", "ts": "1587074269993629", "pid": 1, "args": {"sys": nan, "usr": nan, "idle": nan}},\n'
        '{"name":"test", "ph": "B", "ts": "1587074269993700", "pid": 1, "tid": 1},\n'
        '{"name":"test", "ph": "E", "ts": "1587074269993900", "pid": 1, "tid": 1},\n]')
    equal([e['kind'] for e in dump('a.json')], ['counter', 'span'])
    equal(durations('a.json'), {'test': [200]})


@case('gradle/gradle-profiler#541', 'json', 'quotes and line ends in names that nobody escaped')
def _():
    put('a.json', '{"traceEvents":[\n' + json.dumps(x('before', 0, 5)) + ',\n'
        '{"name": ""is "fast"\nenough"", "cat": "test", "ph": "X", "pid": 1, "tid": 1, "ts": 10, "dur": 7, "args": {}},\n'
        + json.dumps(x('after', 20, 3)) + '\n]}')
    equal(sorted(v for values in durations('a.json').values() for v in values), [3, 5, 7])
    assert any('fast' in name for name in durations('a.json')), durations('a.json')


@case('namhyung/uftrace#820', 'json', 'control characters in args')
def _():
    put('a.json', '{"traceEvents":[{"ts":1.000,"ph":"B","pid":9,"tid":9,"name":"strnlen","args":{"arguments":"(\\"\x01\x02\x03\\", 100)"}},\n'
        '{"ts":3.500,"ph":"E","pid":9,"tid":9,"name":"strnlen","args":{"retval":"\x7f 3"}}],"displayTimeUnit": "ns"}')
    equal(durations('a.json'), {'strnlen': [2.5]})
    equal(dump('a.json')[0]['args']['arguments'], '("\x01\x02\x03", 100)')


@case('koute/not-perf#22', 'json', 'a comma before each element, and no end')
def _():
    put('a.json', '[,{"name": "0x43 [main]","ph": "B","ts": 3627138130963.042,"pid": 7,"tid": 7}\n'
        ',{"name": "f","ph": "B","ts": 3627138130964.042,"pid": 7,"tid": 7}\n'
        ',{"name": "f","ph": "E","ts": 3627138130965.542,"pid": 7,"tid": 7}\n'
        ',{"name": "0x43 [main]","ph": "E","ts": 3627138130973.042,"pid": 7,"tid": 7}\n')
    equal(durations('a.json'), {'0x43 [main]': [10], 'f': [1.5]})


@case('NVIDIA/nccl, ext-profiler/example/print_event.c', 'json', 'words, addresses and null pointers that nobody quoted')
def _():
    put('a.json', '[\n{"name": "Send", "cat": "P2P_API", "ph": "b", "id": 0, "pid": 9, "tid": 1, "ts": 10.5, "args": {"count": 2, "datatype": ncclFloat32, "Stream": 0x4142e90}},\n'
        '{"name": "Send", "cat": "P2P_API", "ph": "e", "id": 0, "pid": 9, "tid": 1, "ts": 13.5},\n'
        '{"name": "Recv", "cat": "P2P_API", "ph": "b", "id": 1, "pid": 9, "tid": 1, "ts": 20.5, "args": {"datatype": ncclInt8 , "Stream": (nil)}},\n'
        '{"name": "Recv", "cat": "P2P_API", "ph": "e", "id": 1, "pid": 9, "tid": 1, "ts": 21.5},\n{}]\n')
    equal(durations('a.json'), {'Send': [3], 'Recv': [1]})
    send, recv = dump('a.json')
    equal(send['args'], {'count': 2, 'datatype': 'ncclFloat32', 'Stream': 0x4142e90, 'json.id': 0})
    equal(recv['args'], {'datatype': 'ncclInt8', 'Stream': None, 'json.id': 1})
    has(said('info', 'a.json'), 'value without quotes: kept as a string')


@case('thoren-d/tracing-chrome#30', 'json', 'two programs append to one array, partly without commas')
def _():
    put('a.json', '[\n' + json.dumps(x('rust 1', 0, 4)) + '\n' + json.dumps(x('rust 2', 5, 4)) + '\n\n' + json.dumps(x('js', 20, 6)) + ',\n'
        + json.dumps(x('js 2', 30, 6)))
    equal(durations('a.json'), {'rust 1': [4], 'rust 2': [4], 'js': [6], 'js 2': [6]})


@case('pytorch/pytorch#33961', 'json', 'a key that has lost its first quote')
def _():
    put('a.json', '[{"name": "add", "ph": "X", "ts": 101.524, "dur": 134.49, "tid": 1, "pid": "CPU functions", "args": {}}, '
        '{"name": "add", "ph": "s", "ts": 101.524, "tid": 1, "pid": "CPU functions", "id": 0, "cat": "cpu_to_cuda", "args": {}}, '
        '{"name": "add", "ph": "f", "ts": 102.957, tid": 0, "pid": "CUDA functions", "id": 0, "bp": "e", "cat": "cpu_to_cuda", "args": {}}, '
        '{"name": "add", "ph": "X", "ts": 102.957, "dur": 134.176, "tid": 0, "pid": "CUDA functions", "args": {}}]')
    equal(durations('a.json'), {'add': [134.176, 134.49]})
    equal(answers('a.json', 'select count(*) from flow'), ['1'])


@case('jlfwong/speedscope#402', 'json', 'commas after the last element, and an instant with a stack')
def _():
    put('a.json', '{"traceEvents": [{"name": "hi", "cat": "none", "ph": "i", "pid": 2, "tid": 2, "ts": 829, "stack": ["a", "b"]},],'
        '"displayTimeUnit": "ns", "otherData": {"version": "none"}, "samples": []}')
    equal([(e['name'], e['kind']) for e in dump('a.json')], [('hi', 'instant')])
    equal(json.load(open(converted('a.json', 'b.json')))['traceEvents'][-1]['stack'], ['a', 'b'])


@case('apache/mxnet#10489', 'json', 'the last characters are missing')
def _():
    pair = '{"name": "%s", "cat": "operator", "ph": "%s", "ts": %d, "pid": 0, "tid": 5}'
    put('a.json', '{\n    "traceEvents": [\n' + ',\n'.join(pair % v for v in (('Conv', 'B', 10), ('Conv', 'E', 25), ('FC', 'B', 30), ('FC', 'E', 34))))
    equal(durations('a.json'), {'Conv': [15], 'FC': [4]})


@case('pytorch/kineto#646', 'clock', 'a span without an end has a duration of minus fifty years')
def _():
    put('a.json', {'traceEvents': [x('a', 1660000000000000, 10), x('b', 1660000000000020, -1660000000000020), x('c', 1660000000000030, 10)]})
    has(said('info', 'a.json'), r'time +40(\.0+)? us long')


@case('tensorpack/tensorpack#819', 'clock', 'a copy of TensorFlow 584 years after all others')
def _():
    op = {'pid': 5, 'cat': 'Op'}
    put('a.json', {'traceEvents': [x('MEMCPYDtoH', 1531302016698591, 2, **op), x('Sub', 1531302016698600, 20, **op),
                                   x('MEMCPYDtoH', 19978045970716470, 359, **op)]})
    has(said('info', 'a.json'), r'time +\d+(\.\d+)? us long')
    has(said('check', 'a.json'), r'(?i)100 days')


@case('google/perfetto#274', 'clock', 'displayTimeUnit ns is how to show, not how to read')
def _():
    put('a.json', {'displayTimeUnit': 'ns', 'traceEvents': [x('a', 1000, 500)]})
    equal(durations('a.json'), {'a': [500]})


# ---- begin, end and nesting ----

@case('jlfwong/speedscope#251', 'stack', 'begins and ends at one time keep their order')
def _():
    put('a.json', [{'tid': 1, 'pid': 0, 'ph': ph, 'name': name, 'ts': ts} for ph, name, ts in (
        ('B', 'onCreate', 8), ('B', 'sayHello2', 22), ('B', 'block', 22), ('E', 'block', 54), ('B', 'sayHello', 58), ('B', 'block', 58),
        ('E', 'block', 64), ('E', 'sayHello', 64), ('E', 'sayHello2', 65), ('E', 'onCreate', 65), ('B', 'doFrame', 65), ('E', 'doFrame', 70))])
    equal(depths('a.json'), [('onCreate', 0), ('sayHello2', 1), ('block', 2), ('sayHello', 2), ('block', 3), ('doFrame', 0)])
    equal(durations('a.json')['block'], [6, 32])


@case('jlfwong/speedscope#487', 'stack', '49 ns between two spans 54 years after 1970')
def _():
    put('a.json', '[{"name":"A","ph":"X","ts":1732107141551429.079,"dur":34670882.955,"pid":1,"tid":140390667650624},\n'
        '{"name":"B","ph":"X","ts":1732107142997066.682,"dur":476375.838,"pid":1,"tid":140390667650624},\n'
        '{"name":"C","ph":"X","ts":1732107143473442.569,"dur":300492.826,"pid":1,"tid":140390667650624}]')
    for source in ('a.json', converted('a.json', 'a.pftrace')):
        equal(depths(source), [('A', 0), ('B', 1), ('C', 1)])
        _, b, c = dump(source)
        equal(c['time_ms'] - b['time_ms'] - b['dur_ms'], Decimal('0.000049'))


@case('meta-pytorch/torchtune#2323', 'stack', 'an operator that begins before its step and ends within it')
def _():
    put('a.json', {'traceEvents': [x('aten::_local_scalar_dense', 3028549358072.087, 915147.6347, cat='cpu_op'),
                                   x('ProfilerStep#8', 3028549410793.485, 862861.2338, cat='user_annotation')]})
    equal(top('a.json', '--kind', 'step'), {'ProfilerStep#8': 862861234})
    equal(durations(converted('a.json', 'a.pftrace'))['ProfilerStep#8'], [862861.234])


@case('microsoft/onnxruntime-genai#1524', 'stack', 'ends without names, and an array without its end')
def _():
    put('a.json', '[{"name": "Append", "cat": "perf", "ph": "B", "pid": 0, "tid": 4, "ts": 9},\n{"name": "Run", "cat": "perf", "ph": "B", '
        '"pid": 0, "tid": 4, "ts": 33},\n{"cat": "perf", "ph": "E", "pid": 0, "tid": 4, "ts": 50},\n'
        '{"cat": "perf", "ph": "E", "pid": 0, "tid": 4, "ts": 60},\n')
    equal(durations('a.json'), {'Append': [51], 'Run': [17]})


@case('wolfpld/tracy#267', 'stack', 'instants without a scope stay on their threads')
def _():
    put('a.json', [{'ts': ts, 'pid': 0, 'tid': tid, 'ph': ph, 'name': name} for ts, tid, ph, name in (
        (1, 125, 'B', 'zone'), (2, 125, 'i', 'test\nE21'), (3, 123, 'B', 'zone'), (4, 123, 'i', 'test\nE73'), (5, 125, 'E', 'zone'),
        (6, 123, 'E', 'zone'))])
    equal([(e['name'], e['thread']) for e in dump(converted('a.json', 'a.pftrace')) if e['kind'] == 'instant'],
          [('test\nE21', 'thread 125'), ('test\nE73', 'thread 123')])


@case('catapult-project/catapult#4643', 'flow', 'an arrow that ends where the next span begins, at one time and before it')
def _():
    put('flow.json', {'traceEvents': [
        {'pid': 15903, 'tid': 15904, 'ts': 2000.0, 'ph': 'B', 'name': 'SenderB'},
        {'pid': 15903, 'tid': 15904, 'ts': 2000.201, 'ph': 's', 'name': 'IPC', 'id': '8780d403'},
        {'pid': 15903, 'tid': 15904, 'ts': 2000.9, 'ph': 'E'},
        {'pid': 15875, 'tid': 15895, 'ts': 2001.4, 'ph': 'f', 'name': 'IPC', 'id': '8780d403'},
        {'pid': 15875, 'tid': 15895, 'ts': 2001.4, 'ph': 'B', 'name': 'Blergh'}, {'pid': 15875, 'tid': 15895, 'ts': 2001.8, 'ph': 'E'}]})
    query = 'select o.name, i.name from flow f join slice o on o.id = f.slice_out join slice i on i.id = f.slice_in'
    for source in ('flow.json', converted('flow.json', 'flow.pftrace')):
        equal(answers(source, query), ['SenderB,Blergh'])


@case('catapult-project/catapult#1321', 'async', 'nestable spans of one id with several names')
def _():
    put('a.json', [{'cat': 'renderer.scheduler', 'id': '0x1', 'pid': 1, 'tid': 1, 'ph': ph, 'name': name, 'ts': ts} for ph, name, ts in (
        ('b', 'IdlePeriod', 0), ('b', 'ShortIdle', 1), ('e', 'ShortIdle', 4), ('b', 'LongIdle', 5), ('e', 'LongIdle', 9), ('e', 'IdlePeriod', 10))])
    for source in ('a.json', converted('a.json', 'a.pftrace')):
        equal(durations(source), {'IdlePeriod': [10], 'ShortIdle': [3], 'LongIdle': [4]})


@case('mlcommons/inference#401', 'async', 'async spans without process and thread')
def _():
    put('a.json', {'traceEvents': [{'name': 'Sample', 'cat': 'default', 'ph': ph, 'id': i, 'ts': ts, 'args': {}}
                                   for ph, i, ts in (('b', 1, 10), ('b', 2, 12), ('e', 1, 30), ('e', 2, 47))]})
    equal(durations('a.json'), {'Sample': [20, 35]})
    equal(durations(converted('a.json', 'a.pftrace')), {'Sample': [20, 35]})


# ---- threads and processes ----

def two_threads(a, b):
    named = [{'ph': 'M', 'name': 'thread_name', 'pid': 1, 'tid': tid, 'args': {'name': name}} for tid, name in ((a, 'Main'), (b, 'Other'))]
    return {'traceEvents': named + [x('w', 55, 3000, tid=a), x('w', 50, 3122, tid=b)]}


@case('google/perfetto#738', 'track', 'thread ids of 47 bits with equal names of spans')
def _():
    put('a.json', two_threads(140589156634432, 140588800255680))
    equal([e['thread'].split()[0] for e in dump(converted('a.json', 'a.pftrace'))], ['Other', 'Main'])


@case('google/perfetto#522', 'track', 'the same with ids in quotes')
def _():
    put('a.json', two_threads('140589156634432', '140588800255680'))
    equal([e['thread'].split()[0] for e in dump(converted('a.json', 'a.pftrace'))], ['Other', 'Main'])


@case('thoren-d/tracing-chrome#32', 'track', 'threads 0 and 1 are two')
def _():
    put('a.json', [{'ph': 'M', 'pid': 1, 'name': 'thread_name', 'tid': t, 'args': {'name': f'n{t}'}} for t in range(3)]
        + [x(f's{t}', 10 + t, 5, tid=t) for t in range(3)])
    equal([(e['thread'], e['name'], e['depth']) for e in dump(converted('a.json', 'a.pftrace'))], [(f'n{t}', f's{t}', 0) for t in range(3)])


@case('google/perfetto#363', 'track', 'one thread id in two processes, metadata with times')
def _():
    put('a.json', [{'ph': 'M', 'args': {'name': n}, 'ts': 3150987578506433, 'tid': tid, 'pid': pid, 'name': key} for n, tid, pid, key in (
        ('primary', 0, 71556, 'process_name'), ('lifecycle', 0, 71556, 'thread_name'), ('ipc', 29, 71556, 'thread_name'),
        ('secondary', 0, 71557, 'process_name'), ('ipc', 29, 71557, 'thread_name'))]
        + [x('a', 3150987578506500, 5, pid=71556, tid=29), x('b', 3150987578506510, 5, pid=71557, tid=29), x('c', 3150987578506520, 5, pid=71556, tid=0)])
    equal([(e['process'].split()[0], e['thread'].split()[0]) for e in dump(converted('a.json', 'a.pftrace'))],
          [('primary', 'ipc'), ('secondary', 'ipc'), ('primary', 'lifecycle')])


@case('ray-project/ray#27921', 'track', 'an address as process, a worker as thread, tasks that overlap')
def _():
    who = {'pid': '127.0.0.1', 'tid': 'worker:c1667f12'}
    put('a.json', [x('task', 1653340563769987.2, 389.09912109375, cat='task', cname='rail_response', **who),
                   x('task:execute', 1653340563771251.5, 261.54518127441406, cat='task:execute', **who),
                   x('task', 1653340563771244.0, 384.5691680908203, cat='task', **who)])
    equal(top(converted('a.json', 'a.pftrace')), {'task': 773668, 'task:execute': 261545})
    equal({(e['process'], e['thread']) for e in dump('a.json')}, {('process 127.0.0.1', 'thread worker:c1667f12')})


@case('ray-project/kuberay#4437', 'track', 'metadata with a thread that is null')
def _():
    put('a.json', [{'name': 'process_name', 'ph': 'M', 'pid': '10.0.0.1', 'tid': None, 'args': {'name': 'Node 10.0.0.1'}},
                   {'name': 'thread_name', 'ph': 'M', 'pid': '10.0.0.1', 'tid': 'worker:1', 'args': {'name': 'Worker 1'}},
                   x('task', 0, 5, pid='10.0.0.1', tid='worker:1')])
    e, = dump('a.json')
    equal((e['process'][:13], e['thread'][:8]), ('Node 10.0.0.1', 'Worker 1'))
    equal(run('check', 'a.json').returncode, 0)


# ---- ranks by names ----

@case('determined-ai/determined#6037', 'rank', 'the rank behind a #, before or behind the time')
def _():
    equal(ranks(*named_ranks(*(f'node_123#{r}.16770000{r}2345.pt.trace.json' for r in (3, 10)))), [3, 10])
    equal(ranks(*named_ranks(*(f'node_123.167700001234{r}#{r}.pt.trace.json' for r in (1, 3)))), [1, 3])


@case('AMD-AGI/Primus#218', 'rank', 'rank[3], and numbers of the experiment')
def _():
    names = [f'primus-megatron-exp[llama2-70b-run1]-rank[{r}].17600000000000000{r}0.pt.trace.json' for r in (2, 11)]
    equal(ranks(*named_ranks(*names)), [2, 11])


@case('hw-native-sys/simpler#2058', 'rank', 'the rank is a folder above the folder')
def _():
    names = [f'out/rank{r}/d0/merged_swimlane_2026082{r}_101010.json' for r in (3, 10)]
    equal(ranks(*named_ranks(*names)), [3, 10])
    equal(ranks('out'), [3, 10])


@case('AMD-AGI/TraceLens#525', 'rank', 'names of TensorBoard with the rank in brackets, node after node')
def _():
    equal(ranks(*named_ranks(*(f'tb/node{r // 8}_rank[{r}]_1234.pt.trace.json' for r in (0, 7, 8, 15)))), [0, 7, 8, 15])


# ---- collectives and devices ----

@case('facebookresearch/HolisticTraceAnalysis#360', 'comm', 'kernels of NCCL since 2.19')
def _():
    names = ['ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)', 'ncclDevKernel_Generic(ncclDevComm*)', 'ncclKernel_AllGather_RING_LL']
    put('a.json', {'traceEvents': [kernel(n, 10 * i, 5) for i, n in enumerate(names + ['gemm'])]})
    equal(sorted(top('a.json', '--kind', 'collective')), sorted(names))


@case('AMD-AGI/TraceLens#547', 'comm', 'kernels of vLLM and SGLang that reduce across devices')
def _():
    names = ['void vllm::cross_device_reduce_1stage<__hip_bfloat16, 8>(vllm::RankData*)', 'void sglang::cross_device_reduce_2stage<half, 4>(x)',
             'void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<1, 2>(x)',
             'void aiter::allreduce_fusion_kernel_1stage<hip_bfloat16>(x)', 'void aiter::reduce_scatter_cross_device_store<half, 8>(x)',
             'multimem_all_reduce_kernel', 'two_shot_all_reduce_kernel']
    put('a.json', {'traceEvents': [kernel(n, 10 * i, 5) for i, n in enumerate(names + ['gemm', 'void at::native::reduce_kernel<512, 1>(x)'])]})
    equal(sorted(top('a.json', '--kind', 'collective')), sorted(names))


@case('AMD-AGI/TraceLens#60', 'comm', 'External ids of ranks differ, the group and the order tell')
def _():
    group = {'Collective name': 'allreduce', 'Process Group Name': '1', 'Process Group Ranks': '[0, 1]', 'Group size': 2}
    for rank, first in ((0, 87), (1, 412)):
        put(f'rank{rank}.json', {'distributedInfo': {'rank': rank, 'world_size': 2}, 'traceEvents': [
            kernel('ncclDevKernel_AllReduce_Sum_f32_RING_LL', 100 * i + 10 * rank * (i + 1), 60 - 10 * rank * (i + 1), **group,
                   **{'External id': first + 3 * i, 'Seq': i}) for i in range(3)]})
    equal(len(devices('rank0.json', 'rank1.json')), 2)
    run('merge', 'rank0.json', 'rank1.json', '--collectives', 'c.json', '-o', 'm.json')
    equal(len(json.load(open('c.json'))['collectives']), 3)


@case('facebookresearch/HolisticTraceAnalysis#238', 'step', 'no step at all: sums are there, and the lack is said')
def _():
    put('a.json', {'traceEvents': [x('aten::mm', 0, 5, cat='cpu_op'), kernel('gemm', 10, 20, correlation=3)]})
    equal([(d['kernels'], d['busy_ns']) for d in devices('a.json')], [(1, 20000)])
    has(said('top', 'a.json', '--by', 'step'), r'(?i)step')

# ---- similar cases of other programs ----

@case('flutter/flutter#74930', 'json', 'several timelines in one answer of an integration test')
def _():
    line = {'type': 'Timeline', 'timeOriginMicros': 5, 'timeExtentMicros': 100}
    put('a.json', {'building_timeline': {**line, 'traceEvents': [x('build', 10, 4)]}, 'scroll_timeline': {**line, 'traceEvents': [x('scroll', 60, 9)]}})
    equal(durations('a.json'), {'build': [4], 'scroll': [9]})


@case('Unity-Technologies/com.unity.editoriterationprofiler#9', 'json', 'Infinity in args')
def _():
    put('a.json', '{"traceEvents":[{"name":"reload","ph":"X","pid":1,"tid":1,"ts":5,"dur":7,"args":{"ratio":Infinity,"low":-Infinity}},'
        + json.dumps(x('next', 20, 3)) + ']}')
    equal(durations('a.json'), {'reload': [7], 'next': [3]})


@case('vercel/next.js#93393', 'stranger', 'the trace of Next.js, an array on each line')
def _():
    span = {'name': 'hot-reloader', 'duration': 22, 'timestamp': 3021331, 'id': 3, 'parentId': 1, 'tags': {}, 'startTime': 1729000000000, 'traceId': 'ab'}
    put('trace', json.dumps([span, {**span, 'id': 4}]) + '\n' + json.dumps([{**span, 'id': 5}]) + '\n')
    has(said('info', 'trace'), r'Next\.js')


@case('pytorch/pytorch#140879', 'stranger', 'a flight recording of collectives')
def _():
    put('nccl_trace_rank_0.json', {'version': '2.9', 'pg_config': {'0': {'name': '0', 'ranks': '[0, 1]'}}, 'pg_status': {}, 'entries': [
        {'frames': [], 'record_id': 0, 'pg_id': 0, 'collective_seq_id': 1, 'profiling_name': 'nccl:all_reduce', 'time_created_ns': 1700000000000000000,
         'state': 'completed'}]})
    has(said('info', 'nccl_trace_rank_0.json'), r'(?i)flight')


@case('google/perfetto#1560', 'stranger', 'a compressed trace of atrace')
def _():
    put('1.ctrace', b'TRACE:\n' + zlib.compress(b'# tracer: nop\n#\n' + b' <idle>-0 (-----) [002] .n.1 223230.807255: cpu_idle: state=1 cpu_id=2\n' * 50))
    has(said('info', '1.ctrace'), r'(?i)atrace|ftrace')


@case('google/perfetto#49', 'stranger', 'the text of atrace')
def _():
    put('atrace.data', 'TRACE:\n# tracer: nop\n#\n# entries-in-buffer/entries-written: 41390/41390   #P:8\n#\n'
        '          <idle>-0     (-----) [002] .n.1 223230.807255: cpu_idle: state=4294967295 cpu_id=2\n')
    has(said('info', 'atrace.data'), r'(?i)atrace|ftrace')


@case('google/perfetto#723', 'container', 'a zip of a Mac, with its second files')
def _():
    with zipfile.ZipFile('trace.json.zip', 'w') as z:
        z.writestr('trace.json', json.dumps([x('a', 0, 5)]))
        z.writestr('__MACOSX/._trace.json', b'\0\x05\x16\x07\0\x02\0\0Mac OS X        ' + bytes(60))
    equal(durations('trace.json.zip'), {'a': [5]})


@case('google/perfetto#584', 'container', 'one trace in a .tar.gz, in a folder')
def _():
    put('out/trace.json', [x('a', 0, 5)])
    with tarfile.open('trace.tar.gz', 'w:gz') as t:
        t.add('out')
    equal(durations('trace.tar.gz'), {'a': [5]})


@case('tensorflow/tensorboard#6396', 'container', 'a profile that is not below plugins/')
def _():
    put('a.json', [x('a', 0, 5)])
    os.makedirs('logs/profile/2023_05_18_10_00_00')
    converted('a.json', 'logs/profile/2023_05_18_10_00_00/host1.xplane.pb')
    p = run('extract', 'logs', '-o', 'o.json')
    equal((p.returncode, os.path.exists('o.json') and durations('o.json')), (0, {'a': [5]}))


@case('dfinity/ic#5629', 'clock', 'Bazel: the launch before the start has a negative time')
def _():
    put('command.profile', {'otherData': {'build_id': 'x', 'output_base': '/b', 'profile_start_ts': 1700000000000}, 'traceEvents': [
        {'name': 'thread_name', 'ph': 'M', 'pid': 1, 'tid': 0, 'args': {'name': 'Critical Path'}},
        x('Launch Blaze', -15000, 15000, cat='build phase marker'), x('Initialize command', 0, 532714, cat='build phase marker')]})
    has(said('info', 'command.profile'), r'from 2023-11-14T22:13:19\.985')
    has(said('info', converted('command.profile', 'b.pftrace')), r'from 2023-11-14T22:13:19\.985')


@case('bazelbuild/bazel#16523', 'question', 'the critical path of Bazel, in its own row')
def _():
    put('p.json', {'otherData': {'profile_start_ts': 1700000000000}, 'traceEvents': [
        {'name': 'thread_name', 'ph': 'M', 'pid': 1, 'tid': 0, 'args': {'name': 'Critical Path'}},
        x("action 'Compile a'", 0, 70, tid=0, cat='critical path component', args={'tid': 31}), x("action 'Link b'", 70, 30, tid=0, cat='critical path component', args={'tid': 32}),
        x("action 'Compile a'", 0, 70, tid=31, cat='action processing'), x("action 'Compile c'", 0, 20, tid=32, cat='action processing')]})
    run('filter', 'p.json', '--cat', 'critical path component', '-o', 'c.json')
    equal(durations('c.json'), {"action 'Compile a'": [70], "action 'Link b'": [30]})


def composer(rank, sync, start):
    m = {'ph': 'M', 'tid': 77, 'pid': rank, 'cat': '', 'ts': 0}
    return [{'name': 'process_name', **m, 'args': {'name': f'Rank {rank} training loop process'}}, {'name': 'global_rank', **m, 'args': {'value': rank}},
            {'name': 'clock_sync_timestamp_us', **m, 'args': {'value': sync}}, {'name': 'clock_sync_error_bound', **m, 'args': {'value': 90}},
            {'name': 'batch', 'cat': 'event', 'ph': 'B', 'ts': start, 'pid': rank, 'tid': 77, 'args': {}},
            {'name': 'batch', 'cat': 'event', 'ph': 'E', 'ts': start + 500, 'pid': rank, 'tid': 77, 'args': {}}]


@case('mosaicml/composer#473', 'rank', 'the rank is an event of metadata')
def _():
    put('ep0-ba0.json', composer(3, 1640995200000000, 1640995200001000))
    put('ep0-ba9.json', composer(5, 1640995200000400, 1640995200001400))
    equal(ranks('ep0-ba0.json', 'ep0-ba9.json'), [3, 5])


@case('mosaicml/composer#144', 'clock', 'a barrier that all ranks recorded aligns them')
def _():
    put('rank_0.json', composer(0, 1640995200000000, 1640995200001000))
    put('rank_1.json', composer(1, 1640995200000400, 1640995200001400))
    run('merge', 'rank_0.json', 'rank_1.json', '-o', 'm.json')
    a, b = [e['time_ms'] for e in dump('m.json') if e['name'] == 'batch']
    equal(b - a, 0)


def two_ranks(pid, **args):
    """Returns the events of two ranks with equal correlations, as merged by a script. pid(rank, pid) returns the new pid; each
    of `args` is a function of the rank that returns an arg of all events."""
    events = []
    for rank in (0, 1):
        launch = x('cudaLaunchKernel', 10, 5, cat='cuda_runtime', args={'correlation': 1})
        barrier = 40 + 20 * rank
        for e in (launch, {**kernel('gemm', 30, 10 + 20 * rank), 'tid': 7}, {**kernel('ncclDevKernel_AllReduce_Sum_f32_RING_LL', barrier, 100 - barrier), 'tid': 7}):
            e['pid'] = pid(rank, 9 if e is launch else rank)
            e['args'] = {**e.get('args', {}), **{k: v(rank) for k, v in args.items()}}
            if e is not launch:
                e['args'].update(correlation=1, device=rank, stream=7)
            events.append(e)
    return events


def has_two_ranks(source):
    equal(sorted((d['rank'], d['kernels'], d['linked']) for d in devices(source)), [(0, 2, 2), (1, 2, 2)])
    equal(answers(source, "SELECT rank, dur FROM event WHERE name = 'gemm' ORDER BY rank"), ['0,10000', '1,30000'])
    run('filter', source, '-e', 'rank == 1', '-o', 'only.json', '--force')
    equal(sorted(e['name'] for e in dump('only.json')), ['cudaLaunchKernel', 'gemm', 'ncclDevKernel_AllReduce_Sum_f32_RING_LL'])
    equal([(w['rank'], w['last']) for w in json.loads(run('report', '--json', source).stdout)['waits']], [(0, 0), (1, 1)])


@case('sgl-project/sglang#11413', 'rank', 'ranks that SGLang merged have pids such as "[TP01-DP00] 83"')
def _():
    put('merged.trace.json', {'traceEvents': two_ranks(lambda rank, pid: f'[TP{rank:02d}-DP00] {pid}'), 'distributedInfo': {'backend': 'nccl', 'rank': 0, 'world_size': 2}})
    has_two_ranks('merged.trace.json')


@case('AMD-AGI/TraceLens#167', 'rank', 'ranks that TraceFuse merged have args for rank and original pid')
def _():
    put('merged_trace.json', {'traceEvents': two_ranks(lambda rank, pid: 100 * rank + pid, rank=int, pid_raw=int)})
    has_two_ranks('merged_trace.json')
    put('other.json', {'traceEvents': two_ranks(lambda rank, pid: 100 * rank + pid, rank=int)})
    equal({d['rank'] for d in devices('other.json')}, {None})  # "rank" alone may be another number


@case('mosaicml/composer#473', 'rank', 'a trace of several ranks has an event of metadata for each process')
def _():
    put('merged.json', {'traceEvents': two_ranks(lambda rank, pid: 100 * rank + pid) + [
        {'name': 'global_rank', 'ph': 'M', 'pid': pid, 'tid': 7, 'ts': 0, 'args': {'value': pid // 100}} for pid in (0, 9, 101, 109)]})
    has_two_ranks('merged.json')


@case('sgl-project/sglang#11110', 'rank', 'one file for each stage of each rank')
def _():
    names = [f'1759255878.904894-TP-{r}-{stage}.trace.json.gz' for r in (0, 1) for stage in ('DECODE', 'EXTEND')]
    for i, name in enumerate(names):
        put(name, gzip.compress(json.dumps([x(f'w{i}', 10, 5)]).encode()))
    equal(ranks(*names[::2]), [0, 1])
    equal(sorted(ranks(*names)), [0, 0, 1, 1])


# ---- Perfetto ----

@case('google/perfetto#485', 'perfetto', 'tracks of one name keep spans that overlap apart')
def _():
    put('a.pftrace', track(1, pid=5) + track(10, 'encoder', 1) + track(11, 'encoder', 1) + slice_event(100, 1, 10, 'f0') + slice_event(150, 1, 11, 'f1')
        + slice_event(200, 2, 10) + slice_event(300, 2, 11))
    equal(durations('a.pftrace'), {'f0': [.1], 'f1': [.15]})


@case('google/perfetto#896', 'perfetto', 'nested args whose names and texts are interned, clock 64 without a snapshot')
def _():
    interned = b''.join(message(3, number(1, i) + message(2, n)) for i, n in ((7, b'cfg'), (8, b'mode'), (9, b'sub'))) \
        + message(2, number(1, 9) + message(2, b'run')) + message(29, number(1, 5) + message(2, b'fast'))
    arg = message(4, number(1, 7) + message(11, number(1, 8) + number(17, 5)) + message(11, number(1, 9) + message(11, number(1, 8) + number(4, 3))))
    put('a.pftrace', track(1, pid=5) + track(9, 't', 1) + packet(number(10, 1), number(13, 1), message(12, interned))
        + packet(number(8, 8000), number(10, 1), number(13, 2), number(58, 64), message(11, number(9, 1) + number(11, 9) + number(10, 9) + arg))
        + slice_event(9000, 2, 9, clock=64, flags=2))
    equal(durations('a.pftrace'), {'run': [1]})
    equal(dump('a.pftrace')[0]['args'], {'cfg': {'mode': 'fast', 'sub': {'mode': 3}}})


@case('google/perfetto#4692', 'perfetto', 'two traces in a tar, each with an incremental clock of its own')
def _():
    def trace(name, first):
        snapshot = packet(number(10, 1), number(13, 1), message(6, message(1, number(1, 6) + number(2, first)) + message(1, number(1, 64) + number(2, 0) + number(3, 1))))
        return snapshot + track(1, pid=5, tid=6) + slice_event(10, 1, 1, name, clock=64) + slice_event(40, 2, 1, clock=64)
    put('t/a.pftrace', trace('a', 1000000))
    put('t/b.pftrace', trace('b', 5000000))
    with tarfile.open('t.tar', 'w') as t:
        t.add('t/a.pftrace', 'a.pftrace')
        t.add('t/b.pftrace', 'b.pftrace')
    run('merge', 't.tar', '-o', 'm.json')
    equal(durations('m.json'), {'a': [.04], 'b': [.04]})


@case('google/perfetto#3273', 'perfetto', 'the order of threads that the JSON states')
def _():
    m = [{'ph': 'M', 'pid': 1, 'tid': t, 'name': 'thread_sort_index', 'args': {'sort_index': i}} for t, i in ((1, 30), (2, 10), (3, 20))]
    put('a.json', m + [x('q', 10 * t, 5, tid=t) for t in (1, 2, 3)])
    back = json.load(open(converted(converted('a.json', 'a.pftrace'), 'b.json')))['traceEvents']
    order = {e['tid']: e['args']['sort_index'] for e in back if e.get('name') == 'thread_sort_index'}
    equal(sorted(order, key=order.get), [2, 3, 1])


@case('ROCm/rocm-systems#5875', 'device', 'rows of HIP streams of rocprofiler-systems')
def _():
    put('a.pftrace', track(1, pid=5) + track(2, pid=5, tid=5, thread='main') + track(10, 'HIP Activity Stream 3', 1) + slice_event(1000, 1, 2, 'hipLaunchKernel')
        + slice_event(2000, 2, 2) + slice_event(3000, 1, 10, 'my_kernel(float*)') + slice_event(8000, 2, 10))
    equal([(d['kernels'], d['busy_ns']) for d in devices('a.pftrace')], [(1, 5000)])


@case('ROCm/rocm-systems#1668', 'device', 'rows of queues of rocprofv3')
def _():
    put('a.pftrace', track(1, pid=5) + track(10, 'COMPUTE AGENT [2] QUEUE [1] ', 1) + track(11, 'COPY BYTES to [0] THREAD [0] (AGENT 2)', 1)
        + slice_event(3000, 1, 10, 'my_kernel(float*)') + slice_event(8000, 2, 10))
    equal([(d['kernels'], d['busy_ns']) for d in devices('a.pftrace')], [(1, 5000)])


# ---- devices of other programs ----

@case('intel/torch-xpu-ops#3960', 'device', "kernels of Intel's unitrace")
def _():
    names = [{'ph': 'M', 'name': 'process_name', 'pid': p, 'ts': 1, 'args': {'name': n}} for p, n in ((4242, 'HOST<node1>'), (4243, 'DEVICE<node1>[0x56c0]'))]
    names += [{'ph': 'M', 'name': 'thread_name', 'pid': 4243, 'tid': 9, 'ts': 1, 'args': {'name': 'L0'}}]
    put('python.4242.json', {'traceEvents': names + [
        {'ph': 'X', 'tid': 1, 'pid': 4242, 'name': 'zeCommandListAppendLaunchKernel', 'cat': 'cpu_op', 'ts': 1700000000000000.0, 'dur': 4.0, 'args': {'id': '0'}},
        {'ph': 'X', 'tid': 9, 'pid': 4243, 'name': 'gemm_kernel[SIMD32 {8; 1; 1} {256; 1; 1}]', 'cat': 'gpu_op', 'ts': 1700000000000010.0, 'dur': 20.0, 'args': {'id': '1'}}]})
    equal([(d['kernels'], d['busy_ns']) for d in devices('python.4242.json')], [(1, 20000)])


@case('PaddlePaddle/Paddle#8663', 'device', 'kernels of Paddle, tied by "correlation id", and its steps')
def _():
    m = [{'name': 'process_name', 'pid': 0, 'tid': 7, 'ph': 'M', 'args': {'name': 'Deivce 0 (GPU)'}},
         {'name': 'process_name', 'pid': 91, 'tid': '91(C++)', 'ph': 'M', 'args': {'name': 'Process 91 (CPU)'}}]
    put('a.paddle_trace.json', {'schemaVersion': '1.0.1', 'displayTimeUnit': 'ms', 'span_indx': '0', 'traceEvents': [
        x('ProfileStep#3[0.080 ms]', 5, 80, cat='ProfileStep', pid=91, tid='91(Python)', args={'start_time': '5.000 us'}),
        x('cudaLaunchKernel[0.004 ms]', 10, 4, cat='CudaRuntime', pid=91, tid='91(C++)', args={'correlation id': 8}),
        x('gemm[0.020 ms]', 20, 20, cat='Kernel', pid=0, tid=7, args={'device': 0, 'context': 1, 'stream': 7, 'correlation id': 8}), *m, {}], 'ExtraInfo': {}})
    d = devices('a.paddle_trace.json')
    equal([(r['kernels'], r['busy_ns'], r['linked'], r['runtime_calls']) for r in d], [(1, 20000, 1, 1)])
    equal(d[0]['step']['count'], 1)


@case('vllm-project/speculators#1123', 'device', 'annotations in the row of a device are no kernels')
def _():
    gpu = {'cat': 'gpu_user_annotation', 'pid': 0, 'tid': 7}
    put('a.json', {'traceEvents': [x('ProfilerStep#1', 0, 100, cat='user_annotation'), x('ProfilerStep#1', 10, 60, **gpu), x('## Call CompiledFxGraph f1 ##', 10, 50, **gpu),
                                   kernel('gemm', 10, 20), kernel('gemm', 40, 30)]})
    equal(top('a.json', '--kind', 'kernel'), {'gemm': 50000})
    equal([(d['kernels'], d['busy_ns']) for d in devices('a.json')], [(2, 50000)])


@case('pytorch/kineto#915', 'question', "a module's time on the device")
def _():
    put('a.json', {'traceEvents': [
        x('nn.Module: Conv2d_0', 0, 30, cat='python_function', args={'Python id': 1}), x('nn.Module: Linear_0', 40, 30, cat='python_function', args={'Python id': 2}),
        x('cudaLaunchKernel', 10, 5, cat='cuda_runtime', args={'correlation': 1}), x('cudaLaunchKernel', 50, 5, cat='cuda_runtime', args={'correlation': 2}),
        kernel('conv', 60, 25, correlation=1), kernel('gemm', 90, 35, correlation=2)]})
    equal(top('a.json', '--launched-by', 'nn.Module: Conv2d_*', '--kind', 'kernel'), {'conv': 25000})


@case('pytorch/pytorch#60783', 'question', 'the time of a wrapper on the device is its own plus that of its parts, and counts once')
def _():
    put('a.json', {'traceEvents': [
        x('aten::softmax', 0, 50, cat='cpu_op'), x('aten::_softmax', 5, 40, cat='cpu_op'), x('cudaLaunchKernel', 10, 5, cat='cuda_runtime', args={'correlation': 1}),
        kernel('softmax_warp', 60, 25, correlation=1)]})
    equal([d['busy_ns'] for d in devices('a.json')], [25000])
    has(said('tree', 'a.json'), r'25\.000 us.*aten::softmax', r'25\.000 us.*aten::_softmax')


@case('pytorch/pytorch#124547', 'question', 'no device recorded: the report says so')
def _():
    put('a.json', {'traceEvents': [x('ProfilerStep#1', 0, 100, cat='user_annotation'), x('aten::sub', 5, 40, cat='cpu_op')]})
    has(said('report', 'a.json'), r"(?i)no (accelerator|device|GPU)")


# ---- command lines that people type ----

typing('pytorch/pytorch#124547', 'top T.json --sort_by self_cuda_time_total', '--sort')
typing('pytorch/pytorch#60783', 'top T.json --sort-by cuda_time_total --row-limit 10', '--sort')
typing('pytorch/pytorch#162580', 'top T.json --row-limit 10', '--top')
typing('intel/torch-xpu-ops#3960', 'top T.json --top 20 --sort-by gpu_time', '--sort')
typing('AMD-AGI/TraceLens#525', 'merge T.json U.json --rank_regex rank -o m.json', '--rank')
typing('namhyung/uftrace#183', 'dump --chrome T.json', r'(?i)convert|json')
typing('intel/opencl-intercept-layer#214', 'combine T.json U.json -o m.json', r'\bmerge\b')
typing('bazelbuild/bazel#8840', 'analyze-profile T.json', r'\breport\b')
typing('vercel/next.js#93393', 'view T.json --perfetto --port 8080 --dry-run', r'--with|--dry-run')
typing('google/perfetto#656', 'trim T.json --start 1us --end 2us -o o.json', r'\bfilter\b')
typing('google/perfetto#808', 'filter T.json --start 1us --end 2us -o o.json', r'--time')
typing('google/perfetto#931', 'query T.json "select 1"', r'\bsql\b')
typing('csmoe/tracing-perfetto#2', 'traceconv json T.json', r'\bconvert\b')
typing('viztracer, --combine', '--combine T.json U.json -o m.json', r'\bmerge\b')
typing('jax-ml/jax#13009', 'convert T.json --format perfetto -o o.pftrace', r'-f')
typing('facebookresearch/HolisticTraceAnalysis#30', 'report T.json --csv', r'--json|top')

# ---- a second round, collected after the first was fixed ----

@case('google/perfetto#254', 'async', 'spans of one id that overlap, the earlier begin behind the later end')
def _():
    put('a.json', {'traceEvents': [{'cat': 'profile', 'id': '1', 'pid': 1, 'tid': 1, 'ph': ph, 'name': n, 'ts': ts} for ph, n, ts in (
        ('b', 'testparent', 0), ('b', 'test0', 0), ('e', 'test0', 3), ('b', 'test1', 1), ('e', 'test1', 4), ('e', 'testparent', 5))]})
    for source in ('a.json', converted('a.json', 'a.pftrace')):
        equal(durations(source), {'testparent': [5], 'test0': [3], 'test1': [3]})


@case('google/perfetto#2092', 'async', 'ids that are local to a process')
def _():
    put('a.json', {'traceEvents': [{'name': 'write', 'cat': 'dma', 'ph': ph, 'id2': {'local': '0x1'}, 'pid': pid, 'tid': 1, 'ts': ts}
                                   for ph, pid, ts in (('b', 1, 0), ('b', 2, 5), ('e', 1, 10), ('e', 2, 40))]})
    for source in ('a.json', converted('a.json', 'a.pftrace')):
        equal(durations(source), {'write': [10, 35]})


@case('nodejs/node#32281', 'async', 'measures of Node that begin at one mark')
def _():
    base = {'pid': 9, 'tid': 9, 'cat': 'node.perf,node.perf.usertiming', 'dur': 0, 'tdur': 0, 'tts': 1, 'args': {}}
    put('node_trace.1.log', {'traceEvents': [{**base, 'ph': 'M', 'cat': '__metadata', 'name': 'process_name', 'ts': 1, 'args': {'name': 'node'}}] + [
        {**base, 'ph': ph, 'name': n, 'ts': ts, 'id': '0x5f'} for ph, n, ts in (
            ('b', 'A to B', 10), ('e', 'A to B', 20), ('b', 'A to C', 10), ('e', 'A to C', 30))]})
    equal(durations('node_trace.1.log'), {'A to B': [10], 'A to C': [20]})


@case('samccone/chrome-trace-event#11', 'async', 'webpack: async spans whose id is a number')
def _():
    put('events.json', [{'name': 'resolve', 'cat': 'webpack', 'ph': ph, 'id': i, 'pid': 1, 'tid': 1, 'ts': ts}
                        for ph, i, ts in (('b', 1, 0), ('b', 2, 1), ('e', 2, 6), ('e', 1, 10))])
    equal(durations('events.json'), {'resolve': [5, 10]})


@case('aras-p/ClangBuildAnalyzer#100', 'question', 'clang 19: sources are async spans of one id; sums by file')
def _():
    files = (('features.h', 1352, 1950), ('libc-header-start.h', 1307, 1967), ('string.h', 1269, 4405))
    events = [{'pid': 1, 'tid': 1, 'cat': 'Source', 'id': 0, 'name': 'Source', 'ph': ph, 'ts': ts, **({'args': {'detail': n}} if ph == 'b' else {})}
              for n, a, b in files for ph, ts in (('b', a), ('e', b))]
    put('1.json', {'traceEvents': events + [x('Frontend', 927, 3503), {'ph': 'M', 'pid': 1, 'tid': 1, 'name': 'process_name', 'args': {'name': 'clang'}}],
                   'beginningOfTime': 1729843200000000})
    equal(top('1.json', '--by', 'arg.detail', '--cat', 'Source'), {'features.h': 598000, 'libc-header-start.h': 660000, 'string.h': 3136000})


@case('llvm/llvm-project, TimeProfiler.cpp', 'question', 'clang: totals at the end are no time, but are kept')
def _():
    for name in ('Total {}', 'Total: {}'):
        totals = [{**x(name.format(what), 0, dur, tid=tid), 'args': {'count': n, 'avg ms': dur // n // 1000}}
                  for what, dur, tid, n in (('ExecuteCompiler', 9000, 7, 1), ('Frontend', 6000, 8, 1), ('ParseClass', 4200, 9, 3))]
        put('1.json', {'traceEvents': [x('ExecuteCompiler', 100, 9000, tid=6), x('Frontend', 200, 6000, tid=6), *totals,
                                       x('Total time of a loop', 9200, 10, tid=5)], 'beginningOfTime': 1729843200000000})
        real = {'ExecuteCompiler': 9000000, 'Frontend': 6000000, 'Total time of a loop': 10000}
        equal(top('1.json'), real)
        equal({o['name']: o['total_ns'] for o in json.loads(run('report', '-q', '--json', '1.json').stdout)['operators']}, real)
        equal(len(durations(converted('1.json', '1.pftrace'))), 6)


@case('llvm/llvm-project#113699', 'stack', 'a declaration that ends 1 us after its file')
def _():
    put('1.json', {'traceEvents': [x('Source', 1269, 3136), x('Parse', 1982, 2424), x('Frontend', 927, 3503)]})
    equal(durations(converted('1.json', '1.pftrace')), {'Source': [3136], 'Parse': [2424], 'Frontend': [3503]})


@case('pytorch/kineto#136', 'device', 'a kernel of no length within another')
def _():
    put('a.json', {'traceEvents': [kernel('a', 10, 20), kernel('thin', 15, 0), kernel('b', 40, 10)]})
    equal([(d['kernels'], d['busy_ns']) for d in devices('a.json')], [(3, 30000)])


@case('AMD-AGI/TraceLens#669', 'device', 'a kernel that runs over all that follow on its stream: busy once, and said')
def _():
    put('a.json', {'traceEvents': [kernel('fmha', 0, 1600000)] + [kernel('gemm', 100 * i, 50) for i in range(1, 50)]})
    equal([d['busy_ns'] for d in devices('a.json')], [1600000000])
    has(said('report', 'a.json'), r"49 kernels ran within another kernel of the same stream, the longest of which is 'fmha' of 1.600 s")


@case('pytorch/kineto#109', 'clock', 'Kineto 0.1: kernels at 0, categories with capitals, "external id"')
def _():
    args = {'queued': 0, 'device': 0, 'context': 1, 'stream': 7}
    put('a.json', {'schemaVersion': 1, 'traceEvents': [
        {'ph': 'X', 'cat': 'Kernel', 'name': 'lost', 'pid': 0, 'tid': 'stream 7', 'ts': 0, 'dur': 0, 'args': {**args, 'correlation': 106123, 'external id': 5}},
        {'ph': 'X', 'cat': 'Kernel', 'name': 'sgemm', 'pid': 0, 'tid': 'stream 7', 'ts': 1615207264505020, 'dur': 10, 'args': {**args, 'correlation': 106124, 'external id': 6}},
        {'ph': 'X', 'cat': 'Runtime', 'name': 'cudaLaunchKernel', 'pid': 29463, 'tid': '3239786240', 'ts': 1615207264505000, 'dur': 6, 'args': {'cbid': 211, 'correlation': 106124}}]})
    d, = devices('a.json')
    equal((d['busy_ns'], d['window_ns'], d['linked'], d['runtime_calls']), (10000, 10000, 1, 1))


@case('facebookresearch/HolisticTraceAnalysis#241', 'question', 'communication beside compute')
def _():
    put('a.json', {'traceEvents': [kernel('gemm', 0, 100), {**kernel('ncclKernel_AllReduce_RING_LL_Sum_half', 80, 100), 'tid': 9, 'args': {'device': 0, 'stream': 9}}]})
    d, = devices('a.json')
    equal((d['compute_ns'], d['communication_ns'], d['busy_ns'], d['exposed_communication_ns']), (100000, 100000, 180000, 80000))


@case('sgl-project/sglang#25446', 'rank', 'tensor and data ranks are a grid')
def _():
    equal(ranks(*named_ranks(*(f'1759255878.9-TP-{t}-DP-{d}.trace.json' for d in (0, 1) for t in (0, 1)))), [0, 1, 2, 3])


@case('NervanaSystems/ngraph#4058', 'rank', 'names that have the pid only')
def _():
    equal(ranks(*named_ranks('runtime_event_trace_91002.json', 'runtime_event_trace_91107.json')), [0, 1])


@case('janestreet/perfetto#35', 'perfetto', 'kernels that overlap on one stream are all kept')
def _():
    put('a.json', {'traceEvents': [kernel('a', 0, 20), kernel('b', 10, 20), kernel('c', 15, 30)]})
    equal(durations(converted('a.json', 'a.pftrace')), {'a': [20], 'b': [20], 'c': [30]})


@case('NVIDIA/TensorRT-LLM#13536', 'json', 'two ranks wrote to one file, the shorter over the longer')
def _():
    put('trace.json', json.dumps({'traceEvents': [x('a', 0, 5), x('b', 10, 5)]}) + '"ts": 3, "dur": 4}, ' + json.dumps(x('of the other', 30, 5)) + ']}')
    equal({n: v for n, v in durations('trace.json').items() if n != 'of the other'}, {'a': [5], 'b': [5]})
    equal(run('check', 'trace.json').returncode, 1)


@case('Ascend/pytorch#27', 'json', 'an array that was closed and went on')
def _():
    put('trace_view.json', '[' + json.dumps(x('a', 0, 5)) + ', ' + json.dumps(x('b', 10, 5)) + '],' + json.dumps(x('c', 20, 5)) + ', ' + json.dumps(x('d', 30, 5)) + ']')
    equal(durations('trace_view.json'), {'a': [5], 'b': [5], 'c': [5], 'd': [5]})


@case('tensorflow/tensorflow#23360', 'device', 'the timeline of TensorFlow 1: streams of a device, and their sum')
def _():
    m = [{'ph': 'M', 'name': 'process_name', 'pid': p, 'args': {'name': n}} for p, n in (
        (1, '/job:localhost/replica:0/task:0/device:CPU:0 Compute'), (3, '/device:GPU:0/stream:all Compute'), (5, '/device:GPU:0/stream:13 Compute'),
        (7, '/device:GPU:0/memcpy Compute'))]
    op = [x('MatMul', 10, 20, cat='Op', pid=p, tid=0, args={'name': 'MatMul', 'op': 'MatMul'}) for p in (3, 5)]
    put('timeline.json', {'traceEvents': m + op + [x('MEMCPYHtoD', 40, 5, cat='Op', pid=7, tid=0, args={'name': 'edge_1', 'op': 'MEMCPYHtoD'})]})
    equal([(d['kernels'], d['busy_ns']) for d in devices('timeline.json')], [(1, 25000)])


@case('NVIDIA/TensorRT#2231', 'stranger', "the profile of trtexec, layer by layer")
def _():
    put('profile.json', [{'count': 100}, {'name': 'conv1', 'timeMs': 5.2, 'averageMs': 0.052, 'medianMs': 0.05, 'percentage': 31.2}])
    has(said('info', 'profile.json'), r'(?i)trtexec|TensorRT')


@case('NVIDIA/TensorRT#2995', 'stranger', 'the times of trtexec')
def _():
    put('times.json', [{'startInMs': 1.0, 'endInMs': 1.2, 'startComputeMs': 1.2, 'endComputeMs': 2.9, 'startOutMs': 2.9, 'endOutMs': 3.0, 'inMs': .2, 'computeMs': 1.7}])
    has(said('info', 'times.json'), r'(?i)trtexec|TensorRT')


@case('google/perfetto#659', 'json', 'a comma before the first event, and an end without a name')
def _():
    put('a.json', '{"traceEvents": [\n,{"ph":"B", "name": "12345", "pid":1, "tid":123, "ts": 703}\n,{"ph":"E", "ts": 750, "pid":1, "tid":123 }\n]}')
    equal(durations('a.json'), {'12345': [47]})


@case('bytedance/byteps#167', 'track', 'texts as process and thread: one process for each key')
def _():
    put('server_profile.json', '{\n    "traceEvents": [\n' + ',\n'.join(json.dumps({'name': f'push-{k}', 'ph': ph, 'pid': f'push-{k}', 'tid': f'push-{k}', 'ts': ts})
        for k, ph, ts in (('12', 'B', 0), ('13', 'B', 3), ('12', 'E', 9), ('13', 'E', 20))) + ',\n')
    equal(durations(converted('server_profile.json', 'a.pftrace')), {'push-12': [9], 'push-13': [17]})


@case('openxla/xprof#564', 'question', 'idle of a device that has no gaps is none')
def _():
    put('a.json', {'traceEvents': [kernel('a', 10 * i, 10) for i in range(10)]})
    d, = devices('a.json')
    equal((d['window_ns'], d['busy_ns']), (100000, 100000))


@case('sgl-project/sglang#10109', 'question', 'kernels by part of their name')
def _():
    put('a.json', {'traceEvents': [kernel('void cutlass::device_kernel<flash::Attn>', 0, 40), kernel('gemm', 50, 7), kernel('void cutlass::Kernel2<x>', 60, 3)]})
    equal(top('a.json', '-e', "name ~ '*cutlass*'"), {'void cutlass::device_kernel<flash::Attn>': 40000, 'void cutlass::Kernel2<x>': 3000})


@case('react/react#28767', 'json', 'an object with text where arrays are meant')
def _():
    put('a.json', {'traceEvents': [x('Asub', 829, 4)], 'displayTimeUnit': 'ns', 'systemTraceEvents': 'SystemTraceData', 'otherData': {'version': '1'},
                   'stackFrames': {'5': {'name': 'main', 'category': 'libc.so'}}, 'samples': [{'cpu': 0, 'tid': 1, 'ts': 1000.0, 'name': 'cycles:HG', 'sf': 5, 'weight': 1}]})
    equal(durations('a.json'), {'Asub': [4]})
    back = json.load(open(converted('a.json', 'b.json')))
    equal((back['systemTraceEvents'], back['samples'][0]['sf']), ('SystemTraceData', 5))


typing('AMD-AGI/TraceLens#525', 'merge --trace_glob *.json -o m.json', r'(?i)operand|inputs|no option')
typing('AMD-AGI/TraceLens#669', 'report --profile_json_path T.json', r'(?i)operand|inputs|no option')
typing('gaogaotiantian/viztracer#308', 'view --server_only T.json', '--no-browser')
typing('gaogaotiantian/viztracer#610', 'filter T.json --min_duration 1us -o o.json', '--min-dur')
typing('gaogaotiantian/viztracer#208', 'merge T.json U.json --output_file m.json', '-o|--output')
typing('huggingface/blog#3389', 'top T.json --topk 5', '--top')
typing('namhyung/uftrace#1394', 'info T.json --clock', r'-v|--verbose')
typing('tensorflow/tensorboard#3209', 'extract --logdir . -o o.json', r'(?i)operand|inputs|no option|INPUT')
typing('openxla/xprof#720', 'shrink T.json --max-events 5 -o o.json', '--events')
typing('google/perfetto#951', 'split T.json --duration 1us -o o-{}.json', '--every')
typing('pytorch/torchtitan#1035', 'merge T.json U.json --ranks 0,1 -o m.json', '--rank')
typing('google/perfetto#3537', 'convert T.json -t pftrace -o o.pftrace', '-f')
typing('intel/pti-gpu#10', 'top T.json --per-kernel', '--kind')
typing('AMD-AGI/TraceLens#241', 'compare T.json U.json', r'\bdiff\b')
typing('vllm-project/speculators#1123', 'diff T.json U.json --top-k 5', '--top')

# ---- a third round ----

@case('google/perfetto#558', 'clock', 'times in scientific notation beside decimal ones')
def _():
    put('a.json', '[' + ','.join('{"cat":"perf","dur":%s,"name":"%s","ph":"X","pid":3,"tid":1,"ts":%s}' % v for v in (
        ('4.75', 'p1', '1.6921085481321545e+15'), ('2.0', 'c1', '1.6921085481321572e+15'), ('4.5', 'p2', '1692108548132160.5'), ('2.5', 'c2', '1692108548132162.5'))) + ']')
    equal([e['time_ms'] * 1000 for e in dump('a.json')], [0, Decimal('2.7'), 6, 8])
    equal(depths('a.json'), [('p1', 0), ('c1', 1), ('p2', 0), ('c2', 1)])


@case('google/perfetto#426', 'perfetto', 'a clock of milliseconds that counts from 0')
def _():
    snapshot = message(6, message(1, number(1, 6) + number(2, 1672924880617000000)) + message(1, number(1, 128) + number(2, 0) + number(4, 1000000)))
    put('a.pftrace', packet(number(10, 1), number(13, 1), snapshot) + track(1, pid=5) + track(7, 'build', 1) + slice_event(0, 1, 7, 'Run build', clock=128)
        + slice_event(690, 1, 7, 'Load build', clock=128) + slice_event(33476, 2, 7, clock=128) + slice_event(104321, 2, 7, clock=128))
    equal(durations('a.pftrace'), {'Run build': [104321000], 'Load build': [32786000]})
    equal(dump('a.pftrace')[1]['time_ms'] - dump('a.pftrace')[0]['time_ms'], 690)


@case('namhyung/uftrace#1325', 'stack', 'events that have no thread, and ends of functions that began before the record')
def _():
    put('a.json', {'traceEvents': [{'ts': ts, 'ph': ph, 'pid': 47467, 'name': n} for ts, ph, n in (
        (1.0, 'E', 'duration_cast'), (2.0, 'B', 'operator<<'), (3.0, 'B', 'linux:schedule'), (8.5, 'E', 'linux:schedule'), (9.0, 'E', 'operator<<'), (9.5, 'E', 'main'))],
        'displayTimeUnit': 'ns', 'metadata': {'version': 'uftrace v0.9.3'}})
    equal(durations('a.json'), {'operator<<': [7], 'linux:schedule': [5.5]})


@case('tensorflow/tensorboard#1290', 'container', 'the folder above several models')
def _():
    for model, when in (('a', '2024_01_01_00_00_01'), ('b', '2024_01_02_00_00_01')):
        put('t.json', [x(model, 0, 5)])
        os.makedirs(f'logs/{model}/plugins/profile/{when}')
        converted('t.json', f'logs/{model}/plugins/profile/{when}/host1.xplane.pb')
    p = run('extract', 'logs', '-o', 'o.json')
    equal((p.returncode, durations('o.json')), (0, {'b': [5]}))
    has(p.stderr, r'2024_01_02')


@case('openxla/xprof#298', 'rank', 'a host whose name has a dot')
def _():
    put('t.json', [x('a', 0, 5)])
    os.makedirs('logs/train/plugins/profile/2021_07_25_10_36_13')
    converted('t.json', 'logs/train/plugins/profile/2021_07_25_10_36_13/BlueDiamond.local.xplane.pb')
    put('logs/train/plugins/profile/2021_07_25_10_36_13/BlueDiamond.local.kernel_stats.pb', b'')
    hosts = [f['host'] for f in json.loads(run('list', 'logs', '--json').stdout)['files']]
    equal(hosts, ['BlueDiamond.local'])


@case('google/perfetto#10', 'stranger', 'the page of systrace holds the text of ftrace')
def _():
    put('trace.html', '<!DOCTYPE html>\n<html><head></head><body>\n<script class="trace-data" type="application/text">\n# tracer: nop\n#\n'
        '  surfaceflinger-500   (  500) [001] ...1 10.000100: tracing_mark_write: B|500|onMessage\n</script>\n</body></html>\n')
    has(said('info', 'trace.html'), r'(?i)ftrace|systrace')


@case('vllm-project/vllm#22496', 'step', 'the first names of the steps of vLLM')
def _():
    put('a.json', {'traceEvents': [x(f'execute_new_{i}_cached_{3 - i}', 100 * i, 80, cat='user_annotation') for i in range(3)] + [kernel('gemm', 20, 20)]})
    equal(devices('a.json')[0]['step']['count'], 3)


@case('SemiAnalysisAI/InferenceX#1007', 'rank', 'two processes of one host, told apart by pid only')
def _():
    names = [f'ptgpu-a4000_389500{i}.17435878132870130{i}7.pt.trace.json' for i in (4, 5)]
    equal(ranks(*named_ranks(*names)), [0, 1])
    equal({r['host'] for r in json.loads(run('merge', *names, '-n', '--json').stdout)['ranks']}, {'ptgpu-a4000'})


@case('mosaicml/composer#143', 'rank', 'a file of metadata beside each trace')
def _():
    for r in (0, 1):
        put(f'run/rank_{r}.trace.json', [x(f'w{r}', 10, 5)])
        put(f'run/rank_{r}.metadata.trace.json', {'clock_sync_timestamp_us': 1640995200000000, 'displayTimeUnit': 'ns', 'global_rank': r, 'traceEvents': []})
    run('merge', 'run', '-o', 'm.json')
    equal(durations('m.json'), {'w0': [5], 'w1': [5]})
    equal(len({e['process'] for e in dump('m.json')}), 2)


@case('google/trace-viewer#613', 'container', 'a zip whose member has a blank and brackets in its name')
def _():
    with zipfile.ZipFile('trace (1).json.zip', 'w', zipfile.ZIP_DEFLATED) as z:
        z.writestr('trace (1).json', json.dumps({'traceEvents': [x('a', 0, 5)]}))
    equal(durations('trace (1).json.zip'), {'a': [5]})


@case('google/perfetto#9', 'stranger', 'a profile of pprof')
def _():
    value_type = message(1, number(1, 1) + number(2, 2))
    put('cpu.pprof', gzip.compress(value_type + b''.join(message(6, t) for t in (b'', b'cpu', b'nanoseconds', b'main.work')) + number(9, 1700000000000000000)))
    has(said('info', 'cpu.pprof'), r'(?i)pprof')


@case('gaogaotiantian/viztracer#106', 'clock', 'times with a fraction and a window of 290.1 us')
def _():
    put('a.json', {'traceEvents': [{'pid': 3346, 'tid': 3346, 'ts': 3.1, 'dur': 290.1, 'name': 'builtins.exec', 'ph': 'X', 'cat': 'FEE'}], 'viztracer_metadata': {'version': '0.12.3', 'overflow': False}})
    equal(durations('a.json'), {'builtins.exec': [290.1]})
    assert 'realtime' not in run('info', 'a.json').stdout


@case('pytorch/pytorch#162580', 'question', 'time by operator and shape')
def _():
    shapes = ('[[8, 16], [16, 4]]', [[8, 16], [16, 4]]), ('[[1, 16], [16, 4]]', [[1, 16], [16, 4]])
    put('a.json', {'traceEvents': [x('aten::mm', 20 * i, 10 + i, cat='cpu_op', args={'Input Dims': s}) for i, (_, s) in enumerate(shapes)]})
    found = top('a.json', '--by', 'name', '--by', 'arg.Input Dims')
    equal(sorted(found.values()), [10000, 11000])


@case('facebookresearch/HolisticTraceAnalysis#180', 'question', 'the kernels of the forward pass')
def _():
    put('a.json', {'traceEvents': [
        x('## forward ##', 0, 50, cat='user_annotation'), x('## backward ##', 60, 50, cat='user_annotation'),
        x('cudaLaunchKernel', 10, 5, cat='cuda_runtime', args={'correlation': 1}), x('cudaLaunchKernel', 70, 5, cat='cuda_runtime', args={'correlation': 2}),
        kernel('fwd', 60, 25, correlation=1), kernel('bwd', 90, 35, correlation=2)]})
    equal(top('a.json', '--launched-by', '*forward*', '--kind', 'kernel'), {'fwd': 25000})


typing('openxla/xprof#372', 'extract gs://my-bucket/logs -o o.json', r'(?i)gsutil|gcloud|copy|address')
typing('pytorch/pytorch#124547', 'top T.json --sort self_cuda_time_total', r'total|self')
typing('pytorch/kineto#915', 'top T.json --by module', r'--launched-by|arg\.|tree')
typing('pytorch/pytorch#162580', 'top T.json --group_by_input_shape', r'--by')
typing('jax-ml/jax#40258', 'convert T.json --output-file o.pftrace', r'-o|--output')
typing('tensorflow/tensorboard#6940', 'view T.json --logdir x', r'inputs need no option')
typing('google/perfetto#3273', 'info T.json --stats', r'-v|report|top|size')
typing('perfetto.dev, trace_processor_shell -q', 'sql -q q.sql T.json', r'-e|--script')
typing('perfetto.dev, trace_processor_shell --httpd', 'view T.json --httpd', r'--port|--no-browser|default')
typing('facebookresearch/HolisticTraceAnalysis#324', 'report --trace-dir . --num-kernels 5', r'inputs need no option')
typing('horovod/horovod#1022', 'filter T.json --ops 5 -o o.json', r'--name|--kind')


# ---- a fourth round ----

@case('google/perfetto#365', 'track', 'barriers of PyTorch, with numbers of iterations')
def _():
    put('a.json', {'schemaVersion': 1, 'traceEvents': [
        x('c10d::barrier', 1666382280874284, 1567655, cat='cpu_op', args={'Trace name': 'PyTorch Profiler', 'Trace iteration': 0, 'External id': 1}),
        x('record_param_comms', 1666382280874291, 1567647, cat='cpu_op', args={'Trace name': 'PyTorch Profiler', 'Trace iteration': 0, 'External id': 2})]})
    for source in ('a.json', converted('a.json', 'a.pftrace')):
        equal(depths(source), [('c10d::barrier', 0), ('record_param_comms', 1)])
    equal(set(top('a.json', '--by', 'phase')), {'communication'})


@case('google/perfetto#2277', 'async', 'messages on a bus: nested spans of one id that begin at one time')
def _():
    spans = (('RoutineControl Request', 'b', 0), ('31 ', 'b', 0), ('31 ', 'e', 1), ('RoutineControl', 'b', 0), ('02 03', 'b', 1), ('02 03', 'e', 3),
             ('RoutineControl', 'e', 3), ('RoutineControl Request', 'e', 4))
    put('a.json', {'traceEvents': [{'cat': 'Req', 'pid': 0, 'tid': 0, 'ts': ts, 'ph': ph, 'name': n, 'id': '0x31', 'args': {'detail': n}} for n, ph, ts in spans]})
    for source in ('a.json', converted('a.json', 'a.pftrace')):
        equal(durations(source), {'RoutineControl Request': [4], '31 ': [1], 'RoutineControl': [3], '02 03': [2]})


@case('google/perfetto#393', 'clock', 'an overhead at time 0 in a trace of 2022')
def _():
    put('a.json', {'schemaVersion': 1, 'deviceProperties': [{'id': 0, 'name': 'NVIDIA GeForce RTX 3090'}], 'traceEvents': [
        x('autograd::engine::evaluate_function: NllLossBackward0', 1669329643132548, 123, cat='cpu_op'), x('Iteration Start: PyTorch Profiler', 0, 0, cat='Trace'),
        x('aten::mm', 1669329643132700, 100, cat='cpu_op')]})
    has(said('info', 'a.json'), r'time +252(\.0+)? us long')


@case('google/perfetto#60', 'async', "measures of Chrome's performance.measure()")
def _():
    m = {'cat': 'blink.user_timing', 'pid': 7, 'tid': 1, 'id': '0x1f2', 'args': {}}
    put('a.json', {'traceEvents': [{**m, 'name': 'render', 'ph': 'b', 'ts': 100}, {**m, 'name': 'render', 'ph': 'e', 'ts': 350}, x('Task', 0, 500, pid=7)]})
    for source in ('a.json', converted('a.json', 'a.pftrace')):
        equal(durations(source), {'render': [250], 'Task': [500]})


@case('google/perfetto#676', 'loss', 'the text of ftrace beside the events: kept in JSON, and its loss is said elsewhere')
def _():
    text = '# tracer: nop\n# entries-in-buffer/entries-written: 1/1 #P:8\n <...>-7 (    7) [000] d..3 5.000000: sched_waking: comm=a pid=9 prio=120 target_cpu=000\n'
    put('a.json', {'traceEvents': [x('a', 0, 5)], 'systemTraceEvents': text})
    equal(json.load(open(converted('a.json', 'b.json')))['systemTraceEvents'], text)
    p = run('convert', 'a.json', '-o', 'a.pftrace')
    back = json.load(open(converted('a.pftrace', 'c.json')))
    assert back.get('systemTraceEvents') == text or 'systemTraceEvents' in p.stderr, p.stderr


@case('catapult-project/catapult#3006', 'json', 'an object of events within the object')
def _():
    put('a.json', {'traceEvents': {'traceEvents': [x('a', 0, 5)], 'metadata': {'os-name': 'Linux'}}})
    equal(durations('a.json'), {'a': [5]})


@case('mhansen/ansible-trace#8', 'json', 'Ansible: an array that ends in a comma')
def _():
    events = [{'args': {'name': 'localhost'}, 'cat': 'process', 'name': 'process_name', 'ph': 'M', 'pid': 1},
              {'args': {'task': 'Gathering Facts', 'host': 'localhost', 'path': 'a.yml:2'}, 'cat': 'running', 'id': 1.0, 'name': 'Gathering Facts', 'ph': 'B', 'pid': 1, 'tid': 1, 'ts': 10.5},
              {'args': {'status': 'ok'}, 'cat': 'running', 'id': 1.0, 'name': 'Gathering Facts', 'ph': 'E', 'pid': 1, 'tid': 1, 'ts': 900010.25}]
    put('trace.json', '[\n' + ''.join(json.dumps(e, indent=2) + ',\n' for e in events))
    equal(durations('trace.json'), {'Gathering Facts': [899999.75]})
    equal(dump('trace.json')[0]['process'].split()[0], 'localhost')


@case('google/perfetto#120', 'track', 'instants of a process and of all, from viztracer')
def _():
    put('a.json', {'traceEvents': [{'ph': 'i', 's': s, 'name': f'at {s}', 'cat': 'INSTANT', 'pid': 4, 'tid': 4, 'ts': 10 + i, 'args': {'v': i}} for i, s in enumerate('gpt')],
                   'viztracer_metadata': {'version': '0.12.0', 'overflow': False}})
    for source in ('a.json', converted('a.json', 'a.pftrace')):
        equal([(e['name'], e['kind'], e['args']['v']) for e in dump(source)], [(f'at {s}', 'instant', i) for i, s in enumerate('gpt')])


@case('google/perfetto#926', 'json', 'Sorbet: no closing bracket')
def _():
    put('a.json', '[\n{"name":"typecheck","ph":"X","ts":4619295550.000,"dur":8000.000,"pid":306339,"tid":3},\n')
    equal(durations('a.json'), {'typecheck': [8000]})


@case('google/perfetto#1159', 'perfetto', 'an end closes the slice that began last, so overlapping ones are exchanged')
def _():
    put('a.pftrace', track(1, pid=5) + track(10, 'encoder', 1) + slice_event(1000, 1, 10, 'encode 1') + slice_event(3000, 1, 10, 'encode 2') + slice_event(5000, 2, 10)
        + slice_event(9000, 2, 10))
    equal(durations('a.pftrace'), {'encode 1': [8], 'encode 2': [2]})


@case('google/perfetto#928', 'stack', 'an operator that ends after its caller: all are kept in Perfetto')
def _():
    put('a.json', {'traceEvents': [x('train.py(7): step', 0, 100, cat='python_function'), x('aten::copy_', 90, 30, cat='cpu_op'), x('aten::to', 80, 45, cat='cpu_op')]})
    out = converted('a.json', 'a.pftrace')
    equal(durations(out), {'train.py(7): step': [100], 'aten::copy_': [30], 'aten::to': [45]})


@case('pytorch/pytorch#174555', 'stack', 'record_function and ProfilerStep across frames of Python')
def _():
    put('a.json', {'traceEvents': [
        x('ProfilerStep#10', 1000.5, 500.25, cat='user_annotation'), x('train.py(30): main', 900, 601, cat='python_function'), x('body', 1002, 400, cat='user_annotation'),
        x('record_function.py(1): __exit__', 1400.5, 3, cat='python_function'), x('ProfilerStep#11', 1500.75, 400, cat='user_annotation')]})
    out = converted('a.json', 'a.pftrace')
    equal({n: v for n, v in durations(out).items() if not n.endswith('__exit__')},
          {'ProfilerStep#10': [500.25], 'train.py(30): main': [601], 'body': [400], 'ProfilerStep#11': [400]})
    equal(top('a.json', '--kind', 'step'), {'ProfilerStep#10': 500250, 'ProfilerStep#11': 400000})


@case('pytorch/pytorch#188481', 'clock', 'half of the events have lost time and duration')
def _():
    events = [x(f'op{i}', 1782700000000000.5 + 10 * i, 5, cat='cpu_op') for i in range(20)] + [x(f'op{i}', 0.0, 0.0, cat='cpu_op') for i in range(20)]
    put('eager.json', {'schemaVersion': 1, 'traceEvents': events})
    has(said('info', 'eager.json'), r'time +195(\.0+)? us long')
    has(said('info', '-v', 'eager.json') + said('check', 'eager.json'), r'(?i)\b20 (events|spans)[^\n]*(clock|time|100 days)|100 days[^\n]*20|lost')


@case('Lightning-AI/pytorch-lightning#16634', 'step', "an optimizer's step that ends after its profiler step")
def _():
    put('a.json', {'traceEvents': [
        x('ProfilerStep#3', 0, 100, cat='user_annotation'), x('Optimizer.step#Adam.step', 60, 50, cat='user_annotation'), x('ProfilerStep#4', 105, 95, cat='user_annotation'),
        x('cudaLaunchKernel', 70, 5, cat='cuda_runtime', args={'correlation': 1}), kernel('adam', 80, 20, correlation=1)]})
    equal(top('a.json', '--by', 'phase', '--kind', 'kernel'), {'optimizer': 20000})
    equal(top('a.json', '--by', 'step', '--kind', 'kernel'), {'3': 20000})
    equal(durations(converted('a.json', 'a.pftrace'))['Optimizer.step#Adam.step'], [50])


@case('pytorch/pytorch#193440', 'stack', 'calls of C whose end is that of the recording')
def _():
    def frame(name, ts, dur, own, parent):
        return x(name, ts, dur, cat='python_function', args={'Python id': own, 'Python parent id': parent})
    put('a.json', {'traceEvents': [frame('train.py(1): main', 0, 1000, 1, None)]
        + [e for i in range(3) for e in (frame('ops.py(9): call', 100 + 200 * i, 50, 10 + i, 1), frame('<built-in method custom>', 110 + 200 * i, 890 - 200 * i, 20 + i, 10 + i))]})
    equal(durations('a.json')['<built-in method custom>'], [40, 40, 40])


@case('google/perfetto#6251', 'json', 'JAX: an empty object is the last event')
def _():
    put('perfetto_trace.json.gz', gzip.compress(json.dumps({'displayTimeUnit': 'ns', 'traceEvents': [x('a', 2987806.069, 15537.78), {}]}).encode()))
    equal(durations('perfetto_trace.json.gz'), {'a': [15537.78]})
    equal(run('check', 'perfetto_trace.json.gz').returncode, 0)


@case('marin-community/marin#6468', 'question', 'named scopes of JAX on a GPU, from args')
def _():
    gpu = [{'ph': 'M', 'name': 'process_name', 'pid': 1, 'args': {'name': '/device:GPU:0'}}, {'ph': 'M', 'name': 'thread_name', 'pid': 1, 'tid': 118, 'args': {'name': 'Stream #118(Compute)'}}]
    put('t.trace.json.gz', gzip.compress(json.dumps({'traceEvents': gpu + [
        x('fa4', 10, 30, tid=118, args={'name': 'jit(train_step)/forward_backward/layer_3/fa4_cute_kernel/ffi_call'}),
        x('gemm', 50, 20, tid=118, args={'name': 'jit(train_step)/forward_backward/layer_4/dot_general'})]}).encode()))
    nodes = json.loads(run('tree', 't.trace.json.gz', '--path', 'arg.name', '--json').stdout)['paths']
    equal({n['name']: n['total_ns'] for n in nodes if n['depth'] < 2}, {'jit(train_step)': 50000, 'forward_backward': 50000})


@case('marin-community/marin#3345', 'device', 'JAX on a GPU: streams by number and uses, collectives of NCCL, no row of steps')
def _():
    gpu = [{'ph': 'M', 'name': 'process_name', 'pid': p, 'args': {'name': n}} for p, n in ((1, '/device:GPU:0'), (701, '/host:CPU'))]
    gpu += [{'ph': 'M', 'name': 'thread_name', 'pid': 1, 'tid': t, 'args': {'name': n}} for t, n in ((118, 'Stream #118(MemcpyD2H,MemcpyD2D,Compute,Memset)'), (119, 'Stream #119(nccl)'))]
    put('t.trace.json', {'traceEvents': gpu + [x('input_scatter_fusion_1', 10, 30, tid=118), x('ncclDevKernel_AllGather_RING_LL', 30, 20, tid=119), x('MemcpyD2H', 60, 5, tid=118),
                                               x('train', 0, 100, pid=701, args={'step_num': 7})]})
    d, = devices('t.trace.json')
    equal((d['busy_ns'], d['communication_ns'], d['exposed_communication_ns']), (45000, 20000, 10000))
    equal(top('t.trace.json', '--by', 'step', '--kind', 'collective'), {'7': 20000})


@case('Ascend/pytorch#133', 'clock', 'times as text, and ids of flows above 2^53')
def _():
    base = 3096504 << 10
    m = [{'ph': 'M', 'name': 'process_name', 'pid': base | 162, 'args': {'name': 'Ascend Hardware'}}, {'ph': 'M', 'name': 'process_labels', 'pid': base | 162, 'args': {'labels': 'NPU'}}]
    events = []
    for i in range(3):
        ts, ident = f'177865000000000{i}.125', str(1778650000000000125000 + i)
        who = {'pid': base | 162, 'tid': 2}
        events += [{'ph': 'X', 'name': f'op{i}', 'pid': 77, 'tid': 77, 'ts': ts, 'dur': 0.5, 'args': {}}, {'ph': 's', 'bp': 'e', 'name': 'async_npu', 'cat': 'async_npu', 'id': ident, 'pid': 77, 'tid': 77, 'ts': ts},
                   {'ph': 'X', 'name': f'aclnn{i}', 'ts': f'177865000000001{i}.125', 'dur': 1.0, 'args': {'Task Type': 'AI_CORE'}, **who},
                   {'ph': 'f', 'bp': 'e', 'name': 'async_npu', 'cat': 'async_npu', 'id': ident, 'ts': f'177865000000001{i}.125', **who}]
    put('trace_view.json', m + events)
    equal(sorted(answers('trace_view.json', 'select o.name, i.name from flow f join slice o on o.id = f.slice_out join slice i on i.id = f.slice_in')),
          [f'op{i},aclnn{i}' for i in range(3)])
    equal([d for n, d in depths('trace_view.json') if n.startswith('aclnn')], [0, 0, 0])


@case('vllm-project/vllm-ascend#15904', 'phase', 'annotations of vLLM on Ascend: kernels in prefill and decode')
def _():
    base = 3096504 << 10
    m = [{'ph': 'M', 'name': 'process_name', 'pid': p, 'args': {'name': n}} for p, n in ((base | 1, 'Python'), (base | 162, 'Ascend Hardware'))]
    events = []
    for i, name in enumerate(('execute_context_1(512)_generation_0(0)', 'execute_context_0(0)_generation_8(8)')):
        host, npu, ts = {'pid': base | 1, 'tid': 77}, {'pid': base | 162, 'tid': 2}, 1000 * i
        events += [{'ph': 'X', 'name': name, 'cat': 'user_annotation', 'ts': ts, 'dur': 100, 'args': {}, **host}, {'ph': 'X', 'name': 'aten::mm', 'cat': 'cpu_op', 'ts': ts + 10, 'dur': 20, 'args': {}, **host},
                   {'ph': 's', 'bp': 'e', 'name': 'async_npu', 'cat': 'async_npu', 'id': str(i), 'ts': ts + 10, **host},
                   {'ph': 'X', 'name': 'MatMulV2', 'ts': ts + 500, 'dur': 30 + i, 'args': {'Task Type': 'AI_CORE'}, **npu},
                   {'ph': 'f', 'bp': 'e', 'name': 'async_npu', 'cat': 'async_npu', 'id': str(i), 'ts': ts + 500, **npu}]
    put('trace_view.json', m + events)
    equal(top('trace_view.json', '--by', 'phase', '--kind', 'kernel'), {'prefill': 30000, 'decode': 31000})


@case('ROCm/ATOM#644', 'phase', 'kernels of mixed and of decode batches')
def _():
    events = []
    for i, name in enumerate(('execute_9_context_1(100)_generation_8(8)', 'execute_8_context_0(0)_generation_8(8)')):
        ts = 1000 * i
        events += [x(name, ts, 100, cat='user_annotation'), x('hipGraphLaunch', ts + 10, 5, cat='cuda_runtime', args={'correlation': i + 1}),
                   kernel('rmsnorm', ts + 50, 10, correlation=i + 1), kernel('gemm', ts + 70, 20 + i, correlation=i + 1)]
    put('a.json', {'traceEvents': events})
    equal(top('a.json', '--kind', 'kernel', '-e', 'phase == mixed'), {'rmsnorm': 10000, 'gemm': 20000})
    equal(top('a.json', '--kind', 'kernel', '-e', 'phase == decode'), {'rmsnorm': 10000, 'gemm': 21000})


@case('sgl-project/sglang#23419', 'phase', 'steps of SGLang by mode')
def _():
    names = ('step[prefill bs=2 toks=900]', 'step[decode bs=16]', 'step[mixed bs=3 ext=100 dec=2]', 'step[idle]')
    put('a.json', {'traceEvents': [e for i, n in enumerate(names) for e in (
        x(n, 100 * i, 80, cat='user_annotation'), x('cudaLaunchKernel', 100 * i + 5, 5, cat='cuda_runtime', args={'correlation': i + 1}), kernel('k', 100 * i + 20, 10 + i, correlation=i + 1))]})
    equal(top('a.json', '--by', 'phase', '--kind', 'kernel'), {'prefill': 10000, 'decode': 11000, 'mixed': 12000, '': 13000})


@case('AMD-AGI/TraceLens#723', 'step', 'steps of SGLang are counted')
def _():
    put('a.json', {'traceEvents': [e for i in range(4) for e in (x(f'step[DECODE bs={8 + i}]', 100 * i, 80, cat='user_annotation'), x('cudaLaunchKernel', 100 * i + 5, 5, cat='cuda_runtime', args={'correlation': i + 1}),
                                                                 kernel('k', 100 * i + 20, 10, correlation=i + 1))]})
    equal([d['step']['count'] for d in devices('a.json')], [4])
    equal(len(top('a.json', '--by', 'step', '--kind', 'kernel')), 4)


@case('sgl-project/sglang#32850', 'phase', 'speculative decoding: verification and drafts are decoding')
def _():
    put('a.json', {'traceEvents': [x(n, 100 * i, 80, cat='user_annotation') for i, n in enumerate(('step[TARGET_VERIFY bs=1]', 'step[DRAFT_EXTEND_V2 bs=1]', 'step[EXTEND bs=1 toks=7]'))]})
    equal(top('a.json', '--by', 'phase'), {'decode': 160000, 'prefill': 80000})


@case('pytorch/pytorch#179768', 'graph', 'kernels of a graph with annotations in their args')
def _():
    put('a.json', {'traceEvents': [x('cudaGraphLaunch', 0, 5, cat='cuda_runtime', args={'correlation': 9})] + [
        x('k', 10 * i + 10, 5 + i, cat='kernel', pid=0, tid=7, args={'stream': 7, 'device': 0, 'correlation': 9, 'graph id': 4, 'graph node id': 4 << 32 | i + 1, 'name': n, 'layer': str(i)}) for i, n in enumerate(('linear_fwd', 'all_gather', 'residual_add'))]})
    equal(top('a.json', '--by', 'arg.name'), {'linear_fwd': 5000, 'all_gather': 6000, 'residual_add': 7000, '': 5000})


@case('pytorch/kineto#1567', 'graph', 'one node of a HIP graph over its replays')
def _():
    put('a.json', {'traceEvents': [e for r in range(3) for e in [x('hipGraphLaunch', 1000 * r, 5, cat='cuda_runtime', args={'correlation': r + 1})] + [
        kernel('k', 1000 * r + 100 * i + 10, 5 + i, correlation=r + 1, **{'graph id': 1, 'graph node id': 1 << 32 | i}) for i in (1, 2)]]})
    equal(top('a.json', '--by', 'arg.graph node id', '--kind', 'kernel'), {str(1 << 32 | 1): 18000, str(1 << 32 | 2): 21000})


@case('neuralmagic/nm-vllm#124', 'question', 'time by module')
def _():
    put('a.json', {'traceEvents': [e for i, n in enumerate(('nn.Module: Attention_0', 'nn.Module: MLP_0')) for e in (
        x(n, 100 * i, 80, cat='python_function'), x('cuLaunchKernelEx', 100 * i + 5, 5, cat='cuda_driver', args={'correlation': i + 1}), kernel('k', 100 * i + 20, 10 + i, correlation=i + 1))]})
    equal(top('a.json', '--by', 'module', '--kind', 'kernel'), {'nn.Module: Attention_0': 10000, 'nn.Module: MLP_0': 11000})


@case('gaogaotiantian/viztracer#337', 'question', 'the buffer was full: early calls are missing')
def _():
    put('result.json', {'traceEvents': [x('read', 0, 5)], 'viztracer_metadata': {'version': '0.15.8', 'overflow': True}})
    has(said('info', '-v', 'result.json') + said('check', 'result.json'), r'(?i)overflow|buffer|missing')


@case('gaogaotiantian/viztracer#125', 'track', 'a counter that another thread samples')
def _():
    put('a.json', {'traceEvents': [{'pid': 5, 'tid': t, 'ts': 10 * i, 'ph': 'C', 'name': 'gpu_load', 'args': {'util': v}} for i, (t, v) in enumerate(((7, 10), (7, 35), (8, 20)))]
        + [x('main', 0, 50, pid=5, tid=5)], 'viztracer_metadata': {'version': '0.13.3', 'overflow': False}})
    for source in ('a.json', converted('a.json', 'a.pftrace')):
        equal([e['args']['util' if source == 'a.json' else list(e['args'])[0]] for e in dump(source) if e['kind'] == 'counter'], [10, 35, 20])


@case('mlcommons/inference#454', 'track', 'a counter without a thread, of five series')
def _():
    series = {'sample_seq': 0, 'query_seq': 0, 'sample_idx': 172, 'issue_delay': 2200, 'issue_to_done': 12990900}
    put('a.json', '[\n' + json.dumps({'name': 'Latency', 'ph': 'C', 'pid': 16944, 'ts': 710469.5, 'args': series}) + ',\n')
    equal(dump('a.json')[0]['args'], series)
    back = [e for e in json.load(open(converted(converted('a.json', 'a.pftrace'), 'b.json')))['traceEvents'] if e.get('ph') == 'C']
    equal({k: v for e in back for k, v in e['args'].items()}, series)


@case('thoren-d/tracing-chrome#24', 'async', 'tasks of tokio: nested spans of one id, and fields beside args')
def _():
    spans = (('root', 'b', 229.007), ('serial', 'b', 353.463), ('serial_1', 'b', 62012.943), ('serial_1', 'e', 172994.311), ('serial_2', 'b', 173246.365), ('serial_2_1', 'b', 285098.573),
             ('serial_2_1', 'e', 397605.535), ('serial_2', 'e', 609086.196), ('serial', 'e', 609100), ('root', 'e', 609229.007))
    put('a.json', [{'args': {'name': 'main'}, 'name': 'thread_name', 'ph': 'M', 'pid': 1, 'tid': 0}]
        + [{'.file': 'src/main.rs', '.line': 13, 'cat': 'profile', 'id': 1, 'name': n, 'ph': ph, 'pid': 1, 'tid': 0, 'ts': ts} for n, ph, ts in spans])
    right = {'root': [609000], 'serial': [608746.537], 'serial_1': [110981.368], 'serial_2': [435839.831], 'serial_2_1': [112506.962]}
    for source in ('a.json', converted('a.json', 'a.pftrace')):
        equal(durations(source), right)
    back = json.load(open(converted('a.json', 'b.json')))
    equal({e['.file'] for e in (back if isinstance(back, list) else back['traceEvents']) if e['ph'] == 'b'}, {'src/main.rs'})


@case('EngFlow/bazel_invocation_analyzer#113', 'track', 'Bazel 7: counters without a thread')
def _():
    put('command.profile.gz', gzip.compress(json.dumps({'otherData': {'profile_start_ts': 1700000000000}, 'traceEvents': [
        {'name': 'thread_name', 'ph': 'M', 'pid': 1, 'tid': 29, 'args': {'name': 'Main Thread'}}, {'name': 'action count', 'pid': 1, 'ph': 'C', 'ts': 7, 'args': {'action': 3}},
        {'name': 'action count', 'pid': 1, 'ph': 'C', 'ts': 207, 'args': {'action': 5, 'local action cache': 1}}, x('buildTargets', 0, 500, tid=29)]}).encode()))
    equal([e['args'] for e in dump('command.profile.gz') if e['kind'] == 'counter'], [{'action': 3}, {'action': 5, 'local action cache': 1}])
    equal(run('check', 'command.profile.gz').returncode, 0)


@case('bazelbuild/bazel#24580', 'question', 'time by target')
def _():
    put('p.json', {'otherData': {'profile_start_ts': 1700000000000}, 'traceEvents': [
        x('Compiling a.cc', 0, 70, tid=31, cat='action processing', out='bazel-out/a.o', args={'target': '//x:a', 'mnemonic': 'CppCompile'}),
        x('Linking a', 70, 30, tid=31, cat='action processing', args={'target': '//x:a', 'mnemonic': 'CppLink'}), x('Compiling b.cc', 0, 20, tid=32, cat='action processing', args={'target': '//y:b', 'mnemonic': 'CppCompile'})]})
    equal(top('p.json', '--by', 'arg.target'), {'//x:a': 100000, '//y:b': 20000})
    equal(top('p.json', '--by', 'arg.mnemonic', '-e', "arg.target ~ '//x*'"), {'CppCompile': 70000, 'CppLink': 30000})


@case('bazelbuild/bazel#10404', 'question', 'how long sandboxes took to set up, of all actions')
def _():
    put('p.json', {'traceEvents': [e for t in (31, 32) for e in (x('Executing genrule', 0, 100, tid=t, cat='action processing'), x('sandbox.createFileSystem', 5, 10 + t - 31, tid=t, cat='sandboxfs'),
                                                                x('subprocess.run', 20, 60, tid=t, cat='local execution'), x('sandbox.verifyPostCondition', 85, 2, tid=t, cat='sandboxfs'))]})
    equal(top('p.json', '--name', 'sandbox.*'), {'sandbox.createFileSystem': 21000, 'sandbox.verifyPostCondition': 4000})
    has(said('tree', 'p.json'), r'21\.000 us.*x2.*sandbox\.createFileSystem')


@case('aras-p/ClangBuildAnalyzer#45', 'json', 'clang 11: times as large as the clock, names of threads by number')
def _():
    put('main.cc.json', '{"traceEvents":[{"pid":43147,"tid":43147,"ph":"X","ts":1234,"dur":560,"name":"Source","args":{"detail":"/usr/include/c++/v1/vector"}},'
        '{"pid":43147,"tid":43148,"ph":"X","ts":0,"dur":9000,"name":"Total ExecuteCompiler","args":{"count":1,"avg ms":9}},'
        '{"cat":"","pid":43147,"tid":0,"ts":0,"ph":"M","name":"process_name","args":{"name":"clang-11"}}]}')
    equal(durations('main.cc.json'), {'Source': [560], 'Total ExecuteCompiler': [9000]})
    equal(dump('main.cc.json')[0]['process'].split()[0], 'clang-11')


@case('llvm/llvm-project#55455', 'merge', 'the host and the devices of one compilation, in files of their own')
def _():
    for i, name in enumerate(('main.json', 'main-sm_35.json', 'main-sm_80.json')):
        put(name, {'traceEvents': [x('ExecuteCompiler', 100, 50 + i, pid=900 + i, tid=900 + i), {'ph': 'M', 'pid': 900 + i, 'tid': 0, 'ts': 0, 'name': 'process_name', 'args': {'name': 'clang'}}],
                   'beginningOfTime': 1652500000000000 + 1000 * i})
    run('merge', 'main.json', 'main-sm_35.json', 'main-sm_80.json', '-o', 'all.json')
    equal([e['time_ms'] for e in dump('all.json')], [0, 1, 2])
    equal(len({e['process'] for e in dump('all.json')}), 3)


@case('Viladoman/CompileScore#26', 'question', 'which includes cost most')
def _():
    put('a.json', {'traceEvents': [x('Source', 0, 100, args={'detail': '/a.h'}), x('Source', 10, 60, args={'detail': '/b.h'}), x('Source', 200, 40, args={'detail': '/b.h'})], 'beginningOfTime': 1652500000000000})
    equal(top('a.json', '--by', 'arg.detail'), {'/a.h': 100000, '/b.h': 100000})
    rows = json.loads(run('top', 'a.json', '--by', 'arg.detail', '--json').stdout)['rows']
    equal({r['name']: r['self_ns'] for r in rows}, {'/a.h': 40000, '/b.h': 100000})


@case('openxla/xprof#282', 'step', 'steps of a CPU by TraceMe with step_num')
def _():
    m = [{'ph': 'M', 'name': 'process_name', 'pid': 701, 'args': {'name': '/host:CPU'}}]
    put('t.trace.json', {'traceEvents': m + [x('TraceContext', 100 * i, 90, pid=701, args={'graph_type': 'train', 'step_num': str(i)}) for i in range(3)] + [x('MatMul', 100 * i + 5, 10 + i, pid=701) for i in range(3)]})
    equal(top('t.trace.json', '--by', 'step', '--name', 'MatMul'), {'0': 10000, '1': 11000, '2': 12000})


@case('tensorflow/tensorflow#66410', 'step', 'no marks of steps, but a program that repeats')
def _():
    m = [{'ph': 'M', 'name': 'process_name', 'pid': 3, 'args': {'name': '/device:TPU:0'}}]
    m += [{'ph': 'M', 'name': 'thread_name', 'pid': 3, 'tid': t, 'args': {'name': n}} for t, n in ((2, 'XLA Modules'), (3, 'XLA Ops'))]
    put('t.trace.json', {'traceEvents': m + [e for i in range(3) for e in (x('jit_train(1)', 100 * i, 80, pid=3, tid=2), x('fusion', 100 * i + 5, 20 + i, pid=3, tid=3))]})
    equal([d['step']['count'] for d in devices('t.trace.json')], [3])


@case('pytorch/kineto#774', 'step', 'steps are those that were active')
def _():
    put('a.json', {'traceEvents': [x(f'ProfilerStep#{i}', 1000 * i, 900, cat='user_annotation') for i in (5, 6, 7)] + [kernel('k', 1000 * i + 100, 10) for i in (5, 6, 7)]})
    equal(top('a.json', '--by', 'step', '--kind', 'kernel'), {'5': 10000, '6': 10000, '7': 10000})


@case('nodejs/node#47639', 'async', 'timers and their callbacks by async_hooks')
def _():
    base = {'pid': 33338, 'tid': 259, 'cat': 'node,node.async_hooks', 'dur': 0, 'tdur': 0, 'tts': 1, 'args': {}}
    put('node_trace.1.log', {'traceEvents': [{**base, 'name': n, 'id': i, 'ph': ph, 'ts': 112724301833 + ts} for n, i, ph, ts in (
        ('Timeout', '0x11', 'b', 0), ('Timeout_CALLBACK', '0x11', 'b', 1005024), ('Timeout', '0x15', 'b', 1005122), ('Timeout_CALLBACK', '0x11', 'e', 1005831), ('Timeout', '0x11', 'e', 1006285),
        ('Timeout', '0x15', 'e', 2006285))]})
    for source in ('node_trace.1.log', converted('node_trace.1.log', 'a.pftrace')):
        equal(durations(source), {'Timeout': [1001163, 1006285], 'Timeout_CALLBACK': [807]})


@case('facebookresearch/HolisticTraceAnalysis#148', 'rank', 'host and pid in the name, and the rank inside')
def _():
    for rank, name in ((1, 'r1t03_53384.1718116821592181759'), (0, 'r1t01_49177.1718116821717695876'), (2, 'r1t07_27283.1718116821676864190')):
        put(f'{name}.pt.trace.json', {'distributedInfo': {'rank': rank, 'world_size': 3, 'backend': 'nccl'}, 'traceEvents': [x(f'w{rank}', 10, 5)]})
    equal(sorted(ranks('.')), [0, 1, 2])
    equal({r['host'] for r in json.loads(run('merge', '.', '-n', '--json').stdout)['ranks']}, {'r1t01', 'r1t03', 'r1t07'})


@case('facebookresearch/HolisticTraceAnalysis#16', 'device', 'kernels without a call of the runtime')
def _():
    put('a.json', {'traceEvents': [kernel('gemm', 0, 20, correlation=7), kernel('Memset (Device)', 30, 2) | {'cat': 'gpu_memset'}]})
    d, = devices('a.json')
    equal((d['kernels'], d['busy_ns'], d['linked']), (1, 22000, 0))


@case('IBM/aiu-trace-analyzer#112', 'device', 'many kernels of one launch, and kernels without any')
def _():
    put('a.json', {'traceEvents': [x('aten::mm', 0, 50, cat='cpu_op'), x('cudaLaunchKernel', 5, 5, cat='cuda_runtime', args={'correlation': 90})]
        + [kernel('k', 20 * i + 60, 10, correlation=90) for i in range(5)] + [kernel('orphan', 500, 3, correlation=91)]})
    equal(top('a.json', '--by', 'op', '--kind', 'kernel'), {'aten::mm': 50000, '': 3000})


@case('vipshop/cache-dit#1093', 'container', 'a folder of Ascend, among its tables')
def _():
    out = 'wan2_2_profile_67889_20260725180104147_ascend_pt/ASCEND_PROFILER_OUTPUT'
    put(f'{out}/trace_view.json', [x('a', 0, 5)])
    put(f'{out}/kernel_details.csv', 'Name,Duration(us)\n')
    put(f'{out}/analyse.done', '')
    equal(durations('wan2_2_profile_67889_20260725180104147_ascend_pt'), {'a': [5]})


@case('ROCm/rocprofiler#142', 'perfetto', 'ranges of ROCTX, as rocprof 2 writes them')
def _():
    event = message(22, b'ROCTX_RANGE_PUSH_POP')
    put('a.pftrace', track(1, pid=5) + track(2, pid=5, tid=5, thread='main') + slice_event(1000, 1, 2, 'forward', more=event) + slice_event(9000, 2, 2))
    equal(top('a.pftrace', '--kind', 'annotation'), {'forward': 8000})
    equal(top('a.pftrace', '--by', 'phase'), {'forward': 8000})


@case('ROCm/rocm-systems#1568', 'perfetto', 'dispatches of one queue that overlap by the inaccuracy of the firmware')
def _():
    put('a.json', {'traceEvents': [kernel('a', 100, 50), kernel('b', 120, 10), kernel('c', 140, 30)]})
    out = converted('a.json', 'a.pftrace')
    equal(durations(out), {'a': [50], 'b': [10], 'c': [30]})
    equal(run('check', out).returncode, 0)


@case('ROCm/legacy-rocm-build#4273', 'device', 'rocprof --sys-trace: copies in a process of their own, all values as text')
def _():
    m = [{'args': {'name': n, 'sort_index': str(i)}, 'ph': 'M', 'pid': str(p), 'name': 'process_name'} for i, (p, n) in enumerate(((2, 'CPU HIP API'), (1, 'COPY'), (6, 'GPU0')))]
    def span(name, pid, tid, ts, dur):
        return {'ph': 'X', 'name': name, 'pid': str(pid), 'tid': str(tid), 'ts': str(ts), 'dur': str(dur), 'args': {'BeginNs': str(1000 * ts), 'EndNs': str(1000 * (ts + dur))}}
    put('results.json', {'traceEvents': [{}] + m + [span('hipMemcpy', 2, 77, 692706620, 40), span('tensoradd_2D.kd', 6, 0, 692706564, 12), span('CopyHostToDevice', 1, 0, 692706620, 20)]})
    d = devices('results.json')
    equal([(r['kernels'], r['busy_ns']) for r in d], [(1, 32000)])


typing('AMD-AGI/TraceLens#723', 'split T.json --by step -o s-{}.json', r'--by|step')
typing('sgl-project/sglang#22440', 'breakdown --input T.json', r'\b(report|top|tree)\b')
typing('sgl-project/sglang#22440', 'triage T.json', r'\b(report|top|check)\b')
typing('ROCm/ATOM#644', 'top T.json --percentile 95', r'p95|--sort')
typing('neuralmagic/nm-vllm#124', 'tree --json-trace T.json', r'inputs need no option')
typing('gaogaotiantian/viztracer#249', '--compress T.json -o T.json.gz', r'convert|command must come first')


# ---- a fifth round, collected after the fourth was fixed ----

@case('google/perfetto#503', 'rank', 'the rank behind RANK, between words and times')
def _():
    names = [f'TRACE_EVENT_RANK{r}_TIME168520590{r}_SERIAL1.gz' for r in (1, 4)]
    for i, name in enumerate(names):
        put(name, gzip.compress(json.dumps([x('collective', 0, 100), x('send', 50, 80), x(f'w{i}', 60, 10)]).encode()))
    equal(ranks(*names), [1, 4])
    equal(durations(converted(names[0], 'a.pftrace')), {'collective': [100], 'send': [80], 'w0': [10]})


@case('google/perfetto#978', 'flow', 'merged files have equal ids of arrows')
def _():
    for r in (0, 1):
        launch, work = x(f'launch{r}', 10, 5, cat='cuda_runtime', args={'correlation': 7}), kernel(f'k{r}', 30 + r, 10, correlation=7)
        put(f'rank{r}.json', {'traceEvents': [launch, work, {'ph': 's', 'id': 7, 'pid': 1, 'tid': 1, 'ts': 10, 'cat': 'ac2g', 'name': 'ac2g'},
                                              {'ph': 'f', 'bp': 'e', 'id': 7, 'pid': 0, 'tid': 7, 'ts': 30 + r, 'cat': 'ac2g', 'name': 'ac2g'}]})
    query = 'select o.name, i.name from flow f join slice o on o.id = f.slice_out join slice i on i.id = f.slice_in'
    for out in ('m.json', 'm.pftrace'):
        run('merge', 'rank0.json', 'rank1.json', '-o', out)
        equal(sorted(answers(out, query)), ['launch0,k0', 'launch1,k1'])


@case('google/perfetto#432', 'stack', 'two ends without names at one time')
def _():
    put('a.json', [{'pid': 2, 'tid': 14, 'ph': ph, 'ts': ts, **({'name': n} if n else {})} for ph, n, ts in (
        ('B', 'Event4', 209124), ('E', '', 209729), ('B', 'Event5', 209729), ('B', 'Event6', 209948), ('E', '', 210012), ('E', '', 210012), ('B', 'Event7', 210012), ('E', '', 210051))])
    for source in ('a.json', converted('a.json', 'a.pftrace')):
        equal(durations(source), {'Event4': [605], 'Event5': [283], 'Event6': [64], 'Event7': [39]})


@case('google/perfetto#555', 'perfetto', 'the order of tracks that the parent states')
def _():
    def ordered(uuid, name, rank):
        return packet(message(60, number(1, uuid) + message(2, name.encode()) + number(5, 1) + number(12, rank)), number(10, 1))
    put('a.pftrace', packet(message(60, number(1, 1) + message(3, number(1, 5) + message(6, b'app')) + number(11, 3)), number(10, 1)) + ordered(10, 'z first', 1) + ordered(11, 'a last', 2)
        + slice_event(100, 1, 10, 'x') + slice_event(200, 2, 10) + slice_event(100, 1, 11, 'y') + slice_event(300, 2, 11))
    back = json.load(open(converted('a.pftrace', 'b.json')))['traceEvents']
    of = {e['tid']: e['args']['name'] for e in back if e.get('name') == 'thread_name'}
    order = {of[e['tid']]: e['args']['sort_index'] for e in back if e.get('name') == 'thread_sort_index'}
    equal(sorted(order, key=order.get), ['z first', 'a last'])


@case('google/perfetto#1460', 'flow', 'words of flows within args are no flows')
def _():
    put('a.json', {'traceEvents': [
        {'name': 'io_schedule', 'cat': 'offcpu', 'ph': 'B', 'ts': 1000, 'pid': 100, 'tid': 101, 'args': {'stack': ['io_schedule', 'worker_thread']}},
        {'ph': 'E', 'ts': 2000, 'pid': 100, 'tid': 101, 'args': {'flow_out': 12345}}, {'name': 'wake_up_process', 'ph': 'B', 'ts': 1900, 'pid': 100, 'tid': 102, 'args': {'flow_in': 12345}},
        {'ph': 'E', 'ts': 2100, 'pid': 100, 'tid': 102}]})
    equal(durations('a.json'), {'io_schedule': [1000], 'wake_up_process': [200]})
    equal(answers('a.json', 'select count(*) from flow'), ['0'])


@case('pytorch/torchtitan#2926', 'graph', 'modules as an arg of kernels')
def _():
    put('a.json', {'traceEvents': [kernel('gemm', 20 * i, 10 + i, **{'graph id': 1, 'graph node id': 1 << 32 | i + 1, 'module_fqn': f'layers.{i}.attention.wq'}) for i in range(3)]})
    equal(top('a.json', '--by', 'arg.module_fqn', '--fold'), {'layers.*.attention.wq': 33000})


@case('Lightning-AI/pytorch-lightning#20580', 'phase', 'how long a step loads, goes forward and backward')
def _():
    names = (('[_TrainingEpochLoop].train_dataloader_next', 'dataloader'), ('[Strategy]DDPStrategy.training_step', 'forward'), ('[Strategy]DDPStrategy.backward', 'backward'),
             ('[LightningModule]Net.optimizer_step', 'optimizer'))
    put('a.json', {'traceEvents': [x('[pl][profile]' + n, 100 * i, 10 + i, cat='user_annotation') for i, (n, _) in enumerate(names)]})
    equal(top('a.json', '--by', 'phase'), {phase: 10000 + 1000 * i for i, (_, phase) in enumerate(names)})


@case('openxla/xprof#389', 'question', 'a trace of a remote TPU has the host only')
def _():
    put('t.trace.json', {'traceEvents': [{'ph': 'M', 'name': 'process_name', 'pid': 701, 'args': {'name': '/host:CPU'}}, x('PjitFunction(dot)', 0, 50, pid=701)]})
    has(said('report', 't.trace.json'), r'(?i)no (accelerator|device|GPU)')


@case('intel/torch-xpu-ops#3350', 'question', 'a span of the profiler of XPUs, and no kernel')
def _():
    put('a.json', {'traceEvents': [x('__xpu_profiler__', 0, 1000, cat='Trace', pid='Spans', tid='PyTorch Profiler'), x('aten::mm', 10, 20, cat='cpu_op')]})
    equal(devices('a.json'), [])
    has(said('report', 'a.json'), r'(?i)no (accelerator|device|GPU)')


@case('jax-ml/jax#21295', 'step', 'a trace without steps says so')
def _():
    put('perfetto_trace.json', {'traceEvents': [{'ph': 'M', 'name': 'process_name', 'pid': 701, 'args': {'name': '/host:CPU'}}] + [x('PjitFunction(train_step)', 100 * i, 50, pid=701) for i in range(3)]})
    has(said('report', 'perfetto_trace.json') + said('top', 'perfetto_trace.json', '--step', '1'), r'(?i)no (training )?steps')


@case('pytorch/kineto#1416', 'device', 'streams of HIP are numbers of 64 bits')
def _():
    big = [140234567890128, 140234567890384]
    put('a.json', {'traceEvents': [e for i, s in enumerate(big) for e in (x('Stage::0', 0, 50 + i, cat='gpu_user_annotation', pid=0, tid=s), x('k', 5, 10 + i, cat='kernel', pid=0, tid=s, args={'device': 0, 'stream': s}))]})
    equal(top('a.json', '--by', 'stream', '--kind', 'kernel'), {str(s): 10000 + 1000 * i for i, s in enumerate(big)})
    equal(depths(converted('a.json', 'a.pftrace')), [('Stage::0', 0), ('Stage::0', 0), ('k', 1), ('k', 1)])


@case('boujeepossum/ll#24', 'json', 'a stream of tasks whose end was not written')
def _():
    put('trace.json', '{"displayTimeUnit":"ms","traceEvents":[' + json.dumps(x('build', 0, 100, args={'parent': 'root', 'tags': ['a']})) + ',\n' + json.dumps(x('link', 100, 7)) + ',\n')
    equal(durations('trace.json'), {'build': [100], 'link': [7]})


@case('llvm/llvm-project#98320', 'question', 'instantiations by the file of the template')
def _():
    put('a.json', {'traceEvents': [x('InstantiateClass', 10 * i, 5 + i, args={'detail': f'vector<T{i}>', 'file': f}) for i, f in enumerate(('/v.h', '/m.h', '/v.h'))], 'beginningOfTime': 1720000000000000})
    equal(top('a.json', '--by', 'arg.file'), {'/v.h': 12000, '/m.h': 6000})


@case('facebookresearch/HolisticTraceAnalysis#107', 'rank', 'a trace without a rank')
def _():
    put('trace.json', {'schemaVersion': 1, 'deviceProperties': [{'id': 0, 'name': 'Tesla P100-PCIE-16GB'}], 'record_shapes': 1, 'with_stack': 1, 'traceEvents': [
        x('autograd::engine::evaluate_function: NllLossBackward0', 1708722576381804, 7933, cat='cpu_op', args={'External id': 513, 'Ev Idx': 0, 'Fwd thread id': 1, 'Sequence number': 10}),
        kernel('nll', 1708722576390000, 20)]})
    equal([(d['kernels'], d['busy_ns']) for d in devices('trace.json')], [(1, 20000)])
    equal(top('trace.json', '--by', 'phase', '--kind', 'op'), {'backward': 7933000})


@case('ecmwf/WeatherGenerator#668', 'phase', "a training loop's own ranges: data, forward, loss, backward, clipping, optimizer")
def _():
    names = (('Data', ''), ('Forward', 'forward'), ('Backward', 'backward'), ('Optimizer', 'optimizer'))
    put('a.json', {'traceEvents': [x(n, 100 * i, 10 + i, cat='user_annotation') for i, (n, _) in enumerate(names)]})
    equal(top('a.json', '--by', 'phase'), {phase: 10000 + 1000 * i for i, (_, phase) in enumerate(names)})


typing('datawhalechina/llm-algo-leetcode#169', 'top T.json --by phases', r'phase')
typing('Lightning-AI/pytorch-lightning#20580', 'report T.json --dirpath . --filename perf', r'(?i)--html|redirect|operand|inputs need no option')
typing('pytorch/tutorials#3013', 'top T.json --sort xpu_time_total', r'total|self')


@case('PaddlePaddle/Paddle', 'name', 'durations at the end of names; kinds of spans and steps')
def _():
    def timed(name, ts, dur, cat):
        return x(f'{name}[{dur}.000 us]', ts, dur, cat=cat, tid='7(Python)')

    for key in ('span_index', 'span_indx'):
        put('a.json', {'schemaVersion': '1.0.2', key: '0', 'traceEvents': [e for i in range(3) for e in (
            timed(f'ProfileStep#{i + 2}', 1000 * i, 900 + i, 'ProfileStep'), timed('my_fwd', 1000 * i + 10, 300, 'PythonUserDefined'),
            timed('matmul dygraph', 1000 * i + 20, 200, 'Operator'), timed('matmul infer', 1000 * i + 30, 40, 'OperatorInner'),
            timed('matmul launch', 1000 * i + 90, 50, 'DygraphKernelLaunch'))] + [x('a[0]', 5000, 3), x('b[1.5 us', 5010, 3), x('[2 us]', 5020, 3)]})
        equal(durations('a.json'), {'ProfileStep#2': [900], 'ProfileStep#3': [901], 'ProfileStep#4': [902], 'my_fwd': [300] * 3, 'matmul dygraph': [200] * 3,
                                    'matmul infer': [40] * 3, 'matmul launch': [50] * 3, 'a[0]': [3], 'b[1.5 us': [3], '[2 us]': [3]})
        equal(top('a.json', '--kind', 'annotation'), {'my_fwd': 900000})
        equal(top('a.json', '--kind', 'op'), {'matmul dygraph': 600000, 'matmul infer': 120000, 'matmul launch': 150000})
        assert '3, 2 to 4' in run('info', 'a.json').stdout and (key == 'span_indx' or 'Kineto' not in run('info', 'a.json').stdout), run('info', 'a.json').stdout
    put('b.json', [timed('f', 0, 5, 'c')])
    equal(durations('b.json'), {'f[5.000 us]': [5]})


@case('microsoft/onnxruntime', 'device', 'nodes are operators, and runs are steps')
def _():
    put('a.json', [e for i in range(4) for e in (x('model_run', 100 * i, 90, cat='Session'), x('conv_kernel_time', 100 * i + 5, 40 + i, cat='Node'))])
    equal(top('a.json', '--kind', 'op'), {'conv_kernel_time': 166000})
    equal(top('a.json', '--kind', 'step'), {'model_run': 360000})
    put('b.json', [x('model_runner.forward', 100 * i, 90) for i in range(4)])
    assert 'steps' not in run('info', 'b.json').stdout


@case('horovod/horovod', 'device', 'requests of a timeline are collectives')
def _():
    put('a.json', [x('NEGOTIATE_ALLREDUCE', 0, 30), x('ALLREDUCE', 40, 20), x('NCCL_ALLREDUCE', 45, 10), x('BROADCAST', 70, 5), x('BROADCAST', 80, 5, cat='op')])
    equal(top('a.json', '--kind', 'collective'), {'ALLREDUCE': 20000, 'BROADCAST': 5000})


@case('tensorflow/tensorflow', 'device', 'copies of TensorFlow 1, which two processes show')
def _():
    def process(pid, name):
        return {'ph': 'M', 'name': 'process_name', 'pid': pid, 'args': {'name': name}}

    both = [process(2, '/gpu:0/stream:13 Compute'), process(3, '/gpu:0/memcpy Compute')]
    copies = [x(name, 10 * i, 4, cat='Op', pid=pid) for i, name in enumerate(('MEMCPYHtoD', 'MEMCPYDtoH')) for pid in (2, 3)]
    put('a.json', {'traceEvents': both + copies + [x('MatMul', 50, 7, cat='Op', pid=2), x('MatMul', 50, 7, cat='Op', pid=3)]})
    equal(top('a.json', '--kind', 'memcpy'), {'MEMCPYHtoD': 4000, 'MEMCPYDtoH': 4000})
    equal(top('a.json', '--kind', 'kernel'), {'MatMul': 7000})
    put('b.json', {'traceEvents': both[1:] + [e for e in copies if e['pid'] == 3]})
    equal(top('b.json', '--kind', 'memcpy'), {'MEMCPYHtoD': 4000, 'MEMCPYDtoH': 4000})


@case('gaogaotiantian/viztracer', 'step', 'functions named like steps: exact calls, and merged calls of samplers')
def _():
    put('a.json', {'traceEvents': [x('train_step (/w.py:7)', 100 * i, 50, cat='FEE') for i in range(5)]})
    assert '5, 0 to 4' in run('info', 'a.json').stdout, run('info', 'a.json').stdout
    put('b.json', {'traceEvents': [x('main (w.py:1)', 0, 500), x('train_step (w.py:7)', 10, 400), x('step (w.py:9)', 20, 50), x('step (w.py:9)', 90, 50)]})
    assert 'steps' not in run('info', 'b.json').stdout, run('info', 'b.json').stdout
    put('c.folded', 'main;train_step (w.py:7);f 3\nmain;train_step (w.py:7);g 4\n')
    assert 'step' not in run('info', 'c.folded').stdout, run('info', 'c.folded').stdout


@case('triton-lang/triton', 'json', 'arrays of objects that are no events')
def _():
    for name, rows, why in (('proton.hatchet', [{'children': [{'children': [], 'frame': {'name': 'k', 'type': 'function'}, 'metrics': {'count': 1}}],
                                                 'frame': {'name': 'ROOT', 'type': 'function'}, 'metrics': {'count': 0}}], 'Proton'),
                            ('types.json', [{'id': 1, 'kind': 'Any'}, {'id': 2, 'kind': 'Union'}], 'no phase')):
        put(name, rows)
        p = run('info', name)
        assert p.returncode == 3 and why in p.stderr, p.stderr
    put('b.json', [{'id': 1}, x('f', 0, 1)])
    equal(durations('b.json'), {'f': [1]})
    put('c.json', {'traceEvents': [{'id': 1}]})  # states that it is a trace
    assert run('info', 'c.json').returncode == 0



@case('NVIDIA/nvvp', 'stranger', 'databases of nvprof, and others')
def _():
    for name, table, why in (('a.nvvp', 'CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL', 'nvprof'), ('b.db', 'people', 'other tables')):
        with contextlib.closing(sqlite3.connect(name)) as db:
            db.execute(f'CREATE TABLE {table} (id INTEGER)')
            db.commit()
        p = run('info', name)
        assert p.returncode == 3 and why in p.stderr, p.stderr



@case('openxla/xla', 'device', "instructions are collectives, and passes of the compiler are not")
def _():
    names = ('all-reduce', 'all-reduce.3', 'all-gather-start.1', '%all-to-all-done', 'reduce-scatter-fusion', 'all-reduce-scatter.2', 'collective-permute_1')
    passes = ('all-reduce-simplifier', 'all-gather-decomposer', 'collective-permute-legalizer', 'reduce-scatter-combiner')
    put('a.json', [x(n, 10 * i, 1 + i, tid=i) for i, n in enumerate(names + passes)])
    equal(top('a.json', '--kind', 'collective'), {n: 1000 * (1 + i) for i, n in enumerate(names)})


@case('pytorch/FBGEMM', 'class', "permutations whose library's name contains gemm")
def _():
    put('a.json', [kernel('fbgemm_gpu::permute_indices_weights_kernel<true, long>', 0, 3), kernel('ampere_sgemm_128x64_nn', 10, 5)])
    equal(top('a.json', '--by', 'class', '--kind', 'kernel'), {'sort/index': 3000, 'matmul': 5000})



@case('tensorflow/tensorflow', 'layers', 'scopes of work that TensorFlow launches without XLA')
def _():
    put('a.json', [kernel('k', 20 * i, 5 + i, **{'level 0': f'bert/layer_{i % 2}/MatMul'}) for i in range(4)])
    rows = json.loads(run('tree', '--layers', '--json', 'a.json').stdout)['paths']
    equal({row['name']: row['device_ns'] for row in rows}, {'bert': 26000, 'layer_0': 12000, 'layer_1': 14000})



sys.exit(main())
