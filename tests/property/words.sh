#!/usr/bin/env bash
# Keeps the wording of the command in one place: tests/words/messages.txt has every message in the sources, tests/words/help.txt
# every help text. No other test depends on wording. GOLDEN=1 rewrites both.
set -u
: "${TRACEKIT:?}" "${SRC:?}"
words=$SRC/tests/words
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LC_ALL=C.UTF-8 TERM=dumb COLUMNS=80
passed=0 failed=0

list_help() {
  local topic command
  echo '$ tracekit help' && "$TRACEKIT" help
  for topic in $("$TRACEKIT" help | sed -n '/^Topics:/,/^$/p' | awk 'NF > 1 && !/^Topics/ { print $1 }'); do
    printf '\n$ tracekit help %s\n' "$topic" && "$TRACEKIT" help "$topic"
  done
  for command in $("$TRACEKIT" __docs commands); do
    printf '\n$ tracekit help %s\n' "$command" && "$TRACEKIT" help "$command"
  done
}

list_messages() { python3 "$SRC/tests/lint/messages.py" | sed -E 's/^([^:]*):[0-9]+/\1/'; }

for name in messages help; do
  list_$name > "$work/$name.txt"
  [ -z "${GOLDEN:-}" ] || cp "$work/$name.txt" "$words/$name.txt"
  if diff -u "$words/$name.txt" "$work/$name.txt"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done
[ "$failed" -eq 0 ] || echo 'make golden T=words writes the wording that is meant'
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
