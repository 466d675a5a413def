"""A researcher's own algorithm and games: the documented example runs unchanged."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import topshap
import topshap_bench as bench
from topshap.core.errors import ParameterError
from topshap.games import TableGame
from topshap_bench.contestants import contestant, plans_by_budget, version_of
from topshap_bench.race import race

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "benchmarks" / "examples"
OWN = "my_algorithm:RandomMarginals"
PROGRAMS = {"python": [sys.executable], "topshap-bench": [sys.executable, "-m", "topshap_bench"]}


@pytest.fixture
def examples(tmp_path, monkeypatch):
    """Return a folder with the files of the example, as the current directory."""
    for file in EXAMPLES.glob("*.py"):
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_documented_example_runs(examples):
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    section = page.partition("## How do I race my own algorithm?")[2]
    (block,) = re.findall(r"^```bash\n(.*?)^```", section, flags=re.DOTALL | re.MULTILINE)
    for line in block.splitlines():
        program, *arguments = shlex.split(line)
        done = subprocess.run([*PROGRAMS[program], *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert {line[0] for line in lines if line and line[-2:] == ["6", "0"]} == {"odd-gp", "cmcs", OWN}
    rows = [row for row in bench.read_results(examples / "my-results" / "race.csv") if row.algorithm == OWN]
    assert len(rows) == 3 * 2 * 3
    assert {(row.family, row.evaluations) for row in rows} == {("pairs", 50), ("pairs", 100)}


@pytest.fixture
def own_module(examples, monkeypatch):
    monkeypatch.syspath_prepend(examples)
    (examples / "own_module.py").write_text(
        "from topshap.algorithms import CMCS, Algorithm\nclass Mine(CMCS):\n    pass\nmine = Mine()\nother = 3\n"
    )


@pytest.mark.usefixtures("own_module")
def test_a_class_or_an_instance_can_be_named():
    assert type(contestant("own_module:Mine")) is type(contestant("own_module:mine"))
    assert not plans_by_budget("own_module:Mine")
    assert re.fullmatch(r"own_module [0-9a-f]{8}, topshap .*", version_of("own_module:Mine"))


@pytest.mark.usefixtures("own_module")
@pytest.mark.parametrize("name", ["own_module:mine", "own_module:Mine"])
def test_an_own_algorithm_uses_as_many_evaluations_as_the_same_algorithm_by_name(name):
    rows = [
        bench.run(bench.fixed_budget_settings([bench.Source("tie", "0")], [each], ks=[3], budgets=[60], runs=2))
        for each in (name, "cmcs")
    ]
    for own, known in zip(*rows, strict=True):
        assert own.evaluations == known.evaluations == 60
        assert own.algorithm == name


@pytest.mark.usefixtures("own_module")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("own_module:other", "a subclass of topshap.algorithms.Algorithm. Got 'own_module:other'"),
        ("own_module:Algorithm", "a subclass of topshap.algorithms.Algorithm. Got 'own_module:Algorithm'"),
        ("own_module:Yours", "module 'own_module' has no attribute 'Yours'"),
        ("no_module:Mine", "in an importable module"),
        ("cmsc", "or one of 'auto', 'odd-gp'"),
    ],
)
def test_a_name_that_is_not_an_algorithm_is_refused(name, message):
    with pytest.raises(ParameterError, match=message):
        contestant(name)


def test_a_file_directly_in_the_folder_is_its_own_family(tmp_path):
    (tmp_path / "mine" / "deep").mkdir(parents=True)
    TableGame([0.0, 1.0]).save(tmp_path / "mine" / "a.npz")
    TableGame([0.0, 1.0]).save(tmp_path / "mine" / "deep" / "b.npz")
    found = bench.from_folder(tmp_path / "mine")
    assert [(source.family, source.name) for source in found] == [("deep", "b"), ("mine", "a")]
    assert bench.from_folder(tmp_path / "mine", families=["deep"]) == found[:1]
    with pytest.raises(ParameterError, match=r"'families' parameter of from_folder must be .*Got 'other'"):
        bench.from_folder(tmp_path / "mine", families=["other"])


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("algorithm", [topshap.algorithms.CMCS(), topshap.algorithms.CMCS, 3], ids=str)
def test_an_algorithm_object_is_refused(tmp_path, algorithm, n_jobs):
    with pytest.raises(ParameterError, match=r"'algorithms' parameter of race must be names .* or 'module:Class'"):
        race([bench.Source("tie", "0")], tmp_path, algorithms=[algorithm], budgets=[50], ks=[3], runs=1, n_jobs=n_jobs)
