# tests.mk - builds and runs the tests, the sanitizer builds, the fuzzers and the benchmarks. The Makefile of the root includes
# this file.

# --- C tests: tests/<layer>/test_*.c, each one program linked with its layer and the layers below --------------
C_TESTS      := $(patsubst %.c,$(BUILD)/%,$(foreach d,dynamics api server,$(wildcard tests/$(d)/test_*.c)))
SCRIPT_TESTS := $(wildcard tests/*/test_*.py tests/*/test_*.mjs tests/e2e/*/test_*.py)

LAYERS_dynamics := libcomplex.a libextended.a libdynamics.a
LAYERS_api      := libapi.a libdynamics.a
LAYERS_server   := libserver.a libapi.a libdynamics.a

# The kernels for complex and extended numbers are for tests only: they are compiled without sanitizers, which would take minutes
# and check nothing of the product. With PLAIN_KERNELS=1 the product's kernels are compiled without sanitizers too.
$(foreach t,complex extended $(if $(PLAIN_KERNELS),$(TARGETS)),$(call lane_objects,$(t))): private SANFLAGS :=

# Every test program of a folder is linked with every .c there, or in its folder reference/ or support/, that is not itself a test; test_book
# alone with those of book/.
define test_rule
$(BUILD)/tests/$(1)/test_%: $(BUILD)/tests/$(1)/test_%.o \
    $(patsubst %.c,$(BUILD)/%.o,$(filter-out tests/$(1)/test_%,$(wildcard tests/$(1)/*.c tests/$(1)/reference/*.c tests/$(1)/support/*.c))) \
    $(LAYERS_$(1):%=$(BUILD)/%)
	@$$(call say,LINK,$$@)
	$$(Q)$$(CC) $$(LINK) $$(SANFLAGS) -o $$@ $$^ $$(LIBS) -lcmocka -ldl
endef
$(foreach d,dynamics api server,$(eval $(call test_rule,$(d))))
$(BUILD)/tests/dynamics/test_book: $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/dynamics/book/*.c))

# cmocka's signatures have a parameter that most tests do not use.
$(BUILD)/tests/%.o: tests/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	@$(call say,CC,$<)
	$(Q)$(CC) $(C_FLAGS) -Wno-unused-parameter -c $< -o $@

# Programs that compute expected results: with dragonbox and fast_float for numbers as text; the table of MJCF; with MuJoCo and
# libsdformat where these are installed. Beside some of them, one peer of the benchmarks and the measurement of numbers are C++.
ifeq ($(origin CXX),default)
CXX := g++
endif
ORACLES := $(BUILD)/tests/oracle/numbers $(BUILD)/tests/oracle/mjcf_schema \
           $(if $(wildcard /usr/include/mujoco/mujoco.h),$(BUILD)/tests/oracle/mujoco) \
           $(if $(shell pkg-config --exists sdformat12 2>/dev/null && echo yes),$(BUILD)/tests/oracle/sdformat)
$(BUILD)/tests/oracle/%: $(BUILD)/tests/oracle/%.o
	@$(call say,LINK,$@)
	$(Q)$(CC) $(LINK) $(SANFLAGS) -o $@ $< -lmujoco

$(BUILD)/tests/oracle/mjcf_schema: $(BUILD)/tests/oracle/mjcf_schema.o $(BUILD)/libapi.a
	@$(call say,LINK,$@)
	$(Q)$(CC) $(LINK) $(SANFLAGS) -o $@ $^

$(BUILD)/tests/oracle/numbers: tests/oracle/numbers.cc $(BUILD)/libapi.a
	@mkdir -p $(@D)
	@$(call say,CXX,$<)
	$(Q)$(CXX) -O2 -std=c++17 -iquote . $(LINK) $(SANFLAGS) -isystem $(lastword $(wildcard /usr/include/dragonbox-*)) -o $@ $^

$(BUILD)/tests/oracle/sdformat: tests/oracle/sdformat.cc $(BUILD)/flags
	@mkdir -p $(@D)
	@$(call say,CXX,$<)
	$(Q)$(CXX) -O1 -std=c++17 $(LINK) $(HARDEN) -o $@ $< $(subst -I,-isystem ,$(shell pkg-config --cflags-only-I sdformat12)) $(shell pkg-config --libs sdformat12)

# A malloc that a test can make fail, for LD_PRELOAD.
FAILING_MALLOC := $(BUILD)/tests/e2e/failing_malloc.so
$(FAILING_MALLOC): tests/e2e/support/failing_malloc.c tests/failing_allocators.h $(BUILD)/flags
	@mkdir -p $(@D)
	@$(call say,LINK,$@)
	$(Q)$(CC) $(filter-out -fPIE,$(C_FLAGS)) -fPIC -shared -o $@ $< -ldl

# The fuzzers need clang; without it their tests are skipped.
FUZZ_CC ?= $(shell command -v clang)

.PHONY: test check test-programs test-build test-run check-asan check-asan-few check-tsan coverage soak
test: ## check the packages, build, run all tests; TESTS='tests/api/test_x.c ...' runs some, TARGET=avx2 names the kernels
	@tests/deps test
	@$(MAKE) --no-print-directory $(AT_ONCE) test-build
	@$(MAKE) --no-print-directory test-run

# The end-to-end tests of `make check`: one program for every kind of request.
FEW := $(foreach t,operations models requests errors http urdf loops simulate openapi,$(wildcard tests/e2e/*/test_$(t).py))
# `make check` leaves out this test of all robots on all targets, which takes longer than the others together.
LONG := tests/dynamics/test_same_bits.c
check: ## build, run the tests of dynamics and api and a few end to end: a minute
	@tests/deps test
	@$(MAKE) --no-print-directory FUZZ_CC= TESTS='$(filter-out $(LONG),$(wildcard tests/dynamics/test_*.c tests/api/test_*.c)) $(FEW)' test-run

