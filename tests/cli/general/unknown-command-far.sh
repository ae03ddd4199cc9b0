tracekit zzzzzzzz
