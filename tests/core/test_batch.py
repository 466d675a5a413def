"""A batch that is told in parts has the same cost and the same values as one that is told at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topshap.core.batch import Batch
from topshap.core.coalitions import from_ids
from topshap.core.errors import GameError, RaceError
from topshap.core.ledger import Ledger
from topshap.core.race import Race

IDS = st.lists(st.integers(0, 15), max_size=30)


@given(
    known=IDS,
    asked=IDS,
    cuts=st.lists(st.integers(0, 5), max_size=8),
    counting=st.sampled_from(["distinct", "calls"]),
    deterministic=st.booleans(),
    budget=st.none() | st.integers(40, 60),
)
def test_parts_cost_the_same_as_the_whole(*, known, asked, cuts, counting, deterministic, budget):
    answers = []
    for divided in (False, True):
        ledger = Ledger(4, budget, counting, deterministic=deterministic)
        first = Batch(from_ids(np.array(known, dtype=int), 4), ledger)
        first.take(first.pending @ np.arange(4.0))
        batch = Batch(from_ids(np.array(asked, dtype=int), 4), ledger)
        spent = ledger.spent
        for cut in cuts if divided else []:
            if cut < len(batch.pending):
                batch.take_part(batch.pending[:cut] @ np.arange(4.0))
                told = batch.told()
                np.testing.assert_array_equal(told, batch.rows[: len(told)] @ np.arange(4.0))
                assert spent <= ledger.spent <= (budget or 100)
        answer = batch.take(batch.pending @ np.arange(4.0))
        answers.append((answer.tolist(), ledger.evaluations, ledger.calls, ledger.spent))
    assert answers[0] == answers[1]


def test_a_race_counts_parts_at_once_and_learns_when_the_batch_is_complete():
    race = Race(6, 2, budget=40, algorithm="kernelshap", random_state=0)
    race.tell([0.0, 15.0])
    before, asked = race.standing.estimates.copy(), len(race.ask())
    race.tell_part(race.ask()[:5] @ np.arange(6.0))
    assert (race.evaluations, len(race.ask())) == (7, asked - 5)
    np.testing.assert_array_equal(race.standing.estimates, before)
    race.tell(race.ask() @ np.arange(6.0))
    assert race.done
    np.testing.assert_allclose(race.result().estimates, np.arange(6.0), atol=1e-9)


def test_an_ended_race_uses_the_values_it_was_told():
    race = Race(6, 2, budget=40, algorithm="kernelshap", random_state=0)
    with pytest.raises(RaceError, match="has not started"):
        race.end()
    race.tell([0.0, 15.0])
    race.tell_part(race.ask()[:12] @ np.arange(6.0))
    race.end()
    assert (race.done, race.stopped, race.evaluations) == (True, "interrupted", 14)
    assert race.completion == 14 / 40
    np.testing.assert_allclose(race.result().estimates, np.arange(6.0), atol=1e-9)
    race.end("time")
    assert race.stopped == "interrupted"
    with pytest.raises(RaceError, match="is over"):
        race.tell_part([1.0])


@pytest.mark.parametrize("values", [[1.0, np.nan], [1.0] * 100, ["x"]])
def test_invalid_values_of_a_part_are_refused(values):
    race = Race(6, 2, budget=40, random_state=0)
    race.tell([0.0, 15.0])
    with pytest.raises(GameError):
        race.tell_part(values)
    assert race.evaluations == 2
