"""The floor of a run: what has to be done, and nothing else.

Cases in, an echo subject, one exact check, a line of results each, a scorecard and a
page. `--asyncio` does it with ten asyncio workers, as an agent's own loop would.
"""

import argparse
import json
import os
from html import escape
from typing import Any


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("cases")
    parser.add_argument("out")
    parser.add_argument("--asyncio", action="store_true")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    results = os.path.join(options.out, "results.jsonl")
    count = passed = 0
    encode = json.JSONEncoder(ensure_ascii=False).encode
    with open(options.cases) as lines, open(results, "w") as log:
        cases = map(json.loads, lines)

        def record(case: dict[str, Any], output: str) -> None:
            nonlocal count, passed
            ok = output == case["expected"]["output"]
            row = {
                "id": case["id"],
                "input": case["query"],
                "expected": case["expected"],
                "output": output,
                "checks": [{"name": "exact", "pass": ok}],
                "pass": ok,
            }
            log.write(encode(row) + "\n")
            log.flush()
            count += 1
            passed += ok

        if options.asyncio:
            import asyncio

            async def subject(case: dict[str, Any]) -> str:
                return str(case["query"])

            async def worker() -> None:
                for case in cases:
                    record(case, await subject(case))

            async def go() -> None:
                await asyncio.gather(*(worker() for _ in range(10)))

            asyncio.run(go())
        else:
            for case in cases:
                record(case, case["query"])
    with open(os.path.join(options.out, "scorecard.json"), "w") as card:
        json.dump({"cases": count, "passed": passed, "ok": passed == count}, card)
    with (
        open(results) as rows,
        open(os.path.join(options.out, "report.html"), "w") as page,
    ):
        page.write("<!doctype html><meta charset=utf-8><title>report</title><table>")
        for line in rows:
            row = json.loads(line)
            page.write(f"<tr><td>{row['id']}<td>{escape(row['output'])}</tr>\n")
        page.write("</table>")


main()
