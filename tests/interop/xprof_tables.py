#!/usr/bin/env python3
"""Checks the tables of xprof.

    xprof_tables.py [CORPUS]

  1. For XPlane files: each tool gives the same for a file, for X -> JSON -> X and for X -> Perfetto -> X.
  2. For PyTorch's traces as XPlane: the tables equal sums over the JSON.
  3. A folder of several ranks is a run with the hosts and steps of the ranks.

Uses fixtures, generated traces and, if given, a corpus. The tables are also written to xprof_tables.md in the folder
$INTEROP. Runs in the environment of xplane.py."""
import collections
import gzip
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from launches import launching_ops, op_of  # noqa: E402
from xplane import TRACEKIT, reexec, tool, tracekit, without_flows  # noqa: E402

FIXTURES, INTEROP, GEN = (os.environ.get(name, '') for name in ('FIXTURES', 'INTEROP', 'GEN'))
TOOLS = ('overview_page', 'kernel_stats', 'framework_op_stats', 'hlo_stats', 'op_profile', 'trace_viewer@', 'memory_profile')
MOST = 16 << 20  # limit on the size of a file: xprof takes a minute for more
CLOSE = 1e-9  # relative tolerance: xprof adds doubles


class Report:
    def __init__(self):
        self.rows, self.passed, self.failed = [], 0, 0

    def heading(self, *cells):
        self.rows += ['', '| ' + ' | '.join(cells) + ' |', '|' + '---|' * len(cells)]

    def row(self, name, cells, faults):
        self.passed += not faults
        self.failed += bool(faults)
        self.rows.append('| ' + ' | '.join([name, *map(str, cells)]) + ' |')
        print(f'{"FAIL" if faults else "ok"} {name}: {" ".join(map(str, cells))}', flush=True)
        for fault in faults:
            print(f'     {fault[:400]}', flush=True)

    def close(self):
        if INTEROP:
            with open(os.path.join(INTEROP, 'xprof_tables.md'), 'w', encoding='utf-8') as f:
                f.write('\n'.join(self.rows).lstrip() + '\n')
        print(f'{self.passed} passed, {self.failed} failed')
        return 1 if self.failed else 0


# ---- X -> .. -> X ----

def without_choice(text):
    """Removes fields that vary from run to run: of equal allocations, memory_profile shows an arbitrary one, with its time and
    place."""
    try:
        told = json.loads(text)
    except ValueError:
        return text  # an error
    for pool in told.get('memoryProfilePerAllocator', {}).values():
        for snapshot in pool.get('memoryProfileSnapshots', ()):
            for key in ('timeOffsetPs', 'aggregationStats'):
                snapshot.pop(key, None)
            snapshot.get('activityMetadata', {}).pop('address', None)
    return json.dumps(told, sort_keys=True)


def said(name, path, work):
    """Returns the tool's output: for the viewer, events without salted ids; if the tool refuses the file, its error."""
    try:
        text = tool(name, path, work)
    except Exception as e:  # pylint: disable=broad-except
        return 'refused: ' + str(e).split('\n', maxsplit=1)[0][:60]
    if name == 'memory_profile':
        return without_choice(text)
    return without_flows(text) if name.endswith('@') else text


def is_of_ns(path, work):
    made = os.path.join(work, 'ns.json')
    tracekit('convert', '--force', path, '-o', made)
    with open(made, encoding='utf-8') as f:
        events = json.load(f, parse_float=lambda text: text)['traceEvents']
    return all(len(str(e.get(key, '')).partition('.')[2]) <= 3 for e in events for key in ('ts', 'dur'))


def size_of(text):
    """Returns the number of rows or events in a tool's output; 0 if it is empty."""
    if isinstance(text, collections.Counter):
        return text.total()
    try:
        tables = json.loads(text)
    except ValueError:
        return 0
    tables = tables if isinstance(tables, list) else [tables]
    rows = sum(len(t.get('rows', ())) for t in tables)
    return rows if rows else len(text) if 'rows' not in tables[0] else 0


def same_tables(path, work):
    """Returns (cells: rows of each tool and whether they survive the round trip, faults)."""
    cells, faults = [], []
    ways = ['between.json'] + ['between.pftrace'] * is_of_ns(path, work)
    copies = []
    for way in ways:
        middle, back = os.path.join(work, way), os.path.join(work, way + '.xplane.pb')
        tracekit('convert', '--force', path, '-o', middle)
        tracekit('convert', '--force', middle, '-o', back)
        copies.append((way.split('.')[1], back))
    for name in TOOLS:
        here = said(name, path, work)
        bad = [way for way, back in copies if said(name, back, work) != here]
        faults += [f'{name} differs by way of {way}' for way in bad]
        cells.append('refused' if isinstance(here, str) and here.startswith('refused') else
                     f'{size_of(here)} {"differs" if bad else "same"}')
    return cells + [', '.join(way for way, _ in copies)], faults


