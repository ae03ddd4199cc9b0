#!/usr/bin/env python3
"""Checks the drawings of hosts without devices on the page of `report` against a model: the spans of threads over time, and flame
graphs of spans and of stack samples. Also checks that rows of runs with the same ranks have the names of the runs."""
import collections
import html
import json
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import finish, judge  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']
BINS, LANES, THREADS = 480, 8, 8


def run(*args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return p.returncode, p.stdout.decode(), p.stderr.decode()


def page_of(path):
    status, _, err = run('report', '-q', path, '--html', f'{path}.html', '--force')
    if status:
        raise RuntimeError(err)
    with open(f'{path}.html', encoding='utf-8') as f:
        return f.read()


def nested(rnd, spans, tid, start, end, path):
    """Adds random spans in [start, end), in us, with a gap between neighbours."""
    at = start
    while at + 2 < end and len(path) < 10:
        dur = rnd.randrange(1, max(2, (end - at) // rnd.choice((1, 2, 3))))
        here = path + (rnd.choice('abcdefgh') + '<x>',)
        spans.append((tid, at, dur, here))
        nested(rnd, spans, tid, at, at + dur, here)
        at += dur + rnd.randrange(1, 4)


def write_spans(rnd, path, threads):
    spans, events = [], []
    for tid in range(1, threads + 1):
        nested(rnd, spans, tid, rnd.randrange(50), 4000 + rnd.randrange(800), ())
        events.append({'ph': 'M', 'name': 'thread_name', 'pid': 1, 'tid': tid, 'args': {'name': f'thread & {tid}'}})
    events += [{'ph': 'X', 'cat': 'python_function', 'name': p[-1], 'pid': 1, 'tid': tid, 'ts': at, 'dur': dur} for tid, at, dur, p in spans]
    with open(path, 'w', encoding='utf-8') as f:
        json.dump(events, f)
    return spans


# ---- threads ----

def lanes_of(spans, tid):
    """Returns (name, height) of each drawn bin, by lane and bin."""
    first, end = min(at for _, at, _, _ in spans), max(at + dur for _, at, dur, _ in spans)
    edges = [first * 1000000 + (end - first) * 1000000 * i // BINS for i in range(BINS + 1)]
    best, covered, found = {}, collections.Counter(), {}
    for _, at, dur, path in sorted((s for s in spans if s[0] == tid), key=lambda s: (s[1], -s[2])):
        for i in range(BINS if len(path) <= LANES else 0):
            part = min((at + dur) * 1000000, edges[i + 1]) - max(at * 1000000, edges[i])
            key = (len(path) - 1, i)
            if part > 0:
                covered[key] += part
                best[key] = max(best.get(key, (0, '')), (part, path[-1]), key=lambda b: b[0])
    for (lane, i), (_, name) in best.items():
        share = int(1000 * covered[lane, i] / (edges[i + 1] - edges[i]) + .5)
        found[lane, i] = (name, 100 + 8 * share // 10)
    return found


def drawn_lanes(svg):
    found = {}
    for shape, name in re.findall(r'<path class=s\d+ d="([^"]*)"><title>(.*?)</title>', svg):
        for x, y, high, width in re.findall(r'M(\d+) (\d+)v-(\d+)h(\d+)v\3z', shape):
            for i in range(int(x), int(x) + int(width)):
                found[int(y) // 1000 - 1, i] = (html.unescape(name), int(high))
    return found


def lanes_fault(text, spans):
    times = collections.Counter()
    for tid, _, dur, path in spans:
        times[tid] += dur if len(path) == 1 else 0
    tids = sorted(sorted(times, key=lambda t: (-times[t], t))[:THREADS])
    rows = re.findall(r'<div>([^<]*)</div><svg role=img aria-label="spans of a thread"(.*?)</svg>', text, re.S)
    if [html.unescape(name) for name, _ in rows] != [f'thread & {t}' for t in tids]:
        return f'threads {[name for name, _ in rows]}, not {tids}'
    for tid, (_, svg) in zip(tids, rows):
        want, found = lanes_of(spans, tid), drawn_lanes(svg)
        differs = [k for k in sorted(want.keys() | found.keys()) if want.get(k) != found.get(k)]
        if differs:
            return f'thread {tid}: {differs[0]}: {found.get(differs[0])}, not {want.get(differs[0])} ({len(differs)} differ)'
    deeper = sum(tid in tids and len(path) > LANES for tid, _, _, path in spans)
    words = re.search(r'<p>Not drawn: (.*?)\.</p>', text)
    said = words.group(1) if words else ''
    return '' if (f'{deeper:,} span' in said) == (deeper > 0) and ('thread' in said) == (len(times) > THREADS) else f'{said}: {deeper} deeper'


# ---- flame graphs ----

def boxes_of(text, title):
    """Returns depth, left, width, name, amount, share and count of each box of a flame graph, in order."""
    graph = re.search(rf'<h2>{title}</h2>.*?<div class=flame[^>]*>(.*?)</div>', text, re.S).group(1)
    box = r'<i style="left:([\d.]+)%;width:([\d.]+)%;top:(\d+)px;background:hsl\(\d+,75%,68%\)" title="(.*?): ([^:]*?), ([\d.]+) %, ([\d,]+) (?:span|sample)s?">(.*?)</i>'
    return [(int(top) // 18, float(left), float(width), html.unescape(name), amount, float(share), int(count.replace(',', '')))
            for left, width, top, name, amount, share, count, label in re.findall(box, graph) if html.unescape(label) == html.unescape(name)]


def flame_fault(text, title, totals):
    """Compares a graph with {path: (weight, count)}: each box lies within the box above it, and is as wide as its share."""
    whole = sum(w for path, (w, _) in totals.items() if len(path) == 1)
    path, ends, found = [], [], {}
    for depth, left, width, name, _, share, count in boxes_of(text, title):
        path, ends = path[:depth] + [name], ends[:depth] + [(left, left + width)]
        found[tuple(path)] = count
        want = 100 * totals.get(tuple(path), (0, 0))[0] / whole
        if abs(width - want) > 0.002 or abs(share - want) > 0.051:
            return f'{path}: {width} % wide, not {want}'
        if depth and not ends[depth - 1][0] - 0.002 <= left <= left + width <= ends[depth - 1][1] + 0.01 * (depth + 1):
            return f'{path}: outside of the box above it'
    wide = {p: c for p, (w, c) in totals.items() if w >= whole / 1000 * 1.0001}
    narrow = {p: c for p, (w, c) in totals.items() if w >= whole / 1000 * 0.9999}
    return '' if wide.items() <= found.items() <= narrow.items() else f'{len(found)} boxes, not {len(wide)}'


def spans_of(spans):
    totals = collections.defaultdict(lambda: [0, 0])
    for _, _, dur, path in spans:
        totals[path][0] += dur
        totals[path][1] += 1
    return totals


def samples(rnd, path):
    """Writes folded stacks; returns the weight and the number of samples of each path."""
    stacks = collections.Counter()
    for _ in range(60):
        stacks[tuple(rnd.choice(('main', 'load', 'train', 'x & y')) for _ in range(rnd.randrange(1, 6)))] += rnd.randrange(1, 30)
    with open(path, 'w', encoding='utf-8') as f:
        f.writelines(f'{";".join(s)} {n}\n' for s, n in stacks.items())
    totals = collections.defaultdict(lambda: [0, 0])
    for stack, n in stacks.items():
        for k in range(1, len(stack) + 1):
            totals[stack[:k]][0] += n
            totals[stack[:k]][1] += 1
    return totals


def pages(work):
    for seed in range(4):
        rnd = random.Random(int(os.environ.get('SEED', '1')) * 100 + seed)
        path = f'{work}/{seed}.json'
        spans = write_spans(rnd, path, (1, 2, 3, 11)[seed])
        text = page_of(path)
        judge(f'{seed}: threads', lanes_fault(text, spans))
        judge(f'{seed}: flame graph of spans', flame_fault(text, 'Flame graph of spans', spans_of(spans)))
        totals = samples(rnd, f'{work}/{seed}.folded')
        text = page_of(f'{work}/{seed}.folded')
        judge(f'{seed}: flame graph of samples', flame_fault(text, 'Flame graph of stack samples', totals))
        judge(f'{seed}: samples have no timeline', '' if '<h2>Timelines</h2>' not in text else 'an empty one')


# ---- names of runs ----

def rank_trace(path, rank):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    events = [{'ph': 'X', 'cat': 'kernel', 'name': 'gemm', 'pid': 0, 'tid': 7, 'ts': 100 * i, 'dur': 40, 'args': {'device': 0, 'stream': 7}}
              for i in range(12)]
    with open(path, 'w', encoding='utf-8') as f:
        json.dump({'distributedInfo': {'rank': rank, 'world_size': 2}, 'traceEvents': events}, f)
    return path


def runs(work):
    def rows(*paths):
        status, out, err = run('report', '-q', '--json', *paths)
        return [(r['rank'], r['run']) for r in json.loads(out)['ranks']] if status == 0 else err

    def shown(*paths):
        return re.findall(r'^ *[\d.]+ ms .*?  (\S*:? ?rank \d, GPU 0)$', run('report', '-q', *paths)[1].split('Device time')[1], re.M)

    files = [rank_trace(f'{work}/jobs/{job}/{name}', rank) for job, name, rank in
             (('before', 'a.json', 0), ('before', 'b.json', 1), ('after', 'a.json', 0), ('after', 'b.json', 1))]
    for what, paths, want in (
            ('one run has no name', files[:2], [(0, None), (1, None)]),
            ('runs are named by their folders', files, [(0, 'before'), (0, 'after'), (1, 'before'), (1, 'after')]),
            ('folders, too', (f'{work}/jobs/before', f'{work}/jobs/after'), [(0, 'before'), (0, 'after'), (1, 'before'), (1, 'after')]),
            ('files of one folder by their names', (rank_trace(f'{work}/x/one.json', 3), rank_trace(f'{work}/x/two.json', 3)),
             [(3, 'one.json'), (3, 'two.json')]),
            ('folders that do not suffice by the whole path',
             (rank_trace(f'{work}/y/p/one.json', 3), rank_trace(f'{work}/y/p/two.json', 3), rank_trace(f'{work}/y/q/one.json', 3)),
             [(3, 'p/one.json'), (3, 'p/two.json'), (3, 'q/one.json')])):
        judge(what, '' if rows(*paths) == want else f'{rows(*paths)}, not {want}')
    judge('the text has the names', '' if shown(*files) == ['before: rank 0, GPU 0', 'after: rank 0, GPU 0', 'before: rank 1, GPU 0',
                                                            'after: rank 1, GPU 0'] else shown(*files))
    judge('findings name the run', '' if ' of rank 0 in before ' in run('report', '-q', '--findings', *files)[1] else
          run('report', '-q', '--findings', *files)[1])


def labels(work):
    """Checks that --label names the runs as in diff: the i-th name is for all inputs of the i-th operand."""
    files = [rank_trace(f'{work}/labels/{job}/{rank}.json', rank) for job in 'ab' for rank in range(2)]
    a, b = f'{work}/labels/a', f'{work}/labels/b'
    with open(f'{work}/list', 'w', encoding='utf-8') as f:
        f.write('\n'.join(files[2:]) + '\n')
    for what, paths, names, want in (
            ('folders', (a, b), 'xy', 'xyxy'), ('fewer names than runs', (a, b), 'x', 'xbxb'), ('a list', (a, f'@{work}/list'), 'xy', 'xyxy'),
            ('equal names of different ranks', (files[0], files[3]), 'xx', 'xx'), ('one input', (files[0],), 'x', 'x'),
            ('each file', files, 'pqrs', 'prqs')):
        status, out, err = run('report', '-q', '--json', *paths, *(f'--label={name}' for name in names))
        got = ''.join(r['run'] for r in json.loads(out)['ranks']) if status == 0 else err
        judge(f'--label: {what}', '' if got == want else f'{got}, not {want}')
    text = run('report', '-q', a, b, '--label', 'old', '--label', 'new')[1]
    judge('--label: the text', '' if 'old: rank 0, GPU 0' in text and 'new: rank 1, GPU 0' in text else text)
    status, _, err = run('report', '-q', a, b, *(f'--label={name}' for name in 'xyz'))
    judge('--label: too many', '' if status == 2 and 'more names than runs' in err else f'{status}: {err}')


def main():
    with tempfile.TemporaryDirectory() as work:
        pages(work)
        runs(work)
        labels(work)


main()
sys.exit(finish())
