#!/usr/bin/env python3
"""Checks traces of OpenTelemetry in JSON: spans, events, links, attributes and resources equal an independent reading; spans in lanes;
several documents in a file, both spellings of integers, links to other files, damage."""
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from fractions import Fraction

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import check, finish  # noqa: E402

TRACEKIT, FIXTURES = os.environ['TRACEKIT'], os.environ['FIXTURES']
FIXTURE = f'{FIXTURES}/otlp/trainer.otlp.json'
folder = tempfile.mkdtemp()


def run(*args):
    return subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def value(v):
    if 'intValue' in v:
        return int(v['intValue'])
    return next(iter(v.values()))


def attributes(x):
    return {a['key']: value(a['value']) for a in x.get('attributes', ())}


def documents(path):
    text, at, decoder = open(path, encoding='utf-8').read().strip(), 0, json.JSONDecoder()
    while at < len(text):
        doc, at = decoder.raw_decode(text, at)
        yield doc
        while at < len(text) and text[at].isspace():
            at += 1


def expected(path):
    spans, events, links, names = {}, [], [], set()
    for doc in documents(path):
        for resource in doc.get('batches') or doc.get('trace', doc)['resourceSpans']:
            names.add(attributes(resource['resource']).get('service.name'))
            for scope in resource['scopeSpans']:
                for s in scope['spans']:
                    start, end = int(s['startTimeUnixNano']), int(s['endTimeUnixNano'])
                    spans[s['spanId']] = (s['name'], start, end - start, s.get('parentSpanId'), s['traceId'], attributes(s))
                    events += [(e['name'], int(e['timeUnixNano']), s['spanId'], attributes(e)) for e in s.get('events', ())]
                    links += [(link['spanId'], s['spanId']) for link in s.get('links', ())]
    return spans, events, [k for k in links if k[0] in spans], names


def found(path):
    out = f'{folder}/x.json'
    p = run('convert', path, '-o', out, '--force')
    doc = json.load(open(out, encoding='utf-8'), parse_float=lambda s: s)
    base = doc.get('baseTimeNanoseconds', 0)
    ns = lambda ts: int(base + Fraction(ts) * 1000)
    spans, events, flows = {}, [], {}
    for e in doc['traceEvents']:
        args = dict(e.get('args', {}))
        if e['ph'] == 'X':
            own = {k: v for k, v in args.items() if k not in ('span_id', 'trace_id', 'parent_span_id', 'span_kind')}
            spans[args['span_id']] = (e['name'], ns(e['ts']), int(Fraction(e['dur']) * 1000), args.get('parent_span_id'),
                                      args.get('trace_id'), own)
        elif e['ph'] == 'i':
            events.append((e['name'], ns(e['ts']), args['span_id'], args))
        elif 'bind_id' in e or e['ph'] in 'sf':
            flows.setdefault(e.get('bind_id', e.get('id')), []).append(e)
    names = {e['args']['name'] for e in doc['traceEvents'] if e['ph'] == 'M' and e['name'] == 'process_name'}
    return spans, events, flows, names, p


def numbers(d):
    return {k: float(v) if isinstance(v, (int, float)) and not isinstance(v, bool) else float(v) if isinstance(v, str) and v.replace('.', '', 1).isdigit() else v
            for k, v in d.items()}


def equals(what, path):
    spans, events, links, names = expected(path)
    got, got_events, _, got_names, _ = found(path)
    check(f'{what}: ids', got.keys() == spans.keys(), f'{len(got)} of {len(spans)}')
    first, got_first = min(s[1] for s in spans.values()), min(s[1] for s in got.values())
    for i, (name, start, dur, parent, trace, args) in spans.items():
        g = got.get(i)
        if not g:
            continue
        check(f'{what}: span {i}', (g[0], g[1] - got_first, g[2], g[3], g[4]) == (name, start - first, dur, parent, trace), g)
        check(f'{what}: attributes of {i}', numbers(g[5]) == numbers(args), (g[5], args))
    mine = sorted((n, t - first, s) for n, t, s, _ in events)
    check(f'{what}: events', sorted((n, t - got_first, s) for n, t, s, _ in got_events) == mine, got_events[:2])
    points = sum(line.startswith('flow ') and '"link"' in line for line in run('dump', '--graph', path).stdout.decode().splitlines())
    check(f'{what}: links', points == 2 * len(links), points)
    check(f'{what}: names of services', got_names >= {n for n in names if n}, got_names)


# ---- lanes ----

def span(i, parent, start, end, **more):
    return {'traceId': 'aa', 'spanId': i, 'parentSpanId': parent, 'name': i, 'startTimeUnixNano': str(10**18 + start),
            **({'endTimeUnixNano': str(10**18 + end)} if end is not None else {}), **more}


