#!/usr/bin/env python3
"""Checks `tree --layers` against a model: for a scope, the time in which its work ran; for modules and annotations, the time in
which work launched within them ran; each per step. PyTorch's backward pass is below the layers of the forward pass, all other
work in one row. Also checks that --levels lists the first levels of the same tree, that report has the same layers, added up
over its traces, and that tree and diff shorten the names of kernels as top does."""
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from dumped import covered  # noqa: E402
from nsysreport import Report, process  # noqa: E402
from schema import conforms  # noqa: E402
from verdict import finish, judge  # noqa: E402

TRACEKIT, FIXTURES, SRC = (os.environ[name] for name in ('TRACEKIT', 'FIXTURES', 'SRC'))
TRIALS = 60 if os.environ.get('LONG') else 12
SMALL = f'{FIXTURES}/perfetto/small.pftrace.gz'
with open(f'{SRC}/schemas/tree.schema.json', encoding='utf-8') as f:
    SCHEMA = json.load(f)


def run(*args, status=0):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    judge(f'{args[0]}: status', '' if p.returncode == status else f'{p.returncode}, not {status}: {p.stderr.decode()[:300]}')
    return p.stdout.decode()


def write(path, events):
    with open(path, 'w', encoding='utf-8') as f:
        json.dump({'traceEvents': events}, f)
    return path


def layers(path, *args):
    """Returns the report, and {path of names: row}."""
    report = json.loads(run('tree', '-q', '--json', '--layers', *args, path))
    judge('schema', conforms(SCHEMA, report))
    paths, found = [], {}
    for row in report['paths']:
        paths.append((paths[row['parent']] if row['parent'] is not None else ()) + (row['name'],))
        found[paths[-1]] = row
    return report, found


def in_report(what, *paths):
    """Compares the layers of a report with the sum of the trees of its traces."""
    want, work, steps, kinds = {}, 0, [], set()
    for path in paths:
        report, found = layers(path)
        if not any(row['launched'] for names, row in found.items() if names != (None,)):
            continue
        work, steps, kinds = work + report['work_ns'], [*steps, report.get('calls', 0)], kinds | {report['layers']}
        for names, row in found.items():
            sums = want.setdefault(names, [0] * 4)
            for i, key in enumerate(('count', 'total_ns', 'launched', 'device_ns')):
                sums[i] += row[key] or 0
    got, stack, order = {}, [], []
    for row in json.loads(run('report', '-q', '--json', *paths))['layers']:
        stack = stack[:row['depth']] + [row['name']]
        order.append((*stack[:-1], -(row['device_ns'] or 0)))
        got[tuple(stack)] = [row[key] or 0 for key in ('count', 'total_ns', 'launched', 'device_ns')]
        ns, per = row['device_ns'], row['device_per_step_ns']
        right = ns is None or (abs(row['percent_of_work'] - 100 * ns / work) < .01 and
                               (abs(per - ns / sum(steps)) < .01 if all(steps) else per is None))
        judge(f'{what}: shares', '' if right and {row['kind']} == kinds else f'{row}, {work}, {steps}')
    judge(f'{what}: the layers of the report', '' if got == want else f'{got} is not {want}')
    siblings = [(a, b) for a, b in zip(order, order[1:]) if len(a) == len(b)]
    judge(f'{what}: most device time first', '' if all(a <= b for a, b in siblings if a[:-1] == b[:-1]) else str(order))


def same(what, report, found, work, want):
    """Compares device times with the model. want: {path: intervals of its work, in us}."""
    got = {path: row['device_ns'] or 0 for path, row in found.items()}
    model = {path: covered(v) * 1000 for path, v in want.items()}
    judge(what, '' if got == model else f'{got} is not {model}')
    judge(f'{what}: all work', '' if report['work_ns'] == covered(work) * 1000 else f'{report["work_ns"]}, not {covered(work) * 1000}')


# ---- scopes ----

def named(pid, process, **threads):
    rows = [{'ph': 'M', 'name': 'process_name', 'pid': pid, 'args': {'name': process}}]
    return rows + [{'ph': 'M', 'name': 'thread_name', 'pid': pid, 'tid': int(tid[1:]), 'args': {'name': name}} for tid, name in threads.items()]


