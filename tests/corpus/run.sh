#!/usr/bin/env bash
# make corpus CORPUS=DIR - tests every trace of an external corpus, in nine steps, and prints a table of their counts:
#
#   json     read, written and read again: corpus.py lists the comparisons
#   chains   every chain of formats keeps every event, or reports the loss: tests/property/chains.py
#   xplane   compared with the output of jaxlib and xprof for the same files, and written again: tests/property/xplane.py
#   shrink   totals survive, on JSON files of up to SHRINK_MOST bytes (default 20 MB): tests/property/shrink.py
#   perfetto unmodelled data is restored byte for byte, also after a second round trip: tests/property/kept_perfetto.py
#   align    ranks of real jobs with falsified clocks: tests/corpus/align.py
#   ascend   reports of Ascend's traces, compared with the summary in the traces: tests/corpus/ascend.py
#   databases of nsys, ROCm and Ascend: number and sum of spans by table, by SQL: tests/corpus/databases.py
#   manifest our model of manifest rules, compared with Perfetto's own cases: tests/corpus/manifest.py
#
# run.sh --self-test: readers with one deliberate bug must be detected, on a fixture; needs no corpus.
set -u
: "${B:?run me by make corpus}" "${SRC:?}" "${TRACEKIT:?}" "${FIXTURES:?}"
export B SRC TRACEKIT FIXTURES JOBS=${JOBS:-2}
. "$SRC/tests/support/build.sh"
build_programs || { echo "corpus: the test programs cannot be built"; exit 1; }
export PATHS=$TESTS/paths

self_test() { BROKEN=$TESTS/broken BROKEN_PATHS=$TESTS/broken-paths python3 "$SRC/tests/corpus/corpus.py" --self-test; }

[ "${1:-}" = --self-test ] && { self_test; exit; }
if [ -z "${CORPUS:-}" ]; then
  echo "SKIPPED: corpus: say where the traces are: make corpus CORPUS=DIR"
  exit 0
fi
self_test || { echo "corpus: the self-test failed"; exit 1; }
corpus=$(realpath "$CORPUS") log=$(mktemp -d) status=0
trap 'rm -rf "$log"' EXIT

step() { # NAME COMMAND...
  local name=$1
  shift
  "$@" 2>&1 | tee "$log/$name"
  [ "${PIPESTATUS[0]}" = 0 ] || { status=1; echo "corpus: $name: failed" | tee -a "$log/$name"; }
}

xplane() {
  [ -n "$(find -L "$corpus" -name '*.xplane.pb' -print -quit)" ] || { echo "SKIPPED: there is no XPlane in the corpus"; return 0; }
  python3 "$SRC/tests/property/xplane.py" "$corpus"
}

shrink() {
  local most=${SHRINK_MOST:-20000000}
  python3 "$SRC/tests/support/sources.py" "$corpus" "$most" > "$log/small" || return 1
  [ -s "$log/small" ] || { echo "SKIPPED: there is no JSON of up to $most bytes"; return 0; }
  xargs -0 python3 "$SRC/tests/property/shrink.py" < "$log/small"
}

step json python3 "$SRC/tests/corpus/corpus.py" "$corpus"
step chains python3 "$SRC/tests/property/chains.py" "$corpus"
step xplane xplane
step shrink shrink
step perfetto python3 "$SRC/tests/property/kept_perfetto.py" "$corpus"
step align python3 "$SRC/tests/corpus/align.py" "$corpus"
step ascend python3 "$SRC/tests/corpus/ascend.py" "$corpus"
step databases python3 "$SRC/tests/corpus/databases.py" "$corpus"
step manifest python3 "$SRC/tests/corpus/manifest.py" "$corpus"
echo
for name in json chains xplane shrink perfetto align ascend databases manifest; do printf '%-9s %s\n' "$name" "$(tail -n 2 "$log/$name" | paste -sd';' | sed 's/;/; /')"; done
exit $status
