#!/usr/bin/env bash
# make corpus CORPUS=DIR - reads, writes and reads again every trace of an external corpus: corpus.py says what is held against what.
# run.sh --self-test: readers that do one thing wrong must be caught, on a fixture; needs no corpus.
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
python3 "$SRC/tests/corpus/corpus.py" "$(realpath "$CORPUS")"
