#!/usr/bin/env python3
"""Checks how `report` matches sends with receives of pipeline stages, against a model: the n-th send of a rank in a step belongs to the
n-th receive of its peer in this step. Checks waits, shortest durations and bytes; selected steps; steps with a lost message; traces
without steps, which are matched only if one order is possible; traces that do not record the peers; and a merged trace."""
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import check, finish  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']
RANKS, STEPS, STEP = 4, 3, 100000


def run(*args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check(f'{args}: status', p.returncode == 0, p.stderr.decode()[:300])
    return p.stdout.decode()


def kernel(name, at, dur, rank, peer, n, **args):
    side = {'send': 'Dst Rank', 'recv': 'Src Rank'}[name]
    return {'ph': 'X', 'cat': 'kernel', 'name': 'ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)', 'pid': 0, 'tid': 20, 'ts': at, 'dur': dur,
            'args': {'Collective name': name, 'In msg nelems': n, 'Out msg nelems': n, 'dtype': 'BFloat16', 'Group size': RANKS, 'Process Group Name': '3',
                     'Process Group Description': 'pp', 'Process Group Ranks': str(list(range(RANKS))), 'stream': 20, 'device': 0, side: peer, **args}}


def job(seed):
    """Returns the events of each rank, and the messages as (step, send, receive)."""
    r = random.Random(seed)
    events, messages = [[] for _ in range(RANKS)], []
    for step in range(STEPS):
        for rank in range(RANKS):
            events[rank].append({'ph': 'X', 'cat': 'user_annotation', 'name': f'ProfilerStep#{step}', 'pid': 1, 'tid': 1, 'ts': step * STEP, 'dur': STEP - 10})
        for micro in range(4):
            for rank in range(RANKS - 1):
                at, n, length = step * STEP + 1000 + 20000 * micro + 4000 * rank, r.randrange(1, 5000), r.randrange(50, 900)
                early, end = r.randrange(-900, 900), at + 900 + length  # early: by how much the receive starts before the send
                sent = kernel('send', at, (r.randrange(30, 800) if early < -100 and r.random() < .3 else end - at), rank, rank + 1, n)
                came = kernel('recv', at - early, end - at + early, rank + 1, rank, n)
                events[rank].append(sent)
                events[rank + 1].append(came)
                messages.append((step, sent, came))
    return events, messages


def write(folder, events):
    """Writes the traces of the ranks. Also writes an all-reduce, so that the report has collectives of all ranks."""
    paths = []
    for rank, own in enumerate(events):
        paths.append(f'{folder}/rank{rank}.json')
        with open(paths[-1], 'w', encoding='utf-8') as f:
            json.dump({'schemaVersion': 1, 'baseTimeNanoseconds': 17 * 10 ** 17, 'distributedInfo': {'rank': rank, 'world_size': len(events)},
                       'traceEvents': sorted(own, key=lambda e: e['ts'])}, f)
    return paths


def sums(messages, side):
    """Returns number, shortest durations, waits and bytes of the sends or receives, in ns."""
    out = [0, 0, 0, 0]
    for _, sent, came in messages:
        own, other = (sent, came) if side == 'send' else (came, sent)
        out[0] += 1
        out[1] += 1000 * min(own['dur'], other['dur'])
        out[2] += 1000 * min(max(other['ts'] - own['ts'], 0), own['dur'])
        out[3] += 2 * own['args']['In msg nelems']
    return out


def found(got, side):
    c = next((c for c in got['collectives'] if c['name'] == side), None)
    return c and [c['met'], c.get('shortest_ns', 0), c.get('wait_ns', 0)]


def same(what, got, messages):
    for side in ('send', 'recv'):
        want = sums(messages, side)[:3]
        check(f'{what}: {side}', found(got, side) == want, f'got {found(got, side)}, want {want}')


def report(paths, *options):
    return json.loads(run('report', '--json', '-q', *options, *paths))


def pipelines(folder):
    for seed in range(20 if os.environ.get('LONG') else 6):
        events, messages = job(seed)
        paths = write(folder, events)
        got = report(paths)
        same(f'seed {seed}', got, messages)
        row = next(c for c in got['collectives'] if c['name'] == 'recv')
        check(f'seed {seed}: bytes', row['bytes'] == sums(messages, 'recv')[3], row)
        rate = sums(messages, 'recv')[3] / sums(messages, 'recv')[1]
        check(f'seed {seed}: rate', abs(row['shortest_bus_gb_per_s'] - rate) < .01, f'{row} {rate}')
        check(f'seed {seed}: no collective', got['collectives_met'] == 0 and not got['waits'], got['waits'])
        same(f'seed {seed}: one step', report(paths, '--step', '1'), [m for m in messages if m[0] == 1])
    merged = f'{folder}/merged.json'
    run('merge', '-q', '--force', *paths, '-o', merged)
    same('merged', report([merged]), messages)


def lost(folder):
    """Checks that a step in which one side lacks a message is left out for this pair of ranks, and no other."""
    events, messages = job(99)
    gone = messages[5]
    check('the lost message is in step 0', gone[0] == 0, gone)
    events[gone[2]['args']['Src Rank'] + 1].remove(gone[2])
    pair = gone[2]['args']['Src Rank']
    same('a lost message', report(write(folder, events)), [m for m in messages if m[0] or m[2]['args']['Src Rank'] != pair])


def without_steps(folder):
    """Checks that messages without steps are matched if they overlap in one order alone."""
    far = [(kernel('send', 1000 * i, 500, 0, 1, 8), kernel('recv', 1000 * i + 100, 450, 1, 0, 8)) for i in range(5)]
    near = [(kernel('send', 1000 * i, 1500, 0, 1, 8), kernel('recv', 1000 * i + 100, 1450, 1, 0, 8)) for i in range(5)]
    gone = [(kernel('send', 1000 * i, 100, 0, 1, 8), kernel('recv', 1000 * i + 300, 450, 1, 0, 8)) for i in range(5)]
    late = [(kernel('send', 1000 * i + 600, 100, 0, 1, 8), kernel('recv', 1000 * i, 450, 1, 0, 8)) for i in range(5)]
    for what, pairs, want in (('one order', far, far), ('two orders', near, []), ('no overlap', gone, []), ('received before sent', late, [])):
        got = report(write(folder, [[s for s, _ in pairs], [c for _, c in pairs]]))
        same(f'no steps, {what}', got, [(0, *p) for p in want])
    got = report(write(folder, [[s for s, _ in far], [c for _, c in far][1:]]))
    same('no steps, a lost message', got, [])


def peerless(folder):
    """Checks the sentence on kernels that do not record their peer."""
    pair = kernel('send', 0, 500, 0, 1, 8), kernel('recv', 100, 400, 1, 0, 8)
    for what, drop, want in (('peers', (), 0), ('no peers', ('Src Rank', 'Dst Rank'), 2), ('no args', ('Collective name', 'Src Rank', 'Dst Rank'), 2)):
        events = [[{**e, 'args': {k: v for k, v in e['args'].items() if k not in drop}}] for e in pair]
        said = [u for u in report(write(folder, events))['unknown'] if 'record the other rank' in u]
        check(f'sentence: {what}', len(said) == bool(want) and all(f'{want} kernels' in u for u in said), said)
    said = report(write(folder, [[{**pair[0], 'args': {**pair[0]['args'], 'Collective name': 'all_to_all'}}]] * 2))['unknown']
    check('sentence: all-to-all', not any('record the other rank' in u for u in said), said)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for part in (pipelines, lost, without_steps, peerless):
            part(folder)
    return finish()


sys.exit(main())
