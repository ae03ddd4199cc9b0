#!/usr/bin/env python3
"""Checks the output of merge with Python's json and tarfile.

    manifest   the tar contains the decompressed inputs, the manifest matches its schema, the offsets are those of the
               generated clocks; output is deterministic; equal names, pipes and archive members work; inputs that Perfetto
               cannot read are refused
    mixed      XPlane hosts, PyTorch ranks and Perfetto traces in one merge: sums of events, all names and their order, in
               all three formats
    runs       several runs of one log directory whose files all have the same names
    broken     an unreadable rank is named and stops the merge; --keep-going leaves it out, also if it is a pipe that fails
    many       200 inputs with at most 32 files open, in the memory of one input plus that of inputs waiting to be written
               (LONG=1: inputs of 2 MB each)"""
import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import machines  # noqa: E402
from manifest import refusal  # noqa: E402
from schema import conforms  # noqa: E402
from verdict import finish, judge  # noqa: E402

TRACEKIT, FIXTURES, GEN, SRC = (os.environ[name] for name in ('TRACEKIT', 'FIXTURES', 'GEN', 'SRC'))
LONG, SANITIZED = bool(os.environ.get('LONG')), '/san/' in TRACEKIT
TORCH = [f'{FIXTURES}/json/torch/ddp4_full/rank{i}.json.gz' for i in range(4)]
XPLANE = [f'{FIXTURES}/xplane/multihost/host-{i}.xplane.pb' for i in range(3)]
PERFETTO = f'{FIXTURES}/perfetto/small.pftrace.gz'


def run(*args, stdin=subprocess.DEVNULL, env=None):
    """Returns status, output and messages."""
    p = subprocess.run([TRACEKIT, *args], stdin=stdin, capture_output=True, env=env, check=False)
    return p.returncode, p.stdout, p.stderr.decode()


def good(*args, **more):
    status, out, err = run(*args, **more)
    judge(' '.join(args), f'status {status}: {err}' if status else '')
    return out, err


