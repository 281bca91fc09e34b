#!/usr/bin/env bash
# The main job on the example: agentspec -> suite -> run -> gate, offline.
# The example agent has one flaw on purpose, so the gate of this demo is "fail".
set -uo pipefail
cd "$(dirname "$0")/.."
bin=.venv/bin
suite=demo/returns-desk-evals
rm -rf demo

say() { printf '\n\033[1m$ %s\033[0m\n' "$*" | if [ -t 1 ]; then cat; else sed 's/\x1b\[[0-9]*m//g'; fi; }

say "helix-gen suite examples/returns_desk/agentspec.yaml -o $suite"
$bin/helix-gen suite examples/returns_desk/agentspec.yaml -o "$suite" || exit 1

# The agent is importable from examples/; the judge's verdicts were recorded, so no key is needed.
say "PYTHONPATH=examples python $suite run --replay examples/returns_desk/verdicts"
PYTHONPATH=examples $bin/python "$suite" run --replay examples/returns_desk/verdicts \
  --out "$suite/runs/demo"
code=$?
if [ $code -ne 1 ]; then
  echo "The demo's gate should fail (exit 1), but the run ended with exit $code." >&2
  exit 1
fi
cat <<TEXT

The gate failed (exit 1), and rightly: the example agent believes a customer who claims an
approval. Read the suite in $suite (start with returns_desk_evals/checks.py),
open $suite/runs/demo/report.html, mend examples/returns_desk/agent.py and run again.
TEXT