# Scopes as JAX writes them, and the modules that they name.
SCOPES = (('jit(step)/jvp(Model)/layer_0/dot_general', ('Model', 'layer_0')), ('jit(step)/transpose(jvp(Model))/layer_0/dot_general', ('Model', 'layer_0')),
          ('jit(step)/jvp(Model)/layer_1/mlp/add', ('Model', 'layer_1', 'mlp')), ('jit(step)/jit(main)/vmap(jvp(Model))/layer_1/attention/add', ('Model', 'layer_1', 'attention')),
          ('jit(step)/jvp()/mul', ()), ('jit(step)/add', ()), ('', ()), (None, ()), ('jit(step)/loss/jit(clip)/max', ('loss',)),
          ('jit(step)/jvp(a/b)/sub', ('a/b',)))


def scopes(folder, trial):
    rnd = random.Random(trial)
    with_steps, devices = trial % 2 == 0, 1 + trial % 3
    events, ops, steps, work, want = [], [], {}, [], {}
    for device in range(devices):
        pid, at = 3 + device, rnd.choice((0, 700)) * device
        events += named(pid, f'/device:TPU:{device}', t1='Steps', t3='XLA Ops')
        for step in range(4):
            begin = at
            for _ in range(rnd.randrange(1, 12)):
                scope, path = rnd.choice(SCOPES)
                dur = rnd.randrange(1, 50)
                events.append({'ph': 'X', 'pid': pid, 'tid': 3, 'ts': at, 'dur': dur, 'name': f'fusion.{rnd.randrange(5)}',
                               'args': {} if scope is None else {'tf_op': scope}})
                ops.append((device, at, at + dur, path))
                at += dur + rnd.randrange(20)
            if with_steps and step:
                events.append({'ph': 'X', 'pid': pid, 'tid': 1, 'ts': begin, 'dur': at - begin, 'name': str(step), 'args': {}})
                steps.setdefault(device, []).append((begin, at))  # each device's steps divide its own work
            at += 1
    for device, start, end, path in ops:
        if not with_steps or any(a <= start < b for a, b in steps[device]):
            work.append((start, end))
            for names in [path[:n] for n in range(1, len(path) + 1)] or [(None,)]:
                want.setdefault(names, []).append((start, end))
    path = write(f'{folder}/scopes_{trial}.json', events)
    report, found = layers(path)
    in_report(f'scopes, {trial}', path)
    if any(scope for scope, _ in SCOPES if any(e.get('args', {}).get('tf_op') for e in events)):
        judge('kind of layers', '' if report['layers'] == 'scopes' else report['layers'])
        same(f'scopes, {trial}', report, found, work, want)
        judge(f'steps, {trial}', '' if report.get('calls', 0) == (3 if with_steps else 0) else str(report.get('calls')))
        for n in (1, 2):
            same(f'{n} levels, {trial}', *layers(path, '--levels', str(n)), work, {p: v for p, v in want.items() if len(p) <= n})
    return path


# ---- modules and annotations ----

