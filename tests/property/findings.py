#!/usr/bin/env python3
"""Checks the findings of `report`: for each one, a trace that shows it and a trace that just does not.

    shown       each row of CASES makes two traces from the same healthy run; the first has exactly the findings of the row, the
                second, a near miss, does not have them
    names       names of spans that only resemble garbage collections, compilations and blocking calls
    devices     several devices, hosts and ranks: each is judged separately, and sentences state the number of others
    commands    the commands in the advice
    sentences   sentences and advice about idle time and copies
    worth       kernels that run for too little of the time to matter
    first_use   calls that initialize the device
    ranges      figures of a selected range
    inputs      damaged, empty and short inputs
    chance      ranks that arrive last in collectives: more often than by chance, or not
    places      rank, device, step, time and figure of findings, and that `--thresholds` moves them
    asserted    `check --assert 'findings == 0'`
    key_figures `check --assert` and `diff --fail-if` over the key figures
    split       the parts of each step add up to its length, in generated traces and fixtures, and the host's classes win in order
    in_time     `tree --sort start`
    overlaps    steps that overlap, and steps within steps (nested), and a device with steps of its own (own_steps)
    unrecorded  sentences about calls whose work is missing; host_only: no work of any call is recorded
    hosts       operators and annotations of `report` are those of `top` and `tree`"""
import gzip
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import finish, judge  # noqa: E402

TRACEKIT, FIXTURES = os.environ['TRACEKIT'], os.environ['FIXTURES']
PARTS = ('compute', 'communication', 'copy', 'input', 'compile', 'launch', 'runtime', 'sync', 'host', 'other', 'idle')


def run(*args, fine=(0,)):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, capture_output=True)
    if p.returncode not in fine:
        raise RuntimeError(f'{" ".join(args)}: status {p.returncode}: {p.stderr.decode("utf-8", "replace")[:300]}')
    return p


def same(what, got, want):
    judge(what, '' if got == want else f'{got}, not {want}')


def report(*args):
    return json.loads(run('report', '-q', '--json', *args).stdout)


# ---- a run ----

STEP, KERNELS = 10000, 10  # us; per step


class Run:
    """A host thread with steps of 10 ms. Each step launches ten kernels in its first 100 us, which leave the device idle for
    `pause` us at the end of the step."""

    def __init__(self, pause=100, steps=5, rank=None, durations=None, kernel=lambda i: f'kernel_{i}', args=lambda i: {}, work=True):
        self.events, self.correlation, self.extra, self.starts = [], 0, {}, []
        at = 0
        self.extra = {'distributedInfo': {'rank': rank, 'world_size': 2}} if rank is not None else {}
        for step in range(steps):
            length = durations[step] if durations else STEP
            self.span(f'ProfilerStep#{step}', 'user_annotation', at, length)
            self.span('aten::step', 'cpu_op', at, length)
            self.starts.append(at)
            each = (length - pause) / KERNELS
            for i in range(KERNELS if work else 0):
                self.launch(kernel(i), at + 10 * i, at + i * each, each, **args(i))
            at += length
        self.end = at

    def span(self, name, cat, ts, dur, pid=100, tid=1, **args):
        self.events.append({'ph': 'X', 'name': name, 'cat': cat, 'pid': pid, 'tid': tid, 'ts': ts, 'dur': dur, 'args': args})

    def device(self, name, ts, dur, cat='kernel', stream=7, **args):
        self.span(name, cat, ts, dur, 0, stream, stream=stream, device=0, **args)

    def launch(self, name, call, ts, dur, runtime='cudaLaunchKernel', **args):
        self.correlation += 1
        self.span(runtime, 'cuda_runtime', call, 5, correlation=self.correlation)
        self.device(name, ts, dur, correlation=self.correlation, **args)

    def each_step(self, add):
        for at in self.starts:
            add(at)
        return self

    def instant(self, name, ts, **args):
        self.events.append({'ph': 'i', 'name': name, 'pid': 100, 'tid': 1, 'ts': ts, 's': 't', 'args': args})

    def write(self, path):
        with open(path, 'w', encoding='utf-8') as f:
            json.dump({'schemaVersion': 1, **self.extra, 'traceEvents': self.events}, f)
        return path


# ---- one finding each ----

def in_pause(pause, name, cat, **more):
    """Returns a run whose host is in a span with this name during the pause at the end of each step."""
    made = Run(pause)
    return made.each_step(lambda at: made.span(name, cat, at + STEP - pause, pause, **more))


def with_syncs(count, pause, tid=1, dur=30, after=-5, name='aten::mm', cat='cpu_op'):
    """Returns a run whose host waits for the device `count` times in each step, the last time while the device becomes idle: from
    before its last work ends until `after` us after that. Then the host is in a span with this name for the rest of the pause."""
    made = Run(pause)

    def wait(at):
        for i in range(count):
            end = at + (STEP - pause + after if i + 1 == count else 300 + 40 * i)
            made.span('cudaStreamSynchronize', 'cuda_runtime', end - dur, dur, tid=tid)
        made.span(name, cat, at + STEP - pause + 20, pause - 20)
    return made.each_step(wait)


def with_copy(memory, early):
    """Returns a run whose host is in a copying call during the pause at the end of each step. The call returns `early` us before
    the copy ends."""
    made = Run(1500)
    return made.each_step(lambda at: [made.span('cudaMemcpyAsync', 'cuda_runtime', at + 8500, 1400 - early, correlation=90000 + at),
                                      made.device(f'Memcpy DtoH (Device -> {memory})', at + 9880, 20, 'gpu_memcpy', correlation=90000 + at)])


def stuck(launched):
    """Returns a run whose host waits for the device during the pause at the end of each step. The next work starts after the pause;
    `launched`: it was launched before."""
    made = Run(1500)

    def wait(at):
        made.span('cudaStreamSynchronize', 'cuda_runtime', at + 8500, 1380)
        made.launch('next', at + (8490 if launched else 9881), at + 9890, 10)
    return made.each_step(wait)


def with_item(count, again=False):
    """Returns a run with calls of .item(): a copy to pageable memory that is awaited, then a synchronization. `again`: other work is
    launched between the two."""
    made = Run(1500)

    def item(at, i):
        call = at + 8500 + 100 * i
        made.span('cudaMemcpyAsync', 'cuda_runtime', call, 50, correlation=90000 + call)
        made.device('Memcpy DtoH (Device -> Pageable)', call + 10, 20, 'gpu_memcpy', correlation=90000 + call)
        if again:
            made.launch('k', call + 52, call + 60, 10)
        made.span('cudaStreamSynchronize', 'cuda_runtime', call + 60, 30)
    return made.each_step(lambda at: [item(at, i) for i in range(count)])


def with_late_start(missing, synchronized=False, lost=False):
    """Returns a run in whose first step neither the first launches nor their work were recorded. `synchronized`: before, the host
    waited until the device had done all work. `lost`: the work of a launch after that was not recorded."""
    made = Run()
    if synchronized:
        made.span('cudaDeviceSynchronize', 'cuda_runtime', 100, 5)
    if lost:
        made.span('cudaLaunchKernel', 'cuda_runtime', 200, 5, correlation=99999)
    gone = {e['args']['correlation'] for e in made.events if e['pid'] == 0 and e['ts'] < missing}
    made.events = [e for e in made.events if e['args'].get('correlation') not in gone]
    return made


def held_back(launch=150, dur=10):
    """Returns a step whose device runs a kernel of `dur` us, then nothing until the end of the step is near, although the next kernel
    was launched `launch` us after the start of the step."""
    made = Run(work=False, steps=1, durations=[40000])
    made.launch('first', 100, 110, dur)
    for i in range(20):
        made.launch(f'k{i % 5}', launch + 10 * i, 36000 + 200 * i, 200)
    return made


def with_end(busy):
    """Returns a run in whose last step the device ran nothing after 0.85 ms, and the host nothing after 1.2 ms. `busy`: the host ran
    another operator until the end."""
    made = Run(1500, steps=2)
    for e in made.events:
        if e['pid'] == 0 and e['ts'] >= STEP:
            e['ts'], e['dur'] = STEP + (e['ts'] - STEP) / 10, e['dur'] / 10
        if e['name'] == 'aten::step' and e['ts'] == STEP:
            e['dur'] = 1200
    if busy:
        made.span('aten::mm', 'cpu_op', STEP + 1200, STEP - 1200)
    return made


def with_helper(kernels):
    """Returns a run with a second device, which starts four copies, or `kernels` kernels in place of the first copies, in each step."""
    made = Run()
    return made.each_step(lambda at: [made.span('k' if i < kernels else 'Memcpy HtoD (Pinned -> Device)', 'kernel' if i < kernels else 'gpu_memcpy',
                                                at + 100 * i, 90, 1, 7, stream=7, device=1) for i in range(4)])


def tiny(dur):
    """Returns a run with 200 kernels in the first half of each step, each launched when the previous one is done."""
    made = Run(work=False)
    return made.each_step(lambda at: [made.launch(f'tiny_{i % 10}', at + 25 * i, at + 25 * i + 6, dur) for i in range(200)])


def beside(name, dur, cat='kernel', pause=0, **args):
    """Returns a run with further device work in each step: in the pause, or on another stream at the same time as the kernels."""
    made = Run(pause)
    return made.each_step(lambda at: made.device(name, at + (STEP - pause if pause else 100), dur, cat, 20, **args))


def with_kernels(names):
    return Run(kernel=lambda i: names[i])


def with_occupancy(name, percent, n=3):
    return Run(kernel=lambda i: name if i < n else f'other_{i}', args=lambda i: {'est. achieved occupancy %': percent if i < n else 60})


def with_graph(dur, name='', begin='cudaStreamBeginCapture', end='cudaStreamEndCapture'):
    """Returns a run whose host records a graph for `dur` us in the pause at the end of each step: in a span with this name, or
    between two calls."""
    made = Run(2600)

    def record(at):
        made.span('aten::mm', 'cpu_op', at + 8000, dur - 10)
        if name:
            return made.span(name, 'user_annotation', at + 7900, dur)
        made.span(begin, 'cuda_runtime', at + 7900, 5)
        made.span(end, 'cuda_runtime', at + 7900 + dur - 5, 5)
    return made.each_step(record)


def graphs(folder):
    """The recording of a graph does not count as a compilation, and idle time during the recording is not a finding."""
    record = 'CUDAGraphNode.record (dynamo_timed)'
    for what, made, want, idle in (('span', with_graph(1500, record), set(), 1500), ('calls', with_graph(1500), set(), 1500),
                                   ('calls of HIP', with_graph(1500, begin='hipStreamBeginCapture', end='hipStreamEndCapture'), set(), 1500),
                                   ('too short', with_graph(500, record), {'device-idle'}, 500), ('no end', with_graph(1500, end='f'), {'device-idle'}, 0),
                                   ('compilation', with_graph(1500, '_compile.compile_inner (dynamo_timed)'), {'compile'}, 0)):
        path = made.write(f'{folder}/graph.json')
        got = report(path)
        same(f'a recorded graph: {what}', ({f['id'] for f in got['findings']}, got['ranks'][0]['capturing_ns']), (want, 5000 * idle))
        same(f'its compilations: {what}', got['ranks'][0]['compilations'], 5 * ('compile' in want))
    text = text_of('device-idle', with_graph(1500, record).write(f'{folder}/graph.json'), '--thresholds', lower(folder))
    judge('idle while a graph is recorded', '' if 'during 57.7% of that time, the host recorded a graph' in text else text)
    for dur, want in ((1500, True), (500, False)):
        found = report(with_graph(dur, record).write(f'{folder}/graph.json'), '--thresholds', lower(folder))['findings']
        advice = next(f['advice'] for f in found if f['id'] == 'device-idle')
        same(f'advice if a graph is recorded for {dur} us', 'programs usually record graphs once' in advice, want)


