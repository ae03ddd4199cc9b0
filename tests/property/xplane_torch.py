#!/usr/bin/env python3
"""Checks PyTorch traces written as XPlane: the planes, lines and stats from which xprof builds its tables, compared with the
JSON, which must convert back unchanged. tests/interop/xplane.py runs xprof itself; this test reads the bytes with an
independent parser."""
import collections
import json
import os
import subprocess
import sys
import tempfile
from decimal import Decimal

TRACEKIT, GEN, SRC = (os.environ[name] for name in ('TRACEKIT', 'GEN', 'SRC'))
sys.path.insert(0, os.path.join(SRC, 'tests', 'support'))
from launches import launching_ops, ps  # noqa: E402
from verdict import check, finish  # noqa: E402
from xspace import planes  # noqa: E402

STEPS_LINE = 0xdeadbeef - (1 << 32)


def tracekit(*args):
    p = subprocess.run([TRACEKIT, *args], capture_output=True, stdin=subprocess.DEVNULL, check=False)
    check(' '.join(args), p.returncode == 0, p.stderr.decode())


def loaded(path):
    with open(path, encoding='utf-8') as f:
        return json.load(f, parse_float=Decimal)


def plain(number):
    return int(number) if number == int(number) else str(number.normalize())


def spans(trace, *cats):
    return [e for e in trace['traceEvents'] if e.get('ph', '-') == 'X' and e.get('cat') in cats]


def step_of(steps, ts):
    """Returns the number of the step that contains a time."""
    return next((number for number, start, end in steps if start <= ts < end), None)


def sums(rows):
    total = collections.Counter()
    for key, value in rows:
        total[key] += value
    return total


def devices(label, trace, space):
    steps = [(int(e['name'].split('#')[1]), ps(e['ts']), ps(e['ts']) + ps(e['dur'])) for e in spans(trace, 'user_annotation')
             if e['name'].startswith('ProfilerStep#')]
    ops, _ = launching_ops(trace['traceEvents'])
    gpus = [p for p in space if p['name'].startswith('/device:GPU:')]
    check(f'{label}: GPUs', len(gpus) == len({e['args']['device'] for e in spans(trace, 'kernel')}), [p['name'] for p in space])
    there = [e for p in gpus for line in p['lines'] if line['id'] != STEPS_LINE for e in line['events']]
    kernels = spans(trace, 'kernel')
    ours = sums((e['shown'], e['duration_ps']) for e in there if 'kernel_details' in e['stats'])
    check(f'{label}: time by kernel', ours == sums((e['name'], ps(e['dur'])) for e in kernels))
    work = spans(trace, 'kernel', 'gpu_memcpy', 'gpu_memset')
    ours = sums((e['stats'].get('tf_op'), e['duration_ps']) for e in there if 'correlation_id' in e['stats'])
    check(f'{label}: time by op', ours == sums((ops[e['args']['correlation']][0], ps(e['dur'])) for e in work))
    ours = collections.Counter(e['stats'].get('group_id') for e in there if 'correlation_id' in e['stats'])
    check(f'{label}: steps of what ran', ours == collections.Counter(step_of(steps, ops[e['args']['correlation']][1]) for e in work))
    details = collections.Counter(e['stats']['kernel_details'] for e in there if 'kernel_details' in e['stats'])
    one = kernels[0]['args']
    wanted = f'grid:{",".join(map(str, one["grid"]))} block:{",".join(map(str, one["block"]))}'
    check(f'{label}: details', any(wanted in text for text in details), list(details)[:3])
    copies = [e for e in there if 'memcpy_details' in e['stats']]
    check(f'{label}: copies', collections.Counter(e['stats']['memcpy_details'] for e in copies) ==
          collections.Counter(f'num_bytes:{e["args"]["bytes"]}' for e in spans(trace, 'gpu_memcpy')))
    check(f'{label}: names of copies', all(e['name'] == 'Memcpy' + e['shown'].split()[1] for e in copies), copies[:1])
    for p in gpus:
        lines = [line for line in p['lines'] if line['id'] == STEPS_LINE]
        check(f'{label}: line of steps', len(lines) == 1 and [(e['stats']['group_id'], e['duration_ps']) for e in lines[0]['events']] ==
              [(number, end - start) for number, start, end in steps])
        check(f'{label}: streams', all(line['name'].startswith('Stream #') for line in p['lines'] if line['id'] != STEPS_LINE))


