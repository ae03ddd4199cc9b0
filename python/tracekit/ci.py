"""Tests traces in CI: runs check, diff and report, prints the results in the form of the CI service, and sets the exit status.

    python -m tracekit.ci trace.json.gz --assert 'p95(step) < 150ms'
    python -m tracekit.ci after.json.gz --before before.json.gz --fail-if 'total > 5%' --html report.html

On GitHub, results are annotations, a job summary and outputs of the step; --junit writes a file for other services.
action.yml runs this module.
"""
from __future__ import annotations

import argparse
import glob
import json
import os
import re
import secrets
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import _command

SUMMARY_BYTES = 1000000  # GitHub refuses a summary above 1 MiB
SEVERITIES = {"never": (), "bad": ("bad",), "warning": ("bad", "warning")}


@dataclass
class Result:
    """A test of a trace: `level` is ok, warning, or error for a failed one."""
    command: str
    file: str
    name: str
    text: str
    level: str


@dataclass
class Run:
    """Results, the worst exit status, and what the commands printed."""
    command: str
    results: List[Result] = field(default_factory=list)
    status: int = 0
    log: List[str] = field(default_factory=list)
    table: str = ""

    def call(self, *arguments: str) -> Tuple[int, str, str]:
        """Runs the command. Returns (exit status, standard output, standard error)."""
        try:
            p = subprocess.run([self.command, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               check=False)
        except OSError as e:
            return 2, "", f"{self.command}: {e.strerror}"
        out, said = p.stdout.decode("utf-8", "replace"), p.stderr.decode("utf-8", "replace").strip()
        self.log += [line for line in said.split("\n") if line and line not in self.log]
        return p.returncode, out, said

    def add(self, command: str, file: str, name: str, text: str, level: str) -> None:
        self.results.append(Result(command, file, name, text, level))

    def fail(self, status: int) -> None:
        self.status = max(self.status, status)


# ---- the commands ----

def find_command() -> str:
    return os.environ.get("TRACEKIT") or _command.path() or "tracekit"


def expand(paths: Sequence[str]) -> Tuple[List[str], List[str]]:
    """Returns (files, patterns and names without matches). Addresses and @lists are returned unchanged."""
    found: List[str] = []
    missing: List[str] = []
    for path in paths:
        names = [path] if "://" in path or path.startswith("@") or os.path.exists(path) else sorted(glob.glob(path, recursive=True))
        found += names
        if not names:
            missing.append(path)
    return found, missing


def _details(said: str, file: str) -> str:
    """Returns the messages about a file that explain why it failed."""
    start = f"tracekit: {file}: "
    lines = [line[len(start):] for line in said.split("\n") if line.startswith(start)]
    return "; ".join(line for line in lines if not line.startswith(("fact: ", "note: ")))


def _judge(run: Run, command: str, out: str, said: str, file: str) -> bool:
    """Adds the test cases of JUnit XML that a command printed. Returns false if there is none."""
    try:
        cases = ElementTree.fromstring(out).iter("testcase")
    except ElementTree.ParseError:
        return False
    for case in cases:
        fault = next((c for c in case if c.tag in ("failure", "error")), None)
        where, name = file or case.get("classname", ""), case.get("name", "")
        text = "" if fault is None else fault.get("message", "")
        details = _details(said, where) if name in ("needs no repair", "can be read") else ""
        run.add(command, where, name, details or text, "ok" if fault is None else "error")
    return True


def check(run: Run, traces: Sequence[str], asserts: Sequence[str], thresholds: Optional[str]) -> None:
    limits = [f"--thresholds={thresholds}"] if thresholds and asserts else []
    status, out, said = run.call("check", "--annotations=junit", *(f"--assert={a}" for a in asserts), *limits, "--", *traces)
    run.fail(status)
    if not _judge(run, "check", out, said, "") or (status and not any(r.level == "error" for r in run.results)):
        run.add("check", traces[0], "check", said or f"status {status}", "error")


def diff(run: Run, before: Sequence[str], traces: Sequence[str], fail_if: Sequence[str]) -> None:
    """Compares the traces with the baseline. Adds the results of --fail-if, and stores the table of changes for the summary."""
    sides = [*(f"--before={b}" for b in before), *(f"--after={t}" for t in traces)]
    status, table, said = run.call("diff", "--top=20", *sides)
    run.table = table
    if status == 0 and fail_if:
        status, out, said = run.call("diff", "--annotations=junit", *(f"--fail-if={f}" for f in fail_if), *sides)
        if _judge(run, "diff", out, said, traces[0]) and (status == 0 or any(r.level == "error" for r in run.results)):
            run.fail(status)
            return
    if status:
        run.fail(status)
        run.add("diff", traces[0], "diff", said or f"status {status}", "error")


def report(run: Run, traces: Sequence[str], thresholds: Optional[str], html: Optional[str], fail_on: str) -> None:
    """Adds the findings, and writes the page. Leaves out unreadable traces, because check has already failed for them."""
    if html:
        os.makedirs(os.path.dirname(html) or ".", exist_ok=True)
    limits = [f"--thresholds={thresholds}"] if thresholds else []
    page = [f"--html={html}", "--force"] if html else []
    status, out, said = run.call("report", "--json", "--keep-going", *page, *limits, "--", *traces)
    try:
        told: Dict[str, Any] = json.loads(out)
    except ValueError:
        run.fail(status or 3)
        run.add("report", traces[0], "report", said or f"status {status}", "error")
        return
    run.fail(status)
    for f in told["findings"]:
        fails = f["severity"] in SEVERITIES[fail_on]
        run.fail(1 if fails else 0)
        text = f"{f['text']}; {f['advice']}" if f.get("advice") else str(f["text"])
        run.add("report", f.get("input") or traces[0], f["id"], text, "error" if fails else "warning")


# ---- GitHub ----

def escape_data(text: str) -> str:
    """Escapes the message of a workflow command, which ends with the line."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """Escapes a property of a workflow command, which ends with a colon or comma."""
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")


def _in_workspace(file: str) -> str:
    """Returns the file relative to the repository if it is inside it, because annotations refer to files of the repository."""
    root = os.environ.get("GITHUB_WORKSPACE")
    path = os.path.realpath(file)
    return os.path.relpath(path, os.path.realpath(root)) if root and path.startswith(os.path.realpath(root) + os.sep) else file


def annotation(r: Result) -> str:
    return (f"::{r.level} file={escape_property(_in_workspace(r.file))},title={escape_property(f'tracekit {r.command}: {r.name}')}"
            f"::{escape_data(r.text or r.name)}")


def print_github(run: Run) -> None:
    """Prints the log, with workflow commands disabled so that text from traces cannot act as such. Then prints the annotations,
    errors first."""
    token = secrets.token_hex(16)
    print(f"::stop-commands::{token}")
    print("\n".join(run.log + [run.table]))
    print(f"::{token}::")
    for level in ("error", "warning"):
        for r in run.results:
            if r.level == level:
                print(annotation(r))


def escape_markdown(text: str) -> str:
    """Escapes all punctuation, so that names from traces are never links, images or HTML."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", " ".join(text.split()))


