import numpy as np
import pytest
from typer.testing import CliRunner

from topshap_bench.cli import build
from topshap_bench.prompts.comparison import KINDS, PromptGame, needed_calls
from topshap_bench.prompts.context_cite import context_cite, lasso_weights
from topshap_bench.prompts.planted import copied, in_pairs
from topshap_bench.summary import Share


@pytest.mark.parametrize("kind", KINDS)
def test_planted_documents_raise_the_probability_of_the_answer(kind):
    prompt = KINDS[kind](12, seed=2)
    game = PromptGame(prompt)
    n = game.n_players
    everything = np.ones((1, n), dtype=bool)
    without = game(~np.eye(n, dtype=bool))
    loss = game(everything) - without
    assert set(np.argsort(-loss)[: len(prompt.planted)].tolist()) == prompt.planted


def test_documents_of_a_pair_are_useless_alone():
    prompt = in_pairs(12, seed=2)
    game, planted = PromptGame(prompt), sorted(prompt.planted)
    alone = game(np.eye(16, dtype=bool)[planted]) - game(np.zeros((1, 16), dtype=bool))
    removed = game(np.ones((1, 16), dtype=bool)) - game(~np.eye(16, dtype=bool)[planted])
    assert alone.max() < 0.5 * removed.min()


def test_the_recipe_of_context_cite_finds_copied_documents_with_enough_calls():
    prompt = copied(12, seed=0)
    found = context_cite(PromptGame(prompt), 15, 3, calls=64, tokens=20, seed=0)
    assert set(found.tolist()) == prompt.planted


def test_the_lasso_has_one_weight_per_document():
    masks = np.random.default_rng(0).random((50, 4)) < 0.5
    assert lasso_weights(masks, 3.0 * masks[:, 1]) == pytest.approx([0.0, 3.0, 0.0, 0.0], abs=0.1)


def test_the_calls_needed_are_those_from_which_on_the_goal_is_reached():
    counts = {("a", 16): Share(96, 100), ("a", 32): Share(94, 100), ("a", 64): Share(95, 100)}
    assert needed_calls(counts, "a", (16, 32, 64)) == 64
    assert needed_calls(counts, "a", (16, 32)) is None


def test_the_command_prints_both_methods():
    arguments = ["prompts", "--kind", "copied", "--distractors", "12", "--calls", "16", "--runs", "2", "--jobs", "1"]
    result = CliRunner().invoke(build(), arguments)
    assert result.exit_code == 0, result.output
    assert "ContextCite" in result.output
    assert "copied   12           topshap      1.00" in result.output
