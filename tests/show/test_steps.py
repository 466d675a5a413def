"""The steps from v(empty) to v(grand), and the waterfall that shows them."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topshap
from topshap.show.steps import Steps
from topshap.show.waterfall_html import html_waterfall, waterfall_note, waterfall_title

PREDICTED = topshap.Explainer(lambda X: X @ [3.0, -1.0, 2.0] + 1.0, [[0, 0, 0]], feature_names=["age", "bmi", "bp"])


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 9), st.integers(1, 9), st.integers(1, 5), st.integers(0, 99))
def test_each_step_starts_where_the_last_one_ended_and_the_sum_is_the_grand_value(n, k, most, seed):
    weights = np.random.default_rng(seed).normal(size=n)
    game = topshap.games.AdditiveGame(weights, baseline=2.0)
    top = topshap.identify(game, k=min(k, n), budget=2 * n + 6, algorithm="cmcs", random_state=seed)
    rows = Steps.of(top, most=most).rows
    assert rows[0].end == top.empty
    assert rows[-1].end == top.grand
    assert all(step.start == before.end for before, step in pairwise(rows[:-1]))
    assert rows[-2].end == pytest.approx(top.grand)


def test_the_others_take_what_the_estimates_leave(found):
    top = replace(found(n=14, k=4, budget=200), covariance=None)
    *_, others, total = Steps.of(top).rows
    assert others.label == "10 other players"
    assert others.contribution == pytest.approx(top.grand - top.empty - top.estimates[top.players].sum())
    error = np.sqrt((top.std_errors[top.players] ** 2).sum())
    assert others.half_width == pytest.approx(1.959964 * error, rel=1e-3)
    assert (total.half_width, total.label) == (0.0, "all players")


def test_the_covariance_of_the_top_players_is_used():
    game = topshap.games.UnanimityGame([[0, 1], [2, 3]], [3.0, 1.0], n_players=8)
    top = topshap.identify(game, k=2, budget=60, algorithm="odd-gp", random_state=0)
    assert top.covariance is not None
    block = top.covariance[np.ix_(top.players, top.players)]
    assert Steps.of(top).rows[-2].half_width == pytest.approx(1.959964 * np.sqrt(block.sum()), rel=1e-3)


def test_a_difference_without_other_players_is_a_step_of_its_own():
    game = topshap.games.UnanimityGame([[0, 1], [2, 3]], [3.0, 1.0], n_players=8)
    top = topshap.identify(game, k=8, budget=40, algorithm="cmcs", random_state=0)
    labels = [row.label for row in Steps.of(top).rows]
    assert labels[-2] == "error of the estimates"
    exact = topshap.identify(game, k=8, random_state=0)
    assert "error of the estimates" not in [row.label for row in Steps.of(exact).rows]


def test_names_values_and_signs_are_shown():
    top = PREDICTED.explain([2, 5, 1], k=3, rank_by="magnitude")
    steps = Steps.of(top)
    shown = [(row.label, steps.number(row), row.kind) for row in steps.rows]
    assert shown == [
        ("base value", "1", "base"),
        ("age = 2", "+6", "raises"),
        ("bmi = 5", "-5", "lowers"),
        ("bp = 1", "+2", "raises"),
        ("prediction", "4", "total"),
    ]


def test_players_are_not_named_while_nothing_distinguishes_them(found):
    top = found(budget=2, k=2)
    assert [row.label for row in Steps.of(top).rows] == ["no players", "14 other players", "all players"]
    assert "nothing distinguishes" in topshap.show.waterfall(top).get_title(loc="left")


def test_unknown_errors_have_no_interval(found):
    steps = Steps.of(found(budget=20, k=2))
    assert not steps.has_intervals
    assert steps.uncertainty(steps.rows[1]) == " ± ?"
    assert np.isfinite(steps.limits).all()


def test_the_list_and_the_plot_show_the_same_rows(found):
    for top in (found(), PREDICTED.explain([2, 5, 1], k=2)):
        steps = Steps.of(top)
        assert html_waterfall(top).count("<li") == len(steps.rows)
        ax = topshap.show.waterfall(top)
        assert len(ax.get_yticklabels()) == len(steps.rows)
        assert "style=" not in html_waterfall(top)
    assert waterfall_title(top) == "From the base value to the prediction"
    assert "The sum is the prediction: <lambda>." in waterfall_note(top)
    assert "&lt;script&gt;" in html_waterfall(found())


@pytest.mark.parametrize("options", [{"most": 0}, {"level": 1.5}])
def test_invalid_options_are_refused(found, options):
    with pytest.raises(topshap.ParameterError, match=next(iter(options))):
        topshap.show.waterfall(found(), **options)
