#!/usr/bin/env python3
"""Checks the compilations that `report` lists against a model, on random traces with compile spans on several threads: their
steps, modules and functions, if the trace states them; selected ranges; ranks; and how often each module was compiled again.

The model considers only compiler spans that are outermost on their thread. A span within the time of another one is a part of that
compilation."""
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import check, finish  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']
NUMBER = 150 if os.environ.get('LONG') else 30
COMPILERS = 'backend_compile_and_load', 'PjRtCpuClient::Compile', 'FusionCompiler::Compile', 'XlaCompile'


def run(*args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check(f'{args}: status', p.returncode == 0, p.stderr.decode()[:300])
    return p.stdout.decode()


def report(path, *options):
    return json.loads(run('report', '--json', '-q', *options, path) or '{}')


def same(what, got, want):
    check(what, got == want, f'got  {got}\nwant {want}')


def span(name, ts, dur, tid=1, pid=100, cat='cpu_op', **args):
    return {'ph': 'X', 'pid': pid, 'tid': tid, 'ts': ts, 'dur': dur, 'name': name, 'cat': cat, 'args': args}


def write(folder, events):
    path = f'{folder}/t.json'
    with open(path, 'w') as f:
        json.dump({'traceEvents': events}, f)
    return path


# ---- a model ----

def thread(rng, tid):
    """Returns the events of a thread: compilations side by side, some within a function, and the compilations as the model sees them."""
    events, own, at = [], [], rng.randrange(50)
    for _ in range(rng.randrange(1, 6)):
        dur, name, function = rng.randrange(20, 400), rng.choice(COMPILERS), rng.choice(['step', 'loss', None])
        module = f'jit_{rng.choice("abc")}' if rng.random() < .6 else None
        if function:
            events.append(span(f'PjitFunction({function})', at, dur + 10, tid))
        events.append(span(name, at + 3, dur, tid))
        if rng.random() < .5:
            events.append(span('RunHloPasses', at + 4, dur - 5, tid))
        if module:
            events.append(span('async-collective', at + 5, 2, tid, module=module))
            events.append(span('simplifier', at + 8, 2, tid, module='jit_later'))
        own.append((at + 3, dur, name, function, module))
        at += dur + 10 + rng.randrange(100)
    return events, own


def merged(spans):
    """Returns the compilations of the model, longest first."""
    found = []
    for ts, dur, name, function, module in sorted(spans, key=lambda s: (s[0], -s[1])):
        if found and ts + dur <= found[-1][0] + found[-1][1]:
            found[-1][4] = found[-1][4] or module
        else:
            found.append([ts, dur, name, function, module])
    return sorted(found, key=lambda c: (-c[1], c[0]))


def random_traces(folder):
    for seed in range(NUMBER):
        rng = random.Random(seed)
        events, spans = [span('first', 0, 1, 99)], []
        for tid in range(1, rng.randrange(2, 6)):
            more, own = thread(rng, tid)
            events += more
            spans += own
        if len({(s[0], s[1]) for s in spans}) < len(spans):
            continue  # equal times: either may be the part
        got, want = report(write(folder, events)), merged(spans)
        rows = [[c['at_ns'] // 1000, c['length_ns'] // 1000, c['name'], c['function'], c['module']] for c in got['compilations']]
        same(f'seed {seed}: compilations', rows, want)
        same(f'seed {seed}: count', got['ranks'][0]['compilations'], len(want))
        covered = set()
        for ts, dur, *_ in spans:
            covered |= set(range(ts, ts + dur))
        same(f'seed {seed}: time', got['ranks'][0]['compile_ns'], 1000 * len(covered))


# ---- steps, ranges, ranks ----

def stepped(modules):
    """Returns steps of 100 us; each list of modules is compiled in its step."""
    events = []
    for i, names in enumerate(modules):
        events.append(span(f'ProfilerStep#{i}', 1000 + 100 * i, 90, cat='user_annotation'))
        for k, name in enumerate(names):
            events += [span('XlaCompile', 1002 + 100 * i + 20 * k, 15), span('simplifier', 1003 + 100 * i + 20 * k, 5, module=name)]
    return events


def steps(folder):
    path = write(folder, stepped([['jit_f', 'jit_g'], ['jit_f'], [], ['jit_f']]) + [span('XlaCompile', 0, 50), span('pass', 1, 2, module='jit_f')])
    got = report(path)
    same('steps', [(c['step'], c['module']) for c in got['compilations']],
         [(None, 'jit_f'), (0, 'jit_f'), (0, 'jit_g'), (1, 'jit_f'), (3, 'jit_f')])
    row = got['ranks'][0]
    same('compiled again, outside of the steps excluded', (row['module_recompilations'], row['recompiled_module']), (2, 'jit_f'))
    same('a finding', [f['id'] for f in got['findings'] if f['id'] == 'recompiled-module'], ['recompiled-module'])
    got = report(write(folder, stepped([['jit_f', 'jit_g'], ['jit_f', 'jit_h'], ['jit_i']])))
    same('no finding', [f['id'] for f in got['findings'] if f['id'] == 'recompiled-module'], [])
    named = report(write(folder, [span('PjitFunction(<function f at 0x7f0011223344>)', 0, 90), span('XlaCompile', 5, 50)]))
    same('a function without its address', [c['function'] for c in named['compilations']], ['<function f at 0x*>'])
    same('compiled again once', got['ranks'][0]['module_recompilations'], 1)
    path = write(folder, stepped([['jit_f'], ['jit_f'], ['jit_g']]))
    got = report(path, '--step=1..2')
    same('a range of steps', [(c['step'], c['module']) for c in got['compilations']], [(1, 'jit_f'), (2, 'jit_g')])
    got = report(path, '--time=+5us..+10us')
    same('the part in a range of time', [(c['at_ns'], c['length_ns']) for c in got['compilations']], [(5000, 5000)])


def ranks(folder):
    for rank in range(2):
        with open(f'{folder}/rank{rank}.json', 'w') as f:
            json.dump({'distributedInfo': {'rank': rank, 'world_size': 2},
                       'traceEvents': [span('XlaCompile', 10, 50 + 10 * rank), span('XlaCompile', 100, 30)]}, f)
    p = run('report', '--json', '-q', f'{folder}/rank0.json', f'{folder}/rank1.json')
    rows = [(c['rank'], c['length_ns'], os.path.basename(c['input'])) for c in json.loads(p)['compilations']]
    same('ranks', rows, [(1, 60000, 'rank1.json'), (0, 50000, 'rank0.json'), (0, 30000, 'rank0.json'), (1, 30000, 'rank1.json')])


def many(folder):
    got = report(write(folder, [span('XlaCompile', 20 * i, 1 + i % 10) for i in range(150)]))
    same('all are counted', got['ranks'][0]['compilations'], 150)
    same('the longest are listed', [c['length_ns'] for c in got['compilations']],
         sorted([1000 * (1 + i % 10) for i in range(150)], reverse=True)[:100])


def printed(folder):
    path = write(folder, stepped([['jit_f'], ['jit_<f>']]))
    text = run('report', path)
    check('text', 'Compilations of the hosts' in text and 'jit_<f>' in text, text[:500])
    page = f'{folder}/page.html'
    run('report', '-q', '--html', page, path)
    html = open(page).read()
    check('page', '>Compilations<' in html and 'jit_&lt;f&gt;' in html and 'jit_<f>' not in html)
    check('nothing without compilations', 'Compilations of the hosts' not in run('report', write(folder, [span('a', 0, 1)])))


def main():
    with tempfile.TemporaryDirectory() as folder:
        random_traces(folder)
        steps(folder)
        ranks(folder)
        many(folder)
        printed(folder)
    return finish()


if __name__ == '__main__':
    sys.exit(main())
