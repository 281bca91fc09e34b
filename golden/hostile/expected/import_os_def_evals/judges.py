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
    pass_when='ends with a quote". That means: ends with a backslash\\.',
    fail_when=(
        "Somewhere in the run this is not so: it is left undone where it was due, or "
        "something contradicts it. One place is enough, and it can be cited."
    ),
)

judge_83d2465e = Judge(
    '\\"',
    "\\'",
    goal="\\N{x}",
    pass_when="\\'. That means: \\N{x}.",
    fail_when=(
        "Somewhere in the run this is not so: it is left undone where it was due, or "
        "something contradicts it. One place is enough, and it can be cited."
    ),
)

n_bullet = Judge(
    "\\N{BULLET}",
    "\\u0041",
    goal="lone\rCR",
    pass_when="\\u0041. That means: lone\rCR.",
    fail_when=(
        "Somewhere in the run this is not so: it is left undone where it was due, or "
        "something contradicts it. One place is enough, and it can be cited."
    ),
)

two_lines = Judge(
    "two\r\nlines",
    "three\nshort\nlines",
    goal="line\u2028separator",
    pass_when="three\nshort\nlines. That means: line\u2028separator.",
    fail_when=(
        "Somewhere in the run this is not so: it is left undone where it was due, or "
        "something contradicts it. One place is enough, and it can be cited."
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
    pass_when="nul\x00byte. That means: escape\x1b[31mred.",
    fail_when=(
        "Somewhere in the run this is not so: it is left undone where it was due, or "
        "something contradicts it. One place is enough, and it can be cited."
    ),
)

bell_and_delete = Judge(
    "bell\x07 and delete\x7f",
    "bidi \u202eedirrevo\u202c and \u2066isolate\u2069",
    goal="\ufeffBOM and \ufeff inside",
    pass_when=(
        "bidi \u202eedirrevo\u202c and \u2066isolate\u2069. That means: \ufeffBOM and "
        "\ufeff inside."
    ),
    fail_when=(
        "Somewhere in the run this is not so: it is left undone where it was due, or "
        "something contradicts it. One place is enough, and it can be cited."
    ),
)

zero_width_joiner = Judge(
    "zero\u200bwidth\u200djoiner",
    "soft\xadhyphen, no\xa0break",
    goal="{{7*7}}{% raw %}{# comment #}{{ self }}",
    pass_when=(
        "soft\xadhyphen, no\xa0break. That means: {{7*7}}{% raw %}{# comment #}{{ self "
        "}}."
    ),
    fail_when=(
        "Somewhere in the run this is not so: it is left undone where it was due, or "
        "something contradicts it. One place is enough, and it can be cited."
    ),
)

endraw_for_x_in_y = Judge(
    "{% endraw %}{% for x in y %}",
    "{x} %s $x %(name)s ${y} {0!r}",
    goal="# coding: utf-7",
    pass_when="{x} %s $x %(name)s ${y} {0!r}. That means: # coding: utf-7.",
    fail_when=(
        "Somewhere in the run this is not so: it is left undone where it was due, or "
        "something contradicts it. One place is enough, and it can be cited."
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
    pass_when="# mypy: ignore-errors.",
    fail_when=(
        "Somewhere in the run this is not so: it is left undone where it was due, or "
        "something contradicts it. One place is enough, and it can be cited."
    ),
)

code_checks_one_function_for_each_db162698 = Judge(
    '"""Code checks: one function for each criterion that code decides."""',
    "class",
    goal="match",
    pass_when="class. That means: match.",
    fail_when=(
        "Somewhere in the run this is not so: it is left undone where it was due, or "
        "something contradicts it. One place is enough, and it can be cited."
    ),
)

none = Judge(
    "None",
    "self",
    goal="𝐝𝐞𝐟",
    pass_when="self. 𝐝𝐞𝐟.",
    fail_when=(
        "Somewhere in the run this is not so: it is left undone where it was due, or "
        "something contradicts it. One place is enough, and it can be cited."
    ),
)

fi = Judge(
    "ﬁ",
    "fi",
    goal="a-b",
    pass_when="fi. That means: a-b.",
    fail_when=(
        "Somewhere in the run this is not so: it is left undone where it was due, or "
        "something contradicts it. One place is enough, and it can be cited."
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
    pass_when="1st. That means: ../x.",
    fail_when=(
        "Somewhere in the run this is not so: it is left undone where it was due, or "
        "something contradicts it. One place is enough, and it can be cited."
    ),
)

x = Judge(
    "..\\..\\x",
    "C:\\x",
    goal="/etc/passwd",
    pass_when="C:\\x. That means: /etc/passwd.",
    fail_when=(
        "Somewhere in the run this is not so: it is left undone where it was due, or "
        "something contradicts it. One place is enough, and it can be cited."
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
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx. That "
        "means: word word word word word word word word word word word word word word "
        "word word word word word word word word word word word word word word word "
        "word word word word word word word word word word word word word word word "
        "word word word word word word word word word word word word word word word "
        "word word word word word word word word word word word."
    ),
    fail_when=(
        "Somewhere in the run this is not so: it is left undone where it was due, or "
        "something contradicts it. One place is enough, and it can be cited."
    ),
)

json_judge = Judge(
    "json",
    "typing",
    goal="conftest",
    pass_when="typing. That means: conftest.",
    fail_when=(
        "Somewhere in the run this is not so: it is left undone where it was due, or "
        "something contradicts it. One place is enough, and it can be cited."
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
    pass_when="<script>alert(1)</script>. That means: | a | b |.",
    fail_when=(
        "Somewhere in the run this is not so: it is left undone where it was due, or "
        "something contradicts it. One place is enough, and it can be cited."
    ),
)

javascript_alert_1_x_y = Judge(
    "](javascript:alert(1)) ![x](y)",
    "`code` ```fence```",
    goal="*/ --> ]]> </style>",
    pass_when="`code` ```fence```.",
    fail_when=(
        "Somewhere in the run this is not so: it is left undone where it was due, or "
        "something contradicts it. One place is enough, and it can be cited."
    ),
)

item = Judge(
    "- item",
    "1. item",
    goal="> quote",
    pass_when="1. item.",
    fail_when=(
        "Somewhere in the run this is not so: it is left undone where it was due, or "
        "something contradicts it. One place is enough, and it can be cited."
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
        "[table]\n"
        "key = "
        "'value'。日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語の"
        "文章日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日"
        "本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語の"
        "文章日本語の文章。"
    ),
    fail_when=(
        "运行中某处并非如此：该做的没有做，或有内容与之相悖。有一处即可，"
        "且该处可以引用。"
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
    pass_when='éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé. That means: ".',
    fail_when=(
        "Somewhere in the run this is not so: it is left undone where it was due, or "
        "something contradicts it. One place is enough, and it can be cited."
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
