#!/usr/bin/env python3
"""Checks the JSON of rocprofv3: the trace has the same number of spans and sum of durations as each list of the document; names,
queues, links, counters, several processes; data that is never read; damage.

The fields are those of rocprofiler-sdk in ROCm/rocm-systems: source/lib/output/generateJSON.cpp, cxx/serialization.hpp."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from databases import check_damage, check_formats, converted, measure, named, path, spans, tracekit  # noqa: E402
from verdict import check, finish  # noqa: E402

BOOT = 97 * 86400 * 10**9  # of a host that has run for 97 days
KINDS = ['NONE', 'HIP_RUNTIME_API', 'MARKER_CORE_API', 'MEMORY_COPY', 'KERNEL_DISPATCH', 'MEMORY_ALLOCATION']
OPERATIONS = [[], ['hipMalloc', 'hipLaunchKernel', 'hipMemcpyAsync'], ['roctxMarkA', 'roctxRangePushA'],
              ['MEMORY_COPY_NONE', 'MEMORY_COPY_HOST_TO_DEVICE', 'MEMORY_COPY_DEVICE_TO_HOST'],
              ['KERNEL_DISPATCH_NONE', 'KERNEL_DISPATCH_COMPLETE'], ['MEMORY_ALLOCATION_NONE', 'MEMORY_ALLOCATION_ALLOCATE']]
CPU, GPU0, GPU1 = 700, 701, 702  # handles of agents


def handle(n):
    return {'handle': n}


def record(kind, operation, start, end, correlation, thread=41, **more):
    return {'size': 64, 'kind': KINDS.index(kind), 'operation': OPERATIONS[KINDS.index(kind)].index(operation), 'thread_id': thread,
            'correlation_id': {'internal': correlation, 'external': 0}, 'start_timestamp': BOOT + start, 'end_timestamp': BOOT + end, **more}


def dispatch_info(agent, queue, kernel, number):
    return {'size': 72, 'agent_id': handle(agent), 'queue_id': handle(queue), 'kernel_id': kernel, 'dispatch_id': number,
            'private_segment_size': 16, 'group_segment_size': 4096, 'workgroup_size': {'x': 256, 'y': 1, 'z': 1},
            'grid_size': {'x': 65536, 'y': 2, 'z': 1}}


def kernel(start, end, correlation, agent=GPU0, queue=3, name=1, stream=7):
    return record('KERNEL_DISPATCH', 'KERNEL_DISPATCH_COMPLETE', start, end, correlation, stream_id=handle(stream),
                  dispatch_info=dispatch_info(agent, queue, name, correlation))


def counted(start, end, number, values):
    return {'thread_id': 41, 'dispatch_data': {'size': 64, 'correlation_id': {'internal': number, 'external': 0},
                                               'start_timestamp': BOOT + start, 'end_timestamp': BOOT + end,
                                               'dispatch_info': dispatch_info(GPU1, 5, 2, number)},
            'records': [{'counter_id': handle(c), 'value': v} for c, v in values]}


def process(pid, buffers, counters=()):
    agent = {'name': 'gfx942', 'product_name': 'AMD Instinct MI300X'}
    return {'metadata': {'node': {'hostname': 'node3'}, 'pid': pid, 'init_time': BOOT, 'fini_time': BOOT + 10**9,
                         'command': ['python', '--token=hush-hush']},
            'agents': [{'id': handle(CPU), 'type': 1, 'logical_node_type_id': 0, 'name': 'EPYC'},
                       {'id': handle(GPU0), 'type': 2, 'logical_node_type_id': 0, **agent},
                       {'id': handle(GPU1), 'type': 2, 'logical_node_type_id': 1, **agent}],
            'counters': [{'id': handle(90), 'name': 'SQ_WAVES'}, {'id': handle(91), 'name': 'GRBM_COUNT'}],
            'strings': {'callback_records': [], 'buffer_records': [{'kind': k, 'operations': o} for k, o in zip(KINDS, OPERATIONS)],
                        'marker_api': [{'key': 9, 'value': 'step "1"'}, {'key': 10, 'value': 'loaded \u00fc'}]},
            'kernel_symbols': [{'kernel_id': 0, 'kernel_name': '', 'formatted_kernel_name': ''},
                               {'kernel_id': 1, 'kernel_name': 'axpy.kd', 'formatted_kernel_name': 'axpy(float*)'},
                               {'kernel_id': 2, 'kernel_name': 'gemm.kd'}],
            'callback_records': {'counter_collection': list(counters)}, 'buffer_records': buffers}


CALLS = [record('HIP_RUNTIME_API', 'hipLaunchKernel', 1000, 3000, 1), record('HIP_RUNTIME_API', 'hipMemcpyAsync', 4000, 9000, 2),
         record('HIP_RUNTIME_API', 'hipLaunchKernel', 9500, 9900, 3, thread=42)]
KERNELS = [kernel(2500, 7001, 1), kernel(6500, 8000, 3), kernel(8000, 8800, 4, GPU1, 5, 2)]  # the second overlaps; 4 has no call
COPIES = [record('MEMORY_COPY', 'MEMORY_COPY_HOST_TO_DEVICE', 5000, 8500, 2, dst_agent_id=handle(GPU1), src_agent_id=handle(CPU), bytes=4096),
          record('MEMORY_COPY', 'MEMORY_COPY_DEVICE_TO_HOST', 8500, 8700, 0, dst_agent_id=handle(CPU), src_agent_id=handle(GPU0), bytes=8)]
MARKERS = [record('MARKER_CORE_API', 'roctxRangePushA', 500, 9999, 9), record('MARKER_CORE_API', 'roctxMarkA', 600, 600, 10)]
ALLOCATIONS = [record('MEMORY_ALLOCATION', 'MEMORY_ALLOCATION_ALLOCATE', 100, 200, 0, agent_id=handle(GPU0), allocation_size=1 << 20)]
BUFFERS = {'kernel_dispatch': KERNELS, 'hip_api': CALLS, 'marker_api': MARKERS, 'memory_copy': COPIES, 'memory_allocation': ALLOCATIONS,
           'pc_sample_host_trap': [{'record': {}}, {'record': {}}], 'hsa_api': []}


def write(name, *processes, alone=False):
    with open(path(name), 'w', encoding='utf-8') as f:
        json.dump({'rocprofiler-sdk-tool': processes[0] if alone else list(processes)}, f, ensure_ascii=False)


def total(records):
    return len(records), sum(r['end_timestamp'] - r['start_timestamp'] for r in records)


def lists():
    write('one_results.json', process(41, BUFFERS))
    events, base = converted(path('one_results.json'))
    for category, records in (('kernel', KERNELS), ('gpu_memcpy', COPIES), ('hip_api', CALLS), ('marker_api', MARKERS[:1]),
                              ('memory_allocation', ALLOCATIONS)):
        found = [e for e in events if e['ph'] == 'X' and e.get('cat') in {category, {'kernel': 'kernel_dispatch', 'gpu_memcpy': 'memory_copy'}.get(category)}]
        check(f'{category}: number and sum', measure(found) == total(records), (measure(found), total(records)))
    starts = sorted(round(e['ts'] * 1000) + base for e in events if e['ph'] in 'XiI')
    want = sorted(r['start_timestamp'] for r in KERNELS + COPIES + CALLS + MARKERS + ALLOCATIONS)
    check('starts are those of the file', starts == want, (starts[:3], want[:3], base))
    kernels = spans(events, 'kernel_dispatch', 'kernel')
    check('names of kernels', sorted(e['name'] for e in kernels) == ['axpy(float*)', 'axpy(float*)', 'gemm.kd'], kernels)
    args = next(e['args'] for e in kernels if e['args']['dispatch'] == 1)
    check('args of a kernel', (args['grid'], args['block'], args['stream'], args['device'], args['LDS'], args['correlation']) ==
          ([65536, 2, 1], [256, 1, 1], 7, 0, 4096, 1), args)
    copy = next(e for e in events if e.get('name') == 'MEMORY_COPY_HOST_TO_DEVICE')
    check('a copy is on the GPU that it leads to', (copy['args']['device'], copy['args']['bytes'], copy['args']['to agent']) == (1, 4096, 1), copy)
    check('ranges of roctx have their text', {e['name'] for e in events if e.get('cat') == 'marker_api'} == {'step "1"', 'loaded \u00fc'}, events)
    check('a mark is an instant', [e['name'] for e in events if e['ph'] in 'iI'] == ['loaded \u00fc'], events)
    check('devices are named', {'GPU 0', 'GPU 1'} <= set(named(events, 'process_name').values()), named(events, 'process_name'))
    devices = json.loads(tracekit('report', '-q', '--json', path('one_results.json'))[1])['devices']
    check('products of devices', devices == ['AMD Instinct MI300X'], devices)
    check('queues are named', {'queue 3', 'queue 5', 'copies'} <= set(named(events, 'thread_name').values()), named(events, 'thread_name'))
    ends = [e['ts'] for e in events if e['ph'] == 'f']
    check('flows lead from calls to work', len(ends) == 3 and len([e for e in events if e['ph'] == 's']) == 3, ends)
    said = tracekit('info', path('one_results.json'))[1]
    check('pc samples are counted', 'records of pc_sample_host_trap are not read' in tracekit('info', '-v', path('one_results.json'))[2] + said, said)


def counters():
    rows = [counted(10, 20, 1, [(90, 4), (90, 5), (91, 2.5)]), counted(30, 44, 2, [(90, 1)])]
    for name, buffers, kernels in (('counters.json', {'kernel_dispatch': []}, 2), ('both.json', {'kernel_dispatch': KERNELS}, 3)):
        write(name, process(41, buffers, rows))
        events, _ = converted(path(name))
        values = sorted((e['name'], v) for e in events if e['ph'] == 'C' for v in e['args'].values())
        check(f'{name}: instances of a counter are summed', values == [('GRBM_COUNT', 2.5), ('SQ_WAVES', 1), ('SQ_WAVES', 9)], values)
        found = spans(events, 'kernel_dispatch', 'kernel')
        check(f'{name}: each kernel stands once', len(found) == kernels, found)


def bounds():
    doc = process(41, {}, [counted(10, 20, 1, [(1000 + i, 1) for i in range(130)])])
    doc['counters'] = [{'id': handle(1000 + i), 'name': f'C{i}'} for i in range(129)]
    doc['callback_records']['hip_api'] = [{}, {}, {}]
    doc['kernel_symbols'] += [1, None, {}]
    doc['agents'] += ['x']
    write('many.json', doc)
    found = tracekit('info', '-v', path('many.json'))
    said = found[1] + found[2]
    check('counters beyond 128 are counted', 'dispatch with more than 128 counters: the others are lost (2 times)' in said, said)
    check('other callbacks are counted', 'records of hip_api are not read (3 times)' in said, said)
    check('the graph is sound', 'invariant' not in tracekit('check', path('many.json'))[2], said)


def processes():
    write('two.json', process(41, BUFFERS), process(42, BUFFERS))
    events, _ = converted(path('two.json'))
    check('two processes: all kernels', len(spans(events, 'kernel_dispatch', 'kernel')) == 6, events)
    check('two processes: flows stay within each', len([e for e in events if e['ph'] == 's']) == 6, events)
    check('two processes: threads of each', {e['pid'] for e in events if e.get('cat') == 'hip_api'} == {41, 42}, events)
    write('alone.json', process(41, BUFFERS), alone=True)
    check('an object in place of the list', tracekit('top', '--csv', path('alone.json'))[1] == tracekit('top', '--csv', path('one_results.json'))[1])


def odd():
    with open(path('one_results.json'), 'rb') as f:
        data = f.read()
    for text, status in ((b'{"rocprofiler-sdk-tool":[]}', 0), (b'{"rocprofiler-sdk-tool":[{"buffer_records":{"hip_api":[1,{},[]]}}]}', 3),
                         (b'{"rocprofiler-sdk-tool":3}', 0), (b'{"rocprofiler-sdk-tool":', 0), (b'\n { \n"rocprofiler-sdk-tool" : [ ] }', 0)):
        with open(path('odd.json'), 'wb') as f:
            f.write(text)
        found = tracekit('convert', '--force', path('odd.json'), '-o', path('odd.out.json'))
        check(f'{text[:40]}: status', found[0] == status, found)
    for cut in range(0, len(data), 97):
        with open(path('cut.json'), 'wb') as f:
            f.write(data[:cut])
        check(f'cut at {cut}: no crash', tracekit('check', path('cut.json'))[0] in (0, 1, 3))
    for ending in ('json', 'pftrace', 'xplane.pb'):
        tracekit('convert', '-q', '--force', path('one_results.json'), '-o', path(f'secret.{ending}'))
        with open(path(f'secret.{ending}'), 'rb') as f:
            check(f'{ending}: no command line', b'hush-hush' not in f.read())


def as_speedscope():
    """Checks starts in speedscope output: uptimes of 97 days would exceed the range of times if they were counted from the boot."""
    tracekit('convert', '-q', '--force', path('one_results.json'), '-o', path('long.speedscope.json'))
    events, base = converted(path('long.speedscope.json'))
    starts = sorted(round(e['ts'] * 1000) + base for e in events if e['ph'] in 'XB')
    want = sorted(r['start_timestamp'] for r in KERNELS + COPIES + CALLS + MARKERS[:1] + ALLOCATIONS)
    check('speedscope: starts are those of the file', starts == want, (starts[:3], want[:3]))


def main():
    lists()
    counters()
    bounds()
    processes()
    odd()
    as_speedscope()
    check_formats('one_results.json')
    check_damage('one_results.json', 'two.json')
    if len(sys.argv) > 1:
        write('fixture.json', process(41, BUFFERS, [counted(10, 20, 8, [(90, 4), (91, 2.5)])]))
        os.replace(path('fixture.json'), sys.argv[1])
    return finish()


if __name__ == '__main__':
    sys.exit(main())
