"""The units of trained networks: the bandit, the rankings without coalitions, and the command."""

import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from topshap.games import AdditiveGame, NeuronGame
from topshap_bench.cli import build
from topshap_bench.neurons.bandit import Bandit, run_bandit
from topshap_bench.neurons.comparison import compare_neurons

WEIGHTS = np.array([0.3, 0.02, 0.2, 0.01, 0.0, 0.02, 0.25, 0.0])


@pytest.mark.parametrize("bound", ["normal", "bernstein"])
def test_the_bandit_finds_the_top_players_and_stops(bound):
    options = {"bound": bound, "tolerance": 0.01, "chance": -10.0, "budget": 20_000, "seed": 0}
    state = run_bandit(AdditiveGame(WEIGHTS), 8, 3, **options)
    assert state.stopped
    assert set(np.argsort(-state.estimates)[:3].tolist()) == {0, 2, 6}
    np.testing.assert_allclose(state.estimates, WEIGHTS, atol=1e-12)
    assert state.history[-1][0] == state.evaluations


def test_the_bandit_evaluates_a_permutation_once_and_skips_players_that_are_decided():
    options = {"bound": "bernstein", "tolerance": 0.01, "chance": -10.0, "seed": 0}
    first = run_bandit(AdditiveGame(WEIGHTS), 8, 3, budget=2, **options)
    assert first.evaluations == 1 + 8
    whole = run_bandit(AdditiveGame(WEIGHTS), 8, 3, budget=20_000, **options)
    assert whole.evaluations < 1 + 8 * len(whole.history)


def test_a_truncated_iteration_ends_after_six_low_values():
    state = run_bandit(AdditiveGame(np.zeros(8)), 8, 3, bound="normal", tolerance=0.0, chance=0.1, budget=2, seed=0)
    assert state.evaluations == 1 + 6
    assert not state.estimates.any()


def test_bernstein_bounds_are_wider_than_normal_ones():
    samples = np.random.default_rng(0).normal(scale=0.01, size=(20, 8)) + WEIGHTS
    wide, narrow = (Bandit(8, 3, bound, tolerance=0.0) for bound in ("bernstein", "normal"))
    for row in samples:
        wide.add(row)
        narrow.active[:] = True
        narrow.add(row)
    assert wide.active.all()
    assert not narrow.active[[0, 2, 6]].any()


def test_a_network_depends_on_the_units_that_are_found():
    pytest.importorskip("torch", reason="torch is in the extra 'torch'")
    import topshap
    from topshap_bench.neurons.activations import activation_scores
    from topshap_bench.neurons.networks import accuracy_without, train

    trained = train("convolutional", 0)
    assert trained.game.n_players == 200
    top = topshap.identify(trained.game, k=10, budget=800, random_state=0)
    left = accuracy_without(trained.held_out, top.players)
    scores = activation_scores("convolutional", trained)
    assert set(scores) == {"norm", "gradient", "|gradient|"}
    for name in ("norm", "gradient"):
        assert left < accuracy_without(trained.held_out, np.argsort(-scores[name])[:10]) - 0.05
    random = np.random.default_rng(0).choice(200, 10, replace=False)
    assert left < accuracy_without(trained.held_out, random) - 0.2


def test_a_transformer_has_scores_for_heads_and_neurons():
    torch = pytest.importorskip("torch", reason="torch is in the extra 'torch'")
    from topshap_bench.neurons import networks
    from topshap_bench.neurons.activations import activation_scores

    module = networks.transformer(torch.nn).eval()
    kind = networks.KINDS["transformer"]
    game = NeuronGame(module, kind.layers, torch.rand(5, 8, 8), torch.arange(5), unit=kind.units)
    scores = activation_scores("transformer", networks.Trained(module, game, game))
    assert all(values.shape == (200,) for values in scores.values())
    # Without its activation, the log-probability changes by about gradient times activation.
    assert (scores["|gradient|"] >= np.abs(scores["gradient"]) - 1e-9).all()
    assert all(parameter.grad is None for parameter in module.parameters())


def test_the_command_prints_its_tables(tmp_path):
    pytest.importorskip("torch", reason="torch is in the extra 'torch'")
    report = tmp_path / "neurons.txt"
    limits = ["--network", "convolutional", "--seeds", "1", "--budget", "250", "--most", "420"]
    result = CliRunner().invoke(build(), ["neurons", *limits, "--out", str(report)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert "without the top 10" in result.output
    assert "bandit, Bernstein" in result.output
    assert report.read_text(encoding="utf-8").strip() in result.output


def test_the_comparison_names_the_extra_without_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"topshap-bench neurons needs torch: pip install 'topshap-bench\[torch\]'"):
        compare_neurons()
