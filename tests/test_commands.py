"""Every command that is shown in README, CONTRIBUTING, docs or a --help is run.

The blocks of most pages are run in their order by test_readme, test_docs and test_how_to; here are commands in running
text, in the help of the command line, and on pages that need files of their own. Benchmarks are run with few runs on
one small game, and ``select`` tries two sets per column. Not run are ``pip install``, since an index is not ours to
test, and what make installs.
"""

import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from importlib import import_module
from importlib.metadata import metadata
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

import topshap
from topshap import bench, cli
from topshap.bench import guarantee, paper, race, scale
from topshap.bench.hard import hard_game

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
BLOCKS_ARE_RUN_HERE = {"README.md", "CONTRIBUTING.md", "benchmarks.md"}
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"(topshap|make|pip|python|mkdocs|pytest|pre-commit) \S")
ONLY_NAMES = {"topshap show"}
"""Commands that are spoken of, not shown: they are asked for their help."""

SMALL = {
    race: {"budgets": (20, 40), "ks": (2,), "algorithms": ("cmcs", "shapiq:svarm")},
    guarantee: {"kinds": (), "games": 1, "rules": (("odd-gp@k", "asymptotic"),), "deltas": (0.1,)},
    paper: {"budgets": (50, 100), "ks": (1, 2), "runs_of_table_1": 1},
    scale: {"algorithms": ("cmcs",), "players": (10, 20), "budgets": (100, 200)},
}

CODE = """
import numpy as np
import topshap

def game(coalitions):
    return coalitions[:, :3].sum(axis=1) + 2.0 * coalitions[:, 4] * coalitions[:, 5]

game.n_players = 10

def predict_price(frame):
    return 50.0 * frame["rooms"].to_numpy()
"""


def commands_of(page):
    """Return what a page shows that is not run elsewhere."""
    text = page.read_text(encoding="utf-8")
    lines = [line for language, block in BLOCK.findall(text) if language == "bash" for line in block.splitlines()]
    spans = re.findall(r"`([^`]+)`", BLOCK.sub("", text))
    shown = [*(lines if page.name in BLOCKS_ARE_RUN_HERE else ()), *(" ".join(span.split()) for span in spans)]
    return [line for line in shown if COMMAND.match(line)]


def helps(command, name=""):
    """Yield the help of a command and of all below it."""
    yield name, command.help or ""
    for below, inner in getattr(command, "commands", {}).items():
        yield from helps(inner, f"{name} {below}")


def examples():
    text = "\n".join(text for _, text in helps(typer.main.get_command(cli.build())))
    found = re.findall(r"(?:^|For example: )\s*(topshap .*)", text, flags=re.MULTILINE)
    return [example.partition("   ")[0] for example in found]  # what it is for stands behind some spaces


SHOWN = sorted({command for page in PAGES for command in commands_of(page)})
TOPSHAP = [command for command in SHOWN if command.startswith("topshap ")]
MAKE = [command for command in SHOWN if command.startswith("make ")]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with all files that commands speak of, and benchmarks that take seconds."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    for module in ("my_code", "module"):
        monkeypatch.delitem(sys.modules, module, raising=False)
        Path(f"{module}.py").write_text(CODE, encoding="utf-8")
    numbers = np.random.default_rng(0).normal(size=(40, 5))
    data = pd.DataFrame(numbers, columns=["rooms", "area", "age", "floor", "noise"])
    data = data.assign(price=50.0 * data["rooms"] + 20.0 * data["area"])
    data.to_csv("data.csv", index=False)
    data.assign(id=range(40)).to_csv("houses.csv", index=False)
    topshap.identify(topshap.games.AdditiveGame([3.0, 1.0, 2.0]), k=1).save("result.json")
    monkeypatch.setattr(import_module("topshap.cli.select"), "PER_COLUMN", 2)
    Path("games", "global").mkdir(parents=True)
    for number, name in enumerate(("wine", "zoo")):  # with --unseen the first is left out
        hard_game("near-tie", number).save(Path("games", "global", f"{name}.npz"))
    monkeypatch.setattr(bench, "trained", lambda *_, **__: bench.from_folder(tmp_path / "games"))
    monkeypatch.setattr(bench, "synthetic", list)
    for module, less in SMALL.items():
        _cut(monkeypatch, module, less)
    return tmp_path


def _cut(monkeypatch, module, less):
    """Let a benchmark do the same with less of everything."""
    name = module.__name__.rpartition(".")[2]
    whole = getattr(module, name)
    fewer = {"runs": 1} if module is scale else {"runs": 1, "n_jobs": 1}
    monkeypatch.setattr(module, name, lambda *given, **options: whole(*given, **(options | less | fewer)))


