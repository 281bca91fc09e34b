"""Check primitives: pure functions of (case, trace) that decide without a judge.

A module per family: `output`, `expect`, `lists`, `tools`, `references`, `numbers`,
`workflow`, `flow`, `ui`, `facts`, and `combine`, which takes verdicts. What the trace
did not observe is uncertain, never a pass; a bad argument is an error, never a fail.
"""
