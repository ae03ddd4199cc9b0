#!/usr/bin/env python3
"""Checks profiles of pprof that `convert` writes, with a reader of the wire format in Python: stack samples keep their stacks, weights and
labels, one sample type for each category and unit; spans become samples of their self time; data that a profile
cannot represent is counted; several inputs give one profile; the profile is read back. `go tool pprof`, if installed, must print the
same sums."""
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import pprof  # noqa: E402
from verdict import check, finish, judge  # noqa: E402

TRACEKIT, FIXTURES = os.environ['TRACEKIT'], os.environ['FIXTURES']
UNITS = {'ns': 'nanoseconds', 'us': 'microseconds', 'ms': 'milliseconds', 's': 'seconds'}
folder = tempfile.mkdtemp()


def run(*args, code=(0,)):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode not in code:
        judge(' '.join(args), f'status {p.returncode}: {p.stderr.decode()[:300]}')
    return p.stdout.decode()


def convert(*inputs):
    """Returns the path of the profile and the counts of losses."""
    path = f'{folder}/out.pprof'
    several = ('merge', '--align', 'none') if len(inputs) > 1 else ('convert',)
    return path, json.loads(run(*several, *inputs, '-o', path, '--force', '--json', code=(0, 1)))['lost']


def decode(path):
    """Returns the types, and for each Sample (stack as [(name, module, file, line)], outermost first; values; labels)."""
    data = open(path, 'rb').read()
    top = list(pprof.fields(pprof.gzip.decompress(data) if data[:2] == b'\x1f\x8b' else data))
    text = [v.decode() for k, v in top if k == 6]
    row = {k: {dict(pprof.fields(v))[1]: dict(pprof.fields(v)) for n, v in top if n == k} for k in (3, 4, 5)}
    types = [tuple(text[dict(pprof.fields(v)).get(i, 0)] for i in (1, 2)) for k, v in top if k == 1]
    check(f'{path}: the first string is empty', text[0] == '')

    def frame(i):
        location = row[4][i]
        line = dict(pprof.fields(location[4]))
        function, mapping = row[5][line[1]], row[3].get(location.get(2, 0), {})
        return text[function.get(2, 0)], text[mapping.get(5, 0)], text[function.get(4, 0)], line.get(2, 0)

    samples = []
    for v in (v for k, v in top if k == 2):
        parts = list(pprof.fields(v))
        stack = [frame(n) for f, x in parts if f == 1 for n in pprof.numbers(x)][::-1]
        values = [pprof.signed(n) for f, x in parts if f == 2 for n in pprof.numbers(x)]
        labels = {}
        for label in (dict(pprof.fields(x)) for f, x in parts if f == 3):
            labels[text[label[1]]] = text[label[2]] if 2 in label else pprof.signed(label.get(3, 0))
        check(f'{path}: a value for each type', len(values) == len(types)) if len(values) != len(types) else None
        samples.append((stack, values, labels))
    return types, samples


def expected(path):
    """Returns the samples that SQL finds: (stack, weight, type)."""
    results = json.loads(run('sql', '-q', '--json', path, '-e', 'SELECT c.id, c.parent_id, f.name, m.name, y.source_file, y.line_number FROM '
                             'stack_profile_callsite c JOIN stack_profile_frame f ON f.id = c.frame_id JOIN stack_profile_mapping m ON m.id = f.mapping '
                             'JOIN stack_profile_symbol y USING (symbol_set_id) ORDER BY c.id', '-e', 'SELECT callsite_id, weight, category, unit FROM stack_sample'))
    stacks = {None: ()}
    for i, parent, *frame in results['results'][0]['rows']:
        stacks[i] = stacks[parent] + ((frame[0], frame[1], frame[2] or '', frame[3] or 0),)
    for site, weight, category, unit in results['results'][1]['rows']:
        yield stacks[site], weight, (category or 'samples', UNITS.get(unit, unit))


def of_samples(*inputs):
    out, lost = convert(*inputs)
    types, samples = decode(out)
    want = collections.Counter(s for path in inputs for s in expected(path))
    found = collections.Counter()
    for stack, values, _ in samples:
        weights = {t for _, _, t in want}  # other types have values that are no weights
        at = next((i for i, v in enumerate(values) if v and types[i] in weights), 0)
        found[tuple(stack), values[at], types[at]] += 1
    label = ' '.join(os.path.basename(i) for i in inputs)
    whole = {k: n for k, n in want.items() if k[1] == int(k[1])}
    check(f'{label}: samples', all(found[k] == n for k, n in whole.items() if k[1]) and found.total() == want.total(), f'{found.total()} of {want.total()}')
    again = json.loads(run('info', '-q', '--json', out))['traces'][0]
    check(f'{label}: read back', again['stack_samples'] == len(samples), again['stack_samples'])
    return out, types, samples, lost


