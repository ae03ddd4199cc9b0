"""Profiler traces of JAX, PyTorch, XLA, Chrome and Perfetto: load, query, filter, merge and convert.

    import tracekit

    t = tracekit.load("logs")                        # a file, a run directory or an archive; several ranks become one trace
    t.events().to_pandas()                           # or polars.DataFrame(t.events()), pyarrow.table(t.events())
    t.top(by="name")[:10]                            # where the time went
    t.filter("kind == 'kernel'").save("kernels.pftrace")
    tracekit.merge(["rank0.json.gz", "rank1.json.gz"], "merged.pftrace")

Timestamps in tables are integer nanoseconds since the epoch or, with unit="ps", exact picoseconds since `info["origin_ns"]`.
`top` and `tree` return picoseconds. Several threads may use one trace; they wait for each other.
"""
import os as _os

from . import _native
from ._errors import Error
from ._progress import Progress, shown as _shown
from ._tables import Table
from ._view import frame as _frame, summary as _summary

__all__ = ["Error", "Progress", "Table", "Trace", "diff", "extract", "list", "load", "merge", "report", "__version__"]
__version__ = _native.version

_native.set_error(Error)
_list = list

_BY = ("name", "cat", "kind", "rank", "process", "track", "stream", "step", "arg.KEY", "phase", "op", "module")
_SORT = ("total", "self", "union", "count", "mean", "min", "p50", "p95", "max", "name")
_ALIGN = ("auto", "clock", "collectives", "marker", "start", "none")
_GROUP_BY = ("rank", "host", "kind")
_NAMES = ("keep", "hash", "map")
_SPLIT = ("step", "rank", "process", "time", "size")
_TABLES = ("events", "tracks", "flows", "args", "steps", "collectives")


def _word(word, words, what):
    if word not in words:
        raise ValueError(f"{what} is one of {', '.join(words)}, not {word!r}")
    return words.index(word)


def _texts(value):
    """Converts a string, an iterable or None to a list of strings or None."""
    if value is None or isinstance(value, str):
        return value if value is None else [value]
    return [str(v) for v in value]


def _ranges(value):
    """Converts a number, a string such as "3..5", a range or an iterable of them to the list of range strings that the library
    parses."""
    if value is None:
        return None
    if isinstance(value, range):
        return [f"{value[0]}..{value[-1]}"] if value.step == 1 and value else [str(n) for n in value]
    if isinstance(value, (int, str)):
        return [str(value)]
    return [text for v in value for text in _ranges(v)]


def _offsets(value):
    """Converts offsets to strings such as "3=+1.5ms"; integers in a dict are nanoseconds."""
    if isinstance(value, dict):
        return [f"{who}={by}ns" if isinstance(by, int) else f"{who}={by}" for who, by in value.items()]
    return _texts(value)


def _names(sources):
    """Converts one path or an iterable of paths to a list of strings."""
    if isinstance(sources, (str, _os.PathLike)):
        sources = [sources]
    return [_os.fspath(s) for s in sources]


def _size(value):
    return _native.parse_size(value) if isinstance(value, str) else value


def _ps(value):
    return _native.parse_duration(value) if isinstance(value, str) else value


def _by(by):
    """Returns (index in _BY, None) or, for "arg.KEY", (its index, KEY)."""
    if by.startswith("arg."):
        return _BY.index("arg.KEY"), by[4:]
    return _word(by, _BY, "by"), None


