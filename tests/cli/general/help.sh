# The rows of commands and formats are left out here: docs/commands and general/format-help look at those.
tracekit help > help
awk '/^$/ { rows = 0 } !rows; /^(Commands|Formats):/ { rows = 1 }' help
grep '^  help ' help
tracekit --help | cmp - help && tracekit -h | cmp - help
