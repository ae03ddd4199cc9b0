#!/bin/sh
# wheel.sh TARGET - builds dist/tracekit-<version>-cp39-abi3-<platform>.whl, for a target of deps.sh.
#
# The platform tag is derived from the target's libc or macOS; binaries.py checks it, and auditwheel does if it knows the target.
set -eu
target=$1
cd "$(dirname "$0")/.."
tools=$PWD/build/package/tools
made=$PWD/build/package/$target/wheel
cpu=${target#*-}
case $target in
  linux-*) platform=manylinux2014_$cpu ;;
  musllinux-*) platform=musllinux_1_2_$cpu ;;
  macos-*) platform=macosx_11_0_$(echo "$cpu" | sed 's/aarch64/arm64/') ;;
  *) echo "wheel.sh: no wheel for $target" >&2; exit 2 ;;
esac
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || date +%s)}
export SOURCE_DATE_EPOCH
packaging/cross.sh "$target" true
rm -rf "$made" "$made.notices"
mkdir -p "$made.notices"
python3 packaging/components.py licences "$target" > "$made.notices/THIRD-PARTY-LICENSES"
python3 packaging/components.py sbom "$target" > "$made.notices/tracekit.cdx.json"
TRACEKIT_NOTICES=$made.notices packaging/cross.sh "$target" "$tools/bin/pip" wheel -q --no-deps --no-build-isolation --no-cache-dir \
  -w "$made" --config-settings "build-dir=build/package/$target/python" .
"$tools/bin/python" -m wheel tags --remove --python-tag cp39 --abi-tag abi3 --platform-tag "$platform" "$made"/*.whl
mkdir -p dist
for w in "$made"/*.whl; do
  "$tools/bin/python" packaging/binaries.py "$w"
  case $target in
    linux-"$(uname -m)")
      "$tools/bin/auditwheel" show "$w" | tee "$made/audit"
      tr '\n' ' ' < "$made/audit" | grep -q "\"$(echo "$platform" | sed 's/manylinux2014/manylinux_2_17/')\"" \
        || { echo "wheel.sh: auditwheel does not agree with $platform" >&2; exit 1; } ;;
  esac
  cp "$w" dist/
  ls -l "dist/$(basename "$w")"
done
