printf %s "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1.5,\"dur\":2,\"pid\":1,\"tid\":1,\"args\":{\"n\":1}}]" > t.json
tracekit dump --graph t.json
