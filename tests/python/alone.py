"""Tests the package without any other package: load, query, save."""
import importlib.util
import os
import subprocess
import sys
import tempfile

import tracekit

FIXTURES = os.path.join(os.path.dirname(__file__), "..", "..", "fixtures")

for name in ("numpy", "pandas", "pyarrow", "cffi"):
    assert importlib.util.find_spec(name) is None, f"{name} is installed: this is no empty environment"
t = tracekit.load(os.path.join(FIXTURES, "json/jax/multihost"))
assert t.info["events"] > 0 and t.top()[0]["total_ns"] > 0
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "x.pftrace")
    assert t.save(path)["events"] == t.info["events"]
    assert tracekit.load(path).info["format"] == "perfetto"
command = subprocess.run([sys.executable, "-m", "tracekit", "--version"], capture_output=True, text=True, check=True).stdout
assert command.splitlines()[0] == f"tracekit {tracekit.__version__}", command
print("alone: ok")
