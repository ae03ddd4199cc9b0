"""Checks that every field of every kind of row is the same in Python, in the command's JSON, in the schemas and in docs/fields.md.

tests/property/fields.py compares the schemas with docs/fields.md. Here, Python and the command answer the same questions about the
same traces, which together give every field a value."""
import json
import os
import re
import subprocess
import sys

import pytest

import tracekit
from tracekit import _native

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import recordings  # noqa: E402

COMMAND = os.path.join(os.path.dirname(sys.executable), "tracekit")
SRC = os.environ.get("SRC") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
REPORTS = ["json/torch/ddp4_full", "json/torch/ddp2_handler", "xplane/mlp_train", "perfetto/two_hosts.pftrace.gz", "json/torch/odd", "nsys",
           "rocm", "torch_memory", "ascend"]


def described():
    """Returns [(name of the kind, {field: type})], in the order of enum tk_row, from docs/fields.md."""
    with open(os.path.join(SRC, "docs", "fields.md"), encoding="utf-8") as f:
        sections = re.split(r"^## ", f.read(), flags=re.M)[1:]
    return [(s.split("\n")[0], dict(re.findall(r"^\| `(\w+)` \| (\w+)", s, flags=re.M))) for s in sections]


ROWS = described()
KINDS = {name: i for i, (name, _) in enumerate(ROWS)}


def command(*words, fails=False):
    run = subprocess.run([COMMAND, *words], check=not fails, capture_output=True)
    return json.loads(run.stdout or "null")


def same(ours, said):
    """True if a value in Python equals that in JSON, which rounds shares and rates."""
    if isinstance(said, float):
        return ours == pytest.approx(said, rel=1e-9, abs=6e-4)
    if isinstance(said, dict):
        return all(key in ours and same(ours[key], value) for key, value in said.items())
    if isinstance(said, list):
        return len(ours) == len(said) and all(map(same, ours, said))
    return ours == said


class Seen:
    """Records which fields have had a value, by kind of row."""

    def __init__(self):
        self.fields = {name: set() for name, _ in ROWS}

    def row(self, kind, ours, said):
        name, fields = ROWS[kind]
        inner = {field: of for field, _, _, of in _native.fields(kind) if of >= 0}
        for field in fields:
            assert (field in said) == (field in ours), f"{name}: {field} is not in both"
            if field not in said:
                continue
            if field in inner and said[field] is not None:
                self.fields[name].add(field)
                rows = zip(ours[field], said[field]) if isinstance(said[field], list) else [(ours[field], said[field])]
                for mine, theirs in rows:
                    self.row(inner[field], mine, theirs)
            else:
                assert same(ours[field], said[field]), f"{name}: {field}: {ours[field]!r}, JSON has {said[field]!r}"
                if said[field] is not None:
                    self.fields[name].add(field)
        return set(said) - set(fields)

    def rows(self, kind, ours, said):
        assert len(ours) == len(said)
        return set().union(*(self.row(KINDS[kind], mine, theirs) for mine, theirs in zip(ours, said)))


def see_reports(seen, fixture):
    for run in REPORTS:
        if os.path.exists(fixture(run)):
            said = command("report", "--json", "--keep-going", fixture(run), fails=True)
            if said:
                seen.row(KINDS["report"], tracekit.report(fixture(run), keep_going=True), said)


def see_analyses(seen, fixture):
    for file in ("json/torch/ddp4_full/rank0.json.gz", "xplane/mlp_train", "pprof"):
        paths = [fixture(file)] if not os.path.isdir(fixture(file)) or "xplane" in file else \
            [os.path.join(folder, f) for folder, _, names in os.walk(fixture(file)) for f in names]
        for path in paths:
            said = command("top", "--json", "--top", "1000000", path, fails=True)
            if said:
                t = tracekit.load(path)
                seen.rows("top", t.top(), said["rows"])
                seen.rows("tree", t.tree(), command("tree", "--json", path)["paths"])


