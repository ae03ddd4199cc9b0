"""Profiler traces of JAX, PyTorch, XLA, Chrome and Perfetto: load, query, cut, merge, convert.

    import tracekit

    t = tracekit.load("logs")                        # a file, a run directory, an archive; or several ranks as one trace
    t.events().to_pandas()                           # or polars.DataFrame(t.events()), pyarrow.table(t.events())
    t.top(by="name")[:10]                            # where the time went
    t.filter("kind == 'kernel'").save("kernels.pftrace")
    tracekit.merge(["rank0.json.gz", "rank1.json.gz"], "merged.pftrace")

Times in tables are whole nanoseconds since the epoch, or, with unit="ps", exact picoseconds from `info["origin_ns"]`; those of `top`
and `tree` are picoseconds.  A trace may be used from several threads, which then wait for one another.
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

_BY = ("name", "cat", "kind", "rank", "process", "track", "stream", "step")
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
    """One text, several or None, as a list or None."""
    if value is None or isinstance(value, str):
        return value if value is None else [value]
    return [str(v) for v in value]


def _ranges(value):
    """Ranks as the library reads ranges: of a number, a text such as "3..5", a range, or several of them."""
    if value is None:
        return None
    if isinstance(value, range):
        return [f"{value[0]}..{value[-1]}"] if value.step == 1 and value else [str(n) for n in value]
    if isinstance(value, (int, str)):
        return [str(value)]
    return [text for v in value for text in _ranges(v)]


def _offsets(value):
    """Texts such as "3=+1.5ms", also of a dict, whose numbers are nanoseconds."""
    if isinstance(value, dict):
        return [f"{who}={by}ns" if isinstance(by, int) else f"{who}={by}" for who, by in value.items()]
    return _texts(value)


def _names(sources):
    """What people call sources: a path, or several."""
    if isinstance(sources, (str, _os.PathLike)):
        sources = [sources]
    return [_os.fspath(s) for s in sources]


def _size(value):
    return _native.parse_size(value) if isinstance(value, str) else value


def _ps(value):
    return _native.parse_duration(value) if isinstance(value, str) else value


def _by(by):
    """("name", None), or (the place of "arg", its key)."""
    if by.startswith("arg."):
        return len(_BY), by[4:]
    return _word(by, _BY, "by"), None


def load(source, *, run=None, host=None, rank=None, format=None, max_memory=None, max_size=None, threads=None, strict=False,
         progress=None):
    """Reads a trace.

    source      a path, a run directory, an archive or a member of it ("logs.zip:rank0.json"); several of them, which are merged on one
                timeline; bytes; or a file object.  Of a run directory the newest run is taken, and of that the best file of each host.
    run, host, rank     which of those that there are
    format      "json", "perfetto" or "xplane"; by default the content tells
    max_memory  bytes, or a text such as "2G"
    strict      a repair is an error
    progress    True: a bar, in the cell of a notebook; or a function that is called with the bytes that were read and those that there are
    """
    options = {"run": run, "host": host, "rank": rank, "format": format, "threads": threads,
               "max_memory": _size(max_memory), "max_size": _size(max_size), "strict": strict}
    with _shown(progress, "reading") as options["progress"]:
        if hasattr(source, "read"):
            name = getattr(source, "name", None)
            return Trace(_native.load_bytes(source.read(), name if isinstance(name, str) else "(file)", options))
        if isinstance(source, (bytes, bytearray, memoryview)):
            return Trace(_native.load_bytes(bytes(source), "(bytes)", options))
        return Trace(_native.load(_names(source), options))


def merge(sources, output, *, align="auto", label=None, group_by="rank", offset=None, force=False, redact="", **options):
    """Merges the ranks of a job into one file on one timeline, one rank in memory at a time.

    align       how clocks are put on one: auto, clock, collectives, marker, start, none
    label       how processes are called: "rank {rank} - {host} - {process}"
    offset      ranks or hosts whose clock is known: texts "3=+1.5ms", or a dict {3: 1500000, "host42": "-20us"}, numbers in ns
    ranks       which are kept: a number, a range, a text "3..5", or several of them
    redact      "keep" or "hash": names that others may see
    options     as the command has them: marker, clock_error, reference, offsets_from, every_rank, steps, time, to, derive,
                to_zero, keep_going, keep_truncated, anchor, collectives, link_collectives, align_report, level, threads, max_memory,
                no_loss, dry_run, progress

    Returns what became of it: `ranks`, `trusted` (of the clocks), `events`, `bytes`, `lost`, `notes`.
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
    """Writes the newest run of a log directory or archive as one file for each run (split: for each host; raw: copies).

    Returns a list of what was written: `output`, `run`, `from`, `events`, `bytes`, `lost`.
    """
    options = dict(options, run=run, host=host, rank=rank, all_runs=all_runs, split=split, raw=raw,
                   derive=derive, output_format=format, force=force, output=None if output is None else _os.fspath(output))
    with _shown(options.get("progress"), "extracting") as options["progress"]:
        return _native.extract(_names(sources), options)


