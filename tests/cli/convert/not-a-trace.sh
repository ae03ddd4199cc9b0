echo hello, world > t.json
tracekit convert t.json -o out.json; s=$?; ls; exit $s
