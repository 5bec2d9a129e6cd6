# Makefile - build, test and install pollux. `make help` lists the targets.

VERSION  = 0.2.0

CC      ?= cc
CLANG   ?= clang
AR      ?= ar
PREFIX  ?= /usr/local
BUILD   ?= build
GCOVR   ?= gcovr
FUZZ_SECONDS ?= 30
JOBS    := $(shell nproc 2>/dev/null || echo 2)

# Parallel by default; an explicit -j wins.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(JOBS) --no-print-directory
endif

# --- flags -------------------------------------------------------------------

CFLAGS  ?= -O2 -g
STD      = -std=c11 -ffp-contract=off -D_GNU_SOURCE -DPOLLUX_VERSION=\"$(VERSION)\" -Iinclude
WARN     = -Wall -Wextra -Wpedantic -Wshadow -Wvla -Wundef -Wformat=2 \
	-Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
	-Wpointer-arith -Wcast-qual -Wcast-align -Wwrite-strings -Wconversion \
	-Wdouble-promotion -Wfloat-conversion -Wswitch-enum -Wnull-dereference \
	-Wimplicit-fallthrough -Wno-overlength-strings -fno-common
GCC_WARN   = -Wlogical-op -Wduplicated-cond -Wduplicated-branches \
	-Wjump-misses-init -Wstrict-overflow=2 -Warith-conversion \
	-Wformat-overflow=2 -Wformat-truncation=2 -Wstringop-overflow=4
# To clang, NAN and INFINITY in a double are promotions; gcc still reports real ones.
CLANG_WARN = -Wno-double-promotion -Wcomma -Wunreachable-code-aggressive \
	-Wconditional-uninitialized -Wassign-enum -Wmissing-variable-declarations -Wloop-analysis
# Some distributions predefine _FORTIFY_SOURCE, hence the -U.
HARDEN   = -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fPIE
HARDEN_LD = -pie -Wl,-z,relro,-z,now
SANITIZERS = address,undefined,float-divide-by-zero,float-cast-overflow
VALGRIND = valgrind -q --error-exitcode=99 --leak-check=full

# pkg-config is asked when a recipe first needs the answer, not while this file
# is read: on a fresh machine `need` has only then installed it. Headers of
# others are system headers, so that our warnings stay ours.
lazy = $(eval $(1) := $(2))$($(1))
LIBRARIES  = sqlite3 hwloc nlopt qhull_r libpcre2-8 json-c
# Opened at run time, by the one command that asks for it.
LOADED     = libmicrohttpd
system_headers = $(patsubst -I%,-isystem %,$(shell $(1)))
PKG_CFLAGS = $(call lazy,PKG_CFLAGS,$(call system_headers,\
	pkg-config --cflags $(LIBRARIES) $(LOADED)))
PKG_LIBS   = $(call lazy,PKG_LIBS,$(shell pkg-config --libs $(LIBRARIES) ncursesw))
# It defines macros of the C library, so that only the file that draws is compiled with it.
CURSES_CFLAGS = $(call lazy,CURSES_CFLAGS,$(call system_headers,pkg-config --cflags ncursesw))
BLAS_CFLAGS = $(call lazy,BLAS_CFLAGS,$(call system_headers,pkg-config --cflags openblas zlib))
BLAS_LIBS  = $(call lazy,BLAS_LIBS,$(shell pkg-config --libs openblas zlib))
LDLIBS   = $(PKG_LIBS) -lpthread -lm

# CUDA: only the headers are needed, for the signatures; its libraries are opened at run time.
# The headers are looked for in CUDA_HOME, beside nvcc, in /usr/local/cuda and in /usr. CUDA=no
# builds without them.
CUDA_HEADERS = cuda.h cuda_runtime_api.h cublas_v2.h
CUDA_PLACES  = $(CUDA_HOME:=/include) \
	$(patsubst %/bin/nvcc,%/include,$(shell command -v nvcc 2>&1)) \
	/usr/local/cuda/include /usr/include
