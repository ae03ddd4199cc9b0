#!/usr/bin/env python3
"""Checks `diff` against a model in Python, computed from the JSON of two generated runs: means over steps and ranks by name and
by path, new and removed rows, and the noise, paired and unpaired. Conditions set the exit status, as in `check`."""
import collections
import json
import math
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from schema import conforms  # noqa: E402
from verdict import finish, judge  # noqa: E402

TRACEKIT, SRC = os.environ['TRACEKIT'], os.environ['SRC']
FORWARD = '<forward at 0x*>'  # a row; the address differs in each rank and step
STUDENT = {3: 3.182, 4: 2.776, 5: 2.571, 7: 2.365, 9: 2.262}
with open(f'{SRC}/schemas/diff.schema.json', encoding='utf-8') as f:
    SCHEMA = json.load(f)


def run(*args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return p.returncode, p.stdout.decode(), p.stderr.decode()


def diff(*args):
    status, out, err = run('diff', '-q', '--json', *args)
    if status:
        raise RuntimeError(f'status {status}: {err[:300]}')
    report = json.loads(out)
    fault = conforms(SCHEMA, report)
    if fault:
        raise RuntimeError(f'schema: {fault}')
    return report


def make_run(rnd, folder, ranks, steps, slow, extra, first=0):
    """Writes a run: each step of each rank contains three spans `forward`, and each of these gemm and add; an op precedes the
    first step."""
    os.makedirs(folder, exist_ok=True)
    samples = []
    for rank in range(ranks):
        events, at = [], 0
        span = lambda name, ts, dur: events.append({'ph': 'X', 'name': name, 'pid': 1, 'tid': 1, 'ts': ts, 'dur': dur})  # noqa: E731
        span('setup', at, 7)
        at = 10
        for step in range(first, first + steps):
            begin, sums, paths = at, collections.Counter(), collections.Counter()
            counts = collections.Counter()
            for _ in range(3):
                gemm, add = 100 + rnd.randrange(0, 9) + slow, 40 + rnd.randrange(0, 5)
                other = extra if rnd.random() < 0.6 else None
                inner = gemm + add + (9 if other else 0)
                span(f'<forward at 0x7f{rank}{step}{slow}c0>', at, inner + 10)
                span('gemm', at + 1, gemm)
                span('add', at + 2 + gemm, add)
                if other:
                    span(other, at + 3 + gemm + add, 5)
                for name, dur in ((FORWARD, inner + 10), ('gemm', gemm), ('add', add), *(((other, 5),) if other else ())):
                    sums[name] += dur
                    counts[name] += 1
                    paths[f'ProfilerStep#* > {FORWARD}' + ('' if name == FORWARD else f' > {name}')] += dur
                at += inner + 20
            span(f'ProfilerStep#{step}', begin, at - begin)
            sums['ProfilerStep#*'] = paths['ProfilerStep#*'] = at - begin
            samples.append((rank, step, sums, paths, counts, at - begin))
            at += rnd.randrange(0, 9)
        with open(f'{folder}/rank{rank}.json', 'w', encoding='utf-8') as f:
            json.dump({'distributedInfo': {'rank': rank}, 'traceEvents': events}, f)
    return samples


def noise_of(a, b, paired):
    n, m = len(a), len(b)
    if n < 2 or m < 2:
        return None
    if paired:
        return STUDENT[n - 1] * statistics.stdev(y - x for x, y in zip(a, b)) / math.sqrt(n)
    p, q = statistics.variance(a) / n, statistics.variance(b) / m
    if p + q == 0:
        return 0
    freedom = (p + q) ** 2 / (p * p / (n - 1) + q * q / (m - 1))
    return (STUDENT[int(freedom)] if freedom <= 10 else None) and STUDENT[int(freedom)] * math.sqrt(p + q)


def near(a, b):
    return a is b or (a is not None and b is not None and math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-6))


def row_fault(name, row, before, after, paired, strict=True):
    want = {'before': statistics.mean(before) * 1000, 'after': statistics.mean(after) * 1000}
    for side, value in want.items():
        if not near(row[side]['total_ns'], value):
            return f'{name}: {side} is {row[side]["total_ns"]}, not {value}'
    if not near(row['delta_ns'], want['after'] - want['before']):
        return f'{name}: delta {row["delta_ns"]}'
    noise = noise_of(before, after, paired)
    if strict and noise is not None and not near(row['noise_ns'], noise * 1000):
        return f'{name}: noise is {row["noise_ns"]}, not {noise * 1000}'
    return ''


