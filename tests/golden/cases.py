"""The cases that are recorded and replayed, each a run through an entry point of topshap.

`CASES` maps the name of a case to a function of a `Setting` that returns its records, one per result. `record.py`
writes them to ``results.json``, and ``test_golden.py`` compares the results of the installed topshap with them.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import importlib.util
import io
import runpy
import shutil
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy.linalg
import scipy.special
import sklearn
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import topshap
from topshap import stopping

HERE = Path(__file__).parent


def load(name):
    """Return a module of this folder, however Python was started."""
    spec = importlib.util.spec_from_file_location(f"golden_{name}", HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


games = load("games")

SURROGATES = ("odd-gp", "odd-gp@k")
"""Algorithms that fit a Gaussian process; ``"auto"`` mostly runs one of them."""
ALGORITHMS = (
    *SURROGATES,
    "swap@k",
    "cmcs",
    "greedy-cmcs",
    "cmcs@k",
    "independent",
    "same-length",
    "identical",
    "approshapley",
    "kernelshap",
    "stratified-svarm",
    "bus",
    "samplingshap@k",
    "gap-e",
    "sar",
)
"""All algorithms."""
PLAN_BY_BUDGET = ("odd-gp", "kernelshap", "gap-e", "sar")
"""Algorithms that need a budget."""
ASYMPTOTIC = ("odd-gp@k", "swap@k")
"""Algorithms that stop by themselves with ``guarantee="asymptotic"``; all do with ``"credible"``."""
PUBLISHED = ("cmcs", "greedy-cmcs", "cmcs@k", "samplingshap@k")
"""Algorithms with ``guarantee="published"``, which was called ``"asymptotic"`` at the time of the recording."""
BY_VALUE_ONLY = ("odd-gp@k", "swap@k", "greedy-cmcs", "cmcs@k", "samplingshap@k", "bus", "gap-e", "sar")
"""Algorithms that do not rank by magnitude."""
EXTENDABLE = (
    "cmcs",
    "greedy-cmcs",
    "cmcs@k",
    "independent",
    "same-length",
    "identical",
    "approshapley",
    "stratified-svarm",
    "bus",
    "samplingshap@k",
)
"""Algorithms whose races can be extended."""

BUDGETS = {"unanimity": (20, 110, 420), "squashed": (13, 70, 260), "lookup": (9, 40, 110), "threshold": (25, 140, 480)}
"""For each game, a budget below 2 n + 2 evaluations, a medium and a large one."""
K = {"unanimity": 3, "squashed": 3, "lookup": 2, "threshold": 5}


class Setting(NamedTuple):
    """The folder in which a case runs, and further options for its commands."""

    folder: Path
    select_options: tuple[str, ...] = ("--folds", "3")
    """Further options of ``topshap select``, which had 3 folds when its results were recorded first."""


def plain(top, **also):
    """Return the recorded fields of a result."""
    return {
        "players": top.players.tolist(),
        "names": list(top.names),
        "evaluations": int(top.evaluations),
        "calls": int(top.calls),
        "stopped": top.stopped,
        "algorithm": top.algorithm,
        "guarantee": top.guarantee,
        "rank_by": top.rank_by,
        "estimates": top.estimates.tolist(),
        "std_errors": top.std_errors.tolist(),
        "confidence": float(top.confidence),
        **also,
    }


def identified(setting, make_game, k, **options):
    """Identify the top k of a new game."""
    return [plain(topshap.identify(make_game(), k=k, **options))]


CASES = {}


def case(name):
    """Add a function to the cases."""

    def add(function):
        CASES[name] = function
        return function

    return add


def add_identify(name, game, **options):
    make_game = games.Noisy if game == "noisy" else games.GAMES[game]
    CASES[name] = partial(identified, make_game=make_game, **({"k": K.get(game, 3), "random_state": 0} | options))


def add_fixed_budgets():
    for game, budgets in BUDGETS.items():
        for algorithm in ("auto", *ALGORITHMS):
            for budget in budgets:
                for seed in (0, 1):
                    name = f"{algorithm}/{game}/budget={budget}/seed={seed}"
                    add_identify(name, game, algorithm=algorithm, budget=budget, random_state=seed)
        everything = 2 ** games.GAMES[game].n_players
        for algorithm, budget in (("auto", everything), ("cmcs", everything + 7)):
            add_identify(f"enumeration/{algorithm}/{game}", game, algorithm=algorithm, budget=budget)


def add_fixed_confidence():
    limit = {"odd-gp": 150, "odd-gp@k": 300}
    for game, epsilon in (("lookup", 0.4), ("unanimity", 0.5)):
        confident = ("auto", *ASYMPTOTIC, *PUBLISHED)
        for guarantee, algorithms in (("asymptotic", confident), ("credible", ("auto", *ALGORITHMS))):
            for algorithm in algorithms:
                budget = limit.get(algorithm, 800 if algorithm in PLAN_BY_BUDGET else 1200)
                add_identify(
                    f"{guarantee}/{algorithm}/{game}",
                    game,
                    algorithm=algorithm,
                    guarantee="published" if guarantee == "asymptotic" and algorithm in PUBLISHED else guarantee,
                    epsilon=epsilon,
                    delta=0.1,
                    budget=None if game == "lookup" and algorithm not in PLAN_BY_BUDGET else budget,
                )
    exact = {"epsilon": 0.15, "delta": 0.1, "guarantee": "exact"}
    for algorithm in ("auto", "swap@k"):
        bounded = exact | {"value_range": (0.0, 1.0), "algorithm": algorithm}
        add_identify(f"exact/{algorithm}/squashed", "squashed", **bounded)
        add_identify(f"exact/{algorithm}/squashed/budget", "squashed", **bounded, budget=200)
        add_identify(f"exact/{algorithm}/squashed/calls", "squashed", **bounded, budget=900, counting="calls")
    add_identify("exact/auto/squashed/no range", "squashed", **exact)
    add_identify("exact/auto/lookup/epsilon=0", "lookup", **exact | {"epsilon": 0.0})


def add_options():
    for algorithm in ("auto", *ALGORITHMS):
        add_identify(f"calls/{algorithm}", "lookup", algorithm=algorithm, budget=150, counting="calls")
        if algorithm != "odd-gp@k":
            add_identify(f"noisy/{algorithm}", "noisy", algorithm=algorithm, budget=120, random_state=3)
        if algorithm not in BY_VALUE_ONLY:
            by_magnitude = {"algorithm": algorithm, "rank_by": "magnitude"}
            add_identify(f"magnitude/{algorithm}", "squashed", **by_magnitude, budget=90)
    for k in (1, 9):
        for algorithm in ("auto", "swap@k", "greedy-cmcs", "kernelshap"):
            add_identify(f"k={k}/{algorithm}", "squashed", k=k, algorithm=algorithm, budget=60)
    add_identify("default budget", "threshold", algorithm="cmcs")
    add_identify("names", "squashed", budget=40, player_names=[f"x{i}" for i in range(9)])
    for guarantee in ("asymptotic", "credible"):
        sure = {"epsilon": 0.5, "delta": 0.1, "guarantee": guarantee, "budget": 2000}
        add_identify(f"noisy/auto/{guarantee}", "noisy", **sure)


def add_criteria():
    sure = stopping.Confidence(epsilon=0.5, delta=0.1, guarantee="credible")
    precise = stopping.When(lambda race: race.standing.std_errors.max() < 0.4)
    criteria = {
        "Budget": stopping.Budget(75),
        "Budget or precise": stopping.Budget(500) | precise,
        "Budget and precise": stopping.Budget(150) & precise,
        "Confidence": sure,
        "Confidence or Budget": sure | stopping.Budget(120),
        "Confidence and Budget": sure & stopping.Budget(250),
        "nested": (sure & stopping.Budget(60)) | (stopping.Budget(300) & precise),
        "function": lambda race: race.evaluations >= 64,
    }
    for algorithm in ("auto", "cmcs", "greedy-cmcs", "swap@k", "same-length", "stratified-svarm"):
        for name, stop in criteria.items():
            if name != "Confidence" or algorithm not in ("same-length", "stratified-svarm"):
                add_identify(f"stop/{name}/{algorithm}", "unanimity", algorithm=algorithm, stop=stop)
    add_identify("stop/Exhausted", "lookup", stop=stopping.Exhausted(), counting="calls", algorithm="cmcs")
    add_identify("stop/with epsilon and budget", "unanimity", epsilon=0.5, stop=precise, budget=300, algorithm="swap@k")


add_fixed_budgets()
add_fixed_confidence()
add_options()
add_criteria()


@case("algorithm with parameters")
def algorithm_with_parameters(setting):
    from topshap.algorithms import ALGORITHMS as KINDS

    algorithm = KINDS["greedy-cmcs"](warm_up=8)  # type: ignore[call-arg]
    return identified(setting, games.Unanimity, 3, algorithm=algorithm, budget=200, random_state=4)


@case("generator")
def generator(setting):
    rng = np.random.default_rng(11)
    return identified(setting, games.Unanimity, 3, algorithm="cmcs", budget=99, random_state=rng)


@case("callback")
def callback(setting):
    def enough(race):
        return race.evaluations > 100

    return identified(setting, games.Threshold, 4, algorithm="greedy-cmcs", callback=enough, random_state=5)


@case("per_coalition")
def per_coalition(setting):
    game = topshap.games.per_coalition(lambda row: float(games.unanimity(row[None])[0]), n_players=12)
    return [plain(topshap.identify(game, k=3, budget=90, algorithm="swap@k", random_state=0))]


async def one_coalition(coalition):
    """Return the value of one coalition, after a wait that changes the order of the answers."""
    await asyncio.sleep(0.0002 * (int(coalition.sum()) % 3))
    return float(games.unanimity(coalition[None])[0])


def awaited(setting, **options):
    game = topshap.games.per_coalition(one_coalition, n_players=12)
    return [plain(asyncio.run(topshap.aidentify(game, k=3, random_state=2, **options)))]


CASES["aidentify/auto"] = partial(awaited, budget=60)
CASES["aidentify/cmcs"] = partial(awaited, budget=100, algorithm="cmcs", concurrency=3)
CASES["aidentify/credible"] = partial(
    awaited, budget=150, algorithm="swap@k", epsilon=1.0, guarantee="credible", concurrency=1
)


def told_backwards(race, game):
    """Answer a batch in pieces from its end, after asking twice and telling a value too few."""
    asked = race.ask()
    with contextlib.suppress(topshap.TopshapError):
        race.tell(game(asked)[1:])
    values = np.concatenate([game(piece[::-1]) for piece in np.array_split(asked[::-1], 3)[::-1] if len(piece)])
    again = race.ask()
    again[:] = False  # a copy: the race does not notice
    race.tell(values.tolist())
    return len(asked)


def raced(setting, algorithm, game="unanimity", *, at_most=10_000, **options):
    """Drive a race with ask and tell, and record its result half way, too."""
    game = games.GAMES[game]()
    race = topshap.Race(game.n_players, 3, algorithm=algorithm, random_state=6, **options)
    sizes, half_way = [], []
    while not race.done and len(sizes) < at_most:
        sizes.append(told_backwards(race, game))
        if len(sizes) == 2:
            half_way = [plain(race.result())]
    return [*half_way, plain(race.result(), asked=sizes)]


for name in ("auto", *ALGORITHMS):
    CASES[f"race/{name}"] = partial(raced, algorithm=name, budget=85)
CASES["race/calls"] = partial(raced, algorithm="same-length", game="lookup", budget=200, counting="calls")
CASES["race/not over"] = partial(raced, algorithm="cmcs", budget=2000, at_most=3)
CASES["race/credible"] = partial(raced, algorithm="swap@k", epsilon=0.75, guarantee="credible", budget=500)


@case("race/clock")
def race_with_clock(setting):
    """A second passes with every batch."""
    game, seconds = games.Threshold(), []
    options = {"algorithm": "greedy-cmcs", "stop": stopping.TimeLimit(12) | stopping.Budget(4000), "random_state": 7}
    race = topshap.Race(game.n_players, 5, clock=lambda: float(len(seconds)), **options)
    while not race.done:
        race.tell(game(race.ask()))
        seconds.append(1)
    return [plain(race.result(), asked=len(seconds))]


@case("race/noisy")
def race_with_noise(setting):
    game = games.Noisy()
    race = topshap.Race(8, 3, deterministic=False, budget=150, algorithm="cmcs", random_state=8)
    while not race.done:
        race.tell(game(race.ask()))
    return [plain(race.result())]


def extended(setting, algorithm, **options):
    """Extend a race twice."""
    game, records = games.Unanimity(), []
    race = topshap.Race(12, 3, budget=50, algorithm=algorithm, random_state=9, **options)
    for budget in (121, 260, None):
        while not race.done:
            race.tell(game(race.ask()))
        records.append(plain(race.result()))
        if budget is not None:
            race.extend(budget)
    return records


for name in EXTENDABLE:
    CASES[f"extend/{name}"] = partial(extended, algorithm=name)
CASES["extend/cmcs/calls"] = partial(extended, algorithm="cmcs", counting="calls")


@case("store/fresh")
def fresh_store(setting):
    """Two runs with one store: the second does not evaluate again what the first has stored."""
    path = setting.folder / "run.sqlite"
    runs = [{"budget": 70, "algorithm": "swap@k"}, {"budget": 110, "algorithm": "swap@k"}]
    return [
        plain(topshap.identify(games.Unanimity(), k=3, random_state=0, store=path, **options), kept=kept_in(path))
        for options in runs
    ]


def kept_in(path):
    """Return how many values a store holds."""
    with topshap.Store(path) as store:
        return store.info().evaluations


STORED = {"k": 3, "algorithm": "cmcs", "random_state": 10}
"""The run whose store is recorded; it does not depend on rounding."""
STORED_BUDGET, LARGER_BUDGET = 60, 100
add_identify("store/paid", "unanimity", **STORED, budget=STORED_BUDGET)
add_identify("store/larger", "unanimity", **STORED, budget=LARGER_BUDGET)


# Entry points for models and tables.


def table(rows=60, columns=8):
    """Return numbers that are exact in binary, and a target that depends on some of them."""
    X = np.random.default_rng(22).integers(-16, 17, size=(rows, columns)) / 8
    y = 2 * X[:, 0] - X[:, 3] + X[:, 1] * X[:, 2] + np.abs(X[:, 5])
    return X, y


def frame(rows=60):
    """Return a table of numbers, flags and categories, with a target of each kind."""
    rng = np.random.default_rng(23)
    data = pd.DataFrame(
        {
            "rooms": rng.integers(1, 7, rows),
            "age": rng.integers(0, 80, rows) / 2,
            "city": rng.choice(["Graz", "Linz", "Wien"], rows),
            "garden": rng.integers(0, 2, rows),
            "floor": rng.integers(0, 9, rows) / 1.0,
            "noise": rng.integers(-8, 9, rows) / 8,
            "street": rng.choice(["a", "b", "c", "d"], rows),
        }
    )
    price = games.predict_row(data) + data["noise"] / 4
    return data.assign(price=price, dear=np.where(price > price.median(), "yes", "no"))


def predicted(X):
    """Return two outputs per row, by operations that are exact everywhere."""
    score = 2 * X[:, 0] - X[:, 3] + X[:, 1] * X[:, 2] + np.maximum(X[:, 5], X[:, 6])
    return np.stack([score, score / (1 + np.abs(score))], axis=1)


class Classifier:
    """A model with probabilities."""

    classes_ = np.array(["a", "b", "c"])

    def predict_proba(self, X):
        odds = 1.0 + np.stack([np.abs(X[:, 0] + X[:, 1]), X[:, 2] ** 2, np.abs(X[:, 3] * X[:, 4])], axis=1)
        return odds / odds.sum(axis=1, keepdims=True)


MEAN = {"imputer": "mean-mode"}
"""The imputer of the recorded results, unless a case names another."""


def explained(setting, model=predicted, background=None, *, x=None, k=3, **options):
    X, _ = table()
    background = X[:20] if background is None else background
    explainer = topshap.Explainer(model, background, random_state=0, **(MEAN | options))
    return [plain(explainer.explain(X[40] if x is None else x, k=k))]


def explained_rows(setting, **options):
    X, _ = table()
    explainer = topshap.Explainer(predicted, X[:20], output=1, budget=60, random_state=1, **(MEAN | options))
    return [plain(top) for top in explainer.explain_many(X[41:44], k=2)]


def explained_in_frame(setting, **options):
    data = frame().drop(columns=["price", "dear"])
    data["city"] = data["city"].astype("category")
    options = MEAN | options
    explainer = topshap.Explainer(games.predict_row, data.iloc[:20], budget=50, random_state=2, **options)
    tops = [explainer.explain(data.iloc[30], k=2), *explainer.explain_many(data.iloc[31:33], k=2)]
    return [plain(top) for top in tops]


GROUPS = {"first": [0, 1], "last": [6, 7]}
for name in ("mean-mode", "marginal", "conditional"):
    CASES[f"explainer/{name}"] = partial(explained, output=0, imputer=name, budget=70)
    CASES[f"explainer/{name}/frame"] = partial(explained_in_frame, imputer=name)
    CASES[f"explainer/{name}/rows"] = partial(explained_rows, imputer=name)
CASES["explainer/baseline"] = partial(explained, output=0, imputer="baseline", background=np.zeros((1, 8)), budget=70)
CASES["explainer/groups"] = partial(explained, output=0, groups=GROUPS, always=[4], budget=25)
CASES["explainer/exact"] = partial(explained, output=1, groups=GROUPS, budget=64)
CASES["explainer/rows/cmcs"] = partial(explained_rows, algorithm="cmcs", rank_by="magnitude")
CASES["explainer/class"] = partial(explained, model=Classifier(), output="b", budget=60, algorithm="kernelshap")
CASES["explainer/names"] = partial(
    explained, output=0, feature_names=list("stuvwxyz"), categorical=["s", "t"], budget=60, algorithm="cmcs"
)
CASES["explainer/frame/groups"] = partial(explained_in_frame, groups={"place": ["city", "street"]}, algorithm="swap@k")


def selected(setting, estimator, *, named=False, classes=False, **options):
    X, y = table()
    target = (y > 0).astype(int) if classes else y
    X = pd.DataFrame(X, columns=list("abcdefgh")) if named else X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", topshap.UncertainResultWarning)  # a result is recorded however certain it is
        selector = topshap.TopKSelector(estimator, random_state=3, **options).fit(X, target)
    return [plain(selector.result_, support=selector.get_support().tolist())]


CASES["selector/tree"] = partial(selected, estimator=DecisionTreeRegressor(max_depth=3), k=3, cv=3, budget=40)
CASES["selector/classes"] = partial(
    selected, estimator=DecisionTreeClassifier(max_depth=3), classes=True, k=2, cv=3, budget=30
)
CASES["selector/linear"] = partial(selected, estimator=LinearRegression(), k=2, budget=30, scoring="r2")
CASES["selector/groups"] = partial(
    selected,
    estimator=DecisionTreeRegressor(max_depth=3),
    named=True,
    groups={"pair": ["b", "c"]},
    scoring="neg_mean_absolute_error",
    cv=0.25,
    k=2,
    budget=40,
)
CASES["selector/epsilon"] = partial(
    selected, estimator=DecisionTreeRegressor(max_depth=2), k=1, cv=2, epsilon=0.2, delta=0.2, budget=60
)


# The command line.


def commanded(setting, command):
    """Run ``python -m topshap`` with this command and ``--json``, in a folder with a table and a module of games."""
    arguments = command.split()
    shutil.copy(HERE / "games.py", setting.folder / "golden_games.py")
    frame().to_csv(setting.folder / "houses.csv", index=False)
    also = setting.select_options if arguments[0] == "select" else ()
    out = setting.folder / "out.json"
    out.write_text(printed(setting.folder, [*arguments, *also, "--json"]))
    return [plain(topshap.load(out))]


def printed(folder, arguments):
    """Return the output of the command, run in this process since imports take longer than most runs."""
    argv, path = sys.argv, sys.path.copy()
    out, err = io.StringIO(), io.StringIO()
    try:
        sys.argv = ["topshap", *arguments]
        with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            runpy.run_module("topshap", run_name="__main__")
    except SystemExit as ended:
        if ended.code:
            raise AssertionError(f"topshap {' '.join(arguments)} failed: {err.getvalue()}") from ended
    finally:
        sys.argv, sys.path[:] = argv, path
        sys.modules.pop("golden_games", None)
    return out.getvalue()


COMMANDS = {
    "identify": "identify golden_games:unanimity -k 3 --budget 80",
    "identify/cmcs": "identify golden_games:squashed -k 2 --players 9 --budget 120 --algorithm cmcs --seed 4",
    "identify/magnitude": "identify golden_games:squashed -k 2 --budget 60 --rank-by magnitude",
    "identify/credible": "identify golden_games:unanimity -k 3 --epsilon 0.5 --delta 0.1 --guarantee credible "
    "--algorithm swap@k --budget 500",
    "identify/exact": "identify golden_games:squashed -k 2 --epsilon 0.1 --guarantee exact --value-range 0 1",
    "identify/store": "identify golden_games:unanimity -k 3 --budget 80 --algorithm greedy-cmcs --store run.sqlite",
    "select/forest": "select houses.csv --target dear --drop price -k 2 --budget 12",
    "select/linear": "select houses.csv --target price --drop dear -k 3 --model linear --budget 40 --seed 1",
    "select/boosting": "select houses.csv --target price --drop dear --drop noise -k 2 --model boosting --budget 8",
    "explain/forest": "explain houses.csv --target dear --drop price --row 5 -k 2 --budget 60 --imputer mean-mode",
    "explain/linear": "explain houses.csv --target price --drop dear --row 6 -k 3 --model linear --budget 50 --seed 2 "
    "--imputer mean-mode",
    "explain/class": "explain houses.csv --target dear --drop price --row 7 -k 2 --model linear --imputer mean-mode "
    "--output no --budget 60",
    "explain/predict": "explain houses.csv --row 8 --drop price --drop dear -k 2 --predict golden_games:predict_row "
    "--imputer mean-mode "
    "--rank-by magnitude --budget 50",
}
for name, command in COMMANDS.items():
    CASES[f"command/{name}"] = partial(commanded, command=command)


# Fingerprints of games, which existing stores contain.


class Named:
    """A function of rows with a given fingerprint, which does not depend on compiled code."""

    fingerprint = "golden-predict-1"

    def __call__(self, X):
        return X[:, 0] - X[:, 1]


def game_fingerprints():
    """Return fingerprints of games of topshap that depend neither on versions nor on the machine."""
    X, _ = table()
    made = {
        "AdditiveGame": topshap.games.AdditiveGame([3.0, 1.0, 2.0], baseline=5.0),
        "AirportGame": topshap.games.AirportGame([1.0, 2.0, 2.0]),
        "AllOrNothingGame": topshap.games.AllOrNothingGame(4),
        "GloveGame": topshap.games.GloveGame(2, 3),
        "UnanimityGame": topshap.games.UnanimityGame([[0, 1], [2]], [3.0, 1.0], n_players=4),
        "VotingGame": topshap.games.VotingGame([3, 2, 1], quota=4),
        "TableGame": topshap.games.TableGame(games.Lookup().table),
        "PerCoalition": topshap.games.per_coalition(Named(), n_players=3),
        "PredictionGame": topshap.games.PredictionGame(Named(), X[0], X[1:9]),
        "PredictionGame/groups": topshap.games.PredictionGame(Named(), X[0], X[1:9], imputer="marginal", groups=GROUPS),
        "TextGame": topshap.games.TextGame(Named(), "three short words"),
    }
    return {name: game.fingerprint for name, game in made.items()}  # type: ignore[attr-defined]


def model_fingerprints():
    """Return the fingerprints of games with models, which count by the names and versions of the packages they need."""
    X, y = table()
    tree, fitted = DecisionTreeRegressor(max_depth=2), DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y > 0)
    made = {
        "DataGame": topshap.games.DataGame(tree, X[:9], y[:9], X[9:], y[9:]),
        "EnsembleGame": topshap.games.EnsembleGame([("a", fitted), ("b", fitted)], X, y > 0),
        "Explainer": topshap.Explainer(Named(), X[:9], imputer="conditional").game(X[9]),
        "Explainer/classifier": topshap.Explainer(fitted, X[:9], output=fitted.classes_[1], **MEAN).game(X[9]),
        "RetrainingGame": topshap.games.RetrainingGame(tree, X, y, cv=3),
        "RetrainingGame/scoring": topshap.games.RetrainingGame(tree, X, y, cv=3, scoring="r2"),
        "UnsupervisedGame": topshap.games.UnsupervisedGame(X[:, :4]),
    }
    return {name: game.fingerprint for name, game in made.items()}


def environment():
    """Return versions, and a hash of the last bits of linear algebra in numpy and scipy on this machine."""
    rng = np.random.default_rng(24)
    results = []
    for n in (7, 40, 96):
        A, b = rng.integers(-99, 100, size=(n, n)) / 7, rng.integers(-99, 100, size=n) / 3
        gram = A @ A.T + n * np.eye(n)
        factor = scipy.linalg.cholesky(gram, lower=True)
        results += [A @ A, A @ b, gram, factor, scipy.linalg.solve_triangular(factor, b, lower=True)]
        results += [np.linalg.cholesky(gram), np.linalg.eigh(gram)[1], scipy.linalg.eigh(gram)[0]]
        results += [np.exp(-np.abs(A)), np.log(gram.diagonal()), scipy.special.ndtr(b), scipy.special.expit(b)]
    digest = hashlib.sha256(b"".join(np.ascontiguousarray(each).tobytes() for each in results)).hexdigest()
    packages = {each.__name__: each.__version__ for each in (np, scipy, sklearn, topshap)}
    return {"python": list(sys.version_info[:2]), **packages, "blas": digest[:16]}
