"""Profiles of the Firefox Profiler: makes random ones in each form that versions of the format have, and reads any of them.

    gecko.py FORM FILE    writes a fixture; FORM: raw, or a version of the processed form"""
import bisect
import gzip
import json
import random
import re
import sys
from fractions import Fraction

FORMS = ('raw', 40, 48, 56, 58, 60, 66, 70)
DELTAS = 50  # version that introduced times as differences
DAYS_53 = 1 << 62
STRING_FORMATS = ('unique-string', 'flow-id', 'terminating-flow-id')


def quote(text):
    """Returns a string as `dump --graph` prints it."""
    return '"' + ''.join(f'\\x{ord(c):02x}' if c < ' ' or c in '"\\\x7f' else c for c in text) + '"'


# ---- an independent reading ----

class Column:
    """Reads rows of a table in the raw or the processed form."""

    def __init__(self, table):
        self.table = table if isinstance(table, dict) else {}
        self.raw = 'schema' in self.table

    def rows(self, first, *others):
        if self.raw:
            at = self.table['schema']
            for row in self.table['data']:
                yield tuple(row[at[c]] if c in at and at[c] < len(row) else None for c in (first, *others))
            return
        lists = [self.table.get(c) or [] for c in (first, *others)]
        for i in range(len(lists[0])):
            yield tuple(c[i] if i < len(c) else None for c in lists)


class Tables:
    def __init__(self, base=None):
        self.__dict__.update(base.__dict__ if base else dict(strings=[], libs=[], resources=[], sources=[], places=[], funcs=[], frames=[], stacks=[]))

    def at(self, i):
        return i if isinstance(i, str) else self.strings[i] if i is not None and i >= 0 else None

    def take(self, doc, reading):
        self.strings = doc.get('stringArray', doc.get('stringTable', self.strings))
        self.libs = [x['name'] for x in doc['libs']] if 'libs' in doc else self.libs
        if 'resourceTable' in doc:
            self.resources = [self.libs[lib] if lib is not None and lib >= 0 else self.at(name) for name, lib in Column(doc['resourceTable']).rows('name', 'lib')]
        if 'sources' in doc:
            self.sources = [self.at(name) for name, in Column(doc['sources']).rows('filename')]
        if 'sourceLocationTable' in doc:
            self.places = [(self.sources[s], line, column) for s, line, column in Column(doc['sourceLocationTable']).rows('source', 'line', 'column')]
        if 'funcTable' in doc:
            self.funcs = []
            for name, resource, file, source, line, column, place in Column(doc['funcTable']).rows(
                    'name', 'resource', 'fileName', 'source', 'lineNumber', 'columnNumber', 'originalLocation'):
                module = self.resources[resource] if resource is not None and resource >= 0 else None
                where = (self.at(file) if file is not None else self.sources[source] if source is not None else None, line, column)
                self.funcs.append((self.at(name), module, *(self.places[place] if place is not None else where)))
        if 'frameTable' in doc:
            self.frames = [reading.frame(self, *row) for row in Column(doc['frameTable']).rows(
                'location' if Column(doc['frameTable']).raw else 'func', 'line', 'column', 'lib', 'category', 'originalLocation')]
        if 'stackTable' in doc:
            self.stacks = []
            for frame, prefix, offset, category in Column(doc['stackTable']).rows('frame', 'prefix', 'prefixOffset', 'category'):
                prefix = len(self.stacks) - offset if offset else prefix
                outer, inherited = self.stacks[prefix] if prefix is not None else ((), None)
                own, cat = self.frames[frame]
                cat = reading.categories[category] if category is not None else cat
                self.stacks.append((outer + (own,), cat or inherited))


