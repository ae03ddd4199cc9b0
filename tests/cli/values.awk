# values.awk - reduces a message to the parts that do not depend on its wording: quoted text, file names, options, numbers, and the labels
# that scripts look for. -v all=1 treats every line as a message.
function is_value(t) { return t ~ /^'.*'$/ || t ~ /^--?[a-zA-Z]/ || t ~ /[0-9]/ || t ~ /[^.]\.[a-z]/ || t ~ /[\/=]/ }
!all && !/^(tracekit:|wrote |would write |kept |removed |left out )/ { print; next }
{
  line = $0; kept = ""
  while (line != "") {
    sub(/^[ \t(]+/, "", line)
    # A quote opens only at the start of a word; elsewhere it is an apostrophe.
    if (!match(line, /^'[^']*'/)) match(line, /^[^ \t]+/)
    if (RLENGTH <= 0) break
    token = substr(line, 1, RLENGTH); line = substr(line, RLENGTH + 1)
    if (token ~ /^(tracekit|note|repair|warning):$/) { kept = kept " " token; continue }
    sub(/[]).,;:]+$/, "", token)
    if (is_value(token)) kept = kept " " token
  }
  print substr(kept, 2)
}
