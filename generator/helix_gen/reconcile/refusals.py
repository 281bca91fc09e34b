"""Which folders a run keeps away from: a stranger's, another suite's, a broken one."""

from collections.abc import Sequence
from typing import Final

from helix_runtime.safe_text import printable

from ..emit.plan import VENDORED, Rendered
from ..problems import Problem
from .manifest import MANIFEST, REBUILD_HINT, Manifest
from .paths import STATE, Folder

_HARMLESS: Final = frozenset((".git", ".DS_Store", ".helix-lock"))


def refuse_folder(
    rendered: Sequence[Rendered],
    folder: Folder,
    previous: Manifest | None,
    *,
    slug: str,
) -> None:
    """Add the problem of a folder that is not this suite's, or not where it was.

    `previous` is its manifest, None where it has none.
    """
    if previous is None:
        if not folder.problems:
            _refuse_strangers(folder)
    elif previous.slug != slug:
        folder.problems.append(_other_suite(folder, previous.slug, slug))
    else:
        _refuse_renamed_package(rendered, folder, previous)


def _refuse_strangers(folder: Folder) -> None:
    """Refuse a folder that is not empty and holds no suite of ours."""
    root = folder.root
    if root.is_symlink() and not root.exists():
        folder.refuse("", "it is a link that leads nowhere")
        return
    if not root.exists():
        return
    if not root.is_dir():
        folder.refuse("", "a file is in the way of the suite's folder")
        return
    names = {entry.name for entry in root.iterdir()} - _HARMLESS
    if names == {STATE} and not _has_memory(folder):
        return
    if not names:
        return
    if STATE in names or any((root / n / "_runtime").is_dir() for n in names):
        folder.problems.append(
            Problem(
                code="HX704",
                level="error",
                message="this looks like a suite, but its manifest is missing "
                f"(`{MANIFEST}`); nothing was written",
                file=str(root),
                hint=REBUILD_HINT,
            )
        )
        return
    folder.problems.append(
        Problem(
            code="HX702",
            level="error",
            message="this folder is not empty and not a suite of helix-gen; nothing "
            "was written",
            file=str(root),
            hint="name a new or an empty folder with -o",
        )
    )


def _has_memory(folder: Folder) -> bool:
    """Whether `.helix` holds more than what a first run was staging when it died."""
    state = folder.root / STATE
    return (
        not state.is_dir() or {e.name for e in state.iterdir()} - {"staging"} != set()
    )


def _other_suite(folder: Folder, theirs: str, ours: str) -> Problem:
    # A slip of `-o` would take apart one suite to build another in its place.
    return Problem(
        code="HX702",
        level="error",
        message=f"this is the suite of `{printable(theirs, 80)}`, not of `{ours}`; "
        "nothing was written",
        file=str(folder.root),
        hint="name another folder with -o; where the subject has a new id, bring your "
        "edits over from this one",
    )


def _refuse_renamed_package(
    rendered: Sequence[Rendered], folder: Folder, previous: Manifest
) -> None:
    """Refuse to make a package anew where the old one stands there by another name."""
    package = package_of(rendered)
    known = any(path.startswith(f"{package}/") for path in previous.files)
    if not package or not known or (folder.root / package).exists():
        return
    others = sorted(
        place.name
        for place in folder.root.iterdir()
        if (place / VENDORED / "__init__.py").is_file() and not place.is_symlink()
    )
    if others:
        name = printable(others[0], 80)
        folder.problems.append(
            Problem(
                code="HX711",
                level="error",
                message=f"the suite's package `{package}` is not there, and `{name}` "
                "looks like it; nothing was written",
                file=str(folder.root / others[0]),
                hint=f"name it `{package}` again; the folder around it may have any "
                "name",
            )
        )


def package_of(rendered: Sequence[Rendered]) -> str:
    """Return the name of the suite's package."""
    for file in rendered:
        package, found, _ = file.path.partition(f"/{VENDORED}/")
        if found:
            return package
    return ""
