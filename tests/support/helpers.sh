# helpers.sh - programs that imitate aws, gcloud, gsutil, hf and ssh, first on PATH: each appends its command line to $PWD/log
# and reads $STORE instead of the network. `forget` prints and empties the log.
STORE=$PWD/store LOG=$PWD/log
export STORE LOG
mkdir -p "$STORE" bin
PATH=$PWD/bin:$PATH

helper() { # NAME: the script is standard input
  { printf '#!/usr/bin/env bash\nprintf "%%s" "${0##*/}" >> "$LOG"; printf " [%%s]" "$@" >> "$LOG"; echo >> "$LOG"\n'; cat; } > "bin/$1"
  chmod +x "bin/$1"
}
forget() { sed "s|$PWD|DIR|g" "$LOG"; : > "$LOG"; }
: > "$LOG"

helper aws <<'SH'
case $2 in
  cp) exec cat "$STORE/${4#s3://}" ;;
  ls) bucket=${4#s3://} bucket=${bucket%%/*}
    cd "$STORE/$bucket" && find "${4#"s3://$bucket/"}" -type f | LC_ALL=C sort | while read -r key; do
      printf '2026-11-20 10:41:58 %10d %s\n' "$(stat -c %s "$key")" "$key"
    done ;;
esac
SH
helper gsutil <<'SH'
case $2 in
  cat) exec cat "$STORE/${3#gs://}" ;;
  ls) folder=${4#gs://} folder=${folder%\*\*}
    cd "$STORE" && find "$folder" -type f | LC_ALL=C sort | while read -r key; do
      printf '%10d  2026-11-20T10:41:58Z  gs://%s\n' "$(stat -c %s "$key")" "$key"
    done
    echo 'TOTAL: 2 objects, 2 bytes (2 B)' ;;
esac
SH
# gcloud, the successor of gsutil, prints the same.
helper gcloud <<'SH'
exec gsutil "$@"
SH
helper hf <<'SH'
while [ "$1" != -- ]; do shift; done
echo "$STORE/$2${3:+/$3}"
SH
# The last word is a command for the shell of the other machine; its files are below $STORE.
helper ssh <<'SH'
cd "$STORE" && exec sh -c "${*: -1}"
SH
