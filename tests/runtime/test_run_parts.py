"""The small parts of a run: lock, secrets, selection, what a check depends on."""

import json
import subprocess
import sys
import threading
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import helix_runtime
import pytest
from helix_runtime.case import Case
from helix_runtime.code_digest import CodeDigests
from helix_runtime.criterion import Check
from helix_runtime.folder import SuiteFolder, read_run_record
from helix_runtime.lock import FolderLock, FolderLocked
from helix_runtime.redact import Redactor
from helix_runtime.refusal import Refusal
from helix_runtime.selection import Selection
from support.decisions import criterion
from support.decisions import suite as some_suite
from support.live_suite import rows

RUNTIME = Path(helix_runtime.__file__).parent

# -- lock ------------------------------------------------------------------------


def test_a_lock_is_held_by_one_and_free_after_it(tmp_path: Path) -> None:
    with FolderLock(tmp_path) as first:
        first.take()
        with pytest.raises(FolderLocked, match="process"):
            FolderLock(tmp_path).take()
    with FolderLock(tmp_path) as second:
        second.take_when_free()
    assert list(tmp_path.iterdir()) == []


def test_who_waits_for_a_lock_whose_file_goes_away_holds_the_next_one(
    tmp_path: Path,
) -> None:
    """However the holders follow each other, there is one of them at a time."""
    inside: list[int] = []
    seen: list[int] = []

    def work(number: int) -> None:
        for _ in range(40):
            with FolderLock(tmp_path) as lock:
                lock.take_when_free()
                inside.append(number)
                seen.append(len(inside))
                inside.remove(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [1] * 160
    assert list(tmp_path.iterdir()) == []


def test_a_lock_dies_with_its_holder_however_it_dies(tmp_path: Path) -> None:
    program = f"""
import sys
sys.path.insert(0, {str(RUNTIME.parent)!r})
from pathlib import Path
from helix_runtime.lock import FolderLock
lock = FolderLock(Path({str(tmp_path)!r}))
lock.take()
print("held", flush=True)
sys.stdin.read()
"""
    holder = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(FolderLocked, match=f"process {holder.pid}"):
        FolderLock(tmp_path).take()
    holder.kill()
    holder.communicate()
    with FolderLock(tmp_path) as lock:
        lock.take()


# -- secrets ---------------------------------------------------------------------


def test_secrets_are_known_by_the_names_of_their_variables() -> None:
    redactor = Redactor(
        {
            "OPENAI_API_KEY": "sk-0123456789",
            "DB_PASSWORD": 'quo"ted\\secret',
            "GITHUB_TOKEN": "sk-0123456789-longer",
            "MONKEY": "not-a-secret",
            "PIN_KEY": "12345",
            "HOME": "/home/someone",
        }
    )
    for plain in ("not-a-secret", "12345", "/home/someone"):
        line = json.dumps({"a": plain})
        assert redactor.clean(line) is line
    dirty = json.dumps(["sk-0123456789-longer sk-0123456789", 'quo"ted\\secret'])
    assert json.loads(redactor.clean(dirty)) == [
        "[GITHUB_TOKEN redacted] [OPENAI_API_KEY redacted]",
        "[DB_PASSWORD redacted]",
    ]


# -- selection -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("selection", "kept"),
    [
        (Selection(), True),
        (Selection(cases=["case-*"]), True),
        (Selection(cases=["Case-*"]), False),
        (Selection(cases=["x", "*1"]), True),
        (Selection(category=["bill*"]), True),
        (Selection(cases=["case-1"], category=["other"]), False),
        (Selection(cases=["paid-tw*"]), True),
        (Selection(cases=["Refund [late]"]), True),
        (Selection(cases=["refund*"]), False),
    ],
)
def test_globs_select_cases(selection: Selection, kept: bool) -> None:
    case = Case(
        id="case-1",
        query="q",
        dimensions={"a": "b"},
        category="billing",
        item="paid-twice",
        scenario="Refund [late]",
    )
    assert selection.keeps(case) is kept
    assert selection.keeps_row(case.to_row()) is kept
    nameless = Case(id="case-1", query="q", dimensions={"a": "b"})
    assert not Selection(category=["*"]).keeps(nameless)
    assert not Selection(cases=["*x*"]).keeps_row(nameless.to_row())


