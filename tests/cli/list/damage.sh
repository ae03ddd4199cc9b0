# Empty files are always detected, damaged files only with --deep, which shows how much can be recovered.
mkdir logs
cp "$FIXTURES/nasty/gzip/truncated_mid.json.gz" logs/rank0.json.gz
cp "$FIXTURES/nasty/gzip/ok.json.gz" logs/rank1.json.gz
cp "$FIXTURES/nasty/gzip/bit_flip.json.gz" logs/rank2.json.gz
: > logs/rank3.json.gz
cp "$FIXTURES/nasty/json/empty_array.json" logs/rank4.json
cp "$FIXTURES/nasty/json/dur_negative.json" logs/rank5.json
python3 - <<'PY'
import zlib # wrong bytes behind 20,000 good events
z = zlib.compressobj(9, zlib.DEFLATED, 31)
events = b',\n'.join(b'{"ph":"X","name":"e%d","ts":%d,"dur":1,"pid":1,"tid":1}' % (i * 7919 % 10007, i) for i in range(20000))
open('logs/rank6.json.gz', 'wb').write(z.compress(b'{"traceEvents":[' + events + b',\n') + z.flush(zlib.Z_FULL_FLUSH) + b'\x07' * 99)
PY
tracekit list logs
tracekit list --deep --json logs > report.json
python3 - <<'PY'
import json
for f in json.load(open('report.json'))['files']:
    print(f['file'], f['health'], f.get('events', '-'), sep='\t')
PY
tracekit list --deep logs/rank0.json.gz
