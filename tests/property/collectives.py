#!/usr/bin/env python3
"""Checks that the table of collectives matches the merged timeline, and that its flows connect the right kernels.

    table   arrivals and leaves are begins and ends of kernels; waits, skews and the last rank follow from them; .csv and
            .json agree, also for inputs of every format and for clocks that are not aligned
    last    names the rank that was generated as the slow one
    flows   --link-collectives: one flow from the last rank to each other rank, in every output format
    tpu     devices of one input are distinguished
    names   kernels of other libraries are recognised as collectives by name, and any kernel by its args
    given   --offsets-from with a report of the same merge, and --offset, give the same table and flows as the merge
    mixed   ranks of three formats in one merge give the table of a single-format merge, also with selections and given clocks
    faults  extensions, outputs, collectives that cannot be matched

Uses jobs of four ranks on two hosts (tests/gen)."""
import csv
import json
import os
import subprocess
import sys
import tempfile
from decimal import Decimal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from schema import conforms  # noqa: E402
from verdict import finish, judge  # noqa: E402

TRACEKIT, SRC = os.environ['TRACEKIT'], os.environ['SRC']
GEN = os.environ.get('GEN') or os.path.join(os.environ['B'], 'tests/gen/gen')
RANKS, SLOW = 4, 2


def run(folder, *args, status=0):
    p = subprocess.run([TRACEKIT, *args], cwd=folder, capture_output=True, text=True)
    if p.returncode != status:
        print(f'tracekit {" ".join(args)}: status {p.returncode}: {p.stderr[-300:]}')
    return p


def make(folder, ending, kind='kineto', *more):
    paths = []
    for rank in range(RANKS):
        name = f'rank{rank}.{ending}'
        first = f'rank{rank}.json' if kind == 'kineto' else name
        args = [GEN, kind, '--ranks', str(RANKS), '--hosts', '2', '--rank', str(rank), '--steps', '3', '--layers', '2',
                '--offset-us', '0,5000', '--straggler', str(SLOW), *more]
        with open(os.path.join(folder, first), 'wb') as f:
            f.write(subprocess.run(args, capture_output=True, check=True).stdout)
        if name != first:
            run(folder, 'convert', first, '-o', name)
        paths.append(name)
    return paths


def load(folder, name):
    run(folder, 'convert', name, '-o', 'read.json', '--force')
    with open(os.path.join(folder, 'read.json'), encoding='utf-8') as f:
        return json.load(f, parse_float=Decimal)


def kernels(trace):
    """Returns {(rank, begin, end)} of all kernels of collectives, in thousandths of us."""
    ranks = {str(p): r['rank'] for r in trace['tracekit']['ranks'] for p in r['pids'].values()}
    return {(ranks[str(e['pid'])], thousandths(e['ts']), thousandths(e['ts'] + e['dur']))
            for e in trace['traceEvents'] if e.get('ph') == 'X' and 'nccl' in e['name'] and str(e['pid']) in ranks and e.get('cat') == 'kernel'}


def read_json(folder, name='table.json'):
    with open(os.path.join(folder, name), encoding='utf-8') as f:
        return json.load(f, parse_float=Decimal)


def thousandths(us):
    return round(Decimal(us) * 1000)


def check_rows(table):
    """Returns an inconsistency within the table, or ''."""
    for c in table['collectives']:
        came = [thousandths(r['arrival_us']) for r in c['ranks']]
        if came != sorted(came) or c['last'] != c['ranks'][-1]['rank'] or thousandths(c['skew_us']) != came[-1] - came[0]:
            return c
        if any(thousandths(r['wait_us']) != came[-1] - a for r, a in zip(c['ranks'], came)):
            return c
    return ''


def plain(table):
    return [(c['name'], c['group'], c.get('sequence'), c.get('bytes'), c['last'], [r['rank'] for r in c['ranks']]) for c in table['collectives']]


def check_csv(folder, table):
    with open(os.path.join(folder, 'table.csv'), encoding='utf-8', newline='') as f:
        rows = list(csv.DictReader(f))
    flat = [(str(c['collective']), c['group'], str(c.get('sequence', '')), c['name'], str(r.get('bytes', '')), str(r['rank']), r['host'],
             str(r['device']), r['arrival_us'], r['leave_us'], r['wait_us'], str(c['last']), c['skew_us'])
            for c in table['collectives'] for r in c['ranks']]
    got = [tuple(Decimal(v) if k.endswith('_us') else v for k, v in row.items()) for row in rows]
    return '' if got == flat else f'{got[:2]} {flat[:2]}'


