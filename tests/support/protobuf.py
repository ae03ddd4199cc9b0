"""protobuf.py - reads protobuf messages without their schemas."""


def varint(data, at):
    """Returns the varint at an offset, and the offset after it."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def parse(data):
    """Returns [(number, value)]; length-delimited and fixed-size values are bytes. Raises ValueError if the data is not a message."""
    at, out = 0, []
    try:
        while at < len(data):
            tag, at = varint(data, at)
            wire, size = tag & 7, None
            if wire == 0:
                value, at = varint(data, at)
                out.append((tag >> 3, value))
                continue
            if wire == 2:
                size, at = varint(data, at)
            size = {1: 8, 5: 4}.get(wire, size)
            if size is None or at + size > len(data):
                raise ValueError('no message')
            out.append((tag >> 3, data[at:at + size]))
            at += size
    except IndexError as e:
        raise ValueError('no message') from e
    return out
