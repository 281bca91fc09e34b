"""Judges."""

from ._runtime.criterion import Judge

kindness = Judge(
    "kindness",
    "It is kind.",
    pass_when="It is kind.",
    fail_when="It is rude to anybody.",
)
