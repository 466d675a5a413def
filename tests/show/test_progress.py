"""The display that `progress` selects."""

import pytest

import topshap

GAME = topshap.games.UnanimityGame([[0, 1], [2, 3], [4, 5, 6]], [3.0, 1.0, 0.5], n_players=12)


def test_without_progress_nothing_is_shown(capsys):
    topshap.identify(GAME, k=2, random_state=0)
    shown = capsys.readouterr()
    assert shown.out == shown.err == ""


def test_the_bar_does_not_change_the_result():
    with_bar, without = (topshap.identify(GAME, k=2, progress=p, random_state=0) for p in (True, False))
    assert with_bar.estimates.tolist() == without.estimates.tolist()


def test_a_live_leaderboard_without_a_terminal_is_a_bar(capsys):
    topshap.identify(GAME, k=2, budget=100, progress="live", random_state=0)
    assert "100%" in capsys.readouterr().err


def test_an_unknown_kind_of_progress_is_refused():
    with pytest.raises(topshap.ParameterError, match=r"must be a bool or 'live'\. Got 'lively' instead"):
        topshap.identify(GAME, k=2, progress="lively")
