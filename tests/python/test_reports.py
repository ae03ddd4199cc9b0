"""Checks that report and diff return the figures of the command, and that progress is shown."""
import json
import os
import shutil
import subprocess
import sys

import pytest

import tracekit

COMMAND = [os.path.join(os.path.dirname(sys.executable), "tracekit")]


def command(*words):
    return json.loads(subprocess.run([*COMMAND, *words], check=True, capture_output=True).stdout)


def same(ours, said):
    """True if a value in Python equals that in the command's JSON, which rounds shares and rates to three decimals."""
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


def test_diff_of_runs(fixture, tmp_path):
    files = sorted(fixture(f"json/torch/ddp2_handler/{f}") for f in os.listdir(fixture("json/torch/ddp2_handler")))
    ours = tracekit.diff(*files[:3], names=["a", "b", "c"])
    said = command("diff", "--json", *files[:3], "--label", "a", "--label", "b", "--label", "c")
    assert [run["name"] for run in ours["runs"]] == ["a", "b", "c"]
    assert same(ours["runs"], said["runs"]) and same(ours["rows"], said["rows"]) and same(ours["all"], said["all"])
    for i in (10, 9, 1, 2):
        shutil.copy(files[0], tmp_path / f"run{i}.json.gz")
    trends = tracekit.diff(tmp_path, over=True)
    assert [run["name"] for run in trends["runs"]] == [f"run{i}.json.gz" for i in (1, 2, 9, 10)]
    assert not any(row["shifts"] for row in trends["rows"])
    with pytest.raises(ValueError):
        tracekit.diff(files[0])
    with pytest.raises(ValueError):
        tracekit.diff(files[0], files[1], names=["a"])
    with pytest.raises(TypeError):
        tracekit.diff(tracekit.load(files[0]), files[1], files[2])


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


def x(name, tid, ts, dur, cat, pid=1, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}


def replayed():
    """Returns a trace with one launch of a graph, whose four kernels ran on separate streams, and an op with a scope."""
    events = [x("decode", 1, 0, 50, "user_annotation"), x("cudaGraphLaunch", 1, 5, 5, "cuda_runtime", correlation=9)]
    events += [x("k", 20 + i, 60 + 10 * i, 5, "kernel", 0, **{"graph id": 1, "graph node id": 1 << 32 | i + 1, "correlation": 9, "stream": 20 + i, "device": 0})
               for i in range(4)]
    return {"traceEvents": events + [x("dot", 2, 100, 5, "op", tf_op="jit(step)/layer_3/dot_general")]}


def test_graphs(tmp_path):
    path = tmp_path / "g.json"
    path.write_text(json.dumps(replayed()))
    subprocess.run([*COMMAND, "convert", "-q", path, "--fold-graphs", "-o", tmp_path / "c.json"], check=True)
    t = tracekit.load(path)
    t = t.fold_graphs()
    lanes = {r["name"] for r in t.top("track", where="kind == kernel")}
    assert len(lanes) == 1 and lanes == {r["name"] for r in tracekit.load(tmp_path / "c.json").top("track", where="kind == kernel")}
    tracekit.merge([path, path], tmp_path / "m.json", fold_graphs=True)
    assert len(tracekit.load(tmp_path / "m.json").top("track", where="kind == kernel")) == 2
    assert {r["name"] for r in t.top(where="launched_by ~ 'decode'")} == {"k"}
    assert {r["name"] for r in t.top("phase", where="kind == kernel")} == {"decode"}


def test_scopes(tmp_path):
    path = tmp_path / "g.json"
    path.write_text(json.dumps(replayed()))
    t = tracekit.load(path)
    assert "layer_3" in {r["name"] for r in t.scopes("tf_op").top()} - {r["name"] for r in t.top()}
    with pytest.raises(ValueError, match="nosuch"):
        t.scopes("nosuch")


def test_sources_of_a_run(tmp_path):
    for run, text in (("2024_01_01_00_00_00", json.dumps(replayed())), ("2024_01_02_00_00_00", "")):
        folder = tmp_path / "plugins" / "profile" / run
        folder.mkdir(parents=True)
        (folder / "h1.trace.json").write_text(text)
    assert tracekit.load(tmp_path, latest_good=True).info["events"] == 7
    assert tracekit.report(tmp_path, latest_good=True)["ranks"][0]["kernels"] == 4
    begin, end = ({"ph": ph, "pid": 1, "tid": 1, "name": "cut", "ts": ts} for ph, ts in (("B", 1), ("E", 9)))
    for i, event in enumerate((begin, end)):
        (tmp_path / f"piece{i}.json").write_text(json.dumps([event]))
    joined = tracekit.load([tmp_path / "piece0.json", tmp_path / "piece1.json"], join=True)
    assert joined.top()[0]["total_ns"] == 8000


def test_step_name(tmp_path):
    path = tmp_path / "s.json"
    path.write_text(json.dumps([x(f"iter {i}", 1, 100 * i, 80, "loop") for i in range(3)]))
    assert len(tracekit.load(path, step_name="iter *").events(["step"]).to_arrow().column("step").unique()) == 3
    assert len(tracekit.report(path, step_name="/^iter/")["ranks"][0]["steps"]) == 3
