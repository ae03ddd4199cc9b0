#!/usr/bin/env python3
"""Checks recordings of one rank by several profilers (Kineto, Nsight Systems, a memory snapshot): they become one rank, the offset
of their clocks is found within the claimed error, and work that two of them recorded is counted once; inputs that only look alike
remain separate, with a note; the order of the inputs does not matter; and recordings that cannot be joined are refused."""
import itertools
import json
import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import nsysreport  # noqa: E402
import recordings  # noqa: E402
from databases import folder, path, tracekit  # noqa: E402
from nsysreport import EPOCH  # noqa: E402
from verdict import check, finish  # noqa: E402

LONG = bool(os.environ.get('LONG'))
DAY = 86_400_000_000_000


def job_of(*args, **more):
    return recordings.Job(folder.name, *args, **more)


def snapshot_at(name, *args):
    return recordings.snapshot_at(path(name), *args)


def merge(*inputs, options=(), output='merged.json', want=0):
    """Returns the report of a merge, its messages, and its events."""
    status, out, said = tracekit('merge', '--json', '--force', *options, *inputs, '-o', path(output))
    check(f'merge {" ".join(map(os.path.basename, inputs))}: status', status == want, f'{status}: {said}')
    if status or not output.endswith('.json'):
        return json.loads(out) if not status else None, said, []
    with open(path(output)) as f:
        return json.loads(out), said, json.load(f)['traceEvents']


def kernels(events):
    return sorted((e['name'].split('(')[0].split('<')[0].removeprefix('void '), round(e['dur'] * 1000)) for e in events if e.get('cat') == 'kernel')


def expected(job, extra=0):
    work = [(name.split('(')[0].split('<')[0].removeprefix('void '), end - start) for _, start, end, name, _, _ in job.work]
    return sorted(work + [('only_nsys', 5000)] * extra)


def offset(said):
    """Returns the shift and its error in ns, as the note states them."""
    found = re.search(r'shifted by (-?[0-9.]+) us \(\+/- ([0-9.]+) us\)', said)
    return (float(found[1]) * 1000, float(found[2]) * 1000) if found else (0, 0)


def is_joined(what, report, said, inputs=2):
    ranks = report['ranks']
    check(f'{what}: one rank', len(ranks) == 1 and ranks[0].get('recordings', '').count(',') == inputs - 2, ranks)
    check(f'{what}: a note states it', said.count('is another recording of this rank') == inputs - 1, said)


def is_apart(what, report, said, ranks=2):
    check(f'{what}: kept apart', len(report['ranks']) == ranks and not any('recordings' in r for r in report['ranks']), report['ranks'])
    check(f'{what}: a note recommends the option', 'claims the same rank 0 as' in said, said)


# ---- the same work, seen twice ----

def offsets():
    """Checks that any offset is found within the claimed error, and that each kernel is in the output once."""
    for seed in range(30 if LONG else 8):
        job, draw = job_of(seed, n=40 + 20 * (seed % 4)), random.Random(1000 + seed)
        links, jitter = seed % 4 != 3, (0, 50, 400)[seed % 3]
        ahead = draw.randrange(-800_000, 800_000) if links else draw.randrange(-300_000, 300_000)
        k, n = job.kineto('kineto_rank0.json', ahead, links=links), job.nsys('nsys_rank0.sqlite', links, jitter=jitter, extra=seed % 3)
        report, said, events = merge(k, n)
        what = f'seed {seed}, {ahead} ns, {"ids" if links else "no ids"}'
        is_joined(what, report, said)
        moved, error = offset(said)
        check(f'{what}: the offset is within the error', abs(moved - ahead) <= error + 1 and error <= 2 * jitter + 10, (moved, error))
        check(f'{what}: kernels are counted once', kernels(events) == expected(job, seed % 3), len(kernels(events)))
        want = len(job.work) * (2 if links else 1)
        check(f'{what}: duplicates', report['ranks'][0]['duplicates'] == want, report['ranks'][0])


