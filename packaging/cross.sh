#!/bin/sh
# cross.sh TARGET COMMAND... - runs a command that calls `make` for a target of deps.sh, after building the target's
# libraries.
#
# Debug sections, which are four fifths of the size, and unused code are left out.
set -eu
target=$1
shift
cd "$(dirname "$0")/.."
packaging/deps.sh "$target" "build/package/$target"
root=$PWD/build/package/$target
# All targets use this machine's Python headers: the stable ABI depends only on the sizes of types, and all targets of wheels
# have 64 bits. Debian has a separate pyconfig.h for each machine type.
python=$(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))')
ours=/usr/include/$(uname -m)-linux-gnu/$(basename "$python")/pyconfig.h
if [ -d "$python" ]; then
  export PYTHON_INCLUDE="$root/include/python"
  mkdir -p "$PYTHON_INCLUDE"
  cp -R "$python/." "$PYTHON_INCLUDE"
  [ ! -f "$ours" ] || cp "$ours" "$PYTHON_INCLUDE/pyconfig.h"
fi
sections="-Wl,--gc-sections"
compile="-O3 -DNDEBUG -ffunction-sections -fdata-sections -ffile-prefix-map=$PWD=."
case $target in
  musl-*)
    unwinding="-fno-asynchronous-unwind-tables -fno-unwind-tables"
    compile="-Os -flto -fno-pic -DNDEBUG -ffunction-sections -fdata-sections -ffile-prefix-map=$PWD=. $unwinding"
    # zig maps -Oz to -Os; clang, which gets it through -Xclang, does not.
    export CLI_CFLAGS="-Xclang -Oz"
    link="-s -static -flto $unwinding $sections" ;;
  musllinux-*) link="-s -dynamic $sections" ;;
  macos-*) link="-s -Wl,-undefined,dynamic_lookup" ;;
  # zig places the stack first in memory, so that an overflow traps instead of overwriting data. Memory may grow to 4 GiB, less a page.
  wasm32-*)
    export WASM=1
    memory="-Wl,-z,stack-size=8388608 -Wl,--max-memory=4294901760"
    link="-s $sections $memory -lwasi-emulated-signal -lwasi-emulated-getpid -lwasi-emulated-process-clocks -lwasi-emulated-mman" ;;
  *) link="-s $sections" ;;
esac
export PKG_CONFIG_LIBDIR="$root/lib/pkgconfig" BUILD="build/package/$target/make" CC="$root/bin/cc" AR="$root/bin/ar" CROSS=1 \
  CFLAGS="$compile" LDFLAGS="$link"
exec "$@"
