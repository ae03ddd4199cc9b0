#!/usr/bin/env python3
"""Checks stack samples: counts, weights and stacks equal an independent reading of each file (folded stacks, speedscope, V8 CPU
profiles, perf script, pprof, Firefox profiles); top and tree add them up by self and total weight; selections, merge, rebase, redaction and splitting
keep or move them; speedscope output is read back whole or its losses are counted; losses in other formats are counted; damaged files
are repaired or refused."""
import collections
import gzip
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from fractions import Fraction

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import gecko  # noqa: E402
import pprof  # noqa: E402
from verdict import check, finish, judge  # noqa: E402

TRACEKIT, FIXTURES = os.environ['TRACEKIT'], os.environ['FIXTURES']
TIME = {'ns': Fraction(1), 'us': Fraction(1000), 'ms': Fraction(10**6), 's': Fraction(10**9)}
folder = tempfile.mkdtemp()


def run(*args, code=(0,)):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode not in code:
        judge(' '.join(args), f'status {p.returncode}: {p.stderr.decode()[:300]}')
    return p


# ---- samples as the files have them: (stack, weight, unit), and times where there are any ----

def read_folded(path):
    for line in open(path, encoding='utf-8'):
        stack, weight = line.rstrip('\n').rsplit(' ', 1)
        if not stack:
            continue
        names = tuple(re.sub(r' \([^()]*:\d+\)$', '', f) for f in stack.split(';'))
        yield names, Fraction(weight), 'samples', 0


def read_speedscope(path):
    doc = json.load(open(path, encoding='utf-8'), parse_float=Fraction)
    names = [f['name'] for f in doc['shared']['frames']]
    units = {'nanoseconds': 'ns', 'microseconds': 'us', 'milliseconds': 'ms', 'seconds': 's', 'none': 'samples'}
    for profile in doc['profiles']:
        unit = units.get(profile['unit'], profile['unit'])
        at = Fraction(profile['startValue']) if unit in TIME else 0
        if profile['type'] == 'evented' and unit not in TIME:
            stack, last = [], None
            for event in profile['events']:
                if stack and event['at'] != last:
                    yield tuple(stack), Fraction(event['at'] - last), unit, 0
                last = event['at']
                if event['type'] == 'O':
                    stack.append(names[event['frame']])
                else:
                    stack.pop()
        elif profile['type'] == 'sampled':
            for stack, weight in zip(profile['samples'], profile['weights']):
                yield tuple(names[f] for f in stack), Fraction(weight), unit, at * TIME.get(unit, 0)
                at += Fraction(weight) if unit in TIME else 0


def read_cpuprofile(path):
    doc = json.load(open(path, encoding='utf-8'))
    nodes, parents = {n['id']: n for n in doc['nodes']}, {c: n['id'] for n in doc['nodes'] for c in n.get('children', ())}

    def stack(i):
        out = []
        while i is not None:
            name = nodes[i]['callFrame']['functionName'] or '(anonymous)'
            out += [name] if name != '(root)' else []
            i = parents.get(i)
        return tuple(out[::-1])

    times, at = [], 0
    for delta in doc['timeDeltas']:
        at += delta
        times.append(at)
    order = sorted(range(len(times)), key=times.__getitem__)  # as DevTools, CPUProfileDataModel.ts, sortSamples
    times = [times[i] for i in order] + [doc['endTime'] - doc['startTime']]
    for i, sample in enumerate([doc['samples'][i] for i in order]):
        yield stack(sample), Fraction(max(times[i + 1] - times[i], 0)), 'us', Fraction(times[i] * 1000)


def read_perf(path):
    first = None
    for block in open(path, encoding='utf-8').read().split('\n\n'):
        lines = [line for line in block.split('\n') if line.strip() and not line.startswith('#')]
        m = lines and re.match(r'\s*(\S.*?)\s+(\d+)(?:/(\d+))?\s+(?:\[\d+\]\s+)?(\d+\.\d+):\s+(?:(\d+) )?\s*(\S+):(?:\s|$)(.*)', lines[0])
        if not m:
            continue
        frames = [re.match(r'\s*[0-9a-f]+ (.*) \((\S*)\)$', line) for line in [m[7], *lines[1:]]]
        names = tuple(re.sub(r'\+0x[0-9a-f]+$', '', f[1]) for f in reversed(frames) if f)
        event = m[6].split(':')[0]
        unit = 'samples' if m[5] is None else 'ns' if event in ('cpu-clock', 'task-clock') else event
        at = Fraction(m[4]) * 10**9
        first = at if first is None else first
        yield names, Fraction(m[5] or 1), unit, at - first


