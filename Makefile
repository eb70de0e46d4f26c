# Makefile - everything is made under build/. Nothing here installs anything but `make deps` (packages that are
# missing) and `make install`. `make help` lists the targets; V=1 shows the commands.

VERSION := 0.1.0
BUILD   ?= build
PREFIX  ?= /usr/local
PYTHON  ?= /usr/bin/python3
ARGS    ?=
Q       := $(if $(V),,@)
ifeq ($(origin CC),default)
CC := gcc
endif

WARNINGS := -Wall -Wextra -Wconversion -Wshadow -Wvla -Wformat=2 -Werror
HARDEN   := -fstack-protector-strong -fstack-clash-protection -fPIE -D_FORTIFY_SOURCE=2
LINK     := -pie -Wl,--build-id=sha1 -Wl,-z,relro,-z,now -Wl,--as-needed
SANITIZE ?=
ifneq ($(SANITIZE),)
HARDEN   := -fPIE
SANFLAGS := -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
endif
# The same sources give the same bytes in any folder. Kernels have lines for debuggers and sanitizers, and no variables:
# -g instead of -g1 takes as long as the optimisation, and four times the space.
DEBUG    := -g -fdebug-prefix-map=$(CURDIR)=.
# Packages that tests/deps unpacks instead of installing them. PKG_CONFIG finds those and the installed ones.
UNPACKED   := $(wildcard build/packages/usr)
PKG_CONFIG := $(if $(UNPACKED),PKG_CONFIG_PATH=$(firstword $(wildcard $(UNPACKED)/lib/*/pkgconfig)) )pkg-config
COMMON    = -iquote . $(WARNINGS) $(HARDEN) $(SANFLAGS) $(DEBUG) -MMD -MP$(UNPACKED:%= -isystem %/include) $(DEFINES)
C_FLAGS   = -O2 -std=gnu11 -ffp-contract=off -Wstrict-prototypes -Wmissing-prototypes $(COMMON) $(LEVEL) $(CFLAGS)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all
all: $(BUILD)/torqued ## build the server, build/torqued

# $(call say,CC,FILE) prints a step with its number and the number of all steps, which a dry run of the same goals counts when the
# first step begins. With COUNTING=1 make writes files that hold a list of names or flags, which tell what is out of date.
STEPS :=
say   = $(eval STEPS += x)echo '[$(words $(STEPS))/$(N_STEPS)] $(1) $(2)'
N_STEPS = $(eval N_STEPS := $(if $(findstring n,$(firstword -$(MAKEFLAGS))),?$(MAKELEVEL),$(COUNT_STEPS)))$(N_STEPS)
COUNT_STEPS = $(shell env -u MAKEFLAGS -u MFLAGS $(MAKE) --no-print-directory -n $(MAKEOVERRIDES) COUNTING=1 $(MAKECMDGOALS) \
              2>/dev/null | grep -c "^echo '\[[0-9]*/?$(MAKELEVEL)\]")

# A change of compiler, flags or version rebuilds what it concerns: every object depends on this file.
NO_64_BITS := $(CC) $(CFLAGS) makes no programs of 64 bits: torqued needs x86-64 or aarch64, where size_t and pointers have 64 bits
# Headers of the libraries, one for each package; a build that lacks one says so before it compiles for a minute.
HEADERS := arkode/arkode_arkstep.h jansson.h lapacke.h microhttpd.h uv.h
NO_HEADERS := headers of libraries are missing; as root: tests/deps run
.PHONY: FORCE
$(BUILD)/flags: FORCE
	$(COUNTING:%=+)@mkdir -p $(@D); new=$@.$$$$; \
	echo '$(subst $(CURDIR),,$(CC) $(C_FLAGS) $(LANE_FLAGS) $(VERSION))' >$$new; \
	if cmp -s $$new $@; then rm $$new; \
	elif ! echo __LP64__ | $(CC) $(CFLAGS) -E -P -xc - | grep -qx 1; then rm $$new; echo '$(NO_64_BITS)' >&2; exit 1; \
	else \
	    printf '#include <%s>\n' $(HEADERS) | $(CC) $(UNPACKED:%=-isystem %/include) -E -xc - >/dev/null 2>&1 || \
	        echo 'make: $(NO_HEADERS)' >&2; \
	    mv $$new $@; fi

# --- dynamics: libdynamics.a ---------------------------------------------------------------------------------
# The lane texts, compiled once per target: the same bits on every target need exactly these flags
# (dynamics/NOTATION.md says why).
LANE_FLAGS  = -O3 -std=gnu11 -ffp-contract=off -fno-tree-slp-vectorize -fno-math-errno -fno-trapping-math $(NO_HOISTING) \
              -Wno-psabi -Wstrict-prototypes $(COMMON) -g1 $(CFLAGS)
# gcc takes what the forms of joints compute or load alike out of their switch, more than there are registers for: with 8
# lanes forward dynamics takes 0.90 of its time without that, sensitivity and torque derivative 0.94. clang knows no such flag.
NO_HOISTING := $(if $(findstring Free Software,$(shell $(CC) --version 2>/dev/null)),-fno-code-hoisting)
LANE_TEXTS := $(patsubst dynamics/%.c,%,$(wildcard $(foreach d,algorithms adjoint constraints momentum,dynamics/$(d)/*.c))) target
ifeq ($(shell uname -m),x86_64)
TARGETS    := scalar sse2 scalar_unfused sse2_unfused fma avx2 avx512
else ifeq ($(shell uname -m),aarch64)
TARGETS    := scalar neon
else
TARGETS    := scalar scalar_unfused
endif
LANES_scalar  := -DLANES=1
LANES_sse2    := -DLANES=2
LANES_neon    := -DLANES=2
LANES_scalar_unfused := -DLANES=1 -DDYN_UNFUSED
LANES_sse2_unfused   := -DLANES=2 -DDYN_UNFUSED
LANES_fma     := -DLANES=1 -march=x86-64-v3
LANES_avx2    := -DLANES=4 -march=x86-64-v3
LANES_avx512  := -DLANES=8 -march=x86-64-v4 -mprefer-vector-width=512
# gcc 12 stores whole vectors into ASan's stand-in stack frames, which are not aligned for 64 bytes (GCC PR 110027).
LANES_avx512  += $(if $(findstring address,$(SANITIZE)),--param asan-use-after-return=0)
# Complex numbers in one lane, for the tests' complex-step derivatives; not part of the product.
LANES_complex := -DLANES=1 -DDYN_COMPLEX
# Long doubles, for the tests of accuracy; not part of the product either.
LANES_extended := -DLANES=1 -DDYN_EXTENDED -O1

lane_objects = $(LANE_TEXTS:%=$(BUILD)/dynamics/$(1)/%.o)
# dynamics/samples is a program that links the library and no part of it.
DYN_PLAIN   := $(patsubst %.c,$(BUILD)/%.o,$(filter-out $(LANE_TEXTS:%=dynamics/%.c) dynamics/samples/%,$(wildcard dynamics/*.c dynamics/*/*.c)))
ARKODE      := $(BUILD)/dynamics/integration/sundials.o
DYN_OBJECTS := $(DYN_PLAIN) $(ARKODE) $(foreach t,$(TARGETS),$(call lane_objects,$(t)))

define lane_rule
$(BUILD)/dynamics/$(1)/%.o: dynamics/%.c $(BUILD)/flags
	@mkdir -p $$(@D)
	@$$(call say,CC,$$< ($(1)))
	$$(Q)$(CC) $$(LANE_FLAGS) $(LANES_$(1)) -DTARGET=$(1) -c $$< -o $$@
endef
$(foreach t,$(TARGETS) complex extended,$(eval $(call lane_rule,$(t))))

# DYN_TARGETS(X) is X(target) for each target of this build in order of speed, the fastest last. The targets scalar and
# sse2 emulate the fused multiply-add on x86-64, so the unfused targets are faster.
BY_SPEED := scalar sse2 scalar_unfused sse2_unfused neon fma avx2 avx512
# The table of targets alone depends on their list: another list compiles only the targets that are new.
$(BUILD)/targets: FORCE
	$(COUNTING:%=+)@mkdir -p $(@D); echo '$(TARGETS)' | cmp -s - $@ || echo '$(TARGETS)' >$@
$(BUILD)/dynamics/dispatch.o: $(BUILD)/targets
$(BUILD)/dynamics/dispatch.o: private DEFINES := '-DDYN_TARGETS(X)=$(patsubst %,X(%),$(filter $(TARGETS),$(BY_SPEED)))'

$(BUILD)/libdynamics.a: $(DYN_OBJECTS)

# ARKODE, with the vectors and matrices that it needs. It takes its memory from dynamics/integration/sundials_memory.c.
$(BUILD)/dynamics/integration/sundials.o: $(BUILD)/flags
	@mkdir -p $(@D)
	@$(call say,LD,$@)
	$(Q)$(CC) -r -nostdlib -o $@.all -Wl,--whole-archive \
	    $(or $(wildcard $(UNPACKED)/lib/*/libsundials_arkode.a),$(shell $(CC) -print-file-name=libsundials_arkode.a))
	$(Q)$(shell $(CC) -print-prog-name=objcopy) \
	    $(foreach f,malloc calloc realloc free,--redefine-sym $(f)=dyn_sundials_$(f)) $@.all $@
	$(Q)rm $@.all

.PHONY: sample
sample: $(BUILD)/sample ## build and run a C program that computes with dynamics/ alone, without a server
	@$<
$(BUILD)/sample: $(patsubst %.c,$(BUILD)/%.o,$(wildcard dynamics/samples/*.c)) $(BUILD)/libdynamics.a
	@$(call say,LINK,$@)
	$(Q)$(CC) $(LINK) $(SANFLAGS) $(LDFLAGS) -o $@ $^ -llapacke -lm

$(BUILD)/libcomplex.a: $(call lane_objects,complex)
$(BUILD)/libextended.a: $(call lane_objects,extended)

# --- api: libapi.a -------------------------------------------------------------------------------------------
# api/clients holds programs that call the server and are no part of it.
API_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(filter-out api/clients/%,$(wildcard api/*.c api/*/*.c api/*/*/*.c))) \
               $(BUILD)/api/codec/decimal/powers_of_ten.o $(BUILD)/api/codec/number_layouts.o $(BUILD)/api/openapi.o

$(BUILD)/libapi.a: $(API_OBJECTS)

XML_FLAGS := $(subst -I,-isystem ,$(shell $(PKG_CONFIG) --cflags libxml-2.0 2>/dev/null))
$(patsubst %.c,$(BUILD)/%.o,api/base/memory/shortage.c $(wildcard api/robots/xml/*.c api/robots/linked_files/*.c api/robots/link_shapes/*.c api/robots/loop_actuation/*.c api/robots/urdf/*.c api/robots/mjcf*/*.c api/robots/sdf*/*.c)): private DEFINES := $(XML_FLAGS)

API_TABLES := $(BUILD)/api/codec/decimal/powers_of_ten $(BUILD)/api/codec/number_layouts
$(API_TABLES:=.c): $(BUILD)/%.c: %.py $(BUILD)/flags
	@mkdir -p $(@D)
	@$(call say,TABLE,$<)
	$(Q)$(PYTHON) $< >$@

$(API_TABLES:=.o): %.o: %.c
	@$(call say,CC,$<)
	$(Q)$(CC) $(C_FLAGS) -c $< -o $@

ifeq ($(shell uname -m),x86_64)
$(patsubst %.c,$(BUILD)/%.o,$(wildcard api/codec/*_avx2.c)): private LEVEL := -march=x86-64-v3
endif

$(BUILD)/api/openapi.json: api/openapi.yaml api/openapi.py $(BUILD)/flags
	@mkdir -p $(@D)
	@$(call say,JSON,$<)
	$(Q)$(PYTHON) api/openapi.py $(VERSION) <$< >$@

# api_openapi_start .. api_openapi_end: the contract as bytes; api_openapi_gzip .. api_openapi_gzip_end: compressed;
# api_openapi_hash: hexadecimal, for its entity tag
$(BUILD)/api/openapi.o: $(BUILD)/api/openapi.json
	$(Q)gzip -9nc $< >$<.gz
	$(Q)printf '%s\n' '.section .rodata' '.global api_openapi_start, api_openapi_end, api_openapi_hash' \
	    '.global api_openapi_gzip, api_openapi_gzip_end' 'api_openapi_start:' '.incbin "$<"' 'api_openapi_end:' '.byte 0' \
	    'api_openapi_gzip:' '.incbin "$<.gz"' 'api_openapi_gzip_end:' \
	    "api_openapi_hash: .asciz \"$$(sha256sum <$< | cut -c 1-32)\"" '.section .note.GNU-stack,"",%progbits' | \
	    $(CC) -x assembler -c -o $@ -

# --- server: libserver.a and torqued -------------------------------------------------------------------------
SRV_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(filter-out server/main.c,$(wildcard server/*.c server/*/*.c server/*/*/*.c))) \
               $(BUILD)/server/console/files.o
