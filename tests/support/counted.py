"""Counts the items in a trace, and the losses that a conversion reports."""
import json
import os
import subprocess


def run(*args):
    return subprocess.run([os.environ['TRACEKIT'], *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def info(path):
    p = run('info', '--json', '-q', path)
    return json.loads(p.stdout)['traces'][0] if p.returncode == 0 else None


def sums_fault(before, after, lost, on_the_way=False):
    """Checks that counts before and after a conversion differ by the reported losses. A sample of several series may become
    several samples, and xprof writes samples as spans on a line "_counters_", which are read as samples: so spans and samples
    are compared as a sum. Dangling flow points that were lost on the way may return from the args that contain fields of JSON."""
    pairs = [('instants', before['instants'], after['instants'], lost.get('instants', 0))]
    pairs += [('spans', before['spans'], after['spans'], lost.get('spans', 0))]
    pairs += [('flow_points', before['flow_points'], after['flow_points'], lost.get('flow_points', 0) + lost.get('dangling_flow_points', 0))]
    for kind, had, has, gone in pairs:
        if has + gone == had:
            continue
        if on_the_way and kind == 'flow_points' and has <= had <= has + gone:
            continue
        samples = after['counter_samples'] + lost.get('counter_samples', 0) - before['counter_samples']
        if kind == 'spans' and has + gone + samples >= had and has + gone < had:
            continue
        return f'{has} {kind} and {gone} lost of {had}'
    if after['counter_samples'] + lost.get('counter_samples', 0) < before['counter_samples']:
        return f'{after["counter_samples"]} counter samples of {before["counter_samples"]}'
    return ''