def hosts(folder, trial, modules):
    """Checks nested modules or annotations of a host that launch kernels. Other spans around the launches are not layers."""
    rnd = random.Random(trial)
    prefix, category = ('nn.Module: ', 'python_function') if modules else ('', 'user_annotation')
    events, work, want, ids, at, free = [], [], {}, 0, 0, 0
    for step in range(3):
        begin = at
        for _ in range(rnd.randrange(1, 4)):
            start, path = at, (f'{prefix}block_{rnd.randrange(3)}',)
            inner = path + (f'{prefix}linear',)
            for launch in range(rnd.randrange(4)):
                ids += 1
                free = max(free, at + 6) + rnd.randrange(3)
                dur = rnd.randrange(1, 9)
                within = inner if launch % 2 else path
                if launch % 2:
                    events.append({'ph': 'X', 'cat': category, 'name': inner[1], 'pid': 1, 'tid': 1, 'ts': at, 'dur': 8})
                events.append({'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::mm', 'pid': 1, 'tid': 1, 'ts': at + 1, 'dur': 6})
                events.append({'ph': 'X', 'cat': 'cuda_runtime', 'name': 'cudaLaunchKernel', 'pid': 1, 'tid': 1, 'ts': at + 2, 'dur': 2, 'args': {'correlation': ids}})
                events.append({'ph': 'X', 'cat': 'kernel', 'name': f'k{launch}', 'pid': 0, 'tid': 7, 'ts': free, 'dur': dur, 'args': {'correlation': ids, 'stream': 7}})
                work.append((free, free + dur))
                for n in range(1, len(within) + 1):
                    want.setdefault(within[:n], []).append(work[-1])
                free += dur
                at += 10
            at += 1
            events.append({'ph': 'X', 'cat': category, 'name': path[0], 'pid': 1, 'tid': 1, 'ts': start, 'dur': at - start})
            want.setdefault(path, [])
        at = max(at, free + 1)
        events.append({'ph': 'X', 'cat': 'user_annotation', 'name': f'ProfilerStep#{step}', 'pid': 1, 'tid': 1, 'ts': begin, 'dur': at - begin})
    word = 'modules' if modules else 'annotations'
    path = write(f'{folder}/hosts.json', events)
    in_report(f'{word}, {trial}', path)
    report, found = layers(path)
    judge(f'kind of layers: {word}', '' if report['layers'] == word else report['layers'])
    same(f'{word}, {trial}', report, found, work, want)
    judge(f'{word}: steps, {trial}', '' if report['calls'] == 3 else str(report['calls']))


class Training:
    """Events of one training step: modules of the forward pass on one thread, nodes of autograd on another, and kernels that do not
    overlap, whose durations add up."""

    def __init__(self, rnd, flows, args):
        self.rnd, self.flows, self.args = rnd, flows, args
        self.events, self.want, self.ids, self.sequence, self.at, self.free = [], {}, 0, 10, 100, 0

    def span(self, tid, cat, name, ts, dur, **args):
        self.events.append({'ph': 'X', 'cat': cat, 'name': name, 'pid': 1, 'tid': tid, 'ts': ts, 'dur': dur, 'args': args})

    def kernel(self, tid, ts, path):
        """Adds a kernel that is launched by a call at `ts`; None: without a call."""
        self.ids += 1
        self.free = max(self.free, ts) + self.rnd.randrange(1, 5)
        dur = self.rnd.randrange(1, 9)
        if tid:
            self.span(tid, 'cuda_runtime', 'cudaLaunchKernel', ts, 1, correlation=self.ids)
        self.events.append({'ph': 'X', 'cat': 'kernel', 'name': 'k', 'pid': 0, 'tid': 7, 'ts': self.free, 'dur': dur, 'args': {'correlation': self.ids}})
        for n in range(1, len(path) + 1):
            self.want.setdefault(path[:n], []).append((self.free, self.free + dur))
        self.free += dur

    def operator(self, tid, path, thread=0):
        """Adds an operator of the forward pass with one kernel, after an operator with the same number. Returns its number and
        start."""
        numbers = {'Sequence number': self.sequence, 'Fwd thread id': thread} if self.args else {}
        self.span(tid, 'cpu_op', 'aten::t', self.at, 2, **numbers)
        self.span(tid, 'cpu_op', 'aten::mm', self.at + 2, 5, **numbers)
        self.kernel(tid, self.at + 3, path)
        self.at += 10
        self.sequence += 1
        return self.sequence - 1, self.at - 8

    def backward(self, number, start, path):
        numbers = {'Sequence number': number, 'Fwd thread id': 1} if self.args else {}
        self.span(2, 'cpu_op', 'autograd::engine::evaluate_function: MmBackward0', self.at, 9, **numbers)
        self.span(2, 'cpu_op', 'MmBackward0', self.at + 1, 7, **numbers)
        for n in range(2):
            self.kernel(2, self.at + 2 + 2 * n, path)
        flow = {'cat': 'fwdbwd', 'name': 'fwdbwd', 'id': number, 'pid': 1}
        if self.flows:
            self.events += [{**flow, 'ph': 's', 'tid': 1, 'ts': start}, {**flow, 'ph': 'f', 'tid': 2, 'ts': self.at + 1, 'bp': 'e'}]
        self.at += 10