LIBS         = $(shell $(PKG_CONFIG) --libs libmicrohttpd gnutls libuv jansson libcbor zlib libzstd nettle libxml-2.0 lapacke) \
               -lm -lpthread

$(BUILD)/libserver.a: $(SRV_OBJECTS)

# Pages and clients that the server serves beside the console.
DOCUMENT_PAGE := api/document/page.py api/document/drawings.py api/document/examples.yaml api/openapi.yaml api/openapi.py
$(BUILD)/served/document.html: $(DOCUMENT_PAGE)
	@mkdir -p $(@D)
	@$(call say,PAGE,$@)
	$(Q)$(PYTHON) api/document/page.py html <api/openapi.yaml >$@
$(BUILD)/served/document.schema.json: $(DOCUMENT_PAGE)
	@mkdir -p $(@D)
	@$(call say,PAGE,$@)
	$(Q)$(PYTHON) api/document/page.py schema <api/openapi.yaml >$@
$(BUILD)/served/clients.html: api/clients/page.py $(BUILD)/flags
	@mkdir -p $(@D)
	@$(call say,PAGE,$@)
	$(Q)$(PYTHON) api/clients/page.py $(VERSION) >$@
CLIENT_WHEEL := $(BUILD)/served/torqued-$(VERSION)-py3-none-any.whl
$(CLIENT_WHEEL): $(shell find api/clients/python/src -name '*.py') $(addprefix api/clients/python/,wheel.py pyproject.toml README.md)
	@mkdir -p $(@D)
	@$(call say,WHEEL,$@)
	$(Q)$(PYTHON) api/clients/python/wheel.py $(@D)
