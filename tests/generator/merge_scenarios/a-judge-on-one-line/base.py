"""Judges."""

from ._runtime.criterion import Judge

k = Judge("k", "It is kind.", pass_when="yes", fail_when="no")
