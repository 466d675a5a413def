"""Saved results are loaded bit-identically, and other files are refused."""

import copy
import dataclasses
import json
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import topshap
from topshap.core.errors import ParameterError
from topshap.core.history import History
from topshap.interop.json_fields import HISTORY, RESULT


def assert_same(one, other):
    for field in dataclasses.fields(one):
        mine, theirs = getattr(one, field.name), getattr(other, field.name)
        if dataclasses.is_dataclass(mine):
            assert_same(mine, theirs)
            continue
        if isinstance(mine, np.ndarray):
            np.testing.assert_array_equal(mine, theirs)
            assert mine.dtype == theirs.dtype
        else:
            assert mine == theirs or (math.isnan(mine) and math.isnan(theirs))
            assert type(mine) is type(theirs)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"algorithm": "odd-gp", "player_names": ["ä", "b c", *"defghi"]},
        {"epsilon": 0.5, "algorithm": "cmcs@k", "guarantee": "published", "budget": None, "value_range": (0.0, 5.0)},
        {"budget": 256},
        {"budget": 5, "algorithm": "approshapley"},
    ],
)
def test_a_saved_result_is_loaded_bit_identically(estimated, tmp_path, options):
    top = estimated(**options)
    top.save(tmp_path / "top.json")
    loaded = topshap.load(tmp_path / "top.json")
    assert_same(top, loaded)
    assert str(loaded) == str(top)
    with pytest.raises(ValueError, match="read-only"):
        loaded.estimates[0] = 0.0


@given(numbers=st.lists(st.floats(-1e302, 1e302), min_size=1, max_size=5), data=st.data())
def test_any_number_is_loaded_as_it_was_saved(estimated, tmp_path_factory, numbers, data):
    path = tmp_path_factory.mktemp("results") / "top.json"
    errors = st.one_of(st.floats(0.0, 1e302), st.just(math.nan))
    std_errors = data.draw(st.lists(errors, min_size=len(numbers), max_size=len(numbers)))
    arrays = {"players": np.array([0]), "estimates": np.array(numbers), "std_errors": np.array(std_errors)}
    top = dataclasses.replace(estimated(), **arrays, covariance=None, history=None)
    top.save(path)
    assert_same(top, topshap.load(path))
    json.loads(path.read_text(encoding="utf-8"), parse_constant=lambda _: pytest.fail("that is no JSON"))


def test_each_field_of_a_result_is_in_the_table():
    assert [field.name for field in dataclasses.fields(topshap.TopK)] == list(RESULT)
    assert [field.name for field in dataclasses.fields(History)] == list(HISTORY)


@pytest.fixture
def saved(estimated, tmp_path):
    """Return the path of a saved result with every optional field, and its content."""
    path = tmp_path / "top.json"
    options = {"algorithm": "swap@k", "guarantee": "credible", "epsilon": 0.01, "value_range": (-1.0, 9.0)}
    estimated(**options, player_names=[*"abcdefgh"], budget=200).save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["covariance"] is not None
    return path, content


