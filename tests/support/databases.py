"""Helpers of the tests of databases: a temporary folder, the command, its Chrome JSON, and checks that apply to every database."""
import json
import os
import random
import subprocess
import tempfile

from verdict import check

TRACEKIT = os.environ['TRACEKIT']
folder = tempfile.TemporaryDirectory()


def path(name):
    return os.path.join(folder.name, name)


def tracekit(*args, stdin=b''):
    p = subprocess.run([TRACEKIT, *args], input=stdin, capture_output=True)
    return p.returncode, p.stdout.decode('utf-8', 'replace'), p.stderr.decode('utf-8', 'replace')


def converted(source, *options):
    """Returns the events of a database as Chrome JSON, and its base time in ns."""
    status, _, said = tracekit('convert', '-q', '--force', *options, source, '-o', path('out.json'))
    check(f'{os.path.basename(source)} converts', status == 0, said)
    with open(path('out.json'), encoding='utf-8') as f:
        document = json.load(f)
    return document['traceEvents'], document.get('baseTimeNanoseconds', 0)


def spans(events, *categories):
    return [e for e in events if e['ph'] == 'X' and e.get('cat') in categories]


def named(events, kind):
    return {e['pid'] if kind == 'process_name' else (e['pid'], e['tid']): e['args']['name'] for e in events if e.get('name') == kind}


def measure(found):
    """Returns the number of spans and the sum of their durations in ns, to compare with count and sum of a table by SQL."""
    return len(found), sum(round(e['dur'] * 1000) for e in found)


def check_formats(*names):
    """Checks that a database can be written in every format and read back."""
    for name in names:
        want = tracekit('top', '--csv', '--top=100', path(name))[1]
        check(f'{name}: top has rows', want.count('\n') > 1, want)
        for ending in ('json.gz', 'pftrace', 'xplane.pb'):
            status, _, said = tracekit('convert', '-q', '--force', path(name), '-o', path(f'back.{ending}'))
            check(f'{name} -> {ending}: converts', status == 0, said)
            check(f'{name} -> {ending}: top is the same', tracekit('top', '--csv', '--top=100', path(f'back.{ending}'))[1] == want)


def check_damage(*names, rounds=40, seed=2):
    """Checks that the command neither crashes nor hangs, whatever bytes of a database are changed or missing."""
    draw = random.Random(seed)
    for name in names:
        with open(path(name), 'rb') as f:
            data = f.read()
        for i in range(rounds):
            broken = bytearray(data[:draw.choice((len(data), len(data) // 2))])
            for _ in range(draw.randrange(1, 30)):
                broken[draw.randrange(100, len(broken))] = draw.randrange(256)
            with open(path('broken.db'), 'wb') as f:
                f.write(broken)
            status = tracekit('check', path('broken.db'))[0]
            check(f'{name}: damage {i}: no crash', status in (0, 1, 3), status)