def see_diffs(seen, fixture):
    folder = fixture("json/torch/ddp2_handler")
    files = sorted(os.listdir(folder))
    before, after = ([os.path.join(folder, f) for f in files[i::2]][:1] for i in (0, 1))
    ours, said = tracekit.diff(before, after), command("diff", "--json", "--top", "1000000", before[0], after[0], fails=True)
    seen.rows("diff", ours["rows"], said["rows"])
    seen.row(KINDS["diff sum"], ours["all"], said["all"])
    runs = [os.path.join(fixture("json/torch/ddp4_full"), f"rank{i}.json.gz") for i in (0, 1, 2, 3)]
    ours, said = tracekit.diff(*runs), command("diff", "--json", "--top", "1000000", *runs, fails=True)
    seen.rows("compare", ours["rows"], said["rows"])
    seen.rows("compare run", ours["runs"], said["runs"])
    seen.row(KINDS["compare sum"], ours["all"], said["all"])


LONG = "void cutlass::Kernel2<cutlass_80_tensorop_s16816gemm_bf16_128x128_32x4_tn_align8>(cutlass_80_tensorop_s16816gemm::Params)"


def job(path, rank, us=100.0):
    """Writes a rank of a job of two: two steps of launches, a product, a collective, a copy, and a garbage collection."""
    events, n = [], [0]

    def span(name, cat, tid, ts, dur, **args):
        events.append({"ph": "X", "name": name, "cat": cat, "pid": 0 if cat in ("kernel", "gpu_memcpy") else 9, "tid": tid, "ts": ts, "dur": dur, "args": args})

    def work(name, cat, at, ts, dur, **args):
        n[0] += 1
        span("cudaLaunchKernel", "cuda_runtime", 1, at, 2, correlation=n[0])
        span(name, cat, 7, ts, dur, device=0, stream=7, correlation=n[0], **args)

    grid = {"grid": [8, 1, 1], "block": [128, 1, 1], "registers per thread": 32, "shared memory": 1024, "blocks per SM": 0.5,
            "est. achieved occupancy %": 50, "bytes_accessed": 4096, "flops": 1000000}
    for step in range(2):
        ts = 1000 + 1000 * step
        span(f"ProfilerStep#{step}", "user_annotation", 1, ts, 900)
        span("aten::mm", "cpu_op", 1, ts + 5, 40)
        work(LONG, "kernel", ts + 10, ts + 60, us, **grid)
        work("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "kernel", ts + 50, ts + 400 + rank, 50 - rank, **{
            "Collective name": "allreduce", "In msg nelems": 4096, "Out msg nelems": 4096, "dtype": "Float", "Group size": 2,
            "Process Group Name": "0", "Seq": step + 1})
        work("Memcpy HtoD (Pageable -> Device)", "gpu_memcpy", ts + 60, ts + 500, 9, bytes=65536)
        span("gc.collect", "python_function", 1, ts + 600, 30)
    events.append({"ph": "i", "s": "t", "name": "[memory]", "cat": "cpu_instant_event", "pid": 9, "tid": 1, "ts": 1500, "args": {
        "Device Type": 1, "Device Id": 0, "Addr": 1, "Bytes": 1024, "Total Allocated": 2048, "Total Reserved": 4096}})
    trace = {"deviceProperties": [{"id": 0, "name": "NVIDIA H100", "totalGlobalMem": 85000000000, "numSms": 132}], "traceEvents": events,
             "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2}}
    path.write_text(json.dumps(trace))
    return str(path)


def see_job(seen, tmp_path):
    ranks = [job(tmp_path / f"rank{rank}.json", rank) for rank in range(2)]
    seen.row(KINDS["report"], tracekit.report(ranks), command("report", "--json", *ranks))
    t = tracekit.load(ranks[0])
    seen.rows("top", t.top(), command("top", "--json", ranks[0])["rows"])
    seen.rows("tree", t.tree(), command("tree", "--json", ranks[0])["paths"])
    runs = tmp_path / "runs"
    runs.mkdir()
    for i, us in enumerate((100, 101, 99, 100, 200, 201, 199, 200)):
        job(runs / f"run{i}.json", 0, us)
    ours, said = tracekit.diff(runs, over=True), command("diff", "--json", "--over", str(runs), "--top", "1000", fails=True)
    seen.rows("compare", ours["rows"], said["rows"])
    seen.rows("compare run", ours["runs"], said["runs"])
    tracekit.merge(ranks, tmp_path / "merged.json")
    again = [str(tmp_path / "merged.json"), job(tmp_path / "rank2.json", 2)]
    said = command("merge", "--json", "--force", "-o", str(tmp_path / "again.json"), *again)
    seen.rows("merge rank", tracekit.merge(again, tmp_path / "again.json", force=True)["ranks"], said["ranks"])


def shaped(path, kernel):
    """Writes two steps with a product whose operations follow from its shapes, on a device whose peaks are known."""
    events = []
    for step in range(2):
        ts = 1000 * step
        shapes = {"Input Dims": [[64, 32], [32, 16]], "Input type": ["float", "float"], "Concrete Inputs": ["", ""]}
        rows = (("user_annotation", f"ProfilerStep#{step}", 9, 1, 0, 900, {}), ("cpu_op", "aten::mm", 9, 1, 5, 40, shapes),
                ("cuda_runtime", "cudaLaunchKernel", 9, 1, 10, 2, {"correlation": step + 1}),
                ("kernel", kernel, 0, 7, 60, 100 + step, {"device": 0, "stream": 7, "correlation": step + 1}))
        events += [{"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts + at, "dur": dur, "args": args}
                   for cat, name, pid, tid, at, dur, args in rows]
    path.write_text(json.dumps({"deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB"}], "traceEvents": events}))
    return str(path)


