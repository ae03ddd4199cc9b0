#!/usr/bin/env python3
"""Checks that merge never claims more about clocks than the data supports, even for adversarial clocks and collectives.

    for each kind and seed: a job with true clocks -> one file per rank -> merge -> marks of known true time in the output

A mark is an event that alignment ignores, with the true time in its args. After a merge, a mark must be at the time that the
reference's clock shows at that true time. Each rank counts as trusted or refused; a trusted rank is

    wrong      a mark is off by more than twice the claimed error of that moment, plus 5 us
    outside    a mark lies outside of the interval that the report states as proven
    covered    share of marks within the claimed 95% error

If the ends are biased by a constant (`biased`), only the proven interval is checked, because no data shows such a bias.

    tricks.py                 a few draws of each kind; the limits below decide
    tricks.py --table [N [KIND]]  prints the table with N draws per kind (default 20), optionally of one kind
    SEED=1000 tricks.py ...   seeds from 1000 instead of 1
    tricks.py --one KIND SEED DIR   keeps the files of a draw and prints the claims"""
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import finish, judge  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']
BASE = 1790000000 * 10 ** 9
DTYPES = ('BFloat16', 'Float')


# ---- clocks ----

class Clock:
    """Clock whose reading at the true time t is t + offset + drift + jumps + a sine + a random walk; us."""

    def __init__(self, offset=0.0, ppm=0.0):
        self.offset, self.ppm, self.jumps, self.sine, self.walk = offset, ppm, [], None, None

    def at(self, t):
        r = t + self.offset + self.ppm * 1e-6 * t + sum(by for when, by in self.jumps if t >= when)
        if self.sine:
            r += self.sine[0] * math.sin(2 * math.pi * t / self.sine[1] + self.sine[2])
        if self.walk:
            step, values = self.walk
            k = min(max(int(t / step), 0), len(values) - 2)
            r += values[k] + (values[k + 1] - values[k]) * (t / step - k)
        return r


# ---- a job ----

