#!/usr/bin/env python3
"""Checks traces of OpenTelemetry in JSON: spans, events, links, attributes and resources equal an independent reading; several
documents in a file, both spellings of integers, links to other files, damage."""
import json
import os
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
    begins, spans, events, flows = {}, {}, [], {}
    for e in doc['traceEvents']:
        args = dict(e.get('args', {}))
        if e['ph'] == 'b':
            begins[e['id']] = (e, args)
        elif e['ph'] == 'e':
            b, a = begins[e['id']]
            own = {k: v for k, v in a.items() if k not in ('trace_id', 'parent_span_id', 'span_kind')}
            spans[e['id']] = (b['name'], ns(b['ts']), ns(e['ts']) - ns(b['ts']), a.get('parent_span_id'), a.get('trace_id'), own)
        elif e['ph'] == 'n':
            events.append((e['name'], ns(e['ts']), e['id'], args))
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
    info = json.loads(run('info', '--json', path).stdout)['traces'][0]
    check(f'{what}: links', info['flow_points'] == 2 * len(links), info.get('flow_points'))
    check(f'{what}: names of services', got_names >= {n for n in names if n}, got_names)


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
check('other batches are no trace', run('info', f'{folder}/other.json').returncode == 3, run('info', f'{folder}/other.json').stdout)
text = open(FIXTURE, 'rb').read()
for cut in range(1, len(text), 97):
    with open(f'{folder}/cut.json', 'wb') as f:
        f.write(text[:cut])
    p = run('check', f'{folder}/cut.json')
    check(f'cut at {cut}', p.returncode in (1, 3), p.returncode)
sys.exit(finish())
