#!/usr/bin/env python3
"""make fuzz-python [TIME=SECONDS] [SEED=N] - calls the package with random arguments on random traces, some of them damaged.

The extension module is built with the address sanitizer, so that an invalid access ends the process. A call may return, or raise an
exception that a caller can expect; SystemError means that the module broke a rule of Python's C API, and any exception that is
neither the package's nor one of ALLOWED is a fault, too. Prints the seed of a failing round: SEED=N ROUNDS=1 repeats it.
"""
import faulthandler
import os
import random
import sys
import tempfile
import threading
import time
import traceback
import warnings

import tracekit
from tracekit import _native

ALLOWED = (tracekit.Error, TypeError, ValueError, OverflowError, KeyError, IndexError, AttributeError, MemoryError, OSError,
           ImportError, ZeroDivisionError)


class Stop(Exception):
    """Raised by callbacks; the call must raise it unchanged."""


# Values of types that a signature does not accept, and values at the limits of accepted types.
ODD = [None, True, False, 0, 1, -1, 2**31, 2**32 - 1, 2**63, -2**63, 2**64, 1e308, float("nan"), float("inf"), 0.5, "", "a", "*", "\0",
       "a\0b", "\udc80", "\U0010ffff", "x" * 5000, "[" * 500, "(" * 500, "name=*", "dur>1us", "kind=kernel", "depth=0", "!!", "a=b=c",
       "3..5", "..", "1e9", "5MB", "10%", "-1s", "2024-01-01", b"", b"\0", b"{}", [], [None], ["a"], ["\0"], (), {}, {"a": 1}, {1: 2},
       set(), object(), range(3), slice(None), slice(1, 3), slice(None, None, -1), lambda *a: None, lambda: 1 / 0, print, int]
WORDS = ["name", "cat", "kind", "track", "args", "arg.x", "ts", "dur", "rank", "depth", "class", "module", "phase", "total", "self",
         "count", "json", "perfetto", "xplane", "csv", "auto", "none", "keep", "hash", "events", "slice", "thread_track", "process",
         "step", "*step*", "ProfilerStep*", "every", "stream", "size", "time"]
QUERIES = ["select * from slice limit 5", "select count(*) from event", "select", "select 1; select 2", "select name, dur from slice",
           "create table t(a)", "drop table slice", "pragma x", "select * from nosuch", "with recursive r(i) as (select 1 union all "
           "select i + 1 from r) select * from r", "select zeroblob(100), x'00', 1.5, null", "select * from args", "explain select 1"]


