# Typical selections: copies in one direction, one step of many, long outer spans, attention kernels.
cat > t.json <<'JSON'
{"traceEvents":[
{"ph":"X","name":"ProfilerStep#1","cat":"user_annotation","pid":1,"tid":1,"ts":0,"dur":200000},
{"ph":"X","name":"ProfilerStep#2","cat":"user_annotation","pid":1,"tid":1,"ts":200000,"dur":200000},
{"ph":"X","name":"forward","cat":"cpu_op","pid":1,"tid":1,"ts":210000,"dur":150000},
{"ph":"X","name":"flash_fwd_kernel<Flash_fwd>","cat":"kernel","pid":0,"tid":7,"ts":220000,"dur":900},
{"ph":"X","name":"gemm","cat":"kernel","pid":0,"tid":7,"ts":230000,"dur":900},
{"ph":"X","name":"Memcpy HtoD (Pinned -> Device)","cat":"gpu_memcpy","pid":0,"tid":7,"ts":1000,"dur":30},
{"ph":"X","name":"Memcpy DtoH (Device -> Pinned)","cat":"gpu_memcpy","pid":0,"tid":7,"ts":2000,"dur":30},
{"ph":"X","name":"Memcpy DtoD (Device -> Device)","cat":"gpu_memcpy","pid":0,"tid":7,"ts":3000,"dur":30}]}
JSON
names() { python3 -c 'import json,sys; print(*[e["name"] for e in json.load(sys.stdin)["traceEvents"] if e["ph"] == "X"], sep=" | ")'; }
tracekit filter -q t.json --kind kernel --regex 'flash|attention|fmha' -f json | names
tracekit filter -q t.json --kind memcpy -f json | names
tracekit filter -q t.json --kind memcpy --name '*HtoD*' -f json | names
tracekit filter -q t.json -e 'dur > 100ms && depth <= 2' -f json | names
tracekit filter -q t.json --step 2 -f json | names
