#!/usr/bin/env python3
"""Checks that a merge in steps (scan and apply per rank; plan and concat on the small files) writes the same as `merge`.

    same       concat writes the same bytes as merge, for fixtures of each source and generated ranks on several hosts, in
               each format, plain and gzip, with the options that a plan stores
    gzip       the output is one gzip member that other programs can inflate
    budget     --to shares out the size: the output fits, the slow rank is complete, and removed plus kept adds up to the total
    slow       a plan names the same slow rank as a report on the traces, in the same step, with the same cause
    faults     parts that are truncated, changed, missing, of another plan or duplicated; a changed plan; a full disk: each
               gives the same output or a message, and leaves no partial file
    damage     random bytes as parts and plans are refused with a message; nothing crashes"""
import base64
import glob
import gzip
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import system_trace  # noqa: E402
from ranks import make_rank  # noqa: E402
from schema import conforms  # noqa: E402
from verdict import check, finish, judge  # noqa: E402

TRACEKIT, SRC, B, FIXTURES = (os.environ[name] for name in ('TRACEKIT', 'SRC', 'B', 'FIXTURES'))
LONG = bool(os.environ.get('LONG'))
FORMATS = {'json': '.json', 'json.gz': '.json.gz', 'perfetto': '.pftrace', 'perfetto.gz': '.pftrace.gz', 'xplane': '.xplane.pb',
           'xplane.gz': '.xplane.pb.gz'}
PLAIN = ('json', 'perfetto', 'xplane')
with open(f'{SRC}/schemas/plan.schema.json', encoding='utf-8') as schema_file:
    SCHEMA = json.load(schema_file)


def run(folder, *args, status=0, **kw):
    p = subprocess.run([TRACEKIT, *args], cwd=folder, capture_output=True, text=True, errors='replace', **kw)
    if status is not None and p.returncode != status:
        check(f'tracekit {" ".join(args)[:200]}', False, f'status {p.returncode}: {p.stderr[-400:]}')
    return p


def read(path):
    with open(path, 'rb') as f:
        return f.read()


def scans_of(folder, ranks):
    for i, rank in enumerate(ranks):
        run(folder, 'scan', '-q', '--force', rank, '-o', f'{i:04}.scan')
    return [f'{i:04}.scan' for i in range(len(ranks))]


def planned(folder, scans, word, options):
    run(folder, 'plan', '-q', '--force', *scans, '-f', word, *options, '-o', 'plan.json')
    plan = json.loads(read(f'{folder}/plan.json'))
    judge(f'schema of a plan for {word}', conforms(SCHEMA, {**plan, 'align': {}}))
    return plan


def parts_of(folder, ranks, skip=()):
    """Writes the parts in an order different from the plan's."""
    parts = []
    for i in reversed(range(len(ranks))):
        if i not in skip:
            run(folder, 'apply', '-q', '--force', 'plan.json', ranks[i], '-o', f'{i:04}.part')
            parts.append(f'{i:04}.part')
    return parts


def same(name, folder, ranks, scans, word, options=(), more=()):
    """Compares merge and the steps. `more`: options that only merge needs, because the plan already contains them."""
    ending = FORMATS[word]
    plan = planned(folder, scans, word, options)
    skip = [i for i, r in enumerate(plan['ranks']) if r.get('left_out')]
    order = {rank: i for i, rank in enumerate(ranks)}
    skip = [order[plan['ranks'][i]['input']] for i in skip]
    run(folder, 'merge', '-q', '--force', *ranks, *options, *more, '-o', 'want' + ending)
    run(folder, 'concat', '-q', '--force', 'plan.json', *parts_of(folder, ranks, skip), '-o', 'got' + ending)
    if not os.path.exists(f'{folder}/got{ending}'):
        return
    want, got = read(f'{folder}/want{ending}'), read(f'{folder}/got{ending}')
    check(f'{name}: {word} {" ".join(options)}: the bytes of a merge', want == got, f'{len(got)} bytes are not the {len(want)} of merge')
    if word.endswith('.gz') and got:
        check(f'{name}: {word}: one member', one_member(got))


