"""attribute finds the parts behind an answer, within its limits, and loses nothing that was paid for."""

import asyncio
import signal
import sys

import numpy as np
import pytest

import topshap
from topshap import ClientError, ParameterError, RaceError
from topshap.clients import Completion, MockClient, TokenLogProbs

QUESTION = "Which river, and which tram?"
DOCUMENTS = {
    "danube": "Vienna lies on the Danube.",
    "bananas": "Bananas are yellow.",
    "tram": "Tram D stops here.",
    "seine": "Paris lies on the Seine.",
    "alps": "The Alps are high.",
    "rain": "It rains.",
}
ANSWER = "The Danube. Take tram D."
PRICES = (1.0, 4.0)


def log_prob(messages, answer):
    """Score the words of the answer: the first sentence rests on one document, the second on another."""
    text = messages[-1]["content"]
    first, second = -4.0 + 3.0 * ("Danube" in text), -4.0 + 2.0 * ("Tram D" in text)
    return [-1.0, first, -0.5, second, second]


def mock():
    return MockClient(lambda messages: ANSWER, log_prob)


def attribute(client=None, **options):
    options = {"documents": DOCUMENTS, "k": 2, "random_state": 0, **options}
    return topshap.attribute(client or mock(), QUESTION, **options)


def test_the_model_is_asked_once_with_everything():
    client = mock()
    found = attribute(client)
    assert found.answer == ANSWER
    assert all(text in client.requests[0][-1]["content"] for text in [*DOCUMENTS.values(), QUESTION])
    assert found.names == ("tram", "danube")
    assert found.usage.requests == len(client.requests) == found.top.evaluations + 1 == 33


def test_a_given_answer_needs_no_question():
    client = MockClient(log_prob=log_prob)
    assert attribute(client, answer=ANSWER).names == ("tram", "danube")


def test_spans_chosen_afterwards_cost_nothing():
    client = mock()
    found = attribute(client)
    before = len(client.requests)
    assert [top.names[0] for top in found.sentences] == ["danube", "tram"]
    assert found.span("Danube").names[0] == "danube"
    assert found.span((16, 23)).names[0] == "tram"
    assert found.sentences[0].estimates[0] == pytest.approx(3.0, abs=0.1)
    assert found.sentences.usage == found.usage
    assert len(client.requests) == before


def test_spans_of_the_run_are_outputs_of_the_same_evaluations():
    plain, client = attribute(), mock()
    found = attribute(client, spans="sentence")
    assert len(client.requests) == plain.usage.requests
    assert found.spans.output_names == ("The Danube.", "Take tram D.")
    assert [top.names[0] for top in found.spans] == ["danube", "tram"]
    assert found.top.output_name == "answer"
    np.testing.assert_allclose(found.top.estimates, found.spans.estimates.sum(axis=0), atol=0.1)


def test_spans_of_all_coalitions_are_exact():
    found = attribute(budget=64)
    assert found.top.stopped == found.sentences.stopped == "exact"
    np.testing.assert_allclose(found.sentences.estimates[0], [3.0, 0, 0, 0, 0, 0], atol=1e-9)
    np.testing.assert_allclose(found.sentences.estimates[1], [0, 0, 4.0, 0, 0, 0], atol=1e-9)


def test_few_evaluations_still_give_spans():
    found = attribute(budget=8)
    assert found.sentences[1].estimates.shape == (6,)
    assert found.sentences[1].names[0] == "tram"


def test_scores_of_new_answers_have_no_spans():
    found = attribute(score=topshap.games.ExactMatch(), params={"temperature": 0, "seed": 1})
    with pytest.raises(RaceError, match="Only log probabilities"):
        found.span("Danube")


def test_pairs_of_documents_have_no_spans():
    found = attribute(order=2, k=1, budget=64)
    assert found.top.order == 2
    with pytest.raises(RaceError, match="not for pairs"):
        found.span("Danube")


def test_awaited_and_in_a_running_loop_it_is_the_same():
    async def both():
        awaited = await topshap.aattribute(mock(), QUESTION, documents=DOCUMENTS, k=2, random_state=0)
        return awaited, attribute()  # as in a notebook

    for found in asyncio.run(both()):
        np.testing.assert_array_equal(found.top.estimates, attribute().top.estimates)


def test_the_result_does_not_depend_on_the_concurrency():
    np.testing.assert_array_equal(attribute(concurrency=1).top.estimates, attribute(concurrency=7).top.estimates)


