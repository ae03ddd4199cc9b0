#!/usr/bin/env python3
"""Checks binary payloads of NVTX in exports of Nsight Systems. A payload is a C structure, so structures of ctypes are the oracle: each
value must become an arg, whether the schema states offsets and sizes or leaves them to the alignment: nested structures, arrays of
them, and the selected members of unions, too. Entries without a value (pointers, damage, unions without a selector) keep their bytes. The sizes that NCCL states reach the reports of collectives."""
import ctypes
import json
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from databases import check_damage, check_formats, converted, folder, path, spans, tracekit  # noqa: E402
from nsysreport import Report, process  # noqa: E402
from verdict import check, finish  # noqa: E402

FIRST = 1 << 24  # first id of a schema
FIXED, ZERO_TERMINATED, BY_INDEX = 1 << 4, 2 << 4, 3 << 4
TYPES = {2: ctypes.c_ubyte, 3: ctypes.c_short, 4: ctypes.c_ushort, 5: ctypes.c_int, 6: ctypes.c_uint, 7: ctypes.c_long, 8: ctypes.c_ulong,
         9: ctypes.c_longlong, 10: ctypes.c_ulonglong, 11: ctypes.c_int8, 12: ctypes.c_uint8, 13: ctypes.c_int16, 14: ctypes.c_uint16,
         15: ctypes.c_int32, 16: ctypes.c_uint32, 17: ctypes.c_int64, 18: ctypes.c_uint64, 19: ctypes.c_float, 20: ctypes.c_double,
         22: ctypes.c_size_t, 32: ctypes.c_ubyte, 43: ctypes.c_float, 44: ctypes.c_double, 68: ctypes.c_uint32, 72: ctypes.c_uint64}


def args_of(events, name):
    return next(e.get('args', {}) for e in events if e.get('name') == name and e['ph'] == 'X')


def without_binary(args):
    return {key: value for key, value in args.items() if key not in ('binaryData', 'domain')}


class Structures:
    """Makes random structures, their values, and the args that must result."""

    def __init__(self, report, seed):
        self.report, self.draw, self.made = report, random.Random(seed), 0

    def value(self, field):
        if field in (ctypes.c_float, ctypes.c_double):
            return self.draw.choice((0.5, -1.25, 1e10, 3.0))
        bits = 8 * ctypes.sizeof(field)
        low = field(-1).value < 0 and -2 ** (bits - 1) or 0
        return self.draw.choice((low, low + 2 ** bits - 1, self.draw.randrange(low, low + 2 ** bits)))

    def simple(self, name, field):
        """Returns, for a number or an array of numbers, a ctypes field, the schema entry, and a function that fills in the value."""
        kind = self.draw.choice(list(TYPES))
        count = self.draw.randrange(1, 6) if self.draw.random() < .2 else 0

        def fill_in(target, args, key):
            values = [self.value(TYPES[kind]) for _ in range(count or 1)]
            setattr(target, field, (TYPES[kind] * count)(*values) if count else values[0])
            args[key] = values if count else values[0]
        return (field, TYPES[kind] * count if count else TYPES[kind]), (kind, name, FIXED if count else 0, count), fill_in

    def nested(self, name, field, depth):
        """Returns the same as simple(), for a structure or an array of structures."""
        number, structure, fill = self.make(depth + 1)
        count = self.draw.randrange(1, 4) if self.draw.random() < .4 else 0

        def fill_in(target, args, key):
            for i in range(count or 1):
                fill(getattr(target, field)[i] if count else getattr(target, field), args, f'{key}[{i}].' if count else key + '.')
        return (field, structure * count if count else structure), (number, name, FIXED if count else 0, count), fill_in

    def union(self, name, field, depth, selector):
        """The same for a union, whose member the entry with the number `selector` selects. The filler returns the number of the member."""
        self.made += 1
        number = FIRST + self.made
        parts = [self.field(f'm{i}', f'm{i}', depth + 1) for i in range(self.draw.randrange(1, 4))]
        union = type(f'U{number}', (ctypes.Union,), {'_fields_': [part[0] for part in parts]})
        self.report.schema(number, *[(kind, label, None, flags, length) for _, (kind, label, flags, length), _ in parts], kind=3,
                           size=ctypes.sizeof(union) if self.draw.random() < .5 else None)

        def fill_in(target, args, key):
            member = self.draw.randrange(len(parts))
            parts[member][2](getattr(target, field), args, f'{key}.m{member}')
            return member
        return (field, union), (number, name, 0, selector), fill_in

    def field(self, name, field, depth):
        return self.nested(name, field, depth) if depth < 3 and self.draw.random() < .2 else self.simple(name, field)

    def make(self, depth=0):
        """Returns the id of a schema, its structure, and a function that fills one in and adds its args."""
        self.made += 1
        number, stated, pack = FIRST + self.made, self.draw.random() < .5, self.draw.choice((0, 0, 1, 2, 4))
        parts = []
        for i in range(self.draw.randrange(1, 7)):
            name = f'field {i}' if self.draw.random() < .9 else f'f\u00fcld-{i}'
            if self.draw.random() < .1 and depth < 3:
                part = self.union(name, f'f{i}', depth, len(parts))
                chosen = self.draw.choice((5, 6, 12, 14, 18))

                def select(target, args, key, part=part, name=name, i=i):
                    member = part[2](target, args, key)
                    setattr(target, f's{i}', member)
                    args[key[:len(key) - len(name)] + f'selector {i}'] = member
                parts += [((f's{i}', TYPES[chosen]), (chosen, f'selector {i}', 0, 0), None), (part[0], part[1], select)]
            else:
                parts.append(self.field(name, f'f{i}', depth))
        body = {'_fields_': [part[0] for part in parts], **({'_pack_': pack} if pack else {})}
        structure = type(f'S{number}', (ctypes.Structure,), body)
        self.report.schema(number, *[(kind, name, getattr(structure, field[0]).offset if stated else None, flags, length)
                                     for field, (kind, name, flags, length), _ in parts],
                           size=ctypes.sizeof(structure) if self.draw.random() < .7 else None, align=pack or None)

        def fill_in(target, args, prefix=''):
            for _, (_, name, _, _), fill in parts:
                if fill:
                    fill(target, args, prefix + name)
        return number, structure, fill_in


