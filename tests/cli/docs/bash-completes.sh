# What bash offers, asked the way that readline does.
eval "$(tracekit __docs bash)"
try() { # WORDS...: the last one is completed
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  compopt() { :; }
  _tracekit
  echo "$* -> ${COMPREPLY[*]}"
}
touch trace.json
try tracekit me
try tracekit merge --al
try tracekit merge --align = n
try tracekit merge --align ""
try tracekit convert -f ""
try tracekit convert tr
try tracekit convert --no-
try tracekit-merge --keep