def read_pprof(path):
    samples, unit = pprof.read(path)
    for names, weight in samples:
        yield names, Fraction(weight), unit, 0


def v8_stack(nodes, at):
    out = []
    while at is not None:
        frame = nodes[at]['callFrame']
        parent = nodes[at].get('parent')
        if parent is not None or frame.get('functionName') != '(root)':
            out.append(frame.get('functionName') or '(anonymous)')
        at = parent
    return tuple(out[::-1])


def read_v8(events):
    """Yields the samples of ProfileChunk events. Times are in ns; the weights of foreign profiles are the times between samples."""
    profiles = {}
    for e in events:
        data, key = (e.get('args') or {}).get('data', {}), (e.get('pid'), e.get('id'))
        if e.get('ph') == 'P' and e['name'] == 'Profile':
            profiles[key] = {'at': data['startTime'], 'nodes': {}, 'own': data.get('tracekit'), 'list': [], 'end': None}
        if e.get('ph') != 'P' or e['name'] != 'ProfileChunk':
            continue
        p, cpu, more = profiles[key], data.get('cpuProfile', {}), data.get('tracekit', {})
        p['nodes'].update((n['id'], n) for n in cpu.get('nodes', ()))
        samples = cpu.get('samples', [])
        n = len(samples)
        for node, delta, weight, ps in zip(samples, data.get('timeDeltas', ()), more.get('weights', [1] * n), more.get('ps', [0] * n)):
            p['at'] += delta
            p['list'].append([v8_stack(p['nodes'], node), Fraction(weight), Fraction(p['at'] * 10**6 + ps, 1000)])
        p['end'] = data.get('endTime', p['end'])
    for p in profiles.values():
        if not p['own']:
            p['list'].sort(key=lambda row: row[2])  # as DevTools, CPUProfileDataModel.ts, sortSamples
        for i, (stack, weight, at) in enumerate(p['list']):
            if not p['own']:
                end = p['list'][i + 1][2] if i + 1 < len(p['list']) else at if p['end'] is None else p['end'] * 1000
                weight = max(Fraction(end - at) / 1000, Fraction(0))
            yield stack, weight, p['own']['unit'] if p['own'] else 'us', at


def read_perfetto(path):
    """Yields the PerfSamples of a trace with one sequence, whose state is never cleared and whose ids ascend."""
    interned, samples = collections.defaultdict(dict), []
    for _, packet in pprof.fields(open(path, 'rb').read()):
        packet = dict(pprof.fields(packet))
        for field, entry in pprof.fields(packet.get(12, b'')):
            entry = list(pprof.fields(entry))
            interned[field][dict(entry)[1]] = entry
        sample = dict(pprof.fields(packet.get(66, b'')))
        if 66 in packet and not sample.get(17) and 19 not in sample:
            samples.append((packet[8], sample.get(4)))
    name = lambda frame: dict(interned[5][dict(interned[6][frame])[2]])[2].decode()
    first = min(ts for ts, _ in samples)
    for ts, stack in samples:
        yield tuple(name(v) for k, v in interned[7].get(stack, ()) if k == 2), Fraction(1), 'samples', Fraction(ts - first)


def read_chrome(path):
    doc = json.load(open(path, encoding='utf-8'), parse_float=Fraction)
    events, frames = doc['traceEvents'], doc.get('stackFrames', {})
    first = next((Fraction(e['ts']) * 1000 for e in events if e.get('ph') not in ('M', 'P')), None)

    def of(e):
        if 'stack' in e:
            return tuple(e['stack'][::-1])
        out, at = [], str(e.get('sf', ''))
        while at in frames:
            out.append(frames[at]['name'])
            at = str(frames[at].get('parent', ''))
        return tuple(out[::-1]) or (e['name'],)
    plain = [e for e in events if e.get('ph') == 'P' and e['name'] not in ('Profile', 'ProfileChunk')] + doc.get('samples', [])
    found = [*read_v8(events), *((of(e), Fraction(e.get('weight', 1)), 'samples', Fraction(e['ts']) * 1000) for e in plain)]
    first = min((s[3] for s in found), default=0) if first is None else first
    for stack, weight, unit, at in found:
        yield stack, weight, unit, at - first


