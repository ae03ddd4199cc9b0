"""Profiler traces of JAX, PyTorch, XLA, Chrome and Perfetto: load, query, filter, merge and convert.

    import tracekit

    t = tracekit.load("logs")                        # a file, a run directory or an archive; ranks are merged into one trace
    t.events().to_pandas()                           # or polars.DataFrame(t.events()), pyarrow.table(t.events())
    t.top(by="name")[:10]                            # where the time went
    t.filter("kind == 'kernel'").save("kernels.pftrace")
    tracekit.merge(["rank0.json.gz", "rank1.json.gz"], "merged.pftrace")
    tracekit.check("trace.json.gz", "p95(step) < 150ms").raise_for_findings()

Timestamps in tables are integer nanoseconds since the epoch or, with unit="ps", exact picoseconds since `info["origin_ns"]`.
Addresses such as "s3://bucket/run/" can be used as paths if fsspec is installed: pip install 'tracekit[urls]'.
Several threads may use one trace; they wait for each other.
"""
from __future__ import annotations

import contextlib as _contextlib
import gzip as _gzip
import importlib as _importlib
import io as _io
import math as _math
import operator as _operator
import os as _os
import tempfile as _tempfile
import warnings as _warnings
from typing import Any, BinaryIO, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union, cast as _cast

from . import _native
from . import _command
from ._errors import EmptyResult, Error, FindingsError, IncompleteTrace
from ._progress import Progress, shown as _shown
from ._runs import compared as _compared_runs
from ._report import Checks, Report, checked as _checked, page as _page
from ._select import Match, StepRange, TimeRange, expressions as _expressions, step_range as _step_range, time_range as _time_range
from ._tables import Rows, Table, TraceTable, described as _described
from ._urls import names as _names, output as _output, outputs as _outputs
from ._view import Html, frame as _frame, summary as _summary

__all__ = ["Checks", "EmptyResult", "Error", "FindingsError", "IncompleteTrace", "Progress", "Report", "Rows", "Table", "Trace", "check", "command", "diff",
           "extract", "list", "load", "merge", "redact", "report", "size", "split", "__version__"]
__version__: str = _native.version

_native.set_error(Error)

Path = Union[str, "_os.PathLike[str]"]
Paths = Union[Path, Iterable[Path]]
Texts = Union[None, str, Iterable[str]]
Source = Union[Paths, bytes, bytearray, memoryview, BinaryIO]
Size = Union[None, int, str]
ProgressOption = Union[None, bool, Callable[[int, int], Any]]
Row = Dict[str, Any]

_list = list  # the function `list` hides it

_BY = ("name", "cat", "kind", "rank", "process", "track", "stream", "step", "arg.KEY", "phase", "op", "module", "class", "device")
_SORT = ("total", "self", "union", "count", "mean", "min", "p50", "p95", "max", "name")
_ALIGN = ("auto", "clock", "collectives", "marker", "start", "none")
_GROUP_BY = ("rank", "host", "kind")
_NAMES = ("keep", "hash", "map")
_SPLIT = ("step", "rank", "process", "time", "size")
_TIMES = ("int", "arrow", "ms")
_TABLES = ("events", "tracks", "flows", "args", "steps", "collectives")


def __getattr__(name: str) -> Any:
    """Imports `tracekit.torch`, `tracekit.jax` and `tracekit.spark` when they are first used."""
    if name in ("jax", "spark", "torch"):
        return _importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


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


def _size(value: Size) -> Optional[int]:
    return _native.parse_size(value) if isinstance(value, str) else value


def _ps(value: Union[None, int, str]) -> Optional[int]:
    return _native.parse_duration(value) if isinstance(value, str) else value


def _by(by: str) -> Tuple[int, Optional[str]]:
    """Returns (index of the word in _BY, None); for "arg.KEY", (index of "arg.KEY", KEY)."""
    if by.startswith("arg."):
        return _BY.index("arg.KEY"), by[4:]
    return _word(by, _BY, "by"), None


def _path(value: Optional[Path]) -> Optional[str]:
    return None if value is None else _os.fspath(value)


def _text(value: Any) -> Optional[str]:
    return None if value is None else str(value)


def load(source: Source, *, run: Optional[str] = None, host: Optional[str] = None, rank: Optional[int] = None,
         step_dir: Union[None, int, str] = None, latest_good: bool = False, join: bool = False, format: Optional[str] = None,
         max_memory: Size = None, max_size: Size = None, threads: Optional[int] = None, strict: bool = False,
         step_name: Optional[str] = None, sched: bool = False, progress: ProgressOption = None) -> Trace:
    """Reads a trace.

    Parameters
    ----------
    source : str, os.PathLike, iterable of them, bytes, or binary file object
        A path, an address, a run directory, an archive or an archive member ("logs.zip:rank0.json"); several are merged onto
        one timeline. In a run directory, load reads the newest run, and the best file of each host. An address ("s3://...",
        "https://...") is read through fsspec.
    run : str, optional
        Name or prefix of the run to load, if there are several.
    host : str, optional
        Host to load; "*" and "?" are wildcards.
    rank : int, optional
        Rank to load.
    step_dir : int or str, optional
        Use the run in the folder step_N.
    latest_good : bool
        Skip runs without a complete trace.
    join : bool
        Read all inputs as pieces of one trace, in the order of their names.
    format : {None, "json", "perfetto", "xplane"}
        Format of bytes or of a file; by default, it is detected from the content.
    max_memory : int or str, optional
        Limit of memory in bytes, or a string such as "2GB".
    max_size : int or str, optional
        Limit of the decompressed input in bytes, or a string such as "2GB".
    threads : int, optional
        Number of threads; by default, one per core.
    strict : bool
        Raise an error instead of repairing the trace.
    step_name : str, optional
        Names of the spans that mark training steps: a glob, or a regular expression between slashes.
    sched : bool
        Also read scheduler events of a Perfetto trace or Nsight Systems report: a row for each CPU, and the states of each thread.
    progress : bool or callable, optional
        True shows a progress bar, also in a notebook; a function is called with the bytes read and the total.

    Returns
    -------
    Trace
        The trace, in memory.

    Raises
    ------
    Error
        A source cannot be read: FileNotFoundError, PermissionError, OSError; ValueError if it is not a trace; MemoryError
        beyond `max_memory`.

    Warns
    -----
    IncompleteTrace
        The file was truncated or damaged, so events are missing.

    Examples
    --------
    >>> t = tracekit.load("logs", rank=3)
    >>> t = tracekit.load("s3://bucket/run/rank0.json.gz")
    """
    options: Dict[str, Any] = {
        "run": run, "host": host, "rank": rank, "step_dir": _text(step_dir), "latest_good": latest_good, "join": join,
        "format": format, "threads": threads, "max_memory": _size(max_memory), "max_size": _size(max_size), "strict": strict,
        "step_name": step_name, "sched": sched}
    with _shown(progress, "reading") as options["progress"]:
        t = Trace(_load(source, options))
    if t._native.truncated():
        _warnings.warn(f"{t.info['source']}: incomplete: {_repairs(t)}", IncompleteTrace, stacklevel=2)
    return t


def _load(source: Source, options: Dict[str, Any]) -> _native.Trace:
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _native.load_bytes(bytes(source), "(bytes)", options)
    read = getattr(source, "read", None)
    if read is None or isinstance(source, (str, _os.PathLike)):
        return _native.load(_names(_cast("Paths", source)), options)
    name = getattr(source, "name", None)
    return _native.load_bytes(read(), name if isinstance(name, str) else "(file)", options)


def _repairs(t: Trace) -> str:
    return "; ".join(note["text"] for note in t.info["notes"] if note["kind"] == "repair") or "its end is missing"