def test_the_result_shows_tokens_and_cost(tmp_path):
    found = attribute(prices=PRICES)
    usage = found.usage
    assert usage.cost == pytest.approx((usage.prompt_tokens * 1.0 + usage.completion_tokens * 4.0) / 1e6)
    assert f"33 requests, {usage.tokens:,} tokens, cost {usage.cost:.4g}." in str(found)
    found.save(tmp_path / "top.json")
    assert topshap.load(tmp_path / "top.json").usage == usage
    found.to_html(tmp_path / "report.html")
    assert "What the answer rests on" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_progress_bar_shows_tokens_and_cost(capsys):
    pytest.importorskip("tqdm")
    attribute(prices=PRICES, progress=True)
    assert "tokens, cost" in capsys.readouterr().err


class TestCost:
    def test_max_cost_ends_a_run_like_a_budget_and_is_not_exceeded(self):
        whole = attribute(prices=PRICES, max_cost=1.0)
        assert whole.top.stopped == "budget"
        limit = whole.usage.cost / 2
        for concurrency in (1, 8):
            found = attribute(prices=PRICES, max_cost=limit, concurrency=concurrency)
            assert found.top.stopped == "cost"
            assert 0.8 * limit < found.usage.cost <= limit
            assert found.top.evaluations == found.usage.requests - 1
            assert "max_cost was reached" in str(found)
            assert set(found.names) == {"tram", "danube"}

    def test_a_cost_limit_below_the_first_requests_is_an_error(self):
        with pytest.raises(RaceError, match="max_cost=1e-06 ended the run before the prompts"):
            attribute(prices=PRICES, max_cost=1e-6)

    def test_max_cost_needs_prices(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "litellm", None)  # as if it were not installed
        with pytest.raises(ParameterError, match="'prices' parameter of attribute must be given for 'max_cost'"):
            attribute(max_cost=1.0)

    def test_a_store_remembers_what_was_spent(self, tmp_path):
        options = {"prices": PRICES, "store": tmp_path / "run.db"}
        first = attribute(**options, budget=12)
        again = attribute(**options, budget=12)
        assert again.usage == first.usage
        more = attribute(**options, budget=32)
        assert more.usage.cost == pytest.approx(attribute(prices=PRICES).usage.cost, rel=0.2)
        limited = attribute(**options, budget=64, max_cost=more.usage.cost)
        assert (limited.top.stopped, limited.usage) == ("cost", more.usage)

    def test_a_dry_run_makes_no_request_and_covers_the_cost(self):
        client = mock()
        estimate = attribute(client, prices=PRICES, dry_run=True)
        assert client.requests == []
        assert estimate.requests == 33
        assert attribute(prices=PRICES).usage.cost < 2 * estimate.highest_cost
        assert attribute(prices=PRICES, max_cost=1e-6, dry_run=True).highest_cost == 1e-6
        assert "the cost is not known" in str(attribute(dry_run=True))


class TestStore:
    def test_a_second_run_asks_nothing(self, tmp_path):
        first, client = attribute(store=tmp_path / "run.db"), mock()
        again = attribute(client, store=tmp_path / "run.db")
        assert client.requests == []
        np.testing.assert_array_equal(again.top.estimates, first.top.estimates)
        np.testing.assert_array_equal(again.details, first.details)
        assert again.answer == first.answer

    def test_an_answer_that_varies_is_asked_for_once(self, tmp_path):
        answers = iter([ANSWER, "Something else entirely today."])
        first = attribute(NamedClient(lambda _: next(answers)), store=tmp_path / "run.db")
        again = attribute(NamedClient(lambda _: next(answers)), store=tmp_path / "run.db")
        assert first.answer == again.answer == ANSWER

    def test_an_answer_of_the_user_is_not_taken_for_that_of_the_model(self, tmp_path):
        attribute(store=tmp_path / "run.db", answer="Something else.", score=len)
        with pytest.raises(topshap.StoreError, match="another game"):
            attribute(store=tmp_path / "run.db", score=len)

    def test_everything_paid_is_in_the_store_if_a_request_fails_for_good(self, tmp_path):
        path = tmp_path / "run.db"
        failing = FailingClient(after=10)
        with pytest.raises(ClientError, match=r"store .*run\.db.*the same call continues") as error:
            attribute(failing, store=path, retries=0, concurrency=1)
        assert "concurrency=1" in str(error.value)
        assert topshap.Store(path).info().evaluations == 9  # the answer was the first
        client = FailingClient(after=1000)
        found = attribute(client, store=path)
        assert client.calls == 33 - 10
        assert found.usage.requests == 33
        np.testing.assert_array_equal(found.top.estimates, attribute(FailingClient(after=1000)).top.estimates)

    @pytest.mark.parametrize(
        "change",
        [
            {"documents": {**DOCUMENTS, "rain": "It pours."}},
            {"score": topshap.games.AnswerLogProb(per_token=True)},
            {"params": {"temperature": 0.5}},
            {"template": "[{number}] {text}"},
            {"answer": "The Danube."},
        ],
        ids=lambda change: next(iter(change)),
    )
    def test_other_prompts_scores_and_parameters_are_other_games(self, tmp_path, change):
        attribute(store=tmp_path / "run.db", answer=ANSWER)
        with pytest.raises(topshap.StoreError, match="another game"):
            attribute(store=tmp_path / "run.db", **{"answer": ANSWER, **change})

    def test_a_client_without_a_name_needs_a_fingerprint(self, tmp_path):
        client = FailingClient(after=1000)
        client.model = None
        with pytest.raises(ParameterError, match="'store'"):
            attribute(client, store=tmp_path / "run.db")
        found = attribute(client, store=tmp_path / "run.db", fingerprint="my-model-v1")
        assert found.names == ("tram", "danube")


