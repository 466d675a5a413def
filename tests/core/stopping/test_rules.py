"""Stopping rules: the intervals, each rule, and cases in which a race must not stop early."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topshap
from topshap.core.coalitions import from_ids
from topshap.core.errors import ParameterError
from topshap.core.mean_standing import MeanStanding
from topshap.core.standing import FittedStanding
from topshap.core.stopping import Credible, OverlappingIntervals, SeparatedBorder
from topshap.core.stopping.credible import probability_of_larger_error
from topshap.games import TableGame
from topshap.statistics.normal_intervals import clt_interval, two_sided_quantile


def known(estimates, std_errors):
    standing = FittedStanding(np.arange(len(estimates)), np.array(estimates, dtype=float))
    standing.set(np.array(estimates, dtype=float), np.diag(np.square(std_errors)))
    return standing


@given(st.floats(1e-250, 0.999) | st.floats(-250.0, -1.0).map(lambda power: 10.0**power))
def test_the_quantile_leaves_the_level_outside(level):
    assert math.erfc(two_sided_quantile(level) / math.sqrt(2)) == pytest.approx(level, rel=1e-6, abs=0.0)


def test_the_bounds_are_normal_around_the_estimates():
    lower, upper = clt_interval(np.array([1.0, 5.0]), np.array([0.5, 2.0]), 0.05)
    np.testing.assert_allclose(lower, [1.0 - 1.959964 * 0.5, 5.0 - 1.959964 * 2.0], rtol=1e-6)
    np.testing.assert_allclose(upper, [1.0 + 1.959964 * 0.5, 5.0 + 1.959964 * 2.0], rtol=1e-6)


def test_the_bounds_of_a_player_with_an_unknown_standard_error_are_infinite():
    standing = MeanStanding(np.arange(2), 1.0, pairs=False)
    standing.add(np.array([[1.0], [2.0]]), np.array([0]))
    lower, upper = clt_interval(standing.estimates, standing.std_errors, 0.05)
    assert np.isfinite([lower[0], upper[0]]).all()
    assert (lower[1], upper[1]) == (-np.inf, np.inf)


def test_overlapping_intervals_is_met_exactly_when_the_overlap_is_at_most_epsilon():
    standing = known([3.0, 2.0, 1.5, 0.0], [0.1, 0.2, 0.3, 0.1])
    z = two_sided_quantile(0.05 / 4)
    overlap = (1.5 + 0.3 * z) - (2.0 - 0.2 * z)
    assert overlap > 0
    assert OverlappingIntervals(overlap * 1.000001, 0.05)(standing, 2)
    assert not OverlappingIntervals(overlap * 0.999999, 0.05)(standing, 2)


def test_a_smaller_delta_needs_smaller_errors():
    standing = known([2.0, 1.0], [0.2, 0.2])
    assert OverlappingIntervals(0.0, 0.05)(standing, 1)
    assert not OverlappingIntervals(0.0, 1e-6)(standing, 1)


def test_any_player_outside_the_top_k_may_prevent_stopping():
    assert not OverlappingIntervals(0.1, 0.05)(known([3.0, 1.0, -5.0], [0.1, 0.1, 50.0]), 1)


def test_overlapping_intervals_is_not_met_before_all_players_have_min_samples():
    rule = OverlappingIntervals(1.0, 0.05, min_samples=5)
    standing = MeanStanding(np.arange(2), 10.0, pairs=False)
    standing.add(np.tile([10.0, 0.0], (4, 1)) + np.array([[0.0], [0.1], [0.0], [0.1]]))
    assert not rule(standing, 1)
    assert not rule(standing, 2)
    standing.add(np.array([[10.0, 0.0]]))
    assert rule(standing, 1)
    assert rule(standing, 2)


def test_overlapping_intervals_is_not_met_while_a_standard_error_is_unknown():
    assert not OverlappingIntervals(1e300, 0.05)(FittedStanding(np.arange(2), np.array([1.0, 0.0])), 1)


@pytest.mark.parametrize(
    ("wrong", "parameter"),
    [
        ({"epsilon": -1.0}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"delta": 0.0}, "delta"),
        ({"delta": 1.0}, "delta"),
        ({"min_samples": 1}, "min_samples"),
        ({"min_samples": 2.5}, "min_samples"),
    ],
)
def test_an_invalid_parameter_of_overlapping_intervals_is_refused(wrong, parameter):
    with pytest.raises(ParameterError, match=f"The '{parameter}' parameter of OverlappingIntervals must be"):
        OverlappingIntervals(**({"epsilon": 0.1, "delta": 0.05} | wrong))


# A player that is pivotal in one coalition of a thousand.

N = 11
RARE = N - 1
"""The last player contributes nothing, except that it completes one coalition of six."""


@pytest.fixture(scope="module")
def rarely_pivotal():
    """All players but the last add a constant, which is very small for the last but one."""
    coalitions = from_ids(np.arange(2**N), N)
    weights = np.array([60.0, 50.0, 45.0, 40.0, 35.0, 30.0, 25.0, 20.0, 15.0, 0.01, 0.0])
    table = np.where(coalitions, weights, 0.0).sum(axis=1)
    table[np.flatnonzero((coalitions == np.isin(np.arange(N), [0, 2, 4, 6, 8, RARE])).all(axis=1))] += 60.0
    return TableGame(table)


def test_the_rarely_pivotal_player_belongs_to_the_top_k(rarely_pivotal):
    exact = rarely_pivotal.shapley_values()
    assert exact[RARE] > exact[RARE - 1]


@pytest.mark.parametrize("algorithm", ["cmcs", "cmcs@k", "greedy-cmcs", "samplingshap@k"])
@pytest.mark.parametrize("seed", range(3))
def test_a_race_with_a_rarely_pivotal_player_does_not_stop_after_the_warm_up(rarely_pivotal, algorithm, seed):
    options = {"k": N - 1, "algorithm": algorithm, "guarantee": "published", "random_state": seed}
    top = topshap.identify(rarely_pivotal, epsilon=1e-3, budget=1200, **options)
    assert top.stopped == "budget"
    assert top.std_errors.min() > 0
    assert np.ptp(top.interval(), axis=1).min() > 0.01


def test_a_race_does_not_stop_after_only_zeros_without_a_gain():
    """The empty and the grand coalition have the same value, so that no scale of contributions is known."""

    def game(coalitions):
        return (coalitions == np.isin(np.arange(N), [0, 2, 4, 6, 8, RARE])).all(axis=1) * 60.0

    options = {"k": 2, "epsilon": 1e-3, "guarantee": "published", "budget": 450, "algorithm": "cmcs"}
    runs = (topshap.identify(game, N, random_state=seed, **options) for seed in range(10))
    top = next(top for top in runs if not top.estimates.any())  # the rare coalition was not evaluated
    assert top.stopped == "budget"
    assert not (top.std_errors == 0).any()
    assert not top.confidence > 0.9


# The credible rule.


def correlated(estimates, covariance):
    standing = FittedStanding(np.arange(len(estimates)), np.array(estimates, dtype=float))
    standing.set(np.array(estimates, dtype=float), np.array(covariance, dtype=float))
    return standing


@given(st.integers(0, 999), st.integers(1, 4), st.floats(0.0, 1.0))
def test_the_credible_rule_adds_up_the_probabilities_of_all_pairs_across_the_border(seed, k, epsilon):
    rng = np.random.default_rng(seed)
    root, estimates = rng.normal(size=(5, 5)), rng.normal(size=5)
    covariance = root @ root.T
    ranked = np.argsort(-estimates)
    expected = 0.0
    for i in ranked[:k]:
        for j in ranked[k:]:
            deviation = math.sqrt(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j])
            expected += math.erfc((estimates[i] - estimates[j] + epsilon) / deviation / math.sqrt(2)) / 2
    standing = correlated(estimates, covariance)
    assert probability_of_larger_error(standing, k, epsilon) == pytest.approx(expected)
    if expected < 1.0:
        assert Credible(epsilon, min(expected * 1.0001, 0.9999))(standing, k)
    if 0.0 < expected * 0.9999 < 1.0:
        assert not Credible(epsilon, expected * 0.9999)(standing, k)


def test_exact_differences_have_no_error_probability():
    standing = correlated([2.0, 1.0, 1.0], np.zeros((3, 3)))
    assert probability_of_larger_error(standing, 1, 0.0) == 0.0
    assert probability_of_larger_error(standing, 2, 0.0) == 0.0  # a tie is not an error


def test_with_an_indefinite_covariance_estimates_count_as_independent():
    too_large = correlated([1.0, 0.9], [[1.0, 1.1], [1.1, 1.0]])
    independent = correlated([1.0, 0.9], [[1.0, 0.0], [0.0, 1.0]])
    assert probability_of_larger_error(too_large, 1, 0.0) == probability_of_larger_error(independent, 1, 0.0)


def test_the_credible_rule_is_not_met_while_a_standard_error_is_unknown():
    standing = FittedStanding(np.arange(2), np.array([1.0, 0.0]))
    assert not Credible(1e300, 0.05)(standing, 1)
    assert Credible(1e300, 0.05).completion(standing, 1) == 0.0


def test_the_credible_rule_is_not_met_before_all_players_have_min_samples():
    rule = Credible(1.0, 0.05, min_samples=5)
    standing = MeanStanding(np.arange(2), 10.0, pairs=True)
    standing.add(np.tile([10.0, 0.0], (4, 1)) + np.array([[0.0], [0.1], [0.0], [0.1]]))
    assert not rule(standing, 1)
    assert rule.completion(standing, 1) == pytest.approx(0.8)
    standing.add(np.array([[10.0, 0.0]]))
    assert rule(standing, 1)


def test_without_a_covariance_estimates_count_as_independent():
    with_pairs, without = (MeanStanding(np.arange(2), 1.0, pairs=pairs) for pairs in (True, False))
    samples = np.random.default_rng(0).normal(size=(40, 2))
    for standing in (with_pairs, without):
        standing.add(samples)
    covariance = np.diag(np.var(samples, axis=0, ddof=1)) / 40
    expected = probability_of_larger_error(correlated(samples.mean(axis=0), covariance), 1, 0.0)
    assert probability_of_larger_error(without, 1, 0.0) == pytest.approx(expected)
    assert probability_of_larger_error(with_pairs, 1, 0.0) != pytest.approx(expected)


# Bounds of an algorithm.


class Bounded(FittedStanding):
    """A standing whose lowest bound is given."""

    def __init__(self, estimates, bound):
        super().__init__(np.arange(len(estimates)), np.array(estimates, dtype=float))
        self.bound = bound

    def worst_bound(self):
        return self.bound


@given(st.floats(-10, 10), st.floats(0, 5))
def test_bounds_are_separated_exactly_when_the_lowest_is_at_least_minus_epsilon(bound, epsilon):
    assert SeparatedBorder(epsilon)(Bounded([1.0, 0.0], bound), 1) == (bound >= -epsilon)


def test_with_k_equal_to_n_no_bounds_are_needed():
    assert SeparatedBorder(0.0)(known([1.0, 0.0], [1.0, 1.0]), 2)
    assert Credible(0.0, 0.05)(FittedStanding(np.arange(2), np.zeros(2)), 2)


def test_a_standing_without_bounds_is_refused():
    with pytest.raises(TypeError, match="'worst_bound'"):
        SeparatedBorder(0.1)(known([1.0, 0.0], [1.0, 1.0]), 1)


def test_an_unknown_bound_is_not_separated():
    for bound in (math.nan, -math.inf):
        standing = Bounded([1.0, 0.0], bound)
        assert not SeparatedBorder(1e300)(standing, 1)
        assert SeparatedBorder(1e300).completion(standing, 1) == 0.0


# Completion.


@st.composite
def standings(draw):
    n = draw(st.integers(2, 6))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    scale = 10.0 ** draw(st.integers(-6, 6))
    kind = draw(st.sampled_from(["bounds", "unbounded", "errors", "samples", "unknown"]))
    estimates = rng.integers(-3, 4, n) * scale
    if kind in ("bounds", "unbounded"):
        return Bounded(estimates, -np.inf if kind == "unbounded" else rng.normal() * scale)
    if kind == "samples":
        standing = MeanStanding(np.arange(n), scale, pairs=bool(rng.integers(2)))
        standing.add(estimates + scale * rng.integers(0, 2, (int(rng.integers(0, 80)), n)))
        return standing
    return known(estimates, np.full(n, np.nan) if kind == "unknown" else rng.uniform(0, scale, n))


@given(standings(), st.data())
def test_a_rule_is_complete_exactly_if_it_is_met(standing, data):
    k = data.draw(st.integers(1, standing.n_players))
    epsilon, delta = data.draw(st.floats(0.0, 2.0)), data.draw(st.floats(0.001, 0.999))
    rules = [OverlappingIntervals(epsilon, delta), Credible(epsilon, delta)]
    for rule in [*rules, SeparatedBorder(epsilon)] if isinstance(standing, Bounded) else rules:
        completion = rule.completion(standing, k)  # type: ignore[attr-defined]
        assert 0.0 <= completion <= 1.0
        assert (completion == 1.0) == rule(standing, k)


def test_completion_is_a_quarter_if_the_half_width_is_twice_too_large():
    assert SeparatedBorder(0.0).completion(Bounded([1.0, 0.0], -1.0), 1) == pytest.approx(1 / 4)
    assert SeparatedBorder(1.0).completion(Bounded([1.0, 0.0], -3.0), 1) == pytest.approx(1 / 4)


@pytest.mark.parametrize(
    ("wrong", "parameter"),
    [({"epsilon": -1.0}, "epsilon"), ({"delta": 0.0}, "delta"), ({"min_samples": 1}, "min_samples")],
)
def test_invalid_parameters_of_the_other_rules_are_refused(wrong, parameter):
    with pytest.raises(ParameterError, match=f"The '{parameter}' parameter of Credible must be"):
        Credible(**({"epsilon": 0.1, "delta": 0.05} | wrong))
    if parameter == "epsilon":
        with pytest.raises(ParameterError, match="The 'epsilon' parameter of SeparatedBorder must be"):
            SeparatedBorder(**wrong)
