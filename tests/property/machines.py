#!/usr/bin/env python3
"""Machines of a Perfetto trace: times of all are of one clock, equal pids stay apart, ids come back into Perfetto, also through a filter;
each rank of a merge is a machine of its own.  Damage of what says how far their clocks are apart harms nothing."""
import json
import os
import random
import subprocess
import sys
import tempfile

TRACEKIT, SRC, FIXTURES = (os.environ[name] for name in ('TRACEKIT', 'SRC', 'FIXTURES'))
sys.path.insert(0, os.path.join(SRC, 'tests', 'support'))
import machines  # noqa: E402
from verdict import check, finish  # noqa: E402


def run(*args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, capture_output=True)
    check(' '.join(args), p.returncode == 0, p.stderr.decode('utf-8', 'replace'))
    return p.stdout


def save(path, data):
    with open(path, 'wb') as f:
        f.write(data)
    return path


def packets(path):
    with open(path, 'rb') as f:
        return [dict(machines.fields(packet)) for _, packet in machines.fields(f.read())]


def spans(path):
    """{name: (pid, ns)} as JSON has them."""
    trace = json.loads(run('convert', '-q', path, '-f', 'json', '-o', '-'))
    base = trace['baseTimeNanoseconds'] - machines.REAL_NS
    return {e['name']: (e['pid'], base + round(e['ts'] * 1000)) for e in trace['traceEvents'] if e['ph'] in 'BX'}


def process_ids(path):
    """{(machine, name): pid} of the descriptors."""
    found = {}
    for p in packets(path):
        process = dict(machines.fields(dict(machines.fields(p.get(60, b''))).get(3, b'')))
        if process:
            found[p.get(98, 0), process[6].decode()] = process[1]
    return found


def count(path):
    return json.loads(run('info', '-q', '--json', path))['traces'][0]['machines']


def whole(source, work):
    again, less = (os.path.join(work, name) for name in ('again.pftrace', 'less.pftrace'))
    found = spans(source)
    for name, (_, ns) in machines.CASES.items():
        check(name, found[name][1] == ns, f'{found[name][1]}, not {ns}')
    pids = {machine: {found[name][0] for name, (of, _) in machines.CASES.items() if of == machine} for machine in (0, 7, machines.OTHER)}
    check('pids', all(len(p) == 1 for p in pids.values()) and len(set.union(*pids.values())) == 3, pids)
    check('machines', count(source) == 2, count(source))  # besides the one that is nameless

    want = {(machine, f'process of {name}'): 10 for machine, name in ((0, 'host'), (7, 'guest'), (machines.OTHER, 'other'))}
    run('convert', '-q', source, '-o', again)
    check('ids in Perfetto', process_ids(again) == want, process_ids(again))
    check('times in Perfetto', spans(again) == found, spans(again))
    run('filter', '-q', '--name', 'own*', source, '-o', less)
    check('ids after a filter', set(process_ids(less).values()) == {10} and (7, 'process of guest') in process_ids(less), process_ids(less))
    own = {name: at for name, at in found.items() if name.startswith('own')}
    check('times after a filter', {name: ns for name, (_, ns) in spans(less).items()} == {name: ns for name, (_, ns) in own.items()},
          spans(less))


def merged(source, work):
    out, again = (os.path.join(work, name) for name in ('merged.pftrace', 'merged_again.pftrace'))
    run('merge', '-q', '--align=none', source, source, f'{FIXTURES}/perfetto/small.pftrace.gz', '-o', out)
    found = {}
    for machine, name in process_ids(out):
        found.setdefault(machine, set()).add(name.split(' - ')[0])
    check('machines of a merge', sorted(found) == list(range(7)) and all(len(ranks) == 1 for ranks in found.values()), found)
    check('their number', count(out) == 7, count(out))
    run('convert', '-q', out, '-o', again)
    check('a merge again', process_ids(again) == process_ids(out), process_ids(again))


def damaged(source, work):
    random.seed(5)
    raw = machines.trace()
    at = raw.index(machines.varint(107 << 3 | 2))
    for i in range(200):
        bad = bytearray(raw)
        for _ in range(random.randint(1, 4)):
            bad[random.randrange(at, at + 90)] = random.choice((0, 1, 127, 128, 255, random.randrange(256)))
        run('convert', '-q', '--force', save(source, bytes(bad)), '-o', os.path.join(work, f'damaged.{("json", "pftrace")[i % 2]}'))


def main():
    with tempfile.TemporaryDirectory() as work:
        source = save(os.path.join(work, 'machines.pftrace'), machines.trace())
        whole(source, work)
        merged(source, work)
        damaged(source, work)
    return finish()


if __name__ == '__main__':
    sys.exit(main())
