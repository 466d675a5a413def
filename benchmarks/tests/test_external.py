"""shap and shapiq as algorithms: their evaluations are counted, and the global random state does not change."""

import numpy as np
import pytest

from topshap.core.coalitions import keys
from topshap.games import TableGame
from topshap_bench import external
from topshap_bench.instrumented import CountedGame

NAMES = external.available()


class Recorded(CountedGame):
    """Records every access in order."""

    def __init__(self, game):
        super().__init__(game)
        self.accesses = []

    def __call__(self, coalitions):
        self.accesses += keys(np.atleast_2d(np.asarray(coalitions)).astype(bool))
        return super().__call__(coalitions)


@pytest.mark.parametrize("name", NAMES)  # all of a name in one test: the first call of some compiles for seconds
def test_an_external_algorithm_is_counted_keeps_to_the_budget_and_is_repeatable(name, smooth_game, counted):
    game = TableGame(smooth_game(7).values + 10.0)  # v(empty) is not 0
    check_counts(name, game, counted)
    check_budget(name, game)
    before = np.random.get_state()[1].copy()
    first, second = (external.estimate(name, game, budget=120, seed=0).estimates for _ in range(2))
    assert np.array_equal(first, second)
    assert np.array_equal(before, np.random.get_state()[1])
    assert np.corrcoef(first, game.shapley_values())[0, 1] > 0.9
    assert np.abs(first - game.shapley_values()).max() < 2.0


def check_counts(name, game, counted):
    """Check the counts of calls and evaluations, and that no coalition is evaluated twice."""
    inner = counted(game)
    recorded = Recorded(inner)
    external.one_run(name, recorded, 60, 0)
    ends = {bytes(7), bytes([1] * 7)}
    distinct = set(recorded.accesses)
    repeated_ends = sum(key in ends for key in recorded.accesses) - len(distinct & ends)
    assert recorded.ledger.evaluations == len(distinct) == len(inner.asked)
    assert recorded.ledger.calls == len(recorded.accesses) - repeated_ends


def check_budget(name, game):
    """Check that the budget is used, up to one permutation, and not exceeded."""
    for counting in ("distinct", "calls"):
        answer = external.estimate(name, game, budget=60, seed=1, counting=counting)
        spent = answer.evaluations if counting == "distinct" else answer.calls
        assert 60 - 2 * 7 <= spent <= 60
