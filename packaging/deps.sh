#!/bin/sh
# deps.sh TARGET FOLDER - builds the libraries that tracekit links, for a target that may differ from this machine.
#
# Packages of the system cannot be used in a wheel or a static file: they need this system's libc, and libarchive's package
# pulls in 15 MB of libraries for formats that tracekit never reads. So each library is built from its Debian source package,
# as of the last security update, static and position-independent, with only the parts in use. The compiler is zig's clang,
# which includes the headers and libraries of every target; it comes from PyPI, pinned by the hash in tools.txt.
#
# TARGET: linux-x86_64, linux-aarch64 (glibc 2.17, as required by manylinux2014), musl-x86_64, musl-aarch64 (a static file),
#   musllinux-x86_64, musllinux-aarch64 (wheels for Alpine), macos-x86_64, macos-aarch64 (macOS 11), wasm32-wasi (WebAssembly).
# FOLDER: gets bin/cc (and ar, ranlib), include, lib with pkgconfig, and in licences/ the copyright of each library that is
# linked. It is complete if it contains `done`, which records the sources, the tools and this script; it is rebuilt if any of
# them changes.
# Needs the packages installed by `.ci/setup package`, and either Debian's package server, which is contacted once a day, or
# a folder of source packages (TRACEKIT_SOURCES), which is used unchanged.
set -eu

target=$1
mkdir -p "$2"
out=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")/.." && pwd)
sources=${TRACEKIT_SOURCES:-$here/build/package/sources}
pins=$here/packaging/tools.txt
tools=${TRACEKIT_TOOLS:-$here/build/package/tools}
log=$out/log

case $target in
  linux-x86_64) triple=x86_64-linux-gnu.2.17 system=Linux cpu=x86_64 ;;
  linux-aarch64) triple=aarch64-linux-gnu.2.17 system=Linux cpu=aarch64 ;;
  musl-x86_64) triple=x86_64-linux-musl system=Linux cpu=x86_64 ;;
  musl-aarch64) triple=aarch64-linux-musl system=Linux cpu=aarch64 ;;
  musllinux-x86_64) triple=x86_64-linux-musl system=Linux cpu=x86_64 ;;
  musllinux-aarch64) triple=aarch64-linux-musl system=Linux cpu=aarch64 ;;
  macos-x86_64) triple=x86_64-macos.11.0 system=Darwin cpu=x86_64 ;;
  macos-aarch64) triple=aarch64-macos.11.0 system=Darwin cpu=aarch64 ;;
  wasm32-wasi) triple="wasm32-wasi -mcpu=baseline+simd128" system=WASI cpu=wasm32 ;;
  *) echo "deps.sh: unknown target '$target'" >&2; exit 2 ;;
esac

# A linker can drop unused functions only if each has its own section.
sections="-ffunction-sections -fdata-sections"
# The static file (musl) is optimised for size: most time is spent in gzip, which is ISA-L's assembly anyway. Its SQLite is
# built without statements that queries must not or need not use, and reports them as syntax errors.
speed=-O3 zstd='' xz='' without='' named='' only=''
case $target in
  musl-*)
    sections="$sections -flto -fno-asynchronous-unwind-tables -fno-unwind-tables"
    speed=-Os xz=-DENABLE_SMALL=ON zstd="-DZSTD_STRIP_ERROR_STRINGS=1 -DDYNAMIC_BMI2=0 -DZSTD_FORCE_DECOMPRESS_SEQUENCES_SHORT -DHUF_FORCE_DECOMPRESS_X1"
    without="-DSQLITE_UNTESTABLE -DSQLITE_MAX_MMAP_SIZE=0"
    for what in ALTERTABLE ANALYZE AUTOINCREMENT AUTOVACUUM DEPRECATED DESERIALIZE FOREIGN_KEY GET_TABLE INCRBLOB INTEGRITY_CHECK \
      QUICKBALANCE REINDEX SHARED_CACHE TCL_VARIABLE TRACE TRIGGER UTF16 WAL XFER_OPT; do
      without="$without -DSQLITE_OMIT_$what"
    done ;;
  # WASI has no signals and only one process; its libc emulates the functions that these macros request.
  wasm32-wasi)
    triple="$triple -D_WASI_EMULATED_SIGNAL -D_WASI_EMULATED_GETPID -D_WASI_EMULATED_PROCESS_CLOCKS -D_WASI_EMULATED_MMAN"
    without="-DSQLITE_OMIT_WAL -DSQLITE_MAX_MMAP_SIZE=0 -DSQLITE_DEFAULT_UNIX_VFS=\\\"unix-none\\\""
    # SQLite mentions constants and functions of file locks and owners, which WASI lacks, but with unix-none it does not use
    # them. The tools that build SQLite run on this machine and must not get these definitions.
    named="-DF_RDLCK=0 -DF_WRLCK=1 -DF_UNLCK=2 -DF_GETLK=5 -DF_SETLK=6 -DF_SETLKW=7 -Dfchown=fchmod -Dgeteuid=getpid" ;;
