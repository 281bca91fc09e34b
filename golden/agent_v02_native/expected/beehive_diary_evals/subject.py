"""Who is judged, and what the spec says of it: judges and checks share this."""

from ._runtime.suite import Subject

SUBJECT = Subject(
    id="beehive-diary",
    name="Beehive Diary",
    version="1.0.0",
    kind="skill",
    purpose="Keeps the diary of a beehive.",
    scope=["Write an entry."],
    harness="claude-code",
    system_prompt="Write down what the beekeeper says. Add nothing.",
)
