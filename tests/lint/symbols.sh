#!/usr/bin/env bash
# Checks symbols. The libraries export only tk_*. The library has no writable data except the secret for hashes, which its
# constructor generates and nothing changes afterwards; the command has none except the data of its signal handlers and the functions
# of libedit, whose callbacks take no user pointer.
set -u
B=${B:-build}
cd "$(dirname "$0")/../.." || exit 1
status=0
fault() { echo "$1"; status=1; }

exported=$(nm -D --defined-only "$B/libtracekit.so" | awk '$2 != "A" {print $3}' | sed 's/@.*//') # A: a symbol version
[ -n "$exported" ] || fault "$B/libtracekit.so exports nothing"
other=$(printf '%s\n' "$exported" | grep -v '^tk_')
[ -z "$other" ] || fault "$B/libtracekit.so exports: $(echo $other)"
other=$(nm -g --defined-only "$B/libtracekit.a" | awk 'NF == 3 {print $3}' | grep -v '^tk_')
[ -z "$other" ] || fault "$B/libtracekit.a exports: $(echo $other)"

# Every function that the header declares must exist.
for name in $(grep -oE -h '^TK_API .*' lib/tracekit*.h | grep -oE 'tk_[a-z_]+\(' | tr -d '('); do
  printf '%s\n' "$exported" | grep -qx "$name" || fault "tracekit.h declares $name, which the library does not define"
done

# Lists writable symbols: d/D data, b/B zeroed. Constant tables with relocations are 'd' in .data.rel.ro, which is read-only at
# run time.
writable() { # FILE
  objdump -t "$1" 2>/dev/null | awk '$0 ~ /[[:space:]]\.(data|bss)([.][a-zA-Z_0-9]+)*[[:space:]]/ && $0 ~ / O / && $0 !~ /\.data\.rel\.ro/ {print $NF}'
}
while read -r object; do
  [ -e "$object" ] || fault "$object: there is no such object"
  for name in $(writable "$object"); do
    case $object:$name in
      */cli/shared/interrupt.o:caught | */cli/shared/interrupt.o:noticed | */cli/shared/interrupt.o:taken | */cli/sql/line.o:libedit | */lib/base/hash.o:hash_secret) ;;
      *) fault "$object: writable global '$name'" ;;
    esac
  done
done < <(find lib cli -name '*.c' | sed "s|^|$B/obj/|; s|c$|o|")

# If symbols cannot be made local, as when cross-compiling, the command is linked with the library's plain objects.
both=$(for part in cli lib; do find "$B/obj/$part" -name '*.o' -exec nm -g --defined-only {} + | awk 'NF == 3 {print $3}' | sort -u; done | sort | uniq -d)
[ -z "$both" ] || fault "both the command and the library define: $(echo $both)"
exit $status
