"""Ctrl-C never interrupts a step: it takes effect right after it, or at once if pressed twice."""

import signal
import threading

import numpy as np
import pytest

import topshap
from topshap.core.race import Race
from topshap.evaluation.interrupts import deferred_interrupts


def press():
    signal.raise_signal(signal.SIGINT)


def step(undivided, *actions):
    """Run some actions in one uninterrupted step."""
    with undivided:
        for action in actions:
            action()


def test_a_step_is_finished_before_ctrl_c_takes_effect():
    taken = []
    with deferred_interrupts() as undivided:
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                step(undivided, press, lambda: taken.append("whole"))
        step(undivided, lambda: taken.append("not pressed again"))
    assert taken == ["whole", "whole", "not pressed again"]


def test_a_second_ctrl_c_takes_effect_at_once():
    with deferred_interrupts() as undivided:
        with pytest.raises(KeyboardInterrupt):
            step(undivided, press, press, lambda: pytest.fail("it has waited"))
        step(undivided)  # no interrupt is pending


def test_ctrl_c_between_two_steps_takes_effect_at_once():
    with deferred_interrupts() as undivided:
        step(undivided)
        with pytest.raises(KeyboardInterrupt):
            press()


def test_an_error_in_a_step_is_raised():
    with deferred_interrupts() as undivided:
        with pytest.raises(ZeroDivisionError):
            step(undivided, press, lambda: 1 / 0)
        step(undivided)


def test_the_usual_handler_is_restored_afterwards():
    with deferred_interrupts():
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.fixture
def ignored():
    """Install a handler that only counts, and restore the usual one afterwards."""
    pressed = []

    def handler(number, frame):
        pressed.append(number)

    handler.pressed = pressed  # type: ignore[attr-defined]
    yield handler
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_the_handler_of_an_application_stays(ignored):
    signal.signal(signal.SIGINT, ignored)
    with deferred_interrupts() as undivided:
        step(undivided, press)
        assert signal.getsignal(signal.SIGINT) is ignored
    assert ignored.pressed == [signal.SIGINT]


def test_a_handler_installed_during_the_run_stays(ignored):
    with deferred_interrupts():
        signal.signal(signal.SIGINT, ignored)
    assert signal.getsignal(signal.SIGINT) is ignored


def test_a_run_within_a_run_defers_too():
    taken = []

    def inner_run():
        with deferred_interrupts():
            press()

    with deferred_interrupts() as outer:
        with deferred_interrupts() as inner:
            with pytest.raises(KeyboardInterrupt):
                step(inner, press, lambda: taken.append("inner"))
            with pytest.raises(KeyboardInterrupt):
                press()
        with pytest.raises(KeyboardInterrupt):
            step(outer, inner_run, lambda: taken.append("outer"))
    assert taken == ["inner", "outer"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_handlers_are_unchanged_in_another_thread():
    seen = []

    def run():
        with deferred_interrupts() as undivided:
            step(undivided, lambda: seen.append(signal.getsignal(signal.SIGINT)))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


def test_ctrl_c_never_leaves_a_race_half_told(monkeypatch):
    tell, told = Race.tell, []

    def interrupted(race, values):
        if len(told) == 3:
            press()
        tell(race, values)
        told.append(race.evaluations)

    monkeypatch.setattr(Race, "tell", interrupted)
    game = topshap.games.AdditiveGame(np.arange(10.0))
    top = topshap.identify(game, k=3, budget=300, algorithm="greedy-cmcs", random_state=0)
    assert len(told) == 4
    assert (top.stopped, top.evaluations) == ("interrupted", told[-1])