def merge(sources: Paths, output: Path, *, align: str = "auto", label: Optional[str] = None, group_by: str = "rank",
          offset: Union[Texts, Dict[Any, Any]] = None, ranks: Any = None, every_rank: int = 0, steps: StepRange = None,
          time: TimeRange = None, to: Size = None, marker: Optional[str] = None, clock_error: Union[None, int, str] = None,
          reference: Optional[str] = None, offsets_from: Optional[Path] = None, anchor: Optional[str] = None,
          link_collectives: bool = False, collectives: Optional[Path] = None, align_report: Optional[Path] = None,
          to_zero: bool = False, derive: bool = False, fold_graphs: bool = False, manifest: bool = False, keep_going: bool = False,
          keep_truncated: bool = False, redact: str = "", run: Optional[str] = None, step_dir: Union[None, int, str] = None,
          latest_good: bool = False, join: bool = False, step_name: Optional[str] = None, sched: bool = False, overlaps: bool = False,
          gpu_events: bool = False, level: int = 0, no_loss: bool = False, force: bool = False, dry_run: bool = False,
          threads: Optional[int] = None, max_memory: Size = None, progress: ProgressOption = None) -> Row:
    """Merges the ranks of a job into one file on one timeline, with one rank in memory at a time.

    Parameters
    ----------
    sources : str, os.PathLike, or iterable of them
        Paths or addresses, as in `load`.
    output : str or os.PathLike
        File to write; its extension selects format and compression. For an address, the file is uploaded when it is complete.
    align : {"auto", "clock", "collectives", "marker", "start", "none"}
        How to align the clocks of the hosts.
    label : str, optional
        Template of process names, by default "rank {rank} - {host} - {process}".
    group_by : {"rank", "host", "kind"}
        Order of the rows of the timeline.
    offset : str, iterable of str, or dict, optional
        Known clock offsets of ranks or hosts: strings such as "3=+1.5ms", or a dict such as {3: 1500000, "host42": "-20us"},
        whose integers are nanoseconds.
    ranks : int, str, range, or iterable of them, optional
        Ranks to keep: a number, a string "3..5", a range, or a list of them.
    every_rank : int
        Keep ranks 0, N, 2 N and so on; 0 keeps all.
    steps : str, int or range, optional
        Range of training steps to keep, such as "3..5", applied to each rank.
    time : str or pair, optional
        Range of time to keep on the merged timeline, such as "+2s..+5s".
    to : int or str, optional
        Maximum size of the output in bytes, or a string such as "100MB".
    marker : str, optional
        Name or glob of the spans that align="marker" compares.
    clock_error : int or str, optional
        Typical difference between the wall clocks of hosts, in picoseconds or as a string such as "1ms".
    reference : str, optional
        Rank or host whose clock is the reference.
    offsets_from : str or os.PathLike, optional
        File with clock offsets: an earlier `align_report`.
    anchor : str, optional
        Regular expression: spans with a matching name are treated as barriers, like collectives.
    link_collectives : bool
        Add flows from the last rank that reached a collective to the others.
    collectives : str or os.PathLike, optional
        File (.csv or .json) for a table of the collectives.
    align_report : str or os.PathLike, optional
        File for the clock alignment, as JSON.
    to_zero : bool
        Start the output at time 0.
    derive : bool
        Add the lines that xprof derives from an XPlane.
    fold_graphs : bool
        Move the work of replayed CUDA and HIP graphs to a few lanes, by kind.
    manifest : bool
        Write an archive of the inputs with Perfetto's manifest instead of one trace.
    keep_going : bool
        Leave out inputs that cannot be read.
    keep_truncated : bool
        Keep the readable part of truncated inputs.
    redact : {"", "keep", "hash"}
        Redact the output, keeping or hashing names; "" does not redact.
    run, step_dir, latest_good, join, step_name, sched
        As in `load`.
    overlaps : bool
        JSON: move spans that overlap others of their thread to separate rows.
    gpu_events : bool
        Perfetto: write the work and counters of devices as GPU events.
    level : int
        Compression: 1 is fastest, 9 is smallest, 0 is the default.
    no_loss : bool
        Raise an error if the output format cannot represent all of the trace.
    force : bool
        Replace an existing file.
    dry_run : bool
        Compute the result without writing.
    threads : int, optional
        Number of threads; does not affect the output.
    max_memory : int or str, optional
        Limit of memory in bytes, or a string such as "2GB".
    progress : bool or callable, optional
        As in `load`.

    Returns
    -------
    dict
        `ranks` (a table), `trusted` (True if the clock alignment is reliable), `events`, `bytes`, `lost`, `notes`.

    Raises
    ------
    Error
        An input cannot be read, or the output cannot be written; FileExistsError if it exists.

    Examples
    --------
    >>> tracekit.merge(["rank0.json.gz", "rank1.json.gz"], "merged.pftrace", offset={1: "2us"})["trusted"]
    """
    options: Dict[str, Any] = {
        "align": _word(align, _ALIGN, "align"), "label": label, "group_by": _word(group_by, _GROUP_BY, "group_by"),
        "offsets": _offsets(offset), "ranks": _ranges(ranks), "every_rank": every_rank, "steps": _step_range(steps), "time": _time_range(time), "to": _size(to),
        "marker": marker, "clock_error_ps": _ps(clock_error), "reference": _text(reference), "offsets_from": _path(offsets_from),
        "anchor": anchor, "link_collectives": link_collectives, "collectives": _path(collectives), "align_report": _path(align_report),
        "to_zero": to_zero, "derive": derive, "fold_graphs": fold_graphs, "manifest": manifest, "keep_going": keep_going,
        "keep_truncated": keep_truncated, "redact": bool(redact), "run": run, "step_dir": _text(step_dir), "latest_good": latest_good,
        "join": join, "step_name": step_name, "sched": sched, "overlaps": overlaps, "gpu_events": gpu_events, "level": level,
        "no_loss": no_loss, "force": force, "dry_run": dry_run, "threads": threads, "max_memory": _size(max_memory)}
    if redact:
        options["redact_names"] = _word(redact, _NAMES[:2], "redact")
    with _shown(progress, "merging") as options["progress"], _output(output, force) as file:
        merged = _native.merge(_names(sources), file, options)
    merged["ranks"] = Rows(merged["ranks"], kind=_native.ROW_MERGE_RANK)
    return merged


def extract(sources: Paths, output: Optional[Path] = None, *, run: Optional[str] = None, host: Optional[str] = None,
            rank: Optional[int] = None, all_runs: bool = False, split: bool = False, raw: bool = False, derive: bool = False,
            format: Optional[str] = None, force: bool = False, step_dir: Union[None, int, str] = None, latest_good: bool = False,
            join: bool = False, fold_graphs: bool = False, sched: bool = False, overlaps: bool = False, gpu_events: bool = False,
            pretty: bool = False, level: int = 0, no_loss: bool = False, dry_run: bool = False, threads: Optional[int] = None,
            max_memory: Size = None, progress: ProgressOption = None) -> Rows:
    """Writes the newest run of a log directory or archive, one file per run.

    Parameters
    ----------
    sources : str, os.PathLike, or iterable of them
        Paths or addresses, as in `load`.
    output : str or os.PathLike, optional
        File, or folder with a "/" at the end; by default, the current folder. Output for an address is uploaded.
    run, host, rank, step_dir, latest_good, join, sched
        Which runs and inputs to read, as in `load`.
    all_runs : bool
        Write all runs.
    split : bool
        Write one file per host.
    raw : bool
        Copy the files unchanged.
    derive : bool
        Add the lines that xprof derives from an XPlane.
    format : str, optional
        Format of the output, such as "json.gz"; by default, from its extension.
    force : bool
        Replace existing files.
    fold_graphs, overlaps, gpu_events, level, no_loss, dry_run
        As in `merge`.
    pretty : bool
        JSON: one event per line.
    threads : int, optional
        Number of threads; does not affect the output.
    max_memory : int or str, optional
        Limit of memory in bytes, or a string such as "2GB".
    progress : bool or callable, optional
        As in `load`.

    Returns
    -------
    Rows
        A table with a row per file. Its columns are those of "extracted file" in docs/fields.md, and those that `Trace.save` returns,
        such as `events` and `lost`.

    Raises
    ------
    Error
        An input cannot be read, or an output cannot be written; FileExistsError if it exists.

    Examples
    --------
    >>> tracekit.extract("logdir", "newest.json.gz")["events"]
    """
    options: Dict[str, Any] = {
        "run": run, "host": host, "rank": rank, "all_runs": all_runs, "split": split, "raw": raw, "derive": derive,
        "output_format": format, "force": force, "step_dir": _text(step_dir), "latest_good": latest_good, "join": join,
        "fold_graphs": fold_graphs, "sched": sched, "overlaps": overlaps, "gpu_events": gpu_events, "pretty": pretty, "level": level,
        "no_loss": no_loss, "dry_run": dry_run, "threads": threads, "max_memory": _size(max_memory)}
    rows: List[Row] = []
    with _shown(progress, "extracting") as options["progress"], _outputs(output, force, rows) as options["output"]:
        rows += _native.extract(_names(sources), options)
    return Rows(rows, kind=_native.ROW_EXTRACTED)


