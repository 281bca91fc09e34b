"""The two definitions of a judge in plain words, where the overlay gives none.

A pass is the statement with its goal; a fail is the statement's negation. English is
negated only where that is safe ("Every …" → "Not every …", "… never shows …" → "…
shows …"); whatever is not plainly of such a form gets a sentence that fits them all.
"""

import re
from typing import Final

from .texts import sentence

MAX_NEGATED: Final = 400
"""How long a statement may be to be negated: a longer one is a story of its own."""

_ONE_IS_ENOUGH: Final = "One place is enough, and it can be cited."
_SOMEWHERE: Final = (
    "Somewhere in the run this is not so: it is left undone where it was due, or "
    "something contradicts it."
)

# A goal over many runs is the aggregate's; a judge sees one run.
_OVER_RUNS: Final = re.compile(
    r"(?<![-\w])(?:cases?|runs?|tasks?|trials?|sessions?|datasets?|samples?|mean|average"
    r"|median)\b(?!-)|\bpass[\^@]|[<>]=?|\b\d+/\d+\b|\bat least \d"
    r"|(?<![\d.])(?!100 ?%)\d+(?:\.\d+)? ?%",
    re.I,
)
_ABSOLUTE: Final = re.compile(
    r"(?:never|always|zero|none|no|nothing|all|all pass|100 ?%|every time|at all times"
    r"|(?:no|without|zero) exceptions?|zero tolerance|yes|true|must|required)",
    re.I,
)
_OF_WHICH: Final = re.compile(r"(?:every|each|all|any) [\w-]+(?: [\w-]+)?", re.I)
_IS_CLAUSE: Final = re.compile(r"\b(?:is|are|was|were|has|have|must|can)\b", re.I)
_LOWERED: Final = re.compile(
    r"(?:A|All|Always|An|Any|At|Each|Every|It|Never|No|None|Nothing|Only|The|Zero)\b"
)


def pass_when(statement: str, goal: str) -> str:
    """Return when a judge passes a run: the statement, and what its goal adds."""
    words = sentence(statement)
    meant = goal.strip().rstrip(".!").strip()
    if not meant or _OVER_RUNS.search(meant):
        return words
    if meant.casefold() == statement.strip().rstrip(".!").casefold():
        return words
    if _ABSOLUTE.fullmatch(meant):
        return f"{words} There is no exception."
    if _LOWERED.match(meant):
        meant = meant[0].lower() + meant[1:]
    if _OF_WHICH.fullmatch(meant) and not _IS_CLAUSE.search(meant):
        if words.casefold().startswith(meant.casefold()):
            return words
        return f"{words} This holds for {meant}."
    return f"{words} That means: {meant}."


def fail_when(statement: str) -> str:
    """Return when a judge fails a run: at one place the statement does not hold."""
    negated = None
    if len(statement) <= MAX_NEGATED:
        negated = _negated(" ".join(statement.split()).rstrip(".!"))
    said = _SOMEWHERE if negated is None else f"{negated}."
    return f"{said} {_ONE_IS_ENOUGH}"


# -- negation --------------------------------------------------------------------------

