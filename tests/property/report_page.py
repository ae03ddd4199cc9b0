#!/usr/bin/env python3
"""Checks the drawings of `report --html` against a model: each kernel's durations, the launch delays of each device and the step times
are counted in bins here and in the page. The page's policy allows its own script alone; a page of `diff` has none."""
import base64
import collections
import hashlib
import html
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import finish, judge  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']
SHORTEST, STEP_BINS, STEPS = 28, 40, 12


def run(*args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return p.returncode, p.stdout.decode(), p.stderr.decode()


def bin_of(ns):
    """Returns the bin of a time: four bins for each power of two of picoseconds from 2^10; times below 131 ns share one bin."""
    ps = round(ns * 1000)
    if ps < 1 << 10:
        return SHORTEST
    power = ps.bit_length() - 1
    return max(SHORTEST, 4 * (power - 10) + (ps * 4 >> power) - 4)


def heights(counts, first, n):
    most = max(counts.values())
    return {i - first: int(c * 960 / most + 40) for i, c in counts.items() if first <= i < first + n}


def drawn(svg):
    """Returns the width in bins and the height of each bar."""
    n = int(re.search(r'viewBox="0 0 (\d+) 1000"', svg).group(1)) // 10
    return n, {int(x) // 10: int(h) for x, h in re.findall(r'M(\d+) 1000v-(\d+)h10v\2z', svg)}


def job(rnd, path):
    """Writes two devices; returns the durations of each kernel, the delays of each device and the step times, in ns."""
    kernels, delays, steps, events, last = collections.defaultdict(list), collections.defaultdict(list), [], [], 0
    for device in range(2):
        at = 0
        for step in range(STEPS):
            begin = at
            for _ in range(20):
                last += 1
                name, dur = rnd.choice((('gemm', rnd.lognormvariate(4, 0.5)), ('add', rnd.lognormvariate(1, 0.2)), ('copy_kernel', 0.05)))
                dur, late = round(dur, 3), round(rnd.choice((0, -0.5, rnd.lognormvariate(2, 1))), 3)
                call = {'ph': 'X', 'cat': 'cuda_runtime', 'name': 'cudaLaunchKernel', 'pid': 1 + device, 'tid': 1, 'ts': round(at, 3), 'dur': 2}
                start = round(call['ts'] + 2 + late, 3)
                events.extend((dict(call, args={'correlation': last}),
                               {'ph': 'X', 'cat': 'kernel', 'name': name, 'pid': 10 + device, 'tid': 7, 'ts': start, 'dur': dur,
                                'args': {'correlation': last, 'stream': 7, 'device': device}}))
                kernels[name].append(dur * 1000)
                delays[device].append(late * 1000)
                at = start + dur + 1
            at += rnd.randrange(200)
            events.append({'ph': 'X', 'cat': 'user_annotation', 'name': f'ProfilerStep#{step}', 'pid': 1 + device, 'tid': 1, 'ts': round(begin - 0.5, 3),
                           'dur': round(at - begin, 3)})
            at += 3
    with open(path, 'w', encoding='utf-8') as f:
        json.dump(events, f)
    return kernels, delays, steps


def kernels_fault(text, kernels):
    section = re.search(r'<h2>Kernels</h2>.*?</section>', text, re.S).group()
    bins = {name: collections.Counter(bin_of(ns) for ns in v) for name, v in kernels.items()}
    first, last = min(min(b) for b in bins.values()), max(max(b) for b in bins.values())
    rows = re.findall(r'<tr><td class=name><div title="(\w+)">.*?(<svg.*?</svg>)', section, re.S)
    fault = '' if {name for name, _ in rows} == set(bins) else f'rows {rows}'[:200]
    for name, svg in rows if not fault else ():
        want = (last - first + 1, heights(bins[name], first, last - first + 1))
        fault = fault or ('' if drawn(svg) == want else f'{name}: {drawn(svg)}, not {want}')
    return fault


def delays_fault(text, delays):
    section = re.search(r'<h2>Launch delays</h2>.*?</section>', text, re.S).group()
    bins = [collections.Counter(bin_of(ns) for ns in delays[device]) for device in sorted(delays)]
    first, last = min(min(b) for b in bins), max(max(b) for b in bins)
    found = [drawn(svg) for svg in re.findall(r'<svg.*?</svg>', section, re.S)]
    want = [(last - first + 1, heights(b, first, last - first + 1)) for b in bins]
    return '' if found == want else f'{found}, not {want}'


def steps_fault(text, path):
    ranks = [[s['duration_ns'] for s in rank['steps']] for rank in json.loads(run('report', '-q', '--json', path)[1])['ranks']]
    ranks = [r for r in ranks if len(r) >= 5]
    section = re.search(r'<h2>Steps</h2>.*?</section>', text, re.S).group()
    found = [drawn(svg) for svg in re.findall(r'<svg[^>]*class=histogram.*?</svg>', section, re.S)]
    low, high = min(map(min, ranks)), max(map(max, ranks))
    want = []
    for rank in ranks:
        counts = collections.Counter(min(STEP_BINS - 1, math.floor((ns - low) / (high - low) * STEP_BINS)) for ns in rank)
        want.append((STEP_BINS, heights(counts, 0, STEP_BINS)))
    return '' if found == want and found else f'{found}, not {want}'


def policy_fault(text):
    policy = html.unescape(re.search(r'Content-Security-Policy" content="(.*?)"', text).group(1))
    scripts = re.findall(r'<script>(.*?)</script>', text, re.S)
    if text.count('<script') != 1 or len(scripts) != 1:
        return f'{text.count("<script")} scripts'
    want = f"script-src 'sha256-{base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()}'"
    return '' if want in policy and "default-src 'none'" in policy else f'{policy}: expected {want}'


def order_fault(text, path):
    """Checks that findings and steps come first, then devices and their work, then hosts, and that times have the same form on
    the page as in the text."""
    wanted = ['Findings', 'Parts of the steps', 'Steps', 'Devices', 'Longest idle times', 'Kernels', 'Hosts', 'Host time by name']
    found = [h for h in re.findall(r'<h2>(.*?)</h2>', text) if h in wanted]
    _, out, _ = run('report', '-q', path)
    titles = ['Findings', 'Parts of the steps', 'Steps:', 'Device time', 'Longest idle times', 'Kernels:', 'Host activity']
    places = [out.find('\n' + title) for title in titles]
    if found != wanted or places != sorted(places) or places[0] < 0:
        return f'{found}; text: {places}'
    at = re.findall(r'\+[0-9.]+ ?[mu]s(?= +(?:host|kernel|other) )', out)
    cells = html.unescape(re.search(r'<h2>Longest idle times</h2>.*?</section>', text, re.S).group())
    return '' if at and all(' ' in x and f'>{x}<' in cells for x in at) else f'{at}'


def main():
    with tempfile.TemporaryDirectory() as work:
        for seed in range(3):
            path, page = f'{work}/{seed}.json', f'{work}/{seed}.html'
            kernels, delays, _ = job(random.Random(int(os.environ.get('SEED', '1')) * 100 + seed), path)
            status, _, err = run('report', '-q', path, '--html', page)
            with open(page, encoding='utf-8') as f:
                text = f.read()
            judge(f'{seed}: durations', kernels_fault(text, kernels) if status == 0 else err)
            judge(f'{seed}: delays', delays_fault(text, delays))
            judge(f'{seed}: steps', steps_fault(text, path))
            judge(f'{seed}: order', order_fault(text, path))
            judge(f'{seed}: policy', policy_fault(text))
        run('diff', '-q', f'{work}/0.json', f'{work}/1.json', '--html', f'{work}/diff.html')
        with open(f'{work}/diff.html', encoding='utf-8') as f:
            text = f.read()
        judge('a page of diff has no script', '' if '<script' not in text and 'script-src' not in text and 'gemm' in text else 'it has one')


main()
sys.exit(finish())
