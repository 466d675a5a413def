"""Calling a game with care: a time limit, further attempts, and the coalition that is to blame if nothing helps."""

from __future__ import annotations

import logging
import random
from contextvars import copy_context
from dataclasses import dataclass, field
from importlib.util import find_spec
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from topshap.core.coalitions import names_of
from topshap.core.errors import EvaluationError, GameError, TopshapError
from topshap.core.extras import import_extra
from topshap.core.validation import check_values

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.core.typing import Coalition, Coalitions, Game, Values

logger = logging.getLogger("topshap")

LONGEST_WAIT = 60.0
"""The longest wait between two attempts, in seconds."""
NEVER_PASSES = (NameError, ImportError, SyntaxError, NotImplementedError)
"""Mistakes in a program. Others may be due to a service that answers in an unexpected way for a while."""
MOST_HUNG = 3
"""After as many coalitions without an answer in time, the rest of a batch is not tried any more."""

_T = TypeVar("_T")
_jitter = random.Random()  # noqa: S311 - spreads attempts in time; the global generator is left alone


@dataclass(frozen=True)
class Care:
    """How a game is called.

    Attributes
    ----------
    retries
        How many further attempts a call gets.
    timeout
        How many seconds a call may take, None for any number.
    backoff
        How many seconds to wait before the second attempt; each further wait is twice as long, and up to as much again
        is added at random.
    player_names
        For messages.
    """

    retries: int = 3
    timeout: float | None = None
    backoff: float = 0.2
    player_names: tuple[str, ...] | None = None

    def longest(self, rows: int) -> float | None:
        """Return how many seconds `evaluate` may take with this many coalitions, None without a time limit."""
        if self.timeout is None:
            return None
        waits = sum(min(LONGEST_WAIT, 2.0 * self.backoff * 2.0**i) for i in range(self.retries))
        calls = 2 * (self.retries + 1) + MOST_HUNG * (2 + rows.bit_length())
        return 2.0 * waits + calls * self.timeout


class Fault(NamedTuple):
    """Why a coalition has no value."""

    row: int
    error: Exception


class Outcome(NamedTuple):
    """What came of evaluating some coalitions."""

    values: Values
    """One per coalition, nan where it has none."""
    faults: list[Fault]
    """What went wrong, in the order of the coalitions; those behind the last of them may be missing without a word."""


def evaluate(game: Game, coalitions: Coalitions, care: Care) -> Outcome:
    """Return the values of coalitions, as many as can be had, and what went wrong with the others.

    All are asked for in one call. If that fails every time, they are cut in halves until those that fail alone are
    found. After the first of these the others have one attempt each, so that a game that is down is soon reported.

    Examples
    --------
    >>> evaluate(lambda rows: 1.0 / rows.sum(axis=1), np.array([[True, False], [True, True]]), Care())
    Outcome(values=array([1. , 0.5]), faults=[])
    """
    evaluation = _Evaluation(game, coalitions, care, np.full(len(coalitions), np.nan))
    evaluation.solve(0, len(coalitions), whole=True)
    return Outcome(evaluation.values, evaluation.faults)


def failure(coalition: Coalition, error: Exception, care: Care) -> Exception:
    """Return the exception to raise for a coalition that has no value; what the game says itself is left as it is."""
    if isinstance(error, TopshapError):
        return error
    again = care.retries if is_worth_another(error) and find_spec("tenacity") else 0
    attempts = f"{again + 1} attempts" if again else "1 attempt"
    name = names_of(coalition, care.player_names)
    return EvaluationError(
        f"The coalition {name} could not be evaluated in {attempts}: {type(error).__name__}: {error}", coalition
    )


def sift(answer: Any, coalitions: Coalitions, player_names: tuple[str, ...] | None) -> Outcome:
    """Return those of a game's answers that are numbers, and what is wrong with the others."""
    try:
        # Zero is added so that there is one zero only: files do not keep the sign of the other.
        return Outcome(check_values(answer, coalitions, player_names) + 0.0, [])
    except GameError as error:
        values, refused = np.full(len(coalitions), np.nan), error
    faults = []
    for row, single in enumerate(_one_by_one(answer, len(coalitions))):
        try:
            values[row] = check_values([single], coalitions[row : row + 1], player_names)[0] + 0.0
        except GameError as error:
            faults.append(Fault(row, error))
    if faults and len(faults) < len(coalitions):
        return Outcome(values, faults)
    return Outcome(np.full(len(coalitions), np.nan), [Fault(0, refused)])


