#!/usr/bin/env python3
"""Checks classes of kernels against a model in Python: names, and the operators around the launch.

    random    nested operators and launches: top, an expression and report; also after conversion, and with several threads
    closure   steps of an optimizer that run the model imply no class
    lists     operators on lists of tensors are work of an optimizer only within its step
    async     an asynchronous collective does not affect the classes of operators that run meanwhile
    xla       instructions and operators in the args of kernels
    nvtx      names as emit_nvtx writes them
    names     names of MTIA, and names that only sound like another class
    paths     names of operators with their scopes"""
import collections
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import check, finish  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']
STEPS = {'elementwise', 'reduction', 'other'}
OVER = [('attention', STEPS | {'matmul', 'softmax'}), ('conv', {'matmul', 'other'}), ('norm', STEPS), ('embedding', STEPS | {'sort/index'}),
        ('matmul', {'other'}), ('softmax', {'other'}), ('collective', {'other'}), ('optimizer', STEPS | {'optimizer'}),
        ('copy', {'optimizer'}), ('reduction', {'optimizer'}), ('elementwise', {'optimizer'})]
OPS = {
    'aten::scaled_dot_product_attention': 'attention', 'aten::_scaled_dot_product_efficient_attention_backward': 'attention',
    'ScaledDotProductFlashAttentionBackward0': 'attention', 'flash_attn::_flash_attn_varlen_forward': 'attention',
    'FlashAttnQKVPackedFunc': 'attention', 'vllm::unified_attention_with_output': 'attention', 'npu::npu_fusion_attention': 'attention',
    'aten::cudnn_convolution': 'conv', 'aten::miopen_convolution': 'conv', 'aten::convolution_backward': 'conv', 'aten::conv2d': 'conv',
    'ConvolutionBackward0': 'conv',
    'aten::native_layer_norm': 'norm', 'NativeBatchNormBackward0': 'norm', 'aten::_fused_rms_norm': 'norm', '_C::fused_add_rms_norm': 'norm',
    'aten::embedding': 'embedding', 'aten::embedding_dense_backward': 'embedding', 'EmbeddingBackward0': 'embedding',
    'aten::addmm': 'matmul', 'aten::bmm': 'matmul', 'aten::_log_softmax': 'softmax', 'c10d::allreduce_': 'collective',
    'symm_mem::multimem_all_reduce_': 'collective',
    'aten::_foreach_copy_': 'copy', 'aten::_foreach_zero_': 'copy', 'aten::_foreach_norm': 'reduction', 'aten::_foreach_max': 'reduction',
    'aten::_foreach_maximum_': 'elementwise', 'aten::_foreach_mul_': 'elementwise',
    'aten::add_': None, 'aten::copy_': None, 'aten::mul': None, 'aten::index_select': None, 'vllm::moe_forward': None,
    'autograd::engine::evaluate_function: ConvolutionBackward0': None, 'autograd::engine::evaluate_function: NativeLayerNormBackward0': None,
    'triton_red_fused_add_native_layer_norm_4': None, '_C::rotary_embedding': None, 'aten::linalg_vector_norm': None,
    'symm_mem::fused_all_gather_matmul': None, 'aten::_weight_norm': None, 'aten::_native_multi_head_attention': None}
KERNELS = {
    'sm80_xmma_gemm_f16f16_f16f32_f32_tn_n': 'matmul', 'matrixMulKernel(float*, float*)': 'matmul',
    'sm50_xmma_pooling_coalescedC_NHWC_kMAX_3_False_execute_kernel_trt': 'reduction',
    'Cijk_Ailk_Bljk_BBS_BH_MT64x64x64': 'matmul', 'nvjet_tst_64x16': 'matmul',
    'void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm>(P)': 'matmul', 'void softmax_warp_forward<float>(float*)': 'softmax',
    'void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)': 'elementwise',
    'void at::native::reduce_kernel<512, 1, ReduceOp<float>>(R)': 'reduction', 'secret_kernel_v2': 'other', 'SubTensorOpWithScalar1d': 'other',
    'void at::native::indexSelectLargeIndex<float>(T)': 'sort/index', 'batched_transpose_32x32_half': 'copy',
    'void cudnn::engines_precompiled::nchwToNhwcKernel<half>(P)': 'copy', 'pytorch_flash::flash_fwd_kernel(P)': 'attention',
    'sm80_xmma_fprop_implicit_gemm_f16': 'conv', 'vectorized_layer_norm_kernel': 'norm', 'triton_poi_fused_add_0': 'triton fused',
    'void multi_tensor_apply_kernel<T>(T)': 'optimizer', 'embedding_backward_feature_kernel': 'embedding',
    'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)': 'collective'}
