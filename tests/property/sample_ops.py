#!/usr/bin/env python3
"""Operations on random stack samples (tests/support/gecko.py: threads, units, weights, categories, args, deep and recursive
stacks) keep exactly the samples that a model in Python selects, with their stacks, weights and times, whichever format is
written: filter, split, merge, rebase, extract, shrink, redact, and chains of formats. The same holds for samples in random
traces of Chrome JSON and Perfetto, beside spans, counters and flows (tests/support/richtrace.py), whose stacks, weights, times
and threads are those that the generator wrote. SEED=N tries other samples, LONG=1 more."""
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import gecko  # noqa: E402
import richtrace  # noqa: E402
from verdict import check, finish  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']
SEED, NUMBER = int(os.environ.get('SEED', 1)), 40 if os.environ.get('LONG') else 5
folder = tempfile.mkdtemp()
Sample = collections.namedtuple('Sample', 'pid tid ps text')


def run(*args, code=(0,)):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode not in code:
        check(' '.join(args), False, f'status {p.returncode}: {p.stderr.decode()[:300]}')
    return p


def graph(path):
    """Returns the samples of a file as a Counter of Sample, with absolute times."""
    out, pid, tid, origin = collections.Counter(), None, None, 0
    for line in run('dump', '--graph', path).stdout.decode().splitlines():
        m = re.match(r'trace origin=(-?\d+)ns', line)
        origin = int(m[1]) * 1000 if m else origin
        m = re.match(r'track thread pid=("[^"]*"|\S+) tid=("[^"]*"|\S+)', line)
        pid, tid = m.groups() if m else (pid, tid)
        m = re.match(r'  \d+ sample (-?\d+) (.*)$', line)
        if m:
            out[Sample(pid, tid, origin + int(m[1]), m[2].replace(' in-record', ''))] += 1
    return out


def model(doc):
    """Returns the samples of a profile, the absolute time of its zero in ps, and the first and last time of its events from there."""
    reading = gecko.Reading(doc)
    zero = int(reading.start * 10**6) * 1000
    samples = collections.Counter(Sample(*key, zero + line[1], line[3]) for key, lines in reading.lines.items() for line in lines if line[0] == 'sample')
    times = [t for lines in reading.lines.values() for line in lines for t in (line[1], line[1] + (line[2] or 0))]
    return samples, zero, min(times), max(times)


def name_of(sample):
    """Returns the name of the innermost frame; empty if the sample has no frame, or one without a name."""
    m = re.match(r'"([^"]*)"', sample.text)
    return m[1].replace('\\x22', '"') if m else ''


def only(samples, wanted):
    return collections.Counter({s: n for s, n in samples.items() if wanted(s)})


def same(what, found, want):
    check(what, found == want, f'{sum(want.values())} expected, {sum(found.values())} found; {list((want - found).items())[:2]} missing, {list((found - want).items())[:2]} new')


