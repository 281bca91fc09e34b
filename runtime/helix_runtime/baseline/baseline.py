"""The baseline of a run: an earlier run of the suite, by its scorecard and its units.

Nothing else of its folder is read, so the two files can be kept in git.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from ..canonical import content_key
from ..folder import SuiteFolder
from ..journal import UNITS
from ..record import record
from ..refusal import Refusal, close_match
from ..scorecard import masked_digest, read_scorecard
from ..selection import NARROWED
from ..strict_json import why_unreadable
from ..suite import Suite
from .side import EarlierRuntime, Side, read_side

CARD: Final = "scorecard.json"
MAX_CARD: Final = 64 << 20
"""Bytes of the largest scorecard that is read."""
_AGAIN: Final = (
    "run the version that you compare with again, or judge its recorded runs again "
    "(`run --traces` and its traces.jsonl), and compare with that run"
)


@record(kw_only=True)
class Baseline:
    """An earlier run to compare with.

    `digest` is that of its scorecard as the run gave it, whatever is known of its judges
    since; `content` is the content hash of all that is compared.
    """

    folder: Path
    digest: str
    content: str
    card: Mapping[str, Any]
    side: Side

    @cached_property
    def criteria(self) -> Mapping[str, Mapping[str, Any]]:
        """The criteria of its scorecard, by id."""
        return {one["criterionId"]: one for one in self.card["criteria"]}

    def reservations(self, suite: Suite) -> list[str]:
        """Return what a reader must know who sees a gate that stands on it."""
        if not any(criterion.passes.kind == "baseline" for criterion in suite.criteria):
            return []
        return [
            f"the baseline was narrowed to {note.removeprefix(NARROWED)}: what it left "
            "out does not count"
            for note in self.card["run"].get("notes") or ()
            if note.startswith(NARROWED)
        ]


def named_baseline(
    name: str | None, settings_name: str | None, folder: SuiteFolder
) -> Path | None:
    """Return the folder of the baseline that is named, None where none is.

    `name` is of the command line: a run's id or a path; `settings_name`, of
    `evals.toml`, is a path from the suite's folder, or a run's id. Raises Refusal where
    there is nothing of the kind.
    """
    if name:
        places, where = (folder.runs / name, Path(name)), f"--baseline {name}"
    elif settings_name:
        places = (folder.root / settings_name, folder.runs / settings_name)
        where = f"evals.toml: `baseline` {settings_name!r}"
    else:
        return None
    for place in places:
        if (place / CARD).is_file() or (place / UNITS).is_file():
            return place
    known = [path.parent.name for path in folder.runs.glob(f"*/{CARD}")]
    raise Refusal(
        f"{where}: neither a run in runs/ nor a folder with {CARD} and {UNITS}"
        f"{close_match(name or settings_name or '', sorted(known))}"
    )


def read_baseline(place: Path, suite: Suite) -> Baseline:
    """Return the baseline in a folder. `suite` is the one that is compared.

    Raises Refusal where a file is missing, torn or edited, where they are not of one run,
    and where the run is of another subject or another suite.
    """
    card = _read_card(place / CARD)
    whose = card["subject"].get("id")
    if whose != suite.subject.id:
        raise Refusal(
            f"the baseline {place} is a run of another subject, {str(whose)[:80]!r}, not "
            f"of {suite.subject.id!r}: name a run of this suite"
        )
    known = {one["criterionId"] for one in card["criteria"]}
    if not known & {criterion.id for criterion in suite.criteria}:
        raise Refusal(
            f"the baseline {place} is a run of another suite: it has none of this one's "
            "criteria; name a run of this suite"
        )
    side = _read_side(place / UNITS)
    _hold_together(place, card, side)
    digest = _as_it_was(card)
    return Baseline(
        folder=place,
        digest=digest,
        content=content_key(digest, side.digest),
        card=card,
        side=side,
    )


def _read_card(path: Path) -> dict[str, Any]:
    try:
        if not path.is_file():  # a pipe would keep its reader for ever
            raise FileNotFoundError
        if path.stat().st_size > MAX_CARD:
            raise Refusal(f"the baseline's {path}: is larger than {MAX_CARD >> 20} MiB")
        card = read_scorecard(path)
        if masked_digest(card) != card["digest"]:
            raise ValueError("its digest is not that of its content: it was edited")
    except FileNotFoundError:
        raise Refusal(
            f"the baseline's {path} is missing: a baseline is {CARD} and {UNITS} of a "
            "finished run; copy both"
        ) from None
    except OSError as error:
        raise Refusal(f"the baseline's {path}: {error.strerror or error}") from error
    except ValueError as error:
        said = why_unreadable(error).removeprefix(f"{path.name}: ")
        raise Refusal(f"the baseline's {path}: {said}: {_MEND}") from error
    return card


_MEND: Final = "copy it again from the run, or name another run"


def _read_side(path: Path) -> Side:
    try:
        if not path.is_file():
            raise FileNotFoundError
        return read_side(path)
    except FileNotFoundError:
        raise Refusal(
            f"the baseline's {path} is missing: a baseline is {CARD} and {UNITS} of a "
            "finished run; copy both"
        ) from None
    except OSError as error:
        raise Refusal(f"the baseline's {path}: {error.strerror or error}") from error
    except EarlierRuntime as error:
        raise Refusal(
            f"the baseline's {path} is of an earlier runtime, which did not keep what a "
            f"unit was decided by: {_AGAIN}"
        ) from error
    except ValueError as error:
        raise Refusal(f"the baseline's {path.parent}/{error}: {_MEND}") from error


def _hold_together(place: Path, card: Mapping[str, Any], side: Side) -> None:
    """Raise Refusal where the units are not those that the scorecard counts.

    Nor is a copy of a unit one of them: of a case there are as many as it was run.
    """
    run = card["run"]
    most = sys.maxsize if run["target"] is None else int(run["repeats"])
    for one in card["criteria"]:
        name = one["criterionId"]
        counts = one["counts"]
        told = (counts["pass"], counts["fail"], counts["uncertain"] + counts["error"])
        cases = side.cases.get(name, {}).values()
        if side.counts(name) != told or any(sum(of) > most for _, of in cases):
            raise Refusal(
                f"the baseline {place}: its {UNITS} and its {CARD} are not of one run "
                f"(they count `{str(name)[:80]}` differently): copy both again from one "
                "finished run"
            )


def _as_it_was(card: Mapping[str, Any]) -> str:
    """Return the digest that the scorecard had before labels told of its judges."""
    if card.get("pin") is None:
        return str(card["digest"])
    from ..trust.known import Trust, with_trust

    return str(with_trust(card, Trust(blocks={}, notes=()))["digest"])
