#!/usr/bin/env python3
"""Tests completion in the shells themselves: types a line and a tab into each shell, and checks what the shell offers.

bash and zsh run in a terminal; fish is queried through `complete -C`. A shell that is not installed is reported as skipped."""
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

TRACEKIT, FIXTURES = os.environ['TRACEKIT'], os.environ['FIXTURES']
PATIENCE = 20  # seconds; other tests run at the same time
passed, failed = 0, 0

# A line to complete, and words that must be among the completions.
CASES = [
    ('tracekit conver', ['convert']),
    ('tracekit merge --alig', ['--align']),
    ('tracekit help expr', ['expressions']),
    ('tracekit help mer', ['merge']),
    ('tracekit filter --kind ker', ['kernel']),
    ('tracekit filter --kin', ['--kind=']),
    ('tracekit filter --keep par', ['parents']),
    ('tracekit filter -e de', ['depth', 'device']),
    ('tracekit shrink --ladder coal', ['coalesce']),
    ('tracekit merge --align cl', ['clock']),
    ('tracekit convert -f persp', []),
    ('tracekit convert -f perf', ['perfetto']),
    ('tracekit convert trac', ['trace.json']),
    ('tracekit filter trace.json --name fi', ['fib']),
    ('tracekit top merged.json --rank ', ['0', '1']),
]


def check(ok, what):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f'FAIL {what}')


class Terminal:
    """An interactive shell, whose output is read until it goes quiet."""

    def __init__(self, line, folder):
        env = dict(os.environ, PATH=f'{folder}/bin:{os.environ["PATH"]}', TERM='dumb', HOME=folder, PS1='> ', LC_ALL='C.UTF-8', COLUMNS='200')
        for name in ('ENV', 'LD_PRELOAD'):  # LD_PRELOAD is meant for the command, not for shells
            env.pop(name, None)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(line[0], line, env)

    def read(self, until=None):
        text, end = '', time.time() + PATIENCE
        while time.time() < end:
            if select.select([self.fd], [], [], 0.2 if until is None else 1)[0]:
                try:
                    text += os.read(self.fd, 65536).decode(errors='replace')
                except OSError:
                    break
            elif until is None:
                break
            if until and until in text:
                break
        return text

    def say(self, line, mark):
        os.write(self.fd, f'{line}; echo {mark[:2]}""{mark[2:]}\n'.encode())
        return self.read(mark)

    def offers(self, line, want):
        """Types the line and two tabs, which lists several matches; then clears the line. Silence alone does not mean that the
        shell is done: on a busy machine it is silent while the command reads the trace."""
        os.write(self.fd, line.encode() + b'\t\t')
        text, end = '', time.time() + PATIENCE / 4
        while time.time() < end:
            more = self.read()
            text += more
            if text and not more and all(word in re.sub('[\r\x07]', '', text) for word in want):
                break
        os.write(self.fd, b'\x15')  # Ctrl-U clears the line
        self.read()
        return re.sub(r'\x1b\[[0-9;?]*[A-Za-z]', '', text)

    def close(self):
        try:
            os.write(self.fd, b'\x03\nexit\n')
            os.close(self.fd)
        except OSError:
            pass
        os.waitpid(self.pid, 0)


def files(folder):
    os.makedirs(f'{folder}/bin')
    os.symlink(TRACEKIT, f'{folder}/bin/tracekit')
    with open(f'{folder}/trace.json', 'w', encoding='utf-8') as f:
        f.write('[{"ph":"X","name":"fib","pid":1,"tid":1,"ts":1,"dur":5},{"ph":"X","name":"other","pid":1,"tid":1,"ts":9,"dur":5}]')
    ranks = [f'{FIXTURES}/json/torch/ddp2_plain/rank{rank}.json.gz' for rank in range(2)]
    subprocess.run([TRACEKIT, 'merge', '-q', *ranks, '-o', f'{folder}/merged.json'], check=True)
    os.makedirs(f'{folder}/zsh')
    for kind, path in (('bash', 'c.bash'), ('zsh', 'zsh/_tracekit'), ('fish', 'c.fish')):
        with open(f'{folder}/{path}', 'wb') as f:
            f.write(subprocess.run([TRACEKIT, '__docs', kind], stdout=subprocess.PIPE, check=True).stdout)


def in_terminal(shell, line, setup, folder):
    terminal = Terminal(line, folder)
    ready = 'READY' in terminal.say(setup, 'READY')
    check(ready, f'{shell}: it does not begin')
    for typed, want in CASES if ready else []:
        got = terminal.offers(typed, want)
        for word in want:
            check(word in re.sub('[\r\x07]', '', got), f'{shell}: {typed}<tab>: no {word} in {got!r}')
        check('\\=' not in got, f'{shell}: {typed}<tab>: {got!r}')
    terminal.close()


def in_fish(folder):
    for typed, want in CASES:
        done = subprocess.run(['fish', '-c', f"source c.fish; complete -C '{typed}'"], cwd=folder, stdout=subprocess.PIPE, check=False,
                              env=dict(os.environ, PATH=f'{folder}/bin:{os.environ["PATH"]}', HOME=folder), timeout=60)
        got = [line.split('\t')[0] for line in done.stdout.decode().splitlines()]
        for word in want:
            check(word.rstrip('=') in [g.rstrip('=') for g in got], f'fish: {typed}<tab>: no {word} in {got}')


with tempfile.TemporaryDirectory() as work:
    files(work)
    for name, action in (('bash', lambda: in_terminal('bash', ['bash', '--norc', '--noprofile', '-i'], 'source ./c.bash', work)),
                         ('zsh', lambda: in_terminal('zsh', ['zsh', '-f', '-i'],
                                                     'unsetopt prompt_sp prompt_cr; fpath=(./zsh $fpath); autoload -U compinit; compinit -u -D', work)),
                         ('fish', lambda: in_fish(work))):
        if shutil.which(name):
            action()
        else:
            print(f'SKIPPED: {name} is not installed: its completions are not tested (make deps installs it)')
print(f'{passed} passed, {failed} failed')
sys.exit(1 if failed else 0)
