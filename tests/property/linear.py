#!/usr/bin/env python3
"""Checks that no input takes disproportionate time: crafted files (tests/support/crafted.py) go through every command and every
pair of formats, and none may take more than 10 times as long as an ordinary file of the same size. A report on eight times
as many devices, streams or allocators may take at most 3 times as long per byte.

Compares CPU seconds of one run each; of a second run if the first was too slow. With LONG=1 files are 5 MB, with all
commands on all formats; otherwise 0.5 MB, with the commands that do most.

    linear.py [WORD]    only kinds whose name contains WORD"""
import os
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import crafted  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']
LONG = bool(os.environ.get('LONG'))
SIZE = 5000000 if LONG else 500000
MOST, SLACK = 10, 0.1 if LONG else 0.3  # factor over the ordinary file, and seconds added to it
SECONDS = 120
FORMATS = ('.json', '.pftrace', '.xplane.pb')
NO_TRACE = {'empty_objects'}  # empty after conversion to the other formats


JOINED = ('SELECT count(*) FROM slice c JOIN slice p ON c.parent_id = p.id JOIN args USING (arg_set_id); SELECT name, sum(dur) FROM event '
          'GROUP BY 1; SELECT count(*) FROM flow f JOIN slice s ON f.slice_in = s.id JOIN thread_track t ON s.track_id = t.id')


def questions(path):
    yield ['top', path]
    yield ['top', path, '--by', 'track']
    yield ['top', path, '--by', 'arg.a', '--json']
    yield ['tree', path]
    yield ['tree', path, '--by', 'rank', '--top', '20']
    yield ['report', path]
    yield ['diff', path, path]
    yield ['sql', path, '-e', JOINED]
    yield ['scan', path, '-o', 'out.scan']


def commands(path, ending):
    for out in FORMATS:
        yield ['convert', path, '-o', 'out' + out]
    yield ['redact', path, '--keep-args', 'a*b*c*', '--keep-numbers', '-o', 'out' + ending]
    yield ['filter', path, '-e', 'dur > 0ns || name ~ "a*"', '--keep', 'parents', '--keep', 'flows', '-o', 'out' + ending]
    yield ['shrink', path, '--to', str(os.path.getsize(path) // 3), '-o', 'out' + ending]
    yield ['merge', path, path, '-o', 'out' + ending]
    if not LONG and ending != '.json':
        return
    yield ['convert', path, '--overlaps', '-o', 'out.json']
    yield ['convert', path, '-o', 'out.speedscope.json']
    yield ['filter', path, '--time', '10%..60%', '--keep', 'children', '-o', 'out' + ending]
    yield ['merge', path, path, path, '-o', 'out' + ending, '--align', 'none']
    yield ['rebase', path, '--scale', '1.00002', '-o', 'out' + ending]
    yield ['size', path]
    yield ['info', '-v', path]
    yield ['check', path]
    yield ['dump', path]
    yield ['split', path, '--by', 'size', '--every', str(os.path.getsize(path) // 4), '-o', 'out{}' + ending]
    yield from questions(path)
    if LONG:  # smaller files stay below the limit of split, which would then write thousands of files
        yield ['split', path, '--by', 'process', '-o', 'out{}' + ending]


def cpu(args, folder):
    """Returns CPU seconds, for `split` per file written, or None on timeout."""
    for name in os.listdir(folder):
        if name.startswith('out'):
            os.unlink(os.path.join(folder, name))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        p = subprocess.run([TRACEKIT, *args, *(['--force'] if '-o' in args else [])], cwd=folder, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return None, 'it never ends'
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    refused = args[0] == 'split' and (b'more than 10000 parts' in p.stderr or b'nothing to split' in p.stderr)
    wrong = p.returncode not in (0, 1, 3) and not refused
    written = sum(name.startswith('out') for name in os.listdir(folder)) if args[0] == 'split' else 1
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds / max(1, written), p.stderr.decode(errors='replace')[-200:] if wrong else ''


class Judge:
    def __init__(self, folder):
        self.folder, self.passed, self.failed, self.base = folder, 0, 0, {}

    def inputs(self, name):
        path = os.path.join(self.folder, f'{name}.json')
        crafted.write(path, name, SIZE)
        made = [(path, '.json')]
        for ending in FORMATS[1:] if name not in NO_TRACE else ():
            made.append((os.path.join(self.folder, name + ending), ending))
            cpu(['convert', path, '-o', made[-1][0]], self.folder)
        return [(path, ending) for path, ending in made if os.path.exists(path)]

    def limit(self, key, size):
        seconds, bytes_ = self.base[key]
        of_rows = 0.4 if 'tree' in key else 0  # the ordinary file's tree has one row
        return MOST * seconds * max(1, size / bytes_) + SLACK + of_rows

    def judge(self, name):
        for path, ending in self.inputs(name):
            size = os.path.getsize(path)
            for args in commands(path, ending):
                key = tuple(a for a in args if path not in a and not a.isdigit())
                if name == 'plain':
                    self.base[ending, key] = cpu(args, self.folder)[0], size
                    continue
                most = self.limit((ending, key), size)
                seconds, why = cpu(args, self.folder)
                if not why and seconds > most:
                    seconds, why = cpu(args, self.folder)
                ok = not why and seconds <= most
                self.passed += ok
                self.failed += not ok
                if not ok:
                    print(f'not ok  {name}{ending}: {" ".join(args[:1] + args[2:])}: {why or f"{seconds:.2f} s, at most {most:.2f}"}')
            os.unlink(path)


def grows(judge, command, name, write, size, options=([],)):
    """Tests a file and one that is eight times as large: small ones are too fast to reveal quadratic cost."""
    seconds = []
    for bytes_ in (size, 8 * size):
        path = os.path.join(judge.folder, 'grows.json')
        write(path, name, bytes_)
        seconds.append(min(cpu([command, path, *option], judge.folder)[0] or SECONDS for option in options))
    most = 3 * 8 * seconds[0] + 0.1
    ok = seconds[1] <= most
    judge.passed += ok
    judge.failed += not ok
    if not ok:
        print(f'not ok  {command} of {name}: {seconds[0]:.2f} s, of eight times as many {seconds[1]:.2f} s, at most {most:.2f}')


def report_grows(judge):
    for name in ('devices', 'streams', 'devices_with_steps', 'allocators'):
        grows(judge, 'report', name, crafted.write, 650000, ([], ['--json']))
    grows(judge, 'report', 'nested_steps', crafted.write, 1500000)


def flows_grow(judge):
    for name in ('flows_after_nest', 'flows_among_ties', 'flows_before_instants'):
        grows(judge, 'sql', name, crafted.write, 650000, (['-q', '-e', 'SELECT count(*) FROM flow'],))


def raw_grows(judge):
    for name in crafted.RAW:
        grows(judge, 'info', name, crafted.write_raw, 120000)


def main():
    word = sys.argv[1] if len(sys.argv) > 1 else ''
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(folder)
        for name in crafted.KINDS:
            if name == 'plain' or word in name:
                judge.judge(name)
        if not word or word in 'report':
            report_grows(judge)
        if not word or word in 'flows':
            flows_grow(judge)
        if not word or word in 'raw':
            raw_grows(judge)
        print(f'{judge.passed} passed, {judge.failed} failed')
        return judge.failed != 0


sys.exit(main())
