#!/usr/bin/env python3
"""Lets each system call fail once. Every command, in every format, must then give the same result as without the fault, or a
failure status, a message and an unchanged folder: the old output complete, and no other file.

tests/preload/fault.c, preloaded, makes the n-th call of a kind fail; a first run counts the calls. LONG=1 tries every single
fault, and also makes all calls from the second or a later one on fail; otherwise all faults of `convert` and of memory in
`apply` are tried, and a sample of the others.

    faults.py [WORD]    only cases whose name contains WORD"""
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile

TRACEKIT, B, SRC, CC = (os.environ[name] for name in ('TRACEKIT', 'B', 'SRC', 'CC'))
LONG = bool(os.environ.get('LONG'))
JOBS = int(os.environ.get('JOBS') or os.cpu_count() or 2)
FOUND = os.path.join(SRC, 'fixtures', 'hostile')
OLD = b'what stood here before'
SECONDS = 20
FEW = 20  # faults of a kind that a case other than convert gets without LONG
READ_ERRORS = {'read', 'open', 'stat', 'malloc', 'mmap', 'thread'}


def inputs(ending):
    return os.path.join(FOUND, 'small' + ending)


def cases(folder):
    """Yields name, arguments, and files that the command writes. `extract` skips unreadable files and reports this in its
    status."""
    endings = ('.json', '.pftrace', '.xplane.pb')
    for a in endings:
        for b in endings:
            yield f'convert{a}{b}', ['convert', inputs(a), '-o', 'out' + b], ['out' + b]
        yield f'convert{a}.gz', ['convert', inputs(a), '-o', 'out.json.gz'], ['out.json.gz']
        yield f'convert{a}.zst', ['convert', inputs(a), '-o', 'out.pftrace.zst'], ['out.pftrace.zst']
        yield f'merge{a}', ['merge', inputs(a), inputs('.json'), inputs(a), '-o', 'out' + a], ['out' + a]
        yield f'redact{a}', ['redact', inputs(a), '--names', 'hash', '--keep-numbers', '--key-file', inputs(a), '-o', 'out' + a], ['out' + a]
        yield f'filter{a}', ['filter', inputs(a), '-e', 'name =~ ".*a.*" or dur > 1us', '-o', 'out' + a], ['out' + a]
        yield f'shrink{a}', ['shrink', inputs(a), '--to', '2KB', '-o', 'out' + a], ['out' + a]
        yield f'rebase{a}', ['rebase', inputs(a), '--shift', '1ms', '-o', 'out' + a], ['out' + a]
        yield f'split{a}', ['split', inputs(a), '--by', 'process', '-o', 'part-{}' + a], None
        yield f'info{a}', ['info', '--json', inputs(a)], []
        yield f'size{a}', ['size', inputs(a)], []
        yield f'dump{a}', ['dump', inputs(a)], []
        yield f'check{a}', ['check', inputs(a)], []
        yield f'check.assert{a}', ['check', inputs(a), '--assert', 'count(*) > 0', '--assert', 'length < 1h'], []
        yield f'top{a}', ['top', inputs(a), '--by', 'track', '--csv'], []
        yield f'tree{a}', ['tree', inputs(a), '--json'], []
        yield f'report{a}', ['report', inputs(a), '--json', '--html', 'out.html', '--force'], ['out.html']
        yield f'diff{a}', ['diff', inputs(a), inputs('.json'), '--by', 'path', '--json'], []
    ranks = [os.path.join(folder, f'rank{rank}{ending}') for rank, ending in enumerate(('.json', '.pftrace', '.xplane.pb'))]
    clocks = os.path.join(folder, 'clocks.json')
    for b in endings:
        yield f'merge.collectives{b}', ['merge', *ranks, '-o', 'out' + b, '--collectives', 'table.csv', '--link-collectives'], ['out' + b, 'table.csv']
        yield (f'merge.given{b}', ['merge', *ranks, '-o', 'out' + b, '--offsets-from', clocks, '--collectives', 'table.json', '--rank', '0..1'],
               ['out' + b, 'table.json'])
        yield f'merge.part{b}', ['merge', *ranks, '-o', 'out' + b, '--rank', '1..2', '--step', '1', '--to', '8KB'], ['out' + b]
    scans = os.path.join(folder, 'all.scan')
    yield 'scan', ['scan', *ranks, '-o', 'out.scan'], ['out.scan']
    yield 'scan.join', ['scan', '--join', scans, scans, '-o', 'out.scan'], ['out.scan']
    parts = [os.path.join(folder, f'{rank}.part') for rank in range(3)]
    tasks = os.path.join(folder, 'tasks.json')
    yield 'apply', ['apply', tasks, ranks[1], '--input', 'rank1.json', '-o', 'out.part'], ['out.part']
    yield 'concat', ['concat', tasks, *parts, '-o', 'out.json.gz'], ['out.json.gz']
    yield 'plan', ['plan', scans, '-o', 'out.json', '--collectives', 'table.csv'], ['out.json', 'table.csv']
    yield 'report.ranks', ['report', *ranks, '--json'], []
    yield 'list', ['list', FOUND], []
    yield 'extract', ['extract', os.path.join(SRC, 'fixtures', 'xplane', 'multihost'), '-o', 'out.json.gz'], ['out.json.gz']


