#!/usr/bin/env python3
"""Checks that time grows linearly, not quadratically, with the number of processes and planes.

Four times as many may take nine times as long; quadratic growth would take sixteen times. All of them must be in the output."""
import json
import os
import sys
import tempfile

TRACEKIT, SRC = os.environ['TRACEKIT'], os.environ['SRC']
sys.path.insert(0, os.path.join(SRC, 'tests', 'support'))
from verdict import check, finish  # noqa: E402
from xspace import fields, message, number  # noqa: E402

FEW, MANY = 8000, 32000
SLACK = 0.1  # seconds; short times are imprecise


def timed(*args):
    """Returns CPU seconds, the minimum of two runs."""
    def once():
        pid = os.posix_spawn(TRACEKIT, [TRACEKIT, *args, '-q', '--force'], os.environ)
        _, status, used = os.wait4(pid, 0)
        check(' '.join(args), status == 0, status)
        return used.ru_utime + used.ru_stime
    return min(once(), once())


def processes(n, path):
    events = []
    for p in range(n):
        who = {'pid': p + 1, 'tid': 1, 'ts': p}
        events += [dict(who, ph='X', name=f'a{p % 100}', dur=1, args={f'k{p % 7}': p}), dict(who, ph='C', name='c', args={'x': 1, 'y': 2}),
                   {'ph': 'M', 'name': 'process_name', 'pid': p + 1, 'args': {'name': f'p{p}'}},
                   dict(who, ph='s', name='f', cat='c', id=p), dict(who, ph='f', name='f', cat='c', id=p - 1 if p else n - 1)]
    with open(path, 'w', encoding='utf-8') as f:
        json.dump({'traceEvents': events}, f)


def planes(n, path):
    def plane(p):
        events = message(4, number(1, 1) + number(2, p) + number(3, 5) + message(4, number(1, 1) + number(3, p))) + message(4, number(1, 2))
        names = b''.join(message(4, number(1, i) + message(2, number(1, i) + message(2, b'name%d' % (p % 50 + i)))) for i in (1, 2))
        stats = message(5, number(1, 1) + message(2, number(1, 1) + message(2, b'stat%d' % (p % 9))))
        return number(1, p) + message(2, b'/device:CUSTOM:p%d' % p) + message(3, number(1, 1) + message(2, b'l') + events) + names + stats
    with open(path, 'wb') as f:
        f.write(b''.join(message(1, plane(p)) for p in range(n)))


def count_planes(path):
    with open(path, 'rb') as f:
        return sum(field == 1 for field, _ in fields(f.read()))


def main():
    with tempfile.TemporaryDirectory(prefix='tracekit-planes-') as work:
        times = {}
        for n in (FEW, MANY):
            os.makedirs(f'{work}/{n}/run')
            at = f'{work}/{n}'
            processes(n, f'{at}/a.json')
            planes(n, f'{at}/b.xplane.pb')
            for rank in (0, 1):
                planes(n, f'{at}/run/{rank}.xplane.pb')
            for what, args in {'JSON as XPlane': ['convert', f'{at}/a.json', '-o', f'{at}/a.xplane.pb'],
                               'back': ['convert', f'{at}/a.xplane.pb', '-o', f'{at}/a2.json'],
                               'XPlane': ['convert', f'{at}/b.xplane.pb', '-o', f'{at}/b2.xplane.pb'],
                               'XPlane as JSON': ['convert', f'{at}/b.xplane.pb', '-o', f'{at}/b.json'],
                               'and back': ['convert', f'{at}/b.json', '-o', f'{at}/b3.xplane.pb'],
                               'a filter': ['filter', '-e', 'name == "name3"', f'{at}/b.xplane.pb', '-o', f'{at}/b4.xplane.pb'],
                               'a merge': ['merge', f'{at}/run', '-o', f'{at}/m.xplane.pb'],
                               'hosts in memory': ['rebase', '--to-zero', f'{at}/run', '-o', f'{at}/j.xplane.pb']}.items():
                times.setdefault(what, []).append(timed(*args))
            for file, wanted in (('a', n + 1), ('b2', n), ('b3', n), ('m', 2 * n + 1), ('j', 2 * n)):
                found = count_planes(f'{at}/{file}.xplane.pb')
                check(f'{file} of {n}', abs(found - wanted) <= 1, f'{found} planes, not {wanted}')  # one is added by tracekit
        for what, (few, many) in times.items():
            check(what, many <= 9 * few + SLACK, f'{few:.2f} s for {FEW}, {many:.2f} s for {MANY}')
            print(f'{what}: {few:.2f} s, {many:.2f} s')
    return finish()


sys.exit(main())
