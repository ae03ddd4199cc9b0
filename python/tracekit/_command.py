"""Runs the command `tracekit` that is installed with the package, for functions that the extension module does not have.

Arguments are passed as a list, never through a shell. Operands follow "--"."""
from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sysconfig
from typing import Any, Dict, Iterable, List, Optional, Tuple

from . import _urls
from ._errors import Error

STATUS = {1: "nothing", 2: "usage", 3: "read", 4: "write"}
NOTE = re.compile(r"(?:.*: )?(?:note|repair|fact): ")


def path() -> Optional[str]:
    """Returns the path of the command in a scripts folder of this Python, or None."""
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user")]
    return next((p for p in (os.path.join(folder, "tracekit") for folder in folders) if os.path.exists(p)), None)


def run(words: Iterable[Any]) -> Tuple[int, str, List[str]]:
    """Runs the command. Returns (exit status, standard output, lines on standard error without the prefix "tracekit: ")."""
    command = path()
    if not command:
        raise Error("open", "tracekit: the command is not installed with this package")
    done = subprocess.run([command, *map(os.fspath, words)], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode in (130, -2):
        raise KeyboardInterrupt
    errors = done.stderr.decode("utf-8", "replace").splitlines()
    return done.returncode, done.stdout.decode("utf-8", "replace"), [line[len("tracekit: "):] if line.startswith("tracekit: ") else line
                                                                     for line in errors]


def error(status: int, lines: List[str]) -> Error:
    """Returns the exception for an exit status, with the last message that is not a note."""
    messages = [line for line in lines if line and not NOTE.match(line)] or [f"the command failed with status {status}"]
    known = {os.strerror(n): n for n in (errno.ENOENT, errno.EACCES)}
    number = next((n for text, n in {**known, "already exists": errno.EEXIST}.items() if text in messages[-1]), 0)
    return Error("format" if "not a trace" in messages[-1] else STATUS.get(status, "read"), messages[-1], number)


def output(words: Iterable[Any]) -> str:
    """Runs the command and returns its output; raises an error unless the exit status is 0."""
    status, text, lines = run(words)
    if status:
        raise error(status, lines)
    return text


def parsed(words: Iterable[Any]) -> Dict[str, Any]:
    """Runs the command with --json and returns the result."""
    name, *rest = words
    found: Dict[str, Any] = json.loads(output([name, "--json", *rest]))
    return found


def options(values: Dict[str, Any]) -> List[str]:
    """Converts keywords to options: True is a flag, a list repeats the option, None and False are left out."""
    words: List[str] = []
    for name, value in values.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            words.append(option)
        elif isinstance(value, (list, tuple)):
            words += [f"{option}={v}" for v in value]
        elif value is not None and value is not False:
            words.append(f"{option}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    return words


def operands(sources: _urls.Paths) -> List[str]:
    """Converts sources to operands."""
    if isinstance(sources, (str, os.PathLike)):
        sources = [sources]
    return ["--", *(os.fspath(source) for source in sources)]
