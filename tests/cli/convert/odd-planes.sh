# XPlane output can be read back for odd input: planes with any name, unusual entries, an empty XSpace.
python3 - <<'PY'
import os, sys
sys.path.insert(0, os.path.join(os.environ['SRC'], 'tests', 'support'))
from xspace import message, number
line = message(3, number(1, 1) + message(2, b'l') + message(4, number(1, 1) + number(2, 5) + number(3, 7)))
names = message(4, number(1, 1) + message(2, number(1, 1) + message(2, b'e')))
planes = {'named': message(2, b'named') + line + names, 'bare': message(2, b'l') + line, 'odd-entry': message(2, b'l') + message(4, number(4, 1) + number(2, 5)) + line,
          'replaced': message(2, b'\xff\xfe/\xffx\xff\xff') + line + names}
for name, plane in planes.items():
    open(name + '.xplane.pb', 'wb').write(message(1, plane))
PY
for f in *.xplane.pb; do
  for o in '' '--no-provenance' '--no-provenance --no-passthrough'; do
    tracekit convert -q --force $o -f xplane "$f" -o out.pb 2> /dev/null || { echo "$f: not read"; continue; }
    tracekit info -q out.pb > /dev/null || echo "$f $o: what was written is not read"
  done
done
