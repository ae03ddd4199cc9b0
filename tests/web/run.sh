#!/usr/bin/env bash
# make test-web - tests the page (web/) in headless Chromium and Firefox: web.mjs defines the cases.
#
# The browsers run without a network, if this system lets a user make one with nothing but the loopback device. Screenshots are kept in
# build/test-web. T=WORD runs the cases with WORD in their name; MB=N is the size of the large trace.
#
# Needs node, openssl, and chromium and firefox on the PATH (or CHROMIUM=, FIREFOX=); a missing one is reported as SKIPPED.
set -u
: "${B:?run me by make test-web}" "${SRC:?}" "${NATIVE:?}" "${FIXTURES:?}" "${GEN:?}"
export SITE=$SRC/dist/web SINGLE=$SRC/dist/tracekit.html OUT=$B/test-web NATIVE FIXTURES GEN T="${T:-}"
passed=0 failed=0

for tool in node openssl; do
  command -v $tool > /dev/null && continue
  echo "SKIPPED: $tool is not installed, so nothing of the page was tested"
  echo "0 passed, 0 failed"
  exit 0
done
first() { for name in "$@"; do command -v "$name" && return; done; }
chromium=${CHROMIUM:-$(first chromium chromium-browser google-chrome)}
firefox=${FIREFOX:-$(first firefox firefox-esr)}
mkdir -p "$OUT"

# Firefox is controlled through a WebSocket, which node 20 has only on request.
socket=''
node -e 'process.exit(typeof WebSocket === "undefined" ? 1 : 0)' || socket=--experimental-websocket
alone=(unshare -n sh -c 'ip link set lo up && exec "$@"' sh)
if "${alone[@]}" true 2> /dev/null; then
  echo "the browsers run without a network"
else
  alone=()
  echo "SKIPPED: no network: unshare is not permitted, so the browsers could reach one"
fi

try() { # KIND PROGRAM
  local log=$OUT/$1.log counts
  if [ -z "$2" ]; then
    echo "SKIPPED: $1 is not installed, so the page was not tested in it"
    return
  fi
  # shellcheck disable=SC2086
  timeout 1200 "${alone[@]}" node $socket "$SRC/tests/web/web.mjs" "$1" "$2" 2>&1 | tee "$log"
  counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1)
  if [ -z "$counts" ]; then
    echo "FAIL $1: the test ended early"
    failed=$((failed + 1))
    return
  fi
  passed=$((passed + ${counts%% *}))
  counts=${counts#*, }
  failed=$((failed + ${counts%% *}))
}
try chromium "$chromium"
try firefox "$firefox"
echo "screenshots: $OUT"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
