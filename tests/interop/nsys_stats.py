#!/usr/bin/env python3
"""Checks that `top` of an export of Nsight Systems counts what NVIDIA's own reports (`nsys stats`) count: number and total time of each
call, range, kernel and copy. Exports are recordings of a program that computes, waits and marks ranges, databases of the tests, and those
in the given folder.

Usage: nsys_stats.py [FOLDER]"""
import collections
import csv
import glob
import io
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ('support', 'property'):
    sys.path.insert(0, os.path.join(HERE, '..', folder))
import nsys_cpu  # noqa: E402
import nsys_payload  # noqa: E402
import verdict  # noqa: E402
from databases import converted, path, spans, tracekit  # noqa: E402
from verdict import check, finish  # noqa: E402

PROGRAM = r'''
#ifdef NVTX
#include <nvtx3/nvToolsExt.h>
#else
#define nvtxRangePushA(name)
#define nvtxRangePop()
#define nvtxMarkA(name)
#endif
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile double spent;
__attribute__((noinline)) static void inner(int n) { for (int i = 0; i < n; i++) spent += sin(i); }
__attribute__((noinline)) static void outer(int n) { inner(n); inner(2 * n); }
static void *worker(void *p) {
  for (int i = 0; i < 40; i++) {
    nvtxRangePushA(i % 3 ? "step" : "long step");
    pthread_mutex_lock(&lock);
    outer(20000);
    pthread_mutex_unlock(&lock);
    nvtxRangePushA("wait");
    usleep(1500);
    nvtxRangePop();
    nvtxRangePop();
    nvtxMarkA("mark");
  }
  return p;
}
int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, worker, NULL);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  FILE *f = fopen("/dev/null", "w");
  for (int i = 0; i < 50; i++) fprintf(f, "x"), fflush(f);
  return fclose(f);
}
'''
COPIES = {'HtoD': 'Host-to-Device', 'DtoH': 'Device-to-Host', 'DtoD': 'Device-to-Device', 'PtoP': 'Peer-to-Peer', 'HtoH': 'Host-to-Host'}


SESSION = f'tracekit-{os.getpid()}'


def end_agents():
    """Ends the agents of our nsys session, which are not child processes of this one and might never end."""
    for name in glob.glob('/proc/[0-9]*/cmdline'):
        try:
            with open(name, 'rb') as f:
                if f'--session-name={SESSION}'.encode() in f.read().split(b'\0'):
                    os.kill(int(name.split('/')[2]), signal.SIGKILL)
        except OSError:
            continue


def run(*args, seconds=30):
    """Runs a program, and stops it and its processes after some time: on a busy machine, nsys may wait for its launcher without end."""
    p = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    try:
        out, said = p.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        end_agents()
        out, said = p.communicate()
        said += f'{os.path.basename(args[0])}: stopped after {seconds} s'.encode()
    return subprocess.CompletedProcess(args, p.returncode, out, said)


def record():
    """Records the program with samples and the scheduler. Returns the export; None, with the reason printed, if that is impossible here."""
    nsys = os.path.realpath(shutil.which('nsys'))
    headers = glob.glob(os.path.join(os.path.dirname(nsys), '**', 'nvtx3', 'nvToolsExt.h'), recursive=True) + \
        glob.glob('/usr/lib/*/nsight-systems/target-*/nvtx/include/nvtx3/nvToolsExt.h')
    nvtx = ['-DNVTX', '-I', os.path.dirname(os.path.dirname(headers[0]))] if headers else []
    if not nvtx:
        print('nsys_stats: no header of NVTX beside nsys: the recording has no ranges')
    with open(path('work.c'), 'w', encoding='utf-8') as f:
        f.write(PROGRAM)
    built = run(os.environ.get('CC', 'cc'), '-O1', '-g', '-fno-omit-frame-pointer', *nvtx, path('work.c'), '-o', path('work'), '-lm', '-lpthread', '-ldl')
    if built.returncode:
        print('SKIPPED: nsys_stats: recording: the program cannot be built: ' + built.stderr.decode()[:200])
        return None
    said = run('nsys', 'profile', '--session-new', SESSION, '--sample=process-tree', '--cpuctxsw=process-tree', '--trace=osrt,nvtx', '--osrt-threshold=1000', '-f', 'true', '-o',
        path('work'), path('work'))
    if os.path.exists(path('work.qdstrm')):  # Debian's package does not find its own importer
        for importer in glob.glob('/usr/lib/nsight-systems/host-*/QdstrmImporter'):
            said = run(importer, '-i', path('work.qdstrm'), '-o', path('work.nsys-rep'))
    done = run('nsys', 'export', '-t', 'sqlite', '-f', 'true', '-o', path('work.sqlite'), path('work.nsys-rep'))
    if not os.path.exists(path('work.sqlite')):
        print(f'SKIPPED: nsys_stats: recording: nsys made no report: {(said.stderr + said.stdout).decode()[-300:]} {done.stderr.decode()[:200]}')
        return None
    return path('work.sqlite')


