#!/usr/bin/env python3
"""More problems that people reported in public threads, as in public_cases.py: with traces of Proton, NCCL, Intel's layers, ONNX
Runtime, Perfetto and others."""
import collections
import gzip
import json
import os
import re
import sqlite3
import sys
from decimal import Decimal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from public import (answers, case, converted, depths, devices, dump, durations, equal, has, kernel, main, packet, put, ranks, run, said,  # noqa: E402
                    slice_event, top, track, typing, x)
from xspace import message, number  # noqa: E402

ARROWS = 'select o.name, i.name from flow f join slice o on o.id = f.slice_out join slice i on i.id = f.slice_in'


# ---- invalid JSON ----

@case('pytorch/kineto#1459', 'json', 'frames of generated code, whose file name is a dict in raw quotes')
def _():
    put('a.json', '{"traceEvents": [\n{"ph": "X", "cat": "python_function", "name": "{"device": "cpu", "dtype": "float32"}(12): run", "pid": 1, "tid": 1,\n'
        '"ts": 10.5, "dur": 7.25, "args": {"Python parent id": null, "Python id": 3}},\n' + json.dumps(x('aten::mm', 12, 3, cat='cpu_op')) + '\n]}')
    equal(sorted(v for values in durations('a.json').values() for v in values), [3, 7.25])
    assert any('device' in n and 'run' in n for n in durations('a.json')), durations('a.json')
    names = ('{"a": 1}(3): f', '{"a": {"b": "c"}, "d": [1]}(9): <lambda>', '{', '{}', 'f("x")')
    put('b.json', '{"traceEvents": [' + ',\n'.join(f'{{"ph": "X", "name": "{n}", "pid": 1, "tid": 1, "ts": {10 * i}, "dur": {i + 1}}}' for i, n in enumerate(names)) + ']}')
    equal(durations('b.json'), {n: [i + 1] for i, n in enumerate(names)})


@case('jlfwong/speedscope', 'json', 'comments, which JSON and folded stacks do not have')
def _():
    events = [json.dumps(x(n, 10 * i, i + 1)) for i, n in enumerate('abcd')]
    put('a.json', '// from our engine\n# v2\n[\n# first\n' + events[0] + ', // {"ph": "X", "name": "off", "ts": 3, "dur": 3, "pid": 1, "tid": 1}\n/* two\n lines */ ' + events[1] + '\n # before the comma\n, '
        + events[2] + ',\n// last\n' + events[3] + '\n] // end\n')
    put('b.json', '{ // all\n"traceEvents": [\n' + ',\n'.join(events) + '\n] /* x */ } # end')
    for name, n in (('a.json', 8), ('b.json', 3)):
        equal(durations(name), {'a': [1], 'b': [2], 'c': [3], 'd': [4]})
        has(said('info', name), rf'comment outside of events: skipped \({n} times')
        assert 'damaged' not in said('info', name) and 'comma' not in said('info', name)
    put('c.json', '[' + events[0] + '#' + events[1] + ',' + events[2] + ']')  # a damaged comma
    equal(durations('c.json'), {'a': [1], 'b': [2], 'c': [3]})
    put('d.txt', '# comment\n// another\n  # indented\nmain;a 3\n\nmain;b 4\n')
    equal(top('d.txt'), {'main': 7, 'a': 3, 'b': 4})


@case('intel/opencl-intercept-layer#367', 'json', 'a comma after the last event and no end; queues are threads 1.1 and 2.1')
def _():
    put('clintercept_trace.json', '[\n{"ph":"M","name":"process_name","pid":825,"tid":0,"args":{"name":"solution"}},\n'
        '{"ph":"M","name":"clintercept_start_time","pid":825,"tid":0,"args":{"start_time":7334998904}},\n'
        '{"ph":"M","name":"thread_name","pid":825,"tid":1.1,"args":{"name":"IOQ 0xaa.0.0 Arc A770 (CL_DEVICE_TYPE_GPU)"}},\n'
        '{"ph":"M","name":"thread_name","pid":825,"tid":2.1,"args":{"name":"OOQ 0xbb.0.0 Arc A770 (CL_DEVICE_TYPE_GPU)"}},\n'
        '{"ph":"X","pid":825,"tid":825,"name":"clEnqueueNDRangeKernel","ts":100.0,"dur":9.5},\n'
        '{"ph":"X","pid":825,"tid":1.1,"name":"matmul","ts":120.25,"dur":30.5,"args":{"id":1}},\n'
        '{"ph":"X","pid":825,"tid":2.1,"name":"add","ts":130.0,"dur":4.0,"args":{"id":2}},\n')
    equal(durations('clintercept_trace.json'), {'clEnqueueNDRangeKernel': [9.5], 'matmul': [30.5], 'add': [4]})
    equal([e['thread'][:3] for e in dump(converted('clintercept_trace.json', 'a.pftrace')) if e['name'] in ('matmul', 'add')], ['IOQ', 'OOQ'])


@case('tarides/runtime_events_tools#121', 'json', 'olly: a comma after each event, and no end')
def _():
    put('trace.json', '[' + ''.join('{"name": "%s", "cat": "PERF", "ph": "%s", "ts": %s, "pid": %d, "tid": %d},\n' % v for v in (
        ('major', 'B', '10.5', 0, 0), ('major_sweep', 'B', '11', 0, 0), ('minor', 'B', '12', 1, 1), ('major_sweep', 'E', '14', 0, 0), ('minor', 'E', '15.25', 1, 1),
        ('major', 'E', '20', 0, 0))))
    equal(durations('trace.json'), {'major': [9.5], 'major_sweep': [3], 'minor': [3.25]})


@case('microsoft/perfview#1554', 'json', 'paths of Windows and quotes that nobody escaped')
def _():
    put('a.json', '{"traceEvents":[{"name":"C:\\work\\xUnit\\net6.0!Main","cat":"sampleEvent","ph":"B","ts":1.0,"pid":1,"tid":7,"sf":0},'
        '{"name":"Foo<class "Bar">","cat":"sampleEvent","ph":"B","ts":2.5,"pid":1,"tid":7,"sf":1},{"name":"Foo<class "Bar">","cat":"sampleEvent","ph":"E","ts":4.0,"pid":1,"tid":7,"sf":1},'
        '{"name":"C:\\work\\xUnit\\net6.0!Main","cat":"sampleEvent","ph":"E","ts":9.0,"pid":1,"tid":7,"sf":0}],"displayTimeUnit":"ms"}')
    equal(sorted(v for values in durations('a.json').values() for v in values), [1.5, 8])
    assert any('xUnit' in n for n in durations('a.json')), durations('a.json')


@case('sofa-framework/sofa#1838', 'stack', 'the profile of CMake: ends without names, times of the steady clock')
def _():
    def begin(name, ts, **args):
        return {'args': {'functionArgs': ' '.join(args.values()), 'location': '/src/CMakeLists.txt:7'}, 'cat': 'script', 'name': name, 'ph': 'B', 'pid': 41, 'tid': 0, 'ts': ts}
    def end(ts):
        return {'ph': 'E', 'pid': 41, 'tid': 0, 'ts': ts}
    events = [begin('configure', 5000000), begin('find_package', 5000100, a='"Qt 5"'), begin('include', 5000200, a='x'), end(5000900), end(5001500), end(5009000)]
    put('cmake_trace.json', '[' + ','.join(json.dumps(e, indent='\t') for e in events) + ']')
    equal(durations('cmake_trace.json'), {'configure': [9000], 'find_package': [1400], 'include': [700]})
    assert 'realtime' not in run('info', 'cmake_trace.json').stdout


@case('pfnet/pytorch-pfn-extras#798', 'json', 'a second run appended to the file of the first')
def _():
    put('ppe.json', '[' + ''.join(json.dumps(x(f'run {i}', 100 * i, 5 + i, cat='ppe')) + ',\n' for i in range(2)) + ''.join(json.dumps(x(f'later {i}', 1000 + i * 10, 3)) + ',\n' for i in range(2)))
    equal(durations('ppe.json'), {'run 0': [5], 'run 1': [6], 'later 0': [3], 'later 1': [3]})


@case('triton-lang/triton#7663', 'json', 'Proton of 2025: one object a stream, line after line')
def _():
    put('trace.chrome_trace', ''.join(json.dumps({'displayTimeUnit': 'us', 'traceEvents': [{'name': n, 'cat': 'kernel', 'ph': 'X', 'ts': ts, 'dur': dur, 'pid': f'stream {s}', 'tid': 0,
        'args': {'call_stack': ['ROOT', n]}}]}) + '\n' for s, n, ts, dur in ((0, 'add_kernel', 0.0, 3.5), (7, 'mul_kernel', 10.25, 4.75))))
    equal(durations('trace.chrome_trace'), {'add_kernel': [3.5], 'mul_kernel': [4.75]})


# ---- clocks ----

def proton(base, first, name='gemm', ident=3):
    """Returns a trace of Proton: launches on a lane of the CPU, kernels on a lane of a stream, arrows between them."""
    lanes = [{'ph': 'M', 'pid': 0, 'tid': 0, 'name': 'process_name', 'args': {'name': 'Trace'}}]
    lanes += [{'ph': 'M', 'pid': 0, 'tid': t, 'name': 'thread_name', 'args': {'name': n}} for t, n in ((11, 'CPU Thread 11'), (200007, 'GPU Stream 7'))]
    events = [{'ph': 'X', 'pid': 0, 'tid': 11, 'cat': 'scope', 'name': f'{name}_scope', 'ts': first, 'dur': 6.0, 'args': {'call_stack': ['ROOT']}},
              {'ph': 's', 'pid': 0, 'tid': 11, 'cat': 'flow', 'name': 'launch->kernel', 'id': ident, 'bp': 'e', 'ts': first},
              {'ph': 'f', 'pid': 0, 'tid': 200007, 'cat': 'flow', 'name': 'launch->kernel', 'id': ident, 'bp': 'e', 'ts': first + 20},
              {'ph': 'X', 'pid': 0, 'tid': 200007, 'cat': 'kernel', 'name': name, 'ts': first + 20, 'dur': 12.5, 'args': {'call_stack': ['ROOT', name]}}]
    return {'displayTimeUnit': 'us', **({'baseTimeNanoseconds': base} if base else {}), 'traceEvents': lanes + events}