SERVED := /document=$(BUILD)/served/document.html /document.css=api/document/page.css \
          /document.schema.json=$(BUILD)/served/document.schema.json /clients=$(BUILD)/served/clients.html \
          /clients/torqued-$(VERSION)-py3-none-any.whl=$(CLIENT_WHEEL) /clients/torqued.js=api/clients/typescript/bundle.js \
          /clients/torqued.h=api/clients/c/torqued.h /clients/torqued.c=api/clients/c/torqued.c
SERVED_FILES := $(foreach one,$(SERVED),$(lastword $(subst =, ,$(one))))

# srv_console_files: the built files of the console, compressed. A file that comes or goes changes the list.
CONSOLE_ICON  := server/console/src/icon.svg
CONSOLE_FILES := $(shell find server/console/dist -type f | LC_ALL=C sort) $(CONSOLE_ICON)
$(BUILD)/server/console/list: FORCE
	$(COUNTING:%=+)@mkdir -p $(@D); new=$@.$$$$; echo '$(CONSOLE_FILES) $(SERVED)' >$$new; cmp -s $$new $@ && rm $$new || mv $$new $@

$(BUILD)/server/console/files.c: server/console/embed $(CONSOLE_FILES) $(SERVED_FILES) $(BUILD)/server/console/list
	@$(call say,EMBED,server/console/dist)
	$(Q)server/console/embed server/console/dist $(CONSOLE_ICON) $(@D) $(SERVED) >$@

