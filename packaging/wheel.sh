#!/bin/sh
# wheel.sh TARGET - dist/tracekit-<version>-cp39-abi3-manylinux2014_<cpu>.whl, for a target of deps.sh.
#
# The platform tag is derived from the target's libc; auditwheel verifies it if it supports the target.
set -eu
target=$1
cd "$(dirname "$0")/.."
tools=$PWD/build/package/tools
made=build/package/$target/wheel
packaging/cross.sh "$target" true
rm -rf "$made"
packaging/cross.sh "$target" "$tools/bin/pip" wheel -q --no-deps --no-build-isolation --no-cache-dir -w "$made" \
  --config-settings "build-dir=build/package/$target/python" .
case $target in
  linux-*) platform=manylinux2014_${target#linux-} ;;
  macos-aarch64) platform=macosx_11_0_arm64 ;;
  *) echo "wheel.sh: no wheel for $target" >&2; exit 2 ;;
esac
"$tools/bin/python" -m wheel tags --remove --python-tag cp39 --abi-tag abi3 --platform-tag "$platform" "$made"/*.whl
mkdir -p dist
for w in "$made"/*.whl; do
  case $target in
    linux-"$(uname -m)")
      "$tools/bin/auditwheel" show "$w" | tee "$made/audit"
      tr '\n' ' ' < "$made/audit" | grep -q "\"$(echo "$platform" | sed 's/manylinux2014/manylinux_2_17/')\"" \
        || { echo "wheel.sh: auditwheel does not agree with $platform" >&2; exit 1; } ;;
  esac
  cp "$w" dist/
  ls -l "dist/$(basename "$w")"
done
