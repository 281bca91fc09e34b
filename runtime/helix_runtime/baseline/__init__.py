"""A run held against an earlier one: the baseline, its cases, what changed since."""
