#!/usr/bin/env python3
"""Checks GpuRenderStageEvent: packets of GPU work become spans on the queues of their GPU, whatever form their producer uses, and
are written once: as the original packets if the trace is unedited, otherwise as spans.

Fields are those of Perfetto's protos/perfetto/trace/gpu/gpu_render_stage_event.proto."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import extensions  # noqa: E402
import torch_pftrace  # noqa: E402
from protobuf import parse  # noqa: E402
from verdict import check, finish  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']

work = tempfile.TemporaryDirectory()


def field(number, value):
    return extensions.field(number, value.encode() if isinstance(value, str) else value)


def path(name):
    return os.path.join(work.name, name)


def tracekit(*args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, capture_output=True)
    return p.returncode, p.stdout.decode(), p.stderr.decode()


def packet(*fields, ns=None, flags=2, sequence=7):
    stamp = b'' if ns is None else field(8, ns)
    return field(1, b''.join(fields) + stamp + field(10, sequence) + field(13, flags))


def specification(iid, name, category=0):
    return field(24, field(1, iid) + field(2, name) + (field(4, category) if category else b''))


def stage(ns, *fields):
    return packet(field(53, b''.join(fields)), ns=ns)


def save(name, data):
    with open(path(name), 'wb') as f:
        f.write(data)
    return path(name)


def spans(name):
    """Returns [(name, start in us, duration in us, process, thread)] from the JSON of the trace."""
    status, out, err = tracekit('convert', path(name), '-f', 'json')
    check(f'{name}: is read', status == 0, err)
    events = json.loads(out)['traceEvents']
    return sorted((e['name'], e['ts'], e.get('dur'), str(e['pid']), str(e['tid'])) for e in events if e.get('ph', '-') == 'X')


def args(name):
    return {e['name']: e.get('args', {}) for e in json.loads(tracekit('convert', path(name), '-f', 'json')[1])['traceEvents'] if e.get('ph', '-') == 'X'}


# A trace with interned queues and stages, two GPUs, events with their own names, launches and extra data.
dimension = field(1, 256) + field(2, 2) + field(3, 1)
interned = packet(field(12, specification(1, 'compute') + specification(2, 'copy') + specification(3, 'kernel', 2) + field(2, field(1, 9) + field(2, 'gemm'))),
                  flags=1) + b''.join((
    stage(1000, field(1, 0), field(2, 500), field(13, 1), field(14, 3)),
    stage(2000, field(1, 1), field(2, 250), field(13, 1), field(14, 3), field(20, 9), field(21, field(1, dimension)), field(10, 4), field(5, 77)),
    stage(2100, field(1, 2), field(2, 100), field(13, 2), field(14, 3), field(17, 'MemcpyHtoD'), field(11, 1)),
    stage(3000, field(1, 3), field(13, 1), field(14, 3), field(6, field(1, 'shader') + field(2, 'blur'))),
    stage(4000, field(1, 4), field(2, 10), field(13, 5), field(14, 3))))  # a queue that was never described
save('interned.pftrace', interned)
want = [('MemcpyHtoD', 1.1, 0.1, 'GPU 1', 'copy'), ('gemm', 1, 0.25, 'GPU 0', 'compute'), ('kernel', 0, 0.5, 'GPU 0', 'compute'),
        ('kernel', 2, 0, 'GPU 0', 'compute'), ('kernel', 3, 0.01, 'GPU 0', '[iid 5]')]
moved = lambda rows, by: sorted((n, round(ts - by, 6), d, p, t) for n, ts, d, p, t in rows)  # noqa: E731
got = spans('interned.pftrace')
check('interned: spans', moved(got, 1) == want, got)
found = args('interned.pftrace')
check('interned: launch', found['gemm'].get('launch.grid_size.x') == 256 and found['gemm'].get('submission_id') == 4, found['gemm'])
check('interned: device', found['MemcpyHtoD'].get('device') == 1, found['MemcpyHtoD'])
status, out, err = tracekit('info', path('interned.pftrace'))
check('interned: a queue without a description is a repair', 'never interned' in err, err)

# A trace with numbered queues and stages, which an event of their own describes.
described = field(7, field(2, field(1, 'queue A')) + field(2, field(1, 'queue B')) + field(3, field(1, 'binning')) + field(3, field(1, 'render')))
save('numbered.pftrace', stage(0, described) + stage(1000, field(1, 1), field(2, 30), field(3, 1), field(4, 1)) +
     stage(2000, field(1, 2), field(2, 40), field(3, 6), field(4, 0)))
got = spans('numbered.pftrace')
check('numbered: spans', [(n, d, t) for n, _, d, _, t in got] == [('binning', 0.04, 'Unknown GPU Queue 6'), ('render', 0.03, 'queue B')], got)

# Kinds follow the category and the name of the stage, whatever the name of the event is.
KERNEL, OTHER = 2, 0
stages = (('gemm', 'Kernel', KERNEL, 'kernel'), ('CopyPeer', 'MemoryTransfer', OTHER, 'memcpy'), ('zero', 'MemorySet', OTHER, 'memset'),
          ('upload', 'memcpy HtoD', OTHER, 'memcpy'), ('fill', 'Memset (Device)', OTHER, 'memset'), ('tile', 'memcpy_async', KERNEL, 'kernel'),
          ('draw', 'Draw', 1, 'kernel'))
save('kinds.pftrace', packet(field(12, b''.join(specification(10 + i, stage_name, category) for i, (_, stage_name, category, _) in enumerate(stages)) +
                                       specification(1, 'Channel (3)')), flags=1) +
     b''.join(stage(1000 * i, field(1, i), field(2, 500), field(13, 1), field(14, 10 + i), field(17, name)) for i, (name, *_) in enumerate(stages)))
tracekit('convert', '-q', '--force', path('kinds.pftrace'), '-o', path('kinds.json'))
for file in ('kinds.pftrace', 'kinds.json'):
    for kind in ('kernel', 'memcpy', 'memset'):
        found = json.loads(tracekit('top', '-q', '--json', '--by', 'name', '--kind', kind, path(file))[1] or '{"rows":[]}')['rows']
        of_kind = {name for name, *_, of in stages if of == kind}
        check(f'{file}: {kind}', {row['name'] for row in found} == of_kind, f'{found}, not {of_kind}')

# Other packets may depend on names that came with GPU work: they stay when only its events are written as spans.
save('state.pftrace', packet(field(12, specification(1, 'q') + specification(3, 's') + field(2, field(1, 9) + field(2, 'named late'))),
                             field(53, field(1, 0) + field(2, 500) + field(13, 1) + field(14, 3)), ns=1000, flags=1) +
     packet(field(38, field(1, 77)), ns=1500))

# Kernels that are interned, which name stages without a name of their own; launches with args; every other field as an arg.
def compute_arg(value, name=None, iid=None):
    return (field(2, name) if name else field(1, iid)) + value


kernel = field(1, 8) + field(2, '_Z4gemmv') + field(3, 'gemm()') + field(4, 'sm_90') + field(5, compute_arg(field(4, 96), name='registers'))
plain = field(1, 9) + field(2, 'copy_kernel')
compute = packet(field(12, specification(1, 'compute') + specification(3, 'Kernel', 2) + field(1000, kernel) + field(1000, plain) +
                       field(1001, field(1, 5) + field(2, 'shared_mem')) + field(29, field(1, 2) + field(2, 'tiled'))), flags=1) + b''.join((
    stage(1000, field(1, 40), field(2, 50), field(13, 1), field(14, 3), field(19, 8), field(21, field(1, dimension) + field(3, compute_arg(
        field(4, 1024), iid=5)) + field(3, compute_arg(field(7, 2), name='layout')) + field(3, compute_arg(field(3, -4), name='bias')))),
    stage(2000, field(1, 41), field(2, 50), field(13, 1), field(14, 3), field(19, 9), field(18, 40), field(18, 39), field(8, 70), field(9, 71),
          field(12, 72), field(16, 73), field(22, 74), field(15, 5))))
save('compute.pftrace', compute)
check('compute: names', [s[0] for s in spans('compute.pftrace')] == ['copy_kernel', 'gemm()'], spans('compute.pftrace'))
found = args('compute.pftrace')
want_args = {'gemm()': {'device': 0, 'event_id': 40, 'kernel_name': '_Z4gemmv', 'kernel_demangled_name': 'gemm()', 'arch': 'sm_90', 'registers': 96,
                        'launch.grid_size.x': 256, 'launch.grid_size.y': 2, 'launch.grid_size.z': 1, 'shared_mem': 1024, 'layout': 'tiled', 'bias': -4},
             'copy_kernel': {'device': 0, 'event_id': 41, 'kernel_name': 'copy_kernel', 'event_wait_ids': [40, 39], 'render_target': 70,
                             'render_pass': 71, 'command_buffer': 72, 'render_pass_instance_id': 73, 'logical_queue_id': 74,
                             'render_subpass_index_mask': [5]}}
check('compute: every field is an arg', found == want_args, found)

# Annotations: spans on the queue that they name, or on a track of their own; a cut keeps those that reach into the range.
def note(ns, *fields):
    return packet(field(136, b''.join(fields)), ns=ns)


notes = packet(field(12, specification(1, 'compute') + field(2, field(1, 9) + field(2, 'forward')) + field(3, field(1, 4) + field(2, 'phase'))),
               flags=1) + b''.join((
    note(1000, field(1, 6), field(2, 400), field(4, 9), field(7, 1), field(6, 77), field(8, field(1, 4) + field(3, -2))),
    note(2000, field(2, 100), field(3, 'backward'), field(5, 1), field(8, field(2, 'share') + extensions.fixed(5, 'd', 0.5))),
    note(3000, field(3, 'mark'))))
save('notes.pftrace', notes)
want_notes = [('backward', 1, 0.1, 'GPU 1', 'Annotations'), ('forward', 0, 0.4, 'GPU 0', 'compute'), ('mark', 2, 0, 'GPU 0', 'Annotations')]
check('annotations: spans', moved(spans('notes.pftrace'), 1) == want_notes, spans('notes.pftrace'))
found = args('notes.pftrace')
check('annotations: args', (found['forward'], found['backward']) == ({'device': 0, 'context_id': 77, 'event_id': 6, 'phase': -2},
                                                                     {'device': 1, 'share': 0.5}), found)
tracekit('filter', path('notes.pftrace'), '--time', '1.2..2.05', '-o', path('cut_notes.pftrace'), '--force')
check('annotations: a cut', [s[0] for s in spans('cut_notes.pftrace')] == ['backward', 'forward'], spans('cut_notes.pftrace'))


# Each stage is written once.
def converted(source, target, *more):
    status, _, err = tracekit('convert', path(source), '-o', path(target), '--force', *more)
    check(f'{source} to {target}', status == 0, err)


with open(path('interned.pftrace'), 'rb') as f:
    was = f.read()
converted('interned.pftrace', 'same.pftrace')
with open(path('same.pftrace'), 'rb') as f:
    now = f.read()
check('unedited: packets as they came', now.count(b'shader') == 1 and now.count(b'MemcpyHtoD') == was.count(b'MemcpyHtoD') == 1)
check('unedited: the same spans', spans('same.pftrace') == spans('interned.pftrace'))
for step, ending in (('json', 'json'), ('xplane', 'xplane.pb')):
    converted('interned.pftrace', f'by.{ending}')
    converted(f'by.{ending}', f'by_{step}.pftrace')
    check(f'by {step}: each span once', len(spans(f'by_{step}.pftrace')) == len(want), spans(f'by_{step}.pftrace'))
converted('state.pftrace', 'state.json')
converted('state.json', 'state_again.pftrace')
with open(path('state_again.pftrace'), 'rb') as f:
    again = f.read()
check('state: each span once', len(spans('state_again.pftrace')) == 1, spans('state_again.pftrace'))
status, _, err = tracekit('filter', path('interned.pftrace'), '--name', 'gemm', '-o', path('cut.pftrace'))
check('filter: status', status == 0, err)
check('filter: the span', [s[0] for s in spans('cut.pftrace')] == ['gemm'], spans('cut.pftrace'))
with open(path('cut.pftrace'), 'rb') as f:
    check('filter: no packet', b'MemcpyHtoD' not in f.read())
status, _, err = tracekit('merge', path('interned.pftrace'), path('interned.pftrace'), '-o', path('merged.pftrace'), '--align=none')
check('merge: each span once a rank', len(spans('merged.pftrace')) == 2 * len(want), err)

# Work of a device, in every analysis.
report = json.loads(tracekit('report', '--json', path('interned.pftrace'))[1])
devices = {r['device']: r for r in report['ranks']}
check('report: devices', sorted(d.split(' (')[0] for d in devices) == ['GPU 0', 'GPU 1'], list(devices))
check('report: busy', [r['busy_ns'] for r in report['ranks']] == [760, 100], report['ranks'])
check('report: the copy is a copy', [r['copy_ns'] for r in report['ranks']] == [0, 100], report['ranks'])
kernels = json.loads(tracekit('top', '--json', '--kind', 'kernel', path('interned.pftrace'))[1])
check('top: kernels', sorted(r['name'] for r in kernels['rows']) == ['gemm', 'kernel'], kernels['rows'])

# A run of PyTorch: the correlation in the extra data links work to its launch; a merge of ranks names them.
torch_pftrace.write(path('torch.pftrace'))
report = json.loads(tracekit('report', '--json', path('torch.pftrace'))[1])
check('PyTorch: launches', sum(r['work'] for r in report['launches']) == 12, report['launches'])
numbers = args('torch.pftrace')['sm90_xmma_gemm_bf16_tn']
check('PyTorch: extra data as numbers', numbers['stream id'] == 7 and numbers['correlation'] == 35, numbers)
status, _, err = tracekit('merge', path('torch.pftrace'), path('torch.pftrace'), '-o', path('ranks.pftrace'), '--align=none')
ranks = json.loads(tracekit('top', '--json', '--by', 'rank', path('ranks.pftrace'))[1])
check('PyTorch: a merge of ranks', sorted(str(r['name']) for r in ranks['rows']) == ['0', '1'], ranks['rows'])

# Damage at every byte: no crash, and never an invented span.
for n in range(0, len(interned), 3):
    save('cut.pftrace', interned[:n])
    status, _, err = tracekit('info', path('cut.pftrace'))
    if status not in (0, 3):
        check(f'cut at byte {n}', False, f'status {status}: {err}')
check('cut at every third byte', True)


def arrows(name, *operation):
    """Returns the flows of the trace's JSON after an operation: [(name of the flow, name of its source, name of its target)]."""
    if operation:
        status, _, err = tracekit(*operation, path(name), '-o', path('new.pftrace'), '--force')
        os.replace(path('new.pftrace'), path('edited.pftrace'))
        check(f'{name}: {operation[0]}', status == 0, err)
    events = json.loads(tracekit('convert', path('edited.pftrace' if operation else name), '-f', 'json')[1])['traceEvents']
    of = {(e['pid'], e['tid'], e['ts']): e['name'] for e in events if e.get('ph') in ('X', 'B')}
    ends = {ph: [(e['cat'], e['name'], e['id'], of.get((e['pid'], e['tid'], e['ts']))) for e in events if e.get('ph') == ph] for ph in 'sf'}
    return sorted((name, source, target) for cat, name, ident, source in ends['s'] for c, n, i, target in ends['f'] if (c, n, i) == (cat, name, ident))


