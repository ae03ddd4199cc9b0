printf '[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":2}]' > open.json
cp open.json secret.json
chmod 644 open.json
chmod 600 secret.json
umask 022
mode() { stat -c '%a %n' "$@"; }
tracekit convert -q open.json -o a.json && mode a.json
tracekit convert -q secret.json -o b.json && mode b.json
tracekit merge -q open.json secret.json -o c.json && mode c.json
# A replaced file keeps its mode, unless the input is readable by fewer users.
cp open.json d.json && chmod 640 d.json && tracekit convert -q --force open.json -o d.json && mode d.json
cp open.json e.json && chmod 600 e.json && tracekit convert -q --force open.json -o e.json && mode e.json
cp open.json f.json && chmod 666 f.json && tracekit convert -q --force secret.json -o f.json && mode f.json
tracekit split -q secret.json --by process -o 'part-{}.json' && mode part-*.json
# A file that lists inputs is itself an input, so it cannot be the output.
printf 'open.json\nsecret.json\n' > list.txt
tracekit merge -q @list.txt -o list.txt -f json --force || echo "status $?"
# Temporary files of dead processes are removed; those of other processes are kept.
host=$(hostname | tr '/-' '__')
touch ".g.json.tmp-$host-999999999-0" ".g.json.tmp-elsewhere-1-0" ".g.json.tmp-$host-$$-0"
tracekit convert -q open.json -o g.json
ls -A | sed "s/$host/HOST/; s/-$$-/-PID-/" | grep tmp
