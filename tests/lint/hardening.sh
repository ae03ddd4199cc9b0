#!/usr/bin/env bash
# Checks that the build contains the guards of HARDEN (Makefile): a flag that a compiler no longer accepts would go unnoticed.
set -u
B=${B:-build}
cd "$(dirname "$0")/../.." || exit 1
status=0
fault() { echo "$1"; status=1; }

dynamic=$(readelf -dlW "$B/tracekit")
grep -q 'BIND_NOW' <<< "$dynamic" || fault "$B/tracekit: not linked with -z now"
grep -q 'GNU_RELRO' <<< "$dynamic" || fault "$B/tracekit: not linked with -z relro"
grep -E 'GNU_STACK' <<< "$dynamic" | grep -q 'RWE' && fault "$B/tracekit: its stack can be executed"
nm -D "$B/tracekit" | grep -q '__stack_chk_fail' || fault "$B/tracekit: built without -fstack-protector"
nm -D "$B/tracekit" | grep -q '__memcpy_chk' || fault "$B/tracekit: built without _FORTIFY_SOURCE"
[ "$(uname -m)" = x86_64 ] || exit $status

while read -r object; do
  readelf -nW "$object" | grep -q 'IBT, SHSTK' || fault "$object: built without -fcf-protection"
done < <(find "$B/obj/lib" "$B/obj/cli" -name '*.o')
# Frames larger than a page are probed page by page.
grep -q -- '-fstack-clash-protection' "$B/flags" || fault "$B: built without -fstack-clash-protection"
exit $status
