#!/usr/bin/env python3
"""Compares the XPlane reader with jaxlib's own output: every event of <host>.trace.json.gz is in our JSON with equal name,
process, thread, start and duration (to the printed picosecond) and args (converted to strings). Our extra events are counted
by plane and line.

jaxlib's writer omits some planes, `Async XLA Ops`, some stats and events beyond a million; it prints a duration of 0 as 1
ps, and counters as spans. XPlane files without such a file are compared with the output of xprof's trace_viewer, which adds
lines and args; these are set aside and counted. Arguments: directories to search (default: the fixtures)."""
import collections
import glob
import gzip
import json
import os
import subprocess
import sys
import tempfile
from decimal import Decimal

TRACEKIT = os.environ['TRACEKIT']
UNSEEN = {'_pt', '_p', '_ct', '_c', '_r', 'flops', 'program_id', 'symbol_id'}  # stats that jaxlib's writer omits

DERIVED = {'flow', 'group_id', 'step_name', 'step_num'}  # args that xprof derives
DERIVED_TIDS = range(0xDEADBEEF, 0xDEADBEEF + 16)  # lines that xprof derives: steps, modules, framework ops, source


def load(path):
    opener = gzip.open if path.endswith('.gz') else open
    with opener(path, 'rb') as f:
        return json.loads(f.read(), parse_float=Decimal)


def ps(us):
    """Converts us to ps: jaxlib prints doubles with 17 digits, so round to the nearest picosecond."""
    return int((Decimal(us) * 1000000).to_integral_value())


