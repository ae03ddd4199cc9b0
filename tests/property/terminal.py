#!/usr/bin/env python3
"""Checks terminal output: colours only on a terminal, never with NO_COLOR or TERM=dumb, and no information in colour alone."""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + '/../support')
from onterminal import shown  # noqa: E402
from verdict import check, finish  # noqa: E402

TRACEKIT = os.path.abspath(os.environ['TRACEKIT'])
FIXTURES = os.path.abspath(os.environ['FIXTURES'])
RANKS = sorted(glob.glob(f'{FIXTURES}/json/torch/ddp4_full/*.gz'))
RED, YELLOW, GREEN, BOLD = '\033[31m', '\033[33m', '\033[32m', '\033[1m'


def show(work, *command, **env):
    """Returns the output of the command, with standard output and standard error on a terminal."""
    clean = {k: v for k, v in os.environ.items() if k not in ('NO_COLOR', 'COLUMNS')}
    text = shown(TRACEKIT, ['tracekit', *command], work, dict(clean, **{'COLUMNS': '120', 'TERM': 'xterm', **env}))
    return text.replace('\r\n', '\n')


def plain(text):
    return re.sub('\033\\[[0-9;]*m', '', text)


def slower(work):
    """Writes two runs of eight steps; in the second the kernel takes twice as long and the copy half as long."""
    for side, kernel, copy in (('before', 100, 80), ('after', 200, 40)):
        events = []
        for step in range(8):
            at = step * 1000
            events += [{'ph': 'X', 'cat': 'user_annotation', 'name': f'ProfilerStep#{step}', 'pid': 1, 'tid': 1, 'ts': at, 'dur': 900},
                       {'ph': 'X', 'cat': 'cpu_op', 'name': 'kernel', 'pid': 1, 'tid': 1, 'ts': at + 10, 'dur': kernel + step % 2},
                       {'ph': 'X', 'cat': 'cpu_op', 'name': 'copy', 'pid': 1, 'tid': 1, 'ts': at + 400, 'dur': copy + step % 2}]
        with open(f'{work}/{side}.json', 'w', encoding='utf-8') as out:
            json.dump({'schemaVersion': 1, 'traceEvents': events}, out)


def apart(work):
    """Writes two ranks on hosts that share nothing to compare."""
    for rank in range(2):
        event = {'ph': 'X', 'cat': 'cpu_op', 'name': f'op{rank}', 'pid': 1, 'tid': 1, 'ts': 1, 'dur': 2}
        with open(f'{work}/apart{rank}.json', 'w', encoding='utf-8') as out:
            json.dump({'schemaVersion': 1, 'distributedInfo': {'rank': rank, 'world_size': 2}, 'host_name': f'host{rank}',
                       'baseTimeNanoseconds': 1700000000000000000, 'traceEvents': [event]}, out)


def line_of(text, words):
    return next((line for line in text.split('\n') if words in plain(line)), '')


def colours(work):
    slower(work)
    apart(work)
    with open(f'{work}/cut.json', 'w', encoding='utf-8') as out:
        out.write('[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":2},{"ph":"X","name":"b"')
    cases = {
        'an error': (['info', 'none.json'], f'{RED}tracekit:\033[0m none.json', 'none.json'),
        'a usage error': (['convert', '--ouput', 'x'], f'{RED}tracekit:', 'ouput'),
        'a repair': (['info', 'cut.json'], f'{YELLOW}tracekit:', 'repair'),
        'a header': (['top', 'before.json', '--top', '2'], BOLD, 'total'),
        'a clock that is not trusted': (['merge', 'apart0.json', 'apart1.json', '-o', 'm.json', '--force'], YELLOW, 'host1: not aligned; its wall clock is used'),
        'a damaged file': (['list', '--deep', 'cut.json', RANKS[0]], RED, 'truncated'),
        'what got slower': (['diff', 'before.json', 'after.json'], RED, ' kernel'),
        'what got faster': (['diff', 'before.json', 'after.json'], GREEN, ' copy'),
    }
    for what, (command, mark, words) in cases.items():
        text = show(work, *command)
        line = line_of(text, words)
        check(f'{what} is marked', mark in line, repr(line or text))
        check(f'{what}: a mark ends with its line', all(x.count('\033[') % 2 == 0 for x in text.split('\n')), text)
        for env in ({'NO_COLOR': '1'}, {'TERM': 'dumb'}):
            other = show(work, *command, **env)
            check(f'{what}: {env} says the same without marks', '\033[3' not in other and BOLD not in other, repr(other))
        piped = subprocess.run([TRACEKIT, *command], cwd=work, capture_output=True, text=True, env=dict(os.environ, TERM='xterm', COLUMNS='120'))
        check(f'{what}: nothing is marked in a pipe', '\033' not in piped.stdout + piped.stderr)
        check(f'{what}: the words are there without colours', words in plain(piped.stdout + piped.stderr), piped.stdout + piped.stderr)


def bars(work):
    """Shares are also drawn as bars on a terminal, in UTF-8 or ASCII, if all columns have room beside them."""
    events = [{'ph': 'X', 'cat': 'cpu_op', 'name': f'op{i}', 'pid': 1, 'tid': 1, 'ts': 1000 * i, 'dur': dur} for i, dur in enumerate((500, 375, 125))]
    with open(f'{work}/bars.json', 'w', encoding='utf-8') as out:
        json.dump(events, out)
    env = {'COLUMNS': '160', 'LC_ALL': 'C.UTF-8'}
    for command in (['report'], ['top'], ['tree']):
        text = plain(show(work, *command, 'bars.json', **env))
        for name, share, bar in (('op0', '50.0', '████'), ('op1', '37.5', '███'), ('op2', '12.5', '█')):
            lines = [line for line in text.split('\n') if line.rstrip().endswith(name)]
            check(f'{command}: the bar of {name}', any(f'{share}  {bar}{" " * (10 - len(bar))}' in line for line in lines), text)
        check(f'{command}: ASCII', '50.0  ####      ' in show(work, *command, 'bars.json', **dict(env, LC_ALL='C')), text)
        for what, other in (('NO_COLOR', dict(env, NO_COLOR='1')), ('a dumb terminal', dict(env, TERM='dumb')), ('too narrow', dict(env, COLUMNS='40'))):
            check(f'{command}: no bar: {what}', '█' not in show(work, *command, 'bars.json', **other))
        piped = subprocess.run([TRACEKIT, *command, 'bars.json'], cwd=work, capture_output=True, text=True, env=dict(os.environ, TERM='xterm', **env))
        check(f'{command}: no bar in a pipe', '█' not in piped.stdout and '50.0' in piped.stdout, piped.stdout)


def main():
    with tempfile.TemporaryDirectory() as work:
        colours(work)
        bars(work)
    return finish()


if __name__ == '__main__':
    sys.exit(main())
