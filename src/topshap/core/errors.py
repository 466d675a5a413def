"""The exceptions and warnings of topshap: one small hierarchy, to catch as a whole or by kind.

Every exception is a `TopshapError` and also the built-in kind it is closest to.
"""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

    from topshap.core.typing import Coalition

_PACKAGE = str(Path(__file__).parents[1])


class TopshapError(Exception):
    """The root of every exception that topshap raises on purpose."""


class ParameterError(TopshapError, ValueError):
    """A parameter has a value that cannot be used; the message says which and what would be right.

    Attributes
    ----------
    parameter : str or None
        The name of the parameter.
    """

    parameter: str | None = None

    @classmethod
    def about(cls, parameter: str, complaint: str) -> ParameterError:
        """Return the error for a parameter, with what is to be said of it: "must be ... Got ... instead."."""
        error = cls(f"The {parameter!r} parameter {complaint}")
        error.parameter, error._complaint = parameter, complaint
        return error

    def name_owner(self, owner: str) -> None:
        """Say in the message whose parameter it is."""
        self.args = (f"The {self.parameter!r} parameter of {owner} {self._complaint}",)

    _complaint = ""


class GameError(TopshapError, ValueError):
    """A game returned an invalid value: NaN, an infinity, the wrong shape, or not a number."""


class AnswerShapeError(GameError):
    """A game did not return one number per coalition. The reason is not a single coalition, so none is tried alone."""


class RaceError(TopshapError, RuntimeError):
    """`Race.ask`, `Race.tell` and `Race.result` were called in an order that makes no sense."""


class EvaluationError(TopshapError, RuntimeError):
    """The value of a coalition could not be had: the game failed on it every time, hung, or killed its worker.

    What the game raised is the ``__cause__``. Everything else in the batch has been evaluated, and stored if there is
    a store.

    Attributes
    ----------
    coalition : ndarray of bool, or None
        The coalition.

    Examples
    --------
    >>> import topshap
    >>> def game(coalitions):
    ...     raise ConnectionError("no answer")
    >>> oracle = topshap.Oracle(game, n_players=2, retries=0)
    >>> topshap.identify(oracle, k=1, player_names=["Ann", "Bob"])
    Traceback (most recent call last):
    ...
    topshap.core.errors.EvaluationError: The coalition {} could not be evaluated in 1 attempt:
    ConnectionError: no answer
    """

    def __init__(self, message: str, coalition: Coalition | None = None) -> None:
        super().__init__(message)
        self.coalition = coalition

    def __reduce__(self) -> tuple[type[EvaluationError], tuple[str, Coalition | None]]:
        return type(self), (str(self), self.coalition)


class StoreError(TopshapError, ValueError):
    """A file cannot be used as the store of a game.

    It belongs to another game or program, a later version wrote it, it is damaged, or it cannot be written.
    """


class PublishedRuleWarning(UserWarning):
    """A race with `epsilon` stops by the published rule, which is not a guarantee, and this was not asked for."""


class UncertainResultWarning(UserWarning):
    """A result is more likely wrong than right, by its own estimate."""


class StoreWarning(UserWarning):
    """A store was damaged and its intact values are used, or a run ended early because it could not be written."""


def warn_caller(message: str, category: type[Warning]) -> None:
    """Issue a warning at the line outside topshap that led to it."""
    level = 1
    frame: FrameType | None = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


class NoisyGameWarning(UserWarning):
    """A game that counts as deterministic returned two different values for a coalition."""
