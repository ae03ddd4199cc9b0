# The message about an empty range prints times that count from years ago.
echo '[{"ph":"X","pid":1,"tid":1,"ts":1653340563769987,"dur":100,"name":"a"}]' > late.json
tracekit filter late.json --time 0us..10us -o out.json 2>&1 | grep -oE '[0-9]{9,}us'
