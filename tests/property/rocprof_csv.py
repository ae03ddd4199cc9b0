#!/usr/bin/env python3
"""Checks the CSV files of rocprof and rocprofv3: the trace has the events of their lines, counted and summed from the lines;
devices, queues, threads, sizes, counters, columns that later versions may add; damage; files without times.

The columns are those of rocprofiler-sdk's generateCSV.cpp and documentation, and of rocprof 1's tblextr.py."""
import csv
import io
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from databases import check_damage, check_formats, converted, measure, named, path, spans, tracekit  # noqa: E402
from verdict import check, finish  # noqa: E402

BOOT = 97 * 86400 * 10**9  # of a host that has run for 97 days

KERNELS = '''"Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id",\
"Start_Timestamp","End_Timestamp","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Workgroup_Size_X",\
"Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"
'''
CALLS = '"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp"\n'
COPIES = '"Kind","Direction","Stream_Id","Source_Agent_Id","Destination_Agent_Id","Correlation_Id","Start_Timestamp","End_Timestamp"\n'
COUNTED = '''"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id","Kernel_Name",\
"Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Counter_Name","Counter_Value",\
"Start_Timestamp","End_Timestamp"
'''
ALLOCATED = '"Kind","Operation","Agent_Id","Allocation_Size","Address","Correlation_Id","Start_Timestamp","End_Timestamp"\n'
ROCPROF = '''"Index","KernelName","gpu-id","queue-id","queue-index","pid","tid","grd","wgr","lds","scr","arch_vgpr","accum_vgpr","sgpr",\
"wave_size","sig","obj","DispatchNs","BeginNs","EndNs","CompleteNs","DurationNs"
'''


def kernel(agent, queue, number, name, start, end):
    return (f'"KERNEL_DISPATCH",{agent},{queue},7,41,{number},16,"{name}",{number},{BOOT + start},{BOOT + end},'
            '4096,16,12,4,48,256,1,1,65536,2,1\n')


def write(name, text):
    with open(path(name), 'w', encoding='utf-8', newline='') as f:
        f.write(text)


def lines_of(name, start='Start_Timestamp', end='End_Timestamp'):
    with open(path(name), encoding='utf-8', newline='') as f:
        rows = list(csv.DictReader(io.StringIO(f.read())))
    return [(int(r[start]), int(r[end])) for r in rows]


def same_as_lines(name, events, base, start='Start_Timestamp', end='End_Timestamp'):
    rows = lines_of(name, start, end)
    found = [e for e in events if e['ph'] in 'XiI']
    whole = [{'dur': 0, **e} for e in found]
    check(f'{name}: number and sum', measure(whole) == (len(rows), sum(b - a for a, b in rows)), (measure(whole), rows))
    starts = sorted(round(e['ts'] * 1000) + base for e in found)
    check(f'{name}: starts', starts == sorted(a for a, _ in rows), (starts[:3], base))


def kernels():
    write('1_kernel_trace.csv', KERNELS + kernel('"GPU 0"', 3, 1, 'void axpy<float, 4>(float*, int)', 2500, 7001) +
          kernel('"GPU 0"', 3, 2, 'say "hi"', 6500, 8000) + kernel('"GPU 1"', 5, 3, 'gemm', 8000, 8800))
    events, base = converted(path('1_kernel_trace.csv'))
    same = [e for e in events if e['ph'] in 'XB']
    check('kernels: names', sorted(e['name'] for e in same) == ['gemm', 'say "hi"', 'void axpy<float, 4>(float*, int)'], same)
    check('kernels: lines', [round(e['ts'] * 1000) + base for e in sorted(same, key=lambda e: e['ts'])] == [BOOT + t for t in (2500, 6500, 8000)], base)
    check('kernels: number and sum', measure(spans(events, 'kernel', 'kernel_dispatch')) == (3, 4501 + 1500 + 800), same)
    args = next(e['args'] for e in same if e['args']['dispatch'] == 1)
    check('kernels: args', (args['grid'], args['block'], args['stream'], args['device'], args['LDS'], args['scratch'], args['correlation']) ==
          ([65536, 2, 1], [256, 1, 1], 7, 0, 4096, 16, 1), args)
    check('kernels: other columns keep their names', (args['VGPR_Count'], args['SGPR_Count'], args['Kernel_Id']) == (12, 48, 16), args)
    check('kernels: devices', {'GPU 0', 'GPU 1'} <= set(named(events, 'process_name').values()), named(events, 'process_name'))
    check('kernels: queues', {'queue 3', 'queue 5'} <= set(named(events, 'thread_name').values()), named(events, 'thread_name'))
    check('kernels: kind', '3 kernel' in tracekit('info', path('1_kernel_trace.csv'))[1], events)
    write('2_kernel_trace.csv', KERNELS + kernel('"Agent 7"', 3, 1, 'a', 10, 20) + kernel(8, 3, 2, 'b', 30, 40))
    check('agents are numbered as in the file', {'GPU 7', 'GPU 8'} <= set(named(converted(path('2_kernel_trace.csv'))[0], 'process_name').values()))
    check('and this is said', 'have the numbers of agents' in ''.join(tracekit('info', '-v', path('2_kernel_trace.csv'))[1:]))
    write('3_kernel_trace.csv', ('"Guid",' + KERNELS).replace('LDS_Block_Size', 'Lds_Block_Size') + '"0-1",' + kernel('"GPU 0"', 3, 1, 'a', 10, 20))
    args = next(e['args'] for e in converted(path('3_kernel_trace.csv'))[0] if e['ph'] == 'X')
    check('rocpd2csv: the same args', args['LDS'] == 4096 and 'Guid' not in args, args)