def report(sources: Paths, *, where: Texts = None, time: TimeRange = None, steps: StepRange = None, brief: bool = False,
           keep_going: bool = False, thresholds: Optional[Path] = None, run: Optional[str] = None, host: Optional[str] = None,
           rank: Optional[int] = None, step_dir: Union[None, int, str] = None, latest_good: bool = False,
           step_name: Optional[str] = None, max_memory: Size = None, threads: Optional[int] = None,
           progress: ProgressOption = None) -> Report:
    """Summarises where a run spent its time, with one rank in memory at a time.

    Parameters
    ----------
    sources : str, os.PathLike, or iterable of them
        Paths or addresses, as in `load`.
    where : str or iterable of str, optional
        Filter expressions that restrict which device work is counted, as in `Trace.filter`.
    time : str or pair, optional
        Range of time, such as "+2s..+5s".
    steps : str, int or range, optional
        Range of training steps, such as "3..5".
    brief : bool
        Leave out findings, launches and all tables but `memory`.
    keep_going : bool
        Leave out inputs that cannot be read.
    thresholds : str or os.PathLike, optional
        File that changes the thresholds of findings.
    run, host, rank, step_dir, latest_good, step_name
        As in `load`.
    max_memory : int or str, optional
        Limit of memory in bytes, or a string such as "2GB".
    threads : int, optional
        Number of threads.
    progress : bool or callable, optional
        As in `load`.

    Returns
    -------
    Report
        A dict, which a notebook shows as the page of `tracekit report --html`. docs/fields.md describes its keys, which are
        those of `tracekit report --json`:

        * `findings`: a row per figure beyond its threshold: severity, text, advice, figure, rank, step, at_ns, ...
        * `ranks`: a row per device: rank, device, window_ns, busy_ns, idle_ns, compute_ns, ..., `step` (distribution of step
          times), `steps`, `streams`
        * `operators`, `annotations`: spans of hosts by name, and annotations as a tree in preorder
        * `functions`: functions in stack samples, by self weight
        * `layers`: device time by layer, a tree in preorder
        * `kernels`, `launches`, `collectives`, `waits` (which rank waited for which), `memory`: tables
        * `unknown`: sentences about facts that the traces do not record

    Raises
    ------
    Error
        An input cannot be read.

    Examples
    --------
    >>> [row["text"] for row in tracekit.report("logs")["findings"]]
    """
    names = _names(sources)
    words = _command.options({
        "expr": _texts(where), "time": _time_range(time), "step": _step_range(steps), "keep_going": keep_going, "thresholds": thresholds, "run": run, "host": host,
        "rank": rank, "step_dir": step_dir, "latest_good": latest_good, "step_name": step_name, "max_memory": max_memory,
        "threads": threads})
    with _shown(progress, "reading") as shown:
        found = _described(_native.report(names, {
            "where": _texts(where), "time": _time_range(time), "steps": _step_range(steps), "brief": brief, "keep_going": keep_going,
            "thresholds": _path(thresholds), "run": run, "host": host, "rank": rank, "step_dir": _text(step_dir),
            "latest_good": latest_good, "step_name": step_name, "max_memory": _size(max_memory), "threads": threads,
            "progress": shown}), _native.ROW_REPORT)
    return Report(found, lambda: _page(words, names))


def diff(before: Union[Paths, Trace], after: Union[Paths, Trace, None] = None, *more: Paths, by: str = "name", by_path: bool = False,
         fold: bool = False, whole: bool = False, over: bool = False, match: str = "name", names: Optional[Iterable[str]] = None, where: Texts = None, time: TimeRange = None, steps: StepRange = None, keep_going: bool = False, latest_good: bool = False,
         step_name: Optional[str] = None, max_memory: Size = None, threads: Optional[int] = None,
         progress: ProgressOption = None) -> Row:
    """Compares two or more runs.

    Parameters
    ----------
    before, after : str, os.PathLike, iterable of them, or Trace
        Files, addresses, run directories or loaded traces.
    *more : str, os.PathLike, or iterable of them
        Further runs, which are compared with the first.
    over : bool
        The runs are in order of time, so that lasting changes can be found. If `before` is the only run, it is a folder that
        contains the runs (folders or traces), in natural order.
    match : str
        How to match kernels, copies and fills between runs: "name", or "tree", which uses the path of operators that launched them.
    names : iterable of str, optional
        Names of the runs; by default the last part of their paths.
    by : str
        Property by which events are grouped into rows, as in `Trace.top`, except "kind".
    by_path : bool
        Compare spans by call path.
    fold : bool
        Group names that differ only in numbers or template arguments.
    whole : bool
        Compare the totals of ranks rather than steps.
    where : str or iterable of str, optional
        Filter expressions, as in `Trace.filter`.
    time : str or pair, optional
        Range of time, such as "+2s..+5s".
    steps : str, int or range, optional
        Range of training steps, such as "3..5".
    keep_going : bool
        Leave out inputs that cannot be read, and runs without readable inputs, with a note.
    latest_good, step_name
        As in `load`.
    max_memory : int or str, optional
        Limit of memory in bytes, or a string such as "2GB".
    threads : int, optional
        Number of threads.
    progress : bool or callable, optional
        As in `load`.

    Returns
    -------
    dict
        `rows` (a table: name; `before` and `after` with count, total_ns and self_ns; delta_ns and noise_ns, the uncertainty of
        the delta), `runs` (a table: name, window_ns, busy_percent, ...), `all`, `step`, `steps`. With more than two runs, or
        `over`: `runs`, `rows` (a table: name; `runs`, the figures of each run; `shifts`, the lasting changes), `all`, `step`.

    Raises
    ------
    Error
        An input cannot be read.
    ValueError
        There is only one run.

    Examples
    --------
    >>> [(row["name"], row["delta_ns"]) for row in tracekit.diff("before", "after")["rows"][:1]]
    """
    if match not in ("name", "tree"):
        raise ValueError(f"match: expected 'name' or 'tree', got {match!r}")
    place, arg = _by(by)
    reading = {"latest_good": latest_good, "step_name": step_name, "max_memory": _size(max_memory), "threads": threads}
    with _shown(progress, "reading") as shown:
        options = dict(reading, by=place, arg=arg, by_path=by_path, by_launch=match == "tree", fold=fold, whole=whole, where=_texts(where), time=time, steps=steps,
                       keep_going=keep_going, progress=shown)
        if more or over or names is not None:
            return _compared_runs([run for run in (before, after, *more) if run is not None], over, names, options)
        if after is None:
            raise ValueError("two or more runs are needed")
        if not isinstance(before, Trace) and not isinstance(after, Trace):
            return _compared(_native.diff(_names(before), _names(after), options))
        sides = [side if isinstance(side, Trace) else Trace(_native.load(_names(side), dict(reading, progress=shown)))
                 for side in (before, after)]
        return _compared(_native.diff_traces(sides[0]._native, sides[1]._native, options))


