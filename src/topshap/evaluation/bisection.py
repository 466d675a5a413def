"""Evaluate a batch in one call, and find the coalitions that fail if the call does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.errors import AnswerShapeError
from topshap.core.values import put_values
from topshap.evaluation.call import MAX_HANGS, with_retries, with_timeout
from topshap.evaluation.results import BatchResult, Failure, split_valid

if TYPE_CHECKING:
    from topshap.core.typing import Coalitions, Game, Values
    from topshap.evaluation.call import CallPolicy


def evaluate(game: Game, coalitions: Coalitions, policy: CallPolicy, failed: Exception | None = None) -> BatchResult:
    """Return the values of as many coalitions as possible, and the failures of the others.

    The first call has all coalitions. If every attempt fails, the batch is bisected until the coalitions that fail
    alone are found, unless the answer has the wrong shape, which does not depend on a coalition. After the first of
    these, the others get one attempt each, so that a game that is down is reported soon. If a first attempt was made
    before, `failed` is its error.

    Examples
    --------
    >>> from topshap.evaluation.call import CallPolicy
    >>> evaluate(lambda rows: 1.0 / rows.sum(axis=1), np.array([[True, False], [True, True]]), CallPolicy())
    BatchResult(values=array([1. , 0.5]), failures=[])
    """
    evaluation = _Evaluation(game, coalitions, policy, np.full(len(coalitions), np.nan))
    evaluation.solve(0, len(coalitions), whole=True, failed=failed)
    return BatchResult(evaluation.values, evaluation.failures)


@dataclass
class _Evaluation:
    """The state of `evaluate`."""

    game: Game
    coalitions: Coalitions
    policy: CallPolicy
    values: Values
    failures: list[Failure] = field(default_factory=list)
    hangs: int = 0

    def solve(self, start: int, end: int, *, whole: bool = False, failed: Exception | None = None) -> None:
        """Find the values of the rows from `start` to before `end`."""
        if self.hangs >= MAX_HANGS:
            return
        alone = end - start == 1
        attempts = self.policy.retries + 1 if (whole or alone) and not self.failures else 1
        rows = self.coalitions[start:end]
        try:
            answer = self._call(rows, attempts, failed)
        except Exception as error:  # noqa: BLE001 - reported with the coalition to blame
            if alone or isinstance(error, AnswerShapeError):
                self.hangs += isinstance(error, TimeoutError)
                self.failures.append(Failure(start, error))
                return
            middle = (start + end) // 2
            self.solve(start, middle)
            self.solve(middle, end)
            return
        result = split_valid(answer, rows, self.policy.player_names, self.policy.n_outputs)
        self.values = put_values(self.values, slice(start, end), result.values)
        self.failures += [Failure(start + row, error) for row, error in result.failures]

    def _call(self, rows: Coalitions, attempts: int, failed: Exception | None) -> Any:
        def call() -> Any:
            # The game gets a copy: it may keep or change its argument.
            return with_timeout(self.policy.timeout, lambda: self.game(rows.copy()))

        return with_retries(call, self.policy, attempts, failed)
