#!/usr/bin/env bash
# Checks that libarchive is loaded only when an archive or a compressed stream is opened, and tests the commands without it: a
# file that cannot be loaded replaces it.
set -u
: "${B:?}" "${TRACEKIT:?}" "${FIXTURES:?}"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
ok() { # WHAT COMMAND...
  local what=$1
  shift
  if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "not ok  $what"; fi
}

name=$(tr ' ' '\n' < "$B/flags" | sed -n 's/^-DTK_LATE_ARCHIVE=//p')
grep -qa "${name:-no such name}" "$TRACEKIT" || { echo 'SKIPPED: this build links libarchive' && exit 0; }
: > "$work/$name"
without() { LD_LIBRARY_PATH=$work "$TRACEKIT" "$@" > "$work/out" 2> "$work/err"; }
fails() { # STATUS COMMAND...
  local status=$1
  shift
  "$@"
  [ $? -eq "$status" ] && grep -q 'libarchive is required' "$work/err" && [ ! -s "$work/out" ]
}

plain=$FIXTURES/json/odd/pid0.json zip=$FIXTURES/nasty/archive/single.zip xz=$FIXTURES/nasty/gzip/xz.json.xz
ok 'a plain file needs no libarchive' without info "$plain"
gzip -c "$plain" > "$work/a.json.gz"
ok 'gzip needs none' without info "$work/a.json.gz"
ok 'with it, an archive is read' sh -c "'$TRACEKIT' info '$zip' > '$work/out' 2>&1"
ok 'without it, an archive is refused' fails 3 without info "$zip"
ok 'without it, xz is refused' fails 3 without info "$xz"

mkdir "$work/d" && cp "$zip" "$plain" "$work/d"
without list "$work/d"
ok 'the other file of a folder with an archive is listed' grep -q pid0 "$work/out"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