class Reading:
    """Reads a profile: its events as lines of `dump --graph`, by (pid, tid), and the number of samples without a stack."""

    def __init__(self, doc):
        self.lines, self.samples, self.stackless, self.threads, self.marked = {}, [], 0, 0, []
        self.start = Fraction(str(doc['meta'].get('startTime', 0)))
        self.raw = 'preprocessedProfileVersion' not in doc['meta']
        self.process(doc, Fraction(0))

    def process(self, doc, ahead):
        self.ahead = ahead
        self.categories = [c['name'] for c in doc['meta'].get('categories', ())]
        self.schemas = {(s['name'], f['key']): f['format'] for s in doc['meta'].get('markerSchema', ()) for f in s.get('fields', s.get('data', ())) if 'key' in f}
        self.mapped = sorted((lib['start'], lib['end'], lib['name']) for lib in doc.get('libs', ()) if 'start' in lib)
        shared = Tables()
        shared.take(doc, self)
        shared.take(doc.get('shared', {}), self)
        for thread in doc['threads']:
            tables = Tables(shared)
            tables.take(thread, self)
            self.thread(thread, tables)
        pid = self.ident(doc['threads'][0]['pid']) if doc['threads'] else '1'
        for counter in doc.get('counters', ()):
            self.counter(counter, pid)
        for child in doc.get('processes', ()):
            self.process(child, Fraction(str(child['meta']['startTime'])) - self.start)

    def flows(self):
        """Returns the flows as pairs of (ps, track, text without args): each marker and the next one in the order of time and of the file."""
        rows, out = {}, []
        for i, (ps, key, head, flow) in enumerate(self.marked):
            for name, ends in flow.items():
                rows.setdefault(name, []).append((ps, i, key, head, ends))
        for row in rows.values():
            chain = []
            for ps, _, key, head, ends in sorted(row):
                chain.append((ps, key, head))
                if ends:
                    out.append(chain)
                    chain = []
            out.append(chain)
        return [list(pair) for chain in out for pair in zip(chain, chain[1:])]

    def flow(self, args):
        """Returns the flow ids among args, and whether their flow ends."""
        out = {}
        for k, v in args.items():
            form = self.schemas.get((args.get('type'), k))
            if form in ('flow-id', 'terminating-flow-id'):
                out[v] = out.get(v, False) or form == 'terminating-flow-id'
        return out

    def frame(self, tables, func, line, column, lib, category, place):
        if isinstance(func, int) and not tables.funcs or isinstance(func, str):
            name, module, file, first, second = self.location(tables.at(func))
        else:
            name, module, file, first, second = tables.funcs[func]
        if line:
            first, second = line, column
        if lib is not None and lib >= 0:
            module = tables.libs[lib]
        if place is not None:
            file, first, second = tables.places[place]
        return (name, module, file, first, second), None if category is None else self.categories[category]

    def location(self, text):
        if text.startswith('0x'):
            i = bisect.bisect([m[0] for m in self.mapped], int(text, 16)) - 1
            return text, self.mapped[i][2] if i >= 0 and int(text, 16) < self.mapped[i][1] else None, None, None, None
        m = re.match(r'(.*?) \(in (.*?)\)', text)
        if m:
            return m[1], m[2], None, None, None
        m = re.match(r'(.*) \((.+?):(\d+)(?::(\d+))?\)(?:\[\d+\])?$', text)
        return (m[1], None, m[2].split(' -> ')[-1], int(m[3]), int(m[4]) if m[4] else None) if m else (text, None, None, None, None)

    @staticmethod
    def ident(text):
        text = str(text)
        return text if re.fullmatch(r'-?[1-9]\d*|0', text) else quote(text)

    def clock(self, table, first, *others):
        """Yields (time in ps, row) of each row."""
        at = Fraction(0)
        for value, time, delta, *row in Column(table).rows(first, 'time', 'timeDeltas', *others):
            at += Fraction(str(delta)) if delta is not None else 0
            yield self.ps(Fraction(str(time)) if time is not None else at), value, row

    def ps(self, ms):
        return int(abs((ms + self.ahead) * 10**9) + Fraction(1, 2)) * (1 if ms + self.ahead >= 0 else -1)

    def thread(self, thread, tables):
        self.threads += 1
        key = self.ident(thread['pid']), self.ident(thread['tid'])
        out = self.lines.setdefault(key, [])
        for name, cat in (('samples', None), ('jsAllocations', 'JS allocation'), ('nativeAllocations', 'Native allocation')):
            table = thread.get(name) or {}
            unit = 'bytes' if cat else {'tracing-ms': 'ms'}.get(table.get('weightType'), table.get('weightType') or 'samples')
            for ps, stack, (weight, *more) in self.clock(table, 'stack', 'weight', 'threadCPUDelta', 'eventDelay', 'responsiveness'):
                if stack is None:
                    self.stackless += 1
                    continue
                args = [(k, v) for k, v in zip(('threadCPUDelta', 'eventDelay', 'responsiveness'), more) if v is not None]
                self.sample(out, key, ps, *tables.stacks[stack], weight, unit, cat, args)
        first = min((s[4] for s in self.samples if s[3] == key), default=None)
        self.markers(out, key, thread.get('markers') or {}, tables, first)

    def sample(self, out, key, ps, stack, inherited, weight, unit, cat, args=()):
        weight = 1 if weight is None else weight
        args = [f'{k}={v}' for k, v in args] + ([f'tracekit.weight={weight}'] if weight != 1 else [])
        where = [''.join((f' in {quote(m)}' if m else '', f' {quote(f)}' if f else '', f':{x}' if x else '', f':{y}' if y else '')) for _, m, f, x, y in stack[::-1]]
        names = [quote(name) for name, *_ in stack[::-1]]
        text = names[0] + (f' [{cat or inherited}]' if cat or inherited else '') + f' unit={quote(unit)} at' + where[0]
        text += ''.join(f' < {n}{w}' for n, w in zip(names[1:], where[1:]))
        out.append(('sample', ps, 0, text + (f' {{{", ".join(args)}}}' if args else '')))
        self.samples.append((tuple(f[0] for f in stack), Fraction(str(weight)), unit, key, ps))

    def data(self, data, tables):
        out = {}
        for k, v in (data or {}).items():
            if k not in ('stack', 'cause'):
                out[k] = tables.at(v) if self.schemas.get((data.get('type'), k)) in STRING_FORMATS and isinstance(v, int) else v
        return out

    def markers(self, out, key, table, tables, first):
        opened, order = {}, []
        value = lambda v: quote(v) if isinstance(v, str) else json.dumps(v, separators=(',', ':'), ensure_ascii=False)
        for name, start, end, phase, category, data in Column(table).rows('name', 'startTime', 'endTime', 'phase', 'category', 'data'):
            args = self.data(data, tables)
            start, end = (None if x is None else self.ps(Fraction(str(x))) for x in (start, end))
            head = quote(tables.at(name)) + f' [{self.categories[category]}]'
            if data and data.get('type') in ('JS allocation', 'Native allocation') and 'stack' in data and self.raw:
                stack = data['stack']['samples']
                index = stack['data'][0][stack['schema']['stack']]
                self.sample(out, key, start, *tables.stacks[index], data['size'], 'bytes', data['type'])
                continue
            flags = ''
            if phase == 2:
                opened.setdefault(name, []).append((len(order), start, head, args))
                order.append(None)
                continue
            if phase == 3:
                if opened.get(name):
                    _, start, head, before = opened[name].pop()
                    args = {**{k: v for k, v in before.items() if k not in args}, **args}
                else:
                    start, flags = min(end, first if first is not None else end), ' clipped'
            text = head + flags + (' {' + ', '.join(f'{k}={value(v)}' for k, v in args.items()) + '}' if args else '')
            out.append(('instant', start, 0, text) if phase == 0 else ('span', start, max(end - start, 0), text))
            self.marked.append((start, key, head, self.flow(args)))
        for _, start, head, args in sorted((x for rest in opened.values() for x in rest), key=lambda x: x[0]):
            text = head + ' unfinished' + (' {' + ', '.join(f'{k}={value(v)}' for k, v in args.items()) + '}' if args else '')
            out.append(('span', start, None, text))
            self.marked.append((start, key, head, self.flow(args)))

    def counter(self, counter, pid):
        key = self.ident(counter.get('pid', pid)), counter['name']
        out, total = self.lines.setdefault(key, []), 0
        display = counter.get('display', {}).get('graphType')
        adds = display == 'line-accumulated' if display else counter['category'] == 'Memory'
        for ps, count, (number,) in self.clock(counter['samples'], 'count', 'number'):
            total += count
            out.append(('counter', ps, 0, f'{quote(counter["name"])} {{value={total if adds else count}' + (f', number={number}' if number is not None else '') + '}'))


