#!/usr/bin/env python3
"""Checks phases of steps, and kernels of replayed graphs.

    names       spans as each producer names them, and names that only sound alike
    operators   operators that the backward pass differentiates are the forward pass, by numbers or by flows
    work        device work has the phase of the span that launched it, that encloses it, or of its step; the same in all formats
    scopes      ops of XLA by their args; programs by their names
    graphs      replayed kernels belong to the op and the module of their capture, if it is certain which
    nsys        the same by the creation of nodes, which Nsight Systems records
    columns     dump, sql and an expression give each event the phase, op and module by which top groups it
    programs    programs of XLA that repeat are steps if nothing else names steps
    scope rows  --scopes: nested spans of the paths in an arg
    folded      --fold-graphs: hundreds of streams become lanes without overlaps; work, args and arrows stay"""
import csv
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import check, finish  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']


def run(*args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if p.returncode > 1:
        raise RuntimeError(f'{" ".join(args)}: status {p.returncode}: {p.stderr[:300]}')
    return p.stdout


def top(path, by, *options):
    """Returns {group: ns}; the key of events without a group is ''."""
    rows = json.loads(run('top', path, '--by', by, '--json', '--allow-empty', *options))['rows']
    return {r['name'] or '': round(r['total_ns']) for r in rows}


def x(name, tid, ts, dur, cat='user_annotation', pid=1, **args):
    return {'ph': 'X', 'cat': cat, 'name': name, 'pid': pid, 'tid': tid, 'ts': ts, 'dur': dur, 'args': args}


def call(ts, correlation, tid=1, name='cudaLaunchKernel'):
    return x(name, tid, ts, 2, 'cuda_runtime', correlation=correlation)


def kernel(name, ts, dur, correlation=None, stream=7, **args):
    if correlation:
        args['correlation'] = correlation
    return x(name, stream, ts, dur, 'kernel', 0, stream=stream, device=0, **args)


def put(name, events):
    with open(name, 'w', encoding='utf-8') as f:
        json.dump({'traceEvents': events}, f)
    return name


# ---- names ----

NAMES = {
    'forward': ['## forward ##', 'Forward', 'forward_step', 'fwd 3', 'model.forward()', 'forward-compute', 'nn.Module: Linear_0',
                'DistributedDataParallel.forward', 'FullyShardedDataParallel.forward', 'FSDP::pre_forward (layers.0)', 'DeepSpeedEngine.forward',
                '[pl][profile][Strategy]SingleDeviceStrategy.training_step', 'gpu_model_runner: forward'],
    'backward': ['backward', 'loss.backward()', 'backward_step', 'bwd', 'backward-compute', 'autograd::engine::evaluate_function: AddmmBackward0',
                 'FSDP::post_backward (layers.0)', 'FullyShardedDataParallel._post_backward_hook', 'DeepSpeedEngine.backward',
                 '[pl][profile][Strategy]SingleDeviceStrategy.backward'],
    'optimizer': ['Optimizer.step#AdamW.step', 'Optimizer.zero_grad#SGD.zero_grad', 'optimizer', 'optimizer.step()', 'optimizer-inner-step',
                  'DeepSpeedEngine.step', '[pl][profile][LightningModule]Net.optimizer_step'],
    'dataloader': ['enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__', 'dataloader', 'load_batch 12', 'batch-generator',
                   '[pl][profile][_TrainingEpochLoop].train_dataloader_next', 'Iterator::Prefetch::Map', 'IteratorGetNextOp::DoCompute'],
    'communication': ['nccl:all_reduce', 'gloo:all_reduce', 'c10d::allreduce_', 'record_param_comms', 'all-grads-sync', 'params-all-gather',
                      'hccl:all_reduce', 'HcclAllreduce', 'HcclReduceScatter', 'HcclSend'],
    'prefill': ['step[EXTEND bs=1 toks=512]', 'step[prefill bs=2 toks=900]', 'execute_1_context_1(512)_generation_0(0)',
                'execute_context_2(900)_generation_0(0)', '[Executor] _forward_step 7: 3 ctx reqs, 90 ctx tokens, 0 gen reqs', 'prefill'],
    'decode': ['step[DECODE bs=8]', 'step[TARGET_VERIFY bs=2]', 'step[DRAFT_EXTEND_V2 bs=1]', 'execute_8_context_0(0)_generation_8(8)',
               'execute_new_0_cached_8', '[Executor] _forward_step: 0 ctx reqs, 12 gen reqs', 'decode_step 3',
               'd[req128, tok128, dec128, tok128, pre0, tok0, ext0, tok0]'],
    'mixed': ['step[mixed bs=3 ext=100 dec=2]', 'execute_9_context_1(100)_generation_8(8)', '[Executor] _forward_step 2: 1 ctx reqs, 5 gen reqs'],
    'compile': ['_compile.compile_inner (dynamo_timed)'],
    'checkpoint': ['save_checkpoint'],
    '': ['step[idle]', 'aten::mm', 'CUDAGraphNode.record (dynamo_timed)', 'cudagraphify (dynamo_timed)', 'cudagraphify.get_container (dynamo_timed)',
         'CUDAGraphTreeManager.add_function (dynamo_timed)', 'Decode Image', 'forwarder', 'PaintImage', 'HcclCommInitRootInfo', 'decoder_layer', 'backwards compatible', 'ProfilerStep#3', 'optimize',
         'Fast Forward Button', 'execute_command', 'execute_8_context_0(0)_generation_0(0)'],
}


def check_names():
    for phase, names in NAMES.items():
        path = put('n.json', [x(n, 1, 10 * i, 5) for i, n in enumerate(names)])
        found = top(path, 'phase')
        check(f'names of {phase or "no phase"}', found == {phase: 5000 * len(names)}, found)
    frames = ['codecs.py(319): decode', 'decode', 'torch/_tensor.py(525): backward', 'train.py(7): forward']
    found = top(put('n.json', [x(n, 1, 10 * i, 5, 'python_function') for i, n in enumerate(frames)]), 'phase')
    check('frames of Python', found == {'': 15000, 'backward': 5000}, found)
    runner = 'sglang/srt/model_executor/'
    frames = [f'{runner}model_runner.py(1200): forward_extend', f'/opt/{runner}model_runner.py(1200): forward_split_prefill',
              f'{runner}model_runner.py(1100): forward_decode', f'{runner}cuda_graph_runner.py(700): replay',
              'sglang/srt/layers/attention/triton_backend.py(9): forward_extend', f'{runner}model_runner.py(1300): forward_idle']
    found = top(put('n.json', [x(n, 1, 10 * i, 5, 'python_function') for i, n in enumerate(frames)]), 'phase')
    check('frames of SGLang', found == {'prefill': 10000, 'decode': 10000, '': 10000}, found)
    found = top(put('n.json', [x('step[TARGET_VERIFY bs=2]', 1, 0, 10), x(frames[0], 1, 2, 5, 'python_function'), call(3, 1), kernel('k', 4, 7, 1)]), 'phase')
    check('the span around a frame wins', found == {'decode': 24000}, found)
    found = top(put('n.json', [kernel('backward', 0, 5), kernel('void fused_backward<float>', 10, 5)]), 'phase')
    check('names of kernels', found == {'': 10000}, found)
    cats = ('Forward', 'Backward', 'Optimization', 'Dataloader', 'Communication')
    found = top(put('n.json', [x('Net', 1, 10 * i, 5, c) for i, c in enumerate(cats)]), 'phase')
    check('categories of Paddle', set(found) == {'forward', 'backward', 'optimizer', 'dataloader', 'communication'}, found)


# ---- work ----

TRAINING = [x('ProfilerStep#1', 1, 0, 900), x('forward', 1, 10, 200), x('aten::mm', 1, 20, 50, 'cpu_op'), call(30, 1), kernel('gemm', 500, 50, 1),
            x('autograd::engine::evaluate_function: MmBackward0', 2, 220, 50, 'cpu_op'), call(230, 2, 2),
            kernel('gemm', 600, 70, 2), x('nn.Module: Linear_0', 2, 240, 20, 'python_function'), call(245, 3, 2), kernel('recompute', 680, 11, 3),
            x('Optimizer.step#Adam.step', 1, 300, 400), call(310, 4), kernel('adam', 700, 30, 4), x('forward', 1, 400, 100), call(410, 5),
            kernel('closure', 740, 13, 5), x('nccl:all_reduce', 2, 262, 6), call(264, 6, 2),
            kernel('ncclDevKernel_AllReduce_Sum_f32_RING_LL', 800, 17, 6, 9), kernel('ncclDevKernel_AllGather_RING_LL', 820, 19, None, 9)]
TRAINED = {'forward': 63000, 'backward': 98000, 'optimizer': 30000, 'communication': 19000}

SERVING = [x('execute_1_context_1(512)_generation_0(0)', 1, 0, 100), x('gpu_model_runner: forward', 1, 10, 80), call(20, 1), kernel('a', 50, 40, 1),
           x('execute_8_context_0(0)_generation_8(8)', 1, 200, 100), call(220, 2, name='cudaGraphLaunch'), kernel('b', 250, 10, 2), kernel('c', 400, 20, 2, 8),
           kernel('unlinked', 270, 7), kernel('outside', 600, 5)]
SERVED = {'prefill': 40000, 'decode': 37000, '': 5000}


def formats(source):
    yield source
    for ending in ('pftrace', 'xplane.pb'):
        path = source.replace('.json', f'.{ending}')
        run('convert', '-q', source, '-o', path, '--force')
        yield path


def check_work():
    for name, events, right in (('training', TRAINING, TRAINED), ('serving', SERVING, SERVED)):
        for path in formats(put(f'{name}.json', events)):
            found = top(path, 'phase', '--kind', 'kernel')
            check(f'{path}: kernels by phase', found == right, found)
    found = top('training.json', 'name', '--kind', 'kernel', '-e', 'phase == backward')
    check('a test of the phase', set(found) == {'gemm', 'recompute', 'ncclDevKernel_AllReduce_Sum_f32_RING_LL'}, found)
    rows = json.loads(run('diff', 'training.json', 'training.json', '--by', 'phase', '--json', '--kind', 'kernel'))['rows']
    check('diff --by phase', {r['name'] for r in rows} == set(TRAINED), rows)
    nodes = json.loads(run('tree', 'serving.json', '--by', 'phase', '--json'))['paths']
    check('tree --by phase', {n['name'] for n in nodes if n['depth'] == 0} == {'prefill', 'decode', None}, nodes)


def check_operators():
    """Without names of phases: one operator with a node of autograd, one without."""
    def op(name, tid, ts, dur, **args):
        return x(name, tid, ts, dur, 'cpu_op', **args)

    work = [call(14, 1), kernel('k1', 50, 10, 1), call(34, 2), kernel('k2', 60, 20, 2), call(114, 3, 2), kernel('k3', 130, 40, 3)]
    loose = [op('aten::arange', 1, 30, 10)]
    engine = x('autograd::engine::evaluate_function: MmBackward0', 2, 100, 30, 'cpu_op')
    ends = [{'ph': ph, 'cat': 'fwdbwd', 'name': 'fwdbwd', 'id': 7, 'pid': 1, 'tid': tid, 'ts': ts, **more}
            for ph, tid, ts, more in (('s', 1, 10, {}), ('f', 2, 110, {'bp': 'e'}))]
    numbers = [op('aten::mm', 1, 10, 10, **{'Sequence number': 5, 'Fwd thread id': 0}), engine,
               op('MmBackward0', 2, 110, 10, **{'Sequence number': 5, 'Fwd thread id': 1})]
    flows = [op('aten::mm', 1, 10, 10), engine, op('MmBackward0', 2, 110, 10), *ends]
    for name, pass_ in (('numbers', numbers), ('flows', flows)):
        found = top(put(f'{name}.json', pass_ + loose + work), 'phase', '--kind', 'kernel')
        check(f'operators by {name}', found == {'forward': 10000, 'backward': 40000, '': 20000}, found)
    found = top(put('inference.json', numbers[:1] + loose + work[:4]), 'phase', '--kind', 'kernel')
    check('operators without a backward pass', found == {'': 30000}, found)


def check_copies():
    """Checks that copies of annotations on a device are in no sum with the work in them."""
    made = put('copies.json', [x('prefill', 1, 0, 100), call(10, 1), kernel('gemm', 200, 40, 1), kernel('gemm', 250, 20, 2), call(20, 2),
                               x('prefill', 7, 200, 70, 'gpu_user_annotation', 0)])
    check('work of a phase', top(made, 'phase', '--kind', 'kernel') == {'prefill': 60000}, top(made, 'phase', '--kind', 'kernel'))
    found = top(made, 'phase', '--kind', 'device')
    check('copies are apart', found == {'prefill': 60000, 'prefill (device)': 70000}, found)


def check_overlaps():
    """Checks a span that extends beyond the span in which it begins: it contains the calls within it, also those after the end of the
    other span."""
    events = [x('ProfilerStep#3', 1, 0, 100), x('Optimizer.step#Adam.step', 1, 60, 50), x('aten::add', 1, 68, 41, 'cpu_op'),
              call(70, 1), kernel('a', 80, 20, 1), call(102, 2), kernel('b', 150, 7, 2), call(112, 3), kernel('c', 170, 3, 3)]
    for path in formats(put('overlap.json', events)):
        for by, right in (('phase', {'optimizer': 27000, '': 3000}), ('op', {'aten::add': 27000, '': 3000})):
            found = top(path, by, '--kind', 'kernel')
            check(f'{path}: {by} of spans that overlap', found == right, found)
        found = top(path, 'name', '--kind', 'kernel', '--launched-by', 'Optimizer.step*')
        check(f'{path}: launched by a span that overlaps', found == {'a': 20000, 'b': 7000}, found)


def check_columns():
    """Compares the sums by phase, op and module of all commands that have them as columns, on events of all kinds."""
    facts = ('phase', 'op', 'module')
    one = captured(0, OPS, CALLS) + replayed(1000, 5, 3, NODES)
    for name, events in (('training', TRAINING), ('serving', SERVING), ('replayed', one)):
        for path in formats(put(f'{name}.json', events)):
            lines = [json.loads(line) for line in run('dump', path, '--jsonl', *(w for f in facts for w in ('--cols', f))).splitlines()]
            answer = run('sql', path, '--csv', '-e', f"SELECT dur, {', '.join(facts)} FROM event WHERE type <> 'counter'")
            rows = list(csv.DictReader(answer.splitlines()))
            for fact in facts:
                right, dumped, asked = top(path, fact), {}, {}
                for e in lines:
                    dumped[e[fact] or ''] = dumped.get(e[fact] or '', 0) + round(e.get('dur_ms', 0) * 1e6)
                for r in rows:
                    asked[r[fact] or ''] = asked.get(r[fact] or '', 0) + int(r['dur'])
                check(f'{path}: {fact} in dump', dumped == right, (dumped, right))
                check(f'{path}: {fact} in sql', asked == right, (asked, right))
            table = run('dump', path, '--csv', '--cols', 'phase').splitlines()
            check(f'{path}: the column of CSV', table[0].endswith(',phase') and len(table) == len(lines) + 1, table[0])
            for phase in {e['phase'] for e in lines} - {None}:
                found = sum(top(path, 'name', '-e', f'phase == {phase}').values())
                check(f'{path}: events of {phase}', found == top(path, 'phase')[phase], found)


def check_scopes():
    def op(op_name, ts, **args):
        return {'ph': 'X', 'pid': 3, 'tid': 3, 'name': op_name, 'ts': ts, 'dur': 5, 'args': args}
    rows = [{'ph': 'M', 'name': 'process_name', 'pid': 3, 'args': {'name': '/device:TPU:0'}}]
    rows += [{'ph': 'M', 'name': 'thread_name', 'pid': 3, 'tid': t, 'args': {'name': n}} for t, n in ((3, 'XLA Ops'), (2, 'XLA Modules'))]
    path = put('x.json', rows + [
        op('fusion.1', 0, tf_op='jit(step)/jvp(Dense)/dot_general'), op('fusion.2', 10, tf_op='jit(step)/transpose(jvp(Dense))/dot_general'),
        op('fusion.3', 20, tf_op='gradient_tape/model/dense/MatMul'), op('fusion.4', 30, tf_op='jit(f)/add'),
        op('fusion.7', 60, tf_op='XlaModule:', name='jit(step)/transpose(jvp(bsd,de->bse))/dot_general'),  # on ROCm
        op('fusion.5', 40, hlo_module='jit_prefill'), op('fusion.6', 50, hlo_module='jit_decode_step'),
        {**op('jit_prefill(17)', 100), 'tid': 2}, {**op('jit_update(18)', 110), 'tid': 2}])
    for source in formats(path):
        found = top(source, 'phase')
        check(f'{source}: scopes', found == {'forward': 5000, 'backward': 15000, '': 10000, 'prefill': 10000, 'decode': 5000}, found)


# ---- graphs ----

def captured(at, ops, launches):
    """Returns the events of a graph capture: operators in modules, whose launches have no device work."""
    events = [x('cudaStreamBeginCapture', 1, at, 2, 'cuda_runtime', correlation=9000 + at)]
    for i, (module, name) in enumerate(ops):
        ts = at + 10 + 20 * i
        events += [x(module, 1, ts, 18, 'python_function'), x(name, 1, ts + 1, 16, 'cpu_op'),
                   x(launches[i], 1, ts + 4, 5, 'cuda_runtime', correlation=9000 + ts)]
        if launches[i] == 'cudaLaunchKernel':  # the driver call within it must not count as a second node
            events.append(x('cuLaunchKernel', 1, ts + 5, 2, 'cuda_driver', correlation=9500 + ts))
    return events + [x('cudaStreamEndCapture', 1, at + 15 + 20 * len(ops), 2, 'cuda_runtime', correlation=9001 + at)]


def replayed(at, correlation, graph, names):
    events = [x('decode', 1, at, 50), call(at + 5, correlation, name='cudaGraphLaunch')]
    for i, (name, cat) in enumerate(names):
        args = {'graph id': graph, 'graph node id': graph << 32 | i + 1, 'correlation': correlation, 'stream': 20 + i, 'device': 0}
        events.append({**x(name, 20 + i, at + 60 + 10 * i, 5, cat, 0), 'args': args})
    return events


OPS = [('nn.Module: Linear_0', 'aten::mm'), ('nn.Module: Norm_0', 'aten::layer_norm'), ('nn.Module: Linear_1', 'aten::copy_')]
CALLS = ['cudaLaunchKernel', 'cudaLaunchKernelExC', 'cudaMemcpyAsync']
NODES = [('gemm', 'kernel'), ('norm', 'kernel'), ('Memcpy DtoD (Device -> Device)', 'gpu_memcpy')]


def check_graphs():
    work = ('--kind', 'device')
    by_op = {'aten::mm': 10000, 'aten::layer_norm': 10000, 'aten::copy_': 10000}
    one = captured(0, OPS, CALLS) + replayed(1000, 5, 3, NODES) + replayed(2000, 6, 3, NODES)
    for path in formats(put('graph.json', one)):
        found = top(path, 'op', *work)
        check(f'{path}: work of a graph by op', found == by_op, found)
        found = top(path, 'module', '--kind', 'kernel')
        check(f'{path}: by module', found == {'nn.Module: Linear_0': 10000, 'nn.Module: Norm_0': 10000}, found)
        found = top(path, 'name', '--launched-by', 'nn.Module: Norm_*', '--kind', 'kernel')
        check(f'{path}: --launched-by a module of the capture', found == {'norm': 10000}, found)
        found = top(path, 'name', '--launched-by', 'cudaGraphLaunch', '--kind', 'kernel')
        check(f'{path}: --launched-by the replay', found == {'gemm': 10000, 'norm': 10000}, found)
        found = top(path, 'phase', *work)
        check(f'{path}: the phase of the replay', found == {'decode': 30000}, found)
    other = [('nn.Module: Embed_0', 'aten::embedding')] + OPS[1:]
    two = captured(0, OPS, CALLS) + captured(200, other, CALLS)
    found = top(put('g.json', two + replayed(1000, 5, 3, NODES) + replayed(2000, 6, 4, NODES)), 'op', *work)
    check('two graphs by their order', found == {'aten::mm': 5000, 'aten::embedding': 5000, 'aten::layer_norm': 10000, 'aten::copy_': 10000}, found)
    found = top(put('g.json', two + replayed(1000, 5, 3, NODES)), 'op', *work)
    check('which of two captures is not known', found == {'': 15000}, found)
    same = captured(0, OPS, CALLS) + captured(200, OPS, CALLS) + captured(400, OPS, CALLS)
    found = top(put('g.json', same + replayed(1000, 5, 9, NODES)), 'op', *work)
    check('captures of the same ops', found == {k: 5000 for k in by_op}, found)
    found = top(put('g.json', captured(0, OPS, CALLS) + replayed(1000, 5, 3, NODES) + replayed(2000, 6, 4, NODES)), 'op', *work)
    check('a graph without its capture', found == {'': 30000}, found)
    found = top(put('g.json', captured(0, OPS[:2], CALLS) + replayed(1000, 5, 3, NODES)), 'op', *work)
    check('another sequence', found == {'': 15000}, found)
    eager = [x('aten::mm', 1, 700, 20, 'cpu_op'), call(705, 77), kernel('eager', 800, 3, 77)]
    found = top(put('g.json', one + eager), 'op', *work)
    check('work outside of the graph', found == {**by_op, 'aten::mm': 13000}, found)


# ---- nodes in exports of Nsight Systems ----

def check_nsys():
    """Checks graphs of two processes with equal node ids. Each node was created in an NVTX range, and copied when the graph was
    instantiated."""
    db = sqlite3.connect('graph.sqlite')
    db.executescript("""
        create table StringIds(id integer primary key, value text);
        create table META_DATA_EXPORT(name text, value text);
        create table NVTX_EVENTS(start integer, end integer, eventType integer, text text, textId integer, globalTid integer);
        create table CUPTI_ACTIVITY_KIND_RUNTIME(start integer, end integer, eventClass integer, globalTid integer, correlationId integer, nameId integer);
        create table CUDA_GRAPH_NODE_EVENTS(start integer, end integer, nameId integer, globalTid integer, graphNodeId integer, originalGraphNodeId integer);
        create table CUPTI_ACTIVITY_KIND_KERNEL(start integer, end integer, deviceId integer, contextId integer, streamId integer, correlationId integer,
            globalPid integer, demangledName integer, graphNodeId integer);
        insert into META_DATA_EXPORT values ('EXPORT_SCHEMA_VERSION', '3.11.0');
        insert into StringIds values (1, 'cudaGraphLaunch'), (2, 'Graph Node Creation'), (3, 'gemm'), (4, 'norm'), (5, 'cudaLaunchKernel');""")
    for pid in (100, 200):
        process, thread = pid << 24, pid << 24 | pid
        for i, layer in enumerate(('attention', 'mlp')):
            at = 1000 * i + 10
            db.execute('insert into NVTX_EVENTS values (?, ?, 59, ?, null, ?)', (at, at + 500, f'{layer} of {pid}', thread))
            db.execute('insert into CUPTI_ACTIVITY_KIND_RUNTIME values (?, ?, 0, ?, ?, 5)', (at + 10, at + 60, thread, 50 + i))
            db.execute('insert into CUDA_GRAPH_NODE_EVENTS values (?, ?, 2, ?, ?, null)', (at + 20, at + 30, thread, 1 + i))
            db.execute('insert into CUDA_GRAPH_NODE_EVENTS values (?, ?, 2, ?, ?, ?)', (5000 + i, 5000 + i, thread, 11 + i, 1 + i))
        for replay in range(2):
            at = 10000 + 1000 * replay
            db.execute('insert into CUPTI_ACTIVITY_KIND_RUNTIME values (?, ?, 0, ?, ?, 1)', (at, at + 20, thread, 70 + replay))
            for i in range(2):
                db.execute('insert into CUPTI_ACTIVITY_KIND_KERNEL values (?, ?, 0, 1, 7, ?, ?, ?, ?)',
                           (at + 100 + 100 * i, at + 150 + 110 * i, 70 + replay, process, 3 + i, 11 + i))
    db.commit()
    db.close()
    for pid in (100, 200):
        for layer, right in (('attention', {'gemm': 100}), ('mlp', {'norm': 120})):
            found = top('graph.sqlite', 'name', '--kind', 'kernel', '--launched-by', f'{layer} of {pid}')
            check(f'nsys: launched by {layer} of {pid}', found == right, found)
    found = top('graph.sqlite', 'name', '--kind', 'kernel', '--launched-by', 'cudaGraphLaunch')
    check('nsys: launched by the replay', found == {'gemm': 200, 'norm': 240}, found)


# ---- programs ----

def check_programs():
    def on(line, name, ts, dur, **args):
        return {'ph': 'X', 'pid': 3, 'tid': line, 'name': name, 'ts': ts, 'dur': dur, 'args': args}
    rows = [{'ph': 'M', 'name': 'process_name', 'pid': 3, 'args': {'name': '/device:TPU:0'}}]
    rows += [{'ph': 'M', 'name': 'thread_name', 'pid': 3, 'tid': t, 'args': {'name': n}} for t, n in ((2, 'XLA Modules'), (3, 'XLA Ops'))]
    events = [on(2, 'jit_init(1)', 0, 900)]
    for i in range(3):
        events += [on(2, 'jit_train_step(7)', 1000 + 100 * i, 80), on(3, 'fusion.1', 1010 + 100 * i, 20 + i), on(2, 'jit_log(8)', 1085 + 100 * i, 3)]
    for path in formats(put('p.json', rows + events)):
        found = top(path, 'step', '--name', 'fusion.1')
        check(f'{path}: steps', found == {'0': 20000, '1': 21000, '2': 22000}, found)
        found = top(path, 'name', '--kind', 'step')
        check(f'{path}: kind step', found == {'jit_train_step(7)': 240000}, found)
        found = top(path, 'step', '--name', 'fusion.1', '--step', '1..2')
        check(f'{path}: --step', found == {'1': 21000, '2': 22000}, found)
    host = [{'ph': 'M', 'name': 'process_name', 'pid': 9, 'args': {'name': '/host:CPU'}}]
    marked = [{'ph': 'X', 'pid': 9, 'tid': 1, 'name': 'train', 'ts': 1000 + 150 * i, 'dur': 150, 'args': {'step_num': 40 + i}} for i in range(2)]
    found = top(put('p.json', rows + host + events + marked), 'step', '--name', 'fusion.1')
    check('steps that a host marks count', found == {'40': 41000, '41': 22000}, found)
    found = top(put('p.json', rows + events[:3]), 'step', '--name', 'fusion.1')
    check('one execution is no step', found == {'': 20000}, found)


# ---- rows of scopes ----

def check_scope_rows():
    def op(name, ts, dur, path):
        return {'ph': 'X', 'pid': 3, 'tid': 3, 'name': name, 'ts': ts, 'dur': dur, 'args': {'tf_op': path} if path else {}}
    rows = [{'ph': 'M', 'name': 'process_name', 'pid': 3, 'args': {'name': '/device:TPU:0'}}, {'ph': 'M', 'name': 'thread_name', 'pid': 3, 'tid': 3, 'args': {'name': 'XLA Ops'}}]
    path = put('scopes.json', rows + [op('a', 0, 10, 'jit(f)/layer_0/dot'), op('b', 12, 8, 'jit(f)/layer_0/transpose(jvp(a/b))/add'), op('c', 25, 5, 'jit(f)/layer_1/dot'),
                                      op('d', 29, 10, 'jit(f)/layer_2'), op('e', 50, 5, None), op('f', 60, 5, 'jit(g)/layer_2')])
    right = [('jit(f)', 0, 0, 39), ('layer_0', 1, 0, 20), ('dot', 2, 0, 10), ('transpose(jvp(a/b))', 2, 12, 20), ('add', 3, 12, 20), ('layer_1', 1, 25, 29), ('dot', 2, 25, 29),
             ('layer_2', 1, 29, 39), ('jit(g)', 0, 60, 65), ('layer_2', 1, 60, 65)]
    for ending in ('json', 'pftrace'):
        run('convert', '-q', path, '--scopes', 'arg.tf_op', '-o', f'rows.{ending}', '--force')
        events = [json.loads(line) for line in run('dump', '--jsonl', f'rows.{ending}').splitlines()]
        found = [(e['name'], e['depth'], round(e['time_ms'] * 1000), round((e['time_ms'] + e['dur_ms']) * 1000)) for e in events if e['thread'].startswith('scopes of XLA Ops')]
        check(f'{ending}: rows of scopes', sorted(found) == sorted(right), found)
        check(f'{ending}: the ops stay', sum(e['thread'].startswith('XLA Ops') for e in events) == 6, events)
        check(f'{ending}: kernels are those of the ops', sum(top(f'rows.{ending}', 'name', '--kind', 'kernel').values()) == 43000, top(f'rows.{ending}', 'name', '--kind', 'kernel'))


# ---- lanes ----

def replay_on_streams():
    """Returns a replay of 60 nodes, each on a separate stream with a copy of the annotation, and work that belongs to no graph."""
    events = [call(0, 5, name='cudaGraphLaunch'), {'ph': 's', 'id': 5, 'pid': 1, 'tid': 1, 'ts': 0, 'cat': 'ac2g', 'name': 'ac2g'},
              kernel('eager', 2000, 8), x('decode', 7, 1990, 30, 'gpu_user_annotation', 0)]
    for i in range(60):
        name, cat = [('gemm', 'kernel'), ('ncclDevKernel_AllReduce_Sum_f32_RING_LL', 'kernel'), ('Memcpy DtoD', 'gpu_memcpy')][i % 3]
        stream, ts = 100 + i, 10 + 4 * i
        args = {'graph id': 3, 'graph node id': 3 << 32 | i + 1, 'correlation': 5, 'stream': stream, 'device': 0}
        events += [{'ph': 'M', 'name': 'thread_name', 'pid': 0, 'tid': stream, 'args': {'name': f'stream {stream}'}},
                   x('decode', stream, ts, 20, 'gpu_user_annotation', 0), {**x(name, stream, ts, 20, cat, 0), 'args': args},
                   {'ph': 'f', 'bp': 'e', 'id': 5, 'pid': 0, 'tid': stream, 'ts': ts, 'cat': 'ac2g', 'name': 'ac2g'}]
    return events


def check_folded():
    source = put('streams.json', replay_on_streams())
    for path in formats(source):
        out = path.replace('streams', 'folded')
        run('convert', '-q', path, '--fold-graphs', '-o', out, '--force')
        events = [json.loads(line) for line in run('dump', '--jsonl', out).splitlines()]
        spans = [e for e in events if e['kind'] == 'span']
        rows = {}
        for e in spans:
            rows.setdefault(e['thread'], []).append((round(e['time_ms'] * 1e6), round((e['time_ms'] + e['dur_ms']) * 1e6)))
        lanes = {row: sorted(v) for row, v in rows.items() if 'graph' in row}
        kinds = {row.split(' ')[1] for row in lanes}
        check(f'{path}: lanes by kind', kinds == {'kernels', 'collectives', 'copies'} and len(lanes) == 6, rows.keys())
        check(f'{path}: lanes do not overlap', all(a[1] <= b[0] for v in lanes.values() for a, b in zip(v, v[1:])), lanes)
        check(f'{path}: all work is there', sorted(n for v in lanes.values() for n in v) == [(10000 + 4000 * i, 30000 + 4000 * i) for i in range(60)], lanes)
        check(f'{path}: other streams stay', sorted(e['name'] for e in spans if 'graph' not in e['thread']) == ['cudaGraphLaunch', 'decode', 'eager'], rows.keys())
        check(f'{path}: streams by the arg', len(top(out, 'stream', '--kind', 'device')) == 61 + ('decode (device)' in top(out, 'name', '--kind', 'device')), out)
        check(f'{path}: launches', sum(top(out, 'name', '--launched-by', 'cudaGraphLaunch').values()) == 1200000, out)
        check(f'{path}: sound', 'ok' in run('check', out), run('check', out))
    run('merge', '-q', source, put('s2.json', replay_on_streams()), '--fold-graphs', '-o', 'merged.json')
    check('merge --fold-graphs', len(top('merged.json', 'track', '--kind', 'device')) == 14, top('merged.json', 'track', '--kind', 'device'))
    run('convert', '-q', put('t.json', TRAINING), '--fold-graphs', '-o', 'u.json')
    run('convert', '-q', 't.json', '-o', 'v.json')
    check('nothing to fold', open('u.json', encoding='utf-8').read() == open('v.json', encoding='utf-8').read())


def main():
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        check_names()
        check_work()
        check_operators()
        check_copies()
        check_overlaps()
        check_scopes()
        check_columns()
        check_graphs()
        check_nsys()
        check_programs()
        check_scope_rows()
        check_folded()
    return finish()


sys.exit(main())