def test_a_class_selects_its_criteria_and_the_note_says_what_is_left_out() -> None:
    asked = some_suite(
        criterion("a"),
        criterion("b", judged=True),
        criterion("c", severity="LOW"),
        criterion("d", judged=True, severity="LOW"),
    )
    chosen = Selection(criteria=["class:code"])
    assert [c.id for c in chosen.narrow(asked).criteria] == ["a", "c"]
    assert chosen.note(asked, kept=1, of=6, what="case") == (
        "narrowed: 1 of 2 gating criteria, 1 of 2 advising criteria, 1 of 6 cases"
    )
    whole = Selection(criteria=["*"], cases=["*"])
    assert whole.note(asked, kept=6, of=6, what="case") is None
    with pytest.raises(Refusal, match="class:cod.*did you mean 'class:code'"):
        Selection(criteria=["class:cod"]).narrow(asked)


# -- the folder ------------------------------------------------------------------


def folder_of(root: Path, lines: list[str]) -> SuiteFolder:
    (root / "dataset.jsonl").write_bytes(
        b"\xef\xbb\xbf" + "".join(lines).encode("utf-8", "surrogatepass")
    )
    return SuiteFolder(root=root, package="p")


def test_a_dataset_is_counted_in_one_pass(tmp_path: Path) -> None:
    lines = [json.dumps(row) + "\n" for row in rows(500)]
    lines[7] = json.dumps({**rows(8)[7], "placeholder": True}) + "\n\n  \n"
    folder = folder_of(tmp_path, lines)
    scan = folder.scan_dataset(lambda row: row["id"].endswith("0"))
    assert (scan.cases, scan.placeholders, scan.selected) == (500, 1, 50)
    assert [case.id for case in folder.cases()] == [row["id"] for row in rows(500)]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "dataset.jsonl:3: "),
        ("[]", "dataset.jsonl:3: a row is a JSON object"),
        ('{"id": "x", "query": "q"}', "dataset.jsonl:3: `tuple`"),
        ('{"id": 3, "query": "", "tuple": {}}', "dataset.jsonl:3: `id`"),
        (
            '{"id": "x", "query": "q", "tuple": {"a": "b"}, "category": 3}',
            "dataset.jsonl:3: `category`",
        ),
        (
            json.dumps(rows(1)[0]),
            "dataset.jsonl:3: the id 'case-0000' stands in line 1",
        ),
        ('{"query": "q", "tuple": {"a": "b"}, "id": "case-0001"}', "stands in line 2"),
        ('{"id": "x", "query": "q", "tuple": {"a": "b"}, "input": NaN}', "not JSON"),
        (
            '{"id": "x", "query": "q", "tuple": {"a": "b"}, "input": 1e999}',
            "too large a number",
        ),
        ("[" * 100_000, "dataset.jsonl:3: "),
    ],
)
def test_a_row_that_cannot_be_read_is_named_before_anything_runs(
    tmp_path: Path, line: str, said: str
) -> None:
    folder = folder_of(tmp_path, [*(json.dumps(r) + "\n" for r in rows(2)), line])
    with pytest.raises(Refusal) as caught:
        folder.scan_dataset(lambda row: True)
    assert said in str(caught.value)


def test_many_ids_on_few_bits_are_no_duplicates(tmp_path: Path) -> None:
    lines = [
        json.dumps({"id": f"{n}", "query": "q", "tuple": {"a": "b"}}) + "\n"
        for n in range(20_000)
    ]
    scan = folder_of(tmp_path, lines).scan_dataset(lambda row: True)
    assert scan.cases == 20_000


def test_the_latest_run_is_the_one_that_started_last(tmp_path: Path) -> None:
    folder = SuiteFolder(root=tmp_path, package="p")
    for name, started in (
        ("z", "2026-01-01T00:00:00Z"),
        ("a", "2026-03-01T00:00:00Z"),
        ("m", "2026-02-01T00:00:00Z"),
    ):
        run = tmp_path / "runs" / name
        run.mkdir(parents=True)
        (run / "run.json").write_text(json.dumps({"started": started}))
    (tmp_path / "runs" / "empty").mkdir()
    assert folder.latest_run().name == "a"
    assert folder.run_folder("m").name == "m"
    assert folder.run_folder(str(tmp_path / "runs" / "z")).name == "z"
    with pytest.raises(Refusal, match="did you mean 'empty'"):
        folder.run_folder("emty")
    assert read_run_record(tmp_path) is None


