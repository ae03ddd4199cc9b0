"""Checks that every public callable has a docstring in numpy's form with the parameters of its signature, and that its
examples run."""
import inspect
import json
import os
import re
import shutil
import subprocess
import sysconfig

import pytest

import tracekit

COMMAND = os.path.join(sysconfig.get_path("scripts"), "tracekit")
PLAIN = {"__enter__", "__exit__", "__len__", "__bool__", "__iter__", "__contains__", "__getitem__", "__reversed__", "__eq__",
         "__arrow_c_stream__"}  # called by Python: a sentence is enough
CLASSES = [tracekit.Trace, tracekit.Table, tracekit.Rows, tracekit.Report, tracekit.Checks, tracekit.jax.Recording, type(tracekit.load(b"[]").events())]


def functions():
    """Returns (name, function) of all public functions, and methods of public classes."""
    found = {name: getattr(tracekit, name) for name in tracekit.__all__ if inspect.isfunction(getattr(tracekit, name))}
    for cls in CLASSES:
        found.update({f"{cls.__name__}.{name}": f for name, f in vars(cls).items() if inspect.isfunction(f) and not name.startswith("_")})
    found.update({"torch.handler": tracekit.torch.handler, "jax.trace": tracekit.jax.trace})
    return sorted(found.items())


def sections(text):
    """Splits a docstring into the sections that numpy's form underlines."""
    parts = re.split(r"^([A-Z][a-z]+)\n(-+)$", inspect.cleandoc(text), flags=re.M)
    for name, line in zip(parts[1::3], parts[2::3]):
        assert len(name) == len(line), name
    return {"": parts[0].strip(), **dict(zip(parts[1::3], parts[3::3]))}


def described(section):
    """Returns the names in a section of parameters: "a, b : type"."""
    return [name.strip().lstrip("*") for line in section.splitlines() if re.match(r"\S", line) for name in line.split(" : ")[0].split(",")]


def signature(function):
    return [name for name in inspect.signature(function).parameters if name != "self"]


def test_the_public_names_are_found():
    names = [name for name, _ in functions()]
    assert {"load", "check", "Trace.filter", "Table.to_pandas", "Rows.to_dicts", "Report.to_html"} <= set(names) and len(names) > 45


@pytest.mark.parametrize("name,function", functions(), ids=[name for name, _ in functions()])
def test_function(name, function):
    found = sections(function.__doc__ or "")
    assert re.match(r"[A-Z][^\n]*\.", found[""].split("\n\n")[0].replace("\n", " ")), "begins with a sentence"
    parameters = described(found.get("Parameters", ""))
    assert sorted(parameters) == sorted(signature(function)), name
    returns = inspect.signature(function).return_annotation
    assert ("Returns" in found or "Yields" in found) == (returns not in (None, "None")), "Returns, unless it returns None"
    assert ">>> " in found.get("Examples", ""), "an example"


@pytest.mark.parametrize("cls", CLASSES + [tracekit.Error], ids=lambda cls: cls.__name__)
def test_class(cls):
    assert cls.__doc__ and cls.__doc__.strip().splitlines()[0].rstrip()
    for name, value in vars(cls).items():
        if isinstance(value, property) and not name.startswith("_"):
            assert value.fget.__doc__, name
        if name in PLAIN and inspect.isfunction(value):
            assert value.__doc__, name
    for other in (tracekit.Error, tracekit.FindingsError, tracekit.EmptyResult, tracekit.Progress):
        assert other.__doc__
    described_here = sections(cls.__doc__).get("Parameters")
    if described_here:
        assert described(described_here) == signature(cls.__init__)


def test_a_missing_parameter_is_found():
    def wrong(a, b):
        """Does something.

        Parameters
        ----------
        a : int
            First.
        """

    assert described(sections(wrong.__doc__)["Parameters"]) != signature(wrong)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Creates the files that the examples read."""
    from conftest import FIXTURES

    path = tmp_path_factory.mktemp("examples")
    torch, made = f"{FIXTURES}/json/torch/ddp4_full", str(path)
    for name in ("logs", "logdir"):
        shutil.copytree(f"{FIXTURES}/json/torch/ddp2_handler", f"{made}/{name}")
    for name in ("rank0.json.gz", "rank1.json.gz", "rank3.json.gz"):
        shutil.copy(f"{torch}/{name}", made)
    shutil.copy(f"{torch}/rank3.json.gz", f"{made}/logs")
    for name in ("trace.json.gz", "before", "after", "after.json.gz"):
        shutil.copy(f"{torch}/rank0.json.gz", f"{made}/{name}")
    shutil.copy(f"{FIXTURES}/xplane/mlp_train/vm.xplane.pb", made)
    tracekit.merge([f"{torch}/rank0.json.gz", f"{torch}/rank1.json.gz"], f"{made}/merged.json.gz", align="none")
    for rank in range(2):
        subprocess.run([COMMAND, "scan", "-q", f"{made}/rank{rank}.json.gz", "-o", f"{made}/rank{rank}.scan"], check=True)
    return path


def examples():
    found = [(name, f.__doc__) for name, f in functions()]
    return [(f"{name}-{i}", line) for name, text in found for i, line in enumerate(re.findall(r"^ *>>> (.*)$", text, re.M))]


@pytest.mark.parametrize("name,line", examples(), ids=[name for name, _ in examples()])
def test_example(name, line, folder, tmp_path, monkeypatch):
    if "s3://" in line or name.startswith("jax"):
        compile(line, name, "exec")  # it needs a network, or jax
        return
    for entry in os.listdir(folder):
        os.symlink(folder / entry, tmp_path / entry)
    if name.startswith(("merge", "Trace.save")):
        os.unlink(tmp_path / "merged.json.gz")
    if "split" in name:
        [os.unlink(tmp_path / f"rank{rank}.json.gz") for rank in (0, 1, 3)]
    monkeypatch.chdir(tmp_path)
    t = tracekit.load("trace.json.gz")
    if "scopes" in name:
        t = tracekit.load(json.dumps([{"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 2, "name": "a", "args": {"tf_op": "x/y"}}]).encode())
    exec(compile(line, name, "exec"), {"tracekit": tracekit, "t": t, "json": json, "recording": tracekit.jax.Recording("logs")})
