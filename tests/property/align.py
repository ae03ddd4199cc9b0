#!/usr/bin/env python3
"""Checks clock alignment on the command line, with generated jobs whose true clocks are known.

    drift     recovers an offset and a drift of 20 ppm within 1 us and 1 ppm, at the timestamps of the output
    missing   with a quarter of the collectives removed from every rank, the result is right or reported as unreliable
    unkeyed   like missing, but without sequence numbers and group names
    order     shifting keeps durations (constant offset) and nesting (piecewise lines); no collective ends before another
              rank arrives
    one host  ranks of one host stay unchanged, byte for byte except the metadata, whatever the collectives suggest
    choices   --offset, --reference, --require-align, --align=start|marker|clock|none|collectives, pipes; errors and exit
              statuses
    planes    JAX profiles of several hosts: aligned by profile_start_time if it is right, by program executions if it is
              wrong, however late a profile began and whether runs are numbered or not; without common executions, no
              alignment is claimed
    programs  GPU kernels: trusted if the program's HLO lists the participants; not trusted if the HLO is missing or damaged
    coarse    if no kernel is a collective, c10d rows on CPUs: never trusted, and applied only if the ranks cannot have
              met according to the wall clocks
    gpu       the bounds of a GPU's clock: launches give the upper one, waits the lower one; absent without either
    report    matches its schema, in the file, in the metadata and in --json"""
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import xspace  # noqa: E402
from verdict import finish, judge  # noqa: E402

TRACEKIT, GEN, SRC = os.environ['TRACEKIT'], os.environ['GEN'], os.environ['SRC']
TYPES = {'object': dict, 'array': list, 'string': str, 'integer': int, 'boolean': bool, 'number': (int, float), 'null': type(None)}


def tracekit(*args, status=0, stdin=subprocess.DEVNULL):
    p = subprocess.run([TRACEKIT, *args], stdin=stdin, capture_output=True, text=True, check=False)
    if p.returncode != status:
        judge(' '.join(args), f'status {p.returncode}: {p.stderr.strip()}')
    return p.stdout, p.stderr


def generate(work, name, *options, ranks=4, hosts=2):
    """Returns the paths of the generated ranks, which contain collectives and steps and are named after their hosts."""
    paths = []
    for rank in range(ranks):
        path = f'{work}/{name}-host{rank * hosts // ranks}_{100 + rank}.1.pt.trace.json'
        raw = subprocess.run([GEN, 'kineto', '--ranks', str(ranks), '--hosts', str(hosts), '--rank', str(rank), '--no-stack', *options],
                             check=True, stdout=subprocess.PIPE)
        subprocess.run([TRACEKIT, 'filter', '-q', '-', '-e', 'kind == collective || kind == step || name ~ "aten::*mm"', '-f', 'json',
                        '-o', path, '--force'], input=raw.stdout, check=True)
        paths.append(path)
    return paths


def merge(work, paths, *options, status=0):
    out, report = f'{work}/merged.json', f'{work}/clocks.json'
    tracekit('merge', '-q', '--force', *paths, '-o', out, '--align-report', report, *options, status=status)
    with open(out, encoding='utf-8') as f, open(report, encoding='utf-8') as g:
        return json.load(f), json.load(g)


def read(path):
    with open(path, 'rb') as f:
        return f.read()


def load(path):
    with open(path, encoding='utf-8') as f:
        return json.load(f)


def rank_of_pid(trace):
    return {str(pid): r['rank'] for r in trace['tracekit']['ranks'] for pid in r['pids'].values()}


def collectives(trace):
    """Returns {(sequence number, rank): (start, end)} of the collectives, in us."""
    ranks = rank_of_pid(trace)
    return {(e['args']['Seq'], ranks[str(e['pid'])]): (e['ts'], e['ts'] + e['dur'])
            for e in trace['traceEvents'] if 'Seq' in e.get('args', {})}


