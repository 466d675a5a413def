"""Text attribution: the words, sentences or documents of a text are the players."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from topshap.core.errors import GameError
from topshap.core.validation import check_choice, check_int, front_door, is_async, refuse
from topshap.games.base import GroupedGame, PlayerGroups, distinct_names
from topshap.games.outputs import as_array

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

    from topshap.core.typing import Coalitions, Values

Unit = Literal["word", "sentence", "document"]


@front_door
class TextGame(GroupedGame):
    """Pieces of a text as players: v(S) is the score of the text with only the words, sentences or documents in S.

    Parameters
    ----------
    score
        A function from a list of texts to one number per text. If it is an ``async def`` function, calling the game
        returns an awaitable; see `topshap.aidentify`.
    text
        A text that is split into pieces of type `unit`; or a list of texts, each of which is a piece, such as the
        documents of a prompt.
    unit
        ``"word"``: split at white space, which is kept after the word before it. ``"sentence"``: split after ``.``,
        ``!`` or ``?`` and at line ends. ``"document"``: split at empty lines.
    mask
        The replacement of a piece outside S, for example a tokenizer's mask token. None removes the piece.
    separator
        The text between the elements of a list of texts.
    groups
        A dict from a player's name to its pieces, given by text or position. Each piece outside of all groups is a
        player.
    always
        Pieces or groups that are in every coalition, such as the question of a prompt.
    batch_size
        The largest number of texts to score in one call; None for no limit.
    fingerprint
        An identifier of this game for stores, if the score cannot be fingerprinted, for example a remote model.

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
    """

    def __init__(
        self,
        score: Callable[[list[str]], Any],
        text: str | Sequence[str],
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
            refuse("mask", mask, must_be="a text that replaces absent pieces, or None")
        self.pieces, self._between = _split(text, unit, separator)
        self._score, self._mask = score, mask
        self._batch_size = None if batch_size is None else check_int("batch_size", batch_size, low=1)
        names = distinct_names(_short(piece) for piece in self.pieces)
        super().__init__(PlayerGroups(names, groups, always, aliases=self.pieces, element="piece"), fingerprint)

    @property
    def is_async(self) -> bool:
        """Whether the score is asynchronous, so that values must be awaited."""
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
        return _in_order(texts, batches, [self._score(batch) for batch in batches])

    async def _await_values(self, texts: list[str], batches: list[list[str]]) -> Values:
        return _in_order(texts, batches, [await self._score(batch) for batch in batches])

    def _join(self, present: Any) -> str:
        """Return the text of the present pieces, each followed by its separator except the last."""
        pieces = [piece if there else self._mask for piece, there in zip(self.pieces, present, strict=True)]
        kept = [(piece, after) for piece, after in zip(pieces, self._between, strict=True) if piece is not None]
        return "".join(piece + after for piece, after in kept[:-1]) + (kept[-1][0] if kept else "")

    def _parts(self) -> dict[str, Any]:
        return {"score": self._score, "units": self.pieces, "between": self._between, "mask": self._mask}


def _split(text: Any, unit: Unit, separator: str) -> tuple[list[str], list[str]]:
    """Return the pieces of a text and the separator after each of them."""
    if not isinstance(text, str):
        pieces = list(text) if hasattr(text, "__iter__") else []
        if not pieces or not all(isinstance(piece, str) for piece in pieces):
            refuse("text", text, must_be="a text or a list of texts")
        return pieces, [separator] * (len(pieces) - 1) + [""]
    gap = {"word": r"\s+", "sentence": r"(?<=[.!?])\s+|\s*\n\s*", "document": r"\s*\n\s*\n\s*"}[unit]
    body = text.strip()
    if not body:
        refuse("text", text, must_be=f"a text with at least one {unit}")
    return re.split(gap, body), [*re.findall(gap, body), ""]


def _short(piece: str, at_most: int = 40) -> str:
    words = " ".join(piece.split())
    return words if len(words) <= at_most else words[: at_most - 3] + "..."


def _in_order(texts: list[str], batches: list[list[str]], answers: list[Any]) -> Values:
    """Return the score of each text, checking that each batch has one score per text."""
    score_of: dict[str, float] = {}
    for batch, answer in zip(batches, answers, strict=True):
        scores = as_array(answer)
        if scores.size != len(batch) or scores.dtype.kind not in "biuf":
            raise GameError(
                f"The score of a TextGame must return one number per text, {len(batch)} here. "
                f"Got {scores.dtype} of shape {scores.shape} instead."
            )
        score_of.update(zip(batch, scores.reshape(-1).astype(np.float64).tolist(), strict=True))
    return np.array([score_of[text] for text in texts], dtype=np.float64)