def run_topshap(command):
    _, *arguments = shlex.split(command, comments=True)
    result = CliRunner().invoke(cli.build(), arguments)
    assert result.exit_code == 0, f"{command}: {result.output} {result.exception}"
    assert result.output


@pytest.mark.parametrize("command", sorted({*TOPSHAP, *examples()}))
def test_a_command_that_is_shown_runs(command, folder):
    if command.startswith("topshap store"):
        topshap.identify(topshap.games.AdditiveGame([3.0, 1.0]), k=1, store=topshap.Store("run.db", game="weights"))
    run_topshap(f"{command} --help" if command in ONLY_NAMES else command)


def test_every_command_but_groups_shows_an_example():
    without = {name for name, text in helps(typer.main.get_command(cli.build())) if "topshap " not in text}
    assert without == {"", " bench", " store"}


def made(command):
    """Return what make would run."""
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    result = subprocess.run(
        [*shlex.split(command, comments=True), "--dry-run", "--no-print-directory"],
        cwd=ROOT,
        env=outside,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


@pytest.mark.parametrize("command", [command for command in MAKE if "publish" not in command])
def test_a_target_that_is_shown_can_be_made(command, folder):
    lines = made(command)
    assert lines
    for line in lines:
        if ".venv/bin/topshap" in line:
            run_topshap(line[line.index("topshap", line.index("bin/")) :])


def test_results_are_published_by_the_target_that_says_so(tmp_path):
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    assert "make publish-benchmarks RESULTS=results" in MAKE
    results = tmp_path / "results"
    results.mkdir()
    published = tmp_path / "published"
    command = ["make", "publish-benchmarks", f"RESULTS={results}", f"PUBLISHED={published}"]
    nothing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "there are no results in" in nothing.stderr
    for name in ("race.txt", "race.png", "race.csv"):
        (results / name).write_text(name, encoding="utf-8")
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    assert {path.name for path in published.iterdir()} == {"race.txt", "race.png"}


def test_what_is_installed_is_an_extra_or_a_package_by_name():
    extras = set(metadata("topshap").get_all("Provides-Extra"))
    lines = [line for page in PAGES for line in page.read_text(encoding="utf-8").splitlines()]
    installs = [found for line in lines for found in re.findall(r"pip install '?([\w\[\],-]+)'?", line)]
    assert installs
    for package in installs:
        named = re.fullmatch(r"topshap\[(.*)\]", package)
        assert set(named[1].split(",")) <= extras if named else package in {"distributed", "ray"}


def test_every_other_command_is_known():
    scripts = {f"python {path.relative_to(ROOT).as_posix()}" for path in DOCS.glob("gallery/*.py")}  # see test_gallery
    measures = tuple(f"python benchmarks/{script} " for script in MEASURES)  # see below
    elsewhere = ("topshap ", "make ", "pip install ", *measures)
    assert {command for command in SHOWN if not command.startswith(elsewhere)} <= scripts


MEASURES = {
    "fixed_budget.py": "--games games --half all --budgets 30 --runs 1 --jobs 1",
    "fixed_confidence.py": "--games games --runs 1 --jobs 1",
    "large_confidence.py": "--games trees-30 --algorithms odd-gp@k --runs 1 --jobs 1",
    "large_games.py": "--players 20 --per-player 5 --kinds sparse",
    "selection.py": "--data diabetes --splits 1 --k 3 --n-jobs 1",
}


def test_every_script_that_a_number_comes_from_is_run_below():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert set(re.findall(r"[` ]benchmarks/(\w+\.py)", text)) == set(MEASURES)


@pytest.mark.parametrize("script", MEASURES)
def test_a_script_that_measures_runs(script, folder):
    command = [sys.executable, ROOT / "benchmarks" / script, *MEASURES[script].split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_examples_in_scripts_hold():
    scripts = [path for path in (ROOT / "benchmarks").glob("*.py") if ">>>" in path.read_text(encoding="utf-8")]
    assert scripts
    done = subprocess.run([sys.executable, "-m", "doctest", *scripts], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_pictures_of_the_readme_are_drawn(tmp_path, monkeypatch, capsys):
    names = runpy.run_path(str(DOCS / "pictures.py"))
    monkeypatch.setitem(names["main"].__globals__, "FOLDER", tmp_path / "docs" / "images")
    (tmp_path / "docs").mkdir()
    names["main"]()
    drawn = {path.name for path in (tmp_path / "docs" / "images").iterdir()}
    assert drawn == set(re.findall(r"\(docs/images/(.*?)\)", (ROOT / "README.md").read_text(encoding="utf-8")))
