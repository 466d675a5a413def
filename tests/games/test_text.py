"""TextGame: the score of a text with only some of its pieces."""

import asyncio
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import topshap
from topshap.core.errors import GameError, ParameterError
from topshap.games import TextGame


def length(texts):
    return [float(len(text)) for text in texts]


def texts_of(game, rows):
    return [game.text_of(np.array(row, dtype=bool)) for row in rows]


@given(st.text(min_size=1).filter(str.strip), st.sampled_from(["word", "sentence", "document"]))
def test_the_grand_coalition_is_the_whole_text(text, unit):
    game = TextGame(length, text, unit=unit)
    assert game.text_of(np.ones(game.n_players, dtype=bool)) == text.strip()
    assert game.text_of(np.zeros(game.n_players, dtype=bool)) == ""


def test_words_keep_the_white_space_after_them():
    game = TextGame(length, "to be,\n or  not")
    assert game.player_names == ("to", "be,", "or", "not")
    rows = [[1, 1, 0, 0], [1, 0, 0, 1], [0, 1, 1, 0], [0, 0, 1, 0]]
    assert texts_of(game, rows) == ["to be,", "to not", "be,\n or", "or"]


def test_absent_words_are_replaced_by_the_mask():
    game = TextGame(length, "to be or not", mask="[MASK]")
    assert texts_of(game, [[1, 0, 0, 1], [0, 0, 0, 0]]) == ["to [MASK] [MASK] not", "[MASK] [MASK] [MASK] [MASK]"]


def test_a_text_is_split_into_sentences_or_documents():
    text = "It rained. We stayed in! Why?\nNo idea.\n\nThe end"
    assert TextGame(length, text, unit="sentence").pieces == [
        "It rained.",
        "We stayed in!",
        "Why?",
        "No idea.",
        "The end",
    ]
    assert TextGame(length, text, unit="document").pieces == ["It rained. We stayed in! Why?\nNo idea.", "The end"]


def test_documents_of_a_prompt_are_players():
    documents = ["Paris is in France.", "Bananas are yellow.", "Question: where is Paris?"]
    game = TextGame(length, documents, separator="\n", always=[2])
    assert game.player_names == ("Paris is in France.", "Bananas are yellow.")
    assert texts_of(game, [[1, 0], [0, 0]]) == ["Paris is in France.\nQuestion: where is Paris?", documents[2]]
    grouped = TextGame(length, documents, groups={"context": [0, 1]})
    assert grouped.player_names == ("context", "Question: where is Paris?")


def test_long_pieces_are_found_by_their_whole_text():
    long = "a question that is much longer than any name of a player would be"
    assert TextGame(length, ["short", long, long], always=[long]).player_names[0] == "short"
    assert TextGame(length, ["short", long, long], always=[long]).n_players == 2


def test_long_pieces_have_short_unique_names():
    names = TextGame(length, ["word " * 30, "word " * 31]).player_names
    assert all(len(name) <= 44 for name in names)
    assert len(set(names)) == 2


def test_equal_texts_are_scored_once_and_batches_are_bounded():
    batches = []

    def score(texts):
        batches.append(texts)
        return np.array(length(texts))[:, None]

    game = TextGame(score, "so so so good", batch_size=2)
    coalitions = np.array([[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1], [1, 1, 0, 1], [0, 0, 0, 1]], dtype=bool)
    assert game(coalitions).tolist() == [7.0, 7.0, 7.0, 10.0, 4.0]
    assert batches == [["so good", "so so good"], ["good"]]


def test_the_decisive_word_of_a_classifier_is_found():
    good = ["a great film", "great fun", "truly great acting", "what a great cast"]
    bad = ["a boring film", "boring and long", "truly boring acting", "what a boring cast"]
    model = make_pipeline(TfidfVectorizer(), LogisticRegression(C=100)).fit(good + bad, [1] * 4 + [0] * 4)
    game = TextGame(lambda texts: model.predict_proba(texts)[:, 1], "a truly great cast and film")
    top = topshap.identify(game, k=1)
    assert top.names == ("great",)
    assert game.fingerprint is not None


async def async_length(texts):
    await asyncio.sleep(0)
    return length(texts)


class AsyncScorer:
    async def __call__(self, texts):
        return await async_length(texts)


@pytest.mark.parametrize("score", [async_length, AsyncScorer()], ids=["function", "object"])
def test_an_asynchronous_score_is_awaited(score):
    game = TextGame(score, "to be or not", batch_size=1)
    coalitions = np.array([[1, 0, 0, 1], [0, 0, 1, 0]], dtype=bool)
    assert game.is_async
    assert asyncio.run(_await(game(coalitions))).tolist() == [6.0, 2.0]


