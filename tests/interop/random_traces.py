#!/usr/bin/env python3
"""Random small traces with every phase that has a meaning, many per file, each in its own process: through every chain of
formats each span, instant, sample and flow keeps its name, time, duration, track and args.

The meaning of a trace comes from a model in Python (tests/support/chromemodel.py), and for flows from trace_processor, if it
shows all spans of the original. The meaning of the result comes from trace_processor if the chain ends in Perfetto, else
from the model. Every event has a number in its args.

    random_traces.py [TRACES [SEED]]"""
import collections
import json
import os
import re
import sys
import tempfile

from common import HERE, tracekit
from engine import Engine

sys.path.insert(0, os.path.join(HERE, '..', 'support'))
import chromemodel  # noqa: E402
import randomtrace  # noqa: E402

BATCH = 5000
FIRST_LANE = 20000000  # tids of rows for overlapping spans
WAYS = (('pftrace',), ('json', 'pftrace'), ('xplane.pb', 'pftrace'), ('xplane.pb', 'json', 'pftrace'), ('pftrace', 'xplane.pb', 'pftrace'),
        ('json',), ('pftrace', 'json'), ('xplane.pb', 'json'), ('pftrace', 'xplane.pb', 'json'), ('xplane.pb', 'pftrace', 'json'))

SLICES = """select s.name, s.ts, s.dur, p.pid, t.tid, coalesce(extract_arg(s.arg_set_id, 'args.k'), extract_arg(s.arg_set_id, 'debug.k')) as k
  from slice s left join thread_track tt on tt.id = s.track_id left join thread t using (utid)
  left join process_track pt on pt.id = s.track_id left join process p on p.upid = coalesce(t.upid, pt.upid)"""
NUMBER = "coalesce(extract_arg({0}.arg_set_id, 'args.k'), extract_arg({0}.arg_set_id, 'debug.k'))"
QUERIES = {
    'slices': SLICES,
    'arrows': f"""select {NUMBER.format('a')} as source, {NUMBER.format('b')} as target
                  from flow f join slice a on a.id = f.slice_out join slice b on b.id = f.slice_in""",
    'samples': """select p.pid, c.ts, c.value from counter c join process_counter_track t on t.id = c.track_id join process p using (upid)""",
    'errors': "select name, value from stats where severity in ('error', 'data_loss') and value > 0",
}


def ns(us):
    return round(us * 1000)


def has_place(point, spans):
    """True if the engine binds the point to the same span: it takes the span that began last, even if that span has ended."""
    if point['ph'] == 'f' and 'bp' not in point:
        return any(start > point['ts'] for start, _ in spans)
    begun = [span for span in spans if span[0] < point['ts']]
    return bool(begun) and all(end > point['ts'] for start, end in begun if start == max(begun)[0])


def has_sound_flows(events, nodes):
    """True if each flow of the trace starts once, then steps, then ends, and each point has a span; viewers differ on other
    flows. Perfetto cannot represent a flow between unfinished spans that begin at the same time: the command reports it."""
    flows, spans = collections.defaultdict(str), collections.defaultdict(list)
    for name, ts, dur, pid, tid in nodes:
        spans[tid].append((ts, float('inf') if dur is None else ts + dur))
    endless = [start for of_thread in spans.values() for start, end in of_thread if end == float('inf')]
    if len(endless) > len(set(endless)):
        return False
    points = [e for e in chromemodel.by_time(events) if e['ph'] in 'stf']
    for point in points:
        flows[point['id']] += point['ph']
        if point['ts'] % 0.5 == 0 or not has_place(point, spans[point['tid']]):
            return False
    return all(re.fullmatch('st*f', phases) for phases in flows.values())


OVERLAPS = 'json of --overlaps'


