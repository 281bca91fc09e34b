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
#
# A sentence is negated only where its grammar leaves no choice: a quantifier that opens
# it ("Every …", "No …"), or a short noun phrase with the finite verb right after it. A
# clause of any kind before that verb, a second one beside it, and every word whose reach
# a "not" would change make a sentence one of those that are not negated.

_CONDITION: Final = re.compile(r"((?:When|If|Where|Whenever|Once) [^,]+), (.+)")
_ONCE_A_DAY: Final = re.compile(r"Once (?:a|an|per|in|every|each) ")
# Marks that set something apart: a list, a quotation, an aside, a second sentence.
_SET_APART: Final = re.compile(r"[,;:!?()\[\]{}<>\"“”„«»`*…|—–=]|\. | -+ |(?<!\w)['‘’]")
# What a "not" would reach only half of, or would turn round.
_ENTANGLED: Final = re.compile(
    r"\b(?:and|or|but|nor|unless|except|only|both|either|neither|without|not|no|never"
    r"|nothing|nobody|none|nowhere|cannot|because|since|although|though|whereas|while|so(?!$)"
    r"|(?<!before )any(?:thing|body|one)?|ever|yet|anymore|whatsoever|at all|at most"
    r"|as well|(?<!at )once$|up to|a couple|on purpose|regardless|despite|in spite|provided"
    r"|given that|\w+ever"
    r"|also|too|still|already|just|even|merely|solely|exclusively|instead|rather|else"
    r"|some|several|many|most|few|fewer|each|often|usually|sometimes|mostly|generally"
    r"|normally|typically|rarely|seldom|hardly|scarcely|barely|almost|nearly|otherwise"
    r"|may|might|can|could|will|would|ought|shall|should|must|plus|let alone)\b(?!-)"
    r"|n['’]t\b",
    re.I,
)
# "Not required to" is no failure to do it.
_DUTY: Final = re.compile(
    r"\b(?:has|have|had|needs?|(?:is|are|was|were|be)(?: not|n['’]t)?(?: (?:allowed|permitted"
    r"|required|supposed|expected|obliged|meant|forced|free|able|entitled|bound|due"
    r"|likely|unlikely|sure|certain|authori[sz]ed|necessary|important|essential))?) to\b"
    r"|\b(?:is|are|was|were) (?:required|mandatory|important|essential|necessary|allowed"
    r"|permitted|forbidden|prohibited|optional)\b",
    re.I,
)
_AND_ONE_MORE: Final = re.compile(r" (?:and|or) (?:(?:a|an|the|its) )?[\w-]+$")
_NO_QUANTITY: Final = re.compile(
    r"(?:more|less|fewer|later|sooner|longer|earlier|greater|higher|lower|other|matter"
    r"|doubt|wonder|one|way|thanks|problem|better|worse|need)\b",
    re.I,
)
_NO_SET: Final = re.compile(
    r"(?:of|and|or|in|other|so|now|bit|time|times|second|minute|hour|day|week|month|year"
    r"|morning|evening|night|the|that|this|it|he|she|they|we|you|i|is|are|was|were|has"
    r"|have|must|should|does|do|along|right|too|over|around)\b",
    re.I,
)

