#!/usr/bin/env python3
"""Checks that the rows of accelerators (lib/graph/accelerator.c) find the work of every known kind of device, and nothing else.

    devices     a small trace for each producer, written as its source does: names of devices, kernels, copies, runtime calls,
                collectives and links, by `report`, `filter --kind`, `top --kind` and `info`
    perfetto    the same for producers that write Perfetto's format, with devices as threads of a host's process
    hosts       rows of hosts whose names contain words of devices are not taken for devices
    suspects    a device that no row matches is reported by name, and devices are not reported as absent
    calls       calls of runtimes without a category
    names       collectives, and kernels whose names only resemble those of collectives
    aligned     two ranks of Ascend whose clocks and recorded windows differ"""
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import check, finish, judge  # noqa: E402
from xspace import message, number  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']


def run(*args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, capture_output=True)
    if p.returncode:
        raise RuntimeError(f'{" ".join(args)}: status {p.returncode}: {p.stderr.decode("utf-8", "replace")[:300]}')
    return p.stdout


def names(path, kind):
    """Returns the sorted names of the spans of a kind."""
    p = subprocess.run([TRACEKIT, 'filter', '-q', '--kind', kind, '--allow-empty', path, '-o', '-', '-f', 'chrome'],
                       stdin=subprocess.DEVNULL, capture_output=True, check=True)
    out = json.loads(p.stdout)
    return sorted(e['name'] for e in (out if isinstance(out, list) else out['traceEvents']) if e.get('ph', '-') in 'XB')


# ---- Chrome JSON ----

def meta(pid, name=None, labels=None, **threads):
    events = []
    if name:
        events.append({'ph': 'M', 'name': 'process_name', 'pid': pid, 'args': {'name': name}})
    if labels:
        events.append({'ph': 'M', 'name': 'process_labels', 'pid': pid, 'args': {'labels': labels}})
    for tid, thread in threads.items():
        events.append({'ph': 'M', 'name': 'thread_name', 'pid': pid, 'tid': int(tid[1:]), 'args': {'name': thread}})
    return events


def x(name, pid, tid, ts, dur, cat=None, **args):
    return {'ph': 'X', 'name': name, 'pid': pid, 'tid': tid, 'ts': ts, 'dur': dur, **({'cat': cat} if cat else {}), **({'args': args} if args else {})}


def flow(ident, cat, source, target, end='f'):
    """Returns an arrow between two spans, at their starts."""
    return [{'ph': 's', 'name': 'dep', 'cat': cat, 'id': ident, **{k: source[k] for k in ('pid', 'tid', 'ts')}},
            {'ph': end, 'name': 'dep', 'cat': cat, 'id': ident, 'bp': 'e', **{k: target[k] for k in ('pid', 'tid', 'ts')}}]


def kineto(family, kernel, runtime, memcpy, call):
    """Returns a trace of Kineto or of a port of it. Sources: libkineto/include/ActivityType.h, output_json.cpp."""
    return [*meta(900, 'python', 'CPU'), *meta(0, 'python', f'{family} 0', t7='stream 7'), *meta(1, 'python', f'{family} 1'),
            x('aten::mm', 900, 900, 0, 30, 'cpu_op', **{'External id': 3}), x(call, 900, 900, 5, 10, runtime, correlation=11),
            x('gemm', 0, 7, 20, 50, kernel, device=0, stream=7, correlation=11), x('gemm', 1, 7, 20, 40, kernel, device=1, stream=7),
            x('Memcpy HtoD (Pageable -> Device)', 0, 7, 80, 5, memcpy, device=0, stream=7),
            x('ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)', 0, 9, 90, 10, kernel, device=0, stream=9)]


def kineto_answer(family, call):
    return {'devices': {f'{family} 0', f'{family} 1'}, 'kernel': ['gemm', 'gemm', 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)'],
            'memcpy': ['Memcpy HtoD (Pageable -> Device)'], 'runtime': [call], 'collective': 1, 'linked': 1, 'op': ['aten::mm']}


def ascend():
    """Returns a trace as msprof and torch_npu write trace_view.json: no categories; pids are pid << 10 | row << 5 | device."""
    base = 3096504 << 10
    cann, hardware, hccl, overlap = base | 160, base | 162, base | 194, base | 226
    launch = x('Node@launch', cann, 5, 100, 10, connection_id=4, level='node')
    kernel = x('aclnnMm_MatMulV2', hardware, 2, 120, 50, connection_id=4, **{'Task Type': 'AI_CORE', 'Physic Stream Id': 2})
    return [*meta(cann, 'CANN', 'CPU'), *meta(hardware, 'Ascend Hardware', 'NPU', t2='Stream 2', t4='Stream 4'),
            *meta(hccl, 'HCCL', 'NPU', t0='Group 0 Communication', t1='Plane 0'), *meta(overlap, 'Overlap Analysis', 'NPU', t0='Computing'),
            x('AscendCL@aclnnMm', cann, 5, 98, 15), launch, kernel, x('AscendCL@hcom_allReduce_', cann, 5, 130, 4),
            x('EVENT_WAIT', hardware, 2, 175, 100), x('MEMCPY_ASYNC', hardware, 2, 280, 10), x('Notify_Wait', hardware, 4, 300, 60),
            x('SDMA', hardware, 4, 360, 20), x('hcom_allReduce__586_0_1', hccl, 0, 300, 100, data_type='FP32', count=100),
            x('Notify_Wait', hccl, 1, 300, 60), x('Computing', overlap, 0, 120, 50), *flow(9, 'HostToDevice', launch, kernel)]


def rocprof(gpus):
    """Returns a trace as rocprof 1 writes it (bin/tblextr.py, sqlitedb.py, dform.py): all values are text, and copies have a
    process of their own."""
    call = x('hipLaunchKernel', 2, 77, 10, 5, BeginNs='10000')
    kernel = x('Cijk_Ailk_Bljk.kd', 6, 0, 20, 50, **{'dev-id': '0'})
    return [*meta(0, 'Markers and Ranges'), *meta(2, 'CPU HIP API'), *meta(1, 'COPY'), *meta(6, 'GPU0'), *meta(518, 'GPU Barriers0'),
            call, kernel, *(meta(7, 'GPU1') + [x('Cijk_Ailk_Bljk.kd', 7, 1, 30, 40)] if gpus == 2 else []), x('CopyHostToDevice', 1, 0, 5, 3), x('step', 0, 77, 0, 90),
            x('<barrier packet>', 518, 0, 70, 5), *flow(0, 'DataFlow', call, kernel, 't')]


def rpd():
    """Returns a trace as rocmProfileData writes it (tools/rpd2tracing.py): all values are text."""
    call = x('hipLaunchKernel', '77', '77', '10.0', '5.0', desc='args')
    kernel = x('Cijk_Ailk_Bljk', '0', '0', '20.0', '50.0', desc='KernelExecution')
    return [{'ph': 'M', 'name': 'process_name', 'pid': '0', 'args': {'name': 'GPU0'}},
            {'ph': 'M', 'name': 'thread_name', 'pid': '77', 'tid': '77', 'args': {'name': 'Hip 77'}}, call, kernel,
            x('CopyHostToDevice', '0', '1', '80.0', '5.0', desc='CopyHostToDevice'), x('Graph 3', '0', '0', '20.0', '55.0', kernels='1'),
            *flow('1', 'api_op', call, kernel)]


