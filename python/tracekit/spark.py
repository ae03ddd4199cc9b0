"""Merges ranks on Apache Spark: each rank is read by a task, twice, and the driver handles only small files.

    python -m tracekit.spark merge 's3://bucket/job/rank*.json.gz' merged.pftrace.gz

    from tracekit import spark
    spark.merge("s3://bucket/job/rank*.json.gz", "merged.pftrace.gz")

    scan, one task per rank -> driver: plan -> apply, one task per rank -> driver: concat

The tasks run the command `tracekit`; the output equals that of `tracekit merge` on the same ranks, byte for byte. pyarrow.fs
finds and reads the files: local paths, and URIs of s3, gs and hdfs. The command reads a remote file through a named pipe
with the file's name.

Except for tables, this module imports nothing else of the package, so that workers need only the command, Python and
pyarrow.
"""
import argparse
import fnmatch
import os
import shutil
import subprocess
import sys
import tempfile
import threading

WRONG = (2, 3)  # exit statuses of the command that blame the input; a retry would give the same
PIECE = 1 << 20


class Failed(Exception):
    """The merge failed; the message names the ranks that failed."""


# ---- files ----

def _split(path):
    """Returns (pyarrow file system, path on it)."""
    from pyarrow import fs
    if "://" in path:
        return fs.FileSystem.from_uri(path)
    return fs.LocalFileSystem(), os.path.abspath(path)


def _base(path):
    """Returns (path, query of its URI or ""): "s3://bucket/rank0.json?endpoint_override=host:9000&scheme=http"."""
    base, _, query = path.rpartition("?")
    return (base, "?" + query) if "://" in path and "=" in query else (path, "")


def _in(folder, name):
    base, query = _base(folder)
    return f"{base}/{name}{query}" if base else name


def _is_local(path):
    return "://" not in path or path.startswith("file://")


def _local(path):
    return path[len("file://"):] if path.startswith("file://") else path


def find(paths):
    """Expands patterns in paths; the matches of a pattern are sorted by name."""
    from pyarrow import fs
    found = []
    for path in [paths] if isinstance(paths, (str, os.PathLike)) else paths:
        path = os.fspath(path)
        base, query = _base(path)
        folder, slash, leaf = base.rpartition("/")
        if not any(c in leaf for c in "*?["):
            found.append(path)
            continue
        system, inside = _split((folder or slash or ".") + query)
        infos = system.get_file_info(fs.FileSelector(inside, recursive=False))
        names = sorted(i.base_name for i in infos if i.type == fs.FileType.File and fnmatch.fnmatchcase(i.base_name, leaf))
        if not names:
            raise Failed(f"{path}: there is no such file")
        found += [folder + slash + name + query for name in names]
    return found


def _feed(path, pipe, faults):
    """Copies a file into a pipe, whose reader may close it early."""
    system, inside = _split(path)
    try:
        with system.open_input_stream(inside, compression=None) as source, open(pipe, "wb", buffering=0) as to:
            while True:
                piece = source.read(PIECE)
                if not piece:
                    return
                to.write(piece)
    except BrokenPipeError:
        pass
    except Exception as e:  # pylint: disable=broad-except
        faults.append(e)
        with open(pipe, "wb"):  # unblocks a reader that waits for the pipe to be opened
            pass


class _Input:
    """A file name that the command can open. For a remote file it is a named pipe, in a folder with the same name as the remote
    folder."""

    def __init__(self, path, work):
        self.faults, self.thread = [], None
        if _is_local(path):
            self.name = _local(path)
            return
        folder, _, leaf = _base(path)[0].rpartition("/")
        folder = os.path.join(work, folder.rpartition("/")[2] or "input")
        os.makedirs(folder, exist_ok=True)
        self.name = os.path.join(folder, leaf)
        os.mkfifo(self.name)
        self.thread = threading.Thread(target=_feed, args=(path, self.name, self.faults), daemon=True)
        self.thread.start()

    def check(self):
        if self.faults:
            raise self.faults[0]


def _copy(source, target, force=True):
    """Copies a file between file systems; a local target gets its name only when complete."""
    a, inside = _split(source)
    b, outside = _split(target)
    if not force and b.get_file_info(outside).type.name != "NotFound":
        raise Failed(f"{target}: exists already")
    with a.open_input_stream(inside, compression=None) as i:
        if not _is_local(target):
            with b.open_output_stream(outside, compression=None) as o:
                shutil.copyfileobj(i, o, PIECE)
            return
        with tempfile.NamedTemporaryFile(dir=os.path.dirname(_local(target)) or ".", delete=False) as o:
            shutil.copyfileobj(i, o, PIECE)
        os.replace(o.name, _local(target))


