#!/usr/bin/env python3
"""Checks that a merge in steps finds the same clocks as `merge`: scan keeps the data of each rank that clock comparison needs,
and plan compares.

    same     plan reports the same clocks as merge --align-report, byte for byte, and the same table of collectives: for
             simulated jobs of several kinds with wrong clocks and for fixtures of both sources, with one scan of all ranks
             or one scan per rank, joined or separate
    moved    a rank merged alone with --offsets-from PLAN gets the same times as in the merge of all ranks
    small    the scan of a rank with very many collectives takes at most 64 KiB
    flips    every flipped bit of a scan is found; a scan that is given twice is reported and counts once
    damage   truncated, changed or invalid scans are refused with a message, or are read; nothing crashes
    faults   outputs that are inputs, options that scans do not support"""
import glob
import json
import os
import random
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from schema import conforms  # noqa: E402
from verdict import check, finish, judge  # noqa: E402

TRACEKIT, SRC, B, FIXTURES = (os.environ[name] for name in ('TRACEKIT', 'SRC', 'B', 'FIXTURES'))
JOBS = ('plain', 'removed', 'tpu', 'pipeline', 'jump', 'two jobs', 'unknown groups', 'crowd')
LONG = bool(os.environ.get('LONG'))
with open(f'{SRC}/schemas/plan.schema.json', encoding='utf-8') as f:
    SCHEMA = json.load(f)
with open(f'{SRC}/schemas/align.schema.json', encoding='utf-8') as f:
    ALIGN = json.load(f)


def run(folder, *args, status=0):
    p = subprocess.run([TRACEKIT, *args], cwd=folder, capture_output=True, text=True)
    if p.returncode != status:
        print(f'tracekit {" ".join(args)[:300]}: status {p.returncode}: {p.stderr[-300:]}')
    return p


def read(path):
    with open(path, encoding='utf-8') as f:
        return f.read()


def align_of(plan):
    """Returns the plan's member "align" as text."""
    text = plan.split('"align":', 1)[1]
    return json.dumps(json.JSONDecoder().raw_decode(text)[0])


def same(name, folder, inputs):
    """Checks that plans from inputs scanned in four ways are equal, and have the clocks and collectives of a merge. Returns the
    plan."""
    run(folder, 'merge', '-q', '--force', *inputs, '-o', 'merged.json', '--align-report', 'align.json', '--collectives', 'merged.csv')
    run(folder, 'scan', '-q', '--force', *inputs, '-o', 'all.scan')
    each = []
    for i, path in enumerate(inputs):
        run(folder, 'scan', '-q', '--force', path, '-o', f'{i}.scan')
        each.append(f'{i}.scan')
    run(folder, 'scan', '-q', '--force', '--join', *each, '-o', 'joined.scan')
    with open(os.path.join(folder, 'cat.scan'), 'wb') as out:
        for path in each:
            with open(os.path.join(folder, path), 'rb') as part:
                out.write(part.read())
    want, plans = json.dumps(json.loads(read(f'{folder}/align.json'))), []
    for scans in (['all.scan'], each, ['joined.scan'], ['cat.scan']):
        run(folder, 'plan', '-q', '--force', *scans, '-o', 'plan.json', '--collectives', 'plan.csv')
        plan = read(f'{folder}/plan.json')
        plans.append(plan)
        told = json.loads(plan)
        judge(f'{name}: schema of the clocks', conforms(ALIGN, told['align']))
        judge(f'{name}: schema', conforms(SCHEMA, {**told, 'align': {}}))
        check(f'{name}: {scans[0]}: the clocks', align_of(plan) == want, f'{align_of(plan)[:600]}\nis not\n{want[:600]}')
    check(f'{name}: every way of scanning gives one plan', len(set(plans)) == 1)
    merged, planned = read(f'{folder}/merged.csv').splitlines(), read(f'{folder}/plan.csv').splitlines()
    check(f'{name}: the table of collectives', len(merged) == len(planned), f'{len(merged)} rows, {len(planned)}')
    return json.loads(plans[0])


