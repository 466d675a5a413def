"""StoredRace: it asks only for coalitions without a stored value, and stores every told value."""

import numpy as np
import pytest

import topshap
from topshap import Race, Store, StoredRace
from topshap.core.errors import GameError, ParameterError, RaceError

N = 10
OPTIONS = {"budget": 150, "algorithm": "cmcs", "random_state": 0}


def additive(rows):
    return np.where(rows, np.arange(float(N)), 0.0).sum(axis=1) + rows[:, 0] * rows[:, 3]


def run(**options):
    return topshap.identify(additive, N, 3, **(OPTIONS | options))


def stored(store, **options):
    return StoredRace(Race(N, 3, **(OPTIONS | options)), store)


def finish(race, game=additive):
    """Run a race to its end and return the number of evaluations."""
    asked = 0
    while not race.done:
        rows = race.ask()
        asked += len(rows)
        race.tell(game(rows))
    return asked


def same(one, other):
    assert one.players.tolist() == other.players.tolist()
    assert one.estimates.tobytes() == other.estimates.tobytes()
    assert (one.evaluations, one.calls, one.stopped) == (other.evaluations, other.calls, other.stopped)


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "run.db", game="additive-v1") as store:
        yield store


def test_a_stored_race_asks_only_for_coalitions_without_a_stored_value(store):
    run(store=store, budget=100)
    race = stored(store)
    assert finish(race) == 50
    same(race.result(), run())
    assert stored(store).done


@pytest.mark.parametrize("algorithm", ["auto", "greedy-cmcs", "cmcs@k", "kernelshap"])
def test_a_stored_race_has_the_same_result(store, algorithm):
    for paid in (150, 0):
        race = stored(store, algorithm=algorithm)
        assert finish(race) == paid
        same(race.result(), run(algorithm=algorithm))


def test_told_values_are_stored_before_the_race_ends(store):
    race = stored(store, algorithm="greedy-cmcs", budget=500)
    race.tell(additive(race.ask()))
    rows = race.ask()
    race.tell(additive(rows))
    assert len(store) == 2 + len(rows)
    assert race.result().stopped == "interrupted"


def test_stored_values_are_checked_against_the_value_range(store):
    run(store=store)
    with pytest.raises(GameError, match="must lie in the stated value_range"):
        stored(store, value_range=(0.0, 1.0))
    with pytest.raises(GameError, match="must lie in the stated value_range"):
        run(store=store, value_range=(0.0, 1.0))


@pytest.mark.parametrize("wrong", [[0.0, 7.0], [0.0, np.nan], [0.0], "text"])
def test_an_invalid_value_is_not_stored(store, wrong):
    race = stored(store, value_range=(0.0, 1.0))
    with pytest.raises(GameError):
        race.tell(wrong)
    assert len(store) == 0
    race.tell([0.0, -0.0])
    assert len(store) == 2


def test_varying_values_are_read_again_in_the_same_order(store):
    rng = np.random.default_rng(0)

    def noisy(rows):
        return additive(rows) + rng.normal(size=len(rows))

    first = stored(store, deterministic=False, budget=1200)
    assert finish(first, noisy) == 1200
    again = stored(store, deterministic=False, budget=1200)
    assert again.done
    same(again.result(), first.result())


def test_a_larger_budget_continues_where_the_race_ended(store):
    race = stored(store)
    finish(race)
    race.extend(400)
    assert finish(race) == 250
    same(race.result(), run(budget=400))
    again = stored(store)
    again.extend(400)
    assert again.done
    with pytest.raises(ParameterError, match="'budget' parameter of extend"):
        again.extend(3)


def test_a_finished_race_refuses_ask_and_tell(store):
    race = stored(store)
    finish(race)
    with pytest.raises(RaceError, match="nothing left to ask"):
        race.ask()
    with pytest.raises(RaceError, match="nothing left to tell"):
        race.tell([])


@pytest.mark.parametrize("wrong", ["run.db", 3, Store("run.db")])
def test_a_race_needs_a_store_with_a_name(wrong):
    with pytest.raises(ParameterError, match="'store' parameter of StoredRace must be a Store with a name"):
        StoredRace(Race(4, 2), wrong)
