#!/usr/bin/env python3
"""Checks operations, memory traffic and MFU of `report` against formulas of this test: convolutions by counting the positions of
the window, products by their elements.

    models      each kind of operator in random shapes and types, alone: operations, bytes, type, rates, shares of the peak, bound
    owners      operators within operators, several kernels of one operator, kernels without an operator, copies and fills
    rows        MFU of the window and of steps, mixed types, coverage, ranges of time, two devices, merged ranks
    unknown     no shapes, unknown devices and types, shapes of others: no figure, and a note
    hostile     sizes that are negative, huge, missing, nested or text: no figure, and no crash
    stated      operations that the trace states: of operators, of work, of loops, and peaks of an XPlane
    printed     the text and the page"""
import itertools
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import check, finish, judge  # noqa: E402
from xspace import message, number, varint  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']
A100 = {'name': 'A100 SXM 80GB', 'bandwidth': 2039e9,
        'peaks': {'fp64': 19.5e12, 'fp32': 19.5e12, 'tf32': 156e12, 'fp16': 312e12, 'bf16': 312e12, 'int8': 624e12}}
SIZES = {'float': (4, 'fp32'), 'c10::BFloat16': (2, 'bf16'), 'c10::Half': (2, 'fp16'), 'double': (8, 'fp64'), 'long int': (8, None),
         'bool': (1, None), 'c10::Float8_e4m3fn': (1, 'fp8')}


# ---- traces ----

class Trace:
    """A Kineto trace: operators on one thread of a host, with their calls and kernels."""

    def __init__(self, device='NVIDIA A100-SXM4-80GB', ids=(0,)):
        self.events, self.at, self.kernel_at, self.correlation = [], 0, 100, 0
        self.properties = [{'id': i, 'name': device, 'totalGlobalMem': 1} for i in ids] if device else []

    def add(self, name, cat, pid, tid, ts, dur, **args):
        self.events.append({'ph': 'X', 'name': name, 'cat': cat, 'pid': pid, 'tid': tid, 'ts': ts, 'dur': dur, 'args': args})

    def kernel(self, name='kernel', dur=10, cat='kernel', device=0, **args):
        """Launches work at the current time, and returns the start of the work."""
        self.correlation += 1
        self.add('cudaLaunchKernel', 'cuda_runtime', 100, 1, self.at, 1, correlation=self.correlation)
        self.at += 1
        start = max(self.kernel_at, self.at)
        self.add(name, cat, device, 7, start, dur, correlation=self.correlation, device=device, stream=7, **args)
        self.kernel_at = start + dur
        return start

    def op(self, name, dims=None, types=None, concrete=None, inside=None, **args):
        """Adds an operator; `inside` adds the spans and kernels in it, by default one kernel."""
        begin = self.at
        self.at += 1
        if inside is None:
            self.kernel()
        else:
            inside(self)
        self.at += 1
        if dims is not None:
            args['Input Dims'] = dims
        if types is not None:
            args['Input type'] = types
        if concrete is not None:
            args['Concrete Inputs'] = concrete
        self.add(name, 'cpu_op', 100, 1, begin, self.at - begin, **args)
        self.at += 1
        return begin

    def step(self, count, what):
        begin = self.at
        self.at += 1
        what(self)
        self.at += 1
        self.add(f'ProfilerStep#{count}', 'user_annotation', 100, 1, begin, self.at - begin)
        self.at += 1
        return self.at - 1 - begin

    def report(self, *options, rank=None):
        document = {'schemaVersion': 1, 'deviceProperties': self.properties, 'traceEvents': self.events}
        if rank is not None:
            document['distributedInfo'] = {'rank': rank}
        return report_of(json.dumps(document).encode(), 'trace.json', *options)


def report_of(data, name, *options):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        with open(path, 'wb') as f:
            f.write(data)
        return run(path, *options)


def run(*args):
    p = subprocess.run([TRACEKIT, 'report', '-q', '--json', *args], stdin=subprocess.DEVNULL, capture_output=True)
    if p.returncode:
        raise RuntimeError(f'status {p.returncode}: {p.stderr.decode("utf-8", "replace")[:300]}')
    return json.loads(p.stdout)


def rows_of(report):
    return {(r['name'], r['type']): r for r in report['roofline']}


def near(a, b, part=1e-9):
    return a is not None and b is not None and abs(a - b) <= part * max(abs(a), abs(b))


def unlike(row, expected):
    """Returns what differs from the expected values; percentages are printed with three decimals."""
    found = []
    for key, value in expected.items():
        got = row.get(key, 'absent')
        same = got == value if value is None or isinstance(value, (str, int)) else \
            abs(got - value) < 6e-4 + 1e-9 * value if isinstance(got, (int, float)) and key.endswith(('percent', 'gb_per_s')) else near(got, value)
        if not same:
            found.append(f'{key}: {got} instead of {value}')
    return '; '.join(found)


def product_of(dims):
    n = 1
    for d in dims:
        n *= d
    return n


# ---- models ----