def one_member(data):
    import zlib
    d = zlib.decompressobj(31)
    return d.decompress(data) == gzip.decompress(data) and d.eof and not d.unused_data


OPTIONS = (['--label', '{host}/{rank}: {process} of {input}'], ['--group-by', 'host'], ['--group-by', 'kind', '--to-zero'], ['--every-rank', '2'],
           ['--rank', '1..2', '--align', 'clock'], ['--time', '10%..60%'], ['--align', 'start'], ['--align', 'collectives', '--no-provenance'],
           ['--no-passthrough', '--derive'], ['--overlaps', '--offset', '1=+1.5ms'], ['--level', '6'], ['--level', '9'])


def systems(work):
    """Compares merges of two traces of systems, whose packets refer to processes and machines by id, and a rank in JSON."""
    folder = tempfile.mkdtemp(dir=work)
    ranks = [f'{folder}/a.pftrace', f'{folder}/b.pftrace', f'{folder}/c.json']
    system_trace.write(ranks[0], 1, False)
    system_trace.write(ranks[1], 2, True)
    with open(ranks[2], 'w', encoding='utf-8') as f:
        json.dump([{'ph': 'X', 'name': 'a', 'pid': 100, 'tid': 1, 'ts': 5, 'dur': 7}], f)
    scans = scans_of(folder, ranks)
    for word in FORMATS:
        same('systems', folder, ranks, scans, word)


def fixtures(work):
    for name in ('json/torch/ddp4_full', 'json/torch/ddp2_plain', 'xplane/multihost', 'json/jax/multihost'):
        folder = tempfile.mkdtemp(dir=work)
        ranks = sorted(glob.glob(f'{FIXTURES}/{name}/*'))
        scans = scans_of(folder, ranks)
        for word in FORMATS:
            same(name, folder, ranks, scans, word)
        if name in ('xplane/multihost', 'json/torch/ddp2_plain'):
            for i, options in enumerate(OPTIONS):
                same(name, folder, ranks, scans, PLAIN[i % 3] + ('.gz' if '--level' in options else ''), options)


def several(work):
    """Compares further merges: ranks of different formats together, in each order; a merged trace with another trace; two inputs
    with the same rank; passthrough."""
    folder = tempfile.mkdtemp(dir=work)
    torch = sorted(glob.glob(f'{FIXTURES}/json/torch/ddp4_full/*'))
    run(folder, 'convert', '-q', torch[1], '-o', 'rank1.pftrace')
    run(folder, 'convert', '-q', torch[2], '-o', 'rank2.xplane.pb')
    run(folder, 'merge', '-q', *torch[2:], '-o', 'two.pftrace')
    mixed = [torch[0], 'rank1.pftrace', 'rank2.xplane.pb', f'{FIXTURES}/xplane/mlp_train/vm.xplane.pb', f'{FIXTURES}/perfetto/small.pftrace.gz']
    for i in range(len(mixed) if LONG else 3):
        ranks = mixed[i:] + mixed[:i]
        scans = scans_of(folder, ranks)
        for word in PLAIN + ('json.gz',):
            same(f'each format, {i}', folder, ranks, scans, word)
    for name, ranks in (('a merged trace', ['two.pftrace', torch[0]]), ('sequences of packets', [f'{FIXTURES}/perfetto/perf/samples.pftrace', torch[1]]),
                        ('one rank twice', [torch[0], f'{FIXTURES}/json/torch/ddp2_plain/rank0.json.gz'])):
        if not all(os.path.exists(os.path.join(folder, r)) for r in ranks):
            continue
        scans = scans_of(folder, ranks)
        for word in PLAIN:
            same(name, folder, ranks, scans, word)


