"""Executors of a merge on a cluster: each applies a function to items on workers, and retries items if their worker died.

An executor is any object with `map(function, items)` that returns the results in order. The classes of this module also have
`close()`, and call `progress(n)` as items finish. EXECUTORS lists them with the package that each needs.
"""
import ast
import concurrent.futures
import importlib
import multiprocessing
import os
import re
import shutil
import sys
import threading
from concurrent.futures.process import BrokenProcessPool

if __package__:
    from . import _ranks
else:  # run as a file, without the library of the package
    import _ranks

RETRIES = 3
ARRAY = 1000  # jobs in an array of Slurm, whose MaxArraySize is 1001 by default


class Executor:
    """Options that executors share.

    workers   number of processes, if the executor starts them on this machine (default: one per core)
    address   address of an existing cluster
    settings  other settings of the cluster, as a dict, with the cluster's own names
    folder    a folder that all workers share, for files of the executor
    """
    takes_settings = False

    def __init__(self, workers=None, address=None, settings=None, folder=None):
        self.workers, self.address, self.settings, self.folder = workers or os.cpu_count() or 1, address, settings or {}, folder
        if self.settings and not self.takes_settings:
            raise _ranks.Failed(f"--set: the executor '{type(self).__name__.lower()}' has no settings")

    def progress(self, n):
        """Called with the number of finished items."""

    def map(self, function, items):
        raise NotImplementedError

    def close(self):
        pass


def by_value(cloudpickle):
    """Makes the given cloudpickle module send the code of the tasks, so that the package need not be installed on workers."""
    if _ranks.__name__ in sys.modules and hasattr(cloudpickle, "register_pickle_by_value"):
        cloudpickle.register_pickle_by_value(sys.modules[_ranks.__name__])


def reason(error):
    """Returns the message of a task's exception, without the tracebacks that clusters add to the message."""
    lines = str(error).split("\n")
    raised = [m.group(1) for m in (re.search(r"(?:^|\W)(?:RuntimeError|_ranks\.Failed): (.*)", line) for line in lines) if m]
    others = [line.strip() for line in lines if re.match(r"\s*[\w.]+Error: ", line)]
    return (raised[:1] or others[-1:] or lines[:1])[0] or type(error).__name__


def in_rounds(items, one_round):
    """Runs one_round(missing, results) until all items have a result. Each call adds entries to `results`, {index: result}, and
    returns the last error. Gives up after RETRIES consecutive calls that add nothing."""
    items, results, idle = list(items), {}, 0
    while len(results) < len(items):
        before = len(results)
        error = one_round({i: item for i, item in enumerate(items) if i not in results}, results)
        idle = 0 if len(results) > before else idle + 1
        if idle > RETRIES and error:
            raise error
    return [results[i] for i in range(len(items))]


class Process(Executor):
    """Processes of this machine. If a process is killed, its pool breaks; a new pool then processes the remaining items."""

    def map(self, function, items):
        # Unlike the other start methods, fork does not run the caller's main module again.
        how = "fork" if "fork" in multiprocessing.get_all_start_methods() else None
        context = multiprocessing.get_context(how)

        def one_round(missing, results):
            error = None
            pool = concurrent.futures.ProcessPoolExecutor(min(self.workers, len(missing)), mp_context=context)
            try:
                futures = {pool.submit(function, item): i for i, item in missing.items()}
                for future in concurrent.futures.as_completed(futures):
                    try:
                        results[futures[future]] = future.result()
                        self.progress(len(results))
                    except BrokenProcessPool:
                        error = RuntimeError("a worker process was killed (out of memory?)")
                    except (RuntimeError, OSError) as e:
                        error = e
            finally:
                pool.shutdown(wait=True, cancel_futures=True)
            return error
        return in_rounds(items, one_round)


class Ray(Executor):
    def __init__(self, **options):
        super().__init__(**options)
        self.ray = importlib.import_module("ray")
        self.started = not self.ray.is_initialized()
        if self.started:
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            own = {} if self.address or os.environ.get("RAY_ADDRESS") else {"num_cpus": self.workers, "include_dashboard": False}
            self.ray.init(address=self.address, log_to_driver=False, logging_level="error", **own)
        by_value(self.ray.cloudpickle)

    def map(self, function, items):
        remote = self.ray.remote(max_retries=RETRIES, retry_exceptions=True)(lambda item: function(item))
        refs = [remote.remote(item) for item in items]
        waiting = refs
        while waiting:
            _, waiting = self.ray.wait(waiting, num_returns=len(waiting), timeout=2)
            self.progress(len(refs) - len(waiting))
        return self.ray.get(refs)

    def close(self):
        if self.started:
            self.ray.shutdown()


class Dask(Executor):
    """Dask with the scheduler at `address` or $DASK_SCHEDULER_ADDRESS; without an address, with processes of this machine."""

    def __init__(self, client=None, **options):
        super().__init__(**options)
        self.distributed = importlib.import_module("distributed")
        self.own = client is None
        self.client = client or self._connect()
        by_value(importlib.import_module("cloudpickle"))

    def _connect(self):
        address = self.address or os.environ.get("DASK_SCHEDULER_ADDRESS")
        if address:
            return self.distributed.Client(address)
        return self.distributed.Client(processes=True, n_workers=self.workers, threads_per_worker=1, dashboard_address=None,
                                       silence_logs=50)

    def map(self, function, items):
        futures = self.client.map(lambda item: function(item), list(items), retries=RETRIES, pure=False)
        for n, _ in enumerate(self.distributed.as_completed(futures)):
            self.progress(n + 1)
        return self.client.gather(futures)

    def close(self):
        if self.own:
            self.client.close()  # with the processes that it started


