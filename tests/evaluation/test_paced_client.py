"""Requests are retried as long as that may help, and everything is counted."""

import asyncio

import pytest

from topshap import ClientError, Usage
from topshap.clients import Completion
from topshap.evaluation.paced_client import PacedClient, is_transient, may_be_charged, retry_after
from topshap.evaluation.rate_limits import RateLimits
from topshap.evaluation.spending import Spending

ANSWER = Completion("yes", Usage(1, 1000, 10))


class Scripted:
    """A client that fails as it is told to before it answers."""

    model = "scripted"

    def __init__(self, *failures):
        self.failures = list(failures)
        self.calls = 0

    async def complete(self, messages, **params):
        self.calls += 1
        if self.failures:
            failure = self.failures.pop(0)
            if failure == "hang":
                await asyncio.sleep(60)
            raise failure
        return ANSWER


def paced(client, **options):
    options = {"backoff": 0.001, "retries": 3, **options}
    return PacedClient(client, RateLimits(8), Spending((1.0, 2.0)), **options)


def ask(client):
    return asyncio.run(client.complete([]))


def lost(**options):
    return ClientError("incomplete", transient=True, **options)


def test_transient_failures_are_retried_and_answers_counted():
    client = Scripted(ClientError("busy", status=503), lost(), ConnectionError("gone"))
    counting = paced(client)
    assert ask(counting) is ANSWER
    assert client.calls == 4
    assert counting.spending.total == Usage(1, 1000, 10, 0.00102, lost=1)  # the connection that was lost


def test_a_lost_answer_counts_as_much_as_the_largest_one():
    counting = paced(Scripted())
    ask(counting)
    counting.client.failures = [lost(may_be_charged=True)]
    ask(counting)
    assert counting.spending.total == Usage(2, 3000, 30, pytest.approx(3 * 0.00102), lost=1)


def test_a_hanging_request_is_retried():
    client = Scripted("hang")
    assert ask(paced(client, timeout=0.01)) is ANSWER
    assert client.calls == 2


def test_refusals_by_a_rate_limit_are_not_counted_as_retries():
    client = Scripted(*[ClientError("slow down", status=429, retry_after=0.0)] * 20)
    counting = paced(client, retries=0)
    assert ask(counting) is ANSWER
    assert client.calls == 21
    assert counting.limits.limit < 8


def test_a_spent_quota_is_final():
    client = Scripted(ClientError("error insufficient_quota", status=429))
    with pytest.raises(ClientError, match="insufficient_quota"):
        ask(paced(client))
    assert client.calls == 1


def test_refusals_without_end_are_final(monkeypatch):
    monkeypatch.setattr("topshap.evaluation.paced_client.PATIENCE", 0.0)
    with pytest.raises(ClientError, match="slow down"):
        ask(paced(Scripted(ClientError("slow down", status=429, retry_after=0.0))))


def test_the_error_names_retries_concurrency_and_store_and_later_requests_are_not_made():
    client = Scripted(*[lost()] * 9)
    failing = paced(client, retries=2, timeout=5.0, advice=" All values so far are in the store 'run.db'.")
    with pytest.raises(ClientError) as error:
        ask(failing)
    for part in ("'scripted'", "failed 3 times", "incomplete", "retries=2", "timeout=5.0", "concurrency=8", "run.db"):
        assert part in str(error.value)
    with pytest.raises(ClientError, match="failed 3 times"):
        ask(failing)
    assert client.calls == 3


def test_mistakes_are_not_retried():
    client = Scripted(TypeError("unexpected keyword"))
    with pytest.raises(ClientError, match="failed once"):
        ask(paced(client))
    assert client.calls == 1


def test_answers_of_another_type_are_refused():
    class Other(Scripted):
        async def complete(self, messages, **params):
            return "yes"

    with pytest.raises(ClientError, match="must return Completion or TokenLogProbs"):
        ask(paced(Other()))


class OfOpenAI(Exception):  # noqa: N818 - in the shape of openai.APIStatusError
    def __init__(self, status_code, headers=()):
        self.status_code = status_code
        self.response = type("Response", (), {"headers": dict(headers)})


def test_errors_of_openai_are_understood():
    assert is_transient(OfOpenAI(500))
    assert is_transient(OfOpenAI(429))
    assert not is_transient(OfOpenAI(401))
    assert retry_after(OfOpenAI(429, {"retry-after": "3"})) == 3.0
    assert retry_after(OfOpenAI(429)) is None
    assert may_be_charged(TimeoutError())
    assert not may_be_charged(OfOpenAI(500))


def test_spending_leaves_room_for_calls_in_flight():
    spending = Spending((1.0, 1.0), max_cost=0.01)
    assert spending.allows(in_flight=7)  # nothing is known yet
    spending.add(Usage(1, 2000))
    assert [spending.allows(in_flight=count) for count in (0, 2, 4)] == [True, True, False]
    assert not spending.allows(in_flight=0, calls=5)


def test_a_limit_without_reported_tokens_is_an_error():
    spending = Spending((1.0, 1.0), max_cost=1.0)
    with pytest.raises(ClientError, match="does not report the tokens"):
        spending.add(Usage(1))
    spending.add(Usage(1, cost=0.0))


def test_a_cost_reported_by_the_endpoint_comes_before_the_prices():
    spending = Spending((1.0, 1.0))
    spending.add(Usage(1, 2000, cost=0.5))
    assert spending.total.cost == 0.5


def test_the_error_of_a_failed_run_is_one_sentence_after_another():
    with pytest.raises(ClientError) as failed:
        ask(paced(Scripted(ClientError("The model is unknown.", status=404))))
    assert "The model is unknown. It was made with" in str(failed.value)