def read_gecko(path):
    """Yields the samples of a Firefox profile; times count from the start that the file states."""
    for stack, weight, unit, _, ps in gecko.Reading(gecko.load(path)).samples:
        yield stack, weight, unit, Fraction(ps, 1000)


READERS = {'.gecko.json': read_gecko, '.json': read_chrome, '.pftrace': read_perfetto, '.folded': read_folded, '.speedscope.json': read_speedscope, '.cpuprofile': read_cpuprofile, '.perf.txt': read_perf,
           '.pprof': read_pprof}


def files():
    for d in ('folded', 'speedscope', 'cpuprofile', 'perf_script', 'pprof', 'json/samples', 'perfetto/perf', 'gecko'):
        for name in sorted(os.listdir(f'{FIXTURES}/{d}')):
            yield f'{FIXTURES}/{d}/{name}', next(r for end, r in sorted(READERS.items(), key=lambda r: -len(r[0])) if name.endswith(end))


# ---- samples as tracekit reads them ----

TEXT = r'"((?:[^"\\]|\\.)*)"'


def graph(*args):
    """Returns the samples of `dump --graph`: (stack, weight, unit, ns since the first event)."""
    out = []
    for line in run('dump', '--graph', *args).stdout.decode().split('\n'):
        m = re.match(r' +\d+ sample (-?\d+) (?:' + TEXT + r'|-)(?: \[.*?\])? unit="(\w[^"]*)"(.*?)(?: \{(.*)\})?$', line)
        if not m:
            continue
        weight = re.search(r'tracekit\.weight=(-?[\d.e+-]+)', m[5] or '')
        frames = [m[2]] if m[2] is not None and (' at' in m[4]) else []
        frames += re.findall(r' < ' + TEXT, m[4])
        out.append((tuple(re.sub(r'\\x([0-9a-f]{2})', lambda c: chr(int(c[1], 16)), f).replace('\\"', '"') for f in frames[::-1]), Fraction(weight[1]) if weight else Fraction(1), m[3],
                    Fraction(int(m[1]), 1000)))
    return out


def whole(*args):
    """Returns everything that `dump --graph` prints about samples, with absolute times in ps and the ids of their threads."""
    out, track, origin = [], '', 0
    for line in run('dump', '--graph', *args).stdout.decode().split('\n'):
        origin = int(re.match(r'trace origin=(-?\d+)ns', line)[1]) if line.startswith('trace ') else origin
        m = re.match(r'track thread ?(.*?)(?: "(?:[^"\\]|\\.)*")?(?: sort=.*)?$', line)
        track = m[1] if m else '' if line.startswith('track') else track
        m = re.match(r' +\d+ sample (-?\d+) (.*)$', line)
        if m:
            out.append((track, origin * 1000 + int(m[1]), m[2].replace(' in-record', '')))
    return collections.Counter(out)


def counted(samples, times=True):
    return collections.Counter((stack, weight, unit, ts if times else 0) for stack, weight, unit, ts in samples)


def in_ns(weight, unit):
    return weight * TIME.get(unit, 1)


def sums(samples):
    """Returns self and total by name, total by path, and the unit of the report, as weights.h describes it."""
    timed = any(unit in TIME for _, _, unit, _ in samples)
    unit = None if timed else samples[0][2] if samples else None
    own, total, path, count = (collections.Counter() for _ in range(4))
    for stack, weight, of, _ in samples:
        w = in_ns(weight, of) if (of in TIME if timed else of == unit) else Fraction(0)
        for name in set(stack) or {None}:
            total[name] += w
            count[name] += 1
        own[stack[-1] if stack else None] += w
        for i in range(len(stack) or 1):
            path[stack[:i + 1] or (None,)] += w
    return own, total, path, count, unit


