# Every target sets up what it needs: python3 >= 3.11, git and make are enough to begin with.

PYTHON ?=
ARGS ?=
BUDGET ?= 30m
SECONDS ?=
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
PYTEST := $(BIN)/pytest -q --timeout=300 --numprocesses auto --dist loadgroup
PEERS := .venv-peers
PEERS_INSTALLED := $(PEERS)/.installed
FINDERS := .venv-otava .venv-energy
SUITES := .venv-suites
SUITES_INSTALLED := $(SUITES)/.installed
DOCS := .venv-docs
DOCS_INSTALLED := $(DOCS)/.installed
SITE := build/docs
PICTURES_INSTALLED := requirements/pictures/node_modules/.package-lock.json
AXE_INSTALLED := requirements/browser/node_modules/.package-lock.json
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--custom-compile-command "make lock"

# Compiled once, not at every start of the many programs that tests start.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow test-nightly tools lint docs bench fuzz bench-gate bench-peers bench-changes pictures
.PHONY: lock dist clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

demo: $(INSTALLED) ## judge a change to the example project, then the same project without it
	@PATH="$(CURDIR)/$(BIN):$$PATH" scripts/demo.sh

test: $(INSTALLED) ## run the tests, except slow ones; ARGS are pytest's
	@$(PYTEST) -m "not slow" $(ARGS)

test-slow: $(INSTALLED) ## run the slow tests: whole programs, GitHub's runner
	@$(PYTEST) -m "slow and not nightly" $(ARGS)

test-nightly: $(INSTALLED) $(SUITES_INSTALLED) $(DOCS_INSTALLED) $(AXE_INSTALLED) $(PICTURES_INSTALLED) ## run what guards single packages: faults, browsers, other tools, examples, documented commands
	@$(PYTEST) -m nightly $(ARGS)

tools: ## install other tools for slow and nightly tests; Debian and Ubuntu only
	@scripts/install-tools.sh

lint: $(INSTALLED) ## check format, rules, types, layers and workflows
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-actions action.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms \
		$(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-config \
		.github/ISSUE_TEMPLATE/config.yml
	$(BIN)/zizmor --offline --no-progress --persona=pedantic .github action.yml
	scripts/actionlint.sh

docs: $(DOCS_INSTALLED) ## make the site of README and docs in build/docs; any warning is an error
	@rm -rf $(SITE) $(SITE)-cache
	@$(DOCS)/bin/sphinx-build --builder html --conf-dir docs/site --doctree-dir $(SITE)-cache \
		--quiet --fail-on-warning --keep-going --nitpicky . $(SITE)
	@echo "$(SITE)/index.html"

bench: $(INSTALLED) ## measure benchgate itself
	@for file in benchmarks/*.py; do $(BIN)/python "$$file" || exit; done

fuzz: $(INSTALLED) ## read damaged inputs with every reader; SECONDS=60 bounds the whole run
	@$(BIN)/python -m tests.fuzz $(if $(SECONDS),--seconds $(SECONDS)) $(ARGS)

bench-gate: $(INSTALLED) ## measure how often verdicts are right; BUDGET=30m limits the time, SINCE=COMMIT renews
	$(BIN)/python -m benchmarks.gate record --budget $(BUDGET) $(if $(SINCE),--since $(SINCE))
	$(BIN)/python -m benchmarks.gate count

bench-peers: $(INSTALLED) $(PEERS_INSTALLED) ## measure other tools on the same work; BUDGET=30m limits the time
	$(BIN)/python -m benchmarks.gate peers --budget $(BUDGET)
	$(BIN)/python -m benchmarks.gate count

bench-changes: $(INSTALLED) $(FINDERS:%=%/.installed) ## compare change points with those of other packages
	$(BIN)/python -m benchmarks.changepoints

pictures: $(INSTALLED) $(PICTURES_INSTALLED) ## draw comments as GitHub shows them, terminals and pages; needs npm and Chromium
	$(BIN)/python -m scripts.pictures

lock: $(INSTALLED) ## update the locks from pyproject.toml; ARGS=--upgrade takes newer versions
	$(LOCK) $(ARGS) pyproject.toml --extra sql --extra yaml --output-file requirements/action.txt
	$(LOCK) $(ARGS) pyproject.toml --group dev --constraints requirements/action.txt \
		--output-file requirements/dev.txt
	$(LOCK) $(ARGS) --group installer --constraints requirements/dev.txt \
		--output-file requirements/installer.txt
	$(LOCK) $(ARGS) --group peers --output-file requirements/peers.txt
	$(LOCK) $(ARGS) --group otava --output-file requirements/otava.txt
	$(LOCK) $(ARGS) --group energy --output-file requirements/energy.txt
	$(LOCK) $(ARGS) --group suites --output-file requirements/suites.txt
	$(LOCK) $(ARGS) --group docs --output-file requirements/docs.txt
	npm install --prefix requirements --package-lock-only --no-audit --no-fund
	npm install --prefix requirements/pictures --package-lock-only --no-audit --no-fund
	npm install --prefix requirements/browser --package-lock-only --no-audit --no-fund

dist: $(INSTALLED) ## build the packages of the tag that is checked out, in build/release, and check them
	@$(BIN)/python -m scripts.release build

clean: ## remove everything that make created
	rm -rf $(VENV) $(PEERS) $(FINDERS) $(SUITES) $(DOCS) requirements/node_modules
	rm -rf requirements/*/node_modules dist build
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache

$(INSTALLED): requirements/dev.txt pyproject.toml src/benchgate/__init__.py
	@$(BIN)/python -c '' 2>/dev/null || scripts/create-venv.sh $(VENV) $(PYTHON)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--require-hashes --requirement requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps \
		--no-build-isolation --editable .
	@touch $@

$(PEERS_INSTALLED): requirements/peers.txt
	@scripts/create-venv.sh $(PEERS) $(PYTHON)
	@$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check \
		--require-hashes --requirement requirements/peers.txt
	@touch $@

$(FINDERS:%=%/.installed): .venv-%/.installed: requirements/%.txt
	@scripts/create-venv.sh $(@D) $(PYTHON)
	@$(@D)/bin/python -m pip install --quiet --disable-pip-version-check \
		--require-hashes --requirement $<
	@touch $@

$(SUITES_INSTALLED): requirements/suites.txt
	@scripts/create-venv.sh $(SUITES) $(PYTHON)
	@$(SUITES)/bin/python -m pip install --quiet --disable-pip-version-check \
		--require-hashes --requirement requirements/suites.txt
	@touch $@

$(DOCS_INSTALLED): requirements/docs.txt
	@scripts/create-venv.sh $(DOCS) $(PYTHON)
	@$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check \
		--require-hashes --requirement requirements/docs.txt
	@touch $@

$(PICTURES_INSTALLED): requirements/pictures/package-lock.json
	npm ci --prefix requirements/pictures --no-audit --no-fund --loglevel=error
	@touch $@

# Without npm, the tests that need it say so.
$(AXE_INSTALLED): requirements/browser/package-lock.json
	@if command -v npm >/dev/null; then \
		npm ci --prefix requirements/browser --no-audit --no-fund --loglevel=error && touch $@; \
	fi