class Job:
    def __init__(self, rng, style='ddp', hosts=None, each=None, keyed=True, steps=None):
        self.rng, self.style, self.keyed = rng, style, keyed
        self.hosts = hosts or rng.choice((2, 2, 2, 3))
        self.each = each or rng.choice((1, 2, 4))
        self.ranks = self.hosts * self.each
        self.steps = steps or rng.randint(6, 16)
        self.clock = [Clock(0 if h == 0 else rng.choice((60, 700, 2500, -9000)) * rng.uniform(0.5, 1.5) * rng.choice((-1, 1)),
                            0 if h == 0 else rng.uniform(-30, 30)) for h in range(self.hosts)]
        self.gpu = [0.0] * self.ranks            # how far a rank's GPU clock is ahead of its CPU clock
        self.named = [f'node{h}' for h in range(self.hosts)]
        self.late = lambda op, rank: 0.0         # a rank leaves a collective late, and reaches the next one late
        self.cut = [0.0] * self.ranks            # a rank's kernels are recorded as ending this much earlier
        self.noise = rng.uniform(1, 5)
        self.of_rank = [rng.uniform(0, 4) if rng.random() < 0.7 else 0.0 for _ in range(self.ranks)]
        self.lost = 0.0
        self.window = [(0, self.steps)] * self.ranks
        self.seq_shift = [0] * self.ranks
        self.cpu_rows = ''
        self.launches = self.waits = False
        self.base_lost = set()
        self.copies = []                         # (rank, shift in us, host name, in front)
        self.away = {}                           # rank -> name of the host that the file states
        self.biased = self.refuse = False
        self.step_of = {}
        self.even = None                         # every step takes equally long, to this many us

    def host(self, rank):
        return rank // self.each

    def program(self):
        """Returns (name, elements, compute before it in us) for each collective of a step."""
        r = self.rng
        if self.style == 'fsdp':
            layers = r.randint(3, 6)
            one = r.uniform(150, 500)
            return ([('_allgather_base', 1 << 20, one)] * layers + [('_reduce_scatter_base', 1 << 20, 2 * one)] * layers)
        if self.style == 'decode':
            layers = r.randint(6, 12)
            one = r.uniform(40, 120)
            return [('allreduce', 8192, one)] * (2 * layers)
        n = r.randint(3, 6)
        return [('allreduce', r.choice((1 << 20, 1 << 22, 1 << 23)), r.uniform(300, 2500)) for _ in range(n)]

    def run(self):
        """Simulates the job; fills self.ops with true times."""
        r, at, self.ops, program = self.rng, [0.0] * self.ranks, [], self.program()
        jitter = {'ddp': 0.06, 'fsdp': 0.03, 'decode': 0.015}[self.style] * r.uniform(0.6, 1.5)
        for step in range(self.steps):
            pause = r.uniform(200, 1500) * (0.3 if self.style == 'decode' else 1) if self.even is None else 300 + r.gauss(0, self.even)
            at = [t + pause for t in at]
            self.step_of[step] = min(at)
            for k, (name, size, before) in enumerate(program):
                spread = before * jitter
                start = [t + before + r.gauss(0, spread) + r.expovariate(1 / (0.3 * spread + 5)) for t in at]
                if self.even is not None:
                    start = [t + before + r.gauss(0, self.even) for t in at]
                start = [max(s, t + 1) for s, t in zip(start, at)]
                done = max(start) + {'ddp': 60, 'fsdp': 120, 'decode': 12}[self.style] * (r.uniform(0.9, 1.1) if self.even is None else 1)
                op = {'n': len(self.ops), 'step': step, 'k': k, 'name': name, 'size': size, 'start': start}
                op['end'] = [done + r.uniform(0, self.noise) + self.of_rank[i] + self.late(op, i) for i in range(self.ranks)]
                self.ops.append(op)
                at = list(op['end'])
        self.span = max(at) + 500
        return self

    # ---- files ----

    def read_gpu(self, rank, t):
        return self.clock[self.host(rank)].at(t) + self.gpu[rank]

    def events(self, rank, marks):
        r, pid, out, corr = random.Random(rank * 7919 + self.ranks), 10000 + rank, [], 0
        cpu = self.clock[self.host(rank)].at
        first, last = self.window[rank]
        inside = [op for op in self.ops if first <= op['step'] < last]
        for step in range(first, last):
            a, b = self.step_of[step], self.step_of.get(step + 1, self.span)
            out.append(span('gpu_user_annotation', f'ProfilerStep#{step}', rank, 7, self.read_gpu(rank, a), self.read_gpu(rank, b) - 1))
        for op in inside:
            if r.random() < self.lost:
                continue
            a, b = op['start'][rank], max(op['end'][rank] - self.cut[rank], op['start'][rank] + 1)
            args = {'device': rank % 8, 'stream': 20}
            if self.keyed:
                args |= {'Collective name': op['name'], 'In msg nelems': op['size'], 'Out msg nelems': op['size'], 'dtype': 'BFloat16',
                         'Group size': self.ranks, 'Process Group Name': '0', 'Process Group Description': 'default_pg',
                         'Process Group Ranks': str(list(range(self.ranks))), 'Seq': op['n'] + 1 + self.seq_shift[rank]}
            if self.cpu_rows:
                out.append(span(*(('cpu_op', self.cpu_rows) if ':' in self.cpu_rows else ('cpu_op', self.cpu_rows)), pid, pid + 1, cpu(a), cpu(b), args))
                continue
            kernel = 'ncclDevKernel_' + {'allreduce': 'AllReduce_Sum_bf16_RING_LL', '_allgather_base': 'AllGather_RING_LL',
                                         '_reduce_scatter_base': 'ReduceScatter_Sum_bf16_RING_LL'}[op['name']] + '(ncclDevKernelArgsStorage<4096ul>)'
            out.append(span('kernel', kernel, rank, 20, self.read_gpu(rank, a), self.read_gpu(rank, b), args))
            if self.launches:
                corr += 1
                at = a - r.uniform(60, 90)
                launch = at - r.choice((6, 8, 12, 25, 80))
                out.append(span('kernel', 'ampere_bf16_gemm', rank, 7, self.read_gpu(rank, at), self.read_gpu(rank, a - 2), {'correlation': corr, 'device': rank % 8}))
                out.append(span('cuda_runtime', 'cudaLaunchKernel', pid, pid, cpu(launch), cpu(launch) + 4, {'correlation': corr}))
            if self.waits and op['k'] == 0:
                corr += 1
                back = b + 20
                out.append(span('gpu_memcpy', 'Memcpy DtoH (Device -> Pageable)', rank, 7, self.read_gpu(rank, back), self.read_gpu(rank, back + 5), {'correlation': corr}))
                out.append(span('cuda_runtime', 'cudaMemcpyAsync', pid, pid, cpu(back - 9), cpu(back - 6), {'correlation': corr}))
                corr += 1
                out.append(span('cuda_runtime', 'cudaStreamSynchronize', pid, pid, cpu(back - 5), cpu(back + 5 + r.uniform(6, 15)), {'correlation': corr}))
        for t in marks:
            out.append(span('truth', 'truth', pid, 1, cpu(t), cpu(t) + 0.001, {'T': t, 'R': cpu(t)}))
        return sorted(out, key=lambda e: e['ts'])

    def file(self, rank, marks, shift=0.0, host=None):
        base = BASE + round(shift * 1000)
        trace = {'schemaVersion': 1, 'deviceProperties': [{'id': rank % 8, 'name': 'H100'}],
                 'distributedInfo': {'backend': 'nccl', 'rank': rank, 'world_size': self.ranks, 'pg_count': 1,
                                     'pg_config': [{'pg_name': '0', 'pg_desc': 'default_pg', 'backend_config': 'cuda:nccl',
                                                    'pg_size': self.ranks, 'ranks': list(range(self.ranks))}]},
                 'baseTimeNanoseconds': base, 'displayTimeUnit': 'ms', 'traceEvents': self.events(rank, marks)}
        name = host or self.away.get(rank, self.named[self.host(rank)])
        if name:
            trace['host_name'] = name
        if rank in self.base_lost:
            del trace['baseTimeNanoseconds']
        return trace

    def write(self, folder):
        marks = [self.span * (i + 0.5) / 120 for i in range(-2, 123)]
        paths = []
        for rank in range(self.ranks):
            paths.append(f'{folder}/rank{rank}.json')
            with open(paths[-1], 'w', encoding='utf-8') as f:
                json.dump(self.file(rank, marks), f)
        for n, (rank, shift, host, front) in enumerate(self.copies):
            path = f'{folder}/{"a" if front else "z"}copy{n}.json'
            with open(path, 'w', encoding='utf-8') as f:
                json.dump(self.file(rank, marks, shift, host), f)
            paths.insert(0 if front else len(paths), path)
        return paths


