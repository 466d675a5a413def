"""Games with several outputs: every output gets the result of a race of its own, and a coalition is paid for once."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topshap
from topshap.algorithms import ALGORITHMS
from topshap.core.algorithm import Algorithm, Round
from topshap.core.coalitions import to_ids
from topshap.core.covariances import SharedCovariance
from topshap.core.errors import GameError, ParameterError
from topshap.games import TableGame

FOR_EACH = [name for name, kind in ALGORITHMS.items() if kind.outputs == "each"]
FOR_ONE = [name for name, kind in ALGORITHMS.items() if kind.outputs == "one"]


def several(n, n_outputs, seed=0, scales=1.0):
    """Return a table game with random outputs of these sizes."""
    rng = np.random.default_rng(seed)
    return TableGame(np.ldexp(rng.normal(size=(2**n, n_outputs)), np.frexp(scales)[1]))


def output(game, r):
    return TableGame(game.values[:, r])


def assert_same(top, alone):
    """Every number of two results is the same, bit for bit."""
    for name in ("players", "estimates", "std_errors", "covariance"):
        np.testing.assert_array_equal(getattr(top, name), getattr(alone, name), err_msg=name)
    for name in ("evaluations", "calls", "budget", "stopped", "empty", "grand", "guarantee", "rare_contributions"):
        assert getattr(top, name) == getattr(alone, name), name
    if top.history is not None:
        np.testing.assert_array_equal(top.history.estimates, alone.history.estimates)
        np.testing.assert_array_equal(top.history.std_errors, alone.history.std_errors)


def test_the_algorithms_for_several_outputs_are_those_whose_choices_do_not_depend_on_values():
    assert FOR_EACH == [
        "cmcs",
        "independent",
        "same-length",
        "identical",
        "approshapley",
        "kernelshap",
        "stratified-svarm",
    ]


@pytest.mark.parametrize("algorithm", FOR_EACH)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_every_output_has_the_result_of_a_race_of_its_own(algorithm, data):
    n = data.draw(st.integers(1, 7), label="n")
    k = data.draw(st.integers(1, n), label="k")
    game = several(n, data.draw(st.integers(2, 4), label="outputs"), seed=data.draw(st.integers(0, 99), label="game"))
    options = {
        "k": k,
        "budget": data.draw(st.integers(2, 150), label="budget"),
        "algorithm": algorithm,
        "counting": data.draw(st.sampled_from(["distinct", "calls"]), label="counting"),
        "rank_by": data.draw(st.sampled_from(["value", "lowest", "magnitude"]), label="rank_by"),
        "random_state": data.draw(st.integers(0, 99), label="seed"),
    }
    tops = topshap.identify(game, **options)
    for r, top in enumerate(tops):
        assert_same(top, topshap.identify(output(game, r), **options))


@pytest.mark.parametrize("algorithm", FOR_EACH)
def test_outputs_of_any_size_do_not_disturb_each_other(algorithm):
    game = several(6, 5, scales=np.array([5e-324, 1e-200, 1.0, 1e150, 1e297]))
    tops = topshap.identify(game, k=2, budget=40, algorithm=algorithm, random_state=1)
    for r, top in enumerate(tops):
        assert_same(top, topshap.identify(output(game, r), k=2, budget=40, algorithm=algorithm, random_state=1))


def test_an_output_whose_first_values_are_zero_gets_its_scale_later():
    values = np.random.default_rng(0).normal(size=(2**6, 3)) * [1.0, 1e-310, 1e250]
    values[[0, -1], 1:] = 0.0
    game = TableGame(values)
    tops = topshap.identify(game, k=2, budget=40, algorithm="cmcs", random_state=1)
    for r, top in enumerate(tops):
        assert_same(top, topshap.identify(output(game, r), k=2, budget=40, algorithm="cmcs", random_state=1))


@pytest.mark.parametrize("rank_by", ["value", "lowest", "magnitude"])
def test_all_coalitions_give_the_exact_values_of_every_output(rank_by):
    game = several(5, 4, scales=np.array([5e-324, 1.0, 3.0, 1e297]))
    tops = topshap.identify(game, k=2, rank_by=rank_by, random_state=0)
    assert (tops.stopped, tops.algorithm, tops.evaluations) == ("exact", "enumeration", 32)
    np.testing.assert_array_equal(tops.confidence, 1.0)
    for r, top in enumerate(tops):
        assert_same(top, topshap.identify(output(game, r), k=2, rank_by=rank_by, random_state=0))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 9), st.integers(1, 6), st.integers(0, 99))
def test_shapley_values_of_a_table_do_not_depend_on_its_other_columns(n, n_outputs, seed):
    game = several(n, n_outputs, seed)
    together = topshap.exact.shapley_from_table(game.values)
    assert together.shape == (n_outputs, n)
    for r in range(n_outputs):
        np.testing.assert_array_equal(together[r], topshap.exact.shapley_from_table(game.values[:, r]))


@pytest.mark.parametrize("algorithm", [*FOR_EACH, "auto"])
def test_a_coalition_is_evaluated_once(algorithm):
    game, asked = several(7, 3), []

    def recorded(coalitions):
        asked.extend(to_ids(coalitions).tolist())
        return game(coalitions)

    tops = topshap.identify(recorded, 7, k=2, budget=100, algorithm=algorithm, random_state=0)
    assert len(asked) == len(set(asked)) == tops.evaluations == 100


@pytest.mark.parametrize("algorithm", FOR_ONE)
def test_algorithms_for_one_output_refuse_several_by_name(algorithm):
    message = rf"must be one for a game with several outputs: 'auto', 'odd-gp', 'cmcs'.*Got '{algorithm}'"
    with pytest.raises(ParameterError, match=message):
        topshap.identify(several(6, 3), k=2, budget=30, algorithm=algorithm)


def test_a_declared_number_of_outputs_is_refused_before_anything_is_evaluated():
    with pytest.raises(ParameterError, match="several outputs"):
        topshap.Race(6, 2, budget=30, algorithm="greedy-cmcs", n_outputs=3)


@pytest.mark.parametrize("algorithm", ["cmcs", "stratified-svarm", "approshapley"])
def test_an_extended_race_is_the_race_with_the_larger_budget(algorithm):
    game = several(7, 3)

    def played(race):
        while not race.done:
            race.tell(game(race.ask()))
        return race

    race = played(topshap.Race(7, 2, budget=33, algorithm=algorithm, random_state=0))
    race.extend(71)
    longer = played(topshap.Race(7, 2, budget=71, algorithm=algorithm, random_state=0)).result()
    for top, alone in zip(played(race).result(), longer, strict=True):
        np.testing.assert_array_equal(top.estimates, alone.estimates)
        np.testing.assert_array_equal(top.std_errors, alone.std_errors)


@pytest.mark.parametrize("algorithm", ["kernelshap", "odd-gp"])
def test_parts_of_batches_give_the_same_result(algorithm):
    game = several(7, 3)
    options = {"budget": 60, "algorithm": algorithm, "random_state": 0}
    race = topshap.Race(7, 2, **options)
    while not race.done:
        race.tell_part(game(race.ask()[:5]))
    for top, alone in zip(race.result(), topshap.identify(game, k=2, **options), strict=True):
        assert_same(top, alone)


def test_a_race_that_is_ended_within_a_batch_uses_the_values_so_far():
    game = several(7, 3)
    race = topshap.Race(7, 2, budget=60, algorithm="kernelshap", random_state=0)
    race.tell(game(race.ask()))
    race.end()
    tops: Any = race.result()
    assert not any(top.learned for top in tops)
    race = topshap.Race(7, 2, budget=60, algorithm="kernelshap", random_state=0)
    race.tell(game(race.ask()))
    race.tell_part(game(race.ask()[:30]))
    race.end()
    tops = race.result()
    assert (tops.stopped, tops.evaluations) == ("interrupted", 32)
    assert all(top.learned for top in tops)


# Stopping.


def test_a_race_is_confident_when_every_output_is():
    game = several(8, 3, seed=3)
    options = {"k": 2, "epsilon": 0.05, "guarantee": "credible", "algorithm": "cmcs", "random_state": 0}
    tops = topshap.identify(game, **options)
    alone = [topshap.identify(output(game, r), **options) for r in range(3)]
    assert {tops.stopped} | {top.stopped for top in alone} <= {"confident", "exact"}
    assert tops.evaluations >= max(top.evaluations for top in alone)
    assert tops.guarantee == "credible"


def test_epsilon_is_in_the_units_of_each_output():
    sizes = np.array([1.0, 1e-300])
    game = TableGame(several(8, 2, seed=3).values * sizes)
    options = {"k": 2, "guarantee": "credible", "algorithm": "cmcs", "random_state": 0}
    tops = topshap.identify(game, epsilon=1e-310, **options)
    second = topshap.identify(output(game, 1), epsilon=1e-310, **options)
    assert tops.evaluations >= second.evaluations


def test_the_default_guarantee_of_several_outputs_is_credible():
    tops = topshap.identify(several(8, 2), k=2, epsilon=0.5, random_state=0)
    assert (tops.algorithm, tops.guarantee) == ("cmcs", "credible")
    assert "each output by itself" in tops.promise


@pytest.mark.parametrize("guarantee", ["asymptotic", "exact"])
def test_guarantees_that_cannot_be_given_are_refused_by_name(guarantee):
    if guarantee == "exact":
        assert topshap.identify(several(6, 2), k=2, epsilon=0.1, guarantee="exact").stopped == "exact"
        return
    with pytest.raises(ParameterError, match=r"'guarantee'.*must be 'credible', 'exact' or 'published'.*outputs"):
        topshap.identify(several(6, 2), k=2, epsilon=0.1, guarantee=guarantee)


def test_the_published_rule_is_warned_about_once():
    with pytest.warns(topshap.PublishedRuleWarning) as warned:
        topshap.identify(several(8, 2), k=2, epsilon=0.5, algorithm="cmcs", random_state=0)
    assert len(warned) == 1


def test_criteria_see_the_standing_of_all_outputs():
    seen = []

    def precise(race):
        seen.append(race.standing.std_errors.shape)
        return bool(race.standing.std_errors.max() < 0.5)

    tops = topshap.identify(several(10, 3), k=2, stop=precise, algorithm="cmcs", random_state=0)
    assert tops.stopped == "rule"
    assert set(seen) == {(3, 10)}
    assert (tops.std_errors < 0.5).all()


def test_values_outside_the_stated_range_are_refused_with_their_output():
    with pytest.raises(GameError, match=r"value_range \(0.0, 1.0\). Got .* for \{.*\} in output \d instead"):
        topshap.identify(several(6, 3), k=2, value_range=(0.0, 1.0))


def test_values_that_vary_are_averaged_for_every_output():
    rng = np.random.default_rng(0)

    class Noisy:
        n_players, deterministic = 4, False

        def __call__(self, coalitions):
            means = coalitions @ np.array([[3.0, 0.0], [1.0, 0.0], [0.0, 2.0], [0.0, 5.0]])
            return means + 0.01 * rng.normal(size=means.shape)

    tops = topshap.identify(Noisy(), k=1, budget=300, algorithm="cmcs", random_state=0)
    assert tops.players.tolist() == [[0], [3]]
    assert tops.evaluations == 300
    with pytest.warns(topshap.NoisyGameWarning, match="in output"):
        topshap.identify(Noisy().__call__, 4, k=1, budget=10, check_deterministic=True)


# Answers that are wrong.


def answers(wrong, after=2):
    """Return a game with three outputs that gives a wrong answer after the first coalitions."""
    game, count = several(6, 3), [0]

    def answer(coalitions):
        count[0] += len(coalitions)
        return game(coalitions) if count[0] <= after else wrong(game(coalitions))

    return answer


WRONG = {
    "fewer outputs": (lambda values: values[:, :2], "3 numbers per coalition"),
    "more outputs": (lambda values: np.hstack([values, values]), "3 numbers per coalition"),
    "one number": (lambda values: values[:, 0], "3 numbers per coalition"),
    "nan in one output": (lambda values: np.where(np.arange(3) == 1, np.nan, values), "nan for .* in output 1"),
    "infinite": (lambda values: values + np.array([0, 0, np.inf]), "inf for .* in output 2"),
    "text": (lambda values: [["a", "b", "c"]] * len(values), "real numbers"),
    "ragged": (lambda values: [*values[:-1].tolist(), [1.0]], "one per coalition and output"),
    "three axes": (lambda values: values[:, :, None], "3 numbers per coalition"),
    "too few rows": (lambda values: values[1:], "3 numbers per coalition"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_answers_are_refused(kind):
    wrong, message = WRONG[kind]
    with pytest.raises(GameError, match=message):
        topshap.identify(answers(wrong), 6, k=2, budget=30)


def test_the_number_of_outputs_must_not_change_within_a_batch():
    race = topshap.Race(6, 2, budget=30)
    race.tell(np.zeros(2))
    with pytest.raises(GameError, match="it returned one number per coalition before and 3 numbers per coalition now"):
        race.tell(np.zeros((len(race.ask()), 3)))


def test_a_column_is_an_output_only_if_it_is_declared():
    class Column:
        n_players = 4

        def __call__(self, coalitions):
            return coalitions[:, :1] * 2.0

    column: Any = Column()
    with pytest.raises(GameError, match=r"\(2, R\) with R >= 2. Got .* of shape \(2, 1\)"):
        topshap.identify(column, k=1)
    column.n_outputs = 1
    assert topshap.identify(column, k=1).names == [("0",)]
    column.n_outputs = 2
    with pytest.raises(GameError, match=r"must return 2 numbers per coalition, an array of shape \(2, 2\)"):
        topshap.identify(column, k=1)


@pytest.mark.parametrize("names", [["a", "a", "b"], ["a", "b"], "abc", [1, 2, 3]])
def test_wrong_names_of_outputs_are_refused(names):
    with pytest.raises(ParameterError, match="output_names"):
        topshap.Race(4, 2, n_outputs=3, output_names=names)


def test_no_outputs_are_refused():
    with pytest.raises(GameError, match=r"of shape \(2, 0\)"):
        topshap.identify(lambda coalitions: np.zeros((len(coalitions), 0)), 4, k=1)


# An algorithm of one's own that treats all outputs together.


class Singles(Algorithm):
    """Estimates from the players alone, for all outputs at once."""

    name, outputs = "singles", "together"

    def standing(self, problem):
        return problem.fitted_outputs_standing()

    def rounds(self, problem, standing):
        def add(values):
            if len(values) == problem.n:
                contributions = (values - problem.outputs.empty).T
                standing.set(contributions, SharedCovariance(np.eye(problem.n), contributions.var(axis=1)))

        yield Round(np.eye(problem.n, dtype=bool), add)


@pytest.mark.parametrize("size", [1.0, 1e-310, 1e290])
def test_an_algorithm_may_treat_all_outputs_together(size):
    weights = np.random.default_rng(0).normal(size=(6, 3)) * [size, 1.0, 2.0]
    tops = topshap.identify(lambda rows: rows @ weights, 6, k=2, budget=20, algorithm=Singles(), random_state=0)
    assert tops.stopped == "finished"
    np.testing.assert_allclose(tops.estimates, weights.T, rtol=1e-9)
    assert tops.players.tolist() == np.argsort(-weights.T, axis=1)[:, :2].tolist()
    if size == 1.0:
        assert isinstance(tops.covariance, SharedCovariance)
        np.testing.assert_allclose(tops[2].std_errors, weights[:, 2].std())
        assert isinstance(tops[1:].covariance, SharedCovariance)
