#!/usr/bin/env python3
"""Checks the figures of MindSpore's profiles on Ascend, which msprof writes. The expected figures are computed from the model.

    collectives  an operator such as "Default/AllReduce-op5_0" is a collective; its name without a scope, too
    tasks        the tasks of a collective, on streams and planes, count neither as computation nor as copies; copies of the user do
    planes       planes without the streams whose tasks they show keep their rows
    step trace   the device's own spans of iterations are not activity of the host
    merge        the collective of two ranks is matched"""
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import check, finish  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']
HARDWARE, CANN, HCCL, OVERLAP = 3, 1003602, 1003611, 1003612
COLLECTIVE = 'Default/AllReduce-op5_0'


def run(*args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, capture_output=True)
    check(f'{args[0]}: status', p.returncode == 0, p.stderr.decode()[:300])
    return p.stdout.decode()


def x(name, pid, tid, ts, dur, cat=None, **args):
    return {'ph': 'X', 'name': name, 'pid': pid, 'tid': tid, 'ts': ts, 'dur': dur, **({'cat': cat} if cat else {}), **({'args': args} if args else {})}


def meta(pid, name, **threads):
    named = [{'ph': 'M', 'name': 'process_name', 'pid': pid, 'args': {'name': name}}]
    return named + [{'ph': 'M', 'name': 'thread_name', 'pid': pid, 'tid': int(tid[1:]), 'args': {'name': thread}} for tid, thread in threads.items()]


def write(folder, name, events):
    path = os.path.join(folder, name)
    with open(path, 'w', encoding='utf-8') as f:
        json.dump(events, f)
    return path


def model(seed, collective=COLLECTIVE):
    """Returns the events of one step, and how long the device computes, copies for the user, and communicates; in us."""
    rng, events, t, compute, copies = random.Random(seed), [], 1000, 0, 0
    for i in range(12):
        dur = rng.randrange(5, 60)
        events.append(x(f'Default/net-Net/conv{i}-Conv2d/Conv2D-op{i}', HARDWARE, 2, t, dur, **{'Task Type': 'AI_CORE'}))
        compute, t = compute + dur, t + dur
    for i in range(3):
        events.append(x('MEMCPY_ASYNC', HARDWARE, 2, t, 7, **{'Task Type': 'MEMCPY_ASYNC'}))
        copies, t = copies + 7, t + 7
    begin = t = t + 2
    for i in range(20):
        for plane in (0, 1):
            stream, (task, step) = 10 + plane, rng.choice((('NOTIFY_WAIT', 'Notify_Wait'), ('REDUCE_ASYNC_V2', 'Reduce_Inline'), ('MEMCPY_ASYNC', 'Memcpy')))
            dur = rng.randrange(1, 200)
            events += [x(task, HARDWARE, stream, t, dur), x(step, HCCL, plane, t, dur, **{'stream id': stream})]
            t += dur
    events.append(x(collective, HCCL, 70000, begin, t - begin))
    events += [x('Iteration 1', HARDWARE, 99, 990, t - 980, 'Iteration Time'), x('Reduce_1_0', HARDWARE, 99, 995, t - 990, 'Reduce'),
               x('GE@Infer', CANN, 7, 900, 50), x('Computing', OVERLAP, 0, 1000, compute)]
    events += [*meta(HARDWARE, 'Ascend Hardware', t2='Stream 2', t10='Stream 10', t11='Stream 11', t99='Step Trace(Model ID:2)'), *meta(CANN, 'CANN'),
               *meta(HCCL, 'HCCL', t0='Plane 0', t1='Plane 1', t70000='Communication Kernel'), *meta(OVERLAP, 'Overlap Analysis', t0='Computing')]
    return events, compute, copies, t - begin


def judge_figures(folder):
    for seed, collective in enumerate((COLLECTIVE, 'Default/net-Net/AlltoAll-op12', 'AllGather-op7_3')):
        events, compute, copies, communication = model(seed, collective)
        path = write(folder, f'figures{seed}.json', events)
        report = json.loads(run('report', '-q', '--json', path))
        row = report['ranks'][0]
        got = tuple(row[key] for key in ('compute_ns', 'memory_ns', 'communication_ns', 'exposed_communication_ns', 'idle_ns'))
        want = (compute * 1000, copies * 1000, communication * 1000, communication * 1000, 2000)
        check(f'{collective}: computation, copies, communication, exposed, idle', got == want, f'got {got}, want {want}')
        check(f'{collective}: a collective', [c['name'] for c in report['collectives']] == [collective], report['collectives'])
        check('the host is not blamed', not any(f['id'] == 'idle-host' for f in report['findings']), report['findings'])
        top = {r['name']: r['count'] for r in json.loads(run('top', '-q', '--json', path))['rows']}
        tasks = sum(e.get('name') == 'NOTIFY_WAIT' for e in events)
        check('top: a task has one row', (top.get('NOTIFY_WAIT'), 'Notify_Wait' in top, 'Computing' in top) == (tasks, False, False), top)
        kinds = {e['name'] for e in map(json.loads, run('dump', '-q', '--jsonl', '--kind', 'host', path).splitlines())}
        check('spans of the host', kinds == {'GE@Infer'}, kinds)


def judge_planes(folder):
    events, *_ = model(9)
    path = write(folder, 'planes.json', [e for e in events if e['pid'] != HARDWARE or e['ph'] == 'M'])
    top = {r['name'] for r in json.loads(run('top', '-q', '--json', path))['rows']}
    check('planes alone keep their rows', {'Notify_Wait', 'Memcpy'} <= top, top)


def judge_merge(folder):
    paths = [write(folder, f'run_rank{rank}.json', model(3)[0]) for rank in (0, 1)]
    table = os.path.join(folder, 'table.json')
    run('merge', '-q', *paths, '-o', os.path.join(folder, 'merged.json'), '--collectives', table)
    with open(table, encoding='utf-8') as f:
        rows = json.load(f)['collectives']
    check('merge: the collective of both ranks', [(r['name'], len(r['ranks'])) for r in rows] == [(COLLECTIVE, 2)], rows)


def main():
    with tempfile.TemporaryDirectory() as folder:
        judge_figures(folder)
        judge_planes(folder)
        judge_merge(folder)
    return finish()


sys.exit(main())