WRONG = [
    ({"speed": 1}, "the field 'speed' is unknown"),
    ({"speed": 1, "\x1b[2J": 2}, r"the fields '\\x1b\[2J', 'speed' are unknown"),
    ({"version": 2}, "the field 'version' must be 1, not 2; a newer version of topshap wrote it"),
    ({"version": True}, "the field 'version' must be 1, not True"),
    (
        {"format": "other"},
        "the field 'format' must be one of 'topshap.TopK', 'topshap.TopKs', 'topshap.TopPairs', 'topshap.TopI",
    ),
    ({"players": [0, 0]}, "the field 'players' must be a list of distinct ints from 0 to below 8"),
    ({"players": [99]}, "'players'"),
    ({"players": [-1, 0]}, "'players'"),
    ({"players": [0.5, 1]}, "'players'"),
    ({"players": [True, 0]}, "'players'"),
    ({"players": []}, "'players'"),
    ({"players": [10**30]}, "'players'"),
    ({"estimates": ["many"]}, "the field 'estimates' must be a list of finite numbers, not "),
    ({"estimates": []}, "'estimates'"),
    ({"estimates": {}}, "'estimates'"),
    ({"estimates": ["nan"] + 7 * [1.0]}, "'estimates'"),
    ({"estimates": [None] + 7 * [1.0]}, "'estimates'"),
    ({"estimates": [1e303] + 7 * [1.0]}, "'estimates'"),
    ({"estimates": [10**400] + 7 * [1.0]}, "'estimates'"),
    ({"std_errors": None}, "'std_errors'"),
    ({"std_errors": [1.0]}, "the field 'std_errors' must be a list of 8 numbers of at least 0"),
    ({"std_errors": [-1.0] + 7 * [1.0]}, "'std_errors'"),
    ({"std_errors": ["inf"] + 7 * [1.0]}, "'std_errors'"),
    ({"covariance": [[1.0]]}, "the field 'covariance' must be 8 lists of 8 numbers or null"),
    ({"covariance": [[float(i == j) + (i < j) for i in range(8)] for j in range(8)]}, "must be a symmetric matrix"),
    ({"covariance": [8 * ["nan"] for _ in range(8)]}, "must be a symmetric matrix"),
    ({"covariance": [[-float(i == j) for i in range(8)] for j in range(8)]}, "variances of at least 0"),
    ({"covariance": [8 * [0.0] for _ in range(7)]}, "must be a symmetric matrix"),
    ({"player_names": ["a"]}, "the field 'player_names' must be a list of 8 distinct strings or null"),
    ({"player_names": 8 * ["a"]}, "'player_names'"),
    ({"player_names": "abcdefgh"}, "'player_names'"),
    ({"evaluations": "many"}, "the field 'evaluations' must be an int of at least 0, not 'many'"),
    ({"evaluations": -1}, "'evaluations'"),
    ({"calls": 1.5}, "'calls'"),
    ({"budget": True}, "'budget'"),
    ({"delta": 77}, "the field 'delta' must be a number between 0 and 1, both excluded or null, not 77"),
    ({"delta": None}, "the field 'delta' must be null if and only if 'epsilon' is null"),
    ({"epsilon": -1.0}, "'epsilon'"),
    (
        {"epsilon": None, "delta": None, "stopped": "confident"},
        "'epsilon' must be a number if 'stopped' is 'confident'",
    ),
    ({"stopped": "enough"}, "the field 'stopped' must be one of 'budget', .*, not 'enough'"),
    ({"stopped": ["budget"]}, "'stopped'"),
    ({"counting": "sheep"}, "'counting'"),
    ({"empty": "nan"}, "'empty'"),
    ({"grand": 10**400}, "'grand'"),
    ({"deterministic": 1}, "the field 'deterministic' must be true or false, not 1"),
    ({"guarantee": "firm"}, "'guarantee'"),
    ({"value_range": [1.0, 0.0]}, "the field 'value_range' must be a list of two finite numbers, the lower one first"),
    ({"value_range": [0.0]}, "'value_range'"),
    ({"rule": 5}, "'rule'"),
    ({"random_state": -1}, "'random_state'"),
    ({"rank_by": "name"}, "'rank_by'"),
    ({"history": []}, "the field 'history' must be an object"),
    ({"history": {}}, "the fields 'estimates', 'evaluations', 'std_errors' are missing"),
    (
        {"history": {"evaluations": [2, 1]} | {name: [8 * [0.0]] * 2 for name in ("estimates", "std_errors")}},
        "increasing",
    ),
    (
        {"history": {"evaluations": [1]} | {name: [8 * [0.0]] * 2 for name in ("estimates", "std_errors")}},
        "same length",
    ),
    (
        {"history": {"evaluations": [1]} | {name: [7 * [0.0]] for name in ("estimates", "std_errors")}},
        "history.estimates",
    ),
]


@pytest.mark.parametrize(
    ("change", "message"), WRONG, ids=[f"{i}-{message[:30]}" for i, (_, message) in enumerate(WRONG)]
)
def test_an_invalid_field_is_named(saved, change, message):
    path, content = saved
    path.write_text(json.dumps(content | change), encoding="utf-8")
    with pytest.raises(
        ParameterError, match=f"TopK.save, TopKs.save or Explanations.save wrote. Got '.*top.json': .*{message}"
    ) as error:
        topshap.load(path)
    assert len(str(error.value)) < 600 + len(str(path))