def one_file(path, reader):
    name, want = os.path.relpath(path, FIXTURES), list(reader(path))
    found = graph(path)
    check(f'{name}: samples', counted(found) == counted(want),
          f'{len(found)} found, {len(want)} expected; {list((counted(want) - counted(found)).items())[:2]} but {list((counted(found) - counted(want)).items())[:2]}')
    info = json.loads(run('info', '--json', path).stdout)['traces'][0]
    check(f'{name}: info counts them', info['stack_samples'] == len(want), info['stack_samples'])
    add_up(name, path, want)
    written(name, path, want)
    held(name, path, 'json', read_chrome)
    held(name, path, 'perfetto', None)
    for out in ('xplane',):
        p = run('convert', path, '-f', out, '-o', f'{folder}/x', '--force', '--json')
        check(f'{name}: {out} counts the loss', json.loads(p.stdout)['lost'].get('stack_samples') == len(want), p.stdout)
        check(f'{name}: {out} --no-loss', run('convert', path, '-f', out, '-o', f'{folder}/y', '--force', '--no-loss', code=(3,)).returncode == 3)


def held(name, path, out, reader):
    """Checks that the format keeps all properties of samples: stack, frames, weight, unit, category, args, thread and time."""
    first, again, third = (f'{folder}/held{i}' for i in range(3))
    foreign = ['--no-passthrough'] if path.endswith('.pftrace') and out != 'perfetto' else []
    run('convert', path, '-f', out, '-o', first, '--force', '--no-loss', *foreign)
    check(f'{name}: {out} holds them', whole(first) == whole(path), f'{list((whole(path) - whole(first)).items())[:2]} but {list((whole(first) - whole(path)).items())[:2]}')
    if reader:
        mine, theirs = list(reader(first)), list(graph(first))
        check(f'{name}: {out} as others read it', counted(mine) == counted(theirs), f'{len(mine)} {len(theirs)}')
    run('convert', first, '-f', out, '-o', again, '--force', '--no-loss')
    run('convert', again, '-f', out, '-o', third, '--force', '--no-loss')
    check(f'{name}: {out} again', whole(again) == whole(path) and open(again, 'rb').read() == open(third, 'rb').read())
    run('rebase', path, '--shift', '1.5ms', *foreign, '-f', out, '-o', again, '--force')
    moved = collections.Counter({(track, ts + 1500000000, text): n for (track, ts, text), n in whole(path).items()})
    check(f'{name}: {out}, rebase', whole(again) == moved, f'{list((moved - whole(again)).items())[:1]} {list((whole(again) - moved).items())[:1]}')


def functions(name, path, want):
    """Checks the functions that `report` lists: their samples, weights, shares and order."""
    own, total, _, count, unit = sums(want)
    count = collections.Counter()
    for stack, _, of, _ in want:
        if of in TIME if unit is None else of == unit:
            count.update(set(stack) or {None})
    got = json.loads(run('report', '--json', '--top', '100000', path).stdout)
    rows = {r['name']: r for r in got['functions']}
    whole = sum(own.values())
    check(f'{name}: report, samples', {k: r['samples'] for k, r in rows.items()} == dict(count), f'{len(rows)} {len(count)}')
    check(f'{name}: report, unit', {r['unit'] for r in rows.values()} <= {unit}, unit)
    for k, r in rows.items():
        weights = [Fraction(str(r[w])) for w in ('self_ns', 'total_ns')]
        shares = [abs(r[f'{w}_percent'] - float(100 * v / whole)) < .01 if whole > 0 else r[f'{w}_percent'] == 0 for w, v in zip(('self', 'total'), weights)]
        check(f'{name}: report, {k}', weights == [own[k], total[k]] and all(shares), f'{r}, want {own[k]} {total[k]}')
    order = [-Fraction(str(r['self_ns'])) for r in got['functions']]
    check(f'{name}: report, order', order == sorted(order), '')
    few = json.loads(run('report', '--json', '--top', '2', path).stdout)
    check(f'{name}: report, --top', few['functions'] == got['functions'][:2] and few['samples'] == got['samples'], few['functions'])


