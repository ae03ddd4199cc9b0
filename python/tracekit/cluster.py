"""Merges ranks with many processes or machines. Tasks read each rank twice; the driver only handles small files.

    python -m tracekit.cluster merge 'job/rank*.json.gz' -o merged.pftrace.gz --executor ray

    from tracekit import cluster
    cluster.merge("job/rank*.json.gz", "merged.pftrace.gz", executor="dask")

    scan, one task per rank -> driver: plan -> apply, one task per rank -> driver: concat

The tasks run the command `tracekit`; the output is the same as that of `tracekit merge`, byte for byte. Local paths need
nothing else. URIs of s3, gs and hdfs are read by pyarrow.fs and passed to the command through a named pipe with the name of the
file.
"""
import argparse
import functools
import os
import secrets
import shutil
import sys
import tempfile
import time
from typing import Any

if __package__:
    from . import _executors, _ranks
else:  # run as a file, without the library of the package
    import _executors
    import _ranks

Failed = _ranks.Failed
find = _ranks.find
EXECUTORS = tuple(_executors.EXECUTORS)


# ---- options of merge ----

READING = ("scan", "apply")
# option of merge: (steps that accept it, True if it has a value); all other options are for plan
STEPS = {
    "--anchor": (("scan",), True), "--step-name": (("scan",), True),
    "--run": (READING, True), "--step-dir": (READING, True), "--latest-good": (READING, False), "--strict": (READING, False),
    "--sched": (READING, False), "--no-fetch": (READING, False), "--max-size": (READING, True), "--threads": (READING, True),
    "-j": (READING, True), "--max-memory": (("scan", "plan", "apply", "concat"), True), "--no-loss": (("concat",), False),
}
MERGE_ONLY = {
    "--link-collectives": "flows between ranks need one numbering", "--redact": "a plan must not contain the key",
    "--manifest": "it copies files unchanged", "--pretty": "indentation depends on the whole file",
    "--fold-graphs": "plan does not support it", "--align-report": "plan writes the report", "--join": "each rank is a trace",
    "--dry-run": "nothing would be read", "-n": "nothing would be read", "--json": "progress is printed as text",
}
OWN = {"-o": "out", "--output": "out", "-f": "format", "--format": "format", "-k": "keep_going", "--keep-going": "keep_going",
       "--force": "force"}


def route(options):
    """Returns {step: arguments} for options of `tracekit merge`."""
    routed, rest = {step: [] for step in ("scan", "plan", "apply", "concat")}, list(options)
    while rest:
        given = rest.pop(0)
        name, equals, _ = given.partition("=")
        if name.startswith("-j") and not name.startswith("--"):
            name, equals = "-j", equals or given[2:]
        if name in MERGE_ONLY:
            raise Failed(f"{name}: only `tracekit merge` supports it: {MERGE_ONLY[name]}")
        if name in OWN:
            raise Failed(f"{name}: give it before --")
        steps, has_value = STEPS.get(name, (("plan",), False))
        words = [given] + ([rest.pop(0)] if has_value and not equals and rest else [])
        for step in steps:
            routed[step] += words
    return routed


def _format_of(out):
    leaf = _ranks.leaf(out)
    if not leaf or leaf.endswith(".zst"):
        raise Failed(f"{out}: only `tracekit merge` writes folders and .zst; name a .json, .pftrace or .xplane.pb file, or its .gz")
    packing = ".gz" if leaf.endswith(".gz") else ""
    stem = leaf[:len(leaf) - len(packing)]
    return ("json" if stem.endswith(".json") else "xplane" if stem.endswith(".pb") else "pftrace") + packing


# ---- the driver ----

def _named(path, why):
    return why if path in why else f"{path}: {why}"


