#!/usr/bin/env python3
"""Compares the command with fixtures/nasty/EXPECT.tsv: status, messages, output and number of events of every damaged or odd
input.

For every input: a documented exit status, never a signal; one line per fault, naming the file; no output file after an
error; otherwise strict JSON in valid UTF-8; --strict refuses exactly the inputs that need repair. EXCEPTIONS lists verdicts
that the project knowingly does not reach, with the reason; each entry must still be needed."""
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

TRACEKIT, FIXTURES = os.environ['TRACEKIT'], os.environ['FIXTURES']
SECONDS = 20  # time limit, also under sanitizers

# path: (actual verdict, reason)
EXCEPTIONS = {
    'xplane/length_4g.xplane.pb': ('repair', 'a file that ends early keeps what came before, whatever length it promised'),
    'xplane/overlapping_events.xplane.pb': ('ok', 'kept as it is: only a writer that must nest has to repair it'),
    'xplane/negative_offset.xplane.pb': ('note', 'a time like any other: nothing had to be changed'),
    'json/overlap_runaway_dur.json': ('ok', 'nested by its numbers: cannot be told from a root span'),
}


def run(*args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS)
    return p.returncode, p.stdout, p.stderr.decode('utf-8', 'replace')


def refuse(token):
    raise ValueError(f'{token} is not JSON')


def strict_json(data):
    text = data.decode('utf-8')  # raises on invalid UTF-8
    if re.search(r'(?<!\\)(\\\\)*\\u[dD][89a-fA-F]', text):
        raise ValueError('a surrogate escape')
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20000)
    try:
        return json.loads(text, parse_constant=refuse)
    finally:
        sys.setrecursionlimit(limit)


def traces_fault(path, expected):
    status, out, _ = run('info', '-q', '--json', path)
    found = len(json.loads(out)['traces']) if status == 0 else f'status {status}'
    if found != expected:
        yield f'{found} traces, expected {expected}'


def events_fault(path, expected):
    """Returns faults in the number of events, or of records if metadata counts too; other expectations ("3 slices", "1 flow") are
    left to other tests."""
    if m := re.fullmatch(r'(\d+) traces?', expected):
        yield from traces_fault(path, int(m[1]))
        return
    m = re.fullmatch(r'(>=)?(\d+)(?:\.\.(\d+))?', expected)
    if not m:
        return
    status, out, _ = run('info', '-q', '--json', path)
    if status != 0:
        yield f'info: status {status}'
        return
    trace = json.loads(out)['traces'][0]
    records = trace['read_records'] - trace['empty_records'] - trace['dropped']
    low = int(m[2])
    high = float('inf') if m[1] else int(m[3] or m[2])
    if not (low <= trace['events'] <= high or low <= records <= high):
        yield f'{trace["events"]} events of {records} records, expected {expected}'


def error_faults(path, status, err, output):
    if status != 3:
        yield f'status {status}, expected 3'
    if len(err.splitlines()) != 1:
        yield f'not one line: {err!r}'
    if os.path.basename(path) not in err:
        yield f'does not name the file: {err!r}'
    if os.path.exists(output):
        yield 'left an output file'


def output_faults(output):
    try:
        with open(output, 'rb') as f:
            strict_json(f.read())
    except (OSError, ValueError) as e:
        yield f'output: {e}'
    except RecursionError:
        pass  # a limit of Python, not of tracekit


def verdict_faults(verdict, status, err, strict_status):
    repaired = 'repair: ' in err
    if status != 0:
        yield f'status {status}, expected 0: {err.strip()}'
    elif verdict == 'repair' and not repaired:
        yield f'no repair was announced: {err!r}'
    elif verdict in ('ok', 'note', 'fact') and repaired:
        yield f'a repair, expected none: {err!r}'
    elif verdict in ('note', 'fact') and not err:
        yield 'nothing was said'
    elif strict_status != (3 if repaired else 0):
        yield f'--strict: status {strict_status}'


def check(path, verdict, events, work):
    name = path.replace('/', '_')
    source, output = os.path.join(FIXTURES, 'nasty', path), os.path.join(work, name + '.out.json')
    strict_output = os.path.join(work, name + '.strict.json')
    for left in (output, strict_output):  # left by the same input under another verdict
        if os.path.exists(left):
            os.remove(left)
    status, _, err = run('convert', '--force', source, '-o', output, *(['-v'] if verdict in ('note', 'fact') else []))
    if verdict == 'error' or (verdict == 'limit' and status != 0):
        yield from error_faults(path, status, err, output)
        return
    strict_status, _, _ = run('convert', '--strict', source, '-o', strict_output)
    if strict_status != 0 and os.path.exists(strict_output):
        yield '--strict left an output file'
    yield from verdict_faults(verdict, status, err, strict_status)
    if status == 0:
        yield from output_faults(output)
        yield from events_fault(source, events)
        if verdict != 'limit' and 'trace' not in events:
            yield from events_fault(output, events)


def guarded(row, work):
    path, _, verdict, events = row[:4]
    try:
        faults = list(check(path, verdict, events, work))
        if path in EXCEPTIONS:
            needless = ['stands in EXCEPTIONS without need']
            faults = list(check(path, EXCEPTIONS[path][0], events, work)) if faults else needless
    except subprocess.TimeoutExpired:
        faults = [f'took more than {SECONDS} s']
    return path, row[4] if len(row) > 4 else '', faults


def main():
    with open(os.path.join(FIXTURES, 'nasty', 'EXPECT.tsv'), encoding='utf-8') as f:
        rows = [line.rstrip('\n').split('\t') for line in list(f)[1:]]
    rows = [row for row in rows if not row[0].startswith('merge/')]
    failed = 0
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(2) as pool:
        for path, expectation, faults in pool.map(lambda row: guarded(row, work), rows):
            failed += bool(faults)
            for fault in faults:
                print(f'{path}: {fault}   [{expectation}]')
    print(f'{len(rows) - failed} passed, {failed} failed')
    return 1 if failed else 0


sys.exit(main())
