#!/usr/bin/env python3
"""JSON -> Perfetto -> XPlane -> JSON keeps every event of the fixtures: name, category, time to the ns, track, args, flow points, up to
what perfetto.py declares as lost.  A trace of which one event is left out must be found, so that the comparison can fail."""
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import perfetto
from perfetto import FIXTURES, convert, differences, events, load, names, size


def check(path, work):
    base = os.path.join(work, path.replace('/', '_'))
    straight, there, then, back = (base + s for s in ('.a.json', '.pftrace', '.xplane.pb', '.b.json'))
    for source, target in ((path, straight), (straight, there), (there, then), (then, back)):
        status, err = convert(source, target)
        if status != 0:
            return [] if source == path else [f'{source} -> {target}: status {status}: {err}']
    a, b = load(straight), load(back)
    found, wanted = events(b), events(a)
    faults = list(differences(wanted, found))
    if wanted and not faults:
        wanted.pop(next(iter(wanted)))
        faults += [] if list(differences(wanted, found)) else ['an event too many is not found']
    x, y = names(a), names(b)
    faults += [f'name {k}: {x.get(k)} against {y.get(k)}' for k in sorted(set(x) | set(y)) if x.get(k) != y.get(k)]
    for f in (straight, there, then, back):
        os.remove(f)
    return faults


def main():
    paths = sys.argv[1:]
    for folder, _, files in sorted(os.walk(os.path.join(FIXTURES, 'json'))) if not paths else []:
        paths += [p for f in sorted(files) if size(p := os.path.join(folder, f)) <= perfetto.MOST]
    failed = 0
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(2) as pool:
        for path, faults in zip(paths, pool.map(lambda p: check(p, work), paths)):
            failed += bool(faults)
            for fault in faults[:8]:
                print(f'{os.path.relpath(path, FIXTURES)}: {fault[:300]}')
    print(f'{len(paths) - failed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
