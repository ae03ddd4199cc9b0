#!/usr/bin/env python3
"""Compares `report` on PyTorch's traces with HolisticTraceAnalysis: temporal breakdown, overlap of communication and
computation, idle time of each stream by cause, kernels by type and name, launch statistics, queue lengths, bandwidth of copies
(`top`), sequences of kernels of an operator (`sql`).

Both read the same file: a copy with renamed profiler steps, because HTA would otherwise leave out the last step, and work
without a launch. HTA adds times as doubles: the tolerance is the spacing of doubles at the trace's times, per event.

Usage: report.py [CORPUS] (default: the fixtures); report_exceptions.tsv lists the differences and their reasons."""
import collections
import csv
import gzip
import io
import json
import math
import os
import subprocess
import sys
import tarfile
import tempfile

from common import HERE, Refused, Results, tracekit

sys.path.insert(0, os.path.join(HERE, '..', 'support'))
import sources  # noqa: E402

MOST = 1 << 40 if os.environ.get('LONG') else 200_000_000
GPU = {'kernel', 'gpu_memcpy', 'gpu_memset', 'Kernel', 'Memcpy', 'Memset'}
CAUSES = {'host_wait': 'idle_host_ns', 'kernel_wait': 'idle_kernel_ns', 'other': 'idle_other_ns'}
# the only launches in HTA's statistics
LAUNCHES = ('cudaLaunchKernel', 'cudaLaunchKernelExC', 'cudaMemcpyAsync', 'cudaMemsetAsync')