def structures():
    r = Report(path('structures.sqlite'))
    s, wanted = Structures(r, 7), {}
    r.add('NVTX_EVENTS', start=1, eventType=75, text='app', globalTid=process(9) + 9, domainId=1)
    while len(wanted) < 250:
        number, structure, fill = s.make()
        target, args, at = structure(), {}, 10 * len(wanted)
        fill(target, args)
        if len(args) < 80:
            wanted[f'range {at}'] = args
            r.payload(10 + at, 15 + at, f'range {at}', number, bytes(target))
    r.close()
    events, _ = converted(path('structures.sqlite'))
    check('there are arrays of structures and unions', sum('].' in key for want in wanted.values() for key in want) > 100 and
          sum('selector' in key for want in wanted.values() for key in want) > 50)
    for name, want in wanted.items():
        got = args_of(events, name)
        check(f'{name}: every value is an arg', without_binary(got) == want and got['domain'] == 'app', (got, want))
        check(f'{name}: no bytes are left', 'binaryData' not in got, got)
    check_formats('structures.sqlite')


def kinds():
    r = Report(path('kinds.sqlite'))
    r.schema(FIRST + 1, (1, 'letter'), (76, 'text', 4, 0, 8), (23, 'address', 16), (FIRST + 9, 'mode', 24), (FIRST + 8, 'bits', 28), size=32)
    for i, (name, value) in enumerate((('Off', 0), ('Fast', 7))):
        r.add('NVTX_PAYLOAD_ENUM_ENTRIES', domainId=1, schemaId=FIRST + 9, idx=i, name=name, value=value)
    r.add('NVTX_PAYLOAD_ENUMS', domainId=1, schemaId=FIRST + 8, numEntries=2, size=2)
    for i, name in enumerate(('read', 'write')):
        r.add('NVTX_PAYLOAD_ENUM_ENTRIES', domainId=1, schemaId=FIRST + 8, idx=i, name=name, value=1 << i, isFlag=1)
    data = struct.pack('<cxxx8sxxxxQIHxx', b'A', 'na\u00efve'.encode(), 0xffff800000000000, 7, 3)
    r.payload(10, 20, 'all', FIRST + 1, data)
    r.payload(30, 40, 'no names', FIRST + 1, struct.pack('<cxxx8sxxxxQIHxx', b'B', b'12345678', 1, 5, 4))
    r.schema(FIRST + 2, (16, 'n'), (12, 'list', None, BY_INDEX, 0), (76, 'rest', None, ZERO_TERMINATED), (16, 'after'), kind=2)
    r.payload(50, 60, 'dynamic', FIRST + 2, struct.pack('<I3B6sxxxI', 3, 1, 2, 3, b'hello\0', 99))
    r.schema(FIRST + 3, (5, None), (5, ''), (5, 'twice'), (5, 'twice'), size=16)
    r.payload(70, 80, 'names', FIRST + 3, struct.pack('<4i', 1, 2, 3, 4))
    for start, schema, data in ((90, 18, struct.pack('<Q', 2**63)), (92, 19, struct.pack('<3f', .5, 1, float('nan'))), (94, 76, b'plain text\0')):
        r.payload(start, start + 1, f'plain {schema}', schema, data)
    r.close()
    events, _ = converted(path('kinds.sqlite'))
    check('texts, addresses, enumerations and flags', args_of(events, 'all') ==
          {'letter': 'A', 'text': 'na\u00efve', 'address': 0xffff800000000000, 'mode': 'Fast', 'bits': 'read|write'}, args_of(events, 'all'))
    check('values without a name are numbers', args_of(events, 'no names') ==
          {'letter': 'B', 'text': '12345678', 'address': 1, 'mode': 5, 'bits': 4}, args_of(events, 'no names'))
    check('lengths inside the payload', args_of(events, 'dynamic') == {'n': 3, 'list': [1, 2, 3], 'rest': 'hello', 'after': 99}, args_of(events, 'dynamic'))
    check('names that are missing or repeated', args_of(events, 'names') == {'payload[0]': 1, 'payload[1]': 2, 'twice': 3, 'twice[3]': 4},
          args_of(events, 'names'))
    check('a type in place of a schema', args_of(events, 'plain 18') == {'payload[0]': 2**63}, args_of(events, 'plain 18'))
    check('an array of a type', args_of(events, 'plain 19') == {'payload[0]': [.5, 1, None]}, args_of(events, 'plain 19'))
    check('a text as payload', args_of(events, 'plain 76') == {'payload[0]': 'plain text'}, args_of(events, 'plain 76'))


