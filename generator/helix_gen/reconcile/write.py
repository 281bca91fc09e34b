"""Carrying out a ChangeSet: staged, then committed, then moved into place.

Pattern: a redo log. Every new text is written into `.helix/staging/` first; then one
rename makes `.helix/staging/journal.json` appear, and that is the decision: before it
nothing of the suite has changed, after it everything will. The staged files are moved
into place one by one, the manifest last, and the staging folder goes away. A run that
finds a journal finishes it before it does anything else (`recover`); one that finds
staged files without a journal throws them away.

Accepted trade-offs: between a kill and the next run the folder may hold files of both
versions (the next run mends that, and `--check` says so). What an owner edits in
between is not overwritten. A first generation is not forced to the disk: there is
nothing of anyone's in it yet, and 70 waits for a disk would double its time.
"""

import errno
import json
import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from types import NoneType
from typing import Any, Final

from helix_runtime.lock import FolderLocked, suite_lock

from ..problems import Problem
from .changes import ChangeSet
from .manifest import MANIFEST, STAGING, ManifestFault, parse_manifest
from .paths import Folder, path_fault

_JOURNAL: Final = "journal.json"
_BESIDE: Final = ".helix-part"
_STAGED: Final = re.compile(r"\d{6}(\.part)?|journal\.json(\.part)?")


class FolderInUse(Exception):
    """Another run works in the folder."""


class ChangedMeanwhile(Exception):
    """A file is no longer as it was when the changes were decided."""


class BrokenJournal(Exception):
    """What an interrupted run left can't be read."""


@contextmanager
def suite_folder(root: Path) -> Iterator[None]:
    """Hold a folder for one run, made if needed. Raises FolderInUse and OSError.

    A folder that was made here and stays empty is removed again.
    """
    made = _make(root)
    try:
        with suite_lock(root):
            yield
    except FolderLocked as error:
        raise FolderInUse from error
    finally:
        for folder in made:
            with suppress(OSError):
                folder.rmdir()


def _make(root: Path) -> list[Path]:
    """Make a folder and its parents; return those that were missing, inner first."""
    missing: list[Path] = []
    place = root
    while not place.exists():
        missing.append(place)
        place = place.parent
    root.mkdir(parents=True, exist_ok=True)
    return missing


def apply(changes: ChangeSet, folder: Path) -> tuple[str, ...]:
    """Carry out the changes; the folder is held by the caller (`suite_folder`).

    Returns the files that their owner changed in the very moment: they stay as they
    are, and the next run looks at them. Raises ChangedMeanwhile where a file is no
    longer as it was when the changes were decided, OSError where the disk refuses;
    nothing has changed then, unless the error comes after the commit: the next run
    goes on from there.
    """
    writes = changes.writes()
    if not writes:
        return ()
    durable = not changes.is_new
    staging = _staging(folder)
    _sweep(staging)
    staging.mkdir(parents=True, exist_ok=True)
    reader = Folder(folder, pending={})
    steps: list[dict[str, Any]] = []
    try:
        for number, write in enumerate(writes):
            if reader.read(write.path) != write.before or reader.problems:
                raise ChangedMeanwhile(write.path)
            step: dict[str, Any] = {
                "path": write.path,
                "group": write.group,
                "before": _digest(write.before),
                "after": _digest(write.data),
            }
            if write.data is not None:
                step["staged"] = f"{number:06d}"
                place = os.path.join(staging, step["staged"])
                _put(place, write.data, durable=durable)
                target = None if write.before is None else reader.place(write.path)
                if target is not None:
                    os.chmod(place, stat.S_IMODE(os.stat(target).st_mode))
            steps.append(step)
        journal = json.dumps({"steps": steps}).encode()
        _put(staging / f"{_JOURNAL}.part", journal, durable=durable)
        if durable:
            _sync_folder(staging)
    except BaseException:
        _sweep(staging)
        raise
    os.replace(staging / f"{_JOURNAL}.part", staging / _JOURNAL)
    if durable:
        _sync_folder(staging)
    if changes.is_new:
        _carry_out(steps, reader, staging, durable=durable)
        return ()
    return _finish(steps, staging, folder)


def _put(place: str | Path, data: bytes, *, durable: bool) -> None:
    with open(place, "wb") as file:
        file.write(data)
        if durable:
            file.flush()
            os.fsync(file.fileno())


