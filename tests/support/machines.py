"""A Perfetto trace of three machines with the same pids, uuids and sequences but different clocks: timestamps refer to the
clocks of their own machine, and RemoteClockSync gives the offsets. Expected times are those of trace_processor v52."""
from extensions import field, fixed, varint

REALTIME, MONOTONIC, BOOTTIME = 1, 3, 6
HOST, GUEST, OTHER = 0, 7, 2420838448
REAL_NS = 5_000_000_000  # when the trace's clock was 0

# name of the span: (its machine, its start in ns)
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


def span(machine, name, ns, clock=0, track=2, more=b''):
    stamp = field(58, clock) if clock else b''
    begin, end = field(9, 1) + field(11, track) + field(23, name.encode()) + more, field(9, 2) + field(11, track)
    return b''.join(packet(machine, field(8, at) + stamp + field(10, 5) + field(11, event)) for at, event in ((ns, begin), (ns + 50, end)))


def synced(machine, *rounds):
    return packet(machine, field(107, b''.join(field(1, field(2, clocks(client)) + field(3, clocks(host))) for client, host in rounds)))


def trace(guest=GUEST, other=OTHER):
    names = iter(CASES)
    out = packet(HOST, field(6, clocks({BOOTTIME: 100_000, REALTIME: REAL_NS + 100_000})))
    out += described(HOST, b'host') + described(guest, b'guest') + described(other, b'other')
    out += span(HOST, next(names), 200_000) + span(guest, next(names), 300_000)
    out += packet(guest, field(6, clocks({BOOTTIME: 500_000, REALTIME: 9_000_000_000, MONOTONIC: 100_000})))
    out += span(guest, next(names), 400_000, BOOTTIME) + span(guest, next(names), 410_000, MONOTONIC)
    out += span(guest, next(names), 9_001_000_000, REALTIME)
    # ahead by 9,798,000 and by 9,797,995 ns: the offset is the mean of both, truncated
    out += synced(guest, ({BOOTTIME: 10_000_000, MONOTONIC: 5_000_000}, {BOOTTIME: 202_100}),
                  ({BOOTTIME: 10_000_200, MONOTONIC: 5_000_200}, {BOOTTIME: 202_310}))
    out += span(guest, next(names), 10_500_000, BOOTTIME) + span(guest, next(names), 5_500_000, MONOTONIC)
    out += span(guest, next(names), 10_600_000) + span(other, next(names), 900_000)
    return out


def outside(ids):
    """Tracks and counters without a process, and one process, on each machine."""
    out = b''
    for machine in ids:
        name = b'of %d' % machine
        for track in (field(1, 3) + field(2, b'global'), field(1, 4) + field(5, 3) + field(2, b'nested ' + name),
                      field(1, 5) + field(2, b'counter') + field(8, b'')):
            out += packet(machine, field(60, track))
        out += described(machine, name) + span(machine, 'in a thread ' + name.decode(), 100)
        out += span(machine, f'global {machine}', 1000 + machine % 10, 0, 3) + span(machine, f'nested {machine}', 2000, 0, 4)
        out += packet(machine, field(8, 3000), field(10, 5), field(11, field(9, 4) + field(11, 5) + field(30, machine)))
    return out


def flows(ids):
    """Returns packets of flows 0 -> 1 and 2 -> 3, with the same flow id on each machine."""
    out = b''
    for machine in ids:
        out += described(machine, b'%d' % machine)
        for i in range(4):
            out += span(machine, f'{machine}/{i}', 1000 * (i + 1), more=fixed(47 + i % 2, 'Q', 77))
    return out


def called_alike(ids, name):
    """Returns packets of machines with this name in the private field that tracekit's writer adds."""
    out = b''
    for machine in ids:
        process = field(1, 1) + field(3, field(1, 10) + field(6, b'process of %d' % machine)) + field(1990, field(6, name))
        thread = field(1, 2) + field(5, 1) + field(4, field(1, 10) + field(2, 11))
        out += packet(machine, field(60, process)) + packet(machine, field(60, thread)) + span(machine, f'on {machine}', 100)
    return out


def placed_by_own_clock():
    """Returns a trace whose second snapshot relates MONOTONIC only to the sequence's own clock."""
    out = described(HOST, b'host')
    for readings in ({BOOTTIME: 100_000, 64: 5_000}, {64: 6_000, MONOTONIC: 70}):
        out += packet(HOST, field(10, 5), field(13, 1), field(6, clocks(readings)))
    return out + span(HOST, 'own', 6_000, 64) + span(HOST, 'by it', 170, MONOTONIC) + span(HOST, 'of the trace', 102_000, BOOTTIME)


def far_apart(places):
    """BOOTTIME gains another 5 ns on MONOTONIC with every snapshot; one timestamp after each snapshot, in the order of
    `places`."""
    n = len(places)
    out = described(HOST, b'host') + b''.join(packet(HOST, field(6, clocks({BOOTTIME: 1005 * i, MONOTONIC: 1000 * i}))) for i in range(n))
    return out + b''.join(span(HOST, f'{i}', 1000 * i + 7, MONOTONIC) for i in places)


def read_varint(raw, at):
    value = shift = 0
    while True:
        value |= (raw[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if raw[at - 1] < 128:
            return value, at


def fields(raw):
    """Parses a message of varints, bytes and fixed-size numbers to [(number, value)]."""
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


__all__ = ['CASES', 'GUEST', 'HOST', 'OTHER', 'REAL_NS', 'called_alike', 'far_apart', 'fields', 'flows', 'outside', 'placed_by_own_clock',
           'trace', 'varint']
