"""When a race ends: small criteria, composed with ``&`` and ``|``.

A criterion looks at a race after every batch and says whether it is `met`, and about how much of the way there is done:
its `completion`, from 0 to 1, which drives the progress bar. Of two criteria, ``a | b`` is met with the first and as
complete as the further one, ``a & b`` is met with the last and as complete as the one that lags behind.

    identify(game, k=3, stop=TimeLimit(60) | Budget(500))                        # whichever comes first
    identify(game, k=3, stop=Budget(500) & Confidence(epsilon=0.01))             # sure, and never on less than 500
    identify(game, k=3, stop=When(lambda race: race.standing.std_errors.max() < 0.1))

A criterion keeps no state of its own, so that one may serve any number of races.

Rules (`OverlappingIntervals`, `Credible`, `SeparatedBorder`) are what `Confidence` comes to: they look at the standing
of an algorithm, and say what their answer rests on.
"""

from topshap.core.stopping.credible import Credible
from topshap.core.stopping.criteria import Budget, Confidence, Exhausted, TimeLimit, When
from topshap.core.stopping.criterion import AllOf, AnyOf, Criterion
from topshap.core.stopping.rules import (
    GUARANTEES,
    BoundedStanding,
    Guarantee,
    OverlappingIntervals,
    Promised,
    SeparatedBorder,
    StoppingRule,
)
from topshap.core.stopping.view import RaceView

__all__ = [
    "GUARANTEES",
    "AllOf",
    "AnyOf",
    "BoundedStanding",
    "Budget",
    "Confidence",
    "Credible",
    "Criterion",
    "Exhausted",
    "Guarantee",
    "OverlappingIntervals",
    "Promised",
    "RaceView",
    "SeparatedBorder",
    "StoppingRule",
    "TimeLimit",
    "When",
]
