"""Filter expressions from keyword arguments: kind="kernel", rank=[0, 1], step=slice(3, 5), name="nccl*"."""
from __future__ import annotations

import re
from typing import Any, Dict, Iterable, List, Pattern, Union

Value = Union[str, int, "Pattern[str]"]
Match = Union[Value, range, slice, Iterable[Value]]


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _bounds(field: str, low: Any, high: Any) -> str:
    tests = ([f"{field} >= {int(low)}"] if low is not None else []) + ([f"{field} < {int(high)}"] if high is not None else [])
    return f"({' && '.join(tests)})" if tests else field


def _pattern(field: str, p: Pattern[str]) -> str:
    flags = "".join(letter for letter, flag in (("i", re.I), ("m", re.M), ("s", re.S), ("x", re.X)) if p.flags & flag)
    return f"{field} =~ {quoted(f'(?{flags})' + p.pattern if flags else p.pattern)}"


def _test(field: str, value: Match) -> str:
    if isinstance(value, str):
        is_glob = field != "kind" and any(c in value for c in "*?[")
        return f"{field} {'~' if is_glob else '=='} {quoted(value)}"
    if isinstance(value, re.Pattern):
        return _pattern(field, value)
    if isinstance(value, slice):
        if value.step not in (None, 1):
            raise ValueError(f"{field}: a slice with a step is not supported; use range")
        return _bounds(field, value.start, value.stop)
    if isinstance(value, range) and value.step == 1 and value:
        return _bounds(field, value.start, value.stop)
    if isinstance(value, Iterable):
        tests = [_test(field, v) for v in value]
        if not tests:
            raise ValueError(f"{field}: the list is empty")
        return f"({' || '.join(tests)})"
    return f"{field} == {int(value)}"


def expressions(where: Union[None, str, Iterable[str]], fields: Dict[str, Any]) -> List[str]:
    """Returns the expressions in `where` and one per keyword that is not None. Text with *, ? or [ is a glob; a compiled
    pattern must match somewhere in the string; a range or a slice excludes its end; a list matches any of its values."""
    given = [] if where is None else [where] if isinstance(where, str) else [str(w) for w in where]
    return given + [_test(field, value) for field, value in fields.items() if value is not None]
