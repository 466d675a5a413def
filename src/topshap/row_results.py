"""The results of all rows of a table in one sequence, from parts with the same known dummies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from topshap.core.covariances import CovarianceParts, parts_of_covariances
from topshap.core.known_dummies import players_to_play, tops_with_dummies, with_dummies
from topshap.core.player_values import plain_value
from topshap.core.result import TopK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from topshap.core.results import TopKs
    from topshap.core.typing import Matrix, Players, Values


class Part(NamedTuple):
    """Rows with the same known dummies."""

    rows: Players
    """The positions of the rows."""
    players: Players
    """The players that play."""


def parts_of(dummies: NDArray[np.bool_], k: int) -> list[Part]:
    """Divide rows by their known dummies, in the order of the first row of each part.

    Examples
    --------
    >>> dummies = np.array([[False, True], [False, False], [False, True]])
    >>> [(part.rows.tolist(), part.players.tolist()) for part in parts_of(dummies, k=1)]
    [([0, 2], [0]), ([1], [0, 1])]
    """
    _, first, part_of = np.unique(np.packbits(dummies, axis=1), axis=0, return_index=True, return_inverse=True)
    part_of = part_of.reshape(-1)
    return [
        Part(np.flatnonzero(part_of == part_of[row]), players_to_play(dummies[row], k, guaranteed=False))
        for row in np.sort(first)
    ]


class Explained(NamedTuple):
    """The results of one part: one `TopK` per row, or per row and output."""

    part: Part
    results: TopKs


@dataclass(frozen=True, eq=False)
class RowResults(Sequence[TopK]):
    """The results of all rows in order, made when they are accessed; with several outputs, those of row 0 first."""

    explained: list[Explained]
    n_players: int
    k: int
    player_names: tuple[str, ...] | None
    player_values: NDArray[Any]
    """The value of each player in each row, shape (rows, players)."""
    names_of_outputs: Sequence[str]
    """The name of the output of each row, or of each output."""
    outputs_per_row: int = 1

    def __len__(self) -> int:
        return len(self._place) * self.outputs_per_row

    def __getitem__(self, index: Any) -> Any:
        row, output = divmod(range(len(self))[index], self.outputs_per_row)
        part, position = self._place[row].tolist()
        (_, players), results = self.explained[part]
        top = results[position * self.outputs_per_row + output]
        values = tuple(map(plain_value, self.player_values[row].tolist()))
        whole = with_dummies(top, players, self.n_players, self.k, names=self.player_names, values=values)
        name = self.names_of_outputs[output if self.outputs_per_row > 1 else row]
        return replace(whole, player_values=values, output_name=name)

    @cached_property
    def _place(self) -> NDArray[np.intp]:
        """The part and the position in the part of each row."""
        rows = sum(len(part.rows) for part, _ in self.explained)
        place = np.empty((rows, 2), dtype=np.intp)
        for number, (part, _) in enumerate(self.explained):
            place[part.rows, 0], place[part.rows, 1] = number, np.arange(len(part.rows))
        return place

    @cached_property
    def estimates(self) -> Matrix:
        """The estimates of all results."""
        return self._gathered("estimates")

    @cached_property
    def std_errors(self) -> Matrix:
        """Their standard errors."""
        return self._gathered("std_errors")

    @cached_property
    def players(self) -> Players:
        """The top k of all results."""
        found = np.empty((len(self._place), self.outputs_per_row, self.k), dtype=np.intp)
        for part, results in self.explained:
            own = tops_with_dummies(results, part.players, self.n_players, self.k)
            found[part.rows] = own.reshape(len(part.rows), self.outputs_per_row, self.k)
        return found.reshape(-1, self.k)

    @cached_property
    def empty(self) -> Values:
        """v(empty coalition) of all results."""
        return self._gathered("empty")

    @cached_property
    def grand(self) -> Values:
        """v(grand coalition) of all results."""
        return self._gathered("grand")

    @cached_property
    def evaluations(self) -> NDArray[np.intp]:
        """The evaluations of all results."""
        return self._gathered("evaluations")

    @cached_property
    def covariance_parts(self) -> CovarianceParts:
        """The covariances that several results share."""
        matrices: list[Matrix] = []
        which = np.full((len(self._place), self.outputs_per_row), -1)
        factors = np.ones(which.shape)
        for part, results in self.explained:
            found = parts_of_covariances(results.covariance, len(results))
            shape = (len(part.rows), self.outputs_per_row)
            own = np.where(found.which < 0, -1, found.which + len(matrices))
            which[part.rows], factors[part.rows] = own.reshape(shape), found.factors.reshape(shape)
            for matrix in found.matrices:
                whole = np.zeros((self.n_players, self.n_players))
                whole[np.ix_(part.players, part.players)] = matrix
                matrices.append(whole)
        return CovarianceParts(matrices, which.ravel(), factors.ravel())

    def _gathered(self, name: str) -> NDArray[Any]:
        """Return an attribute of all results as one array, with zeros for dummies."""
        per_player = name in ("estimates", "std_errors")
        blocks = [(part, np.asarray(column)) for part, column in self._columns(name)]
        width = (self.n_players,) if per_player else blocks[0][1].shape[1:]
        whole = np.zeros((len(self._place), self.outputs_per_row, *width), dtype=blocks[0][1].dtype)
        for part, block in blocks:
            own = block.reshape(len(part.rows), self.outputs_per_row, *block.shape[1:])
            if per_player:
                whole[np.ix_(part.rows, np.arange(self.outputs_per_row), part.players)] = own
            else:
                whole[part.rows] = own
        return whole.reshape(len(self), *width)

    def _columns(self, name: str) -> Iterator[tuple[Part, Any]]:
        for part, results in self.explained:
            column = getattr(results, name)
            yield part, np.full(len(results), column) if np.ndim(column) == 0 else column