# ---- PyTorch -> X ----

def rows_of(text):
    table = json.loads(text)
    table = table[0] if isinstance(table, list) else table
    names = [column['id'] for column in table['cols']]
    return [dict(zip(names, [(cell or {}).get('v') for cell in row['c']])) for row in table['rows']]


def sums(pairs):
    total = collections.Counter()
    for key, value in pairs:
        total[key] += value
    return total


def unlike(ours, theirs):
    return [key for key in set(ours) | set(theirs) if abs(ours[key] - theirs[key]) > CLOSE * max(abs(ours[key]), 1)]


def torch_events(path):
    with (gzip.open if path.endswith('.gz') else open)(path, 'rb') as f:
        trace = json.loads(f.read().decode('utf-8', 'replace'), strict=False)
    return [e for e in (trace['traceEvents'] if isinstance(trace, dict) else trace) if e]


KERNELS, WORK = ('kernel', 'Kernel'), ('kernel', 'Kernel', 'gpu_memcpy', 'gpu_memset', 'Memcpy', 'Memset')


def of(events, cats):
    return [e for e in events if e.get('cat') in cats and e.get('ph') == 'X']


def kernel_faults(events, xplane, work):
    """Compares kernel_stats, which keeps the 1000 rows with the longest time."""
    rows, kernels = rows_of(tool('kernel_stats', xplane, work)), of(events, KERNELS)
    time = sums((row['kernel_name'], row['total_duration_us']) for row in rows)
    wanted = sums((e['name'], e['dur']) for e in kernels if e['dur'] > 0)
    count, launches = (sums((name, n) for name, n in pairs) for pairs in
                       (((row['kernel_name'], row['occurrences']) for row in rows), ((e['name'], 1) for e in kernels if e['dur'] > 0)))
    bad = [] if len(rows) >= 1000 else unlike(time, wanted) + unlike(count, launches)
    cell = f'{len(time)} of {len(wanted)} names, {sum(count.values()):.0f} launches, {sum(time.values()):.3f} us'
    return cell, [f'kernel_stats: {name}: {time[name]} us, in the JSON {wanted[name]}' for name in bad[:3]]


def op_faults(events, xplane, work):
    """Compares framework_op_stats: it shows "nccl:all_reduce" as a name and a type, and for each side the 500 rows with the
    longest time."""
    found = rows_of(tool('framework_op_stats', xplane, work))
    rows = [(row['host_or_device'], row['operation'] + (f':{row["type"]}' if row['type'] not in ('', 'Unknown') else ''), row['total_self_time'])
            for row in found if row['operation'] != 'IDLE']
    calls, externals = launching_ops(events)
    time = sums((name, us) for side, name, us in rows if side == 'Device')
    wanted = sums((op_of(e, calls, externals), e['dur']) for e in of(events, WORK) if op_of(e, calls, externals) and e['dur'] > 0)
    host = {name for side, name, _ in rows if side == 'Host'} - {e.get('name') for e in events}
    bad = unlike(time, wanted) if len(time) < 500 else []
    faults = [f'framework_op_stats: {name}: {time[name]} us, in the JSON {wanted[name]}' for name in bad[:3]]
    faults += [f'framework_op_stats: the host has no {sorted(host)[:3]}'] if host else []
    return f'{len(time)} of {len(wanted)} ops, {sum(time.values()):.3f} us; all: {sum(e["dur"] for e in of(events, WORK)):.3f} us', faults


def step_faults(events, xplane, work):
    tables = json.loads(tool('overview_page', xplane, work))
    shown = {}
    for table in tables:
        if table.get('cols') and table['cols'][0]['id'] == 'stepnum':
            rows = [[(cell or {}).get('v') for cell in row['c']] for row in table['rows']]
            shown = {row[0].split('#')[-1]: row[-1] for row in rows}
    steps = {e['name'].split('#')[1]: e['dur'] / 1000 for e in events if e.get('ph') == 'X' and 'gpu' not in e.get('cat', '')
             and e['name'].startswith('ProfilerStep#')}
    bad = [name for name, ms in shown.items() if abs(ms - steps.get(name, 0)) > 1e-6]
    # to xprof, a step must contain computation
    if steps and not shown and any(not e['name'].lower().startswith('nccl') for e in of(events, KERNELS)):
        bad = ['no step is shown']
    return ' '.join(f'{name}: {ms:.6f}' for name, ms in shown.items()) or '-', [f'steps: {bad}: {shown}, in the JSON {steps}'] * bool(bad)