def _compared(diff: Row) -> Row:
    diff["runs"] = Rows(diff["runs"], kind=_native.ROW_COMPARE_RUN)
    diff["rows"] = Rows(diff["rows"], kind=_native.ROW_DIFF)
    return diff


def list(sources: Paths = ".", *, deep: bool = False, run: Optional[str] = None, host: Optional[str] = None,  # named after the command
         rank: Optional[int] = None, step_dir: Union[None, int, str] = None, threads: Optional[int] = None, max_memory: Size = None,
         progress: ProgressOption = None) -> Rows:
    """Lists the runs and inputs of folders and archives.

    Parameters
    ----------
    sources : str, os.PathLike, or iterable of them
        Paths or addresses; by default, the current folder.
    deep : bool
        Read the files completely and count their events. Otherwise only the start of each file is read.
    run, host, rank, step_dir
        List only these inputs, as in `load`.
    threads : int, optional
        Number of threads.
    max_memory : int or str, optional
        Limit of memory in bytes, or a string such as "2GB".
    progress : bool or callable, optional
        As in `load`.

    Returns
    -------
    Rows
        A table with a row per file, newest run first. Its columns are those of "listed file" in docs/fields.md; unknown
        values are missing in the dict of a file, and None in the table.

    Raises
    ------
    Error
        The sources cannot be listed. (A file that cannot be read is a row, and its `health` shows this.)

    Examples
    --------
    >>> sorted(set(tracekit.list("logs")["run"]))
    """
    with _shown(progress, "listing") as shown:
        return Rows(_native.list(_names(sources), {"deep": deep, "run": run, "host": host, "rank": rank, "step_dir": _text(step_dir),
                                                   "threads": threads, "max_memory": _size(max_memory), "progress": shown}),
                    kind=_native.ROW_LISTED)


def split(source: Union[Source, Trace], pattern: Path, by: str, *, every: Union[None, int, str] = None, to: Size = None,
          format: Optional[str] = None, force: bool = False, **reading: Any) -> Rows:
    """Splits a trace into several files.

    Parameters
    ----------
    source : Trace, or as in `load`
        Trace to split.
    pattern, by, every, to, format, force
        As in `Trace.split`.
    **reading
        Options of `load`.

    Returns
    -------
    Rows
        A table with a row per file: `output`, `events`, `bytes`, `lost`.

    Raises
    ------
    Error
        The source cannot be read, or a file cannot be written; FileExistsError if it exists.

    Examples
    --------
    >>> tracekit.split("merged.json.gz", "rank{}.json.gz", "rank")["output"]
    """
    with _opened(source, reading) as t:
        return t.split(pattern, by, every=every, to=to, format=format, force=force)


def redact(source: Union[Source, Trace], output: Path, names: str = "keep", *, map: Optional[str] = None, keep_args: Texts = None,
           keep_numbers: bool = False, key: Optional[str] = None, format: Optional[str] = None, force: bool = False,
           **reading: Any) -> Row:
    """Writes a copy of a trace without private text, so that it can be shared.

    Parameters
    ----------
    source : Trace, or as in `load`
        Trace to redact, which does not change.
    output : str or os.PathLike
        File or address to write; its extension selects format and compression.
    names, map, keep_args, keep_numbers, key
        As in `Trace.redact`.
    format : str, optional
        Format of the output, such as "json.gz"; by default, from its extension.
    force : bool
        Replace an existing file.
    **reading
        Options of `load`.

    Returns
    -------
    dict
        As `Trace.save`, and `redacted`: numbers of changed or removed names, paths_and_hosts, args, records, labels, metadata
        and passthrough blocks.

    Raises
    ------
    Error
        The source cannot be read, or the output cannot be written; FileExistsError if it exists.

    Examples
    --------
    >>> tracekit.redact("trace.json.gz", "public.json.gz")["redacted"]["args"]
    """
    with _opened(source, reading) as t:
        copy = t.copy() if t is source else t
        counts = copy._redact(names, map, keep_args, keep_numbers, key)
        return dict(copy.save(output, format=format, force=force), redacted=counts)


def size(source: Union[Path, Trace], *, format: Optional[str] = None, level: Optional[int] = None, run: Optional[str] = None,
         step_dir: Union[None, int, str] = None, latest_good: bool = False, strict: bool = False, sched: bool = False,
         threads: Optional[int] = None, max_memory: Size = None, max_size: Size = None) -> Row:
    """Shows what takes up space in a trace, through the installed command.

    Parameters
    ----------
    source : str, os.PathLike or Trace
        File, run directory or archive, or a loaded trace. The command itself reads addresses: docs/commands/size.md.
    format : str, optional
        Format to measure, such as "pftrace"; by default, the format of the trace.
    level : int, optional
        Compression: 1 is fastest, 9 is smallest.
    run, step_dir, latest_good, strict, sched
        As in `load`.
    threads : int, optional
        Number of threads.
    max_memory, max_size : int or str, optional
        Limits of memory and of the decompressed input in bytes, or strings such as "2GB".

    Returns
    -------
    dict
        `input`, `format`, `bytes`, `compressed` (both in bytes), and tables with `bytes` and `events`: `kinds`, `categories`,
        `names`, `args` (with `values` instead of events), `tracks`, `ranks`.

    Raises
    ------
    Error
        The source cannot be read.

    Examples
    --------
    >>> tracekit.size("trace.json.gz", format="pftrace")["kinds"][0]
    """
    words = _command.options({"format": format, "level": level, "run": run, "step_dir": step_dir, "latest_good": latest_good,
                              "strict": strict, "sched": sched, "threads": threads, "max_memory": max_memory, "max_size": max_size})
    with _file_of(source) as file:
        found = _command.parsed(["size", "--quiet", *words, *_command.operands(file)])
    kinds = {name: _native.ROW_SIZE_KIND + i for i, name in enumerate(("kinds", "categories", "names", "args", "tracks", "ranks"))}
    return {name: Rows(value, kind=kinds[name]) if isinstance(value, _list) else value for name, value in found.items()}


def check(sources: Union[Paths, Trace], asserts: Texts = None, *, thresholds: Optional[Path] = None, step_name: Optional[str] = None,
          run: Optional[str] = None, step_dir: Union[None, int, str] = None, latest_good: bool = False, strict: bool = False,
          sched: bool = False, threads: Optional[int] = None, max_memory: Size = None, max_size: Size = None) -> Checks:
    """Tests that traces need no repair, and that assertions about their performance hold, through the installed command.

    Parameters
    ----------
    sources : str, os.PathLike, iterable of them, or Trace
        Files, run directories or archives, or a loaded trace. A loaded trace is saved first, so it never needs repair.
    asserts : str or iterable of str, optional
        Assertions, as in `tracekit check --assert`: "gpu_busy > 80%", "p95(step) < 150ms", "count(cudaMalloc) == 0",
        "findings == 0".
    thresholds : str or os.PathLike, optional
        File that changes the thresholds of findings; needs `asserts`.
    step_name, run, step_dir, latest_good, strict, sched
        As in `load`.
    threads : int, optional
        Number of threads.
    max_memory, max_size : int or str, optional
        Limits of memory and of the decompressed input in bytes, or strings such as "2GB".

    Returns
    -------
    Checks
        A table with a row per input and assertion. An input that cannot be read, and an assertion that cannot be evaluated,
        are rows with the result "unknown".

    Raises
    ------
    ValueError
        An assertion is invalid.
    Error
        The command is missing.

    Examples
    --------
    >>> tracekit.check("trace.json.gz", ["p95(step) < 150ms", "findings == 0"]).raise_for_findings().ok
    """
    words = _command.options({"assert": _texts(asserts), "thresholds": thresholds, "step_name": step_name, "run": run,
                              "step_dir": step_dir, "latest_good": latest_good, "strict": strict, "sched": sched, "threads": threads,
                              "max_memory": max_memory, "max_size": max_size})
    with _file_of(sources) as files:
        return _checked([*words, *_command.operands(files)])


