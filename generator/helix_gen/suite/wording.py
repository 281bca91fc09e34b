"""The two definitions of a judge in plain words, where the overlay gives none.

A pass is the statement with its goal; a fail is the statement's negation. English is
negated only where that is safe ("Every …" → "Not every …", "… never shows …" → "…
shows …"); whatever is not plainly of such a form gets a sentence that fits them all, in
the statement's own language where that is known.
"""

import re
from typing import Final

from helix_runtime.improving.one_question import likert_in

from .baseline_goal import is_against_a_baseline
from .languages import ENGLISH, language_of
from .texts import sentence

MAX_NEGATED: Final = 400
"""How long a statement may be to be negated: a longer one is a story of its own."""

_ONE_IS_ENOUGH: Final = "One place is enough, and it can be cited."

# A goal over many runs is the aggregate's; a judge sees one run.
_OVER_RUNS: Final = re.compile(
    r"(?<![-\w])(?:cases?|runs?|tasks?|trials?|sessions?|datasets?|samples?|mean|average"
    r"|median|raters?|(?:golden|test|eval|validation|holdout) set|p\d\d)\b(?!-)"
    r"|\bp(?:ass)?[\^@]|[<>≤≥]=?|\b\d+/\d+\b|\bat least \d"
    r"|\b\d+ (?:von|sur|de|su|van|из) \d+\b|\d+ ?[件回](?:中|の)"
    r"|(?<![\d.])(?!100 ?%)\d+(?:\.\d+)? ?%",
    re.I,
)
WITHIN_RUN: Final = re.compile(
    r"(?:%|percent)\s+of\s+(?:the\s+|all\s+|its\s+)?(?:[\w-]+\s+)?(?:turns|claims|facts"
    r"|findings|fields|sentences|statements|paragraphs|citations|references|sources|steps"
    r"|calls|values|lines|words|placeholders|rows of the \w+)\b",
    re.I,
)
"""A share of what stands in one run: of its turns, its claims, its fields."""

_OF_WHICH: Final = re.compile(r"(?:every|each|all|any) [\w-]+(?: [\w-]+)?", re.I)
_IS_CLAUSE: Final = re.compile(r"\b(?:is|are|was|were|has|have|must|can)\b", re.I)
_LOWERED: Final = re.compile(
    r"(?:A|All|Always|An|Any|At|Each|Every|It|Never|No|None|Nothing|Only|The|Zero)\b"
)


def pass_when(statement: str, goal: str) -> str:
    """Return when a judge passes a run: the statement, and what its goal adds.

    A goal over many runs and a score add nothing that one run could show.
    """
    words = sentence(statement)
    meant = goal.strip().rstrip(".!。！").strip()
    over_runs = _OVER_RUNS.search(meant) and not WITHIN_RUN.search(meant)
    over_runs = over_runs or is_against_a_baseline(meant)
    if not meant or over_runs or likert_in(meant) is not None:
        return words
    if _says(statement, meant):
        return words
    language = language_of(statement, meant)
    if language is not ENGLISH:
        if language is None:
            return f"{words} {sentence(meant)}"
        if words[-1:] == "." and words[:-1] == statement.strip():
            words = words[:-1] + language.stop
        if language.absolute.fullmatch(meant) or ENGLISH.absolute.fullmatch(meant):
            return words + language.space + language.no_exception
        if meant.isascii():
            return f"{words} {meant}."
        return words + language.space + meant + language.stop
    if language.absolute.fullmatch(meant):
        return f"{words} {language.no_exception}"
    if _LOWERED.match(meant):
        meant = meant[0].lower() + meant[1:]
    if _OF_WHICH.fullmatch(meant) and not _IS_CLAUSE.search(meant):
        if words.casefold().startswith(meant.casefold()):
            return words
        return f"{words} This holds for {meant}."
    return f"{words} That means: {meant}."


def _says(statement: str, goal: str) -> bool:
    """Whether a statement has all that its goal says, word for word."""
    words = f" {' '.join(statement.casefold().split()).rstrip('.!。！')} "
    meant = " ".join(goal.casefold().split())
    return words.strip() == meant or " " in meant and f" {meant} " in words


def fail_when(statement: str, goal: str = "") -> str:
    """Return when a judge fails a run: at one place the statement does not hold.

    `goal` only helps to tell the language of a statement that is short.
    """
    language = language_of(statement, goal)
    if language is not None and language is not ENGLISH:
        return language.somewhere
    negated = None
    if language is ENGLISH and len(statement) <= MAX_NEGATED:
        negated = _negated(" ".join(statement.split()).rstrip(".!"))
    return ENGLISH.somewhere if negated is None else f"{negated}. {_ONE_IS_ENOUGH}"


# -- negation --------------------------------------------------------------------------

_CONDITION: Final = re.compile(r"((?:When|If|Where|Whenever|Once) [^,;.]+), (.+)")
# What a "not" would reach only half of, or would turn round.
_ENTANGLED: Final = re.compile(
    r"[;:!?]|\. |\b(?:and|or|but|nor|unless|except|only|both|either|neither|without"
    r"|not|no|never|nothing|nobody|none|cannot)\b(?!-)|n['’]t\b",
    re.I,
)
_VERBS: Final = (
    "accuses acknowledges addresses adds admits agrees answers asks assumes avoids begins "
    "belongs blames books calls cancels carries changes checks cites claims comes compares "
    "confirms considers contains covers creates criticizes "
    "declines defines describes discloses distinguishes does ends escalates exists "
    "explains falls finds fits flags follows gives guesses handles has holds identifies "
    "includes informs interrupts invents is keeps labels leaks leaves links lists locates looks "
    "makes marks matches mentions names needs notes obeys offers opens points preserves "
    "promises proposes provides quotes reads recommends records refers reflects refuses "
    "remains repeats replies reports requests respects responds returns reveals routes "
    "runs says seeks sends sets shares shows starts states stays stops suggests "
    "summarises summarizes supports takes tells traces transfers translates treats uses verifies warns writes"
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
    verb = _verb_in(text)
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


def _verb_in(text: str) -> "re.Match[str] | None":
    """Return the first verb of a statement, None where it may be a noun.

    "The answers cite a source" is of many answers, and cites is what they do.
    """
    found = _VERB.search(text)
    if found is None:
        return None
    before, after = text[: found.start()].split(), text[found.end() :].split()
    if len(before) == 1 and before[0].lower() not in ("it", "this"):
        return None
    if any(word.lower() in _BASES for word in after[:2]):
        return None
    return found


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


_BASES: Final = frozenset(("are", "were", *map(_base, _VERBS.split())))
"""Verbs of many: where one follows, what looked like a verb was their noun."""