def memory_faults(events, xplane, work):
    samples = [e['args'] for e in events if e.get('name') == '[memory]' and 'Total Allocated' in e.get('args', {})]
    if not samples:
        return '-', []
    told = json.loads(tool('memory_profile', xplane, work)).get('memoryProfilePerAllocator', {})
    peak = max(int(pool['profileSummary']['peakStats']['heapAllocatedBytes']) for pool in told.values()) if told else 0
    wanted = max(a['Total Allocated'] for a in samples)
    return f'{peak:,} bytes', [] if peak == wanted else [f'memory_profile: a peak of {peak} bytes, in the JSON {wanted}']


def torch_tables(path, work):
    xplane = os.path.join(work, 'torch.xplane.pb')
    tracekit('convert', '--force', path, '-o', xplane)
    events = torch_events(path)
    kernels, bad_kernels = kernel_faults(events, xplane, work)
    ops, bad_ops = op_faults(events, xplane, work)
    steps, bad_steps = step_faults(events, xplane, work)
    memory, bad_memory = memory_faults(events, xplane, work)
    others = [name for name in ('hlo_stats', 'op_profile', 'input_pipeline_analyzer', 'pod_viewer') if not tool(name, xplane, work)]
    bad = bad_kernels + bad_ops + bad_steps + bad_memory + [f'{name} says nothing' for name in others]
    return (kernels, ops, steps, memory), bad


def generated(work):
    for label, options in (('generated', ()), ('generated, memory', ('--memory', '--seed', '2'))):
        path = os.path.join(work, 'torch.json')
        with open(path, 'wb') as f:
            subprocess.run([GEN, 'kineto', '--spans', '4000', *options], stdout=f, check=True)
        yield label, path


def run_folder(work):
    """Checks that every rank in the run is a host with its own step times."""
    from xprof.convert import raw_to_tool_data
    paths = []
    for rank in range(3):
        paths.append(os.path.join(work, f'rank{rank}.json'))
        with open(paths[-1], 'wb') as f:
            subprocess.run([GEN, 'kineto', '--ranks', '3', '--rank', str(rank), '--spans', '2000'], stdout=f, check=True)
    tracekit('merge', '-q', *paths, '-o', os.path.join(work, 'tb') + '/')
    files = sorted(os.path.join(at, name) for at, _, names in os.walk(os.path.join(work, 'tb')) for name in names)
    data, _ = raw_to_tool_data.xspace_to_tool_data(files, 'overview_page', {})
    hosts = [t['p']['host_count'] for t in json.loads(data) if 'host_count' in t.get('p', {})]
    return (f'{hosts} hosts of {len(files)} files',), [] if hosts == ['3'] else [f'hosts: {hosts}']


# ---- input files ----

def walk(folder, wanted):
    for at, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            path = os.path.join(at, name)
            if wanted(name) and os.path.getsize(path) <= MOST:
                yield path


def is_torch(path):
    try:
        with (gzip.open if path.endswith('.gz') else open)(path, 'rb') as f:
            text = f.read()
    except (OSError, EOFError):
        return False
    if not any(word in text for word in (b'"cat": "kernel"', b'"cat":"kernel"', b'"cat": "Kernel"', b'"cat": "cpu_op"', b'"cat":"cpu_op"')):
        return False
    return subprocess.run([TRACEKIT, 'check', '-q', path], capture_output=True, check=False).returncode == 0


def main():
    corpus, report = sys.argv[1] if len(sys.argv) > 1 else '', Report()
    report.heading('XPlane file', *TOOLS, 'by way of')
    for root in filter(None, (os.path.join(FIXTURES, 'xplane'), corpus)):
        for path in walk(root, lambda name: name.endswith('.xplane.pb')):
            with tempfile.TemporaryDirectory() as work:
                if subprocess.run([TRACEKIT, 'check', '-q', path], capture_output=True, check=False).returncode != 0:
                    continue  # damaged: xprof reads the unrepaired file
                report.row(os.path.relpath(path, root), *same_tables(path, work))
    report.heading('PyTorch file', 'kernel_stats', 'framework_op_stats: device', 'steps, ms', 'memory_profile: peak')
    with tempfile.TemporaryDirectory() as work:
        for label, path in generated(work):
            report.row(label, *torch_tables(path, work))
        report.heading('folder', 'overview_page')
        report.row('three ranks', *run_folder(work))
    report.heading('PyTorch file', 'kernel_stats', 'framework_op_stats: device', 'steps, ms', 'memory_profile: peak')
    for root in filter(None, (os.path.join(FIXTURES, 'json', 'torch'), corpus)):
        for path in walk(root, lambda name: name.endswith(('.json', '.json.gz'))):
            if is_torch(path):
                with tempfile.TemporaryDirectory() as work:
                    report.row(os.path.relpath(path, root), *torch_tables(path, work))
    return report.close()


if __name__ == '__main__':
    if not os.environ.get('XPROF_INSIDE'):
        reexec(__file__)
    os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
    sys.exit(main())
