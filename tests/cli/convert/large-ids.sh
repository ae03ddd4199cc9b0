# Ids too large for a double are quoted in JSON made from another format; ids in JSON input are unchanged.
cat > in.json <<'END'
[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":9,"name":"a"},{"ph":"X","pid":1,"tid":2,"ts":20,"dur":9,"name":"b"},
{"ph":"s","pid":1,"tid":1,"ts":2,"id":9007199254740993,"name":"f"},{"ph":"f","bp":"e","pid":1,"tid":2,"ts":21,"id":9007199254740993,"name":"f"},
{"ph":"s","pid":1,"tid":1,"ts":3,"id":"0xfffffffffffffffe","name":"f"},{"ph":"f","bp":"e","pid":1,"tid":2,"ts":22,"id":"0xfffffffffffffffe","name":"f"},
{"ph":"s","pid":1,"tid":1,"ts":4,"id":"0x0fff","name":"f"},{"ph":"f","bp":"e","pid":1,"tid":2,"ts":23,"id":"0x0fff","name":"f"}]
END
tracekit convert -q --no-provenance in.json -f json -o - | grep '"s"'
python3 - <<'END'
import struct
varint = lambda n: bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)
number = lambda field, n: varint(field << 3) + varint(n)
message = lambda field, *parts: varint(field << 3 | 2) + varint(len(b''.join(parts))) + b''.join(parts)
packet = lambda *parts: message(1, *parts, number(10, 1))
thread = lambda uuid, tid: packet(message(60, number(1, uuid), message(4, number(1, 5), number(2, tid))))
event = lambda ts, kind, uuid, *more: packet(number(8, ts), message(11, number(9, kind), number(11, uuid), *more))
flow = lambda n: varint(47 << 3 | 1) + struct.pack('<Q', n)
with open('t.pftrace', 'wb') as f:
    f.write(thread(1, 6) + thread(2, 7) + event(1000, 1, 1, message(23, b'a'), flow(2**63 + 1), flow(2**53 + 1)) + event(2000, 2, 1)
            + event(3000, 1, 2, message(23, b'b'), flow(2**63 + 1), flow(2**53 + 1)) + event(4000, 2, 2))
END
tracekit convert -q t.pftrace -o t.json && grep -E '"bind_id"|"s"|"f"' t.json | cut -c1-120
tracekit convert -q t.json -o u.json && cmp <(grep -F '"0x' t.json) <(grep -F '"0x' u.json)
