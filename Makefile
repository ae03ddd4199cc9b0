# tracekit - GNU make, nothing to configure.
#
#   make                 build/tracekit, build/libtracekit.a, build/libtracekit.so
#   make demo            merge the ranks of a small PyTorch job into build/demo/merged.json.gz
#   make check           the tests that take at most a few seconds each; T=WORD only those with WORD in their name
#   make test            all tests; make test-long runs more of each
#   make install         PREFIX=/usr/local DESTDIR=
#   make help            the other targets and the variables
#
# Sources are found by wildcard: a new file in lib/ or cli/ needs no line here. On a machine that lacks a dependency, .ci/setup
# runs first; it writes build/config.mk, and make restarts with the settings in it.

MAKEFLAGS += --no-builtin-rules --no-print-directory
# Builds use all cores unless the caller gives -j.
JOBS := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(JOBS)
endif
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:

PREFIX ?= /usr/local
BUILD ?= build
B := $(BUILD)$(if $(filter 1,$(FUZZING)),/fuzz,$(if $(filter 1,$(SAN)),/san,$(if $(filter thread,$(SAN)),/tsan)))
VERSION := $(shell sed -n 's/^.define TK_VERSION "\(.*\)"/\1/p' lib/tracekit.h)
SOVERSION := 0

ifeq ($(origin CC),default)
CC := gcc
ifeq ($(shell command -v gcc 2>/dev/null),)
CC := cc
endif
endif
OBJCOPY ?= objcopy
AR ?= ar
PKG_CONFIG ?= pkg-config
INSTALL ?= install
STRIP ?= strip
# Targets of Apple differ in the linker's options, in the names of shared libraries, and have no objcopy. zig calls them macos.
MACHINE := $(shell $(CC) -dumpmachine 2>/dev/null)
APPLE := $(findstring apple,$(MACHINE))$(findstring macos,$(MACHINE))
STRIP_DEBUG := $(if $(APPLE),-S,--strip-debug)

# ---- dependencies -----------------------------------------------------------------------------------------------------------

# Name by which a program that is linked with the flags $(1) requests the shared library $(2); nothing if it links a static one.
soname = echo 'int main(void) { return 0; }' | $(CC) $(LDFLAGS) -x c - -o $@.out -Wl,--no-as-needed $(1) 2>/dev/null && \
  readelf -d $@.out 2>/dev/null | sed -n "s/.*NEEDED.*\[\($(2)\.so[.0-9]*\)\].*/\1/p"; rm -f $@.out

# Goals that build nothing need no dependencies.
NEEDS_DEPS := $(filter-out clean help messages lint-text,$(or $(MAKECMDGOALS),all))
ifneq ($(NEEDS_DEPS),)
include $(BUILD)/config.mk
endif

# These goals install missing dependencies, so that they work on a fresh machine; other goals report what is missing and how to
# install it.
INSTALLING := demo deps memcheck test test-long test-locale test-wheel golden lint corpus interop bench speed fuzz fuzz-python coverage static wheel wasm npm web deb dist test-dist test-aarch64 test-wasm test-web
$(BUILD)/config.mk: .ci/setup Makefile
	@mkdir -p $(@D)
	@.ci/setup $(if $(filter $(INSTALLING),$(MAKECMDGOALS)),,--look) build
	@{ for p in zlib libzstd libarchive libpcre2-8 libisal libprotobuf-c sqlite3 libedit; do \
	     if $(PKG_CONFIG) --exists $$p; then \
	       echo "HAVE_$$p := 1"; \
	       echo "CFLAGS_$$p := $$($(PKG_CONFIG) --cflags $$p)"; \
	       echo "LIBS_$$p := $$($(PKG_CONFIG) --libs $$p)"; \
	     fi; done; \
	   for p in libarchive libedit; do \
	     echo "SONAME_$$p := $$($(call soname,$$($(PKG_CONFIG) --libs $$p),$$p))"; done; } > $@.tmp
	@mv $@.tmp $@

$(BUILD)/.deps-test: .ci/setup
	@mkdir -p $(@D)
	@.ci/setup test
	@touch $@

# ---- files --------------------------------------------------------------------------------------------------------------------

