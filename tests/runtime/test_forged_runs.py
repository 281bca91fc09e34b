"""A run's folder that somebody edited is refused with a word, or shown; never a crash."""

import copy
import json
import random
from collections.abc import Iterator
from typing import Any, Final

import pytest
from helix_runtime import cli
from helix_runtime.folder import SuiteFolder
from helix_runtime.scorecard import masked_digest, read_scorecard
from helix_runtime.scorecard_shape import shape_fault
from hypothesis import given
from hypothesis import strategies as st
from support.runs import case, trace
from support.suite_folder import make_suite_folder, write_traces

JUNK: Final[list[Any]] = [
    *(None, True, 0, -1, 1.5, 10**400, float("nan"), "", "x", "\ud800"),
    *([], [1], [None], [[]], [{}], {}, {"a": 1}),
]
Place = tuple[str | int, ...]


def places(data: Any, at: Place = ()) -> Iterator[Place]:
    inner: Any = ()
    if isinstance(data, dict):
        inner = data.items()
    elif isinstance(data, list):
        inner = enumerate(data[:3])
    for key, value in inner:
        yield (*at, key)
        yield from places(value, (*at, key))


def forged(data: Any, place: Place, junk: Any) -> Any:
    """Return a copy with something else, or (KeyError as junk) nothing, at a place."""
    held = copy.deepcopy(data)
    *path, last = place
    holder = held
    for key in path:
        holder = holder[key]
    if junk is KeyError:
        del holder[last]
    else:
        holder[last] = junk
    return held


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> SuiteFolder:
    """Return a suite with one finished run, `first`, of passes, fails and open units."""
    root = tmp_path_factory.mktemp("forged")
    fails = (
        "check('wrong', 'It is.')(lambda c, t: Verdict(result='fail', critique='No.'))"
    )
    criteria = f"CODE, Criterion(check={fails}), judged()"
    folder = make_suite_folder(root / "suite", criteria=criteria, cases=[case()])
    traces = write_traces(root / "traces.jsonl", [trace("case-1-r0"), trace("other")])
    words = ("run", "--traces", traces, "--no-judge", "-q")
    assert called(folder, *words, "--out", folder.runs / "first") == 1
    return folder


def called(folder: SuiteFolder, *words: Any) -> int:
    package = folder.root / folder.package / "__main__.py"
    return cli.main(str(package), [str(word) for word in words])


READERS: Final[list[tuple[str, ...]]] = [
    ("report", "first"),
    ("requests", "first"),
    ("loop", "--elapsed", "10"),
    ("audit",),
    ("stability",),
    ("validate", "--run", "first"),
    ("agreement", "first", "first"),
    ("derive", "--run", "first", "--dry-run"),
    ("sample", "--run", "first"),
    ("profile", "--run", "first"),
    ("labels", "--run", "first"),
]


def test_every_reader_refuses_a_forged_run_or_shows_it(
    home: SuiteFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    run = home.runs / "first"
    kept = {path.name: path.read_bytes() for path in run.iterdir()}
    chance = random.Random(7)
    for name in ("scorecard.json", "run.json", "units.jsonl", "traces.jsonl"):
        for turn in range(40):
            (run / name).write_bytes(_another(kept[name], name, chance))
            words = READERS[turn % len(READERS)]
            code = called(home, *words)
            said = capsys.readouterr()
            held = f"{name} {words}: {(run / name).read_bytes()[:2000]!r} {said.err}"
            assert code in (0, 1, 2, 3), held
            assert "Traceback" not in said.err + said.out, held
            for path in run.iterdir():
                path.unlink()
            for other, content in kept.items():
                (run / other).write_bytes(content)


def _another(content: bytes, name: str, chance: random.Random) -> bytes:
    """Return what a file holds, cut short or with something else in it."""
    if chance.random() < 0.15:
        return content[: chance.randrange(len(content))]
    lines = [content] if name.endswith(".json") else content.splitlines()
    at = chance.randrange(len(lines))
    data = json.loads(lines[at])
    place = chance.choice(list(places(data)))
    data = forged(data, place, chance.choice([KeyError, KeyError, *JUNK]))
    if name == "scorecard.json":
        try:
            data["digest"] = masked_digest(data)
        except (KeyError, TypeError, ValueError):
            pass  # nothing that could be forged has a digest
    lines[at] = json.dumps(data).encode()
    return b"\n".join(lines) + b"\n"


def test_a_forged_scorecard_is_refused_with_the_place_and_what_to_do(
    home: SuiteFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    path = home.runs / "first" / "scorecard.json"
    kept = path.read_bytes()
    card = json.loads(kept)
    del card["criteria"][0]["rate"]
    card["gate"]["verdict"] = "green"
    card["digest"] = masked_digest(card)
    path.write_text(json.dumps(card), "utf-8")
    try:
        # The audit leaves the run out and goes on: it looks at all there is.
        for words, code in ((("report",), 2), (("requests",), 2), (("audit",), 1)):
            assert called(home, *words) == code
            said = capsys.readouterr().err
            assert said.count("scorecard.json: edited since it was written: ") == 1
            assert "remove it" in said or "run again" in said
            assert "`gate.verdict` must be one of pass, fail, incomplete" in said
            assert "`criteria.0.rate` must be there" in said
    finally:
        path.write_bytes(kept)


def test_a_scorecard_as_it_was_written_has_its_shape(home: SuiteFolder) -> None:
    assert shape_fault(read_scorecard(home.runs / "first" / "scorecard.json")) is None


@given(st.data())
def test_what_is_no_scorecard_has_a_fault_that_names_the_place(
    home: SuiteFolder, data: st.DataObject
) -> None:
    card = read_scorecard(home.runs / "first" / "scorecard.json")
    place = data.draw(st.sampled_from(list(places(card))))
    wrong = shape_fault(forged(card, place, object()))
    free = place == ("schema",) or place[-1] in ("status", "kind") and len(place) == 5
    assert free or wrong is not None
    assert wrong is None or str(place[0]) in wrong
