"""Verdict files as judges really write them: a tolerant reader.

The strict side of the same contract is `verdict_schema`. The reader says which
dialect each file is in and never invents a result: an entry that can't be taken in is
left out, and a problem says so, which makes its unit missing. It refuses
- a verdict without a critique, with a result that is none of ours, a confidence
  outside [0, 1] or refs that are none;
- what says two things at once (two results, ids or models, `verdicts` against
  `denseMap`, two entries): which of them is meant can't be known;
- all of a file that was judged at a temperature other than 0.

What was refused contests its unit, see `verdict_folder`.

That a criterion does not apply needs its reason, as every verdict does: without one it is
`uncertain`. A pass or a fail that its own file takes back (`blockedBy`, or a run that the judge
saw only a part of) is `uncertain`. Ids are data: no file is ever found or named by
them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from ..canonical import content_key, dump_line
from ..judges.parse import ASSUMPTION_STATUSES
from ..record import field, record, replace
from ..strict_json import strict_loads, why_unreadable
from ..unit import UNROUTED
from ..verdict import (
    BLOCKED_KINDS,
    Assumption,
    BlockedBy,
    Ref,
    Result,
    Verdict,
    not_applicable,
    uncertain,
)
from .verdict_schema import VERDICT_FILE_SCHEMA, VERDICT_SCHEMA

MAX_FILE: Final = 16 * 1024 * 1024
CONTRACT: Final = "contract"
NO_REASON: Final = (
    "the judge's file says `na` and gives no reason, so it counts as open"
)
TASK_ANSWER: Final = "task answer"

_IDS: Final = ("trajectoryId", "trajectory", "trace_id", "traceId", "trajectory_id")
_CRITERION_IDS: Final = ("criterionId", "criterion_id", "criterion", "id")
_MODELS: Final = ("judgeModel", "judge_model", "model")
_RESULTS: Final[Mapping[str, Result]] = {
    "pass": "pass",
    "fail": "fail",
    "uncertain": "uncertain",
    "indeterminate": "uncertain",
    "na": "na",
    "n/a": "na",
}
_FILE_KEYS: Final = frozenset(VERDICT_FILE_SCHEMA["properties"])
_ENTRY_KEYS: Final = frozenset(VERDICT_SCHEMA["properties"])


@record(kw_only=True)
class VerdictEntry:
    """One verdict of a file. The ids are empty in the answer to a task.

    `packet_sha256` is that of the packet which the judge says it judged, where it does.
    """

    trajectory_id: str
    criterion_id: str
    verdict: Verdict
    model: str | None
    file: str
    notes: tuple[str, ...] = ()
    taken_back: BlockedBy | None = None
    packet_sha256: str | None = None

    def digest(self, pair: tuple[str, str]) -> str:
        """Return the content hash of what was said of a unit, whatever the file is."""
        return content_key(*pair, repr((self.verdict, self.model)))


@record(frozen=False)
class FileReading:
    """What one file held. `dialect` is CONTRACT or names what departs from it.

    `contested` are the (trajectory, criterion) of verdicts that were refused, None
    for every criterion; `unread` is the whole of a file that could not be read.
    """

    file: str
    dialect: str = CONTRACT
    entries: list[VerdictEntry] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    contested: list[tuple[str, str | None]] = field(default_factory=list)
    unread: bytes = b""


def read_verdict_file(data: bytes, *, name: str) -> FileReading:
    """Return what a verdict file holds, whatever its dialect. Never raises.

    `name` is the file's own, for messages only.
    """
    reading = FileReading(name)
    reader = _Reader(reading)
    if len(data) > MAX_FILE:
        reader.problem(f"larger than {MAX_FILE // 1024 // 1024} MiB")
        reading.unread = data
        return reading
    if data.startswith(b"\xef\xbb\xbf"):
        reader.departs("a byte order mark")
    try:
        parsed = strict_loads(data.decode("utf-8-sig"))
        reader.parsed = True
        reader.read(parsed)
    except (ValueError, RecursionError) as error:
        reader.problem(why_unreadable(error))
    if not reader.parsed:
        reading.unread = data
    reading.dialect = "; ".join(reader.departures) or reader.base
    return reading


def _packet_of(data: Mapping[str, Any]) -> str | None:
    """Return the SHA-256 that a judge copied from its dispatch, or None."""
    context = data.get("context")
    copied = context.get("packetSha256") if isinstance(context, dict) else None
    return copied.strip().lower() if isinstance(copied, str) else None


class _Reader:
    def __init__(self, reading: FileReading) -> None:
        self.reading = reading
        self.base = CONTRACT
        self.departures: dict[str, None] = {}
        self.model: str | None = None
        self.packet: str | None = None
        self.parsed = False

    def problem(self, what: str) -> None:
        self.reading.problems.append(f"{self.reading.file}: {what}")

    def departs(self, how: str) -> None:
        self.departures.setdefault(how)

    def read(self, data: Any) -> None:
        if isinstance(data, list):
            self.departs("an array of trajectories")
            if not data:
                self.problem("an empty array")
            for index, item in enumerate(data):
                if isinstance(item, dict):
                    self.trajectory(item, f"[{index}]")
                else:
                    self.problem(f"[{index}] is no object")
        elif not isinstance(data, dict):
            self.problem("neither an object nor an array of objects")
        elif _first(data, _IDS) is not None:
            self.trajectory(data, "")
        elif "critique" in data and ("result" in data or "verdict" in data):
            self.task_answer(data)
        elif data and all(_is_judged(value) for value in data.values()):
            self.departs("a map of trajectories")
            for trajectory_id, item in data.items():
                self.trajectory({"trajectoryId": trajectory_id, **item}, "")
        else:
            self.problem("not a verdict file: it names no trajectory")

    def trajectory(self, data: dict[str, Any], place: str) -> None:
        key = _first(data, _IDS)
        trajectory_id = data.get(key) if key is not None else None
        if not isinstance(trajectory_id, str) or not trajectory_id:
            self.problem(f"{place} names no trajectory".lstrip())
            return
        if key != "trajectoryId":
            self.departs(f"`{key}` for `trajectoryId`")
        named = {data[k] for k in _IDS if isinstance(data.get(k), str)}
        if len(named) > 1:
            self.problem(
                "names several trajectories for one verdict, so it counts for none: "
                + ", ".join(repr(name[:80]) for name in sorted(named))
            )
            self.reading.contested.extend((name, None) for name in sorted(named))
            return
        if not self._pinned(data, f"{trajectory_id[:80]!r}"):
            self.reading.contested.append((trajectory_id, None))
            return
        self.packet = _packet_of(data)
        extra = [k for k in data if k not in _FILE_KEYS and k not in _KNOWN_ALIASES]
        if extra:
            self.departs("extra keys")
        read: dict[str, VerdictEntry] = {}
        refused: set[str] = set()
        for criterion_id, item in self._items(data, trajectory_id):
            entry = self._entry(item, trajectory_id, criterion_id)
            if entry is None:
                refused.add(criterion_id)
                continue
            earlier = read.setdefault(criterion_id, entry)
            if earlier.verdict.result != entry.verdict.result:
                self._refuse(
                    trajectory_id,
                    criterion_id,
                    f"stands twice, as `{earlier.verdict.result}` and as "
                    f"`{entry.verdict.result}`",
                )
                refused.add(criterion_id)
        self._dense_map(data, trajectory_id, read, refused)
        partial = self._partial(data)
        self.reading.entries.extend(
            _as_it_counts(entry, partial)
            for key, entry in read.items()
            if key not in refused
        )

    def _partial(self, data: Mapping[str, Any]) -> BlockedBy | None:
        """Return why the judge could not see the whole run, by its own word."""
        fidelity = data.get("fidelity")
        if fidelity is None:
            return None
        if isinstance(fidelity, dict):
            if fidelity.get("complete", True) is True:
                return None
            reason = fidelity.get("reason")
            words = f": {reason}" if isinstance(reason, str) and reason else ""
        else:
            words = f": its `fidelity` is {_short(fidelity)}"
        return BlockedBy(
            "scope", f"incomplete trace: the judge did not see the whole run{words}"
        )

    def task_answer(self, data: dict[str, Any]) -> None:
        self.base = TASK_ANSWER
        if not self._pinned(data, "the answer", asked=False):
            return
        entry = self._entry(data, "", "")
        if entry is not None:
            self.reading.entries.append(_as_it_counts(entry, self._partial(data)))

    def _pinned(
        self, data: Mapping[str, Any], what: str, *, asked: bool = True
    ) -> bool:
        """Take in model and temperature; False where the verdicts can't count."""
        key = _first(data, _MODELS)
        self.model = None
        if key is not None:
            self.model = _model_of(data)
            if key != "judgeModel" and asked:
                self.departs(f"`{key}` for `judgeModel`")
            models = {data[k] for k in _MODELS if isinstance(data.get(k), str)}
            if len(models) > 1:
                names = ", ".join(repr(name[:80]) for name in sorted(models))
                self.problem(f"{what} names several models: {names}")
                return False
        if self.model is None and asked:
            self.departs("no model")
        if "temperature" not in data:
            if asked:
                self.departs("no temperature")
            return True
        temperature = data["temperature"]
        if isinstance(temperature, bool) or temperature != 0:
            self.problem(
                f"{what} was judged at temperature {dump_line(temperature)[:20]}, "
                "not 0: its verdicts are left out"
            )
            return False
        return True

    def _items(
        self, data: Mapping[str, Any], trajectory_id: str
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        found = False
        for key in ("verdicts", "criteria"):
            items = data.get(key)
            if items is None:
                continue
            found = True
            if key == "criteria":
                self.departs("`criteria` for `verdicts`")
            if isinstance(items, dict):
                self.departs(f"`{key}` as a map")
                pairs: Iterable[tuple[Any, Any]] = items.items()
            elif isinstance(items, list):
                pairs = [(self._criterion_id(item), item) for item in items]
            else:
                self.problem(f"{trajectory_id[:80]!r}: `{key}` is no list")
                self.reading.contested.append((trajectory_id, None))
                continue
            for criterion_id, item in pairs:
                if not isinstance(criterion_id, str) or not criterion_id:
                    self.problem(f"{trajectory_id[:80]!r}: a verdict of no criterion")
                elif not isinstance(item, dict):
                    self._refuse(trajectory_id, criterion_id, "is no object")
                elif item.get("criterionId", criterion_id) != criterion_id:
                    self._refuse(
                        trajectory_id,
                        criterion_id,
                        f"says of itself that it is on {_short(item['criterionId'])}",
                    )
                else:
                    yield criterion_id, item
        if not found and "denseMap" not in data:
            self.problem(f"{trajectory_id[:80]!r}: no verdicts")

    def _criterion_id(self, item: Any) -> Any:
        if not isinstance(item, dict):
            return None
        key = _first(item, _CRITERION_IDS)
        if key is not None and key != "criterionId":
            self.departs(f"`{key}` for `criterionId`")
        return None if key is None else item[key]

    def _dense_map(
        self,
        data: Mapping[str, Any],
        trajectory_id: str,
        read: dict[str, VerdictEntry],
        refused: set[str],
    ) -> None:
        dense = data.get("denseMap")
        if dense is None:
            return
        if not isinstance(dense, dict):
            self.problem(f"{trajectory_id[:80]!r}: `denseMap` is no object")
            self.reading.contested.append((trajectory_id, None))
            return
        rationale = data.get("naRationale")
        for criterion_id, word in dense.items():
            result = self._result(word)
            entry = read.get(criterion_id)
            if result is None:
                self._refuse(
                    trajectory_id, criterion_id, f"denseMap says {_short(word)}"
                )
                refused.add(criterion_id)
            elif entry is not None:
                if entry.verdict.result != result:
                    self._refuse(
                        trajectory_id,
                        criterion_id,
                        f"`verdicts` say `{entry.verdict.result}`, `denseMap` says "
                        f"`{result}`",
                    )
                    refused.add(criterion_id)
            elif criterion_id in refused:
                continue
            elif result == "na":
                why = rationale
                if isinstance(rationale, dict):
                    why = rationale.get(criterion_id)
                verdict = uncertain(NO_REASON)
                if isinstance(why, str) and why.strip():
                    verdict = not_applicable(why)
                read[criterion_id] = VerdictEntry(
                    trajectory_id=trajectory_id,
                    criterion_id=criterion_id,
                    verdict=verdict,
                    model=self.model,
                    file=self.reading.file,
                    packet_sha256=self.packet,
                )
            else:
                self._refuse(
                    trajectory_id,
                    criterion_id,
                    f"`denseMap` says `{result}`, but there is no critique",
                )

    def _refuse(self, trajectory_id: str, criterion_id: str, why: str) -> None:
        place = f"{trajectory_id[:80]!r}, {criterion_id[:80]!r}: "
        self.problem((place if trajectory_id else "") + why)
        self.reading.contested.append((trajectory_id, criterion_id))

    # -- one verdict ------------------------------------------------------------

    def _entry(
        self, item: dict[str, Any], trajectory_id: str, criterion_id: str
    ) -> VerdictEntry | None:
        fault = self._entry_fault(item)
        if fault is not None:
            self._refuse(trajectory_id, criterion_id, fault)
            return None
        result_key = "result" if "result" in item else "verdict"
        critique_key = "critique" if "critique" in item else "note"
        result = self._result(item.get(result_key))
        critique = item.get(critique_key)
        if result is None:
            word = item.get(result_key)
            self._refuse(trajectory_id, criterion_id, f"no result: {_short(word)}")
            return None
        if not isinstance(critique, str) or not critique.strip():
            self._refuse(trajectory_id, criterion_id, "no critique")
            return None
        if result_key != "result":
            self.departs(f"`{result_key}` for `result`")
        if critique_key != "critique":
            self.departs(f"`{critique_key}` for `critique`")
        order = list(item)
        if order.index(result_key) < order.index(critique_key):
            self.departs("the result before the critique")
        if not set(item) <= _ENTRY_KEYS | _ENTRY_ALIASES:
            self.departs("extra keys")
        notes: list[str] = []
        blocked_by = self._blocked_by(item.get("blockedBy"))
        if result == "uncertain" and blocked_by is None:
            notes.append(UNROUTED)
        verdict = Verdict(
            result=result,
            critique=critique,
            refs=self._refs(item.get("refs")),
            blocked_by=blocked_by if result == "uncertain" else None,
            confidence=self._confidence(item.get("confidence")),
            assumptions=self._assumptions(item.get("assumptions")),
        )
        return VerdictEntry(
            trajectory_id=trajectory_id,
            criterion_id=criterion_id,
            verdict=verdict,
            model=self.model or _model_of(item),
            file=self.reading.file,
            notes=tuple(notes),
            taken_back=None if result == "uncertain" else blocked_by,
            packet_sha256=self.packet,
        )

    def _entry_fault(self, item: Mapping[str, Any]) -> str | None:
        """Return why a verdict can't count whatever its result is, or None."""
        if "result" in item and "verdict" in item:
            both = [item["result"], item["verdict"]]
            words = [_RESULTS.get(w.strip().lower()) for w in both if _is_text(w)]
            if len(words) < 2 or words[0] != words[1]:
                return f"its `result` is {_short(both[0])}, its `verdict` {_short(both[1])}"
        temperature = item.get("temperature", 0)
        if isinstance(temperature, bool) or temperature != 0:
            return f"judged at temperature {_short(temperature)}, not 0"
        model = _model_of(item)
        if model is not None and self.model not in (None, model):
            return f"judged by {model[:80]!r}, but its file says {self.model[:80]!r}"
        confidence = item.get("confidence")
        if isinstance(confidence, int | float) and not 0 <= confidence <= 1:
            return f"its confidence is {_short(confidence)}, not from 0 to 1"
        for index, ref in enumerate(_listed(item.get("refs"))):
            if not isinstance(ref, str | dict):
                return f"refs[{index}] is neither an object nor a text"
            if isinstance(ref, dict) and "value" not in ref:
                return f"refs[{index}] cites no value"
        return None

    def _result(self, word: Any) -> Result | None:
        if not isinstance(word, str):
            return None
        result = _RESULTS.get(word.strip().lower())
        if result is not None and word != result:
            self.departs(f"results such as `{word.strip()[:20]}`")
        return result

    def _confidence(self, value: Any) -> float | None:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number and 0 <= value <= 1:
            return float(value)
        self.departs("no confidence" if value is None else "a confidence in words")
        return None

    def _refs(self, items: Any) -> tuple[Ref, ...]:
        if items is not None and not isinstance(items, list):
            self.departs("refs that are no list")
        refs = []
        for item in _listed(items):
            if isinstance(item, str):
                # Cites a text and no place: it may stand anywhere in the run.
                self.departs("refs as strings")
                refs.append(Ref("", "", item))
            else:
                if not all(isinstance(item.get(k), str) for k in ("obs", "path")):
                    self.departs("refs without obs or path")
                refs.append(
                    Ref(
                        _plain_text(item.get("obs")),
                        _plain_text(item.get("path")),
                        self._ref_value(item.get("value")),
                    )
                )
        return tuple(refs)

    def _ref_value(self, value: Any) -> str:
        if not isinstance(value, str):
            self.departs("ref values that are not texts")
        return _plain_text(value)

    def _assumptions(self, items: Any) -> tuple[Assumption, ...]:
        if not isinstance(items, list):
            return ()
        found = []
        for item in items:
            data = item if isinstance(item, dict) else {"text": item}
            status = data.get("status")
            if status not in ASSUMPTION_STATUSES:
                self.departs("assumptions of another status")
                status = "unverified"
            kind = data.get("kind")
            found.append(
                Assumption(
                    _plain_text(data.get("text")),
                    cast(Any, status),
                    cast(Any, kind) if kind in BLOCKED_KINDS else None,
                )
            )
        return tuple(found)

    def _blocked_by(self, data: Any) -> BlockedBy | None:
        if not data:
            return None
        kind = data.get("kind") if isinstance(data, dict) else None
        if isinstance(kind, str) and kind in BLOCKED_KINDS:
            return BlockedBy(cast(Any, kind), _plain_text(data.get("text")))
        self.departs("blockedBy of another kind")
        text = data.get("text") if isinstance(data, dict) else data
        return BlockedBy("scope", _plain_text(text))


_KNOWN_ALIASES: Final = frozenset((*_IDS, *_MODELS, "criteria"))
_ENTRY_ALIASES: Final = frozenset(
    (*_CRITERION_IDS, *_MODELS, "verdict", "note", "temperature")
)


def _listed(refs: Any) -> list[Any]:
    """Return refs as a list: one that stands alone is a list of one."""
    if refs is None:
        return []
    return refs if isinstance(refs, list) else [refs]


def _first(data: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    return next((key for key in keys if key in data), None)


def _as_it_counts(entry: VerdictEntry, partial: BlockedBy | None) -> VerdictEntry:
    """Return the entry, `uncertain` where its own file takes its result back."""
    blocked = entry.taken_back or partial
    verdict = entry.verdict
    if blocked is None or verdict.result == "uncertain":
        return entry
    return replace(
        entry,
        verdict=replace(verdict, result="uncertain", blocked_by=blocked),
        notes=(
            *entry.notes,
            f"downgraded from {verdict.result}: its own file says {blocked.text}",
        ),
    )


def _model_of(data: Mapping[str, Any]) -> str | None:
    key = _first(data, _MODELS)
    model = None if key is None else data[key]
    return model if isinstance(model, str) and model.strip() else None


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_judged(value: Any) -> bool:
    return isinstance(value, dict) and bool({"criteria", "verdicts"} & set(value))


def _plain_text(value: Any) -> str:
    return value if isinstance(value, str) else dump_line(value)


def _short(value: Any) -> str:
    return dump_line(value)[:60]
