"""Files of a merge on a cluster, and the tasks, which process one rank each. Executors send the code of these functions to
workers, so workers need only Python and the command, and pyarrow for remote files.

Except for tables, this module imports nothing else of the package.
"""
import fnmatch
import glob
import json
import os
import shutil
import subprocess
import tempfile
import threading

WRONG = (2, 3)  # exit statuses of the command for invalid input; a retry would have the same result
PIECE = 1 << 20


class Failed(Exception):
    """The merge failed; the message names the ranks that failed."""


# ---- names ----

def is_local(path):
    return "://" not in path or path.startswith("file://")


def local(path):
    return path[len("file://"):] if path.startswith("file://") else path


def base(path):
    """Returns (path, query of its URI or ""): "s3://bucket/rank0.json?endpoint_override=host:9000&scheme=http"."""
    start, _, query = path.rpartition("?")
    return (start, "?" + query) if "://" in path and "=" in query else (path, "")


def leaf(path):
    return base(path)[0].rpartition("/")[2]


def inside(folder, name):
    start, query = base(folder)
    return f"{start}/{name}{query}" if start else name


# ---- files ----

def _arrow_fs(path):
    """Returns the module pyarrow.fs, which the path needs."""
    try:
        from pyarrow import fs
    except ImportError:
        raise Failed(f"{path}: pyarrow is not installed; pip install pyarrow") from None
    return fs


def split(path):
    """Returns (pyarrow file system, path on it)."""
    fs = _arrow_fs(path)
    if "://" not in path:
        return fs.LocalFileSystem(), os.path.abspath(path)
    try:
        return fs.FileSystem.from_uri(path)
    except ValueError as e:
        raise Failed(f"{path}: {e}") from None


def exists(path):
    if is_local(path):
        return os.path.exists(local(path))
    system, name = split(path)
    return system.get_file_info(name).type.name != "NotFound"


def make_folder(path):
    if is_local(path):
        os.makedirs(local(path), exist_ok=True)
        return
    system, name = split(path)
    system.create_dir(name)


def remove_folder(path):
    if is_local(path):
        shutil.rmtree(local(path), ignore_errors=True)
        return
    system, name = split(path)
    system.delete_dir(name)


def open_input(path):
    if is_local(path):
        return open(local(path), "rb")
    system, name = split(path)
    return system.open_input_stream(name, compression=None)


def _local_names(path):
    name = local(path)
    if os.path.isdir(name):
        raise Failed(f"{path}: is a folder; name its files, such as '{name.rstrip('/')}/*.json.gz'")
    return [path] if os.path.exists(name) else sorted(glob.glob(name))


def _remote_names(path):
    fs = _arrow_fs(path)
    start, query = base(path)
    folder, slash, last = start.rpartition("/")
    if not any(c in last for c in "*?["):
        return [path]
    system, name = split((folder or slash) + query)
    infos = system.get_file_info(fs.FileSelector(name, recursive=False))
    names = sorted(i.base_name for i in infos if i.type == fs.FileType.File and fnmatch.fnmatchcase(i.base_name, last))
    return [folder + slash + name + query for name in names]


def find(paths):
    """Expands patterns in paths; the matches of a pattern are sorted by name."""
    found = []
    for path in [paths] if isinstance(paths, (str, os.PathLike)) else paths:
        path = os.fspath(path)
        names = _local_names(path) if is_local(path) else _remote_names(path)
        if not names:
            raise Failed(f"{path}: there is no such file")
        found += names
    return found


def copy(source, target, force=True):
    """Copies a file between file systems. A local target gets its final name only when it is complete."""
    if not force and exists(target):
        raise Failed(f"{target}: exists already; --force replaces it")
    with open_input(source) as i:
        if not is_local(target):
            system, name = split(target)
            with system.open_output_stream(name, compression=None) as o:
                shutil.copyfileobj(i, o, PIECE)
            return
        with tempfile.NamedTemporaryFile(dir=os.path.dirname(local(target)) or ".", delete=False) as o:
            shutil.copyfileobj(i, o, PIECE)
        os.replace(o.name, local(target))


def _feed(path, pipe, faults):
    """Copies a file into a pipe, whose reader may close it early."""
    try:
        with open_input(path) as source, open(pipe, "wb", buffering=0) as to:
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


class Input:
    """A file name that the command can open. For a remote file, this is a named pipe in a folder with the same name as the
    remote folder."""

    def __init__(self, path, work):
        self.faults, self.thread = [], None
        if is_local(path):
            self.name = local(path)
            return
        folder, _, last = base(path)[0].rpartition("/")
        folder = os.path.join(work, folder.rpartition("/")[2] or "input")
        os.makedirs(folder, exist_ok=True)
        self.name = os.path.join(folder, last)
        os.mkfifo(self.name)
        self.thread = threading.Thread(target=_feed, args=(path, self.name, self.faults), daemon=True)
        self.thread.start()

    def check(self):
        if self.faults:
            raise self.faults[0]


# ---- the command ----

def command_path(command):
    """Returns the path of the command: the given one, otherwise $TRACEKIT, that of the package, or that on the PATH."""
    if command and command.startswith("ship:"):
        from pyspark import SparkFiles
        path = SparkFiles.get(command[len("ship:"):])
        os.chmod(path, 0o755)
        return path
    if command:
        return command
    import sysconfig
    beside = os.path.join(sysconfig.get_path("scripts"), "tracekit")
    return os.environ.get("TRACEKIT") or (beside if os.path.exists(beside) else "tracekit")


