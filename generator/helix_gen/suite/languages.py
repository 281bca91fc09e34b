"""Which language a criterion is written in, and the few sentences that a judge needs of it.

A judge's definitions join a text of the spec with a sentence of ours. Of the languages
here the sentence is in the text's own; of any other it stands by itself in English.
"""

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """What is said in one language.

    `words` are common small words that tell it from others; `somewhere` says when a
    run fails, `no_exception` that a statement always holds, and `absolute` matches a
    goal that says no more than that. `space` stands between two sentences.
    """

    words: frozenset[str]
    somewhere: str
    no_exception: str
    absolute: re.Pattern[str]
    stop: str = "."
    space: str = " "


def _language(
    words: str,
    somewhere: str,
    no_exception: str,
    absolute: str,
    *,
    stop: str = ".",
    space: str = " ",
) -> Language:
    return Language(
        words=frozenset(words.split()),
        somewhere=somewhere,
        no_exception=no_exception,
        absolute=re.compile(rf"(?:{absolute}|100 ?%|100％)", re.I),
        stop=stop,
        space=space,
    )


ENGLISH: Final = _language(
    "the a an is are was were be been it its of to and or in on at by for with from that "
    "this not no never every each all any when if must should has have does do only "
    "before after as one than",
    "Somewhere in the run this is not so: it is left undone where it was due, or "
    "something contradicts it. One place is enough, and it can be cited.",
    "There is no exception.",
    r"never|always|zero|none|no|nothing|all|all pass|every time|at all times"
    r"|(?:no|without|zero) exceptions?|zero tolerance|yes|true|must|required",
)
_LATIN: Final = (
    _language(
        "der die das den dem des ein eine einen einem einer ist sind wird werden und oder "
        "nicht kein keine keinen im zum zur auf mit von bei für wenn nie jede jeder jedes "
        "alle nur bevor ohne dass sich muss es er sie immer stets niemals",
        "Irgendwo im Lauf ist es nicht so: Es fehlt, wo es nötig war, oder etwas "
        "widerspricht dem. Eine Stelle genügt, und sie lässt sich anführen.",
        "Das gilt ohne Ausnahme.",
        r"immer|stets|nie|niemals|ausnahmslos|keine(?: ausnahmen?)?|ohne ausnahme"
        r"|in (?:jedem fall|allen fällen)|alle(?: fälle)?|null|ja|muss|pflicht",
    ),
    _language(
        "le la les un une des du de est sont et ou ne pas aucun aucune dans sur avec pour "
        "par que qui chaque tous toutes toute jamais si quand avant sans il elle ce cette "
        "son sa ses doit au aux toujours",
        "Quelque part dans l’exécution, ce n’est pas le cas : cela manque là où il le "
        "fallait, ou quelque chose le contredit. Un seul endroit suffit, et il peut être "
        "cité.",
        "Cela vaut sans exception.",
        r"toujours|jamais|sans exception|aucune exception|dans tous les cas"
        r"|tous les cas|tous|toutes|zéro|aucune?|oui|obligatoire",
    ),
    _language(
        "el la los las un una unos de del es son y o no ningún ninguna en con para por que "
        "cada todos todas nunca si cuando antes sin se su sus debe al lo siempre",
        "En algún punto de la ejecución no es así: falta donde hacía falta, o algo lo "
        "contradice. Basta con un lugar, y se puede citar.",
        "Esto vale sin excepción.",
        r"siempre|nunca|jamás|sin excepci[oó]n(?:es)?|en todos los casos|todos(?: los casos)?"
        r"|todas|cero|ningun[oa]|sí|obligatorio",
    ),
    _language(
        "il lo la i gli le un uno una di del della dei delle è sono e o non nessun nessuna "
        "in nel nella con per che ogni tutti tutte mai se quando prima senza si suo sua "
        "deve al alla",
        "In qualche punto dell’esecuzione non è così: manca dove era dovuto, oppure "
        "qualcosa lo contraddice. Basta un punto, e può essere citato.",
        "Questo vale senza eccezioni.",
        r"sempre|mai|senza eccezion[ei]|nessuna eccezione|in (?:ogni caso|tutti i casi)"
        r"|tutti(?: i casi)?|tutte|zero|nessun[ao]?|sì|obbligatorio",
    ),
    _language(
        "o a os as um uma de do da dos das é são e ou não nenhum nenhuma em no na nos nas "
        "com para por que cada todos todas nunca se quando antes sem seu sua deve ao à "
        "isso isto ele ela pelo pela",
        "Em algum ponto da execução não é assim: falta onde era devido, ou algo o "
        "contradiz. Basta um lugar, e ele pode ser citado.",
        "Isto vale sem exceção.",
        r"sempre|nunca|jamais|sem exceç(?:ão|ões)|em todos os casos|todos(?: os casos)?"
        r"|todas|zero|nenhuma?|sim|obrigatório",
    ),
    _language(
        "de het een is zijn wordt worden en of niet geen in op met van voor bij als nooit "
        "elke elk ieder alle alleen voordat zonder dat die zich moet er altijd",
        "Ergens in de run is het niet zo: het ontbreekt waar het nodig was, of iets "
        "spreekt het tegen. Eén plaats is genoeg, en die kan worden aangehaald.",
        "Dit geldt zonder uitzondering.",
        r"altijd|nooit|zonder uitzondering|geen(?: uitzondering(?:en)?)?|in alle gevallen"
        r"|alle(?: gevallen)?|nul|ja|verplicht",
    ),
)
_JAPANESE: Final = _language(
    "",
    "実行のどこかでそうなっていない。必要な箇所で行われていないか、これに反するものがある。"
    "一箇所あれば足り、その箇所を引用できる。",
    "例外はない。",
    r"必ず|必須|常に|いつも|絶対に?|例外(?:なし|なく|はない)|(?:全|すべ)て(?:のケース)?|ゼロ|決してない",
    stop="。",
    space="",
)
_CHINESE: Final = _language(
    "",
    "运行中某处并非如此：该做的没有做，或有内容与之相悖。有一处即可，且该处可以引用。",
    "没有例外。",
    r"必须|必須|始终|始終|总是|總是|从不|從不|绝不|絕不|永不|(?:没有|沒有|无|無)例外"
    r"|全部|所有(?:情况|情況)?|零",
    stop="。",
    space="",
)
_KOREAN: Final = _language(
    "",
    "실행 어딘가에서 그렇지 않다. 필요한 곳에서 빠졌거나 이에 어긋나는 것이 있다. 한 곳이면 "
    "충분하며, 그곳을 인용할 수 있다.",
    "예외는 없다.",
    r"항상|반드시|언제나|절대|예외 ?없(?:음|이)|모든 경우|모두|필수",
)
_RUSSIAN: Final = _language(
    "",
    "Где-то в прогоне это не так: этого нет там, где оно требовалось, или что-то этому "
    "противоречит. Достаточно одного места, и его можно процитировать.",
    "Исключений нет.",
    r"всегда|никогда|без исключений|во всех случаях|все|обязательно|ноль",
)

