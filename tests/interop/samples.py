#!/usr/bin/env python3
"""Checks that trace_processor finds the stack samples that we write to Chrome JSON and Perfetto: as many as the graph has, on the same
threads and at the same times, with the same stacks; and that the samples of a Perfetto trace are the same in our Perfetto output.

    samples.py"""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
from common import Engines, tracekit  # noqa: E402

FIXTURES = os.environ['FIXTURES']
FRAMES = """with recursive path(id, parent, depth, names) as (
              select c.id, c.parent_id, c.depth, f.name || '' from stack_profile_callsite c join stack_profile_frame f on f.id = c.frame_id
              union all select p.id, c.parent_id, p.depth, f.name || char(10) || p.names
              from path p join stack_profile_callsite c on c.id = p.parent join stack_profile_frame f on f.id = c.frame_id)"""
TABLE = """select s.ts, t.tid, coalesce((select names from path p where p.id = s.callsite_id and p.parent is null), '') as names
           from {} s join thread t using (utid)"""
QUERIES = {table: FRAMES + TABLE.format(table) for table in ('perf_sample', 'cpu_profile_stack_sample')}
QUERIES['modules'] = """select s.ts, m.name from perf_sample s join stack_profile_callsite c on c.id = s.callsite_id
                        join stack_profile_frame f on f.id = c.frame_id join stack_profile_mapping m on m.id = f.mapping"""
QUERIES['errors'] = "select name, value from stats where severity = 'error' and value > 0"
TEXT = r'"((?:[^"\\]|\\.)*)"'


def graph(path):
    """Returns (ns, tid or None, names) of the samples of `dump --graph`."""
    out, tid, origin = [], None, 0
    for line in subprocess.run([os.environ['TRACEKIT'], 'dump', '--graph', path], stdout=subprocess.PIPE, check=True).stdout.decode().split('\n'):
        if line.startswith('trace '):
            origin = int(re.search(r'origin=(-?\d+)ns', line)[1])
        if line.startswith('track '):
            m = re.search(r' tid=(\d+)', line)
            tid = int(m[1]) if m else None
        m = re.match(r' +\d+ sample (-?\d+) (' + TEXT + r'|-)(?: \[.*?\])? unit="[^"]*"(.*?)(?: \{.*\})?$', line)
        if m:
            names = ([m[3]] if ' at' in m[4] else []) + re.findall(' < ' + TEXT, m[4])
            names = [re.sub(r'\\x([0-9a-f]{2})', lambda c: chr(int(c[1], 16)), n) for n in names]
            out.append((origin + int(m[1]) // 1000, tid, '\n'.join(names[::-1])))
    return sorted(out, key=str)


def main():
    engines, passed, failed = Engines(QUERIES), 0, 0
    ask = engines.mine().ask
    sources = [os.path.join(FIXTURES, d, n) for d in ('folded', 'cpuprofile', 'perf_script', 'pprof', 'json/samples', 'perfetto/perf')
               for n in sorted(os.listdir(os.path.join(FIXTURES, d)))]
    with tempfile.TemporaryDirectory() as work:
        for source in sources:
            for ending, table in (('pftrace', 'perf_sample'), ('json', 'cpu_profile_stack_sample')):
                out = os.path.join(work, f'out.{ending}')
                tracekit('rebase', '-q', source, '--shift', '1s', '-o', out, '--force')
                want, answer = graph(out), ask(out)
                found = []
                for row in map(json.loads, answer[table]):
                    names = row['names'].removeprefix('(root)').removeprefix('\n') if ending == 'json' else row['names']
                    found.append((row['ts'], row['tid'], names))
                if ending == 'json':  # whole microseconds there
                    want = [(ts // 1000 * 1000, tid, names) for ts, tid, names in want]
                known = all(tid for _, tid, _ in want)
                cut = lambda rows: sorted((ts, tid if known else None, names) for ts, tid, names in rows)
                ok = cut(want) == cut(found) and len(want) > 0 and not answer['errors']
                print('ok  ' if ok else 'FAIL', os.path.relpath(source, FIXTURES), ending, len(want), len(found), '' if ok else (cut(want)[:2], cut(found)[:2], answer['errors']))
                passed, failed = passed + ok, failed + (not ok)
        perf = os.path.join(FIXTURES, 'perfetto/perf/samples.pftrace')
        out = os.path.join(work, 'same.pftrace')
        tracekit('convert', '-q', perf, '-o', out)
        ok = ask(perf) == ask(out)
        print('ok  ' if ok else 'FAIL', 'the samples of a Perfetto trace in our Perfetto output')
        passed, failed = passed + ok, failed + (not ok)
    engines.close()
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