class Driver:
    """A merge in progress: its executor, the `job` argument of its tasks, and the ranks that failed."""

    def __init__(self, executor, command, keep_going, say):
        self.executor, self.keep_going, self.say, self.failed = executor, keep_going, say, []
        self.job = {"command": command, "folder": os.getcwd()}

    def _progress(self, what, total):
        last = [time.monotonic()]

        def progress(n):
            if time.monotonic() - last[0] >= 2 and 0 < n < total:
                last[0] = time.monotonic()
                self.say(f"{what}: {n} of {total}")
        return progress

    def _map(self, what, task, ranks):
        if isinstance(self.executor, _executors.Executor):
            self.executor.progress = self._progress(what, len(ranks))
        mapper = self.executor.map if hasattr(self.executor, "map") else self.executor
        try:
            return list(mapper(task, list(enumerate(ranks))))
        except Exception as e:  # pylint: disable=broad-except
            raise Failed(_executors.reason(e)) from e

    def stage(self, what, ranks, task):
        """Runs a task on each rank. Returns [(path, result)] in order, without the ranks that failed."""
        results = self._map(what, task, ranks)
        paths = [rank[0] if isinstance(rank, tuple) else rank for rank in ranks]
        failed = [(path, why) for path, (_, why) in zip(paths, results) if why is not None]
        self.failed += failed
        if failed and not self.keep_going:
            raise Failed("\n".join(_named(path, why) for path, why in failed[:10]))
        self.say(f"{what}: {len(ranks) - len(failed)} of {len(ranks)}")
        return [(path, result) for path, (result, why) in zip(paths, results) if why is None]

    def run(self, *arguments):
        command = self.job["command"]
        status, said = _ranks.run(None if (command or "").startswith("ship:") else command, arguments)
        if said:
            self.say(said)
        if status:
            raise Failed(said or f"tracekit {arguments[0]}: status {status}")


def _fetch(parts, folder):
    """Yields local paths of the parts, copying remote ones to `folder`."""
    for i, part in enumerate(parts):
        if _ranks.is_local(part):
            yield _ranks.local(part)
        else:
            _ranks.copy(part, os.path.join(folder, f"{i:06}.part"))
            yield os.path.join(folder, f"{i:06}.part")


def _kept(plan, paths):
    """Returns the ranks of the paths that the plan keeps, as (path, number); the number is None unless the file contains several."""
    kept = {}
    for rank in plan["ranks"]:
        if not rank.get("left_out"):
            kept.setdefault(rank["input"], []).append(rank["rank"] if "part" in rank else None)
    return [(path, number) for path in paths for number in kept.get(_ranks.base(path)[0], [])]


def _plan(driver, ranks, word, routed, work, here):
    """Scans the files and plans the merge of their ranks. Returns (the plan in the shared folder, its content, the ranks that it
    keeps)."""
    made = driver.stage("scanned", ranks, functools.partial(_ranks.scan, driver.job, routed["scan"], work))
    if not made:
        raise Failed("no rank could be read")
    scans, plan = os.path.join(here, "all.scan"), os.path.join(here, "plan.json")
    with open(scans, "wb") as f:  # joined scans are a valid scan
        for _, scan in made:
            with _ranks.open_input(scan) as one:
                shutil.copyfileobj(one, f, _ranks.PIECE)
    driver.run("plan", "-q", scans, "-f", word, *routed["plan"], "-o", plan)
    shared = _ranks.inside(work, "plan.json")
    _ranks.copy(plan, shared)
    content = _ranks.plan_of(plan)
    return shared, content, _kept(content, [path for path, _ in made])


def _write(driver, out, shared, wanted, routed, force, work, here):
    """Writes the parts of the ranks and joins them."""
    task = functools.partial(_ranks.apply, driver.job, routed["apply"], shared, work)
    parts = [part for _, part in driver.stage("written", wanted, task)]
    result = _ranks.local(out) if _ranks.is_local(out) else os.path.join(here, _ranks.leaf(out))
    arguments = (["--force"] if force else []) + (["--keep-going"] if len(parts) < len(wanted) else [])
    try:
        driver.run("concat", "-q", *arguments, *routed["concat"], os.path.join(here, "plan.json"), *_fetch(parts, here), "-o", result)
    except Failed:
        if not (driver.failed and driver.keep_going and os.path.exists(result)):
            raise
    if not _ranks.is_local(out):
        _ranks.copy(result, out, force)


