"""One real model as the judge: a real server, its real answers, our wire and parser.

make real-judge MODEL=path/to/model.gguf     serves that model here (llama.cpp)
make real-judge MODEL=random                 serves random weights: nonsense answers
make real-judge URL=http://127.0.0.1:8080/v1 [NAME=model-id]   asks a running server

No weights are in the package registries, and nothing is fetched from anywhere else: the
model is yours to bring. The server (xllamacpp, from PyPI) gets an environment of its own
under .cache/real-judge. The example's suite is generated and run, and every judged unit
is shown. Exits with 1 where the server never answered or a unit was lost; what a model
thinks of the example is no reason to fail.
"""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HOME = ROOT / ".cache" / "real-judge"
PYTHON = HOME / "env" / "bin" / "python"
SETTINGS = """
concurrency = 2
{target}
[judge]
provider = "openai-http"
model = {model}
base_url = {url}
sampling = "{sampling}"
max_tokens = 400
timeout = 600
deadline = 1800
cache = false
"""


def main() -> int:
    model, url = os.environ.get("MODEL", ""), os.environ.get("URL", "")
    if bool(model) == bool(url):
        print(__doc__, file=sys.stderr)
        print("give MODEL or URL, one of the two", file=sys.stderr)
        return 2
    if url:
        return judge(url)
    if model == "random":
        path = HOME / "random.gguf"
        install()
        subprocess.run([PYTHON, HERE / "random_model.py", path], check=True)
    else:
        path = Path(model).resolve()
        if not path.is_file():
            print(f"MODEL: there is no file {path}", file=sys.stderr)
            return 2
        install()
    with served(path, random=model == "random") as found:
        # At temperature 0 random weights repeat themselves for ever.
        return judge(found, "model-default" if model == "random" else "temperature-0")


def install() -> None:
    """Give the server an environment of its own, once."""
    if PYTHON.exists():
        return
    print("Setting up .cache/real-judge (once) ...")
    subprocess.run([sys.executable, "-m", "venv", HOME / "env"], check=True)
    subprocess.run(
        [
            *(PYTHON, "-m", "pip", "install", "--quiet"),
            *("--cache-dir", ROOT / ".cache" / "pip"),
            *("--requirement", HERE / "requirements.txt"),
        ],
        check=True,
    )


@contextmanager
def served(path: Path, *, random: bool) -> Iterator[str]:
    """The base URL of a server of that model, for the time of a `with` block."""
    with (HOME / "server.log").open("w") as log:
        server = subprocess.Popen(
            [PYTHON, HERE / "serve.py", path, *(["1"] if random else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        assert server.stdout is not None and server.stdin is not None
        url = server.stdout.readline().strip()
        try:
            if not url.startswith("http"):
                raise SystemExit(f"the server did not start: see {log.name}")
            yield url
        finally:
            server.stdin.close()
            server.terminate()
            server.wait(30)


def judge(url: str, sampling: str = "temperature-0") -> int:
    """Generate the example's suite, run it with the model as its judge, show it all."""
    name = os.environ.get("NAME") or first_model(url)
    suite = HOME / "suite"
    shutil.rmtree(suite, ignore_errors=True)
    spec = ROOT / "examples" / "returns_desk" / "agentspec.yaml"
    helix = Path(sys.executable).with_name("helix-gen")
    subprocess.run([helix, "suite", spec, "-o", suite, "-q"], check=True)
    target = next(
        line
        for line in (suite / "evals.toml").read_text("utf-8").splitlines()
        if line.startswith("target")
    )
    settings = SETTINGS.format(
        target=target, model=json.dumps(name), url=json.dumps(url), sampling=sampling
    )
    (suite / "evals.toml").write_text(settings, "utf-8")
    out = suite / "runs" / "real"
    print(f"{name} at {url} judges the example ...")
    subprocess.run(
        [sys.executable, suite, "run", "--out", out, "-q"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "examples")},
        check=False,
    )
    units = [
        unit
        for line in (out / "units.jsonl").read_text("utf-8").splitlines()
        if (unit := json.loads(line)).get("by") == "judge"
    ]
    for unit in units:
        show(unit)
    results = Counter(unit["result"] for unit in units)
    answered = sum(unit["usage"]["outputTokens"] is not None for unit in units)
    print(f"{len(units)} judged units: {dict(results)}; {answered} answered")
    card = json.loads((out / "scorecard.json").read_text("utf-8"))
    print(f"judge: {card['usage']['judge']}")
    missing = sum(row["counts"]["missing"] for row in card["criteria"])
    return 0 if units and answered and not missing else 1


def first_model(url: str) -> str:
    """Return the id of the first model that the server names."""
    with urlopen(f"{url}/models", timeout=30) as reply:
        found: dict[str, Any] = json.load(reply)
    return str(found["data"][0]["id"])


def show(unit: dict[str, Any]) -> None:
    """Print what came of a unit, escapes made visible."""
    said = ascii(unit["critique"])[1:160]
    print(f"  {unit['result']:<9} {unit['criterionId']} of {unit['traceId']}: {said}")
    for note in unit.get("notes", []):
        print(f"            {ascii(note)[1:140]}")


if __name__ == "__main__":
    sys.exit(main())
