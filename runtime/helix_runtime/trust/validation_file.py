"""`validation.json`: how the suite's judges did against people's labels.

`validate` writes it, runs read it. It holds counts, and whose they are: the judge, what
all judges are told, and the pinned models. `cases` counts cases by the true passes, false
fails, true fails and false passes of their runs ("1/0/0/0"). What a judge was worth is
worked out anew from the counts, so nothing in the file can call it better than it was.
It also remembers how often the test split was looked at, which is meant to be once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from ..canonical import escape_surrogates
from ..labels.splits import Split
from ..record import field, record
from .correction import Outcome
from .validation import Measurement

FILE_NAME: Final = "validation.json"
SCHEMA: Final = "helix-validation/1"
MAX_CASES: Final = 1_000_000
"""No more can have been labelled; each is drawn again for the interval."""

_COUNTS: Final = (
    "truePass",
    "falseFail",
    "trueFail",
    "falsePass",
    "agreedAbstain",
    "overAbstain",
    "underAbstain",
)


@record(kw_only=True)
class WhoJudges:
    """Who judged a criterion: another one of these is another judge.

    `judge` is the digest of its definitions and examples, `prompt` that of the rules
    that every judge is told; `pin` and `verifier` are the records of the models, and
    `verifies` the results that the verifier is asked about. The subject is no part of
    it: a new version of it is judged by the same judge.
    """

    judge: str
    prompt: str
    pin: Mapping[str, Any]
    verifier: Mapping[str, Any] | None = None
    verifies: tuple[str, ...] = ()

    def differs(self, now: WhoJudges) -> list[str]:
        """Return what is another thing `now`, in words; nothing where it is the same."""
        found = []
        if self.judge != now.judge:
            found.append("the judge was edited")
        if self.prompt != now.prompt:
            found.append("the rules that all judges are told were changed")
        if self.pin != now.pin:
            found.append(f"{_named(now.pin)} judges, and no longer {_named(self.pin)}")
        if self.verifier != now.verifier:
            found.append("the second judge is another one")
        elif self.verifies != now.verifies:
            found.append("the second judge is asked about other verdicts")
        return found


def _named(pin: Mapping[str, Any]) -> str:
    sampled = " at the model's own temperature" if pin["temperature"] is None else ""
    return f"{pin['provider']}:{pin['model']}{sampled}"


@record(kw_only=True)
class Validated:
    """One judge of one criterion, measured on one split."""

    criterion_id: str
    who: WhoJudges
    measurement: Measurement


@record(kw_only=True)
class ValidationFile:
    """What the file holds. `test_used` is criterion → how often test was looked at."""

    entries: tuple[Validated, ...] = ()
    test_used: Mapping[str, int] = field(default_factory=dict)

    def having(self, measured: Iterable[Validated]) -> ValidationFile:
        """Return it with more entries, each in place of one of its judge and split."""
        entries = {_key(one): one for one in self.entries}
        used = dict(self.test_used)
        for one in measured:
            entries[_key(one)] = one
            if one.measurement.split == "test":
                used[one.criterion_id] = used.get(one.criterion_id, 0) + 1
        return ValidationFile(
            entries=tuple(entries[key] for key in sorted(entries)),
            test_used=dict(sorted(used.items())),
        )

    def of(self, criterion_id: str) -> Sequence[Validated]:
        """Return all that is known of a criterion's judges."""
        return self._by_criterion.get(criterion_id, ())

    @cached_property
    def _by_criterion(self) -> Mapping[str, Sequence[Validated]]:
        found: dict[str, list[Validated]] = {}
        for one in self.entries:
            found.setdefault(one.criterion_id, []).append(one)
        return found


def _key(one: Validated) -> tuple[str, ...]:
    who = one.who
    return (
        one.criterion_id,
        one.measurement.split,
        who.judge,
        who.prompt,
        json.dumps(who.pin, sort_keys=True),
        json.dumps(who.verifier, sort_keys=True),
        *who.verifies,
    )


