"""A manifest made anew from what is there, where the old one is broken or missing.

What a file was generated as is known from `.helix/base` where that is left. Where it
is not, a file counts as its owner's: what differs from what is generated now is then
a conflict or is put aside, never overwritten.
"""

from collections.abc import Sequence

from ..emit.plan import Ownership, Rendered
from .manifest import Entry, Manifest, base_path
from .paths import Folder
from .texts import checksum


def rebuilt_manifest(
    rendered: Sequence[Rendered], folder: Folder, *, slug: str
) -> Manifest:
    """Return a manifest of the files that are there and are generated now."""
    files: dict[str, Entry] = {}
    for file in rendered:
        before = folder.read(file.path)
        if before is None:
            continue
        base = None
        if file.ownership == Ownership.MERGED:
            base = folder.read(base_path(file.path))
        files[file.path] = Entry(
            ownership=file.ownership.value,
            generated=checksum(file.content if base is None else base),
            left=checksum(before),
            units=dict(file.units),
        )
    return Manifest(generator={}, inputs={}, slug=slug, files=files)


def looks_like(rendered: Sequence[Rendered], folder: Folder) -> bool:
    """Whether a folder holds the package of these files, and no other suite's."""
    runtimes = {
        f.path.partition("/_runtime/")[0] for f in rendered if _RUNTIME in f.path
    }
    there = {p.parent.name for p in folder.root.glob("*/_runtime") if p.is_dir()}
    return bool(runtimes & there) and there <= runtimes


_RUNTIME = "/_runtime/"
