#!/usr/bin/env python3
"""align.py CORPUS - tests alignment on real ranks in the corpus, if it contains them.

    dlrm_kineto        8 V100 ranks of one host, 8 collectives: every rank declared to be on its own host, with clocks up to
                       20 s apart; also with 25%, 40% and 55% of the collectives' kernels removed
    sampled_rank-0, 1  two ranks with only half of their collectives in common: no alignment may be claimed
    tpu_inference_2    4 TPU chips, each made its own host with a different profile start and a wrong clock: 3 all-reduces of
                       several replica groups, which the file does not distinguish, so nothing is trusted
    GPU-multi-worker   2 GPUs of a TensorFlow job that ran one after the other, without collectives: no alignment is claimed
    programs           in every XPlane file, the replica groups in an op's text equal those in its program's HLO"""
import glob
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import xspace  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']
failed = 0


def judge(what, good, said):
    global failed
    failed += not good
    print(f'{"ok  " if good else "FAIL"} {what}: {said}')


def merge(work, paths, *options):
    report = f'{work}/clocks.json'
    p = subprocess.run([TRACEKIT, 'merge', '-q', '--force', *paths, '-o', f'{work}/merged.json', '--align-report', report, *options],
                       capture_output=True, text=True, check=True)
    with open(report, encoding='utf-8') as f:
        return json.load(f), p.stderr


def declared(work, traces, rng, removed):
    """Puts each rank on its own host with its own clock offset."""
    paths, truth = [], {}
    for i, text in enumerate(traces):
        trace, offset = json.loads(text), rng.randint(-20_000_000, 20_000_000)
        trace['traceEvents'] = [e for e in trace['traceEvents'] if e.get('cat') != 'kernel' or 'nccl' not in e['name'].lower() or rng.random() >= removed]
        for e in trace['traceEvents']:
            if 'ts' in e:
                e['ts'] += offset
        truth[f'node{i}'] = offset
        paths.append(f'{work}/node{i}_{100 + i}.1.pt.trace.json')
        with open(paths[-1], 'w', encoding='utf-8') as f:
            json.dump(trace, f)
    return paths, truth


def dlrm(work, traces, removed, runs):
    errors, mads, left, trusted, hosts, wrong = [], [], 0, 0, 0, 0
    for seed in range(runs):
        paths, truth = declared(work, traces, random.Random(seed), removed)
        reference = f'node{seed % len(traces)}'
        report, _ = merge(work, paths, '--reference', reference)
        for h in report['hosts']:
            if h['method'] == 'reference':
                continue
            hosts += 1
            if not h['trusted']:
                continue
            trusted += 1
            errors.append(abs(h['offset_ns'] / 1e3 - truth[h['host']] + truth[reference]))
            mads.append(h['residual_mad_us'])
            left += h['violations_after']
            wrong += errors[-1] > 10
    said = (f'{trusted} of {hosts} ranks trusted, error {statistics.median(errors):.2f} us (median) {max(errors):.2f} us (worst), '
            f'residual at most {max(mads):.2f} us, {left} violations left')
    good = wrong == 0 and max(mads) <= 5 and left == 0
    if removed:
        return judge(f'dlrm_kineto, {removed:.0%} removed', good, said)
    return judge('dlrm_kineto', good and trusted == hosts and statistics.median(errors) <= 1, said)


def sampled(work, paths):
    report, said = merge(work, paths)
    host = report['hosts'][-1]
    judge('sampled_rank-0, 1', not report['trusted'] and host['method'] == 'clock' and 'alignment' in merge_says(work, paths),
          host['trust'] + said)


def merge_says(work, paths):
    return subprocess.run([TRACEKIT, 'merge', '--force', *paths, '-o', f'{work}/merged.json'], capture_output=True, text=True, check=True).stderr


def spliced(work, space, names, rng):
    """Makes a profile for each of these device planes, with clocks up to 20 s apart."""
    start, paths, truth = xspace.start_of(space) or 1_700_000_000_000_000_000, [], []
    for i, name in enumerate(names):
        truth.append(rng.randint(-20_000_000_000, 20_000_000_000) if i else 0)
        paths.append(f'{work}/chip{i}.xplane.pb')
        with open(paths[-1], 'wb') as f:
            f.write(xspace.host(space, f'chip{i}', lambda plane, name=name: plane == name, start + truth[-1]))
    return paths, truth