def add_up(name, path, want):
    spans = 'units' in name  # this file has spans, too
    select = ['--kind', 'sample']
    own, total, paths, count, unit = sums(want)
    top = json.loads(run('top', '--json', '--top', '100000', *select, path).stdout)
    rows = {r['name']: r for r in top['rows']}
    check(f'{name}: unit of top', top.get('unit') == unit, top.get('unit'))
    check(f'{name}: top, self', {k: Fraction(str(r['self_ns'])) for k, r in rows.items()} == {k: own[k] for k in total}, rows.keys() ^ total.keys())
    check(f'{name}: top, total', {k: Fraction(str(r['total_ns'])) for k, r in rows.items()} == dict(total))
    check(f'{name}: top, samples', {k: r['samples'] for k, r in rows.items()} == dict(count))
    functions(name, path, want)
    tree = json.loads(run('tree', '--json', *select, path).stdout)
    found, nodes = {}, {n['id']: n for n in tree['paths']}
    for n in tree['paths']:
        trail, at = [], n
        while at:
            trail.append(at['name'])
            at = nodes.get(at['parent'])
        found[tuple(trail[::-1])] = Fraction(str(n['total_ns']))
    check(f'{name}: tree, total', found == dict(paths), f'{len(found)} paths instead of {len(paths)}')
    folded = run('tree', '--folded', *select, path).stdout.decode()
    weights = collections.Counter()
    for line in folded.splitlines():
        stack, weight = line.rsplit(' ', 1)
        weights[stack] += int(weight)
    mine = collections.Counter()
    for stack, weight, of, _ in want:
        if of in TIME if unit is None else of == unit:
            mine[';'.join(stack) or '(none)'] += in_ns(weight, of)
    mine = {k: v for k, v in mine.items() if v >= Fraction(1, 2)}  # graphs have no place for negative weights
    check(f'{name}: folded', all(abs(weights[k] - v) < 1 for k, v in mine.items()) and len(weights) == len(mine), f'{len(weights)} {len(mine)} {spans}')


def written(name, path, want):
    """Checks that speedscope output keeps stacks and weights, and that other parts of a sample are counted as lost."""
    out = f'{folder}/x.speedscope.json'
    p = json.loads(run('convert', path, '-o', out, '--force', '--json').stdout)
    units = ('ns', 'us', 'ms', 's', 'bytes', 'samples')
    again = list(read_speedscope(out))
    check(f'{name}: speedscope, stacks and weights',
          counted([s for s in again], False) == counted([(s, w, u if u in units else 'samples', t) for s, w, u, t in want], False))
    check(f'{name}: speedscope is read back', counted(graph(out)) == counted(again))
    lost = p['lost'].get('stack_sample_parts', 0)
    if not lost:
        shifted = lambda samples: counted([(s, w, u, t - min(x[3] for x in samples)) for s, w, u, t in samples])
        check(f'{name}: speedscope, times', shifted(again) == shifted(want), 'other times, but no loss')
    odd = sum(u not in units for _, _, u, _ in want)
    check(f'{name}: speedscope, lost parts', lost >= odd, f'{lost} of {odd}')


# ---- operations ----

def operations():
    perf, own = f'{FIXTURES}/perf_script/work.perf.txt', list(read_perf(f'{FIXTURES}/perf_script/work.perf.txt'))
    out = f'{folder}/op.speedscope.json'
    run('filter', perf, '--name', 'inner', '-o', out, '--force')
    check('filter --name selects by the innermost frame', [s[0] for s in graph(out)] == [('outer (part one)', 'inner')], graph(out))
    run('filter', perf, '--kind', 'sample', '--drop-args', '*', '-o', out, '--force')
    check('--drop-args keeps weights', counted(graph(out), False).total() == len(own) and sum(s[1] for s in graph(out)) == sum(s[1] for s in own))
    run('merge', perf, f'{FIXTURES}/cpuprofile/node.cpuprofile', '-o', out, '--force', '--align', 'none', code=(0, 1))
    both = own + list(read_cpuprofile(f'{FIXTURES}/cpuprofile/node.cpuprofile'))
    name = lambda u: u if u in ('ns', 'us') else 'samples'
    check('merge keeps the samples of both', counted(graph(out), False) == counted([(s, w, name(u), t) for s, w, u, t in both], False), len(graph(out)))
    run('redact', perf, '-o', out, '--force', '--names', 'hash')
    text = open(out, encoding='utf-8').read()
    check('redaction leaves no name of a module or function', 'libpython' not in text and 'outer (part one)' not in text and '/opt/app' not in text)
    check('redaction keeps weights', sorted(s[1] for s in graph(out)) == sorted(s[1] for s in own))
    check('redaction keeps the depths', sorted(len(s[0]) for s in graph(out)) == sorted(len(s[0]) for s in own))
    run('shrink', perf, '--to', '4KB', '-o', out, '--force', code=(0, 1, 3))


