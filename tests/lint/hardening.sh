#!/usr/bin/env bash
# The guards of HARDEN (Makefile) are in what was built: a flag that a compiler no longer takes would go unnoticed.
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
# A frame of more than a page is probed page by page.
grep -q -- '-fstack-clash-protection' "$B/flags" || fault "$B: built without -fstack-clash-protection"
exit $status