def span(cat, name, pid, tid, start, end, args=None):
    e = {'ph': 'X', 'cat': cat, 'name': name, 'pid': pid, 'tid': tid, 'ts': round(start + 5e6, 3), 'dur': round(max(end - start, 0), 3)}
    return e | {'args': args} if args is not None else e


# ---- kinds ----

def plain(rng):
    return Job(rng).run()


def unkeyed(rng):
    return Job(rng, keyed=False).run()


def fsdp(rng):
    return Job(rng, 'fsdp').run()


def decode(rng):
    return Job(rng, 'decode').run()


def even(rng, style=None, keyed=True):
    """A program whose steps take equally long, to the microsecond."""
    j = Job(rng, style or rng.choice(('fsdp', 'decode')), keyed=keyed)
    j.even = rng.uniform(0.1, 2)
    return j.run()


def even_unkeyed(rng):
    return even(rng, keyed=False)


def even_late(rng):
    """An even program, one host of which leaves some collectives late, at random."""
    j = Job(rng, rng.choice(('fsdp', 'decode')))
    j.even = rng.uniform(0.1, 2)
    share, by, draw, late = rng.uniform(0.2, 0.9), rng.uniform(20, 400), random.Random(rng.random()), {}
    j.late = lambda op, rank: late.setdefault(op['n'], by if draw.random() < share else 0) if j.host(rank) == 1 else 0
    j.biased = True
    return j.run()


def even_jump(rng):
    j = Job(rng, rng.choice(('fsdp', 'decode')))
    j.even = rng.uniform(0.1, 2)
    j.run()
    j.clock[1].jumps = [(j.span * rng.uniform(0.2, 0.8), rng.choice((1, -1)) * rng.uniform(40, 2000))]
    return j


def even_shifted(rng):
    """An even program, whose sequence numbers are ahead on one host."""
    j = Job(rng, rng.choice(('fsdp', 'decode')))
    j.even = rng.uniform(0.1, 2)
    by = rng.choice((1, 1, 2, 3))
    j.seq_shift = [by if j.host(rank) == 1 else 0 for rank in range(j.ranks)]
    return j.run()


