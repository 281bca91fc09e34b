"""The slug: the name of a suite's folder and package, from its subject's id."""

import re
import unicodedata
from typing import Final

from helix_runtime.canonical import fnv1a_32

MAX_LENGTH: Final = 60
_OTHER: Final = re.compile(r"[^a-z0-9]+")


def slug(subject_id: str) -> str:
    """Return the slug of a subject's id: `[a-z0-9-]`, 1 to 60 characters.

    Compatibility forms and accents are folded (`ﬁ` → `fi`, `é` → `e`); everything
    else outside ASCII letters and digits becomes a single hyphen. An id with nothing
    left becomes `subject-<8 hex>`, the FNV-1a hash of the id.
    """
    folded = unicodedata.normalize("NFKD", subject_id.casefold()).casefold()
    letters = "".join(c for c in folded if not unicodedata.combining(c))
    text = _OTHER.sub("-", letters).strip("-")[:MAX_LENGTH].rstrip("-")
    if text:
        return text
    return "subject-" + fnv1a_32(subject_id.encode("utf-8", "surrogatepass"))
