"""Tests the API of the package: sources, operations, errors, interrupts, threads, forks, leaks."""
import datetime
import gzip
import io
import json
import os
import pickle
import re
import signal
import threading
import time
import warnings

import pytest

import tracekit

SMALL = b'[{"ph":"X","pid":1,"tid":7,"ts":0,"dur":2,"name":"a"},{"ph":"X","pid":1,"tid":7,"ts":5,"dur":1,"name":"b"}]'


def big(events=400_000):
    row = '{"ph":"X","pid":1,"tid":%d,"ts":%d,"dur":2,"name":"n%d","args":{"k":%d}}'
    return ("[" + ",".join(row % (i % 8, i, i % 100, i) for i in range(events)) + "]").encode()


@pytest.fixture(scope="module")
def big_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("big") / "big.json"
    path.write_bytes(big(1_500_000))
    return str(path)


def test_sources(tmp_path, fixture):
    path = tmp_path / "x.json"
    path.write_bytes(SMALL)
    for source in (str(path), path, SMALL, bytearray(SMALL), io.BytesIO(SMALL), gzip.compress(SMALL), open(path, "rb")):
        assert tracekit.load(source).info["events"] == 2
    hosts = [fixture(f"json/jax/multihost/host-{i}.trace.json.gz") for i in range(3)]
    assert tracekit.load(hosts).info["events"] == sum(tracekit.load(h).info["events"] for h in hosts)


def test_operations(tmp_path):
    t = tracekit.load(SMALL).rebase(shift="1ms")
    assert [r["name"] for r in t.top(sort="total")] == ["a", "b"]
    assert t.top(by="cat")[0]["name"] is None and t.top(where="dur > 1us")[0]["count"] == 1
    assert [n["name"] for n in t.tree()] == ["a", "b"]
    saved = t.save(tmp_path / "x.pftrace")
    assert saved["format"] == "perfetto" and saved["bytes"] == os.path.getsize(tmp_path / "x.pftrace") and saved["lost"] == {}
    with pytest.raises(tracekit.Error) as e:
        t.save(tmp_path / "x.pftrace")
    assert e.value.code == "write"
    t.save(tmp_path / "x.pftrace", force=True)
    out = io.BytesIO()
    t.save(out, format="json")
    assert len(json.loads(out.getvalue())["traceEvents"]) >= 2
    parts = tracekit.load(SMALL).split(str(tmp_path / "part-{}.json"), "time", every="4us")
    assert [os.path.basename(p["output"]) for p in parts] == ["part-0.json", "part-1.json"]
    small = tracekit.load(big(20_000)).shrink(tmp_path / "s.json.gz", to="40KB")
    assert small["bytes"] <= 40_000 and small["bytes"] == os.path.getsize(tmp_path / "s.json.gz")
    assert tracekit.load(SMALL).redact("hash").top()[0]["name"] not in ("a", "b")


def test_operations_return(tmp_path):
    """Operations do not change their trace unless inplace=True is given."""
    t = tracekit.load(SMALL)
    before = t.to_bytes()
    step = b'[{"ph":"X","pid":1,"tid":7,"ts":0,"dur":2,"name":"a","args":{"tf_op":"x/y"}}]'
    for content, operation in ((SMALL, lambda t, **o: t.filter("name == 'b'", **o)), (SMALL, lambda t, **o: t.rebase(shift="1ms", **o)),
                               (SMALL, lambda t, **o: t.redact("hash", key="k", **o)), (SMALL, lambda t, **o: t.derive(**o)),
                               (SMALL, lambda t, **o: t.fold_graphs(**o)), (step, lambda t, **o: t.scopes("tf_op", **o))):
        old, other = tracekit.load(content), tracekit.load(content)
        was = old.to_bytes()
        new = operation(old)
        assert new is not old and old.to_bytes() == was
        assert operation(other, inplace=True) is other and other.to_bytes() == new.to_bytes()
    assert t.filter("name == 'b'").rebase(shift="1ms").top()[0]["name"] == "b" and t.to_bytes() == before
    copy = t.copy()
    t.close()
    assert copy.to_bytes() == before
    kept = tracekit.load(big(2_000))
    kept.shrink(tmp_path / "s.json", to="10KB")
    assert len(kept) == 2_000
    kept.shrink(tmp_path / "s.json", to="10KB", inplace=True, force=True)
    assert 0 < len(kept) < 2_000


