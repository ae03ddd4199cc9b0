"""A Perfetto trace whose track events have fields that the trace describes itself: scalars of every type, arrays, messages,
enums, through three forms of extensions; with the expected args of each event."""
import struct

DOUBLE, FLOAT, INT64, UINT64, INT32, FIXED64, FIXED32, BOOL, STRING = range(1, 10)
MESSAGE, BYTES, UINT32, ENUM, SFIXED32, SFIXED64, SINT32, SINT64 = range(11, 19)
EVENT = b'.perfetto.protos.TrackEvent'


def varint(v):
    out = bytearray()
    v &= (1 << 64) - 1
    while v >= 128:
        out.append(v & 127 | 128)
        v >>= 7
    return bytes(out + bytes([v]))


def field(number, value):
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value
    return varint(number << 3) + varint(value)


def fixed(number, layout, value):
    raw = struct.pack('<' + layout, value)
    return varint(number << 3 | (1 if len(raw) == 8 else 5)) + raw


def described(name, number, kind, of=b'', repeated=False, extendee=b''):
    return (field(1, name) + field(3, number) + field(4, 3 if repeated else 1) + field(5, kind) + (field(6, of) if of else b'') +
            (field(2, extendee) if extendee else b''))


def descriptor(foreign):
    colors = field(1, b'Color') + b''.join(field(2, field(1, n) + field(2, v)) for n, v in ((b'RED', 0), (b'BLUE', 7)))
    inner = field(1, b'Inner') + field(2, described(b'x', 1, INT32)) + field(2, described(b'deep', 2, MESSAGE, b'.our.K.Inner')) + \
        field(2, described(b'words', 3, STRING, repeated=True))
    scalars = ((b'External id', INT64), (b'u64', UINT64), (b'i32', INT32), (b'f64', FIXED64), (b'f32', FIXED32), (b'on', BOOL),
               (b'text', STRING), (b'u32', UINT32), (b'sf32', SFIXED32), (b'sf64', SFIXED64), (b's32', SINT32), (b's64', SINT64),
               (b'double', DOUBLE), (b'float', FLOAT))
    k = field(1, b'K') + field(3, inner) + field(4, colors)
    k += b''.join(field(2, described(name, i + 1, kind)) for i, (name, kind) in enumerate(scalars))
    k += field(2, described(b'color', 20, ENUM, b'.our.K.Color')) + field(2, described(b'grid', 21, INT64, repeated=True))
    k += field(2, described(b'inner', 22, MESSAGE, b'.our.K.Inner'))
    k += field(2, described(b'inners', 23, MESSAGE, b'.our.K.Inner', repeated=True))
    k += field(2, described(b'raw', 24, BYTES)) + field(2, described(b'reals', 25, DOUBLE, repeated=True))
    scope = field(1, b'Scope') + field(6, described(b'scoped', 9904, STRING, extendee=EVENT))
    extensions = (described(b'args', 9902, MESSAGE, b'.our.K', extendee=EVENT), described(b'plain', 9903, INT64, extendee=EVENT),
                  described(b'list', 9905, UINT32, repeated=True, extendee=EVENT),
                  *([described(b'foreign', 9906, MESSAGE, b'.not.Here', extendee=EVENT)] if foreign else []))
    file = field(1, b'our.proto') + field(2, b'our') + field(4, k) + field(4, scope) + b''.join(field(7, e) for e in extensions)
    return field(1, field(1, file))


# name of the event: (its fields, {arg: value})
CASES = {
    'ints': (field(9902, field(1, -5) + field(2, 2**64 - 1) + field(3, -1) + fixed(4, 'Q', 2**63) + fixed(5, 'I', 2**32 - 1) +
                   field(8, 9) + fixed(9, 'i', -7) + fixed(10, 'q', -2**63) + field(11, 5) + field(12, 4)),
             {'args.External id': -5, 'args.u64': 2**64 - 1, 'args.i32': -1, 'args.f64': 2**63, 'args.f32': 2**32 - 1, 'args.u32': 9,
              'args.sf32': -7, 'args.sf64': -2**63, 'args.s32': -3, 'args.s64': 2}),
    'others': (field(9902, field(6, 1) + field(7, 'wörter'.encode()) + fixed(13, 'd', 0.1) + fixed(14, 'f', 1.5)),
               {'args.on': True, 'args.text': 'wörter', 'args.double': 0.1, 'args.float': 1.5}),
    'enums': (field(9902, field(20, 7)), {'args.color': 'BLUE'}),
    'unknown enum': (field(9902, field(20, 3)), {'args.color': 3}),
    'array': (field(9902, field(21, 605) + field(1, 4) + field(21, 1) + field(21, 1) + fixed(25, 'd', 0.30000000000000004)),
              {'args.grid': [605, 1, 1], 'args.External id': 4, 'args.reals': [0.30000000000000004]}),
    'nested': (field(9902, field(22, field(1, 5) + field(2, field(1, 6) + field(3, b'a"b') + field(3, b'')))),
               {'args.inner': {'x': 5, 'deep': {'x': 6, 'words': ['a"b', '']}}}),
    'nested array': (field(9902, field(23, field(1, 5)) + field(23, field(1, 6))), {'args.inners': [{'x': 5}, {'x': 6}]}),
    'plain': (field(9903, 77), {'plain': 77}),
    'scoped': (field(9904, b'inside'), {'scoped': 'inside'}),
    'list': (field(9905, 3) + field(9905, 4), {'list': [3, 4]}),
    'two': (field(9904, b's') + field(9902, field(1, 1)) + field(9903, 2), {'scoped': 's', 'args.External id': 1, 'plain': 2}),
    # Fields without a complete description are kept unchanged.
    'undescribed': (field(9999, 5), None),
    'undescribed inside': (field(9902, field(1, 5) + field(99, 1)), None),
    'twice': (field(9902, field(1, 5)) + field(9902, field(1, 6)), None),
    'wrong wire': (field(9903, b'text'), None),
}

# An engine refuses a descriptor that refers to a missing message.
FOREIGN = {'foreign': (field(9906, field(1, 5)), None)}


def deep(levels):
    inner = field(1, 1)
    for _ in range(levels):
        inner = field(2, inner)
    return field(9902, field(22, inner))


def trace(cases, end=b'', described_by=None):
    """Returns a packet for each event; `end` is fields of the end events, `described_by` another ExtensionDescriptor, which
    comes after some events, because format detection reads the start of a file."""
    thread = field(60, field(1, 7) + field(4, field(1, 1) + field(2, 2)))
    packets = [thread, field(72, descriptor('foreign' in cases))]
    for i, (name, (fields, _)) in enumerate(cases.items()):
        packets.append(field(11, field(9, 1) + field(11, 7) + field(23, name.encode()) + fields) + field(10, 1) + field(8, 1000 * i + 1))
        packets.append(field(11, field(9, 2) + field(11, 7) + end) + field(10, 1) + field(8, 1000 * i + 500))
    if described_by is not None:
        packets[1], packets[8:8] = packets[2], [field(72, described_by)]
    return b''.join(field(1, packet) for packet in packets)
