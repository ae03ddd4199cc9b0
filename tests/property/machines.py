#!/usr/bin/env python3
"""Checks Perfetto traces of several machines: all timestamps are on one clock, equal pids stay distinct, machine ids are
restored in Perfetto output, also after a filter, and each rank of a merge becomes a machine. Whatever the ids, two machines
never become one. Damaged clock offsets between machines do no harm."""
import json
import os
import random
import resource
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
    """Returns {name: (pid, ns)} as in JSON."""
    trace = json.loads(run('convert', '-q', path, '-f', 'json', '-o', '-'))
    base = trace['baseTimeNanoseconds'] - machines.REAL_NS
    return {e['name']: (e['pid'], base + round(e['ts'] * 1000)) for e in trace['traceEvents'] if e.get('ph', '-') in 'BX'}


def process_ids(path):
    """Returns {(machine, name): pid} of the descriptors."""
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
    check('machines', count(source) == 3, count(source))

    want = {(machine, f'process of {name}'): 10 for machine, name in ((0, 'host'), (7, 'guest'), (machines.OTHER, 'other'))}
    run('convert', '-q', '--force', source, '-o', again)
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
    check('machines of a merge', len(found) == 7 and 0 in found and all(len(ranks) == 1 for ranks in found.values()), found)
    check('their number', count(out) == 7, count(out))
    run('convert', '-q', out, '-o', again)
    check('a merge again', process_ids(again) == process_ids(out), process_ids(again))


def other_ids(source, work):
    """Checks pairs of machine ids that code could confuse by shifting, truncating or adding ids; most differ in a single bit."""
    again = os.path.join(work, 'again.pftrace')
    for guest, other in ((machines.OTHER, 7), (7, 7 | 1 << 31), (7 | 1 << 31, 7), (1, 1 | 1 << 24), (1 | 1 << 30, 1), (0xffffffff, 1)):
        found = spans(save(source, machines.trace(guest, other)))
        wrong = {name: found[name][1] for name, (_, ns) in machines.CASES.items() if found[name][1] != ns}
        check(f'times of machines {guest} and {other}', not wrong, wrong)
        run('convert', '-q', '--force', source, '-o', again)
        want = {(machine, f'process of {name}'): 10 for machine, name in ((0, 'host'), (guest, 'guest'), (other, 'other'))}
        check(f'processes of machines {guest} and {other}', process_ids(again) == want, process_ids(again))
        check(f'times of machines {guest} and {other} in Perfetto', spans(again) == found, spans(again))


def tracks(path):
    """Returns [(machine, track, parent, events)], and the points of flows as {(machine, id): [True if the point ends the
    flow]}."""
    named, on, ends = {}, [], {}
    track = 0
    for p in packets(path):
        machine, d, e = (p.get(98, 0), dict(machines.fields(p.get(60, b''))), dict(machines.fields(p.get(11, b''))))
        if d:
            named[machine, d.get(1, 0)] = (d.get(2, b'process' if 3 in d else b'thread').decode(), d.get(5, 0))
        track = dict(machines.fields(dict(machines.fields(p.get(59, b''))).get(11, b''))).get(11, 0) if 59 in p else track
        if e and e.get(9) != 2:
            name, up = named[machine, e.get(11, track)]
            on.append((machine, name, named[machine, up][0] if up else None, e.get(30)))
        for field in (47, 48):
            if field in e:
                ends.setdefault((machine, e[field]), []).append(field == 48)
    return sorted(on, key=repr), ends


