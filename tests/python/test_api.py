"""Tests the API of the package: sources, operations, errors, interrupts, threads, forks, leaks."""
import gzip
import io
import json
import os
import pickle
import signal
import threading
import time

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
    t = tracekit.load(SMALL)
    assert t.filter("name == 'b'") is t and t.info["events"] == 1
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


def test_sql():
    t = tracekit.load(SMALL)
    assert t.sql("select name, dur from slice order by ts") == [{"name": "a", "dur": 2000}, {"name": "b", "dur": 1000}]
    assert t.sql("select 1; select NULL as n, 1.5 as d, x'00ff' as b") == [{"n": None, "d": 1.5, "b": b"\x00\xff"}]
    assert t.sql("select name from slice where 0") == []
    with pytest.raises(tracekit.Error, match="nosuch"):
        t.sql("select * from nosuch")
    with pytest.raises(tracekit.Error):
        t.sql("with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) from c", timeout=0.2)


def test_run_folders(tmp_path, fixture):
    folder = fixture("json/jax/multihost")
    listed = tracekit.list(folder)
    assert [os.path.basename(f["name"]) for f in listed] == [f"host-{i}.trace.json.gz" for i in range(3)]
    assert sum(f["events"] for f in tracekit.list(folder, deep=True)) == tracekit.load(folder).info["events"]
    written = tracekit.extract(folder, str(tmp_path) + "/")
    assert len(written) == 1 and os.path.exists(written[0]["output"])
    merged = tracekit.merge([f["name"] for f in listed], tmp_path / "m.json.gz", align="clock")
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
    with pytest.raises(tracekit.Error) as e:
        tracekit.load(big(50_000), max_memory="1MB")
    assert e.value.code == "limit"


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
