#!/usr/bin/env python3
"""Checks that the ranks and hosts which tracekit records in a file are found again: by info, and by list without reading the events,
in every format, if no name states them."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from databases import path, tracekit  # noqa: E402
from verdict import check, finish  # noqa: E402


def trace(name, rank=None, host=None, events=3):
    """Writes a trace of Kineto; without a rank, only the name of the file may state it."""
    d = {'traceEvents': [{'ph': 'X', 'cat': 'cpu_op', 'name': f'op{i % 7}', 'pid': 1, 'tid': 1, 'ts': 10 * i, 'dur': 5} for i in range(events)]}
    if rank is not None:
        d['distributedInfo'] = {'rank': rank}
    if host:
        d['host_name'] = host
    with open(path(name), 'w', encoding='utf-8') as f:
        json.dump(d, f)
    return path(name)


def listed(name):
    row, = json.loads(tracekit('list', '--json', path(name))[1])['files']
    return row.get('rank'), row.get('ranks')


def stated(name):
    row, = json.loads(tracekit('info', '--json', path(name))[1])['traces']
    return row.get('rank'), row.get('ranks'), row.get('hosts')


def main():
    small, large = trace('a_rank3.json'), trace('b_rank4.json', events=9000)
    ranks = [trace(f'r{k}.json', rank, host) for k, (rank, host) in enumerate(((0, 'alpha'), (1, 'alpha'), (2, 'beta'), (7, 'beta')))]
    for ending in ('json', 'json.gz', 'pftrace', 'xplane.pb'):
        for source, rank in ((small, 3), (large, 4)):
            tracekit('convert', '-q', '--force', source, '-o', path(f'plain.{ending}'))
            check(f'{ending}: info finds rank {rank}', stated(f'plain.{ending}')[0] == rank, stated(f'plain.{ending}'))
            if not (ending == 'json.gz' and rank == 4):  # the end of a large compressed file is not at hand
                check(f'{ending}: list finds rank {rank}', listed(f'plain.{ending}') == (rank, None), listed(f'plain.{ending}'))
        tracekit('merge', '-q', '--force', *ranks, '-o', path(f'merged.{ending}'))
        check(f'{ending}: list finds the merged ranks', listed(f'merged.{ending}') == (None, '0-2, 7'), listed(f'merged.{ending}'))
        check(f'{ending}: info finds ranks and hosts', stated(f'merged.{ending}') == (None, '0-2, 7', 'alpha, beta'), stated(f'merged.{ending}'))
        out = tracekit('info', path(f'merged.{ending}'))[1]
        check(f'{ending}: info prints them', '  ranks     0-2, 7, hosts alpha, beta\n' in out, out)
    trace('quotes.json', events=1)
    with open(path('quotes.json'), 'a', encoding='utf-8') as f:
        f.write('\n{"version":"1","command":"tracekit convert","rank":')
    check('an object that is cut is ignored', listed('quotes.json') == (None, None), listed('quotes.json'))
    many = [trace(f'm{k}.json', 2 * k, f'host{k}') for k in range(300)]
    tracekit('merge', '-q', '--force', *many, '-o', path('many.json'))
    found = stated('many.json')
    check('a long list ends with dots', found[1].startswith('0, 2, 4, ') and found[1].endswith(', ...') and len(found[1]) < 1024, found)
    return finish()


if __name__ == '__main__':
    sys.exit(main())
