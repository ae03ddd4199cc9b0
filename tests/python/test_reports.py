"""Checks that report and diff agree with the command, and that progress is shown."""
import json
import os
import subprocess
import sys

import pytest

import tracekit

COMMAND = [os.path.join(os.path.dirname(sys.executable), "tracekit")]


def command(*words):
    return json.loads(subprocess.run([*COMMAND, *words], check=True, capture_output=True).stdout)


def same(ours, said):
    """True if a value of Python is that of the command's JSON, which rounds shares and rates to three decimals."""
    if isinstance(said, dict):
        return isinstance(ours, dict) and ours.keys() == said.keys() and all(same(ours[k], said[k]) for k in said)
    if isinstance(said, list):
        return len(ours) == len(said) and all(map(same, ours, said))
    if isinstance(said, float):
        return ours == pytest.approx(said, rel=1e-12, abs=6e-4)
    return ours == said


RUNS = ["json/torch/ddp4_full", "json/torch/ddp2_handler", "xplane/mlp_train", "perfetto/two_hosts.pftrace.gz"]


@pytest.mark.parametrize("run", RUNS)
def test_report(fixture, run):
    said, ours = command("report", "--json", fixture(run)), tracekit.report(fixture(run))
    assert ours.pop("notes") is not None
    assert same(ours, said)


def test_report_of_a_trace(fixture):
    run = fixture("json/torch/ddp4_full")
    alone = tracekit.load(f"{run}/rank0.json.gz").report(brief=True)
    assert [r["rank"] for r in alone["ranks"]] == [0]
    with pytest.raises(tracekit.Error):
        tracekit.report("nosuch")


def test_top_and_tree(fixture):
    file = fixture("json/torch/ddp4_full/rank0.json.gz")
    t = tracekit.load(file)
    assert same(t.top(), command("top", "--json", file)["rows"])
    assert same(t.tree(), command("tree", "--json", file)["paths"])


def test_diff(fixture):
    files = sorted(os.listdir(fixture("json/torch/ddp2_handler")))
    before, after = ([fixture(f"json/torch/ddp2_handler/{f}") for f in files[i::2]] for i in (0, 1))
    ours = tracekit.diff(before[:1], after[:1])
    assert ours["rows"] and ours["rows"] == sorted(ours["rows"], key=lambda r: -abs(r["delta_ns"]))
    for r in ours["rows"]:
        assert r["delta_ns"] == pytest.approx(r["after"]["total_ns"] - r["before"]["total_ns"], abs=1)
    said = command("diff", "--json", before[0], after[0])
    assert same(ours["rows"], said["rows"]) and same(ours["all"], said["all"]) and same(ours["step"], said["step"])
    assert all(r["delta_ns"] == 0 for r in tracekit.diff(before[:1], before[:1])["rows"])
    with pytest.raises(ValueError):
        tracekit.diff(before[:1], after[:1], by="kind")


def test_shown_progress(fixture, capsys):
    bar = tracekit.Progress("reading")
    bar(0, 0)
    bar(50_000_000, 100_000_000)
    bar(100_000_000, 100_000_000)
    bar.close()
    said = capsys.readouterr().err
    assert "reading" in said and "50%" in said and said.endswith("\n")
    t = tracekit.load(fixture("json/torch/ddp4_full/rank0.json.gz"), progress=True)
    assert t.info["events"] > 0


def test_notebook_progress():
    class Handle:
        shown = []

        def update(self, what):
            Handle.shown.append(what.data)

    bar = tracekit.Progress("reading", display=lambda what: Handle.shown.append(what.data) or Handle(),
                            html=lambda text: type("H", (), {"data": text}))
    bar(1, 4)
    bar(4, 4)
    bar.close()
    assert "<progress" in Handle.shown[0] and 'value="1"' in Handle.shown[0] and Handle.shown[-1] == ""
