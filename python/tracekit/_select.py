"""Filter expressions from keyword arguments: kind="kernel", rank=[0, 1], step=slice(3, 5), name="nccl*"; and ranges of times and steps."""
from __future__ import annotations

import operator
import re
from datetime import datetime, timedelta, timezone
from typing import Any, Dict, Iterable, List, Optional, Pattern, Tuple, Union

Value = Union[str, int, "Pattern[str]"]
Match = Union[Value, range, slice, Iterable[Value]]
TimeRange = Union[None, str, Tuple[Any, Any]]  # a pair: int, datetime, str or None
StepRange = Union[None, str, int, range]


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


def _date(ns: int) -> str:
    seconds, rest = divmod(ns, 10**9)
    return f"{(datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=seconds)).strftime('%Y-%m-%dT%H:%M:%S')}.{rest:09d}Z"


def _moment(value: Any, is_utc: bool) -> str:
    """Returns one end of a time range as text. An integer is a `ts` of a table; is_utc: these are relative to the epoch."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, datetime):
        return value.isoformat()
    if getattr(getattr(value, "dtype", None), "kind", "") == "M":  # numpy.datetime64
        return str(value)
    try:
        ns = operator.index(value)
    except TypeError:
        raise TypeError(f"time: expected None, a string, an integer or a datetime, not {value!r}") from None
    return _date(ns) if is_utc else f"{ns}ns"


def time_range(value: TimeRange, is_utc: bool = True) -> Optional[str]:
    """Returns a time range as the text that the library parses."""
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise TypeError(f"time: expected a string such as '+2s..+5s' or a pair (start, end), not {value!r}")
    return f"{_moment(value[0], is_utc)}..{_moment(value[1], is_utc)}"


def step_range(value: StepRange) -> Optional[str]:
    """Returns a range of steps as the text that the library parses."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, range):
        if value.step != 1 or not value:
            raise ValueError(f"steps: expected a range with step 1 that is not empty, not {value!r}")
        return f"{value[0]}..{value[-1]}"
    try:
        return str(operator.index(value))
    except TypeError:
        raise TypeError(f"steps: expected a string such as '3..5', an integer or a range, not {value!r}") from None
