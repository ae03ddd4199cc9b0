#!/usr/bin/env python3
"""Checks that the parts of an XSpace that another format cannot represent are carried along in it and restored.

    file       XPlane -> F -> XPlane equals XPlane -> XPlane, byte for byte, for F = JSON and Perfetto: programs, bytes, the
               metadata each event refers to, types and refs of stats, ids and times of lines (through Perfetto rounded to
               the nanosecond)
    again      reading F and writing F again gives the same bytes
    json       JSON -> XPlane -> JSON is unchanged, even if the JSON was edited in between
    merge      ranks merged to F and then written as XPlane have the planes, programs and events of ranks merged to XPlane
    filter     the block contains nothing that was filtered out: no name, no program
    options    --no-passthrough removes the block, --no-provenance does not; speedscope cannot carry the block and counts it
    damage     an invalid or incomplete block costs no event and is reported
    unknown    unknown fields of lines and events are restored; unknown fields of stats are reported as dropped
    spaces     errors, warnings and hosts of every file of a merge

Arguments: files or directories to search (default: the fixtures)."""
import base64
import collections
import glob
import json
import os
import subprocess
import sys
import tempfile

TRACEKIT, SRC, FIXTURES = (os.environ[name] for name in ('TRACEKIT', 'SRC', 'FIXTURES'))
sys.path.insert(0, os.path.join(SRC, 'tests', 'support'))
from verdict import check, finish  # noqa: E402
from xspace import fields, message, number, plane_name  # noqa: E402

FORMATS = {'json': '.json', 'perfetto': '.pftrace'}
LOST = 'passthrough_blocks'


def run(*args, provenance=False):
    options = ['--force'] + ([] if provenance else ['--no-provenance'])
    return subprocess.run([TRACEKIT, *args, *options], stdin=subprocess.DEVNULL, capture_output=True, check=False)


def made(*args):
    """Runs a command and returns the bytes of its output, whose name is the last argument."""
    p = run(*args)
    check(' '.join(args), p.returncode == 0, p.stderr.decode('utf-8', 'replace'))
    return data(args[-1])


def data(path):
    with open(path, 'rb') as f:
        return f.read()


def loaded(path):
    with open(path, encoding='utf-8') as f:
        return json.load(f)


# ---- an XSpace ----

def of(message, number):
    return [value for n, value in fields(message) if n == number]


def planes(space):
    return [(plane_name(plane), plane) for plane in of(space, 1)]


def entries(plane, number):
    return {(of(entry, 1) or [0])[0]: (of(entry, 2) or [b''])[0] for entry in of(plane, number)}


def times_of(space):
    """Returns [(start, end)] of the events that are not counter samples, in order, and the space without the times."""
    times = []

    def line(message):
        if of(message, 2) == [b'_counters_']:
            return None  # each Perfetto sample belongs to a single series
        for event in of(message, 4):
            start = (of(event, 2) or [0])[0]
            times.append((start, start + (of(event, 3) or [0])[0]))
        return [(n, [f for f in fields(v) if f[0] not in (2, 3)] if n == 4 else v) for n, v in fields(message)]
    rest = [[(n, line(v) if n == 3 else v) for n, v in fields(v)] if n == 1 else v for n, v in fields(space)]
    return times, rest


def is_rounded(space, whole):
    """True if both spaces are equal, with timestamps equal within half a nanosecond."""
    times, rest = times_of(space)
    wanted, whole = times_of(whole)
    return rest == whole and all(abs(x - y) <= 500 for a, b in zip(times, wanted) for x, y in zip(a, b))


def facts(space):
    """Returns, for each plane, its event metadata without ids, its stats of type bytes, and its number of events."""
    found = []
    for name, plane in planes(space):
        if name.startswith('/tracekit:'):
            continue
        names = {k: (of(v, 2) or [b''])[0] for k, v in entries(plane, 5).items()}
        metadata = collections.Counter(bytes(b''.join(repr(f).encode() for f in fields(v) if f[0] != 1)) for v in entries(plane, 4).values())
        stats = sorted(repr((names.get((of(s, 1) or [0])[0]), of(s, 6))) for s in of(plane, 6) if of(s, 6))
        found.append((name, metadata, stats, sum(len(of(line, 4)) for line in of(plane, 3))))
    return sorted(found, key=repr)


def block(path):
    return base64.b64decode(loaded(path)['xplane'], validate=True)


# ---- the laws ----