# Stages that wait for other stages, and submissions of their work: GpuRenderStageEvent.event_wait_ids and submission_id.
def submit(ns, duration, submission, **more):
    return packet(field(65, field(2, field(1, duration) + field(2, 100) + field(3, 101) + field(6, submission))), ns=ns, **more)


def run_stage(ns, event, name, *fields, **more):
    return packet(field(53, field(1, event) + field(2, 50) + field(13, 1) + field(14, 1) + field(17, name) + b''.join(fields)), ns=ns, **more)


waiting = packet(field(12, specification(1, 'queue')), flags=1) + b''.join((
    run_stage(1100, 1, 'a', field(10, 7)), submit(1000, 20, 7), submit(1030, 20, 8), run_stage(1200, 2, 'b', field(10, 8), field(18, 1)),
    run_stage(1300, 3, 'c', field(18, 1), field(18, 2), field(18, 99), field(18, 3)), run_stage(1400, 4, 'd', field(10, 9)),
    run_stage(1500, 1, 'e'), run_stage(1600, 5, 'f', field(18, 1))))
save('waiting.pftrace', waiting)
want = [('event_wait_ids', 'a', 'b'), ('event_wait_ids', 'a', 'c'), ('event_wait_ids', 'b', 'c'), ('event_wait_ids', 'e', 'f'),
        ('submission_id', 'vkQueueSubmit', 'a'), ('submission_id', 'vkQueueSubmit', 'b')]
