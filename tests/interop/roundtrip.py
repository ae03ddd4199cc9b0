"""Checks that an engine finds exactly the same in our output as in the original: the answers to queries.py are the same rows.

The original is queried first, and its answers are cached. For JSON to JSON there is no tolerance: the same digits are the
same times."""
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
    """Returns {comparison: fault or ''}."""
    if 'failed' in after:
        return {'written': f'ours does not load: {after["failed"][:200]}'}
    if 'failed' in before:
        return {'written': '', 'load': f'the original does not load: {before["failed"][:200]}'}
    return {'written': '', 'load': '', **{name: difference(before[name], after[name]) for name in QUERIES}}


def sound(answer):
    """Checks our output for a damaged input, whatever the engine makes of the original: it loads completely."""
    if 'failed' in answer:
        return {'written': f'ours does not load: {answer["failed"][:200]}'}
    refused = [row for row in answer['errors'] if 'json_' in row]
    return {'written': '', 'refused': '; '.join(refused)}


def figures(answer):
    if 'failed' in answer:
        return f'{"-":>8} {"-":>7} {"-":>7}'
    slices = json.loads(answer['slices'][0])['slices']
    flows, counters = (sum(json.loads(row)['n'] for row in answer[name]) for name in ('flows', 'counters'))
    return f'{slices:8} {flows:7} {counters:7}'


def stats(answer):
    return [json.loads(row)['name'] for row in answer.get('errors', [])]


def one(job):
    label, path, damaged, engines = job
    engine = engines.mine()
    with tempfile.TemporaryDirectory() as work:
        ours = os.path.join(work, 'ours.json')
        try:
            tracekit('convert', '-q', path, '-o', ours)
            after = engine.ask(ours)
            if damaged:
                return label, after, sound(after)
            before = engine.record(path)
            return label, before, compare(before, after)
        except (Refused, OSError, ValueError) as e:
            return label, {'failed': ''}, {'convert': str(e)}


def run(files, results):
    """Compares `files`: [(label, path, True if odd or damaged)]."""
    engines = Engines(QUERIES)
    results.say(f'{"slices":>8} {"flows":>7} {"samples":>7}      what trace_processor says of each file, and of what we make of it')
    with ThreadPoolExecutor(THREADS) as pool:
        for label, before, found in pool.map(one, [(*file, engines) for file in files]):
            results.judge(label, found, figures(before), stats(before))
    engines.close()
