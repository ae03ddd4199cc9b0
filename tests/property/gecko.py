#!/usr/bin/env python3
"""Checks profiles of the Firefox Profiler: samples, allocations, markers and counters of fixtures and of random profiles in the raw form
and in versions of the processed form equal an independent reading (tests/support/gecko.py); tables that refer to each other in circles,
beyond their ends or not at all are repaired; huge and nested inputs cost linear time."""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import gecko  # noqa: E402
from verdict import check, finish  # noqa: E402

TRACEKIT, FIXTURES = os.environ['TRACEKIT'], os.environ['FIXTURES']
NUMBER = 60 if os.environ.get('LONG') else 8
folder = tempfile.mkdtemp()


def run(*args, code=(0,)):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode not in code:
        check(' '.join(args), False, f'status {p.returncode}: {p.stderr.decode()[:300]}')
    return p


def store(doc, name='x.json'):
    path = f'{folder}/{name}'
    with open(path, 'w', encoding='utf-8') as f:
        json.dump(doc, f)
    return path


def graph(path):
    """Returns, by track, the events as (kind, ps since the origin of the file, duration or None if unfinished, text), the notes, and the
    flows as lists of (ps, track, text without args)."""
    tracks, key, notes, flows = collections.defaultdict(list), None, [], collections.defaultdict(list)
    for line in run('dump', '--graph', path).stdout.decode().splitlines():
        m = re.match(r'track (thread|counter) pid=("[^"]*"|\S+)(?: tid=("[^"]*"|\S+))?(?: "((?:[^"\\]|\\.)*)")?', line)
        if m:
            key = m[2], m[3] if m[1] == 'thread' else m[4]
        m = re.match(r'  \d+ (\w+) (-?\d+)(?: \+(\d+))? (.*)$', line)
        if m:
            text = m[4].replace(' overlaps', '').replace(' paired', '')
            tracks[key].append((m[1], int(m[2]), None if ' unfinished' in text else int(m[3] or 0), text))
        elif line.startswith('note'):
            notes.append(line)
        m = re.match(r'flow (out|inout|in) (-?\d+) - id=(\d+) pid=(\S+) tid=(\S+) -> \2 (.*)$', line)
        if m:
            flows[m[3]].append((int(m[2]), (m[4], m[5]), m[6], m[1]))
    return tracks, notes, list(flows.values())


number_of_flows = 0


def chains(flows):
    return sorted(sorted(flow) for flow in flows)


def same(name, path):
    global number_of_flows
    want = gecko.Reading(gecko.load(path))
    found, notes, flows = graph(path)
    for key in sorted(found.keys() | want.lines.keys(), key=str):
        a, b = collections.Counter(found.get(key, ())), collections.Counter(want.lines.get(key, ()))
        check(f'{name}: {key}', a == b, f'{list((b - a).items())[:3]} expected, {list((a - b).items())[:3]} found')
    check(f'{name}: flows', chains(want.flows()) == chains([point[:3] for point in flow] for flow in flows), flows)
    number_of_flows += len(flows)
    roles = [[point[3] for point in sorted(flow)] in (['out', 'in'], ['in', 'out']) for flow in flows]
    check(f"{name}: a flow has one start and one end", all(roles), flows)
    stackless = sum(int((re.search(r' x(\d+) ', note) or [0, 1])[1]) for note in notes if 'samples without a stack' in note)
    check(f'{name}: samples without a stack', stackless == want.stackless, f'{stackless} {want.stackless}')
    check(f'{name}: no repair', not [n for n in notes if n.startswith('note repair')], notes)


