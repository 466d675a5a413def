"""Every command in README, CONTRIBUTING, the documentation and the help of the command line runs.

test_readme, test_docs and test_how_to run the code blocks of most pages in order. This file covers commands in running
text, in the help of the command line, and on pages that need their own files. Benchmarks run with few runs on small
games, and ``select`` evaluates two sets per column. ``pip install`` and the installations of make are not run.
"""

import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from contextlib import nullcontext
from functools import partial
from importlib import import_module
from importlib.metadata import metadata
from pathlib import Path

import httpx
import numpy as np
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

import topshap
import topshap_bench
from topshap import cli
from topshap.games import TableGame
from topshap_bench import cli as bench_cli
from topshap_bench import (
    clock,
    fixed_budget,
    fixed_confidence,
    global_games,
    goals,
    guarantee,
    guard,
    large_confidence,
    large_games,
    overhead,
    paper,
    race,
    reproduce,
    scaling,
    selection,
    tree_surrogates,
    warm_up,
)
from topshap_bench.adversarial import adversarial_game
from topshap_bench.fixed_confidence import Terms

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
BLOCKS_ARE_RUN_HERE = {"README.md", "CONTRIBUTING.md", "benchmarks.md"}
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)
OWN_SECTION = "## How do I race my own algorithm?"
"""The section of benchmarks.md that test_own_algorithm runs, in separate processes."""
COMMAND = re.compile(r"(topshap|topshap-bench|make|pip|python|mkdocs|pytest|pre-commit) \S")
ONLY_NAMES = {
    "topshap show",
    "topshap-bench engine",
    (
        "topshap-bench explain-tables --rows 1 --rows 10 --rows 200"
        " --equal-budget 100 --equal-budget 250 --keep tables.jsonl"
    ),
    "topshap-bench explain-tables --rows 2000",
    (
        "topshap-bench importance --folder datasets --setup bike-mlp --setup diabetes-mlp --setup adult-xgb"
        " --setup titanic-lgb --setup bank-lgb --setup german-rf --runs 8 --out results/importance.txt"
    ),
    "topshap-bench large-table",
    "topshap-bench data-points",
    (
        "topshap-bench data-points --folder datasets --runs 12"
        " --setting digits:bayes:1000:500 --setting adult:logistic:1000:100 --setting adult:logistic:1000:500"
        " --large 0"  # needs pydvl
    ),
    "topshap-bench data-points --setting digits:bayes:300:100 --runs 2 --large 0",  # needs pydvl
    "topshap-bench pairs --games games --models tables --rivals --seeds 5",
    "topshap-bench large-pairs --rivals --rows 3",
    "topshap-bench large-pairs --table friedman --players 30 --budget 200 --rows 1",  # needs xgboost
    "topshap-bench neurons",  # needs torch
    "topshap-bench neurons --network convolutional --seeds 1 --budget 500 --most 1000",
    "topshap-bench prompts",
    "topshap-bench prompts --concurrency",
    "topshap-bench fixed-budget",
    "topshap-bench fixed-confidence",
    "topshap-bench reproduce",
    "topshap-bench clock --rows results/race.csv --games games --unseen --quick --out results",  # needs a race
    (
        "topshap-bench race --unseen --networks --large --slow --runs 5 -k 3 -k 5"
        " --games games --out results"  # needs xgboost
    ),
    (
        "topshap-bench race --unseen --algorithm shapiq:shapleig --budget 100 --runs 3 -k 3"
        " --games games --out results"  # needs botorch
    ),
    "topshap-bench stability",
    "topshap-bench stopping --games games --runs 5",  # needs lightshap
    "topshap-bench german-credit --algorithm cmcs@k --runs 1 --out results",  # test_german_credit runs it
    (
        "topshap-bench german-credit --folder datasets --algorithm cmcs@k --algorithm samplingshap@k"
        " --algorithm greedy-cmcs --algorithm cmcs --algorithm odd-gp@k --runs 1"  # trains forests for an hour
    ),
}
"""Commands that are mentioned in the text: only their help is run."""

