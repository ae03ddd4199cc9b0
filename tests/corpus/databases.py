#!/usr/bin/env python3
"""Compares databases of profilers with their conversion to Chrome JSON: the number of spans and the sum of their durations,
computed by SQL for each table and by category from the JSON.

    databases.py CORPUS"""
import gzip
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import check, finish  # noqa: E402

TRACEKIT = os.environ['TRACEKIT']
MAGIC = b'SQLite format 3\0'
# rows: table or the beginning of its name, columns of start and end, categories of its spans
TABLES = (
    ('CUPTI_ACTIVITY_KIND_KERNEL', 'start', 'end', ('kernel',)),
    ('CUPTI_ACTIVITY_KIND_MEMCPY', 'start', 'end', ('gpu_memcpy',)),
    ('CUPTI_ACTIVITY_KIND_MEMSET', 'start', 'end', ('gpu_memset',)),
    ('CUPTI_ACTIVITY_KIND_SYNCHRONIZATION', 'start', 'end', ('cuda_sync',)),
    ('CUPTI_ACTIVITY_KIND_RUNTIME', 'start', 'end', ('cuda_runtime', 'cuda_driver')),
    ('OSRT_API', 'start', 'end', ('osrt',)),
    ('rocpd_api', 'start', 'end', ('hip_api', 'hsa_api', 'marker_api', 'api')),
    ('rocpd_op', 'start', 'end', ('kernel', 'gpu_memcpy', 'gpu_memset', 'gpu_sync')),
    ('rocpd_kernel_dispatch_', 'start', 'end', ('kernel_dispatch',)),
    ('rocpd_memory_copy_', 'start', 'end', ('memory_copy',)),
    ('PYTORCH_API', 'startNs', 'endNs', ('cpu_op', 'python_function', 'enqueue', 'dequeue', 'user_annotation')),
    ('CANN_API', 'startNs', 'endNs', ('npu_runtime',)))


def databases(corpus):
    """Yields the databases of the corpus, unpacked."""
    with tempfile.TemporaryDirectory() as folder:
        for root, _, names in sorted(os.walk(corpus, followlinks=True)):
            for name in sorted(names):
                path = os.path.join(root, name)
                opened = gzip.open if name.endswith('.gz') else open
                try:
                    with opened(path, 'rb') as f:
                        if f.read(len(MAGIC)) != MAGIC:
                            continue
                        f.seek(0)
                        copy = os.path.join(folder, name.removesuffix('.gz'))
                        with open(copy, 'wb') as to:
                            shutil.copyfileobj(f, to)
                except (OSError, EOFError):
                    continue
                yield os.path.relpath(path, corpus), copy


def compare(name, path):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, 'out.json')
        p = subprocess.run([TRACEKIT, 'convert', '-q', path, '-o', out], capture_output=True)
        if p.returncode:
            said = p.stderr.decode()
            return check(f'{name}: converts, or is no trace', 'other tables' in said, said)
        with open(out, encoding='utf-8') as f:
            events = [e for e in json.load(f)['traceEvents'] if e['ph'] == 'X']
    db = sqlite3.connect(f'file:{path}?immutable=1', uri=True)
    there = [table for (table,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    for begin, start, end, categories in TABLES:
        tables = [t for t in there if t == begin or (begin.endswith('_') and t.startswith(begin))]
        rows = [db.execute(f'SELECT count(*), coalesce(sum("{end}" - "{start}"), 0) FROM "{t}"').fetchone() for t in tables]
        want = (sum(n for n, _ in rows), sum(total for _, total in rows))
        found = [e for e in events if e.get('cat') in categories]
        got = (len(found), sum(round(e['dur'] * 1000) for e in found))
        if tables:
            check(f'{name}: {begin}: number and sum', got == want, f'{got} instead of {want}')
    db.close()


def main():
    for name, path in databases(sys.argv[1]):
        compare(name, path)
    return finish()


if __name__ == '__main__':
    sys.exit(main())
