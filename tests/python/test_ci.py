"""Tests of tracekit.ci and of action.yml, whose steps are run as GitHub runs them."""
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
import yaml
from tracekit import ci

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def span(name, ts, dur):
    return {"ph": "X", "name": name, "ts": ts, "dur": dur, "pid": 1, "tid": 1}


def write(path, step=100, name="train_step", events=()):
    spans = [span(name, i * 1000, step + i % 3) for i in range(20)]
    path.write_text(json.dumps({"traceEvents": spans + list(events)}), encoding="utf-8")
    return str(path)


def ran(capsys, *arguments):
    status = ci.main(list(arguments))
    return status, capsys.readouterr().out


def parse(line):
    """Reads a workflow command as the runner does: (name, properties, message)."""
    head, _, data = line[2:].partition("::")
    name, _, text = head.partition(" ")

    def plain(value, codes):
        for code, char in codes:
            value = value.replace(code, char)
        return value
    ends = [("%0D", "\r"), ("%0A", "\n")]
    given = dict(pair.split("=", 1) for pair in text.split(",") if "=" in pair)
    return (name, {k: plain(v, ends + [("%3A", ":"), ("%2C", ","), ("%25", "%")]) for k, v in given.items()},
            plain(data, ends + [("%25", "%")]))


@pytest.fixture
def github(tmp_path, monkeypatch):
    for name in ("SUMMARY", "OUTPUT"):
        variable = "GITHUB_STEP_SUMMARY" if name == "SUMMARY" else "GITHUB_OUTPUT"
        monkeypatch.setenv(variable, str(tmp_path / name))
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    return tmp_path


def outputs(folder):
    text = (folder / "OUTPUT").read_text(encoding="utf-8")
    return {name: value for name, _, value in re.findall(r"^(\w+)<<(\w+)\n(.*?)\n\2$", text, re.M | re.S)}


@pytest.mark.parametrize("text", ["plain", "50%", "a,b:c", "two\r\nlines", "%0A", "100%25", "::error::x", "x=y,title=z::"])
def test_annotations_are_read_back(text):
    result = ci.Result("check", text, text, text, "error")
    line = ci.annotation(result)
    assert "\n" not in line and "\r" not in line
    assert parse(line) == ("error", {"file": text, "title": f"tracekit check: {text}"}, text)


def test_status(tmp_path, capsys):
    good = write(tmp_path / "good.json")
    assert ran(capsys, good)[0] == 0
    assert ran(capsys, good, "--assert", "count(train_step) == 20")[0] == 0
    status, out = ran(capsys, good, "--assert", "count(train_step) < 20", "--assert", "count(train_step) > 1")
    assert status == 1 and f"error: {good}: count(train_step) < 20: 20" in out and f"ok: {good}: count(train_step) > 1" in out
    assert ran(capsys, good, "--assert", "gpu_busy > 1%")[0] == 3
    assert ran(capsys, good, "--assert", "nonsense(")[0] == 2
    status, out = ran(capsys, str(tmp_path / "none*.json"))
    assert status == 3 and "no such file" in out
    bad = tmp_path / "bad.json"
    bad.write_text("no trace", encoding="utf-8")
    status, out = ran(capsys, good, str(bad))
    assert status == 3 and f"error: {bad}: can be read: " in out and "it cannot" not in out
    assert ran(capsys, good, "--command", str(tmp_path / "nothing"))[0] == 2


def test_diff(tmp_path, capsys):
    before, same, slow = write(tmp_path / "before.json"), write(tmp_path / "same.json"), write(tmp_path / "slow.json", step=200)
    fail_if = ["--before", before, "--fail-if", "total > 5%"]
    assert ran(capsys, same, *fail_if)[0] == 0
    status, out = ran(capsys, slow, *fail_if)
    assert status == 1 and f"error: {slow}: total > 5%: " in out and "(all, self time)" in out
    assert ran(capsys, slow, "--before", before)[0] == 0  # compares without a condition
    assert ran(capsys, slow, "--before", before, "--fail-if", "nonsense")[0] == 2
    none = str(tmp_path / "none.json")
    assert ran(capsys, same, "--before", none, "--fail-if", "total > 5%")[0] == 3
    status, out = ran(capsys, same, "--before", none, "--fail-if", "total > 5%", "--allow-missing-before")
    assert status == 0 and f"warning: {none}: baseline: " in out
    with pytest.raises(SystemExit):
        ci.main([same, "--fail-if", "total > 5%"])


def test_findings(fixture, tmp_path, capsys, github):
    trace = fixture("xplane/synth/gpu.trace.json.gz")
    assert ran(capsys, trace)[0] == 0
    assert ran(capsys, trace, "--fail-on", "bad")[0] == 1
    off = tmp_path / "off"
    off.write_text("device-idle = off\n", encoding="utf-8")
    assert ran(capsys, trace, "--fail-on", "bad", "--thresholds", str(off))[0] == 0
    assert ran(capsys, trace, "--fail-on", "warning", "--thresholds", str(off))[0] == 1
    page = tmp_path / "pages" / "report.html"
    status, out = ran(capsys, trace, "--fail-on", "bad", "--format", "github", "--html", str(page))
    found = [parse(line) for line in out.split("\n") if line.startswith(("::error", "::warning"))]
    assert status == 1 and [f[0] for f in found] == ["error", "warning"]
    assert found[0][1]["title"] == "tracekit report: device-idle" and "% of the time" in found[0][2]
    assert outputs(github) == {"result": "failed", "html": str(page), "findings": "2"}
    assert page.read_text(encoding="utf-8").lower().startswith("<!doctype html")
    assert r"device\-idle" in (github / "SUMMARY").read_text(encoding="utf-8")


