#!/usr/bin/env bash
# Tests the lints: each is run on a small tree with one fault, which it must find, and on the same tree without it.
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
status=0

# Creates a tree of empty files that passes every lint, and changes to it.
tree() {
  rm -rf "$work/tree" && mkdir -p "$work/tree/tests" && cd "$work/tree" || exit 1
  cp -r "$here" tests/lint
  rm -f tests/lint/*.tsv
  for table in layers circles format_names structure; do printf 'from\tto\treason\n' > "tests/lint/${table}_exceptions.tsv"; done
  mkdir -p lib/{base,io,graph,op,align/solve,source,analysis,load,merge,command} lib/format/{chrome,xplane}/{read,write} cli/{print,shared,view}
  touch README.md lib/tracekit.h lib/tracekit_ops.h lib/tracekit_report.h lib/base/mem.h lib/io/in.h lib/op/label.h lib/align/fit.h
  touch lib/analysis/top.h lib/format/format.h lib/format/{chrome,xplane}/{shared,read/reader,write/writer}.h lib/load/load.h
  touch lib/merge/merge.h cli/print/tty.h cli/shared/run.h cli/view/view.h
}

includes() { printf '#include "%s"\n' "${@:2}" >> "$1"; }

# expect LINT WANT TEXT: checks that the lint's exit status is WANT and that its output contains TEXT.
expect() {
  local out got=0
  out=$(B=build "tests/lint/$1.sh" 2>&1) || got=1
  [ "$got" = "$2" ] && grep -qF -- "$3" <<< "$out" && return 0
  echo "$1: status $got, not $2, or it does not say '$3':"
  printf '%s\n' "$out"
  status=1
}

# refused FROM TO TEXT: checks that including TO from FROM is a fault, unless an exception allows it, and that an unused
# exception is a fault, too.
refused() {
  tree
  local named=${2#lib/}
  includes "$1" "${named#cli/}"
  expect layers 1 "$3"
  printf '%s\t%s\tbecause\n' "$1" "$2" >> tests/lint/layers_exceptions.tsv
  expect layers 0 ''
  sed -i '$d' "$1"
  expect layers 1 'nothing needs the row'
}

refused lib/base/a.c lib/io/in.h 'lib/base may not see lib/io'
refused lib/op/a.c lib/align/fit.h 'lib/op may not see lib/align'
refused lib/align/a.c lib/load/load.h 'lib/align may not see lib/load'
refused lib/align/solve/a.c lib/io/in.h 'lib/align/solve sees lib/base alone'
refused lib/load/a.c lib/merge/merge.h 'lib/load may not see lib/merge'
refused lib/op/a.c lib/analysis/top.h 'lib/op may not see lib/analysis'
refused lib/format/a.c lib/format/chrome/shared.h 'lib/format may not see lib/format/chrome'
refused lib/format/chrome/a.c lib/format/xplane/shared.h 'formats do not see each other'
refused lib/format/chrome/read/a.c lib/format/chrome/write/writer.h 'may not see'
refused lib/format/chrome/write/a.c lib/format/chrome/read/reader.h 'may not see'
refused lib/format/chrome/shared.h lib/format/chrome/read/reader.h 'may not see'
refused cli/a.c lib/base/mem.h 'the command sees'
refused cli/print/a.c cli/shared/run.h 'cli/print may not see cli/shared'
tree
includes lib/load/load.c load.h ../op/label.h format/chrome/shared.h tracekit.h
includes lib/format/chrome/read/read.c reader.h format/chrome/shared.h format/format.h base/mem.h
includes lib/format/chrome/chrome.c read/reader.h write/writer.h
includes cli/a.c shared/run.h tracekit.h
includes cli/view/a.c print/tty.h view.h
expect layers 0 ''

circle() { # OTHER: function that a calls; b calls a
  tree
  mkdir -p build/obj/lib/op
  echo "int a(void); int b(void); int c(void); int a(void) { return $1(); }" > lib/op/a.c
  echo 'int a(void); int b(void); int b(void) { return a(); }' > lib/op/b.c
  echo 'int c(void); int c(void) { return 1; }' > lib/op/c.c
  for f in a b c; do "${CC:-cc}" -c lib/op/$f.c -o build/obj/lib/op/$f.o; done
}
circle c
expect circles 0 ''
printf 'lib/op/a.c\tlib/op/c.c\tbecause\n' >> tests/lint/circles_exceptions.tsv
expect circles 1 'nothing needs the row'
circle b
expect circles 1 'lib/op/a.c -> lib/op/b.c: b'
printf 'lib/op/a.c\tlib/op/b.c\tbecause\n' >> tests/lint/circles_exceptions.tsv
expect circles 0 ''
rm build/obj/lib/op/c.o
expect circles 1 'no such object'

# walked HEADER CODE STATUS TEXT: checks the lint `structure` on lib/op/a.h with the text HEADER and lib/op/a.c with the text
# CODE; the function b() is in lib/op/b.c. STATUS and TEXT: expected exit status and output.
walked() {
  tree
  mkdir -p build/obj/lib/op
  printf '%s\n' "$1" > lib/op/a.h
  printf '%s\n' "$2" > lib/op/a.c
  echo 'int b(void); int b(void) { return 1; }' > lib/op/b.c
  for f in a b; do "${CC:-cc}" -c lib/op/$f.c -o build/obj/lib/op/$f.o; done
  expect structure "$3" "$4"
}
walked 'int a_one(void);' 'int a_one(void); int a_one(void) { return 1; }' 0 ''
walked 'int other(void);' 'int other(void); int other(void) { return 1; }' 1 'lib/op/a.c other'
walked 'int b(void);' 'int a_one(void); int a_one(void) { return 1; }' 1 'lib/op/a.h b'
walked '' 'int a_one(int x); int a_one(int x) { return x++, 1; }' 1 'comma operators in a return: 1'

named() { # LINE: a line that names a format
  tree
  echo "$1" > lib/op/a.c
  expect format_names 1 'lib/op/a.c:1:'
  tree
  echo "$1" > lib/format/a.c
  expect format_names 0 ''
}
named 'a = strcmp(b, "perfetto.packets");'
named 'a = ".xplane.pb.gz";'
named 'a.format = "json";'
named 'a = {"json.", 1};'
tree
echo '/* "json" */ a = "json is a language";' > lib/op/a.c
expect format_names 0 ''

# Creates a command with fixed output, and the pages generated from it.
documented() {
  tree
  mkdir -p build docs/formats
  printf '#!/bin/sh\n[ "$2" = commands ] || echo "# Page"\n' > build/tracekit
  echo "# X" > docs/formats/x.md; echo "# Y" > docs/y.md
  chmod +x build/tracekit
  B=build tests/lint/docs.sh --write
}
documented
expect docs 0 ''
echo '[a](commands/README.md#page) [b](#here)' > docs/a.md
expect docs 1 "docs/a.md has no heading 'here'"
echo '[a](nowhere.md)' > docs/a.md
expect docs 1 'there is no docs/nowhere.md'
documented
echo more >> docs/commands/README.md
expect docs 1 'docs/ is behind the rows'
documented
printf '## Commands\n| [a](docs/commands/a.md) | b |\n## Documentation\n' > README.md
expect docs 1 'the table of commands is not that of the rows'

lines() { for _ in $(seq "$1"); do echo '  a();'; done; }
function_of() { printf 'int %s(void) {\n%s\n}\n' "$2" "$(lines $(($1 - 2)))"; }
tree
function_of 12 f > lib/op/a.c
expect length 0 '12 lines in the median'
function_of 13 g >> lib/op/a.c
function_of 13 h >> lib/op/a.c
expect length 1 'at most 12'
tree
function_of 81 f > cli/a.c
expect length 1 'f has 81 lines'
tree
{ echo 'static int once(void) { return 1; }'; echo 'int f(void) { return once(); }'; } > lib/op/a.c
expect length 0 '50% static and used once'
tree
sed -i 's/^README_WARNS = .*/README_WARNS = False/' tests/lint/length.py
head -c 8001 /dev/zero > README.md
expect length 1 'README.md: 8001 bytes'

prose() { # COMMENT SENTENCE
  tree
  mkdir -p tests/words docs
  for _ in $(seq 100); do echo 'The command prints a table of kernels, sorted by time.'; done > README.md
  cp README.md tests/words/messages.txt
  cp README.md tests/words/help.txt
  echo "$2" > docs/a.md
  echo "/* $1 */" > lib/op/a.c
}
prose 'Returns the number of events.' 'The table contains kernels.'
expect english 0 ''
prose 'What is written of the events.' 'The table contains kernels.'
expect english 1 'comments: '
prose 'Returns the number of events.' 'The table contains kernels.'
for i in $(seq 20); do echo "The table $i says what it is told of."; done > docs/a.md
expect english 1 'documentation: '
exit $status
