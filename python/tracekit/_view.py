"""HTML of a trace for notebooks."""
from __future__ import annotations

import base64
import html
import json
from typing import TYPE_CHECKING, Optional

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


def summary(trace: Trace) -> str:
    i = trace.info
    rows = "".join(f"<tr><td style='text-align:left'>{html.escape(r['name'] or '(no name)')}</td><td>{r['count']}</td>"
                   f"<td>{milliseconds(r['total_ns'])}</td><td>{milliseconds(r['self_ns'])}</td></tr>" for r in trace.top()[:10])
    return (f"<b>{html.escape(i['source'] or 'trace')}</b>: {i['events']:,} events of {i['processes']} processes, "
            f"{milliseconds((i['end_ps'] - i['start_ps']) / 1e3)} ms"
            "<table><tr><th style='text-align:left'>name</th><th>count</th><th>total ms</th><th>self ms</th></tr>" + rows + "</table>")
