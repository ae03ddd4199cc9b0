#!/usr/bin/env bash
# Tests typical mistakes of newcomers and the replies; mistakes.txt is the table. Each command runs separately in a folder
# with
#
#   r0.json r0.json.gz r1.json.gz   two ranks         merged.json.gz   a merge of both     exists.json   a trace without events
#   noext RANK.JSON.GZ r0.json.zst  rank 0 again      dir              an empty folder     empty.json    no bytes
#   files of other programs (others/)
#
# Compares the first lines of the output, by their values only (values.awk), without empty lines and file sizes. GOLDEN=1
# rewrites the replies.
set -u
: "${TRACEKIT:?}" "${FIXTURES:?}" "${SRC:?}"
table=$SRC/tests/cli/mistakes.txt
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/all" && ln -s "$TRACEKIT" "$work/bin/tracekit"
export PATH=$work/bin:$PATH LC_ALL=C.UTF-8 TERM=dumb
LINES_SHOWN=6

give_files() {
  cp "$FIXTURES/json/torch/ddp4_full/rank0.json.gz" r0.json.gz && cp "$FIXTURES/json/torch/ddp4_full/rank1.json.gz" r1.json.gz
  gzip -dc r0.json.gz > r0.json && cp r0.json noext && cp r0.json.gz RANK.JSON.GZ
  tracekit convert -q r0.json -o r0.json.zst && tracekit merge -q r0.json.gz r1.json.gz -o merged.json.gz
  mkdir dir others && : > empty.json && echo '[]' > exists.json
  cd others || exit
  printf 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n' > lfs.json.gz
  printf '<!DOCTYPE html>\n<html><body>404</body></html>\n' > page.json
  printf 'PERFILE2\150\0\0\0\0\0\0\0' > perf.data
  printf '\30\0\0\0\0\0\0\0\243\177\113\42\11\0\0\300\223\301\331\331\101\32\15brain.Event:2' > events.out.tfevents.1
  printf 'SQLite format 3\0\20\0\1\1\0' > report.sqlite
  printf '\1\2\3report' > report.nsys-rep
  printf '\200\4\225\5\0\0\0\0' > snapshot.pickle
  printf '\n\4\10\1\20\2\n\4\10\3\20\4\22\5\n\1\1\22\0' > memory.prof
  printf 'Traceback (most recent call last):\n  File "x.py"\n' > failed.json
  cd ..
}

answer() { # COMMAND
  rm -rf "$work/case" && cp -al "$work/all" "$work/case"
  (cd "$work/case" && bash -o pipefail -c "$1" < /dev/null > "$work/out" 2>&1; echo "-> $?" > "$work/status")
  grep -v '^$' "$work/out" | awk -v most=$LINES_SHOWN 'NR <= most; NR == most + 1 { print "..." }' | cut -c 1-400 |
    sed -E '/^(wrote|kept|would) /s/[0-9.]+ (B|KB|MB)\b/SIZE/g' | tr -d '\r' |
    awk -f "$SRC/tests/cli/values.awk" -v all=1 | grep -v '^$'
  cat "$work/status"
}

(cd "$work/all" && give_files) || exit 1
passed=0 failed=0
flush() {
  [ -n "$command" ] || return 0
  local got
  got=$(answer "$command")
  printf '$ %s\n%s\n' "$command" "$got" >> "$work/new"
  if [ "$got" = "$expected" ] || [ -n "${GOLDEN:-}" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAIL $ %s\n' "$command"
    diff <(echo "$expected") <(echo "$got")
  fi
  command=
}

command='' expected=
while IFS= read -r line; do
  case $line in
    '$ '*) flush; command=${line#??} expected= ;;
    '' | '# '*) flush; printf '%s\n' "$line" >> "$work/new" ;;
    *) expected=$expected${expected:+$'\n'}$line ;;
  esac
done < "$table"
flush
[ -z "${GOLDEN:-}" ] || cp "$work/new" "$table"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
