# `make demo` and `make test` do all set-up themselves; Python 3.11 or newer is all they need.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test golden fuzz bench clean

demo: $(VENV)/.installed
	$(BIN)/mrfit demo

test: $(VENV)/.installed-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n 2

# Records what commands print over the real data sets; look at the difference before committing it.
golden: $(VENV)/.installed-test
	cd tests && $(abspath $(BIN))/python -m golden

fuzz: $(VENV)/.installed-test
	PYTHONPATH=tests $(BIN)/python -m fuzz --cases 10000

bench: $(VENV)/.installed-bench
	$(BIN)/python benchmarks/pseudo_likelihood.py
	$(BIN)/python benchmarks/whole_fits.py
	$(BIN)/python benchmarks/first_use.py
	$(BIN)/python benchmarks/transforms.py
	$(BIN)/python benchmarks/exact_likelihood.py

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.installed-test: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	touch $@ $(VENV)/.installed

$(VENV)/.installed-bench: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache
