#!/usr/bin/env python3
"""Measures the time of a job report, compared with HolisticTraceAnalysis on the same files: temporal and idle breakdown,
overlap, kernels and launches of all ranks. HTA uses the clocks as they are; the report also aligns clocks and compares
collectives.

Usage: report.py TRACEKIT GENERATOR WORKDIR INTEROP [RANKS [MEGABYTES]]; make interop installs HTA, else this is SKIPPED."""
import os
import subprocess
import sys

from timing import race

TRACEKIT, GENERATOR, WORK, INTEROP = sys.argv[1:5]
RANKS = int(sys.argv[5]) if len(sys.argv) > 5 else 2
MEGABYTES = int(sys.argv[6]) if len(sys.argv) > 6 else 50
ROUNDS, SPAN_BYTES = 2, 404
HTA = '''
import logging, os, sys, warnings
os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"
warnings.filterwarnings("ignore"); logging.disable(logging.CRITICAL)
from hta.trace_analysis import TraceAnalysis
ranks = list(range(len(sys.argv) - 1))
a = TraceAnalysis(trace_files=dict(enumerate(sys.argv[1:])))
a.get_temporal_breakdown(visualize=False)
a.get_idle_time_breakdown(ranks=ranks, visualize=False)
a.get_comm_comp_overlap(visualize=False)
a.get_gpu_kernel_breakdown(visualize=False)
a.get_cuda_kernel_launch_stats(ranks=ranks, visualize=False)
'''


def make(folder):
    paths = []
    os.makedirs(folder, exist_ok=True)
    for rank in range(RANKS):
        paths.append(os.path.join(folder, f'rank{rank}.json'))
        if os.path.exists(paths[-1]):
            continue
        with open(paths[-1] + '.tmp', 'wb') as out:
            spans = str(MEGABYTES * 1000000 // SPAN_BYTES)
            subprocess.run([GENERATOR, 'kineto', '--spans', spans, '--ranks', str(RANKS), '--rank', str(rank)], stdout=out, check=True)
        os.rename(paths[-1] + '.tmp', paths[-1])
    return paths


def python_of_hta():
    python = os.path.join(INTEROP, 'venv', 'bin', 'python')
    found = os.path.exists(python) and subprocess.run([python, '-c', 'import hta'], capture_output=True).returncode == 0
    return python if found else None


def main():
    paths, python = make(os.path.join(WORK, f'job.{RANKS}.{MEGABYTES}')), python_of_hta()
    print(f'report of {RANKS} ranks of {sum(map(os.path.getsize, paths)) / RANKS / 1e6:.0f} MB')
    if not python:
        print('SKIPPED: HolisticTraceAnalysis: make interop installs it')
        return
    runs = race({'report': [TRACEKIT, 'report', '-q', '--json', *paths], 'HTA': [python, '-c', HTA, *paths]}, ROUNDS)
    for name, (wall, processor, memory) in runs.items():
        print(f'  {name:8} {wall:8.2f} s  {processor:8.2f} s of the processor  {memory:7.0f} MB')
    ours, theirs = runs['report'], runs['HTA']
    print(f'  HTA takes {theirs[0] / ours[0]:.1f} times as long, {theirs[1] / ours[1]:.1f} times as much of the processor')


main()