@case('triton-lang/triton#10949', 'clock', 'Proton states what ts 0 is')
def _():
    put('p.chrome_trace', proton(1752800000123456789, 0.0))
    has(said('info', 'p.chrome_trace'), r'2025-07-18T00:53:20\.123456789')
    has(said('info', converted('p.chrome_trace', 'b.pftrace')), r'2025-07-18T00:53:20\.123456789')


@case('triton-lang/triton#6772', 'device', 'kernels of Proton, launched by the lane of the CPU')
def _():
    put('p.chrome_trace', proton(0, 0.0))
    equal([(d['kernels'], d['busy_ns'], d['linked']) for d in devices('p.chrome_trace')], [(1, 12500, 1)])
    equal(top('p.chrome_trace', '--launched-by', 'gemm_scope', '--kind', 'kernel'), {'gemm': 12500})
    equal(top('p.chrome_trace', '--by', 'stream', '--kind', 'kernel'), {'7': 12500})


@case('lightseekorg/tokenspeed#662', 'clock', 'VizTracer and Proton of one process, each with its base')
def _():
    put('viz.json', {'traceEvents': [x('forward', 100.5, 40)], 'viztracer_metadata': {'version': '1.0.4', 'overflow': False, 'baseTimeNanoseconds': 1752800000000000000}})
    put('proton.json', proton(1752800000000200000, 10.0))
    run('merge', 'viz.json', 'proton.json', '-o', 'm.json')
    found = {e['name']: e['time_ms'] for e in dump('m.json') if e['kind'] == 'span'}
    equal(found['gemm'] - found['forward'], Decimal('0.1295'))


@case('lightseekorg/tokenspeed#734', 'flow', 'two ranks of Proton, whose arrows have equal ids')
def _():
    for r in (0, 1):
        put(f'TP{r}.json', proton(1752800000000000000 + r, 10.0, f'k{r}'))
    for out in ('m.json', 'm.pftrace'):
        equal(run('merge', 'TP0.json', 'TP1.json', '-o', out).returncode, 0)
        equal(sorted(answers(out, ARROWS)), ['k0_scope,k0', 'k1_scope,k1'])


@case('intel/opencl-intercept-layer#221', 'clock', "processes of one host, each with its start on the host's clock: a number, or text by cl_tracer")
def _():
    for r, (start, pid) in enumerate(((7334998904, 825), ('7334999904', 826))):
        put(f'CLIntercept_Dump.{pid}/clintercept_trace.json', [
            {'ph': 'M', 'name': 'process_name', 'pid': pid, 'tid': 0, 'args': {'name': f'rank {r}'}},
            {'ph': 'M', 'name': 'clintercept_start_time', 'pid': pid, 'tid': 0, 'args': {'start_time': start}}, x(f'k{r}', 50, 10, pid=pid, tid=pid)])
    equal(run('merge', 'CLIntercept_Dump.825/clintercept_trace.json', 'CLIntercept_Dump.826/clintercept_trace.json', '-o', 'm.json').returncode, 0)
    found = {e['name']: e['time_ms'] for e in dump('m.json') if e['kind'] == 'span'}
    equal(found['k1'] - found['k0'], 1)


@case('google/perfetto#877', 'perfetto', 'a clock of a program, tied to REALTIME by a snapshot')
def _():
    wall = 1725500000000000000
    snapshot = packet(number(10, 1), number(13, 1), message(6, message(1, number(1, 1) + number(2, wall)) + message(1, number(1, 65) + number(2, 5000)) + number(2, 1)))
    put('a.pftrace', snapshot + track(1, pid=5, tid=6) + slice_event(7000, 1, 1, 'work', clock=65) + slice_event(9500, 2, 1, clock=65))
    equal(durations('a.pftrace'), {'work': [2.5]})
    has(said('info', 'a.pftrace'), r'2024-09-05T01:33:20\.000002')


@case('google/perfetto#513', 'clock', 'processes of one app, each with a trace of its own')
def _():
    for r, wall in ((0, 1686600000000000000), (1, 1686600000001000000)):
        snapshot = packet(number(10, 1), number(13, 1), message(6, message(1, number(1, 1) + number(2, wall)) + message(1, number(1, 6) + number(2, 5000000000))))
        put(f'p{r}.pftrace', snapshot + track(1, pid=50 + r, tid=50 + r) + slice_event(5000000100, 1, 1, f'w{r}', clock=6) + slice_event(5000000300, 2, 1, clock=6))
    equal(run('merge', 'p0.pftrace', 'p1.pftrace', '-o', 'm.json').returncode, 0)
    a, b = dump('m.json')
    equal((a['name'], b['name'], b['time_ms'] - a['time_ms']), ('w0', 'w1', 1))


# ---- async spans, instants and counters ----

@case('web-infra-dev/rspack#10119', 'async', 'modules parsed at the same time, told apart by id2')
def _():
    put('a.json', [{'name': 'parse', 'cat': 'build', 'ph': ph, 'ts': ts, 'id2': {'local': i}, 'pid': 1, 'tid': 1} for ph, ts, i in (('b', 0, '1'), ('b', 2000, '2'), ('e', 4000, '1'), ('e', 5000, '2'))])
    for source in ('a.json', converted('a.json', 'a.pftrace')):
        equal(durations(source), {'parse': [3000, 4000]})


@case('google/perfetto#423', 'stack', 'spans without length at one time are all kept')
def _():
    put('a.json', {'traceEvents': [x('build', 10, 5), x('Identifying work', 12, 0), x('Identifying work', 12, 0), x('run', 12, 2)]})
    for source in ('a.json', converted('a.json', 'a.pftrace')):
        equal(durations(source), {'build': [5], 'Identifying work': [0, 0], 'run': [2]})


@case('google/perfetto#140', 'track', 'a counter on one of two threads')
def _():
    put('a.json', {'traceEvents': [x('test', 1, 1000, cat='fee'), x('test', 1, 1000, cat='fee', tid=2), {'pid': 1, 'tid': 2, 'name': 'counter', 'ts': 5, 'ph': 'C', 'args': {'value': 4}}]})
    for source in ('a.json', converted('a.json', 'a.pftrace')):
        equal([list(e['args'].values()) for e in dump(source) if e['kind'] == 'counter'], [[4]])
        equal(durations(source), {'test': [1000, 1000]})


@case('flutter-team-archive/engine#17918', 'async', 'lag is known only at its end, so events are not in the order of time')
def _():
    base = {'cat': 'Embedder', 'pid': 5, 'tid': 9}
    put('a.json', {'traceEvents': [{**base, 'name': 'Frame', 'ph': 'B', 'ts': 100}, {**base, 'name': 'Frame', 'ph': 'E', 'ts': 130}, {**base, 'name': 'SceneDisplayLag', 'ph': 'b', 'id': '1f', 'ts': 116},
                                   {**base, 'name': 'SceneDisplayLag', 'ph': 'e', 'id': '1f', 'ts': 132, 'args': {'vsync_transitions_missed': '1'}}]})
    for source in ('a.json', converted('a.json', 'a.pftrace')):
        equal(durations(source), {'Frame': [30], 'SceneDisplayLag': [16]})


def nccl():
    """Returns output in the form of NCCL's example of a profiler plugin: ids are unique within a category only, and a missing
    end has the time 0."""
    base = {'pid': 75087, 'tid': 1}
    def pair(name, cat, i, start, stop, **args):
        return [{'name': name, 'cat': cat, 'ph': 'b', 'id': i, 'ts': start, 'args': args, **base}, {'name': name, 'cat': cat, 'ph': 'e', 'id': i, 'ts': stop, **base}]
    coll = pair('AllReduce', 'COLL', 0, 337378.026001, 339999.5, SeqNum=0, CommHash=17093776592125785438, Rank=3, Count=33554432, Datatype='ncclFloat32', Algorithm='RING', Protocol='SIMPLE', nChannels=24)
    channels = pair('KernelCh', 'GPU', 0, 339964.75, 339967.25, Channel=0, StartGpuClk=1767766829233827840, StopGpuClk=1767766829235279872)
    channels += pair('KernelCh', 'GPU', 1, 339965.0, 0.0, Channel=1, StartGpuClk=1767766829233827840, StopGpuClk=0)
    return '[\n' + ''.join(json.dumps(e) + ',\n' for e in coll[:1] + channels + coll[1:])


@case('NVIDIA/nccl#1973', 'async', "NCCL's profiler plugin: an end that never came is time 0")
def _():
    put('ncclProfiler.json', nccl())
    equal(durations('ncclProfiler.json')['AllReduce'], [2621.473999])
    equal(top('ncclProfiler.json', '--name', 'KernelCh'), {'KernelCh': 2500})  # the other never ended
    has(said('info', 'ncclProfiler.json'), r'time +2\.621 ms long')


@case('NVIDIA/nccl#1747', 'comm', 'how long collectives took, by that plugin')
def _():
    put('ncclProfiler.json', nccl())
    equal(top('ncclProfiler.json', '--kind', 'collective'), {'AllReduce': 2621474})


