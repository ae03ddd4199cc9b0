"""Addresses such as "s3://bucket/run/" in place of paths. The library reads them through fsspec, which also uploads outputs.

Only names from the caller can be addresses. Names in a trace or an archive are never read as addresses."""
from __future__ import annotations

import contextlib
import datetime
import errno
import glob
import io
import os
import posixpath
import re
import tempfile
import urllib.parse
from typing import Any, Iterable, Iterator, List, Optional, Tuple, Union

from . import _native
from ._errors import Error

Path = Union[str, "os.PathLike[str]"]
Paths = Union[Path, Iterable[Path]]

ADDRESS = re.compile(r"([a-z0-9]{2,})://")  # as lib/source/address.c defines it
WEB = ("http", "https")
EXTRA = "pip install 'tracekit[urls]'"
_set: List[bool] = []


def is_url(name: str) -> bool:
    """True if a name is an address that fsspec has to open. "file://" is a path, and so is a name that exists."""
    return ADDRESS.match(name) is not None and not name.startswith("file://") and not os.path.exists(name)


def _failed(code: str, name: str, error: BaseException, option: str = "") -> Error:
    number, text = Remote.failure(error)
    return Error(code, f"{name}: {text}", number, None, option)


def _system(address: str) -> Tuple[Any, str]:
    """Returns (file system of fsspec, path on it)."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise Error("open", f"{address}: is a URL, which needs fsspec; {EXTRA}") from None
    try:
        found: Tuple[Any, str] = url_to_fs(address)
    except Exception as e:  # file systems raise errors of the packages that they use
        raise _failed("open", address, e) from e
    return found


def _time_ns(info: Any) -> int:
    for key in ("mtime", "LastModified", "last_modified", "updated", "created"):
        when = info.get(key)
        if isinstance(when, datetime.datetime):
            return int(when.timestamp() * 1e9)
        if isinstance(when, (int, float)):
            return int(when * 1e9)
    return 0


class Remote:
    """Functions that the library calls to read addresses (python/fetch.c)."""

    @staticmethod
    def folder(address: str) -> List[Tuple[str, Optional[int], int]]:
        """Returns (path below the folder, size, time) of each file, at any depth."""
        system, root = _system(address)
        files, root = [], root.rstrip("/")
        for name, info in sorted(system.find(root + "/" if ADDRESS.match(root) else root, detail=True).items()):
            if name.startswith(root + "/") and info.get("type") != "directory":
                size = info.get("size")
                files.append((name[len(root) + 1:], int(size) if size is not None else None, _time_ns(info)))
        return files

    @staticmethod
    def open(address: str) -> Any:
        """Opens a stream, which is read once from its beginning."""
        system, path = _system(address)
        file = system.open(path, "rb", **({"block_size": 0} if ADDRESS.match(address)[1] in WEB else {}))  # type: ignore[index]
        # All readers of a file in memory:// share one object and its position.
        return io.BytesIO(file.getvalue()) if isinstance(file, io.BytesIO) else file

    @staticmethod
    def failure(error: BaseException) -> Tuple[int, str]:
        """Returns the errno of an exception, or 0, and a message of one line."""
        cause = error.__cause__
        if isinstance(error, FileNotFoundError) and isinstance(cause, OSError) and not isinstance(cause, FileNotFoundError):
            error = cause  # fsspec reports a server that does not answer as a missing file
        number = getattr(error, "errno", None)
        for kind, known in ((FileNotFoundError, errno.ENOENT), (PermissionError, errno.EACCES), (FileExistsError, errno.EEXIST)):
            if isinstance(error, kind):
                return known, f"cannot open: {os.strerror(known)}"
        if isinstance(error, Error):
            return error.errno or 0, str(error).split(": ", 1)[-1]
        text = " ".join(str(error).split()) or type(error).__name__
        return number if isinstance(number, int) else 0, "cannot open: " + text.encode("utf-8", "replace").decode()


def _prepare() -> None:
    """Registers the reader of addresses with the library, once."""
    if not _set:
        from fsspec.registry import known_implementations, registry

        names = {name for name in (*known_implementations, *registry, "memory") if re.fullmatch("[a-z0-9]{2,}", name)}
        _native.set_fetch(Remote, tuple(name.encode() for name in sorted(names - {"file", "local"})))
        _set.append(True)


def _expanded(address: str) -> List[str]:
    """Expands a pattern, and adds "/" to the address of a folder, as the library expects. Does not change web addresses,
    because they would be downloaded to test whether they are folders."""
    system, path = _system(address)
    _prepare()
    scheme = ADDRESS.match(address)[1]  # type: ignore[index]
    if scheme in WEB or address.endswith("/"):
        return [address]
    try:
        if glob.has_magic(path) and not system.exists(path):
            found = sorted(system.glob(path))
            if not found:
                raise Error("open", f"{address}: cannot open: no file matches", errno.ENOENT)
            return [system.unstrip_protocol(name) for name in found]
        return [address + "/" if system.isdir(path) else address]
    except Error:
        raise
    except Exception as e:
        raise _failed("open", address, e) from e


def names(sources: Paths) -> List[str]:
    """Converts one path or address, or an iterable of them, to the list of names that the library reads."""
    if isinstance(sources, (str, os.PathLike)):
        sources = [sources]
    given = [os.fspath(source) for source in sources]
    return [name for source in given for name in (_expanded(source) if is_url(source) else [source])]


# ---- outputs ----

def local(name: str) -> str:
    """Returns the path of a "file://" address; other names are returned unchanged."""
    if not name.startswith("file://"):
        return name
    parts = urllib.parse.urlsplit(name)
    if parts.netloc not in ("", "localhost"):
        raise Error("write", f"{name}: names another host; use file:///PATH for a file of this machine")
    return urllib.parse.unquote(parts.path)


def _check_new(system: Any, path: str, name: str, force: bool) -> None:
    if not force and system.exists(path):
        raise Error("write", f"{name}: already exists", errno.EEXIST, None, "force")


def _upload(system: Any, file: str, path: str, name: str) -> None:
    """Uploads a file in pieces. Object stores make it visible only when it is complete."""
    try:
        system.put_file(file, path)
    except Exception as e:
        raise _failed("write", name, e) from e


@contextlib.contextmanager
def output(path: Path, force: bool) -> Iterator[str]:
    """Yields the path to write: the given one, or for an address a temporary file, which is uploaded at the end."""
    name = os.fspath(path)
    if not is_url(name):
        yield local(name)
        return
    system, inside = _system(name)
    _check_new(system, inside, name, force)
    with tempfile.TemporaryDirectory(prefix="tracekit-") as folder:
        file = os.path.join(folder, posixpath.basename(inside.rstrip("/")) or "out")
        yield file
        if os.path.exists(file):
            _upload(system, file, inside, name)


@contextlib.contextmanager
def outputs(path: Optional[Path], force: bool, rows: List[Any]) -> Iterator[Optional[str]]:
    """Like `output`, but `path` may also be a folder ("out/"), and several files may be written: the caller appends a row per
    file to `rows`; row["output"] is the path of the file to upload."""
    name = None if path is None else os.fspath(path)
    if name is None or not is_url(name):
        yield None if name is None else local(name)
        return
    system, inside = _system(name)
    with tempfile.TemporaryDirectory(prefix="tracekit-") as folder:
        yield folder + "/" + ("" if name.endswith("/") else posixpath.basename(inside))
        to = [(row["output"], os.path.relpath(row["output"], folder)) for row in rows]
        base = (inside.rstrip("/"), name.rstrip("/")) if name.endswith("/") else (posixpath.dirname(inside), posixpath.dirname(name))
        for _, below in to:
            _check_new(system, f"{base[0]}/{below}", f"{base[1]}/{below}", force)
        for row, (file, below) in zip(rows, to):
            row["output"] = f"{base[1]}/{below}"
            if os.path.exists(file):
                _upload(system, file, f"{base[0]}/{below}", row["output"])
