"""Zoom: the elements of the players found are players of a second run, and all others stay present."""

import numpy as np
import pytest

import topshap
from topshap.core.errors import ParameterError
from topshap.games import ImageGame, PredictionGame, TextGame
from topshap.reference import exact
from topshap.show.levels_html import html_levels

WORDS = ["a", "good", "plot", "dull", "acting", "<b>"]
GROUPS = {"praise": [0, 1, 2], "blame": [3, 4], "rest": [5]}


def score(texts):
    return [2.0 * text.count("good") - text.count("dull") + text.count("good") * text.count("plot") for text in texts]


@pytest.fixture
def game():
    return TextGame(score, WORDS, groups=GROUPS)


def test_the_elements_of_a_player_are_played_with_all_others_present(game):
    levels = topshap.identify(game, k=1).zoom(game, "praise", k=2)
    assert levels.outer.names == ("praise",)
    assert levels.inner.names == ("good", "plot")
    assert levels.inner.grand == game(np.ones((1, 3), dtype=bool))[0]
    assert levels.inner.empty == game(np.array([[False, True, True]]))[0]
    assert levels.parents.tolist() == [0, 0, 0]
    assert levels.evaluations == levels.outer.evaluations + levels.inner.evaluations


def test_several_players_are_zoomed_into_together(game):
    levels = topshap.identify(game, k=1).zoom(game, ["blame", 0], k=1)
    assert levels.inner.player_names == ("a", "good", "plot", "dull", "acting")
    assert levels.parents.tolist() == [0, 0, 0, 1, 1]
    assert [levels.inner.name_of(i) for i in levels.elements_of(1)][-1] == "dull"


@pytest.mark.parametrize("imputer", ["mean-mode", "marginal", "gaussian", "missing"])
def test_columns_of_a_group_are_those_of_a_game_without_groups_that_always_knows_the_others(imputer):
    rng = np.random.default_rng(0)
    rows, x, weights = rng.normal(size=(20, 5)), np.arange(5.0), np.array([3.0, -1.0, 2.0, 0.5, 1.0])

    def predict(table):
        table = np.nan_to_num(table)
        return table @ weights + table[:, 0] * table[:, 2]

    grouped = PredictionGame(predict, x, rows, imputer=imputer, groups={"g": [0, 2, 4]})
    zoomed = grouped.zoomed([0])
    plain = PredictionGame(predict, x, rows, imputer=imputer, always=[1, 3])
    assert zoomed.player_names == ("0", "2", "4")
    assert zoomed.player_values == plain.player_values
    np.testing.assert_allclose(exact.shapley_values(zoomed), exact.shapley_values(plain))
    assert zoomed.fingerprint != grouped.fingerprint


def test_regions_of_an_image():
    image = np.zeros((4, 4))
    image[0, 3] = 1.0
    segments = np.arange(16).reshape(4, 4)
    quarters = {f"quarter {q}": [i for i in range(16) if (i // 8) * 2 + (i % 4) // 2 == q] for q in range(4)}
    game = ImageGame(lambda images: images.max(axis=(1, 2)), image, segments=segments, fill=0.0, groups=quarters)
    assert topshap.identify(game, k=1).zoom(game).inner.names == ("region 3",)


def test_a_store_keeps_both_levels_and_nothing_is_paid_twice(tmp_path):
    class Counted:
        calls = 0

        def __call__(self, texts):
            Counted.calls += len(texts)
            return score(texts)

    for _ in range(2):
        game = TextGame(Counted(), WORDS, groups=GROUPS, fingerprint="counted")
        levels = topshap.identify(game, k=1, store=tmp_path / "run.db").zoom(game, store=tmp_path / "run.db")
        assert levels.inner.names == ("good",)
    assert Counted.calls == 2**3 + 2**3
    assert len(list(tmp_path.glob("run*.db"))) == 2


def test_text_page_and_plot_show_both_levels(game, tmp_path):
    levels = topshap.identify(game, k=2).zoom(game, ["praise", "blame", "rest"], k=2)
    lines = str(levels).splitlines()
    assert [line.split()[1] for line in lines[1:4]] == ["praise", "good", "plot"]
    assert lines[2].startswith("         1  good")
    page = html_levels(levels)
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    levels.to_html(tmp_path / "levels.html", title="<i>")
    text = (tmp_path / "levels.html").read_text(encoding="utf-8")
    assert "<title>&lt;i&gt;</title>" in text
    assert "<script" not in text
    assert "ts-element" in levels._repr_html_()
    labels = [label.get_text() for label in levels.plot().get_yticklabels()]
    assert labels[:3] == ["praise", "good", "plot"]
    assert set(WORDS) < set(labels)


def test_intervals_are_explained_unless_a_result_is_exact():
    words = [f"w{i}" for i in range(20)]
    rng = np.random.default_rng(0)
    weights = dict(zip(words, rng.normal(size=20), strict=True))
    game = TextGame(
        lambda texts: [np.tanh(sum(weights[word] for word in text.split())) for text in texts],
        words,
        separator=" ",
        groups={"one": words[:15], "two": words[15:]},
    )
    levels = topshap.identify(game, k=1).zoom(game, "one", k=3, budget=60, random_state=0)
    assert "± is the 95% interval" in str(levels)
    assert "... " in str(levels)  # the elements after the eighth


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"into": "nobody"}, "names or indices of the 3 players"),
        ({"into": 3}, "names or indices of the 3 players"),
        ({"into": []}, "names or indices of the 3 players"),
        ({"into": "rest"}, "players that consist of several elements"),
        ({"k": 0}, "'k' parameter of zoom must be an int in"),
    ],
)
def test_wrong_calls_are_refused(game, options, message):
    with pytest.raises(ParameterError, match=message):
        topshap.identify(game, k=1).zoom(game, **options)


def test_a_function_and_another_game_are_refused(game):
    top = topshap.identify(game, k=1)
    with pytest.raises(ParameterError, match="whose players consist of elements"):
        top.zoom(lambda coalitions: coalitions.sum(axis=1))
    with pytest.raises(ParameterError, match="the game of this result, with 3 players"):
        top.zoom(TextGame(score, WORDS))
