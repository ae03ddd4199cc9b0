#!/usr/bin/env python3
"""Checks that a merge on Apache Spark writes the same bytes as `tracekit merge`: eight ranks on two hosts, in local mode.

    same       in each format, with options of plan, from files and from S3 (moto's server), to both
    tables     the events of all ranks as Parquet, by rank and step: Spark SQL and DuckDB read them, and find those of the
               merged trace
    killed     a worker is killed in each step: the step is repeated, and the output is the same
    damaged    an unreadable rank: no output and an error or, on request, output of all others"""
import logging
import os
import shutil
import stat
import subprocess
import sys
import tempfile

SRC, B = os.environ['SRC'], os.environ['B']
TRACEKIT = os.path.realpath(os.environ['TRACEKIT'])
sys.path.insert(0, f'{SRC}/tests/support')
from ranks import make_rank  # noqa: E402
from verdict import check, finish  # noqa: E402

RANKS, STEPS = 8, 4
PORT = 5057
QUERY = f'?endpoint_override=127.0.0.1:{PORT}&scheme=http&allow_bucket_creation=true'


def spark(folder, *args, command=TRACEKIT, status=0, tries=1):
    env = dict(os.environ, TRACEKIT=TRACEKIT, PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP='127.0.0.1', AWS_ACCESS_KEY_ID='x',
               AWS_SECRET_ACCESS_KEY='x', AWS_DEFAULT_REGION='us-east-1')
    at = args.index('--') if '--' in args else len(args)
    p = subprocess.run([sys.executable, f'{SRC}/python/tracekit/spark.py', 'merge', *args[:at], '--force', '--master', f'local[2,{tries}]',
                        '--command', command, *args[at:]], cwd=folder, env=env, capture_output=True, text=True, errors='replace', check=False)
    check(f'spark {" ".join(args)[:100]}: status', p.returncode == status, f'{p.returncode}: {p.stderr[-1500:]}')
    return p


def read(path):
    if not os.path.exists(path):
        return b''
    with open(path, 'rb') as f:
        return f.read()


def merged(folder, out, *options):
    subprocess.run([TRACEKIT, 'merge', '-q', '--force', *(f'rank{i}.json' for i in range(RANKS)), *options, '-o', out], cwd=folder, check=True)
    return read(f'{folder}/{out}')


def same(folder):
    for ending, options in (('json.gz', ()), ('pftrace', ('--group-by', 'host')), ('xplane.pb', ()), ('pftrace.gz', ('--every-rank', '2'))):
        want = merged(folder, f'want.{ending}', *options)
        spark(folder, 'rank?.json', f'got.{ending}', '--', *options)
        check(f'{ending}: the bytes of a merge', want and want == read(f'{folder}/got.{ending}'))
    check('nothing else is left', not [n for n in os.listdir(folder) if 'parts' in n or n.startswith('.')], os.listdir(folder))


def from_s3(folder):
    from moto.server import ThreadedMotoServer
    from pyarrow import fs
    os.environ.update(AWS_ACCESS_KEY_ID='x', AWS_SECRET_ACCESS_KEY='x', AWS_DEFAULT_REGION='us-east-1')
    server = ThreadedMotoServer(port=PORT, verbose=False)
    server.start()
    logging.getLogger('werkzeug').disabled = True
    try:
        system, _ = fs.FileSystem.from_uri('s3://bucket/job' + QUERY)
        system.create_dir('bucket')
        for i in range(RANKS):
            with system.open_output_stream(f'bucket/job/rank{i}.json') as f:
                f.write(read(f'{folder}/rank{i}.json'))
        tabled = ['--table', f's3://bucket/events{QUERY}'] if os.environ.get('PYTHONPATH') else []
        spark(folder, f's3://bucket/job/rank?.json{QUERY}', f's3://bucket/out/merged.pftrace.gz{QUERY}', *tabled)
        if tabled:
            names = [i.path for i in system.get_file_info(fs.FileSelector('bucket/events', recursive=True)) if i.type == fs.FileType.File]
            check('S3: tables', 'bucket/events/_SUCCESS' in names and any('/rank=3/step=2/part-' in n for n in names), names[:5])
        p = spark(folder, f's3://bucket/job/none.json{QUERY}', f's3://bucket/out/none.pftrace{QUERY}', status=1)
        check('S3: a rank that is not there', 'none.json' in p.stderr, p.stderr[-300:])
        with system.open_input_stream('bucket/out/merged.pftrace.gz', compression=None) as f:
            got = f.read()
        check('S3: the bytes of a merge', got == merged(folder, 'want.pftrace.gz'))
        names = [i.base_name for i in system.get_file_info(fs.FileSelector('bucket/out', recursive=True)) if i.type == fs.FileType.File]
        check('S3: nothing else is left', names == ['merged.pftrace.gz'], names)
    finally:
        server.stop()


def package(folder):
    """Builds the package as installed: its own files with its library."""
    to = f'{folder}/package/tracekit'
    shutil.copytree(f'{SRC}/python/tracekit', to, ignore=shutil.ignore_patterns('__pycache__'))
    shutil.copy(f'{B}/python/_native.abi3.so', to)
    os.environ['PYTHONPATH'] = f'{folder}/package'
    return os.environ['PYTHONPATH']