def command(*words: Any) -> Any:
    """Runs the installed command with any arguments, without a shell. Needed for commands without a function here: scan, plan, apply,
    concat.

    Parameters
    ----------
    *words : str, os.PathLike or number
        Arguments of the command.

    Returns
    -------
    dict or str
        With "--json" among the arguments, the parsed result; otherwise the output.

    Raises
    ------
    Error
        The exit status is not 0; the message is the last message of the command.

    Examples
    --------
    >>> tracekit.command("plan", "rank0.scan", "rank1.scan", "-o", "job.plan", "--json")["ranks"]
    """
    texts = [word if isinstance(word, (str, _os.PathLike)) else str(word) for word in words]
    if "--json" not in texts:
        return _command.output(texts)
    texts.remove("--json")
    return _command.parsed(texts)


def _name_of(file: Any) -> Optional[str]:
    """Returns the name of a file object that selects the format; without .gz if the object itself compresses."""
    name = getattr(file, "name", None)
    if not isinstance(name, str):
        return None
    return name[:-3] if isinstance(file, _gzip.GzipFile) and name.endswith(".gz") else name


def _write_all(file: BinaryIO, content: bytes) -> None:
    """Writes the content also if the file object accepts only a part of it per call."""
    rest = memoryview(content)
    while len(rest):
        n = file.write(rest)
        if n is None and isinstance(file, _io.RawIOBase):
            raise BlockingIOError("the file object accepts no more data now")
        rest = rest[n if isinstance(n, int) else len(rest):]


def _distinct(names: Sequence[str]) -> List[str]:
    """Returns the names of columns, in which a repeated one gets a number."""
    found: List[str] = []
    for name in names:
        numbered, n = name, 0
        while numbered in found:
            n += 1
            numbered = f"{name}_{n}"
        found.append(numbered)
    return found


@_contextlib.contextmanager
def _opened(source: Any, reading: Dict[str, Any]) -> Iterator[Trace]:
    """Yields the source if it is a Trace; otherwise loads it, and closes the trace at the end."""
    if isinstance(source, Trace):
        if reading:
            raise TypeError(f"options of load are of no use for a loaded trace: {', '.join(reading)}")
        yield source
        return
    with load(source, **reading) as t:
        yield t


@_contextlib.contextmanager
def _file_of(source: Any) -> Iterator[Any]:
    """Yields the source or, if it is a Trace, the path of a temporary file to which the trace is saved."""
    if not isinstance(source, Trace):
        yield source
        return
    info = source.info
    with _tempfile.TemporaryDirectory(prefix="tracekit-") as folder:
        name = _os.path.basename(str(info["source"] or "")) or "trace"
        path = _os.path.join(folder, name.split(".", 1)[0] or "trace")
        format = info["format"] if info["format"] in ("json", "perfetto", "xplane") else "perfetto"
        source.save(path, format=format)
        yield path


