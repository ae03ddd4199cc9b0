#!/usr/bin/env python3
"""Checks that a query of `sql` needs less memory if it needs no flows or args. Sanitizers would hide the difference, so this test is separate from property/sql."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import check, finish  # noqa: E402

TRACEKIT, GEN = os.environ['TRACEKIT'], os.environ['GEN']
EVERYTHING = 'SELECT 0 FROM flow, args LIMIT 0'
LOADED = 'SELECT 0 FROM event, args LIMIT 0'  # keeps everything that is read, but builds no rows of flows
QUERIES = (
    ('SELECT count(*) FROM slice', True),
    ('INCLUDE PERFETTO MODULE slices.with_context; SELECT max(ts) FROM thread_slice', True),
    ('SELECT count(*) FROM slice; SELECT count(*) FROM flow', False),
    ('SELECT max(arg_set_id) FROM slice', True),
    ("SELECT count(*) FROM slice WHERE extract_arg(1, 'a') IS NULL", False),
    ('SELECT count(*) FROM event', False),
)


def answer(trace, script, *args):
    p = subprocess.run([TRACEKIT, 'sql', '-q', trace, *args], input=script.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return p.returncode, p.stdout, p.stderr


def least_memory(trace, script):
    """Returns the memory that the script needs, in units of 3000 KB, within 3%. With less, the script must fail, not answer wrongly.
    The least limit depends on which pages of the program were touched, so the answer is checked with 3% more."""
    def limited(step):
        return answer(trace, script, '-j1', '--max-memory', f'{3000 * 1.03 ** step:.0f}K')

    too_few, least, right = 0, 250, answer(trace, script, '-j1')
    while least - too_few > 1:
        step = (too_few + least) // 2
        too_few, least = (step, least) if limited(step)[0] == 3 else (too_few, step)
    said = limited(least + 1)
    check(f'least memory: {script}', said == right, f'{said}, without a limit {right}')
    return 1.03 ** least


def main():
    with tempfile.TemporaryDirectory() as work:
        heavy = f'{work}/heavy.json'  # the program itself takes 10 MB
        with open(heavy, 'wb') as out:
            subprocess.run([GEN, 'kineto', '--spans', '120000'], stdout=out, check=True)
        for query, less in QUERIES:
            held = least_memory(heavy, query) / least_memory(heavy, f'{query}; {EVERYTHING if less else LOADED}')
            # Resident memory differs by a step of 3% between runs.
            check(f'memory of {query}', held < 0.96 if less else held > 0.93, f'{held:.2f}')
    return finish()


sys.exit(main())
