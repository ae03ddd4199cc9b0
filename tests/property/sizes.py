#!/usr/bin/env python3
"""Checks that a command which `size` recommends removes as many bytes as `size` says, on fixtures with format-specific data."""
import json
import os
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import check, finish  # noqa: E402

TRACEKIT, FIXTURES = os.environ['TRACEKIT'], os.environ['FIXTURES']
TRACES = ('xplane/mlp_train/vm.xplane.pb', 'xplane/multihost/host-1.xplane.pb', 'xplane/synth/gpu.xplane.pb', 'perfetto/small.pftrace.gz')


def run(*args):
    p = subprocess.run([TRACEKIT, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode:
        raise RuntimeError(f'{args}: {p.stderr.decode()}')
    return p.stdout.decode()


def rewritten(path, work, command, *options):
    out = os.path.join(work, 'out' + ('.pftrace' if 'pftrace' in path else '.xplane.pb'))
    run(command, '-q', '--force', '--no-provenance', path, *options, '-o', out)
    return os.path.getsize(out)


def main():
    named = 0
    for name in TRACES:
        path = os.path.join(FIXTURES, name)
        report = json.loads(run('size', '--json', path))
        kinds = {row['kind']: row['bytes'] for row in report['kinds']}
        check(f'{name}: the kinds add up', sum(kinds.values()) == report['bytes'], kinds)
        own = kinds.get('format-specific data', 0)
        if not own:
            continue
        named += 1
        remedy = next((line for line in run('size', path).splitlines() if 'format-specific data' in line and 'removes' in line), '')
        command, *options = shlex.split(remedy.rpartition('tracekit ')[2])
        with tempfile.TemporaryDirectory() as work:
            gone = rewritten(path, work, 'convert') - rewritten(path, work, command, *options)
        check(f'{name}: {command} {options} removes them', abs(gone - own) <= 16, f'{gone} of {own}')
    check('traces with format-specific data', named >= 2, named)
    return finish()


sys.exit(main())
