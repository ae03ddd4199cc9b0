#!/usr/bin/env python3
"""Checks that `top` of samples recorded by Linux perf agrees with `perf report`: samples and weight of each function itself, and the
share of the function with all its callees. Records programs that recurse, run threads, start other programs and enter the kernel.

Usage: perf_report.py [NUMBER], the number of recordings of each program (default: 3)."""
import collections
import json
import os
import subprocess
import sys
import tempfile

PROGRAM = r'''
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static int odd(int n);
static int even(int n) { volatile int spent = 0; for (int i = 0; i < 3000; i++) spent += i; return n == 0 ? spent : odd(n - 1); }
static int odd(int n) { return n == 0 ? 0 : even(n - 1); }
static void *worker(void *n) { long sum = 0; for (int i = 0; i < 200; i++) sum += even(*(int *)n + i % 7); return (void *)sum; }
static void *pages(void *n) { for (int i = 0; i < 60; i++) { char *p = malloc(1 << 20); for (int k = 0; k < 1 << 20; k += 4096) p[k] = 1; free(p); } return n; }
int main(void) {
  pthread_t threads[2];
  int depths[] = { 20, 90 };
  pthread_create(&threads[0], NULL, worker, &depths[0]);
  pthread_create(&threads[1], NULL, pages, &depths[1]);
  printf("%d\n", fib(30) + (int)(long)worker(&depths[1]));
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}
'''
PYTHON = 'import json\ndef f(n): return f(n - 1) if n else sum(i * i for i in range(9000))\nfor i in range(60): f(i); json.dumps(list(range(3000)))'


def output(*args):
    return subprocess.run(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True).stdout.decode()


def reported(data, *options):
    """Yields the fields of each line of `perf report` by symbol; the marks of user and kernel are removed from the symbol."""
    out = output('perf', 'report', '-i', data, '--stdio', '-g', 'none', '-t', '|', '--no-demangle', *options)
    for line in out.split('\n'):
        if line.strip() and not line.startswith('#'):
            *numbers, symbol = (field.strip() for field in line.split('|'))
            yield symbol.split('] ', 1)[1], numbers


def known(symbol):
    return not all(c in '0123456789abcdefx' for c in symbol)


def compare(data, work):
    """Returns the differences between `perf report` and our `top` of the text of `perf script`."""
    text = os.path.join(work, 'perf.txt')
    with open(text, 'w', encoding='utf-8') as f:
        f.write(output('perf', 'script', '-i', data, '--no-demangle'))
    top = {row['name']: row for row in json.loads(output(os.environ['TRACEKIT'], 'top', '-q', '--json', '--full-names', text))['rows']}
    alone = collections.Counter()
    for symbol, (_, period) in reported(data, '--no-children', '-F', 'sample,period,sym'):
        alone[symbol if known(symbol) else '[unknown]'] += int(period)
    total = sum(alone.values())
    faults = [f'{name}: {ns} ns itself, not {top.get(name, {}).get("self_ns")}' for name, ns in alone.items() if ns != top.get(name, {}).get('self_ns')]
    if total != sum(row['self_ns'] for row in top.values()):
        faults.append(f'{total} ns in all')
    rows = collections.defaultdict(list)
    for symbol, (below, _) in reported(data, '--children', '-F', 'overhead_children,overhead,sym'):
        rows[symbol].append(float(below.rstrip('%')))
    compared = 0
    for symbol, shares in rows.items():
        if known(symbol) and len(shares) == 1:  # perf has a row for each of several functions of one name
            compared += 1
            ours = 100 * top[symbol]['total_ns'] / total if symbol in top else None
            if ours is None or abs(ours - shares[0]) > .00501:
                faults.append(f'{symbol}: {shares[0]} % with what it calls, not {ours}')
    return len(alone), compared, faults


def main():
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    passed = failed = 0
    with tempfile.TemporaryDirectory() as work:
        program, data = os.path.join(work, 'program'), os.path.join(work, 'perf.data')
        subprocess.run([os.environ.get('CC', 'cc'), '-x', 'c', '-O1', '-fno-omit-frame-pointer', '-fno-optimize-sibling-calls', '-fno-inline', '-pthread', '-',
                        '-o', program], input=PROGRAM.encode(), check=True)
        commands = ([program], [sys.executable, '-c', PYTHON], ['sh', '-c', f'{program} | sort; seq 200000 | sort -n | gzip | wc -c'])
        for command in commands * number:
            done = subprocess.run(['perf', 'record', '-q', '-e', 'cpu-clock', '-F', '5000', '-g', '-o', data, '--', *command],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
            if done.returncode:
                print(f'SKIPPED: interop/perf_report: perf cannot record here: {done.stderr.decode().strip()}')
                break
            functions, shares, faults = compare(data, work)
            print('FAIL' if faults else 'ok  ', os.path.basename(command[0]), f'{functions} functions, {shares} shares', *faults[:5], sep='  ')
            passed, failed = passed + (not faults), failed + bool(faults)
    print(f'{passed} passed, {failed} failed')
    return failed != 0


sys.exit(main())
