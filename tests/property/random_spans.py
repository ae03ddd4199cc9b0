#!/usr/bin/env python3
"""Random small traces of spans, instants and async spans that tie, overlap, cross and never end: through every format and back each
keeps its name, time and duration on its track, to the resolution of the formats on its way.  A process for each trace and many in a
file, so that a start of the program judges them all.  LONG=1 tries more."""
import collections
import json
import os
import random
import subprocess
import sys
import tempfile

TRACEKIT = os.environ['TRACEKIT']
TRACES = 3000 if os.environ.get('LONG') else 400
WAYS = (('json',), ('pftrace',), ('xplane.pb',), ('pftrace', 'xplane.pb'), ('xplane.pb', 'pftrace'))
passed = failed = 0


def trace(rng, pid):
    """Times are whole microseconds within 20, so that ties, overlaps and spans of no time are frequent."""
    events, opened = [], collections.Counter()
    for i in range(rng.randint(2, 7)):
        tid, ts, name = rng.randint(1, 2), rng.randint(0, 20), rng.choice('abc')
        ph = rng.choice('XXXBEibe')
        event = {'ph': ph, 'pid': pid, 'tid': tid, 'ts': ts, 'name': name}
        if ph == 'X':
            event['dur'] = rng.randint(0, 9)
        elif ph == 'i':
            event['s'] = 't'
        elif ph in 'be':
            event.update(cat='c', id=f'{pid}.{rng.randint(1, 2)}')  # ids of other processes may end it
        events.append(event)
    if rng.random() < 0.7:
        events.sort(key=lambda e: e['ts'])
    return events


def spans(dump):
    """(process, kind, name, ts, dur) of every event of a dump; of what never ends, no duration.  The tracks of async spans are lanes."""
    out, pid, origin = collections.Counter(), None, 0
    for line in dump.splitlines():
        words = line.split()
        if line.startswith('trace '):
            origin = int(words[1][len('origin='):-len('ns')]) * 1000
        elif line.startswith('track '):
            pid = next((w for w in words if w.startswith('pid=')), None)
        elif len(words) > 2 and words[0].isdigit() and words[1] in ('span', 'instant'):
            ts, at = int(words[2]) + origin, 3
            dur = int(words[at]) if words[1] == 'span' and words[at].startswith('+') else 0
            at += words[1] == 'span' and words[at].startswith('+')
            out[pid, words[1], words[at], ts, None if 'unfinished' in words else dur] += 1
    return out


def run(*args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode:
        raise RuntimeError(f'{args}: status {p.returncode}: {p.stderr.decode()}')
    return p.stdout.decode()


def judge(name, before, after):
    """Each trace is one test: its process has the same events before and after."""
    global passed, failed
    lost, new = before - after, after - before
    bad = {key[0] for key in (*lost, *new)}
    passed += TRACES - len(bad)
    failed += len(bad)
    for pid in sorted(bad)[:3]:
        print(f'not ok  {name}: {pid}: lost {[k for k in lost if k[0] == pid]}, new {[k for k in new if k[0] == pid]}')


def main():
    seed = int(os.environ.get('SEED', '1'))
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        source = f'{folder}/source.json'
        # One span of process 0 covers all, so that the end of the trace, which spans that never end reach to, is the same in all.
        events = [{'ph': 'X', 'pid': 0, 'tid': 1, 'ts': 0, 'dur': 100, 'name': 'all'}]
        for pid in range(1, TRACES + 1):
            events += trace(rng, pid)
        with open(source, 'w', encoding='utf-8') as f:
            json.dump({'traceEvents': events}, f)
        before = spans(run('dump', '-q', source))
        for way in WAYS:
            path = source
            for i, ending in enumerate(way):
                out = f'{folder}/{i}.{ending}'
                run('convert', '-q', path, '-o', out, '--force')
                path = out
            judge(' -> '.join(way), before, spans(run('dump', '-q', path)))
            run('convert', '-q', path, '-o', f'{folder}/back.json', '--force')
            judge(' -> '.join(way) + ' -> json', before, spans(run('dump', '-q', f'{folder}/back.json')))
    if sum(before.values()) < 2 * TRACES:
        print(f'only {sum(before.values())} events')
        return 1
    print(f'{passed} passed, {failed} failed')
    return failed != 0


sys.exit(main())