def matmul(rnd):
    m, n, k, b = (rnd.randrange(1, 90) for _ in range(4))
    t = rnd.choice(['float', 'c10::BFloat16', 'c10::Half', 'double'])
    size = SIZES[t][0]
    flops = sum(2 * k for _ in range(m * n))
    traffic = (m * k + k * n + m * n) * size
    bias = rnd.choice([[n], [m, n], [1, n], []])
    return rnd.choice([
        ('aten::mm', [[m, k], [k, n]], [t, t], None, flops, traffic),
        ('aten::bmm', [[b, m, k], [b, k, n]], [t, t], None, b * flops, b * traffic),
        ('aten::addmm', [bias, [m, k], [k, n], [], []], [t, t, t, 'Scalar', 'Scalar'], None, flops + m * n, traffic + product_of(bias) * size),
        ('aten::baddbmm', [[b, m, n], [b, m, k], [b, k, n], [], []], [t, t, t, 'Scalar', 'Scalar'], None, b * (flops + m * n),
         b * (traffic + m * n * size)),
        ('aten::mv', [[m, k], [k]], [t, t], None, 2 * m * k, (m * k + k + m) * size),
        ('aten::linear', [[b, m, k], [n, k], [n]], [t, t, t], None, b * (flops + m * n), (b * m * k + n * k + n + b * m * n) * size),
        ('aten::linear', [[m, k], [n, k], []], [t, t, ''], None, flops, traffic)]) + (SIZES[t][1],)


def positions(length, kernel, stride, padding, dilation):
    """Counts the places at which the window fits."""
    return sum(1 for s in range(0, length + 2 * padding, stride) if s + dilation * (kernel - 1) < length + 2 * padding)


