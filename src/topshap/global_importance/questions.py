"""The two questions about a model: what reduces its loss, and what moves its predictions."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.validation import refuse
from topshap.evaluation.store.per_game import function_name
from topshap.games.loss import LossGame
from topshap.global_importance.covariates import covariates_of
from topshap.global_importance.evaluations import row_predictions, shown
from topshap.global_importance.run import ImportanceRun
from topshap.global_importance.sampled_rows import SampledRows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from topshap.core.importance_result import TopImportance
    from topshap.core.typing import Coalitions, Players, Values
    from topshap.games.backgrounds import Background
    from topshap.games.tables import Table
    from topshap.global_importance.evaluations import HowEvaluated, RowPredictions
    from topshap.global_importance.run import Settings

MOST_PARTS = 10
"""Mean magnitudes: the largest number of parts of the background, each with permutations of its own."""
_MOST_RESIDUALS = 3
"""The largest number of outputs whose residuals are used as covariates."""


def importance_by_loss(
    model: Any,
    table: Table,
    y: Any,
    background: Background,
    *,
    loss: Any,
    game_options: Mapping[str, Any],
    settings: Settings,
    how: HowEvaluated,
) -> TopImportance:
    """Return the players that reduce the loss of a model most; `game_options` are those of an explainer's games."""
    if y is None:
        refuse("y", None, must_be="the target of each row for by='loss'")
    options = dict(game_options)
    if options.pop("link", "identity") != "identity":
        refuse("by", "loss", must_be="'mean_abs' with link='logit', since a loss takes predictions as they are")
    game = LossGame(model, table.data, y, background, loss=loss, fingerprint=function_name(how.store), **options)
    named = replace(settings, output_name=game.output_name)
    with row_predictions([game.predictions_of], game.predictions, how) as predictions:
        run = ImportanceRun(rows_of_loss(game, table, predictions), named)
        with shown(predictions, how, run.budget):
            return run.result()


def importance_by_magnitude(
    game_of: Callable[..., Any],
    parts: Sequence[tuple[float, Background]],
    table: Table,
    player_of: Players,
    *,
    output_name: str,
    settings: Settings,
    how: HowEvaluated,
) -> TopImportance:
    """Return the players with the largest mean magnitudes.

    Parameters
    ----------
    game_of
        A function from positions of rows, and a background other than the whole one, to the game of these rows.
    parts
        Parts of the background and their weights; the game of a row is the weighted average of the games of its parts.
    table
        The rows.
    player_of
        The player of each column.
    output_name, settings, how
        The name of the output, and the options.
    """
    named = replace(settings, output_name=output_name)
    game, weights = game_of(np.arange(table.n_rows)), np.array([weight for weight, _ in parts])
    games_of = [partial(game_of, background=part) for _, part in parts]
    with row_predictions(games_of, game, how) as predictions:
        run = ImportanceRun(rows_of_predictions(table, player_of, game.n_players, predictions, weights), named)
        with shown(predictions, how, run.budget):
            return run.result()


def refuse_for_magnitudes(*, y: Any, loss: Any, output_names: Sequence[str] | None) -> None:
    """Refuse what mean magnitudes cannot be combined with."""
    for name, given in (("y", y), ("loss", loss)):
        if given is not None:
            refuse(name, got="a value", must_be="None for by='mean_abs', which has no target")
    if output_names is not None:
        refuse("by", "mean_abs", must_be="'loss' with output='all'; name one output to find mean magnitudes")


def rows_of_loss(game: LossGame, table: Table, predictions: RowPredictions) -> SampledRows:
    """Return the rows of a `LossGame`; what a feature contributes depends on the losses and the residuals of a row."""
    every, ends = np.arange(game.n_rows), predictions.ends()[:, :, 0]
    losses = np.stack([game.losses_of(each, every) for each in ends])
    residuals = np.sum([game.residuals_of(each, every) for each in ends], axis=0)
    gains = losses[0] - losses[1]
    if residuals.shape[1] == 2:  # two classes: one residual is the negative of the other
        residuals = residuals[:, 1:]
    factors = np.concatenate([gains[:, None], residuals[:, :_MOST_RESIDUALS]], axis=1)
    covariates = covariates_of(table, game.player_of, game.n_players, losses.T, factors)

    def reductions(coalitions: Coalitions, rows: Players) -> Values:
        return np.asarray(losses[0, rows] - game.losses_of(predictions(coalitions, rows), rows))

    return SampledRows(reductions, np.stack([np.zeros(game.n_rows), gains])[:, :, None], covariates)


def rows_of_predictions(
    table: Table, player_of: Players, n_players: int, predictions: RowPredictions, weights: Values
) -> SampledRows:
    """Return the rows of a game of predictions; magnitudes depend on how far the prediction is from its average."""
    ends = predictions.ends()[:, :, :, 0]
    gains = (ends[1] - ends[0]) @ weights
    scores = np.stack([gains, np.abs(gains)], axis=1)
    covariates = covariates_of(table, player_of, n_players, scores, np.empty((table.n_rows, 0)))
    return SampledRows(lambda coalitions, numbers: predictions(coalitions, numbers)[:, 0], ends, covariates, weights)
