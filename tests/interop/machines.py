#!/usr/bin/env python3
"""Compares machines of a Perfetto trace: trace_processor finds the same spans at the same times, in the same processes and
machines, in the file, in our Perfetto output and, except for data that JSON cannot represent, in our JSON.

    machines.py"""
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'support'))
from common import Engines, tracekit  # noqa: E402
import machines  # noqa: E402

SPANS = """select s.name, s.ts, s.dur, t.tid, t.name as thread, p.name as process, p.pid, m.raw_id as machine
           from slice s join thread_track k on k.id = s.track_id join thread t using (utid) join process p using (upid)
           left join machine m on m.id = p.machine_id"""
PROCESSES = """select p.pid, p.name, m.raw_id as machine from process p left join machine m on m.id = p.machine_id
               where p.name is not null"""
LOST_IN_JSON = ('pid', 'machine')


def rows(answer, name, without=()):
    return sorted(json.dumps({k: v for k, v in json.loads(row).items() if k not in without}) for row in answer[name])


def main():
    engines, passed, failed = Engines({'spans': SPANS, 'processes': PROCESSES}), 0, 0
    with tempfile.TemporaryDirectory() as work:
        source, again, text = (os.path.join(work, name) for name in ('a.pftrace', 'b.pftrace', 'c.json'))
        with open(source, 'wb') as f:
            f.write(machines.trace())
        tracekit('convert', '-q', source, '-o', again)
        tracekit('convert', '-q', source, '-o', text)
        ask = engines.mine().ask
        want, same, other = ask(source), ask(again), ask(text)
        seen = {row['name']: row['ts'] for row in map(json.loads, want['spans'])}
        checks = {'the times that it has': seen == {name: ns for name, (_, ns) in machines.CASES.items()},
                  'as JSON': rows(want, 'spans', LOST_IN_JSON) == rows(other, 'spans', LOST_IN_JSON),
                  **{f'{what} as Perfetto': rows(want, what) == rows(same, what) for what in ('spans', 'processes')}}
        for what, ok in checks.items():
            print('ok  ' if ok else 'FAIL', what)
            passed, failed = passed + ok, failed + (not ok)
    engines.close()
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
