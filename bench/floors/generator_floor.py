"""The floor of a generation: YAML in, f-strings out, nothing checked.

`--skip` compares checksums first and stops where nothing changed.
"""

import hashlib
import json
import os
import sys
from typing import Any


def main() -> None:
    skip = "--skip" in sys.argv
    spec, out = [a for a in sys.argv[1:] if not a.startswith("--")]
    with open(spec, "rb") as file:
        data = file.read()
    digest = hashlib.sha256(data).hexdigest()
    manifest = os.path.join(out, "manifest.json")
    if skip:
        with open(manifest) as file:
            known = json.load(file)
        same = known["spec"] == digest
        for path, checksum in known["files"].items():
            with open(os.path.join(out, path), "rb") as file:
                same = same and hashlib.sha256(file.read()).hexdigest() == checksum
        if same:
            return
    import yaml

    card = yaml.load(data, yaml.CSafeLoader)
    files = render(card["spec"]["evaluation"])
    checksums = {}
    for path, text in files.items():
        content = text.encode()
        checksums[path] = hashlib.sha256(content).hexdigest()
        full = os.path.join(out, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full + ".new", "wb") as file:
            file.write(content)
        os.replace(full + ".new", full)
    with open(manifest, "w") as file:
        json.dump({"spec": digest, "files": checksums}, file)


def render(evaluation: dict[str, Any]) -> dict[str, str]:
    rows = []
    for dataset in evaluation["datasets"]:
        for item in dataset["items"]:
            row = {"id": item["id"], "dataset": dataset["id"]} | item
            rows.append(json.dumps(row, ensure_ascii=False) + "\n")
    checks = ["import json\n"]
    judges = []
    for criterion in evaluation["criteria"]:
        name = criterion["id"].replace("-", "_")
        if criterion["type"] == "code-check":
            checks.append(
                f"\n\ndef {name}(case: dict, trace: dict) -> str:\n"
                f'    """{criterion["description"]}"""\n'
                f"    return {criterion['goal']!r}\n"
            )
        else:
            judges.append(
                f"{name} = Judge(\n    {criterion['id']!r},\n"
                f"    {criterion['description']!r},\n    {criterion['goal']!r},\n)\n"
            )
    return {
        "suite/dataset.jsonl": "".join(rows),
        "suite/checks.py": "".join(checks),
        "suite/judges.py": "".join(judges),
    }


main()
