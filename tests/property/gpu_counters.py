#!/usr/bin/env python3
"""Checks counters of GPUs, their memory, and submissions of Vulkan in Perfetto traces: each becomes exactly one event, in every format.

Fields: protos/perfetto/trace/gpu/gpu_counter_event.proto, gpu_mem_event.proto, vulkan_api_event.proto."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import extensions  # noqa: E402
from protobuf import parse  # noqa: E402
from verdict import check, finish  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']
FORWARDS = 2

work = tempfile.TemporaryDirectory()


def field(number, value):
    if isinstance(value, float):
        return extensions.fixed(number, 'd', value)
    return extensions.field(number, value.encode() if isinstance(value, str) else value)


def path(name):
    return os.path.join(work.name, name)


def tracekit(*args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, capture_output=True)
    return p.returncode, p.stdout.decode(), p.stderr.decode()


def packet(*fields, ns=None, sequence=7, flags=0):
    return field(1, b''.join(fields) + (b'' if ns is None else field(8, ns)) + field(10, sequence) + (field(13, flags) if flags else b''))


def specification(number, name, direction=0):
    return field(1, field(1, number) + field(2, name) + (field(11, direction) if direction else b''))


def sample(number, value):
    return field(2, field(1, number) + field(3 if isinstance(value, float) else 2, value))


def save(name, *packets):
    with open(path(name), 'wb') as f:
        f.write(b''.join(packets))


def events(name):
    status, out, err = tracekit('convert', path(name), '-f', 'json')
    check(f'{name}: is read', status == 0, err)
    trace = json.loads(out)
    base = int(trace.get('baseTimeNanoseconds', 0))
    rows = []
    for e in trace['traceEvents']:
        if e.get('ph') == 'C':
            rows.append((e['name'], str(e['pid']), round(e['ts'] * 1000) + base, next(iter(e['args'].values()))))
        elif e.get('ph', 'M') in 'XB':
            rows.append((e['name'], str(e['pid']), round(e['ts'] * 1000) + base, round(e['dur'] * 1000)))
    return sorted(rows)


def once(name, want):
    """Checks the events of the file, also after conversion to other formats and back."""
    got = events(name)
    check(f'{name}: events', got == want, got)
    for ending in ('json', 'xplane.pb', 'pftrace'):
        tracekit('convert', path(name), '-o', path(f'by.{ending}'), '--force')
        tracekit('convert', path(f'by.{ending}'), '-o', path('again.pftrace'), '--force')
        again = events('again.pftrace')
        check(f'{name}: by {ending}: each once', again == want, again)


def counters(gpu, *parts):
    return field(52, field(3, gpu) + b''.join(parts))


# A sample is valid for the time before it unless the descriptor states otherwise. Two sequences use one id for two GPUs.
save('numbered.pftrace',
     packet(counters(0, field(1, specification(1, 'load') + specification(2, 'clock', FORWARDS))), ns=0, sequence=1),
     packet(counters(1, field(1, specification(1, 'load'))), sequence=2),
     packet(counters(0, sample(1, 100), sample(2, 1.5)), ns=10, sequence=1), packet(counters(1, sample(1, 7)), ns=11, sequence=2),
     packet(counters(0, sample(1, 150), sample(2, 2.5)), ns=20, sequence=1), packet(counters(1, sample(1, 8)), ns=21, sequence=2),
     packet(counters(0, sample(9, 1)), ns=22, sequence=1))
once('numbered.pftrace', [('clock', 'GPU 0', 10, 1.5), ('clock', 'GPU 0', 20, 2.5), ('load', 'GPU 0', 10, 150), ('load', 'GPU 0', 20, 0),
                          ('load', 'GPU 1', 11, 8), ('load', 'GPU 1', 21, 0)])
status, out, err = tracekit('info', path('numbered.pftrace'))
check('numbered: a counter without descriptor is a repair', 'that nothing describes' in err, err)


# A description and a unit are lost in other formats, and are counted; the name of the counter is not.
def described(*properties):
    save('described.pftrace', packet(counters(0, field(1, field(1, field(1, 1) + field(2, 'load') + b''.join(properties)))), ns=0),
         packet(counters(0, sample(1, 7)), ns=10), packet(counters(0, sample(1, 8)), ns=20))


for properties, wanted in (((field(11, FORWARDS),), 0), ((field(3, 'time in use'),), 3), ((field(7, 33),), 3)):
    described(*properties)
    for ending in ('json', 'xplane.pb'):
        status, out, err = tracekit('convert', '--no-loss', path('described.pftrace'), '-o', path(f'by.{ending}'), '--force')
        check(f'described: --no-loss, {ending}', status == wanted and ('data blocks' in err) == (wanted != 0), (properties, err))
        tracekit('convert', path('described.pftrace'), '-o', path(f'by.{ending}'), '--force')
        tracekit('convert', path(f'by.{ending}'), '-o', path('again.pftrace'), '--force')
        with open(path('again.pftrace'), 'rb') as f:
            names = [dict(parse(d)).get(2) for _, p in parse(f.read()) for n, d in parse(p) if n == 60]
        check(f'described: the name by {ending}', b'load' in names and b'load value' not in names, names)


# Interned descriptors are valid until their sequence's state is cleared.
def interned(name):
    return packet(field(12, field(47, field(1, 5) + field(2, specification(1, name, FORWARDS)) + field(3, 3))), sequence=4, flags=1)


def refer(value, ns):
    return packet(counters(0, field(4, 5), sample(1, value)), ns=ns, sequence=4, flags=2)


save('interned.pftrace', interned('before'), refer(1, 10), refer(2, 20), interned('after'), refer(3, 30))
once('interned.pftrace', [('after', 'GPU 3', 30, 3), ('before', 'GPU 3', 10, 1), ('before', 'GPU 3', 20, 2)])

# Memory of a GPU and of a process; submissions, which may overlap on a queue but not on a thread.
memory = [packet(field(71, field(1, 0) + field(2, pid) + field(3, size)), ns=ns) for pid, size, ns in ((0, 4096, 10), (55, 1024, 11), (0, 8192, 20))]
submits = [packet(field(65, field(2, field(1, 50) + field(2, 55) + field(3, tid) + field(4, 9) + field(5, 1) + field(5, 2) + field(6, 77))), ns=ns)
           for tid, ns in ((56, 100), (57, 120))]
named = packet(field(65, field(1, field(1, 55) + field(5, 'buffer'))), ns=5)
save('system.pftrace', *memory, *submits, named)
once('system.pftrace', [('GPU Memory', '55', 11, 1024), ('GPU Memory', 'GPU 0', 10, 4096), ('GPU Memory', 'GPU 0', 20, 8192),
                        ('vkQueueSubmit', '55', 100, 50), ('vkQueueSubmit', '55', 120, 50)])
found = [e['args'] for e in json.loads(tracekit('convert', path('system.pftrace'), '-f', 'json')[1])['traceEvents'] if e['name'] == 'vkQueueSubmit']
check('submissions: args', found[0] == {'vk_queue': 9, 'command_buffers[0]': 1, 'command_buffers[1]': 2, 'submission_id': 77}, found)

for name in ('numbered', 'interned', 'system'):
    with open(path(f'{name}.pftrace'), 'rb') as f:
        whole = f.read()
    for n in range(len(whole)):
        save('cut.pftrace', whole[:n])
        status, _, err = tracekit('info', path('cut.pftrace'))
        if status not in (0, 3):
            check(f'{name}: cut at byte {n}', False, f'status {status}: {err}')
check('cut at every byte', True)
sys.exit(finish())
