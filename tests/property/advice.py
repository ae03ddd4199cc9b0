#!/usr/bin/env python3
"""Checks that advice in messages can be followed: an option that a command recommends is an option of this command, and the command
accepts it.

    said      each command is run on damaged or unsuitable inputs; each option in its message is added, and the command accepts it
    written   a message in the source of a command names only options of that command, or "tracekit COMMAND --option" of another"""
import glob
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import check, finish  # noqa: E402

TRACEKIT, FIXTURES, SRC = os.environ['TRACEKIT'], os.environ['FIXTURES'], os.environ['SRC']
OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]+|-[a-z](?![\w-]))")
VALUES = {'--max-size': '1GB', '--max-memory': '1GB', '-f': 'json', '--format': 'json', '-o': 'again.json', '--output': 'again.json',
          '--run': '2026', '--step-dir': '1', '--timeout': '60', '--label': 'x', '--align': 'none'}
REFUSALS = re.compile(r'\(refused by [^)]*\)')
WAIT = 60  # seconds

# Arguments with which each command reads a source S. Commands that read files other than traces are not listed.
COMMANDS = {
    'convert': ['S', '-o', 'o.json'], 'extract': ['S', '-o', 'o.json'], 'merge': ['S', '-o', 'o.json'], 'rebase': ['S', '--to-zero', '-o', 'o.json'],
    'filter': ['S', '--name', '*', '-o', 'o.json'], 'shrink': ['S', '--to', '1MB', '-o', 'o.json'],
    'split': ['S', '--by', 'process', '-o', 'o-{}.json'], 'redact': ['S', '-o', 'o.json'], 'report': ['S'], 'top': ['S'], 'tree': ['S'],
    'diff': ['S', 'S'], 'sql': ['S', '-e', 'select 1'], 'info': ['S'], 'size': ['S'], 'check': ['S'], 'dump': ['S'], 'list': ['S'],
    'scan': ['S', '-o', 'o.scan'], 'view': ['S', '--no-browser']}