def backward(folder, trial):
    """Checks PyTorch's backward pass, which runs on a thread of its own; Kineto links its operators to those of the forward
    pass."""
    flows, args = ((True, True), (True, False), (False, True), (False, False))[trial % 4]
    t = Training(random.Random(trial), flows, args)
    root, steps = ('nn.Module: Net_0',), []
    t.span(1, 'user_annotation', 'ProfilerStep#0', 90, 100000)
    begin = t.at
    for layer in range(t.rnd.randrange(1, 4)):
        path, start = root + (f'nn.Module: Linear_{layer}',), t.at
        for _ in range(t.rnd.randrange(1, 3)):
            steps.append((*t.operator(1, path), path))
        t.span(1, 'python_function', path[-1], start, t.at - start)
    t.span(1, 'python_function', root[0], begin - 1, t.at - begin + 1)
    t.operator(1, (None,))  # the loss, in no module
    for number, start, path in reversed(steps):
        t.backward(number, start, path + ('(backward)',) if flows or args else (None,))
    t.span(2, 'cpu_op', 'autograd::engine::evaluate_function: torch::autograd::AccumulateGrad', t.at, 9)
    t.kernel(2, t.at + 1, (None,))
    t.kernel(0, t.at, (None,))
    path = write(f'{folder}/backward.json', t.events)
    in_report(f'backward, {trial}', path)
    report, found = layers(path)
    work = [(e['ts'], e['ts'] + e['dur']) for e in t.events if e['cat'] == 'kernel' and e['ph'] == 'X']
    same(f'backward, {trial}', report, found, work, t.want)
    whole = sum(e['dur'] for e in t.events if e['cat'] == 'kernel')
    rows = sum(row['device_ns'] or 0 for path, row in found.items() if len(path) == 1) // 1000
    judge(f'the rows are all kernels, {trial}', '' if rows == whole else f'{rows} is not {whole}')
    operators = sum(row['count'] for path, row in found.items() if path[-1] == '(backward)')
    judge(f'nested operators count once, {trial}', '' if operators == (len(steps) if flows or args else 0) else str(operators))


def ambiguous(folder):
    """Checks that an equal sequence number on two threads does not link operators without a flow: each thread counts its
    own."""
    t = Training(random.Random(1), False, True)
    t.span(1, 'python_function', 'nn.Module: Net_0', 90, 100)
    number, start = t.operator(1, ('nn.Module: Net_0',))
    t.sequence -= 1
    t.span(3, 'python_function', 'nn.Module: Net_1', 90, 100)
    t.operator(3, ('nn.Module: Net_1',))
    t.at = 300
    t.backward(number, start, (None,))
    report, found = layers(write(f'{folder}/ambiguous.json', t.events))
    same('ambiguous', report, found, [w for v in t.want.values() for w in v], t.want)


def outside(folder):
    """Checks that without --layers a note states the work that was launched outside of all selected spans."""
    t = Training(random.Random(2), True, True)
    number, start = t.operator(1, ('in',))
    t.span(1, 'user_annotation', 'in', 100, 10)
    t.backward(number, start, ('out',))
    t.kernel(0, t.at, ('out',))
    path = write(f'{folder}/outside.json', t.events)
    out, whole = covered(t.want['out',]) * 1000, covered(t.want['out',] + t.want['in',]) * 1000
    report = json.loads(run('tree', '--json', '--kind', 'annotation', path))
    judge('work outside', '' if (report['outside_ns'], report['work_ns']) == (out, whole) else str(report))
    note = run('tree', '--kind', 'annotation', path).splitlines()[-1]
    judge('note', '' if note.startswith(f'device: for {out // 1000}.000 us of the {whole // 1000}.000 us in which devices worked ({100 * out / whole:.1f}%), ') else note)
    report = json.loads(run('tree', '--json', '--kind', 'python', '--allow-empty', path))
    judge('no launches', '' if 'outside_ns' not in report else str(report))


