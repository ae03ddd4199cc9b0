#!/usr/bin/env python3
"""Compares output with --gpu-events to output without: trace_processor finds the same slices, and those of devices in its table
gpu_slice, too.

    gpu_events.py"""
import glob
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'support'))
from common import Engines, tracekit  # noqa: E402

QUERIES = {
    'slices': 'select ts, dur, name from slice',
    'stages': 'select s.ts, s.dur, s.name from gpu_slice s',
    'counters': 'select c.ts, c.value, t.name from counter c join counter_track t on c.track_id = t.id where not t.type glob \'gpu*\'',
    'samples': 'select c.ts, c.value, t.name from counter c join gpu_counter_track t on c.track_id = t.id where c.ts < (select max(ts + dur) from slice)',
    'errors': "select name, idx, value from stats where severity in ('error', 'data_loss') and value > 0",
}
PATTERNS = ('xplane/synth/*.pb', 'xplane/synth/*.json.gz', 'nsys/*.sqlite', 'rocm/dispatches.db', 'rocm/work_results.json', 'ascend/rank5.db')


def faults_of(plain, gpu):
    if plain['errors'] != gpu['errors']:
        yield f'errors: {gpu["errors"]}'
    if plain['slices'] != gpu['slices']:
        yield f'slices: {len(plain["slices"])} without, {len(gpu["slices"])} with'
    if plain['stages']:
        yield f'{len(plain["stages"])} stages without the option'
    if not gpu['stages']:
        yield 'no stages'
    moved = [row for row in plain['counters'] if row not in gpu['counters']]
    yield from (f'a sample that is no counter sample: {row}' for row in gpu['samples']
                if re.sub(r' \(device \d+\)', '', row) not in plain['counters'])
    if len(moved) > len(gpu['samples']):
        yield f'{len(moved) - len(gpu["samples"])} samples are lost'
    known = set(plain['slices'])
    yield from (f'a stage that is no slice: {stage}' for stage in gpu['stages'] if stage not in known)


def main():
    engines, passed, failed = Engines(QUERIES), 0, 0
    fixtures = os.environ['FIXTURES']
    with tempfile.TemporaryDirectory() as work:
        plain, gpu = os.path.join(work, 'plain.pftrace'), os.path.join(work, 'gpu.pftrace')
        for path in sorted(p for pattern in PATTERNS for p in glob.glob(os.path.join(fixtures, pattern))):
            if 'types' in path:
                continue
            tracekit('convert', '-q', path, '-o', plain, '--force')
            tracekit('convert', '-q', path, '-o', gpu, '--force', '--gpu-events')
            ask = engines.mine().ask
            faults = list(faults_of(ask(plain), ask(gpu)))[:5]
            print('FAIL' if faults else 'ok  ', os.path.relpath(path, fixtures), faults or '')
            passed, failed = passed + (not faults), failed + bool(faults)
    engines.close()
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
