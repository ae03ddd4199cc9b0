#!/usr/bin/env python3
"""Checks the rule of empty results (docs/commands/README.md): a selection of events that matches nothing prints and writes nothing,
explains why and exits with status 1, unless --allow-empty is given; a missing input has status 3; an answer may be empty."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import check, finish  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']

# Options that select events, and commands that have them.
SELECT = ('--name nosuch', '--kind memset', '--cat nosuch', '--stream 99', '--rank 9', '--host nosuch', '--min-dur 50s', '--depth 9',
          '--launched-by nosuch', '--regex nosuch', '-e "phase == decode"', '--step 3', '--time 50s..60s', '--track nosuch', '--pid 77')
SELECTING = ('top T', 'tree T', 'diff T T', 'report T', 'filter T -o O.json')
# Command lines whose other selections match nothing.
NOTHING = ('tree T --per nosuch', 'tree T --path arg.nosuch', 'top T --min-count 50', 'convert T --scopes arg.nosuch -o O.json',
           'rebase T --at nosuch -o O.json', 'rebase T --at a --nth 7 -o O.json', 'split T --by step -o O-{}.json',
           'merge T U --rank 9 -o O.json', 'merge T U --step 5 -o O.json', 'merge T U --time 50s..60s -o O.json')
MISSING = ('info L --run nosuch', 'top L --run nosuch', 'extract L --run nosuch -o O.json', 'extract L --host nosuch -o O.json', 'extract L --rank 9 -o O.json',
           'list L --run nosuch', 'list L --host nosuch', 'list L --rank 9', 'list L --step-dir 7', 'info nosuch.json', 'list nosuch')
ANSWERS = ('sql T -e "select * from slice where name = \'nosuch\'"', 'sql T --json -e "select * from step"', 'list empty', 'list L', 'diff T T',
           'dump none.json', 'info none.json')


def run(line, *more):
    return subprocess.run(f'{TRACEKIT} {line} {" ".join(more)}', shell=True, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def outputs():
    return [n for n in os.listdir('.') if n.startswith('O')]


def check_nothing(line):
    p = run(line)
    check(f'{line}: status', p.returncode == 1, (p.returncode, p.stderr))
    check(f'{line}: nothing is printed or written', not p.stdout and not outputs(), p.stdout[:100])
    check(f'{line}: the reason', 'nothing matched' in p.stderr and p.stderr.count('\n') == 1, p.stderr)
    p = run(line, '-q')
    check(f'{line} -q', p.returncode == 1 and not p.stdout, (p.returncode, p.stdout))


def check_allowed(line):
    p = run(line, '--allow-empty')
    check(f'{line} --allow-empty', p.returncode == 0 and (p.stdout or outputs()), (p.returncode, p.stderr))
    for name in outputs():
        os.remove(name)


def main():
    host = {'ph': 'X', 'pid': 1, 'tid': 1, 'name': 'a', 'ts': 1, 'dur': 5}
    work = {'ph': 'X', 'cat': 'kernel', 'pid': 0, 'tid': 7, 'name': 'k', 'ts': 10, 'dur': 5, 'args': {'stream': 7, 'device': 0}}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, events in (('T', [host, work]), ('U', [host]), ('none.json', [])):
            with open(name, 'w', encoding='utf-8') as f:
                json.dump({'traceEvents': events}, f)
        os.makedirs('L/plugins/profile/2024_01_01_00_00_00')
        os.makedirs('empty')
        with open('empty/notes.txt', 'w', encoding='utf-8') as f:
            f.write('no trace\n')
        run('convert T -o L/plugins/profile/2024_01_01_00_00_00/h1.xplane.pb -q')
        for command in SELECTING:
            for option in SELECT:
                check_nothing(f'{command} {option}')
                if option not in ('--step 3', '--time 50s..60s'):  # without such a time there is nothing to show
                    check_allowed(f'{command} {option}')
        for line in NOTHING:
            check_nothing(line)
        for line in MISSING:
            p = run(line)
            check(f'{line}: status', p.returncode == 3 and p.stderr and not outputs(), (p.returncode, p.stderr))
        for line in ANSWERS:
            p = run(line)
            check(f'{line}: status', p.returncode == 0, (p.returncode, p.stderr))
    return finish()


sys.exit(main())
