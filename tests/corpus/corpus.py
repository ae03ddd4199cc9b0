#!/usr/bin/env python3
"""Runs every trace of a corpus through the command; prints one row of comparisons per file.

    counts   records by phase: stated in the inventory, counted by Python, read according to `info`
    values   written and read again, the values are equal (tests/support/chromejson.py)
    silent   at most as many events differ as were reported as repaired
    stable   a second write gives the same bytes
    paths    reading with and without templates (prediction) gives the same graph
    check    `check` finds a fault exactly if something needed repair
    memory   bytes of graph per event, without distinct strings: at most 64 (from 1000 events on, where fixed costs are
             negligible)

Known differences are listed in exceptions.tsv. corpus.py --self-test: readers with one deliberate bug, on a fixture, must
each be detected by the comparison meant for them."""
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'support'))
import chromejson  # noqa: E402
import sources  # noqa: E402
from exceptions import Exceptions  # noqa: E402

MOST_BYTES, FROM_EVENTS = 64, 1000
SECONDS = 600
SELF_TEST = 'json/torch/ddp2_plain/rank0.json.gz'
# Deliberate fault of the reader -> comparisons, at least one of which must detect it. A build with sanitizers counts the events that it reads
# back, and refuses to write a file that lacks one.
FAULTS = {'drop_event': ('values', 'read'), 'one_ns': ('values',), 'lost_flow': ('values',), 'swapped_track': ('values',),
          'lost_arg': ('values',), 'one_path': ('paths',)}


def run(*args):
    p = subprocess.run(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS)
    return p.returncode, p.stdout.decode('utf-8', 'replace'), p.stderr.decode('utf-8', 'replace')


def tracekit(*args):
    return run(os.environ['TRACEKIT'], *args)


class Refused(Exception):
    """The command failed."""


def must(*args):
    status, out, err = tracekit(*args)
    if status != 0:
        raise Refused(f'{args[0]}: status {status}: {err.strip()[:300]}')
    return out


def info(path):
    return json.loads(must('info', '-q', '--json', path))['traces'][0]


def repairs(trace):
    return sum(n['count'] for n in trace['notes'] if n['kind'] == 'repair')


def count_faults(trace, stated, original):
    read = {k: n for k, n in trace['records_by_phase'].items() if n}
    if sum(read.values()) != trace['read_records'] - trace['empty_records']:
        yield f'phases sum up to {sum(read.values())} of {trace["read_records"]} records'
    if stated is not None and stated != read:
        yield f'the inventory states {stated}, read were {read}'
    counted = dict(chromejson.phases(original))
    counted.pop('', None)
    read = {k: n for k, n in read.items() if len(k) == 1}
    if counted != read:
        yield f'Python counts {counted}, read were {read}'


def value_faults(trace, original, again):
    """Returns {comparison: faults}: a difference must have been reported as a repair."""
    faults = list(chromejson.differences(original, again))
    if not faults:
        return {'values': [], 'silent': []}
    lost = sum((chromejson.parts(original)[0] - chromejson.parts(again)[0]).values())
    silent = [f'{lost} events differ, {repairs(trace)} repairs were announced'] if lost > repairs(trace) else []
    return {'values': faults, 'silent': silent}


def path_faults(path):
    _, out, err = run(os.environ['PATHS'], path)
    if out.strip() != 'same':
        yield (out + err).strip()[:300]


def check_faults(path, trace):
    status, _, err = tracekit('check', '-q', path)
    expected = 1 if repairs(trace) else 0
    if status != expected:
        yield f'status {status}, expected {expected}: {err.strip()[:300]}'


def memory_faults(trace):
    bytes_per_event = trace['memory']['graph_bytes'] / max(1, trace['events'])
    if trace['events'] >= FROM_EVENTS and bytes_per_event > MOST_BYTES:
        yield f'{bytes_per_event:.1f} bytes an event'


def read_original(path, trace):
    """Returns (value, faults); if Python must repair the file, it must need as many repairs as the command reported."""
    try:
        return chromejson.read(path), []
    except ValueError:
        value, n = chromejson.read_repaired(path)
    said = sum(note['count'] for note in trace['notes'] if note['kind'] == 'repair' and 'quote' in note['text'])
    return value, [] if said else [f'{n} quotes are not escaped, and nothing was said']