def test_aidentify_runs_a_game_with_an_asynchronous_score():
    """The result is that of the score as a plain function, for any number of concurrent calls."""
    words = "one three eleven a"
    plain = topshap.identify(TextGame(length, words), k=2, random_state=0)
    for concurrency in (1, 5):
        game = TextGame(async_length, words)
        top = asyncio.run(topshap.aidentify(game, k=2, concurrency=concurrency, random_state=0))
        assert top.names == plain.names
        np.testing.assert_array_equal(top.estimates, plain.estimates)


async def _await(values):
    return await values


def test_a_dict_gives_the_names_and_the_texts():
    texts = {"doc a": "Paris is in France.", "doc b": "Bananas are yellow.", "question": "Where is Paris?"}
    game = TextGame(length, texts, separator="\n", always=["question"])
    assert game.player_names == ("doc a", "doc b")
    assert game.pieces == list(texts.values())
    assert game.text_of(np.array([True, False])) == "Paris is in France.\nWhere is Paris?"
    assert TextGame(length, texts, always=["Where is Paris?"]).player_names == ("doc a", "doc b")
    assert TextGame(length, texts, groups={"context": ["doc a", "doc b"]}).player_names == ("context", "question")
    for wrong in ({}, {"doc a": 3}):
        with pytest.raises(
            ParameterError, match="'text' parameter of TextGame must be a str, a non-empty list of str, or a"
        ):
            TextGame(length, wrong)


@pytest.mark.parametrize(
    ("options", "most_calls"),
    [
        ({}, 1),
        ({"timeout": 60.0}, 1),
        ({"batch_size": 2}, 1),
        ({"n_jobs": 2}, 4),
    ],  # two workers: one text each, then more
    ids=str,
)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # of loky, if it ends while busy
def test_a_single_score_for_all_texts_is_refused_after_the_first_call(options, most_calls, tmp_path):
    calls = tmp_path / "calls"

    def score(texts):
        with calls.open("a") as file:
            file.write("x")
        return float(sum(map(len, texts)))

    oracle = topshap.Oracle(TextGame(score, "one three eleven a b c"), **options)
    with pytest.raises(GameError, match=r"must return one number per text, \d+ here. Got float64 of shape \(\)"):
        topshap.identify(oracle, k=2, budget=40, random_state=0)
    assert 1 <= len(calls.read_text()) <= most_calls


def test_a_single_asynchronous_score_for_all_texts_is_refused_after_the_first_call():
    calls = []

    async def score(texts):
        calls.append(texts)
        return 1.0

    oracle = topshap.Oracle(TextGame(score, "one three eleven a b c"), batch_size=10)
    with pytest.raises(GameError, match="must return one number per text"):
        asyncio.run(topshap.aidentify(oracle, k=2, budget=40, concurrency=1, random_state=0))
    assert len(calls) == 1


def test_no_further_batch_is_scored_after_scores_of_the_wrong_shape():
    calls = []

    def score(texts):
        calls.append(texts)
        return 1.0

    game = TextGame(score, "to be or", batch_size=2)
    with pytest.raises(GameError, match="one number per text, 2 here"):
        game(np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], dtype=bool))
    assert len(calls) == 1


def test_invalid_scores_are_refused():
    for score in (lambda texts: [1.0], lambda texts: ["good"] * len(texts)):
        with pytest.raises(GameError, match=r"one number per text, 2 here. Got"):
            TextGame(score, "to be")(np.array([[True, False], [False, True]]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"text": "  "}, "'text' .* at least one word"),
        ({"text": []}, "'text' .* a str, a non-empty list of str, or a dict"),
        ({"text": [1, 2]}, "'text' .* a str, a non-empty list of str, or a dict"),
        ({"unit": "letter"}, "'unit' .* 'word', 'sentence' or 'document'"),
        ({"mask": 3}, "'mask' .* a str"),
        ({"score": "good"}, "'score' .* a function from a list of texts"),
        ({"batch_size": 0}, "'batch_size' .* int of at least 1"),
    ],
)
def test_errors_say_what_to_do(options, message):
    with pytest.raises(ParameterError, match=message):
        TextGame(**({"score": length, "text": "to be"} | options))


def test_the_game_can_be_pickled():
    game = TextGame(length, "to be or not", mask="_")
    copy = pickle.loads(pickle.dumps(game))
    assert copy.fingerprint == game.fingerprint
