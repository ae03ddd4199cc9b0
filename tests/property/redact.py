#!/usr/bin/env python3
"""Checks that redacted text is not in the output: no text of six bytes or more that occurred only in removed parts (args, their
keys, labels, records, top-level data, paths; with --names hash also names) is among the bytes of the output, for every fixture,
in all three formats, with redact and with --redact of convert, shrink and merge. The same search must find something in the
output of convert alone, which proves that it works. Times, durations and tracks must equal those of the source."""
import collections
import gzip
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import check, finish, judge  # noqa: E402

TRACEKIT, FIXTURES = os.environ['TRACEKIT'], os.environ['FIXTURES']
FORMATS = ('json', 'pftrace', 'xplane.pb')
LEAST = 6
# Strings that our writers add, whatever the input.
OURS = ('traceEvents', 'displayTimeUnit', 'baseTimeNanoseconds', 'schemaVersion', 'distributedInfo', 'world_size', 'tracekit redact',
        'tracekit convert', 'tracekit shrink', 'process_name', 'process_sort_index', 'thread_name', 'thread_sort_index', 'sort_index',
        'flow_in flow_out bind_id', '_counters_', 'metadata profile_start_time Task Environment xplane.num_occurrences correlation number',
        'version command ranks host pids input shift_ns events align rank', '/device:GPU')
KNOWN = re.compile(r'^(ProfilerStep#\d+|/host:CPU|/device:[GT]PU:\d+|Steps|XLA Modules|XLA Ops|Async XLA Ops|stream \d+|train|train \d+|'
                   r'python|PyTorch Profiler \(\d+\)|thread \d+)$')


def run(*args):
    return subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def content(path):
    """Returns the bytes of a file, unpacked and without pseudonyms of hosts, whose random digits may resemble a host's name."""
    with open(path, 'rb') as f:
        data = f.read()
    return re.sub(rb'host-[0-9a-f]{16}', b'', gzip.decompress(data) if data[:2] == b'\x1f\x8b' else data)


