"""The how-to pages are correct: their code blocks and commands run, in order."""

import logging
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

PAGES = Path(__file__).parent.parent / "docs" / "how-to"
BINARIES = Path(sys.executable).parent


def blocks(page):
    return re.findall(r"```(\w+)\n(.*?)```", (PAGES / page).read_text(encoding="utf-8"), flags=re.DOTALL)


def run(page, *, skip=()):
    """Run a page from top to bottom in the current folder."""
    namespace = {"__name__": "__main__"}
    for language, text in blocks(page):
        if any(word in text for word in skip):
            continue
        if language == "python":
            exec(compile(text, page, "exec"), namespace)  # noqa: S102 - our own text
        else:
            assert language == "bash"
            for line in text.splitlines():
                program, *arguments = line.split()
                if program != "pip":
                    subprocess.run([BINARIES / program, *arguments], check=True, capture_output=True)


@pytest.fixture
def _logging_as_it_was():
    """Restore the loggers that a page configures."""
    root, ours = logging.getLogger(), logging.getLogger("topshap")
    before = root.handlers[:], root.level, ours.level
    yield
    root.handlers[:] = before[0]
    root.setLevel(before[1])
    ours.setLevel(before[2])


@pytest.mark.usefixtures("_logging_as_it_was")
def test_the_page_on_expensive_functions_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run("expensive-functions.md")
    printed = capsys.readouterr().out
    assert "Top 3 of 10 players" in printed
    assert "it is called 'my-model-v1' there and 'my-model-v2' here" in printed
    assert (tmp_path / "evaluations.csv").exists()
    assert (tmp_path / "evaluations.parquet").exists()


def test_the_page_on_clusters_runs_with_dask(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("clusters.md", skip=["ray"])
    assert len((tmp_path / "experiment.csv").read_text().splitlines()) == 1 + 16


@pytest.mark.cluster
def test_the_page_on_clusters_runs_with_ray(tmp_path, monkeypatch):
    pytest.importorskip("ray", reason="ray is not installed")
    monkeypatch.chdir(tmp_path)
    run("clusters.md", skip=["Client("])


OTHERS = sorted(page.name for page in PAGES.glob("*.md") if page.stem not in {"expensive-functions", "clusters"})


@pytest.mark.parametrize("page", OTHERS)
def test_every_other_page_runs(page, tmp_path, monkeypatch):
    if page == "neurons.md":
        pytest.importorskip("torch", reason="torch is in the extra 'torch'")
    monkeypatch.chdir(tmp_path)
    assert blocks(page)
    run(page, skip=() if find_spec("shapiq") else ["import shapiq"])


def test_the_pages_link_to_pages_that_exist():
    for page in PAGES.glob("*.md"):
        for link in re.findall(r"\]\((.*?)\)", page.read_text(encoding="utf-8")):
            assert (PAGES / link.partition("#")[0]).exists()


def test_the_page_on_training_points_runs(capsys):
    run("training-points.md")
    printed = capsys.readouterr().out
    found = int(re.search(r"(\d+) of the 50 lowest points have a wrong label", printed).group(1))
    assert found > 25
    assert "('99', " in printed