test-programs: $(BUILD)/torqued $(BUILD)/sample $(C_TESTS) $(ORACLES) $(FAILING_MALLOC) $(if $(FUZZ_CC),fuzz-programs)

# One program more than JOBS runs in parallel, since many wait for a server or a deadline; those of tests/alone run one at a time
# after them.
JOBS  ?= $(shell nproc)
TESTS ?=
# With KERNELS_ONLY=1 the tests of tests/any_target are left out.
KERNELS_ONLY ?=
any_target = $(shell sed -n 's/^\(tests[^ ]*\) .*/\1/p' tests/any_target)
left_out = $(if $(KERNELS_ONLY),$(foreach t,$(any_target),$(t) $(t)/% $(BUILD)/$(t:.c=) $(BUILD)/$(t)/%))
chosen = $(filter-out $(left_out),$(if $(TESTS),$(foreach t,$(TESTS),$(if $(filter %.c,$(t)),$(t:%.c=$(BUILD)/%),$(t))),$(C_TESTS) $(SCRIPT_TESTS)))
# With TARGET=fma (avx2, avx512 ...) every C test and every server uses the kernels of that target, unless a test names another;
# test-widths runs everything once for each width of vectors that this machine has.
TARGET ?=
# Builds only the programs that will run.
test-build: $(BUILD)/torqued $(BUILD)/sample $(ORACLES) $(FAILING_MALLOC) $(filter $(BUILD)/%,$(chosen)) $(if $(and $(FUZZ_CC),$(filter tests/fuzz/%,$(chosen))),fuzz-programs)
test-run: test-build
	@$(if $(filter build,$(BUILD)),,TORQUED_BIN=$(abspath $(BUILD)/torqued)) BUILD=$(BUILD) $(if $(FUZZ_CC),,NO_FUZZERS=1) \
	    $(if $(TARGET),TORQUED_TARGET=$(TARGET)) \
	    PERL5LIB=tests prove --harness Harness --exec tests/run --timer --failures --comments --jobs $$(($(JOBS) + 1)) $(chosen)

# The server lists the targets of this machine when it is started with an unknown one. WIDTHS has one of them for each number of
# lanes, in the server's default arithmetic class.
comma      := ,
OF_MACHINE  = $(subst $(comma), ,$(shell $(BUILD)/torqued --target none 2>&1 | sed -n 's/.*it has //p'))
WIDTHS      = $(or $(filter fma avx2 avx512,$(OF_MACHINE)),$(if $(filter neon,$(OF_MACHINE)),scalar neon),$(filter %_unfused,$(OF_MACHINE)))
.PHONY: test-widths
test-widths: $(BUILD)/torqued ## all tests with each width of vectors that this machine has, one after the other
	@for target in $(WIDTHS); do echo "tests with the target $$target"; $(MAKE) --no-print-directory TARGET=$$target test || exit 1; done

