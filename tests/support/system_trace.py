"""A trace of a system, as Perfetto's traced_probes writes it: ftrace bundles of several CPUs, a process tree, counters; with the rows
that must result. Field numbers: protos/perfetto/trace/ftrace, ps, sys_stats."""
import random

import extensions

PROCESSES = {100: ('com.app', (100, 101, 102)), 200: ('/usr/bin/server', (200, 201)), 0: ('swapper', (0,))}
THREADS = {100: 'main', 101: 'RenderThread', 102: 'Binder:100_1', 200: 'server', 201: 'worker', 0: 'swapper'}
PROCESS_OF = {tid: pid for pid, (_, tids) in PROCESSES.items() for tid in tids}
START = 1_000_000_000
STATES = {0x0: 'Runnable', 0x100: 'Runnable (Preempted)', 0x1: 'Sleeping', 0x2: 'Uninterruptible Sleep', 0x80: 'Idle'}


def field(number, value):
    return extensions.field(number, value.encode() if isinstance(value, str) else value)


def packet(*fields, ns=None, sequence=5, flags=0):
    stamp = b'' if ns is None else field(8, ns)
    return field(1, b''.join(fields) + stamp + field(10, sequence) + (field(13, flags) if flags else b''))


def printed(ns, tid, text):
    return ns, field(2, field(1, ns) + field(2, tid) + field(3, field(2, text)))


def switched(ns, prev, state, following):
    content = field(1, THREADS[prev]) + field(2, prev) + field(3, 120) + field(4, state) + \
        field(5, THREADS[following]) + field(6, following) + field(7, 120)
    return ns, field(2, field(1, ns) + field(2, prev) + field(4, content))


def woken(ns, waker, tid):
    return ns, field(2, field(1, ns) + field(2, waker) + field(20, field(1, THREADS[tid]) + field(2, tid) + field(5, 0)))


def bundle(cpu, events):
    return packet(field(1, field(1, cpu) + b''.join(e for _, e in sorted(events, key=lambda e: e[0]))))


def packed(values):
    return b''.join(extensions.varint(v & (2**64 - 1)) for v in values)


def deltas(values):
    return packed([b - a for a, b in zip([0] + values, values)])


def compact(cpu, switches, wakings):
    """Returns a bundle in compact form. switches: (ns, state of the previous thread, next thread); wakings: (ns, thread)."""
    names = sorted(set(THREADS.values()))
    index = {tid: names.index(name) for tid, name in THREADS.items()}
    columns = b''.join(field(5, n) for n in names)
    columns += field(1, deltas([s[0] for s in switches])) + field(2, packed([s[1] for s in switches]))
    columns += field(3, packed([s[2] for s in switches])) + field(4, packed([120] * len(switches)))
    columns += field(6, packed([index[s[2]] for s in switches]))
    columns += field(7, deltas([w[0] for w in wakings])) + field(8, packed([w[1] for w in wakings]))
    columns += field(9, packed([0] * len(wakings))) + field(10, packed([120] * len(wakings))) + field(11, packed([index[w[1]] for w in wakings]))
    return packet(field(1, field(1, cpu) + field(4, columns)))


def tree():
    processes = b''.join(field(1, field(1, pid) + field(2, 1) + field(3, name) + field(3, '--flag'))
                         for pid, (name, _) in PROCESSES.items() if pid)
    threads = b''.join(field(2, field(1, tid) + field(2, THREADS[tid]) + field(3, pid))
                       for tid, pid in PROCESS_OF.items() if pid and tid != pid)
    return packet(field(2, processes + threads), ns=START)


def head():
    clocks = b''.join(field(1, field(1, c) + field(2, at)) for c, at in ((6, START), (1, START + 10**18), (3, START - 5)))
    kernel = field(1, field(1, 'Linux') + field(3, '5.10.101-android12'))
    return packet(field(6, clocks)) + packet(field(45, kernel)) + tree()