def lanes_of(*services):
    """Writes services with their spans. Returns {span: (service, lane, depth)}, and the flows as {(parent, child)}."""
    path = f'{folder}/lanes.otlp.json'
    resources = [{'resource': {'attributes': [{'key': 'service.name', 'value': {'stringValue': f's{i}'}}]}, 'scopeSpans': [{'spans': spans}]}
                 for i, spans in enumerate(services)]
    with open(path, 'w', encoding='utf-8') as f:
        json.dump({'resourceSpans': resources}, f)
    places, flows, pid, tid = {}, {}, '', 0
    for line in run('dump', '--graph', path).stdout.decode().splitlines():
        words = line.split()
        if line.startswith('track process'):
            pid = line.split('"')[1]
        elif line.startswith('track thread'):
            tid = int(words[3].split('=')[1])
        elif len(words) > 1 and words[1] == 'span':
            places[line.split('"')[1]] = (pid, tid, int(words[0]))
        elif line.startswith('flow '):
            flows.setdefault(line.split(' id=')[1].split()[0], {})[words[1]] = line.split('"')[3]
    return places, {(f.get('start'), f.get('end')) for f in flows.values()}


places, flows = lanes_of([span('b', 'root', 20, 50), span('a', 'root', 10, 30), span('root', '', 0, 100), span('c', 'b', 25, 40), span('next', '', 100, 110)])
check('siblings that overlap are in two lanes', places == {'root': ('s0', 1, 0), 'a': ('s0', 1, 1), 'b': ('s0', 2, 0), 'c': ('s0', 2, 1), 'next': ('s0', 1, 0)}, places)
check('a flow from the parent', flows == {('root', 'b')}, flows)
places, flows = lanes_of([span('inner', 'outer', 5, 9), span('outer', 'root', 5, 9), span('root', '', 5, 9)])
check('equal times: by depth', [places[i][1:] for i in ('root', 'outer', 'inner')] == [(1, 0), (1, 1), (1, 2)] and not flows, (places, flows))
places, flows = lanes_of([span('call', '', 0, 50)], [span('serve', 'call', 10, 40), span('late', 'call', 60, 70), span('early', 'call', -5, 3)])
check('a child in another process', places['serve'] == ('s1', 1, 0) and flows == {('call', 'serve'), ('call', 'late')}, (places, flows))
places, flows = lanes_of([span('open', '', 0, None), span('in it', 'open', 10, 20), span('after', '', 30, 40), span('self', 'self', 1, 2),
                          span('x', 'y', 50, 60), span('y', 'x', 50, 60), span('zero', 'after', 40, 40)])
check('open spans, circles and spans of length 0', places['in it'][1:] == (1, 1) and places['after'][1] == 2 and len(places) == 7, places)
for invalid in ('', '0000000000000000'):
    link = {'links': [{'traceId': 'aa', 'spanId': invalid}], 'events': [{'name': 'tick', 'timeUnixNano': str(10**18 + 3)}]}
    places, flows = lanes_of([{**span('a', invalid, 0, 50), 'spanId': invalid}, {**span('b', invalid, 10, 20), 'spanId': invalid, **link}])
    check(f'spans with the id "{invalid}" are kept, and nothing refers to them', set(places) == {'a', 'b'} and places['b'][1] == 2 and not flows, (places, flows))
    check('a note about invalid ids', b'spans without a valid id' in run('info', '-v', f'{folder}/lanes.otlp.json').stderr)
unnamed = {k: v for k, v in span('a', '', 0, 50).items() if k != 'spanId'}
check('a span without an id is kept', set(lanes_of([{**unnamed, 'events': [{'name': 'tick', 'timeUnixNano': str(10**18 + 3)}]}])[0]) == {'a'})
rng = random.Random(5)
for turn in range(30):
    spans, ends = [], {'': (0, 10**6)}
    for i in range(60):
        parent = rng.choice(list(ends))
        start = rng.randrange(*ends[parent]) if ends[parent][1] > ends[parent][0] else ends[parent][0]
        ends[f'n{i}'] = start, start + rng.randrange(1, 10**5)
        spans.append(span(f'n{i}', parent, *ends[f'n{i}']))
    rng.shuffle(spans)
    places, flows = lanes_of(spans)
    by_lane = {}
    for name, (_, lane, _) in places.items():
        by_lane.setdefault(lane, []).append(ends[name])
    crossing = [(a, b) for rows in by_lane.values() for a in rows for b in rows if a[0] < b[0] < a[1] < b[1]]
    check(f'lanes {turn}: spans nest', len(places) == 60 and not crossing, crossing[:3])
    parents = {s['spanId']: s['parentSpanId'] for s in spans}
    apart = {(p, c) for c, p in parents.items() if p and not (places[p][1] == places[c][1] and places[p][2] == places[c][2] - 1
                                                              and ends[p][0] <= ends[c][0] < ends[c][1] <= ends[p][1])}
    check(f'lanes {turn}: flows to spans that are not inside their parent', flows == apart, (flows ^ apart))