@case('NVIDIA/nccl#1961', 'async', 'calls and launches of that plugin, whose begins have no time')
def _():
    base = {'pid': 93, 'tid': 1}
    def pair(name, cat, i, start, stop):
        return [{'name': name, 'cat': cat, 'ph': ph, 'id': i, 'ts': ts, **base} for ph, ts in (('b', start), ('e', stop))]
    events = pair('Group API', 'GROUP_API', 0, 1467846.5, 1829552) + [e for i in (0, 1) for e in pair('KernelLaunch', 'KERNEL_LAUNCH', i, 0, 1804044.25 + 100 * i)]
    events += pair('Send', 'P2P_API', 0, 0, 1828552) + pair('AllReduce', 'COLL_API', 0, 0, 1828560) + pair('main', 'USER', 0, 0, 1830000)
    put('a.json', '[\n' + ''.join(json.dumps(e) + ',\n' for e in events if e['cat'] != 'USER') + '{}]')
    equal(durations('a.json'), {'Group API': [361705.5], 'KernelLaunch': [0, 0], 'Send': [0], 'AllReduce': [0]})
    has(said('info', 'a.json'), r'time +361\.705 ms long, from 1\.468 s', r'spans whose start is unknown: shown at their end, without a duration \(4 times\)')
    again = json.load(open(converted('a.json', 'b.json')))['traceEvents']
    equal([float(e['ts']) for e in again if e.get('cat') == 'KERNEL_LAUNCH'], [0, 1804044.25, 0, 1804144.25])
    put('c.json', events)  # a begin at 0 of another category is a time
    equal(durations('c.json')['main'], [1830000])


# ---- Perfetto ----

@case('google/perfetto#43', 'perfetto', 'files that cat joined: sequences and tracks of one number')
def _():
    def one(pid, name, ts):
        first = packet(number(10, 1), number(13, 1), message(12, message(2, number(1, 1) + message(2, name.encode()))))
        begin = packet(number(8, ts), number(10, 1), number(13, 2), message(11, number(9, 1) + number(11, pid) + number(10, 1)))
        return first + track(pid, pid=pid, tid=pid, thread='clang') + begin + slice_event(ts + 500, 2, pid)
    put('all.pftrace', one(70, 'Source a.c', 1000) + one(71, 'Source b.c', 1200))
    equal(durations('all.pftrace'), {'Source a.c': [.5], 'Source b.c': [.5]})


@case('google/perfetto#708', 'perfetto', 'slices of a synthetic trace are in the JSON')
def _():
    put('a.pftrace', track(894893984, pid=1234) + track(49083589894, pid=1234, tid=5678, thread='Main Thread') + slice_event(200, 1, 49083589894, 'My special parent') + slice_event(250, 1, 49083589894, 'My special child')
        + slice_event(285, 2, 49083589894) + slice_event(300, 2, 49083589894))
    events = json.load(open(converted('a.pftrace', 'a.json')))['traceEvents']
    equal(sorted(e['name'] for e in events if e['ph'] in 'XB'), ['My special child', 'My special parent'])
    equal(durations('a.json'), {'My special parent': [.1], 'My special child': [.035]})


@case('google/perfetto#803', 'perfetto', 'counters of the SDK are in the JSON')
def _():
    counter = packet(message(60, number(1, 99) + message(2, b'Framerate') + number(5, 1) + message(8, b'')), number(10, 1))
    def sample(ts, value):
        return packet(number(8, ts), number(10, 1), message(11, number(9, 4) + number(11, 99) + number(30, value)))
    put('a.pftrace', track(1, pid=5) + counter + sample(1000, 120) + sample(2000, 60))
    events = [e for e in json.load(open(converted('a.pftrace', 'a.json')))['traceEvents'] if e.get('ph') == 'C']
    equal([(e['name'], list(e['args'].values())) for e in events], [('Framerate', [120]), ('Framerate', [60])])


# ---- steps, ranks and files ----

@case('NVIDIA-NeMo/Megatron-Bridge#5642', 'step', 'ranges training_step_N around iterations')
def _():
    put('a.json', {'traceEvents': [e for i in (11, 12, 13) for e in (x(f'training_step_{i}', 1000 * i, 900, cat='user_annotation'), x('cudaLaunchKernel', 1000 * i + 5, 5, cat='cuda_runtime', args={'correlation': i}),
                                                                     kernel('k', 1000 * i + 100, i, correlation=i))]})
    equal(top('a.json', '--by', 'step', '--kind', 'kernel'), {str(i): 1000 * i for i in (11, 12, 13)})


def merged_by_sglang():
    """Returns the events of two ranks, labelled as by SGLang's merger."""
    return {'traceEvents': [{**e, 'pid': f'[TP{r:02d}-DP00-PP00-EP00] {p}', 'tid': t} for r in (0, 1) for e, p, t in (
        (x('aten::mm', 0, 50, cat='cpu_op'), 83, 83), (kernel('gemm', 20, 30 + r), 0, 7))], 'deviceProperties': []}


@case('sgl-project/sglang#11413', 'rank', "the output of SGLang's own merger: rows of ranks are told apart")
def _():
    put('merged-1769071195.6.trace.json.gz', gzip.compress(json.dumps(merged_by_sglang()).encode()))
    equal(sorted(d['busy_ns'] for d in devices('merged-1769071195.6.trace.json.gz')), [30000, 31000])


@case('sgl-project/sglang#17568', 'rank', 'a folder with the traces of the ranks and what SGLang merged of them')
def _():
    for r in (0, 1):
        put(f'prof/1769071195.6-TP-{r}-DP-0-PP-0-EP-0.trace.json.gz', gzip.compress(json.dumps({'traceEvents': [x('aten::mm', 0, 50, cat='cpu_op', pid=83, tid=83), kernel('gemm', 20, 30 + r)]}).encode()))
    put('prof/merged-1769071195.6.trace.json.gz', gzip.compress(json.dumps(merged_by_sglang()).encode()))
    equal(run('merge', 'prof', '-o', 'm.json').returncode, 0)
    equal(durations('m.json')['gemm'], [30, 31])


def flows_between_ranks(source):
    """Returns the arrows of a Chrome JSON file as (rank of the start, rank of the end, ts of the start, ts of the end)."""
    points = {}
    for e in json.load(open(source))['traceEvents']:
        if e['ph'] in 'sf':
            points.setdefault((e['name'], e['id']), {}).setdefault(e['ph'], []).append((int(re.match(r'\[TP(\d+)', e['pid'])[1]), e['ts']))
    return sorted((*p['s'][0], *p['f'][0]) for p in points.values() if len(p.get('s', ())) == len(p.get('f', ())) == 1)


@case('sgl-project/sglang#11413', 'flow', 'flow ids that every rank uses do not join the ranks')
def _():
    def arrow(name, ident, start, end, ts):
        return [{'ph': ph, 'cat': name, 'name': name, 'id': ident, 'pid': f'[TP{r:02d}] {pid}', 'tid': 1, 'ts': ts + 5 * (ph == 'f'), 'bp': 'e'} for ph, r, pid in (('s', start, 83), ('f', end, end))]
    events = [{**x('launch' if pid > 9 else 'gemm', 10 * i + (pid < 9) * 5 + r, 4), 'pid': f'[TP{r:02d}] {pid}'} for r in range(3) for pid in (83, r) for i in range(5)]
    own = [(r, r, 10 * i + r + 1) for r in range(3) for i in range(4)]
    events += [e for n, (a, b, ts) in enumerate(own) for e in arrow('ac2g', n % 4, a, b, ts)]
    events += arrow('ac2g', 90, 1, 1, 41)[:1] + arrow('ac2g', 90, 2, 2, 42)[1:] + arrow('send', 0, 0, 1, 1) + arrow('send', 1, 2, 0, 2)  # 90: half of it in each rank
    put('merged.json', {'traceEvents': events})
    right = sorted([(a, ts, b, ts + 5) for a, b, ts in own] + [(0, 1, 1, 6), (2, 2, 0, 7)])
    has(said('info', 'merged.json'), 'flows whose id another rank uses, too: given separate ids')
    equal(flows_between_ranks(converted('merged.json', 'again.json')), right)
    equal(len(answers('again.json', ARROWS)), len(right))


@case('sgl-project/sglang#11413', 'rank', 'list shows all ranks of a merged file, and never only the first')
def _():
    put('a/merged.json', {'traceEvents': [{**x('w', r, 5), 'pid': f'[TP{r:02d}] 83'} for r in (0, 1, 2, 5)]})
    for r in (0, 1):
        put(f'r{r}.json', {'distributedInfo': {'rank': r, 'world_size': 2}, 'traceEvents': [x('w', r, 5)]})
    os.mkdir('b')
    equal(run('merge', 'r0.json', 'r1.json', '-o', 'b/m.json').returncode, 0)
    for folder, right in (('a', '0-2, 5'), ('b', '0-1')):
        row, = json.loads(run('list', folder, '--deep', '--json').stdout)['files']
        equal((row.get('rank'), row['ranks']), (None, right))
        assert 'rank' not in json.loads(run('list', folder, '--json').stdout)['files'][0]
        has(run('list', folder, '--deep').stdout, right)


@case('meta-pytorch/tlparse#123', 'rank', 'events of the compiler, a folder a rank, all with process 0')
def _():
    for r in (0, 1):
        base = {'cat': 'dynamo_timed', 'tid': 0, 'pid': 0, 'args': {'compile_id': '0/0'}}
        put(f'out/rank_{r}/chromium_events.json', [{**base, 'name': n, 'ph': ph, 'ts': 1752700000000000 + ts} for n, ph, ts in (
            ('dynamo', 'B', 0), ('inductor_compile', 'B', 100), ('inductor_compile', 'E', 900), ('dynamo', 'E', 1000 + r))])
        put(f'out/rank_{r}/compile_directory.json', {'0/0': {'artifacts': []}})
    equal(ranks('out'), [0, 1])
    equal(top('out/rank_0/chromium_events.json', '--by', 'phase', '--name', 'dynamo'), {'compile': 1000000})


@case('pytorch/kineto#1013', 'json', 'the id of a trace stays with it')
def _():
    put('a.json', {'schemaVersion': 1, 'trace_id': 'DB6AD80A3A384D9CAB8E9D7D8D802327', 'traceEvents': [x('a', 0, 5)]})
    equal(json.load(open(converted(converted('a.json', 'a.pftrace'), 'b.json')))['trace_id'], 'DB6AD80A3A384D9CAB8E9D7D8D802327')