def repaired(name, doc, samples, *words):
    p = run('info', '--json', store(doc))
    found = json.loads(p.stdout)['traces'][0]
    check(f'{name}: samples', found['stack_samples'] == samples, found['stack_samples'])
    for word in words:
        check(f'{name}: {word}', word in p.stderr.decode() or word in p.stdout.decode(), p.stderr.decode())
    sound = b'invariant' not in run('check', f'{folder}/x.json', code=(0, 1, 3)).stderr
    check(f'{name}: the graph is sound', sound)
    check(f'{name}: --strict', run('check', '--strict', f'{folder}/x.json', code=(1, 3)).returncode in (1, 3))


def profile(**thread):
    tables = {'stringArray': ['a', 'b'], 'funcTable': {'name': [0, 1]}, 'frameTable': {'func': [0, 1]},
              'stackTable': {'prefix': [None, 0], 'frame': [0, 1]}, 'samples': {'stack': [0, 1], 'time': [0, 1]}, 'name': 't', 'pid': '1', 'tid': 1}
    return {'meta': {'preprocessedProfileVersion': 48, 'startTime': 1700000000000, 'interval': 1}, 'libs': [], 'threads': [{**tables, **thread}]}


def hostile():
    repaired('a circle of prefixes', profile(stackTable={'prefix': [1, 0], 'frame': [0, 1]}), 2, 'index beyond its table')
    repaired('a stack that is its own prefix', profile(stackTable={'prefix': [0, 1], 'frame': [0, 1]}), 2, 'index beyond its table')
    repaired('prefixes before the first', profile(stackTable={'prefixOffset': [0, 2], 'frame': [0, 1]}), 2, 'index beyond its table')
    repaired('frames beyond the table', profile(stackTable={'prefix': [None, 0], 'frame': [9, 2**40]}), 2, 'index beyond its table')
    repaired('functions beyond the table', profile(frameTable={'func': [2, -7]}), 2, 'index beyond its table')
    repaired('names beyond the table', profile(funcTable={'name': [2, 'x', 1.5]}), 2, 'index beyond its table')
    repaired('stacks beyond the table', profile(samples={'stack': [0, 2, 1e300], 'time': [0, 1, 2]}), 1, 'unknown stack: dropped')
    repaired('samples without times', profile(samples={'stack': [0, 1], 'time': [0]}), 1, 'without a time: dropped')
    repaired('times far away', profile(samples={'stack': [0, 1], 'time': [0, 1e300]}), 1, 'without a time: dropped')
    repaired('weights that are no numbers', profile(samples={'stack': [0, 1], 'time': [0, 1], 'weight': ['x', {}]}), 2, 'weight that is not a number')
    repaired('markers without times', profile(markers={'name': [0], 'startTime': [None], 'endTime': [1], 'phase': [1]}), 2, 'marker without a phase or its times')
    schema = {'markerSchema': [{'name': 'm', 'fields': [{'key': 'id', 'format': 'unique-string'}]}]}
    marked = profile(markers={'name': [0], 'startTime': [1], 'endTime': [2], 'phase': [1], 'category': [0], 'data': [{'type': 'm', 'id': 9}]})
    repaired('texts of markers beyond the table', {**marked, 'meta': {**marked['meta'], **schema}}, 2, 'index beyond its table')
    repaired('a thread that is a text', {**profile(), 'threads': ['x', profile()['threads'][0]]}, 2, 'thread that is not an object')
    nested = {'meta': {'startTime': 1, 'interval': 1, 'processType': 0}, 'threads': [], 'libs': []}
    for _ in range(40):
        nested = {**nested, 'processes': [nested]}
    repaired('processes nested deeply', {**profile(), 'processes': [nested]}, 2, 'nested too deeply')
    for name, doc in (('no tables', {**profile(), 'threads': [{'samples': {'stack': [None], 'time': [1]}}]}), ('nulls', profile(**dict.fromkeys(
            ('stringArray', 'funcTable', 'frameTable', 'stackTable', 'samples', 'markers', 'name', 'pid', 'tid')))),
                      ('lists instead of objects', profile(samples=[], markers=[1], stackTable=[], funcTable=[2]))):
        check(f'{name}: read', run('info', store(doc), code=(0, 3)).returncode in (0, 3))
    text = open(store(profile()), 'rb').read()
    for n in (0, 1, 2, 40, len(text) - 1):
        with open(f'{folder}/cut.gecko.json', 'wb') as f:
            f.write(text[:n])
        p = run('info', f'{folder}/cut.gecko.json', code=(0, 3))
        check(f'{n} bytes: an error with the file', p.returncode == 0 or b'cut.gecko.json' in p.stderr, p.stderr)