# Builds everything with a sanitizer, each in its own folder, and runs all tests.
SANITIZER_OPTIONS := ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1
check-asan: ## all tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@tests/deps test
	@$(SANITIZER_OPTIONS) $(MAKE) --no-print-directory BUILD=$(BUILD)/asan SANITIZE=address,undefined FUZZ_CC= test-run

.PHONY: fuzz-server
fuzz-server: $(BUILD)/torqued ## mutated requests of every operation to this server and to one with these sanitizers; SECONDS=600
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/asan SANITIZE=address,undefined FUZZ_CC= $(BUILD)/asan/torqued
	@$(SANITIZER_OPTIONS) $(PYTHON) tests/fuzz/whole_server.py --seconds $(or $(SECONDS),600) $(BUILD)/torqued $(BUILD)/asan/torqued

# For continuous integration, takes minutes: most of check-asan's time is spent in kernels, and the fuzzers run these under the
# same sanitizers.
check-asan-few: ## the C tests of api and server and a few end to end under these sanitizers, without the kernels
	@tests/deps test
	@$(SANITIZER_OPTIONS) $(MAKE) --no-print-directory BUILD=$(BUILD)/asan-few SANITIZE=address,undefined \
	    PLAIN_KERNELS=1 TARGETS='$(filter scalar fma,$(TARGETS))' FUZZ_CC= \
	    TESTS='$(filter tests/api/% tests/server/%,$(C_TESTS:$(BUILD)/%=%.c)) $(FEW)' test-run

check-tsan: ## all tests under ThreadSanitizer
	@tests/deps test
	@TSAN_OPTIONS=halt_on_error=1:suppressions=$(abspath tests/tsan.suppressions) \
	    $(MAKE) --no-print-directory BUILD=$(BUILD)/tsan SANITIZE=thread FUZZ_CC= test-run

.PHONY: failing-memory
failing-memory: ## let every allocation of requests and commands fail in turn, once and from then on: hours
	@EVERY_ALLOCATION=1 $(MAKE) --no-print-directory FUZZ_CC= JOBS=1 \
	    TESTS="tests/api/test_failing_memory.c tests/e2e/process/test_failing_memory.py tests/e2e/store/test_failing_store.py" test-run

.PHONY: test-worst-cases
test-worst-cases: ## the worst case of every operation at deadlines of 0.2 s and 1 s: minutes
	@WORST_CASE_DEADLINES="0.2 1" $(MAKE) --no-print-directory TESTS=tests/e2e/requests/test_worst_cases.py test-run

.PHONY: reference
reference: $(BUILD)/torqued $(BUILD)/tests/oracle/mjcf_schema ## write the pages, tables and pictures that are made from the product and its measurements
	@BUILD=$(BUILD) $(PYTHON) tests/reference_pages.py
	@PYTHONPATH=tests/e2e/support $(PYTHON) tests/e2e/requests/combination_page.py

.PHONY: figures
figures: ## count tests, assertions, faults and fuzzers for tests/README.md
	@$(PYTHON) tests/figures/figures.py

.PHONY: baseline
baseline: $(BUILD)/torqued ## write the present interfaces as those that later versions are compared with: at a release, or to break one on purpose
	@$(PYTHON) tests/compatibility/compatibility.py --write

.PHONY: golden
golden: $(BUILD)/torqued ## write the bits of 600 answers anew; where they change, REASON='...' is a sentence of the changelog
	@$(PYTHON) tests/golden/golden.py

# One target and -O1, so that lines and branches are those of the source; tests that make builds of their own are left out.
COVERED = $(C_TESTS:$(BUILD)/%=%.c) $(filter-out tests/dynamics/test_processors.py tests/fuzz/% tests/mutate/%,$(SCRIPT_TESTS))
coverage: ## lines and branches of each layer that the tests reach; the report of every line is in build/coverage/report/
	@tests/deps coverage
	-@$(MAKE) --no-print-directory BUILD=$(BUILD)/coverage SANFLAGS=--coverage HARDEN=-fPIE CFLAGS=-O1 \
	    TARGETS=scalar FUZZ_CC= TESTS='$(or $(TESTS),$(COVERED))' test-run
	@$(PYTHON) tests/coverage.py $(BUILD)/coverage