def load(source, *, run=None, host=None, rank=None, step_dir=None, latest_good=False, join=False, format=None, max_memory=None,
         max_size=None, threads=None, strict=False, step_name=None, sched=False, progress=None):
    """Reads a trace.

    source      a path, a run directory, an archive or an archive member ("logs.zip:rank0.json"); a list of them, which is
                merged onto one timeline; bytes; or a file object. From a run directory, load takes the newest run, and the
                best file of each host.
    run, host, rank     which one to load if there are several
    step_dir    use the run in the folder step_N
    latest_good skip runs without a readable trace
    join        read all inputs as pieces of one trace, in the order of their names
    format      "json", "perfetto" or "xplane" (default: detected from the content)
    max_memory  limit of memory: bytes, or a string such as "2G"
    max_size    limit of the decompressed input: bytes, or a string such as "2G"
    strict      raise an error where load would otherwise repair the trace
    step_name   names of the spans that mark training steps: a glob, or a regular expression between slashes
    sched       also read the scheduler of a Perfetto trace: a row for each CPU, and the states of each thread
    progress    True for a progress bar (in a notebook, in the cell), or a function that is called with the bytes read and
                the total
    """
    options = {"run": run, "host": host, "rank": rank, "step_dir": None if step_dir is None else str(step_dir),
               "latest_good": latest_good, "join": join, "format": format, "threads": threads,
               "max_memory": _size(max_memory), "max_size": _size(max_size), "strict": strict,
               "step_name": step_name, "sched": sched}
    with _shown(progress, "reading") as options["progress"]:
        if hasattr(source, "read"):
            name = getattr(source, "name", None)
            return Trace(_native.load_bytes(source.read(), name if isinstance(name, str) else "(file)", options))
        if isinstance(source, (bytes, bytearray, memoryview)):
            return Trace(_native.load_bytes(bytes(source), "(bytes)", options))
        return Trace(_native.load(_names(source), options))


def merge(sources, output, *, align="auto", label=None, group_by="rank", offset=None, force=False, redact="", **options):
    """Merges the ranks of a job into one file on one timeline, with one rank in memory at a time.

    align       how to align the clocks: auto, clock, collectives, marker, start, none
    label       template of process names: "rank {rank} - {host} - {process}"
    offset      known clock offsets of ranks or hosts: strings "3=+1.5ms", or a dict {3: 1500000, "host42": "-20us"},
                integers in ns
    ranks       ranks to keep: a number, a range, a string "3..5", or a list of them
    redact      "keep" or "hash": redact the output, keeping or hashing names (default: no redaction)
    options     options of the command: marker, clock_error, reference, offsets_from, every_rank, steps, time, to, derive,
                to_zero, keep_going, keep_truncated, anchor, collectives, link_collectives, align_report, manifest, run,
                step_dir, latest_good, join, step_name, sched, fold_graphs, overlaps, level, threads, max_memory, no_loss, dry_run,
                progress

    Returns a dict: `ranks`, `trusted` (True if the clock alignment is reliable), `events`, `bytes`, `lost`, `notes`.
    """
    options = dict(options, align=_word(align, _ALIGN, "align"), label=label, group_by=_word(group_by, _GROUP_BY, "group_by"),
                   offsets=_offsets(offset), force=force, redact=bool(redact))
    if redact:
        options["redact_names"] = _word(redact, _NAMES[:2], "redact")
    options["ranks"] = _ranges(options.get("ranks"))
    options["to"] = _size(options.get("to"))
    options["max_memory"] = _size(options.get("max_memory"))
    options["clock_error_ps"] = _ps(options.pop("clock_error", None))
    with _shown(options.get("progress"), "merging") as options["progress"]:
        return _native.merge(_names(sources), _os.fspath(output), options)


def extract(sources, output=None, *, run=None, host=None, rank=None, all_runs=False, split=False, raw=False, derive=False, format=None,
            force=False, **options):
    """Writes the newest run of a log directory or archive, one file per run (split: one file per host; raw: unchanged copies).

    options     options of the command: step_dir, latest_good, join, fold_graphs, sched, overlaps, pretty, level, threads, max_memory,
                no_loss, dry_run, progress

    Returns a list with a dict per file: `output`, `run`, `from`, `events`, `bytes`, `lost`.
    """
    options = dict(options, run=run, host=host, rank=rank, all_runs=all_runs, split=split, raw=raw,
                   derive=derive, output_format=format, force=force, output=None if output is None else _os.fspath(output))
    with _shown(options.get("progress"), "extracting") as options["progress"]:
        return _native.extract(_names(sources), options)


