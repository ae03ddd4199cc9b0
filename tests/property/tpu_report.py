#!/usr/bin/env python3
"""Checks reports about TPUs: overlapping operations of an asynchronous line each count with their full duration; the memory of
each device is compared with the limit of its allocator; the memory bandwidth is that of compute operations only; and each plane
has the steps of its own programs."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import check, finish  # noqa: E402
from xspace import message, number  # noqa: E402

TRACEKIT, FIXTURES = os.environ['TRACEKIT'], os.environ['FIXTURES']


def report(path, *options):
    p = subprocess.run([TRACEKIT, 'report', '--json', '-q', path, *options], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check('read', p.returncode == 0, p.stderr.decode()[:300])
    return json.loads(p.stdout or '{}')


def same(what, got, want):
    check(what, got == want, f'got  {got}\nwant {want}')


# ---- JSON ----

def named(pid, process, **threads):
    rows = [{'ph': 'M', 'name': 'process_name', 'pid': pid, 'args': {'name': process}}]
    return rows + [{'ph': 'M', 'name': 'thread_name', 'pid': pid, 'tid': int(tid[1:]), 'args': {'name': name}} for tid, name in threads.items()]


def span(name, pid, tid, ts, dur, **args):
    return {'ph': 'X', 'pid': pid, 'tid': tid, 'ts': ts, 'dur': dur, 'name': name, 'args': args}


def allocation(device, ts, allocated, available, name='MemoryAllocation', size=100):
    return span(name, 701, 1, ts, 0, index_on_host=device, bytes_reserved=50, bytes_allocated=allocated, bytes_available=available,
                fragmentation=0, peak_bytes_in_use=allocated, requested_bytes=size, allocation_bytes=size, addr=1000 + ts, id=0, data_type=0)


def shifted_steps(folder):
    """Two devices run steps of the same number at different times: a selected number selects one step of each. Devices whose steps have
    other numbers have the steps in its time."""
    for numbers, wants in (((20, 20), {'22': [[22], [22]], '21..22': [[21, 22], [21, 22]], '..21': [[20, 21], [20, 21]]}),
                           ((20, 90), {'22': [[22], [91, 92]]})):
        events = []
        for device, first in enumerate(numbers):
            events += named(3 + device, f'/device:TPU:{device}', t1='Steps', t3='XLA Ops')
            for i in range(4):
                at = 1000 * i + 300 * device
                events += [span(str(first + i), 3 + device, 1, at, 900 + 10 * device), span(f'fusion.{i % 3}', 3 + device, 3, at, 600)]
        path = f'{folder}/shifted.json'
        with open(path, 'w', encoding='utf-8') as f:
            json.dump({'traceEvents': events}, f)
        for steps, want in wants.items():
            rows = report(path, '--step', steps)['ranks']
            same(f'--step {steps}', [[s['number'] for s in r['steps']] for r in rows], want)
            if numbers[0] == numbers[1]:
                same(f'--step {steps}: lengths', [(r['step']['min_ns'], r['step']['max_ns']) for r in rows], [(900000, 900000), (910000, 910000)])
                same(f'--step {steps}: the time of the steps', [sum(s['split']['length_ns'] for s in r['steps']) for r in rows],
                     [900000 * len(want[0]), 910000 * len(want[1])])


def operations(folder):
    """Checks overlapping copies, nested operations, and the memory of two devices."""
    events = named(701, '/host:CPU', t1='main') + named(3, '/device:TPU:0', t3='XLA Ops', t4='Async XLA Ops')
    events += [span('while', 3, 3, 0, 1000), span('fusion.1', 3, 3, 100, 300, bytes_accessed=3000), span('fusion.2', 3, 3, 500, 100, bytes_accessed=1000)]
    events += [span('async-copy', 3, 4, 0, 800, bytes_accessed=10**9), span('async-copy', 3, 4, 100, 400), span('async-copy', 3, 4, 200, 900)]
    events += [allocation(0, 1, 100, 850), allocation(1, 2, 500, 450), allocation(0, 3, 700, 250),
               allocation(0, 4, 600, 350, 'MemoryDeallocation'), allocation(1, 5, 400, 550, 'MemoryDeallocation')]
    path = f'{folder}/tpu.json'
    with open(path, 'w', encoding='utf-8') as f:
        json.dump({'traceEvents': events}, f)
    got = report(path)
    rows = {k['name']: (k['count'], k['total_ns']) for k in got['kernels']}
    same('copies count whole, an operation without those in it', rows,
         {'async-copy': (3, 2100000), 'while': (1, 600000), 'fusion.1': (1, 300000), 'fusion.2': (1, 100000)})
    same('shares, without copies for which operations wait', {k['name']: k.get('percent_of_sum') for k in got['kernels']},
         {'async-copy': None, 'while': 60, 'fusion.1': 30, 'fusion.2': 10})
    largest = next(f for f in got['key_figures'] if f['name'] == 'largest kernel or copy')
    same('the largest is one with a share', largest['value'], 60)
    with open(f'{folder}/async.json', 'w', encoding='utf-8') as f:
        json.dump({'traceEvents': named(3, '/device:TPU:0', t4='Async XLA Ops') + [span(name, 3, 4, 0, 9) for name in ('a', 'b', 'c')]}, f)
    largest = next(f for f in report(f'{folder}/async.json')['key_figures'] if f['name'] == 'largest kernel or copy')
    same('no share is known without operations', (largest['value'], largest['verdict']), (None, None))
    same('bytes of compute operations', round(got['ranks'][0]['memory_gb_per_s'], 6), round(4000 / 400e-6 / 1e9, 6))
    same('memory', sorted((m['allocator'], m['peak_allocated_bytes'], m['device_bytes'], m['peak_at_ns']) for m in got['memory']),
         [('TPU:0', 700, 1000, 3000), ('TPU:1', 500, 1000, 2000)])
    figure = next(f for f in got['key_figures'] if f['name'] == 'peak memory')
    same('key figure', figure['value'], 70)


def kinds(folder):
    """Checks that operations which move data count as copies on both lines of a TPU, and only there, unless they are collectives."""
    moves = ('copy-start.1', 'copy-done.1', 'slice-start', 'dynamic-update-slice-done.4', 'send', 'send-done.2', 'recv', 'recv-done', 'infeed', 'outfeed.3')
    others = ('fusion.1', 'slice.2', 'sender', 'copy.7', 'copy_fusion', 'dynamic-slice.1')
    collectives = ('all-gather-start.1', 'all-reduce', 'collective-permute-done.2')
    events = named(701, '/host:CPU', t1='main') + named(3, '/device:TPU:0', t3='XLA Ops', t4='Async XLA Ops')
    events += [span(name, pid, tid, 10 * i, 5) for pid, tid in ((701, 1), (3, 3), (3, 4)) for i, name in enumerate((*moves, *others, *collectives, 'async-copy'))]
    events += [span(name, 701, 1, 1000 + 10 * i, 5) for i, name in enumerate(('MemcpyH2D', 'DevicePut'))]
    path = f'{folder}/kinds.json'
    with open(path, 'w', encoding='utf-8') as f:
        json.dump({'traceEvents': events}, f)

    def of(kind, line):
        p = subprocess.run([TRACEKIT, 'dump', '-q', '--jsonl', '--allow-empty', '--kind', kind, path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True)
        return {e['name'] for e in map(json.loads, p.stdout.decode().splitlines()) if e['thread'].startswith(line)}
    for kind in ('memcpy', 'transfer'):
        same(f'{kind} on XLA Ops', of(kind, 'XLA Ops'), {*moves, 'async-copy'})
        same(f'{kind} on Async XLA Ops', of(kind, 'Async XLA Ops'), {*moves, *others, 'async-copy'})
    same('kernels on XLA Ops', of('kernel', 'XLA Ops'), {*others, *collectives})
    same('kernels on Async XLA Ops', of('kernel', 'Async XLA Ops'), set(collectives))
    same('collectives', of('collective', 'Async XLA Ops'), set(collectives))
    same('operations', of('op', 'XLA Ops'), {*moves, *others, *collectives, 'async-copy'})
    same('transfers of the host, without calls that start copies', of('transfer', 'main') & {'MemcpyH2D', 'DevicePut'}, {'DevicePut'})
    same('spans of the host', of('memcpy', 'main') | of('kernel', 'main'), set())


def hostile(folder):
    path = f'{folder}/index.json'
    events = named(3, '/device:TPU:0', t3='XLA Ops') + [span('fusion', 3, 3, 0, 10)]
    with open(path, 'w', encoding='utf-8') as f:
        json.dump({'traceEvents': events + [allocation(1e300, 1, 1, 1), allocation(-5, 2, 1, 1), allocation(0, 3, 1, -1)]}, f)
    same('impossible devices and amounts', [m['allocator'] for m in report(path)['memory']], ['TPU:0'])
    figure = next(f for f in report(f'{FIXTURES}/xplane/synth/tpu.xplane.pb')['key_figures'] if f['name'] == 'memory bandwidth')
    same('a bandwidth above the peak', (figure['value'], figure['verdict']), (None, None))


# ---- XPlane ----

def plane(i, modules):
    """Returns a plane of a TPU. Its program has an additional stat, so that it differs from the program of this name in other
    planes."""
    stat = message(5, number(1, 1) + message(2, number(1, 1) + message(2, b'program_id')))
    program = message(4, number(1, 1) + message(2, number(1, 1) + message(2, b'jit_f(17)') + message(5, number(1, 1) + number(3, i))))
    events = b''.join(message(4, number(1, 1) + number(2, ps) + number(3, 1000000)) for ps in modules)
    line = message(3, number(1, 2) + message(2, b'XLA Modules') + number(3, 1000) + events)
    work = message(4, number(1, 2) + message(2, number(1, 2) + message(2, b'fusion')))
    ops = b''.join(message(4, number(1, 2) + number(2, ps + 1000) + number(3, 900000)) for ps in modules)
    return message(1, number(1, i + 1) + message(2, f'/device:TPU:{i}'.encode()) + line +
                   message(3, number(1, 3) + message(2, b'XLA Ops') + number(3, 1000) + ops) + program + work + stat)


def planes(folder):
    path = f'{folder}/tpu.xplane.pb'
    with open(path, 'wb') as f:
        f.write(b''.join(plane(i, [2000000 * k for k in range(n)]) for i, n in enumerate((4, 5, 3))))
    got = report(path)
    same('each plane has its steps', [(r['device'], len(r['steps'])) for r in got['ranks']], [('TPU:0', 4), ('TPU:1', 5), ('TPU:2', 3)])
    same('and their name', got['step_name'].startswith('jit_f('), True)
    same('no work is outside of them', [r['split']['length_ns'] > 0 and r['steps'][0]['split']['compute_ns'] for r in got['ranks']], [900] * 3)


def main():
    with tempfile.TemporaryDirectory() as folder:
        operations(folder)
        shifted_steps(folder)
        kinds(folder)
        hostile(folder)
        planes(folder)
    return finish()


if __name__ == '__main__':
    sys.exit(main())