_NEGATABLE: Final = (
    "accuses acknowledges addresses adds admits agrees answers asks assumes avoids begins "
    "belongs blames books calls cancels carries changes checks cites claims comes compares "
    "confirms considers contains covers creates criticizes "
    "declines defines describes discloses distinguishes ends escalates exists "
    "explains falls finds fits flags follows gives guesses handles holds identifies "
    "includes informs interrupts invents keeps labels leads leaks leaves links lists locates looks "
    "makes marks matches mentions names notes obeys offers opens points preserves "
    "promises proposes provides quotes reads recommends records refers reflects refuses "
    "remains repeats replies reports requests respects responds returns reveals routes "
    "runs says seeks sends sets shares shows starts states stays stops suggests "
    "summarises summarizes supports takes tells traces transfers translates treats uses "
    "verifies warns writes"
).split()
_OTHER_VERBS: Final = (
    "allows applies appears becomes brings chooses closes contradicts cuts deals decides "
    "deletes depends does drops fails feels gets goes grows happens has hears helps hits "
    "hopes is knows lacks learns likes lives loads loses means meets moves needs passes "
    "pays performs plays pleases produces proves pulls pushes puts raises reaches requires "
    "resolves seems sees serves solves speaks stands succeeds thinks tries turns wants "
    "waits was works"
).split()
_AMBIGUOUS: Final = frozenset(
    "addresses answers books calls changes checks claims covers ends falls finds fits "
    "flags guesses handles holds labels leaks leaves links lists looks marks matches "
    "mentions names notes offers points promises quotes reads records repeats replies "
    "reports requests returns routes runs sets shares shows starts states stays stops "
    "supports takes traces transfers treats uses".split()
)
"""Verbs that are plural nouns too: "the tool calls" may be calls of the tool."""

_SMALL: Final = frozenset(
    "a an the this that these those its it his her their our your my he she they we you i "
    "who whom whose which what when where why how if whether because while since although "
    "though unless until before after once as than so and or but nor not no never of in on "
    "at by for from to with about into onto over under between against through during "
    "within without per via upon among across behind beyond every each all any some both "
    "either neither none nothing nobody only also just even still already always often "
    "then there here is are was were be been being am has have had do does did may might "
    "can could will would shall should must ought let lets cannot such same one ones "
    "said told made gave given took taken thought knew known saw seen found felt left kept "
    "held sent paid shown wrote written done went gone lost meant met put sold heard led "
    "spent cut bought brought built chose chosen drawn got hoped believed came became began "
    "begun ran spoke spoken understood won stood set hit read people children men women "
    "staff police data media criteria feet mice".split()
)
"""Words that are no part of a plain noun phrase of one thing."""

_ADVERBS: Final = frozenset(
    "again alone back first hence however later last maybe next now perhaps right soon "
    "straight therefore thus together today tomorrow twice well".split()
)

_NOUN: Final = r"[a-z]+(?:-[a-z]+)*(?:['’]s)?"
_HEAD: Final = rf"(?:The|the|This|this|Its|its) (?P<noun>{_NOUN}(?: {_NOUN}){{0,2}}?)"
_PHRASE: Final = (
    rf"(?: (?:of|in|for|to|about|from) (?:(?:the|this|its|a|an) )?{_NOUN})?"
)
_FINITE: Final = (
    r"is not|was not|is(?:n['’]t)|was(?:n['’]t)|does not|does(?:n['’]t)|must not|should not"
    r"|(?:(?:must|should|shall|may|can|will|is|was|has) )?never|must|should|shall|is|was|has"
    rf"|{'|'.join(_NEGATABLE)}"
)
_CLAUSE: Final = re.compile(
    rf"(?P<subject>It|it|This|this|{_HEAD}{_PHRASE}) (?P<verb>{_FINITE})(?P<rest>(?: .*)?)"
)
_PLAIN_OBJECT: Final = re.compile(
    r"$|[a-z]+ly\b|(?:late|early|first|again|so)$"
    r"|(?:(?:that|when|if|whether|why|how|what|before|after) )?"
    r"(?:the|a|an|its|his|her|their|this|these|those|it|he|she|they|every|all|one|two|three"
    r"|four|five|at (?:least|most))\b"
    r"|[a-z]+(?<!s)s\b|(?:why|how|what|when|where|who|which)$"
    r"|(?:up|in|on|at|to|for|with|of|from|into|by|about|as|within|against) "
    r"(?:(?:the|a|an|its|this|every|one|two|three|four|five|[a-z]+['’]s) )?[\w-]+$"
)
"""What stands after a verb and could not be the verb of the noun that it looks like."""
_SINGULAR_S: Final = re.compile(r"(?:ss|us|is|['’]s)$")
_ONE_VERB: Final = frozenset((*_NEGATABLE, *_OTHER_VERBS))
_NO_OBJECT: Final = frozenset(
    "adds books cites contains gives has includes invents leaks leaves makes mentions "
    "names offers promises proposes quotes recommends reveals sends shows suggests "
    "uses".split()
)
_SUBORDINATES: Final = frozenset(
    "that which who whom whose what when where why how if whether before after until than "
    "as once".split()
)
_OPENS_CONTENT: Final = re.compile(
    r" (?:that|what|whether|how|why|when|where|who|which|because|to)\b"
)
_OF_WORTH: Final = re.compile(
    r".* (?:that|to|who|whom|which|whether|how|why|what|if)\b"
)


