"""Measures the cost of a pandas frame with five million events and eight columns, in addition to the frame itself.

Time is CPU time; memory is the peak while the frame was created, minus the memory before.
Run by `make test-wheel`; by hand: large.py [N]."""
import os
import resource
import sys
import time

import pandas

import tracekit

N = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000
COLUMNS = ["name", "cat", "ts", "dur", "process", "track", "depth", "type"]
SECONDS, TIMES = 1.5, 1.3


def content(n):
    names = [f"kernel_{i:04d}" for i in range(2000)]
    part = 100_000
    for at in range(0, n, part):
        rows = ('{"ph":"X","name":"%s","cat":"kernel","pid":%d,"tid":%d,"ts":%d,"dur":%d},\n'
                % (names[i % 2000], i % 8, i // 8 % 4, i * 3, i % 7) for i in range(at, min(at + part, n)))
        yield "".join(rows).encode()


def resident(peak):
    if peak:
        with open("/proc/self/status", encoding="ascii") as f:
            return next(int(line.split()[1]) << 10 for line in f if line.startswith("VmHWM"))
    with open("/proc/self/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def used():
    return sum(resource.getrusage(resource.RUSAGE_SELF)[:2])


t = tracekit.load(b"[" + b"".join(content(N)) + b"{}]")
assert t.info["events"] == N
# exclude imports from the measurement
tracekit.load(b'[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1}]').events(COLUMNS).to_pandas()
before, began = resident(False), used()
with open("/proc/self/clear_refs", "w", encoding="ascii") as f:
    f.write("5")  # resets the peak
frame = t.events(COLUMNS).to_pandas()
seconds, grown = used() - began, resident(True) - before
own = int(frame.memory_usage(index=True, deep=True).sum())
assert len(frame) == N and list(frame.columns) == COLUMNS
assert int(frame.dur.sum()) == 1000 * sum(i % 7 for i in range(7)) * (N // 7) + 1000 * sum(i % 7 for i in range(N % 7))
print(f"large: {N} events: {seconds:.2f} s of CPU, {own / 1e6:.0f} MB in {len(COLUMNS)} columns, {grown / own:.2f} times that at most, "
      f"pandas {pandas.__version__}")
if N == 5_000_000:
    assert seconds < SECONDS, f"more than {SECONDS} s"
assert grown < TIMES * own, f"more than {TIMES} times the columns' own size"
