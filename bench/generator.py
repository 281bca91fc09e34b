"""The generator: its start, a first generation, and generating again."""

import json
import shutil
import subprocess
from collections.abc import Iterator

from inputs import edit_checks, reword_criterion, write_spec
from measure import Command, Result, in_turn, once
from rows import Row, versus
from suites import HELIX, HERE, PEERS, PYTHON, WORK, remove


def generator_start(large: bool) -> Iterator[Row]:
    program = WORK / "bare_typer.py"
    WORK.mkdir(parents=True, exist_ok=True)
    program.write_text(
        "import typer\napp = typer.Typer()\n"
        "@app.command()\ndef one(name: str) -> None: ...\n"
        "@app.command()\ndef two(name: str) -> None: ...\napp()\n",
        "utf-8",
    )
    ours, floor = in_turn(
        Command(name="helix-gen --help", argv=[HELIX, "--help"]),
        Command(name="bare typer program", argv=[PYTHON, str(program), "--help"]),
        runs=11,
    )
    yield versus("helix-gen --help", ours, floor, "≤ 1.3")


def generation(large: bool) -> Iterator[Row]:
    peer = PEERS / "datamodel-code-generator" / "bin" / "datamodel-codegen"
    sizes = [(10, 100), (100, 10_000), (5_000, 100)]
    sizes += [(100, 100_000)] if large else []
    first: dict[tuple[int, int], Result] = {}
    for criteria, items in sizes:
        spec = WORK / f"spec-{criteria}-{items}.yaml"
        WORK.mkdir(parents=True, exist_ok=True)
        write_spec(spec, criteria=criteria, items=items)
        out, floor_out = WORK / "generated", WORK / "floor-generated"
        floor = [PYTHON, str(HERE / "floors" / "generator_floor.py"), str(spec)]
        ours = Command(
            name="suite",
            argv=[HELIX, "suite", str(spec), "-o", str(out), "-q"],
            prepare=remove(out),
        )
        runs = 5 if criteria * items < 1_000_000 else 3
        name = f"{criteria:,} criteria, {items:,} items, from nothing"
        result, base = in_turn(
            ours,
            Command(
                name="f-string floor",
                argv=[*floor, str(floor_out)],
                prepare=remove(floor_out),
            ),
            runs=runs,
        )
        first[(criteria, items)] = result
        yield versus(name, result, base, "≤ 2" if items >= 10_000 else "–")
        if (criteria, items) == (10, 100):
            if peer.exists():
                schema = WORK / "peer.json"
                schema.write_text(json.dumps(peer_schema()), "utf-8")
                argv = [str(peer), "--input", str(schema), "--output"]
                result, other = in_turn(
                    ours,
                    Command(
                        name="datamodel-codegen",
                        argv=[*argv, str(WORK / "peer_models.py")],
                    ),
                )
                yield versus("a typical spec against a peer", result, other, "≤ 0.8")
        if items <= 10_000 and criteria <= 100:
            once(ours)
            again, checked = in_turn(
                Command(name="again", argv=ours.argv),
                Command(name="checksum floor", argv=[*floor, str(floor_out), "--skip"]),
            )
            row = versus(f"{name[:-14]}, nothing changed", again, checked, "")
            yield Row(
                name=row.name,
                measured=row.measured,
                against=f"{row.against}; first: {result.wall:.3f} s",
                ratio=f"{again.wall / first[(criteria, items)].wall:.2f} of the first",
                aim="≤ 0.4 of the first",
            )


def regeneration(large: bool) -> Iterator[Row]:
    """One criterion changed in the spec, 300 of 5,000 edited by hand."""
    WORK.mkdir(parents=True, exist_ok=True)
    spec, out = WORK / "spec-regenerated.yaml", WORK / "regenerated"
    changed, edited = WORK / "spec-changed.yaml", WORK / "edited"
    write_spec(spec, criteria=5_000, items=100)
    write_spec(changed, criteria=5_000, items=100)
    reword_criterion(changed, 16)
    for folder in (out, edited):
        shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([HELIX, "suite", spec, "-o", edited, "-q"], check=True)
    edit_checks(edited, "bench_evals", count=300)
    again, copy = WORK / "again", shutil.copytree

    def fresh_copy() -> None:
        shutil.rmtree(again, ignore_errors=True)
        copy(edited, again)

    ours, first = in_turn(
        Command(
            name="again",
            argv=[HELIX, "suite", str(changed), "-o", str(again), "-q"],
            prepare=fresh_copy,
        ),
        Command(
            name="first generation",
            argv=[HELIX, "suite", str(spec), "-o", str(out), "-q"],
            prepare=remove(out),
        ),
        runs=3,
    )
    name = "one of 5,000 criteria changed, 300 edited by hand"
    yield versus(name, ours, first, "≤ 2")


def peer_schema() -> dict[str, object]:
    properties = {
        "id": {"type": "integer"},
        "name": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
    }
    models = {
        f"Model{n}": {"type": "object", "required": ["id"], "properties": properties}
        for n in range(10)
    }
    refs = {f"m{n}": {"$ref": f"#/$defs/Model{n}"} for n in range(10)}
    return {"type": "object", "properties": refs, "$defs": models}