def report(sources, *, where=None, time=None, steps=None, brief=False, keep_going=False, run=None, host=None, rank=None, max_memory=None,
           threads=None, progress=None):
    """What a run did with its time, one rank in memory at a time: a dict.

    ranks       a dict for each device: rank, device, `times` (window, busy, idle, compute, exposed_communication, ..., in _ps), `step`
                (their spread), `steps`, `streams`
    kernels, collectives, meetings (of ranks, who waited for whom), memories        a dict each
    unknown     what the traces do not tell, in sentences
    where, time, steps  which work of devices counts, as of `filter`
    brief       without launches and tables
    """
    with _shown(progress, "reading") as shown:
        return _native.report(_names(sources), {
            "where": _texts(where), "time": time, "steps": steps, "brief": brief, "keep_going": keep_going, "run": run, "host": host,
            "rank": rank, "max_memory": _size(max_memory), "threads": threads, "progress": shown})


def diff(before, after, *, by="name", by_path=False, fold=False, whole=False, where=None, time=None, steps=None, max_memory=None,
         threads=None, progress=None):
    """What changed from one run to another: a dict with `rows` (name, count, total_ps, self_ps: each before and after; delta_ps, and
    noise_ps, as far as it may be off), `all`, `step`, `steps`.

    by          as of `top`, less kind
    by_path     spans by path of names
    whole       compares ranks, not their steps
    """
    place, arg = _by(by)
    with _shown(progress, "reading") as shown:
        return _native.diff(_names(before), _names(after), {
            "by": place, "arg": arg, "by_path": by_path, "fold": fold, "whole": whole, "where": _texts(where), "time": time,
            "steps": steps, "max_memory": _size(max_memory), "threads": threads, "progress": shown})


def list(sources, *, deep=False):  # the word of the command
    """What traces there are: a dict for each file, the newest run first.  deep: all of it is read, and events are counted."""
    return _native.list(_names(sources), {"deep": deep})