# Program that runs the command from a small process, because the peak memory of a child starts at that of its parent.
MEASURED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]), int(sys.argv[1])))
_, status, usage = os.wait4(os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ), 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024)
"""


def measured(*args, files=1024):
    """Returns the peak memory in bytes."""
    p = subprocess.run([sys.executable, '-I', '-S', '-c', MEASURED, str(files), TRACEKIT, *args], stdout=subprocess.PIPE, check=True)
    status, memory = map(int, p.stdout.split())
    judge(' '.join(args[:3]), f'status {status}' if status else '')
    return memory


def read(path):
    with open(path, 'rb') as f:
        return f.read()


def generate(path, *options):
    raw = subprocess.run([GEN, *options], check=True, stdout=subprocess.PIPE).stdout
    with open(path, 'wb') as f:
        f.write(gzip.compress(raw, 1) if path.endswith('.gz') else raw)
    return path


# ---- manifest ----

with open(f'{SRC}/schemas/perfetto_manifest.schema.json', encoding='utf-8') as f:
    SCHEMA = json.load(f)


def unpack(data):
    """Returns the members by name, the manifest separately, and a fault of the tar."""
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        members = tar.getmembers()
        contents = {m.name: tar.extractfile(m).read() for m in members}
    odd = [m.name for m in members if m.mtime or m.uid or m.gid or m.uname or m.gname or m.mode != 0o644 or len(m.name) > 99]
    refused = refusal([(m.name, contents[m.name]) for m in members])
    text = contents.pop(members[0].name)
    manifest = json.loads(text)
    files = manifest['perfetto_manifest']['files']
    faults = [
        f'odd members: {odd}' if odd or members[0].name != 'perfetto_manifest.json' else '',
        '' if text.startswith(b'{"perfetto_manifest"') else 'the manifest would not be known as one',
        conforms(SCHEMA, manifest),
        refused,
        '' if [f['path'] for f in files] == list(contents) else f'files {[f["path"] for f in files]}, members {list(contents)}',
        '' if sum('clocks' not in f for f in files) == 1 else 'not one file is the reference',
        '' if all(f['clocks']['sync_to']['file'] in contents for f in files if 'clocks' in f) else 'synced to no member']
    return contents, files, manifest['perfetto_manifest'], next((fault for fault in faults if fault), '')


def manifest(what, want, *args, **more):
    """Checks a manifest; `want` is the expected bytes of each input."""
    out, err = good('merge', '--manifest', '-q', *args, '-o', '-', **more)
    contents, files, whole, fault = unpack(out)
    if not fault and list(contents.values()) != want:
        fault = f'members {[len(c) for c in contents.values()]}, inputs {[len(w) for w in want]} bytes'
    judge(what, fault)
    return list(contents), files, whole, err


def manifests(work):
    ranks = [generate(f'{work}/node{r // 2}_{10 + r}.1.pt.trace.json.gz', 'kineto', '--ranks', '4', '--hosts', '2', '--rank', str(r),
                      '--spans', '3000', '--offset-us', '0,1500') for r in range(4)]
    base = [json.loads(gzip.decompress(read(p)))['baseTimeNanoseconds'] for p in ranks]
    names, files, whole, _ = manifest('manifest of four ranks', [gzip.decompress(read(p)) for p in ranks], *ranks)
    found = [f.get('clocks', {}).get('offset_ns', 0) for f in files]
    true = [base[r] - base[0] - 1500000 * (r // 2) for r in range(4)]
    judge('offsets', '' if all(abs(a - b) < 10000 for a, b in zip(found, true)) else f'{found}, truly {true}')
    judge('machines', '' if [f['machine']['name'] for f in files] == [f'rank {r} - node{r // 2}' for r in range(4)] else f'{files}')
    own = json.loads(whole['attributes']['tracekit'])
    judge('ranks in the attributes', '' if [r['rank'] for r in own['ranks']] == [0, 1, 2, 3] and 'align' in own else f'{own}')

    _, files, _, _ = manifest('another reference', [gzip.decompress(read(p)) for p in ranks], *ranks, '--reference', 'node1', '--no-provenance')
    there = [f.get('clocks', {}).get('offset_ns', 0) for f in files]
    judge('offsets against it', '' if max(abs(a - b - there[0]) for a, b in zip(there, true)) < 10000 else f'{there}, truly {true}')

    good('merge', '--manifest', '-q', *ranks, '-o', f'{work}/a.tar')
    good('merge', '--manifest', '-q', *ranks, '-j1', '-o', f'{work}/b.tar.gz')
    judge('equal bytes', '' if read(f'{work}/a.tar') == gzip.decompress(read(f'{work}/b.tar.gz')) else 'they differ')

    _, files, whole, _ = manifest('a Perfetto trace is the reference', [gzip.decompress(read(ranks[0])), gzip.decompress(read(PERFETTO))], ranks[0], PERFETTO)
    judge('its clock', '' if whole['trace_time'] == {'clock': 'BOOTTIME', 'file': 'small.pftrace'} else f'{whole["trace_time"]}')

    guests = f'{work}/guests.pftrace'
    with open(guests, 'wb') as f:
        f.write(machines.trace())
    _, files, whole, _ = manifest('a trace of several machines', [gzip.decompress(read(ranks[0])), read(guests)], ranks[0], guests)
    label = files[1]['machines'][0]['name'] if 'machines' in files[1] else ''
    named = [{'id': 0, 'name': label}] + [{'id': i, 'name': f'{label} - machine {i}'} for i in (7, machines.OTHER)]
    judge('its machines', '' if label and files[1]['machines'] == named else f'{files}')
    found = whole['trace_time'], files[0]['clocks']['sync_to']
    want = {'clock': 'BOOTTIME', 'file': 'guests.pftrace', 'machine': label}
    judge('time told against it', '' if found == (want, want) else f'{found}')
    status, _, err = run('merge', '--manifest', '-q', guests, guests, '-o', f'{work}/two.tar')
    judge('two traces of several machines', '' if status == 2 and 'merge without' in err else f'status {status}: {err}')

    drifts = [generate(f'{work}/drift{r}_{r}.1.pt.trace.json', 'kineto', '--ranks', '2', '--hosts', '2', '--rank', str(r), '--no-stack',
                       '--steps', '120', '--layers', '2', '--drift-ppm', '0,80') for r in range(2)]
    _, err = good('merge', '--manifest', *drifts, '-o', f'{work}/drift.tar')
    drift = re.search(r'drift1.*drifts by (-?[0-9.]+) us', err)
    span = [float(v) for v in re.findall(r'"ts": ?([0-9.]+)', read(drifts[1]).decode()) if float(v) > 0]
    true = (max(span) - min(span)) * 80e-6
    judge('drift', '' if drift and abs(abs(float(drift[1])) - true) < true / 10 else f'{err.strip()!r}, truly {true:.1f} us')


def member_names(work):
    for folder in ('x', 'y', 'z'):
        os.makedirs(f'{work}/{folder}')
    inputs = [shutil.copy(TORCH[i], f'{work}/{folder}/trace.json.gz') for i, folder in enumerate(('x', 'y', 'z'))]
    want = [gzip.decompress(read(p)) for p in inputs]
    names, _, _, _ = manifest('equal names', want, *inputs)
    judge('distinct', '' if len(set(names)) == 3 and names[0] == 'trace.json' else f'{names}')
    with zipfile.ZipFile(f'{work}/logs.zip', 'w') as z:
        for p in inputs:
            z.write(p, os.path.relpath(p, work))
    names, _, _, _ = manifest('members of an archive', want, f'{work}/logs.zip')
    judge('of an archive', '' if len(set(names)) == 3 and names[0] == 'trace.json' else f'{names}')
    odd = [shutil.copy(TORCH[0], f'{work}/.hidden \u00fc.json.gz'), shutil.copy(TORCH[1], f'{work}/{"long" * 50}.json.gz'),
           shutil.copy(TORCH[2], f'{work}/perfetto_manifest.json')]
    names, _, _, _ = manifest('odd names', want, *odd)
    judge('safe', '' if all(re.fullmatch(r'[^.][!-~]*', n) for n in names) else f'{names}')
    plain = f'{work}/plain.json'
    with open(plain, 'wb') as f:
        f.write(gzip.decompress(read(TORCH[3])))
    with open(plain, 'rb') as f:
        manifest('a pipe', [want[0], read(plain)], inputs[0], '-', stdin=subprocess.Popen(['cat'], stdin=f, stdout=subprocess.PIPE).stdout)


def refusals(work):
    packed = f'{work}/rank9.json.zst'
    good('convert', '-q', TORCH[1], '-o', packed)
    plain = f'{work}/rank9.json'
    good('convert', '-q', TORCH[1], '-o', plain)
    manifest('zstd', [gzip.decompress(read(TORCH[0])), read(plain)], TORCH[0], packed)
    for bad, why in ((XPLANE[0], 'XPlane'), (f'{work}/none.json', 'cannot open')):
        out = f'{work}/refused.tar'
        status, _, err = run('merge', '--manifest', TORCH[0], bad, '-o', out)
        judge(f'refused: {why}', '' if status == 3 and why in err and bad in err and not os.path.exists(out) else f'{status}: {err}')
        status, _, err = run('merge', '--manifest', '--keep-going', '-q', TORCH[0], bad, '-o', out, '--force')
        contents, _, _, fault = unpack(read(out))
        judge(f'left out: {why}', fault or ('' if status == 3 and list(contents) == ['rank0.json'] else f'{status}: {err}'))
        os.remove(out)


# ---- traces ----

def counted(path):
    return json.loads(good('info', '-q', '--json', path)[0])['traces'][0]['events']


def names_and_order(path):
    """Returns the process names, sorted by the process_sort_index of each process."""
    data = json.loads(good('convert', '-q', path, '-f', 'json', '-o', '-')[0])
    names, order = {}, {}
    for e in data['traceEvents']:
        if e.get('name') == 'process_name':
            names[e['pid']] = e['args']['name']
        if e.get('name') == 'process_sort_index':
            order[e['pid']] = int(e['args']['sort_index'])
    return [names[pid] for pid in sorted(names, key=lambda pid: order.get(pid, 0))]


def mixed(work):
    inputs = [*XPLANE, *TORCH, PERFETTO]
    n = sum(map(counted, inputs))
    for ending in ('json.gz', 'pftrace', 'xplane.pb'):
        out = f'{work}/mixed.{ending}'
        good('merge', '-q', '--align=clock', *inputs, '-o', out)
        found = counted(out)
        judge(f'mixed into {ending}', '' if found == n else f'{found} events, the inputs have {n}')


def ordered(work):
    ranks = [generate(f'{work}/host{r % 2}_{10 + r}.1.pt.trace.json', 'kineto', '--ranks', '4', '--hosts', '4', '--rank', str(r), '--spans',
                      '300') for r in range(4)]
    for ending in ('json', 'pftrace', 'xplane.pb'):
        for by, key in (('rank', lambda n: n[0]), ('host', lambda n: (n[1], n[0])), ('kind', lambda n: (n[2], n[0]))):
            out = f'{work}/ordered.{ending}'
            good('merge', '-q', '--force', *reversed(ranks), '--label', 'R{rank} {host} | {process}', '--group-by', by, '-o', out)
            seen = [re.search(r'R([0-9]) host([0-9])(?: \| (.*))?', n) for n in names_and_order(out)]
            if None in seen:
                judge(f'labels in {ending}', f'{names_and_order(out)}')
                continue
            keys = [key((m[1], m[2], 1 if 'GPU' in (m[3] or '') else 0 if 'CPU' in (m[3] or '') else 2)) for m in seen]
            judge(f'--group-by={by} in {ending}', '' if keys == sorted(keys) and len(keys) >= 8 else f'{names_and_order(out)}')


def early(work):
    """Checks that no event is before the trace's start time, which Perfetto's readers would drop, in either order of inputs."""
    for ranks in (XPLANE, XPLANE[::-1], TORCH[1::-1]):
        for options in ((), ('--align=none',)):
            good('merge', '-q', *options, *ranks, '-o', f'{work}/early.pftrace', '--force')
            out, _ = good('convert', '-q', f'{work}/early.pftrace', '-f', 'json', '-o', '-')
            first = min(float(e['ts']) for e in json.loads(out)['traceEvents'] if e.get('ph', '-') != 'M')
            judge(f'start of {os.path.basename(ranks[0])}, ... {options}', '' if first >= 0 else f'{first} us')


def kept(work):
    """Checks that the merge metadata of the ranks survives further commands, even with --no-provenance."""
    for rank in range(3):
        with open(f'{work}/t{rank}.json', 'w', encoding='utf-8') as f:
            idle = {'ph': 'M', 'name': 'process_name', 'pid': 99, 'args': {'name': f'idle{rank}'}}
            bad = {'ph': 'X', 'name': 'back', 'pid': rank, 'tid': 1, 'ts': 90, 'dur': -5}
            json.dump({'distributedInfo': {'rank': rank}, f'own{rank}': 1,
                       'traceEvents': [idle, {'ph': 'X', 'name': 'e', 'pid': rank, 'tid': 1, 'ts': 10, 'dur': 5}, bad, bad]}, f)
    t = [f'{work}/t{rank}.json' for rank in range(3)]
    both = f'{work}/both.json'
    _, err = good('merge', '--align=none', *t[:2], t[1], '-o', both)
    counts = re.findall(r't1.json: repair: negative dur[^(]*\((\d+) times', err)
    judge('count of a note that both copies have', '' if counts == ['4'] else f'{err}')
    for args, own in ((('merge', both), 1), (('merge', both, t[2]), 1), (('merge', t[2], both), 1), (('convert', both), 1),
                      (('merge', '--no-provenance', *t[:2]), 1), (('convert', '--no-provenance', both), 1),
                      (('convert', '--no-provenance', t[0]), 0)):
        out, _ = good(args[0], '-q', *args[1:], '-f', 'json', '-o', '-')
        said = json.dumps(json.loads(out).get('tracekit', ''))
        found = ('own1' in said) + ('idle1' in said), '"command"' in said
        judge(f'metadata of {args}', '' if found == (2 * own, '--no-provenance' not in args) else f'{found}')


def runs(work):
    whole = 0
    folders = []
    for i, time in enumerate(('2026_11_20_10_00_00', '2026_11_20_11_00_00', '2026_11_20_12_00_00')):
        folders.append(f'{work}/logs/plugins/profile/{time}')
        os.makedirs(folders[-1])
        shutil.copy(XPLANE[i], f'{folders[-1]}/vm.xplane.pb')
        whole += counted(XPLANE[i])
    for ending in ('json', 'pftrace', 'xplane.pb'):
        good('merge', '-q', *folders, '-o', f'{work}/runs.{ending}')
        found = counted(f'{work}/runs.{ending}')
        judge(f'three runs into {ending}', '' if found == whole else f'{found} events, the runs have {whole}')


def broken(work):
    cut = f'{work}/rank1.json.gz'
    with open(cut, 'wb') as f:
        f.write(read(TORCH[1])[:5000])
    alone = counted(TORCH[0])
    for options in ([], ['--align=clock']):
        out = f'{work}/left.json'
        status, _, err = run('merge', *options, TORCH[0], cut, '-o', out)
        judge('a broken rank', '' if status == 3 and cut in err and '--keep-going' in err and not os.path.exists(out) else f'{status}: {err}')
        status, _, err = run('merge', '-k', '-q', *options, TORCH[0], cut, '-o', out)
        judge('left out', '' if status == 3 and cut in err and counted(out) == alone else f'{status}: {err}')
        # no space to spool the pipe; a pipe that breaks off
        for env, data in (({'TMPDIR': f'{work}/none'}, TORCH[1]), ({}, cut)):
            with open(data, 'rb') as f:
                pipe = subprocess.Popen(['cat'], stdin=f, stdout=subprocess.PIPE).stdout
            status, _, err = run('merge', '-k', '-q', '--force', *options, TORCH[0], '-', '-o', out, stdin=pipe, env={**os.environ, **env})
            fails = data == cut or not options  # with wall clocks alone no input is read twice
            fault = f'{status}: {err}' if status != (3 if fails else 0) or (fails and counted(out) != alone) else ''
            judge(f'a pipe {options} {env}', fault)
        os.remove(out)


def many(work):
    spans = '5000' if LONG else '100'
    first = generate(f'{work}/rank0.json', 'kineto', '--spans', spans)
    ranks = [first] + [f'{work}/rank{i}.json' for i in range(1, 200)]
    for path in ranks[1:]:
        os.link(first, path)
    options = ('-q', '-j1', '--force', '--max-memory', '1G')  # 1/32 of it is for graphs that wait
    one = measured('convert', first, *options, '-o', f'{work}/one.json.gz')
    for more in ((f'{work}/all.json.gz',), (f'{work}/all.pftrace',), (f'{work}/all.tar', '--manifest')):
        memory = measured('merge', *ranks, *options, '-o', *more, files=32)
        text = f'{memory >> 20} MiB, one takes {one >> 20} MiB'
        if LONG:
            print(f'200 ranks of {os.path.getsize(first) >> 10} KiB into {os.path.basename(more[0])}: {text}')
        judge(f'memory of {more}', '' if SANITIZED or memory < one + (64 << 20) else text)
    found, n = counted(f'{work}/all.json.gz'), counted(first)
    judge('200 ranks', '' if found == 200 * n else f'{found} events, 200 times {n} are wanted')


for test in (manifests, member_names, refusals, mixed, ordered, early, kept, runs, broken, many):
    with tempfile.TemporaryDirectory() as folder:
        test(folder)
sys.exit(finish())