def _negated(text: str) -> str | None:
    """Return the negation of a statement without its full stop, None where unsure."""
    condition = _CONDITION.fullmatch(text)
    if condition is None:
        negated = _negated_clause(text)
        return None if negated is None else negated[0].upper() + negated[1:]
    if _ONCE_A_DAY.match(text) or _SET_APART.search(condition[1]):
        return None
    negated = _negated_clause(condition[2])
    return None if negated is None else f"{condition[1]}, {negated}"


def _negated_clause(text: str) -> str | None:
    if _SET_APART.search(text) or _DUTY.search(text):
        return None
    first, _, rest = text.partition(" ")
    word = first.lower()
    if word in ("every", "each", "all"):
        return _not_all(word, rest)
    if word in ("no", "nothing", "nobody"):
        return _some(word, rest)
    clause = _CLAUSE.fullmatch(text)
    if clause is None or "/" in text or not _is_of_one_thing(clause["noun"]):
        return None
    if _ENTANGLED.search(clause["rest"]) and not clause["rest"].startswith(" no "):
        return None
    return _turned(clause["subject"], clause["verb"], clause["rest"])


def _not_all(word: str, rest: str) -> str | None:
    """Return "Not every …" where the quantifier is that of the whole sentence."""
    one_more = _AND_ONE_MORE.search(rest)
    plain = rest[: one_more.start()] if one_more else rest
    verbs = _MANY_VERBS if word == "all" else _ONE_VERB
    if _ENTANGLED.search(plain) or not verbs.intersection(plain.split()[1:]):
        return None
    if _NO_SET.match(rest) and not (word == "all" and rest.startswith(("are ", "of "))):
        return None
    return f"not {'every' if word == 'each' else word} {rest}"


def _some(word: str, rest: str) -> str | None:
    """Return that there is something of which the statement says that there is none."""
    words = rest.split()
    after = words if word != "no" else words[1:]
    if _ENTANGLED.search(rest) or {"until", "than", "as"}.intersection(words):
        return None
    if word == "no" and _NO_QUANTITY.match(rest):
        return None
    if not (_ONE_VERB | {"are", "were", "have"}).intersection(after):
        return None
    return f"{'some' if word == 'no' else 'some' + word[2:]} {rest}"


def _is_of_one_thing(noun: str | None) -> bool:
    """Whether the words of a subject are of one thing, and none of them may be a verb."""
    for place, word in enumerate(noun.split() if noun else ()):
        if word in _SMALL or word.endswith("s") and not _SINGULAR_S.search(word):
            return False
        if place and (word.endswith(("ed", "ly")) or word in _ADVERBS):
            return False
    return True


