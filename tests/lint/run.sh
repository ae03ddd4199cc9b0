#!/usr/bin/env bash
# Runs every lint and prints a summary; the last line is "N passed, N failed".
set -u
cd "$(dirname "$0")" || exit 1
passed=0 failed=0
for script in layers circles format_names length structure banned symbols hardening comments english docs manual messages fixtures format selftest; do
  if out=$(./$script.sh 2>&1); then
    passed=$((passed + 1))
    [ -z "$out" ] || printf '%s\n' "$out"
  else
    failed=$((failed + 1))
    printf 'FAIL lint/%s\n%s\n' "$script" "$out"
  fi
done
echo "lint: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
