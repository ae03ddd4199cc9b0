"""Counts the items in a trace, and the losses that a conversion reports."""
import json
import os
import subprocess


def run(*args):
    return subprocess.run([os.environ['TRACEKIT'], *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def info(path):
    p = run('info', '--json', '-q', path)
    return json.loads(p.stdout)['traces'][0] if p.returncode == 0 else None


def sums_fault(before, after, lost):
    """Checks that counts before and after a conversion differ by the reported losses. A sample of several series may become
    several samples, and xprof writes samples as spans on a line "_counters_", which are read as samples: so spans and samples
    are compared as a sum. Dangling flow points are lost to viewers only."""
    pairs = [('instants', before['instants'], after['instants'], lost.get('instants', 0))]
    pairs += [(key, before[key], after[key], lost.get(key, 0)) for key in ('spans', 'flow_points')]
    for kind, had, has, gone in pairs:
        if has + gone == had:
            continue
        if kind == 'flow_points' and has + gone <= had <= has + gone + lost.get('dangling_flow_points', 0):
            continue
        samples = after['counter_samples'] + lost.get('counter_samples', 0) - before['counter_samples']
        if kind == 'spans' and has + gone + samples >= had and has + gone < had:
            continue
        return f'{has} {kind} and {gone} lost of {had}'
    if after['counter_samples'] + lost.get('counter_samples', 0) < before['counter_samples']:
        return f'{after["counter_samples"]} counter samples of {before["counter_samples"]}'
    return ''