def chips(work, space):
    """Checks that an alignment by three collectives on clocks 20 s apart is not trusted, and that hosts which are shifted
    nevertheless return to the original common clock."""
    moved, worst = 0, 0
    for seed in range(8):
        for older in (False, True):
            rng = random.Random(seed)
            paths, truth = spliced(work, xspace.without(space, {'run_id'}) if older else space, [f'/device:TPU:{i}' for i in range(4)], rng)
            report, _ = merge(work, paths)
            hosts = {h['host']: h for h in report['hosts']}
            errors = [abs(hosts[f'chip{i}']['offset_ns'] - truth[i]) / 1e3 for i in range(4) if hosts[f'chip{i}']['method'] == 'collectives']
            moved, worst = moved + len(errors), max([worst, *errors])
            if worst > 25 or report['trusted']:
                return judge('tpu_inference_2', False, f'seed {seed}: errors {errors} us: {report}')
    return judge('tpu_inference_2', True, f'4 chips, clocks up to 20 s apart: never trusted, {moved} of 48 moved, within {worst:.1f} us')


def idle_gpus(work, space):
    paths, _ = spliced(work, space, ['/device:GPU:4', '/device:GPU:6'], random.Random(1))
    report, said = merge(work, paths)
    host = report['hosts'][-1]
    judge('GPU-multi-worker', host['method'] == 'clock' and not host['trusted'] and host['anchors'] == 0, host['trust'] + said)


def planes(work, top):
    tpu, gpu = find(top, 'v_2cc1243f__tpu_inference_2.xplane.pb'), glob.glob(f'{top}/**/GPU-multi-worker/*.xplane.pb', recursive=True)
    for paths, test in ((tpu, chips), (gpu, idle_gpus)):
        for path in paths[:1]:
            with open(path, 'rb') as f:
                test(work, f.read())
    if not tpu or not gpu:
        print('SKIPPED: align: the corpus does not hold v_2cc1243f__tpu_inference_2.xplane.pb and GPU-multi-worker')


def texts_of(space):
    """Yields (op, groups, global) of the collectives whose event metadata is named by their HLO."""
    for field, plane in xspace.fields(space):
        for number, entry in xspace.fields(plane) if field == 1 else ():
            name = dict(xspace.fields(dict(xspace.fields(entry)).get(2, b''))).get(2, b'').decode('utf-8', 'replace') if number == 4 else ''
            said = re.match(r'%(\S+) = .*\breplica_groups=(\{\}|\{\{.*?\}\}|\S+?\]<=\[.*?\](?:T\(.*?\))?)(?:,|$)', name)
            if said:
                yield said[1], said[2], 'use_global_device_ids=true' in name


def programs(top):
    """Compares the groups of each op. The text of an op does not contain the name of its program, so the groups must equal
    those of an op with this name in any program."""
    ops = files = 0
    for path in find(top, '*.xplane.pb'):
        with open(path, 'rb') as f:
            space = f.read()
        try:
            texts = set(texts_of(space))
        except (IndexError, TypeError):
            continue  # damaged files are tested elsewhere
        if not texts:
            continue
        p = subprocess.run([os.environ['B'] + '/tests/corpus/hlo', path], capture_output=True, text=True, check=True)
        told = {(op, groups, flag == '1') for _, op, groups, flag in (line.rsplit(' ', 3) for line in p.stdout.splitlines())}
        ops, files = ops + len(texts), files + 1
        if not texts <= told:
            judge(f'programs: {os.path.basename(path)}', False, f'{sorted(texts - told)[:3]} not among {sorted(told)[:5]}')
    if not files:
        return print('SKIPPED: align: no XPlane file of the corpus says replica groups in the text of its ops')
    return judge('programs', True, f'{ops} collectives of {files} files have the groups that their text says')


def find(top, name):
    return sorted(glob.glob(f'{top}/**/{name}', recursive=True))


def main(top):
    with tempfile.TemporaryDirectory() as work:
        archives, pair = find(top, 'dlrm_kineto.tar.gz'), find(top, 'sampled_rank-[01].json.gz')
        for path in archives:
            with tarfile.open(path) as tar:
                traces = [tar.extractfile(m).read() for m in sorted(tar.getmembers(), key=lambda m: m.name) if m.name.endswith('.json')]
            dlrm(work, traces, 0, 8)
            for removed in (0.25, 0.4, 0.55):
                dlrm(work, traces, removed, 16)
        if len(pair) == 2:
            sampled(work, sorted(pair, key=os.path.basename))
        planes(work, top)
        programs(top)
        if not archives or len(pair) != 2:
            print('SKIPPED: align: the corpus does not hold dlrm_kineto.tar.gz and sampled_rank-{0,1}.json.gz')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
