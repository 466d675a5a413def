"""topshap prompt, against a small OpenAI-compatible server on this machine."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import topshap

pytest.importorskip("httpx")

DOCUMENTS = {"danube": "Vienna lies on the Danube.", "bananas": "Bananas are yellow.", "rain": "It rains."}
ANSWER = " On the Danube."


class Endpoint(BaseHTTPRequestHandler):
    """Echoes log probabilities, one token per word, which are higher with the right document."""

    protocol_version = "HTTP/1.1"
    requests = 0

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        type(self).requests += 1
        content = self.complete() if self.path == "/v1/chat/completions" else self.echo(body["prompt"])
        answer = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def complete(self):
        usage = {"prompt_tokens": 30, "completion_tokens": 4}
        return {"choices": [{"message": {"content": ANSWER}, "finish_reason": "stop"}], "usage": usage}

    def echo(self, text):
        tokens = [token + " " for token in text.split(" ")]
        log_prob = -1.0 if DOCUMENTS["danube"] in text else -4.0
        log_probs = {"tokens": tokens, "token_logprobs": [None, *[log_prob] * (len(tokens) - 1)]}
        return {"choices": [{"logprobs": log_probs}], "usage": {"prompt_tokens": len(tokens)}}

    def log_message(self, *_):
        pass


@pytest.fixture
def request_file(tmp_path):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    Endpoint.requests = 0
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    path = tmp_path / "request.json"
    content = {
        "base_url": f"http://127.0.0.1:{server.server_port}/v1",
        "model": "small",
        "messages": "Where is Vienna?",
        "documents": DOCUMENTS,
        "prices": [1.0, 4.0],
    }
    path.write_text(json.dumps(content), encoding="utf-8")
    yield path
    server.shutdown()
    server.server_close()
    thread.join()


def change(path, **fields):
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | fields), encoding="utf-8")


def test_the_documents_behind_an_answer_are_printed_with_tokens_and_cost(run, request_file, tmp_path):
    store, report = tmp_path / "run.db", tmp_path / "report.html"
    arguments = ["prompt", str(request_file), "-k", "1", "--store", str(store), "--report", str(report)]
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert "Answer:  On the Danube." in result.output
    assert "   1  danube" in result.output
    assert "9 requests, " in result.output
    assert report.exists()
    assert Endpoint.requests == 9
    assert run(*arguments).exit_code == 0
    assert Endpoint.requests == 9  # all is in the store


def test_a_dry_run_makes_no_request(run, request_file):
    result = run("prompt", str(request_file), "-k", "1", "--dry-run", "--max-cost", "0.5")
    assert result.exit_code == 0, result.output
    assert result.output.startswith("At most 9 requests with about ")
    assert "cost about " in result.output
    assert Endpoint.requests == 0


def test_max_cost_ends_the_run(run, request_file):
    result = run("prompt", str(request_file), "-k", "1", "--max-cost", "0.00012", "--concurrency", "1")
    assert result.exit_code == 0, result.output
    assert "max_cost was reached" in result.output


def test_spans_are_printed_one_per_line(run, request_file):
    change(request_file, spans="sentence", score="log-prob-per-token")
    result = run("prompt", str(request_file), "-k", "1")
    assert result.exit_code == 0, result.output
    assert "On the Danube.: danube" in result.output


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"model": None}, "needs the field 'model', or the option --model"),
        ({"messages": None}, "needs the field 'messages'."),
        ({"document": []}, "has the unknown field 'document'. Did you mean 'documents'?"),
        ({"score": "best"}, "The field 'score'"),
    ],
)
def test_mistakes_in_the_file_are_named(run, request_file, fields, message):
    change(request_file, **fields)
    result = run("prompt", str(request_file))
    assert result.exit_code != 0
    assert message in str(result.exception)
    assert isinstance(result.exception, topshap.ParameterError)


def test_a_file_that_is_not_json_is_refused(run, tmp_path):
    (tmp_path / "request.json").write_text("{", encoding="utf-8")
    assert "is not a JSON file" in str(run("prompt", str(tmp_path / "request.json")).exception)
    (tmp_path / "request.json").write_text("[]", encoding="utf-8")
    assert "must contain a JSON object" in str(run("prompt", str(tmp_path / "request.json")).exception)
