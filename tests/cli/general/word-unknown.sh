tracekit merge a.json --align=clok
