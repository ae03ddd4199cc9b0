# Stack samples as tables: call sites, frames, modules, symbols, weights; a note reports data that a table cannot show.
printf '%s\n' 'python 7/7 [001]  1.000001:  5000000 cpu-clock:' '	12 leaf+0x2 (/lib/a.so)' '	34 main+0x1 (/bin/app)' '' \
              'python 7/8  1.000002:  5000000 cpu-clock:' '	34 main+0x1 (/bin/app)' '' 'python 7/8  1.000003:  3 sched:x: a=1' '' > t.perf
for table in stack_profile_mapping stack_profile_frame stack_profile_symbol stack_profile_callsite cpu_profile_stack_sample perf_sample \
             stack_sample thread process track trace_bounds; do
  echo "== $table"
  tracekit sql -q t.perf --csv -e "SELECT * FROM $table"
done
echo '== notes'
tracekit sql t.perf --csv -e 'SELECT count(*) FROM cpu_profile_stack_sample' 2>&1
tracekit sql t.perf --csv -e 'SELECT count(*) FROM perf_sample' 2>&1
printf 'main;load (a.py:3) 2.5\nmain 1\n' > t.folded
tracekit sql t.folded --csv -e 'SELECT name, weight, unit FROM stack_sample' -e 'SELECT name, source_file, line_number FROM stack_profile_symbol' \
             -e 'SELECT m.name, f.name FROM stack_profile_frame f JOIN stack_profile_mapping m ON m.id = f.mapping' 2>&1
tracekit sql -q t.folded --force --db t.sqlite && tracekit sql -q "$FIXTURES/json/odd/mixed.json" --csv -e 'SELECT count(*) FROM stack_sample'
