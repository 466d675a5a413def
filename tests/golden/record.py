"""Record the results of the installed topshap: ``python tests/golden/record.py [case ...]``.

It writes ``results.json``, ``store.sqlite`` and ``result.json`` next to this file; with names of cases, only their
lines of ``results.json``. Record again only when results are meant to change, and say in the commit which of them
change, and why.
"""

from __future__ import annotations

import importlib.util
import json
import math
import sys
import tempfile
from pathlib import Path

import topshap
from topshap.algorithms import ALGORITHMS

HERE = Path(__file__).parent


def load_cases():
    """Return the module with the cases."""
    spec = importlib.util.spec_from_file_location("golden_cases", HERE / "cases.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def as_json(value):
    """Return a value with infinite numbers and nan as text, which JSON does not have."""
    if isinstance(value, dict):
        return {key: as_json(each) for key, each in value.items()}
    if isinstance(value, list):
        return [as_json(each) for each in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def run(case, cases):
    """Return the records of one case, run in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        return as_json(case(cases.Setting(Path(folder))))


def line(name, cases):
    """Return the line of one case."""
    return f"  {json.dumps(name)}: {json.dumps(run(cases.CASES[name], cases))}"


def rewrite_results(cases, names):
    """Write the records of some cases anew, and keep all others."""
    path = HERE / "results.json"
    lines = path.read_text(encoding="utf-8").splitlines()
    for name in names:
        (place,) = (i for i, each in enumerate(lines) if each.startswith(f"  {json.dumps(name)}: "))
        lines[place] = line(name, cases) + "," * lines[place].endswith(",")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_results(cases):
    """Write all records, one case a line."""
    lines = [line(name, cases) for name in cases.CASES]
    head = {
        "environment": cases.environment(),
        "fingerprints": cases.game_fingerprints(),
        "model fingerprints": cases.model_fingerprints(),
    }
    about = ",\n".join(f" {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items())
    text = "{\n" + about + ',\n "cases": {\n' + ",\n".join(lines) + "\n }\n}\n"
    (HERE / "results.json").write_text(text, encoding="utf-8")


def write_store(cases):
    """Write the values of one run, to a single file."""
    path = HERE / "store.sqlite"
    path.unlink(missing_ok=True)
    topshap.identify(cases.games.Unanimity(), budget=cases.STORED_BUDGET, store=path, **cases.STORED)
    left = [each.name for each in HERE.glob("store.sqlite-*")]
    if left:
        raise RuntimeError(f"The store was not closed: {left}")


def write_saved_result(cases):
    """Write a result with a value in every field."""
    stop = topshap.stopping.Budget(400) | topshap.stopping.Exhausted()
    options = {"epsilon": 0.5, "delta": 0.1, "guarantee": "credible", "value_range": (-10.0, 10.0), "stop": stop}
    top = topshap.identify(cases.games.Unanimity(), k=3, algorithm="swap@k", random_state=12, **options)
    top.save(HERE / "result.json")


def main():
    cases = load_cases()
    if not set(cases.ALGORITHMS) <= set(ALGORITHMS):
        raise RuntimeError(f"The cases do not match the algorithms {tuple(ALGORITHMS)}")
    if sys.argv[1:]:
        rewrite_results(cases, sys.argv[1:])
        return
    write_results(cases)
    write_store(cases)
    write_saved_result(cases)


if __name__ == "__main__":
    main()