def lower(folder):
    """Returns a file with a lower threshold for idle time."""
    with open(f'{folder}/lower.conf', 'w', encoding='utf-8') as f:
        f.write('device-idle = 1\n')
    return f'{folder}/lower.conf'


def with_collections(dur):
    made = Run()
    return made.each_step(lambda at: made.span('gc.collect', 'python_function', at + 500, dur, tid=2))


def with_overhead(name, dur, cat='overhead', start=500):
    """Returns a run with records of CUPTI's own overhead, on a separate row, as Kineto writes them. `start`: of each, in its step."""
    made = Run()
    return made.each_step(lambda at: made.span(name, cat, at + start, dur, -1, 0))


def with_lost(when, steps=5, tail=0):
    """Returns a run with launches whose kernels were not recorded: before the others, after them while their work runs, or later;
    `tail`: the length in us of a further step at the end."""
    made = Run(2200, steps) if steps else with_gaps([(9000, 20000)])
    work = [e for e in made.events if e['pid'] == 0]
    last = max(e['ts'] + e['dur'] for e in work)
    at = 300 if when == 'before' else last if when == 'late' else last - 60
    for i in range(20 if steps else 90):
        made.span('cudaLaunchKernel', 'cuda_runtime', at + i / 2, 0.5, correlation=70000 + i)
    if tail:
        made.span('ProfilerStep#99', 'user_annotation', made.end, tail)
    return made


def without_device(launches, name='cudaLaunchKernel', declared=True):
    """Returns a recording of the host alone, whose calls launched work. `declared`: a process of the device has no events."""
    made = Run()
    made.events = [e for e in made.events if e['pid'] != 0 and e.get('cat') not in ('cuda_runtime', 'ac2g')]
    for i in range(launches):
        made.span(name, 'cuda_runtime', 200 + 10 * i, 5, correlation=70000 + i)
    made.extra['deviceProperties'] = [{'id': 0, 'name': 'Test GPU'}]
    made.events += [{'ph': 'M', 'name': 'process_labels', 'pid': 0, 'tid': 0, 'ts': 0, 'args': {'labels': 'GPU 0'}}] * declared
    return made


def host_only(folder):
    """All work is missing: at least ten launches without work are a finding, unless the device was removed from the trace."""
    for made, want in ((without_device(10), {'unrecorded-launches'}), (without_device(9), set()), (without_device(10, 'cudaMalloc'), set())):
        same('no work of launches', ids(made.write(f'{folder}/few.json')), want)
    path = without_device(50).write(f'{folder}/host.json')
    same('no work of 50 launches', ids(path), {'unrecorded-launches'})
    f = report(path)['findings'][0]
    same('no work of 50 launches: place of the first', (f['step'], f['at_ns'], f['length_ns']), (0, 200000, 0))
    row = report(path)['ranks'][0]
    same('no work of 50 launches: calls', (row['launch_calls'], row['unrecorded_launches'], row['trailing_launches']), (50, 50, 0))
    path = without_device(50, declared=False).write(f'{folder}/cut.json')
    same('no device', (ids(path), report(path)['ranks'][0]['launch_calls']), (set(), None))
    same('no device: facts', [u for u in report(path)['unknown'] if 'launched work that was not recorded' in u], [])
    path, kept = Run().write(f'{folder}/whole.json'), f'{folder}/kept.json'
    run('filter', '-q', '--force', '--kind', 'host', path, '-o', kept)
    same('a filtered trace', ids(kept), set())


def with_regions(*regions, name='Torch-Compiled Region: '):
    made = Run()
    return made.each_step(lambda at: [made.span(f'{name}{region}', 'cpu_op', at + 200 + 20 * i, 10) for i, region in enumerate(regions)])


def with_memory(allocated, early=None):
    """`early`: the part that was allocated before the recording."""
    made = Run()
    if early is not None:
        made.instant('[memory]', 60, **{'Device Type': 1, 'Device Id': 0, 'Addr': 1, 'Bytes': allocated - early, 'Total Allocated': allocated, 'Total Reserved': 999})
    made.extra['deviceProperties'] = [{'id': 1, 'name': 'B', 'totalGlobalMem': 10}, {'id': 0, 'name': 'A', 'totalGlobalMem': 1000}]
    made.instant('[memory]', 70, **{'Device Type': 1, 'Device Id': 0, 'Total Allocated': allocated, 'Total Reserved': 999})
    return made


def with_graphs(missing):
    """Returns a run in which a third of each step seems idle, and `missing` launches of graphs have no recorded work."""
    made = Run(3500)
    for i in range(missing):
        made.span('cudaGraphLaunch', 'cuda_runtime', 200 + 10 * i, 5, correlation=10000 + i)
    return made


def with_modules(modules):
    made = Run(steps=len(modules))
    for i, module in enumerate(modules):
        made.span('XlaCompile', 'cpu_op', 10000 * i + 9100, 100)
        made.span('simplifier', 'cpu_op', 10000 * i + 9110, 10, module=module)
    return made


def compiles(dur):
    made = Run()
    made.span('backend_compile', 'cpu_op', -3000000, dur)
    return made