def compare(what, report, a, b, column, paired):
    fault = ''
    if bool(report['matched_by']) != paired:
        fault = f'matched by {report["matched_by"]}'
    rows = {r['name']: r for r in report['rows']}
    names = set().union(*(s[column] for s in a + b))
    if rows.keys() != names:
        fault = fault or f'rows: {rows.keys() ^ names}'
    for name in names if not fault else ():
        before, after = ([s[column][name] for s in side] for side in (a, b))
        fault = fault or row_fault(name, rows[name], before, after, paired)
        state = rows[name]['state']
        fault = fault or ('' if (state == 'new') == (sum(before) == 0) and (state == 'gone') == (sum(after) == 0) else f'{name} is {state}')
        if column == 2 and name in a[0][4]:
            count = statistics.mean(s[4][name] for s in a)
            fault = fault or ('' if near(rows[name]['before']['count'], count) else f'{name}: count {rows[name]["before"]["count"]}, not {count}')
    costs = [abs(r['delta_ns']) for r in report['rows']]
    fault = fault or ('' if costs == sorted(costs, reverse=True) else 'rows are not in order')
    fault = fault or row_fault('step', report['step'], [s[5] for s in a], [s[5] for s in b], paired)
    fault = fault or ('' if near(report['all']['before']['total_ns'], 1000 * statistics.mean(s[5] for s in a)) else f'all: {report["all"]}')
    judge(what, fault)


def length_of(folder):
    """Returns the length of the longest trace of a run in ns."""
    lengths = []
    for name in os.listdir(folder):
        with open(f'{folder}/{name}', encoding='utf-8') as f:
            events = json.load(f)['traceEvents']
        lengths.append(max(e['ts'] + e['dur'] for e in events) - min(e['ts'] for e in events))
    return max(lengths) * 1000


def heads(a, b):
    """Checks the table of both runs: their names, and the same figures as in a comparison of several runs (checked by diff_runs.py)."""
    report, several = diff(a, b), json.loads(run('diff', '-q', '--json', a, b, b)[1])['runs'][:2]
    mine = [report[side] for side in ('before', 'after')]
    judge('lengths of the runs', '' if [r['length_ns'] for r in mine] == [length_of(a), length_of(b)] else str(mine))
    for row in mine + several:
        row.pop('matched_by')
    judge('figures of the runs', '' if mine == several else f'{mine} are not {several}')
    text = run('diff', '-q', a, b)[1].split('\n\n')[0].splitlines()
    titles = text[0].split()
    judge('the table of runs', '' if len(text) == 3 and 'length' in titles and 'launches' not in titles else str(text))
    for line, row, side in zip(text[1:], mine, ('before', 'after')):
        judge(f'the table of runs: {side}', '' if line.split()[0] == str(row['inputs']) and f'{side}: ' in line else line)


def launching(path, rnd, steps, most):
    """Writes steps that launch kernels and allocate memory. Returns the launches of each step, the launches in no step, and the peak."""
    events, per_step, at, peak, correlation = [], [], 0, 0, 0

    def span(cat, name, dur, pid=1, tid=1, **args):
        events.append({'ph': 'X', 'cat': cat, 'name': name, 'pid': pid, 'tid': tid, 'ts': at, 'dur': dur, 'args': args})

    def launch():
        nonlocal correlation
        correlation += 1
        span('cuda_runtime', rnd.choice(('cudaLaunchKernel', 'cudaMemcpyAsync', 'hipMemsetAsync')), 1, correlation=correlation)
        span('kernel', 'gemm', 2, pid=0, tid=7, correlation=correlation, device=0, stream=7)

    outside = rnd.randrange(1, 4)
    for _ in range(outside):
        launch()
        at += 5
    for step in range(steps):
        begin = at
        per_step.append(rnd.randrange(1, 6))
        for _ in range(per_step[-1]):
            launch()
            at += 3
            span('cpu_op', 'aten::LaunchNothing', 1)
            span('cuda_runtime', rnd.choice(('cudaStreamSynchronize', 'cudaLaunchHostFunc')), 1)
            used = rnd.randrange(1, most)
            peak = max(peak, used)
            for device, amount in ((0, 10 * used), (1, used)):  # host memory is not memory of a device
                memory = {'Device Type': device, 'Device Id': device - 1, 'Total Allocated': amount, 'Bytes': 1, 'Addr': 1}
                events.append({'ph': 'i', 'cat': 'cpu_instant_event', 's': 't', 'name': '[memory]', 'pid': 1, 'tid': 1, 'ts': at, 'args': memory})
            at += 3
        span('user_annotation', f'ProfilerStep#{step}', 1)
        events[-1].update(ts=begin, dur=at - begin)
    with open(path, 'w', encoding='utf-8') as f:
        json.dump({'traceEvents': events}, f)
    return per_step, outside, peak


