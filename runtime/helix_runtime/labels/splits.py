"""Train, dev and test: which part of the labelled runs a case belongs to.

TRAIN is what a judge may be shown, dev what it is tuned on, test what is looked at
once. They are disjoint by case: all runs of a case, and all criteria that they are
labelled under, are in one split.

The content hash of a case's id says where it goes. Only where a criterion's label
(its passes, say) would leave a split a whole case, and a twentieth of all, behind its
share, that split takes the case: hash first, a bound on the drift behind it (the "big
stick" of J. F. Soares and C. F. J. Wu, 1983). A case is placed when its first label
is met, by the lines before it alone. `labels.jsonl` is only added to, so what is added
moves nothing; nor does whether the runs themselves are at hand.

Copies of a case follow the first of them in the file, once it is known that they are
copies.
"""

from collections.abc import Iterable, Mapping
from typing import Final, Literal, get_args

from ..canonical import content_key
from ..targets.recorded import case_of
from .file import Label

Split = Literal["train", "dev", "test"]
SPLITS: Final[tuple[Split, ...]] = get_args(Split)
SHARES: Final[Mapping[Split, float]] = {"train": 0.15, "dev": 0.425, "test": 0.425}
SEED: Final = "splits/1"


def split_by_hash(case_id: str, seed: str = SEED) -> Split:
    """Return the split that the content hash of an id alone gives."""
    place = int(content_key(seed, case_id)[:13], 16) / 16**13
    for split in SPLITS[:-1]:
        place -= SHARES[split]
        if place < 0:
            return split
    return SPLITS[-1]


class Splits:
    """The splits of labels in the order of their lines.

    `copies` are ids of traces that are known to be of one case, group by group.
    """

    def __init__(
        self,
        labels: Iterable[Label],
        *,
        copies: Iterable[Iterable[str]] = (),
        seed: str = SEED,
    ) -> None:
        self._seed = seed
        self._placed: dict[str, Split] = {}
        # By criterion and label: how many cases each split has.
        self._counts: dict[tuple[str, str], dict[Split, int]] = {}
        self._counted: set[tuple[str, str, str]] = set()
        for label in labels:
            self._add(label)
        self._first = self._first_of(copies)

    def of(self, trace_id: str) -> Split | None:
        """Return the split of a labelled run or of a case, None where it is in none."""
        return self._placed.get(self.first_case(trace_id))

    def would_be(self, trace_id: str, criterion_id: str, word: str) -> Split:
        """Return the split of a run if it were labelled next."""
        case_id = self.first_case(trace_id)
        return self._placed.get(case_id) or self._place(case_id, (criterion_id, word))

    def first_case(self, trace_id: str) -> str:
        """Return the case that a run is of: of copies, the first one in the file."""
        case_id = case_of(trace_id)
        return self._first.get(case_id, case_id)

    def is_first(self, trace_id: str) -> bool:
        """Whether a run is of no copy of a case, or of the first one in the file.

        Its split is the same where nobody knows of the copies.
        """
        return self.first_case(trace_id) == case_of(trace_id)

    def _add(self, label: Label) -> None:
        case_id = case_of(label.trace_id)
        stratum = (label.criterion_id, label.label)
        split = self._placed.get(case_id)
        if split is None:
            split = self._placed[case_id] = self._place(case_id, stratum)
        if (case_id, *stratum) not in self._counted:
            self._counted.add((case_id, *stratum))
            counts = self._counts.setdefault(stratum, dict.fromkeys(SPLITS, 0))
            counts[split] += 1

    def _place(self, case_id: str, stratum: tuple[str, str]) -> Split:
        counts = self._counts.get(stratum) or dict.fromkeys(SPLITS, 0)
        total = sum(counts.values()) + 1
        behind = {split: SHARES[split] * total - counts[split] for split in SPLITS}
        last = max(SPLITS, key=lambda split: behind[split])
        if behind[last] >= max(1.0, total / 20):
            return last
        return split_by_hash(case_id, self._seed)

    def _first_of(self, copies: Iterable[Iterable[str]]) -> dict[str, str]:
        """The first case in the file by each case that has copies."""
        order = {case_id: number for number, case_id in enumerate(self._placed)}
        parent: dict[str, str] = {}

        def root(case_id: str) -> str:
            while (above := parent.setdefault(case_id, case_id)) != case_id:
                parent[case_id] = parent[above]
                case_id = above
            return case_id

        def rank(case_id: str) -> tuple[int, str]:
            return order.get(case_id, len(order)), case_id

        for group in copies:
            roots = {root(case_of(trace_id)) for trace_id in group}
            if roots:
                first = min(roots, key=rank)
                parent.update(dict.fromkeys(roots, first))
        return {case_id: root(case_id) for case_id in list(parent)}
