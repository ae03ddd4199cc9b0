"""Checks that addresses are accepted in place of paths: fsspec's memory file system, a web server of this process, and file://."""
import functools
import gzip
import http.server
import os
import shutil
import socket
import subprocess
import sys
import threading
import urllib.parse

import fsspec
import pytest

import tracekit
from tracekit import _urls

RANKS = "json/torch/ddp4_full"


@pytest.fixture
def store():
    """Returns an empty memory file system."""
    system = fsspec.filesystem("memory")
    system.store.clear()
    system.pseudo_dirs[:] = [""]
    yield system
    system.store.clear()


@pytest.fixture
def put(store, fixture):
    def put(name, to):
        with open(fixture(name), "rb") as f:
            store.pipe(to, f.read())

    return put


@pytest.fixture
def web(tmp_path):
    """Serves tmp_path/web; returns the address of the server and the list of requested paths."""
    asked, folder = [], tmp_path / "web"
    folder.mkdir()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format, *args):
            asked.append(urllib.parse.unquote(self.path))

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", asked, folder
    server.shutdown()
    thread.join()
    server.server_close()


def test_load(put, fixture):
    put(f"{RANKS}/rank0.json.gz", "/run/rank0.json.gz")
    put(f"{RANKS}/rank1.json.gz", "/run/rank1.json.gz")
    path = fixture(f"{RANKS}/rank0.json.gz")
    t = tracekit.load("memory://run/rank0.json.gz")
    assert t.to_bytes() == tracekit.load(path).to_bytes() and "memory://" in t.info["source"]
    both = tracekit.load([path, fixture(f"{RANKS}/rank1.json.gz")]).info["events"]
    for folder in ("memory://run", "memory://run/", "memory://run/rank*.json.gz", ["memory://run/rank0.json.gz", "memory://run/rank1.json.gz"]):
        assert tracekit.load(folder).info["events"] == both, folder
    assert tracekit.load("memory://run", rank=1).info["rank"] == 1
    assert len(tracekit.report("memory://run")["ranks"]) == 2
    assert tracekit.diff("memory://run/rank0.json.gz", path)["all"]["delta_ns"] == 0


def test_archives(store, fixture, tmp_path):
    shutil.make_archive(str(tmp_path / "logs"), "zip", fixture(RANKS))
    store.pipe("/b/logs.zip", (tmp_path / "logs.zip").read_bytes())
    assert len(tracekit.list("memory://b/logs.zip")) == 4
    assert tracekit.load("memory://b/logs.zip:rank2.json.gz").info["rank"] == 2


def test_list_reads_only_what_it_needs(put, store, monkeypatch):
    for run in ("2026_01_01_00_00_00", "2026_01_02_00_00_00"):
        put("json/jax/multihost/host-0.trace.json.gz", f"/log/plugins/profile/{run}/host-0.trace.json.gz")
    listed = tracekit.list("memory://log")
    assert listed["run"] == ["2026_01_02_00_00_00", "2026_01_01_00_00_00"] and listed["file"][0].startswith("memory://log/plugins")
    assert listed["size"] == [store.size(name[len("memory:/"):]) for name in listed["file"]]
    assert tracekit.list("memory://log", run="2026_01_01")["run"] == ["2026_01_01_00_00_00"]
    opened = []
    real = _urls.Remote.open
    monkeypatch.setattr(_urls.Remote, "open", staticmethod(lambda address: opened.append(address) or real(address)))
    assert tracekit.load("memory://log").info["events"] > 0
    assert opened and all("2026_01_02" in address for address in opened)