class Hta:
    def __init__(self):
        self.process = subprocess.Popen([os.environ['PYTHON'], os.path.join(HERE, 'report_hta.py')], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def ask(self, path):
        print(path, file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def read(text):
    """Returns the trace without step names, and the tolerance for sums of doubles; None if it has no GPU work."""
    try:
        trace = json.loads(text)
    except ValueError:
        return None
    events = trace.get('traceEvents') if isinstance(trace, dict) else None
    if not isinstance(events, list):
        return None
    work = [e for e in events if isinstance(e, dict) and e.get('ph') == 'X' and e.get('cat') in GPU]
    if not work:
        return None
    for e in events:
        if isinstance(e, dict) and str(e.get('name', '')).startswith('ProfilerStep'):
            e['name'] = 'Profiled' + e['name'][12:].replace('#', ' ')
    try:
        latest = max(abs(float(e['ts'])) for e in events if 'ts' in e)
    except (TypeError, ValueError):
        return None
    return json.dumps(trace), math.ulp(latest) * (2 * len(work) + 4) + 1e-3


def near(a, b, room):
    return abs(float(a) - float(b)) <= room


def us(row, key):
    return row[key] / 1e3


def first(faults):
    return next((f for f in faults if f), '')


def differs(what, theirs, ours, room):
    return '' if near(theirs, ours, room) else f'{what}: {theirs} us, here {ours}'


def temporal(hta, row, room):
    t = hta['temporal']
    window, compute, rest = us(row, 'window_ns'), us(row, 'compute_ns'), us(row, 'non_compute_ns')
    percent = lambda part: 100 * part / window if window else 0  # noqa: E731
    return first([differs('window', t['kernel_time(us)'], window, room) if 'kernel_time(us)' in t else '',
                  differs('idle', t['idle_time(us)'], us(row, 'idle_ns'), room), differs('compute', t['compute_time(us)'], compute, room),
                  differs('non-compute', t['non_compute_time(us)'], rest, room),
                  differs('idle %', t['idle_time_pctg'], percent(us(row, 'idle_ns')), 0.006 + 100 * room / max(window, 1))])


def overlap(hta, row, room):
    ours = row['overlap_percent']
    if ours is None:
        return '' if math.isnan(hta['overlap']) or hta['overlap'] == 0 else f'{hta["overlap"]}, here nothing is known'
    return '' if near(hta['overlap'], ours, 0.006 + 100 * room / max(us(row, 'communication_ns'), 1e-9)) else f'{hta["overlap"]} %, here {ours}'


def idle(hta, row, room):
    ours = {s['stream']: s for s in row['streams']}
    faults = []
    for stream, causes in hta['idle'].items():
        for cause, key in CAUSES.items():
            here = us(ours[stream], key) if stream in ours else 0
            faults.append(differs(f'stream {stream} {cause}', causes.get(cause, 0), here, room + 0.01))
    return first(faults)


def names(hta, report, room):
    ours = collections.Counter()
    for k in report['kernels']:
        ours[k['name']] += k['total_ns'] / 1e3
    theirs = hta['kernels']['names']
    if theirs.keys() != ours.keys():
        return f'names: {sorted(theirs.keys() ^ ours.keys())[:2]}'
    return first([differs(name, t, ours[name], room) for name, t in theirs.items()])


def types(hta, row, room):
    """Computes exclusive times from the overlap of kernel types."""
    t = collections.Counter()
    for name, time in hta['kernels']['types'].items():
        for kind in name.split(' overlapping '):
            t[kind] += time
    want = {'COMPUTATION': us(row, 'compute_ns'), 'COMMUNICATION': us(row, 'communication_ns'), 'MEMORY': us(row, 'memory_ns')}
    return first([differs(kind, t[kind], ours, room) for kind, ours in want.items()])


def launches(hta, report, room):
    l, ours = hta['launches'], collections.Counter()
    for row in report['launches']:
        if row['name'] in LAUNCHES:
            ours.update(work=row['work'], call=row['call_ns'] / 1e3, gpu=row['work_ns'] / 1e3, delay=row['delay_ns'] / 1e3)
            ours['delay_max'] = max(ours['delay_max'], row['delay_max_ns'] / 1e3)
    if l['work'] != ours['work']:
        return f'{l["work"]} pairs, here {ours["work"]}'
    return first([differs(k, l[k], ours[k], room) for k in ('call', 'gpu', 'delay', 'delay_max') if l['work']])


def queues(hta, row):
    """Compares the largest number of launches whose work has not started, of each stream."""
    ours = {s['stream']: s.get('queue_max') for s in row['streams']}
    return first([f'stream {stream}: at most {most:g}, here {ours.get(stream)}' if ours.get(stream) != most else ''
                  for stream, most in hta['queues'].items()])


def copies(hta, path):
    """Compares the bandwidth of each kind of copy, unless copies of a kind overlap: then HTA adds their bandwidths."""
    column = 'arg.memory bandwidth (GB/s)'
    report = json.loads(tracekit('top', '-q', '--json', '--allow-empty', '--kind', 'memcpy,memset', '--cols', column, path))
    ours = collections.defaultdict(list)
    for row in report['rows']:
        c = row['cols'][column]
        if c['count'] and row['name']:
            ours[' '.join(row['name'].split()[:2 if row['name'].startswith('Memcpy') else 1])].append(c)
    faults = []
    for name, t in hta['copies'].items():
        v = ours.get(name, [])
        n = sum(c['count'] for c in v)
        if n == t['count']:
            here = {'mean': sum(c['mean'] * c['count'] for c in v) / n, 'min': min(c['min'] for c in v), 'max': max(c['max'] for c in v)}
            faults += [f'{name} {k}: {t[k]} GB/s, here {here[k]}' for k in here if not math.isclose(t[k], here[k], rel_tol=1e-5, abs_tol=1e-6)]
        elif n == 0:
            faults.append(f'{name}: {t["count"]}, here none')
    return first(faults)


SEQUENCES = """SELECT kernels, COUNT(*) AS n FROM (
  SELECT op, GROUP_CONCAT(name, '|') AS kernels FROM (
    SELECT DISTINCT o.id AS op, k.id, k.name FROM slice o JOIN descendant_slice(o.id) d JOIN flow f ON f.slice_out = d.id
      JOIN slice k ON k.id = f.slice_in AND k.category IN ('kernel', 'gpu_memcpy', 'gpu_memset') WHERE o.name = '{}' ORDER BY o.id, k.ts, k.id) GROUP BY op) GROUP BY kernels"""


def sequences(hta, path):
    """Compares the sequences of kernels that operators launch with the query of docs/recipes/cuda-kernels.md, which needs flows. HTA
    looks only at the operators of the outermost depth at which the name occurs."""
    if not int(next(csv.DictReader(io.StringIO(tracekit('sql', '-q', '--csv', path, '-e', 'SELECT COUNT(*) AS n FROM flow'))))['n']):
        return ''
    for name, patterns in hta['sequences'].items():
        theirs = collections.Counter({p.partition('|')[2]: n for p, n in patterns.items()})
        rows = csv.DictReader(io.StringIO(tracekit('sql', '-q', '--csv', path, '-e', SEQUENCES.format(name))))
        ours = collections.Counter({row['kernels']: int(row['n']) for row in rows})
        if theirs - ours:
            return f'{name}: {list((theirs - ours).items())[:1]}, here {list((ours - theirs).items())[:1]}'
    return ''


def compared(hta, report, room, path):
    rows = [r for r in report['ranks'] if r['device']]
    if 'failed' in hta:
        return {'report.load': f'HTA does not load it: {hta["failed"]}'}
    if len(rows) != 1:
        return {'report.devices': f'{len(rows)} devices, which HTA takes for one'}
    found = {}
    for what, check in (('temporal', lambda: temporal(hta, rows[0], room)), ('overlap', lambda: overlap(hta, rows[0], room)),
                        ('idle', lambda: idle(hta, rows[0], room)), ('launches', lambda: launches(hta, report, room)), ('queues', lambda: queues(hta, rows[0])),
                        ('copies', lambda: copies(hta, path)), ('sequences', lambda: sequences(hta, path))):
        found[f'report.{what}'] = f'HTA: {hta[what + ".failed"]}' if what + '.failed' in hta else check()
    failed = hta.get('kernels.failed')
    found['report.kernels'] = f'HTA: {failed}' if failed else names(hta, report, room)
    found['report.types'] = f'HTA: {failed}' if failed else types(hta, rows[0], room)
    return found


def members(path):
    """Yields name and text of the traces in a file."""
    if path.endswith(('.tar.gz', '.tgz')):
        with tarfile.open(path) as tar:
            for m in tar:
                f = tar.extractfile(m) if m.isfile() and '.json' in m.name else None
                if f:
                    data = f.read()
                    yield f':{os.path.basename(m.name)}', gzip.decompress(data) if m.name.endswith('.gz') else data
        return
    try:
        with (gzip.open(path) if path.endswith('.gz') else io.open(path, 'rb')) as f:
            yield '', f.read()
    except (OSError, EOFError):
        return


def files(corpus):
    fixtures = os.path.join(os.environ['FIXTURES'], 'json', 'torch')
    yield from ((f'torch/{path}', os.path.join(fixtures, path)) for path in sources.walk(fixtures))
    for path in sources.inventory(corpus) if corpus else ():
        if path.startswith('public/') and (sources.is_named_json(path) or path.endswith('.tar.gz')):
            yield path, os.path.join(corpus, path)


def main():
    corpus = sys.argv[1] if len(sys.argv) > 1 else ''
    hta = Hta()
    with open(os.path.join(os.environ['INTEROP'], 'report_hta.txt'), 'w', encoding='utf-8') as log, tempfile.TemporaryDirectory() as work:
        results, judged = Results(log, 'report_exceptions.tsv'), 0
        for label, path in files(corpus):
            if not os.path.exists(path) or os.path.getsize(path) > MOST or not path.endswith(('.json', '.json.gz', '.tar.gz')):
                continue
            for member, text in members(path):
                made = read(text)
                if not made:
                    continue
                judged += 1
                copy = os.path.join(work, 'trace.json')
                with open(copy, 'w', encoding='utf-8') as f:
                    f.write(made[0])
                try:
                    report = json.loads(tracekit('report', '-q', '--json', copy))
                    results.judge(label + member, compared(hta.ask(copy), report, made[1], copy))
                except (Refused, ValueError, KeyError) as e:
                    results.judge(label + member, {'report': f'{type(e).__name__}: {e}'})
        hta.close()
        status = results.close()
        if not judged:
            print('SKIPPED: report: HTA tells nothing of traces without a device, and no other is here: make interop CORPUS=DIR')
            print('0 passed, 0 failed')
        return status


sys.exit(main())