esac

say() { echo "  DEPS  $target: $*"; }
quietly() { "$@" >> "$log" 2>&1 || { tail -30 "$log" >&2; echo "deps.sh: failed: $*" >&2; exit 1; }; }

# Installs exactly the pinned tools and nothing else: the list is complete.
install_tools() {
  cmp -s "$pins" "$tools/installed" && return 0
  rm -rf "$tools"
  quietly python3 -m venv "$tools"
  quietly "$tools/bin/pip" install -q --no-deps --only-binary :all: --require-hashes -r "$pins"
  cp "$pins" "$tools/installed"
}

# Wraps the compiler as single commands, because configure scripts and cmake do not accept arguments in a compiler's name.
make_compiler() {
  zig=$("$tools/bin/python" -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__) + "/zig")')
  mkdir -p "$out/bin" "$out/include" "$out/lib/pkgconfig"
  # zig's linker does not support -z,noexecstack; its stacks are never executable.
  for tool in cc ar ranlib; do
    case $tool in cc) with="cc -target $triple" ;; *) with=$tool ;; esac
    printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$zig" "$with" > "$out/bin/$tool"
    chmod +x "$out/bin/$tool"
  done
}

# Downloads source packages, verified by apt through the archive's signature. apt keeps its lists in our folder: the system is
# not changed.
packages="zlib libzstd xz-utils bzip2 libarchive pcre2 protobuf-c libisal sqlite3"
suites="http://deb.debian.org/debian:bookworm http://deb.debian.org/debian:bookworm-updates
        http://deb.debian.org/debian-security:bookworm-security"
