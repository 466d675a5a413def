"""The race of a prompt: it ranks by a summary of the values, and keeps the details."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.race import Race

if TYPE_CHECKING:
    from topshap.core.typing import Coalitions, Values
    from topshap.games import PromptGame


class PromptRace(Race):
    """A race that is told the details of coalitions, such as the log probability of each word.

    Parameters
    ----------
    game
        The game, whose `summary` turns details into values.
    k, **options
        As in `topshap.Race`.

    Attributes
    ----------
    coalitions, details : list of ndarray
        The coalitions of the race so far, and their details.
    """

    def __init__(self, game: PromptGame, k: Any, **options: Any) -> None:
        if options.get("player_names") is None:
            options["player_names"] = game.player_names
        names: dict[str, Any] = {
            "output_names": game.output_names,
            "n_outputs": len(game.spans) + 1 if game.spans else None,
        }
        super().__init__(game.n_players, k, deterministic=game.deterministic, **names, **options)
        self.output_name = game.output_name
        self._game = game
        self.coalitions: list[Coalitions] = []
        self.details: list[Values] = []

    def _check(self, values: Any, coalitions: Coalitions) -> Values:
        details = np.asarray(values, dtype=np.float64)
        checked = super()._check(self._game.summary(details), coalitions)
        self.coalitions.append(np.array(coalitions))
        self.details.append(details)
        return checked
