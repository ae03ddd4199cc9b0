#!/usr/bin/env python3
"""Checks `diff --match tree` against a model in Python: two generated runs have the same operators, and kernels with other
names. The model knows by construction which operator launched each kernel, copy and fill; durations, counts, names and states
of the rows follow. Near misses: an operator with one more kernel, a fill that only one run has, operators that only one run
has, kernels that no operator launched, kernels of a replayed graph, kernels that start in an order different from their
launches, and Python frames and annotations that only one run has recorded."""
import collections
import csv
import io
import json
import os
import random
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from diffs import asked, run  # noqa: E402
from verdict import finish, judge  # noqa: E402

STEPS = 4
PATHS = {'addmm': 'forward > aten::linear > aten::addmm', 'gelu': 'forward > aten::gelu', 'drop': 'forward > aten::dropout',
         'mul': 'forward > aten::mul', 'copy': 'aten::to > aten::copy_', 'two': 'forward > aten::sdpa', 'graph': 'aten::linear > aten::mm'}


class Side:
    """One run. `rows`: {row: [(step, duration, name)]}, the expected rows. A row is identified by path, class and index, or by
    name."""

    def __init__(self, rnd, amd, blocks=0):
        self.rnd, self.amd, self.events, self.at, self.last, self.blocks = rnd, amd, [], 0, 0, blocks
        self.rows = collections.defaultdict(list)
        self.queue = {7: 0, 8: 0}
        self.capture()
        for step in range(STEPS):
            self.step(step)

    def span(self, cat, name, begin, end, tid=1, pid=1, **args):
        self.events.append({'ph': 'X', 'cat': cat, 'name': name, 'pid': pid, 'tid': tid, 'ts': begin, 'dur': end - begin, 'args': args})

    def call(self, name):
        self.last += 1
        self.span('cuda_runtime', ('hip' if self.amd else 'cuda') + name, self.at, self.at + 2, correlation=self.last)
        self.at += 3

    def capture(self):
        """Captures a graph of two kernels. At each replay, the kernels belong to the operator in which the graph was
        captured."""
        self.call('StreamBeginCapture')
        self.op(PATHS['graph'], lambda: (self.call('LaunchKernel'), self.call('LaunchKernel')))
        self.call('StreamEndCapture')

    def replay(self, step):
        self.call('GraphLaunch')
        for node in range(2):
            dur, name, row = self.rnd.randrange(5, 30), f'graph_{"amd" if self.amd else "nv"}_{node}', f'{PATHS["graph"]} > kernel {node + 1}'
            begin = max(self.queue[7], self.at + 3)
            self.span('kernel', name, begin, begin + dur, 7, 0, **{'correlation': self.last, 'stream': 7, 'device': 0, 'graph id': 1,
                                                                   'graph node id': (1 << 32) + node})
            self.queue[7] = begin + dur
            self.rows[row].append((step, dur, name))

    def launch(self, step, row, cat, name, stream=7, late=0):
        """Launches some work, and records it in `rows`."""
        self.last += 1
        call = 'hipLaunchKernel' if self.amd else 'cudaLaunchKernel'
        self.span('cuda_runtime', call, self.at, self.at + 2, correlation=self.last)
        begin, dur = max(self.queue[stream], self.at + 3) + late, self.rnd.randrange(5, 30)
        self.span(cat, name, begin, begin + dur, stream, 0, correlation=self.last, stream=stream, device=0)
        self.queue[stream] = begin + dur
        self.rows[row].append((step, dur, name))
        self.at += 3

    def op(self, path, body):
        """Runs `body` inside nested operators, one for each name of the path, each within a Python frame if the run records
        these."""
        names, opened = path.split(' > '), []
        for name in names:
            if not self.amd:
                opened.append(('python_function', f'model.py({self.at}): f', self.at))
                self.at += 1
            for _ in range(self.rnd.randrange(3) if self.blocks else 0):
                opened.append(('user_annotation', f'block {self.rnd.randrange(self.blocks)}', self.at))
                self.at += 1
            opened.append(('user_annotation' if name == 'forward' else 'cpu_op', name, self.at))
            self.at += 1
        body()
        for cat, name, begin in reversed(opened):
            self.at += 1
            self.span(cat, name, begin, self.at)
        self.at += 1

    def step(self, step):
        begin, amd = self.at, self.amd
        self.at += 1
        addmm, gelu, copy = PATHS['addmm'], PATHS['gelu'], PATHS['copy']

        def addmm_body(layer):
            if amd:
                self.launch(step, f'{addmm} > fill 1', 'gpu_memset', 'Memset (Device)')
            gemm = f'Cijk_Alik_Bljk_{layer}' if amd else 'ampere_sgemm_128x64_tn'
            self.launch(step, f'{addmm} > kernel 1', 'kernel', gemm)
            if amd:
                self.launch(step, f'{addmm} > kernel 2', 'kernel', 'bias_kernel')

        def two_body():  # the first to be launched is the last to start
            self.launch(step, f'{PATHS["two"]} > kernel 1', 'kernel', 'attn_amd' if amd else 'fmha', 8, late=400)
            self.launch(step, f'{PATHS["two"]} > kernel 2', 'kernel', 'softmax', 7)

        self.op(copy, lambda: self.launch(step, f'{copy} > copy 1', 'gpu_memcpy', 'CopyHostToDevice' if amd else 'Memcpy HtoD'))
        for layer in range(3):
            self.op(addmm, lambda layer=layer: addmm_body(layer % 2))
            self.op(gelu, lambda: self.launch(step, f'{gelu} > kernel 1', 'kernel', 'gelu_amd' if amd else 'gelu_nv'))
        self.op(PATHS['two'], two_body)
        self.replay(step)
        self.replay(step)
        alone = PATHS['mul' if amd else 'drop']
        self.op(alone, lambda: self.launch(step, f'{alone} > kernel 1', 'kernel', 'elementwise'))
        self.launch(step, 'bare_amd' if amd else 'bare_nv', 'kernel', 'bare_amd' if amd else 'bare_nv')
        self.launch(step, 'bare', 'kernel', 'bare')
        self.at = max(self.at, *self.queue.values()) + 5
        self.span('user_annotation', f'ProfilerStep#{step}', begin, self.at)
        self.at += 3

    def write(self, path):
        os.makedirs(path, exist_ok=True)
        events = self.events + [{'ph': 'M', 'name': 'process_labels', 'pid': 0, 'args': {'labels': 'GPU 0'}}]
        with open(f'{path}/rank0.json', 'w', encoding='utf-8') as f:
            json.dump({'distributedInfo': {'rank': 0}, 'deviceProperties': [{'id': 0}], 'traceEvents': events}, f)
        return path

    def total(self, row):
        return statistics.mean(sum(d for s, d, _ in self.rows.get(row, ()) if s == step) for step in range(STEPS)) * 1000

    def name(self, row):
        """Returns the name with the most time, and the number of names."""
        times = collections.Counter()
        for _, dur, name in self.rows.get(row, ()):
            times[name] += dur
        best = min(times, key=lambda n: (-times[n], n)) if times and ' > ' in row else None
        return best, len(times) if best else 0


