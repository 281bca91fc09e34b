"""Canonical JSON and the content hashes that identify cases, units and prompts."""

import json
from collections.abc import Callable
from hashlib import blake2b, sha256
from typing import Any

_FNV64_OFFSET = 0xCBF29CE484222325
_FNV64_PRIME = 0x100000001B3
_FNV32_OFFSET = 0x811C9DC5
_FNV32_PRIME = 0x01000193


def canonical(value: Any) -> str:
    """Return the one JSON text of plain data: keys sorted, no white space.

    Text stays readable in any script; lone surrogates are escaped, so the result
    always encodes to UTF-8. Raises ValueError for NaN, infinities and cycles,
    TypeError for what is not JSON data.
    """
    text = json.dumps(
        value,
        ensure_ascii=False,
        allow_nan=False,
        sort_keys=True,
        separators=(",", ":"),
    )
    return escape_surrogates(text)


def escape_surrogates(text: str) -> str:
    r"""Replace each lone surrogate by its `\udXXX` escape, so that UTF-8 can hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text


def dump_line(value: Any) -> str:
    """Return `value` as one JSON line (keys as they stand, no line feed at the end).

    NaN and infinities, which JSON does not have but recorded data may, are written as
    the texts "NaN", "Infinity" and "-Infinity". Raises ValueError for cycles,
    TypeError for what is not JSON data.
    """
    try:
        text = _dumps(value)
    except (ValueError, RecursionError):
        try:
            text = _dumps(_spelled(value))
        except RecursionError:
            raise ValueError("the data holds itself") from None
    return escape_surrogates(text)


def _encoder() -> Callable[[Any], str]:
    """Return the encoder of lines, made once.

    `json.dumps` builds its C encoder anew for each call, a third of the cost of a
    short line. Where the C encoder is missing or takes other arguments, the public
    one serves.
    """
    plain = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        pieces = json.encoder.c_make_encoder(  # type: ignore[attr-defined]
            None,  # no marks of what is open: a cycle ends as a RecursionError
            plain.default,
            json.encoder.encode_basestring,
            None,
            ":",
            ",",
            False,
            False,
            False,
        )
        if "".join(pieces({"a": ["é\n", 1, None]}, 0)) == '{"a":["é\\n",1,null]}':
            return lambda value: "".join(pieces(value, 0))
    except (AttributeError, TypeError):
        pass
    return plain.encode


_dumps = _encoder()


def _spelled(value: Any) -> Any:
    if isinstance(value, float):
        if value != value:
            return "NaN"
        if value in (float("inf"), float("-inf")):
            return "Infinity" if value > 0 else "-Infinity"
    elif isinstance(value, dict):
        return {key: _spelled(inner) for key, inner in value.items()}
    elif isinstance(value, (list, tuple)):
        return [_spelled(inner) for inner in value]
    return value


def fnv1a_64(data: bytes) -> str:
    """Return the 64-bit FNV-1a hash of `data` as 16 hex digits (RFC 9923)."""
    h = _FNV64_OFFSET
    for byte in data:
        h = ((h ^ byte) * _FNV64_PRIME) & 0xFFFFFFFFFFFFFFFF
    return f"{h:016x}"


def fnv1a_32(data: bytes) -> str:
    """Return the 32-bit FNV-1a hash of `data` as 8 hex digits (RFC 9923)."""
    h = _FNV32_OFFSET
    for byte in data:
        h = ((h ^ byte) * _FNV32_PRIME) & 0xFFFFFFFF
    return f"{h:08x}"


def content_key(*parts: str) -> str:
    """Return 32 hex digits that identify `parts` (BLAKE2b, 128 bit, length-prefixed)."""
    return key_of(key_bytes(*parts))


def key_bytes(*parts: str) -> bytes:
    """Return the bytes that `content_key` hashes.

    Those of two lists joined are those of the joined list, so what many keys share
    is made once.
    """
    chunks = []
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        chunks.append(len(data).to_bytes(8, "big"))
        chunks.append(data)
    return b"".join(chunks)


def key_of(data: bytes) -> str:
    """Return the content key of what `key_bytes` returned."""
    return blake2b(data, digest_size=16).hexdigest()


class KeyPrefix:
    """The content key of many lists that begin alike: their beginning is hashed once."""

    def __init__(self, *parts: str) -> None:
        self._hash = blake2b(key_bytes(*parts), digest_size=16)

    def key(self, *rest: str) -> str:
        """Return the content key of the beginning and the rest."""
        done = self._hash.copy()
        done.update(key_bytes(*rest))
        return done.hexdigest()


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of `data` as 64 hex digits."""
    return sha256(data).hexdigest()