def calls():
    write('1_hip_api_trace.csv', CALLS + f'"HIP_RUNTIME_API","hipLaunchKernel",41,42,1,{BOOT + 1000},{BOOT + 3000}\n'
          f'"HIP_RUNTIME_API","hipMemcpy",41,41,2,{BOOT + 4000},{BOOT + 9000}\n')
    events, base = converted(path('1_hip_api_trace.csv'))
    same_as_lines('1_hip_api_trace.csv', events, base)
    check('calls: threads', {(e['pid'], e['tid']) for e in events if e['ph'] == 'X'} == {(41, 42), (41, 41)}, events)
    check('calls: correlation', {e['args']['correlation'] for e in events if e['ph'] == 'X'} == {1, 2}, events)
    write('1_marker_api_trace.csv', CALLS + f'"MARKER_CORE_API","step, ""1""",41,41,9,{BOOT + 500},{BOOT + 9999}\r\n'
          f'"MARKER_CORE_API","loaded \u00fc",41,41,10,{BOOT + 600},{BOOT + 600}\r\n')
    events, base = converted(path('1_marker_api_trace.csv'))
    same_as_lines('1_marker_api_trace.csv', events, base)
    check('a mark is an instant', [e['name'] for e in events if e['ph'] in 'iI'] == ['loaded \u00fc'], events)


def copies():
    write('1_memory_copy_trace.csv', COPIES + f'"MEMORY_COPY","MEMORY_COPY_HOST_TO_DEVICE",7,"CPU 0","GPU 1",2,{BOOT + 5000},{BOOT + 8500}\n'
          f'"MEMORY_COPY","MEMORY_COPY_DEVICE_TO_HOST",7,"GPU 0","CPU 0",0,{BOOT + 8500},{BOOT + 8700}\n'
          f'"MEMORY_COPY","DEVICE_TO_HOST",7,"Agent 4","Agent 0",0,{BOOT + 9500},{BOOT + 9700}\n')
    events, base = converted(path('1_memory_copy_trace.csv'))
    same_as_lines('1_memory_copy_trace.csv', events, base)
    found = [e['args'] for e in sorted(spans(events, 'gpu_memcpy', 'memory_copy'), key=lambda e: e['ts'])]
    check('a copy is on the GPU that it leads to, else on its source', [a['device'] for a in found] == [1, 0, 4], found)
    write('1_memory_allocation_trace.csv', ALLOCATED + f'"MEMORY_ALLOCATION","MEMORY_ALLOCATION_ALLOCATE","GPU 0",1048576,"0x7f00",3,{BOOT + 1},{BOOT + 9}\n'
          f'"MEMORY_ALLOCATION","MEMORY_ALLOCATION_FREE","",0,"0x7f00",4,{BOOT + 11},{BOOT + 19}\n')
    events, base = converted(path('1_memory_allocation_trace.csv'))
    same_as_lines('1_memory_allocation_trace.csv', events, base)
    check('allocations have their size and address', [(e['args']['bytes'], e['args']['Address']) for e in events if e['ph'] == 'X'][0] == (1 << 20, '0x7f00'), events)


def counters():
    row = '{0},{0},"GPU 1",5,41,41,65536,16,"{1}",64,0,0,8,0,16,"{2}",{3},' + f'{BOOT}' + '{4},' + f'{BOOT}' + '{5}\n'
    text = COUNTED
    for line in ((1, 'a', 'SQ_WAVES', 9, 10, 20), (2, 'b', 'SQ_WAVES', 1, 30, 44), (1, 'a', 'GRBM_COUNT', 2.5, 10, 20)):
        text += row.format(*line).replace(f'{BOOT}{line[4]}', str(BOOT + line[4])).replace(f'{BOOT}{line[5]}', str(BOOT + line[5]))
    write('1_counter_collection.csv', text)
    events, _ = converted(path('1_counter_collection.csv'))
    values = sorted((e['name'], v) for e in events if e['ph'] == 'C' for v in e['args'].values())
    check('counters: values', values == [('GRBM_COUNT', 2.5), ('SQ_WAVES', 1), ('SQ_WAVES', 9)], values)
    check('counters: each kernel stands once', measure(spans(events, 'kernel', 'kernel_dispatch')) == (2, 24), events)