# -- what a check depends on -----------------------------------------------------

CHECKS = """\
import re
from helix_runtime.criterion import check
from helix_runtime.verdict import passed
{imports}
LIMIT = 3
OTHER = 5


def helper(text):
    return len(text) < LIMIT


@check("one", "One.")
def one(case, trace):
    return passed("ok") if helper("x") else passed("no")


@check("two", "Two.")
def two(case, trace):
    return passed(f"{{OTHER}}")
"""


def digests(root: Path, source: str) -> tuple[str, str]:
    root.mkdir(exist_ok=True)
    path = root / "checks.py"
    path.write_text(source, "utf-8")
    spec = spec_from_file_location("checks_to_hash", path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    found = CodeDigests(root)
    one, two = module.one, module.two
    assert isinstance(one, Check) and isinstance(two, Check)
    return found.of(one), found.of(two)


def own_digests(package: Path, source: str) -> tuple[str, str]:
    """The same, with the module imported as a part of its package."""
    (package / "checks.py").write_text(source, "utf-8")
    for name in [n for n in sys.modules if n.partition(".")[0] == "p"]:
        del sys.modules[name]
    module = import_module("p.checks")
    found = CodeDigests(package)
    return found.of(module.one), found.of(module.two)


BASE = CHECKS.format(imports="")


@pytest.mark.parametrize(
    ("edit", "changed"),
    [
        (("\n\n\n", "\n\n\n# a remark\n\n"), (False, False)),
        (("return passed(f", "return  passed(f"), (False, True)),
        (('"One."', '"The first."'), (True, False)),
        (("LIMIT = 3", "LIMIT = 4"), (True, False)),
        (("OTHER = 5", "OTHER = 6"), (False, True)),
        (("len(text) < LIMIT", "len(text) <= LIMIT"), (True, False)),
        (("import re\n", "import re\nfrom math import *\n"), (True, True)),
        (("OTHER = 5", "OTHER = 5\nprint(end='')"), (True, True)),
    ],
)
def test_a_check_depends_on_what_it_reaches_and_on_no_more(
    tmp_path: Path, edit: tuple[str, str], changed: tuple[bool, bool]
) -> None:
    before = digests(tmp_path / "p", BASE)
    after = digests(tmp_path / "p", BASE.replace(*edit, 1))
    assert (before[0] != after[0], before[1] != after[1]) == changed


def test_another_module_of_the_package_counts_for_who_imports_it(
    tmp_path: Path,
) -> None:
    package = tmp_path / "p"
    package.mkdir()
    (package / "words.py").write_text("A = 1\n")
    (package / "judges.py").write_text("B = 1\n")
    before = CodeDigests(package).package
    (package / "judges.py").write_text("B = 2\n")
    assert CodeDigests(package).package == before
    (package / "words.py").write_text("A = 2\n")
    assert CodeDigests(package).package != before


@pytest.mark.parametrize("importing", ["from .words import A", "import p.words as A"])
def test_only_who_imports_another_module_depends_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, importing: str
) -> None:
    package = tmp_path / "p"
    package.mkdir()
    (package / "words.py").write_text("A = 1\n")
    source = BASE.replace("import re", importing, 1).replace('("ok")', "(str(A))")
    monkeypatch.syspath_prepend(str(tmp_path))
    before = own_digests(package, source)
    (package / "words.py").write_text("A = 2\n")
    after = own_digests(package, source)
    assert before[0] != after[0]
    assert before[1] == after[1]


def test_a_criterion_glob_that_matches_nothing_is_refused() -> None:
    suite = some_suite(criterion("first"), criterion("second"))
    narrowed = Selection(criteria=["f*"]).narrow(suite)
    assert [one.id for one in narrowed.criteria] == ["first"]
    with pytest.raises(Refusal, match="matches no criterion"):
        Selection(criteria=["*", "no-such-one"]).narrow(suite)
