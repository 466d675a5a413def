"""The recipe of ContextCite (Cohen-Wang et al. 2024): random masks with half of the documents, and a Lasso.

Every document is kept with probability 1/2. A Lasso on standardised masks predicts the logit of the probability of the
answer, divided by the number of tokens. The documents with the largest weights are the answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.linear_model import Lasso
from sklearn.preprocessing import StandardScaler

if TYPE_CHECKING:
    from topshap.core.typing import Game, Players, Values

ALPHA = 0.01
"""The weight of the penalty, the default of its authors."""


def context_cite(game: Game, n: int, k: int, *, calls: int, tokens: int, seed: int) -> Players:
    """Return the k documents with the largest weights.

    Parameters
    ----------
    game
        The log probability of the answer for masks of shape (m, n).
    n, k
        The number of documents, and of those to find.
    calls
        The number of masks.
    tokens
        The number of tokens of the answer.
    seed
        The seed of the masks.
    """
    masks = np.random.default_rng(seed).random((calls, n)) < 0.5
    weights = lasso_weights(masks, logit(np.asarray(game(masks))) / tokens)
    return np.argsort(-weights, kind="stable")[:k]


def lasso_weights(masks: np.ndarray, targets: Values) -> Values:
    """Return the weights of a Lasso on standardised masks."""
    scaler = StandardScaler()
    lasso = Lasso(alpha=ALPHA).fit(scaler.fit_transform(masks.astype(np.float64)), targets)
    return np.asarray(lasso.coef_ / scaler.scale_)


def logit(log_probabilities: Values) -> Values:
    """Return log(p / (1 - p)) for log p.

    Examples
    --------
    >>> logit(np.log([0.5, 0.001])).round(3)
    array([ 0.   , -6.907])
    """
    return log_probabilities - np.log1p(-np.exp(np.minimum(log_probabilities, -1e-12)))
