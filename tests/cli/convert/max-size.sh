cp "$FIXTURES/nasty/gzip/ratio_1000.json.gz" t.json.gz
tracekit convert --max-size=1M t.json.gz -o out.json; s=$?; ls; exit $s
