"""Parses the output of `tracekit dump --graph` into events by track, and derives self times and the time covered by spans."""
import collections
import heapq
import re

EVENT = re.compile(r'^  (\d+) (span|instant|counter) (-?\d+)(?: \+(\d+))? (-|"[^"]*")(?: \[(.*?)\](?= |$))?(.*)$', re.S)


def text(shown):
    return re.sub(r'\\x([0-9a-f]{2})|\\u\{([0-9a-f]+)\}', lambda m: chr(int(m[1] or m[2], 16)), shown)


Event = collections.namedtuple('Event', 'kind ts dur name cat flags track depth line is_copy')
COPY = re.compile('nvtx-kernel|([a-z1]+_)*user_annotation')  # on a device, from the first to the last kernel of an annotation


def is_device_copy(cat):
    return cat != 'user_annotation' and COPY.fullmatch(cat or '') is not None


def dumped(dump):
    """Returns the events by track, in order."""
    tracks = []
    for line in dump.split('\n'):
        if line.startswith('track '):
            tracks.append((line.split()[1], []))
        m = EVENT.match(line) if tracks and line.startswith('  ') else None
        if not m:
            if not line.startswith((' ', 'track', 'trace')):
                break
            continue
        rest = re.sub(r'"[^"]*"', '', m[7])
        rest = re.sub(r' shared \{[^}]*\}', '', rest).split(' {')[0]
        name = None if m[5] == '-' else text(m[5][1:-1])
        tracks[-1][1].append(Event(m[2], int(m[3]), int(m[4] or 0), name, m[6], set(rest.split()), len(tracks), int(m[1]), line, is_device_copy(m[6])))
    return tracks


def row_name(e):
    """Returns the name of the row of an event: addresses of objects do not separate rows, but copies of annotations have their own."""
    return (without_addresses(e.name) or '') + ' (device)' if e.is_copy else without_addresses(e.name)


def without_addresses(name):
    head, *parts = re.split(r'( at 0x)([0-9a-fA-F]+)(?![A-Za-z0-9_])', name or '')
    return head + ''.join(mark + '*' + rest for mark, _, rest in zip(parts[::3], parts[1::3], parts[2::3])) if name else name


def has_samples(dump):
    """True if the dump has stack samples, which dumped() does not return."""
    return re.search(r'^  \d+ sample ', dump, re.M) is not None


def is_timed(e):
    return not e.flags & {'unfinished', 'lost-clock'}


def selves(events, selected=lambda i: True):
    """Returns self times of the selected spans of a thread: each interval between two consecutive starts or ends belongs to the
    open span that started last."""
    spans = [(e.ts, e.ts + e.dur, i) for i, e in enumerate(events) if e.kind == 'span' and is_timed(e) and selected(i)]
    times = sorted({t for s in spans for t in s[:2]})
    found, heap, at = collections.Counter(), [], 0
    for now, then in zip(times, times[1:]):
        while at < len(spans) and spans[at][0] <= now:
            heapq.heappush(heap, (-spans[at][2], spans[at][1]))
            at += 1
        while heap and heap[0][1] <= now:
            heapq.heappop(heap)
        if heap:
            found[-heap[0][0]] += then - now
    return found


def covered(spans):
    total, end = 0, None
    for a, b in sorted(spans):
        if end is None or a > end:
            total, end = total + b - a, b
        elif b > end:
            total, end = total + b - end, b
    return total