def dynamic():
    """Checks payloads whose layout depends on their values: arrays with several dimensions or up to a zero, structures of unknown size."""
    r = Report(path('dynamic.sqlite'))
    wanted = {}

    def add(name, schema, data, **want):
        wanted[name] = {key.replace('_', ' '): value for key, value in want.items()}
        r.payload(10 * len(wanted), 10 * len(wanted) + 5, name, schema, data)
    r.schema(FIRST + 1, (15, 'lengths', None, FIXED, 3), (3, 'cube', None, BY_INDEX, 0), (12, 'after'), kind=2)
    add('three dimensions', FIRST + 1, struct.pack('<3i12hB', 2, 3, 2, *range(12), 77), lengths=[2, 3, 2],
        cube=[[[0, 1], [2, 3], [4, 5]], [[6, 7], [8, 9], [10, 11]]], after=77)
    add('no rows', FIRST + 1, struct.pack('<3iB', 0, 3, 2, 78), lengths=[0, 3, 2], cube=[], after=78)
    r.schema(FIRST + 2, (16, 'lengths', None, ZERO_TERMINATED), (5, 'table', None, BY_INDEX, 0), (12, 'after'), kind=2)
    add('lengths up to a zero', FIRST + 2, struct.pack('<3I4iB', 2, 2, 0, 1, -2, 3, -4, 79), lengths=[2, 2], table=[[1, -2], [3, -4]], after=79)
    r.schema(FIRST + 3, (18, 'wide', None, ZERO_TERMINATED), (12, 'narrow', None, ZERO_TERMINATED), (14, 'after'), kind=2)
    add('up to a zero', FIRST + 3, struct.pack('<3Q3BxH', 5, 2**64 - 1, 0, 7, 8, 0, 80), wide=[5, 2**64 - 1], narrow=[7, 8], after=80)
    r.schema(FIRST + 4, (12, 'n'), (16, 'list', None, BY_INDEX, 0), kind=2)
    r.schema(FIRST + 5, (12, 'first'), (FIRST + 4, 'inner'), (12, 'count'), (FIRST + 4, 'many', None, BY_INDEX, 2), (12, 'after'), kind=2)
    add('structures of unknown size', FIRST + 5, struct.pack('<BxxxBxxxIIB' 'xxx' 'BxxxIII' 'BxxxI' 'B', 1, 2, 21, 22, 2, 3, 31, 32, 33, 1, 41, 81),
        first=1, **{'inner.n': 2, 'inner.list': [21, 22], 'many[0].n': 3, 'many[0].list': [31, 32, 33], 'many[1].n': 1, 'many[1].list': [41]},
        count=2, after=81)
    r.schema(FIRST + 6, (5, 'x'), (12, 'y'))
    r.schema(FIRST + 7, (14, 'count'), (FIRST + 6, 'points', None, BY_INDEX, 0), (12, 'after'), kind=2)
    add('structures counted', FIRST + 7, struct.pack('<Hxx iBxxx iBxxx B', 2, -1, 1, -2, 2, 82), count=2,
        **{'points[0].x': -1, 'points[0].y': 1, 'points[1].x': -2, 'points[1].y': 2}, after=82)
    add('none counted', FIRST + 7, struct.pack('<HxxB', 0, 83), count=0, after=83)
    r.schema(FIRST + 8, (42, 'half'), (42, 'halves', None, FIXED, 6), (50, 'brain', None, FIXED, 2), (52, 'tensor'))
    halves = [1.5, -0.0, 2**-24, 65504.0, -2**-14, 0.333251953125]
    add('short numbers', FIRST + 8, struct.pack('<7e', 0.25, *halves) + struct.pack('<f', -3.5)[2:] + struct.pack('<f', 1e20)[2:] + struct.pack('<xxf', 2.5),
        half=0.25, halves=halves, brain=[-3.5, struct.unpack('<f', b'\0\0' + struct.pack('<f', 1e20)[2:])[0]], tensor=2.5)
    r.schema(FIRST + 9, (77, 'wide', None, 0, 5), (78, 'wider', None, 0, 3), (26, 'c16'), (24, 'wchar'), (77, 'rest', None, ZERO_TERMINATED), (12, 'after'))
    add('wide texts', FIRST + 9, 'na\u00ef\U0001f600'.encode('utf-16-le') + b'xx' + 'h\u00e9'.encode('utf-32-le') + bytes(4) + '\u20ac'.encode('utf-16-le') +
        b'xx' + '\U0001f600'.encode('utf-32-le') + 'end'.encode('utf-16-le') + bytes(2) + b'T', wide='na\u00ef\U0001f600', wider='h\u00e9',
        c16='\u20ac', wchar='\U0001f600', rest='end', after=84)
    r.close()
    events, _ = converted(path('dynamic.sqlite'))
    for name, want in wanted.items():
        got = args_of(events, name)
        check(f'{name}: every value is an arg', got == want, (got, want))
    check('nothing is reported', 'binaryData' not in tracekit('info', path('dynamic.sqlite'))[2])
    check_formats('dynamic.sqlite')


