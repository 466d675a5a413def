"""Global importance of a trained model: Shapley values averaged over the rows of a table, from a sample of rows.

`ImportanceRun` (`run`) visits rows in blocks, in an order in which every prefix is spread over the table. Each row gets
permutations of its own (`permutations`), whose coalitions are evaluated by workers and kept in a store (`evaluations`).
By mean magnitude, the value of a coalition is an average over background rows, and each part of the background has
permutations of its own: errors of different permutations average out, for the same number of predictions.
The mean over all rows is estimated from the sample with covariates that are known for all rows (`covariates`,
`estimate`), with standard errors for both sources of randomness, rows and coalitions. If the budget covers many
coalitions for all rows, one Gaussian process models the average over the rows (`process`).
"""

from topshap.global_importance.evaluations import HowEvaluated
from topshap.global_importance.questions import (
    MOST_PARTS,
    importance_by_loss,
    importance_by_magnitude,
    refuse_for_magnitudes,
)
from topshap.global_importance.run import ImportanceRun, Settings

__all__ = [
    "MOST_PARTS",
    "HowEvaluated",
    "ImportanceRun",
    "Settings",
    "importance_by_loss",
    "importance_by_magnitude",
    "refuse_for_magnitudes",
]