def _write_tables(driver, shared, plan, ranks, to, force):
    """Writes the Parquet tables. A local folder gets its final name only when it is complete. A remote folder gets a file
    _SUCCESS when it is complete, which is the usual convention."""
    numbers = {}
    for rank in plan["ranks"]:  # the ranks of a file are listed in their order in the file
        numbers.setdefault(rank["input"], []).append(None if rank.get("left_out") else rank["rank"])
    is_local, final = _ranks.is_local(to), os.path.abspath(_ranks.local(to)).rstrip("/")
    part = final + ".part" if is_local else to
    if is_local and os.path.exists(final):
        if not force:
            raise Failed(f"{to}: exists already; --force replaces it")
        shutil.rmtree(final)
    if is_local:
        shutil.rmtree(part, ignore_errors=True)
    try:
        task = functools.partial(_ranks.table, driver.job, shared, numbers, bool(plan["align"].get("hosts")), part)
        driver.stage("tables", list(dict.fromkeys(path for path, _ in ranks)), task)
        system, name = _ranks.split(_ranks.inside(part, "_SUCCESS"))
        with system.open_output_stream(name):
            pass
        if is_local:
            os.rename(part, final)
    finally:
        if is_local:
            shutil.rmtree(part, ignore_errors=True)


def _executor_of(executor, work, options):
    """Returns (executor, True if this function created it)."""
    if isinstance(executor, str):
        return _executors.make(executor, folder=work, **options), True
    if any(value for value in options.values()):
        raise Failed(f"executor: {', '.join(k for k in options if options[k])} cannot be combined with an executor that exists")
    return executor, False


def _check(out, force, table):
    """Raises an error before work starts if the output could not be written."""
    folder = os.path.dirname(os.path.abspath(_ranks.local(out)))
    if _ranks.is_local(out) and not os.path.isdir(folder):
        raise Failed(f"{out}: there is no folder {folder}")
    if not force:
        for path in [out] + ([os.fspath(table)] if table is not None else []):
            if _ranks.exists(path):
                raise Failed(f"{path}: exists already; --force replaces it")


def merge(inputs, output, *, executor: Any = "process", options=(), workers=None, address=None, settings=None, format=None,
          command=None, ship=False, work=None, keep_going=False, force=False, table=None, say=lambda text: None):
    """Merges ranks, given as paths and patterns, into one file on one timeline.

    output      path or URI; its extension selects the format unless `format` is given ("json.gz", "pftrace", "xplane")
    executor    "process", "ray", "dask", "spark" or "submitit"; or an object with a method map(function, items) that returns
                results in order, such as an executor of concurrent.futures; or a function map(function, items)
    options     options of `tracekit merge`: ["--every-rank", "8", "--group-by", "host"]
    workers     number of processes, if the executor starts them on this machine (default: one per core)
    address     address of Ray or of Dask's scheduler, Spark's master, or submitit's cluster ("slurm", "local")
    settings    a dict: parameters of submitit, or Spark's configuration
    command     the command on the workers (default: $TRACEKIT, or the package's own, or the one on the PATH)
    ship        Spark: send the command from the driver to the workers
    work        a folder for the parts that all workers and the driver can read and write (default: next to `output`)
    keep_going  leave out ranks that cannot be read
    force       replace an existing output
    table       a folder for the events of all ranks as Parquet, by rank and step, on one timeline; needs this package, with
                its library, and pyarrow on the workers
    say         function that is called with progress messages

    Returns the ranks that were left out, as (path, reason). Raises Failed.
    """
    out, routed = os.fspath(output), options if isinstance(options, dict) else route(options)
    word = format or _format_of(out)
    ranks = find(inputs)
    _check(out, force, table)
    own = work is None
    work = os.fspath(work or f"{_ranks.base(out)[0]}.parts-{secrets.token_hex(4)}{_ranks.base(out)[1]}")
    work = os.path.abspath(_ranks.local(work)) if _ranks.is_local(work) else work
    started = False
    try:
        executor, started = _executor_of(executor, work, {"workers": workers, "address": address, "settings": settings})
        if ship:
            if not hasattr(executor, "ship"):
                raise Failed("--ship: only Spark sends files; put the command in a folder that the workers share, with --command")
            binary = _ranks.command_path(command)
            command = executor.ship(shutil.which(binary) or binary)
        driver = Driver(executor, command, keep_going, say)
        _ranks.make_folder(work)
        with tempfile.TemporaryDirectory(prefix="tracekit-") as here:
            shared, plan, wanted = _plan(driver, ranks, word, routed, work, here)
            _write(driver, out, shared, wanted, routed, force, work, here)
            if table is not None:
                _write_tables(driver, shared, plan, wanted, os.fspath(table), force)
    finally:
        if started:
            executor.close()
        if own and _ranks.exists(work):
            _ranks.remove_folder(work)
    return driver.failed


