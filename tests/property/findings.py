#!/usr/bin/env python3
"""Checks the findings of `report`: for each one, a trace that shows it and a trace that just does not.

    shown       each row of CASES makes two traces from the same healthy run; the first has exactly the findings of the row, and
                the near miss has none of its own
    places      rank, device, step, time and figure of findings, and that `--thresholds` moves them
    asserted    `check --assert 'findings == 0'`
    split       the parts of each step add up to its length, in generated traces and fixtures, and the host's classes win in order
    in_time     `tree --sort start`
    hosts       operators and annotations of `report` are those of `top` and `tree`"""
import json
import os
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
    """The host is in a span during the pause at the end of each step."""
    made = Run(pause)
    return made.each_step(lambda at: made.span(name, cat, at + STEP - pause, pause, **more))


def with_syncs(count, pause):
    made = Run(pause)
    return made.each_step(lambda at: [made.span('cudaStreamSynchronize', 'cuda_runtime', at + 200 + 10 * i, 5) for i in range(count)])


def tiny(dur):
    """200 kernels in the first half of each step, each launched when the previous one is done."""
    made = Run(work=False)
    return made.each_step(lambda at: [made.launch(f'tiny_{i % 10}', at + 25 * i, at + 25 * i + 6, dur) for i in range(200)])


def beside(name, dur, cat='kernel', pause=0, **args):
    """Device work in each step: in the pause, or on another stream beside the kernels."""
    made = Run(pause)
    return made.each_step(lambda at: made.device(name, at + (STEP - pause if pause else 100), dur, cat, 20, **args))


def with_kernels(names):
    return Run(kernel=lambda i: names[i])


def with_collections(dur):
    made = Run()
    return made.each_step(lambda at: made.span('gc.collect', 'python_function', at + 500, dur, tid=2))


def with_memory(allocated):
    made = Run()
    made.extra['deviceProperties'] = [{'id': 1, 'name': 'B', 'totalGlobalMem': 10}, {'id': 0, 'name': 'A', 'totalGlobalMem': 1000}]
    made.instant('[memory]', 70, **{'Device Type': 1, 'Device Id': 0, 'Total Allocated': allocated, 'Total Reserved': 999})
    return made


def with_graphs(missing):
    """A third of each step is idle, as far as is recorded, and launches of graphs have no work."""
    made = Run(3500)
    for i in range(missing):
        made.span('cudaGraphLaunch', 'cuda_runtime', 200 + 10 * i, 5, correlation=10000 + i)
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
    ('sync-count', lambda: with_syncs(5, 1100), lambda: with_syncs(4, 1100)),
    ('sync-count', lambda: with_syncs(5, 1100), lambda: with_syncs(5, 900)),  # the device is busy
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
    ('step-outlier', lambda: Run(steps=6, durations=[10000] * 4 + [16000, 10000]), lambda: Run(steps=6, durations=[10000] * 4 + [14000, 10000])),
    ('step-drift', lambda: Run(steps=12, durations=[10000 + 200 * i for i in range(12)]), lambda: Run(steps=12, durations=UP)),
    ('step-drift', lambda: Run(steps=12, durations=[10000 + 200 * i for i in range(12)]),
     lambda: Run(steps=12, durations=[12200 - 200 * i for i in range(12)])),  # becomes faster
    ('fp32-matmul', lambda: with_kernels([f'ampere_sgemm_{i}_nn' if i < 3 else f'k{i}' for i in range(10)]),
     lambda: with_kernels([f'sm80_xmma_gemm_f32f32_tf32f32_f32_{i}' if i < 3 else f'k{i}' for i in range(10)])),
    ('small-grid', lambda: Run(args=lambda i: {'blocks per SM': 0.5 if i < 4 else 2}), lambda: Run(args=lambda i: {'blocks per SM': 0.5 if i < 2 else 2})),
    ('memory', lambda: with_memory(910), lambda: with_memory(890)),
    ('unrecorded-launches', lambda: with_graphs(3), lambda: with_graphs(2)),
]
# Findings that a near miss shares with its row, because they do not depend on the same figure.
ALSO = {'small-kernels device-idle': {'device-idle'}, 'unrecorded-launches': {'device-idle'}}


def ids(path, *options):
    return {f['id'] for f in report(path, *options)['findings']}


