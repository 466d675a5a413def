"""The two questions about a model: what reduces its loss, and what moves its predictions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.validation import refuse
from topshap.games.loss import LossGame
from topshap.global_importance.covariates import covariates_of
from topshap.global_importance.run import ImportanceRun
from topshap.global_importance.sampled_rows import SampledRows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from topshap.core.importance_result import TopImportance
    from topshap.core.typing import Players
    from topshap.games.backgrounds import Background
    from topshap.games.tables import Table
    from topshap.global_importance.run import Settings

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
) -> TopImportance:
    """Return the players that reduce the loss of a model most; `game_options` are those of an explainer's games."""
    if y is None:
        refuse("y", None, must_be="the target of each row for by='loss'")
    options = dict(game_options)
    if options.pop("link", "identity") != "identity":
        refuse("by", "loss", must_be="'mean_abs' with link='logit', since a loss takes predictions as they are")
    game = LossGame(model, table.data, y, background, loss=loss, **options)
    named = replace(settings, output_name=game.output_name)
    return ImportanceRun(rows_of_loss(game, table), named, game.row_values).result()


def importance_by_magnitude(
    game_of: Callable[[Players], Any], table: Table, player_of: Players, output_name: str, settings: Settings
) -> TopImportance:
    """Return the players with the largest mean magnitudes; `game_of` gives the game of some rows by position."""
    named = replace(settings, output_name=output_name)
    return ImportanceRun(rows_of_predictions(game_of, table, player_of), named).result()


def refuse_for_magnitudes(*, y: Any, loss: Any, output_names: Sequence[str] | None) -> None:
    """Refuse what mean magnitudes cannot be combined with."""
    for name, given in (("y", y), ("loss", loss)):
        if given is not None:
            refuse(name, got="a value", must_be="None for by='mean_abs', which has no target")
    if output_names is not None:
        refuse("by", "mean_abs", must_be="'loss' with output='all'; name one output to find mean magnitudes")


def rows_of_loss(game: LossGame, table: Table) -> SampledRows:
    """Return the rows of a `LossGame`; what a feature contributes depends on the losses and the residuals of a row."""
    losses, residuals = game.end_losses, game.end_residuals.sum(axis=0)
    gains = losses[0] - losses[1]
    if residuals.shape[1] == 2:  # two classes: one residual is the negative of the other
        residuals = residuals[:, 1:]
    factors = np.concatenate([gains[:, None], residuals[:, :_MOST_RESIDUALS]], axis=1)
    covariates = covariates_of(table, game.player_of, game.n_players, losses.T, factors)
    return SampledRows(game.of_rows, np.stack([np.zeros(game.n_rows), gains]), covariates)


def rows_of_predictions(game_of: Callable[[Players], Any], table: Table, player_of: Players) -> SampledRows:
    """Return the rows of a game of predictions; magnitudes depend on how far the prediction is from its average."""
    game = game_of(np.arange(table.n_rows))
    ends = game(np.array([[False], [True]]) & np.ones(game.n_players, dtype=np.bool_))
    gains = ends[1] - ends[0]
    scores = np.stack([gains, np.abs(gains)], axis=1)
    covariates = covariates_of(table, player_of, game.n_players, scores, np.empty((table.n_rows, 0)))
    return SampledRows(game_of, ends, covariates)