def make_ranks(folder):
    """Writes three ranks of one job in different formats, and the clock report of their merge."""
    for rank in range(3):
        events = []
        for i in range(6):
            late, end = (37 * i * (rank + 1)) % 50, 1000 * i + 131 * (i * i % 7) + 500 + 40 * rank
            args = {'Collective name': 'allreduce', 'Seq': i + 1, 'Process Group Name': '0', 'Process Group Ranks': '[0, 1, 2]'}
            events.append({'ph': 'X', 'cat': 'kernel', 'name': 'ncclDevKernel_AllReduce', 'pid': 0, 'tid': 7, 'ts': end - 100 + late,
                           'dur': 100 - late, 'args': args})
        events += [{'ph': 'X', 'cat': 'gpu_user_annotation', 'name': f'ProfilerStep#{i}', 'pid': 0, 'tid': 7, 'ts': 3000 * i, 'dur': 2900}
                   for i in range(2)]
        with open(os.path.join(folder, f'rank{rank}.json'), 'w', encoding='utf-8') as f:
            json.dump({'baseTimeNanoseconds': 10 ** 18, 'distributedInfo': {'rank': rank, 'world_size': 3}, 'traceEvents': events}, f)
    for made in (['convert', 'rank1.json', '-o', 'rank1.pftrace'], ['convert', 'rank2.json', '-o', 'rank2.xplane.pb'],
                 ['merge', 'rank0.json', 'rank1.json', 'rank2.json', '-n', '--align-report', 'clocks.json'],
                 ['scan', 'rank0.json', 'rank1.json', 'rank2.json', '-o', 'all.scan'], ['plan', 'all.scan', '-f', 'json.gz', '-o', 'tasks.json'],
                 *(['apply', 'tasks.json', f'rank{rank}.json', '-o', f'{rank}.part'] for rank in range(3))):
        subprocess.run([os.path.realpath(TRACEKIT), *made], cwd=folder, check=True, capture_output=True)