fetch_sources() {
  [ -z "${TRACEKIT_SOURCES:-}" ] || return 0
  [ -z "$(find "$sources/done" -mmin -1440 2> /dev/null)" ] || return 0
  say "fetching sources"
  rm -rf "$sources"
  mkdir -p "$sources/apt/lists/partial" "$sources/apt/archives/partial"
  for suite in $suites; do
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${suite%:*} ${suite##*:} main"
  done > "$sources/apt/sources.list"
  apt="-o Dir::Etc::sourcelist=$sources/apt/sources.list -o Dir::Etc::sourceparts=- -o APT::Sandbox::User=root
       -o Dir::State::lists=$sources/apt/lists -o Dir::Cache=$sources/apt -o APT::Get::List-Cleanup=0 -o APT::Update::Error-Mode=any"
  # shellcheck disable=SC2086
  quietly apt-get $apt update
  for package in $packages; do download "$package"; done
  touch "$sources/done"
}

# download PACKAGE: downloads the source of the newest version that is available. A mirror may list an update that it does not
# have; then this is recorded in $sources/outdated.
download() {
  # shellcheck disable=SC2086
  versions=$(apt-cache $apt madison "$1" | awk -F ' *[|] *' '{ print $2 }' | sort -urV)
  newest=$(echo "$versions" | head -n 1)
  for version in $versions; do
    # shellcheck disable=SC2086
    (cd "$sources" && apt-get $apt source --download-only "$1=$version" >> "$log" 2>&1) || continue
    [ "$version" = "$newest" ] || echo "$1 $version: the update $newest is listed but cannot be downloaded" >> "$sources/outdated"
    return 0
  done
  tail -30 "$log" >&2
  echo "deps.sh: failed to download the source of $1" >&2
  exit 1
}

# Builds for distribution set TRACEKIT_UPDATED=1, which refuses outdated sources.
warn_outdated() {
  [ -e "$sources/outdated" ] || return 0
  sed 's/^/deps.sh: OUTDATED: /' "$sources/outdated" >&2
  [ -z "${TRACEKIT_UPDATED:-}" ]
}

# Prints the versions of the sources by file name, and a hash of the tools and this script.
describe() {
  for package in $packages; do basename "$sources/$package"_*.dsc; done
  cat "$pins" "$0" | sha256sum
}

# unpack PACKAGE: extracts the source into its folder, patched.
unpack() {
  mkdir -p "$out/src" "$out/licences"
  [ -d "$out/src/$1" ] || quietly dpkg-source --no-check --no-copy -x "$sources/$1"_*.dsc "$out/src/$1"
  cp "$out/src/$1/debian/copyright" "$out/licences/$1"
  say "$1"
}

pc() { # pc NAME "LIBS" ["REQUIRES"]
  printf 'Name: %s\nDescription: static\nVersion: 1\nCflags: -I%s\nLibs: -L%s %s\nRequires: %s\n' \
    "$1" "$out/include" "$out/lib" "$2" "${3:-}" > "$out/lib/pkgconfig/$1.pc"
}

# archive LIBRARY FLAGS FILE...: compiles the files, one process per core, into lib<LIBRARY>.a.
archive() {
  name=$1 flags=$2
  shift 2
  mkdir -p "$out/obj/$name"
  compile="\"$out/bin/cc\" -fPIC -DNDEBUG $sections $flags -c {} -o \"$out/obj/$name/\$(echo {} | tr / _).o\""
  for f in "$@"; do echo "$f"; done | xargs -P "$(nproc)" -I{} sh -c "$compile" >> "$log" 2>&1 || { tail -30 "$log" >&2; exit 1; }
  rm -f "$out/lib/lib$name.a"
  quietly "$out/bin/ar" rcs "$out/lib/lib$name.a" "$out/obj/$name"/*.o
}

# If `only` is set to "TARGET COMPONENT", builds only this target of CMake and installs only this component.
by_cmake() { # by_cmake FOLDER OPTION...
  folder=$1
  shift
  quietly "$tools/bin/cmake" -G "Unix Makefiles" -S "$folder" -B "$out/obj/$(basename "$folder")" \
    -DCMAKE_SYSTEM_NAME=$system -DCMAKE_SYSTEM_PROCESSOR=$cpu -DCMAKE_C_COMPILER="$out/bin/cc" -DCMAKE_AR="$out/bin/ar" \
    -DCMAKE_RANLIB="$out/bin/ranlib" -DCMAKE_BUILD_TYPE=Release -DCMAKE_POLICY_VERSION_MINIMUM=3.5 -DCMAKE_C_FLAGS="$sections" \
    -DCMAKE_C_FLAGS_RELEASE="$speed -DNDEBUG" \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_SHARED_LIBS=OFF \
    -DCMAKE_INSTALL_PREFIX="$out" -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_PREFIX_PATH="$out" -DCMAKE_FIND_ROOT_PATH="$out" \
    -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_PACKAGE=ONLY "$@"
  quietly "$tools/bin/cmake" --build "$out/obj/$(basename "$folder")" --parallel "$(nproc)" ${only:+--target "${only% *}"}
  quietly "$tools/bin/cmake" --install "$out/obj/$(basename "$folder")" ${only:+--component "${only#* }"}
}

build_zlib() {
  unpack zlib
  s=$out/src/zlib
  # zlib mistakes every Mac for an old system without fdopen.
  archive z "$speed -I$s -DHAVE_UNISTD_H -D_LARGEFILE64_SOURCE=1 -Dfdopen=fdopen" "$s"/adler32.c "$s"/crc32.c "$s"/deflate.c "$s"/infback.c "$s"/inffast.c \
    "$s"/inflate.c "$s"/inftrees.c "$s"/trees.c "$s"/zutil.c "$s"/compress.c "$s"/uncompr.c
  cp "$s/zlib.h" "$out/include/"
  # As configure does: otherwise callers that do not define HAVE_UNISTD_H get a z_off_t of 32 bits on a 32-bit target.
  sed '/^#ifdef HAVE_UNISTD_H.* may be/s/def HAVE_UNISTD_H/ 1/' "$s/zconf.h" > "$out/include/zconf.h"
  pc zlib -lz
}

build_zstd() {
  unpack libzstd
  s=$out/src/libzstd/lib
  # Leaves out compression with dictionaries, which is not used here and takes a tenth of a megabyte.
  [ $speed != -Os ] || sed -i -E 's/ZSTD_compressBlock_[a-z0-9]+_(dictMatchState|dedicatedDictSearch)(_row)?/NULL/' "$s/compress/zstd_compress.c"
  archive zstd "$speed $zstd -I$s -DZSTD_DISABLE_ASM" "$s"/common/*.c "$s"/compress/*.c "$s"/decompress/*.c
  cp "$s/zstd.h" "$s/zstd_errors.h" "$out/include/"
  pc libzstd -lzstd
}

build_bzip2() {
  unpack bzip2
  s=$out/src/bzip2
  archive bz2 "$speed -I$s -D_FILE_OFFSET_BITS=64" "$s"/blocksort.c "$s"/huffman.c "$s"/crctable.c "$s"/randtable.c "$s"/compress.c \
    "$s"/decompress.c "$s"/bzlib.c
  cp "$s/bzlib.h" "$out/include/"
}

build_xz() {
  unpack xz-utils
  # WASI lacks signal masks, which are replaced because threads never start there, and functions that the programs of the
  # package need, so only the library is built.
  [ $system != WASI ] || {
    only="liblzma liblzma_Development"
    sed -i 's/#ifdef __VMS/#if 1/; s/sigset_t/int/g; /sigfillset/d; s/SIG_SETMASK/0/' "$out/src/xz-utils/src/common/mythread.h"
  }
  # shellcheck disable=SC2086
  by_cmake "$out/src/xz-utils" $xz
  only=''
}

build_libarchive() {
  unpack libarchive
  off=''
  for what in OPENSSL MBEDTLS NETTLE LIBB2 LZ4 LZO LIBXML2 EXPAT PCREPOSIX LIBGCC CNG WIN32_BSDGREP ICONV ACL XATTR TAR CPIO CAT \
    TEST; do
    off="$off -DENABLE_$what=OFF"
  done
  # WASI lacks users and processes, so the code that needs them and the code for files on a disk is left out.
  [ $system != WASI ] || {
    only="archive_static none"
    sed -i '/archive_\(read\|write\)_disk\|filter_program\|filter_fork\|set_format_iso9660/d' "$out/src/libarchive/libarchive/CMakeLists.txt"
  }
  # shellcheck disable=SC2086
  by_cmake "$out/src/libarchive" $off -DENABLE_INSTALL=ON -DENABLE_WERROR=OFF -DPOSIX_REGEX_LIB=NONE
  [ -z "$only" ] || cp "$out/obj/libarchive/libarchive/libarchive.a" "$out/lib/"
  [ -z "$only" ] || cp "$out/src/libarchive/libarchive/archive.h" "$out/src/libarchive/libarchive/archive_entry.h" "$out/include/"
  only=''
  pc libarchive "-larchive -lzstd -llzma -lbz2 -lz"
}

build_pcre2() {
  unpack pcre2
  by_cmake "$out/src/pcre2" -DPCRE2_BUILD_PCRE2GREP=OFF -DPCRE2_BUILD_TESTS=OFF -DPCRE2_SUPPORT_LIBZ=OFF -DPCRE2_SUPPORT_LIBBZ2=OFF \
    -DPCRE2_SUPPORT_LIBREADLINE=OFF -DPCRE2_SUPPORT_LIBEDIT=OFF
  pc libpcre2-8 -lpcre2-8
}

build_protobuf_c() {
  unpack protobuf-c
  s=$out/src/protobuf-c
  archive protobuf-c "$speed -I$s -DPACKAGE_VERSION=\\\"1.4.1\\\" -DPACKAGE_STRING=\\\"protobuf-c\\\"" "$s"/protobuf-c/protobuf-c.c
  mkdir -p "$out/include/protobuf-c"
  cp "$s/protobuf-c/protobuf-c.h" "$out/include/protobuf-c/"
  pc libprotobuf-c -lprotobuf-c
}

# Only for Linux. ISA-L's makefile uses nasm on x86-64; its arm64 sources need the GNU assembler, because clang's rejects some.
build_isal() {
  [ $system = Linux ] || return 0
  unpack libisal
  s=$out/src/libisal
  case $cpu in x86_64) arch='' as=nasm ;; *) arch=$cpu as=$out/bin/as ;; esac
  # The wrapper for the assembler is called with flags, -o, the object and the source; its own -o comes last and wins.
  cat > "$out/bin/as" <<END
#!/bin/sh
eval "object=\\\${\$((\$# - 1))}"
"$out/bin/cc" "\$@" -E -o - | $cpu-linux-gnu-as -o "\$object" -
END
  chmod +x "$out/bin/as"
  quietly make -C "$s" -f Makefile.unx -j"$(nproc)" units="igzip crc" host_cpu=$cpu arch=$arch CC="$out/bin/cc" AR="$out/bin/ar" \
    AS="$as" CFLAGS_="-fPIC -ffunction-sections -fdata-sections" \
    CFLAGS_aarch64="-fPIC -ffunction-sections -fdata-sections" ASFLAGS_aarch64="-c -D__ASSEMBLY__" lib isa-l.h
  cp "$s/bin/isa-l.a" "$out/lib/libisal.a"
  mkdir -p "$out/include/isa-l"
  cp "$s"/include/*.h "$out/include/isa-l/"
  cp "$s/isa-l.h" "$out/include/"
  pc libisal -lisal
}

# Debian's source is a copy of SQLite's repository, whose script generates the amalgamation, sqlite3.c. Features that queries
# may not use anyway (lib/sql/allowed.c) are not enabled: full-text search, R-trees, extensions, URI file names.
build_sqlite() {
  unpack sqlite3
  s=$out/src/sqlite3
  mkdir -p "$s/made"
  (cd "$s/made" && quietly ../configure --disable-tcl --disable-readline && quietly make sqlite3.c OPTS="$without")
  archive sqlite3 "$speed $without $named -DSQLITE_THREADSAFE=1 -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_ENABLE_MATH_FUNCTIONS \
    -DSQLITE_DQS=0 -DSQLITE_USE_URI=0 -DSQLITE_TRUSTED_SCHEMA=0 -DSQLITE_MAX_ATTACHED=1 -DSQLITE_MAX_TRIGGER_DEPTH=100" \
    "$s/made/sqlite3.c"
  cp "$s/made/sqlite3.h" "$out/include/"
  pc sqlite3 -lsqlite3
}

# The C library is linked into static files and WebAssembly; zig brings its source.
copy_libc_licence() {
  libc=$(dirname "$zig")/lib/libc
  case $target in
    musl-*) cp "$libc/musl/COPYRIGHT" "$out/licences/musl" ;;
    wasm32-*) cat "$libc/wasi/LICENSE" "$libc/wasi/LICENSE-MIT" "$libc/musl/COPYRIGHT" > "$out/licences/wasi-libc" ;;
  esac
}

: > "$log"
fetch_sources
warn_outdated
describe > "$out/made-of"
! cmp -s "$out/made-of" "$out/done" || exit 0
for made in bin include lib licences make 'done'; do rm -rf "${out:?}/$made"; done
install_tools
make_compiler
build_zlib
build_zstd
build_bzip2
build_xz
build_libarchive
build_pcre2
build_protobuf_c
build_isal
build_sqlite
copy_libc_licence
rm -rf "$out/obj" "$out/src" "$out/share" "$out/lib/cmake"
rm -f "$out"/lib/*.so* "$out"/lib/*.dylib
mv "$out/made-of" "$out/done"
say "done"
