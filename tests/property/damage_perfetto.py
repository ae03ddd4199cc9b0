#!/usr/bin/env python3
"""Checks that damage in a Perfetto file costs only the damaged part and is reported with its offset. Single bits are flipped at
1,000 places (LONG=1: 6,000): nothing crashes, some events always remain, and in the median all events except the damaged one
are unchanged. A frame with a wrong tag or length costs almost never more than itself; garbage between packets and missing
packets cost nothing else."""
import collections
import gzip
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import zlib
from concurrent.futures import ThreadPoolExecutor

TRACEKIT, SRC, FIXTURES = (os.environ[name] for name in ('TRACEKIT', 'SRC', 'FIXTURES'))
sys.path.insert(0, os.path.join(SRC, 'tests', 'support'))
from verdict import check, finish  # noqa: E402

FLIPS = 1500 if os.environ.get('LONG') else 250  # flips in each of four files


def run(*args, data=None):
    return subprocess.run([TRACEKIT, *args], input=data, stdin=None if data is not None else subprocess.DEVNULL, capture_output=True)


def events(dump):
    """Returns a Counter of (process, kind, time, rest of the line), and the notes."""
    origin, process, found, notes = 0, '', collections.Counter(), []
    for line in dump.splitlines():
        words = line.split(None, 3)
        if line.startswith('trace '):
            origin = int(re.search(r'origin=(-?\d+)ns', line).group(1)) * 1000
        elif line.startswith('track '):
            process = next((w for w in words if w.startswith('pid=')), '')
        elif len(words) > 2 and words[0].isdigit() and words[1] in ('span', 'instant', 'counter'):
            found[process, words[1], int(words[2]) + origin, *words[3:]] += 1
        elif line.startswith('note repair'):
            notes.append(line)
    return found, notes


def read(data):
    """Returns (status, events, notes)."""
    p = run('dump', '--graph', '-q', '-', data=data)
    return (p.returncode, *events(p.stdout.decode('utf-8', 'replace')))


