"""Texts of a suite as they are compared: by checksum, line endings normalized.

A checkout may turn every LF into CRLF. That is no edit: two texts are the same here
when they differ only so, and a file that is CRLF on disk is written back as CRLF.
"""

from hashlib import sha256


def with_lf(data: bytes) -> bytes:
    """Return `data` with LF line endings."""
    return data.replace(b"\r\n", b"\n")


def checksum(data: bytes) -> str:
    """Return the SHA-256 of `data`, line endings normalized, as 64 hex digits."""
    return sha256(with_lf(data)).hexdigest()


def same_text(one: bytes, other: bytes) -> bool:
    """Whether two texts differ at most in their line endings."""
    return one == other or with_lf(one) == with_lf(other)


def uses_crlf(data: bytes) -> bool:
    """Whether every line of `data` ends in CRLF (and there is one)."""
    line_feeds = data.count(b"\n")
    return line_feeds > 0 and data.count(b"\r\n") == line_feeds


def in_style_of(text: bytes, model: bytes | None) -> bytes:
    """Return `text` with the line endings of `model`; LF where there is no model."""
    if model is not None and uses_crlf(model):
        return with_lf(text).replace(b"\n", b"\r\n")
    return text
