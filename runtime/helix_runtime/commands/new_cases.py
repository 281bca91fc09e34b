"""What comes after cases were added: the same words, whoever added them."""

from collections.abc import Sequence

from ..folder import SuiteFolder


def next_step(folder: SuiteFolder, case_ids: Sequence[str]) -> str:
    """Return the line that says how the new cases are run. Raises Refusal.

    The subject of a native suite can't be called: its host plays the cases.
    """
    if folder.load_suite().engine == "native-matrix":
        return (
            "next: have your host run them (`cases` shows them), and judge what it "
            f"records: python -m {folder.package} prep --traces FILE --model MODEL"
        )
    return f"next: python -m {folder.package} run --cases {' '.join(case_ids)}"
