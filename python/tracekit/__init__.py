"""Profiler traces of JAX, PyTorch, XLA, Chrome and Perfetto: load, query, filter, merge and convert.

    import tracekit

    t = tracekit.load("logs")                        # a file, a run directory or an archive; several ranks become one trace
    t.events().to_pandas()                           # or polars.DataFrame(t.events()), pyarrow.table(t.events())
    t.top(by="name")[:10]                            # where the time went
    t.filter("kind == 'kernel'").save("kernels.pftrace")
    tracekit.merge(["rank0.json.gz", "rank1.json.gz"], "merged.pftrace")

Timestamps in tables are integer nanoseconds since the epoch or, with unit="ps", exact picoseconds since `info["origin_ns"]`.
Several threads may use one trace; they wait for each other.
"""
from __future__ import annotations

import os as _os
import warnings as _warnings
from typing import Any, BinaryIO, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Union, cast as _cast

from . import _native
from ._errors import EmptyResult, Error
from ._progress import Progress, shown as _shown
from ._select import Match, expressions as _expressions
from ._tables import Rows, Table, TraceTable, described as _described
from ._view import Html, frame as _frame, summary as _summary

__all__ = ["EmptyResult", "Error", "Progress", "Rows", "Table", "Trace", "diff", "extract", "list", "load", "merge", "report", "__version__"]
__version__: str = _native.version

_native.set_error(Error)

Path = Union[str, "_os.PathLike[str]"]
Paths = Union[Path, Iterable[Path]]
Texts = Union[None, str, Iterable[str]]
Size = Union[None, int, str]
ProgressOption = Union[None, bool, Callable[[int, int], Any]]
Row = Dict[str, Any]

_BY = ("name", "cat", "kind", "rank", "process", "track", "stream", "step", "arg.KEY", "phase", "op", "module")
_SORT = ("total", "self", "union", "count", "mean", "min", "p50", "p95", "max", "name")
_ALIGN = ("auto", "clock", "collectives", "marker", "start", "none")
_GROUP_BY = ("rank", "host", "kind")
_NAMES = ("keep", "hash", "map")
_SPLIT = ("step", "rank", "process", "time", "size")
_TIMES = ("int", "arrow")
_TABLES = ("events", "tracks", "flows", "args", "steps", "collectives")


def _word(word: str, words: Sequence[str], what: str) -> int:
    if word not in words:
        raise ValueError(f"{what} is one of {', '.join(words)}, not {word!r}")
    return words.index(word)


def _texts(value: Texts) -> Optional[List[str]]:
    """Converts a string, an iterable or None to a list of strings or None."""
    if value is None:
        return None
    return [value] if isinstance(value, str) else [str(v) for v in value]


def _ranges(value: Any) -> Optional[List[str]]:
    """Converts a number, a string such as "3..5", a range or an iterable of them to the list of range strings that the library
    parses."""
    if value is None:
        return None
    if isinstance(value, range):
        return [f"{value[0]}..{value[-1]}"] if value.step == 1 and value else [str(n) for n in value]
    if isinstance(value, (int, str)):
        return [str(value)]
    return [text for v in value for text in _ranges(v) or ()]


def _offsets(value: Union[Texts, Dict[Any, Any]]) -> Optional[List[str]]:
    """Converts offsets to strings such as "3=+1.5ms"; integers in a dict are nanoseconds."""
    if isinstance(value, dict):
        return [f"{who}={by}ns" if isinstance(by, int) else f"{who}={by}" for who, by in value.items()]
    return _texts(value)


def _names(sources: Paths) -> List[str]:
    """Converts one path or an iterable of paths to a list of strings."""
    if isinstance(sources, (str, _os.PathLike)):
        sources = [sources]
    return [_os.fspath(s) for s in sources]


def _size(value: Size) -> Optional[int]:
    return _native.parse_size(value) if isinstance(value, str) else value


def _ps(value: Union[None, int, str]) -> Optional[int]:
    return _native.parse_duration(value) if isinstance(value, str) else value


def _by(by: str) -> Tuple[int, Optional[str]]:
    """Returns (index in _BY, None) or, for "arg.KEY", (its index, KEY)."""
    if by.startswith("arg."):
        return _BY.index("arg.KEY"), by[4:]
    return _word(by, _BY, "by"), None


