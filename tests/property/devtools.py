#!/usr/bin/env python3
"""Checks that a part of a trace of Chrome DevTools has what DevTools needs to open it (front_end/models/trace/handlers).

    range     frames, workers and layers of the page that were stated before the range, and no other events from before it
    samples   a Profile precedes each ProfileChunk of its id
    others    events of the same names in other categories, selections by name, and ranges without events"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import check, finish  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']
TIMELINE, SAMPLER = 'disabled-by-default-devtools.timeline', 'disabled-by-default-v8.cpu_profiler'
STATE = ['TracingStartedInBrowser', 'TracingStartedInPage', 'FrameCommittedInBrowser', 'TracingSessionIdForWorker', 'SetLayerTreeId']
folder = tempfile.mkdtemp()


def tracekit(*args):
    return subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True)


def trace():
    """Returns a page of 1 s: an instant of each kind at the start, a task in each ms, and a sample in each 10 ms."""
    main = {'pid': 7, 'tid': 8}
    out = [{'ph': 'M', 'name': 'process_name', 'cat': '__metadata', 'ts': 0, **main, 'args': {'name': 'Renderer'}},
           {'ph': 'M', 'name': 'thread_name', 'cat': '__metadata', 'ts': 0, **main, 'args': {'name': 'CrRendererMain'}}]
    for i, name in enumerate(STATE):
        data = {'data': {'frames': [{'frame': 'F', 'processId': 7, 'url': 'http://a/'}], 'frame': 'F', 'processId': 7, 'index': i}}
        out.append({'ph': 'I', 's': 't', 'cat': TIMELINE, 'name': name, 'ts': 1000 + i, **main, 'args': data})
    out.append({'ph': 'I', 's': 't', 'cat': 'mine', 'name': STATE[0], 'ts': 1010, **main, 'args': {}})
    out.append({'ph': 'I', 's': 't', 'cat': TIMELINE, 'name': 'Other', 'ts': 1011, **main, 'args': {}})
    out += [{'ph': 'X', 'cat': 'devtools.timeline', 'name': 'RunTask', 'ts': 2000 + 1000 * i, 'dur': 500, **main, 'args': {}} for i in range(1000)]
    out.append({'ph': 'P', 'cat': SAMPLER, 'name': 'Profile', 'id': '0x1', 'ts': 2000, **main, 'args': {'data': {'startTime': 2000}}})
    nodes = [{'id': 1, 'callFrame': {'functionName': '(root)', 'scriptId': 0}}, {'id': 2, 'parent': 1, 'callFrame': {'functionName': 'f', 'scriptId': 0}}]
    for i in range(10):
        profile = {**({'nodes': nodes} if i == 0 else {}), 'samples': [2] * 10}
        out.append({'ph': 'P', 'cat': SAMPLER, 'name': 'ProfileChunk', 'id': '0x1', 'ts': 2000 + 100000 * i, **main,
                    'args': {'data': {'cpuProfile': profile, 'timeDeltas': [0 if i == 0 and k == 0 else 10000 for k in range(10)]}}})
    return {'traceEvents': out}


def cut(*args):
    out = os.path.join(folder, 'cut.json')
    if os.path.exists(out):
        os.remove(out)
    p = tracekit('filter', os.path.join(folder, 'page.json'), '-o', out, *args)
    return (json.load(open(out, encoding='utf-8'))['traceEvents'] if os.path.exists(out) else None), p


def judge(events, what, start, end):
    timed = [e for e in events if e['ph'] != 'M']
    check(f'{what}: no event outside the range', all(start <= e['ts'] <= end for e in timed), [e for e in timed if not start <= e['ts'] <= end][:3])
    found = [(e['name'], e['args']['data']['index'], e['ts'], e['ph'], e['cat']) for e in timed if e['name'] in STATE]
    check(f'{what}: state', found == [(name, i, start, 'I', TIMELINE) for i, name in enumerate(STATE)], found)
    check(f'{what}: names', {e['args']['name'] for e in events if e['ph'] == 'M' and 'name' in e['args']} == {'Renderer', 'CrRendererMain'}, events[:4])
    seen, samples = set(), 0
    for e in timed:
        if e['name'] == 'Profile':
            seen.add((e['pid'], e['id']))
        elif e['name'] == 'ProfileChunk':
            check(f'{what}: a Profile precedes', (e['pid'], e['id']) in seen, e)
            samples += len(e['args']['data']['cpuProfile']['samples'])
    check(f'{what}: samples', samples == (end - start) // 10000, samples)


def main():
    with open(os.path.join(folder, 'page.json'), 'w', encoding='utf-8') as f:
        json.dump(trace(), f)
    for start, end in ((502000, 702000), (12000, 912000)):
        events, p = cut('--time', f'{start}us..{end}us')
        judge(events, f'{start}us..{end}us', start, end)
        tasks = [e['ts'] for e in events if e['name'] == 'RunTask']
        check(f'{start}us..{end}us: tasks', tasks == list(range(start, end, 1000)), tasks[:3])
    events, p = cut('--time', '502000us..702000us', '--name', 'RunTask')
    check('by name', events and not [e for e in events if e['name'] in STATE], p.stderr)
    events, p = cut('--time', '502600us..502900us', '--kind', 'span')
    check('no events in the range', events is None and p.returncode == 1, (p.returncode, p.stderr))
    return finish()


sys.exit(main())
