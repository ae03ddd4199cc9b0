"""A Perfetto trace of three machines with the same pids, uuids and sequences, whose clocks are not the same: what states a clock
counts on its machine's own, and RemoteClockSync says how far that one is ahead.  Times are as trace_processor v52 has them."""
from extensions import field, varint

REALTIME, MONOTONIC, BOOTTIME = 1, 3, 6
HOST, GUEST, OTHER = 0, 7, 2420838448
REAL_NS = 5_000_000_000  # when the trace's clock was 0

# name of the span: (its machine, the ns that it began at)
CASES = {
    'of the host': (HOST, 200_000),
    'states no clock': (GUEST, 300_000),
    'own clock, no offset known': (GUEST, 400_000),
    'own MONOTONIC': (GUEST, 410_000 - 100_000 + 500_000),
    'own REALTIME': (GUEST, 9_001_000_000 - 9_000_000_000 + 500_000),
    'own clock, known offset': (GUEST, 10_500_000 - 9_797_997),
    'own MONOTONIC, known offset': (GUEST, 5_500_000 + 5_000_000 - 9_797_997),
    'states no clock, known offset': (GUEST, 10_600_000),
    'of another machine': (OTHER, 900_000),
}


def packet(machine, *fields):
    return field(1, b''.join(fields) + (field(98, machine) if machine else b''))


def clocks(readings):
    return b''.join(field(1, field(1, clock) + field(2, at)) for clock, at in readings.items())


def described(machine, name):
    process = field(1, 1) + field(3, field(1, 10) + field(6, b'process of ' + name))
    thread = field(1, 2) + field(5, 1) + field(4, field(1, 10) + field(2, 11) + field(5, b'thread of ' + name))
    return packet(machine, field(60, process)) + packet(machine, field(60, thread))


def span(machine, name, ns, clock=0):
    stamp = field(58, clock) if clock else b''
    begin, end = field(9, 1) + field(11, 2) + field(23, name.encode()), field(9, 2) + field(11, 2)
    return b''.join(packet(machine, field(8, at) + stamp + field(10, 5) + field(11, event)) for at, event in ((ns, begin), (ns + 50, end)))


def synced(machine, *rounds):
    return packet(machine, field(107, b''.join(field(1, field(2, clocks(client)) + field(3, clocks(host))) for client, host in rounds)))


def trace():
    names = iter(CASES)
    out = packet(HOST, field(6, clocks({BOOTTIME: 100_000, REALTIME: REAL_NS + 100_000})))
    out += described(HOST, b'host') + described(GUEST, b'guest') + described(OTHER, b'other')
    out += span(HOST, next(names), 200_000) + span(GUEST, next(names), 300_000)
    out += packet(GUEST, field(6, clocks({BOOTTIME: 500_000, REALTIME: 9_000_000_000, MONOTONIC: 100_000})))
    out += span(GUEST, next(names), 400_000, BOOTTIME) + span(GUEST, next(names), 410_000, MONOTONIC)
    out += span(GUEST, next(names), 9_001_000_000, REALTIME)
    # 9,798,000 and 9,797,995 ahead: the mean of both, cut
    out += synced(GUEST, ({BOOTTIME: 10_000_000, MONOTONIC: 5_000_000}, {BOOTTIME: 202_100}),
                  ({BOOTTIME: 10_000_200, MONOTONIC: 5_000_200}, {BOOTTIME: 202_310}))
    out += span(GUEST, next(names), 10_500_000, BOOTTIME) + span(GUEST, next(names), 5_500_000, MONOTONIC)
    out += span(GUEST, next(names), 10_600_000) + span(OTHER, next(names), 900_000)
    return out


def read_varint(raw, at):
    value = shift = 0
    while True:
        value |= (raw[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if raw[at - 1] < 128:
            return value, at


def fields(raw):
    """[(number, value)] of a message of varints, bytes and fixed numbers."""
    at, found = 0, []
    while at < len(raw):
        key, at = read_varint(raw, at)
        if key & 7 == 0:
            value, at = read_varint(raw, at)
        else:
            size, at = read_varint(raw, at) if key & 7 == 2 else (8 if key & 7 == 1 else 4, at)
            value, at = raw[at:at + size], at + size
        found.append((key >> 3, value))
    return found


__all__ = ['CASES', 'GUEST', 'HOST', 'OTHER', 'REAL_NS', 'fields', 'trace', 'varint']
