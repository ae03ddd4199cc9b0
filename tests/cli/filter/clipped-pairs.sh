# A begin/end pair that is clipped at the same time as an X event inside it is written completely, including the args of its
# end, and still contains the event.
cat > in.json <<'END'
[{"ph":"B","name":"a","pid":1,"tid":1,"ts":0,"args":{"k":1,"l":2}},{"ph":"X","name":"b","pid":1,"tid":1,"ts":1,"dur":5},
{"ph":"E","pid":1,"tid":1,"ts":9,"args":{"k":3,"m":4}}]
END
tracekit filter -q --no-provenance --time 3us..8us in.json -o out.json && cat out.json
tracekit dump --graph -q out.json | grep span
