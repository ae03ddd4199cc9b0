"""Tests of tracekit.cluster as installed; tests/interop/clusters.py tests each executor."""
import concurrent.futures
import subprocess
import sys
import sysconfig

import pytest
from tracekit import cluster


@pytest.fixture
def ranks(fixture):
    return [fixture(f"json/torch/ddp2_plain/rank{i}.json.gz") for i in range(2)]


@pytest.fixture
def merged(ranks, tmp_path):
    out = tmp_path / "want.json.gz"
    subprocess.run([f"{sysconfig.get_path('scripts')}/tracekit", "merge", "-q", *ranks, "-o", out], check=True)
    return out.read_bytes()


def test_module(ranks, merged, tmp_path):
    out = tmp_path / "got.json.gz"
    run = [sys.executable, "-m", "tracekit.cluster", "merge", *ranks, "-o", str(out)]
    assert subprocess.run(run, check=False).returncode == 0 and out.read_bytes() == merged
    p = subprocess.run(run, capture_output=True, text=True, check=False)
    assert p.returncode == 1 and "exists already" in p.stderr and out.read_bytes() == merged
    assert [f.name for f in tmp_path.iterdir() if "parts" in f.name] == []


def test_function(ranks, merged, tmp_path):
    said = []
    assert cluster.merge(ranks, tmp_path / "a.json.gz", workers=1, say=said.append) == []
    cluster.merge(ranks, tmp_path / "b.json.gz", executor=map)
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        cluster.merge(ranks, tmp_path / "c.json.gz", executor=pool)
    assert {(tmp_path / f"{name}.json.gz").read_bytes() for name in "abc"} == {merged}
    assert "scanned: 2 of 2" in said and "written: 2 of 2" in said


def test_failures(ranks, tmp_path):
    bad = tmp_path / "bad.json"
    bad.write_text("no trace", encoding="utf-8")
    with pytest.raises(cluster.Failed, match="bad.json"):
        cluster.merge([*ranks, bad], tmp_path / "out.json")
    (path, why), = cluster.merge([*ranks, bad], tmp_path / "out.json", keep_going=True)
    assert path == str(bad) and "trace format" in why
    with pytest.raises(cluster.Failed, match="is a folder"):
        cluster.merge(tmp_path, tmp_path / "none.json")
    with pytest.raises(cluster.Failed, match="unknown executor"):
        cluster.merge(ranks, tmp_path / "none.json", executor="abacus")
    with pytest.raises(cluster.Failed, match="cannot be combined"):
        cluster.merge(ranks, tmp_path / "none.json", executor=map, workers=2)
    assert not (tmp_path / "none.json").exists()


def test_options_go_to_their_steps():
    routed = cluster.route(["--every-rank", "8", "-j4", "--anchor", "barrier", "--max-memory=1GB", "--no-loss", "--label", "--odd"])
    assert routed == {"scan": ["-j4", "--anchor", "barrier", "--max-memory=1GB"], "apply": ["-j4", "--max-memory=1GB"],
                      "plan": ["--every-rank", "8", "--max-memory=1GB", "--label", "--odd"], "concat": ["--max-memory=1GB", "--no-loss"]}
    for option in ("--redact", "-o", "--json"):
        with pytest.raises(cluster.Failed, match=option):
            cluster.route([option])
