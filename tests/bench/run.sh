#!/usr/bin/env bash
# make bench: measures speed and memory, compared with the tools that people use today, in one run. QUICK=1 measures only how
# cost grows, on small files, in less than two minutes. Inputs are generated. Peers from a package registry (orjson, ijson,
# viztracer, jax) are installed into build/bench, or reported as missing.
set -u
: "${B:?run me by make bench}" "${TRACEKIT:?}"
work=$B/bench
mkdir -p "$work"
[ -x "$work/venv/bin/python" ] || python3 -m venv "$work/venv" 2> /dev/null || echo "SKIPPED: no venv (apt install python3-venv): peers are left out"
peers='orjson ijson'
[ -n "${QUICK:-}" ] || peers="$peers viztracer jax pysimdjson"
for peer in $peers; do
  [ -x "$work/venv/bin/python" ] || break
  "$work/venv/bin/python" -c "import ${peer#py}" 2> /dev/null || "$work/venv/bin/pip" install -q --disable-pip-version-check "$peer" 2> /dev/null ||
    echo "SKIPPED: $peer cannot be installed"
done
python=$work/venv/bin/python
[ -x "$python" ] || python=python3
[ -n "${QUICK:-}" ] || "$python" "$(dirname "$0")/bench.py" "$TRACEKIT" "$B/tests/gen/gen" "$B/tests/bench/stages" "$work" || exit 1
echo
"$python" "$(dirname "$0")/growth.py" "$TRACEKIT" "$B/tests/gen/gen" "$B/tests/bench/stages" "$B/tests/bench/limits" "$work" || exit 1
echo
[ -z "${QUICK:-}" ] || exit 0
for peer in cores peers asked perfetto shrink xplane report sql; do
  "$python" "$(dirname "$0")/$peer.py" "$TRACEKIT" "$B/tests/gen/gen" "$work" "${B%/san}/interop" || exit 1
  echo
done
"$B/tests/property/cluster" --table
echo
"$B/tests/bench/numbers"
