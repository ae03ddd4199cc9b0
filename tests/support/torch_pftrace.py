"""A trace of a PyTorch run as its CUPTI monitor exports it (torch/csrc/profiler/cupti/monitor_pftrace.cpp): operators and launches as
track events, kernels and copies as render stages on a queue for each stream, samples of the GPU as GPU counters."""
from extensions import field, fixed

START = 1_790_000_000_000_000_000  # ns; the export has no clock snapshot
KERNEL, MEMCPY, ANNOTATION = 1, 2, 4  # _RENDER_STAGES
QUEUE = 100  # _HW_QUEUE_IID_BASE
PROCESS, THREAD = 1, 2  # uuids


def packet(*fields, ns=None, flags=2):
    stamp = b'' if ns is None else field(8, ns)
    return field(1, stamp + field(10, 1) + (field(13, flags) if flags else b'') + b''.join(fields))


class Run:
    def __init__(self):
        self.out, self.names = [], {}

    def name(self, text):
        return self.names.setdefault(text, len(self.names) + 1)

    def slice(self, name, start, end, of=0, **args):
        notes = b''.join(field(4, field(10, k.encode()) + (field(4, v) if isinstance(v, int) else field(6, v.encode()))) for k, v in args.items())
        event = field(9, 1) + field(11, THREAD) + field(10, self.name(name)) + notes
        if of:
            event += field(3000, field(1, of))  # GpuTrackEvent.gpu_correlation, render_stage_submission_event_ids
        self.out.append(packet(field(11, event), ns=START + start))
        self.out.append(packet(field(11, field(9, 2) + field(11, THREAD)), ns=START + end, flags=0))

    def stage(self, kind, name, start, dur, stream, correlation, **extra):
        event = field(1, correlation) + field(2, dur) + field(11, 0) + field(13, QUEUE + stream) + field(14, kind) + field(5, 1)
        event += field(20, self.name(name)) if name else b''
        if kind == KERNEL:
            dims = [b''.join(field(i + 1, v) for i, v in enumerate(d)) for d in ((132, 1, 1), (384, 1, 1))]
            event += field(21, field(1, dims[0]) + field(2, dims[1]))
        for key, value in {'device id': 0, 'context id': 1, 'stream id': stream, 'correlation': correlation, **extra}.items():
            event += field(6, field(1, key.encode()) + field(2, str(value).encode()))
        self.out.append(packet(field(53, event), ns=START + start))

    def power(self, ns, watts):
        self.out.append(packet(field(52, field(4, 1) + field(2, field(1, 1) + fixed(3, 'd', watts))), ns=START + ns))

    def file(self):
        head = field(1, field(60, field(1, PROCESS) + field(3, field(1, 4242) + field(6, b'python'))))
        head += field(1, field(60, field(1, THREAD) + field(5, PROCESS) + field(4, field(1, 4242) + field(2, 4243) + field(5, b'main'))))
        interned = field(47, field(1, 1) + field(3, 0) + field(2, field(1, field(1, 1) + field(2, b'Power (W)'))))
        interned += b''.join(field(2, field(1, iid) + field(2, text.encode())) for text, iid in self.names.items())
        for iid, text, category in ((KERNEL, 'Kernel', 2), (MEMCPY, 'Memcpy', 0), (ANNOTATION, 'Annotation', 0), (QUEUE + 7, 'stream 7', 0)):
            interned += field(24, field(1, iid) + field(2, text.encode()) + (field(4, category) if category else b''))
        interned += field(33, field(1, 1) + field(2, 4242))
        return head + packet(field(12, interned), flags=1) + b''.join(self.out)


def trace(steps=4):
    run, us = Run(), 1000
    for step in range(steps):
        at = step * 1000 * us
        run.slice(f'ProfilerStep#{step}', at, at + 990 * us)
        for i in range(3):
            op, correlation = at + (20 + 300 * i) * us, 1 + step * 10 + 2 * i
            run.slice('aten::mm', op, op + 60 * us)
            run.slice('cudaLaunchKernel', op + 20 * us, op + 40 * us, correlation, correlation=correlation)
            run.stage(KERNEL, 'sm90_xmma_gemm_bf16_tn', op + 50 * us, (120 + 10 * step) * us, 7, correlation)
            run.stage(KERNEL, 'elementwise_kernel<4>', op + (175 + 10 * step) * us, 30 * us, 7, correlation + 1)
        run.stage(MEMCPY, None, at + 940 * us, 40 * us, 7, 9 + step * 10, bytes=1 << 20)
        run.power(at, 300.0 + step)
    return run.file()


def write(path, steps=4):
    with open(path, 'wb') as f:
        f.write(trace(steps))
