"""Progress of a call: a bar in a notebook cell, else a line on stderr. Used for progress=True."""
from __future__ import annotations

import sys
from typing import Any, Callable, Optional, Tuple, Union

STEP = 0.01  # fraction of the total between two updates


def _notebook() -> Tuple[Any, Any]:
    """Returns (display, html) of IPython if the code runs in a notebook, else (None, None)."""
    try:
        from IPython import get_ipython
        from IPython.display import HTML, display
    except ImportError:
        return None, None
    shell = get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None, None
    show: Any = display
    return (lambda what: show(what, display_id=True)), HTML


class Progress:
    """Progress indicator that can be passed as `progress`: a function of the amount done and the total (0 = unknown)."""

    def __init__(self, what: str = "working", display: Any = None, html: Any = None) -> None:
        self._what = what
        self._last: Optional[float] = None
        self._handle: Any = None
        self._display, self._html = (display, html) if display else _notebook()

    def __call__(self, done: int, total: int) -> None:
        part = done / total if total else None
        if self._last is not None and part is not None and 0 <= part - self._last < STEP and part < 1:
            return
        self._last = part
        if self._display:
            self._show(done, total)
        else:
            how = f"{done / total:.0%}" if total else f"{done / 1e6:.0f} MB"
            print(f"\r{self._what}: {how}", end="", file=sys.stderr, flush=True)

    def _show(self, done: int, total: int) -> None:
        bar = f'<progress max="{total}" value="{done}"></progress>' if total else "<progress></progress>"
        what = self._html(f"{self._what} {bar}")
        if self._handle is None:
            self._handle = self._display(what)
        else:
            self._handle.update(what)

    def close(self) -> None:
        """Removes the bar, or ends the line."""
        if self._handle is not None:
            self._handle.update(self._html(""))
        elif self._last is not None and not self._display:
            print(file=sys.stderr)
        self._last = self._handle = None


class shown:
    """Context manager: `with shown(progress, "reading") as p` yields the function for the library to call, or None."""

    def __init__(self, progress: Union[None, bool, Callable[[int, int], Any]], what: str) -> None:
        self._bar = Progress(what) if progress is True else None
        if progress and not callable(progress) and not self._bar:
            raise TypeError("progress is True or a function")
        self._progress = self._bar or (progress if callable(progress) else None)

    def __enter__(self) -> Optional[Callable[[int, int], Any]]:
        return self._progress

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.close()
