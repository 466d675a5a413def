"""The shared options: declared once, listed in every signature, and named in errors."""

import inspect
import typing

import pytest

import topshap
from topshap.core.errors import ParameterError
from topshap.core.options import OPTION_DEFAULTS, CheckedOptions, RaceOptions

ENTRY_POINTS = [topshap.identify, topshap.aidentify, topshap.Race]
GAME = topshap.games.AdditiveGame([3.0, 1.0, 2.0])


def test_every_option_has_a_type_a_default_and_a_description():
    assert list(RaceOptions.__annotations__) == list(OPTION_DEFAULTS)
    source = inspect.getsource(RaceOptions)
    for name in OPTION_DEFAULTS:
        assert f"    {name}: " in source
    assert source.count('"""') == 2 * (len(OPTION_DEFAULTS) + 1)


@pytest.mark.parametrize("entry_point", ENTRY_POINTS)
def test_every_entry_point_lists_the_options_with_their_defaults(entry_point):
    parameters = inspect.signature(entry_point).parameters
    assert {name: parameters[name].default for name in OPTION_DEFAULTS} == OPTION_DEFAULTS
    assert all(parameters[name].kind is inspect.Parameter.KEYWORD_ONLY for name in OPTION_DEFAULTS)
    assert "options" not in parameters


def test_a_misspelt_option_is_refused_with_the_closest_one():
    unexpected = r"\(\) got an unexpected keyword argument"
    with pytest.raises(TypeError, match=rf"^identify{unexpected} 'budgett'\. Did you mean 'budget'\?$"):
        topshap.identify(GAME, k=1, budgett=10)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=rf"^Race{unexpected} 'ranked_by'\. Did you mean 'rank_by'\?$"):
        topshap.Race(3, 1, ranked_by="value")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=rf"^identify{unexpected} 'zzzz'\.$"):
        topshap.identify(GAME, k=1, zzzz=10)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("option", "wrong"),
    [
        ("budget", 1),
        ("epsilon", -0.1),
        ("epsilon", 10**400),
        ("delta", 0.0),
        ("delta", -(10**400)),
        ("guarantee", "certain"),
        ("value_range", (1.0, 0.0)),
        ("stop", 3),
        ("algorithm", "magic"),
        ("rank_by", "beauty"),
        ("counting", "fingers"),
        ("player_names", ["a"]),
        ("random_state", "x"),
    ],
)
def test_an_invalid_value_names_the_option_and_the_entry_point(option, wrong):
    assert {option} <= OPTION_DEFAULTS.keys()
    with pytest.raises(ParameterError, match=f"^The '{option}' parameter of identify must be "):
        topshap.identify(GAME, k=1, **{option: wrong})
    with pytest.raises(ParameterError, match=f"^The '{option}' parameter of Race must be "):
        topshap.Race(3, 1, **{option: wrong})


def test_defaults_are_valid():
    checked = {name: getattr(CheckedOptions(), name) for name in OPTION_DEFAULTS}
    assert checked == OPTION_DEFAULTS | {"rank_by": "value"}  # its default depends on the order
    assert typing.is_typeddict(RaceOptions)


def test_the_default_of_rank_by_depends_on_the_order():
    assert (CheckedOptions(order=1).rank_by, CheckedOptions(order=2).rank_by) == ("value", "magnitude")
    assert CheckedOptions(order=2, rank_by="lowest").rank_by == "lowest"


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ({"algorithm": "cmcsk"}, "cmcs@k"),
        ({"algorithm": "kernel-shap"}, "kernelshap"),
        ({"guarantee": "asymptotical"}, "asymptotic"),
        ({"rank_by": "magnitud"}, "magnitude"),
        ({"counting": "call"}, "calls"),
    ],
)
def test_a_misspelt_choice_is_refused_with_the_closest_one(wrong, meant):
    with pytest.raises(ParameterError, match=rf"instead\. Did you mean '{meant}'\?$"):
        topshap.Race(4, 2, **wrong)


def test_a_choice_that_is_close_to_none_gets_no_suggestion():
    with pytest.raises(ParameterError, match=r"Got 'zzz' instead\.$"):
        topshap.Race(4, 2, algorithm="zzz")
