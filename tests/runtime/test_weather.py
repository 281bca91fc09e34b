"""Waiting, holding back and giving up: what the tries of many units share."""

import threading

from helix_runtime.judges.throttle import Throttle, Ticket
from helix_runtime.judges.weather import MAX_BACKOFF, Weather, backoff
from helix_runtime.providers import (
    JudgeReply,
    JudgeRequest,
    ProviderError,
)
from helix_runtime.unit import JudgeUsage
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


def limited_at(many: int) -> Throttle:
    """A throttle that met a 429 with so many under way, and all of those answered."""
    throttle = Throttle()
    tickets = [throttle.enter(1) for _ in range(many)]
    for ticket in tickets:
        assert ticket is not None
        throttle.leave(ticket, limited=True)
    return throttle


def answers(throttle: Throttle, many: int) -> None:
    for _ in range(many):
        ticket = throttle.enter(1)
        assert ticket is not None
        throttle.leave(ticket, limited=False)


def test_a_round_of_good_answers_brings_back_half_of_what_is_missing() -> None:
    throttle = limited_at(64)
    missing = 32.0
    for _ in range(4):
        answers(throttle, int(throttle.limit))
        assert 0.45 * missing < 64 - throttle.limit < 0.7 * missing
        missing = 64 - throttle.limit
    answers(throttle, 64 * 5)
    assert throttle.limit == float("inf")


def test_beyond_where_it_was_limited_one_a_round_is_tried() -> None:
    throttle = limited_at(64)
    ticket = throttle.enter(1)
    assert ticket is not None
    throttle.leave(ticket, limited=True)  # now with one under way
    assert throttle.limit == 1
    for _ in range(10):
        before = throttle.limit
        answers(throttle, int(before))
        assert before + 0.5 < throttle.limit <= before + 1


def test_a_server_that_stands_less_is_not_asked_for_more_for_long() -> None:
    """Rounds of a server that takes 20 at a time: it refuses few, and idles little."""
    throttle = limited_at(64)
    served = refused = 0
    rounds = 200
    for _ in range(rounds):
        tickets = [throttle.enter(0) for _ in range(min(int(throttle.limit), 64))]
        for place, ticket in enumerate(tickets):
            assert ticket is not None
            throttle.leave(ticket, limited=place >= 20)
        served += min(len(tickets), 20)
        refused += max(len(tickets) - 20, 0)
    assert served > 0.7 * 20 * rounds
    assert refused < 0.1 * served


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
    entered: list[Ticket | None] = []
    other = threading.Thread(target=lambda: entered.append(throttle.enter(60)))
    other.start()
    throttle.leave(second, limited=False)
    other.join(60)
    assert entered and entered[0] is not None


def test_who_waits_is_let_in_in_order_and_nobody_passes_by() -> None:
    throttle = limited_at(2)
    first = throttle.enter(0)
    assert first is not None and throttle.limit == 1
    order: list[int] = []
    others = []
    for number in range(5):
        other = threading.Thread(target=_queue, args=(throttle, number, order))
        other.start()
        others.append(other)
        while throttle.held <= number:
            pass
    assert throttle.enter(0) is None, "behind those who wait"
    throttle.leave(first, limited=True)
    for other in others:
        other.join(60)
    assert order == [0, 1, 2, 3, 4] and throttle.held == 0


def _queue(throttle: Throttle, number: int, order: list[int]) -> None:
    ticket = throttle.enter(60)
    assert ticket is not None
    order.append(number)
    throttle.leave(ticket, limited=True)


def test_many_threads_on_changing_weather_lose_no_turn() -> None:
    throttle = Throttle()
    under_way, most = [0], [0]
    lock = threading.Lock()

    def work(number: int) -> None:
        for turn in range(200):
            ticket = throttle.enter(0.0001 if turn % 7 == 0 else 60)
            if ticket is None:
                continue
            with lock:
                under_way[0] += 1
                most[0] = max(most[0], under_way[0])
            with lock:
                under_way[0] -= 1
            throttle.leave(ticket, limited=(turn * 31 + number) % 50 == 0)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert throttle.held == 0 and most[0] <= 16
    alone = throttle.enter(0)
    assert alone is not None, "every turn was given back"


def test_a_rate_limit_is_waited_out_as_it_says_and_longer_if_that_was_too_short() -> (
    None
):
    clock, provider = Clock(), Scripted(*[limited(0.1)] * 6)
    sky = weather(provider, clock)
    sky.complete(request(), sky.unit("u"))
    assert clock.waits == [0.1, 0.2, 0.4, 0.8, 0.8, 0.8]
    clock, provider = Clock(), Scripted(*[limited(20.0)] * 3)
    sky = weather(provider, clock)
    sky.complete(request(), sky.unit("u"))
    assert clock.waits == [20.0, 30.0, 30.0]
