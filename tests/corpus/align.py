#!/usr/bin/env python3
"""align.py CORPUS - alignment against real ranks, where the corpus holds them.

    dlrm_kineto        8 V100 ranks of one host, 8 collectives: every rank declared a host of its own, by up to 20 s beside the others;
                       also with a quarter of the collectives removed
    sampled_rank-0, 1  two ranks of which half of the collectives correspond: nothing may be claimed of them"""
import glob
import json
import os
import random
import statistics
import subprocess
import sys
import tarfile
import tempfile

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
    """Each rank on a host of its own with an offset of its own."""
    paths, truth = [], {}
    for i, text in enumerate(traces):
        trace, offset = json.loads(text), rng.randint(-20_000_000, 20_000_000)
        trace['traceEvents'] = [e for e in trace['traceEvents'] if 'nccl' not in e.get('name', '').lower() or rng.random() >= removed]
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


def find(top, name):
    return sorted(glob.glob(f'{top}/**/{name}', recursive=True))


def main(top):
    with tempfile.TemporaryDirectory() as work:
        archives, pair = find(top, 'dlrm_kineto.tar.gz'), find(top, 'sampled_rank-[01].json.gz')
        for path in archives:
            with tarfile.open(path) as tar:
                traces = [tar.extractfile(m).read() for m in sorted(tar.getmembers(), key=lambda m: m.name) if m.name.endswith('.json')]
            dlrm(work, traces, 0, 8)
            dlrm(work, traces, 0.25, 16)
        if len(pair) == 2:
            sampled(work, sorted(pair, key=os.path.basename))
        if not archives or len(pair) != 2:
            print('SKIPPED: align: the corpus does not hold dlrm_kineto.tar.gz and sampled_rank-{0,1}.json.gz')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
