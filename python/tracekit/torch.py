"""Writes the traces of torch.profiler from within a training job.

    torch.profiler.profile(schedule=..., on_trace_ready=tracekit.torch.handler("logs", to="50MB", merge=True))

torch itself is imported when a trace is ready. If writing fails, a warning is issued instead of an exception, which would end
the training."""
from __future__ import annotations

import importlib
import os
import tempfile
import warnings
from typing import Any, Callable, Optional, Tuple

from . import Error, Path, Size, _size, load, merge as _merge

FILE = "rank{rank}.pt.trace.json.gz"


def _group() -> Tuple[Any, int]:
    """Returns (torch.distributed, rank of this process), or (None, rank of the environment) outside a process group."""
    distributed: Any = None
    try:
        distributed = importlib.import_module("torch.distributed")
    except ImportError:
        pass
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None, int(os.environ.get("RANK") or 0)
    return distributed, int(distributed.get_rank())


def _write(profiler: Any, file: str, to: Optional[int]) -> None:
    with tempfile.TemporaryDirectory(prefix=".tracekit-", dir=os.path.dirname(file)) as folder:
        exported = os.path.join(folder, os.path.basename(file))
        profiler.export_chrome_trace(exported)
        if to is None or os.path.getsize(exported) <= to:
            os.replace(exported, file)
        else:
            with load(exported) as t:
                t.shrink(file, to=to, force=True, inplace=True)


def handler(dir: Path, *, to: Size = None, merge: bool = False) -> Callable[[Any], None]:
    """Returns a function for `on_trace_ready` of torch.profiler.profile.

    Each rank writes dir/step_N/rankR.pt.trace.json.gz, where N is the step at which the trace was ready. An existing file is
    replaced.

    Parameters
    ----------
    dir : str or os.PathLike
        Folder, which is created if necessary. For `merge`, it must be shared by all ranks.
    to : int or str, optional
        Maximum size of each file in bytes, or a string such as "50MB".
    merge : bool
        In a process group, wait for all ranks; then rank 0 also merges their files into dir/step_N.merged.json.gz, which is
        limited to `to`, too.

    Returns
    -------
    callable
        A function of the profiler. It warns if a file cannot be written.

    Raises
    ------
    ValueError
        `to` is not a size.

    Examples
    --------
    >>> on_trace_ready = tracekit.torch.handler("logs", to="50MB", merge=True)
    """
    limit = _size(to)

    def ready(profiler: Any) -> None:
        distributed, rank = _group()
        name = f"step_{int(getattr(profiler, 'step_num', 0))}"
        folder = os.path.join(os.fspath(dir), name)
        try:
            os.makedirs(folder, exist_ok=True)
            _write(profiler, os.path.join(folder, FILE.format(rank=rank)), limit)
        except (Error, OSError) as e:
            warnings.warn(f"the trace of rank {rank} is not written: {e}", RuntimeWarning, stacklevel=2)
        if not merge or distributed is None:
            return
        distributed.barrier()  # also after a failure, because the other ranks wait
        if rank == 0:
            files = [os.path.join(folder, FILE.format(rank=r)) for r in range(distributed.get_world_size())]
            try:
                _merge(files, os.path.join(os.fspath(dir), f"{name}.merged.json.gz"), to=limit, keep_going=True, force=True)
            except (Error, OSError) as e:
                warnings.warn(f"the traces of {name} are not merged: {e}", RuntimeWarning, stacklevel=2)

    return ready
