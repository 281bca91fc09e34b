"""Judges."""

from ._runtime.criterion import Judge

k = Judge(
    "k",
    "It is kind to all.",
    pass_when="yes",
    fail_when="no",
)
