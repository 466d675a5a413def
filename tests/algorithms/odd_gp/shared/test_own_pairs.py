import numpy as np
import pytest

from topshap.algorithms.odd_gp.active import most_informative
from topshap.algorithms.odd_gp.designs import first_design, pair_keys, unused_pairs
from topshap.algorithms.odd_gp.posterior import OddPosterior
from topshap.algorithms.odd_gp.shared.own_pairs import MAX_SHARE, OwnPairs, seen_blocks
from topshap.algorithms.odd_gp.shared.pairs import SharedPairs
from topshap.algorithms.odd_gp.shared.pool import NONE, CandidatePool
from topshap.algorithms.odd_gp.shared.process import SharedProcess
from topshap.core.coalitions import with_complements


@pytest.fixture
def game(table_of_rows, models):
    return table_of_rows(models["forest"], n=9)


@pytest.fixture
def process(game):
    design = first_design(9, 20, np.random.default_rng(0), singles_first=False)
    pairs = SharedPairs(9, game.table[[0, -1]])
    pairs.add(design, game(with_complements(design)))
    process = SharedProcess(np.random.default_rng(0))
    process.learn(pairs, iterations=10)
    return process


@pytest.fixture
def candidates(process):
    return unused_pairs(9, set(pair_keys(process.posterior.x > 0)), 60, np.random.default_rng(1))


@pytest.fixture
def pool(process, candidates):
    return CandidatePool.of(process.posterior, candidates)


@pytest.fixture
def own(process, pool, candidates):
    mean = process.predict(np.where(candidates, 1.0, -1.0), np.arange(24))
    return OwnPairs(process, pool, process.estimate(), mean, k=3, rank_by="value")


def odd_parts(game, wanted):
    values = game(with_complements(wanted.coalitions), np.repeat(wanted.outputs, 2, axis=0))
    return (values[0::2] - values[1::2]) / 2.0


def test_a_single_output_chooses_as_an_algorithm_for_one_output_does(pool, process, candidates):
    contrasts = np.linalg.cholesky(process.posterior.covariance + 0.01 * np.eye(9)).T
    x = np.where(candidates, 1.0, -1.0)
    expected = most_informative(process.posterior, x, contrasts, 8)
    chosen = pool.choose(contrasts[None], np.full((1, 0), NONE), np.array([8]))
    assert chosen[0].tolist() == expected.tolist()


def test_choices_continue_from_the_pairs_that_were_seen(pool, process, candidates):
    contrasts = np.linalg.cholesky(process.posterior.covariance + 0.01 * np.eye(9)).T
    first = pool.choose(contrasts[None], np.full((1, 0), NONE), np.array([3]))
    x = np.where(candidates, 1.0, -1.0)
    both = np.concatenate([process.posterior.x, x[first[0]]])
    later = OddPosterior(process.posterior.kernel, both, np.zeros(len(both)))
    rest = np.setdiff1d(np.arange(len(candidates)), first[0])
    expected = rest[most_informative(later, x[rest], contrasts, 3)]
    assert pool.choose(contrasts[None], first, np.array([3]))[0].tolist() == expected.tolist()


def test_choices_do_not_depend_on_the_other_outputs_of_a_block(pool):
    rng = np.random.default_rng(0)
    roots = rng.normal(size=(4, 9, 9))
    seen = np.array([[1, 2, 5], [3, NONE, NONE], [4, 0, NONE], [NONE, NONE, NONE]])
    together = pool.choose(roots, seen, np.array([7, 7, 4, 2]))
    for output, count in enumerate((7, 7, 4, 2)):
        alone = pool.choose(roots[output : output + 1], seen[output : output + 1], np.array([count]))
        assert len(set(together[output, :count]) | set(seen[output])) == count + len(set(seen[output]))
        if count == 7:  # the others have a longer list to choose from
            assert together[output].tolist() == alone[0].tolist()
        assert (together[output, count:] == NONE).all()


def test_the_estimate_is_that_of_a_process_that_has_seen_all_pairs_of_the_output(game, process, own):
    rng = np.random.default_rng(0)
    for _ in range(2):
        wanted = own.choose(4, rng)
        own.add(wanted, odd_parts(game, wanted))
    estimate = own.estimate
    for output in range(3):
        seen = own._seen[output][own._seen[output] != NONE]
        x = np.concatenate([process.posterior.x, np.where(own._pool.coalitions[seen], 1.0, -1.0)])
        values = game(x > 0)[:, output] - game(x < 0)[:, output]
        whole = OddPosterior(process.posterior.kernel, x, values / 2.0)
        gain = game.table[-1, output] - game.table[0, output]
        expected = whole.shapley_values + (gain - whole.shapley_values.sum()) / 9
        assert estimate.values[output] == pytest.approx(expected, abs=1e-7 * np.ptp(expected))
        covariance = estimate.factors[output] * whole.covariance
        assert estimate.covariance_of(output) == pytest.approx(covariance, abs=1e-7 * np.trace(covariance))
        assert estimate.std_errors[output] == pytest.approx(np.sqrt(np.diag(covariance)), rel=1e-5)


def test_outputs_get_pairs_by_doubt_and_within_limits(own):
    wanted = own.choose(5, np.random.default_rng(0))
    counts = wanted.outputs.sum(axis=0)
    assert counts.sum() == 5 * 24
    assert counts.max() <= MAX_SHARE * 5
    regrets = own._regrets()
    assert np.corrcoef(regrets**0.5, counts)[0, 1] > 0.9


def test_a_prefix_of_the_pairs_may_be_added(game, own):
    wanted = own.choose(3, np.random.default_rng(0))
    own.add(wanted, odd_parts(game, wanted)[:5])
    assert (own._seen != NONE).sum() == wanted.outputs[:5].sum()
    assert np.isfinite(own.estimate.values).all()


def test_outputs_with_about_as_many_pairs_are_treated_together(pool):
    seen = np.full((500, 40), NONE)
    seen[::7] = np.arange(40)
    blocks = list(seen_blocks(seen, pool))
    assert sorted(np.concatenate([part for part, _ in blocks])) == list(range(500))
    assert blocks[-1][1].shape[1] < 40
