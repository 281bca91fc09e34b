"""The formats that `output.format` and a JSON schema's `format` know."""

from collections.abc import Callable, Mapping
from typing import Final

_EMAIL: Final = (
    r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}"
    r"@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
    r"(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)+"
)
_CLOCK: Final = r"(?:[01]\d|2[0-3]):[0-5]\d"
_TIME: Final = rf"{_CLOCK}:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-]{_CLOCK})"
_UUID: Final = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_NUMBER: Final = r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?"
_INTEGER: Final = r"-?(?:0|[1-9]\d*)"
# What renders: headings, lists, quotes, rules, fences, tables; emphasis, code, links.
# Each repeat stops at its own opening character or is bounded, so that a hostile text
# costs no more than its length.
_MARKDOWN: Final = (
    r"(?m)^ {0,3}(?:#{1,6}[ \t]|[-*+][ \t]|\d{1,9}[.)][ \t]|>|```|~~~"
    r"|\|.*\|[ \t]*$|(?:[-*_][ \t]?){3,}$|=+[ \t]*$|:?-+:?[ \t]*\|[-:| \t]*$)"
    r"|\*\*[^\s*]|(?<!\w)__[^\W_]|(?<![\w*])\*[^\s*][^*\n]{0,500}\*(?![\w*])"
    r"|`[^`\n]+`|!?\[[^\[\]\n]{0,500}\]\([^()\n]{0,500}\)"
)


def _full(pattern: str, text: str) -> bool:
    import re

    return re.fullmatch(pattern, text, re.ASCII) is not None


def _json(text: str, kinds: tuple[type, ...] | None) -> str | None:
    from ..strict_json import unambiguous

    try:
        value = unambiguous(text)
    except RecursionError:
        return "it is nested too deeply"
    except ValueError as error:
        if "```" in text:
            return "there is a code fence or prose around the JSON"
        return f"it is not JSON ({error})"
    if kinds is not None and not isinstance(value, kinds):
        return f"its JSON is a {type(value).__name__}"
    return None


def _integer(text: str) -> str | None:
    return None if _full(_INTEGER, text) else "it is not a whole number"


def _number(text: str) -> str | None:
    # 1e999 has the form of a number and is infinite: it never passes.
    if not _full(_NUMBER, text) or float(text) in (float("inf"), float("-inf")):
        return "it is not a finite number"
    return None


def _date(text: str) -> str | None:
    from datetime import date

    try:
        if _full(r"\d{4}-\d\d-\d\d", text):
            date.fromisoformat(text)
            return None
    except ValueError:
        pass
    return "it is not a date of the calendar, YYYY-MM-DD"


def _time(text: str) -> str | None:
    if _full(_TIME, text):
        return None
    return "it is not a time with its offset, HH:MM:SSZ"


def _date_time(text: str) -> str | None:
    if text[10:11] in ("T", "t", " ") and not (_date(text[:10]) or _time(text[11:])):
        return None
    return "it is not a date and time with its offset, YYYY-MM-DDTHH:MM:SSZ"


def _email(text: str) -> str | None:
    local = text.partition("@")[0]
    if len(text) <= 320 and _full(_EMAIL, text):
        if not (local.startswith(".") or local.endswith(".") or ".." in local):
            return None
    return "it is not one e-mail address"


def _url(text: str) -> str | None:
    from urllib.parse import urlsplit

    wrong = "it is not one absolute http or https URL"
    if any(c.isspace() or c in '<>"{}|\\^`' or ord(c) < 32 for c in text):
        return wrong
    try:
        parts = urlsplit(text)
        parts.port  # noqa: B018  (raises ValueError for a port that is none)
    except ValueError:
        return wrong
    return None if parts.scheme in ("http", "https") and parts.hostname else wrong


def _uuid(text: str) -> str | None:
    return None if _full(_UUID, text.lower()) else "it is not a UUID"


def _address(version: int) -> Callable[[str], str | None]:
    def find(text: str) -> str | None:
        import ipaddress

        try:
            if ipaddress.ip_address(text).version == version and "%" not in text:
                return None
        except ValueError:
            pass
        return f"it is not an IPv{version} address"

    return find


def _markdown_free(text: str) -> str | None:
    from .arguments import search

    found = search(_MARKDOWN, text)
    return None if found is None else f"it has Markdown: {found[1].strip()!r}"


def _one_line(text: str) -> str | None:
    return None if len(text.splitlines()) == 1 else "it has more than one line"


FORMATS: Final[Mapping[str, Callable[[str], str | None]]] = {
    "json": lambda text: _json(text, None),
    "json-object": lambda text: _json(text, (dict,)),
    "json-list": lambda text: _json(text, (list,)),
    "integer": _integer,
    "number": _number,
    "boolean": lambda text: None if text in ("true", "false") else "it is not a bool",
    "date": _date,
    "time": _time,
    "date-time": _date_time,
    "email": _email,
    "url": _url,
    "uuid": _uuid,
    "ipv4": _address(4),
    "ipv6": _address(6),
    "markdown-free": _markdown_free,
    "one-line": _one_line,
}

# JSON Schema's own names for formats that are checked here.
SCHEMA_FORMATS: Final[Mapping[str, Callable[[str], str | None]]] = {
    **{name: FORMATS[name] for name in ("date", "time", "date-time", "email")},
    **{name: FORMATS[name] for name in ("uuid", "ipv4", "ipv6")},
    "uri": _url,
    "regex": lambda text: _regex(text),
}


def _regex(text: str) -> str | None:
    from .arguments import pattern_fault

    return "it is not a regular expression" if pattern_fault(text) else None
