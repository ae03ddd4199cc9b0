#!/usr/bin/env python3
"""Tests the SQL prompt on a terminal: statements, prompt commands, completion, history, interrupts."""
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import termios
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + '/../support')
from verdict import check, finish

TRACEKIT = os.path.abspath(os.environ['TRACEKIT'])
TRACE = os.path.abspath(os.environ['FIXTURES']) + '/json/torch/ddp4_full/rank0.json.gz'
EDITS = b'libedit.so' in open(TRACEKIT, 'rb').read()  # linked, or loaded by this name
WAIT = 60
NOTICED = 1.5  # seconds; a missed interrupt ends the command after one second
FLUSHES = 5  # of standard output: three prompts and two answers


class Session:
    """The command at its prompt, on a pseudo-terminal."""

    def __init__(self, home, term='xterm', **more):
        env = {k: v for k, v in os.environ.items() if not k.startswith('XDG_')} | more
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(TRACEKIT, ['tracekit', 'sql', TRACE], dict(env, HOME=home, TERM=term, COLUMNS='100', NO_COLOR='1', LC_ALL='C.UTF-8'))
        self.at, self.edits = b'', EDITS and term != 'dumb'
        self.until('tracekit> ')

    def read(self, seconds):
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        try:
            more = os.read(self.fd, 65536)
        except OSError:
            return False
        self.at += more
        return bool(more)

    def drain(self):
        while self.read(0):
            pass

    def waits(self):
        """True if the prompt accepts keys: libedit shows the prompt before it sets up the terminal, which until then drops some
        keys."""
        return not self.edits or not termios.tcgetattr(self.fd)[3] & termios.ICANON

    def until(self, end, shown=''):
        """Waits until the terminal text, without escapes, ends with `end` and contains `shown`; returns the text."""
        deadline = time.monotonic() + WAIT
        while time.monotonic() < deadline:
            text = self.text()
            if text.rstrip(' ').endswith(end.rstrip(' ')) and shown in text and self.waits():
                break
            self.read(0.02)
        return self.text()

    def text(self):
        return re.sub('\033\\[[0-9;?]*[A-Za-z]|\033[()=>].?|\x07', '', self.at.decode('utf-8', 'replace')).replace('\r', '')

    def say(self, text, end='tracekit> ', shown=''):
        """Types text, and returns the output up to the next prompt."""
        self.at = b''
        os.write(self.fd, text.encode())
        while not self.at and self.read(WAIT):
            pass
        return self.until(end, shown)

    def close(self):
        os.write(self.fd, b'\x04')
        while self.read(WAIT):
            pass
        for _ in range(10 * WAIT):
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                break
            time.sleep(0.1)
        else:
            os.kill(self.pid, signal.SIGKILL)
            status = os.waitpid(self.pid, 0)[1]
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


def statements(home, term):
    s = Session(home, term)
    check(f'{term}: an answer', re.search(r'\b15511\b', s.say('SELECT count(*) FROM slice;\n')) is not None, s.text())
    check(f'{term}: a statement of two lines', '   ...> ' in s.say('SELECT 6 *\n', '   ...> ') and '42' in s.say('7;\n'), s.text())
    check(f'{term}: an error ends its statement alone', 'no such table' in s.say('SELECT 1 FROM absent;\n') and '43' in s.say('SELECT 43;\n'), s.text())
    check(f'{term}: .tables', 'thread_track' in s.say('.tables\n'), s.text())
    check(f'{term}: .schema', 'ts' in s.say('.schema slice;\n') and 'dur' in s.text(), s.text())
    check(f'{term}: .schema of what is none', 'syntax' not in s.say(".schema x'y\n"), s.text())
    check(f'{term}: .mode', '{"a": 5}' in s.say('.mode jsonl\nSELECT 5 AS a;\n', '{"a": 5}\ntracekit> '), s.text())
    check(f'{term}: .mode of what is none', "unknown mode 'xml'" in s.say('.mode xml\n'), s.text())
    check(f'{term}: .help', '.schema TABLE' in s.say('.help\n'), s.text())
    check(f'{term}: a line that is no command', "unknown command" in s.say('.quiet\n'), s.text())
    check(f'{term}: an interrupt forgets the statement', '   ...> ' in s.say('SELECT 1 +\n', '   ...> '), s.text())
    check(f'{term}: and the next one is run', '{"44": 44}' in (s.say('\x03') and s.say('SELECT 44;\n')), s.text())
    check(f'{term}: the end', s.close() == 0)


def interrupted_before_reading(home, term):
    """Checks that an interrupt between the display of the prompt and the read of the command does not end the command."""
    library = f'{home}/interrupt.so'
    subprocess.run([*os.environ['CC'].split(), '-D_GNU_SOURCE', '-shared', '-fPIC', '-o', library,
                    f'{os.environ["SRC"]}/tests/preload/interrupt.c', '-ldl'], check=True)
    asan = os.environ.get('ASAN_OPTIONS', '') + ':verify_asan_link_order=0'
    sessions = [Session(home, term, LD_PRELOAD=library, INTERRUPT=str(n + 1), ASAN_OPTIONS=asan) for n in range(FLUSHES)]
    time.sleep(NOTICED)
    for s in sessions:
        s.drain()
        s.say('SELECT 48;\n')
    time.sleep(NOTICED)
    for s in sessions:
        s.drain()
    alive = sum('49' in s.say('SELECT 7 * 7;\n') and s.close() == 0 for s in sessions)
    check(f'{term}: interrupts just before a line is read', alive == FLUSHES, f'{alive} of {FLUSHES}')


def editing(home):
    s = Session(home)
    check('a table is completed', '"n": 15511' in s.say('.mode jsonl\n') + s.say('SELECT count(*) AS n FROM slice_wi\t;\n'), s.text())
    check('a column is completed', 'parent_id' in s.say('SELECT parent_i\t FROM slice LIMIT 1;\n'), s.text())
    check('a word after a point is completed', 'slice.arg_set_id' in s.say('SELECT slice.arg_set_\t FROM slice LIMIT 1;\n'), s.text())
    check('several are listed', 'thread_slice' in s.say('SELECT 1 FROM thread_\t', 'thread_', 'thread_track'), s.text())
    s.say('\x15SELECT 45 AS x;\n')
    check('a command of the prompt is completed', 'thread_track' in s.say('.tab\t\n'), s.text())
    check('a former line', '{"x": 45}' in s.say('\033[A\033[A\n'), s.text())
    check('letters of several bytes', '"é"' in s.say(".mode csv\n") + s.say("SELECT 'éé\x7f' AS e;\n"), s.text())
    s.say('SELECT 46 AS kept;\n')
    check('the end', s.close() == 0)
    path = f'{home}/.local/state/tracekit/sql_history'
    check('former lines are kept, for their owner alone', os.path.exists(path) and os.stat(path).st_mode & 0o77 == 0)
    s = Session(home)
    check('a line of an earlier session', '46' in s.say('\033[A\n'), s.text())
    check('lines of an earlier session are found', '45' in s.say('\x12AS x\n\n'), s.text())
    s.close()


def main():
    with tempfile.TemporaryDirectory() as home:
        statements(home, 'xterm')
        statements(home, 'dumb')
        for term in ('xterm', 'dumb'):
            interrupted_before_reading(home, term)
        if EDITS:
            editing(home)
        else:
            print('SKIPPED: editing and former lines: the command was built without libedit')
        s = Session('/dev/null')
        check('without a home nothing is kept', '47' in s.say('SELECT 47;\n') and s.close() == 0, s.text())
    return finish()


if __name__ == '__main__':
    sys.exit(main())