def run(command, arguments, folder=None):
    """Runs the command in a folder. Returns (exit status, standard error)."""
    name = command_path(command)
    try:
        p = subprocess.run([name, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                           cwd=folder if folder and os.path.isdir(folder) else None)
    except FileNotFoundError:
        return 2, f"{name}: command not found on this worker; give its path with --command"
    said = p.stderr.decode("utf-8", "replace").strip()
    return p.returncode, "\n".join(line[len("tracekit: "):] if line.startswith("tracekit: ") else line for line in said.split("\n"))


# ---- tasks ----
#
# A task gets two arguments: `job`, a dict with the command and the folder in which relative names are resolved (the driver's),
# and a file as (index, path). The task of apply gets a rank instead, as (index, (path, number)); the number is None unless the
# file contains several ranks. A task returns (result, None), or (None, reason) if the input is invalid. Any other failure
# raises, so that the executor retries the task, possibly on another machine.

def _task(job, path, step):
    with tempfile.TemporaryDirectory(prefix="tracekit-") as work:
        source = Input(path, work)
        status, result, said = step(source.name, work)
        source.check()
    if status == 0:
        return result, None
    if status in WRONG:
        return None, said
    raise RuntimeError("; ".join((said or f"{path}: the command ended with status {status}").split("\n")))


def _write(job, to, work, *arguments):
    """Runs a step that writes `to` in the shared folder. The file gets its final name only when it is complete, so the step can
    be retried."""
    name = local(to) if is_local(to) else os.path.join(work, "made")
    status, said = run(job["command"], [arguments[0], "-q", "--force", *arguments[1:], "-o", name], job["folder"])
    if status == 0 and not is_local(to):
        copy(name, to)
    return status, to, said


def _plan_file(plan, work):
    """Returns a local path of the plan; copies a remote plan to `work`."""
    if is_local(plan):
        return local(plan)
    name = os.path.join(work, "plan.json")
    copy(plan, name)
    return name


def scan(job, options, to, rank):
    i, path = rank
    part = inside(to, f"{i:06}.scan")
    return _task(job, path, lambda name, work: _write(job, part, work, "scan", *options, "--input", base(path)[0], name))


def apply(job, options, plan, to, rank):
    i, (path, number) = rank
    part, one = inside(to, f"{i:06}.part"), [] if number is None else ["--rank", str(number)]
    return _task(job, path, lambda name, work: _write(job, part, work, "apply", *options, _plan_file(plan, work), name, *one, "--input",
                                                      base(path)[0]))


def table(job, plan, numbers, clocks, to, rank):
    """Writes the events of a file as Parquet, on the timeline of the plan. `numbers`: by file name, the numbers of its ranks
    (None = the rank is left out)."""
    i, path = rank

    def step(name, work):
        moved = os.path.join(work, "moved.json")
        given = ["--offsets-from", _plan_file(plan, work)] if clocks else []
        status, said = run(job["command"], ["merge", "-q", name, *given, "-o", moved], job["folder"])
        if status == 0:
            _parquet(_rows(moved, numbers[base(path)[0]]), i, to)
        return status, to, said
    return _task(job, path, step)


# ---- tables ----

def _rows(moved, numbers):
    """Returns the events of an aligned trace as a pyarrow.Table, with the plan's rank numbers in place of the trace's own."""
    import pyarrow
    from pyarrow import compute
    try:
        import tracekit
    except ImportError as e:
        raise RuntimeError(f"tables need the package tracekit with its library where the ranks are read: {e}") from e
    with tracekit.load(moved) as trace:
        rows = pyarrow.table(trace.events())
    at, own = rows.schema.get_field_index("rank"), sorted(rank for rank in rows.column("rank").unique().to_pylist() if rank is not None)
    if len(numbers) == 1 and len(own) < 2:
        return rows.set_column(at, "rank", pyarrow.array([numbers[0]] * rows.num_rows, pyarrow.int64()))
    if len(numbers) == len(own):
        places = compute.index_in(rows.column("rank"), pyarrow.array(own, pyarrow.int64()))
        rows = rows.set_column(at, "rank", pyarrow.array(numbers, pyarrow.int64()).take(places.combine_chunks()))
        rows = rows.filter(compute.is_valid(rows.column("rank")))
    return rows


def _parquet(rows, i, to):
    """Writes DIR/rank=3/step=7/part-000003-0.parquet. A retry writes the same names."""
    import pyarrow
    from pyarrow import dataset
    keys = dataset.partitioning(pyarrow.schema([("rank", pyarrow.int64()), ("step", pyarrow.int64())]), flavor="hive")
    system, name = split(to)
    packed = dataset.ParquetFileFormat().make_write_options(compression="gzip")  # gzip: Java reads it without a native library
    dataset.write_dataset(rows, name, filesystem=system, format="parquet", partitioning=keys, max_partitions=1 << 16,
                          basename_template=f"part-{i:06}-{{i}}.parquet", existing_data_behavior="overwrite_or_ignore",
                          create_dir=is_local(to), file_options=packed)


def plan_of(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)