@case('intel/torch-xpu-ops#2247', 'device', 'a header without properties of devices: still an XPU')
def _():
    for vendor, family in (('xpu', 'XPU'), ('mtia', 'MTIA'), ('mlu', 'MLU'), ('musa', 'MUSA'), ('cuda', 'GPU'), ('hip', 'GPU')):
        put('a.json', {'schemaVersion': 1, 'deviceProperties': [], 'record_shapes': 1, 'displayTimeUnit': 'ms', 'baseTimeNanoseconds': 1759300074000000000, 'traceEvents': [
            x('aten::mm', 2493828094901.425, 20, cat='cpu_op'), x('launch', 2493828094905.425, 3, cat=f'{vendor}_runtime', args={'correlation': 4}),
            kernel('gemm_kernel', 2493828094950.5, 12.5, correlation=4)]})
        equal([(d['device'], d['busy_ns'], d['linked']) for d in devices('a.json')], [(f'{family} 0', 12500, 1)])


@case('tensorflow/tensorflow#60060', 'container', 'a trace.json.gz made of the xplane.pb of a run')
def _():
    put('a.json', [x('MatMul', 0, 5.5)])
    os.makedirs('logs/plugins/profile/2022_11_29_08_32_10')
    converted('a.json', 'logs/plugins/profile/2022_11_29_08_32_10/host1.xplane.pb')
    equal(run('extract', 'logs', '-o', 'host1.trace.json.gz').returncode, 0)
    equal(durations('host1.trace.json.gz'), {'MatMul': [5.5]})


@case('evmar/n2#48', 'track', "n2's trace: jobs of one row overlap, and the array has no end")
def _():
    put('trace.json', '[\n' + ''.join(json.dumps({'pid': 0, 'tid': 0, 'name': n, 'ts': ts, 'ph': 'X', 'dur': d}) + ',\n' for n, ts, d in (('loader', 0, 20), ('compile a', 20, 50), ('compile b', 30, 60))))
    for source in ('trace.json', converted('trace.json', 'a.pftrace')):
        equal(durations(source), {'loader': [20], 'compile a': [50], 'compile b': [60]})


# ---- what took the time ----

@case('microsoft/onnxruntime#1297', 'question', 'time by type of node of ONNX Runtime')
def _():
    nodes = (('_fence_before', 'Conv', 96802, 1), ('_kernel_time', 'Conv', 96807, 12944), ('_fence_after', 'Conv', 109756, 1), ('_kernel_time', 'BatchNormalization', 109763, 9342))
    put('onnxruntime_profile.json', '[\n' + ',\n'.join('{"cat" : "%s","pid" :7838,"tid" :7838,"dur" :%d,"ts" :%d,"ph" : "X","name" :"%s","args" : {%s}}' % v for v in
        [('Session', 30779, 13, 'model_loading_uri', '')] + [('Node', d, ts, f'conv1{n}', f'"op_name" : "{op}"') for n, op, ts, d in nodes]) + '\n]\n')
    equal(top('onnxruntime_profile.json', '--by', 'arg.op_name', '--name', '*_kernel_time'), {'Conv': 12944000, 'BatchNormalization': 9342000})
    equal(devices('onnxruntime_profile.json'), [])


@case('microsoft/onnxruntime-inference-examples#501', 'device', 'kernels of CUDA in the profile of ONNX Runtime')
def _():
    put('onnxruntime_profile.json', [x('conv1_kernel_time', 100, 80, cat='Node', pid=7838, tid=7838, args={'op_name': 'Conv', 'provider': 'CUDAExecutionProvider'}),
        x('cudnn::winograd', 130, 20, cat='Kernel', pid=-1, tid=-1, args={'stream': '0x5f', 'grid_x': '64', 'block_x': '128', 'correlation_id': '7', 'op_name': 'Conv', 'parent_name': 'conv1_kernel_time'}),
        x('Memcpy HtoD', 110, 9, cat='Kernel', pid=-1, tid=-1, args={'stream': '0x5f', 'correlation_id': '6'})])
    equal([d['busy_ns'] for d in devices('onnxruntime_profile.json')], [29000])


@case('facebookresearch/HolisticTraceAnalysis#122', 'comm', 'AllReduce of NCCL 2.19 is no computation')
def _():
    put('a.json', {'traceEvents': [kernel('cudnn_infer_volta_scudnn_128x64_relu_medium_nn_v1', 0, 4594), kernel('ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long, ncclWork*)', 5000, 137849)]})
    d, = devices('a.json')
    equal((d['compute_ns'], d['communication_ns']), (4594000, 137849000))


@case('NVIDIA/nccl#714', 'comm', 'the name of the kernel is SendRecv, its args say what it did')
def _():
    put('a.json', {'traceEvents': [kernel('ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)', 0, 80, **{
        'Collective name': 'allreduce', 'In msg nelems': 1048576, 'Out msg nelems': 1048576, 'Group size': 8, 'dtype': 'Float', 'Process Group Name': '0'})]})
    equal(answers('a.json', 'select collective, group_size from collective'), ['allreduce,8'])
    has(said('report', 'a.json'), r'(?i)allreduce')


@case('ROCm/roctracer#101', 'comm', 'kernels of RCCL of one name, told apart by what launched them')
def _():
    events = []
    for i, op in enumerate(('allreduce_', '_allgather_base_')):
        ts = 200 * i
        events += [x(f'c10d::{op}', ts, 60, cat='cpu_op'), x('record_param_comms', ts + 5, 50, cat='cpu_op'), x('hipExtLaunchKernel', ts + 10, 5, cat='cuda_runtime', args={'correlation': i + 1}),
                   kernel('ncclDevKernel_Generic(ncclDevComm*, channelMasks, ncclWork*)', ts + 80, 30 + i, correlation=i + 1)]
    put('a.json', {'traceEvents': events})
    for op, ns in (('allreduce_', 30000), ('_allgather_base_', 31000)):
        equal(sum(top('a.json', '--kind', 'collective', '--launched-by', f'c10d::{op}').values()), ns)


@case('AMD-AGI/Hyperloom#1116', 'question', 'durations that cannot be: work of a stream that ends after the next begins')
def _():
    put('a.json', {'traceEvents': [kernel('Memcpy DtoH (Device -> Pinned)', 0, 3150000) | {'cat': 'gpu_memcpy'}] + [kernel('gemm', 100 * i, 90) for i in range(1, 40)]})
    has(said('check', 'a.json') + said('report', 'a.json'), r'(?i)overlap')


@case('pytorch/torchtitan#2408', 'question', 'how much communication is hidden behind compute, on several streams')
def _():
    nccl_kernel = 'ncclDevKernel_AllGather_RING_LL(ncclDevComm*)'
    put('a.json', {'traceEvents': [kernel('gemm', 0, 100), {**kernel('flash_fwd', 50, 100), 'tid': 8, 'args': {'device': 0, 'stream': 8}}] + [{**kernel(nccl_kernel, ts, 60), 'tid': 9, 'args': {'device': 0, 'stream': 9}} for ts in (20, 130)]})
    d, = devices('a.json')
    equal((d['compute_ns'], d['communication_ns'], d['busy_ns'], d['overlap_ns'], d['exposed_communication_ns']), (150000, 120000, 190000, 80000, 40000))


@case('meta-pytorch/segment-anything-fast#74', 'question', 'kernels below the last timed region, by SQL with views')
def _():
    put('a.json', {'traceEvents': [e for i in (0, 1) for e in (x('timed region', 1000 * i, 500, cat='user_annotation'), kernel('gemm', 1000 * i + 100, 50 + i), kernel('softmax', 1000 * i + 200, 20))]})
    query = ('DROP VIEW IF EXISTS lastregion; CREATE VIEW lastregion AS SELECT MAX(ts) AS Start, MAX(ts+dur) AS End FROM slice WHERE name="timed region"; DROP VIEW IF EXISTS resulttable; '
             'CREATE VIEW resulttable AS SELECT SUM(dur) AS Sort, name FROM slice WHERE (ts>=(SELECT Start FROM lastregion) AND ts<=(SELECT End FROM lastregion)) AND category="kernel" GROUP BY name ORDER BY Sort DESC; '
             'SELECT name, Sort FROM resulttable')
    p = run('sql', 'a.json', '--csv', '-e', query)
    equal((p.returncode, p.stdout.replace('"', '').splitlines()[-2:]), (0, ['gemm,51000', 'softmax,20000']))


@case('mlcommons/chakra#220', 'question', 'gaps between the outermost operators of a thread')
def _():
    put('a.json', {'traceEvents': [x('aten::linear', 0, 50, cat='cpu_op'), x('aten::addmm', 5, 40, cat='cpu_op'), x('aten::relu', 57, 10, cat='cpu_op'), x('aten::mul', 70, 5, cat='cpu_op')]})
    equal(answers('a.json', 'select name, ts - lag(ts + dur) over (order by ts) as gap from thread_slice where depth = 0'), ['aten::linear,', 'aten::relu,7000', 'aten::mul,3000'])


# ---- databases of Nsight Systems ----

def nsys(name):
    with sqlite3.connect(name) as db:
        db.executescript('''
            CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
            INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'gemm'), (3, 'void gemm<float>(float*)');
            CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, eventClass INT, globalTid INT, correlationId INT, nameId INT, returnValue INT);
            CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT, globalPid INT, demangledName INT, shortName INT, graphNodeId INT);
            CREATE TABLE NVTX_EVENTS(start INT, end INT, eventType INT, text TEXT, globalTid INT, textId INT, domainId INT, color INT);''')
        tid = 0x1000000 * 0x1000000 + 0x1000000 * 321 + 321
        for i, (begin, dur) in enumerate(((5000, 700), (15000, 900))):
            db.execute('INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 0, ?, ?, 1, 0)', (begin, begin + 100, tid, i + 1))
            db.execute('INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 1, 7, ?, ?, 3, 2, NULL)', (begin + 30000, begin + 30000 + dur, i + 1, tid - 321))
            db.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, ?, NULL, 0, NULL)", (begin - 500, begin + 1000, f'layer{i}', tid))
    return name


