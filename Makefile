# make demo   the quickstart notebook, executed for real: sandbox, embedded model, no server, no key
# make lab    JupyterLab on the example notebooks
# make test   everything the tests need, then the tests for every change, and beside them lint, types and import contract
# make test-ci      what CI runs in 40 minutes: with every sandbox level, database servers and some answers of our own evaluation
# make test-all     all tests: with further browser situations, too, and what a test of CI holds more cheaply
# make check  lint, types and import contract, and the panel's lint and tests, alone
# make bench  the benchmarks: JSON and a table
# make endurance    kill -9 a hundred times each, 500 runs in one session (an hour); `make test-ci` has one round of it
# make docs         the documentation as a site in build/docs; first its reference is written anew from the code
# make pictures     the pictures in docs/, taken by the tests that do what the text beside them tells
# make recording    the moving picture in the README
# make dist         wheel and sdist of the last commit, in dist/
# make release      the same with a bill of materials and checksums, checked; publishes nothing
# make install-check   both installed into empty environments beside old and new packages, used, uninstalled: a table (an hour)
# make jupyter-ai-check   the agent in a chat of Jupyter AI 3, installed into an environment of its own (two minutes)
# make mcp-check    the SDK for TypeScript as an MCP client of a kernel (a minute)
# make hub-check       a JupyterHub with two users of this machine, who attack each other (four minutes, as root)
# A second call reuses what is there. Nothing stays running; beside Debian packages (make test) nothing is left outside
# this checkout and the caches.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.PHONY: demo lab test test-ci test-all check bench endurance docs pictures recording dist release install-check jupyter-ai-check mcp-check hub-check weights system-packages clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find jupyter_codeagent labextension/src labextension/style labextension/schema -type f \
	-not -path '*/__pycache__/*' -not -path 'jupyter_codeagent/labextension/*') \
	pyproject.toml build_backend.py labextension/package.json

# Jupyter's and IPython's own files stay in the checkout; the model's weights go to the user's cache directory.
HOME_DIR := $(CURDIR)/build/home
export JUPYTER_DATA_DIR := $(HOME_DIR)/data
export JUPYTER_CONFIG_DIR := $(HOME_DIR)/config
export JUPYTER_RUNTIME_DIR := $(HOME_DIR)/runtime
export JUPYTERLAB_SETTINGS_DIR := $(HOME_DIR)/settings
export JUPYTERLAB_WORKSPACES_DIR := $(HOME_DIR)/workspaces
export IPYTHONDIR := $(HOME_DIR)/ipython
export JUPYTER_PREFER_ENV_PATH := 1
$(shell mkdir -p $(HOME_DIR))
export PATH := $(CURDIR)/$(BIN):$(PATH)
unexport PYTHONDONTWRITEBYTECODE # each process of the tests would compile them all anew

demo: $(VENV)/.demo weights
	mkdir -p build/demo
	trap 'jupyter codeagent models stop >/dev/null' EXIT; \
	jupyter codeagent run example_notebooks/quickstart.ipynb -o build/demo/quickstart.ipynb
	@echo
	@echo "The finished notebook: build/demo/quickstart.ipynb"
	@echo "Open it:               make lab   (then build/demo/quickstart.ipynb in the file browser)"

lab: $(VENV)/.demo weights
	trap 'jupyter codeagent models stop >/dev/null' EXIT; \
	jupyter lab --ServerApp.root_dir="$(CURDIR)" --LabApp.default_url=/lab/tree/example_notebooks/quickstart.ipynb \
		$(if $(filter 0,$(shell id -u)),--allow-root)

test test-ci test-all: $(VENV)/bin/python
	$(MAKE) --no-print-directory --jobs=2 $(VENV)/.test system-packages
	$(MAKE) --no-print-directory weights
	$(if $(CI),$(BIN)/python -m pip install --disable-pip-version-check --quiet --group spark)
	trap 'jupyter codeagent models stop >/dev/null' EXIT; \
	MAKE=make .ci/test $(patsubst test-%,%,$(filter-out test,$@))

