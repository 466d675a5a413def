"""Find the k most important players of a cooperative game with as few evaluations as possible."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from topshap import clients, games, interop, show
from topshap.attribution import Attribution, CostEstimate, aattribute, attribute
from topshap.core import errors, stopping
from topshap.core.bindings import bind
from topshap.core.errors import (
    ClientError,
    EvaluationError,
    GameError,
    NoisyGameWarning,
    ParameterError,
    PublishedRuleWarning,
    RaceError,
    RareContributionsWarning,
    StoreError,
    StoreWarning,
    TopshapError,
    UncertainResultWarning,
)
from topshap.core.explanations import Explanations
from topshap.core.importance import Importance
from topshap.core.importance_result import TopImportance
from topshap.core.levels import Levels
from topshap.core.options import RaceOptions
from topshap.core.pairs_result import TopPairs
from topshap.core.race import Race
from topshap.core.result import TopK
from topshap.core.results import TopKs
from topshap.core.side_information import SideInformation
from topshap.core.stable_ranks import StableRanks
from topshap.core.usage import Usage
from topshap.entrypoints import aidentify, identify
from topshap.evaluation import Oracle, Store, StoredRace
from topshap.evaluation.store.check import StoreCheck
from topshap.evaluation.store.info import StoreInfo
from topshap.explainer import Explainer
from topshap.interop.json import load
from topshap.reference import exact, metrics, theory

if TYPE_CHECKING:
    from topshap import algorithms
    from topshap.selector import TopKSelector

__version__ = "0.1.0"

bind(
    pick_algorithm="topshap.algorithms.registry:pick_algorithm",
    make_algorithm="topshap.algorithms.registry:make",
    text_leaderboard="topshap.show.text:text_leaderboard",
    headline="topshap.show.wording:headline",
    describe_promise="topshap.show.wording:describe_promise",
    plot="topshap.show:leaderboard",
    notebook_html="topshap.show.notebook:notebook_html",
    to_html="topshap.show.report:to_html",
    to_frame="topshap.interop.pandas:to_frame",
    to_shap="topshap.interop.shap:to_shap",
    to_shapiq="topshap.interop.shapiq:to_interaction_values",
    pairs_to_shap="topshap.interop.shap:pairs_to_shap",
    pairs_to_shapiq="topshap.interop.shapiq:pairs_to_interaction_values",
    save="topshap.interop.json:save",
    zoom="topshap.zoom:zoom",
    text_levels="topshap.show.levels_text:text_levels",
    plot_levels="topshap.show:levels",
    levels_notebook_html="topshap.show.levels_html:levels_notebook_html",
    levels_to_html="topshap.show.levels_html:levels_to_html",
    text_outputs="topshap.show.outputs_text:text_outputs",
    outputs_headline="topshap.show.outputs_text:outputs_headline",
    outputs_promise="topshap.show.outputs_text:outputs_promise",
    plot_outputs="topshap.show:output_map",
    outputs_notebook_html="topshap.show.outputs_html:outputs_notebook_html",
    outputs_to_html="topshap.show.outputs_html:outputs_to_html",
    outputs_to_frame="topshap.interop.pandas:outputs_to_frame",
    outputs_to_shap="topshap.interop.shap:outputs_to_shap",
    plot_beeswarm="topshap.show:beeswarm",
    plot_bar="topshap.show:bar",
    plot_heat_map="topshap.show:heat_map",
    text_rows="topshap.show.rows_text:text_rows",
    text_importance="topshap.show.rows_text:text_importance",
    html_rows="topshap.show.rows_html:html_rows",
    many_to_html="topshap.show.rows_report:to_html",
    many_to_frame="topshap.interop.pandas:many_to_frame",
    importance_to_frame="topshap.interop.pandas:importance_to_frame",
    many_to_shap="topshap.interop.shap:many_to_shap",
    save_many="topshap.interop.many_json:save_many",
)

__all__ = [
    "Attribution",
    "ClientError",
    "CostEstimate",
    "EvaluationError",
    "Explainer",
    "Explanations",
    "GameError",
    "Importance",
    "Levels",
    "NoisyGameWarning",
    "Oracle",
    "ParameterError",
    "PublishedRuleWarning",
    "Race",
    "RaceError",
    "RaceOptions",
    "RareContributionsWarning",
    "SideInformation",
    "StableRanks",
    "Store",
    "StoreCheck",
    "StoreError",
    "StoreInfo",
    "StoreWarning",
    "StoredRace",
    "TopImportance",
    "TopK",
    "TopKSelector",
    "TopKs",
    "TopPairs",
    "TopshapError",
    "UncertainResultWarning",
    "Usage",
    "__version__",
    "aattribute",
    "aidentify",
    "algorithms",
    "attribute",
    "clients",
    "errors",
    "exact",
    "games",
    "identify",
    "interop",
    "load",
    "metrics",
    "show",
    "stopping",
    "theory",
]


def __getattr__(name: str) -> Any:
    if name == "algorithms":  # imports most of scipy, which takes longer than all of topshap
        return import_module("topshap.algorithms")
    if name == "TopKSelector":  # imports scikit-learn, which is optional
        from topshap.selector import TopKSelector  # noqa: PLC0415 - imported on first use

        return TopKSelector
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
