#!/usr/bin/env python3
"""Checks that every chain of formats (the input, one format, another, then JSON) keeps every event: name, category, time to the
ns, track, args, flow points, counters of several series. If not, the reports along the chain must name the losses, and their
counts must add up.

    chains.py [FOLDER]     checks all traces below FOLDER (default: the fixtures)

Compares counts for traces up to MOST bytes of JSON, and single events up to MOST_VALUES. Both sides of a comparison are JSON
from our own writer, so that repairs by the reader are not tested here. As a self-test, one event of every trace is removed
on one side, and the comparison must find it."""
import collections
import fnmatch
import json
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from counted import info, run, sums_fault  # noqa: E402
from perfetto import differences, events, load, ns  # noqa: E402
from verdict import finish, judge  # noqa: E402

FORMATS = {'json': 'json', 'perfetto': 'pftrace', 'xplane': 'xplane.pb'}
ENDINGS = ('.json', '.json.gz', '.pb', '.pb.gz', '.pftrace', '.pftrace.gz', '.perfetto-trace', '.trace')
LONG = bool(os.environ.get('LONG')) or len(sys.argv) > 1
MOST, MOST_VALUES = (20_000_000, 3_000_000) if LONG else (4_000_000, 800_000)

# Known differences: glob of the path, format in the chain, text of the fault, reason.
KNOWN = (
    ('*/tpu.*json*', 'xplane', '', 'a thread called _counters_ is where xprof keeps samples, which XPlane reads as such'),
    ('*flow*', 'perfetto', 'flow_points', 'where an event ends a flow and starts another of its id Perfetto has one point, others two'),
    ('*flow*', 'perfetto', 'bind_id', 'ids that are used again: trace_processor shows the same arrows before and after'),
    ('*/flow_events_track_event*', 'perfetto', '"bp": "e", "id"', 'ids that are used again, as above'),
    ('*/track_event_tracks*', 'perfetto', 'process_name', 'a pid that two processes had in turn: JSON has one process of a pid'),
    ('*.gecko.json', 'perfetto', '"bp": "e", "id"', 'flows of Perfetto have ids of their own'),
    ('*/trainer.otlp*', 'perfetto', '"bp": "e", "id"', 'a link to a span of another file: Perfetto has no name for a flow with one end'),
    ('*/native_symbol_arg*', 'perfetto', 'perfetto.fields', 'it refers to what the packets hold that were lost, as was said'),
)

# Args that a format adds to events: XPlane stores a flow as a stat of the events that it connects.
BESIDE = {'xplane': ('flow',)}


def plain_events(trace, way=()):
    """Normalises events: ids that bind events are replaced by the first event that has the id; lane rows become their threads;
    an event without a name gets an empty name, because XPlane requires a name."""
    owners, groups = {}, collections.defaultdict(list)
    beside = {key for fmt in way for key in BESIDE.get(fmt, ())}
    kept = []
    for e in trace['traceEvents']:
        args = e.get('args')
        if e.get('ph', '-') == 'M' and args and 'tracekit.lane_of' in args:
            owners[e['pid'], e['tid']] = args['tracekit.lane_of']
    for e in trace['traceEvents']:
        args = e.get('args')
        if e.get('ph', '-') == 'M' and isinstance(e.get('tid'), str) and args == {'name': e['tid']}:
            continue  # a track identified only by its name
        if (e.get('pid'), e.get('tid')) in owners:
            if e.get('ph', '-') == 'M':
                continue
            e['tid'] = owners[e['pid'], e['tid']]
        e.setdefault('name', '')
        if 'bind_id' in e:
            groups[e['bind_id']].append((ns(e['ts']), repr(e.get('tid')), e.get('name')))
            if args and beside & args.keys():
                args = {k: v for k, v in args.items() if k not in beside}
                e['args'] = args
            if not args:
                e.pop('args', None)
        kept.append(e)
    for e in kept:
        if 'bind_id' in e:
            e['bind_id'] = repr(min(groups[e['bind_id']]))
    return events({'traceEvents': kept})


def convert(source, target, fmt):
    """Returns ({kind: count} of losses, ''), or (None, message) on failure."""
    p = run('convert', '-q', '--force', '--json', '--no-provenance', source, '-f', fmt, '-o', target)
    return (json.loads(p.stdout)['lost'], '') if p.returncode == 0 else (None, f'{source} -> {fmt}: {p.stderr.decode()}')


def chain_fault(straight, source, way, base):
    """Returns the faults of the chain, relative to the trace converted directly to JSON."""
    lost, path = collections.Counter(), source
    for i, fmt in enumerate((*way, 'json')):
        target = f'{base}.{i}.{FORMATS[fmt]}'
        gone, message = convert(path, target, fmt)
        if path is not source:
            os.remove(path)
        if message:
            return [message]
        lost.update(gone)
        path = target
    fault = sums_fault(info(straight), info(path), lost, on_the_way=True)
    faults = [fault] if fault else []
    if not faults and os.path.getsize(straight) <= MOST_VALUES:
        faults = value_faults(plain_events(load(straight)), plain_events(load(path), way), lost)
    os.remove(path)
    return faults


def value_faults(wanted, found, lost):
    """Returns the differences, unless they are at most two per reported loss: a report states the kind of loss, not the event."""
    n = max(1, sum(lost.values()))
    faults = list(differences(wanted, found))
    if lost and len(faults) <= 2 * n:
        faults = []
    if wanted and not faults:
        wanted.pop(next(iter(wanted)))
        if not list(differences(wanted, found)):
            faults = ['an event too many is not found']
    return faults


def known(path, way, fault):
    return any(fnmatch.fnmatch(path, glob) and fmt in way and text in fault for glob, fmt, text, _ in KNOWN)


def check(source, work):
    """Returns [(chain, faults)], or None if the file is too large, or is not a trace with events."""
    base = os.path.join(work, source.replace('/', '_'))
    straight = base + '.straight.json'
    _, message = convert(source, straight, 'json')
    if message or os.path.getsize(straight) > MOST or not info(straight)['events']:
        return None
    verdicts = []
    for way in ((a, b) for a in FORMATS for b in FORMATS):
        faults = [f for f in chain_fault(straight, source, way, base) if not known(source, way, f)]
        verdicts.append((' -> '.join(way), faults))
    os.remove(straight)
    return verdicts


def main():
    top = sys.argv[1] if len(sys.argv) > 1 else os.environ['FIXTURES']
    traces = [os.path.join(d, n) for d, _, names in os.walk(top) for n in names if n.endswith(ENDINGS) and '/nasty' not in d]
    passed_over = 0
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(2) as pool:
        for path, verdicts in zip(sorted(traces), pool.map(lambda p: check(p, work), sorted(traces))):
            passed_over += verdicts is None
            for way, faults in verdicts or ():
                judge(f'{os.path.relpath(path, top)} -> {way}', '; '.join(f[:300] for f in faults[:3]))
    print(f'{len(traces) - passed_over} traces, {passed_over} are larger than {MOST} bytes as JSON, or hold no event')
    return finish()


if __name__ == '__main__':
    sys.exit(main())
