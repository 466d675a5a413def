"""topshap show."""

import pytest
from typer.testing import CliRunner

import topshap
from topshap import cli


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    game = topshap.games.UnanimityGame([[0], [1, 2], [2, 3]], [3.0, 1.0, 2.0], n_players=10)
    path = tmp_path_factory.mktemp("saved") / "result.json"
    topshap.identify(game, k=2, budget=200, random_state=0).save(path)
    return path


def run(*arguments):
    return CliRunner().invoke(cli.build(), ["show", *map(str, arguments)])


def test_a_saved_result_is_printed(saved):
    result = run(saved)
    assert result.exit_code == 0
    assert result.output == f"{topshap.load(saved)}\n"


@pytest.mark.parametrize("kind", ["leaderboard", "race", "pairwise"])
def test_a_plot_is_written(saved, tmp_path, kind):
    result = run(saved, "--plot", tmp_path / "out.png", "--kind", kind)
    assert result.exit_code == 0
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    assert f"The plot is in {tmp_path / 'out.png'}" in result.output.replace("\n", "")


def test_a_report_is_written(saved, tmp_path):
    assert run(saved, "--report", tmp_path / "out.html", "--title", "Who?").exit_code == 0
    assert "<h1>Who?</h1>" in (tmp_path / "out.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.json"], "The file 'missing.json' does not exist"),
        (["{saved}", "--plot", "out.docx"], "The plot must be a file of type .*png.* Got 'out.docx' instead"),
        (["{saved}", "--report", "no/r.html"], "Cannot write 'no/r.html': the directory 'no' does not exist"),
        ([__file__], "must be a JSON file that TopK.save or Explanations.save wrote"),
    ],
)
def test_errors_say_what_is_wrong(saved, arguments, message):
    result = run(*(argument.format(saved=saved) for argument in arguments))
    assert isinstance(result.exception, topshap.ParameterError)
    with pytest.raises(topshap.ParameterError, match=message):
        raise result.exception
