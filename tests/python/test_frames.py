"""Checks that data frames agree with `tracekit top --json`: to the picosecond, or within 1 ns per event."""
import json
import os
import re
import subprocess
import sysconfig
from decimal import Decimal

import duckdb
import pandas
import polars
import pyarrow
import pytest

import tracekit
from conftest import traces

COMMAND = os.path.join(sysconfig.get_path("scripts"), "tracekit")


def top(path):
    run = subprocess.run([COMMAND, "top", path, "--by", "name", "--top", "1000000", "--json", "-e", "kind != 'sample'"],
                         capture_output=True, text=True, check=False)
    if run.returncode:
        pytest.skip(run.stderr.strip()[:200])
    return {row["name"]: (row["count"], Decimal(row["total_ns"] or 0)) for row in json.loads(run.stdout, parse_float=Decimal)["rows"]}


def by_pandas(table):
    frame = table.to_pandas()
    groups = frame[~frame.type.isin(["counter", "sample"])].groupby("name", observed=True, dropna=False).dur.agg(["size", "sum"])
    return {None if pandas.isna(n) else n: (int(r["size"]), int(r["sum"])) for n, r in groups.iterrows()}


def by_polars(table):
    frame = polars.DataFrame(table).filter(~polars.col("type").cast(polars.String).is_in(["counter", "sample"]))
    groups = frame.group_by("name").agg(polars.len().alias("n"), polars.col("dur").sum())
    return {r["name"]: (r["n"], r["dur"]) for r in groups.to_dicts()}


def by_duckdb(table):
    events = pyarrow.table(table)  # the query refers to it
    rows = duckdb.sql("select name, count(*), sum(dur) from events where type not in ('counter', 'sample') group by name").fetchall()
    return {n: (c, int(s or 0)) for n, c, s in rows}


def merged(found):
    """Adds up the rows of names that differ only in the addresses of objects."""
    sums = {}
    for name, (count, total) in found.items():
        row = sums.setdefault(name and re.sub(r" at 0x[0-9a-f]+", " at 0x*", name), [0, 0])
        row[0] += count
        row[1] += total
    return {name: tuple(row) for name, row in sums.items()}


@pytest.mark.parametrize("path", traces(), ids=os.path.basename)
def test_as_the_command(path):
    want = top(path)
    folded = any(name and " at 0x*" in name for name in want)  # `top` does not distinguish objects by their addresses
    with tracekit.load(path) as t:
        for ask in (by_pandas, by_polars, by_duckdb):
            exact, whole = ask(t.events(["name", "type", "dur"], unit="ps")), ask(t.events(["name", "type", "dur"]))
            exact, whole = (merged(found) if folded else found for found in (exact, whole))
            assert {n: (c, Decimal(s) / 1000) for n, (c, s) in exact.items()} == want
            assert {n: c for n, (c, _) in whole.items()} == {n: c for n, (c, _) in want.items()}
            for name, (count, total) in whole.items():
                assert abs(total - want[name][1]) <= count


KINDS = ("span", "instant", "counter", "sample")


@pytest.mark.parametrize("path", traces(), ids=os.path.basename)
def test_valid(path):
    with tracekit.load(path) as t:
        for name in ("events", "tracks", "flows", "args", "steps", "collectives"):
            table = t.table(name)
            made = pyarrow.table(table)
            made.validate(full=True)
            assert made.schema.names == table.columns
        asked = ["id", "parent", "host", "device", "self", "unfinished", "clipped", "phase", "op", "module", "arg.step_num"]
        made = t.events(asked).to_arrow()
        made.validate(full=True)
        assert made.num_rows == t.info["events"]
        types = t.events(["type"]).to_pandas().type.value_counts()
        assert {kind: types.get(kind, 0) for kind in KINDS} == {kind: t.info[f"{kind}s"] for kind in KINDS}


def test_parents_and_self(fixture):
    """Checks that self times of a thread add up to the time of its outermost spans, if spans nest."""
    t = tracekit.load(fixture("json/jax/multihost"))
    f = t.events(["id", "parent", "track", "dur", "self", "type", "depth"], unit="ps").to_polars().filter(polars.col("type") == "span")
    assert f.filter(polars.col("parent").is_null())["dur"].sum() == f["self"].sum()
    joined = f.join(f, left_on="parent", right_on="id", suffix="_above")
    assert (joined["track"] == joined["track_above"]).all() and (joined["depth"] == joined["depth_above"] + 1).all()


def test_around(fixture):
    """Checks that phases, ops and modules are those by which top groups."""
    t = tracekit.load(fixture("json/torch/ddp2_plain"))
    for fact in ("phase", "op", "module"):
        f = t.events([fact, "type", "dur"], unit="ps").to_polars().filter(polars.col("type") != "counter").group_by(fact).agg(polars.col("dur").sum())
        assert {k: v for k, v in f.iter_rows()} == {r["name"]: round(r["total_ns"] * 1000) for r in t.top(fact)}


def test_streams_outlive_the_trace(fixture):
    t = tracekit.load(fixture("json/jax/multihost"))
    stream = t.events(["name", "ts"]).__arrow_c_stream__()
    n = t.info["events"]
    t.close()
    assert pyarrow.RecordBatchReader._import_from_c_capsule(stream).read_all().num_rows == n
    with pytest.raises(ValueError):
        t.events().to_arrow()


def test_unknown_column(fixture):
    t = tracekit.load(fixture("json/jax/multihost"))
    with pytest.raises(tracekit.Error, match="no column 'colour'"):
        t.events(["colour"]).to_arrow()
