"""Compares three or more runs, or the runs in a folder, for `tracekit.diff`."""
from __future__ import annotations

import os
import re
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple

from . import _native
from ._tables import Rows
from ._urls import names as _names

TRACES = (".json", ".gz", ".pb", ".pftrace", ".perfetto-trace", ".zst", ".db", ".sqlite", ".nsys-rep")


def _natural(name: str) -> List[Tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


def entries(folder: Any) -> List[str]:
    """Returns the paths of the folders and traces in a folder of runs, in natural order."""
    path = os.fspath(folder)
    found = [name for name in os.listdir(path)
             if not name.startswith(".") and (os.path.isdir(os.path.join(path, name)) or name.endswith(TRACES))]
    return [os.path.join(path, name) for name in sorted(found, key=_natural)]


def compared(given: Sequence[Any], over: bool, names: Optional[Iterable[str]], options: Dict[str, Any]) -> Dict[str, Any]:
    """Compares the runs with the first one. With `over`, a single path is a folder that contains the runs."""
    if any(hasattr(run, "_native") for run in given):
        raise TypeError("several runs are compared by path, not as loaded traces")
    runs = [_names(run) for run in (entries(given[0]) if over and len(given) == 1 else given)]
    if len(runs) < 2:
        raise ValueError("two or more runs are needed")
    labels = [str(name) for name in names] if names is not None else [os.path.basename(run[0].rstrip("/")) or run[0] for run in runs]
    if len(labels) != len(runs):
        raise ValueError(f"{len(labels)} names for {len(runs)} runs")
    found = _native.compare([path for run in runs for path in run], [len(run) for run in runs], labels, dict(options, trends=over))
    found["rows"] = Rows(found["rows"], kind=_native.ROW_COMPARE)
    found["runs"] = Rows(found["runs"], kind=_native.ROW_COMPARE_RUN)
    return found
