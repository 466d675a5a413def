"""An OpenAI-compatible server with a small language model, for tests and benchmarks; it listens on 127.0.0.1 only.

``python -m topshap_bench.prompts.server --latency 0.2`` prints its address as one line of JSON and serves until it has
run for ``--lifetime`` seconds or its standard input is closed. ``/stats`` says what it has answered. A POST of faults
to ``/trouble`` replaces the faults, and starts counting anew.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from dataclasses import fields
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from topshap_bench.prompts import openai_api
from topshap_bench.prompts.faults import FAULTS, Bill, RateLimit, Trouble
from topshap_bench.prompts.language_model import LanguageModel

if TYPE_CHECKING:
    from collections.abc import Sequence


class PromptServer(ThreadingHTTPServer):
    """A server on a free port of 127.0.0.1."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, trouble: Trouble | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.model = LanguageModel()
        self.start_anew(trouble or Trouble())

    def start_anew(self, trouble: Trouble) -> None:
        """Set the faults, and start counting anew."""
        self.trouble, self.bill = trouble, Bill()
        self.limit = RateLimit(trouble.per_second)

    @property
    def base_url(self) -> str:
        """The address of the API."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, *_: object) -> None:
        """Say nothing about clients that have gone."""

    def answer_to(self, path: str, body: bytes) -> dict[str, Any]:
        """Return the answer to a request."""
        request = json.loads(body)
        if path == "/v1/completions":
            return openai_api.completions(self.model, request)
        if path == "/v1/chat/completions":
            return openai_api.chat_completions(self.model, request)
        if path == "/v1/embeddings":
            return openai_api.embeddings(request)
        raise openai_api.BadRequestError(f"unknown path {path}")


class _Handler(BaseHTTPRequestHandler):
    server: PromptServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        if self.path == "/stats":
            self._send(200, self.server.bill.statement())
        elif self.path == "/v1/models":
            self._send(200, openai_api.models())
        else:
            self._send(404, _error(f"unknown path {self.path}"))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/trouble":
            options = json.loads(body)
            self.server.start_anew(Trouble(**options | {"kinds": tuple(options.get("kinds", FAULTS))}))
            self._send(200, {})
            return
        key = self.path.encode() + body
        bill, trouble = self.server.bill, self.server.trouble
        attempt = bill.attempt(key)
        try:
            if not self.server.limit.admits():
                self._refuse_for_now("rate limit")
                return
            time.sleep(trouble.latency)
            fault = trouble.fault(key, attempt)
            if fault is not None:
                bill.failed(fault)
            if fault == "429":
                self._refuse_for_now()
            elif fault == "500":
                self._send(500, _error("the server had an error"))
            elif fault in {"drop", "hang"}:
                time.sleep(trouble.hang if fault == "hang" else 0.0)
                self.close_connection = True
            else:
                self._answer(key, body, whole=fault is None)
        finally:
            bill.close()

    def _answer(self, key: bytes, body: bytes, *, whole: bool) -> None:
        try:
            answer = self.server.answer_to(self.path, body)
        except (openai_api.BadRequestError, json.JSONDecodeError) as error:
            self._send(400, _error(str(error)))
            return
        if whole:  # counted before it is sent: a client that has it may ask for the counts at once
            self.server.bill.answered(key, answer["usage"])
        self._send(200, answer, whole=whole)

    def _refuse_for_now(self, reason: str | None = None) -> None:
        if reason is not None:
            self.server.bill.failed(reason)
        self._send(429, _error("too many requests"), retry_after=self.server.trouble.retry_after)

    def _send(self, status: int, answer: Any, *, whole: bool = True, retry_after: str | None = None) -> None:
        content = json.dumps(answer).encode()
        content = content if whole else content[: len(content) // 2]
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if retry_after is not None:
            self.send_header("Retry-After", retry_after)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Do not log requests."""


def _error(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "error"}}


def parse(arguments: Sequence[str]) -> tuple[Trouble, float]:
    """Return the faults and the lifetime that the arguments of a command describe.

    Examples
    --------
    >>> trouble, lifetime = parse(["--rate", "0.2", "--kinds", "500", "drop", "--lifetime", "60"])
    >>> trouble.rate, trouble.kinds, lifetime
    (0.2, ('500', 'drop'), 60.0)
    """
    parser = argparse.ArgumentParser(prog="python -m topshap_bench.prompts.server", description=__doc__)
    parser.add_argument("--kinds", nargs="+", choices=FAULTS, default=FAULTS, help="how requests fail")
    numbers = {"rate": float, "most": int, "seed": int, "latency": float, "hang": float, "retry-after": str}
    for name, kind in {**numbers, "per-second": int}.items():
        parser.add_argument(f"--{name}", type=kind, default=argparse.SUPPRESS)
    parser.add_argument("--lifetime", type=float, default=600.0, help="the seconds after which the server ends")
    given = vars(parser.parse_args(arguments))
    names = {field.name for field in fields(Trouble)}
    trouble = {name: value for name, value in given.items() if name in names}
    return Trouble(**trouble | {"kinds": tuple(given["kinds"])}), given["lifetime"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until the lifetime or the standard input ends."""
    trouble, lifetime = parse(sys.argv[1:] if arguments is None else arguments)
    server = PromptServer(trouble)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    sys.stdout.write(json.dumps({"base_url": server.base_url}) + "\n")
    sys.stdout.flush()
    ended = threading.Event()
    threading.Thread(target=_wait_for_the_end_of_input, args=(ended,), daemon=True).start()
    ended.wait(lifetime)
    sys.stdout.flush()
    os._exit(0)  # without waiting for requests that hang


def _wait_for_the_end_of_input(ended: threading.Event) -> None:
    sys.stdin.buffer.read()
    ended.set()


if __name__ == "__main__":
    main()
