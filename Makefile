# One command per task. The first command creates the virtual environment in .venv. `make demo` installs calque alone;
# commands for development add the development tools to the same environment.
PYTHON ?= python3
JOBS ?= 2
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.calque-installed
TOOLS := $(VENV)/.tools-installed
BASE := build/base
PIP := -m pip install --quiet --disable-pip-version-check
# CMake without Ninja compiles one file at a time unless this is set.
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
# Tests start hundreds of commands. Compile the modules that they import once, whatever the shell has set.
export PYTHONDONTWRITEBYTECODE =

.DEFAULT_GOAL := help
.PHONY: help setup report-app demo base test coverage test-long check format bench bench-all docs transcripts clean fuzz sanitize soak cross dist reproduce

help: ## show this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(TOOLS) ## create .venv and install calque and all tools for its development

$(INSTALLED): pyproject.toml CMakeLists.txt $(wildcard native/*)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "make: calque needs Python 3.11 or newer, got $$($(PYTHON) --version 2>&1). Name another one: make PYTHON=python3.12" >&2; exit 1; }
	@echo "Creating the virtual environment $(VENV) (usually 5 seconds)"
	@$(PYTHON) -m venv $(VENV)
	@if command -v c++ >/dev/null 2>&1; then \
	  echo "Installing calque and compiling its C++ kernels on $(CMAKE_BUILD_PARALLEL_LEVEL) cores (usually 1 to 2 minutes on 2 cores)"; \
	else \
	  echo "Installing calque with NumPy kernels, because there is no C++ compiler (usually 20 seconds)"; \
	fi
	@$(BIN)/python $(PIP) --no-compile --editable .
	@$(BIN)/calque --version
	@touch $@

# calque is installed already, so pip adds only what the extra `dev` asks for.
$(TOOLS): $(INSTALLED)
	@echo "Installing the development tools and all extras (about 1 GB, usually 2 minutes)"
	@$(BIN)/python $(PIP) "calque-eval[dev]"
	@touch $@

demo: $(INSTALLED) ## evaluate two sample models on built-in data and write an HTML report
	@mkdir -p build
	@$(BIN)/calque demo --report build/demo.html

base: $(INSTALLED) ## run the examples of all pages with calque and its required dependencies only
	@echo "Installing calque without extras into $(BASE) (usually 20 seconds)"
	@$(PYTHON) -m venv --clear $(BASE)
	@$(BASE)/bin/python $(PIP) --config-settings wheel.cmake=false --config-settings wheel.py-api=py3 .
	@$(BIN)/python tests/docs/copy_kernels.py $(BASE)/bin/python
	@$(BASE)/bin/calque --version
	@$(BASE)/bin/python tests/docs/base_install.py

test: $(TOOLS) ## run the tests in two processes (JOBS); `make check` runs the examples in the docs
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not long" tests src --ignore=tests/docs

coverage: $(TOOLS) ## run the tests with branch coverage (at least 95 %); takes nearly twice as long
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not long" --cov --cov-report=term:skip-covered --cov-fail-under=95 tests src --ignore=tests/docs

test-long: $(TOOLS) ## run the long tests, and every property test on more examples
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "long or hypothesis" --hypothesis-profile=long tests

check: $(TOOLS) ## check format, lint, types, layers, budgets, workflows and the examples in the docs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest --no-header -p no:cacheprovider README.md CONTRIBUTING.md docs tests/docs tests/build/test_budgets.py tests/build/test_workflows.py

format: $(TOOLS) ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(TOOLS) ## measure calque and its peers on the rows of the README; write its table and chart (about 20 minutes)
	$(BIN)/python benchmarks/run.py --readme

bench-all: $(TOOLS) ## measure calque and its peers on all data sets (hours)
	$(BIN)/python benchmarks/run.py

fuzz: $(TOOLS) ## fuzz every reader and loader, then the compiled scanner with sanitizers (FUZZ_SECONDS each, default 60)
	$(BIN)/python -m tests.fuzz --seconds $(or $(FUZZ_SECONDS),60)
	tests/fuzz/native/run $(BIN)/python $(or $(FUZZ_SECONDS),60)

sanitize: $(TOOLS) ## call every kernel with random input, built with sanitizers (SANITIZE_SECONDS, default 60)
	tests/kernels/sanitize $(BIN)/python $(or $(SANITIZE_SECONDS),60)

soak: $(TOOLS) ## evaluate random input in one process and check for leaks (SOAK_SECONDS, default 60)
	$(BIN)/python -m tests.soak --seconds $(or $(SOAK_SECONDS),60)

cross: $(TOOLS) ## compile the kernels for other systems, run them if possible, and check types for each system (ZIG)
	ZIG="$(ZIG)" tests/build/cross
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32
	$(BIN)/mypy --platform darwin --cache-dir .mypy_cache/darwin

dist: $(TOOLS) ## build the sdist and a wheel into dist/ from the files that git tracks (TAG must match the version)
	$(BIN)/python -m tests.build.distributions dist $(if $(TAG),--tag "$(TAG)")

reproduce: $(TOOLS) ## build the sdist and a wheel twice in different environments and compare every byte
	$(BIN)/python -m tests.build.distributions dist --twice

report-app: ## build the report page from its sources (needs Node and npm)
	cd src/calque/report/app && npm ci --silent && npm run --silent check && npm run --silent build

docs: $(TOOLS) ## build the documentation site
	$(BIN)/mkdocs build --strict --quiet

transcripts: $(TOOLS) ## update the output of every terminal session in the docs
	$(BIN)/python tests/docs/pages.py

clean: ## remove everything that make can create again
	rm -rf $(VENV) build dist site .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