@case('Oneflow-Inc/oneflow#10370', 'database', 'the export of Nsight Systems as JSON for the browser')
def _():
    nsys('report1.sqlite')
    found = durations(converted('report1.sqlite', 'a.json'))
    equal([v for n, v in found.items() if 'gemm' in n], [[.7, .9]])
    equal(found['layer0'], [1.5])


@case('chenyu-jiang/nsys2json#1', 'database', 'ranges of NVTX by the kernels that they launched')
def _():
    nsys('report1.sqlite')
    for i, ns in ((0, 700), (1, 900)):
        equal(sum(top('report1.sqlite', '--kind', 'kernel', '--launched-by', f'layer{i}').values()), ns)


# ---- files of other programs ----

@case('facebookresearch/HolisticTraceAnalysis#233', 'stranger', 'an execution trace of PyTorch in place of a profile')
def _():
    put('observer_0.json', {'schema': '1.0.2-chakra.0.0.4', 'pid': 91, 'time': '2025-03-13 10:00:00', 'start_ts': 1741860000, 'nodes': [
        {'id': 1, 'name': '[pytorch|profiler|execution_trace|process]', 'ctrl_deps': 1, 'inputs': {'values': [], 'shapes': [], 'types': []}, 'outputs': {'values': [], 'shapes': [], 'types': []}, 'attrs': []}]})
    has(said('info', 'observer_0.json'), r'(?i)execution trace')


@case('morluto/flameox#219', 'stranger', "tables that xctrace exported of Apple's Instruments")
def _():
    put('gpu.xml', '<?xml version="1.0"?>\n<trace-query-result>\n<node xpath=\'//trace-toc[1]/run[1]/data[1]/table[7]\'><schema name="metal-gpu-intervals"><col><mnemonic>start</mnemonic></col></schema>'
        '<row><start-time id="1" fmt="00:00.512">512345678</start-time></row></node></trace-query-result>\n')
    has(said('info', 'gpu.xml'), r'(?i)xctrace|Instruments')
    put('toc.xml', '<?xml version="1.0"?>\n<trace-toc>\n\t<run number="1">\n')
    has(said('info', 'toc.xml'), r'(?i)xctrace|Instruments')
    put('error.xml', '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code></Error>\n')
    assert 'xctrace' not in said('info', 'error.xml')


@case('NVIDIA/nccl#739', 'stranger', 'the report of Nsight Systems itself')
def _():
    put('report1.nsys-rep', b'NVIDIA Tegra Profiler Report\x00' + bytes(200))
    has(said('info', 'report1.nsys-rep'), r'nsys export')


# ---- command lines that people type ----

typing('google/perfetto#6967', 'util merge T.json U.json -o m.json', r'\bmerge\b')
typing('lightseekorg/tokenspeed#662', 'merge-traces T.json U.json -o m.json', r'\bmerge\b')
typing('jax-ml/jax#10964', 'view T.json --create-perfetto-link', r'(?i)default|no option|view')
typing('pytorch/torchtitan#2418', 'report T.json --enable-overlap-analysis', r'(?i)always|default|no option')
typing('NVIDIA/nccl#1747', 'stats T.json --report cuda_gpu_kern_sum', r'\b(top|report)\b')
typing('karpathy/autoresearch#118', 'top T.json --markdown', r'--csv|--json')
typing('dotnet/diagnostics#447', 'convert T.json --format Chromium -o o.json', r'\bjson\b')
typing('hpcgroup/pipit#121', 'export --type sqlite T.json', r'\bsql\b.*--db|--db')

# ---- a second round, collected after the first was fixed ----

@case('pytorch/kineto#782', 'comm', 'communication of PyTorch 2.0, whose External id equals the correlation')
def _():
    put('a.json', {'traceEvents': [x('DistributedDataParallel.forward', 0, 50, cat='user_annotation'), kernel('gemm', 10, 30, **{'External id': 5, 'correlation': 5}),
        {**kernel('ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)', 30, 40, **{'External id': 9, 'correlation': 9}), 'tid': 20}]})
    d, = devices('a.json')
    equal((d['communication_ns'], d['overlap_ns'], d['exposed_communication_ns']), (40000, 10000, 30000))


@case('pytorch/kineto#640', 'phase', 'the forward pass of DDP is an annotation')
def _():
    put('a.json', {'traceEvents': [x('DistributedDataParallel.forward', 0, 50, cat='user_annotation', args={'External id': 9372, 'Ev Idx': 25561}), x('aten::linear', 5, 20, cat='cpu_op'),
                                   x('cudaLaunchKernel', 10, 5, cat='cuda_runtime', args={'correlation': 1}), kernel('gemm', 100, 33, correlation=1)]})
    equal(top('a.json', '--by', 'phase', '--kind', 'kernel'), {'forward': 33000})


@case('pytorch/kineto#679', 'device', 'categories with capitals before PyTorch 1.13, and small ones since')
def _():
    for cats in (('Kernel', 'Runtime', 'Memcpy', 'Operator'), ('kernel', 'cuda_runtime', 'gpu_memcpy', 'cpu_op')):
        put('a.json', {'traceEvents': [x('aten::mm', 0, 40, cat=cats[3]), x('cudaLaunchKernel', 5, 5, cat=cats[1], args={'correlation': 1}), kernel('gemm', 60, 33, correlation=1) | {'cat': cats[0]},
                                       kernel('Memcpy HtoD (Pageable -> Device)', 100, 7) | {'cat': cats[2]}]})
        equal([(d['kernels'], d['busy_ns'], d['linked'], d['runtime_calls'], d['host_ops']) for d in devices('a.json')], [(1, 40000, 1, 1, 1)])


@case('uw-syfi/piper#10', 'question', 'only the passes of a timeline of Ray, in which tasks overlap')
def _():
    who = {'pid': '10.0.0.1', 'tid': 'worker:c1667f12', 'cat': 'task'}
    put('timeline.json', [x('task::Stage.forward', 0, 50, **who), x('task:deserialize_arguments', 1, 3, **who), x('task::Stage.backward', 40, 60, **who), x('task::Stage.update', 100, 5, **who)])
    equal(run('filter', 'timeline.json', '--regex', r'\.(forward|backward|update)$', '-o', 'f.json').returncode, 0)
    equal(durations(converted('f.json', 'f.pftrace')), {'task::Stage.forward': [50], 'task::Stage.backward': [60], 'task::Stage.update': [5]})


@case('google/perfetto#940', 'perfetto', 'a track that is described after its use, and a thread that is the child of a track')
def _():
    thread = message(60, number(1, 77) + message(2, b'main') + message(4, number(1, 1176181) + number(2, 1176190)) + number(5, 55))
    put('a.pftrace', slice_event(1732192842289372112, 1, 77, 'work') + slice_event(1732192842414728148, 2, 77) + packet(message(60, number(1, 55) + message(3, number(1, 1176181))), number(10, 1))
        + packet(thread, number(10, 1)))
    for source in ('a.pftrace', converted('a.pftrace', 'a.json')):
        equal(durations(source), {'work': [125356.036]})
        equal([(e['process'].split()[-1], e['thread']) for e in dump(source)], [('1176181', 'main 1176190')])


@case('ROCm/rocprofiler#152', 'device', 'one kernel on each of four GPUs, by rocprof: lines begin with commas')
def _():
    lines = ['{ "traceEvents":[{}']
    lines += [f'{{"args":{{"name":"{i + 2} GPU{i}"}},"ph":"M","pid":{i + 6},"name":"process_name","sort_index":{i + 6}}}' for i in range(4)]
    lines += [f'{{"ph":"X","name":"k{i + 1}()","pid":{i + 6},"tid":0,"ts":"{900 + 10 * i}","dur":"{5 + i}","args":{{"BeginNs":"{900000 + 10000 * i}","EndNs":"{905000 + 11000 * i}","dev-id":"{i}","queue-id":"0","Name":"k{i + 1}()"}}}}' for i in range(4)]
    put('results.json', '\n,'.join(lines) + '\n]}\n')
    equal(sorted((d['kernels'], d['busy_ns']) for d in devices('results.json')), [(1, 5000), (1, 6000), (1, 7000), (1, 8000)])


@case('facebookresearch/HolisticTraceAnalysis#223', 'question', 'peak memory by the events of memory in a trace')
def _():
    put('a.json', {'traceEvents': [{'ph': 'i', 'cat': 'cpu_instant_event', 's': 't', 'name': '[memory]', 'pid': 1, 'tid': 1, 'ts': 10 * i, 'args': {
        'Total Reserved': 82514542592, 'Total Allocated': total, 'Bytes': by, 'Addr': 128803317743616, 'Device Id': 0, 'Device Type': 1, 'Ev Idx': i}} for i, (total, by) in enumerate((
            (52655, 52655), (61060382720, 8405385216), (52654997504, -8405385216)))]})
    m, = json.loads(run('report', '--json', 'a.json').stdout)['memory']
    assert 61060382720 in m.values(), m


@case('tensorflow/tensorflow#3268', 'track', "memory in the timeline of TensorFlow 1: counters, and snapshots of tensors")
def _():
    put('timeline', {'traceEvents': [{'ph': 'M', 'name': 'process_name', 'pid': 0, 'args': {'name': 'Allocators'}}, {'ph': 'N', 'cat': 'Tensor', 'name': 'grad', 'pid': 1, 'tid': 0, 'id': 7, 'ts': 10},
        {'ph': 'O', 'cat': 'Tensor', 'name': 'grad', 'pid': 1, 'tid': 0, 'id': 7, 'ts': 11, 'args': {'snapshot': {'tensor_description': 'dtype: DT_FLOAT'}}}, {'ph': 'D', 'cat': 'Tensor', 'name': 'grad', 'pid': 1, 'tid': 0, 'id': 7, 'ts': 20}]
        + [{'ph': 'C', 'cat': 'Memory', 'name': 'gpu_bfc', 'pid': 0, 'ts': ts, 'args': {'gpu_bfc': v}} for ts, v in ((10, 256), (20, 0))]})
    equal([list(e['args'].values()) for e in dump('timeline') if e['kind'] == 'counter'], [[256], [0]])
    equal(sorted(e['ph'] for e in json.load(open(converted('timeline', 'b.json')))['traceEvents']), ['C', 'C', 'D', 'M', 'N', 'O'])