_KANA: Final = re.compile(r"[\u3041-\u30ff]")
_HANGUL: Final = re.compile(r"[\uac00-\ud7a3]")
_HAN: Final = re.compile(r"[\u4e00-\u9fff]")
_CYRILLIC: Final = re.compile(r"[\u0400-\u04ff]")
# Letters of other languages in the same script.
_NOT_RUSSIAN: Final = re.compile(r"[іїєґўјљњћђџѓќѕ]", re.I)
_LETTER: Final = re.compile(r"[^\W\d_]")
_WORD: Final = re.compile(r"[^\W\d_]+")

MAX_LOOKED_AT: Final = 2000
"""How much of a text is looked at to tell its language."""


def language_of(text: str, more: str = "") -> Language | None:
    """Return the language of a text; None where it is none of those known here.

    A text of a few words that say nothing is taken for English, unless `more`, a text
    that goes with it, says otherwise.
    """
    text = text[:MAX_LOOKED_AT]
    if more and not _tells(text):
        text = f"{text}\n{more[:MAX_LOOKED_AT]}"
    letters = len(_LETTER.findall(text))
    for script, language in (
        (_KANA, _JAPANESE),
        (_HANGUL, _KOREAN),
        (_HAN, _CHINESE),
        (_CYRILLIC, _RUSSIAN),
    ):
        if 5 * len(script.findall(text)) > letters > 0:
            other = language is _RUSSIAN and _NOT_RUSSIAN.search(text)
            return None if other else language
    words = set(_WORD.findall(text.casefold()))
    english = len(words & ENGLISH.words)
    best, most = ENGLISH, english
    for language in _LATIN:
        found = words & language.words
        # One word of two or three letters may be anything: `y`, `os`, `con`.
        if len(found) > most and (len(found) > 1 or len(min(found)) > 3):
            best, most = language, len(found)
    if best is ENGLISH and not english and not text.isascii():
        return None if _foreign(words) else ENGLISH
    return best


def _tells(text: str) -> bool:
    """Whether a text has letters or small words that tell its language."""
    known = ENGLISH.words.union(*(language.words for language in _LATIN))
    return not text.isascii() or any(
        word in known for word in _WORD.findall(text.casefold())
    )


def _foreign(words: set[str]) -> bool:
    """Whether most words have a letter that English does not write."""
    return 3 * sum(not word.isascii() for word in words) >= len(words) > 0
