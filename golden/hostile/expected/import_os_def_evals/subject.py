"""Who is judged, and what the spec says of it: judges and checks share this."""

from typing import Any

from ._runtime.suite import Subject, Tool

SUBJECT = Subject(
    id='"""; import os #\u202e 𝐝𝐞𝐟',
    name="<b>*x*</b> | `y` ''' \"\"\"\r\n# coding: utf-7",
    version="1.0\\",
    kind="agent",
    purpose='"',
    scope=[
        "\\'",
        "\\N{BULLET}",
        '"',
        "ends with a backslash\\",
        "\\u0041",
        "paragraph\u2029separator",
        "escape\x1b[31mred",
        "soft\xadhyphen, no\xa0break",
        "# -*- coding: latin-1 -*-",
        "<<<<<<< ours\n=======\n>>>>>>> theirs",
        "self",
        "a_b",
        "../x",
        (
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
            "xxxx"
        ),
        "checks",
        "| a | b |",
        "1. item",
        (
            "हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी "
            "हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी"
        ),
        "Not in scope: \\u0041",
    ],
    tools=[
        Tool(
            "lone\rCR",
            "two\r\nlines. Operations: # type: ignore.",
            reversibility="none",
        ),
        Tool(
            "two\r\nlines",
            "three\nshort\nlines. Operations: # noqa.",
            reversibility="none",
        ),
        Tool(
            "three\nshort\nlines",
            "line\u2028separator. Operations: # fmt: off.",
            reversibility="none",
        ),
        Tool(
            "escape\x1b[31mred",
            (
                "bell\x07 and delete\x7f. Operations: # -*- coding: latin-1 -*-, # "
                "type: ignore."
            ),
            outbound=True,
        ),
        Tool(
            "bell\x07 and delete\x7f",
            (
                "bidi \u202eedirrevo\u202c and \u2066isolate\u2069. Operations: # "
                "type: ignore, # noqa."
            ),
            outbound=True,
        ),
        Tool(
            "a_b",
            (
                "A_b. Operations: "
                "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                "xxxxxxxxxxxxxxxxxxxx, word word word word word word word word word "
                "word word word word word word word word word word word word word word "
                "word word word word word word word word word word word word word word "
                "word word word word word word word word word word word word word word "
                "word word word word word word word word word word word word word word "
                "word word word word word ."
            ),
            outbound=True,
        ),
        Tool("zero\u200bwidth\u200djoiner", "soft\xadhyphen, no\xa0break"),
        Tool("{{7*7}}{% raw %}{# comment #}{{ self }}", "A skill."),
    ],
    harness='"""Code checks: one function for each criterion that code decides."""',
    system_prompt=(
        '"\n'
        "'\n"
        '"""\n'
        "'''\n"
        'ends with a quote"\n'
        "ends with a backslash\\\n"
        '\\"\n'
        "\\'\n"
        "\\N{x}\n"
        "\\N{BULLET}\n"
        "\\u0041\n"
        "lone\rCR\n"
        "two\r\n"
        "lines\n"
        "three\n"
        "short\n"
        "lines\n"
        "line\u2028separator\n"
        "paragraph\u2029separator\n"
        "next\x85line\n"
        "form\x0cfeed\n"
        "vertical\x0btab\n"
        "nul\x00byte\n"
        "escape\x1b[31mred\n"
        "bell\x07 and delete\x7f\n"
        "bidi \u202eedirrevo\u202c and \u2066isolate\u2069\n"
        "\ufeffBOM and \ufeff inside\n"
        "zero\u200bwidth\u200djoiner\n"
        "soft\xadhyphen, no\xa0break\n"
        "{{7*7}}{% raw %}{# comment #}{{ self }}\n"
        "{% endraw %}{% for x in y %}\n"
        "{x} %s $x %(name)s ${y} {0!r}\n"
        "# coding: utf-7\n"
        "# -*- coding: latin-1 -*-\n"
        "# type: ignore\n"
        "# noqa\n"
        "# fmt: off\n"
        "# mypy: ignore-errors\n"
        "<<<<<<< ours\n"
        "=======\n"
        ">>>>>>> theirs\n"
        '"""Code checks: one function for each criterion that code decides."""\n'
        "class\n"
        "match\n"
        "None\n"
        "self\n"
        "𝐝𝐞𝐟\n"
        "ﬁ\n"
        "fi\n"
        "a-b\n"
        "a_b\n"
        "A_b\n"
        "😀\n"
        "👩\u200d💻❤️\n"
        "1st\n"
        "../x\n"
        "..\\..\\x\n"
        "C:\\x\n"
        "/etc/passwd\n"
        "con\n"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"
        "word word word word word word word word word word word word word word word "
        "word word word word word word word word word word word word word word word "
        "word word word word word word word word word word word word word word word "
        "word word word word word word word word word word word word word word word "
        "word word word word word word word word word word \n"
        "json\n"
        "typing\n"
        "conftest\n"
        "checks\n"
        "judges\n"
        "suite\n"
        "Case\n"
        "<script>alert(1)</script>\n"
        "| a | b |\n"
        "](javascript:alert(1)) ![x](y)\n"
        "`code` ```fence```\n"
        "*/ --> ]]> </style>\n"
        "- item\n"
        "1. item\n"
        "> quote\n"
        "--- \n"
        "+++ \n"
        "[table]\n"
        "key = 'value'\n"
        "日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語"
        "の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章"
        "日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語の文章日本語"
        "の文章\n"
        "हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी "
        "हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी हिन्दी \n"
        "ภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภ"
        "าษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทยภาษาไทย\n"
        "العربية العربية العربية العربية العربية العربية العربية العربية العربية "
        "العربية العربية العربية العربية العربية العربية العربية العربية العربية "
        "العربية العربية \n"
        "русский русский русский русский русский русский русский русский русский "
        "русский русский русский русский русский русский русский русский русский "
        "русский русский \n"
        "ééééééééééééééééééééééééééééééééééééééé"
        "ééééééééééééééééééééé"
    ),
)