def tsc(folder, n=''):
    put(f'{folder}/trace{n}.json', '[\n' + ',\n'.join(json.dumps(e) for e in [
        {'name': 'process_name', 'args': {'name': 'tsc'}, 'cat': '__metadata', 'ph': 'M', 'ts': 1, 'pid': 1, 'tid': 1}, {'name': 'thread_name', 'args': {'name': 'Main'}, 'cat': '__metadata', 'ph': 'M', 'ts': 1, 'pid': 1, 'tid': 1},
        {'name': 'TracingStartedInBrowser', 'cat': 'disabled-by-default-devtools.timeline', 'ph': 'M', 'ts': 1, 'pid': 1, 'tid': 1},
        {'pid': 1, 'tid': 1, 'ph': 'B', 'cat': 'program', 'ts': 100.5, 'name': 'createProgram', 'args': {'configFilePath': 'tsconfig.json'}},
        {'pid': 1, 'tid': 1, 'ph': 'X', 'cat': 'check', 'ts': 200.0, 'name': 'checkSourceFile', 'dur': 50.25, 'args': {'path': '/src/a.ts'}},
        {'pid': 1, 'tid': 1, 'ph': 'X', 'cat': 'check', 'ts': 260.0, 'name': 'checkSourceFile', 'dur': 9.75, 'args': {'path': '/src/b.ts'}},
        {'pid': 1, 'tid': 1, 'ph': 'E', 'cat': 'program', 'ts': 300.5, 'name': 'createProgram', 'args': {'configFilePath': 'tsconfig.json'}}]) + '\n]\n')
    put(f'{folder}/types{n}.json', '[' + ',\n'.join(json.dumps({'id': i, 'intrinsicName': t, 'recursionId': i, 'flags': ['Any']}) for i, t in ((1, 'any'), (2, 'string'))) + ']\n')


@case('microsoft/TypeScript#40063', 'question', 'time by file of tsc --generateTrace, whose folder also has the types')
def _():
    tsc('traceDir')
    equal(top('traceDir', '--by', 'arg.path', '--name', 'checkSourceFile'), {'/src/a.ts': 50250, '/src/b.ts': 9750})


@case('microsoft/typescript-analyze-trace#30', 'container', 'tsc --build: a trace for each project, and a legend')
def _():
    for n in ('.1', '.2'):
        tsc('ts-traces', n)
    put('ts-traces/legend.json', [{'configFilePath': f'/src/{n}/tsconfig.json', 'tracePath': f'ts-traces/trace.{n}.json', 'typesPath': f'ts-traces/types.{n}.json'} for n in (1, 2)])
    equal(run('merge', 'ts-traces', '-o', 'm.json').returncode, 0)
    equal(durations('m.json'), {'createProgram': [200, 200], 'checkSourceFile': [9.75, 9.75, 50.25, 50.25]})


@case('AMD-AGI/TraceLens#599', 'question', 'which rank comes last to collectives, and how long others wait')
def _():
    group = {'Collective name': 'allreduce', 'Process Group Name': '0', 'Process Group Ranks': '[0, 1]', 'Group size': 2, 'In msg nelems': 1024, 'Out msg nelems': 1024, 'dtype': 'Float'}
    for rank in (0, 1):
        put(f'rank{rank}.json', {'distributedInfo': {'rank': rank, 'world_size': 2}, 'baseTimeNanoseconds': 1752800000000000000, 'traceEvents': [
            kernel('ncclDevKernel_AllReduce_Sum_f32_RING_LL', 1000 * i + 100 * rank, 200 - 100 * rank, **group, Seq=i) for i in range(4)]})
    waits = {w['rank']: w for w in json.loads(run('report', '--json', 'rank0.json', 'rank1.json').stdout)['waits']}
    equal([waits[r]['last'] for r in (0, 1)], [0, 4])
    equal(waits[0]['wait_ns'], 400000)


@case('pytorch/kineto#1380', 'device', 'a kernel that starts before its launch ends, by the skew of two clocks')
def _():
    put('a.json', {'traceEvents': [x('cuLaunchKernelEx', 100, 10, cat='cuda_driver', args={'correlation': 5}), kernel('ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)', 99, 30, correlation=5)]})
    d, = devices('a.json')
    equal((d['linked'], d['launch_delay_mean_ns'], d['communication_ns']), (1, 0, 30000))


@case('paulirish/devtools-timeline-model#17', 'question', 'the peak of the JS heap, by instants with nested args')
def _():
    put('profile.json', [{'pid': 1, 'tid': 2, 'ts': 100 + 10 * i, 'ph': 'I', 'cat': 'disabled-by-default-devtools.timeline', 'name': 'UpdateCounters', 's': 't', 'args': {'data': {'documents': 1, 'jsHeapSizeUsed': v}}}
                         for i, v in enumerate((4415680, 17564648, 4400000))])
    equal(answers('profile.json', "select max(extract_arg(arg_set_id, 'args.data.jsHeapSizeUsed')) from slice where name = 'UpdateCounters'"), ['17564648'])


@case('ROCm/aorta#24', 'device', 'traces of rocprofv3 of two processes in one JSON')
def _():
    for i in (0, 1):
        put(f'{1000 + i}_results.pftrace', track(1, pid=1000 + i) + track(10, 'COMPUTE AGENT [4] QUEUE [1] ', 1) + slice_event(3000, 1, 10, f'Cijk_{i}') + slice_event(8000 + i, 2, 10))
    equal(run('merge', '1000_results.pftrace', '1001_results.pftrace', '-o', 'm.json').returncode, 0)
    equal(sorted((d['kernels'], d['busy_ns']) for d in devices('m.json')), [(1, 5000), (1, 5001)])


@case('google/perfetto#458', 'json', 'dumps of memory-infra stay as they are')
def _():
    dump_event = {'pid': 5, 'tid': 7, 'ts': 100, 'ph': 'v', 'cat': 'disabled-by-default-memory-infra', 'name': 'periodic_interval', 'id': '0x1f', 'args': {'dumps': {'level_of_detail': 'light', 'process_totals': {'resident_set_bytes': '8d00'}}}}
    put('a.json', {'traceEvents': [x('task', 90, 20, pid=5, tid=7), dump_event]})
    equal(run('check', 'a.json').returncode, 0)
    equal([e for e in json.load(open(converted('a.json', 'b.json')))['traceEvents'] if e['ph'] == 'v'], [dump_event])


typing('deepspeedai/DeepSpeed#3579', 'report T.json --show-straggler', r'(?i)always|collective|wait')
typing('microsoft/typescript-analyze-trace#30', 'analyze-trace T.json', r'\b(report|top|tree)\b')
typing('facebookresearch/HolisticTraceAnalysis#222', 'top T.json --memory', r'\breport\b')

# ---- a third round, collected after the second was fixed ----

def xla(pid, name, *threads):
    return [{'ph': 'M', 'name': 'process_name', 'pid': pid, 'args': {'name': name}}] + [{'ph': 'M', 'name': 'thread_name', 'pid': pid, 'tid': t, 'args': {'name': n}} for t, n in threads]


@case('pytorch/xla#2748', 'step', 'xp.StepTrace around the steps of PyTorch/XLA')
def _():
    put('host.trace.json', {'traceEvents': xla(701, '/host:CPU') + [e for i in (7, 8, 9) for e in (x('train_mnist', 1000 * i, 900, pid=701, args={'step_num': str(i), '_r': '1'}), x('build_graph', 1000 * i + 10, 100 + i, pid=701))]})
    equal(top('host.trace.json', '--by', 'step', '--name', 'build_graph'), {str(i): 100000 + 1000 * i for i in (7, 8, 9)})


@case('pytorch/xla#3965', 'device', 'rows that a TPU has beside its ops: modules, steps and scopes of names')
def _():
    rows = xla(3, '/device:TPU:0', (1, 'Steps'), (2, 'XLA Modules'), (3, 'XLA Ops'), (4, 'TensorFlow Name Scope'), (5, 'TensorFlow Ops'))
    put('t.trace.json', {'traceEvents': rows + [x('0', 0, 100, pid=3, tid=1), x('SyncTensorsGraph.85', 0, 95, pid=3, tid=2), x('fusion.1', 5, 30, pid=3, tid=3), x('copy.2', 40, 20, pid=3, tid=3),
                                                x('build_graph', 0, 90, pid=3, tid=4), x('MatMul', 5, 30, pid=3, tid=5)]})
    d, = devices('t.trace.json')
    equal((d['busy_ns'], d['work'], d['step']['count']), (50000, 2, 1))


@case('huggingface/accelerate#2883', 'rank', 'the suffix of profile_N.json is the rank')
def _():
    for r in (0, 1, 10):
        put(f'prof/profile_{r}.json', {'traceEvents': [x(f'w{r}', 10, 5)]})
    equal(ranks('prof'), [0, 1, 10])


@case('google/perfetto#686', 'flow', 'ids of flows that differ by a digit connect nothing')
def _():
    put('a.json', {'traceEvents': [x('SenderB', 0, 10, cat='ipc', pid=15903, tid=15904), {'cat': 'ipc', 'pid': 15903, 'tid': 15904, 'ts': 1, 'ph': 's', 'name': 'IPC', 'args': {}, 'id': '8780d404'},
                                   {'cat': 'ipc', 'pid': 15875, 'tid': 15895, 'ts': 1001, 'ph': 'f', 'name': 'IPC', 'args': {}, 'id': '4780d404'}, x('Blergh', 1001, 100, cat='ipc', pid=15875, tid=15895)]})
    equal(answers('a.json', ARROWS), [])
    equal(answers(converted('a.json', 'a.pftrace'), ARROWS), [])