def table(folder, paths, ending, known):
    p = run(folder, 'merge', *paths, '-o', f'all.{ending}', '--collectives', 'table.json', '--json')
    run(folder, 'merge', *paths, '-n', '-o', f'none.{ending}', '--collectives', 'table.csv')
    t = read_json(folder)
    with open(f'{SRC}/schemas/collectives.schema.json', encoding='utf-8') as f:
        judge(f'{ending}: schema', conforms(json.load(f), t))
    judge(f'{ending}: all are there', '' if len(t['collectives']) == 6 and all(len(c['ranks']) == RANKS for c in t['collectives']) else plain(t))
    judge(f'{ending}: rows', check_rows(t))
    judge(f'{ending}: csv', check_csv(folder, t))
    judge(f'{ending}: who was last', '' if t['summary']['rank'] == SLOW and json.loads(p.stdout)['collectives']['rank'] == SLOW else t['summary'])
    told = all(c['name'] == 'allreduce' and c['group'] and c['bytes'] > 0 and 'sequence' in c for c in t['collectives'])
    judge(f'{ending}: what is told', '' if told else plain(t)[:2])
    if ending == 'json':
        rows = {(r['rank'], thousandths(r['arrival_us']), thousandths(r['leave_us'])) for c in t['collectives'] for r in c['ranks']}
        judge('json: as the timeline shows', '' if rows <= kernels(load(folder, f'all.{ending}')) else list(rows)[:2])
        run(folder, 'merge', *paths, '-n', '-o', 'none.json', '--align=clock', '--collectives', 'clock.json')
        clock = read_json(folder, 'clock.json')
        judge('json: by wall clocks', '' if len(clock['collectives']) == 6 and clock['collectives'][0]['skew_us'] > 4000 else plain(clock))
        known.append(plain(t))
    judge(f'{ending}: as of JSON', '' if plain(t) == known[0] else plain(t)[:2])


def flows(folder, paths, ending):
    run(folder, 'merge', *paths, '-o', f'linked.{ending}', '--link-collectives', '--collectives', 'table.json', '--force')
    judge(f'{ending}: check', '' if run(folder, 'check', f'linked.{ending}').returncode == 0 else 'wrong')
    wanted, trace = read_json(folder), load(folder, f'linked.{ending}')
    ranks = {str(p): r['rank'] for r in trace['tracekit']['ranks'] for p in r['pids'].values()}
    ends = {}
    for e in trace['traceEvents']:
        if e.get('ph', '-') in ('s', 'f') and (e.get('name') == 'waited for' or e.get('cat') == 'collective'):
            ends.setdefault(str(e['id']), {})[e.get('ph', '-')] = ranks[str(e['pid'])]
    got = sorted((f.get('s'), f.get('f')) for f in ends.values())
    want = sorted((c['last'], r['rank']) for c in wanted['collectives'] for r in c['ranks'][:-1])
    judge(f'{ending}: flows', '' if got == want else f'{len(got)} of {len(want)}: {got[:4]}')


def faults(folder, paths):
    for args, word in ((('--collectives', 'a.txt'), '.csv or .json'), (('--collectives', 'none.json'), 'output of the merge'),
                       (('--link-collectives', '--manifest'), 'cannot be combined'), (('--collectives', 'a.csv', '--align=marker=x'), 'cannot be combined'),
                       (('--collectives', 'a.csv', '--align-report', 'a.csv'), 'report on the clocks')):
        p = run(folder, 'merge', *paths, *args, '-o', 'none.tar' if '--manifest' in args else 'none.json', status=2)
        judge(' '.join(args), '' if word in p.stderr and not os.path.exists(os.path.join(folder, 'none.json')) else p.stderr)
    run(folder, 'merge', paths[0], '-o', 'one.json', '--collectives', 'one.json.json')
    judge('one input', '' if read_json(folder, 'one.json.json') == {'collectives': [], 'summary': {'collectives': 0}} else 'some')


def tpu(folder):
    paths = []
    for host in range(2):
        args = [GEN, 'xplane', '--tpu', '--ranks', '4', '--hosts', '2', '--rank', str(2 * host), '--steps', '4', '--offset-us', '0,900']
        with open(os.path.join(folder, f'host{host}.xplane.pb'), 'wb') as f:
            f.write(subprocess.run(args, capture_output=True, check=True).stdout)
        paths.append(f'host{host}.xplane.pb')
    run(folder, 'merge', *paths, '-o', 'tpu.json', '--collectives', 'tpu.table.json')
    t = read_json(folder, 'tpu.table.json')
    who = {tuple(sorted((r['rank'], r['device']) for r in c['ranks'])) for c in t['collectives']}
    judge('tpu: devices', '' if len(who) == 1 and len(next(iter(who))) == 4 else who)
    judge('tpu: rows', check_rows(t) or ('' if len(t['collectives']) > 8 else len(t['collectives'])))


