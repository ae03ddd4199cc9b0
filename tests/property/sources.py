#!/usr/bin/env python3
"""Checks large sources, and the output of listings.

    hosts     a run directory of 1,000 hosts is listed in linear time, and merged in little more memory than one host
    files     only a few files are open at a time, however many inputs there are
    archives  the same traces in tar, tar.gz, tar.zst, tar.xz, zip and a folder give the same result
    schemas   --json of list, extract and convert conforms to schemas/
    stdin     an archive through a pipe is read like a named one
    capped    a file with as many spans as its producer's limit is not reported as complete"""
import json
import os
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from schema import conforms  # noqa: E402
from verdict import finish, judge  # noqa: E402

TRACEKIT, FIXTURES, SRC = os.environ['TRACEKIT'], os.environ['FIXTURES'], os.environ['SRC']
SANITIZED = '/san/' in TRACEKIT  # sanitizers replace the allocator, which makes memory meaningless
RUN = 'logs/plugins/profile/2026_11_20_12_00_00'


def run(*args, files=None, stdin=subprocess.DEVNULL):
    """Returns output, CPU seconds and peak memory in bytes."""
    limit = (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))) if files else None
    with tempfile.TemporaryFile() as out:
        p = subprocess.Popen([TRACEKIT, *args], stdin=stdin, stdout=out, stderr=subprocess.PIPE, preexec_fn=limit)
        err = p.stderr.read().decode('utf-8', 'replace')
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read().decode()
    if p.returncode:
        raise SystemExit(f'{args}: status {p.returncode}: {err}')
    return text, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def make_hosts(folder, n):
    os.makedirs(f'{folder}/{RUN}')
    for i in range(n):
        for kind in ('xplane.pb', 'trace.json.gz'):
            shutil.copy(f'{FIXTURES}/xplane/multihost/host-{i % 3}.{kind}', f'{folder}/{RUN}/host-{i}.{kind}')


def events_of(path):
    return json.loads(run('info', '-q', '--json', path)[0])['traces'][0]['events']


def hosts(work):
    make_hosts(f'{work}/few', 100)
    make_hosts(f'{work}/many', 1000)
    _, few, _ = run('list', '--json', f'{work}/few')
    text, many, _ = run('list', '--json', f'{work}/many')
    files = json.loads(text)['files']
    best = [f['file'] for f in files if f['best']]
    judge('list of 1,000 hosts', '' if len(files) == 2000 and len(best) == 1000 and all('xplane' in f for f in best) else f'{len(files)} files')
    judge('order of hosts', '' if best[10].endswith('host-10.xplane.pb') else best[10])
    judge('time of listing', '' if many < 25 * few + 0.5 else f'100 hosts: {few:.2f} s, 1,000 hosts: {many:.2f} s')
    _, _, one = run('extract', '-q', '--host', 'host-0', f'{work}/many', '-o', f'{work}/one.json', '-j1')
    _, _, all_of_them = run('extract', '-q', f'{work}/many', '-o', f'{work}/all.json', '-j1', '--max-memory', '1G', files=24)
    found, expected = events_of(f'{work}/all.json'), sum((202, 201, 204)[i % 3] for i in range(1000))
    judge('events of 1,000 hosts', '' if found == expected else f'{found}, not {expected}')
    # Each host keeps a few KB of metadata for the end, far less than its graph. Small graphs wait together for the second pass,
    # up to 1/32 of --max-memory.
    _, _, tight = run('extract', '-q', f'{work}/many', '-o', f'{work}/again.json', '-j1', '--max-memory', '64M', files=24)
    for what, memory, more in (('memory of 1,000 hosts', all_of_them, 64), ('where there is little', tight, 14)):
        judge(what, '' if SANITIZED or memory < one + (more << 20) else f'{memory >> 20} MB; of one: {one >> 20} MB')