def texts(value):
    """Yields all strings in a JSON value, including keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for k, v in value.items():
            yield k
            yield from texts(v)
    elif isinstance(value, list):
        for v in value:
            yield from texts(v)


# Words of V8 profiles, the form in which stack samples are written to JSON.
PROFILE = {'Profile', 'ProfileChunk', 'data', 'cpuProfile', 'nodes', 'callFrame', 'functionName', 'url', 'scriptId', 'lineNumber', 'columnNumber',
           'id', 'parent', 'samples', 'timeDeltas', 'startTime', 'endTime', 'tracekit', 'unit', 'cat', 'weights', 'args', 'module', '(root)'}


def members(value, key):
    """Yields the texts of a key in a profile, such as the names of its functions."""
    if isinstance(value, dict):
        yield from (v for k, v in value.items() if k == key and isinstance(v, str))
        for v in value.values():
            yield from members(v, key)
    elif isinstance(value, list):
        for v in value:
            yield from members(v, key)


def sample_places(e, names_stay):
    """Does the same as places() for an event with stack samples."""
    names = {n for n in [e.get('name', ''), *members(e.get('args', {}), 'functionName')] if isinstance(n, str)}
    rest = set(texts(e.get('args', {}))) - PROFILE - set(members(e.get('args', {}), 'cat'))  # categories stay
    return (rest - names, names | PROFILE) if names_stay else ((rest | names) - PROFILE, PROFILE)


def places(trace, names_stay):
    """Returns the texts that redaction must remove, and the texts that it keeps."""
    gone, kept = set(), set(OURS)
    for key, value in trace.items():
        if key != 'traceEvents':
            gone.update(texts({key: value}))
    for e in trace['traceEvents']:
        if e.get('ph') == 'P':
            went, stayed = sample_places(e, names_stay)
            gone |= went
            kept |= stayed
            continue
        args = e.get('args', {})
        named = [e.get('name', '')]
        if e.get('ph', '-') == 'M':
            named = [args.get('name', '')] if e.get('name') in ('process_name', 'thread_name') else []
        if e.get('ph', '-') == 'C' and isinstance(args, dict):
            named += [k for k in args]
            args = {}
        (kept if e.get('ph', '-') not in 'OND(PvcR' else gone).update(n for n in named if isinstance(n, str) and (names_stay or KNOWN.match(n)))
        if not names_stay:
            gone.update(n for n in named if isinstance(n, str) and not KNOWN.match(n))
        kept.update(str(e.get(k, '')) for k in ('cat',))
        gone.update(texts(args if e.get('ph', '-') != 'M' or named == [] else {}))
    paths = {p for n in kept for p in re.findall(r'(?:/|~/)[\w.+@~-]+/[\w.+@~/-]+', n)}
    return gone | paths, kept, paths


def leaks(trace, data, names_stay):
    gone, kept, paths = places(trace, names_stay)
    for path in paths:
        kept = {n.replace(path, ' ') for n in kept}
    stays = '\n'.join(kept)
    return [s for s in gone if len(s) >= LEAST and not s.strip('0123456789.-+eEx ') == '' and s not in stays and s.encode() in data]


def shape(path):
    """Returns times, durations and tracks of spans."""
    p = run('convert', '-q', path, '-f', 'json', '--no-provenance', '-o', '-')
    spans = collections.Counter()
    for e in json.loads(p.stdout)['traceEvents']:
        if e.get('ph', '-') == 'X':
            spans[round(float(e['ts']) * 1000), round(float(e['dur']) * 1000)] += 1
    return spans


def one(source, folder):
    plain = f'{folder}/plain.json'
    if run('convert', '-q', source, '-f', 'json', '--no-provenance', '--no-passthrough', '-o', plain, '--force').returncode:
        return
    with open(plain, 'rb') as f:
        trace = json.loads(f.read())
    found = 0
    for ending in FORMATS:
        out = f'{folder}/out.{ending}'
        run('convert', '-q', source, '-o', out, '--force')
        found += len(leaks(trace, content(out), False))
        for how in ('keep', 'hash'):
            p = run('redact', source, '-o', out, '--force', '--names', how, '--json')
            what = f'{os.path.relpath(source, FIXTURES)} -> {ending}, names {how}'
            if p.returncode:
                judge(what, p.stderr.decode())
                continue
            leaked = leaks(trace, content(out), how == 'keep')
            judge(what, f'{len(leaked)} texts are left, such as {leaked[:3]}' if leaked else '')
        how = ('-q', source, '--force', '--no-provenance', '--names', 'hash', '--key-file', plain, '-o')
        run('convert', '--redact', *how, f'{folder}/one.{ending}')
        run('redact', *how, f'{folder}/two.{ending}')
        check(f'{what}: --redact of convert', content(f'{folder}/one.{ending}') == content(f'{folder}/two.{ending}'))
    any_args = any(len(s) >= LEAST for e in trace['traceEvents'] for s in set(texts(e.get('args', {}))) - PROFILE)
    check(f'{os.path.relpath(source, FIXTURES)}: the search finds what is there', found or not any_args)
    check(f'{os.path.relpath(source, FIXTURES)}: times stay', shape(out) == shape(plain) or ending != 'json')


def merged(folder):
    """Checks hosts, inputs, and the clock report of a merge."""
    secret = {'traceEvents': [
        {'ph': 'M', 'name': 'process_name', 'pid': 7, 'args': {'name': 'python on secrethost'}},
        {'ph': 'M', 'name': 'process_labels', 'pid': 7, 'args': {'labels': 'secretlabel'}},
        {'ph': 'X', 'name': '/home/secretuser/secretproject/train.py(3): step', 'pid': 7, 'tid': 1, 'ts': 1, 'dur': 5,
         'args': {'secretkey': 'secretvalue'}},
        {'ph': 'X', 'name': 'work of secretuser', 'pid': 7, 'tid': 'secretthread', 'ts': 2, 'dur': 1, 'cat': 'kernel'},
        {'ph': 'b', 'name': 'a', 'cat': 'c', 'id': 'secretid', 'pid': 7, 'tid': 1, 'ts': 3},
        {'ph': 'e', 'name': 'a', 'cat': 'c', 'id': 'secretid', 'pid': 7, 'tid': 1, 'ts': 4},
        {'ph': 'O', 'name': 'secretobject', 'id': 1, 'pid': 7, 'tid': 1, 'ts': 3, 'args': {'snapshot': {'secretsnap': 1}}}],
        'host_name': 'secrethost', 'secretmeta': {'x': 1}, 'distributedInfo': {'rank': 0, 'world_size': 2, 'backend': 'secretbackend'}}
    paths = []
    for rank in range(2):
        secret['distributedInfo']['rank'] = rank
        paths.append(f'{folder}/secretinput{rank}.json')
        with open(paths[-1], 'w', encoding='utf-8') as f:
            json.dump(secret, f)
    for ending in FORMATS:
        out = f'{folder}/merged.{ending}'
        for args in (('merge', *paths, '--redact'), ('shrink', paths[0], '--redact', '--lossless'), ('convert', paths[0], '--redact'),
                     ('redact', paths[0])):
            p = run(*args, '-o', out, '--force', '--json')
            data = content(out) if p.returncode == 0 else b''
            left = set(re.findall(rb'secret[a-z]*', data))
            judge(f'{args[0]} -> {ending}', p.stderr.decode() if p.returncode else f'{left} is left' if left else '')
            check(f'{args[0]} -> {ending}: the report counts what went', p.returncode == 0 and json.loads(p.stdout)['redacted']['args'] > 0)
        run('merge', *paths, '--redact', '-o', out, '--force')
        merged_once = run('redact', '-q', out, '-f', 'json', '-o', '-')
        left = merged_once.stdout
        check(f'merge -> {ending}: its ranks stay', b'"rank":1' in left and b'host-' in left, left[-300:])


def options(folder):
    path, map_file = f'{folder}/o.json', f'{folder}/map.tsv'
    with open(path, 'w', encoding='utf-8') as f:
        json.dump([{'ph': 'X', 'name': name, 'pid': 1, 'tid': 1, 'ts': i, 'dur': 1, 'args': {'size': 5, 'text': 'words'}}
                   for i, name in enumerate(('alpha', 'beta', 'alpha', 'ProfilerStep#3'))], f)
    with open(map_file, 'w', encoding='utf-8') as f:
        f.write('alpha\tomega\n\n')

    def names(*args):
        p = run('redact', '-q', path, '-f', 'json', '-o', '-', *args)
        events = [e for e in json.loads(p.stdout or b'{"traceEvents":[]}')['traceEvents'] if e.get('ph', '-') == 'X']
        return [e['name'] for e in events], [e.get('args') for e in events], p
    got, args, _ = names('--names', 'hash')
    check('a name has one hash', got[0] == got[2] != got[1] and got[3] == 'ProfilerStep#3' and got[0].startswith('name-'), got)
    check('no args', args == [None] * 4, args)
    check('another run has other hashes', names('--names', 'hash')[0][0] != got[0])
    key = ('--names', 'hash', '--key-file', map_file)
    check('a key gives the same hashes', names(*key)[0] == names(*key)[0] != got)
    got = names('--names', f'map={map_file}')[0]
    check('a map', got[0] == 'omega' and got[1].startswith('name-'), got)
    check('numbers', names('--keep-numbers')[1][0] == {'size': 5}, names('--keep-numbers')[1])
    check('args by glob', names('--keep-args', 't*')[1][0] == {'text': 'words'})
    check('a map without a tab', run('redact', path, '--names', f'map={path}', '-o', f'{folder}/x.json').returncode == 2)
    with open(f'{folder}/bytes.tsv', 'wb') as f:
        f.write(b'alpha\t\xff\n')
    check('a map that is no UTF-8', run('redact', path, '--names', f'map={folder}/bytes.tsv', '-o', f'{folder}/x.json').returncode == 2)
    check('a map that is not there', run('redact', path, '--names', 'map=/nowhere', '-o', f'{folder}/x.json').returncode == 3)
    check('--names without --redact', run('convert', path, '--names', 'hash', '-o', f'{folder}/x.json').returncode == 2)
    check('nothing was written', not os.path.exists(f'{folder}/x.json'))


def values(folder):
    """Checks ids of all forms and invalid values of known keys: spans stay paired, and no secret is left."""
    path, out = f'{folder}/source.json', f'{folder}/values.out.json'
    pair = [{'ph': ph, 'name': 'g', 'cat': 'c', 'ts': ts, 'pid': 1, 'tid': 1} for ph, ts in (('b', 3), ('e', 9))]
    ids = ({'id2': {'global': 'secret-a'}}, {'id2': {'local': 'secret-b'}}, {'id2': {'local': '0x7f', 'global': 'secret'}}, {'id': 'secret'},
           {'id': {'secret': 1}}, {'id2': {'secret': 'secret'}}, {'id': '10.20.30.40:5'}, {'id': 5, 'scope': 'secret'})
    for identity in ids:
        with open(path, 'w', encoding='utf-8') as f:
            json.dump([{**e, **identity} for e in pair], f)
        for ending in FORMATS:
            run('redact', path, '-o', f'{folder}/values.{ending}', '--force', '--no-provenance')
            run('convert', f'{folder}/values.{ending}', '-o', out, '--force')
            events = [e for e in json.loads(content(out))['traceEvents'] if e.get('ph', '-') in 'be']
            check(f'{identity} -> {ending}: the span is there', [e.get('ph', '-') for e in events] == ['b', 'e'], events)
            check(f'{identity} -> {ending}: no secret', b'secret' not in content(out) and b'30.40' not in content(out), events)
    trace = {'displayTimeUnit': 'secret', 'schemaVersion': 'secret', 'baseTimeNanoseconds': 'secret', 'traceEvents': [
        {'ph': 'i', 's': 'secret', 'name': 'a', 'ts': 4, 'pid': 1, 'tid': 1},
        {'ph': 'f', 'bp': 'secret', 'name': 'a', 'id': 1, 'ts': 4, 'pid': 1, 'tid': 1},
        {'ph': 'X', 'name': 'a', 'ts': 4, 'dur': 1, 'pid': 1, 'tid': 1, 'secret6': 5, 'cname': 'secret', 'tts': 7}]}
    with open(path, 'w', encoding='utf-8') as f:
        json.dump(trace, f)
    for how in ('keep', 'hash'):
        run('redact', path, '-o', out, '--force', '--names', how)
        check(f'names {how}: values of known keys are judged', b'secret' not in content(out) and b'"tts":7' in content(out), content(out))
    trace.update(displayTimeUnit='ns', schemaVersion=1, baseTimeNanoseconds=1700000000000000000)
    trace['traceEvents'][0]['s'] = 'g'
    with open(path, 'w', encoding='utf-8') as f:
        json.dump(trace, f)
    run('redact', path, '-o', out, '--force')
    check('known values stay', all(w in content(out) for w in (b'"ns"', b'"schemaVersion":1', b'1700000000000000000', b'"s":"g"')), content(out))


def seconds(folder, names):
    """Returns the CPU time to redact events with these names."""
    path = f'{folder}/names.json'
    with open(path, 'w', encoding='utf-8') as f:
        json.dump([{'ph': 'X', 'name': name, 'ts': i, 'dur': 1, 'pid': 1, 'tid': 1} for i, name in enumerate(names)], f)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run('redact', '-q', path, '-o', f'{folder}/names.pftrace', '--force')
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime


def users(folder):
    """Checks that the time does not grow with the product of the numbers of user names and event names."""
    ordinary = seconds(folder, [f'/data/u{i}/a/b.py' for i in range(12000)])
    many = min(seconds(folder, [f'/home/u{i}/a/b.py' for i in range(12000)]) for _ in range(2))
    check('12,000 users', many < 3 * ordinary + 0.1, f'{many:.2f} s, {ordinary:.2f} s without users')


def main():
    traces = [os.path.join(d, n) for d, _, names in os.walk(FIXTURES) for n in names if '/nasty' not in d and '/hostile' not in d]
    with tempfile.TemporaryDirectory() as folder:
        options(folder)
        values(folder)
        users(folder)
        merged(folder)
        for trace in sorted(t for t in traces if t.endswith(('.json', '.json.gz', '.pb', '.pftrace.gz'))):
            one(trace, folder)
    return finish()


sys.exit(main())