def examine(path, stated, work):
    """Returns (figures, {comparison: [fault]}) of one file."""
    once, twice = os.path.join(work, '1.json'), os.path.join(work, '2.json')
    trace = info(path)
    must('convert', '-q', path, '-o', once)
    must('convert', '-q', once, '-o', twice)
    original, unsaid = read_original(path, trace)
    with open(once, 'rb') as f, open(twice, 'rb') as g:
        same = f.read() == g.read()
    return trace, {
        'counts': list(count_faults(trace, stated, original)) + unsaid,
        **value_faults(trace, original, chromejson.read(once)),
        'stable': [] if same else ['the second round gives other bytes'],
        'paths': list(path_faults(path)),
        'check': list(check_faults(path, trace)),
        'memory': list(memory_faults(trace)),
    }


def guarded(job):
    label, path, stated = job
    with tempfile.TemporaryDirectory() as work:
        try:
            return (label, *examine(path, stated, work))
        except (Refused, ValueError, OSError, KeyError, ArithmeticError, subprocess.SubprocessError) as e:
            return label, None, {'read': [f'{type(e).__name__}: {e}']}


def row(label, trace, verdict):
    if not trace:
        return f'{"":>9} {"":>9} {"":>7} {"":>7}  {verdict:4} {label}'
    per_event = trace['memory']['graph_bytes'] / max(1, trace['events'])
    return f'{trace["read_records"]:9} {trace["events"]:9} {repairs(trace):7} {per_event:7.1f}  {verdict:4} {label}'


def judge(label, found, exceptions):
    """Returns the faults that no exception explains."""
    bad = []
    for what, faults in found.items():
        reason = exceptions.reason(label, what, bool(faults))
        if faults and not reason:
            bad += [f'{what}: {fault}' for fault in faults]
    return bad


def corpus(top):
    exceptions = Exceptions(os.path.join(HERE, 'exceptions.tsv'))
    totals = {'files': 0, 'records': 0, 'events': 0, 'failed': 0}
    print(f'{"records":>9} {"events":>9} {"repairs":>7} {"B/event":>7}       file', flush=True)
    with tempfile.TemporaryDirectory() as work, ProcessPoolExecutor(int(os.environ['JOBS'])) as pool:
        files, missing = sources.corpus_files(top, work)
        for label, trace, found in pool.map(guarded, [(label, path, sources.counts(r)) for label, path, r in files]):
            bad = judge(label, found, exceptions)
            print(row(label, trace, 'FAIL' if bad else 'ok'), *(f'    {fault}' for fault in bad), sep='\n', flush=True)
            totals['files'] += 1
            totals['failed'] += bool(bad)
            totals['records'] += trace['read_records'] if trace else 0
            totals['events'] += trace['events'] if trace else 0
    return report(exceptions, missing, totals)


def report(exceptions, missing, totals):
    for pattern, what, reason in exceptions.needed():
        print(f'exception: {pattern} {what}: {reason}')
    faults = [f'{path}: in the inventory, but not there' for path in missing]
    faults += [f'exceptions.tsv: not needed: {r}' for r in exceptions.needless()]
    for fault in faults:
        print(fault)
    failed = totals['failed'] + len(faults)
    print(f'{totals["files"]} files, {totals["records"]} records, {totals["events"]} events, '
          f'{totals["files"] - totals["failed"]} passed, {failed} failed')
    return 1 if failed or not totals['files'] else 0


def self_test():
    """Runs the reader with each fault, and without a fault: the intended comparison must detect each fault, and without a fault
    no comparison may report one."""
    path = os.path.join(os.environ['FIXTURES'], SELF_TEST)
    stated = dict(chromejson.phases(chromejson.read(path)))
    os.environ.update(TRACEKIT=os.environ['BROKEN'], PATHS=os.environ['BROKEN_PATHS'])
    cases = [('', (), stated), ('wrong inventory', ('counts',), {**stated, 'X': stated['X'] + 1})]
    cases += [(fault, what, stated) for fault, what in FAULTS.items()]
    failed = 0
    for fault, what, counts in cases:
        os.environ['TEST_FAULT'] = fault
        _, _, found = guarded((fault, path, counts))
        seen = [name for name, faults in found.items() if faults]
        good = bool(set(what) & set(seen)) if what else not seen
        failed += not good
        print(f'self-test: {fault or "no fault"}: {"caught by" if seen else "nothing found"} {" ".join(seen)}{"" if good else "  FAIL"}')
    print(f'{len(cases) - failed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(self_test() if sys.argv[1:] == ['--self-test'] else corpus(sys.argv[1]))