def unitrace(rank=''):
    """Returns a trace as unitrace of pti-gpu writes it (tools/unitrace/src/chromelogger.h)."""
    host, device = 4000, 100
    call = x('zeCommandListAppendLaunchKernel', host, host, 10, 5, 'cpu_op')
    kernel = x('Tile #0: gemm_kernel', device, 9, 20, 50, 'gpu_op', id='1')
    return [*meta(host, f'{rank}HOST<node1>', None, **{f't{host}': f'Thread {host}'}),
            *meta(device, f'{rank}DEVICE<node1>[Intel(R) Data Center GPU Max 1550] 0:9a:0:0 #1.0', None, t9='Thread 4000 Compute<0,0>'), call, kernel,
            x('zeCommandListAppendMemoryCopy(H2D)[4096]', device, 9, 80, 5, 'gpu_op'), x('zeCommandListAppendBarrier', device, 9, 90, 50, 'gpu_op'),
            x('oneccl_allreduce_pcie<half>', device, 9, 150, 5, 'gpu_op'), *flow(1, 'Flow_H2D_1_0', call, kernel, 't')]


def nsys2json():
    """Returns a trace as nsys2json.py writes it: pid and tid are text; forks of the script add links by correlationId."""
    return [x('sgemm', 'Device 0', 'Stream 7', 20, 50, 'cuda', correlationId=5), x('sgemm', 'Device 1', 'Stream 7', 20, 40, 'cuda'),
            x('step', 'Device 0', 'NVTX Thread 12', 0, 90, 'nvtx'), x('step', 'Device 0', 'NVTX Kernel Thread 12', 20, 50, 'nvtx-kernel'),
            x('cudaLaunchKernel', 'Device 0', 'CUDA API Thread 12', 6, 2, 'cuda_api', correlationId=5)]


def autograd():
    """Returns a trace as torch/autograd/profiler.py writes it without Kineto: a process for operators, and one for kernels,
    whose threads are devices."""
    return [x('aten::mm', 'CPU functions', 1, 5, 20), x('sgemm', 'CUDA functions', 0, 20, 50)]


def jax():
    """Returns a trace.json.gz as xprof writes it: processes are planes, threads are lines."""
    return [*meta(1, '/device:GPU:0', None, t7='Stream #7(Compute)', t8='XLA Modules'), *meta(701, '/host:CPU', None, t3='python'),
            x('gemm_fusion', 1, 7, 20, 50, hlo_op='dot.1', hlo_module='jit_f', correlation_id=3), x('jit_f(1)', 1, 8, 20, 50),
            x('cuLaunchKernel', 701, 3, 5, 5, correlation_id=3)]


def mxnet(gpus=True):
    """Returns a trace of MXNet, src/profiler/profiler.cc: each operator is a span of its device, and again an async span of the process
    "operator", up to 1 us later. Thread ids are hashes, which may be above 2^63."""
    pids = {'cpu/0': 0, 'cpu/1': 1, **({'gpu/0': 2, 'gpu/1': 3} if gpus else {}), 'cpu pinned/': 4, 'operator': 3060606181218273969, 'MXNET_C_API': 7}
    out = [e for name, pid in pids.items() for e in meta(pid, name)]
    work = [('gpu/0', 'Convolutionin: [[1,3,8,8]]', 20, 50), ('gpu/1', 'Convolutionin: [[1,3,8,8]]', 20, 40), ('gpu/0', 'CopyCPU2GPU', 80, 5),
            ('gpu/0', 'CopyGPU2CPU', 90, 6)] if gpus else []
    for i, (process, name, ts, dur) in enumerate([*work, ('cpu/0', 'stack', 0, 10), ('cpu/0', 'Convolutionin: [[1,3,8,8]]', 100, 7)]):
        key = {'name': name, 'cat': 'operator', 'tid': (1 << 63) + i}
        out += [{**key, 'ph': ph, 'ts': t, 'pid': pids[process]} for ph, t in (('B', ts), ('E', ts + dur))]
        out += [{**key, 'ph': ph, 'ts': t, 'pid': pids['operator'], 'id': key['tid']} for ph, t in (('b', ts + 1), ('e', ts + dur - 1))]
    return out + [{'name': 'MXInvoke', 'cat': 'MXNET_C_API', 'ph': ph, 'ts': t, 'pid': 7, 'tid': 9, 'id': 9} for ph, t in (('b', 0), ('e', 90))]


def mindspore(gpu=False):
    """Returns a timeline of MindSpore without metadata, profiler/parser/integrator.py: the pid is the device, the tid is the stream.
    On Ascend, the pid 9000 shows work of the device's own CPUs, and the pid 10000 shows collectives."""
    def args(name, **more):
        return {'type': name.split('-')[0], **more}
    if gpu:
        return [x('Default/InitDataSetQueue-op0', 1, 'Ops', 0, 90), x('Default/MatMul-op5', 1, 'Ops', 15, 9),
                *(x(SIGNATURE, 1, '17', ts, 30, type='cuLaunchKernel', op_full_name='Default/MatMul-op5', grid_dim='8,1,1', block_dim='1,1,1')
                  for ts in (20, 60))]
    return [x('InitData', 9000, '0', 0, 8), x('InitData', 9000, '0', 10, 8), x('MatMul-op1', 1, '519', 20, 30, **args('MatMul', fullname='Default/MatMul-op1')),
            x('Mul-op2', 1, '523', 40, 20, **args('Mul', fullname='Default/Mul-op2')), x('stream_520_parallel_0', 10000, '520', 70, 25),
            x('stream_520_parallel_1', 10000, '520', 100, 5)]


SIGNATURE = 'void at::native::elementwise_kernel<128, 2>(int)'
BLITS = ('__amd_rocclr_copyBuffer.kd', '__amd_rocclr_copyBufferRectAligned', '__amd_rocclr_fillBufferAligned.kd')


def jax_rocm():
    """trace.json.gz of JAX on ROCm: copies are known by their stat, by their stream, or by the kernels that HIP copies with."""
    details = 'kind:Unknown size:655360 dest:2 async:1'
    return [*meta(1, '/device:GPU:0', None, t7='Stream #7(Kernel)', t8='Stream #8(MemcpyD2D,MemcpyOther)', t9='Stream #9(Kernel,MemcpyOther)'),
            *meta(701, '/host:CPU', None, t3='python'), x('gemm.kd', 1, 7, 20, 50, correlation_id=3),
            *(x(name, 1, 7, 100 + 10 * i, 5) for i, name in enumerate(BLITS)), x('CopyDeviceToDevice', 1, 8, 200, 5),
            x('CopyDeviceToDevice', 1, 9, 300, 5, memcpy_details=details), x('CopyKernel', 1, 9, 400, 5),
            x('Fill', 1, 9, 500, 5, memset_details='kind:Unknown size:8'), x('hipMemcpyDtoDAsync', 701, 3, 5, 5, memcpy_details=details, correlation_id=4)]


