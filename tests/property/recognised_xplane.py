#!/usr/bin/env python3
"""Checks that a written XPlane is recognised on reading, by content alone and without provenance, whatever its planes are
called and whatever unknown fields it contains. Its unknown fields keep their bytes. Input that is not an XPlane is still
refused."""
import itertools
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import check, finish  # noqa: E402
from xspace import message, number, varint  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']


def fixed(field, data):
    return varint(field << 3 | 1) + data


def run(*args, data=None):
    return subprocess.run([TRACEKIT, *args], input=data, stdin=None if data is not None else subprocess.DEVNULL, capture_output=True)


UNKNOWN = {'space': message(9, b'of the space'), 'plane': fixed(21, b'12345678') + number(1392, 18), 'line': message(12, b'gion'),
           'event': message(30, b'of an event'), 'entry': number(7, 22)}


def space(name, where):
    own = {place: UNKNOWN[place] if place in where else b'' for place in UNKNOWN}
    event = number(1, 21) + number(2, 1000) + number(3, 5000) + own['event']
    line = number(1, 1) + message(2, b'python') + number(3, 4917) + message(4, event) + own['line']
    entry = number(1, 21) + message(2, number(1, 21) + message(2, b'work')) + own['entry']
    return own['space'] + message(1, number(1, 5) + message(2, name) + message(3, line) + message(4, entry) + own['plane'])


def main():
    with tempfile.TemporaryDirectory() as folder:
        source, out = f'{folder}/in.pb', f'{folder}/out.xplane.pb'
        places = [c for n in range(len(UNKNOWN) + 1) for c in itertools.combinations(UNKNOWN, n)]
        for name in (b'/host:CPU', b'/hos\x06:CPU', b'', b'a plane of our own'):
            for where in places:
                with open(source, 'wb') as f:
                    f.write(space(name, where))
                p = run('convert', source, '-f', 'xplane', '--no-provenance', '-o', out, '--force')
                what = f'{name}, unknown fields of {where}'
                check(f'{what}: convert', p.returncode == 0, p.stderr)
                if p.returncode:
                    continue
                with open(out, 'rb') as f:
                    data = f.read()
                p = run('info', '-q', '-', data=data)
                check(f'{what}: recognised', p.returncode == 0 and b'XPlane' in p.stdout and b'1 span' in p.stdout, p.stderr)
                check(f'{what}: passed through', all(UNKNOWN[place] in data for place in where if place != 'entry'), data)
        for what, data in (('other fields', message(9, b'x') * 9),
                           ('wrong types', message(1, number(2, 5) + number(3, 5)) * 3), ('text', b'hello world\n' * 9)):
            check(f'{what}: no trace', run('info', '-', data=data).returncode == 3)
    return finish()


sys.exit(main())