def host(label, trace, space):
    hosts = [p for p in space if p['name'] == '/host:CPU']
    check(f'{label}: one host', len(hosts) == 1, [p['name'] for p in space])
    events = [e for line in hosts[0]['lines'] for e in line['events']]
    ours = collections.Counter(e['stats']['tf_op'] for e in events if 'tf_op' in e['stats'])
    check(f'{label}: ops', ours == collections.Counter(e['name'] for e in spans(trace, 'cpu_op')))
    memory = [e for e in trace['traceEvents'] if e['name'] == '[memory]']
    ours = [(e['name'], e['stats']['bytes_allocated'], e['stats']['allocation_bytes']) for e in events if 'allocator_name' in e['stats']]
    wanted = [('MemoryAllocation' if e['args']['Bytes'] >= 0 else 'MemoryDeallocation', e['args']['Total Allocated'],
               abs(e['args']['Bytes'])) for e in memory]
    check(f'{label}: allocations', sorted(ours) == sorted(wanted), (ours[:1], wanted[:1]))


def comes_back(label, path, xplane, work):
    back, again = os.path.join(work, 'back.json'), os.path.join(work, 'again.xplane.pb')
    tracekit('convert', '--force', xplane, '-o', back)
    tracekit('convert', '--force', '--no-provenance', xplane, '-o', again)
    was, now = (collections.Counter(json.dumps(e, sort_keys=True, default=plain) for e in loaded(p)['traceEvents']) for p in (path, back))
    check(f'{label}: the JSON comes back', was == now, (list((was - now))[:2], list((now - was))[:2]))


def look(label, options, work):
    path, xplane, pftrace = (os.path.join(work, name) for name in ('t.json', 't.xplane.pb', 't.pftrace'))
    with open(path, 'wb') as f:
        subprocess.run([GEN, 'kineto', '--spans', '3000', *options], stdout=f, check=True)
    tracekit('convert', '--force', path, '-o', xplane)
    trace = loaded(path)
    with open(xplane, 'rb') as f:
        space = planes(f.read())
    check(f'{label}: every plane names group_id', all('group_id' in p['stat_names'] for p in space if p['name'].startswith(('/host', '/device'))))
    devices(label, trace, space)
    host(label, trace, space)
    comes_back(label, path, xplane, work)
    tracekit('convert', '--force', path, '-o', pftrace)
    tracekit('convert', '--force', pftrace, '-o', xplane)
    with open(xplane, 'rb') as f:
        names = {p['name'] for p in planes(f.read())}
    check(f'{label}: the same planes by way of Perfetto', names >= {p['name'] for p in space if p['lines']}, names)


def several_ranks(work):
    """Checks that rows stay separate per rank in a merged file; otherwise xprof would take them for one program."""
    paths = []
    for rank in range(2):
        paths.append(os.path.join(work, f'rank{rank}.json'))
        with open(paths[-1], 'wb') as f:
            subprocess.run([GEN, 'kineto', '--ranks', '2', '--rank', str(rank), '--spans', '2000'], stdout=f, check=True)
    merged, folder = os.path.join(work, 'merged.xplane.pb'), os.path.join(work, 'tb')
    tracekit('merge', '--force', *paths, '-o', merged)
    with open(merged, 'rb') as f:
        names = [p['name'] for p in planes(f.read())]
    check('ranks in one file', not any(name.startswith(('/host:CPU', '/device:GPU')) for name in names), names)
    tracekit('merge', *paths, '-o', folder + '/')
    files = sorted(os.path.join(at, name) for at, _, names in os.walk(folder) for name in names)
    check('ranks in a folder', len(files) == 2, files)
    for path, xplane in zip(paths, files):
        with open(xplane, 'rb') as f:
            devices(os.path.basename(xplane), loaded(path), planes(f.read()))


def main():
    with tempfile.TemporaryDirectory() as work:
        look('plain', [], work)
        look('memory', ['--memory', '--seed', '5'], work)
        look('epoch', ['--no-base'], work)
        several_ranks(work)
    return finish()


if __name__ == '__main__':
    sys.exit(main())