def even_removed(rng):
    j = Job(rng, rng.choice(('fsdp', 'decode')))
    j.even, j.lost = rng.uniform(0.1, 2), rng.uniform(0.05, 0.4)
    return j.run()


def even_hour(rng):
    j = even(rng)
    j.clock[1].offset += rng.choice((3600e6, -3600e6, 30e6))
    return j


def fsdp_unkeyed(rng):
    return Job(rng, 'fsdp', keyed=False).run()


def decode_unkeyed(rng):
    return Job(rng, 'decode', keyed=False).run()


def late_at_random(rng, keyed=True, style='fsdp'):
    """One host leaves some collectives late, and the others wait for it at the next one."""
    j = Job(rng, style, keyed=keyed)
    share, by, who, draw = rng.uniform(0.3, 0.95), rng.uniform(50, 600), rng.randrange(j.hosts), random.Random(rng.random())
    late = {}

    def of(op, rank):
        if op['n'] not in late:
            late[op['n']] = by * draw.uniform(0.9, 1.1) if draw.random() < share else 0
        return late[op['n']] if j.host(rank) == who else 0
    j.late = of
    j.biased = True  # if most collectives are late, their ends look like another clock offset
    return j.run()


def late_ddp(rng):
    return late_at_random(rng, style='ddp')


def late_unkeyed(rng):
    return late_at_random(rng, keyed=False)


def late_both(rng):
    """All hosts leave late at random with the same distribution, so there is no bias."""
    j = Job(rng, rng.choice(('ddp', 'fsdp')))
    share, by, draw, late = rng.uniform(0.1, 0.5), rng.uniform(20, 300), random.Random(rng.random()), {}
    j.late = lambda op, rank: late.setdefault((op['n'], j.host(rank)), by * draw.uniform(0.8, 1.2) if draw.random() < share else 0)
    return j.run()


def stagger(rng):
    """Rank i leaves i times a few us later, as in a ring."""
    j = Job(rng, each=rng.choice((2, 4)))
    by = rng.uniform(1, 20) * rng.choice((1, -1))
    j.late = lambda op, rank: by * rank if by > 0 else -by * (j.ranks - 1 - rank)
    return j.run()


def rotating(rng):
    """The rank that leaves first rotates from one collective to the next."""
    j = Job(rng, rng.choice(('ddp', 'fsdp')))
    by = rng.uniform(2, 12)
    j.late = lambda op, rank: by * ((rank + op['n']) % j.ranks)
    return j.run()


def host_late(rng):
    j = Job(rng)
    by, who = rng.uniform(20, 300), rng.randrange(j.hosts)
    j.late = lambda op, rank: by if j.host(rank) == who else 0
    j.biased = True
    return j.run()


def late_grows(rng):
    """A host leaves later and later, as if its clock drifted."""
    j = Job(rng)
    by, who = rng.uniform(20, 200), rng.randrange(j.hosts)
    j.late = lambda op, rank: by * op['step'] / j.steps if j.host(rank) == who else 0
    j.biased = True
    return j.run()


def kernel_cut(rng):
    j = Job(rng)
    who, by = rng.randrange(j.hosts), rng.uniform(20, 55)
    j.cut = [by if j.host(rank) == who else 0 for rank in range(j.ranks)]
    j.biased = True
    return j.run()


def jumped(rng, by, style='ddp', host=1, times=1, where=(0.15, 0.85), keyed=True):
    j = Job(rng, style, keyed=keyed).run()
    ends = [op['end'][host * j.each] for op in j.ops]
    while True:
        at = sorted(j.span * rng.uniform(*where) for _ in range(times))
        if ends[0] < at[0] and at[-1] < ends[-1] and all(sum(a < e < b for e in ends) >= 2 for a, b in zip(at, at[1:])):
            break  # several jumps between two collectives would look like one
    j.clock[host].jumps = [(t, by(rng)) for t in at]
    return j


def jump_forward(rng):
    return jumped(rng, lambda r: math.exp(r.uniform(math.log(40), math.log(2000))), rng.choice(('ddp', 'fsdp')))


def jump_back(rng):
    return jumped(rng, lambda r: -math.exp(r.uniform(math.log(40), math.log(2000))), rng.choice(('ddp', 'fsdp')))


def jump_back_far(rng):
    return jumped(rng, lambda r: -math.exp(r.uniform(math.log(3000), math.log(40000))), rng.choice(('ddp', 'fsdp')))