def blits():
    """Kernels of Kineto's ROCm traces with which HIP copies and fills."""
    return [*meta(0, 'python', 'GPU 0'), x('gemm', 0, 7, 0, 5, 'kernel'), *(x(name, 0, 7, 10 + 10 * i, 5, 'kernel') for i, name in enumerate(BLITS))]


def bare(label):
    """Returns events of a device without categories, as old versions of torch.profiler and many scripts write them."""
    return [*meta(5, 'python', label, t1='stream 1'), *meta(6, 'python', 'CPU'), x('k1', 5, 1, 0, 10), x('k2', 5, 1, 20, 10), x('main', 6, 6, 0, 40)]


def cupti(threads, cat=None, copy='[MEMCPY] DtoH', **args):
    """Returns work as programs write it that convert CUPTI's records: kernels as C++ signatures, no process and no thread of a device."""
    return [*meta(1, None, None, **threads), x(SIGNATURE, 1, 7, 20, 50, cat, **args), x('ampere_sgemm_128x64_nn', 1, 7, 80, 10, cat, **args),
            *([x(copy, 1, 7, 100, 5, cat, **args)] if copy else []), x('main', 9, 9, 0, 200), x('cudaMemcpyAsync', 9, 9, 5, 10)]


def aiu():
    """Returns raw work of IBM's flex runtime, whose pids are ranks: aiu_trace_analyzer/dialect.py and pipeline/categorize.py."""
    return [x('add_11 Cmpt Prep', 3, 1, 0, 10), x('add_11 Cmpt Exec', 3, 2, 10, 20), x('input DmaI', 3, 3, 40, 5),
            x('SenRdmaSend_1 Data [sync=AllReduce_all_reduce_4_s0_r1_0] DmaO', 3, 4, 50, 5),
            x('SenRdmaSend_1 - Set BcList [sync=AllReduce_all_reduce_4_s0_r1_0] DmaO', 3, 4, 48, 1), x('Execute Graph', 1000, 1, 0, 60)]


DEVICES = {
    **{f'CUPTI, {what}': (cupti(threads, cat, copy, **args), {'devices': {device}, 'kernel': ['ampere_sgemm_128x64_nn', SIGNATURE], 'op': [],
                                                              'memcpy': [copy] if copy else [], 'runtime': ['cudaMemcpyAsync'],
                                                              'busy': 65000 if copy else 60000})
       for what, threads, cat, copy, args, device in (
           ('copies', {}, None, '[MEMCPY] DtoH', {}, 'GPU'), ('copies of nvprof', {}, 'cuda', '[CUDA memcpy DtoH]', {}, 'GPU'),
           ('links', {}, 'GPU', None, {'correlationId': 5}, 'GPU'), ('a stream', {'t7': 'stream 7'}, 'gpu', None, {}, 'GPU'),
           ('a numbered stream', {'t7': 'GPU 3 stream 7'}, None, None, {}, 'GPU 3'))},
    'AIU': (aiu(), {'devices': {'AIU 3'}, 'kernel': ['SenRdmaSend_1 Data [sync=AllReduce_all_reduce_4_s0_r1_0] DmaO', 'add_11 Cmpt Exec'],
                    'memcpy': ['input DmaI'], 'collective': 1, 'op': [], 'busy': 30000}),
    'NVIDIA, Kineto': (kineto('GPU', 'kernel', 'cuda_runtime', 'gpu_memcpy', 'cudaLaunchKernel'), kineto_answer('GPU', 'cudaLaunchKernel')),
    'AMD, Kineto': (kineto('GPU', 'kernel', 'cuda_runtime', 'gpu_memcpy', 'hipLaunchKernel'), kineto_answer('GPU', 'hipLaunchKernel')),
    'XPU, Kineto': (kineto('XPU', 'kernel', 'xpu_runtime', 'gpu_memcpy', 'urEnqueueKernelLaunch'), kineto_answer('XPU', 'urEnqueueKernelLaunch')),
    'MTIA, Kineto': (kineto('MTIA', 'mtia_ccp_events', 'mtia_runtime', 'gpu_memcpy', 'mtiaLaunch'), kineto_answer('MTIA', 'mtiaLaunch')),
    'MLU, torch_mlu': (kineto('MLU', 'kernel', 'mlu_runtime', 'mlu_memcpy', 'cnInvokeKernel'), kineto_answer('MLU', 'cnInvokeKernel')),
    'HPU, Kineto': (kineto('HPU', 'hpu_kernel', 'hpu_runtime', 'hpu_memcpy', 'synLaunch'), kineto_answer('HPU', 'synLaunch')),
    'GCU, port of Kineto': (kineto('GCU', 'gcu_kernel', 'gcu_runtime', 'gcu_memcpy', 'topsLaunchKernel'), kineto_answer('GCU', 'topsLaunchKernel')),
    'MUSA, torch_musa': (kineto('MUSA', 'kernel', 'musa_runtime', 'musa_memcpy', 'musaLaunchKernel'), kineto_answer('MUSA', 'musaLaunchKernel')),
    'private backend': (kineto('Neuron', 'kernel', 'privateuse1_runtime', 'gpu_memcpy', 'launch'), kineto_answer('Neuron', 'launch')),
    'Ascend': (ascend(), {'devices': {'NPU 2'}, 'kernel': ['aclnnMm_MatMulV2', 'hcom_allReduce__586_0_1'], 'memcpy': ['MEMCPY_ASYNC'], 'linked': 1,
                          'runtime': ['AscendCL@aclnnMm', 'AscendCL@hcom_allReduce_', 'Node@launch'], 'collective': 1, 'busy': 160000}),
    'rocprof 1': (rocprof(1), {'devices': {'GPU 0'}, 'kernel': ['Cijk_Ailk_Bljk.kd'], 'memcpy': ['CopyHostToDevice'], 'busy': 53000}),
    'rocprof 1, two GPUs': (rocprof(2), {'devices': {'GPU 0', 'GPU 1', 'COPY'}, 'kernel': ['Cijk_Ailk_Bljk.kd'] * 2, 'memcpy': ['CopyHostToDevice'],
                              'runtime': ['hipLaunchKernel'], 'annotation': ['step'], 'linked': 1}),
    'rpd': (rpd(), {'devices': {'GPU 0'}, 'kernel': ['Cijk_Ailk_Bljk'], 'memcpy': ['CopyHostToDevice'], 'runtime': ['hipLaunchKernel'],
                    'linked': 1, 'busy': 55000}),
    'unitrace': (unitrace(), {'devices': {'XPU 1'}, 'kernel': ['Tile #0: gemm_kernel', 'oneccl_allreduce_pcie<half>'],
                              'memcpy': ['zeCommandListAppendMemoryCopy(H2D)[4096]'], 'runtime': ['zeCommandListAppendLaunchKernel'],
                              'collective': 1, 'linked': 1, 'op': [], 'busy': 60000}),
    'unitrace, MPI': (unitrace('RANK 3 '), {'devices': {'XPU 1'}, 'kernel': ['Tile #0: gemm_kernel', 'oneccl_allreduce_pcie<half>'], 'busy': 60000}),
    'nsys2json': (nsys2json(), {'devices': {'GPU 0', 'GPU 1'}, 'kernel': ['sgemm'] * 2, 'runtime': ['cudaLaunchKernel'], 'annotation': ['step'],
                                'linked': 1, 'busy': 90000}),
    'autograd profiler': (autograd(), {'devices': {'GPU'}, 'kernel': ['sgemm'], 'op': ['aten::mm'], 'busy': 50000}),
    'MXNet': (mxnet(), {'devices': {'GPU 0', 'GPU 1'}, 'kernel': ['Convolutionin: [[1,3,8,8]]'] * 2, 'memcpy': ['CopyCPU2GPU', 'CopyGPU2CPU'],
                        'op': ['Convolutionin: [[1,3,8,8]]', 'stack'], 'runtime': [], 'busy': 101000}),
    'MindSpore, Ascend': (mindspore(), {'devices': {'NPU 1'}, 'op': [], 'runtime': [], 'collective': 2, 'busy': 86000, 'kernel': [
        'InitData', 'InitData', 'MatMul-op1', 'Mul-op2', 'stream_520_parallel_0', 'stream_520_parallel_1']}),
    'MindSpore, GPU': (mindspore(True), {'devices': {'GPU 1'}, 'kernel': [SIGNATURE] * 2, 'op': [], 'runtime': [], 'busy': 60000}),
    'JAX, ROCm': (jax_rocm(), {'devices': {'GPU:0'}, 'kernel': ['CopyKernel', 'gemm.kd'], 'runtime': ['hipMemcpyDtoDAsync'], 'busy': 85000,
                               'memcpy': ['CopyDeviceToDevice'] * 2 + list(BLITS[:2]), 'memset': ['Fill', BLITS[2]]}),
    'HIP blits': (blits(), {'devices': {'GPU 0'}, 'kernel': ['gemm'], 'memcpy': list(BLITS[:2]), 'memset': [BLITS[2]], 'busy': 20000}),
    'JAX': (jax(), {'devices': {'GPU:0'}, 'kernel': ['gemm_fusion'], 'runtime': ['cuLaunchKernel'], 'linked': 1, 'busy': 50000}),
    **{f'{label}, without categories': (bare(label), {'devices': {'GPU 5' if label == 'GPU' else label}, 'kernel': ['k1', 'k2'], 'busy': 20000})
       for label in ('GPU 0', 'NPU 3', 'XPU 1', 'TPU 0', 'MPS 0', 'Neuron 2', 'IPU 0', 'GCU 0', 'NPU', 'GPU')},
}