def test_names_from_traces_are_harmless(tmp_path, capsys, github):
    """Names that look like commands, Markdown or HTML have no effect in the log, the annotations or the summary."""
    hostile = ["::error::gotcha", "##[error]gotcha", "```\n# gotcha", "<img src=x>", "|a|b|"]
    before = write(tmp_path / "before.json")
    after = write(tmp_path / "a,b%0A::error::c.json", events=[span(name, 10 + 10 * i, 5) for i, name in enumerate(hostile)])
    status, out = ran(capsys, after, "--before", before, "--format", "github", "--assert", "count(train_step) == 0")
    lines = out.split("\n")
    token = lines[0][len("::stop-commands::"):]
    assert status == 1 and lines[0].startswith("::stop-commands::") and len(token) == 32
    after_log = lines[lines.index(f"::{token}::") + 1:]
    assert "gotcha" in out and not any("gotcha" in line for line in after_log)
    (name, properties, message), = [parse(line) for line in after_log if line]
    assert (name, properties["file"], message) == ("error", os.path.basename(after), "20")
    text = (github / "SUMMARY").read_text(encoding="utf-8")
    fence = re.search(r"^(`{3,})$", text, re.M).group(1)
    table, block = text.split(f"\n{fence}\n")[:2]
    assert len(fence) > 3 and "gotcha" in block
    assert "<" not in table.replace("\\<", "") and "::" not in table


def test_summary_has_a_limit(tmp_path):
    ci.write_summary(str(tmp_path / "summary"), "x" * 80 + "\n" + "line\n" * 1000000)
    assert (tmp_path / "summary").stat().st_size < 1 << 20


def test_junit(tmp_path, capsys, fixture):
    before, slow = write(tmp_path / "before.json"), write(tmp_path / "slow.json", step=200)
    file = tmp_path / "out" / "junit.xml"
    status, _ = ran(capsys, slow, "--before", before, "--fail-if", "total > 5%", "--assert", "count(<&\x01>) == 0", "--junit", str(file))
    suite = ElementTree.parse(file).getroot()
    cases = {c.get("name"): c.find("failure") is None for c in suite}
    assert status == 1 and cases == {"needs no repair": True, "count(<&\ufffd>) == 0": True, "total > 5%": False}
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")


def substitute(text, inputs):
    return re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda m: inputs[m.group(1)], text)


class Action:
    """Runs the steps of action.yml with bash as the runner does."""

    def __init__(self, folder):
        with open(os.path.join(ROOT, "action.yml"), encoding="utf-8") as f:
            self.action = yaml.safe_load(f)
        self.folder = folder

    def run(self, step, **given):
        inputs = {name: str(row.get("default", "")) for name, row in self.action["inputs"].items()}
        given = {name.replace("_", "-"): value for name, value in given.items()}
        assert set(given) <= set(inputs)
        inputs.update(given)
        step = next(s for s in self.action["runs"]["steps"] if s["name"] == step)
        assert step["shell"] == "bash" and "${{" not in step["run"]
        env = {**os.environ, **{k: substitute(v, inputs) for k, v in step["env"].items()}, "RUNNER_TEMP": str(self.folder),
               "GITHUB_WORKSPACE": str(self.folder), "GITHUB_OUTPUT": str(self.folder / "OUTPUT"),
               "GITHUB_STEP_SUMMARY": str(self.folder / "SUMMARY")}
        env.pop("PYTHONPATH", None)
        return subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], env=env, cwd=self.folder,
                              capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def action(tmp_path_factory):
    a = Action(tmp_path_factory.mktemp("action"))
    p = a.run("Install tracekit", package=os.environ["TRACEKIT_WHEEL"], python=sys.executable)
    assert p.returncode == 0, p.stderr
    return a


def test_action(action):
    write(action.folder / "before.json")
    write(action.folder / "same 1.json")
    write(action.folder / "slow.json", step=200)
    p = action.run("Test traces", traces="same*.json\n", **{"assert": "count(train_step) == 20\np50(train_step) < 1ms"},
                   before="before.json", fail_if="total > 5%")
    assert p.returncode == 0, p.stdout + p.stderr
    assert outputs(action.folder) == {"result": "passed", "html": str(action.folder / "tracekit-report.html"), "findings": "0"}
    assert (action.folder / "tracekit-report.html").exists()
    assert "passed: 4, failed: 0" in (action.folder / "SUMMARY").read_text(encoding="utf-8")
    p = action.run("Test traces", traces="slow.json\nsame 1.json", before="before.json", fail_if="total > 5%", html="")
    assert p.returncode == 1 and "::error file=slow.json,title=tracekit diff%3A total > 5%25::" in p.stdout
    p = action.run("Test traces", traces="same 1.json", before="none.json", fail_if="total > 5%", allow_missing_before="true")
    assert p.returncode == 0 and "::warning file=none.json" in p.stdout
    p = action.run("Test traces", traces="$(touch gotcha)\n`touch gotcha`\"; touch gotcha")
    assert p.returncode == 3 and not (action.folder / "gotcha").exists()
    declared = {re.search(r"outputs\.(\w+)", row["value"]).group(1) for row in action.action["outputs"].values()}
    assert declared == set(outputs(action.folder))
