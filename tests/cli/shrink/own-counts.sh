# Args called count and total that were not made by shrink are unchanged, and do not count as merged events.
for i in 1 2 3 4 5 6 7 8; do echo "{\"ph\":\"X\",\"name\":\"alloc\",\"pid\":1,\"tid\":1,\"ts\":${i}0,\"dur\":10,\"args\":{\"count\":1000,\"total\":123456}},"; done |
  sed '$s/,$//; 1s/^/[/; $s/$/]/' > in.json
tracekit shrink -q in.json --events 4 -o less.json && grep -o '"args":{.*' less.json
tracekit shrink -q in.json --events 3 --ladder spans -o few.json && grep '^\[1,' few.json
tracekit shrink -q less.json --events 3 --ladder spans -o few.json --force && grep '^\[1,' few.json
tracekit shrink --dry-run in.json --events 4 -o no.json
tracekit shrink -q in.json --events 4 --ladder spans -o less.json --force
tracekit shrink -q less.json --events 3 --ladder spans -o few.json --force && grep -o '^\[1,[^]]*' few.json
