#!/usr/bin/env python3
"""Checks that async events of Chrome (TrackEvent.legacy_event) stay legacy events with their phase, id, scope, thread, names and fields,
from Perfetto to Perfetto, through other formats, and after operations. Other events become lanes of their process, as from JSON.

Packets are built and examined here, without the library's own reader."""
import collections
import os
import subprocess
import sys
import tempfile

TRACEKIT, SRC = os.environ['TRACEKIT'], os.environ['SRC']
sys.path.insert(0, os.path.join(SRC, 'tests', 'support'))
from extensions import field  # noqa: E402
from protobuf import parse  # noqa: E402
from verdict import check, finish  # noqa: E402

LEGACY, TYPE, TRACK, NAME, NAME_IID, CATEGORY, CATEGORY_IID = 6, 9, 11, 23, 10, 22, 3
UNSCOPED, SCOPE, LOCAL, GLOBAL, ASYNC_TTS = 6, 7, 10, 11, 9
PROCESS_TRACK, THREAD_TRACK = 1, 2
START = 1_000_000


def packet(*fields, flags=2):
    return field(1, b''.join(fields) + field(10, 1) + field(13, flags))


def legacy(ts, phase, kind, number, *more, name=b'load', cat=b'net', track=THREAD_TRACK, args=b''):
    content = field(2, ord(phase)) + (field(kind, number) if kind else b'') + b''.join(more)
    texts = (field(NAME, name) if name else b'') + (field(CATEGORY, cat) if cat else b'')
    return packet(field(8, START + ts), field(11, field(TRACK, track) + texts + args + field(LEGACY, content)))


def trace():
    data = packet(field(60, field(1, PROCESS_TRACK) + field(3, field(1, 10) + field(6, b'browser'))), flags=1)
    data += packet(field(60, field(1, THREAD_TRACK) + field(4, field(1, 10) + field(2, 11) + field(5, b'main'))))
    data += packet(field(8, START), field(11, field(TYPE, 1) + field(TRACK, THREAD_TRACK) + field(NAME, b'task')))
    arg = field(4, field(10, b'id') + field(4, 5))
    data += legacy(100, 'b', LOCAL, 7, args=arg)
    data += legacy(200, 'b', LOCAL, 7, name=b'connect')
    data += legacy(250, 'n', LOCAL, 7, name=b'dns')
    data += legacy(300, 'b', GLOBAL, 7, track=PROCESS_TRACK)
    data += legacy(400, 'e', LOCAL, 7, name=b'connect', args=arg)
    data += legacy(400, 'b', LOCAL, 7, name=b'connect')
    data += legacy(400, 'e', LOCAL, 7, name=b'connect')
    data += legacy(420, 'b', LOCAL, 7, name=b'send')
    data += legacy(450, 'e', LOCAL, 7, name=b'send')
    data += legacy(450, 'b', LOCAL, 7, name=b'connect')
    data += legacy(470, 'e', LOCAL, 7, name=b'connect')
    data += legacy(500, 'b', UNSCOPED, (1 << 64) - 3, field(SCOPE, b'frames'), field(ASYNC_TTS, 1), cat=b'cc')
    data += legacy(600, 'e', GLOBAL, 7, track=PROCESS_TRACK)
    data += legacy(650, 'b', LOCAL, 8)
    data += legacy(700, 'e', LOCAL, 7)
    data += legacy(750, 'e', LOCAL, 8)
    data += legacy(800, 'e', UNSCOPED, (1 << 64) - 3, field(SCOPE, b'frames'), field(ASYNC_TTS, 1), cat=b'cc')
    data += legacy(850, 'S', UNSCOPED, 9, name=b'old')
    data += legacy(860, 'T', UNSCOPED, 9, name=b'old')
    data += legacy(870, 'p', UNSCOPED, 9, name=b'old')
    data += legacy(880, 'F', UNSCOPED, 9, name=b'old')
    data += legacy(900, 'b', LOCAL, 12, name=b'never ends')
    return data + packet(field(8, START + 950), field(11, field(TYPE, 2) + field(TRACK, THREAD_TRACK)))


class Sequence:
    """State of a sequence: interned texts, the default track, and the current time."""

    def __init__(self):
        self.texts, self.track, self.clock, self.ns = {}, 0, 0, 0