def report(sources, *, where=None, time=None, steps=None, brief=False, keep_going=False, thresholds=None, run=None, host=None, rank=None,
           step_dir=None, latest_good=False, step_name=None, max_memory=None, threads=None, progress=None):
    """Summarises where a run spent its time, with one rank in memory at a time.  Returns a dict:

    findings    a dict per figure beyond its threshold: severity, text, advice, figure, rank, step, at_ns, ... (docs/findings.md)
    ranks       a dict per device: rank, device, window_ns, busy_ns, idle_ns, compute_ns, ..., `step` (distribution of step
                times), `steps`, `streams`
    operators, annotations      spans of hosts by name, and annotations as a tree in preorder: a list of dicts each
    kernels, launches, collectives, waits (which rank waited for which), memory   a list of dicts each
    unknown     sentences about facts that the traces do not record

    The keys are those of `tracekit report --json`; docs/fields.md describes them.

    where, time, steps  restrict which device work is counted, as in `filter`
    run, host, rank, step_dir, latest_good, step_name   as in `load`
    brief       leave out findings, launches and tables
    thresholds  file that changes the thresholds of findings
    """
    with _shown(progress, "reading") as shown:
        return _native.report(_names(sources), {
            "where": _texts(where), "time": time, "steps": steps, "brief": brief, "keep_going": keep_going,
            "thresholds": None if thresholds is None else _os.fspath(thresholds), "run": run, "host": host, "rank": rank, "step_dir": None if step_dir is None else str(step_dir), "latest_good": latest_good, "step_name": step_name,
            "max_memory": _size(max_memory), "threads": threads, "progress": shown})


def diff(before, after, *, by="name", by_path=False, fold=False, whole=False, where=None, time=None, steps=None, latest_good=False,
         step_name=None, max_memory=None, threads=None, progress=None):
    """Compares two runs. Returns a dict: `rows` (name; `before` and `after` with count, total_ns and self_ns; delta_ns and
    noise_ns, the uncertainty of the delta), `all`, `step`, `steps`.

    by          what a row is, as in `top`, except kind
    by_path     compare spans by call path
    whole       compare whole ranks rather than steps
    """
    place, arg = _by(by)
    with _shown(progress, "reading") as shown:
        return _native.diff(_names(before), _names(after), {
            "by": place, "arg": arg, "by_path": by_path, "fold": fold, "whole": whole, "where": _texts(where), "time": time,
            "steps": steps, "latest_good": latest_good, "step_name": step_name, "max_memory": _size(max_memory), "threads": threads,
            "progress": shown})


def list(sources, *, deep=False):  # named after the command
    """Lists the traces in `sources`: a dict per file, newest run first. With deep=True, reads the whole files and counts their
    events."""
    return _native.list(_names(sources), {"deep": deep})


