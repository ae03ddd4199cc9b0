#!/usr/bin/env python3
"""Checks the memory that `report` lists as allocated at the peak of each allocator: random allocations and releases by operators within
modules, in the events of Kineto and of XLA, and real traces, against a model; snapshots against the spans that cover the peak.

The model: blocks are those whose last event up to the peak, in the order of time, allocates their address. Its operator is the innermost
cpu_op around it that does more than allocate, its module the innermost nn.Module."""
import collections
import gzip
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from fractions import Fraction

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import check, finish  # noqa: E402

TRACEKIT, FIXTURES = os.environ['TRACEKIT'], os.environ['FIXTURES']
NUMBER = 120 if os.environ.get('LONG') else 20
ALLOCATES = ('aten::empty', 'aten::new_empty', 'aten::resize_', 'aten::set_')
folder = tempfile.mkdtemp()


def report(path, *args):
    p = subprocess.run([TRACEKIT, 'report', '--json', '-q', *args, path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode:
        check(f'{path}: read', False, p.stderr.decode()[:300])
        return {'memory': [], 'allocated_at_peak': []}
    return json.loads(p.stdout)


# ---- the model ----

def innermost(spans, ts):
    around = [s for s in spans if s[0] <= ts < s[1]]
    return max(around, key=lambda s: s[0])[2] if around else None


def model(events):
    """Returns, by allocator, a Counter of bytes and one of blocks by (op, module), and the peak."""
    ops, modules, changes = collections.defaultdict(list), collections.defaultdict(list), collections.defaultdict(list)
    for e in events:
        if e.get('ph') == 'X':
            where = e['pid'], e['tid']
            span = Fraction(str(e['ts'])), Fraction(str(e['ts'])) + Fraction(str(e['dur'])), e['name']
            if e.get('cat') == 'cpu_op' and not e['name'].startswith(ALLOCATES):
                ops[where].append(span)
            if e['name'].startswith('nn.Module: '):
                modules[where].append(span)
    for i, e in enumerate(events):
        args = e.get('args', {})
        if e.get('name') == '[memory]' and 'Total Allocated' in args:
            kind = {0: 'CPU', 1: f'GPU {args["Device Id"]}'}[args['Device Type']]
            changes[kind].append((Fraction(str(e['ts'])), i, args['Total Allocated'], args['Bytes'], args.get('Addr'), e))
        elif e.get('name') in ('MemoryAllocation', 'MemoryDeallocation'):
            size = args['allocation_bytes'] * (1 if e['name'] == 'MemoryAllocation' else -1)
            changes[args['allocator_name']].append((Fraction(str(e['ts'])), i, args['bytes_allocated'], size, args['addr'], e))
    out = {}
    for kind, rows in changes.items():
        rows.sort(key=lambda row: row[:2])
        peak = max(row[2] for row in rows)
        alive = {}
        for ts, _, total, size, address, event in rows:
            alive[address] = (size, ts, event) if size > 0 else None
            if total == peak:
                break
        sizes, blocks = collections.Counter(), collections.Counter()
        for size, ts, event in filter(None, alive.values()):
            where = event['pid'], event['tid']
            owner = event['args'].get('tf_op') or innermost(ops[where], ts), innermost(modules[where], ts)
            sizes[owner] += size
            blocks[owner] += 1
        if blocks and peak - sum(sizes.values()) >= 1:
            sizes[None] = peak - sum(sizes.values())
        out[kind] = sizes, blocks, peak
    return out


def compare(name, path, events):
    got, want = report(path), model(events)
    found = {kind: (collections.Counter(), collections.Counter()) for kind in want}
    for row in got['allocated_at_peak']:
        owner = (row['op'], row['module']) if row['blocks'] is not None else None
        found.setdefault(row['allocator'], (collections.Counter(), collections.Counter()))
        found[row['allocator']][0][owner] += row['bytes']
        if owner:
            found[row['allocator']][1][owner] += row['blocks']
        peak = want.get(row['allocator'], (0, 0, 1))[2]
        check(f'{name}: share of {owner}', abs(row['peak_percent'] - 100 * row['bytes'] / peak) < .01, row)
    for kind, (sizes, blocks, peak) in want.items():
        check(f'{name}, {kind}: bytes', found[kind][0] == sizes, f'{found[kind][0] - sizes} too many, {sizes - found[kind][0]} missing')
        check(f'{name}, {kind}: blocks', found[kind][1] == blocks, f'{found[kind][1]} {blocks}')
        check(f'{name}, {kind}: peak', [m['peak_allocated_bytes'] for m in got['memory'] if m['allocator'] == kind] == [peak], got['memory'])
    order = [(r['rank'] or 0, r['allocator'], -r['bytes']) for r in got['allocated_at_peak']]
    check(f'{name}: most bytes first', order == sorted(order), order)
    return len(got['allocated_at_peak'])


# ---- random traces ----

def nested(r, out, tid, start, end, level):
    """Adds nested modules and operators. No two of them begin or end at the same time."""
    at = start + 1
    while at + 8 < end and r.random() < .8:
        until = min(end - 1, at + r.randrange(6, max(7, end - start)))
        module = r.random() < .3
        name = f'nn.Module: Linear_{r.randrange(3)}' if module else r.choice(('aten::mm', 'aten::add', 'aten::empty', 'aten::empty_strided', 'aten::resize_'))
        out.append({'ph': 'X', 'name': name, 'cat': 'python_function' if module else 'cpu_op', 'pid': 1, 'tid': tid, 'ts': at, 'dur': until - at, 'args': {}})
        if level < 4:
            nested(r, out, tid, at, until, level + 1)
        at = until + 1


def make(seed, xla):
    r = random.Random(seed)
    events, totals, alive = [], collections.Counter(), {}
    for tid in (1, 2):
        nested(r, events, tid, 0, 2000, 0)
    before = {kind: r.choice((0, 0, 5000)) for kind in (0, 1)}
    for ts in sorted(r.sample(range(1, 4000), 120)):  # halves of microseconds: at no edge of a span
        kind = r.randrange(2)
        address = r.choice([a for k, a in alive if k == kind] or [0]) if r.random() < .4 else r.choice((r.randrange(1, 40), (1 << 63) + r.randrange(9)))
        size = -alive.pop((kind, address)) if (kind, address) in alive else -16 if r.random() < .05 else r.randrange(1, 5000)
        if size > 0:
            alive[kind, address] = size
        totals[kind] += size
        amount = max(0, before[kind] + totals[kind])
        head = {'pid': 1, 'tid': r.choice((1, 2)), 'ts': ts + .5}
        if xla:
            args = {'allocator_name': f'GPU_{kind}_bfc', 'bytes_allocated': amount, 'allocation_bytes': abs(size), 'addr': address,
                    **({'tf_op': f'op{r.randrange(3)}'} if r.random() < .5 else {})}
            events.append({'ph': 'X', 'dur': 0, 'name': 'MemoryAllocation' if size > 0 else 'MemoryDeallocation', **head, 'args': args})
        else:
            args = {'Device Type': kind, 'Device Id': 0 if kind else -1, 'Bytes': size, 'Addr': address, 'Total Allocated': amount, 'Total Reserved': amount + 100}
            events.append({'ph': 'i', 's': 't', 'name': '[memory]', 'cat': 'cpu_instant_event', **head, 'args': args})
    return events


def write(name, events):
    path = f'{folder}/{name}.json'
    with open(path, 'w', encoding='ascii') as f:
        json.dump({'traceEvents': events}, f)
    return path


def table():
    """Checks that, for each allocator, the table adds up small rows and rows beyond --top in one row."""
    sizes = {0: [1000, 500, 400, 15, 5, 3], 1: [700]}
    events = []
    for device, blocks in sizes.items():
        for i, size in enumerate(blocks):
            ts = 10 * len(events)
            events.append({'ph': 'X', 'cat': 'cpu_op', 'name': f'aten::op{i}', 'pid': 1, 'tid': 1, 'ts': ts, 'dur': 9})
            events.append({'ph': 'i', 's': 't', 'name': '[memory]', 'cat': 'cpu_instant_event', 'pid': 1, 'tid': 1, 'ts': ts + 1, 'args': {
                'Device Type': 1, 'Device Id': device, 'Bytes': size, 'Addr': 64 + ts, 'Total Allocated': sum(blocks[:i + 1])}})
    path = write('table', events)
    for top, want in ((10, ['1.0 KB 52.0 1 GPU 0: aten::op0', '500 B 26.0 1 GPU 0: aten::op1', '400 B 20.8 1 GPU 0: aten::op2', '23 B 1.2 3 GPU 0: 3 others',
                            '700 B 100.0 1 GPU 1: aten::op0']),
                      (2, ['1.0 KB 52.0 1 GPU 0: aten::op0', '500 B 26.0 1 GPU 0: aten::op1', '423 B 22.0 4 GPU 0: 4 others', '700 B 100.0 1 GPU 1: aten::op0'])):
        out = subprocess.run([TRACEKIT, 'report', '-q', '--top', str(top), path], stdout=subprocess.PIPE, check=True).stdout.decode()
        rows = [re.sub(' +', ' ', line).strip() for line in out.split('Memory at the peak\n')[1].split('\n\n')[0].splitlines()[1:]]
        check(f'table, {top} rows', rows == want, rows)
    flat_table()


def flat_table():
    """Checks that the largest rows are shown although each is small, in an order by peak, and that --top shows more of them."""
    events, blocks = [], {-1: [16, 8], 0: [2, 1], 1: [500 - i for i in range(200)]}
    for device, sizes in blocks.items():
        for i, size in enumerate(sizes):
            ts = 10 * len(events)
            events.append({'ph': 'X', 'cat': 'cpu_op', 'name': f'aten::op{i}', 'pid': 1, 'tid': 1, 'ts': ts, 'dur': 9})
            events.append({'ph': 'i', 's': 't', 'name': '[memory]', 'cat': 'cpu_instant_event', 'pid': 1, 'tid': 1, 'ts': ts + 1, 'args': {
                'Device Type': int(device >= 0), 'Device Id': device, 'Bytes': size, 'Addr': 64 + ts, 'Total Allocated': sum(sizes[:i + 1])}})
    path = write('flat', events)
    for options, top in (((), 10), (('--top', '3'), 3), (('--top', '40'), 40), (('--top', '500'), None)):
        out = subprocess.run([TRACEKIT, 'report', '-q', *options, path], stdout=subprocess.PIPE, check=True).stdout.decode()
        rows = [re.sub(' +', ' ', line).strip() for line in out.split('Memory at the peak\n')[1].split('\n\n')[0].splitlines()[1:]]
        names = [row.split(': ')[1] for row in rows if 'GPU 1: ' in row]
        top = top or next(n for n in range(200) if sum(blocks[1][:n]) >= .9 * sum(blocks[1]))
        check(f'flat table, {options}', names == [f'aten::op{i}' for i in range(top)] + [f'{200 - top} others'], names)
        check(f'flat table, {options}: small allocators', ([r.split()[-3:] for r in rows[top + 1:]]) == [['CPU:', '2', 'others'], ['0:', '2', 'others']], rows[top + 1:])


def fragmentation():
    """Checks the reserved amount at the peak and its unused share, and that the page draws the highest amount of each interval."""
    events = [{'ph': 'i', 's': 't', 'name': '[memory]', 'cat': 'cpu_instant_event', 'pid': 1, 'tid': 1, 'ts': ts, 'args': {
        'Device Type': 1, 'Device Id': 0, 'Bytes': 1, 'Addr': ts, 'Total Allocated': allocated, 'Total Reserved': reserved}}
        for ts, allocated, reserved in ((0, 10, 1000), (10, 750, 1000), (20, 100, 4000), (40, 100, 4000))]
    row, = report(write('fragmentation', events))['memory']
    check('reserved at the peak', row['reserved_at_peak_bytes'] == 1000 and row['peak_reserved_bytes'] == 4000, row)
    check('unused at the peak', abs(row['unused_at_peak_percent'] - 25) < 1e-9, row)
    path = f'{folder}/page.html'
    subprocess.run([TRACEKIT, 'report', '-q', f'{folder}/fragmentation.json', '--html', path], check=True, stdout=subprocess.DEVNULL)
    with open(path, encoding='utf-8') as f:
        picture = re.search(r'aria-label="allocated memory"[^>]*><path class=c0 d="([^"]*)"', f.read())
    heights = [int(x) for x in re.findall(r'v-(\d+)', picture[1])] if picture else []
    check('memory over time on the page', heights == [13, 1000, 133], heights)


def snapshots():
    """Checks that the blocks of a snapshot are the spans that cover the peak; blocks from before the history are summed up as the
    rest."""
    for name in sorted(os.listdir(f'{FIXTURES}/torch_memory')):
        path = f'{FIXTURES}/torch_memory/{name}'
        got, process, want = report(path), None, collections.defaultdict(collections.Counter)
        peaks = {m['allocator']: m for m in got['memory']}
        for line in subprocess.run([TRACEKIT, 'dump', '--graph', path], stdout=subprocess.PIPE, check=True).stdout.decode().splitlines():
            m = re.match(r'track process pid=\d+ "(.*) memory"', line)
            process = m[1] if m else process
            m = re.match(r'  \d+ span (\d+) \+(\d+) "([^"]*)" \[memory\].*\{bytes=(\d+),(.*)', line)
            if not m or 'before_history' in m[5] or process not in peaks:
                continue
            at = peaks[process]['peak_at_ns'] * 1000
            if int(m[1]) <= at and (at < int(m[1]) + int(m[2]) or ' unfinished' in line):
                want[process][m[3]] += int(m[4])
        for allocator, peak in peaks.items():
            rows = [r for r in got['allocated_at_peak'] if r['allocator'] == allocator]
            check(f'{name}, {allocator}: code', collections.Counter({r['op']: r['bytes'] for r in rows if r['blocks']}) == want[allocator], rows)
            check(f'{name}, {allocator}: all of the peak', sum(r['bytes'] for r in rows) == peak['peak_allocated_bytes'], (rows, peak))


def linear():
    """Checks that time grows linearly, with a hundred thousand blocks that are never released, and with twenty thousand processes that
    have a counter and a block each."""
    def cost(path):
        before = os.times()
        report(path)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    def processes(n):
        events = [{'ph': ph, 'name': 'block' if ph in 'be' else 'allocated memory', 'cat': 'memory', 'id': i, 'pid': i, 'tid': 1, 'ts': ts, 'args': args}
                  for i in range(1, n + 1) for ph, ts, args in (('C', 0, {'bytes': 5}), ('b', 0, {'bytes': 5}), ('e', 9, {}))]
        events += [{'ph': 'M', 'name': 'process_name', 'pid': i, 'args': {'name': f'GPU {i} memory'}} for i in range(1, n + 1)]
        return cost(write(f'processes{n}', events))

    def blocks(n):
        events = [{'ph': 'i', 's': 't', 'name': '[memory]', 'pid': 1, 'tid': 1, 'ts': i, 'args': {
            'Device Type': 0, 'Device Id': -1, 'Bytes': 1, 'Addr': i % (n // 2), 'Total Allocated': i}} for i in range(n)]
        events += [{'ph': 'X', 'name': f'aten::op{i}', 'cat': 'cpu_op', 'pid': 1, 'tid': 1, 'ts': i - .25, 'dur': .5} for i in range(n)]
        return cost(write(f'blocks{n}', events))
    for what, spent, n in (('blocks', blocks, 10000), ('processes', processes, 2000)):
        small, large = min(spent(n) for _ in range(3)), spent(10 * n)
        check(f'{what}: linear', large < 30 * small + .5, f'{small:.2f} s and {large:.2f} s')


rows_ = 0
for seed_ in range(NUMBER):
    for xla_ in (False, True):
        events_ = make(seed_, xla_)
        rows_ += compare(f'{"XLA" if xla_ else "Kineto"}, seed {seed_}', write('random', events_), events_)
check('random traces have owners', rows_ > 4 * NUMBER, rows_)
for rank_ in range(4):
    path_ = f'{FIXTURES}/json/torch/ddp4_full/rank{rank_}.json.gz'
    with gzip.open(path_) as f_:
        compare(f'ddp4_full, rank {rank_}', path_, json.load(f_)['traceEvents'])
table()
fragmentation()
snapshots()
linear()
sys.exit(finish())
