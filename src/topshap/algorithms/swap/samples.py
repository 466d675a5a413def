"""The units of a race that compares players by swapping them: what was evaluated, and what each pair has of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from topshap.algorithms.legacy import evaluate
from topshap.algorithms.swap.adjustment import adjusted_for_company
from topshap.algorithms.swap.differences import Population, UnitMoments
from topshap.algorithms.swap.exact_rounds import balanced_rounds
from topshap.algorithms.swap.orders import blocks_of_sizes, strata, weights
from topshap.core import coalitions as co
from topshap.statistics.confidence_sequences import empirical_bernstein_bound

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from numpy.typing import NDArray

    from topshap.core.algorithm import Problem
    from topshap.core.typing import Coalitions, Matrix, Players, Values

FIRST_BASES = 2
"""Bases of each stratum in which everybody is compared before anything else."""
REGRESSION_UP_TO = 64
"""In games of more players the members of a company are too many to regress on."""


class Plan(NamedTuple):
    """Units to take: of a pair, in a stratum, at these positions of its order."""

    i: int
    j: int
    stratum: int
    positions: Players

    def flips(self) -> tuple[Players, Players]:
        """Return at which positions whom to flip: i and j, in one base after the other."""
        return np.repeat(self.positions, 2), np.tile([self.i, self.j], len(self.positions))


@dataclass
class PairSample:
    """The units of one pair, in the order in which they were taken."""

    next_positions: NDArray[np.intp]
    """Where the search for the next unit begins, in each stratum."""
    strata: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    units: list[float] = field(default_factory=list)

    def add(self, stratum: int, positions: Iterable[int], units: Iterable[float]) -> None:
        """Add units of one stratum, the next ones in its order."""
        for position, unit in zip(positions, units, strict=True):
            self.strata.append(stratum)
            self.positions.append(position)
            self.units.append(unit)
            self.next_positions[stratum] = position + 1


class SwapUnits:
    """Everything that was evaluated, in the shape in which pairs of players use it.

    A value is paid for once, whichever pairs it serves. A unit counts for a pair only when it is taken for it, so that
    what a pair has is always the beginning of its own random order.
    """

    def __init__(self, problem: Problem) -> None:
        n = problem.n
        self._task = problem
        self._varies = not problem.deterministic
        self._values: dict[bytes, float] = {}
        self._samples: dict[tuple[int, int], PairSample] = {}
        self.strata = strata(n, problem.rng, repeat=self._varies)
        blocks = blocks_of_sizes(n)
        self.population = Population(
            weights=weights(blocks, n),
            sizes=np.array([stratum.population for stratum in self.strata]),
            least_jump=abs(problem.gain) / n or n * (problem.epsilon or 0.0),
        )
        self._first: NDArray[np.float64] = np.full((len(self.strata), FIRST_BASES, n), np.nan)

    def compare_everybody(self) -> Generator[Coalitions, Values, bool]:
        """Flip everybody who can be in the first bases of each stratum; return whether the budget lasted."""
        last = len(self.strata) - 1
        order = [(0, 0), (last, 0)] if last else [(0, 0)]
        for base in range(FIRST_BASES):
            inner = self._task.rng.permutation(np.arange(1, last)).tolist()
            ends = [0, last] if base else []
            order += [(g, base) for g in [*inner, *ends] if self.strata[g].first(base + 1) > base]
        flips = [(g, base, player) for g, base in order for player in self._swappable(g, base)]
        rows = [self._flipped(g, np.array([base]), player) for g, base, player in flips]
        keys = [self._keys(g, np.array([base]), player)[0] for g, base, player in flips]
        lasted = yield from self._ask(np.concatenate(rows), keys)
        for (g, base, player), key in zip(flips, keys, strict=True):
            self._first[g, base, player] = self.strata[g].sign * self._values.get(key, np.nan)
        return lasted

    def guess(self) -> Values:
        """Return how far each player is above the others it was compared with, for a first ranking."""
        there = ~np.isnan(self._first)
        filled = np.where(there, self._first, 0.0)
        others = np.maximum(there.sum(axis=2, keepdims=True), 1)
        ahead = np.where(there, filled - filled.sum(axis=2, keepdims=True) / others, 0.0)
        by_stratum = ahead.sum(axis=1) / np.maximum(there.sum(axis=1), 1)
        heard = np.maximum(self.population.weights @ there.any(axis=1), self.population.weights.min())
        n = self._task.n
        guessed: Values = self._task.gain / n + self.population.weights @ by_stratum / heard
        return guessed

    @property
    def nothing_known(self) -> bool:
        """Whether the budget did not even suffice for one player."""
        return not self._values

    def counts(self, pair: tuple[int, int]) -> Values:
        """Return how many units a pair has in each stratum."""
        sample = self._sample(*pair)
        return np.bincount(np.array(sample.strata, dtype=np.intp), minlength=len(self.strata)).astype(np.float64)

    def next_of(self, pair: tuple[int, int], stratum: int, count: int) -> Plan:
        """Return the next units of a pair in a stratum."""
        start = int(self._sample(*pair).next_positions[stratum])
        return Plan(*pair, stratum, self.strata[stratum].of_pair(*pair, start, count))

    def unpaid(self, plan: Plan) -> list[bytes]:
        """Return under which names the values will be kept that it takes evaluations for."""
        return [key for key in self._keys(plan.stratum, *plan.flips()) if key not in self._values]

    def take(self, plans: list[Plan]) -> Generator[Coalitions, Values, bool]:
        """Evaluate and take the units of all plans, or as many as the budget allows; return whether it lasted."""
        rows = [self._flipped(plan.stratum, *plan.flips()) for plan in plans]
        keys = [key for plan in plans for key in self._keys(plan.stratum, *plan.flips())]
        lasted = yield from self._ask(np.concatenate(rows), keys)
        values = iter([self._values.get(key) for key in keys])
        for plan in plans:
            both = [(next(values), next(values)) for _ in plan.positions]
            units = []
            for of_i, of_j in both:
                if of_i is None or of_j is None:
                    break
                units.append(self.strata[plan.stratum].sign * (of_i - of_j))
            self._sample(plan.i, plan.j).add(plan.stratum, plan.positions[: len(units)].tolist(), units)
        return lasted

    def moments(self, pairs: NDArray[np.intp]) -> UnitMoments:
        """Return what the units of pairs (i, j), a row each, come to."""
        if len(pairs) == 1 and tuple(pairs[0].tolist()) in self._samples:
            return self._moments_of_sample(*pairs[0].tolist())
        return UnitMoments.of_units(np.moveaxis(self._first[:, :, pairs[:, 0]] - self._first[:, :, pairs[:, 1]], 2, 0))

    def exact_bounds(self, pairs: NDArray[np.intp], level: float) -> Matrix:
        """Return lower bounds of phi_i - phi_j and of phi_j - phi_i, a row a pair, that need no asymptotics."""
        bounds = np.full((len(pairs), 2), -np.inf)
        if self._task.value_range is None:
            return bounds
        low, high = self._task.value_range
        for row, (i, j) in enumerate(pairs.tolist()):
            sample = self._sample(i, j)
            units, stratum = np.array(sample.units), np.array(sample.strata, dtype=np.intp)
            for side, sign in enumerate((1.0, -1.0)):
                rounds = balanced_rounds(sign * units, stratum, self.population, high - low)
                bounds[row, side] = empirical_bernstein_bound(*rounds, level)
        return bounds

    def _moments_of_sample(self, i: int, j: int) -> UnitMoments:
        sample = self._samples[i, j]
        units, stratum = np.array(sample.units), np.array(sample.strata, dtype=np.intp)
        moments = UnitMoments.of_sample(units, stratum, len(self.strata))
        if self._task.n > REGRESSION_UP_TO or self._task.n <= 3:
            return moments
        positions = np.array(sample.positions, dtype=np.intp)
        members = np.empty((len(units), self._task.n), dtype=np.bool_)
        for g, order in enumerate(self.strata):
            members[stratum == g] = order.bases[positions[stratum == g]]
        others = np.delete(members, [i, j], axis=1)
        adjusted = adjusted_for_company(units, stratum, others, [order.sizes for order in self.strata])
        if adjusted is not None:
            moments.means[0], moments.squares[0], moments.parameters[0] = adjusted
        return moments

    def _sample(self, i: int, j: int) -> PairSample:
        """Return the sample of a pair; it begins with what it has of the first bases."""
        if (i, j) not in self._samples:
            first = self._first[:, :, i] - self._first[:, :, j]
            sample = PairSample(np.zeros(len(self.strata), dtype=np.intp))
            for g, units in enumerate(first):
                there = np.flatnonzero(~np.isnan(units))
                sample.add(g, there.tolist(), units[there].tolist())
            self._samples[i, j] = sample
        return self._samples[i, j]

    def _swappable(self, stratum: int, base: int) -> list[int]:
        can = self.strata[stratum].swappable(base, base + 1)[0]
        return [player for player in self._task.tie_order.tolist() if can[player]]

    def _flipped(self, stratum: int, positions: Players, players: Players | int) -> Coalitions:
        rows = self.strata[stratum].bases[positions]
        rows[np.arange(len(rows)), players] ^= True
        return rows

    def _keys(self, stratum: int, positions: Players, players: Players | int) -> list[bytes]:
        """Return under which names the values are kept; where values vary, every base has its own."""
        keys = co.keys(self._flipped(stratum, positions, players))
        if self._varies:
            return [b"%b %d %d" % (key, stratum, at) for key, at in zip(keys, positions.tolist(), strict=True)]
        return keys

    def _ask(self, rows: Coalitions, keys: list[bytes]) -> Generator[Coalitions, Values, bool]:
        """Ask for what is not known yet, once each; return whether the budget lasted."""
        fresh = {key: row for row, key in reversed(list(enumerate(keys))) if key not in self._values}
        order = sorted(fresh, key=fresh.__getitem__)
        asked = rows[[fresh[key] for key in order]]
        if len(asked) == 0:
            return True
        values = yield from evaluate([asked])
        self._values.update(zip(order, (values - self._task.empty).tolist(), strict=False))
        return len(values) == len(asked)
