# Memory figures depend on the machine's types; only their presence is tested.
cp "$FIXTURES/json/viz/viz_small.json" t.json
tracekit info -v t.json | sed -E 's/[0-9][0-9.,]*( [kKMG]?i?B)?/N/g'