CUDA_FOUND   = $(call lazy,CUDA_FOUND,$(if $(filter no,$(CUDA)),,$(firstword \
	$(foreach d,$(CUDA_PLACES),\
	$(if $(filter 3,$(words $(wildcard $(CUDA_HEADERS:%=$(d)/%)))),$(d))))))
CUDA_CFLAGS  = $(if $(CUDA_FOUND),-DPOLLUX_CUDA \
	$(patsubst %,-isystem %,$(filter-out /usr/include,$(CUDA_FOUND))))

# The example trainer's GPU part takes NVRTC's header as well.
TRAIN_CUDA   = $(if $(and $(CUDA_FOUND),$(wildcard $(CUDA_FOUND)/nvrtc.h)),-DTRAIN_CUDA)

# Of OpenBLAS too, for src/measure; OPENBLAS=no leaves it out.
OPENBLAS_CFLAGS = $(call lazy,OPENBLAS_CFLAGS,$(if $(filter no,$(OPENBLAS)),,$(call system_headers,\
	pkg-config --exists openblas && echo -DPOLLUX_OPENBLAS && pkg-config --cflags openblas)))

COMPILE  = $(CC) $(STD) $(CUDA_CFLAGS) $(OPENBLAS_CFLAGS) $(WARN) $(HARDEN) $(CFLAGS) $(CPPFLAGS)
LINK     = $(CC) $(CFLAGS) $(HARDEN_LD) $(LDFLAGS) $(RUNTIME)

# --- files -------------------------------------------------------------------

