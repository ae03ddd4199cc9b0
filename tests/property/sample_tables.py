#!/usr/bin/env python3
"""Checks the SQL tables of stack samples against an independent reading of each file: stacks by walking up the call sites, weights, times,
threads and modules; conditions that the tables evaluate themselves give the rows that SQLite selects; joins take linear time."""
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from fractions import Fraction

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import pprof  # noqa: E402
from verdict import check, finish  # noqa: E402

TRACEKIT, FIXTURES = os.environ['TRACEKIT'], os.environ['FIXTURES']
folder = tempfile.mkdtemp()


def ask(path, *statements):
    words = [word for s in statements for word in ('-e', s)]
    p = subprocess.run([TRACEKIT, 'sql', '-q', '--json', path, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True)
    return [r['rows'] for r in json.loads(p.stdout)['results']]


# ---- perf script: every column can be computed from the text ----

def make_perf(r, n):
    """Returns the text of n samples, and their expected rows: ts, tid, pid, command, event, weight, [(name, module)]."""
    text, samples, at = [], [], r.randrange(10**9) * 1000
    for _ in range(n):
        at += r.randrange(1, 10**6)
        tid, has_pid = r.randrange(1, 6), r.random() < .5
        frames = [(r.choice(('f', 'g (x)', 'operator()', '[unknown]', 'λ')), r.choice(('/lib/a.so', '[kernel.kallsyms]', '/b c')))
                  for _ in range(r.choice((1, 2, 5, 30)))]
        pid = tid % 2 * 100 + 1000
        cpu = f' [{r.randrange(8):03}]' if r.random() < .5 else ''
        period = r.randrange(1, 10**7)
        seconds = f'{at // 10**6}.{at % 10**6:06}'
        text.append(f'cmd{tid} {f"{pid}/" if has_pid else ""}{tid}{cpu} {seconds}: {period} cycles:u: ')
        text += [f'\t{r.randrange(1 << 40):x} {name}+0x{r.randrange(99):x} ({module})' for name, module in frames] + ['']
        samples.append((int(float(seconds) * 1000 * 1000 * 1000), tid, f'cmd{tid}', 'cycles', period, frames[::-1]))
    return '\n'.join(text) + '\n', samples


def stacks_of(path):
    """Returns the stack of each call site, outermost first, as [(name, module)], and checks the depths."""
    sites, = ask(path, 'SELECT c.id, c.parent_id, c.depth, f.name, m.name FROM stack_profile_callsite c JOIN stack_profile_frame f ON '
                       'f.id = c.frame_id JOIN stack_profile_mapping m ON m.id = f.mapping ORDER BY c.id')
    stacks, depths = {None: []}, {None: None}
    for i, parent, depth, name, module in sites:
        stacks[i] = stacks[parent] + [(name, module)]
        depths[i] = depth
        if parent is not None:
            check(f'{path}: depth', depth == depths[parent] + 1, (i, depth))
    return stacks


def perf(seed):
    path = f'{folder}/{seed}.perf'
    text, want = make_perf(random.Random(seed), 200)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)
    stacks = stacks_of(path)
    rows, profile, threads = ask(path, 'SELECT s.ts, t.tid, t.name, s.unit, s.weight, s.callsite_id, s.name FROM stack_sample s JOIN thread t USING (utid) ORDER BY s.id',
                                 'SELECT p.ts, t.tid, p.callsite_id FROM cpu_profile_stack_sample p JOIN thread t USING (utid) ORDER BY p.id',
                                 'SELECT tid, count(*) FROM thread WHERE utid > 0 GROUP BY tid')
    check(f'perf {seed}: samples', [[*row[:5], stacks[row[5]]] for row in rows] == [list(w) for w in want], f'{len(rows)} of {len(want)}')
    check(f'perf {seed}: name of the innermost frame', all(row[6] == stacks[row[5]][-1][0] for row in rows))
    check(f'perf {seed}: both tables agree', [[r[0], r[1], r[5]] for r in rows] == profile)
    check(f'perf {seed}: a thread each', all(n == 1 for _, n in threads), threads)
    return path


# ---- other formats: stacks and weights ----

def of_folded(path):
    for line in open(path, encoding='utf-8'):
        stack, weight = line.rstrip('\n').rsplit(' ', 1)
        yield tuple(re.sub(r' \([^()]*:\d+\)$', '', f) for f in stack.split(';')), Fraction(weight), 'samples'


def of_pprof(path):
    samples, unit = pprof.read(path)
    for names, weight in samples:
        yield tuple(names), Fraction(weight), unit


def others():
    for path, reader in ((f'{FIXTURES}/folded/pyspy.folded', of_folded), (f'{FIXTURES}/pprof/cpu.pprof', of_pprof)):
        stacks = stacks_of(path)
        rows, = ask(path, 'SELECT callsite_id, weight, unit FROM stack_sample')
        found = collections.Counter((tuple(n for n, _ in stacks[c]), Fraction(w), u) for c, w, u in rows)
        check(f'{path}: samples', found == collections.Counter(reader(path)), len(rows))
    with open(f'{folder}/odd.folded', 'w', encoding='utf-8') as f:
        f.write('a;b (x.py:7) 2.5\na 18446744073709551615\n;; 1\n')
    rows, = ask(f'{folder}/odd.folded', 'SELECT y.name, source_file, line_number, weight FROM stack_sample s JOIN stack_profile_callsite c '
                'ON c.id = s.callsite_id JOIN stack_profile_frame f ON f.id = c.frame_id JOIN stack_profile_symbol y USING (symbol_set_id) ORDER BY s.id')
    check('symbols have files and lines', rows[0] == ['b', 'x.py', 7, 2.5], rows)


