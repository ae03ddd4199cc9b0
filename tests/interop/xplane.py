#!/usr/bin/env python3
"""Checks that the real xprof package reads our XPlane output.

  1. Its trace viewer, overview and op profile give the same for a JAX file and for that file read and written by us.
  2. Chrome JSON of PyTorch, viztracer and JAX, converted to XPlane, opens in its streaming viewer with every process,
     thread, span and counter; queried for single spans, as by a click, it shows all their args.
  3. All of its tools give the same for an XPlane file and after a round trip through Chrome JSON, and through Perfetto.
  4. Three hosts merged into one file are three processes in xprof, on one timeline.

Installs xprof into build/interop/xprof, which needs the network once; without it this is reported as SKIPPED."""
import collections
import glob
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from decimal import Decimal

B, FIXTURES, TRACEKIT = os.environ['B'], os.environ['FIXTURES'], os.environ['TRACEKIT']
QUERIES = 12  # spans per file that are queried individually
VENV = os.environ.get('XPROF_VENV') or os.path.join(B, 'interop', 'xprof')


def reexec(script):
    """Re-executes the script inside a virtual environment that has xprof."""
    python = os.path.join(VENV, 'bin', 'python')
    if not os.path.exists(python):
        made = subprocess.run([sys.executable, '-m', 'venv', VENV], capture_output=True).returncode == 0
        if not made or subprocess.run([python, '-m', 'pip', 'install', '-q', 'xprof'], capture_output=True).returncode != 0:
            shutil.rmtree(VENV, ignore_errors=True)
            print('SKIPPED: interop/xplane: the xprof package cannot be installed')
            sys.exit(0)
    os.environ['XPROF_INSIDE'] = '1'
    os.execv(python, [python, script, *sys.argv[1:]])


def tool(name, path, work, **query):
    """Returns the output of xprof's tool for the file, in a new directory, because xprof writes caches next to the file."""
    from xprof.convert import raw_to_tool_data
    folder = tempfile.mkdtemp(dir=work)
    copy = os.path.join(folder, 'host.xplane.pb')
    shutil.copy(path, copy)
    data, _ = raw_to_tool_data.xspace_to_tool_data([copy], name, {'trace_viewer_options': query} if name.endswith('@') else {})
    return data.decode() if isinstance(data, bytes) else data


def tracekit(*args):
    p = subprocess.run([TRACEKIT, *args], capture_output=True, text=True)
    if p.returncode != 0:
        raise RuntimeError(f'{args}: {p.stderr}')


def series_of(events):
    """Returns the names of counters in xprof: the first series has the counter's name, the others have their key appended."""
    for_each = (e for e in events if e.get('ph') == 'C')
    numbers = ((e['name'], [key for key, value in e.get('args', {}).items() if type(value) in (int, float, Decimal)]) for e in for_each)
    return {f'{name} {key}' if nth else name for name, keys in numbers for nth, key in enumerate(keys)}


def ps(us):
    return int((Decimal(str(us)) * 1000000).to_integral_value())


def without_flows(text):
    """Removes the values of flow ids, which are salted per process: only their presence can be compared."""
    events = json.loads(text)['traceEvents']
    for e in events:
        for place in (e, e.get('args', {})):
            for key in ('flow', 'bind_id'):
                if key in place:
                    place[key] = 'some'
    return collections.Counter(json.dumps(e, sort_keys=True) for e in events)


def same_tools(path, work):
    ours = os.path.join(work, 'ours.xplane.pb')
    tracekit('convert', '--force', path, '-o', ours)
    if without_flows(tool('trace_viewer', path, work)) != without_flows(tool('trace_viewer', ours, work)):
        yield 'trace_viewer differs'
    for name in ('overview_page', 'op_profile'):
        if tool(name, path, work) != tool(name, ours, work):
            yield f'{name} differs'


TOOLS = ('overview_page', 'input_pipeline_analyzer', 'framework_op_stats', 'kernel_stats', 'memory_profile', 'pod_viewer', 'op_profile',
         'hlo_stats', 'roofline_model', 'inference_profile')


def told(name, path, work):
    """Returns the tool's output in comparable form. pod_viewer writes its maps in random order, and may omit zero values."""
    def without_zeros(value):
        if isinstance(value, dict):
            return {k: without_zeros(v) for k, v in value.items() if v != 0}
        return [without_zeros(v) for v in value] if isinstance(value, list) else value
    text = tool(name, path, work)
    return without_zeros(json.loads(text)) if name == 'pod_viewer' else text


def is_of_ns(path, work):
    made = os.path.join(work, 'ns.json')
    tracekit('convert', '--force', path, '-o', made)
    return all(ps(e[k]) % 1000 == 0 for e in json_events(made) for k in ('ts', 'dur') if k in e)


def carried(path, work):
    """Checks round trips through JSON and, if the file has no times finer than a nanosecond, through Perfetto, which rounds to
    the nanosecond."""
    for between in ('between.json', 'between.pftrace')[:1 + is_of_ns(path, work)]:
        middle, ours = os.path.join(work, between), os.path.join(work, 'ours.xplane.pb')
        tracekit('convert', '--force', path, '-o', middle)
        tracekit('convert', '--force', middle, '-o', ours)
        for name in TOOLS:
            if told(name, path, work) != told(name, ours, work):
                yield f'{name} differs by way of {between}'
        if without_flows(tool('trace_viewer', path, work)) != without_flows(tool('trace_viewer', ours, work)):
            yield f'trace_viewer differs by way of {between}'


