#!/usr/bin/env python3
"""Checks `tree` against a model in Python, computed from the dump of the graph: call paths of spans, their counts, totals and
self times, and the device time of work launched in them; and checks that the flame graphs agree."""
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import xml.dom.minidom
from decimal import ROUND_HALF_UP, Decimal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import randomtrace  # noqa: E402
import sources  # noqa: E402
from dumped import covered, dumped, has_samples, is_timed, row_name, selves  # noqa: E402
from schema import conforms  # noqa: E402
from verdict import finish, judge  # noqa: E402

TRACEKIT, FIXTURES, SRC, B = (os.environ[name] for name in ('TRACEKIT', 'FIXTURES', 'SRC', 'B'))
MARK = re.compile(r'PyTorch Profiler \(|\$profiler\.py:.* st(art|op)_trace$')  # spans that only show that a profiler ran
TRACES = 4000 if os.environ.get('LONG') else 250
MOST = 40_000_000 if os.environ.get('LONG') else 3_000_000  # bytes of dump
DEVICE = ('kernel', 'gpu_memcpy', 'gpu_memset')
with open(f'{SRC}/schemas/tree.schema.json', encoding='utf-8') as f:
    SCHEMA = json.load(f)


def run(*args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode:
        raise RuntimeError(f'{" ".join(args)}: status {p.returncode}: {p.stderr.decode("utf-8", "replace")[:300]}')
    return p.stdout


def tree(*args):
    """Returns {path: figures}, in the order of the report."""
    report = json.loads(run('tree', '-q', '--json', '--allow-empty', *args), parse_float=Decimal)
    fault = conforms(SCHEMA, json.loads(json.dumps(report, default=float)))
    if fault:
        raise RuntimeError(f'schema: {fault}')
    paths, found = {None: ()}, {}
    for row in report['paths']:
        paths[row['id']] = (*paths[row['parent']], row['name'])
        if paths[row['id']] in found or row['depth'] != len(paths[row['id']]) - 1:
            raise RuntimeError(f'{paths[row["id"]]}: is there twice, or at another depth')
        found[paths[row['id']]] = row
    return report, found


def sticks_out(e):
    return e.kind == 'span' and 'overlaps' in e.flags and 'paired' not in e.flags


def nests(events, i):
    return events[i].kind == 'span' and (not sticks_out(events[i]) or i + 1 < len(events) and events[i + 1].depth > events[i].depth)


def end_of(e):
    return e.ts + (0 if 'unfinished' in e.flags else e.dur)


def hung(events, kind, wanted, per):
    """Returns the path of each selected event, and for every event the path that contains it. The container is the innermost
    selected span around the event in the graph. If the event extends beyond that span, the container is the innermost span that
    lasts as long, or the last selected span that itself extends beyond its parent and lasts as long."""
    paths, around, under, aside = {}, {}, {0: ()}, []
    for i, e in enumerate(events):
        thread = kind == 'thread'
        chain = under[e.depth if thread else 0]
        in_graph = chain
        if thread and sticks_out(e):
            least = [min(end for _, end in chain[:n + 1]) for n in range(len(chain))]
            in_graph = chain[:sum(end >= end_of(e) for end in least)]
        above = in_graph[-1][0] if in_graph else -1
        if thread and 'lost-clock' not in e.flags:
            above = max([above, *(k for k, end in aside if end >= end_of(e))])
        above_path = paths[above] if above >= 0 else ()
        selected = e.kind == 'span' and wanted(e) and (above_path or not per or e.name == per)
        if selected:
            paths[i] = (*above_path, row_name(e))
        around[i] = paths.get(i, above_path)
        if thread and nests(events, i):
            own = i if selected else above
            kept = chain if own == (chain[-1][0] if chain else -1) else (*chain, (own, end_of(events[own])))
            under[e.depth + 1] = kept
        if thread and selected and sticks_out(e) and is_timed(e):
            aside.append((i, end_of(e)))
    return paths, around


def correlation(e):
    m = re.search(r'\bcorrelation=(\d+)', e.line)
    return int(m[1]) if m and int(m[1]) else None


def is_mark(e):
    return e.cat == 'Trace' or MARK.match(e.name or '') is not None


def model(tracks, wanted, per=None):
    """Returns, by path, count, total, self, the intervals of the work launched in it, and the number of spans that ended."""
    found = collections.defaultdict(lambda: [0, 0, 0, [], 0])
    launches, works = {}, []
    for kind, events in tracks:
        paths, around = hung(events, kind, wanted, per)
        own = selves(events, lambda i: i in paths) if kind == 'thread' else {}
        for i, e in enumerate(events):
            if correlation(e) and e.kind == 'span' and e.cat in DEVICE and is_timed(e):
                works.append(e)
            elif correlation(e) and e.kind == 'span':
                launches[correlation(e)] = around[i]
            if i not in paths:
                continue
            alone = 'unfinished' not in e.flags and (kind != 'thread' or 'lost-clock' in e.flags)
            row = found[paths[i]]
            row[0] += 1
            row[1] += 0 if 'unfinished' in e.flags else e.dur
            row[2] += 0 if is_mark(e) else e.dur if alone else own.get(i, 0)
            row[4] += 'unfinished' not in e.flags
    for e in works:
        path = launches.get(correlation(e), ())
        for n in range(1, len(path) + 1):
            found[path[:n]][3].append((e.ts, e.ts + e.dur))
    return found


def difference(want, found, device):
    if want.keys() != found.keys():
        return f'paths: {sorted(map(str, want.keys() ^ found.keys()))[:2]}'
    for path, (count, total, own, works, timed) in want.items():
        row = found[path]
        mean = (Decimal(total) / timed).quantize(Decimal(1), ROUND_HALF_UP) / 1000 if timed else None
        if row['mean_ns'] != mean:
            return f'{path}: mean {row["mean_ns"]} is not {mean}'
        said = (row['count'], row['total_ns'], row['self_ns'])
        if said != (count, Decimal(total) / 1000, Decimal(own) / 1000):
            return f'{path}: {said} is not {(count, total, own)}'
        if device and (row['launched'], row['device_ns'] or 0) != (len(works), Decimal(covered(works)) / 1000):
            return f'{path}: {row["launched"]}, {row["device_ns"]} on the device is not {len(works)}, {covered(works)}'
    return ''


def means(report):
    """Checks the figures per call: each is the sum divided by the number of calls."""
    for row in report['paths']:
        want = [None if row[k] is None else Decimal(row[k]) / report['calls'] for k in ('count', 'total_ns', 'self_ns', 'device_ns')]
        got = [row['per_call'][k] for k in ('count', 'total_ns', 'self_ns', 'device_ns')]
        if any((a is None) != (b is None) or abs((a or 0) - (b or 0)) > Decimal('1e-9') * max(1, a or 0) for a, b in zip(want, got)):
            return f'{row["name"]}: per call {got}, not {want}'
    return ''


def steps_in_a_span(work):
    """Checks --by step with a span around all steps: each step is an outermost line and contains all spans that begin in it,
    also on other threads."""
    rnd, events, want, inside = random.Random(7), [], collections.Counter(), 0
    for step in range(4):
        begin, length = 10 + 100 * step, rnd.randrange(60, 90)
        events.append({'name': f'ProfilerStep#{step}', 'tid': 1, 'ts': begin, 'dur': length})
        events.append({'name': 'forward', 'tid': 1, 'ts': begin + 1, 'dur': 20 + step})
        events.append({'name': 'load', 'tid': 2, 'ts': begin + 5, 'dur': 10 + step})
        want[str(step), f'ProfilerStep#{step}'] = length
        want[str(step), f'ProfilerStep#{step}', 'forward'] = 20 + step
        want[str(step), 'load'] = 10 + step
        want[str(step),] = length + 10 + step
        inside += length
    events += [{'name': 'train', 'tid': 1, 'ts': 0, 'dur': 500}, {'name': 'epoch', 'tid': 1, 'ts': 1, 'dur': 450}]
    want.update({(None,): 500, (None, 'train'): 500, (None, 'train', 'epoch'): 450})
    with open(f'{work}/epoch.json', 'w', encoding='utf-8') as f:
        json.dump([{'ph': 'X', 'cat': 'user_annotation', 'pid': 1, **e} for e in events], f)
    _, found = tree(f'{work}/epoch.json', '--by', 'step')
    totals = {path: row['total_ns'] / 1000 for path, row in found.items()}
    judge('steps in a span', '' if totals == want else f'{totals} is not {dict(want)}')
    own = found.get((None, 'train', 'epoch'), {}).get('self_ns')
    judge('self time of the span around them', '' if own == (450 - inside) * 1000 else f'{own}, not {450 - inside}')
    report, found = tree(f'{work}/epoch.json', '--per', 'ProfilerStep#*')
    totals = {path: (row['count'], row['total_ns'] / 1000) for path, row in found.items()}
    want = {('ProfilerStep#*',): (4, inside), ('ProfilerStep#*', 'forward'): (4, 86)}
    judge('numbered steps are one line', '' if totals == want and report['calls'] == 4 else f'{totals} is not {want}')


def ordered(report):
    """Checks that parents precede children, and siblings are sorted by total, marks of a profiler last."""
    last = {}
    for row in report['paths']:
        key = row['is_mark'], -row['total_ns']
        if key < last.get(row['parent'], key):
            return f'{row["name"]} comes too late'
        last[row['parent']] = (row['is_mark'], -row['total_ns'])
    return ''


def whole(ns):
    return int(Decimal(ns).quantize(Decimal(1), ROUND_HALF_UP))


def graphs(path, found):
    want = {p: whole(row['self_ns']) for p, row in found.items() if whole(row['self_ns'])}
    lines = run('tree', '-q', '--folded', path).decode().splitlines()
    if sorted(int(line.rsplit(' ', 1)[1]) for line in lines) != sorted(want.values()):
        return 'folded stacks: other times'
    profile = json.loads(run('tree', '-q', '--speedscope', path))
    names, one = [frame['name'] for frame in profile['shared']['frames']], profile['profiles'][0]
    got = {tuple(names[i] for i in sample): weight for sample, weight in zip(one['samples'], one['weights'])}
    if got != {tuple('(none)' if name is None else name for name in p): ns for p, ns in want.items()} or one['endValue'] != sum(want.values()):
        return 'speedscope: other times'
    svg = xml.dom.minidom.parseString(run('tree', '-q', '--svg', path)).documentElement
    rows = collections.Counter()
    for rect in svg.getElementsByTagName('rect'):
        if rect.getAttribute('y'):
            rows[rect.getAttribute('y')] += float(rect.getAttribute('width'))
            if float(rect.getAttribute('x')) + float(rect.getAttribute('width')) > 1190.1:
                return 'SVG: a box sticks out'
    return 'SVG: a row is wider than the picture' if any(width > 1180.5 + 0.01 * len(found) for width in rows.values()) else ''


def one(path, what, device=False):
    try:
        dump = run('dump', '--graph', '-q', path).decode()
        if has_samples(dump):
            return  # property/samples has a model of them
        tracks = dumped(dump)
        report, found = tree(path)
        fault = difference(model(tracks, lambda e: True), found, device) or ordered(report)
        if not what.startswith(('nasty', 'hostile')):
            fault = fault or difference(model(tracks, lambda e: e.dur >= 10**7), tree('--min-dur', '10us', path)[1], device)
            fault = fault or graphs(path, found)
            names = collections.Counter(e.name for _, events in tracks for e in events if e.kind == 'span' and e.name and '*' not in e.name)
            for per in [name for name, _ in names.most_common(2) if not set(name) & set('?[]\\')]:
                only, found = tree('--per', per, path)
                fault = fault or difference(model(tracks, lambda e: True, per), found, device) or means(only)
    except (RuntimeError, ValueError) as e:
        fault = str(e)
    judge(what, fault)


def levels(path, what):
    """Checks that the parts of a tree split with --by add up to the unsplit tree."""
    _, found = tree(path)
    for by in ('rank', 'process', 'track', 'stream', 'step', 'cat', 'arg.stream'):
        report, parts = tree('--by', by, path)
        sums = collections.Counter()
        for p, row in parts.items():
            sums[p[1:]] += row['total_ns']
        del sums[()]
        judge(f'{what}: by {by}', '' if sums == {p: row['total_ns'] for p, row in found.items() if row['total_ns']} | {
            p: 0 for p in sums if not sums[p]} else 'other sums')


def marks(work):
    """Checks that spans which only show that a profiler ran are last, in no sum and in no flame graph, and that the spans
    inside them are not nested in them."""
    events = [('PyTorch Profiler (0)', 'Trace', 9, 0, 1000), ('PyTorch Profiler (1)', '', 1, 0, 900), ('aten::mm', 'cpu_op', 1, 10, 30), ('aten::add', 'cpu_op', 2, 50, 10)]
    path = f'{work}/marks.json'
    with open(path, 'w', encoding='utf-8') as f:
        json.dump([{'ph': 'X', 'name': n, **({'cat': cat} if cat else {}), 'pid': 1, 'tid': tid, 'ts': ts, 'dur': dur} for n, cat, tid, ts, dur in events], f)
    want = [('aten::mm', 30, 30, 75, False), ('aten::add', 10, 10, 25, False), ('PyTorch Profiler (0)', 1000, 0, None, True), ('PyTorch Profiler (1)', 900, 0, None, True)]
    for order in ('total', 'start'):
        report, _ = tree(path, '--sort', order)
        got = [(r['name'], r['total_ns'] // 1000, r['self_ns'] // 1000, r['percent_of_all'], r['is_mark']) for r in report['paths'] if r['depth'] == 0]
        judge(f'marks by {order}', '' if got == (want if order == 'total' else [want[0], want[1], *want[2:]]) and report['sum_ns'] == 40000 else str(report))
    report, _ = tree(path, '--by', 'process')
    judge('marks in a group', '' if report['sum_ns'] == 40000 and report['paths'][0]['total_ns'] == 40000 else str(report))
    judge('marks in a flame graph', '' if run('tree', '-q', '--folded', path).decode().splitlines() == ['aten::mm 30000', 'aten::add 10000'] else 'other lines')
    text = run('tree', path, '--top', '2').decode().splitlines()
    judge('the table', '' if [line.split()[-1] for line in text[1:3]] == ['aten::mm', 'aten::add'] and 'listed last and excluded from sums' in text[-1] else str(text))
    only, _ = tree(path, '--name', 'PyTorch Profiler*')
    judge('marks alone', '' if len(only['paths']) == 2 and only['sum_ns'] == 0 else str(only))


def every(work, rnd):
    """Cuts a loop of generated iterations at an event, with events on another thread, and compares the sums with those of a model."""
    for trial in range(20):
        events, at, starts = [('setup', 1, 0, 5)], 10, []
        for _ in range(rnd.randrange(2, 9)):
            starts.append(at)
            events.append(('load', 1, at, 4))
            events.append(('load', 1, at + 1, 2))  # nested in the mark, so it begins no iteration
            for k in range(rnd.randrange(4)):
                events.append((f'op{k}', 1, at + 5 + 10 * k, rnd.randrange(1, 9)))
                events.append(('other', 2, at + 6 + 10 * k, 3))
            at += rnd.randrange(45, 60)
        path = f'{work}/every.json'
        with open(path, 'w', encoding='utf-8') as f:
            json.dump([{'ph': 'X', 'name': n, 'pid': 1, 'tid': tid, 'ts': ts, 'dur': dur} for n, tid, ts, dur in events], f)
        want = collections.Counter()
        for name, tid, ts, dur in events:
            if starts[0] <= ts < starts[-1]:
                outer = ('load',) if name == 'load' and dur == 2 else ()
                want[(*outer, name)] += 1000 * dur
        for pattern in ('load', '/^l[o]a/'):
            report, found = tree('--every', pattern, path)
            same = {p: row['total_ns'] for p, row in found.items()} == want and report['calls'] == len(starts) - 1
            judge(f'--every {pattern}, {trial}', '' if same else f'{report["calls"]} of {len(starts) - 1}: {found} not {want}')
        threads = [{'ph': 'X', 'name': 'load', 'pid': 1, 'tid': 3, 'ts': ts + 1, 'dur': 2} for ts in starts[::2]]
        with open(f'{work}/threads.json', 'w', encoding='utf-8') as f:
            json.dump([{'ph': 'X', 'name': n, 'pid': 1, 'tid': tid, 'ts': ts, 'dur': dur} for n, tid, ts, dur in events] + threads, f)
        report, _ = tree('--every', 'load', f'{work}/threads.json')
        judge(f'--every load on two threads, {trial}', '' if report['calls'] == len(starts) - 1 else f'{report["calls"]}, not {len(starts) - 1}')
        steps = json.loads(run('top', '-q', '--json', '--by', 'step', '--step-name', 'every:load', path))['rows']
        judge(f'steps of every:load, {trial}', '' if {r['name'] for r in steps} - {None} == {str(i) for i in range(len(starts) - 1)} else str(steps))


def main():
    with tempfile.TemporaryDirectory() as work:
        for path in (os.path.join(FIXTURES, name) for name in sources.walk(FIXTURES)):
            p = subprocess.run([TRACEKIT, 'dump', '--graph', '-q', path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            # from an archive, a single trace only
            if p.returncode == 0 and len(p.stdout) <= MOST and p.stdout.count(b'\ntrace origin=') == 0:
                one(path, os.path.relpath(path, FIXTURES))
        steps_in_a_span(work)
        marks(work)
        source = f'{work}/random.json'
        randomtrace.maker(int(os.environ.get('SEED', '1'))).file(source, 1, TRACES)
        with open(f'{work}/gpu.json', 'wb') as f:
            subprocess.run([f'{B}/tests/gen/gen', 'kineto', '--spans', '3000'], stdout=f, check=True)
        for ending in ('json', 'pftrace', 'xplane.pb'):
            run('convert', '-q', source, '-o', f'{work}/r.{ending}')
            one(f'{work}/r.{ending}', f'random {ending}')
            run('convert', '-q', '--force', f'{work}/gpu.json', '-o', f'{work}/g.{ending}')
            one(f'{work}/g.{ending}', f'gpu {ending}', ending != 'xplane.pb')
        every(work, random.Random(int(os.environ.get('SEED', '1'))))
        levels(f'{FIXTURES}/perfetto/small.pftrace.gz', 'small')
        levels(f'{FIXTURES}/xplane/mlp_train/vm.xplane.pb', 'mlp')


main()
sys.exit(finish())
