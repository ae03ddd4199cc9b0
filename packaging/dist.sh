#!/bin/sh
# dist.sh VERSION - builds everything that is published on a release page or in a package index, in dist/:
#
#   wheels      Linux (glibc 2.17, musl 1.2) and macOS 11, each for x86-64 and arm64; and the source distribution
#   archives    the command with its manuals and completions: Linux (static) and macOS
#   debs        for the Debian release of this machine: command, library, development files
#   npm, web    the package for node and browsers, the page as a folder and as one file
#   recipes     for Homebrew and conda-forge, with the checksum of the source distribution
#   SHA256SUMS, manifest.json, a bill of materials (CycloneDX)
#
# The same commit gives the same bytes: all times are the time of the commit, names are sorted, and no local paths are recorded.
# TARGETS limits wheels and archives to some targets of deps.sh, for a trial build.
set -eu
cd "$(dirname "$0")/.."
version=$1
make=${MAKE:-make}
tools=$PWD/build/package/tools
export SOURCE_DATE_EPOCH TZ=UTC0 LC_ALL=C.UTF-8
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
umask 022
[ -z "$(git status --porcelain)" ] || echo "dist.sh: note: files that are not committed are part of the packages" >&2
all="linux-x86_64 linux-aarch64 musllinux-x86_64 musllinux-aarch64 macos-x86_64 macos-aarch64 musl-x86_64 musl-aarch64"
TARGETS=${TARGETS:-$all}

# pack FOLDER FILE: a .tar.gz whose bytes depend on the contents alone.
pack() {
  tar -C "$(dirname "$1")" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=gnu -cf - "$(basename "$1")" |
    gzip -9n > "$2"
}

# archive TARGET SYSTEM-CPU: the command of a target with manuals, completions and licences.
archive() {
  folder=build/package/$1/tracekit-$version-$2
  rm -rf "$folder"
  packaging/cross.sh "$1" $make "build/package/$1/make/tracekit"
  mkdir -p "$folder/bin" "$folder/share/man/man1" "$folder/share/bash-completion/completions" "$folder/share/zsh/site-functions" \
    "$folder/share/fish/vendor_completions.d"
  cp "build/package/$1/make/tracekit" "$folder/bin/"
  cp build/man/*.1 "$folder/share/man/man1/"
  cp build/completions/tracekit.bash "$folder/share/bash-completion/completions/tracekit"
  cp build/completions/_tracekit "$folder/share/zsh/site-functions/"
  cp build/completions/tracekit.fish "$folder/share/fish/vendor_completions.d/"
  cp LICENSE README.md CHANGELOG.md "$folder/"
  python3 packaging/components.py licences "$1" > "$folder/THIRD-PARTY-LICENSES"
  pack "$folder" "dist/tracekit-$version-$2.tar.gz"
}

# recipe FILE: fills in the version and the checksum of the source distribution.
recipe() {
  sum=$(sha256sum "dist/tracekit-$version.tar.gz" | cut -d ' ' -f 1)
  sed -e "s/@VERSION@/$version/g" -e "s/@SHA256@/$sum/g" "packaging/recipes/$1"
}

rm -rf dist
mkdir -p dist
$make T= all docs
for target in $TARGETS; do
  case $target in
    musl-*) archive "$target" "linux-${target#*-}" ;;
    macos-*)
      packaging/wheel.sh "$target"
      archive "$target" "macos-$(echo "${target#*-}" | sed 's/aarch64/arm64/')" ;;
    *) packaging/wheel.sh "$target" ;;
  esac
done
"$tools/bin/python" -c 'from scikit_build_core.build import build_sdist; build_sdist("dist")'
$make T= web
if command -v npm > /dev/null; then
  $make T= npm
  mv "dist/tracekit-$version.tgz" "dist/tracekit-$version-npm.tgz"
else
  echo "dist.sh: SKIPPED: the npm package: npm is missing" >&2
fi
rm -rf "build/package/tracekit-$version-web"
mv dist/web "build/package/tracekit-$version-web"
pack "build/package/tracekit-$version-web" "dist/tracekit-$version-web.tar.gz"
mv dist/tracekit.html "dist/tracekit-$version.html"
mv dist/tracekit.wasm "dist/tracekit-$version.wasm"
if command -v dh > /dev/null && command -v lintian > /dev/null; then
  packaging/deb.sh "$version"
  cp build/package/deb/*.deb dist/
  rm -f dist/*-dbgsym_*.deb
else
  echo "dist.sh: SKIPPED: Debian packages: debhelper or lintian is missing" >&2
fi
recipe tracekit.rb > dist/tracekit.rb
recipe recipe.yaml > dist/recipe.yaml
cp packaging/recipes/Dockerfile dist/Dockerfile
# shellcheck disable=SC2086
python3 packaging/components.py sbom $TARGETS wasm32-wasi > "dist/tracekit-$version.cdx.json"
set -- dist/*.whl dist/*-linux-*.tar.gz dist/*-macos-*.tar.gz
for f in "$@"; do [ ! -f "$f" ] || "$tools/bin/python" packaging/binaries.py "$f"; done
python3 packaging/manifest.py dist "$version"
ls -l dist
