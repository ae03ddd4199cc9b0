#!/usr/bin/env python3
"""Checks ranks merged into one XSpace. An independent parser reads the parts that xprof needs; converted back, the trace must
match a merge of the same ranks to JSON: every event and flow point with its time, the time base, the order of processes.

    ddp       PyTorch ranks whose time base is weeks before their events
    epoch     ranks with epoch timestamps, which overflow picoseconds since 1970: flow points were once lost silently
    swapped   ranks named in a different order: xprof sorts processes by plane id"""
import json
import os
import subprocess
import sys
import tempfile

TRACEKIT, SRC, FIXTURES = (os.environ[name] for name in ('TRACEKIT', 'SRC', 'FIXTURES'))
sys.path.insert(0, os.path.join(SRC, 'tests', 'support'))
from verdict import check, finish  # noqa: E402
from xspace import fields, plane_name, start_of  # noqa: E402

LONG = bool(os.environ.get('LONG'))
EXACT_NS = 2**53 // 1000  # a double represents the picoseconds that xprof prints exactly
EPOCH_US = 1694128201421058


def good(*args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    check(' '.join(args), p.returncode == 0, p.stderr.decode())
    return p.stdout


# ---- an XSpace ----

def of(message, number):
    return [value for n, value in fields(message) if n == number]


def xspace(path):
    """Returns [(plane id, plane name, timestamps of its lines)], profile_start_time, hosts."""
    with open(path, 'rb') as f:
        space = f.read()
    planes = [((of(plane, 1) or [0])[0], plane_name(plane), [(of(line, 3) or [0])[0] for line in of(plane, 3)]) for plane in of(space, 1)]
    return planes, start_of(space), [host.decode() for host in of(space, 4)]


# ---- a merge ----

def loaded(path):
    with open(path, encoding='utf-8') as f:
        return json.load(f)


def events(trace):
    return sorted(json.dumps(e, sort_keys=True) for e in trace['traceEvents'] if e.get('ph') != 'M')


def processes(trace):
    return list(dict.fromkeys(e['pid'] for e in trace['traceEvents']))


def rows(trace):
    """Returns the names of processes in the order of a JSON viewer."""
    said = {}
    for e in trace['traceEvents']:
        if e.get('ph') == 'M' and e['name'] in ('process_name', 'process_sort_index'):
            said.setdefault(e['pid'], {}).update(e['args'])
    return [row['name'] for row in sorted(said.values(), key=lambda row: row.get('sort_index', 0))]


def first_ns(trace):
    return int(trace.get('baseTimeNanoseconds', 0)) + min(int(e['ts'] * 1000) for e in trace['traceEvents'] if e.get('ph', '-') in 'XiC')


def merged(what, inputs, work, same_order=True, command='merge'):
    m, x, back = (os.path.join(work, f'{what}{ending}') for ending in ('.json', '.xplane.pb', '.back.json'))
    good(command, '-q', *inputs, '-o', m, '--force')
    good(command, '-q', *inputs, '-o', x, '--force')
    good('convert', '-q', x, '-o', back, '--force')
    a, b = loaded(m), loaded(back)
    if same_order:  # else pids, and flow ids that several ranks share, are assigned in a different order
        check(f'{what}: events', events(a) == events(b), 'differ')
        check(f'{what}: processes', processes(a) == processes(b), f'{processes(a)} and {processes(b)}')
    check(f'{what}: base', a.get('baseTimeNanoseconds') == b.get('baseTimeNanoseconds'), b.get('baseTimeNanoseconds'))
    check(f'{what}: flow points', sum(e.get('ph', '-') in 'stf' for e in b['traceEvents']) > 0, 'none')
    check(f'{what}: rows', rows(a) == rows(b), f'{rows(a)} and {rows(b)}')
    planes, start, hosts = xspace(x)
    check(f'{what}: start', abs(start - first_ns(a)) < 2000, f'{start}, not {first_ns(a)}')
    times = [t for _, _, lines in planes for t in lines]
    check(f'{what}: times', times and min(times) >= 0 and max(times) < EXACT_NS, f'{min(times)} to {max(times)} ns')
    shown = [name for _, name, lines in sorted(planes) if lines]
    check(f'{what}: planes', len(shown) == len(rows(a)) and all(row in name for row, name in zip(rows(a), shown)), shown)
    return hosts


def epoch_rank(path, rank):
    spans = [{'ph': 'X', 'name': name, 'pid': 7 + rank, 'tid': tid, 'ts': EPOCH_US + 100 * rank + at, 'dur': 5, 'args': {}}
             for name, tid, at in (('launch', 1, 0), ('kernel', 2, 10))]
    arrow = [{'ph': ph, 'name': 'ac2g', 'cat': 'ac2g', 'id': 3, 'pid': 7 + rank, 'tid': tid, 'ts': EPOCH_US + 100 * rank + at, **bp}
             for ph, tid, at, bp in (('s', 1, 1, {}), ('f', 2, 10, {'bp': 'e'}))]
    names = [{'ph': 'M', 'name': 'process_name', 'pid': 7 + rank, 'args': {'name': 'python'}}]
    with open(path, 'w', encoding='utf-8') as f:
        json.dump({'distributedInfo': {'rank': rank}, 'host_name': f'node{rank}', 'traceEvents': names + spans + arrow}, f)
    return path


def main():
    torch = f'{FIXTURES}/json/torch'
    with tempfile.TemporaryDirectory(prefix='tracekit-merge-xplane-') as work:
        for name in ('ddp2_plain', 'ddp2_handler') + (('ddp4_full',) if LONG else ()):
            merged(name, [f'{torch}/{name}'], work)
            merged(f'extract-{name}', [f'{torch}/{name}'], work, command='extract')
        ranks = [epoch_rank(os.path.join(work, f'rank{rank}.json'), rank) for rank in range(3)]
        hosts = merged('epoch', ranks, work)
        check('all hosts', hosts == ['node0', 'node1', 'node2'], hosts)
        merged('alone', ranks[1:2], work)
        merged('swapped', [ranks[2], ranks[0], ranks[1]], work, same_order=False)
        merged('swapped-ddp', [f'{torch}/ddp2_plain/rank{rank}.json.gz' for rank in (1, 0)], work, same_order=False)
    return finish()


sys.exit(main())