def _text(value: Any) -> Optional[str]:
    return None if value is None else str(value)


def load(source: Union[Paths, bytes, bytearray, memoryview, BinaryIO], *, run: Optional[str] = None, host: Optional[str] = None,
         rank: Optional[int] = None, step_dir: Union[None, int, str] = None, latest_good: bool = False, join: bool = False,
         format: Optional[str] = None, max_memory: Size = None, max_size: Size = None, threads: Optional[int] = None,
         strict: bool = False, step_name: Optional[str] = None, sched: bool = False, progress: ProgressOption = None) -> Trace:
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
    options: Dict[str, Any] = {
        "run": run, "host": host, "rank": rank, "step_dir": _text(step_dir), "latest_good": latest_good, "join": join,
        "format": format, "threads": threads, "max_memory": _size(max_memory), "max_size": _size(max_size), "strict": strict,
        "step_name": step_name, "sched": sched}
    with _shown(progress, "reading") as options["progress"]:
        if isinstance(source, (bytes, bytearray, memoryview)):
            return Trace(_native.load_bytes(bytes(source), "(bytes)", options))
        read = getattr(source, "read", None)
        if read is None or isinstance(source, (str, _os.PathLike)):
            return Trace(_native.load(_names(_cast("Paths", source)), options))
        name = getattr(source, "name", None)
        return Trace(_native.load_bytes(read(), name if isinstance(name, str) else "(file)", options))


def merge(sources: Paths, output: Path, *, align: str = "auto", label: Optional[str] = None, group_by: str = "rank",
          offset: Union[Texts, Dict[Any, Any]] = None, force: bool = False, redact: str = "", **options: Any) -> Row:
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
        merged = _native.merge(_names(sources), _os.fspath(output), options)
    merged["ranks"] = Rows(merged["ranks"], kind=_native.ROW_MERGE_RANK)
    return merged


def extract(sources: Paths, output: Optional[Path] = None, *, run: Optional[str] = None, host: Optional[str] = None,
            rank: Optional[int] = None, all_runs: bool = False, split: bool = False, raw: bool = False, derive: bool = False,
            format: Optional[str] = None, force: bool = False, **options: Any) -> Rows:
    """Writes the newest run of a log directory or archive, one file per run (split: one file per host; raw: unchanged copies).

    options     options of the command: step_dir, latest_good, join, fold_graphs, sched, overlaps, pretty, level, threads, max_memory,
                no_loss, dry_run, progress

    Returns a table with a row per file: `output`, `run`, `from`, `events`, `bytes`, `lost`.
    """
    options = dict(options, run=run, host=host, rank=rank, all_runs=all_runs, split=split, raw=raw,
                   derive=derive, output_format=format, force=force, output=None if output is None else _os.fspath(output))
    with _shown(options.get("progress"), "extracting") as options["progress"]:
        return Rows(_native.extract(_names(sources), options))


def report(sources: Paths, *, where: Texts = None, time: Optional[str] = None, steps: Optional[str] = None, brief: bool = False,
           keep_going: bool = False, thresholds: Optional[Path] = None, run: Optional[str] = None, host: Optional[str] = None,
           rank: Optional[int] = None, step_dir: Union[None, int, str] = None, latest_good: bool = False,
           step_name: Optional[str] = None, max_memory: Size = None, threads: Optional[int] = None,
           progress: ProgressOption = None) -> Row:
    """Summarises where a run spent its time, with one rank in memory at a time.  Returns a dict:

    findings    a row per figure beyond its threshold: severity, text, advice, figure, rank, step, at_ns, ... (docs/findings.md)
    ranks       a row per device: rank, device, window_ns, busy_ns, idle_ns, compute_ns, ..., `step` (distribution of step
                times), `steps`, `streams`
    operators, annotations      spans of hosts by name, and annotations as a tree in preorder: tables
    kernels, launches, collectives, waits (which rank waited for which), memory   tables
    unknown     sentences about facts that the traces do not record

    The keys are those of `tracekit report --json`; docs/fields.md describes them.

    where, time, steps  restrict which device work is counted, as in `filter`
    run, host, rank, step_dir, latest_good, step_name   as in `load`
    brief       leave out findings, launches and tables
    thresholds  file that changes the thresholds of findings
    """
    with _shown(progress, "reading") as shown:
        return _described(_native.report(_names(sources), {
            "where": _texts(where), "time": time, "steps": steps, "brief": brief, "keep_going": keep_going,
            "thresholds": None if thresholds is None else _os.fspath(thresholds), "run": run, "host": host, "rank": rank,
            "step_dir": _text(step_dir), "latest_good": latest_good, "step_name": step_name, "max_memory": _size(max_memory),
            "threads": threads, "progress": shown}), _native.ROW_REPORT)