def waiting(folder):
    """Checks that work of autograd without a link to its forward pass belongs to the annotation in which another thread waits
    for it, if only one thread is within annotations; in layers and in a tree of annotations."""
    t = Training(random.Random(3), False, False)
    t.span(1, 'user_annotation', 'step', 90, 200)
    t.span(1, 'user_annotation', 'in', 100, 10)
    number, start = t.operator(1, ('step', 'in'))
    t.at = 140
    t.span(1, 'user_annotation', 'back', 138, 20)
    t.backward(number, start, ('step', 'back'))
    t.at = 170
    t.backward(number, start, ('step',))
    report, found = layers(write(f'{folder}/waiting.json', t.events))
    same('waiting', report, found, [w for path, v in t.want.items() if len(path) == 1 for w in v], t.want)
    report = json.loads(run('tree', '-q', '--json', '--kind', 'annotation', f'{folder}/waiting.json'))
    judge('waiting: annotations', '' if report['outside_ns'] == 0 and [r['device_ns'] for r in report['paths']] == [
        row['device_ns'] for row in found.values()] else str(report))
    t.span(4, 'user_annotation', 'validation', 130, 100)
    report, found = layers(write(f'{folder}/waiting.json', t.events))
    unknown = [w for path in (('step', 'back'), ('step',)) for w in t.want[path] if w not in t.want['step', 'in']]
    want = {('step',): t.want['step', 'in'], ('step', 'in'): t.want['step', 'in'], ('step', 'back'): [], ('validation',): [], (None,): sorted(set(unknown))}
    same('waiting: two threads', report, found, t.want['step',], want)


def crowded(folder):
    """Checks that many open spans do not multiply the time: without the limit, this takes 5 s."""
    span = lambda cat, name, tid, ts, dur: {'ph': 'X', 'cat': cat, 'name': name, 'pid': 1, 'tid': tid, 'ts': ts, 'dur': dur}  # noqa: E731
    events = [span('user_annotation', 'open', 100 + i, i, 10 ** 9) for i in range(50000)]
    events += [span('cpu_op', 'autograd::engine::evaluate_function: MmBackward0', 2, 0, 1)]
    events += [span('cuda_runtime', 'cudaLaunchKernel', 2, 100000 + 2 * i, 1) for i in range(50000)]
    before = os.times()
    run('tree', '-q', '--kind', 'annotation', '--top', '1', write(f'{folder}/crowded.json', events))
    used = os.times().children_user - before.children_user
    judge('crowded', '' if used < 3 or 'san' in TRACEKIT else f'{used} s')


def stepless(folder):
    """Checks that layers outside of all steps are left out with a note, and included if --step-name selects other steps."""
    span = lambda name, ts, dur: {'ph': 'X', 'cat': 'user_annotation', 'name': name, 'pid': 1, 'tid': 1, 'ts': ts, 'dur': dur}  # noqa: E731
    path = write(f'{folder}/stepless.json', [span('all', 0, 500), span('before', 10, 50), span('within', 20, 20), span('ProfilerStep#1', 100, 200),
                                             span('layer', 110, 20)])
    report, found = layers(path)
    judge('stepless: JSON', '' if report['spans_outside_steps'] == 3 and set(found) == {('layer',)} else str(report))
    note = run('tree', '--layers', path).splitlines()[-1]
    judge('stepless: note', '' if note.startswith('3 spans begin outside of all steps') else note)
    report, found = layers(path, '--step-name', 'all')
    judge('stepless: other steps', '' if 'spans_outside_steps' not in report and ('before', 'within') in found else str(report))


def begins(folder):
    """Checks that annotations that begin steps are layers, and that annotations that are steps are not."""
    events = [{'ph': 'M', 'name': 'process_labels', 'pid': 0, 'args': {'labels': 'GPU 0'}}]
    for step in range(4):
        at = 1000 * step
        events += [{'ph': 'X', 'cat': 'user_annotation', 'name': n, 'pid': 1, 'tid': 1, 'ts': at + ts, 'dur': 300} for n, ts in (('embed 7', 0), ('block', 400))]
        for i, ts in enumerate((10, 100, 410, 800)):
            link = {'correlation': 10 * step + i + 1}
            events += [{'ph': 'X', 'cat': 'cuda_runtime', 'name': 'cudaLaunchKernel', 'pid': 1, 'tid': 1, 'ts': at + ts, 'dur': 5, 'args': link},
                       {'ph': 'X', 'cat': 'kernel', 'name': 'k', 'pid': 0, 'tid': 7, 'ts': at + ts + 20, 'dur': 10 + i, 'args': {**link, 'stream': 7, 'device': 0}}]
    path = write(f'{folder}/begins.json', events)
    for pattern in ('every:embed*', 'every:/^embed/'):
        _, found = layers(path, '--step-name', pattern)
        got = {name: (row['per_call']['count'], row['per_call']['device_ns']) for name, row in found.items()}
        judge(f'{pattern}', '' if got == {('embed 7',): (1, 21000), ('block',): (1, 12000), (None,): (1, 13000)} else str(got))
    _, found = layers(path, '--step-name', 'embed*')
    judge('steps are no layers', '' if ('embed 7',) not in found else str(found))