def jump_far(rng):
    return jumped(rng, lambda r: math.exp(r.uniform(math.log(3000), math.log(60000))), rng.choice(('ddp', 'fsdp', 'decode')))


def jump_unkeyed(rng):
    return jumped(rng, lambda r: r.choice((1, -1)) * math.exp(r.uniform(math.log(40), math.log(3000))), rng.choice(('ddp', 'fsdp')), keyed=False)


def jump_decode(rng):
    return jumped(rng, lambda r: r.choice((1, -1)) * math.exp(r.uniform(math.log(40), math.log(900))), 'decode')


def jump_twice(rng):
    return jumped(rng, lambda r: r.choice((1, -1)) * math.exp(r.uniform(math.log(40), math.log(1500))), times=2)


def jump_reference(rng):
    return jumped(rng, lambda r: r.choice((1, -1)) * math.exp(r.uniform(math.log(40), math.log(2000))), host=0)


def jump_at_edge(rng):
    edge = rng.choice(((0.0, 0.1), (0.9, 1.0)))
    return jumped(rng, lambda r: r.choice((1, -1)) * math.exp(r.uniform(math.log(40), math.log(2000))), where=edge)


def drift(rng):
    j = Job(rng, steps=rng.randint(20, 40))
    for h in range(1, j.hosts):
        j.clock[h].ppm = rng.uniform(30, 100) * rng.choice((1, -1))
    return j.run()


def temperature(rng):
    """The rate of a clock follows the temperature."""
    j = Job(rng, rng.choice(('ddp', 'fsdp')), steps=rng.randint(15, 40)).run()
    period = j.span * rng.uniform(0.4, 1.5)
    j.clock[1].sine = (min(rng.uniform(5, 60), 300e-6 * period / 6.3), period, rng.uniform(0, 6.3))
    return j


def wander(rng):
    j = Job(rng, steps=rng.randint(15, 30)).run()
    values, step = [0.0], j.span / 12
    for _ in range(16):
        values.append(values[-1] + rng.gauss(0, 100e-6 * step))
    j.clock[1].walk = (step, values)
    return j


def gpu_of_one(rng, waits=None):
    """The GPU clock of one rank is off from its CPU clock."""
    j = Job(rng, each=rng.choice((2, 4)))
    rank = rng.randrange(1, j.ranks)
    j.gpu[rank] = rng.uniform(40, 800) * rng.choice((1, -1))
    j.launches, j.waits = True, rng.random() < 0.5 if waits is None else waits
    return j.run()


def gpu_of_host(rng):
    """The GPU clocks of a whole host are off in the same way; the ends of collectives do not show the times of its CPU rows."""
    j = Job(rng, each=rng.choice((1, 2)))
    by = rng.uniform(40, 800) * rng.choice((1, -1))
    for rank in range(j.each, 2 * j.each):
        j.gpu[rank] = by
    j.launches = j.waits = True
    return j.run()


def launches(rng):
    j = Job(rng)
    j.launches, j.waits = True, rng.random() < 0.5
    return j.run()


def cpu_rows(rng):
    """Collectives are recorded on CPUs only, with all args; on one host, calls return late."""
    j = Job(rng)
    j.cpu_rows = rng.choice(('c10d::allreduce_', 'nccl:all_reduce', 'gloo:all_reduce', 'record_param_comms', 'nccl:allreduce'))
    by = rng.uniform(0, 300)
    j.late = lambda op, rank: by if j.host(rank) == 1 else 0
    j.refuse = True
    return j.run()


def seq_shifted(rng):
    """A communicator was used before the profile on some ranks: their numbers are ahead."""
    j = Job(rng, rng.choice(('ddp', 'fsdp', 'decode')))
    by = rng.choice((1, 1, 2, 3))
    j.seq_shift = [by if j.host(rank) == 1 else 0 for rank in range(j.ranks)]
    return j.run()


def rank_twice(rng):
    """The file of one rank is given twice, with another host name and shifted times."""
    j = Job(rng, each=rng.choice((2, 4))).run()
    j.copies = [(rng.randrange(j.ranks), rng.choice((0, 7000, -300, 2e6)), rng.choice(('elsewhere', 'node0', 'node1')), rng.random() < 0.5)]
    return j


def base_lost(rng):
    j = Job(rng).run()
    j.base_lost = set(range(j.ranks)) if rng.random() < 0.5 else {r for r in range(j.ranks) if j.host(r) == 1}
    return j


