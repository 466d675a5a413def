"""The values evaluated so far, and the comparisons that each pair of players has drawn from them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from topshap.algorithms.swap.adjustment import adjusted_for_background
from topshap.algorithms.swap.differences import Population
from topshap.algorithms.swap.exact_rounds import balanced_rounds
from topshap.algorithms.swap.moments import Moments
from topshap.algorithms.swap.orders import shared_orders, stratum_weights, to_rows
from topshap.statistics.confidence_sequences import empirical_bernstein_bound

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from topshap.core.algorithm import Problem
    from topshap.core.typing import Coalitions, Matrix, Values

FIRST_ANCHORS = 2
"""Anchors of each stratum on which all players are compared at the start."""
TINY = 2.0**-200
"""Values below this are rescaled: their fourth powers would be lost."""
REGRESSION_UP_TO = 64
"""Games with more players have too many regressors for the adjustment."""

Key: TypeAlias = "int | tuple[int, int, int]"
"""The name of a value: the mask of its coalition. Where values vary, each anchor has values of its own, and the key is
the mask with the stratum and the position of the anchor."""


class Comparisons(NamedTuple):
    """Comparisons of players i and j in one stratum, on the anchors at some positions of its order."""

    i: int
    j: int
    stratum: int
    positions: list[int]
    keys: list[Key]
    """For each anchor, the key of the value with i flipped, then of that with j flipped."""


class PairSample:
    """The comparisons of one pair, in the order in which they were drawn."""

    def __init__(self, n_strata: int) -> None:
        self.next_positions = [0] * n_strata
        """The position in each shared order from which the next comparison is searched."""
        self.counts = [0] * n_strata
        self.strata: list[int] = []
        self.anchors: list[int] = []
        self.values: list[float] = []

    def add(self, stratum: int, position: int, anchor: int, value: float) -> None:
        """Add the next comparison in the order of a stratum."""
        self.next_positions[stratum] = position + 1
        self.counts[stratum] += 1
        self.strata.append(stratum)
        self.anchors.append(anchor)
        self.values.append(value)

    def arrays(self) -> tuple[Values, NDArray[np.intp]]:
        """Return the comparisons and the stratum of each."""
        return np.array(self.values), np.array(self.strata, dtype=np.intp)


class Samples:
    """The values evaluated so far, and the comparisons that each pair has drawn from them.

    A value serves all pairs whose comparisons need it. It counts for a pair only once the pair draws the comparison:
    the sample of a pair is always the beginning of its random order, whatever was evaluated for other pairs.

    The values are kept here although the race keeps them too: with ``counting="calls"`` asking for a known value costs
    an evaluation, and where values vary it would return another value.
    """

    def __init__(self, problem: Problem) -> None:
        n = problem.n
        self._problem = problem
        self._noisy = not problem.deterministic
        self._values: dict[Key, float] = {}
        """v(S) - v(empty) by key."""
        self.unit = 1.0
        """The unit of moments: 1, or while all values are tiny, a power of two close to the largest."""
        self._largest = 0.0
        """The largest of them in absolute value, as long as all are tiny."""
        self._pairs: dict[tuple[int, int], PairSample] = {}
        self.orders = shared_orders(n, problem.rng, repeat=self._noisy)
        self.population = Population(
            weights=stratum_weights([order.sizes for order in self.orders], n),
            sizes=np.array([order.population for order in self.orders]),
            least_jump=abs(problem.gain) / n or n * (problem.epsilon or 0.0),
        )
        """The strata; `least_jump` is in the unit of the values."""
        self._first_flips = self._draw_first_flips()
        self._first: NDArray[np.float64] = np.full((len(self.orders), FIRST_ANCHORS, n), np.nan)

    # The first round: all players on the first anchors.

    def first_keys(self) -> list[Key]:
        """Return the keys of the first anchors of each stratum with each of the swappable players flipped."""
        return list(dict.fromkeys(self._key(*flip) for flip in self._first_flips))

    def add_first(self, values: Values) -> None:
        """Add the values of a prefix of `first_keys`."""
        self._add_values(self.first_keys(), values)
        for flip in self._first_flips:
            self._first[flip] = self.orders[flip[0]].sign * self._values.get(self._key(*flip), np.nan)

    def first_estimates(self) -> Values:
        """Return estimates for a first ranking: the mean lead of each player over all others on the same anchor."""
        known = ~np.isnan(self._first)
        filled = np.where(known, self._first, 0.0)
        others = np.maximum(known.sum(axis=2, keepdims=True), 1)
        lead = np.where(known, filled - filled.sum(axis=2, keepdims=True) / others, 0.0)
        by_stratum = lead.sum(axis=1) / np.maximum(known.sum(axis=1), 1)
        weights = self.population.weights
        sampled_weight = np.maximum(weights @ known.any(axis=1), weights.min())
        estimates: Values = self._problem.gain / self._problem.n + weights @ by_stratum / sampled_weight
        return estimates

    def _draw_first_flips(self) -> list[tuple[int, int, int]]:
        """Return stratum, position and player of all flips of the first round, in the order of their evaluation.

        The smallest and the largest background sets come first, then one anchor of every stratum, then the others.
        """
        last = len(self.orders) - 1
        anchors = [(0, 0), (last, 0)] if last else [(0, 0)]
        for position in range(FIRST_ANCHORS):
            inner = self._problem.rng.permutation(np.arange(1, last)).tolist()
            ends = [0, last] if position else []
            anchors += [(g, position) for g in [*inner, *ends] if self.orders[g].draw_first(position + 1) > position]
        flips = []
        for g, position in anchors:
            swappable = self.orders[g].swappable(position)
            flips += [(g, position, player) for player in self._problem.tie_order.tolist() if swappable[player]]
        return flips

    # Further rounds: the next comparisons of some pairs.

    def counts(self, i: int, j: int) -> Values:
        """Return the number of comparisons of a pair in each stratum."""
        return np.array(self._sample(i, j).counts, dtype=np.float64)

    def next_comparisons(self, i: int, j: int, stratum: int, count: int) -> Comparisons:
        """Return the next comparisons of a pair in a stratum, fewer than `count` at the end of its order."""
        order = self.orders[stratum]
        positions = order.next_for(i, j, self._sample(i, j).next_positions[stratum], count)
        keys: list[Key]
        if self._noisy:
            keys = [self._key(stratum, position, player) for position in positions for player in (i, j)]
        else:  # the same without a call each
            bits = (1 << i, 1 << j)
            keys = [order.anchors[position] ^ bit for position in positions for bit in bits]
        return Comparisons(i, j, stratum, positions, keys)

    def unknown(self, keys: Iterable[Key]) -> list[Key]:
        """Return the keys without a value, which take an evaluation each."""
        return [key for key in keys if key not in self._values]

    def coalitions(self, keys: Iterable[Key]) -> Coalitions:
        """Return the coalitions whose values have these keys."""
        return to_rows([key if isinstance(key, int) else key[0] for key in keys], self._problem.n)

    def add(self, comparisons: Iterable[Comparisons], keys: list[Key], values: Values) -> None:
        """Add the values of a prefix of `keys`, and the comparisons whose values are known by then."""
        self._add_values(keys, values)
        known = self._values
        for i, j, stratum, positions, pair_keys in comparisons:
            order, sample = self.orders[stratum], self._sample(i, j)
            for position, key_i, key_j in zip(positions, pair_keys[::2], pair_keys[1::2], strict=True):
                if key_i not in known or key_j not in known:
                    break
                sample.add(stratum, position, order.anchors[position], order.sign * (known[key_i] - known[key_j]))

    # The comparisons of pairs, for the standing.

    def moments(self, pairs: NDArray[np.intp]) -> Moments:
        """Return the moments of the comparisons of pairs (i, j), one per row, in units of `unit`."""
        if len(pairs) == 1 and tuple(pairs[0].tolist()) in self._pairs:
            return self._adjusted_moments(*pairs[0].tolist())
        first = self._first[:, :, pairs[:, 0]] - self._first[:, :, pairs[:, 1]]
        return Moments.of_array(np.moveaxis(first, 2, 0) / self.unit)

    def exact_bounds(self, pairs: NDArray[np.intp], level: float) -> Matrix:
        """Return non-asymptotic lower bounds of phi_i - phi_j and of phi_j - phi_i, one pair per row."""
        bounds = np.full((len(pairs), 2), -np.inf)
        if self._problem.value_range is None:
            return bounds
        low, high = self._problem.value_range
        for row, (i, j) in enumerate(pairs.tolist()):
            comparisons, strata = self._sample(i, j).arrays()
            for side, sign in enumerate((1.0, -1.0)):
                rounds = balanced_rounds(sign * comparisons, strata, self.population, high - low)
                bounds[row, side] = empirical_bernstein_bound(*rounds, level)
        return bounds

    def _adjusted_moments(self, i: int, j: int) -> Moments:
        sample, n = self._pairs[i, j], self._problem.n
        comparisons, strata = sample.arrays()
        comparisons /= self.unit
        moments = Moments.of_pair(comparisons, strata, len(self.orders))
        if n > REGRESSION_UP_TO or n <= 3:
            return moments
        others = np.ones(n, dtype=np.bool_)
        others[[i, j]] = False
        members = to_rows(sample.anchors, n)[:, others]
        adjusted = adjusted_for_background(comparisons, strata, members, [order.sizes for order in self.orders])
        if adjusted is not None:
            moments.means[0], moments.squares[0], moments.parameters[0] = adjusted
        return moments

    def _sample(self, i: int, j: int) -> PairSample:
        """Return the sample of a pair; a new one begins with the comparisons of the first round."""
        sample = self._pairs.get((i, j))
        if sample is None:
            sample = self._pairs[i, j] = PairSample(len(self.orders))
            for g, comparisons in enumerate((self._first[:, :, i] - self._first[:, :, j]).tolist()):
                for position, value in enumerate(comparisons):
                    if not math.isnan(value):
                        sample.add(g, position, self.orders[g].anchors[position], value)
        return sample

    def _key(self, stratum: int, position: int, player: int) -> Key:
        """Return the key of the value of an anchor with one player flipped."""
        mask = self.orders[stratum].anchors[position] ^ (1 << player)
        return (mask, stratum, position) if self._noisy else mask

    def _add_values(self, keys: list[Key], values: Values) -> None:
        gains = values - self._problem.empty
        self._values.update(zip(keys, gains.tolist(), strict=False))
        largest = float(np.abs(gains).max(initial=self._largest)) if self._largest < TINY else self._largest
        if largest > self._largest:
            self._largest = largest
            self.unit = 1.0 if largest >= TINY else math.ldexp(1.0, math.frexp(largest)[1])