def skews(t):
    return [(plain({'collectives': [c]})[0], float(c['skew_us'])) for c in t['collectives']]


def same(got, want):
    """True if the collectives are the same, with skews equal up to the rounding of clocks printed in whole nanoseconds."""
    return len(got) == len(want) > 0 and all(a[0] == b[0] and abs(a[1] - b[1]) < 0.01 for a, b in zip(got, want))


def given(folder, paths):
    run(folder, 'merge', *paths, '-o', 'known.json', '--force', '--collectives', 'known.table.json', '--align-report', 'clocks.json')
    want = skews(read_json(folder, 'known.table.json'))
    for source in ('clocks.json', 'known.json'):
        p = run(folder, 'merge', *paths, '-o', 'again.json', '--force', '--offsets-from', source, '--collectives', 'again.table.json', '--link-collectives')
        got = skews(read_json(folder, 'again.table.json'))
        judge(f'given: --offsets-from {source}', check_rows(read_json(folder, 'again.table.json')) or ('' if same(got, want) else f'{p.stderr} {got[:2]} {want[:2]}'))
        links = [e for e in load(folder, 'again.json')['traceEvents'] if e.get('ph') == 's' and e.get('cat') == 'collective']
        judge(f'given: --offsets-from {source}: links', '' if len(links) == 6 * (RANKS - 1) else len(links))
    hosts = {r: h for h in read_json(folder, 'clocks.json')['hosts'] for r in h['ranks']}
    some = [f'--offset={rank}={-int(hosts[rank]["offset_ns"])}ns' for rank in (RANKS - 2, RANKS - 1)]
    run(folder, 'merge', *paths, '-o', 'moved.json', '--force', *some, '--collectives', 'moved.table.json')
    got = read_json(folder, 'moved.table.json')
    judge('given: --offset', check_rows(got) or ('' if [p for p, _ in skews(got)] == [p for p, _ in want] else plain(got)[:2]))
    run(folder, 'merge', *paths, '-o', 'part.json', '--force', '--offset', f'{RANKS - 1}=5ms', '--rank', '0..1', '--collectives', 'part.table.json')
    judge('given: and --rank', check_rows(read_json(folder, 'part.table.json')))


def mixed(folder):
    """Merges ranks that have different formats."""
    paths = make(folder, 'json')
    run(folder, 'merge', *paths, '-o', 'of_json.json', '--collectives', 'of_json.table.json', '--align-report', 'of_json.clocks.json')
    others = ['rank0.json', 'rank1.pftrace', 'rank2.xplane.pb', 'rank3.json']
    for path in others[1:3]:
        run(folder, 'convert', path.split('.')[0] + '.json', '-o', path)
    want = plain(read_json(folder, 'of_json.table.json'))
    for ending in ('json', 'pftrace', 'xplane.pb'):
        run(folder, 'merge', *others, '-o', f'of_all.{ending}', '--collectives', 'of_all.table.json', '--align-report', 'of_all.clocks.json',
            '--link-collectives', '--force')
        got = read_json(folder, 'of_all.table.json')
        judge(f'mixed: {ending}', check_rows(got) or ('' if plain(got) == want else f'{len(got["collectives"])}: {plain(got)[:2]} {want[:2]}'))
        judge(f'mixed: {ending}: check', '' if run(folder, 'check', f'of_all.{ending}').returncode == 0 else 'wrong')
        clocks = [read_json(folder, f'{name}.clocks.json')['hosts'] for name in ('of_json', 'of_all')]
        offsets = [sorted((r, int(h['offset_ns'])) for h in hosts for r in h['ranks']) for hosts in clocks]
        far = max(abs(a[1] - b[1]) for a, b in zip(*offsets))
        judge(f'mixed: {ending}: clocks', '' if far < 2000 and len(offsets[0]) == len(offsets[1]) else offsets)
        run(folder, 'merge', *others, '-o', f'given.{ending}', '--offsets-from', 'of_json.clocks.json', '--collectives', 'given.table.json', '--force')
        judge(f'mixed: {ending}: --offsets-from', '' if plain(read_json(folder, 'given.table.json')) == want else plain(read_json(folder, 'given.table.json'))[:2])
        run(folder, 'merge', *others, '-o', f'some.{ending}', '--rank', '1..2', '--step', '11', '--collectives', 'some.table.json', '--force')
        judge(f'mixed: {ending}: --rank --step', check_rows(read_json(folder, 'some.table.json')))
        run(folder, 'merge', *others, '-o', f'small.{ending}', '--to', '600KB', '--link-collectives', '--force')
        size = os.path.getsize(os.path.join(folder, f'small.{ending}'))
        judge(f'mixed: {ending}: --to', '' if size <= 600 * 1000 else f'{size} bytes')


