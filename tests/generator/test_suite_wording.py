"""A judge's two definitions as a colleague would have written them."""

import pytest
from helix_gen.suite.languages import ENGLISH, language_of
from helix_gen.suite.wording import MAX_NEGATED, fail_when, pass_when
from helix_runtime.criterion import Judge
from helix_runtime.judges.prompt import definition_text
from hypothesis import given
from hypothesis import strategies as st
from support.wording_rows import ENGLISH_ROWS, OTHER_ROWS

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
        ("It is kind.", "p95 of the replies", "It is kind."),
        # A share of what stands in one run is for a judge of one.
        ("It is kind.", "≥95% of turns", "It is kind. That means: ≥95% of turns."),
        ("It is kind.", "p^3 on the golden set", "It is kind."),
        ("It is kind.", "Median of three raters agrees", "It is kind."),
        # A score is no verdict, and what the statement says needs no second saying.
        ("It is kind.", "Rated 4 of 5 or better", "It is kind."),
        ("It cites at least two facts.", "at least two facts", "It cites at least two"),
    ],
)
def test_a_pass_is_the_statement_and_what_its_goal_adds(
    statement: str, goal: str, text: str
) -> None:
    assert pass_when(statement, goal).startswith(text)
    if not text.endswith("per-task") and not text.endswith("at least two"):
        assert pass_when(statement, goal) == text


@pytest.mark.parametrize(
    ("statement", "goal", "passes"),
    [
        (
            "Kein Betrag ist erfunden.",
            "In jedem Fall",
            "Kein Betrag ist erfunden. Das gilt ohne Ausnahme.",
        ),
        (
            "Die Antwort nennt eine Quelle",
            "Keine Behauptung ohne Quelle.",
            "Die Antwort nennt eine Quelle. Keine Behauptung ohne Quelle.",
        ),
        (
            "La réponse cite une source.",
            "Toujours",
            "La réponse cite une source. Cela vaut sans exception.",
        ),
        (
            "回答は敬語で書かれている。",
            "例外なし",
            "回答は敬語で書かれている。例外はない。",
        ),
        (
            "Unleserliche Felder bleiben leer.",
            "Immer",
            "Unleserliche Felder bleiben leer. Das gilt ohne Ausnahme.",
        ),
        ("回答は短い", "三文以内", "回答は短い。三文以内。"),
        ("回答は短い。", "95%以上のケース", "回答は短い。"),
        ("回答は短い。", "Always", "回答は短い。例外はない。"),
        ("答案必须引用来源。", "必须", "答案必须引用来源。没有例外。"),
        ("답변은 짧다.", "항상", "답변은 짧다. 예외는 없다."),
        ("Ответ краток.", "Всегда", "Ответ краток. Исключений нет."),
        ("Odpowiedź zawiera źródło.", "Zawsze", "Odpowiedź zawiera źródło. Zawsze."),
    ],
)
def test_definitions_keep_to_the_language_of_the_statement(
    statement: str, goal: str, passes: str
) -> None:
    assert pass_when(statement, goal) == passes
    language = language_of(statement, goal)
    assert language is not ENGLISH
    fails = ENGLISH.somewhere if language is None else language.somewhere
    assert fail_when(statement, goal) == fails


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Die Antwort nennt den Preis und die Quelle.", "Irgendwo"),
        ("La respuesta no contiene ningún precio.", "En algún"),
        ("La risposta non contiene nessun prezzo.", "In qualche"),
        ("A resposta não contém nenhum preço.", "Em algum"),
        ("Het antwoord noemt geen prijs.", "Ergens"),
        ("La réponse ne contient aucun prix.", "Quelque"),
        ("The agent answers in German.", "Somewhere"),
        ("Cite sources.", "Somewhere"),
        ("The café's menu is named.", "Somewhere"),
        ("", "Somewhere"),
    ],
)
def test_a_language_is_told_by_its_small_words(text: str, first: str) -> None:
    language = language_of(text)
    assert language is not None
    assert language.somewhere.startswith(first)


@pytest.mark.parametrize(
    "text", ["Odpowiedź zawiera źródło.", "الإجابة قصيرة", "Відповідь є"]
)
def test_a_language_that_is_not_known_is_not_taken_for_another(text: str) -> None:
    assert language_of(text) is None


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
        ("The agent answers politely.", "The agent does not answer politely."),
        ("No finding blames the author.", "Some finding blames the author."),
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
        "Odpowiedź zawiera źródło.",
        "The answers cite a source.",  # of many answers: cite is the verb
        "The final notes are written for a reader.",
        "The answer is kind. " * 40,
        "",
    ],
)
def test_what_can_not_be_negated_safely_gets_words_that_always_fit(
    statement: str,
) -> None:
    text = fail_when(statement)
    assert text.startswith(SOMEWHERE) and text.endswith(ENOUGH)


@pytest.mark.parametrize(("statement", "negated"), ENGLISH_ROWS)
def test_a_judge_is_given_a_true_negation_or_none(
    statement: str, negated: str | None
) -> None:
    text = fail_when(statement)
    assert text == (ENGLISH.somewhere if negated is None else negated + ENOUGH)


@pytest.mark.parametrize(
    ("start", "statement"),
    [(start, row) for start, rows in OTHER_ROWS.items() for row in rows],
)
def test_no_other_language_is_negated(start: str, statement: str) -> None:
    assert fail_when(statement).startswith(start)


@given(st.text(max_size=2 * MAX_NEGATED))
def test_any_text_has_its_definitions(text: str) -> None:
    assert fail_when(text).strip()
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
