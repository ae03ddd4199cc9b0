#!/usr/bin/env python3
"""Checks `top` against a model in Python, computed from the dump of the graph: counts, sums, self times, unions and exact
medians, on every fixture and on random traces in all formats. Also checks that selecting with top equals filtering first."""
import collections
import contextlib
import csv
import io
import json
import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
from decimal import Decimal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import randomtrace  # noqa: E402
from dumped import covered, dumped, has_samples, is_timed, row_name, selves  # noqa: E402
import sources  # noqa: E402
from schema import conforms  # noqa: E402
from verdict import finish, judge  # noqa: E402

TRACEKIT, FIXTURES, SRC = os.environ['TRACEKIT'], os.environ['FIXTURES'], os.environ['SRC']
MARK = re.compile(r'PyTorch Profiler \(|\$profiler\.py:.* st(art|op)_trace$')  # spans that only show that a profiler ran
csv.field_size_limit(sys.maxsize)
TRACES = 4000 if os.environ.get('LONG') else 250
MOST = 40_000_000 if os.environ.get('LONG') else 3_000_000  # bytes of dump
with open(f'{SRC}/schemas/top.schema.json', encoding='utf-8') as f:
    SCHEMA = json.load(f)


def run(*args, fine=(0,)):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode not in fine:
        raise RuntimeError(f'{" ".join(args)}: status {p.returncode}: {p.stderr.decode("utf-8", "replace")[:300]}')
    return p.stdout


def top(*args):
    report = json.loads(run('top', '-q', '--json', '--allow-empty', *args), parse_float=Decimal)
    fault = conforms(SCHEMA, json.loads(json.dumps(report, default=float)))
    if fault:
        raise RuntimeError(f'schema: {fault}')
    return report


def ns(ps):
    return Decimal(ps) / 1000


