"""An engine finds in what we wrote exactly what it found in the original: the answers to queries.py are the same rows.

The original is asked first, and what it says is recorded.  JSON to JSON there is no tolerance: the same digits are the same times."""
import json
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor

from common import THREADS, Engines, Refused, tracekit
from queries import QUERIES


def shortened(rows, n=2):
    return '; '.join(sorted(rows)[:n])[:400]


def difference(before, after):
    if before == after:
        return ''
    gone, new = set(before) - set(after), set(after) - set(before)
    return f'{len(gone)} rows of the original differ: {shortened(gone)} -> {shortened(new)}'


def compare(before, after):
    """{comparison: fault or ''}."""
    if 'failed' in after:
        return {'written': f'ours does not load: {after["failed"][:200]}'}
    if 'failed' in before:
        return {'written': '', 'load': f'the original does not load: {before["failed"][:200]}'}
    return {'written': '', 'load': '', **{name: difference(before[name], after[name]) for name in QUERIES}}


def figures(answer):
    if 'failed' in answer:
        return f'{"-":>8} {"-":>7} {"-":>7}'
    slices = json.loads(answer['slices'][0])['slices']
    flows, counters = (sum(json.loads(row)['n'] for row in answer[name]) for name in ('flows', 'counters'))
    return f'{slices:8} {flows:7} {counters:7}'


def stats(answer):
    return [json.loads(row)['name'] for row in answer.get('errors', [])]


def one(job):
    label, path, engines = job
    engine = engines.mine()
    with tempfile.TemporaryDirectory() as work:
        ours = os.path.join(work, 'ours.json')
        try:
            tracekit('convert', '-q', path, '-o', ours)
            before = engine.record(path)
            return label, before, compare(before, engine.ask(ours))
        except (Refused, OSError, ValueError) as e:
            return label, {'failed': ''}, {'convert': str(e)}


def run(files, results):
    """`files`: [(label, path)]."""
    engines = Engines(QUERIES)
    results.say(f'{"slices":>8} {"flows":>7} {"samples":>7}      what trace_processor says of each file, and of what we make of it')
    with ThreadPoolExecutor(THREADS) as pool:
        for label, before, found in pool.map(one, [(label, path, engines) for label, path in files]):
            results.judge(label, found, figures(before), stats(before))
    engines.close()