def recorded():
    """Recordings of the DevTools: samples count from the start of the recording, and markers from the start of Firefox."""
    for markers in (([['a', 177314720.5, {'type': 'tracing', 'interval': 'start'}], ['a', 177314721.5, {'type': 'tracing', 'interval': 'end'}], ['b', 177314723, {}]]), []):
        strings = ['(root)', 'a', 'b']
        thread = {'name': 'GeckoMain', 'tid': 1, 'pid': 1, 'stringTable': strings,
                  'frameTable': {'schema': {'location': 0}, 'data': [[0]]}, 'stackTable': {'schema': {'prefix': 0, 'frame': 1}, 'data': [[None, 0]]},
                  'samples': {'schema': {'stack': 0, 'time': 1}, 'data': [[0, 1.5], [0, 9.5]]},
                  'markers': {'schema': {'name': 0, 'time': 1, 'data': 2}, 'data': [[strings.index(m[0]), *m[1:]] for m in markers]}}
        inner = {'meta': {'version': 9, 'startTime': 1520000000000.5, 'interval': 1, 'processType': 0}, 'libs': [], 'threads': [thread], 'processes': []}
        path = store({'label': '', 'duration': 10, 'markers': [], 'profile': inner, 'fileType': 'Recorded Performance Data', 'version': 2})
        out = run('info', path)
        check('recorded: length of the samples', b'8.000 ms long, from 1.500 ms (unknown clock)' in out.stdout, out.stdout)
        check('recorded: markers', (b'another clock: placed at the start (2 times)' in out.stderr) == bool(markers), out.stderr)
        spans = [e for events in graph(path)[0].values() for e in events if e[0] in ('span', 'instant')]
        check('recorded: times of markers', [e[2] for e in spans] == ([10**9, 0] if markers else []), spans)
        check('recorded: first times', [t in e[3] for e, t in zip(spans, ('time_ms=177314720.5', 'time_ms=177314723'))] == [True] * len(spans), spans)
        out = run('info', store(inner))
        check('the same profile alone', b'2018-03-02T14:13:20' in out.stdout and b'another clock' not in out.stderr, out.stdout)


def linear():
    """Checks that ten times the input takes about ten times as long, for deep and wide stacks, and for many starts without ends."""
    def spent(n):
        doc = profile(stackTable={'prefix': [None, *range(n - 1)], 'frame': [0] * n}, samples={'stack': list(range(n)), 'timeDeltas': [.5] * n},
                      markers={'name': [0] * n, 'startTime': list(range(n)), 'endTime': [0] * n, 'phase': [2] * n, 'category': [0] * n, 'data': [None] * n})
        path = store(doc, f'{n}.json')
        at = time.monotonic()
        run('info', path)
        return time.monotonic() - at
    small, large = (min(spent(n) for _ in range(3)) for n in (20000, 200000))
    check('linear time', large < 30 * small + .5, f'{small:.2f} s for 20,000, {large:.2f} s for 200,000')


for name_ in sorted(os.listdir(f'{FIXTURES}/gecko')):
    same(name_, f'{FIXTURES}/gecko/{name_}')
for form_ in gecko.FORMS:
    for seed_ in range(NUMBER):
        same(f'{form_}, seed {seed_}', store(gecko.make(seed_, form_)))
check('random profiles have flows', number_of_flows > 20, number_of_flows)
hostile()
recorded()
linear()
sys.exit(finish())
