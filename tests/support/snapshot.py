"""snapshot.py - generates random PyTorch memory snapshots, and the timeline that must result."""
import pickle
import random

BASE_US = 1_783_874_495_854_988
ACTIONS = ('alloc', 'free_requested', 'free_completed')


class Snapshot:
    """A history of one or several devices, with the state of the allocator at its end."""

    def __init__(self, seed=1, events=60, devices=1, streams=1, older=3, lost=0):
        self.draw = random.Random(seed)
        self.devices = devices
        self.streams = [0, *(0x7F00_0000_1000 * i for i in range(1, streams))]
        self.traces, self.segments, self.annotations = [], [], []
        self.frames = [self.frame(i) for i in range(6)]
        self.stacks = [[self.draw.choice(self.frames) for _ in range(self.draw.randrange(1, 5))] for _ in range(5)] + [[]]
        for device in range(devices):
            self.history(device, events, older, lost)

    def frame(self, i):
        if i % 3 == 2:
            return {'name': f'at::_ops::mul_{i}::call(at::Tensor const&)', 'filename': '??', 'line': 0}
        return {'name': f'function_{i}', 'filename': f'/home/me/project/model_{i}.py', 'line': 10 + i}

    def history(self, device, events, older, lost):
        now, addr, trace = BASE_US + device, 0x7000_0000_0000 + device, []
        open_, sizes = [], {}
        for _ in range(older):
            addr += 1 << 21
            open_.append((addr, self.draw.choice(self.streams)))
            sizes[addr] = self.draw.randrange(1, 1 << 22)
        reserved = 64 << 20
        for i in range(events):
            now += self.draw.choice((0, 0, 1, 3, 250))
            if self.draw.random() < .55 or not open_:
                addr += 1 << 21
                stream = self.draw.choice(self.streams)
                sizes[addr] = self.draw.randrange(1, 1 << 22)
                open_.append((addr, stream))
                trace.append(self.event('alloc', addr, sizes[addr], stream, now))
            else:
                a, stream = open_.pop(self.draw.randrange(len(open_)))
                trace.append(self.event('free_requested', a, sizes[a], stream, now))
                now += self.draw.choice((0, 7))
                trace.append(self.event('free_completed', a, sizes[a], stream, now))
            if i % 17 == 5:
                trace.append(self.event('segment_alloc', 0x6000_0000_0000 + i, 20 << 20, 0, now))
                reserved += 20 << 20
        now += 5
        trace.append({**self.event('oom', 0, 1 << 33, 0, now), 'device_free': 12345})
        trace.append(self.event('snapshot', 0, 0, 0, now))
        if lost:
            del trace[:lost]
        self.traces.append(trace)
        blocks = {}
        for a, stream in open_:
            blocks.setdefault(stream, []).append({'address': a, 'size': (sizes[a] + 511) // 512 * 512, 'requested_size': sizes[a],
                                                  'state': 'active_allocated', 'frames': self.draw.choice(self.stacks)})
        for i, stream in enumerate(self.streams):
            mine = blocks.get(stream, [])
            mine.append({'address': 99, 'size': 4096 * (i + 1), 'requested_size': 0, 'state': 'inactive', 'frames': []})
            self.segments.append({'device': device, 'address': 1 << 40, 'total_size': reserved if i == 0 else 0, 'allocated_size': 0,
                                  'active_size': 0, 'requested_size': 0, 'stream': stream, 'segment_type': 'large', 'segment_pool_id': (0, 0),
                                  'is_expandable': False, 'frames': [], 'blocks': mine})
        self.annotations += [{'stage': 'START', 'name': 'Optimizer.step#AdamW.step', 'device': device, 'time_us': BASE_US + 20},
                             {'stage': 'END', 'name': 'Optimizer.step#AdamW.step', 'device': device, 'time_us': BASE_US + 90}]

    def event(self, action, addr, size, stream, time_us):
        return {'action': action, 'addr': addr, 'size': size, 'stream': stream, 'time_us': time_us, 'compile_context': 'N/A',
                'user_metadata': '', 'frames': self.draw.choice(self.stacks)}

    def root(self):
        return {'segments': self.segments, 'device_traces': self.traces,
                'allocator_settings': {'PYTORCH_CUDA_ALLOC_CONF': 'secret', 'garbage_collection_threshold': 0.5, 'large': 1 << 80},
                'external_annotations': self.annotations}

    def make(self, protocol=4):
        return pickle.dumps(self.root(), protocol)


def expected(root, device):
    """Returns what the timeline of a device must show: the samples of both counters, and (start, end or None, bytes) of each allocation
    in us, sorted. Allocations without a start begin with the trace."""
    first = min(e['time_us'] for trace in root['device_traces'] for e in trace)
    trace = root['device_traces'][device]
    mine = [s for s in root['segments'] if s['device'] == device]
    blocks = [b for s in mine for b in s['blocks'] if b['state'] != 'inactive']
    change = {'alloc': 1, 'free_completed': -1}
    allocated = sum(b.get('requested_size', b['size']) for b in blocks) - sum(change.get(e['action'], 0) * e['size'] for e in trace)
    reserve = {'segment_alloc': 1, 'segment_map': 1, 'segment_free': -1, 'segment_unmap': -1}
    reserved = sum(s['total_size'] for s in mine) - sum(reserve.get(e['action'], 0) * e['size'] for e in trace)
    samples, reservations, spans, open_ = [(first, allocated)], [(first, reserved)], [], {}
    for e in trace:
        if e['action'] in change:
            allocated += change[e['action']] * e['size']
            samples.append((e['time_us'], allocated))
        if e['action'] in reserve:
            reserved += reserve[e['action']] * e['size']
            reservations.append((e['time_us'], reserved))
        if e['action'] == 'alloc':
            open_[e['addr']] = e
        if e['action'] == 'free_completed':
            begin = open_.pop(e['addr'], None)
            spans.append((begin['time_us'] if begin else first, e['time_us'], e['size']))
    spans += [(e['time_us'], None, e['size']) for e in open_.values()]
    spans += [(first, None, b.get('requested_size', b['size'])) for b in blocks if b['address'] not in open_]
    return samples, reservations, sorted(spans, key=lambda s: (s[0], s[1] or 0, s[2]))
