"""Tables: of a trace, and of the rows that an analysis returns.

Each supports Arrow's PyCapsule interface, which needs no other package and which all data frame packages read."""
from __future__ import annotations

import csv
import html
import json
import os
from abc import ABC, abstractmethod
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Union

from . import _native

Row = Dict[str, Any]
Path = Union[str, "os.PathLike[str]"]
Format = Tuple[str, Optional[str]]
ANY: Format = ("n", None)
PREVIEW = 10
CHUNK = 4096


class Table(ABC):
    """Rows with named columns: polars.DataFrame(table), pyarrow.table(table), duckdb, table.to_pandas()."""

    @property
    @abstractmethod
    def columns(self) -> List[str]:
        """Names of the columns."""

    @abstractmethod
    def __len__(self) -> int:
        """Number of rows."""

    @abstractmethod
    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Returns the table as a stream of Arrow, in a capsule. Columns with a unit have it as metadata."""

    @abstractmethod
    def to_pandas(self) -> Any:
        """Returns a pandas.DataFrame."""

    @abstractmethod
    def head(self, n: int = 5) -> Rows:
        """Returns the first n rows as a list of dicts."""

    @abstractmethod
    def _chunks(self) -> Iterator[List[Row]]:
        """Returns all rows, some at a time."""

    def to_arrow(self) -> Any:
        """Returns a pyarrow.Table."""
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self) -> Any:
        """Returns a polars.DataFrame."""
        import polars

        return polars.DataFrame(self)

    def to_duckdb(self, connection: Any = None) -> Any:
        """Returns a relation of DuckDB, on the default connection or the given one."""
        import duckdb

        return (connection or duckdb).from_arrow(self.to_arrow())

    def to_parquet(self, path: Path) -> None:
        """Writes a Parquet file with pyarrow."""
        import pyarrow.parquet

        pyarrow.parquet.write_table(self.to_arrow(), os.fspath(path))

    def to_csv(self, path: Path) -> None:
        """Writes a CSV file, with a header. Needs no other package. Lists are written as JSON."""
        with open(path, "w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(self.columns)
            for rows in self._chunks():
                writer.writerows([_plain(row.get(name)) for name in self.columns] for row in map(_flat, rows))

    def _repr_html_(self) -> str:
        n, columns = len(self), self.columns
        head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
        rows = ["".join(f"<td>{html.escape(_cell(row.get(name)))}</td>" for name in columns) for row in map(_flat, self.head(PREVIEW))]
        more = f"<p>{len(rows)} of {n:,} rows</p>" if n > len(rows) else ""
        return f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>{more}"


class TraceTable(Table):
    """A table of a trace, created anew for each consumer."""

    def __init__(self, trace: _native.Trace, table: int, columns: List[str], options: Dict[str, Any]) -> None:
        self._trace, self._table, self._columns, self._options = trace, table, columns, options

    @property
    def columns(self) -> List[str]:
        return list(self._columns)

    def __len__(self) -> int:
        return _native.batch_length(self._only(self._columns[0])._batch())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._trace.table(self._table, self._options)

    def __iter__(self) -> Iterator[Row]:
        """Returns the rows as dicts, one by one. A data frame is many times faster for sums."""
        for rows in self._chunks():
            yield from rows

    def __getitem__(self, index: Union[int, slice, str, Sequence[str]]) -> Any:
        """Returns a row as a dict (index), rows as a list (slice), or the table of some columns (names)."""
        if isinstance(index, str):
            return self._select([index])
        if isinstance(index, slice):
            batch = self._batch()
            start, stop, step = index.indices(_native.batch_length(batch))
            if step < 0:
                raise ValueError("a slice of a table cannot go backwards")
            return Rows(_native.batch_slice(batch, start, stop)[::step], columns=self._columns)
        if isinstance(index, int):
            return self._row(index)
        return self._select(list(index))

    def _row(self, index: int) -> Row:
        batch = self._batch()
        n = _native.batch_length(batch)
        if not -n <= index < n:
            raise IndexError(f"row {index} of a table of {n} rows")
        return _native.batch_slice(batch, index % n, index % n + 1)[0]

    def to_pandas(self) -> Any:
        """Returns a pandas.DataFrame; strings become categoricals. Converts one column at a time, so that at most one column is
        in memory twice. pandas copies a column if its layout differs: integers with nulls become floats."""
        import pandas

        return pandas.DataFrame({name: self._only(name).to_arrow().to_pandas(split_blocks=True)[name] for name in self._columns}, copy=False)

    def head(self, n: int = 5) -> Rows:
        return Rows(_native.batch_slice(self._batch(), 0, n), columns=self._columns)

    def _batch(self) -> object:
        return _native.batch(self.__arrow_c_stream__())

    def _chunks(self) -> Iterator[List[Row]]:
        batch = self._batch()
        for start in range(0, _native.batch_length(batch), CHUNK):
            yield _native.batch_slice(batch, start, start + CHUNK)

    def _has_word(self, word: str) -> bool:
        return _native.batch_has_word(self._batch(), word)

    def _only(self, column: str) -> TraceTable:
        return self._select([column])

    def _select(self, columns: List[str]) -> TraceTable:
        return TraceTable(self._trace, self._table, columns, dict(self._options, columns=columns))

    def __repr__(self) -> str:
        return f"<tracekit.Table: {', '.join(self._columns)}>"


class Rows(Table):
    """Rows that an analysis returns: a sequence of dicts, and a table whose columns are their keys.

    In the table, a dict within a row becomes columns such as "before.count". json.dumps takes to_dicts(), or default=list."""

    def __init__(self, rows: Iterable[Row] = (), *, kind: int = -1, columns: Sequence[str] = ()) -> None:
        self._rows, self._kind, self._first = list(rows), kind, list(columns)

    @property
    def columns(self) -> List[str]:
        return list(self._formats())

    def _formats(self) -> Dict[str, Format]:
        """Returns the columns with the format that one without values has, and with their unit."""
        known = _described(self._kind)
        known.update({name: ANY for name in self._first})
        found = {name: known.get(name, ANY) for row in map(_flat, self._rows) for name in row}
        if not self._rows:
            return known
        return {**{name: value for name, value in known.items() if name in found}, **found}

    def to_dicts(self) -> List[Row]:
        """Returns a list of dicts, with lists of dicts within them."""
        return [{name: value.to_dicts() if isinstance(value, Rows) else value for name, value in row.items()} for row in self._rows]

    def _by_column(self) -> Dict[str, List[Any]]:
        rows = [_flat(row) for row in self.to_dicts()]
        return {name: [row.get(name) for row in rows] for name in self._formats()}

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        formats = self._formats()
        return _native.stream([(name, values, *formats[name]) for name, values in self._by_column().items()])

    def to_pandas(self) -> Any:
        import pandas

        return pandas.DataFrame(self._by_column())

    def head(self, n: int = 5) -> Rows:
        return self._like(self._rows[:n])

    def _like(self, rows: Iterable[Row]) -> Rows:
        return Rows(rows, kind=self._kind, columns=self._first)

    def _chunks(self) -> Iterator[List[Row]]:
        yield self.to_dicts()

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __reversed__(self) -> Iterator[Row]:
        return reversed(self._rows)

    def __eq__(self, other: object) -> bool:
        """Compares the rows with those of a table or a list of dicts."""
        return self.to_dicts() == (other.to_dicts() if isinstance(other, Rows) else other)

    __hash__ = None  # type: ignore[assignment]

    def __getitem__(self, index: Any) -> Any:
        """Returns a row (index), rows (slice), or the values of a column (name)."""
        if isinstance(index, slice):
            return self._like(self._rows[index])
        if not isinstance(index, str):
            return self._rows[index]
        if index not in self._formats():
            raise KeyError(f"{index!r} is not a column; the columns are {', '.join(self.columns)}")
        return [_flat(row).get(index) for row in self._rows]

    def __repr__(self) -> str:
        return repr(self._rows)


def _described(kind: int) -> Dict[str, Format]:
    """Returns the columns of a kind of row (-1: none are known) with format and unit, with those of inner rows in their place."""
    columns: Dict[str, Format] = {}
    for name, otherwise, unit, inner in _native.fields(kind):
        if otherwise == "s":
            columns.update({f"{name}.{key}": value for key, value in _described(inner).items()})
        else:
            columns[name] = otherwise, unit
    return columns


def described(value: Row, kind: int) -> Row:
    """Turns the lists of rows within a row into tables."""
    for name, otherwise, _, inner in _native.fields(kind):
        rows = value.get(name)
        if otherwise == "L" and inner >= 0 and isinstance(rows, list):
            value[name] = Rows((described(row, inner) for row in rows), kind=inner)
    return value


def _flat(row: Row) -> Row:
    """Replaces each dict in a row by its values, with keys such as "before.count"."""
    if not any(isinstance(value, dict) for value in row.values()):
        return row
    flat: Row = {}
    for name, value in row.items():
        if isinstance(value, dict):
            flat.update({f"{name}.{key}": inner for key, inner in _flat(value).items()})
        else:
            flat[name] = value
    return flat


def _plain(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, list) else value


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, (list, Rows)):
        return f"{len(value)} rows" if value and isinstance(value[0], dict) else ", ".join(map(str, value))
    return f"{value:,.3f}" if isinstance(value, float) else str(value)
