#!/usr/bin/env bash
# Makes sure that a Chromium is there for the tests that open the report in a real browser.
set -euo pipefail
for name in chromium chromium-browser google-chrome; do
  if command -v "$name" >/dev/null; then exit 0; fi
done
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  echo "Installing Chromium for the browser tests ..."
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
else
  echo "No Chromium on this machine: the browser tests will be skipped and say so." >&2
fi
