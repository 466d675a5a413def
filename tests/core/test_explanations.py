"""Explanations behave like a list of results, whether these are given one by one or as arrays."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topshap
from topshap import Explanations
from topshap.core.errors import ParameterError
from topshap.statistics.ranking import RANK_BY

ARRAYS = ("players", "estimates", "std_errors", "empty", "grand")
INDEXES = st.one_of(
    st.slices(12),
    st.lists(st.integers(-12, 11), max_size=20),
    st.lists(st.booleans(), min_size=12, max_size=12).map(np.array),
    st.lists(st.integers(0, 11), max_size=20).map(lambda rows: np.array(rows, dtype=int)),
)


def cells(n_rows, n, seed=0):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(n_rows, n)).astype(object)
    table[:, 1] = rng.choice(["a", "b"], size=n_rows)
    table[::3, 2] = None
    return table


@pytest.fixture(scope="module", params=["list", "arrays", "outputs", "nested"])
def tops(request, results_as_arrays):
    """Return explanations of 12 rows, made in every way."""
    results = results_as_arrays(12 if request.param in {"list", "arrays"} else 36)
    options = {"data": cells(12, 6), "row_names": [f"row {i}" for i in range(12)]}
    if request.param == "arrays":
        return Explanations(results, **options)
    if request.param == "list":
        return Explanations(list(results), **options)
    if request.param == "outputs":
        return Explanations(results, output_names=["x", "y", "z"], **options)
    nested = [[results[3 * row + output] for output in range(3)] for row in range(12)]
    return Explanations(nested, output_names=["x", "y", "z"], **options)


@given(index=INDEXES)
def test_slicing_commutes_with_everything(tops, index):
    part = tops[index]
    positions = np.arange(12)[index if len(np.shape(index)) == 0 or len(index) else np.array([], dtype=int)]
    assert len(part) == len(positions)
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(part, name), getattr(tops, name)[positions])
    np.testing.assert_array_equal(part.data, tops.data[positions])
    np.testing.assert_array_equal(part.ranking, tops.ranking[positions])
    assert part.names == [tops.names[i] for i in positions]
    assert part.row_names == tuple(tops.row_names[i] for i in positions)
    assert part.output_names == tops.output_names
    assert part.evaluations == 50 * len(positions)
    for one, other in zip(part, (tops[int(i)] for i in positions), strict=True):
        first, second = (one, other) if tops.n_outputs is None else (one[1], other[1])
        np.testing.assert_array_equal(first.estimates, second.estimates)


@given(first=INDEXES, row=st.integers(0, 11))
def test_a_slice_of_a_slice_has_the_same_rows(tops, first, row):
    part = tops[first]
    if row < len(part):
        np.testing.assert_array_equal(part[row:][0:1].estimates, part.estimates[row : row + 1])


def test_an_int_gives_the_result_of_a_row(tops):
    for row in (0, 11, -1, np.int64(3)):
        found = tops[row] if tops.n_outputs is None else tops[row][2]
        expected = tops.estimates[row] if tops.n_outputs is None else tops.estimates[row, 2]
        np.testing.assert_array_equal(found.estimates, expected)
    with pytest.raises(IndexError):
        tops[12]
    with pytest.raises(IndexError):
        tops[np.ones(5, dtype=bool)]
    for wrong in ("a", (1, 2), [1.5], [[1]], None):
        with pytest.raises(TypeError, match="Rows are selected by"):
            tops[wrong]


def test_arrays_and_attributes_agree_with_the_results(tops):
    for row in range(12):
        for output in (None,) if tops.n_outputs is None else range(3):
            place = (row,) if output is None else (row, output)
            top = tops[row] if output is None else tops[row][output]
            for name in ARRAYS:
                np.testing.assert_array_equal(getattr(tops, name)[place], getattr(top, name))
            np.testing.assert_array_equal(tops.ranking[place], top.ranking)
            assert (tops.names[row] if output is None else tops.names[row][output]) == top.names
    assert (tops.k, tops.n_players, tops.rank_by) == (2, 6, "value")
    assert tops.confidence.shape == tops.grand.shape


def test_an_output_is_selected_by_name_or_position(tops):
    if tops.n_outputs is None:
        with pytest.raises(ParameterError, match="'output' parameter of output must be left out"):
            tops.output(0)
        return
    for chosen in (tops.output("y"), tops.output(1), tops[2:].output("y"), tops.output("y")[2:]):
        start = 12 - len(chosen)
        np.testing.assert_array_equal(chosen.estimates, tops.estimates[start:, 1])
        np.testing.assert_array_equal(chosen.confidence, tops.confidence[start:, 1])
        np.testing.assert_array_equal(chosen[0].estimates, tops.estimates[start, 1])
        assert (chosen.n_outputs, chosen.output_names, chosen.evaluations) == (None, ("y",), 50 * len(chosen))
    with pytest.raises(ParameterError, match="'output' parameter of output must be one of 'x', 'y', 'z'"):
        tops.output("yy")
    with pytest.raises(IndexError):
        tops.output(3)


def test_results_as_arrays_are_built_when_they_are_asked_for(results_as_arrays):
    for options in ({}, {"output_names": ["x", "y"]}):
        results = results_as_arrays(1000)
        tops = Explanations(results, **options)
        before = results.built
        assert before < 10
        assert tops[5:300][::2].confidence.shape == tops[5:300][::2].grand.shape
        _ = tops.importance(), tops.names, tops.ranking, tops.evaluations
        assert results.built == before


def test_explanations_survive_pickling(tops):
    again = pickle.loads(pickle.dumps(tops[2:5]))
    np.testing.assert_array_equal(again.estimates, tops.estimates[2:5])
    assert len(list(again)) == 3


@given(rank_by=st.sampled_from(RANK_BY), seed=st.integers(0, 20), k=st.integers(1, 6))
def test_the_ranking_is_that_of_each_row(results_as_arrays, rank_by, seed, k):
    tops = Explanations(results_as_arrays(5, k=k, seed=seed, rank_by=rank_by))
    for row, top in enumerate(tops):
        np.testing.assert_array_equal(tops.ranking[row], top.ranking)


def test_arrays_cannot_be_changed(tops):
    for array in (tops.estimates, tops.std_errors, tops.players, tops.empty, tops.grand, tops.data):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_no_rows_are_no_error(tmp_path):
    for none in (Explanations([]), Explanations([topshap.identify(topshap.games.AdditiveGame([1.0]), k=1)])[:0]):
        assert len(none) == 0
        assert none.names == []
        assert none.to_frame().empty
        assert "0 explanations" in str(none)
        assert none._repr_html_()
        none.save(tmp_path / "none.json")
        assert len(topshap.load(tmp_path / "none.json")) == 0
        none.to_html(tmp_path / "none.html")


def test_player_values_of_results_become_the_data(results_as_arrays):
    values = cells(4, 6)
    tops = Explanations(results_as_arrays(4, values=values))
    np.testing.assert_array_equal(tops.data, values)


def test_an_int_of_hundreds_of_digits_is_text(tmp_path):
    tops = Explanations([additive()], data=[[10**5000, 2**70, 1]])
    assert tops.data.tolist() == [["int of 16610 bits", 2**70, 1]]
    assert "int of 16" in str(tops)
    tops.save(tmp_path / "tops.json")
    assert topshap.load(tmp_path / "tops.json").data.tolist() == tops.data.tolist()
    tops.to_html(tmp_path / "tops.html")


def additive(weights=(3.0, 1.0, 2.0), k=1, **options):
    return topshap.identify(topshap.games.AdditiveGame(weights), k=k, **options)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Explanations([additive(), additive([1.0, 2.0])]), "results for the same players. Got n_players=3 and"),
        (lambda: Explanations([additive(), additive(k=2)]), "results for the same k. Got k=1 and k=2"),
        (lambda: Explanations([additive(), additive(rank_by="lowest")]), "results for the same rank_by"),
        (lambda: Explanations([additive(), additive(player_names=list("abc"))]), "results for the same players"),
        (lambda: Explanations([additive(), 3]), "a sequence of TopK, or of sequences of TopK. Got a int"),
        (lambda: Explanations([[additive()], [additive()] * 2]), "results for the same outputs, the same players"),
        (lambda: Explanations([additive()] * 3, output_names="ab"), "a multiple of 2. Got 3 results"),
        (lambda: Explanations([additive()], data=[[1, 2]]), r"'data' parameter of Explanations .* shape \(1, 3\)"),
        (lambda: Explanations([additive()], row_names="ab"), "'row_names' parameter of Explanations must be 1 names"),
        (lambda: Explanations([[additive()]], output_names="ab"), "'output_names' parameter of Explanations"),
        (lambda: Explanations([additive()]).plot("pie"), "'kind' parameter.* 'beeswarm', 'bar' or 'heat_map'"),
    ],
)
def test_what_does_not_fit_is_refused(make, message):
    with pytest.raises(ParameterError, match=message):
        make()
