"""The options that commands share."""

import inspect

import pytest

import topshap
from topshap import cli
from topshap.cli import demo, explain, identify, select
from topshap.cli.arguments import RaceArguments
from topshap.core.options import OPTION_DEFAULTS
from topshap.core.stopping import GUARANTEES
from topshap.statistics.ranking import RANK_BY

COMMANDS = {"demo": demo.demo, "explain": explain.explain, "identify": identify.identify, "select": select.select}
SHARED = set(inspect.signature(RaceArguments).parameters)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_with_a_race_takes_the_shared_options(name):
    assert set(inspect.signature(COMMANDS[name]).parameters) > SHARED


def test_defaults_are_those_of_identify():
    options = RaceArguments().options()
    for name, default in inspect.signature(topshap.identify).parameters.items():
        if name in options and name != "random_state":
            assert options[name] == default.default
    assert options["random_state"] == 0
    assert SHARED & OPTION_DEFAULTS.keys() <= options.keys()


def test_choices_come_from_the_core(run):
    text = " ".join(run("identify", "--help").output.split())
    for choices in (RANK_BY, GUARANTEES):
        refused = run("identify", "a:b", "-k", 1, "--rank-by" if choices is RANK_BY else "--guarantee", "beauty")
        assert refused.exit_code == 2
        for choice in choices:
            assert f"'{choice}'" in refused.output
            assert choice in text


def test_progress_is_shown_by_default_on_a_terminal_only(monkeypatch):
    shown = [RaceArguments(progress=progress).options()["progress"] for progress in (None, True, False)]
    assert shown == [False, True, False]
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    shown = [RaceArguments(progress=progress).options()["progress"] for progress in (None, True, False)]
    assert shown == ["live", "live", False]


def test_only_the_module_of_the_command_is_imported(monkeypatch):
    imported = []
    monkeypatch.setattr(cli, "import_module", lambda name: imported.append(name) or identify)
    cli.build("identify")
    assert imported == ["topshap.cli.identify"]
    imported.clear()
    cli.build("--help")
    assert imported == cli.MODULES