$(BUILD)/server/console/files.o: $(BUILD)/server/console/files.c $(BUILD)/flags
	@$(call say,CC,$<)
	$(Q)$(CC) $(C_FLAGS) -c $< -o $@

$(BUILD)/torqued: $(BUILD)/server/main.o $(BUILD)/libserver.a $(BUILD)/libapi.a $(BUILD)/libdynamics.a
	@$(call say,LINK,$@)
	$(Q)$(CC) $(LINK) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/server/%.o: private DEFINES := -DTORQUED_VERSION='"$(VERSION)"'

# The header of libpq; the library is loaded when a store in a database is named.
PQ_FLAGS := $(foreach folder,$(UNPACKED) /usr,-isystem $(folder)/include/postgresql)
$(BUILD)/server/store/postgres/%.o: private DEFINES := $(PQ_FLAGS)

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	@$(call say,CC,$<)
	$(Q)$(CC) $(C_FLAGS) -c $< -o $@

%.a:
	@$(call say,AR,$@)
	@rm -f $@
	$(Q)ar rcs $@ $^

-include $(shell find $(BUILD) -path $(BUILD)/mutate -prune -o -type f -name "*.d" -print 2>/dev/null)
include tests/tests.mk

# --- the tree as a project -----------------------------------------------------------------------------------
.PHONY: deps run install install-c uninstall wheel typescript deb portable image packages assets format lint hooks release clean help
deps: ## check the packages; install what is missing with one apt-get
	@tests/deps run

