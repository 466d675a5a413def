"""Scores of a network: from its outputs for all scored inputs to one number per coalition, the higher the better."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from topshap.core.errors import AnswerShapeError
from topshap.core.validation import check_choice, refuse
from topshap.games.neurons.inputs import import_torch
from topshap.games.outputs import as_array

if TYPE_CHECKING:
    from collections.abc import Callable

    from topshap.core.typing import Values


def accuracy(outputs: Any, targets: Any) -> Any:
    """Return the share of targets with the highest output, for each coalition."""
    return (outputs.argmax(dim=-1) == targets).double().flatten(1).mean(dim=1)


def log_prob(outputs: Any, targets: Any) -> Any:
    """Return the mean logarithm of the softmax probability of the targets, for each coalition."""
    logs = import_torch().log_softmax(outputs.double(), dim=-1)
    index = targets.long().unsqueeze(-1).expand(*logs.shape[:-1], 1)
    return logs.gather(-1, index).flatten(1).mean(dim=1)


def neg_mse(outputs: Any, targets: Any) -> Any:
    """Return the negative mean squared error, for each coalition."""
    return -((outputs.double() - targets.reshape(outputs.shape[1:])) ** 2).flatten(1).mean(dim=1)


SCORES: dict[str, Callable[[Any, Any], Any]] = {"accuracy": accuracy, "log-prob": log_prob, "neg-mse": neg_mse}
"""Scores by name: functions of outputs (coalitions, inputs, ...) and targets (inputs, ...)."""


def check_score(score: Any, shape: tuple[int, ...], targets: Any) -> Any:
    """Return the score; refuse one that does not fit the shape of the network's outputs and the targets."""
    if callable(score):
        return score
    if not isinstance(score, str):
        refuse("score", score, must_be="a name or a function of the network's outputs and the targets")
    check_choice("score", score, SCORES)
    given = tuple(targets.shape)
    if score == "neg-mse":
        if math.prod(shape) != math.prod(given):
            refuse("targets", got=f"shape {given}", must_be=f"one number for each output, shape {shape}")
        return score
    if len(shape) < 2 or shape[:-1] != given or shape[-1] < 2:
        must_be = f"a function for outputs of shape {shape} and targets of shape {given}"
        hint = f" {score!r} needs one output for each class, on the last axis."
        refuse("score", score, must_be=must_be, hint=hint)
    whole = not targets.is_floating_point() and not targets.is_complex()
    if not whole or int(targets.min()) < 0 or int(targets.max()) >= shape[-1]:
        must_be = f"ints in [0, {shape[-1] - 1}], the positions of the network's outputs"
        refuse("targets", got=f"{targets.dtype} in [{targets.min():g}, {targets.max():g}]", must_be=must_be)
    return score


def values_of(score: Any, outputs: Any, targets: Any) -> Values:
    """Return one number per coalition, or one row of numbers if the score is a function that returns several."""
    if isinstance(score, str):
        return as_array(SCORES[score](outputs, targets)).astype(np.float64)
    return np.array([_checked(as_array(score(each, targets))) for each in outputs], dtype=np.float64)


def _checked(answer: Any) -> Any:
    if answer.ndim > 1 or answer.dtype.kind not in "biuf" or answer.size == 0:
        raise AnswerShapeError(
            "The score of a NeuronGame must return one number for all inputs, or a vector of several scores. "
            f"Got {answer.dtype} of shape {answer.shape} instead."
        )
    return answer[0] if answer.shape == (1,) else answer
