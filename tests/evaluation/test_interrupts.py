"""Ctrl-C never divides a step, takes effect right after it, and at once if pressed twice."""

import signal
import threading

import numpy as np
import pytest

import topshap
from topshap.core.race import Race
from topshap.evaluation.interrupts import deferred_interrupts


def press():
    signal.raise_signal(signal.SIGINT)


def test_a_step_is_finished_before_ctrl_c_takes_effect():
    steps = []
    with deferred_interrupts() as undivided:
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt), undivided:
                press()
                steps.append("whole")
        with undivided:
            steps.append("not pressed again")
    assert steps == ["whole", "whole", "not pressed again"]


def test_pressed_twice_it_does_not_wait():
    with deferred_interrupts() as undivided:
        with pytest.raises(KeyboardInterrupt), undivided:
            press()
            press()
            pytest.fail("it has waited")
        with undivided:
            pass  # nothing is left over


def test_between_two_steps_it_takes_effect_at_once():
    with deferred_interrupts(), pytest.raises(KeyboardInterrupt):
        press()
        pytest.fail("it has waited")


def test_an_error_in_a_step_comes_through():
    with deferred_interrupts() as undivided:
        with pytest.raises(ZeroDivisionError), undivided:
            press()
            raise ZeroDivisionError
        with undivided:
            pass


def test_the_usual_handler_is_back_afterwards():
    with deferred_interrupts():
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_handler_of_an_application_stays(monkeypatch):
    pressed = []

    def handler(number, frame):
        pressed.append(number)

    signal.signal(signal.SIGINT, handler)
    try:
        with deferred_interrupts() as undivided, undivided:
            press()
            assert pressed == [signal.SIGINT]
            assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def test_a_handler_installed_during_the_run_stays():
    def handler(number, frame):
        """Do nothing."""

    try:
        with deferred_interrupts():
            signal.signal(signal.SIGINT, handler)
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def test_a_run_within_a_run_defers_too():
    steps = []
    with deferred_interrupts(), deferred_interrupts() as inner:
        with pytest.raises(KeyboardInterrupt), inner:
            press()
            steps.append("whole")
        with pytest.raises(KeyboardInterrupt):
            press()
    with deferred_interrupts() as outer, pytest.raises(KeyboardInterrupt), outer, deferred_interrupts():
        press()
        steps.append("whole outside")
    assert steps == ["whole", "whole outside"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_in_another_thread_nothing_is_changed():
    seen = []

    def run():
        with deferred_interrupts() as undivided, undivided:
            seen.append(signal.getsignal(signal.SIGINT))

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
