"""BLAS has one thread while an algorithm thinks about little, and all of them otherwise."""

import sys
from threading import Thread

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import topshap
from topshap.algorithms import ALGORITHMS
from topshap.algorithms.odd_gp import blas as one_thread
from topshap.algorithms.odd_gp import surrogate as odd_surrogate

N = 8


def threads():
    """Return the largest number of threads of any BLAS."""
    return max(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")


@pytest.fixture(autouse=True)
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        if threads() < 2:
            pytest.skip("BLAS was built without threads")
        yield


@pytest.fixture
def seen_in_fits(monkeypatch):
    """Note how many threads there are whenever hyper-parameters are fitted."""
    seen, fit = [], odd_surrogate.fit

    def watched(*args, **options):
        seen.append(threads())
        return fit(*args, **options)

    monkeypatch.setattr(odd_surrogate, "fit", watched)
    return seen


def watched_game(seen):
    table = np.random.default_rng(0).random(2**N)

    def game(coalitions):
        seen.append(threads())
        return table[topshap.core.coalitions.to_ids(coalitions)]

    return game


@pytest.mark.parametrize("algorithm", ["odd-gp", "odd-gp@k"])
def test_the_algorithm_thinks_in_one_thread_and_the_game_has_all(algorithm, seen_in_fits):
    seen_by_game = []
    topshap.identify(watched_game(seen_by_game), n_players=N, k=3, budget=100, algorithm=algorithm, random_state=0)
    assert set(seen_in_fits) == {1}
    assert set(seen_by_game) == {2}
    assert threads() == 2


def test_with_much_to_think_about_it_has_all_threads(seen_in_fits, monkeypatch):
    monkeypatch.setattr(one_thread, "FEW_EVALUATIONS", 50)
    topshap.identify(watched_game([]), n_players=N, k=3, budget=100, algorithm="odd-gp", random_state=0)
    assert seen_in_fits[0] == 1
    assert seen_in_fits[-1] == 2


def test_it_is_left_when_the_algorithm_fails(monkeypatch):
    def fail(*_args, **_options):
        raise ArithmeticError("on purpose")

    monkeypatch.setattr(odd_surrogate, "fit", fail)
    with pytest.raises(ArithmeticError, match="on purpose"):
        topshap.identify(watched_game([]), n_players=N, k=3, budget=100, algorithm="odd-gp", random_state=0)
    assert threads() == 2


def test_others_may_come_and_go_meanwhile():
    def come_and_go():
        with one_thread.one_thread():
            seen.append(threads())

    seen = []
    with one_thread.one_thread():
        other = Thread(target=come_and_go)
        other.start()
        other.join()
        come_and_go()
        seen.append(threads())
    assert [*seen, threads()] == [1, 1, 1, 2]


def test_without_threadpoolctl_the_answers_are_the_same(monkeypatch):
    def answer():
        return topshap.identify(watched_game([]), n_players=N, k=3, budget=100, algorithm="odd-gp", random_state=0)

    with_it = answer()
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    one_thread._controller.cache_clear()
    without = answer()
    one_thread._controller.cache_clear()
    assert without.players.tolist() == with_it.players.tolist()
    assert without.estimates == pytest.approx(with_it.estimates, rel=1e-6)


def test_names_and_documentation_stay():
    assert ALGORITHMS["odd-gp"].rounds.__doc__.startswith("Spread pairs")
