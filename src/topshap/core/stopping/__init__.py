"""When a race ends: small criteria, composed with ``&`` and ``|``.

A criterion is checked after every batch, a time limit also within large batches. It decides whether it is `met`, and
estimates its `completion` from 0 to 1, which drives the progress bar. ``a | b`` is met as soon as one is, and its
completion is the larger one; ``a & b`` is met once both are, and its completion is the smaller one.

    identify(game, k=3, stop=TimeLimit(60) | Budget(500))                        # whichever comes first
    identify(game, k=3, stop=Budget(500) & Confidence(epsilon=0.01))             # confident, after at least 500
    identify(game, k=3, stop=When(lambda race: race.standing.std_errors.max() < 0.1))

Criteria are stateless, so one criterion can serve any number of races.

`Confidence` is decided by a rule (`OverlappingIntervals`, `Credible` or `SeparatedBorder`; with ``k="clear"``,
`ClearGap` or `CredibleGap`), which checks the standing of an algorithm and states its `guarantee`.
"""

from topshap.core.stopping.clear_gap import ClearGap, CredibleGap
from topshap.core.stopping.credible import Credible
from topshap.core.stopping.criteria import Budget, Confidence, Exhausted, TimeLimit, When
from topshap.core.stopping.criterion import AllOf, AnyOf, Criterion
from topshap.core.stopping.rules import (
    GUARANTEES,
    BoundedStanding,
    Guarantee,
    OverlappingIntervals,
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
    "ClearGap",
    "Confidence",
    "Credible",
    "CredibleGap",
    "Criterion",
    "Exhausted",
    "Guarantee",
    "OverlappingIntervals",
    "RaceView",
    "SeparatedBorder",
    "StoppingRule",
    "TimeLimit",
    "When",
]
