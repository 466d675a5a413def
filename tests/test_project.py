"""The files around the package agree with it and with each other: versions, dependency groups, workflows."""

import re
import tomllib
from itertools import chain
from pathlib import Path

import pytest
import yaml

import topshap

ROOT = Path(__file__).parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def toml(name):
    return tomllib.loads(read(name))


PROJECT = toml("pyproject.toml")


def supported_pythons():
    classifiers = PROJECT["project"]["classifiers"]
    return [
        found[1] for each in classifiers if (found := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", each))
    ]


def commands():
    """Return every command that a workflow runs."""
    for path in WORKFLOWS:
        for job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values():
            yield from (step["run"] for step in job["steps"] if "run" in step)


@pytest.mark.parametrize("folder", [".", "benchmarks"])
def test_both_packages_read_their_version_from_one_file(folder):
    project = toml(f"{folder}/pyproject.toml")
    assert project["project"]["dynamic"] == ["version"]
    path = ROOT / folder / project["tool"]["hatch"]["version"]["path"]
    assert path.resolve() == ROOT / "src" / "topshap" / "__init__.py"
    assert f'\n__version__ = "{topshap.__version__}"\n' in path.read_text(encoding="utf-8")


def test_the_citation_has_the_version_of_the_package():
    assert yaml.safe_load(read("CITATION.cff"))["version"] == topshap.__version__


def test_extras_are_for_users_and_groups_for_development():
    extras, groups = PROJECT["project"]["optional-dependencies"], PROJECT["dependency-groups"]
    assert not set(extras) & {"browser", "dev", "docs", "heavy", "lint", "peers", "test", "types"}
    assert not set(extras) & set(groups)


def test_a_package_has_the_same_lower_bound_wherever_it_is_required():
    bounds = {}
    for project in (PROJECT, toml("benchmarks/pyproject.toml")):
        extras, groups = project["project"]["optional-dependencies"], project.get("dependency-groups", {})
        for requirement in chain(project["project"]["dependencies"], *extras.values(), *groups.values()):
            name, _, bound = requirement.partition(">=") if isinstance(requirement, str) else ("", "", "")
            if bound:
                bounds.setdefault(name, set()).add(bound)
    assert {"numpy", "pandas", "pyarrow"} <= bounds.keys()
    assert {name: found for name, found in bounds.items() if len(found) > 1} == {}


def test_groups_that_are_installed_exist():
    named = re.findall(r"--group (\w+)", read("Makefile") + read("CONTRIBUTING.md"))
    named += re.findall(r'install\(session, "(\w+)"', read("noxfile.py"))
    assert named
    assert set(named) <= set(PROJECT["dependency-groups"])


def test_workflows_test_every_supported_version_on_every_system():
    matrix = yaml.safe_load(read(".github/workflows/tests.yml"))["jobs"]["tests"]["strategy"]["matrix"]
    assert matrix["python"] == supported_pythons()
    assert matrix["os"] == ["ubuntu-latest", "macos-latest", "windows-latest"]
    assert PROJECT["project"]["requires-python"] == f">={supported_pythons()[0]}"


def test_workflows_run_sessions_and_targets_that_exist():
    sessions = set(re.findall(r"^def (\w+)\(session", read("noxfile.py"), flags=re.MULTILINE))
    targets = set(re.findall(r"^([a-z-]+):", read("Makefile"), flags=re.MULTILINE))
    matrices = re.findall(r"target: \[(.*)\]", "\n".join(path.read_text(encoding="utf-8") for path in WORKFLOWS))
    assert {target for matrix in matrices for target in matrix.split(", ")} <= targets
    for command in commands():
        if command.startswith("nox"):
            named = command.partition(" -- ")[0].partition("--session ")[2].split()
            named = re.sub(r"\$\{\{.*?\}\}", "", " ".join(named)).split()
            assert named
            assert {name.rstrip("-") for name in named} <= sessions, command
        elif command.startswith("make") and "$" not in command:
            assert command.split()[1] in targets


def test_every_public_extra_is_in_all_or_named_as_left_out():
    extras = PROJECT["project"]["optional-dependencies"]
    in_all = set(re.search(r"\[(.*)\]", extras["all"][0])[1].split(","))
    assert set(extras) - in_all == {"all", "cluster", "litellm", "torch", "transformers"}
