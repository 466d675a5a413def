"""Links: the scale of a value."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from topshap.core.errors import GameError, ParameterError
from topshap.games import PredictionGame
from topshap.games.links import CLIP, apply_link, check_link


@given(st.floats(-20.0, 20.0))
def test_the_logit_inverts_the_logistic_function(log_odds):
    np.testing.assert_allclose(apply_link("logit", np.array([expit(log_odds)])), [log_odds], rtol=1e-6, atol=1e-9)


def test_the_identity_changes_nothing():
    values = np.array([-3.0, 0.5, 7.0])
    assert apply_link("identity", values) is values


def test_certain_predictions_are_clipped():
    largest = np.log((1.0 - CLIP) / CLIP)
    np.testing.assert_allclose(
        apply_link("logit", np.array([0.0, 1.0, -1e-9, 1.0 + 1e-9])), largest * np.array([-1, 1, -1, 1]), rtol=1e-5
    )


def test_missing_values_stay_missing():
    assert np.isnan(apply_link("logit", np.array([np.nan]))).all()


@pytest.mark.parametrize("outside", [-0.1, 1.1, np.inf])
def test_other_values_are_refused(outside):
    with pytest.raises(GameError, match=rf"link='logit' needs predictions in \[0, 1\].* Got {outside} instead"):
        apply_link("logit", np.array([0.5, outside]))


def test_an_unknown_link_is_refused():
    with pytest.raises(ParameterError, match=r"'link' parameter must be 'identity' or 'logit'. Got 'log'"):
        check_link("log")


def test_a_model_without_probabilities_is_refused_at_once():
    with pytest.raises(ParameterError, match="'link' parameter of PredictionGame must be 'identity' for this model"):
        PredictionGame(lambda rows: rows[:, 0], [5.0], [[0.0]], link="logit")


def test_the_default_link_is_not_part_of_the_fingerprint():
    make = lambda **options: PredictionGame(np.ravel, [0.5], [[0.1]], **options).fingerprint  # noqa: E731
    assert make() == make(link="identity") != make(link="logit")
