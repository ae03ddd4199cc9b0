"""Random track events in nearly the order of time, as a program writes them: spans that nest, overlap, or lack a begin or an end, ends with
names, instants, counters, flows, async and complete events of old programs, text of programs in ftrace bundles. Field numbers:
protos/perfetto/trace/track_event."""
import random

from extensions import field, varint

START = 1_000_000_000
NAMES = ('a', 'b', 'c', 'TracingStartedInBrowser')
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


def fixed(number, value):
    return varint(number << 3 | 1) + value.to_bytes(8, 'little')


class Ordered:
    def __init__(self, seed, events=400):
        self.rng = rng = random.Random(seed)
        self.odd = rng.choice((0, 0, 0.004, 0.03))   # share of irregular events
        self.late = rng.choice((0, 0, 3000, 60000))  # how late an event may be in the file, in ns
        self.flows = rng.choice((0, 0.02, 0.2))
        self.old = rng.choice((0, 0, 0.2))           # share of events with a phase
        self.step = rng.choice((10, 1000, 1000, 10**10 if rng.random() < .3 else 5000))
        self.n, self.now, self.open, self.flow = events, START if seed % 4 else 10**18, {}, 0

    def head(self):
        rng, out, start = self.rng, [], self.now
        clocks = b''.join(field(1, field(1, c) + field(2, t)) for c, t in ((6, start), (1, 10**18 + START)))
        out.append(field(1, field(6, clocks) + field(10, 1)))
        for s in range(2, 6):
            out.append(field(1, field(60, field(1, 100 + s) + field(4, field(1, 9) + field(2, s if rng.random() < .95 else 2))) +
                             field(13, 1) + field(10, s) + field(8, start)))
        out.append(field(1, field(60, field(1, 99) + field(2, b'level') + field(8, field(3, 1))) + field(10, 2)))
        out.append(field(1, field(60, field(1, 98) + field(5, 104) + field(2, b'lane')) + field(10, 2)))
        return out

    def links(self, kind):
        rng = self.rng
        if kind not in (BEGIN, INSTANT, END) or rng.random() >= self.flows or (kind == END and rng.random() < .9):
            return b''
        if rng.random() < .3:
            self.flow += 1
        number = 48 if rng.random() < .3 else 47
        return fixed(number, max(1, self.flow - rng.choice((0, 0, 0, 1, 7))))

    def name(self, text):
        rng = self.rng
        category = field(22, rng.choice((b'x', b'devtools.timeline'))) if rng.random() < .9 else b''
        return field(23, text.encode()) + category

    def phase(self, track):
        rng = self.rng
        phase = rng.choice('XXXbeneiBESTF')
        duration = field(3, rng.randrange(self.step // 100 + 2)) if phase == 'X' else b''
        ident = field(10, rng.randrange(3)) if phase in 'bneSTF' else b''
        return self.name(rng.choice(NAMES)) + field(6, field(2, ord(phase)) + duration + ident) + field(11, track)

    def event(self):
        rng = self.rng
        track = rng.choice((102, 102, 103, 103, 104, 104, 105, 98, 0 if rng.random() < .05 else 104))
        stack = self.open.setdefault(track, [])
        if rng.random() < self.old:
            return self.phase(track)
        kind = rng.choice((BEGIN, BEGIN, BEGIN, END, END, END, INSTANT, COUNTER))
        args = field(4, field(10, b'k') + field(4, rng.randrange(1000))) if rng.random() < .4 else b''
        if kind == COUNTER:
            return field(9, COUNTER) + field(11, 99) + field(30, rng.randrange(50))
        if kind == BEGIN:
            stack.append(rng.choice(NAMES))
            return field(9, BEGIN) + field(11, track) + self.name(stack[-1]) + args + self.links(BEGIN)
        if kind == INSTANT:
            return field(9, INSTANT) + field(11, track) + self.name(rng.choice(NAMES)) + args + self.links(INSTANT)
        if not stack and rng.random() >= self.odd:
            return field(9, INSTANT) + field(11, track) + self.name('i')
        name = stack.pop() if stack else 'none'
        name = rng.choice(NAMES) if rng.random() < self.odd else name if rng.random() < .2 else None
        return field(9, END) + field(11, track) + (field(23, name.encode()) if name else b'') + self.links(END) + \
            (args if rng.random() < .2 else b'')

    def text(self, ns):
        rng = self.rng
        text = rng.choice((b'B|1|work', b'B|1|more', b'E|1', b'E|1', b'C|1|level|%d' % rng.randrange(9), b'I|1|now', b'S|1|async|7', b'F|1|async|7'))
        event = field(2, field(1, ns) + field(2, rng.randrange(4, 7)) + field(3, field(2, text)))
        return field(1, field(1, field(1, rng.randrange(2)) + event) + field(10, 8))

    def trace(self):
        rng, timed = self.rng, []
        has_text = rng.random() < .5
        for _ in range(self.n):
            self.now += rng.choice((0, 1, self.step, rng.randrange(self.step)))
            if has_text and rng.random() < .3:
                packet = self.text(self.now)
            else:
                packet = field(1, field(11, self.event()) + field(8, self.now) + field(10, rng.choice((2, 3, 4))))
            timed.append((self.now + rng.randrange(self.late + 1), packet))
        return b''.join(self.head() + [p for _, p in sorted(timed, key=lambda t: t[0])])