SMALL = {
    race: {"budgets": (20, 40), "ks": (2,), "algorithms": ("cmcs", "shapiq:svarm")},
    clock: {"largest": {"odd-gp": 250, "cmcs": 400}, "budgets": (100, 250, 400), "ks": (2,)},
    guarantee: {
        "kinds": ("voting",),
        "games": 1,
        "budgets": (40,),
        "rules": (("odd-gp@k", "asymptotic"),),
        "deltas": (0.1,),
    },
    goals: {"names": ("clear", "zero"), "games": 1, "real_runs": 1, "deltas": (0.1,)},
    paper: {"budgets": (50, 100), "ks": (1, 2), "runs_of_local_games": 1, "runs_of_table_1": 1},
    scaling: {"algorithms": ("cmcs",), "players": (10, 20), "budgets": (100, 200)},
    fixed_budget: {"half": "all", "budgets": (30,)},
    fixed_confidence: {"terms": [Terms(runs=1)], "families": ["global"]},
    reproduce: {"parts": ["pac"], "games": ["wine"]},
    large_games: {"players": (20,), "per_player": (5,), "kinds": ("sparse",)},
    large_confidence: {
        "games": ["trees-30"],
        "algorithms": ["odd-gp@k"],
        "terms": Terms(epsilon=0.05, delta=0.05, runs=1),
    },
    tree_surrogates: {"families": ["global"], "half": "all", "budgets": (30,), "models": ["sklearn"]},
    selection: {"data": ["diabetes"], "splits": 1, "ks": [3]},
    warm_up: {"lengths": (2, 4), "budgets": (40,)},
}
"""Smaller settings for the benchmarks, by module."""
FEWER = {
    **{
        module: {"runs": 1, "n_jobs": 1}
        for module in (race, clock, guarantee, goals, paper, fixed_budget, tree_surrogates, warm_up)
    },
    **{module: {"n_jobs": 1} for module in (fixed_confidence, large_confidence, selection)},
    reproduce: {"runs": 2, "n_jobs": 1},
    scaling: {"runs": 1},
}
FUNCTIONS = {scaling: "scale"}
"""The function of a module, if its name differs from that of the module."""

APPS = {"topshap": cli.build, "topshap-bench": bench_cli.build}

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
    """Return the commands of a page that no other test runs."""
    text = page.read_text(encoding="utf-8").partition(OWN_SECTION)[0]
    lines = [line for language, block in BLOCK.findall(text) if language == "bash" for line in block.splitlines()]
    spans = re.findall(r"`([^`]+)`", BLOCK.sub("", text))
    shown = [*(lines if page.name in BLOCKS_ARE_RUN_HERE else ()), *(" ".join(span.split()) for span in spans)]
    return [line for line in shown if COMMAND.match(line)]


def helps(command, name=""):
    """Yield the help of a command and of all its subcommands."""
    yield name, command.help or ""
    for below, inner in getattr(command, "commands", {}).items():
        yield from helps(inner, f"{name} {below}")


def examples():
    texts = [text for app in APPS.values() for _, text in helps(typer.main.get_command(app()))]
    found = re.findall(r"(?:^|For example: )\s*(topshap(?:-bench)? .*)", "\n".join(texts), flags=re.MULTILINE)
    return [example.partition("   ")[0] for example in found]  # a description follows after some spaces


SHOWN = sorted({command for page in PAGES for command in commands_of(page)})
TOPSHAP = [command for command in SHOWN if command.startswith(("topshap ", "topshap-bench "))]
MAKE = [command for command in SHOWN if command.startswith("make ")]


