#!/usr/bin/env python3
"""Checks traces embedded in HTML pages, and traces in several files.

    pages    an HTML page with a trace is read as that trace, plain and compressed, in an archive and through a pipe; a page without a
             trace is reported by its name
    pieces   the files of a process that rotates its output are one trace; a span may begin in one file and end in another
    apart    other files remain separate inputs, unless --join makes them pieces
    runs     an empty run does not affect the other runs"""
import base64
import gzip
import json
import os
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import check, finish  # noqa: E402

TRACEKIT, FIXTURES = os.environ['TRACEKIT'], os.environ['FIXTURES']


def run(*args, stdin=subprocess.DEVNULL):
    p = subprocess.run([TRACEKIT, *args], stdin=stdin, capture_output=True, text=True)
    return p.returncode, p.stdout, p.stderr


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as f:
        f.write(text if isinstance(text, bytes) else text.encode())
    return path


def span(name, ts, dur=1, pid=1, **more):
    return {'ph': 'X', 'name': name, 'ts': ts, 'dur': dur, 'pid': pid, 'tid': 1, **more}


def events(n):
    return [span(f'e{i}</b>"{{[', i) for i in range(n)]


def count(path):
    status, out, _ = run('info', '--json', path)
    return json.loads(out)['traces'][0]['events'] if status == 0 else -1


def dumped(*args):
    status, out, err = run('dump', '--jsonl', *args)
    return [json.loads(line) for line in out.splitlines()], err


def packed(n, wrap=0):
    text = base64.b64encode(gzip.compress(json.dumps({'traceEvents': events(n)}).encode(), mtime=0)).decode()
    return '\n'.join(text[i:i + wrap] for i in range(0, len(text), wrap)) if wrap else text


def pages(work):
    text = json.dumps({'traceEvents': events(9)})
    code = '<script>if (a < 1 && "</div>") { go([1]); }</script>\n' * 40000  # 2 MB of the viewer's own code
    made = {
        'viztracer': (f'<!DOCTYPE html>\n<html><head>{code}</head><script id="viewer-data" type="application/json">\n{text}\n</script>', 9),
        'trace2html': (f'<!doctype html>\n<html>{code}<script id="viewer-data" type="text/plain">\n{packed(20000)}\n</script></html>', 20000),
        'wrapped': (f'<html><script id="viewer-data" type="application/json">\n{packed(500, 76)}\n</script></html>', 500),
        'array': ("<html><script id='viewer-data'>" + json.dumps(events(3)) + '</script>', 3),
        'systrace': ('<!DOCTYPE HTML><html><!-- a > b --><script class="trace-data" type="application/text">\n# tracer: nop\n'
                     f'a-1 [000] .... 1.000001: x: y\n</script><script class="trace-data" type="application/text">\n{text}\n</script>', 9),
        'assigned': ('<!doctype html><script>const t = {"displayTimeUnit":"ms", "traceEvents":' + json.dumps(events(70000)) + '};show(t)</script>',
                     70000),
        'saved': ('\ufeff<!-- saved from url=(1) -->\n<HTML><SCRIPT id=viewer-data>' + text + '</SCRIPT>', 9),
        'cut': (f'<html><script id="viewer-data">{text[:-40]}', 8),
    }
    for name, (page, n) in made.items():
        path = write(f'{work}/pages/{name}.html', page)
        check(f'pages: {name}', count(path) == n, f'{count(path)} events, expected {n}')
        write(f'{path}.gz', gzip.compress(page.encode(), mtime=0))
        check(f'pages: {name}.gz', count(f'{path}.gz') == n)
    with open(f'{work}/pages/viztracer.html', 'rb') as f:
        status, out, _ = run('info', '--json', '-', stdin=f)
    check('pages: pipe', status == 0 and json.loads(out)['traces'][0]['events'] == 9)
    with tarfile.open(f'{work}/pages.tar', 'w') as tar:
        tar.add(f'{work}/pages/array.html', 'a.html')
    check('pages: archive', count(f'{work}/pages.tar') == 3)
    for name, page, word in (('login', '<!DOCTYPE html><html><script>login({"a":1})</script></html>', 'HTML page without a trace'),
                             ('ftrace', '<html><script class="trace-data" type="application/text">\n# tracer: nop\n</script>', 'ftrace'),
                             ('empty', '<html><script id="viewer-data"></script>', 'HTML page without a trace')):
        status, _, err = run('info', write(f'{work}/pages/{name}.html', page))
        check(f'pages: {name}', status == 3 and word in err, err)


BEGIN = [{'ph': 'B', 'name': 'outer', 'ts': 100, 'pid': 7, 'tid': 7}, {'ph': 'b', 'cat': 'n', 'name': 'req', 'id': '0x2', 'ts': 110, 'pid': 7, 'tid': 7}]
END = [{'ph': 'e', 'cat': 'n', 'name': 'req', 'id': '0x2', 'ts': 200, 'pid': 7, 'tid': 7}, {'ph': 'E', 'name': 'outer', 'ts': 300, 'pid': 7, 'tid': 7}]
MIDDLE = [span('gc', 150, 5, 7)]


def spans_of(evs):
    return sorted((e['name'], round(e.get('dur_ms', -1), 6)) for e in evs)