def changed(out):
    """Checks operations on samples of V8 profiles, which JSON also keeps as records, and on other samples, in a format with samples."""
    v8, events, perf = f'{FIXTURES}/json/samples/v8.json', f'{FIXTURES}/json/samples/events.json', f'{FIXTURES}/perf_script/work.perf.txt'
    to = f'{folder}/changed'
    texts = lambda *paths: collections.Counter(text for path in paths for (_, _, text), n in whole(path).items() for _ in range(n))
    run('merge', v8, events, perf, '-f', out, '-o', to, '--force', '--align', 'none', code=(0, 1))
    check(f'{out}: merge keeps the samples of all', texts(to) == texts(v8, events, perf), f'{texts(to) - texts(v8, events, perf)}')
    for path in (v8, events, perf):
        times = sorted(ts for (_, ts, _), n in whole(path).items() for _ in range(n))
        middle = times[len(times) // 2]
        run('filter', path, '--time', f'{middle // 10**6}us..{times[-1] // 10**6 + 1}us', '-f', out, '-o', to, '--force')
        want = {k: n for k, n in whole(path).items() if middle // 10**6 * 10**6 <= k[1]}
        check(f'{path}: {out}, filter --time', dict(whole(to)) == want, f'{len(want)} {sum(whole(to).values())}')
        every = f'{(times[-1] - times[0]) // 2 // 10**6 + 1}us'
        run('split', path, '--by', 'time', '--every', every, '-f', out, '-o', f'{folder}/part{{}}', '--force')
        parts = sum((whole(f'{folder}/{part}') for part in os.listdir(folder) if part.startswith('part')), collections.Counter())
        check(f'{path}: {out}, split', parts == whole(path), f'{list((whole(path) - parts).items())[:2]}')
        for part in [part for part in os.listdir(folder) if part.startswith('part')]:
            os.remove(f'{folder}/{part}')
        run('redact', path, '-f', out, '-o', to, '--force', '--names', 'hash')
        data = open(to, 'rb').read()
        hidden = [b'outer (part one)', b'libpython', b'a.test', b'inner', b'libwork', b'malloc', b'lonely', b'cycles' if path is events else b'a.test']
        check(f'{path}: {out}, redact', not [h for h in hidden if h in data], [h for h in hidden if h in data])
        weights = lambda path: sorted((s[1], len(s[0])) for s in graph(path))
        check(f'{path}: {out}, redact keeps weights and depths', weights(to) == weights(path))
        p = run('shrink', path, '--to', '3KB', '-f', out, '-o', to, '--force', code=(0, 1, 3))
        if p.returncode == 0:
            check(f'{path}: {out}, shrink', os.path.getsize(to) <= 3 << 10 and not whole(to) - whole(path), os.path.getsize(to))


# ---- random profiles: numbers of every size, deep stacks, recursion ----

def drawn(seed):
    r = random.Random(seed)
    p = pprof.Profile([('objects', 'count'), ('space', 'bytes')][:1 + seed % 2], time_nanos=r.choice((0, 10**18)))
    places = [p.location([(f'f{r.randrange(9)}', f'{i}.c', i) for _ in range(r.randrange(3))], 0, 4096 + i) for i in range(20)]
    for _ in range(60):
        p.sample([r.choice(places) for _ in range(r.choice((0, 1, 3, 40)))], [r.randrange(-5, 1 << 40) for _ in range(1 + seed % 2)],
                 is_packed=r.random() < .5)
    with open(f'{folder}/drawn{seed}.pprof', 'wb') as f:
        f.write(gzip.compress(p.make()) if seed % 3 else p.make())
    path = f'{folder}/drawn{seed}.pprof'
    want = list(read_pprof(path))
    check(f'drawn {seed}: samples', counted(graph(path)) == counted(want), f'{len(graph(path))} of {len(want)}')
    if all(w >= 0 for _, w, _, _ in want):
        add_up(f'drawn {seed}', path, want)


def taken():
    """Checks the note on how many samples the records of a profile count: only a type called samples, in count, counts them."""
    for types, values, want in (([('samples', 'count'), ('cpu', 'nanoseconds')], [[3, 30], [4, 40]], 7), ([('samples', 'count')], [[1], [1]], 0),
                                ([('samples', 'count')], [[1], [6]], 7), ([('objects', 'count')], [[3], [4]], 0), ([('samples', 'bytes')], [[3], [4]], 0)):
        p = pprof.Profile(types)
        for i, v in enumerate(values):
            p.sample([p.location([(f'f{i}', 'a.c', 1)], 0, i + 1)], v)
        with open(f'{folder}/taken.pprof', 'wb') as f:
            f.write(p.make())
        notes = [n for n in run('info', f'{folder}/taken.pprof').stderr.decode().splitlines() if 'were taken' in n]
        check(f'taken: {types}', [n.split(': ')[3].split()[0] for n in notes] == ([str(want)] if want else []), notes)


def hostile():
    """Checks truncated and changed files: they are repaired with a note or refused, never crash, and --strict refuses repaired ones."""
    r = random.Random(7)
    for path, _ in files():
        whole = open(path, 'rb').read()
        whole = gzip.decompress(whole) if whole[:2] == b'\x1f\x8b' else whole
        for i in range(40):
            data = bytearray(whole[:r.randrange(len(whole))] if i % 2 else whole)
            for _ in range(i % 4):
                data[r.randrange(len(data)) if data else 0:][:1] = b''
                if data:
                    data[r.randrange(len(data))] = r.randrange(256)
            bad = f'{folder}/bad{os.path.splitext(path)[1]}'
            with open(bad, 'wb') as f:
                f.write(data)
            p = run('check', bad, code=(0, 1, 3))
            check(f'{path}: damaged', p.returncode in (0, 1, 3), p.returncode)
    deep = ';'.join(f'f{i}' for i in range(20000))
    with open(f'{folder}/deep.folded', 'w', encoding='utf-8') as f:
        f.write(f'{deep} 3\na;a;a 4\n')
    top = json.loads(run('top', '--json', f'{folder}/deep.folded').stdout)
    check('a stack of 20,000 frames, and recursion', {r['name']: r['total_ns'] for r in top['rows']}.get('a') == 4, top['rows'][:2])


def beside_spans():
    """Samples of a thread that also has spans: rows of their own, because a sum of durations and weights means nothing."""
    node = {'functionName': 'f', 'scriptId': 0}
    chunk = {'cpuProfile': {'nodes': [{'id': 1, 'callFrame': {'functionName': '(root)', 'scriptId': 0}}, {'id': 2, 'parent': 1, 'callFrame': node}],
                            'samples': [2, 2, 2]}, 'timeDeltas': [10, 10, 10]}
    profile = {'ph': 'P', 'cat': 'disabled-by-default-v8.cpu_profiler', 'pid': 1, 'tid': 1, 'id': '0x1'}
    samples = [dict(profile, name='Profile', ts=0, args={'data': {'startTime': 0}}), dict(profile, name='ProfileChunk', ts=10, args={'data': chunk})]
    span = {'ph': 'X', 'pid': 1, 'tid': 1, 'ts': 0, 'dur': 100, 'name': 'work'}
    path = os.path.join(folder, 'beside.json')
    for events, thread in (([span] + samples, {'process 1: thread 1': (1, 100000), 'process 1: thread 1 (samples)': (3, 20000)}),
                           (samples, {'process 1: thread 1': (3, 20000)})):
        with open(path, 'w', encoding='utf-8') as f:
            json.dump({'traceEvents': events}, f)
        rows = json.loads(run('top', path, '--by', 'track', '--json').stdout)['rows']
        found = {r['name']: (r['count'], r['total_ns']) for r in rows}
        check(f'samples beside {len(events) - 2} spans', found == thread, found)
        means = {r['name']: r['mean_ns'] for r in json.loads(run('top', path, '--by', 'kind', '--json').stdout)['rows']}
        check(f'means beside {len(events) - 2} spans', means['host'] == (100000 if span in events else None), means)


def alone():
    """Checks a trace that contains only sample events."""
    path = f'{folder}/alone.json'
    with open(path, 'w', encoding='utf-8') as f:
        f.write('[{"ph":"P","name":"cycles","ts":2},{"ph":"P","name":"cycles","ts":7,"pid":1,"tid":1}]')
    info = json.loads(run('info', '--json', path).stdout)['traces'][0]
    check('only sample events', info['stack_samples'] == 2, info['stack_samples'])


for path_, reader_ in files():
    one_file(path_, reader_)
alone()
beside_spans()
operations()
changed('json')
changed('perfetto')
for n in range(6):
    drawn(n)
taken()
hostile()
sys.exit(finish())