system-packages:
	.ci/install-system-packages fonts-dejavu-core bubblewrap $(if $(CI),mariadb-server postgresql default-jre-headless)
	.ci/install-system-packages chromium-headless-shell || .ci/install-system-packages chromium

check: $(VENV)/.test
	ruff format --check .
	ruff check .
	mypy
	lint-imports
	.ci/check-labextension

bench: $(VENV)/.test weights
	python -m benchmarks

endurance: $(VENV)/.test
	CODEAGENT_ROUNDS=100 pytest tests/endurance --timeout=7200

docs: $(VENV)/.test
	python -m docs.make_reference
	sphinx-build -qW --keep-going docs build/docs
	@echo "Open build/docs/index.html"

pictures: $(VENV)/.test weights
	CODEAGENT_PICTURES=1 pytest tests/e2e/test_pictures.py
	CODEAGENT_PICTURES=1 pytest tests/integration/test_example_notebooks.py -k quickstart
	CODEAGENT_PICTURES=1 pytest tests/unit/explore/test_real_tables.py

recording: $(VENV)/.test
	python docs/make_recording.py

dist: $(VENV)/.release
	.ci/build-dist

release: $(VENV)/.release
	.ci/release

$(VENV)/.release: $(VENV)/.test
	$(BIN)/python -m pip install --disable-pip-version-check --quiet --group release
	touch $@

# Interpreters are taken from PATH: python3.11 … python3.14.
install-check: dist
	python .ci/check_install.py

# Its packages are left out of make test: they bring a chat and servers of their own into every JupyterLab.
JUPYTER_AI := build/jupyter-ai
jupyter-ai-check: $(JUPYTER_AI)/.installed
	CODEAGENT_JUPYTER_AI=$(JUPYTER_AI)/env pytest tests/e2e/test_jupyter_ai.py

$(JUPYTER_AI)/.installed: $(VENV)/.test
	$(PYTHON) -m venv $(JUPYTER_AI)/env
	$(JUPYTER_AI)/env/bin/python -m pip install --disable-pip-version-check --quiet . pandas "jupyter-ai>=3.2,<4"
	touch $@

# 98 packages of npm for one client: too much for make test.
MCP_SDK := $(CURDIR)/build/mcp-sdk
mcp-check: $(MCP_SDK)/.installed
	CODEAGENT_MCP_SDK=$(MCP_SDK) pytest tests/integration/test_mcp_typescript.py

$(MCP_SDK)/.installed: $(VENV)/.test
	npm install --prefix $(MCP_SDK) --ignore-scripts --no-audit --no-fund --silent "@modelcontextprotocol/sdk@^1.32"
	touch $@

# Makes two users of this machine, codeagent-a and codeagent-b, and removes them.
hub-check: $(VENV)/.test
	.ci/install-system-packages bubblewrap
	.ci/make-hub-environment
	CODEAGENT_HUB=1 pytest tests/hub

weights: $(VENV)/.demo
	jupyter codeagent models fetch >/dev/null

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; $(PYTHON) is $$($(PYTHON) --version). Try: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || .ci/install-system-packages python3-venv
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip

$(VENV)/.demo: $(VENV)/bin/python $(SOURCES)
	$(BIN)/python -m pip install --disable-pip-version-check --quiet ".[demo]"
	touch $@

# With all that .demo installs: one build of the labextension instead of two.
$(VENV)/.test: $(VENV)/bin/python $(SOURCES)
	$(BIN)/python -m pip install --disable-pip-version-check --quiet ".[test]" --group docs
	touch $(VENV)/.demo
	rm -rf build/collaboration
	$(BIN)/python -m pip install --disable-pip-version-check --quiet --no-deps \
		--target build/collaboration -r tests/e2e/collaboration.txt
	touch $@

clean:
	rm -rf $(VENV) build dist jupyter_codeagent/labextension labextension/node_modules labextension/lib
