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


def test_report(fixture):
    run = fixture("json/torch/ddp4_full")
    said, ours = command("report", "--json", run), tracekit.report(run)
    assert len(ours["ranks"]) == len(said["ranks"]) == 4
    for a, b in zip(ours["ranks"], said["ranks"]):
        assert a["rank"] == b["rank"]
        assert a["times"]["window_ps"] == a["times"]["busy_ps"] + a["times"]["idle_ps"]
        assert len(a["steps"]) == a["step"]["count"]
    assert {k["name"] for k in ours["kernels"]} >= {k["name"] for k in said.get("kernels", [])}
    alone = tracekit.load(f"{run}/rank0.json.gz").report(brief=True)
    assert [r["rank"] for r in alone["ranks"]] == [0]
    with pytest.raises(tracekit.Error):
        tracekit.report("nosuch")


def test_diff(fixture):
    files = sorted(os.listdir(fixture("json/torch/ddp2_handler")))
    before, after = ([fixture(f"json/torch/ddp2_handler/{f}") for f in files[i::2]] for i in (0, 1))
    ours = tracekit.diff(before[:1], after[:1])
    assert ours["rows"] and ours["rows"] == sorted(ours["rows"], key=lambda r: -abs(r["delta_ps"]))
    for r in ours["rows"]:
        assert r["delta_ps"] == pytest.approx(r["total_ps"][1] - r["total_ps"][0], abs=1)
    same = tracekit.diff(before[:1], before[:1])
    assert all(r["delta_ps"] == 0 for r in same["rows"])
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
