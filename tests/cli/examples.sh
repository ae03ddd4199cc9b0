#!/usr/bin/env bash
# Runs every example in the help, unchanged, on fixtures with the file names that the examples use. The browser for `view` is
# one that fetches the trace and exits.
set -u
: "${TRACEKIT:?}" "${FIXTURES:?}"
export BROWSER="python3 $(cd "$(dirname "$0")/.." && pwd)/support/visitor.py"
unset SSH_CONNECTION
work=$(mktemp -d) || exit 1
mkdir "$work/bin" && ln -s "$TRACEKIT" "$work/bin/tracekit"
PATH=$work/bin:$PATH
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
# Files that several commands' examples pass on to each other.
mkdir "$work/made" && for rank in 0 1; do cp "$FIXTURES/json/torch/ddp2_plain/rank$rank.json.gz" "$work/made/"; done
(cd "$work/made" && tracekit scan -q rank0.json.gz -o rank0.scan && tracekit scan -q rank*.json.gz -o job.scan &&
  cp job.scan all.scan && tracekit plan -q all.scan -f json.gz -o plan.json &&
  for rank in 0 1; do tracekit apply -q plan.json rank$rank.json.gz -o rank$rank.part; done)
while IFS= read -r line; do
  rm -rf "$work/case" && mkdir "$work/case"
  cp "$FIXTURES/json/viz/viz_small.json" "$work/case/trace.json"
  gzip -n < "$work/case/trace.json" > "$work/case/trace.json.gz"
  for rank in 0 1; do cp "$FIXTURES/json/torch/ddp2_plain/rank$rank.json.gz" "$work/case/"; done
  cp "$work/made"/*.scan "$work/made"/*.part "$work/made/plan.json" "$work/case/"
  mkdir -p "$work/case/logdir/plugins/profile/2026_11_20_12_00_00"
  cp "$FIXTURES"/xplane/multihost/* "$work/case/logdir/plugins/profile/2026_11_20_12_00_00/"
  mkdir "$work/case/nightly" && for run in 1 2 3 4; do cp "$work/case/rank0.json.gz" "$work/case/nightly/run$run.json.gz"; done
  (cd "$work/case" && python3 -m zipfile -c traces.zip rank0.json.gz rank1.json.gz)
  # The output of the example must not exist beforehand.
  for output in $(printf '%s\n' "$line" | grep -oE '(-o|>) [^ ]+' | sed 's/.* //'); do rm -f "$work/case/$output"; done
  # A selection that matches nothing in the small trace has status 1, which is accepted here.
  out=$(cd "$work/case" && bash -o pipefail -c "$line" 2>&1 < /dev/null)
  status=$?
  if [ "$status" -eq 0 ] || { [ "$status" -eq 1 ] && grep -q 'nothing matched' <<< "$out"; }; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf '%s\n%s\n' "example failed: $line" "$out"
  fi
done < <("$TRACEKIT" __docs examples)
echo "$passed passed, $failed failed"
