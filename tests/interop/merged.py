"""Checks a merge of ranks with an engine and with Python.

    sum      as many events as in all ranks together, by our count and by the engine's slices, processes and threads; in
             Perfetto as many machines (JSON has none)
    labels   every process name contains its rank; in the order of sort_index they are rank 0, 1, 2, ... and none is missing
    rows     no process is declared without events
    arrows   as many flows as in all ranks together, none between ranks

Merges fixtures, generated ranks, and a mix of formats into Chrome JSON and into Perfetto. The expected figures of an input
are the engine's: for the file itself if it is in the output format, else for the file converted to it (roundtrip.py and
perfetto.py define what conversions keep)."""
import json
import os
import re
import subprocess
import tempfile

import chromejson
from common import Engines, Refused, tracekit
from queries import MERGED

RANK = re.compile(r'\brank (\d+)\b')


def rank_of(name):
    found = RANK.search(name or '')
    return int(found[1]) if found else None


def rows(answer, name):
    return [json.loads(row) for row in answer[name]]


def events_in(path):
    return json.loads(tracekit('info', '-q', '--json', path))['traces'][0]['events']


def sum_fault(ranks, merged, befores, after):
    ours, all_ours = events_in(merged), sum(map(events_in, ranks))
    if ours != all_ours:
        return f'{ours} events, the ranks have {all_ours}'
    found = rows(after, 'slices')[0]
    parts = [rows(b, 'slices')[0] for b in befores]
    n, dur = sum(p['n'] for p in parts), sum(p['dur'] or 0 for p in parts)
    if found['n'] != n or abs(found['dur'] - dur) > n:
        return f'{found["n"]} slices of {found["dur"]} ns, the ranks have {n} of {dur} ns'
    machines, parts = rows(after, 'machines')[0]['n'], [rows(b, 'machines')[0]['n'] for b in befores]
    if machines != (sum(parts) if merged.endswith('.pftrace') else 1):
        return f'{machines} machines, the ranks have {sum(parts)}'
    used, parts = rows(after, 'used')[0], [rows(b, 'used')[0] for b in befores]
    sums = {what: sum(p[what] for p in parts) for what in used}
    return '' if used == sums else f'{used}, the ranks have {sums}'


def label_fault(path, n):
    names, order = {}, {}
    for e in chromejson.events_of(chromejson.read(path)):
        if chromejson.phase(e) == 'M' and e['name'] == 'process_name':
            names[str(e['pid'])] = rank_of(e['args']['name'])
        if chromejson.phase(e) == 'M' and e['name'] == 'process_sort_index':
            order[str(e['pid'])] = int(chromejson.decimal(e['args']['sort_index']))
    if None in names.values():
        return f'no rank in the name of pid {[pid for pid in names if names[pid] is None][:3]}'
    seen = [names[pid] for pid in sorted(names, key=lambda pid: order.get(pid, 0))]
    if seen != sorted(seen) or sorted(set(seen)) != list(range(n)):
        return f'ranks in order of the rows: {seen}'
    return ''


def global_only(path):
    """Returns pids and names of processes with nothing but global instants, which an engine shows elsewhere."""
    scopes, names = {}, {}
    for e in chromejson.events_of(chromejson.read(path)):
        if chromejson.phase(e) != 'M':
            scopes.setdefault(e.get('pid'), set()).add(e.get('s'))
        elif e['name'] == 'process_name':
            names[e['pid']] = e['args']['name']
    pids = {pid for pid, seen in scopes.items() if seen == {'g'}}
    return pids | {names.get(pid) for pid in pids}


def row_fault(elsewhere, after):
    used = {row['process'] for row in rows(after, 'rows')} | elsewhere
    empty = [row['name'] for row in rows(after, 'declared') if row['name'] not in used]
    return f'{len(empty)} processes are empty: {empty[:5]}' if empty else ''