def frames(data):
    """Returns the offsets of each frame in the file: [(start, start of its packet, end)]."""
    at, out = 0, []
    while at < len(data):
        start, size, shift = at, 0, 0
        at += 1
        while True:
            size |= (data[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if data[at - 1] < 128:
                break
        out.append((start, at, at + size))
        at += size
    return out


def flip(data, bit):
    changed = bytearray(data)
    changed[bit >> 3] ^= 1 << (bit & 7)
    return bytes(changed)


def gone(whole, found):
    return sum((whole - found).values())


def varint(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)


def frame(packet):
    return b'\x0a' + varint(len(packet)) + packet


def flips(name, data, pool):
    status, whole, _ = read(data)
    rng = random.Random(name)
    bits = [rng.randrange(len(data) * 8) for _ in range(FLIPS)]
    results = list(pool.map(lambda bit: read(flip(data, bit)), bits))
    crashed = [bits[i] for i, r in enumerate(results) if r[0] not in (0, 3)]
    empty = [bits[i] for i, r in enumerate(results) if not r[1]]
    check(f'{name}: nothing crashes', status == 0 and not crashed, crashed[:5])
    check(f'{name}: no result is without events', not empty, empty[:5])
    median = statistics.median(gone(whole, r[1]) for r in results)
    check(f'{name}: all events but the one hit, in the median', median <= 2, median)
    fewer = [bits[i] for i, r in enumerate(results) if sum(r[1].values()) < sum(whole.values()) - 1 and not r[2]]
    check(f'{name}: what is missing is said', not fewer, fewer[:5])


def headers(name, data, pool):
    """Flips every bit of the tags and lengths of some packets; the expected result is known, because the frames of the file are
    known."""
    _, whole, _ = read(data)
    rng = random.Random(name)
    places = [(start, bit) for start, packet, _ in rng.sample(frames(data), 12) for bit in range(start * 8, packet * 8)]
    odd = [(bit >> 3, bit & 7, status, gone(whole, found), notes)
           for (_, bit), (status, found, notes) in zip(places, pool.map(lambda p: read(flip(data, p[1])), places))
           if status or gone(whole, found) > 4 or not notes]
    # a few flips yield a different valid trace
    check(f'{name}: bits of {len(places) // 8} tags and lengths', len(odd) <= len(places) // 50, odd[:3])


def holes(name, data):
    """Checks that garbage between packets is skipped, and that only the zeroed packets are lost."""
    _, whole, _ = read(data)
    all_frames = frames(data)
    start, _, _ = all_frames[len(all_frames) // 2]
    for what, noise in ('zeros', bytes(500)), ('text', b'it is no packet ' * 40), ('noise', random.Random(1).randbytes(3000)):
        status, found, notes = read(data[:start] + noise + data[start:])
        check(f'{name}: {what} between packets', status == 0 and found == whole and notes, (gone(whole, found), notes))
        check(f'{name}: {what} said with their place', any('packet' in n and 0 <= int(n.split('@')[1].split()[0]) - start < 16 for n in notes), (start, notes))
        status, found, notes = read(data + noise)
        check(f'{name}: {what} at the end', status == 0 and found == whole and notes, (gone(whole, found), notes))
    cut = data[:all_frames[-30][2] - 3]
    status, found, notes = read(cut)
    check(f'{name}: cut', status == 0 and 0 < gone(whole, found) < 40 and any('truncated' in n for n in notes), notes)


def compressed(name, data):
    """Flips a bit in deflated packets; everything before it must be kept."""
    all_frames = frames(data)
    half = all_frames[len(all_frames) // 2][0]
    packed = zlib.compress(data[half:], 9)
    _, whole, _ = read(data)
    status, found, notes = read(data[:half] + frame(b'\x92\x03' + varint(len(packed)) + packed))
    check(f'{name}: deflated', status == 0 and found == whole and not notes, notes)
    damaged = flip(packed, len(packed) // 2 * 8)
    status, found, notes = read(data[:half] + frame(b'\x92\x03' + varint(len(packed)) + damaged))
    check(f'{name}: deflated and damaged', status == 0 and gone(whole, found) < sum(whole.values()) * 0.6 and notes, (gone(whole, found), notes))
    status, found, notes = read(data[:half] + frame(b'\x92\x03' + varint(len(packed)) + packed[:-1] + b'?'))
    check(f'{name}: a wrong checksum', status == 0 and found == whole and 'checksum' in ''.join(notes), notes)


def text_filter():
    """Checks that U+FFFD as the only non-ASCII character is not reported as damage."""
    trace = {'traceEvents': [{'ph': 'X', 'name': 'a \ufffd b', 'pid': 1, 'tid': 1, 'ts': 0, 'dur': 1}]}
    there = run('convert', '-q', '-', '-f', 'perfetto', '-o', '-', data=json.dumps(trace).encode())
    status, found, notes = read(there.stdout)
    check('U+FFFD in a name', status == 0 and '\ufffd' in str(found) and not notes, (status, found, notes))


def main():
    def made(path):
        return run('convert', '-q', os.path.join(FIXTURES, path), '-f', 'perfetto', '-o', '-').stdout

    def fixture(path):
        with gzip.open(os.path.join(FIXTURES, 'perfetto', path)) as f:
            return f.read()

    files = {'small': fixture('small.pftrace.gz'), 'two_hosts': fixture('two_hosts.pftrace.gz'), 'viz': made('json/viz/viz_small.json'),
             'rank0': made('json/torch/ddp2_plain/rank0.json.gz')}
    with ThreadPoolExecutor(2) as pool:
        for name, data in files.items():
            flips(name, data, pool)
            headers(name, data, pool)
            holes(name, data)
            compressed(name, data)
    text_filter()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'x.pftrace')
        with open(path, 'wb') as f:
            f.write(flip(files['viz'], 8 * frames(files['viz'])[100][0]))
        check('--strict refuses', run('convert', '--strict', path, '-f', 'json', '-o', os.devnull).returncode == 3)
    return finish()


sys.exit(main())
