#!/usr/bin/env python3
"""Checks that speedscope's own importers find the same stacks and weights in profiles as tracekit does.

    speedscope.py CHROMIUM SPEEDSCOPE [FILE...]    the fixtures; more files: their format is that of the name

speedscope.mjs saves the profile that speedscope exports for each file. speedscope does not keep everything, so both sides are
reduced to the same form ("there" means in speedscope):

    folded, speedscope   weights by stack. Names in folded stacks contain the file there, "f (x.py:3)"; samples without frames are not
                         shown. Profiles of open and close events are spans in tracekit, and not compared
    cpuprofile           weights by innermost function. The last sample has no duration there, and lasts until `endTime`
                         here; the garbage collector is shown on top of the stack before it
    perf script          time by stack: a sample weighs half of the time since the sample before on its thread, and half of the time
                         until the next one, whatever the event
    pprof                the sum of weights. Inlined functions and addresses without a function are not shown there"""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import check, finish  # noqa: E402

HERE, TRACEKIT, FIXTURES = os.path.dirname(os.path.abspath(__file__)), os.environ['TRACEKIT'], os.environ['FIXTURES']
KINDS = {'.folded': 'folded', '.speedscope.json': 'speedscope', '.cpuprofile': 'cpuprofile', '.perf.txt': 'perf', '.pprof': 'pprof'}
SCALE = {'seconds': 1, 'milliseconds': 1e-3, 'microseconds': 1e-6, 'nanoseconds': 1e-9, 's': 1, 'ms': 1e-3, 'us': 1e-6, 'ns': 1e-9}
SAMPLES = 'SELECT utid, ts, callsite_id, weight, unit FROM stack_sample ORDER BY ts, id'
STACKS = '''WITH RECURSIVE up(site, depth, frame, parent) AS (
  SELECT c.id, c.depth, c.frame_id, c.parent_id FROM stack_profile_callsite c
  UNION ALL SELECT up.site, c.depth, c.frame_id, c.parent_id FROM up JOIN stack_profile_callsite c ON c.id = up.parent)
  SELECT site, f.name FROM up JOIN stack_profile_frame f ON f.id = up.frame ORDER BY site, up.depth'''


def load(path):
    with open(path, encoding='utf-8') as f:
        return json.load(f)


def kind_of(path):
    return next((kind for end, kind in KINDS.items() if path.endswith(end)), None)


def query(path, statement):
    p = subprocess.run([TRACEKIT, 'sql', '--json', path, statement], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    return json.loads(p.stdout)['results'][-1]['rows']


def by_halves(rows):
    """Yields rows with the weight that speedscope gives to samples with times."""
    threads = collections.defaultdict(list)
    for utid, ts, site, _, _ in rows:
        threads[utid].append((ts, site))
    for samples in threads.values():
        for i, (ts, site) in enumerate(samples):
            before, after = samples[max(i - 1, 0)][0], samples[min(i + 1, len(samples) - 1)][0]
            yield None, ts, site, (after - before) / 2, 'ns'


def tracekit_samples(kind, path):
    """Yields (stack from the outermost, weight, scale of the unit)."""
    stacks, rows = collections.defaultdict(list), query(path, SAMPLES)
    for site, name in query(path, STACKS):
        stacks[site].append(name or '')
    for _, _, site, weight, unit in by_halves(rows) if kind == 'perf' else rows:
        yield tuple(stacks[site]), weight, SCALE.get(unit, 1)


def plain(kind, name):
    """Returns the name without the file or the module that speedscope adds."""
    if kind == 'folded':
        return re.sub(r' \([^()]*:\d+\)$', '', name)
    if kind == 'perf':
        return '[unknown]' if name.startswith('???') else re.sub(r' \([^()]*\)$', '', name)
    return re.sub(r'^\(anonymous \S+\)$', '(anonymous)', name) if kind == 'cpuprofile' else name


def speedscope_samples(kind, doc, source):
    """Yields the samples of an export in the same form. Any of its profiles may consist of open and close events."""
    frames = [plain(kind, f['name']) for f in doc['shared']['frames']]
    of_spans = [p['type'] == 'evented' and p['unit'] in SCALE for p in source['profiles']] if kind == 'speedscope' else [False] * len(doc['profiles'])
    for profile in (p for p, spans in zip(doc['profiles'], of_spans) if not spans):
        scale = SCALE.get(profile['unit'], 1)
        if profile['type'] == 'sampled':
            for stack, weight in zip(profile['samples'], profile['weights']):
                yield tuple(frames[i] for i in stack), weight, scale
            continue
        stack, last = [], None
        for event in profile['events']:
            if stack and event['at'] != last:
                yield tuple(stack), event['at'] - last, scale
            last = event['at']
            if event['type'] == 'O':
                stack.append(frames[event['frame']])
            else:
                stack.pop()


def digest(kind, samples):
    out = collections.Counter()
    for stack, weight, scale in samples:
        key = () if kind == 'pprof' else stack[-1:] if kind == 'cpuprofile' else stack
        if stack and weight:
            out[key] += weight * scale
    return out


def ours(kind, path):
    samples = list(tracekit_samples(kind, path))
    return digest(kind, samples[:-1] if kind == 'cpuprofile' else samples)


def compare(path, exported):
    kind = kind_of(path)
    source = load(path) if kind == 'speedscope' else None
    theirs = digest(kind, speedscope_samples(kind, load(exported), source))
    mine = ours(kind, path)
    name = os.path.basename(path)
    check(f'{name}: it has samples', bool(mine), mine)
    for key in sorted(mine.keys() | theirs.keys()):
        check(f'{name}: {" < ".join(key[::-1])[:200]}', abs(mine[key] - theirs[key]) <= 2e-9 * max(1, abs(mine[key])), f'{theirs[key]} in speedscope, {mine[key]} here')


def main(chromium, speedscope, *files):
    work = tempfile.mkdtemp()
    found = sorted(os.path.join(FIXTURES, folder, name) for folder in ('folded', 'speedscope', 'cpuprofile', 'perf_script', 'pprof')
                   for name in os.listdir(os.path.join(FIXTURES, folder)) if kind_of(name))
    paths = []
    for i, path in enumerate([*found, *files]):  # names are the names of exports
        paths.append(os.path.join(work, f'{i}.{os.path.basename(path)}'))
        os.symlink(os.path.realpath(path), paths[-1])
    subprocess.run(['node', os.path.join(HERE, 'speedscope.mjs'), chromium, speedscope, os.path.join(work, 'out'), *paths], check=False)
    for path in paths:
        exported = os.path.join(work, 'out', os.path.basename(path) + '.json')
        check(f'{os.path.basename(path)}: speedscope imports it', os.path.exists(exported))
        if os.path.exists(exported):
            compare(path, exported)
    return finish()


sys.exit(main(*sys.argv[1:]))
