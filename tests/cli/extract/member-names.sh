# Names of archive members do not influence where output is written.
cp "$FIXTURES/nasty/archive/traversal.zip" .
mkdir deep && cd deep
tracekit extract -q --split ../traversal.zip -o out/ && ls -a out
tracekit extract -q --raw ../traversal.zip -o raw/ && ls -a raw
tracekit extract -q ../traversal.zip && ls
cd .. && ls; ls /tmp/evil.json /etc/evil.json 2> /dev/null
python3 - <<'PY'
import zipfile
with zipfile.ZipFile('odd.zip', 'w') as z:
    for name in ('..', '...', '/', 'a\\..\\b.json', '-rf.json', '\x1b[31m.json', 'x' * 300 + '.json', '~/y.json'):
        z.writestr(zipfile.ZipInfo(name), '[{"ph":"X","name":"a","ts":1,"dur":1,"pid":1,"tid":1}]')
PY
tracekit extract -q --split odd.zip -o odd/; ls -a odd | cut -c1-60
