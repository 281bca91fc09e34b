"""Judges: one for each criterion that a judge decides, each with one failure mode.

Sharpen `pass_when` and `fail_when`, say in `notes` what a judge can't know, and add
labelled `examples` from your TRAIN split. An edited judge judges its cases again.
"""

from ._runtime.criterion import Judge

judge_d5d71f7f = Judge(
    '"',
    "'",
    goal='"""',
    pass_when="'",
    fail_when='"""',
)

judge_ceecf453 = Judge(
    "'''",
    'ends with a quote"',
    goal="ends with a backslash\\",
    pass_when=(
        'Wherever the run gives occasion for it, the run shows: “ends with a quote".” '
        "Its bar is met: “ends with a backslash\\.”"
    ),
    fail_when=(
        'At least one place in the run contradicts “ends with a quote".” Or what it '
        "asks for is missing at a place where it was due. One place that misses the "
        "bar is enough: “ends with a backslash\\.”"
    ),
)

judge_83d2465e = Judge(
    '\\"',
    "\\'",
    goal="\\N{x}",
    pass_when=(
        "Wherever the run gives occasion for it, the run shows: “\\'.” Its bar is met: "
        "“\\N{x}.”"
    ),
    fail_when=(
        "At least one place in the run contradicts “\\'.” Or what it asks for is "
        "missing at a place where it was due. One place that misses the bar is enough: "
        "“\\N{x}.”"
    ),
)

n_bullet = Judge(
    "\\N{BULLET}",
    "\\u0041",
    goal="lone\rCR",
    pass_when=(
        "Wherever the run gives occasion for it, the run shows: “\\u0041.” Its bar is "
        "met: “lone\rCR.”"
    ),
    fail_when=(
        "At least one place in the run contradicts “\\u0041.” Or what it asks for is "
        "missing at a place where it was due. One place that misses the bar is enough: "
        "“lone\rCR.”"
    ),
)

two_lines = Judge(
    "two\r\nlines",
    "three\nshort\nlines",
    goal="line\u2028separator",
    pass_when=(
        "Wherever the run gives occasion for it, the run shows: “three\n"
        "short\n"
        "lines.” Its bar is met: “line\u2028separator.”"
    ),
    fail_when=(
        "At least one place in the run contradicts “three\n"
        "short\n"
        "lines.” Or what it asks for is missing at a place where it was due. One place "
        "that misses the bar is enough: “line\u2028separator.”"
    ),
)

paragraph_separator = Judge(
    "paragraph\u2029separator",
    "next\x85line",
    goal="form\x0cfeed",
    pass_when="next\x85line",
    fail_when="form\x0cfeed",
)

vertical_tab = Judge(
    "vertical\x0btab",
    "nul\x00byte",
    goal="escape\x1b[31mred",
    pass_when=(
        "Wherever the run gives occasion for it, the run shows: “nul\x00byte.” Its bar "
        "is met: “escape\x1b[31mred.”"
    ),
    fail_when=(
        "At least one place in the run contradicts “nul\x00byte.” Or what it asks for "
        "is missing at a place where it was due. One place that misses the bar is "
        "enough: “escape\x1b[31mred.”"
    ),
)

bell_and_delete = Judge(
    "bell\x07 and delete\x7f",
    "bidi \u202eedirrevo\u202c and \u2066isolate\u2069",
    goal="\ufeffBOM and \ufeff inside",
    pass_when=(
        "Wherever the run gives occasion for it, the run shows: “bidi "
        "\u202eedirrevo\u202c and \u2066isolate\u2069.” Its bar is met: “\ufeffBOM and "
        "\ufeff inside.”"
    ),
    fail_when=(
        "At least one place in the run contradicts “bidi \u202eedirrevo\u202c and "
        "\u2066isolate\u2069.” Or what it asks for is missing at a place where it was "
        "due. One place that misses the bar is enough: “\ufeffBOM and \ufeff inside.”"
    ),
)

zero_width_joiner = Judge(
    "zero\u200bwidth\u200djoiner",
    "soft\xadhyphen, no\xa0break",
    goal="{{7*7}}{% raw %}{# comment #}{{ self }}",
    pass_when=(
        "Wherever the run gives occasion for it, the run shows: “soft\xadhyphen, "
        "no\xa0break.” Its bar is met: “{{7*7}}{% raw %}{# comment #}{{ self }}.”"
    ),
    fail_when=(
        "At least one place in the run contradicts “soft\xadhyphen, no\xa0break.” Or "
        "what it asks for is missing at a place where it was due. One place that "
        "misses the bar is enough: “{{7*7}}{% raw %}{# comment #}{{ self }}.”"
    ),
)