class Scheduler:
    """Random switches of CPUs, as events and as the rows that must result."""

    def __init__(self, rng, cpus=2, steps=60):
        self.events, self.wakings = [], []  # (ns, cpu, prev, state, next), (ns, cpu, tid)
        running, asleep = dict.fromkeys(range(cpus), 0), set()
        ready, now = [t for t in THREADS if t], START
        for _ in range(steps):
            now += rng.randrange(1000, 90000)
            cpu = rng.randrange(cpus)
            if asleep and rng.random() < .4:
                tid = rng.choice(sorted(asleep))
                asleep.discard(tid)
                ready.append(tid)
                self.wakings.append((now, cpu, tid))
                continue
            prev, state = running[cpu], 0
            following = ready.pop(rng.randrange(len(ready))) if ready and rng.random() < .8 else 0
            if prev == following:
                continue
            if prev:
                state = rng.choice(sorted(STATES))
                (ready.append if STATES[state].startswith('Run') else asleep.add)(prev)
            self.events.append((now, cpu, prev, state, following))
            running[cpu] = following

    def rows(self, is_compact):
        """Returns rows of CPUs (cpu, name, start, end or None), and states of threads (tid, name, start, end or None)."""
        cpus, states, on, of, known = [], [], {}, {}, set()
        changes = [(ns, 1, cpu, (prev, state, following)) for ns, cpu, prev, state, following in self.events]
        changes += [(ns, 0, cpu, (tid,)) for ns, cpu, tid in self.wakings]

        def change(tid, ns, state):
            if tid in of:
                states.append((tid, of[tid][1], of[tid][0], ns))
            of[tid] = ns, state

        for ns, _, cpu, what in sorted(changes):
            if len(what) == 1:
                if is_compact and cpu not in known:
                    continue
                if what[0] not in of or of[what[0]][1] not in ('Running', 'Runnable'):
                    change(what[0], ns, 'Runnable')
                continue
            prev, state, following = what
            first = is_compact and cpu not in known
            known.add(cpu)
            if cpu in on and on[cpu][1]:
                cpus.append((cpu, THREADS[on[cpu][1]], on[cpu][0], ns))
            on.pop(cpu, None)
            if first:
                continue
            on[cpu] = ns, following
            if prev:
                change(prev, ns, STATES[state])
            if following:
                change(following, ns, 'Running')
        cpus += [(cpu, THREADS[tid], ns, None) for cpu, (ns, tid) in on.items() if tid]
        states += [(tid, state, ns, None) for tid, (ns, state) in of.items()]
        return sorted(cpus, key=str), sorted(states, key=str)

    def packets(self, is_compact, bundles=3):
        """Splits the recording into `bundles` periods and returns one ftrace bundle per CPU for each period."""
        out = []
        last = max(ns for ns, *_ in self.events + self.wakings) + 1
        for part in range(bundles):
            low, high = (START + (last - START) * p // bundles for p in (part, part + 1))
            for cpu in sorted({c for _, c, *_ in self.events}, reverse=True):
                switches = [e for e in self.events if low <= e[0] < high and e[1] == cpu]
                wakings = [e for e in self.wakings if low <= e[0] < high and e[1] == cpu]
                if is_compact:
                    out.append(compact(cpu, [(ns, state, nxt) for ns, _, _, state, nxt in switches], [(ns, tid) for ns, _, tid in wakings]))
                else:
                    out.append(bundle(cpu, [switched(ns, prev, state, nxt) for ns, _, prev, state, nxt in switches] +
                                      [woken(ns, 0, tid) for ns, _, tid in wakings]))
        return b''.join(out)


def atrace(rng, steps=200):
    """Draws spans, instants, counters and async spans. Returns packets, and rows (kind, name, where, start, end)."""
    events, rows, stacks, asyncs, now = {0: [], 1: []}, [], {}, [], START
    tids = [t for t in THREADS if t]
    for i in range(steps):
        now += rng.randrange(1, 9000)
        tid = rng.choice(tids)
        pid, cpu = PROCESS_OF[tid], rng.randrange(2)
        stack = stacks.setdefault(tid, [])
        what = rng.choice('BBEEICSFGHN')
        text = None
        if what == 'B':
            name = f'draw|{i}'
            stack.append((name, now))
            text = f'B|{pid}|{name}\n'
        elif what == 'E' and stack:
            name, start = stack.pop()
            rows.append(('slice', name, tid, start, now))
            text = rng.choice((f'E|{pid}\n', 'E'))
        elif what == 'I':
            rows.append(('instant', f'tick{i}', tid, now, now))
            text = f'I|{pid}|tick{i}'
        elif what == 'C':
            rows.append(('counter', 'frames', pid, now, i - 50))
            text = f'C|{pid}|frames|{i - 50}|Blob'
        elif what == 'S':
            asyncs.append(('F', f'load{i}', i % 3, pid, now))
            text = f'S|{pid}|load{i}|{i % 3}'
        elif what == 'G':
            asyncs.append(('H', f'anim{i}', i, pid, now))
            text = f'G|{pid}|Animations|anim{i}|{i}'
        elif what == 'N':
            rows.append(('async instant', f'mark{i}', pid, now, now))
            text = f'N|{pid}|Marks|mark{i}'
        elif what in 'FH' and any(a[0] == what for a in asyncs):
            a = rng.choice([a for a in asyncs if a[0] == what])
            asyncs.remove(a)
            rows.append(('async', a[1], a[3], a[4], now))
            text = f'F|{a[3]}|{a[1]}|{a[2]}' if what == 'F' else rng.choice((f'H|{a[3]}|Animations|{a[2]}', f'H|{a[3]}|Animations|{a[1]}|{a[2]}'))
        if text:
            events[cpu].append(printed(now, tid, text))
    for tid, stack in stacks.items():
        for name, start in reversed(stack):
            now += 5
            events[tid % 2].append(printed(now, tid, f'E|{PROCESS_OF[tid]}'))
            rows.append(('slice', name, tid, start, now))
    for _, name, cookie, pid, start in asyncs:
        now += 5
        events[0].append(printed(now, 100, f'F|{pid}|{name}|{cookie}' if name.startswith('load') else f'H|{pid}|Animations|{cookie}'))
        rows.append(('async', name, pid, start, now))
    halves = [bundle(cpu, [e for e in events[cpu] if (e[0] < START + (now - START) // 2) == (half == 0)]) for half in (0, 1) for cpu in (1, 0)]
    return b''.join(halves), sorted(rows, key=str)


def statistics(ns):
    """Returns a packet of counters, and their values as {name: value}."""
    cpu = field(1, 1) + field(2, 11) + field(3, 12) + field(4, 13) + field(5, 14) + field(6, 15) + field(7, 16) + field(8, 17)
    content = field(1, field(1, 1) + field(2, 2048)) + field(2, field(1, 1) + field(2, 77)) + field(3, cpu) + field(4, 5) + field(5, 6) + \
        field(6, field(1, 9) + field(2, 3)) + field(14, field(1, 3) + field(2, 999)) + field(11, 1800000) + field(11, 2400000)
    want = {'MemTotal': 2048 * 1024, 'nr_free_pages': 77, 'cpu.times.user_ns (CPU 1)': 11, 'cpu.times.idle_ns (CPU 1)': 14, 'num_forks': 5,
            'num_irq_total': 6, 'num_irq (id: 9)': 3, 'psi.io.some': 999, 'cpufreq (CPU 0)': 1800000, 'cpufreq (CPU 1)': 2400000}
    return packet(field(7, content), ns=ns), want


def write(path, seed, is_compact):
    rng = random.Random(seed)
    scheduler = Scheduler(rng)
    text, rows = atrace(rng)
    with open(path, 'wb') as f:
        f.write(head() + scheduler.packets(is_compact) + text + statistics(START + 500)[0])
    return scheduler, rows
