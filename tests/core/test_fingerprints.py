"""Fingerprints: equal for the same game in any process, different if a value may differ, None if not computable."""

import functools
import pickle
import re
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from topshap import games
from topshap.core.errors import ParameterError
from topshap.games import fingerprint_of

X, Y = load_iris(return_X_y=True)
SCALE = 2.0


def fingerprint(part):
    return fingerprint_of("test", part=part)


plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
nested = st.recursive(plain, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)


@given(nested, nested)
def test_parts_have_the_same_fingerprint_if_and_only_if_they_are_equal(one, other):
    assert fingerprint(one) == fingerprint(pickle.loads(pickle.dumps(one)))
    assert (fingerprint(one) == fingerprint(other)) == (
        repr(one) == repr(other) or (one == other and type(one) is type(other))
    )


def test_fingerprints_depend_on_structure_and_type_but_not_on_the_order_of_dicts_and_sets():
    assert fingerprint(["a", "b"]) != fingerprint(["ab"]) != fingerprint([["a"], "b"])
    assert fingerprint((1, 2)) != fingerprint([1, 2])
    assert fingerprint(1) != fingerprint(1.0) != fingerprint(True)
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    assert fingerprint({3, 1, 2}) == fingerprint({2, 3, 1})


def test_fingerprints_of_arrays_depend_on_dtype_shape_and_content():
    array = np.arange(6.0)
    assert fingerprint(array) == fingerprint(array[::-1][::-1])
    different = [array, array.astype(np.float32), array.reshape(2, 3), array + 1, array.astype(object)]
    assert len({fingerprint(each) for each in different}) == len(different)


def test_padding_between_the_fields_of_an_array_is_ignored():
    aligned = np.dtype([("small", "i1"), ("large", "f8")], align=True)
    fingerprints = set()
    for padding in (0, 255):
        rows = np.frombuffer(bytearray([padding] * 2 * aligned.itemsize), dtype=aligned).copy()
        rows["small"], rows["large"] = 1, 2.0
        fingerprints.add(fingerprint(rows))
    assert len(fingerprints) == 1


@pytest.mark.parametrize("library", [pd, pl])
def test_fingerprints_of_frames_depend_on_names_dtypes_and_values(library):
    columns = {"a": [1, 2, 3], "b": ["x", None, "z"]}
    frame = library.DataFrame(columns)
    assert fingerprint(frame) == fingerprint(library.DataFrame(columns))
    renamed = library.DataFrame({"a": [1, 2, 3], "c": ["x", None, "z"]})
    floats = library.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["x", None, "z"]})
    other = library.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"]})
    assert len({fingerprint(each) for each in (frame, renamed, floats, other)}) == 4


def test_unused_categories_change_the_fingerprint():
    used, unused = pd.CategoricalDtype(["u"]), pd.CategoricalDtype(["u", "v"])
    assert fingerprint(pd.Series(["u"], dtype=used)) != fingerprint(pd.Series(["u"], dtype=unused))


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(3, random_state=0),
        GradientBoostingClassifier(n_estimators=2, random_state=0),
        make_pipeline(StandardScaler(), LogisticRegression()),
        KNeighborsClassifier(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_fingerprints_of_models_depend_on_their_fitted_state(model):
    fitted = clone(model).fit(X, Y)
    same, other = clone(model).fit(X, Y), clone(model).fit(X[:-1], Y[:-1])
    before = fingerprint(fitted)
    fitted.predict(X)  # some models count how often they are used
    assert before == fingerprint(fitted) == fingerprint(same)
    different = (fitted, other, model, fitted.predict, fitted.predict_proba)
    assert len({fingerprint(each) for each in different}) == 5


def test_fingerprints_of_functions_depend_on_code_and_used_values():
    def scaled(by):
        return lambda x: x * by

    one, other = (lambda x: x + 1), (lambda x: x + 2)  # on one line, as in a list of games
    assert fingerprint(one) != fingerprint(other)
    assert fingerprint(scaled(2)) == fingerprint(scaled(2)) != fingerprint(scaled(3))
    assert fingerprint(functools.partial(pow, 2)) != fingerprint(functools.partial(pow, 3))
    assert fingerprint(np.mean) == fingerprint(np.mean) != fingerprint(np.median)
    fitted = KNeighborsClassifier().fit(X, Y)
    other_fit = KNeighborsClassifier(3).fit(X, Y)
    assert fingerprint(lambda rows: fitted.predict(rows + 1)) is not None
    assert fingerprint(scaled(fitted)) != fingerprint(scaled(other_fit))


def times_scale(x):
    return [each * SCALE for each in x]


def test_a_global_variable_that_a_function_uses_changes_its_fingerprint(monkeypatch):
    before = fingerprint(times_scale)
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert fingerprint(times_scale) != before


def test_fingerprints_of_custom_classes_depend_on_their_code():
    def make(weight):
        class Model:
            def __init__(self):
                self.bias = 1.0

            def __call__(self, rows):
                return rows.sum(axis=1) * weight + self.bias

        return Model()

    assert fingerprint(make(1)) == fingerprint(make(1)) != fingerprint(make(2))


def test_an_object_that_cannot_be_fingerprinted_has_no_fingerprint(tmp_path):
    lock = threading.Lock()
    with (tmp_path / "file").open("w") as file:
        for opaque in (lock, lambda x: (x, lock), file, [1, {"deep": lock}], iter([1, 2]), (i for i in range(3))):
            assert fingerprint(opaque) is None


def test_an_object_that_contains_itself_has_a_fingerprint():
    loop = [1]
    loop.append(loop)
    assert fingerprint(loop) is not None


def test_fingerprints_are_the_same_in_another_process(capsys):
    code = (
        "from sklearn.datasets import load_iris\n"
        "from sklearn.ensemble import RandomForestClassifier\n"
        "from topshap.games import PredictionGame\n"
        "X, y = load_iris(return_X_y=True)\n"
        "model = RandomForestClassifier(3, random_state=0).fit(X, y)\n"
        "names = {'one', 'two', 'three'}\n"
        "predict = lambda rows: model.predict_proba(rows)[:, :len(names)]\n"
        "print(PredictionGame(predict, X[0], X, output=1).fingerprint, end='')\n"
    )
    there = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": "1", "OMP_NUM_THREADS": "1"},
    ).stdout
    exec(compile(code, "<string>", "exec"), {})  # noqa: S102 - our own code
    assert len(there) == 64
    assert capsys.readouterr().out == there


