"""Requests keep to concurrency, pauses and limits per minute; refusals halve the concurrency. Time is simulated."""

import asyncio

import pytest

from topshap.evaluation.rate_limits import RateLimits


class Clock:
    """A time that passes only while somebody waits for it."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    async def sleep(self, seconds):
        self.now += seconds
        await asyncio.sleep(0)


def limits(concurrency, clock, **options):
    return RateLimits(concurrency, clock=clock, sleep=clock.sleep, **options)


def starts(limited, count, tokens=0.0):
    """Return the times at which requests start if each ends at once."""

    async def make():
        times = []
        for _ in range(count):
            times.append(await limited.enter(tokens))
            limited.leave()
        return times

    return asyncio.run(make())


def test_requests_per_minute_are_spaced_evenly():
    assert starts(limits(4, Clock(), requests_per_minute=30), 4) == pytest.approx([0.0, 2.0, 4.0, 6.0])


def test_tokens_per_minute_hold_in_any_minute():
    times = starts(limits(4, Clock(), tokens_per_minute=100), 6, tokens=40.0)
    assert times == pytest.approx([0.0, 0.0, 60.0, 60.0, 120.0, 120.0])


def test_tokens_beyond_the_estimate_count():
    clock = Clock()
    limited = limits(4, clock, tokens_per_minute=100)

    async def make():
        await limited.enter(10.0)
        limited.leave(90.0)
        return await limited.enter(10.0)

    assert asyncio.run(make()) == pytest.approx(60.0)


def test_a_request_larger_than_the_limit_still_starts():
    assert starts(limits(4, Clock(), tokens_per_minute=10), 2, tokens=40.0) == pytest.approx([0.0, 60.0])


def test_a_refusal_pauses_all_requests_and_halves_the_limit_once():
    clock = Clock()
    limited = limits(8, clock)

    async def make():
        started = [await limited.enter() for _ in range(3)]
        for time in started:
            limited.refused(time, pause=7.0)
            limited.leave()
        assert limited.limit == 4.0
        assert await limited.enter() == pytest.approx(7.0)
        limited.refused(clock.now, pause=0.0)
        assert limited.limit == 2.0

    asyncio.run(make())


def test_the_limit_grows_slowly_up_to_the_concurrency():
    limited = limits(4, Clock())
    limited.refused(0.0, pause=0.0)
    assert limited.limit == 2.0
    limited.accepted()
    assert limited.limit == 2.5
    for _ in range(50):
        limited.accepted()
    assert limited.limit == 4.0


def test_no_more_requests_are_in_flight_than_allowed():
    limited = RateLimits(3)
    most = 0

    async def request():
        nonlocal most
        await limited.enter()
        most = max(most, limited.in_flight)
        await asyncio.sleep(0.001)
        limited.leave()

    async def make():
        await asyncio.gather(*(request() for _ in range(20)))

    asyncio.run(make())
    assert (most, limited.in_flight) == (3, 0)