soak: ## memory over SOAK_REQUESTS (10 million), then the tests with long runs: fuzzing for minutes, load for hours if SOAK_SECONDS says so
	@tests/deps test
	@$(MAKE) --no-print-directory bench-programs
	@BUILD=$(BUILD) $(PYTHON) tests/bench/soak.py
	@SOAK_SECONDS=$(or $(SOAK_SECONDS),600) $(MAKE) --no-print-directory test-run

# --- the compilation database of clangd, clang-tidy and cppcheck: every C and C++ file as clang compiles it ------
DATABASE_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/fuzz/*.c tests/bench/*.c tests/e2e/*/*.c api/clients/*/*.c))
compile_commands.json: FORCE ## for editors and `make lint`: the flags of every source
	@$(MAKE) --no-print-directory --dry-run --always-make CC=clang TARGETS=scalar WARNINGS= FUZZ_CC= \
	    test-programs $(DATABASE_OBJECTS) | $(PYTHON) tests/compile_commands.py >$@

# --- small faults: do the tests notice them? ---------------------------------------------------------------------
# Works in copies under build/mutate; a run that was stopped continues where it ended.
FAULTS ?=
.PHONY: mutate
mutate: ## put small faults into copies of the tree, one at a time, and run tests: hours; FAULTS='name ...' tries some, LIST=1 none
	@tests/deps test
	@$(PYTHON) tests/mutate/mutate.py --jobs $(JOBS) $(if $(LIST),--list) $(FAULTS)

# --- fuzzers: tests/fuzz/fuzz_*.c with clang's libFuzzer, where there is clang -----------------------------------
# The product is built a second time, by clang, with coverage and the sanitizers. One target is enough: scalar_unfused,
# because the emulated multiply-adds of scalar take minutes to compile, as do kernels beyond -O1.
FUZZ_BUILD := $(BUILD)/fuzz
FUZZERS    := $(patsubst tests/fuzz/%.c,$(FUZZ_BUILD)/%,$(wildcard tests/fuzz/fuzz_*.c))

.PHONY: fuzz-programs
FUZZ_MAKE = $(MAKE) --no-print-directory BUILD=$(FUZZ_BUILD) FUZZ_BUILD=$(FUZZ_BUILD) CC=clang \
    TARGETS=scalar_unfused WARNINGS= CFLAGS=-O1 SANITIZE=address,undefined,fuzzer-no-link FUZZ_CC=
fuzz-programs:
	+@$(FUZZ_MAKE) $(FUZZERS)

$(FUZZ_BUILD)/fuzz_%: $(FUZZ_BUILD)/tests/fuzz/fuzz_%.o $(FUZZ_BUILD)/tests/fuzz/drive.o $(BUILD)/libserver.a $(BUILD)/libapi.a $(BUILD)/libdynamics.a
	@$(call say,LINK,$@)
	$(Q)$(CC) -fsanitize=address,undefined,fuzzer -o $@ $^ $(LIBS)

# Robots of the tree and of installed packages, or those of FOLDERS.
FOLDERS ?= models tests/data $(wildcard /usr/share/mujoco/model /usr/share/sdformat12)
.PHONY: corpus
corpus: $(BUILD)/torqued ## try the robots in FOLDERS='...' : what loads, what is lost, what is refused; results in build/corpus.json
	@tests/corpus --binary $(abspath $(BUILD)/torqued) --json $(BUILD)/corpus.json $(FOLDERS)

.PHONY: wire-libraries
wire-libraries: $(BUILD)/torqued ## fetch CBOR libraries of npm and Debian, and print which forms of arrays they read and write
	@tests/e2e/libraries/wire_libraries.sh $(BUILD)/wire-libraries
	@PYTHONPATH=tests/e2e/support $(PYTHON) tests/e2e/libraries/wire_libraries.py $(BUILD)/wire-libraries

.PHONY: json-libraries
json-libraries: ## run the JSON encoders that are installed, and store how many digits they write
	@PYTHONPATH=tests/e2e/support $(PYTHON) tests/e2e/languages/json_libraries.py

# --- benchmarks ------------------------------------------------------------------------------------------------
.PHONY: bench
# Other libraries for robot dynamics, measured beside the kernels where they are installed.
PEERS            := $(if $(wildcard /usr/include/mujoco/mujoco.h),mujoco) $(if $(wildcard /usr/include/kdl/chain.hpp),kdl)
PEER_LIBS_mujoco := -lmujoco
PEER_LIBS_kdl    := -lorocos-kdl
BENCHES          := kernels scaling threads echo load $(if $(strip $(PEERS)),peers)
bench: ## kernels by width and robot, beside other libraries; the service beside a bare server and one in Python; tables and plots in build/bench/
	@tests/deps run
	@$(MAKE) --no-print-directory bench-programs
	@BUILD=$(BUILD) $(PYTHON) tests/bench/bench.py

# Measures numbers as text, of this build and, if given, of BASE, the build folder of another commit.
.PHONY: bench-numbers
bench-numbers: $(BUILD)/tests/bench/numbers ## ns to read and to write a number, by kind, beside other libraries and BASE=another/build
	@$<

ifneq ($(BASE),)
$(BUILD)/tests/bench/base.a: $(BASE)/libapi.a
	@mkdir -p $(@D)
	$(Q)nm -g --defined-only $< | awk 'NF == 3 && $$3 ~ /^api_/ { print $$3, "base_" substr($$3, 5) }' | sort -u >$@.names
	$(Q)objcopy --redefine-syms=$@.names $< $@
endif

$(BUILD)/tests/bench/numbers: tests/bench/numbers.cc $(if $(BASE),$(BUILD)/tests/bench/base.a) $(BUILD)/libapi.a
	@mkdir -p $(@D)
	@$(call say,CXX,$<)
	$(Q)$(CXX) -O2 -std=c++17 -iquote . $(LINK) $(if $(BASE),-DHAVE_BASE) -isystem $(lastword $(wildcard /usr/include/dragonbox-*)) -o $@ $^

.PHONY: bench-overhead
bench-overhead: $(BUILD)/tests/bench/overhead ## ns to check where a request begins and ends, to relay it instead, and to count it in the metrics
	@$<

$(BUILD)/tests/bench/overhead: $(BUILD)/libserver.a

# Compares the instructions of each kernel, counted by Valgrind, with the limits of the processor.
.PHONY: bench-limits
bench-limits: $(BUILD)/tests/bench/limits ## multiply-adds, bytes and share of the processor's limits, by kernel and robot
	@tests/deps bench
	@BUILD=$(BUILD) $(PYTHON) tests/bench/limits.py

# Also measures BASE, the build folder of another commit, if given.
.PHONY: bench-wire
bench-wire: $(BUILD)/torqued $(BUILD)/tests/bench/echo ## forward sensitivity of 100 states over HTTP beside a bare server, and beside BASE=another/build
	@BUILD=$(BUILD) $(PYTHON) tests/bench/wire.py $(BASE)

.PHONY: bench-formats
bench-formats: $(BUILD)/torqued ## requests and answers in JSON, CBOR and MessagePack: ms of a batch and of one state, and beside BASE=another/build
	@BUILD=$(BUILD) $(PYTHON) tests/bench/wire.py formats $(BASE)

# Also measures BASE, the build folder of another commit, if given.
.PHONY: bench-nodes
bench-nodes: $(BUILD)/torqued $(BUILD)/tests/bench/echo ## a node of optimal control: µs of step and rollout of a quadruped with A and B, and beside BASE=another/build
	@BUILD=$(BUILD) $(PYTHON) tests/bench/nodes.py $(BASE)

# Runs control loops in C, for the figures of deploy/REALTIME.md.
$(BUILD)/feedforward: $(BUILD)/api/clients/c/feedforward.o $(BUILD)/libtorqued.a
	@$(call say,LINK,$@)
	$(Q)$(CC) $(LINK) $(SANFLAGS) -o $@ $^ -lcurl -lpthread -lm

.PHONY: realtime
realtime: $(BUILD)/torqued $(BUILD)/feedforward ## a control loop of 1 kHz by path and scheduling, as root; SECONDS=60 a row
	@BUILD=$(BUILD) $(PYTHON) tests/bench/realtime.py --seconds $(or $(SECONDS),10)

.PHONY: reach
reach: $(BUILD)/torqued ## inverse kinematics of 10 000 reachable poses of each arm: share found, positions tried, µs a pose
	@BUILD=$(BUILD) $(PYTHON) tests/bench/reach.py

.PHONY: bench-payload
bench-payload: $(BUILD)/torqued ## 1000 identifications of a payload under noise, for arms, a SCARA and a Delta: how often the stated intervals cover the truth
	@BUILD=$(BUILD) $(PYTHON) tests/bench/payload.py

.PHONY: overload
overload: $(BUILD)/torqued $(BUILD)/tests/bench/load ## ten times the requests that one core can serve, greedy and silent clients: who is served, and how soon
	@BUILD=$(BUILD) $(PYTHON) tests/bench/overload.py $(or $(SECONDS),30)
	@BUILD=$(BUILD) $(PYTHON) tests/bench/crowd.py $(or $(SECONDS),30)

.PHONY: greedy upgrade faults
greedy: $(BUILD)/torqued ## 50 and 500 greedy clients of each kind beside a polite one: who is served, and how soon; SECONDS=10 a scene
	@BUILD=$(BUILD) $(PYTHON) tests/drills/greedy.py --seconds $(or $(SECONDS),10)
upgrade: $(BUILD)/torqued $(BUILD)/tests/bench/load ## new programs and settings under load: how many requests are refused or lost; SECONDS=60, BEFORE=program to begin with
	@BUILD=$(BUILD) $(PYTHON) tests/drills/upgrade.py $(or $(SECONDS),60) $(BEFORE)
faults: $(BUILD)/torqued ## eleven faults that an operator meets: alert, and what the commands of the runbook show, in build/faults
	@$(PYTHON) tests/drills/faults.py $(FAULTS)

.PHONY: bench-restart
bench-restart: $(BUILD)/torqued ## s from the start of a server with a full store until it is ready, by kind of model
	@BUILD=$(BUILD) $(PYTHON) tests/bench/restart.py

.PHONY: cluster
cluster: $(BUILD)/torqued ## three servers behind HAProxy, PostgreSQL with a standby: thousands of changes, hundreds of faults; CLUSTER='--rounds 20 database'
	@$(PYTHON) tests/bench/cluster.py $(CLUSTER)

.PHONY: bench-programs
bench-programs: $(BUILD)/torqued $(BENCHES:%=$(BUILD)/tests/bench/%)
$(BUILD)/tests/bench/%: $(BUILD)/tests/bench/%.o $(BUILD)/libapi.a $(BUILD)/libdynamics.a
	@$(call say,LINK,$@)
	$(Q)$(CC) $(LINK) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)

$(BUILD)/tests/bench/kernels $(BUILD)/tests/bench/scaling $(BUILD)/tests/bench/threads $(BUILD)/tests/bench/limits: $(BUILD)/tests/bench/passes.o $(BUILD)/tests/bench/step_passes.o
$(BUILD)/tests/bench/kernels $(BUILD)/tests/bench/scaling $(BUILD)/tests/bench/threads $(BUILD)/tests/bench/limits $(BUILD)/tests/bench/peers: $(BUILD)/tests/bench/robots.o
$(BUILD)/tests/bench/peers.o: private DEFINES := $(PEERS:%=-DHAVE_PEER_%)

# KDL is a C++ library.
$(BUILD)/tests/bench/peers: $(BUILD)/tests/bench/peers.o $(PEERS:%=$(BUILD)/tests/bench/peer/%.o) $(BUILD)/libapi.a $(BUILD)/libdynamics.a
	@$(call say,LINK,$@)
	$(Q)$(CXX) $(LINK) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS) $(foreach p,$(PEERS),$(PEER_LIBS_$(p)))

$(BUILD)/tests/bench/peer/%.o: tests/bench/peer/%.cc $(BUILD)/flags
	@mkdir -p $(@D)
	@$(call say,CXX,$<)
	$(Q)$(CXX) -O2 -std=c++17 $(COMMON) $(CXXFLAGS) -isystem /usr/include/eigen3 -c $< -o $@