def figures(events, self_time):
    timed = [e for e in events if 'unfinished' not in e.flags]
    timed = sorted(e.dur for e in [e for e in timed if e.kind != 'instant'] or timed)  # instants, if there are no spans
    n = len(timed)
    place = lambda percent: ns(timed[-(-n * percent // 100) - 1]) if n else None  # noqa: E731
    return {
        'count': len(events), 'instants': sum(e.kind == 'instant' for e in events),
        'unfinished': sum('unfinished' in e.flags for e in events),
        'clipped': sum('clipped' in e.flags and is_timed(e) for e in events), 'total_ns': ns(sum(timed)), 'self_ns': ns(self_time),
        'union_ns': ns(covered([(e.ts, e.ts + e.dur) for e in events if is_timed(e)])) if n else None,
        'min_ns': ns(timed[0]) if n else None, 'max_ns': ns(timed[-1]) if n else None,
        'mean_ns': ns((2 * sum(timed) + n) // (2 * n)) if n else None, 'p50_ns': place(50), 'p95_ns': place(95),
    }


def model(tracks, key):
    groups, self_times = collections.defaultdict(list), collections.Counter()
    for kind, events in tracks:
        own = selves(events) if kind == 'thread' else {}
        for i, e in enumerate(events):
            if e.kind == 'counter':
                continue
            groups[key(e)].append(e)
            alone = 'unfinished' not in e.flags and (kind != 'thread' or 'lost-clock' in e.flags)
            mark = e.cat == 'Trace' or MARK.match(e.name or '') is not None
            self_times[key(e)] += 0 if mark else e.dur if alone else own.get(i, 0)
    return {k: figures(v, self_times[k]) for k, v in groups.items()}


def difference(want, report, fields=None):
    got = {r['name']: r for r in report['rows']}
    if len(got) != len(report['rows']):
        return 'a name has two rows'
    if want.keys() != got.keys():
        return f'rows: {sorted(map(str, want.keys() ^ got.keys()))[:3]}'
    for name, row in want.items():
        for field in fields or row:
            if got[name][field] != row[field]:
                return f'{name!r}: {field} is {got[name][field]}, not {row[field]}'
    return ''


def bounded(report):
    """Checks that no share exceeds the total, rows are sorted, and self times add up."""
    rows = report['rows']
    if any((r['percent_of_range'] or 0) > Decimal('100.001') for r in rows):
        return 'more than the range'
    if sum(r['self_ns'] for r in rows) != report['sum_ns']:
        return 'self times do not add up'
    totals = [r['total_ns'] for r in rows if not r['is_mark']]
    return '' if totals == sorted(totals, reverse=True) else 'rows are not in order'


def same_csv(report, lines):
    rows = list(csv.DictReader(io.StringIO(lines, newline='')))
    fields = ('count', 'total_ns', 'self_ns', 'union_ns', 'p50_ns', 'p95_ns', 'percent_of_range')
    for a, b in zip(report['rows'], rows):
        if (a['name'] or '') != b['name'] or any('' if a[k] is None else Decimal(b[k]) != a[k] for k in fields):
            return f'CSV: {a} {b}'
    return '' if len(rows) == len(report['rows']) else 'CSV: rows'


def one(path, what):
    try:
        dump = run('dump', '--graph', '-q', path).decode()
        if has_samples(dump):
            return  # property/samples has a model of them
        tracks = dumped(dump)
        report = top(path)
        fault = difference(model(tracks, row_name), report) or bounded(report)
        fault = fault or difference(model(tracks, lambda e: e.cat), top('--by', 'cat', path))
        fault = fault or same_csv(report, run('top', '-q', '--csv', path).decode())
        for by in () if what.startswith(('nasty', 'hostile')) else ('rank', 'process', 'track', 'stream', 'step', 'arg.stream'):
            parts = top('--by', by, path)
            if sum(r['count'] for r in parts['rows']) != report['events'] or parts['sum_ns'] != report['sum_ns']:
                fault = fault or f'--by {by} does not add up'
    except (RuntimeError, ValueError) as e:
        fault = str(e)
    judge(what, fault)


def kinds(path, what):
    """Checks that the row of a kind equals the selection with --kind, except that time in other spans then belongs to the span
    around them."""
    fault = ''
    for row in top('--by', 'kind', path)['rows']:
        alone = [r for r in top('--by', 'kind', '--kind', row['name'], path)['rows'] if r['name'] == row['name']]
        for r in alone:
            fault = fault or ('' if r['self_ns'] >= row['self_ns'] else f'{row["name"]}: {r["self_ns"]} self is less than {row["self_ns"]}')
            r.update({k: row[k] for k in ('self_ns', 'percent_of_sum')})
        fault = fault or ('' if alone == [row] else f'{row["name"]}: {row} is not {alone}')
    judge(f'{what}: kinds', fault)


def filtered(path, what, work):
    """Checks selection against filter: conditions on depth and self time refer to the full trace, all figures to the filtered trace."""
    fields = ('count', 'instants', 'unfinished', 'total_ns', 'self_ns', 'min_ns', 'max_ns', 'mean_ns', 'p50_ns', 'p95_ns', 'union_ns')
    for options in (['--time', '25%..75%'], ['--min-dur', '20us'], ['--max-dur', '5us'], ['-e', 'depth <= 1'],
                    ['--time', '40%..', '-e', 'name =~ "a"'], ['--kind', 'span', '--exclude', 'a*']):
        run('filter', '-q', '--force', path, *options, '-o', f'{work}/f.json')
        before, after = top(path, *options), top(f'{work}/f.json')
        judge(f'{what} {" ".join(options)}', difference({r['name']: r for r in after['rows']}, before, fields))


def folds_values(work):
    """Checks that --fold combines names which differ only in values as in "word = 7", and that --name accepts the folded name."""
    names = [f'aten::mm, seq = {n}, op_id = {n + 7}, sizes = [[{s}, 4]]' for s in (2, 3) for n in range(3)]
    names += ['f(op_id=3)', 'f(op_id=44)', 'g id = 0x1f', 'g id = 0x2f', '= 5', 'x y 7']
    with open(f'{work}/values.json', 'w', encoding='utf-8') as f:
        json.dump([{'ph': 'X', 'name': name, 'pid': 1, 'tid': 1, 'ts': 10 * i, 'dur': 5} for i, name in enumerate(names)], f)
    want = collections.Counter(re.sub(r'(?<=\w)( ?= ?)\d+(?=$|[ ,;)\]}])', r'\1*', name) for name in names)
    rows = json.loads(run('top', '-q', '--json', '--fold', f'{work}/values.json'))['rows']
    found = collections.Counter({row['name']: row['count'] for row in rows})
    judge('values of words are folded', '' if found == want and len(want) == 7 else f'{found} is not {want}')
    chosen = json.loads(run('top', '-q', '--json', f'{work}/values.json', '--name', 'aten::mm, seq = *, op_id = *, sizes = ??2, 4??'))['rows']
    judge('a folded name is a pattern', '' if len(chosen) == 3 else str(chosen)[:200])


def addresses(work):
    """Checks that names which differ only in the address of an object have one row, and that selections, SQL and writers keep
    the recorded name."""
    row = '<built-in method f of T object at 0x*>'
    names = ['<built-in method f of T object at 0x7f36941d5310>', '<built-in method f of T object at 0x000001F2A3B4C5D6>', row.replace('*', '0'),
             'g at 0x', 'h at 0x12z', 'k at 0x_', 'at 0x12', '<a at 0x1> and <b at 0x2>']
    want = {row: 3, 'g at 0x': 1, 'h at 0x12z': 1, 'k at 0x_': 1, 'at 0x12': 1, '<a at 0x*> and <b at 0x*>': 1}
    path = f'{work}/addresses.json'
    with open(path, 'w', encoding='utf-8') as f:
        json.dump([{'ph': 'X', 'name': name, 'cat': name, 'pid': 1, 'tid': 1, 'ts': 10 * i, 'dur': 5, 'args': {'x': name}} for i, name in enumerate(names)], f)
    one(path, 'addresses')
    counts = lambda *args: {r['name']: r['count'] for r in top(path, *args)['rows']}  # noqa: E731
    for args, found in (((), want), (('--fold',), want), (('--by', 'cat'), dict.fromkeys(names, 1)), (('--by', 'arg.x'), dict.fromkeys(names, 1)),
                        (('--name', row), {row: 3}), (('-e', f'name == "{names[0]}"'), {row: 1}), (('-e', f'name == "{row}"', '--allow-empty'), {})):
        got = counts(*args)
        judge(f'addresses: {" ".join(args)}', '' if got == found else f'{got} is not {found}')
    kept = run('sql', '-q', path, 'select name from slice order by ts', '--csv').decode().splitlines()[1:]
    judge('addresses: sql', '' if [name.strip('"') for name in kept] == names else str(kept))
    run('convert', '-q', '--force', path, '-o', f'{work}/kept.json')
    with open(f'{work}/kept.json', encoding='utf-8') as f:
        judge('addresses: convert', '' if [e['name'] for e in json.load(f)['traceEvents'] if e['ph'] == 'X'] == names else 'other names')


def communicators(work):
    """Checks that the collectives of HCCL have one row for each operation in `report` and `diff`: their names contain a communicator,
    which differs between runs, and a count. Names that only sound alike keep their numbers. `top` keeps all names."""
    def write(name, group):
        names = [*(f'hcom_allReduce__{group}_{i}_1' for i in range(3)), f'hcom_allGather_AicpuKernel_{group}_0_1', 'hcom_send__7_1', 'my_hcom_allReduce__7_0_1']
        with open(f'{work}/{name}.json', 'w', encoding='utf-8') as f:
            json.dump([{'ph': 'M', 'name': 'process_labels', 'pid': 0, 'args': {'labels': 'GPU 0'}}] +
                      [{'ph': 'X', 'name': n, 'cat': 'kernel', 'pid': 0, 'tid': 7, 'ts': 10 * i, 'dur': 5} for i, n in enumerate(names)], f)
        return f'{work}/{name}.json'
    a, b = write('hccl1', '586'), write('hccl2', '017')
    want = {'hcom_allReduce__*_*_*': 3, 'hcom_allGather_AicpuKernel_*_*_*': 1, 'hcom_send__7_1': 1, 'my_hcom_allReduce__7_0_1': 1}
    names = {r['name'] for r in top(a)['rows']}
    judge('communicators: top', '' if len(names) == 6 and 'hcom_allReduce__586_2_1' in names else str(names))
    got = sum(r['count'] for r in top(a, '--name', 'hcom_allReduce__*_*_*')['rows'])
    judge('communicators: --name', '' if got == 3 else str(got))
    got = {k['name']: k['count'] for k in json.loads(run('report', '-q', '--json', a))['kernels']}
    judge('communicators: report', '' if got == want else str(got))
    for options in ((), ('--by', 'path')):
        rows = json.loads(run('diff', '-q', '--json', *options, a, b))['rows']
        got = {r['name']: (r['before']['count'], r['after']['count'], r['delta_ns']) for r in rows}
        judge(f'communicators: diff {options}', '' if got == {n: (k, k, 0) for n, k in want.items()} else str(got))
    kept = run('sql', '-q', a, 'select name from slice order by ts', '--csv').decode()
    judge('communicators: sql', '' if 'hcom_allReduce__586_2_1' in kept else kept)


def copies(work):
    """Checks that the copy of an annotation on a device is an event of the device and not a second annotation."""
    events = [(name, cat, pid, 10 + 5 * pid, 20 + 10 * pid) for name in ('Optimizer.step', 'nccl:all_reduce', 'Memcpy all')
              for cat, pid in (('user_annotation', 1), ('gpu_user_annotation', 0))]
    with open(f'{work}/copies.json', 'w', encoding='utf-8') as f:
        json.dump([{'ph': 'X', 'name': name, 'cat': cat, 'pid': pid, 'tid': 1 + i, 'ts': ts, 'dur': dur} for i, (name, cat, pid, ts, dur) in enumerate(events)], f)
    for kind, want in (('annotation', 30), ('device', 20)):
        got = {r['name']: (r['count'], r['total_ns'] // 1000) for r in top(f'{work}/copies.json', '--kind', kind)['rows']}
        suffix = ' (device)' if kind == 'device' else ''
        judge(f'copies: {kind}', '' if got == {name + suffix: (1, want) for name, *_ in events} else str(got))
    want = {name + suffix: (1, dur) for name, *_ in events for suffix, dur in (('', 30), (' (device)', 20))}
    got = {r['name']: (r['count'], r['total_ns'] // 1000) for r in top(f'{work}/copies.json')['rows']}
    judge('copies: rows of their own', '' if got == want else str(got))
    run('check', f'{work}/copies.json', *(f'--assert={claim}' for claim in (
        'count(nccl:all_reduce) == 1', 'mean(Optimizer.step) == 30us', 'max(*m*) == 30us', 'count(Opt*) == 1')))
    with open(f'{work}/copies.json', encoding='utf-8') as f:
        alone = [e for e in json.load(f) if e['pid'] == 0]
    with open(f'{work}/alone.json', 'w', encoding='utf-8') as f:
        json.dump(alone, f)
    got = {r['name']: r['count'] for r in top(f'{work}/alone.json')['rows']}
    judge('copies: without the host', '' if got == {f'{name} (device)': 1 for name, *_ in events} else str(got))
    run('check', f'{work}/alone.json', '--assert=mean(Optimizer.step) == 20us')
    rows = json.loads(run('diff', '-q', '--json', f'{work}/copies.json', f'{work}/alone.json'))['rows']
    got = {r['name']: r['state'] for r in rows if 'Optimizer' in r['name']}
    judge('copies: diff', '' if got == {'Optimizer.step': 'gone', 'Optimizer.step (device)': 'unknown'} else str(got))
    for kind in ('collective', 'memcpy'):
        got = top(f'{work}/copies.json', '-e', f'kind == {kind} && kind == device', '--allow-empty')['rows']
        judge(f'copies: no {kind} of the device', '' if not got else str(got))


def marks(work):
    """Checks that spans which only show that a profiler ran are the last rows in any order, and in no sum."""
    events = [('PyTorch Profiler (0)', 'Trace', 9, 0, 1000), ('PyTorch Profiler (1)', '', 8, 0, 900), ('aten::mm', 'cpu_op', 1, 10, 30), ('aten::add', 'cpu_op', 1, 50, 10)]
    with open(f'{work}/marks.json', 'w', encoding='utf-8') as f:
        json.dump([{'ph': 'X', 'name': name, **({'cat': cat} if cat else {}), 'pid': tid, 'tid': tid, 'ts': ts, 'dur': dur} for name, cat, tid, ts, dur in events], f)
    for sort in ('total', 'max', 'name'):
        report = top(f'{work}/marks.json', '--sort', sort)
        got = [(r['name'], r['percent_of_sum'], r['total_ns'] // 1000) for r in report['rows']]
        want = [('aten::mm', 75, 30), ('aten::add', 25, 10), ('PyTorch Profiler (0)', 0, 1000), ('PyTorch Profiler (1)', 0, 900)]
        want = want if sort != 'name' else [want[1], want[0], *want[2:]]
        judge(f'marks by {sort}', '' if got == want and report['sum_ns'] == 40000 else str(got))
    judge('the sum is the same by process', '' if top(f'{work}/marks.json', '--by', 'process')['sum_ns'] == 40000 else 'another sum')
    text = run('top', f'{work}/marks.json').decode()
    judge('the whole of %sum', '' if 'the self time of all selected events, 40.000 us; spans of the profiler itself' in text else text)
    text = run('top', f'{work}/marks.json', '--name', 'aten::*').decode()
    judge('no note without marks', '' if text.rstrip().endswith('40.000 us') else text)
    only = top(f'{work}/marks.json', '--name', 'PyTorch Profiler*')
    judge('marks alone', '' if len(only['rows']) == 2 and only['sum_ns'] == 0 else str(only))


def classes(path):
    """Checks that an expression selects work by the same classes by which --by class groups it."""
    rows = top(path, '--by', 'class')['rows']
    for row in rows:
        if row['name']:
            got = top(path, '-e', f'class == "{row["name"]}"')
            judge(f'class {row["name"]}', '' if (got['events'], sum(r['total_ns'] for r in got['rows'])) == (row['count'], row['total_ns']) else str(got)[:200])
    classed = top(path, '-e', 'class')['events']
    judge('only work has a row', '' if classed == sum(r['count'] for r in rows) and len(rows) > 4 else f'{classed}: {rows}'[:300])
    unknown = [r for r in rows if r['name'] is None]
    judge('no row without a class', str(unknown) if unknown else '')


def busy(work):
    """Returns, for each device, the time during which at least one of the intervals (device, start, end) ran."""
    found = {}
    for device in {d for d, _, _ in work}:
        at, time = -1, 0
        for start, end in sorted((s, e) for d, s, e in work if d == device):
            time += max(end - max(start, at), 0)
            at = max(at, end)
        found[device] = time
    return found


def device_rows(*args):
    return {r['name']: int(r['union_ns']) for r in top(*args, '--by', 'device')['rows']}


def devices(work):
    """Checks that each device has a row with the time during which it worked, on several ranks, in all formats, and from databases."""
    rand, paths = random.Random(7), []
    want = {}
    for rank in range(2):
        kernels = [(device, at, at + rand.randrange(1, 60)) for device in (0, 1) for at in rand.sample(range(2000), 60)]
        events = [{'ph': 'X', 'cat': ('kernel', 'gpu_memcpy', 'gpu_memset')[i % 3], 'name': f'k{i}', 'pid': d, 'tid': 7 + i % 4, 'ts': start, 'dur': end - start,
                   'args': {'device': d, 'stream': 7 + i % 4}} for i, (d, start, end) in enumerate(kernels)]
        events += [{'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::mm', 'pid': 99, 'tid': 99, 'ts': 0, 'dur': 5000},
                   {'ph': 'X', 'cat': 'gpu_user_annotation', 'name': 'step', 'pid': 0, 'tid': 7, 'ts': 0, 'dur': 4000, 'args': {'device': 0, 'stream': 7}}]
        paths.append(f'{work}/device{rank}.json')
        with open(paths[-1], 'w', encoding='utf-8') as f:
            json.dump({'distributedInfo': {'rank': rank, 'world_size': 2}, 'traceEvents': events}, f)
        want.update({f'rank {rank}, GPU {d}': 1000 * time for d, time in busy(kernels).items()})
    first = {name: time for name, time in want.items() if name.startswith('rank 0')}
    for ending in ('json', 'pftrace', 'xplane.pb'):
        run('convert', '-q', paths[0], '-o', f'{work}/device.{ending}')
        got = device_rows(f'{work}/device.{ending}')
        judge(f'devices: {ending}', '' if sorted(got.values()) == sorted(first.values()) else f'{got}, not {first}')
        run('merge', '-q', *paths, '-o', f'{work}/devices.{ending}')
        got = device_rows(f'{work}/devices.{ending}')
        judge(f'devices of two ranks: {ending}', '' if got == want or (ending == 'xplane.pb' and sorted(got.values()) == sorted(want.values())) else f'{got}, not {want}')
    judge('devices: names', '' if device_rows(*paths) == want else f'{device_rows(*paths)}, not {want}')
    none = run('top', f'{work}/marks.json', '--by', 'device', fine=(1,))
    judge('devices: none', none.decode())
    with contextlib.closing(sqlite3.connect(f'file:{FIXTURES}/nsys/two-processes.sqlite?mode=ro', uri=True)) as c:
        nsys = [(row[0], row[1], row[2]) for table in ('KERNEL', 'MEMCPY') for row in
                c.execute(f'SELECT globalPid, start, "end" FROM CUPTI_ACTIVITY_KIND_{table}')]
    got = device_rows(f'{FIXTURES}/nsys/two-processes.sqlite')
    judge('devices: nsys', '' if sorted(got.values()) == sorted(busy(nsys).values()) else f'{got}, not {busy(nsys)}')
    with contextlib.closing(sqlite3.connect(f'file:{FIXTURES}/rocm/graph.rpd?mode=ro', uri=True)) as c:
        rocm = list(c.execute('SELECT gpuId, start, "end" FROM rocpd_op JOIN rocpd_string s ON s.id = opType_id JOIN rocpd_string d ON d.id = description_id '
                              "WHERE s.string <> 'Task' OR d.string <> ''"))  # a task without a description is a barrier
    got = device_rows(f'{FIXTURES}/rocm/graph.rpd')
    judge('devices: rocm', '' if sorted(got.values()) == sorted(busy(rocm).values()) else f'{got}, not {busy(rocm)}')


def as_reported(path, label):
    """Checks that the rows of devices have the busy times of report."""
    report = json.loads(run('report', '-q', '--json', '--allow-empty', path), parse_float=Decimal)
    want = sorted(r['busy_ns'] for r in report['ranks'] if r['device'] and r['busy_ns'])
    got = sorted(r['union_ns'] for r in top(path, '--by', 'device')['rows'] if r['union_ns'])
    judge(f'{label}: devices are as busy as in report', '' if got == want else f'{got}, not {want}')


def sampled(work):
    """Checks that the share of the time range is unknown for rows without spans: samples do not say when a function ran."""
    with open(f'{work}/s.folded', 'w', encoding='utf-8') as f:
        f.write('main;load 30\nmain;train 70\n')
    got = {(r['percent_of_range'], r['union_ns']) for r in top(f'{work}/s.folded')['rows']}
    judge('samples: share of the range', '' if got == {(None, None)} else str(got))


def main():
    with tempfile.TemporaryDirectory() as work:
        for path in (os.path.join(FIXTURES, name) for name in sources.walk(FIXTURES)):
            p = subprocess.run([TRACEKIT, 'dump', '--graph', '-q', path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            # from an archive, a single trace only
            if p.returncode == 0 and len(p.stdout) <= MOST and p.stdout.count(b'\ntrace origin=') == 0:
                one(path, os.path.relpath(path, FIXTURES))
                as_reported(path, os.path.relpath(path, FIXTURES))
        folds_values(work)
        addresses(work)
        copies(work)
        communicators(work)
        sampled(work)
        marks(work)
        devices(work)
        classes(f'{FIXTURES}/perfetto/small.pftrace.gz')
        source = f'{work}/random.json'
        randomtrace.maker(int(os.environ.get('SEED', '1'))).file(source, 1, TRACES)
        for ending in ('json', 'pftrace', 'xplane.pb'):
            run('convert', '-q', source, '-o', f'{work}/r.{ending}')
            one(f'{work}/r.{ending}', f'random {ending}')
        for name in ('json/torch/ddp2_plain/rank0.json.gz', 'json/viz/viz_small.json', 'xplane/mlp_train/vm.xplane.pb', 'perfetto/small.pftrace.gz'):
            kinds(f'{FIXTURES}/{name}', name)
            filtered(f'{FIXTURES}/{name}', name, work)


main()
sys.exit(finish())