def pending(folder: Path) -> dict[str, Path | None]:
    """Return what an interrupted run had decided and not yet moved into place.

    The value is the staged file, None for a deletion. Raises BrokenJournal.
    """
    staging = _staging(folder)
    steps = _journal(staging)
    reader = Folder(folder, pending={})
    view: dict[str, Path | None] = {}
    for step in steps or ():
        staged = step.get("staged")
        if _state(step, reader, staging) == "open":
            view[step["path"]] = None if staged is None else staging / staged
    return view


def recover(folder: Path) -> bool:
    """Finish what an interrupted run had decided; the folder is held by the caller.

    Returns whether there was anything. Raises BrokenJournal and OSError.
    """
    staging = _staging(folder)
    steps = _journal(staging)
    if steps is None:
        _sweep(staging)
        return False
    _finish(steps, staging, folder)
    return True


def _finish(
    steps: list[dict[str, Any]], staging: Path, folder: Path
) -> tuple[str, ...]:
    """Move into place what was decided; return the files that were edited since."""
    reader = Folder(folder, pending={})
    edited = {
        step["group"] for step in steps if _state(step, reader, staging) == "edited"
    }
    manifest = staging / next(s["staged"] for s in steps if s["path"] == MANIFEST)
    if edited and manifest.exists():
        _keep_entries(manifest, reader, edited)
    steps = [step for step in steps if step["group"] not in edited]
    _carry_out(steps, reader, staging, durable=True)
    return tuple(sorted(edited))


def _carry_out(
    steps: Sequence[Mapping[str, Any]], reader: Folder, staging: Path, *, durable: bool
) -> None:
    """Move everything into place, the manifest last; what is done is left alone."""
    folders: set[str] = set()
    for step in steps:
        target = reader.place(step["path"])
        if target is None:
            raise OSError(f"{step['path']}: {reader.problems[-1].message}")
        parent, staged = os.path.dirname(target), step.get("staged")
        if staged is None:
            with suppress(FileNotFoundError):
                os.unlink(target)
            _remove_empty(Path(parent), reader.root)
            continue
        if step["path"] == MANIFEST and durable:
            for folder in folders:
                _sync_folder(folder)
        try:
            if parent not in folders:
                os.makedirs(parent, exist_ok=True)
            _move(os.path.join(staging, staged), target, durable=durable)
        except FileNotFoundError:
            if os.path.lexists(os.path.join(staging, staged)):
                raise
            continue  # moved already, by the run that was interrupted
        folders.add(parent)
    if durable:
        _sync_folder(os.path.join(reader.root, os.path.dirname(MANIFEST)))
    # The journal goes first: without it the rest is only litter.
    (staging / _JOURNAL).unlink()
    _sweep(staging)