def near(a, b):
    return abs(a - b) <= 1e-6 * max(1, abs(b))


def side_fault(cell, side, row):
    if not near(cell['total_ns'], side.total(row)):
        return f'{row}: {cell["total_ns"]}, not {side.total(row)}'
    if not near(cell['count'], len(side.rows.get(row, ())) / STEPS):
        return f'{row}: {cell["count"]} events a step'
    if (cell['work_name'], cell['work_names']) != side.name(row):
        return f'{row}: {cell["work_name"]} of {cell["work_names"]}, not {side.name(row)}'
    return ''


def pair_fault(report, a, b):
    rows = {r['name']: r for r in report['rows']}
    fault = '' if rows.keys() == a.rows.keys() | b.rows.keys() else f'rows {rows.keys() ^ (a.rows.keys() | b.rows.keys())}'
    for name, row in rows.items() if not fault else ():
        fault = fault or side_fault(row['before'], a, name) or side_fault(row['after'], b, name)
        want = 'new' if name not in a.rows else 'gone' if name not in b.rows else row['state']
        fault = fault or ('' if row['state'] == want and (want in ('new', 'gone')) == (name not in a.rows or name not in b.rows)
                          else f'{name} is {row["state"]}')
    return fault


def several(folders, sides):
    report = asked('--match', 'tree', '--kind', 'kernel,memcpy,memset', *folders)
    fault = ''
    for row in report['rows']:
        for cell, side in zip(row['runs'], sides):
            fault = fault or side_fault(cell, side, row['name'])
    judge('three runs', fault or ('' if len(report['rows']) == len(sides[0].rows.keys() | sides[1].rows.keys()) else 'other rows'))


def annotated(rnd, work, a, b):
    """Checks that annotations that not all runs have do not change paths."""
    d = Side(rnd, True, blocks=5)
    folders = [f'{work}/a', f'{work}/b', d.write(f'{work}/d')]
    kinds = ('--match', 'tree', '--kind', 'kernel,memcpy,memset')
    judge('annotations after', pair_fault(asked(*kinds, folders[0], folders[2]), a, d))
    judge('annotations before', pair_fault(asked(*kinds, folders[2], folders[1]), d, b))
    itself = asked(*kinds, folders[2], folders[2])
    judge('annotations in both', '' if any('block' in r['name'] for r in itself['rows']) else 'are left out')
    rows = asked(*kinds, *folders)['rows']
    judge('annotations of one of three runs', next((f for r in rows for c, s in zip(r['runs'], (a, b, d)) if (f := side_fault(c, s, r['name']))), ''))
    _, _, err = run(*kinds, folders[0], folders[2])
    judge('annotations are named', '' if 'annotations left out of paths, because not all runs have them (5): block' in err else err)
    _, _, err = run('--match', 'tree', folders[0], folders[1])
    judge('frames of one run', '' if '1 of 2 runs have Python frames' in err else err)
    for options in (('--no-python',), ('--kind', 'kernel')):
        _, _, err = run('--match', 'tree', *options, folders[0], folders[1])
        judge(f'frames without {options}', '' if 'Python frames' not in err else err)
    direct(rnd, work)