@case('google/trace-viewer#1088', 'flow', 'arrows that start at no span stay in the file')
def _():
    flows = [{'cat': 'flow', 'pid': 1, 'tid': 1, 'ts': 1, 'ph': 's', 'name': 'LatencyInfo', 'id': '0x300000001'}, {'cat': 'flow', 'pid': 1, 'tid': 2, 'ts': 50, 'ph': 'f', 'bp': 'e', 'name': 'LatencyInfo', 'id': '0x300000001'}]
    put('a.json', {'traceEvents': [x('task', 20, 10), x('draw', 40, 20, tid=2)] + flows})
    equal([e for e in json.load(open(converted('a.json', 'b.json')))['traceEvents'] if e['ph'] in 'sf'], flows)


@case('google/perfetto#194', 'perfetto', 'flow ids of packets connect two slices')
def _():
    put('a.pftrace', track(1, pid=5, tid=5) + track(2, pid=5, tid=6) + slice_event(100, 1, 1, 'send', more=bytes([0xf9, 0x02]) + (77).to_bytes(8, 'little')) + slice_event(200, 2, 1)
        + slice_event(300, 1, 2, 'receive', more=bytes([0xf9, 0x02]) + (77).to_bytes(8, 'little')) + slice_event(400, 2, 2))
    for source in ('a.pftrace', converted('a.pftrace', 'a.json')):
        equal(answers(source, ARROWS), ['send,receive'])


@case('rust-lang/measureme#34', 'question', "queries of rustc, as crox writes them")
def _():
    put('chrome_profiler.json', [{'name': n, 'cat': 'Query', 'ph': 'X', 'ts': ts, 'dur': dur, 'pid': 41, 'tid': 1, 'args': {}} for n, ts, dur in (('typeck', 10.25, 30.5), ('mir_built', 12.0, 5.125), ('typeck', 50, 4))]
        + [{'name': 'process_name', 'cat': '', 'ph': 'M', 'ts': 0, 'pid': 41, 'tid': 0, 'args': {'name': 'regex-41: rustc --crate-name regex'}}])
    equal(top('chrome_profiler.json'), {'typeck': 34500, 'mir_built': 5125})
    equal(top('chrome_profiler.json', '--sort', 'self'), {'typeck': 34500, 'mir_built': 5125})


@case('Hirevo/som-rs#41', 'stranger', 'the recording of measureme itself')
def _():
    put('som-trace.mm_profdata', b'MMPD\x09\0\0\0' + bytes(200))
    has(said('info', 'som-trace.mm_profdata'), r'(?i)measureme|crox')


@case('lstalmir/VulkanProfiler#5', 'track', 'frames of Vulkan: threads and queues with texts as ids')
def _():
    def pair(name, cat, tid, begin, end):
        return [{'name': name, 'cat': cat, 'ph': 'B', 'ts': begin, 'pid': 0, 'tid': tid}], [{'name': name, 'cat': cat, 'ph': 'E', 'ts': end, 'pid': 0, 'tid': tid}]
    frame, end = pair('Frame #7', 'Performance', 'VkQueue 0x55aa', 100.5, 200.5)
    command, command_end = pair('VkCommandBuffer 0x77', 'Performance', 'VkQueue 0x55aa', 110, 190)
    submit, submit_end = pair('vkQueueSubmit', 'Performance', 'Thread 4711', 90, 95)
    put('a.json', {'displayTimeUnit': 'ns', 'otherData': {}, 'traceEvents': submit + submit_end + frame + command + command_end + end})
    for source in ('a.json', converted('a.json', 'a.pftrace')):
        equal(durations(source), {'vkQueueSubmit': [5], 'Frame #7': [100], 'VkCommandBuffer 0x77': [80]})
        equal(len({e['thread'] for e in dump(source)}), 2)


@case('argonne-lcf/Megatron-DeepSpeed#20', 'json', "DFTracer's .pfw: an event a line, without commas, and a file a rank")
def _():
    for r in (0, 1):
        put(f'trace-{r}-of-2.pfw.gz', gzip.compress(('[\n' + ''.join(json.dumps({'id': i, 'name': n, 'cat': 'POSIX', 'pid': 100 + r, 'tid': 100 + r, 'ts': 1700000000000000 + 10 * i, 'dur': 3 + i, 'ph': 'X', 'args': {'hhash': 'ab', 'level': 1}}) + '\n'
            for i, n in enumerate(('open64', 'read')))).encode()))
    equal(durations('trace-0-of-2.pfw.gz'), {'open64': [3], 'read': [4]})
    equal(ranks('trace-0-of-2.pfw.gz', 'trace-1-of-2.pfw.gz'), [0, 1])


@case('sgl-project/sglang#1604', 'json', 'bytes that are no UTF-8 in the name of a kernel')
def _():
    put('a.json', b'{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "bad \xff\xfe\x80 name", "pid": 0, "tid": 7, "ts": 1, "dur": 4, "args": {"stream": 7, "device": 0}}, '
        + json.dumps(kernel('gemm', 10, 6)).encode() + b']}')
    equal([(d['kernels'], d['busy_ns']) for d in devices('a.json')], [(2, 10000)])
    json.loads(open(converted('a.json', 'b.json'), encoding='utf-8').read())


@case('tensorflow/tensorboard#6974', 'question', 'HLO ops of JAX on a CPU')
def _():
    put('host.trace.json', {'traceEvents': xla(701, '/host:CPU', (9, 'tf_XLATfrtCpuClient/88')) + [x(n, ts, d, pid=701, tid=9, args={'hlo_op': n, 'hlo_module': 'jit_f'}) for n, ts, d in (('dot.3', 0, 50), ('fusion', 60, 7), ('dot.3', 70, 51))]})
    equal(top('host.trace.json', '--by', 'arg.hlo_op'), {'dot.3': 101000, 'fusion': 7000})
    has(said('report', 'host.trace.json'), r'(?i)no (accelerator|device|GPU)')


typing('rust-lang/measureme#34', 'summarize T.json', r'\b(report|top|info)\b')
typing('google/trace-viewer#1088', 'trace2html T.json -o o.html', r'\b(view|report)\b')
typing('rust-lang/cargo#7311', 'convert T.json -o o.speedscope.json', r'speedscope')

@case('PaddlePaddle/Paddle', 'memory', 'the memory of Paddle: totals of a place after each event')
def _():
    amounts = [('Place(gpu:0)', 2048, 4096), ('Place(cpu)', 512, 512), ('Place(gpu:0)', 3072, 8192), ('Place(gpu:0)', 1024, 8192), ('Place(gpu:1)', 7, 9)]
    put('a.json', {'schemaVersion': '1.0.1', 'span_indx': '0', 'traceEvents': [x('ProfileStep#1[1.000 ms]', 0, 1000, cat='ProfileStep')] + [
        {'name': '[memory]', 'pid': 1, 'tid': '1(C++)', 'ts': 10 * i, 'ph': 'i', 'cat': 'Allocate', 'args': {
            'place': place, 'addr': '140209', 'increase_bytes': 64, 'current_allocated': now, 'current_reserved': reserved, 'peak_allocated': 99999, 'peak_reserved': 99999}}
        for i, (place, now, reserved) in enumerate(amounts)]})
    got = {m['allocator']: (m['peak_allocated_bytes'], m['peak_reserved_bytes']) for m in json.loads(run('report', '--json', 'a.json').stdout)['memory']}
    equal(got, {name: tuple(max(a[k] for a in amounts if a[0] == place) for k in (1, 2)) for name, place in (('GPU 0', 'Place(gpu:0)'), ('CPU', 'Place(cpu)'), ('GPU 1', 'Place(gpu:1)'))})
    assert 'Kineto' not in run('report', 'a.json').stdout + run('info', 'a.json').stdout  # its schemaVersion is a text


@case('jlfwong/speedscope', 'stack', 'the Profile event of a worker follows its chunks')
def _():
    def event(name, ident, tid, ts, data):
        return {'name': name, 'ph': 'P', 'id': ident, 'pid': 5, 'tid': tid, 'ts': ts, 'cat': 'disabled-by-default-v8.cpu_profiler', 'args': {'data': data}}
    nodes = [{'id': i, 'callFrame': {'functionName': n, 'scriptId': 0}, **({'parent': 1} if i > 1 else {})} for i, n in ((1, '(root)'), (2, 'work'), (3, 'rest'))]
    start = event('Profile', '0xa', 7443, 1000, {'startTime': 1000})
    chunks = [event('ProfileChunk', '0xa', 35083, 1100, {'cpuProfile': {'nodes': nodes, 'samples': [2, 3]}, 'timeDeltas': [10, 20]}),
              event('ProfileChunk', '0xa', 35083, 1200, {'cpuProfile': {'samples': [2, 2]}, 'timeDeltas': [5, 40]})]
    for name, events in (('a.json', [start, *chunks]), ('b.json', [*chunks, start])):
        put(name, {'traceEvents': [x('t', 900, 50), *events]})
        equal(collections.Counter(e['name'] for e in dump(name) if e['kind'] == 'sample'), {'work': 3, 'rest': 1})
    equal(run('dump', '--jsonl', 'a.json').stdout, run('dump', '--jsonl', 'b.json').stdout)
    assert 'without a Profile' not in said('info', 'b.json')


@case('google/perfetto', 'perfetto', 'profilers of Perfetto intern the empty text with id 0')
def _():
    def interned(*texts):
        return packet(number(10, 1), number(13, 1), message(12, b''.join(message(5, number(1, i) + message(2, t)) for i, t in texts)))
    put('a.pftrace', interned((0, b''), (1, b'id')) + track(1, pid=5) + slice_event(5, 3, 1, 'here'))
    equal((run('check', 'a.pftrace').returncode, 'repair' in said('info', 'a.pftrace')), (0, False))
    put('b.pftrace', interned((0, b'text')) + track(1, pid=5) + slice_event(5, 3, 1, 'here'))
    has(said('info', 'b.pftrace'), 'interned data with the invalid id 0')


