#!/usr/bin/env python3
"""Checks that the SQL tables of stack samples have trace_processor's rows for the formats of profilers that it reads itself: the fixtures,
and files made at random. Rows are compared in the order of time; ids that depend on the order of interning are followed, not compared.

Usage: profiles.py [NUMBER], the number of random files per format (default: 40)."""
import json
import os
import random
import sys
import tempfile

from common import Engines, Results, tracekit

WALK = '''WITH RECURSIVE up(sample, site, depth, frame, parent) AS (
  SELECT s.id, c.id, c.depth, c.frame_id, c.parent_id FROM cpu_profile_stack_sample s JOIN stack_profile_callsite c ON c.id = s.callsite_id
  UNION ALL SELECT up.sample, c.id, c.depth, c.frame_id, c.parent_id FROM up JOIN stack_profile_callsite c ON c.id = up.parent)'''
QUERIES = {
    'samples': '''SELECT s.id, s.ts, s.process_priority AS priority, t.tid, t.name, t.is_main_thread AS main, p.pid, p.name AS process
                  FROM cpu_profile_stack_sample s LEFT JOIN thread t USING (utid) LEFT JOIN process p USING (upid)''',
    'stacks': WALK + '''SELECT sample, depth, f.name, f.rel_pc, f.deobfuscated_name AS other, m.name AS module, m.build_id, m.start, m."end" AS behind
                        FROM up JOIN stack_profile_frame f ON f.id = up.frame JOIN stack_profile_mapping m ON m.id = f.mapping''',
    'symbols': '''SELECT f.name, y.name AS symbol, y.source_file, y.line_number, count(*) AS n FROM stack_profile_frame f
                  LEFT JOIN stack_profile_symbol y USING (symbol_set_id) GROUP BY 1, 2, 3, 4''',
    'sites': 'SELECT depth, count(*) AS n, count(DISTINCT frame_id) AS frames, count(parent_id) AS parents FROM stack_profile_callsite GROUP BY 1',
    'mappings': 'SELECT name, exact_offset, start_offset, load_bias FROM stack_profile_mapping',
    'threads': 'SELECT tid, name, is_main_thread AS main, is_idle FROM thread WHERE utid > 0',
    'processes': 'SELECT pid, name FROM process',
    'perf': 'SELECT count(*) AS n FROM perf_sample',
    'tracks': 'SELECT count(*) AS n FROM track',
    'bounds': 'SELECT start_ts, end_ts FROM trace_bounds',
}


def make_perf(r):
    """Returns output of perf script with or without process and CPU, and with spaces in commands. All lines have the same fields, as in
    perf's own output."""
    has_pid, has_cpu = r.random() < .5, r.random() < .5
    at, out = r.randrange(1 << 40), []
    names = ['main', 'f(int)', 'ns::g<a, b>', '[unknown]', 'λ', 'do_syscall_64']
    for _ in range(r.randrange(1, 80)):
        at += r.choice((1, r.randrange(1, 10**6)))
        tid = r.randrange(1, 9)
        ids = f'{tid % 3 + 1}/{tid}' if has_pid else f'{tid}'
        cpu = f' [{r.randrange(64):03}]' if has_cpu else ''
        out.append(f'{r.choice(("python", "a b"))} {ids}{cpu} {at // 10**6:5}.{at % 10**6:06}: {r.randrange(1, 1 << 30):10} {r.choice(("cycles", "cpu-clock:u"))}: ')
        for _ in range(r.choice((1, 1, 3, 40))):
            out.append(f'\t{r.randrange(1 << 48):16x} {r.choice(names)}+0x{r.randrange(1 << 12):x} ({r.choice(("/usr/lib/libc.so.6", "[kernel.kallsyms]", "/opt/a b"))})')
        out.append('')
    return '\n'.join(out) + '\n'


