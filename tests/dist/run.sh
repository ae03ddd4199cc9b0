#!/usr/bin/env bash
# make test-dist - installs the packages of dist/ in bare systems and merges four ranks with each: the static command, the wheels, the
# Debian packages, the source distribution. Checks the checksums, and that the merged trace is the one of this machine's command.
#
# A bare system is mmdebstrap's smallest variant with apt. Needs root, dist/ and an archive of Debian and Ubuntu; a system that
# cannot be made is reported and skipped. SYSTEMS limits the systems. The last column of a line is the time from the package on
# the disk to the merged timeline.
set -u
: "${SRC:?run me by make test-dist}" "${B:?}" "${FIXTURES:?}" "${TRACEKIT:?}"
dist=$SRC/dist
roots=$B/dist-roots
ranks=$FIXTURES/json/torch/ddp4_full
good=0 bad=0 skipped=0
if [ "$(id -u)" != 0 ] || [ ! -s "$dist/SHA256SUMS" ]; then
  echo "test-dist: SKIPPED: needs root, and the packages of make dist"
  echo "0 passed, 0 failed"
  exit 0
fi
command -v mmdebstrap > /dev/null || apt-get install -y -qq mmdebstrap > /dev/null || exit 1
mkdir -p "$roots"
root=
unmount() { [ -z "$root" ] || { umount -lR "$root/proc" "$root/dev" 2> /dev/null; rm -rf --one-file-system "$root"; }; root=; }
trap unmount EXIT

note() { # STATUS WHAT SECONDS
  if [ "$1" = 0 ]; then good=$((good + 1)); else bad=$((bad + 1)); fi
  printf '%s %-14s %-44s %6s s\n' "$([ "$1" = 0 ] && echo '  ok' || echo FAIL)" "$system" "$2" "$3"
}
skip() { skipped=$((skipped + 1)); printf 'SKIPPED %-10s %s\n' "$system" "$1"; }

# Prints the path of the file with Ubuntu's keys: from the package on this system, or from Ubuntu's package, checked by its
# hash.
ubuntu_keys() {
  local keys=/usr/share/keyrings/ubuntu-archive-keyring.gpg package=ubuntu-keyring_2021.03.26_all.deb
  local sum=0d0e7ed6b112f5d03eabf3c7eb01ebdacf9c57714b279e90495cfc58c8c4520f
  if [ ! -e "$keys" ]; then
    curl -fsS -o "$roots/$package" "$ubuntu/pool/main/u/ubuntu-keyring/$package" && echo "$sum  $roots/$package" | sha256sum --quiet -c >&2 &&
      dpkg-deb --fsys-tarfile "$roots/$package" | tar -xO ".$keys" > "$roots/ubuntu.gpg"
    keys=$roots/ubuntu.gpg
  fi
  echo "$keys"
}

# Makes a bare system's archive once a day.
make_system() { # NAME MIRROR
  local tar=$roots/$1.tar
  [ -s "$tar" ] && [ -z "$(find "$tar" -mmin +1440)" ] && return 0
  local key=/usr/share/keyrings/debian-archive-keyring.gpg components=main
  case $2 in *ubuntu*) key=$(ubuntu_keys) components=main,universe ;; esac
  mmdebstrap --quiet --format=tar --variant=apt --keyring="$key" --components="$components" --include=ca-certificates \
    "$1" "$tar.part" "$2" > "$roots/$1.log" 2>&1 && mv "$tar.part" "$tar"
}