def many(work):
    folder = tempfile.mkdtemp(dir=work)
    for rank in range(64):
        make_rank(f'{folder}/rank{rank}.json', rank, rank // 8, 60)
    ranks = [f'rank{rank}.json' for rank in range(64)]
    run(folder, 'scan', '-q', *ranks, '-o', 'all.scan')
    for word in FORMATS if LONG else ('json.gz', 'perfetto', 'xplane'):
        same('64 ranks on 8 hosts', folder, ranks, ['all.scan'], word)
    same('64 ranks on 8 hosts', folder, ranks, ['all.scan'], 'perfetto', ['--every-rank', '8', '--group-by', 'host'])
    shuffled = random.Random(1).sample(ranks, len(ranks))
    run(folder, 'scan', '-q', *shuffled, '-o', 'shuffled.scan')
    same('64 ranks in any order', folder, shuffled, ['shuffled.scan'], 'json')
    same('64 ranks in any order', folder, shuffled, ['shuffled.scan'], 'xplane')


def sums(trace):
    """Returns {name: (count, duration)}; a span that represents several spans counts as that many."""
    out = {}
    for e in trace['traceEvents']:
        if e.get('ph') != 'X':
            continue
        args = e.get('args') or {}
        count, total = (args['count'], args['total']) if 'count' in args and 'total' in args else (1, e['dur'])
        row = out.setdefault(e['name'], [0, 0])
        row[0] += count
        row[1] += round(float(total) * 1000000)
    return out


def adds_up(name, whole, merged):
    want, got, told = sums(whole), sums(merged), merged['tracekit']
    for _, event, count, total in told['shrink']['dropped']:
        row = got.setdefault(event, [0, 0])
        row[0] += count
        row[1] += round(total * 1000000)
    others = told['shrink'].get('others')
    short = [(n, want[n], got.get(n, [0, 0])) for n in want if want[n] != got.get(n, [0, 0])]
    count, total = (sum(w[i] - g[i] for _, w, g in short) for i in (0, 1))
    if others:
        check(f'{name}: what stays and what went add up', (len(short), count, total) == (others[0], others[1], round(others[2] * 1000000)), others)
    else:
        check(f'{name}: what stays and what went add up, name by name', not short and set(got) == set(want), short[:3])
    dropped = sum(rank['shrink']['dropped_us'] for rank in told['ranks'] if 'shrink' in rank)
    told_us = sum(row[3] for row in told['shrink']['dropped']) + (others[2] if others else 0)
    check(f'{name}: ranks and names tell of the same time', abs(dropped - told_us) < 0.01, f'{dropped} {told_us}')


def budget(work):
    folder, slow = tempfile.mkdtemp(dir=work), 5
    ranks = [f'rank{rank}.json' for rank in range(12)]
    for i, rank in enumerate(ranks):
        make_rank(f'{folder}/{rank}', i, i // 4, 400, 40 if i == slow else 0, 12)
    run(folder, 'scan', '-q', *ranks, '-o', 'all.scan')
    for word in FORMATS:
        run(folder, 'merge', '-q', *ranks, '-o', 'all' + FORMATS[word])
        size = os.path.getsize(f'{folder}/all{FORMATS[word]}')
        for part in (80, 40, 15):
            most = size * part // 100
            same(f'a size of {part}%', folder, ranks, ['all.scan'], word, ['--to', str(most)])
            got = os.path.getsize(f'{folder}/got{FORMATS[word]}')
            check(f'{word}: {part}% is as small and uses the room', most * 7 // 10 < got <= most, f'{got} of {most}')
            if word == 'json':
                shared(folder, part, slow)
            told = json.loads(run(folder, 'apply', '--json', '--force', 'plan.json', ranks[slow], '-o', 'slow.part').stdout)
            check(f'{word}: {part}%: the slow rank is whole', told['written_events'] == 840 or part < 40, told)
    same('a size, and a part', folder, ranks, ['all.scan'], 'json.gz', ['--to', '60KB', '--every-rank', '2', '--time', '10%..80%'])
    same('a size that is enough', folder, ranks, ['all.scan'], 'perfetto.gz', ['--to', '100MB', '--group-by', 'host', '--derive'])
    whole = json.loads(run(folder, 'info', '--json', 'got.pftrace.gz').stdout)['traces'][0]['events']
    check('nothing goes where there is room', whole >= 12 * 840, whole)
    refused('a size that is too small', run(folder, 'plan', 'all.scan', '--to', '2KB', '-o', 'none.json', status=None), '2.0 KB')
    refused('the same of a merge', run(folder, 'merge', *ranks, '--to', '2KB', '-o', 'none.json', status=None), '2.0 KB')
    check('then nothing is written', not os.path.exists(f'{folder}/none.json'))
    torch = sorted(glob.glob(f'{FIXTURES}/json/torch/ddp4_full/*'))
    scans = scans_of(folder, torch)
    for word, size in (('json.gz', '300KB'), ('perfetto', '400KB'), ('xplane', '1MB')):
        same('real ranks to a size', folder, torch, scans, word, ['--to', size])


def shared(folder, part, slow):
    """Checks which rank is complete in the output, and the totals of the others."""
    merged, plan = json.loads(read(f'{folder}/got.json')), json.loads(read(f'{folder}/plan.json'))
    adds_up(f'{part}%', json.loads(read(f'{folder}/all.json')), merged)
    check('the slow rank is known', [r['rank'] for r in plan['ranks'] if r.get('whole') == 'slow'] == [slow], plan['ranks'])
    check('a typical one is another', len([r for r in plan['ranks'] if r.get('whole') == 'typical' and r['rank'] != slow]) == 1)
    whole = [r['rank'] for r in merged['tracekit']['ranks'] if 'shrink' not in r]
    check(f'{part}%: who is whole', slow in whole or part == 15, whole)


def slow(work):
    folder = tempfile.mkdtemp(dir=work)
    ranks = [f'rank{rank}.json' for rank in range(12)]
    for i, rank in enumerate(ranks):
        make_rank(f'{folder}/{rank}', i, i // 4, 400, 30 if i == 7 else 0, 12, 200 if i == 7 else 0, 4)
    run(folder, 'scan', '-q', *ranks, '-o', 'all.scan')
    for options in (['--step', '2'], ['--step', '2..3', '--to', '200KB'], ['--step', '..1', '--time', '20%..']):
        for word in PLAIN + ('json.gz',):
            same('a range of steps', folder, ranks, ['all.scan'], word, options)
    p = run(folder, 'plan', 'all.scan', '--step', '9', '-o', 'none.json', status=1)
    check('steps that are not there', 'nothing matched' in p.stderr and not os.path.exists(f'{folder}/none.json'), p.stderr)
    run(folder, 'plan', '-q', '--force', 'all.scan', '-o', 'plan.json')
    plan, told = json.loads(read(f'{folder}/plan.json')), json.loads(run(folder, 'plan', '--json', '--force', 'all.scan', '-o', 'plan.json').stdout)
    stragglers = plan['stragglers']
    check('the plan and what is printed say the same', told['stragglers'] == stragglers)
    check('who is slow', stragglers['ranks'][0]['rank'] == 7 and stragglers['typical']['rank'] != 7, stragglers)
    check('in what', stragglers['names'] and stragglers['names'][0]['name'] == 'op3', stragglers['names'])
    more = stragglers['names'][0] if stragglers['names'] else {'self_ns': 0, 'typical_self_ns': 0, 'count': 0, 'p50_ns': 0}
    check('and by how much', abs(more['self_ns'] - more['typical_self_ns'] - more['count'] * 200000) < 2000, more)
    check('a median to an eighth', abs(more['p50_ns'] - 254000) < 254000 / 8, more)
    report = json.loads(run(folder, 'report', '--json', *ranks).stdout)
    meetings = {m['rank']: m for m in find(report, 'waits') or []}
    alike = [r for r in stragglers['ranks'] if r['rank'] in meetings]
    wrong = [(r, meetings[r['rank']]) for r in alike for key in ('met', 'last', 'wait_ns', 'cost_ns') if abs(r[key] - meetings[r['rank']][key]) > 40 * 12]
    check('as a report of the traces has it', alike and not wrong, (len(alike), wrong[:2]))
    scan = len(read(f'{folder}/all.scan'))
    check('a scan is small', scan < 12 * 65536, scan)


def find(tree, key):
    """Returns the first member with this name at any depth."""
    if isinstance(tree, dict):
        return tree[key] if key in tree else next((v for v in (find(x, key) for x in tree.values()) if v is not None), None)
    if isinstance(tree, list):
        return next((v for v in (find(x, key) for x in tree) if v is not None), None)
    return None


def refused(name, p, *words):
    """Checks that the command fails with a message that names the bad file."""
    check(f'{name}: is refused', p.returncode in (2, 3, 4) and all(word in p.stderr for word in words), f'{p.returncode}: {p.stderr[-300:]}')


def faults(work):
    folder = tempfile.mkdtemp(dir=work)
    ranks = sorted(glob.glob(f'{FIXTURES}/json/torch/ddp4_full/*'))
    scans = scans_of(folder, ranks)
    planned(folder, scans, 'json.gz', [])
    run(folder, 'merge', '-q', *ranks, '-o', 'want.json.gz')
    parts = parts_of(folder, ranks)
    whole = read(f'{folder}/0001.part')

    def concat(*args, status=None, **kw):
        p = run(folder, 'concat', '--force', 'plan.json', *args, '-o', 'out.json.gz', status=status, **kw)
        left = [n for n in os.listdir(folder) if n.startswith('.out')]
        check('nothing half written is left', not left, left)
        return p

    def no_output(name):
        check(f'{name}: there is no output', not os.path.exists(f'{folder}/out.json.gz'))

    others = [p for p in parts if p != '0001.part']
    for name, data in (('cut', whole[:len(whole) // 2]), ('cut at its end', whole[:-1]), ('empty', b''),
                       ('changed', whole[:1000] + bytes([whole[1000] ^ 1]) + whole[1001:]), ('changed at its end', whole[:-40] + b'x' + whole[-39:])):
        with open(f'{folder}/0001.part', 'wb') as f:
            f.write(data)
        refused(f'a part that is {name}', concat(*parts), '0001.part')
        no_output(name)
    p = concat('-k', '0001.part', *others)
    check('--keep-going does not hide a part that is damaged within', p.returncode == 3, p.stderr)
    with open(f'{folder}/0001.part', 'wb') as f:
        f.write(whole)
    refused('a rank without a part', concat(*others), ranks[1])
    p = concat('-k', *others)
    check('--keep-going says who is missing', p.returncode == 3 and ranks[1] in p.stderr and os.path.exists(f'{folder}/out.json.gz'), p.stderr)
    for missing in range(4):
        run(folder, 'concat', '-k', '--force', 'plan.json', *(p for p in parts if p != f'{missing:04}.part'), '-o', 'out.json', status=None)
        p = run(folder, 'concat', '-kq', '--force', 'plan.json', *(p for p in parts if p != f'{missing:04}.part'), '-o', 'out.json.gz', status=3)
        told = json.loads(run(folder, 'info', '--json', '--strict', 'out.json.gz').stdout or '{}')
        check(f'what is joined without rank {missing} is a trace', told.get('traces') and told['traces'][0]['events'] > 1000, p.stderr)
    os.unlink(f'{folder}/out.json.gz')
    shutil.copy(f'{folder}/0001.part', f'{folder}/again.part')
    p = concat('again.part', *parts)
    check('a task that ran twice', p.returncode == 0 and read(f'{folder}/out.json.gz') == read(f'{folder}/want.json.gz'), p.stderr)
    os.unlink(f'{folder}/out.json.gz')
    run(folder, 'plan', '-q', *scans, '-f', 'json.gz', '--to-zero', '-o', 'other.json')
    run(folder, 'apply', '-q', 'other.json', ranks[1], '-o', 'other.part')
    refused('a part of another plan', concat('other.part', *others), 'other.part', 'different plan')
    refused('a part beside one of another plan', concat('other.part', *parts), 'other.part')
    no_output('another plan')
    refused('no rank of the plan', run(folder, 'apply', 'plan.json', f'{FIXTURES}/json/jax/multihost/host-0.trace.json.gz', '-o', 'x.part', status=None))
    refused('an input that the plan has not', run(folder, 'apply', 'plan.json', ranks[0], '--input', 'none', '-o', 'x.part', status=None), 'none')
    refused('the output is a part', run(folder, 'concat', '--force', 'plan.json', *parts, '-o', '0001.part', status=None), '0001.part')
    refused('the output is the plan', run(folder, 'concat', '--force', 'plan.json', *parts, '-o', 'plan.json', status=None))
    refused('another format', run(folder, 'concat', 'plan.json', *parts, '-o', 'out.pftrace', status=None), 'out.pftrace')
    check('parts are as they were', read(f'{folder}/0001.part') == whole)
    limit = {'preexec_fn': lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000)), 'restore_signals': False}
    refused('a full disk', concat(*parts, **limit), 'out.json.gz')
    no_output('a full disk')
    refused('a full disk for a part', run(folder, 'apply', 'plan.json', ranks[0], '-o', 'x.part', status=None, **limit), 'x.part')
    check('no part is half written', not glob.glob(f'{folder}/*x.part*'))
    twice = [read(f'{folder}/0002.part')]
    run(folder, 'apply', '-q', '--force', 'plan.json', ranks[2], '-o', '0002.part', '-j1')
    check('a rank gives the same part whenever it is written', twice[0] == read(f'{folder}/0002.part'))
    shutil.copy(ranks[0], f'{folder}/elsewhere.json.gz')
    run(folder, 'apply', '-q', 'plan.json', 'elsewhere.json.gz', '-o', 'moved.part')
    check('a rank that lies elsewhere is known by what it states', read(f'{folder}/moved.part') == read(f'{folder}/0000.part'))
    changed(folder, ranks, parts)


def changed(folder, ranks, parts):
    """Checks plans that were edited or are invalid."""
    plan = json.loads(read(f'{folder}/plan.json'))
    for name, text in (('printed anew', json.dumps({**plan, 'align': {**plan['align'], 'method': 'x'}})), ('without tasks', json.dumps({**plan, 'tasks': 1})),
                       ('no plan', '{"traceEvents":[]}'), ('empty', ''), ('with other tasks', json.dumps({**plan, 'tasks': 'AAAA'}))):
        with open(f'{folder}/bad.json', 'w', encoding='utf-8') as f:
            f.write(text)
        refused(f'a plan {name}', run(folder, 'apply', 'bad.json', ranks[0], '-o', 'y.part', status=None), 'bad.json')
        refused(f'a plan {name}', run(folder, 'concat', 'bad.json', *parts, '-o', 'y.json.gz', status=None), 'bad.json')
    check('nothing is written by it', not glob.glob(f'{folder}/y.*'))


def damage(work):
    folder = tempfile.mkdtemp(dir=work)
    ranks = sorted(glob.glob(f'{FIXTURES}/json/torch/ddp2_plain/*'))
    planned(folder, scans_of(folder, ranks), 'perfetto', ['--align', 'collectives'])
    parts = parts_of(folder, ranks)
    part, plan = read(f'{folder}/{parts[0]}'), json.loads(read(f'{folder}/plan.json'))
    tasks, rng, crashed = base64.b64decode(plan['tasks']), random.Random(7), []
    for i in range(300 if LONG else 100):
        if i % 2:
            bad = bytearray(part[-3000:])
            for _ in range(rng.randrange(1, 4)):
                bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
            with open(f'{folder}/bad.part', 'wb') as f:
                f.write(part[:-3000] + bad)
            p = run(folder, 'concat', '--force', 'plan.json', 'bad.part', parts[1], '-o', 'out.pftrace', status=None)
        else:
            bad = bytearray(tasks)
            for _ in range(rng.randrange(1, 4)):
                bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
            with open(f'{folder}/bad.json', 'w', encoding='utf-8') as f:
                text = read(f'{folder}/plan.json').decode()
                f.write(text.replace(plan['tasks'], base64.b64encode(bytes(bad)).decode()))
            p = run(folder, 'apply', '--force', 'bad.json', ranks[0], '-o', 'out.part', status=None)
        if p.returncode not in (0, 2, 3, 4):
            crashed.append(f'{i}: {p.returncode}: {p.stderr[-300:]}')
    check('damaged plans and parts do not crash', not crashed, '\n'.join(crashed[:3]))


def main():
    with tempfile.TemporaryDirectory() as work:
        for step in (fixtures, systems, several, many, budget, slow, faults, damage):
            if len(sys.argv) < 2 or sys.argv[1] in step.__name__:
                step(work)
    return finish()


if __name__ == '__main__':
    sys.exit(main())
