"""Checks that every table has the rows of its source in every form: dicts, Arrow, pandas, polars, DuckDB, CSV and Parquet."""
import csv
import json
import math
import os
import subprocess
import sysconfig

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import tracekit
from tracekit import _native

COMMAND = os.path.join(sysconfig.get_path("scripts"), "tracekit")
TRACE = "json/torch/ddp2_plain/rank0.json.gz"
MADE = [{"ph": "X", "pid": 0, "tid": 7, "ts": 10 * i, "dur": 5 + i % 3, "name": f"k{i % 4}", "cat": "kernel",
         "args": {"device": 0, "stream": 7, "correlation": i}} for i in range(40)]


@pytest.fixture(scope="module", params=["made", "fixture"])
def trace(request):
    if request.param == "made":
        return tracekit.load(json.dumps(MADE).encode())
    here = os.path.dirname(os.path.abspath(__file__))
    return tracekit.load(os.path.join(here, "..", "..", "fixtures", TRACE))


def tables(t):
    """Returns every table that a trace, a comparison and a query give."""
    found = {f"report.{name}": table for name, table in t.report().items() if isinstance(table, tracekit.Table)}
    for name in ("events", "tracks", "flows", "args", "steps", "collectives"):
        found[name] = t.table(name)
    found["top"], found["tree"], found["diff"] = t.top(), t.tree(), t.diff(t)["rows"]
    found["sql"] = t.sql("SELECT name, dur, NULL AS empty, 1.5 AS half, x'0a' AS bytes FROM slice LIMIT 9")
    return found


def flat(row):
    out = {}
    for name, value in row.items():
        out.update({f"{name}.{key}": v for key, v in flat(value).items()} if isinstance(value, dict) else {name: value})
    return out


def same(want, got):
    """Compares two values; a missing key equals None, because a column has a value in every row."""
    if isinstance(want, list):
        return len(want) == len(got) and all(same(a, b) for a, b in zip(want, got))
    if isinstance(want, dict):
        return all(same(want.get(name), value) for name, value in got.items()) and set(want) <= set(got)
    return (want is None and got is None) or (want == got and not (isinstance(want, float) and math.isnan(want)))


def test_arrow(trace):
    for name, table in tables(trace).items():
        want = [flat(row) for row in (table.to_dicts() if isinstance(table, tracekit.Rows) else table)]
        got = pyarrow.table(table)
        got.validate(full=True)
        assert got.num_rows == len(table) == len(want), name
        assert got.column_names == table.columns, name
        assert same([{**dict.fromkeys(table.columns), **row} for row in want], got.to_pylist()), name


def test_other_frames(trace, tmp_path):
    for name, table in tables(trace).items():
        n, columns = len(table), table.columns
        assert list(table.to_pandas().columns) == columns and len(table.to_pandas()) == n, name
        assert polars.DataFrame(table).columns == columns == table.to_polars().columns and table.to_polars().height == n, name
        assert table.to_duckdb().count("*").fetchall()[0][0] == n, name
        table.to_parquet(tmp_path / "table.parquet")
        assert pyarrow.parquet.read_table(tmp_path / "table.parquet").num_rows == n, name
        table.to_csv(tmp_path / "table.csv")
        with open(tmp_path / "table.csv", encoding="utf-8", newline="") as f:
            lines = list(csv.reader(f))
        assert lines[0] == columns and len(lines) == n + 1, name
        assert table._repr_html_().count("<tr>") == 1 + min(n, 10), name


def test_units(trace):
    report = pyarrow.table(trace.report()["ranks"]).schema
    units = {field.name: (field.metadata or {}).get(b"unit") for field in report}
    assert all(units[name] == b"ns" for name in units if name.endswith("_ns"))
    assert all(units[name] == b"%" for name in units if name.endswith("_percent"))
    for unit in ("ns", "ps"):
        schema = pyarrow.table(trace.events(["ts", "dur", "self", "name"], unit=unit)).schema
        assert [(field.metadata or {}).get(b"unit") for field in schema] == [unit.encode()] * 3 + [None]


def test_times_of_arrow(trace):
    plain, typed = pyarrow.table(trace.events(["ts", "dur"])), pyarrow.table(trace.events(["ts", "dur"], times="arrow"))
    zone = "UTC" if trace.info["clock"] == "realtime" else None
    assert typed.schema.types == [pyarrow.timestamp("ns", zone), pyarrow.duration("ns")]
    assert [column.cast(pyarrow.int64()) for column in typed.columns] == plain.columns
    with pytest.raises(ValueError, match="picosecond"):
        pyarrow.table(trace.events(unit="ps", times="arrow"))