_CONDITION: Final = re.compile(r"((?:When|If|Where|Whenever|Once) [^,;.]+), (.+)")
# What a "not" would reach only half of, or would turn round.
_ENTANGLED: Final = re.compile(
    r"[;:!?]|\. |\b(?:and|or|but|nor|unless|except|only|both|either|neither|without"
    r"|not|no|never|nothing|nobody|none|cannot)\b(?!-)|n['’]t\b",
    re.I,
)
_VERBS: Final = (
    "acknowledges addresses admits agrees answers asks avoids begins belongs books calls "
    "carries checks cites claims comes compares confirms considers contains covers "
    "declines defines describes discloses distinguishes does ends escalates exists "
    "explains falls finds fits flags follows gives guesses handles has holds identifies "
    "includes informs invents is keeps labels leaks leaves links lists locates looks "
    "makes marks matches mentions names needs notes offers opens points preserves "
    "promises proposes provides quotes reads recommends records refers reflects refuses "
    "remains repeats replies reports requests respects responds returns reveals routes "
    "runs says seeks sends sets shares shows starts states stays stops suggests "
    "summarises summarizes supports takes tells traces treats uses verifies warns writes"
)
_VERB: Final = re.compile(rf"\b({'|'.join(_VERBS.split())})\b")
_SUBJECT: Final = re.compile(r"(?:The|A|An|It|Its|This|Each|the|a|an|it|its|this)\b")
_NEVER: Final = re.compile(r"\b(?:(must|should|shall|may|can|will) )?never (\w+)")
_DOES_NOT: Final = re.compile(r"\b(?:does not|doesn['’]t|must not|should not) (\w+)")
_IS_NOT: Final = re.compile(r"\b(is|are|was|were) not\b|\b(is|are|was|were)n['’]t\b")
_VERB_NO: Final = re.compile(rf"\b({'|'.join(_VERBS.split())}|contain|have) no\b")
_MUST: Final = re.compile(r"\b(?:must|should|shall) (\w+)")
_HAS_VERB: Final = re.compile(rf"\b(?:are|was|were|have|{'|'.join(_VERBS.split())})\b")


def _negated(text: str) -> str | None:
    """Return the negation of a statement without its full stop, None where unsure."""
    condition = _CONDITION.fullmatch(text)
    if condition is not None:
        inner = _negated_clause(condition[2])
        return None if inner is None else f"{condition[1]}, {inner}"
    negated = _negated_clause(text)
    return None if negated is None else negated[0].upper() + negated[1:]


def _negated_clause(text: str) -> str | None:
    first, _, rest = text.partition(" ")
    word = first.lower()
    if word in ("every", "each", "all") and not re.search(r"[;:!?]|\. ", rest):
        return f"not {'every' if word == 'each' else word} {rest}"
    if _ENTANGLED.search(rest) is None:
        if word in ("nothing", "nobody"):
            return f"{'something' if word == 'nothing' else 'somebody'} {rest}"
        if word == "no" and _HAS_VERB.search(rest):
            return f"some {rest}"
    if not _SUBJECT.match(text):
        return None
    return _without_not(text) or _with_not(text)


def _without_not(text: str) -> str | None:
    """Return a statement that rules something out, with that happening."""
    for pattern, replaced in (
        (_NEVER, _third_person_after),
        (_DOES_NOT, lambda found: _third_person(found[1])),
        (_IS_NOT, lambda found: found[1] or found[2]),
        (_VERB_NO, lambda found: f"{found[1]} some"),
    ):
        found = pattern.search(text)
        if found is not None:
            before, after = text[: found.start()], text[found.end() :]
            if _ENTANGLED.search(before + after) is not None:
                return None
            return f"{before}{replaced(found)}{after}"
    return None


def _with_not(text: str) -> str | None:
    """Return a statement that asks for something, with that not happening."""
    if _ENTANGLED.search(text) is not None:
        return None
    found = _MUST.search(text)
    verb = _VERB.search(text)
    if found is not None and found[1] == "be":
        return f"{text[: found.start()]}is not{text[found.end() :]}"
    if found is not None:
        base = found[1]
    elif verb is not None and verb[1] == "is":
        return f"{text[: verb.start()]}is not{text[verb.end() :]}"
    elif verb is not None:
        found, base = verb, _base(verb[1])
    else:
        return None
    return f"{text[: found.start()]}does not {base}{text[found.end() :]}"


def _third_person_after(found: "re.Match[str]") -> str:
    return _third_person(found[2]) if found[1] else found[2]


def _third_person(verb: str) -> str:
    if verb in ("be", "have"):
        return "is" if verb == "be" else "has"
    if verb[-1] == "y" and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return verb + ("es" if re.search(r"(?:s|sh|ch|x|z|o)$", verb) else "s")


def _base(verb: str) -> str:
    if verb in ("does", "has"):
        return "do" if verb == "does" else "have"
    if verb.endswith("ies"):
        return f"{verb[:-3]}y"
    return verb[: -2 if re.search(r"(?:ss|sh|ch|x|zz)es$", verb) else -1]
