#!/usr/bin/env python3
"""Checks file permissions: no command writes a file that is more readable than its inputs, whatever the umask and the form of
the inputs; a replaced file does not become more readable either."""
import gzip
import json
import os
import stat
import subprocess
import sys
import tempfile
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import check, finish, judge  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']


def events(rank):
    spans = [{'ph': 'X', 'name': f'op{i % 3}', 'cat': 'kernel', 'pid': 1, 'tid': 1, 'ts': 10 * i, 'dur': 5,
              'args': {'Collective name': 'allreduce', 'Seq': i}} for i in range(100)]
    steps = [{'ph': 'X', 'name': f'ProfilerStep#{i}', 'pid': 1, 'tid': 2, 'ts': 100 * i, 'dur': 99} for i in range(4)]
    return {'traceEvents': spans + steps, 'distributedInfo': {'rank': rank, 'world_size': 2}, 'host_name': f'node{rank}'}


def write(path, data, mode=0o600):
    with (gzip.open if path.endswith('.gz') else open)(path, 'wt', encoding='utf-8') as f:
        json.dump(data, f)
    os.chmod(path, mode)
    return path


# Each command writes its files to the folder `out`.
COMMANDS = [
    'convert {a} -o out/a.json', 'convert {a} -o out/a.json.gz', 'convert {a} -o out/a.pftrace', 'convert {a} -o out/a.xplane.pb',
    'convert {a} -f xplane -o out/', 'convert {a} -o out/a.speedscope.json', 'filter {a} --name op1 -o out/a.json',
    'rebase {a} --to-zero -o out/a.json', 'redact {a} -o out/a.json --redact-report out/list.tsv', 'shrink {a} --events 20 --hard -o out/a.json',
    'split {a} --by time --every 100us -o out/part{{}}.json', 'extract {a} -o out/', 'extract {a} --raw -o out/', 'scan {a} -o out/a.scan',
    'merge {a} {b} -o out/m.json --align-report out/clocks.json --collectives out/c.csv', 'merge {a} {b} -o out/m.pftrace',
    'merge {a} {b} -f xplane -o out/run/', 'merge {a} {b} --manifest -o out/m.tar', 'merge {a} {b} --to 5KB -o out/m.json',
    'report {a} --html out/a.html', 'sql {a} --db out/a.db']


def written(folder):
    return sorted(os.path.join(d, n) for d, _, names in os.walk(folder) for n in names)


def modes(what, folder, names, allowed=0o600):
    subprocess.run(['rm', '-rf', f'{folder}/out'], check=True)
    os.mkdir(f'{folder}/out')
    line = what.format(**names)
    p = subprocess.run([TRACEKIT, *line.split()], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True)
    judge(what, p.stderr.decode() if p.returncode else '')
    files = written(f'{folder}/out')
    check(f'{what}: a file is written', files, os.listdir(f'{folder}/out'))
    for path in files:
        mode = stat.S_IMODE(os.stat(path).st_mode)
        judge(f'{line}: {os.path.relpath(path, folder)}', f'mode {mode:o}, at most {allowed:o}' if mode & ~allowed else '')


def cluster(folder, names):
    """Checks scan, plan, apply and concat, which pass a trace on through files."""
    work = f'{folder}/cluster'
    os.mkdir(work)
    for line in ('scan {a} -o {w}/a.scan', 'scan {b} -o {w}/b.scan', 'plan {w}/a.scan {w}/b.scan -o {w}/plan.json --collectives {w}/c.csv',
                 'apply {w}/plan.json {a} -o {w}/a.part', 'apply {w}/plan.json {b} -o {w}/b.part',
                 'concat {w}/plan.json {w}/a.part {w}/b.part -o {w}/m.json'):
        p = subprocess.run([TRACEKIT, *line.format(w=work, **names).split()], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True)
        judge(line, p.stderr.decode() if p.returncode else '')
    for path in written(work):
        mode = stat.S_IMODE(os.stat(path).st_mode)
        judge(f'cluster: {os.path.basename(path)}', f'mode {mode:o}' if mode & 0o077 else '')


def main():
    os.umask(0o022)
    with tempfile.TemporaryDirectory() as folder:
        run = f'{folder}/logs/plugins/profile/2024_01_01_00_00_00'
        os.makedirs(run)
        names = {'a': write(f'{folder}/a.json', events(0)), 'b': write(f'{folder}/b.json.gz', events(1))}
        for what in COMMANDS:
            modes(what, folder, names)
        write(f'{run}/node.trace.json.gz', events(0))
        archive = f'{folder}/a.zip'
        with zipfile.ZipFile(archive, 'w') as z:
            z.write(names['a'], 'a.json')
        os.chmod(archive, 0o600)
        for kind, source in (('folder', f'{folder}/logs'), ('archive', archive), ('member', f'{archive}:a.json')):
            for what in COMMANDS:
                if '{b}' not in what:
                    modes(what, folder, {'a': source})
        cluster(folder, names)
        mixed = {'a': write(f'{folder}/wide.json', events(0), 0o644), 'b': names['b']}
        for what in COMMANDS:
            modes(what, folder, mixed, 0o600 if '{b}' in what else 0o644)
        # Standard input redirected from a file.
        for args in (['convert', '-', '-o'], ['report', '-', '--html'], ['sql', '-', '-e', 'SELECT 1', '--db'], ['scan', '-', '-o']):
            out = f'{folder}/stdin.{ {"--html": "html", "--db": "db"}.get(args[-1], "json")}'
            with open(names['a'], 'rb') as f:
                p = subprocess.run([TRACEKIT, *args, out, '--force'], stdin=f, capture_output=True)
            judge(f'{args}', p.stderr.decode() if p.returncode else '')
            if not p.returncode:
                check(f'{args}: of standard input', not stat.S_IMODE(os.stat(out).st_mode) & 0o077, oct(os.stat(out).st_mode))
        # Replaced outputs.
        for args in (['convert', names['a'], '-o'], ['report', names['a'], '--html'], ['sql', names['a'], '--db']):
            out = f'{folder}/old.{ {"--html": "html", "--db": "db"}.get(args[-1], "json")}'
            write(out, {}, 0o644)
            subprocess.run([TRACEKIT, *args, out, '--force'], stdin=subprocess.DEVNULL, capture_output=True)
            check(f'{args}: replaces', not stat.S_IMODE(os.stat(out).st_mode) & 0o077, oct(os.stat(out).st_mode))
    return finish()


sys.exit(main())