def file_law(path, work):
    direct = made('convert', path, '-o', f'{work}/direct.xplane.pb')
    for name, ending in FORMATS.items():
        made('convert', path, '-o', f'{work}/first{ending}')
        # the first output may wrap lines differently
        second = made('convert', f'{work}/first{ending}', '-o', f'{work}/second{ending}')
        check(f'{path}: {name} again', made('convert', f'{work}/second{ending}', '-o', f'{work}/third{ending}') == second, 'differs')
        if name == 'json':
            check(f'{path}: block again', block(f'{work}/first.json') == block(f'{work}/second.json'), 'differs')
        back = made('convert', f'{work}/first{ending}', '-o', f'{work}/back.xplane.pb')
        same = back == direct if name == 'json' else is_rounded(back, direct)
        check(f'{path}: by way of {name}', same, f'{len(back)} bytes, not {len(direct)}')
    made('convert', f'{work}/first.json', '-o', f'{work}/both.pftrace')
    both = made('convert', f'{work}/both.pftrace', '-o', f'{work}/both.xplane.pb')
    check(f'{path}: by way of JSON and Perfetto', is_rounded(both, direct), 'differs')


def json_law(path, work):
    """Adds a process and a top-level key, renames a thread, changes a pid: an XSpace can represent all of these."""
    made('convert', path, '-o', f'{work}/plain.json')
    for what in ('plain', 'more', 'renamed', 'moved'):
        trace = loaded(f'{work}/plain.json')
        events = trace['traceEvents']
        if what == 'more':
            trace['ours'] = {'a': [1, None]}
            events.append({'ph': 'X', 'name': 'own', 'cat': 'c', 'pid': 4242, 'tid': 'main', 'ts': 5, 'dur': 1.5, 'args': {'x': 1.50, 'j': [1]}})
        if what == 'renamed':
            next(e for e in events if e.get('name') == 'thread_name')['args']['name'] = 'another'
        if what == 'moved':
            pid = events[-1]['pid']
            for e in events:
                e['pid'] = 99999 if e['pid'] == pid else e['pid']
        with open(f'{work}/{what}.edited.json', 'w', encoding='utf-8') as f:
            json.dump(trace, f)
        made('convert', f'{work}/{what}.edited.json', '-o', f'{work}/edited.json')
        made('convert', f'{work}/edited.json', '-o', f'{work}/edited.xplane.pb')
        made('convert', f'{work}/edited.xplane.pb', '-o', f'{work}/edited.back.json')
        a, b = loaded(f'{work}/edited.json'), loaded(f'{work}/edited.back.json')
        for trace in (a, b):
            trace.pop('xplane')
            trace['traceEvents'] = sorted(json.dumps(e, sort_keys=True) for e in trace['traceEvents'])
        missing = [k for k in a if a[k] != b.get(k)] + [k for k in b if k not in a]
        check(f'{path}: {what} JSON by way of XPlane', not missing, f'{missing} differ')
        before, after = facts(data(f'{work}/edited.xplane.pb')), facts(made('convert', path, '-o', f'{work}/direct.xplane.pb'))
        lost = [row for row in after if not any(row[0] == b[0] and not row[1] - b[1] and row[2:] == b[2:] for b in before)]
        check(f'{path}: {what} JSON as XPlane', what == 'more' and len(before) == len(after) + 1 and not lost or before == after, lost)


def merge_law(paths, work):
    for operation in (['merge'], ['merge', '--label', '{rank}: {process}'], ['merge', '--align', 'none']):
        direct = facts(made(*operation, *paths, '-o', f'{work}/merged.xplane.pb'))
        for name, ending in FORMATS.items():
            made(*operation, *paths, '-o', f'{work}/merged{ending}')
            made('rebase', '--shift', '3ms', f'{work}/merged{ending}', '-o', f'{work}/moved{ending}')
            for file in ('merged', 'moved'):
                back = facts(made('convert', f'{work}/{file}{ending}', '-o', f'{work}/back.xplane.pb'))
                check(f'{operation} to {name}, {file}', back == direct, [(a[0], a[3]) for a in back if a not in direct])
        alone = [f'{work}/{i}.json' for i, _ in enumerate(paths)]
        for path, out in zip(paths, alone):
            made('convert', path, '-o', out)
        made(*operation, *alone, '-o', f'{work}/of-json.json')
        names = [a[0] for a in facts(made('convert', f'{work}/of-json.json', '-o', f'{work}/back.xplane.pb'))]
        check(f'{operation} of JSON', len(names) == len(direct), names)


def filter_law(path, work):
    made('convert', path, '-o', f'{work}/plain.json')
    names = collections.Counter(e['name'] for e in loaded(f'{work}/plain.json')['traceEvents'] if e.get('ph', '-') in 'XC')
    keep = names.most_common()[-1][0]
    for source in (path, f'{work}/plain.json'):
        made('filter', '-e', f'name == {json.dumps(keep, ensure_ascii=False)}', source, '-o', f'{work}/kept.json')
        left = block(f'{work}/kept.json')
        found = [n for n in names if len(n) > 9 and n not in keep and keep not in n and n.encode() in left]
        check(f'{source}: names of what was filtered', not found, found[:3])
        kept = sum(e['name'] == keep for e in loaded(f'{work}/kept.json')['traceEvents'])
        back = facts(made('convert', f'{work}/kept.json', '-o', f'{work}/kept.xplane.pb'))
        check(f'{source}: events that were kept', sum(row[3] for row in back) == kept, (kept, [row[3] for row in back]))


