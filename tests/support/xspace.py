"""xspace.py - a minimal reader and writer of XSpace, to remove planes from a profile, to falsify its clock, and to change its
programs."""
import struct

def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """Yields (number, value) of each field: integers for varints, bytes for length-delimited fields."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        size = {1: 8, 5: 4}.get(key & 7)
        if key & 7 == 0:
            value, at = _varint(data, at)
        else:
            if size is None:
                size, at = _varint(data, at)
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value & (1 << 64) - 1)


def message(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def plane_name(plane):
    return next((value.decode() for field, value in fields(plane) if field == 2), '')


def task_environment(start_ns):
    """Returns a plane "Task Environment", which states the start of the profile."""
    name = message(5, number(1, 1) + message(2, number(1, 1) + message(2, b'profile_start_time')))
    return message(2, b'Task Environment') + name + message(6, number(1, 1) + number(3, start_ns))


def start_of(space):
    """Returns profile_start_time, or 0."""
    for field, plane in fields(space):
        if field == 1 and plane_name(plane) == 'Task Environment':
            names = {}
            for number_, entry in fields(plane):
                if number_ == 5:
                    value = dict(fields(dict(fields(entry))[2]))
                    names[value.get(1, 0)] = value.get(2)
            for number_, stat in fields(plane):
                stat = dict(fields(stat)) if number_ == 6 else {}
                if names.get(stat.get(1)) == b'profile_start_time':
                    return stat.get(3, stat.get(4))
    return 0


def host(space, name, keep, start_ns):
    """Returns a profile with the planes that `keep` selects, of a host whose clock showed start_ns at its start."""
    planes = [plane for field, plane in fields(space) if field == 1 and keep(plane_name(plane))]
    return b''.join(message(1, plane) for plane in planes) + message(1, task_environment(start_ns)) + message(4, name.encode())


def without(space, stats):
    """Returns the space without the events' stats of these names, as older profilers would write it."""
    out = b''
    for field, value in fields(space):
        if field != 1:
            out += message(field, value) if isinstance(value, bytes) else number(field, value)
            continue
        plane = b''
        for number_, part in fields(value):
            if number_ == 5:
                meta = dict(fields(dict(fields(part))[2]))
                if meta.get(2, b'').decode() in stats:
                    part = number(1, meta[1]) + message(2, number(1, meta[1]) + message(2, b'x_' + meta[2]))
            plane += message(number_, part) if isinstance(part, bytes) else number(number_, part)
        out += message(1, plane)
    return out


def _changed(data, field, change):
    """Returns the message with `change` applied to each length-delimited field of that number."""
    return b''.join(number(n, v) if isinstance(v, int) else message(n, change(v) if n == field else v) for n, v in fields(data))


def _stat_names(plane):
    entries = (dict(fields(dict(fields(entry)).get(2, b''))) for n, entry in fields(plane) if n == 5)
    return {entry.get(1, 0): entry.get(2, b'') for entry in entries}


def with_hlo(space, change):
    """Returns the space with `change` applied to the HLO of each program."""
    def plane(data):
        names = _stat_names(data)

        def stat(value):
            parts = dict(fields(value))
            return _changed(value, 6, change) if names.get(parts.get(1)) == b'Hlo Proto' else value
        return _changed(data, 4, lambda entry: _changed(entry, 2, lambda meta: _changed(meta, 5, stat)))
    return _changed(space, 1, lambda data: plane(data) if plane_name(data) == '/host:metadata' else data)


# ---- a plane from Python values ----

class Plane:
    """A plane that is being written. Times are in microseconds."""

    def __init__(self, ident, name):
        self.head = number(1, ident) + message(2, name.encode())
        self.names, self.stats, self.lines = {}, {}, b''

    def stat(self, name, value):
        key = self.stats.setdefault(name, len(self.stats) + 1)
        return message(4, number(1, key) + (number(4, value) if isinstance(value, int) else message(5, value.encode())))

    def event(self, name, start, dur, shown='', **stats):
        key = self.names.setdefault((name, shown), len(self.names) + 1)
        return message(4, number(1, key) + number(2, round(start * 10**6)) + number(3, round(dur * 10**6)) + b''.join(self.stat(*item) for item in stats.items()))

    def line(self, ident, name, events):
        self.lines += message(3, number(1, ident) + message(2, name.encode()) + b''.join(events))

    def bytes(self):
        shown = {key: message(4, b.encode()) if b else b'' for (_, b), key in self.names.items()}
        metas = b''.join(message(4, number(1, key) + message(2, number(1, key) + message(2, a.encode()) + shown[key]))
                         for (a, _), key in self.names.items())
        stats = b''.join(message(5, number(1, key) + message(2, number(1, key) + message(2, name.encode()))) for name, key in self.stats.items())
        return message(1, self.head + self.lines + metas + stats)


# ---- a whole space as Python values ----

def _signed(value):
    return value - (1 << 64) if value >> 63 else value


def _metadata(plane, number):
    """Returns id -> {field: value} of a map of the plane."""
    found = {}
    for n, entry in fields(plane):
        if n == number:
            parts = dict(fields(entry))
            found[parts.get(1, 0)] = dict(fields(parts.get(2, b'')))
    return found


def _value(stat, names):
    for field, value in stat.items():
        if field == 2:
            return struct.unpack('<d', value)[0]
        if field == 4:
            return _signed(value)
        if field == 5:
            return value.decode()
        if field == 7:
            return names.get(value, '')
        if field != 1:
            return value
    return None


def _event(data, metadata, names):
    stats, parts = {}, {}
    for n, value in fields(data):
        if n == 4:
            stat = dict(fields(value))
            stats[names.get(stat.get(1, 0), '')] = _value(stat, names)
        else:
            parts[n] = value
    about = metadata.get(parts.get(1, 0), {})
    name = about.get(2, b'').decode()
    return {'name': name, 'shown': about.get(4, b'').decode() or name, 'offset_ps': _signed(parts.get(2, 0)),
            'duration_ps': _signed(parts.get(3, 0)), 'stats': stats}


def planes(space):
    """Returns [{name, id, stat_names, lines: [{name, id, timestamp_ns, events: [{name, shown, offset_ps, duration_ps,
    stats}]}]}]."""
    found = []
    for field, plane in fields(space):
        if field != 1:
            continue
        names = {key: value.get(2, b'').decode() for key, value in _metadata(plane, 5).items()}
        metadata, lines = _metadata(plane, 4), []
        for line in (value for n, value in fields(plane) if n == 3):
            parts = {n: value for n, value in fields(line) if n != 4}
            lines.append({'name': parts.get(2, b'').decode(), 'id': _signed(parts.get(1, 0)), 'timestamp_ns': parts.get(3, 0),
                          'events': [_event(value, metadata, names) for n, value in fields(line) if n == 4]})
        about = {n: value for n, value in fields(plane) if n in (1, 2)}
        found.append({'name': about.get(2, b'').decode(), 'id': _signed(about.get(1, 0)), 'stat_names': set(names.values()), 'lines': lines})
    return found