def windows():
    """Checks a recording that contains only part of the work, and one whose correlation ids come from another counter."""
    job = job_of(50, n=120)
    n = job.nsys('nsys_rank0.sqlite')
    _, said, events = merge(job.kineto('kineto_rank0.json', 777, work=job.work[30:70]), n)
    check('part: kernels are counted once', kernels(events) == expected(job), len(kernels(events)))
    check('part: duplicates', '40 device events and 40 calls' in said, said)
    other = [(*w[:5], w[5] + 7) for w in job.work]
    _, said, events = merge(job.kineto('kineto_rank0.json', 777, work=other), n)
    check('other ids: kernels are counted once', kernels(events) == expected(job), len(kernels(events)))
    check('other ids: the offset', abs(offset(said)[0] - 777) <= max(10, offset(said)[1]), said)


def undecided():
    """Checks that work without a match in the other recording is kept, with a note that it may be counted twice."""
    job, other = job_of(60), job_of(61)
    report, said, events = merge(job.kineto('kineto_rank0.json', work=[(*w[:3], f'k{i}', *w[4:]) for i, w in enumerate(other.work)]),
                                 job.nsys('nsys_rank0.sqlite'))
    check('unlike work: all of it is kept', len(kernels(events)) == 160, len(kernels(events)))
    check('unlike work: a note', 'counted twice' in said and report['ranks'][0]['duplicates'] == 0, said)


def regular():
    """Checks kernels at equal distances, which match at many offsets: without ids, no wrong offset is claimed."""
    job = job_of(70, regular=True)
    for ahead in (0, 1500, 200_000):
        k, n = job.kineto('kineto_rank0.json', ahead, links=False), job.nsys('nsys_rank0.sqlite', links=False)
        _, said, _ = merge(k, n)
        moved, error = offset(said)
        check(f'regular, {ahead}: no wrong claim', 'shifted by' not in said or abs(moved - ahead) <= error + 1, said)


# ---- rows ----

def rows():
    job = job_of(80)
    k = job.kineto('kineto_rank0.json', steps=job.steps)
    n = job.nsys('nsys_rank0.sqlite', steps=job.steps)
    _, _, events = merge(k, n)
    names = {e['pid']: e['args']['name'] for e in events if e.get('name') == 'process_name'}
    check('the process is there once', list(names.values()).count('/usr/bin/python3') == 0 and 4001 in names, names)
    threads = {e['args']['name'] for e in events if e.get('name') == 'thread_name' and e['pid'] == 4001}
    check('a row for each recorder of a thread', threads == {'thread 4001 [nsys]'}, threads)
    ranges = [e for e in events if e.get('cat') == 'nvtx']
    check('ranges of the other recorder are there', len(ranges) == len(job.steps) and {e['pid'] for e in ranges} == {4001}, len(ranges))
    ops = [e for e in events if e.get('cat') == 'cpu_op']
    calls = [e for e in events if e.get('cat') == 'cuda_runtime']
    check('calls stay within their operators', len(calls) == len(ops) and {e['tid'] for e in calls} == {4001}, len(calls))
    status, _, said = tracekit('check', path('merged.json'))
    check('the result is valid', status == 0, said)
    for ending in ('pftrace', 'xplane.pb'):
        merge(k, n, output=f'merged.{ending}')
        found = [tracekit('top', '--csv', '--kind=kernel', path(f'merged.{e}'))[1] for e in ('json', ending)]
        check(f'{ending}: the same kernels', found[0] == found[1] and found[0].count('\n') > 2, found)