# ---- perf packets of Perfetto ----

PERF = """WITH RECURSIVE up(sample, depth, name, parent) AS (
  SELECT s.id, c.depth, f.name, c.parent_id FROM perf_sample s JOIN stack_profile_callsite c ON c.id = s.callsite_id
  JOIN stack_profile_frame f ON f.id = c.frame_id
  UNION ALL SELECT up.sample, c.depth, f.name, c.parent_id FROM up JOIN stack_profile_callsite c ON c.id = up.parent
  JOIN stack_profile_frame f ON f.id = c.frame_id)
  SELECT s.id, t.tid, up.depth, up.name FROM perf_sample s JOIN thread t USING (utid) LEFT JOIN up ON up.sample = s.id ORDER BY s.id, up.depth DESC"""


def perf_packets(path):
    """Checks that samples of perf packets, also of those that tracekit wrote, have the same threads and stacks as in `dump`."""
    dump = subprocess.run([TRACEKIT, 'dump', '--graph', path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout.decode()
    want, tid, found = collections.Counter(), None, {}
    for line in dump.splitlines():
        thread = re.match(r'track thread (?:pid=\S+ )?tid=(\d+)', line)
        tid = int(thread[1]) if thread else tid
        sample = re.match(r'  \d+ sample -?\d+ (.*?) unit="', line)
        if sample:
            names = re.findall(r'(?:^| < )"([^"]*)"', sample[1] + ' ' + line.split(' unit="')[1])
            want[tid, tuple(names)] += 1
    for number, thread, _, name in ask(path, PERF)[0]:
        found.setdefault(number, (thread, []))[1].extend([name] if name is not None else [])
    rows = collections.Counter((thread, tuple(names)) for thread, names in found.values())
    check(f'{os.path.basename(path)}: perf_sample', rows == want and len(want) > 1, f'{list((want - rows).items())[:3]} {list((rows - want).items())[:3]}')


# ---- conditions and joins ----

CONDITIONS = ['SELECT * FROM stack_sample s WHERE {0}s.callsite_id = 5', 'SELECT * FROM stack_sample s WHERE {0}s.ts > (SELECT avg(ts) FROM stack_sample)',
              'SELECT * FROM cpu_profile_stack_sample s WHERE {0}s.utid = 2 AND {0}s.ts < (SELECT avg(ts) FROM stack_sample)',
              'SELECT * FROM stack_profile_callsite s WHERE {0}s.parent_id = 0', 'SELECT * FROM stack_profile_callsite s WHERE {0}s.frame_id = 2',
              'SELECT * FROM stack_profile_callsite s WHERE {0}s.parent_id IS NULL', 'SELECT * FROM stack_profile_frame s WHERE {0}s.mapping = 1',
              'SELECT * FROM stack_profile_symbol s WHERE {0}s.symbol_set_id = 3', 'SELECT * FROM stack_profile_mapping s WHERE {0}s.id = 1',
              'SELECT a.id, count(b.id) FROM stack_profile_callsite a LEFT JOIN stack_profile_callsite b ON {0}b.parent_id = a.id GROUP BY 1',
              'SELECT t.tid, count(s.id) FROM thread t LEFT JOIN stack_sample s ON {0}s.utid = t.utid GROUP BY 1',
              'SELECT p.pid, count(*) FROM thread t JOIN process p ON {0}p.upid = t.upid GROUP BY 1']


def pushed(path):
    plain, defeated = (ask(path, *(c.format(plus) for c in CONDITIONS)) for plus in ('', '+'))
    check(f'{path}: most conditions select rows', sum(map(bool, plain)) > 8)
    for condition, a, b in zip(CONDITIONS, plain, defeated):
        check(condition, sorted(a, key=str) == sorted(b, key=str), f'{len(a)} rows, {len(b)} without')


def linear():
    spent = []
    for n in (20_000, 200_000):
        path = f'{folder}/{n}.folded'
        with open(path, 'w', encoding='utf-8') as f:
            f.writelines(f'main;f{i % 5000};g{i % 977} {i % 7 + 1}\n' for i in range(n))
        begin = time.process_time(), os.times().children_user
        rows, = ask(path, 'SELECT count(*), sum(s.weight) FROM stack_sample s JOIN stack_profile_callsite c ON c.id = s.callsite_id JOIN '
                          'stack_profile_callsite p ON p.id = c.parent_id JOIN stack_profile_frame f ON f.id = p.frame_id')
        spent.append(os.times().children_user - begin[1])
        check(f'{n} samples', rows == [[n, sum(i % 7 + 1 for i in range(n))]], rows)
    check('a join takes linear time', spent[1] < 30 * spent[0] + 1, spent)


for seed_ in range(4):
    pushed(perf(seed_))
others()
perf_packets(f'{FIXTURES}/perfetto/perf/samples.pftrace')
subprocess.run([TRACEKIT, 'convert', '-q', perf(1), '-o', f'{folder}/own.pftrace', '--force'], stdin=subprocess.DEVNULL, check=True)
perf_packets(f'{folder}/own.pftrace')
linear()
sys.exit(finish())