def unnamed(work, path):
    """Launches are what the launches of `report` count: by the work, whatever their names are. Without work, the names of calls decide."""
    with open(path, encoding='utf-8') as f:
        events = json.load(f)['traceEvents']
    calls = [e for e in events if e.get('cat') == 'cuda_runtime']
    named = [e for e in calls if re.search('LaunchKernel|Async', e['name'])]
    for e in named:
        e['name'] = 'EigenMetaKernel' if e['args']['correlation'] % 2 else 'launch'
    count = len(named)
    for what, kept, want in (('other names', events, count), ('no work', [e for e in events if e.get('cat') != 'kernel'], 0)):
        with open(f'{work}/unnamed.json', 'w', encoding='utf-8') as f:
            json.dump({'traceEvents': kept}, f)
        got = diff(f'{work}/unnamed.json', f'{work}/unnamed.json')['before']['launches']
        reported = sum(row['calls'] for row in json.loads(run('report', '-q', '--json', f'{work}/unnamed.json')[1])['launches'])
        judge(f'launches: {what}', '' if (got, reported) == (want, want) else f'{got}, {reported} in report, not {want}')


def launches(work):
    """Checks the comparison of launches (in total and per step) and of peak device memory, which does not depend on a
    selection."""
    rnd = random.Random(7)
    paths = [f'{work}/launches{i}.json' for i in range(2)]
    want = [launching(path, rnd, 4, 500 * (i + 1)) for i, path in enumerate(paths)]
    for options in ((), ('--kind', 'kernel'), ('--by', 'path'), ('--whole',)):
        report, several = diff(*paths, *options), json.loads(run('diff', '-q', '--json', *paths, paths[0], *options)[1])['runs']
        for row, (steps, outside, peak) in zip([report['before'], report['after'], *several], [*want, *want, want[0]]):
            mean = None if '--whole' in options else statistics.mean(steps)
            fault = [row[k] for k in ('launches', 'launches_per_step', 'peak_memory_bytes')] != [sum(steps) + outside, mean, peak]
            judge(f'launches and memory {options}', f'{row}, {steps}, {outside}, {peak}' if fault else '')
    unnamed(work, paths[0])
    head = run('diff', '-q', *paths)[1].splitlines()
    judge('launches in the table', '' if head[0].split()[-5:-1] == ['launches', 'launches/step', 'memory', 'allocated'] else head[0])
    judge('the first row', '' if re.split('  +', head[1].strip())[6:8] == [str(sum(want[0][0]) + want[0][1]), f'{statistics.mean(want[0][0]):.1f}'] else head[1])


def allocator(work):
    """Checks that the memory of a run is the peak that report prints, even if no row needs args: JAX's allocator states the
    memory in args of spans, each of which includes its own allocation."""
    path, bytes_in_use = f'{work}/allocator.json', (100, 700, 300)
    events = [{'ph': 'X', 'name': 'MemoryAllocation', 'pid': 1, 'tid': 1, 'ts': 10 * i, 'dur': 0,
               'args': {'allocator_name': 'GPU_0_bfc', 'bytes_allocated': n << 20, 'bytes_available': (800 - n) << 20, 'requested_bytes': 1 << 20,
                        'allocation_bytes': 1 << 20, 'peak_bytes_in_use': n << 20, 'addr': i + 1}} for i, n in enumerate(bytes_in_use)]
    with open(path, 'w', encoding='utf-8') as f:
        json.dump({'traceEvents': events}, f)
    peak = json.loads(run('report', '-q', '--json', path)[1])['memory'][0]['peak_allocated_bytes']
    judge('peak of report', '' if peak == 700 << 20 else str(peak))
    for options in ((), ('--whole',), ('--whole', '--kind', 'span')):
        for report in (diff(path, path, *options)['before'], json.loads(run('diff', '-q', '--json', *3 * [path], *options)[1])['runs'][0]):
            judge(f'memory of an allocator {options}', '' if report['peak_memory_bytes'] == peak else str(report))