class TestEndings:
    def test_ctrl_c_returns_the_result_so_far(self, tmp_path):
        client = FailingClient(after=20, failure=lambda: signal.raise_signal(signal.SIGINT))
        found = attribute(client, concurrency=1, store=tmp_path / "run.db")
        assert found.top.stopped == "interrupted"
        assert found.top.evaluations >= 18
        assert topshap.Store(tmp_path / "run.db").info().evaluations >= found.top.evaluations

    def test_ctrl_c_before_anything_is_known_is_raised(self):
        class Slow:
            async def complete(self, messages, **params):
                signal.raise_signal(signal.SIGINT)
                await asyncio.sleep(60)

        with pytest.raises(KeyboardInterrupt):
            attribute(Slow())

    def test_a_callback_ends_the_run(self):
        found = attribute(callback=lambda race: race.usage.requests > 5)
        assert found.top.stopped == "interrupted"


class TestMistakes:
    def test_options_are_checked_before_the_model_is_asked(self):
        client = mock()
        wrong = [
            ({"k": 7}, "'k' parameter of attribute must be an int in"),
            ({"concurrency": 0}, "'concurrency' parameter of attribute"),
            ({"max_cost": -1.0}, "'max_cost' parameter of attribute"),
            ({"unit": "word"}, "'unit' parameter of attribute"),
            ({"documents": [3]}, "'documents' parameter of attribute"),
            ({"epsilon": -1.0}, "'epsilon' parameter of attribute"),
            ({"players": "tools"}, "it has no tools"),
        ]
        for options, message in wrong:
            with pytest.raises(ParameterError, match=message):
                attribute(client, **options)
        with pytest.raises(TypeError, match=r"unexpected keyword argument 'max_costs'\. Did you mean 'max_cost'"):
            attribute(client, max_costs=1.0)
        assert client.requests == []

    def test_a_failing_score_is_not_repeated(self):
        def score(text):
            raise ConnectionError("no grade")

        client = mock()
        with pytest.raises(topshap.EvaluationError, match="no grade"):
            attribute(client, score=score)
        assert len(client.requests) == 3  # the answer, and the first two coalitions


class FailingClient:
    """A synchronous client of the user that fails after some calls."""

    model = "own"
    blocking = False

    def __init__(self, after, failure=None):
        self.after, self.calls, self.failure = after, 0, failure

    def _count(self):
        self.calls += 1
        if self.calls > self.after:
            if self.failure is None:
                raise ConnectionError("gone")
            failure, self.failure, self.after = self.failure, None, 10**9
            failure()

    def complete(self, messages, **params):
        self._count()
        return Completion(ANSWER)

    def score(self, messages, answer):
        self._count()
        return MockClient(log_prob=log_prob).score(messages, answer)


class NamedClient(MockClient):
    """A client whose answers vary, and that is identified by its model."""

    fingerprint = "named"

    def __init__(self, respond):
        super().__init__(respond, log_prob)


def test_values_that_vary_are_averaged():
    rng = np.random.default_rng(0)

    def respond(messages):
        return ANSWER if rng.random() < 0.1 + 0.8 * ("Danube" in messages[-1]["content"]) else "No idea."

    found = attribute(MockClient(respond), answer=ANSWER, score=topshap.games.ExactMatch(), k=1, budget=60)
    assert not found.top.deterministic
    assert found.names == ("danube",)


def test_tokens_that_cross_words_count_where_they_start():
    def score(messages, answer):
        return TokenLogProbs(("The Da", "nube. Take", " tram D."), (-1.0, -2.0, -3.0), (0, 6, 16))

    found = attribute(MockClient(log_prob=score), answer=ANSWER, budget=32)
    assert found.details[0].tolist() == [-1.0, -2.0, 0.0, 0.0, -3.0, 0.0, 0.0, 3.0]