def run(work, *args):
    """Runs a command. `view` is stopped after a second: once it has read the trace, it serves until it is stopped."""
    p = subprocess.Popen([TRACEKIT, *args], cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        out, err = p.communicate(timeout=1 if args[0] == 'view' else WAIT)
    except subprocess.TimeoutExpired:
        p.terminate()
        out, err = p.communicate()
    return subprocess.CompletedProcess(args, max(p.returncode, 0), out, err)


def options_of(command):
    text = subprocess.run([TRACEKIT, 'help', command], capture_output=True, text=True).stdout
    found = set(re.findall(r'^ +(?:(-\w), )?(--[a-z-]+)', text, re.M))
    return {o for pair in found for o in pair if o} | {'--no-' + long[2:] for _, long in found} | {'--help', '--version', '-h'}


def put(path, data=b''):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as f:
        f.write(data)


def make_troubles(work):
    """Creates damaged or unsuitable sources. Returns them with the options that lead to an error."""
    with open(f'{FIXTURES}/xplane/multihost/host-0.xplane.pb', 'rb') as f:
        good = f.read()
    profile = 'plugins/profile/2026_11_2'
    put(f'{work}/newest_empty/{profile}0_12_00_00/vm.xplane.pb', good)
    put(f'{work}/newest_empty/{profile}1_12_00_00/vm.xplane.pb')
    put(f'{work}/newest_broken/{profile}0_12_00_00/vm.xplane.pb', good)
    put(f'{work}/newest_broken/{profile}1_12_00_00/vm.xplane.pb', b'\xff\xff\xff\xff\xff garbage \0\1\2')
    put(f'{work}/one_broken/rank0.json', b'[{"ph":"X","name":"a","ts":1,"dur":2,"pid":1,"tid":1}]')
    put(f'{work}/one_broken/rank1.json', b'')
    put(f'{work}/one_broken/rank2.json', b'[{"ph":"X","name":"a","ts":1,"dur":2,"pid":1,"tid":1}]')
    put(f'{work}/cut.json', b'[{"ph":"X","name":"a","ts":1,"dur":2,"pid":1,"tid":1},{"ph":"X","na')
    put(f'{work}/odd.bin', b'what is this\n')
    put(f'{work}/repeated.json', b'[' + b'{"ph":"X","name":"a","ts":1,"dur":2,"pid":1,"tid":1},' * 2000 + b'{}]')
    put(f'{work}/steps/step_1/{profile}0_12_00_00/vm.xplane.pb', good)
    for name in ('o.json', 'o.html', 'o.scan', 'again.json'):
        put(f'{work}/{name}', b'there already')
    return [('newest_empty', []), ('newest_broken', []), ('one_broken', ['--force']), ('cut.json', ['--force']), ('odd.bin', ['--force']),
            ('repeated.json', []), ('repeated.json', ['--force', '--max-size', '5KB']), ('repeated.json', ['--force', '--max-memory', '5KB']),
            ('cut.json', ['--force', '--strict']), ('newest_empty', ['--force', '--run', 'none']), ('steps', ['--force', '--step-dir', '9']),
            ('no such file', [])]


def applicable(extra, known):
    return [e for i, e in enumerate(extra) if (e if e.startswith('-') else extra[i - 1]) in known]


def follow(work, command, args, option, err):
    """Adds the option that was recommended; the command must accept it."""
    value = [VALUES[option]] if option in VALUES else []
    kept = []
    for i, a in enumerate(args):  # removes earlier uses of the option
        if a == option or (i and args[i - 1] == option and value):
            continue
        kept.append(a)
    p = run(work, command, *kept, option, *value)
    bad = p.returncode == 2 and re.search(r'unknown option|cannot be combined|unexpected', p.stderr)
    check(f'{command} {" ".join(args)}: {option}', not bad, f'{err.strip()}\n  then: {p.stderr.strip()}')
    return p


def said(work):
    n = 0
    helps = {'--latest-good': 'no file of this run', '--keep-going': 'empty file'}
    for source, extra in make_troubles(work):
        for command, form in COMMANDS.items():
            known = options_of(command)
            args = [source if a == 'S' else a for a in form] + applicable(extra, known)
            p = run(work, command, *args)
            for option in sorted(set(OPTION.findall(REFUSALS.sub('', p.stderr)))):
                n += 1
                check(f'{command} knows {option}', option in known, p.stderr)
                q = follow(work, command, args, option, p.stderr)
                if option in helps and helps[option] in p.stderr:
                    check(f'{command} {source} {option} helps', helps[option] not in q.stderr or 'left out' in q.stderr, q.stderr)
    check('said: something was recommended', n > 60, n)


SHARED = {'redact.c': 'convert'}  # contains the messages about --redact of other commands, too
SAYS = re.compile(r'\b(?:tty_fail|tty_say|run_usage|fail|refuse)\s*\(((?:[^()"]|"(?:[^"\\]|\\.)*"|\((?:[^()"]|"(?:[^"\\]|\\.)*")*\))*)\)')


def messages_in(path):
    with open(path) as f:
        text = f.read()
    for call in SAYS.findall(text):
        yield ' '.join(re.findall(r'"((?:[^"\\]|\\.)*)"', call))


def written():
    known = {c: options_of(c) for c in COMMANDS}
    for command in COMMANDS:
        for path in glob.glob(f'{SRC}/cli/{command}.c'):
            for message in messages_in(path):
                own = re.sub(r'tracekit (\w+) (--[a-z-]+)', lambda m: '' if m[2] in options_of(m[1]) else m[0], message)
                name = os.path.basename(path)
                for option in re.findall(r'(?<![\w-])--[a-z][a-z-]+', own):
                    check(f'{name}: {option}', option in known[command] | known.get(SHARED.get(name), set()), message)


def main():
    with tempfile.TemporaryDirectory() as work:
        said(work)
    written()
    return finish()


sys.exit(main())