@case('jlfwong/speedscope', 'json', 'Firefox until 63 writes many markers before the profile')
def _():
    frames = {'schema': {'location': 0}, 'data': [[0], [1]]}
    thread = {'name': 'GeckoMain', 'tid': 7, 'stringTable': ['(root)', 'work'], 'frameTable': frames, 'stackTable': {'schema': {'prefix': 0, 'frame': 1}, 'data': [[None, 0], [0, 1]]},
              'samples': {'schema': {'stack': 0, 'time': 1}, 'data': [[1, 1.5], [0, 2.5], [1, 3.5]]}, 'markers': {'schema': {'name': 0, 'time': 1, 'data': 2}, 'data': []}}
    put('a.json', {'label': '', 'duration': 4.5, 'markers': [{'end': i, 'name': 'Styles', 'start': i} for i in range(9000)], 'frames': [], 'ticks': [],
                   'profile': {'libs': [], 'meta': {'version': 9, 'startTime': 1520000000000.0, 'interval': 1, 'processType': 0}, 'threads': [thread], 'processes': []},
                   'fileType': 'Recorded Performance Data', 'version': 2})
    equal(collections.Counter(e['name'] for e in dump('a.json') if e['kind'] == 'sample'), {'work': 2, '(root)': 1})


# ---- files that are no traces ----

@case('pytorch/pytorch', 'stranger', "the memory timelines of PyTorch's profiler")
def _():
    put('a.json', [[1700, 1800], [[0] * 9, [0, 512] + [0] * 7]])
    put('b.raw.json.gz', gzip.compress(json.dumps([[-1, 0, 512, 2], [1700000000001000, 3, -512, 2]]).encode()))
    put('c.html', '<html>\n<head><meta charset="utf-8" /><title>GPU Memory Timeline HTML</title></head>\n<body>\n  <img src=\'data:image/png;base64,iVBO\'>')
    put('d.html', '\n<!DOCTYPE html>\n<html>\n<script type="module">\nimport {add_local_files} from "https://cdn.jsdelivr.net/gh/pytorch/pytorch@main/torch/utils/viz/MemoryViz.js"\n')
    for name in ('a.json', 'b.raw.json.gz', 'c.html', 'd.html'):
        has(said('info', name), 'not a trace: .*snapshot that can be read')
        equal(run('info', name).returncode, 3)


@case('pytorch/executorch', 'stranger', 'ETDump, recordings of Tracy and of Nsight Systems')
def _():
    put('a.bin', b'\x10\0\0\0ED00' + bytes(40))
    put('b.bin', b'tlZ\4' + bytes(40))
    put('report1.qdstrm', bytes(range(60)))
    for name, word in (('a.bin', 'ExecuTorch'), ('b.bin', 'Tracy'), ('report1.qdstrm', 'QdstrmImporter')):
        has(said('info', name), f'not a trace: .*{word}')


@case('google/perfetto', 'stranger', 'files of other tools are named')
def _():
    files = {
        'fr': (b'\x80\x02}q\x00(X\x07\x00\x00\x00entriesq\x03]q\x04}q\x05X\x0e\x00\x00\x00profiling_nameX', 'flight recording'),
        'pickle': (b'\x80\x02}q\x00.', 'Python pickle'),
        'log': ('{"Event":"SparkListenerLogStart","Spark Version":"3.5.0"}\n{"Event":"SparkListenerApplicationStart","Timestamp":1}\n', 'Spark'),
        'net.json': ({'constants': {'logEventTypes': {'CANCELLED': 0}}, 'events': []}, 'NetLog'),
        'a.trace': ('{"version":8,"type":"context-options","browserName":"chromium"}\n{"type":"before","callId":"call@1","startTime":1.5}\n', 'Playwright'),
        'vllm.json': ({'context': {'torch_version': '2.4'}, 'prefill': {'metadata': {}, 'summary_stats': [], 'model_stats': []}}, 'vLLM'),
        'tvm.json': ({'calls': [{'Name': {'string': 'f'}}], 'device_metrics': {}}, 'TVM'),
        'safari.json': ({'version': 1, 'recording': {'displayName': 'Timeline Recording 1', 'startTime': 0.5, 'records': []}}, 'Safari'),
        'old.cpuprofile': ({'head': {'functionName': '(root)', 'id': 1, 'hitCount': 0, 'children': []}, 'samples': [1], 'timestamps': [163140599286]}, 'old V8'),
        'v8.json': ({'code': [{'name': '/usr/bin/node', 'type': 'SHARED_LIB'}], 'functions': [], 'ticks': []}, 'log of V8'),
        'stackprof.json': ({'version': 1.2, 'mode': 'cpu', 'samples': 3, 'gc_samples': 0, 'missed_samples': 0, 'frames': {}}, 'stackprof'),
        'ghc.prof': ({'program': 'a', 'rts_arguments': ['-pj'], 'total_ticks': 3, 'profile': {}}, 'GHC'),
        'instruments.txt': ('Weight\tSelf Weight\t\tSymbol Names\n4.93 s  100.0%\t0 s\t \tstart\n', 'Instruments'),
        'a.cpu': (b''.join(v.to_bytes(8, 'little') for v in (0, 3, 0, 10000, 0, 1, 1, 0x4000)), 'pprof -proto'), 'a.contention': ('--- contentionz 1 ---\ncycles/second = 3\n', 'pprof -proto'),
        'java.cpu': (b''.join(v.to_bytes(4, 'little') for v in (0, 3, 1, 10000, 0, 1, 3, 1)), 'pprof -proto'),
        'java64.cpu': (b''.join(v.to_bytes(8, 'little') for v in (0, 3, 1, 10000, 0, 1, 3, 1)), 'pprof -proto'),
        'small.cpu': (b''.join(v.to_bytes(4, 'little') for v in (0, 3, 0, 10000, 0, 1, 3, 1)), 'pprof -proto'),
        'pmc.txt': ('@ inst_retired.any [35 samples]\n\n20.86%  [7]     f @ /boot/kernel/a.ko\n', 'stackcollapse-pmc.pl'),
        'babel.txt': ('[09:32:54.123456789] (+?.?????????) host sched:switch: { cpu_id = 3 }, { prev = "a" }\n', 'babeltrace'),
        'thapi.txt': ('08:18:04.01 - host - vpid: 7, vtid: 7 - lttng_ust_ze:zeEventCreate_exit: { zeResult: ZE_RESULT_SUCCESS }\n', 'iprof --timeline'),
        'jfr.txt': ('jdk.ExecutionSample {\n  startTime = 10:00:00.000\n', 'jfrconv'),
        'async.txt': ('--- Execution profile ---\nTotal samples       : 12\n', 'async-profiler'),
        'old.sps.json': ({'format': 'profileJSONWithSymbolicationTable,1', 'meta': {'stackwalk': 1, 'interval': 1, 'processType': 0}, 'profileJSON': {'threads': []}}, 'Cleopatra'),
        'dhat.json': ({'dhatFileVersion': 2, 'mode': 'heap'}, 'DHAT'), 'art.trace': ('*version\n3\nclock=dual\n', 'ART'), 'streaming.trace': (b'SLOW\xf3\0 \0' + bytes(30), 'ART'),
        'a.svg': ('<?xml version="1.0" standalone="no"?>\n<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN">\n<svg>', 'flame graph'),
        'b.svg': ('<svg width="1200" xmlns="http://www.w3.org/2000/svg">', 'flame graph'),
        'a.html': ("<!DOCTYPE html>\n<html>\n<header>Produced by <a href='https://github.com/async-profiler/async-profiler'>async-profiler</a></header>", 'async-profiler'),
        'cargo.html': ('<html>\n<head>\n  <title>Cargo Build Timings \u2014 a 0.1.0</title>', 'cargo build --timings'),
        'cachegrind.out.1': ('version: 1\ncreator: xdebug 3.1.1 (PHP 8.1)\n', 'Xdebug'),
        'table.txt': ('-----------  ----------  \n       Name    Self CPU %      Self CPU  \n-----------  ----------  \n', 'export_chrome_trace'),
        'nvprof.csv': ('"Start","Duration","Grid X","Grid Y","Grid Z","Size","Device","Stream","Name"\ns,ms,,,,MB,,,\n', 'nvprof'),
        'nvprof.log': ('==27549== NVPROF is profiling process 27549, command: python train.py\n==27549== Profiling result:\n', 'nvprof'),
        'cuda_gpu_trace.csv': ('Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,Device,Ctx,Strm,Name\n1000,500,3,1,1,1,NVIDIA A100 (0),1,7,gemm\n', 'nsys export -t sqlite'),
        'ov.csv': ('layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms);\n', 'OpenVINO'),
        'profile_log_device.csv': ('ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\nPCIe slot, core_x, core_y\n', 'Tenstorrent'),
        'a.pbtxt': ('packet {\n  timestamp: 5\n}\n', 'protoc --encode'),
        'a.mojo': (b'MOJ\x03\x01mode\0cpu\0', 'Austin'), 'a.eventlog': (b'hdrbhetb' + bytes(20), 'GHC'), 'a.syscap': (b'\x5e\x97\xca\xfd' + bytes(30), 'Sysprof'),
        'a.rgp': (b'B00P' + bytes(30), 'RGP'), 'a.data': (b'SIMPLEPERF\x01\0' + bytes(30), 'simpleperf'), 'trace.db': (b'HPCTOOLKITtrce' + bytes(30), 'HPCToolkit')}
    for name, (content, word) in files.items():
        put(name, content)
        has(said('info', name), f'not a trace: .*{re.escape(word)}')
        equal(run('info', name).returncode, 3)


sys.exit(main())
