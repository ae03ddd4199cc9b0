# Completions of bash, requested as readline does.
eval "$(tracekit __docs bash)"
try() { # WORDS...: the last word is completed
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  compopt() { :; }
  _tracekit
  echo "$* -> ${COMPREPLY[*]}"
}
touch trace.json
try tracekit "" | grep -vxF "tracekit  -> help --help --version $(tracekit __docs commands | xargs)"
try tracekit conver
try tracekit merge --al
try tracekit merge --align = n
try tracekit merge --align ""
try tracekit convert -f "" | grep -vxF "tracekit convert -f  -> $(tracekit __docs formats | xargs)"
try tracekit convert tr
try tracekit convert --no-
try tracekit-merge --keep
