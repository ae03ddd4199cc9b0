"""What the events of a Chrome JSON file mean, in Python: pairs of begins and ends, async identities, scopes, series.  It knows nothing of
tracekit, and so can judge it: spans, instants and samples by the number in their args."""
import collections


def by_time(events):
    """Viewers sort by time, and keep the order of the file where times are equal."""
    return sorted(events, key=lambda e: e['ts'])


def track(e, process_wide=False):
    return (e['pid'], None if process_wide else e['tid'])


def thread_spans(events):
    """An end closes the latest begin of its thread that is open."""
    opened = collections.defaultdict(list)
    for e in by_time(events):
        if e['ph'] == 'B':
            opened[track(e)].append(e)
        elif e['ph'] == 'E' and opened[track(e)]:
            begin = opened[track(e)].pop()
            yield begin, e['ts'] - begin['ts']
    for begins in opened.values():
        for begin in begins:
            yield begin, None


def async_spans(events):
    """An end closes the latest begin of its identity that is open: of its name, or of any if there is none."""
    opened = collections.defaultdict(list)
    for e in by_time(events):
        if e['ph'] not in 'be':
            continue
        begins = opened[e['pid'], e.get('cat'), str(e.get('id'))]
        if e['ph'] == 'b':
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
    """{number in args: (name, ts, dur or None if it never ends, pid, tid or None)} of spans and instants."""
    found = {}

    def add(e, dur, process_wide):
        found[int(e['args']['k'])] = (e['name'], e['ts'], dur, *track(e, process_wide))

    for e in events:
        if e['ph'] == 'X':
            add(e, e['dur'], False)
        elif e['ph'] in 'iI':
            add(e, 0, e.get('s', 't') in ('p', 'g'))
        elif e['ph'] == 'n':
            add(e, 0, True)
    for begin, dur in thread_spans([e for e in events if e['ph'] in 'BE']):
        add(begin, dur, False)
    for begin, dur in async_spans(events):
        add(begin, dur, True)
    return found


def samples(events):
    """Of every series: (pid, ts, value)."""
    return collections.Counter((e['pid'], e['ts'], float(v)) for e in events if e['ph'] == 'C' for v in e['args'].values())
