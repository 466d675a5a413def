"""Saved results are loaded bit-identically, and other files are refused."""

import dataclasses
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topshap
from topshap.core.errors import ParameterError


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


@given(numbers=st.lists(st.floats(), min_size=1, max_size=5))
def test_any_number_is_loaded_as_it_was_saved(estimated, tmp_path_factory, numbers):
    path = tmp_path_factory.mktemp("results") / "top.json"
    top = dataclasses.replace(
        estimated(), players=np.array([0]), estimates=np.array(numbers), std_errors=np.array(numbers), covariance=None
    )
    top.save(path)
    assert_same(top, topshap.load(path))
    json.loads(path.read_text(encoding="utf-8"), parse_constant=lambda _: pytest.fail("that is no JSON"))


def test_files_of_another_kind_are_refused(estimated, tmp_path):
    path = tmp_path / "top.json"
    estimated().save(path)
    assert topshap.load(path).history is not None
    content = json.loads(path.read_text(encoding="utf-8"))
    wrong = {
        "cannot be read as JSON": "{",
        "which is not a saved result": json.dumps([1, 2]),
        "not a saved result": json.dumps({"format": "other"}),
        "version 2; this version of topshap reads version 1": json.dumps(content | {"version": 2}),
        "'speed'": json.dumps(content | {"speed": 1}),
        "'estimates'": json.dumps({name: part for name, part in content.items() if name != "estimates"}),
        "could not convert": json.dumps(content | {"estimates": ["many"]}),
        "do not fit together": json.dumps(content | {"players": [99]}),
        "estimates and standard errors do not fit": json.dumps(content | {"std_errors": None}),
        "infinity to integer": json.dumps(content | {"players": [math.inf]}),
        "'evaluations' is 'many'": json.dumps(content | {"evaluations": "many"}),
        "'stopped' is 'enough'": json.dumps(content | {"stopped": "enough"}),
        "epsilon and delta are not given together": json.dumps(content | {"epsilon": 0.1, "delta": None}),
        "standard errors do not fit": json.dumps(content | {"std_errors": [1.0]}),
        "covariance does not fit": json.dumps(content | {"covariance": [[1.0]]}),
        "names do not fit": json.dumps(content | {"player_names": ["a"]}),
    }
    for message, text in wrong.items():
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ParameterError, match=f"TopK.save wrote.*{message}"):
            topshap.load(path)
    with pytest.raises(FileNotFoundError):
        topshap.load(tmp_path / "nowhere.json")
