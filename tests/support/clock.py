"""A clock that only waits move."""


class Clock:
    """`sleep` moves it and is over at once; `waits` is what was slept."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.waits: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds
