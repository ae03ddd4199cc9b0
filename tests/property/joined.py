#!/usr/bin/env python3
"""Checks that an operation on a folder of ranks equals the same operation on the output of merge: the ranks are joined in
memory, and nothing is lost that the merged file would contain.

    op DIR -o x.F  =  merge DIR -o m.F; op m.F -o y.F       byte for byte, all with --no-provenance

This is tested for ranks of every format, every operation and every format F, as well as for the figures of size and the
files of split. info and dump describe their inputs one by one; for a folder they must describe each rank. The law holds from
every format to JSON, from JSON and XPlane to XPlane, and from JSON and Perfetto to Perfetto. Exceptions, and their reasons:

    clocks   A Perfetto file that is unmodified or moved keeps its clock packets in place, as m.pftrace does under shrink --lossless
             and rebase: compared after another round through Perfetto, byte for byte. Converted XPlane is compared in the same way,
             without flow ids.
    ids      A slice with flow_ids in Perfetto has the stat "flow" in XPlane, and an XSpace keeps its number as an arg: ranks
             with flows 7 and 7 become 1 and 2 rank by rank, but in the joined graph flows are numbered in order of their
             beginning. From Perfetto to XPlane, compared as JSON, with order, without these numbers; from XPlane to Perfetto
             as a dump without flow ids.
    pids     An XSpace does not store pids: split, which names files by pid, is tried from XPlane to JSON only.
    split    A part of m.pftrace still names the machines of all ranks: compared as JSON.
    block    JSON carries properties of Perfetto's tracks in a block, with the tracks' ids in the file, which differ when the file is
             read again. The block also decides the order of members of metadata: compared as values, without it.
    size     Not tried from Perfetto to XPlane or back, because their flows have different numbers.

A failure on both sides fails the test.
Also checks that no temporary file is created, no arg type or machine is lost, and memory is at most that of the joined ranks
and one rank."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

TRACEKIT, SRC, FIXTURES, GEN = (os.environ[name] for name in ('TRACEKIT', 'SRC', 'FIXTURES', 'GEN'))
sys.path.insert(0, os.path.join(SRC, 'tests', 'support'))
from extensions import field  # noqa: E402
from verdict import check, finish  # noqa: E402

LONG = bool(os.environ.get('LONG'))
ENDINGS = {'json': '.json', 'xplane': '.xplane.pb', 'perfetto': '.pftrace'}
DROPS = {
    'long': ['filter', '-e', 'dur > 20us'],
    'named': ['filter', '-e', 'name =~ "a" && depth < 4'],
    'parents': ['filter', '--keep', 'parents', '-e', 'depth == 2'],
    'range': ['filter', '--time', '10%..60%', '--drop-flows'],
    'shrink': ['shrink', '--events', '500', '--hard'],
}
OPS = dict(DROPS, zero=['rebase', '--to-zero'], shift=['rebase', '--shift', '1.5ms'], lossless=['shrink', '--lossless'])
RANK = ['filter', '-e', 'rank == 1']


def run(*args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return p.returncode, p.stdout, p.stderr.decode('utf-8', 'replace')


def good(*args):
    status, out, err = run(*args)
    check(' '.join(args), status == 0, err)
    return out


def data(path):
    with open(path, 'rb') as f:
        return f.read()


# ---- comparisons ----

def again(path):
    head, name = os.path.split(path)
    other = os.path.join(head, 'again-' + name)
    good('convert', '-q', '--no-provenance', '--force', path, '-o', other)
    return data(other)


def dumped(path):
    """Returns the lines of the graph without the sizes of clock packets, and so without offsets of notes: after a move, the times in
    these packets may have fewer or more bytes."""
    again(path)
    head, name = os.path.split(path)
    lines = good('dump', '--graph', os.path.join(head, 'again-' + name)).split(b'\n')
    return [re.sub(rb'^(note .*?) @\d+ ', rb'\1 ', line) for line in lines if not line.startswith(b'meta perfetto.')]


def without_flow_ids(path):
    lines = dumped(path)
    flows = sorted(line.split(b' id=')[0] + line.split(b' ')[-1] for line in lines if line.startswith(b'flow '))
    return flows + [line for line in lines if not line.startswith(b'flow ')]


def parsed(path):
    with open(path, encoding='utf-8') as f:
        trace = json.load(f)
    trace.pop('perfetto', None)
    return trace


FLOW_FIELDS = ('bind_id', 'flow_in', 'flow_out')


def without_flow_numbers(path):
    trace = json.loads(good('convert', '-q', '--no-provenance', path, '-f', 'json', '-o', '-'))
    trace.pop('perfetto', None)
    for e in trace['traceEvents']:
        for key in FLOW_FIELDS + (('id',) if e.get('ph', '-') in ('s', 't', 'f') else ()):
            e.pop(key, None)
        e.get('args', {}).pop('flow', None)
        if not e.get('args'):
            e.pop('args', None)
    return trace


def comparison(source, written, op):
    if written == 'perfetto' and source == 'xplane':
        return without_flow_ids
    if written == 'perfetto' and op == 'lossless':
        return again
    if written == 'perfetto' and op in ('zero', 'shift'):
        return dumped
    if written == 'json' and source == 'perfetto':
        return parsed
    return without_flow_numbers if written == 'xplane' and source == 'perfetto' else data


def law(name, source, folder, work):
    for written, ending in ENDINGS.items():
        m, direct = (os.path.join(work, f'{what}-{name}{ending}') for what in ('m', 'convert'))
        good('merge', '-q', '--no-provenance', folder, '-o', m)
        good('convert', '-q', '--no-provenance', folder, '-o', direct)
        check(f'convert {name} to {written}', data(m) == data(direct), 'is not what merge writes')
        for op, args in OPS.items():
            x, y = (os.path.join(work, f'{what}-{name}-{op}{ending}') for what in 'xy')
            results = [run(*args, '-q', '--no-provenance', a, '-o', b) for a, b in ((folder, x), (m, y))]
            what = f'{op} {name} to {written}'
            if not check_status(what, results):
                continue
            same = comparison(source, written, op)
            check(what, same(x) == same(y), f'{same.__name__}: {x} and {y} differ')


def check_status(what, results):
    ok = results[0][0] == results[1][0] == 0
    check(what, ok, f'status {results[0][0]} of the ranks, {results[1][0]} of the merge: {results[0][2]}{results[1][2]}')
    return ok


# ---- split, size and reports ----

def split_law(name, source, folder, work):
    for written, ending in ENDINGS.items():
        if source == 'xplane' and written != 'json':
            continue
        same = without_flow_numbers if written == 'perfetto' else comparison(source, written, 'split')
        m = os.path.join(work, f'm-{name}{ending}')
        files = []
        for what, of in (('x', folder), ('y', m)):
            out = os.path.join(work, f'split-{what}-{name}-{written}')
            os.makedirs(out)
            good('split', '-q', '--no-provenance', '--by', 'process', of, '-o', os.path.join(out, f'part-{{}}{ending}'))
            files.append({f: same(os.path.join(out, f)) for f in sorted(os.listdir(out)) if not f.startswith('again-')})
        ok = files[0] == files[1] and len(files[0]) > 1
        check(f'split {name} to {written}', ok, f'{same.__name__}: {list(files[0])} and {list(files[1])}')


def size_law(name, source, folder, work):
    for written, ending in ENDINGS.items():
        if written != 'json' and comparison(source, written, 'size') != data:
            continue
        sources = (folder, os.path.join(work, f'm-{name}{ending}'))
        reports = [json.loads(good('size', '-q', '--json', '-f', written, source)) for source in sources]
        # the metadata of joined ranks records a merge; that of the file records how the file was made
        kinds = [[kind for kind in report['kinds'] if kind['kind'] != 'metadata'] for report in reports]
        check(f'size {name} as {written}', kinds[0] == kinds[1] and kinds[0], f'{kinds[0]} and {kinds[1]}')


def without_notes(dump):
    return [line for line in dump.split(b'\n') if not line.startswith(b'note ')]


def report_law(name, folder):
    """Checks that info and dump describe each input separately."""
    traces = json.loads(good('info', '-q', '--json', folder))['traces']
    paths = [trace['input'] for trace in traces]
    check(f'inputs of {name}', len(paths) > 1, paths)
    alone = [json.loads(good('info', '-q', '--json', path))['traces'][0] for path in paths]
    for trace in traces + alone:
        trace.pop('notes')  # notes for a folder name the selected run
        trace.pop('memory')
    check(f'info of {name}', traces == alone, 'is not that of each rank')
    dumps = b''.join(good('dump', '--graph', '-q', path) for path in paths)
    check(f'dump of {name}', without_notes(good('dump', '--graph', '-q', folder)) == without_notes(dumps), 'is not that of each rank')


def rank_law(name, folder, work):
    m, x, y = (os.path.join(work, f'{what}-{name}.json') for what in ('m', 'rank-x', 'rank-y'))
    good(*RANK, '-q', '--no-provenance', folder, '-o', x)
    good(*RANK, '-q', '--no-provenance', m, '-o', y)
    check(f'rank 1 of {name}', parsed(x) == parsed(y) and b'"ts":' in data(x), 'differ')


# ---- losses of a detour through JSON ----

def packet(*fields):
    return field(1, b''.join(fields))


def pointer_rank(path, machine):
    """Returns a span with an arg of type pointer."""
    annotation = field(10, b'at') + field(7, 0xdeadbeef)
    begin = field(9, 1) + field(22, b'cat') + field(23, b'load') + field(4, annotation)
    end = field(9, 2)
    process = field(1, 5) + field(3, field(1, 77) + field(6, b'worker'))
    of = field(10, 1) + field(98, machine)
    with open(path, 'wb') as f:
        f.write(packet(field(60, process), of))
        f.write(packet(field(8, 1000), field(11, begin + field(11, 5)), of, field(13, 1)))
        f.write(packet(field(8, 9000), field(11, end + field(11, 5)), of))


def kept(work):
    folder, out = os.path.join(work, 'pointers'), os.path.join(work, 'pointers.pftrace')
    os.makedirs(folder)
    for rank in range(2):
        pointer_rank(os.path.join(folder, f'rank{rank}.pftrace'), rank + 3)
    good('filter', '-q', '-e', 'name == load', folder, '-o', out)
    dump = good('dump', '--graph', out).decode()
    check('pointers stay pointers', dump.count('at=0xdeadbeef') == 2, dump)
    found = json.loads(good('info', '-q', '--json', out))['traces'][0]['machines']
    check('each rank is a machine', found == 2, found)


def no_temporary_file(folder, work):
    """Runs with an unusable TMPDIR."""
    p = subprocess.run([TRACEKIT, 'filter', '-q', '-e', 'dur > 20us', folder, '-o', os.path.join(work, 'free.json')], check=False,
                       env=dict(os.environ, TMPDIR=os.path.join(work, 'nowhere')), stdin=subprocess.DEVNULL, capture_output=True)
    check('no temporary file', p.returncode == 0, p.stderr.decode())


def limits(folder, work):
    """Checks that the memory limit includes the joined ranks, not only the rank being read."""
    out = os.path.join(work, 'limit.json')
    rank = os.path.join(folder, 'rank0.json')
    least = next(kb for kb in range(100, 10000, 100)
                 if run('filter', '-q', '--max-memory', f'{kb}K', '-e', 'dur > 20us', rank, '-o', out, '--force')[0] == 0)
    status, _, err = run('filter', '-q', '--max-memory', f'{least}K', '-e', 'dur > 20us', folder, '-o', out, '--force')
    check(f'one rank is within {least} kB, three are not', status == 3 and 'memory' in err, f'{status} {err}')
    good('filter', '-q', '--max-memory', f'{8 * least}K', '-e', 'dur > 20us', folder, '-o', out, '--force')


def generate(work, kind, ending, n):
    folder = os.path.join(work, kind)
    os.makedirs(folder)
    for rank in range(n):
        with open(os.path.join(folder, f'rank{rank}{ending}'), 'wb') as f:
            subprocess.run([GEN, kind, '--spans', '2000', '--ranks', str(n), '--hosts', str(n), '--rank', str(rank), '--offset-us',
                            '0,300,-500'], stdout=f, check=True)
    return folder


def main():
    with tempfile.TemporaryDirectory(prefix='tracekit-joined-') as work:
        perfetto = os.path.join(work, 'two')
        os.makedirs(perfetto)
        for rank, name in enumerate(('small', 'two_hosts')):
            shutil.copy(f'{FIXTURES}/perfetto/{name}.pftrace.gz', os.path.join(perfetto, f'rank{rank}.pftrace.gz'))
        kineto = generate(work, 'kineto', '.json', 3)
        sets = [('kineto', 'json', kineto), ('xplane', 'xplane', generate(work, 'xplane', '.xplane.pb', 3)),
                ('perfetto', 'perfetto', generate(work, 'perfetto', '.pftrace', 3)), ('two', 'perfetto', perfetto),
                ('plain', 'json', f'{FIXTURES}/json/torch/ddp2_plain'), ('handler', 'json', f'{FIXTURES}/json/torch/ddp2_handler'),
                ('multihost', 'xplane', f'{FIXTURES}/xplane/multihost')]
        if LONG:
            sets.append(('full', 'json', f'{FIXTURES}/json/torch/ddp4_full'))
        for name, source, folder in sets:
            law(name, source, folder, work)
            split_law(name, source, folder, work)
            size_law(name, source, folder, work)
            report_law(name, folder)
            rank_law(name, folder, work)
        kept(work)
        no_temporary_file(kineto, work)
        limits(kineto, work)
    return finish()


sys.exit(main())