# ---- the command line ----

def add_options(p):
    """Adds the options that do not depend on the executor."""
    p.add_argument("-f", "--format", help="format of the output (default: by its extension)")
    p.add_argument("-k", "--keep-going", action="store_true", help="leave out ranks that cannot be read (the exit status is then 3)")
    p.add_argument("--force", action="store_true", help="replace an existing output")
    p.add_argument("--work", help="folder for parts that all workers and the driver share (default: next to the output)")
    p.add_argument("--table", metavar="DIR", help="also write the events of all ranks as Parquet, by rank and step, on one timeline")
    p.add_argument("--command", help="the command tracekit on the workers")
    p.add_argument("--ship", action="store_true", help="Spark: send the command to the workers")
    p.add_argument("-q", "--quiet", action="store_true", help="print only errors")


def run(a, inputs, output, options, executor, **more):
    """Merges as the parsed options request, and exits."""
    try:
        failed = merge(inputs, output, executor=executor, options=options, format=a.format, command=a.command, ship=a.ship, work=a.work,
                       keep_going=a.keep_going, force=a.force, table=a.table,
                       say=(lambda text: None) if a.quiet else (lambda text: print(text, file=sys.stderr)), **more)
    except (Failed, OSError) as e:
        sys.exit(f"tracekit: {e}")
    for path, why in failed:
        print(f"tracekit: {path}: left out: {why}", file=sys.stderr)
    sys.exit(3 if failed else 0)


def split_arguments(argv):
    """Returns (arguments, options of merge that follow --)."""
    argv = list(sys.argv[1:] if argv is None else argv)
    at = argv.index("--") if "--" in argv else len(argv)
    return argv[:at], argv[at + 1:]


def main(argv=None):
    p = argparse.ArgumentParser(prog="python -m tracekit.cluster", description="Merges the ranks of a job on processes or a cluster.",
                                epilog="Arguments after -- are options of `tracekit merge`: -- --every-rank 8 --group-by host")
    p.add_argument("what", choices=["merge"])
    p.add_argument("inputs", nargs="+", metavar="INPUT", help="paths, URIs and patterns of ranks")
    p.add_argument("-o", "--output", required=True, help="path or URI of the merged trace")
    p.add_argument("--executor", default="process", metavar="NAME", help=f"one of {', '.join(EXECUTORS)} (default: process)")
    p.add_argument("--workers", type=int, metavar="N", help="processes to start on this machine (default: one per core)")
    p.add_argument("--address", help="of Ray or of Dask's scheduler; Spark's master; submitit: slurm or local")
    p.add_argument("--set", action="append", default=[], metavar="NAME=VALUE",
                   help="a parameter of submitit, such as slurm_partition=gpu, or of Spark's configuration; repeatable")
    add_options(p)
    arguments, options = split_arguments(argv)
    a = p.parse_args(arguments)
    if any("=" not in s for s in a.set):
        p.error("--set: expected NAME=VALUE")
    settings = {name: _executors.value_of(value) for name, _, value in (s.partition("=") for s in a.set)}
    run(a, a.inputs, a.output, options, a.executor, workers=a.workers, address=a.address, settings=settings)


if __name__ == "__main__":
    main()
