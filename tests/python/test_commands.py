"""Compares functions of the package with the commands that do the same: split, size, list, redact, check, command."""
import json
import os
import pickle
import re
import subprocess
import sys

import pyarrow
import pytest

import tracekit
from tracekit import _command

COMMAND = [os.path.join(os.path.dirname(sys.executable), "tracekit")]
TORCH = "json/torch/ddp4_full/rank0.json.gz"
SMALL = b'[{"ph":"X","pid":1,"tid":7,"ts":0,"dur":2,"name":"a"},{"ph":"X","pid":2,"tid":7,"ts":5,"dur":1,"name":"b"}]'


def command(*words):
    return json.loads(subprocess.run([*COMMAND, *words], check=True, capture_output=True).stdout)


def test_size(fixture):
    file = fixture(TORCH)
    ours, said = tracekit.size(file), command("size", "--json", file)
    assert ours == said and isinstance(ours["kinds"], tracekit.Rows) and ours["kinds"].to_arrow().num_rows == len(said["kinds"])
    assert tracekit.size(file, format="pftrace", level=1) == command("size", "--json", "-f", "pftrace", "--level=1", file)
    t = tracekit.load(file)
    loaded = t.size()
    assert loaded["names"] == said["names"] and loaded["format"] == "json" and abs(loaded["bytes"] - said["bytes"]) < 2000
    assert t.size("xplane")["format"] == "xplane"
    with pytest.raises(FileNotFoundError, match="nosuch.json: cannot open"):
        tracekit.size("nosuch.json")
    with pytest.raises(ValueError):
        tracekit.size(file, format="nosuch")


def test_check(fixture, tmp_path, monkeypatch):
    file = fixture(TORCH)
    good = tracekit.check(file)
    assert good.ok and len(good) == 1 and good[0]["result"] == "holds" and good.raise_for_findings() is good and len(good.findings) == 0
    asserts = ["findings == 0", "count(nosuch) > 3", "gpu_busy > 80%"]
    found = tracekit.check(file, asserts)
    assert [row["result"] for row in found] == ["holds", "holds", "fails", "unknown"] and not found.ok
    assert found["check"] == ["needs no repair", *asserts] and found["value"][2] and [row["check"] for row in found.findings] == asserts[1:]
    assert pyarrow.table(found).column_names == ["input", "check", "result", "value"]
    with pytest.raises(AssertionError, match=r"count\(nosuch\) > 3: fails .*gpu_busy > 80%: unknown") as e:
        found.raise_for_findings()
    assert isinstance(e.value, tracekit.FindingsError) and e.value.code == "finding"
    assert type(pickle.loads(pickle.dumps(e.value))) is tracekit.FindingsError
    broken = tmp_path / "-broken <&>.json"
    broken.write_bytes(SMALL[:-20])
    rows = tracekit.check([broken, tmp_path / "none.json"])
    assert [row["result"] for row in rows] == ["fails", "unknown"] and rows[0]["input"] == str(broken)
    assert "No such file" in rows[1]["value"] and rows.notes
    monkeypatch.chdir(tmp_path)
    assert tracekit.check("-broken <&>.json")[0]["input"] == "-broken <&>.json"
    assert tracekit.load(SMALL).check("count(a) == 1").ok and not tracekit.load(SMALL).check(["count(a) == 2"]).ok
    with pytest.raises(ValueError, match="expected a value") as e:
        tracekit.check(file, "foo<")
    assert e.value.code == "usage"
    with pytest.raises(ValueError, match="thresholds"):
        tracekit.check(file, thresholds="x")