def test_filter_by_keywords():
    rows = [("train", "nccl_a", 1), ("train", 'say "hi" \\\\', 2), ("eval", "gemm[1]", 3), ("eval", "nccl_b", 4)]
    t = tracekit.load(json.dumps([{"ph": "X", "pid": n % 2, "tid": 7, "ts": n, "dur": 1, "cat": cat, "name": name} for cat, name, n in rows])
                      .encode())

    def names(**how):
        return [e["name"] for e in t.filter(allow_empty=True, **how).sql("select name from slice order by ts")]

    every = [r["name"] for r in t.sql("select name from slice order by ts")]
    assert names(name="nccl*") == ["nccl_a", "nccl_b"] and names(name=[every[1], "nccl_b"]) == [every[1], "nccl_b"]
    assert names(name=re.compile("CCL_[ab]$", re.I)) == ["nccl_a", "nccl_b"] and names(name="gemm\\[1\\]") == ["gemm[1]"]
    assert names(pid=1) == ["nccl_a", "gemm[1]"] and names(pid=range(0, 1)) == names(pid=slice(None, 1)) == [every[1], "nccl_b"]
    assert names(pid=range(1, 9, 2)) == ["nccl_a", "gemm[1]"]
    assert names(kind="span") == every and names(kind=["counter", "instant"]) == []
    assert names(cat="train", pid=1) == ["nccl_a"] and names(where="dur > 5us", cat="train") == []
    for how in ({"name": []}, {"pid": range(3, 3)}, {"pid": slice(0, 4, 2)}):
        with pytest.raises(ValueError):
            t.filter(**how)


def test_empty_result_warns():
    t = tracekit.load(SMALL)
    with pytest.warns(tracekit.EmptyResult, match="no event is left of 2: name == \"x\""):
        assert len(t.filter(name="x")) == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(t.filter(name="x", allow_empty=True)) == 0 and len(t.filter(name="a")) == 1
        assert len(tracekit.load(SMALL).filter(name="x", allow_empty=True).filter(name="y")) == 0
    with pytest.warns(tracekit.EmptyResult, match="the range is empty"):
        t.filter(time="+1s..+2s")


def test_closed():
    t = tracekit.load(SMALL)
    assert t and len(t) == 2 and "2 events" in repr(t)
    t.close()
    assert repr(t) == "<tracekit.Trace: closed>" and t._repr_html_() is None
    for call in (t.copy, lambda: len(t), t.top, lambda: t.diff(t), lambda: t.filter("dur > 1us"), lambda: tracekit.load(SMALL).diff(t)):
        with pytest.raises(ValueError, match="closed"):
            call()


