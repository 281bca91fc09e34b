"""The wording of a criterion: a score instead of a question, two questions in one."""

import re
from typing import Final

_LOW: Final = r"(?:[01]|zero|one)(?: ?\([^()]{0,30}\))?"
_HIGH: Final = r"(?:4|5|7|10|100|five|seven|ten)\b"
_TO: Final = r" ?(?:to|-|–|—|and) ?"
_GRADES: Final = (
    r"(?:excellent|outstanding|great|very good|good|average|fair|mediocre|poor|bad"
    r"|very poor|very bad|terrible)"
)
# "At least 4/5 sources" counts things of the run.
_NO_COUNT: Final = r"(?! (?!points?\b|stars?\b|marks?\b|across\b|always\b)[a-z]{3,}s\b)"
_LIKERT: Final = re.compile(
    r"\b(?:on|using|with) an? (?:\w+[- ])?(?:scale|rubric) (?:of|from) \S+"
    r"|\blikert\b"
    r"|\b(?:scale|rating|score|grade)s? (?:of|from) \d+ ?(?:to|-|–|—) ?\d+\b"
    r"|\b(?:rate|rated|rating|score|scored|grade|graded)\b[^.]{0,40}"
    rf"\b{_LOW}{_TO}{_HIGH}"
    rf"|\(\s*[01]{_TO}(?:5|7|10)\s*\)"
    rf"|\b1 ?(?:=|: ) ?{_GRADES}\b[^.]{{0,60}}\b(?:5|7|10) ?(?:=|: )"
    r"|\b(?:1|0) ?(?:-|–|—|to) ?(?:5|10) (?:scale|rating|score|points?|stars?)\b"
    rf"|\b\d+(?:\.\d+)? ?(?:/|out of) ?(?:5|10)\b{_NO_COUNT}"
    r"|\b(?:rating|score|grade)s?\b(?:[^.]|\.\d){0,30}\b\d+(?:\.\d+)? of (?:5|7|10)\b"
    r"|\b(?:rated|graded|scored)\b(?:[^.]|\.\d){0,20}\b\d+(?:\.\d+)? of (?:the )?"
    rf"(?:5|7|10)\b{_NO_COUNT}"
    r"|\bpoints? (?:/|out of) ?\d+\b"
    r"|\b(?:[1-5]|one|two|three|four|five) stars?\b"
    r"|\b(?:[1-5]|one|two|three|four|five)[- ]star (?:rating|scale|score|review)s?\b"
    r"|\b(?:partial|half) (?:credit|points?|marks?)\b"
    rf"|\b{_GRADES}(?:,? (?:or |and )?{_GRADES}){{2,}}\b"
    r"|\b(?:excellent|very good)\b[^.]{0,30}\b(?:fair|poor|bad)\b"
    r"|\bgrades? (?:of |from )?(?-i:[A-F])[+-]?(?:,| to| or| and|-|–) ?(?-i:[A-F])\b"
    r"|\b(?:rated|graded) (?:at least [2-9]\b|[2-9] or (?:more|higher|better|above)\b)"
    r"|\bscor(?:e|es|ed|ing)(?: of)?(?: at least| above| over| >=?| ≥)? [2-9]\b(?![%\d]|\.\d)",
    re.I,
)

MAX_READ: Final = 2000
"""How much of a text is read: no criterion is longer, and a hostile one may be."""