def convolution(rnd):
    rank, groups = rnd.choice((1, 2, 3)), rnd.choice((1, 2, 3))
    batch, c_in, c_out = rnd.randrange(1, 4), groups * rnd.randrange(1, 5), groups * rnd.randrange(1, 5)
    stride, padding, dilation, kernel = ([rnd.randrange(low, high) for _ in range(rank)] for low, high in ((1, 4), (0, 3), (1, 3), (1, 4)))
    space = [rnd.randrange(8, 20) for _ in range(rank)]
    t = rnd.choice(['float', 'c10::Half', 'c10::BFloat16'])
    transposed = rnd.random() < 0.3
    more = [0] * rank
    if transposed:
        more = [rnd.randrange(s) for s in stride]
        weight = [c_in, c_out // groups, *kernel]
        out = [(n - 1) * s - 2 * p + d * (k - 1) + 1 + a for n, s, p, d, k, a in zip(space, stride, padding, dilation, kernel, more)]
        each = 2 * batch * product_of(space) * product_of(weight)
    else:
        weight = [c_out, c_in // groups, *kernel]
        out = [positions(*v) for v in zip(space, kernel, stride, padding, dilation)]
        each = 2 * batch * product_of(out) * product_of(weight)
    x, y = [batch, c_in, *space], [batch, c_out, *out]
    if min(out) < 1:
        return convolution(rnd)
    size = SIZES[t][0]
    traffic = (product_of(x) + product_of(weight) + product_of(y)) * size
    printed = [str(v if len(set(v)) > 1 or rnd.random() < 0.5 else v[:1]) for v in (stride, padding, dilation)]
    s, p, d = printed
    mask = rnd.choice([(True, True, False), (True, False, True), (False, True, False)])
    choices = [
        ('aten::convolution', [x, weight, [], [], [], [], [], [], []], [t, t] + [''] * 7,
         ['', '', '', s, p, d, str(transposed), str(more), str(groups)], each, traffic),
        ('aten::convolution_backward', [y, x, weight, [], [], [], [], [], [], [], []], [t, t, t] + [''] * 8,
         ['', '', '', '[0]', s, p, d, str(transposed), str(more), str(groups), str(list(mask))], (mask[0] + mask[1]) * each,
         (mask[0] + mask[1]) * traffic)]
    if not transposed:
        choices += [('aten::cudnn_convolution', [x, weight] + [[]] * 7, [t, t] + [''] * 7,
                     ['', '', p, s, d, str(groups), 'False', 'False', 'True'], each, traffic),
                    ('aten::miopen_convolution', [x, weight] + [[]] * 7, [t, t] + [''] * 7,
                     ['', '', '', p, s, d, str(groups), 'False', 'False'], each, traffic)]
    return rnd.choice(choices) + (SIZES[t][1],)


def attention(rnd):
    b, h, d, v = rnd.randrange(1, 4), rnd.randrange(1, 5), rnd.choice((32, 64)), rnd.choice((32, 64))
    h_kv = rnd.choice([n for n in range(1, h + 1) if h % n == 0])
    causal = rnd.random() < 0.5
    q = rnd.randrange(1, 200)
    k = q if causal else rnd.randrange(1, 200)
    t = rnd.choice(['c10::Half', 'c10::BFloat16'])
    size = SIZES[t][0]
    qk, pv = 2 * b * h * q * k * d, 2 * b * h * q * k * v
    inputs, out = (b * h * q * d + b * h_kv * k * (d + v)) * size, b * h * q * v * size
    heads_first, lengths_first = [[b, h, q, d], [b, h_kv, k, d], [b, h_kv, k, v]], [[b, q, h, d], [b, k, h_kv, d], [b, k, h_kv, v]]
    grad = [b, h, q, v]
    half = 2 if causal else 1
    forward, backward = (qk + pv) // half, (qk * 3 + pv * 2) // half
    c = str(causal)
    return rnd.choice([
        ('aten::_scaled_dot_product_flash_attention', heads_first + [[]] * 4, [t] * 3 + ['Scalar'] * 4, ['', '', '', '0.', c, 'False', ''],
         forward, inputs + out),
        ('aten::_scaled_dot_product_efficient_attention', heads_first + [[]] * 5, [t] * 3 + [''] * 5, ['', '', '', '', 'True', '0.', c, ''],
         forward, inputs + out),
        ('aten::_flash_attention_forward', lengths_first + [[]] * 8, [t] * 3 + [''] * 8,
         ['', '', '', '', '', str(q), str(k), '0.', c, 'False', '0.1'], forward, inputs + out),
        ('aten::_efficient_attention_forward', lengths_first + [[]] * 8, [t] * 3 + [''] * 8,
         ['', '', '', '', '', '', str(q), str(k), '0.', '1' if causal else '0', 'True'], forward, inputs + out),
        ('aten::_scaled_dot_product_flash_attention_backward', [grad] + heads_first + [grad] + [[]] * 10, [t] * 5 + [''] * 10,
         [''] * 8 + [str(q), str(k), '0.', c, '', '', ''], backward, 2 * inputs + out),
        ('aten::_scaled_dot_product_efficient_attention_backward', [grad] + heads_first + [[]] * 9, [t] * 4 + [''] * 9,
         [''] * 9 + ['0.', '[True, True, True, False]', c, ''], backward, 2 * inputs + out),
        ('aten::_flash_attention_backward', [[b, q, h, v]] + lengths_first + [[]] * 13, [t] * 4 + [''] * 13,
         [''] * 8 + [str(q), str(k), '0.', c, '', '', '', '-1', '-1'], backward, 2 * inputs + out),
        ('aten::_scaled_dot_product_cudnn_attention_backward', [grad] + heads_first + [[]] * 12, [t] * 4 + [''] * 12,
         [''] * 11 + [str(q), str(k), '0.', c, ''], backward, 2 * inputs + out),
        ('aten::_efficient_attention_backward', [[b, q, h, v]] + lengths_first + [[]] * 12, [t] * 4 + [''] * 12,
         [''] * 14 + ['1' if causal else '0', 'False'], backward, 2 * inputs + out)]) + (SIZES[t][1],)


def elementwise(rnd):
    shape = [rnd.randrange(1, 40) for _ in range(rnd.randrange(1, 4))]
    other = [d if rnd.random() < 0.7 else 1 for d in shape][rnd.randrange(len(shape)):]
    t, u = rnd.choice(['float', 'c10::Half', 'long int']), rnd.choice(['float', 'c10::Half'])
    a, b = SIZES[t][0], SIZES[u][0]
    n, m = product_of(shape), product_of(other)
    wide = max(a, b) if other else a
    return rnd.choice([
        ('aten::add', [shape, other, []], [t, u, 'Scalar'], None, None, n * a + m * b + n * wide),
        ('aten::mul', [other, shape], [u, t], None, None, n * a + m * b + n * wide),
        ('aten::mul', [shape, []], [t, 'Scalar'], None, None, 2 * n * a),
        ('aten::add_', [shape, other, []], [t, u, 'Scalar'], None, None, 2 * n * a + m * b),
        ('aten::copy_', [shape, shape, []], [t, u, 'Scalar'], None, None, n * (a + b)),
        ('aten::fill_', [shape, []], [t, 'Scalar'], None, None, n * a),
        ('aten::gt', [shape, other], [t, u], None, None, n * a + m * b + n),
        ('aten::relu', [shape], [t], None, None, 2 * n * a),
        ('aten::where', [shape, shape, other], ['bool', t, u], None, None, n + n * a + m * b + n * wide),
        ('aten::_softmax', [shape, [], []], [t, 'Scalar', 'Scalar'], None, None, 2 * n * a)])


def check_models(rnd, count):
    for i in range(count):
        make = rnd.choice([matmul, convolution, attention, elementwise])
        case = make(rnd)
        name, dims, types, concrete, flops, traffic = case[:6]
        kernel_name = rnd.choice(['kernel', 'cutlass_80_tensorop_s1688gemm_128x128', 'sm80_xmma_fprop_tf32f32'])
        dur = rnd.randrange(1, 1000)
        t = Trace()
        t.op(name, dims, types, concrete, inside=lambda t: t.kernel(kernel_name, dur))
        out = t.report()
        kind = case[6] if flops is not None else SIZES[types[0]][1]
        if kind == 'fp32' and kernel_name != 'kernel':
            kind = 'tf32'
        rows = out['roofline']
        if len(rows) != 1:
            judge(f'model {i}: {name} {dims} {types} {concrete}', f'{len(rows)} rows')
            continue
        seconds, peak = dur / 1e6, A100['peaks'].get(kind)
        rate = flops / seconds if flops else None
        bound = 'memory' if flops is None or peak is None else \
            'compute' if flops / peak > traffic / A100['bandwidth'] else 'memory'
        judge(f'model {i}: {name} {dims} {types} {concrete}', unlike(rows[0], {
            'name': name, 'type': kind, 'source': 'shapes', 'count': 1, 'kernels': 1, 'total_ns': dur * 1000, 'flops': flops, 'bytes': traffic,
            'flops_per_second': rate, 'gb_per_s': traffic / seconds / 1e9, 'device': A100['name'], 'peak_flops_per_second': peak,
            'flops_per_byte': flops / traffic if flops else None,
            'peak_flops_percent': 100 * rate / peak if rate and peak else None,
            'peak_bandwidth_percent': 100 * traffic / seconds / A100['bandwidth'], 'bound': bound}))
        rank = out['ranks'][0]
        judge(f'model {i}: rank', unlike(rank, {
            'flops': flops, 'flops_coverage_percent': 100.0 if flops else None, 'bytes_coverage_percent': 100.0,
            'operators_gb_per_s': traffic / seconds / 1e9,
            'mfu_percent': 100 * rate / peak if rate and peak else None, 'peak_flops_per_second': peak if rate else None}))
        share = 100 * traffic / seconds / A100['bandwidth']
        figure = [f['value'] for f in out['key_figures'] if f['name'] == 'memory bandwidth'][0]
        judge(f'model {i}: key figure', unlike({'share': figure}, {'share': share if share <= 100 else None}))


def check_together(rnd):
    """Checks many operators in one trace, whose shapes are read once for each combination of texts."""
    t, expected = Trace(), {}

    def add(name, dims, types, concrete, flops, traffic, kind):
        t.op(name, dims, types, concrete)
        row = expected.setdefault((name, kind), [0, 0, 0])
        for i, v in enumerate((1, flops or 0, traffic)):
            row[i] += v
    for _ in range(300):
        case = rnd.choice([matmul, convolution, attention])(rnd)
        add(*case)
    for i in range(2100):  # texts that differ in one of the args only
        kind = ('float', 'c10::Half')[i // 1024 % 2]
        size = SIZES[kind][0]
        add('aten::addmm', [[7], [2, 3], [3, 7], []], [kind] * 3 + [f'Scalar{i}'], None, 2 * 2 * 3 * 7 + 14, (7 + 6 + 21 + 14) * size, SIZES[kind][1])
        out = 4 + 2 * i - 2
        add('aten::convolution', [[1, 1, 4], [1, 1, 3]], ['float'] * 2, ['', '', '', '[1]', f'[{i}]', '[1]', 'False', '[0]', '1'], 2 * 3 * out,
            (4 + 3 + out) * 4, 'fp32')
    found = {(r['name'], r['type']): [r['count'], r['flops'] or 0, r['bytes'] or 0] for r in t.report()['roofline']}
    check('many operators', found == expected, {k: (v, expected.get(k)) for k, v in found.items() if v != expected.get(k)})


# ---- owners ----

MM = dict(dims=[[64, 32], [32, 16]], types=['float', 'float'])
MM_FLOPS = 2 * 64 * 32 * 16
ADDMM = dict(dims=[[16], [64, 32], [32, 16], [], []], types=['float', 'float', 'float', 'Scalar', 'Scalar'])
LINEAR = dict(dims=[[64, 32], [16, 32], [16]], types=['float', 'float', 'float'])


def check_owners():
    t = Trace()
    t.op('aten::linear', **LINEAR, inside=lambda t: t.op('aten::addmm', **ADDMM))
    out = t.report()
    check('an operator within another counts once', set(rows_of(out)) == {('aten::addmm', 'fp32')}, rows_of(out).keys())
    check('its operations count once', out['ranks'][0]['flops'] == MM_FLOPS + 64 * 16, out['ranks'][0]['flops'])

    for first in (True, False):  # the outer operator also launches a kernel of its own
        t = Trace()

        def both(t):
            if first:
                t.kernel('own')
            t.op('aten::addmm', **ADDMM)
            if not first:
                t.kernel('own')
        t.op('aten::linear', **LINEAR, inside=both)
        out = t.report()
        check(f'a kernel of the outer operator does not count it again ({first})', out['ranks'][0]['flops'] == MM_FLOPS + 64 * 16, out['roofline'])
        check('that kernel is not covered', abs(out['ranks'][0]['flops_coverage_percent'] - 50) < 0.01, out['ranks'][0])

    t = Trace()
    t.op('aten::mm', **MM, inside=lambda t: [t.kernel('a', 10), t.kernel('b', 20), t.kernel('Memset (Device)', 5, 'gpu_memset')])
    row = t.report()['roofline'][0]
    judge('several kernels and a fill', unlike(row, {'count': 1, 'kernels': 2, 'total_ns': 35000, 'flops': MM_FLOPS}))

    t = Trace()
    t.op('aten::addmm', **ADDMM, inside=lambda t: [t.op('aten::copy_', [[16], [16]], ['float', 'float']), t.kernel('gemm', 30)])
    rows = rows_of(t.report())
    judge('a copy within a product', unlike(rows['aten::addmm', 'fp32'], {'total_ns': 30000}) or unlike(rows['aten::copy_', 'fp32'], {'bytes': 128}))

    t = Trace()  # a model that fails on its inputs hides the operators around it
    t.op('aten::addmm', **ADDMM, inside=lambda t: [t.op('aten::copy_'), t.kernel('gemm', 30)])
    judge('elementwise without shapes', unlike(rows_of(t.report())['aten::addmm', 'fp32'], {'total_ns': 30000, 'kernels': 1}))

    t = Trace()
    t.op('aten::mm', **MM)
    t.kernel('alone', 30)
    out = t.report()
    judge('a kernel without an operator', unlike(out['ranks'][0], {'flops_coverage_percent': 25.0, 'flops': MM_FLOPS}))

    t = Trace()
    t.op('aten::sum', [[5]], ['float'], inside=lambda t: t.op('aten::mm', **MM, inside=lambda t: t.op('aten::resize_', [[5]], ['float'])))
    check('an operator without a model between both', set(rows_of(t.report())) == {('aten::mm', 'fp32')})

    t = Trace()
    t.op('aten::mm', **MM, inside=lambda t: None)
    t.kernel('later')
    out = t.report()
    check('an operator that launched nothing', not out['roofline'] and out['ranks'][0]['flops'] is None, out['roofline'])

    t = Trace()
    t.op('aten::mm', **MM, inside=lambda t: t.kernel('ncclDevKernel_AllReduce_Sum_f32', 10))
    check('a collective is no work of a product', not t.report()['roofline'])


# ---- rows ----

def check_rows(rnd):
    t = Trace()
    t.kernel_at = 0
    lengths, counts = [], []
    for i in range(4):
        n = rnd.randrange(1, 5)
        counts.append(n)
        lengths.append(t.step(i, lambda t: [t.op('aten::mm', **MM, inside=lambda t: t.kernel(dur=2)) for _ in range(n)]))
    t.op('aten::mm', **MM)  # in no step
    out = t.report()
    rank = out['ranks'][0]
    least = MM_FLOPS / A100['peaks']['fp32']
    for i, step in enumerate(rank['steps']):
        judge(f'step {i}', unlike(step, {'flops': counts[i] * MM_FLOPS, 'mfu_percent': 100 * counts[i] * least / (lengths[i] / 1e6)}))
    window = rank['window_ns'] / 1e9
    total = sum(counts) + 1
    judge('rank', unlike(rank, {'flops': total * MM_FLOPS, 'flops_per_second': total * MM_FLOPS / window,
                                'mfu_percent': 100 * total * least / window, 'peak_device': A100['name'], 'peak_gb_per_s': 2039.0}))

    only = t.report('--step', '1')
    check('one step', only['ranks'][0]['steps'][0]['number'] == 1 and only['ranks'][0]['flops'] is not None, only['ranks'][0]['steps'])
    kernels = sorted((e['ts'], e['dur']) for e in t.events if e['cat'] == 'kernel')
    first = min(e['ts'] for e in t.events)
    cut = kernels[1][0] + kernels[1][1] // 2  # within the second kernel, whose operations belong to no range
    out = t.report('--time', f'+{cut - first}us..')
    check('work that began before the range', out['ranks'][0]['flops'] == (total - 2) * MM_FLOPS, out['ranks'][0]['flops'])

    t = Trace()
    t.op('aten::mm', **MM)
    t.op('aten::mm', MM['dims'], ['c10::Half', 'c10::Half'])
    rank = t.report()['ranks'][0]
    least = MM_FLOPS / 19.5e12 + MM_FLOPS / 312e12
    judge('two types', unlike(rank, {'flops': 2 * MM_FLOPS, 'mfu_percent': 100 * least / (rank['window_ns'] / 1e9),
                                     'peak_flops_per_second': 2 * MM_FLOPS / least}))

    t = Trace(ids=(0, 1))
    t.op('aten::mm', **MM, inside=lambda t: [t.kernel('a', device=0), t.kernel('b', device=1)])
    t.op('aten::mm', **MM, inside=lambda t: t.kernel('c', device=1))
    out = t.report()
    check('an operator with work on two devices', [r['flops'] for r in out['ranks']] == [MM_FLOPS, MM_FLOPS], [r['flops'] for r in out['ranks']])

    t = Trace()
    t.op('aten::mm', **MM, inside=lambda t: t.op('aten::mm', **MM))
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for rank in range(2):
            paths.append(f'{folder}/rank{rank}.json')
            with open(paths[-1], 'w', encoding='utf-8') as f:
                json.dump({'deviceProperties': t.properties, 'distributedInfo': {'rank': rank}, 'traceEvents': t.events}, f)
        for end in ('json', 'pftrace', 'xplane.pb'):
            merged = f'{folder}/merged.{end}'
            subprocess.run([TRACEKIT, 'merge', '-q', *paths, '-o', merged], check=True, stdin=subprocess.DEVNULL, capture_output=True)
            out = run(merged)
            check(f'merged {end}: operations', [r['flops'] for r in out['ranks']] == [MM_FLOPS] * 2, [r['flops'] for r in out['ranks']])
            judge(f'merged {end}: row', unlike(out['roofline'][0], {'count': 2, 'flops': 2 * MM_FLOPS}))
        out = run(f'{folder}/merged.json')
        check('merged json: peaks', [r['peak_device'] for r in out['ranks']] == [A100['name']] * 2, [r['peak_device'] for r in out['ranks']])

        with open(paths[1], 'w', encoding='utf-8') as f:  # a merge of ranks on different devices
            json.dump({'deviceProperties': [{'id': 0, 'name': 'NVIDIA H200'}], 'distributedInfo': {'rank': 1}, 'traceEvents': t.events}, f)
        subprocess.run([TRACEKIT, 'merge', '-q', *paths, '-o', f'{folder}/merged.json', '--force'], check=True, stdin=subprocess.DEVNULL,
                       capture_output=True)
        out = run(f'{folder}/merged.json')
        check('merged json: another device', [r['peak_device'] for r in out['ranks']] in ([A100['name'], 'H200 SXM'], [A100['name'], None]),
              [r['peak_device'] for r in out['ranks']])
        out = run(*paths)
        check('two inputs: peaks', [r['peak_device'] for r in out['ranks']] == [A100['name'], 'H200 SXM'], [r['peak_device'] for r in out['ranks']])
        check('two inputs: rows', sorted(r['device'] for r in out['roofline']) == [A100['name'], 'H200 SXM'], out['roofline'])


# ---- unknown ----

def notes(out):
    return [u for u in out['unknown'] if 'MFU' in u]


def check_unknown():
    t = Trace()
    t.op('aten::mm')
    rank = t.report()['ranks'][0]
    for key in ('flops', 'flops_per_second', 'mfu_percent', 'flops_coverage_percent', 'bytes_coverage_percent', 'peak_flops_per_second'):
        check(f'no shapes: {key}', rank[key] is None, rank[key])

    for device, word in (('Unheard-of 3000', 'Unheard-of 3000'), (None, 'name the device'), ('NVIDIA A100-SXM4-40GB MIG 1g.5gb', 'MIG'),
                         ('NVIDIA A10G', 'A10G'), ('NVIDIA GH200 144G HBM3e', 'GH200'), ('NVIDIA H20-3e', 'H20'), ('x' * 500, 'xxx')):
        t = Trace(device)
        t.op('aten::mm', **MM)
        out = t.report()
        rank = out['ranks'][0]
        judge(f'device {device}', unlike(rank, {'flops': MM_FLOPS, 'mfu_percent': None, 'peak_flops_per_second': None, 'peak_gb_per_s': None}))
        judge(f'row of device {device}', unlike(out['roofline'][0], {'peak_flops_percent': None, 'bound': None, 'flops': MM_FLOPS}))
        check(f'note on device {device}', len(notes(out)) == 1 and word in notes(out)[0], out['unknown'])

    for device, name, peak in (('NVIDIA H100 80GB HBM3', 'H100 SXM', 66.9e12), ('NVIDIA H100 PCIe', 'H100 PCIe', 51.2e12),
                               ('NVIDIA H200', 'H200 SXM', 66.9e12), ('Tesla V100-SXM2-16GB', 'V100 SXM2', 15.7e12), ('Tesla T4', 'T4', 8.1e12),
                               ('NVIDIA A10', 'A10', 31.2e12), ('NVIDIA L4', 'L4', 30.3e12), ('NVIDIA L40S', 'L40S', 91.6e12),
                               ('NVIDIA GeForce RTX 4090', 'RTX 4090', 82.6e12), ('AMD Instinct MI300X', 'MI300X', 163.4e12),
                               ('AMD Instinct MI250X', 'MI250X (one die)', 47.85e12), ('A100-PCIE-40GB', 'A100 PCIe 40GB', 19.5e12),
                               ('NVIDIA H800', 'H800 SXM', 66.9e12), ('NVIDIA H20', 'H20', 44e12), ('NVIDIA GH200 480GB', 'GH200', 66.9e12),
                               ('NVIDIA A800-SXM4-80GB', 'A800 SXM 80GB', 19.5e12), ('NVIDIA A800 80GB PCIe', 'A800 PCIe 80GB', 19.5e12)):
        t = Trace(device)
        t.op('aten::mm', **MM)
        out = t.report()
        judge(f'device {device}', unlike(out['ranks'][0], {'peak_device': name, 'peak_flops_per_second': peak}))
        check(f'no note on {device}', not notes(out), notes(out))

    t = Trace()  # fp8 has no peak on an A100
    t.op('aten::_scaled_mm', [[64, 32], [32, 16]], ['c10::Float8_e4m3fn', 'c10::Float8_e4m3fn'])
    out = t.report()
    judge('type without a peak', unlike(out['ranks'][0], {'flops': MM_FLOPS, 'mfu_percent': None}))
    judge('bytes of fp8', unlike(out['roofline'][0], {'bytes': 64 * 32 + 32 * 16 + 2 * 64 * 16, 'type': 'fp8'}))
    check('note on the type', len(notes(out)) == 1, out['unknown'])

    t = Trace()  # one unknown operation makes MFU unknown
    t.op('aten::mm', **MM)
    t.op('custom::op', flops=1000)
    out = t.report()
    judge('operations of an unknown type', unlike(out['ranks'][0], {'flops': MM_FLOPS + 1000, 'mfu_percent': None}))
    check('note on the unknown type', len(notes(out)) == 1 and 'type' in notes(out)[0], out['unknown'])

    t = Trace()
    t.op('aten::matmul_like', **MM)
    t.op('aten::mm_', **MM)
    t.op('xaten::mm', **MM)
    t.op('mm', **MM)
    t.add('aten::mm', 'user_annotation', 100, 1, t.at, 1)
    check('names that only sound alike', not t.report()['roofline'])

    heads = [[2, 4, 100, 64], [2, 4, 70, 64], [2, 4, 70, 64]]
    for name, dims, concrete in (
            ('aten::_scaled_dot_product_flash_attention', heads, ['', '', '', '0.', 'True', 'False']),  # causal, lengths differ
            ('aten::_scaled_dot_product_flash_attention', heads, None),
            ('aten::_scaled_dot_product_flash_attention', [[2, 4, 100, 64], [2, 4, 70, 64], [2, 4, 60, 64]], ['', '', '', '0.', 'False', 'False']),
            ('aten::_flash_attention_forward', [[100, 4, 64]] * 3 + [[5], [5]], [''] * 8 + ['False', 'False']),
            ('aten::_flash_attention_forward', [[2, 100, 4, 64]] * 3 + [[5], [5]], [''] * 8 + ['False', 'False']),
            ('aten::_flash_attention_forward', [[2, 100, 4, 64]] * 3 + [[]] * 9, [''] * 8 + ['False', 'False', '', '128', '0']),
            ('aten::_efficient_attention_forward', [[2, 100, 4, 64]] * 3 + [[]] * 11, [''] * 9 + ['0', 'True', '', '', '64']),
            ('aten::_flash_attention_backward', [[2, 100, 4, 64]] * 5 + [[]] * 12, [''] * 11 + ['False', '', '', '', '64', '-1']),
            ('aten::convolution', [[1, 3, 8, 8], [4, 3, 3, 3]], None),
            ('aten::convolution', [[1, 3, 8, 8], [4, 2, 3, 3]], ['', '', '', '[1]', '[0]', '[1]', 'False', '[0]', '1']),
            ('aten::convolution', [[1, 3, 2, 2], [4, 3, 3, 3]], ['', '', '', '[1]', '[0]', '[1]', 'False', '[0]', '1']),
            ('aten::convolution', [[1, 3, 8, 8], [4, 3, 3, 3]], ['', '', '', '[0, 1]', '[0]', '[1]', 'False', '[0]', '1']),
            ('aten::convolution', [[1, 3, 8, 8], [4, 3, 3, 3]], ['', '', '', '[1, 1, 1]', '[0]', '[1]', 'False', '[0]', '1']),
            ('aten::mm', [[4, 5], [6, 7]], None), ('aten::mm', [[4, 5]], None), ('aten::bmm', [[2, 4, 5], [3, 5, 7]], None),
            ('aten::addmm', [[], [4, 5]], None)):
        t = Trace()
        types = ['c10::Half' if len(d) > 1 else 'int' if d else '' for d in dims]
        t.op(name, dims, types, concrete)
        out = t.report()
        check(f'unknown: {name} {dims} {concrete}', not out['roofline'] and not notes(out), out['roofline'])


# ---- hostile ----

def check_hostile(rnd):
    texts = ['[[4, 5], [5, -7]]', '[[4, 5], [5, 7.5]]', '[[4, 5], [5, 1e3]]', '[["4", "5"], [5, 7]]', '[[4, 5], [5, 99999999999999999999]]',
             '[[4, 5], [5, 9007199254740992]]', '[]', '[[], []]', '[[[4, 5], [5, 7]]]', '"[[4, 5], [5"', '"[[4, 5], [5, 7]"', '"text"', '7', 'null',
             '{"a": 1}', '[null, null]', '[[4, 5], "[5, 7]"]', '[[4, null], [5, 7]]', '[[' + '1, ' * 40 + '5], [5, 7]]', '[' + '[' * 50 + ']' * 50 + ']',
             '""', '"["', '"[]]"', '"[[4,5],[5,7]"', '[[4, true], [true, 7]]']
    types = ['["float", "float"]', '["float"]', '[]', '[1, 2]', '["float", null]', '"float"', '["float\\u0000", "float"]', '["nonsense", "float"]']
    names = ['aten::mm', 'aten::addmm', 'aten::bmm', 'aten::linear', 'aten::convolution', 'aten::convolution_backward', 'aten::add', 'aten::add_',
             'aten::fill_', 'aten::copy_', 'aten::where', 'aten::_scaled_mm', 'aten::_flash_attention_forward', 'aten::mv',
             'aten::_efficient_attention_backward']
    for text, kind in itertools.chain(((d, types[0]) for d in texts), (('[[4, 5], [5, 7]]', k) for k in types[1:])):
        t = Trace()
        for name in names:
            t.op(name, '@dims', '@types', '@concrete')
        document = json.dumps({'deviceProperties': t.properties, 'traceEvents': t.events})
        concrete = rnd.choice(['["", ""]', '[]', 'null', '["[", "]", "[1", "[-1, -1]", "[99999999999999999999]", "True", "[True", "1"]', '"x"'])
        document = document.replace('"@dims"', text).replace('"@types"', kind).replace('"@concrete"', concrete)
        out = report_of(document.encode(), 'trace.json')
        found = [r for r in out['roofline'] if r['name'] == 'aten::mm']
        check(f'hostile: {text[:60]} {kind}', not found, found)

    huge = 2 ** 53 - 1
    t = Trace()
    t.op('aten::mm', [[huge, huge], [huge, huge]], ['float', 'float'])
    t.op('aten::add', [[huge] * 8, [huge] * 8], ['float', 'float'])
    t.op('aten::convolution', [[huge] * 8, [huge] * 8], ['float', 'float'], ['', '', '', f'[{huge}]', f'[{huge}]', f'[{huge}]', 'True', f'[{huge}]', f'{huge}'])
    t.op('aten::convolution', [[1, 1, huge], [1, 1, huge]], ['float', 'float'], ['', '', '', '[1]', f'[{huge}]', f'[{huge}]', 'False', '[0]', '1'])
    t.op('aten::convolution', [[1, 1, huge], [1, 1, 1]], ['float', 'float'], ['', '', '', '[1]', f'[{huge}]', '[1]', 'False', '[0]', '1'])
    out = t.report()
    check('huge sizes', all(r['name'] == 'aten::convolution' for r in out['roofline']), out['roofline'])

    t = Trace()
    t.op('aten::mm', [[0, 32], [32, 16]], ['float', 'float'])
    out = t.report()
    judge('an empty product', unlike(out['roofline'][0], {'flops': 0, 'bytes': 32 * 16 * 4, 'flops_per_second': None}))
    check('an empty product has no MFU', out['ranks'][0]['mfu_percent'] is None and not notes(out), out['ranks'][0]['mfu_percent'])

    t = Trace()
    for value in (-5, 0, 1e300, 'text', None, [1]):
        t.op('custom::op', flops=value)
        t.kernel('k', flops=value, bytes_accessed=value)
    check('stated values that are no counts', t.report()['ranks'][0]['flops'] is None)

    depth = 3000  # nested operators, each with a launch: linear time
    t = Trace()
    for i in range(depth):
        t.add('aten::mm', 'cpu_op', 100, 1, i, 10 * depth - 2 * i, **{'Input Dims': MM['dims'], 'Input type': MM['types']})
    t.at = depth
    for _ in range(depth):
        t.kernel()
    check('deep nesting counts once', t.report()['ranks'][0]['flops'] == MM_FLOPS)


# ---- stated ----

def plane(name, stats, events):
    """Returns a device plane with a line of operations: (name, offset, duration in ps, flops, bytes)."""
    names = {}

    def key(text):
        return names.setdefault(text, len(names) + 1)

    def stat(text, value):
        data = number(1, key(text))
        if isinstance(value, float):
            return data + varint(2 << 3 | 1) + struct.pack('<d', value)
        return data + (message(5, value.encode()) if isinstance(value, str) else number(3, value))
    out = number(1, 1) + message(2, name.encode())
    classes = sorted({e[0] for e in events})
    line = number(1, 1) + message(2, b'XLA Ops') + number(3, 1000)
    for op, offset, dur, _, _ in events:
        line += message(4, number(1, classes.index(op) + 1) + number(2, offset) + number(3, dur))
    out += message(3, line)
    for i, op in enumerate(classes):
        flops, size = next(e[3:] for e in events if e[0] == op)
        metadata = number(1, i + 1) + message(2, op.encode())
        metadata += message(5, stat('flops', flops)) + message(5, stat('bytes_accessed', size))
        out += message(4, number(1, i + 1) + message(2, metadata))
    for text, value in stats.items():
        out += message(6, stat(text, value))
    for text, i in names.items():
        out += message(5, number(1, i) + message(2, number(1, i) + message(2, text.encode())))
    return out


def check_stated():
    t = Trace()
    t.op('aten::conv2d', flops=5000, inside=lambda t: t.op('aten::mm', **MM))
    row = t.report()['roofline'][0]
    judge('operations of an operator replace those within', unlike(row, {'name': 'aten::conv2d', 'source': 'trace', 'flops': 5000, 'type': None}))

    t = Trace()
    t.op('aten::mm', **MM, flops=777)
    out = t.report()
    judge('operations replace those of shapes', unlike(out['roofline'][0], {'flops': 777, 'type': 'fp32', 'bytes': 4 * (64 * 32 + 32 * 16 + 64 * 16)}))

    t = Trace()
    t.op('outer', flops=100, inside=lambda t: t.op('inner', flops=60))
    check('stated operators count once', t.report()['ranks'][0]['flops'] == 60)

    t = Trace()
    t.op('aten::mm', **MM, inside=lambda t: t.kernel('gemm.12', 10, flops=4096, bytes_accessed=512))
    out = t.report()
    judge('operations of work', unlike(out['roofline'][0], {'name': 'gemm', 'source': 'trace', 'flops': 4096, 'bytes': 512, 'kernels': 1}))
    check('nothing else counts', out['ranks'][0]['flops'] == 4096, out['ranks'][0]['flops'])

    events = [('while.1', 0, 100000000, 999, 999), ('fusion.1', 0, 40000000, 8000000, 4000), ('fusion.2', 50000000, 20000000, 1000000, 8000000)]
    for stats, peak, bandwidth, mfu in (
            ({'device_type_string': 'TPU v4', 'peak_teraflops_per_second': 2.0, 'peak_hbm_bw_gigabytes_per_second': 100.0}, 2e12, 100.0, True),
            ({'device_type_string': 'TPU v4'}, None, 1200.0, False), ({'device_type_string': 'TPU v99'}, None, None, False),
            ({'device_type_string': 'TPU v99', 'peak_teraflops_per_second': 'many'}, None, None, False)):
        out = report_of(message(1, plane('/device:TPU:0', stats, events)), 'vm.xplane.pb')
        rank = out['ranks'][0]
        judge(f'plane {stats}', unlike(rank, {
            'flops': 9000000, 'peak_flops_per_second': peak, 'peak_gb_per_s': bandwidth,
            'mfu_percent': 100 * 9e6 / 2e12 / (rank['window_ns'] / 1e9) if mfu else None}))
        row = rows_of(out)['fusion', None]
        judge(f'operations of plane {stats}', unlike(row, {'count': 2, 'flops': 9000000, 'bytes': 8004000, 'total_ns': 60000,
                                                          'bound': 'memory' if mfu else None}))
        check(f'no loop in plane {stats}', len(out['roofline']) == 1, out['roofline'])


# ---- printed ----

def check_printed():
    t = Trace()
    t.op('aten::mm', **MM, inside=lambda t: t.kernel(dur=1))
    t.op('aten::_scaled_mm<&>', flops=10)
    t.op('aten::relu', [[1000]], ['float'])
    with tempfile.TemporaryDirectory() as folder:
        path, page = f'{folder}/trace.json', f'{folder}/report.html'
        with open(path, 'w', encoding='utf-8') as f:
            json.dump({'deviceProperties': t.properties, 'traceEvents': t.events}, f)
        text = subprocess.run([TRACEKIT, 'report', '-q', path], stdin=subprocess.DEVNULL, capture_output=True, check=True).stdout.decode()
        subprocess.run([TRACEKIT, 'report', '-q', path, '--html', page], stdin=subprocess.DEVNULL, capture_output=True, check=True)
        with open(page, encoding='utf-8') as f:
            html = f.read()
    rows = [line.split() for line in text.splitlines() if line.endswith('aten::mm')]
    row = next((r for r in rows if 'fp32' in r), [])
    rate, bound = MM_FLOPS / 1e-6, MM_FLOPS / (4 * (64 * 32 + 32 * 16 + 64 * 16))
    check('row in text', row == ['1.000', 'us', '1', '65.5', 'G', f'{100 * rate / 19.5e12:.1f}', '14.3', '0.7', f'{bound:.1f}', 'memory', 'fp32',
                                 'aten::mm'], row)
    check('ranks in text', f'{A100["name"]}' in text and 'FLOP known' in text, text[:2000])
    check('drawing', html.count('<circle') == 1 and '65.5 GFLOP/s' in html and 'fp32 19.5 TFLOP/s' in html and '2.0 TB/s' in html)
    check('names are escaped', '_scaled_mm&lt;&amp;&gt;' in html and '_scaled_mm<' not in html)
    check('numbers of the drawing', 'nan' not in html.lower().split('aria-label="roofline"')[1].split('</svg>')[0])


def main():
    rnd = random.Random(int(os.environ.get('SEED', '1')))
    check_models(rnd, 600 if os.environ.get('LONG') else 150)
    check_together(rnd)
    check_owners()
    check_rows(rnd)
    check_unknown()
    check_hostile(rnd)
    check_stated()
    check_printed()
    return finish()


sys.exit(main())
