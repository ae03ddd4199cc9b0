"""Tables of a trace by Arrow's PyCapsule interface, which needs no package here and is taken by all packages for data frames."""
from . import _native


class Table:
    """A table that is made anew whenever somebody takes it: polars.DataFrame(table), pyarrow.table(table), duckdb, table.to_pandas()."""

    def __init__(self, trace, table, columns, usual, ps):
        self._trace, self._table, self._ps = trace, table, ps
        self._columns = columns
        self._options = {"columns": None if usual else columns, "ps": ps}

    @property
    def columns(self):
        """Names of its columns."""
        return list(self._columns)

    def __arrow_c_stream__(self, requested_schema=None):
        return self._trace.table(self._table, self._options)

    def to_arrow(self):
        """A pyarrow.Table."""
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self):
        """A polars.DataFrame."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self):
        """A pandas.DataFrame.  Texts are categories.  Column after column is taken over, or copied where pandas has another layout (whole
        numbers of which some are missing become floats), so that no more than one is there twice."""
        import pandas

        return pandas.DataFrame({name: self._only(name).to_arrow().to_pandas(split_blocks=True)[name] for name in self._columns}, copy=False)

    def _only(self, column):
        return Table(self._trace, self._table, [column], False, self._ps)

    def __repr__(self):
        return f"<tracekit.Table: {', '.join(self._columns)}>"
