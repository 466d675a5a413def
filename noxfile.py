"""The checks of continuous integration, in environments of their own: ``nox --list`` shows them.

``nox`` runs lint, types and the tests on every interpreter it finds. ``make test`` needs no nox and runs the same
checks in one environment.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import nox

if TYPE_CHECKING:
    from collections.abc import Sequence

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.error_on_missing_interpreters = False
nox.options.reuse_venv = "yes"
nox.options.sessions = ["lint", "types", "tests"]

GROUPS = nox.project.load_toml("pyproject.toml")
PYTHONS = [version for version in nox.project.python_versions(GROUPS) if version != "3"]
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def install(session: nox.Session, *groups: str, extras: str = "all", options: Sequence[str] = ()) -> None:
    """Install topshap and topshap-bench from this checkout, with extras of topshap and dependency groups."""
    packages = nox.project.dependency_groups(GROUPS, *groups)
    session.install(*options, "--editable", f".[{extras}]", "--editable", "benchmarks", *packages)


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Run the tests and doctests."""
    install(session, "test")
    session.run("pytest", "--numprocesses", "2", *session.posargs, env=ONE_THREAD)


@nox.session(python=PYTHONS[0], venv_backend="uv")
def lowest(session: nox.Session) -> None:
    """Run the tests with the lowest versions of the dependencies, including dask, ray and xgboost."""
    install(session, "peers", extras="all,cluster", options=["--resolution=lowest-direct"])
    # Old versions warn about each other: a warning is not an error here.
    session.run("pytest", "--numprocesses", "2", "-W", "default", *session.posargs, env=ONE_THREAD)
    session.run("pytest", "-m", "cluster", "-W", "default", "tests/evaluation/test_clusters.py", env=ONE_THREAD)


@nox.session(venv_backend="uv")
def prereleases(session: nox.Session) -> None:
    """Run the tests with pre-releases of the dependencies."""
    install(session, "test", options=["--prerelease=allow"])
    session.run("pytest", "--numprocesses", "2", *session.posargs, env=ONE_THREAD)


@nox.session(python=PYTHONS)
def plain(session: nox.Session) -> None:
    """Import topshap and run a race with no extra installed."""
    session.install(".")
    session.run("python", "-c", PLAIN)


PLAIN = """
import topshap
game = topshap.games.UnanimityGame([[0], [1, 2], [2, 3]], [3.0, 1.0, 2.0], n_players=10)
print(topshap.identify(game, k=2, budget=100, random_state=0))
"""


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, spelling and the layers of the package."""
    install(session, "lint")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("codespell")
    session.run("lint-imports", "--no-cache")


@nox.session
def types(session: nox.Session) -> None:
    """Check types, of the tests too."""
    install(session, "types")
    session.run("mypy")


@nox.session
def coverage(session: nox.Session) -> None:
    """Run the tests and fail below the floor of coverage."""
    install(session, "coverage")
    session.run("pytest", "--numprocesses", "2", "--cov", *session.posargs, env=ONE_THREAD)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the site, without warnings."""
    install(session, "docs")
    session.run("mkdocs", "build", "--strict", env=ONE_THREAD | {"NO_MKDOCS_2_WARNING": "1"})


@nox.session
def build(session: nox.Session) -> None:
    """Build the sdist and the wheel into dist."""
    session.install("build", "twine")
    shutil.rmtree("dist", ignore_errors=True)
    session.run("python", "-m", "build")
    session.run("twine", "check", "--strict", *map(str, Path("dist").iterdir()))
