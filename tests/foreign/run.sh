#!/usr/bin/env bash
# make test-aarch64 - tests a wheel for another machine: the libc symbols that its files need, which auditwheel does not check;
# its command, under qemu, against the expected output; the library with a C program, against the output of the same program on
# this machine.
set -u
: "${B:?run me by make test-aarch64}" "${SRC:?}" "${WHEEL:?}" "${CPU:?}"
work=$B/test-$CPU
root=/usr/$CPU-linux-gnu
good=0 bad=0
check() { # WHAT COMMAND...
  local what=$1
  shift
  if "$@"; then good=$((good + 1)); else echo "FAIL $what" && bad=$((bad + 1)); fi
}

qemu=$(command -v "qemu-$CPU-static")
if [ -z "$qemu" ] || [ ! -d "$root/lib" ]; then
  echo "SKIPPED: qemu-user-static or libc6-arm64-cross is not installed"
  echo "0 passed, 0 failed"
  exit 0
fi
rm -rf "$work"
mkdir -p "$work/wheel"
python3 -m zipfile -e "$WHEEL" "$work/wheel" || exit 1
files=$(find "$work/wheel" -name '*.so' -o -path '*/scripts/tracekit')

# manylinux2014 has glibc 2.17.
of_this_machine() { readelf -h "$1" | grep -q AArch64; }
asks_for_little() {
  local most
  most=$(readelf -V "$1" | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1)
  [ -n "$most" ] && [ "$(printf '%s\nGLIBC_2.17\n' "$most" | sort -V | tail -n 1)" = GLIBC_2.17 ]
}
needs_libc_alone() { ! readelf -d "$1" | grep NEEDED | grep -vE '\[(libc|libm|libpthread|libdl|ld-linux-[a-z0-9-]+)\.so\.[0-9]\]'; }
for file in $files; do
  check "$file: is of $CPU" of_this_machine "$file"
  check "$file: symbols of glibc 2.17 at most" asks_for_little "$file"
  check "$file: needs libc alone" needs_libc_alone "$file"
done

# emulated FILE WRAPPER: writes the script WRAPPER, which runs FILE under qemu, under the name by which the script was called.
emulated() {
  chmod +x "$1"
  printf '#!/bin/sh\nexec "%s" -0 "$0" -L "%s" "%s" "$@"\n' "$qemu" "$root" "$1" > "$2"
  chmod +x "$2"
}
emulated "$(find "$work/wheel" -path '*/scripts/tracekit')" "$work/tracekit"
version=$("$work/tracekit" --version | head -n 1)
check "the command says its version: $version" [ "$version" = "tracekit $(sed -n 's/^.define TK_VERSION "\(.*\)"/\1/p' "$SRC/lib/tracekit.h")" ]

# Links the C program to the shared library, as on a system with the package installed.
cross=build/package/linux-$CPU
"$SRC/packaging/cross.sh" "linux-$CPU" make -s -C "$SRC" "$cross/make/libtracekit.so.0" > "$work/log" 2>&1 || { tail -n 20 "$work/log"; exit 1; }
"$SRC/$cross/bin/cc" -I"$SRC/lib" "$SRC/tests/foreign/graph.c" -L"$SRC/$cross/make" -l:libtracekit.so.0 -Wl,-rpath,"$SRC/$cross/make" \
  -o "$work/graph.foreign" || exit 1
emulated "$work/graph.foreign" "$work/graph"
${CC:-cc} -I"$SRC/lib" "$SRC/tests/foreign/graph.c" -L"$B" -l:libtracekit.so.0 -Wl,-rpath,"$B" -o "$work/graph.here" || exit 1
cd "$SRC/fixtures" || exit 1
mapfile -t traces < <(find json xplane perfetto nasty -type f -size -100k ! -name '*.tsv' ! -name '*.md' | sort)
"$work/graph.here" "${traces[@]}" > "$work/here.txt"
here=$?
"$work/graph" "${traces[@]}" > "$work/there.txt"
there=$?
check "the library reads and writes ${#traces[@]} files here ($here) and there ($there)" [ $here -eq 0 -a $there -eq 0 ]
# The number of bytes inflated before damage is detected depends on the machine's inflater.
said() { sed -E 's/damaged at byte [0-9]+ of the compressed file, after [0-9]+ bytes/damaged/' "$1"; }
check "as it does here" diff <(said "$work/here.txt") <(said "$work/there.txt")
[ "$(wc -l < "$work/here.txt")" -gt 10000 ] || { echo "FAIL there is little to compare"; bad=$((bad + 1)); }
echo "$good passed, $bad failed"
[ "$bad" -eq 0 ]
