"""The ledger, compared with one that goes through the accesses one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topshap.core.coalitions import from_ids, keys
from topshap.core.ledger import Ledger

N = 3
COUNTINGS = ("distinct", "calls")


def rows(*ids, n=N):
    return from_ids(np.array(ids, dtype=int), n)


def worth(ids):
    return np.array([10.0 + coalition for coalition in ids])


class OneByOne:
    """The rules in their simplest form: one access after the other, until one exceeds the budget."""

    def __init__(self, budget, counting):
        self.budget, self.counting = budget, counting
        self.known, self.calls, self.spent = set(), 0, 0

    def access(self, batch):
        answered = []
        for coalition in batch:
            new = coalition not in self.known
            is_end = coalition in (0, 2**N - 1)
            counts_as_call = new or not is_end
            price = counts_as_call if self.counting == "calls" else new
            if self.budget is not None and self.spent + price > self.budget:
                break
            self.spent += price
            self.calls += counts_as_call
            self.known.add(coalition)
            answered.append(coalition)
        return answered


@given(
    st.lists(st.lists(st.integers(0, 2**N - 1), max_size=12), max_size=6),
    st.one_of(st.none(), st.integers(0, 20)),
    st.sampled_from(COUNTINGS),
)
def test_prices_and_counts_agree_with_a_ledger_that_counts_one_by_one(batches, budget, counting):
    ledger, model = Ledger(N, budget, counting), OneByOne(budget, counting)
    for batch in batches:
        known_before = set(model.known)
        bill = ledger.price(rows(*batch))
        answered = model.access(batch)
        assert bill.keys == keys(rows(*answered))
        asked = [batch[row] for row in bill.unpaid]
        assert sorted(asked) == sorted(model.known - known_before)
        np.testing.assert_array_equal(ledger.enter(bill, worth(asked)), worth(answered))
        assert (ledger.evaluations, ledger.calls, ledger.spent) == (len(model.known), model.calls, model.spent)
        assert ledger.remaining == (None if budget is None else budget - model.spent)


@pytest.mark.parametrize("counting", COUNTINGS)
def test_pricing_a_batch_changes_nothing(counting):
    ledger = Ledger(N, 5, counting)
    first, second = ledger.price(rows(1, 2, 1)), ledger.price(rows(1, 2, 1))
    assert first == second
    assert (ledger.evaluations, ledger.calls, ledger.remaining) == (0, 0, 5)


def test_repeats_are_free_when_distinct_coalitions_count_and_charged_when_calls_do():
    batch = rows(1, 1, 2, 1)
    spent = {}
    for counting in COUNTINGS:
        ledger = Ledger(N, None, counting)
        ledger.enter(ledger.price(batch), worth([1, 2]))
        spent[counting] = ledger.spent
    assert spent == {"distinct": 2, "calls": 4}


def test_the_empty_and_the_grand_coalition_are_charged_once_in_either_counting():
    for counting in COUNTINGS:
        ledger = Ledger(N, None, counting)
        ledger.enter(ledger.price(rows(0, 7)), worth([0, 7]))
        assert ledger.spent == 2
        ledger.enter(ledger.price(rows(7, 0, 0)), worth([]))
        assert (ledger.spent, ledger.calls) == (2, 2)


def test_known_values_are_free_after_the_budget_is_spent():
    ledger = Ledger(N, 1)
    ledger.enter(ledger.price(rows(5)), worth([5]))
    assert ledger.remaining == 0
    bill = ledger.price(rows(5, 5, 3, 5))
    assert bill.keys == keys(rows(5, 5))
    assert bill.unpaid == []


def test_values_are_returned_in_the_requested_order():
    ledger = Ledger(N)
    answer = ledger.enter(ledger.price(rows(6, 1, 6, 4)), np.array([0.6, 0.1, 0.4]))
    assert answer.tolist() == [0.6, 0.1, 0.6, 0.4]
    assert ledger.look_up(rows(4, 6)).tolist() == [0.4, 0.6]


def test_looking_up_an_unknown_value_fails():
    with pytest.raises(KeyError):
        Ledger(N).look_up(rows(1))


def test_values_for_the_wrong_number_of_coalitions_are_refused():
    ledger = Ledger(N)
    with pytest.raises(ValueError, match="zip"):
        ledger.enter(ledger.price(rows(1, 2)), worth([1]))


def test_a_ledger_is_complete_only_when_all_coalitions_are_known():
    ledger = Ledger(2)
    ledger.enter(ledger.price(rows(3, 1, 0, n=2)), worth([3, 1, 0]))
    assert not ledger.complete
    ledger.enter(ledger.price(rows(2, n=2)), worth([2]))
    assert ledger.complete
    assert ledger.table().tolist() == [10.0, 11.0, 12.0, 13.0]


def test_without_a_budget_a_batch_is_not_shortened():
    ledger = Ledger(N)
    assert ledger.remaining is None
    assert len(ledger.price(rows(*range(8))).keys) == 8