def marks(work):
    """Checks that spans which only show that a profiler ran are the last rows, without self time, even if they changed most."""
    paths = [f'{work}/marks{i}.json' for i in range(2)]
    for i, path in enumerate(paths):
        events = [('PyTorch Profiler (0)', 'Trace', 0, 1000 + 500 * i), ('aten::mm', 'cpu_op', 10, 30 + i), ('aten::add', 'cpu_op', 50, 10)]
        with open(path, 'w', encoding='utf-8') as f:
            json.dump([{'ph': 'X', 'name': n, 'cat': cat, 'pid': 1, 'tid': 1, 'ts': ts, 'dur': dur} for n, cat, ts, dur in events], f)
    for options in ((), ('--by', 'path')):
        report, several = diff(*paths, *options), json.loads(run('diff', '-q', '--json', *paths, paths[1], *options)[1])
        for rows, all_of in ((report['rows'], report['all']['after']), (several['rows'], several['all']['runs'][1])):
            got = [(r['name'], r['is_mark']) for r in rows]
            judge(f'marks {options}', '' if got == [('aten::mm', False), ('aten::add', False), ('PyTorch Profiler (0)', True)] else str(got))
            judge(f'self time without marks {options}', '' if all_of['self_ns'] == 41000 else str(all_of))
    for runs in (paths, [*paths, paths[1]]):
        text = run('diff', *runs)[1]
        judge('the note about marks', '' if '\nspans of the profiler itself are listed last' in text else text)


def lines(work):
    """Checks that Python functions are matched by file and name if only their lines differ, unless a run has two functions with one
    name in a file, and that --fold drops all lines."""
    paths, at = [f'{work}/lines{i}.json' for i in range(3)], {'before': ('module.py(1743)', 'model.py:10', 'app.py:7'), 'after': ('module.py(1755)', 'model.py:12', 'app.py:19')}
    for path, (call, method, app) in zip(paths, (at['before'], at['after'], at['after'])):
        names = [(f'torch/nn/{call}: _call_impl', 0, 100), (f'${method} forward', 10, 30), ('aten::mm', 15, 10), (f'step ({app})', 50, 20),
                 (f'_find_and_load (<frozen importlib._bootstrap>:{len(app + call)})', 72, 4), (f'<frozen runpy>({call[-5:-1]}): _run_code', 78, 4),
                 ('torch/nn/two.py(5): forward', 110, 10), (f'torch/nn/two.py({6 + len(paths[0])}): forward', 130, 5)]
        if path != paths[0]:
            names[-1] = ('torch/nn/two.py(99): forward', 130, 5)
        with open(path, 'w', encoding='utf-8') as f:
            json.dump([{'ph': 'X', 'name': n, 'cat': 'python_function', 'pid': 1, 'tid': 1, 'ts': ts, 'dur': dur} for n, ts, dur in names], f)
    joined = ['torch/nn/module.py(*): _call_impl', '$model.py:* forward', 'step (app.py:*)', '_find_and_load (<frozen importlib._bootstrap>:*)', '<frozen runpy>(*): _run_code']
    for report, sides in ((diff(*paths[:2]), lambda r: (r['before'], r['after'])), (json.loads(run('diff', '-q', '--json', *paths)[1]), lambda r: r['runs'])):
        rows = {r['name']: [s['count'] for s in sides(r)] for r in report['rows']}
        judge('functions on other lines', '' if all(set(rows.get(n, [0])) == {1} for n in joined) else str(rows))
        judge('functions of two lines', '' if len([n for n in rows if 'two.py' in n]) == 3 else str(rows))
        judge('joined rows', '' if len(rows) == len(joined) + 4 else str(rows))
    tree = {r['name'] for r in diff(*paths[:2], '--by', 'path')['rows']}
    inner = ' > '.join([joined[0], joined[1], 'aten::mm'])
    judge('rows below joined rows', '' if inner in tree and not any('1743' in n for n in tree) else str(tree))
    folded = json.loads(run('top', '-q', '--json', '--fold', paths[0])[1])['rows']
    judge('--fold', '' if {r['name']: r['count'] for r in folded}.get('torch/nn/two.py(*): forward') == 2 else str(folded)[:300])