# ---- the command ----

def _command(command):
    if command:
        shipped = command.startswith("ship:")
        if not shipped:
            return command
        from pyspark import SparkFiles
        path = SparkFiles.get(command[len("ship:"):])
        os.chmod(path, 0o755)
        return path
    import sysconfig
    beside = os.path.join(sysconfig.get_path("scripts"), "tracekit")
    return os.environ.get("TRACEKIT") or (beside if os.path.exists(beside) else "tracekit")


def _run(command, *args):
    p = subprocess.run([_command(command), *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return p.returncode, p.stdout, p.stderr.decode("utf-8", "replace").strip()


def _task(command, path, step):
    """Runs a step on a rank. Returns (result, None), or (None, reason) if the input is to blame; else raises, so that Spark
    retries."""
    with tempfile.TemporaryDirectory(prefix="tracekit-") as work:
        source = _Input(path, work)
        status, out, said = step(command, source.name, work)
        source.check()
        if status == 0:
            return out, None
        if status in WRONG:
            return None, said
        raise RuntimeError(f"{path}: status {status}: {said}")


def _made(step, to, *args):
    """Returns a step that writes `to` in the shared folder. The file gets its name only when complete, so the step can be
    retried."""
    def run(c, name, work):
        local = _local(to) if _is_local(to) else os.path.join(work, "made")
        status, _, said = _run(c, step, "-q", "--force", *(a.format(name=name, work=work) for a in args), "-o", local)
        if status == 0 and not _is_local(to):
            _copy(local, to)
        return status, to, said
    return run


def _scan(command, path, arguments, to):
    return _task(command, path, _made("scan", to, *(_plain(a) for a in arguments), "--input", _plain(_base(path)[0]), "{name}"))


def _apply(command, path, plan, to):
    def run(c, name, work):
        with open(os.path.join(work, "plan.json"), "wb") as f:
            f.write(plan)
        return _made("apply", to, "{work}/plan.json", "{name}", "--input", _plain(_base(path)[0]))(c, name, work)
    return _task(command, path, run)


def _rows(moved, rank):
    """Returns the events of an aligned trace as a pyarrow.Table; rank is replaced by that of the plan unless the trace has
    several."""
    import pyarrow
    try:
        import tracekit
    except ImportError as e:
        raise RuntimeError(f"tables need the package tracekit with its library where the ranks are read: {e}") from e
    with tracekit.load(moved) as trace:
        rows = pyarrow.table(trace.events())
    at = rows.schema.get_field_index("rank")
    if rows.num_rows and len(rows.column("rank").unique()) < 2:
        rows = rows.set_column(at, "rank", pyarrow.array([rank] * rows.num_rows, pyarrow.int64()))
    return rows


def _parquet(rows, i, to):
    """Writes DIR/rank=3/step=7/part-000003-0.parquet. A retry writes the same names."""
    import pyarrow
    from pyarrow import dataset
    keys = dataset.partitioning(pyarrow.schema([("rank", pyarrow.int64()), ("step", pyarrow.int64())]), flavor="hive")
    system, inside = _split(to)
    packed = dataset.ParquetFileFormat().make_write_options(compression="gzip")  # gzip: Java reads it without a native library
    dataset.write_dataset(rows, inside, filesystem=system, format="parquet", partitioning=keys, max_partitions=1 << 16,
                          basename_template=f"part-{i:06}-{{i}}.parquet", existing_data_behavior="overwrite_or_ignore",
                          create_dir=_is_local(to), file_options=packed)


def _table(command, path, i, plan, clocks, rank, to):
    def run(c, name, work):
        with open(os.path.join(work, "plan.json"), "wb") as f:
            f.write(plan)
        moved = os.path.join(work, "moved.json")
        given = ["--offsets-from", os.path.join(work, "plan.json")] if clocks else []
        status, _, said = _run(c, "merge", "-q", name, *given, "-o", moved)
        if status == 0:
            _parquet(_rows(moved, rank), i, to)
        return status, to, said
    return _task(command, path, run)


def _plain(text):
    return text.replace("{", "{{").replace("}", "}}")


# ---- the driver ----

class _Merge:
    def __init__(self, context, command, keep_going, say):
        self.context, self.command, self.keep_going, self.say, self.failed = context, command, keep_going, say, []

    def stage(self, what, paths, task):
        """Runs one task per rank, all at once. Returns [(path, result)] in order, without the ranks that failed."""
        n, done = len(paths), threading.Event()
        watch = threading.Thread(target=self._watch, args=(what, n, done), daemon=True)
        watch.start()
        try:
            results = self.context.parallelize(list(enumerate(paths)), n).map(lambda rank: task(*rank)).collect()
        finally:
            done.set()
            watch.join()
        failed = [(path, why) for path, (_, why) in zip(paths, results) if why is not None]
        self.failed += failed
        if failed and not self.keep_going:
            raise Failed("\n".join(f"{path}: {why}" for path, why in failed[:10]))
        self.say(f"{what}: {n - len(failed)} of {n}")
        return [(path, result) for path, (result, why) in zip(paths, results) if why is None]

    def _watch(self, what, n, done):
        tracker, last = self.context.statusTracker(), 0
        while not done.wait(2):
            infos = [tracker.getStageInfo(i) for i in tracker.getActiveStageIds()]
            now = sum(i.numCompletedTasks for i in infos if i)
            if now > last:
                self.say(f"{what}: {now} of {n}")
                last = now

    def driver(self, *args):
        status, _, said = _run(self.command if not (self.command or "").startswith("ship:") else None, *args)
        if said:
            self.say(said)
        if status:
            raise Failed(said or f"tracekit {args[0]}: status {status}")


def _spark(context):
    if context is not None:
        return getattr(context, "sparkContext", context), False
    from pyspark import SparkContext
    started = SparkContext._active_spark_context is None  # pylint: disable=protected-access
    return SparkContext.getOrCreate(), started


def _by_value():
    """Makes Spark pickle this module by value, so that workers need not have the package."""
    try:
        from pyspark.cloudpickle import register_pickle_by_value
        if __name__ in sys.modules and __name__ != "__main__":
            register_pickle_by_value(sys.modules[__name__])
    except ImportError:
        pass


def _fetch(parts, folder):
    """Yields local paths of the parts, copying remote ones to `folder`."""
    for i, part in enumerate(parts):
        if _is_local(part):
            yield _local(part)
        else:
            _copy(part, os.path.join(folder, f"{i:06}.part"))
            yield os.path.join(folder, f"{i:06}.part")


def merge(paths, out, *, format=None, options=(), scan_options=(), spark=None, command=None, ship=False, work=None, keep_going=False,
          force=False, table=None, say=lambda text: None):
    """Merges ranks, given as paths and patterns, into one file on one timeline.

    out           path or URI; its extension selects the format unless `format` is given ("json.gz", "pftrace", "xplane")
    options       options of `tracekit plan`: ["--every-rank", "8", "--group-by", "host"]
    scan_options  options of `tracekit scan`: ["--anchor", "barrier"]
    spark         a SparkSession or SparkContext (default: the active one, or a new one)
    command       the command on the workers (default: $TRACEKIT, or the package's own, or the one on the PATH)
    ship          send the command from the driver to the workers
    work          a folder for the parts that all workers and the driver can read and write (default: next to `out`)
    keep_going    leave out ranks that cannot be read
    force         replace an existing output
    table         a folder for the events of all ranks as Parquet, by rank and step, on one timeline; needs this package,
                  with its library, on the workers
    say           function that is called with progress messages

    Returns the ranks that were left out, as (path, reason).
    """
    out = os.fspath(out)
    if not format:
        leaf = _base(out)[0].rpartition("/")[2]
        packing = ".gz" if leaf.endswith(".gz") else ""
        stem = leaf[:len(leaf) - len(packing)]
        format = ("json" if stem.endswith(".json") else "xplane" if stem.endswith(".pb") else "pftrace") + packing
    context, started = _spark(spark)
    _by_value()
    if ship:
        binary = _command(command)
        binary = shutil.which(binary) or binary
        context.addFile(binary)
        command = "ship:" + os.path.basename(binary)
    ranks = find(paths)
    m = _Merge(context, command, keep_going, say)
    own = work is None
    work = work or _base(out)[0] + ".parts" + _base(out)[1]
    system, folder = _split(work)
    system.create_dir(folder)
    try:
        with tempfile.TemporaryDirectory(prefix="tracekit-") as here:
            plan, wanted = _merge(m, ranks, out, format, list(options), list(scan_options), work, force, here)
            if table is not None:
                _tables(m, plan, wanted, os.fspath(table), force)
    finally:
        if own:
            system.delete_dir(folder)
        if started:
            context.stop()
    return m.failed


def _merge(m, ranks, out, format, options, scan_options, work, force, here):
    command, scans, plan = m.command, os.path.join(here, "all.scan"), os.path.join(here, "plan.json")
    made = m.stage("scanned", ranks, lambda i, path: _scan(command, path, scan_options, _in(work, f"{i:06}.scan")))
    read = [path for path, _ in made]
    if not read:
        raise Failed("no rank could be read")
    with open(scans, "wb") as f:  # joined scans are a valid scan
        for _, scan in made:
            system, inside = _split(scan)
            with system.open_input_stream(inside, compression=None) as one:
                shutil.copyfileobj(one, f, PIECE)
    m.driver("plan", "-q", scans, "-f", format, *options, "-o", plan)
    wanted = _wanted(plan, read)
    with open(plan, "rb") as f:
        shared = m.context.broadcast(f.read())
    parts = [part for _, part in
             m.stage("written", wanted, lambda i, path: _apply(command, path, shared.value, _in(work, f"{i:06}.part")))]
    result = _local(out) if _is_local(out) else os.path.join(here, _base(out)[0].rpartition("/")[2])
    arguments = ["--force"] if force else []
    if len(parts) < len(wanted):
        arguments.append("--keep-going")
    listed = list(_fetch(parts, here))
    try:
        m.driver("concat", "-q", *arguments, plan, *listed, "-o", result)
    except Failed:
        if not (m.failed and m.keep_going and os.path.exists(result)):
            raise
    if not _is_local(out):
        _copy(result, out, force)
    return shared, wanted


def _tables(m, shared, ranks, table, force):
    """Writes the Parquet tables. A local folder gets its name only when complete; a remote one is marked complete by _SUCCESS,
    the usual convention."""
    import json
    plan = json.loads(shared.value)
    clocks = bool(plan["align"].get("hosts"))
    number = {rank["input"]: rank["rank"] for rank in plan["ranks"]}
    local, command = _is_local(table), m.command
    to = _local(table).rstrip("/") + ".part" if local else table
    if local and os.path.exists(_local(table)):
        if not force:
            raise Failed(f"{table}: exists already")
        shutil.rmtree(_local(table))
    if local:
        shutil.rmtree(to, ignore_errors=True)
    try:
        m.stage("tables", ranks, lambda i, path: _table(command, path, i, shared.value, clocks, number[_base(path)[0]], to))
        system, inside = _split(_in(to, "_SUCCESS"))
        with system.open_output_stream(inside):
            pass
        if local:
            os.rename(to, _local(table).rstrip("/"))
    finally:
        if local:
            shutil.rmtree(to, ignore_errors=True)


def _wanted(plan, ranks):
    """Returns the ranks that the plan keeps."""
    import json
    with open(plan, encoding="utf-8") as f:
        left_out = {rank["input"] for rank in json.load(f)["ranks"] if rank.get("left_out")}
    return [rank for rank in ranks if _base(rank)[0] not in left_out]


def main(argv=None):
    p = argparse.ArgumentParser(prog="python -m tracekit.spark", description="Merges the ranks of a job on Apache Spark.",
                                epilog="What follows -- is given to `tracekit plan`: -- --every-rank 8 --group-by host")
    p.add_argument("what", choices=["merge"])
    p.add_argument("paths", nargs="+", metavar="RANK", help="paths, URIs and patterns; the last one is the output")
    p.add_argument("-f", "--format", help="of the output (default: by its ending)")
    p.add_argument("-k", "--keep-going", action="store_true", help="leave out ranks that cannot be read (the exit status is then 3)")
    p.add_argument("--force", action="store_true", help="replace an existing output")
    p.add_argument("--master", help="of Spark, such as local[4]; by default as spark-submit or its configuration says")
    p.add_argument("--work", help="a folder for parts that all workers and the driver see (default: beside the output)")
    p.add_argument("--table", metavar="DIR", help="also write the events of all ranks as Parquet, by rank and step, on one timeline")
    p.add_argument("--command", help="tracekit, on the workers")
    p.add_argument("--ship", action="store_true", help="send the command to the workers")
    p.add_argument("-q", "--quiet", action="store_true")
    argv = list(sys.argv[1:] if argv is None else argv)
    at = argv.index("--") if "--" in argv else len(argv)
    a = p.parse_args(argv[:at])
    if len(a.paths) < 2:
        p.error("ranks, and behind them the output")
    from pyspark import SparkConf, SparkContext
    conf = SparkConf().setAppName("tracekit merge")
    if a.master:
        conf = conf.setMaster(a.master)
    context = SparkContext.getOrCreate(conf)
    try:
        failed = merge(a.paths[:-1], a.paths[-1], format=a.format, options=argv[at + 1:], spark=context, command=a.command, ship=a.ship,
                       work=a.work, keep_going=a.keep_going, force=a.force, table=a.table,
                       say=(lambda text: None) if a.quiet else (lambda text: print(text, file=sys.stderr)))
    except Failed as e:
        sys.exit(f"tracekit: {e}")
    finally:
        context.stop()
    for path, why in failed:
        print(f"tracekit: {path}: left out: {why}", file=sys.stderr)
    sys.exit(3 if failed else 0)


if __name__ == "__main__":
    main()
