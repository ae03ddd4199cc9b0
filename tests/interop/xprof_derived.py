#!/usr/bin/env python3
"""Compares the output of --derive for an XPlane with xprof's: each event with its line, name, time, duration and step.

    xprof_derived.py [CORPUS]

xprof also shows regions of thread pools as spans, and counters as instants: these are ignored. Rows of copies to host memory
are treated as one: among copies that end at the same time, xprof's order is arbitrary."""
import collections
import json
import os
import subprocess
import sys
import tempfile
from decimal import Decimal

from xplane import FIXTURES, TRACEKIT, ps, reexec, tool, tracekit

MOST = 16 << 20
DAY = 86400 * 10**12
ASIDE = ('ThreadpoolListener::Region',)


def shown(events):
    names = {(e['pid'], e['tid']): e['args'].get('name', '') for e in events if e.get('name') == 'thread_name'}
    found = collections.Counter()
    for e in events:
        line = names.get((e['pid'], e.get('tid')), '')
        if e['ph'] not in 'Xi' or e['name'] in ASIDE or line == '_counters_' or line.startswith('Async XLA Ops'):
            continue
        group = e.get('args', {}).get('group_id')
        found[e['pid'], 'Host Offload Ops' if line.startswith('Host Offload Ops') else line, e['name'], ps(e['ts']),
              max(ps(e.get('dur', 0)), 1), None if group is None else int(group)] += 1
    return found


def read(text):
    return [e for e in json.loads(text, parse_float=Decimal)['traceEvents'] if e]


def compare(path, work):
    ours = os.path.join(work, 'ours.json')
    tracekit('convert', '--force', '--derive', path, '-o', ours)
    with open(ours, encoding='utf-8') as f:
        text = f.read()
    theirs, here = shown(read(tool('trace_viewer', path, work))), shown(read(text))
    first = [min((key[3] for key in some), default=0) for some in (theirs, here)]
    if abs(first[0] - first[1]) > DAY:
        return 'not compared: its times count from 1970, which xprof wraps', ''
    missing = theirs - here
    steps = len({key[5] for key in here if key[5] is not None})
    derived = text.count('"tracekit.derived":true')
    figures = f'{theirs.total()} events, {steps} steps, {derived} derived'
    return figures, f'{missing.total()} are not as in xprof, e.g. {next(iter(missing))}' if missing else ''


def files(root):
    for at, _, names in sorted(os.walk(root)):
        for name in sorted(names):
            path = os.path.join(at, name)
            if name.endswith('.xplane.pb') and os.path.getsize(path) <= MOST:
                yield path


def main():
    failed = passed = 0
    for root in filter(None, (os.path.join(FIXTURES, 'xplane'), sys.argv[1] if len(sys.argv) > 1 else '')):
        for path in files(root):
            if subprocess.run([TRACEKIT, 'check', '-q', path], capture_output=True, check=False).returncode != 0:
                continue  # damaged
            with tempfile.TemporaryDirectory() as work:
                figures, fault = compare(path, work)
            failed, passed = failed + bool(fault), passed + (not fault)
            print(f'{"FAIL" if fault else "ok"} {os.path.relpath(path, root)}: {figures}' + (f'\n     {fault}' if fault else ''), flush=True)
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    if not os.environ.get('XPROF_INSIDE'):
        reexec(__file__)
    os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
    sys.exit(main())