def times(path):
    """Returns (name, absolute ns) of each span, sorted."""
    trace = json.loads(read(path))
    base = trace.get('baseTimeNanoseconds', 0)
    return sorted((e['name'], base + round(e['ts'] * 1000)) for e in trace['traceEvents'] if e.get('ph', '-') == 'X')


def moved(name, folder, inputs):
    parts = []
    for i, path in enumerate(inputs):
        run(folder, 'merge', '-q', '--force', path, '--offsets-from', 'plan.json', '-o', f'part{i}.json')
        parts += times(f'{folder}/part{i}.json')
    whole = times(f'{folder}/merged.json')
    near = len(whole) == len(parts) and all(a[0] == b[0] and abs(a[1] - b[1]) <= 1 for a, b in zip(sorted(parts), whole))
    check(f'{name}: ranks that are merged one by one stand where the merge of all puts them', near)


def jobs(work):
    for kind in JOBS:
        for seed in range(1, 4 if LONG else 2):
            folder = tempfile.mkdtemp(dir=work)
            p = subprocess.run([f'{B}/tests/property/clocks', '--one', kind, '1', '1', str(seed), folder], capture_output=True, text=True)
            inputs = sorted(os.path.basename(path) for path in glob.glob(f'{folder}/*'))
            check(f'{kind}: a job', p.returncode == 0 and len(inputs) > 1, p.stdout + p.stderr)
            plan = same(f'{kind}, seed {seed}', folder, inputs)
            if kind in ('plain', 'jump') and plan['align'].get('trusted'):
                moved(kind, folder, inputs)


def fixtures(work):
    for name in ('json/torch/ddp4_full', 'xplane/multihost', 'json/jax/multihost'):
        folder = tempfile.mkdtemp(dir=work)
        same(name, folder, sorted(glob.glob(f'{FIXTURES}/{name}/*')))
    folder = tempfile.mkdtemp(dir=work)
    ranks = sorted(glob.glob(f'{FIXTURES}/json/torch/ddp4_full/*'))
    run(folder, 'merge', '-q', *ranks, '-o', 'all.pftrace')
    same('a merged trace beside another', folder, ['all.pftrace', ranks[0]])


def small(work):
    kernels = [{'ph': 'X', 'cat': 'kernel', 'name': 'ncclDevKernel_AllReduce', 'pid': 0, 'tid': 7, 'ts': 50 * i, 'dur': 10.5,
                'args': {'Collective name': 'allreduce', 'In msg nelems': 64 + i, 'Out msg nelems': 64 + i, 'dtype': 'Float', 'Group size': 2,
                         'Process Group Name': '0', 'Process Group Ranks': '[0, 1]', 'Seq': i}} for i in range(20000)]
    for rank in range(2):
        trace = {'schemaVersion': 1, 'distributedInfo': {'rank': rank, 'world_size': 2}, 'baseTimeNanoseconds': 1700000000000000000,
                 'host_name': f'host{rank}', 'traceEvents': kernels}
        with open(f'{work}/many{rank}.json', 'w', encoding='utf-8') as out:
            json.dump(trace, out)
    run(work, 'scan', '-q', 'many0.json', '-o', 'many0.scan')
    run(work, 'scan', '-q', 'many0.json', 'many1.json', '-o', 'many.scan')
    check('a rank is at most 64 KiB', 10000 < os.path.getsize(f'{work}/many0.scan') <= 65536, os.path.getsize(f'{work}/many0.scan'))
    plan = json.loads(run(work, 'plan', '-q', 'many.scan', '-o', '-').stdout)
    check('what is left of very many collectives aligns', plan['align'].get('trusted') is True, plan['align'])


