"""Text attribution: the words, sentences or documents of a text are the players."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from topshap.core.errors import AnswerShapeError
from topshap.core.validation import check_choice, check_int, front_door, is_async, refuse
from topshap.games.base import GroupedGame, PlayerGroups, distinct_names
from topshap.games.outputs import as_array

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from topshap.core.typing import Coalitions, Values

Unit = Literal["word", "sentence", "document"]


@front_door
class TextGame(GroupedGame):
    """Pieces of a text as players: v(S) is the score of the text that consists of the words or other pieces in S.

    Parameters
    ----------
    score
        A function from a list of texts to one number per text. If it is an ``async def`` function, calling the game
        returns an awaitable; see `topshap.aidentify`.
    text
        A text, which is split into pieces of type `unit`; a list of pieces, such as the documents of a prompt; or a
        dict from the names of the pieces to their texts.
    unit
        ``"word"``: split at white space, which stays with the preceding word. ``"sentence"``: split after ``.``, ``!``
        or ``?`` and at line ends. ``"document"``: split at empty lines.
    mask
        The replacement for a piece outside S, for example a tokenizer's mask token. None removes the piece.
    separator
        The text between the pieces of a list or dict.
    groups
        A dict from a player's name to its pieces, given by name, text or position. Each piece that is not in a group is
        a separate player.
    always
        Pieces or groups that are in every coalition, such as the question of a prompt.
    batch_size
        The maximum number of texts per call to `score`; None for no limit.
    fingerprint
        A name for the score in stores, if it cannot be fingerprinted, for example a remote model. It replaces the score
        only: texts, options and players are always part of the fingerprint.

    Attributes
    ----------
    pieces : list of str
        The pieces of the text, in order.

    Examples
    --------
    >>> import topshap
    >>> def score(texts):
    ...     return [text.count("good") - 2.0 * text.count("not good") for text in texts]
    >>> game = TextGame(score, "not good but good value")
    >>> game.player_names
    ('not', 'good', 'but', 'good (2)', 'value')
    >>> topshap.identify(game, k=1).names
    ('good (2)',)
    >>> TextGame(score, {"review": "good value", "reply": "not good"}).player_names
    ('review', 'reply')
    """

    _functions = ("score",)

    def __init__(
        self,
        score: Callable[[list[str]], Any],
        text: str | Sequence[str] | Mapping[str, str],
        *,
        unit: Unit = "word",
        mask: str | None = None,
        separator: str = "\n\n",
        groups: Mapping[str, Iterable[Any]] | None = None,
        always: Iterable[Any] | None = None,
        batch_size: int | None = None,
        fingerprint: str | None = None,
    ) -> None:
        check_choice("unit", unit, get_args(Unit))
        if not callable(score):
            refuse("score", score, must_be="a function from a list of texts to one number per text")
        if mask is not None and not isinstance(mask, str):
            refuse("mask", mask, must_be="a str that replaces absent pieces, or None")
        names, text = _named_texts(text)
        self.pieces, self._between = split_text(text, unit, separator)
        self._score, self._mask = score, mask
        self._batch_size = None if batch_size is None else check_int("batch_size", batch_size, low=1)
        names = names or distinct_names(short_label(piece) for piece in self.pieces)
        super().__init__(PlayerGroups(names, groups, always, aliases=self.pieces, element="piece"), fingerprint)

    @property
    def is_async(self) -> bool:
        """Whether the score is asynchronous, so that its values must be awaited."""
        return is_async(self._score)

    def text_of(self, coalition: Any) -> str:
        """Return the text that is scored for a coalition of players, a bool array of shape (n,).

        Examples
        --------
        >>> game = TextGame(lambda texts: [len(text) for text in texts], "to be or not to be", mask="_")
        >>> game.text_of(np.array([True, True, False, False, False, True]))
        'to be _ _ _ be'
        """
        return self._join(self._groups.present(np.asarray(coalition)[None, :])[0])

    def _values(self, present: Coalitions) -> Values | Awaitable[Values]:
        texts = [self._join(row) for row in present]
        distinct = list(dict.fromkeys(texts))
        size = self._batch_size or max(1, len(distinct))
        batches = [distinct[start : start + size] for start in range(0, len(distinct), size)]
        if self.is_async:
            return self._await_values(texts, batches)
        return _in_order(texts, batches, [_scores(self._score(batch), len(batch)) for batch in batches])

    async def _await_values(self, texts: list[str], batches: list[list[str]]) -> Values:
        return _in_order(texts, batches, [_scores(await self._score(batch), len(batch)) for batch in batches])

    def _join(self, present: Any) -> str:
        """Return the text of the present pieces, each followed by its separator except the last."""
        pieces = [piece if there else self._mask for piece, there in zip(self.pieces, present, strict=True)]
        kept = [(piece, after) for piece, after in zip(pieces, self._between, strict=True) if piece is not None]
        return "".join(piece + after for piece, after in kept[:-1]) + (kept[-1][0] if kept else "")

    def _parts(self) -> dict[str, Any]:
        return {"score": self._score, "units": self.pieces, "between": self._between, "mask": self._mask}


def _named_texts(text: Any) -> tuple[list[str], Any]:
    """Return the names and texts of a dict, or no names and the unchanged text."""
    return ([str(name) for name in text], list(text.values())) if isinstance(text, Mapping) else ([], text)


def split_text(text: Any, unit: Unit, separator: str) -> tuple[list[str], list[str]]:
    """Return the pieces of a text and the separator after each of them.

    Examples
    --------
    >>> split_text("It rains. It pours.", "sentence", "")
    (['It rains.', 'It pours.'], [' ', ''])
    """
    if not isinstance(text, str):
        pieces = list(text) if hasattr(text, "__iter__") else []
        if not pieces or not all(isinstance(piece, str) for piece in pieces):
            refuse("text", text, must_be="a str, a non-empty list of str, or a dict from names to str")
        return pieces, [separator] * (len(pieces) - 1) + [""]
    gap = {"word": r"\s+", "sentence": r"(?<=[.!?])\s+|\s*\n\s*", "document": r"\s*\n\s*\n\s*"}[unit]
    body = text.strip()
    if not body:
        refuse("text", text, must_be=f"a str with at least one {unit}")
    return re.split(gap, body), [*re.findall(gap, body), ""]


def short_label(piece: str, at_most: int = 40) -> str:
    """Return the first characters of a text on one line.

    Examples
    --------
    >>> short_label("The Danube flows through ten countries.", at_most=16)
    'The Danube fl...'
    """
    words = " ".join(piece.split())
    return words if len(words) <= at_most else words[: at_most - 3] + "..."


def _scores(answer: Any, n_texts: int) -> list[float]:
    """Return the scores of a batch; raise an error if there is not one number per text."""
    scores = as_array(answer)
    if scores.size != n_texts or scores.dtype.kind not in "biuf":
        raise AnswerShapeError(
            f"The score of a TextGame must return one number per text, {n_texts} here. "
            f"Got {scores.dtype} of shape {scores.shape} instead. For a function of one text, pass "
            "lambda texts: [score(text) for text in texts]."
        )
    return [float(score) for score in scores.reshape(-1)]


def _in_order(texts: list[str], batches: list[list[str]], scores: list[list[float]]) -> Values:
    """Return the score of each text."""
    score_of = dict(zip(chain(*batches), chain(*scores), strict=True))
    return np.array([score_of[text] for text in texts], dtype=np.float64)
