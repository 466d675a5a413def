"""A small table with categories, missing values, dates and uninformative columns."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from topshap import cli


@pytest.fixture(scope="session")
def houses():
    rng = np.random.default_rng(0)
    n = 120
    rooms = rng.integers(1, 7, n).astype(float)
    city = rng.choice(["Graz", "Linz", "Wien"], n)
    price = 50.0 * rooms + 100.0 * (city == "Wien") + rng.normal(0.0, 5.0, n)
    rooms[::15] = np.nan
    return pd.DataFrame(
        {
            "id": [f"h{i}" for i in range(n)],
            "rooms": rooms,
            "city": np.where(np.arange(n) % 11 == 0, None, city),
            "noise": rng.normal(size=n),
            "old": rng.random(n) < 0.5,
            "price": price,
            "dear": np.where(price > 250.0, "yes", "no"),
        }
    )


@pytest.fixture
def folder(tmp_path, monkeypatch, houses):
    """Return an empty folder to work in, with the table as houses.csv."""
    monkeypatch.chdir(tmp_path)
    houses.to_csv("houses.csv", index=False)
    return tmp_path


@pytest.fixture
def run():
    """Return a function that runs a command and returns its result, with the exception if it failed."""
    return lambda *arguments: CliRunner().invoke(cli.build(), [str(argument) for argument in arguments])