def option_law(path, work):
    for name, ending in FORMATS.items():
        plain, bare = made('convert', path, '-o', f'{work}/a{ending}'), made('convert', '--no-passthrough', path, '-o', f'{work}/b{ending}')
        check(f'{path}: --no-passthrough to {name}', len(bare) < len(plain), len(bare))
        report = json.loads(run('convert', '--json', '--no-passthrough', path, '-o', f'{work}/b{ending}').stdout)
        check(f'{path}: --no-passthrough is asked for', LOST not in report['lost'], report['lost'])
    check(f'{path}: no block', 'xplane' not in loaded(f'{work}/b.json'))
    trace = loaded(f'{work}/a.json')
    check(f'{path}: behind the events', list(trace).index('xplane') > list(trace).index('traceEvents'))
    programs = sum(name == '/host:metadata' for name, _ in planes(data(path)))
    lost = json.loads(run('convert', '--json', path, '-f', 'speedscope', '-o', f'{work}/s').stdout)['lost']
    check(f'{path}: speedscope', (LOST in lost) >= bool(programs), lost)
    bare = made('convert', '--no-passthrough', path, '-o', f'{work}/bare.xplane.pb')
    check(f'{path}: no program', all(not entries(p, 4) for n, p in planes(bare) if n == '/host:metadata'))
    made('convert', '--no-passthrough', f'{work}/a.json', '-o', f'{work}/bare2.xplane.pb')


