#!/usr/bin/env bash
# Checks that tracekit(3) names exactly the functions of the library, and that man page formatters report no problem.
set -u
cd "$SRC" || exit 1
passed=0 failed=0
check() { if [ -z "$2" ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $1: $2"; fi; }
has=$(sed -n 's/^function\t\([a-z_]*\)\t.*/\1/p' tests/property/abi.tsv | sort)
names=$(grep -oE '\btk_[a-z_]+' docs/tracekit.3 | grep -vxE 'tk_(err|trace|id)' | sort -u)
check 'lacks' "$(comm -23 <(echo "$has") <(echo "$names") | tr '\n' ' ')"
check 'has of its own' "$(comm -13 <(echo "$has") <(echo "$names") | tr '\n' ' ')"
if command -v groff > /dev/null; then
  for page in docs/tracekit.3; do check "$page" "$(groff -man -Tutf8 -ww -rF0 -z "$page" 2>&1)"; done
else
  echo 'SKIPPED: groff is not installed'
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