def selections(name, path, out, samples, zero, first, last):
    to = f'{folder}/to'
    every = sorted(samples)
    some = next((s for s in every[len(every) // 2:] if name_of(s)), None) or next((s for s in every if name_of(s)), every[0])
    begin, end = first // 10**6 + (last - first) // 3 // 10**6, first // 10**6 + (last - first) // 3 * 2 // 10**6
    cases = [
        (['--time', f'{begin}us..{end}us'], lambda s: begin * 10**6 <= s.ps - zero < end * 10**6),
        (['--name', name_of(some).replace('[', '\\[').replace('*', '\\*')], lambda s: name_of(s) == name_of(some)),
        (['--tid', some.tid], lambda s: s.tid == some.tid),
        (['--pid', some.pid], lambda s: s.pid == some.pid),
        (['--cat', 'Other'], lambda s: re.match(r'"[^"]*" \[Other\]', s.text)),
        (['--exclude', '*Label*'], lambda s: 'Label' not in name_of(s)),
        (['--regex', '^run'], lambda s: name_of(s).startswith('run')),
        (['--kind', 'sample'], lambda s: True)]
    for select, wanted in cases:
        run('filter', path, *select, '-f', out, '-o', to, '--force', '--allow-empty', code=(0, 1))
        same(f'{name}: {out}, filter {" ".join(select)}', graph(to), only(samples, wanted))


def divided(name, path, out, samples, first, last):
    for by in (['--by', 'process'], ['--by', 'time', '--every', f'{(last - first) // 3 // 10**6 + 1}us']):
        run('split', path, *by, '-f', out, '-o', f'{folder}/part{{}}', '--force')
        parts = [f'{folder}/{part}' for part in os.listdir(folder) if part.startswith('part')]
        same(f'{name}: {out}, split {" ".join(by)}', sum(map(graph, parts), collections.Counter()), samples)
        for part in parts:
            os.remove(part)


def moved(name, path, out, samples, us=-2500):
    to = f'{folder}/to'
    run('rebase', path, '--shift', f'{us}us', '-f', out, '-o', to, '--force')
    same(f'{name}: {out}, rebase', graph(to), collections.Counter({s._replace(ps=s.ps + us * 10**6): n for s, n in samples.items()}))
    run('extract', path, '-f', out, '-o', to, '--force')
    same(f'{name}: {out}, extract', graph(to), samples)


def merged(name, paths, out, all_samples):
    to = f'{folder}/to'
    run('merge', *paths, '-f', out, '-o', to, '--force', '--align', 'clock', code=(0, 1))
    loose = lambda samples: collections.Counter((s.ps, s.text) for s, n in samples.items() for _ in range(n))
    same(f'{name}: {out}, merge', loose(graph(to)), sum(map(loose, all_samples), collections.Counter()))


def hidden(name, path, out, samples):
    """Checks that redaction keeps weights, units, times and depths, and that equal stacks remain equal."""
    to = f'{folder}/to'
    run('redact', path, '-f', out, '-o', to, '--force', '--names', 'hash')
    found = graph(to)
    shape = lambda s: (s.ps, len(re.findall(' < ', s.text)), re.search(r' unit="(\w+)"', s.text)[1], (re.search(r'tracekit\.weight=([-\d.]+)', s.text) or [0, '1'])[1])
    shapes = lambda samples: collections.Counter(shape(s) for s, n in samples.items() for _ in range(n))
    same(f'{name}: {out}, redact', shapes(found), shapes(samples))
    check(f'{name}: {out}, redact hides names', b'Label' not in open(to, 'rb').read() and b'libxul' not in open(to, 'rb').read())
    count = lambda samples: sorted(collections.Counter(name_of(s) for s, n in samples.items() for _ in range(n)).values())
    check(f'{name}: {out}, redact keeps equal names equal', count(found) == count(samples), f'{count(found)} {count(samples)}')


def shrunk(name, path, out, samples):
    to = f'{folder}/to'
    for percent in (90, 50):
        p = run('shrink', path, '--percent', str(percent), '-f', out, '-o', to, '--force', code=(0, 3))
        if p.returncode == 0:
            left = graph(to)
            bare = lambda found: collections.Counter((s.pid, s.tid, s.ps, re.sub(r' \{.*\}$', '', s.text)) for s, n in found.items() for _ in range(n))
            check(f'{name}: {out}, shrink invents nothing', not bare(left) - bare(samples), list((bare(left) - bare(samples)).items())[:2])


def thinned(name, path, samples):
    """Checks that shrink removes the same share of each thread's samples, counts them, and keeps the first sample of each thread."""
    everything = json.loads(run('info', '--json', path).stdout)['traces'][0]['events']
    total = sum(samples.values())
    p = run('shrink', path, '--events', str(everything - total * 3 // 4), '--ladder', 'samples', '-f', 'json', '-o', f'{folder}/thin', '--force', '--json')
    left = graph(f'{folder}/thin')
    kept = sum(left.values())
    rungs = {r['rung']: r['events'] for r in json.loads(p.stdout)['rungs']}
    check(f'{name}: shrink counts samples', rungs == {'samples': total - kept} and total * 3 // 4 <= total - kept < total, (rungs, kept, total))
    of, stays = (collections.Counter((s.pid, s.tid) for s in found.elements()) for found in (samples, left))
    uneven = {k: (stays[k], n) for k, n in of.items() if abs(stays[k] - n * kept / total) > 2}
    check(f'{name}: shrink spreads them evenly', not uneven, uneven)
    first, still = ({k: min(s.ps for s in found if (s.pid, s.tid) == k) for k in of} for found in (samples, left))
    check(f'{name}: shrink keeps the first of each thread', first == still, (first, still))


def chained(name, path, samples):
    for way in (('json', 'perfetto', 'json'), ('perfetto', 'json', 'perfetto')):
        at = path
        for i, out in enumerate(way):
            run('convert', at, '-f', out, '-o', f'{folder}/way{i}', '--force')
            at = f'{folder}/way{i}'
        same(f'{name}: {" ".join(way)}', graph(at), samples)


def lost(name, path, samples):
    """Checks that a format without stack samples counts them as lost."""
    p = run('convert', path, '-f', 'xplane', '-o', f'{folder}/to', '--force', '--json')
    check(f'{name}: xplane counts them', json.loads(p.stdout)['lost'].get('stack_samples', 0) == sum(samples.values()), p.stdout[:200])


def one(seed, form):
    name, doc = f'{form}, seed {seed}', gecko.make(seed, form)
    path = f'{folder}/{seed}.gecko.json'
    with open(path, 'w', encoding='utf-8') as f:
        json.dump(doc, f)
    samples, zero, first, last = model(doc)
    if not samples:
        return path, samples
    same(name, graph(path), samples)
    for out in ('json', 'perfetto'):
        selections(name, path, out, samples, zero, first, last)
        divided(name, path, out, samples, first, last)
        moved(name, path, out, samples)
        hidden(name, path, out, samples)
        shrunk(name, path, out, samples)
    thinned(name, path, samples)
    chained(name, path, samples)
    lost(name, path, samples)
    return path, samples


TEXT = r'"((?:[^"\\\\]|\\\\.)*)"'


def plain(samples):
    """Counts the samples by (pid, tid, ns, names from the outermost frame, weight), the form in which the generators list them."""
    out = collections.Counter()
    for s, n in samples.items():
        m = re.match(r'(?:' + TEXT + r'|-)(?: \[.*?\])? unit="\w+"(.*?)(?: \{(.*)\})?$', s.text)
        weight = re.search(r'tracekit\.weight=(-?\d+)', m[3] or '')
        names = ([m[1] or ''] if ' at' in m[2] or m[1] is not None else []) + [(a or '') for a in re.findall(r' < (?:' + TEXT + '|-)', m[2])]
        out[int(s.pid), int(s.tid), s.ps // 1000, tuple(names[::-1]), int(weight[1]) if weight else 1] += n
    return out


def added_up(name, path, expected):
    """Checks that top adds up the self and total weight of samples by the names of their frames."""
    own, total = collections.Counter(), collections.Counter()
    for _, _, _, names, weight in expected:
        ns = weight * 1000 if KINDS[name] == 'us' else weight
        for frame in set(names) or {''}:
            total[frame] += ns
        own[names[-1] if names else ''] += ns
    rows = json.loads(run('top', '--json', '--top', '100000', '--kind', 'sample', '--allow-empty', path).stdout)['rows']
    found = {r['name'] or '': (r['self_ns'], r['total_ns']) for r in rows}
    check(f'{name}: top', found == {n: (own[n], total[n]) for n in total}, [(n, found.get(n), own[n], total[n]) for n in total if found.get(n) != (own[n], total[n])][:2])


def figures(path, command, key, *options):
    """Returns the sums of each row of top, or of each path of tree."""
    rows, names, out = json.loads(run(command, '--json', '--allow-empty', *options, path).stdout)[key], {None: ()}, collections.Counter()
    for row in rows:
        place = names[row['parent']] + (row['name'],) if command == 'tree' else row['name']
        if command == 'tree':
            names[row['id']] = place
        for figure in ('count', 'total_ns', 'self_ns'):
            out[place, figure] += row[figure]
    return +out


def beside_spans(name, path):
    """Checks a trace of spans and samples: top and tree print the sums of the spans alone plus those of the samples alone, added up in
    one row if a span and a sample have the same name."""
    with open(path, encoding='utf-8') as f:
        data = json.load(f)
    events = [e for e in (data if isinstance(data, list) else data['traceEvents']) if e.get('ph') != 'P']
    spans = f'{folder}/spans.json'
    with open(spans, 'w', encoding='utf-8') as f:
        json.dump(events if isinstance(data, list) else {**data, 'traceEvents': events}, f)
    for command, key in (('top', 'rows'), ('tree', 'paths')):
        want = figures(spans, command, key) + figures(path, command, key, '--kind', 'sample')
        found = figures(path, command, key)
        check(f'{name}: {command} of spans and samples', found == want, [*(found - want).items(), *(want - found).items()][:4])


KINDS = {}


def rich(kind, seed):
    maker, ending = richtrace.MAKERS[kind]
    made, name, path = maker(random.Random(f'ops.{kind}.{seed}')), f'random {kind}, seed {seed}', f'{folder}/{kind}{seed}.{ending}'
    KINDS[name] = 'us' if made.weights else 'samples'
    with open(path, 'wb') as f:
        f.write(made.make())
    samples = graph(path)
    # ns from which --time counts
    zero = made.zero if kind == 'perf' else int(re.search(r'zero=(-?\d+)ns', run('dump', '--graph', path).stdout.decode())[1])
    same(name, plain(samples), collections.Counter((pid, tid, ns + zero, *rest) for pid, tid, ns, *rest in made.expected))
    if len(samples) < 4:
        return
    added_up(name, path, made.expected)
    if kind == 'samples':
        beside_spans(name, path)
    last = max(s.ps for s in samples) - zero * 1000
    for out in ('json', 'perfetto'):
        selections(name, path, out, samples, zero * 1000, 0, last)
        divided(name, path, out, samples, 0, last)
        moved(name, path, out, samples, 2500)  # Perfetto has no negative times
        hidden(name, path, out, samples)
        shrunk(name, path, out, samples)
    chained(name, path, samples)
    lost(name, path, samples)


for kind_ in ('samples', 'perf'):
    for seed_ in range(NUMBER):
        rich(kind_, SEED * 1000 + seed_)
done = [one(SEED * 1000 + i, gecko.FORMS[i % len(gecko.FORMS)]) for i in range(NUMBER)]
for out_ in ('json', 'perfetto'):
    merged('all', [path for path, _ in done], out_, [samples for _, samples in done])
sys.exit(finish())