check('waits and submissions are flows', arrows('waiting.pftrace') == want, arrows('waiting.pftrace'))
check('also after a conversion', arrows('waiting.pftrace', 'convert') == want)
with open(path('edited.pftrace'), 'rb') as f:
    packets = [parse(p) for _, p in parse(f.read())]
check('the output has the packets', sum(n in (53, 65) for p in packets for n, _ in p) == 8, packets)
check('and no events with flows', not [n for p in packets for m, e in p if m == 11 for n, _ in parse(e) if n in (47, 48)], packets)
check('also after an edit', [a[1:] for a in arrows('waiting.pftrace', 'filter', '--name=[!d]*')] == sorted(a[1:] for a in want))


# Track events that submit work or wait for it: the extension GpuCorrelation.
def call(ns, name, *correlation):
    return packet(field(11, field(9, 1) + field(11, 5) + field(23, name) + field(3000, b''.join(correlation))), ns=ns) + \
        packet(field(11, field(9, 2) + field(11, 5)), ns=ns + 40)


host = packet(field(12, specification(1, 'queue')), flags=1) + packet(field(60, field(1, 5) + field(4, field(1, 100) + field(2, 101)))) + b''.join((
    call(1000, 'launch', field(1, 1), field(1, 2), field(1, 77)), run_stage(1100, 1, 'a'), run_stage(1200, 2, 'b', field(18, 1)),
    call(1210, 'wait', field(2, 2)), call(1300, 'both', field(1, 3), field(2, 1)), run_stage(1400, 3, 'c')))
save('host.pftrace', host)
want = [('event_wait_ids', 'a', 'b'), ('render_stage_submission_event_ids', 'both', 'c'), ('render_stage_submission_event_ids', 'launch', 'a'),
        ('render_stage_submission_event_ids', 'launch', 'b'), ('render_stage_wait_event_ids', 'a', 'both'), ('render_stage_wait_event_ids', 'b', 'wait')]
check('track events: correlations are flows', arrows('host.pftrace') == want, arrows('host.pftrace'))
for time in range(3):
    check('track events: also after conversions', arrows('host.pftrace' if time == 0 else 'edited.pftrace', 'convert') == want)
with open(path('edited.pftrace'), 'rb') as f:
    packets = [parse(p) for _, p in parse(f.read())]
check('track events: the fields stay, without ids of flows', [sum(n == number for p in packets for m, e in p if m == 11 for n, _ in parse(e))
                                                              for number in (3000, 47, 48)] == [3, 0, 0], packets)
sys.exit(finish())