def reported(source, *names):
    """Returns the rows of a report of `nsys stats`, whose name depends on the version; None if the export lacks its table."""
    for name in names:
        out = run('nsys', 'stats', '--report', name, '--format', 'csv', '--output', '-', source).stdout.decode('utf-8', 'replace')
        lines = out.splitlines()
        head = next((i for i, line in enumerate(lines) if line.startswith('Time (%)')), None)
        if head is not None:
            return list(csv.DictReader(io.StringIO('\n'.join(lines[head:]))))
    return None


def sums(rows, name_of, count):
    found = collections.defaultdict(lambda: (0, 0))
    for row in rows:
        name, number, total = name_of(row), int(row[count]), int(row['Total Time (ns)'])
        found[name] = (found[name][0] + number, found[name][1] + total)
    return dict(found)


def top(source, *categories):
    """Returns {name: (number of spans, total ns)} from `top`, after checking that it agrees with the Chrome JSON."""
    events, _ = converted(source)
    found = collections.defaultdict(lambda: (0, 0))
    for e in spans(events, *categories):
        name = e.get('name', '')
        found[name] = (found[name][0] + 1, found[name][1] + round(e['dur'] * 1000))
    options = [option for category in categories for option in ('--cat', category)]
    status, out, said = tracekit('top', '--json', '--full-names', '--top=100000', '--kind', 'span', *options, source)
    rows = {row['name'] or '': (row['count'] - row['unfinished'], row['total_ns']) for row in json.loads(out)['rows']} if status == 0 else {}
    check(f'{os.path.basename(source)}: top and JSON agree on {categories[0]}', status in (0, 1) and (rows == dict(found) or (not rows and not found)), said)
    return rows


def compare(what, source, want, got):
    faults = [f'{name}: {got.get(name)} instead of {numbers}' for name, numbers in want.items() if got.get(name) != numbers]
    faults += [f'{name}: {numbers} is in no report' for name, numbers in got.items() if name not in want]
    check(f'{os.path.basename(source)}: {what}', not faults, f'{len(faults)} of {len(want)}: ' + '; '.join(faults[:3]))


def marks_of_profiler(source):
    """Returns the names of rows that are not calls: nsys reports only those of event class 27 as calls."""
    db = sqlite3.connect(source)
    names = {name for (name,) in db.execute('SELECT DISTINCT value FROM OSRT_API JOIN StringIds ON id = nameId WHERE eventClass != 27')}
    db.close()
    return names


def call_name(row):
    """Returns the name without its version suffix. nsys 2022 keeps suffixes of five digits: cudaStreamIsCapturing_v10000."""
    return re.sub(r'_v\d{4,}$', '', row['Name'])


def copy_name(row):
    """Returns the long name of a copy: nsys 2022 prints "[CUDA memcpy HtoD]", later versions "[CUDA memcpy Host-to-Device]"."""
    name = row['Operation'].replace('CUDA Unified Memory memcpy ', 'CUDA memcpy Unified ')
    for short, long in COPIES.items():
        name = name.replace(short, long)
    return name