class Fuzz:
    def __init__(self, seed, files, folder):
        self.random = random.Random(seed)
        self.files = files
        self.folder = folder
        self.traces = []

    # ---- values ----

    def value(self):
        kind = self.random.random()
        if kind < 0.5: return self.random.choice(ODD)
        if kind < 0.75: return self.random.choice(WORDS)
        if kind < 0.8: return self.random.choice(QUERIES)
        if kind < 0.85: return [self.value() for _ in range(self.random.randrange(4))]
        if kind < 0.9: return self.random.choice(self.files)
        if kind < 0.95: return self.output()
        return self.random.choice(self.traces) if self.traces else None

    def output(self):
        return os.path.join(self.folder, "out%d%s" % (self.random.randrange(4), self.random.choice(
            [".json", ".json.gz", ".pftrace", ".xplane.pb", "", ".csv", "-%d.json", "/", ".html"])))

    def damaged(self):
        """Returns the bytes of a trace, with a few changed."""
        with open(self.random.choice(self.files), "rb") as f:
            content = bytearray(f.read())
        for _ in range(self.random.choice([0, 1, 3, 20])):
            if content: content[self.random.randrange(len(content))] = self.random.randrange(256)
        return bytes(content[:self.random.randrange(len(content) + 1)] if self.random.random() < 0.2 else content)

    def keywords(self, names):
        chosen = self.random.sample(names, min(len(names), self.random.choice([0, 0, 1, 1, 2, 4])))
        return {name: self.progress() if name == "progress" else self.value() for name in chosen}

    def progress(self):
        """Returns a callback that raises, or that uses a trace from within a call."""
        def uses(*_):
            if self.traces: self.call(self.random.choice(self.traces), self.random.choice(["info", "close", "top", "copy"]))

        def stops(*_):
            raise Stop
        return self.random.choice([None, True, uses, stops, lambda *a: None])

    # ---- calls ----

    def attempt(self, function, *args, **options):
        try:
            return function(*args, **options)
        except Stop:
            return None
        except ALLOWED:
            return None
        except RecursionError:
            return None

    def call(self, trace, name):
        function = self.attempt(getattr, trace, name)
        if not callable(function): return function
        names = parameters(function)
        required = [self.value() for _ in range(self.random.choice([0, 1, 1, 2]))]
        if name == "sql": required = [self.random.choice(QUERIES)]
        if name in ("save", "shrink"): required = [self.output()]
        options = self.keywords(names[len(required):])
        if name == "sql": options["timeout"] = 0.2
        result = self.attempt(function, *required, **options)
        self.look(result)
        return result

    def look(self, result):
        """Uses a result as notebooks do."""
        if isinstance(result, tracekit.Trace):
            self.traces = (self.traces + [result])[-6:]
            return
        self.attempt(repr, result)
        for name in ("_repr_html_", "to_arrow", "__arrow_c_stream__", "columns", "rows"):
            member = getattr(result, name, None)
            if callable(member): self.attempt(member)
        self.attempt(len, result)
        self.attempt(lambda: [row for row, _ in zip(result, range(3))])
        self.attempt(lambda: result[self.value()])

    def load(self):
        options = self.keywords(parameters(tracekit.load)[1:]) if self.random.random() < 0.3 else {}
        source = self.damaged() if self.random.random() < 0.6 else self.random.choice(self.files)
        self.look(self.attempt(tracekit.load, source, **options))

    def function(self):
        name = self.random.choice(["merge", "extract", "report", "diff", "list", "split", "redact", "size", "check"])
        function = getattr(tracekit, name)
        inputs = [self.random.choice(self.files) for _ in range(self.random.randrange(1, 4))]
        required = [inputs if self.random.random() < 0.7 else self.value()]
        if name in ("merge", "extract", "redact"): required.append(self.output())
        if name == "diff": required = [self.random.choice(self.files), self.random.choice(self.files)]
        if name == "split": required = [inputs[0], self.output(), self.random.choice(["step", "rank", "time", "size"])]
        self.look(self.attempt(function, *required, **self.keywords(parameters(function)[len(required):])))

    def native(self):
        """Calls the extension module itself, with containers of the right types and arbitrary contents."""
        options = {self.random.choice(NATIVE_KEYS): self.value() for _ in range(self.random.randrange(5))}
        names = [self.random.choice(self.files)] + ([self.value()] if self.random.random() < 0.2 else [])
        t = self.attempt(_native.load, names, {})
        which = self.random.randrange(8)
        if which == 0: self.attempt(_native.load, names, options)
        if which == 1: self.attempt(_native.load_bytes, self.damaged(), "x", options)
        if which == 2: self.attempt(_native.stream, [("a", [self.value() for _ in range(3)], "l", None)])
        if which == 3: self.attempt(lambda: _native.batch_slice(_native.batch(self.value()), self.value(), self.value()))
        if t is None: return
        name = self.random.choice(["filter", "rebase", "redact", "scopes", "top", "tree", "report", "sql", "table", "save"])
        first = {"sql": [self.random.choice(QUERIES)], "table": [self.random.randrange(-1, 12)], "save": [None]}.get(name, [])
        if name == "sql": options["timeout_ms"] = 200
        if name == "save": options["name"] = self.random.choice(["out", "out.json.gz", "\0", "a/../b.pftrace"])
        table = self.attempt(getattr(t, name), *first, options)
        if name == "table" and table is not None:
            b = self.attempt(_native.batch, table)
            if b is not None: self.attempt(_native.batch_slice, b, self.random.randrange(-2, 5), self.random.randrange(-2, 99))
            self.attempt(_native.batch, table)

    def threads(self):
        """Uses one trace from several threads, of which one closes it."""
        if not self.traces: return
        t = self.random.choice(self.traces)
        names = [self.random.choice(METHODS) for _ in range(3)] + ["close"]
        running = [threading.Thread(target=Fuzz(self.random.random(), self.files, self.folder).call, args=(t, n)) for n in names]
        for one in running: one.start()
        for one in running: one.join()

    def round(self):
        self.load()
        for _ in range(self.random.randrange(1, 8)):
            kind = self.random.random()
            if kind < 0.15: self.load()
            elif kind < 0.3: self.function()
            elif kind < 0.5: self.native()
            elif kind < 0.55: self.threads()
            elif self.traces: self.call(self.random.choice(self.traces), self.random.choice(METHODS))


def parameters(function):
    import inspect
    try:
        return [p for p in inspect.signature(function).parameters if p not in ("self", "options")]
    except (TypeError, ValueError):
        return []


# `view` starts a server, `command` other programs.
METHODS = sorted(n for n in dir(tracekit.Trace) if (not n.startswith("_") or n in (
    "__len__", "__repr__", "__iter__", "__getitem__", "__contains__", "_repr_html_")) and n not in ("view", "command"))
NATIVE_KEYS = ["format", "max_memory", "max_size", "threads", "strict", "step_name", "sched", "run", "host", "rank", "step_dir",
               "output_format", "level", "pretty", "force", "no_loss", "dry_run", "where", "time", "steps", "names", "map",
               "keep_args", "key", "by", "sort", "arg", "cols", "min_count", "fold", "per", "path", "columns", "ps", "typed", "to",
               "at", "nth", "scale", "shift_ps", "progress", "name", "max_rows"]


def main():
    faulthandler.enable()
    warnings.simplefilter("ignore")
    fixtures = os.environ["FIXTURES"]
    files = sorted(os.path.join(at, n) for kind in ("json", "xplane", "perfetto", "other") for at, _, names in
                   os.walk(os.path.join(fixtures, kind)) for n in names if os.path.getsize(os.path.join(at, n)) < 30_000)
    seed = int(os.environ.get("SEED") or time.strftime("%Y%m%d"))
    last = time.monotonic() + float(os.environ.get("TIME") or 60)
    rounds, most = 0, int(os.environ.get("ROUNDS") or 1 << 62)
    with tempfile.TemporaryDirectory() as above:
        folder = os.path.join(above, "here")  # inputs may be "..", which is read whole
        os.mkdir(folder)
        os.chdir(folder)
        note = os.path.join(os.environ.get("B", above), "fuzz-python.round")
        while rounds < most and time.monotonic() < last:
            with open(note, "w") as f: f.write(str(seed + rounds))
            faulthandler.dump_traceback_later(60, exit=True)
            try:
                Fuzz(seed + rounds, files, folder).round()
            except BaseException:
                traceback.print_exc()
                print(f"SEED={seed + rounds} ROUNDS=1 repeats this\n0 passed, 1 failed")
                return 1
            rounds += 1
        os.chdir("/")
    faulthandler.cancel_dump_traceback_later()
    print(f"seed {seed}: {rounds} rounds\n1 passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
