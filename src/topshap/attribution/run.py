"""One run on a prompt: ask for the answer, evaluate coalitions within the limits, and return the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.attribution.estimate import estimate_cost
from topshap.attribution.memory import Memory
from topshap.attribution.race import PromptRace
from topshap.attribution.result import attribution_of
from topshap.attribution.settings import default_budget
from topshap.clients.adapters import as_async, as_client
from topshap.clients.prices import prices_of
from topshap.core.errors import RaceError
from topshap.core.fingerprints import fingerprint_of
from topshap.core.looks import RunEndedError
from topshap.core.validation import refuse
from topshap.driving import adrive
from topshap.evaluation import Oracle
from topshap.evaluation.paced_client import PacedClient
from topshap.evaluation.rate_limits import RateLimits
from topshap.evaluation.spending import Spending
from topshap.evaluation.store.identity import identity_of
from topshap.games.prompt import PromptGame

if TYPE_CHECKING:
    from topshap.attribution.estimate import CostEstimate
    from topshap.attribution.result import Attribution
    from topshap.attribution.settings import RunSettings
    from topshap.core.usage import Usage

UNKNOWN = "unknown"
"""Stands for the answer while the game is checked before the model is asked."""


class PromptRun:
    """One run on a prompt. Everything is checked before the first request.

    Parameters
    ----------
    client, messages
        As in `topshap.attribute`.
    answer
        The answer, None to ask for it.
    k, race_options
        The number of players to find, and the options of the race.
    game_options
        The options of the game.
    settings
        The settings of the run.
    """

    def __init__(
        self,
        client: Any,
        messages: Any,
        *,
        answer: str | None,
        k: Any,
        game_options: dict[str, Any],
        race_options: dict[str, Any],
        settings: RunSettings,
    ) -> None:
        client = as_client(client, game_options.pop("model", None))
        self._messages, self._answer, self._k = messages, answer, k
        self._asked = False
        self._game_options, self._settings = game_options, settings
        self.game = self._game_for(client, UNKNOWN if answer is None else answer, spans=answer is not None)
        if {"budget", "epsilon", "stop"}.isdisjoint(n for n, value in race_options.items() if value is not None):
            race_options["budget"] = default_budget(self.game.n_players)
        self._race_options = race_options
        self.race = PromptRace(self.game, k, **race_options)
        self._oracle = Oracle(self.game.detailed(), store=settings.store, retries=0)
        self._store = self._oracle.options.store
        self._memory = Memory(self._store, self._request_fingerprint())
        priced = settings.max_cost is not None or settings.prices is not None
        self._prices = prices_of(getattr(client, "model", None), settings.prices, needed=priced)
        self._spending = Spending(self._prices, max_cost=settings.max_cost, before=self._memory.usage())
        self._client = client

    def estimate(self) -> CostEstimate:
        """Return what the run may cost."""
        budget = self.race.budget
        if budget is None:
            refuse("budget", None, must_be="given for an estimate of the cost")
        asks = self._answer is None
        return estimate_cost(self.game, budget=budget, asks=asks, prices=self._prices, max_cost=self._settings.max_cost)

    async def play(self) -> Attribution:
        """Run the race and return its result."""
        settings = self._settings
        connection = as_async(self._client, settings.concurrency)
        try:
            client = self._paced(connection)
            if self._answer is None:
                await self._ask(client)
            self.game = self.game.with_client(client)
            self.race = PromptRace(self.game, self._k, **self._race_options)
            self._oracle = Oracle(self.game.detailed(), store=settings.store, retries=0)
            self._keep()
            await adrive(
                self.race,
                self._oracle,
                concurrency=settings.concurrency,
                progress=settings.progress,
                callback=settings.callback,
                admit=self._admit,
                ends_if_cancelled=True,
            )
        finally:
            if hasattr(connection, "aclose"):
                await connection.aclose()
        return self.result()

    def result(self) -> Attribution:
        """Return the result so far."""
        try:
            found = self.race.result()
        except RaceError as error:
            if self.race.evaluations == 0 and self._settings.max_cost is not None:
                spent = f"{self._spending.total} spent"
                raise RaceError(
                    f"max_cost={self._settings.max_cost:g} ended the run before the prompts with all and with no "
                    f"players were evaluated ({spent}): raise max_cost."
                ) from error
            raise
        return attribution_of(found, self.game, self.race.coalitions, self.race.details)

    async def _ask(self, client: PacedClient) -> None:
        """Set the answer: that of an earlier run, or else the model's answer to the whole prompt."""
        self._answer = self._memory.answer()
        if self._answer is None:
            request = self.game.request_of(np.ones(self.game.n_players, dtype=np.bool_))
            tools = {} if request.tools is None else {"tools": request.tools}
            completion = await client.complete(request.messages, **self.game.params, **tools)
            self._answer, self._asked = completion.text, True
        self.game = self._game_for(self._client, self._answer)

    def _game_for(self, client: Any, answer: str, *, spans: bool = True) -> PromptGame:
        options = self._game_options if spans else self._game_options | {"spans": None}
        return PromptGame(client, self._messages, answer=answer, **options)

    def _paced(self, connection: Any) -> PacedClient:
        settings = self._settings
        limits = RateLimits(
            settings.concurrency,
            requests_per_minute=settings.requests_per_minute,
            tokens_per_minute=settings.tokens_per_minute,
        )
        if self._store is None:
            advice = " Nothing was kept; with store='run.db', the same call would continue after the values so far."
        else:
            path = str(self._store.path)
            advice = f" All values so far are in the store {path!r}: the same call continues where this one ended."
        return PacedClient(
            connection,
            limits,
            self._spending,
            retries=settings.retries,
            timeout=settings.timeout,
            advice=advice,
        )

    def _keep(self) -> None:
        """Open the store for the game; keep the answer, what was spent on it, and from now on every usage."""
        if self._store is not None:
            game, name = self._oracle.game, self._store.game
            identity = identity_of(
                game,
                self.race.n_players,
                name=name,
                player_names=self.race.player_names,
                deterministic=self._oracle.deterministic,
            )
            self._store.open(identity)
            if self._asked:
                self._memory.keep_answer(self.game.answer)
                self._memory.add_usage(self._spending.this_run)
        self.race.usage = self._spending.total
        self._spending.on_usage = self._note

    def _note(self, usage: Usage) -> None:
        self.race.usage = self._spending.total
        self._memory.add_usage(usage)

    def _admit(self, in_flight: int) -> Exception | None:
        """Return the end of the run if a further evaluation might exceed the limit of the cost."""
        allowed = self._spending.allows(in_flight, getattr(self.game.score, "calls", 1) * self.game.batch_size)
        return None if allowed else RunEndedError("cost")

    def _request_fingerprint(self) -> str | None:
        parts = self.game.fingerprint_parts()
        asked = {name: parts[name] for name in ("client", "prompt", "params")}
        return fingerprint_of("answer", **asked)
