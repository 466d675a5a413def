"""The exceptions that topshap raises: one small hierarchy, to catch as a whole or by kind.

Every exception is a `TopshapError` and also the built-in kind it is closest to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from topshap.core.typing import Coalition


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
    """A file cannot be used as the store of this game: it is foreign, newer, damaged, or belongs to another game."""


class StoreWarning(UserWarning):
    """A store had lost something, and what was whole in it is used."""


class NoisyGameWarning(UserWarning):
    """A game that counts as deterministic returned two different values for a coalition."""