def scatter(rng):
    """Ranks leave a collective up to 60 us apart, at random."""
    j = Job(rng, rng.choice(('ddp', 'fsdp')))
    by, draw = rng.uniform(15, 60), random.Random(rng.random())
    j.late = lambda op, rank: draw.uniform(0, by)
    return j.run()


def hour_off(rng):
    j = Job(rng, rng.choice(('ddp', 'fsdp', 'decode'))).run()
    j.clock[1].offset += rng.choice((3600e6, -3600e6, 7200e6, 30e6))
    return j


def removed(rng):
    j = Job(rng, rng.choice(('ddp', 'fsdp', 'decode')))
    j.lost = rng.uniform(0.1, 0.6)
    return j.run()


def one_name(rng):
    """Two machines with one host name."""
    j = Job(rng).run()
    j.named = ['localhost'] * j.hosts
    return j


def unnamed(rng):
    j = Job(rng, each=rng.choice((1, 2))).run()
    j.named = [''] * j.hosts
    return j


def other_steps(rng):
    """Ranks recorded ranges of steps that overlap only in part."""
    j = Job(rng, steps=rng.randint(10, 18)).run()
    low = rng.randint(1, j.steps // 2)
    j.window = [(low, j.steps) if j.host(r) == 1 else (0, j.steps - rng.randint(0, 2)) for r in range(j.ranks)]
    return j


def other_run(rng):
    """The ranks of one host come from another run of the same program."""
    seed, style = rng.random(), rng.choice(('ddp', 'fsdp', 'decode'))
    hosts, each, steps = 2, rng.choice((1, 2)), rng.randint(6, 16)
    j = Job(rng, style, hosts, each, steps=steps)
    program = Job(random.Random(seed), style, hosts, each, steps=steps).program()
    j.program = lambda: program
    j.run()
    ops = j.ops
    j.run()
    j.step_of = {**j.step_of}
    for op, own in zip(j.ops, ops):
        for r in range(each, 2 * each):
            op['start'][r], op['end'][r] = own['start'][r], own['end'][r]
    j.clock[1].offset += rng.choice((0, 3000, 1e6, 3600e6))
    j.refuse = True
    return j


def few(rng):
    return Job(rng, steps=rng.randint(1, 3)).run()


def one_rank_late(rng):
    """One rank of a host always leaves late."""
    j = Job(rng, each=4)
    rank, by = rng.randrange(j.ranks), rng.uniform(10, 150)
    j.late = lambda op, r: by if r == rank else 0
    return j.run()


def swapped_names(rng):
    """Two ranks state each other's host."""
    j = Job(rng, hosts=2, each=rng.choice((2, 4))).run()
    j.away = {0: 'node1', j.each: 'node0'}
    return j


# Kind -> smallest share of ranks that must be trusted; None: none may be.
KINDS = {
    plain: 0.9, unkeyed: 0.9, fsdp: 0.8, decode: 0.8, fsdp_unkeyed: 0, decode_unkeyed: 0, even: 0.5, even_unkeyed: 0, even_late: 0,
    even_jump: 0, even_shifted: 0, even_removed: 0.2, even_hour: 0, late_at_random: 0, late_ddp: 0, late_unkeyed: 0,
    late_both: 0, stagger: 0.5, rotating: 0.5, host_late: 0.5, late_grows: 0, kernel_cut: 0.5, jump_forward: 0.4, jump_back: 0.2,
    jump_back_far: 0, jump_far: 0.1, jump_unkeyed: 0, jump_decode: 0.1, jump_twice: 0.1, jump_reference: 0.2, jump_at_edge: 0.1, drift: 0.8,
    temperature: 0.5, wander: 0.2, gpu_of_one: 0.3, gpu_of_host: 0, launches: 0.8, cpu_rows: None, seq_shifted: 0, rank_twice: 0.2, base_lost: 0.3,
    scatter: 0.3, hour_off: 0.5, removed: 0.5, one_name: 0.3, unnamed: 0.8, other_steps: 0.6, other_run: None, few: 0.2, one_rank_late: 0.3, swapped_names: 0}


# Draws that earlier versions trusted although they were wrong or outside of the proven interval.
WRONG_ONCE = ((late_both, 20189), (late_both, 20192), (rotating, 20103), (jump_twice, 1002), (jump_twice, 1005), (jump_twice, 1029),
              (gpu_of_one, 1030), (jump_at_edge, 3051), (late_ddp, 3), (late_grows, 5), (late_grows, 8), (jump_decode, 2), (jump_unkeyed, 20028),
              (jump_twice, 20038), (stagger, 700096), (jump_unkeyed, 700062), (late_unkeyed, 700098))


# ---- claims of the report ----

def error_at(host, reading):
    """Returns the claimed 95% error at a reading of the host's clock, and by how much the proven interval is wider there; None if
    there is no claim."""
    pieces = host.get('pieces', [])
    if not pieces:
        return (host['error_us'], 0) if host['method'] in ('reference', 'given') else None
    if reading < pieces[0]['from_ns'] or reading > pieces[-1]['to_ns']:
        return None
    p = [p for i, p in enumerate(pieces) if i == 0 or reading >= p['from_ns']][-1]
    away = (min(reading, p['to_ns']) - (p['from_ns'] + p['to_ns']) / 2) * 1e-3
    error = math.hypot(p['error_us'], p['drift_error_ppm'] * 1e-6 * away)
    inside = [g['error_us'] for g in host.get('gaps', []) if g['from_ns'] <= reading <= g['to_ns']]
    return (max([error] + inside), max([0] + inside))


class Count:
    def __init__(self):
        self.ranks = self.trusted = self.wrong = self.outside = self.marks = self.covered = self.proven = 0
        self.worst, self.bars, self.which = 0.0, [], []

    def add(self, o):
        for k in ('ranks', 'trusted', 'wrong', 'outside', 'marks', 'covered', 'proven'):
            setattr(self, k, getattr(self, k) + getattr(o, k))
        self.worst = max(self.worst, o.worst)
        self.bars += o.bars
        self.which += o.which


def judge_rank(j, rank, host, marks, zero, c):
    """Counts a rank as refused, or as trusted and right or wrong. `marks`: (true time, reading, time in the output), us."""
    c.ranks += 1
    if not host['trusted']:
        return
    c.trusted += 1
    low, high = host.get('proven_us', (-math.inf, math.inf))
    wrong = outside = False
    seen = []
    for t, reading, at in marks:
        claim = error_at(host, reading)
        if claim is None:
            continue
        error, wider = claim
        off = at - zero(t)
        seen.append((abs(off), error))
        wrong = wrong or (abs(off) > 2 * error + 5 and not j.biased)
        c.proven += 1
        outside = outside or not low - wider - 0.5 <= off <= high + wider + 0.5
    if not j.biased:
        c.marks += len(seen)
        c.covered += sum(o <= e + 0.01 for o, e in seen)
    c.bars += [e for _, e in seen[::20]]
    c.wrong += wrong
    c.outside += outside
    if wrong or outside:
        c.worst = max(c.worst, max(o for o, _ in seen))


def judge_draw(j, paths, out, report, c):
    inputs = {x['input']: x for x in out['tracekit']['ranks']}
    of_pid = {str(pid): name for name, x in inputs.items() for pid in x['pids'].values()}
    marks, base = {}, out.get('baseTimeNanoseconds', 0)
    for e in out['traceEvents']:
        if e.get('cat') == 'truth':
            marks.setdefault(of_pid[str(e['pid'])], []).append((e['args']['T'], e['args']['R'], e['ts']))
    hosts = {}
    for h in report.get('hosts', []):
        for r in h['ranks']:
            hosts.setdefault(r, []).append(h)
    reference = next((h for h in report.get('hosts', []) if h['method'] == 'reference'), None)
    names = [os.path.basename(p) for p in paths]
    copied = {name: (rank, shift) for (rank, shift, _, front), name in zip(j.copies, [n for n in names if 'copy' in n])}
    first = os.path.basename(paths[0])
    by_name = {os.path.basename(n): m for n, m in marks.items()}
    # The reference clock's reading at a true time is interpolated between the marks of the reference's first input.
    of = first if reference is None or report['reference'] else first
    ticks = sorted(by_name[of])

    def zero(t):
        k = min(range(len(ticks)), key=lambda i: abs(ticks[i][0] - t))
        return ticks[k][2] + (t - ticks[k][0])
    for name, m in by_name.items():
        rank, shift = copied.get(name, (None, 0.0))
        if rank is None:
            rank = int(name.removeprefix('rank').removesuffix('.json'))
        mine = hosts.get(rank, [])
        if len(mine) > 1:  # a rank that is there twice: the report must not trust both
            for h in mine:
                judge_rank(j, rank, h, shifted(m, 0 if rank in j.base_lost else BASE + round(shift * 1000)), zero, c) if name == names[0] else None
            continue
        if not mine or mine[0]['method'] == 'reference' or name == first:
            continue
        judge_rank(j, rank, mine[0], shifted(m, 0 if rank in j.base_lost else BASE + round(shift * 1000)), zero, c)


def shifted(marks, base):
    """Returns the marks with readings in ns since the epoch, as in the report."""
    return [(t, base + (r + 5e6) * 1000, at) for t, r, at in marks]


def draw_of(kind, seed):
    return kind(random.Random(f'{kind.__name__} {seed}'))


def run(kind, seed, folder, show=False):
    c, j = Count(), draw_of(kind, seed)
    paths = j.write(folder)
    out, report = f'{folder}/out.json', f'{folder}/report.json'
    p = subprocess.run([TRACEKIT, 'merge', '-q', '--force', *paths, '-o', out, '--align-report', report], capture_output=True, text=True, check=False)
    if p.returncode:
        raise RuntimeError(f'{kind.__name__} {seed}: {p.stderr}')
    with open(out, encoding='utf-8') as f, open(report, encoding='utf-8') as g:
        merged, said = json.load(f), json.load(g)
    judge_draw(j, paths, merged, said, c)
    if c.wrong or c.outside:
        c.which.append(seed)
    if show:
        print(p.stderr, end='')
        for h in said.get('hosts', []):
            print(f'{h["host"]} {h["ranks"]} {h["offset_ns"] / 1e3:+.1f} us, {"trusted" if h["trusted"] else "refused"}: {h["trust"]}')
    return c


def run_kind(kind, seeds):
    all_of = Count()
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            all_of.add(run(kind, seed, folder))
    return all_of


def line(name, c):
    bar = f'{statistics.median(c.bars):8.1f}' if c.bars else '       -'
    return (f'{name:<16} {c.ranks:6} {c.trusted:8} {c.ranks - c.trusted:8} {c.wrong:6} {c.outside:8} '
            f'{100 * c.covered / c.marks if c.marks else float("nan"):8.1f}% {bar} {c.worst:9.1f}  {" ".join(map(str, c.which[:6]))}')


def main(args):
    if args[:1] == ['--one']:
        kind = next(k for k in KINDS if k.__name__ == args[1])
        os.makedirs(args[3], exist_ok=True)
        c = run(kind, int(args[2]), args[3], True)
        print(line(args[1], c))
        return 0
    table = args[:1] == ['--table']
    n = int(args[1]) if table and len(args) > 1 else 20 if table else 4
    first = int(os.environ.get('SEED', '1'))
    kinds = [k for k in KINDS if not (table and len(args) > 2) or k.__name__ in args[2:]]
    print(f'{"kind":<16} {"ranks":>6} {"trusted":>8} {"refused":>8} {"wrong":>6} {"outside":>8} {"in 95%":>9} {"error":>8} {"worst us":>9}')
    total = Count()
    with ThreadPoolExecutor(int(os.environ.get('JOBS', '1'))) as pool:
        for kind, c in zip(kinds, pool.map(lambda k: run_kind(k, range(first, first + n)), kinds)):
            print(line(kind.__name__, c), flush=True)
            total.add(c)
            least = KINDS[kind]
            judge(f'{kind.__name__}: wrong', '' if c.wrong == 0 else f'{c.wrong} of {c.trusted}: seeds {c.which}')
            judge(f'{kind.__name__}: outside of what is proven', '' if c.outside == 0 else f'{c.outside} of {c.trusted}: seeds {c.which}')
            enough = c.trusted == 0 if least is None else c.trusted >= least * c.ranks
            judge(f'{kind.__name__}: trusted', '' if enough else f'{c.trusted} of {c.ranks}')
    for kind, seed in () if table else WRONG_ONCE:
        c = run_kind(kind, [seed])
        judge(f'{kind.__name__} {seed}', f'again {c.worst:.1f} us off' if c.wrong or c.outside else '')
    print(line('all', total))
    covered = total.covered / max(total.marks, 1)
    judge('the 95% error', '' if len(kinds) < len(KINDS) or 0.93 <= covered <= 0.985 else f'holds in {100 * covered:.1f}%')
    return finish()


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
