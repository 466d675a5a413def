"""VotingGame: exact power indices by dynamic programming."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topshap.core.errors import ParameterError
from topshap.games import VotingGame
from topshap.reference.exact import shapley_values

WEIGHTS = st.lists(st.integers(0, 9), min_size=1, max_size=8).filter(any)


def test_power_in_the_security_council_equals_the_published_figures():
    power = VotingGame([7] * 5 + [1] * 10, quota=39).shapley_values()
    np.testing.assert_array_equal(power, [421 / 2145] * 5 + [4 / 2145] * 10)


def test_many_voters_with_equal_votes_have_equal_power():
    np.testing.assert_array_equal(VotingGame([1] * 101, 51).shapley_values(), np.full(101, 1 / 101))


def test_a_voter_that_is_never_decisive_has_no_power():
    assert VotingGame([5, 5, 1], 10).shapley_values().tolist() == [0.5, 0.5, 0.0]


@given(WEIGHTS, st.data())
def test_power_equals_enumeration(weights, data):
    game = VotingGame(weights, data.draw(st.integers(1, sum(weights))))
    np.testing.assert_allclose(game.shapley_values(), shapley_values(game), atol=1e-12)


@given(WEIGHTS, st.data())
def test_power_adds_up_to_one_and_grows_with_the_votes(weights, data):
    power = VotingGame(weights, data.draw(st.integers(1, sum(weights)))).shapley_values()
    assert power.sum() == pytest.approx(1.0)
    order = np.argsort(weights, kind="stable")
    assert (np.diff(power[order]) >= -1e-12).all()


def test_a_quota_beyond_all_votes_is_refused():
    with pytest.raises(ParameterError, match=r"'quota' parameter of VotingGame must be an int in \[1, 3\]. Got 4"):
        VotingGame([1, 2], 4)