OUTBOUND_ACTIONS: list[str] = [
    "escape\x1b[31mred",
    "# -*- coding: latin-1 -*-",
    "# type: ignore",
    "bell\x07 and delete\x7f",
    "# noqa",
    "a_b",
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
]

ACTION_OPERATIONS: dict[str, list[str]] = {
    "escape\x1b[31mred": ["# -*- coding: latin-1 -*-", "# type: ignore"],
    "bell\x07 and delete\x7f": ["# type: ignore", "# noqa"],
    "a_b": [
        (
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
            "xxxx"
        ),
        (
            "word word word word word word word word word word word word word word "
            "word word word word word word word word word word word word word word "
            "word word word word word word word word word word word word word word "
            "word word word word word word word word word word word word word word "
            "word word word word word word word word word word word word word word "
        ),
    ],
}

DECLARED_TOOLS: list[str] = [
    "lone\rCR",
    "# type: ignore",
    "two\r\nlines",
    "# noqa",
    "three\nshort\nlines",
    "# fmt: off",
    "escape\x1b[31mred",
    "# -*- coding: latin-1 -*-",
    "bell\x07 and delete\x7f",
    "a_b",
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
    "zero\u200bwidth\u200djoiner",
    "{{7*7}}{% raw %}{# comment #}{{ self }}",
]

WORKFLOW: dict[str, Any] = {
    "entry": "# -*- coding: latin-1 -*-",
    "nodes": [
        {
            "id": "# -*- coding: latin-1 -*-",
            "executor": None,
            "contextRefs": [],
            "edges": [{"to": "# noqa", "condition": "# fmt: off", "loop": None}],
            "terminal": False,
        },
        {
            "id": "# noqa",
            "executor": None,
            "contextRefs": [],
            "edges": [],
            "terminal": True,
        },
    ],
    "actions": [
        {"id": "escape\x1b[31mred", "approval": "escape\x1b[31mred"},
        {"id": "bell\x07 and delete\x7f", "approval": "bell\x07 and delete\x7f"},
        {"id": "a_b", "approval": "a_b"},
    ],
    "contexts": ["lone\rCR", "two\r\nlines", "three\nshort\nlines"],
    "members": [],
}