def unread():
    """Checks that entries which cannot be read keep their bytes, and that the other entries of the payload are read."""
    r = Report(path('unread.sqlite'))
    good = struct.pack('<QQ', 5, 6)
    cases = {'union': ((FIRST + 20, 'u'), (18, 'after', 8)), 'pointer': ((5, 'p', 0, 1 << 1), (18, 'after', 8)),
             'char *': ((75, 's'), (18, 'after', 8)), 'long double': ((21, 'x'),), 'beyond': ((18, 'after', 8), (18, 'b', 12)),
             'far': ((18, 'after', 8), (18, 'b', 1 << 40)), 'negative': ((18, 'after', 8), (18, 'b', -8)),
             'huge array': ((18, 'after', 8), (12, 'b', 1, FIXED, 1 << 40)), 'array beyond': ((FIRST + 21, 'a', 0, FIXED, 3), (18, 'after', 8)),
             'array of unions': ((FIRST + 20, 'u', 0, FIXED, 2), (18, 'after', 8)), 'no member 6': ((18, 'after', 8), (FIRST + 20, 'u', 1, 0, 0)),
             'selector within': ((FIRST + 22, 'u'), (18, 'after', 8)), 'selector of a later entry': ((FIRST + 20, 'u', 0, 0, 1), (18, 'after', 8)),
             'array of itself': ((FIRST + 38, 'me', 0, FIXED, 2), (18, 'after', 8)), 'pointer to an array': ((18, 'p', 0, FIXED | 1 << 1, 9), (18, 'after', 8)),
             'unknown type': ((240, 'x'), (18, 'after', 8)), 'length of nothing': ((18, 'after', 8), (12, 'b', 1, BY_INDEX, 77)),
             'itself': ((FIRST + 39, 'me'), (18, 'after', 8))}
    r.schema(FIRST + 20, (18, 'a'), (20, 'b'), kind=3, size=8)
    r.schema(FIRST + 21, (18, 'a'), size=8)
    r.schema(FIRST + 22, (100, 's'), (18, 'a'), kind=4, size=8)
    for i, (name, entries) in enumerate(cases.items()):
        number = FIRST + {'itself': 39, 'array of itself': 38}.get(name, 100 + i)
        r.schema(number, *entries, size=16)
        r.payload(10 * i, 10 * i + 5, name, number, good)
    r.schema(FIRST + 60, (18, 'x'))
    r.schema(FIRST + 60, (19, 'x'))
    r.payload(500, 501, 'two processes disagree', FIRST + 60, good)
    r.schema(FIRST + 61, *[(12, f'e{i}', i) for i in range(129)])
    r.payload(510, 511, 'too many entries', FIRST + 61, bytes(200))
    r.schema(FIRST + 62, (12, 'a', 0, FIXED, 300))
    r.payload(520, 521, 'too many elements', FIRST + 62, bytes(300))
    r.payload(530, 531, 'no schema', FIRST + 99, good)
    for i, blob in enumerate((b'', b'short', struct.pack('<QQQQ', 1, 18, 9, 32) + good, struct.pack('<QQQQ', 1, 18, 8, 40) + bytes(8),
                              struct.pack('<QQQQ', 1, 18, 2**64 - 1, 32) + good, struct.pack('<QQQQ', 1, 18, 8, 7) + bytes(8))):
        r.add('NVTX_EVENTS', start=600 + 10 * i, end=605 + 10 * i, eventType=59, text=f'blob {i}', globalTid=process(9) + 9, binaryData=blob)
    r.add('NVTX_EVENTS', start=700, end=701, eventType=59, text='text', globalTid=process(9) + 9, binaryData='a text that is no payload at all, only long')
    r.close()
    check('info reports it', 'not read completely' in tracekit('info', path('unread.sqlite'))[2])
    events, _ = converted(path('unread.sqlite'))
    for name in (*cases, 'two processes disagree', 'too many entries', 'too many elements', 'no schema'):
        args = args_of(events, name)
        check(f'{name}: the bytes are kept', 'binaryData' in args, args)
        if name in cases and name not in ('long double', 'unknown type'):
            check(f'{name}: what can be read is read', 6 in (args.get('after'), args.get('me.after'), args.get('me[0].after')), args)
    end_is_fine = struct.pack('<QQQQ', 1, 18, 8, 40)
    for i in range(6):
        args = args_of(events, f'blob {i}')
        expected = i == 3  # the last number may be the end of the payload: 32 + 8
        check(f'blob {i}: {"read" if expected else "kept"}', ('binaryData' in args) != expected or i == 0, (args, end_is_fine))
    check('a text stays a text', args_of(events, 'text')['binaryData'].startswith('a text that is no'), args_of(events, 'text'))