EVERY_GAME = {
    "additive": lambda w: games.AdditiveGame([1.0, w]),
    "unanimity": lambda w: games.UnanimityGame([[0, 1]], [w], n_players=2),
    "airport": lambda w: games.AirportGame([1.0, w]),
    "glove": lambda w: games.GloveGame(1, int(w)),
    "all": lambda w: games.AllOrNothingGame(int(w)),
    "voting": lambda w: games.VotingGame([1, 4], quota=int(w)),
    "table": lambda w: games.TableGame([0.0, w]),
    "function": lambda w: games.per_coalition(lambda coalition: w * coalition.sum(), n_players=2),
    "prediction": lambda w: games.PredictionGame(lambda rows: rows[:, 0] * w, [1.0, 2.0], [[0.0, 0.0]]),
    "retraining": lambda w: games.RetrainingGame(LogisticRegression(C=w), X, Y, cv=2),
    "data": lambda w: games.DataGame(LogisticRegression(C=w), X[::9], Y[::9], X, Y),
    "ensemble": lambda w: games.EnsembleGame([LogisticRegression(C=w).fit(X, Y)], X, Y),
    "unsupervised": lambda w: games.UnsupervisedGame(X, shrinkage=w / 10),
    "text": lambda w: games.TextGame(lambda texts: [w * len(text) for text in texts], "to be or not"),
    "image": lambda w: games.ImageGame(lambda images: w * images.sum(axis=(1, 2)), np.eye(4), segments=np.eye(4)),
}


@pytest.mark.parametrize("make", EVERY_GAME.values(), ids=EVERY_GAME)
def test_the_fingerprint_of_a_game_depends_on_its_parameters(make):
    first = make(2.0).fingerprint
    assert len(first) == 64
    assert first == make(2.0).fingerprint != make(3.0).fingerprint


def test_games_of_different_classes_have_different_fingerprints():
    assert len({make(2.0).fingerprint for make in EVERY_GAME.values()}) == len(EVERY_GAME)  # type: ignore[attr-defined]


def test_groups_change_the_fingerprint_and_feature_names_do_not():
    def game(**options):
        return games.UnsupervisedGame(X, **options).fingerprint

    fingerprints = {game(), game(groups={"both": [0, 1]}), game(always=[0]), game(groups={"both": [0, 2]})}
    assert len(fingerprints) == 4
    assert game() == game(feature_names=["a", "b", "c", "d"])


def test_a_function_may_be_named_by_the_user():
    lock = threading.Lock()

    def score(texts):
        with lock:
            return [len(text) for text in texts]

    assert games.TextGame(score, "to be").fingerprint is None
    named = games.TextGame(score, "to be", fingerprint="lengths, v1").fingerprint
    assert re.fullmatch("lengths, v1:[0-9a-f]{64}", named)
    assert named == games.TextGame(score, "to be", fingerprint="lengths, v1").fingerprint
    assert re.fullmatch("mine:[0-9a-f]{64}", games.per_coalition(score, 2, fingerprint="mine").fingerprint)
    for wrong in ("", 3):
        with pytest.raises(
            ParameterError, match="'fingerprint' parameter of TextGame must be a non-empty string that identifies"
        ):
            games.TextGame(score, "to be", fingerprint=wrong)


class Opaque:
    """A function or a model that cannot be fingerprinted."""

    fingerprint = None
    classes_ = np.array([0, 1])

    def __call__(self, *inputs):
        return 0.0 if len(inputs) == 3 else np.zeros(len(inputs[0]))


class OpaqueClassifier(DecisionTreeClassifier):
    """An estimator that cannot be fingerprinted."""

    fingerprint = None