def read_validation(path: Path) -> ValidationFile:
    """Return what the file holds; a missing one holds nothing.

    Raises OSError where it can't be read, ValueError where it is none.
    """
    from ..strict_json import strict_loads

    try:
        data = strict_loads(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        return ValidationFile()
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise ValueError(f"its schema is not {SCHEMA}")
    entries = data.get("judges")
    used = data.get("testUsed")
    if not isinstance(entries, list) or not isinstance(used, dict):
        raise ValueError("`judges` must be a list and `testUsed` an object")
    found = []
    for number, entry in enumerate(entries):
        try:
            found.append(_validated(entry))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            said = f"{error} is missing" if isinstance(error, KeyError) else error
            raise ValueError(f"judges[{number}]: {said}") from error
    return ValidationFile(
        entries=tuple(found),
        test_used={name: _count(count, name) for name, count in used.items()},
    )


def write_validation(path: Path, held: ValidationFile) -> None:
    """Write the file, at once and whole. Raises OSError."""
    from ..growing.growth import replace_file

    data = {
        "schema": SCHEMA,
        "judges": [_record(one) for one in held.entries],
        "testUsed": dict(held.test_used),
    }
    text = json.dumps(data, ensure_ascii=False, indent=2)
    replace_file(path, (escape_surrogates(text) + "\n").encode())


def _record(one: Validated) -> dict[str, Any]:
    who, found = one.who, one.measurement
    counts = (*found.confusion, found.agreed, found.over, found.under)
    return {
        "criterionId": one.criterion_id,
        "split": found.split,
        "judge": who.judge,
        "prompt": who.prompt,
        "pin": dict(who.pin),
        "verifier": None if who.verifier is None else dict(who.verifier),
        "verifies": list(who.verifies),
        "counts": dict(zip(_COUNTS, counts, strict=True)),
        "cases": {
            "/".join(map(str, outcome)): count
            for outcome, count in found.outcomes.items()
        },
    }


def _validated(entry: Any) -> Validated:
    if not isinstance(entry, dict):
        raise TypeError("it is no object")
    split = entry["split"]
    if split not in ("dev", "test"):
        raise ValueError(f"`split` must be dev or test, not {split!r}")
    counts = [_count(entry["counts"][name], name) for name in _COUNTS]
    measured = Measurement(
        split=_split(split),
        outcomes=dict(sorted(_outcome(*row) for row in entry["cases"].items())),
        agreed=counts[4],
        over=counts[5],
        under=counts[6],
    )
    if list(measured.confusion) != counts[:4]:
        raise ValueError("`counts` and `cases` don't add up: run `validate` again")
    verifier = entry["verifier"]
    return Validated(
        criterion_id=_text(entry["criterionId"], "criterionId"),
        who=WhoJudges(
            judge=_text(entry["judge"], "judge"),
            prompt=_text(entry["prompt"], "prompt"),
            pin=pin_record(entry["pin"]),
            verifier=None if verifier is None else pin_record(verifier),
            verifies=tuple(_text(one, "verifies") for one in entry["verifies"]),
        ),
        measurement=measured,
    )


def _split(name: str) -> Split:
    return "test" if name == "test" else "dev"


def _outcome(key: str, count: Any) -> tuple[Outcome, int]:
    parts = key.split("/")
    if len(parts) != 4 or not all(p.isascii() and p.isdigit() for p in parts):
        raise ValueError(f"`cases`: {key[:40]!r} must read 1/0/0/0")
    tp, fn, tn, fp = (_count(int(part), "cases") for part in parts)
    if not (tp or fn or tn or fp) or not _count(count, "cases"):
        raise ValueError(f"`cases`: {key[:40]!r} counts nothing")
    return (tp, fn, tn, fp), int(count)


def pin_record(data: Any) -> dict[str, Any]:
    """Return a pin of plain data, checked. Raises KeyError, TypeError, ValueError."""
    if not isinstance(data, Mapping):
        raise TypeError("a pin is an object")
    if data["temperature"] not in (0, None):
        raise ValueError("a pin's `temperature` is 0 or null")
    return {
        "provider": _text(data["provider"], "provider"),
        "model": _text(data["model"], "model"),
        "temperature": None if data["temperature"] is None else 0,
    }


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"`{name}` must be a text")
    return value


def _count(value: Any, name: str) -> int:
    if value.__class__ is not int or not 0 <= value <= MAX_CASES:
        shown = repr(value)[:40]
        raise ValueError(
            f"`{name}` must hold whole numbers up to {MAX_CASES}, not {shown}"
        )
    return int(value)