def as_text(value):
    """Returns an arg as jaxlib's writer converts it to a string; None if the string cannot be predicted."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, Decimal):
        return '%g' % float(value)
    if isinstance(value, str) and value.startswith('data:;base64,'):
        return '<opaque bytes>'
    if value in ('NaN', 'Infinity', '-Infinity'):
        return {'NaN': 'nan', 'Infinity': 'inf', '-Infinity': '-inf'}[value]
    return str(value)


def equal_arg(ours, theirs):
    if ours == theirs or as_text(ours) == theirs:
        return True
    try:
        return not isinstance(ours, str) and '%g' % float(ours) == theirs  # 1e10 is an int in Python, 1e+10 in jaxlib's output
    except (TypeError, ValueError, OverflowError):
        return False


def events(trace):
    names, lanes = {}, {}
    found = collections.defaultdict(list)
    for e in trace['traceEvents']:
        if e.get('ph') == 'M' and e['name'] in ('process_name', 'thread_name'):
            names[(e['pid'], e.get('tid') if e['name'] == 'thread_name' else None)] = e['args']['name']
            if 'tracekit.lane_of' in e['args']:  # a lane row of ours, for spans that overlap others of the thread
                lanes[(e['pid'], e['tid'])] = e['args']['tracekit.lane_of']
    for e in trace['traceEvents']:
        if e.get('ph', '-') in ('X', 'C'):
            process = (e['pid'], names.get((e['pid'], None)))
            tid = lanes.get((e['pid'], e.get('tid')), e.get('tid'))
            thread = (tid, names.get((e['pid'], tid))) if e.get('ph', '-') == 'X' else None
            found[(process, e['name'], ps(e['ts']))].append((thread, max(ps(e.get('dur', 0)), 1), e.get('args', {})))
    return found


def same(ours, theirs):
    thread, dur, args = ours
    their_thread, their_dur, their_args = theirs
    if thread is not None and (thread != their_thread or dur != their_dur):
        return False
    return all(k in args and equal_arg(args[k], v) for k, v in their_args.items())


def less_derived(found, known):
    """Returns the events that xprof did not derive, and the number of derived ones. xprof calls a step "train 7", the file
    "train"; it joins start and stop of a thread-pool region into one span; lines that the file has (`known`) are not
    derived."""
    left, derived = collections.defaultdict(list), 0
    for (process, name, ts), wanted in found.items():
        for thread, dur, args in wanted:
            if thread and (thread[0] in DERIVED_TIDS and (process, thread) not in known or name == 'ThreadpoolListener::Region'):
                derived += 1
                continue
            step = args.get('step_name') == name and 'step_num' in args
            own = name.removesuffix(' ' + args['step_num']) if step else name
            left[(process, own, ts)].append((thread, dur, {k: v for k, v in args.items() if k not in DERIVED}))
    return left, derived


def take(ours, theirs):
    for i, e in enumerate(ours):
        if same(e, theirs):
            return ours.pop(i)
    return None


def compare(xplane, golden, work, by_xprof=False):
    out = os.path.join(work, 'out.json')
    p = subprocess.run([TRACEKIT, 'convert', '--force', xplane, '-o', out], capture_output=True, text=True)
    if p.returncode != 0:
        return [f'status {p.returncode}: {p.stderr.strip()}'], 0, 0, {}
    ours, theirs = events(load(out)), events(load(golden))
    faults, n, more_args = [], 0, collections.Counter()
    if by_xprof:
        theirs, n_derived = less_derived(theirs, {(key[0], e[0]) for key, found in ours.items() for e in found})
    for key, wanted in theirs.items():
        for event in wanted:
            n += 1
            found = take(ours.get(key, []), event)
            if found is None:
                faults.append(f'not found: {key} {event}; there are {ours.get(key, [])[:3]}')
            else:
                more_args.update(set(found[2]) - set(event[2]) - UNSEEN - (DERIVED if by_xprof else set()))
    more = collections.Counter()
    for (process, _, _), left in ours.items():
        for thread, _, _ in left:
            more[(process[1], thread and thread[1])] += 1
    for key, count in more_args.items():
        if not key.startswith('xplane.'):  # stats overridden by a later stat of the same name, counts of aggregated events
            faults.append(f'arg {key} on {count} events that they do not have')
    if by_xprof:
        more['worked out by xprof', None] = -n_derived
    return faults, n, sum(c for c in more.values() if c > 0), more


def stays(path, work):
    """Checks that XPlane -> graph -> XPlane writes the same bytes; for XPlane made from Chrome JSON, the second round trip
    does."""
    once, twice = os.path.join(work, 'once.pb'), os.path.join(work, 'twice.pb')
    for source, out in ((path, once), (once, twice)):
        p = subprocess.run([TRACEKIT, 'convert', '--force', '--no-provenance', '-f', 'xplane', source, '-o', out], capture_output=True, text=True)
        if p.returncode != 0:
            return [f'{path}: status {p.returncode}: {p.stderr.strip()}']
    first, second = (open(f, 'rb').read() for f in (once, twice))
    if first != second:
        return [f'{path}: the second round differs: {len(first)} bytes, then {len(second)}']
    if path.endswith('.xplane.pb') and first != open(path, 'rb').read():
        return [f'{path}: written again, it differs']
    return []


def refused(path):
    """True if the file is damaged by a text filter that replaced bytes; the command must report this."""
    with open(path, 'rb') as f:
        if f.read(1 << 20).count(b'\xef\xbf\xbd') < 100:
            return False
    p = subprocess.run([TRACEKIT, 'info', path], capture_output=True, text=True)
    return p.returncode == 3 and 'damaged by a text filter' in p.stderr


def stem_of(path):
    return path[:-len('.xplane.pb')]


def by_xprof(root, xplane):
    """Returns the path of xprof's output for an XPlane file: <the file's path, / as __>.trace.json, or
    <logdir>.<run>.<host>.trace_viewer.json.gz, in any folder."""
    parts = os.path.relpath(stem_of(xplane), root).split(os.sep)
    names = ['__'.join(parts[i:]) + '.trace.json' for i in range(len(parts) - 1)]
    if parts[-4:-2] == ['plugins', 'profile'] and len(parts) > 4:
        names.append('.'.join([parts[-5], *parts[-2:]]) + '.trace_viewer.json.gz')
    return [f for name in names for f in sorted(glob.glob(os.path.join(root, '**', glob.escape(name)), recursive=True))][:1]


def pairs(roots):
    """Yields (XPlane, output of another program or None, True if that program is xprof)."""
    for root in roots:
        for xplane in sorted(glob.glob(os.path.join(root, '**', '*.xplane.pb'), recursive=True)):
            stem = stem_of(xplane)
            beside = [g for g in (stem + '.trace.json.gz', stem + '.jax.json') if os.path.exists(g)]
            theirs = beside or by_xprof(root, xplane)
            yield (xplane, theirs[0] if theirs else None, not beside)


def main():
    roots = sys.argv[1:] or [os.path.join(os.environ['FIXTURES'], 'xplane')]
    passed = failed = files = events = n_refused = 0
    with tempfile.TemporaryDirectory() as work:
        for xplane, golden, xprof in pairs(roots):
            if not golden and refused(xplane):
                print(f'{xplane}: damaged by a text filter, and named as such')
                n_refused += 1
                passed += 1
                continue
            faults, n, more, by_line = compare(xplane, golden, work, xprof) if golden else ([], 0, 0, collections.Counter())
            faults += stays(xplane, work)
            files += 1
            passed += not faults
            failed += bool(faults)
            events += n
            what = 'nobody else has read it' if not golden else f'{n} events equal to {"xprof" if xprof else "jaxlib"}\'s, {more} more'
            print(f'{xplane}: {what}' if not faults else f'FAILED {xplane}: {len(faults)} of {n}')
            for fault in faults[:5]:
                print('   ', fault[:600])
            for (plane, line), count in by_line.most_common(8):
                if count > 0:
                    print(f'    more: {count} on {plane} / {line}')
            derived = -by_line['worked out by xprof', None]
            if derived > 0:
                print(f'    set aside: {derived} that xprof worked out')
        for path in [] if sys.argv[1:] else sorted(glob.glob(os.path.join(os.environ['FIXTURES'], 'json', '*', '*', '*.json*'))):
            faults = stays(path, work)
            passed += not faults
            failed += bool(faults)
            print('\n'.join(faults), end='\n' if faults else '')
    print(f'XPlane: {files} files, {events} events of other programs found again, {n_refused} refused')
    print(f'{passed} passed, {failed + (passed == 0)} failed')
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main())
