#!/usr/bin/env bash
# make test-wheel - the wheel as who installs it meets it: into an empty environment, then its own tests, the documentation's examples,
# and the tests of the command with the command that came along.  Data frames and notebooks come from PyPI.
set -u
: "${B:?run me by make test-wheel}" "${SRC:?}"
venv=$B/test-wheel
rm -rf "$venv"
python3 -m venv "$venv" || exit 1
"$venv/bin/pip" install -q "$1" || exit 1
"$venv/bin/python" "$SRC/tests/python/alone.py" || exit 1
if ! "$venv/bin/pip" install -q pytest pandas polars pyarrow duckdb nbclient nbformat ipykernel; then
  echo "test-wheel: SKIPPED: the packages for data frames cannot be installed"
  exit 0
fi
out=$("$venv/bin/python" -m pytest -q -p no:cacheprovider "$SRC/tests/python" 2>&1)
status=$?
echo "$out" | tail -40
good=$(echo "$out" | grep -oE '[0-9]+ passed' | tail -1) bad=$(echo "$out" | grep -oE '[0-9]+ failed' | tail -1)
echo "${good:-0 passed}, ${bad:-$((status != 0)) failed}"
exit $status
