"""Tables of a trace, and tables of rows that an analysis returns.

Each table supports Arrow's PyCapsule interface, which all data frame packages can read, and which needs no other package."""
from __future__ import annotations

import csv
import html
import json
import operator
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
TIMES = ("int", "arrow", "ms")
TIME_COLUMNS = ("ts", "dur", "self")  # of the tables of a trace
PER_MS = {"ns": 1e6, "ps": 1e9}


class Table(ABC):
    """Rows with named columns: polars.DataFrame(table), pyarrow.table(table), duckdb, table.to_pandas().

    Every conversion takes `times`, which is one of:

    * None: times in the form in which the table was created
    * "int": integers in nanoseconds
    * "arrow": timestamps and durations, for tables of a trace
    * "ms": float64 in milliseconds; columns such as "total_ns" are then called "total_ms", and `ts` is relative to
      `info["origin_ns"]`, because a float64 cannot represent a time since 1970 to the microsecond
    """

    @property
    @abstractmethod
    def columns(self) -> List[str]:
        """Names of the columns."""

    @abstractmethod
    def __len__(self) -> int:
        """Returns the number of rows."""

    @abstractmethod
    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Returns the table as an Arrow stream, in a capsule. The metadata of a column contains its unit, if it has one."""

    @abstractmethod
    def _as(self, times: Optional[str]) -> Table:
        """Returns the table with its times in another form."""

    @abstractmethod
    def _frame(self) -> Any:
        """Returns a pandas.DataFrame."""

    @abstractmethod
    def head(self, n: int = 5) -> Rows:
        """Returns the first rows.

        Parameters
        ----------
        n : int
            Number of rows.

        Returns
        -------
        Rows
            At most `n` rows, each a dict.

        Examples
        --------
        >>> t.events().head(2)
        """

    @abstractmethod
    def _chunks(self) -> Iterator[List[Row]]:
        """Yields all rows in order, as lists of several rows."""

    def to_pandas(self, times: Optional[str] = None) -> Any:
        """Returns a data frame of pandas.

        Strings of a trace become categoricals. Columns are converted one at a time, so that at most one of them is in memory
        twice. Integers with nulls get a nullable type of pandas, such as Int64.

        Parameters
        ----------
        times : {None, "int", "arrow", "ms"}
            Form of times, see `Table`.

        Returns
        -------
        pandas.DataFrame
            `attrs["units"]` is a dict {column: unit}, for columns with a unit.

        Raises
        ------
        ImportError
            pandas is not installed; tables of a trace also need pyarrow.

        Examples
        --------
        >>> t.events().to_pandas(times="ms").groupby("name", observed=True).dur.sum()
        """
        return self._as(times)._frame()

    def to_arrow(self, times: Optional[str] = None) -> Any:
        """Returns a pyarrow table. The metadata of its fields contains their units.

        Parameters
        ----------
        times : {None, "int", "arrow", "ms"}
            Form of times, see `Table`.

        Returns
        -------
        pyarrow.Table
            A copy of the table.

        Raises
        ------
        ImportError
            pyarrow is not installed.

        Examples
        --------
        >>> t.top().to_arrow(times="ms").column("total_ms")
        """
        import pyarrow

        return pyarrow.table(self._as(times))

    def to_polars(self, times: Optional[str] = None) -> Any:
        """Returns a data frame of polars.

        Parameters
        ----------
        times : {None, "int", "arrow", "ms"}
            Form of times, see `Table`.

        Returns
        -------
        polars.DataFrame
            A copy of the table.

        Raises
        ------
        ImportError
            polars is not installed; for tables of a trace, times="ms" also needs pyarrow.

        Examples
        --------
        >>> t.events(["name", "dur"]).to_polars()
        """
        import polars

        return polars.DataFrame(self._as(times))

    def to_duckdb(self, connection: Any = None, times: Optional[str] = None) -> Any:
        """Returns a relation of DuckDB.

        Parameters
        ----------
        connection : duckdb.DuckDBPyConnection, optional
            Connection of the relation; by default, the default connection of duckdb.
        times : {None, "int", "arrow", "ms"}
            Form of times, see `Table`.

        Returns
        -------
        duckdb.DuckDBPyRelation
            A relation on a copy of the table.

        Raises
        ------
        ImportError
            duckdb or pyarrow is not installed.

        Examples
        --------
        >>> t.events().to_duckdb().aggregate("name, sum(dur)")
        """
        import duckdb

        return (connection or duckdb).from_arrow(self.to_arrow(times))

    def to_parquet(self, path: Path, times: Optional[str] = None) -> None:
        """Writes a Parquet file, with the units of columns as metadata of its fields.

        Parameters
        ----------
        path : str or os.PathLike
            File to write; an existing one is replaced.
        times : {None, "int", "arrow", "ms"}
            Form of times, see `Table`.

        Raises
        ------
        ImportError
            pyarrow is not installed.
        OSError
            The file cannot be written.

        Examples
        --------
        >>> t.events().to_parquet("events.parquet")
        """
        import pyarrow.parquet

        pyarrow.parquet.write_table(self.to_arrow(times), os.fspath(path))

    def to_csv(self, path: Path, times: Optional[str] = None) -> None:
        """Writes a CSV file with a header; lists are written as JSON. Needs no other package.

        Parameters
        ----------
        path : str or os.PathLike
            File to write; an existing one is replaced.
        times : {None, "int", "ms"}
            Form of times, see `Table`.

        Raises
        ------
        OSError
            The file cannot be written.

        Examples
        --------
        >>> t.top().to_csv("top.csv")
        """
        table = self._as(times)
        with open(path, "w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(table.columns)
            for rows in table._chunks():
                writer.writerows([_plain(row.get(name)) for name in table.columns] for row in map(_flat, rows))

    def _repr_html_(self) -> str:
        n, columns = len(self), self.columns
        head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
        rows = ["".join(f"<td>{html.escape(_cell(row.get(name)))}</td>" for name in columns) for row in map(_flat, self.head(PREVIEW))]
        more = f"<p>{len(rows)} of {n:,} rows</p>" if n > len(rows) else ""
        return f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>{more}"


class TraceTable(Table):
    """A table of a trace, created anew for each consumer."""

    def __init__(self, trace: _native.Trace, table: int, columns: List[str], options: Dict[str, Any], ms: bool = False) -> None:
        self._trace, self._table, self._columns, self._options, self._ms = trace, table, columns, options, ms
        self._kept: object = None

    @property
    def columns(self) -> List[str]:
        """Names of the columns."""
        return list(self._columns)

    def __len__(self) -> int:
        """Returns the number of rows."""
        return _native.batch_length(self._only(self._columns[0])._batch())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Returns the table as a stream of Arrow, in a capsule. Milliseconds need pyarrow."""
        return self.to_arrow().__arrow_c_stream__() if self._ms else self._stream()

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
            return Rows(self._slice(batch, start, stop)[::step], columns=self._columns)
        if hasattr(index, "__index__"):
            return self._row(operator.index(index))
        return self._select(list(index))

    def _row(self, index: int) -> Row:
        batch = self._batch()
        n = _native.batch_length(batch)
        if not -n <= index < n:
            raise IndexError(f"row {index} of a table of {n} rows")
        return self._slice(batch, index % n, index % n + 1)[0]

    def to_arrow(self, times: Optional[str] = None) -> Any:  # documented in Table
        import pyarrow

        table = self._as(times)
        return _arrow_in_ms(pyarrow.table(table._as_native())) if table._ms else pyarrow.table(table)

    to_arrow.__doc__ = Table.to_arrow.__doc__

    def _frame(self) -> Any:
        import pandas

        columns, units = {}, {}
        for name in self._columns:
            column = self._only(name).to_arrow()
            unit = (column.schema.field(0).metadata or {}).get(b"unit")
            units.update({name: unit.decode()} if unit else {})
            columns[name] = column.to_pandas(split_blocks=True, types_mapper=_nullable if column.column(0).null_count else None)[name]
        frame = pandas.DataFrame(columns, copy=False)
        frame.attrs["units"] = units
        return frame

    def head(self, n: int = 5) -> Rows:  # documented in Table
        return Rows(self._slice(self._batch(), 0, n), columns=self._columns)

    head.__doc__ = Table.head.__doc__

    def _stream(self) -> object:
        return self._trace.table(self._table, self._options)

    def _batch(self) -> object:
        return self._kept or _native.batch(self._stream())

    def _held(self) -> TraceTable:
        """Returns this table, which from now on keeps its rows; for an owner that knows when the trace changes."""
        self._kept = self._batch()
        return self

    def _slice(self, batch: object, start: int, stop: int) -> List[Row]:
        rows = _native.batch_slice(batch, start, stop)
        for row in rows if self._ms else ():
            row.update({name: row[name] / PER_MS["ps"] for name in TIME_COLUMNS if row.get(name) is not None})
        return rows

    def _chunks(self) -> Iterator[List[Row]]:
        batch = self._batch()
        for start in range(0, _native.batch_length(batch), CHUNK):
            yield self._slice(batch, start, start + CHUNK)

    def _has_word(self, word: str) -> bool:
        return _native.batch_has_word(self._batch(), word)

    def _as(self, times: Optional[str]) -> TraceTable:
        if times is None:
            return self
        if times not in TIMES:
            raise ValueError(f"times is one of {', '.join(TIMES)}, not {times!r}")
        return TraceTable(self._trace, self._table, self._columns,
                          dict(self._options, typed=times == "arrow", ps=times == "ms"), times == "ms")

    def _as_native(self) -> TraceTable:
        return TraceTable(self._trace, self._table, self._columns, self._options)

    def _only(self, column: str) -> TraceTable:
        return self._select([column])

    def _select(self, columns: List[str]) -> TraceTable:
        return TraceTable(self._trace, self._table, columns, dict(self._options, columns=columns), self._ms)

    def __repr__(self) -> str:
        return f"<tracekit.Table: {', '.join(self._columns)}>"


