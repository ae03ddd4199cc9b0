#!/usr/bin/env python3
"""Checks that no filtered data passes through: after a filter that keeps no event, the output contains no string that occurred
only in events, whatever the formats of input and output: not in names, args, stack frames, interned strings or passthrough
blocks."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import finish, judge  # noqa: E402

TRACEKIT, FIXTURES = os.environ['TRACEKIT'], os.environ['FIXTURES']
SHORTEST = 6  # bytes; shorter strings occur by chance
OUTPUTS = ('json', 'xplane.pb', 'pftrace')
STACKS = {'traceEvents': [{'ph': 'X', 'pid': 1, 'tid': 1, 'ts': 1, 'dur': 5, 'name': 'first_event', 'sf': '3', 'args': {'shape': 'argument_one'}},
                          {'ph': 'i', 'pid': 1, 'tid': 1, 'ts': 10, 'name': 'second_event', 'sf': 5, 's': 't'}],
          'stackFrames': {'1': {'name': 'root_frame'}, '3': {'name': 'leaf_frame', 'parent': '1'}, '5': {'name': 'other_frame', 'parent': 1}}}


def run(*args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode:
        raise RuntimeError(f'{args}: status {p.returncode}: {p.stderr.decode()}')
    return p


def strings(value):
    """Yields all strings in a JSON value, including keys."""
    if isinstance(value, dict):
        for k, v in value.items():
            yield k
            yield from strings(v)
    elif isinstance(value, list):
        for v in value:
            yield from strings(v)
    elif isinstance(value, str):
        yield value


FIELDS = {'ph', 'pid', 'tid', 'ts', 'dur', 'name', 'cat', 'args', 'id', 'id2', 'scope', 's', 'bp', 'tts', 'tdur', 'cname', 'sf', 'esf', 'tracekit'}


def only_in_events(trace):
    """Returns the strings of events and stack frames that do not occur in metadata or top-level data."""
    events, rest = set(), set()
    for event in trace['traceEvents']:
        (rest if event.get('ph') == 'M' else events).update(strings(event))
        rest.update(str(event[k]) for k in ('pid', 'tid') if k in event)
    events.update(strings(trace.get('stackFrames', {})))
    rest.update(strings({k: v for k, v in trace.items() if k not in ('traceEvents', 'stackFrames')}))
    elsewhere = '\0'.join(rest)
    return {s for s in events - FIELDS if len(s.encode()) >= SHORTEST and s not in elsewhere}


def one(source, folder):
    run('convert', source, '-o', f'{folder}/all.json', '--force', '--no-provenance')
    with open(f'{folder}/all.json', encoding='utf-8') as f:
        secret = only_in_events(json.load(f))
    for ending in OUTPUTS:
        out = f'{folder}/none.{ending}'
        run('filter', source, '--allow-empty', '-e', 'name == "there is no event of this name"', '--drop-args', '*', '-o', out,
            '--force', '--no-provenance')
        with open(out, 'rb') as f:
            text = f.read()
        found = [s for s in secret if s.encode() in text or json.dumps(s)[1:-1].encode() in text]
        judge(f'{source} -> {ending}', f'{len(found)} of {len(secret)} strings are there, such as {found[:5]}' if found else '')
    return len(secret)


def main():
    traces = [os.path.join(d, n) for d, _, names in os.walk(FIXTURES) for n in names if '/nasty' not in d]
    traces = sorted(t for t in traces if t.endswith(('.json', '.json.gz', '.pb', '.pftrace.gz', '.pb.gz')))
    total = 0
    with tempfile.TemporaryDirectory() as folder:
        with open(f'{folder}/stacks.json', 'w', encoding='utf-8') as f:
            json.dump(STACKS, f)
        for trace in [f'{folder}/stacks.json'] + traces:
            total += one(trace, folder)
    judge('strings to look for', '' if total > 1000 else f'only {total}')
    return finish()


sys.exit(main())