def test_diff_of_traces(tmp_path, fixture):
    a, b = fixture("json/jax/multihost/host-0.trace.json.gz"), fixture("json/jax/multihost/host-1.trace.json.gz")
    paths = tracekit.diff(a, b)
    before, after = tracekit.load(a), tracekit.load(b)
    assert paths["rows"]
    for got in (tracekit.diff(before, after), tracekit.diff(a, after), before.diff(b)):
        assert got["rows"] == paths["rows"] and got["all"] == paths["all"]
    assert all(row["delta_ns"] == 0 for row in before.diff(before)["rows"])
    launches = tracekit.diff(a, b, match="tree")
    assert launches["rows"] == before.diff(after, match="tree")["rows"] and "work_name" in launches["rows"][0]["before"]
    with pytest.raises(ValueError):
        tracekit.diff(a, b, match="trees")
    assert before.diff(after, by="cat")["rows"] == tracekit.diff(a, b, by="cat")["rows"]
    threads = [threading.Thread(target=lambda x=x, y=y: [x.diff(y) for _ in range(10)]) for x, y in ((before, after), (after, before))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()


def test_sql():
    t = tracekit.load(SMALL)
    assert t.sql("select name, dur from slice order by ts") == [{"name": "a", "dur": 2000}, {"name": "b", "dur": 1000}]
    assert t.sql("select 1; select NULL as n, 1.5 as d, x'00ff' as b") == [{"n": None, "d": 1.5, "b": b"\x00\xff"}]
    assert t.sql("select name from slice where 0") == []
    assert t.sql("select name, name, dur as name from slice limit 1") == [{"name": "a", "name_1": "a", "name_2": 2000}]
    with pytest.raises(tracekit.Error, match="nosuch"):
        t.sql("select * from nosuch")
    with pytest.raises(tracekit.Error):
        t.sql("with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) from c", timeout=0.2)


def test_sql_parameters():
    t = tracekit.load(SMALL)
    assert t.sql("select dur from slice where name = ?", ["b"]) == [{"dur": 1000}]
    assert t.sql("select :a as a, @b as b, $c as c, :a as d", {"a": 2**62, "b": "x'y", "c": None}) == [{"a": 2**62, "b": "x'y", "c": None, "d": 2**62}]
    assert t.sql("select ?2 as x, ?1 as y; select ? as z", [b"\x00\xff", 2.5]) == [{"z": b"\x00\xff"}]
    for query, params in (("select ?", None), ("select ?, ?", [1]), ("select :x", {"y": 1}), ("select :x", [1]), ("select ?", {"x": 1})):
        with pytest.raises(tracekit.Error, match="has no value"):
            t.sql(query, params)
    with pytest.raises(TypeError, match="params"):
        t.sql("select ?", [object()])


def test_time_ranges():
    rows = [{"ph": "X", "pid": 1, "tid": 1, "ts": 1000 * i, "dur": 100, "name": f"n{i}"} for i in range(10)]
    for base in (0, 1_700_000_000_123_456_789):
        t = tracekit.load(json.dumps({"traceEvents": rows, **({"baseTimeNanoseconds": base} if base else {})}).encode())
        ts = [event["ts"] for event in t]
        assert [e["name"] for e in t.filter(time=(ts[3], ts[6]))] == ["n3", "n4", "n5"]
        assert len(t.filter(time=(ts[8], None))) == len(t.filter(time=(None, ts[2]))) == 2 and len(t.filter(time=(None, "+2ms"))) == 2
        assert t.top(time=(ts[3], ts[6]))["count"] == [1, 1, 1]
    at = datetime.datetime(2023, 11, 14, 22, 13, 20, 126600)  # of the second trace
    zone = datetime.timezone(datetime.timedelta(hours=5, minutes=30))
    assert len(t.filter(time=(at, None))) == len(t.filter(time=(at.replace(tzinfo=datetime.timezone.utc).astimezone(zone), None))) == 6
    for options in ({"time": 5}, {"time": (object(), None)}, {"steps": 1.5}):
        with pytest.raises(TypeError, match=[*options][0]):
            t.filter(**options)
    with pytest.raises(TypeError, match="step_name: expected a string"):
        tracekit.load(SMALL, step_name=5)


def test_save_into_file_objects(tmp_path):
    t = tracekit.load(SMALL)
    path = tmp_path / "t.json.gz"
    for options in ({}, {"format": "json"}):
        with gzip.open(path, "wb") as out:
            t.save(out, **options)
        with gzip.open(path, "rt") as file:
            assert len(json.load(file)["traceEvents"]) >= 2
    with open(path, "wb") as out:
        t.save(out)
    assert path.read_bytes()[:2] == b"\x1f\x8b"
    with open(path, "wb") as out:
        t.save(out, format="json")
    assert path.read_bytes()[:1] == b"{"

    class Slow(io.RawIOBase):
        def __init__(self):
            self.content = b""

        def write(self, data):
            self.content += bytes(data[:7])
            return min(7, len(data))

    slow = Slow()
    t.save(slow, format="json")
    assert slow.content == path.read_bytes()


def test_incomplete_files_warn(tmp_path):
    path = tmp_path / "cut.json"
    path.write_bytes(SMALL[:-20])
    with pytest.warns(tracekit.IncompleteTrace, match="truncated"):
        assert len(tracekit.load(path)) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tracekit.load(SMALL)


def test_system_errors_name_the_file(tmp_path):
    for name in ("missing.json", "missing*.json"):
        with pytest.raises(FileNotFoundError) as caught:
            tracekit.load(tmp_path / name)
        assert caught.value.filename == str(tmp_path / name) and caught.value.strerror


def test_run_folders(tmp_path, fixture):
    folder = fixture("json/jax/multihost")
    listed = tracekit.list(folder)
    assert [os.path.basename(f["file"]) for f in listed] == [f"host-{i}.trace.json.gz" for i in range(3)]
    assert sum(f["events"] for f in tracekit.list(folder, deep=True)) == tracekit.load(folder).info["events"]
    written = tracekit.extract(folder, str(tmp_path) + "/")
    assert len(written) == 1 and os.path.exists(written[0]["output"])
    merged = tracekit.merge([f["file"] for f in listed], tmp_path / "m.json.gz", align="clock")
    assert len(merged["ranks"]) == 3 and merged["events"] == sum(r["events"] for r in merged["ranks"])


def test_ranks(tmp_path):
    names = []
    for rank in range(4):
        names.append(str(tmp_path / f"rank{rank}.json"))
        with open(names[-1], "w", encoding="utf-8") as f:
            f.write(f'[{{"ph":"X","name":"of {rank}","pid":1,"tid":1,"ts":{rank},"dur":1}}]')
    for ranks, wanted in ((2, [2]), ("1..2", [1, 2]), (range(2, 9), [2, 3]), (range(0, 4, 3), [0, 3]), ([0, "3.."], [0, 3]),
                          (None, [0, 1, 2, 3])):
        tracekit.merge(names, tmp_path / "m.json", align="none", ranks=ranks, force=True)
        assert {row["name"] for row in tracekit.load(tmp_path / "m.json").top()} == {f"of {n}" for n in wanted}
    with pytest.raises(ValueError, match="2..1"):
        tracekit.merge(names, tmp_path / "m.json", ranks="2..1", force=True)
    assert tracekit.load(tmp_path, rank=3).info["events"] == 1


def test_offsets(tmp_path):
    names = []
    for rank in range(2):
        names.append(str(tmp_path / f"rank{rank}.json"))
        with open(names[-1], "w", encoding="utf-8") as f:
            f.write('[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1000,"dur":1}]')
    for offset in ("1=2us", ["1=+2us"], {1: 2000}, {1: "2us", 0: 0}):
        tracekit.merge(names, tmp_path / "m.json", align="none", offset=offset, force=True)
        first, second = tracekit.load(tmp_path / "m.json").sql("select ts from slice order by ts")
        assert second["ts"] - first["ts"] == 2000
    with pytest.raises(ValueError, match="1=soon"):
        tracekit.merge(names, tmp_path / "m.json", offset={1: "soon"}, force=True)
    with pytest.raises(tracekit.Error, match="rank or host '7'"):
        tracekit.merge(names, tmp_path / "m.json", offset={7: 1}, force=True)
    with pytest.raises(tracekit.Error, match="rank 7"):
        tracekit.load(tmp_path, rank=7)
    with pytest.raises(ValueError):
        tracekit.load(tmp_path, rank=-1)


def test_errors(tmp_path):
    with pytest.raises(tracekit.Error) as e:
        tracekit.load(tmp_path / "none.json")
    assert e.value.code == "open" and e.value.errno == 2 and e.value.file.endswith("none.json")
    assert isinstance(e.value, FileNotFoundError) and str(e.value).endswith("No such file or directory")
    with pytest.raises(tracekit.Error) as e:
        tracekit.load(b"no trace")
    assert e.value.code == "format"
    again = pickle.loads(pickle.dumps(e.value))
    assert again.code == e.value.code and str(again) == str(e.value)
    with pytest.raises(ValueError) as e:
        tracekit.load(SMALL).filter("name ==")
    assert e.value.code == "usage"
    for call in (lambda t: t.top(by="colour"), lambda t: t.top(sort="x"), lambda t: t.table("x"), lambda t: t.events(unit="s")):
        with pytest.raises(ValueError):
            call(tracekit.load(SMALL))
    with pytest.raises(TypeError):
        tracekit.load(SMALL, max_memory=[])
    with pytest.raises(MemoryError, match="see max_memory") as e:
        tracekit.load(big(50_000), max_memory="1MB")
    assert e.value.code == "limit" and isinstance(e.value, tracekit.Error)
    tracekit.load(SMALL).save(tmp_path / "x.json")
    with pytest.raises(FileExistsError, match=r"already exists \(force=True replaces it\)") as e:
        tracekit.load(SMALL).save(tmp_path / "x.json")
    again = pickle.loads(pickle.dumps(e.value))
    assert type(again) is type(e.value) and str(again) == str(e.value) and again.file == e.value.file == str(tmp_path / "x.json")
    with pytest.raises(TypeError):
        tracekit.load(SMALL, progress=3)


def test_interrupt(big_file):
    timer = threading.Timer(0.15, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(100):
            tracekit.load(big_file)
    timer.join()


def test_progress(big_file):
    seen = []
    tracekit.load(big_file, progress=lambda done, total: seen.append((done, total)))
    assert seen and all(0 <= done <= total for done, total in seen)

    def stop(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        tracekit.load(big_file, progress=stop)


def test_gil_is_released(big_file):
    ticks, loading = [], True

    def count():
        while loading:
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    begun = time.perf_counter()
    tracekit.load(big_file)
    ended = time.perf_counter()
    loading = False
    thread.join()
    assert sum(begun < at < ended for at in ticks) >= 10


def test_threads():
    """One trace in many threads, and many traces concurrently."""
    t, content, failed = tracekit.load(big(20_000)), big(20_000), []

    def work():
        try:
            for _ in range(5):
                assert t.top()[0]["count"] == 200
                assert tracekit.load(content).info["events"] == 20_000
        except BaseException as e:
            failed.append(e)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_fork():
    t = tracekit.load(SMALL)
    child = os.fork()
    if child == 0:
        ok = t.info["events"] == 2 and tracekit.load(SMALL).top()[0]["count"] == 1
        os._exit(0 if ok else 1)
    assert os.waitpid(child, 0)[1] == 0 and t.info["events"] == 2


def memory():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def test_no_leak():
    """A thousand loads, tables and saves use no more memory than a hundred."""
    content = big(2_000)

    def once():
        t = tracekit.load(content)
        t.to_bytes("perfetto")
        t.events(["name", "ts", "arg.k"]).__arrow_c_stream__()
        t.top()
        with pytest.raises(tracekit.Error):
            tracekit.load(content[:100] + b"\xff" * 40, strict=True)

    for _ in range(100):
        once()
    before = memory()
    for _ in range(1000):
        once()
    assert memory() - before < 8 << 20


def test_notebook_views():
    t = tracekit.load(b'[{"ph":"X","pid":1,"tid":7,"ts":0,"dur":2,"name":"<script>x</script>"}]')
    assert "<script>x" not in t._repr_html_() and "&lt;script&gt;" in t._repr_html_()
    page = t.view()._repr_html_()
    assert "postMessage" in page and "PING" in page
    with pytest.raises(ValueError, match="above the limit"):
        tracekit.load(big(20_000)).view(limit="1KB")
