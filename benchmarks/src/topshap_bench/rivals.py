"""Algorithms of shap, shapiq and lightshap, each with the settings at which it does best on equal evaluations.

A rival is a function of a game, a budget and a seed. It returns one estimate per player, or None if the budget is below
its minimum. Everything else is accounted for in `topshap_bench.external`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from topshap.core.extras import import_extra

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from topshap.core.typing import Values
    from topshap_bench.instrumented import CountedGame, TimedGame

    SizedGame = CountedGame | TimedGame
    Approximation = Callable[[SizedGame, int, int], Values | None]


class Rival(NamedTuple):
    """An algorithm of another package."""

    run: Approximation
    why: str
    """Why these settings are its best."""
    of_shapiq: str | None = None
    """The name of the class in ``shapiq.approximator``."""
    needs: tuple[str, ...] = ()
    """Further packages that it imports."""
    is_slow: bool = False
    """Whether a run takes seconds; slow rivals take part only if they are named."""


def _kernel_of_shap(game: SizedGame, budget: int, _seed: int) -> Values | None:
    """Run shap's KernelExplainer with a background row of zeros for absent players, without dropping features."""
    shap = import_extra("shap", extra="shap", needed_by="shap:kernel")
    if budget < 3:
        return None
    explainer = shap.KernelExplainer(game, np.zeros((1, game.n_players)))
    values = explainer.shap_values(np.ones((1, game.n_players)), nsamples=budget - 2, l1_reg=False, silent=True)
    return np.asarray(values, dtype=np.float64).reshape(-1)


def _permutations_of_shap(game: SizedGame, budget: int, seed: int) -> Values | None:
    """Run shap's PermutationExplainer with complete permutations, forwards and backwards."""
    shap = import_extra("shap", extra="shap", needed_by="shap:permutation")
    n = game.n_players
    if budget < 2 * n + 1:
        return None
    masker = shap.maskers.Independent(np.zeros((1, n)))
    explainer = shap.PermutationExplainer(game, masker, seed=seed)
    found = explainer(np.ones((1, n)), max_evals=budget, silent=True)
    return np.asarray(found.values, dtype=np.float64).reshape(-1)


def _sampling_of_shap(game: SizedGame, budget: int, _seed: int) -> Values | None:
    """Run shap's SamplingExplainer, which assigns samples to the players with the largest variances."""
    shap = import_extra("shap", extra="shap", needed_by="shap:sampling")
    if budget < 4 * game.n_players:  # two samples of a difference per player
        return None
    explainer = shap.SamplingExplainer(lambda rows: game(np.asarray(rows)), np.zeros((1, game.n_players)))
    values = explainer.shap_values(np.ones((1, game.n_players)), nsamples=budget, silent=True)
    return np.asarray(values, dtype=np.float64).reshape(-1)


def _of_lightshap(method: str) -> Approximation:
    """Return a function that runs lightshap for as many permutations as the budget allows, without its tolerance."""

    def run(game: SizedGame, budget: int, seed: int) -> Values | None:
        lightshap = import_extra("lightshap", extra="tables", needed_by=f"lightshap:{method}")
        n = game.n_players
        # Coalitions of one player and of all but one are evaluated once, with "h2" those of two players as well.
        how, exact, per_permutation = "h1" if method == "kernel" else "sampling", 2 * n + 2, 2 * (n - 3)
        if method == "kernel" and n <= 16 and budget >= n * (n + 3):
            how, exact, per_permutation = "h2", n * (n + 1) + 2, 2 * (n - 5)
        permutations = (budget - exact) // max(2, per_permutation)
        if permutations < 1:
            return None
        found = lightshap.explain_any(
            lambda rows: game(np.asarray(rows)).reshape(-1, 1),
            np.ones((1, n)),
            bg_X=np.zeros((1, n)),
            method=method,
            how=how,
            max_iter=permutations,
            tol=1e-12,
            random_state=seed % 2**31,
            verbose=False,
        )
        return np.asarray(found.shap_values, dtype=np.float64).reshape(-1)

    return run


def _of_shapiq(approximator: str, **options: Any) -> Approximation:
    """Return a function that runs one of shapiq's approximators."""

    def run(game: SizedGame, budget: int, seed: int) -> Values | None:
        shapiq = import_extra("shapiq", extra="shapiq", needed_by=approximator)
        if budget < 2:
            return None
        made = getattr(shapiq.approximator, approximator)(game.n_players, random_state=seed, **options)
        found = made.approximate(budget, game)
        return np.array([found[(player,)] for player in range(game.n_players)], dtype=np.float64)

    return run


