# GeoTTS. `make setup` makes .venv; everything else uses it.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
JOBS ?= 2
# the tests without a cluster wait a third of their time
UNIT_JOBS ?= 3
PYTEST := $(BIN)/python -m pytest --dist loadfile -n
DOCS := $(wildcard tests/cluster/test_docs_*.py)

# tests start hundreds of processes: compiled modules save each of them some tenths of a second
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo system setup test test-docs test-vllm test-all test-image vllm-env vllm-env-beside quick check style types types-of-tests bench serve sbom lock lock-vllm lock-image clean

help:            ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 12

demo: system setup  ## everything from nothing: install, build, serve, locate sample photos, stop
	$(BIN)/geotts demo

system:          ## install what pip cannot (as root), or say what is missing and what that costs
	@scripts/system-packages

setup: $(STAMP)  ## make .venv with the locked packages and the project in it

$(STAMP): pyproject.toml geotts_client/pyproject.toml requirements.lock
	@command -v $(PYTHON) >/dev/null && $(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || { \
	  echo "GeoTTS needs Python 3.11, 3.12 or 3.13: install it, or run 'make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)'"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "$(PYTHON) cannot make virtual environments: install its venv module (Debian: apt-get install python3.11-venv)"; exit 1; }
	@echo "installing packages into $(VENV) (about 1.7 GB on disk) …"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e ./geotts_client -e .
	@touch $@

# without --no-loadscope-reorder, files with few tests, which take longest, come last, and one process waits
test: quick      ## static checks and the tests of the code; no GPU and no network needed
	$(PYTEST) $(UNIT_JOBS) -m slow tests/unit tests/contract
	$(PYTEST) $(JOBS) --no-loadscope-reorder tests/cluster tests/doors tests/browser $(addprefix --ignore=,$(DOCS))

test-docs: setup ## every command and configuration of the documentation, as written
	$(BIN)/geotts data build
	$(PYTEST) $(JOBS) $(DOCS)

# the packages of test-vllm are installed beside test-docs, to save their time
test-all: test   ## everything that continuous integration runs: test, test-docs, test-vllm
	$(MAKE) -j 2 test-docs vllm-env-beside
	$(MAKE) test-vllm

quick: setup     ## static checks and the tests that need no cluster, browser, vLLM or programs of their own
	$(MAKE) check
	$(BIN)/geotts data build
	$(PYTEST) $(UNIT_JOBS) -m "not slow" tests/unit tests/contract

# HTTP is tested once more there, because vLLM brings an older FastAPI
test-vllm: setup ## the vllm engine and MaskFormer on a real vLLM and torch for CPUs, where their wheels can be had
	@if scripts/vllm-env $(PYTHON); then $(VENV)-vllm/bin/python -m pytest tests/real_vllm tests/unit/tts/routing/test_maskformer.py tests/unit/deployments/http/test_http*.py tests/unit/deployments/http/server/test_http_limits.py; \
	else [ $$? = 3 ] && echo "tests/real_vllm SKIPPED: vLLM for CPUs cannot be had here, for the reason above"; fi

test-image: setup ## build the image in a scratch root and ask it (as root, with buildah and mmdebstrap; 8 minutes)
	GEOTTS_TEST_IMAGE=1 $(BIN)/python -m pytest tests/cluster/test_image.py

vllm-env:        ## make .venv-vllm, the project with vLLM for CPUs
	scripts/vllm-env $(PYTHON)

# test-vllm says why, if it cannot be made
vllm-env-beside: setup
	@nice -n 5 scripts/vllm-env $(PYTHON) >/dev/null 2>&1 || true

check: setup     ## formatting, lint, types, layers
	@$(MAKE) --no-print-directory --output-sync=target -j $(JOBS) style types types-of-tests

style:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-cache

types:
	$(BIN)/mypy

types-of-tests:
	$(BIN)/mypy --config-file tests/mypy.toml --cache-dir .mypy_cache/tests tests examples scripts

bench: setup     ## every benchmark; writes docs/benchmarks.md
	$(BIN)/geotts bench all --write docs/benchmarks.md

serve: setup     ## the service on http://127.0.0.1:8000
	$(BIN)/geotts data build
	$(BIN)/geotts serve

sbom: setup      ## sbom.cdx.json, the bill of materials of requirements.lock (CycloneDX)
	$(BIN)/python scripts/sbom.py requirements.lock > sbom.cdx.json

lock:            ## refresh requirements.lock from pyproject.toml (needs uv)
	uv pip compile --quiet --no-header --python-version 3.11 --extra test --generate-hashes --no-emit-package geotts-client \
	  pyproject.toml -o requirements.lock

lock-vllm:       ## refresh requirements-vllm.lock (needs uv)
	uv pip compile --quiet --no-header --no-annotate --python-version 3.11 --extra test --generate-hashes pyproject.toml \
	  requirements-vllm.in --no-emit-package geotts-client --no-emit-package torchaudio --no-emit-package torchcodec -o requirements-vllm.lock

lock-image:      ## refresh the lock files of the image from pyproject.toml and requirements.lock (needs uv)
	for engine in cpu cuda; do \
	  uv pip compile --quiet --no-header --no-annotate --python-version 3.11 --generate-hashes --no-emit-package geotts-client \
	    $$([ $$engine = cuda ] && echo --extra vllm --python-platform x86_64-manylinux_2_28 || echo -c requirements.lock) \
	    --extra blobs --extra redis pyproject.toml image/build.in -o image/$$engine.lock || exit 1; done

clean:           ## remove .venv and caches, keep built data
	rm -rf $(VENV) $(VENV)-vllm .pytest_cache .mypy_cache .ruff_cache .hypothesis *.egg-info