def compiled(path, hashes):
    """Writes a run of one region that calls compiled graphs. The nth graph has a kernel of its own and an operator with a kernel."""
    def x(name, cat, tid, ts, dur, **args):
        return {'ph': 'X', 'name': name, 'cat': cat, 'pid': int(tid < 7), 'tid': tid, 'ts': ts, 'dur': dur, 'args': args}
    events = [{'ph': 'M', 'name': 'process_labels', 'pid': 0, 'args': {'labels': 'GPU 0'}}]
    for i, h in enumerate(hashes):
        at, name = i * 1000, f'## Call CompiledFxGraph {h} ##'
        events += [x('Torch-Compiled Region: 0/0', 'cpu_op', 1, at, 500), x(name, 'user_annotation', 1, at + 10, 400),
                   x('cuLaunchKernel', 'cuda_driver', 1, at + 20, 2, correlation=2 * i + 1), x('aten::mm', 'cpu_op', 1, at + 40, 10),
                   x('cuLaunchKernel', 'cuda_driver', 1, at + 42, 2, correlation=2 * i + 2),
                   x(f'triton_poi_fused_{i}', 'kernel', 7, at + 120, 100 + i, correlation=2 * i + 1, stream=7),
                   x('gemm', 'kernel', 7, at + 260, 40 + i, correlation=2 * i + 2, stream=7)]
    with open(path, 'w', encoding='utf-8') as f:
        json.dump({'schemaVersion': 1, 'traceEvents': events}, f)
    return path


def graphs(work):
    """Checks that compiled graphs whose hashes differ are matched: the only one, in order if there are several, or as one row if the
    numbers differ. A hash that both runs have stays in its name."""
    a, b, c, d, e, f, g = ('f' + letter * 51 for letter in 'abcdefg')
    of = {k: compiled(f'{work}/graphs{k}.json', v) for k, v in {'a': [a], 'b': [b], 'ab': [a, b], 'cde': [c, d, e], 'cfg': [c, f, g], 'c': [c]}.items()}
    head = 'Torch-Compiled Region: 0/0'
    for one, other, counts in (('a', 'b', {'*': 1}), ('cde', 'cfg', {c: 1, '* (1)': 1, '* (2)': 1}), ('cde', 'ab', {'*': (3, 2)})):
        rows = {r['name']: (r['before']['count'], r['after']['count'], r['state']) for r in diff('--match', 'tree', of[one], of[other])['rows']}
        for h, n in counts.items():
            n, star = n if isinstance(n, tuple) else (n, n), h.split(' ')
            name = ' '.join(['## Call CompiledFxGraph', star[0], '##', *star[1:]])
            for row in (name, f'{head} > {name} > kernel 1', f'{head} > {name} > aten::mm > kernel 1'):
                judge(f'graphs {one} {other}: {row}', '' if rows.get(row, ())[:2] == n else str(rows))
        judge(f'graphs {one} {other}: matched', '' if all(v[2] not in ('gone', 'new') for v in rows.values()) else str(rows))
        paths = {r['name']: r['state'] for r in diff('--by', 'path', of[one], of[other])['rows'] if r['name'].startswith(head)}
        judge(f'graphs {one} {other}: paths', '' if not {'gone', 'new'} & set(paths.values()) else str(paths))
    rows = {r['name']: r['state'] for r in diff(of['cde'], of['c'])['rows'] if 'Call' in r['name']}
    right = {f'## Call CompiledFxGraph {h} ##': 'gone' if h != c else 'unknown' for h in (c, d, e)}
    judge('graphs: no other graph to compare', '' if rows == right else str(rows))
    folded = {r['name']: r['count'] for r in json.loads(run('top', '-q', '--json', '--fold', of['cde'])[1])['rows']}
    judge('graphs: --fold', '' if folded.get('## Call CompiledFxGraph * ##') == 3 and folded.get(head) == 3 else str(folded))