def launched(path):
    """Returns the names of work and launch of all work whose launch is known."""
    out = run('sql', '-q', '--json', path, '-e', 'SELECT k.name, l.name FROM event k JOIN event l ON l.id = k.launch_id')
    return json.loads(out)['results'][0]['rows']


def judge_devices(what, path, answer):
    """Compares the results of all commands with the expected results."""
    out = json.loads(run('report', '-q', '--json', path))
    rows = [r for r in out['ranks'] if r['device']]
    check(f'{what}: devices', {r['device'] for r in rows} == answer['devices'], [r['device'] for r in rows])
    for kind in ('kernel', 'memcpy', 'memset', 'runtime', 'annotation', 'op'):
        if kind in answer:
            found = names(path, kind)
            check(f'{what}: {kind}', found == answer[kind], found)
    if 'collective' in answer:
        found = names(path, 'collective')
        check(f'{what}: collectives', len(found) == answer['collective'], found)
        check(f'{what}: communication', all(r['communication_ns'] is not None for r in rows) and sum(r['communication_ns'] for r in rows) > 0, rows)
    if 'linked' in answer:
        check(f'{what}: linked', sum(r['linked'] or 0 for r in rows) == answer['linked'], [r['linked'] for r in rows])
        found = launched(path)
        check(f'{what}: launch_id', len(found) == answer['linked'], found)
    if 'busy' in answer:
        check(f'{what}: busy', sum(r['busy_ns'] for r in rows) == answer['busy'], [r['busy_ns'] for r in rows])
    check(f'{what}: top', b'"name"' in run('top', '-q', '--kind', 'kernel', '--json', path), 'no kernels')
    said = run('info', '-q', path).decode()
    check(f'{what}: info', 'busy' in said and all(d in said for d in answer['devices']), said)


def write(folder, name, events):
    path = os.path.join(folder, name)
    with open(path, 'w', encoding='utf-8') as f:
        json.dump({'traceEvents': events}, f)
    return path


# ---- Perfetto ----

def varint(v):
    out = bytearray()
    while v > 127:
        out.append(v & 127 | 128)
        v >>= 7
    return bytes(out + bytes([v]))


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def perfetto(path, tracks):
    """Writes {track: [(name, category, start, duration, flow)]} as tracks of one process, with times in us."""
    packet = lambda *fields: field(1, b''.join(fields) + field(10, 1))  # noqa: E731
    out = packet(field(60, field(1, 1) + field(3, field(1, 42) + field(6, 'app'))))
    for uuid, (track, spans) in enumerate(tracks.items(), 2):
        out += packet(field(60, field(1, uuid) + field(5, 1) + field(2, track)))
        for name, cat, start, dur, flow_id in spans:
            event = field(9, 1) + field(11, uuid) + field(22, cat) + field(23, name) + (varint(47 << 3 | 1) + flow_id.to_bytes(8, 'little') if flow_id else b'')
            out += packet(field(8, start * 1000), field(11, event))
            out += packet(field(8, (start + dur) * 1000), field(11, field(9, 2) + field(11, uuid)))
    with open(path, 'wb') as f:
        f.write(out)


