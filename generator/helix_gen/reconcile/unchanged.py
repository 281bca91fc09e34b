"""The fast path: nothing changed since the last run, so there is nothing to do.

True when the generator, its inputs and every file of the suite have the checksums
that the manifest remembers. What the last run had to say is read back from
`.helix/summary.json` and said again, so that a fast run and a slow one read the same.
Nothing here needs a parser of specs, a template or the suite model.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..inputs import Inputs, fingerprint
from .manifest import (
    MANIFEST,
    ROWS,
    STAGING,
    SUMMARY,
    Manifest,
    base_path,
    read_manifest,
)
from .paths import Folder
from .texts import checksum


def unchanged(
    root: Path, inputs: Inputs, generator: Mapping[str, str]
) -> dict[str, Any] | None:
    """Return what the last run had to say, or None where the whole way is needed.

    Every doubt is a None: the whole way then finds out and says what is wrong.
    """
    try:
        return _unchanged(root, inputs, generator)
    except OSError:
        return None


def _unchanged(
    root: Path, inputs: Inputs, generator: Mapping[str, str]
) -> dict[str, Any] | None:
    folder = Folder(root, pending={})
    if (root / STAGING).exists():
        return None
    manifest = read_manifest(folder)
    if manifest is None or manifest.conflicts or manifest.generator != generator:
        return None
    if not _same_inputs(manifest, inputs) or not _same_files(manifest, folder):
        return None
    data = folder.read(SUMMARY)
    if data is None or folder.problems or checksum(data) != manifest.summary:
        return None
    try:
        summary = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return summary if isinstance(summary, dict) else None


def find_folder(parent: Path, inputs: Inputs) -> Path | None:
    """Return the suite that a run without `-o` would update, without reading the spec.

    It stands in `parent`, is named after its own slug, and was made from this spec.
    """
    needle = inputs.spec.sha256.encode()
    for place in sorted(parent.glob(f"*-evals/{MANIFEST}")):
        root = place.parent.parent
        try:
            if needle not in place.read_bytes():
                continue
        except OSError:
            continue
        manifest = read_manifest(Folder(root, pending={}))
        if manifest is not None and root.name == f"{manifest.slug}-evals":
            if manifest.inputs.get("spec") == inputs.spec.sha256:
                return root
    return None


def _same_inputs(manifest: Manifest, inputs: Inputs) -> bool:
    items = manifest.inputs.get("items")
    if not isinstance(items, list):
        return False
    pairs: list[tuple[str, str | None]] = []
    for item in items:
        if not isinstance(item, dict) or not isinstance(item.get("dataset"), str):
            return False
        name = item.get("file")
        if name is not None and not isinstance(name, str):
            return False
        pairs.append((item["dataset"], name))
    given = {dataset for dataset, name in pairs if name is None}
    if given != set(inputs.items):
        return False
    return fingerprint(inputs, pairs) == manifest.inputs


def _same_files(manifest: Manifest, folder: Folder) -> bool:
    for path, entry in manifest.files.items():
        data = folder.read(path)
        if (None if data is None else checksum(data)) != entry.left:
            return False
        if entry.ownership == "merged":
            base = folder.read(base_path(path))
            if base is None or checksum(base) != entry.generated:
                return False
    return folder.read(ROWS) is not None and not folder.problems
