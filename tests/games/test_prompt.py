"""The parts of a prompt are left out as they should be, and scored as they are."""

import asyncio
from types import SimpleNamespace

import numpy as np
import pytest

import topshap
from topshap import GameError, ParameterError
from topshap.clients import Completion, MockClient
from topshap.core.errors import ClientError
from topshap.games import AnswerLogProb, ExactMatch, Judge, PromptGame, Similarity
from topshap.games.prompt.answer import resolve_spans, word_spans
from topshap.games.prompt.documents import read_documents

FIXED = {"temperature": 0, "seed": 0}


def game_of(messages="Why?", client=None, answer="So.", **options):
    return PromptGame(client or MockClient(lambda _: answer, lambda *_: -1.0), messages, answer=answer, **options)


def contents(game, *coalition):
    return [message["content"] for message in game.request_of(np.array(coalition, dtype=bool)).messages]


class TestDocuments:
    def test_documents_of_other_libraries_are_read(self):
        node = SimpleNamespace(get_content=lambda: "from a node", metadata={"file_name": "a.txt"})
        documents = read_documents(
            [
                "plain text",
                {"text": "of a dict", "id": 7},
                {"content": "of another"},
                SimpleNamespace(page_content="of a page", metadata={"source": "b.txt"}),
                SimpleNamespace(text="of an object"),
                node,
            ]
        )
        assert [text for _, text in documents] == [
            "plain text", "of a dict", "of another", "of a page", "of an object", "from a node",
        ]  # fmt: skip
        assert [name for name, _ in documents] == ["plain text", "7", "of another", "b.txt", "of an object", "a.txt"]

    @pytest.mark.parametrize("wrong", ["text", 3, [3], [""], [{"title": "no text"}]])
    def test_others_are_refused(self, wrong):
        with pytest.raises(ParameterError, match="'documents'"):
            read_documents(wrong)

    def test_they_come_before_the_last_question(self):
        messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]
        game = game_of(messages, documents=["Since.", "Though."])
        assert contents(game, 1, 1) == ["Be brief.", "Since.\n\nThough.\n\nWhy?"]
        assert contents(game, 0, 1) == ["Be brief.", "Though.\n\nWhy?"]
        assert contents(game, 0, 0) == ["Be brief.", "Why?"]

    def test_or_in_place_of_the_placeholder(self):
        game = game_of(
            "Context: {documents}\nWhy?", documents=["A", "B"], separator=" | ", template="[{number}] {text}"
        )
        assert contents(game, 1, 1) == ["Context: [1] A | [2] B\nWhy?"]
        assert contents(game, 0, 1) == ["Context: [2] B\nWhy?"]  # numbers stay
        assert contents(game, 0, 0) == ["Context: \nWhy?"]

    def test_a_list_of_contents_gets_a_text(self):
        game = game_of([{"role": "user", "content": [{"type": "text", "text": "Why?"}]}], documents=["Since."])
        assert contents(game, 1) == [[{"type": "text", "text": "Since."}, {"type": "text", "text": "Why?"}]]

    def test_sentences_of_documents_are_players(self):
        game = game_of(documents={"one": "It rains. It pours.", "two": "It snows."}, unit="sentence")
        assert game.player_names == ("It rains.", "It pours.", "It snows.")
        assert contents(game, 1, 1, 1) == ["It rains. It pours.\n\nIt snows.\n\nWhy?"]
        assert contents(game, 0, 1, 0) == ["It pours.\n\nWhy?"]
        assert [part.owner for part in game.parts] == [0, 0, 1]

    def test_equal_documents_get_different_names(self):
        assert game_of(documents=["Same.", "Same."]).player_names == ("Same.", "Same. (2)")

    def test_groups_and_parts_that_are_always_there(self):
        game = game_of(documents={"a": "A", "b": "B", "c": "C"}, groups={"ab": ["a", "b"]}, always=["c"])
        assert game.player_names == ("ab",)
        assert contents(game, 0) == ["C\n\nWhy?"]
        assert contents(game, 1) == ["A\n\nB\n\nC\n\nWhy?"]


