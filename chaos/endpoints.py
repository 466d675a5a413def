"""Attacks with a local web server that fails at random, and with cancellations."""

from __future__ import annotations

import asyncio
import json
import threading
import time
import urllib.request
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import numpy as np

import topshap
from chaos.games import N_PLAYERS, NAME, Log, PaidLater, Setup, check_store, summary, worth

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from topshap.core.typing import Coalition

FAILURES = 2
"""The largest number of failures of a coalition in a row."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, seed: int, rate: float) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.rng, self.rate = np.random.default_rng(seed), rate
        self.failed: Counter[bytes] = Counter()
        self.lock = threading.Lock()

    def failure(self, body: bytes) -> str | None:
        """Return how a request fails, None if it does not."""
        with self.lock:
            if self.failed[body] >= FAILURES or self.rng.random() > self.rate:
                return None
            self.failed[body] += 1
            return str(self.rng.choice(["status", "drop", "slow", "garbage", "short", "null"]))

    def handle_error(self, *_: object) -> None:
        """Say nothing about clients that have gone."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        failure = self.server.failure(body)
        answer = json.dumps({"value": worth(np.array(json.loads(body), dtype=bool))}).encode()
        if failure == "drop":
            self.close_connection = True
            return
        if failure == "slow":
            time.sleep(0.5)
        self.send_response(500 if failure == "status" else 200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        if failure == "short":
            answer = answer[:-4]
        elif failure == "garbage":
            answer = b"<html>" + bytes(len(answer) - 6)
        elif failure == "null":
            answer = b"[]".ljust(len(answer))
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Do not log requests."""


@contextmanager
def _served(rng: np.random.Generator) -> Iterator[str]:
    """Yield the address of a server that fails at random."""
    with _Server(int(rng.integers(2**31)), float(rng.uniform(0.0, 0.5))) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def _ask(address: str, coalition: Coalition) -> float:
    request = urllib.request.Request(address, data=json.dumps(coalition.tolist()).encode())  # noqa: S310
    with urllib.request.urlopen(request, timeout=0.3) as response:  # noqa: S310 - the address is this process's own
        answer = json.loads(response.read())
    if not isinstance(answer, dict):
        raise ValueError(f"an answer that is not a value: {answer}")
    return float(answer["value"])


def failing_endpoint(rng: np.random.Generator, folder: Path) -> None:
    """Evaluate a game by requests that fail at random; retries give the right result."""
    setup = Setup.draw(rng)
    with _served(rng) as address:

        async def ask_later(coalition: Coalition) -> float:
            return await asyncio.to_thread(_ask, address, coalition)

        def ask(coalition: Coalition) -> float:
            return _ask(address, coalition)

        function: Any = ask_later if setup.asynchronous else ask
        game = topshap.games.per_coalition(function, N_PLAYERS)
        oracle = topshap.Oracle(
            game,
            retries=FAILURES + 8,  # a busy machine may be slow as well
            backoff=0.001,
            timeout=2.0 if rng.random() < 0.5 else None,
            store=topshap.Store(folder / "run.db", game=NAME),
        )
        if setup.asynchronous:
            top = asyncio.run(topshap.aidentify(oracle, concurrency=int(rng.integers(1, 9)), **setup.options))
        else:
            top = topshap.identify(oracle, **setup.options)
    assert summary(top) == setup.expected(), f"another result of {setup}"
    assert len(check_store(folder / "run.db")) == top.evaluations


def cancellations(rng: np.random.Generator, folder: Path) -> None:
    """Cancel a run at random moments; every value that the game has returned is in the store."""
    setup, log = Setup.draw(rng), Log(folder / "log")
    concurrency = int(rng.integers(1, 9))
    game = topshap.games.per_coalition(PaidLater(log, setup.seconds), N_PLAYERS)
    store = topshap.Store(folder / "run.db", game=NAME)
    cancelled = 0
    for _ in range(int(rng.integers(1, 5))):
        try:
            asyncio.run(_within(rng.exponential(0.1), game, store, concurrency, setup))
        except TimeoutError:
            cancelled += 1
        paid = set(log.read("end"))
        stored = check_store(folder / "run.db") if paid else set()
        assert paid <= stored, f"{len(paid - stored)} values lost by a cancellation of {setup}"
    top = asyncio.run(topshap.aidentify(game, store=store, concurrency=concurrency, **setup.options))
    assert summary(top) == setup.expected(), f"another result of {setup} after cancellations"
    started = log.read("start")
    repeated = started.total() - len(started)
    assert repeated <= cancelled * concurrency, f"{repeated} evaluations repeated after {cancelled} cancellations"


async def _within(seconds: float, game: Any, store: topshap.Store, concurrency: int, setup: Setup) -> None:
    async with asyncio.timeout(seconds):
        await topshap.aidentify(game, store=store, concurrency=concurrency, **setup.options)
