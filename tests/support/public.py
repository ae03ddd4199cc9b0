"""Helpers of the tests of public cases: a register of cases, events in the form of each producer, and queries through the command."""
import json
import os
import re
import subprocess
import sys
import tempfile
from decimal import Decimal

from verdict import finish, judge
from xspace import message, number

TRACEKIT, ONLY = os.environ['TRACEKIT'], set(sys.argv[1:])
CASES = []

# Discussion threads whose cases still fail; these cases run only with OPEN=1.
OPEN = {}


def case(thread, kind, what):
    def register(function):
        CASES.append((thread, kind, what, function))
        return function
    return register


# ---- helpers of the cases ----

def run(*args):
    return subprocess.run([TRACEKIT, *args], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)


def said(*args):
    p = run(*args)
    return p.stdout + p.stderr


def put(name, content):
    """Writes a file into the case's own folder: text as it is, anything else as JSON."""
    if os.path.dirname(name):
        os.makedirs(os.path.dirname(name), exist_ok=True)
    data = content if isinstance(content, (str, bytes)) else json.dumps(content)
    with open(name, 'wb') as f:
        f.write(data.encode() if isinstance(data, str) else data)
    return name


def dump(source):
    """Returns the events in time order, with exact numbers."""
    return [json.loads(line, parse_float=Decimal) for line in run('dump', '--jsonl', source).stdout.splitlines()]


def durations(source):
    """Returns {name: [us of each span]}."""
    found = {}
    for e in dump(source):
        if e['kind'] == 'span':
            found.setdefault(e['name'], []).append(float(e['dur_ms'] * 1000))
    return {name: sorted(v) for name, v in found.items()}


def depths(source):
    return [(e['name'], e['depth']) for e in dump(source)]


def converted(source, name, *options):
    p = run('convert', source, '-o', name, '--force', *options)
    assert p.returncode == 0, p.stderr
    return name


def top(source, *options):
    """Returns {name: total ns} from `top`."""
    lines = run('top', source, '--csv', *options).stdout.splitlines()
    head = lines[0].split(',') if lines else []
    rows = [dict(zip(head, line.rsplit(',', len(head) - 1))) for line in lines[1:]]
    return {r['name'].strip('"'): round(Decimal(r['total_ns'])) for r in rows}


def answers(source, query):
    lines = run('sql', source, '--csv', '-e', query).stdout.splitlines()
    return [line.replace('"', '') for line in lines[1:]]


def ranks(*sources):
    p = run('merge', *sources, '-n', '--json')
    assert p.returncode == 0, p.stderr
    return [r['rank'] for r in json.loads(p.stdout)['ranks']]


def devices(*sources):
    return [r for r in json.loads(run('report', '--json', *sources).stdout)['ranks'] if r.get('device')]


def equal(found, right):
    assert found == right, f'{found!r} instead of {right!r}'


def has(text, *patterns):
    for pattern in patterns:
        assert re.search(pattern, text), f'/{pattern}/ is not in {text.strip()[:300]!r}'


def x(name, ts, dur, **more):
    return {'ph': 'X', 'pid': 1, 'tid': 1, 'name': name, 'ts': ts, 'dur': dur, **more}


def kernel(name, ts, dur, **args):
    return x(name, ts, dur, cat='kernel', pid=0, tid=7, args={'device': 0, 'stream': 7, **args})


def named_ranks(*names):
    return [put(name, {'traceEvents': [x(f'w{i}', 10 + i, 5)]}) for i, name in enumerate(names)]


# ---- packets of Perfetto ----

def packet(*fields):
    return message(1, b''.join(fields))


def track(uuid, name=None, parent=None, pid=None, tid=None, thread=None):
    body = number(1, uuid) + (message(2, name.encode()) if name else b'') + (number(5, parent) if parent else b'')
    if pid and not tid:
        body += message(3, number(1, pid) + message(6, b'app'))
    if tid:
        body += message(4, number(1, pid) + number(2, tid) + (message(5, thread.encode()) if thread else b''))
    return packet(message(60, body), number(10, 1))


def slice_event(ts, kind, uuid, name=None, more=b'', clock=None, flags=None, seq=1):
    """Returns a packet with a TrackEvent. kind: 1 = begin, 2 = end, 3 = instant."""
    body = number(9, kind) + number(11, uuid) + (message(23, name.encode()) if name else b'') + more
    return packet(number(8, ts), number(10, seq), message(11, body), number(58, clock) if clock else b'', number(13, flags) if flags else b'')


# ---- command lines that people type ----

def advice(text):
    """Returns an error message without the command line that it repeats."""
    text = re.sub(r"\(try 'tracekit help[^)]*\)|^tracekit: (\w+: )?", '', text, flags=re.M)
    return re.sub(r"(unknown (option|command)) '[^']*'", r'\1', text)


def typing(thread, words, *patterns):
    """Adds a case: the command line works as typed, or its error message matches the patterns, which show the intended command."""
    @case(thread, 'typed', 'tracekit ' + words)
    def _():
        put('T.json', {'traceEvents': [x('a', 0, 5), kernel('gemm', 10, 20)]})
        put('q.sql', 'select 1')
        put('U.json', {'traceEvents': [x('a', 0, 5), kernel('gemm', 10, 20)]})
        p = run(*words.split())
        if p.returncode:
            has(advice(p.stderr), *patterns)


# ---- all ----

def main():
    for thread, kind, what, function in CASES:
        if ONLY and not any(word in f'{thread} {kind}' for word in ONLY) or thread in OPEN and not os.environ.get('OPEN'):
            continue
        with tempfile.TemporaryDirectory() as work:
            here = os.getcwd()
            os.chdir(work)
            try:
                function()
                judge(thread)
            except Exception as e:  # any fault of one case is a fault of this case only
                judge(f'{thread}, {kind}', f'{what}: {"" if isinstance(e, AssertionError) else type(e).__name__} {e}')
            finally:
                os.chdir(here)
    return finish()