NCCL = {'ncclCommInitRank': (FIRST + 2, ((18, 'NCCL communicator ID'), (5, 'No. of ranks', 8), (5, 'Rank', 12), (5, 'CUDA device', 16))),
        'ncclAllReduce': (FIRST + 7, ((18, 'NCCL communicator ID'), (22, 'Message size [bytes]', 8), (FIRST + 16, 'Reduction operation', 16))),
        'ncclAllGather': (FIRST + 4, ((18, 'NCCL communicator ID'), (22, 'Message size [bytes]', 8))),
        'ncclBroadcast': (FIRST + 6, ((18, 'NCCL communicator ID'), (22, 'Message size [bytes]', 8), (5, 'Root', 16))),
        'ncclSend': (FIRST + 9, ((18, 'NCCL communicator ID'), (22, 'Message size [bytes]', 8), (5, 'Peer rank', 16)))}
COMMUNICATOR = 0xfeedfacecafebeef


def nccl_report(name, rank, ranks=2, communicator=COMMUNICATOR):
    """Writes a report of a job with NCCL: calls and the kernels that they launch."""
    r, pid = Report(path(name)), 4001 + rank
    for _ in range(2):  # schemas of two processes
        for number, entries in NCCL.values():
            r.schema(number, *entries, size=24)
    r.add('NVTX_EVENTS', start=1, eventType=75, text='NCCL', globalTid=process(pid) + pid, domainId=1)
    r.payload(10, 900, 'ncclCommInitRank', FIRST + 2, struct.pack('<Qiiixxxx', communicator, ranks, rank, rank), pid=pid)
    for i in range(40):
        call = ('ncclAllReduce', 'ncclAllGather', 'ncclBroadcast', 'ncclSend')[i % 4]
        t, size = 10000 + 20000 * i, 1 << 10 + i % 5
        r.payload(t, t + 3000, call, NCCL[call][0], struct.pack('<QQIxxxx', communicator, size, i % 5 if call == 'ncclAllReduce' else 1), pid=pid)
        r.call(pid, pid, t + 500, t + 2500, 'cuLaunchKernelExC', correlation=i + 1, eventClass=1)
        r.kernel(pid, t + 4000 + 100 * rank, t + 9000, f'ncclDevKernel_{call[4:]}_RING_LL(ncclDevKernelArgsStorage<4096ul>)', correlation=i + 1)
    r.call(pid, pid, 990000, 991000, correlation=900)
    r.kernel(pid, 992000, 993000, 'ncclDevKernel_SendRecv(x)', correlation=900)
    r.kernel(pid, 995000, 996000, 'gemm', correlation=901)
    r.close()