PERFETTO = {
    'rocprofv3': ({'THREAD 1 (77)': [('hipLaunchKernel', 'hip_api', 5, 10, 1), ('hipMemcpyAsync', 'hip_api', 16, 10, 2), ('roctx', 'marker_api', 30, 10, 0)],
                   'COMPUTE AGENT [4] QUEUE [0] (GPU)': [('gemm', 'kernel_dispatch', 20, 50, 1)],
                   'COPY to AGENT [0] THREAD [1] (CPU)': [('MEMORY_COPY_DEVICE_TO_HOST', 'memory_copy', 80, 5, 2)]},
                  {'devices': {'GPU agent 4'}, 'kernel': ['gemm'], 'memcpy': ['MEMORY_COPY_DEVICE_TO_HOST'],
                   'runtime': ['hipLaunchKernel', 'hipMemcpyAsync'], 'annotation': ['roctx'], 'linked': 2, 'busy': 55000}),
    'rocprofv3, two agents': ({'COMPUTE AGENT [4] QUEUE [0] (GPU)': [('gemm', 'kernel_dispatch', 20, 50, 0)],
                               'COMPUTE AGENT [4] QUEUE [1] (GPU)': [('gemm', 'kernel_dispatch', 20, 60, 0)],
                               'COMPUTE AGENT [5] QUEUE [0] (GPU)': [('gemm', 'kernel_dispatch', 20, 70, 0)]},
                              {'devices': {'GPU agent 4', 'GPU agent 5'}, 'kernel': ['gemm'] * 3, 'busy': 130000}),
    'rocprofv3, GPU numbers': ({'COMPUTE GPU [1] QUEUE [0] (GPU)': [('gemm', 'kernel_dispatch', 20, 50, 0)],
                                'COMPUTE Agent [0] QUEUE [0] (GPU)': [('gemm', 'kernel_dispatch', 20, 60, 0)]},
                               {'devices': {'GPU 1', 'GPU agent 0'}, 'kernel': ['gemm'] * 2, 'busy': 110000}),
    'rocprofv3, streams': ({'STREAM [" 0 "] ': [('gemm', 'kernel_dispatch', 20, 50, 0), ('MEMORY_COPY_HOST_TO_DEVICE', 'memory_copy', 80, 5, 0)]},
                           {'devices': {'GPU'}, 'kernel': ['gemm'], 'memcpy': ['MEMORY_COPY_HOST_TO_DEVICE'], 'busy': 55000}),
    'rocprof 2': ({'Dev 1 Queue 2': [('gemm', 'KERNELS', 20, 50, 1)], 'MEM COPIES(77): ': [('CopyHostToDevice', 'MEM_COPIES', 80, 5, 0)],
                   'HIP API 77': [('hipLaunchKernel', 'HIP_API', 5, 10, 1)]},
                  {'devices': {'GPU 1'}, 'kernel': ['gemm'], 'memcpy': ['CopyHostToDevice'], 'runtime': ['hipLaunchKernel'], 'linked': 1, 'busy': 55000}),
    'rocprofiler-systems, queues': ({'main': [('hipLaunchKernel', 'rocm_hip_api', 5, 10, 1), ('run', 'host', 0, 90, 0)],
                                     'GPU Kernel Dispatch [0] Queue 1': [('gemm', 'rocm_kernel_dispatch', 20, 50, 1)],
                                     'GPU Memory Copy to Agent [2] Thread 0': [('MEMORY_COPY_HOST_TO_DEVICE', 'rocm_memory_copy', 80, 5, 0)]},
                                    {'devices': {'GPU 0'}, 'kernel': ['gemm'], 'memcpy': ['MEMORY_COPY_HOST_TO_DEVICE'],
                                     'runtime': ['hipLaunchKernel'], 'linked': 1, 'busy': 55000}),
    'rocprofiler-systems, streams': ({'HIP Activity Stream 1': [('gemm', 'rocm_hip_stream', 20, 50, 0), ('MEMORY_COPY_HOST_TO_DEVICE', 'rocm_hip_stream', 80, 5, 0)],
                                      'main': [('hipLaunchKernel', 'rocm_hip_api', 5, 10, 0)]},
                                     {'devices': {'GPU'}, 'kernel': ['gemm'], 'memcpy': ['MEMORY_COPY_HOST_TO_DEVICE'], 'busy': 55000}),
    'omnitrace': ({'HIP Activity Device 1, Queue 0': [('gemm', 'device_hip', 20, 50, 0), ('CopyHostToDevice', 'device_hip', 80, 5, 0)],
                   'main': [('hipLaunchKernel', 'rocm_hip', 5, 10, 0)]},
                  {'devices': {'GPU 1'}, 'kernel': ['gemm'], 'memcpy': ['CopyHostToDevice'], 'runtime': ['hipLaunchKernel'], 'busy': 55000}),
}


# ---- hosts and unknown devices ----

HOSTS = {
    'Chrome': [*meta(7, 'GPU Process', None, t8='CrGpuMain', t9='VizCompositorThread'), x('Scheduler::RunNextTask', 7, 8, 0, 10, 'gpu')],
    'args of MindSpore': [x('open', 1, 1, 0, 10, fullname='/etc/passwd', type='file'), x('main', 1, 2, 20, 10),
                          x('stream_3_parallel_x', 10000, 3, 0, 5), x('idle', 9000, 1, 0, 5, 'sched')],
    'Android': [*meta(7, 'com.app', None, t8='GPU completion', t9='RenderThread'), x('waiting for GPU completion 1', 7, 8, 0, 10)],
    'Node': [*meta(7, 'node', None, t8='stream 0', t9='queue'), x('read', 7, 8, 0, 10), x('pump', 7, 9, 0, 10)],
    'calls with a stream': [*meta(7, 'python', 'CPU'), x('triton_poi_fused_0', 7, 7, 0, 10, 'cpu_op', stream=7, device=0)],
    'a copy of files': [*meta(1, 'COPY', None, t1='worker'), x('CopyHostToDevice', 1, 1, 0, 10)],
    'a worker called Device': [*meta(1, 'Device 1', None, t1='Stream 1'), x('decode', 1, 1, 0, 10)],
    'a build': [*meta(1, 'bazel'), x('Compiling kernel.cc', 1, 1, 0, 10, 'action processing'), x('kernel', 1, 1, 20, 10, 'kernel_build')],
    'communication of processes': [*meta(1, 'Communication', None, t1='ipc'), x('send', 1, 1, 0, 10), x('HCCL', 1, 1, 20, 5)],
    'a kernel among operators': [x(SIGNATURE, 1, 7, 20, 50), x('aten::add', 1, 7, 80, 5), x('[MEMCPY] DtoH', 1, 7, 100, 5)],
    'a kernel among calls': [*meta(1, None, None, t7='stream 7'), x(SIGNATURE, 1, 7, 20, 50), x('cudaLaunchKernel', 1, 7, 80, 5)],
    'a kernel of a CPU': [x(SIGNATURE, 1, 7, 20, 50), x('main', 1, 8, 0, 100)],
    'functions of a stream': [*meta(1, None, None, t7='stream 7'), x('void Decoder::run(int)', 1, 7, 20, 50), x('Frame::Frame(int)', 1, 7, 80, 5)],
    'nested functions': [*meta(1, None, None, t7='stream 7'), x('void run<int>(int)', 1, 7, 20, 50), x('void step<int>(int)', 1, 7, 30, 5)],
    'words of an AIU': [x('input DmaI', 1, 1, 0, 5), x('prepare Cmpt Exec later', 1, 1, 10, 5)],
    'python': [*meta(1, 'python', 'CPU'), x('vllm/pynccl.py(103): all_reduce', 1, 1, 0, 10, 'python_function')],
}
SUSPECTS = {
    'a thread': ([*meta(1, 'runtime', None, t1='NeuronCore 0'), x('matmul', 1, 1, 0, 10)], 'NeuronCore 0'),
    'a process': ([*meta(1, 'Gaudi HW traces', None, t1='TPC 0'), x('matmul', 1, 1, 0, 10)], 'Gaudi HW traces'),
    'a process called GPU': ([*meta(1, 'GPU', None, t1='main'), x('render', 1, 1, 0, 10), x('idle', 1, 2, 0, 10)], 'GPU'),
    'args': ([*meta(1, 'runtime', None, t1='lane'), x('matmul', 1, 1, 0, 10, 'work', stream=3, device=1)], 'matmul'),
}


