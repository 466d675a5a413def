"""The code, the commands and the numbers of the README are correct."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import topshap
from sitetools import readme
from sitetools.figures import FIGURES, PLACEHOLDER

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
NUMBER = re.compile(r"-?\b\d+\.?\d*\b")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_readme_has_at_most_150_lines_of_at_most_100_characters():
    assert len(README.splitlines()) <= 150
    without_output = README.replace(blocks("text")[0], "")
    assert max(map(len, without_output.splitlines())) <= 100


def test_readme_starts_with_a_picture_and_a_model_and_a_row():
    start = README[: README.index("\n## ")]
    assert start.index("![") < start.index("```python") < start.index("```text")
    first = blocks("python")[0].partition("\n\n")[2].splitlines()  # without the imports
    assert len(first) == 5
    assert "topshap.Explainer(model, X" in first[2]


def test_every_python_block_runs_and_the_first_prints_what_is_shown(capsys):
    namespace: dict[str, object] = {}
    assert len(blocks("python")) >= 4
    printed = []
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), namespace)  # noqa: S102 - our own text
        printed.append(capsys.readouterr().out)
    (shown,) = blocks("text")
    assert NUMBER.sub("#", printed[0]) == NUMBER.sub("#", shown)
    assert [float(number) for number in NUMBER.findall(printed[0])] == pytest.approx(
        [float(number) for number in NUMBER.findall(shown)], rel=0.1
    )


def test_every_shell_command_is_a_make_target_or_runs(tmp_path):
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    commands = [shlex.split(line, comments=True) for block in blocks("bash") for line in block.splitlines()]
    made = [command[1:] for command in commands if command[0] == "make"]
    assert {"demo", "test"} <= {name for names in made for name in names} <= targets
    for program, *arguments in commands:
        assert program in ("make", "pip", "topshap")
        if program == "topshap":
            subprocess.run([Path(sys.executable).with_name(program), *arguments], cwd=tmp_path, check=True)


def test_the_number_of_algorithms_is_right():
    assert "**Seventeen algorithms.**" in README
    assert len(topshap.algorithms.ALGORITHMS) == 17


def test_links_lead_to_files_that_exist():
    for link in re.findall(r"\]\((?!https:)(.*?)\)", README):
        assert (ROOT / link.partition("#")[0]).exists(), link


def test_the_benchmarks_are_those_of_the_published_reports():
    assert readme.with_section(README) == README, "run make figures"
    assert readme.section() in README


def test_every_number_of_the_benchmarks_comes_from_a_report_that_is_linked():
    """The template has no numbers of its own, and tests/test_reports.py checks its figures."""
    of_the_paper = {"1", "2504.02019"}
    assert set(NUMBER.findall(PLACEHOLDER.sub("", readme.TEXT))) == of_the_paper
    used = {FIGURES[name].report for name in PLACEHOLDER.findall(readme.TEXT)}
    assert set(re.findall(r"\(docs/benchmarks/(.*?)\.txt\)", README)) == used == {"race", "confidence", "paper"}


def test_the_main_figures_agree_with_the_lines_of_the_reports():
    text = " ".join(README[README.index("## Benchmarks") :].split())
    race, confidence, paper = (
        (ROOT / "docs" / "benchmarks" / f"{name}.txt").read_text(encoding="utf-8")
        for name in ("race", "confidence", "paper")
    )
    over_all_games = race[re.search(r"^all (small )?games: ", race, flags=re.MULTILINE).start() :]
    for name, stated in {
        "shap:kernel": "{} of that of shap's KernelExplainer",
        "shap:permutation": "{} of its PermutationExplainer",
        "shapiq:oddshap": "{} of shapiq's OddSHAP",
        "shapiq:proxyshap-adjusted": "{} of its ProxySHAP",
        "shapiq:leverageshap": "{} of its LeverageSHAP",
    }.items():
        line = re.search(rf"^{name} .*$", over_all_games, flags=re.MULTILINE)[0]
        ratio = re.search(r"(\S+) \[", line)[1]
        assert stated.format(f"{float(ratio) + 1e-9:.2f}") in text
    terms = r"^global +all, .* odd-gp@k +0.0005 +\d+ +(\S+) +(\d+ of \d+)"
    fewer, wrong = re.search(terms, confidence, flags=re.MULTILINE).groups()
    assert f"{fewer} times fewer evaluations" in text
    assert f"wrong in {wrong} runs" in text
    table = paper[paper.index("Table 1:") :]
    for game, algorithm in [(game, name) for game in ("adult", "diabetes") for name in ("cmcs@k", "odd-gp@k")]:
        line = re.search(rf"^{game} +{algorithm} .*$", table, flags=re.MULTILINE)[0]
        distinct = re.findall(r"(\S+) ±", line)[-1]
        assert re.search(rf"\b{distinct}\b", text)


def test_all_code_is_python_or_shell_and_the_output_shown_is_checked():
    checked = len(blocks("python")) + len(blocks("bash")) + len(blocks("text"))
    assert len(re.findall(r"^```", README, flags=re.MULTILINE)) == 2 * checked
