#!/bin/sh
# deb.sh VERSION - builds Debian packages of this tree: the command, the library, and its development files.
#
# DEBFULLNAME and DEBEMAIL name the packager, as for Debian's tools; without them the packages are for private use, and
# lintian does not check the address.
set -eu
cd "$(dirname "$0")/.."
work=$PWD/build/package/deb
src=$work/tracekit-$1
rm -rf "$work"
mkdir -p "$src"
git ls-files --cached --others --exclude-standard -- lib cli proto docs/tracekit.3 Makefile tracekit.pc.in README.md LICENSE CHANGELOG.md .ci/setup |
  tar -cf - -T - | tar -xf - -C "$src"
cp -r packaging/debian "$src/debian"
who="${DEBFULLNAME:-tracekit developers} <${DEBEMAIL:-tracekit@localhost}>"
sed -i "s/@MAINTAINER@/$who/" "$src/debian/control" "$src/debian/changelog.in"
sed -e "s/@VERSION@/$1/" -e "s/@DATE@/$(date -R -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}")/" "$src/debian/changelog.in" > "$src/debian/changelog"
rm "$src/debian/changelog.in"
find "$src" -exec touch -h -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}" {} + # dates of the copy would be part of the packages
cd "$src"
dpkg-buildpackage -us -uc -b > "$work/log" 2>&1 || { tail -40 "$work/log" >&2; exit 1; }
cd "$work"
suppressed=initial-upload-closes-no-bugs
[ -n "${DEBEMAIL:-}" ] || suppressed=$suppressed,bogus-mail-host,bogus-mail-host-in-debian-changelog
lintian --allow-root --fail-on error --suppress-tags "$suppressed" ./*.changes
ls -l ./*.deb
