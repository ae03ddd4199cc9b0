#!/usr/bin/env python3
"""Runs HolisticTraceAnalysis on each trace named on standard input; prints one line each: JSON, or {"failed": reason}. Times in
us.

Runs in the environment that engines.sh creates; called by report.py."""
import json
import logging
import os
import sys
import tempfile
import warnings

os.environ['HTA_DISABLE_NS_ROUNDING'] = '1'
warnings.filterwarnings('ignore')
logging.disable(logging.CRITICAL)
import numpy  # noqa: E402
from hta.trace_analysis import TraceAnalysis  # noqa: E402

unique = numpy.unique
# with pandas 3, HTA 0.5.0 asks for the unique rows of an array of objects, which are numbers
numpy.unique = lambda a, **more: unique(a.astype(float) if getattr(a, 'dtype', None) == object else a, **more)


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


def queues_of(analysis):
    found = {}
    for table in analysis.get_queue_length_time_series(ranks=[0]).values():
        for stream, rows in table.groupby('stream'):
            found[str(int(stream))] = float(rows['queue_length'].max())
    return found


def copies_of(analysis):
    table = analysis.get_memory_bw_summary(ranks=[0])
    rows = table['memory_bw_gbps'].reset_index().to_dict('records') if table is not None else []
    return {r['name']: {k: float(r[k]) for k in ('count', 'mean', 'min', 'max')} for r in rows}


def sequences_of(analysis):
    names = analysis.t.symbol_table.get_sym_table()
    ops = analysis.t.get_trace(0)
    ops = ops[ops['stream'].eq(-1)].merge(analysis.t.get_trace(0).query('stream != -1')[['correlation']], on='correlation')
    found = {}
    for name in ('aten::linear', 'aten::mm', 'aten::addmm', 'aten::_foreach_add_', 'nccl:all_reduce', 'aten::copy_'):
        if not len(ops) or name not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            table = analysis.get_frequent_cuda_kernel_sequences(operator_name=name, output_dir=folder, min_pattern_len=1, rank=0, visualize=False)
        found[name] = {r['pattern']: int(r['count']) for r in table.to_dict('records') if r['pattern'].split('|')[0] == name}
    return found


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
    out.update(asked('queues', queues_of, analysis))
    out.update(asked('copies', copies_of, analysis))
    out.update(asked('sequences', sequences_of, analysis))
    return out


answers = os.fdopen(os.dup(1), 'w')
os.dup2(2, 1)  # output of HTA's libraries is not part of the answer
for line in sys.stdin:
    print(json.dumps(one(line.rstrip('\n')), default=float), file=answers, flush=True)
