"""Code checks: one function for each criterion that code decides.

A check reads the case and the trace, and says what it saw with `passed`, `failed`,
`not_applicable` or `uncertain` of `_runtime.verdict`. It reads no clock, no random
source and no network. `_runtime.checks` has ready-made ones. What a tool gave
back may be JSON text: look into `call.result_data`, not into `call.result`.
"""

from ._runtime.case import Case
from ._runtime.checks import combine, expect, facts, output, tools
from ._runtime.criterion import check, unwritten
from ._runtime.trace import Trace
from ._runtime.verdict import Verdict
from .subject import ACTION_OPERATIONS, DECLARED_TOOLS, OUTBOUND_ACTIONS, WORKFLOW


@check("'", '"""', goal="'''")
def check_ce6ac31f(case: Case, trace: Trace) -> Verdict:
    """Pass where the output contains all (or any) of `texts`."""
    return output.contains(
        case,
        trace,
        texts=['ends with a quote"', "ends with a backslash\\"],
    )


@check('"""', "'''", goal='ends with a quote"')
def check_830abb3c(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check('ends with a quote"', "ends with a backslash\\", goal='\\"')
def ends_with_a_quote(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check("ends with a backslash\\", '\\"', goal="\\'")
def ends_with_a_backslash(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check("\\'", "\\N{x}", goal="\\N{BULLET}")
def check_94247b41(case: Case, trace: Trace) -> Verdict:
    """Pass where every part that applies passes."""
    return combine.all_of(
        output.equals(case, trace, value={"\\'": ["\\N{x}", None, -0.0, 1e22, 12]}),
        combine.negate(tools.called(case, trace, name="\\N{BULLET}")),
    )


@check("\\N{x}", "\\N{BULLET}", goal="\\u0041")
def n_x(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check("\\u0041", "lone\rCR", goal="two\r\nlines")
def u0041(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check("lone\rCR", "two\r\nlines", goal="three\nshort\nlines")
def lone_cr(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check("three\nshort\nlines", "line\u2028separator", goal="paragraph\u2029separator")
def three_short_lines(case: Case, trace: Trace) -> Verdict:
    """Pass where the run called the tool `name`, within limits of how often."""
    return tools.called(case, trace, name="vertical\x0btab")


@check("line\u2028separator", "paragraph\u2029separator", goal="next\x85line")
def line_separator(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check("next\x85line", "form\x0cfeed", goal="vertical\x0btab")
def next_line(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check("form\x0cfeed", "vertical\x0btab", goal="nul\x00byte")
def form_feed(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check("nul\x00byte", "escape\x1b[31mred", goal="bell\x07 and delete\x7f")
def nul_byte(case: Case, trace: Trace) -> Verdict:
    """Pass where the output contains all (or any) of `texts`."""
    return output.contains(
        case,
        trace,
        texts=[
            "bidi \u202eedirrevo\u202c and \u2066isolate\u2069",
            "\ufeffBOM and \ufeff inside",
        ],
    )


@check(
    "escape\x1b[31mred",
    "bell\x07 and delete\x7f",
    goal="bidi \u202eedirrevo\u202c and \u2066isolate\u2069",
)
def escape_31mred(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check(
    "bidi \u202eedirrevo\u202c and \u2066isolate\u2069",
    "\ufeffBOM and \ufeff inside",
    goal="zero\u200bwidth\u200djoiner",
)
def bidi_edirrevo_and_isolate(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check(
    "\ufeffBOM and \ufeff inside",
    "zero\u200bwidth\u200djoiner",
    goal="soft\xadhyphen, no\xa0break",
)
def bom_and_inside(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check(
    "soft\xadhyphen, no\xa0break",
    "{{7*7}}{% raw %}{# comment #}{{ self }}",
    goal="{% endraw %}{% for x in y %}",
)
def soft_hyphen_no_break(case: Case, trace: Trace) -> Verdict:
    """Pass where every part that applies passes."""
    return combine.all_of(
        output.equals(
            case,
            trace,
            value={
                "soft\xadhyphen, no\xa0break": [
                    "{{7*7}}{% raw %}{# comment #}{{ self }}",
                    None,
                    -0.0,
                    1e22,
                    12,
                ],
            },
        ),
        combine.negate(tools.called(case, trace, name="{% endraw %}{% for x in y %}")),
    )


@check(
    "{{7*7}}{% raw %}{# comment #}{{ self }}",
    "{% endraw %}{% for x in y %}",
    goal="{x} %s $x %(name)s ${y} {0!r}",
)
def check_7_7_raw_comment_self(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check(
    "{x} %s $x %(name)s ${y} {0!r}",
    "# coding: utf-7",
    goal="# -*- coding: latin-1 -*-",
)
def x_s_x_name_s_y_0_r(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check("# coding: utf-7", "# -*- coding: latin-1 -*-", goal="# type: ignore")
def coding_utf_7(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check("# type: ignore", "# noqa", goal="# fmt: off")
def type_ignore(case: Case, trace: Trace) -> Verdict:
    """Pass where the run called the tool `name`, within limits of how often."""
    return tools.called(
        case,
        trace,
        name='"""Code checks: one function for each criterion that code decides."""',
    )


@check("# noqa", "# fmt: off", goal="# mypy: ignore-errors")
def noqa(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check(
    "# mypy: ignore-errors",
    "<<<<<<< ours\n=======\n>>>>>>> theirs",
    goal='"""Code checks: one function for each criterion that code decides."""',
)
def mypy_ignore_errors(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check(
    "<<<<<<< ours\n=======\n>>>>>>> theirs",
    '"""Code checks: one function for each criterion that code decides."""',
    goal="class",
)
def ours_theirs(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check("class", "match", goal="None")
def class_check(case: Case, trace: Trace) -> Verdict:
    """Pass where the output contains all (or any) of `texts`."""
    return output.contains(case, trace, texts=["self", "𝐝𝐞𝐟"])


@check("match", "None", goal="self")
def match_check(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check("self", "𝐝𝐞𝐟", goal="ﬁ")
def self_check(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check("𝐝𝐞𝐟", "ﬁ", goal="fi")
def def_check(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check("fi", "a-b", goal="a_b")
def fi(case: Case, trace: Trace) -> Verdict:
    """Pass where every part that applies passes."""
    return combine.all_of(
        output.equals(case, trace, value={"fi": ["a-b", None, -0.0, 1e22, 12]}),
        combine.negate(tools.called(case, trace, name="a_b")),
    )


@check("a-b", "a_b", goal="A_b")
def a_b(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check("A_b", "😀", goal="👩\u200d💻❤️")
def a_b_5dae7927(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check("😀", "👩\u200d💻❤️", goal="1st")
def check_a7ae7eed(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check("1st", "../x", goal="..\\..\\x")
def check_1st(case: Case, trace: Trace) -> Verdict:
    """Pass where the run called the tool `name`, within limits of how often."""
    return tools.called(case, trace, name="con")


@check("../x", "..\\..\\x", goal="C:\\x")
def x(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check("C:\\x", "/etc/passwd", goal="con")
def c_x(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check(
    "/etc/passwd",
    "con",
    goal=(
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
    ),
)
def etc_passwd(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check(
    (
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
    ),
    (
        "word word word word word word word word word word word word word word word "
        "word word word word word word word word word word word word word word word "
        "word word word word word word word word word word word word word word word "
        "word word word word word word word word word word word word word word word "
        "word word word word word word word word word word "
    ),
    goal="json",
)
def xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_1bcb6e3d(case: Case, trace: Trace) -> Verdict:
    """Pass where the output contains all (or any) of `texts`."""
    return output.contains(case, trace, texts=["typing", "conftest"])


@check(
    (
        "word word word word word word word word word word word word word word word "
        "word word word word word word word word word word word word word word word "
        "word word word word word word word word word word word word word word word "
        "word word word word word word word word word word word word word word word "
        "word word word word word word word word word word "
    ),
    "json",
    goal="typing",
)
def word_word_word_word_word_word_word_09529a28(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check("typing", "conftest", goal="checks")
def typing_check(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check("conftest", "checks", goal="judges")
def conftest_check(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check("judges", "suite", goal="Case")
def judges_check(case: Case, trace: Trace) -> Verdict:
    """Pass where every part that applies passes."""
    return combine.all_of(
        output.equals(case, trace, value={"judges": ["suite", None, -0.0, 1e22, 12]}),
        combine.negate(tools.called(case, trace, name="Case")),
    )


@check("suite", "Case", goal="<script>alert(1)</script>")
def suite_check(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check("<script>alert(1)</script>", "| a | b |", goal="](javascript:alert(1)) ![x](y)")
def script_alert_1_script(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check("| a | b |", "](javascript:alert(1)) ![x](y)", goal="`code` ```fence```")
def a_b_a1dd8773(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check("`code` ```fence```", "*/ --> ]]> </style>", goal="- item")
def code_fence(case: Case, trace: Trace) -> Verdict:
    """Pass where the run called the tool `name`, within limits of how often."""
    return tools.called(case, trace, name="--- \n+++ ")


@check("*/ --> ]]> </style>", "- item", goal="1. item")
def style(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check("1. item", "> quote", goal="--- \n+++ ")
def check_1_item(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check("> quote", "--- \n+++ ", goal="[table]\nkey = 'value'")
def quote(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check(
    "[table]\nkey = 'value'",
    (
        "日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語"
        "の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章"
        "日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語"
        "の文章"
    ),
    goal=(
        "हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी "
        "हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी "
    ),
)
def table_key_value(case: Case, trace: Trace) -> Verdict:
    """Pass where the output contains all (or any) of `texts`."""
    return output.contains(
        case,
        trace,
        texts=[
            (
                "ภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทย"
                "ภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทย"
            ),
            (
                "العربية العربية العربية العربية العربية العربية العربية العربية "
                "العربية العربية العربية العربية العربية العربية العربية العربية "
                "العربية العربية العربية العربية "
            ),
        ],
    )


@check(
    (
        "日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語"
        "の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章"
        "日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語"
        "の文章"
    ),
    "हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी ",
    goal=(
        "ภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภ"
        "าษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทย"
    ),
)
def check_bcce9f7d(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check(
    (
        "ภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภ"
        "าษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทย"
    ),
    (
        "العربية العربية العربية العربية العربية العربية العربية العربية العربية "
        "العربية العربية العربية العربية العربية العربية العربية العربية العربية "
        "العربية العربية "
    ),
    goal=(
        "русский русский русский русский русский русский русский русский русский "
        "русский русский русский русский русский русский русский русский русский "
        "русский русский "
    ),
)
def check_edb55395(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check(
    (
        "العربية العربية العربية العربية العربية العربية العربية العربية العربية "
        "العربية العربية العربية العربية العربية العربية العربية العربية العربية "
        "العربية العربية "
    ),
    (
        "русский русский русский русский русский русский русский русский русский "
        "русский русский русский русский русский русский русский русский русский "
        "русский русский "
    ),
    goal="éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé",
)
def check_0172802e(case: Case, trace: Trace) -> Verdict:
    """Not written yet: replace this text, return passed(...) or failed(...)."""
    return unwritten()


@check(
    "éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé",
    '"',
    goal="'",
)
def eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee_b6a9fcc1(case: Case, trace: Trace) -> Verdict:
    """Pass where every part that applies passes."""
    return combine.all_of(
        output.equals(
            case,
            trace,
            value={
                "éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé": [
                    '"',
                    None,
                    -0.0,
                    1e22,
                    12,
                ],
            },
        ),
        combine.negate(tools.called(case, trace, name="'")),
    )


@check(
    "expected-actions",
    "The run calls the outbound actions that its case expects, and no other.",
)
def expected_actions(case: Case, trace: Trace) -> Verdict:
    """Pass where the run calls the outbound actions its case expects, and no other."""
    return expect.actions(
        case,
        trace,
        outbound=OUTBOUND_ACTIONS,
        operations=ACTION_OPERATIONS,
    )


@check("declared-tools", "The run calls no tool that the spec does not declare.")
def declared_tools(case: Case, trace: Trace) -> Verdict:
    """Pass where every call is of a declared tool; also where there is no call."""
    return tools.only_declared(case, trace, declared=DECLARED_TOOLS)


@check(
    "workflow-facts",
    (
        "The workflow's entry, edges, contexts and executors resolve, and each node "
        "can be reached."
    ),
)
def workflow_facts(case: Case, trace: Trace) -> Verdict:
    """Pass where the workflow's graph is sound."""
    return facts.workflow_resolves(case, trace, workflow=WORKFLOW)
