"""The exceptions and warnings of topshap.

Every exception is a `TopshapError` and also a built-in exception:

    TopshapError
    ├── ParameterError (ValueError)
    ├── GameError (ValueError)
    │   └── AnswerShapeError
    ├── RaceError (RuntimeError)
    ├── EvaluationError (RuntimeError)
    ├── ClientError (RuntimeError)
    │   └── CostLimitError
    └── StoreError (ValueError)

Every warning is a `UserWarning`.
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
    """The base class of all exceptions of topshap."""


class ParameterError(TopshapError, ValueError):
    """A parameter has an invalid value; the message names the parameter and the values it may have.

    Attributes
    ----------
    parameter : str or None
        The name of the parameter.
    """

    parameter: str | None = None

    @classmethod
    def about(cls, parameter: str, complaint: str) -> ParameterError:
        """Return the error for a parameter, with a complaint of the form "must be ... Got ... instead."."""
        error = cls(f"The {parameter!r} parameter {complaint}")
        error.parameter, error._complaint = parameter, complaint
        return error

    def name_owner(self, owner: str) -> None:
        """Add the function or class that has the parameter to the message."""
        self.args = (f"The {self.parameter!r} parameter of {owner} {self._complaint}",)

    _complaint = ""


class GameError(TopshapError, ValueError):
    """A game returned an invalid value: NaN, an infinity, the wrong shape, or not a number."""


class AnswerShapeError(GameError):
    """A game did not return one number per coalition; since no single coalition is the cause, none is tried alone."""


class RaceError(TopshapError, RuntimeError):
    """A method of a `Race` was called in a state that does not allow it, for example `Race.ask` after the end."""


class EvaluationError(TopshapError, RuntimeError):
    """A coalition could not be evaluated: the game failed in every attempt, exceeded its timeout or killed its worker.

    The exception that the game raised is the ``__cause__``. All other coalitions of the batch have been evaluated, and
    their values are in the store if there is one.

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


class ClientError(TopshapError, RuntimeError):
    """A language model did not answer, or its answer cannot be used.

    Attributes
    ----------
    status : int or None
        The status of the HTTP response, None if there was none.
    transient : bool
        Whether the same request may succeed later.
    retry_after : float or None
        The seconds that the endpoint asks to wait, None if it does not say.
    may_be_charged : bool
        Whether the endpoint may charge for the request although its answer was lost.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        transient: bool = False,
        retry_after: float | None = None,
        may_be_charged: bool = False,
    ) -> None:
        super().__init__(message)
        self.status, self.transient, self.retry_after = status, transient, retry_after
        self.may_be_charged = may_be_charged


class CostLimitError(ClientError):
    """The answer to a request was lost, and another attempt might exceed `max_cost`; it ends a run, with a result."""


class StoreError(TopshapError, ValueError):
    """A file cannot be used as the store of a game.

    It belongs to another game or program, was written by a newer version, is damaged, or cannot be written.
    """


class PublishedRuleWarning(UserWarning):
    """A race with `epsilon` uses the published rule by default, which is not a guarantee."""


class UncertainResultWarning(UserWarning):
    """A result is more likely wrong than right, by its own estimate."""


class RareContributionsWarning(UserWarning):
    """Contributions may be rare and large, so the intervals and the confidence of a result may be too optimistic."""


class StoreWarning(UserWarning):
    """A store was damaged and its intact values are used, or a run ended early because it could not be written."""


def describe(error: BaseException) -> str:
    """Return the type and the message of an exception, or only its type if it has no message that can be read.

    Python replaces a StopIteration of a coroutine by a RuntimeError; the original is described.

    Examples
    --------
    >>> describe(ConnectionError("no answer"))
    'ConnectionError: no answer'
    """
    if isinstance(error.__cause__, StopIteration):
        error = error.__cause__
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 - a user's exception may do anything
        return type(error).__name__


def warn_caller(message: str, category: type[Warning]) -> None:
    """Issue a warning that points to the line outside topshap that led to it."""
    level = 1
    frame: FrameType | None = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


class NoisyGameWarning(UserWarning):
    """A game that is treated as deterministic returned two different values for a coalition."""
