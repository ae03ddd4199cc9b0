#!/usr/bin/env python3
"""Checks ranges by which PyTorch marks its operators for other profilers: in a report of Nsight Systems and in a CSV of rocprofv3,
they are the operators that Kineto would record, whichever parts their names have; other names stay as they are. Names are generated
from their parts, in the order of getNvtxStr (torch/csrc/profiler/util.cpp)."""
import itertools
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from databases import converted, path, spans, tracekit  # noqa: E402
from nsysreport import Report, process  # noqa: E402
from verdict import check, finish  # noqa: E402

PARTS = {'Sequence number': ', seq = {}', 'op_id': ', op_id = {}', 'Input Dims': ', sizes = {}', 'input_op_ids': ', input_op_ids = {}'}
VALUES = {'Sequence number': [0, 47588], 'op_id': [1, 999618], 'Input Dims': [[[4, 8], [8, 2]], [[], [3]], [[]]],
          'input_op_ids': ['[(31,0), (33,0)]']}
NAMES = ('aten::mm', 'autograd::engine::evaluate_function: MmBackward0', 'f(a, b)', 'f(a, seq = 1)')
OTHERS = ('step, warm', 'batch, seq = x', 'a, op_id = 3, last', ', op_id = 3', 'a, sizes = [[1]',
          'a, seq = -5', 'a, sizes = ]', 'a,')


def cases():
    """Yields names of operators with their args, for each combination of parts."""
    for name in NAMES:
        for n in range(1, len(PARTS) + 1):
            for keys in itertools.combinations(PARTS, n):
                args = {key: VALUES[key][(n + len(keys[0])) % len(VALUES[key])] for key in keys}
                yield name + ''.join(PARTS[key].format(args[key]) for key in keys), name, args


def nsys():
    r, texts = Report(path('torch.sqlite')), list(cases())
    thread = process(77) + 77
    for i, text in enumerate([text for text, _, _ in texts] + list(OTHERS)):
        stored = {'text': text} if i % 2 else {'textId': r.text(text)}
        r.add('NVTX_EVENTS', start=100 * i, end=100 * i + 50, eventType=59, globalTid=thread, domainId=0, **stored)
    r.close()
    events, _ = converted(path('torch.sqlite'))
    found = spans(events, 'cpu_op')
    for event, (text, name, args) in zip(found, texts):
        check(f'nsys: {text}', (event['name'], event['args']) == (name, args), event)
    check('nsys: all ranges of operators', len(found) == len(texts), len(found))
    check('nsys: other ranges keep their names', [e['name'] for e in spans(events, 'nvtx')] == list(OTHERS), spans(events, 'nvtx'))


def rocprof():
    texts = [case for case in cases() if ']' not in case[0] and '(' not in case[0]]
    rows = ['"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp"']
    rows += [f'"MARKER_CORE_RANGE_API","{text}",5,6,{i},{1000 * i + 1},{1000 * i + 500}' for i, (text, _, _) in enumerate(texts, 1)]
    with open(path('marker_api_trace.csv'), 'w', encoding='utf-8') as f:
        f.write('\n'.join(rows) + '\n')
    events, _ = converted(path('marker_api_trace.csv'))
    found = spans(events, 'cpu_op')
    check('rocprofv3: ranges are operators', [e['name'] for e in found] == [name for _, name, _ in texts], found[:2])
    check('rocprofv3: their parts are args', all(args.items() <= e['args'].items() for e, (_, _, args) in zip(found, texts)), found[:2])


def answers():
    """Checks that kernels are attributed to these operators, and that FLOP are computed from their shapes."""
    r = Report(path('work.sqlite'))
    thread = process(77) + 77
    r.add('NVTX_EVENTS', start=0, end=900, eventType=59, globalTid=thread, domainId=0, text='aten::mm, op_id = 7, sizes = [[64, 32], [32, 16]]')
    r.call(77, 77, 100, 200, correlation=9)
    r.kernel(77, 300, 700, 'gemm', correlation=9)
    r.close()
    rows = json.loads(tracekit('top', '-q', '--json', '--kind', 'kernel', '--by', 'op', path('work.sqlite'))[1])
    check('top: kernels by operator', 'aten::mm' in json.dumps(rows), rows)
    report = json.loads(tracekit('report', '-q', '--json', path('work.sqlite'))[1])
    check('report: operations by shapes', '65536' in json.dumps(report), report.get('operators'))


nsys()
rocprof()
answers()
finish()
