#!/usr/bin/env python3
"""Checks that the examples in docs/ and the README work as shown.

  docs/filter.md    the trace is the page's block of JSON; each table row "tracekit filter trace.json ..." names the events
                    that remain
  README.md         each block "console" is run and must print what it shows, except file sizes, which depend on the compressor
  docs/analysis.md  like README.md; also docs/sql.md and docs/recipes
  docs/library.md   the programs are compiled, linked and run, and must print what the page shows

GOLDEN=1 updates the output shown in the pages.
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

SRC, TRACEKIT, FIXTURES, B = (os.environ[name] for name in ('SRC', 'TRACEKIT', 'FIXTURES', 'B'))
sys.path.insert(0, os.path.join(SRC, 'tests', 'support'))
import recordings  # noqa: E402
import system_trace  # noqa: E402
import torch_pftrace  # noqa: E402

passed, failed = 0, 0


def check(ok, what):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f'FAIL {what}')


def page(name):
    with open(os.path.join(SRC, name), encoding='utf-8') as f:
        return f.read()


def blocks(text, language):
    return re.findall(rf'^```{language}\n(.*?)^```$', text, re.M | re.S)


def run(command, folder):
    """Returns everything that a shell line prints, including errors."""
    env = dict(os.environ, PATH=f'{folder}/bin:{os.environ["PATH"]}', LC_ALL='C.UTF-8', TERM='dumb')
    done = subprocess.run(['bash', '-c', command], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=100)
    return done.stdout.decode()


def new_folder(parent, name):
    folder = os.path.join(parent, name)
    os.makedirs(os.path.join(folder, 'bin'))
    os.symlink(TRACEKIT, os.path.join(folder, 'bin', 'tracekit'))
    return folder


def kept(options, folder):
    out = os.path.join(folder, 'out.json')
    said = run(f'tracekit filter trace.json {options} --force -q -o out.json', folder)
    if said:
        return said
    with open(out, encoding='utf-8') as f:
        events = json.load(f)['traceEvents']
    return ', '.join(sorted({e['name'] for e in events if e.get('ph', '-') not in 'Msf'}))


def check_filter(parent):
    text, folder = page('docs/filter.md'), new_folder(parent, 'filter')
    with open(os.path.join(folder, 'trace.json'), 'w', encoding='utf-8') as f:
        f.write(blocks(text, 'json')[0])
    tables = re.findall(r'^\| `tracekit filter trace\.json \.\.\.` \| keeps \|\n\|---\|---\|\n((?:\|.*\n)+)', text, re.M)
    rows = [row for table in tables for row in table.splitlines()]
    check(len(rows) > 30, f'docs/filter.md: {len(rows)} examples')
    for row in rows:
        options, names = re.fullmatch(r'\| `(.*)` \| (.*) \|', row).groups()
        options = options.replace(r'\|', '|')
        got = kept(options, folder)
        check(got == names, f'docs/filter.md: {options}\n  says  {names}\n  keeps {got}')


def give_traces(folder):
    """Creates the input files of the recipes."""
    shutil.copy(f'{FIXTURES}/perfetto/small.pftrace.gz', f'{folder}/gpu.pftrace.gz')
    shutil.copy(f'{FIXTURES}/perf_script/work.perf.txt', folder)
    for rank in range(4):
        shutil.copy(f'{FIXTURES}/json/torch/ddp4_full/rank{rank}.json.gz', folder)
    shutil.copy(f'{FIXTURES}/json/jax/pi0_eager/vm.trace.json.gz', f'{folder}/pi0.json.gz')
    # two runs of two ranks, distinguished by their timestamps
    for name in sorted(os.listdir(f'{FIXTURES}/json/torch/ddp2_handler')):
        run_of = os.path.join(folder, 'after' if name.split('.')[1] > '179517107295' else 'before')
        os.makedirs(run_of, exist_ok=True)
        shutil.copy(f'{FIXTURES}/json/torch/ddp2_handler/{name}', run_of)
    # the last run is still being written
    for step, name in ((100, 'mlp_train/vm.xplane.pb'), (200, 'multihost/host-0.xplane.pb'), (300, None)):
        session = os.path.join(folder, f'profiles/step_{step}/plugins/profile/2026_11_20_1{step // 100}_00_00')
        os.makedirs(session)
        if name:
            shutil.copy(f'{FIXTURES}/xplane/{name}', f'{session}/vm.xplane.pb')
        else:
            open(f'{session}/vm.xplane.pb', 'wb').close()
    run_folder = os.path.join(folder, 'logdir/plugins/profile/2026_11_20_12_00_00')
    os.makedirs(run_folder)
    for name in sorted(os.listdir(f'{FIXTURES}/xplane/multihost')):
        shutil.copy(f'{FIXTURES}/xplane/multihost/{name}', run_folder)


def give_perfetto(folder):
    """Creates two system traces and one PyTorch trace."""
    system_trace.write(os.path.join(folder, 'phone.pftrace'), 1, False)
    system_trace.write(os.path.join(folder, 'tablet.pftrace'), 2, True)
    torch_pftrace.write(os.path.join(folder, 'torch.pftrace'))


def give_recordings(folder):
    """Creates recordings of one process: a trace, a snapshot beside it, and a report whose clock is 750 us behind."""
    job = recordings.Job(folder, 1, 40)
    job.kineto('train_rank0.json', 750_000, steps=job.steps)
    recordings.snapshot_at(job.path('memory_rank0.pickle'), recordings.EPOCH // 1000 + 50_900, [(a + 750_000, b + 750_000, c) for a, b, c in job.steps])
    job.nsys('train_rank0.sqlite', jitter=100, steps=job.steps)


def without_sizes(text):
    return re.sub(r'\b\d+(\.\d+)? (B|KB|MB)\b', 'SIZE', text)


def check_recipes(parent, name, least):
    folder, text = new_folder(parent, os.path.basename(name)), page(name)
    give_traces(folder)
    give_perfetto(folder)
    give_recordings(folder)
    sessions = blocks(text, 'console')
    check(len(sessions) >= least, f'{name}: {len(sessions)} recipes')
    for session in sessions:
        for command, output in re.findall(r'^\$ (.*)\n((?:(?!\$ ).*\n)*)', session, re.M):
            got = run(command, folder)
            if os.environ.get('GOLDEN'):
                text = text.replace(f'$ {command}\n{output}', f'$ {command}\n{got}')
            else:
                check(without_sizes(got) == without_sizes(output), f'{name}: {command}\n--- says\n{output}--- prints\n{got}')
    if os.environ.get('GOLDEN'):
        with open(os.path.join(SRC, name), 'w', encoding='utf-8') as f:
            f.write(text)


def check_words():
    """Checks that every key of report --json is explained."""
    text = page('docs/analysis.md')
    for key in json.loads(page('schemas/job.schema.json'))['$defs']['rank']['properties']:
        check(f'`{key}`' in text, f'docs/analysis.md: {key} is not explained')


def compile_program(program, language, name, folder):
    """Compiles a program. Returns False if there is no compiler of its language."""
    with open(os.path.join(folder, f'{name}.{language}'), 'w', encoding='utf-8') as f:
        f.write(program)
    flags = ['-fsanitize=address,undefined'] if B.endswith('/san') else []
    standard = ['-std=c11'] if language == 'c' else ['-std=c++11']
    library = ['-x', 'none', f'-L{B}', f'-l:{os.path.basename(shared())}', f'-Wl,-rpath,{B}', *(['-lstdc++'] if language == 'cpp' else [])]
    line = [*shlex.split(os.environ.get('CC', 'cc')), *standard, '-Wall', '-Wextra', '-Werror', '-pthread', *flags, f'-I{SRC}/lib',
            '-x', {'c': 'c', 'cpp': 'c++'}[language], f'{name}.{language}', '-o', f'bin/{name}', *library]
    done = subprocess.run(line, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if language == 'cpp' and ('cannot execute' in done.stdout or 'file not found' in done.stdout or 'cannot find -lstdc++' in done.stdout):
        print('SKIPPED: docs/library.md: there is no compiler of C++')
        return False
    check(done.returncode == 0, f'docs/library.md: {name} does not compile:\n{done.stdout}')
    return True


def check_library(parent):
    """Checks that each program prints the block of text that follows it."""
    text, folder = page('docs/library.md'), new_folder(parent, 'library')
    shutil.copy(f'{FIXTURES}/json/viz/viz_small.json', os.path.join(folder, 'trace.json'))
    programs = re.findall(r'^```(c|cpp|python)\n(.*?)^```$.*?^```text\n(.*?)^```$', text, re.M | re.S)
    languages = ['c', 'c', 'c', 'c', 'c', 'cpp', 'python']
    check([language for language, _, _ in programs] == languages, 'docs/library.md: programs in C, C++ and Python')
    for i, (language, program, output) in enumerate(programs):
        if language != 'python':
            if not compile_program(program, language, f'prog{i}', folder):
                continue
            got = run(f'prog{i} trace.json', folder)
        elif B.endswith('/san'):
            continue  # Python has no sanitizer runtime, which the library would need
        else:
            with open(os.path.join(folder, 'prog.py'), 'w', encoding='utf-8') as f:
                f.write(program)
            got = run(f'LD_LIBRARY_PATH={B} {sys.executable} prog.py trace.json', folder)
        check(got == output, f'docs/library.md: program {i} prints\n{got}')
    check('nosuch.json' in run('prog0 nosuch.json', folder), 'docs/library.md: the program says what it cannot open')


def shared():
    return next(name for name in sorted(os.listdir(B)) if name.startswith('libtracekit.so.'))


with tempfile.TemporaryDirectory() as work:
    check_filter(work)
    check_recipes(work, 'README.md', 5)
    check_recipes(work, 'docs/analysis.md', 8)
    check_recipes(work, 'docs/sql.md', 2)
    for name in sorted(os.listdir(os.path.join(SRC, 'docs/recipes'))):
        if name not in ('README.md', 'large.md'):
            check_recipes(work, f'docs/recipes/{name}', 2)
    check_words()
    check_library(work)
print(f'{passed} passed, {failed} failed')
sys.exit(1 if failed else 0)
