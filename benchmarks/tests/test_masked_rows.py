"""The CPU time of masked rows besides the model."""

import pytest

from topshap_bench.masked_rows import Cost, masked_rows, report


def test_every_model_and_kind_of_values_is_measured():
    pytest.importorskip("lightgbm")
    costs = masked_rows([2, 20], models=["lightgbm", "none"], features=6, coalitions=5, background=10)
    assert [(cost.model, cost.values, cost.rows) for cost in costs] == [
        (model, values, rows)
        for model in ("lightgbm", "none")
        for values in ("continuous", "rounded")
        for rows in (2, 20)
    ]
    for cost in costs:
        assert cost.own > 0.0
        assert cost.asked == cost.rows * 5 * 10
        assert cost.predicted <= cost.asked + 2  # two rows are predicted when the game is created


def test_the_report_has_times_per_row():
    line = report([Cost("none", 10, "rounded", own=0.1, of_model=0.3, predicted=100_000, asked=200_000)]).splitlines()[
        1
    ]
    assert line.split() == ["none", "rounded", "10", "10.000", "30.000", "25.0%", "1000", "50.0%"]