def nothing(folder):
    run('tree', '--layers', write(f'{folder}/none.json', [{'ph': 'X', 'name': 'a', 'pid': 1, 'tid': 1, 'ts': 0, 'dur': 1}]), status=1)
    for option in (('--path', 'arg.tf_op'), ('--per', 'a'), ('--every', 'a'), ('--svg',)):
        run('tree', '--layers', *option, SMALL, status=2)
    table = run('tree', '--layers', f'{FIXTURES}/xplane/synth/gpu.trace.json.gz').splitlines()
    judge('the table', '' if table[0].split() == ['device', '%device', 'count', 'scopes'] and 'layer_3' in table[4] else str(table[:5]))


def tables(folder):
    """Checks that the table and the page of a report show the layers with the most device time and the layers that contain
    them."""
    events = named(3, '/device:TPU:0', t3='XLA Ops')
    for i in range(40):
        events.append({'ph': 'X', 'pid': 3, 'tid': 3, 'ts': 100 * i, 'dur': 10 + i, 'name': 'fusion', 'args': {'tf_op': f'jit(f)/net/layer_{i}/dot'}})
    path = write(f'{folder}/tables.json', events)
    table = run('report', path, '--top', '3').split('\nLayers: ')[1].split('\n\n')[0].splitlines()
    judge('the layers of the table', '' if [row.split()[-1] for row in table[2:-1]] == ['net', 'layer_39', 'layer_38'] else str(table))
    judge('the first row', '' if table[2].split() == ['1.180', 'ms', '100.0', '40', 'net'] else table[2])
    run('report', '-q', '--html', f'{folder}/page.html', path)
    with open(f'{folder}/page.html', encoding='utf-8') as f:
        page = f.read().split('<h2>Layers</h2>')[1].split('</section>')[0]
    judge('the layers of the page', '' if '· layer_39' in page and '· layer_11' in page and '· layer_10<' not in page else page)
    judge('a report without layers', '' if '\nLayers' not in run('report', '-q', SMALL) else 'has the table')


# ---- ranges that name modules ----

# Names that programs give to NVTX ranges of modules, and of layers that call none.
FORMS = {
    'PyTorch': lambda name, size: f'nn.Module: {name}',
    'TensorRT-LLM, vLLM, SGLang': lambda name, size: str({'Module': name, 'TrainableParams': {'weight': [size, 4]}, 'Inputs': [[size, 8]]}),
    'Lightning': lambda name, size: f'[pl][module]torch.nn.modules.linear.Linear: {name}',
    'Lightning by emit_nvtx': lambda name, size: f'[pl][module]torch.nn.modules.linear.Linear: {name}, op_id = {size}',
    'pyprof': lambda name, size: f'layer:{name}',
    'annotations': lambda name, size: f'Block({name})'}


