"""Helpers of the comparisons: running the command, one engine per thread, a table of results."""
import os
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'support'))
from exceptions import Exceptions  # noqa: E402
from engine import Engine  # noqa: E402

SECONDS = 600
THREADS = 2  # each engine needs one core and, for a large trace, a gigabyte of memory


class Refused(Exception):
    """The command failed."""


def tracekit(*args):
    p = subprocess.run([os.environ['TRACEKIT'], *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       timeout=SECONDS)
    if p.returncode != 0:
        raise Refused(f'{args[0]}: status {p.returncode}: {p.stderr.decode("utf-8", "replace").strip()[:300]}')
    return p.stdout.decode('utf-8', 'replace')


class Engines:
    """One engine per calling thread."""

    def __init__(self, queries):
        self.queries, self.own, self.all = queries, threading.local(), []

    def mine(self):
        if not hasattr(self.own, 'engine'):
            self.own.engine = Engine(self.queries)
            self.all.append(self.own.engine)
        return self.own.engine

    def close(self):
        for engine in self.all:
            engine.close()


class Results:
    """Counts, prints and stores results; consults the exceptions before reporting a failure."""

    def __init__(self, report, exceptions='exceptions.tsv'):
        self.exceptions = Exceptions(os.path.join(HERE, exceptions))
        self.passed = self.failed = 0
        self.report = report

    def say(self, line):
        print(line, flush=True)
        print(line, file=self.report, flush=True)

    def judge(self, label, found, figures='', stats=()):
        """Records `found`: {comparison: fault or ''}. An exception applies to the path, or to an error that the engine itself
        reports."""
        names = [label, *(f'stat:{name}' for name in stats)]
        bad, excused = [], []
        for what, fault in found.items():
            reasons = [r for r in (self.exceptions.reason(name, what, bool(fault)) for name in names) if r]
            if fault:
                (excused if reasons else bad).append((what, fault))
        self.passed += not bad
        self.failed += bool(bad)
        note = f'  [{" ".join(what for what, _ in excused)}]' if excused else ''
        self.say(f'{figures} {"FAIL" if bad else "ok":4} {label}{note}')
        for what, fault in bad:
            self.say(f'      {what}: {fault}')

    def close(self):
        for pattern, what, reason in self.exceptions.needed():
            self.say(f'exception: {pattern} {what}: {reason}')
        for row in self.exceptions.needless():
            self.say(f'exceptions.tsv: not needed: {row}')
            self.failed += 1
        self.say(f'{self.passed} passed, {self.failed} failed')
        return 1 if self.failed else 0