def shown(folder):
    healthy = Run().write(f'{folder}/healthy.json')
    same('a healthy run has no finding', ids(healthy), set())
    for number, (name, shows, misses) in enumerate(CASES):
        found, near = shows().write(f'{folder}/shows.json'), misses().write(f'{folder}/misses.json')
        same(f'{number}: {name}', ids(found), set(name.split()))
        same(f'{number}: near miss of {name}', ids(near), ALSO.get(name, set()))
    with open(healthy, encoding='utf-8') as f:
        text = f.read()
    with open(f'{folder}/cut.json', 'w', encoding='utf-8') as f:
        f.write(text[:len(text) - 200])
    same('truncated', ids(f'{folder}/cut.json'), {'truncated'})


def stragglers(folder):
    """Rank 1 arrives last in all collectives, or both in turn."""
    for what, late, want in (('one rank', lambda i: 1, {'straggler'}), ('both in turn', lambda i: i % 2, set()), ('hardly', lambda i: 1, set())):
        paths = []
        for rank in range(2):
            made = Run(steps=6, rank=rank, kernel=lambda i: f'kernel_{i}')
            made.extra['baseTimeNanoseconds'] = 1700000000000000000
            for i, at in enumerate(made.starts):
                wait = (400 if late(i) == rank else 0) if what != 'hardly' else 20 * rank
                args = {'Collective name': 'allreduce', 'In msg nelems': 1000, 'Out msg nelems': 1000, 'Group size': 2, 'dtype': 'Float',
                        'Process Group Name': '0', 'Process Group Ranks': '[0, 1]', 'Seq': i}
                made.device(ALLREDUCE, at + 1000 + wait, 600 - wait, stream=30, **args)
            paths.append(made.write(f'{folder}/rank{rank}.json'))
        out = report(*paths)
        same(f'straggler: {what}', {f['id'] for f in out['findings']}, want)
        if want:
            f = out['findings'][0]
            same('straggler: rank and figure', (f['rank'], round(f['figure'], 1), 'last in 6 of 6' in f['text']), (1, 4.0, True))


def places(folder):
    path = Run(2100, rank=3).write(f'{folder}/idle.json')
    f = report(path)['findings'][0]
    same('place of an idle device', (f['rank'], f['device'], f['severity'], f['unit'], f['threshold'], round(f['figure'], 2), f['step']),
          (3, 'GPU 0', 'warning', '%', 20, 21.0, 0))
    same('time of the longest gap', (f['at_ns'], f['length_ns']), (7900000, 2100000))
    same('sentence', 'GPU 0 of rank 3 was idle for 21.0% of its steps (threshold 20%)' in f['text'], True)
    same('advice', '--time +7900us..+10000us' in f['advice'], True)
    bad = report(Run(5100).write(f'{folder}/idle.json'))['findings'][0]
    same('severity', (bad['severity'], bad['threshold']), ('bad', 50))
    f = report(Run(steps=6, durations=[10000] * 4 + [16000, 10000]).write(f'{folder}/outlier.json'))['findings'][0]
    same('place of an outlier', (f['step'], f['at_ns'], f['length_ns'], f['figure']), (4, 40000000, 16000000, 1.6))


def thresholds(folder):
    path = Run(2100).write(f'{folder}/idle.json')

    def given(text, fine=(0,)):
        with open(f'{folder}/limits', 'w', encoding='utf-8') as f:
            f.write(text)
        return run('report', '-q', '--json', path, '--thresholds', f'{folder}/limits', fine=fine)

    for what, text, want in (('higher', '# comment\n\ndevice-idle = 30 60\n', []), ('off', 'device-idle=off', []),
                             ('lower', ' device-idle = 10 20 # both\r\n', [('bad', 20)]), ('unit', 'device-idle = 10.5%', [('warning', 10.5)])):
        same(f'thresholds: {what}', [(f['severity'], f['threshold']) for f in json.loads(given(text).stdout)['findings']], want)
    for text, words in (('device-idel = 3', "line 1: unknown threshold 'device-idel'; did you mean 'device-idle'?"),
                        ('\ndevice-idle 3', 'line 2: expected ID = NUMBER'), ('input = x', 'line 1: expected one or two numbers, or off'),
                        ('input = 5 4', 'line 1: the second number is less than the first'), ('input = 1 2 3', 'expected one or two numbers')):
        p = given(text, fine=(2,))
        judge(f'thresholds: {text!r}', '' if words in p.stderr.decode() and not p.stdout else p.stderr.decode())
    same('thresholds: no such file', run('report', '-q', path, '--thresholds', f'{folder}/none', fine=(3,)).returncode, 3)


