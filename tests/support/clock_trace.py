"""A trace of a system whose events and packets of several kinds have the same times, on a chosen trace clock that may drift."""
import system_trace as system

field, packet = system.field, system.packet
REALTIME, MONOTONIC, BOOTTIME = 1, 3, 6
REAL = 10**18      # REALTIME at BOOTTIME 0
BEHIND = 7_000_000 # MONOTONIC is behind BOOTTIME by this
LOG, UNKNOWN, STATS = 39, 901, 7
N = 40


def pairs(clock_of_trace, drift=0.0, ahead=0, step=500_000_000):
    """Returns a trace with N barriers as track events, and packets of several kinds at the same times. Its clock runs fast by
    `drift`."""
    def at(clock, boot):
        return {BOOTTIME: boot, MONOTONIC: boot - BEHIND, REALTIME: boot + REAL}[clock]

    start = system.START + ahead
    clocks = b''.join(field(1, field(1, c) + field(2, at(c, start))) for c in (BOOTTIME, MONOTONIC, REALTIME))
    primary = field(2, clock_of_trace) if clock_of_trace != BOOTTIME else b''
    kernel = field(1, field(1, 'Linux') + field(3, '5.10.101'))
    out = [packet(field(6, clocks + primary)), packet(field(45, kernel)),
           packet(field(60, field(1, 1) + field(3, field(1, 10) + field(6, 'program')))),
           packet(field(60, field(1, 2) + field(5, 1) + field(4, field(1, 10) + field(2, 11))))]
    switches, times = [], []
    for i in range(1, N + 1):
        boot = start + round(step * i * (1 + drift))
        ns = at(clock_of_trace, boot)
        times.append(boot)
        out.append(packet(field(11, field(9, 1) + field(11, 2) + field(23, f'barrier {i}')), ns=ns, sequence=20))
        out.append(packet(field(11, field(9, 2) + field(11, 2)), ns=ns + 1000, sequence=20))
        out.append(packet(field(LOG, field(1, field(2, 10) + field(3, 11) + field(5, at(REALTIME, boot)) + field(8, f'log {i}.')))))
        out.append(packet(field(UNKNOWN, f'unknown {i}.'), ns=ns, sequence=8))
        out.append(packet(field(UNKNOWN, f'monotonic {i}.') + field(58, MONOTONIC), ns=at(MONOTONIC, boot), sequence=8))
        out.append(packet(field(UNKNOWN, f'boottime {i}.') + field(58, BOOTTIME), ns=boot, sequence=8))
        out.append(packet(field(STATS, field(9, boot) + field(900, f'stats {i}.')), ns=ns, sequence=8))
        out.append(system.bundle(0, [system.printed(boot, 11, f'I|10|print {i}.')]))
        switches.append((boot, 0, i))
    columns = field(5, 'thread') + field(1, system.deltas([s[0] for s in switches])) + field(2, system.packed([0] * N)) + \
        field(3, system.packed(range(1, N + 1))) + field(4, system.packed([120] * N)) + field(6, system.packed([0] * N))
    out.append(packet(field(1, field(1, 1) + field(4, columns))))
    return b''.join(out)
