"""Progress of a call: a bar in a notebook cell, else a line on stderr. Used for progress=True."""
import sys

STEP = 0.01  # fraction of the total between two updates


def _notebook():
    """Returns (display, html) of IPython if the code runs in a notebook, else (None, None)."""
    try:
        from IPython import get_ipython
        from IPython.display import HTML, display
    except ImportError:
        return None, None
    shell = get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None, None
    return (lambda what: display(what, display_id=True)), HTML


class Progress:
    """Progress indicator that can be passed as `progress`: a function of the amount done and the total (0 = unknown)."""

    def __init__(self, what="working", display=None, html=None):
        self._what, self._last, self._handle = what, None, None
        self._display, self._html = (display, html) if display else _notebook()

    def __call__(self, done, total):
        part = done / total if total else None
        if self._last is not None and part is not None and 0 <= part - self._last < STEP and part < 1:
            return
        self._last = part
        if self._display:
            self._show(done, total)
        else:
            how = f"{done / total:.0%}" if total else f"{done / 1e6:.0f} MB"
            print(f"\r{self._what}: {how}", end="", file=sys.stderr, flush=True)

    def _show(self, done, total):
        bar = f'<progress max="{total}" value="{done}"></progress>' if total else "<progress></progress>"
        what = self._html(f"{self._what} {bar}")
        if self._handle is None:
            self._handle = self._display(what)
        else:
            self._handle.update(what)

    def close(self):
        """Removes the bar, or ends the line."""
        if self._handle is not None:
            self._handle.update(self._html(""))
        elif self._last is not None and not self._display:
            print(file=sys.stderr)
        self._last = self._handle = None


class shown:
    """Context manager: `with shown(progress, "reading") as p` yields the function for the library to call, or None."""

    def __init__(self, progress, what):
        self._bar = Progress(what) if progress is True else None
        self._progress = progress if self._bar is None else self._bar

    def __enter__(self):
        return self._progress or None

    def __exit__(self, *_):
        if self._bar:
            self._bar.close()