def see_operators(seen, tmp_path):
    """Records the fields of operators with known peaks, of device work matched by its launch, and of recordings of one rank."""
    runs = [shaped(tmp_path / f"shaped{i}.json", name) for i, name in enumerate(("sgemm_80", "Cijk_90", "gemm_94"))]
    seen.row(KINDS["report"], tracekit.report(runs[0]), command("report", "--json", runs[0]))
    ours, said = tracekit.diff(*runs[:2], match="tree"), command("diff", "--json", "--match", "tree", *runs[:2], fails=True)
    seen.rows("diff", ours["rows"], said["rows"])
    ours, said = tracekit.diff(*runs, match="tree"), command("diff", "--json", "--match", "tree", *runs, fails=True)
    seen.rows("compare", ours["rows"], said["rows"])
    made = recordings.Job(str(tmp_path), 1)
    both, out = [made.kineto("rank0.json"), made.nsys("rank0.sqlite")], str(tmp_path / "both.json")
    said = command("merge", "--json", "--join", "--force", "-o", out, *both)
    seen.rows("merge rank", tracekit.merge(both, out, join=True, force=True)["ranks"], said["ranks"])


def compiled(path):
    """Writes two steps, each of which compiles the same module, within a module whose kernels follow from its launches."""
    events = []
    for step in range(2):
        ts = 1000 * step
        rows = (("user_annotation", f"ProfilerStep#{step}", 0, 900, {}), ("cpu_op", "PjitFunction(f)", 5, 200, {}), ("cpu_op", "XlaCompile", 10, 150, {}),
                ("cpu_op", "simplifier", 20, 5, {"module": "jit_f"}), ("python_function", "nn.Module: Net_0", 300, 400, {}),
                ("python_function", "nn.Module: Linear_0", 310, 300, {}), ("cpu_op", "aten::mm", 320, 100, {}),
                ("cuda_runtime", "cudaLaunchKernel", 330, 5, {"correlation": step + 1}))
        events += [{"ph": "X", "cat": cat, "name": name, "pid": 9, "tid": 1, "ts": ts + at, "dur": dur, "args": args} for cat, name, at, dur, args in rows]
        events.append({"ph": "X", "cat": "kernel", "name": LONG, "pid": 0, "tid": 7, "ts": ts + 400, "dur": 90,
                       "args": {"device": 0, "stream": 7, "correlation": step + 1}})
    path.write_text(json.dumps({"distributedInfo": {"rank": 1}, "traceEvents": events}))
    return str(path)


