#!/usr/bin/env bash
# Builds the command with the example reader of docs/example_format as one more format: its folder, and one line in the table. Then
# checks what follows from that: detection, help, conversion, repairs, --strict, damage at every byte.
set -u
: "${B:?}" "${SRC:?}"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
ok() { # WHAT COMMAND...
  local what=$1
  shift
  if "$@" > "$work/out" 2>&1; then passed=$((passed + 1)); else
    failed=$((failed + 1))
    echo "not ok  $what" && head -5 "$work/out"
  fi
}

mkdir -p "$work/lib/format/spans"
cp "$SRC/docs/example_format/spans.c" "$work/lib/format/spans/"
sed 's/^\( *\)&format_speedscope,$/&\n\1\&format_spans,/; s/^#include "format.h"/&\nextern const struct format format_spans;/' \
  "$SRC/lib/format/format.c" > "$work/lib/format/format.c"
ok 'the table has one more row' grep -q '^ *&format_spans,' "$work/lib/format/format.c"
flags=(-std=c11 -pthread -O1 -g -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DTRACEKIT_INSIDE -I"$SRC/lib" -I"$SRC/lib/format" -I"$B/proto" -Wall -Wextra -Werror)
case $B in */san) flags+=(-fsanitize=address,undefined) ;; */tsan) flags+=(-fsanitize=thread) ;; esac
for f in format/spans/spans format/format; do
  ok "compiles $f.c" "${CC:-cc}" "${flags[@]}" -c "$work/lib/$f.c" -o "$work/$(basename "$f").o"
done
objects=("$B"/obj/proto/*.o)
for f in $(cd "$SRC" && find lib cli -name '*.c' ! -path lib/format/format.c); do objects+=("$B/obj/${f%.c}.o"); done
libs=$(pkg-config --libs zlib libzstd libarchive libpcre2-8 libprotobuf-c sqlite3)
for optional in libisal libedit; do libs+=" $(pkg-config --libs "$optional" 2>/dev/null)"; done
# shellcheck disable=SC2086
ok 'links' "${CC:-cc}" "${flags[@]}" "$work"/*.o "${objects[@]}" -o "$work/tracekit" $libs -lm
[ "$failed" -eq 0 ] || { echo "$passed passed, $failed failed" && exit 1; }

tracekit=$work/tracekit
printf '#spans 1\nmain\t10.5\t3\tload\nmain\t11\t2\tparse\nio\t1e1\t0.000001\tread\n' > "$work/a.spans"
ok 'help lists it' sh -c "'$tracekit' help formats | grep -q 'example of spans'"
ok 'is detected' sh -c "'$tracekit' info --json '$work/a.spans' | grep -q '\"format\": \"spans\"'"
ok 'converts' sh -c "'$tracekit' convert '$work/a.spans' -f json | tr -d ' \n' | grep -q '\"ts\":10.5' "
ok 'nests' sh -c "'$tracekit' tree --csv '$work/a.spans' 2>/dev/null || '$tracekit' tree '$work/a.spans' | grep -q parse"
ok 'keeps a picosecond' sh -c "'$tracekit' top --csv '$work/a.spans' | grep -q '\"read\",1,0,0,0,0,0.001,'"
gzip -k "$work/a.spans"
ok 'reads it compressed' sh -c "'$tracekit' info '$work/a.spans.gz' | grep -q 3"
printf 'nonsense\nmain\tx\t1\ta\n' >> "$work/a.spans"
ok 'counts what it skips' sh -c "'$tracekit' check '$work/a.spans' 2>&1 | grep -q 'invalid line: skipped (2 times'"
ok 'refuses it if strict' sh -c "! '$tracekit' convert --strict '$work/a.spans' -f json -o '$work/b.json' 2>/dev/null && [ ! -e '$work/b.json' ]"
size=$(stat -c %s "$work/a.spans")
damage() {
  local n
  for ((n = 9; n <= size; n++)); do
    head -c "$n" "$work/a.spans" | "$tracekit" info - > /dev/null 2>&1 || return 1
  done
}
ok 'reads it cut at every byte' damage
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
