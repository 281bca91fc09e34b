"""What happens to the dataset: its rows only grow, and a row is its owner's."""

from typing import Final

from helix_runtime.folder import RETIRED

from ..emit.plan import Ownership, Rendered
from ..problems import Problem
from .changes import Action, FileChange
from .manifest import REBUILD_HINT, ROWS, Entry
from .paths import Folder
from .rows import RowChanges, merge_rows, read_memory, rebuilt_memory, write_memory
from .steps import Step, Steps
from .texts import checksum, same_text


def dataset_step(
    file: Rendered,
    entry: Entry | None,
    before: bytes | None,
    steps: Steps,
    *,
    rebuild: bool,
) -> tuple[Step, RowChanges] | None:
    """Return the step of the dataset, and what happens to its rows.

    With `rebuild`, a memory of the rows that is broken is made anew. None where there
    is a problem, which the folder has then.
    """
    folder = steps.folder
    memory: dict[str, str] = {}
    if entry is None and before is not None:
        if not same_text(before, file.content):
            folder.refuse(
                file.path, "a file that helix-gen did not write is in the way"
            )
            return None
    elif entry is not None:
        known = _memory_of_rows(folder)
        if known is None and rebuild and before is not None:
            folder.problems.pop()
            known = rebuilt_memory(yours=before, new=file.content)
        if known is None:
            return None
        memory = known
    merged = merge_rows(memory=memory, yours=before, new=file.content)
    if before is None:
        action, note = Action.CREATE, "" if entry is None else "was missing"
    elif merged.text == before:
        edited = merged.changes.reworded or merged.changes.own
        action, note = Action.KEEP if edited else Action.SAME, ""
    else:
        action, note = Action.UPDATE, ""
    step = Step(
        change=FileChange(
            path=file.path,
            action=action,
            note=note,
            before=before,
            after=merged.text,
        ),
        entry=Entry(
            ownership=file.ownership.value,
            generated=checksum(file.content),
            left=checksum(merged.text),
        ),
        ownership=file.ownership.value,
    )
    steps.remember(step, ROWS, write_memory(merged.memory), file.path)
    return step, merged.changes


def _memory_of_rows(folder: Folder) -> dict[str, str] | None:
    data = folder.read(ROWS)
    if data is None:
        _broken_rows(folder, "it is missing")
        return None
    try:
        return read_memory(data)
    except ValueError as error:
        _broken_rows(folder, str(error))
        return None


def _broken_rows(folder: Folder, why: str) -> None:
    folder.problems.append(
        Problem(
            code="HX704",
            level="error",
            message=f"the suite's memory of its dataset rows is broken: {why}; "
            "nothing was written",
            file=str(folder.root / ROWS),
            hint=REBUILD_HINT,
        )
    )


def retired_list(rows: RowChanges) -> tuple[Rendered, ...]:
    """Return the file that keeps retired rows out of runs, where there are any.

    The rows themselves are their owner's and stay byte for byte, so what became of
    them stands beside them.
    """
    if not rows.retired:
        return ()
    text = "".join(f"{line}\n" for line in (*_RETIRED_HEAD, *rows.retired))
    return (Rendered(path=RETIRED, content=text.encode(), ownership=Ownership.OWNED),)


def retired_before(folder: Folder) -> frozenset[str]:
    """Return the rows that were retired when the last run ended."""
    text = (folder.read(RETIRED) or b"").decode("utf-8", "replace")
    return frozenset(line.strip() for line in text.split("\n"))


_RETIRED_HEAD: Final = (
    "# Rows of dataset.jsonl that the spec no longer has. They stay there and are not",
    "# run, unless `run --retired` is said. A row with an id of its own is yours again.",
)