NAMES = ['ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)', 'ncclSymDevKernel_AllReduce_RSxLD_AGxST(x)', 'mscclKernel_Sum_half_LL', 'mscclpp::allreduce7<x>(y)',
         'hcom_allReduce__123_0_1', 'oneccl_allreduce_kernel', 'void vllm::cross_device_reduce_1stage<float, 8>(x)',
         'tensorrt_llm::kernels::twoShotAllReduceKernel<x>', 'one_shot_all_reduce_kernel', 'flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot']


def crafted(folder, name, args):
    """Writes two ranks that start 9 us apart, with eight collectives and eight other kernels of the same name that only their
    args distinguish."""
    paths = []
    for rank in range(2):
        events = []
        for i in range(8):
            late, end = (37 * i * (rank + 1)) % 50, 1000 * i + 131 * (i * i % 7) + 500
            e = {'ph': 'X', 'cat': 'kernel', 'name': name, 'pid': 0, 'tid': 7, 'ts': end - 100 + late, 'dur': 100 - late, 'args': {'stream': 7}}
            if args:
                e['args'].update({'Collective name': 'allreduce', 'Seq': i + 1, 'Process Group Name': '0', 'Process Group Ranks': '[0, 1]'})
                events.append({'ph': 'X', 'cat': 'kernel', 'name': name, 'pid': 0, 'tid': 8, 'ts': end + 20 * rank, 'dur': 9, 'args': {'stream': 8}})
            events.append(e)
        path = f'crafted{rank}.json'
        with open(os.path.join(folder, path), 'w', encoding='utf-8') as f:
            json.dump({'baseTimeNanoseconds': 10 ** 18, 'distributedInfo': {'rank': rank, 'world_size': 2}, 'traceEvents': events}, f)
        paths.append(path)
    return paths


def by_name(folder):
    for name, args in [(name, False) for name in NAMES] + [('void my_copy_kernel<int>(x)', True)]:
        paths = crafted(folder, name, args)
        run(folder, 'merge', *paths, '-o', 'named.json', '--force', '--collectives', 'named.table.json', '--link-collectives')
        t = read_json(folder, 'named.table.json')
        judge(f'names: {name}', check_rows(t) or ('' if len(t['collectives']) == 8 else f'{len(t["collectives"])} of 8'))
        links = [e for e in load(folder, 'named.json')['traceEvents'] if e.get('ph') == 's']
        judge(f'names: {name}: links', '' if len(links) == 8 else len(links))
    paths = crafted(folder, 'my_library::meet', False)
    run(folder, 'merge', *paths, '-o', 'named.json', '--force', '--collectives', 'a.json', '--link-collectives', '--anchor', '^my_.*meet$')
    judge('names: --anchor', '' if len(read_json(folder, 'a.json')['collectives']) == 8 else plain(read_json(folder, 'a.json')))
    links = [e for e in load(folder, 'named.json')['traceEvents'] if e.get('ph') == 's']
    judge('names: --anchor: links', '' if len(links) == 8 else len(links))
    p = run(folder, 'merge', *paths, '-o', 'wrong.json', '--anchor', '(', status=2)
    judge('names: --anchor (', '' if "anchor '('" in p.stderr else p.stderr)
    run(folder, 'merge', *crafted(folder, 'void my_copy_kernel<int>(x)', False), '-n', '-o', 'no.json', '--collectives', 'none.table.json')
    judge('names: of another kernel', read_json(folder, 'none.table.json')['collectives'])


def main():
    known = []
    for ending in ('json', 'pftrace', 'xplane.pb'):
        with tempfile.TemporaryDirectory() as folder:
            paths = make(folder, ending)
            table(folder, paths, ending, known)
            flows(folder, paths, ending)
            if ending == 'json':
                given(folder, paths)
                faults(folder, paths)
    with tempfile.TemporaryDirectory() as folder:
        mixed(folder)
    with tempfile.TemporaryDirectory() as folder:
        tpu(folder)
        by_name(folder)
    return finish()


sys.exit(main())