def orders():
    job = job_of(81)
    inputs = [job.kineto('kineto_rank0.json', 1234, steps=job.steps), job.nsys('nsys_rank0.sqlite'),
              snapshot_at('snapshot_rank0.pickle', EPOCH // 1000 + 50_000)]
    written = set()
    for order in itertools.permutations(inputs):
        report, said, _ = merge(*order, options=['--join', '--no-provenance'])
        is_joined('any order', report, said, 3)
        with open(path('merged.json'), 'rb') as f:
            written.add(f.read())
    check('the order of the inputs does not matter', len(written) == 1, len(written))


def kept_times():
    job = job_of(82)
    k, n = job.kineto('kineto_rank0.json', 5000), job.nsys('nsys_rank0.sqlite', extra=1)
    for align, note in (('none', 'its times are kept'), ('clock', 'contain show that it is 5.000 us behind')):
        report, said, events = merge(k, n, options=[f'--align={align}'])
        is_joined(align, report, said)
        check(f'{align}: the note', note in said, said)
        only = [e['ts'] for e in events if e['name'].startswith('only_nsys')]
        check(f'{align}: times are as recorded', only == [49_000.0], only)
        check(f'{align}: kernels are counted once', kernels(events) == expected(job, 1), len(kernels(events)))


# ---- a memory snapshot ----

def snapshots():
    job = job_of(83)
    k = job.kineto('kineto_rank0.json', steps=job.steps)
    s = snapshot_at('snapshot_rank0.pickle', EPOCH // 1000 + 50_000, job.steps)
    report, said, _ = merge(k, s)
    is_apart('snapshot without the option', report, said)
    report, said, events = merge(k, s, options=['--join'])
    is_joined('snapshot', report, said)
    check('snapshot: annotations confirm its clock', f'agrees with that of the other input' in said and f'{len(job.steps)} annotations' in said, said)
    names = {e['args']['name'] for e in events if e.get('name') == 'process_name'}
    check('snapshot: its process is beside that of the GPU', names == {'python', 'GPU 0 memory'}, names)
    tracekit('convert', '-q', '--force', s, '-o', path('alone.json'))
    with open(path('alone.json')) as f:
        alone = json.load(f)
    base = alone.get('baseTimeNanoseconds', 0)
    samples = lambda events, base: sorted((round(e['ts'] * 1000) + base, e['args']['bytes']) for e in events if e['ph'] == 'C')
    with open(path('merged.json')) as f:
        found = samples(events, json.load(f).get('baseTimeNanoseconds', 0))
    check('snapshot: its counters are on the timeline', found and found == samples(alone['traceEvents'], base), len(found))
    s = snapshot_at('snapshot_rank0.pickle', EPOCH // 1000 + 50_000)
    _, said, _ = merge(k, s, options=['--join'])
    check('snapshot: without annotations, nothing is claimed', 'its wall clock is used; the recordings share no event' in said, said)


def annotations():
    """Checks the offset found from annotations only: NVTX ranges around those of the other profiler, so they start earlier and end
    later. Names that occur once show offsets that the wall clocks contradict."""
    draw, steps = random.Random(7), 40
    spans, at = [], EPOCH + 1_000_000
    for i in range(steps):
        inner = at + draw.randrange(20_000, 40_000)
        spans += [(f'iteration {i}', at, at + 10_000_000), ('forward', inner, inner + draw.randrange(3_000_000, 6_000_000)), ('save', at + 8_000_000, at + 9_000_000)]
        at += 10_000_000 + draw.randrange(2_000_000)
    rows = [dict(ph='X', cat='user_annotation', name=name, pid=9, tid=9, ts=(a - EPOCH) / 1000, dur=(b - a) / 1000) for name, a, b in spans]
    with open(path('inner_rank0.json'), 'w') as f:
        json.dump({'schemaVersion': 1, 'baseTimeNanoseconds': EPOCH, 'traceEvents': rows}, f)
    for shift in (0, 300_000, -5_000_000, 123_456_789, 2_000_000_000):
        r = nsysreport.Report(path('outer_rank0.sqlite'))
        for name, a, b in spans:
            r.add('NVTX_EVENTS', start=a - EPOCH + shift - draw.randrange(2000, 4000), end=b - EPOCH + shift + draw.randrange(4000, 9000), eventType=59,
                  text=name, globalTid=nsysreport.process(9) + 9)
        r.close()
        _, said, _ = merge(path('inner_rank0.json'), path('outer_rank0.sqlite'), options=['--join'])
        os.remove(path('outer_rank0.sqlite'))
        moved, error = offset(said)
        if shift == 0:
            check('annotations around others: the clocks agree', f'agrees with that of the other input: {3 * steps} annotations' in said, said)
            continue
        check(f'annotations around others: offset of {shift} ns within the error', abs(moved + shift) <= error < 15_000, said)


def clocks():
    """Checks that clocks which differ by days give a note, and that clocks which differ by months are refused, unless they are
    ignored (--align=start)."""
    job = job_of(84)
    k = job.kineto('kineto_rank0.json')
    s = snapshot_at('snapshot_rank0.pickle', EPOCH // 1000 + 2 * DAY // 1000)
    _, said, _ = merge(k, s, options=['--join'])
    check('days apart: a note', 'according to it, the recordings do not overlap in time' in said, said)
    s = snapshot_at('snapshot_rank0.pickle', EPOCH // 1000 + 400 * DAY // 1000)
    said = merge(k, s, options=['--join'], want=2)[1]
    check('months apart: refused', re.search('its clock differs by (399|400) days; to ignore clocks, align the starts', said), said)
    _, said, events = merge(k, s, options=['--join', '--align=start'])
    first = min(e['ts'] for e in events if 'ts' in e and e['ph'] != 'M')
    samples = min(e['ts'] for e in events if e['ph'] == 'C')
    check('started together', 'its clock is ignored' in said and abs(first - samples) < .01, (first, samples, said))


# ---- what only looks alike ----

def near_misses():
    job = job_of(90)
    k, n = job.kineto('kineto_rank0.json', host='node-a'), job.nsys('nsys_rank0.sqlite', host='node-b')
    is_apart('two hosts', *merge(k, n)[:2])
    k = job.kineto('kineto_rank0.json', base=EPOCH + DAY)
    is_apart('a day apart', *merge(k, job.nsys('nsys_rank0.sqlite'))[:2])
    k = job.kineto('kineto_rank0.json')
    is_apart('another process', *merge(k, job.nsys('nsys_rank0.sqlite', pid=4711))[:2])
    report, said, _ = merge(k, job.kineto('again_rank0.json', 10), job.nsys('nsys_rank0.sqlite'))
    is_apart('a format twice', report, said, 3)
    k = job.kineto('kineto_rank1.json', rank=1)
    report, said, _ = merge(k, job.nsys('nsys_rank0.sqlite'))
    check('other ranks are other ranks', [r['rank'] for r in report['ranks']] == [1, 0] and 'recording' not in said, said)
    k, n = job.kineto('kineto_rank0.json', host='node-a'), job.nsys('nsys_rank0.sqlite', host='node-a')
    is_joined('one host', *merge(k, n)[:2])


def stated():
    """Checks that --join joins recordings whose contents do not show that they belong together, and is refused if it is ambiguous."""
    job, second = job_of(91), job_of(92, pid=4002)
    k, n = job.kineto('kineto_rank0.json'), job.nsys('nsys_rank0.sqlite', pid=4711)
    is_joined('stated', *merge(k, n, options=['--join'])[:2])
    inputs = [job.kineto('kineto_rank0.json'), second.kineto('kineto_rank1.json', rank=1), second.nsys('nsys_rank1.sqlite'),
              job.nsys('nsys_rank0.sqlite')]
    for options in ([], ['--join']):
        report, _, events = merge(*inputs, options=options)
        found = [(r['rank'], os.path.basename(r.get('recordings', ''))) for r in report['ranks']]
        check('two ranks, two recordings each', sorted(found) == [(0, 'nsys_rank0.sqlite'), (1, 'nsys_rank1.sqlite')], found)
        check('two ranks: kernels are counted once', kernels(events) == sorted(expected(job) + expected(second)), len(kernels(events)))
    said = merge(*inputs, job.kineto('again_rank0.json'), options=['--join'], want=2)[1]
    check('a format twice is refused', 'its rank has another input of the same format' in said, said)
    os.rename(job.nsys('nsys_rank0.sqlite'), path('report.sqlite'))
    said = merge(*inputs[:2], path('report.sqlite'), options=['--join'], want=2)[1]
    check('an unknown rank is refused', 'it states no rank' in said, said)
    report, said, _ = merge(inputs[0], path('report.sqlite'), options=['--join'])
    is_joined('only one rank is known', report, said)
    said = merge(*inputs, options=['--join', '--manifest'], output='merged.tar', want=2)[1]
    check('a manifest is refused', 'a manifest copies inputs unchanged' in said, said)


# ---- other commands ----

def commands():
    job = job_of(93)
    k, n = job.kineto('kineto_rank0.json', 900), job.nsys('nsys_rank0.sqlite')
    for options in ([], ['--join']):
        status, out, said = tracekit('report', '--json', *options, k, n)
        report = json.loads(out) if status == 0 else {}
        found = [r['kernels'] for r in report.get('ranks', [])]
        check('report: one rank', status == 0 and 'is another recording of this rank' in said, said)
        check('report: kernels are counted once', found == [len(job.work)], found)
    status, out, said = tracekit('top', '--json', '--kind=kernel', k, n)
    check('top: kernels are counted once', status == 0 and sum(r['count'] for r in json.loads(out)['rows']) == len(job.work), out[:300])


def pairs():
    """Checks that recordings in any two formats can be joined: no event is lost, and the result is valid."""
    fixtures = os.environ['FIXTURES']
    files = [os.path.join(fixtures, name) for name in
             ('json/torch/ddp4_full/rank0.json.gz', 'xplane/mlp_train/vm.xplane.pb', 'perfetto/small.pftrace.gz',
              'torch_memory/history.pickle', 'rocm/dispatches.db', 'cpuprofile/node.cpuprofile', 'gecko/processed.gecko.json',
              'otlp/trainer.otlp.json')]
    count = {}
    for name in files:
        report, _, _ = merge(name, output='alone.json')
        count[name] = report['ranks'][0]['events']
    for a, b in itertools.combinations(files, 2):
        report, said, _ = merge(a, b, options=['--join', '--align=start'])
        what = f'{os.path.basename(a)} and {os.path.basename(b)}'
        row = report['ranks'][0]
        found = row['events'] + row.get('duplicates', 0)
        check(f'{what}: one rank with all events', len(report['ranks']) == 1 and found == count[a] + count[b], (found, count[a], count[b]))
        status, _, said = tracekit('check', path('merged.json'))
        check(f'{what}: valid', status == 0, said)


def planned():
    """Checks that plan refuses recordings that merge would join, and accepts the output of that merge."""
    job, second = job_of(95), job_of(96, pid=4002)
    k, n, other = job.kineto('kineto_rank0.json'), job.nsys('nsys_rank0.sqlite'), second.kineto('kineto_rank1.json', rank=1)
    for name, source in (('a', k), ('b', n), ('c', other)):
        status, _, said = tracekit('scan', '-q', '--force', source, '-o', path(f'{name}.scan'))
        check(f'scan {name}', status == 0, said)
    plan = lambda *scans: tracekit('plan', '--force', *(path(f'{name}.scan') for name in scans), '-o', path('plan.json'))
    status, _, said = plan('a', 'b', 'c')
    check('plan refuses recordings of one rank', status == 2 and 'a plan cannot join recordings' in said, (status, said))
    check('plan takes other ranks', plan('a', 'c')[0] == 0)
    merge(k, n, output='joined_rank0.json')
    status, _, said = tracekit('scan', '-q', '--force', path('joined_rank0.json'), '-o', path('b.scan'))
    check('the merged recordings can be scanned', status == 0, said)
    status, _, said = plan('b', 'c')
    check('and planned', status == 0, said)


def damage():
    job = job_of(94, n=20)
    k, n = job.kineto('kineto_rank0.json'), job.nsys('nsys_rank0.sqlite')
    s = snapshot_at('snapshot_rank0.pickle', EPOCH // 1000 + 50_000)
    draw = random.Random(5)
    for i in range(60 if LONG else 15):
        victim = (k, n, s)[i % 3]
        with open(victim, 'rb') as f:
            data = bytearray(f.read())
        broken = bytearray(data)
        for _ in range(draw.randrange(1, 12)):
            broken[draw.randrange(20, len(broken))] = draw.randrange(256)
        with open(victim, 'wb') as f:
            f.write(broken)
        status = tracekit('merge', '-q', '--force', '--join', '--keep-going', k, n, s, '-o', path('merged.json'))[0]
        check(f'damage {i}: no crash', status in (0, 2, 3), status)
        with open(victim, 'wb') as f:
            f.write(data)


for test in (offsets, windows, undecided, regular, rows, orders, kept_times, snapshots, annotations, clocks, near_misses, stated, commands, pairs, planned, damage):
    test()
sys.exit(finish())
