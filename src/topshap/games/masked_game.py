"""The common part of games whose values are predictions for masked rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.errors import GameError, ParameterError
from topshap.core.validation import check_int, refuse
from topshap.games.base import GroupedGame
from topshap.games.conditional_rows import ConditionalImputer, ConditionalRows
from topshap.games.links import apply_link, check_link
from topshap.games.masked_rows import MaskedRows
from topshap.games.outputs import Prediction

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from topshap.games.base import PlayerGroups
    from topshap.games.imputers import Imputer
    from topshap.games.links import LinkName
    from topshap.games.tables import Table


class MaskedGame(GroupedGame):
    """A game in which v(S) is the prediction of a model for rows of which only the features in S are known."""

    _functions = ("predict",)

    def __init__(
        self,
        prediction: Prediction,
        own: Table,
        imputer: Imputer | ConditionalImputer,
        players: PlayerGroups,
        *,
        link: LinkName,
        batch_bytes: int,
        fingerprint: str | None,
    ) -> None:
        super().__init__(players, fingerprint)
        self._prediction, self._imputer, self._link = prediction, imputer, check_link(link)
        self._own, self._batch_bytes = own, check_int("batch_bytes", batch_bytes, low=1)
        self._rows = self._masked_rows()
        try:
            apply_link(self._link, self._rows.first_answers)
        except GameError as error:
            raise ParameterError.about("link", f"must be 'identity' for this model: {error}") from error

    def _masked_rows(self) -> MaskedRows | ConditionalRows:
        """Return the masked rows of coalitions of the game's players."""
        if isinstance(self._imputer, ConditionalImputer):
            return ConditionalRows(self._prediction, self._own, self._imputer, self._batch_bytes)
        return MaskedRows(self._prediction, self._own, self._imputer, self.player_of, self._batch_bytes)

    def zoomed(self, players: Sequence[int]) -> Self:
        """Return the game whose players are the columns of some players; see `GroupedGame.zoomed`."""
        game = super().zoomed(players)
        game._rows = game._masked_rows()  # noqa: SLF001 - of the same class
        return game

    @property
    def _table(self) -> Table:
        """The rows to explain above the rows that replace absent features."""
        return self._rows.table

    def _dummies(self) -> NDArray[np.bool_]:
        """Return the players that are known to contribute nothing to each row, shape (rows, players)."""
        if isinstance(self._rows, ConditionalRows) or (self._imputer.conditional and self._imputer.rows.n_rows > 1):
            return np.zeros((self._rows.n_own, self.n_players), dtype=np.bool_)
        return self._rows.dummies[:, : self.n_players]  # without the columns that are always present

    def _common_parts(self) -> dict[str, Any]:
        parts = {
            "predict": self._prediction.predict,
            "output": self._prediction.output,
            "rows": self._table.data,
        } | self._imputer.parts
        # The default is left out, so that stores written before there were links are still recognised.
        return parts if self._link == "identity" else parts | {"link": self._link}


def as_prediction(predict: Callable[[Any], Any], output: Any) -> Prediction:
    """Return a function and its output as a `Prediction`, which may be given in place of the function."""
    if not isinstance(predict, Prediction):
        return Prediction(predict, output)
    if output is not None:
        refuse("output", output, must_be="None if 'predict' is a Prediction, which has its own output")
    return predict