ALLREDUCE = 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)'
UP = [10000 + 150 * (i // 2) + 20 * (i % 2) for i in range(12)]

# A trace that shows each finding, and a near miss.
CASES = [
    ('device-idle', lambda: Run(2100), lambda: Run(1900)),
    ('input', lambda: in_pause(1100, 'enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__', 'user_annotation'),
     lambda: in_pause(900, 'enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__', 'user_annotation')),
    ('input', lambda: in_pause(1100, 'enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__', 'user_annotation'),
     lambda: in_pause(1100, 'enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__', 'user_annotation', tid=9)),  # prefetches
    ('compile', lambda: in_pause(1100, 'backend_compile', 'cpu_op'), lambda: in_pause(900, 'backend_compile', 'cpu_op')),
    ('compile', lambda: in_pause(1100, 'torch/_inductor/compile_fx.py(9): compile_fx_inner', 'python_function'),
     lambda: in_pause(1100, 'CompiledFunctionBackward', 'cpu_op')),  # runs compiled code
    ('compile-time', lambda: compiles(2100000), lambda: compiles(1900000)),
    ('sync', lambda: in_pause(1100, 'cudaDeviceSynchronize', 'cuda_runtime'), lambda: in_pause(900, 'cudaDeviceSynchronize', 'cuda_runtime')),
    ('sync-count', lambda: with_syncs(5, 700), lambda: with_syncs(4, 700)),
    ('sync-count', lambda: with_syncs(5, 700), lambda: with_syncs(5, 500)),  # the device is busy
    ('sync-count', lambda: with_syncs(5, 1900, after=-25), lambda: with_syncs(5, 1900, after=-35)),  # the device had work for longer
    ('sync-count', lambda: with_syncs(5, 900),
     lambda: with_syncs(5, 900, name='enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__', cat='user_annotation')),
    ('sync-count', lambda: with_syncs(5, 1100), lambda: with_syncs(5, 1100, tid=9)),  # of a thread that launches nothing
    ('sync-count', lambda: with_syncs(5, 1100), lambda: with_syncs(5, 1100, dur=15)),  # the device was done
    ('sync', lambda: with_copy('Pageable', 0), lambda: with_copy('Pageable', 25)),  # the call does not wait
    ('sync', lambda: with_copy('Pageable', 9), lambda: with_copy('Pageable', 11)),  # more than half of the copy
    ('sync', lambda: with_copy('Pageable', 0), lambda: with_copy('Pinned', 0)),
    ('sync', lambda: stuck(False), lambda: stuck(True)),  # the next work waits for something else
    ('device-idle', lambda: Run(2100), lambda: with_late_start(16000)),
    ('device-idle', lambda: with_late_start(16000, synchronized=True), lambda: with_late_start(16000)),  # unrecorded work may have run
    ('device-idle', lambda: with_late_start(16000, synchronized=True), lambda: with_late_start(16000, synchronized=True, lost=True)),
    ('device-idle', lambda: held_back(35980), lambda: held_back()),  # ran work from before the recording
    ('device-idle', lambda: held_back(dur=400), lambda: held_back(dur=300)),  # not with so much recorded work before
    ('device-idle', lambda: with_end(True), lambda: with_end(False)),  # the recording may have ended
    ('device-idle', lambda: with_helper(1), lambda: with_helper(0)),
    ('sync', lambda: in_pause(1100, 'cudaMemcpy', 'cuda_runtime'), lambda: in_pause(1100, 'cudaMemcpyAsync', 'cuda_runtime')),
    ('compile', lambda: in_pause(1100, 'RunHloPasses', 'cpu_op'), lambda: in_pause(900, 'RunHloPasses', 'cpu_op')),
    ('small-kernels device-idle', lambda: tiny(9), lambda: tiny(11)),
    ('exposed-communication', lambda: beside(ALLREDUCE, 1100, pause=1100), lambda: beside(ALLREDUCE, 900, pause=1100)),
    ('exposed-communication', lambda: beside(ALLREDUCE, 1100, pause=1100), lambda: beside(ALLREDUCE, 5000)),  # hidden
    ('dominant-kernel', lambda: with_kernels(['a'] * 6 + ['b', 'b', 'c', 'c']), lambda: with_kernels(['a'] * 4 + ['b', 'b', 'b', 'c', 'c', 'c'])),
    ('exposed-copy', lambda: beside('Memcpy DtoD (Device -> Device)', 600, 'gpu_memcpy', 700),
     lambda: beside('Memcpy DtoD (Device -> Device)', 400, 'gpu_memcpy', 700)),
    ('pageable-copy', lambda: beside('Memcpy HtoD (Pageable -> Device)', 200, 'gpu_memcpy'),
     lambda: beside('Memcpy HtoD (Pinned -> Device)', 200, 'gpu_memcpy')),
    ('pageable-copy', lambda: beside('Memcpy DtoH (Device -> Pageable)', 200, 'gpu_memcpy'),
     lambda: beside('Memcpy DtoH (Device -> Pageable)', 80, 'gpu_memcpy')),
    ('garbage-collection', lambda: with_collections(150), lambda: with_collections(80)),
    ('profiler-overhead', lambda: with_overhead('Activity Buffer Request', 250), lambda: with_overhead('Activity Buffer Request', 150)),
    ('profiler-overhead', lambda: with_overhead('Buffer Flush', 1500), lambda: with_overhead('Lazy Function Loading', 1500)),  # the program's
    ('profiler-overhead', lambda: with_overhead('Buffer Flush', 1500, start=100), lambda: with_overhead('Buffer Flush', 1500, start=-45000)),
    ('profiler-overhead', lambda: with_overhead('Instrumentation', 250), lambda: with_overhead('Instrumentation', 250, 'cpu_op')),
    ('recompiled-module', lambda: with_modules(['jit_f'] * 3), lambda: with_modules(['jit_f', 'jit_f', 'jit_g'])),
    ('recompilations', lambda: with_regions('0/0', '0/2'), lambda: with_regions('0/0', '0/1', '1/1')),
    ('recompilations', lambda: with_regions('3/7_1'), lambda: with_regions('3/7', name='Compiled Region: ')),
    ('compiled-graphs', lambda: with_regions(*(f'{i}/0' for i in range(8))), lambda: with_regions(*(f'{i}/{k}' for i in range(7) for k in (0, 1)))),
    ('step-outlier', lambda: Run(steps=6, durations=[10000] * 4 + [16000, 10000]), lambda: Run(steps=6, durations=[10000] * 4 + [14000, 10000])),
    ('step-drift', lambda: Run(steps=12, durations=[10000 + 200 * i for i in range(12)]), lambda: Run(steps=12, durations=UP)),
    ('step-drift', lambda: Run(steps=12, durations=[10000 + 200 * i for i in range(12)]),
     lambda: Run(steps=12, durations=[12200 - 200 * i for i in range(12)])),  # becomes faster
    ('fp32-matmul', lambda: with_kernels([f'ampere_sgemm_{i}_nn' if i < 3 else f'k{i}' for i in range(10)]),
     lambda: with_kernels([f'sm80_xmma_gemm_f32f32_tf32f32_f32_{i}' if i < 3 else f'k{i}' for i in range(10)])),
    ('fp32-matmul', lambda: with_kernels([f'volta_scudnn_128x64_relu_interior_nn_v{i}' if i < 3 else f'k{i}' for i in range(10)]),
     lambda: with_kernels([f'sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_{i}' if i < 3 else f'k{i}' for i in range(10)])),
    ('fp32-matmul', lambda: with_kernels([f'void cudnn::detail::dgrad_engine<float, {i}>(int)' if i < 3 else f'k{i}' for i in range(10)]),
     lambda: with_kernels([f'void cudnn::detail::dgrad_engine<__half, {i}>(int)' if i < 3 else f'k{i}' for i in range(10)])),
    ('fp32-matmul', lambda: with_kernels([f'sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_{i}' if i < 3 else f'k{i}' for i in range(10)]),
     lambda: with_kernels([f'sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_{i}' if i < 3 else f'k{i}' for i in range(10)])),
    ('small-grid', lambda: Run(args=lambda i: {'blocks per SM': 0.5 if i < 4 else 2}), lambda: Run(args=lambda i: {'blocks per SM': 0.5 if i < 2 else 2})),
    ('low-occupancy', lambda: with_occupancy('k', 24), lambda: with_occupancy('k', 26)),
    ('low-occupancy', lambda: with_occupancy('k', 24), lambda: with_occupancy('ampere_bf16_gemm_128x64', 24)),  # in registers
    ('low-occupancy', lambda: with_occupancy('k', 24), lambda: with_occupancy('k', 24, 1)),  # takes only a tenth of the time
    ('memory', lambda: with_memory(910), lambda: with_memory(890)),
    ('unrecorded-launches', lambda: with_graphs(3), lambda: with_graphs(2)),
    ('unrecorded-launches', lambda: with_lost('before'), lambda: with_lost('after')),
    ('unrecorded-launches', lambda: with_lost('before', 0), lambda: with_lost('after', 0)),
    ('unrecorded-launches', lambda: with_lost('late', 0), lambda: with_lost('after', 0)),
    ('unrecorded-launches', lambda: with_lost('after', tail=3000), lambda: with_lost('after', tail=100)),  # at least 5% of the steps
]
# The findings that a near miss has nevertheless, because they depend on other figures. Near misses not listed here have none.
ALSO = {'small-kernels device-idle': {'device-idle'}, 'unrecorded-launches': {'device-idle'}}


def ids(path, *options):
    return {f['id'] for f in report(path, *options)['findings']}


def advised(path):
    """Returns the first command in the advice that finds nothing in the trace."""
    for f in report(path)['findings']:
        for command in re.findall(r'tracekit ((?:top|tree|report|diff) .*?)(?: shows| lists|;|$)', f['advice']):
            if path not in shlex.split(command) or run(*shlex.split(command), '-q', fine=(0, 1, 2)).returncode:
                return command
    return ''


def tensor_cores(folder):
    """Checks that the advice for fp32 depends on what the device supports, and on whether matrix products or convolutions use
    fp32."""
    product, convolution = 'ampere_sgemm_128x64_nn', 'ampere_scudnn_128x64_relu_interior_nn_v1'
    matmul, cudnn = 'set_float32_matmul_precision', 'backends.cudnn.allow_tf32'
    for device, kernels, said, not_said in (
            ('NVIDIA A100-SXM4-40GB', (product,), (matmul, 'bf16'), (cudnn, '8.0', 'fp16')),
            ('NVIDIA A100-SXM4-40GB', (convolution,), (cudnn, 'bf16'), (matmul, '8.0')),
            ('NVIDIA H100 80GB HBM3', (product, convolution), (matmul, cudnn, 'for convolutions'), ('8.0',)),
            ('Tesla V100-SXM2-16GB', (product,), ('fp16', 'neither TF32 nor bf16'), (matmul, cudnn)),
            ('Tesla T4', (convolution,), ('fp16', 'neither TF32 nor bf16'), (matmul, cudnn)),
            ('Tesla P100-PCIE-16GB', (product,), ('no tensor cores',), (matmul, 'TF32')),
            ('Some GPU', (convolution,), (cudnn, '8.0', 'otherwise fp16'), (matmul,)), (None, (product,), (matmul, '8.0'), (cudnn,))):
        r = with_kernels([kernels[i % len(kernels)] if i < 4 else f'k{i}' for i in range(10)])
        if device:
            r.extra['deviceProperties'] = [{'id': 0, 'name': device}]
        advice = next(f['advice'] for f in report(r.write(f'{folder}/fp32.json'))['findings'] if f['id'] == 'fp32-matmul')
        fault = [w for w in said if w not in advice] + [f'not {w}' for w in not_said if w in advice]
        judge(f'fp32 on {device}', f'{fault}: {advice}' if fault else '')


def pasted(folder):
    """Checks that a command in an advice contains the input's name as typed, quoted for a shell, and selects the rank if the
    input contains several."""
    for name in ('a b/x.json', "it's/$x.json", '-x.json'):
        os.makedirs(os.path.dirname(f'{folder}/{name}'), exist_ok=True)
        Run(2200).write(f'{folder}/{name}')
        p = subprocess.run([TRACEKIT, 'report', '--json', '--', name], cwd=folder, capture_output=True, check=True)
        advice = next(f['advice'] for f in json.loads(p.stdout)['findings'] if f['id'] == 'device-idle')
        command = re.search(r'(tracekit top .*?) lists', advice)[1]
        env = {**os.environ, 'PATH': f'{os.path.dirname(os.path.abspath(TRACEKIT))}:{os.environ["PATH"]}'}
        done = subprocess.run(['sh', '-c', command], cwd=folder, env=env, capture_output=True)
        judge(f'pasted command for {name}', '' if done.returncode == 0 and b'aten::step' in done.stdout else f'{command}: {done.stderr}')
    ranks = [Run(2200, rank=n).write(f'{folder}/rank{n}.json') for n in range(2)]
    merged = f'{folder}/pasted.json'
    run('merge', '-q', '--force', *ranks, '-o', merged)
    for paths in (ranks, [merged]):
        advice = next(f['advice'] for f in report(*paths)['findings'] if f['id'] == 'device-idle')
        same('one rank', f'tracekit top {ranks[0]} --kind' in advice or f'tracekit top {merged} --rank 0 --kind' in advice, True)
        same('commands of ranks', advised(merged) if paths == [merged] else '', '')


def compiled(folder):
    """Checks that the compilation time is 0 if a trace has operators and no compilation, and unknown if it has only kernels, or
    compiled code. Also checks that the verdict of `check` is last."""
    healthy, alone, warm = Run(), Run(), Run()
    alone.events = [e for e in alone.events if e['cat'] == 'kernel']
    warm.span('Torch-Compiled Region: 0/0', 'cpu_op', 300, 50)
    for name, made, value, status in (('operators', healthy, 0, 0), ('kernels alone', alone, None, 3), ('compiled code', warm, None, 3)):
        path = made.write(f'{folder}/compiled.json')
        figure = next(f for f in report(path)['key_figures'] if f['name'] == 'compilation time')
        same(f'compilation time with {name}', figure['value'], value)
        p = run('check', path, '--assert', 'compilation time < 1s', fine=(0, 1, 3))
        lines = p.stdout.decode().splitlines()
        end = 'ok' if status == 0 else 'needs no repair, but an assertion is unknown'
        same(f'status with {name}', (p.returncode, lines[-1], sum(path in line for line in lines)), (status, f'{path}: {end}', 1))


def dominant(folder):
    """Checks the finding about the function with the largest self weight of stack samples."""
    for what, lines, wanted in (('more than half', ('a;b 51', 'a;c 49'), 'b'), ('less than half', ('a;b 49', 'a;c 50', 'a;d 2'), ''),
                                ('few samples', ('a;b 99',), ''), ('idle', ('a;(idle) 90', 'a;c 40'), ''),
                                ('anonymous', ('a;(anonymous) 90', 'a;c 40'), '(anonymous)'), ('no symbol', ('[unknown] 90', 'a;c 40'), '')):
        path = f'{folder}/dominant.perf'
        with open(path, 'w', encoding='utf-8') as f:
            for n, line in enumerate(k for line in lines for k in [line.split()[0]] * int(line.split()[1])):
                f.write(f'prog 1 1.{n:06d}: 10 cycles:\n' + ''.join(f'\t7f00 {name} (/bin/prog)\n' for name in line.split(';')[::-1]) + '\n')
        found = [f['text'] for f in report(path)['findings'] if f['id'] == 'dominant-function']
        judge(f'dominant function: {what}', '' if [f"'{wanted}' is" in t for t in found] == [True] * bool(wanted) else str(found))
        same(f'its command: {what}', advised(path), '')


def once(folder):
    """Checks that a host with two devices has one row of host activity."""
    made = Run(steps=2)
    made.events += [{**e, 'pid': 1, 'args': {**e['args'], 'device': 1, 'correlation': 0}} for e in made.events if e['cat'] == 'kernel']
    path = made.write(f'{folder}/once.json')
    same('two devices', len(report(path)['ranks']), 2)
    text = run('report', path).stdout.decode()
    after = text[text.index('Host activity'):].split('\n\n')[0].splitlines()
    same('one host', len(after), 3)
    page = f'{folder}/once.html'
    run('report', '-q', path, '--html', page)
    with open(page, encoding='utf-8') as f:
        table = f.read().split('>Hosts<', 1)[1].split('</table>', 1)[0]
    same('one host on the page', table.count('<tr'), 2)


def shown(folder):
    healthy = Run().write(f'{folder}/healthy.json')
    same('a healthy run has no finding', ids(healthy), set())
    for number, (name, shows, misses) in enumerate(CASES):
        found, near = shows().write(f'{folder}/shows.json'), misses().write(f'{folder}/misses.json')
        same(f'{number}: {name}', ids(found), set(name.split()))
        judge(f'{number}: commands of {name}', advised(found))
        same(f'{number}: near miss of {name}', ids(near), ALSO.get(name, set()))
    with open(healthy, encoding='utf-8') as f:
        text = f.read()
    with open(f'{folder}/cut.json', 'w', encoding='utf-8') as f:
        f.write(text[:len(text) - 200])
    same('truncated', ids(f'{folder}/cut.json'), {'truncated'})


# Spans (name, category) that must not cause a finding although their names resemble others, and spans that must, with the finding.
NOTHING = (
    ('<built-in function collections_sum>', 'python_function'), ('train.py(9): gc.collect_stats', 'python_function'),
    ('train.py(9): mygc.collect', 'python_function'), ('CompileFree', 'cpu_op'), ('CompileOptions::set', 'cpu_op'), ('Compile_stats', 'cpu_op'),
    ('xla::CompileOptions::set', 'cpu_op'), ('triton/runtime/jit.py(500): precompiled_run', 'python_function'),
    ('torch/_inductor/compile_fx.py(1200): compiled_run', 'python_function'), ('triton/compiler/compiler.py(300): compiled_hook', 'python_function'),
    ('train.py(3): SynchronizeWeights', 'python_function'), ('DDP.SynchronizeBuffers', 'cpu_op'), ('SynchronizeWeights', ''),
)
SOMETHING = (
    ('<built-in function collect>', 'python_function', 'garbage-collection'), ('gc.collect()', 'python_function', 'garbage-collection'),
    ('Python GC', 'python_function', 'garbage-collection'), ('Python GC', '', 'garbage-collection'),
    ('Compile', 'cpu_op', 'compile'), ('CompileToExecutable', 'cpu_op', 'compile'), ('xla::LocalClient::Compile', 'cpu_op', 'compile'),
    ('triton/runtime/jit.py(500): _compile', 'python_function', 'compile'), ('triton/runtime/jit.py(600): _do_compile', 'python_function', 'compile'),
    ('triton/compiler/compiler.py(226): compile', 'python_function', 'compile'),
    ('jax/array.py(5): block_until_ready', 'python_function', 'sync'), ('$api.py:3165 try_to_block', 'python_function', 'sync'),
    ('<built-in method synchronize of torch.Event object at 0x7f0>', 'python_function', 'sync'), ('cuStreamSynchronize', '', 'sync'), ('hipDeviceSynchronize', '', 'sync'),
)


def renamed(made, process):
    """Gives the process of the host a name."""
    made.events.append({'ph': 'M', 'name': 'process_name', 'pid': 100, 'args': {'name': process}})
    return made


def names(folder):
    for name, cat in NOTHING:
        same(f'{name} is nothing in particular', ids(in_pause(2600, name, cat).write(f'{folder}/name.json')), {'device-idle'})
    for name, cat, want in SOMETHING:
        same(f'{name} [{cat}]', want in ids(in_pause(2600, name, cat).write(f'{folder}/name.json')), True)
    for process in ('python', '/host:CUPTI'):
        made = renamed(in_pause(2600, 'cuStreamSynchronize', ''), process)
        same(f'cuStreamSynchronize in {process}', 'sync' in ids(made.write(f'{folder}/name.json')), True)


def with_two(pause=6000):
    """Returns a run in which GPU 0 is idle at the end of each step, while the host loads input, and GPU 1 in the first half of
    each step."""
    made = in_pause(pause, 'enumerate(DataLoader)#x.__next__', 'user_annotation')
    for at in made.starts:
        for i in range(KERNELS):
            made.correlation += 1
            made.span('cudaLaunchKernel', 'cuda_runtime', at + 200 + 10 * i, 5, correlation=made.correlation)
            made.span(f'k{i}', 'kernel', at + 5500 + i * 450, 450, 1, 7, stream=7, device=1, correlation=made.correlation)
    return made


def text_of(finding, *args):
    return next((f['text'] for f in report(*args)['findings'] if f['id'] == finding), '')


def devices(folder):
    path = with_two().write(f'{folder}/two.json')
    same('an unexplained device beside an explained one', [(f['id'], f['device'], round(f['figure'])) for f in report(path)['findings']],
         [('input', 'GPU 0', 60), ('device-idle', 'GPU 1', 55)])
    judge('both wait for input', '' if '; 1 other device is above 10%, too' in text_of('input', path) else text_of('input', path))
    made = with_two(1000)
    made.span('backend_compile', 'cpu_op', -3000000, 2100000)
    judge('one host with two devices', '' if 'other' not in text_of('compile-time', made.write(f'{folder}/compile.json')) else 'counts another')
    paths = [in_pause(pause, 'enumerate(DataLoader)#x.__next__', 'user_annotation').write(f'{folder}/{name}.json') for name, pause in (('slow', 3000), ('quick', 2600))]
    text = text_of('input', *paths)
    judge('inputs without ranks', '' if text.startswith('GPU 0 of slow.json was idle') and '1 other device is above' in text else text)
    made = [Run(pause, work=False) for pause in (3000, 2600)]
    for m, pause in zip(made, (3000, 2600)):
        m.each_step(lambda at: m.span('enumerate(DataLoader)#x.__next__', 'user_annotation', at + STEP - pause, pause))
    text = text_of('input', *(m.write(f'{folder}/{name}.json') for name, m in zip(('slow', 'quick'), made)))
    judge('hosts', '' if 'the host of slow.json loaded input' in text and '; 1 other host is above' in text else text)
    made = Run()
    for stream in range(3):
        made.each_step(lambda at: made.device('Memcpy HtoD (Pageable -> Device)', at, 9000, 'gpu_memcpy', 40 + stream))
    found = report(made.write(f'{folder}/pageable.json'))['findings'][0]
    same('copies of three streams at once', (found['id'], round(found['figure'], 1)), ('pageable-copy', 90.2))


def commands(folder):
    """Checks that commands in the advice find events, whatever characters the names of spans contain."""
    for name in ("it's [a] RunHloPasses?", 'é' * 90 + ' RunHloPasses', 'x' + 'é' * 90 + ' RunHloPasses'):
        path = in_pause(1100, name, 'cpu_op').write(f'{folder}/name.json')
        same(f'advice about {name[:20]!r}', (ids(path), advised(path)), ({'compile'}, ''))
    made = Run(steps=0)
    made.span('backend_compile', 'cpu_op', 0, 2100000)
    path = made.write(f'{folder}/no-steps.json')
    same('advice without steps', (ids(path), advised(path)), ({'compile-time'}, ''))


def with_gaps(gaps):
    """Returns a run of 80 ms without steps whose device is idle in the gaps (start, length), and for 30 us before every fourth
    kernel."""
    made, at = Run(steps=0), 0
    while at < 80000:
        inside = next((length for start, length in gaps if start <= at < start + 1000), 0)
        at += inside or 30 * (made.correlation % 4 == 0)
        made.launch(f'k{made.correlation % 5}', at, at, 1000 if inside else 70)
        at += 1000 if inside else 70
    return made


def queued(early, call=10):
    """Returns a run of kernels that start 150 us after the previous kernel ended; `early` of ten were launched before that end."""
    made = Run(steps=0)
    for i in range(100):
        at = 250 * i
        made.correlation += 1
        made.span('cudaLaunchKernel', 'cuda_runtime', at - 200 if i % 10 < early else at - 20, call, correlation=made.correlation)
        made.device(f'k{i % 5}', at, 100, correlation=made.correlation)
    return made


def sentences(folder):
    """Checks the sentences and the advice about idle time and copies."""
    for n, gaps in ((0, [(4000 * i, 2000) for i in range(10)]), (1, [(9000, 20000)]), (2, [(9000, 9000), (30000, 9000)]),
                    (4, [(9000 + 8000 * i, 5000) for i in range(4)] + [(45000 + 5000 * i, 2000) for i in range(5)]), (0, [(9000 + 7000 * i, 5000) for i in range(9)])):
        path = with_gaps(gaps).write(f'{folder}/gaps.json')
        text = text_of('device-idle', path)
        want = 'one gap is more than half' if n == 1 else f'the {n} longest gaps are more than half' if n else ''
        judge(f'{n} long gaps', '' if text and want in text and ('more than half of it' in text) == bool(n) else text)
        same(f'{n} long gaps: field', report(path)['ranks'][0]['long_gaps'], n)
    for early in (0, 4, 6, 10):
        path = queued(early).write(f'{folder}/queued.json')
        text, row = text_of('device-idle', path), report(path)['ranks'][0]
        share = row['queued_idle_ns'] / row['idle_ns']
        judge(f'{early} of 10 launched before', '' if abs(share - early / 10) < 0.02 else f'{share}')
        judge(f'{early} of 10 launched before: sentence', '' if ('had already been launched' in text) == (early > 5) else text)
    for name, cat, want in (('Memcpy DtoD (Device -> Device)', 'gpu_memcpy', 'avoid copies within'), ('Memset (Device)', 'gpu_memset', 'without filling'),
                            ('Memcpy HtoD (Pinned -> Device)', 'gpu_memcpy', 'copy asynchronously')):
        found = next(f for f in report(beside(name, 600, cat, 700).write(f'{folder}/copy.json'))['findings'] if f['id'] == 'exposed-copy')
        same(f'advice for {name}', (want in found['advice'], f"'{name}' takes the most time" in found['text']), (True, True))
    made = Run(args=lambda i: {'blocks per SM': 0.5 if i < 4 else 2})
    same('collectives are not in the denominator', [round(f['figure']) for f in report(made.each_step(
        lambda at: made.device(ALLREDUCE, at, 9900, stream=9)).write(f'{folder}/grid.json'))['findings'] if f['id'] == 'small-grid'], [40])


def hedges(folder):
    """Checks sentences about what the trace does not show: a grid that is too small for registers to matter, kernels of which only
    counters were recorded, work that may be missing, and a host of which nothing was recorded."""
    for grid, want in (([1, 1, 1], 'its grid has 1 block,'), ([3, 13, 1], 'its grid has 39 blocks,'), ([2, 20, 1], 'fewer registers'), (None, 'fewer registers')):
        made = Run(kernel=lambda i: 'k' if i < 3 else f'other_{i}', args=lambda i: {  # noqa: B023
            'est. achieved occupancy %': 1 if i < 3 else 60, 'registers per thread': 18, **({'grid': grid, 'block': [128, 1, 1]} if grid else {})})  # noqa: B023
        advice = next(f['advice'] for f in report(made.write(f'{folder}/grid.json'))['findings'] if f['id'] == 'low-occupancy')
        judge(f'low occupancy with grid {grid}', '' if advice.startswith(want) else advice)
    made = without_device(50)
    same('launches without work', ids(made.write(f'{folder}/ranged.json')), {'unrecorded-launches'})
    for i in range(50):
        made.span(f'kernel_{i}', 'cuda_profiler_range', 300 + i, 1, 0, 9, counter=i)
    out = report(made.write(f'{folder}/ranged.json'))
    same('counters of kernels', ([f['id'] for f in out['findings']], any('range profiler' in u for u in out['unknown'])), ([], True))
    made = Run(3000)
    made.events = [e for e in made.events if e['name'] != 'aten::step']
    for what, dur, lacks in (('nothing', 0, True), ('a span', 20, True), ('spans', 60, False)):
        if dur:
            made.each_step(lambda at: made.span('aten::mm', 'cpu_op', at + 9000, dur))  # noqa: B023
        found, = report(made.write(f'{folder}/bare.json'))['findings']
        judge(f'{what} of the host in idle time', '' if ('record the host' in found['advice'], 'tracekit top' in found['advice']) == (lacks, not lacks) else str(found))
    made = Run(3000)
    made.events = [e for e in made.events if e['name'] != 'aten::step']
    found, = report(made.each_step(lambda at: made.span('cudaMalloc', 'cuda_runtime', at + 9000, 60)).write(f'{folder}/bare.json'))['findings']
    judge('calls of the host without operators', '' if "record the host's operators and Python" in found['advice'] else str(found))
    for early, want in ((820, True), (810, False)):
        found, = report(with_memory(910, early).write(f'{folder}/memory.json'))['findings']
        same(f'memory of which {early} of 910 were allocated before', ('before the recording' in found['text'], 'smaller batches' not in found['advice']), (want, want))
    found = text_of('device-idle', with_missing(folder))
    judge('work that may be missing', '' if ', unless it ran work that was not recorded;' in found else found)


def worth(folder):
    """Checks that kernels are judged only if they run for at least 5% of the time: on a device that is nearly always idle, faster
    kernels would not help. Three, four or six of ten kernels cause the finding."""
    for made in ({'name': 'fp32-matmul', 'kernel': lambda i: f'ampere_sgemm_{i}_nn' if i < 3 else f'k{i}'},
                 {'name': 'small-grid', 'args': lambda i: {'blocks per SM': 0.5 if i < 4 else 2}},
                 {'name': 'dominant-kernel', 'kernel': lambda i: 'a' if i < 6 else f'k{i}'},
                 {'name': 'low-occupancy', 'kernel': lambda i: 'k' if i < 3 else f'k{i}',
                  'args': lambda i: {'est. achieved occupancy %': 20 if i < 3 else 60}}):
        name = made.pop('name')
        for pause, want in ((8000, True), (9400, False)):
            same(f'{name}, idle for {pause / 100}%', name in ids(Run(pause, **made).write(f'{folder}/worth.json')), want)


def with_missing(folder):
    """Returns a run that is idle although the next work was launched."""
    made = Run(3000)

    def launch(at):
        made.launch('next', at + 6990, at + 9980, 10)
    return made.each_step(launch).write(f'{folder}/missing.json')


def ranges(folder):
    made = Run()
    made.span('gc.collect', 'python_function', 500, 30000, tid=2)
    made.span('gc.collect', 'python_function', 500, 30000, tid=3)
    path = made.write(f'{folder}/collects.json')
    for options, want in (((), 60), (('--time', '+10000us..+10500us'), 100), (('--time', '+30000us..+31000us'), 50)):
        found = report(path, *options)['findings'][0]
        same(f'collections {options}', (found['id'], round(found['figure']), 'of the selected range' in found['text']),
             ('garbage-collection', want, bool(options)))
    path = Run(5100).write(f'{folder}/idle.json')
    for options, gap in (((), False), (('--step', '1..2'), False), (('--step', '1'), True)):
        same(f'gap of {options}', 'one gap is more than half' in text_of('device-idle', path, *options), gap)
    same('a range without work', run('report', '-q', '--findings', path, '--time', '+9000us..+9500us').stdout.decode().split('\n')[2],
         'not judged: the selection excludes part of the work')
    made = Run(2100)
    made.launch('far', made.end, made.end + 200000, 100)
    found = report(made.write(f'{folder}/outside.json'))['findings'][0]
    same('a gap outside of steps', (found['id'], found['length_ns'], 'one gap' in found['text']), ('device-idle', 2100000, False))
    for options in (('--device', '0'), ('--depth', '0'), ('--no-python',), ('--pid', '0')):
        same(f'all work is selected by {options}', ids(path, *options), {'device-idle'})
    slow = Run(steps=10, durations=[10000] * 4 + [16000] + [10000] * 5).write(f'{folder}/slow.json')
    first = Run(steps=10, durations=[16000] + [10000] * 9).write(f'{folder}/first.json')
    same('first recorded step', [('it is the first recorded step' in text_of('step-outlier', p, *o)) for p, o in ((slow, ('--step', '4..9')), (first, ()))],
         [False, True])


def waits(folder):
    """Checks that an awaited copy and the synchronization after it count as one wait, unless work is launched between them."""
    for again, want in ((False, 3 * 5), (True, 6 * 5)):
        row = report(with_item(3, again).write(f'{folder}/item.json'))['ranks'][0]
        same(f'calls of .item(), a launch between: {again}', row['blocking_calls_in_steps'], want)
    figures = {f['name']: f for f in report(with_helper(0).write(f'{folder}/helper.json'))['key_figures']}
    for name in ('device utilization', 'host overhead', 'longest idle time'):
        same(f'{name}, of a device that computes', figures[name]['device'], 'GPU 0')
    figures = {f['name']: f for f in report(with_helper(1).write(f'{folder}/helper.json'))['key_figures']}
    same('device utilization, of two that compute', figures['device utilization']['device'], 'GPU 1')


def incomplete(folder):
    """Checks a truncated trace, whose device would seem idle where work is missing: it has no findings except the truncation."""
    with open(Run(100).write(f'{folder}/whole.json'), 'rb') as f:
        text = f.read()
    work = [i for i in range(len(text)) if text.startswith(b'{"ph": "X", "name": "kernel_', i)]
    with open(f'{folder}/cut.json', 'wb') as f:
        f.write(text[:work[len(work) // 2] + 20])
    got = report(f'{folder}/cut.json')
    same('a cut trace: findings', [f['id'] for f in got['findings']], ['truncated'])
    same('a cut trace: a row', (got['ranks'][0]['incomplete'], report(f'{folder}/whole.json')['ranks'][0]['incomplete']), (True, False))
    same('a cut trace: no verdict', {f['verdict'] for f in got['key_figures']}, {None})
    with open(f'{folder}/limits', 'w', encoding='utf-8') as f:
        f.write('truncated = off\n')
    same('a cut trace: why', report(f'{folder}/cut.json', '--thresholds', f'{folder}/limits')['unjudged'], 'the traces are incomplete')


def inputs(folder):
    path = Run(steps=400).write(f'{folder}/long.json')
    with open(path, 'rb') as f:
        packed = bytearray(gzip.compress(f.read(), 6))
    packed[-6] ^= 1
    with open(f'{folder}/sum.json.gz', 'wb') as f:
        f.write(packed)
    same('a wrong checksum', ids(f'{folder}/sum.json.gz'), {'damaged'})
    made = Run(steps=1, work=False)
    made.launch('k', 10, 20, 10)
    made.launch('k', 9000, 9900, 10)
    made.write(f'{folder}/few.json')
    with open(f'{folder}/empty.json', 'w', encoding='utf-8') as f:
        f.write('{"traceEvents": []}')
    for name in ('few', 'empty'):
        judge(f'{name}: not judged', '' if b'not judged: no device ran' in run('report', '-q', f'{folder}/{name}.json', '--findings').stdout else 'judged')
        same(f'{name}: findings == 0', run('check', '-q', f'{folder}/{name}.json', '--assert', 'findings == 0', fine=(0, 1, 3)).returncode, 3)
    made = Run(work=False)
    path = made.each_step(lambda at: made.span('enumerate(DataLoader)#x.__next__', 'user_annotation', at + 7000, 3000)).write(f'{folder}/host.json')
    same('a host', (ids(path), ids(path, '--name', 'nothing', '--allow-empty')), ({'input'}, set()))
    same('an impossible amount of memory', ids(with_memory(1e300).write(f'{folder}/memory.json')), set())


def meet(folder, n, last, steps, group):
    """Returns traces of n ranks, with one collective in each step; last(i, rank): whether the rank arrives last in step i."""
    paths = []
    for rank in range(n):
        made = Run(steps=steps, rank=rank)
        made.extra['distributedInfo'] = {'rank': rank, 'world_size': n}
        made.extra['baseTimeNanoseconds'] = 1700000000000000000
        members = list(range(rank // group * group, rank // group * group + group))
        for i, at in enumerate(made.starts):
            wait = 1000 if last(i, rank) else 0
            made.device(ALLREDUCE, at + 1000 + wait, 1500 - wait, stream=30, **{
                'Collective name': 'allreduce', 'In msg nelems': 1000, 'Out msg nelems': 1000, 'Group size': group, 'dtype': 'Float',
                'Process Group Name': str(members[0]), 'Process Group Ranks': str(members), 'Seq': i})
        paths.append(made.write(f'{folder}/meet{rank}.json'))
    return paths


def meet_in_ranges(folder):
    """Checks that a selected range contains only the collectives of its steps; rank 1 arrives last in the first 6 of 20 steps."""
    paths, merged = meet(folder, 2, lambda i, rank: rank == 1 and i < 6, 20, 2), f'{folder}/merged.json'
    run('merge', '-q', *paths, '-o', merged)
    for inputs, what in ((paths, 'two inputs'), ([merged], 'a merged input')):
        for options, found, met, last, cost in (((), [3], 20, 6, 6000), (('--step', '0..9'), [6], 10, 6, 6000), (('--step', '10..19'), [], 10, 0, 0),
                                               (('--step', '3'), [], 1, 1, 1000), (('--time', '+21000us..+42500us'), [], 3, 3, 3000),
                                               (('--time', '+21500us..+41500us'), [], 1, 1, 1000)):
            out = report(*inputs, *options)
            got = [round(f['figure'], 1) for f in out['findings'] if f['id'] == 'straggler'], out['waits'][1]['met'], out['waits'][1]['last']
            same(f'collectives of {what} {options}', (*got, round(out['waits'][1]['cost_ns'] / 1000)), (found, met, last, cost))
            reduce = next(c for c in out['collectives'] if c['name'] == 'allreduce')
            same(f'collectives of {what} {options}: table', (reduce['met'], round(reduce['wait_ns'] / 1000)), (met, cost))


def chance(folder):
    """Checks two ranks: the rank that arrives last in most collectives is a straggler, by the excess of its delays over those
    of the other rank; a rank that arrives last in half of them is not."""
    paths = meet(folder, 2, lambda i, rank: rank == (i > 0), 10, 2)
    same('last in 9 of 10', [(f['id'], f['rank'], round(f['figure'], 1)) for f in report(*paths)['findings']], [('straggler', 1, 8.0)])
    same('a selection of work', ids(*paths, '--name', '*AllReduce*'), set())
    same('pairs that take turns', ids(*meet(folder, 8, lambda i, rank: rank % 2 == i % 2, 10, 2)), set())
    out = report(*meet(folder, 3, lambda i, rank: rank == 0 if i % 2 else rank > 0, 12, 3))
    same('ranks that arrive last together', [(w['met'], w['last'], round(w['cost_ns'] / 1000)) for w in out['waits']], [(12, 6, 6000), (12, 0, 0), (12, 0, 0)])
    same('ranks that arrive last together: waiting', [round(w['wait_ns'] / 1000) for w in out['waits']], [6000, 6000, 6000])
    meet_in_ranges(folder)
    for rank, name in enumerate((ALLREDUCE, ALLREDUCE.replace('AllReduce', 'AllGather'))):
        made = Run(1200, rank=rank)
        made.each_step(lambda at: made.device(name, at + STEP - 1200, 1200, stream=20)).write(f'{folder}/apart{rank}.json')
        beside(name, 1200, pause=1200).write(f'{folder}/unranked{rank}.json')
    found = report(f'{folder}/apart0.json', f'{folder}/apart1.json')['findings'][0]
    same('collectives without a match', (found['id'], 'could not be matched' in found['text'], 'report all ranks' in found['advice']),
         ('exposed-communication', True, False))
    found = report(f'{folder}/unranked0.json', f'{folder}/unranked1.json')['findings'][0]
    same('collectives of inputs without ranks', (found['id'], 'this trace alone' in found['text']), ('exposed-communication', False))


def stragglers(folder):
    """Checks two ranks, where either rank 1 arrives last in all collectives or both alternate."""
    for what, late, want in (('one rank', lambda i: 1, {'straggler'}), ('both in turn', lambda i: i % 2, set()), ('hardly', lambda i: 1, set())):
        paths = []
        for rank in range(2):
            made = Run(steps=6, rank=rank, kernel=lambda i: f'kernel_{i}')
            made.extra['baseTimeNanoseconds'] = 1700000000000000000
            for i, at in enumerate(made.starts):
                wait = (400 + 10 * (i == 3) if late(i) == rank else 0) if what != 'hardly' else 20 * rank
                args = {'Collective name': 'allreduce', 'In msg nelems': 1000, 'Out msg nelems': 1000, 'Group size': 2, 'dtype': 'Float',
                        'Process Group Name': '0', 'Process Group Ranks': '[0, 1]', 'Seq': i}
                made.device(ALLREDUCE, at + 1000 + wait, 600 - wait, stream=30, **args)
            paths.append(made.write(f'{folder}/rank{rank}.json'))
        out = report(*paths)
        same(f'straggler: {what}', {f['id'] for f in out['findings']}, want)
        if want:
            f = out['findings'][0]
            same('straggler: rank and figure', (f['rank'], round(f['figure'], 1), 'last in 6 of 6' in f['text']), (1, 4.0, True))
            same('straggler: place of the largest delay', (f['step'], f['at_ns'], f['length_ns']), (3, 31000000, 600000))
            words = 'more than other ranks do, which is 4.0% of the active window (threshold 2%): it arrived'
            judge('straggler: sentence', '' if words in f['text'] else f['text'])
            same('straggler: command for two files', f'tracekit diff {paths[1]} {paths[0]} --kind op' in f['advice'], True)
            merged = f'{folder}/stragglers.json'
            run('merge', '-q', '--force', *paths, '-o', merged)
            found = report(merged)['findings'][0]
            same('straggler: place in one file', (found['step'], found['at_ns'], found['length_ns']), (3, 31000000, 600000))
            same('straggler: command for one file', f'tracekit top {merged} --kind op --by rank' in report(merged)['findings'][0]['advice'], True)


def places(folder):
    path = Run(2100, rank=3).write(f'{folder}/idle.json')
    f = report(path)['findings'][0]
    same('place of an idle device', (f['rank'], f['device'], f['severity'], f['unit'], f['threshold'], round(f['figure'], 2), f['step']),
          (3, 'GPU 0', 'warning', '%', 20, 21.0, 0))
    same('time of the longest gap', (f['at_ns'], f['length_ns']), (7900000, 2100000))
    same('sentence', 'GPU 0 of rank 3 was idle for 21.0% of the time of its steps (threshold 20%); during 100.0% of that time, the host ran operators' in f['text'], True)
    same('advice', '--time +7900us..+10000us' in f['advice'], True)
    bad = report(Run(5100).write(f'{folder}/idle.json'))['findings'][0]
    same('severity', (bad['severity'], bad['threshold']), ('bad', 50))
    f = report(Run(steps=6, durations=[10000] * 4 + [16000, 10000]).write(f'{folder}/outlier.json'))['findings'][0]
    same('place of an outlier', (f['step'], f['at_ns'], f['length_ns'], f['figure']), (4, 40000000, 16000000, 1.6))


def shown_at(folder):
    """A finding about kernels or copies points to the longest of them, unless the rank has several devices."""
    pageable = beside('Memcpy HtoD (Pageable -> Device)', 200, 'gpu_memcpy')
    grids = Run(args=lambda i: {'blocks per SM': 0.5 if i < 4 else 2, 'grid': [4 if i < 4 else 900, 1, 1]}, kernel=lambda i: f'k{i}')
    fp32 = with_kernels([f'ampere_sgemm_{i}_nn' if i > 6 else f'k{i}' for i in range(10)])
    for name, made, want in (('pageable-copy', pageable, (0, 100000, 200000)), ('small-grid', grids, (0, 0, 990000)),
                             ('fp32-matmul', fp32, (0, 6930000, 990000)), ('small-kernels', tiny(9), (0, 0, 9000))):
        f = next(f for f in report(made.write(f'{folder}/at.json'))['findings'] if f['id'] == name)
        got = f.get('step'), f.get('at_ns'), f.get('length_ns')
        if name == 'small-kernels':
            got = got[0], f['at_ns'] * 0, f['length_ns']
        same(f'place of {name}', got, want)
    made = with_kernels([f'ampere_sgemm_{i}_nn' if i > 6 else f'k{i}' for i in range(10)])
    made.each_step(lambda at: made.span('k9', 'kernel', at, 9000, 1, 7, stream=7, device=1))
    f = next(f for f in report(made.write(f'{folder}/at.json'))['findings'] if f['id'] == 'fp32-matmul')
    same('no place if the device is not certain', (f.get('step'), f.get('at_ns')), (None, None))


def documented():
    """Returns the example of a thresholds file in docs/findings.md."""
    with open(f'{os.environ["SRC"]}/docs/findings.md', encoding='utf-8') as f:
        return f.read().split('```\n')[1]


def thresholds(folder):
    path = Run(2100).write(f'{folder}/idle.json')

    def given(text, fine=(0,)):
        with open(f'{folder}/limits', 'w', encoding='utf-8') as f:
            f.write(text)
        return run('report', '-q', '--json', path, '--thresholds', f'{folder}/limits', fine=fine)

    for what, text, want in (('higher', '# comment\n\ndevice-idle = 30 60\n', []), ('off', 'device-idle=off', []),
                             ('lower', ' device-idle = 10 20 # both\r\n', [('bad', 20)]),
                             ('unit', 'device-idle = 10.5%', [('warning', 10.5)]), ('unit after a blank', 'device-idle = 10 % 20 %', [('bad', 20)]),
                             ('byte order mark', '\ufeffdevice-idle = 10', [('warning', 10)]), ('digits', 'device-idle = 20.96', [('warning', 20.96)]),
                             ('none of launches', 'unrecorded-launches = 0', [('warning', 20)]),
                             ('the documented ones', documented(), [])):
        same(f'thresholds: {what}', [(f['severity'], f['threshold']) for f in json.loads(given(text).stdout)['findings']], want)
    text = json.loads(given('device-idle = 20.96').stdout)['findings'][0]['text']
    judge('thresholds: digits in the sentence', '' if '(threshold 20.96%)' in text else text)
    with open(f'{folder}/limits', 'w', encoding='utf-8') as f:
        f.write('device-idle = 0\nsync-count = 0\n')
    same('thresholds: 0', report(Run(0).write(f'{folder}/full.json'), '--thresholds', f'{folder}/limits')['findings'], [])
    for text, words in (('device-idel = 3', "line 1: unknown threshold 'device-idel'; did you mean 'device-idle'?"),
                        ('\ndevice-idle 3', 'line 2: expected ID = NUMBER'), ('input = x', 'line 1: expected one or two numbers, or off'),
                        ('input = 5 4', 'line 1: the second number is less than the first'), ('input = 1 2 3', 'expected one or two numbers')):
        p = given(text, fine=(2,))
        judge(f'thresholds: {text!r}', '' if words in p.stderr.decode() and not p.stdout else p.stderr.decode())
    none = f'{folder}/none'
    judge('thresholds: no such file', '' if none in run('report', '-q', path, '--thresholds', none, fine=(3,)).stderr.decode() else 'unnamed')
    same('thresholds without an assertion', run('check', '-q', path, '--thresholds', none, fine=(0, 2)).returncode, 2)


def asserted(folder):
    path, healthy = Run(2100).write(f'{folder}/idle.json'), Run().write(f'{folder}/healthy.json')
    for trace, options, want in ((path, (), 1), (healthy, (), 0), (path, ('--thresholds', f'{folder}/off'), 0)):
        with open(f'{folder}/off', 'w', encoding='utf-8') as f:
            f.write('device-idle = off\n')
        same(f'check --assert {options} {os.path.basename(trace)}',
              run('check', '-q', trace, '--assert', 'findings == 0', *options, fine=(0, 1)).returncode, want)
    out = run('report', '-q', '--findings', path).stdout.decode()
    judge('report --findings', '' if 'was idle for 21.0%' in out and 'Device time' not in out else out)
    same('report --findings --json', list(json.loads(run('report', '-q', '--findings', '--json', path).stdout)), ['findings', 'unjudged'])


def key_figures(folder):
    """Checks assertions about each key figure, just above and just below its value in the JSON. Without a value, the result is
    unknown."""
    path, fixture = Run(2100).write(f'{folder}/figures.json'), f'{FIXTURES}/perfetto/small.pftrace.gz'
    seen = set()
    for trace in (path, fixture):
        figures = {f['name']: f for f in report(trace)['key_figures']}
        for name, f in figures.items():
            seen.add(name)
            for word in (name, name.replace(' ', '_')):
                for op, step, held in (('<', 1, 0), ('>', -1, 0), ('<', -1, 1), ('>', 1, 1)):
                    if f['value'] == 0 and step < 0:
                        continue
                    value = (f['value'] or 0) + (step if f['value'] is not None else 1) * max(abs(f['value'] or 0) / 10, .01)
                    text = f'{word} {op} {value:.6f}{f["unit"]}'
                    p = run('check', trace, '--assert', text, fine=(0, 1, 3))
                    same(f'{os.path.basename(trace)}: {text}', p.returncode, 3 if f['value'] is None else held)
                    if f['value'] is None:
                        judge(f'{text}: says why', '' if b'lacks the data' in p.stderr else p.stderr.decode())
    same('key figures that were asserted', len(seen), 10)
    span = lambda name, cat, pid, tid, ts, dur, **args: {'ph': 'X', 'name': name, 'cat': cat, 'pid': pid, 'tid': tid, 'ts': ts, 'dur': dur, 'args': args}  # noqa: E731
    events = [span('ProfilerStep#1', 'user_annotation', 9, 1, 0, 10000), span('aten::mm', 'cpu_op', 9, 1, 0, 9900)]
    for i in range(20):
        at = 7000 + 100 * i
        events += [span('cudaLaunchKernel', 'cuda_runtime', 9, 1, at, 5, correlation=i + 1), span('gemm', 'kernel', 0, 7, at + 10, 20, correlation=i + 1, stream=7)]
    with open(f'{folder}/late.json', 'w', encoding='utf-8') as f:
        json.dump({'traceEvents': events}, f)
    out = report(f'{folder}/late.json')
    gap = next(f['length_ns'] for f in out['findings'] if f['id'] == 'device-idle')
    longest = next(f['value'] for f in out['key_figures'] if f['name'] == 'longest idle time')
    same('the longest idle time of the finding and of the key figure', (float(gap), float(longest)), (7010000.0, 7.01))
    for made in (Run(2100), with_late_start(6000, True), with_late_start(6000)):
        trace = made.write(f'{folder}/busy.json')
        value = next(f['value'] for f in report(trace)['key_figures'] if f['name'] == 'device utilization')
        for limit, held in ((value - 1, 0), (value + 1, 1)):
            same(f'gpu_busy > {limit}', run('check', trace, '--assert', f'gpu_busy > {limit:.3f}%', fine=(0, 1)).returncode, held)
    thresholds = f'{folder}/figures.conf'
    with open(thresholds, 'w', encoding='utf-8') as f:
        f.write('device-idle = off\nsmall-kernels = off\n')
    for pause in (100, 6000):
        trace = Run(pause).write(f'{folder}/figures.json')
        bad = [f['name'] for f in report(trace)['key_figures'] if f['verdict'] == 'bad']
        said = ' '.join(run('report', '-q', '--findings', trace, '--thresholds', thresholds).stdout.decode().split())
        judge(f'bad key figures without findings, pause {pause}', '' if said.endswith(f'these key figures are bad: {", ".join(bad)}' if bad else 'beyond its threshold') else f'{bad}: {said}')
        same(f'some are bad, pause {pause}', bool(bad), pause == 6000)
    same('a key figure of the wrong unit', run('check', path, '--assert', 'host overhead < 5ms', fine=(2,)).returncode, 2)
    p = run('check', path, '--assert', 'host overhed < 5%', fine=(2,))
    judge('a misspelt key figure', '' if b"did you mean 'host overhead'" in p.stderr else p.stderr.decode())
    for text, want in (('device_utilization < 80%', 1), ('device utilization < 10%', 0), ('peak memory < 90%', 3)):
        same(f'diff --fail-if {text}', run('diff', path, path, '--fail-if', text, fine=(0, 1, 3)).returncode, want)


def overhead(folder):
    """Checks the host overhead: waiting for the device does not count, and it is unknown if the host was not recorded for more than 10%
    of the time, unless the known part is bad. Each step is idle for 3 of its 10 ms."""
    for name, cat, dur, unrecorded, want in (
            ('aten::mm', 'cpu_op', 3000, 0, 30), ('cudaMalloc', 'cuda_runtime', 3000, 0, 30), ('cudaLaunchKernel', 'cuda_runtime', 3000, 0, 30),
            ('cudaDeviceSynchronize', 'cuda_runtime', 3000, 0, 0), ('hipMemcpyWithStream', 'cuda_runtime', 3000, 0, 0), ('cudaMemcpy', 'cuda_runtime', 3000, 0, 0),
            ('enumerate(DataLoader)#x', 'user_annotation', 3000, 0, 0), ('aten::mm', 'cpu_op', 2100, 900, 21), ('aten::mm', 'cpu_op', 2100, 901, 21),
            ('aten::mm', 'cpu_op', 1950, 990, 19.5), ('aten::mm', 'cpu_op', 1950, 1010, None), ('aten::mm', 'cpu_op', 100, 2900, None)):
        made = Run(3000)
        made.events = [e for e in made.events if e['name'] != 'aten::step']
        made.each_step(lambda at: made.span('aten::step', 'cpu_op', at, 7000))  # noqa: B023
        made.each_step(lambda at: made.span(name, cat, at + 7000, dur))  # noqa: B023
        made.each_step(lambda at: made.span('time.sleep', 'python_function', at + 7000 + dur, 3000 - dur - unrecorded))  # noqa: B023
        path = made.write(f'{folder}/overhead.json')
        value = next(f['value'] for f in report(path)['key_figures'] if f['name'] == 'host overhead')
        same(f'host overhead: {name}, {dur} us, {unrecorded} us not recorded', value, want)
        status = run('check', path, '--assert', 'host overhead < 10%', fine=(0, 1, 3)).returncode
        same(f'its assertion: {name}, {dur} us, {unrecorded} us not recorded', status, 3 if want is None else int(want >= 10))


def selected(folder):
    """Checks that a report on selected work has no findings, because these are about whole devices, and that a report on
    selected ranks or steps has findings."""
    paths = [Run(2100, rank=r).write(f'{folder}/rank{r}.json') for r in range(2)]
    for options, want in ((('--kind', 'memcpy', '--allow-empty'), []), (('--name', 'kernel_1'), []), (('--rank', '1'), [1]), (('--step', '1'), [0])):
        same(f'findings with {options}', [f['rank'] for f in report(*paths, *options)['findings']], want)
    judge('not judged', '' if b'not judged' in run('report', '-q', paths[0], '--name', 'kernel_1').stdout else 'does not say so')
    why = 'the selection excludes part of the work'
    for options, want in ((('--name', 'kernel_1'), why), (('--time', '+9000us..+9500us'), why), (('--step', '1'), None), ((), None)):
        same(f'unjudged with {options}', [report(paths[0], *options, *more)['unjudged'] for more in ((), ('--findings',))], [want] * 2)


# ---- the parts of a step ----

def adds_up(split):
    return abs(sum(split[f'{p}_ns'] for p in PARTS) - split['length_ns']) < 0.0005


def split(folder):
    """Checks the parts of a step with a kernel at 0..40: an idle time belongs to the highest class of the nested spans around it on the
    launching thread, or else to the spans of other threads."""
    made = Run(steps=0)
    made.span('ProfilerStep#0', 'user_annotation', 0, 100)
    for name, cat, ts, dur, tid in (('aten::mm', 'cpu_op', 0, 60, 1), ('cudaLaunchKernel', 'cuda_runtime', 35, 10, 1),
                                    ('cudaMalloc', 'cuda_runtime', 50, 4, 1), ('cudaStreamSynchronize', 'cuda_runtime', 60, 10, 1),
                                    ('enumerate(DataLoader)#x', 'user_annotation', 72, 8, 1), ('aten::randperm', 'cpu_op', 74, 3, 1),
                                    ('time.sleep', 'python_function', 82, 4, 1), ('aten::add', 'cpu_op', 64, 2, 2),
                                    ('cudaStreamSynchronize', 'cuda_runtime', 88, 2, 2), ('backend_compile', 'cpu_op', 92, 3, 3)):
        made.span(name, cat, ts, dur, tid=tid, **({'correlation': 1} if name == 'cudaLaunchKernel' else {}))
    made.device('k', 0, 40, correlation=1)
    got = report(made.write(f'{folder}/split.json'))['ranks'][0]['steps'][0]
    want = {'compute': 40, 'communication': 0, 'copy': 0, 'launch': 5, 'runtime': 4, 'sync': 8, 'input': 8, 'other': 4, 'compile': 3,
            'host': 5 + 6 + 2 + 2}
    want['idle'] = 100 - sum(want.values())
    same('parts of a step', {p: got['split'][f'{p}_ns'] / 1000 for p in PARTS}, want)
    made.span('ProfilerStep#1', 'user_annotation', 10, 50)
    made.span('ProfilerStep#2', 'user_annotation', 200, 50)
    steps = report(made.write(f'{folder}/nested.json'))['ranks'][0]['steps']
    same('a step within a step', [(s['number'], s['split'] and s['split']['length_ns']) for s in steps], [(0, 100000), (2, 50000)])
    for name in ('json/torch/ddp4_full/rank0.json.gz', 'json/viz/viz_small.json', 'xplane/mlp_train/vm.xplane.pb', 'perfetto/small.pftrace.gz',
                 'xplane/synth/gpu.xplane.pb', 'xplane/synth/tpu.xplane.pb', 'xplane/multihost', 'nsys/two-processes.sqlite'):
        fault = ''
        for r in report(f'{FIXTURES}/{name}')['ranks']:
            splits = [r['split']] * (r['split'] is not None) + [s['split'] for s in r['steps']]
            lengths = [s['duration_ns'] for s in r['steps']]
            fault = fault or ('' if all(map(adds_up, splits)) else 'the parts do not add up')
            fault = fault or ('' if lengths == [s['split']['length_ns'] for s in r['steps']] else 'other lengths')
        judge(f'parts of the steps of {name}', fault)


def overlaps(folder):
    """Checks steps that begin before the previous one ends: each has only the time that no earlier step covers."""
    for late in (0, 0.001, 1, 2500):
        made = Run(work=False)
        made.each_step(lambda at: made.launch('k', at, at, 5000))
        for e in made.events:
            if e['name'].startswith('ProfilerStep'):
                e['dur'] += late
        steps = report(made.write(f'{folder}/overlaps.json'))['ranks'][0]['steps']
        lengths = [s['split'] and round(s['split']['length_ns']) for s in steps]
        same(f'steps that overlap by {late} us', lengths, [round(1000 * (STEP + late))] + [1000 * STEP] * 4)
        judge(f'steps that overlap by {late} us: parts', '' if all(s['split'] and adds_up(s['split']) for s in steps) else 'the parts do not add up')
        same(f'steps that overlap by {late} us: durations', {round(s['duration_ns']) for s in steps}, {round(1000 * (STEP + late))})


def with_own_steps(calls):
    """Returns a run with five steps of a host, with blocking calls, and one step of an XLA device."""
    made = with_syncs(calls, 1500)
    for tid, name in ((None, '/device:GPU:0'), (9, 'Steps'), (7, 'Stream #7')):
        kind = 'process_name' if tid is None else 'thread_name'
        made.events.append({'ph': 'M', 'name': kind, 'pid': 0, 'tid': tid or 0, 'args': {'name': name}})
    made.span('0', '', 0, made.end, 0, 9)
    return made


def with_inner(count, same_numbers=False):
    """Returns a run with steps of JAX. Each contains `count` inner steps, with the same number or with numbers from 100 on, and
    12 blocking calls."""
    made = Run(2000)
    for i, e in enumerate(e for e in made.events if e['name'].startswith('ProfilerStep')):
        e.update(name='train', args={'step_num': i})
    for i, at in enumerate(made.starts):
        for k in range(count):
            made.span('train', 'user_annotation', at + 100 + 200 * k, 100, step_num=i if same_numbers else 100 + count * i + k)
        for k in range(12):
            made.span('cudaStreamSynchronize', 'cuda_runtime', at + 6830 + 100 * k, 60)
    return made


def unrecorded(folder):
    """Checks that there are at most five sentences about calls whose work was not recorded, and none below the threshold of the
    finding."""
    limits = f'{folder}/limits'
    for names, want in ((1, (1, '')), (5, (5, '')), (6, (5, 'calls with 1 other name ')), (8, (5, 'calls with 3 other names '))):
        made = with_graphs(0)
        for i in range(names):
            made.span(f'cudaLaunch_{i}', 'cuda_runtime', 300 + 10 * i, 5, correlation=20000 + i)
        path = made.write(f'{folder}/graphs.json')
        said = [u for u in report(path)['unknown'] if 'launched work that was not recorded' in u]
        more = [u for u in said if u.startswith('calls with')]
        same(f'{names} names of calls without work', (len(said) - len(more), len(more)), (want[0], int(bool(want[1]))))
        judge(f'{names} names of calls without work: the others', '' if all(u.startswith(want[1]) for u in more) else str(more))
        for value, count in (('off', 0), ('100', want[0]), ('0', want[0])):
            with open(limits, 'w', encoding='utf-8') as f:
                f.write(f'unrecorded-launches = {value}\n')
            said = [u for u in report(path, '--thresholds', limits)['unknown'] if u.endswith('so busy time is too low')]
            same(f'{names} names of calls without work, threshold {value}', len(said), count)


def with_capture(*calls, tid=1):
    """Returns a run that also captures a graph, with two launches before, ten within and two after the capture, all without work.
    `calls`: the names of the calls between them, in order."""
    made = with_graphs(0)
    for k, name in enumerate(calls):
        made.span(name, 'cuda_runtime', 300 + 100 * k, 4, tid=tid)
    for i, at in enumerate([200, 210, *range(430, 480, 5), 2000, 2010]):
        made.span('cudaLaunchKernel', 'cuda_runtime', at, 2, correlation=30000 + i)
    return made


def captured(folder):
    """Launches during graph capture run nothing, so they are not counted as launches without work."""
    begin, end = 'StreamBeginCapture', 'StreamEndCapture'
    for what, calls, tid, want in (('cuda', ['cuda' + begin, 'cuda' + end], 1, 4), ('hip', ['hip' + begin, 'hip' + end], 1, 4),
                                   ('driver', [f'cu{begin}_v2', f'cu{end}'], 1, 4),
                                   ('per-thread stream', [f'cuda{begin}_ptsz', f'cuda{end}_ptsz'], 1, 4),
                                   ('into a graph', [f'cuda{begin}ToGraph', f'cuda{end}'], 1, 4),
                                   ('two streams', ['cuda' + begin] * 2 + ['cuda' + end] * 2, 1, 4),
                                   ('no end', ['cuda' + begin], 1, 14), ('no begin', ['cuda' + end] * 2, 1, 14),
                                   ('ended before', ['cuda' + begin, 'cuda' + end, 'cudaFree'], 1, 14),
                                   ('other thread', ['cuda' + begin, 'cuda' + end], 7, 14)):
        if len(calls) == 2:
            calls = [calls[0], 'cudaStreamIsCapturing', calls[1]]
        row = report(with_capture(*calls, tid=tid).write(f'{folder}/captured.json'))['ranks'][0]
        same(f'launches in a capture, {what}', row['unrecorded_launches'], want)
        same(f'launches in a capture, {what}: calls', row['launch_calls'] - row['unrecorded_launches'],
             report(with_graphs(0).write(f'{folder}/captured.json'))['ranks'][0]['launch_calls'])


def own_steps(folder):
    """Checks that the number of blocking calls per step refers to the steps of the host, not to those of the device."""
    for calls, want in ((4, []), (5, [('sync-count', 5)])):
        out = report(with_own_steps(calls).write(f'{folder}/own.json'))
        row = out['ranks'][0]
        same(f'{calls} blocking calls per step of the host', [(f['id'], f['figure']) for f in out['findings']], want)
        same(f'{calls} blocking calls: steps', (len(row['steps']), row['host_steps'], row['blocking_calls_in_steps']), (1, 5, 5 * calls))


def nested(folder):
    """Checks that steps nested in other steps do not change the report, and that `--step` finds them by their numbers."""
    want = [('sync-count', 12), ('device-idle', 20)]
    for what, made in (('none', with_inner(0)), ('one', with_inner(1)), ('three', with_inner(3)), ('the same', with_inner(1, True))):
        path = made.write(f'{folder}/inner.json')
        out = report(path)
        same(f'inner steps: {what}', ([(f['id'], round(f['figure'], 3)) for f in out['findings']], out['ranks'][0]['blocking_calls_in_steps'],
                                      len(out['ranks'][0]['steps'])), (want, 60, 5))
        rows = json.loads(run('top', '-q', '--json', '--by', 'step', '--name', 'cuda*', path).stdout)['rows']
        same(f'inner steps: {what}: by step', sorted((str(r['name']), r['count']) for r in rows), [(str(i), 22) for i in range(5)])
        same(f'inner steps: {what}: selected', [s['duration_ns'] for s in report(path, '--step', '3')['ranks'][0]['steps']], [10000000])
    path = with_inner(3).write(f'{folder}/inner.json')
    rows = json.loads(run('top', '-q', '--json', '--step', '109', path).stdout)
    same('an inner step by its number', rows['range_ns'], 100000)
    p = run('top', '-q', '--step', '200', path, fine=(1,))
    judge('no such inner step', '' if b'the trace has steps 0 to 4' in p.stderr else p.stderr.decode())


# ---- hosts ----

def by_path(rows):
    """Returns {path: figures} of rows in preorder."""
    path, found = [], {}
    for r in rows:
        path = path[:r['depth']] + [r['name']]
        found[tuple(path)] = (r['count'], r['total_ns'], r['self_ns'])
    return found


HOSTS = ('json/torch/ddp4_full/rank0.json.gz', 'json/viz/viz_small.json', 'xplane/mlp_train/vm.xplane.pb', 'perfetto/small.pftrace.gz',
         'xplane/multihost/host-0.xplane.pb', 'json/torch/ddp2_plain/rank0.json.gz')


def compare_hosts(path, what, *options):
    """Compares the operators with those of `top`, and the annotations with those of `tree`."""
    got = report(path, *options)
    by_name, paths = {}, by_path(got['annotations'])
    for o in got['operators']:
        n, total, own = by_name.get(o['name'], (0, 0, 0))
        by_name[o['name']] = (n + o['count'], round(total + o['total_ns'], 3), round(own + o['self_ns'], 3))
    marked = {a['name'] for a in got['annotations']}
    rows = json.loads(run('top', '-q', '--json', '--allow-empty', '--kind', 'host', path, *options).stdout)['rows']
    want = {r['name']: (r['count'] - r['instants'], round(r['total_ns'], 3), round(r['self_ns'], 3)) for r in rows}
    wrong = [f'{k}: {v}, not {want.get(k)}' for k, v in by_name.items() if k not in marked and want.get(k) != v]
    judge(f'operators of {what}', '; '.join(wrong[:2]))
    own = [o['self_ns'] for o in got['operators']]
    judge(f'operators of {what}: order', '' if own == sorted(own, reverse=True) else 'not by self time')
    if any('*' in n or n == '(step)' for n in marked):
        return  # tree does not join steps
    tree = json.loads(run('tree', '-q', '--json', '-e', 'kind == annotation || kind == step || kind == module', '--allow-empty',
                          path, *options, fine=(0, 1)).stdout or '{"paths": []}')
    same(f'annotations of {what}', paths, by_path(tree['paths']))


def hosts(folder):
    for name in HOSTS:
        for options in ((), ('--time', '20%..70%')):
            compare_hosts(f'{FIXTURES}/{name}', f'{name} {options}', *options)
    made = Run(work=False)
    made.each_step(lambda at: made.span('aten::mm', 'cpu_op', at + 1000, 2000))
    for name, ts, dur in (('epoch', 0, 70000), ('part', 5000, 30000), ('small', 18000, 4000)):
        made.span(name, 'user_annotation', ts, dur, tid=2)
    path = made.write(f'{folder}/hosts.json')
    for options, want in (((), 2000000), (('--step', '1..2'), 2000000), (('--time', '+12000us..+32000us'), 4000000 / 3)):
        compare_hosts(path, f'hosts {options}', *options)
        got = {o['name']: o['self_per_step_ns'] for o in report(path, *options)['operators']}
        same(f'self time per step {options}', round(got['aten::mm']), round(want))


def launchers(folder):
    """Checks that the advice about a dominant kernel shows how to find its launches: by operator, by annotation, or by
    recording the host."""
    for left_out, want in (((), '--by op'), (('cpu_op',), '--kind annotation --fold'), (('cpu_op', 'user_annotation'), 'record the host')):
        made = with_kernels(['a'] * 6 + ['b', 'b', 'c', 'c'])
        made.each_step(lambda at: made.span('part', 'user_annotation', at + 1, 95))  # noqa: B023
        made.events = [e for e in made.events if e['cat'] not in left_out]
        found = [f for f in report(made.write(f'{folder}/launchers.json'))['findings'] if 'kernel' in f['id'] and 'dominant' in f['id']]
        judge(f'without {left_out}', '' if len(found) == 1 and want in found[0]['advice'] else str(found))


    made = Run(kernel=lambda i: 'a' if i < 8 else f'k{i}')
    graph = {e['args']['correlation'] for e in made.events if e['name'] == 'a'}
    for e in made.events:
        e['tid'] = 2 if e['cat'] == 'cuda_runtime' and e['args']['correlation'] in graph else e['tid']
    for part, want in ((False, 'the trace does not show what launches it'), (True, '--kind annotation --fold')):
        made.each_step(lambda at: made.span('replay', 'user_annotation', at - 1, 95, tid=2)) if part else None
        found = [f for f in report(made.write(f'{folder}/launchers.json'))['findings'] if f['id'] == 'dominant-kernel']
        judge(f'no operator, annotation {part}', '' if len(found) == 1 and want in found[0]['advice'] else str(found))


def first_use(folder):
    """Checks the advice about a few long idle times: to warm up, only if calls take longer than they do but at the first use."""
    for name, step, pause, want in (('cudaLaunchKernel', 4000, 1100, True), ('cudaLaunchKernel', 4000, 900, False), ('cudaMalloc', 400000, 110000, True),
                                    ('cudaMalloc', 400000, 90000, False), ('aten::mm', 400000, 110000, False)):
        made = Run(pause, durations=[step] * 5)
        made.each_step(lambda at: made.span(name, 'cpu_op' if name == 'aten::mm' else 'cuda_runtime', at + step - pause, pause))  # noqa: B023
        advice = next(f['advice'] for f in report(made.write(f'{folder}/first.json'))['findings'] if f['id'] == 'device-idle')
        judge(f'{name} for {pause} us', '' if ('record after a warm-up' in advice) == want else advice)


def in_time(folder):
    """`tree --sort start` lists the spans of one level by their first starts."""
    made = Run(steps=0)
    for name, ts, dur in (('outer', 0, 100), ('b', 5, 10), ('a', 20, 50), ('b', 80, 10), ('later', 200, 500)):
        made.span(name, 'user_annotation', ts, dur)
    path = made.write(f'{folder}/order.json')
    for options, want in ((('--sort', 'start'), ['outer', 'b', 'a', 'later']), ((), ['later', 'outer', 'a', 'b'])):
        out = json.loads(run('tree', '-q', '--json', path, *options).stdout)
        same(f'tree {options}', [r['name'] for r in out['paths']], want)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for part in (shown, host_only, tensor_cores, pasted, compiled, dominant, once, names, devices, commands, sentences, hedges, worth, ranges, inputs, waits, incomplete, chance, stragglers, places, shown_at, thresholds, asserted, key_figures, overhead, selected, split,
                     overlaps, own_steps, nested, unrecorded, captured, graphs, hosts, launchers, first_use, in_time):
            part(folder)


main()
sys.exit(finish())