LIB_SRC := $(sort $(wildcard lib/*.c lib/*/*.c lib/*/*/*.c lib/*/*/*/*.c))
HEADERS := $(sort $(wildcard lib/tracekit*.h))
# In WebAssembly, cli/wasm/ replaces what needs signals, sockets and child processes.
CLI_SRC := $(filter-out $(if $(WASM),cli/shared/interrupt.c cli/shared/helper.c cli/shared/fetch% cli/mcp/session.c cli/view/%),$(sort $(wildcard cli/*.c cli/*/*.c)))
PROTO := $(patsubst proto/%.proto,%,$(wildcard proto/*.proto))
# The library links the schemas in proto/ that its sources include; tests may use all.
LIB_PROTO := $(foreach p,$(PROTO),$(if $(shell grep -l '"$(p)\.pb-c\.h"' $(LIB_SRC)),$(p)))
LIB_OBJ := $(LIB_SRC:%.c=$(B)/obj/%.o) $(LIB_PROTO:%=$(B)/obj/proto/%.o)
CLI_OBJ := $(CLI_SRC:%.c=$(B)/obj/%.o)
SUPPORT_SRC := $(filter-out tests/unit/test_%,$(wildcard tests/unit/*.c tests/support/*.c)) $(if $(filter 1,$(FUZZING)),,tests/fuzz/replay.c)
SUPPORT_OBJ := $(SUPPORT_SRC:%.c=$(B)/obj/%.o) $(patsubst %,$(B)/obj/proto/%.o,$(filter-out $(LIB_PROTO),$(PROTO)))
TEST_OBJ := $(patsubst %.c,$(B)/obj/%.o,$(wildcard tests/*/*.c))
UNIT := $(patsubst %.c,$(B)/%,$(sort $(wildcard tests/unit/test_*.c)))
PROPERTY := $(patsubst %.c,$(B)/%,$(sort $(wildcard tests/property/*.c)))
BENCH := $(patsubst %.c,$(B)/%,$(sort $(wildcard tests/bench/*.c)))
FUZZ := $(patsubst %.c,$(B)/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
TEST_PROGRAMS := $(UNIT) $(PROPERTY) $(FUZZ)

GEN_OBJ := $(patsubst %.c,$(B)/obj/%.o,$(sort $(wildcard tests/gen/*.c)))
GEN := $(if $(GEN_OBJ),$(B)/tests/gen/gen)

BIN := $(B)/tracekit
STATIC := $(B)/libtracekit.a
SHARED := $(B)/$(if $(APPLE),libtracekit.$(SOVERSION).dylib,libtracekit.so.$(SOVERSION))
SHARED_LINK := $(B)/libtracekit.$(if $(APPLE),dylib,so)

# ---- flags --------------------------------------------------------------------------------------------------------------------

# A dependency is linked if a source includes its header.
uses = $(shell grep -lE '^ *$(1)include <$(2)' $(LIB_SRC) $(wildcard lib/*.h lib/*/*.h lib/*/*/*.h lib/*/*/*/*.h) 2>/dev/null)
HASH := \#
DEPS := zlib
DEPS += $(if $(call uses,$(HASH),zstd\.h),libzstd)
DEPS += $(if $(call uses,$(HASH),pcre2\.h),libpcre2-8)
DEPS += $(if $(call uses,$(HASH),archive(_entry)?\.h),libarchive)
DEPS += $(if $(call uses,$(HASH),protobuf-c/),libprotobuf-c)
DEPS += $(if $(call uses,$(HASH),sqlite3\.h),sqlite3)
ifneq ($(ISAL),0)
ISAL_FOUND := $(HAVE_libisal)
endif
DEPS += $(if $(ISAL_FOUND),libisal)
# Only the command uses libedit, for editing lines at the SQL prompt.
ifneq ($(LIBEDIT),0)
LIBEDIT_FOUND := $(HAVE_libedit)
endif

# Builds with sanitizers are compiled in 60% of the time at -O1; tests in them take as long, because most of it is starting processes.
CFLAGS ?= $(if $(SAN),-O1,-O3) -g
comma := ,
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla $(if $(filter 1,$(WERROR)),-Werror)
SANITIZERS := $(if $(filter 1,$(SAN) $(FUZZING)),address$(comma)undefined$(if $(filter 1,$(FUZZING)),$(comma)fuzzer-no-link)) \
  $(if $(filter thread,$(SAN)),thread)
SANITIZERS := $(strip $(SANITIZERS))
SANITIZE := $(if $(SANITIZERS),-fsanitize=$(SANITIZERS) -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
# Flags that the compiler accepts for its target.
accepted = $(strip $(foreach f,$(1),$(shell $(CC) -Werror $(f) -x c -c /dev/null -o /dev/null 2>/dev/null && echo $(f))))
# WebAssembly has no threads and is not relocated. It needs no hardening: return addresses are not on its stack, and jumps are checked.
THREADS := $(if $(WASM),,-pthread)
PIC := $(if $(WASM),,-fPIC)
# Hardening without measurable cost: of the stack, of indirect jumps and returns, of memory copies, of relocation tables.
JUMPS := $(call accepted,-fstack-clash-protection -fcf-protection -mbranch-protection=standard)
HARDEN := $(if $(SANITIZERS)$(WASM),,-fstack-protector-strong $(JUMPS) $(if $(findstring -O,$(CFLAGS)),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2))
HARDEN_LD := $(if $(SANITIZERS)$(WASM)$(APPLE),,-Wl$(comma)-z$(comma)relro -Wl$(comma)-z$(comma)now -Wl$(comma)-z$(comma)noexecstack)
# Loading libarchive, libedit and their dependencies takes half of the time of a small command. So they are loaded only
# when used, unless LATE=0, by the name of the shared library that the linker would take.
ifneq ($(LATE),0)
LATE_ARCHIVE := $(if $(filter libarchive,$(DEPS)),$(SONAME_libarchive))
LATE_EDIT := $(if $(LIBEDIT_FOUND),$(SONAME_libedit))
endif
LINKED := $(filter-out $(if $(LATE_ARCHIVE),libarchive),$(DEPS))
ALL_CPPFLAGS = -Ilib -I$(B)/proto -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 $(if $(ISAL_FOUND),-DTK_HAVE_ISAL=1) \
  $(if $(LIBEDIT_FOUND),-DTK_HAVE_LIBEDIT=1 $(CFLAGS_libedit)) \
  $(if $(LATE_ARCHIVE),-DTK_LATE_ARCHIVE='"$(LATE_ARCHIVE)"') $(if $(LATE_EDIT),-DTK_LATE_EDIT='"$(LATE_EDIT)"') \
  $(foreach d,$(DEPS),$(CFLAGS_$(d))) $(CPPFLAGS)
# builds with sanitizers re-read every file that they write
REREAD := $(if $(SANITIZERS),-DTK_REREAD)
ALL_CFLAGS = $(REREAD) -std=c11 $(THREADS) $(PIC) -fvisibility=hidden $(WARNINGS) $(CFLAGS) $(HARDEN) $(SANITIZE)
# gcc's sanitizer libraries, linked statically at a fixed address, start in 19 ms of CPU time rather than 31; tests start the command
# thousands of times.
EXE_LDFLAGS := $(if $(and $(filter 1,$(SAN)),$(findstring gcc,$(CC)),$(filter /%,$(shell $(CC) -print-file-name=libasan.a))),\
  -static-libasan -static-libubsan -no-pie)
ALL_LDFLAGS = $(THREADS) $(SANITIZE) $(HARDEN_LD) $(LDFLAGS)
ALL_LIBS = $(foreach d,$(LINKED),$(LIBS_$(d))) $(if $(LATE_ARCHIVE)$(LATE_EDIT),-ldl) -lm $(LIBS)
CLI_LIBS = $(if $(LATE_EDIT),,$(if $(LIBEDIT_FOUND),$(LIBS_libedit)))

# Objects are rebuilt if a flag, the compiler or the list of files changes.
FLAGS_NOW = $(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(EXE_LDFLAGS) $(ALL_LIBS) $(CLI_LIBS)
LIST_NOW = $(LIB_SRC) $(CLI_SRC)
$(B)/flags: always
	@mkdir -p $(@D)
	@echo '$(FLAGS_NOW)' | cmp -s - $@ || echo '$(FLAGS_NOW)' > $@
$(B)/files: always
	@mkdir -p $(@D)
	@echo '$(LIST_NOW)' | cmp -s - $@ || echo '$(LIST_NOW)' > $@
.PHONY: always

# ---- build --------------------------------------------------------------------------------------------------------------------

.PHONY: all
all: $(BIN) $(STATIC) $(SHARED)

# Code outside the command and the benchmarks may modify data that is const to users of the library.
INSIDE = $(if $(filter cli/% tests/bench/%,$<),,-DTRACEKIT_INSIDE)
# CLI_CFLAGS apply to the command only, whose own code is never a bottleneck.
$(B)/obj/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	@echo "  CC    $<"
	@$(CC) $(ALL_CPPFLAGS) $(INSIDE) $(ALL_CFLAGS) $(if $(filter cli/%,$<),-Icli -I$(B)/page $(CLI_CFLAGS)) -MMD -MP -c $< -o $@

# The static library is one object with its hidden symbols made local: only tk_* can collide with an embedder's names. Apple's linker
# makes them local by itself.
$(B)/libtracekit.o: $(LIB_OBJ) $(B)/files
	@echo "  LD    $@"
	@$(LD) -r -o $@.tmp $(LIB_OBJ)
	@$(if $(APPLE),cp,$(OBJCOPY) --localize-hidden) $@.tmp $@
	@rm -f $@.tmp

$(STATIC): $(B)/libtracekit.o
	@rm -f $@
	@$(AR) rcs $@ $<

SHARED_NAME = $(if $(APPLE),-Wl$(comma)-install_name$(comma)$(PREFIX)/lib/$(notdir $(SHARED)),\
  -Wl$(comma)-soname$(comma)$(notdir $(SHARED)) -Wl$(comma)--version-script=lib/tracekit.map)
$(SHARED): $(LIB_OBJ) $(B)/files lib/tracekit.map
	@echo "  LD    $@"
	@$(CC) -shared $(SHARED_NAME) $(ALL_LDFLAGS) -o $@ $(LIB_OBJ) $(ALL_LIBS)
	@ln -sf $(@F) $(SHARED_LINK)

# With CROSS=1 the binutils are for the build machine rather than the compiler's target, and cannot localise symbols.
BIN_LIB := $(if $(CROSS),$(LIB_OBJ),$(STATIC))
SAMPLED := $(if $(filter 1,$(SAN)),$(B)/obj/tests/support/sampled_checks.o)
$(BIN): $(CLI_OBJ) $(SAMPLED) $(BIN_LIB) $(B)/files
	@echo "  LD    $@"
	@$(CC) $(ALL_LDFLAGS) $(EXE_LDFLAGS) -o $@ $(CLI_OBJ) $(SAMPLED) $(BIN_LIB) $(ALL_LIBS) $(CLI_LIBS)

# Test programs use internals, also those of the command: they link the plain objects, each only those it needs. The archive is
# thin, because objects in several folders have the same name, and thin members keep their paths. The objects that the linker
# took from it are written to <program>.d: from then on the program is relinked if one of these objects changes or a file is
# added or removed, but not if another object changes.
PLAIN := $(B)/obj/plain.a
TESTED_CLI := $(B)/obj/cli/view/request.o
$(PLAIN): $(LIB_OBJ) $(SUPPORT_OBJ) $(TESTED_CLI) $(B)/files
	@rm -f $@
	@$(AR) rcs --thin $@ $(LIB_OBJ) $(SUPPORT_OBJ) $(TESTED_CLI)

# With T=, a program whose objects are known is linked with these alone, so that nothing else is compiled. If they no longer
# suffice, the list is silently dropped, and the next make, which `make test` runs for this purpose, links the program with the
# archive. Some programs run the generator.
KNOWN := $(if $(T),$(patsubst %.d,%,$(wildcard $(TEST_PROGRAMS:=.d))))
$(filter-out $(KNOWN),$(TEST_PROGRAMS)): | $(PLAIN)
$(TEST_PROGRAMS): | $(GEN)
TEST_LIBS = -Wl,--as-needed $(shell $(PKG_CONFIG) --libs cmocka libprotobuf-c) $(if $(LATE_ARCHIVE),$(LIBS_libarchive))
$(FUZZ): private ALL_LDFLAGS += $(if $(filter 1,$(FUZZING)),-fsanitize=fuzzer)
$(TEST_PROGRAMS): $(B)/tests/%: $(B)/obj/tests/%.o $(B)/files
	@mkdir -p $(@D)
	@echo "  LD    $@"
	@$(if $(filter $@,$(KNOWN)),$(LINK_KNOWN),$(LINK_NEEDED))

LINK = $(CC) $(ALL_LDFLAGS) $(EXE_LDFLAGS) -o $@ $(1) $(TEST_LIBS) $(ALL_LIBS)
LINK_KNOWN = $(call LINK,$< $(filter $(LIB_OBJ) $(SUPPORT_OBJ) $(TESTED_CLI),$^)) 2>/dev/null || rm -f $@ $@.d
# If a linker does not print the names of archive members, the program depends on the whole archive.
LINK_NEEDED = $(call LINK,$< $(PLAIN) -Wl$(comma)--trace) > $@.trace && \
  { grep '^$(B)/obj/.*\.o$$' $@.trace | grep -vx '$<' || echo $(PLAIN); } | sed 's|.*|$@: &\n&:|' > $@.d && rm -f $@.trace

# Output of protobuf-c for the schemas in proto/.
$(B)/proto/%.pb-c.c $(B)/proto/%.pb-c.h &: proto/%.proto | $(BUILD)/config.mk
	@mkdir -p $(@D)
	@protoc-c --proto_path=proto --c_out=$(@D) $<

$(PROTO:%=$(B)/obj/proto/%.o): $(B)/obj/proto/%.o: $(B)/proto/%.pb-c.c $(B)/flags
	@mkdir -p $(@D)
	@echo "  CC    $<"
	@$(CC) $(ALL_CPPFLAGS) $(CFLAGS_libprotobuf-c) $(ALL_CFLAGS) -c $< -o $@

$(LIB_SRC:%.c=$(B)/obj/%.o) $(TEST_OBJ): | $(PROTO:%=$(B)/proto/%.pb-c.h)

# The page of view and the script of the report's page, as C string literals.
VIEW_PAGE := $(patsubst cli/view/page/%,$(B)/page/%.inc,$(wildcard cli/view/page/*))
REPORT_PAGE := $(patsubst cli/report/page/%,$(B)/page/%.inc,$(wildcard cli/report/page/*))
$(VIEW_PAGE): $(B)/page/%.inc: cli/view/page/%
$(REPORT_PAGE): $(B)/page/%.inc: cli/report/page/%
$(VIEW_PAGE) $(REPORT_PAGE):
	@mkdir -p $(@D)
	@sed 's/\\/\\\\/g; s/"/\\"/g; s/^/"/; s/$$/\\n"/' $< > $@
$(B)/obj/cli/view/page.o: $(VIEW_PAGE)
$(B)/obj/cli/report/script.o: $(REPORT_PAGE)

# Benchmarks use the library like any other program.
$(BENCH): $(B)/tests/%: $(B)/obj/tests/%.o $(STATIC)
	@mkdir -p $(@D)
	@echo "  LD    $@"
	@$(CC) $(ALL_LDFLAGS) $(EXE_LDFLAGS) -o $@ $< $(STATIC) $(ALL_LIBS)

# The generator of synthetic traces is independent of the library.
$(B)/tests/gen/gen: $(GEN_OBJ)
	@mkdir -p $(@D)
	@echo "  LD    $@"
	@$(CC) $(ALL_LDFLAGS) -o $@ $^ -lm

$(TEST_OBJ): | $(BUILD)/.deps-test
-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(TEST_OBJ:.o=.d) $(TEST_PROGRAMS:=.d)

# ---- Python -------------------------------------------------------------------------------------------------------------------

PYTHON ?= python3
NATIVE := $(B)/python/_native.abi3.so
PYTHON_INCLUDE ?= $(shell $(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))')

# Contents of the wheel besides the package's own files; pyproject.toml describes the rest.
.PHONY: python-parts
python-parts: $(BIN) $(NATIVE)

# Only the module's entry is exported, so that calls into its static libraries are not bound to those of another module. On macOS they
# never are; zig's linker ignores the list there. Without a name, a macOS library would contain the path at which it was linked.
NATIVE_EXPORTS = $(if $(APPLE),\
  -Wl$(comma)-install_name$(comma)@rpath/_native.abi3.so -Wl$(comma)-exported_symbols_list$(comma)python/native.exports,-Wl$(comma)--version-script=python/native.map)
$(NATIVE): python/native.map python/native.exports
NATIVE_SRC = python/native.c python/frame.c python/fetch.c
$(NATIVE): $(NATIVE_SRC) python/frame.h python/fetch.h $(BIN_LIB) $(B)/flags $(HEADERS)
	@mkdir -p $(@D)
	@echo "  LD    $@"
	@$(CC) $(ALL_CPPFLAGS) -I$(PYTHON_INCLUDE) $(ALL_CFLAGS) -shared $(ALL_LDFLAGS) $(NATIVE_EXPORTS) -o $@ $(NATIVE_SRC) $(BIN_LIB) $(ALL_LIBS)

# ---- packages -----------------------------------------------------------------------------------------------------------------

# A single file that needs nothing from the system; wheels for every Linux of the last ten years; WebAssembly for node, WASI and browsers.
.PHONY: static wheel dist test-dist test-wheel test-aarch64 wasm npm web test-wasm test-web deb
static:
	@.ci/setup build package
	@packaging/cross.sh musl-x86_64 $(MAKE) build/package/musl-x86_64/make/tracekit
	@cp build/package/musl-x86_64/make/tracekit $(BUILD)/tracekit-static
	@ls -l $(BUILD)/tracekit-static

wasm:
	@.ci/setup build package
	@packaging/cross.sh wasm32-wasi $(MAKE) build/package/wasm32-wasi/make/tracekit
	@mkdir -p dist
	@$(INSTALL) -m 644 build/package/wasm32-wasi/make/tracekit dist/tracekit.wasm
	@ls -l dist/tracekit.wasm

# The package for node and browsers. It is packed without npm's registry.
NPM := $(BUILD)/npm
npm: wasm
	@rm -rf $(NPM)
	@mkdir -p $(NPM)
	@cp -R npm/. LICENSE dist/tracekit.wasm $(NPM)/
	@sed 's/"version": "0.0.0"/"version": "$(VERSION)"/' npm/package.json > $(NPM)/package.json
	@cd $(NPM) && npm pack --silent --pack-destination $(CURDIR)/dist
	@ls -l dist/tracekit-$(VERSION).tgz

# The page: a folder for any static server, and a single file.
web: wasm
	@python3 web/build.py dist/tracekit.wasm dist/web dist/tracekit.html
	@ls -l dist/tracekit.html

WHEELS ?= linux-$(shell uname -m)
wheel:
	@.ci/setup build package
	@for target in $(WHEELS); do packaging/wheel.sh $$target || exit 1; done

NATIVE_WHEEL = dist/tracekit-$(VERSION)-cp39-abi3-manylinux2014_$(shell uname -m).whl
test-wheel:
	@$(MAKE) wheel WHEELS=linux-$(shell uname -m)
	@B=$(abspath $(BUILD)) SRC=$(CURDIR) tests/python/run.sh $(NATIVE_WHEEL)
	@$(MAKE) test SET=command TESTED=$(BUILD)/test-wheel/bin/tracekit

# The tests of the command take several minutes in qemu: T=WORD runs those with WORD in their name.
test-aarch64: $(SHARED)
	@$(MAKE) wheel WHEELS=linux-aarch64 T=
	@B=$(abspath $(BUILD)) SRC=$(CURDIR) CPU=aarch64 WHEEL=dist/tracekit-$(VERSION)-cp39-abi3-manylinux2014_aarch64.whl CC="$(CC)" \
	  tests/foreign/run.sh
	@$(if $(wildcard /usr/bin/qemu-aarch64-static),FOREIGN=1 $(MAKE) test SET=command TESTED=$(BUILD)/test-aarch64/tracekit)

# Compares the package with a native build whose deflater is zlib, too.
test-wasm:
	@$(MAKE) $(if $(shell command -v npm),npm,wasm) T=
	@$(MAKE) BUILD=$(BUILD)/zlib ISAL=0 T= $(BUILD)/zlib/tracekit
	@$(TEST_ENV) NATIVE=$(abspath $(BUILD))/zlib/tracekit PACKAGE=$(abspath $(NPM)) tests/foreign/wasm.sh

# Tests the page in Chromium and Firefox, against the same native build.
test-web: $(GEN)
	@$(MAKE) web T=
	@$(MAKE) BUILD=$(BUILD)/zlib ISAL=0 T= $(BUILD)/zlib/tracekit
	@$(TEST_ENV) NATIVE=$(abspath $(BUILD))/zlib/tracekit tests/web/run.sh

# Builds Debian packages of all files that are committed or not ignored, in build/package/deb.
deb:
	@.ci/setup build package
	@packaging/deb.sh $(VERSION)

# Everything that is published, with checksums, the same bytes from the same commit. TARGETS= limits it to some targets of
# packaging/deps.sh. test-dist installs the packages in bare systems, as root.
dist:
	@.ci/setup build package
	@+MAKE='$(MAKE)' packaging/dist.sh $(VERSION)
test-dist: $(BUILD)/.deps-test
	@$(TEST_ENV) tests/dist/run.sh

# ---- documentation ------------------------------------------------------------------------------------------------------------

COMMANDS = $(shell $(BIN) __docs commands)

.PHONY: docs
docs: $(B)/.docs
$(B)/.docs: $(BIN) docs/tracekit.3
	@mkdir -p $(B)/man $(B)/completions
	@sed 's/@VERSION@/$(VERSION)/' docs/tracekit.3 > $(B)/man/tracekit.3
	@$(BIN) __docs man > $(B)/man/tracekit.1
	@for c in $(COMMANDS); do $(BIN) __docs man $$c > $(B)/man/tracekit-$$c.1 || exit 1; done
	@$(BIN) __docs bash > $(B)/completions/tracekit.bash
	@$(BIN) __docs zsh > $(B)/completions/_tracekit
	@$(BIN) __docs fish > $(B)/completions/tracekit.fish
	@touch $@

# ---- tests --------------------------------------------------------------------------------------------------------------------

# TESTED=FILE: runs the tests of the command on another executable than the one built here, such as a wheel's.
TESTED ?= $(BIN)
TEST_ENV = B=$(abspath $(B)) TRACEKIT=$(abspath $(TESTED)) FIXTURES=$(abspath fixtures) GEN=$(abspath $(GEN)) SRC=$(CURDIR) JOBS=$(JOBS) CC="$(CC)" T='$(T)' SET=$(SET)

.PHONY: check memcheck messages test test-long test-locale test-programs test-scripts golden corpus interop bench lint demo fuzz fuzz-run coverage
test-programs: $(TEST_PROGRAMS) test-scripts
test-scripts: all $(GEN)

# tests/run.sh knows which tests T= selects, and prints their goals. The second make has nothing to do, except for what KNOWN
# left.
MODE =
WANTED = $(MAKE) $$wanted
MAKE_TESTS = +wanted=$$($(MODE) $(TEST_ENV) PROGRAMS=$(B)/tests tests/run.sh --wanted) && $(WANTED) $(if $(T),&& $(WANTED))
check test test-long golden: | $(BUILD)/.deps-test
	@$(MAKE_TESTS)
	@+$(MODE) $(TEST_ENV) tests/run.sh
check: SET = check
test-long: MODE = LONG=1
golden: MODE = GOLDEN=1

# Runs tests in a locale in which 1.5 is written 1,5, set by a preloaded object, because the command does not set one. Unit
# tests and fuzz targets are excluded: they print numbers themselves for comparison.
LOCALE := de_DE.UTF-8
$(B)/locale/$(LOCALE): | $(BUILD)/.deps-test
	@mkdir -p $(@D)
	@localedef --no-archive -i $(basename $(LOCALE)) -f UTF-8 $@

$(B)/locale/set.so: $(B)/obj/tests/preload/locale.o
	@mkdir -p $(@D)
	@$(CC) -shared -o $@ $<

test-locale: SET = locale
test-locale: MODE = TEST_LOCALE=$(LOCALE) LOCPATH=$(abspath $(B))/locale LD_PRELOAD=$(abspath $(B))/locale/set.so
test-locale: $(B)/locale/$(LOCALE) $(B)/locale/set.so
	@$(MAKE_TESTS)
	@+$(MODE) $(TEST_ENV) tests/run.sh

# Runs every command under valgrind, which detects reads of uninitialised memory.
memcheck: all | $(BUILD)/.deps-test
	@$(TEST_ENV) tests/memcheck/run.py

# The expected outputs of the command are files: make golden writes them, git diff shows the changes.
bench: $(BENCH) $(B)/tests/property/cluster
# Fails if reading or writing is 15% slower than the ratios recorded for this kind of processor; GOLDEN=1 records them.
.PHONY: speed
speed: all $(GEN) $(B)/tests/bench/stages $(B)/tests/bench/limits
	@mkdir -p $(B)/bench
	@python3 tests/bench/growth.py $(BIN) $(GEN) $(B)/tests/bench/stages $(B)/tests/bench/limits $(B)/bench --check tests/bench/ratios.json
corpus interop bench: all $(GEN)
	@if [ ! -x tests/$@/run.sh ]; then echo "SKIPPED: $@: there is no tests/$@/run.sh"; \
	elif [ $@ = corpus ] && [ -z "$(CORPUS)" ]; then echo "SKIPPED: $@: say where the traces are: make $@ CORPUS=DIR"; \
	else CORPUS="$(CORPUS)" $(TEST_ENV) tests/$@/run.sh; fi

# Prints every sentence that users can see, by file and line.
messages:
	@python3 tests/lint/messages.py

lint: all | $(BUILD)/.deps-test
	@$(TEST_ENV) tests/lint/run.sh

# Runs libFuzzer, which needs clang: TIME= seconds or RUNS= runs per target, SEED= initial random seed (default: the date), T=
# only targets with this in their name.
TIME ?= 60
fuzz:
	@if command -v clang >/dev/null; then $(MAKE) CC=clang CFLAGS='-O1 -g' FUZZING=1 T= TARGETS='$(T)' fuzz-run; \
	else echo 'SKIPPED: fuzz: clang is not installed'; fi
fuzz-run: $(FUZZ)
	@TIME=$(TIME) RUNS=$(RUNS) SEED=$(SEED) $(TEST_ENV) T='$(TARGETS)' tests/fuzz/run.sh

# Calls the Python package with random arguments: TIME= seconds, SEED= as above.
.PHONY: fuzz-python fuzz-python-run
fuzz-python:
	@$(MAKE) SAN=1 fuzz-python-run
fuzz-python-run: python-parts
	@mkdir -p $(B)/fuzz-python/tracekit && cp python/tracekit/*.py $(NATIVE) $(B)/fuzz-python/tracekit/
	@B=$(abspath $(B)) FIXTURES=$(abspath fixtures) PYTHONPATH=$(abspath $(B))/fuzz-python PYTHONMALLOC=malloc TIME=$(TIME) SEED=$(SEED) \
	  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:abort_on_error=1 UBSAN_OPTIONS=print_stacktrace=1:abort_on_error=1 \
	  LD_PRELOAD="$(shell $(CC) -print-file-name=libasan.so) $(shell $(CC) -print-file-name=libubsan.so)" $(PYTHON) tests/python/fuzz.py

# Measures which code of the library the tests cover, with gcov. `make test` decides whether tests pass: here some fail, because
# gcov itself needs the memory that the fault tests deny.
coverage:
	-@$(MAKE) BUILD=$(BUILD)/coverage CC=gcc CFLAGS='-O1 -g --coverage -fprofile-update=atomic' LDFLAGS=--coverage test
	@tests/support/coverage.py $(BUILD)/coverage

demo: all
	@$(TEST_ENV) .ci/demo $(B)/demo

# ---- install ------------------------------------------------------------------------------------------------------------------

BINDIR = $(DESTDIR)$(PREFIX)/bin
LIB ?= lib
LIBDIR = $(DESTDIR)$(PREFIX)/$(LIB)
INCDIR = $(DESTDIR)$(PREFIX)/include
MANDIR = $(DESTDIR)$(PREFIX)/share/man/man1
MAN3DIR = $(DESTDIR)$(PREFIX)/share/man/man3
BASHDIR = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
ZSHDIR = $(DESTDIR)$(PREFIX)/share/zsh/site-functions
FISHDIR = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d

$(B)/tracekit.pc: tracekit.pc.in lib/tracekit.h $(B)/flags
	@sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIB@|$(LIB)|' -e 's|@VERSION@|$(VERSION)|' -e 's|@REQUIRES@|$(strip $(LINKED))|' -e 's|@LATE@|$(if $(LATE_ARCHIVE), -ldl)|' $< > $@

.PHONY: install uninstall clean help deps
install: all docs $(B)/tracekit.pc
	$(INSTALL) -d $(BINDIR) $(LIBDIR)/pkgconfig $(INCDIR) $(MANDIR) $(MAN3DIR) $(BASHDIR) $(ZSHDIR) $(FISHDIR)
	$(INSTALL) -m 755 $(BIN) $(BINDIR)/tracekit
	for c in $(COMMANDS); do ln -sf tracekit $(BINDIR)/tracekit-$$c; done
	$(INSTALL) -m 644 $(STATIC) $(LIBDIR)/libtracekit.a
	$(INSTALL) -m 755 $(SHARED) $(LIBDIR)/
	ln -sf $(notdir $(SHARED)) $(LIBDIR)/$(notdir $(SHARED_LINK))
	$(INSTALL) -m 644 $(HEADERS) $(INCDIR)/
	$(INSTALL) -m 644 $(B)/tracekit.pc $(LIBDIR)/pkgconfig/tracekit.pc
	$(INSTALL) -m 644 $(B)/man/*.1 $(MANDIR)
	$(INSTALL) -m 644 $(B)/man/tracekit.3 $(MAN3DIR)
	$(INSTALL) -m 644 $(B)/completions/tracekit.bash $(BASHDIR)/tracekit
	$(INSTALL) -m 644 $(B)/completions/_tracekit $(ZSHDIR)/_tracekit
	$(INSTALL) -m 644 $(B)/completions/tracekit.fish $(FISHDIR)/tracekit.fish
	$(STRIP) $(STRIP_DEBUG) $(BINDIR)/tracekit $(LIBDIR)/$(notdir $(SHARED)) $(LIBDIR)/libtracekit.a
	@[ -n '$(DESTDIR)' ] || ldconfig 2>/dev/null || echo 'ldconfig has to be run, by root, before programs find the library'

uninstall: all
	rm -f $(BINDIR)/tracekit $(LIBDIR)/libtracekit.a $(LIBDIR)/$(notdir $(SHARED_LINK)) $(LIBDIR)/$(notdir $(SHARED))
	rm -f $(HEADERS:lib/%=$(INCDIR)/%) $(LIBDIR)/pkgconfig/tracekit.pc $(MANDIR)/tracekit.1 $(MAN3DIR)/tracekit.3
	rm -f $(BASHDIR)/tracekit $(ZSHDIR)/_tracekit $(FISHDIR)/tracekit.fish
	for c in $(COMMANDS); do rm -f $(BINDIR)/tracekit-$$c $(MANDIR)/tracekit-$$c.1; done

clean:
	rm -rf $(BUILD)

deps:
	@rm -f $(BUILD)/.deps-test
	@.ci/setup build test

help:
	@sed -n 's/^# \{0,1\}//p' Makefile | sed -n '1,9p'
	@echo '  other targets: check docs golden test-locale test-wheel test-aarch64 test-wasm test-web lint memcheck messages corpus interop bench speed fuzz fuzz-python coverage deps wheel static wasm npm web deb uninstall clean'
	@echo '  variables: CC=gcc|clang SAN=1|thread WERROR=1 ISAL=0 LIBEDIT=0 LATE=0 CFLAGS= BUILD=build CORPUS=DIR T=WORD SET=SET TIME=SECONDS PREFIX= DESTDIR='