def direct(rnd, work):
    """Work that an annotation launched without an operator stays below it."""
    e, f = Side(rnd, True, blocks=1), Side(rnd, True)
    e.op('my range', lambda: e.launch(0, 'my range > kernel 1', 'kernel', 'triton'))
    for event in e.events:
        event['cat'] = 'user_annotation' if event['name'] == 'my range' else event['cat']
    rows = asked('--match', 'tree', '--kind', 'kernel', '--whole', e.write(f'{work}/e'), f.write(f'{work}/f'))['rows']
    judge('work of an annotation', '' if [r['state'] for r in rows if r['before']['work_name'] == 'triton'] == ['gone'] and
          any(r['name'].endswith('my range > kernel 1') for r in rows) else str([r['name'] for r in rows]))


def printed(a, b, folders):
    work = ['--match', 'tree', '--kind', 'kernel,memcpy,memset']
    _, out, err = run(*work, *folders)
    lines = out.splitlines()
    want = '... > aten::linear > aten::addmm > kernel 1: gemm 128x64 tn fp32 -> gemm tn tensile (+1)'
    judge('text shows both names, in short', '' if any(x.endswith(want) for x in lines) else out)
    judge('text shows equal names once', '' if any(x.endswith('kernel 2: softmax') for x in lines) else out)
    said = f'matched by name ({4 * STEPS})' in err
    judge('work that no operator launched is counted', '' if said else err)
    rows = list(csv.DictReader(io.StringIO(run('-q', '--csv', *work, *folders)[1])))
    names = {r['name']: (r['before_work_name'] or None, r['after_work_name'] or None) for r in rows}
    fault = next((n for n, v in names.items() if v != (a.name(n)[0], b.name(n)[0])), '') if names else 'no rows'
    judge('CSV has both names', fault)
    page = f'{folders[0]}/page.html'
    run('-q', *work, *folders, '--html', page)
    with open(page, encoding='utf-8') as f:
        judge('the page shows both names', '' if 'gelu_nv -&gt; gelu_amd' in f.read() else 'is without')


def main():
    with tempfile.TemporaryDirectory() as work:
        rnd = random.Random(int(os.environ.get('SEED', '1')))
        a, b, c = Side(rnd, False), Side(rnd, True), Side(rnd, False)
        folders = [side.write(f'{work}/{name}') for side, name in ((a, 'a'), (b, 'b'), (c, 'c'))]
        kinds = ('--kind', 'kernel,memcpy,memset')
        try:
            judge('two runs', pair_fault(asked('--match', 'tree', *kinds, *folders[:2]), a, b))
            judge('the other way', pair_fault(asked('--match', 'tree', *kinds, folders[1], folders[0]), b, a))
            itself = asked('--match', 'tree', *kinds, folders[0], folders[0])
            judge('a run with itself', pair_fault(itself, a, a) or ('' if not any(r['delta_ns'] for r in itself['rows']) else 'differs'))
            one = asked('--match', 'tree', '--kind', 'kernel', '--name', 'softmax', *folders[:2])
            judge('a selection does not renumber', '' if [r['name'] for r in one['rows']] == [f'{PATHS["two"]} > kernel 2'] else str(one['rows'])[:200])
            named = asked(*kinds, *folders[:2])
            judge('--match name is the default', '' if named == asked('--match', 'name', *kinds, *folders[:2]) and
                  {r['name'] for r in named['rows']} == {n for s in (a, b) for v in s.rows.values() for _, _, n in v} else 'is not')
            host = {r['name']: r for r in asked('--match', 'tree', *folders[:2])['rows']}
            judge('operators are matched by name', '' if host['aten::addmm']['before']['events'] == 3 * STEPS and
                  host['aten::addmm']['before']['work_name'] is None and f'{PATHS["gelu"]} > kernel 1' in host else 'are not')
            several(folders, (a, b, c))
            printed(a, b, folders[:2])
            annotated(rnd, work, a, b)
        except (RuntimeError, ValueError, KeyError, StopIteration) as e:
            judge('diff --match tree', f'{type(e).__name__}: {e}')
        status, _, err = run('--match', 'tree', '--by', 'cat', *folders[:2])
        judge('--by', '' if status == 2 and 'cannot be combined' in err else f'{status}: {err}')


main()
sys.exit(finish())
