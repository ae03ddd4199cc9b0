"""Tables of a trace, as Arrow PyCapsules, which need no other package and which all data frame packages read."""
from __future__ import annotations

from typing import Any, Dict, List

from . import _native


class Table:
    """A table, created anew for each consumer: polars.DataFrame(table), pyarrow.table(table), duckdb, table.to_pandas()."""

    def __init__(self, trace: _native.Trace, table: int, columns: List[str], usual: bool, ps: bool) -> None:
        self._trace, self._table, self._ps = trace, table, ps
        self._columns = columns
        self._options: Dict[str, Any] = {"columns": None if usual else columns, "ps": ps}

    @property
    def columns(self) -> List[str]:
        """Names of the columns."""
        return list(self._columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._trace.table(self._table, self._options)

    def to_arrow(self) -> Any:
        """Returns a pyarrow.Table."""
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self) -> Any:
        """Returns a polars.DataFrame."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> Any:
        """Returns a pandas.DataFrame; strings become categoricals. Converts one column at a time, so that at most one column is
        in memory twice. pandas copies a column if its layout differs: integers with nulls become floats."""
        import pandas

        return pandas.DataFrame({name: self._only(name).to_arrow().to_pandas(split_blocks=True)[name] for name in self._columns}, copy=False)

    def _only(self, column: str) -> Table:
        return Table(self._trace, self._table, [column], False, self._ps)

    def __repr__(self) -> str:
        return f"<tracekit.Table: {', '.join(self._columns)}>"
