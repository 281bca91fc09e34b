"""`--baseline` as users type it: where it is found, what is refused, both paths, reports."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from helix_runtime.commands import aggregate, run
from helix_runtime.matrix.packet_index import read_index, verdicts_beside
from helix_runtime.scorecard import masked_digest
from support.live_suite import CHECKS, PACKAGE, LiveSuite, live_suite, rows
from support.runs import case, trace
from support.suite_folder import make_suite_folder, parsed, write_traces

TARGET = """\
import os


def target(case):
    if case.id in os.environ.get("BAD", "").split():
        return "no"
    return "It is " + case.query[8:-1] + "."
"""
CRITERIA = (
    "Criterion(check=checks.exact, passes=baseline('>= 0')), "
    "Criterion(check=checks.short, severity='MED')"
)
ROOT = Path(__file__).resolve().parents[2]


def desk(root: Path, count: int = 6, **more: Any) -> LiveSuite:
    made = live_suite(root, cases=rows(count), target=TARGET, criteria=CRITERIA, **more)
    path = made.package / "suite.py"
    text = path.read_text("utf-8")
    path.write_text(text.replace("import Criterion", "import Criterion, baseline"))
    return made


@pytest.fixture
def suite(tmp_path: Path) -> LiveSuite:
    return desk(tmp_path)


def bad(*numbers: int) -> dict[str, str]:
    return {"BAD": " ".join(f"case-{n:04d}" for n in numbers)}


def exact(suite: LiveSuite, name: str) -> dict[str, Any]:
    row: dict[str, Any] = suite.scorecard(name)["criteria"][0]
    return row


def run_named(suite: LiveSuite, name: str, *words: str, **env: Any) -> int:
    done = suite.run("run", "-q", "--out", f"runs/{name}", *words, **env)
    assert "Traceback" not in done.stderr
    return done.returncode


def test_a_run_is_no_worse_better_or_worse_than_an_earlier_one(
    suite: LiveSuite,
) -> None:
    assert run_named(suite, "a", env=bad(1)) == 3
    assert run_named(suite, "same", "--baseline", "a", env=bad(1)) == 0
    assert run_named(suite, "moved", "--baseline", "runs/a", env=bad(3)) == 0
    assert run_named(suite, "worse", "--baseline", "a", env=bad(1, 3)) == 1
    assert exact(suite, "worse")["rate"] == round(4 / 6, 6)
    assert "1 case got worse: case-0003." in exact(suite, "worse")["critique"]
    assert suite.scorecard("a")["digest"][:12] in exact(suite, "worse")["critique"]


def test_two_files_are_a_baseline_and_their_place_leaves_no_trace(
    suite: LiveSuite, tmp_path: Path
) -> None:
    run_named(suite, "a", env=bad(1))
    kept = tmp_path / "kept" / "baseline"
    kept.mkdir(parents=True)
    for name in ("scorecard.json", "units.jsonl"):
        shutil.copy(tmp_path / "runs/a" / name, kept)
    run_named(suite, "b", "--baseline", "a", env=bad(2, 4))
    run_named(suite, "c", "--baseline", str(kept), env=bad(2, 4))
    suite.write("evals.toml", 'baseline = "kept/baseline"\n')
    run_named(suite, "d", env=bad(2, 4))
    run_named(suite, "e", "--baseline", "a", env=bad(4, 2))
    cards = [suite.scorecard(name) for name in "bcde"]
    assert len({card["digest"] for card in cards}) == 1
    assert str(kept) not in json.dumps(cards)


def test_without_a_baseline_the_run_is_carried_out_and_says_how_to_name_one(
    suite: LiveSuite,
) -> None:
    done = suite.run("run", "--out", "runs/a")
    assert done.returncode == 3
    assert exact(suite, "a")["blockedBy"]["text"].startswith("no baseline run")
    assert "run --baseline RUN" in done.stdout
    assert "AGAINST THE BASELINE" not in done.stdout


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        ("nothing", "neither a run in runs/ nor a folder with scorecard.json"),
        ("no-card", "scorecard.json is missing"),
        ("no-units", "units.jsonl is missing"),
        ("torn-card", "scorecard.json: not JSON: it breaks off"),
        ("edited-card", "its digest is not that of its content"),
        ("other-schema", "not a scorecard of the schema"),
        ("torn-unit", "units.jsonl:12: is no unit: torn, or edited"),
        ("edited-unit", "it was edited since it was written"),
        ("fewer-units", "are not of one run"),
        ("copied-unit", "are not of one run"),
        ("other-subject", "a run of another subject, 'bank'"),
        ("other-suite", "a run of another suite"),
        ("earlier-runtime", "of an earlier runtime"),
        ("no-criteria", "`criteria.0.severity` must be there"),
    ],
)
def test_what_is_no_baseline_is_refused_with_what_to_do(
    suite: LiveSuite, tmp_path: Path, harm: str, said: str
) -> None:
    run_named(suite, "a")
    card, units = (tmp_path / "runs/a" / n for n in ("scorecard.json", "units.jsonl"))
    data, lines = json.loads(card.read_text()), units.read_text().splitlines()

    def rewrite(**parts: Any) -> None:
        data.update(parts)
        data["digest"] = masked_digest(data)
        card.write_text(json.dumps(data))

    if harm == "nothing":
        shutil.rmtree(tmp_path / "runs/a")
    elif harm == "no-card":
        card.unlink()
    elif harm == "no-units":
        units.unlink()
    elif harm == "torn-card":
        card.write_text(card.read_text()[:200])
    elif harm == "edited-card":
        card.write_text(card.read_text().replace('"fail": 0', '"fail": 1', 1))
    elif harm == "other-schema":
        rewrite(schema="helix-scorecard/9")
    elif harm == "torn-unit":
        units.write_text("\n".join(lines)[:-20])
    elif harm == "edited-unit":
        units.write_text(units.read_text().replace('"pass"', '"fail"', 1))
    elif harm == "fewer-units":
        units.write_text("\n".join(lines[:-1]) + "\n")
    elif harm == "copied-unit":
        # As many of each result, but a case is there twice in place of another.
        units.write_text("\n".join([*lines[:-2], *lines[:2]]) + "\n")
    elif harm == "other-subject":
        rewrite(subject={**data["subject"], "id": "bank"})
    elif harm == "other-suite":
        renamed = [{**one, "criterionId": "x"} for one in data["criteria"]]
        rewrite(criteria=renamed)
    elif harm == "earlier-runtime":
        from helix_runtime.journal import seal

        bare = [line[: line.index(',"sum":')] + "}" for line in lines]
        old = [re.sub(r'"key":"[^"]{6}', '"key":"', line) for line in bare]
        units.write_text("".join(seal(line) + "\n" for line in old))
    elif harm == "no-criteria":
        rewrite(criteria=[{"criterionId": "exact"}])
    done = suite.run("run", "--out", "runs/b", "--baseline", "a")
    assert done.returncode == 2, done.stdout
    assert said in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "runs/b").exists()


def test_a_narrowed_baseline_is_said_beside_the_gate_that_stands_on_it(
    suite: LiveSuite,
) -> None:
    run_named(suite, "a", "--cases", "case-0001")
    done = suite.run("run", "--out", "runs/b", "--baseline", "a", env=bad(2, 3, 4))
    assert done.returncode == 0
    said = "the baseline was narrowed to 1 of 6 cases: what it left out does not count"
    assert said in " ".join(done.stdout.split("CRITERIA")[0].split())
    assert said in suite.scorecard("b")["run"]["notes"]


def test_a_case_that_was_edited_since_does_not_count(suite: LiveSuite) -> None:
    run_named(suite, "a", env=bad(1))
    edited = rows(6)
    edited[3]["tuple"] = {"origin": "mail"}
    suite.write("dataset.jsonl", "".join(json.dumps(row) + "\n" for row in edited))
    assert run_named(suite, "b", "--baseline", "a", env=bad(1, 3)) == 0
    assert "Not compared: 1 case is edited since." in exact(suite, "b")["critique"]


def test_an_edited_check_is_no_yardstick_until_the_old_runs_are_decided_by_it(
    suite: LiveSuite,
) -> None:
    run_named(suite, "a", env=bad(1))
    suite.write(f"{PACKAGE}/checks.py", CHECKS.replace("it answered", "it said"))
    assert run_named(suite, "b", "--baseline", "a", env=bad(1)) == 3
    assert "another yardstick" in exact(suite, "b")["blockedBy"]["text"]
    shown = " ".join(suite.run("report", "b").stdout.split())
    words = ("--traces", "runs/a/traces.jsonl")
    assert f"to compare these too: `run {' '.join(words)}`" in shown
    assert run_named(suite, "again", *words) == 3
    assert run_named(suite, "c", "--baseline", "again", env=bad(1)) == 0
    assert run_named(suite, "d", "--baseline", "again", env=bad(1, 2)) == 1


def test_a_run_goes_on_with_the_baseline_that_it_began_with(suite: LiveSuite) -> None:
    run_named(suite, "a", env=bad(1))
    run_named(suite, "other", env=bad(1, 2, 3))
    run_named(suite, "whole", "--baseline", "a", env=bad(1, 2))
    words = ("--baseline", "a", "--budget-tokens", "1")
    run_named(suite, "b", *words, env=bad(1, 2))
    # Cut the run short, as a kill does.
    folder = suite.root / "runs/b"
    lines = (folder / "units.jsonl").read_text().splitlines(keepends=True)
    (folder / "units.jsonl").write_text("".join(lines[:4]))
    record = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**record, "finished": False}))
    (folder / "scorecard.json").unlink()
    told = suite.run("report", "b")
    assert told.returncode == 0 and "GATE INCOMPLETE" in told.stdout
    refused = suite.run("run", "--resume", "b", "--baseline", "other", env=bad(1, 2))
    assert refused.returncode == 2 and "began with another baseline" in refused.stderr
    done = suite.run("run", "-q", "--resume", "b", env=bad(1, 2))
    assert done.returncode == 1, done.stderr
    assert suite.scorecard("b")["digest"] == suite.scorecard("whole")["digest"]
    plain = suite.run("run", "--resume", "other", "--baseline", "a")
    assert plain.returncode == 2 and "or with none" in plain.stderr


def test_a_run_that_was_cut_short_is_reported_against_its_baseline(
    suite: LiveSuite,
) -> None:
    run_named(suite, "a")
    run_named(suite, "b", "--baseline", "a", env=bad(1))
    folder = suite.root / "runs/b"
    record = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**record, "finished": False}))
    told = suite.run("report", "b")
    assert "GATE FAIL" in told.stdout and "16.7 points lower" in told.stdout
    shutil.rmtree(suite.root / "runs/a")
    told = suite.run("report", "b")
    assert told.returncode == 0 and "GATE INCOMPLETE" in told.stdout
    assert "neither a run in runs/" in " ".join(told.stdout.split())


def test_a_report_shows_what_became_other_and_decides_nothing_anew(
    suite: LiveSuite,
) -> None:
    run_named(suite, "a", env=bad(1))
    run_named(suite, "b", "--baseline", "a", env=bad(2, 3))
    run_named(suite, "c", env=bad(1, 2, 3, 4))
    own = suite.run("report", "b").stdout
    assert "AGAINST THE BASELINE" in own and "nothing is decided anew" not in own
    assert "2 worse, 1 better, of 12 cases × criteria" in own
    assert "✗ worse exact case-0002: pass → fail" in own
    before = (suite.root / "runs/b/scorecard.json").read_bytes()
    other = suite.run("report", "b", "--baseline", "c").stdout
    assert "0 worse, 2 better" in other and "GATE FAIL" in other
    assert "nothing is decided anew" in other and "against another one" in other
    assert (suite.root / "runs/b/scorecard.json").read_bytes() == before
    page = (suite.root / "runs/b/report.html").read_text("utf-8")
    assert "Against the baseline" in page and "0 worse, 2 better" in page
    without = suite.run("report", "c", "--baseline", "a").stdout
    assert "without one" in without
    none = suite.run("report", "c", "--baseline", "d")
    assert none.returncode == 2 and "no traceback" not in none.stderr
    shutil.rmtree(suite.root / "runs/a")
    left = suite.run("report", "b")
    assert left.returncode == 0 and "not shown against its baseline" in left.stdout
    suite.write(f"{PACKAGE}/checks.py", "1 / 0\n")
    left = suite.run("report", "b")
    assert left.returncode == 0 and "not shown against its baseline" in left.stdout
    assert suite.run("report", "b", "--baseline", "c").returncode == 2


def test_json_stays_the_scorecard_and_a_failing_case_is_red_in_junit(
    suite: LiveSuite,
) -> None:
    run_named(suite, "a")
    words = ("--baseline", "a", "--json", "--junit", "junit.xml", "--out", "runs/b")
    done = suite.run("run", *words, env=bad(2))
    assert json.loads(done.stdout) == suite.scorecard("b")
    assert set(suite.scorecard("b")) == set(suite.scorecard("a"))
    assert set(exact(suite, "b")) == set(exact(suite, "a"))
    assert "16.7 points lower" in (suite.root / "junit.xml").read_text("utf-8")


def test_a_strangers_words_are_escaped_in_the_page(tmp_path: Path) -> None:
    cases = [{**row, "item": "<b>\x1b[31mx"} for row in rows(2)]
    suite = desk(tmp_path)
    suite.write("dataset.jsonl", "".join(json.dumps(row) + "\n" for row in cases))
    run_named(suite, "a")
    done = suite.run("run", "--out", "runs/b", "--baseline", "a", env=bad(1))
    assert "worse exact <b>" in done.stdout and "\x1b" not in done.stdout
    page = (tmp_path / "runs/b/report.html").read_text("utf-8")
    section = page[
        page.index('<section class="against">') : page.index("Criteria</h2>")
    ]
    assert "&lt;b&gt;" in section and "<b>\x1b" not in page and "\x1b" not in page


def test_repeats_and_stability_are_held_against_the_baseline_of_the_settings(
    suite: LiveSuite,
) -> None:
    run_named(suite, "a", env=bad(1))
    suite.write("evals.toml", 'baseline = "runs/a"\nrepeats = 2\n')
    assert run_named(suite, "b", env=bad(1)) == 0
    assert run_named(suite, "c", env=bad(1, 2)) == 1
    assert "case-0002" in exact(suite, "c")["critique"]
    words = ("--repeats", "2", "-q", "--out", "runs/d")
    assert suite.run("stability", *words, env=bad(1)).returncode == 0
    assert exact(suite, "d")["verdict"] == "pass"


def test_a_run_without_a_baseline_loads_nothing_of_it(suite: LiveSuite) -> None:
    import subprocess
    import sys

    script = (
        "import sys; from desk_evals._runtime.cli import main; "
        f"sys.argv = ['x', 'run', '-q', '--out', 'runs/a']; code = main({str(suite.package / '__main__.py')!r}); "
        "print([m for m in sys.modules if 'baseline' in m])"
    )
    suite.write(
        f"{PACKAGE}/suite.py",
        (suite.package / "suite.py")
        .read_text("utf-8")
        .replace("passes=baseline('>= 0')", "severity='HIGH'"),
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=suite.root, capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


def test_pytest_compares_with_the_baseline_of_the_settings(suite: LiveSuite) -> None:
    import subprocess
    import sys

    from support.live_suite import environment

    run_named(suite, "a", env=bad(1))
    suite.write("evals.toml", 'baseline = "runs/a"\n')
    for env, code in ((bad(1), 0), (bad(1, 2), 1)):
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
            cwd=suite.root,
            env=environment(env),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout


def test_the_recipe_of_the_guide_runs_as_it_stands(suite: LiveSuite) -> None:
    guide = (ROOT / "docs" / "ci.md").read_text("utf-8")
    part = guide.split("## Against the last release")[1].split("\n## ")[0]
    blocks = re.findall(r"```sh\n(.*?)```", part, re.DOTALL)
    commands = [line for block in blocks for line in block.splitlines()]
    codes = []
    for line in commands:
        words = line.split()
        if words[:3] == ["python", "-m", "support_evals"]:
            done = suite.run(*words[3:])
            codes.append(done.returncode)
        elif words[0] == "mkdir":
            (suite.root / words[-1]).mkdir()
        elif words[0] == "cp":
            for name in words[1:-1]:
                shutil.copy(suite.root / name, suite.root / words[-1])
            suite.write("evals.toml", 'baseline = "baseline"\n')
        else:
            assert line == "git add baseline"
    assert codes == [3, 0, 0]


# -- both paths -------------------------------------------------------------------


def judged(packets: Path, wrong: str) -> None:
    for entry in read_index(packets).entries:
        packet = json.loads((packets / entry.file).read_text("utf-8"))
        answer = packet["transcript"][-1]["content"]
        verdicts = [
            {
                "criterionId": criterion["criterionId"],
                "critique": "What the answer says.",
                "result": "fail" if wrong in answer else "pass",
                "confidence": 0.8,
                "refs": [{"obs": "output", "path": "", "value": answer}],
            }
            for criterion in packet["criteria"]
        ]
        record = {
            "trajectoryId": packet["trajectoryId"],
            "judgeModel": packet["pin"]["model"],
            "temperature": 0,
            "verdicts": verdicts,
        }
        (packets / entry.verdict_file).write_text(json.dumps(record), "utf-8")


def test_the_same_verdicts_and_baseline_give_the_same_scorecard_on_both_paths(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from helix_runtime.commands import prep

    folder = make_suite_folder(
        tmp_path / "suite",
        criteria="*(replace(c, passes=baseline('>= 0')) for c in (judged(), HYBRID, CODE))",
        cases=[case(), case("case-2", query="Is it sent?")],
    )
    source = folder.package_folder / "suite.py"
    imports = (
        "from helix_runtime.criterion import baseline\n"
        "from helix_runtime.record import replace\n"
    )
    source.write_text(imports + source.read_text("utf-8"), "utf-8")
    # A row spelled by hand is marked otherwise by a run than by one over packets.
    spelled = folder.dataset.read_text("utf-8").replace('":', '" : ')
    folder.dataset.write_text(spelled, "utf-8")
    traces = tmp_path / "traces.jsonl"
    write_traces(
        traces,
        [trace("case-1-r0"), trace("case-2-r0", answer="It is on its way, I think.")],
    )
    args = parsed("prep", "--traces", traces, "--model", "m-2026-01-01")
    assert prep.execute(args, folder) == 0
    packets = folder.root / "matrix" / "packets"
    replay = ("--traces", traces, "--replay", verdicts_beside(packets))

    def on_a(name: str, *words: Any) -> dict[str, Any]:
        out = tmp_path / name
        aggregate.execute(parsed("aggregate", "--out", out, *words), folder)
        data: dict[str, Any] = json.loads((out / "scorecard.json").read_text("utf-8"))
        return data

    def on_b(name: str, *words: Any) -> dict[str, Any]:
        out = tmp_path / name
        run.execute(parsed("run", *replay, "--out", out, *words), folder)
        data: dict[str, Any] = json.loads((out / "scorecard.json").read_text("utf-8"))
        return data

    judged(packets, "nothing says this")
    on_a("then-a")
    on_b("then-b")
    judged(packets, "on its way")
    for before in ("then-a", "then-b"):
        one = on_a(f"a-{before}", "--baseline", tmp_path / before)
        two = on_b(f"b-{before}", "--baseline", tmp_path / before)
        one["run"]["mode"] = two["run"]["mode"]
        assert masked_digest(one) == masked_digest(two)
        verdicts = {c["criterionId"]: c["verdict"] for c in one["criteria"]}
        assert verdicts["polite"] == "fail"
        assert "1 case got worse" in json.dumps(one["criteria"])
        assert "Not compared" not in json.dumps(one["criteria"])
