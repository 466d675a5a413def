"""Adversarial games have the properties they are named after."""

import numpy as np
import pytest

from topshap.core.coalitions import from_ids
from topshap_bench.adversarial import KINDS, N_PLAYERS, K, adversarial_game

ALL = from_ids(np.arange(2**N_PLAYERS), N_PLAYERS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_game_is_determined_by_its_number(kind):
    first, again, other = (adversarial_game(kind, number)(ALL) for number in (3, 3, 4))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(("kind", "part"), [("near-tie", 0.01), ("tie", 0.0)])
def test_the_gap_at_the_border_is_the_stated_part_of_the_range(kind, part):
    """The player next to the border is raised by a part of the original range, which hardly changes the range."""
    for number in range(5):
        phi = np.sort(adversarial_game(kind, number).shapley_values())[::-1]
        assert phi[K - 1] - phi[K] == pytest.approx(part * np.ptp(phi), rel=0.2, abs=1e-9)


def test_the_documented_heavy_tail_game_has_a_spike():
    values = np.sort(adversarial_game("heavy-tail", 35)(ALL))
    assert values[1] - values[0] > 15 * (values[-1] - values[1])
