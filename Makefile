# BabyGPT in C++: `make help` lists what there is.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

BUILD ?= build
MPI_STAGES := $(sort $(basename $(notdir $(shell grep -l '<mpi.h>' stages/*.cpp))))  # those that only make mpi builds
STAGES := $(filter-out $(MPI_STAGES),$(sort $(basename $(notdir $(wildcard stages/*.cpp)))))
stages_with = $(filter $(STAGES),$(sort $(basename $(notdir $(shell grep -lE '$1' stages/*.cpp)))))
LANGUAGE := $(call stages_with,run_stage<Model>)  # those that train a model to write
BERTS := $(call stages_with,(run_bert|run_prune|measure_memory)<Model>)  # those that train a BERT
TRANSLATORS := $(call stages_with,run_translate<Model>)
REPORTED := $(call stages_with,run_(stage|bert|translate|prune)<Model>)  # those whose runs are compared
TRAINED := $(call stages_with,run_(stage|bert|translate)<Model>)  # those that train a model

PACKAGES := g++ libxtensor-dev libxtensor-blas-dev libxsimd-dev libopenblas-dev libcli11-dev nlohmann-json3-dev \
            libutfcpp-dev libutf8proc-dev libedit-dev libcpp-httplib-dev doctest-dev clang-format patch python3

# For the machine it is built on; PORTABLE=1 makes programs that run on any machine of this kind, and slower.
MACHINE := $(if $(PORTABLE),,-march=native $(if $(filter x86_64,$(shell uname -m)),-mprefer-vector-width=512))
# Warnings are errors with the compiler that this is tested with; a newer one has more of them, and goes on.
WERROR := $(if $(filter 12,$(firstword $(subst ., ,$(shell $(CXX) -dumpversion 2>/dev/null)))),-Werror)
# gcc 12 warns without cause inside the AVX-512 intrinsics and std::string (its bugs 105593 and 105651).
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow $(WERROR) -Wno-maybe-uninitialized -Wno-uninitialized -Wno-restrict
CXXFLAGS := -std=c++20 -g1 -O3 $(MACHINE) -DXTENSOR_USE_XSIMD $(WARNINGS) -I. -MMD -MP -pthread $(EXTRA)
LDLIBS := -lopenblas -lutf8proc -ledit -pthread

LIBRARY := $(BUILD)/libbabygpt.a
objects = $(addprefix $(BUILD)/obj/,$(1:.cpp=.o))
CORE := $(wildcard common/*/*.cpp)
ifdef EXTRA  # for tests, and not to be edited and built again: a room is compiled as one file, in half the time
CORE := $(addsuffix .cpp,$(addprefix rooms/,$(sort $(notdir $(patsubst %/,%,$(dir $(CORE)))))))
endif
CORE += $(filter-out data/corpus.cpp,$(wildcard data/*.cpp))

.PHONY: help
help: ## this list
	@echo "make TARGET, where TARGET is"
	@grep -hE '^[a-zA-Z0-9_%-]+:.*## ' Makefile | sed -E 's/^([^:]+):.*## /\1\t/' | awk -F'\t' '{printf "  %-16s %s\n", $$1, $$2}'
	@echo "  03_head          build one stage into build/; so for every stage: $(STAGES)"
	@echo "  diff-04          what stage 04 adds to the one it grew from; so for every number from 01 on"

# --- set-up -----------------------------------------------------------------------------------------------------------
SETUP := build/.packages
$(SETUP): Makefile
	@tests/install $(PACKAGES)
	@mkdir -p build && touch $@

# --- building ---------------------------------------------------------------------------------------------------------
building = MAKE="$(MAKE)" tests/build
.PHONY: all $(STAGES)
all: $(addprefix $(BUILD)/,$(STAGES) corpus report draw mechanisms workshop) ## build every stage
$(STAGES): %: $(BUILD)/%

# Other flags or another compiler build all again.
FLAGS := $(CXX) $(CXXFLAGS)
ifneq ($(file <$(BUILD)/.flags),$(FLAGS))
.PHONY: $(BUILD)/.flags
endif
$(BUILD)/.flags:
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(FLAGS))' >$@

$(BUILD)/obj/%.o: %.cpp $(BUILD)/.flags | $(SETUP)
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) -c $< -o $@

$(BUILD)/obj/rooms/%.o: $(BUILD)/rooms/%.cpp $(BUILD)/.flags
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) -c $< -o $@
$(BUILD)/obj/rooms/%.o: CXXFLAGS += -Wno-shadow
.PRECIOUS: $(BUILD)/rooms/%.cpp
$(BUILD)/rooms/%.cpp: common/% Makefile
	@mkdir -p $(@D)
	@printf '#include "%s"\n' $(wildcard common/$*/*.cpp) >$@
$(BUILD)/rooms/workshop.cpp: docs/workshop Makefile
	@mkdir -p $(@D)
	@printf '#include "%s"\n' $(filter-out %/main.cpp,$(wildcard docs/workshop/*.cpp)) >$@

$(LIBRARY): $(call objects,$(CORE))
	@rm -f $@
	@ar rcs $@ $^

$(addprefix $(BUILD)/,$(STAGES)): $(BUILD)/%: $(BUILD)/obj/stages/%.o $(LIBRARY)
	$(CXX) $(CXXFLAGS) $^ -o $@ $(LDLIBS)
$(BUILD)/corpus: $(BUILD)/obj/data/corpus.o $(LIBRARY)
	$(CXX) $(CXXFLAGS) $^ -o $@ $(LDLIBS)
$(BUILD)/report $(BUILD)/draw: $(BUILD)/%: $(BUILD)/obj/docs/drawing/%.o $(LIBRARY)
	$(CXX) $(CXXFLAGS) $^ -o $@ $(LDLIBS)

$(BUILD)/mechanisms: $(call objects,docs/drawing/mechanisms.cpp docs/drawing/attention.cpp) $(LIBRARY)
	$(CXX) $(CXXFLAGS) $^ -o $@ $(LDLIBS)

# The workshop: a server and the models of all stages. Debian builds cpp-httplib as a library, with these settings.
WORKSHOP := $(if $(EXTRA),rooms/workshop.cpp,$(filter-out docs/workshop/main.cpp,$(wildcard docs/workshop/*.cpp)))
HTTPLIB := -DCPPHTTPLIB_OPENSSL_SUPPORT -DCPPHTTPLIB_ZLIB_SUPPORT -DCPPHTTPLIB_BROTLI_SUPPORT
$(BUILD)/workshop: $(BUILD)/obj/docs/workshop/main.o $(call objects,$(WORKSHOP)) $(LIBRARY)
	$(CXX) $(CXXFLAGS) $^ -o $@ $(LDLIBS) -lcpp-httplib -lcrypto
$(BUILD)/obj/docs/workshop/%.o $(BUILD)/obj/rooms/workshop.o: CXXFLAGS += -O1 -I$(BUILD) $(HTTPLIB)
$(patsubst %,$(BUILD)/obj/docs/workshop/%.o,base64 look server): CXXFLAGS += -O2  # an answer has megabytes
$(BUILD)/obj/tests/workshop_server_test.o: CXXFLAGS += $(HTTPLIB)

# Programs for many machines: the same objects, but for the one file that knows of MPI, and the stages about it.
MPI_PACKAGES := libopenmpi-dev openmpi-bin
MPI_FLAGS = $(patsubst -I%,-isystem%,$(shell mpicc -showme:compile)) -DBABYGPT_MPI -DOMPI_SKIP_MPICXX
MPI_LIBS = $(shell mpicc -showme:link)
SHARED := $(call stages_with,(run_(stage|bert|translate|prune)|measure_memory)<Model>)  # those that can be trained by many
MPI_PROGRAMS := $(addprefix $(BUILD)/mpi/,$(SHARED) $(MPI_STAGES))
.PHONY: mpi $(MPI_STAGES)
mpi: $(SETUP) ## the stages that train, for mpirun, into build/mpi/
	@tests/install $(MPI_PACKAGES)
	@+$(building) $(MPI_PROGRAMS)
$(MPI_STAGES): mpi
$(BUILD)/mpi/ranks.o: common/train/ranks.cpp $(BUILD)/.flags
$(addprefix $(BUILD)/mpi/,$(addsuffix .o,$(MPI_STAGES))): $(BUILD)/mpi/%.o: stages/%.cpp $(BUILD)/.flags
$(BUILD)/mpi/%.o:
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) $(MPI_FLAGS) -c $< -o $@
# What ranks.o defines is not taken from the library.
$(addprefix $(BUILD)/mpi/,$(SHARED)): $(BUILD)/mpi/%: $(BUILD)/obj/stages/%.o $(BUILD)/mpi/ranks.o $(LIBRARY)
$(addprefix $(BUILD)/mpi/,$(MPI_STAGES)): $(BUILD)/mpi/%: $(BUILD)/mpi/%.o $(BUILD)/mpi/ranks.o $(LIBRARY)
$(MPI_PROGRAMS):
	$(CXX) $(CXXFLAGS) $^ -o $@ $(LDLIBS) $(MPI_LIBS)

# What does not compute is compiled for a quick build.
$(BUILD)/obj/common/app/%.o $(BUILD)/obj/common/train/%.o $(BUILD)/obj/data/corpus.o $(BUILD)/obj/docs/drawing/%.o: CXXFLAGS += $(if $(EXTRA),,-O1)
# Without fused multiply-adds, which some machines have, a picture is the same to the byte on all of them.
$(BUILD)/obj/docs/drawing/%.o: CXXFLAGS += -ffp-contract=off
# Learners rebuild a stage again and again: -O1 halves the wait and costs no speed, as the work is done in common/.
$(BUILD)/obj/stages/%.o: CXXFLAGS += $(if $(EXTRA),,-O1 -g0)

# --- running ----------------------------------------------------------------------------------------------------------
# ARGS is part of a command line: the shell reads it, quotes and all, and make does not.
override export ARGS := $(value ARGS)
with_args = printf ': %s' "$$ARGS" | sh -n 2>/dev/null || { echo "a quote in ARGS is not closed: $$ARGS" >&2; exit 2; }; eval "set -- $$ARGS"

.PHONY: run
ifdef STAGE
run: $(SETUP) ## train the stages on the built-in tales and compare them; PART=2 those of Part II; STAGE=03_head ARGS="--steps 500" one
	@$(if $(filter $(STAGE),$(STAGES)),,echo "there is no stage $(STAGE); there are: $(STAGES)" >&2; exit 2)
	@+$(building) $(STAGE)
	@$(with_args); $(BUILD)/$(STAGE) "$$@"
else
# Part I is the stages that docs/lessons/README.md lists above Part II, which is compared with those of Part I that are
# there, and draws what it is about.
PART ?= 1
PARTS := 1 2
PART_1 := $(filter $(shell sed "/ Part II/q" docs/lessons/README.md | grep -oE "[0-9]{2}_[a-z]+"),$(STAGES))
PART_2 := $(filter-out $(PART_1),$(STAGES))
BESIDE = $(if $(filter 1,$(PART)),runs/00_counts,$(patsubst %/run.json,%,$(wildcard $(addsuffix /run.json,runs/00_counts $(addprefix runs/,$(filter $(PART_1),$(REPORTED)))))))
draw_2 = $(BUILD)/14_translate translate "Leo won a red hat at the cave." --svg runs/alignment.svg >/dev/null && \
         printf 'what the translator looked at: runs/alignment.svg\nloss against heads left: runs/15_prune/heads.svg\n'
run: $(SETUP)
	@$(if $(filter $(PARTS),$(PART)),,echo "there is no PART=$(PART); there are: $(PARTS)" >&2; exit 2)
	@[ -z "$$ARGS" ] || { echo "ARGS are for one stage; say which: make run STAGE=03_head ARGS=..." >&2; exit 2; }
	@+$(building) all
	@for stage in $(PART_$(PART)); do \
	    echo; echo "=== $$stage: $$(sed -nE '1s,^// Stage [0-9]+: ([^.]*).*,\1,p' stages/$$stage.cpp)"; echo; \
	    case " $(TRAINED) " in *" $$stage "*) set -- $(if $(QUICK),--steps 20 --eval-batches 4) ;; *) set -- ;; esac; \
	    $(BUILD)/$$stage "$$@" || exit; \
	done
	@$(BUILD)/report $(BESIDE) $(addprefix runs/,$(filter $(PART_$(PART)),$(REPORTED)))
	@$(draw_$(PART))
	@echo; echo "make workshop, and then http://127.0.0.1:8010/#watch?run=$(lastword $(filter $(PART_$(PART)),$(TRAINED))) shows these runs and the inside of each model"
endif

# What the page draws with comes from npm, in the versions of package-lock.json, and is served from build/.
NPM_PACKAGES := build/workshop_packages
npm = mkdir -p $(NPM_PACKAGES) && cp docs/workshop/package.json docs/workshop/package-lock.json $(NPM_PACKAGES)/ && \
      npm ci --prefix $(NPM_PACKAGES) --no-audit --no-fund --loglevel=error $1 && touch $(NPM_PACKAGES)/$2
$(NPM_PACKAGES)/.page: docs/workshop/package-lock.json
	@command -v npm >/dev/null || tests/install npm
	@$(call npm,--omit=dev,.page)
$(NPM_PACKAGES)/.test: docs/workshop/package-lock.json
	@command -v npm >/dev/null || tests/install npm
	@$(call npm,,.test) && touch $(NPM_PACKAGES)/.page

# The trap: Ctrl-C closes it, and is no error.
.PHONY: workshop
workshop: $(SETUP) $(NPM_PACKAGES)/.page ## watch runs while they train and look into them, in a browser: workshop ARGS="--port 8020"
	@+$(building) $(BUILD)/workshop
	@$(with_args); trap : INT; $(BUILD)/workshop "$$@" || [ $$? = 130 ] || exit 2

# A stage says in its first lines since which other it is new; if it does not, that is the one before it.
NUMBERS := $(sort $(foreach s,$(STAGES) $(MPI_STAGES),$(firstword $(subst _, ,$s))))
DIFFS := $(addprefix diff-,$(filter-out 00,$(NUMBERS)))
.PHONY: $(DIFFS)
$(DIFFS): diff-%:
	@old=$$(head -n 3 stages/$*_*.cpp | tr -d '/\n' | sed -nE 's/.*New since ([0-9]{2}).*/\1/p'); \
	    diff -u --color=auto stages/$${old:-$$(printf %02d $$((1$* - 101)))}_*.cpp stages/$*_*.cpp || true
diff-%:
	@echo "make diff-NN shows what stage NN adds to the one it grew from; NN is 01 to $(lastword $(NUMBERS))" >&2; exit 2

# --- testing ----------------------------------------------------------------------------------------------------------
# Beside the threaded one it changes nothing; a test shows what the programs do with it.
TEST_PACKAGES := libopenblas0-serial
TESTS := $(wildcard tests/*.cpp)
TEST_OBJECTS := $(call objects,$(TESTS))
# The library comes first and whole: what is in a header, and compiled with both, is taken as the library has it.
$(BUILD)/tests: $(LIBRARY) $(if $(findstring workshop_,$(TEST_OBJECTS)),$(call objects,$(WORKSHOP))) $(TEST_OBJECTS)
	$(CXX) $(CXXFLAGS) -Wl,--whole-archive $< -Wl,--no-whole-archive $(filter-out $<,$^) -o $@ $(LDLIBS) -lcpp-httplib -lcrypto
# Compiled for a quick build, as what takes time in them is done in common/.
$(BUILD)/obj/tests/%.o: CXXFLAGS += -Og -I$(BUILD)

# The models of all stages that train, for the tests: each stage's source in a namespace of its own, and a map of them.
$(call objects,$(TESTS) $(WORKSHOP) tests/parity/dump.cpp $(wildcard docs/lessons/programs/*.cpp)): | $(BUILD)/stages.inc
$(BUILD)/obj/docs/lessons/programs/%.o: CXXFLAGS += -I$(BUILD)
$(BUILD)/stages.inc: Makefile $(wildcard stages/*.cpp)
	@mkdir -p $(@D)
	@{ printf 'namespace stage_%s {\n#include "stages/%s.cpp"\n}\n' $(foreach s,$(LANGUAGE) $(BERTS) $(TRANSLATORS),$s $s); \
	   echo 'const std::map<std::string, babygpt::MakeModel> stages = {'; \
	   printf '    {"%s", babygpt::maker<stage_%s::Model>()},\n' $(foreach s,$(LANGUAGE),$s $s); echo '};'; \
	   echo 'const std::map<std::string, babygpt::MakeBert> bert_stages = {'; \
	   printf '    {"%s", babygpt::maker<stage_%s::Model>()},\n' $(foreach s,$(BERTS),$s $s); echo '};'; \
	   echo 'const std::map<std::string, babygpt::MakeTranslator> translator_stages = {'; \
	   printf '    {"%s", babygpt::maker<stage_%s::Model>()},\n' $(foreach s,$(TRANSLATORS),$s $s); echo '};'; } >$@

# The tests run in float, as the programs compute. Those that compare gradients with finite differences run in double too.
DOUBLE_TESTS := $(shell grep -lE 'check_gradients|sizeof\(real\)|DOCTEST_CONFIG_IMPLEMENT' tests/*.cpp) tests/fixture.cpp tests/shell.cpp
DOUBLE = BUILD=build/double EXTRA="-DBABYGPT_DOUBLE -O1" TESTS="$(filter-out tests/cli_%,$(DOUBLE_TESTS))"

.PHONY: test
test: $(SETUP) ## build and run all tests
	@tests/install $(TEST_PACKAGES)
	@+$(building) all build/tests
	@+$(building) $(DOUBLE) build/double/tests
	@tests/run "build/tests -sf=*cli_*" "build/tests -sfe=*cli_*" build/double/tests "$(LESSONS) check"

# In float, as the programs compute. The tests themselves are the usual ones, linked with the sanitized core, or driving
# the sanitized programs; long ones take fewer steps then (sanitized), and limits on the address space, of which a
# sanitizer needs terabytes, are left out.
.PHONY: sanitize
SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=all -Og
$(BUILD)/obj/rooms/tensor.o: CXXFLAGS += -O1  # vectors in registers: a step takes two thirds of the time
sanitize: $(SETUP) ## the tests and the programs under the address and undefined-behaviour sanitizers, threads under theirs
	@tests/install $(TEST_PACKAGES)
	@+$(building) build/tests
	@+$(building) BUILD=build/asan EXTRA="$(SANITIZE)" TEST_OBJECTS="$(filter-out $(BUILD)/obj/tests/cli_%,$(TEST_OBJECTS))" \
	    $(addprefix build/asan/,tests $(STAGES) corpus report draw)
	@+$(building) BUILD=build/tsan EXTRA="-fsanitize=thread -Og" \
	    TESTS="tests/main.cpp tests/threads_test.cpp" build/tsan/tests
	@SANITIZED=$(CURDIR)/build/asan ASAN_OPTIONS=detect_leaks=1 TSAN_OPTIONS=halt_on_error=1 \
	    tests/run "build/tests -sf=*cli_r*,*cli_m*" "build/tests -sf=*cli_* -sfe=*cli_r*,*cli_m*,*cli_tools*" \
	    build/asan/tests "build/tsan/tests --test-suite=threads"

.PHONY: test-mpi
test-mpi: mpi ## the stages with 2 and 3 ranks on this machine: what they learn, and what happens when one fails
	@+$(building) $(BUILD)/mpi/tests $(BUILD)/mpi/probe $(BUILD)/mpi/corpus
	@tests/run build/mpi/tests
$(BUILD)/mpi/tests: $(call objects,tests/main.cpp tests/shell.cpp tests/mpi/ranks_test.cpp) $(LIBRARY)
	$(CXX) $(CXXFLAGS) $^ -o $@ $(LDLIBS)
$(BUILD)/mpi/probe: $(BUILD)/obj/tests/mpi/probe.o $(BUILD)/mpi/ranks.o $(LIBRARY)
	$(CXX) $(CXXFLAGS) $^ -o $@ $(LDLIBS) $(MPI_LIBS)
$(BUILD)/mpi/corpus: $(BUILD)/corpus
	@ln -sf ../corpus $@

.PHONY: programs
programs: mpi ## build every program there is, those of lessons, experiments and benchmarks too
	@+$(building) all $(LESSON_PROGRAMS) $(EXPERIMENTS) $(BUILD)/bench $(BUILD)/parity_dump $(BUILD)/mpi/bench

.PHONY: test-workshop
CHROMIUM := /usr/bin/chromium
test-workshop: $(SETUP) $(NPM_PACKAGES)/.test ## the workshop as a person uses it, in a real browser
	@test -x $(CHROMIUM) || tests/install chromium; test -x $(CHROMIUM) || \
	    { echo "there is no $(CHROMIUM): Ubuntu has it as a snap only, which no test can drive; link another one there" >&2; exit 2; }
	@+$(building) all
	@node tests/workshop/browser.mjs

.PHONY: parity
parity: $(SETUP) ## the stages against PyTorch: logits, loss, gradients, 300 steps of training, checkpoints
	@tests/install python3-torch
	@+$(building) all build/parity_dump
	@+$(building) $(DOUBLE) build/double/parity_dump
	@tests/parity/parity.py && tests/parity/decoder.py && tests/parity/heads.py
$(BUILD)/parity_dump: $(BUILD)/obj/tests/parity/dump.o $(LIBRARY)
	$(CXX) $(CXXFLAGS) $^ -o $@ $(LDLIBS)

.PHONY: fuzz
FUZZ_SECONDS ?= 60
fuzz: $(SETUP) ## a minute of damaged checkpoints (libFuzzer)
	@tests/install clang && tests/install libclang-rt-$$(clang -dumpversion | cut -d. -f1)-dev
	@+$(building) all
	@+$(building) BUILD=build/fuzz CXX=clang++ EXTRA="$(FUZZ)" build/fuzz/checkpoint
	@mkdir -p build/fuzz/corpus
	@build/10_gpt --steps 0 --eval-batches 1 --batch-size 1 --block-size 4 --n-embd 4 --n-head 1 --n-layer 1 --tokens 0 \
	    --out build/fuzz/run >/dev/null && cp build/fuzz/run/model.safetensors build/fuzz/corpus/sound
	@build/fuzz/checkpoint -max_total_time=$(FUZZ_SECONDS) -max_len=65536 -rss_limit_mb=2048 -print_final_stats=1 build/fuzz/corpus
FUZZ = -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Wno-unknown-warning-option -Wno-error
$(BUILD)/checkpoint: $(BUILD)/obj/tests/fuzz/checkpoint_fuzz.o $(LIBRARY)
	$(CXX) $(CXXFLAGS) $^ -o $@ $(LDLIBS)

.PHONY: bench
bench: $(SETUP) ## speed against PyTorch and against the machine, in one run; QUICK=1 takes two minutes, ONLY="nano gpt" a line of the first table
	@tests/install python3-torch
	@+$(building) build/bench build/10_gpt build/corpus
	@tests/bench/bench.py $(if $(QUICK),--quick) $(if $(ONLY),--only "$(ONLY)")
$(BUILD)/bench: $(BUILD)/obj/tests/bench/bench.o $(LIBRARY)
	$(CXX) $(CXXFLAGS) $^ -o $@ $(LDLIBS)

.PHONY: bench-mpi
bench-mpi: mpi ## what 2 ranks cost and gain, and on paper up to 1024 machines; as root also over a link of 1 Gbit/s
	@tests/install iproute2
	@+$(building) $(BUILD)/mpi/bench
	@tests/bench/bench_mpi.py $(if $(QUICK),--quick)
$(BUILD)/mpi/bench: $(BUILD)/obj/tests/bench/bench_mpi.o $(BUILD)/mpi/ranks.o $(LIBRARY)
	$(CXX) $(CXXFLAGS) $^ -o $@ $(LDLIBS) $(MPI_LIBS)

# --- lessons ----------------------------------------------------------------------------------------------------------
LESSON_PROGRAMS := $(patsubst docs/lessons/programs/%.cpp,$(BUILD)/lessons/%,$(wildcard docs/lessons/programs/*.cpp))
EXPERIMENTS := $(patsubst docs/lessons/experiments/%.diff,$(BUILD)/experiments/%,$(wildcard docs/lessons/experiments/*.diff))
LESSONS := docs/lessons/lessons.py

$(LESSON_PROGRAMS): $(BUILD)/lessons/%: $(BUILD)/obj/docs/lessons/programs/%.o $(LIBRARY)
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) $^ -o $@ $(LDLIBS)
$(BUILD)/experiments/%: $(BUILD)/obj/experiments/%.o $(LIBRARY)
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) $(filter %.o,$^) $(LIBRARY) -o $@ $(LDLIBS)
# One that changes a file of common/ names the stage it is linked into, which then finds the changed file first.
stage_of = $(shell sed -nE '2s/^\+\+\+ ([0-9]{2}_[a-z]+)$$/\1/p' docs/lessons/experiments/$1.diff)
$(foreach e,$(EXPERIMENTS),$(foreach s,$(call stage_of,$(notdir $e)),$(eval $e: $(BUILD)/obj/stages/$s.o)))
$(BUILD)/obj/experiments/%.o: CXXFLAGS += -O1 -g0
$(BUILD)/obj/experiments/%.o: $(BUILD)/experiments/%.cpp $(BUILD)/.flags
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) -c $< -o $@
# The first line of an experiment's diff names the file it changes.
CHANGED := $(sort $(shell sed -sn '1s/^--- //p' docs/lessons/experiments/*.diff))
.PRECIOUS: $(BUILD)/experiments/%.cpp
$(BUILD)/experiments/%.cpp: docs/lessons/experiments/%.diff $(CHANGED) | $(SETUP)
	@mkdir -p $(@D)
	@patch --quiet --fuzz=0 --output=$@ "$$(sed -n '1s/^--- //p' $<)" $<

.PHONY: experiment lessons lesson-programs lessons-record lessons-repeat
experiment: $(SETUP) ## a stage with a part left out, as the lessons do it: experiment NAME=no_mask ARGS="--steps 500"
	@$(if $(filter $(BUILD)/experiments/$(NAME),$(EXPERIMENTS)),,echo "there is no experiment '$(NAME)'; make experiment NAME=..., one of: $(notdir $(EXPERIMENTS))" >&2; exit 2)
	@+$(building) $(BUILD)/experiments/$(NAME)
	@$(with_args); \
	    if [ "$$1" = train ]; then shift; fi; \
	    case "$$1" in \
	    sample | fill | follows | translate)  # the experiment's own run, if there is one \
	        case " $$* " in *" --model"[\ =]*) ;; *) [ ! -e runs/$(NAME) ] || set -- "$$@" --model runs/$(NAME) ;; esac ;; \
	    measure | prune) ;; \
	    *) grep -q run_writers $(BUILD)/experiments/$(NAME).cpp || set -- train --out runs/$(NAME) "$$@" ;; \
	    esac; \
	    $(BUILD)/experiments/$(NAME) "$$@"
lesson-programs: $(SETUP) ## the small programs of the lessons, into build/lessons/
	@+$(building) all $(LESSON_PROGRAMS)
lessons: $(SETUP) ## fill the lessons' quotes, numbers and pictures anew from code and recorded runs
	@+$(building) all
	@$(LESSONS) update && $(LESSONS) check
lessons-record lessons-repeat: $(SETUP)
	@+$(building) all $(LESSON_PROGRAMS) $(EXPERIMENTS)
	@if command -v mpicc >/dev/null; then $(building) $(MPI_PROGRAMS) $(BUILD)/mpi/bench; fi
	@$(LESSONS) $(@:lessons-%=%) $(RUNS)
lessons-repeat: ## do every run of the lessons again and compare with what is recorded: an hour or more

# --- exercises --------------------------------------------------------------------------------------------------------
# A check includes the learner's file. What all of them include is compiled ahead, so that a try takes a second or two.
EXERCISE_HEADER := $(BUILD)/obj/docs/exercises/check.h
EXERCISE_CXX := $(CXX) -std=c++20 -O1 -D_GLIBCXX_ASSERTIONS -Wall -Wextra -Wshadow -Wno-unused-parameter \
                -Wno-unused-variable -Wno-sign-compare -fmax-errors=3 -I. -pthread
EXERCISE_LIBS := $(BUILD)/obj/docs/exercises/check.o $(LIBRARY)
EXERCISE_RUN = BUILD="$(BUILD)" EXERCISE_CXX="$(EXERCISE_CXX) -include $(EXERCISE_HEADER)" \
               EXERCISE_LIBS="$(EXERCISE_LIBS) $(LDLIBS)" docs/exercises/run
$(EXERCISE_HEADER).gch: docs/exercises/check.h $(BUILD)/.flags | $(SETUP)
	@mkdir -p $(@D)
	@echo '#include "$<"' >$(EXERCISE_HEADER)
	$(EXERCISE_CXX) -MMD -MP -MF $@.d -MT $@ -x c++-header $(EXERCISE_HEADER) -o $@

.PHONY: exercise watch hint exercises exercises-proof
exercise: $(SETUP) ## check what you wrote in docs/exercises: make exercise N=03a
watch: $(SETUP) ## the same at each save, until Ctrl-C: make watch N=03a
exercise watch:  # the trap: Ctrl-C ends a watch, and is no error
	@docs/exercises/run known "$(N)"
	@+$(building) $(EXERCISE_LIBS) $(EXERCISE_HEADER).gch
	@trap : INT; $(EXERCISE_RUN) $(@:exercise=one) "$(N)"
hint: ## a hint, and one more each time: make hint N=03a
	@docs/exercises/run known "$(N)"
	@BUILD="$(BUILD)" docs/exercises/run hint "$(N)"
exercises: $(SETUP) ## the exercises, and which of them are right
	@+$(building) $(EXERCISE_LIBS) $(EXERCISE_HEADER).gch
	@$(EXERCISE_RUN) all
exercises-proof: $(SETUP) ## every exercise fails as shipped, for its reason, and every answer is right
	@+$(building) $(EXERCISE_LIBS) $(EXERCISE_HEADER).gch
	@$(EXERCISE_RUN) proof

# --- keeping tidy -----------------------------------------------------------------------------------------------------
SOURCES = $(shell git ls-files '*.cpp' '*.h')
.PHONY: format check-format clean
format: $(SETUP) ## format all sources
	@clang-format -i $(SOURCES)
check-format: $(SETUP) ## fail if a source is not formatted
	@clang-format --dry-run --Werror $(SOURCES)
clean: ## remove build/ (runs/ stays)
	rm -rf build

-include $(shell find $(BUILD)/obj $(BUILD)/mpi -name '*.d' 2>/dev/null)
