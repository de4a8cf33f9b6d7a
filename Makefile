# SPDX-License-Identifier: BSD-2-Clause
# tally: `make help` lists the targets.

# The machine that tally is built for: make ARCH=arm64 is a cross build on another one.
own_arch := $(subst x86_64,x86,$(subst aarch64,arm64,$(shell uname -m)))
ARCH    ?= $(own_arch)
cross   := $(filter-out $(own_arch),$(ARCH))
BUILD   ?= build$(if $(cross),/$(ARCH))
# However it is typed: the dependencies that compilers write name their targets as they are here.
override BUILD := $(patsubst $(CURDIR)/%,%,$(abspath $(BUILD)))
PREFIX  ?= /usr/local
DESTDIR ?=
CLANG   ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/bin/bpftool) bpftool)
PYTHON  ?= /usr/bin/python3
PKG_CONFIG ?= pkg-config
ifneq ($(cross),)
ifneq ($(ARCH),arm64)
$(error ARCH=$(ARCH): there are x86 and arm64)
endif
ifneq ($(filter dist deb rpm,$(MAKECMDGOALS)),)
$(error ARCH=$(ARCH): packages are made on a machine of their architecture; dist makes static programs of both)
endif
CROSS   ?= aarch64-linux-gnu-
# An arm64 system with the libraries and headers; clang and bpftool are this machine's.
SYSROOT ?= $(shell tests/kernels/arm64-root)
ifeq ($(strip $(SYSROOT)),)
$(error there is no arm64 system to link with: name one with SYSROOT=FOLDER)
endif
CC      := $(CROSS)gcc --sysroot=$(SYSROOT)
CXX     := $(CROSS)g++ --sysroot=$(SYSROOT)
PKG_CONFIG := PKG_CONFIG_SYSROOT_DIR=$(SYSROOT) PKG_CONFIG_LIBDIR=$(SYSROOT)/usr/lib/aarch64-linux-gnu/pkgconfig:$(SYSROOT)/usr/share/pkgconfig pkg-config
endif

# What `tally --version` says.
VERSION := $(shell packaging/version)

Q := $(if $(V),,@)
# Where others are started that build: on all CPUs, if nothing else is said.
jobs := $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))
say = $(if $(V),,@printf '  %-8s%s\n' $(1) $(2))

# --- what is built -------------------------------------------------------------------------