def nccl():
    nccl_report('nccl_rank0.sqlite', 0)
    nccl_report('nccl_rank1.sqlite', 1)
    events, _ = converted(path('nccl_rank0.sqlite'))
    calls = [e for e in spans(events, 'nvtx') if e['name'] == 'ncclAllReduce']
    ops = [e['args']['Reduction operation'] for e in calls]
    check('reductions have the names that NCCL registers', ops == ['Sum', 'Avg', 'Min', 'Max', 'Product'] * 2, ops)
    kernels = {e['args']['correlation']: e for e in spans(events, 'kernel')}
    check('an all-reduce has its size', kernels[1]['args']['Collective name'] == 'allreduce' and kernels[1]['args']['In msg nelems'] == 1024 ==
          kernels[1]['args']['Out msg nelems'] and kernels[1]['args']['Group size'] == 2, kernels[1])
    check('an all-gather gets a message from each rank', kernels[2]['args']['In msg nelems'] == 2048 and kernels[2]['args']['Out msg nelems'] == 4096, kernels[2])
    check('a send has a size and no collective', 'Collective name' not in kernels[4]['args'] and kernels[4]['args']['In msg nelems'] == 8192, kernels[4])
    check('a kernel outside a call has none', 'In msg nelems' not in kernels[900]['args'] and 'dtype' not in kernels[901]['args'])
    status, out, said = tracekit('report', '--json', path('nccl_rank0.sqlite'), path('nccl_rank1.sqlite'))
    found = {row['name']: row for row in json.loads(out)['collectives']}
    want = sum(1 << 10 + i % 5 for i in range(0, 40, 4)) * 2
    check('report knows the bytes of all-reduces', status == 0 and found['allreduce']['bytes'] == want , (found, said))
    status, out, said = tracekit('merge', '-q', '--force', '--collectives', path('c.csv'), path('nccl_rank0.sqlite'), path('nccl_rank1.sqlite'), '-o', path('m.json'))
    check('merge lists collectives', status == 0, said)
    with open(path('c.csv'), encoding='utf-8') as f:
        table = f.read().splitlines()
    check('the list has sizes and the communicator', len(table) == 41 and table[1].startswith(f'0,0x{COMMUNICATOR:x},,allreduce,1024,0'), table[:3])
    nccl_report('other_rank1.sqlite', 1, communicator=COMMUNICATOR + 1)
    status, _, said = tracekit('merge', '-q', '--force', '--collectives', path('c.csv'), path('nccl_rank0.sqlite'), path('other_rank1.sqlite'), '-o', path('m.json'))
    with open(path('c.csv'), encoding='utf-8') as f:
        check('collectives of two communicators are apart', status == 0 and len(f.read().splitlines()) == 1, said)