class Rows(Table):
    """Rows that an analysis returns. They are a sequence of dicts, and also a table whose columns are the keys of the dicts.

    In the table, a dict within a row becomes several columns, such as "before.count". For json.dumps, pass to_dicts(), or use
    default=list.

    Parameters
    ----------
    rows : iterable of dict
        The rows.
    kind : int
        Kind of row, for which the library describes the columns; -1 if it does not.
    columns : sequence of str
        Names of columns that exist even without rows, in their order.
    """

    def __init__(self, rows: Iterable[Row] = (), *, kind: int = -1, columns: Sequence[str] = ()) -> None:
        self._rows, self._kind, self._first = list(rows), kind, list(columns)
        self._given: Dict[str, Format] = {}

    @property
    def columns(self) -> List[str]:
        """Names of the columns."""
        return list(self._formats())

    def _formats(self) -> Dict[str, Format]:
        """Returns {column: (format if it has no values, unit)}."""
        known = self._given or _described(self._kind)
        known = {**known, **{name: known.get(name, ANY) for name in self._first}}
        found = {name: known.get(name, ANY) for row in map(_flat, self._rows) for name in row}
        if not self._rows:
            return known
        return {**{name: value for name, value in known.items() if name in found}, **found}

    def to_dicts(self) -> List[Row]:
        """Returns the rows as a list of dicts.

        Returns
        -------
        list of dict
            The rows; tables within them are lists of dicts, too.

        Examples
        --------
        >>> json.dumps(t.top().to_dicts())
        """
        return [{name: value.to_dicts() if isinstance(value, Rows) else value for name, value in row.items()} for row in self._rows]

    def _by_column(self) -> Dict[str, List[Any]]:
        rows = [_flat(row) for row in self.to_dicts()]
        return {name: [row.get(name) for row in rows] for name in self._formats()}

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Returns the table as a stream of Arrow, in a capsule."""
        formats = self._formats()
        return _native.stream([(name, values, *formats[name]) for name, values in self._by_column().items()])

    def _frame(self) -> Any:
        import pandas

        frame = pandas.DataFrame({name: _integers(values) for name, values in self._by_column().items()})
        frame.attrs["units"] = {name: unit for name, (_, unit) in self._formats().items() if unit}
        return frame

    def _as(self, times: Optional[str]) -> Rows:
        if times in (None, "int"):
            return self
        if times != "ms":
            raise ValueError(f"times is int or ms for the result of an analysis, not {times!r}")
        formats = self._formats()
        scales = {name: PER_MS[unit] for name, (_, unit) in formats.items() if unit in PER_MS}
        names = {name: _ms_name(name) if name in scales else name for name in formats}
        made = Rows({names[name]: _scaled(value, scales.get(name)) for name, value in _flat(row).items()} for row in self._rows)
        made._given = {names[name]: ("g", "ms") if name in scales else form for name, form in formats.items()}
        return made

    def head(self, n: int = 5) -> Rows:  # documented in Table
        return self._like(self._rows[:n])

    head.__doc__ = Table.head.__doc__

    def _like(self, rows: Iterable[Row]) -> Rows:
        made = Rows(rows, kind=self._kind, columns=self._first)
        made._given = self._given
        return made

    def _chunks(self) -> Iterator[List[Row]]:
        yield self.to_dicts()

    def __len__(self) -> int:
        """Returns the number of rows."""
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        """Returns the rows, one by one."""
        return iter(self._rows)

    def __reversed__(self) -> Iterator[Row]:
        """Returns the rows from the last to the first."""
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


def _nullable(arrow: Any) -> Any:
    """Returns the type of pandas for integers with nulls; None for other types. Floats would round times since 1970 to 256 ns."""
    import pandas
    import pyarrow

    return {pyarrow.int64(): pandas.Int64Dtype(), pyarrow.uint32(): pandas.UInt32Dtype(), pyarrow.uint16(): pandas.UInt16Dtype()}.get(arrow)


def _integers(values: List[Any]) -> Any:
    """Converts integers with nulls to an array of pandas that keeps them."""
    import pandas

    some = [value for value in values if value is not None]
    is_whole = some and len(some) < len(values) and all(type(value) is int and abs(value) < 2**63 for value in some)
    return pandas.array(values, dtype="Int64") if is_whole else values


def _ms_name(name: str) -> str:
    return name[:-3] + "_ms" if name.endswith(("_ns", "_ps")) else name


def _scaled(value: Any, scale: Optional[float]) -> Any:
    return value / scale if scale and isinstance(value, (int, float)) else value


def _arrow_in_ms(table: Any) -> Any:
    """Converts the columns of a pyarrow.Table whose unit is a time to float64 in milliseconds."""
    import pyarrow
    import pyarrow.compute

    compute: Any = pyarrow.compute
    for i, field in enumerate(table.schema):
        unit = ((field.metadata or {}).get(b"unit") or b"").decode()
        if unit in PER_MS:
            values = compute.divide(table.column(i).cast(pyarrow.float64(), safe=False), PER_MS[unit])
            table = table.set_column(i, pyarrow.field(_ms_name(field.name), pyarrow.float64(), metadata={"unit": "ms"}), values)
    return table


def _described(kind: int) -> Dict[str, Format]:
    """Returns {column: (format, unit)} of a kind of row, empty for -1; columns of an inner row are named like "before.count"."""
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
    """Replaces each dict in a row with its values, with keys such as "before.count"."""
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