def test_milliseconds(trace, tmp_path):
    exact = trace.events(["ts", "dur", "self", "name"], unit="ps").to_arrow()
    table = trace.events(["ts", "dur", "self", "name"])
    for given, times in ((table, "ms"), (trace.events(["ts", "dur", "self", "name"], times="ms"), None)):
        got = given.to_arrow(times)
        got.validate(full=True)
        assert got.schema.types[:3] == [pyarrow.float64()] * 3 and got.column_names == exact.column_names
        assert [(field.metadata or {}).get(b"unit") for field in got.schema] == [b"ms"] * 3 + [None]
        for name in ("ts", "dur", "self"):
            want = [None if ps is None else ps / 1e9 for ps in exact.column(name).to_pylist()]
            assert got.column(name).to_pylist() == want
            assert given.to_polars(times)[name].to_list() == want and given.to_duckdb(times=times).project(name).fetchall() == [(v,) for v in want]
            frame = given.to_pandas(times)
            assert [None if pandas.isna(v) else v for v in frame[name]] == want
        assert frame.attrs["units"] == {"ts": "ms", "dur": "ms", "self": "ms"}
        given.to_csv(tmp_path / "t.csv", times)
        with open(tmp_path / "t.csv", encoding="utf-8", newline="") as f:
            assert [row["ts"] for row in csv.DictReader(f)] == [str(v) for v in got.column("ts").to_pylist()]
    ms = trace.events(times="ms")
    assert ms[0]["ts"] == exact.column("ts")[0].as_py() / 1e9 and ms.head(1)[0] == ms[0] == next(iter(ms)) and ms["ts"].to_arrow().num_columns == 1
    assert len(ms) == len(table) and polars.DataFrame(ms)["dur"].dtype == polars.Float64
    assert table.to_pandas().attrs["units"] == {"ts": "ns", "dur": "ns", "self": "ns"}
    assert str(table.to_pandas("arrow").dur.dtype) == "timedelta64[ns]" and table.to_pandas("int").dur.iloc[0] == table[0]["dur"]
    with pytest.raises(ValueError, match="times is one of"):
        table.to_arrow("s")


def test_milliseconds_of_rows(trace, tmp_path):
    top = trace.top()
    frame, made = top.to_pandas("ms"), top.to_arrow("ms")
    assert "total_ms" in frame and "total_ns" not in frame and "name" in frame
    assert frame.total_ms.tolist() == [row["total_ns"] / 1e6 for row in top] and frame.attrs["units"]["total_ms"] == "ms"
    assert made.schema.field("total_ms").metadata == {b"unit": b"ms"} and made.schema.field("total_ms").type == pyarrow.float64()
    assert top.to_pandas("int").total_ns.tolist() == top["total_ns"] and top.to_pandas().attrs["units"]["self_ns"] == "ns"
    ranks = trace.report()["ranks"]
    units = {field.name: field.metadata[b"unit"] for field in ranks.to_arrow("ms").schema if (field.metadata or {}).get(b"unit")}
    assert units and all((unit == b"ms") == name.endswith("_ms") for name, unit in units.items())
    assert b"ns" not in units.values() and ranks[0]["length_ns"] / 1e6 == ranks.to_arrow("ms").column("length_ms")[0].as_py()
    nothing = trace.filter("name == 'nosuch'", allow_empty=True).top()
    assert pyarrow.table(nothing._as("ms")).schema.field("total_ms").type == pyarrow.float64()
    top.to_csv(tmp_path / "t.csv", "ms")
    assert (tmp_path / "t.csv").read_text().splitlines()[0].split(",") == frame.columns.tolist()
    with pytest.raises(ValueError, match="int or ms"):
        top.to_pandas("arrow")


def test_empty_tables_have_columns(trace):
    nothing = trace.filter("name == 'nosuch'", allow_empty=True)
    for name, table in {**tables(nothing), "columns": nothing.sql("SELECT name, dur FROM slice")}.items():
        assert len(table) == 0 or name in ("report.ranks", "tracks", "sql"), name
        assert table.columns, name
        assert pyarrow.table(table).column_names == table.columns, name
    known = pyarrow.table(nothing.top()).schema
    assert known.field("total_ns").type == pyarrow.int64() and known.field("name").type == pyarrow.large_string()


def test_fields_are_those_of_the_command(trace, tmp_path):
    path = tmp_path / "t.json"
    trace.save(path)
    for command, rows in (("report", "ranks"), ("report", "operators"), ("report", "kernels"), ("top", "rows")):
        run = subprocess.run([COMMAND, command, path, "--json"], capture_output=True, text=True, check=True)
        asked = {name for row in json.loads(run.stdout)[rows] for name in flat(row)}
        ours = set(trace.report()[rows].columns if command == "report" else trace.top().columns)
        assert asked <= ours, (command, rows, asked - ours)


