tracekit convert none.json -o out.json; s=$?; ls; exit $s
