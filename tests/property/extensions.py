#!/usr/bin/env python3
"""Checks extension fields of track events. Fields that a Perfetto file describes itself become args with their names and types;
other fields keep their number. Both are restored in Perfetto output; a dropped arg is not. Deep or damaged descriptors do no
harm."""
import json
import os
import subprocess
import sys
import tempfile

TRACEKIT, SRC = os.environ['TRACEKIT'], os.environ['SRC']
sys.path.insert(0, os.path.join(SRC, 'tests', 'support'))
import extensions  # noqa: E402
from verdict import check, finish  # noqa: E402


def run(*args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, capture_output=True)
    return p.returncode, p.stderr.decode('utf-8', 'replace')


def save(path, data):
    with open(path, 'wb') as f:
        f.write(data)
    return path


def read(path):
    with open(path, 'rb') as f:
        return f.read()


def args_of(path, work):
    """Returns {event: args} of a file, as in JSON."""
    out = os.path.join(work, 'args.json')
    status, said = run('convert', '-q', '--force', path, '-o', out)
    check(f'{path} as JSON', status == 0, said)
    with open(out, encoding='utf-8') as f:
        return {e['name']: e.get('args', {}) for e in json.load(f)['traceEvents'] if e.get('ph', '-') in 'BX' and 'name' in e}


def cases(work):
    all_cases = {**extensions.CASES, **extensions.FOREIGN}
    source = save(os.path.join(work, 'a.pftrace'), extensions.trace(all_cases))
    once, twice = (os.path.join(work, name) for name in ('b.pftrace', 'c.pftrace'))
    run('convert', '-q', source, '-o', once)
    run('convert', '-q', once, '-o', twice)
    found, again = args_of(source, work), args_of(once, work)
    for name, (_, want) in all_cases.items():
        mine = found.get(name)
        check(name, mine == want if want is not None else list(mine or {}) == ['perfetto.fields'], mine)
        check(f'{name}, written as Perfetto', again.get(name) == mine, again.get(name))
    check('Perfetto again', read(once) == read(twice))


def dropped(work):
    source = save(os.path.join(work, 'd.pftrace'), extensions.trace({'a': (extensions.CASES['others'][0], None)}))
    target = os.path.join(work, 'e.pftrace')
    status, said = run('filter', '-q', '--drop-args', 'args.text', source, '-o', target)
    check('filter', status == 0, said)
    check('a dropped arg', 'wörter'.encode() not in read(target))
    check('the args beside it', args_of(target, work)['a'] == {'args.on': True, 'args.double': 0.1, 'args.float': 1.5})


def merged(work):
    """Checks that the descriptors of the second input apply to the second input only."""
    paths = [save(os.path.join(work, f'm{i}.pftrace'), extensions.trace({name: extensions.CASES[name]})) for i, name in
             enumerate(('nested', 'two'))]
    target = os.path.join(work, 'm.pftrace')
    status, said = run('merge', '-q', *paths, '-o', target)
    check('merge', status == 0, said)
    found = args_of(target, work)
    check('args of both inputs', all(found.get(name) == extensions.CASES[name][1] for name in ('nested', 'two')), found)


def depth(work):
    for levels in (10, 30, 100, 20000):
        path = save(os.path.join(work, 'deep.pftrace'), extensions.trace({'deep': (extensions.deep(levels), None)}))
        found = args_of(path, work)['deep']
        check(f'{levels} messages in each other', list(found) == ['args.inner' if levels == 10 else 'perfetto.fields'], list(found))


def damage(work):
    described = extensions.descriptor(False)
    for at in range(0, len(described), 13):
        for bad in (described[:at] + bytes([described[at] ^ 0x55]) + described[at + 1:], described[:at]):
            path = save(os.path.join(work, 'f.pftrace'), extensions.trace(extensions.CASES, described_by=bad))
            status, said = run('convert', '-q', '--force', path, '-o', os.path.join(work, 'g.pftrace'))
            check(f'descriptor damaged at {at}', status == 0, said)
            check('its events', len(args_of(os.path.join(work, 'g.pftrace'), work)) == len(extensions.CASES))


def unmodelled(work):
    """Checks that an unknown field is kept unchanged."""
    log = extensions.field(21, b'\x08\x01')
    path = save(os.path.join(work, 'n.pftrace'), extensions.trace({'log': (log, None)}))
    target = os.path.join(work, 'o.pftrace')
    status, said = run('convert', '-q', '--force', path, '-o', target)
    check('a field that is not modelled', status == 0 and log in read(target), said)
    check('... is an arg', list(args_of(path, work)['log']) == ['perfetto.fields'], args_of(path, work))


def main():
    with tempfile.TemporaryDirectory() as work:
        for step in (cases, dropped, merged, depth, damage, unmodelled):
            step(work)
    return finish()


if __name__ == '__main__':
    sys.exit(main())
