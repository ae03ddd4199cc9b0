"""Chrome JSON as values, for tests that compare before and after; parsed independently of tracekit.

A number keeps its text (1.0 differs from 1, no digit is lost), marked to distinguish it from a string; ts and dur are equal
up to 1 ps. Events are a multiset, because tracekit writes metadata first and flow points last. The meaning of order is
compared separately: begins and ends are paired by (time, position in the file), and the last of duplicate records wins.
Empty records {} have no meaning and may be dropped. The top-level key `tracekit` is the provenance that we add."""
import gzip
import json
import re
import zlib
from collections import Counter, defaultdict
from decimal import Decimal, ROUND_HALF_UP

PICOSECOND = Decimal('0.000001')
NUMBER = '\0'  # first character of a former number
MOST_REPAIRS = 1000
INTEGER = re.compile(r'0|-?[1-9][0-9]*')


def read_bytes(path):
    with open(path, 'rb') as f:
        data = f.read()
    if data[:2] == b'\x1f\x8b':
        data = gzip.decompress(data)
    if data[:2] in (b'\xff\xfe', b'\xfe\xff'):
        data = data.decode('utf-16').encode()
    return data


def parse(text):
    return json.loads(text, parse_float=NUMBER.__add__, parse_int=NUMBER.__add__, parse_constant=NUMBER.__add__)


def read(path):
    """Parses a JSON file; raises ValueError if it is invalid."""
    return parse(read_bytes(path))


def read_repaired(path):
    """Parses a file with unescaped quotes in strings, a known bug of PyTorch. Returns (trace, number of repairs)."""
    text, repairs = read_bytes(path).decode(), 0
    while True:
        try:
            return parse(text), repairs
        except json.JSONDecodeError as e:
            quote = text.rfind('"', 0, e.pos)  # this quote ended a string too early
            if quote < 0 or repairs == MOST_REPAIRS:
                raise
            text, repairs = text[:quote] + '\\' + text[quote:], repairs + 1


def is_trace(path):
    """True if Python accepts the file as Chrome JSON."""
    try:
        trace = read(path)
        return isinstance(trace, list) or isinstance(trace['traceEvents'], list)
    except (ValueError, KeyError, TypeError, OSError, EOFError, zlib.error):
        return False


def events_of(trace):
    return [e for e in (trace if isinstance(trace, list) else trace['traceEvents']) if e != {}]


def top_level(trace):
    return {} if isinstance(trace, list) else {k: v for k, v in trace.items() if k not in ('traceEvents', 'tracekit')}


def phase(event):
    text = event.get('ph') if isinstance(event, dict) else None
    return text if isinstance(text, str) else ''


def phases(trace):
    """Returns the number of events per phase."""
    return Counter(phase(e)[:1] for e in events_of(trace))


# ---- equality -----------------------------------------------------------------------------------------------------------------


def decimal(value):
    """Converts a time, which some producers print as a string, to Decimal; 0 if missing."""
    return Decimal(value.lstrip(NUMBER)) if isinstance(value, str) else Decimal(0)


def time(value):
    return str(decimal(value).quantize(PICOSECOND, ROUND_HALF_UP).normalize() + 0)


def canonical(event):
    if not isinstance(event, dict):
        return json.dumps(event)
    event = dict(event)
    for key in ('ts', 'dur'):
        if isinstance(event.get(key), str):
            event[key] = time(event[key])
    return json.dumps(event, sort_keys=True)


def parts(trace):
    """Returns what must be equal: (multiset of events, top-level keys)."""
    return Counter(map(canonical, events_of(trace))), top_level(trace)


def pairs(trace):
    """Pairs begin events with their ends by the rule of the format: a stack per thread, in order of time, then of the file."""
    stacks, found = defaultdict(list), Counter()
    marks = [e for e in events_of(trace) if phase(e) in ('B', 'E') and isinstance(e.get('ts'), str)]
    for e in sorted(marks, key=lambda e: decimal(e['ts'])):
        stack = stacks[json.dumps([e.get('pid'), e.get('tid')])]
        if e.get('ph', '-') == 'B':
            stack.append(canonical(e))
        else:
            found[(stack.pop() if stack else '', canonical(e), len(stack))] += 1
    for stack in stacks.values():
        found.update((begin, '', depth) for depth, begin in enumerate(stack))
    return found


def last_words(trace):
    """Returns metadata, with the last of duplicate records."""
    last = {}
    for e in events_of(trace):
        if phase(e) == 'M':
            last[json.dumps([e.get('name'), e.get('pid'), e.get('tid')])] = canonical(e)
    return last


def shortened(counter, n=3):
    return '; '.join(str(text)[:300] for text in list(counter)[:n]).replace('\\u0000', '')


def differences(before, after):
    """Yields one line for each difference between `before` and `after`."""
    events_before, keys_before = parts(before)
    events_after, keys_after = parts(after)
    lost, new = events_before - events_after, events_after - events_before
    if lost:
        yield f'{sum(lost.values())} events lost or changed: {shortened(lost)}'
    if new:
        yield f'{sum(new.values())} events appeared: {shortened(new)}'
    if keys_before != keys_after:
        changed = [k for k in {**keys_before, **keys_after} if keys_before.get(k) != keys_after.get(k)]
        yield f'top-level keys differ: {changed}'
    if lost or new:
        return
    if pairs(before) != pairs(after):
        yield f'begin and end pair differently: {shortened(pairs(before) - pairs(after))}'
    if last_words(before) != last_words(after):
        yield 'the last of repeated metadata is another one'
