"""recordings.py - writes recordings of one process by several profilers: a trace of PyTorch, a report of Nsight Systems, a memory
snapshot. All of them contain the same work, on clocks that differ by a known offset."""
import json
import os
import random

import snapshot
from nsysreport import EPOCH, Report, process

NAMES = ('void gemm<float, 128>(float*)', 'void softmax<__half>(__half*, int)', 'ncclDevKernel_AllReduce(ncclDevComm*)', 'reduce_kernel')


class Job:
    """The device work of a process, in ns from EPOCH: (launch, start, end, name, stream, correlation id)."""

    def __init__(self, folder, seed, n=80, pid=4001, regular=False):
        self.draw, self.folder = random.Random(seed), folder
        self.pid, self.work, self.steps = pid, [], []
        t = 50_000_000
        for i in range(n):
            t += 50_000 if regular else self.draw.randrange(20_000, 90_000)
            lasts = 15_000 if regular else self.draw.randrange(3_000, 18_000)
            name = NAMES[i % len(NAMES)] if regular else self.draw.choice(NAMES)
            self.work.append((t, t + 8_000, t + 8_000 + lasts, name, 7 + i % 2, i + 1))
            if i % 10 == 0:
                self.steps.append((t - 2_000, t + 400_000, f'step {i // 10}'))

    def path(self, name):
        return os.path.join(self.folder, name)

    def kineto(self, name, ahead=0, work=None, links=True, host=None, rank=0, base=EPOCH, steps=(), more=()):
        """Writes a trace of PyTorch, with operators, which Nsight Systems does not record. `ahead`: ns by which its clock is ahead."""
        us = lambda ns: (ns + ahead) / 1000
        events = [{'ph': 'M', 'name': 'process_name', 'pid': self.pid, 'tid': 0, 'args': {'name': 'python'}},
                  {'ph': 'M', 'name': 'process_labels', 'pid': self.pid, 'tid': 0, 'args': {'labels': 'CPU'}},
                  {'ph': 'M', 'name': 'process_name', 'pid': 0, 'tid': 0, 'args': {'name': 'python'}},
                  {'ph': 'M', 'name': 'process_labels', 'pid': 0, 'tid': 0, 'args': {'labels': 'GPU 0'}}]
        events += [{'ph': 'M', 'name': 'thread_name', 'pid': 0, 'tid': s, 'args': {'name': f'stream {s}'}} for s in (7, 8)]
        for launch, start, end, kernel, stream, link in self.work if work is None else work:
            args = {'External id': link, 'stream': stream, 'device': 0, 'grid': [1, 1, 1], 'block': [64, 1, 1]}
            if links:
                args['correlation'] = link
            events.append({'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::op', 'pid': self.pid, 'tid': self.pid, 'ts': us(launch - 1000),
                           'dur': 8, 'args': {'External id': link}})
            events.append({'ph': 'X', 'cat': 'cuda_runtime', 'name': 'cudaLaunchKernel', 'pid': self.pid, 'tid': self.pid, 'ts': us(launch),
                           'dur': 5, 'args': args})
            events.append({'ph': 'X', 'cat': 'kernel', 'name': kernel, 'pid': 0, 'tid': stream, 'ts': us(start),
                           'dur': (end - start) / 1000, 'args': args})
        events += [{'ph': 'X', 'cat': 'user_annotation', 'name': label, 'pid': self.pid, 'tid': self.pid, 'ts': us(start),
                    'dur': (end - start) / 1000} for start, end, label in steps]
        top = {'schemaVersion': 1, 'distributedInfo': {'backend': 'nccl', 'rank': rank, 'world_size': 2}, 'baseTimeNanoseconds': base}
        if host:
            top['host_name'] = host
        with open(self.path(name), 'w') as f:
            json.dump({**top, 'traceEvents': events + list(more)}, f)
        return self.path(name)

    def nsys(self, name, links=True, host=None, jitter=0, steps=(), extra=0, pid=None):
        """Writes a report of Nsight Systems. `extra`: kernels that only this report contains."""
        if os.path.exists(self.path(name)):
            os.remove(self.path(name))
        r, pid = Report(self.path(name)), pid or self.pid
        r.add('PROCESSES', globalPid=process(pid), pid=pid, name='/usr/bin/python3')
        if host:
            r.add('TARGET_INFO_SYSTEM_ENV', globalVid=0, devStateName='', name='Hostname', nameEnum=0, value=host)
        for launch, start, end, kernel, stream, link in self.work:
            by = self.draw.randrange(-jitter, jitter + 1)
            r.call(pid, pid, launch, launch + 5000, correlation=link if links else 0)
            r.kernel(pid, start + by, end + by, kernel, correlation=link if links else 0, stream=stream)
        for i in range(extra):
            r.kernel(pid, 49_000_000 + 9000 * i, 49_005_000 + 9000 * i, 'only_nsys', correlation=100_000 + i)
        for start, end, label in steps:
            r.add('NVTX_EVENTS', start=start, end=end, eventType=59, text=label, globalTid=process(pid) + pid, domainId=0)
        r.close()
        return self.path(name)


def snapshot_at(path, us, steps=()):
    """Writes a memory snapshot that begins at a time in us since the epoch, with annotations at (start, end) in ns from EPOCH."""
    snapshot.BASE_US = us
    drawn = snapshot.Snapshot(5, events=30)
    drawn.annotations = [{'stage': stage, 'name': label, 'device': 0, 'time_us': (EPOCH + at) // 1000}
                         for start, end, label in steps for stage, at in (('START', start), ('END', end))]
    with open(path, 'wb') as f:
        f.write(drawn.make())
    return path