def diff(before: Union[Paths, Trace], after: Union[Paths, Trace], *, by: str = "name", by_path: bool = False, fold: bool = False,
         whole: bool = False, where: Texts = None, time: Optional[str] = None, steps: Optional[str] = None, latest_good: bool = False,
         step_name: Optional[str] = None, max_memory: Size = None, threads: Optional[int] = None,
         progress: ProgressOption = None) -> Row:
    """Compares two runs: files, run directories or loaded traces. Returns a dict: `rows` (name; `before` and `after` with count, total_ns and self_ns; delta_ns and
    noise_ns, the uncertainty of the delta), `all`, `step`, `steps`.

    by          what a row is, as in `top`, except kind
    by_path     compare spans by call path
    whole       compare whole ranks rather than steps
    """
    place, arg = _by(by)
    reading = {"latest_good": latest_good, "step_name": step_name, "max_memory": _size(max_memory), "threads": threads}
    with _shown(progress, "reading") as shown:
        options = dict(reading, by=place, arg=arg, by_path=by_path, fold=fold, whole=whole, where=_texts(where), time=time, steps=steps,
                       progress=shown)
        if not isinstance(before, Trace) and not isinstance(after, Trace):
            return _compared(_native.diff(_names(before), _names(after), options))
        sides = [side if isinstance(side, Trace) else Trace(_native.load(_names(side), dict(reading, progress=shown)))
                 for side in (before, after)]
        return _compared(_native.diff_traces(sides[0]._native, sides[1]._native, options))


def _compared(diff: Row) -> Row:
    diff["rows"] = Rows(diff["rows"], kind=_native.ROW_DIFF)
    return diff


def list(sources: Paths, *, deep: bool = False) -> Rows:  # named after the command
    """Lists the traces in `sources`: a row per file, newest run first. With deep=True, reads the whole files and counts their
    events."""
    return Rows(_native.list(_names(sources), {"deep": deep}))


