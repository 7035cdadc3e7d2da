# Pegas Memory. `make` alone lists what there is.

PYTHON ?= python3
UV ?= uv

# PostgreSQL that root starts runs as another user, who must be able to pass every folder above its programs. In a
# private checkout of root the environment therefore goes elsewhere, and .venv points there.
ifeq ($(shell id -u),0)
CLOSED := $(shell d='$(CURDIR)'; while [ "$$d" != / ]; do find "$$d" -maxdepth 0 ! -perm -001; d=$$(dirname "$$d"); done)
endif
ifeq ($(origin VENV),undefined)
VENV := $(if $(strip $(CLOSED)),/var/lib/pegas-venv/$(shell printf %s '$(CURDIR)' | sha256sum | cut -c1-12),.venv)
endif
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help install demo up down test test-faults test-fuzz lint bench lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(STAMP) ## make the virtual environment from the locked versions, once

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || { \
	  echo "Pegas Memory needs Python 3.11, 3.12 or 3.13, and $(PYTHON) is $$($(PYTHON) --version 2>&1 || true)." >&2; \
	  echo "Name another one: make install PYTHON=python3.12" >&2; exit 1; }
	@mkdir -p $(dir $(VENV))
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check --no-input -r requirements.lock
	$(BIN)/python -m pip install --disable-pip-version-check --no-input --no-deps -e .
	@[ "$(VENV)" = .venv ] || [ -d .venv ] || ln -sfn "$(VENV)" .venv
	@touch $@

demo: $(STAMP) ## take in examples/ through Dagster, ask five questions, check both projections
	@$(BIN)/pegas demo

up: $(STAMP) ## start the engines and Dagster (UI, daemon), and leave them running
	@$(BIN)/pegas up

down: $(STAMP) ## stop all that `make up` started
	@$(BIN)/pegas down

test: $(STAMP) ## the whole suite on the embedded engines
	$(BIN)/python -m pytest -m "not faults and not fuzz"

test-faults: $(STAMP) ## the tests that kill real processes
	@$(BIN)/python -m pytest -m faults || { code=$$?; [ $$code -eq 5 ] && echo "There are no such tests." || exit $$code; }

test-fuzz: $(STAMP) ## thousands of damaged copies of each file of examples/, through the readers
	$(BIN)/python -m pytest -m fuzz

lint: $(STAMP) ## ruff, mypy and the import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --extend-exclude '*.md' .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP) ## run every bench; each prints its figures, its floor and the ratio
	@for bench in $$(grep -l __main__ bench/*.py | grep -v soak); do \
	  name=$$(basename "$$bench" .py); echo "== $$name"; $(BIN)/python -m "bench.$$name" || exit 1; done

lock: ## resolve the versions again into requirements.lock (needs uv)
	$(UV) pip compile pyproject.toml --extra dev --universal --python-version 3.11 --no-emit-index-url --no-header \
	  --no-annotate --prerelease=if-necessary-or-explicit -o requirements.lock

clean: ## remove caches and build output; the environment and all data stay
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache bench/results
	find pegas_assets pegas_mcp tests bench -name __pycache__ -type d -prune -exec rm -rf {} +