class Trace:
    """A trace in memory. filter, rebase, redact, derive, fold_graphs and scopes change the trace and return it, so that calls can be chained."""

    def __init__(self, native):
        self._native = native

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Frees the trace now instead of when it is garbage-collected."""
        self._native.close()

    @property
    def info(self):
        """Properties of the trace: source, format, host, rank, clock, number of events by kind, notes of the reader."""
        return self._native.info()

    def __repr__(self):
        i = self.info
        return f"<tracekit.Trace {i['source']}: {i['events']} events, {i['processes']} processes>"

    def _repr_html_(self):
        return _summary(self)

    # ---- tables ----

    def events(self, columns=None, unit="ns"):
        """Returns the events as a table for pandas, polars, pyarrow or duckdb.

        columns     names to select: the default columns, further ones created on request (id, parent, host, device, self,
                    unfinished, clipped, phase, op, module), and "arg.KEY" for an arg
        unit        "ns", or "ps" for exact picoseconds since info["origin_ns"]
        """
        return self._table("events", columns, unit)

    @property
    def tracks(self):
        """Processes, threads and counters. The column `track` of other tables is an id in this table."""
        return self._table("tracks")

    @property
    def flows(self):
        """Flow points; points with the same `flow` belong together."""
        return self._table("flows")

    @property
    def args(self):
        """Args of all events, one row per arg."""
        return self._table("args")

    @property
    def steps(self):
        """Training steps."""
        return self._table("steps")

    @property
    def collectives(self):
        """Collectives: time, rank, group and size."""
        return self._table("collectives")

    def table(self, name, columns=None, unit="ns"):
        """Returns a table by name: events, tracks, flows, args, steps or collectives."""
        return self._table(name, columns, unit)

    def _table(self, name, columns=None, unit="ns"):
        table = _word(name, _TABLES, "a table")
        ps = _word(unit, ("ns", "ps"), "unit") == 1
        return Table(self._native, table, _texts(columns) or _native.columns(table), columns is None, ps)

    # ---- analysis ----

    def top(self, by="name", *, where=None, time=None, steps=None, sort="total", cols=None, min_count=0, fold=False, progress=None):
        """Returns where the time went: a list of dicts with name, count, total_ns, self_ns, union_ns, min_ns, p50_ns, mean_ns,
        p95_ns and max_ns. docs/fields.md describes the keys.

        by          what a row is: name, cat, kind, rank, process, track, stream, step, phase, op,
                    module or arg.KEY
        where       filter expressions, as in `filter`
        cols        keys of numeric args; adds `cols` to every row: count, mean, min and max of each
        fold        group names that differ only in numbers or template arguments
        """
        place, arg = _by(by)
        return self._native.top({"by": place, "arg": arg, "where": _texts(where), "time": time, "steps": steps, "cols": _texts(cols),
                                 "sort": _word(sort, _SORT, "sort"), "min_count": min_count, "fold": fold, "progress": progress})

    def tree(self, by=None, *, per=None, path=None, where=None, time=None, steps=None, fold=False, sort="total", progress=None):
        """Returns time by call path: a list of dicts, parents first, with name, parent (an index), depth, count, total_ns,
        self_ns and device_ns (time of the device work launched inside the span).

        path    key of an arg, such as "tf_op", whose text is the path instead of the nested names
        sort    order of the rows of one level: total (descending) or start
        """
        place, arg = (None, None) if by is None else _by(by)
        return self._native.tree({"by": place, "arg": arg, "per": per, "path": path, "where": _texts(where), "time": time,
                                  "steps": steps, "fold": fold, "by_start": _word(sort, ("total", "start"), "sort") == 1, "progress": progress})

    def report(self, *, where=None, time=None, steps=None, brief=False, thresholds=None, progress=None):
        """Summarises where the run spent its time, as `tracekit.report` does, for this trace only."""
        return self._native.report({"where": _texts(where), "time": time, "steps": steps, "brief": brief,
                                    "thresholds": None if thresholds is None else _os.fspath(thresholds), "progress": progress})

    def sql(self, query, *, timeout=None, max_rows=None, progress=None):
        """Runs SQL on the tables of Perfetto's trace_processor.  Returns the rows of the last statement as a list of dicts.

        timeout     limit in seconds
        """
        answers = self._native.sql(query, {"timeout_ms": None if timeout is None else int(timeout * 1000), "max_rows": max_rows,
                                           "progress": progress})
        columns, rows = answers[-1] if answers else ((), [])
        return [dict(zip(columns, row)) for row in rows]

    # ---- operations ----

    def filter(self, where=None, *, time=None, steps=None, keep_args=None, drop_args=None, parents=False, children=False, flows=False,
               drop_flows=False, progress=None):
        """Keeps only events for which all expressions are true: "name =~ 'nccl' && dur > 10us", "phase == decode",
        "launched_by ~ '*Attention*'"."""
        self._native.filter({"where": _texts(where), "time": time, "steps": steps, "keep_args": _texts(keep_args), "progress": progress,
                             "drop_args": _texts(drop_args), "parents": parents, "children": children, "flows": flows,
                             "drop_flows": drop_flows})
        return self

    def rebase(self, *, to_zero=False, to=None, at=None, nth=1, absolute=False, scale=None, shift=None):
        """Moves the trace in time. shift: picoseconds, or a string such as "-20us"."""
        self._native.rebase({"to_zero": to_zero, "to": to, "at": at, "nth": nth if at else None, "absolute": absolute, "scale": scale,
                             "shift_ps": _ps(shift)})
        return self

    def redact(self, names="keep", *, map=None, keep_args=None, keep_numbers=False, key=None):
        """Removes sensitive data: paths, hosts, users, args, command lines. names: "keep", "hash" or "map"."""
        self._native.redact({"names": _word(names, _NAMES, "names"), "map": map, "keep_args": _texts(keep_args),
                             "keep_numbers": keep_numbers, "key": key})
        return self

    def derive(self):
        """Adds the lines that xprof derives from an XPlane: Steps, XLA Modules, XLA Ops, ..."""
        self._native.derive()
        return self

    def fold_graphs(self):
        """Moves the work of replayed CUDA and HIP graphs from its streams to lanes by kind, for viewers."""
        self._native.fold_graphs()
        return self

    def scopes(self, key):
        """Adds rows of the scopes that an arg states as a path, such as "tf_op".  Raises an error if no event has such an arg."""
        if not self._native.scopes({"key": key}):
            raise ValueError(f"no event has a path in the arg {key!r}")
        return self

    # ---- output ----

    def save(self, path, *, format=None, level=0, pretty=False, force=False, no_loss=False, threads=None, progress=None):
        """Writes the trace.  The extension of the path selects format and compression: .json.gz, .pftrace, .xplane.pb.

        path        a path, or a binary file object, which needs `format` unless its name implies one

        Returns a dict: events, bytes, `lost` by kind.
        """
        with _shown(progress, "writing") as shown:
            return self._save(path, {"output_format": format, "level": level, "pretty": pretty, "force": force, "no_loss": no_loss,
                                     "threads": threads, "progress": shown}, format)

    def _save(self, path, options, format):
        if hasattr(path, "write"):
            name = getattr(path, "name", None)
            options["name"] = name if isinstance(name, str) else f"out.{format or self.info['format']}"
            saved = self._native.save(None, options)
            path.write(saved.pop("content"))
            return saved
        return self._native.save(_os.fspath(path), options)

    def to_bytes(self, format="json", *, compress=False):
        """Returns the content of the file as bytes."""
        return self._native.save(None, {"output_format": format, "name": "out.gz" if compress else "out"})["content"]

    def shrink(self, output, *, to=None, events=None, percent=None, lossless=False, hard=False, keep=None, drop=None, ladder=None,
               format=None, force=False, progress=None):
        """Shrinks the trace to a limit and writes it; the trace in memory then equals the output. to: bytes, or a string such
        as "100MB"."""
        options = {"bytes": _size(to), "events": events, "percent": percent, "lossless": lossless, "hard": hard, "keep": keep, "drop": drop,
                   "ladder": ladder, "output_format": format, "force": force, "progress": progress}
        return self._native.shrink(_os.fspath(output), options)

    def split(self, pattern, by, *, every=None, to=None, format=None, force=False):
        """Splits the trace into files named after `pattern`, whose {} becomes the step, rank, process or number of the part.
        by: step, rank, process, time or size."""
        return self._native.split(_os.fspath(pattern), {"by": _word(by, _SPLIT, "by"), "every_ps": _ps(every), "bytes": _size(to),
                                                        "output_format": format, "force": force})

    def view(self, limit="50MB"):
        """Shows the trace in the notebook, in Perfetto's viewer; the page passes the trace to the viewer without a server.

        The trace is embedded in the cell, so a trace above `limit` raises an error: filter or shrink the trace first.
        """
        return _frame(self, _size(limit))
