#!/usr/bin/env python3
"""recording.py TRACE FOLDER - prints, as text, what merge, extract, filter and shrink show on a terminal while they process a
large trace. For the progress line, shows the first, a middle and the last state of each phase, then the text that remains.
docs/recipes/large.md is made this way."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from onterminal import shown  # noqa: E402

TRACEKIT = os.path.abspath(os.environ.get('TRACEKIT', 'build/tracekit'))


def record(command, folder):
    """Returns everything that the command writes to a terminal of 100 columns."""
    return shown(TRACEKIT, ['tracekit', *command.split()[1:]], folder, dict(os.environ, COLUMNS='100', TERM='xterm', NO_COLOR='1'))


def pick(frames):
    """Selects three states of each phase."""
    phases = []
    for frame in frames:
        phase = re.split(r' \[|: ', frame)[0]
        if not phases or phases[-1][0] != phase:
            phases.append((phase, []))
        phases[-1][1].append(frame)
    for _, states in phases:
        yield from dict.fromkeys([states[0], states[len(states) // 2], states[-1]])


def main():
    trace, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
    os.makedirs(folder, exist_ok=True)
    for name in ('rank0.json', 'rank1.json'):
        if not os.path.exists(f'{folder}/{name}'):
            os.symlink(trace, f'{folder}/{name}')
    for command in ('tracekit merge rank0.json rank1.json -o merged.json.gz --force', 'tracekit extract rank0.json -o one.json.gz --force',
                    'tracekit filter rank0.json --min-dur 100us -o long.json.gz --force',
                    'tracekit shrink rank0.json --to 50MB -o small.json.gz --force'):
        text = record(command, folder)
        parts = text.split('\r\x1b[K')
        frames, rest = [p for p in parts[1:] if p and '\n' not in p], ''.join(p for p in [parts[0], *parts[1:]] if '\n' in p)
        print(f'$ {command}')
        for frame in pick(frames):
            print(frame)
        print(rest.replace('\r\n', '\n').rstrip('\n'))
        print()
        sys.stdout.flush()


main()