def damage(work):
    run(work, 'scan', '-q', *sorted(glob.glob(f'{FIXTURES}/json/torch/ddp4_full/*')), '-o', 'good.scan')
    with open(f'{work}/good.scan', 'rb') as f:
        good = f.read()
    rng, crashed, silent = random.Random(5), [], []
    for i in range(400 if LONG else 120):
        bad = bytearray(good)
        if i % 2:
            bad = bad[:rng.randrange(len(bad))]
        else:
            for _ in range(rng.randrange(1, 4)):
                bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
        with open(f'{work}/bad.scan', 'wb') as f:
            f.write(bad)
        p = subprocess.run([TRACEKIT, 'plan', '--force', 'bad.scan', '-o', 'bad.json'], cwd=work, capture_output=True, text=True,
                           errors='replace')
        if p.returncode not in (0, 2, 3, 4):
            crashed.append(p.stderr)
        elif p.returncode and 'bad.scan' not in p.stderr and 'a century' not in p.stderr:
            silent.append(p.stderr)
    check('damaged scans do not crash', not crashed, '\n'.join(crashed[:1]))
    check('a scan that is refused is named', not silent, '\n'.join(silent[:3]))
    for name, text in (('empty', b''), ('trace', b'{"traceEvents":[]}'), ('newer', b'\x08\x7f'),
                       ('count', b'\x08\x02\x12\x0c\x0a\x01a\x82\x01\x06\x08\xff\xff\xff\xff\x01')):
        with open(f'{work}/{name}.scan', 'wb') as f:
            f.write(text + (b'\x1d' + zlib.crc32(text).to_bytes(4, 'little') if name == 'count' else b''))
        p = run(work, 'plan', f'{name}.scan', '-o', 'never.json', status=3)
        check(f'{name}: is refused', f'{name}.scan' in p.stderr and not os.path.exists(f'{work}/never.json'), p.stderr)


def flips(work):
    """Checks that every flipped bit of a scan is found, and every bit of a part."""
    ranks = sorted(glob.glob(f'{FIXTURES}/json/torch/ddp2_plain/*'))
    run(work, 'scan', '-q', *ranks, '-o', 'whole.scan')
    with open(f'{work}/whole.scan', 'rb') as f:
        good = f.read()
    bits = list(range(8 * len(good)))
    accepted = []
    for bit in bits if LONG else random.Random(3).sample(bits, 150) + bits[:24] + bits[-48:]:
        bad = bytearray(good)
        bad[bit // 8] ^= 1 << bit % 8
        with open(f'{work}/flipped.scan', 'wb') as f:
            f.write(bad)
        p = subprocess.run([TRACEKIT, 'plan', '--force', 'flipped.scan', '-o', 'bad.json'], cwd=work, capture_output=True, check=False)
        if p.returncode != 3:
            accepted.append(bit)
    check('every flipped bit of a scan is found', not accepted, accepted[:5])
    run(work, 'scan', '-q', ranks[0], '-o', 'twice.scan')
    p = run(work, 'plan', '--force', 'whole.scan', 'twice.scan', '-o', 'twice.json')
    check('a scan given twice is said', 'is there twice' in p.stderr, p.stderr)
    with open(f'{work}/twice.json', encoding='utf-8') as f:
        check('a scan given twice counts once', len(json.load(f)['ranks']) == len(ranks))


def faults(work):
    with open(f'{work}/r.json', 'w', encoding='utf-8') as f:
        f.write('{"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":2}]}')
    run(work, 'scan', '-q', 'r.json', '-o', 'r.scan')
    run(work, 'scan', 'r.json', '-o', 'r.json', '--force', status=4)
    run(work, 'scan', 'r.json', '-o', 'r.scan', status=4)
    run(work, 'scan', 'none.json', '-o', 'x.scan', status=3)
    run(work, 'scan', 'r.json', '--anchor', '(', '-o', 'x.scan', status=2)
    run(work, 'plan', 'r.scan', '-o', 'r.scan', '--force', status=4)
    run(work, 'plan', 'r.scan', '-o', 'x.json', '--collectives', 'x.txt', status=2)
    check('nothing is left of what failed', not glob.glob(f'{work}/x.*'), glob.glob(f'{work}/x.*'))
    check('one rank alone has a plan', json.loads(run(work, 'plan', '-q', 'r.scan', '-o', '-').stdout)['ranks'][0]['rank'] == 0)


def main():
    with tempfile.TemporaryDirectory() as work:
        jobs(work)
        fixtures(work)
        small(work)
        damage(work)
        flips(work)
        faults(work)
    return finish()


if __name__ == '__main__':
    sys.exit(main())