class Submitit(Executor):
    """Jobs of Slurm. `address` is "slurm", "local" or "debug" (default: Slurm if it is installed, otherwise local)."""
    takes_settings = True

    def __init__(self, **options):
        super().__init__(**options)
        self.submitit = importlib.import_module("submitit")
        by_value(importlib.import_module("cloudpickle"))
        if not self.folder or not _ranks.is_local(self.folder):
            raise _ranks.Failed("submitit needs a folder that all nodes share; --work names one")
        jobs = os.path.join(os.path.abspath(_ranks.local(self.folder)), "jobs", "%j")
        self.executor = self.submitit.AutoExecutor(folder=jobs, cluster=self.address)
        self.executor.update_parameters(**{"name": "tracekit", "timeout_min": 60, **self.settings})
        self.at_once = ARRAY if self.executor.cluster == "slurm" else self.workers

    def map(self, function, items):
        def one_round(missing, results):
            error, rest = None, list(missing.items())
            while rest:
                some, rest = rest[:self.at_once], rest[self.at_once:]
                jobs = self.executor.map_array(lambda item: function(item), [item for _, item in some])
                for (i, _), job in zip(some, jobs):
                    try:
                        results[i] = job.result()
                        self.progress(len(results))
                    except Exception as e:  # pylint: disable=broad-except
                        error = e
            return error
        return in_rounds(items, one_round)


def has_java():
    home = os.environ.get("JAVA_HOME")
    return bool(shutil.which("java") or (home and os.access(os.path.join(home, "bin", "java"), os.X_OK)))


class Spark(Executor):
    """The active Spark context, or a new one: `address` is its master, such as local[4]; the settings are its configuration."""
    takes_settings = True

    def __init__(self, context=None, **options):
        super().__init__(**options)
        self.started = False
        self.context = getattr(context, "sparkContext", context) or self._connect()
        try:
            by_value(importlib.import_module("pyspark.cloudpickle"))
        except ImportError:
            pass

    def _connect(self):
        submitted = "PYSPARK_GATEWAY_PORT" in os.environ  # by spark-submit, which chooses the master and the interpreters
        if not submitted:
            if not has_java():
                raise _ranks.Failed("Spark needs Java, which is not installed; install Java 17 or set JAVA_HOME")
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        from pyspark import SparkConf, SparkContext
        self.started = SparkContext._active_spark_context is None  # pylint: disable=protected-access
        if not self.started:
            return SparkContext.getOrCreate()
        conf = SparkConf().setAppName("tracekit merge").set("spark.ui.showConsoleProgress", "false")
        if self.address:
            conf = conf.setMaster(self.address)
        elif not conf.contains("spark.master"):
            conf = conf.setMaster(f"local[{self.workers},{RETRIES + 1}]")
        for name, value in self.settings.items():
            conf = conf.set(name, str(value))
        return SparkContext.getOrCreate(conf)

    def ship(self, binary):
        """Sends the command to the workers. Returns its name for tasks."""
        self.context.addFile(binary)
        return "ship:" + os.path.basename(binary)

    def map(self, function, items):
        items, done = list(items), threading.Event()
        watch = threading.Thread(target=self._watch, args=(done,), daemon=True)
        watch.start()
        try:
            return self.context.parallelize(items, len(items)).map(lambda item: function(item)).collect()
        finally:
            done.set()
            watch.join()

    def _watch(self, done):
        tracker = self.context.statusTracker()
        while not done.wait(2):
            infos = [tracker.getStageInfo(i) for i in tracker.getActiveStageIds()]
            self.progress(sum(i.numCompletedTasks for i in infos if i))

    def close(self):
        if self.started:
            self.context.stop()


# name: (class, module that it imports, packages to install)
EXECUTORS = {
    "process": (Process, None, ""),
    "ray": (Ray, "ray", "ray"),
    "dask": (Dask, "distributed", "'dask[distributed]'"),
    "spark": (Spark, "pyspark", "pyspark"),
    "submitit": (Submitit, "submitit", "submitit"),
}


def make(name, **options):
    """Returns the executor with this name. Raises Failed if its package is not installed or the cluster cannot be reached."""
    if name not in EXECUTORS:
        raise _ranks.Failed(f"--executor: unknown executor '{name}'; expected {', '.join(EXECUTORS)}")
    kind, module, packages = EXECUTORS[name]
    if module:
        try:
            importlib.import_module(module)
        except ImportError as e:
            raise _ranks.Failed(f"--executor {name}: the package is not installed ({e}); pip install {packages}") from None
    try:
        return kind(**options)
    except _ranks.Failed:
        raise
    except Exception as e:  # pylint: disable=broad-except
        raise _ranks.Failed(f"--executor {name}: {reason(e)}") from e


def value_of(text):
    """Returns the value of a setting: a number or a boolean if it is one, otherwise the string."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
