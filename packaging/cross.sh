#!/bin/sh
# cross.sh TARGET COMMAND... - runs a command whose `make` builds for a target of deps.sh, whose libraries it makes first.
#
# Debugging sections are left out (they are four fifths of the size), and so is what nothing calls.
set -eu
target=$1
shift
cd "$(dirname "$0")/.."
packaging/deps.sh "$target" "build/package/$target"
root=$PWD/build/package/$target
sections="-Wl,--gc-sections"
compile="-O3 -DNDEBUG -ffunction-sections -fdata-sections"
case $target in
  musl-*)
    unwinding="-fno-asynchronous-unwind-tables -fno-unwind-tables"
    compile="-Os -flto -fno-pic -DNDEBUG -ffunction-sections -fdata-sections $unwinding"
    # zig takes -Oz for -Os; clang does not.
    export CLI_CFLAGS="-Xclang -Oz"
    link="-s -static -flto $unwinding $sections" ;;
  macos-*) link="-s -Wl,-undefined,dynamic_lookup" ;;
  *) link="-s $sections" ;;
esac
export PKG_CONFIG_LIBDIR="$root/lib/pkgconfig" BUILD="build/package/$target/make" CC="$root/bin/cc" AR="$root/bin/ar" CROSS=1 \
  CFLAGS="$compile" LDFLAGS="$link"
exec "$@"
