# `make demo` and `make test` do all set-up themselves; Python 3.11 or newer is all they need.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Python compiles a module to bytecode when it is first imported; most of what is installed never is. uv, where there is
# one, does the same in a tenth of the time.
INSTALL := $(if $(shell command -v uv),uv pip install --quiet --python $(BIN)/python,$(BIN)/python -m pip install --quiet \
  --disable-pip-version-check --no-compile)
# What tests need; with page and docs they open the explorer's page in a browser and build the site.
EXTRAS ?= test
# Some tests wait for processes and browsers: one more than there are processors keeps those busy.
WORKERS := $(shell expr $$(nproc 2> /dev/null || echo 2) + 1)
# So it has to be kept, whatever the shell says: each of some hundred processes would otherwise compile for eight seconds.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test tests lint golden fuzz bench bench-quick docs site wheel page page-check clean

# The picture first; what all other commands need is compiled while it is looked at.
demo: $(VENV)/.installed
	$(BIN)/mrfit demo
	@$(MAKE) --no-print-directory $(VENV)/.compiled

test:
	@$(MAKE) --no-print-directory --jobs 2 lint $(VENV)/.compiled $(VENV)/.imported
	@$(MAKE) --no-print-directory tests

tests: $(VENV)/.installed-test $(VENV)/.compiled $(VENV)/.imported
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

lint: $(VENV)/.installed-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Records what commands print over the real data sets; look at the difference before committing it.
golden: $(VENV)/.installed-test
	cd tests && $(abspath $(BIN))/python -m golden

fuzz: $(VENV)/.installed-test
	PYTHONPATH=tests $(BIN)/python -m fuzz --cases 10000

# With machine code in it, for the versions of Python and numba in .venv: those who install it wait for no compiler.
wheel: $(VENV)/.installed-test
	HATCH_BUILD_HOOK_ENABLE_CUSTOM=true $(BIN)/python -m pip wheel --quiet --disable-pip-version-check \
	  --no-deps --no-build-isolation --wheel-dir dist .

# The explorer's page, from web/ into the package. Node is needed for this alone.
page: web/node_modules/.package-lock.json
	cd web && npm run --silent check && npm run --silent build

# Whether what is committed is what the sources give.
page-check: web/node_modules/.package-lock.json
	cd web && npm run --silent check && npm run --silent build -- ../build/page
	cmp build/page/explorer.js src/mrfit/explorer/assets/explorer.js
	cmp build/page/explorer.css src/mrfit/explorer/assets/explorer.css

web/node_modules/.package-lock.json: web/package-lock.json
	cd web && npm ci --silent --no-audit --no-fund
	touch $@

# Every table in the docs, measured anew: hours. `make docs` makes them from the stored results.
bench: $(VENV)/.installed-bench wheel
	$(BIN)/python -m benchmarks all --write-docs

# Every benchmark on small cases: they still run, and agree with their rivals.
bench-quick: $(VENV)/.installed-test $(VENV)/.compiled
	$(BIN)/python -m benchmarks --quick

docs: $(VENV)/.installed
	$(BIN)/python -m benchmarks docs

# The pages of docs/ with a reference of all public names, to be read in a browser: build/site/index.html.
site: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/site

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(INSTALL) -e .
	touch $@

# Commands compile when they are first used; this does it for all of them, so that none keeps its user waiting. It is the
# code that a wheel would bring: what tests run is what is shipped. Kernels that another checkout has compiled are taken
# from a store among the user's caches.
$(VENV)/.compiled: $(shell find src/mrfit/_kernels -name "*.py") | $(VENV)/.installed
	@echo 'Compiling for this machine, once: 1 to 2 minutes. If you interrupt this, commands compile on first use instead.'
	@PYTHONPATH=src $(BIN)/python -m mrfit._kernels.machine_code.build  # not as installed: pip may be at that just now
	@touch $@

# After what all commands need, so that kernels are compiled while the rest is installed.
$(VENV)/.installed-test: pyproject.toml | $(VENV)/.installed
	$(INSTALL) -e '.[$(EXTRAS)]'
	touch $@

# All modules that tests import become bytecode here: workers that begin together would each compile all of them.
$(VENV)/.imported: | $(VENV)/.installed-test
	@$(BIN)/python -m pytest --collect-only --quiet > /dev/null
	@touch $@

$(VENV)/.installed-bench: pyproject.toml | $(VENV)/.installed
	$(INSTALL) -e '.[bench]'
	touch $@

$(VENV)/.installed-docs: pyproject.toml | $(VENV)/.installed
	$(INSTALL) -e '.[docs]'
	touch $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache
