#!/usr/bin/env python3
"""Checks long threads in Perfetto output, whose events are written in segments, several at the same time: the bytes do not depend on
the number of threads or on the memory limit, and reading the file returns the graph that was written. A segment for which
the memory is too small is written again. Cuts meet open spans, spans on
other lanes, begin events without an end, flows, nested args, and tracks that are too short for segments. The file itself shows that
there are segments: each begins with a packet that clears the state of the sequence. A build with the thread sanitizer looks for races
instead."""
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import check, finish, judge  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']
RACES = os.environ['B'].endswith('/tsan')
SCALE = 3 if os.environ.get('LONG') else 1


def run(*args):
    return subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)


def content(path):
    with open(path, 'rb') as f:
        return f.read()


def graph(path):
    """Returns the lines of a graph. The order of flow points at the same time is open; notes and metadata are not part of the events."""
    return sorted(line for line in run('dump', '--graph', path).stdout.splitlines() if not line.startswith((b'meta ', b'note ')))


# ---- traces ----

def args_of(draw, i):
    """Returns args of many types, some of them with texts that only a few events share."""
    args = {'n': i, 'stream': i % 7, 'name': f'text {draw.randrange(400)}'}
    if i % 5 == 0:
        args['dims'] = [[i % 64, 3], [], {'a.b': 1.5, 'c': None}]
    return args


def thread(draw, tid, n, odd):
    """Yields n spans of a thread below one span around all, with nesting; `odd`: what else the thread has."""
    yield {'ph': 'X', 'pid': 1, 'tid': tid, 'name': 'all', 'ts': 0, 'dur': n * 10 + 10}
    for i in range(n):
        ts = 10 * i + 1
        e = {'ph': 'X', 'pid': 1, 'tid': tid, 'cat': f'c{i % 3}', 'name': f'n{draw.randrange(300)}', 'ts': ts, 'dur': draw.choice((1, 3, 8)),
             'args': args_of(draw, i)}
        if 'pairs' in odd and i % 4 == 0:
            yield {**e, 'ph': 'B', 'dur': None}
            yield {'ph': 'E', 'pid': 1, 'tid': tid, 'ts': ts + 8, 'args': {'end': i}}
            continue
        if 'lanes' in odd and i % 997 == 0:
            e['dur'] = 15  # overlaps the next span
        if 'unfinished' in odd and i % 5003 == 5000:
            yield {**e, 'ph': 'B', 'dur': None}
            continue
        yield e
        if 'instants' in odd and i % 6 == 0:
            yield {'ph': 'i', 'pid': 1, 'tid': tid, 's': 't', 'name': f'mark {i % 5}', 'ts': ts + 1}
        if 'flows' in odd and i % 3 == 0:
            other = {'ph': 'f', 'bp': 'e', 'pid': 1, 'tid': tid % 2 + 1, 'cat': 'flow', 'name': 'go', 'ts': ts + 10}
            yield {'ph': 's', 'pid': 1, 'tid': tid, 'cat': 'flow', 'name': 'go', 'id': i if i % 9 else f'id {i}', 'ts': ts}
            yield {**other, 'id': i if i % 9 else f'id {i}'}


def deep(tid):
    """Yields spans nested 700 deep, again and again; importers keep 512."""
    for k in range(20):
        for d in range(700):
            yield {'ph': 'X', 'pid': 1, 'tid': tid, 'name': f'level {d}', 'ts': k * 2000 + d, 'dur': 1900 - 2 * d if d < 900 else 1}


def write(path, *parts):
    events = [{k: v for k, v in e.items() if v is not None} for part in parts for e in part]
    with open(path, 'w', encoding='ascii') as f:
        f.write('{"traceEvents":[' + ',\n'.join(json.dumps(e) for e in events) + ']}')
    return path


def counters(n):
    return ({'ph': 'C', 'pid': 1, 'name': 'memory', 'ts': i * 20, 'args': {'bytes': i}} for i in range(n))


def traces(folder):
    draw = random.Random(11)
    yield 'one thread', write(f'{folder}/one.json', thread(draw, 1, 140000 * SCALE, ()))
    yield 'flows', write(f'{folder}/flows.json', thread(draw, 1, 9000, ('flows', 'instants')), thread(draw, 2, 70000 * SCALE, ('flows',)),
                         counters(3000))
    yield 'lanes', write(f'{folder}/lanes.json', thread(draw, 1, 70000, ('lanes', 'unfinished')), thread(draw, 2, 10000, ('lanes',)),
                         thread(draw, 3, 100, ('lanes',)), thread(draw, 4, 9000, ()), deep(5))
    yield 'long args', write(f'{folder}/long.json', ({'ph': 'X', 'pid': 1, 'tid': 1, 'name': 'n', 'ts': i, 'dur': 1,
                                                      'args': {'text': f'{i}' * 300}} for i in range(9000)), thread(draw, 2, 9000, ()))
    yield 'pairs', write(f'{folder}/pairs.json', thread(draw, 1, 20000, ('pairs', 'instants', 'unfinished')), thread(draw, 2, 9000, ('pairs',)),
                         ({'ph': 'i', 'pid': 1, 's': 'p', 'name': 'process', 'ts': i} for i in range(50)))


# ---- the file ----

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            n, at = varint(data, at) if key & 7 == 2 else ({1: 8, 5: 4}[key & 7], at)
            value, at = data[at:at + n], at + n
        yield key >> 3, value


def cleared(data):
    """Returns the number of packets that clear the state of a sequence."""
    return sum(dict(fields(packet)).get(13, 0) & 1 for number, packet in fields(data) if number == 1)


def judge_trace(name, path, folder):
    one, more = f'{folder}/one.pftrace', f'{folder}/more.pftrace'
    if RACES:
        said = run('convert', '-q', '-j8', path, '-o', one, '--force')
        judge(f'{name}: races', said.stdout[-2000:].decode() if b'ThreadSanitizer' in said.stdout or said.returncode else '')
        return
    run('convert', '-q', '-j1', path, '-o', one, '--force')
    for options in (['-j2'], ['-j8'], ['-j2', '--max-memory', '48M'], ['-j8', '--max-memory', '160M']):
        said = run('convert', '-q', *options, path, '-o', more, '--force')
        judge(f'{name}: {" ".join(options)}', said.stdout[-2000:].decode() or ('' if content(one) == content(more) else 'other bytes than -j1'))
    n = cleared(content(one))
    judge(f'{name}: has segments', '' if n >= 2 else f'{n} packets clear the state')
    judge(f'{name}: the same graph', '' if graph(path) == graph(one) else 'differs')


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, path in traces(folder):
            judge_trace(name, path, folder)
    return finish()


sys.exit(main())