def damage_law(path, work):
    made('convert', path, '-o', f'{work}/a.json')
    trace = loaded(f'{work}/a.json')
    whole = base64.b64decode(trace['xplane'])
    events = len(trace['traceEvents'])
    texts = {'text': 'true', 'object': {'planes': []}, 'cut': base64.b64encode(whole[:len(whole) // 2]).decode(),
             'flipped': base64.b64encode(bytes([whole[0], 255, 255, 255]) + whole[4:]).decode(), 'empty': ''}
    for what, text in texts.items():
        trace['xplane'] = text
        with open(f'{work}/odd.json', 'w', encoding='utf-8') as f:
            json.dump(trace, f)
        p = subprocess.run([TRACEKIT, 'convert', '--force', f'{work}/odd.json', '-o', f'{work}/out.json'], capture_output=True, check=False)
        check(f'{path}: {what}: status', p.returncode == 0, p.stderr)
        check(f'{path}: {what}: said', (b'repair: unreadable embedded xplane' in p.stderr) == (what in ('cut', 'flipped')), p.stderr)
        out = loaded(f'{work}/out.json')
        check(f'{path}: {what}: events', len(out['traceEvents']) == events, len(out['traceEvents']))
        left = text if what not in ('cut', 'flipped') else None  # each loss is reported once
        check(f'{path}: {what}: stays if it is no block', out.get('xplane') == left, str(out.get('xplane'))[:50])
        made('convert', f'{work}/odd.json', '-o', f'{work}/out.xplane.pb')


def overruled_law(work):
    """Checks that metadata which an event's own stat overrides becomes a separate arg, and metadata again in an XSpace."""
    path = f'{FIXTURES}/xplane/synth/types.xplane.pb'
    made('convert', path, '-o', f'{work}/a.json')
    event = next(e for e in loaded(f'{work}/a.json')['traceEvents'] if e['name'] == 'disp name')
    wanted = {'long_name': 'meta', 'only': 7, 'k': 'event', 'xplane.metadata.k': 'metadata'}
    check('overruled in JSON', event['args'] == wanted, event['args'])
    made('convert', path, '-o', f'{work}/a.pftrace')
    made('convert', f'{work}/a.pftrace', '-o', f'{work}/b.json')
    event = next(e for e in loaded(f'{work}/b.json')['traceEvents'] if e['name'] == 'disp name')
    check('overruled in Perfetto', event['args'] == wanted, event['args'])
    made('convert', '--no-passthrough', path, '-o', f'{work}/bare.json')
    made('convert', f'{work}/bare.json', '-o', f'{work}/bare.xplane.pb')
    made('convert', f'{work}/bare.xplane.pb', '-o', f'{work}/bare.back.json')
    event = next(e for e in loaded(f'{work}/bare.back.json')['traceEvents'] if e['name'] == 'disp name')
    check('overruled, without its block', event['args'] == wanted, event['args'])
    metadata = [v for _, plane in planes(data(f'{work}/bare.xplane.pb')) for v in entries(plane, 4).values()]
    check('overruled, as metadata', any(b'disp name' in v and b'metadata' in v for v in metadata), metadata)


def changed(space, path, change):
    """Returns the message with `change` applied to the fields at `path`."""
    parts = ((n, changed(v, path[1:], change) if path[1:] and n == path[0] else change(v) if [n] == path else v) for n, v in fields(space))
    return b''.join(number(n, v) if isinstance(v, int) else message(n, v) for n, v in parts)


def unknown_law(work):
    space = message(1, message(2, b'/host:CPU') + message(3, number(1, 7) + message(2, b'line') + b''.join(
        message(4, number(1, i % 3 + 1) + number(2, 1000 * i) + number(3, 500) + message(4, number(1, 1) + number(3, i))) for i in range(9)
    )) + b''.join(message(4, number(1, i) + message(2, number(1, i) + message(2, b'name%d' % i))) for i in (1, 2, 3))
        + message(5, number(1, 1) + message(2, number(1, 1) + message(2, b'stat'))))
    space = changed(space, [1, 3], lambda line: line + message(20, b'of a line') + number(21, 5))
    space = changed(space, [1, 3, 4], lambda event: event + message(30, b'of an event') + (number(31, 6) if len(event) % 2 else b''))
    with open(f'{work}/a.xplane.pb', 'wb') as f:
        f.write(space)
    check('unknown fields of XPlane', made('convert', f'{work}/a.xplane.pb', '-o', f'{work}/b.xplane.pb') == space, 'differs')
    file_law(f'{work}/a.xplane.pb', work)
    made('filter', '-e', 'name == "name2"', f'{work}/a.xplane.pb', '-o', f'{work}/b.xplane.pb')
    left = data(f'{work}/b.xplane.pb')
    check('unknown fields of events that are kept', left.count(b'of an event') == 3 and b'of a line' not in left, left)
    with open(f'{work}/a.xplane.pb', 'wb') as f:
        f.write(changed(space, [1, 3, 4, 4], lambda stat: stat + number(40, 1)))
    said = run('convert', '-v', f'{work}/a.xplane.pb', '-o', f'{work}/b.xplane.pb').stderr
    check('unknown fields of stats', b'unknown fields of stats' in said and data(f'{work}/b.xplane.pb') == space, said)


def spaces_law(work):
    paths = sorted(glob.glob(f'{FIXTURES}/xplane/multihost/*.xplane.pb'))
    os.mkdir(f'{work}/hosts')
    for i, path in enumerate(paths):
        with open(f'{work}/hosts/{i}.xplane.pb', 'wb') as f:
            f.write(data(path) + message(2, b'error %d' % i) + message(3, b'warning %d' % i) + message(9, b'unknown %d' % i))
    made('merge', f'{work}/hosts', '-o', f'{work}/merged.xplane.pb')
    made('rebase', '--to-zero', f'{work}/hosts', '-o', f'{work}/joined.xplane.pb')
    for name in ('merged', 'joined'):
        space = data(f'{work}/{name}.xplane.pb')
        for number_, word in ((2, b'error'), (3, b'warning')):
            check(f'{name}: {word}', of(space, number_) == [b'%s %d' % (word, i) for i, _ in enumerate(paths)], of(space, number_))
        check(f'{name}: hosts', len(of(space, 4)) == len(paths), of(space, 4))
        check(f'{name}: unknown', not of(space, 9), of(space, 9))
    for args in (['merge'], ['rebase', '--to-zero']):
        lost = json.loads(run(*args, '--json', f'{work}/hosts', '-o', f'{work}/joined.xplane.pb').stdout)['lost']
        check(f'{args}: unknown are counted', lost.get(LOST) == len(paths), lost)


def main():
    roots = sys.argv[1:] or [f'{FIXTURES}/xplane']
    paths = sorted(p for r in roots for p in ([r] if os.path.isfile(r) else glob.glob(f'{glob.escape(r)}/**/*.xplane.pb', recursive=True)))
    with tempfile.TemporaryDirectory(prefix='tracekit-carried-') as work:
        for path in paths:
            if data(path).count(b'\xef\xbf\xbd') > 100:
                continue  # damaged by a text filter: not a trace
            for law in (file_law, json_law, filter_law, option_law, damage_law):
                law(path, work)
        merge_law(sorted(glob.glob(f'{FIXTURES}/xplane/multihost/*.xplane.pb')), work)
        merge_law([f'{FIXTURES}/json/torch/ddp2_plain/rank0.json.gz', f'{FIXTURES}/xplane/synth/tpu.xplane.pb'], work)
        overruled_law(work)
        unknown_law(work)
        spaces_law(work)
    return finish()


sys.exit(main())
