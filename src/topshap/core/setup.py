"""The setup of a race: its options, checked together and resolved into limits, an algorithm and a random generator."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.algorithm import Outputs, Problem
from topshap.core.bindings import bound
from topshap.core.clear_gap import check_k, is_clear
from topshap.core.ledger import Ledger
from topshap.core.limits import Limits, resolve_limits
from topshap.core.options import CheckedOptions
from topshap.core.output_scales import OutputScales
from topshap.core.outputs import check_outputs
from topshap.core.pairs import n_candidates
from topshap.core.validation import check_int, check_names, check_rng, refuse
from topshap.statistics.ranking import order_of_negated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from topshap.core.algorithm import Algorithm
    from topshap.core.ledger import Counting
    from topshap.core.options import RaceOptions
    from topshap.core.scale import Scale
    from topshap.core.side_information import SideInformation
    from topshap.core.typing import Values
    from topshap.statistics.ranking import RankBy


@dataclass(frozen=True)
class Setup:
    """Everything that is fixed when a race starts."""

    n: int
    k: int
    """The number of players to find; in a race that chooses it, where it starts."""
    player_names: tuple[str, ...] | None
    deterministic: bool
    counting: Counting
    order: int
    rank_by: RankBy
    limits: Limits
    algorithm: Algorithm[Any]
    rng: np.random.Generator
    seed: int | None
    """The seed, if it was given as an int."""
    options: CheckedOptions
    """The options as they were given."""
    n_outputs: int | None
    """The number of outputs, None for one number per coalition, or if it is not known yet."""
    output_names: tuple[str, ...] | None
    side: SideInformation | None
    """What is known about the players before anything is evaluated."""

    @cached_property
    def negates(self) -> bool:
        """Whether the algorithm runs on -v, because it or the stopping rule supports only the highest values."""
        native = self.rank_by in self.algorithm.ranks_by and self.limits.confidence is None
        return not native and self.rank_by != "value" and order_of_negated(self.rank_by) == "value"

    @classmethod
    def of(
        cls,
        n_players: Any,
        k: Any,
        options: RaceOptions,
        *,
        deterministic: bool,
        n_outputs: int | None = None,
        output_names: Iterable[str] | None = None,
        side: SideInformation | None = None,
    ) -> Setup:
        """Check the options of a race and resolve them."""
        n = check_int("n_players", n_players, low=1)
        checked = CheckedOptions(**options)
        n_outputs, output_names = check_outputs(n_outputs, output_names)
        if n < checked.order:
            refuse("order", checked.order, must_be="1 in a game with a single player, which has no pairs")
        clear_gap = is_clear(k)
        if side is not None and side.n_players != n:
            refuse("side_information", got=f"that of {side.n_players} players", must_be=f"that of {n} players")
        facts: dict[str, Any] = {"deterministic": deterministic, "clear_gap": clear_gap, "side": side}
        limits, algorithm = _resolve(n, checked, n_outputs, **facts)
        seed = checked.random_state
        return cls(
            n=n,
            k=check_k(k, n_candidates(n, checked.order), stops_by_itself=limits.confidence is not None),
            player_names=check_names(checked.player_names, n),
            deterministic=deterministic,
            counting=checked.counting,
            order=checked.order,
            rank_by=checked.rank_by,
            limits=limits,
            algorithm=algorithm,
            rng=check_rng(seed),
            seed=int(seed) if isinstance(seed, Integral) else None,
            options=checked,
            n_outputs=n_outputs,
            output_names=output_names,
            side=side,
        )

    def for_outputs(self, n_outputs: int) -> Setup:
        """Return the setup for a game that turns out to have this many outputs; refuse what is not possible with it."""
        if self.n_outputs is not None:  # known from the start
            return self
        if self.options.algorithm == "auto":
            more: dict[str, Any] = {
                "deterministic": self.deterministic,
                "clear_gap": self.limits.clear_gap,
                "side": self.side,
            }
            limits, algorithm = _resolve(self.n, self.options, n_outputs, **more)
            return replace(self, limits=limits, algorithm=algorithm, n_outputs=n_outputs)
        _pick(self.limits, self.n, self.options, n_outputs, deterministic=self.deterministic, side=self.side)
        return replace(self, n_outputs=n_outputs)

    def ledger(self) -> Ledger:
        """Return an empty ledger."""
        return Ledger(self.n, self.limits.budget, self.counting, deterministic=self.deterministic)

    def result_fields(self) -> dict[str, Any]:
        """Return the fields of a `TopK` that are known from the start."""
        limits = self.limits
        outputs = {} if self.n_outputs is None else {"output_names": self.output_names}
        clear_gap = {"clear_gap": True} if limits.clear_gap else {}
        return {
            **outputs,
            **clear_gap,
            "player_names": self.player_names,
            "epsilon": None if limits.confidence is None else limits.confidence.epsilon,
            "delta": None if limits.confidence is None else limits.confidence.delta,
            "value_range": limits.value_range,
            "rule": None if limits.stop is None else repr(limits.stop),
            "algorithm": self.algorithm.name,
            "rank_by": self.rank_by,
            "ordered": self.options.ordered,
            "counting": self.counting,
            "deterministic": self.deterministic,
            "random_state": self.seed,
        }

    def problem(self, ends: Values, ledger: Ledger, scale: Scale | OutputScales) -> Problem:
        """Return the problem for the algorithm in its scale, given v(empty) and v(N)."""
        confidence = self.limits.confidence
        if isinstance(scale, OutputScales):
            outputs = self._outputs(ends, scale)
            empty = grand = np.nan
            epsilon, value_range = None if confidence is None else confidence.epsilon, None
        else:
            outputs = None
            empty, grand = scale.apply(ends).tolist()
            epsilon, value_range = self._bounds(scale)
        return Problem(
            n=self.n,
            k=self.k,
            rng=self.rng,
            tie_order=self.rng.permutation(n_candidates(self.n, self.order)),
            empty=empty,
            grand=grand,
            ledger=ledger,
            rank_by=order_of_negated(self.rank_by) if self.negates else self.rank_by,
            ordered=self.options.ordered,
            epsilon=epsilon,
            delta=None if confidence is None else confidence.delta,
            guarantee=self.limits.guarantee or "asymptotic",
            value_range=value_range,
            clear_gap=self.limits.clear_gap,
            paid_before=max(0, ledger.spent - len(ends)) if self.deterministic else 0,
            outputs=outputs,
            n_outputs=1 if outputs is None else len(outputs.empty),
            order=self.order,
            side=self._scaled_side(scale),
        )

    def _scaled_side(self, scale: Scale | OutputScales) -> SideInformation | None:
        """Return the side information with its prior in the units of the algorithm."""
        if self.side is None or self.side.prior is None or isinstance(scale, OutputScales):
            return self.side
        return replace(self.side, prior=scale.apply(self.side.prior))

    def _bounds(self, scale: Scale) -> tuple[float | None, tuple[float, float] | None]:
        """Return the tolerance and the range of values in the units of the algorithm."""
        confidence, value_range = self.limits.confidence, self.limits.value_range
        if value_range is not None:
            low, high = map(scale.apply_to_bound, value_range)
            value_range = (-high, -low) if self.negates else (low, high)
        return None if confidence is None else scale.apply_to_bound(confidence.epsilon), value_range

    def _outputs(self, ends: Values, scales: OutputScales) -> Outputs:
        """Return what the algorithm knows about each output, in its scale."""
        empty, grand = scales.apply(ends)
        bounds = [self._bounds(scales[output]) for output in range(len(empty))]
        epsilon = None if self.limits.confidence is None else np.array([each for each, _ in bounds])
        ranges = np.array([each for _, each in bounds if each is not None]).T
        return Outputs(empty, grand, epsilon, (ranges[0], ranges[1]) if len(ranges) else None)


def _resolve(
    n: int,
    checked: CheckedOptions,
    n_outputs: int | None,
    *,
    deterministic: bool,
    clear_gap: bool,
    side: SideInformation | None,
) -> tuple[Limits, Algorithm[Any]]:
    """Return the limits of a race and its algorithm."""
    limits = replace(resolve_limits(n, checked, deterministic=deterministic), clear_gap=clear_gap)
    algorithm = _pick(limits, n, checked, n_outputs, deterministic=deterministic, side=side)
    several = n_outputs is not None and checked.algorithm == "auto"
    return limits.settled(algorithm, default="credible" if several else None), algorithm


def _pick(
    limits: Limits,
    n: int,
    checked: CheckedOptions,
    n_outputs: int | None,
    *,
    deterministic: bool,
    side: SideInformation | None,
) -> Algorithm[Any]:
    """Return the algorithm of a race; refuse one that cannot run it."""
    if checked.order != 1 and n_outputs is not None:
        refuse("order", checked.order, must_be=f"1 for a game with several outputs. This game has {n_outputs}")
    pick: Callable[..., Algorithm[Any]] = bound("pick_algorithm")
    return pick(limits, n, checked, deterministic=deterministic, n_outputs=n_outputs, side=side)