MODEL = {'attention', 'matmul', 'conv', 'norm', 'softmax', 'embedding'}


def run(*args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if p.returncode:
        raise RuntimeError(f'{" ".join(args)}: status {p.returncode}: {p.stderr[:300]}')
    return p.stdout


def x(name, cat, pid, tid, ts, dur, **args):
    return {'ph': 'X', 'name': name, 'cat': cat, 'pid': pid, 'tid': tid, 'ts': ts, 'dur': dur, 'args': args}


def decide(named, around):
    return next((c for c, over in OVER if c in around and named in over), named)


class Trace:
    """A Kineto trace, and the class of each kernel with its name and duration."""

    def __init__(self):
        self.events, self.work, self.now, self.n = [], [], 100, 0

    def launch(self, kernel, around):
        self.n += 1
        dur = 1 + self.n % 7
        self.events += [x('cudaLaunchKernel', 'cuda_runtime', 1, 2, self.now + 1, 2, correlation=self.n),
                        x(kernel, 'kernel', 0, 7, 50000 + 20 * self.n, dur, correlation=self.n, device=0, stream=7)]
        self.work.append((kernel, decide(KERNELS[kernel], around), dur))
        self.now += 5

    def op(self, name, around, body, cat='cpu_op', implied=None):
        start, self.now = self.now, self.now + 1
        own = implied or OPS.get(name)
        body({*(around if own == 'collective' else around - {'collective'}), own})
        self.events.append(x(name, cat, 1, 2, start, self.now - start, **{'External id': len(self.events)}))
        self.now += 1

    def random(self, rng, depth, around):
        for _ in range(rng.randint(1, 3)):
            if depth and rng.random() < .6:
                self.op(rng.choice(list(OPS)), around, lambda inner: self.random(rng, depth - 1, inner))
            else:
                self.launch(rng.choice(list(KERNELS)), around)

    def write(self, path):
        meta = [{'ph': 'M', 'name': 'process_name', 'pid': 0, 'args': {'name': 'python'}},
                {'ph': 'M', 'name': 'process_labels', 'pid': 0, 'args': {'labels': 'GPU 0'}}]
        with open(path, 'w', encoding='utf-8') as f:
            json.dump({'schemaVersion': 1, 'traceEvents': meta + self.events}, f)
        return path

    def counts(self):
        return dict(collections.Counter(c for _, c, _ in self.work))


def top(path, *options):
    rows = json.loads(run('top', '-q', '--by', 'class', '--json', *options, path))['rows']
    return {r['name']: r['count'] for r in rows}


def judge_random(folder):
    for seed in range(40):
        rng, t = random.Random(seed), Trace()
        for _ in range(30):
            t.random(rng, 3, set())
        path, want = t.write(f'{folder}/{seed}.json'), t.counts()
        check(f'top, {seed}', top(path) == want, (top(path), want))
        if seed % 8:
            continue
        check(f'top -j3, {seed}', top(path, '-j3') == want)
        for suffix in ('pftrace', 'xplane.pb'):
            run('convert', '-q', path, '-o', f'{folder}/{seed}.{suffix}')
            check(f'{suffix}, {seed}', top(f'{folder}/{seed}.{suffix}') == want, top(f'{folder}/{seed}.{suffix}'))
        got = json.loads(run('top', '-q', '--json', '-e', 'class == conv', path))
        check(f'expression, {seed}', sum(r['count'] for r in got['rows']) == want.get('conv', 0), got['rows'])
        judge_report(path, t)


def judge_report(path, t):
    """Checks that a row of report has the class of most of its time."""
    time = collections.defaultdict(collections.Counter)
    for name, class_, dur in t.work:
        time[name][class_] += dur
    for k in json.loads(run('report', '-q', '--json', path))['kernels']:
        times = time[k['name']]
        check(f'report: {k["name"]}', times[k['class']] == max(times.values()), (k['class'], times))


def judge_closure(folder):
    """A step that launches only elementwise work, and one that also runs the model."""
    add, gemm = next(k for k, c in KERNELS.items() if c == 'elementwise'), 'nvjet_tst_64x16'
    for cat in ('user_annotation', 'cpu_op'):
        t = Trace()
        t.launch(add, set())
        t.op('aten::addmm', set(), lambda around: t.launch(gemm, around))
        t.op('Optimizer.step#AdamW.step', set(), lambda around: t.op('aten::mul', around, lambda inner: t.launch(add, inner)), cat, 'optimizer')
        got = top(t.write(f'{folder}/step.json'))
        check(f'optimizer, {cat}', got == {'elementwise': 1, 'matmul': 1, 'optimizer': 1}, got)
    t.op('Optimizer.step#SGD.step', set(), lambda around: t.op('aten::addmm', around, lambda inner: t.launch(gemm, inner)))
    got = top(t.write(f'{folder}/closure.json'))
    check('closure', got == {'elementwise': 2, 'matmul': 2}, got)


def judge_lists(folder):
    """Operators on lists of tensors: outside of an optimizer's step, and inside of one, also if a step runs the model."""
    multi, gemm = 'void multi_tensor_apply_kernel<T>(T)', 'nvjet_tst_64x16'
    t = Trace()
    for name in ('aten::_foreach_copy_', 'aten::_foreach_norm', 'aten::_foreach_mul_'):
        t.op(name, set(), lambda around: t.launch(multi, around))
    t.launch(multi, set())
    t.op('Optimizer.step#AdamW.step', set(), lambda around: t.op('aten::_foreach_copy_', around, lambda inner: t.launch(multi, inner)), 'cpu_op', 'optimizer')
    got = top(t.write(f'{folder}/lists.json'))
    check('lists', got == {'copy': 1, 'reduction': 1, 'elementwise': 1, 'optimizer': 2}, got)
    t.op('Optimizer.step#SGD.step', set(), lambda around: t.op('aten::addmm', around, lambda inner: t.launch(gemm, inner)))
    got = top(t.write(f'{folder}/lists.json'))
    check('lists, closure', got == {'copy': 1, 'reduction': 1, 'elementwise': 1, 'optimizer': 2, 'matmul': 1}, got)


def judge_async(folder):
    """A forward pass that runs while an all-to-all is open on its thread, and a kernel of the all-to-all itself."""
    t = Trace()

    def forward(around):
        t.launch('secret_kernel_v2', around)
        t.op('## forward ##', set(), lambda inner: t.op('fb::bounds_check', inner, lambda deep: t.launch('SubTensorOpWithScalar1d', deep)))

    t.op('hccl:all_to_all', set(), forward, 'user_annotation', 'collective')
    got = top(t.write(f'{folder}/async.json'))
    check('async', got == {'collective': 1, 'other': 1}, got)


# Kernels of a program of XLA, with their args and their classes. On ROCm, tf_op is the bare "XlaModule:".
PROGRAM = [
    ('Cijk_Ailk_Bljk_BBS_BH_MT64x64x64', 'cudnn-conv.1', {'tf_op': 'XlaModule:', 'name': 'jit(f)/conv_general_dilated'}, 'conv'),
    ('nvjet_tst_64x16', 'custom-call.2', {'tf_op': 'jit(f)/jit(main)/jvp(a/b)/conv_general_dilated[window_strides=(1, 1)]'}, 'conv'),
    ('nvjet_tst_64x16', 'cudnn-conv-bw-filter.7', {}, 'conv'),
    ('nvjet_tst_64x16', 'custom-call.3', {'tf_op': 'jit(f)/conv_general_dilated/dot_general'}, 'matmul'),
    ('secret_kernel_v2', 'custom-call.4', {'tf_op': 'jit(f)/dot_general'}, 'matmul'),
    ('secret_kernel_v2', 'custom-call.5', {'tf_op': 'jit(f)/jvp()/te_fused_attn_forward_ffi'}, 'attention'),
    ('loop_transpose_fusion', 'loop_transpose_fusion', {'tf_op': 'jit(f)/conv_general_dilated'}, 'copy'),
    ('loop_add_fusion', 'loop_add_fusion.2', {'tf_op': 'jit(f)/self_attention/add'}, 'elementwise'),
    ('secret_kernel_v2', None, {'name': 'jit(f)/dot_general'}, 'other')]


def judge_xla(folder):
    """Kernels of XLA: their args state the instruction and the operator. All are launched by calls of the same name."""
    rows = [{'ph': 'M', 'name': 'process_name', 'pid': p, 'args': {'name': n}} for p, n in ((1, '/device:GPU:0'), (701, '/host:CPU'))]
    rows += [{'ph': 'M', 'name': 'thread_name', 'pid': p, 'tid': p, 'args': {'name': n}} for p, n in ((1, 'Stream #1(Compute)'), (701, 'py'))]
    for i, (name, op, args, _) in enumerate(PROGRAM):
        both = {'correlation_id': str(i + 1), **({'hlo_op': op, 'hlo_module': 'jit_f'} if op else {})}
        rows += [{'ph': 'X', 'name': 'hipModuleLaunchKernel', 'pid': 701, 'tid': 701, 'ts': 20 * i, 'dur': 5, 'args': both},
                 {'ph': 'X', 'name': name, 'pid': 1, 'tid': 1, 'ts': 20 * i + 7, 'dur': 5, 'args': {**both, **args}}]
    with open(f'{folder}/xla.json', 'w', encoding='utf-8') as f:
        json.dump({'traceEvents': rows}, f)
    run('convert', '-q', f'{folder}/xla.json', '-o', f'{folder}/xla.xplane.pb')
    for name in ('xla.json', 'xla.xplane.pb'):
        got, want = top(f'{folder}/{name}'), dict(collections.Counter(c for _, _, _, c in PROGRAM))
        check(f'{name}, classes', got == want, (got, want))
        got = {r['name']: r['count'] for r in json.loads(run('top', '-q', '--by', 'op', '--json', f'{folder}/{name}'))['rows']}
        want = {op: 2 for _, op, _, _ in PROGRAM}
        check(f'{name}, operators', got == want, (got, want))


def judge_names(folder):
    t = Trace()
    t.op('aten::conv2d, op_id = 7', set(), lambda _: t.launch('nvjet_tst_64x16', set()), 'user_annotation')
    t.op('aten::linear, seq = 3, op_id = 8', set(), lambda _: t.launch('nvjet_tst_64x16', set()), 'user_annotation')
    t.op('my aten::conv2d', set(), lambda _: t.launch('nvjet_tst_64x16', set()), 'user_annotation')
    check('nvtx', top(t.write(f'{folder}/nvtx.json')) == {'conv': 1, 'matmul': 2}, top(f'{folder}/nvtx.json'))
    t = Trace()
    names = {'fc-dtype_Float': 'matmul', 'aten::mul.out-dtype_Double': 'elementwise', 'aten::cat.out-dtype_Int-extraKey_2': 'copy',
             'split_eb_bwd_rowwise_adagrad-dtype_Half': 'embedding', 'vector_norm_float_order-dtype_Float': 'reduction',
             'void at::native::(anonymous namespace)::upsample_nearest2d_nhwc_out_frame<float, &at::native::nearest_neighbor_compute_source_index>(float)':
             'elementwise', 'void moe::dev::finalize::finalizeKernelVecLoad<Params<cutlass::bfloat16_t>>(Params)': 'sort/index',
             'store_kvcache(P)': 'copy',
             'void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*)': 'elementwise', 'Im2d2Col_v2': 'conv'}
    t.events = [x(n, 'kernel', 0, 7, 10 * i, 5, device=0, stream=7) for i, n in enumerate(names)]
    got = top(t.write(f'{folder}/names.json'))
    check('names', got == dict(collections.Counter(names.values())), got)


PATHS = {
    'Default/net-Net/conv4-Conv2d/Cast-op25': 'copy', 'Default/net-Net/conv4-Conv2d/Conv2D-op8': 'conv',
    'Gradients/Default/net-Net/fc1-Dense/gradMatMul-expand/TransData-op9': 'copy', 'Default/loss-SoftmaxCrossEntropy/OneHotD-op1': 'other',
    'Default/loss-SoftmaxCrossEntropy/SoftmaxCrossEntropyWithLogits-op2': 'softmax',
    'Gradients/Default/net-Net/fc1-Dense/gradBiasAdd-expand/BiasAddGrad-op3': 'other',
    'Gradients/Default/net-Net/SigmoidGrad-op4': 'elementwise', 'Gradients/Default/net-Net/PowGrad-op4': 'other',
    'Default/grad_reducer-DistributedGradReducer/Mul-op5': 'other', 'DistributedGradReducer': 'reduction', 'BiasAddGrad': 'other',
    'Default/optimizer-Momentum/FusedMulApplyMomentum-op6': 'optimizer', 'model/dense/MatMul': 'matmul',
    'sm80_xmma_dgrad_implicit_gemm_f16': 'conv', 'void cudnn::detail::dgrad_engine<float, 3>(int)': 'conv', 'cudnn_wgrad': 'conv',
    'void gemm<a/b>(int)': 'matmul', 'gemm/': 'matmul'}


def judge_paths(folder):
    """The last component of an operator's scope path determines its class."""
    for name, want in PATHS.items():
        t = Trace()
        t.events = [x(name, 'kernel', 0, 7, 0, 5, device=0, stream=7)]
        got = top(t.write(f'{folder}/path.json'))
        check(f'class of {name}', got == {want: 1}, got)


def main():
    with tempfile.TemporaryDirectory() as folder:
        judge_random(folder)
        judge_closure(folder)
        judge_lists(folder)
        judge_async(folder)
        judge_xla(folder)
        judge_names(folder)
        judge_paths(folder)
    return finish()


if __name__ == '__main__':
    sys.exit(main())
