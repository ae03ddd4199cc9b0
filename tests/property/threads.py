#!/usr/bin/env python3
"""Checks that the number of threads never changes the output: for every command that writes, from all formats to all formats
and compressions, on inputs large enough to use threads; and for the graph, as reported by dump, check and info. A build with
the thread sanitizer (make test SAN=thread T=threads) looks for races instead, so it runs each command once. As a self-test,
the comparison must detect a different compression level."""
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import check, finish, judge  # noqa: E402

TRACEKIT, GEN = os.environ['TRACEKIT'], os.environ['GEN']
SPANS = '60000' if os.environ.get('LONG') else '15000'
THREADS = (2, 3, 8, 16) if os.environ.get('LONG') else (2, 8)
RACES = os.environ['B'].endswith('/tsan')
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
    if RACES:
        judge(f'{what} -j8', run(*args, '-j8', '-o', one, '--force')[-2000:])
        return
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


def frames(path):
    """Returns what sealing finds track by track: simultaneous events in another order than nesting has them, spans that never end, and
    Python frames that outlast their caller."""
    events, first = [], '"ph":"X","cat":"python_function","name":'
    for i in range(12000):
        tid, ts, late = i % 40, i // 40 * 1000, i % 7 == 0
        events.append(f'{{"ph":"i","s":"t","pid":1,"tid":{tid},"name":"before","ts":{ts}}}')
        events.append(f'{{{first}"inner","pid":1,"tid":{tid},"ts":{ts + 10 * late},"dur":{250 if late else 20},"args":{{"Python id":{2 * i + 2},"Python parent id":{2 * i + 1}}}}}')
        events.append(f'{{{first}"outer","pid":1,"tid":{tid},"ts":{ts},"dur":{200 if late else 90},"args":{{"Python id":{2 * i + 1},"Python parent id":null}}}}')
    events += [f'{{"ph":"B","pid":1,"tid":{tid},"name":"open","ts":{290000 - tid}}}' for tid in range(0, 40, 3)]
    with open(path, 'w', encoding='ascii') as f:
        f.write('{"traceEvents":[' + ',\n'.join(events) + ']}')


def said(*args):
    return subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout


def graphs(inputs, folder):
    backward(f'{folder}/backward.json')
    check('flows go back', b'flows that end before they start' in said('check', f'{folder}/backward.json'))
    frames(f'{folder}/frames.json')
    found = said('check', f'{folder}/frames.json')
    check('spans never end', b'spans that never end' in found)
    check('frames outlast their caller', b'Python frames without a return' in found)
    same('convert frames', ['convert', f'{folder}/frames.json'], 'json', folder)
    for path in (*inputs, f'{folder}/backward.json', f'{folder}/frames.json'):
        for command in ('dump', 'check', 'info', 'report'):
            if RACES:
                text = said(command, path, '-j8')
                judge(f'{command} {os.path.basename(path)}', text[-2000:].decode() if b'ThreadSanitizer' in text else '')
                continue
            one = said(command, path, '-j1')
            judge(f'{command} {os.path.basename(path)}', '' if all(said(command, path, f'-j{n}') == one for n in THREADS) else 'differs')


def stranger(path, seed):
    """Returns the path of a rank that shares no collective with the others, so that its clock cannot be aligned."""
    draw = random.Random(seed)
    t, events = 1e6, []
    for i in range(3000):
        t += draw.uniform(5, 60)
        name = draw.choice(('AllReduce_Sum_f32', 'AllGather', 'ReduceScatter_Sum_bf16'))
        events.append(f'{{"ph":"X","cat":"kernel","name":"ncclDevKernel_{name}_RING_LL","pid":0,"tid":7,"ts":{t:.3f},"dur":4,'
                      f'"args":{{"device":0,"stream":7,"correlation":{i}}}}}')
    with open(path, 'w', encoding='ascii') as f:
        f.write('{"schemaVersion":1,"traceEvents":[' + ',\n'.join(events) + ']}')
    return path


def clocks(folder):
    """Checks that the clock report does not depend on the number of threads, for a merge in which hosts that can be aligned alternate
    with hosts that cannot."""
    ranks = []
    for i in range(4):
        path = f'{folder}/host{i}.json'
        with open(path, 'wb') as f:
            subprocess.run([GEN, 'kineto', '--ranks', '4', '--hosts', '4', '--rank', str(i), '--spans', '6000', '--offset-us', '0,300,20,7'],
                           stdout=f, check=True)
        ranks.append(path)
    strangers = [stranger(f'{folder}/stranger{i}.json', i) for i in range(4)]
    order = [ranks[0], *strangers[:2], ranks[1], strangers[2], *ranks[2:], strangers[3]]
    reports = []
    for n in (1, *THREADS):
        said = run('merge', *order, f'-j{n}', '--align-report', f'{folder}/clocks.json', '-o', f'{folder}/clocks.pftrace', '--force')
        reports.append(content(f'{folder}/clocks.json'))
        judge(f'clocks -j{n}', said[-2000:] or ('' if reports[-1] == reports[0] else 'another report than -j1'))
    trusted = [host['trusted'] for host in json.loads(reports[0])['hosts']]
    check('three clocks are placed, four are not', trusted.count(True) == 4 and trusted.count(False) == 4)


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
        clocks(folder)
        run('convert', inputs[0], '-j1', '--level', '1', '-o', f'{folder}/a.json.gz')
        run('convert', inputs[0], '-j2', '--level', '9', '-o', f'{folder}/b.json.gz')
        check('another level is found', content(f'{folder}/a.json.gz') != content(f'{folder}/b.json.gz'))
    return finish()


sys.exit(main())
