#!/usr/bin/env python3
"""Checks folded stacks that `convert` writes: the weights by stack equal those that Python adds up from the input; a file of folded stacks is
written back byte by byte; samples of other types and everything else that a line cannot hold are counted; spans become their self times."""
import collections
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import check, finish, judge  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']
folder = tempfile.mkdtemp()
PARTS = 'stack_sample_parts'


def put(name, content):
    path = f'{folder}/{name}'
    with open(path, 'w', encoding='utf-8') as f:
        f.write(content if isinstance(content, str) else json.dumps(content))
    return path


def convert(path, ending='folded'):
    """Returns the text of the output and the counts of losses."""
    out = f'{folder}/out.{ending}'
    p = subprocess.run([TRACEKIT, 'convert', path, '-o', out, '--force', '--json'], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE)
    if p.returncode:
        judge(path, f'status {p.returncode}: {p.stderr.decode()[:300]}')
        return '', {}
    return open(out, encoding='utf-8').read(), json.loads(p.stdout)['lost']


def sums(text):
    found = collections.Counter()
    for line in text.splitlines():
        stack, weight = line.rsplit(' ', 1)
        found[stack] += float(weight)
    return found


# folded stacks are written as they were read
TEXT = 'main;load;parse (data.py:12) 41\nmain;a b;operator() 1.5\nmain;load;parse (data.py:12) 2\n[unknown];x 0\nC#;#name 9007199254740993\n'
text, lost = convert(put('same.folded', TEXT))
check('folded stacks are written back', text == TEXT and not lost, (text, lost))
text, _ = convert(put('same.txt', TEXT), 'collapsed')
check('the extension of async-profiler', text == TEXT, text)

# perf script: as stackcollapse-perf.pl, which puts the command first and turns semicolons into colons
STACKS = [('work', ('main', 'std::map<int; int>::find', 'hot loop'), 250000), ('work', ('main', 'cold'), 250000), ('work', ('main', 'cold'), 750000),
          ('other', ('main',), 250000)]
perf = ''
for i, (comm, frames, period) in enumerate(STACKS):
    perf += f'{comm} {100 + len(comm)} {10 + i}.000100: {period} cycles: \n'
    perf += ''.join(f'\t    55{j:02x} {f} (/bin/{comm})\n' for j, f in enumerate(reversed(frames))) + '\n'
want = collections.Counter()
for comm, frames, period in STACKS:
    want[';'.join((comm, *(f.replace(';', ':') for f in frames)))] += period
text, lost = convert(put('x.perf', perf))
check('perf: weights by stack', sums(text) == want, (text, want))
check('perf: losses', lost.get(PARTS) == len(STACKS) and lost.get('stack_samples', 0) == 0, lost)

# speedscope: samples in another unit than the first are lost
profile = lambda unit, weights: {'type': 'sampled', 'name': unit, 'unit': unit, 'startValue': 0, 'endValue': sum(weights), 'samples': [[0], [0, 1], [1]],
                                 'weights': weights}  # noqa: E731
text, lost = convert(put('x.speedscope.json', {'$schema': 'https://www.speedscope.app/file-format-schema.json', 'shared': {'frames': [{'name': 'a'}, {'name': 'b\nc'}]},
                                               'profiles': [profile('bytes', [1, 2, 3]), profile('none', [4, 5, 6])]}))
weights = [line.rsplit(' ', 1)[1] for line in text.splitlines()]
check('speedscope: the first unit', weights == ['1', '2', '3'], text)
check('speedscope: a line break in a name', 'b c 3' in text, text)
check('speedscope: losses', lost.get('stack_samples') == 3, lost)

# spans: self times in nanoseconds
x = lambda name, ts, dur: {'ph': 'X', 'name': name, 'ts': ts, 'dur': dur, 'pid': 1, 'tid': 2}  # noqa: E731
text, lost = convert(put('x.json', {'traceEvents': [x('a', 0, 10), x('b;c', 1, 4), x('d', 2, 1), x('e', 7, 2), {'ph': 'i', 'name': 'n', 'ts': 3, 'pid': 1, 'tid': 2, 's': 't'}]}))
check('spans: self times', sums(text) == {f'thread 2;{stack}': ns for stack, ns in (('a', 4000), ('a;b:c', 3000), ('a;b:c;d', 1000), ('a;e', 2000))}, text)
check('spans: losses', lost.get('instants') == 1 and lost.get(PARTS) == 4, lost)
text, _ = convert(put('flat.json', {'traceEvents': [x('a', 0, 10), x('b', 20, 5)]}))
again, lost = convert(put('flat.folded', text))
check('spans without children: the file is recognised', again == text and not lost, (text, again))
text, _ = convert(put('none.json', {'traceEvents': []}))
check('a trace without events', text == '# no samples\n', text)
sys.exit(finish())