def pieces(work):
    whole = [('gc', 0.005), ('outer', 0.2), ('req', 0.09)]
    names = {'node': 'node_trace.{}.log', 'part': 'trace.part{}.json', 'chunk': 'run_chunk-{}.json', 'rotation': 'p-rotation.{}.json',
             'segment': 'x-segment{}-main.json'}
    forms = {'object': lambda e: json.dumps({'traceEvents': e, 'metadata': {'a': 1}}), 'array': json.dumps,
             'open': lambda e: json.dumps(e)[:-1] + ',\n'}
    for name, pattern in names.items():
        for form, text in forms.items():
            folder = f'{work}/pieces/{name}-{form}'
            for i, evs in zip((8, 9, 10), (BEGIN, MIDDLE, END)):
                write(f'{folder}/{pattern.format(i)}', text(evs))
            for command in ('extract', 'merge', 'convert'):
                out = f'{folder}.{command}.json'
                status, said, err = run(command, folder, '-o', out)
                found = spans_of(dumped(out)[0]) if status == 0 else err
                check(f'pieces: {command} {name}-{form}', found == whole, found)
    listed = json.loads(run('list', '--json', f'{work}/pieces/node-object')[1])['files']
    check('pieces: list shows each', len(listed) == 3 and not any('rank' in f for f in listed), listed)
    folder = f'{work}/pieces/packed'
    for i, evs in ((1, BEGIN + MIDDLE), (2, END)):
        write(f'{folder}/node_trace.{i}.log.gz', gzip.compress(json.dumps({'traceEvents': evs}).encode(), mtime=0))
    check('pieces: compressed', spans_of(dumped(folder)[0]) == whole)
    folder = f'{work}/pieces/ranks'  # two processes, each with its own pieces
    for rank in (0, 1):
        for i, evs in ((1, BEGIN), (2, END)):
            write(f'{folder}/rank{rank}_part{i}.json', json.dumps([dict(e, pid=rank) for e in evs]))
    d = json.loads(run('merge', '-n', '--json', folder)[1])
    check('pieces: of two ranks', [r['rank'] for r in d['ranks']] == [0, 1], d['ranks'])
    proto = f'{work}/pieces/proto'
    one = write(f'{proto}/in.json', json.dumps(BEGIN + MIDDLE + END))
    run('convert', one, '-o', f'{proto}/all.pftrace')
    with open(f'{proto}/all.pftrace', 'rb') as f:
        data = f.read()
    at = cut_packets(data)
    for i, piece in ((1, data[:at]), (2, data[at:])):
        write(f'{proto}/cut/trace_part{i}.pftrace', piece)
    check('pieces: Perfetto', spans_of(dumped(f'{proto}/cut')[0]) == spans_of(dumped(f'{proto}/all.pftrace')[0]))


def cut_packets(data):
    """Returns the offset at which a packet in the middle ends."""
    at = 0
    while at < len(data) // 2:
        size, shift, at = 0, 0, at + 1
        while True:
            byte = data[at]
            size, shift, at = size | (byte & 127) << shift, shift + 7, at + 1
            if byte < 128:
                break
        at += size
    return at


def apart(work):
    folder = f'{work}/apart'
    a, b = write(f'{folder}/x_1.json', json.dumps(BEGIN)), write(f'{folder}/x_2.json', json.dumps(MIDDLE + END))
    d = json.loads(run('merge', '-n', '--json', a, b)[1])
    check('apart: no word for a piece', [r['rank'] for r in d['ranks']] == [1, 2], d['ranks'])
    out = f'{work}/joined.json'
    status, _, err = run('merge', '--join', b, a, '-o', out)
    check('apart: --join', status == 0 and spans_of(dumped(out)[0]) == [('gc', 0.005), ('outer', 0.2), ('req', 0.09)], err)
    for i, pid in ((1, 7), (2, 8)):
        write(f'{folder}/p/trace_part{i}.json', json.dumps([span('a', i, 1, pid)]))
    d = json.loads(run('merge', '-n', '--json', f'{folder}/p')[1])
    check('apart: other processes', len(d['ranks']) == 2, d['ranks'])
    p = write(f'{folder}/m.pftrace', b'\x0a\x02\x08\x01')
    status, out, err = run('merge', '--join', '--json', a, p, '-n')
    check('apart: other formats are recordings', status == 0 and json.loads(out)['ranks'][0].get('recordings') == p, err)


def runs(work):
    for i, run_name in enumerate(('2026_11_20_12_00_00', '2026_11_21_12_00_00', '2026_11_22_12_00_00')):
        folder = f'{work}/logs/plugins/profile/{run_name}'
        with open(f'{FIXTURES}/xplane/multihost/host-0.xplane.pb', 'rb') as f:
            write(f'{folder}/vm.xplane.pb', b'' if i == 1 else f.read())
    for more in ((), ('--split',), ('-f', 'xplane'), ('--raw',)):
        out = f'{work}/out{"".join(more)}/'
        os.makedirs(out)
        status, said, err = run('extract', '--all', f'{work}/logs', '-o', out, *more)
        got = sum(len(files) for _, _, files in os.walk(out))
        good = 3 if '--raw' in more else 2  # --raw also copies the empty file
        check(f'runs: extract --all {more}', got == good and status == (0 if good == 3 else 3), f'{got} files, status {status}: {err}')
    status, _, err = run('extract', '--all', '--strict', f'{work}/logs', '-o', f'{work}/strict.json')
    check('runs: --strict', status in (2, 3) and not os.path.exists(f'{work}/strict.json'), err)


def main():
    with tempfile.TemporaryDirectory() as work:
        for part in (pages, pieces, apart, runs):
            part(work)
    return finish()


sys.exit(main())
