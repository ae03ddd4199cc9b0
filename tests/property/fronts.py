#!/usr/bin/env python3
"""Checks that plan, view and Python have every option of merge, or a row in fronts.tsv with the reason; an unused row fails. The
error of plan about such an option must name the command that has the option."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import check, finish  # noqa: E402

TRACEKIT, SRC = os.environ['TRACEKIT'], os.environ['SRC']
# Options that Python names otherwise.
RENAMED = {'step': 'steps', 'clock-error': 'clock_error_ps', 'names': 'redact_names'}
# Options of merge that the others need not have: they concern how a program runs, or only refine --redact.
UNASKED = {'threads', 'progress', 'keep-args', 'keep-numbers', 'key-file', 'names', 'redact-report'}
EVERY_COMMAND = {'help', 'quiet', 'verbose', 'json', 'output', 'force'}


def options_of(command):
    text = subprocess.run([TRACEKIT, 'help', command], capture_output=True, text=True, check=True).stdout
    options = text[text.index('\nOptions:') if '\nOptions:' in text else 0:]
    return set(re.findall(r'^ +(?:-\w, )?--(?:\[no-\])?([a-z-]+)', options, flags=re.M))


def python_options():
    """Returns the names of the options that the native module reads from the dict of the caller."""
    with open(f'{SRC}/python/native.c', encoding='utf-8') as f:
        return set(re.findall(r'\bopt(?:ion|_\w+)\([^"();]*, "(\w+)"\)', f.read()))


def main():
    with open(f'{SRC}/tests/property/fronts.tsv', encoding='utf-8') as f:
        rows = [line.rstrip('\n').split('\t') for line in f.readlines()[1:]]
    excused = {(option, front): reason for option, front, reason in rows}
    check('each row has a reason', all(excused.values()))
    merge = options_of('merge') - EVERY_COMMAND
    has = {'plan': options_of('plan'), 'view': options_of('view')}
    native = python_options()
    has['python'] = {o for o in merge if RENAMED.get(o, o.replace('-', '_')) in native}
    needed = set()
    for option in sorted(merge):
        for front, theirs in has.items():
            if option in theirs:
                check(f'{front} has --{option}, so no row excuses it', (option, front) not in excused)
                continue
            needed.add((option, front))
            check(f'{front} lacks --{option} of merge, and fronts.tsv does not say why', (option, front) in excused)
    check('unused rows', not set(excused) - needed, sorted(set(excused) - needed))
    for option, front in excused:
        if front != 'plan' or option in UNASKED:
            continue
        p = subprocess.run([TRACEKIT, front, '--' + option, 'x'], capture_output=True, text=True, check=False)
        check(f'{front} --{option} says where the option belongs', p.returncode == 2 and re.search(r"option '[^']*': ", p.stderr), p.stderr)
    return finish()


sys.exit(main())
