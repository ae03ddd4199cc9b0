"""Ranks of a large job, as PyTorch writes them: ops, the kernels that they launch, and occasional collectives."""
import json
import random


def wrong_clock(host):
    """Returns the number of ns by which a host's clock is ahead."""
    return (host * 37 % 11 - 5) * 20000


def make_rank(path, rank, host, events, late=0, world=64, heavy=0, steps=0):
    """Writes a rank of a large job, on a host whose clock is wrong.

    late: delay in us with which the rank reaches collectives, less than 90; heavy: us added to each of its ops named op3;
    steps: number of training steps."""
    rng, beat = random.Random(rank), random.Random(7)  # collectives of all ranks come at irregular intervals
    base, wrong = 1790857026000000000, wrong_clock(host)
    trace = [{'ph': 'X', 'cat': 'user_annotation', 'name': f'ProfilerStep#{step + 1}', 'pid': 4000 + rank % 8, 'tid': 4000 + rank % 8,
              'ts': 1000 * (events * step // steps) - 1, 'dur': 1000 * (events // steps) - 2} for step in range(steps)]
    for i in range(events):
        ts = 1000 * i + rng.random() * 100
        trace += [{'ph': 'X', 'cat': 'cpu_op', 'name': f'op{i % 7}', 'pid': 4000 + rank % 8, 'tid': 4000 + rank % 8, 'ts': ts, 'dur': 50 + i % 9 + (heavy if i % 7 == 3 else 0),
                   'args': {'External id': i}},
                  {'ph': 'X', 'cat': 'kernel', 'name': f'kernel{i % 5}', 'pid': rank % 8, 'tid': 7, 'ts': ts + 60, 'dur': 300, 'args': {'stream': 7}},
                  {'ph': 's', 'id': i, 'pid': 4000 + rank % 8, 'tid': 4000 + rank % 8, 'ts': ts + 10, 'cat': 'ac2g', 'name': 'ac2g'},
                  {'ph': 'f', 'id': i, 'pid': rank % 8, 'tid': 7, 'ts': ts + 60, 'cat': 'ac2g', 'name': 'ac2g', 'bp': 'e'}]
        if i % 10 == 9:
            end = 1000 * i + 900 + 400 * beat.random() + wrong / 1000
            start = end - 100 - rng.random() * 30 + late
            trace.append({'ph': 'X', 'cat': 'kernel', 'name': 'ncclDevKernel_AllReduce', 'pid': rank % 8, 'tid': 9, 'ts': start,
                          'dur': end - start if late else 100, 'args': {'Collective name': 'allreduce', 'Seq': i, 'Process Group Name': '0', 'Group size': world}})
    with open(path, 'w', encoding='utf-8') as f:
        json.dump({'schemaVersion': 1, 'distributedInfo': {'rank': rank, 'world_size': world}, 'host_name': f'host{host}', 'baseTimeNanoseconds': base,
                   'traceEvents': trace}, f)