def nccl_groups():
    """Checks groups of calls, whose kernels are launched when the outermost group ends."""
    r, pid = Report(path('groups.sqlite')), 4001
    for number, entries in NCCL.values():
        r.schema(number, *entries, size=24)
    r.add('NVTX_EVENTS', start=1, eventType=75, text='NCCL', globalTid=process(pid) + pid, domainId=1)
    r.payload(10, 900, 'ncclCommInitRank', FIRST + 2, struct.pack('<Qiiixxxx', COMMUNICATOR, 4, 1, 1), pid=pid)
    launches, expected, t = 0, {}, 10000

    def end(*kernels, name='ncclGroupEnd'):
        nonlocal launches, t
        r.add('NVTX_EVENTS', start=t, end=t + 900, eventType=59, text=name, globalTid=process(pid) + pid, domainId=1)
        for i, kernel in enumerate(kernels):
            launches += 1
            r.call(pid, pid, t + 100 + 50 * i, t + 140 + 50 * i, 'cuLaunchKernelExC', correlation=launches, eventClass=1)
            r.kernel(pid, t + 200 + 500 * i, t + 600 + 500 * i, kernel, correlation=launches)
        t += 2000

    def group(want, *calls, kernels=('ncclDevKernel_x',), nested=()):
        nonlocal t
        for _ in range(1 + len(nested)):
            r.add('NVTX_EVENTS', start=t, end=t + 10, eventType=59, text='ncclGroupStart', globalTid=process(pid) + pid, domainId=1)
            t += 20
        for i, (call, size, communicator) in enumerate(calls):
            r.payload(t, t + 30, call, NCCL['ncclSend' if call == 'ncclRecv' else call][0], struct.pack('<QQIxxxx', communicator, size, 0), pid=pid)
            t += 40
            if i in nested:
                end()
        if nested:
            r.call(pid, pid, t, t + 5, 'cudaGetDevice', correlation=0)
        end(*kernels)
        expected[launches] = want
    a, b = COMMUNICATOR, COMMUNICATOR + 1
    group((None, 30, 70), ('ncclSend', 10, a), ('ncclRecv', 30, a), ('ncclSend', 20, a), ('ncclRecv', 40, a))
    group((None, 30, 30), ('ncclSend', 10, a), ('ncclSend', 20, a))
    group((None, 40, 40), ('ncclRecv', 40, a))
    group(('allreduce', 60, 60), ('ncclAllReduce', 20, a), ('ncclAllReduce', 40, a))
    group(('_allgather_base', 60, 240), ('ncclAllGather', 20, a), ('ncclAllGather', 40, a), nested=(0,))
    group((None, 12, 8), ('ncclSend', 12, a), ('ncclRecv', 8, a), kernels=('ncclDevKernel_SendRecv', 'memset'))
    group(None, ('ncclSend', 12, a), ('ncclRecv', 8, b))
    group(None, ('ncclAllReduce', 12, a), ('ncclAllGather', 8, a))
    group(None, ('ncclAllReduce', 12, a), ('ncclSend', 8, a))
    group(None, ('ncclAllReduce', 12, a), ('ncclAllReduce', 8, a), kernels=('ncclDevKernel_x', 'ncclDevKernel_y'))
    group(None)
    end('ncclDevKernel_without_start')
    expected[launches] = None
    r.close()
    events, _ = converted(path('groups.sqlite'))
    kernels = {e['args']['correlation']: e for e in spans(events, 'kernel')}
    for launch, want in expected.items():
        launch -= kernels[launch]['name'] == 'memset'
        args = kernels[launch]['args']
        got = (args.get('Collective name'), args['In msg nelems'], args['Out msg nelems']) if 'dtype' in args else None
        check(f'group of launch {launch}', got == want and (not want or args['Process Group Name'] == f'0x{a:x}'), (got, want))


def main():
    os.environ['TMPDIR'] = folder.name
    structures()
    kinds()
    dynamic()
    unread()
    nccl()
    nccl_groups()
    check_damage('structures.sqlite', 'unread.sqlite', 'dynamic.sqlite', 'nccl_rank0.sqlite', 'groups.sqlite', rounds=30, seed=8)
    return finish()


if __name__ == '__main__':
    sys.exit(main())
