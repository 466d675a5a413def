"""One call of a game: its time limit, its retries, and the error if all attempts fail."""

from __future__ import annotations

import logging
import random
import time
from contextvars import copy_context
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

from topshap.core.coalitions import names_of
from topshap.core.errors import EvaluationError, TopshapError, describe

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.core.typing import Coalition

logger = logging.getLogger("topshap")

MAX_WAIT = 60.0
"""The longest wait between two attempts, in seconds, before jitter."""
MAX_HANGS = 3
"""After this many coalitions that exceed the time limit, the rest of a batch is skipped."""
PERMANENT_ERRORS = (
    TopshapError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    NameError,
    NotImplementedError,
    SyntaxError,
    TypeError,
)
"""Errors of a mistake in the program, which a retry cannot fix.

Any other error may come from a service that fails for a while: ConnectionError, TimeoutError, OSError, RuntimeError,
errors of HTTP clients, and ValueError, which parsers raise for a malformed answer (``json.loads``, ``float``).
"""

_T = TypeVar("_T")
_jitter = random.Random()  # noqa: S311 - spreads retries in time; the global generator stays untouched


@dataclass(frozen=True)
class CallPolicy:
    """How a game is called.

    Attributes
    ----------
    retries
        The number of retries after a failed call.
    timeout
        The time limit of a call in seconds, None for no limit.
    backoff
        The wait before the first retry in seconds. It doubles with every retry, and jitter adds up to 100%.
    player_names
        The players' names, for messages.
    n_outputs
        The number of outputs that the game declares, None if it declares none.
    """

    retries: int = 3
    timeout: float | None = None
    backoff: float = 0.2
    player_names: tuple[str, ...] | None = None
    n_outputs: int | None = None

    def wait_after(self, attempt: int) -> float:
        """Return the wait after a failed attempt in seconds, without jitter; the first attempt is 1."""
        return min(MAX_WAIT, self.backoff * 2.0 ** min(attempt - 1, 100))

    def max_seconds(self, rows: int) -> float | None:
        """Return an upper bound of the time that a batch of this many coalitions takes, None without a time limit."""
        if self.timeout is None:
            return None
        waits = sum(2.0 * self.wait_after(attempt) for attempt in range(1, self.retries + 1))
        calls = 2 * (self.retries + 1) + MAX_HANGS * (2 + rows.bit_length())
        return 2.0 * waits + calls * self.timeout


def is_retryable(error: Exception) -> bool:
    """Return whether a retry may succeed: not if topshap raised the error, or the program has a mistake."""
    return not isinstance(error, PERMANENT_ERRORS)


def wait_before_retry(error: Exception, attempt: int, attempts: int, policy: CallPolicy) -> float:
    """Return the wait before the next attempt in seconds, or raise the error if there is no next attempt."""
    if attempt >= attempts or not is_retryable(error):
        raise error
    logger.warning("attempt %d of %d failed: %r", attempt, attempts, error)
    return policy.wait_after(attempt) * (1.0 + _jitter.random())


def with_retries(call: Callable[[], _T], policy: CallPolicy, attempts: int, failed: Exception | None = None) -> _T:
    """Return the result of a call, made up to `attempts` times; `failed` is the error of a first attempt made before.

    Examples
    --------
    >>> with_retries(lambda: 3, CallPolicy(), attempts=4)
    3
    """
    attempt = 1
    while True:
        if failed is None:
            try:
                return call()
            except Exception as error:  # noqa: BLE001 - raised below unless there is a retry
                failed = error
        time.sleep(wait_before_retry(failed, attempt, attempts, policy))
        attempt, failed = attempt + 1, None


def with_timeout(seconds: float | None, call: Callable[[], _T]) -> _T:
    """Return the result of a call, or raise a TimeoutError after this time; the call then stays behind in a thread."""
    if seconds is None:
        return call()
    answers: SimpleQueue[tuple[_T | None, BaseException | None]] = SimpleQueue()
    context = copy_context()

    def work() -> None:
        try:
            answers.put((context.run(call), None))
        except BaseException as error:  # noqa: BLE001 - raised in the waiting thread
            answers.put((None, error))

    Thread(target=work, name="topshap-call", daemon=True).start()
    try:
        answer, error = answers.get(timeout=seconds)
    except Empty:
        raise TimeoutError(f"no answer within {seconds:g} s") from None
    if error is not None:
        raise error
    return answer  # type: ignore[return-value]  # the call's result


def error_for(coalition: Coalition, error: Exception, policy: CallPolicy) -> Exception:
    """Return the exception to raise for a coalition without a value; errors of topshap stay as they are."""
    if isinstance(error, TopshapError):
        return error
    attempts = f"{policy.retries + 1} attempts" if policy.retries and is_retryable(error) else "1 attempt"
    name = names_of(coalition, policy.player_names)
    message = f"The coalition {name} could not be evaluated in {attempts}: {describe(error)}"
    return EvaluationError(message, coalition.copy())
