# Control sequences for a terminal are printed as escapes.
cp "$FIXTURES/nasty/json/terminal_escapes.json" "$FIXTURES/nasty/json/bidi_names.json" .
tracekit info -v terminal_escapes.json bidi_names.json > out 2>&1
LC_ALL=C grep -c $'\x1b\|\xe2\x80\xae' out
name=$'no\x1b[31m\xe2\x80\xae.json'
tracekit info "$name"
