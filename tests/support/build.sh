# build.sh - sourced: programs of the tests that are linked to the library, and to a library whose reader is broken.
# Wants B (the build folder) and SRC.  Results go to $B/tests/corpus/.

TESTS=$B/tests/corpus

# Compiles and links with the flags of the build; they stand on both sides, for the libraries among them are wanted behind the objects.
# shellcheck disable=SC2046
build() { # OUTPUT ARG...
  local output=$1
  shift
  (cd "$SRC" && $(cat "$B/flags") -o "$output" "$@" $(cut -d' ' -f2- "$B/flags"))
}

objects_of() { (cd "$SRC" && printf '%s\n' "$@" | sed "s|^|$B/obj/|; s|\.c$|.o|"); }

# The objects of the library: of its sources, and of what protobuf-c made of the schemas.
# shellcheck disable=SC2046
library_objects() { (cd "$SRC" && objects_of $(find lib -name '*.c')); find "$B/obj/proto" -name '*.o'; }

newest() { [ -e "$1" ] && [ -z "$(find "$SRC"/tests/corpus/*.c "$B"/libtracekit.a "$B"/tracekit -newer "$1")" ]; }

# The library with broken.c before its tk_sources_load and tk_load; what is hidden in it stays its own, for the command has functions of the same names.
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

# hlo: sees the insides.  paths: reads by both paths.  broken: the command, whose reader does $TEST_FAULT; broken-paths likewise.
# shellcheck disable=SC2046
build_programs() {
  newest "$TESTS/broken-paths" && return 0
  mkdir -p "$TESTS"
  build "$TESTS/paths" tests/corpus/paths.c "$B/libtracekit.a" &&
    build "$TESTS/hlo" tests/corpus/hlo.c $(library_objects) &&
    broken_library &&
    build "$TESTS/broken" $(cd "$SRC" && objects_of cli/*.c) "$TESTS/library.o" &&
    build "$TESTS/broken-paths" tests/corpus/paths.c "$TESTS/library.o"
}
