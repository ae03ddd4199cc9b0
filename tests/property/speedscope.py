#!/usr/bin/env python3
"""Checks speedscope files by speedscope's own rules: each profile is one stack in time order, every span of the trace is in one
profile, and losses are counted by kind as `info` counts them; --no-loss then refuses to write."""
import collections
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import finish, judge  # noqa: E402

TRACEKIT, FIXTURES = os.environ['TRACEKIT'], os.environ['FIXTURES']
TRACES = ('json/viz/viz_small.json', 'json/torch/ddp2_plain/rank0.json.gz', 'xplane/mlp_train/vm.xplane.pb', 'perfetto/small.pftrace.gz')


def run(*args):
    return subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def stack_fault(profile):
    stack, last = [], profile['startValue']
    for event in profile['events']:
        if event['at'] < last:
            return f'{profile["name"]}: {event} goes back in time'
        last = event['at']
        if event['type'] == 'O':
            stack.append(event['frame'])
        elif not stack or stack.pop() != event['frame']:
            return f'{profile["name"]}: {event} closes what is not the innermost'
    if stack or last > profile['endValue']:
        return f'{profile["name"]}: {len(stack)} left open, ends at {last} of {profile["endValue"]}'
    return ''


def spans_of(path):
    """Returns name -> (count, total in ps) from Chrome JSON, which other tests compare with other readers."""
    out = collections.Counter(), collections.Counter()
    for event in json.load(open(path, encoding='utf-8'))['traceEvents']:
        if event.get('ph') == 'X':
            out[0][event.get('name', '')] += 1
    return out[0]


def starts(folder):
    """Times count from the zero of the input, or from the first event if that is earlier or if times are relative to 1970."""
    for what, first, want in (('at zero', 0, 0), ('later', 40, 40), ('below zero', -10, 0), ('since 1970', 1700000000000000, 0),
                              ('below zero, with parts', -10.5, 0)):
        times = [first + 30, first, first + 40]  # the second event is the first in time, on another thread
        events = [{'ph': 'X', 'name': 'a', 'pid': 1, 'tid': i, 'ts': ts, 'dur': 5} for i, ts in enumerate(times)]
        with open(f'{folder}/starts.json', 'w', encoding='utf-8') as f:
            json.dump({'traceEvents': events}, f)
        p = run('convert', '-q', f'{folder}/starts.json', '-f', 'speedscope', '-o', '-')
        found = sorted((r['startValue'], r['endValue'], r['events'][0]['at']) for r in json.loads(p.stdout)['profiles'])
        wanted = sorted((want + ts - first, want + ts - first + 5, want + ts - first) for ts in times)
        judge(f'starts {what}', '' if found == wanted else f'{found}, not {wanted}')


def one(trace, folder):
    source, out = f'{FIXTURES}/{trace}', f'{folder}/x.speedscope.json'
    p = run('convert', source, '-o', out, '--force', '--json', '--no-provenance')
    judge(f'{trace}: convert', p.stderr.decode() if p.returncode else '')
    report, info = json.loads(p.stdout), json.loads(run('info', '--json', source).stdout)
    info = info.get('traces', [info])[0]
    with open(out, encoding='utf-8') as f:
        written = json.load(f)
    for profile in written['profiles']:
        fault = stack_fault(profile)
        if fault:
            break
    judge(f'{trace}: stacks', fault)
    spans = sum(e['type'] == 'O' for p in written['profiles'] for e in p['events'])
    judge(f'{trace}: spans', '' if spans == info['spans'] == report['written_events'] else f'{spans} of {info["spans"]}')
    run('convert', source, '-o', f'{folder}/x.json', '--force')
    names = collections.Counter(written['shared']['frames'][e['frame']]['name'] for p in written['profiles'] for e in p['events']
                                if e['type'] == 'O')
    expected = spans_of(f'{folder}/x.json')
    if sum(expected.values()) == info['spans']:  # all spans are complete events there
        judge(f'{trace}: names', '' if names == expected else str((names - expected) or (expected - names))[:200])
    lost = report['lost']
    for kind, key in (('instants', 'instants'), ('counter_samples', 'counter_samples'), ('flow_points', 'flow_points')):
        judge(f'{trace}: lost {kind}', '' if lost.get(kind, 0) == info[key] else f'{lost.get(kind, 0)} of {info[key]}')
    p = run('convert', source, '-o', f'{folder}/none.speedscope.json', '--no-loss')
    refused = p.returncode == 3 and not os.path.exists(f'{folder}/none.speedscope.json') and b'--no-loss' in p.stderr
    judge(f'{trace}: --no-loss', '' if refused or not lost else f'status {p.returncode}: {p.stderr.decode()}')


def crossing(folder):
    """Checks that spans which all cross get a profile each, in linear time and without loss."""
    seconds = []
    for n in (10000, 80000):
        source, out = f'{folder}/crossing.json', f'{folder}/crossing.speedscope.json'
        with open(source, 'w', encoding='utf-8') as f:
            json.dump([{'ph': 'X', 'pid': 1, 'tid': 1, 'ts': i, 'dur': n, 'name': 'a'} for i in range(n)], f)
        before = os.times()
        p = run('convert', '-q', source, '-o', out, '--force')
        after = os.times()
        seconds.append(after.children_user + after.children_system - before.children_user - before.children_system)
        with open(out, encoding='utf-8') as f:
            profiles = json.load(f)['profiles']
        fault = next((fault for fault in map(stack_fault, profiles) if fault), p.stderr.decode())
        judge(f'{n} crossing spans', fault or ('' if len(profiles) == n else f'{len(profiles)} profiles'))
    judge('their time', '' if seconds[1] < 20 * seconds[0] + 0.2 else f'{seconds} s')


def descending(folder):
    """Checks that values which descend within an evented profile are a repair, as speedscope refuses them, and that equal ones are not."""
    for unit in ('milliseconds', 'bytes'):
        for last, repaired in (('11524.4362', True), ('16047.9112', False), ('1604791.12e-2', False), ('16047.9112000001', False)):
            with open(f'{folder}/descending.speedscope.json', 'w', encoding='utf-8') as f:
                f.write('{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"A"},{"name":"B"}]},'
                        f'"profiles":[{{"type":"evented","name":"t","unit":"{unit}","startValue":0,"endValue":16047.9,"events":['
                        '{"type":"O","frame":0,"at":0},{"type":"O","frame":1,"at":16000.5},{"type":"C","frame":1,"at":16047.9112},'
                        f'{{"type":"C","frame":0,"at":{last}}}]}}]}}')
            p = run('check', f'{folder}/descending.speedscope.json')
            judge(f'{unit}: {last} after 16047.9112', '' if p.returncode == repaired else f'status {p.returncode}: {p.stdout + p.stderr}')


with tempfile.TemporaryDirectory() as folder:
    descending(folder)
    starts(folder)
    crossing(folder)
    for trace in TRACES:
        one(trace, folder)
sys.exit(finish())
