"""Records a trace of JAX and writes it in the requested format and size.

    with tracekit.jax.trace("logs", output="step.json.gz", to="50MB"):
        train_step()

jax itself is imported when a recording begins."""
from __future__ import annotations

import contextlib
import importlib
import os
from typing import Any, Iterator, Optional

from . import Path, Size, Trace, _size, extract, load


class Recording:
    """A recording by `trace`. It can be read after the end of the `with` block.

    Parameters
    ----------
    dir : str or os.PathLike
        Log directory.
    """

    def __init__(self, dir: Path) -> None:
        self.dir = os.fspath(dir)

    def load(self, **options: Any) -> Trace:
        """Reads the newest run of the log directory.

        Parameters
        ----------
        **options
            Options of `tracekit.load`.

        Returns
        -------
        Trace
            The trace, in memory.

        Raises
        ------
        Error
            There is no run.

        Examples
        --------
        >>> recording.load().top()[:5]
        """
        return load(self.dir, **options)


@contextlib.contextmanager
def trace(dir: Path, *, output: Optional[Path] = None, to: Size = None, **options: Any) -> Iterator[Recording]:
    """Records what JAX does within the block, as jax.profiler.trace does.

    Parameters
    ----------
    dir : str or os.PathLike
        Log directory, in which JAX creates plugins/profile/RUN/HOST.xplane.pb.
    output : str or os.PathLike, optional
        File or address to which process 0 also writes the run at the end of the block; an existing file is replaced. Files of
        other hosts may be incomplete at that time; use `tracekit.extract` later to include them.
    to : int or str, optional
        Maximum size of the output in bytes, or a string such as "50MB".
    **options
        Further arguments of jax.profiler.start_trace.

    Yields
    ------
    Recording
        Has `dir` and `load`.

    Raises
    ------
    Error
        The output cannot be written.
    ValueError
        `to` is not a size, or is given without `output`.

    Examples
    --------
    >>> with tracekit.jax.trace("logs", output="step.json.gz") as recording: pass
    """
    limit = _size(to)
    if limit is not None and output is None:
        raise ValueError("to: is the size of the output, which is missing")
    jax = importlib.import_module("jax")
    recording = Recording(dir)
    jax.profiler.start_trace(recording.dir, **options)
    try:
        yield recording
    finally:
        jax.profiler.stop_trace()
    if output is None or jax.process_index() != 0:
        return
    if limit is None:
        extract(recording.dir, output, force=True)
    else:
        with recording.load() as t:
            t.shrink(output, to=limit, force=True, inplace=True)
