# Every target sets up what it needs, once, by itself. Needs python3 (3.11 or newer) and make.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := bash

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv
export UV_NO_PROGRESS := 1
# the machine's certificates, as pip uses them: behind a company's proxy uv's own are not enough
export UV_SYSTEM_CERTS := 1
export PULUMI_ERROR_OUTPUT_STRING := true

# An import of the SDKs is three times slower without bytecode, which whatever imports them first writes: all of
# it at install time took 46 s on 2 cores, and most of the SDKs is never imported.
unexport PYTHONDONTWRITEBYTECODE
INSTALL := $(UV) pip install --quiet --python $(BIN)/python
COMPILE_LOCK := $(UV) pip compile --quiet --universal --python-version 3.11 --upgrade \
	--generate-hashes --no-emit-index-url --no-header -c requirements/limits.in

STACKS ?= --all
RUNS ?= 10
KILLS ?= 5
EXAMPLES ?=
EXTRAS := --extra aws --extra gcp --extra azure --extra plan --extra rehearse --extra controller

# Pulumi's real engine and a real control plane, built from pinned Go modules; SPOTPROOF_TOOLS names another folder.
TOOLS := tools/go/build

.PHONY: help preview check test test-resume tools test-engine e2e soak reliability bench bench-economics docs golden wheel controller lock clean

help: ## this list
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

preview: $(VENV)/.run ## every resource of every stack, judged and priced (STACKS=aws-dev for one)
	@$(BIN)/spotproof preview $(STACKS)

# Types by two processes: 2 min on 2 cores, where one takes over 3.
check: $(VENV)/.dev ## format, lint, types, import order, generated files
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/lint-imports
	@$(BIN)/basedpyright --threads 2
	@$(BIN)/python -m tests.generated --check

test: $(VENV)/.dev ## the whole default suite, no network
	@$(BIN)/pytest

test-resume: $(VENV)/.dev ## every training example killed and resumed on CPU (LARGE=1 for what brings CUDA; KILLS=5, EXAMPLES=, UNLESS_PROVEN=1)
	@nice -n 10 $(BIN)/python -m tests.resume $(EXAMPLES) --kills $(KILLS) $(if $(LARGE),--large) $(if $(UNLESS_PROVEN),--unless-proven)

tools: ## build the real Pulumi engine and the local control plane, once (needs Go 1.26.6 or newer; 10 min on 2 cores)
	@$(TOOLS)

test-engine: $(VENV)/.dev ## every stack through the real Pulumi engine, with stand-ins for the clouds (builds it)
	@$(call with_tools,engine,$(BIN)/pytest tests/engine)

# Five workers on two cores: each waits for controllers part of its time, and the cores are 90 to 100 % busy with five.
e2e: $(VENV)/.dev ## jobs, pools and reclaims on a real local control plane (builds it; KUBERNETES=1.35 for the release before)
	@$(call with_tools,engine controlplane $(KUBERNETES:%=kubernetes-%),$(KUBERNETES:%=SPOTPROOF_TOOLS=$${SPOTPROOF_TOOLS:-$(CURDIR)/.tools}/%) $(BIN)/pytest tests/e2e -n 5 --dist loadscope --no-loadscope-reorder)

# Where the tools cannot be had (status 3: no Go, no modules) the line that said so is the result; a failed build is a failure.
define with_tools
$(TOOLS) $(1) || { status=$$?; [ $$status -eq 3 ] && { echo "NOT RUN: $(@)"; exit 0; }; exit $$status; }; $(2)
endef

soak: $(VENV)/.dev ## the controller spoilt at every call of every move (goes on where it was stopped; SOAK=--again), trainers killed 50 times
	@$(TOOLS) controlplane
	@$(BIN)/python -m tests.soak $(SOAK)
	@nice -n 10 $(BIN)/python -m tests.resume --kills 50 --all --no-faults --write $(if $(LARGE),--large)

reliability: $(VENV)/.dev ## both suites RUNS times in a row (10), counted in docs/reliability.md
	@$(TOOLS) engine controlplane
	@$(BIN)/python -m benchmarks.reliability $(RUNS)

bench: $(VENV)/.dev bench-economics ## measure everything: README.md, docs/performance.md and docs/economics.md
	@$(BIN)/python -m benchmarks
	@$(BIN)/python -m benchmarks.engine
	@$(BIN)/python -m benchmarks.controller --write
	@$(TOOLS) controlplane
	@$(BIN)/python -m benchmarks.cluster --write

bench-economics: $(VENV)/.dev ## the rule on the recorded markets of ../shared: every figure of docs/economics.md
	@$(BIN)/python -m benchmarks.economics

docs: $(VENV)/.dev ## write again what is generated: settings, schema, policies, what is checked
	@$(BIN)/python -m tests.generated --write

golden: $(VENV)/.dev ## write the golden files again, to be read in review
	@$(BIN)/pytest -q --golden

wheel: $(VENV)/.run ## build the wheel and prove it in an empty environment
	@bash .ci/wheel

controller: $(VENV)/.run ## prove the controller's environment: the wheel on controller.lock alone, without Pulumi
	@bash .ci/controller

lock: $(VENV)/.uv ## newest releases that work together, with hashes and without an index address
	@$(COMPILE_LOCK) requirements/bootstrap.in -o requirements/bootstrap.lock
	@$(COMPILE_LOCK) pyproject.toml $(EXTRAS) -o requirements/run.lock
	@$(COMPILE_LOCK) requirements/controller.in -c requirements/run.lock -o requirements/controller.lock
	@$(COMPILE_LOCK) pyproject.toml $(EXTRAS) requirements/dev.in -c requirements/run.lock -o requirements/dev.lock

clean: ## remove what the other targets made
	@rm -rf $(VENV) dist .pytest_cache .ruff_cache .import_linter_cache .hypothesis .tools .resume

$(VENV)/.uv: requirements/bootstrap.lock
	@echo "setting up $(VENV) (once)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "spotproof needs Python 3.11 or newer: make PYTHON=/path/to/python3.11")'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/bootstrap.lock
	@touch $@

$(VENV)/.run: $(VENV)/.uv requirements/run.lock pyproject.toml
	@$(INSTALL) --require-hashes -r requirements/run.lock
	@$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.run requirements/dev.lock
	@$(INSTALL) --require-hashes -r requirements/dev.lock
	@touch $@
