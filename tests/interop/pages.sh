#!/usr/bin/env bash
# Checks the page of `report` and the drawing of `tree` in a headless Chromium: pages.mjs defines the checks. Screenshots are
# kept in build/interop/pages.
#
# Needs a chromium on the PATH (or CHROMIUM=); otherwise this is reported as SKIPPED.
set -u
: "${TRACEKIT:?}" "${FIXTURES:?}" "${SRC:?}" "${INTEROP:?}" "${NODE:?}"
chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome)}
[ -n "$chromium" ] || { echo "SKIPPED: interop/pages: there is no chromium to open pages in"; exit 0; }

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
gpu=$FIXTURES/perfetto/small.pftrace.gz
"$TRACEKIT" report -q "$gpu" --html "$work/gpu.html" &&
  "$TRACEKIT" report -q "$FIXTURES"/json/torch/ddp4_full --html "$work/ranks.html" &&
  "$TRACEKIT" report -q "$FIXTURES/xplane/synth/gpu.xplane.pb" --html "$work/planes.html" &&
  "$TRACEKIT" report -q "$FIXTURES/json/jax/mlp_train/vm.trace.json.gz" --html "$work/jax.html" &&
  "$TRACEKIT" report -q "$FIXTURES"/json/viz/procs --html "$work/viz.html" &&
  "$TRACEKIT" report -q "$FIXTURES/cpuprofile/node.cpuprofile" --html "$work/node.html" &&
  "$TRACEKIT" tree -q "$gpu" --svg > "$work/flame.svg" || { echo "0 passed, 1 failed"; exit 1; }

passed=0 failed=0
while IFS= read -r line; do
  case $line in
    *'"ok":true'*) passed=$((passed + 1)) ;;
    *) failed=$((failed + 1)); echo "FAIL $line" ;;
  esac
done < <(timeout 200 "$NODE" "$SRC/tests/interop/pages.mjs" "$chromium" "$INTEROP/pages" "$work"/*.html "$work/flame.svg")
[ $((passed + failed)) -eq 21 ] || { echo "FAIL $((passed + failed)) looks, not 21"; failed=$((failed + 1)); }
echo "screenshots: $INTEROP/pages"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
