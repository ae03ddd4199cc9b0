"""launches.py - finds the PyTorch op that launched device work: the innermost op around the call with the same correlation."""
import collections
from decimal import Decimal

OPS = ('cpu_op', 'Operator')


def ps(us):
    return int(Decimal(str(us)) * 1000000)


def is_call(event):
    return event.get('cat', '').startswith(('cuda_runtime', 'cuda_driver', 'hip_runtime', 'Runtime'))


def external_id(args):
    return args.get('External id', args.get('external id'))


def launching_ops(events):
    """Returns {correlation: (name of the op or None, start of the call)} and {External id: name of the op with this id}."""
    calls, externals, threads = {}, {}, collections.defaultdict(list)
    for e in events:
        if e.get('ph') == 'X' and (e.get('cat') in OPS or is_call(e)):
            threads[e['pid'], str(e['tid'])].append((ps(e['ts']), -ps(e.get('dur', 0)), e))
    for spans in threads.values():
        open_ops = []
        for start, minus, e in sorted(spans, key=lambda span: span[:2]):
            args = e.get('args', {})
            while open_ops and open_ops[-1][0] <= start:
                open_ops.pop()
            if e.get('cat') in OPS:
                open_ops.append((start - minus, e['name']))
                if external_id(args) is not None:
                    externals.setdefault(external_id(args), e['name'])
            elif 'correlation' in args:
                calls.setdefault(args['correlation'], (open_ops[-1][1] if open_ops else None, start))
    return calls, externals


def op_of(event, calls, externals):
    args = event.get('args', {})
    op = calls.get(args.get('correlation'), (None,))[0]
    return op or externals.get(external_id(args))