class Judge:
    def __init__(self, folder):
        self.folder, self.engine = folder, Engine(QUERIES)
        self.bad = collections.defaultdict(collections.Counter)  # by way: faults by kind
        self.examples = {}
        self.traces = self.judged = self.arrows = 0

    def answer(self, path):
        answer = self.engine.ask(path)
        if 'failed' in answer:
            raise RuntimeError(f'{path}: {answer["failed"]}')
        return {name: [json.loads(row) for row in rows] for name, rows in answer.items()}

    def meaning_of_json(self, events):
        nodes = {k: (n, ns(ts), None if dur is None else ns(dur), pid, tid) for k, (n, ts, dur, pid, tid) in chromemodel.nodes(events).items()}
        samples = collections.Counter({(pid, ns(ts), v): n for (pid, ts, v), n in chromemodel.samples(events).items()})
        return {'nodes': nodes, 'samples': samples}

    def meaning_of_engine(self, path):
        answer = self.answer(path)
        nodes = {s['k']: (s['name'], s['ts'], None if s['dur'] < 0 else s['dur'], s['pid'], s['tid']) for s in answer['slices']}
        samples = collections.Counter((c['pid'], c['ts'], c['value']) for c in answer['samples'])
        arrows = collections.Counter((a['source'], a['target']) for a in answer['arrows'])
        faults = [e for e in answer['errors']]
        return {'nodes': nodes, 'samples': samples, 'arrows': arrows, 'errors': faults, 'n': len(answer['slices'])}

    def judge_rows(self, before, events, source):
        """Checks that the engine shows every complete span if overlapping spans get their own rows in JSON."""
        path = f'{self.folder}/overlaps.json'
        tracekit('convert', '-q', source, '-o', path, '--overlaps', '--force')
        whole = {e['args']['k'] for e in events if e['ph'] == 'X'}
        shown = {k: node for k, node in self.meaning_of_engine(path)['nodes'].items() if k in whole}
        for k, (name, ts, dur, pid, tid) in shown.items():
            shown[k] = (name, ts, dur, pid, before['nodes'][k][4] if tid >= FIRST_LANE else tid)
        self.compare_nodes(OVERLAPS, {k: before['nodes'][k] for k in whole}, shown)

    def fault(self, way, kind, pid, text):
        self.bad[way][kind] += 1
        self.examples.setdefault((way, kind), (pid, text))

    def compare_nodes(self, way, before, after):
        """Compares spans; an unfinished span lasts to the end of the trace, or has no duration."""
        for k in before.keys() | after.keys():
            a, b = before.get(k), after.get(k)
            if a is None or b is None:
                self.fault(way, 'lost' if b is None else 'new', (a or b)[3], f'{k}: {a} -> {b}')
            elif a[2] is None:
                if a[:2] + a[3:] != b[:2] + b[3:]:
                    self.fault(way, 'changed', a[3], f'{k}: {a} -> {b}')
            elif a != b and not (k in self.of_all and b == (*a[:3], None, None)):  # the engine has global tracks for these
                what = [name for name, x, y in zip(('name', 'ts', 'dur', 'pid', 'tid'), a, b) if x != y]
                self.fault(way, 'changed ' + '+'.join(what), a[3], f'{k}: {a} -> {b}')

    def compare(self, way, before, after):
        self.compare_nodes(way, before['nodes'], after['nodes'])
        for sample in (before['samples'] - after['samples']) | (after['samples'] - before['samples']):
            self.fault(way, 'sample', sample[0], str(sample))
        for error in after.get('errors', ()):
            self.fault(way, 'error', None, str(error))
        if 'arrows' not in after:
            return
        pid_of = lambda arrow: next((m['nodes'][k][3] for m in (before, after) for k in arrow if k in m['nodes']), None)  # noqa: E731
        for what, arrows in (('arrow lost', before['arrows'] - after['arrows']), ('arrow new', after['arrows'] - before['arrows'])):
            for arrow in arrows:
                if pid_of(arrow) in before['judged']:
                    self.fault(way, what, pid_of(arrow), str(arrow))

    def batch(self, maker, n):
        source = f'{self.folder}/source.json'
        traces = maker.file(source, 1, n)
        events = [e for trace in traces for e in trace]
        before = self.meaning_of_json(events)
        self.of_all = {e['args']['k'] for e in events if e['ph'] in 'iI' and e['s'] == 'g'}
        original = self.meaning_of_engine(source)
        before['arrows'] = original['arrows']
        # The engine drops spans that overlap: for such a trace it cannot tell where flows lead.
        odd = {m[k][3] for m, other in ((before['nodes'], original['nodes']), (original['nodes'], before['nodes'])) for k in m
               if m[k][2] is not None and other.get(k) != m[k]}
        sound = {pid for pid, trace in enumerate(traces) if has_sound_flows(trace, chromemodel.nodes(trace).values())}
        before['judged'] = sound - odd
        self.traces += n
        self.judged += len(before['judged'])
        self.arrows += sum(1 for arrow in before['arrows'] if before['nodes'][arrow[0]][3] in before['judged'])
        for way in WAYS:
            path = source
            for i, ending in enumerate(way):
                out = f'{self.folder}/{i}.{ending}'
                tracekit('convert', '-q', path, '-o', out, '--force')
                path = out
            if path.endswith('.json'):
                with open(path, encoding='utf-8') as f:
                    after = self.meaning_of_json(json.load(f)['traceEvents'])
            else:
                after = self.meaning_of_engine(path)
            self.compare(' -> '.join(way), before, after)
        self.judge_rows(before, events, source)

    def report(self):
        for way, kinds in self.bad.items():
            for kind, n in kinds.most_common():
                pid, text = self.examples[way, kind]
                print(f'not ok  json -> {way}: {kind}: {n} of {self.traces} traces, such as {pid}: {text}')
        failed = sum(sum(kinds.values()) for kinds in self.bad.values())
        print(f'{self.traces} traces, in {self.judged} of which arrows can be judged: {self.arrows} of them')
        print(f'{self.traces * (len(WAYS) + 1) - failed} passed, {failed} failed')
        return failed != 0


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 100000
    maker = randomtrace.maker(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(os.environ.get('KEEP', folder))
        for done in range(0, n, BATCH):
            judge.batch(maker, min(BATCH, n - done))
        judge.engine.close()
        return judge.report()


sys.exit(main())