def gaps(trace, hosts_of):
    """Returns the median differences between the hosts' collective ends, in the first and in the last tenth of the trace."""
    ends = collectives(trace)
    numbers = sorted({n for n, _ in ends})
    tenth = max(len(numbers) // 10, 1)

    def gap(some):
        return statistics.median(statistics.median(ends[n, r][1] for r in hosts_of[1]) - statistics.median(ends[n, r][1] for r in hosts_of[0])
                                 for n in some)
    return gap(numbers[:tenth]), gap(numbers[-tenth:])


def violations(trace):
    groups = {}
    for (n, rank), (start, end) in collectives(trace).items():
        groups.setdefault(n, []).append((start, end))
    return sum(max(s for s, _ in g) > min(e for _, e in g) for g in groups.values())


def schema_fault(root, schema, value):
    if '$ref' in schema:
        return schema_fault(root, root['$defs'][schema['$ref'].rsplit('/', 1)[1]], value)
    kinds = schema.get('type', [])
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if kinds and not any(isinstance(value, TYPES[k]) and (not isinstance(value, bool) or k == 'boolean') for k in kinds):
        return f'{value!r} is no {kinds}'
    if 'enum' in schema and value not in schema['enum']:
        return f'{value!r} is none of {schema["enum"]}'
    if isinstance(value, list):
        return next((f for v in value if (f := schema_fault(root, schema['items'], v))), '')
    if not isinstance(value, dict):
        return ''
    wrong = [k for k in schema.get('required', []) if k not in value] + [k for k in value if k not in schema['properties']]
    return f'keys {wrong}' if wrong else next((f for k, v in value.items() if (f := schema_fault(root, schema['properties'][k], v))), '')


def drift(work):
    steps = '4500' if os.environ.get('LONG') else '700'
    paths = generate(work, 'drift', '--steps', steps, '--layers', '1', '--offset-us', '0,3000', '--drift-ppm', '0,20')
    merged, report = merge(work, paths)
    host = report['hosts'][1]
    spans = [e['ts'] for e in load(paths[0])['traceEvents'] if e.get('ph', '-') == 'X']
    judge('drift: long', '' if max(spans) - min(spans) > (30e6 if os.environ.get('LONG') else 4e6) else f'{max(spans) - min(spans)} us')
    judge('drift: before', '' if abs(gaps(merge(work, paths, '--align=clock')[0], ((0, 1), (2, 3)))[0]) > 2000 else 'the clocks agree')
    merged, report = merge(work, paths)
    first, last = gaps(merged, ((0, 1), (2, 3)))
    judge('drift: rate', '' if abs(host['drift_ppm'] - 20) < 1 else f'{host["drift_ppm"]} ppm')
    judge('drift: offset', '' if abs(first) < 1 and abs(last) < 1 else f'{first:.3f} us at the beginning, {last:.3f} at the end')
    judge('drift: trust', '' if report['trusted'] and report['violations_after'] == 0 else str(host))
    judge('drift: causality', '' if violations(merged) == 0 else f'{violations(merged)} violations')
    before, after = tracekit('dump', '--graph', paths[2])[0], tracekit('dump', '--graph', f'{work}/merged.json')[0]
    judge('drift: nesting', '' if before.count('aten::') and after.count('aten::') >= before.count('aten::') else 'events are gone')
    tracekit('check', '-q', f'{work}/merged.json')


def without(paths, rng, keys):
    """Removes a quarter of the collectives on every rank; unless `keys`, also the args that identify them."""
    for path in paths:
        trace = load(path)
        trace['traceEvents'] = [e for e in trace['traceEvents'] if 'Seq' not in e.get('args', {}) or rng.random() > 0.25]
        for e in trace['traceEvents']:
            if 'Seq' in e.get('args', {}) and not keys:
                e['args']['true'] = e['args']['Seq']
                for key in ('Seq', 'Collective name', 'Process Group Name', 'Process Group Ranks'):
                    del e['args'][key]
        with open(path, 'w', encoding='utf-8') as f:
            json.dump(trace, f)


def missing(work):
    trusted = 0
    for seed in range(1, 9):
        for keys in (True, False):
            truth = random.Random(seed).randint(-20_000_000, 20_000_000)
            paths = generate(work, 'missing', '--steps', '20', '--layers', '4', '--seed', str(seed), '--offset-us', f'0,{truth}')
            without(paths, random.Random(seed), keys)
            host = merge(work, paths)[1]['hosts'][1]
            error = abs(host['offset_ns'] / 1e3 - truth)
            trusted += host['trusted']
            name = f'missing: seed {seed}{"" if keys else ", unkeyed"}'
            judge(name, '' if not host['trusted'] or error < 10 else f'silently wrong by {error} us: {host}')
            judge(f'{name}: keys suffice', f'declared untrustworthy: {host["trust"]}' if keys and not host['trusted'] else '')
    judge('missing: most are aligned', '' if trusted >= 14 else f'{trusted} of 16')


def order(work):
    """Checks that a constant offset shifts all events of the host equally and changes nothing else."""
    paths = generate(work, 'order', '--steps', '1', '--layers', '6', '--offset-us', '0,-777.5')
    aligned, report = merge(work, paths)
    clock, _ = merge(work, paths, '--align=clock')
    ranks = rank_of_pid(aligned)
    moved = {}
    for a, b in zip(aligned['traceEvents'], clock['traceEvents']):
        if 'ts' in a:
            moved.setdefault(ranks.get(str(a['pid'])), set()).add((round((a['ts'] - b['ts']) * 1000), a.get('dur') == b.get('dur')))
    shift = -report['hosts'][1]['offset_ns']
    judge('order: ranks of a host move together', '' if all(moved[r] == {(shift, True)} for r in (2, 3)) else str(moved)[:300])
    judge('order: the reference stays', '' if all(moved[r] == {(0, True)} for r in (0, 1)) else str(moved)[:300])
    judge('order: where they belong', '' if abs(shift - 777_500) < 4000 else f'{shift} ns')


def one_host(work):
    paths = generate(work, 'one', '--steps', '3', hosts=1)
    bare = []
    for rank, path in enumerate(paths):
        bare.append(f'{work}/bare-rank{rank}.json')
        os.link(path, bare[-1])
    for what, some in (('by name', paths), ('by clock', bare)):
        aligned, report = merge(work, some)
        clock, _ = merge(work, some, '--align=clock')
        judge(f'one host {what}: said', '' if what == 'by name' or 'count as one' in str(report) else str(report)[:300])
        judge(f'one host {what}', '' if aligned['traceEvents'] == clock['traceEvents'] and report['trusted'] else str(report)[:300])


    report = merge(work, bare, '--align=marker=ncclDevKernel*')[1]
    judge('one host by marker', '' if [h['method'] for h in report['hosts']] == ['reference'] + ['marker'] * 3 else str(report)[:300])


def choices(work):
    paths = generate(work, 'choices', '--steps', '3', '--offset-us', '0,5000')
    given = merge(work, paths, '--align=clock', '--offset', '2=-5ms', '--offset', '3=-5ms')
    first, last = gaps(given[0], ((0, 1), (2, 3)))
    judge('choices: offsets that are given', '' if abs(first) < 4 and abs(last) < 4 else f'{first} {last}')
    named = merge(work, paths, '--offset=choices-host1=-5000us')[1]
    judge('choices: by host', '' if [h['method'] for h in named['hosts']] == ['reference', 'given', 'given'] else str(named))
    turned = merge(work, paths, '--reference', '3')[1]
    methods = {h['host']: (h['method'], h['offset_ns']) for h in turned['hosts']}
    judge('choices: reference', '' if methods['choices-host1'][0] == 'reference' and abs(methods['choices-host0'][1] + 5e6) < 4000 else str(methods))
    merge(work, paths, '--require-align')
    merge(work, paths, '--require-align', '--align=clock', status=1)
    starts = merge(work, paths, '--align=start')[0]
    pids = rank_of_pid(starts)
    low = [min(e['ts'] for e in starts['traceEvents'] if e.get('ph', '-') in 'Xi' and pids.get(str(e['pid'])) in some) for some in ((0, 1), (2, 3))]
    judge('choices: start', '' if abs(low[0] - low[1]) < 0.002 else str(low))
    marked = merge(work, paths, '--align=marker=ncclDevKernel*')[1]['hosts'][1]
    judge('choices: marker', '' if marked['method'] == 'marker' and abs(marked['offset_ns'] - 5e6) < 4000 else str(marked))
    same = merge(work, paths, '--align=collectives')[1]
    judge('choices: collectives', '' if same['hosts'][1]['method'] == 'collectives' else str(same))
    for bad in (['--align=colectives'], ['--align=marker='], ['--offset', '7=1ms'], ['--offset', '1ms'], ['--offset', '1=fast'],
                ['--reference', 'nobody']):
        _, err = tracekit('merge', *paths, '-o', f'{work}/no.json', *bad, status=2)
        judge(f'choices: {bad}', '' if err.count('\n') == 1 and not os.path.exists(f'{work}/no.json') else err)


def pipes(work):
    """Checks that piped inputs, too, are read twice."""
    paths = generate(work, 'pipes', '--steps', '3', '--offset-us', '0,5000')
    plain = merge(work, paths)[1]
    with open(paths[0], 'rb') as f:
        cat = subprocess.Popen(['cat'], stdin=f, stdout=subprocess.PIPE)
        tracekit('merge', '-q', '--force', '-', *paths[1:], '-o', f'{work}/piped.json', '--align-report', f'{work}/piped-clocks.json', stdin=cat.stdout)
        cat.stdout.close()
        cat.wait()
    piped = load(f'{work}/piped-clocks.json')
    judge('pipes', '' if piped['hosts'][-1]['offset_ns'] // 10000 == plain['hosts'][-1]['offset_ns'] // 10000 else str(piped))


def profiles(work, *options, hosts=2, steps=(14, 14), ranks=None):
    paths = []
    for host in range(hosts):
        paths.append(f'{work}/host{host}.xplane.pb')
        with open(paths[-1], 'wb') as out:
            each = (ranks or 2 * hosts) // hosts
            subprocess.run([GEN, 'xplane', '--ranks', str(each * hosts), '--hosts', str(hosts), '--rank', str(each * host), '--layers', '3',
                            '--steps', str(steps[host]), *options], check=True, stdout=out)
    return paths


def ends_by_step(trace, name):
    """Returns, for each step, the median end of each host's spans whose name begins with `name`."""
    ranks, ends = rank_of_pid(trace), {}
    steps = sorted((e['ts'], e['ts'] + e['dur'], e['args']['step_num']) for e in trace['traceEvents'] if 'step_num' in e.get('args', {}))
    threads = {(e['pid'], e['tid']): e['args']['name'] for e in trace['traceEvents'] if e['name'] == 'thread_name'}
    for e in trace['traceEvents']:
        if e.get('ph', '-') != 'X' or not e['name'].lstrip('%').startswith(name) or threads[e['pid'], e['tid']].startswith('Async'):
            continue
        end = e['ts'] + e['dur']
        step = next((n for a, b, n in steps if a <= end <= b), None)
        ends.setdefault((step, e.get('args', {}).get('hlo_op', e['name'])), {}).setdefault(ranks[str(e['pid'])], []).append(end)
    return {k: {r: statistics.median(v) for r, v in by.items()} for k, by in ends.items() if k[0] is not None}


def apart(trace, name):
    """Returns the median difference between the ends of the collectives on host 1 and on host 0."""
    both = [by[1] - by[0] for by in ends_by_step(trace, name).values() if 0 in by and 1 in by]
    return statistics.median(both), len(both)


def planes(work):
    late = ('--late-ms', '0,110')
    for kind, name in (((), 'ncclDevKernel'), (('--tpu',), 'all-reduce-done'), (('--tpu', '--no-run-id'), 'all-reduce-done'), (('--no-run-id',), 'ncclDevKernel')):
        what = f'planes {" ".join(kind)}'
        honest = profiles(work, *kind, *late)
        gap, n = apart(merge(work, honest, '--align=clock')[0], name)
        judge(f'{what}: by profile_start_time', '' if abs(gap) < 4 and n > 10 else f'{gap} us in {n}')
        host = merge(work, honest)[1]['hosts'][-1]
        judge(f'{what}: an honest clock stays', '' if abs(host['offset_ns']) < 4000 else str(host))
        lying = profiles(work, *kind, *late, '--offset-us', '0,3000000', '--drift-ppm', '0,20')
        merged, report = merge(work, lying)
        host = report['hosts'][1]
        judge(f'{what}: a lying clock', '' if abs(host['offset_ns'] / 1e3 - 3e6) < 8 and host['trusted'] and report['matched_by'] == 'executions'
              else str(report))
        gap, n = apart(merged, name)
        judge(f'{what}: ends meet', '' if abs(gap) < 4 and n > 10 else f'{gap} us in {n}')
        never = profiles(work, *kind, '--late-ms', '0,140', steps=(5, 14), *(('--offset-us', '0,-2000000')))
        report = merge(work, never)[1]
        judge(f'{what}: nothing in common', '' if not report['trusted'] and report['hosts'][1]['method'] == 'clock' else str(report))
    run = f'{work}/log/plugins/profile/2026_11_20_10_21_49'
    os.makedirs(run)
    profiles(run, '--offset-us', '0,3000000')
    tracekit('extract', '-q', f'{work}/log', '-o', f'{work}/extracted.json')
    gap, n = apart(load(f'{work}/extracted.json'), 'ncclDevKernel')
    judge('planes: extract', '' if abs(gap) < 4 and n > 10 else f'{gap} us in {n}')


def programs(work):
    """Checks that without the HLO the offset estimate is about the same but untrusted, because the participants are unknown."""
    lie = ('--offset-us', '0,3000000')
    for ranks, steps in ((4, 14), (66, 5)):  # replica groups written as a list, and in the short form
        whole = merge(work, profiles(work, *lie, ranks=ranks, steps=(steps, steps)))[1]['hosts'][1]
        judge(f'programs: {ranks} ranks', '' if whole['trusted'] and whole['anchors'] > 10 and 'proven_us' in whole else str(whole))
    for what, change in (('none', None), ('cut', lambda hlo: hlo[:-3]), ('empty', lambda hlo: b''), ('noise', lambda hlo: hlo[::-1])):
        paths = profiles(work, *lie, *([] if change else ['--no-hlo']))
        for path in paths if change else ():
            space = xspace.with_hlo(read(path), change)
            with open(path, 'wb') as f:
                f.write(space)
        report = merge(work, paths)[1]
        host = report['hosts'][1]
        judge(f'programs: {what}', '' if not report['trusted'] and not host['trusted'] and abs(host['offset_ns'] / 1e3 - 3e6) < 8
              and 'do not record which devices took part' in host['trust'] else str(report))


def coarse(work):
    """Checks jobs whose CPUs reach a collective about 50 us late, or 2 ms late when waiting for the data loader."""
    some = 0
    for head in ('c10d::allreduce_', 'nccl:all_reduce'):
        for away in (700, 3_000_000):
            paths, rng = [], random.Random(f'{head}{away}')
            for rank in range(4):
                path, events, t = f'{work}/coarse-host{rank // 2}_{rank}.1.pt.trace.json', [], 0
                steps = random.Random(7)
                for _ in range(60):
                    t += steps.uniform(2000, 30000)
                    ts = t + rng.expovariate(1 / 50) + (2000 if rng.random() < 0.1 else 0) + (away if rank > 1 else 0)
                    events.append({'ph': 'X', 'cat': 'cpu_op', 'name': head, 'pid': 10 + rank, 'tid': 1, 'ts': round(ts, 3), 'dur': 20})
                with open(path, 'w', encoding='utf-8') as f:
                    json.dump({'baseTimeNanoseconds': 17 * 10 ** 17, 'distributedInfo': {'rank': rank, 'world_size': 4}, 'traceEvents': events}, f)
                paths.append(path)
            _, report = merge(work, paths)
            hosts = report['hosts']
            trusted = [h['trust'] for h in hosts if h['trusted'] and h['method'] != 'reference']
            judge(f'coarse: {head} {away} us: trust', trusted or ('' if len(hosts) == 2 and not report['trusted'] else hosts))
            moved = hosts[1]['method'] != 'clock'
            good = abs(hosts[1]['offset_ns'] / 1000 - away) < 200 and away > 10000 if moved else away < 10000 or 'rows of CPUs' not in hosts[1]['trust']
            judge(f'coarse: {head} {away} us: where', '' if good else hosts[1]['trust'])
            some += moved
    judge('coarse: moved', '' if some else 'never')


def gpu(work):
    """Checks the reported bounds of GPU clocks. Kernels begin 7 us or more after their launch; waits end some time after the
    kernel, of which the median counts, as some may wait for other work. Hosts: the reference,
    which has no estimate; neither launches nor waits; launches; both."""
    paths, medians = [], []
    for rank in range(8):
        rng, events, waits, t, host = random.Random(rank), [], [], 0, rank // 2
        steps = random.Random(3)
        for k in range(40):
            t += steps.uniform(2000, 30000)
            late, after = 7 if k == 5 else rng.randint(8, 20), rng.randint(3, 20)
            waits.append(-after)
            args = {'correlation': k + 1, 'stream': 7, 'device': rank, 'Collective name': 'allreduce', 'Process Group Name': '0',
                    'Process Group Ranks': '[0, 1, 2, 3, 4, 5, 6, 7]', 'Group size': 8, 'Seq': k + 1}
            events.append({'ph': 'X', 'cat': 'kernel', 'name': 'ncclDevKernel_AllReduce_Sum_f32_RING_LL', 'pid': rank, 'tid': 7, 'ts': t,
                           'dur': 100, 'args': args})
            call = {'ph': 'X', 'cat': 'cuda_runtime', 'pid': 100 + rank, 'tid': 100 + rank}
            if host > 1:
                events.append({**call, 'name': 'cudaLaunchKernel', 'ts': t - late, 'dur': 2, 'args': {'correlation': k + 1}})
            if host > 2:
                events.append({**call, 'name': 'cudaDeviceSynchronize', 'ts': t + 50, 'dur': 50 + after, 'args': {'correlation': 1000 + k}})
        path = f'{work}/gpu-host{host}_{rank}.1.pt.trace.json'
        with open(path, 'w', encoding='utf-8') as f:
            json.dump({'distributedInfo': {'rank': rank, 'world_size': 8}, 'traceEvents': events}, f)
        paths.append(path)
        medians.append(statistics.median(waits))
    _, report = merge(work, paths)
    for host, bounds in zip(report['hosts'], (None, None, [None, 7.0], [statistics.median(medians[6:]), 7.0])):
        judge(f'gpu: bounds {bounds}', '' if host.get('gpu_us') == bounds else str(host.get('gpu_us')))
    judge('gpu: hosts', '' if len(report['hosts']) == 4 else str(len(report['hosts'])))


def reports(work):
    schema = load(f'{SRC}/schemas/align.schema.json')
    paths = generate(work, 'report', '--steps', '3', '--offset-us', '0,5000')
    for options in ([], ['--align=clock'], ['--offset=1=3us'], ['--align=start']):
        merged, report = merge(work, paths, *options)
        judge(f'report {options}', schema_fault(schema, schema, report))
        judge(f'report {options}: in the metadata', '' if merged['tracekit']['align'] == report else 'another one')
    said = json.loads(tracekit('merge', '--json', '--force', *paths, '-o', f'{work}/merged.json')[0])
    judge('report: --json', '' if said['align'] == merge(work, paths)[1] else 'another one')


def alike(work):
    """Checks that inputs with equal file names are named by the ends of their paths, and that a report with these names is read again."""
    paths = []
    for path, place in zip(generate(work, 'alike', '--offset-us', '0,5000', ranks=2), ('a/out', 'b/out')):
        os.makedirs(f'{work}/{place}')
        os.rename(path, f'{work}/{place}/trace.json')
        paths.append(f'{work}/{place}/trace.json')
    merged, report = merge(work, paths)
    names = [host['host'] for host in report['hosts']]
    judge('alike: names', '' if names == ['a/out/trace.json', 'b/out/trace.json'] else names)
    for host in report['hosts']:
        host.pop('ranks', None)
    with open(f'{work}/given.json', 'w', encoding='utf-8') as f:
        json.dump(report, f)
    again = merge(work, paths, '--offsets-from', f'{work}/given.json')[0]
    times = [{e['name']: e['ts'] for e in trace['traceEvents'] if 'ts' in e} for trace in (merged, again)]
    worst = max(abs(times[0][name] - times[1][name]) for name in times[0])
    judge('alike: the report places them again', '' if worst < 1 else f'{worst} us elsewhere')


with tempfile.TemporaryDirectory() as folder:
    for test in (drift, missing, order, one_host, choices, pipes, planes, programs, coarse, gpu, reports, alike):
        test(folder)
sys.exit(finish())