def with_frames(work):
    """Copies the fixture without samples that have no frame lines, because the engine stops reading at them."""
    with open(os.path.join(os.environ['FIXTURES'], 'perf_script', 'work.perf.txt'), encoding='utf-8') as f:
        blocks = [block for block in f.read().split('\n\n') if '\n\t' in block]
    path = os.path.join(work, 'fixture.perf.txt')
    with open(path, 'w', encoding='utf-8') as f:
        f.write('\n\n'.join(blocks) + '\n\n')
    return path


NATIVE = ['ns::f<a, b>(int) (in libxul.so)', 'λ (in app)', 'do_syscall_64 (in [kernel])', 'f (in app)', 'f (in libxul.so)']
LABELS = ['Startup::XRE_Main', '0x7f00', 'label (of something)']


def make_gecko(r, names=NATIVE):
    """Returns a raw Firefox profile of native functions only, because the engine does not split the location of a script into name and
    file, and ignores markers and other processes."""
    threads = []
    for tid in r.sample(range(10, 90), r.randrange(1, 4)):
        strings = r.sample(names, r.randrange(1, len(names) + 1))
        stacks = [[None if not i or r.random() < .2 else r.randrange(i), r.randrange(len(strings))] for i in range(r.randrange(1, 60))]
        at, samples = 0, []
        for _ in range(r.randrange(1, 80)):
            at += r.choice((1, r.randrange(1, 10**7)))
            samples.append([r.randrange(len(stacks)), at / 10**r.choice((3, 6)) if r.random() < .9 else at // 10**6])
        threads.append({'name': r.choice(('GeckoMain', 'Renderer')), 'pid': tid % 3 + 1, 'tid': tid, 'stringTable': strings,
                        'frameTable': {'schema': {'location': 0, 'line': 1}, 'data': [[i, None] for i in range(len(strings))]},
                        'stackTable': {'schema': {'prefix': 0, 'frame': 1}, 'data': stacks},
                        'samples': {'schema': {'stack': 0, 'time': 1}, 'data': sorted(samples, key=lambda s: s[1])},
                        'markers': {'schema': {'name': 0, 'startTime': 1, 'endTime': 2, 'phase': 3, 'category': 4, 'data': 5}, 'data': []}})
    return json.dumps({'meta': {'version': 24, 'startTime': 1700000000123, 'interval': 1, 'processType': 0, 'categories': []}, 'libs': [], 'threads': threads,
                       'processes': []})


MAKERS = {'perf.txt': make_perf, 'gecko.json': make_gecko, 'labels.gecko.json': lambda r: make_gecko(r, NATIVE + LABELS)}


def rows_here(path):
    found = {}
    for name, query in QUERIES.items():
        result = json.loads(tracekit('sql', '-q', '--json', path, '-e', query))['results'][0]
        found[name] = sorted(json.dumps(dict(zip(result['columns'], row)), sort_keys=True) for row in result['rows'])
    return found


def compare(engine, path):
    theirs, ours = engine.ask(path), rows_here(path)
    if 'failed' in theirs:
        return {'asked': theirs['failed']}
    return {name: '' if theirs[name] == ours[name] else f'{len(theirs[name])} rows there, {len(ours[name])} here: '
            f'{sorted(set(theirs[name]) - set(ours[name]))[:2]} there, {sorted(set(ours[name]) - set(theirs[name]))[:2]} here'[:600] for name in QUERIES}


def main():
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    engines = Engines(QUERIES)
    engine = engines.mine()
    with open(os.path.join(os.environ['INTEROP'], 'profiles.txt'), 'w', encoding='utf-8') as report, tempfile.TemporaryDirectory() as work:
        results = Results(report, 'profiles_exceptions.tsv')
        results.judge('perf_script', compare(engine, with_frames(work)), '')
        for ending, make in MAKERS.items():
            for seed in range(number):
                path = os.path.join(work, f'{seed}.{ending}')
                with open(path, 'w', encoding='utf-8') as f:
                    f.write(make(random.Random(seed)))
                results.judge(f'random/{seed}.{ending}', compare(engine, path), '')
        results.say(f'{len(QUERIES)} statements on each of the fixtures and {number} random files per format')
        engines.close()
        return results.close()


sys.exit(main())
