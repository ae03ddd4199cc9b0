#!/usr/bin/env python3
"""Checks that the schemas describe the fields that the library describes: the same names, types and meanings.

    TRACEKIT=build/tracekit SRC=. tests/property/fields.py --write      rewrites the schemas from the descriptions

Python and docs/fields.md are made from the same descriptions; tests/python and lint check them."""
import json
import os
import re
import subprocess
import sys

TRACEKIT, SRC = os.environ['TRACEKIT'], os.environ['SRC']

# Place in the schemas where a row is described, and properties that the command adds to the row.
PLACES = {
    'report': ('job', [], ()),
    'report rank': ('job', ['$defs', 'rank'], ()),
    'report finding': ('job', ['$defs', 'finding'], ()),
    'report split': ('job', ['$defs', 'split'], ()),
    'report step': ('job', ['$defs', 'step'], ()),
    'report spread': ('job', ['$defs', 'spread'], ()),
    'report stream': ('job', ['$defs', 'stream'], ()),
    'report kernel': ('job', ['$defs', 'kernel'], ()),
    'report launch': ('job', ['$defs', 'launch'], ()),
    'report collective': ('job', ['$defs', 'collective'], ()),
    'report wait': ('job', ['$defs', 'wait'], ()),
    'report operator': ('job', ['$defs', 'operator'], ()),
    'report annotation': ('job', ['$defs', 'annotation'], ()),
    'report layer': ('job', ['$defs', 'layer'], ()),
    'report gap': ('job', ['$defs', 'gap'], ()),
    'report compilation': ('job', ['$defs', 'compilation'], ()),
    'report function': ('job', ['$defs', 'function'], ()),
    'report device operator': ('job', ['$defs', 'device_operator'], ()),
    'report roofline': ('job', ['$defs', 'roofline'], ()),
    'report held': ('job', ['$defs', 'held'], ()),
    'report figure': ('job', ['$defs', 'figure'], ()),
    'report memory': ('job', ['$defs', 'memory'], ()),
    'top': ('top', ['properties', 'rows', 'items'], ('cols',)),
    'tree': ('tree', ['properties', 'paths', 'items'], ('per_call',)),
    'diff': ('diff', ['$defs', 'row'], ()),
    'diff sum': ('diff', ['$defs', 'sum'], ()),
    'diff before': ('diff', ['$defs', 'before'], ()),
    'diff after': ('diff', ['$defs', 'after'], ()),
    'compare': ('diff_runs', ['$defs', 'row'], ()),
    'compare sum': ('diff_runs', ['$defs', 'sum'], ()),
    'compare cell': ('diff_runs', ['$defs', 'cell'], ()),
    'compare shift': ('diff_runs', ['$defs', 'shift'], ()),
    'compare run': ('diff_runs', ['$defs', 'run'], ()),
    'merge rank': ('report', ['$defs', 'rank'], ()),
    'listed file': ('list', ['$defs', 'file'], ()),
    'extracted file': ('extract', ['$defs', 'file'], ('lost', 'rounded_times')),
    'size by kind': ('size', ['$defs', 'kind'], ()),
    'size by category': ('size', ['$defs', 'category'], ()),
    'size by name': ('size', ['$defs', 'name'], ()),
    'size by arg': ('size', ['$defs', 'arg'], ()),
    'size by track': ('size', ['$defs', 'track'], ()),
    'size by rank': ('size', ['$defs', 'rank'], ()),
}
# Rows that a second schema also describes.
AGAIN = [('report spread', ('diff_runs', ['$defs', 'spread'], ())), ('compare run', ('diff', ['$defs', 'run'], ())),
         ('report spread', ('diff', ['$defs', 'spread'], ()))]
TYPES = {
    'bool': {'type': 'boolean'}, 'integer': {'type': 'integer'}, 'count': {'type': 'integer', 'minimum': 0},
    'number': {'type': 'number'}, 'time': {'type': 'number'}, 'text': {'type': 'string'},
    'texts': {'type': 'array', 'items': {'type': 'string'}},
}


def described():
    """Returns {row: [(field, type, kind of its rows, absence, meaning)]}, from docs/fields.md as the command prints it."""
    text = subprocess.run([TRACEKIT, '__docs', 'fields'], capture_output=True, text=True, check=True).stdout
    rows = {}
    for section in re.split(r'^## ', text, flags=re.M)[1:]:
        name, _, table = section.partition('\n')
        fields = re.findall(r'^\| `(\w+)` \| (\w+)(?:: ([\w ]+?))?( or null|, optional|) \| (.*) \|$', table, flags=re.M)
        rows[name] = fields
    return rows


def ref(kind):
    return {'$ref': '#/$defs/' + PLACES[kind][1][-1]}


def property_of(kind, of, absence, meaning, old):
    """Returns the description of a field in a schema; an `enum` in the old description is kept."""
    if kind == 'rows':
        found = {'type': 'array', 'items': ref(of)}
    elif kind == 'row':
        found = {'anyOf': [{'type': 'null'}, ref(of)]} if absence == ' or null' else ref(of)
    else:
        found = dict(TYPES[kind])
        if absence == ' or null':
            found['type'] = [found['type'], 'null']
        if 'enum' in old:
            found = {'enum': old['enum']}
    return {**found, 'description': meaning}


def node_of(schema, path):
    for part in path:
        schema = schema.setdefault(part, {})
    return schema


def update(node, fields, extra):
    old = node.get('properties', {})
    node['type'] = 'object'
    node['required'] = [f[0] for f in fields if f[3] != ', optional']
    node['additionalProperties'] = False
    node['properties'] = {name: property_of(kind, of, absence, meaning, old.get(name, {})) for name, kind, of, absence, meaning in fields}
    node['properties'] |= {name: old[name] for name in extra}


def main():
    rows = described()
    faults, checked = [], 0
    if set(rows) != set(PLACES):
        faults.append(f'rows without a schema, or the reverse: {set(rows) ^ set(PLACES)}')
    schemas = {name: json.load(open(f'{SRC}/schemas/{name}.schema.json', encoding='utf-8')) for name in {p[0] for p in PLACES.values()}}
    for row, (name, path, extra) in [*PLACES.items(), *AGAIN]:
        node = node_of(schemas[name], path)
        before = json.dumps(node, sort_keys=False)
        update(node, rows[row], extra)
        checked += 1
        if json.dumps(node, sort_keys=False) != before:
            faults.append(f'{name}.schema.json does not describe "{row}" as the library does: fields.py --write')
    if '--write' in sys.argv:
        for name, schema in schemas.items():
            with open(f'{SRC}/schemas/{name}.schema.json', 'w', encoding='utf-8') as f:
                f.write(json.dumps(schema, indent=2, ensure_ascii=False) + '\n')
        return 0
    for fault in faults:
        print(f'FAIL {fault}')
    print(f'{checked - len(faults)} passed, {len(faults)} failed')
    return 1 if faults else 0


sys.exit(main())