HEADERS := $(wildcard include/pollux/*.h src/*/*.h src/*/*/*.h examples/*/*.h tests/*.h)
SRC     := $(wildcard src/*/*.c src/*/*/*.c)
OBJ     := $(SRC:src/%.c=$(BUILD)/%.o)
TESTED  := $(filter-out $(BUILD)/cli/main.o,$(OBJ))
CLIENT  := $(filter $(BUILD)/client/%,$(OBJ))
# Unit tests share one program, but for those whose source replaces a function when it is linked.
UNIT_C  := $(wildcard tests/unit/test_*.c)
UNIT    := $(UNIT_C:tests/%.c=$(BUILD)/%)
APART   := $(patsubst tests/%.c,$(BUILD)/%,$(shell grep -l '^/\* link: ' $(UNIT_C)))
SHARED  := $(filter-out $(APART),$(UNIT))
UNITS   := $(BUILD)/unit/units
PRELOAD := $(patsubst tests/%.c,$(BUILD)/%.so,$(wildcard tests/fault/preload_*.c))
STANDIN := $(patsubst tests/%.c,$(BUILD)/%.so,$(wildcard tests/gpu/nvml_*.c tests/gpu/cuda_*.c))
FAULT   := $(patsubst tests/%.c,$(BUILD)/%,\
	$(filter-out tests/fault/preload_%,$(wildcard tests/fault/*.c)))
# The longest first: at the end one of them alone would be waited for.
LONGEST := $(patsubst %,tests/%.t,cli/gpu fault/suspend fault/escapees cli/profile \
	fault/kept_position fault/slurm cli/slurm fault/supervisor fault/pass fault/concurrent \
	cli/schedule cli/suspend fault/adopt \
	cli/goodput cli/train-cuda cli/profile_warnings fault/unsuspendable fault/stopped-opener)
SAN     := $(BUILD)/san
UNIT_TESTS := $(UNIT_C:tests/%.c=$(SAN)/%) $(SAN)/cuda/test_kernels
LONG_UNIT := $(SAN)/cuda/test_kernels $(addprefix $(SAN)/unit/test_,policy_goodput_run experiment \
	simulate store recorder fit)
# Tests that failed now and then, each below a comment with what it said: `make check` leaves them
# out, `make check-all` does not.
UNSTEADY :=
SCRIPTS := $(LONGEST) $(filter-out $(LONGEST),$(wildcard tests/cli/*.t tests/fault/*.t))
EXAMPLE := $(patsubst %.c,$(BUILD)/%,$(wildcard examples/*.c))
BENCH   := $(patsubst %.c,$(BUILD)/%,$(wildcard benchmarks/*.c))
TRAIN_TEST := $(BUILD)/cuda/test_kernels
CUDA_HOST := $(BUILD)/cuda/host.so
# What fuzzers reach. The linker names what is missing.
FUZZED_MODEL = configuration device_measurement execution_plan goodput growth learning_rate \
	noise_scale observation plausible residuals split step_stats throughput tier_fit
FUZZED_SIM = application csv ground_truth sim_profiles
FUZZED  := $(filter $(addprefix $(BUILD)/,util/% steps/% store/% model/fit% \
	cli/mcp_json.o cli/mcp_protocol.o cli/mcp_shorten.o \
	$(FUZZED_MODEL:%=model/%.o) $(FUZZED_SIM:%=sim/%.o) engine/template.o \
	engine/report_message.o engine/local/recorder% engine/slurm/slurm_parse.o sched/halving.o \
	device/%),$(OBJ))
FUZZ    := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
MAN     := $(wildcard man/*.[0-9])
EVERY_C := $(SRC) $(wildcard examples/*.c examples/*/*.c benchmarks/*.c tests/*/*.c)
SHELL_FILES = tests/fault/month tests/fault/slurm_month \
	$(wildcard .ci/run tools/*.sh tests/*/*.sh) $(SCRIPTS) \
	$(shell grep -lsE '^\#! */.*sh$$' examples/* benchmarks/*)

# What the tests, the demo and the benchmarks are told about this build.
test_env = POLLUX=$(abspath $(1))/pollux TRAIN=$(abspath $(1))/examples/train \
	FAULT=$(abspath $(1))/fault GPU_STANDIN=$(abspath $(1))/gpu \
	CUDA_HOST=$(abspath $(1))/cuda/host.so
TEST_ENV = $(call test_env,$(BUILD)) SANITIZED_BUILD=$(SAN) \
	SANITIZED="$(SAN_ENV) $(call test_env,$(SAN))"

# A test that hangs must not hang the rest. What each test said is kept in LOGS. Which checks
# failed, with what they wanted and got, is printed at the end. Most tests wait more than they
# compute, hence more jobs than cores.
TEST_SECONDS ?= 1800
PROVE_JOBS ?= $(shell echo $$(($(JOBS) * 5)))
LOGS    = $(BUILD)/test-logs
STATE   = $(BUILD)/prove.state
PROVE   = prove -j$(PROVE_JOBS) --timer --statefile=$(STATE) \
	--exec 'tools/run-test.sh $(TEST_SECONDS) $(LOGS)'
# run_tests TESTS: none is run again after it failed.
run_tests = @rm -rf $(LOGS) $(STATE) && mkdir -p $(LOGS); \
	$(TEST_ENV) $(PROVE) --state=save $(1) || { cat $(LOGS)/FAILED; exit 1; }

# --- targets -----------------------------------------------------------------

all: $(BUILD)/pollux $(BUILD)/libpollux.a ## build/pollux and build/libpollux.a

examples: $(EXAMPLE) ## the example programs (OpenBLAS, zlib)

TESTING := $(UNIT) $(TRAIN_TEST) $(CUDA_HOST) $(FAULT) $(PRELOAD) $(STANDIN)
programs: all examples $(TESTING) $(BENCH) $(FUZZ:=.o)

testing: all examples $(TESTING)

# Unit tests run under the sanitizers, scripts with the program as users build it. A sanitized
# command starts four times as slowly: `make sanitize` has the scripts, too.
check: ## unit tests under the sanitizers, command-line tests, short fault tests: five minutes
	@$(clear_reports)
	+@$(SAN_MAKE) unit-testing
	+@$(MAKE) script-testing
	$(call run_tests,$(filter-out $(UNSTEADY),$(LONG_UNIT) $(SCRIPTS) \
		$(filter-out $(LONG_UNIT),$(UNIT_TESTS)))) \
		|| { $(no_report); exit 1; }
	@$(no_report)
unit-testing: $(UNIT) $(TRAIN_TEST) $(STANDIN)
script-testing: all examples $(CUDA_HOST) $(FAULT) $(PRELOAD) $(STANDIN)
# Those of one build.
all-tests: testing
	$(call run_tests,$(filter-out $(LEAVE_OUT),$(SCRIPTS)) $(UNIT))

# What takes too long for every change. SOAK: tools/soak.sh has the hours.
check-all: ## what check leaves out: sanitized scripts, long faults, all analysers, fuzzers, the kit
	+@FAULT_STRIDE=6 $(MAKE) check UNSTEADY=
	+@$(MAKE) sanitize
	+@$(MAKE) lint
	+@$(MAKE) fuzz
	+@$(MAKE) bench-smoke
	+@$(MAKE) gpu-kit-check

# The simulator, and the trainer's kernels, compute for minutes under the sanitizers. What unit
# tests have them look at as well; the scripts run there in `make soak` alone.
COMPUTE := tests/cli/simulate.t tests/cli/train-cuda.t

SOAK_FUZZ_SECONDS ?= 240
month: all $(FAULT) ## 40 minutes: 3,000 kills while 200 jobs run (MONTH_KILLS=60: some minutes)
	$(TEST_ENV) tests/fault/month

slurm-month: all $(FAULT) ## 15 minutes: 200 accidents, 60 jobs on a Slurm (SLURM_FAULTS=20: some)
	$(TEST_ENV) tests/fault/slurm_month

injection: all $(PRELOAD) ## 10 minutes: 2,000 calls that fail, 1,000 absurd stores
	+@$(SAN_MAKE) programs
	$(TEST_ENV) POLLUX_SANITIZED=$(abspath $(BUILD))/san/pollux tests/fault/injection

soak: ## an hour: kills at every call, all random cases, a month of kills, fuzzers
	tools/soak.sh $(SOAK_FUZZ_SECONDS)

# POLLUX_FRAMEWORKS names a virtual environment with the packages, else build/frameworks is made.
check-frameworks: ## PyTorch, Trainer, Lightning, Keras, JAX: unmodified programs beside the helper
	tests/frameworks/run.sh

slowest: ## the ten slowest tests of the last check and of the last sanitize, with their seconds
	@tools/slowest.sh $(wildcard $(STATE) $(BUILD)/gcc/prove.state $(BUILD)/san/prove.state)

demo: all examples ## train five jobs on two CPU slots; what that gained; about a minute
	@$(TEST_ENV) examples/demo.sh

lint: ## warnings as errors, static analysis, manuals, layers, purity
	@$(MAKE) -Otarget lint-gcc analyse

analyse: lint-tidy lint-cppcheck lint-shell lint-man lint-layers

# A real -O2 compile: -fanalyzer and the flow warnings are silent under -fsyntax-only.
GCC_MAKE = $(MAKE) BUILD=$(BUILD)/gcc CC=gcc CPPFLAGS='$(GCC_WARN) -Werror' CFLAGS='-O2 -g1' \
	ANALYZE=-fanalyzer
lint-gcc:
	+@$(GCC_MAKE) programs lint-symbols

bench-smoke: all examples $(BENCH)
	@$(TEST_ENV) tools/bench.sh $(BUILD) smoke

LINT_CFLAGS = $(STD) $(CUDA_CFLAGS) $(TRAIN_CUDA) $(OPENBLAS_CFLAGS) -Itests -Isrc \
	-I$(BUILD)/unit $(PKG_CFLAGS) $(CURSES_CFLAGS) $(BLAS_CFLAGS) $(WARN) $(CLANG_WARN)

# clang's own warnings are among what clang-tidy reports (.clang-tidy).
lint-tidy: $(patsubst %,$(BUILD)/tidy/%.ok,$(EVERY_C))
$(BUILD)/tidy/%.ok: % $(HEADERS) .clang-tidy $(BUILD)/unit/names.h | need
	@mkdir -p $(@D)
	@clang-tidy --quiet $< -- $(LINT_CFLAGS) 2>$@.err || { cat $@.err >&2; exit 1; }
	@touch $@

CHECKED_C = $(SRC) $(wildcard examples/*.c examples/*/*.c benchmarks/*.c)
lint-cppcheck: | need
	@mkdir -p $(BUILD)/cppcheck
	@cppcheck --quiet -j$(JOBS) --cppcheck-build-dir=$(BUILD)/cppcheck --std=c11 \
		--enable=warning,style,performance,portability --inline-suppr \
		--suppress=missingIncludeSystem --error-exitcode=1 \
		-D_GNU_SOURCE -DPOLLUX_VERSION='"$(VERSION)"' -Iinclude \
		$(CHECKED_C)

lint-shell: | need
	shellcheck -x -P SCRIPTDIR $(SHELL_FILES)

lint-man: | need
	$(if $(MAN),mandoc -Tlint -W warning $(MAN))

lint-layers:
	tools/check-layers.sh
	tools/check-opens.sh
	tools/check-tests.sh
	tools/check-aside.sh
	tools/check-lines.sh

lint-symbols: $(OBJ)
	@tools/check-symbols.sh $(BUILD) $(OBJ:$(BUILD)/%=%)

# Fewer RANDOM_CASES of unit tests: the same code runs, less often. Reports go to files, as
# supervisors have no standard error. Each report is a failure.
REPORTS = $(abspath $(BUILD))/san/reports
SAN_ENV = TIME_SCALE=$${TIME_SCALE:-20} \
	UBSAN_OPTIONS=print_stacktrace=1:log_path=$(REPORTS)/ubsan \
	ASAN_OPTIONS=detect_stack_use_after_return=1:handle_sigill=1:log_path=$(REPORTS)/asan
SAN_CFLAGS = -Og -g1 -fno-omit-frame-pointer -fsanitize=$(SANITIZERS) -fno-sanitize-recover=all
# The suite starts more than 10,000 sanitized commands, so that their start counts: nothing to
# relocate, and the runtimes within. Undefined behaviour is an illegal instruction, which the
# address sanitizer reports with its line: the words of the checks would be 5 MB in each process,
# and half of its start. `make sanitize SAN_TRAP=` has the words.
SAN_TRAP = -fsanitize-undefined-trap-on-error
SAN_MAKE = $(SAN_ENV) $(MAKE) BUILD=$(BUILD)/san HARDEN='-fno-pie -U_FORTIFY_SOURCE' \
	HARDEN_LD=-no-pie CFLAGS='$(SAN_CFLAGS) $(SAN_TRAP)' \
	RUNTIME='$(if $(findstring clang,$(CC)),,-static-libasan -static-libubsan)'
no_report = grep -rE 'ERROR: |runtime error: ' $(REPORTS) -A 30; [ $$? = 1 ]

clear_reports = rm -rf $(REPORTS) && mkdir -p $(REPORTS) && chmod 1777 $(REPORTS)

sanitize: ## all tests under ASan and UBSan
	@$(clear_reports)
	+@$(SAN_MAKE) all-tests $(if $(ALL_CASES),,LEAVE_OUT='$(COMPUTE)') || \
		{ $(no_report); exit 1; }
	@$(no_report)

# Only command-line tests that start no job: a supervisor starts as /proc/self/exe, which is
# valgrind here. The messages of valgrind go to files, because it keeps the descriptor to which it
# writes from the program, even a closed standard error.
MEMCHECK_CLI = tests/cli/main.t tests/cli/completion.t
memcheck: all examples $(UNIT) $(STANDIN) ## the unit tests and some commands under valgrind
	rm -rf $(BUILD)/valgrind && mkdir -p $(BUILD)/valgrind
	printf '#!/bin/sh\nexec %s --log-file=%s/%%p %s "$$@"\n' '$(VALGRIND)' \
		$(abspath $(BUILD))/valgrind $(abspath $(BUILD))/pollux >$(BUILD)/pollux-valgrind
	chmod +x $(BUILD)/pollux-valgrind
	$(if $(UNIT),$(TEST_ENV) prove -j$(JOBS) --exec '$(VALGRIND)' $(UNIT))
	$(TEST_ENV) POLLUX=$(abspath $(BUILD))/pollux-valgrind TIME_SCALE=20 \
		$(PROVE) $(MEMCHECK_CLI) || { cat $(BUILD)/valgrind/*; exit 1; }

fuzz: ## each fuzzer for FUZZ_SECONDS (30); the corpus stays in build/corpus
	@$(MAKE) BUILD=$(BUILD)/fuzzing CC='$(CLANG)' CPPFLAGS=-Wno-double-promotion \
		HARDEN='-fPIE -U_FORTIFY_SOURCE' \
		CFLAGS='$(SAN_CFLAGS) -fsanitize=fuzzer-no-link' fuzzers
	tools/fuzz.sh $(BUILD) $(FUZZ_SECONDS)

fuzzers: $(FUZZ)

# gcov complains, into the tests' standard error, about counts of another build.
coverage: ## build/coverage.txt; fails under 85 % of the lines of src
	@mkdir -p $(BUILD)/cov && find $(BUILD)/cov -name '*.gcda' -delete
	@$(MAKE) all-tests BUILD=$(BUILD)/cov HARDEN='-fPIE -U_FORTIFY_SOURCE' \
		CFLAGS='-O0 -g --coverage -fprofile-update=atomic'
	$(GCOVR) -r . --object-directory $(BUILD)/cov -f 'src/.*' --branches \
		--fail-under-line 85 -o $(BUILD)/coverage.txt

bench: all examples $(BENCH) ## run benchmarks/*
	$(TEST_ENV) tools/bench.sh $(BUILD)

# POLICIES='fifo goodput' for some of them. On a quiet machine.
bench-jct: all examples ## completion times of real jobs under each policy, half an hour
	$(TEST_ENV) benchmarks/jct.sh $(POLICIES)

install: all ## to PREFIX (/usr/local), under DESTDIR
	tools/install.sh install '$(DESTDIR)$(PREFIX)' $(BUILD)

uninstall: ## remove what install put there
	tools/install.sh uninstall '$(DESTDIR)$(PREFIX)' $(BUILD)

clean: ## remove build/
	rm -rf $(BUILD)

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 16

# --- what the goals need from the system ---------------------------------------

NEED_examples = example
NEED_programs = example
NEED_check    = example data check
NEED_demo     = example data
NEED_analyse  = example lint
NEED_lint     = example lint
NEED_sanitize = $(NEED_check)
NEED_memcheck = $(NEED_check) memcheck
NEED_fuzz     = fuzz
NEED_coverage = $(NEED_check) coverage
NEED_bench    = $(NEED_check) bench

need:
	@tools/need.sh $(sort build \
		$(foreach goal,$(MAKECMDGOALS),$(NEED_$(firstword $(subst -, ,$(goal))))))

# Goals that only call make again must have everything first, in one go.
lint sanitize fuzz coverage check check-all demo memcheck bench bench-jct: | need

# --- rules -------------------------------------------------------------------

# Short lines; V=1 shows the commands. The demo is about jobs: one line says that it builds.
say = $(if $(V),,@$(if $(QUIET),,printf '  %-4s %s\n' $(1) $@;))
ifeq ($(MAKECMDGOALS)$(V),demo)
QUIET = 1
$(if $(wildcard $(BUILD)/examples/train),,$(info Building: one or two minutes on \
	two cores. 'make V=1 demo' shows how.))
endif

# A stamp changes when its text does, so that new flags, or another set of
# files, rebuild what depends on them.
define stamp
	@mkdir -p $(@D)
	@new=$@.$$$$; printf '%s\n' $(1) >$$new; \
	if cmp -s $$new $@; then rm $$new; else mv $$new $@; fi
endef

$(BUILD)/flags.stamp: FORCE | need
	$(call stamp,$(COMPILE) $(ANALYZE) $(HARDEN_LD) $(LDFLAGS))
$(BUILD)/files.stamp: FORCE
	$(call stamp,$(OBJ))

$(BUILD)/pollux: $(OBJ) $(BUILD)/files.stamp
	$(call say,LD)$(LINK) -o $@ $(OBJ) $(LDLIBS)
	$(if $(CUDA_FOUND),,@echo \
		'  CUDA not found (or CUDA=no): pollux will measure no GPU itself')

$(BUILD)/libpollux.a: $(CLIENT) $(BUILD)/files.stamp
	@rm -f $@
	$(call say,AR)$(AR) rcs $@ $(CLIENT)

# The client library may end up in a shared object, such as a language's module.
$(OBJ): $(BUILD)/%.o: src/%.c $(BUILD)/flags.stamp | need
	@mkdir -p $(@D)
	$(call say,CC)$(COMPILE) $(ANALYZE) $(PKG_CFLAGS) \
		$(if $(filter client/%,$*),-fPIC) \
		$(if $(filter cli/top_screen,$*),$(CURSES_CFLAGS)) \
		-MMD -MP -c -o $@ $<

# A test that replaces a function says so in its source, on a line by itself:
# /* link: -Wl,--wrap=fork */
LINK_LINE = $(shell sed -n 's|^/\* link: \(.*\) \*/$$|\1|p' $<)
PROGRAM = $(COMPILE) -Itests -Isrc $(PKG_CFLAGS) -MMD -MP -MF $@.d -MT $@ $(HARDEN_LD) $(LDFLAGS)

$(APART): $(BUILD)/unit/%: tests/unit/%.c $(TESTED) $(BUILD)/files.stamp
	@mkdir -p $(@D)
	$(call say,CC)$(PROGRAM) $(LINK_LINE) -o $@ $< $(TESTED) $(LDLIBS)

# One program holds the other unit tests. Their main() are renamed; the name by which the program
# is called says which of them runs. So each test is a link to the program.
$(SHARED): $(UNITS)
	@ln -sf $(<F) $@

$(UNITS): tests/unit/units.c $(SHARED:=.o) $(TESTED) $(BUILD)/files.stamp $(BUILD)/unit/names.h
	$(call say,LD)$(PROGRAM) -I$(@D) -o $@ $< $(SHARED:=.o) $(TESTED) $(LDLIBS)

$(SHARED:=.o): $(BUILD)/unit/%.o: tests/unit/%.c $(BUILD)/flags.stamp | need
	@mkdir -p $(@D)
	$(call say,CC)$(COMPILE) -Itests -Isrc $(PKG_CFLAGS) -MMD -MP -c -o $@ $<
	@objcopy --redefine-sym main=$*_main $@

$(BUILD)/unit/names.h: FORCE
	$(call stamp,$(patsubst %,'TEST(%)',$(notdir $(SHARED))))

$(BENCH): $(BUILD)/%: %.c $(TESTED) $(BUILD)/files.stamp
	@mkdir -p $(@D)
	$(call say,CC)$(PROGRAM) -o $@ $< $(TESTED) $(LDLIBS)

# What the fault tests kill with, and what they kill.
$(FAULT): $(BUILD)/%: tests/%.c $(BUILD)/libpollux.a $(BUILD)/flags.stamp
	@mkdir -p $(@D)
	$(call say,CC)$(PROGRAM) -o $@ $< $(BUILD)/libpollux.a

$(BUILD)/gpu/cuda_freeze_old.so: tests/gpu/cuda_freeze.c

# Loaded into sanitized programs too: built alone, as nobody else's code.
$(PRELOAD): $(BUILD)/%.so: tests/%.c $(BUILD)/flags.stamp | need
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(STD) $(WARN) -O2 -fPIC -shared -o $@ $<

# What answers for NVML and CUDA where there is no GPU: likewise.
$(STANDIN): $(BUILD)/%.so: tests/%.c tests/gpu/standin.h $(BUILD)/flags.stamp | need
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(STD) $(CUDA_CFLAGS) $(WARN) -O2 -fPIC -fvisibility=hidden -shared \
		-o $@ $<

# An example may be one file, or examples/NAME.c with helpers in examples/NAME/.
.SECONDEXPANSION:
$(EXAMPLE): $(BUILD)/%: %.c $$(wildcard $$*/*.[ch]) $(BUILD)/libpollux.a $(BUILD)/flags.stamp
	@mkdir -p $(@D)
	$(call say,CC)$(COMPILE) $(ANALYZE) $(TRAIN_CUDA) $(BLAS_CFLAGS) $(HARDEN_LD) $(LDFLAGS) \
		-o $@ $(filter %.c,$^) $(BUILD)/libpollux.a $(BLAS_LIBS) -lpthread -lm
	$(if $(TRAIN_CUDA),,@echo '  CUDA not found (or CUDA=no): $(@F) will not train on GPUs')

# The example trainer's GPU part without a GPU: its kernels as C, and CUDA's calls on the host.
$(TRAIN_TEST): $(BUILD)/%: tests/%.c $(wildcard examples/train/*.[ch] tests/cuda/*.h) \
		tests/tap.h $(BUILD)/flags.stamp
	@mkdir -p $(@D)
	$(call say,CC)$(COMPILE) $(TRAIN_CUDA) -Itests $(BLAS_CFLAGS) $(HARDEN_LD) $(LDFLAGS) \
		-o $@ $(filter %.c,$^) $(BLAS_LIBS) -lpthread -lm

$(CUDA_HOST): tests/cuda/host.c tests/cuda/kernels_on_host.h examples/train/kernel_text.h \
		$(BUILD)/flags.stamp
	@mkdir -p $(@D)
	$(call say,CC)$(COMPILE) $(TRAIN_CUDA) $(BLAS_CFLAGS) -fPIC -shared $(LDFLAGS) -o $@ $< \
		$(BLAS_LIBS) -lpthread -lm

# Apart, because lint compiles the harnesses and only clang can link them.
$(FUZZ:=.o): $(BUILD)/fuzz/%.o: tests/fuzz/%.c $(BUILD)/flags.stamp | need
	@mkdir -p $(@D)
	$(call say,CC)$(COMPILE) -Isrc $(PKG_CFLAGS) -MMD -MP -c -o $@ $<

$(FUZZ): %: %.o $(BUILD)/libfuzzed.a $(BUILD)/files.stamp
	$(call say,LD)$(LINK) -fsanitize=fuzzer -o $@ $< $(BUILD)/libfuzzed.a $(LDLIBS)

$(BUILD)/libfuzzed.a: $(FUZZED) $(BUILD)/files.stamp
	@rm -f $@
	$(call say,AR)$(AR) rcs $@ $(FUZZED)

include tests/gpu-kit/kit.mk
include tools/package/package.mk

-include $(OBJ:.o=.d) $(UNIT:=.d) $(UNITS).d $(FAULT:=.d) $(BENCH:=.d) $(FUZZ:=.d)

FORCE:
.PHONY: all examples programs testing unit-testing script-testing all-tests check check-all \
	check-frameworks month injection slurm-month soak slowest demo \
	lint analyse lint-gcc bench-smoke lint-tidy lint-cppcheck lint-shell \
	lint-man lint-layers lint-symbols sanitize memcheck fuzz fuzzers coverage \
	bench bench-jct install uninstall clean help need FORCE
.DELETE_ON_ERROR:
