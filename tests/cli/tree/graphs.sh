# Input for flame graphs: self times, and names that contain separators or control characters.
printf '{"traceEvents":[{"ph":"X","name":"a;b <&>","pid":1,"tid":1,"ts":0,"dur":10},{"ph":"X","name":"c\\u001b[1m\\n","pid":1,"tid":1,"ts":2,"dur":4},{"ph":"X","pid":1,"tid":1,"ts":20,"dur":5},{"ph":"X","name":"nothing","pid":1,"tid":1,"ts":30,"dur":0}]}' > t.json
tracekit tree t.json --folded
tracekit tree t.json --speedscope
tracekit tree t.json --svg
echo '{"traceEvents":[]}' > e.json
tracekit tree e.json --folded
tracekit tree e.json --svg
