# Makefile - everything is made under build/; nothing here installs anything but `make deps` and `make install`.
#
#   make run    check the packages, build, serve      make test   check the packages, build, run all tests
#   make help   all targets

VERSION  := 0.1.0
BUILD    ?= build
PREFIX   ?= /usr/local
CC       ?= gcc
CXX      ?= g++
ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin CXX),default)
CXX := g++
endif

WARNINGS := -Wall -Wextra -Wconversion -Wshadow -Wvla -Wformat=2 -Werror
HARDEN   := -fstack-protector-strong -fstack-clash-protection -fPIE -D_FORTIFY_SOURCE=2
LINK     := -pie -Wl,-z,relro,-z,now -Wl,--as-needed
SANITIZE ?=
ifneq ($(SANITIZE),)
HARDEN   := -fPIE
SANFLAGS := -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer -g
endif
COMMON   := $(WARNINGS) $(HARDEN) $(SANFLAGS) -g -MMD -MP
CFLAGS_   = -O2 -std=gnu11 -Wstrict-prototypes -Wmissing-prototypes $(COMMON) $(CFLAGS)
CXXFLAGS_  = -O2 -std=c++17 -fno-exceptions -fno-rtti $(COMMON) $(CXXFLAGS)

# The lane texts: the same bits on every target need exactly these flags (DESIGN in dynamics/NOTATION.md).
LANE_FLAGS  = -O3 -std=gnu11 -ffp-contract=off -fno-tree-slp-vectorize -fno-math-errno -fno-trapping-math \
              -Wno-psabi -Wstrict-prototypes $(COMMON) $(CFLAGS)
LANE_TEXTS := inverse_dynamics forward_dynamics mass_matrix bias kinematics energy target
ifeq ($(shell uname -m),x86_64)
TARGETS     := scalar sse2 avx2 avx512
else ifeq ($(shell uname -m),aarch64)
TARGETS     := scalar neon
else
TARGETS     := scalar
endif
FLAGS_scalar := -DLANES=1
FLAGS_sse2   := -DLANES=2
FLAGS_neon   := -DLANES=2
FLAGS_avx2   := -DLANES=4 -march=x86-64-v3
FLAGS_avx512 := -DLANES=8 -march=x86-64-v4 -mprefer-vector-width=512

PKGS_API    := jansson nettle
PKGS_SERVER := libmicrohttpd libuv
LIBS        := $(shell pkg-config --libs $(PKGS_SERVER) $(PKGS_API) 2>/dev/null) -lm -lpthread

.PHONY: all
all: $(BUILD)/torqued

# --- dynamics: libdynamics.a ---------------------------------------------------------------------------------
lane_objects = $(LANE_TEXTS:%=$(BUILD)/dynamics/$(1)/%.o)
DYN_PLAIN   := $(patsubst %.c,$(BUILD)/%.o,$(filter-out $(LANE_TEXTS:%=dynamics/%.c),$(wildcard dynamics/*.c)))
DYN_OBJECTS := $(DYN_PLAIN) $(foreach t,$(TARGETS),$(call lane_objects,$(t)))

define lane_rule
$(BUILD)/dynamics/$(1)/%.o: dynamics/%.c
	@mkdir -p $$(@D)
	$(CC) $(LANE_FLAGS) $(FLAGS_$(1)) -DTARGET=$(1) -c $$< -o $$@
endef
$(foreach t,$(TARGETS),$(eval $(call lane_rule,$(t))))

$(BUILD)/dynamics/dispatch.o: COMMON += $(TARGETS:%=-DHAVE_TARGET_%)

$(BUILD)/libdynamics.a: $(DYN_OBJECTS)
	rm -f $@ && ar rcs $@ $^

# --- api: libapi.a -------------------------------------------------------------------------------------------
API_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard api/*.c)) $(BUILD)/api/number.o $(BUILD)/api/openapi.o

$(BUILD)/libapi.a: $(API_OBJECTS)
	rm -f $@ && ar rcs $@ $^

$(BUILD)/api/number.o: api/number.cc
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS_) -isystem $(firstword $(wildcard /usr/include/dragonbox-*) /usr/include) -c $< -o $@

$(BUILD)/api/openapi.json: api/openapi.yaml tests/yaml_to_json.py
	@mkdir -p $(@D)
	/usr/bin/python3 tests/yaml_to_json.py $< > $@.tmp && mv $@.tmp $@

# api_openapi_start .. api_openapi_end: the contract as bytes
$(BUILD)/api/openapi.o: $(BUILD)/api/openapi.json
	printf '.section .rodata\n.global api_openapi_start, api_openapi_end\napi_openapi_start:\n.incbin "%s"\napi_openapi_end:\n.byte 0\n.section .note.GNU-stack,"",%%progbits\n' $< | $(CC) -x assembler - -c -o $@

# --- server: torqued -----------------------------------------------------------------------------------------
SRV_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard server/*.c))

$(BUILD)/torqued: $(SRV_OBJECTS) $(BUILD)/libapi.a $(BUILD)/libdynamics.a
	$(CC) $(LINK) $(SANFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_) -DTORQUED_VERSION='"$(VERSION)"' -DTORQUED_PREFIX='"$(PREFIX)"' -c $< -o $@

.PHONY: clean
clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