def ranges(source, style, rows):
    """Compares NVTX ranges, whose names are "domain:name". A range without an end lasts to the end of the session in the report of
    nsys, and has no duration in ours."""
    db = sqlite3.connect(source)
    columns = [row[1] for row in db.execute('PRAGMA table_info(NVTX_EVENTS)')]
    kinds = '59, 70' if style == 'X' else '60, 71'
    text = 'coalesce((SELECT value FROM StringIds WHERE id = textId), text)' if 'textId' in columns else 'text'
    open_names = {name for (name,) in db.execute(f'SELECT DISTINCT {text} FROM NVTX_EVENTS WHERE eventType IN ({kinds}) AND end IS NULL')}
    db.close()
    events, _ = converted(source)
    found, began = collections.defaultdict(lambda: (0, 0)), {}
    for e in events:
        if e.get('cat') != 'nvtx' or e['ph'] not in ('X' if style == 'X' else 'be'):
            continue
        domain = e.get('args', {}).get('domain')
        name = f'{domain}:{e["name"]}' if domain else e.get('name', '')
        key = (e['pid'], e['tid'], e.get('id'), e['name'])
        if e['ph'] == 'b':
            began[key] = (name, e['ts'])
            continue
        name, dur = (name, e['dur']) if e['ph'] == 'X' else (began[key][0], e['ts'] - began[key][1])
        found[name] = (found[name][0] + 1, found[name][1] + round(dur * 1000))
    is_open = lambda name: name in open_names or name.split(':', 1)[-1] in open_names  # noqa: E731
    want = {name: numbers for name, numbers in sums(rows, lambda row: row['Range'], 'Instances').items() if not is_open(name)}
    compare('ranges pushed and popped' if style == 'X' else 'ranges started and ended', source, want,
            {name: numbers for name, numbers in found.items() if not is_open(name)})


def n_checks():
    return verdict.passed + verdict.failed


def tables_of(source):
    db = sqlite3.connect(source)
    tables = {table for (table,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    db.close()
    return tables


def check_export(source):
    """Compares an export. No report of nsys shows samples and context switches, so they are compared with sums by SQL on the export."""
    before, tables = n_checks(), tables_of(source)
    if 'COMPOSITE_EVENTS' in tables:
        nsys_cpu.counts_agree(source)
    if 'SCHED_EVENTS' in tables:
        nsys_cpu.switches_agree(source)
    rows = reported(source, 'osrt_sum', 'osrtsum')
    if rows is not None:
        marks = marks_of_profiler(source)
        compare('calls of the operating system', source, sums(rows, lambda row: row['Name'], 'Num Calls'),
                {name: v for name, v in top(source, 'osrt').items() if name not in marks})
    rows = reported(source, 'cuda_api_sum', 'cudaapisum')
    if rows is not None:
        compare('calls of CUDA', source, sums(rows, call_name, 'Num Calls'), top(source, 'cuda_runtime', 'cuda_driver'))
    rows = reported(source, 'cuda_gpu_kern_sum', 'gpukernsum')
    if rows is not None:
        compare('kernels', source, sums(rows, lambda row: row['Name'], 'Instances'),
                {name: v for name, v in top(source, 'kernel').items() if not name.startswith('CUDA graph ')})
    rows = reported(source, 'cuda_gpu_mem_time_sum', 'gpumemtimesum')
    if rows is not None:
        compare('copies', source, sums(rows, copy_name, 'Count'), top(source, 'gpu_memcpy', 'gpu_memset'))
    for style, names in (('X', ('nvtx_pushpop_sum', 'nvtxppsum')), ('b', ('nvtx_startend_sum', 'nvtxsesum'))):
        rows = reported(source, *names)
        if rows is not None:
            ranges(source, style, rows)
    return n_checks() - before


def exports(folder):
    """Yields copies of the exports of Nsight Systems below a folder: nsys may write files next to its input."""
    for i, name in enumerate(sorted(glob.glob(os.path.join(folder, '**', '*.sqlite'), recursive=True))):
        copy = path(f'{i}_{os.path.basename(name)}')
        shutil.copyfile(name, copy)
        os.chmod(copy, 0o600)
        tables = tables_of(copy)
        if 'StringIds' in tables and tables & {'META_DATA_EXPORT', 'EXPORT_META_DATA'}:
            yield copy


def main():
    if not shutil.which('nsys'):
        print('SKIPPED: nsys_stats: nsys is not installed (Debian, non-free: nsight-systems)')
        print('0 passed, 0 failed')
        return 0
    own = record()
    nsys_payload.nccl_report('own_rank0.sqlite', 0)
    sources = [source for source in (own, path('own_rank0.sqlite')) if source]
    for folder in sys.argv[1:]:
        sources += exports(folder)
    if not own or not {'COMPOSITE_EVENTS', 'SCHED_EVENTS'} <= tables_of(own):
        print('SKIPPED: nsys_stats: samples and switches of a recording made here')
    for source in sources:
        print(f'{os.path.basename(source)}: {check_export(source)} comparisons')
    return finish()


if __name__ == '__main__':
    sys.exit(main())