class Trace:
    """A trace in memory. Operations (filter, rebase, redact, derive, fold_graphs, scopes) return a new trace and leave this one
    as it is, so calls can be chained. With inplace=True they change this trace and return it, which needs no memory for a copy."""

    def __init__(self, native: _native.Trace) -> None:
        self._native = native

    def __enter__(self) -> Trace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        """Number of events."""
        return int(self._native.length())

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Row]:
        """Returns the events as dicts, one by one. A data frame is many times faster for sums."""
        return iter(self.events())

    def __contains__(self, name: object) -> bool:
        """True if an event has this name."""
        return isinstance(name, str) and self.events("name")._has_word(name)

    def __getitem__(self, index: Union[int, slice, str, Sequence[str]]) -> Any:
        """Returns an event as a dict (index), events as a list of dicts (slice), or the table of some columns (names)."""
        return self.events()[index]

    def copy(self) -> Trace:
        """Returns a copy, which shares nothing with this trace."""
        return Trace(self._native.copy())

    def close(self) -> None:
        """Frees the trace now instead of when it is garbage-collected."""
        self._native.close()

    @property
    def info(self) -> Row:
        """Properties of the trace: source, format, host, rank, clock, number of events by kind, notes of the reader."""
        return self._native.info()

    def __repr__(self) -> str:
        try:
            i = self.info
        except ValueError:
            return "<tracekit.Trace: closed>"
        return f"<tracekit.Trace {i['source']}: {i['events']} events, {i['processes']} processes>"

    def _repr_html_(self) -> Optional[str]:
        try:
            return _summary(self)
        except ValueError:
            return None

    def _target(self, inplace: bool) -> Trace:
        """Returns the trace that an operation changes."""
        return self if inplace else self.copy()

    # ---- tables ----

    def events(self, columns: Texts = None, unit: str = "ns", times: str = "int") -> TraceTable:
        """Returns the events as a table for pandas, polars, pyarrow or duckdb.

        columns     names to select: the default columns, further ones created on request (id, parent, host, device, self,
                    unfinished, clipped, phase, op, module), and "arg.KEY" for an arg
        unit        "ns", or "ps" for exact picoseconds since info["origin_ns"]
        times       "int", or "arrow" for timestamps and durations of Arrow, which pandas and polars show as such
        """
        return self._table("events", columns, unit, times)

    @property
    def tracks(self) -> TraceTable:
        """Processes, threads and counters. The column `track` of other tables is an id in this table."""
        return self._table("tracks")

    @property
    def flows(self) -> TraceTable:
        """Flow points; points with the same `flow` belong together."""
        return self._table("flows")

    @property
    def args(self) -> TraceTable:
        """Args of all events, one row per arg."""
        return self._table("args")

    @property
    def steps(self) -> TraceTable:
        """Training steps."""
        return self._table("steps")

    @property
    def collectives(self) -> TraceTable:
        """Collectives: time, rank, group and size."""
        return self._table("collectives")

    def table(self, name: str, columns: Texts = None, unit: str = "ns", times: str = "int") -> TraceTable:
        """Returns a table by name: events, tracks, flows, args, steps or collectives."""
        return self._table(name, columns, unit, times)

    def _table(self, name: str, columns: Texts = None, unit: str = "ns", times: str = "int") -> TraceTable:
        table = _word(name, _TABLES, "a table")
        ps = _word(unit, ("ns", "ps"), "unit") == 1
        typed = _word(times, _TIMES, "times") == 1
        names = _texts(columns)
        return TraceTable(self._native, table, names or _native.columns(table), {"columns": names, "ps": ps, "typed": typed})

    # ---- analysis ----

    def top(self, by: str = "name", *, where: Texts = None, time: Optional[str] = None, steps: Optional[str] = None, sort: str = "total",
            cols: Texts = None, min_count: int = 0, fold: bool = False, progress: ProgressOption = None) -> Rows:
        """Returns where the time went: a table with name, count, total_ns, self_ns, union_ns, min_ns, p50_ns, mean_ns,
        p95_ns and max_ns. docs/fields.md describes the keys.

        by          what a row is: name, cat, kind, rank, process, track, stream, step, phase, op,
                    module or arg.KEY
        where       filter expressions, as in `filter`
        cols        keys of numeric args; adds `cols` to every row: count, mean, min and max of each
        fold        group names that differ only in numbers or template arguments
        """
        place, arg = _by(by)
        with _shown(progress, "counting") as shown:
            return Rows(self._native.top({"by": place, "arg": arg, "where": _texts(where), "time": time, "steps": steps,
                                          "cols": _texts(cols), "sort": _word(sort, _SORT, "sort"), "min_count": min_count,
                                          "fold": fold, "progress": shown}), kind=_native.ROW_TOP)

    def tree(self, by: Optional[str] = None, *, per: Optional[str] = None, path: Optional[str] = None, where: Texts = None,
             time: Optional[str] = None, steps: Optional[str] = None, fold: bool = False, sort: str = "total",
             progress: ProgressOption = None) -> Rows:
        """Returns time by call path: a table, parents first, with name, parent (an index), depth, count, total_ns,
        self_ns and device_ns (time of the device work launched inside the span).

        path    key of an arg, such as "tf_op", whose text is the path instead of the nested names
        sort    order of the rows of one level: total (descending) or start
        """
        place, arg = (None, None) if by is None else _by(by)
        return Rows(self._native.tree({"by": place, "arg": arg, "per": per, "path": path, "where": _texts(where), "time": time,
                                       "steps": steps, "fold": fold, "by_start": _word(sort, ("total", "start"), "sort") == 1,
                                       "progress": progress}), kind=_native.ROW_TREE)

    def report(self, *, where: Texts = None, time: Optional[str] = None, steps: Optional[str] = None, brief: bool = False,
               thresholds: Optional[Path] = None, progress: ProgressOption = None) -> Row:
        """Summarises where the run spent its time, as `tracekit.report` does, for this trace only."""
        return _described(self._native.report({
            "where": _texts(where), "time": time, "steps": steps, "brief": brief,
            "thresholds": None if thresholds is None else _os.fspath(thresholds), "progress": progress}), _native.ROW_REPORT)

    def diff(self, after: Union[Paths, Trace], **options: Any) -> Row:
        """Compares this trace with another one, which is a trace or a path; options as in `tracekit.diff`."""
        return diff(self, after, **options)

    def sql(self, query: str, *, timeout: Optional[float] = None, max_rows: Optional[int] = None,
            progress: ProgressOption = None) -> Rows:
        """Runs SQL on the tables of Perfetto's trace_processor.  Returns the rows of the last statement as a table.

        timeout     limit in seconds
        """
        answers = self._native.sql(query, {"timeout_ms": None if timeout is None else int(timeout * 1000), "max_rows": max_rows,
                                           "progress": progress})
        columns, rows = answers[-1] if answers else ((), [])
        return Rows((dict(zip(columns, row)) for row in rows), columns=columns)

    # ---- operations ----

    def filter(self, where: Texts = None, *, name: Optional[Match] = None, cat: Optional[Match] = None, kind: Optional[Match] = None,
               rank: Optional[Match] = None, host: Optional[Match] = None, process: Optional[Match] = None,
               thread: Optional[Match] = None, track: Optional[Match] = None, pid: Optional[Match] = None, tid: Optional[Match] = None,
               device: Optional[Match] = None, stream: Optional[Match] = None, step: Optional[Match] = None,
               phase: Optional[Match] = None, launched_by: Optional[Match] = None, time: Optional[str] = None,
               steps: Optional[str] = None, keep_args: Texts = None, drop_args: Texts = None, parents: bool = False,
               children: bool = False, flows: bool = False, drop_flows: bool = False, allow_empty: bool = False, inplace: bool = False,
               progress: ProgressOption = None) -> Trace:
        """Returns a trace with only the events for which all conditions are true.

        where       expressions: "name =~ 'nccl' && dur > 10us", "launched_by ~ '*Attention*'"
        name ... launched_by    one condition each, on the symbol of this name (docs/filter.md): a number; a text, which is a glob
                    if it contains *, ? or [; a compiled pattern, which must match within the text; a range or a slice, which
                    excludes its end; or a list, of which one value must fit
        time, steps range of time, such as "+2s..+5s", and of training steps, such as "3..5", both including their ends
        parents, children, flows    also keep spans around, spans within, and events tied by a flow to an event that is kept
        allow_empty do not warn (EmptyResult) if no event is left
        inplace     change this trace and return it
        """
        fields = {"name": name, "cat": cat, "kind": kind, "rank": rank, "host": host, "process": process, "thread": thread,
                  "track": track, "pid": pid, "tid": tid, "device": device, "stream": stream, "step": step, "phase": phase,
                  "launched_by": launched_by}
        conditions = _expressions(where, fields)
        t = self._target(inplace)
        with _shown(progress, "filtering") as shown:
            done = t._native.filter({"where": conditions or None, "time": time, "steps": steps, "keep_args": _texts(keep_args),
                                     "drop_args": _texts(drop_args), "parents": parents, "children": children, "flows": flows,
                                     "drop_flows": drop_flows, "progress": shown})
        if not done["events"] and done["events_before"] and not allow_empty:
            _warnings.warn(f"no event is left of {done['events_before']}: {' && '.join(conditions) or 'the range is empty'}", EmptyResult,
                           stacklevel=2)
        return t

    def rebase(self, *, to_zero: bool = False, to: Optional[str] = None, at: Optional[str] = None, nth: int = 1, absolute: bool = False,
               scale: Optional[str] = None, shift: Union[None, int, str] = None, inplace: bool = False) -> Trace:
        """Returns the trace moved in time. shift: picoseconds, or a string such as "-20us"."""
        t = self._target(inplace)
        t._native.rebase({"to_zero": to_zero, "to": to, "at": at, "nth": nth if at else None, "absolute": absolute, "scale": scale,
                          "shift_ps": _ps(shift)})
        return t

    def redact(self, names: str = "keep", *, map: Optional[str] = None, keep_args: Texts = None, keep_numbers: bool = False,
               key: Optional[str] = None, inplace: bool = False) -> Trace:
        """Returns the trace without sensitive data: paths, hosts, users, args, command lines. names: "keep", "hash" or "map"."""
        t = self._target(inplace)
        t._native.redact({"names": _word(names, _NAMES, "names"), "map": map, "keep_args": _texts(keep_args),
                          "keep_numbers": keep_numbers, "key": key})
        return t

    def derive(self, *, inplace: bool = False) -> Trace:
        """Returns the trace with the lines that xprof derives from an XPlane: Steps, XLA Modules, XLA Ops, ..."""
        t = self._target(inplace)
        t._native.derive()
        return t

    def fold_graphs(self, *, inplace: bool = False) -> Trace:
        """Returns the trace with the work of replayed CUDA and HIP graphs on lanes by kind instead of its streams, for viewers."""
        t = self._target(inplace)
        t._native.fold_graphs()
        return t

    def scopes(self, key: str, *, inplace: bool = False) -> Trace:
        """Returns the trace with rows for the scopes that an arg states as a path, such as "tf_op". Raises an error if no event has
        such an arg."""
        t = self._target(inplace)
        if not t._native.scopes({"key": key}):
            raise ValueError(f"no event has a path in the arg {key!r}")
        return t

    # ---- output ----

    def save(self, path: Union[Path, BinaryIO], *, format: Optional[str] = None, level: int = 0, pretty: bool = False,
             force: bool = False, no_loss: bool = False, threads: Optional[int] = None, progress: ProgressOption = None) -> Row:
        """Writes the trace.  The extension of the path selects format and compression: .json.gz, .pftrace, .xplane.pb.

        path        a path, or a binary file object, which needs `format` unless its name implies one

        Returns a dict: events, bytes, `lost` by kind.
        """
        with _shown(progress, "writing") as shown:
            return self._save(path, {"output_format": format, "level": level, "pretty": pretty, "force": force, "no_loss": no_loss,
                                     "threads": threads, "progress": shown}, format)

    def _save(self, path: Union[Path, BinaryIO], options: Dict[str, Any], format: Optional[str]) -> Row:
        if isinstance(path, (str, _os.PathLike)):
            return self._native.save(_os.fspath(path), options)
        name = getattr(path, "name", None)
        options["name"] = name if isinstance(name, str) else f"out.{format or self.info['format']}"
        saved: Row = self._native.save(None, options)
        path.write(saved.pop("content"))
        return saved

    def to_bytes(self, format: str = "json", *, compress: bool = False) -> bytes:
        """Returns the content of the file as bytes."""
        content: bytes = self._native.save(None, {"output_format": format, "name": "out.gz" if compress else "out"})["content"]
        return content

    def shrink(self, output: Path, *, to: Size = None, events: Optional[int] = None, percent: Optional[float] = None,
               lossless: bool = False, hard: bool = False, keep: Optional[str] = None, drop: Optional[str] = None,
               ladder: Optional[str] = None, format: Optional[str] = None, force: bool = False, inplace: bool = False,
               progress: ProgressOption = None) -> Row:
        """Shrinks the trace to a limit and writes it. to: bytes, or a string such as "100MB". With inplace=True, this trace then
        equals the output, and no memory for a copy is needed."""
        options: Dict[str, Any] = {
            "bytes": _size(to), "events": events, "percent": percent, "lossless": lossless, "hard": hard, "keep": keep, "drop": drop,
            "ladder": ladder, "output_format": format, "force": force}
        with _shown(progress, "shrinking") as options["progress"]:
            return self._target(inplace)._native.shrink(_os.fspath(output), options)

    def split(self, pattern: Path, by: str, *, every: Union[None, int, str] = None, to: Size = None, format: Optional[str] = None,
              force: bool = False) -> Rows:
        """Splits the trace into files named after `pattern`, whose {} becomes the step, rank, process or number of the part.
        by: step, rank, process, time or size."""
        return Rows(self._native.split(_os.fspath(pattern), {"by": _word(by, _SPLIT, "by"), "every_ps": _ps(every),
                                                             "bytes": _size(to), "output_format": format, "force": force}))

    def view(self, limit: Union[int, str] = "50MB") -> Html:
        """Shows the trace in the notebook, in Perfetto's viewer; the page passes the trace to the viewer without a server.

        The trace is embedded in the cell, so a trace above `limit` raises an error: filter or shrink the trace first.
        """
        return _frame(self, _size(limit))
