"""Results of `report`, which shows where a run spent its time, and of `check`."""
from __future__ import annotations

import html
import os
import tempfile
import xml.etree.ElementTree as ElementTree
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple

from . import _command
from ._errors import Error, FindingsError
from ._tables import Row, Rows, Table

HEIGHT = 640
FRAME = '<iframe sandbox srcdoc="{page}" style="width:100%;height:{height}px;border:1px solid #888" title="tracekit report"></iframe>'
SEVERITIES = ("warning", "bad")


def page(words: Iterable[Any], sources: Sequence[str]) -> str:
    """Returns the HTML page of `tracekit report` for files."""
    with tempfile.TemporaryDirectory(prefix="tracekit-") as folder:
        file = os.path.join(folder, "report.html")
        _command.output(["report", "--quiet", "--allow-empty", f"--html={file}", *words, "--", *sources])
        with open(file, encoding="utf-8") as f:
            return f.read()


def _tables(report: Dict[str, Any]) -> str:
    return "".join(f"<h4>{html.escape(name)}</h4>{table._repr_html_()}" for name, table in report.items()
                   if isinstance(table, Table) and len(table))


class Report(Dict[str, Any]):
    """Summary of where a run spent its time: a dict of tables and values, which a notebook shows as the page of
    `tracekit report --html`.

    The command creates the page when it is first shown, in a sandboxed frame. If this fails, because files were removed or the
    trace is closed, the tables are shown instead.

    Parameters
    ----------
    values : dict
        Keys as in `tracekit report --json`.
    make : callable, optional
        Function that returns the HTML of the page.
    """

    def __init__(self, values: Row, make: Optional[Callable[[], str]] = None) -> None:
        super().__init__(values)
        self._make = make
        self._page: Optional[str] = None

    def to_html(self) -> str:
        """Returns the page of `tracekit report --html`.

        Returns
        -------
        str
            A self-contained page, which loads nothing from the network. Its only script zooms drawings and sorts tables.

        Raises
        ------
        Error
            The page cannot be made.
        ValueError
            The trace is closed.

        Examples
        --------
        >>> open("report.html", "w").write(t.report().to_html())
        """
        if self._page is None:
            if not self._make:
                raise Error("usage", "the report: has no source to make a page of")
            self._page = self._make()
        return self._page

    def raise_for_findings(self, severity: str = "warning") -> Report:
        """Raises an error if the report has findings, for use in tests.

        Parameters
        ----------
        severity : {"warning", "bad"}
            Minimum severity of the findings.

        Returns
        -------
        Report
            This report, if it has no findings.

        Raises
        ------
        FindingsError
            The report has findings; the message lists them.

        Examples
        --------
        >>> tracekit.report("logs").raise_for_findings("bad")
        """
        if severity not in SEVERITIES:
            raise ValueError(f"severity is one of {', '.join(SEVERITIES)}, not {severity!r}")
        least = SEVERITIES.index(severity)
        found = [row for row in self.get("findings") or () if SEVERITIES.index(row["severity"]) >= least]
        if found:
            raise FindingsError("finding", f"{len(found)} findings: " + "; ".join(str(row["text"]) for row in found))
        return self

    def __reduce__(self) -> Tuple[Any, ...]:
        return Report, (dict(self),)

    def _repr_html_(self) -> str:
        try:
            return FRAME.format(page=html.escape(self.to_html()), height=HEIGHT)
        except (Error, OSError, ValueError):
            return _tables(self)


class Checks(Rows):
    """Result of `check`: a table with a row per input and assertion.

    Columns: `input`; `check` ("needs no repair", or the assertion); `result` ("holds", "fails" or "unknown"); `value`, the
    deciding value or the reason.
    """

    def __init__(self, rows: Iterable[Row] = (), notes: Sequence[str] = ()) -> None:
        super().__init__(rows, columns=("input", "check", "result", "value"))
        self._notes = list(notes)

    @property
    def ok(self) -> bool:
        """True if every check holds."""
        return all(row["result"] == "holds" for row in self)

    @property
    def findings(self) -> Rows:
        """Rows of the checks that fail or are unknown."""
        return self._like(row for row in self if row["result"] != "holds")

    @property
    def notes(self) -> List[str]:
        """Messages of the reader: repairs, with their counts and byte offsets, and properties of the traces."""
        return list(self._notes)

    def raise_for_findings(self) -> Checks:
        """Raises an error unless every check holds, for use in tests.

        Returns
        -------
        Checks
            This table, if every check holds.

        Raises
        ------
        FindingsError
            A check fails or is unknown; the message lists all of them.

        Examples
        --------
        >>> tracekit.check("trace.json.gz", "p95(step) < 150ms").raise_for_findings()
        """
        found = ["{input}: {check}: {result}".format(**row) + (f" ({row['value']})" if row["value"] else "") for row in self.findings]
        if found:
            raise FindingsError("finding", "; ".join(found))
        return self


def _reason(name: str, lines: Sequence[str]) -> Optional[str]:
    return next((line[len(name) + 2:] for line in lines if line.startswith(name + ": ")), None)


def checked(words: Iterable[Any]) -> Checks:
    """Runs `tracekit check` and reads its JUnit report."""
    status, text, lines = _command.run(["check", "--annotations=junit", *words])
    try:
        cases = list(ElementTree.fromstring(text.replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")).iter("testcase"))
    except ElementTree.ParseError:
        raise _command.error(status or 3, lines) from None
    rows: List[Row] = []
    for case in cases:
        bad = next(iter(case), None)
        name, check = case.get("classname") or "", case.get("name") or ""
        value = None if bad is None else bad.get("message")
        if check == "can be read":
            value = _reason(name, lines) or value
        rows.append({"input": name, "check": check, "value": value,
                     "result": "holds" if bad is None else "fails" if bad.tag == "failure" else "unknown"})
    return Checks(rows, lines)
