# Stack samples: self and total weight, recursion, units other than time, several units, and losses in other formats.
printf 'main;load;parse 4\nmain;load 2\nmain;f;f 3\n' > a.folded
tracekit top a.folded
tracekit top a.folded --csv
tracekit tree a.folded
tracekit tree a.folded --folded
tracekit info a.folded
printf 'p 1/2 1.000001: 250000 cycles: \n\t 10 f+0x1 (/opt/app)\n\np 1/2 1.000002: 7 faults: \n\t 10 g (/opt/app)\n\n' > b.txt
tracekit top b.txt
tracekit convert b.txt -o b.json
tracekit convert b.txt -o b.speedscope.json --json
