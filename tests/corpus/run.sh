#!/usr/bin/env bash
# make corpus CORPUS=DIR - every Chrome JSON file below DIR: read, written, read again by another parser, and compared as values.
# What is not JSON to Python is only read and written: it must end with one of the documented statuses.
set -u
: "${CORPUS:?say where the traces are: make corpus CORPUS=DIR}" "${TRACEKIT:?}"
list=$(mktemp) out=$(mktemp -d) || exit 1
trap 'rm -rf "$list" "$out"' EXIT
find -L "$(realpath "$CORPUS")" -type f \( -name '*.json' -o -name '*.json.gz' -o -name '*.jsonl' \) -print0 | sort -z > "$list"
failed=0 read=0 refused=0
while IFS= read -r -d '' file; do
  timeout 300 "$TRACEKIT" convert -q --force "$file" -o "$out/x.json" 2> "$out/err"
  case $? in
    0) read=$((read + 1)) ;;
    3) refused=$((refused + 1)); cat "$out/err" ;;
    *) failed=$((failed + 1)); echo "FAILED $file"; cat "$out/err" ;;
  esac
done < "$list"
echo "$read read, $refused refused, $failed failed otherwise"
xargs -0 -a "$list" python3 "$SRC/tests/property/roundtrip.py"
status=$?
[ "$failed" -eq 0 ] && [ "$status" -eq 0 ]
