"""`requests --responses`: what the engineer answered to the requests of a run."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from ..folder import SuiteFolder
from ..improving.change_requests import FILE_NAME, SCHEMA, Issued, read_issued
from ..improving.finished_run import FinishedRun
from ..improving.responses import Response, read_responses
from ..refusal import Refusal
from ..safe_text import printable
from .requests import WIDTH

AMENDED: Final = 0
ALL_REJECTED: Final = 1
UNANSWERED: Final = 3


def read_answers(args: Namespace, folder: SuiteFolder, run: FinishedRun) -> int:
    """Show what was answered to a run's requests, and return what it comes to.

    0 where each request has an answer and something was amended, 1 where all were
    rejected, 3 where some have none.
    """
    for name in ("swing", "since", "remedy", "out"):
        if getattr(args, name) is not None:
            raise Refusal(f"--responses only reads: leave --{name} out")
    issued = _issued(folder, run)
    path = Path(args.responses)
    try:
        found = read_responses(path, known=list(issued.targets))
    except OSError as error:
        raise Refusal(f"{path}: can't be read: {error.strerror or error}") from error
    if found.problems:
        raise Refusal(*found.problems)
    by_id = {response.request_id: response for response in found.responses}
    open_ids = [name for name in issued.targets if name not in by_id]
    amended = [one for one in found.responses if one.status == "amended"]
    code = AMENDED if amended else ALL_REJECTED
    if open_ids:
        code = UNANSWERED
    notes = list(_notes(issued, amended))
    if args.json:
        print(
            json.dumps(
                {
                    "schema": SCHEMA,
                    "run": run.name,
                    "swing": issued.swing,
                    "responses": [one.to_record() for one in found.responses],
                    "unanswered": open_ids,
                    "evaluateAgain": code == AMENDED,
                    "notes": notes,
                }
            )
        )
        return code
    for line in _answer_lines(folder, run, issued, by_id, open_ids, code):
        print(printable(line))
    for note in notes:
        print(printable(f"note: {note}"))
    return code


def _issued(folder: SuiteFolder, run: FinishedRun) -> Issued:
    path = run.folder / FILE_NAME
    write = f"`python -m {folder.package} requests {run.name}` writes them"
    try:
        issued = read_issued(path)
    except FileNotFoundError:
        raise Refusal(f"{run.name} has no requests yet: {write}") from None
    except OSError as error:
        raise Refusal(f"{path}: can't be read: {error.strerror or error}") from error
    except ValueError as error:
        raise Refusal(f"{path}: {error}; {write}") from error
    if issued.decision != run.decision:
        raise Refusal(f"{path}: the run was decided anew since; {write}")
    return issued


def _notes(issued: Issued, amended: list[Response]) -> Iterator[str]:
    for one in amended:
        target = one.amended_target or issued.targets[one.request_id]
        if target == "agentspec" and one.rebuilt is not True:
            yield (
                f"{one.request_id}: the agentspec was amended and the subject was not "
                "built anew: build it, and generate the suite again, before the next "
                "swing"
            )


def _answer_lines(
    folder: SuiteFolder,
    run: FinishedRun,
    issued: Issued,
    by_id: Mapping[str, Response],
    open_ids: list[str],
    code: int,
) -> Iterator[str]:
    for name in issued.targets:
        response = by_id.get(name)
        if response is None:
            yield f"{name}  unanswered"
            continue
        target = response.amended_target or issued.targets[name]
        told = f" ({target})" if response.status == "amended" else ""
        yield f"{name}  {response.status}{told}: {printable(response.note, WIDTH)}"
    if open_ids:
        yield f"{len(open_ids)} of {len(issued.targets)} requests have no answer yet"
    elif code == AMENDED:
        yield f"next: python -m {folder.package} run --repeats 5 (swing {issued.swing + 1})"
    else:
        yield (
            "every request was rejected: nothing has changed, so another swing would "
            f"show what {run.name} shows"
        )
