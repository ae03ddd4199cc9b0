"""Checks the callbacks of torch and jax with stand-ins for these packages, which record the calls."""
import os
import shutil
import subprocess
import sys
import threading
import types

import pytest

import tracekit

RANKS = "json/torch/ddp4_full"


class Profiler:
    def __init__(self, source, step=7):
        self.source, self.step_num = source, step

    def export_chrome_trace(self, path):
        assert path.endswith(".json.gz")
        shutil.copy(self.source, path)


class Distributed(types.ModuleType):
    """A process group whose ranks are threads."""

    def __init__(self, size):
        super().__init__("torch.distributed")
        self.size, self.local, self.wall = size, threading.local(), threading.Barrier(size)

    def is_available(self):
        return True

    def is_initialized(self):
        return self.size > 0

    def get_rank(self):
        return self.local.rank

    def get_world_size(self):
        return self.size

    def barrier(self):
        self.wall.wait(60)


@pytest.fixture
def group(monkeypatch):
    made = Distributed(2)
    monkeypatch.setitem(sys.modules, "torch", types.ModuleType("torch"))
    monkeypatch.setitem(sys.modules, "torch.distributed", made)
    return made


def run(group, ready, profilers):
    failed = []

    def work(rank):
        group.local.rank = rank
        try:
            ready(profilers[rank])
        except BaseException as e:
            failed.append(e)

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(group.size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    assert not failed


def test_a_file_per_rank(fixture, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.distributed", None)
    source = fixture(f"{RANKS}/rank0.json.gz")
    for rank, name in ((None, "rank0"), ("3", "rank3")):
        monkeypatch.setenv("RANK", rank) if rank else monkeypatch.delenv("RANK", raising=False)
        tracekit.torch.handler(tmp_path / "logs", merge=True)(Profiler(source))
        assert (tmp_path / f"logs/step_7/{name}.pt.trace.json.gz").read_bytes() == open(source, "rb").read()
    assert sorted(os.listdir(tmp_path / "logs")) == ["step_7"] and len(os.listdir(tmp_path / "logs/step_7")) == 2


def test_limit_and_merge(group, fixture, tmp_path):
    profilers = [Profiler(fixture(f"{RANKS}/rank{rank}.json.gz")) for rank in range(2)]
    ready = tracekit.torch.handler(tmp_path, to="100KB", merge=True)
    for _ in range(2):  # the second time replaces the files
        run(group, ready, profilers)
    sizes = [os.path.getsize(tmp_path / f"step_7/rank{rank}.pt.trace.json.gz") for rank in range(2)]
    assert all(0 < size <= 100_000 for size in sizes)
    assert 0 < os.path.getsize(tmp_path / "step_7.merged.json.gz") <= 100_000
    assert {row["rank"] for row in tracekit.load(tmp_path / "step_7.merged.json.gz").tracks} >= {0, 1}
    assert sorted(os.listdir(tmp_path)) == ["step_7", "step_7.merged.json.gz"] and len(os.listdir(tmp_path / "step_7")) == 2
    run(group, tracekit.torch.handler(tmp_path / "apart"), profilers)
    assert os.listdir(tmp_path / "apart") == ["step_7"]
    with pytest.raises(ValueError, match="much"):
        tracekit.torch.handler(tmp_path, to="much")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_failed_rank_does_not_block_the_others(group, fixture, tmp_path):
    class Broken(Profiler):
        def export_chrome_trace(self, path):
            raise OSError(28, "No space left on device")

    run(group, tracekit.torch.handler(tmp_path, merge=True), [Profiler(fixture(f"{RANKS}/rank0.json.gz")), Broken("")])
    assert os.listdir(tmp_path / "step_7") == ["rank0.pt.trace.json.gz"]
    assert tracekit.load(tmp_path / "step_7.merged.json.gz").info["events"] > 0


def test_a_failure_is_a_warning(fixture, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.distributed", None)
    (tmp_path / "file").write_text("")
    with pytest.warns(RuntimeWarning, match="rank 0 is not written"):
        tracekit.torch.handler(tmp_path / "file")(Profiler(fixture(f"{RANKS}/rank0.json.gz")))


@pytest.fixture
def jax(monkeypatch, fixture):
    """A jax that records into a log directory."""
    made, calls = types.ModuleType("jax"), []

    def start(folder, **options):
        calls.append((folder, options))

    def stop():
        run = os.path.join(calls[-1][0], "plugins/profile/2026_01_01_00_00_00")
        os.makedirs(run)
        shutil.copy(fixture("xplane/mlp_train/vm.xplane.pb"), run)

    made.profiler = types.SimpleNamespace(start_trace=start, stop_trace=stop)
    made.process_index = lambda: 0
    made.calls = calls
    monkeypatch.setitem(sys.modules, "jax", made)
    return made


def test_jax(jax, tmp_path):
    with tracekit.jax.trace(tmp_path / "a", create_perfetto_link=False) as recording:
        assert jax.calls == [(str(tmp_path / "a"), {"create_perfetto_link": False})]
    events = recording.load().info["events"]
    assert events > 0 and os.listdir(tmp_path) == ["a"]
    with tracekit.jax.trace(tmp_path / "b", output=tmp_path / "b.pftrace"):
        pass
    assert tracekit.load(tmp_path / "b.pftrace").info["events"] >= events
    with tracekit.jax.trace(tmp_path / "c", output=tmp_path / "c.json.gz", to="20KB"):
        pass
    assert 0 < os.path.getsize(tmp_path / "c.json.gz") <= 20_000
    jax.process_index = lambda: 1
    with tracekit.jax.trace(tmp_path / "d", output=tmp_path / "d.pftrace"):
        pass
    assert not (tmp_path / "d.pftrace").exists() and (tmp_path / "d").exists()
    with pytest.raises(RuntimeError, match="mine"):
        with tracekit.jax.trace(tmp_path / "e", output=tmp_path / "e.pftrace"):
            raise RuntimeError("mine")
    assert (tmp_path / "e").exists() and not (tmp_path / "e.pftrace").exists()
    with pytest.raises(ValueError, match="output"):
        with tracekit.jax.trace(tmp_path / "f", to="1MB"):
            pass


def test_neither_package_is_imported():
    program = "import sys, tracekit; tracekit.torch.handler('x'); tracekit.jax.trace('x'); print('torch' in sys.modules, 'jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split() == ["False", "False"]