def of_spans(path):
    """Checks that the self time by name equals the self time in `top`, where marks of a profiler have no self time."""
    out, lost = convert(path)
    types, samples = decode(out)
    own, total = collections.Counter(), collections.Counter()
    for stack, values, _ in samples:
        own[stack[-1][0]] += values[0]
        total[stack[-1][0]] += 1
    rows = {r['name'] or '': r for r in json.loads(run('top', '-q', '--json', '--top', '100000', path))['rows']}
    check(f'{path}: type', types == [('self', 'nanoseconds')], types)
    check(f'{path}: self times', all(abs(own[name] - rows[name]['self_ns']) <= total[name] or rows[name]['is_mark'] for name in own),
          [(n, own[n], rows[n]['self_ns']) for n in own if abs(own[n] - rows[n]['self_ns']) > total[n]][:3])
    check(f'{path}: spans', all(total[name] <= rows[name]['count'] for name in total) and total.total() > 0)
    check(f'{path}: times are lost', lost.get('stack_sample_parts') == len(samples), lost)


def made():
    with open(f'{folder}/t.json', 'w', encoding='utf-8') as f:
        json.dump({'traceEvents': [
            {'ph': 'M', 'name': 'thread_name', 'pid': 1, 'tid': 2, 'args': {'name': 'loop'}},
            {'ph': 'X', 'pid': 1, 'tid': 2, 'name': 'outer', 'ts': 10, 'dur': 100, 'cat': 'c', 'args': {'n': 7, 's': 'text', 'l': [1]}},
            {'ph': 'X', 'pid': 1, 'tid': 2, 'name': 'inner', 'ts': 20, 'dur': 30}, {'ph': 'X', 'pid': 1, 'tid': 2, 'name': 'inner', 'ts': 60, 'dur': 0.5},
            {'ph': 'i', 's': 't', 'pid': 1, 'tid': 2, 'name': 'mark', 'ts': 21}, {'ph': 'X', 'pid': 1, 'tid': 2, 'name': 'next', 'ts': 110, 'dur': 1}]}, f)
    out, lost = convert(f'{folder}/t.json')
    _, samples = decode(out)
    thread = {'pid': 1, 'tid': 2, 'thread': 'loop'}
    found = sorted((tuple(n for n, *_ in stack), values[0], sorted(labels.items())) for stack, values, labels in samples)
    check('spans with labels', found == sorted([(('outer',), 69500, sorted({**thread, 'n': 7, 's': 'text'}.items())), (('outer', 'inner'), 30000, sorted(thread.items())),
                                                (('outer', 'inner'), 500, sorted(thread.items())), (('next',), 1000, sorted(thread.items()))]), found)
    check('losses', lost.get('instants') == 1 and lost.get('args') == 1 and lost.get('categories') == 1, lost)
    with open(f'{folder}/half.folded', 'w', encoding='utf-8') as f:
        f.write('a;b 2.5\na 7\na;c 1e3\n')
    out, lost = convert(f'{folder}/half.folded')
    check('fractions are cut and counted', sorted(v for _, (v,), _ in decode(out)[1]) == [2, 7, 1000] and lost.get('stack_sample_parts') == 1, lost)
    run('filter', f'{folder}/t.json', '--name', 'none', '--allow-empty', '-o', f'{folder}/none.pprof')
    check('an empty profile is read', json.loads(run('info', '-q', '--json', f'{folder}/none.pprof'))['traces'][0]['format'] == 'pprof')


def by_way_of(own):
    """Checks that types and values survive a conversion to another format and back, also in a merge."""
    for ending in ('json', 'json.gz', 'pftrace'):
        for inputs, want in (([f'{folder}/go.pprof'], own), ([f'{folder}/go.pprof', f'{folder}/cc.pprof'], [*own, ('objects', 'count'), ('space', 'bytes')])):
            way = f'{folder}/way.{ending}'
            run(*(('merge', '--align', 'none') if len(inputs) > 1 else ('convert',)), *inputs, '-o', way, '--force', code=(0, 1))
            types, samples = decode(convert(way)[0])
            values = sorted(([x for x in v if x] for _, v, _ in samples), reverse=True)
            check(f'types by way of {ending}, {len(inputs)}', types == want and values == [[10, 1000, 5, 500], [3, 300]][:len(inputs)], (types, samples))