def json_events(path):
    with (gzip.open if path.endswith('.gz') else open)(path, 'rb') as f:
        trace = json.loads(f.read(), parse_float=Decimal, strict=False)
    events = trace if isinstance(trace, list) else trace['traceEvents']
    return [e for e in events if e]


def spans_of(events, names):
    """Returns (name, thread, start, duration) of the spans with these names; starts are relative to the first of them, because
    an XSpace may have a different zero. xprof shows at least 1 ps."""
    spans = [e for e in events if e.get('ph') == 'X' and e['name'] in names]
    zero = min((ps(e['ts']) for e in spans), default=0)
    return collections.Counter((e['name'], e['tid'], ps(e['ts']) - zero, max(ps(e.get('dur', 0)), 1)) for e in spans)


def same_value(ours, theirs):
    """Compares args: numbers must be numbers in xprof; values for which XStat has no type become text."""
    if isinstance(ours, (int, Decimal)) and not isinstance(ours, bool):
        return not isinstance(theirs, str) and float(ours) == float(theirs) or str(ours) == theirs
    if isinstance(ours, str):
        return ours == theirs
    return theirs in (int(ours), str(ours).lower()) if isinstance(ours, bool) else json.loads(theirs, parse_float=Decimal) == ours


def lost_args(source, shown, names, ours, work):
    """Queries some of the spans, evenly distributed; returns the args that xprof does not show."""
    spans = [e for e in source if e.get('ph') == 'X' and e['name'] in names]
    there = [e for e in shown if e.get('ph') == 'X' and e['name'] in names]
    zero, their_zero = (min((ps(e['ts']) for e in found), default=0) for found in (spans, there))
    by_place = {(e['name'], e['tid'], ps(e['ts']) - zero, max(ps(e.get('dur', 0)), 1)): e for e in spans if e.get('args')}
    places = {(e['name'], e['tid'], ps(e['ts']) - their_zero, max(ps(e['dur']), 1)): e for e in there}
    asked = [place for place in places if place in by_place]
    for place in asked[::max(1, len(asked) // QUERIES)][:QUERIES]:
        e = places[place]
        answer = tool('trace_viewer@', ours, work, event_name=e['name'], start_time_ms=repr(e['ts'] / 1000),
                      duration_ms=repr(e['dur'] / 1000), unique_id=str(e.get('args', {}).get('uid', 0)))
        found = [a.get('args', {}) for a in json.loads(answer)['traceEvents'] if a.get('ph') == 'X']
        wanted = {k: v for k, v in by_place[place]['args'].items() if v is not None}
        if not any(all(k in args and same_value(v, args[k]) for k, v in wanted.items()) for args in found):
            yield f'{place[0]}: args {wanted} are shown as {found[:2]}'
    if not asked:
        yield 'no span with args could be asked for'


def streams(path, work):
    ours, again = os.path.join(work, 'json.xplane.pb'), os.path.join(work, 'again.json')
    tracekit('convert', '--force', path, '-f', 'xplane', '-o', ours)
    tracekit('convert', '--force', path, '-o', again)
    shown = json.loads(tool('trace_viewer@', ours, work))['traceEvents']
    source = json_events(again)
    whole = [e for e in source if isinstance(e.get('tid'), int)]
    names = {e['name'] for e in whole if e.get('ph') == 'X'} - {e['name'] for e in source if e.get('ph') == 'i'}
    missing = spans_of(whole, names) - spans_of(shown, names)
    if missing:
        yield f'{missing.total()} of {len(whole)} spans are not shown, e.g. {next(iter(missing))}'
    if any(e.get('args') for e in whole if e.get('ph') == 'X' and e['name'] in names):
        yield from lost_args(whole, shown, names, ours, work)
    counters = series_of(source) - {e['name'] for e in shown if e.get('ph') == 'C'}
    if counters:
        yield f'counters that are not shown: {counters}'


def merged(work):
    out = os.path.join(work, 'merged.xplane.pb')
    tracekit('merge', '--force', *sorted(glob.glob(os.path.join(FIXTURES, 'xplane', 'multihost', '*.xplane.pb'))), '-o', out)
    shown = json.loads(tool('trace_viewer@', out, work))['traceEvents']
    names = {e['args']['name'] for e in shown if e.get('name') == 'process_name'}
    if len(names) != 3:
        yield f'processes: {names}'


def main():
    checks = [('tools ' + os.path.relpath(p, FIXTURES), lambda w, p=p: same_tools(p, w))
              for p in sorted(glob.glob(os.path.join(FIXTURES, 'xplane', '*', '*.xplane.pb')))]
    checks += [('carried ' + os.path.relpath(p, FIXTURES), lambda w, p=p: carried(p, w))
               for p in sorted(glob.glob(os.path.join(FIXTURES, 'xplane', '*', '*.xplane.pb')))]
    files = glob.glob(os.path.join(FIXTURES, 'json', 'torch', '*', 'rank0.json.gz')) + glob.glob(os.path.join(FIXTURES, 'json', 'viz', '*.json'))
    checks += [('stream ' + os.path.relpath(p, FIXTURES), lambda w, p=p: streams(p, w)) for p in sorted(files)]
    checks.append(('merged hosts', merged))
    failed = 0
    for name, check in checks:
        with tempfile.TemporaryDirectory() as work:
            faults = list(check(work))
        failed += bool(faults)
        print(f'{"FAIL" if faults else "ok"} {name}' + ''.join(f'\n     {f[:500]}' for f in faults), flush=True)
    print(f'{len(checks) - failed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    if not os.environ.get('XPROF_INSIDE'):
        reexec(__file__)
    os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
    sys.exit(main())