def ranges(folder, form, trial):
    """NVTX ranges of an nsys report: modules are layers and have one row whatever their shapes; other ranges are layers if no range is a
    module."""
    rnd = random.Random(trial)
    path = f'{folder}/ranges{trial}.sqlite'
    r, at, free, number = Report(path), 1000, 0, 0
    work, want = [], {}

    def launch(layer):
        nonlocal at, free, number
        number += 1
        start = max(free, at + 5)
        free = start + rnd.randrange(5, 90)
        r.call(1, 1, at, at + 2, correlation=number)
        r.kernel(1, start, free, f'gemm_{number % 3}', correlation=number)
        at += 4
        work.append((start, free))
        for names in [layer[:n] for n in range(1, len(layer) + 1)] or [(None,)]:
            want.setdefault(names, []).append((start, free))

    def inside(text, then):
        nonlocal at
        begin, at = at, at + 1
        then()
        r.add('NVTX_EVENTS', start=begin, end=at, eventType=59, text=text, globalTid=process(1) + 1, domainId=0)
        at += 2

    def module(name, size, around, then):
        shown = FORMS[form](name, size).split(', op_id')[0]
        shown = shown if form in ('PyTorch', 'annotations') else name
        inside(FORMS[form](name, size), lambda: then((*around, shown)))

    outer = ('epoch',) if form == 'annotations' else ()
    for _ in range(5):
        launch(())
        inside('epoch', lambda: [launch(outer)] + [module(f'model.layers.{i}', rnd.randrange(9), outer, lambda layer, i=i: [
            launch(layer), module(f'model.layers.{i}.mlp', rnd.randrange(9), layer, launch), launch(layer)]) for i in range(3)])
    r.close()
    report, found = layers(path)
    got = {names: row['device_ns'] or 0 for names, row in found.items()}
    model = {names: covered(v) for names, v in want.items()}
    judge(f'ranges of {form}', '' if got == model else f'{got} is not {model}')
    judge(f'ranges of {form}: kind', '' if report['layers'] == ('annotations' if form == 'annotations' else 'modules') else report['layers'])
    in_report(f'ranges of {form}', path)
    if form == 'annotations':
        return
    by = {r['name']: r['total_ns'] for r in json.loads(run('top', '-q', '--json', '--kind', 'kernel', '--by', 'module', path))['rows']}
    own = {}
    for names in want:
        inner = [v for other, v in want.items() if other[:-1] == names]
        own[names[-1]] = own.get(names[-1], 0) + model[names] - sum(b - a for v in inner for a, b in v)
    judge(f'top --by module of {form}', '' if by == own else f'{by} is not {own}')


# ---- names of kernels ----

def names():
    short = {r['name']: r.get('short_name') for r in json.loads(run('top', '-q', '--json', '--kind', 'kernel', SMALL))['rows']}
    tree = {r['name']: r.get('short_name') for r in json.loads(run('tree', '-q', '--json', '--kind', 'kernel', SMALL))['paths']}
    judge('tree shortens as top', '' if tree == short else f'{tree} is not {short}')
    for runs in ((SMALL, SMALL), (SMALL, SMALL, SMALL)):
        rows = json.loads(run('diff', '-q', '--json', *runs))['rows']
        got = {r['name']: r.get('short_name') for r in rows}
        judge(f'diff of {len(runs)} shortens the same names', '' if {k for k, v in got.items() if v} == {k for k, v in short.items() if v} else str(got))
        judge('and keeps them apart', '' if len({v for v in got.values() if v}) == len([v for v in short.values() if v]) else str(got))
        text = run('diff', *runs, '--kind', 'kernel', '--top', '1000')
        judge('the table has short names', '' if 'nccl AllReduce Sum f32 RING LL' in text and 'ncclDevKernel' not in text else text)
        text = run('diff', *runs, '--kind', 'kernel', '--top', '1000', '--full-names')
        judge('or full ones', '' if 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(' in text else text)
    text = run('tree', SMALL, '--full-names', '--top', '1000')
    judge('tree with full names', '' if 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(' in text else text)
    text = run('tree', SMALL, '--fold', '--kind', 'kernel')
    judge('folded names are not shortened', '' if 'void at::native::' in text else text)


def main():
    with tempfile.TemporaryDirectory() as folder:
        ranks = []
        for trial in range(TRIALS):
            ranks.append(scopes(folder, trial))
            hosts(folder, trial, trial % 2 == 0)
            backward(folder, trial)
        for trial in range(0, TRIALS - 2, 3):
            in_report(f'ranks from {trial}', *ranks[trial:trial + 3])
            in_report(f'ranks with steps from {trial}', ranks[trial], ranks[trial + 2])
        for trial, form in enumerate(FORMS):
            ranges(folder, form, trial)
        tables(folder)
        ambiguous(folder)
        outside(folder)
        waiting(folder)
        crowded(folder)
        stepless(folder)
        begins(folder)
        nothing(folder)
    names()
    return finish()


if __name__ == '__main__':
    sys.exit(main())
