# Two commands do everything, each with its own set-up: `make demo` and `make test`.
# Needs only python3 (3.11 or newer) with pip; python3-venv helps, and is installed on Debian and Ubuntu where nothing else works.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CASES ?=
COUNT ?= 1000
REFERENCE ?= /
BENCH ?=
PJDFSTEST ?=
DURATION ?= 60

.PHONY: demo test judge lint check conformance differential hostile bench counts clean pjdfstest random-io crash four-processes

demo: $(VENV)/.demo
	@$(BIN)/mirage demo

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2

judge: $(VENV)/.dev
	$(BIN)/python -m pytest -m judge

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/mypy

check: test lint

conformance: $(VENV)/.dev
	@$(BIN)/python -m tests.conformance.report $(CASES)

differential: $(VENV)/.dev
	$(BIN)/python -m tests.differential --count $(COUNT) --rootfs $(REFERENCE)

hostile: $(VENV)/.dev
	$(BIN)/python -m tests.hostile.run

counts: $(VENV)/.dev
	$(BIN)/python -m mirage.bench.counts --peer --markdown docs/counts.md

bench: $(VENV)/.dev
	$(BIN)/python -m mirage.bench.speed $(BENCH)

# What follows mounts databases and needs root. Long runs; the test-suite has short ones of each.
# PJDFSTEST is a checkout of github.com/pjd/pjdfstest in which `autoreconf -ifs && ./configure && make pjdfstest` was done.
pjdfstest: $(VENV)/.dev
	@$(BIN)/python -m tests.serve.pjdfstest $(PJDFSTEST)

random-io: $(VENV)/.dev
	@$(BIN)/python -m tests.serve.on_mount

crash: $(VENV)/.dev
	@$(BIN)/python -m tests.serve.crash

four-processes: $(VENV)/.dev
	@$(BIN)/python -m tests.serve.four_processes $(DURATION)

$(VENV)/.demo: pyproject.toml tools/make-venv.sh
	@PYTHON=$(PYTHON) sh tools/make-venv.sh $(VENV) demo
	@touch $@

$(VENV)/.dev: pyproject.toml tools/make-venv.sh
	@PYTHON=$(PYTHON) sh tools/make-venv.sh $(VENV) dev
	@touch $@ $(VENV)/.demo

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache
