#!/usr/bin/env python3
"""Compares args of fields that a Perfetto file describes itself: trace_processor shows the same args, under the same keys, for
the file, for our Perfetto output and, for completely described fields, for our JSON.

    extensions.py"""
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'support'))
from common import Engines, tracekit  # noqa: E402
import extensions  # noqa: E402

ARGS = """select s.name, a.key, a.value_type, a.display_value from slice s join args a using (arg_set_id)
          where not a.key glob 'debug.perfetto*' and not a.key glob 'args.perfetto*' order by 1, 2"""


def rows(answer, cut=''):
    """Returns {event: [(key, value)]}; `cut` is the prefix of every key in JSON."""
    found = {}
    for row in map(json.loads, answer['args']):
        key = row['key'][len(cut):] if row['key'].startswith(cut) else '?' + row['key']
        found.setdefault(row['name'], []).append((key, row['display_value']))
    return {name: sorted(args) for name, args in found.items()}


def small(args):
    """Removes args that the engine's JSON importer cannot read: integers beyond int64."""
    return sorted(arg for arg in args if arg[0] not in ('args.u64', 'args.f64'))


def main():
    engines, passed, failed = Engines({'args': ARGS}), 0, 0
    with tempfile.TemporaryDirectory() as work:
        source, again, text = (os.path.join(work, name) for name in ('a.pftrace', 'b.pftrace', 'c.json'))
        with open(source, 'wb') as f:
            f.write(extensions.trace(extensions.CASES, extensions.field(9903, 5)))
        tracekit('convert', '-q', source, '-o', again)
        tracekit('convert', '-q', source, '-o', text)
        ask = engines.mine().ask
        want, same, other = rows(ask(source)), rows(ask(again)), rows(ask(text), 'args.')
        for name, (_, args) in extensions.CASES.items():
            faults = {}
            if want.get(name) != same.get(name):
                faults['Perfetto'] = (want.get(name), same.get(name))
            mine = [(k.removeprefix('json.end.'), v) for k, v in other.get(name, [])]
            if args is not None and small(want[name]) != small(mine):
                faults['JSON'] = (want[name], mine)
            print('FAIL' if faults else 'ok  ', name, faults or '')
            passed, failed = passed + (not faults), failed + bool(faults)
    engines.close()
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