def arrow_fault(befores, after):
    arrows = rows(after, 'arrows')
    n, before = sum(a['n'] for a in arrows), sum(a['n'] for b in befores for a in rows(b, 'arrows'))
    crossing = [a for a in arrows if rank_of(a['source']) != rank_of(a['target'])]
    if crossing:
        return f'{sum(a["n"] for a in crossing)} from one rank to another: {crossing[:2]}'
    return '' if n == before else f'{n}, the ranks have {before}'


def named_fault(after, n):
    """Checks the labels of a trace that is not text, through the engine."""
    ranks = [rank_of(row['name']) for row in rows(after, 'declared')]
    return '' if set(ranks) == set(range(n)) else f'ranks in the names of processes: {ranks}'


def examine(ranks, seen, merged, elsewhere, engine):
    """Compares a merge with its ranks; `seen`: the ranks in the form that the engine reads."""
    befores, after = [engine.record(path) for path in seen], engine.ask(merged)
    failed = [answer['failed'] for answer in [*befores, after] if 'failed' in answer]
    if failed:
        return {'load': failed[0]}
    labels = label_fault(merged, len(ranks)) if merged.endswith('.json') else named_fault(after, len(ranks))
    return {'load': '', 'sum': sum_fault(ranks, merged, befores, after), 'labels': labels, 'rows': row_fault(elsewhere, after),
            'arrows': arrow_fault(befores, after)}


def naive(ranks, merged):
    """Merges naively, as people do: one array of all events, with at least the rank in the process names."""
    events = []
    for rank, path in enumerate(ranks):
        for e in json.loads(chromejson.read_bytes(path))['traceEvents']:
            if e.get('name') == 'process_name':
                e['args']['name'] = f'rank {rank} - {e["args"]["name"]}'
            events.append(e)
    with open(merged, 'w', encoding='utf-8') as f:
        json.dump({'traceEvents': events}, f)


def alone(rank, ending, work):
    """Returns the path of the rank, converted to the format with this extension if necessary."""
    if f'.{ending}' in rank:
        return rank
    into = os.path.join(work, f'{len(os.listdir(work))}.{ending}')
    tracekit('convert', '-q', rank, '-o', into)
    return into


def run(label, ranks, results):
    engines = Engines(MERGED)
    for ending in ('json', 'pftrace'):
        with tempfile.TemporaryDirectory() as work:
            merged, text = os.path.join(work, f'merged.{ending}'), os.path.join(work, 'text.json')
            try:
                tracekit('merge', '-q', *ranks, '-o', merged)
                tracekit('merge', '-q', *ranks, '-o', text)
                seen = [alone(rank, ending, work) for rank in ranks]
                found = examine(ranks, seen, merged, global_only(text), engines.mine())
            except Refused as e:
                found = {'merge': str(e)}
        results.judge(f'merge of {len(ranks)} ranks into {ending}: {label}', found)
    engines.close()


def generate(path, *options):
    with open(path, 'wb') as f:
        subprocess.run([os.environ['GEN'], *options], stdout=f, check=True)
    return path


def run_generated(work, results):
    job = ('--ranks', '4', '--hosts', '2', '--spans', '5000')
    torch = [generate(f'{work}/node{r // 2}_{r}.1.pt.trace.json', 'kineto', '--rank', str(r), *job) for r in range(4)]
    run('generated', torch, results)
    xplane = generate(f'{work}/rank2.xplane.pb', 'xplane', '--rank', '2', *job)
    perfetto = generate(f'{work}/rank3.pftrace', 'perfetto', '--rank', '3', *job)
    run('of all formats', [*torch[:2], xplane, perfetto], results)


def self_test(ranks, results):
    """Checks that the naive merge is detected, at least by its flows: its other faults depend on the traces."""
    engines = Engines(MERGED)
    with tempfile.TemporaryDirectory() as work:
        merged = os.path.join(work, 'merged.json')
        naive(ranks, merged)
        found = examine(ranks, ranks, merged, global_only(merged), engines.mine())
    engines.close()
    missed = [what for what in ('arrows',) if not found.get(what)]
    seen = ' '.join(what for what, fault in found.items() if fault)
    results.judge(f'self-test: a naive merge is caught by: {seen}', {what: 'not caught' for what in missed})
