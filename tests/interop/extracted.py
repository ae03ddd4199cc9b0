#!/usr/bin/env python3
"""Checks that the output of `extract` opens in trace_processor with the events of its source, whose own files the engine reads
for comparison.

    JAX       every span of the <host>.trace.json.gz that JAX wrote with xplane.pb is in the output, by name and host
    PyTorch   as many slices, with the same names and total time, as in all the ranks' files
    formats   .json.gz and .pftrace of one source give the same slices
    archives  the same for a zip and a tar.gz of the folder

As a self-test, a run with a missing host, and one with half of its events, must be detected."""
import collections
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'support'))
from common import Engines, Refused, tracekit  # noqa: E402

FIXTURES = os.environ['FIXTURES']
RUN = 'plugins/profile/2026_11_20_12_00_00'
QUERIES = {
    'names': 'select name, count(*) as n, sum(iif(dur < 0, 0, dur)) as dur from slice group by 1',
    'processes': """select count(distinct p.upid) as n from slice s join thread_track tt on tt.id = s.track_id join thread using (utid)
                    join process p using (upid)""",
    'errors': "select name, value from stats where severity in ('error', 'data_loss') and value > 0",
}
passed = failed = 0


def judge(what, fault):
    global passed, failed
    passed += not fault
    failed += bool(fault)
    print(f'{"FAIL" if fault else "ok":4} extract: {what}{": " if fault else ""}{fault}', flush=True)


class Slices(collections.Counter):
    """Counter of slices by name, with their total time (dur) and the number of processes."""

    def __init__(self, engine, *paths, original=False):
        super().__init__()
        self.dur = self.processes = 0
        for path in paths:
            answer = engine.ask(path)
            if 'failed' in answer:
                raise Refused(f'{path}: {answer["failed"]}')
            if answer['errors'] and not original:  # the engine reports an error for the {} at the end of JAX's files
                raise Refused(f'{path}: {answer["errors"]}')
            for row in map(json.loads, answer['names']):
                self[row['name']] += row['n']
                self.dur += row['dur']
            self.processes += json.loads(answer['processes'][0])['n']


def missing(wanted, found):
    lost = wanted - found
    return f'{sum(lost.values())} of {sum(wanted.values())} slices are not there: {list(lost)[:3]}' if lost else ''


def differs(wanted, found, ns):
    if wanted != found:
        return f'{sum(wanted.values())} slices, found {sum(found.values())}: {list((wanted - found) + (found - wanted))[:3]}'
    return '' if abs(wanted.dur - found.dur) <= ns else f'{wanted.dur} ns, found {found.dur}'


def jax_folder(folder, fixture):
    os.makedirs(f'{folder}/{RUN}')
    for name in os.listdir(f'{FIXTURES}/xplane/{fixture}'):
        shutil.copy(f'{FIXTURES}/xplane/{fixture}/{name}', f'{folder}/{RUN}/{name}')
    return [f'{folder}/{RUN}/{name}' for name in sorted(os.listdir(f'{folder}/{RUN}')) if name.endswith('.trace.json.gz')]


def jax(work, engine, fixture):
    folder = f'{work}/{fixture}'
    views = jax_folder(folder, fixture)
    tracekit('extract', '-q', '--no-derive', folder, '-o', f'{folder}.json.gz')  # --derive would name steps by their numbers
    tracekit('extract', '-q', '--no-derive', folder, '-o', f'{folder}.pftrace')
    wanted, found, proto = Slices(engine, *views, original=True), Slices(engine, f'{folder}.json.gz'), Slices(engine, f'{folder}.pftrace')
    judge(f'JAX {fixture}: what JAX wrote beside it', missing(wanted, found))
    judge(f'JAX {fixture}: a process for each host and plane', '' if found.processes >= wanted.processes else f'{found.processes}')
    judge(f'JAX {fixture}: .json.gz and .pftrace', differs(found, proto, 0))
    return folder, wanted, found


def torch(work, engine):
    ranks = [f'{FIXTURES}/json/torch/ddp2_plain/rank{i}.json.gz' for i in (0, 1)]
    folder = f'{work}/torch'
    os.makedirs(folder)
    for path in ranks:
        shutil.copy(path, folder)
    shutil.make_archive(folder, 'zip', work, 'torch')
    shutil.make_archive(folder, 'gztar', work, 'torch')
    wanted = Slices(engine, *ranks, original=True)
    for source in (folder, f'{folder}.zip', f'{folder}.tar.gz'):
        for ending in ('json.gz', 'pftrace'):
            output = f'{work}/out.{ending}'
            tracekit('extract', '-q', '--force', source, '-o', output)
            # Either end of a span is rounded to a nanosecond by one of the two formats.
            judge(f'PyTorch: {os.path.basename(source)} as {ending}', differs(wanted, Slices(engine, output), sum(wanted.values())))


def self_test(engine, folder, wanted, found):
    one = f'{folder}.one.json.gz'
    tracekit('extract', '-q', '--host', 'host-0', folder, '-o', one)
    judge('self-test: a missing host', '' if missing(wanted, Slices(engine, one)) else 'not seen')
    with gzip.open(f'{folder}.json.gz') as f:
        trace = json.load(f)
    trace['traceEvents'] = trace['traceEvents'][:len(trace['traceEvents']) // 2]
    with open(one := f'{folder}.half.json', 'w', encoding='utf-8') as f:
        json.dump(trace, f)
    judge('self-test: half of the events', '' if differs(found, Slices(engine, one), 0) else 'not seen')


def main():
    engines = Engines(QUERIES)
    try:
        with tempfile.TemporaryDirectory() as work:
            jax(work, engines.mine(), 'mlp_train')
            self_test(engines.mine(), *jax(work, engines.mine(), 'multihost'))
            torch(work, engines.mine())
    except (Refused, subprocess.TimeoutExpired) as e:
        judge('failed', str(e))
    engines.close()
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


sys.exit(main())
