"""Random small traces with every phase of Chrome JSON that has a meaning, many per file, each in its own process."""
import json
import random

# A span of this process covers everything, so that unfinished spans reach the same time everywhere.
COVER = {'ph': 'X', 'pid': 100000, 'tid': 1, 'ts': 0, 'dur': 100, 'name': 'all', 'args': {'k': 0}}


class Maker:
    """Makes random traces. Times are multiples of half a microsecond below 20, so that ties, overlaps and empty spans are frequent."""

    def __init__(self, rng):
        self.rng, self.number, self.kinds = rng, 0, ('XXXXBBEEiICbbenstf', None)

    def event(self, pid, phases):
        rng = self.rng
        ph = rng.choice(phases)
        self.number += 1
        e = {'ph': ph, 'pid': pid, 'tid': rng.randint(1, 2) + 10 * pid, 'ts': rng.randint(0, 40) / 2, 'name': rng.choice('abc')}
        if ph in 'XBiIbn':
            e['args'] = {'k': self.number}
        if ph == 'X':
            e['dur'] = rng.choice((0, rng.randint(0, 18) / 2))
        elif ph == 'E':
            del e['name']
        elif ph in 'iI':
            e['s'] = rng.choice('ttpg')
        elif ph in 'ben':
            e.update(cat='c', id=f'{pid}.{rng.randint(1, 2)}')
        elif ph in 'stf':
            e.update(cat='flow', name='flow', id=10 * pid + rng.randint(1, 2))
            if ph == 'f' and rng.random() < 0.5:
                e['bp'] = 'e'
        elif ph == 'C':
            e['args'] = {series: self.number + i / 4 for i, series in enumerate('uv'[:rng.randint(1, 2)])}
        return e

    def chain(self, pid, number):
        """Returns a flow: a start, steps, an end; never at a time at which a span begins or ends."""
        rng, base = self.rng, {'pid': pid, 'cat': 'flow', 'name': 'flow', 'id': 10 * pid + number}
        times = sorted(rng.sample(range(40), rng.randint(2, 4)))
        points = [{'ph': 't', 'tid': rng.randint(1, 2) + 10 * pid, 'ts': t / 2 + 0.25, **base} for t in times]
        points[0]['ph'], points[-1]['ph'] = 's', 'f'
        if rng.random() < 0.5:
            points[-1]['bp'] = 'e'
        return points

    def trace(self, pid):
        phases = self.rng.choice(self.kinds)
        if phases:
            events = [self.event(pid, phases) for _ in range(self.rng.randint(2, 8))]
        else:
            events = [self.event(pid, 'XXXXXBBE') for _ in range(self.rng.randint(2, 6))]
            events += [point for number in range(self.rng.randint(1, 2)) for point in self.chain(pid, number)]
        return sorted(events, key=lambda e: e['ts']) if self.rng.random() < 0.7 else events

    def file(self, path, first, n):
        """Writes traces first .. first + n - 1. Returns the events of each, after those of COVER."""
        traces = [[COVER]] + [self.trace(pid) for pid in range(first, first + n)]
        with open(path, 'w', encoding='utf-8') as f:
            json.dump([e for trace in traces for e in trace], f)
        return traces


def maker(seed):
    return Maker(random.Random(seed))
