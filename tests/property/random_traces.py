#!/usr/bin/env python3
"""Converts small random traces (tests/support/randomtrace.py) through every chain of formats. Checks against a model in Python that
each event keeps its name, time, duration and track, and that every file on the way satisfies the invariants of the event graph. The
traces contain spans, instants and samples that coincide, overlap, cross or never end. LONG=1 tries more of them; make interop also
compares with Perfetto's engine."""
import collections
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import chromemodel  # noqa: E402
import randomtrace  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']
TRACES = 20000 if os.environ.get('LONG') else 2000
WAYS = (('json',), ('pftrace', 'json'), ('xplane.pb', 'json'), ('pftrace', 'xplane.pb', 'json'), ('xplane.pb', 'pftrace', 'json'))
passed = failed = 0


def run(*args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode:
        raise RuntimeError(f'{args}: status {p.returncode}: {p.stderr.decode()}')


def meaning(events):
    """Returns, by process, its spans and instants (unfinished spans without duration) and its samples."""
    found = collections.defaultdict(collections.Counter)
    for k, (name, ts, dur, pid, tid) in chromemodel.nodes(events).items():
        found[pid][k, name, ts, dur, tid] += 1
    for (pid, ts, value), n in chromemodel.samples(events).items():
        found[pid]['sample', ts, value] += n
    return found


def same(a, b):
    """Compares two results; in a format that stores an end for each span, an unfinished span lasts to the end of the trace."""
    if a == b:
        return True
    endless = {key[0] for key in a if len(key) == 5 and key[3] is None}
    strip = lambda m: {(*key[:3], None, key[4]) if key[0] in endless else key: n for key, n in m.items()}  # noqa: E731
    return strip(a) == strip(b)


def judge(way, before, after):
    global passed, failed
    bad = [pid for pid in before.keys() | after.keys() if not same(before[pid], after[pid])]
    passed += len(before) - len(bad)
    failed += len(bad)
    for pid in sorted(bad)[:3]:
        print(f'not ok  {way}: {pid}: lost {list(before[pid] - after[pid])}, new {list(after[pid] - before[pid])}')


def main():
    with tempfile.TemporaryDirectory() as folder:
        source = f'{folder}/source.json'
        traces = randomtrace.maker(int(os.environ.get('SEED', '1'))).file(source, 1, TRACES)
        before = meaning([e for trace in traces for e in trace])
        for way in WAYS:
            path = source
            for i, ending in enumerate(way):
                out = f'{folder}/{i}.{ending}'
                run('convert', '-q', path, '-o', out, '--force')
                run('check', '-q', out)
                path = out
            with open(path, encoding='utf-8') as f:
                judge(' -> '.join(way), before, meaning(json.load(f)['traceEvents']))
    print(f'{passed} passed, {failed} failed')
    return failed != 0


sys.exit(main())
