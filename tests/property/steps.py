#!/usr/bin/env python3
"""Checks that info, report, top and diff agree on the length of a step, on all fixtures whose traces mark steps, and that all commands
agree on the step of an event if devices have steps of their own.

docs/analysis.md defines the length. info shows the rank with the most steps, diff the mean over all ranks, and top the spans of
each track, one of which contains the steps."""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from dumped import covered  # noqa: E402
from verdict import finish, judge  # noqa: E402

TRACEKIT, FIXTURES = os.environ['TRACEKIT'], os.environ['FIXTURES']
ENDINGS = ('.json', '.json.gz', '.xplane.pb', '.pftrace', '.pftrace.gz', '.sqlite')


def run(*args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        return json.loads(p.stdout)
    except ValueError:
        return None


def text(*args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return p.stdout.decode()


def near(a, b):
    return abs(a - b) <= 0.01


def fault(path, ranks, whole=True):
    """Returns the first command that disagrees with report on the step durations, or ''. `ranks`: step durations of each row of
    report that has steps; `whole`: no rank lacks steps, so that diff compares steps."""
    most = max(ranks, key=lambda s: s['count'])
    shown = run('info', '-q', '--json', path)['traces'][0]['step']
    if any(shown[k] != most[k] for k in ('count', 'mean_ns', 'min_ns', 'max_ns')):
        return f'info: {shown}, report: {most}'
    rows = run('top', '-q', '--json', '--kind', 'step', '--by', 'track', path)['rows']
    if not any(r['count'] == most['count'] and near(r['total_ns'] / r['count'], most['mean_ns']) for r in rows):
        return f'top: no track with {most}'
    if len(ranks) > 1 or not whole:
        return ''
    before = run('diff', '-q', '--json', path, path)['step']['before']
    return '' if near(before['total_ns'], most['mean_ns']) and before['events'] == most['count'] else f'diff: {before}, report: {most}'


def drawn(folder):
    """Checks that the length of a step does not include copies of the step on a device, or work beyond its end."""
    span = lambda name, cat, pid, tid, ts, dur, **args: {'ph': 'X', 'name': name, 'cat': cat, 'pid': pid, 'tid': tid, 'ts': ts, 'dur': dur,  # noqa: E731
                                                         'args': args}
    events = [span(f'ProfilerStep#{i}', 'user_annotation', 9, 1, 100 * i, 90 + i) for i in range(4)]
    events += [span(f'ProfilerStep#{i}', 'gpu_user_annotation', 0, 7, 100 * i + 20, 110) for i in range(4)]
    events += [span('cudaLaunchKernel', 'cuda_runtime', 9, 1, 100 * i + 80, 5, correlation=i + 1) for i in range(4)]
    events += [span('k', 'kernel', 0, 7, 100 * i + 85, 40, correlation=i + 1, stream=7) for i in range(4)]
    path = os.path.join(folder, 'steps.json')
    with open(path, 'w', encoding='utf-8') as f:
        json.dump({'traceEvents': events}, f)
    ranks = [r['step'] for r in run('report', '-q', '--json', path)['ranks'] if r['step']]
    judge('steps of 91.5 us', '' if [r['mean_ns'] for r in ranks] == [91500] else f'{ranks}')
    judge('steps of two threads', fault(path, ranks))


def collections(folder):
    """Checks the garbage collections of each step against a model: the number that start in the step, and how long at least one
    ran during the step, on any thread. A collection within another one of its thread is a part of that one."""
    for seed in range(20):
        rnd = random.Random(seed)
        events, collected, at, steps = [], [], 0, []
        for number in range(rnd.randrange(1, 6)):
            dur = rnd.randrange(50, 200)
            steps.append((number, at, at + dur))
            events.append({'name': f'ProfilerStep#{number}', 'cat': 'user_annotation', 'tid': 1, 'ts': at, 'dur': dur})
            at += dur + rnd.choice((0, 30))
        for tid in (2, 3, 4):
            begin = rnd.randrange(20)
            while begin < at + 20:
                dur = rnd.randrange(1, 120)
                collected.append((begin, begin + dur))
                events.append({'name': 'gc.collect', 'cat': 'python_function', 'tid': tid, 'ts': begin, 'dur': dur})
                if dur > 4:
                    events.append({'name': 'Python GC', 'cat': 'python_function', 'tid': tid, 'ts': begin + 1, 'dur': dur - 3})
                begin += dur + rnd.randrange(200)
        path = os.path.join(folder, 'collections.json')
        with open(path, 'w', encoding='utf-8') as f:
            json.dump({'traceEvents': [{'ph': 'X', 'pid': 1, **e} for e in events]}, f)
        row = run('report', '-q', '--json', path)['ranks'][0]
        want = [(n, sum(a <= s < b for s, _ in collected), 1000 * covered([(max(a, s), min(b, e)) for s, e in collected if s < b and e > a])) for n, a, b in steps]
        got = [(s['number'], s['garbage_collections'], s['garbage_collection_ns']) for s in row['steps']]
        judge(f'collections of the steps, {seed}', '' if got == want else f'{got} is not {want}')
        judge(f'all collections, {seed}', '' if (row['garbage_collections'], row['garbage_collection_ns']) == (len(collected), 1000 * covered(collected)) else str(row)[:300])
        table = subprocess.run([TRACEKIT, 'report', path], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, check=True).stdout.decode()
        line = table.split('\nSteps: duration and % busy, and % in garbage collections')[1].splitlines()
        share = 100 * sum(ns for _, _, ns in want) / sum(1000 * (b - a) for _, a, b in steps)
        at = re.split('  +', line[1].strip()).index('GC')
        judge(f'share in the table, {seed}', '' if re.split('  +', line[2].strip())[at] == f'{share:.1f}' else f'{line[2]}, not {share}')
    plain = run('report', '-q', '--json', os.path.join(FIXTURES, 'json/torch/ddp2_plain/rank0.json.gz'))['ranks'][0]
    judge('steps without collections', '' if 'garbage_collections' not in plain['steps'][0] else str(plain['steps'][0]))


def launched_late(folder):
    """Checks that all commands give work to the step that launched it, for devices that run behind their hosts by up to three steps:
    against a model of launches. The copies of the steps on the stream are wrong on purpose, as roctracer writes them."""
    for seed in range(20):
        rnd = random.Random(seed)
        events, works, at = [], [], 0
        device = rnd.randrange(50, 400)
        for i in range(rnd.randrange(1, 4)):  # launched before the recording began: without launches
            works.append((None, device, 5))
            device += 7
        for number in range(3, rnd.randrange(5, 8)):
            events.append(('user_annotation', f'ProfilerStep#{number}', 9, 1, at, 100, {}))
            events.append(('user_annotation', 'forward', 9, 1, at + 1, 98, {}))
            events.append(('gpu_user_annotation', f'ProfilerStep#{number}', 0, 7, device, 3, {}))
            for i in range(rnd.randrange(1, 6)):
                link, begin = len(events), at + 10 + 15 * i
                device = max(device, begin)
                dur = rnd.randrange(1, 60)
                events.append(('cuda_runtime', 'cudaLaunchKernel', 9, 1, begin, 5, {'correlation': link}))
                events.append(('kernel', f'kernel_{rnd.randrange(3)}', 0, 7, device, dur, {'correlation': link, 'stream': 7}))
                works.append((number, device, dur))
                device += dur + rnd.randrange(3)
            at += 100 + rnd.choice((0, 20))
        events += [('kernel', 'early', 0, 7, begin, dur, {'stream': 7}) for step, begin, dur in works if step is None]
        path = os.path.join(folder, 'lagging.json')
        with open(path, 'w', encoding='utf-8') as f:
            json.dump({'traceEvents': [{'ph': 'X', 'cat': c, 'name': n, 'pid': p, 'tid': t, 'ts': ts, 'dur': dur, 'args': a}
                                       for c, n, p, t, ts, dur, a in events]}, f)
        steps = sorted({s for s, _, _ in works if s is not None})
        want = {str(s): sum(1 for w in works if w[0] == s) for s in steps} | {'': sum(1 for w in works if w[0] is None)}
        got = {r['name'] or '': r['count'] for r in run('top', '-q', '--json', '--kind', 'kernel', '--by', 'step', path)['rows']}
        judge(f'top --by step, {seed}', '' if got == want else f'{got} is not {want}')
        for s in steps:
            kept = run('top', '-q', '--json', '--kind', 'kernel', '-e', f'step == {s}', path)
            judge(f'step == {s}, {seed}', '' if kept and kept['events'] == want[str(s)] else f'{kept} is not {want[str(s)]}')
        starts = [e[4] for e in events if e[1] == 'cudaLaunchKernel']
        lag = (sum(begin for s, begin, _ in works if s is not None) - sum(starts)) / len(starts) / 100
        said = [t for t in run('report', '-q', '--json', path)['unknown'] if t.startswith('work ran')]
        judge(f'sentence about the lag, {seed}', '' if (f'work ran {lag:.1f} steps' in said[0] if said else lag < .5) else f'{said}, not {lag}')
        tree = run('tree', '-q', '--json', '--layers', path)
        layers = {n['name']: n['launched'] for n in tree['paths']}
        count = sum(1 for s, _, _ in works if s is not None)
        judge(f'layers, {seed}', '' if layers == {'forward': count} else f'{layers} is not {count}')
        linked = sum(dur for s, _, dur in works if s is not None)
        both = run('diff', '-q', '--json', '--kind', 'kernel', path, path)
        all_of = both['all']['before']
        judge(f'diff, {seed}', '' if near(all_of['total_ns'], 1000 * linked / len(steps)) else f'{all_of} is not {linked} us in {len(steps)} steps')
        rows = text('sql', '-q', '--csv', path, "SELECT step, count(*) FROM event WHERE kinds LIKE '%kernel%' GROUP BY step").split()
        got = dict(r.split(',') for r in rows[1:])
        judge(f'sql, {seed}', '' if got == {k: str(n) for k, n in want.items()} else f'{got} is not {want}')


def named(folder):
    """Checks that diff, check and top name the spans that mark steps unless they are PyTorch's, and that diff says how much it leaves
    out: against sums over the input."""
    for mark, shown in (('train_step {}', "'train_step'"), ('ProfilerStep#{}', '')):
        path = os.path.join(folder, 'named.json')
        events = [('sample', 0, 400), ('prefill', 10, 90)] + [(mark.format(i), 100 + 50 * i, 40) for i in range(3)] + [('eval', 300, 25)]
        with open(path, 'w', encoding='utf-8') as f:
            json.dump([{'ph': 'X', 'pid': 1, 'tid': 1, 'name': n, 'cat': 'user_annotation', 'ts': ts, 'dur': dur} for n, ts, dur in events], f)
        left, alone = [e for e in events if e[0] in ('sample', 'prefill', 'eval')], 400 - 3 * 40
        both = run('diff', '-q', '--json', path, path)['before']
        judge(f'left out: {mark}', '' if (both['events_outside'], both['outside_ns']) == (len(left), 1000 * alone) else str(both))
        judge(f'name of steps: {mark}', '' if both['step_name'] == mark.format('*').replace(' *', '') else str(both))
        notes = f'outside of all steps and left out: before 3 events ({alone}.000 us), after 3 events ({alone}.000 us); --whole includes them'
        for said, what in ((text('diff', path, path), 'diff'), (text('top', path, '--by', 'step'), 'top'), (text('check', path, '--assert', 'mean(step) < 1s'), 'check')):
            judge(f'{what} names the steps: {mark}', '' if (shown and f'marked by {shown}' in said) or (not shown and 'marked by' not in said) else said)
            judge(f'{what} says what is left out: {mark}', '' if what != 'diff' or notes in said else said)
        judge(f'--whole leaves out nothing: {mark}', '' if 'left out' not in text('diff', '--whole', path, path) else 'left out')


class Late:
    """A trace of a host and the two streams of a device, each of which runs behind the host by a random time. Work is (launch, start,
    duration, stream), with the start of the launch in microseconds; None: not recorded. Each copy of a step on stream 7 lasts from the
    first to the last work of the step there."""

    def __init__(self, seed):
        self.rnd, self.events, self.steps, self.works, self.links, self.at = random.Random(seed), [], {}, [], 0, 0
        self.free = {stream: self.rnd.randrange(50, 400) for stream in (7, 8)}
        for stream in (7, 8):
            for _ in range(self.rnd.randrange(3)):
                self.work(None, stream)
        for number in range(3, self.rnd.randrange(5, 8)):
            self.step(number)
            self.at += 100 + self.rnd.choice((0, 20))
        self.free[7] = max(self.free.values()) + 40
        self.work(None, 7)  # without a launch, behind all other work: by the time at which it runs

    def add(self, cat, name, pid, tid, ts, dur, **args):
        self.events.append({'ph': 'X', 'cat': cat, 'name': name, 'pid': pid, 'tid': tid, 'ts': ts, 'dur': dur, 'args': args})

    def step(self, number):
        self.add('user_annotation', f'ProfilerStep#{number}', 9, 1, self.at, 100)
        self.steps[number] = (self.at, self.at + 100)
        mine = [self.work(self.at + 10 + 15 * i, self.rnd.choice((7, 8)) if i else 7) for i in range(self.rnd.randrange(1, 6))]
        mine = [work for work in mine if work[3] == 7]
        begin, end = mine[0][1], mine[-1][1] + mine[-1][2]
        self.add('gpu_user_annotation', f'ProfilerStep#{number}', 0, 7, begin, end - begin)

    def work(self, launch, stream):
        self.links += 1
        link = {} if launch is None else {'correlation': self.links}
        self.free[stream] = max(self.free[stream], launch or 0)
        start, dur = self.free[stream], self.rnd.randrange(1, 60)
        if launch is not None:
            self.add('cuda_runtime', 'cudaLaunchKernel', 9, 1, launch, 5, **link)
            for ph, pid, tid, ts in (('s', 9, 1, launch), ('f', 0, stream, start)):
                self.events.append({'ph': ph, 'cat': 'ac2g', 'name': 'ac2g', 'id': self.links, 'pid': pid, 'tid': tid, 'ts': ts, 'bp': 'e'})
        self.add('kernel', 'kernel', 0, stream, start, dur, stream=stream, **link)
        self.free[stream] += dur + self.rnd.randrange(1, 4)
        self.works.append((launch, start, dur, stream))
        return self.works[-1]

    def write(self, path):
        with open(path, 'w', encoding='utf-8') as f:
            json.dump({'traceEvents': self.events}, f)

    def kept(self, first, last):
        """Returns start and duration of the work of the steps. Work whose launch is known is not clipped."""
        begin, end = self.steps[first][0], self.steps[last][1]
        linked = [(stream, start) for launch, start, _, stream in self.works if launch is not None]
        first_of = lambda stream: min([at for of, at in linked if of == stream] or [at for _, at in linked])  # noqa: E731
        kept = [(start, dur) for launch, start, dur, _ in self.works if launch is not None and begin <= launch < end]
        alone = [(start, start + dur) for launch, start, dur, stream in self.works if launch is None and start >= first_of(stream)]
        return sorted(kept + [(max(a, begin), min(b, end) - max(a, begin)) for a, b in alone if a < end and b > begin])


def spans(path, cat):
    with open(path, encoding='utf-8') as f:
        return [e for e in json.load(f)['traceEvents'] if e.get('cat') == cat]


def cut_late(folder):
    """Checks that commands that cut by steps keep the work that the steps launched, whenever it runs, and that the parts of a split
    contain each work whose launch is in a step once."""
    for seed in range(20):
        late, path, out = Late(seed), os.path.join(folder, 'late.json'), os.path.join(folder, 'cut.json')
        late.write(path)
        same = lambda what, got, want: judge(f'{what}, {seed}', '' if got == want else f'{got} is not {want}')  # noqa: E731,B023
        for first, last in ((3, 3), (4, 4), (3, 4)):
            text('filter', '-q', '--force', path, '--step', f'{first}..{last}', '-o', out)
            want, numbers = late.kept(first, last), list(range(first, last + 1))
            same('work of steps', sorted((e['ts'], e['dur']) for e in spans(out, 'kernel')), want)
            for cat in ('user_annotation', 'gpu_user_annotation'):
                same(f'steps by {cat}', sorted(e['name'] for e in spans(out, cat)), [f'ProfilerStep#{n}' for n in numbers])
            same('flows', len(spans(out, 'ac2g')), 2 * len(spans(out, 'cuda_runtime')))
            total = 1000 * sum(dur for _, dur in want)
            rows = run('top', '-q', '--json', '--kind', 'kernel', '--step', f'{first}..{last}', path)['rows']
            same('top', [(r['count'], r['total_ns'], r['self_ns']) for r in rows], [(len(want), total, total)])
            both = run('diff', '-q', '--json', '--whole', '--kind', 'kernel', '--step', f'{first}..{last}', path, path)
            same('diff', both['all']['before']['total_ns'], total)
            linked = sum(1 for launch, _, _, _ in late.works if launch is not None and late.steps[first][0] <= launch < late.steps[last][1])
            same('tree', sum(r['launched'] for r in run('tree', '-q', '--json', '--step', f'{first}..{last}', path)['paths']
                             if r['name'].startswith('ProfilerStep')), linked)
        text('split', '-q', '--force', path, '--by', 'step', '-o', os.path.join(folder, 'late_{}.json'))
        parts = [sorted((e['ts'], e['dur']) for e in spans(os.path.join(folder, f'late_{n}.json'), 'kernel') if 'correlation' in e['args'])
                 for n in late.steps]
        same('parts', sorted(sum(parts, [])), sorted((start, dur) for launch, start, dur, _ in late.works if launch is not None))


class Devices:
    """A trace of a host and three devices: two mark steps, each with its own times and numbers, one marks none."""

    def __init__(self, seed):
        self.rnd, self.events, self.steps, self.work = random.Random(seed), [], {}, []
        self.process(701, '/host:CPU', {9: 'main'})
        for pid in (3, 4, 5):
            self.process(pid, f'/device:GPU:{pid - 3}', {1: 'Steps', 3: 'Stream #3(Kernel)'})
        self.device(3, 0, 1)
        self.device(4, 5000, 2)
        for pid, tid in ((701, 9), (5, 3)):
            for at in range(0, 10000, 50):
                self.span(pid, tid, 'work', at, 10)

    def process(self, pid, name, threads):
        self.events.append({'ph': 'M', 'name': 'process_name', 'pid': pid, 'args': {'name': name}})
        self.events += [{'ph': 'M', 'name': 'thread_name', 'pid': pid, 'tid': tid, 'args': {'name': line}} for tid, line in threads.items()]

    def span(self, pid, tid, name, ts, dur):
        self.events.append({'ph': 'X', 'pid': pid, 'tid': tid, 'ts': ts, 'dur': dur, 'name': name, 'args': {'tf_op': f'Model{pid}/add'} if tid == 3 else {}})
        self.work.append((pid, ts, tid == 3))

    def device(self, pid, at, first):
        for number in range(first, first + 3):
            begin, at = at, at + self.rnd.randrange(200, 900)
            self.steps.setdefault(pid, []).append((number, begin, at))
            self.span(pid, 1, str(number), begin, at - begin)
            for ts in range(begin, at + 100, 20):
                self.span(pid, 3, 'kernel', ts, 10)
            at += 120

    def number(self, pid, ts):
        """Returns the number of the step that applies: of the device itself, or of any device for the host and the device without steps."""
        applied = [self.steps[pid]] if pid in self.steps else self.steps.values()
        return next((str(n) for steps in applied for n, start, end in steps if start <= ts < end), None)


def lines(folder, seed):
    """Checks that every command divides each device by its own steps."""
    d, path = Devices(seed), os.path.join(folder, f'devices_{seed}.json')
    with open(path, 'w', encoding='utf-8') as f:
        json.dump({'traceEvents': d.events}, f)
    where = [d.number(pid, ts) for pid, ts, _ in d.work]
    same = lambda what, got, want: judge(f'{what}, {seed}', '' if got == want else f'{got} is not {want}')  # noqa: E731
    work = [d.number(pid, ts) for pid, ts, on_stream in d.work if on_stream or pid not in d.steps]  # without the lines of steps themselves
    same('top', {r['name']: r['count'] for r in run('top', '-q', '--json', '--by', 'step', path)['rows']}, {n: work.count(n) for n in work})
    same('filter', run('top', '-q', '--json', '-e', 'step == 3', path)['events'], work.count('3'))
    sql = text('sql', '-q', path, '-e', 'SELECT count(*) FROM event WHERE step = 3')
    same('sql', sql.split()[-1], str(where.count('3')))
    own = {pid: [1000 * (end - start) for _, start, end in steps] for pid, steps in d.steps.items()}
    rows = run('report', '-q', '--json', path)['ranks']
    same('report', {r['device']: round(r['step']['mean_ns'] * 3) for r in rows if r['step']}, {f'GPU:{pid - 3}': sum(v) for pid, v in own.items()})
    marks = [(n, 1000 * (end - start)) for steps in d.steps.values() for n, start, end in steps]
    means = [sum(v) / len(v) for v in ([dur for m, dur in marks if m == n] for n in range(1, 5))]
    diff = run('diff', '-q', '--json', path, path)
    same('diff', (round(diff['step']['before']['total_ns']), diff['before']['samples']), (round(sum(means) / 4), 4))
    same('diff: outside', diff['before']['events_outside'], where.count(None))
    tree = run('tree', '-q', '--json', '--layers', '--levels', '1', path)
    layer = [f'Model{pid}' for (pid, _, scoped), n in zip(d.work, where) if scoped and n is not None]
    same('layers', ({p['name']: p['count'] for p in tree['paths']}, tree['calls']), ({name: layer.count(name) for name in layer}, 4))
    worst(path, own)


def worst(path, own):
    """Checks that an assertion about steps shows the worst device."""
    for function, of in (('mean', lambda v: sum(v) / 3000), ('max', lambda v: max(v) / 1000), ('min', lambda v: min(v) / 1000)):
        for op, pick in (('<', max), ('>', min)):
            pid = pick(own, key=lambda pid: of(own[pid]))
            for away, result in ((1, op == '<'), (-1, op == '>')):
                limit = f'{function}(step) {op} {of(own[pid]) + away:.3f}us'
                said = text('check', path, '--assert', limit)
                judge(limit, '' if said.split()[0] == ('holds' if result else 'fails') and f' of GPU:{pid - 3}\n' in said else said)


def lagging(folder, seed, first, lag):
    """A host and two devices that run behind it mark steps. `first`: the devices' number of the host's step 10. Samples of diff are the
    devices' steps if they are numbered as those of the host, and the host's steps otherwise."""
    rnd = random.Random(seed)
    names = {701: ('/host:CPU', {9: 'python'}), 3: ('/device:TPU:0', {1: 'Steps', 3: 'XLA Ops'}), 4: ('/device:TPU:1', {1: 'Steps', 3: 'XLA Ops'})}
    events, host, device, work = [], [], {3: [], 4: []}, []
    for pid, (name, threads) in names.items():
        events.append({'ph': 'M', 'name': 'process_name', 'pid': pid, 'args': {'name': name}})
        events += [{'ph': 'M', 'name': 'thread_name', 'pid': pid, 'tid': tid, 'args': {'name': line}} for tid, line in threads.items()]

    def span(pid, tid, name, ts, dur, **args):
        events.append({'ph': 'X', 'pid': pid, 'tid': tid, 'ts': ts, 'dur': dur, 'name': name, 'args': args})
    at, free = 0, {3: lag, 4: lag + 50}
    for i in range(8):
        length = rnd.randrange(300, 500)
        span(701, 9, 'train', at, length, step_num=10 + i)
        host.append((10 + i, at, at + length))
        at += length + 50
        for pid in device:
            begin = free[pid]
            for _ in range(rnd.randrange(2, 6)):
                span(pid, 3, 'fusion', free[pid], 60)
                work.append((pid, free[pid]))
                free[pid] += 70
            span(pid, 1, str(first + i), begin, free[pid] - begin)
            device[pid].append((first + i, begin, free[pid]))
            free[pid] = max(free[pid], at + lag)
    path = os.path.join(folder, f'lagging_{seed}.json')
    with open(path, 'w', encoding='utf-8') as f:
        json.dump({'traceEvents': events}, f)
    alike = first == 10
    durations = [sum(steps[i][2] - steps[i][1] for steps in device.values()) / 2 for i in range(8)] if alike else [b - a for _, a, b in host]
    count = sum(any(a <= ts < b for _, a, b in (device[pid] if alike else host)) for pid, ts in work)
    got = run('diff', '-q', '--json', '--kind', 'kernel', path, path)
    row = next(r for r in got['rows'] if r['name'] == 'fusion')
    want = (8, round(1000 * sum(durations) / 8), count)
    have = (got['before']['samples'], round(got['step']['before']['total_ns']), row['before']['events'])
    judge(f'steps of devices from {first}, {seed}', '' if have == want else f'{have} is not {want}')
    if alike:
        top = sum(r['count'] for r in run('top', '-q', '--json', '--kind', 'kernel', '--by', 'step', path)['rows'] if r['name'] is not None)
        judge(f'as top counts, {seed}', '' if top == row['before']['events'] else f'{top}, not {row["before"]["events"]}')
        means = [r['step']['mean_ns'] for r in run('report', '-q', '--json', path)['ranks'] if r['step']]
        judge(f'as report measures, {seed}', '' if abs(sum(means) / 2 - have[1]) <= 1 else f'{means}, not {have[1]}')


def copies(folder):
    """The device of a PyTorch trace runs behind its host. Its copy of the step divides its stream, in diff as in top."""
    span = lambda cat, name, tid, ts, dur, pid=1: {'ph': 'X', 'cat': cat, 'name': name, 'pid': pid, 'tid': tid, 'ts': ts, 'dur': dur}  # noqa: E731
    events = [{'ph': 'M', 'name': 'process_labels', 'pid': 0, 'args': {'labels': 'GPU 0'}}, span('user_annotation', 'ProfilerStep#6', 1, 1000, 1000),
              span('gpu_user_annotation', 'ProfilerStep#6', 7, 1600, 900, 0)]
    events += [span('kernel', name, 7, ts, 90, 0) for ts, name in ((1100, 'before'), (1300, 'before'), (1700, 'own'), (2100, 'own'), (2400, 'own'))]
    path = os.path.join(folder, 'copies.json')
    with open(path, 'w', encoding='utf-8') as f:
        json.dump({'traceEvents': events}, f)
    got = run('diff', '-q', '--json', '--kind', 'kernel', path, path)
    counts = {r['name']: r['before']['events'] for r in got['rows']}
    judge('copies of steps', '' if counts.get('own') == 3 and not counts.get('before') else str(counts))
    judge('the duration is that of the host', '' if got['step']['before']['total_ns'] == 1000000 else str(got['step']))
    top = {r['name']: r['count'] for r in run('top', '-q', '--json', '--kind', 'kernel', '--by', 'step', path)['rows']}
    judge('copies of steps in top', '' if top == {'6': 3, None: 2} else str(top))


def main():
    found = 0
    for folder, _, names in sorted(os.walk(FIXTURES)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            if 'nasty' in path or not name.endswith(ENDINGS) or os.path.getsize(path) > 4 << 20:
                continue
            report = run('report', '-q', '--json', path)
            ranks = [r['step'] for r in report['ranks'] if r['step']] if report else []
            if ranks:
                found += 1
                whole = {r['rank'] for r in report['ranks']} == {r['rank'] for r in report['ranks'] if r['step']}
                judge(os.path.relpath(path, FIXTURES), fault(path, ranks, whole))
    judge('fixtures with steps', '' if found >= 20 else f'only {found}')
    with tempfile.TemporaryDirectory() as folder:
        drawn(folder)
        launched_late(folder)
        cut_late(folder)
        named(folder)
        collections(folder)
        for seed in range(10):
            lines(folder, seed)
            lagging(folder, seed, 10, 700)
            lagging(folder, seed + 100, 90, 700)
            lagging(folder, seed + 200, 11, 60)
        copies(folder)


main()
sys.exit(finish())
