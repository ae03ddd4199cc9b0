#!/usr/bin/env python3
"""Checks overlapping spans in Chrome JSON: with --overlaps, or if the input is not JSON, no X event extends beyond an enclosing
event of its row, after the rounding of trace_processor; and the output is read back as the same trace. Uses random traces and
XPlane fixtures."""
import collections
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
from decimal import ROUND_HALF_UP, Decimal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import randomtrace  # noqa: E402
from verdict import finish, judge  # noqa: E402

TRACEKIT, FIXTURES = os.environ['TRACEKIT'], os.environ['FIXTURES']
TRACES = 20000 if os.environ.get('LONG') else 2000


def run(*args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode:
        raise RuntimeError(f'{args}: status {p.returncode}: {p.stderr.decode()}')
    return p.stdout.decode()


def ns(us):
    return int((us * 1000).quantize(Decimal(1), ROUND_HALF_UP))


def events_of(path):
    with open(path, encoding='utf-8') as f:
        data = json.load(f, parse_float=Decimal, parse_int=Decimal)
    return data if isinstance(data, list) else data['traceEvents']


def stuck_out(events):
    """Returns the X events that trace_processor would drop, because they end after the event in which they begin."""
    rows, out = collections.defaultdict(list), []
    for e in events:
        if e.get('ph', '-') == 'X':
            rows[str(e['pid']), str(e['tid'])].append((ns(e['ts']), -ns(e['dur']), e['name']))
    for row, spans in rows.items():
        stack = []
        for start, minus, name in sorted(spans):
            end = start - minus
            while stack and stack[-1] <= start:
                stack.pop()
            if stack and end > stack[-1]:
                out.append((row, name, start))
            else:
                stack.append(end)
    return out


def meaning(path):
    lines = run('dump', '--graph', '-q', path).splitlines()
    origin = int(re.search(r'origin=(-?\d+)ns', lines[0])[1]) * 1000
    timed = re.compile(r'^(  \d+ [a-z]+|flow [a-z]+|record .) (-?\d+)(?= |$)')
    # The times of bound events are printed after an arrow, and are also relative to the origin.
    lines = [re.sub(r' -> (-?\d+)(?= )', lambda m: f' -> @{int(m[1]) + origin}', timed.sub(lambda m: f'{m[1]} @{int(m[2]) + origin}', line))
             for line in lines[1:] if not line.startswith(('note ', 'meta '))]
    below = lines[1:] + ['']
    return sorted(line for line, after in zip(lines, below) if not line.startswith(('track async', 'track process')) or after.startswith('  '))


def compare(what, source, path):
    stuck = stuck_out(events_of(path))
    judge(f'{what}: rows', f'{len(stuck)} stick out, such as {stuck[0]}' if stuck else '')
    before, after = collections.Counter(meaning(source)), collections.Counter(meaning(path))
    judge(f'{what}: again', '' if before == after else f'lost {list(before - after)[:2]}, new {list(after - before)[:2]}')


def stays(what, path, work):
    """Checks that a second and a third round write the same bytes, and equally many rows."""
    rounds = [path, f'{work}/2.json', f'{work}/3.json']
    for a, b in zip(rounds, rounds[1:]):
        run('convert', '-q', a, '-o', b, '--force')
    first, second, third = (open(p, 'rb').read() for p in rounds)
    lanes = first.count(b'"tracekit.lane_of"'), second.count(b'"tracekit.lane_of"')
    judge(f'{what}: rounds', 'other bytes' if second != third else f'{lanes} rows' if lanes[0] != lanes[1] else '')


def main():
    with tempfile.TemporaryDirectory() as work:
        source, out, again = f'{work}/source.json', f'{work}/out.json', f'{work}/again.json'
        maker = randomtrace.maker(int(os.environ.get('SEED', '1')))
        maker.kinds = ('XXXXXXXXibenstf',)  # begins and ends are never dropped, and may overlap
        maker.file(source, 1, TRACES)
        run('convert', '-q', source, '-o', out, '--overlaps')
        judge('there are overlaps', '' if len(stuck_out(events_of(source))) > TRACES / 20 else 'hardly any')
        compare('random', source, out)
        stays('random', out, work)
        run('convert', '-q', source, '-o', again)
        judge('JSON as it was', '' if len(stuck_out(events_of(again))) == len(stuck_out(events_of(source))) else 'rows were made unasked')
        for path in sorted(glob.glob(f'{FIXTURES}/xplane/*/*.xplane.pb')):
            run('convert', '-q', path, '-o', out, '--force')
            stuck = stuck_out(events_of(out))
            judge(os.path.relpath(path, FIXTURES), f'{len(stuck)} stick out, such as {stuck[0]}' if stuck else '')
            stays('... once more', out, work)
    return finish()


sys.exit(main())
