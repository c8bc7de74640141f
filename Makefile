# The short commands. Each brings what is missing first (deps/install), so that a fresh Debian machine
# needs nothing but bash, make and apt. CMake does the building; see CMakePresets.json.
.DEFAULT_GOAL := help
SHELL := bash
JOBS ?= $(shell nproc)
FLATOUT := build/release/bin/flatout
# deps/install and CMake agree on where the wheels are unpacked.
CMAKE := cmake $(if $(FLATOUT_DEPS),-DFLATOUT_DEPS=$(FLATOUT_DEPS)) --log-level=WARNING

.PHONY: help deps deps-dev deps-test build demo test check-page bench bench-start bench-fit bench-data fuzz crashtest check-gpu-compile check-asan check-tsan format format-check tidy clean

help:  ## list these commands
	@echo "Flatout: make COMMAND"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | \
	  while IFS='|' read -r name what; do printf '  %-14s %s\n' "$$name" "$$what"; done

deps:  ## install what is missing (Debian packages, XLA plugins); nothing else is downloaded
	@deps/install

deps-dev:
	@deps/install --dev

# The tests compile for GPUs that are not here, which takes XLA's CUDA plugin.
deps-test:
	@deps/install --cuda13 --tensorboard --tools

build: deps  ## build everything; leaves the command at build/release/bin/flatout
	@$(CMAKE) --preset release >/dev/null
	@cmake --build --preset release -j $(JOBS)

# Only the command is built, so that a first look does not wait for the tests. The run folder starts
# empty each time, so that the demo always trains.
demo: deps  ## train a small CNN on Fashion-MNIST and print the verdict
	@$(CMAKE) --preset release >/dev/null
	@cmake --build --preset release -j $(JOBS) --target flatout
	@rm -rf runs/demo
	$(FLATOUT) train examples/fashion_mnist/cnn.toml --run-dir runs/demo

test: deps-test build  ## build and run all tests
	@ctest --preset release -j 2 --no-tests=error

# tests/crash_test.cc; with KILLS=n so many.
KILLS ?= 3000
crashtest: deps  ## kill training at random (3,000 times) and at each write, and compare with runs that were not
	@$(CMAKE) --preset release >/dev/null
	@cmake --build --preset release -j $(JOBS) --target crash_test
	@FLATOUT_CRASH_KILLS=$(KILLS) FLATOUT_CRASH_STRIDE=1 build/release/tests/crash_test --gtest_filter=*Killed*

check-gpu-compile: deps-test  ## compile every model's step for H100 and A100, under every policy
	@$(CMAKE) --preset release >/dev/null
	@cmake --build --preset release -j $(JOBS) --target gpu_compile_test
	@FLATOUT_GPU_COMPILE=all ctest --preset release --parallel 2 --tests-regex gpu_compile_test --no-tests=error

# Needs Debian's chromium-headless-shell (or chromium); tests/page_screenshots.sh says more.
check-page: build  ## take pictures of the live page and of a report: wide, on a phone, in the dark
	tests/page_screenshots.sh $(FLATOUT)

bench: build  ## time our workloads, beside the rivals where their environments are present
	bench/run

bench-start: build  ## time from the start of the process to the first step, beside the rivals
	bench/job --start

bench-fit: build  ## time whole training jobs on Fashion-MNIST, beside the rivals
	bench/job
	bench/fit --model mlp

bench-data: build  ## time the input pipeline beside tf.data and DataLoader, where those are present
	bench/data/run

# make fuzz TARGETS="csv jpeg" SECONDS=60; tests/fuzz/run says where things are kept.
SECONDS ?= 600
fuzz: deps-dev  ## fuzz every parser of training data for SECONDS (600) each, two at a time
	@$(CMAKE) --preset fuzz >/dev/null
	@cmake --build --preset fuzz -j $(JOBS)
	tests/fuzz/run $(SECONDS) $(TARGETS)

# Libraries that were not built with the sanitizer (the XLA plugins) are left out of its reports.
check-asan: deps-test  ## all tests under the address and undefined-behaviour sanitizers
	@$(CMAKE) --preset asan >/dev/null
	@cmake --build --preset asan -j $(JOBS)
	@ASAN_OPTIONS=strict_string_checks=1:detect_stack_use_after_return=1 \
	  LSAN_OPTIONS=suppressions=$(CURDIR)/tests/sanitizers/lsan.supp:print_suppressions=0 \
	  UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	  ctest --preset asan -j 2 --no-tests=error

check-tsan: deps-test  ## all tests under the thread sanitizer
	@$(CMAKE) --preset tsan >/dev/null
	@cmake --build --preset tsan -j $(JOBS)
	@TSAN_OPTIONS=suppressions=$(CURDIR)/tests/sanitizers/tsan.supp:halt_on_error=1:report_mutex_bugs=0:ignore_interceptors_accesses=1 \
	  ctest --preset tsan -j 2 --no-tests=error

SOURCES = $(shell git ls-files -co --exclude-standard '*.cc' '*.h')

format: deps-dev  ## put all sources into the house's format
	@clang-format -i $(SOURCES)

format-check: deps-dev  ## say which sources are not in the house's format
	@clang-format --dry-run --Werror $(SOURCES)

tidy: deps-dev  ## clang-tidy over all sources
	@$(CMAKE) --preset release >/dev/null
	@printf '%s\n' $(filter %.cc,$(SOURCES)) | xargs -P $(JOBS) -n 4 clang-tidy-19 --quiet -p build/release

clean:  ## remove what was built; .deps/ and runs/ stay
	@rm -rf build
