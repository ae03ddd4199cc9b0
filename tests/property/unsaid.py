#!/usr/bin/env python3
"""Checks small traces of kinds that earlier versions changed without a report: through each format and back, with --no-loss,
each gives the file that a direct conversion gives; all formats answer the same queries; and --no-loss refuses what a format
cannot represent.

Chrome JSON: quoted times, flows by bind_id, empty records, scopes of instants, async spans, counters with two series. XPlane: ids of
metadata above 32 bits, two names of stats with equal ids or two ids with equal names. Perfetto: integers above 2^63 in nested
annotations, units and descriptions of tracks, tracks that are described twice."""
import json
import os
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import check, finish, judge  # noqa: E402
from xspace import message, number  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']
ENDINGS = ('.json', '.pftrace', '.xplane.pb')
BIG = 1 << 63


def event(ph, ts, **more):
    return {'ph': ph, 'name': 'a', 'pid': 5, 'tid': 1, 'ts': ts, **more}


JSON = {
    'quoted time': [event('X', '1742490378358140.950', dur=28.19)],
    'stated base of 0': {'baseTimeNanoseconds': 0, 'traceEvents': [event('X', 1742490378358140.95, dur=28.19)]},
    'flow by bind_id': [event('X', 5, dur=2, bind_id='0x1', flow_out=True), event('X', 9, dur=2, bind_id='0x1', flow_in=True)],
    'empty record': [{}, event('X', 5, dur=1)],
    'span without a name': [{'ph': 'X', 'pid': 5, 'tid': 1, 'ts': 5, 'dur': 1}],
    'scopes': [event('i', 3, s='g'), event('i', 4, s='p'), event('i', 5, s='t')],
    'async': [event(ph, ts, cat='c', id='0x1', name=name)
              for ph, ts, name in (('b', 12, 'a'), ('e', 14, 'a'), ('b', 22, 'b'), ('e', 24, 'b'))],
    'series': [event('C', 11, args={'used': 2.5, 'free': 7}), event('C', 12, args={'used': 3, 'free': 6})],
}


# ---- XPlane ----

def xspace(stats, events, line):
    """Returns a file with one plane. stats: (key, id, name); events: (key, id, name); line: (id, [(stat id, value)])."""
    def entry(field, key, ident, name):
        return message(field, number(1, key) + message(2, number(1, ident) + message(2, name.encode())))
    body = message(2, b'p')
    key, values = line
    fields = b''.join(message(4, number(1, stat) + message(5, value.encode())) for stat, value in values)
    body += message(3, number(1, 1) + message(2, b'l') + message(4, number(1, key) + number(3, 2000) + fields))
    body += b''.join(entry(4, *e) for e in events) + b''.join(entry(5, *s) for s in stats)
    return message(1, body)


XPLANE = {
    'id of an event above 32 bits': xspace([], [(1 << 35, 1 << 35, 'a')], (1 << 35, [])),
    'id of a stat above 32 bits': xspace([(1 << 35, 1 << 35, 'st')], [(1, 1, 'a')], (1, [(1 << 35, 'x')])),
    'two names of one id': xspace([(30, 30, 'correlation_id'), (29, 29, 'correlation_id')], [(1, 1, 'a')], (1, [(30, 'x'), (29, 'y')])),
    'two ids of one name': xspace([(1, 1, 'a'), (2, 2, 'a')], [(1, 1, 'e')], (1, [(1, 'x'), (2, 'y')])),
}


# ---- Perfetto ----

def packet(ns, body, sequence=1):
    return message(1, (number(8, ns) if ns is not None else b'') + number(10, sequence) + body)


def descriptor(uuid, body):
    return packet(None, message(60, number(1, uuid) + body))


def point(ns, kind, track, body=b''):
    return packet(ns, message(11, number(9, kind) + number(11, track) + body))


def annotation(field, name, body):
    return message(field, message(10, name) + body)


def perfetto(*parts):
    process = descriptor(1, message(3, number(1, 5)))
    return process + descriptor(2, message(4, number(1, 5) + number(2, 6))) + b''.join(parts)