def summary(run: Run, html: Optional[str]) -> str:
    """Returns the results as Markdown."""
    counts = {level: sum(r.level == level for r in run.results) for level in ("ok", "warning", "error")}
    lines = [f"## tracekit: {'failed' if run.status else 'passed'}", "",
             f"passed: {counts['ok']}, failed: {counts['error']}, warnings: {counts['warning']}", ""]
    shown = [r for level in ("error", "warning", "ok") for r in run.results if r.level == level]
    if shown:
        lines += ["| | trace | test | result |", "|---|---|---|---|"]
    for r in shown:
        cells = (r.level, _in_workspace(r.file), r.name, r.text)
        lines.append("| " + " | ".join(escape_markdown(c) for c in cells) + " |")
    if run.table:
        fence = "`" * max([3] + [len(ticks) + 1 for ticks in re.findall("`+", run.table)])
        lines += ["", "### Change since the baseline", "", fence, run.table.rstrip("\n"), fence]
    if html:
        lines += ["", f"The report is in {escape_markdown(html)}."]
    return "\n".join(lines) + "\n"


def _append(path: Optional[str], text: str) -> None:
    if path:
        with open(path, "a", encoding="utf-8") as f:
            f.write(text)


def write_summary(path: Optional[str], text: str) -> None:
    data = text.encode("utf-8", "replace")
    if len(data) > SUMMARY_BYTES:
        data = data[:SUMMARY_BYTES].rpartition(b"\n")[0] + b"\n\nThe summary is too long and ends here.\n"
    _append(path, data.decode("utf-8", "replace"))


