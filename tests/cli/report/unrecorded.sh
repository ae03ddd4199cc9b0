# Launches whose work is missing are reported, unless a selection removed the work.
python3 - <<'P'
import json
events = []
for i in range(10):
    events.append({'ph': 'X', 'cat': 'cuda_runtime', 'name': 'cudaGraphLaunch', 'pid': 1, 'tid': 1, 'ts': 100 * i, 'dur': 5,
                   'args': {'correlation': i + 1}})
    if i < 2:
        events.append({'ph': 'X', 'cat': 'kernel', 'name': 'gemm', 'pid': 0, 'tid': 7, 'ts': 100 * i + 10, 'dur': 50,
                       'args': {'correlation': i + 1, 'stream': 7}})
json.dump(events, open('graphs.json', 'w'))
P
tracekit report graphs.json | grep 'work that was not recorded'
tracekit report graphs.json --name gemm | grep -c 'work that was not recorded'
