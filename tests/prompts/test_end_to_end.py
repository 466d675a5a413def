"""topshap.attribute against a real server: faults, rate limits, costs, kills, interrupts and spans."""

import os
import signal
import subprocess
import sys
import time

import pytest

import topshap
from topshap.clients import HTTPClient
from topshap_bench.prompts.openai_api import MODEL
from topshap_bench.prompts.planted import copied

PROMPT = copied(9, k=2, seed=5)
PRICES = (1.0, 2.0)
FAULTS = {"rate": 0.2, "hang": 0.3, "retry_after": "0.05", "seed": 1}
SCRIPT = """
import sys, topshap
from topshap.clients import HTTPClient
from topshap_bench.prompts.planted import copied
prompt = copied(9, k=2, seed=5)
found = topshap.attribute(
    HTTPClient(sys.argv[1], "copy-model"), prompt.question, documents=list(prompt.documents),
    answer=prompt.answer.strip(), k=2, budget=40, random_state=0, prices=(1.0, 2.0), store=sys.argv[2],
    concurrency=int(sys.argv[3]), callback=lambda race: print(race.evaluations, flush=True),
)
print("stopped", found.top.stopped, found.top.evaluations, flush=True)
"""


def attribute(server, **options):
    options = {"k": 2, "budget": 40, "random_state": 0, "prices": PRICES, "answer": PROMPT.answer.strip(), **options}
    client = HTTPClient(server.base_url, MODEL)
    return topshap.attribute(client, PROMPT.question, documents=list(PROMPT.documents), **options)


def facts(found):
    """Return everything about a result that must not depend on faults."""
    top = found.top
    return top.players.tolist(), top.estimates.tolist(), top.std_errors.tolist(), top.evaluations, top.stopped


@pytest.fixture(scope="module")
def expected(process):
    """Return the result without faults, and the cost of its requests."""
    found = attribute(process.start_anew())
    assert set(found.players.tolist()) == PROMPT.planted
    return found


def test_the_bill_is_that_of_the_server(server, tmp_path):
    found = attribute(server, store=tmp_path / "run.db")
    stats = server.stats()
    assert stats["answered"] == stats["distinct_answered"] == found.usage.requests == found.top.evaluations == 40
    assert stats["tokens"]["prompt_tokens"] == found.usage.prompt_tokens
    assert found.usage.cost == pytest.approx(stats["tokens"]["prompt_tokens"] * 1e-6)


@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_fifth_of_failing_requests_changes_nothing(server, expected, tmp_path, concurrency):
    server.start_anew(**FAULTS)
    found = attribute(server, store=tmp_path / "run.db", concurrency=concurrency, timeout=5.0)
    stats = server.stats()
    assert facts(found) == facts(expected)
    assert len(stats["faults"]) >= 3
    assert stats["answered"] == stats["distinct_answered"] == 40
    assert len(topshap.Store(tmp_path / "run.db")) == 40
    again = attribute(server, store=tmp_path / "run.db")
    assert facts(again) == facts(expected)
    assert server.stats()["requests"] == stats["requests"]


def test_costs_stay_within_the_limit_despite_faults(server, expected, tmp_path):
    limit = 0.5 * expected.usage.cost
    server.start_anew(**FAULTS)
    found = attribute(server, max_cost=limit, store=tmp_path / "run.db", timeout=5.0)
    paid = server.stats()["tokens"]["prompt_tokens"] * 1e-6
    assert found.top.stopped == "cost"
    assert paid <= found.usage.cost <= limit
    assert 0.2 * limit < paid


def test_default_settings_survive_a_rate_limit(server, expected):
    server.start_anew(per_second=4)
    found = attribute(server, budget=14)
    stats = server.stats()
    assert found.top.evaluations == stats["answered"] == 14
    assert stats["faults"]["rate limit"] >= 1


def test_spans_cost_no_further_requests(server):
    found = attribute(server)
    requests = server.stats()["requests"]
    sentences = found.sentences
    assert len(sentences) == 2
    assert set(sentences[0].players[:1].tolist()) | set(sentences[1].players[:1].tolist()) == PROMPT.planted
    assert server.stats()["requests"] == requests == 40
    server.start_anew()
    both = attribute(server, spans="sentence")
    assert server.stats()["requests"] == 40
    assert {int(top.players[0]) for top in both.spans} == PROMPT.planted


def test_the_model_is_asked_for_the_answer(server):
    question = f"What is known about {PROMPT.answer.split()[-1]}"
    client = HTTPClient(server.base_url, MODEL)
    found = topshap.attribute(client, question, documents=list(PROMPT.documents), k=1, budget=30, random_state=0)
    assert found.answer in " ".join(PROMPT.documents)
    assert found.answer in PROMPT.documents[found.players[0]]
    assert server.stats()["answered"] == 31


class TestChildren:
    """Runs in a process of their own, which are killed or interrupted."""

    def start(self, server, store, concurrency):
        command = [sys.executable, "-c", SCRIPT, server.base_url, str(store), str(concurrency)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def wait_for(self, server, answered):
        for _ in range(2000):
            if server.stats()["answered"] >= answered:
                return
            time.sleep(0.02)
        pytest.fail("The child made no requests.")

    def test_a_killed_run_continues_and_pays_only_for_what_was_in_flight(self, server, expected, tmp_path):
        server.start_anew(latency=0.15)
        child = self.start(server, tmp_path / "run.db", concurrency=4)
        with child:
            self.wait_for(server, answered=10)
            os.kill(child.pid, signal.SIGKILL)
        known = len(topshap.Store(tmp_path / "run.db"))
        assert 6 <= known < 40
        found = attribute(server, store=tmp_path / "run.db")
        stats = server.stats()
        assert facts(found) == facts(expected)
        assert stats["distinct_answered"] == 40
        assert stats["answered"] - stats["distinct_answered"] <= 4

    def test_ctrl_c_returns_what_is_known_and_keeps_what_was_paid(self, server, expected, tmp_path):
        server.start_anew(latency=0.15)
        child = self.start(server, tmp_path / "run.db", concurrency=2)
        with child:
            self.wait_for(server, answered=12)
            child.send_signal(signal.SIGINT)
            lines = child.communicate(timeout=60)[0].splitlines()
        assert lines[-1].startswith("stopped interrupted")
        assert child.returncode == 0
        assert len(topshap.Store(tmp_path / "run.db")) >= int(lines[-1].split()[-1]) >= 2
        found = attribute(server, store=tmp_path / "run.db")
        assert facts(found) == facts(expected)
        stats = server.stats()
        assert stats["answered"] - stats["distinct_answered"] <= 2