def test_a_missing_field_is_named(saved):
    path, content = saved
    del content["estimates"]
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ParameterError, match="the field 'estimates' is missing"):
        topshap.load(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"{", "not valid JSON"),
        (b"", "not valid JSON"),
        (b"[1, 2]", "the field 'format'"),
        (b'{"format": "topshap.TopK", "version": 1, "version": 1}', "the field 'version' occurs more than once"),
        (b'{"epsilon": NaN}', "NaN is not a number in JSON"),
        (b'{"epsilon": -Infinity}', "-Infinity is not a number in JSON"),
        (b'{"epsilon": ' + 5000 * b"9" + b"}", "not valid JSON"),
        (100_000 * b"[", "nested too deeply"),
        (100_000 * b'{"a":', "nested too deeply"),
        (b'{"format": "\xff"}', "not encoded as UTF-8 at byte 12"),
        ('{"format": "topshap.TopK"}'.encode("utf-16"), "not encoded as UTF-8"),
        (b"\xef\xbb\xbf{}", "not valid JSON"),
    ],
)
def test_a_file_that_is_not_plain_json_is_refused(tmp_path, text, message):
    (tmp_path / "top.json").write_bytes(text)
    with pytest.raises(ParameterError, match=f"top.json': .*{message}"):
        topshap.load(tmp_path / "top.json")


def test_a_number_that_overflows_is_refused(saved):
    path, content = saved
    path.write_text(json.dumps(content | {"epsilon": "#"}).replace('"#"', "1e999"), encoding="utf-8")
    with pytest.raises(
        ParameterError, match="the field 'epsilon' must be a finite number of at least 0 or null, not inf"
    ):
        topshap.load(path)


def test_a_file_that_is_too_large_is_refused(saved, monkeypatch):
    path, _ = saved
    monkeypatch.setattr(topshap.interop.json, "MOST_BYTES", 100)
    with pytest.raises(ParameterError, match="it is larger than 100 bytes"):
        topshap.load(path)


def test_a_file_that_does_not_exist_is_an_error_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        topshap.load(tmp_path / "nowhere.json")


def test_a_covariance_may_be_unknown_where_the_standard_errors_are(saved):
    path, content = saved
    content["std_errors"][0] = "nan"
    for i in range(8):
        content["covariance"][0][i] = content["covariance"][i][0] = "nan"
    path.write_text(json.dumps(content), encoding="utf-8")
    assert np.isnan(topshap.load(path).covariance[0]).all()


def test_fields_that_older_versions_did_not_have_may_be_missing(saved):
    path, content = saved
    for field in dataclasses.fields(topshap.TopK):
        if field.default is not dataclasses.MISSING:
            del content[field.name]
    path.write_text(json.dumps(content), encoding="utf-8")
    assert topshap.load(path).rank_by == "value"


NUMBERS = st.one_of(
    st.sampled_from([0, -1, 1, 2, 7, 8, 0.5, 1e-320, 1e76, -1e302, 1e302, 1e308, -1e308, 2**63, 10**400, True]),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(
        ["nan", "inf", "exact", "confident", "rule", "calls", "magnitude", "lowest", "\x1b[2J\x00\u202e", "\ud800"]
    ),
)
ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, st.text(max_size=8)),
    lambda part: st.one_of(st.lists(part, max_size=9), st.dictionaries(st.text(max_size=8), part, max_size=3)),
    max_leaves=12,
)


def places(content, within=()):
    """Yield the path to every part of a file, with a few of the elements of each list."""
    items = content.items() if isinstance(content, dict) else list(enumerate(content))[:3]
    for name, part in items:
        yield (*within, name)
        if isinstance(part, dict | list):
            yield from places(part, (*within, name))


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_file_with_any_change_is_refused_or_gives_a_result_that_can_be_shown(saved, data, tmp_path):
    path, content = saved
    content = copy.deepcopy(content)
    for _ in range(data.draw(st.integers(1, 3))):
        *within, last = data.draw(st.sampled_from(list(places(content))))
        part = content
        for name in within:
            part = part[name]
        part[last] = data.draw(st.one_of(NUMBERS, ANYTHING))
    path.write_text(json.dumps(content), encoding="utf-8")
    try:
        top = topshap.load(path)
    except ParameterError:
        return
    assert all(line.isprintable() for line in str(top).split("\n"))
    assert top.interval().shape == (8, 2)
    assert math.isnan(top.confidence) or 0.0 <= top.confidence <= 1.0
    assert len(top.to_frame()) == 8
    assert f"Top {top.k} of 8" in top._repr_html_()
    top.to_html(tmp_path / "report.html")
    top.save(path)
    assert_same(top, topshap.load(path))
