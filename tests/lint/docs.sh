#!/usr/bin/env bash
# The command section of the README is what the rows say; --write puts it there.
set -u
B=${B:-build}
cd "$(dirname "$0")/../.." || exit 1
new=$(mktemp) || exit 1
trap 'rm -f "$new"' EXIT
begin='<!-- commands: made by tests/lint/docs.sh --write -->' end='<!-- end of commands -->'
grep -qF "$begin" README.md && grep -qF "$end" README.md || { echo "README.md: the markers of the command section are missing"; exit 1; }
{
  awk -v mark="$begin" '{ print } $0 == mark { exit }' README.md
  echo
  "$B/tracekit" __docs markdown || exit 1
  echo
  awk -v mark="$end" '$0 == mark { on = 1 } on' README.md
} > "$new"
if [ "${1:-}" = --write ]; then cat "$new" > README.md; exit 0; fi
diff -u README.md "$new" || { echo "README.md is behind: tests/lint/docs.sh --write"; exit 1; }