COUNTER = {'bytes': message(8, number(3, 3)), 'count': message(8, number(3, 2) + number(4, 1024))}
DOUBLE = b'\xe1\x02' + struct.pack('<d', 2.5)  # field 44
NAMED = message(23, b'a')
PERFETTO = {
    'nested integers above 2^63': perfetto(
        point(100, 1, 2, NAMED + message(4, annotation(11, b'h', number(3, BIG)) + annotation(11, b'i', number(3, 2 * BIG - 1)) +
                                         message(10, b'top'))),
        point(200, 2, 2)),
    'tracks with parents and units': perfetto(
        descriptor(8, number(5, 1) + message(2, b'queue')), descriptor(9, number(5, 8) + message(2, b'sub')),
        descriptor(10, number(5, 1) + message(2, b'mem') + COUNTER['bytes']),
        point(100, 1, 8, NAMED), point(110, 1, 9, NAMED), point(120, 2, 9), point(200, 2, 8), point(130, 4, 10, number(30, 7))),
    'counter that is described twice': perfetto(
        descriptor(11, number(5, 1) + message(2, b'mem') + COUNTER['bytes']),
        point(131, 4, 11, DOUBLE),
        descriptor(11, number(5, 1) + message(2, b'mem') + COUNTER['count']), point(132, 4, 11, DOUBLE)),
}
# The second description needs a new track, whose id is arbitrary, and JSON spells 2560.0 as 2560: only rows are compared.
BY_ROWS = 'counter that is described twice'


def run(*args):
    return subprocess.run([TRACEKIT, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding='utf-8', errors='replace',
                          stdin=subprocess.DEVNULL)


def convert(source, target, *more):
    """Returns the fault, or an empty string."""
    p = run('convert', '-q', '--force', '--no-loss', source, '-o', target, *more)
    return f'{p.returncode}: {p.stderr[:200]}' if p.returncode else ''


def content(path):
    """Returns the file's bytes; for JSON, its values, because numbers may be spelled with other digits after the point."""
    with open(path, 'rb') as f:
        data = f.read()
    return json.loads(data) if path.endswith('.json') else data


def there_and_back(what, source, ending, work):
    direct, back = f'{work}/direct{ending}', f'{work}/back{ending}'
    judge(f'{what}: direct', convert(source, direct, '--no-provenance'))
    for via in ENDINGS:
        between = f'{work}/between{via}'
        fault = convert(source, between) or convert(between, back, '--no-provenance')
        read = answers if what == BY_ROWS else content
        if not fault and read(back) != read(direct):
            fault = f'{read(direct)} came back as {read(back)}'
        judge(f'{what}: through {via}', fault)


QUERIES = ('select name, ts, dur from slice order by ts, name',
           'select t.name, c.ts, c.value from counter c join counter_track t on c.track_id = t.id order by c.ts, t.name',
           "select flat_key, display_value from args where flat_key like 'debug.%' or flat_key like 'args.%' order by 1, 2")


def answers(path):
    """Returns the rows of each query, with times from the first event on."""
    out = []
    for query in QUERIES:
        rows = json.loads(run('sql', '-q', '--json', path, query).stdout)['results'][0]['rows']
        out.append(rows)
    return out


def same_answers(what, source, work):
    """Compares the counters of all formats; their names only if the trace was JSON, because trace_processor appends the name of
    the series."""
    def counters(path):
        return [row if source.endswith('.json') else row[1:] for row in answers(path)[1]]
    want = counters(source)
    for via in ENDINGS:
        path = f'{work}/asked{via}'
        fault = convert(source, path)
        got = [] if fault else counters(path)
        judge(f'{what}: sql on {via}', fault or ('' if got == want else f'{want} and {got}'))


def merged_scopes(work):
    for name in 'ab':
        with open(f'{work}/{name}.json', 'w') as f:
            json.dump([event('i', 5, s='g')], f)
    p = run('merge', '-q', '--force', f'{work}/a.json', f'{work}/b.json', '-o', f'{work}/m.json')
    scopes = [e['s'] for e in content(f'{work}/m.json')['traceEvents'] if e['ph'] == 'i']
    check('merge keeps global instants', p.returncode == 0 and scopes == ['g', 'g'], f'{scopes} {p.stderr}')


def main():
    with tempfile.TemporaryDirectory() as work:
        for kinds, ending in ((JSON, '.json'), (XPLANE, '.xplane.pb'), (PERFETTO, '.pftrace')):
            for i, (what, data) in enumerate(kinds.items()):
                source = f'{work}/in{i}{ending}'
                with open(source, 'wb') as f:
                    f.write(data if isinstance(data, bytes) else json.dumps(data).encode())
                there_and_back(what, source, ending, work)
                same_answers(what, source, work)
        merged_scopes(work)
    return finish()


sys.exit(main())
