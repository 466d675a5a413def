"""BLAS has one thread while an algorithm computes on a small problem, and all of them otherwise."""

import subprocess
import sys
import tomllib
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import topshap
from topshap.algorithms import ALGORITHMS
from topshap.algorithms.odd_gp import blas, surrogate
from topshap.algorithms.odd_gp.blas import single_threaded_blas
from topshap.core.algorithm import Round

N = 8
ROOT = Path(__file__).parents[3]


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
    """Record the number of threads whenever hyper-parameters are fitted."""
    seen, fit = [], surrogate.fit  # type: ignore[attr-defined]

    def watched(*args, **options):
        seen.append(threads())
        return fit(*args, **options)

    monkeypatch.setattr(surrogate, "fit", watched)
    return seen


def watched_game(seen):
    table = np.random.default_rng(0).random(2**N)

    def game(coalitions):
        seen.append(threads())
        return table[topshap.core.coalitions.to_ids(coalitions)]

    return game


@pytest.mark.parametrize("algorithm", ["odd-gp", "odd-gp@k"])
def test_blas_has_one_thread_in_the_algorithm_and_all_in_the_game(algorithm, seen_in_fits):
    seen_by_game = []
    topshap.identify(watched_game(seen_by_game), n_players=N, k=3, budget=100, algorithm=algorithm, random_state=0)
    assert set(seen_in_fits) == {1}
    assert set(seen_by_game) == {2}
    assert threads() == 2


def test_blas_has_all_threads_once_the_problem_is_large(seen_in_fits, monkeypatch):
    monkeypatch.setattr(blas, "MAX_EVALUATIONS", 50)
    topshap.identify(watched_game([]), n_players=N, k=3, budget=100, algorithm="odd-gp", random_state=0)
    assert seen_in_fits[0] == 1
    assert seen_in_fits[-1] == 2


def test_the_thread_limit_ends_when_the_algorithm_fails(monkeypatch):
    def fail(*_args, **_options):
        raise ArithmeticError("on purpose")

    monkeypatch.setattr(surrogate, "fit", fail)
    with pytest.raises(ArithmeticError, match="on purpose"):
        topshap.identify(watched_game([]), n_players=N, k=3, budget=100, algorithm="odd-gp", random_state=0)
    assert threads() == 2


def test_thread_limits_may_overlap():
    def limit_threads():
        with blas.one_thread():
            seen.append(threads())

    seen = []
    with blas.one_thread():
        other = Thread(target=limit_threads)
        other.start()
        other.join()
        limit_threads()
        seen.append(threads())
    assert [*seen, threads()] == [1, 1, 1, 2]


def test_the_answers_are_the_same_with_all_threads(monkeypatch):
    def answer():
        return topshap.identify(watched_game([]), n_players=N, k=3, budget=100, algorithm="odd-gp", random_state=0)

    limited = answer()
    monkeypatch.setattr(blas, "MAX_PLAYERS", 0)
    unlimited = answer()
    assert unlimited.players.tolist() == limited.players.tolist()
    assert unlimited.estimates == pytest.approx(limited.estimates, rel=1e-6)


def test_threadpoolctl_is_a_dependency_of_the_plain_install():
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    assert any(requirement.startswith("threadpoolctl") for requirement in dependencies)


def test_importing_topshap_does_not_import_threadpoolctl():
    code = "import sys, topshap; assert 'threadpoolctl' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_limited_function_keeps_its_docstring():
    assert ALGORITHMS["odd-gp"].rounds.__doc__.startswith("Spread pairs")


def test_rounds_and_their_values_are_computed_in_one_thread_and_nothing_else_is():
    seen = []

    @single_threaded_blas
    def rounds(_self, _problem, _standing):
        for _ in range(2):
            seen.append(("choose", threads()))
            yield Round(
                np.ones((1, N), dtype=bool), lambda _: seen.append(("add", threads())), next_is_independent=True
            )
        seen.append(("end", threads()))

    for each in rounds(None, SimpleNamespace(n=N, spent=0), None):
        seen.append(("evaluate", threads()))
        assert each.next_is_independent
        each.add(np.ones(1))
    assert seen == [*[("choose", 1), ("evaluate", 2), ("add", 1)] * 2, ("end", 1)]
