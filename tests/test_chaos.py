"""A few seconds of the chaos suite, and its command: counts, seeds of findings and the exit code."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs signals, process groups and limits of memory")
ROOT = Path(__file__).parent.parent


@pytest.fixture
def runner(monkeypatch):
    """The module of the command, which is not installed."""
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.setattr(os, "nice", lambda _: 10)  # the priority of the other tests stays
    from chaos import runner

    yield runner
    for name in [name for name in sys.modules if name.partition(".")[0] == "chaos"]:
        del sys.modules[name]


def survives(rng, folder):
    assert folder.is_dir()


def is_found(rng, folder):
    assert rng.random() > 1, "a finding"


def fails(rng, folder):
    raise KeyError("not an assertion")


@pytest.mark.parametrize("attack", ["kill-and-resume", "saved-results", "names", "cancellation", "interrupts"])
def test_topshap_survives_an_attack(runner, attack, tmp_path, capsys):
    assert runner.main(["--attack", attack, "--seed", "1", "--failures", str(tmp_path / "seeds")]) == 0
    assert capsys.readouterr().out.split("\n")[1].split() == [attack, "1", "1"]


def test_findings_are_counted_and_can_be_repeated(runner, tmp_path, capsys):
    attacks = {"survives": survives, "is-found": is_found, "fails": fails}
    seeds = tmp_path / "seeds"
    assert runner.main(["--minutes", "0.005", "--failures", str(seeds)], attacks) == 1
    out = capsys.readouterr().out
    kept = [line.split() for line in seeds.read_text().splitlines()]
    assert {name for name, _ in kept} == {"is-found", "fails"}
    assert all(f"python -m chaos --attack {name} --seed {seed}\n" in out for name, seed in kept)
    assert "FINDING in is-found: a finding\n" in out
    assert "KeyError: 'not an assertion'" in out
    counts = {line.split()[0]: line.split()[1:] for line in out.splitlines()[-4:]}
    assert counts["survives"][0] == counts["survives"][1] != "0"
    assert counts["is-found"][1] == counts["fails"][1] == "0"


def test_the_same_seed_draws_the_same_attack(runner, tmp_path):
    drawn = []
    attack = {"draw": lambda rng, folder: drawn.append(rng.random())}
    for _ in range(2):
        assert runner.main(["--attack", "draw", "--seed", "7", "--failures", str(tmp_path / "seeds")], attack) == 0
    assert drawn == [np.random.default_rng(7).random()] * 2


def test_every_kind_of_mutation_changes_the_data(runner):
    from chaos.mutations import mutate

    data = bytes(range(256)) * 20
    changed = [mutate(data, np.random.default_rng(seed)) for seed in range(100)]
    assert sum(each != data for each in changed) > 90
    assert len({len(each) for each in changed}) > 10
