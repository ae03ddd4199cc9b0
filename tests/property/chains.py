#!/usr/bin/env python3
"""JSON -> Perfetto -> XPlane -> JSON keeps every event of the fixtures: name, category, time to the ns, track, args, flow points, up to
what perfetto.py declares as lost.  A trace of which one event is left out must be found, so that the comparison can fail."""
import os
import sys

from perfetto import against, convert, differences, events, load, main


def check(path, work):
    base = os.path.join(work, path.replace('/', '_'))
    straight, there, then, back = (base + s for s in ('.a.json', '.pftrace', '.xplane.pb', '.b.json'))
    for source, target in ((path, straight), (straight, there), (there, then), (then, back)):
        status, err = convert(source, target)
        if status != 0:
            return [] if source == path else [f'{source} -> {target}: status {status}: {err}']
    faults = against(straight, back)
    wanted, found = events(load(straight)), events(load(back))
    if wanted and not faults:
        wanted.pop(next(iter(wanted)))
        faults += [] if list(differences(wanted, found)) else ['an event too many is not found']
    for f in (straight, there, then, back):
        os.remove(f)
    return faults


if __name__ == '__main__':
    sys.exit(main(check))