def no_device(what, path):
    out = json.loads(run('report', '-q', '--json', path))
    check(f'{what}: no device', all(not r['device'] or not r['work'] for r in out['ranks']), [r['device'] for r in out['ranks']])
    found = [n for kind in ('device', 'kernel', 'memcpy', 'collective') for n in names(path, kind)]
    check(f'{what}: no kinds', not found, found)
    return out['unknown']


# ---- names ----

COLLECTIVES = [
    'ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)', 'ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)',
    'rcclGenericKernel<1, false>(ncclDevKernelArgsStorage<4096ul>)', 'ncclSymkDevKernel_AllReduce_AGxLL_R_sum_bf16(ncclSymkDevWorkArgs)',
    'mcclKernel_AllReduce_RING_SIMPLE_Sum___mt_bfloat16(mcclWorkElem)', 'ecclKernel_AllReduce_MESH_DIRECT_SIMPLE_Sum_bfloat(ecclWorkElem)',
    'pcclKernel_twoShotAllReduceKernel', 'void mscclKernel_Sum_half_LL(mscclWork)', 'oneccl_allreduce_pcie<half, Rt64_128_PCIE, RingTransmit>',
    'void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)', 'void aiter::reduce_scatter_cross_device_store<bf16, 8>(int)',
    'void quickreduce::allreduce_prototype_twoshot<AllReduceTwoshot<__half, CodecQ4<__half, 4>, true>, __half>(__half const*)',
    'void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<0, __nv_bfloat16, 8>(int)',
    'void flashinfer::trtllm_mnnvl_allreduce::twoshotAllreduceKernel<(unsigned char)2, __nv_bfloat16, true>(float*)',
    'void tensorrt_llm::kernels::twoShotAllReduceKernel<__half, 8>(tensorrt_llm::kernels::AllReduceParams)',
    'void tensorrt_llm::kernels::reduce_fusion::lamport_style_one_shot_all_reduce_norm_kernel<__half, 8>(int)',
    'multimem_all_reduce_kernel', 'void (anonymous namespace)::multimem_one_shot_all_reduce_kernel<c10::BFloat16, 16>(int)',
    'void c10d::symmetric_memory::two_shot_all_reduce_kernel_inplace<float>(float*)', 'void deep_ep::intranode::dispatch<8, 768>(int)',
    'void deep_ep::internode_ll::combine<true, 7168>(void*)', 'void dpsk::ep::internode::dispatch<true, 8>(int4*)',
    'void flashinfer::trtllm_alltoall::moeA2ADispatchKernel<8>(int const*)', 'moeA2ACombineKernel(int)', 'void mori::moe::EpDispatchIntraNodeKernel<float>(int)', 'EpCombineIntraNodeKernel_bf16',
    'void nvshmemi_reduce_kernel<float>(int)', 'userbuffers_fp16_sum_inplace_gpu_rr_rs_oop', 'kuserbuffers_pushrecv(int, int)', 'hcom_reduceScatter__123_0_1',
    'all-reduce-start.3', '%all-gather.1 = f32[8] all-gather(%p)', 'ragged-all-to-all.2', 'collective-broadcast.1']
OTHERS = [
    'sm90_xmma_gemm_bf16', 'void cub::DeviceReduceKernel<int>', 'void splitKreduce_kernel<32, 16>(int)', 'void reduce_scatter_free_softmax(int)',
    'index_gather_kernel', 'void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(float)', 'all_gather_rows_kernel_unrelated',
    'void at::native::elementwise_kernel<multimem_tag>(int)', 'void deep_ep::layout::get_dispatch_layout<256>(int)', 'broadcast_add_kernel',
    'fused_reduce_scatter_norm(cross_device_buffer*)', 'void cutlass::Kernel2<nvshmem_free>(int)', 'reduce.12', 'execClKernel', 'wait_allreduce']


def judge_calls(folder):
    """Calls of runtimes are recognised without a category and without a device; functions with similar names are not."""
    calls = ['cuLaunchKernel', 'cuMemcpyDtoHAsync_v2', 'cuMemAlloc_v2', 'cuInit', 'cuTensorMapEncodeTiled', 'cuDevicePrimaryCtxRetain', 'cuGetProcAddress_v2',
             'cudaMemcpyAsync', 'cudaLaunchKernelExC_v11060', 'cudaD3D11GetDevice', 'hipLaunchKernel', 'hipExtModuleLaunchKernel', 'hsa_signal_create',
             'zeCommandListAppendLaunchKernel', 'urEnqueueKernelLaunch']
    others = ['cuApplyLayerNorm<float>', 'cuComputeGradInput', 'cuInitialise', 'cudaten', 'custom', 'zeBra', 'urA', 'hipX', 'zeroDevice']
    path = write(folder, 'calls.json', [x(n, 1, 1, 10 * i, 5) for i, n in enumerate(calls + others)])
    found = names(path, 'runtime')
    check('calls without categories', found == sorted(calls), sorted(set(found) ^ set(calls)))
    path = write(folder, 'apex.json', [*meta(0, 'python', 'GPU 0', t7='stream 7'), x('cuComputeGradInput', 0, 7, 0, 5), x('cuEventRecord', 1, 1, 0, 5)])
    check('a kernel of apex', names(path, 'kernel') == ['cuComputeGradInput'] and names(path, 'runtime') == ['cuEventRecord'], names(path, 'kernel'))


def judge_mxnet(folder):
    """Checks that MXNet's async spans, which repeat operators and work, get no kind, with and without GPUs."""
    for gpus, want in ((True, {'op': 2, 'kernel': 2, 'memcpy': 2, 'device': 4}), (False, {'op': 2})):
        path = write(folder, 'mxnet.json', mxnet(gpus))
        found = {k: n for k, n in json.loads(run('info', '-q', '--json', path))['traces'][0]['kinds'].items() if k in ('op', 'kernel', 'memcpy', 'device')}
        check(f'MXNet, {"GPUs" if gpus else "no GPU"}: kinds', found == want, found)
        work = {r['name']: r['total_ns'] for r in json.loads(run('top', '-q', '--kind', 'device', '--allow-empty', '--json', path))['rows']}
        check(f'MXNet, {"GPUs" if gpus else "no GPU"}: work', sum(work.values()) == (101000 if gpus else 0), work)


