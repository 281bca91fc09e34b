"""Subject."""

from ._runtime.suite import Subject, Tool

SUBJECT = Subject(
    id="s",
    name="S",
    version="1",
    tools=[
        Tool("one", "Does one."),
        Tool("two", "Does two.", outbound=True),
    ],
)

OUTBOUND: list[str] = [
    "two",
]

FACT = 1
