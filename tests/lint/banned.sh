#!/usr/bin/env bash
# Calls that the library must not make: unbounded, locale-bound or hidden-state ones, and those that print, exit or abort.
set -u
cd "$(dirname "$0")/../.." || exit 1
calls='atoi|atol|atof|strtod|strtof|sprintf|vsprintf|strcpy|strtok|gets|exit|_exit|abort|assert|printf|vprintf|puts|putchar|perror|setlocale|alloca'
strip() { # comments and strings out, line numbers kept
  python3 -c '
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
blank = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.S)
print(blank.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text), end="")' "$1"
}
# num.c prints a double by trying the shortest text that reads back as the same: strtod sees our own text, never an input.
allowed() { case $1:$2 in lib/base/num.c:*strtod*) true ;; *) false ;; esac; }
status=0
for file in lib/*.[ch] lib/*/*.[ch]; do
  [ -e "$file" ] || continue
  # Attributes such as format(printf, ...) have no parenthesis of their own after the word.
  if found=$(strip "$file" | grep -nE "(^|[^A-Za-z0-9_>.])($calls)[[:space:]]*\("); then
    while IFS= read -r line; do
      allowed "$file" "$line" || { echo "$file:$line"; status=1; }
    done <<< "$found"
  fi
  if found=$(strip "$file" | grep -nE '\b(stdout|stderr)\b'); then
    printf '%s\n' "$found" | sed "s|^|$file:|"
    status=1
  fi
done
exit $status
