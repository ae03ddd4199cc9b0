#!/usr/bin/env bash
# Checks that docs/commands/*.md, docs/formats/README.md, docs/fields.md, docs/findings.md and the README's table of commands match the tables in the sources;
# --write updates the pages. Also checks the links in all pages.
set -u
B=${B:-build}
cd "$(dirname "$0")/../.." || exit 1
new=$(mktemp -d) || exit 1
trap 'rm -rf "$new"' EXIT
status=0

mkdir -p "$new/commands" "$new/formats"
"$B/tracekit" __docs markdown > "$new/commands/README.md" || exit 1
"$B/tracekit" __docs fields > "$new/fields.md" || exit 1
"$B/tracekit" __docs findings > "$new/findings.md" || exit 1
for command in $("$B/tracekit" __docs commands); do "$B/tracekit" __docs markdown "$command" > "$new/commands/$command.md" || exit 1; done
{
  "$B/tracekit" __docs format-table || exit 1
  for page in docs/formats/*.md; do
    [ "$page" = docs/formats/README.md ] || echo "* [$(sed -n '1s/^# //p' "$page")](${page##*/})"
  done
} > "$new/formats/README.md"

if [ "${1:-}" = --write ]; then
  mkdir -p docs/commands docs/formats
  rm -f docs/commands/*.md
  cp "$new"/commands/*.md docs/commands/ && cp "$new/formats/README.md" docs/formats/
  cp "$new/fields.md" "$new/findings.md" docs/
  exit
fi
diff -ru docs/commands "$new/commands" && diff -u docs/formats/README.md "$new/formats/README.md" && diff -u docs/fields.md "$new/fields.md" &&
  diff -u docs/findings.md "$new/findings.md" || {
  echo "docs/ is behind the rows: tests/lint/docs.sh --write"
  status=1
}

# The README's table of commands must list all commands.
table() { sed -n '/^# Commands/,/^## /p' "$new/commands/README.md" | sed -nE 's/^(\| \[[a-z]+\]\()/\1docs\/commands\//p; /^\| [A-Z].* \| \|$/p'; }
diff -u <(sed -n '/^## Commands/,/^## Doc/p' README.md | grep -E '^\| (\[|[A-Z])') <(table) || {
  echo "README.md: the table of commands is not that of the rows"
  status=1
}

# Checks links, [text](path#heading): the path, relative to the page, must be a file that contains the heading.
for page in *.md docs/*.md docs/*/*.md; do
  for link in $(grep -oE '\]\([^)[:space:]]+\)' "$page" | sed 's/^](//; s/)$//' | grep -vE '^[a-z]+:'); do
    file=${link%%#*} heading=
    case $link in *'#'*) heading=${link#*#} ;; esac
    file=${file:+$(dirname "$page")/$file}
    file=${file:-$page}
    if [ ! -e "$file" ]; then
      echo "$page: there is no $file"
      status=1
    elif [ -n "$heading" ] && ! sed -nE 's/^#+ //p' "$file" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9_\n-' | grep -qxF -- "$heading"; then
      echo "$page: $file has no heading '$heading'"
      status=1
    fi
  done
done
exit $status
