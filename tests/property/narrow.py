#!/usr/bin/env python3
"""Checks what is printed on narrow terminals: each table names the columns that it leaves out, notes below tables are wrapped, and findings are wrapped at spaces, but not within a command."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import finish, judge  # noqa: E402

TRACEKIT, FIXTURES = os.environ['TRACEKIT'], os.environ['FIXTURES']
SMALL = f'{FIXTURES}/perfetto/small.pftrace.gz'
LEFT = 'left out in this width: '


def run(width, *args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | {'COLUMNS': str(width)})
    judge(f'{args[0]} in {width}', '' if p.returncode in (0, 1) else p.stderr.decode()[:300])
    return p.stdout.decode().splitlines()


def titles(line):
    return re.split(r' {2,}', line.strip())


def tables(lines, lasts):
    """Yields, for each table whose last column is in `lasts`, its columns, and the columns that the next line lists as left out."""
    header = None
    for line in lines:
        if line.startswith(LEFT) and header:
            yield header, line[len(LEFT):line.index(' (')].split(', ')
            header = None
        elif not line:
            if header:
                yield header, []
            header = None
        elif header is None and titles(line)[-1] in lasts:
            header = titles(line)
    if header:
        yield header, []


def columns():
    """Checks that the columns of a narrow table, and those that it names as left out, are together the columns of the wide table."""
    for args, lasts in ((('top', SMALL), ('name',)), (('tree', SMALL), ('path',)), (('diff', SMALL, SMALL), ('name',)),
                        (('report', SMALL), ('device', 'call', 'collective', 'kernel', 'host', 'annotation'))):
        whole = [header for header, _ in tables(run(1000, *args), lasts)]
        judge(f'{args[0]}: tables', '' if whole else 'none')
        some = 0
        for width in (75, 80, 90, 100, 120):
            found = list(tables(run(width, *args), lasts))
            judge(f'{args[0]} in {width}: tables', '' if len(found) == len(whole) else f'{len(found)}, not {len(whole)}')
            for header, (kept, left) in zip(whole, found):
                some += bool(left)
                judge(f'{args[0]} in {width}: {header}', '' if sorted(kept + left) == sorted(header) else f'{kept} without {left}')
        judge(f'{args[0]}: some are left out', '' if some else 'none')


def findings():
    def of(lines):
        """Returns the lines of each finding."""
        found = []
        for line in lines[lines.index('Findings') + 1:]:
            if not line:
                break
            if not line.startswith(' '):
                found.append([])
            found[-1].append(line)
        return found
    whole = of(run(1000, 'report', SMALL, '--findings'))
    texts = [re.sub(r'\s+', ' ', ' '.join(lines)) for lines in whole]
    commands = re.findall(r'tracekit [^;]*(?:;|$)', ' '.join(texts))
    judge('there are commands', '' if commands else str(texts))
    for width in (20, 40, 60, 80, 100):
        lines = of(run(width, 'report', SMALL, '--findings'))
        judge(f'the same words in {width}', '' if [re.sub(r'\s+', ' ', ' '.join(v)) for v in lines] == texts else str(lines))
        for line in (line for v in lines for line in v):
            fits = len(line) <= width or 'tracekit ' in line or len(line.split()) == 1 or line.endswith(': ')
            judge(f'fits {width}', '' if fits else line)
        for command in commands:
            judge(f'in {width}: {command}', '' if any(command.rstrip(';') in line for v in lines for line in v) else str(lines))


def notes():
    """Checks that the notes below a table are wrapped between words."""
    torch, gpu = f'{FIXTURES}/json/torch/ddp2_plain/rank0.json.gz', f'{FIXTURES}/xplane/synth/gpu.trace.json.gz'
    for args in (('top', torch), ('tree', torch), ('tree', torch, '--per', 'train_step'), ('tree', gpu, '--layers'), ('tree', SMALL, '--name', 'aten::linear'),
                 ('diff', torch, torch), ('diff', torch, torch, torch)):
        def below(width):
            lines = run(width, *args, '--top', '1')
            return lines[len(lines) - lines[::-1].index(''):]
        words = ' '.join(below(1000))
        judge(f'{args} has notes', '' if len(words) > 40 else words)
        for width in (30, 40, 60, 80):
            lines = below(width)
            same = ' '.join(lines) == words or args[0] == 'top'  # its legend explains only the columns that fit
            judge(f'{args}: the same words in {width}', '' if same else str(lines))
            judge(f'{args} fits {width}', '' if max(map(len, lines)) <= width else str(lines))


columns()
findings()
notes()
sys.exit(finish())
