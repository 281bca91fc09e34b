"""Subject."""

from ._runtime.suite import Subject, Tool

SUBJECT = Subject(
    id="s",
    name="S",
    version="2",
    tools=[
        Tool("one", "Does one."),
        Tool("two", "Does two.", outbound=True),
        Tool("three", "Does three."),
    ],
)

OUTBOUND: list[str] = [
    "two",
]
