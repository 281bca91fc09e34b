"""The journal holds what was decided, whatever happened to its files."""

from pathlib import Path

import pytest
from helix_runtime.canonical import content_key, dump_line
from helix_runtime.journal import Journal, seal
from helix_runtime.unit import Unit, unit_to_record
from helix_runtime.unitf import trace_of_answer, trace_to_record
from helix_runtime.verdict import Verdict, could_not_judge, failed, passed
from hypothesis import given
from hypothesis import strategies as st


def unit(name: str, verdict: Verdict | None = None) -> Unit:
    return Unit(
        key=content_key(name),
        case_id=name,
        criterion_id="c",
        repeat=0,
        trace_id=name,
        verdict=verdict or passed(f"{name} is right"),
        decided_by="code",
    )


def line(one: Unit) -> str:
    return seal(dump_line(unit_to_record(one)))


def trace_line(name: str, answer: str = "x") -> str:
    trace = trace_of_answer(trace_id=name, query="q", output=answer)
    return dump_line(trace_to_record(trace))


def test_what_is_appended_is_there_when_it_is_opened_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.append([trace_line("a"), trace_line('ü\n"\\')], [line(unit("a"))])
    journal.append([], [line(unit("b", failed("wrong \ud800 \u2028")))])
    journal.close()
    journal = Journal(tmp_path)
    assert journal.holds(unit("a").key) and not journal.holds(unit("c").key)
    assert journal.take_unit(unit("a").key) == unit("a")
    assert journal.take_unit(unit("a").key) is None
    taken = journal.take_trace('ü\n"\\')
    assert taken is not None and taken.answer == "x"
    assert journal.take_trace("nobody") is None
    journal.close()


def test_an_error_is_no_verdict_and_is_decided_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    quoting = passed('it says ,"result":"error" somewhere')
    units = [unit("a", could_not_judge("an outage")), unit("b", quoting)]
    journal.append([], map(line, units))
    journal.close()
    journal = Journal(tmp_path)
    assert not journal.holds(unit("a").key)
    assert journal.holds(unit("b").key)
    journal.append([], [line(unit("a"))])
    journal.take_unit(unit("b").key)
    assert journal.finish() == 1
    journal.close()
    journal = Journal(tmp_path)
    assert journal.take_unit(unit("a").key) == unit("a")
    journal.close()


def test_a_trace_that_speaks_of_errors_is_kept(tmp_path: Path) -> None:
    trace = trace_of_answer(
        trace_id="t", query="q", output={"a": 1, "result": "error", "criterionId": "c"}
    )
    text = dump_line(trace_to_record(trace))
    journal = Journal(tmp_path)
    journal.append([text], [])
    journal.close()
    journal = Journal(tmp_path)
    assert journal.take_trace("t") == trace
    journal.close()


def test_what_a_run_does_not_use_moves_out_of_the_way(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.append([trace_line("a")], [line(unit(n)) for n in "abc"])
    journal.close()
    journal = Journal(tmp_path)
    journal.take_unit(unit("b").key)
    assert not journal.holds_trace_line("a", trace_line("a", "another answer"))
    journal.append([trace_line("a", "another answer")], [line(unit("d"))])
    assert journal.finish() == 3
    journal.append([], [line(unit("e"))])
    journal.close()
    kept = (tmp_path / "units.jsonl").read_text().splitlines()
    assert kept == [line(unit(n)) for n in "bde"]
    assert (tmp_path / "traces.jsonl").read_text().splitlines() == [
        trace_line("a", "another answer")
    ]
    moved = (tmp_path / "superseded.jsonl").read_text().splitlines()
    assert moved == [line(unit("a")), line(unit("c")), trace_line("a")]


def test_a_journal_that_is_used_up_is_not_written_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.append([trace_line("a")], [line(unit("a"))])
    journal.close()
    journal = Journal(tmp_path)
    journal.take_unit(unit("a").key)
    assert journal.holds_trace_line("a", trace_line("a"))
    assert journal.finish() == 0
    assert not (tmp_path / "superseded.jsonl").exists()
    journal.close()


@given(cut=st.integers(0, 2000), junk=st.binary(max_size=40))
def test_cut_anywhere_it_keeps_every_whole_line_and_takes_new_ones(
    tmp_path_factory: pytest.TempPathFactory, cut: int, junk: bytes
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    names = list("abcdefgh")
    data = "".join(line(unit(n)) + "\n" for n in names).encode()[:cut]
    whole = data.count(b"\n")
    torn = junk.replace(b"\n", b"")
    (folder / "units.jsonl").write_bytes(data + torn)
    journal = Journal(folder)
    assert [n for n in names if journal.take_unit(unit(n).key)] == names[:whole]
    journal.append([], [line(unit("new"))])
    journal.close()
    journal = Journal(folder)
    assert journal.take_unit(unit("new").key) == unit("new")
    assert journal.damaged == journal.cut == 0
    journal.close()


def test_lines_in_another_style_are_read_too(tmp_path: Path) -> None:
    import json

    record = json.loads(line(unit("a")))
    text = json.dumps(dict(reversed(record.items())), indent=None) + "\n"
    (tmp_path / "units.jsonl").write_text(text + "[]\nnull\n{}\n")
    journal = Journal(tmp_path)
    assert journal.take_unit(unit("a").key) == unit("a")
    assert journal.damaged == 3
    journal.close()


@given(data=st.data())
def test_lines_of_any_length_are_found_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    # Lines that end before, at and after the borders of what is read at once.
    lengths = data.draw(
        st.lists(st.sampled_from((1, 60_000, 65_200, 65_536, 200_000)), max_size=12)
    )
    units = [unit(f"{n}", passed("é" * (k // 2 + 1))) for n, k in enumerate(lengths)]
    order = data.draw(st.permutations(units))
    folder = tmp_path_factory.mktemp("long")
    journal = Journal(folder)
    journal.append([], map(line, units))
    journal.close()
    journal = Journal(folder)
    for number, one in enumerate(order):
        assert journal.take_unit(one.key) == one
        journal.append([], [line(unit(f"new {number}"))])
    assert journal.damaged == 0
    assert journal.finish() == 0
    journal.close()


@pytest.mark.parametrize("style", ["as written", "spelled anew"])
def test_a_unit_that_was_edited_is_decided_again(tmp_path: Path, style: str) -> None:
    import json

    text = line(unit("a", failed("wrong"))).replace('"fail"', '"pass"')
    if style == "spelled anew":
        text = json.dumps(json.loads(text))
    (tmp_path / "units.jsonl").write_text(text + "\n")
    journal = Journal(tmp_path)
    assert journal.take_unit(unit("a").key) is None
    assert journal.damaged == 1
    journal.close()
