# One command each; the first use of any sets up the virtual environment.
PYTHON ?= python3
JOBS ?= 2
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Tests start hundreds of commands: what they import is compiled once, whatever the shell says.
export PYTHONDONTWRITEBYTECODE =

.DEFAULT_GOAL := help
.PHONY: help setup report-app demo test coverage test-long check format bench docs transcripts clean fuzz sanitize soak mutants cross dist reproduce

help: ## show this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) ## make the virtual environment and install calque with everything for its development

$(STAMP): pyproject.toml CMakeLists.txt $(wildcard native/*)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@

demo: $(STAMP) ## evaluate two imaginary models on built-in sample data, and write a report of both
	@mkdir -p build
	@$(BIN)/calque demo --report build/demo.html

test: $(STAMP) ## run the tests, in two processes (JOBS); the pages are tried by check
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not long" tests src --ignore=tests/docs

coverage: $(STAMP) ## run the tests, and see which branches they take (95 % or more); takes nearly twice as long
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not long" --cov --cov-report=term:skip-covered --cov-fail-under=95 tests src --ignore=tests/docs

test-long: $(STAMP) ## run long tests, and every property on all its examples
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "long or hypothesis" --hypothesis-profile=long tests

check: $(STAMP) ## format, lint, types, layers, budgets, workflows, examples in the docs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest --no-header -p no:cacheprovider README.md CONTRIBUTING.md docs tests/docs tests/build/test_budgets.py tests/build/test_workflows.py

format: $(STAMP) ## put the code into shape
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(STAMP) ## run calque and its peers on the same data and print ratios
	$(BIN)/python benchmarks/run.py

fuzz: $(STAMP) ## attack every reader and loader, then the compiled scanner under sanitizers (FUZZ_SECONDS each, default 60)
	$(BIN)/python -m tests.fuzz --seconds $(or $(FUZZ_SECONDS),60)
	tests/fuzz/native/run $(BIN)/python $(or $(FUZZ_SECONDS),60)

sanitize: $(STAMP) ## call every kernel at random, built with sanitizers (SANITIZE_SECONDS, default 60)
	tests/kernels/sanitize $(BIN)/python $(or $(SANITIZE_SECONDS),60)

soak: $(STAMP) ## evaluate at random in one process, and see whether memory or handles grow (SOAK_SECONDS, default 60)
	$(BIN)/python -m tests.soak --seconds $(or $(SOAK_SECONDS),60)

mutants: $(STAMP) ## put faults into a copy of the code and see whether the tests notice (MUTANTS, PACKAGE, SEED, JOBS, TESTS)
	$(BIN)/python -m tests.mutants --mutants $(or $(MUTANTS),12) --package "$(PACKAGE)" --seed $(or $(SEED),0) --jobs $(or $(JOBS),2) $(TESTS)

cross: $(STAMP) ## compile the kernels for other systems, run them where that is possible, and check types as there (ZIG)
	ZIG="$(ZIG)" tests/build/cross
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32
	$(BIN)/mypy --platform darwin --cache-dir .mypy_cache/darwin

dist: $(STAMP) ## build the sdist and a wheel into dist/, from the files that git knows (TAG must be the version, if it is given)
	$(BIN)/python -m tests.build.distributions dist $(if $(TAG),--tag "$(TAG)")

reproduce: $(STAMP) ## build the sdist and a wheel twice, in different surroundings, and compare every byte
	$(BIN)/python -m tests.build.distributions dist --twice

report-app: ## build the report's page from its sources (needs Node and npm)
	cd src/calque/report/app && npm ci --silent && npm run --silent check && npm run --silent build

docs: $(STAMP) ## build the documentation as a site
	$(BIN)/mkdocs build --strict --quiet

transcripts: $(STAMP) ## write the output of every terminal session in the docs anew
	$(BIN)/python tests/docs/pages.py

clean: ## remove everything that can be made again
	rm -rf $(VENV) build dist site .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
