"""HTML of a trace for notebooks."""
from __future__ import annotations

import base64
import html
import json
from typing import TYPE_CHECKING, Dict, List, Optional, Tuple

from ._errors import Error

if TYPE_CHECKING:
    from . import Trace

PERFETTO = "https://ui.perfetto.dev"

# The viewer answers PONG to a PING once it can accept a trace.
PAGE = """<div style="font:13px sans-serif">%(title)s
<a download="%(file)s" href="data:application/octet-stream;base64,%(data)s">download</a></div>
<iframe id="tk%(id)s" src="%(viewer)s" style="width:100%%;height:%(height)dpx;border:1px solid #888"></iframe>
<script>(function () {
  const frame = document.getElementById("tk%(id)s"), bytes = Uint8Array.from(atob("%(data)s"), c => c.charCodeAt(0));
  const ping = setInterval(() => frame.contentWindow.postMessage("PING", "%(viewer)s"), 200);
  window.addEventListener("message", function pong(m) {
    if (m.source !== frame.contentWindow || m.data !== "PONG") return;
    clearInterval(ping);
    window.removeEventListener("message", pong);
    frame.contentWindow.postMessage({perfetto: {buffer: bytes.buffer, title: %(name)s, fileName: %(name)s}}, "%(viewer)s");
  });
})();</script>"""


class Html:
    """HTML that a notebook displays."""

    def __init__(self, text: str) -> None:
        self._text = text

    def _repr_html_(self) -> str:
        return self._text


def frame(trace: Trace, limit: Optional[int], height: int = 600) -> Html:
    content = trace.to_bytes("perfetto", compress=True)
    if limit is not None and len(content) > limit:
        raise ValueError(f"the trace is {len(content)} bytes, above the limit of {limit}: filter or shrink it, "
                         "or save it and open the file")
    name = (trace.info["source"] or "trace").rsplit("/", 1)[-1]
    return Html(PAGE % {"id": f"{id(content):x}", "viewer": PERFETTO, "height": height, "title": html.escape(name),
                        "file": html.escape(name) + ".pftrace.gz", "name": json.dumps(name).replace("</", "<\\/"),
                        "data": base64.b64encode(content).decode()})


def milliseconds(ns: float) -> str:
    return f"{ns / 1e6:,.3f}"


# Self time per kind and bin. A span within one bin is added to that bin; a longer span is divided: `first` and `last` are the
# parts in its first and last bin, `middle` is the part in each bin between them.
QUERY = """
SELECT kind, b, e, sum(self_dur * CASE WHEN b = e OR dur = 0 THEN 1.0 ELSE ({start} + (b + 1) * {bin} - ts) / dur END) AS first,
  sum(CASE WHEN b = e THEN 0.0 ELSE self_dur * (ts + dur - {start} - e * {bin}) / dur END) AS last,
  sum(CASE WHEN b = e THEN 0.0 ELSE self_dur * {bin} / dur END) AS middle
FROM (SELECT kind, self_dur, ts, dur, min({n} - 1, CAST((ts - {start}) / {bin} AS INT)) AS b,
  min({n} - 1, CAST((ts + dur - {start}) / {bin} AS INT)) AS e FROM event WHERE type = 'span' AND self_dur > 0)
GROUP BY kind, b, e"""
BINS, ROW_HEIGHT, MOST_SPANS, MOST_KINDS = 160, 14, 1_000_000, 8  # a million take about a second


def timeline(trace: Trace) -> str:
    """Returns an SVG with a line per kind of event: its self time over the length of the trace, relative to its maximum."""
    i = trace.info
    length = (i["end_ps"] - i["start_ps"]) / 1e3
    if not 0 < i["spans"] <= MOST_SPANS or length <= 0:
        return ""
    start = trace.sql("SELECT min(ts) AS ts FROM event")[0]["ts"]
    kinds: Dict[str, List[float]] = {}
    for row in trace.sql(QUERY.format(start=start, bin=repr(length / BINS), n=BINS)):
        bins, b, e = kinds.setdefault(row["kind"], [0.0] * BINS), max(0, row["b"]), max(0, row["e"])
        bins[b] += row["first"]
        for k in range(b + 1, e):
            bins[k] += row["middle"]
        if e > b:
            bins[e] += row["last"]
    lines = sorted(kinds.items(), key=lambda line: -sum(line[1]))[:MOST_KINDS]
    return _svg(lines, length)


def _svg(lines: List[Tuple[str, List[float]]], length_ns: float) -> str:
    left, width = 90, 4
    parts = []
    for row, (kind, bins) in enumerate(lines):
        y, most = row * ROW_HEIGHT, max(bins) or 1.0
        parts.append(f'<text x="0" y="{y + 11}">{html.escape(kind or "(none)")}</text><g><title>{html.escape(kind or "(none)")}: '
                     f"{milliseconds(sum(bins))} ms</title>")
        parts += [f'<rect x="{left + k * width}" y="{y + 1}" width="{width}" height="{ROW_HEIGHT - 2}" fill-opacity="{value / most:.2f}"/>'
                  for k, value in enumerate(bins) if value > 0.005 * most]
        parts.append("</g>")
    height = len(lines) * ROW_HEIGHT + 16
    end = left + BINS * width
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{end}" height="{height}" font-family="sans-serif" font-size="11" '
            f'fill="#2f6fde" role="img" aria-label="self time by kind">{"".join(parts)}<text x="{left}" y="{height - 3}">0</text>'
            f'<text x="{end}" y="{height - 3}" text-anchor="end">{milliseconds(length_ns)} ms</text></svg>')


def _timeline(trace: Trace) -> str:
    try:
        return timeline(trace)
    except (Error, ArithmeticError, LookupError, TypeError):
        return ""  # the summary is shown without it


def summary(trace: Trace) -> str:
    i = trace.info
    rows = "".join(f"<tr><td style='text-align:left'>{html.escape(r['name'] or '(no name)')}</td><td>{r['count']}</td>"
                   f"<td>{milliseconds(r['total_ns'])}</td><td>{milliseconds(r['self_ns'])}</td></tr>" for r in trace.top()[:10])
    return (f"<b>{html.escape(i['source'] or 'trace')}</b>: {i['events']:,} events of {i['processes']} processes, "
            f"{milliseconds((i['end_ps'] - i['start_ps']) / 1e3)} ms<div>{_timeline(trace)}</div>"
            "<table><tr><th style='text-align:left'>name</th><th>count</th><th>total ms</th><th>self ms</th></tr>" + rows + "</table>")
