# All figures are replaced by N, because sizes in memory depend on the machine.
cp "$FIXTURES/json/viz/viz_small.json" t.json
tracekit info -v t.json | sed -E 's/[0-9][0-9.,]*( [kKMG]?i?B)?/N/g'
