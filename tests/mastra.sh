#!/usr/bin/env bash
# Puts a real Mastra into .cache/mastra for the tests that reach one over HTTP.
set -euo pipefail
example=examples/targets/mastra
place=.cache/mastra
if ! command -v npm >/dev/null; then
  echo "No npm on this machine: the tests of a real Mastra will be skipped and say so." >&2
  exit 0
fi
if cmp -s "$example/package-lock.json" "$place/package-lock.json" && [ -e "$place/.ready" ]; then
  exit 0
fi
echo "Installing Mastra for the tests that reach one ..."
rm -rf "$place" && mkdir -p "$place"
cp "$example/package.json" "$example/package-lock.json" "$place/"
npm ci --prefix "$place" --cache .cache/npm --no-audit --no-fund --silent
touch "$place/.ready"
