#!/usr/bin/env python3
"""Checks that the reports of filter, rebase, split, shrink, size, report, diff, top and tree conform to schemas/, on a trace of
every format."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from schema import conforms  # noqa: E402

TRACEKIT, FIXTURES, SRC = os.environ['TRACEKIT'], os.environ['FIXTURES'], os.environ['SRC']
TRACES = ('json/viz/viz_small.json', 'json/torch/ddp2_plain/rank0.json.gz', 'xplane/mlp_train/vm.xplane.pb', 'perfetto/small.pftrace.gz')
passed = failed = 0


def held(schema, *args):
    global passed, failed
    p = subprocess.run([TRACEKIT, *args, '--json', '-q', *(['--force'] if '-o' in args else [])], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with open(f'{SRC}/schemas/{schema}.schema.json', encoding='utf-8') as f:
        fault = conforms(json.load(f), json.loads(p.stdout)) if p.returncode == 0 else f'status {p.returncode}: {p.stderr.decode()}'
    passed += not fault
    failed += bool(fault)
    if fault:
        print(f'not ok  {" ".join(args)}: {fault}')


def size(trace):
    global passed, failed
    p = subprocess.run([TRACEKIT, 'size', '--json', trace], stdout=subprocess.PIPE, check=True)
    report = json.loads(p.stdout)
    with open(f'{SRC}/schemas/size.schema.json', encoding='utf-8') as f:
        fault = conforms(json.load(f), report)
    for table in ('kinds',):  # each byte is counted exactly once
        total = sum(row['bytes'] for row in report[table])
        fault = fault or ('' if total == report['bytes'] else f'{table} add up to {total} of {report["bytes"]}')
    passed += not fault
    failed += bool(fault)
    if fault:
        print(f'not ok  size {trace}: {fault}')


with tempfile.TemporaryDirectory() as work:
    for name in TRACES:
        trace = os.path.join(FIXTURES, name)
        held('filter', 'filter', trace, '--min-dur', '10us', '-o', f'{work}/a.json')
        held('filter', 'filter', trace, '--time', '25%..', '--dry-run', '-o', f'{work}/b.pftrace')
        held('filter', 'rebase', trace, '--to-zero', '-o', f'{work}/c.json')
        held('split', 'split', trace, '--by', 'process', '-o', f'{work}/d.{{}}.json')
        held('shrink', 'shrink', trace, '--percent', '90', '-o', f'{work}/e.json')
        held('shrink', 'shrink', trace, '--percent', '60', '--dry-run', '-o', f'{work}/f.json.gz')
        size(trace)
        held('tree', 'tree', trace, '--by', 'process', '--per', '*')
        held('job', 'report', trace)
        held('diff', 'diff', trace, trace)
        held('diff_runs', 'diff', trace, trace, trace)
        held('top', 'top', trace, '--cols', 'arg.bytes', '--by', 'track')
print(f'{passed} passed, {failed} failed')
sys.exit(1 if failed else 0)
