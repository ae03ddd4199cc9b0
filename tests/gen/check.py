#!/usr/bin/env python3
"""Checks generated Kineto traces.

usage: check.py rank0.json[:truth0.json] [rank1.json:truth1.json ...]
       check.py --gen GENERATOR     makes traces of several kinds in a temporary directory and checks them

Each file must be strict JSON; its flows pair up or dangle as in Kineto; spans nest on every track; the launch of a kernel
precedes the kernel. With truth files: the ends of each collective, converted to true time, are equal on all ranks within 7
us, and its starts differ.
"""
import collections
import decimal
import json
import os
import subprocess
import sys
import tempfile


def refuse_constant(text):
    raise ValueError("not JSON: " + text)


def unique(pairs):
    keys = [k for k, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError("duplicate keys: %s" % keys)
    return dict(pairs)


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f, parse_float=decimal.Decimal, parse_constant=refuse_constant, object_pairs_hook=unique)


def ns(value):
    value = decimal.Decimal(value) * 1000
    if value != int(value):
        raise ValueError("%s us is not a whole number of ns" % value)
    return int(value)


def check_flows(path, events):
    """Checks flows: those of fwdbwd are complete; some of ac2g have only one end; a complete flow points forward in time."""
    ends = collections.defaultdict(dict)
    for e in events:
        if e["ph"] in "sf":
            flow = ends[e["cat"], e["id"]]
            if e["ph"] in flow:
                raise ValueError("%s: flow %s has two ends %s" % (path, e["id"], e["ph"]))
            flow[e["ph"]] = ns(e["ts"])
    counts = collections.Counter()
    for (cat, flow_id), flow in ends.items():
        counts[cat, "".join(sorted(flow))] += 1
        if len(flow) == 2 and flow["s"] > flow["f"]:
            raise ValueError("%s: flow %s ends before it starts" % (path, flow_id))
    if any(counts["fwdbwd", end] for end in "sf") or not counts["ac2g", "fs"] or not counts["ac2g", "f"]:
        raise ValueError("%s: flows %s" % (path, dict(counts)))
    return counts


def check_nesting(path, events):
    tracks = collections.defaultdict(list)
    for i, e in enumerate(events):
        if e["ph"] == "X":
            tracks[e["pid"], e["tid"]].append((ns(e["ts"]), -ns(e["dur"]), i))
    for track, spans in tracks.items():
        spans.sort()
        stack = []
        for start, negative, i in spans:
            while stack and stack[-1] <= start:
                stack.pop()
            if stack and start - negative > stack[-1]:
                raise ValueError("%s: track %s: %s at %d sticks out by %d ns" % (
                    path, track, events[i]["name"], start, start - negative - stack[-1]))
            stack.append(start - negative)
    return len(tracks)


def check_kernels(path, events):
    calls = {e["args"]["correlation"]: e for e in events if e.get("cat") == "cuda_runtime"}
    kernels = [e for e in events if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    for k in kernels:
        call = calls[k["args"]["correlation"]]
        if ns(call["ts"]) + ns(call["dur"]) > ns(k["ts"]) or call["args"]["External id"] != k["args"]["External id"]:
            raise ValueError("%s: kernel %s does not follow its launch" % (path, k["args"]["correlation"]))
    return len(kernels)


def true_time(truth, reading):
    """Inverts the host's clock by bisection, exactly to the ns."""
    host = {k: float(v) for k, v in truth["hosts"][truth["host"]].items()}

    def clock(t):
        late = t - host["slew_at_s"] * 1e9
        drift = t * host["drift_ppm"] * 1e-6 + (late * host["slew_ppm"] * 1e-6 if late > 0 else 0)
        return truth["job_start_ns"] + t + int(host["offset_us"] * 1000) + int(drift)

    low, high = -10**12, 10**15
    while low < high:
        middle = (low + high) // 2
        if clock(middle) < reading:
            low = middle + 1
        else:
            high = middle
    return low


def collectives(document, truth):
    """Returns (start, end) of the collectives in true time, by sequence number."""
    base = document.get("baseTimeNanoseconds", 0)
    found = {}
    for e in document["traceEvents"]:
        if e.get("cat") == "kernel" and "Collective name" in e["args"]:
            start = base + ns(e["ts"])
            found[e["args"]["Seq"]] = (true_time(truth, start), true_time(truth, start + ns(e["dur"])))
    return found


def check_collectives(ranks):
    starts = []
    for seq in ranks[0]:
        ends = [r[seq][1] for r in ranks]
        starts.append(max(r[seq][0] for r in ranks) - min(r[seq][0] for r in ranks))
        if max(ends) - min(ends) > 7000:
            raise ValueError("collective %d ends %d ns apart" % (seq, max(ends) - min(ends)))
        if min(ends) < max(r[seq][0] for r in ranks):
            raise ValueError("collective %d ends before the last rank has joined" % seq)
    if len(ranks) > 1 and max(starts) < 7000:
        raise ValueError("no rank ever waits for another")
    return len(starts), max(starts)


JOBS = (
    "--ranks 4 --hosts 2 --spans 4000 --straggler 1",
    "--ranks 3 --hosts 3 --spans 3000 --offset-us 0,-1234567.5,88 --drift-ppm 0,35,-20 --slew-ppm 12 --slew-at 0.01",
    "--ranks 2 --spans 2000 --compact --memory",
    "--ranks 2 --spans 2000 --lines --no-stack --seed 7",
    "--ranks 2 --spans 300 --no-base",
    "--spans 100",
)


def generate(generator, options, directory):
    """Generates the ranks of a job, and checks that a second run gives the same bytes."""
    words = options.split()
    ranks = int(words[words.index("--ranks") + 1]) if "--ranks" in words else 1
    for r in range(ranks):
        path, truth = (os.path.join(directory, "%s%d.json" % (kind, r)) for kind in ("rank", "truth"))
        command = [generator, "kineto", "--rank", str(r), "--truth", truth] + words
        out = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
        if subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout != out:
            raise ValueError("%s: not the same twice" % options)
        with open(path, "wb") as f:
            f.write(out)
        yield path + ":" + truth


def main():
    if sys.argv[1:2] != ["--gen"]:
        check(sys.argv[1:])
        return
    for options in JOBS:
        with tempfile.TemporaryDirectory() as directory:
            print("gen kineto " + options)
            check(generate(sys.argv[2], options, directory))


def check(args):
    ranks = []
    for arg in args:
        path, _, truth = arg.partition(":")
        document = load(path)
        events = document["traceEvents"]
        flows, tracks = check_flows(path, events), check_nesting(path, events)
        print("%s: %d events, %d tracks, %d kernels, %d arrows, %d dangling ends" % (
            path, len(events), tracks, check_kernels(path, events), sum(n for (_, k), n in flows.items() if k == "fs"),
            sum(n for (_, k), n in flows.items() if k != "fs")))
        if truth:
            ranks.append(collectives(document, load(truth)))
    if ranks:
        count, apart = check_collectives(ranks)
        print("%d collectives on %d ranks end together; starts differ by up to %.1f us" % (count, len(ranks), apart / 1000))


if __name__ == "__main__":
    try:
        main()
    except (ValueError, KeyError, OSError, subprocess.SubprocessError) as e:
        sys.exit("check.py: %s" % e)