def ranks_of_a_node(work):
    """Checks that the ranks in a file of one node are counted as `report` counts them, in comparisons of two and of several runs."""
    node = f'{os.environ["FIXTURES"]}/nsys/two-processes.sqlite'
    want = len(json.loads(run('report', '-q', '--json', node)[1])['ranks'])
    os.makedirs(f'{work}/over')
    for name in ('1', '2'):
        os.symlink(node, f'{work}/over/{name}.sqlite')
    found = [diff(node, node)[side]['ranks'] for side in ('before', 'after')]
    for args in ((node, node, node), ('-k', '--over', f'{work}/over')):
        found += [r['ranks'] for r in json.loads(run('diff', '-q', '--json', *args)[1])['runs']]
    judge('ranks of a node', '' if want == 2 and set(found) == {want} else f'{found}, not {want}')


def numbered_steps(work):
    """Checks that a run equals its conversion to JSON: JAX names all steps "train", in JSON they are "train 0" and so on, and
    both forms must give one row."""
    own, other = f'{os.environ["FIXTURES"]}/xplane/mlp_train/vm.xplane.pb', f'{work}/numbered.json'
    run('extract', '-q', own, '-o', other)
    rows = diff(own, other, '--top', '10000')['rows']
    changed = [r['name'] for r in rows if r['delta_ns'] or r['before']['count'] != r['after']['count']]
    steps = [r['name'] for r in rows if r['name'] and r['name'].startswith('train') and r['name'] != 'train_step']
    judge('numbered steps', '' if steps == ['train'] and not changed else f'{steps}, {changed}')


def status(what, want, *args):
    got, _, err = run(*args)
    judge(f'{what}: {" ".join(args[-2:])}', '' if got == want else f'status {got}, not {want}: {err.strip()[:200]}')


def conditions(a, b, lone):
    for expr, want in (('total > 5%', 1), ('total > 500%', 0), ('total(gemm) > 1.5x', 1), ('total(gemm) < 1.5x', 0), ('total(add) > 50%', 0),
                       ('mean(step) > 1us', 1), ('mean(step) > 1s', 0), ('count(gemm) > 1.1x', 0), ('count(gemm) != 3', 0), ('mean(gemm) > 150us', 1),
                       ('self(gemm) > 1h', 0), ('p95(step) >= 1.0x', 1), ('total(none) > 5%', 3), ('gpu_busy < 80%', 3), ('events > 5', 1),
                       ('total(*) > 10%', 1), ('gemm > 5%', 2), ('total(gemm) > 5', 2), ('p95(gemm) > 1ms', 2), ('total(gemm', 2), ('total >', 2),
                       ('nofunc(gemm) > 1ms', 2), ('total(new) > 1%', 1)):
        status('diff', want, 'diff', '-q', a, b, '--top', '1', '--fail-if', expr)
    status('a change within the noise', 0, 'diff', '-q', a, a, '--fail-if', 'total >= 0%')
    status('steps are not known', 3, 'diff', '-q', lone, lone, '--fail-if', 'mean(step) > 1s')
    rank = f'{a}/rank0.json'
    for expr, want in (('count(gemm) == 15', 0), ('count(gemm) != 15', 1), ('count(nothing) == 0', 0), ('mean(nothing) < 1s', 3), ('p95(step) < 1s', 0),
                       ('p95(step) < 1us', 1), ('gpu_busy > 80%', 3), ('idle < 1s', 3), ('host_ops == 0', 0), ('busy', 2), ('bsy > 3', 2),
                       ('max(gem*) < 109.5us', 0), ('max(gemm) < 99us', 1), ('min("gemm") >= 100us', 0), ('percent_of_range(ProfilerStep#*) > 50%', 0),
                       ('deviation(step) < 1ms', 0), ('outliers(step) <= 5', 0), ('self(step) < 1s', 2), ('events > 40', 0), ('length > 5%', 2)):
        status('check', want, 'check', '-q', rank, '--assert', expr)
    status('of several the worst', 3, 'check', '-q', rank, '--assert', 'mean(nothing) < 1s', '--assert', 'count(gemm) != 15')
    got, out, _ = run('check', rank, '--assert', 'count(gemm) != 15', '--assert', 'count(add) == 15', '--assert', 'min(x<y) < 1s', '--annotations', 'junit')
    suite = xml.etree.ElementTree.fromstring(out)
    cases = [(c.get('name'), [child.tag for child in c]) for c in suite]
    want = [('needs no repair', []), ('count(gemm) != 15', ['failure']), ('count(add) == 15', []), ('min(x<y) < 1s', ['error'])]
    judge('junit', '' if cases == want and suite.get('failures') == '1' and got == 3 else f'{got}: {out}')
    _, out, _ = run('check', '-q', rank, '--assert', 'count(gemm) != 15', '--annotations', 'github')
    judge('github', '' if out.startswith('::error title=tracekit check,file=') and out.count('\n') == 1 else out)


