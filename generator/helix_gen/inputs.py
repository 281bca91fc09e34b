"""The inputs of a generation: the spec, its overlay, its items, and the generator.

Only this module and the command line know where bytes come from. Everything here
works without a parser, so that a run that finds nothing changed stays cheap.
"""

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal

from . import __version__
from .problems import Problem

EngineChoice = Literal["auto", "code-written", "native-matrix"]
STDIN: Final = "-"
MAX_BYTES: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenFile:
    """A file that the user named, or that stands beside one: its name as they see it."""

    name: str
    data: bytes

    @property
    def sha256(self) -> str:
        """The checksum of its bytes."""
        return sha256(self.data).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Everything that decides what is generated, the generator aside.

    `folder` is the spec's own folder, None where the spec came from stdin.
    """

    spec: GivenFile
    overlay: GivenFile | None
    folder: Path | None
    items: Mapping[str, Path]
    engine: EngineChoice
    target: str | None


@dataclass(slots=True)
class Gathered:
    """The inputs, and every reason why nothing can be made of them.

    `inputs` is None where the spec itself can't be read; where there are `problems`,
    it serves to find those of the spec's text too.
    """

    inputs: Inputs | None = None
    problems: list[Problem] = field(default_factory=list)


def gather(
    *,
    spec: str,
    overlay: Path | None,
    items: Iterable[str],
    engine: EngineChoice,
    target: str | None,
) -> Gathered:
    """Read the spec and its overlay, and check the `DATASET=FILE` of `items`."""
    gathered = Gathered()
    folder = None if spec == STDIN else Path(spec).parent
    spec_file = (
        _read_stdin() if spec == STDIN else _read(Path(spec), _NO_SPEC, gathered)
    )
    overlay_file = None
    if overlay is not None:
        overlay_file = _read(overlay, _NO_OVERLAY, gathered)
    elif spec != STDIN and spec_file is not None:
        beside = Path(spec).with_name(f"{Path(spec).stem}.evals.yaml")
        if beside.is_file():
            overlay_file = _read(beside, _NO_OVERLAY, gathered)
    given = _given_items(items, gathered)
    if spec_file is not None:
        gathered.inputs = Inputs(
            spec=spec_file,
            overlay=overlay_file,
            folder=folder,
            items=given,
            engine=engine,
            target=target,
        )
    return gathered


_NO_SPEC: Final = "name an agentspec file, or - for stdin"
_NO_OVERLAY: Final = "name an overlay file"


def _read(path: Path, hint: str, gathered: Gathered) -> GivenFile | None:
    try:
        with path.open("rb") as file:
            # One byte more than is read: the reader refuses it, and a device that
            # never ends does.
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        gathered.problems.append(
            Problem(
                code="HX701",
                level="error",
                message=f"can't be read: {error.strerror or error}",
                file=str(path),
                hint=hint,
            )
        )
        return None
    return GivenFile(name=str(path), data=data)


def _read_stdin() -> GivenFile:
    return GivenFile(name="<stdin>", data=sys.stdin.buffer.read(MAX_BYTES + 1))


def _given_items(items: Iterable[str], gathered: Gathered) -> dict[str, Path]:
    given: dict[str, Path] = {}
    for item in items:
        dataset, equals, name = item.partition("=")
        if not equals or not dataset or not name:
            message, hint = f"`{item}` is not DATASET=FILE", "--items golden=rows.jsonl"
        elif dataset in given:
            message, hint = f"the dataset `{dataset}` is given twice", "name one file"
        elif not Path(name).is_file():
            message = f"the items of `{dataset}`: there is no file `{name}`"
            hint = "give the path of a .json, .jsonl, .csv or .yaml file"
        else:
            given[dataset] = Path(name)
            continue
        gathered.problems.append(
            Problem(
                code="HX701",
                level="error",
                message=message,
                file="--items",
                hint=hint,
            )
        )
    return given


def missing_traces(traces: Iterable[Path]) -> list[Problem]:
    """Return a problem for each file of traces that is not there."""
    return [
        Problem(
            code="HX701",
            level="error",
            message="there is no such file of traces",
            file=str(path),
            hint="name the files that hold the recorded traces",
        )
        for path in traces
        if not path.is_file()
    ]


def no_model(place: str) -> Problem:
    """Return the problem that nobody says which model will judge."""
    return Problem(
        code="HX709",
        level="error",
        message="packets need the exact model that will judge; there is no default",
        file=place,
        hint="name it with --model, or as `judge.model` in the overlay",
    )


def fingerprint(
    inputs: Inputs, item_files: Iterable[tuple[str, str | None]]
) -> dict[str, Any]:
    """Return the checksums of the inputs, as plain data that two runs compare.

    `item_files` are (dataset, file relative to the spec's folder), the file None
    where `--items` names it; a file that is not there has no checksum, so that its
    coming is noticed. No absolute path gets in: the result is the same everywhere.
    """
    items = []
    for dataset, name in sorted(item_files, key=lambda pair: pair[0]):
        path = inputs.items.get(dataset) if name is None else _beside(inputs, name)
        digest = None if path is None else _file_digest(path)
        items.append({"dataset": dataset, "file": name, "sha256": digest})
    return {
        "spec": inputs.spec.sha256,
        "overlay": None if inputs.overlay is None else inputs.overlay.sha256,
        "items": items,
        "engine": inputs.engine,
        "target": inputs.target,
    }


def _beside(inputs: Inputs, name: str) -> Path | None:
    """Return the file of that name in the spec's folder, None where it leads out."""
    if inputs.folder is None or "\0" in name:
        return None
    try:
        root = inputs.folder.resolve()
        path = (root / name).resolve()
    except (OSError, ValueError, RuntimeError):
        # A circle of links, or a text that no file system takes for a name.
        return None
    return path if path.is_relative_to(root) else None


def _file_digest(path: Path) -> str | None:
    """Return the checksum of a regular file; None for anything else."""
    import hashlib

    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def generator_identity() -> dict[str, str]:
    """Return the generator's version and the checksum of its whole source.

    The version alone would not do: a checkout changes without it.
    """
    import helix_runtime
    import helix_templates

    digest = sha256()
    for module in (__file__, helix_runtime.__file__, helix_templates.__file__):
        assert module is not None
        root = os.path.dirname(module)
        for path in sorted(_source_files(root)):
            name = os.path.relpath(path, root).replace(os.sep, "/")
            with open(path, "rb") as file:
                data = file.read()
            digest.update(f"{name}\0{len(data)}\0".encode())
            digest.update(data)
    return {"version": __version__, "sha256": digest.hexdigest()}


def _source_files(root: str) -> Iterable[str]:
    for entry in os.scandir(root):
        if entry.is_dir(follow_symlinks=False):
            if entry.name != "__pycache__" and not entry.name.startswith("."):
                yield from _source_files(entry.path)
        elif entry.name.endswith((".py", ".jinja", ".typed", ".json", ".md")):
            yield entry.path