# What says TOOL() is a tool, called like its file; the rest of a family is what its tools share.
mains    := $(shell grep -l ^TOOL $(wildcard tools/*/*.c))
tools    := $(sort $(basename $(notdir $(mains))))
# Answers of tally itself have no link of their own: diff(1) is another program.
links    := $(filter-out bench diff doctor peers,$(tools))
bpf      := $(patsubst %.bpf.c,%,$(notdir $(wildcard bpf/*/*.bpf.c)))
skels    := $(bpf:%=$(BUILD)/skel/%.skel.h)
library  := $(wildcard user/*/*.c) $(filter-out $(mains),$(wildcard tools/*/*.c tools/*/*/*.c))
sources  := $(library) $(mains) tools/tally.c
pages    := $(patsubst docs/man/%.scd,%,$(wildcard docs/man/*.scd))
unit     := $(patsubst tests/unit/test_%.c,%,$(wildcard tests/unit/test_*.c))
# vcpu is a virtual machine of x86.
triggers := $(filter-out $(if $(filter x86,$(ARCH)),,vcpu),$(patsubst tests/triggers/%.c,%,$(wildcard tests/triggers/*.c))) \
	    $(patsubst tests/triggers/%.cc,%,$(wildcard tests/triggers/*.cc)) \
	    $(if $(filter x86,$(ARCH)),$(patsubst tests/triggers/32bit/%.c,%,$(wildcard tests/triggers/32bit/*.c)))

# Objects of a variant live apart, so that switching rebuilds nothing needlessly.
variant  := $(if $(STATIC),-static)$(if $(SANITIZE),-asan)$(if $(FUZZ),-fuzz)
OBJ      := $(BUILD)/obj$(variant)
# So do the programs with sanitizers, which tests are run with; the triggers are the same.
BIN      := $(BUILD)$(if $(SANITIZE),/asan)
objects  := $(sources:%.c=$(OBJ)/%.o) $(OBJ)/manual.o

warnings := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Werror
# A stack may be no larger than 64 KB (ulimit -s): what takes much of it has to be elsewhere.
own_warnings := $(if $(SANITIZE)$(FUZZ),,-Wframe-larger-than=16384 -Wvla)
CPPFLAGS += -D_GNU_SOURCE -iquote user -iquote . -iquote tools -iquote bpf/lib -iquote $(BUILD)/skel
CFLAGS   ?= -O2 -g
CFLAGS   += -std=gnu11 $(warnings)
# DWARF (user/types/dwarf.h), and the symbols in .gnu_debugdata; LIBDW= builds without.
LIBDW    ?= $(shell $(PKG_CONFIG) --exists libdw liblzma && echo -ldw -llzma)
libdw    := $(strip $(LIBDW))
LIBS     := $(libdw) -lbpf -lelf -lz -ljansson -lm
ifdef STATIC
CPPFLAGS += -DTALLY_STATIC
# user/host/module_btfs.c, user/types/kernel_btf.c
wrapped  := bpf_btf_get_next_id btf__load_vmlinux_btf btf__free btf__find_by_name_kind btf__type_by_id
LDFLAGS  += -static $(foreach f,$(wrapped),-Wl,--wrap=$(f))
LIBS     := $(shell $(PKG_CONFIG) --static --libs $(if $(libdw),libdw liblzma) libbpf libelf jansson) -lm
endif
ifneq ($(libdw),)
CPPFLAGS += -DHAVE_LIBDW
else
$(info libdw or liblzma is missing: built without DWARF; `make deps` installs them)
endif
# C++ and Rust names (user/sym/demangle.h); LIBIBERTY= builds without.
LIBIBERTY ?= $(shell $(CC) -E -include libiberty/demangle.h -xc /dev/null >/dev/null 2>&1 && echo -liberty)
ifneq ($(strip $(LIBIBERTY)),)
CPPFLAGS += -DHAVE_LIBIBERTY
LIBS     += $(LIBIBERTY)
else
$(info libiberty is missing: C++ and Rust names stay mangled; `make deps` installs it)
endif
# Disassembly (user/sym/capstone.h), which loads it; LIBCAPSTONE= builds without.
LIBCAPSTONE ?= $(shell $(PKG_CONFIG) --exists capstone && echo -lcapstone)
ifneq ($(strip $(LIBCAPSTONE)),)
CPPFLAGS += -DHAVE_CAPSTONE
ifdef STATIC
LIBS     += $(LIBCAPSTONE)
endif
else
$(info capstone is missing: built without disassembly; `make deps` installs it)
endif
# --listen (user/run/microhttpd.h), which loads it; LIBMICROHTTPD= builds without.
LIBMICROHTTPD ?= $(shell $(PKG_CONFIG) --exists libmicrohttpd && echo -lmicrohttpd)
ifneq ($(strip $(LIBMICROHTTPD)),)
CPPFLAGS += -DHAVE_MICROHTTPD
ifdef STATIC
LIBS     := $(OBJ)/no_gnutls.o $(LIBMICROHTTPD) $(LIBS)
no_gnutls := $(OBJ)/no_gnutls.o
endif
else
$(info libmicrohttpd is missing: built without --listen; `make deps` installs it)
endif
# tally record (user/record/sqlite.h), which loads it; LIBSQLITE= builds without.
LIBSQLITE ?= $(shell $(PKG_CONFIG) --exists sqlite3 && echo -lsqlite3)
ifneq ($(strip $(LIBSQLITE)),)
CPPFLAGS += -DHAVE_SQLITE
ifdef STATIC
LIBS     := $(LIBSQLITE) $(LIBS) -lm
endif
else
$(info libsqlite3 is missing: built without recordings; `make deps` installs it)
endif
# tests/fuzz, with clang's libFuzzer: make fuzz.
ifdef FUZZ
CC       := $(CLANG)
CFLAGS   += -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -Wno-error
endif
ifdef SANITIZE
CFLAGS   += -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
LDFLAGS  += -fsanitize=address,undefined
endif
# The compilation directory would be in the objects, and in tally.
BPFFLAGS := -g -O2 -target bpf -mcpu=v2 -D__TARGET_ARCH_$(ARCH) -Ivmlinux -Ibpf/lib -fdebug-compilation-dir=. \
	    -Wall -Wextra -Wshadow -Werror -Wno-unused-parameter -Wno-unused-function

all: $(BIN)/tally $(links:%=$(BIN)/%)

.PHONY: all help demo check check-all unit check-unit check-static check-live check-live-all check-live-new check-sanitized check-kernels check-arm64 check-odd check-browser check-fuzz check-release static-branches check-packages dist deb rpm fuzz fuzz-run deps-browser bench soak asan install uninstall clean \
	deps deps-test deps-arm64 deps-bench deps-packages format man man-options triggers FORCE
.DELETE_ON_ERROR:
.SECONDARY:

help:
	@echo 'make            build/tally and a link for each tool (V=1 shows the commands)'
	@echo 'make demo       install what is missing (Debian 12, 13), build, measure this machine'
	@echo 'make check      install what tests need, build, and run what must hold before a change lands (20 minutes)'
	@echo 'make check-all  everything on all kernels, sanitizers, fuzzing, packages, browser (hours); P="kernels fuzz": these'
	@echo 'make check-unit T="glob jit" | check-live K=runqlat    one part of them, or of these; check-static'
	@echo 'make check-live-all | check-sanitized | check-kernels | check-fuzz    parts of check-all; WHOLE=1: each test on each kernel'
	@echo 'make ARCH=arm64  a cross build in build/arm64 (INSTALL.md); make check-arm64: tests in an emulated arm64 machine'
	@echo 'make check-odd  a few tools on odd machines: 64 CPUs, cgroup v1 alone, lockdown, no JIT'
	@echo 'make check-browser  pictures and pages in Chromium (installs it)'
	@echo 'make bench      cost of the tools beside their peers (installs those)'
	@echo 'make fuzz       random expressions under the sanitizers; FUZZ_RUNS=N, -1 for ever'
	@echo 'make soak       the long tests: half an hour each, or TALLY_SOAK_SECONDS'
	@echo 'make asan       build/asan/tally, with the address and undefined-behaviour sanitizers'
	@echo 'make STATIC=1   a static build/tally, one file to copy'
	@echo 'make install    to DESTDIR and PREFIX, with man pages and completion for bash, zsh, fish; make uninstall'
	@echo 'make dist | deb | rpm   a release: tarball and static program; Debian package; RPM package (docs/packaging.md)'
	@echo 'make check-packages     builds, installs and removes them'
	@echo 'make compile_commands.json  for clangd'
	@echo 'make deps       install what the build needs; deps-test, deps-bench likewise'

# --- kernel side: C -> BPF object -> one linked object without DWARF -> skeleton ---------------

vpath %.bpf.c $(wildcard bpf/*)
$(BUILD)/bpf/%.bpf.tmp.o: %.bpf.c Makefile
	$(call say,BPF,$<)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPFFLAGS) -MMD -MP -MT $@ -MF $(@:.o=.d) -c $< -o $@

$(BUILD)/bpf/%.bpf.o: $(BUILD)/bpf/%.bpf.tmp.o
	$(Q)$(BPFTOOL) gen object $@ $<

$(BUILD)/skel/%.skel.h: $(BUILD)/bpf/%.bpf.o
	$(call say,SKEL,$@)
	@mkdir -p $(@D)
	$(Q)$(BPFTOOL) gen skeleton $< name $(subst -,_,$*)_bpf > $@

# --- the tables of system calls, from the kernel's headers --------------------------------------

syscall_tables := $(BUILD)/skel/syscall_table.h $(BUILD)/skel/syscall_table_32.h
syscall_header_32 := $(if $(filter x86,$(ARCH)),asm/unistd_32.h)

$(BUILD)/skel/syscall_table.h: syscall_header := asm/unistd.h
$(BUILD)/skel/syscall_table_32.h: syscall_header := $(syscall_header_32)

$(syscall_tables): Makefile
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(Q)echo '$(if $(syscall_header),#include <$(syscall_header)>)' | $(CC) -E -dM -xc - | \
		awk '$$2 ~ /^__NR3264_/ { number[$$2] = $$3 } \
			$$2 ~ /^__NR_[a-z_0-9]+$$/ && $$2 !~ /^__NR_(syscalls|arch_specific_syscall)$$/ \
				{ call[substr($$2, 6)] = $$3 } \
			END { for (name in call) { n = call[name]; if (n in number) n = number[n]; \
				if (n ~ /^[0-9]+$$/) print "CALL(" name ", " n ")" } }' | sort > $@

# Changes only when the version does.
$(BUILD)/skel/version.h: FORCE
	@mkdir -p $(@D)
	@echo '#define TALLY_VERSION "$(VERSION)"' | cmp -s - $@ || echo '#define TALLY_VERSION "$(VERSION)"' > $@

# --- user side -------------------------------------------------------------------------------

$(OBJ)/%.o: %.c Makefile | $(skels) $(syscall_tables) $(BUILD)/skel/version.h
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(own_warnings) -MMD -MP -c $< -o $@

$(OBJ)/manual.o: $(BUILD)/manual.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -c $< -o $@

# Debian's libmicrohttpd.a asks for GnuTLS, which cannot be linked statically there. We never ask for
# TLS: these functions, as many as this libmicrohttpd.a names, are not called, or do nothing.
$(BUILD)/no_gnutls.c: Makefile
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(Q)(echo 'int no_gnutls(void); int no_gnutls(void) { return 0; }'; \
		nm -u $$($(CC) -print-file-name=libmicrohttpd.a) | awk '$$1 == "U" && $$2 ~ /^gnutls_/ \
		&& !seen[$$2]++ { print "int " $$2 "(void) __attribute__((alias(\"no_gnutls\")));" }') > $@

$(OBJ)/no_gnutls.o: $(BUILD)/no_gnutls.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -c $< -o $@

# Holds the variant that tally was linked as; changes only when that does.
$(BIN)/.variant: FORCE
	@mkdir -p $(@D)
	@echo '$(variant)' | cmp -s - $@ || echo '$(variant)' > $@

# The function that doctor --prove calls, for probes on stripped programs.
exported := $(if $(STATIC),,-Wl,--export-dynamic-symbol=tally_prove_called)

$(BIN)/tally: $(objects) $(no_gnutls) $(BIN)/.variant
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(exported) $(objects) $(LIBS) -o $@

$(links:%=$(BIN)/%): $(BIN)/tally
	$(Q)ln -sfT tally $@

# --- manual pages: roff for man, plain text inside the executable ------------------------------

$(BUILD)/man/%: docs/man/%.scd
	$(call say,MAN,$@)
	@mkdir -p $(@D)
	$(Q)scdoc < $< > $@

# Neither words nor options are divided; -t is for tables.
$(BUILD)/man/%.txt: $(BUILD)/man/%
	$(Q)(echo '.cflags 0 - \[hy]'; cat $<) | GROFF_NO_SGR=1 nroff -t -man -Tascii -rLL=78n -rHY=0 -Wbreak | \
		sed 's/.\x08//g' > $@

# Documents that manual pages refer to: tally help json.
documents := $(addprefix docs/,accuracy.md cookbook.md json.md recordings.md symptoms.md troubleshooting.md)

$(BUILD)/manual.c: $(pages:%=$(BUILD)/man/%.txt) $(documents) docs/man/embed.awk
	$(call say,GEN,$@)
	$(Q)awk -f docs/man/embed.awk $(sort $(pages:%=$(BUILD)/man/%.txt)) $(documents) > $@

man: $(pages:%=$(BUILD)/man/%)

# Options in the sources of the pages, from --help of the tools.
man-options: all
	TALLY_BUILD=$(abspath $(BUILD)) $(PYTHON) docs/man/options.py

# --- tests -------------------------------------------------------------------------------------

# Unit tests link the library, not the tools: of it, what they use.
$(OBJ)/libtally.a: $(library:%.c=$(OBJ)/%.o)
	$(call say,AR,$@)
	$(Q)rm -f $@
	$(Q)ar rcsT $@ $^

$(OBJ)/unit/test_%: tests/unit/test_%.c $(OBJ)/libtally.a $(no_gnutls)
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -MMD -MP -MT $@ -MF $@.d $< $(OBJ)/libtally.a $(LIBS) -lcmocka -o $@

$(BUILD)/triggers/%: tests/triggers/%.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP $< -pthread -lbpf -o $@

$(BUILD)/triggers/%: tests/triggers/%.cc
	$(call say,CXX,$@)
	@mkdir -p $(@D)
	$(Q)$(CXX) -O2 -g -Wall -Wextra -Werror -D_GNU_SOURCE -MMD -MP $< -pthread -o $@

# Without a C library: the 32-bit one is a package of its own.
$(BUILD)/triggers/%: tests/triggers/32bit/%.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -m32 -O2 -g -Wall -Wextra -Werror -std=gnu11 -ffreestanding -nostdlib -static -fno-pie -no-pie \
		-fno-stack-protector -MMD -MP $< -o $@

# A fixed number of runs as a test; as long as one likes with make fuzz FUZZ_RUNS=-1.
FUZZ_RUNS ?= 100000

$(OBJ)/fuzz/%: tests/fuzz/%.c $(OBJ)/libtally.a
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -fsanitize=fuzzer -MMD -MP -MT $@ -MF $@.d $< $(OBJ)/libtally.a $(LIBS) -o $@

fuzz-run: $(OBJ)/fuzz/expressions $(OBJ)/fuzz/saved $(OBJ)/fuzz/eh_frame $(OBJ)/fuzz/python_code $(OBJ)/fuzz/go_functions
	@mkdir -p $(BUILD)/corpus $(BUILD)/corpus-saved $(BUILD)/corpus-eh_frame $(BUILD)/corpus-python_code $(BUILD)/corpus-go_functions
	$(OBJ)/fuzz/go_functions -max_len=1000 -seed=1 -runs=$(FUZZ_RUNS) -max_total_time=30 \
		-artifact_prefix=$(BUILD)/ -print_final_stats=1 -verbosity=0 $(BUILD)/corpus-go_functions tests/fuzz/go_functions.seeds
	$(OBJ)/fuzz/python_code -max_len=1000 -seed=1 -runs=$(FUZZ_RUNS) -max_total_time=30 \
		-artifact_prefix=$(BUILD)/ -print_final_stats=1 -verbosity=0 $(BUILD)/corpus-python_code tests/fuzz/python_code.seeds
	$(OBJ)/fuzz/eh_frame -max_len=1000 -seed=1 -runs=$(FUZZ_RUNS) -max_total_time=30 \
		-artifact_prefix=$(BUILD)/ -print_final_stats=1 -verbosity=0 $(BUILD)/corpus-eh_frame tests/fuzz/eh_frame.seeds
	$(OBJ)/fuzz/saved -dict=tests/fuzz/saved.dict -max_len=1000 -seed=1 -runs=$(FUZZ_RUNS) -max_total_time=60 \
		-artifact_prefix=$(BUILD)/ -print_final_stats=1 -verbosity=0 -close_fd_mask=2 $(BUILD)/corpus-saved tests/fuzz/saved.seeds
	$< -dict=tests/fuzz/expressions.dict -max_len=120 -seed=1 -runs=$(FUZZ_RUNS) -artifact_prefix=$(BUILD)/ \
		-print_final_stats=1 -verbosity=0 $(BUILD)/corpus

fuzz check-fuzz:
	@$(MAKE) --no-print-directory FUZZ=1 FUZZ_RUNS=$(FUZZ_RUNS) fuzz-run

triggers: $(triggers:%=$(BUILD)/triggers/%)

# make check-unit T='histogram glob': these alone.
unit: $(patsubst %,$(OBJ)/unit/test_%,$(or $(T),$(unit)))

check-unit: $(patsubst %,$(OBJ)/unit/test_%,$(or $(T),$(unit)))
	@failed=; for t in $^; do ./$$t || failed="$$failed $${t##*/}"; done; \
	test -z "$$failed" || { echo "unit tests that failed:$$failed"; exit 1; }

# Layering, format, prose, the gate's own lists: nothing is loaded into the kernel.
check-static: all triggers
	TALLY_BUILD=$(abspath $(BUILD)) $(PYTHON) -m pytest -q -rfEs -p no:cacheprovider tests/static

# make check-live K=runqlat: those whose names match (pytest -k).
check-live check-live-all: all triggers
	$(PYTHON) tests/live/run tests/live tests/incidents $(if $(K),-k '$(K)')

# The tests that tests/costs lacks. Their seconds are added to it.
check-live-new: all triggers
	$(PYTHON) tests/live/run --new tests/live tests/incidents

# On each kernel all tests, and not half of them, with WHOLE=1. Guests may have other parts of check-all beside them.
check-kernels: all triggers
	TALLY_BOOT_TIMEOUT=$(or $(TALLY_BOOT_TIMEOUT),14400) TALLY_WHOLE=$(WHOLE) tests/kernels/run

# On an emulated arm64 machine, with a PMU whose cycles count instructions.
check-arm64: deps-arm64
	tests/kernels/fetch 6.12-arm64
	@$(MAKE) --no-print-directory $(jobs) ARCH=arm64 BUILD=build/arm64 all triggers
	TALLY_BOOT_TIMEOUT=$(or $(TALLY_BOOT_TIMEOUT),1800) TALLY_BOOT_QEMU='-icount shift=2,sleep=off' \
		tests/kernels/boot 6.12-arm64 -- tests/kernels/arm64-checks build/arm64

# Machines of an odd kind: many CPUs, version 1 of the control groups alone, each lockdown, no BPF JIT.
check-odd: all
	tests/kernels/fetch 6.1
	TALLY_BOOT_TIMEOUT=$(or $(TALLY_BOOT_TIMEOUT),900) TALLY_BOOT_CPUS=64 TALLY_CGROUP=v1only \
		TALLY_BOOT_APPEND=lockdown=integrity tests/kernels/boot 6.1 -- tests/kernels/odd-checks cpus $(BUILD)
	TALLY_BOOT_TIMEOUT=$(or $(TALLY_BOOT_TIMEOUT),900) TALLY_BOOT_APPEND=lockdown=confidentiality \
		tests/kernels/boot 6.1 -- tests/kernels/odd-checks confidential $(BUILD)
	TALLY_BOOT_TIMEOUT=$(or $(TALLY_BOOT_TIMEOUT),900) tests/kernels/boot 6.1 -- tests/kernels/odd-checks nojit $(BUILD)

# What differs in the static program (make STATIC=1), which takes minutes to build whole: packaging/dist.
static-branches: $(patsubst %.c,$(OBJ)/%.o,$(shell grep -l TALLY_STATIC $(sources)))

# What packages are made from.
check-release: all
	@$(MAKE) --no-print-directory $(jobs) STATIC=1 static-branches
	$(PYTHON) -m pytest -q -p no:cacheprovider tests/packages/test_release.py

# Packages, built, installed and removed: on Debian, as root, some 25 minutes.
check-packages: deps-packages
	@$(MAKE) --no-print-directory $(jobs) all
	$(PYTHON) -m pytest -q -p no:cacheprovider tests/packages

# Pictures, in a real browser; installs one.
check-browser: deps-browser
	@$(MAKE) --no-print-directory all triggers
	TALLY_BUILD=$(abspath $(BUILD)) tests/browser/run

# The landing gate: what is in it is said there, and in CONTRIBUTING.md.
check: deps-test
	+@tests/check

# Everything, for hours, strictly; or P='kernels fuzz', these parts.
check-all: deps-test
	+@tests/check-all $(P)

soak: deps-test
	@$(MAKE) --no-print-directory all triggers
	TALLY_SOAK=1 $(PYTHON) -m pytest -q -s -p no:cacheprovider -m soak tests/live

asan:
	@$(MAKE) --no-print-directory $(jobs) SANITIZE=1 all
	@ln -sfT ../triggers $(BUILD)/asan/triggers
	@ln -sfT ../bpf $(BUILD)/asan/bpf

# Unit tests, and live tests of every tool with its usual options and of hostile input, under the sanitizers. (Not
# test_hostile_files: the process that reads files has no limits then.)
K_SANITIZED := (every_tool or hostile or wrong or listen or output or record) and not hostile_files

check-sanitized: asan triggers
	@$(MAKE) --no-print-directory $(jobs) SANITIZE=1 unit
	@$(MAKE) --no-print-directory SANITIZE=1 check-unit
	TALLY_BUILD=$(abspath $(BUILD)/asan) $(PYTHON) tests/live/run tests/live -k '$(or $(K),$(K_SANITIZED))'

bench: deps-bench
	@$(MAKE) --no-print-directory all triggers
	$(PYTHON) tests/bench/bench.py

demo: deps
	@$(MAKE) --no-print-directory $(jobs) all
	tests/demo

# --- packages ------------------------------------------------------------------------------------

packages       := gcc make clang libbpf-dev bpftool libelf-dev libdw-dev liblzma-dev zlib1g-dev \
		  libiberty-dev libcapstone-dev libjansson-dev libmicrohttpd-dev libsqlite3-dev pkg-config scdoc groff-base gawk
# prometheus: promtool checks the metrics of every tool, and it scrapes and queries tally export. Servers and languages are for
# tests/incidents, which start them by hand.
packages_test  := $(packages) g++ lld mold musl-tools dwz systemtap-sdt-dev libcmocka-dev \
		  python3-pytest python3-pytest-xdist python3-pytest-timeout python3-prometheus-client \
		  util-linux iproute2 procps prometheus zsh fish \
		  postgresql redis-server nginx-light default-jdk-headless $(if $(shell command -v node),,nodejs) $(if $(shell command -v go),,golang-go) \
		  gdb qemu-system-x86 busybox-static kmod cpio xz-utils zstd clang-format binutils
# Other builds of node and npm will do: Debian's do not install beside them.
packages_browser := chromium $(if $(shell command -v node),,nodejs) $(if $(shell command -v npm),,npm)
packages_arm64 := $(packages) gcc-aarch64-linux-gnu g++-aarch64-linux-gnu mmdebstrap qemu-system-arm kmod cpio xz-utils zstd util-linux
packages_bench := $(packages) python3 libbpf-tools bpftrace linux-perf

packages_packages := $(packages_arm64) dpkg-dev debhelper lintian rpm rpm2cpio rpmlint man-db git python3-pytest

deps:
	@sh tests/install-packages $(packages)
deps-test:
	@sh tests/install-packages $(packages_test)
deps-arm64:
	@sh tests/install-packages $(packages_arm64)
deps-browser:
	@sh tests/install-packages $(packages) $(packages_browser)
deps-bench:
	@sh tests/install-packages $(packages_bench)
deps-packages:
	@sh tests/install-packages $(packages_packages)

# --- releases, from a git checkout: docs/packaging.md ----------------------------------------------

dist:
	+packaging/dist $(BUILD)/dist

deb:
	packaging/dist $(BUILD)/deb source
	+packaging/deb $(BUILD)/deb/tally-*.tar.gz $(BUILD)/deb

rpm:
	packaging/dist $(BUILD)/rpm source
	packaging/rpm $(BUILD)/rpm/tally-*.tar.gz $(BUILD)/rpm

# --- the rest --------------------------------------------------------------------------------------

# Plain words are commands elsewhere, or may be in somebody's scripts: in PATH they are there as `tally NAME` only. All names
# are links in libexec/tally, for those who want them in their PATH.
plain    := export faults list migrations probe profile reclaim record replay run show signals stat timers trace workqueues
named    := $(filter-out $(plain),$(links))
bindir   := $(DESTDIR)$(PREFIX)/bin
execdir  := $(DESTDIR)$(PREFIX)/libexec/tally
mandir   := $(DESTDIR)$(PREFIX)/share/man/man1
# Completions. Debian's zsh looks elsewhere: packaging/debian/rules.
ZSHDIR   ?= $(PREFIX)/share/zsh/site-functions
compdir  := $(DESTDIR)$(PREFIX)/share/bash-completion/completions
zshdir   := $(DESTDIR)$(ZSHDIR)
fishdir  := $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
# For tally export and record (docs/export.md, recordings.md). Units are neither enabled nor started. Files in
# SYSCONFDIR are kept.
SYSCONFDIR ?= /etc
unitdir  := $(DESTDIR)$(PREFIX)/lib/systemd/system
alertdir := $(DESTDIR)$(PREFIX)/share/tally/export
confdir  := $(DESTDIR)$(SYSCONFDIR)/tally
installed_pages := $(filter-out $(plain:%=%.1),$(pages)) $(plain:%=tally-%.1)

# Each names tally at the end of a line; the others that are in PATH follow there.
complete_named = sed 's/ tally$$/& $(named)/' $(1) >$(2) && chmod 644 $(2)

complete_unit = sed 's|/usr/bin/tally |$(PREFIX)/bin/tally |; s|/etc/tally/|$(SYSCONFDIR)/tally/|' \
	packaging/$(1)/tally-$(1).service >$(unitdir)/tally-$(1).service && chmod 644 $(unitdir)/tally-$(1).service

# Earlier versions put links there: those are taken away, and nothing else of such a name.
unlink_plain = for t in $(plain); do \
	if test "$$(readlink $(bindir)/$$t)" = tally; then rm -f $(bindir)/$$t; fi; \
	if test "$$(readlink $(compdir)/$$t)" = tally; then rm -f $(compdir)/$$t; fi; done

install: all man
	install -d $(bindir) $(execdir) $(mandir) $(compdir) $(zshdir) $(fishdir) $(unitdir) $(alertdir) $(confdir)
	install -m 755 $(BUILD)/tally $(bindir)/tally
	for t in $(named); do ln -sfT tally $(bindir)/$$t; done
	for t in $(links); do ln -sfT ../../bin/tally $(execdir)/$$t; done
	for p in $(filter-out $(plain:%=%.1),$(pages)); do install -m 644 $(BUILD)/man/$$p $(mandir)/$$p; done
	for t in $(plain); do install -m 644 $(BUILD)/man/$$t.1 $(mandir)/tally-$$t.1; done
	$(call complete_named,docs/completion.bash,$(compdir)/tally)
	$(call complete_named,docs/completion.zsh,$(zshdir)/_tally)
	$(call complete_named,docs/completion.fish,$(fishdir)/tally.fish)
	$(call complete_unit,export)
	$(call complete_unit,record)
	install -m 644 packaging/export/alerts.yml packaging/export/dashboard.json $(alertdir)
	test -e $(confdir)/export.conf || install -m 644 packaging/export/export.conf $(confdir)
	for t in $(named); do ln -sfT tally $(compdir)/$$t; ln -sfT tally.fish $(fishdir)/$$t.fish; done
	@$(unlink_plain)

uninstall:
	rm -f $(bindir)/tally $(named:%=$(bindir)/%) $(links:%=$(execdir)/%) \
		$(installed_pages:%=$(mandir)/%) $(compdir)/tally $(named:%=$(compdir)/%) \
		$(zshdir)/_tally $(fishdir)/tally.fish $(named:%=$(fishdir)/%.fish) \
		$(unitdir)/tally-export.service $(unitdir)/tally-record.service $(alertdir)/alerts.yml $(alertdir)/dashboard.json
	@$(unlink_plain)
	if cmp -s packaging/export/export.conf $(confdir)/export.conf; then rm $(confdir)/export.conf; fi
	rmdir $(alertdir) $(alertdir:/export=) $(confdir) 2>/dev/null || true
	if test -d $(execdir); then rmdir $(execdir); fi

# For clangd: how each file is compiled.
compile_commands.json: $(skels) $(syscall_tables) $(BUILD)/skel/version.h FORCE
	$(call say,GEN,$@)
	$(Q)(printf '%s\n' $(wildcard bpf/*/*.bpf.c) | sed 's|.*|$(filter-out ccache,$(CLANG)) $(BPFFLAGS) -c &|'; \
		printf '%s\n' $(sources) $(unit:%=tests/unit/test_%.c) | \
		sed 's|.*|$(filter-out ccache,$(CC)) $(CPPFLAGS) $(CFLAGS) -c &|') | \
		awk 'BEGIN { print "[" } { printf "%s{\"directory\": \"$(CURDIR)\", \"file\": \"%s\", \"command\": \"%s\"}", \
			(NR > 1 ? ",\n" : ""), $$NF, $$0 } END { print "\n]" }' > $@

clean:
	rm -rf $(BUILD)

-include $(wildcard $(OBJ)/unit/*.d $(OBJ)/fuzz/*.d $(BUILD)/bpf/*.d $(OBJ)/*/*.d $(OBJ)/*/*/*.d $(OBJ)/*/*/*/*.d $(BUILD)/triggers/*.d)