def endpoint(request):
    """Answer as an OpenAI-compatible endpoint."""
    body = json.loads(request.content)
    usage = {"prompt_tokens": 50, "completion_tokens": 2}
    if "messages" in body:
        return httpx.Response(200, json={"choices": [{"message": {"content": " The Danube."}}], "usage": usage})
    tokens = [token + " " for token in body["prompt"].split(" ")]
    log_probs = {"tokens": tokens, "token_logprobs": [-1.0 - ("Danube is" not in body["prompt"])] * len(tokens)}
    return httpx.Response(200, json={"choices": [{"logprobs": log_probs}], "usage": usage})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with all files that commands mention, and shorten the benchmarks to seconds."""
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
    request = {"base_url": "http://server/v1", "model": "small", "messages": "Which river?", "prices": [1.0, 1.0]}
    documents = ["The Danube is long.", "It rains.", "It snows.", "It is late."]
    Path("request.json").write_text(json.dumps(request | {"documents": documents}), encoding="utf-8")
    client = partial(topshap.clients.HTTPClient, transport=httpx.MockTransport(endpoint))
    monkeypatch.setattr(topshap.clients, "HTTPClient", client)
    monkeypatch.setattr(import_module("topshap.core.limits"), "default_budget", lambda n_players: 2 * n_players)
    Path("games", "global").mkdir(parents=True)
    for number, name in enumerate(("wine", "zoo")):  # --unseen leaves out the first
        hard = adversarial_game("near-tie", number)
        game = TableGame(0.001 * topshap.exact.value_table(hard), [f"x{i}" for i in range(10)])
        game.save(Path("games", "global", f"{name}.npz"))
    _write_baselines(Path("baselines"))
    monkeypatch.setattr(topshap_bench, "trained", lambda *_, **__: topshap_bench.from_folder(tmp_path / "games"))
    monkeypatch.setattr(topshap_bench, "synthetic", list)
    monkeypatch.setattr(global_games, "trained_table", lambda *_, **__: (game, None))
    monkeypatch.setattr(global_games, "RUNS", 1)
    for module in (overhead, guard):
        monkeypatch.setattr(module, "Probe", QuickProbe)
    monkeypatch.setattr(guard, "last_release", lambda: "v1.0.0")
    monkeypatch.setattr(guard, "sources_of", lambda revision: nullcontext(tmp_path))
    for module, less in SMALL.items():
        _cut(monkeypatch, module, less)
    return tmp_path


class QuickProbe(nullcontext):
    """A probe that measures nothing; test_overhead and test_guard measure."""

    names = ("shap:kernel", "cmcs", "odd-gp")

    def __init__(self, source, script=None):
        super().__init__()

    def __enter__(self):
        return self

    def measure(self, algorithm, seed, *size):
        return 1.0


def _cut(monkeypatch, module, less):
    """Run a benchmark with smaller settings."""
    name = FUNCTIONS.get(module, module.__name__.rpartition(".")[2])
    whole = getattr(module, name)
    monkeypatch.setattr(
        module, name, lambda *given, **options: whole(*given, **(options | less | FEWER.get(module, {})))
    )


def _write_baselines(folder):
    """Write published figures with errors so large that all figures agree with them."""
    folder.mkdir()
    columns = ["paper_calls", "paper_se", "measured_calls", "measured_se", "measured_distinct", "measured_distinct_se"]
    rows = [[game, algorithm, *[1e9] * 6] for game in ("wine", "zoo") for algorithm in reproduce.PAC]
    pd.DataFrame(rows, columns=["game", "algorithm", *columns]).to_csv(folder / "pac_global.csv", index=False)


def run_topshap(command):
    program, *arguments = shlex.split(command, comments=True)
    result = CliRunner().invoke(APPS[program](), arguments)
    assert result.exit_code == 0, f"{command}: {result.output} {result.exception}"
    assert result.output


@pytest.mark.parametrize("command", sorted({*TOPSHAP, *examples()}))
def test_every_documented_command_runs(command, folder):
    if command.startswith("topshap store"):
        topshap.identify(topshap.games.AdditiveGame([3.0, 1.0]), k=1, store=topshap.Store("run.db", game="weights"))
    run_topshap(f"{command} --help" if command in ONLY_NAMES else command)


def test_every_command_but_groups_shows_an_example():
    for program, groups in (("topshap", {"", " store"}), ("topshap-bench", {""})):
        commands = helps(typer.main.get_command(APPS[program]()))
        assert {name for name, text in commands if f"{program} " not in text} == groups


def made(command):
    """Return the commands that make would run."""
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
def test_every_documented_make_target_exists(command, folder):
    lines = made(command)
    assert lines
    for line in lines:
        if ".venv/bin/topshap" in line:
            run_topshap(line[line.index("topshap", line.index("bin/")) :])


def test_publish_benchmarks_copies_the_results(tmp_path):
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


def test_documented_installations_name_existing_extras_or_packages():
    extras = set(metadata("topshap").get_all("Provides-Extra"))
    lines = [line for page in PAGES for line in page.read_text(encoding="utf-8").splitlines()]
    installs = [found for line in lines for found in re.findall(r"pip install '?(?!-)([\w\[\],-]+)'?", line)]
    assert installs
    for package in installs:
        named = re.fullmatch(r"topshap\[(.*)\]", package)
        assert set(named[1].split(",")) <= extras if named else package in {"distributed", "ray"}


def test_every_other_documented_command_is_known():
    scripts = {f"python {path.relative_to(ROOT).as_posix()}" for path in DOCS.glob("gallery/*.py")}  # see test_gallery
    elsewhere = ("topshap ", "topshap-bench ", "make ", "pip install ")
    assert {command for command in SHOWN if not command.startswith(elsewhere)} <= scripts


def test_the_pictures_of_readme_and_site_are_drawn_and_the_run_is_recorded(tmp_path, monkeypatch, capsys):
    names = runpy.run_path(str(DOCS / "pictures.py"))
    folder = tmp_path / "docs" / "images"
    monkeypatch.setitem(names["main"].__globals__, "FOLDER", folder)
    folder.parent.mkdir()
    names["main"]()
    drawn = {path.name for path in folder.iterdir()}
    in_readme = re.findall(r"\(docs/images/(.*?)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    pages = [page.read_text(encoding="utf-8") for page in DOCS.glob("*.md")]
    in_site = [name for page in pages for name in re.findall(r"(?:\(|<!-- race: )images/(.*?)(?:\)| -->)", page)]
    assert drawn == {*in_readme, *in_site}
    assert in_readme
    again, shown = (json.loads((path / "recorded.json").read_text("utf-8")) for path in (folder, DOCS / "images"))
    assert again["names"] == shown["names"]
    assert again["evaluations"][-1] == shown["evaluations"][-1] == 1000
    lowest, highest = min(shown["estimates"][-1]), max(shown["estimates"][-1])
    assert again["estimates"][-1] == pytest.approx(shown["estimates"][-1], abs=0.1 * (highest - lowest))
