# The error for a report of Nsight Systems contains the command that exports it; --nsys exports it into a temporary folder.
mkdir tmp tools reports
export TMPDIR=$PWD/tmp
printf '\013\000\000a report' > reports/node0.nsys-rep
cp reports/node0.nsys-rep './--help.nsys-rep'
cat > tools/nsys <<'END'
#!/bin/sh
# Imitates nsys: prints its arguments, and writes a database of one kernel to the path after --output=.
[ "$(head -c 11 "$5" | tail -c 8)" = "a report" ] || { echo "not a report: $5" >&2; exit 3; }
echo "$1 $2 ${3%%=*} $4 $5" >> words
ls -d "$(dirname "${3#--output=}")" | sed 's/XXXXXX//; s/tracekit-.*/tracekit-/' >> words
echo progress
cp exported.sqlite "${3#--output=}"
END
chmod +x tools/nsys
python3 - <<'END'
import sqlite3
db = sqlite3.connect('exported.sqlite')
db.executescript("""CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT); INSERT INTO StringIds VALUES (1, 'gemm');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER,
  globalPid INTEGER, demangledName INTEGER, shortName INTEGER);""")
for k in range(2):
    db.execute('INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 3000, ?, 1, 7, 1, ?, 1, 1)', (k, 1 << 48 | (40 + k) << 24))
db.commit()
END
tracekit info reports/node0.nsys-rep; echo "status $?"
echo; echo "# with --nsys"
PATH=$PWD/tools:$PATH tracekit list --nsys=nsys reports/node0.nsys-rep | sed 's/  */ /g'
tracekit top -q --csv --nsys=tools/nsys reports/node0.nsys-rep | cut -d, -f1-3
tracekit merge -q --nsys=tools/nsys reports/*.nsys-rep -o merged.json; echo "status $?"; grep -c '"ph":"X"' merged.json
tracekit info -q --no-fetch --nsys=tools/nsys ./--help.nsys-rep | grep -c Nsight
cat words | sed "s|$PWD/||"
echo "left: $(ls tmp)"
echo; echo "# failures"
tracekit info --nsys=tools/none reports/node0.nsys-rep; echo "status $?"
echo something else > reports/bad.nsys-rep
tracekit info --nsys=tools/nsys reports/bad.nsys-rep; echo "status $?"
tracekit info --nsys=true reports/node0.nsys-rep; echo "status $?"
tracekit info --nsys=tools/nsys 'reports/none;touch x.nsys-rep'; echo "status $?"
echo "left: $(ls tmp; ls x.nsys-rep 2> /dev/null)"
