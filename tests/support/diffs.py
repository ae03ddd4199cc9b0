"""Runs `tracekit diff`, and checks its JSON against the schemas."""
import json
import os
import subprocess

from schema import conforms

SCHEMAS = {}
for name in ('diff', 'diff_runs'):
    with open(f'{os.environ["SRC"]}/schemas/{name}.schema.json', encoding='utf-8') as f:
        SCHEMAS[name] = json.load(f)


def run(*args):
    """Returns the exit status, standard output and standard error."""
    p = subprocess.run([os.environ['TRACEKIT'], 'diff', *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return p.returncode, p.stdout.decode(), p.stderr.decode()


def asked(*args):
    """Returns the report, of two runs or of several."""
    status, out, err = run('-q', '--json', *args)
    if status:
        raise RuntimeError(f'status {status}: {err[:300]}')
    report = json.loads(out)
    fault = conforms(SCHEMAS['diff_runs' if 'runs' in report else 'diff'], report)
    if fault:
        raise RuntimeError(f'schema: {fault}')
    return report
