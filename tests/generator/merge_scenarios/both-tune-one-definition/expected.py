"""Judges."""

from ._runtime.criterion import Judge

k = Judge(
    "k",
    "It is kind to all.",
    pass_when="It is kind.",
    fail_when="It is rude to anybody.",
)