_ASIDE: Final = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_QUOTED: Final = re.compile(r"\"[^\"]*\"|“[^”]*”")
_BOUND: Final = (
    "never|always|must|should|shall|may|will|can|cannot|does|doesn't|do|don't|is|isn't"
    "|are|aren't|has|have|no|not|none|every|all|each|any|nothing|only|exactly"
)
_OBJECT: Final = "the|a|an|its|their|every|each|all|no|exactly|only|any|at"
_JOINT: Final = r"(?:;|,? and also|,? as well as|,? and) (?:then |also )?"
# "… and never mentions …", "…; none is …"
_SECOND_RULE: Final = re.compile(
    rf"{_JOINT}(?:it |they |that )?(?:{_BOUND})\b[^,;.]*\w", re.I
)
# "… and the customer is never …": of a plain "is" nobody can tell whose it is.
_SECOND_SUBJECT: Final = re.compile(
    rf"{_JOINT}(?:{_OBJECT}) (?:[\w'-]+ ){{1,4}}?"
    r"(?:(?:is|are|was|were|does|do|has|have) (?:never|not)|never|must|should|shall"
    r"|may not|cannot|isn't|aren't|doesn't|don't)\b[^,;.]*\w",
    re.I,
)
# "…, and it escalates …"
_SECOND_IT: Final = re.compile(
    r"(?:;|, and|, but) (?:then |also )?(?:it|they) [a-z]+s\b[^,;.]*\w", re.I
)
# "… is accurate and concise": each can fail without the other.
_QUALITY: Final = (
    r"(?:accurate|correct|complete|concise|brief|short|polite|kind|friendly|respectful"
    r"|professional|empathetic|helpful|useful|relevant|actionable|clear|readable|legible"
    r"|coherent|consistent|fluent|well[- ]\w+|safe|harmless|honest|truthful|faithful"
    r"|factual|grounded|neutral|objective|unbiased|valid|timely|up[- ]to[- ]date)"
)
_ADVERB: Final = r"(?:also |always |\w+ly )?"
_TWO_QUALITIES: Final = re.compile(
    rf"\b{_QUALITY}(?:, {_ADVERB}{_QUALITY})*(,? (?:and|but|as well as) "
    rf"{_ADVERB}{_QUALITY})\b",
    re.I,
)
# "… and passes the …"
_SECOND_VERB: Final = re.compile(rf"{_JOINT}[a-z]+(?:es|[^s\W]s) (?:{_OBJECT})\b")
_SENTENCE: Final = re.compile(r"[.!?]\s+(?=[A-Z0-9])|;\s+")
_SUBJECT: Final = re.compile(
    r"(?:the|a|an|it|they|its|every|each|all|any|no|none|nothing|this|that|there)\b",
    re.I,
)
_CLAIM: Final = re.compile(
    rf"\b(?:{_BOUND}|zero|without)\b|\b[a-z]{{3,}}(?:es|[^s\W]s)\b", re.I
)


def likert_in(text: str) -> str | None:
    """Return the words that ask for a score instead of pass or fail, or None."""
    found = _LIKERT.search(text[:MAX_READ])
    return None if found is None else found[0].strip()


# One condition, though it holds an "and".
_IFF: Final = re.compile(r"\b(?:if|when) and only (?:if|when)\b", re.I)


def second_claim_in(statement: str) -> str | None:
    """Return where a second claim of a statement begins, or None where it has one.

    A reading of English by its joints, not a parser: it looks for a second clause
    that says of itself what must or must not be.
    """
    text = _QUOTED.sub("“…”", _ASIDE.sub("", statement[:MAX_READ]))
    text = _IFF.sub("iff", text)
    text = re.sub(r" (?=[.,;])", "", " ".join(text.split()))
    sentences = [s for s in _SENTENCE.split(text) if len(s.split()) >= 3]
    if len(sentences) > 1 and _CLAIM.search(sentences[0]):
        second = sentences[1]
        same = second.split()[0].casefold() == sentences[0].split()[0].casefold()
        if (same or _SUBJECT.match(second)) and _CLAIM.search(second):
            return _start(second)
    qualities = _TWO_QUALITIES.search(text)
    if qualities is not None:
        return _start(qualities[1].lstrip(" ,"))
    for pattern in (_SECOND_VERB, _SECOND_RULE, _SECOND_SUBJECT, _SECOND_IT):
        for found in pattern.finditer(text):
            before = text[: found.start()]
            after = text[found.start() :].lstrip(" ,;")
            if len(before.split()) < 3 or len(after.split()) < 4:
                continue
            if _CLAIM.search(before):
                return _start(after)
    return None


def _start(text: str) -> str:
    words = text.rstrip(".").split()
    return " ".join(words[:6]) + (" …" if len(words) > 6 else "")