def asserted(folder):
    path, healthy = Run(2100).write(f'{folder}/idle.json'), Run().write(f'{folder}/healthy.json')
    for trace, options, want in ((path, (), 1), (healthy, (), 0), (path, ('--thresholds', f'{folder}/off'), 0)):
        with open(f'{folder}/off', 'w', encoding='utf-8') as f:
            f.write('device-idle = off\n')
        same(f'check --assert {options} {os.path.basename(trace)}',
              run('check', '-q', trace, '--assert', 'findings == 0', *options, fine=(0, 1)).returncode, want)
    out = run('report', '-q', '--findings', path).stdout.decode()
    judge('report --findings', '' if 'was idle for 21.0%' in out and 'Device time' not in out else out)
    same('report --findings --json', list(json.loads(run('report', '-q', '--findings', '--json', path).stdout)), ['findings'])


def selected(folder):
    """Findings are about whole devices: a selection of work makes none, a selection of ranks or steps does."""
    paths = [Run(2100, rank=r).write(f'{folder}/rank{r}.json') for r in range(2)]
    for options, want in ((('--kind', 'memcpy', '--allow-empty'), []), (('--name', 'kernel_1'), []), (('--rank', '1'), [1]), (('--step', '1'), [0])):
        same(f'findings with {options}', [f['rank'] for f in report(*paths, *options)['findings']], want)
    judge('not judged', '' if b'not judged' in run('report', '-q', paths[0], '--name', 'kernel_1').stdout else 'does not say so')


# ---- the parts of a step ----

def adds_up(split):
    return abs(sum(split[f'{p}_ns'] for p in PARTS) - split['length_ns']) < 0.0005


def split(folder):
    """Kernel 0..40, idle 40..100: the host is in nested spans, of which the highest class counts; other threads fill the rest."""
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
    for name in ('json/torch/ddp4_full/rank0.json.gz', 'json/viz/viz_small.json', 'xplane/mlp_train/vm.xplane.pb', 'perfetto/small.pftrace.gz',
                 'xplane/synth/gpu.xplane.pb', 'xplane/synth/tpu.xplane.pb', 'xplane/multihost', 'nsys/two-processes.sqlite'):
        fault = ''
        for r in report(f'{FIXTURES}/{name}')['ranks']:
            splits = [r['split']] * (r['split'] is not None) + [s['split'] for s in r['steps']]
            lengths = [s['duration_ns'] for s in r['steps']]
            fault = fault or ('' if all(map(adds_up, splits)) else 'the parts do not add up')
            fault = fault or ('' if lengths == [s['split']['length_ns'] for s in r['steps']] else 'other lengths')
        judge(f'parts of the steps of {name}', fault)


# ---- hosts ----

def by_path(rows):
    """Returns {path: figures} of rows in preorder."""
    path, found = [], {}
    for r in rows:
        path = path[:r['depth']] + [r['name']]
        found[tuple(path)] = (r['count'], r['total_ns'], r['self_ns'])
    return found


def hosts():
    for name in ('json/torch/ddp4_full/rank0.json.gz', 'json/viz/viz_small.json', 'xplane/mlp_train/vm.xplane.pb', 'perfetto/small.pftrace.gz',
                 'xplane/multihost/host-0.xplane.pb', 'json/torch/ddp2_plain/rank0.json.gz'):
        got = report(f'{FIXTURES}/{name}')
        by_name, paths = {}, by_path(got['annotations'])
        for o in got['operators']:
            n, total, own = by_name.get(o['name'], (0, 0, 0))
            by_name[o['name']] = (n + o['count'], round(total + o['total_ns'], 3), round(own + o['self_ns'], 3))
        marked = {a['name'] for a in got['annotations']}
        rows = json.loads(run('top', '-q', '--json', '--kind', 'host', f'{FIXTURES}/{name}').stdout)['rows']
        want = {r['name']: (r['count'] - r['instants'], round(r['total_ns'], 3), round(r['self_ns'], 3)) for r in rows}
        wrong = [f'{k}: {v}, not {want.get(k)}' for k, v in by_name.items() if k not in marked and want.get(k) != v]
        judge(f'operators of {name}', '; '.join(wrong[:2]))
        judge(f'operators of {name}: order', '' if [o['self_ns'] for o in got['operators']] == sorted((o['self_ns'] for o in got['operators']), reverse=True)
              else 'not by self time')
        if any('*' in n or n == '(step)' for n in marked):
            continue  # tree does not join steps
        tree = json.loads(run('tree', '-q', '--json', '-e', 'kind == annotation || kind == step || kind == module', '--allow-empty',
                              f'{FIXTURES}/{name}', fine=(0, 1)).stdout or '{"paths": []}')
        same(f'annotations of {name}', paths, by_path(tree['paths']))


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
        for part in (shown, stragglers, places, thresholds, asserted, selected, split, in_time):
            part(folder)
        hosts()


main()
sys.exit(finish())
