#!/usr/bin/env python3
"""Checks that the number of threads never changes the output: for every command that writes, from all formats to all formats
and compressions, on inputs large enough to use threads; and for the graph, as reported by dump, check and info. A build with
the thread sanitizer (make test SAN=thread T=threads) also fails on races. As a self-test, the comparison must detect a
different compression level."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import check, finish, judge  # noqa: E402

TRACEKIT, GEN = os.environ['TRACEKIT'], os.environ['GEN']
SPANS = '60000' if os.environ.get('LONG') else '15000'
THREADS = (2, 3, 8, 16) if os.environ.get('LONG') else (2, 8)
ENDINGS = ('json', 'json.gz', 'json.zst', 'pftrace.gz', 'xplane.pb.gz')
OPERATIONS = (['convert'], ['filter', '-e', 'dur > 10us'], ['shrink', '--percent', '40'], ['rebase', '--to-zero'])


def run(*args):
    p = subprocess.run([TRACEKIT, args[0], '-q', *args[1:]], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return p.stdout.decode('utf-8', 'replace') if p.returncode else ''


def content(path):
    with open(path, 'rb') as f:
        return f.read()


def same(what, args, ending, folder):
    one, more = f'{folder}/one.{ending}', f'{folder}/more.{ending}'
    said = run(*args, '-j1', '-o', one, '--force')
    if said:
        judge(f'{what} -j1', said[-2000:])
        return
    for n in THREADS:
        said = run(*args, f'-j{n}', '-o', more, '--force')
        judge(f'{what} -j{n}', said[-2000:] or ('' if content(one) == content(more) else 'other bytes than -j1'))


def backward(path):
    """Returns flows that end before they begin, from many tracks and out of order, and overlapping spans."""
    events = []
    for i in range(12000):
        ts = i * 7919 % 12000
        events.append(f'{{"ph":"X","pid":1,"tid":{i % 5},"name":"n{i % 9}","ts":{ts},"dur":{i % 11}}}')
        events.append(f'{{"ph":"s","pid":1,"tid":{i % 5},"name":"f","cat":"c","id":{i},"ts":{ts}}}')
        events.append(f'{{"ph":"f","pid":1,"tid":{i % 3},"name":"f","cat":"c","id":{i},"ts":{ts + i % 5 - 2},"bp":"e"}}')
    with open(path, 'w', encoding='ascii') as f:
        f.write('{"traceEvents":[' + ',\n'.join(events) + ']}')


def said(*args):
    return subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout


def graphs(inputs, folder):
    backward(f'{folder}/backward.json')
    check('flows go back', b'flows that end before they start' in said('check', f'{folder}/backward.json'))
    for path in (*inputs, f'{folder}/backward.json'):
        for command in ('dump', 'check', 'info'):
            one = said(command, path, '-j1')
            judge(f'{command} {os.path.basename(path)}', '' if all(said(command, path, f'-j{n}') == one for n in THREADS) else 'differs')


def main():
    with tempfile.TemporaryDirectory() as folder:
        inputs = []
        for name, args in (('0.json', ('kineto', '--ranks', '3', '--rank', '0')), ('1.json', ('kineto', '--ranks', '3', '--rank', '1')),
                           ('2.json', ('kineto', '--ranks', '3', '--rank', '2')), ('x.xplane.pb', ('xplane',)), ('p.pftrace', ('perfetto',))):
            with open(f'{folder}/{name}', 'wb') as f:
                subprocess.run([GEN, *args, '--spans', SPANS], stdout=f, check=True)
            run('convert', f'{folder}/{name}', '-o', f'{folder}/{name}.gz')
            inputs.append(f'{folder}/{name}.gz')
        for ending in ENDINGS:
            for source in (inputs[0], *inputs[3:]):
                for operation in OPERATIONS if ending.endswith('gz') or os.environ.get('LONG') else OPERATIONS[:1]:
                    same(f'{operation[0]} {os.path.basename(source)} -> {ending}', [*operation, source], ending, folder)
            same(f'merge -> {ending}', ['merge', *inputs[:3]], ending, folder)
        graphs(inputs, folder)
        run('convert', inputs[0], '-j1', '--level', '1', '-o', f'{folder}/a.json.gz')
        run('convert', inputs[0], '-j2', '--level', '9', '-o', f'{folder}/b.json.gz')
        check('another level is found', content(f'{folder}/a.json.gz') != content(f'{folder}/b.json.gz'))
    return finish()


sys.exit(main())