QUESTION = "select rank, count(*) n, sum(dur) dur, min(ts) first, max(ts + dur) last from {} where kind like '%kernel%' group by rank"
BY_STEP = 'select step, count(*) n, sum(dur) dur from {} group by step'  # each rank has its own steps


def rows_of(rows):
    return sorted(tuple(-1 if v is None else int(v) for v in row) for row in rows)


def by_spark(table):
    from pyspark.sql import SparkSession
    session = SparkSession.builder.master('local[1]').config('spark.ui.enabled', 'false').getOrCreate()
    session.read.parquet(table).createOrReplaceTempView('events')
    rows = rows_of(session.sql(QUESTION.format('events')).collect())
    session.stop()
    return rows


def tables(folder):
    if not os.path.exists(f'{B}/python/_native.abi3.so'):
        print('SKIPPED: interop/spark tables: the Python module is not built (make python-parts)')
        return
    import duckdb
    sys.path.insert(0, package(folder))
    import pyarrow
    import tracekit
    spark(folder, 'rank?.json', 'all.json.gz', '--table', f'{folder}/events')
    check('tables: the bytes of a merge', merged(folder, 'want.json.gz') == read(f'{folder}/all.json.gz'))
    trace = tracekit.load(f'{folder}/all.json.gz')
    whole = pyarrow.table(trace.events())
    want = rows_of(duckdb.sql(QUESTION.format('whole')).fetchall())
    check('tables: there is something to compare', len(want) == RANKS, want)
    files = f"read_parquet('{folder}/events/**/*.parquet', hive_partitioning = true)"
    got = rows_of(duckdb.sql(QUESTION.format(files)).fetchall())
    check('tables: DuckDB finds the events of the merged trace', got == want, [p for p in zip(got, want) if p[0] != p[1]][:3])
    check('tables: so does Spark SQL', by_spark(f'{folder}/events') == want)
    for rank in (0, 5):
        own = pyarrow.table(tracekit.load(f'{folder}/rank{rank}.json').events())
        got = rows_of(duckdb.sql(BY_STEP.format(f'{files} where rank = {rank}')).fetchall())
        check(f'tables: the steps of rank {rank}', len(got) >= STEPS and got == rows_of(duckdb.sql(BY_STEP.format('own')).fetchall()), got)
    names = 'select name, count(*), sum(dur) from {} group by name order by name'
    check('tables: and all names', duckdb.sql(names.format(files)).fetchall() == duckdb.sql(names.format('whole')).fetchall())
    check('tables: a folder a rank and step', os.path.isdir(f'{folder}/events/rank=3/step=2') and os.path.exists(f'{folder}/events/_SUCCESS'))
    check('tables: nothing else is left', not os.path.exists(f'{folder}/events.part'))
    p = spark(folder, 'rank?.json', 'some.pftrace', '--table', f'{folder}/some', '--', '--every-rank', '4', '--align', 'clock')
    check('tables: of ranks that are asked for', sorted(n for n in os.listdir(f'{folder}/some') if '=' in n) == ['rank=0', 'rank=4'], p.stderr)


def killed(folder):
    """Kills the worker that runs this step of rank 3, once."""
    want = merged(folder, 'want.json')
    for step in ('scan', 'apply'):
        script = f'{folder}/tracekit-{step}'
        with open(script, 'w', encoding='ascii') as f:
            f.write(f'#!/bin/bash\nif [ "$1" = {step} ] && [[ "$*" = *rank3.json* ]] && mkdir {folder}/{step}.once 2> /dev/null; then\n'
                    f'  kill -9 $PPID\n  sleep 1\n  exit 1\nfi\nexec {TRACEKIT} "$@"\n')
        os.chmod(script, os.stat(script).st_mode | stat.S_IXUSR)
        spark(folder, 'rank?.json', f'{step}.json', command=script, tries=4)
        check(f'a worker is killed in {step}', os.path.isdir(f'{folder}/{step}.once'))
        check(f'a worker is killed in {step}: the bytes of a merge', want == read(f'{folder}/{step}.json'))


def damaged(folder):
    whole = read(f'{folder}/rank5.json')
    with open(f'{folder}/rank5.json', 'wb') as f:
        f.write(whole[:len(whole) // 2])
    p = spark(folder, 'rank?.json', 'none.json', status=1)
    check('a rank that is cut is named', 'rank5.json' in p.stderr and not os.path.exists(f'{folder}/none.json'), p.stderr[-500:])
    p = spark(folder, '--keep-going', 'rank?.json', 'most.json', status=3)
    subprocess.run([TRACEKIT, 'merge', '-q', *(f'rank{i}.json' for i in range(RANKS) if i != 5), '-o', 'seven.json'], cwd=folder, check=True)
    check('... or left out', 'rank5.json: left out' in p.stderr and read(f'{folder}/most.json') == read(f'{folder}/seven.json') != b'', p.stderr[-500:])
    with open(f'{folder}/rank5.json', 'wb') as f:
        f.write(whole)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for rank in range(RANKS):
            make_rank(f'{folder}/rank{rank}.json', rank, rank // 4, 200, 0, RANKS, 0, STEPS)
        for step in (tables, same, from_s3, killed, damaged):
            if len(sys.argv) < 2 or sys.argv[1] == step.__name__:
                step(folder)
    return finish()


if __name__ == '__main__':
    sys.exit(main())
