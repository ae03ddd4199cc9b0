#!/usr/bin/env bash
# make test-wheel - tests the wheel as installed by a user: in an empty environment, with its own tests, the documentation's
# examples, and the tests of the command with the wheel's command. Data frame packages and notebooks come from PyPI. Then tests
# the same package built from its source distribution, which may need only the system's libraries.
set -u
: "${B:?run me by make test-wheel}" "${SRC:?}"
venv=$B/test-wheel
rm -rf "$venv"
python3 -m venv "$venv" || exit 1
"$venv/bin/pip" install -q "$1" || exit 1
"$venv/bin/python" "$SRC/tests/python/alone.py" || exit 1
if ! "$venv/bin/pip" install -q pytest pandas polars pyarrow duckdb "fsspec[http]" nbclient nbformat ipykernel pyyaml; then
  echo "test-wheel: SKIPPED: the packages for data frames cannot be installed"
  exit 0
fi
out=$(TRACEKIT_WHEEL=$(realpath "$1") "$venv/bin/python" -m pytest -q -p no:cacheprovider "$SRC/tests/python" 2>&1)
status=$?
echo "$out" | tail -40
good=$(echo "$out" | grep -oE '[0-9]+ passed' | tail -1) bad=$(echo "$out" | grep -oE '[0-9]+ failed' | tail -1)
good=${good%% *} bad=${bad%% *}
good=${good:-0} bad=${bad:-$((status != 0))}

check() { # WHAT COMMAND...
  local what=$1
  shift
  if "$@"; then good=$((good + 1)); else echo "FAIL $what" && bad=$((bad + 1)); fi
}

from_source() {
  local work=$B/test-sdist
  rm -rf "$work"
  "$venv/bin/pip" install -q build || return 1
  "$venv/bin/python" -m build -q --sdist -o "$work" "$SRC" || return 1
  python3 -m venv "$work/venv" || return 1
  # Clears flags and folders of the calling make.
  (cd "$work" && env -u MAKEFLAGS -u MAKELEVEL -u MAKEOVERRIDES -u BUILD -u CFLAGS venv/bin/pip install -q ./tracekit-*.tar.gz) || return 1
  "$work/venv/bin/python" "$SRC/tests/python/alone.py"
}

types() {
  "$venv/bin/pip" install -q mypy pyright || { echo "types: SKIPPED: mypy and pyright cannot be installed"; return 0; }
  (cd "$SRC" && "$venv/bin/mypy" -p tracekit && "$venv/bin/pyright" --pythonpath "$venv/bin/python")
}

check "types" types
check "five million events as a frame" "$venv/bin/python" "$SRC/tests/python/large.py"
check "the source distribution" from_source
echo "$good passed, $bad failed"
[ "$bad" -eq 0 ]
