"""`helix-gen` around `suite`: lint, packets, schema, help, and when things go wrong."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.command_line import heavy_modules, helix_gen, tree, write_json
from support.suite_cards import card, criterion, dataset, scenario

TRACE = {
    "unitf_version": "0.1",
    "traceId": "t-1",
    "sourcePlatform": "test",
    "status": "ok",
    "spans": [
        {
            "spanId": "1",
            "name": "user",
            "kind": "event",
            "role": "user",
            "status": "ok",
            "input": "Where is room 4?",
        },
        {
            "spanId": "2",
            "name": "assistant",
            "kind": "llm",
            "role": "assistant",
            "status": "ok",
            "output": "On the left.",
        },
    ],
}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Path]:
    """A folder with a spec, its overlay and a trace."""
    spec = card(
        criteria=[
            criterion("is-brief"),
            criterion("is-kind", "llm-judge"),
            criterion("is-left", "code-check"),
        ],
        scenarios=[scenario("rush-hour")],
        datasets=[
            dataset(
                "visits",
                mapsTo={
                    "criteria": ["is-brief", "is-kind", "is-left"],
                    "scenarios": ["rush-hour"],
                },
            )
        ],
    )
    overlay = {
        "criteria": {
            "is-left": {
                "method": "hybrid",
                "check": {
                    "combine.any_of": {
                        "verdicts": [
                            {"output.contains": {"texts": ["left"]}},
                            {"output.contains": {"texts": ["right"]}},
                        ]
                    }
                },
            }
        }
    }
    write_json(tmp_path / "clerk.yaml", spec)
    write_json(tmp_path / "clerk.evals.yaml", overlay)
    other = {**TRACE, "traceId": "t-2", "spans": []}
    lines = [json.dumps(TRACE), json.dumps(other), "torn {"]
    (tmp_path / "traces.jsonl").write_text("\n".join(lines) + "\n")
    yield tmp_path


class TestHelp:
    def test_it_imports_nothing_heavy(self, tmp_path: Path) -> None:
        assert heavy_modules("--help", cwd=tmp_path) == set()

    def test_every_option_of_the_contract_is_named(self, tmp_path: Path) -> None:
        text = helix_gen("suite", "--help", cwd=tmp_path).stdout
        for option in (
            *("-o", "--out", "--overlay", "--engine", "--target", "--traces"),
            *("--items", "--check", "--dry-run", "--json", "-q"),
        ):
            assert option in text
        text = helix_gen("lint", "--help", cwd=tmp_path).stdout
        for option in ("--public", "--strict", "--format", "-q"):
            assert option in text

    def test_the_version_is_said(self, tmp_path: Path) -> None:
        done = helix_gen("--version", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (0, "helix-gen 0.1.0\n")

    def test_an_unknown_command_is_a_usage_error(self, tmp_path: Path) -> None:
        done = helix_gen("siute", cwd=tmp_path)
        assert done.returncode == 2
        assert "suite" in done.stderr


class TestLint:
    def test_warnings_alone_exit_0_and_with_strict_2(self, desk: Path) -> None:
        done = helix_gen("lint", "clerk.yaml", cwd=desk)
        assert done.returncode == 0
        assert "warning[HX" in done.stdout
        assert helix_gen("lint", "clerk.yaml", "--strict", cwd=desk).returncode == 2

    def test_quiet_prints_problems_only(self, desk: Path) -> None:
        loud = helix_gen("lint", "clerk.yaml", cwd=desk)
        quiet = helix_gen("lint", "clerk.yaml", "-q", cwd=desk)
        assert loud.stderr and not quiet.stderr
        assert (quiet.stdout, quiet.returncode) == (loud.stdout, loud.returncode)

    def test_errors_exit_2_in_every_format(self, desk: Path) -> None:
        (desk / "clerk.yaml").write_text("kind: Agent\n")
        for words, mark in (
            ((), "clerk.yaml:1:1: error[HX"),
            (("--format", "json"), '"level":"error"'),
            (("--format", "github"), "::error file=clerk.yaml"),
        ):
            done = helix_gen("lint", "clerk.yaml", *words, cwd=desk)
            assert done.returncode == 2
            assert mark in done.stdout.replace('": "', '":"')

    def test_a_public_card_has_no_status(self, desk: Path) -> None:
        spec = json.loads((desk / "clerk.yaml").read_text())
        spec["status"] = {
            "adl_stage": "spec",
            "updated_at": "2026-01-01T00:00:00Z",
            "last_verdict": "pass",
        }
        write_json(desk / "clerk.yaml", spec)
        assert helix_gen("lint", "clerk.yaml", cwd=desk).returncode == 0
        done = helix_gen("lint", "clerk.yaml", "--public", cwd=desk)
        assert done.returncode == 2
        assert "error[HX110]" in done.stdout

    def test_it_writes_nothing(self, desk: Path) -> None:
        before = tree(desk)
        helix_gen("lint", "clerk.yaml", cwd=desk)
        assert tree(desk) == before

    def test_a_file_that_is_not_there(self, desk: Path) -> None:
        done = helix_gen("lint", "no.yaml", cwd=desk)
        assert done.returncode == 2
        assert "no.yaml:1:1: error[HX701]" in done.stdout


class TestPackets:
    def test_they_hold_what_code_left_to_a_judge(self, desk: Path) -> None:
        words = ("--traces", "traces.jsonl", "--model", "m-1", "-o", "out/packets")
        done = helix_gen("packets", "clerk.yaml", *words, cwd=desk)
        assert done.returncode == 0, done.stderr
        (packet,) = (desk / "out/packets").glob("*.packet.json")
        record = json.loads(packet.read_text())
        assert record["trajectoryId"] == "t-1"
        assert record["pin"] == {"model": "m-1", "temperature": 0}
        # The hybrid criterion is decided by its check; the unwritten one stays open.
        assert [c["criterionId"] for c in record["criteria"]] == ["is-kind"]
        assert "were skipped" in done.stderr

    def test_its_next_steps_lead_to_a_scorecard(self, desk: Path) -> None:
        words = ("--traces", "traces.jsonl", "--model", "m-1", "-o", "out/packets")
        done = helix_gen("packets", "clerk.yaml", *words, cwd=desk)
        said = done.stdout.splitlines()
        make, read = (line.split() for line in said[-2:])
        assert "counted by a suite of this spec" in said[-3]
        assert "take its `prep`" in said[-4]
        assert make[:2] == ["helix-gen", "suite"] and read[0] == "python"
        assert helix_gen(*make[1:], "-q", cwd=desk).returncode == 0
        index = json.loads((desk / "out/packets/index.json").read_text())
        verdict = {"critique": "It is.", "result": "pass", "confidence": 0.9}
        for entry in index["packets"]:
            trace = entry["trajectoryId"]
            found = {"trajectoryId": trace, "judgeModel": "m-1", "temperature": 0}
            found["verdicts"] = [{"criterionId": "is-kind", **verdict}]
            write_json(desk / "out/packets" / entry["verdictFile"], found)
        command = [sys.executable, *read[1:], "--out", "run", "-q"]
        ran = subprocess.run(command, cwd=desk, capture_output=True)
        assert ran.returncode in (0, 1, 3), ran.stderr
        assert (desk / "run/scorecard.json").is_file(), ran.stderr

    def test_without_anything_to_judge_no_suite_is_asked_for(self, desk: Path) -> None:
        (desk / "none.jsonl").write_text("", "utf-8")
        words = ("--traces", "none.jsonl", "--model", "m-1", "-o", "out/packets")
        done = helix_gen("packets", "clerk.yaml", *words, cwd=desk)
        assert "counted by a suite" not in done.stdout

    def test_they_are_those_that_the_suite_itself_writes(self, desk: Path) -> None:
        words = ("--traces", "traces.jsonl", "--model", "m-1")
        alone = ("packets", "clerk.yaml", *words, "-o", "alone/packets")
        assert helix_gen(*alone, cwd=desk).returncode == 0
        both = ("suite", "clerk.yaml", *words, "-q")
        done = helix_gen(*both, cwd=desk)
        assert done.returncode == 0, done.stderr
        ours = tree(desk / "desk-clerk-evals/matrix/packets")
        alone_in_folder = tree(desk / "alone/packets")
        for name in ("dispatches.jsonl", "batches.jsonl"):
            # Where the paths of a prompt start is another folder.
            said, told = (
                [
                    {k: v for k, v in json.loads(line).items() if k != "prompt"}
                    for line in found.pop(name).splitlines()
                ]
                for found in (ours, alone_in_folder)
            )
            assert said == told
        assert ours == alone_in_folder

    def test_the_suite_command_counts_what_its_owner_wrote(self, desk: Path) -> None:
        helix_gen("suite", "clerk.yaml", "-q", cwd=desk)
        judges = desk / "desk-clerk-evals/desk_clerk_evals/judges.py"
        text = judges.read_text()
        judges.write_text(text.replace("is-kind holds.", "It is kind, I say."))
        words = ("--traces", "traces.jsonl", "traces.jsonl", "--model", "m-1", "-q")
        done = helix_gen("suite", "clerk.yaml", *words, cwd=desk)
        assert done.returncode == 0, done.stderr
        (packet,) = (desk / "desk-clerk-evals/matrix/packets").glob("*.packet.json")
        assert "It is kind, I say." in packet.read_text()

    def test_the_model_of_the_overlay_is_enough(self, desk: Path) -> None:
        overlay = {"judge": {"provider": "openai", "model": "m-2"}}
        write_json(desk / "clerk.evals.yaml", overlay)
        for _ in range(2):  # the second time, nothing has changed
            words = ("suite", "clerk.yaml", "--traces", "traces.jsonl", "-q")
            done = helix_gen(*words, cwd=desk)
            assert done.returncode == 0, done.stderr
            packets = desk / "desk-clerk-evals/matrix/packets"
            (packet,) = packets.glob("*.packet.json")
            assert json.loads(packet.read_text())["pin"]["model"] == "m-2"

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["--traces", "no.jsonl", "--model", "m"], "no such file of traces"),
            (["--traces", "traces.jsonl", "--model", " "], "error[HX709]"),
            (["--traces", "traces.jsonl"], "--model"),
            (["--model", "m"], "--traces"),
        ],
    )
    def test_bad_arguments_exit_2_and_write_nothing(
        self, desk: Path, words: list[str], said: str
    ) -> None:
        done = helix_gen("packets", "clerk.yaml", *words, "-o", "out", cwd=desk)
        assert done.returncode == 2
        assert said in done.stderr
        assert not (desk / "out").exists()


@pytest.mark.parametrize("name", ["agentspec-0.2", "agentspec-0.3", "overlay"])
def test_a_schema_is_json_on_stdout(tmp_path: Path, name: str) -> None:
    done = helix_gen("schema", name, cwd=tmp_path)
    assert done.returncode == 0
    assert json.loads(done.stdout)["$schema"]


class TestTrouble:
    """What happens around a command when it can't end as it should."""

    def python(self, program: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
        setup = (
            "import sys\n"
            "sys.argv = ['helix-gen', 'suite', 'clerk.yaml', '-q']\n"
            "from helix_gen import __main__, generate\n"
        )
        return subprocess.run(
            [sys.executable, "-c", setup + program],
            cwd=cwd,
            capture_output=True,
            text=True,
            env={**os.environ, "TMPDIR": str(cwd / "tmp")},
            check=False,
        )

    def test_a_fault_of_ours_says_so_and_keeps_its_traceback_in_a_file(
        self, desk: Path
    ) -> None:
        (desk / "tmp").mkdir()
        done = self.python(
            "def broken(**_): raise LookupError('a secret of the machine')\n"
            "generate.gather = broken\n"
            "sys.exit(__main__.main())\n",
            desk,
        )
        assert done.returncode == 70
        assert "Traceback" not in done.stderr
        assert "a secret" not in done.stderr
        assert "fault of its own" in done.stderr
        (report,) = (desk / "tmp").glob("helix-gen-error-*.txt")
        assert str(report) in done.stderr
        assert "a secret of the machine" in report.read_text()

    def test_control_c_ends_it_quietly(self, desk: Path) -> None:
        done = self.python(
            "def stop(**_): raise KeyboardInterrupt\n"
            "generate.gather = stop\n"
            "sys.exit(__main__.main())\n",
            desk,
        )
        assert done.returncode == 130
        assert "Traceback" not in done.stderr

    def test_a_closed_pipe_ends_it_quietly(self, desk: Path) -> None:
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run(
            [sys.executable, "-m", "helix_gen", "suite", "clerk.yaml"],
            cwd=desk,
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        os.close(writer)
        assert done.returncode == 141
        assert "Traceback" not in done.stderr
        assert "BrokenPipe" not in done.stderr
        # What it was asked for is done all the same.
        assert (desk / "desk-clerk-evals/.helix/manifest.json").is_file()

    @pytest.mark.parametrize(
        ("redirection", "code"),
        [("<&- >&-", 0), ("<&- >&- 2>&-", 0), (">/dev/full", 2)],
    )
    def test_streams_that_are_closed_or_full_are_no_fault_of_ours(
        self, desk: Path, redirection: str, code: int
    ) -> None:
        words = [sys.executable, "-m", "helix_gen", "suite", "clerk.yaml"]
        done = subprocess.run(
            ["sh", "-c", f'"$@" {redirection}', "sh", *words],
            cwd=desk,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stderr
        assert ("stdout can't be written" in done.stderr) == (code == 2)
        assert "fault of its own" not in done.stderr
        assert (desk / "desk-clerk-evals/.helix/manifest.json").is_file()

    @pytest.mark.parametrize(
        ("words", "code"),
        [
            (["suite", "clerk.yaml"], 0),
            (["suite", "clerk.yaml", "--check", "-o", "new"], 1),
            (["suite", "nope.yaml"], 2),
            (["lint", "clerk.yaml"], 0),
        ],
    )
    def test_remarks_that_nobody_can_read_do_not_change_the_exit_code(
        self, desk: Path, words: list[str], code: int
    ) -> None:
        done = subprocess.run(
            ["sh", "-c", '"$@" 2>/dev/full', "sh", sys.executable, "-m", "helix_gen"]
            + words,
            cwd=desk,
            stdout=subprocess.PIPE,
            check=False,
        )
        assert done.returncode == code

    def test_a_terminal_that_cannot_show_a_text_gets_its_escapes(
        self, desk: Path
    ) -> None:
        env = {"PYTHONIOENCODING": "ascii"}
        done = helix_gen("suite", "klärk.yaml", cwd=desk, env=env)
        assert done.returncode == 2
        assert "kl\\xe4rk.yaml" in done.stderr

    @pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="kills a process")
    def test_a_kill_at_any_moment_is_mended_by_the_next_run(self, desk: Path) -> None:
        helix_gen("suite", "clerk.yaml", "-q", "-o", "old", cwd=desk)
        spec = json.loads((desk / "clerk.yaml").read_text())
        spec["spec"]["evaluation"]["criteria"][0]["goal"] = "Always"
        write_json(desk / "next.yaml", spec)
        (desk / "clerk.evals.yaml").rename(desk / "o.yaml")
        words = ["suite", "next.yaml", "--overlay", "o.yaml", "-q"]
        helix_gen("suite", "clerk.yaml", "--overlay", "o.yaml", "-o", "new", cwd=desk)
        helix_gen(*words, "-o", "new", cwd=desk)
        new = tree(desk / "new")
        killed = 0
        for event in (3, 40, 90, 140, 170, 200, 230, 260, 300):
            root = desk / f"kill{event}"
            helix_gen(
                "suite", "clerk.yaml", "--overlay", "o.yaml", "-o", root, cwd=desk
            )
            program = (
                "import os, signal, sys\n"
                f"sys.argv = ['helix-gen', *{words!r}, '-o', {str(root)!r}]\n"
                f"left = [{event}]\n"
                "def hook(name, arguments):\n"
                "    touches = ('open', 'os.rename', 'os.remove', 'os.mkdir')\n"
                f"    if name in touches and {str(root)!r} in str(arguments[0]):\n"
                "        left[0] -= 1\n"
                "        if left[0] == 0:\n"
                "            os.kill(os.getpid(), signal.SIGKILL)\n"
                "from helix_gen.__main__ import main\n"
                "sys.addaudithook(hook)\n"
                "main()\n"
            )
            done = subprocess.run(
                [sys.executable, "-c", program], cwd=desk, check=False
            )
            killed += done.returncode == -signal.SIGKILL
            again = helix_gen(*words, "-o", root, cwd=desk)
            assert again.returncode == 0, again.stderr
            assert tree(root) == new
            check = helix_gen(*words, "-o", root, "--check", cwd=desk)
            assert check.returncode == 0
        assert killed >= 5
