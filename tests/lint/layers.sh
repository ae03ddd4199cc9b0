#!/usr/bin/env bash
# The include rule: who may see whom.  lib/*.c (load, save, drivers) may see everything.
#
#   cli -> tracekit.h only     format -> graph io base     op -> graph base     io -> base     graph -> base
#   base -> nothing but the public header
set -u
cd "$(dirname "$0")/../.." || exit 1

allowed() {
  case $1 in
    base) echo 'base' ;;
    io) echo 'io base' ;;
    graph) echo 'graph base' ;;
    format) echo 'format graph io base' ;;
    op) echo 'op graph base' ;;
    *) echo '*' ;;
  esac
}

status=0
bad() { echo "$1: includes $2, which ${3}"; status=1; }

# FILE LINE-INCLUDE pairs of quoted includes.
includes() { grep -HoE '^[[:space:]]*#[[:space:]]*include[[:space:]]+"[^"]+"' "$@" 2>/dev/null | sed -E 's/^([^:]+):.*"([^"]+)"$/\1 \2/'; }

while read -r file name; do
  [ -n "$file" ] || continue
  case $file in
    cli/*)
      [ "$name" = tracekit.h ] && continue
      [ "$name" = "${name##*/}" ] && [ -e "cli/$name" ] || bad "$file" "$name" "is not tracekit.h or a header of cli/" ;;
    lib/*/*)
      folder=${file#lib/} folder=${folder%%/*}
      path=$(realpath -m --relative-to=. "$(dirname "$file")/$name")
      [ -e "$path" ] || path=lib/$name
      [ "$path" = lib/tracekit.h ] || [ "$path" = lib/tracekit_ops.h ] && continue
      other=${path#lib/} other=${other%%/*}
      case $other in *.pb-c.h) continue ;; esac
      case " $(allowed "$folder") " in *" $other "*) ;; *) bad "$file" "$name" "lib/$folder may not see" ;; esac ;;
  esac
done < <(includes cli/*.[ch] lib/*/*.[ch])
exit $status