equals('fixture', FIXTURE)
whole = json.load(open(FIXTURE, encoding='utf-8'))
lines = f'{folder}/lines.jsonl'
second = json.loads(json.dumps(whole).replace('1de6d7f8', '00000000').replace('"4242"', '"4243"'))
for scope in second['resourceSpans'][0]['scopeSpans']:
    for s in scope['spans']:
        s['spanId'] = 'ff' + s['spanId'][2:]
        s['links'] = [{'traceId': 'none', 'spanId': 'none'}]
        s['startTimeUnixNano'], s['endTimeUnixNano'] = int(s['startTimeUnixNano']), int(s['endTimeUnixNano'])
with open(lines, 'w', encoding='utf-8') as f:
    f.write(json.dumps(whole) + '\n' + json.dumps(second) + '\n')
equals('lines', lines)
check('links to other files are a fact', b'not in the file' in run('info', '-v', lines).stdout + run('info', '-v', lines).stderr)
for name, doc in (('batches', {'batches': whole['resourceSpans']}), ('trace', {'trace': whole, 'status': 'COMPLETE'})):
    with open(f'{folder}/{name}.json', 'w', encoding='utf-8') as f:
        json.dump(doc, f)
    equals(name, f'{folder}/{name}.json')
with open(f'{folder}/other.json', 'w', encoding='utf-8') as f:
    json.dump({'batches': [{'id': 1, 'size': 32, 'loss': 0.5}]}, f)
spans = whole['resourceSpans']
other = json.dumps({'resourceMetrics': [{'resource': {}, 'scopeMetrics': []}]}) + '\n'
for name, text in (('java', ''.join(json.dumps(r) + '\n' for r in spans)), ('mixed', other + json.dumps(whole) + '\n' + other)):
    with open(f'{folder}/{name}.jsonl', 'w', encoding='utf-8') as f:
        f.write(text)
    check(f'{name}: the same trace', run('dump', '--graph', '-q', f'{folder}/{name}.jsonl').stdout.split(b'note')[0]
          == run('dump', '--graph', '-q', FIXTURE).stdout.split(b'note')[0], run('dump', '--graph', f'{folder}/{name}.jsonl'))
with open(f'{folder}/snake.json', 'w', encoding='utf-8') as f: # field names of the .proto file
    f.write(re.sub(r'"(\w+)":', lambda m: '"' + re.sub('[A-Z]', lambda c: '_' + c[0].lower(), m[1]) + '":', json.dumps(whole)))
check('fields with the names of the .proto file', run('dump', '--graph', '-q', f'{folder}/snake.json').stdout.split(b'note')[0]
      == run('dump', '--graph', '-q', FIXTURE).stdout.split(b'note')[0], run('dump', '--graph', f'{folder}/snake.json').stdout[:600])
check('metrics are a fact', b'metrics or logs: left out' in run('info', '-v', f'{folder}/mixed.jsonl').stderr)
one = {k: v for k, v in spans[0].items() if k != 'scopeSpans'}
with open(f'{folder}/batches.jsonl', 'w', encoding='utf-8') as f:
    for scope in spans[0]['scopeSpans']:
        for s in scope['spans']:
            f.write(json.dumps({'resourceSpans': [{**one, 'scopeSpans': [{**scope, 'spans': [s]}]}]}) + '\n')
dump = run('dump', '--graph', f'{folder}/batches.jsonl').stdout.decode()
check('a line for each span: one process', dump.count('track process') == 1 and 'pid=4242' in dump, dump[:300])
for name, doc in (('python', {'name': 'x', 'context': {'trace_id': '0x1', 'span_id': '0x2'}, 'kind': 'SpanKind.INTERNAL'}),
                  ('go', {'Name': 'x', 'SpanContext': {'TraceID': '1', 'SpanID': '2'}})):
    with open(f'{folder}/console.json', 'w', encoding='utf-8') as f:
        json.dump(doc, f, indent=4)
    check(f'console exporter of {name}', b"OpenTelemetry's console exporter" in run('info', f'{folder}/console.json').stderr)
check('other batches are no trace', run('info', f'{folder}/other.json').returncode == 3, run('info', f'{folder}/other.json').stdout)
text = open(FIXTURE, 'rb').read()
for cut in range(1, len(text), 97):
    with open(f'{folder}/cut.json', 'wb') as f:
        f.write(text[:cut])
    p = run('check', f'{folder}/cut.json')
    check(f'cut at {cut}', p.returncode in (1, 3), p.returncode)
sys.exit(finish())