def without_process(source, work):
    again, more, out = (os.path.join(work, name) for name in ('again.pftrace', 'more.pftrace', 'out.json'))
    ids = (0, 3, 9)
    save(source, machines.outside(ids))
    run('convert', '-q', '--force', source, '-o', again)
    run('convert', '-q', '--force', again, '-o', more)
    want = sorted([row for m in ids for row in ((m, 'thread', 'process', None), (m, 'global', None, None),
                                                (m, f'nested of {m}', 'global', None), (m, 'counter', None, m))], key=repr)
    for path in (source, again, more):
        check(f'tracks of no process: {os.path.basename(path)}', tracks(path)[0] == want, tracks(path)[0])
        check('their processes', sorted(process_ids(path)) == [(m, f'process of of {m}') for m in ids], process_ids(path))
        run('check', '-q', path)
    run('convert', '-q', '--force', source, '-o', out)
    with open(out) as f:
        events = [e for e in json.load(f)['traceEvents'] if e.get('ph', '-') in 'BX']
    places = {(e.get('pid'), e['tid']) for e in events}
    check('tracks of no process in JSON', len(events) == len(places) == 9 and sum(pid is None for pid, _ in places) == 6, places)


def same_flow_ids(source, work):
    again, more, out = (os.path.join(work, name) for name in ('again.pftrace', 'more.pftrace', 'out.json'))
    ids = (0, 3, 3 | 1 << 31)
    save(source, machines.flows(ids))
    run('convert', '-q', '--force', source, '-o', again)
    run('convert', '-q', '--force', again, '-o', more)
    with open(again, 'rb') as f, open(more, 'rb') as g:
        check('flows again', f.read() == g.read(), 'other bytes the second time')
    run('convert', '-q', '--force', source, '-o', out)
    flows = {}
    with open(out) as f:
        for e in json.load(f)['traceEvents']:
            if 'bind_id' in e:
                flows.setdefault(e['bind_id'], []).append((e['ts'], e['name'], 'flow_in' in e))
    found = sorted([(name, is_in) for _, name, is_in in sorted(points)] for points in flows.values())
    want = sorted([(f'{m}/{i}', False), (f'{m}/{i + 1}', True)] for m in ids for i in (0, 2))
    check('flow ids of several machines and uses', found == want and 77 in flows, flows)
    ends = tracks(again)[1]
    check('those in Perfetto', len(ends) == 6 and len({i for _, i in ends}) == 6 and all(e == [False, True] for e in ends.values()), ends)


def same_names(source, work):
    again, more = (os.path.join(work, name) for name in ('again.pftrace', 'more.pftrace'))
    for name, ids in ((b'host-0', (3, 9, 12)), (b'machine 9', (3, 9))):
        save(source, machines.called_alike(ids, name))
        run('convert', '-q', '--force', source, '-o', again)
        run('convert', '-q', '--force', again, '-o', more)
        want = {(machine, f'process of {machine}'): 10 for machine in ids}
        check(f'machines called {name.decode()}', process_ids(again) == process_ids(more) == want, process_ids(again))


def begins(path):
    trace = json.loads(run('convert', '-q', path, '-f', 'json', '-o', '-'))
    return {e['name']: round(e['ts'] * 1000) for e in trace['traceEvents'] if e.get('ph', '-') in 'BX'}


def snapshots(source):
    found = begins(save(source, machines.placed_by_own_clock()))
    apart = {name: at - found['own'] for name, at in found.items()}
    check("a snapshot that a sequence's own clock places", apart == {'own': 0, 'by it': 100, 'of the trace': 1000}, apart)
    n, took = 100_000, []
    for places in (range(n), [n - 1 - i // 2 if i % 2 else i // 2 for i in range(n)]):  # in order; from both ends in turn
        save(source, machines.far_apart(places))
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        found = begins(source)
        took.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
        wrong = [i for i in range(n) if found[str(i)] - found['0'] != 1005 * i]
        check('times after many snapshots', not wrong, wrong[:5])
    check('times far apart', took[1] < 4 * took[0] + 0.5, f'{took[1]:.2f} s, in order {took[0]:.2f} s')


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
        other_ids(source, work)
        without_process(source, work)
        same_flow_ids(source, work)
        same_names(source, work)
        snapshots(source)
        damaged(source, work)
    return finish()


if __name__ == '__main__':
    sys.exit(main())