class TestOtherPlayers:
    MESSAGES = (
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello."},
        {"role": "assistant", "content": "Hi."},
        {"role": "user", "content": "Why?"},
    )
    TOOLS = tuple({"type": "function", "function": {"name": name}} for name in ("weather", "news"))

    def test_messages_but_the_last_are_players(self):
        game = game_of(list(self.MESSAGES), always=[0])
        assert game.player_names == ("user 2: Hello.", "assistant 3: Hi.")
        assert contents(game, 0, 1) == ["Be brief.", "Hi.", "Why?"]

    def test_examples_come_after_system_messages(self):
        examples = [("1+1?", "2"), [{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"}]]
        game = game_of([self.MESSAGES[0], self.MESSAGES[3]], examples=examples)
        assert game.player_names == ("example 1: 1+1?", "example 2: 2+2?")
        assert contents(game, 0, 1) == ["Be brief.", "2+2?", "4", "Why?"]

    def test_tools_are_offered(self):
        def respond(messages):
            return "never called"

        class Agent(MockClient):
            def complete(self, messages, **params):
                names = [tool["function"]["name"] for tool in params.get("tools", [])]
                return Completion("weather()" if "weather" in names else "unknown")

        game = game_of("Is it wet?", Agent(respond), "weather()", tools=self.TOOLS, score=ExactMatch(), params=FIXED)
        assert game.player_names == ("weather", "news")
        assert topshap.identify(game, k=1).names == ("weather",)
        assert game.request_of(np.array([False, False])).tools is None

    def test_log_probs_with_tools_are_refused(self):
        with pytest.raises(ParameterError, match="'score' parameter of PromptGame must be a score of new answers"):
            game_of(tools=self.TOOLS)

    def test_kinds_of_players_can_be_chosen(self):
        options = {"documents": ["A"], "examples": [("q", "a")]}
        assert game_of(**options).n_players == 2
        assert game_of(**options, players="examples").player_names == ("example 1: q",)
        with pytest.raises(ParameterError, match="'players'"):
            game_of(**options, players="words")

    @pytest.mark.parametrize(
        ("options", "name"),
        [
            ({"messages": []}, "messages"),
            ({"messages": [{"content": "no role"}]}, "messages"),
            ({"tools": [{"type": "function"}], "score": ExactMatch()}, "tools"),
            ({"examples": ["q"]}, "examples"),
            ({"documents": ["A"], "template": "none"}, "template"),
            ({"documents": ["A"], "answer": " "}, "answer"),
            ({"documents": ["A"], "score": 3}, "score"),
            ({"documents": ["A"], "spans": "word"}, "spans"),
            ({"documents": ["A"], "spans": ["not there"]}, "span"),
            ({"documents": ["A"], "spans": "sentence", "score": ExactMatch()}, "spans"),
            ({}, "players"),
        ],
    )
    def test_mistakes_name_the_parameter(self, options, name):
        with pytest.raises(ParameterError, match=f"'{name}' parameter"):
            game_of(**options)


class TestScores:
    def test_an_async_client_makes_an_async_game(self):
        class Awaited:
            model = "own"

            async def complete(self, messages, **params):
                return Completion("So.")

            async def score(self, messages, answer):
                return MockClient(log_prob=lambda messages, _: -5.0 + ("B" in str(messages))).score(messages, answer)

        game = game_of(client=Awaited(), documents=["A", "B"])
        assert game.is_async
        assert asyncio.run(topshap.aidentify(game, k=1)).names == ("B",)

    def test_log_probs_per_token_are_divided_by_their_number(self):
        client = MockClient(log_prob=lambda *_: [-1.0, -3.0])
        for per_token, expected in ((False, -4.0), (True, -2.0)):
            game = game_of(client=client, answer="It rains.", documents=["A"], score=AnswerLogProb(per_token=per_token))
            assert game(np.array([[True]])).tolist() == [expected]

    def test_spans_are_outputs(self):
        client = MockClient(log_prob=lambda *_: [-1.0, -2.0, -3.0, -4.0])
        game = game_of(client=client, answer="It rains. It pours.", documents=["A"], spans="sentence")
        assert game(np.array([[True]])).tolist() == [[-10.0, -3.0, -7.0]]
        assert game.output_names == ("answer", "It rains.", "It pours.")

    def test_scores_of_samples_vary_unless_the_seed_is_fixed(self):
        for score in (Similarity(), ExactMatch(), Judge(), len):
            assert not game_of(documents=["A"], score=score).deterministic
            assert game_of(documents=["A"], score=score, params=FIXED).deterministic
        assert game_of(documents=["A"]).deterministic
        assert game_of(documents=["A"], score=len, deterministic=True).deterministic

    def test_functions_get_the_new_answer_and_optionally_the_original(self):
        client = MockClient(lambda messages: "long answer" if "A" in str(messages) else "short")
        for score, expected in ((len, 11), (lambda text, answer: len(text) - len(answer), 8)):
            game = game_of(client=client, documents=["A"], score=score, params=FIXED)
            assert game(np.array([[True]])).tolist() == [expected]

    def test_embeddings_replace_words(self):
        async def embed(texts):
            return [[1.0, float(len(text))] for text in texts]

        async def value():
            score = Similarity(embed=embed)
            return await score.compare(Completion("So."), "So.", None)

        assert asyncio.run(value()) == pytest.approx(1.0)
        with pytest.raises(GameError, match="one vector per text"):
            asyncio.run(Similarity(embed=lambda texts: [1.0]).compare(Completion("So."), "So.", None))

    def test_a_judge_without_a_number_is_an_error(self):
        game = game_of(client=MockClient(lambda _: "good"), documents=["A"], score=Judge(), params=FIXED)
        with pytest.raises(ClientError, match="contains no number"):
            game(np.array([[True]]))
        with pytest.raises(ParameterError, match="'prompt' parameter of Judge"):
            Judge(prompt="Grade it.")

    def test_a_text_that_looks_like_a_placeholder_is_not_one(self):
        client = MockClient(lambda messages: "5 {reference}" if "Grade" in messages[-1]["content"] else "{reference}")
        game = game_of(client=client, documents=["A"], score=Judge(), params=FIXED)
        game(np.array([[True]]))
        assert client.requests[-1][0]["content"].endswith("Candidate answer:\n{reference}")


def test_every_character_of_an_answer_belongs_to_one_word():
    for answer in ("The Danube.", "  It  rains!\n", "ドナウ川です。", "naïve café—ok", "a_b c"):
        spans = word_spans(answer)
        assert [start for start, _ in spans] == [0, *(stop for _, stop in spans[:-1])]
        assert spans[-1][1] == len(answer)
    assert len(word_spans("ドナウ川です。")) == 7


def test_spans_are_texts_or_positions():
    assert resolve_spans("It rains. It pours.", ["pours", (0, 2)]) == [(13, 18), (0, 2)]


def test_a_prompt_game_can_be_identified_with_a_store(tmp_path):
    client = MockClient(log_prob=lambda messages, _: -5.0 + ("B" in str(messages)))
    game = game_of(client=client, documents=["A", "B", "C"])
    first = topshap.identify(game, k=1, store=tmp_path / "game.db")
    count = len(client.requests)
    again = topshap.identify(game, k=1, store=tmp_path / "game.db")
    assert first.names == again.names == ("B",)
    assert len(client.requests) == count == 8