endraw_for_x_in_y = Judge(
    "{% endraw %}{% for x in y %}",
    "{x} %s $x %(name)s ${y} {0!r}",
    goal="# coding: utf-7",
    pass_when=(
        "Wherever the run gives occasion for it, the run shows: “{x} %s $x %(name)s "
        "${y} {0!r}.” Its bar is met: “# coding: utf-7.”"
    ),
    fail_when=(
        "At least one place in the run contradicts “{x} %s $x %(name)s ${y} {0!r}.” Or "
        "what it asks for is missing at a place where it was due. One place that "
        "misses the bar is enough: “# coding: utf-7.”"
    ),
)

coding_latin_1 = Judge(
    "# -*- coding: latin-1 -*-",
    "# type: ignore",
    goal="# noqa",
    pass_when="# type: ignore",
    fail_when="# noqa",
)

fmt_off = Judge(
    "# fmt: off",
    "# mypy: ignore-errors",
    goal="<<<<<<< ours\n=======\n>>>>>>> theirs",
    pass_when=(
        "Wherever the run gives occasion for it, the run shows: “# mypy: "
        "ignore-errors.”"
    ),
    fail_when=(
        "At least one place in the run contradicts “# mypy: ignore-errors.” Or what it "
        "asks for is missing at a place where it was due."
    ),
)

code_checks_one_function_for_each_db162698 = Judge(
    '"""Code checks: one function for each criterion that code decides."""',
    "class",
    goal="match",
    pass_when=(
        "Wherever the run gives occasion for it, the run shows: “class.” Its bar is "
        "met: “match.”"
    ),
    fail_when=(
        "At least one place in the run contradicts “class.” Or what it asks for is "
        "missing at a place where it was due. One place that misses the bar is enough: "
        "“match.”"
    ),
)

none = Judge(
    "None",
    "self",
    goal="𝐝𝐞𝐟",
    pass_when=(
        "Wherever the run gives occasion for it, the run shows: “self.” Its bar is "
        "met: “𝐝𝐞𝐟.”"
    ),
    fail_when=(
        "At least one place in the run contradicts “self.” Or what it asks for is "
        "missing at a place where it was due. One place that misses the bar is enough: "
        "“𝐝𝐞𝐟.”"
    ),
)

fi = Judge(
    "ﬁ",
    "fi",
    goal="a-b",
    pass_when=(
        "Wherever the run gives occasion for it, the run shows: “fi.” Its bar is met: "
        "“a-b.”"
    ),
    fail_when=(
        "At least one place in the run contradicts “fi.” Or what it asks for is "
        "missing at a place where it was due. One place that misses the bar is enough: "
        "“a-b.”"
    ),
)

a_b = Judge(
    "a_b",
    "A_b",
    goal="😀",
    pass_when="A_b",
    fail_when="😀",
)

judge_faf12c3f = Judge(
    "👩\u200d💻❤️",
    "1st",
    goal="../x",
    pass_when=(
        "Wherever the run gives occasion for it, the run shows: “1st.” Its bar is met: "
        "“../x.”"
    ),
    fail_when=(
        "At least one place in the run contradicts “1st.” Or what it asks for is "
        "missing at a place where it was due. One place that misses the bar is enough: "
        "“../x.”"
    ),
)

x = Judge(
    "..\\..\\x",
    "C:\\x",
    goal="/etc/passwd",
    pass_when=(
        "Wherever the run gives occasion for it, the run shows: “C:\\x.” Its bar is "
        "met: “/etc/passwd.”"
    ),
    fail_when=(
        "At least one place in the run contradicts “C:\\x.” Or what it asks for is "
        "missing at a place where it was due. One place that misses the bar is enough: "
        "“/etc/passwd.”"
    ),
)

con_judge = Judge(
    "con",
    (
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
    ),
    goal=(
        "word word word word word word word word word word word word word word word "
        "word word word word word word word word word word word word word word word "
        "word word word word word word word word word word word word word word word "
        "word word word word word word word word word word word word word word word "
        "word word word word word word word word word word "
    ),
    pass_when=(
        "Wherever the run gives occasion for it, the run shows: "
        "“xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.” Its bar "
        "is met: “word word word word word word word word word word word word word "
        "word word word word word word word word word word word word word word word "
        "word word word word word word word word word word word word word word word "
        "word word word word word word word word word word word word word word word "
        "word word word word word word word word word word word word.”"
    ),
    fail_when=(
        "At least one place in the run contradicts "
        "“xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.” Or what "
        "it asks for is missing at a place where it was due. One place that misses the "
        "bar is enough: “word word word word word word word word word word word word "
        "word word word word word word word word word word word word word word word "
        "word word word word word word word word word word word word word word word "
        "word word word word word word word word word word word word word word word "
        "word word word word word word word word word word word word word.”"
    ),
)