class Trace:
    """A trace in memory.  Operations change it and return it, so that they can be chained."""

    def __init__(self, native):
        self._native = native

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Frees it now, rather than when it is no longer used."""
        self._native.close()

    @property
    def info(self):
        """What it says of itself: source, format, host, rank, clock, numbers of events by kind, notes of the reader."""
        return self._native.info()

    def __repr__(self):
        i = self.info
        return f"<tracekit.Trace {i['source']}: {i['events']} events, {i['processes']} processes>"

    def _repr_html_(self):
        return _summary(self)

    # ---- tables ----

    def events(self, columns=None, unit="ns"):
        """The events as a table for pandas, polars, pyarrow or duckdb.

        columns     of the usual ones, those that are made on request (id, parent, host, device, self, unfinished, clipped), and
                    "arg.KEY" for an arg
        unit        "ns", or "ps": exact, from info["origin_ns"]
        """
        return self._table("events", columns, unit)

    @property
    def tracks(self):
        """Processes, threads, counters: `track` of other tables is an id here."""
        return self._table("tracks")

    @property
    def flows(self):
        """Flow points: those of one `flow` belong together."""
        return self._table("flows")

    @property
    def args(self):
        """A row for each arg of each event."""
        return self._table("args")

    @property
    def steps(self):
        """The training steps."""
        return self._table("steps")

    @property
    def collectives(self):
        """The collectives: when, on which rank, of which group and how large they were."""
        return self._table("collectives")

    def table(self, name, columns=None, unit="ns"):
        """One of events, tracks, flows, args, steps, collectives."""
        return self._table(name, columns, unit)

    def _table(self, name, columns=None, unit="ns"):
        table = _word(name, _TABLES, "a table")
        ps = _word(unit, ("ns", "ps"), "unit") == 1
        return Table(self._native, table, _texts(columns) or _native.columns(table), columns is None, ps)

    # ---- questions ----

    def top(self, by="name", *, where=None, time=None, steps=None, sort="total", cols=None, min_count=0, fold=False, progress=None):
        """Where the time went: a list of dicts with name, count, total_ps, self_ps, union_ps, min_ps, p50_ps, mean_ps, p95_ps, max_ps.

        by          name, cat, kind, rank, process, track, stream, step or arg.KEY
        where       expressions as of `filter`
        cols        keys of numeric args, of which each row gets count, mean, min and max
        fold        names that differ in numbers or template arguments are one
        """
        place, arg = _by(by)
        return self._native.top({"by": place, "arg": arg, "where": _texts(where), "time": time, "steps": steps, "cols": _texts(cols),
                                 "sort": _word(sort, _SORT, "sort"), "min_count": min_count, "fold": fold, "progress": progress})

    def tree(self, by=None, *, per=None, where=None, time=None, steps=None, fold=False, progress=None):
        """Time by path of names: a list of dicts, parents first, with name, parent (an index), depth, count, total_ps, self_ps,
        device_ps (of what was launched within)."""
        place, arg = (None, None) if by is None else _by(by)
        return self._native.tree({"by": place, "arg": arg, "per": per, "where": _texts(where), "time": time, "steps": steps, "fold": fold,
                                  "progress": progress})

    def report(self, *, where=None, time=None, steps=None, brief=False, progress=None):
        """What the run did with its time: as `tracekit.report` of this trace alone."""
        return self._native.report({"where": _texts(where), "time": time, "steps": steps, "brief": brief, "progress": progress})

    def sql(self, query, *, timeout=None, max_rows=None, progress=None):
        """What an SQL query over the tables of Perfetto's trace_processor answers: a list of dicts, those of the last statement.

        timeout     seconds
        """
        answers = self._native.sql(query, {"timeout_ms": None if timeout is None else int(timeout * 1000), "max_rows": max_rows,
                                           "progress": progress})
        columns, rows = answers[-1] if answers else ((), [])
        return [dict(zip(columns, row)) for row in rows]

    # ---- operations ----

    def filter(self, where=None, *, time=None, steps=None, keep_args=None, drop_args=None, parents=False, children=False, flows=False,
               drop_flows=False, progress=None):
        """Keeps the events that all expressions hold for: "name =~ 'nccl' && dur > 10us"."""
        self._native.filter({"where": _texts(where), "time": time, "steps": steps, "keep_args": _texts(keep_args), "progress": progress,
                             "drop_args": _texts(drop_args), "parents": parents, "children": children, "flows": flows,
                             "drop_flows": drop_flows})
        return self

    def rebase(self, *, to_zero=False, to=None, at=None, nth=1, absolute=False, scale=None, shift=None):
        """Moves the trace in time.  shift: picoseconds, or a text such as "-20us"."""
        self._native.rebase({"to_zero": to_zero, "to": to, "at": at, "nth": nth if at else None, "absolute": absolute, "scale": scale,
                             "shift_ps": _ps(shift)})
        return self

    def redact(self, names="keep", *, map=None, keep_args=None, keep_numbers=False, key=None):
        """Takes out what others should not see: paths, hosts, users, args, command lines.  names: keep, hash or map."""
        self._native.redact({"names": _word(names, _NAMES, "names"), "map": map, "keep_args": _texts(keep_args),
                             "keep_numbers": keep_numbers, "key": key})
        return self

    def derive(self):
        """Adds the lines that xprof makes of an XPlane: Steps, XLA Modules, XLA Ops, ..."""
        self._native.derive()
        return self

    # ---- out ----

    def save(self, path, *, format=None, level=0, pretty=False, force=False, no_loss=False, threads=None, progress=None):
        """Writes the trace.  The ending of the path tells format and compression: .json.gz, .pftrace, .xplane.pb.

        path        a path, or a binary file object, which then needs a `format` unless its name tells it
        Returns what was written: events, bytes, `lost` by kind.
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
        """The file as bytes."""
        return self._native.save(None, {"output_format": format, "name": "out.gz" if compress else "out"})["content"]

    def shrink(self, output, *, to=None, events=None, percent=None, lossless=False, hard=False, keep=None, drop=None, ladder=None,
               format=None, force=False, progress=None):
        """Writes the trace so that it fits; it is afterwards what was written.  to: bytes, or a text such as "100MB"."""
        options = {"bytes": _size(to), "events": events, "percent": percent, "lossless": lossless, "hard": hard, "keep": keep, "drop": drop,
                   "ladder": ladder, "output_format": format, "force": force, "progress": progress}
        return self._native.shrink(_os.fspath(output), options)

    def split(self, pattern, by, *, every=None, to=None, format=None, force=False):
        """Writes parts to `pattern`, whose {} becomes the part's step, rank, process or number.  by: step, rank, process, time, size."""
        return self._native.split(_os.fspath(pattern), {"by": _word(by, _SPLIT, "by"), "every_ps": _ps(every), "bytes": _size(to),
                                                        "output_format": format, "force": force})

    def view(self, limit="50MB"):
        """Shows the trace in the notebook, in Perfetto's viewer, to which the page hands it without a server.

        The trace is embedded in the cell, so one above `limit` is refused: filter or shrink it before.
        """
        return _frame(self, _size(limit))