DATA = np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 2.0], [2.0, 1.0, 1.0], [3.0, 0.0, 4.0], [5.0, 2.0, 3.0], [4.0, 2.0, 0.0]])
LABELS = np.array([0, 1, 0, 1, 0, 1])
PICTURE, ROWS = np.eye(4), np.arange(16).reshape(4, 4) // 4
MODELS = [KNeighborsClassifier(n).fit(DATA, LABELS) for n in (1, 2)]


def text(text=("to", "be", "or"), **options):
    return games.TextGame(Opaque(), text, fingerprint="v1", **options)


def image(image=PICTURE, segments=ROWS, **options):
    return games.ImageGame(Opaque(), image, segments=segments, fingerprint="v1", **{"fill": 0.0} | options)


def prediction(x=DATA[0], background=DATA, **options):
    return games.PredictionGame(Opaque(), x, background, fingerprint="v1", **options)


def retraining(X=DATA, y=LABELS, depth=1, **options):
    return games.RetrainingGame(OpaqueClassifier(max_depth=depth), X, y, fingerprint="v1", **{"cv": 2} | options)


def data(X=DATA, y=LABELS, X_test=DATA, y_test=LABELS, **options):
    return games.DataGame(OpaqueClassifier(), X, y, X_test, y_test, fingerprint="v1", **options)


def ensemble(members=MODELS, X=DATA, y=LABELS, **options):
    return games.EnsembleGame(members, X, y, scoring=Opaque(), fingerprint="v1", **options)


def unsupervised(X=DATA, **options):
    return games.UnsupervisedGame(X, fingerprint="v1", **options)


def per_coalition(n_players=3, **options):
    return games.per_coalition(Opaque(), n_players, **{"fingerprint": "v1"} | options)


NAMED = {
    text: [
        {"text": ("to", "be", "not")},
        {"text": ("to", "be", "or", "not")},
        {"always": [2]},
        {"groups": {"both": [0, 1]}},
        {"groups": {"both": [1, 2]}},
        {"mask": "_"},
        {"separator": " "},
    ],
    image: [
        {"image": PICTURE + 1.0},
        {"segments": ROWS.T},
        {"fill": 1.0},
        {"groups": {"both": [0, 1]}},
        {"always": [0]},
    ],
    prediction: [
        {"x": DATA[1]},
        {"background": DATA[:4]},
        {"imputer": "marginal"},
        {"imputer": "conditional"},
        {"groups": {"both": [0, 1]}},
        {"output": 0},
        {"categorical": [0]},
    ],
    retraining: [
        {"X": DATA + 1.0},
        {"y": 1 - LABELS},
        {"cv": 3},
        {"scoring": "f1"},
        {"random_state": 1},
        {"always": [0]},
        {"groups": {"both": [0, 1]}},
    ],
    data: [
        {"X": DATA + 1.0},
        {"y": 1 - LABELS},
        {"X_test": DATA[::-1]},
        {"y_test": 1 - LABELS},
        {"min_points": 2},
        {"scoring": "f1"},
        {"random_state": 1},
        {"always": [0]},
    ],
    ensemble: [{"members": MODELS[::-1]}, {"X": DATA[::-1]}, {"y": 1 - LABELS}, {"always": [0]}],
    unsupervised: [{"X": DATA[:5]}, {"method": "discrete"}, {"shrinkage": 0.5}, {"always": [0]}],
    per_coalition: [{"n_players": 4}, {"player_names": ["a", "b", "c"]}, {"fingerprint": "v2"}],
}


@pytest.mark.parametrize("make", NAMED, ids=lambda make: make.__name__)
def test_a_name_replaces_only_the_hash_of_the_function(make):
    """The fingerprint still depends on documents, data, options and players."""
    fingerprints = [make().fingerprint, *(make(**change).fingerprint for change in NAMED[make])]  # type: ignore[attr-defined]
    assert all(re.fullmatch("v[12]:[0-9a-f]{64}", fingerprint) for fingerprint in fingerprints)
    assert len(set(fingerprints)) == len(fingerprints)
    assert make().fingerprint == fingerprints[0]


def test_a_named_estimator_may_change_without_changing_the_fingerprint():
    first = retraining(depth=1).fingerprint
    assert first == retraining(depth=2).fingerprint
    assert first == games.RetrainingGame(LogisticRegression(), DATA, LABELS, cv=2, fingerprint="v1").fingerprint


def test_a_name_also_replaces_a_part_that_cannot_be_fingerprinted():
    first, again, other = (retraining(scoring=Opaque(), cv=cv).fingerprint for cv in (2, 2, 3))
    assert first == again != other


def test_the_seed_changes_the_fingerprint_only_for_estimators_that_use_it():
    def game(estimator, seed):
        return games.RetrainingGame(estimator, DATA, LABELS, cv=2, random_state=seed, fingerprint="v1").fingerprint

    assert game(KNeighborsClassifier(1), 0) == game(KNeighborsClassifier(1), 1)
    assert game(OpaqueClassifier(), 0) != game(OpaqueClassifier(), 1)
    assert game(OpaqueClassifier(random_state=3), 0) == game(OpaqueClassifier(random_state=3), 1)
