# Times of perf script: a host that has been up for years, and lines without times. A line of text with a number is not a sample.
printf 'a 7/7 [000] 28075374.517811: cycles:\n\t400570 f (/bin/a)\n\na 7/7 [000] 28075375.517811: cycles:\n\t400571 f (/bin/a)\n' > late.perf
tracekit info late.perf 2>&1 | grep -oE '[0-9]+ stack samples|[0-9.]+ s long, from [0-9.]+ s'
printf 'a 7 cycles:\n\t400570 f (/bin/a)\n\na 7 cycles:\n400571 f+0x1 (/bin/a)\n400572 main (/bin/a)\n' > none.perf
tracekit info none.perf 2>&1 | grep -oE '[0-9]+ stack samples|samples without times.*time 0 \(2 times\)'
tracekit tree none.perf 2>&1 | grep -cE ' (f|main)$'
printf 'step 7 loss:\n0.5 (lower)\n' > log.txt
tracekit info log.txt 2>&1 | grep -o 'not a recognised trace format'
# Without call chains, each line is a sample, and the name of a command may look like an address.
printf 'dd 7/7 [000] 1.5: cycles: 400570 f (/bin/dd)\n  cc 8/8 [000] 2.5: cycles: 400570 g (/bin/cc)\n' > hex.perf
tracekit info hex.perf 2>&1 | grep -oE '[0-9]+ stack samples|[0-9.]+ s long'