def archives(work):
    ranks = [f'{FIXTURES}/json/torch/ddp2_plain/rank{i}.json.gz' for i in (0, 1)]
    os.makedirs(f'{work}/folder/sub')
    for path in ranks:
        shutil.copy(path, f'{work}/folder/sub')
    for kind in ('', 'gz', 'bz2', 'xz'):
        with tarfile.open(f'{work}/a.tar.{kind}'.rstrip('.'), f'w:{kind}') as t:
            t.add(f'{work}/folder/sub', 'sub')
    with zipfile.ZipFile(f'{work}/a.zip', 'w', zipfile.ZIP_DEFLATED) as z:
        for path in ranks:
            z.write(path, f'sub/{os.path.basename(path)}')
    run('merge', '-q', *ranks, '-o', f'{work}/expected.json', '--no-provenance')
    expected = open(f'{work}/expected.json', 'rb').read()
    names = ['folder', 'a.tar', 'a.tar.gz', 'a.tar.bz2', 'a.tar.xz', 'a.zip', 'a.zip:sub', 'a.tar.gz:sub/rank*']
    if shutil.which('zstd'):
        subprocess.run(['zstd', '-q', f'{work}/a.tar'], check=True)
        names.append('a.tar.zst')
    for name in names:
        for threads in ('-j1', '-j2'):
            run('merge', '-q', f'{work}/{name}', '-o', f'{work}/found.json', '--no-provenance', '--force', threads)
            same = open(f'{work}/found.json', 'rb').read() == expected
            judge(f'{name} {threads}', '' if same else 'not what its files merge to')
    many = []
    for i in range(60):
        many.append(f'{work}/{i}.zip')
        shutil.copy(f'{work}/a.zip', many[-1])
    run('info', '-q', *many, files=24)
    judge('many archives', '')


def schemas(work):
    def held(name, text):
        with open(f'{SRC}/schemas/{name}.schema.json', encoding='utf-8') as f:
            judge(f'schemas/{name}', conforms(json.load(f), json.loads(text)))
    make_hosts(f'{work}/three', 3)
    held('list', run('list', '--json', f'{work}/three')[0])
    held('list', run('list', '--json', '--deep', '-a', f'{FIXTURES}/nasty/gzip', f'{FIXTURES}/json/torch')[0])
    held('extract', run('extract', '--json', f'{work}/three', '-o', f'{work}/x.json')[0])
    held('extract', run('extract', '--json', '--raw', f'{work}/three', '-o', f'{work}/raw/')[0])
    held('report', run('convert', '--json', f'{work}/three', '-o', f'{work}/y.json')[0])


def stdin(work):
    for name in ('a.zip', 'a.tar', 'a.tar.gz'):
        with open(f'{work}/{name}', 'rb') as f:
            text, _, _ = run('info', '-q', '--json', '-', stdin=f)
        judge(f'{name} as a file on stdin', '' if len(json.loads(text)['traces']) == 2 else 'not its two traces')
        cat = subprocess.Popen(['cat', f'{work}/{name}'], stdout=subprocess.PIPE)
        text, _, _ = run('info', '-q', '--json', '-', stdin=cat.stdout)
        cat.stdout.close()
        cat.wait()
        judge(f'{name} through a pipe', '' if len(json.loads(text)['traces']) == 2 else 'not its two traces')


def capped(work):
    """Checks the limit of jaxlib: at most a million spans."""
    for n, want in ((1000000, 'capped'), (999999, 'ok')):
        path = f'{work}/host.trace.json'
        with open(path, 'w', encoding='utf-8') as f:
            f.write('{"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[')
            f.writelines(f'{{"ph":"X","pid":1,"tid":1,"ts":{i},"dur":1,"name":"a"}},' for i in range(n))
            f.write('{}]}')
        found = json.loads(run('list', '--json', '--deep', path)[0])['files'][0]['health']
        judge(f'{n} spans', '' if found == want else found)


with tempfile.TemporaryDirectory() as folder:
    hosts(folder)
    archives(folder)
    schemas(folder)
    stdin(folder)
    capped(folder)
sys.exit(finish())
