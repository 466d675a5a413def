"""Names in fingerprints: they stay the same when a function or class moves, since existing stores contain them."""

import importlib

import numpy as np
import pytest

from topshap.core.fingerprint_names import is_importable, is_installed, recorded_name, version_of


@pytest.mark.parametrize(
    ("module", "name", "recorded"),
    [
        ("topshap.games.prediction", "PredictionGame", "topshap.games.prediction.PredictionGame"),
        ("topshap.games.analytic", "AdditiveGame", "topshap.games.synthetic.AdditiveGame"),
        ("topshap.games.lookup", "TableGame", "topshap.games.tables.TableGame"),
        ("topshap.games.outputs", "TorchPredict", "topshap.games.models.TorchPredict"),
        ("topshap.games.per_coalition", "per_coalition", "topshap.games.functions.per_coalition"),
        ("topshap.games.total_correlation", "UnsupervisedGame", "topshap.games.unsupervised.UnsupervisedGame"),
        ("topshap.games.fixed_predictions", "FixedClassifier", "topshap.games.known.KnownClassifier"),
        ("topshap.games.fixed_predictions", "FixedRegressor", "topshap.games.known.KnownRegressor"),
        ("topshap.core.errors", "GameError", "topshap.errors.GameError"),
        ("topshap.core.result", "TopK", "topshap.result.TopK"),
        ("topshap.selector", "TopKSelector", "topshap.selection.TopKSelector"),
        ("topshap.entrypoints", "identify", "topshap.identify.identify"),
        ("collections", "OrderedDict", "collections.OrderedDict"),
    ],
)
def test_a_name_is_the_one_that_stores_contain(module, name, recorded):
    thing = getattr(importlib.import_module(module), name)
    assert recorded_name(thing) == recorded
    assert is_importable(thing)


def test_only_objects_of_installed_modules_are_importable():
    assert is_importable(np.mean)
    assert is_importable(len)
    assert not is_importable(test_only_objects_of_installed_modules_are_importable)
    assert not is_importable(lambda: None)


@pytest.mark.skipif(not hasattr(np.add, "__qualname__"), reason="ufuncs of old versions of numpy have no name")
def test_ufuncs_are_importable():
    assert is_importable(np.add)


def test_packages_have_versions_and_the_standard_library_has_none():
    assert version_of("numpy.linalg") == np.__version__
    assert version_of("operator") == ""
    assert is_installed("operator")
    assert not is_installed("no_such_package")
