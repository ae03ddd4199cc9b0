#!/usr/bin/env python3
"""Runs HolisticTraceAnalysis on each trace named on standard input; prints one line each: JSON, or {"failed": reason}. Times in
us.

Runs in the environment that engines.sh creates; called by report.py."""
import json
import logging
import os
import sys
import warnings

os.environ['HTA_DISABLE_NS_ROUNDING'] = '1'
warnings.filterwarnings('ignore')
logging.disable(logging.CRITICAL)
from hta.trace_analysis import TraceAnalysis  # noqa: E402


def idle_of(analysis):
    table, _ = analysis.get_idle_time_breakdown(ranks=[0], visualize=False)
    found = {}
    for row in table.to_dict('records'):
        found.setdefault(str(int(row['stream'])), {})[row['idle_category']] = float(row['idle_time'])
    return found


def launches_of(analysis):
    table = analysis.get_cuda_kernel_launch_stats(ranks=[0], visualize=False)[0]
    return {'work': len(table), 'call': float(table['cpu_duration'].sum()), 'gpu': float(table['gpu_duration'].sum()),
            'delay': float(table['launch_delay'].sum()), 'delay_max': float(table['launch_delay'].max())}


def kernels_of(analysis):
    types, kernels = analysis.get_gpu_kernel_breakdown(visualize=False, num_kernels=1000000, duration_ratio=1.0)
    return {'types': {r['kernel_type']: float(r['sum']) for r in types.to_dict('records')},
            'names': {r['name']: float(r['sum (us)'] if 'sum (us)' in r else r['sum']) for r in kernels.to_dict('records')}}


def asked(what, ask, analysis):
    try:
        return {what: ask(analysis)}
    except Exception as e:  # noqa: BLE001 - any error means that HTA cannot make this table
        return {f'{what}.failed': f'{type(e).__name__}: {e}'[:120]}


def one(path):
    try:
        analysis = TraceAnalysis(trace_files={0: path})
    except Exception as e:  # noqa: BLE001
        return {'failed': f'{type(e).__name__}: {e}'[:200]}
    out = {}
    out.update(asked('temporal', lambda a: a.get_temporal_breakdown(visualize=False).to_dict('records')[0], analysis))
    out.update(asked('overlap', lambda a: float(a.get_comm_comp_overlap(visualize=False).to_dict('records')[0]['comp_comm_overlap_pctg']), analysis))
    out.update(asked('idle', idle_of, analysis))
    out.update(asked('kernels', kernels_of, analysis))
    out.update(asked('launches', launches_of, analysis))
    return out


answers = os.fdopen(os.dup(1), 'w')
os.dup2(2, 1)  # output of HTA's libraries is not part of the answer
for line in sys.stdin:
    print(json.dumps(one(line.rstrip('\n')), default=float), file=answers, flush=True)
