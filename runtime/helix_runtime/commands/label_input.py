"""The labels that a command reads: those of the suite, or of a file that is named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..folder import SuiteFolder
from ..labels.file import FILE_NAME, Label, read_labels
from ..refusal import Refusal
from .outcome import typed_path


def labels_of(folder: SuiteFolder, named: str | None = None) -> Sequence[Label]:
    """Return the labels of `labels.jsonl`, or of the file that `--labels` names.

    Raises Refusal where that can't be read, with every line that is no label: it may
    be the one that a judge gets wrong. A suite without labels has none.
    """
    path = Path(named or typed_path(folder.root / FILE_NAME))
    if named and not path.is_file():
        raise Refusal(f"there is no file {path}")
    try:
        found = read_labels(path)
    except OSError as error:
        raise Refusal(f"{path}: can't be read: {error.strerror or error}") from error
    if found.problems:
        raise Refusal(*found.problems)
    return found.labels