def judge_mtia(folder):
    """Checks that waits and records of events on MTIA are not kernels, and that its DMA requests are copies."""
    names = [('fc-dtype_Float', 300), ('event_wait', 500), ('event_record', 1), ('dma_request', 20), ('dma_request', 30)]
    path = write(folder, 'mtia.json', [*meta(9, 'python3.8', 'MTIA 9'), *meta(7, 'python'), x('aten::mm', 7, 7, 0, 40, 'cpu_op'),
                                       *(x(n, 9, 1, 1000 * i, dur, 'mtia_ccp_events', stream=1) for i, (n, dur) in enumerate(names))])
    for kind, want in (('kernel', {'fc-dtype_Float': 1}), ('memcpy', {'dma_request': 2}), ('transfer', {'dma_request': 2})):
        out = json.loads(run('top', '-q', '--json', '--kind', kind, path))
        got = {r['name']: r['count'] for r in out['rows']}
        check(f'MTIA: {kind}', got == want, got)
    sizes = [('HOST_TO_DEVICE', 4096, 10), ('DEVICE_TO_HOST', 256, 20), ('HOST_TO_DEVICE', 1024, 30)]
    path = write(folder, 'dma.json', [*meta(9, 'python3.8', 'MTIA 9'), *meta(7, 'python'), x('aten::mm', 7, 7, 0, 40, 'cpu_op'),
                                      *(x('dma_request', 9, 1, 1000 * i, dur, 'mtia_ccp_events', stream=1, direction=d, size=n)
                                        for i, (d, n, dur) in enumerate(sizes))])
    report = json.loads(run('report', '-q', '--json', path))
    got = {k['name']: (k['count'], k['bytes'], k['total_ns']) for k in report['kernels']}
    check('MTIA: copies by direction', got == {'dma_request (HOST_TO_DEVICE)': (2, 5120, 40000), 'dma_request (DEVICE_TO_HOST)': (1, 256, 20000)}, got)
    check('MTIA: copies of the host', [r['host_copy_ns'] for r in report['ranks']] == [60000], report['ranks'])


def judge_hcom(folder):
    """Checks that the collectives of HCCL have a row for each operation, not for each call."""
    names = ['hcom_allReduce__586_0_1', 'hcom_allReduce__586_1_1', 'hcom_allReduce__605_0_12', 'hcom_allGather__586_2_1', 'hcom_reduceScatter_AicpuKernel_503_490_1',
             'hcom_send__1_2']
    path = write(folder, 'hcom.json', [*meta(162, 'Ascend Hardware', 'NPU'), *meta(194, 'HCCL', 'NPU', t0='Group 0 Communication'),
                                       *(x(n, 194, 0, 100 * i, 10, data_type='FP32', count=100) for i, n in enumerate(names))])
    got = {c['name']: c['count'] for c in json.loads(run('report', '-q', '--json', path))['collectives']}
    want = {'hcom_allReduce': 3, 'hcom_allGather': 1, 'hcom_reduceScatter_AicpuKernel': 1, 'hcom_send__1_2': 1}
    check('HCCL: a row for each operation', got == want, got)


def judge_external(folder):
    """Checks that the External id of work links it to an operator only if it is not its correlation id, and if the operator does not
    begin after the work."""
    work = lambda name, ts, **args: x(name, 0, 7, ts, 10, 'kernel', **args)  # noqa: E731
    path = write(folder, 'external.json', [
        *meta(0, 'python3.8', 'GPU 0'), *meta(7, 'python'), x('aten::mm', 7, 7, 0, 40, 'cpu_op', **{'External id': 3}),
        x('aten::add', 7, 7, 500, 40, 'cpu_op', **{'External id': 4}), work('linked', 20, correlation=9, **{'External id': 3}),
        work('equal', 40, correlation=3, **{'External id': 3}), work('early', 60, correlation=8, **{'External id': 4}),
        work('alone', 80, **{'External id': 3})])
    out = json.loads(run('top', '-q', '--json', '--kind', 'kernel', '--by', 'op', path))
    got = {r['name']: r['count'] for r in out['rows']}
    check('External ids', got == {'aten::mm': 2, None: 2}, got)


