#!/usr/bin/env bash
# Rewrites requirements/dev.txt, the locked development environment, from pyproject.toml.
set -euo pipefail
cd "$(dirname "$0")/.."
.venv/bin/pip install --quiet uv
.venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
  --no-emit-index-url --no-emit-find-links --custom-compile-command requirements/lock.sh \
  --group dev "$@" pyproject.toml --output-file requirements/dev.txt