def see_compilations(seen, tmp_path):
    path = compiled(tmp_path / "compiled.json")
    seen.row(KINDS["report"], tracekit.report(path), command("report", "--json", path))
    ours, said = tracekit.diff(path, path), command("diff", "--json", path, path, fails=True)
    seen.rows("diff", ours["rows"], said["rows"])
    tracekit.merge([job(tmp_path / f"rank{rank}.json", rank) for rank in range(2)], tmp_path / "merged.json")
    merged = str(tmp_path / "merged.json")
    seen.rows("listed file", tracekit.list(merged, deep=True), command("list", "--json", "-a", "--deep", merged)["files"])


def see_files(seen, fixture, tmp_path):
    for folder in ("json/torch/ddp2_handler", "json/jax/multihost", "nasty", "xplane/mlp_train"):
        for flags, deep in (([], False), (["--deep"], True)):
            said = command("list", "--json", "-a", *flags, fixture(folder), fails=True)
            assert not seen.rows("listed file", tracekit.list(fixture(folder), deep=deep), said["files"])
    archive = tmp_path / "step_7"
    archive.mkdir()
    (archive / "rank0.json").write_text('[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":1,"name":"a"}]')
    seen.rows("listed file", tracekit.list(tmp_path), command("list", "--json", "-a", str(tmp_path))["files"])
    for words, options in ((["--raw"], {"raw": True}), (["--derive"], {"derive": True})):
        source, output = fixture("xplane/synth/gpu.xplane.pb"), str(tmp_path / "out.json")
        if "--raw" in words:
            output = str(tmp_path / "raw.xplane.pb")
        said = command("extract", "--json", "--force", "-o", output, *words, source)["files"]
        ours = tracekit.extract(source, output, force=True, **options)
        for mine, theirs in zip(ours, said):
            assert abs(mine["bytes"] - theirs["bytes"]) < 100  # provenance in the file differs: command or package
            mine["bytes"], mine["raw_bytes"] = theirs["bytes"], theirs["raw_bytes"]
        extra = seen.rows("extracted file", ours, said)
        assert extra <= {"lost", "rounded_times", "redaction"}
    source = [fixture(f"json/torch/ddp4_full/rank{i}.json.gz") for i in range(4)]
    said = command("merge", "--json", "--keep-going", "--force", "-o", str(tmp_path / "m.json"), "--rank", "0..1", *source, fixture("nasty/json/deep_root_100k.json"), fails=True)
    if said:
        ours = tracekit.merge([*source, fixture("nasty/json/deep_root_100k.json")], tmp_path / "m.json", force=True, keep_going=True, ranks="0..1")
        seen.rows("merge rank", ours["ranks"], said["ranks"])
    sizes, said = tracekit.size(source[0]), command("size", "--json", source[0])
    for table, kind in (("kinds", "kind"), ("categories", "category"), ("names", "name"), ("args", "arg"), ("tracks", "track"), ("ranks", "rank")):
        assert not seen.rows(f"size by {kind}", sizes[table], said[table])


def test_descriptions_of_python():
    """The descriptions of fields in Python equal the descriptions in docs/fields.md, in the same order."""
    assert len(ROWS) > 30 and not _native.fields(len(ROWS))
    for kind, (name, fields) in enumerate(ROWS):
        assert [field[0] for field in _native.fields(kind)] == list(fields), name


def test_every_field(fixture, tmp_path):
    seen = Seen()
    see_reports(seen, fixture)
    see_analyses(seen, fixture)
    see_diffs(seen, fixture)
    see_files(seen, fixture, tmp_path)
    see_job(seen, tmp_path)
    (tmp_path / "operators").mkdir()
    see_operators(seen, tmp_path / "operators")
    (tmp_path / "compilations").mkdir()
    see_compilations(seen, tmp_path / "compilations")
    never = {f"{name}: {field}" for name, fields in ROWS for field in fields if field not in seen.fields[name]}
    assert never == set(), "; ".join(sorted(never))