def test_merge_extract_and_save(put, store, tmp_path, fixture):
    for rank in range(2):
        put(f"{RANKS}/rank{rank}.json.gz", f"/run/rank{rank}.json.gz")
    merged = tracekit.merge("memory://run", "memory://out/deep/merged.pftrace", align="none")
    tracekit.merge([fixture(f"{RANKS}/rank{rank}.json.gz") for rank in range(2)], tmp_path / "m.pftrace", align="none")
    assert merged["bytes"] == store.size("/out/deep/merged.pftrace") > 0
    assert tracekit.load("memory://out/deep/merged.pftrace").info["events"] == tracekit.load(tmp_path / "m.pftrace").info["events"]
    with pytest.raises(FileExistsError, match=r"memory://out/deep/merged.pftrace: already exists \(force=True replaces it\)"):
        tracekit.merge("memory://run", "memory://out/deep/merged.pftrace", align="none")
    tracekit.merge("memory://run", "memory://out/deep/merged.pftrace", align="none", ranks=1, force=True)
    assert tracekit.load("memory://out/deep/merged.pftrace").info["events"] < merged["events"]
    tracekit.merge("memory://run", "memory://out/none.json", align="none", dry_run=True)
    assert not store.exists("/out/none.json")
    rows = tracekit.extract("memory://run", "memory://out/each/", split=True)
    assert rows["output"] and all(name.startswith("memory://out/each/") for name in rows["output"])
    assert sum(tracekit.load(name).info["events"] for name in rows["output"]) == merged["events"]
    with pytest.raises(FileExistsError):
        tracekit.extract("memory://run", "memory://out/each/", split=True)
    assert tracekit.extract("memory://run", "memory://out/one.json.gz")["output"] == ["memory://out/one.json.gz"]
    t = tracekit.load("memory://run/rank0.json.gz")
    assert t.save("memory://out/t.json.gz")["bytes"] == store.size("/out/t.json.gz")
    assert gzip.decompress(store.cat("/out/t.json.gz"))[:1] in b"{["
    with pytest.raises(FileExistsError):
        t.save("memory://out/t.json.gz")
    assert t.shrink("memory://out/s.json.gz", to="100KB")["bytes"] == store.size("/out/s.json.gz") <= 100_000


def test_split(put, store):
    put(f"{RANKS}/rank0.json.gz", "/run/rank0.json.gz")
    t = tracekit.load("memory://run/rank0.json.gz")
    parts = tracekit.split("memory://run/rank0.json.gz", "memory://parts/p{}.json.gz", "process")
    assert len(parts) > 1 and sum(tracekit.load(name).info["events"] for name in parts["output"]) == len(t)
    with pytest.raises(FileExistsError):
        t.split("memory://parts/p{}.json.gz", "process")


def test_a_failed_call_uploads_nothing(put, store):
    put(f"{RANKS}/rank0.json.gz", "/run/rank0.json.gz")
    with pytest.raises(tracekit.Error):
        tracekit.merge("memory://nosuch/rank0.json.gz", "memory://out/m.json")
    with pytest.raises(ValueError):
        tracekit.load("memory://run/rank0.json.gz").save("memory://out/m.json", format="nosuch")
    assert not store.exists("/out/m.json") and not store.exists("/out")


def test_errors(store, monkeypatch, tmp_path):
    store.pipe("/bad.json", b"no trace")
    store.pipe("/cut.json.gz", gzip.compress(b'[{"ph":"X","pid":1,"tid":7,"ts":0,"dur":2,"name":"a"}]' * 100)[:-20])
    with pytest.raises(FileNotFoundError, match="memory://nosuch.json: cannot open: No such file or directory"):
        tracekit.load("memory://nosuch.json")
    with pytest.raises(FileNotFoundError, match="no file matches"):
        tracekit.load("memory://x/*.json")
    with pytest.raises(ValueError, match="bad.json"):
        tracekit.load("memory://bad.json")
    for name in ("nosuchscheme://bucket/t.json",):
        with pytest.raises(tracekit.Error, match=name):
            tracekit.load(name)

    class Broken:
        def read(self, n):
            raise RuntimeError("lost\nthe line \x1b")

        def close(self):
            pass

    monkeypatch.setattr(_urls.Remote, "open", staticmethod(lambda address: Broken()))
    with pytest.raises(tracekit.Error, match="lost the line"):
        tracekit.load("memory://bad.json")
    Broken.read = lambda self, n: b"[" * (n + 1)
    with pytest.raises(tracekit.Error, match="more bytes than were asked for"):
        tracekit.load("memory://bad.json")
    Broken.read = lambda self, n: "text"
    with pytest.raises(tracekit.Error):
        tracekit.load("memory://bad.json")

    def interrupted(self, n):
        raise KeyboardInterrupt

    Broken.read = interrupted
    with pytest.raises(KeyboardInterrupt):
        tracekit.load("memory://bad.json")
    monkeypatch.setattr(_urls.Remote, "folder", staticmethod(lambda address: [("../../up.json", 5, 0), ("/abs.json", 5, 0)]))
    with pytest.raises(tracekit.Error, match="contains no file"):
        tracekit.load("memory://run/")
    monkeypatch.setattr(_urls.Remote, "folder", staticmethod(lambda address: [("a.json", -5, 0)]))
    with pytest.raises(tracekit.Error):
        tracekit.load("memory://run/")