def _turned(subject: str, verb: str, rest: str) -> str | None:
    """Return a clause whose finite verb is known, with its contrary."""
    words = rest.split()
    after = words[0] if words else ""
    if verb in ("is", "was"):
        if (
            not words
            or after == "no"
            or _OPENS_CONTENT.match(rest)
            or after in _SUBORDINATES
        ):
            return None
        if subject.lower() in ("it", "this") and _OF_WORTH.match(rest):
            return None
        return None if _has_own_verb(words) else f"{subject} {verb} not{rest}"
    if verb == "has":
        if after == "been" or after.endswith("ed") and after != "need":
            return None if _has_own_verb(words) else f"{subject} has not{rest}"
        if after not in ("a", "an", "the", "its", "no"):
            return None
    if after == "no":
        if verb not in _NO_OBJECT or _ENTANGLED.search(" ".join(words[1:])):
            return None
        bare = not words[1:] or words[1] in _SMALL or _NO_QUANTITY.match(words[1])
        if bare or _has_own_verb(words[1:]) or {"until", "than"}.intersection(words):
            return None
        return f"{subject} {verb} some {' '.join(words[1:])}"
    if verb.endswith(("not", "n't", "n’t", "never")):
        return _without_not(subject, verb, words)
    if verb in ("must", "should", "shall"):
        return _with_not_of(subject, words)
    if _has_own_verb(words) or verb in _AMBIGUOUS and _is_a_noun_before(words):
        return None
    if verb == "follows" and subject.lower() in ("it", "this"):
        return None
    return f"{subject} does not {_base(verb)}{rest}"


def _without_not(subject: str, verb: str, words: list[str]) -> str | None:
    """Return a clause that rules something out, with that happening."""
    if not words or {"until", "always", "all", "every", "than"}.intersection(words):
        return None
    rest = " ".join(words)
    plain = re.split(r" |n['’]t", verb)[0]
    if plain in ("is", "was", "has"):
        return None if _has_own_verb(words) else f"{subject} {plain} {rest}"
    if _has_own_verb(words[1:]):
        return None
    if verb == "never":
        return f"{subject} {rest}" if words[0] in _ONE_VERB else None
    if words[0] not in _MANY_VERBS and words[0] != "be":
        return None
    return f"{subject} {' '.join((_third_person(words[0]), *words[1:]))}"


def _with_not_of(subject: str, words: list[str]) -> str | None:
    """Return what a clause with "must" asks for, not happening."""
    if len(words) > 1 and words[0] == "be":
        return (
            None if _has_own_verb(words) else f"{subject} is not {' '.join(words[1:])}"
        )
    verb = words[1:2] if words[:1] == ["always"] else words[:1]
    if not verb or verb[0] not in _MANY_VERBS or verb[0] in ("are", "were", "have"):
        return None
    if _has_own_verb(words[words.index(verb[0]) + 1 :]):
        return None
    return f"{subject} does not {' '.join(words)}"


def _has_own_verb(words: list[str]) -> bool:
    """Whether more verbs follow than clauses are opened for them.

    "The tool calls the agent makes are logged": what looked like the verb was a noun.
    """
    open_clauses = 0
    for word in words:
        if word in _SUBORDINATES:
            open_clauses += 1
        elif word in _ONE_VERB or word in ("are", "were", "have", "had", "did"):
            open_clauses -= 1
            if open_clauses < 0:
                return True
    return False


def _is_a_noun_before(words: list[str]) -> bool:
    """Whether what looked like a verb may be a noun, with its own verb after it."""
    if _MANY_VERBS.intersection(words[:2]) or any(
        word.endswith("ed") for word in words
    ):
        return True
    return _PLAIN_OBJECT.match(" ".join(words)) is None


def _third_person(verb: str) -> str:
    if verb in ("be", "have"):
        return "is" if verb == "be" else "has"
    if verb[-1] == "y" and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return verb + ("es" if re.search(r"(?:s|sh|ch|x|z|o)$", verb) else "s")


def _base(verb: str) -> str:
    if verb in ("does", "has", "is", "was"):
        return {"does": "do", "has": "have"}.get(verb, "are")
    if verb.endswith("ies"):
        return f"{verb[:-3]}y"
    return verb[: -2 if re.search(r"(?:ss|sh|ch|x|zz)es$", verb) else -1]


_MANY_VERBS: Final = frozenset(("were", *map(_base, (*_NEGATABLE, *_OTHER_VERBS))))
"""Verbs of many, and what stands after "must"."""
