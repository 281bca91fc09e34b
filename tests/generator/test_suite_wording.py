"""A judge's two definitions as a colleague would have written them."""

import pytest
from helix_gen.suite.wording import MAX_NEGATED, fail_when, pass_when
from helix_runtime.criterion import Judge
from helix_runtime.judges.prompt import definition_text
from hypothesis import given
from hypothesis import strategies as st

ENOUGH = " One place is enough, and it can be cited."
SOMEWHERE = "Somewhere in the run this is not so"


@pytest.mark.parametrize(
    ("statement", "goal", "text"),
    [
        ("Each claim has a source.", "", "Each claim has a source."),
        ("Each claim has a source", "", "Each claim has a source."),
        ("It is kind.", "Never", "It is kind. There is no exception."),
        ("It is kind.", "100 %.", "It is kind. There is no exception."),
        ("It is kind.", "Every answer", "It is kind. This holds for every answer."),
        (
            "It is kind.",
            "Every answer is kind",
            "It is kind. That means: every answer is kind.",
        ),
        ("It is kind.", "No insult.", "It is kind. That means: no insult."),
        ("It is kind.", "GDPR holds", "It is kind. That means: GDPR holds."),
        ("Each reply is kind.", "Each reply", "Each reply is kind."),
        ("It is kind.", "it is kind", "It is kind."),
        # What is about many runs is not for a judge of one.
        ("It is kind.", "At least 95% of replies", "It is kind."),
        ("It is kind.", "98.5% kind", "It is kind."),
        ("It is kind.", "Zero per-task rules", "It is kind. That means: zero per-task"),
    ],
)
def test_a_pass_is_the_statement_and_what_its_goal_adds(
    statement: str, goal: str, text: str
) -> None:
    assert pass_when(statement, goal).startswith(text)


@pytest.mark.parametrize(
    ("statement", "negated"),
    [
        ("Every claim cites a source.", "Not every claim cites a source."),
        ("Each claim has a date and a name.", "Not every claim has a date and a name."),
        ("All replies are polite", "Not all replies are polite."),
        ("The agent never reveals its prompt.", "The agent reveals its prompt."),
        ("The agent must never give advice.", "The agent gives advice."),
        ("The agent does not promise a refund.", "The agent promises a refund."),
        ("The reply is not rude.", "The reply is rude."),
        ("It isn't rude.", "It is rude."),
        ("The answer makes no promise.", "The answer makes some promise."),
        ("No secrets are shown.", "Some secrets are shown."),
        ("Nothing is booked before a yes.", "Something is booked before a yes."),
        ("The answer must cite a source.", "The answer does not cite a source."),
        ("The reply should be polite.", "The reply is not polite."),
        ("The message says why.", "The message does not say why."),
        ("The agent replies at once.", "The agent does not reply at once."),
        (
            "When the order is late, the agent says so.",
            "When the order is late, the agent does not say so.",
        ),
    ],
)
def test_a_fail_is_the_plain_negation(statement: str, negated: str) -> None:
    assert fail_when(statement) == negated + ENOUGH


@pytest.mark.parametrize(
    "statement",
    [
        "The agent asks for the number and waits.",  # "not" would reach one half
        "The answer is short; it names a price.",
        "The answer names no price unless it is asked.",
        "The agent books nothing without a yes.",
        "Cite sources.",
        "Tone fits.",
        "Jede Antwort nennt eine Quelle.",
        "The answer is kind. " * 40,
        "",
    ],
)
def test_what_can_not_be_negated_safely_gets_words_that_always_fit(
    statement: str,
) -> None:
    text = fail_when(statement)
    assert text.startswith(SOMEWHERE) and text.endswith(ENOUGH)


@given(st.text(max_size=2 * MAX_NEGATED))
def test_any_text_has_its_definitions(text: str) -> None:
    assert fail_when(text).endswith(ENOUGH)
    assert text.strip() in pass_when(text, text)


def test_the_judge_reads_the_statement_once() -> None:
    statement, goal = "Every claim cites a source.", "Zero unsupported claims"
    judge = Judge(
        "cites",
        statement,
        pass_when(statement, goal),
        fail_when(statement),
        goal=goal,
    )
    text = definition_text(judge)
    assert text.count(statement) == 1
    assert text.count("ero unsupported claims") == 1


def test_a_judge_of_other_words_still_reads_the_statement_and_the_goal() -> None:
    judge = Judge("cites", "Claims are cited.", "A.", "B.", goal="Always")
    assert definition_text(judge).startswith("Criterion `cites`: Claims are cited.\n")
    assert "Goal: Always" in definition_text(judge)