def main():
    with tempfile.TemporaryDirectory() as work:
        rnd = random.Random(int(os.environ.get('SEED', '1')))
        a, b, c = f'{work}/a', f'{work}/b', f'{work}/c'
        before, after = make_run(rnd, a, 2, 5, 0, 'old'), make_run(rnd, b, 2, 5, 70, 'new')
        other = make_run(rnd, c, 2, 4, 3, 'old', first=20)
        try:
            compare('names', diff(a, b), before, after, 2, True)
            compare('paths', diff(a, b, '--by', 'path'), before, after, 3, True)
            compare('steps that cannot be paired', diff(a, c), before, other, 2, False)
            for side, ranks in (('a', a), ('b', b)):
                run('merge', '-q', f'{ranks}/rank0.json', f'{ranks}/rank1.json', '-o', f'{work}/{side}.json')
            compare('ranks in one file', diff(f'{work}/a.json', f'{work}/b.json'), before, after, 2, True)
            listed = diff('--before', f'{a}/rank0.json', '--before', f'{a}/rank1.json', '--after', b)
            folders = diff(a, b)
            for side in ('before', 'after'):
                listed[side].pop('name'), folders[side].pop('name')
            judge('--before and --after', '' if listed == folders else 'are not the folder')
            heads(a, b)
            launches(work)
            allocator(work)
            marks(work)
            lines(work)
            graphs(work)
            ranks_of_a_node(work)
            numbered_steps(work)
            shifted = make_run(random.Random(5), f'{work}/d', 1, 4, 0, None, first=7)
            report = diff(f'{work}/d', f'{a}/rank0.json', '--name', 'gemm')
            judge('selection', '' if [r['name'] for r in report['rows']] == ['gemm'] and shifted else str(report['rows'])[:200])
            whole = diff(a, b, '--whole')
            total = statistics.mean(sum(s[2]['gemm'] for s in before if s[0] == r) for r in range(2)) * 1000
            gemm = next(r for r in whole['rows'] if r['name'] == 'gemm')
            judge('--whole', '' if whole['of'] == 'rank' and near(gemm['before']['total_ns'], total) else str(gemm))
            judge('what begins in no step', '' if diff(a, b)['before']['events_outside'] == 2 else 'is not told')
            with open(f'{work}/lone.json', 'w', encoding='utf-8') as f:
                json.dump([{'ph': 'X', 'name': 'x', 'pid': 1, 'tid': 1, 'ts': 1, 'dur': 2}, {'ph': 'B', 'name': 'y', 'pid': 1, 'tid': 1, 'ts': 1.5}], f)
            lone = diff(f'{work}/lone.json', f'{work}/lone.json')
            y = next(r for r in lone['rows'] if r['name'] == 'y')
            judge('what never ends has no time', '' if y['before']['total_ns'] == 0 and lone['all']['before']['total_ns'] == 2000 else str(lone['rows']))
            csv = run('diff', '-q', '--csv', a, b)[1].splitlines()
            judge('CSV', '' if len(csv) == diff(a, b)['rows_in_all'] + 1 else f'{len(csv)} lines')
        except (RuntimeError, ValueError, KeyError, StopIteration) as e:
            judge('diff', f'{type(e).__name__}: {e}')
        conditions(a, b, f'{work}/lone.json')


main()
sys.exit(finish())
