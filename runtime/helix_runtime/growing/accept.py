"""Wording checked back in: which answers become cases, and what is wrong with others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ..case import Case
from ..record import field, record
from .growth import Dataset, words_key, words_of
from .near_duplicates import NearDuplicates, Tokens, tokens_of
from .situations import case_of
from .wording import faults_of
from .writing import Answer, Answers, Task


@record(kw_only=True)
class Accepted:
    """What the answers come to.

    `added` are new rows, `reworded` maps the id of a row to its new words; `done` were
    accepted before, `removed` were and their owner took them out; `faults` are lines
    `FILE: what`, `refused` the files that hold nothing but a refused answer.
    """

    added: tuple[Case, ...] = ()
    reworded: Mapping[str, str] = field(default_factory=dict)
    done: int = 0
    removed: int = 0
    unanswered: tuple[Task, ...] = ()
    faults: tuple[str, ...] = ()
    refused: tuple[Path, ...] = ()


def accept(tasks: Sequence[Task], answers: Answers, dataset: Dataset) -> Accepted:
    """Return what the answers to tasks come to, every fault at once.

    Tasks are taken in their order: of two that say the same the first stands.
    """
    return _Acceptance(tasks, answers, dataset).accepted()


class _Acceptance:
    def __init__(
        self, tasks: Sequence[Task], answers: Answers, dataset: Dataset
    ) -> None:
        self._dataset = dataset
        self._cases = [
            case for case in dataset.cases.values() if case.id not in dataset.retired
        ]
        self._datasets = {c.dataset for c in self._cases if c.dataset is not None}
        self._faults = list(answers.faults)
        self._refused: list[Path] = []
        self._tasks = tasks
        self._by_task = self._join(tasks, answers.answers)
        self._added: list[Case] = []
        self._reworded: dict[str, str] = {}
        self._done = self._removed = 0
        # names of dimensions → dataset and values → the case that has them
        self._tuples: dict[tuple[str, ...], dict[tuple[str | None, ...], str]] = {}
        words = {i: words_of(c) for i, c in dataset.cases.items() if not c.placeholder}
        self._index: NearDuplicates[str] = NearDuplicates(
            [*words.values(), *(tokens_of(a.query) for a in answers.answers)]
        )
        for row_id, tokens in words.items():
            self._index.add(tokens, f"the case {row_id}")

    def accepted(self) -> Accepted:
        for task in self._tasks:
            answer = self._by_task.get(task.id)
            if answer is not None:
                self._take(task, answer)
        return Accepted(
            added=tuple(self._added),
            reworded=self._reworded,
            done=self._done,
            removed=self._removed,
            unanswered=tuple(t for t in self._tasks if t.id not in self._by_task),
            faults=tuple(self._faults),
            refused=tuple(dict.fromkeys(self._refused)),
        )

    def _refuse(self, answer: Answer, *whats: str) -> None:
        self._faults += [f"{answer.place}: {what}" for what in whats]
        if answer.file is not None:
            self._refused.append(answer.file)

    def _join(
        self, tasks: Sequence[Task], answers: Iterable[Answer]
    ) -> dict[str, Answer]:
        """Join answers with their tasks, by the id and the hash that stand in them."""
        known = {task.id: task for task in tasks}
        joined: dict[str, Answer] = {}
        torn: set[str] = set()
        for answer in answers:
            task = known.get(answer.task_id)
            if task is None:
                # Of an earlier folder, perhaps: its words may be worth keeping.
                self._faults.append(
                    f"{answer.place}: answers no task of this folder "
                    f"({answer.task_id[:40]!r})"
                )
                continue
            if answer.sha256 != task.sha256:
                self._refuse(
                    answer,
                    f"answers another version of its task: its `taskSha256` is not that "
                    f"of {task.file}",
                )
                continue
            if answer.tuple is not None and answer.tuple != dict(task.situation.tuple):
                self._refuse(answer, "its `tuple` is that of another task")
                continue
            earlier = joined.setdefault(task.id, answer)
            if earlier.query != answer.query:
                torn.add(task.id)
                self._faults.append(
                    f"{answer.place}: says something else than {earlier.place} for the "
                    "same task: remove one of them"
                )
        return {task_id: a for task_id, a in joined.items() if task_id not in torn}

    def _take(self, task: Task, answer: Answer) -> None:
        situation = task.situation
        query = answer.query.strip()
        if situation.case_id is not None:
            self._reword(task, answer, query)
            return
        if not query:
            self._refuse(answer, "has no word in it")
            return
        case = case_of(situation, query, self._cases)
        if case.id in self._dataset.cases:
            self._done += 1
            return
        tokens = tokens_of(query)
        gone = self._dataset.removed
        if case.id in gone.ids or words_key(tokens) in gone.words:
            self._removed += 1
            return
        other = self._of_tuple(task)
        if other is not None:
            self._refuse(answer, f"its tuple has a case already: {other}")
        elif self._datasets and situation.dataset not in (None, *self._datasets):
            # Kept as it is: its words may be worth having in another dataset.
            self._faults.append(
                f"{answer.place}: its task is of a dataset that no case is of any more "
                f"({str(situation.dataset)[:40]!r}): make the tasks anew with `expand`"
            )
        elif self._is_message(task, answer, query, tokens):
            self._added.append(case)
            self._index.add(tokens, answer.place)

    def _of_tuple(self, task: Task) -> str | None:
        """Return the case that a task's tuple has already, or None."""
        situation = task.situation
        names = tuple(sorted(situation.tuple))
        found = self._tuples.get(names)
        if found is None:
            found = self._tuples[names] = {}
            for case in self._cases:
                of = case.dimensions
                if all(name in of for name in names):
                    key = (case.dataset, *(of[name] for name in names))
                    found.setdefault(key, case.id)
        return found.get((situation.dataset, *(situation.tuple[n] for n in names)))

    def _reword(self, task: Task, answer: Answer, query: str) -> None:
        case_id = task.situation.case_id
        assert case_id is not None
        case = self._dataset.cases.get(case_id)
        if case is None:
            self._removed += 1
        elif not case.placeholder:
            if case.query == query:
                self._done += 1
            else:
                self._refuse(
                    answer,
                    f"the case {case_id} has a realistic query already: it stays as it "
                    "is",
                )
        else:
            tokens = tokens_of(query)
            if self._is_message(task, answer, query, tokens):
                self._reworded[case_id] = query
                self._index.add(tokens, answer.place)

    def _is_message(
        self, task: Task, answer: Answer, query: str, tokens: Tokens
    ) -> bool:
        situation = task.situation
        faults = faults_of(query, situation=situation.tuple, told=situation.told)
        same = self._index.find(tokens)
        if same is not None:
            faults.append(f"is a near-duplicate of {same}")
        if faults:
            self._refuse(answer, *faults)
        return not faults
