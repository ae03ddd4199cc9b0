# build.sh - sourced: builds test programs that are linked with the library, and with a library whose reader is broken. Needs B
# (the build folder) and SRC. Results go to $B/tests/corpus/.

TESTS=$B/tests/corpus

# Compiles and links with the flags of the build. The flags are given twice, because the libraries in the flags must follow the
# objects.
# shellcheck disable=SC2046
build() { # OUTPUT ARG...
  local output=$1
  shift
  (cd "$SRC" && $(cat "$B/flags") -o "$output" "$@" $(cut -d' ' -f2- "$B/flags"))
}

objects_of() { (cd "$SRC" && printf '%s\n' "$@" | sed "s|^|$B/obj/|; s|\.c$|.o|"); }

# Lists the objects of the library: from its sources, and from the code that protobuf-c generated.
# shellcheck disable=SC2046
library_objects() { (cd "$SRC" && objects_of $(find lib -name '*.c')); find "$B/obj/proto" -name '*.o'; }

newest() { [ -e "$1" ] && [ -z "$(find "$SRC"/tests/corpus/*.c "$B"/libtracekit.a "$B"/tracekit -newer "$1")" ]; }

# Links the library with broken.c in front of its tk_sources_load and tk_load. Hidden symbols are made local, because the
# command has functions with the same names.
# shellcheck disable=SC2046
broken_library() {
  local load objects
  objects=$(library_objects)
  load=$(for o in $objects; do nm "$o" | grep -q ' T tk_sources_load$' && echo "$o"; done)
  objcopy --redefine-sym tk_sources_load=real_tk_sources_load --redefine-sym tk_load=real_tk_load "$load" "$TESTS/load.o" &&
    build "$TESTS/broken.o" -c tests/corpus/broken.c &&
    ld -r -o "$TESTS/library.o" "$TESTS/load.o" "$TESTS/broken.o" $(printf '%s\n' $objects | grep -vxF "$load") &&
    objcopy --localize-hidden "$TESTS/library.o"
}

# Builds hlo, which uses internal functions; paths; and two programs with a reader that applies $TEST_FAULT: broken, which is
# the command, and broken-paths, which is paths.
# shellcheck disable=SC2046
build_programs() {
  newest "$TESTS/broken-paths" && return 0
  mkdir -p "$TESTS"
  build "$TESTS/paths" tests/corpus/paths.c "$B/libtracekit.a" &&
    build "$TESTS/hlo" tests/corpus/hlo.c $(library_objects) &&
    broken_library &&
    build "$TESTS/broken" $(cd "$SRC" && objects_of cli/*.c cli/*/*.c) "$TESTS/library.o" &&
    build "$TESTS/broken-paths" tests/corpus/paths.c "$TESTS/library.o"
}