def test_web(web, fixture):
    address, asked, folder = web
    for rank in range(2):
        shutil.copy(fixture(f"{RANKS}/rank{rank}.json.gz"), folder)
    assert tracekit.load(f"{address}/rank0.json.gz").to_bytes() == tracekit.load(fixture(f"{RANKS}/rank0.json.gz")).to_bytes()
    assert set(asked) == {"/rank0.json.gz"}
    assert sorted(os.path.basename(name) for name in tracekit.list(f"{address}/")["file"]) == [f"rank{i}.json.gz" for i in range(2)]
    assert len(tracekit.report(f"{address}/")["ranks"]) == 2
    (folder / "sub").mkdir()
    shutil.copy(fixture(f"{RANKS}/rank2.json.gz"), folder / "sub")
    assert any(name.endswith("/sub/rank2.json.gz") for name in tracekit.list(f"{address}/")["file"])
    with pytest.raises(FileNotFoundError):
        tracekit.load(f"{address}/nosuch.json")
    with socket.socket() as unused:  # bound, but it does not listen
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(OSError, match="(?i)connect") as e:
            tracekit.load(f"http://127.0.0.1:{unused.getsockname()[1]}/x.json")
        assert isinstance(e.value, tracekit.Error) and not isinstance(e.value, FileNotFoundError)


def test_threads(put):
    """Several threads read addresses while progress functions run."""
    for rank in range(4):
        put(f"{RANKS}/rank{rank}.json.gz", f"/run/rank{rank}.json.gz")
    events, failed, seen = tracekit.load("memory://run").info["events"], [], []

    def work():
        try:
            for _ in range(3):
                assert tracekit.load("memory://run", threads=4, progress=lambda done, total: seen.append(done)).info["events"] == events
        except BaseException as e:
            failed.append(e)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    assert not failed


def test_file_addresses(tmp_path, fixture):
    path = tmp_path / "a b.json"
    path.write_bytes(b'[{"ph":"X","pid":1,"tid":7,"ts":0,"dur":2,"name":"a"}]')
    t = tracekit.load(path.as_uri())
    assert t.info["events"] == 1
    t.save((tmp_path / "c d.json").as_uri())
    assert tracekit.load(tmp_path / "c d.json").info["events"] == 1
    tracekit.merge([path.as_uri()], (tmp_path / "m.json").as_uri(), align="none")
    assert (tmp_path / "m.json").exists()
    with pytest.raises(tracekit.Error, match="another host"):
        t.save("file://elsewhere/x.json")


def test_without_fsspec(tmp_path):
    """Without fsspec, the error for an address names the extra to install; paths and file:// work."""
    (tmp_path / "x.json").write_bytes(b'[{"ph":"X","pid":1,"tid":7,"ts":0,"dur":2,"name":"a"}]')
    program = ("import sys; sys.modules['fsspec'] = None; sys.modules['fsspec.core'] = None\n"
               "import tracekit; t = tracekit.load(sys.argv[1]); assert t.info['events'] == 1\n"
               "for call in (lambda: tracekit.load('s3://b/x.json'), lambda: t.save('gs://b/x.json')):\n"
               "    try: call()\n"
               "    except tracekit.Error as e: print(e)\n")
    done = subprocess.run([sys.executable, "-c", program, (tmp_path / "x.json").as_uri()], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"{name}: is a URL, which needs fsspec; pip install 'tracekit[urls]'"
                                        for name in ("s3://b/x.json", "gs://b/x.json")]
