#!/usr/bin/env python3
"""Checks that a cut in time treats every packet of a Perfetto trace by its own time: packets in the range and
state are kept, other packets are removed, and nothing is reported as lost. The parts of a split contain each timed item once.

Fields are those of Perfetto's protos/perfetto/trace/trace_packet.proto."""
import collections
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import extensions  # noqa: E402
from protobuf import parse, varint  # noqa: E402
from verdict import check, finish  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']
FTRACE, TREE, SNAPSHOT, SYS_STATS, EVENT, INTERNED, CONFIG, LOG, GPU, UNKNOWN = 1, 2, 6, 7, 11, 12, 33, 39, 53, 901
START, END, REAL = 1_000_000_000, 1_400_000_000, 1_700_000_000_000_000_000  # ns on BOOTTIME; REALTIME at BOOTTIME 0
MONOTONIC = 250_000_000  # BOOTTIME is ahead of it by this

work = tempfile.TemporaryDirectory()


def field(number, value):
    return extensions.field(number, value.encode() if isinstance(value, str) else value)


def path(name):
    return os.path.join(work.name, name)


def get(fields, number, otherwise=None):
    return next((value for n, value in fields if n == number), otherwise)


def packet(content, ns=None, sequence=7, flags=2, clock=None):
    stamp = b'' if ns is None else field(8, ns)
    stamp += b'' if clock is None else field(58, clock)
    return field(1, content + stamp + field(10, sequence) + field(13, flags))


def printed(ns, text):
    return field(2, field(1, ns) + field(2, 42) + field(5, field(2, text)))


def switched(ns, text):
    return field(2, field(1, ns) + field(2, 0) + field(4, field(2, 41) + field(5, text) + field(6, 42)))


def snapshot(at):
    clocks = ((6, at), (1, REAL + at), (3, at - MONOTONIC))
    return packet(field(SNAPSHOT, b''.join(field(1, field(1, c) + field(2, t)) for c, t in clocks)), flags=0, sequence=1)


cpus = {}  # by time of an event of ftrace