def load(path):
    data = open(path, 'rb').read()
    return json.loads(gzip.decompress(data) if data[:2] == b'\x1f\x8b' else data)


# ---- random profiles ----

class Maker:
    def __init__(self, seed, form):
        self.r, self.form = random.Random(seed), form
        self.version = 24 if form == 'raw' else form
        self.strings = []

    def string(self, text):
        if text not in self.strings:
            self.strings.append(text)
        return self.strings.index(text)

    def table(self, columns):
        if self.form == 'raw':
            return {'schema': {name: i for i, name in enumerate(columns)}, 'data': [list(row) for row in zip(*columns.values())]}
        return {'length': len(next(iter(columns.values()))), **columns}

    def ms(self, most=1000):
        return self.r.choice((self.r.randrange(most), self.r.randrange(most * 1000) / 1000, self.r.randrange(most * 10**6) / 10**6))

    def frames(self):
        """Draws functions: native ones of libraries, scripts, labels."""
        r, out = self.r, []
        for i in range(r.randrange(1, 12)):
            kind = r.choice('nnsla' if self.form == 'raw' else 'nnsl')
            line = r.choice((None, r.randrange(1, 500)))
            place = (line, r.randrange(1, 80) if line else None, r.choice((None, r.randrange(4))))
            if kind == 'n':
                out.append((f'ns::f{i}(λ)', r.randrange(2), None, None, None, *place))
            elif kind == 's':
                out.append((f'run{i}', None, f'https://x.test/{i % 3}.js', r.randrange(1, 90), r.randrange(1, 90), *place))
            else:
                out.append((f'Label::{i} "q"' if kind == 'l' else f'0x{r.randrange(1 << 14):x}', None, None, None, None, *place))
        return out

    def location(self, name, lib, file, line, column):
        return f'{name} (in {("libxul.so", "app")[lib]})' if lib is not None else f'{name} ({file}:{line}:{column})' if file else name

    def tables(self):
        """Returns the shared tables, and the number of stacks."""
        r, frames = self.r, self.frames()
        new = r.choice((.2, .2, .01))  # few new roots make deep stacks, few frames recursive ones
        stacks = [(None if i == 0 or r.random() < new else r.choice((i - 1, r.randrange(i))), r.randrange(len(frames))) for i in range(r.randrange(1, 40))]
        prefix = {'prefixOffset': [0 if p is None else i - p for i, (p, _) in enumerate(stacks)]} if self.version >= 66 else {'prefix': [p for p, _ in stacks]}
        out = {'stackTable': self.table({'frame': [f for _, f in stacks], **prefix})}
        places = {'line': [f[5] for f in frames], 'column': [f[6] for f in frames], 'category': [f[7] for f in frames]}
        if self.form == 'raw':
            out['frameTable'] = self.table({'location': [self.string(self.location(*f[:5])) for f in frames], **places})
            return out, len(stacks)
        scripts = ['https://x.test/0.js', 'https://x.test/1.js', 'https://x.test/2.js']
        libs = [-1 if f[1] is None else f[1] for f in frames]
        lib = {'lib': libs} if self.version >= 70 else {}
        out['frameTable'] = self.table({'func': list(range(len(frames))), 'address': [-1] * len(frames), **lib, **places})
        file = {'source': [scripts.index(f[2]) if f[2] else None for f in frames]} if self.version >= 58 else {
            'fileName': [self.string(f[2]) if f[2] else None for f in frames]}
        original = {'originalLocation': [0 if f[2] and i % 2 else None for i, f in enumerate(frames)]} if self.version >= 64 else {}
        out['funcTable'] = self.table({'name': [self.string(f[0]) for f in frames], 'isJS': [bool(f[2]) for f in frames], **file, **original,
                                       'resource': [2 if f[2] else lib for f, lib in zip(frames, libs)],
                                       'lineNumber': [f[3] for f in frames], 'columnNumber': [f[4] for f in frames]})
        of_lib = {} if self.version >= 70 else {'lib': [0, 1, None]}
        out['resourceTable'] = self.table({'name': [self.string(x) for x in ('libxul.so', 'app', 'https://x.test')], **of_lib, 'type': [1, 1, 3]})
        if self.version >= 58:
            out['sources'] = self.table({'id': [None] * 3, 'filename': [self.string(x) for x in scripts]})
        if self.version >= 64:
            out['sourceLocationTable'] = self.table({'source': [1], 'line': [7], 'column': [3]})
        return out, len(stacks)

    def times(self, n, first=True):
        """Returns a column of n times, as differences where the version has them."""
        times = sorted(self.ms() for _ in range(n))
        if self.form == 'raw' or self.version < DELTAS or self.r.random() < .3:
            return {'time': times}
        exact = [Fraction(str(t)) for t in times]
        return {'timeDeltas': [float(b - a) for a, b in zip([Fraction(0)] + exact, exact)]}

    def samples(self, n_stacks):
        r, n = self.r, self.r.randrange(40)
        out = {'stack': [None if r.random() < .1 else r.randrange(n_stacks) for _ in range(n)], **self.times(n)}
        if r.random() < .5:
            out['threadCPUDelta'] = [None if r.random() < .2 else r.randrange(1 << 20) for _ in range(n)]
        if r.random() < .3:
            out['eventDelay'] = [r.choice((0, 1.5, None)) for _ in range(n)]
        if self.form != 'raw':
            out['weight'] = r.choice((None, [r.choice((1, 7, -2, 0.5, 12.25)) for _ in range(n)]))
        out = self.table(out)
        if self.form != 'raw':
            out['weightType'] = r.choice(('samples', 'tracing-ms', 'bytes'))
        return out

    def payload(self):
        r = self.r
        return r.choice((None, {}, {'type': 'Text', 'name': 'λ "x"'}, {'type': 'flow', 'id': self.string(r.choice(('0xab', '0xc', '0xd'))), 'n': 12},
                         {'type': 'flow', 'last': self.string(r.choice(('0xab', '0xc'))), 'id': self.string(r.choice(('0xab', '0xd')))}, {'type': 'tracing', 'category': 'Paint', 'deep': {'a': [1, None, 2.5]}},
                         {'type': 'x', 'ok': True, 'none': None, 'ms': 1.25, 'cause': {'stack': 0}}))

    def markers(self, n_stacks):
        """Draws instants, intervals, starts and ends, in the order of time. Some ends lack a start, and some starts an end."""
        r, rows = self.r, []
        for at in sorted(Fraction(str(self.ms())) for _ in range(r.randrange(20))):
            phase, name = r.randrange(4), self.string(r.choice(('Paint', 'GC', 'User Timing')))
            until = at + Fraction(str(self.ms(50)))
            start, end = (float(at) if phase != 3 else None), (float(until) if phase == 1 else float(at) if phase == 3 else None)
            data = self.payload()
            if self.form == 'raw' and phase == 0 and r.random() < .3:
                data = {'type': r.choice(('JS allocation', 'Native allocation')), 'size': r.randrange(-100, 1 << 30), 'stack': {
                    'name': 'SyncProfile', 'samples': {'schema': {'stack': 0, 'time': 1}, 'data': [[r.randrange(n_stacks), float(at)]]}}}
            rows.append((name, start, end, phase, r.randrange(4), data))
        columns = zip(*rows) if rows else ((),) * 6
        return self.table(dict(zip(('name', 'startTime', 'endTime', 'phase', 'category', 'data'), map(list, columns))))

    def thread(self, pid, tid, shared, n_stacks):
        r = self.r
        out = {'name': r.choice(('GeckoMain', 'Renderer λ')), 'processName': f'process {pid}', 'pid': pid if self.form == 'raw' else str(pid), 'tid': tid,
               'samples': self.samples(n_stacks), 'markers': self.markers(n_stacks), **shared}
        if self.form != 'raw' and r.random() < .4:
            n = r.randrange(10)
            out[r.choice(('jsAllocations', 'nativeAllocations'))] = self.table({
                'time': sorted(self.ms() for _ in range(n)), 'weight': [r.randrange(-1000, 1 << 33) for _ in range(n)], 'stack': [r.randrange(n_stacks) for _ in range(n)]})
        return out

    def counter(self, name, category, pid):
        n = self.r.randrange(1, 10)
        columns = {**self.times(n), 'count': [self.r.randrange(-1000, 1000) for _ in range(n)]}
        if self.r.random() < .5:
            columns['number'] = [self.r.randrange(9) for _ in range(n)]
        out = {'name': name, 'category': category, 'description': 'd', 'samples': self.table(columns)}
        if self.form != 'raw':
            out['pid'] = str(pid)
        if self.version >= 62:
            out['display'] = {'graphType': 'line-accumulated' if category == 'Memory' else 'line-rate', 'unit': 'bytes'}
        return out

    def process(self, pid, start):
        shared, n_stacks = self.tables()
        self.shared = shared
        in_thread = {k: v for k, v in shared.items() if self.form == 'raw' or self.version < 60 and k != 'sources'}
        threads = [self.thread(pid, pid * 10 + i, in_thread, n_stacks) for i in range(self.r.randrange(1, 4))]
        names = 'stringTable' if self.form == 'raw' else 'stringArray'
        for thread in threads:
            if self.form == 'raw' or self.version < 56:
                thread[names] = self.strings
        meta = {'version': 24, 'startTime': start, 'shutdownTime': None, 'interval': 1, 'stackwalk': 1, 'processType': 0,
                'categories': [{'name': c, 'color': 'grey', 'subcategories': ['Other']} for c in ('Idle', 'Other', 'JavaScript', 'GPU λ')],
                'markerSchema': [{'name': 'flow', 'display': [], 'data' if self.version < 55 else 'fields': [
                    {'key': 'id', 'label': 'Id', 'format': 'flow-id'}, {'key': 'last', 'format': 'terminating-flow-id'}, {'key': 'n', 'format': 'integer'}]}]}
        libs = [{'name': n, 'path': f'/opt/{n}', 'debugName': n, 'breakpadId': 'A', 'arch': ''} for n in ('libxul.so', 'app')]
        if self.form == 'raw':
            for i, lib in enumerate(libs):
                lib.update(start=(2 - i) * 4096, end=(3 - i) * 4096, offset=0)
        return {'meta': meta, 'libs': libs, 'threads': threads, 'counters': [self.counter('malloc', 'Memory', pid), self.counter('power', 'power', pid)]}

    def profile(self):
        start = self.r.choice((1700000000123, 1700000000123.25))
        doc = self.process(7, start)
        if self.form == 'raw':
            doc['processes'] = []
            for i in range(self.r.randrange(3)):
                child = self.process(8 + i, start + self.r.choice((0.5, 250.125)))
                doc['processes'].append({**child, 'processes': []})
            return doc
        doc['meta']['preprocessedProfileVersion'] = self.version
        if self.version < 41:
            for thread in doc['threads']:
                thread['libs'] = doc['libs']
            doc['libs'] = []
        shared = {k: v for k, v in self.shared.items() if self.version >= 60 or k == 'sources' and self.version >= 58}
        if self.version >= 56:
            shared['stringArray'] = self.strings
            doc['shared'] = shared
        return doc


def make(seed, form):
    return Maker(seed, form).profile()


if __name__ == '__main__':
    with open(sys.argv[2], 'w', encoding='utf-8') as f:
        json.dump(make(5, 'raw' if sys.argv[1] == 'raw' else int(sys.argv[1])), f, ensure_ascii=False, separators=(',', ':'))
        f.write('\n')
