# Two commands on a fresh machine: `make demo` and `make test`.
# Both set up .venv from the lock and leave nothing behind outside the checkout.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.ready
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: demo test golden bench bench-peers real-judge lint format setup clean
.DEFAULT_GOAL := test

setup: $(STAMP)

$(STAMP): requirements/dev.txt pyproject.toml
	@echo "Setting up .venv (once) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "helix-gen needs Python 3.11 or newer")'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet --cache-dir .cache/pip --require-hashes --requirement requirements/dev.txt
	@$(BIN)/pip install --quiet --cache-dir .cache/pip --no-deps --no-build-isolation --editable .
	@touch $(STAMP)

demo: $(STAMP)
	@bash examples/demo.sh

test: $(STAMP) lint
	@bash tests/browser.sh
	@bash tests/mastra.sh
	$(BIN)/pytest --numprocesses auto

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/black --quiet --check .
	$(BIN)/mypy

golden: $(STAMP)
	$(BIN)/python golden/rewrite.py

bench: $(STAMP)
	$(BIN)/python bench/run.py

# Peers get environments of their own: what they need must not touch ours. They are
# compared in the next `make bench`; promptfoo needs npm and is left out without it.
PEERS := datamodel-code-generator pydantic-evals inspect-ai deepeval
bench-peers: $(STAMP)
	@for peer in $(PEERS); do \
	  test -e .cache/peers/$$peer/.ready && continue; \
	  echo "Setting up $$peer ..."; \
	  $(PYTHON) -m venv .cache/peers/$$peer && \
	  .cache/peers/$$peer/bin/pip install --quiet --cache-dir .cache/pip $$peer && \
	  touch .cache/peers/$$peer/.ready || exit 1; \
	done
	@if command -v npm >/dev/null && ! test -e .cache/peers/promptfoo/.ready; then \
	  echo "Setting up promptfoo ..."; mkdir -p .cache/peers/promptfoo; \
	  npm install --prefix .cache/peers/promptfoo --no-audit --no-fund --silent promptfoo && \
	  touch .cache/peers/promptfoo/.ready; \
	fi

# A real model as the judge: MODEL=FILE.gguf, MODEL=random or URL=http://…/v1. Not in CI.
real-judge: $(STAMP)
	@MODEL="$(MODEL)" URL="$(URL)" NAME="$(NAME)" $(BIN)/python tests/real_judge/run.py

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/black --quiet .

clean:
	rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
