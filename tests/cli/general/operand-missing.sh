tracekit merge -o x.json
