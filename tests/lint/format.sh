#!/usr/bin/env bash
# Checks rules for every text file that do not depend on the installed clang-format: a newline at the end, no CR, shell that
# parses.
set -u
cd "$(dirname "$0")/../.." || exit 1
status=0
sources=$(find lib cli tests -name '*.[ch]')
for file in Makefile ./*.md .ci/* $sources tests/*.sh tests/*/*.sh tests/*/*.py tests/*/*.tsv; do
  [ -f "$file" ] || continue
  [ -z "$(tail -c 1 "$file")" ] || { echo "$file: no newline at the end"; status=1; }
  ! grep -q $'\r' "$file" || { echo "$file: a carriage return"; status=1; }
done
for file in .ci/* tests/*.sh tests/*/*.sh; do
  [ -f "$file" ] || continue
  bash -n "$file" || status=1
done
exit $status
