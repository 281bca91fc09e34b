"""Waiting, holding back and giving up: what the tries of many units share."""

import threading

from helix_runtime.providers import (
    JudgeReply,
    JudgeRequest,
    ProviderError,
)
from helix_runtime.throttle import Throttle
from helix_runtime.unit import JudgeUsage
from helix_runtime.weather import MAX_BACKOFF, Weather, backoff
from support.clock import Clock
from support.providers import request


class Scripted:
    """A provider in memory that raises what it is told to, then answers."""

    name = identity = "scripted"

    def __init__(self, *faults: ProviderError) -> None:
        self.faults = list(faults)
        self.requests: list[JudgeRequest] = []

    def complete(self, request: JudgeRequest) -> JudgeReply:
        self.requests.append(request)
        if self.faults:
            raise self.faults.pop(0)
        return JudgeReply(text="", model=None, finish_reason="stop", usage=JudgeUsage())

    def close(self) -> None:
        return


def limited(after: float | None = None) -> ProviderError:
    return ProviderError("rate-limit", "slow down", retry_after=after)


def weather(provider: Scripted, clock: Clock) -> Weather:
    return Weather(provider, deadline=100.0, sleep=clock.sleep, clock=clock)


def test_waits_double_to_a_ceiling_and_differ_by_a_quarter_at_most() -> None:
    for tries in range(1, 12):
        plain = min(0.5 * 2 ** (tries - 1), MAX_BACKOFF)
        waits = {backoff(f"unit {number}", tries) for number in range(50)}
        assert len(waits) == 50
        assert all(0.75 * plain <= wait <= 1.25 * plain for wait in waits)


def test_the_same_unit_waits_the_same_every_time() -> None:
    assert backoff("a", 3) == backoff("a", 3)


def test_what_one_unit_was_told_to_wait_holds_for_the_others() -> None:
    clock, provider = Clock(), Scripted(limited(30))
    sky = weather(provider, clock)
    waited: list[str | None] = []
    sleep = clock.sleep

    def look_and_sleep(seconds: float) -> None:
        # While the first waits, another unit comes: it does not ask before its time.
        waited.append(sky.waiting())
        sleep(seconds)

    sky._sleep = look_and_sleep
    sky.complete(request(), sky.unit("first"))
    assert waited == ["1 wait for the judge (rate-limit, 30 s)"]
    assert sky.waiting() is None
    provider.faults = [limited(20)]
    started = clock.now
    thread = sky.unit("second")
    sky._calm_at = clock.now + 12
    sky.complete(request(), thread)
    assert clock.now - started == 32


def test_a_try_never_outlasts_its_unit() -> None:
    clock = Clock()
    provider = Scripted(*[ProviderError("server", "500")] * 3)
    sky = weather(provider, clock)
    sky.complete(request(timeout=80.0), sky.unit("u"))
    times = [asked.timeout for asked in provider.requests]
    assert times[0] == 80 and times == sorted(times, reverse=True)


def test_an_exhausted_account_is_not_asked_by_later_units() -> None:
    clock, provider = Clock(), Scripted(ProviderError("quota", "no money"))
    sky = weather(provider, clock)
    for seed in ("a", "b", "c"):
        try:
            sky.complete(request(), sky.unit(seed))
        except ProviderError as error:
            assert error.kind == "quota"
    assert len(provider.requests) == 1 and sky.fatal is None


# -- the throttle ----------------------------------------------------------------------


def test_a_429_halves_once_for_all_that_were_under_way() -> None:
    throttle = Throttle()
    tickets = [throttle.enter(1) for _ in range(16)]
    for ticket in tickets:
        assert ticket is not None
        throttle.leave(ticket, limited=True)
    assert throttle.limit == 8


def test_good_answers_creep_up_one_for_each_round() -> None:
    throttle = Throttle()
    tickets = [throttle.enter(1) for _ in range(16)]
    for ticket in tickets:
        assert ticket is not None
        throttle.leave(ticket, limited=True)
    for _ in range(8):
        ticket = throttle.enter(1)
        assert ticket is not None
        throttle.leave(ticket, limited=False)
    assert 8.9 < throttle.limit < 9.1
    for _ in range(200):
        ticket = throttle.enter(1)
        assert ticket is not None
        throttle.leave(ticket, limited=False)
    assert throttle.limit == float("inf")


def test_one_always_goes_through() -> None:
    throttle = Throttle()
    for _ in range(5):
        ticket = throttle.enter(1)
        assert ticket is not None
        throttle.leave(ticket, limited=True)
    assert throttle.limit == 1 and throttle.enter(0) is not None


def test_whoever_is_held_back_goes_on_when_a_turn_is_free() -> None:
    throttle = Throttle()
    first = throttle.enter(0)
    assert first is not None
    throttle.leave(first, limited=True)
    second = throttle.enter(0)
    assert second is not None and throttle.enter(0) is None
    entered: list[int | None] = []
    other = threading.Thread(target=lambda: entered.append(throttle.enter(60)))
    other.start()
    throttle.leave(second, limited=False)
    other.join(60)
    assert entered and entered[0] is not None
