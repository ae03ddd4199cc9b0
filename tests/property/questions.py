#!/usr/bin/env python3
"""Checks that each question of the documents with which people look at traces has an answer in one command: the words of the question,
the command, and patterns that its output matches. Without a pattern, the exit status is the answer."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from verdict import finish, judge  # noqa: E402

TRACEKIT, FIXTURES = os.path.abspath(os.environ['TRACEKIT']), os.path.abspath(os.environ['FIXTURES'])
TIME = r'[\d.]+ [mun]?s'

# An annotated policy of a robot, JAX on a CPU.
POLICY = (
    ('which annotations take how much, in % of the parent, and how often', 'tree pi0.json.gz --kind annotation',
     rf'{TIME} +100\.0 .* x1  sample_actions\n', rf'{TIME} +73\.3 .* x18 +block_attention\n'),
    ('in the order of time', 'tree pi0.json.gz --kind annotation --sort start', r'(?s)preprocess_observation.*embed_prefix.*diffusion_loop'),
    ('what one call costs on average', 'tree pi0.json.gz --kind annotation --per llm_transformer_layers', r'(?s)mean.*block_attention'),
    ('the time of each layer', 'tree pi0.json.gz --kind annotation --fold', r'block_attention'),
    ('attention against the rest', "top pi0.json.gz --kind annotation --name 'block_*'", rf'{TIME} .* block_attention\n', r'block_pre_attention'),
    ('which part dominates', 'report pi0.json.gz', r'(?s)Annotations.*%parent.*sample_actions'),
    ('the device time beneath each layer', 'tree gpu.pftrace.gz --layers', r'device +%device'),
)

# Training of a language model.
TRAINING = (
    ('is the step below 150 ms; fail the build if not', "check gpu.pftrace.gz --assert 'mean(step) < 150ms'"),
    ('how do N optimizers compare', 'diff adam.json.gz muon.json.gz sgd.json.gz', r'inputs +steps .*run\n', r'adam\.json\.gz +muon\.json\.gz .*sgd\.json\.gz +name'),
    ('why is the file too large', 'size gpu.pftrace.gz', r'by kind\n', r'kernels'),
    ('make it fit', 'shrink gpu.pftrace.gz --to 25kB -o small.pftrace.gz'),
    ('input, compute and copies of a step', 'report gpu.pftrace.gz', r'Parts of the steps.*\n +mean +compute +comm +copy'),
    ('peak memory, and by which tensor or operator', 'report ranks', r'Memory at the peak\n.*\n.*aten::\w+'),
)

# Profiles of every N steps in one folder.
FOLDER = (
    ('what is there', 'list logdir', r'run +.*\n.*step_20'),
    ('the newest good run', 'extract logdir --latest-good -o newest.json.gz'),
    ('extract a trace that a viewer opens', 'extract logdir --step-dir 10 -o extracted.json.gz'),
    ('were programs compiled while the steps ran', 'report logdir --findings', r'Findings|compil'),
    ('which transfers ran', 'report gpu.pftrace.gz', r'Copies and fills\n(.+\n)+.*Memcpy HtoD'),
)

# The guide to viewing traces.
VIEWING = (
    ('what is wrong', 'report jax.json.gz --findings', r'bad +the host loaded input for 77\.3% of the time of its steps'),
    ('the table of figures with a verdict', 'report gpu.pftrace.gz', r'bad +at least 80 +device utilization', r'good +below 2 +compilation time',
     r'at least 1 +mean kernel duration', r'below 10 +host overhead', r'at least 60 +memory bandwidth', r'below 90 +peak memory', r'at least 50 +occupancy'),
    ('how long the device is idle, and why', 'report gpu.pftrace.gz', r'Why devices were idle.*\n +idle +host'),
    ('the five operators with the most self time', 'report jax.json.gz --top 5', r'Host: operators, calls and functions by self time\n.*\n(.*\n){5}\n'),
    ('operators by device time', 'report gpu.pftrace.gz --top 5', r'Operators by device time.*\n.*category +operator\n.*matmul +aten::bmm'),
    ('kernels with their occupancy', 'report gpu.pftrace.gz', r'Kernels.*\n.*occ %'),
    ('does one operation dominate', 'report gpu.pftrace.gz', r'largest kernel or copy'),
    ('two runs side by side', 'diff adam.json.gz muon.json.gz', r'\(per step\)|\(all, self time\)'),
    ('share a trace without its secrets', 'redact gpu.pftrace.gz -o shared.pftrace.gz'),
    ('is the file empty or cut', 'list --deep broken', r'truncated +broken/cut', r'empty +broken/empty\.json'),
    ('a picture of a run on a CPU alone', 'report jax.json.gz --html page.html', r'wrote page\.html'),
)

# SQL on a large trace of CUDA kernels.
SQL = 'sql gpu.pftrace.gz -e'
KERNELS = (
    ('operators by total time', f'{SQL} "SELECT name, COUNT(*) AS launches, SUM(dur)/1e6 AS total_ms, AVG(dur)/1e6 AS avg_ms FROM slices WHERE name IS NOT NULL '
     'GROUP BY name ORDER BY total_ms DESC LIMIT 50"', r'^name +launches +total_ms +avg_ms\nProfilerStep#10 +1 +67\.93'),
    ('the same without SQL', 'top gpu.pftrace.gz', rf'{TIME} .* cudaLaunchKernel\n'),
    ('a timeline of long outer spans', f'{SQL} "SELECT ts/1e9 AS start_sec, dur/1e9 AS dur_sec, name FROM slices WHERE dur > 10000000 AND depth <= 2 ORDER BY ts LIMIT 50"',
     r'ProfilerStep#10'),
    ('the same without SQL', 'dump gpu.pftrace.gz --min-dur 10ms --depth 0..2', r'ProfilerStep#10'),
    ('short operations that run often', f'{SQL} "SELECT name, COUNT(*) AS launches, AVG(dur)/1e3 AS avg_us FROM slices WHERE dur < 100000 GROUP BY name '
     'HAVING launches > 100 ORDER BY launches DESC LIMIT 30"', r'cudaLaunchKernel +42\d'),
    ('the same without SQL', 'top gpu.pftrace.gz --sort count --min-count 100', r'cudaLaunchKernel'),
    ('copies by direction', f'{SQL} "SELECT CASE WHEN name LIKE \'%HtoD%\' THEN \'Host->Device\' WHEN name LIKE \'%DtoD%\' THEN \'Device->Device\' ELSE name END '
     'AS direction, COUNT(*) AS count, SUM(dur)/1e6 AS total_ms FROM slices WHERE name LIKE \'%Memcpy%\' GROUP BY direction ORDER BY total_ms DESC"',
     r'Host->Device +16'),
    ('attention, matrix products and copies in %', 'top gpu.pftrace.gz --by class', r'22\.5 .* matmul\n', r' copy\n'),
    ('launches and total time of two runs', 'diff gpu.pftrace.gz gpu.pftrace.gz', r'launches'),
    ('what runs between two kernels of one name', "tree gpu.pftrace.gz --kind kernel --every '*gemm*'", r'x0\.1 +nccl AllReduce'),
    ('the overhead of launches', 'report gpu.pftrace.gz', r'Launches\n.*delay mean'),
)

DOCUMENTS = (('policy', POLICY), ('training', TRAINING), ('folder', FOLDER), ('viewing', VIEWING), ('kernels', KERNELS))


def prepare(work):
    """Puts the traces that the commands name into the folder."""
    for name, source in (('pi0', 'json/jax/pi0_eager/vm.trace'), ('jax', 'json/jax/mlp_train/vm.trace'), ('adam', 'json/torch/ddp4_full/rank0'),
                         ('muon', 'json/torch/ddp4_full/rank1'), ('sgd', 'json/torch/ddp4_full/rank2')):
        shutil.copy(f'{FIXTURES}/{source}.json.gz', f'{work}/{name}.json.gz')
    shutil.copy(f'{FIXTURES}/perfetto/small.pftrace.gz', f'{work}/gpu.pftrace.gz')
    shutil.copytree(f'{FIXTURES}/json/torch/ddp4_full', f'{work}/ranks')
    for step in (10, 20):
        run = f'{work}/logdir/step_{step}/plugins/profile/2026_01_{step}_00_00_00'
        os.makedirs(run)
        shutil.copy(f'{FIXTURES}/xplane/mlp_train/vm.xplane.pb', run)
        shutil.copy(f'{FIXTURES}/json/jax/mlp_train/vm.trace.json.gz', run)
    os.makedirs(f'{work}/broken')
    with open(f'{work}/broken/empty.json', 'wb'):
        pass
    with open(f'{work}/gpu.pftrace.gz', 'rb') as whole, open(f'{work}/broken/cut.pftrace.gz', 'wb') as cut:
        cut.write(whole.read()[:20000])


def main():
    with tempfile.TemporaryDirectory() as work:
        prepare(work)
        env = dict(os.environ, PATH=f'{os.path.dirname(TRACEKIT)}:{os.environ["PATH"]}', LC_ALL='C')
        for document, questions in DOCUMENTS:
            for question, command, *answers in questions:
                p = subprocess.run(f'{TRACEKIT} {command}', shell=True, cwd=work, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
                lacks = [a for a in answers if not re.search(a, p.stdout + p.stderr, re.M)]
                judge(f'{document}: {question}', f'{command}: status {p.returncode}, lacks {lacks}: {p.stdout[:1500]}{p.stderr}' if lacks or p.returncode else '')


main()
sys.exit(finish())
