"""A run against a server that fails in every way ends with the result of a run without failures."""

import asyncio
import itertools
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

import topshap

pytest.importorskip("httpx")

DOCUMENTS = {f"d{i}": f"Fact {i} is known." for i in range(8)}
ANSWER = " Both facts."
FAULTS = ("429", "500", "drop", "truncate")


class Endpoint(BaseHTTPRequestHandler):
    """Echoes log probabilities that rest on two documents; `faults` decides which requests fail, and how."""

    protocol_version = "HTTP/1.1"
    server: "Server"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        fault = self.server.next_fault()
        if fault == "drop":
            self.close_connection = True
            return
        if fault in ("429", "500"):
            self.reply(int(fault), b'{"error": "on purpose"}', {"Retry-After": "0.01"} if fault == "429" else {})
            return
        text = body["prompt"]
        self.server.answered += 1
        tokens = [token + " " for token in text.split(" ")]
        log_prob = -6.0 + 3.0 * ("Fact 2" in text) + 2.0 * ("Fact 5" in text)
        log_probs = {"tokens": tokens, "token_logprobs": [None, *[log_prob] * (len(tokens) - 1)]}
        content = json.dumps({"choices": [{"logprobs": log_probs}], "usage": {"prompt_tokens": 1000}}).encode()
        self.reply(200, content[: len(content) // 2] if fault == "truncate" else content, {})

    def reply(self, status, content, headers):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    """Every `every`-th request fails; 0 for none."""

    daemon_threads = True

    def __init__(self, every):
        super().__init__(("127.0.0.1", 0), Endpoint)
        self.every, self.count, self.answered = every, 0, 0
        self.faults, self.lock = itertools.cycle(FAULTS), threading.Lock()

    def next_fault(self):
        with self.lock:
            self.count += 1
            return next(self.faults) if self.every and self.count % self.every == 0 else None


@pytest.fixture
def serve():
    servers = []

    def start(every=0):
        servers.append(Server(every))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return servers[-1]

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def attribute(server, **options):
    client = topshap.clients.HTTPClient(f"http://127.0.0.1:{server.server_port}/v1", "small", timeout=5.0)
    options = {"documents": DOCUMENTS, "answer": ANSWER, "k": 2, "prices": (1.0, 1.0), "random_state": 0, **options}
    return topshap.attribute(client, "Which facts?", **options)


def test_failures_of_every_kind_change_nothing_but_the_number_of_requests(serve, tmp_path):
    good, bad = serve(), serve(every=5)
    expected = attribute(good)
    found = attribute(bad, store=tmp_path / "run.db")
    np.testing.assert_array_equal(found.top.estimates, expected.top.estimates)
    assert set(found.names) == {"d2", "d5"}
    assert topshap.Store(tmp_path / "run.db").info().evaluations == 32
    assert found.usage.requests == expected.usage.requests == good.answered == 32
    truncated = bad.answered - 32
    assert truncated >= 1
    assert found.usage.lost >= truncated  # lost connections may have been charged too
    assert found.usage.cost == pytest.approx(1e-3 * (32 + found.usage.lost))


def test_the_cost_limit_holds_with_failures(serve):
    server = serve(every=5)
    found = attribute(server, max_cost=0.02, concurrency=4)
    assert found.top.stopped == "cost"
    assert found.usage.cost <= 0.02
    assert server.answered <= 20


def test_a_rate_limit_is_waited_out(serve):
    server = serve(every=2)
    server.faults = itertools.repeat("429")
    found = attribute(server, retries=0)
    assert (found.top.stopped, found.usage.requests, found.usage.lost) == ("budget", 32, 0)


def test_instances_of_openai_are_clients_as_they_are(serve):
    openai = pytest.importorskip("openai")
    server = serve()
    options = {"documents": DOCUMENTS, "answer": ANSWER, "k": 2, "model": "small", "random_state": 0, "budget": 12}
    address = {"base_url": f"http://127.0.0.1:{server.server_port}/v1", "api_key": "none", "max_retries": 0}

    async def awaited():
        async with openai.AsyncOpenAI(**address) as client:
            return await topshap.aattribute(client, "Which facts?", **options)

    with openai.OpenAI(**address) as client:
        found = topshap.attribute(client, "Which facts?", **options)
        with pytest.raises(topshap.ParameterError, match="'model' parameter of attribute must be the name"):
            topshap.attribute(client, "Which facts?", **{**options, "model": None})
    expected = attribute(server, budget=12)
    for each in (found, asyncio.run(awaited())):
        np.testing.assert_array_equal(each.top.estimates, expected.top.estimates)
        assert each.usage.requests == 12