class Trace:
    """A trace in memory. Operations (filter, rebase, redact, derive, fold_graphs, scopes) return a new trace and do not change
    this one, so calls can be chained. With inplace=True, they change this trace and return it, without memory for a copy.

    A trace is also a sequence of its events. A notebook shows the self time of each kind of event over time, and the longest names.
    `tracekit.load` creates traces.

    Parameters
    ----------
    native : object
        Trace of the extension module.
    """

    def __init__(self, native: _native.Trace) -> None:
        self._native = native
        self._rows: Optional[TraceTable] = None  # holds the events as rows, for t[i]

    def __enter__(self) -> Trace:
        """Returns the trace, which is closed at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes the trace."""
        self.close()

    def __len__(self) -> int:
        """Returns the number of events."""
        return int(self._native.length())

    def __bool__(self) -> bool:
        """Returns True, also for a trace without events."""
        return True

    def __iter__(self) -> Iterator[Row]:
        """Returns the events as dicts, one by one. A data frame is many times faster for sums."""
        return iter(self.events())

    def __contains__(self, name: object) -> bool:
        """Returns True if an event has this name."""
        return isinstance(name, str) and self.events("name")._has_word(name)

    def __getitem__(self, index: Union[int, slice, str, Sequence[str]]) -> Any:
        """Returns an event as a dict (index), events as a list of dicts (slice), or the table of some columns (names). The first
        event builds the whole table, which is kept until the trace changes."""
        if self._rows is None:
            self._rows = self.events()._held()
        return self._rows[index]

    def __reversed__(self) -> Iterator[Row]:
        """Returns the events from the last to the first."""
        return (self[i] for i in range(len(self) - 1, -1, -1))

    def copy(self) -> Trace:
        """Returns a copy, which shares nothing with this trace.

        Returns
        -------
        Trace
            The copy.

        Raises
        ------
        MemoryError
            The copy exceeds the limit with which the trace was loaded.

        Examples
        --------
        >>> t.copy().rebase(to_zero=True, inplace=True)
        """
        return Trace(self._native.copy())

    def close(self) -> None:
        """Frees the trace now instead of when it is garbage-collected. Later calls raise ValueError.

        Examples
        --------
        >>> t.close()
        """
        self._rows = None
        self._native.close()

    @property
    def info(self) -> Row:
        """Properties of the trace: source, format, host, rank, clock, number of events by kind, notes of the reader; start_ps and
        end_ps are picoseconds since origin_ns, and memory is in bytes."""
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
        self._rows = None if inplace else self._rows
        return self if inplace else self.copy()

    def _time(self, time: TimeRange) -> Optional[str]:
        """Returns a time range as text; an integer is a `ts` of this trace's tables."""
        return time if time is None or isinstance(time, str) else _time_range(time, self.info["clock"] == "realtime")

    # ---- tables ----

    def events(self, columns: Texts = None, unit: str = "ns", times: str = "int") -> TraceTable:
        """Returns the events as a table for pandas, polars, pyarrow or duckdb.

        Parameters
        ----------
        columns : str or iterable of str, optional
            Names of the columns: default columns; columns that are only created on request (id, parent, host, device, self,
            unfinished, clipped, phase, op, module); and "arg.KEY" for an arg.
        unit : {"ns", "ps"}
            "ns": `ts` is relative to the epoch, if the clock is known; "ps": exact picoseconds since info["origin_ns"].
        times : {"int", "arrow", "ms"}
            "arrow": Arrow timestamps and durations, which pandas and polars recognise; "ms": float64 in milliseconds since
            info["origin_ns"].

        Returns
        -------
        Table
            A table that is created anew for each consumer. The unit of a column is in its metadata.

        Raises
        ------
        ValueError
            The trace is closed, or a column does not exist; raised when the table is used.

        Examples
        --------
        >>> t.events(["name", "dur", "arg.stream"]).to_pandas()
        """
        return self._table("events", columns, unit, times)

    @property
    def tracks(self) -> TraceTable:
        """Processes, threads and counters. The column `track` of other tables is an id in this table."""
        return self._table("tracks")

    @property
    def flows(self) -> TraceTable:
        """Flow points; those with the same `flow` belong to one flow."""
        return self._table("flows")

    @property
    def args(self) -> TraceTable:
        """Args of all events, one row per arg."""
        return self._table("args")

    @property
    def steps(self) -> TraceTable:
        """Training steps; `ts` and `dur` are nanoseconds."""
        return self._table("steps")

    @property
    def collectives(self) -> TraceTable:
        """Collectives: time (nanoseconds), rank, group and size (bytes)."""
        return self._table("collectives")

    def table(self, name: str, columns: Texts = None, unit: str = "ns", times: str = "int") -> TraceTable:
        """Returns a table by name.

        Parameters
        ----------
        name : {"events", "tracks", "flows", "args", "steps", "collectives"}
            Name of the table.
        columns, unit, times
            As in `events`.

        Returns
        -------
        Table
            The table.

        Raises
        ------
        ValueError
            No table has this name.

        Examples
        --------
        >>> t.table("steps", times="ms").to_pandas()
        """
        return self._table(name, columns, unit, times)

    def _table(self, name: str, columns: Texts = None, unit: str = "ns", times: str = "int") -> TraceTable:
        table = _word(name, _TABLES, "a table")
        ms = _word(times, _TIMES, "times") == 2
        ps = _word(unit, ("ns", "ps"), "unit") == 1 or ms
        names = _texts(columns)
        return TraceTable(self._native, table, names or _native.columns(table), {"columns": names, "ps": ps, "typed": times == "arrow"}, ms)

    # ---- analysis ----

    def top(self, by: str = "name", *, where: Texts = None, time: TimeRange = None, steps: StepRange = None, sort: str = "total",
            cols: Texts = None, min_count: int = 0, fold: bool = False, progress: ProgressOption = None) -> Rows:
        """Lists the names, or other groups of events, that took the most time.

        Parameters
        ----------
        by : str
            Property by which events are grouped into rows: name, cat, kind, rank, process, track, stream, step, phase, op,
            module, class, device or arg.KEY.
        where : str or iterable of str, optional
            Filter expressions, as in `filter`.
        time : str or pair, optional
            Range of time, as in `filter`, such as "+2s..+5s".
        steps : str, int or range, optional
            Range of training steps, such as "3..5".
        sort : {"total", "self", "union", "count", "mean", "min", "p50", "p95", "max", "name"}
            Column by which to sort.
        cols : str or iterable of str, optional
            Keys of numeric args; adds `cols` to every row: count, mean, min and max of each.
        min_count : int
            Leave out rows with fewer events.
        fold : bool
            Group names that differ only in numbers or template arguments.
        progress : bool or callable, optional
            As in `load`.

        Returns
        -------
        Rows
            A table with name, count, total_ns, self_ns, union_ns, min_ns, p50_ns, mean_ns, p95_ns and max_ns.
            docs/fields.md describes the keys.

        Raises
        ------
        ValueError
            An expression or a word is invalid.

        Examples
        --------
        >>> t.top(where="kind == 'kernel'")[:10].to_pandas(times="ms")
        """
        place, arg = _by(by)
        with _shown(progress, "counting") as shown:
            return Rows(self._native.top({"by": place, "arg": arg, "where": _texts(where), "time": self._time(time), "steps": _step_range(steps),
                                          "cols": _texts(cols), "sort": _word(sort, _SORT, "sort"), "min_count": min_count,
                                          "fold": fold, "progress": shown}), kind=_native.ROW_TOP)

    def tree(self, by: Optional[str] = None, *, per: Optional[str] = None, path: Optional[str] = None, where: Texts = None,
             time: TimeRange = None, steps: StepRange = None, fold: bool = False, sort: str = "total", layers: bool = False,
             levels: int = 0, progress: ProgressOption = None) -> Rows:
        """Returns time by call path.

        Parameters
        ----------
        by : str, optional
            Property that forms a level above the names, as in `top`.
        per : str, optional
            Name or glob of spans; times are then means per such span.
        path : str, optional
            Key of an arg, such as "tf_op". Its text is used as the path, instead of the nested names.
        where, time, steps, fold
            As in `top`.
        sort : {"total", "start"}
            Order of the rows of one level: total (descending) or start.
        layers : bool
            Show layers: scopes of XLA; if there are none, modules; if there are none, annotations. If steps are marked, only
            events in steps count.
        levels : int
            Number of levels to return; 0 returns all.
        progress : bool or callable, optional
            As in `load`.

        Returns
        -------
        Rows
            A table, parents first, with name, parent (an index), depth, count, total_ns, self_ns, mean_ns and device_ns (time of
            the device work launched inside the span).

        Raises
        ------
        ValueError
            An expression or a word is invalid.

        Examples
        --------
        >>> [(row["depth"], row["name"]) for row in t.tree()][:3]
        """
        place, arg = (None, None) if by is None else _by(by)
        with _shown(progress, "counting") as shown:
            return Rows(self._native.tree({"by": place, "arg": arg, "per": per, "path": path, "where": _texts(where), "time": self._time(time),
                                           "steps": _step_range(steps), "fold": fold, "by_start": _word(sort, ("total", "start"), "sort") == 1,
                                           "layers": layers, "levels": levels, "progress": shown}), kind=_native.ROW_TREE)

    def report(self, *, where: Texts = None, time: TimeRange = None, steps: StepRange = None, brief: bool = False,
               thresholds: Optional[Path] = None, progress: ProgressOption = None) -> Report:
        """Summarises where the run spent its time, for this trace only.

        Parameters
        ----------
        where, time, steps, brief, thresholds, progress
            As in `tracekit.report`.

        Returns
        -------
        Report
            The result of `tracekit.report`. A notebook shows the report page, for the state of the trace when it is first shown.

        Raises
        ------
        ValueError
            An expression is invalid, or the trace is closed.

        Examples
        --------
        >>> t.report()["ranks"].to_pandas()
        """
        words = _command.options({"expr": _texts(where), "time": self._time(time), "step": _step_range(steps), "thresholds": thresholds})
        with _shown(progress, "counting") as shown:
            found = _described(self._native.report({"where": _texts(where), "time": self._time(time), "steps": _step_range(steps), "brief": brief,
                                                    "thresholds": _path(thresholds), "progress": shown}), _native.ROW_REPORT)

        def make() -> str:
            with _file_of(self) as file:
                return _page(words, [file]).replace(_os.path.dirname(file) + "/", "")

        return Report(found, make)

    def diff(self, after: Union[Paths, Trace], **options: Any) -> Row:
        """Compares this trace with another one.

        Parameters
        ----------
        after : str, os.PathLike, iterable of them, or Trace
            Path or trace to compare with.
        **options
            Options of `tracekit.diff`.

        Returns
        -------
        dict
            The result of `tracekit.diff`.

        Raises
        ------
        Error
            The other trace cannot be read.

        Examples
        --------
        >>> t.diff("after.json.gz", by="cat")["rows"]
        """
        return diff(self, after, **options)

    def sql(self, query: str, params: Union[None, Sequence[Any], Mapping[str, Any]] = None, *, timeout: Optional[float] = None,
            max_rows: Optional[int] = None, progress: ProgressOption = None) -> Rows:
        """Runs SQL on the tables of Perfetto's trace_processor.

        Parameters
        ----------
        query : str
            Statements; docs/sql.md lists the tables. Times are nanoseconds.
        params : sequence or dict, optional
            Values of parameters: a sequence for "?", a dict for ":name".
        timeout : float, optional
            Limit in seconds.
        max_rows : int, optional
            Limit of rows.
        progress : bool or callable, optional
            As in `load`.

        Returns
        -------
        Rows
            The rows of the last statement. If several columns have the same name, the others are called name_1, name_2, ...

        Raises
        ------
        Error
            The statement is invalid, exceeds the limit, or has a parameter without a value.

        Examples
        --------
        >>> t.sql("SELECT name, sum(dur) AS ns FROM slice WHERE dur > ? GROUP BY name ORDER BY ns DESC LIMIT 3", [1000])
        """
        pairs = params.items() if isinstance(params, Mapping) else ((None, value) for value in params or ())
        with _shown(progress, "querying") as shown:
            answers = self._native.sql(query, {"timeout_ms": None if timeout is None else _math.ceil(timeout * 1000),
                                               "max_rows": max_rows, "params": [*pairs], "progress": shown})
        columns, rows = answers[-1] if answers else ((), [])
        names = _distinct(columns)
        return Rows((dict(zip(names, row)) for row in rows), columns=names)

    def size(self, format: Optional[str] = None, *, level: Optional[int] = None) -> Row:
        """Shows what takes up space in the trace, through the installed command.

        Parameters
        ----------
        format, level
            As in `tracekit.size`.

        Returns
        -------
        dict
            The result of `tracekit.size`.

        Raises
        ------
        Error
            The trace cannot be written in this format.

        Examples
        --------
        >>> t.size("pftrace")["names"].to_pandas()
        """
        return size(self, format=format, level=level)

    def check(self, asserts: Texts = None, *, thresholds: Optional[Path] = None, step_name: Optional[str] = None) -> Checks:
        """Tests that assertions about the performance of the trace hold, through the installed command.

        Parameters
        ----------
        asserts, thresholds, step_name
            As in `tracekit.check`.

        Returns
        -------
        Checks
            A table with a row per assertion.

        Raises
        ------
        ValueError
            An assertion is invalid.

        Examples
        --------
        >>> t.check("count(cudaMalloc) == 0").raise_for_findings()
        """
        return check(self, asserts, thresholds=thresholds, step_name=step_name)

    # ---- operations ----

    def filter(self, where: Texts = None, *, name: Optional[Match] = None, cat: Optional[Match] = None, kind: Optional[Match] = None,
               rank: Optional[Match] = None, host: Optional[Match] = None, process: Optional[Match] = None,
               thread: Optional[Match] = None, track: Optional[Match] = None, pid: Optional[Match] = None, tid: Optional[Match] = None,
               device: Optional[Match] = None, stream: Optional[Match] = None, step: Optional[Match] = None,
               phase: Optional[Match] = None, launched_by: Optional[Match] = None, time: TimeRange = None,
               steps: StepRange = None, keep_args: Texts = None, drop_args: Texts = None, parents: bool = False,
               children: bool = False, flows: bool = False, drop_flows: bool = False, allow_empty: bool = False, inplace: bool = False,
               progress: ProgressOption = None) -> Trace:
        """Returns a trace with only the events for which all conditions are true.

        Parameters
        ----------
        where : str or iterable of str, optional
            Expressions: "name =~ 'nccl' && dur > 10us", "launched_by ~ '*Attention*'".
        name, cat, kind, rank, host, process, thread, track, pid, tid, device, stream, step, phase, launched_by
            One condition each, on the symbol with this name (docs/filter.md): a number; a string, which is a glob if it contains *,
            ? or [; a compiled pattern, which must match somewhere in the string; a range or a slice, which excludes its end; or
            a list, of which one value must match.
        time : str or pair, optional
            Range of time without its end, such as "+2s..+5s", or a pair (start, end), each an integer (a `ts` in ns), a datetime,
            a string or None.
        steps : str, int or range, optional
            Range of training steps; a string such as "3..5" includes its end.
        keep_args, drop_args : str or iterable of str, optional
            Globs of keys of args to keep, or to remove.
        parents : bool
            Also keep the spans around kept events.
        children : bool
            Also keep the spans inside kept spans.
        flows : bool
            Also keep events that are connected to kept events by flows.
        drop_flows : bool
            Remove all flows.
        allow_empty : bool
            Do not warn (EmptyResult) if no event is left.
        inplace : bool
            Change this trace and return it.
        progress : bool or callable, optional
            As in `load`.

        Returns
        -------
        Trace
            The filtered trace.

        Raises
        ------
        ValueError
            An expression or a condition is invalid.

        Examples
        --------
        >>> t.filter("dur > 1ms", kind="kernel", name="nccl*", step=slice(3, 5))
        """
        fields = {"name": name, "cat": cat, "kind": kind, "rank": rank, "host": host, "process": process, "thread": thread,
                  "track": track, "pid": pid, "tid": tid, "device": device, "stream": stream, "step": step, "phase": phase,
                  "launched_by": launched_by}
        conditions = _expressions(where, fields)
        t = self._target(inplace)
        with _shown(progress, "filtering") as shown:
            done = t._native.filter({"where": conditions or None, "time": self._time(time), "steps": _step_range(steps), "keep_args": _texts(keep_args),
                                     "drop_args": _texts(drop_args), "parents": parents, "children": children, "flows": flows,
                                     "drop_flows": drop_flows, "progress": shown})
        if not done["events"] and done["events_before"] and not allow_empty:
            _warnings.warn(f"no event is left of {done['events_before']}: {' && '.join(conditions) or 'the range is empty'}", EmptyResult,
                           stacklevel=2)
        return t

    def rebase(self, *, to_zero: bool = False, to: Optional[str] = None, at: Optional[str] = None, nth: int = 1, absolute: bool = False,
               scale: Optional[str] = None, shift: Union[None, int, str] = None, inplace: bool = False) -> Trace:
        """Returns the trace moved in time.

        Parameters
        ----------
        to_zero : bool
            Move the first event to time 0.
        to : str, optional
            Time of the first event, or of `at`.
        at : str, optional
            Name of the event that is moved to time 0, or to `to`.
        nth : int
            Ordinal of the event among those with the name `at`, from 1.
        absolute : bool
            Print times relative to the epoch of the clock.
        scale : str, optional
            Factor of all times, such as "1000" or "2/3".
        shift : int or str, optional
            Offset in picoseconds, or a string such as "-20us".
        inplace : bool
            Change this trace and return it.

        Returns
        -------
        Trace
            The moved trace.

        Raises
        ------
        ValueError
            Options contradict each other, or no event has the name.

        Examples
        --------
        >>> t.rebase(shift="-20us")
        """
        t = self._target(inplace)
        t._native.rebase({"to_zero": to_zero, "to": to, "at": at, "nth": nth if at else None, "absolute": absolute, "scale": scale,
                          "shift_ps": _ps(shift)})
        return t

    def redact(self, names: str = "keep", *, map: Optional[str] = None, keep_args: Texts = None, keep_numbers: bool = False,
               key: Optional[str] = None, inplace: bool = False) -> Trace:
        """Returns the trace without sensitive data: paths, hosts, users, args, command lines.

        Parameters
        ----------
        names : {"keep", "hash", "map"}
            How to treat the names of events, tracks and counters.
        map : str, optional
            File of replacements, for names="map".
        keep_args : str or iterable of str, optional
            Globs of keys of args to keep unchanged.
        keep_numbers : bool
            Keep args that are not text.
        key : str, optional
            Secret for the hashes. By default it is random; use the same secret to get equal hashes in several runs.
        inplace : bool
            Change this trace and return it.

        Returns
        -------
        Trace
            The redacted trace.

        Raises
        ------
        ValueError
            A word is invalid.

        Examples
        --------
        >>> t.redact("hash", keep_numbers=True).save("public.json.gz")
        """
        t = self._target(inplace)
        t._redact(names, map, keep_args, keep_numbers, key)
        return t

    def _redact(self, names: str, map: Optional[str], keep_args: Texts, keep_numbers: bool, key: Optional[str]) -> Row:
        counts: Row = self._native.redact({"names": _word(names, _NAMES, "names"), "map": map, "keep_args": _texts(keep_args),
                                           "keep_numbers": keep_numbers, "key": key})
        return counts

    def derive(self, *, inplace: bool = False) -> Trace:
        """Returns the trace with the lines that xprof derives from an XPlane: Steps, XLA Modules, XLA Ops, ...

        Parameters
        ----------
        inplace : bool
            Change this trace and return it.

        Returns
        -------
        Trace
            The trace with these lines.

        Raises
        ------
        ValueError
            The trace is closed.

        Examples
        --------
        >>> tracekit.load("vm.xplane.pb").derive().save("derived.xplane.pb")
        """
        t = self._target(inplace)
        t._native.derive()
        return t

    def fold_graphs(self, *, inplace: bool = False) -> Trace:
        """Returns the trace with the work of replayed CUDA and HIP graphs on a few lanes, by kind, instead of many streams. For
        viewers.

        Parameters
        ----------
        inplace : bool
            Change this trace and return it.

        Returns
        -------
        Trace
            The trace with these lanes.

        Raises
        ------
        ValueError
            The trace is closed.

        Examples
        --------
        >>> t.fold_graphs().view()
        """
        t = self._target(inplace)
        t._native.fold_graphs()
        return t

    def scopes(self, key: str, *, inplace: bool = False) -> Trace:
        """Returns the trace with additional rows that show the scopes in an arg, which contains them as a path.

        Parameters
        ----------
        key : str
            Key of the arg, such as "tf_op".
        inplace : bool
            Change this trace and return it.

        Returns
        -------
        Trace
            The trace with these rows.

        Raises
        ------
        ValueError
            No event has a path in this arg.

        Examples
        --------
        >>> t.scopes("tf_op").top()
        """
        t = self._target(inplace)
        if not t._native.scopes({"key": key}):
            raise ValueError(f"no event has a path in the arg {key!r}")
        return t

    # ---- output ----

    def save(self, path: Union[Path, BinaryIO], *, format: Optional[str] = None, level: int = 0, pretty: bool = False,
             force: bool = False, no_loss: bool = False, threads: Optional[int] = None, progress: ProgressOption = None) -> Row:
        """Writes the trace.

        Parameters
        ----------
        path : str, os.PathLike or binary file object
            File, whose extension selects format and compression (.json.gz, .pftrace, .xplane.pb); an address, to which the
            complete file is uploaded; or a file object.
        format : str, optional
            Format and compression, such as "json.gz"; by default, from the extension, otherwise the format of the trace. For a
            file object, this alone decides whether the content is compressed.
        level : int
            Compression: 1 is fastest, 9 is smallest, 0 is the default.
        pretty : bool
            JSON: one event per line.
        force : bool
            Replace an existing file.
        no_loss : bool
            Raise an error if the format cannot represent all of the trace.
        threads : int, optional
            Number of threads; does not affect the output.
        progress : bool or callable, optional
            True shows a progress bar; a function is called with the amount done and the total.

        Returns
        -------
        dict
            `format`, `events`, `bytes`, `lost` (a dict by kind), ...

        Raises
        ------
        Error
            The file cannot be written; FileExistsError if it exists.

        Examples
        --------
        >>> t.save("trace.pftrace")["lost"]
        """
        with _shown(progress, "writing") as shown:
            return self._save(path, {"output_format": format, "level": level, "pretty": pretty, "force": force, "no_loss": no_loss,
                                     "threads": threads, "progress": shown}, format)

    def _save(self, path: Union[Path, BinaryIO], options: Dict[str, Any], format: Optional[str]) -> Row:
        if isinstance(path, (str, _os.PathLike)):
            with _output(path, bool(options["force"])) as file:
                return self._native.save(file, options)
        options["name"] = f"out.{format}" if format else _name_of(path) or f"out.{self.info['format']}"
        saved: Row = self._native.save(None, options)
        _write_all(path, saved.pop("content"))
        return saved

    def to_bytes(self, format: str = "json", *, compress: bool = False) -> bytes:
        """Returns the content of the file.

        Parameters
        ----------
        format : str
            Format, such as "json", "perfetto" or "xplane".
        compress : bool
            Compress with gzip.

        Returns
        -------
        bytes
            The content.

        Raises
        ------
        ValueError
            The format is unknown.

        Examples
        --------
        >>> len(t.to_bytes("perfetto", compress=True))
        """
        content: bytes = self._native.save(None, {"output_format": format, "name": "out.gz" if compress else "out"})["content"]
        return content

    def shrink(self, output: Path, *, to: Size = None, events: Optional[int] = None, percent: Optional[float] = None,
               lossless: bool = False, hard: bool = False, keep: Optional[str] = None, drop: Optional[str] = None,
               ladder: Optional[str] = None, format: Optional[str] = None, force: bool = False, inplace: bool = False,
               progress: ProgressOption = None) -> Row:
        """Shrinks the trace to a limit and writes it.

        Parameters
        ----------
        output : str or os.PathLike
            File or address to write.
        to : int or str, optional
            Maximum size of the file in bytes, or a string such as "100MB".
        events : int, optional
            Maximum number of events.
        percent : float, optional
            Maximum percentage of the size.
        lossless : bool
            Remove nothing but duplicate data.
        hard : bool
            Also remove kernels, collectives, steps and annotations if the limit cannot be met otherwise.
        keep, drop : str, optional
            Events to keep in any case, and events to remove first, as in `tracekit shrink`.
        ladder : str, optional
            Steps of removal and their order.
        format : str, optional
            Format of the output; by default, from its extension.
        force : bool
            Replace an existing file.
        inplace : bool
            Also shrink this trace, which then equals the output. Needs no memory for a copy.
        progress : bool or callable, optional
            As in `load`.

        Returns
        -------
        dict
            As `save`, and `before`, `target` (bytes), `events_before`.

        Raises
        ------
        Error
            The limit cannot be met, or the file cannot be written.

        Examples
        --------
        >>> t.shrink("small.json.gz", to="50MB")["bytes"]
        """
        options: Dict[str, Any] = {
            "bytes": _size(to), "events": events, "percent": percent, "lossless": lossless, "hard": hard, "keep": keep, "drop": drop,
            "ladder": ladder, "output_format": format, "force": force}
        with _shown(progress, "shrinking") as options["progress"], _output(output, force) as file:
            return self._target(inplace)._native.shrink(file, options)

    def split(self, pattern: Path, by: str, *, every: Union[None, int, str] = None, to: Size = None, format: Optional[str] = None,
              force: bool = False) -> Rows:
        """Splits the trace into files.

        Parameters
        ----------
        pattern : str or os.PathLike
            Name or address of the files. {} in it is replaced by the step, rank, process or number of the part.
        by : {"step", "rank", "process", "time", "size"}
            How to split.
        every : int or str, optional
            Length of a part in picoseconds, or a string such as "100ms"; for by="time".
        to : int or str, optional
            Maximum size of a file in bytes, or a string such as "100MB"; for by="size".
        format : str, optional
            Format of the files; by default, from their extension.
        force : bool
            Replace existing files.

        Returns
        -------
        Rows
            A table with a row per file: `output`, `events`, `bytes`, `lost`.

        Raises
        ------
        Error
            A file cannot be written; then no file is written.

        Examples
        --------
        >>> t.split("step{}.json.gz", "step")["output"]
        """
        rows: List[Row] = []
        with _outputs(pattern, force, rows) as name:
            rows += self._native.split(str(name), {"by": _word(by, _SPLIT, "by"), "every_ps": _ps(every), "bytes": _size(to),
                                                   "output_format": format, "force": force})
        return Rows(rows)

    def view(self, limit: Union[int, str] = "50MB") -> Html:
        """Shows the trace in the notebook, in Perfetto's viewer. The page sends the trace to the viewer without a server.

        Parameters
        ----------
        limit : int or str
            Maximum size of the trace in the cell, in bytes or as a string such as "50MB".

        Returns
        -------
        object
            HTML, which the notebook displays.

        Raises
        ------
        ValueError
            The trace is above the limit: filter or shrink it first.

        Examples
        --------
        >>> t.filter(step=3).view()
        """
        return _frame(self, _size(limit))