def _move(staged: str, target: str, *, durable: bool) -> None:
    """Let a staged file stand in its place, at once, whatever stood there."""
    try:
        os.replace(staged, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        # A folder of the suite is a device of its own (a volume of a container): the
        # text is brought there first. What a kill leaves of it is written over.
        beside = os.path.join(os.path.dirname(target), _BESIDE)
        with suppress(FileNotFoundError):
            os.unlink(beside)
        try:
            with open(staged, "rb") as source, open(beside, "xb") as file:
                shutil.copyfileobj(source, file)
                if durable:
                    file.flush()
                    os.fsync(file.fileno())
            shutil.copymode(staged, beside)
            os.replace(beside, target)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(beside)
            raise
        os.unlink(staged)


def _state(step: Mapping[str, Any], reader: Folder, staging: Path) -> str:
    """Whether a step is "done", still "open", or its file was "edited" since."""
    staged = step.get("staged")
    if staged is not None and not (staging / staged).exists():
        return "done"
    now = _digest(reader.read(step["path"]))
    if now == step["after"]:
        return "done"
    return "open" if now == step["before"] else "edited"


def _keep_entries(manifest: Path, reader: Folder, paths: set[str]) -> None:
    """Let the staged manifest say of some files what the present one says."""
    from dataclasses import replace

    try:
        coming = parse_manifest(manifest.read_bytes())
        present = parse_manifest(reader.read(MANIFEST) or b"")
    except ManifestFault as fault:
        raise BrokenJournal(str(fault)) from fault
    files = dict(coming.files)
    for path in paths:
        files.pop(path, None)
        if path in present.files:
            files[path] = present.files[path]
    # No inputs: the next run must look at everything again.
    mended = replace(coming, files=files, inputs={})
    part = manifest.with_suffix(".part")
    _put(part, mended.to_bytes(), durable=True)
    os.replace(part, manifest)


def _journal(staging: Path) -> list[dict[str, Any]] | None:
    """Return the steps of an interrupted run, None where there is none."""
    place = staging / _JOURNAL
    if place.is_symlink() or (place.exists() and not place.is_file()):
        raise BrokenJournal("it is no file")  # a pipe would never end
    try:
        data = place.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        steps = json.loads(data)["steps"]
        for step in steps:
            _check(step, staging)
        paths = [step["path"] for step in steps]
        if paths.index(MANIFEST) != len(paths) - 1 or "staged" not in steps[-1]:
            raise ValueError("the manifest is not last")
    except (LookupError, ValueError, TypeError, RecursionError) as error:
        raise BrokenJournal(str(error)) from error
    return list(steps)


def _check(step: Mapping[str, Any], staging: Path) -> None:
    """Raise for a step that no run of ours wrote: it may come from anywhere."""
    if path_fault(step["path"]) is not None or not isinstance(step["group"], str):
        raise ValueError("a path that is refused")
    if any(not isinstance(step[key], (str, NoneType)) for key in ("before", "after")):
        raise TypeError("a checksum that is none")
    if "staged" not in step:
        return
    if not _STAGED.fullmatch(step["staged"]):
        raise ValueError("a staged file that is refused")
    place = staging / step["staged"]
    if place.is_symlink() or (place.exists() and not place.is_file()):
        raise ValueError("a staged file that is no file")


def _staging(folder: Path) -> Path:
    """Return the staging folder. Raises BrokenJournal where a link stands for it.

    What is staged is deleted when it is done: through a link that would delete
    somebody's files.
    """
    staging = folder / STAGING
    for place in (staging.parent, staging):
        if place.is_symlink():
            raise BrokenJournal(f"`{place.relative_to(folder).as_posix()}` is a link")
    return staging


def _sweep(staging: Path) -> None:
    """Remove what was staged and never decided; nothing that has another name."""
    if not staging.is_dir():
        return
    for place in staging.iterdir():
        if _STAGED.fullmatch(place.name):
            place.unlink()
    with suppress(OSError):
        staging.rmdir()
        staging.parent.rmdir()  # nothing else was ever written there


def _remove_empty(folder: Path, root: Path) -> None:
    while folder != root and folder.is_relative_to(root):
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent


def _digest(data: bytes | None) -> str | None:
    return None if data is None else sha256(data).hexdigest()


def _sync_folder(folder: str | Path) -> None:
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def folder_problem(root: Path, error: Exception) -> Problem:
    """Return the problem that an exception of this module is to the user."""
    if isinstance(error, FolderInUse):
        return _problem(
            "HX706",
            root,
            "another helix-gen run is writing to this folder",
            "wait until it is done, then run again",
        )
    if isinstance(error, ChangedMeanwhile):
        return _problem(
            "HX707",
            root / str(error),
            "it changed while the suite was generated; nothing was written",
            "run again",
        )
    if isinstance(error, BrokenJournal):
        return _problem(
            "HX704",
            root / STAGING / _JOURNAL,
            f"what an interrupted run left behind can't be read: {error}",
            "restore the folder from version control and delete its " f"`{STAGING}`",
        )
    assert isinstance(error, OSError)
    # Where one file could not take the place of another, that place is the second.
    named = error.filename2 or error.filename
    place = Path(named) if isinstance(named, str) else root
    why, hint = error.strerror or str(error), _HINTS.get(error.errno or 0, "")
    if isinstance(error, (FileExistsError, NotADirectoryError)):
        place, why, hint = _in_the_way(root) or (place, why, hint)
    return _problem("HX708", place, f"can't be written: {why}", hint)


_HINTS: Final = dict.fromkeys(
    (errno.ENOSPC, errno.EDQUOT, errno.EFBIG), "make room, then run again"
) | dict.fromkeys(
    (errno.EACCES, errno.EPERM, errno.EROFS),
    "get the right to write there or name another folder with -o, then run again",
)


def _in_the_way(root: Path) -> tuple[Path, str, str] | None:
    """Return what stands where a folder should be: its place, what it is, what to do."""
    hint = "name another folder with -o, or move it away"
    for place in (*reversed(root.parents), root):
        if place.is_symlink() and not place.exists():
            return place, "it is a link that leads nowhere", hint
        if place.exists() and not place.is_dir():
            return place, "it is a file, and a folder is needed there", hint
    return None


def _problem(code: str, place: Path, message: str, hint: str) -> Problem:
    return Problem(
        code=code, level="error", message=message, file=str(place), hint=hint
    )
