#!/usr/bin/env python3
"""Compares `top` and `report` on an XPlane file with xprof's tables.

  kernels  kernel_stats: launches, total, minimum and maximum time of each kernel
  ops      framework_op_stats: calls, total and self time of each operation of a device
  steps    overview_page: how long each step took, and how long its device was busy in it

xprof reads the file itself. For TPUs it adds the durations of the device's own clock, which are stored in the stat
device_duration_ps in addition to the drawn durations: there its totals are compared with the sum of this arg, and self
times, which derive from drawn durations, are not compared.

Usage: xprof_answers.py [CORPUS] (default: the fixtures); xprof_exceptions.tsv lists the differences and their reasons."""
import collections
import glob
import json
import os
import sys
import tempfile
from decimal import Decimal

from common import Results, tracekit
from xplane import FIXTURES, reexec, tool

MOST = 16 << 20  # limit on the size of a file: xprof takes a minute for more
ROWS = 1000  # the limit of kernel_stats
MOST_STEPS = 5  # with more steps the overview leaves out the first and the last one
OWN = 'device_duration_ps'


def rows_of(table):
    names = [column['id'] for column in table['cols']]
    return [dict(zip(names, [(cell or {}).get('v') for cell in row['c']])) for row in table['rows']]


def tables(name, path, work):
    """Returns the rows of the tool; none if it refuses the file."""
    try:
        told = json.loads(tool(name, path, work))
    except (TypeError, ValueError):
        return []
    return [rows_of(t) for t in (told if isinstance(told, list) else [told]) if 'cols' in t]


def ns(us, per=1000):
    return Decimal(repr(us)) * per


def apart(ours, theirs, close):
    """Returns the differences: counts must be equal, times within a tolerance."""
    faults = []
    for name in sorted(set(ours) | set(theirs)):
        a, b = ours.get(name), theirs.get(name)
        if a is None or b is None:
            faults.append(f'{name[:60]}: only {"xprof" if a is None else "ours"} has it')
        elif any(x is not None and y is not None and abs(x - y) > (0 if i == 0 else close(b)) for i, (x, y) in enumerate(zip(a, b))):
            faults.append(f'{name[:60]}: {[str(x) for x in a]} against {[str(y) for y in b]}')
    return '; '.join(faults[:3]) + (f' ({len(faults)} in all)' if len(faults) > 3 else '')


def top(path, *options):
    return json.loads(tracekit('top', '-q', '--json', path, *options), parse_float=Decimal)['rows']


# ---- kernels ----


def kernels(path, work):
    told = collections.defaultdict(lambda: [0, Decimal(0), Decimal('inf'), Decimal(0)])
    shown = [row for table in tables('kernel_stats', path, work) for row in table]
    for row in shown:
        k = told[row['kernel_name']]
        k[0] += int(row['occurrences'])
        k[1] += ns(row['total_duration_us'])
        k[2], k[3] = min(k[2], ns(row['min_duration_us'])), max(k[3], ns(row['max_duration_us']))
    if not told:
        return None
    if len(shown) >= ROWS:
        return 0, f'the table ends at {ROWS} rows'
    ours = {row['name']: (row['count'], row['total_ns'], row['min_ns'], row['max_ns'])
            for row in top(path, '--kind', 'device', '-e', 'arg.kernel_details =~ "." && dur >= 1ns')}
    return len(told), apart(ours, told, lambda k: Decimal('0.5') * k[0])


# ---- operations ----


def op_name(tf_op):
    return tf_op.partition(':')[0]


CALLS = '''select extract_arg(slice.arg_set_id, 'args.tf_op') as op, count(*) as n from slice join thread_track t on t.id = track_id
  join thread using (utid) where thread.name not like 'Async%' and op is not null group by op, slice.name'''


def ops(path, work):
    found = tables('framework_op_stats', path, work)
    told = {row['operation']: (int(row['occurrences']), ns(row['total_time']), ns(row['total_self_time']))
            for row in (found[0] if found else ()) if row['host_or_device'] == 'Device' and row['operation'] != 'IDLE'}
    if not told:
        return None
    lines = '(kind == "kernel" || kind == "op") && !(thread =~ "^Async")'
    named = top(path, '-e', f'({lines}) && arg.tf_op =~ "."', '--by', 'arg.tf_op', '--cols', f'arg.{OWN}')
    unnamed = top(path, '-e', f'({lines}) && !(arg.tf_op =~ ".")', '--cols', f'arg.{OWN}')
    most = {}  # an operation has as many calls as its most frequent instruction
    for op, n in json.loads(tracekit('sql', '-q', '--json', path, '-e', CALLS))['results'][0]['rows']:
        most[op] = max(most.get(op, 0), n)
    ours = collections.defaultdict(lambda: [0, Decimal(0), Decimal(0)])
    for row in named + unnamed:
        own = row['cols'][f'arg.{OWN}']
        op = ours[op_name(row['name'])]
        op[0] += most.get(row['name'], row['count'])
        op[1] += Decimal(own['mean']) * own['count'] / 1000 if own['count'] else row['total_ns']
        op[2] = None if own['count'] or op[2] is None else op[2] + row['self_ns']
    return len(told), apart(ours, told, lambda k: k[1] / 10**9 + k[0])


# ---- steps ----


def number_of(step):
    return int(step.rsplit(' ', 1)[-1])


def step_time(row):
    if 'stepTimeMs' in row:
        return ns(row['stepTimeMs'], 10**6)
    said = row['tooltip'].rpartition('Step time = ')[2]
    return ns(float(said.split(' ')[0]), 10**6) if said else None


def steps(path, work):
    told = {}
    for table in tables('overview_page', path, work):
        for row in table:
            if 'stepnum' in row:
                told[row['stepnum']] = (number_of(row['stepnum']), step_time(row))
    if not told:
        return None
    ours = {}
    for rank in json.loads(tracekit('report', '-q', '--json', path), parse_float=Decimal)['ranks']:
        for step in rank['steps'] or ():
            ours[step['number']] = max(ours.get(step['number'], 0), step['duration_ns'])
    if len(ours) > MOST_STEPS:
        ours = dict(sorted(ours.items())[1:-1])
    ours = {str(k): (k, Decimal(v)) for k, v in ours.items()}
    return len(told), apart(ours, {str(k): (k, v) for k, v in told.values()}, lambda k: 1000)


def files(corpus):
    every = glob.glob(os.path.join(corpus or FIXTURES, '**', '*.xplane.pb'), recursive=True)
    return sorted(path for path in every if os.path.getsize(path) <= MOST)


def main():
    corpus = sys.argv[1] if len(sys.argv) > 1 else ''
    report = open(os.path.join(os.environ.get('INTEROP') or tempfile.gettempdir(), 'xprof_answers.txt'), 'w', encoding='utf-8')
    results = Results(report, 'xprof_exceptions.tsv')
    with tempfile.TemporaryDirectory() as work, report:
        for path in files(corpus):
            told = {'xprof.kernels': kernels(path, work), 'xprof.ops': ops(path, work), 'xprof.steps': steps(path, work)}
            told = {what: answer for what, answer in told.items() if answer}
            figures = ' '.join(f'{what.partition(".")[2]} {answer[0]}' for what, answer in told.items())
            if told:
                results.judge(os.path.relpath(path, corpus or FIXTURES), {what: answer[1] for what, answer in told.items()}, figures)
        return results.close()


if __name__ == '__main__':
    if not os.environ.get('XPROF_INSIDE'):
        reexec(__file__)
    os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
    sys.exit(main())