def rocprof():
    write('results.csv', ROCPROF + '0,"bodyForce(Body*, float, int) [clone .kd]",0,1,0,367,368,65536,256,512,4,20,4,16,64,"0x0","0x7f7b",'
          f'{BOOT},{BOOT + 10},{BOOT + 30},{BOOT + 40},20\n1,"b.kd",1,0,2,367,367,64,64,0,0,20,4,16,64,"0x0","0x7f7c",{BOOT},{BOOT + 50},{BOOT + 80},{BOOT + 90},30\n')
    events, base = converted(path('results.csv'))
    same_as_lines('results.csv', events, base, 'BeginNs', 'EndNs')
    args = next(e['args'] for e in events if e['ph'] == 'X' and e['args']['dispatch'] == 0)
    check('rocprof 1: args', (args['grd'], args['wgr'], args['LDS'], args['scratch'], args['obj'], args['wave_size']) == (65536, 256, 512, 4, '0x7f7b', 64), args)
    check('rocprof 1: GPUs', {'GPU 0', 'GPU 1'} <= set(named(events, 'process_name').values()), events)


def odd():
    said = tracekit('info', path('nothing.csv'))
    for name, text, word in (('stats.csv', '"Name","Calls","TotalDurationNs","AverageNs"\n"a",1,2,2\n', 'statistics of rocprof'),
                             ('agents.csv', '"Node_Id","Logical_Node_Id","Agent_Type"\n0,0,"CPU"\n', "list of a host's devices"),
                             ('old.csv', COUNTED.replace(',"Start_Timestamp","End_Timestamp"', '') + '1,1,1,1,4,4,64,16,"a",64,0,0,8,0,16,"W",3\n', 'without times'),
                             ('other.csv', '"Name","Start"\n"a",1\n', 'not a recognised trace format')):
        write(name, text)
        said = tracekit('info', path(name))
        check(f'{name}: refused by name', said[0] == 3 and word in said[2], said)
    write('short.csv', CALLS + '"HIP_RUNTIME_API","hipMalloc",41,42,1,1000,3000\n"HIP_RUNTIME_API","hip\n\n"HIP","x",1,1,1,,\n"HIP","y",1,1,1,9000,8000')
    said = tracekit('info', '-v', path('short.csv'))
    check('short lines are counted', 'line with fewer values than columns' in said[1] + said[2], said)
    check('lines without times are counted', 'rows without a usable start' in said[1] + said[2], said)
    check('the others are read', '2 spans' in said[1], said)
    write('same.csv', '"Function","Start_Timestamp","End_Timestamp","x","x"\n"f",5,9,1,2\n')
    check('columns of one name are noted', 'columns of the same name' in ''.join(tracekit('info', '-v', path('same.csv'))[1:]))
    write('wide.csv', ','.join(['Function', 'Start_Timestamp', 'End_Timestamp', *(f'c{i}' for i in range(126))]) + '\n' + ','.join(['f', '5', '9'] + ['1'] * 126) + '\n')
    said = tracekit('info', '-v', path('wide.csv'))
    check('columns beyond 128 are noted', 'more than 128 columns' in said[1] + said[2] and '1 span' in said[1], said)
    check('only a header: no events', tracekit('info', '-q', write('header.csv', CALLS) or path('header.csv'))[0] == 0)
    whole = open(path('1_kernel_trace.csv'), 'rb').read()
    for cut in range(0, len(whole), 31):
        with open(path('cut.csv'), 'wb') as f:
            f.write(whole[:cut])
        check(f'cut at {cut}: no crash', tracekit('check', path('cut.csv'))[0] in (0, 1, 3))
    status = tracekit('info', '-', stdin=whole)
    check('from standard input', '3 kernel' in status[1], status)


def main():
    kernels()
    calls()
    copies()
    counters()
    rocprof()
    odd()
    check_formats('1_kernel_trace.csv', '1_counter_collection.csv', '1_marker_api_trace.csv')
    check_damage('1_kernel_trace.csv', '1_counter_collection.csv', 'results.csv')
    if len(sys.argv) > 1:
        os.replace(path('1_kernel_trace.csv'), sys.argv[1])
    return finish()


if __name__ == '__main__':
    sys.exit(main())