def test_split_and_redact(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.json").write_bytes(SMALL)
    parts = tracekit.split("t.json", "part{}.json", "process")
    assert [tracekit.load(name).info["events"] for name in parts["output"]] == [1, 1]
    t = tracekit.load(SMALL)
    assert len(tracekit.split(t, tmp_path / "again{}.json", "time", every="4us")) == 2 and len(t) == 2
    with pytest.raises(FileExistsError):
        tracekit.split("t.json", "part{}.json", "process")
    with pytest.raises(TypeError, match="rank"):
        tracekit.split(t, "x{}.json", "process", rank=3)
    said = tracekit.redact("t.json", "public.json", "hash", key="k")
    names = {row["name"] for row in tracekit.load("public.json").top()}
    assert said["redacted"]["names"] == 2 and said["events"] == 2 and not names & {"a", "b"}
    tracekit.redact(t, "also.json", "hash", key="k")
    assert {row["name"] for row in tracekit.load("also.json").top()} == names and {row["name"] for row in t.top()} == {"a", "b"}


def test_list(fixture, monkeypatch):
    folder = fixture("json/jax/multihost")
    assert [row["file"] for row in tracekit.list(folder, host="host-1")] == [os.path.join(folder, "host-1.trace.json.gz")]
    assert tracekit.list(folder, deep=True)["events"] == [row["events"] for row in command("list", "--json", "--deep", folder)["files"]]
    monkeypatch.chdir(folder)
    assert len(tracekit.list()) == len(tracekit.list(folder))


def test_merge_chooses_runs(tmp_path):
    for run, name in (("2024_01_01_00_00_00", "old"), ("2024_01_02_00_00_00", "new")):
        path = tmp_path / "plugins" / "profile" / run
        path.mkdir(parents=True)
        (path / "h1.trace.json").write_bytes(SMALL.replace(b'"a"', b'"%s"' % name.encode()))
    for run, name in ((None, "new"), ("2024_01_01", "old")):
        tracekit.merge(tmp_path, tmp_path / "m.json", run=run, align="none", force=True)
        assert name in {row["name"] for row in tracekit.load(tmp_path / "m.json").top()}
    with pytest.raises(TypeError):
        tracekit.merge(tmp_path, tmp_path / "m.json", colour="red")


def test_command(fixture, tmp_path):
    file = fixture(TORCH)
    assert tracekit.command("info", file, "--json") == command("info", "--json", file)
    assert tracekit.command("--version").startswith(f"tracekit {tracekit.__version__}")
    tracekit.command("scan", "-q", file, "-o", tmp_path / "a.scan")
    assert tracekit.command("plan", tmp_path / "a.scan", "-o", tmp_path / "x.plan", "--json")
    with pytest.raises(tracekit.Error, match="nosuch") as e:
        tracekit.command("nosuch")
    assert e.value.code == "usage"
    with pytest.raises(FileExistsError):
        tracekit.command("scan", file, "-o", tmp_path / "a.scan")


def test_without_the_command(monkeypatch):
    monkeypatch.setattr(_command, "path", lambda: None)
    with pytest.raises(tracekit.Error, match="not installed"):
        tracekit.size("x.json")
    report = tracekit.load(SMALL).report()
    assert "<iframe" not in report._repr_html_()


def test_report_in_a_notebook(fixture, tmp_path):
    file = fixture("json/torch/ddp4_full/rank0.json.gz")
    for report in (tracekit.report(file), tracekit.load(file).report()):
        assert isinstance(report, dict) and isinstance(report["ranks"], tracekit.Rows) and report["ranks"][0]["rank"] == 0
        shown = report._repr_html_()
        assert shown.startswith("<iframe sandbox srcdoc=") and shown.count("<iframe") == 1
        assert not re.search("<script[^>]", report.to_html())  # no script comes from elsewhere
        assert "rank0" in report.to_html() and "/tracekit-" not in report.to_html()
        again = pickle.loads(pickle.dumps(report))
        assert again == report and "<iframe" not in again._repr_html_() and "<table" in again._repr_html_()
        assert json.loads(json.dumps(report, default=list))["inputs"] == 1
    subprocess.run([*COMMAND, "report", file, "-q", "--html", tmp_path / "r.html"], check=True)
    assert tracekit.report(file).to_html() == (tmp_path / "r.html").read_text()
    with pytest.raises(ValueError, match="severity"):
        report.raise_for_findings("awful")
    t = tracekit.load(SMALL)
    closed = t.report()
    t.close()
    assert "<iframe" not in closed._repr_html_() and "<table" in closed._repr_html_()
    evil = tracekit.load(SMALL.replace(b'"a"', b'"</iframe>\\"><script>x</script>"')).report()
    assert "<script" not in evil._repr_html_() and evil._repr_html_().count("</iframe>") == 1


def test_findings_of_a_report(fixture):
    kernels = [{"ph": "X", "pid": 0, "tid": 7, "ts": 1000 * i, "dur": 100, "name": f"k{i % 4}", "cat": "kernel",
                "args": {"device": 0, "stream": 7, "correlation": i}} for i in range(40)]
    report = tracekit.load(json.dumps(kernels).encode()).report()
    assert report["findings"]
    with pytest.raises(tracekit.FindingsError, match="findings: "):
        report.raise_for_findings()
    quiet = tracekit.load(SMALL).report()
    assert quiet.raise_for_findings() is quiet


def test_timeline(fixture):
    t = tracekit.load(b'[{"ph":"X","pid":1,"tid":7,"ts":0,"dur":100,"name":"outer","cat":"kernel"},'
                      b'{"ph":"X","pid":1,"tid":7,"ts":60,"dur":40,"name":"<inner>","cat":"user_annotation"}]')
    from tracekit import _view

    start = t.sql("SELECT min(ts) AS ts FROM event")[0]["ts"]
    rows = t.sql(_view.QUERY.format(start=start, bin=repr(100_000 / _view.BINS), n=_view.BINS))
    bins = {}
    for row in rows:
        total = row["first"] + row["last"] + row["middle"] * max(0, row["e"] - row["b"] - 1)
        bins[row["kind"]] = bins.get(row["kind"], 0) + total
    selfs = {row["name"]: row["self_ns"] for row in t.top()}
    assert sorted(bins.values()) == pytest.approx(sorted(selfs.values()))
    shown = t._repr_html_()
    assert "<svg" in shown and shown.count("<rect") >= _view.BINS and "<inner>" not in shown
    for path in (TORCH, "xplane/mlp_train", "perfetto/two_hosts.pftrace.gz"):
        assert "<svg" in tracekit.load(fixture(path))._repr_html_()
    assert "<svg" not in tracekit.load(b"[]")._repr_html_()