def write_outputs(path: Optional[str], values: Dict[str, str]) -> None:
    """Sets outputs of the step. A random delimiter prevents values from setting other outputs."""
    for name, value in values.items():
        end = secrets.token_hex(16)
        _append(path, f"{name}<<{end}\n{value}\n{end}\n")


# ---- other services ----

def print_text(run: Run) -> None:
    for r in run.results:
        print(f"{r.level}: {r.file}: {r.name}{': ' + r.text if r.text else ''}")
    if run.table:
        print(run.table, end="")


def junit(run: Run) -> str:
    """Returns the results as JUnit XML; warnings are passed test cases with output."""
    def clean(text: str) -> str:
        return re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", text)
    suite = ElementTree.Element("testsuite", name="tracekit", tests=str(len(run.results)),
                                failures=str(sum(r.level == "error" for r in run.results)))
    for r in run.results:
        case = ElementTree.SubElement(suite, "testcase", classname=clean(f"{r.command} {r.file}"), name=clean(r.name))
        if r.level == "error":
            ElementTree.SubElement(case, "failure", message=clean(r.text or r.name))
        elif r.text:
            ElementTree.SubElement(case, "system-out").text = clean(r.text)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, encoding="unicode") + "\n"


# ---- the program ----

def _parse(argv: Optional[Sequence[str]]) -> argparse.Namespace:
    p = argparse.ArgumentParser(prog="python -m tracekit.ci", description="Tests traces in CI.")
    p.add_argument("traces", nargs="+", metavar="TRACE", help="anything that names traces, and patterns")
    p.add_argument("--assert", dest="asserts", action="append", default=[], metavar="EXPR", help="as in tracekit check; repeatable")
    p.add_argument("--before", action="append", default=[], metavar="TRACE", help="baseline to compare with; repeatable")
    p.add_argument("--fail-if", action="append", default=[], metavar="EXPR", help="as in tracekit diff; repeatable")
    p.add_argument("--allow-missing-before", action="store_true", help="warn instead of failing if there is no baseline")
    p.add_argument("--fail-on", choices=list(SEVERITIES), default="never", help="fail on findings of this severity (default: never)")
    p.add_argument("--thresholds", metavar="FILE", help="thresholds of findings")
    p.add_argument("--html", metavar="FILE", help="write the report as a page")
    p.add_argument("--junit", metavar="FILE", help="write the results as JUnit XML")
    p.add_argument("--format", choices=["github", "text"], default="github" if os.environ.get("GITHUB_ACTIONS") == "true" else "text",
                   help="form of the output (default: github if $GITHUB_ACTIONS is true)")
    p.add_argument("--command", default=find_command(), help="the command tracekit")
    a = p.parse_args(argv)
    if a.fail_if and not a.before:
        p.error("--fail-if requires --before")
    return a


def _test(run: Run, a: argparse.Namespace) -> None:
    traces, missing = expand(a.traces)
    for path in missing:
        run.fail(3)
        run.add("check", path, "can be read", "there is no such file", "error")
    if not traces:
        return
    check(run, traces, a.asserts, a.thresholds)
    before, missing = expand(a.before)
    for path in missing:
        run.fail(0 if a.allow_missing_before else 3)
        run.add("diff", path, "baseline", "there is no such file; nothing was compared", "warning" if a.allow_missing_before else "error")
    if before and not missing:
        diff(run, before, traces, a.fail_if)
    report(run, traces, a.thresholds, a.html, a.fail_on)


def main(argv: Optional[Sequence[str]] = None) -> int:
    a = _parse(argv)
    run = Run(a.command)
    _test(run, a)
    page = a.html if a.html and os.path.exists(a.html) else None
    if a.format == "github":
        print_github(run)
        write_summary(os.environ.get("GITHUB_STEP_SUMMARY"), summary(run, page))
        write_outputs(os.environ.get("GITHUB_OUTPUT"), {
            "result": "failed" if run.status else "passed", "html": os.path.abspath(page) if page else "",
            "findings": str(sum(r.command == "report" and r.name != "report" for r in run.results))})
    else:
        for line in run.log:
            print(line, file=sys.stderr)
        print_text(run)
    if a.junit:
        os.makedirs(os.path.dirname(a.junit) or ".", exist_ok=True)
        with open(a.junit, "w", encoding="utf-8") as f:
            f.write(junit(run))
    return run.status


if __name__ == "__main__":
    sys.exit(main())