def judge_ranges(folder):
    """Checks that ranges of CUPTI's range profiler, whose times are arbitrary, count neither as work of the host nor of the
    device."""
    kernels = ['void gemm<float>(float*)', 'Memcpy HtoD', 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(int)']
    path = write(folder, 'ranges.json', [*meta(0, 'python3.8', 'GPU 0'), *meta(9, 'python'),
                                         *(x(n, 0, 0, 100 * i, 100, 'cuda_profiler_range', **{'smsp__inst.sum': i}) for i, n in enumerate(kernels)),
                                         x('aten::mm', 9, 9, 0, 40, 'cpu_op'), x('cudaLaunchKernel', 9, 9, 10, 5, 'cuda_runtime')])
    out = json.loads(run('report', '-q', '--json', path))
    host = sorted((r['name'], r['self_ns']) for r in out['operators'])
    check('ranges: no work of the host', host == [('aten::mm', 35000), ('cudaLaunchKernel', 5000)], host)
    devices = [(r['device'], r['work'] or 0) for r in out['ranks']]
    check('ranges: no work of a device', devices == [(None, 0)] and not out['kernels'], (devices, out['kernels']))
    check('ranges: explained', any(s.startswith("CUPTI's range profiler") for s in out['unknown']), out['unknown'])
    check('ranges: no second sentence', not any('looks like a device' in s or s.startswith('no GPU') for s in out['unknown']), out['unknown'])
    kinds = {kind: names(path, kind) for kind in ('device', 'kernel', 'memcpy', 'collective', 'op')}
    size = {r['kind']: r['events'] for r in json.loads(run('size', '-q', '--json', path))['kinds']}
    check('ranges: size', size.get('other spans') == 4 and 'annotations and steps' not in size, size)
    check('ranges: kinds', kinds == {'device': sorted(kernels), 'kernel': [], 'memcpy': [], 'collective': [], 'op': ['aten::mm']}, kinds)


def judge_names(folder):
    path = write(folder, 'names.json', [*meta(0, 'python', 'GPU 0'), *(x(n, 0, 7, 10 * i, 5, 'kernel') for i, n in enumerate(COLLECTIVES + OTHERS))])
    found = set(names(path, 'collective'))
    for name in COLLECTIVES:
        check(f'collective: {name}', name in found, 'is not one')
    rows = [c['name'] for c in json.loads(run('report', '-q', '--json', path))['collectives']]
    check('collectives have the names of their kernels', 'multimem_one_shot_all_reduce_kernel' in rows and not any(n.startswith('void') for n in rows), rows)
    for name in OTHERS:
        check(f'no collective: {name}', name not in found, 'is one')


def judge_functions(folder):
    """Without its arguments, the name of a collective is the name of its function."""
    given = ['void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)', 'void vllm::cross_device_reduce_1stage<half, 2>(half*)',
             'ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)', 'all-reduce.3']
    path = write(folder, 'functions.json', [*meta(0, 'python', 'GPU 0'), *(x(n, 0, 7, 10 * i, 5, 'kernel') for i, n in enumerate(given))])
    found = sorted(c['name'] for c in json.loads(run('report', '-q', '--json', path))['collectives'])
    want = ['all-reduce', 'multimem_all_reduce_kernel', 'ncclDevKernel_AllReduce_Sum_f32_RING_LL', 'vllm::cross_device_reduce_1stage']
    check('functions of collectives', found == want, found)


def judge_python(folder):
    """Checks that Python functions have one kind whichever tool recorded them, and that functions that wait count as waits."""
    work, waits = ('len', 'main (/w.py:3)'), ('_multiprocessing.SemLock.__enter__', '_thread._ThreadHandle.join', '_thread.lock.acquire')
    for cat in ('python_function', 'FEE', 'fee'):
        path = write(folder, 'python.json', [x(name, 5, 5, 10 * i, 5, cat) for i, name in enumerate(work + waits)])
        check(f'{cat}: python', names(path, 'python') == sorted(work + waits), names(path, 'python'))
        kinds = {r['name']: r['kind'] for r in json.loads(run('report', '-q', '--json', path))['operators']}
        check(f'{cat}: kinds of the report', kinds == {**dict.fromkeys(work, 'python'), **dict.fromkeys(waits, 'wait')}, kinds)


# ---- alignment ----

def ascend_rank(rank, first, ahead, seed, n=24):
    """Returns a rank that records from the collective `first` on, so its indices of collectives count from there; times in us."""
    rnd, base, events, t = random.Random(seed), (4000 + rank) << 10, [], 1736408883000000.0
    events += meta(base | 162, 'Ascend Hardware', 'NPU') + meta(base | 194, 'HCCL', None, t0='Group 0 Communication')
    for k in range(n):
        t += 900 + rnd.random() * 700
        start, late, count = t, rnd.random() * 200, rnd.choice((4097000, 16781312))
        if k < first:
            continue
        span = x(f'hcom_allReduce__586_{k - first}_1', base | 194, 0, 0, 0, data_type='FP32', count=str(count))
        begin = start + (late if rank else 0) + ahead
        events.append({**span, 'ts': f'{begin:.3f}', 'dur': round(start + 400 + ahead + k * 7 % 5 - begin, 3)})
    return events


def judge_aligned(folder):
    for seed, (first, ahead) in enumerate([(0, 3000.0), (3, 3000.0), (1, -250000.0), (5, 60.0)]):
        paths = [write(folder, f'npu{seed}_rank{r}.json', ascend_rank(r, first if r else 0, ahead if r else 0, seed)) for r in (0, 1)]
        table, clocks, merged = (os.path.join(folder, f'{seed}{end}') for end in ('.json', '.clocks.json', '.merged.json'))
        run('merge', '-q', '--force', *paths, '-o', merged, '--collectives', table, '--align-report', clocks)
        with open(clocks, encoding='utf-8') as f:
            host = json.load(f)['hosts'][-1]
        with open(table, encoding='utf-8') as f:
            rows = json.load(f)['collectives']
        what = f'Ascend, {first} collectives later, {ahead} us ahead'
        check(f'{what}: offset', abs(host['offset_ns'] / 1e3 - ahead) < 5 <= host['error_us'], host)
        check(f'{what}: table', len(rows) == 24 - first and all(r['name'] == 'hcom_allReduce' and r['group'] == '586' and len(r['ranks']) == 2 for r in rows),
              rows[:2])
        check(f'{what}: bytes', {r['bytes'] for r in rows} == {4 * 4097000, 4 * 16781312}, {r.get('bytes') for r in rows})


def xspace(folder, working):
    """Writes the planes of four GPUs, of which those in `working` have a kernel."""
    kernel = message(4, number(1, 1) + message(2, number(1, 1) + message(2, b'gemm')))
    line = message(3, number(1, 7) + message(2, b'Stream #7(Compute)') + message(4, number(1, 1) + number(2, 10**6) + number(3, 5 * 10**6)))
    planes = [number(1, i) + message(2, f'/device:GPU:{i}'.encode()) + (line + kernel if i in working else b'') for i in range(4)]
    path = os.path.join(folder, 'run.xplane.pb')
    with open(path, 'wb') as f:
        f.write(b''.join(message(1, plane) for plane in planes))
    return path


def judge_run(folder):
    """Checks that `info` lists only the devices with work, for the XPlane of a run and for its JSON, which also names idle
    devices."""
    for working in ((1, 3), (0, 1, 2, 3), ()):
        events = [{'ph': 'M', 'name': 'process_name', 'pid': i + 1, 'args': {'name': f'/device:GPU:{i}'}} for i in range(4)]
        events += [{'ph': 'M', 'name': 'thread_name', 'pid': i + 1, 'tid': 7, 'args': {'name': 'Stream #7(Compute)'}} for i in range(4)]
        events += [{'ph': 'X', 'name': 'gemm', 'pid': i + 1, 'tid': 7, 'ts': 1, 'dur': 5} for i in working]
        events.append({'ph': 'X', 'name': 'main', 'pid': 701, 'tid': 1, 'ts': 0, 'dur': 9})
        want, lines = [f'GPU:{i}' for i in working], []
        for path in (xspace(folder, working), write(folder, 'run.json', events)):
            if 'json' not in path and not working:
                continue  # a file without events
            found = json.loads(run('info', '-q', '--json', path))['traces'][0]['devices']
            lines += [line for line in run('info', '-q', path).decode().splitlines() if line.startswith('  devices')]
            check(f'{os.path.basename(path)}: devices of a run', found == want, found)
        line = f'  devices   {len(want)}: {", ".join(want)}'
        check(f'devices in the text: {working}', lines == ([line] * 2 if want else []), lines)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for i, (what, (events, answer)) in enumerate(DEVICES.items()):
            judge_devices(what, write(folder, f'device{i}.json', events), answer)
        for i, (what, (tracks, answer)) in enumerate(PERFETTO.items()):
            path = os.path.join(folder, f'device{i}.pftrace')
            perfetto(path, tracks)
            judge_devices(what, path, answer)
        for i, (what, events) in enumerate(HOSTS.items()):
            unknown = no_device(what, write(folder, f'host{i}.json', events))
            check(f'{what}: said', any(s.startswith('no GPU') for s in unknown), unknown)
        for i, (what, (events, name)) in enumerate(SUSPECTS.items()):
            unknown = no_device(what, write(folder, f'suspect{i}.json', events))
            judge(f'suspect: {what}', '' if any(f"'{name}' looks like a device" in s for s in unknown) else f'{unknown}')
        judge_calls(folder)
        judge_mxnet(folder)
        judge_mtia(folder)
        judge_hcom(folder)
        judge_external(folder)
        judge_ranges(folder)
        judge_names(folder)
        judge_functions(folder)
        judge_python(folder)
        judge_aligned(folder)
        judge_run(folder)
    return finish()


sys.exit(main())