def test_values_of_any_type():
    rows = [{"int": -1, "big": 2**63, "huge": 2**70, "mixed": 1, "float": 1, "text": "é\U0001f600", "flag": True, "list": [1, 2], "rows": [{"a": 1}],
             "inner": {"x": 1, "y": {"z": "t"}}, "none": None},
            {"int": None, "big": 0, "huge": 0, "mixed": "a", "float": 2.5, "text": "", "flag": None, "list": [], "rows": None, "inner": {"x": None}}]
    table = tracekit.Rows(rows)
    got = pyarrow.table(table)
    got.validate(full=True)
    assert got.schema.types == [pyarrow.int64(), pyarrow.uint64(), pyarrow.float64(), pyarrow.large_string(), pyarrow.float64(),
                                pyarrow.large_string(), pyarrow.bool_(), pyarrow.large_list(pyarrow.field("item", pyarrow.int64())),
                                pyarrow.large_list(pyarrow.field("item", pyarrow.struct([("a", pyarrow.int64())]))), pyarrow.int64(),
                                pyarrow.large_string(), pyarrow.null()]
    assert got.column("big").to_pylist() == [2**63, 0] and got.column("mixed").to_pylist() == ["1", "a"]
    assert got.column("inner.y.z").to_pylist() == ["t", None] and got.column("rows").to_pylist() == [[{"a": 1}], None]
    assert pyarrow.table(tracekit.Rows()).num_columns == 0


def test_a_stream_outlives_its_table():
    reader = pyarrow.RecordBatchReader.from_stream(tracekit.Rows([{"a": [{"b": "x"}]}] * 3))
    assert reader.read_all().to_pylist() == [{"a": [{"b": "x"}]}] * 3
    unread = _native.stream([("a", [1], "l", "ns")])
    del unread  # frees the stream
    with pytest.raises((TypeError, ValueError)):
        _native.stream([("a", 1, "l", None)])
    with pytest.raises(ValueError):
        _native.batch_length(_native.stream([]))


def test_rows_behave_as_lists(trace):
    top = trace.top()
    assert top[0] == list(top)[0] and top[-1] == list(reversed(top))[0] and isinstance(top[:3], tracekit.Rows)
    assert top == top.to_dicts() and top[:3].columns == top.columns
    assert top["total_ns"] == [row["total_ns"] for row in top]
    assert json.loads(json.dumps(trace.report(), default=list))["ranks"][0]["events"] == trace.report()["ranks"][0]["events"]
    with pytest.raises(KeyError, match="total_ns"):
        top["nosuch"]


def test_a_trace_is_a_sequence_of_events(trace):
    events = list(trace)
    assert len(events) == len(trace) and trace[0] == events[0] and trace[-1] == events[-1] and trace[3:5] == events[3:5]
    assert trace[:9:2] == events[:9:2]
    assert events[0]["name"] in trace and "nosuch" not in trace and 5 not in trace
    assert trace["dur"].columns == ["dur"] and trace[["ts", "arg.stream"]].columns == ["ts", "arg.stream"]
    assert trace.events().head(2) == events[:2]
    with pytest.raises(IndexError):
        trace[len(trace)]
    with pytest.raises(ValueError, match="backwards"):
        trace[::-1]
    assert list(reversed(trace)) == events[::-1]


def test_rows_follow_changes(trace):
    t = trace.copy()
    first = t[0]
    t.rebase(shift="1s", inplace=True)
    assert t[0]["ts"] == first["ts"] + 10**9
    t.filter(kind="kernel", inplace=True)
    assert all(t[i]["kind"] == "kernel" for i in range(len(t)))
    t.close()
    with pytest.raises(ValueError):
        t[0]


def test_integers_with_nulls_stay_exact():
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    rows = [{"ph": "X", "pid": 1, "tid": 1, "ts": 1.7e15 + i, "dur": 1, "name": "a", "args": {"big": 2**60 + i}} for i in range(3)]
    t = tracekit.load(json.dumps(rows + [{"ph": "i", "pid": 1, "tid": 1, "ts": 0, "name": "z"}]).encode())
    frame = t.events(["ts", "arg.big"]).to_pandas()
    assert frame.ts.dropna().diff().dropna().tolist() == [1000, 1000] and frame["arg.big"].dropna().tolist() == [2**60 + i for i in range(3)]
    assert isinstance(frame.ts.dtype, pandas.Int64Dtype) and frame.ts.isna().sum() == 1
    assert isinstance(t.sql("select null as n union all select 1").to_pandas().n.dtype, pandas.Int64Dtype)
