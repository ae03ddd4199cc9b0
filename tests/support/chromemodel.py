"""Model of the meaning of Chrome JSON events, in Python: pairs of begins and ends, async ids, scopes, series. It is independent
of tracekit, and so can check it: spans, instants and samples are identified by the number in their args."""
import collections


def by_time(events):
    """Sorts by time, as viewers do, keeping the file's order for equal times."""
    return sorted(events, key=lambda e: e['ts'])


def track(e, process_wide=False):
    return (e['pid'], None if process_wide else e['tid'])


def thread_spans(events):
    """Pairs begins and ends: an end closes the latest open begin of its thread."""
    opened = collections.defaultdict(list)
    for e in by_time(events):
        if e.get('ph', '-') == 'B':
            opened[track(e)].append(e)
        elif e.get('ph', '-') == 'E' and opened[track(e)]:
            begin = opened[track(e)].pop()
            yield begin, e['ts'] - begin['ts']
    for begins in opened.values():
        for begin in begins:
            yield begin, None


def async_spans(events):
    """Pairs async events: an end closes the latest open begin with its id and name, or else with its id."""
    opened = collections.defaultdict(list)
    for e in by_time(events):
        if e.get('ph', '-') not in 'be':
            continue
        begins = opened[e['pid'], e.get('cat'), str(e.get('id'))]
        if e.get('ph', '-') == 'b':
            begins.append(e)
            continue
        candidates = [b for b in begins if b.get('name') == e.get('name')] or begins
        if candidates:
            begin = candidates[-1]
            begins.remove(begin)
            yield begin, e['ts'] - begin['ts']
    for begins in opened.values():
        for begin in begins:
            yield begin, None


def nodes(events):
    """Returns {number in args: (name, ts, dur or None if unfinished, pid, tid or None)} of spans and instants."""
    found = {}

    def add(e, dur, process_wide):
        found[int(e['args']['k'])] = (e['name'], e['ts'], dur, *track(e, process_wide))

    for e in events:
        if e.get('ph', '-') == 'X':
            add(e, e['dur'], False)
        elif e.get('ph', '-') in 'iI':
            add(e, 0, e.get('s', 't') in ('p', 'g'))
        elif e.get('ph', '-') == 'n':
            add(e, 0, True)
    for begin, dur in thread_spans([e for e in events if e.get('ph', '-') in 'BE']):
        add(begin, dur, False)
    for begin, dur in async_spans(events):
        add(begin, dur, True)
    return found


def samples(events):
    """Counts (pid, ts, value) over all series."""
    return collections.Counter((e['pid'], e['ts'], float(v)) for e in events if e.get('ph', '-') == 'C' for v in e['args'].values())
