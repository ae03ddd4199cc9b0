"""Exceptions of the package."""
from __future__ import annotations

import errno as _errno
import os as _os
from typing import Any, Dict, Optional, Tuple, Type

ADVICE = {
    "force": "force=True replaces it",
    "format": "give format=",
    "no_loss": "refused by no_loss=True",
    "output": "choose another output",
    "strict": "refused by strict=True",
    "max_memory": "see max_memory",
    "max_size": "raise max_size if this is expected",
    "keep_going": "keep_going=True leaves it out",
    "merge": "keep_going=True leaves it out",
    "hard": "hard=True removes more",
    "timeout": "see timeout",
    "run": "tracekit.list shows the available runs",
    "latest_good": "latest_good=True uses it",
    "step_name": "step_name names the spans that mark them",
}


class Error(Exception):
    """A call that failed. Each subclass also inherits from the built-in exception for the same cause: FileNotFoundError,
    FileExistsError, PermissionError, OSError, MemoryError, AssertionError or ValueError.

    Parameters
    ----------
    code : str
        "usage", "open", "read", "format", "corrupt", "limit", "write", "loss", "interrupted", "nothing" or "finding".
    message : str
        "SUBJECT: PROBLEM"
    errno : int
        Error number of the system; the attribute is None for 0.
    offset : int, optional
        Offset in the decompressed input, in bytes.
    option : str
        Option that could avoid the error.
    """

    code: str
    errno: Optional[int]
    offset: Optional[int]

    def __new__(cls, code: str = "", message: str = "", errno: int = 0, offset: Optional[int] = None, option: str = "") -> Error:
        kind = _kind(code, errno, option) if cls is Error else cls
        return OSError.__new__(kind) if issubclass(kind, OSError) else Exception.__new__(kind)

    def __init__(self, code: str = "", message: str = "", errno: int = 0, offset: Optional[int] = None, option: str = "") -> None:
        super().__init__()
        self._given = (code, message, errno, offset, option)
        self.args = (f"{message} ({ADVICE[option]})" if option in ADVICE else message,)
        self.code = code
        self.errno = errno or None
        if isinstance(self, OSError):
            self.filename = self.file
            self.strerror = _os.strerror(errno) if errno else None
        self.offset = offset

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> Tuple[Any, ...]:
        return Error, self._given

    @property
    def file(self) -> Optional[str]:
        """File that the message names: the part before the first colon, or None."""
        message = self._given[1]
        return message.split(": ", 1)[0] if ": " in message else None


class UsageError(Error, ValueError):
    """The arguments of the call are invalid (rather than the data)."""


class FormatError(Error, ValueError):
    """The input is not a trace, or is damaged beyond repair."""


class SystemCallError(Error, OSError):
    """A file could not be opened, read or written."""


class NotFoundError(Error, FileNotFoundError):
    """A file or folder does not exist."""


class ExistsError(Error, FileExistsError):
    """The output exists, and may only be replaced with force=True."""


class DeniedError(Error, PermissionError):
    """The system denies access to a file."""


class MemoryLimitError(Error, MemoryError):
    """The trace needs more memory than max_memory allows, or than is available."""


class InterruptedByProgress(Error):
    """The progress function stopped the call."""


class FindingsError(Error, AssertionError):
    """A check fails or is unknown, or a report has findings."""


class EmptyResult(UserWarning):
    """A selection matched no event."""


class IncompleteTrace(UserWarning):
    """A trace was truncated or damaged, so events are missing."""


_BY_CODE: Dict[str, Type[Error]] = {"usage": UsageError, "format": FormatError, "corrupt": FormatError,
                                    "interrupted": InterruptedByProgress, "finding": FindingsError}
_BY_ERRNO: Dict[int, Type[Error]] = {_errno.ENOENT: NotFoundError, _errno.EEXIST: ExistsError, _errno.EACCES: DeniedError,
                                     _errno.EPERM: DeniedError}
_BY_OPTION: Dict[str, Type[Error]] = {"force": ExistsError, "max_memory": MemoryLimitError}


def _kind(code: str, errno: int, option: str) -> Type[Error]:
    known = _BY_OPTION.get(option) or _BY_ERRNO.get(errno) or _BY_CODE.get(code)
    return known or (SystemCallError if errno else Error)
