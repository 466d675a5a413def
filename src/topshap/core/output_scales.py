"""The scales of a game with several outputs, one power of two per output."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topshap.core.covariances import stacked
from topshap.core.outputs_standing import OutputsStanding
from topshap.core.powers_of_two import SAFE_EXPONENTS
from topshap.core.scale import Scale
from topshap.core.scaled_standing import ScaledStanding
from topshap.core.standing import Standing, read_only
from topshap.statistics.ranking import order_of_negated

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from topshap.core.covariances import Covariances
    from topshap.core.typing import Matrix, Values


class OutputScales:
    """The factors of the values that an algorithm gets: for each output, what `Scale` chooses for its values.

    Outputs may differ in size by any factor. Each of them gets the scale that it would have in a game of its own.

    Parameters
    ----------
    n_outputs
        The number of outputs.
    negates
        Whether the algorithm runs on the negated game.

    Examples
    --------
    >>> scales = OutputScales(2, negates=False)
    >>> scales.fit(np.array([[0.0, 1.0], [3e-320, 2.0]])), scales.apply(np.array([[2.0**-1063, 2.0]]))
    (True, array([[0.25, 2.  ]]))
    """

    def __init__(self, n_outputs: int, *, negates: bool) -> None:
        self.negates = negates
        self._largest = np.zeros(n_outputs)
        self._of_output = [Scale(negates=negates) for _ in range(n_outputs)]
        self._exponents = np.zeros(n_outputs, dtype=np.intc)
        self.only_zeros_changed = True
        """Whether the outputs whose scale the last `fit` has changed had only zeros before, the same in every scale."""

    def __getitem__(self, output: int) -> Scale:
        """Return the scale of one output."""
        return self._of_output[output]

    @property
    def is_one(self) -> bool:
        """Whether the algorithm gets all values unchanged."""
        return not self.negates and not self._exponents.any()

    def fit(self, values: Matrix) -> bool:
        """Choose the scales for these values and all earlier ones; return whether one has changed."""
        largest = np.abs(values).max(axis=0, initial=0.0)
        grown, before = largest > self._largest, self._largest
        self._largest = np.maximum(largest, self._largest)
        exponents = np.frexp(self._largest)[1]
        safe = (exponents >= SAFE_EXPONENTS[0]) & (exponents <= SAFE_EXPONENTS[-1]) & (self._exponents == 0)
        changed, self.only_zeros_changed = False, True
        for output in np.flatnonzero(grown & ~safe):
            if self._of_output[output].fit(values[:, output]):
                self._exponents[output] = self._of_output[output].exponent
                changed = True
                self.only_zeros_changed &= bool(before[output] == 0.0)
        return changed

    def apply(self, values: Matrix) -> Matrix:
        """Return values of the game as the algorithm gets them."""
        scaled = np.ldexp(values, self._exponents) if self._exponents.any() else values
        return -scaled if self.negates else scaled

    def undo(self, estimates: Matrix) -> Matrix:
        """Return estimates of the algorithm, shape (R, n), in the units of the game."""
        unscaled = self.undo_errors(estimates)
        return -unscaled if self.negates else unscaled

    def undo_errors(self, std_errors: Matrix) -> Matrix:
        """Return standard errors of the algorithm, shape (R, n), in the units of the game."""
        return np.ldexp(std_errors, -self._exponents[:, None]) if self._exponents.any() else std_errors

    def without_sign(self) -> OutputScales:
        """Return the same powers of two for an algorithm that does not run on the negated game."""
        scales = OutputScales(len(self._of_output), negates=False)
        scales._exponents = self._exponents
        scales._of_output = [Scale(negates=False, exponent=scale.exponent) for scale in self._of_output]
        return scales


class ScaledOutputsStanding(OutputsStanding):
    """The standing of an algorithm in the units of the game, for every output: see `ScaledStanding`."""

    def __init__(self, of_algorithm: OutputsStanding, scales: OutputScales) -> None:
        rank_by = of_algorithm.rank_by
        order = order_of_negated(rank_by) if scales.negates else rank_by
        super().__init__(of_algorithm.n_outputs, of_algorithm.tie_order, rank_by=order)
        self._of_algorithm, self._scales = of_algorithm, scales

    @property
    def counts(self) -> Values | None:  # type: ignore[override]  # read only here
        """The number of samples of each player, None where the estimates are not means of samples."""
        return self._of_algorithm.counts

    @property
    def rare_contributions(self) -> bool:  # type: ignore[override]  # read only here
        """Whether contributions may be rare and large in one of the outputs."""
        return self._of_algorithm.rare_contributions

    @property
    def rare_outputs(self) -> NDArray[np.bool_]:
        """Whether contributions may be rare and large, for each output."""
        return self._of_algorithm.rare_outputs

    @property
    def estimates(self) -> Values:
        """One estimated Shapley value per output and player, shape (R, n)."""
        return read_only(self._scales.undo(self._of_algorithm.estimates))

    @property
    def std_errors(self) -> Values:
        """The standard error of each estimate, nan where it is not known, shape (R, n)."""
        return read_only(self._scales.undo_errors(self._of_algorithm.std_errors))

    def covariances(self) -> Covariances | None:
        """Return the covariances; one that is too small or large for floating-point numbers is unknown."""
        if self._scales.without_sign().is_one:
            return self._of_algorithm.covariances()
        if self._of_algorithm.covariances() is None:
            return None
        return stacked(standing.covariance() for standing in self.each())

    def of_output(self, output: int) -> Standing:
        """Return the standing of one output."""
        standing, scale = self._of_algorithm.of_output(output), self._scales[output]
        return standing if scale.is_one else ScaledStanding(standing, scale)

    def checkpoint(self) -> Callable[[], None]:
        """Return a function that restores the current state."""
        return self._of_algorithm.checkpoint()
