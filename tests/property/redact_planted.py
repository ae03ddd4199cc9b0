#!/usr/bin/env python3
"""Plants a secret in every text of a trace: names, categories, ids, args, their keys, metadata, unknown fields of events,
messages and the top level, names of files and archive members, and gzip headers. After redaction the output must not contain
a secret, in any format and packing, unless the list of kept texts names it.

The secrets follow "password=", so that they are recognised in names too, which are kept by default."""
import glob
import gzip
import io
import json
import os
import re
import stat
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import check, finish, judge  # noqa: E402
from xspace import message, varint  # noqa: E402

TRACEKIT, FIXTURES = os.environ['TRACEKIT'], os.environ['FIXTURES']
FORMATS = ('json', 'json.gz', 'pftrace', 'xplane.pb')
SECRET = re.compile(rb'(?i)secret\d{6}')
MOST = 150000 if not os.environ.get('LONG') else 1 << 30


def run(*args, **more):
    return subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, capture_output=True, **more)


class Planter:
    def __init__(self):
        self.n = 0
        self.same = {}

    def word(self):
        self.n += 1
        return f'secret{self.n:06d}'

    def text(self, value):
        return f'{value} password={self.word()}'

    def json(self, value, keys=True):
        """Plants secrets in all texts of args or metadata, including keys."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.json(v) for v in value]
        if isinstance(value, dict):
            planted = {k: self.json(v) for k, v in value.items()}
            return {**planted, self.text('key'): 1, self.word(): self.word()} if keys else planted
        return value

    def field(self, value):
        """Gives equal ids, names and categories the same secret, so that they stay equal."""
        key = json.dumps(value)
        if key not in self.same:
            self.same[key] = self.json(value, False)
        return self.same[key]

    def event(self, e):
        out = {k: v if k in ('ph', 'args') else self.field(v) for k, v in e.items()}
        args = e.get('args')
        if e.get('ph') == 'M':
            out['name'] = e.get('name')
        if isinstance(args, dict):
            out['args'] = self.json(args, e.get('ph') != 'C')
        if e.get('ph', '-') in ('X', 'i'):
            out.update({self.word(): self.word(), self.word() + 'n': 5, 'cname': self.word()})
        return out

    def trace(self, trace):
        if isinstance(trace, list):
            trace = {'traceEvents': trace}
        out = {k: v if k == 'traceEvents' else self.json(v) for k, v in trace.items()}
        out['traceEvents'] = [self.event(e) for e in trace['traceEvents'] if isinstance(e, dict)]
        out[self.word()] = {self.word(): [self.word()]}
        out['host_name'] = self.text('node')
        return out

    def protobuf(self, data, depth=0):
        """Plants secrets in everything that looks like text, and adds an unknown field to every message."""
        out, found = b'', fields(data)
        if found is None:
            return None
        for number, kind, value in found:
            if kind != 2:
                out += varint(number << 3 | kind) + value
                continue
            text = is_text(value)
            inner = None if text or depth > 8 or not value else self.protobuf(value, depth + 1)
            planted = value + f' password={self.word()}'.encode() if text else inner if inner is not None else value
            out += message(number, planted)
        return out + (message(29999, self.word().encode()) if found and depth < 4 else b'')


def is_text(value):
    return len(value) >= 2 and all(32 <= c < 127 for c in value)


def take_varint(data, at):
    value = shift = 0
    while at < len(data) and shift < 70:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at
    return None, at


def fields(data):
    """Returns [(number, wire type, value)], or None if the data is not a message."""
    at, out = 0, []
    while at < len(data):
        key, at = take_varint(data, at)
        if not key or not 0 < key >> 3 < 30000:
            return None
        start, kind = at, key & 7
        if kind == 0:
            value, at = take_varint(data, at)
            if value is None:
                return None
        elif kind == 2:
            size, at = take_varint(data, at)
            if size is None or at + size > len(data):
                return None
            start, at = at, at + size
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            return None
        if at > len(data):
            return None
        out.append((key >> 3, kind, data[start:at]))
    return out


def gzipped(data, name, comment):
    """Returns a gzip member with a name, a comment and an extra field."""
    extra = b'SE\x0a\x00' + comment[:10].ljust(10).encode()
    head = b'\x1f\x8b\x08\x1c' + bytes(4) + b'\x00\x03' + struct.pack('<H', len(extra)) + extra + name.encode() + b'\0' + comment.encode() + b'\0'
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    return head + packer.compress(data) + packer.flush() + struct.pack('<II', zlib.crc32(data), len(data) & 0xffffffff)


def contents(path):
    """Returns the bytes of a file, or of all files below a folder, raw and decompressed, with their names."""
    if os.path.isdir(path):
        return b'\n'.join(p.encode() + b'\n' + (contents(p) if os.path.isfile(p) else b'')
                          for p in sorted(glob.glob(glob.escape(path) + '/**', recursive=True)) if p != path + '/')
    with open(path, 'rb') as f:
        data = f.read()
    return data + (gzip.decompress(data) if data[:2] == b'\x1f\x8b' else b'')


def kept_of(path):
    with open(path, encoding='utf-8') as f:
        rows = [line.rstrip('\n').split('\t') for line in f]
    return '\n'.join(row[3] for row in rows[1:] if row[0] == 'kept').encode()


def examine(what, path, listed, most=0):
    """Checks that every secret left in the output is in the list of kept texts, and that at most `most` are left."""
    kept = set(SECRET.findall(kept_of(listed)))
    left = set(SECRET.findall(contents(path)))
    if not most:
        judge(what, f'the list says that {len(kept)} secrets were kept, such as {sorted(kept)[:3]}' if kept else '')
    judge(what, f'{len(left - kept)} secrets are left, such as {sorted(left - kept)[:3]}' if left - kept else '')
    check(f'{what}: the list is the owner\'s alone', stat.S_IMODE(os.stat(listed).st_mode) == 0o600)


def one(source, folder):
    """Checks a single planted trace."""
    name = os.path.relpath(source, folder)
    listed = f'{folder}/list.tsv'
    plain = f'{folder}/plain.json'
    p = run('convert', '-q', source, '-o', plain, '--force')
    if p.returncode:
        return
    with open(plain, 'rb') as f:
        data = f.read()
    if b'"ph"' in data:  # a trace that consists of unknown packets is not converted
        check(f'{name}: convert keeps the secrets', SECRET.search(data))
    for ending in FORMATS:
        out = f'{folder}/out.{ending}'
        for how in (('--names', 'keep'), ('--names', 'hash'), ('--keep-numbers',), ('--keep-args', '*')):
            p = run('redact', source, '-o', out, '--force', '--redact-report', listed, *how)
            judge(f'{name} -> {ending}: redact', p.stderr.decode() if p.returncode else '')
            if not p.returncode:
                examine(f'{name} -> {ending} {how}', out, listed, how[0] in ('--keep-args', '--keep-numbers'))
    run('redact', source, '-o', f'{folder}/out.json', '--force')
    p = run('report', f'{folder}/out.json', '--html', f'{folder}/out.html', '--force')
    if p.returncode == 0:
        left = SECRET.findall(contents(f'{folder}/out.html'))
        judge(f'{name}: the page of the report', f'{left[:3]} is left' if left else '')


def pack(path, planter, folder):
    """Checks the same trace inside containers with their own names and comments."""
    with open(path, 'rb') as f:
        data = f.read()
    ending = path[path.index('.', path.rindex('/')):]
    made = [f'{folder}/{planter.word()}{ending}.gz', f'{folder}/{planter.word()}.tar', f'{folder}/{planter.word()}.zip']
    with open(made[0], 'wb') as f:
        f.write(gzipped(data, planter.word(), planter.word()))
    with tarfile.open(made[1], 'w') as tar:
        member = tarfile.TarInfo(f'{planter.word()}/{planter.word()}{ending}')
        member.size, member.uname, member.gname = len(data), planter.word(), planter.word()
        tar.addfile(member, io.BytesIO(data))
    with zipfile.ZipFile(made[2], 'w') as zipped:
        zipped.writestr(f'{planter.word()}/{planter.word()}{ending}', data)
        zipped.comment = planter.word().encode()
    return made


def several(paths, folder):
    """Checks merge, extract and shrink, with all their output files."""
    listed = f'{folder}/list.tsv'
    outputs = [f'{folder}/merged.{ending}' for ending in FORMATS] + [f'{folder}/run/']
    for out in outputs:
        for how in ('keep', 'hash'):
            clocks, table = f'{folder}/clocks.json', f'{folder}/table.{"csv" if how == "keep" else "json"}'
            p = run('merge', *paths, '--redact', '--names', how, '-o', out, '--force', '--redact-report', listed, '--align-report', clocks,
                    '--collectives', table)
            what = f'merge -> {os.path.relpath(out, folder)}, names {how}'
            judge(what, p.stderr.decode() if p.returncode else '')
            for path in (out.rstrip('/'), clocks, table) if not p.returncode else ():
                examine(f'{what}: {os.path.basename(path)}', path, listed)
    for path in paths[:1]:
        p = run('shrink', path, '--redact', '--percent', '95', '-o', f'{folder}/small.json', '--force', '--redact-report', listed)
        judge('shrink', p.stderr.decode() if p.returncode else '')
        if not p.returncode:
            examine('shrink', f'{folder}/small.json', listed)
        os.makedirs(f'{folder}/extracted', exist_ok=True)
        p = run('extract', path, '--redact', '--force', '--redact-report', listed, cwd=f'{folder}/extracted')
        judge('extract', p.stderr.decode() if p.returncode else '')
        if not p.returncode:
            names = ' '.join(os.listdir(f'{folder}/extracted'))
            examine('extract', f'{folder}/extracted', listed)
            check('extract: its name', not SECRET.search(names.encode()), names)


def plant(source, planter, folder):
    with (gzip.open if source.endswith('.gz') else open)(source, 'rb') as f:
        data = f.read()
    ending = re.search(r'(\.xplane\.pb|\.pftrace|\.json)(\.gz)?$', source)
    if not ending or len(data) > MOST:
        return None
    path = f'{folder}/{planter.word()}{ending[1]}'
    try:
        trace = json.loads(data) if ending[1] == '.json' else None
        if isinstance(trace, dict) and 'traceEvents' not in trace:
            return None  # JSON of another format
        planted = json.dumps(planter.trace(trace)).encode() if trace is not None else planter.protobuf(data)
    except ValueError:
        return None
    with open(path, 'wb') as f:
        f.write(planted)
    return path


# Places that no fixture uses.
PLACES = [
    {'ph': 'X', 'name': 'a', 'cat': 'kernel', 'pid': 'p', 'tid': 't', 'ts': 1, 'dur': 9, 'id': 'i', 'args': {'a': 'b', 'c': {'d': ['e']}}},
    {'ph': 'b', 'name': 'a', 'cat': 'c', 'id2': {'global': 'g'}, 'scope': 's', 'pid': 1, 'tid': 1, 'ts': 3, 'args': {'a': 'b'}},
    {'ph': 'e', 'name': 'a', 'cat': 'c', 'id2': {'global': 'g'}, 'scope': 's', 'pid': 1, 'tid': 1, 'ts': 4, 'args': {'a': 'b'}},
    {'ph': 's', 'name': 'f', 'cat': 'c', 'id': 'x', 'pid': 1, 'tid': 1, 'ts': 3, 'args': {'a': 'b'}},
    {'ph': 'f', 'name': 'f', 'cat': 'c', 'id': 'x', 'pid': 1, 'tid': 1, 'ts': 5, 'bp': 'e'},
    {'ph': 'i', 's': 'g', 'name': 'i', 'pid': 1, 'tid': 1, 'ts': 5},
    {'ph': 'C', 'name': 'counter', 'id': 'k', 'pid': 1, 'tid': 1, 'ts': 5, 'args': {'series': 5, 'text': 'v'}},
    {'ph': 'B', 'name': 'b', 'pid': 1, 'tid': 1, 'ts': 6, 'sf': 5, 'stack': ['f']},
    {'ph': 'E', 'name': 'b', 'cat': 'd', 'pid': 1, 'tid': 1, 'ts': 8, 'args': {'a': 'b'}},
    {'ph': 'O', 'name': 'o', 'id': 1, 'pid': 1, 'tid': 1, 'ts': 3, 'args': {'snapshot': {'a': 'b'}}},
    {'ph': 'M', 'name': 'process_name', 'pid': 1, 'args': {'name': 'python'}},
    {'ph': 'M', 'name': 'process_labels', 'pid': 1, 'args': {'labels': 'l'}},
    {'ph': 'M', 'name': 'thread_name', 'pid': 1, 'tid': 1, 'args': {'name': 'main'}},
    {'ph': 'X', 'name': 'n', 'pid': 1, 'tid': 1, 'ts': 20, 'dur': 1, 'bind_id': 'q', 'flow_out': True}]


def main():
    planter = Planter()
    planted = []
    with tempfile.TemporaryDirectory() as folder:
        inputs = f'{folder}/{planter.word()}'
        os.makedirs(inputs)
        for rank in range(2):
            trace = planter.trace({'traceEvents': PLACES, 'displayTimeUnit': 'ms', 'otherData': {'a': 'b'}, 'stackFrames': {'5': {'name': 'f'}}})
            trace['distributedInfo'] = {'rank': rank, 'world_size': 2, 'backend': planter.word()}
            planted.append(f'{inputs}/{planter.word()}.json')
            with open(planted[-1], 'w', encoding='utf-8') as f:
                json.dump(trace, f)
        several(planted, folder)
        first = planted[0]
        for source in sorted(glob.glob(FIXTURES + '/**', recursive=True)):
            if os.path.isfile(source) and '/nasty' not in source and '/hostile' not in source:
                planted.append(plant(source, planter, inputs))
        for path in [p for p in planted if p]:
            one(path, folder)
        for path in pack(first, planter, inputs):
            one(path, folder)
    return finish()


sys.exit(main())