class Case:
    def __init__(self, name, args, files, fault_library, folder):
        self.name, self.args, self.files, self.library, self.folder = name, args, files, fault_library, folder
        self.number, self.writes = 0, files != []
        p, self.after = self.run(None)
        self.status, self.stdout = p.returncode, p.stdout
        with open(os.path.join(folder, 'counts'), encoding='ascii') as f:
            self.calls = {kind: int(n) for kind, n in (line.split() for line in f)}

    def run(self, fault):
        """Runs the command in a new folder. Returns the process and the files that it left."""
        self.number += 1
        with tempfile.TemporaryDirectory(dir=self.folder) as work:
            for name in self.files or ():
                with open(os.path.join(work, name), 'wb') as f:
                    f.write(OLD)
            env = dict(os.environ, LD_PRELOAD=self.library, TRACEKIT=os.path.realpath(TRACEKIT), SOURCE_DATE_EPOCH='0')
            env.update({'FAULT': fault} if fault else {'FAULT_COUNTS': os.path.join(self.folder, 'counts')})
            force = ['--force'] if self.files else []
            p = subprocess.run([TRACEKIT, *self.args, *force], cwd=work, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, timeout=SECONDS)
            return p, self.files_in(work)

    @staticmethod
    def files_in(folder):
        found = {}
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), 'rb') as f:
                found[name] = f.read()
        return found

    def judge(self, fault):
        """Returns the fault, or None."""
        try:
            p, after = self.run(fault)
        except subprocess.TimeoutExpired:
            return 'it never ends'
        if p.returncode == self.status:
            if after != self.after:
                return f'status {p.returncode}, and another result: {[(name, len(b), len(self.after.get(name, b""))) for name, b in after.items()]}'
            told = p.stdout == self.stdout or (self.writes and b'a table is missing' in p.stderr)
            return None if told else f'status {p.returncode}, and other text'
        if p.returncode not in (2, 3, 4):
            return f'status {p.returncode}: {p.stderr.decode(errors="replace")[-300:]}'
        if not p.stderr.strip():
            return f'status {p.returncode} without a message'
        untouched = {name: OLD for name in self.files or ()}
        # with several outputs, some may already have been renamed into place
        if len(untouched) > 1 and after.keys() == untouched.keys():
            after = {name: OLD if data == self.after.get(name) else data for name, data in after.items()}
        if self.name == 'extract' and p.returncode == 3 and b'left out' in p.stdout:
            return None if after.keys() == untouched.keys() else f'other files: {sorted(after)}'
        if after != untouched:
            return f'status {p.returncode}, and the folder is not as it was: {sorted(after)}'
        return None

    def faults(self):
        for kind, n in self.calls.items():
            step = 1 if LONG or self.name.startswith('convert.json.json') or self.name in ('apply', 'report.json') and kind == 'malloc' else max(1, n // FEW)
            for i in range(1 + (n % step) // 2, n + 1, step):
                yield f'{kind}:{i}'
            for i in range(1, n + 1, 1 if LONG else max(1, n // 10)):
                yield f'{kind}:{i}+'


def build_library(folder):
    library = os.path.join(folder, 'fault.so')
    subprocess.run([*CC.split(), '-std=c11', '-D_GNU_SOURCE', '-D_FILE_OFFSET_BITS=64', '-O1', '-shared', '-fPIC', '-o', library,
                    os.path.join(SRC, 'tests', 'preload', 'fault.c'), '-ldl', '-pthread'], check=True)
    return library


def is_static():
    """True if the program has no dynamic loader, so that nothing can be preloaded."""
    with open(TRACEKIT, 'rb') as f:
        start = f.read(4096)
    return start.startswith(b'\x7fELF') and b'/ld' not in start


def main():
    if is_static():
        print('SKIPPED: faults: nothing can be preloaded into a static program')
        return 0
    if B.endswith('/san'):
        print('SKIPPED: faults: a sanitizer has an allocator of its own')
        return 0
    word = sys.argv[1] if len(sys.argv) > 1 else ''
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        library = build_library(folder)
        make_ranks(folder)
        for name, args, files in cases(folder):
            if word not in name:
                continue
            place = os.path.join(folder, name)
            os.mkdir(place)
            case = Case(name, args, files, library, place)
            faults = list(case.faults())
            bad = [(fault, why) for fault, why in zip(faults, pool.map(case.judge, faults)) if why]
            passed += len(faults) - len(bad)
            failed += len(bad)
            for fault, why in bad[:5 if not LONG else 50]:
                print(f'not ok  {name}: {fault}: {why}')
            shutil.rmtree(place)
    print(f'{passed} passed, {failed} failed')
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
