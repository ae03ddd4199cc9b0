"""Compares our graph with the answers of a native trace_processor about each original, if a corpus has them: oracle_v58.tsv.

facts.c counts in our graph what the engine counts in its tables. The engine rounds each duration to a nanosecond through a
double, so a nanosecond per event is tolerated. Threads are compared only if every pid and tid is a number; otherwise the
engine generates threads."""
import csv
import json
import os
import subprocess

KEYS = ('slices', 'unfinished', 'dur_ns', 'depths', 'flows', 'counter_samples', 'threads', 'processes')


def read(path):
    with open(path, encoding='utf-8', newline='') as f:
        for row in csv.DictReader(f, delimiter='\t', quoting=csv.QUOTE_NONE):
            yield {key: '' if value in (None, '[NULL]') else value for key, value in row.items()}


def facts(path):
    out = subprocess.run([os.environ['FACTS'], path], stdout=subprocess.PIPE, timeout=600, check=True).stdout
    return json.loads(out)


def differs(key, theirs, ours):
    said, found = theirs[key], ours[key]
    if key == 'threads' and ours['odd_ids']:
        return ''
    if key == 'dur_ns' and abs(int(said or 0) - found) <= ours['slices']:
        return ''
    return '' if said == str(found) else f'the engine says {said}, we {found}'[:600]


def compare(theirs, ours):
    if ours is None:
        return {'v58.load': 'we do not read it'}
    if not theirs['slices'].isdigit():
        return {'v58.load': f'the engine does not: {theirs["dur_ns"][:200]}'}
    return {'v58.load': '', **{f'v58.{key}': differs(key, theirs, ours) for key in KEYS}}


def stats(row):
    return [word.split('=')[0] for word in row['errors'].split() if '=' in word]


def run(corpus, results):
    path = os.path.join(corpus, 'oracle_v58.tsv')
    if not os.path.exists(path):
        return
    results.say('what a native trace_processor v58.2 says of each original, and what our graph of it says')
    for row in read(path):
        source = os.path.join(corpus, row['file'])
        if not os.path.exists(source):
            results.judge(row['file'], {'v58.load': 'not in the corpus'})
            continue
        results.judge(row['file'], compare(row, facts(source)), f'{row["slices"][:8]:>8} {row["flows"]:>7}', stats(row))