class Read:
    """`events`: the async legacy events of a file; `others`: its other track events by type."""

    def __init__(self, path):
        self.order = collections.defaultdict(list)  # by track of importers and time: phases and names
        self.events, self.others, self.tracks, self.sequences = collections.Counter(), collections.Counter(), {}, collections.defaultdict(Sequence)
        with open(path, 'rb') as f:
            for _, value in (p for p in parse(f.read()) if p[0] == 1):
                self.read_packet(parse(value))

    def read_packet(self, p):
        one = dict(p)
        if one.get(13, 0) & 1:
            self.sequences[one.get(10, 0)] = Sequence()
        q = self.sequences[one.get(10, 0)]
        for number, value in p:
            if number == 60:
                d = dict(parse(value))
                ids = dict(parse(d.get(4) or d.get(3) or b''))
                self.tracks[d[1]] = (ids.get(1), ids.get(2) if 4 in d else None)
            elif number == 59:
                defaults = dict(parse(value))
                q.track, q.clock = dict(parse(defaults.get(11, b''))).get(TRACK, 0), defaults.get(58, 0)
            elif number == 12:
                for kind, text in parse(value):
                    q.texts[kind, dict(parse(text))[1]] = dict(parse(text)).get(2)
            elif number == 6:
                for c in (dict(parse(v)) for n, v in parse(value) if n == 1):
                    if c[1] >= 64:
                        q.ns = c[2]
        if 8 in one and one.get(58, q.clock) >= 64:
            q.ns = (q.ns + one[8]) % (1 << 64)
        if 11 in one:
            self.read_event(parse(one[11]), q.ns if one.get(58, q.clock) >= 64 else one.get(8), q)

    def read_event(self, fields, ns, q):
        e = dict(fields)
        forms = [parse(v) for n, v in fields if n == LEGACY]
        phase = next((v for n, v in forms[-1] if n == 2), 0) if forms else 0
        if not phase:
            self.others[e.get(TYPE)] += 1
            return
        name, cat = e.get(NAME) or q.texts.get((2, e.get(NAME_IID))), e.get(CATEGORY) or q.texts.get((1, e.get(CATEGORY_IID)))
        args = tuple(sorted((dict(parse(v)).get(10) or q.texts.get((3, dict(parse(v))[1])), dict(parse(v)).get(4)) for n, v in fields if n == 4))
        stated = dict(forms[-1])
        thread = (stated[18], stated[19]) if 18 in stated else self.tracks.get(e.get(TRACK, q.track))
        form = tuple(sorted(f for f in forms[-1] if f[0] not in (18, 19)))
        self.events[ns, chr(phase), form, name, cat, thread, args] += 1
        self.order[ns, cat, form[1:]].append((chr(phase), name))
        check('one legacy_event', len(forms) == 1, len(forms))


def tracekit(*args):
    p = subprocess.run([TRACEKIT, *args, '-q', '--force'], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    check(' '.join(os.path.basename(a) for a in args), p.returncode == 0, p.stderr.decode('utf-8', 'replace'))
    return p.stdout.decode('utf-8', 'replace')


def same(what, path, want):
    read = Read(path)
    got = read.events
    disordered = [row for row in read.order.values() if [phase for phase, _ in row] not in (['e', 'b'], ['e', 'b', 'e']) and len(row) > 1]
    check(f'{what}: a span ends before the next one begins', not disordered, disordered)
    check(what, got == want, f'gone {list((want - got).elements())[:3]}, new {list((got - want).elements())[:3]}')


def moved(events, by, keep=lambda ns: True):
    return collections.Counter({(e[0] + by, *e[1:]): n for e, n in events.items() if keep(e[0])})


def shape_of(e):
    """Returns the event without ids that a merge changes."""
    return (*e[:2], tuple((n, v if n not in (UNSCOPED, GLOBAL) else 0) for n, v in e[2]), *e[3:5], e[5][1], e[6])


def main():
    with tempfile.TemporaryDirectory() as work:
        def at(name):
            return os.path.join(work, name)

        with open(at('in.pftrace'), 'wb') as f:
            f.write(trace())
        want = Read(at('in.pftrace')).events
        check('the trace has 22 async events', sum(want.values()) == 22, want)
        tracekit('convert', at('in.pftrace'), '-o', at('again.pftrace'))
        same('again', at('again.pftrace'), want)
        check('the other span stays a slice', Read(at('again.pftrace')).others == {1: 1, 2: 1}, Read(at('again.pftrace')).others)
        tracekit('convert', at('again.pftrace'), '-o', at('twice.pftrace'))
        same('twice', at('twice.pftrace'), want)
        for way in ('json', 'xplane.pb'):
            tracekit('convert', at('in.pftrace'), '--no-loss', '-o', at(f'way.{way}'))
            tracekit('convert', at(f'way.{way}'), '-o', at('back.pftrace'))
            same(f'through {way}', at('back.pftrace'), want)
        tracekit('rebase', '--shift', '3ms', at('in.pftrace'), '-o', at('moved.pftrace'))
        same('rebase', at('moved.pftrace'), moved(want, 3_000_000))
        tracekit('filter', '--name', 'old', at('in.pftrace'), '-o', at('named.pftrace'))
        same('filter --name', at('named.pftrace'), collections.Counter({e: n for e, n in want.items() if e[3] == b'old'}))
        tracekit('convert', at('named.pftrace'), '-o', at('back.pftrace'))
        same('filter --name, again', at('back.pftrace'), Read(at('named.pftrace')).events)
        tracekit('merge', '--align', 'none', at('in.pftrace'), at('again.pftrace'), '-o', at('merged.pftrace'))
        # A merge makes ids unique that hold for all processes, and pids; local ids stay.
        shape, both = (collections.Counter(shape_of(e) for e in rows.elements()) for rows in (want + want, Read(at('merged.pftrace')).events))
        check('merge', shape == both, (both - shape, shape - both))
        # Ids that a legacy event cannot represent come from other software: their tracks have lanes.
        with open(at('way.json'), encoding='utf-8') as f:
            text = f.read()
        with open(at('way.json'), 'w', encoding='utf-8') as f:
            f.write(text.replace('"0x7"', '"seven"'))
        tracekit('convert', at('way.json'), '-o', at('lanes.pftrace'))
        read = Read(at('lanes.pftrace'))
        check('ids of other software: lanes', all(e[5] == (10, None) for e in read.events) and read.others[1] > 4, (read.events, read.others))


main()
finish()