def several_types():
    """Checks that the values of all types of profiles stay values, also in a merge of profiles with different types."""
    go = pprof.Profile([('alloc_objects', 'count'), ('alloc_space', 'bytes'), ('inuse_objects', 'count'), ('inuse_space', 'bytes')], 'alloc_space')
    go.sample([go.location([('main', 'm.go', 3)])], [10, 1000, 5, 500], [('bytes', 64)])
    cc = pprof.Profile([('objects', 'count'), ('space', 'bytes')])
    cc.sample([cc.location([('main', 'm.cc', 7)])], [3, 300])
    for name, profile in (('go', go), ('cc', cc)):
        with open(f'{folder}/{name}.pprof', 'wb') as f:
            f.write(profile.make())
    own = [('alloc_objects', 'count'), ('alloc_space', 'bytes'), ('inuse_objects', 'count'), ('inuse_space', 'bytes')]
    out, lost = convert(f'{folder}/go.pprof')
    types, samples = decode(out)
    check('several types', (types, [(v, labels) for _, v, labels in samples]) == (own, [([10, 1000, 5, 500], {'bytes': 64})]) and not any(lost.values()), (types, samples, lost))
    check('several types: the default', [v for _, v in pprof.read(out)[0]] == [1000], pprof.read(out))
    out, lost = convert(f'{folder}/go.pprof', f'{folder}/cc.pprof')
    types, samples = decode(out)
    check('several types: a merge', types == [*own, ('objects', 'count'), ('space', 'bytes')] and
          sorted(v for _, v, _ in samples) == [[0, 0, 0, 0, 3, 300], [10, 1000, 5, 500, 0, 0]], (types, samples))
    by_way_of(own)
    notes = subprocess.run([TRACEKIT, 'top', out], capture_output=True, text=True, check=False).stderr
    check('several types: weights of 0', "1 of 2 samples have no value of the type 'alloc_space', which is the weight" in notes, notes)


def any_order():
    """Checks that fields may be in any order: Go begins a CPU profile with times, and a heap profile with the type of the period."""
    def encoded(fields):
        return b''.join(pprof.data(k, v) if isinstance(v, bytes) else pprof.number(k, v) for k, v in fields)

    def rows(path):
        return json.loads(run('top', '--json', path))['rows']

    data = open(f'{FIXTURES}/pprof/cpu.pprof', 'rb').read()
    top = list(pprof.fields(pprof.gzip.decompress(data) if data[:2] == b'\x1f\x8b' else data))
    want = rows(f'{FIXTURES}/pprof/cpu.pprof')
    for name, first in (('cpu', (9, 1, 10, 11, 12, 4, 5, 2, 3, 6)), ('heap', (11, 12, 9, 1, 2, 3, 4, 5, 6, 10)), ('back', (6, 5, 4, 3, 2, 1))):
        with open(f'{folder}/{name}.pprof', 'wb') as f:
            f.write(encoded(sorted(top, key=lambda kv: first.index(kv[0]) if kv[0] in first else len(first))))
        check(f'{name}: fields in another order', rows(f'{folder}/{name}.pprof') == want)
    with open(f'{folder}/wrong.pprof', 'wb') as f:
        f.write(encoded([(9, b'text')] + top))
    run('info', f'{folder}/wrong.pprof', code=(3,))


def with_go():
    go = shutil.which('go')
    if not go or subprocess.run([go, 'tool', 'pprof', '-help'], capture_output=True, stdin=subprocess.DEVNULL).returncode not in (0, 2):
        print('SKIPPED: go tool pprof is not here')
        return
    for path in (f'{FIXTURES}/folded/pyspy.folded', f'{FIXTURES}/cpuprofile/node.cpuprofile', f'{FIXTURES}/pprof/cpu.pprof', f'{FIXTURES}/perf_script/work.perf.txt'):
        out, types, samples, _ = of_samples(path)
        p = subprocess.run([go, 'tool', 'pprof', '-raw', out], capture_output=True, stdin=subprocess.DEVNULL, env={**os.environ, 'HOME': folder})
        text = p.stdout.decode()
        rows = re.findall(r'^ +(-?\d+(?: +-?\d+)*): ([\d ]*)$', text[text.find('Samples:'):text.find('Locations')], re.M)
        found = collections.Counter((tuple(map(int, values.split())), len(ids.split())) for values, ids in rows)
        # go joins samples of one stack and equal labels
        check(f'{path}: go tool pprof', p.returncode == 0 and sum(sum(v) * n for (v, _), n in found.items()) == sum(sum(v) for _, v, _ in samples),
              f'{p.returncode} {p.stderr[:200]}, {len(rows)} rows')
        head = text[text.find('Samples:\n') + 9:].split('\n')[0]
        check(f'{path}: types', [t.split('[')[0] for t in head.split()] == [f'{a}/{b}' for a, b in types], (head, types))


for name_ in ('folded/pyspy.folded', 'cpuprofile/node.cpuprofile', 'perf_script/work.perf.txt', 'speedscope/pyspy.speedscope.json'):
    of_samples(f'{FIXTURES}/{name_}')
_, types_, samples_, lost_ = of_samples(f'{FIXTURES}/perf_script/work.perf.txt')
check('perf: threads are labels', {labels['tid'] for _, _, labels in samples_} >= {13016, 13022, 13020})
check('perf: times are lost', lost_['stack_sample_parts'] == len(samples_) - 1, lost_)
of_samples(f'{FIXTURES}/folded/pyspy.folded', f'{FIXTURES}/speedscope/pyspy.speedscope.json')
for name_ in ('json/viz/viz_small.json', 'json/torch/ddp2_plain/rank0.json.gz', 'perfetto/small.pftrace.gz'):
    of_spans(f'{FIXTURES}/{name_}')
made()
several_types()
any_order()
with_go()
sys.exit(finish())