json_judge = Judge(
    "json",
    "typing",
    goal="conftest",
    pass_when=(
        "Wherever the run gives occasion for it, the run shows: “typing.” Its bar is "
        "met: “conftest.”"
    ),
    fail_when=(
        "At least one place in the run contradicts “typing.” Or what it asks for is "
        "missing at a place where it was due. One place that misses the bar is enough: "
        "“conftest.”"
    ),
)

checks_judge = Judge(
    "checks",
    "judges",
    goal="suite",
    pass_when="judges",
    fail_when="suite",
)

case_judge = Judge(
    "Case",
    "<script>alert(1)</script>",
    goal="| a | b |",
    pass_when=(
        "Wherever the run gives occasion for it, the run shows: "
        "“<script>alert(1)</script>.” Its bar is met: “| a | b |.”"
    ),
    fail_when=(
        "At least one place in the run contradicts “<script>alert(1)</script>.” Or "
        "what it asks for is missing at a place where it was due. One place that "
        "misses the bar is enough: “| a | b |.”"
    ),
)

javascript_alert_1_x_y = Judge(
    "](javascript:alert(1)) ![x](y)",
    "`code` ```fence```",
    goal="*/ --> ]]> </style>",
    pass_when=(
        "Wherever the run gives occasion for it, the run shows: “`code` ```fence```.”"
    ),
    fail_when=(
        "At least one place in the run contradicts “`code` ```fence```.” Or what it "
        "asks for is missing at a place where it was due."
    ),
)

item = Judge(
    "- item",
    "1. item",
    goal="> quote",
    pass_when="Wherever the run gives occasion for it, the run shows: “1. item.”",
    fail_when=(
        "At least one place in the run contradicts “1. item.” Or what it asks for is "
        "missing at a place where it was due."
    ),
)

judge_37c610f5 = Judge(
    "--- \n+++ ",
    "[table]\nkey = 'value'",
    goal=(
        "日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語"
        "の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章"
        "日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語"
        "の文章"
    ),
    pass_when=(
        "Wherever the run gives occasion for it, the run shows: “[table]\n"
        "key = 'value'.” Its bar is met: "
        "“日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本"
        "語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語の文"
        "章日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本"
        "語の文章.”"
    ),
    fail_when=(
        "At least one place in the run contradicts “[table]\n"
        "key = 'value'.” Or what it asks for is missing at a place where it was due. "
        "One place that misses the bar is enough: "
        "“日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本"
        "語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語の文"
        "章日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本"
        "語の文章.”"
    ),
)

judge_d2b5be5f = Judge(
    "हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी ",
    (
        "ภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภ"
        "าษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทย"
    ),
    goal=(
        "العربية العربية العربية العربية العربية العربية العربية العربية العربية "
        "العربية العربية العربية العربية العربية العربية العربية العربية العربية "
        "العربية العربية "
    ),
    pass_when=(
        "ภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภ"
        "าษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทย"
    ),
    fail_when=(
        "العربية العربية العربية العربية العربية العربية العربية العربية العربية "
        "العربية العربية العربية العربية العربية العربية العربية العربية العربية "
        "العربية العربية "
    ),
)

judge_1a90ff11 = Judge(
    (
        "русский русский русский русский русский русский русский русский русский "
        "русский русский русский русский русский русский русский русский русский "
        "русский русский "
    ),
    "éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé",
    goal='"',
    pass_when=(
        "Wherever the run gives occasion for it, the run shows: "
        "“éééééééééééééééééééééééééééééééééééééé"
        'éééééééééééééééééééééé.” Its bar is met: “".”'
    ),
    fail_when=(
        "At least one place in the run contradicts "
        "“éééééééééééééééééééééééééééééééééééééé"
        "éééééééééééééééééééééé.” Or what it asks for is missing "
        'at a place where it was due. One place that misses the bar is enough: “".”'
    ),
)

scenario_behavior = Judge(
    "scenario-behavior",
    "The run shows the behaviour that its scenario expects.",
    pass_when=(
        "The run does everything that the case's expected behaviour says, and the "
        "places that show it can be cited. Where the right behaviour is to refuse, to "
        "hold or to do nothing, a run that does so passes."
    ),
    fail_when=(
        "The run leaves out a part of the case's expected behaviour, or does something "
        "that it rules out, and the place (or what is missing where it was due) can be "
        "cited."
    ),
)