enter() { # NAME: unpacks a fresh copy of a system
  root=$(mktemp -d "$roots/try.XXXXXX")
  tar -xf "$roots/$1.tar" -C "$root"
  cp -L /etc/resolv.conf /etc/hosts "$root/etc/" 2> /dev/null
  cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/" 2> /dev/null
  cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/" 2> /dev/null
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev" && mount --make-rslave "$root/dev"
  mkdir -p "$root/ranks" "$root/dist"
  cp "$ranks"/rank*.json.gz "$root/ranks/"
  cp "$dist"/*.whl "$dist"/*.tar.gz "$dist"/*.deb "$root/dist/" 2> /dev/null
}

inside() { # COMMAND
  env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    $(env | grep -iE '^(https?_proxy|no_proxy|PIP_[A-Z_]+|SSL_CERT_FILE|REQUESTS_CA_BUNDLE)=' | tr '\n' ' ') \
    chroot "$root" /bin/sh -c "$1" >> "$roots/log" 2>&1
}

# Runs a command in the bare system; it must write /merged.json, equal to the merged trace of this machine.
try() { # WHAT COMMAND
  local began status=1
  rm -f "$root/merged.json"
  echo "== $system: $1" >> "$roots/log"
  began=$(date +%s.%N)
  inside "$2" && cmp -s "$root/merged.json" "$roots/expected.json" && status=0
  note $status "$1" "$(echo "$(date +%s.%N) $began" | awk '{ printf "%.1f", $1 - $2 }')"
}

merge='merge /ranks/rank*.json.gz -o /merged.json'
compiler='gcc libc6-dev make pkg-config protobuf-c-compiler libprotobuf-c-dev zlib1g-dev libzstd-dev libarchive-dev libpcre2-dev libsqlite3-dev'
try_system() { # NAME MIRROR
  system=$1
  make_system "$1" "$2" || { skip "the system cannot be made; see $roots/$1.log"; return; }
  enter "$1"
  try "the static command" "tar -xzf /dist/tracekit-*-linux-$cpu.tar.gz && /tracekit-*/bin/tracekit $merge"
  if [ "$1" = bookworm ] && ls "$root"/dist/*.deb > /dev/null 2>&1; then
    inside "apt-get update -qq"
    try "Debian packages, their dependencies installed" "apt-get install -y -qq /dist/*.deb && tracekit $merge"
    inside "apt-get purge -y -qq tracekit"
  fi
  if inside "apt-get update -qq && apt-get install -y -qq --no-install-recommends python3-venv python3-pip" && inside "python3 -m venv /venv"; then
    try "the wheel" "/venv/bin/pip install -q --no-index --find-links /dist tracekit && /venv/bin/tracekit $merge &&
      /venv/bin/python -c 'import tracekit; assert len(tracekit.load(\"/merged.json\")) > 0'"
  else
    skip "the wheel: Python cannot be installed"
  fi
  if [ "$1" = bookworm ]; then # Python for musl is on systems with musl alone, but the command needs no Python
    inside "apt-get install -y -qq musl"
    try "the command in the wheel for musl" "mkdir /musl && cd /musl && python3 -m zipfile -e /dist/*musllinux*_$cpu.whl . &&
      chmod +x *.data/scripts/tracekit && ./*.data/scripts/tracekit $merge"
  fi
  if [ "$1" = bookworm ]; then
    inside "python3 -m venv /source"
    inside "/source/bin/pip install -q /dist/tracekit-$version.tar.gz > /refused 2>&1"
    grep -q 'C compiler' "$root/refused"
    note $? "the source: a missing compiler is named" 0
    inside "apt-get install -y -qq --no-install-recommends gcc libc6-dev make"
    inside "/source/bin/pip install -q /dist/tracekit-$version.tar.gz > /refused 2>&1"
    grep -q 'libarchive-dev' "$root/refused"
    note $? "the source: missing libraries are named" 0
    inside "apt-get install -y -qq --no-install-recommends $compiler"
    inside "/source/bin/pip install -q /dist/tracekit-$version.tar.gz > /refused 2>&1"
    grep -q 'python3-dev' "$root/refused"
    note $? "the source: missing headers of Python are named" 0
    inside "apt-get install -y -qq --no-install-recommends python3-dev"
    try "the source, its libraries installed" "/source/bin/pip install -q /dist/tracekit-$version.tar.gz && /source/bin/tracekit $merge"
  fi
  unmount
}

cpu=$(uname -m)
debian=http://deb.debian.org/debian ubuntu=http://archive.ubuntu.com/ubuntu
version=$(sed -n 's/^.define TK_VERSION "\(.*\)"/\1/p' "$SRC/lib/tracekit.h")
: > "$roots/log"
system=here
(cd "$dist" && sha256sum --quiet -c SHA256SUMS)
note $? "checksums" 0
"$TRACEKIT" merge -q "$ranks"/rank*.json.gz --force -o "$roots/expected.json" || exit 1
for row in "bullseye $debian" "bookworm $debian" "trixie $debian" "jammy $ubuntu" "noble $ubuntu"; do
  case " ${SYSTEMS:-${row% *}} " in *" ${row% *} "*) try_system ${row% *} "${row#* }" ;; esac
done
[ "$bad" = 0 ] || tail -n 40 "$roots/log"
echo "$good passed, $bad failed, $skipped skipped"
[ "$bad" = 0 ]
