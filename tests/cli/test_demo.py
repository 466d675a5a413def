"""topshap demo."""

import json
import re

from typer.testing import CliRunner

from topshap import cli
from topshap.cli.demo import suspicious_tumour


def test_the_demo_prints_a_leaderboard_and_its_cost_and_writes_a_report(tmp_path):
    report = tmp_path / "report.html"
    arguments = ["demo", "-k", "3", "--budget", "300", "--report", str(report)]
    result = CliRunner().invoke(cli.build(), arguments, catch_exceptions=False)
    assert result.exit_code == 0
    assert "Top 3 of 30 players after 300 evaluations" in result.output
    assert re.search(r"Full enumeration would take 1,073,741,824: [\d,]+ times as many", result.output)
    assert str(report) in result.output
    assert "chance of being malignant" in report.read_text(encoding="utf-8")


def test_the_demo_is_an_explanation_of_one_prediction(tmp_path):
    arguments = ["demo", "-k", "3", "--budget", "100", "--json", "--report", str(tmp_path / "report.html")]
    result = CliRunner().invoke(cli.build(), arguments, catch_exceptions=False)
    explainer, x, question = suspicious_tumour()
    top = explainer.explain(x, k=3, budget=100, random_state=0)
    assert json.loads(result.stdout)["estimates"] == top.estimates.tolist()
    assert question in result.stderr