def within(seconds: float | None, call: Callable[[], _T]) -> _T:
    """Return what a call returns if it does so in time; a call that does not is left behind in its thread."""
    if seconds is None:
        return call()
    answers: SimpleQueue[tuple[_T | None, BaseException | None]] = SimpleQueue()
    context = copy_context()

    def work() -> None:
        try:
            answers.put((context.run(call), None))
        except BaseException as error:  # noqa: BLE001 - raised where the answer is waited for
            answers.put((None, error))

    Thread(target=work, name="topshap-call", daemon=True).start()
    try:
        answer, error = answers.get(timeout=seconds)
    except Empty:
        raise TimeoutError(f"no answer within {seconds:g} s") from None
    if error is not None:
        raise error
    return answer  # type: ignore[return-value]  # what the call returned


def retry_rules(care: Care, attempts: int) -> dict[str, Any]:
    """Return how tenacity is to go about further attempts, for calls of both kinds."""
    import tenacity  # noqa: PLC0415 - only where there may be a second attempt

    def wait(state: tenacity.RetryCallState) -> float:
        longest = min(LONGEST_WAIT, care.backoff * 2.0 ** (state.attempt_number - 1))
        return longest * (1.0 + _jitter.random())

    def log(state: tenacity.RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome is not None else None
        logger.warning("attempt %d of %d failed: %r", state.attempt_number, attempts, error)

    return {
        "stop": tenacity.stop_after_attempt(attempts),
        "wait": wait,
        "retry": tenacity.retry_if_exception(is_worth_another),
        "before_sleep": log,
        "reraise": True,
    }


def is_worth_another(error: BaseException) -> bool:
    """Return whether another attempt may end differently: not if topshap refuses something, or a game is unfinished."""
    return isinstance(error, Exception) and not isinstance(error, (TopshapError, *NEVER_PASSES))


@dataclass
class _Evaluation:
    """The state of `evaluate`."""

    game: Game
    coalitions: Coalitions
    care: Care
    values: Values
    faults: list[Fault] = field(default_factory=list)
    hung: int = 0

    def solve(self, start: int, end: int, *, whole: bool = False) -> None:
        """Find the values of the rows from `start` to before `end`."""
        if self.hung >= MOST_HUNG:
            return
        alone = end - start == 1
        attempts = self.care.retries + 1 if (whole or alone) and not self.faults else 1
        rows = self.coalitions[start:end]
        try:
            answer = self._call(rows, attempts)
        except Exception as error:  # noqa: BLE001 - reported with the coalition that is to blame
            if alone:
                self.hung += isinstance(error, TimeoutError)
                self.faults.append(Fault(start, error))
                return
            middle = (start + end) // 2
            self.solve(start, middle)
            self.solve(middle, end)
            return
        outcome = sift(answer, rows, self.care.player_names)
        self.values[start:end] = outcome.values
        self.faults += [Fault(start + row, error) for row, error in outcome.faults]

    def _call(self, rows: Coalitions, attempts: int) -> Any:
        def once() -> Any:
            # The game gets a copy: it may keep or change what it is given.
            return within(self.care.timeout, lambda: self.game(rows.copy()))

        try:
            return once()
        except Exception as error:
            if attempts == 1 or not is_worth_another(error):
                raise
            first = error
        return _again(once, first, self.care, attempts)


def _again(once: Callable[[], _T], first: Exception, care: Care, attempts: int) -> _T:
    """Make the attempts after the first, which has failed."""
    try:
        tenacity = import_extra("tenacity", extra="workers", needed_by="A further attempt after a failure")
    except ImportError as missing:
        first.add_note(str(missing))
        raise first from None
    errors = [first]

    def attempt() -> _T:
        if errors:
            raise errors.pop()
        return once()

    answer: _T = tenacity.Retrying(**retry_rules(care, attempts))(attempt)
    return answer


def _one_by_one(answer: Any, count: int) -> list[Any]:
    """Return a game's answers one by one, none if there are not as many as coalitions."""
    if isinstance(answer, np.ma.MaskedArray) and answer.shape == (count,):
        return [
            None if hidden else single for single, hidden in zip(answer.data, np.ma.getmaskarray(answer), strict=True)
        ]
    if isinstance(answer, str | bytes | dict) or not hasattr(answer, "__len__") or not hasattr(answer, "__iter__"):
        return []
    return list(answer) if len(answer) == count else []