def trace(seed):
    """Returns a trace with an item of each kind every few ms. The name of an item contains its time."""
    rng = random.Random(seed)
    out, bundles = [snapshot(START - 1), packet(field(CONFIG, field(1, b'')), flags=0, sequence=1)], {0: [], 1: []}
    for sequence in (7, 8, 9):
        out.append(packet(field(INTERNED, field(2, field(1, 1) + field(2, f'iid{sequence}'))), sequence=sequence, flags=1))
    step = (END - START) // 100
    for i in range(100):
        ns = START + i * step + rng.randrange(step // 2)
        kind = ('span', 'print', 'switch', 'stats', 'mono', 'log', 'gpu', 'unknown', 'tree', 'state')[i % 10]
        name = f'{kind}@{ns}.'
        if i in (0, 99) or kind == 'span':
            ns = END if i == 99 else ns
            for kind_of_event, at in ((1, ns), (2, ns + 10)):
                event = field(EVENT, field(9, kind_of_event) + field(23, f'span@{ns}.') + field(11, 5))
                out.append(packet(event, ns=at, sequence=3, flags=0))
        elif kind in ('print', 'switch'):
            cpu = cpus[ns] = rng.randrange(2)
            bundles[cpu].append((printed if kind == 'print' else switched)(ns, name))
        elif kind == 'stats':
            out.append(packet(field(SYS_STATS, field(900, name)), ns=ns))
        elif kind == 'mono':
            out.append(packet(field(UNKNOWN, name), ns=ns - MONOTONIC, clock=3, sequence=8))
        elif kind == 'log':
            out.append(packet(field(LOG, field(1, field(5, REAL + ns) + field(8, name))), ns=ns + 5 * step, sequence=8))
        elif kind == 'gpu':
            out.append(packet(field(GPU, field(1, i) + field(2, 10) + field(17, name)), ns=ns, sequence=9))
        elif kind == 'unknown':
            out.append(packet(field(UNKNOWN, name), ns=ns, sequence=9))
        elif kind == 'tree':
            out.append(packet(field(TREE, field(1, field(1, i + 1) + field(3, name))), ns=ns))
        else:
            out.append(packet(field(UNKNOWN, f'untimed{i}.'), sequence=8))
        if i % 30 == 29 or i == 99:
            for cpu, events in bundles.items():
                out.append(packet(field(FTRACE, field(1, cpu) + b''.join(events)), sequence=8, flags=0))
                events.clear()
    return b''.join(out)


def named(data):
    """Returns {(kind, time): number} of all names KIND@TIME in the file."""
    out = collections.Counter()
    for at in range(len(data)):
        if data[at:at + 1] == b'@' and data[at + 1:at + 11].isdigit():
            kind = next((k for k in KINDS if data[:at].endswith(k.encode())), None)
            if kind:
                out[kind, int(data[at + 1:at + 11])] += 1
    return out


KINDS = ('span', 'print', 'switch', 'stats', 'mono', 'log', 'gpu', 'unknown', 'tree')


def read(name):
    with open(path(name), 'rb') as f:
        return f.read()


def contents(data):
    """Counts the fields of all packets, by (field number, sequence)."""
    out = collections.Counter()
    for _, p in parse(data):
        fields = parse(p)
        out.update((n, get(fields, 10)) for n, _ in fields)
    return out


def wanted(whole, start, end):
    def stays(kind, ns):
        return kind == 'tree' or start <= ns < end or (kind in ('span', 'gpu') and start < ns + 10 and ns < end)

    def last(kind, cpu=None):
        before = [key for key in sorted(whole, key=lambda key: key[1]) if key[0] == kind and key[1] < start]
        return set([key for key in before if cpu is None or cpus[key[1]] == cpu][-1:])
    # counters keep their value until the next sample, and a CPU runs a thread until the next switch
    return {key for key in whole if stays(*key)} | last('stats') | last('switch', 0) | last('switch', 1)


def judge(what, whole, part, start, end):
    have = named(part)
    want = wanted(named(whole), start, end)
    check(f'{what}: what is in the range stays', not want - set(have), sorted(want - set(have))[:5])
    check(f'{what}: what is out of the range goes', not set(have) - want, sorted(set(have) - want)[:5])
    check(f'{what}: nothing is written twice', all(n == 1 for key, n in have.items() if key[0] != 'span'), have.most_common(2))
    check(f'{what}: packets without a time stay', part.count(b'untimed') == whole.count(b'untimed'))
    before, after = contents(whole), contents(part)
    check(f'{what}: configuration and clocks stay', all(after[n, 1] == before[n, 1] for n in (CONFIG, SNAPSHOT)))
    for sequence in (7, 8, 9):
        check(f'{what}: sequence {sequence} keeps its interned data', f'iid{sequence}'.encode() in part or not after[10, sequence])


def run(*args):
    p = subprocess.run([TRACEKIT, *args], stdin=subprocess.DEVNULL, capture_output=True)
    return p.returncode, p.stderr.decode()


def cuts(seed, whole):
    quarter = (END - START) // 4
    for start, end in ((START, START + 2 * quarter), (START + quarter, START + 3 * quarter), (START + 2 * quarter, END + 11)):
        what = f'seed {seed}, {start}..{end}'
        span = f'{start / 1000:f}..{end / 1000:f}'
        status, err = run('filter', path('in.pftrace'), '--time', span, '-o', path('part.pftrace'), '--force')
        check(f'{what}: succeeds', status == 0, err)
        check(f'{what}: nothing is lost', 'lost' not in err and 'cannot' not in err, err)
        check(f'{what}: packets without a time are reported', 'field 901, without a time (10 times' in err or
              'field 901, without a time (9 times' in err, err)
        judge(what, whole, read('part.pftrace'), start, end)
        status, err = run('filter', path('part.pftrace'), '--time', span, '-o', path('again.pftrace'), '--force')
        judge(f'{what}, again', whole, read('again.pftrace'), start, end)


def parts(seed, whole):
    quarter = (END + 10 - min(ns for kind, ns in named(whole) if kind == 'span')) // 4 + 1
    status, err = run('split', path('in.pftrace'), '--by', 'time', '--every', f'{quarter}ns', '-o', path('part{}.pftrace'), '--force')
    check(f'seed {seed}: split succeeds', status == 0 and 'lost' not in err, err)
    names, repeated = [named(read(f'part{i}.pftrace')) for i in range(4)], ('tree', 'span', 'gpu', 'stats', 'switch')
    once = collections.Counter(key for part in names for key in part if key[0] not in repeated)
    every = {key for key in named(whole) if key[0] not in repeated}
    check(f'seed {seed}: each sample and switch is in a part',
          all(any(key in part for part in names) for key in named(whole) if key[0] in ('stats', 'switch')))
    check(f'seed {seed}: each item is in one of four parts', set(once) == every and set(once.values()) == {1},
          sorted(every ^ set(once))[:3])


def unpacked(data):
    out, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        out.append(value)
    return out


def packed(values):
    return b''.join(map(extensions.varint, values))


# Numbers of the columns: time, tid, index of the name, others
COLUMNS = ((1, 3, 6, (2, 4)), (7, 8, 11, (9, 10)))


def columns_of(bundle):
    """Returns the switches and the wakings in the columns of a bundle, each as [(time, tid, name)]."""
    found = ([], [])
    for c in (parse(v) for n, v in bundle if n == 4):
        names = [v for n, v in c if n == 5]
        for rows, (time, tid, name, _) in zip(found, COLUMNS):
            now = 0
            for delta, thread, index in zip(*(unpacked(get(c, n, b'')) for n in (time, tid, name))):
                now += delta
                rows.append((now, thread, names[index]))
    return found


def columns_of_rows(rows, names, kind=0):
    time, tid, name, others = COLUMNS[kind]
    times = [t for t, _, _ in rows]
    content = field(time, packed(b - a for a, b in zip([0, *times], times))) + field(tid, packed(t for _, t, _ in rows))
    return content + field(name, packed(names.index(n) for _, _, n in rows)) + b''.join(field(n, bytes(len(rows))) for n in others)


def bundle_of(cpu, names, rows_of):
    content = b''.join(field(5, n) for n in names) + b''.join(columns_of_rows(rows, names, kind) for kind, rows in enumerate(rows_of))
    return packet(field(FTRACE, field(1, cpu) + field(4, content)), sequence=3, flags=0)


def compact():
    """Checks that columns of the scheduler are cut item by item; the last switch of each CPU before the range is kept, after one
    to the idle thread."""
    rng, bundles, everything = random.Random(7), [], [([], []), ([], [])]
    for i in range(40):
        cpu, at, names = i % 2, START + i // 2 * 1000, [f'thread {i} {k}'.encode() for k in range(3)]
        rows = [[(at + t, rng.randrange(9), rng.choice(names)) for t in sorted(rng.sample(range(1000), rng.randrange(5)))] for _ in range(2)]
        for kind in range(2):
            everything[cpu][kind].extend(rows[kind])
        bundles.append(bundle_of(cpu, names, rows))
    with open(path('in.pftrace'), 'wb') as f:
        f.write(packet(field(EVENT, field(9, 3) + field(23, 'start')), START, sequence=9) + b''.join(bundles))
    for a, b in ((3500, 7200), (0, 5000), (12000, 12300), (19000, 20000), (25000, 26000)):
        a, b = START + a, START + b
        status, err = run('filter', path('in.pftrace'), '--allow-empty', '--time', f'{a / 1000:.3f}..{b / 1000:.3f}', '-o',
                          path('part.pftrace'), '--force')
        check('compact: a cut works', status == 0 and 'lost' not in err, err)
        left = [parse(v) for n, p in parse(read('part.pftrace')) if n == 1 for m, v in parse(p) if m == FTRACE]
        for cpu, rows in enumerate(everything):
            found = [columns_of(bundle) for bundle in left if get(bundle, 1, 0) == cpu]
            got = [[row for bundle in found for row in bundle[kind]] for kind in range(2)]
            want = [[row for row in rows[kind] if a <= row[0] < b] for kind in range(2)]
            before = [row for row in rows[0] if row[0] < a][-1:] if want[0] or want[1] else []
            before = [(ns, 0, b'swapper') for ns, _, _ in before] + before
            check(f'compact: switches of CPU {cpu} in {a}..{b}', got[0] == before + want[0], f'{got[0]} not {before + want[0]}')
            check(f'compact: wakings of CPU {cpu} in {a}..{b}', got[1] == want[1], f'{got[1]} not {want[1]}')
            check('compact: the first bundle of a CPU stays', bool(found))


def without_events():
    """Checks traces whose packets are not events of the graph: times count from the first packet, and a range without events is not
    refused."""
    packets = [packet(field(FTRACE, field(1, 0) + b''.join(printed(START + ms * 1_000_000, f'print@{START + ms * 1_000_000}.')
                                                           for ms in range(101))), sequence=8, flags=0)]
    event = packet(field(EVENT, field(9, 3) + field(23, 'mark') + field(11, 5)), ns=START, sequence=3, flags=0)
    for what, data, span, first, last in (('no events', packets, '25%..50%', 25, 49), ('no events', packets, '+90ms..', 90, 100),
                                          ('one event', packets + [event], f'{START + 10_000_000}ns..{START + 20_000_000}ns', 10, 19)):
        with open(path('in.pftrace'), 'wb') as f:
            f.write(b''.join(data))
        status, err = run('filter', path('in.pftrace'), '--time', span, '-o', path('part.pftrace'), '--force')
        have = sorted((ns - START) // 1_000_000 for _, ns in named(read('part.pftrace'))) if status == 0 else []
        check(f'{what}, {span}: cut at the times of packets', have == list(range(first, last + 1)), (err, have))


def other_clocks():
    """Checks that ftrace on a clock of the kernel is cut by the two times of a bundle, which name one moment on that clock and on BOOTTIME."""
    global_clock, local_clock, ahead = 2, 3, 400_000_000  # enum FtraceClock; BOOTTIME is ahead of both by this

    def bundle_on(clock, cpu, first):
        times = [START + ms * 1_000_000 for ms in range(first, first + 25)]
        events = b''.join(switched(ns - ahead, f'switch@{ns}.') for ns in times)
        switches = [((ns - ahead), 42, f'columns@{ns}.'.encode()) for ns in times]
        names = [name for _, _, name in switches]
        columns = field(4, b''.join(field(5, name) for name in names) + columns_of_rows(switches, names))
        moment = field(5, clock) + field(6, 7_000) + field(7, 7_000 + ahead)
        return packet(field(FTRACE, field(1, cpu) + events + columns + moment), sequence=8, flags=0)

    for clock in (global_clock, local_clock):
        event = packet(field(EVENT, field(9, 3) + field(23, 'mark') + field(11, 5)), ns=START, sequence=3, flags=0)
        with open(path('in.pftrace'), 'wb') as f:
            f.write(snapshot(START - 1) + event + b''.join(bundle_on(clock, cpu, first) for first in (0, 25, 50, 75) for cpu in range(2)))
        status, err = run('filter', path('in.pftrace'), '--time', f'{START + 30_000_000}ns..{START + 40_000_000}ns', '-o', path('part.pftrace'), '--force')
        have = {(ns - START) // 1_000_000: n for (_, ns), n in named(read('part.pftrace')).items()} if status == 0 else {}
        check(f'ftrace on clock {clock}: single events', have == {ms: 2 for ms in range(30, 40)}, (err, have))
        left = [parse(v) for n, p in parse(read('part.pftrace')) if n == 1 for m, v in parse(p) if m == FTRACE]
        rows = collections.Counter(row[0] + ahead for bundle in left for row in columns_of(bundle)[0])
        want = {START + ms * 1_000_000: 4 if ms == 29 else 2 for ms in range(29, 40)}
        check(f'ftrace on clock {clock}: columns', rows == want, rows)


def deltas():
    """Checks that packets whose contents are differences to earlier packets keep these."""
    for number in (115, 119):  # kernel_wakelock_data, cpu_per_uid_data
        with open(path('in.pftrace'), 'wb') as f:
            f.write(snapshot(START - 1) + b''.join(packet(field(number, field(1, ms)), START + ms * 1_000_000, sequence=4) for ms in range(1, 9)))
        status, err = run('filter', path('in.pftrace'), '--time', f'{START + 3_500_000}ns..{START + 6_500_000}ns', '-o', path('part.pftrace'), '--force')
        left = [get(parse(v), 1) for n, p in parse(read('part.pftrace')) if n == 1 for m, v in parse(p) if m == number]
        check(f'deltas of packet {number}', left == [1, 2, 3, 4, 5, 6], (status, err, left))


def described_at_zero():
    """Checks that the description of counters, whose time is 0, does not count as the start of the trace when half of it is to stay."""
    gpu_counter = 52
    described = packet(field(gpu_counter, field(1, field(1, field(1, 1) + field(2, 'busy')))), 0, sequence=6, flags=1)
    late = 500_000_000_000_000
    samples = b''.join(packet(field(gpu_counter, field(2, field(1, 1) + field(2, i))), late + i * 1_000_000, sequence=6) for i in range(2000))
    with open(path('in.pftrace'), 'wb') as f:
        f.write(described + samples)
    status, err = run('shrink', path('in.pftrace'), '--percent', '50', '-o', path('part.pftrace'), '--force')
    left = sum(m == gpu_counter for n, p in parse(read('part.pftrace')) if n == 1 for m, _ in parse(p)) if status == 0 else 0
    check('half of the samples', 800 <= left <= 1001, (status, err, left))


def drivers():
    """Checks that begin events and samples of display drivers before the range are kept if they still apply within it."""
    def event(ms, number, pid, name, *fields):
        return field(2, field(1, START + ms * 1_000_000) + field(2, 42) + field(number, field(1, pid) + field(2, name) + b''.join(fields)))
    begin = {80: field(3, 1), 333: field(3, ord('B')), 348: field(5, ord('B'))}
    end = {80: b'', 333: field(3, ord('E')), 348: field(5, ord('E'))}
    for number, last in ((80, None), (333, (field(3, ord('C')), 4)), (348, (field(5, ord('C')), 6))):
        events = event(1, number, 7, 'open', begin[number]) + event(2, number, 7, 'done', begin[number]) + event(3, number, 7, '', end[number])
        if last:
            events += b''.join(event(ms, number, 7, name, last[0], field(last[1], ms)) for ms, name in ((4, 'sample'), (5, 'sample')))
        events += printed(START + 20_000_000, 'print@1020000000.') + event(30, number, 7, '', end[number])
        with open(path('in.pftrace'), 'wb') as f:
            f.write(packet(field(FTRACE, field(1, 0) + events), sequence=8, flags=0))
        status, err = run('filter', path('in.pftrace'), '--time', f'{START + 10_000_000}ns..{START + 40_000_000}ns', '--allow-empty',
                          '-o', path('part.pftrace'), '--force')
        data = read('part.pftrace') if status == 0 else b''
        items = [parse(v) for _, p in parse(data) for n, b in parse(p) if n == FTRACE for m, v in parse(b) if m == 2]
        found = [(get(i, 1) - START) // 1_000_000 for i in items]
        check(f'driver {number}: what is open at the start stays', found == [1] + [5] * bool(last) + [20, 30], (found, err))


SENT, RECEIVED, BUFFER, REQUEST, ONE_WAY, REPLY = 50, 51, 323, b'', field(7, 1), field(5, 1)  # of Binder in FtraceEvent; fields of SENT


class Calls:
    """Random nested Binder calls of a thread. `events`: (ns, thread, field number, content, call to which the event
    belongs)."""

    def __init__(self, rng, thread):
        self.rng, self.events, self.ns, self.n_threads, self.n_calls = rng, [], START, thread, thread
        self.next_id = thread * 1000
        for _ in range(6):
            self.call(thread, 0)

    def add(self, call, thread, number, content):
        self.ns += self.rng.randrange(1, 1000) * 1000
        self.events.append((self.ns, thread, number, content, call))

    def send(self, call, thread, kind):
        self.next_id += 1
        self.add(call, thread, SENT, field(1, self.next_id) + kind)
        if self.rng.random() < .5:
            self.add(call, thread, BUFFER, field(1, 99) + field(2, self.next_id))
        return self.next_id

    def call(self, client, depth):
        self.n_calls += 1
        self.n_threads += 1
        call, server, is_one_way = self.n_calls, self.n_threads, self.rng.random() < .3
        sent = self.send(call, client, ONE_WAY if is_one_way else REQUEST)
        self.add(call, server, RECEIVED, field(1, sent))
        while not is_one_way and depth < 3 and self.rng.random() < .4:
            self.call(server, depth + 1)
        if not is_one_way:
            self.add(call, client, RECEIVED, field(1, self.send(call, server, REPLY)))


def calls():
    """Checks that events before the range are kept if they belong to a Binder call that ends in or after the range, and only
    then."""
    rng = random.Random(3)
    for seed in range(20):
        events = sorted(e for thread in (100, 300, 500) for e in Calls(rng, thread).events)
        bundles = [packet(field(FTRACE, field(1, cpu) + b''.join(field(2, field(1, ns) + field(2, tid) + field(number, content))
                          for ns, tid, number, content, _ in events if tid % 2 == cpu)), sequence=8, flags=0) for cpu in (1, 0)]
        start, end = sorted(rng.sample(range(events[0][0], events[-1][0]), 2))
        last = {call: ns for ns, *_, call in events}
        want = sorted(ns for ns, *_, call in events if start <= ns < end or (ns < start <= last[call]))
        with open(path('in.pftrace'), 'wb') as f:
            f.write(b''.join(bundles))
        status, err = run('filter', path('in.pftrace'), '--time', f'{start}ns..{end}ns', '--allow-empty', '-o', path('part.pftrace'), '--force')
        data = read('part.pftrace') if status == 0 else b''
        found = sorted(get(parse(v), 1) for _, p in parse(data) for n, b in parse(p) if n == FTRACE for m, v in parse(b) if m == 2)
        check(f'calls {seed}: calls that are open at the start stay whole', found == want, (err, len(found), len(want)))


def spans_of_calls(events):
    """Returns the spans that trace_processor shows for Binder events (binder_tracker.cc): (start, end or None, thread)."""
    sent, stacks, spans = {}, collections.defaultdict(list), []

    def begin(ns, thread):
        spans.append([ns, None, thread])
        stacks[thread].append(spans[-1])

    def end(ns, thread):
        if stacks[thread]:
            stacks[thread].pop()[1] = ns
    for ns, thread, number, content in sorted(events):
        message = get(parse(content), 1)
        kind = {5: REPLY, 7: ONE_WAY}.get(next((n for n, _ in parse(content) if n in (5, 7)), None), REQUEST)
        if number == SENT:
            sent[message] = kind
            if kind == REQUEST:
                begin(ns, thread)
            elif kind == REPLY:
                end(ns, thread)
        elif number == RECEIVED and message in sent:
            kind = sent.pop(message)
            if kind == ONE_WAY:
                spans.append([ns, ns, thread])
            else:
                (begin if kind == REQUEST else end)(ns, thread)
    return spans


def incomplete_calls():
    """Checks that the spans of calls in the range stay the same if the trace lacks events, so that replies close the spans of other calls."""
    rng, n_kept, n_all = random.Random(5), 0, 0
    for seed in range(40):
        events = sorted(e[:4] for thread in (100, 300) for e in Calls(rng, thread).events if rng.random() > .15)
        with open(path('in.pftrace'), 'wb') as f:
            f.write(b''.join(packet(field(FTRACE, field(1, cpu) + b''.join(field(2, field(1, ns) + field(2, tid) + field(number, content))
                                    for ns, tid, number, content in events if tid % 2 == cpu)), sequence=8, flags=0) for cpu in (1, 0)))
        start = rng.choice(events)[0] + rng.choice((0, 1))
        status, err = run('filter', path('in.pftrace'), '--time', f'{start}ns..{events[-1][0] + 1}ns', '--allow-empty', '-o', path('part.pftrace'), '--force')
        items = [parse(v) for _, p in parse(read('part.pftrace')) for n, b in parse(p) if n == FTRACE for m, v in parse(b) if m == 2] if status == 0 else []
        kept = [(get(i, 1), get(i, 2), n, c) for i in items for n, c in i if n in (SENT, RECEIVED, BUFFER)]
        want, found = ([s for s in spans_of_calls(e) if s[1] is None or s[1] >= start] for e in (events, kept))
        check(f'incomplete calls {seed}: the spans in the range', found == want, (err, found, want))
        n_kept, n_all = n_kept + sum(ns < start for ns, *_ in kept), n_all + sum(ns < start for ns, *_ in events)
    check('incomplete calls: few events before the ranges stay', n_kept < n_all / 2, (n_kept, n_all))


def shrunk(seed, whole):
    """Checks that shrink to a size keeps the first part of the trace, with its packets."""
    timed = [key for key in named(whole) if key[0] not in ('tree', 'span')]
    for percent in (80, 60, 45):  # process trees and packets without a time stay
        target = len(whole) * percent // 100
        status, err = run('shrink', path('in.pftrace'), '--to', f'{target}B', '-o', path('part.pftrace'), '--force')
        what = f'seed {seed}, shrunk to {percent}%'
        check(f'{what}: succeeds', status == 0 and 'lost' not in err, err)
        size = os.path.getsize(path('part.pftrace'))
        check(f'{what}: the size', 0.8 * target <= size <= target, f'{size} of {target} bytes')
        have = named(read('part.pftrace'))
        last = max(ns for kind, ns in timed if (kind, ns) in have)
        check(f'{what}: all packets up to a time stay', all(key in have for key in timed if key[1] < last), last)


def other_edits(whole):
    """Checks that a filter by name removes packets without a name, and counts them as lost."""
    status, err = run('filter', path('in.pftrace'), '--name', 'span*', '--time', '1000000..1200000', '-o', path('part.pftrace'), '--force')
    check('a filter by name counts packets as lost', status == 0 and 'data blocks specific to the input format' in err, err)
    check('... and does not blame the format', 'Perfetto protobuf cannot' not in err, err)
    check('a filter by name drops packets', not [key for key in named(read('part.pftrace')) if key[0] in ('stats', 'print')])


for seed in range(3):
    data = trace(seed)
    with open(path('in.pftrace'), 'wb') as f:
        f.write(data)
    cuts(seed, data)
    shrunk(seed, data)
    parts(seed, data)
other_edits(data)
compact()
drivers()
calls()
incomplete_calls()
without_events()
other_clocks()
deltas()
described_at_zero()
finish()