def _shapiq_rival(
    approximator: str, why: str, *, needs: tuple[str, ...] = (), is_slow: bool = False, **options: Any
) -> Rival:
    return Rival(_of_shapiq(approximator, **options), why, approximator, needs, is_slow)


_SHAPLEY: dict[str, Any] = {"index": "SV", "max_order": 1}
"""ProxySHAP estimates interactions of two players by default."""

RIVALS: Mapping[str, Rival] = {
    "shap:kernel": Rival(_kernel_of_shap, "No feature selection, which sets estimates of unselected players to 0."),
    "shap:permutation": Rival(_permutations_of_shap, "Complete permutations, forwards and backwards, as by default."),
    "shap:sampling": Rival(_sampling_of_shap, "Default settings; there are no others."),
    "lightshap:kernel": Rival(
        _of_lightshap("kernel"), "Small and large coalitions exactly, as by default; two players only if affordable."
    ),
    "lightshap:permutation": Rival(_of_lightshap("permutation"), "Balanced permutations, as by default."),
    "shapiq:kernelshap": _shapiq_rival("KernelSHAP", "Paired coalitions halve the error.", pairing_trick=True),
    "shapiq:unbiased-kernelshap": _shapiq_rival("UnbiasedKernelSHAP", "Paired coalitions.", pairing_trick=True),
    "shapiq:leverageshap": _shapiq_rival(
        "LeverageSHAP", "Pairs, as by default; random counts by size, better with few.", deterministic_counts=False
    ),
    "shapiq:leverageshap-fixed": _shapiq_rival("LeverageSHAP", "Default settings: pairs with fixed counts by size."),
    "shapiq:kadd-shap": _shapiq_rival(
        "kADDSHAP", "Interactions of two players, unpaired: with pairs they cancel, and it is KernelSHAP.", max_order=2
    ),
    "shapiq:kadd-shap-3": _shapiq_rival(
        "kADDSHAP", "Interactions of three players, unpaired: paired, its error is larger.", max_order=3
    ),
    "shapiq:polyshap": _shapiq_rival(
        "PolySHAP", "Order 3 with paired coalitions; order 2 cancels in pairs.", max_order=3, pairing_trick=True
    ),
    "shapiq:oddshap": _shapiq_rival("OddSHAP", "Default settings.", needs=("lightgbm",)),
    "shapiq:svarm": _shapiq_rival("SVARM", "Without pairs, which increase its error."),
    "shapiq:permutation": _shapiq_rival("PermutationSamplingSV", "Default settings; there are no others."),
    "shapiq:owen": _shapiq_rival("OwenSamplingSV", "Default settings."),
    "shapiq:stratified": _shapiq_rival("StratifiedSamplingSV", "Default settings; there are no others."),
    "shapiq:regression-msr": _shapiq_rival("RegressionMSR", "Default proxy.", index="SV", needs=("xgboost",)),
    "shapiq:proxyshap": _shapiq_rival(
        "ProxySHAP", "Shapley values only; default proxy.", needs=("xgboost",), **_SHAPLEY
    ),
    "shapiq:proxyshap-adjusted": _shapiq_rival(
        "ProxySHAP", "Adjusted by the residuals.", needs=("xgboost",), adjustment=True, **_SHAPLEY
    ),
    "shapiq:proxyshap-folds": _shapiq_rival(
        "ProxySHAP",
        "Adjusted by residuals of five folds, which are better with many evaluations.",
        needs=("xgboost",),
        adjustment=True,
        k_folds=5,
        **_SHAPLEY,
    ),
    "shapiq:proxyshap-lightgbm": _shapiq_rival(
        "ProxySHAP",
        "Adjusted; the other proxy.",
        needs=("lightgbm",),
        is_slow=True,
        proxy_model="lightgbm",
        adjustment=True,
        **_SHAPLEY,
    ),
    "shapiq:proxyshap-hpo": _shapiq_rival(
        "ProxySHAP",
        "Adjusted; hyper-parameters of the proxy chosen by cross-validation.",
        needs=("xgboost",),
        is_slow=True,
        hpo=True,
        adjustment=True,
        **_SHAPLEY,
    ),
    "shapiq:shapleig": _shapiq_rival(
        "ShaplEIG", "Default settings.", needs=("torch", "gpytorch", "botorch"), is_slow=True
    ),
}
"""All rivals by name, with the package before the colon."""