# JOBS compilers at once, unless make was started with -j; each takes up to 400 MB of memory.
AT_ONCE = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(JOBS))
run: deps ## check the packages, build, serve in the foreground; ARGS='--listen ...'
	@$(MAKE) --no-print-directory $(AT_ONCE) all
	@exec $(BUILD)/torqued $(ARGS)

# Where the shells look for completions; a package of Debian sets the second to PREFIX/share/zsh/vendor-completions.
BASH_COMPLETIONS ?= $(PREFIX)/share/bash-completion/completions
ZSH_COMPLETIONS  ?= $(PREFIX)/share/zsh/site-functions
FISH_COMPLETIONS ?= $(PREFIX)/share/fish/vendor_completions.d

# The contract is installed beside the robots; `uninstall` takes away the files and folders named here.
ROOT_OF_INSTALL = $(DESTDIR)$(PREFIX)
install: all ## install under DESTDIR and PREFIX (/usr/local)
	install -D -m 755 $(BUILD)/torqued $(ROOT_OF_INSTALL)/bin/torqued
	install -d $(ROOT_OF_INSTALL)/share/torqued/models $(ROOT_OF_INSTALL)/share/doc/torqued
	install -m 644 $(wildcard models/*.json) $(ROOT_OF_INSTALL)/share/torqued/models
	install -m 644 $(BUILD)/api/openapi.json $(ROOT_OF_INSTALL)/share/torqued
	install -d $(ROOT_OF_INSTALL)/share/man/man1 $(addprefix $(DESTDIR),$(BASH_COMPLETIONS) $(ZSH_COMPLETIONS) $(FISH_COMPLETIONS))
	$(BUILD)/torqued man >$(ROOT_OF_INSTALL)/share/man/man1/torqued.1
	$(BUILD)/torqued completion bash >$(DESTDIR)$(BASH_COMPLETIONS)/torqued
	$(BUILD)/torqued completion zsh >$(DESTDIR)$(ZSH_COMPLETIONS)/_torqued
	$(BUILD)/torqued completion fish >$(DESTDIR)$(FISH_COMPLETIONS)/torqued.fish
	install -m 644 README.md LICENSE CHANGELOG.md $(wildcard server/console/dist/THIRD_PARTY.txt) $(ROOT_OF_INSTALL)/share/doc/torqued

# The C client as a static library, for programs that do not compile its source themselves.
LIBDIR ?= $(PREFIX)/lib
$(BUILD)/api/clients/c/torqued.o: private CFLAGS += -fPIC
$(BUILD)/libtorqued.a: $(BUILD)/api/clients/c/torqued.o
install-c: $(BUILD)/libtorqued.a ## install the C client under DESTDIR and PREFIX; it needs libcurl
	install -D -m 644 api/clients/c/torqued.h $(ROOT_OF_INSTALL)/include/torqued.h
	install -D -m 644 $< $(DESTDIR)$(LIBDIR)/libtorqued.a
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|' api/clients/c/torqued.pc.in \
	    >$(DESTDIR)$(LIBDIR)/pkgconfig/torqued.pc

uninstall: ## remove what `make install` and `make install-c` have put under DESTDIR and PREFIX
	rm -f $(ROOT_OF_INSTALL)/bin/torqued $(ROOT_OF_INSTALL)/include/torqued.h
	rm -f $(DESTDIR)$(LIBDIR)/libtorqued.a $(DESTDIR)$(LIBDIR)/pkgconfig/torqued.pc
	rm -f $(ROOT_OF_INSTALL)/share/man/man1/torqued.1 $(DESTDIR)$(BASH_COMPLETIONS)/torqued
	rm -f $(DESTDIR)$(ZSH_COMPLETIONS)/_torqued $(DESTDIR)$(FISH_COMPLETIONS)/torqued.fish
	rm -rf $(ROOT_OF_INSTALL)/share/torqued $(ROOT_OF_INSTALL)/share/doc/torqued

# The server of the tarball and of the wheel: it finds shared libraries beside itself; libxml2 and LAPACK, which would bring 44 MB,
# are part of it.
PORTABLE_LIBS = $(patsubst -lxml2,-l:libxml2.a -l:liblzma.so.5,$(patsubst -llapacke,-l:liblapacke.a -l:liblapack.a -l:libblas.a \
                -l:libgfortran.so.5,$(LIBS)))
$(BUILD)/portable/torqued: $(BUILD)/server/main.o $(BUILD)/libserver.a $(BUILD)/libapi.a $(BUILD)/libdynamics.a $(BUILD)/deploy/portable/older_libraries.o
	@mkdir -p $(@D)
	@$(call say,LINK,$@)
	$(Q)$(CC) $(LINK) -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/../lib/torqued' $(LDFLAGS) -o $@ $^ $(PORTABLE_LIBS)

# Folder of the wheel.
WHEEL ?= $(BUILD)/python
wheel: ## build the Python client as a wheel, in build/python
	@mkdir -p $(WHEEL)
	$(Q)$(PYTHON) api/clients/python/wheel.py $(WHEEL)

typescript: $(BUILD)/api/openapi.json ## build the TypeScript client as an npm package, in build/typescript; needs npm
	@BUILD=$(BUILD) api/clients/typescript/build $(VERSION)

# Packages take what `install` installs; a version of its own, such as 0.1.0+1, needs no build of the server.
DEB_VERSION ?= $(VERSION)
DEB         ?= $(BUILD)/deb
deb: all $(BUILD)/libtorqued.a ## build Debian packages of the tree in build/deb; DEB_VERSION=x.y.z numbers them
	@tests/deps deb
	deploy/deb/build $(BUILD) $(DEB_VERSION) $(DEB)

# All that a release publishes. Times in the packages are that of the commit.
RELEASE ?= $(BUILD)/release
TIMED = SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$(shell git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}
packages: deb portable image ## build all packages of a release with checksums in build/release: .deb, tarball, wheel, image, list of parts (SPDX)
	cp $(DEB)/*.deb $(IMAGE)/*.tar $(RELEASE)
	cd $(RELEASE) && sha256sum *.* >SHA256SUMS
portable: all $(BUILD)/portable/torqued ## build a tarball and a Python wheel that carry the server and its libraries, in build/release
	@rm -rf $(RELEASE) && mkdir -p $(RELEASE)
	$(TIMED) $(PYTHON) deploy/portable/build.py $(BUILD) $(RELEASE)

IMAGE ?= $(BUILD)/image
image: all ## build the image of the server as one file for `docker load` and `podman load`, in build/image
	@rm -rf $(IMAGE) && mkdir -p $(IMAGE)
	$(TIMED) $(PYTHON) deploy/image.py $(BUILD) $(IMAGE)

assets: $(BUILD)/api/openapi.json ## build the pages of the console, server/console/dist, with npm; `make` itself needs no npm
	BUILD=$(BUILD) server/console/install
	node $(BUILD)/console/build.mjs --types $< --out server/console/dist
	$(MAKE) --no-print-directory typescript
	node api/clients/typescript/bundle.mjs $(BUILD)/typescript $(BUILD)/console api/clients/typescript/bundle.js

C_FILES = $(shell git ls-files '*.c' '*.h' '*.cc')
format: ## lay out all C and C++ files after .clang-format
	clang-format -i $(C_FILES)

lint: ## layer rule, layout, style, warnings of clang, clang-tidy, cppcheck, linters of the OpenAPI contract
	@tests/deps lint
	tests/lint

hooks: ## make git check every commit first (tests/pre-commit)
	ln -s $(abspath tests/pre-commit) "$$(git rev-parse --git-path hooks)/pre-commit"

release: ## check, test and tag HEAD as version VERSION=x.y.z
	@tests/release $(if $(filter command,$(firstword $(origin VERSION))),$(VERSION))

clean: ## remove build/, but not the packages that are unpacked there
	rm -rf $(filter-out build/packages,$(wildcard $(BUILD)/*))

help: ## this list
	@awk -F':.*## ' '/^[a-z_.-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile tests/tests.mk
