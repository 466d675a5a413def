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


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    game = topshap.games.UnanimityGame([[0], [1, 2], [2, 3]], [3.0, 1.0, 2.0], n_players=10)
    path = tmp_path_factory.mktemp("many") / "tops.json"
    topshap.Explanations([topshap.identify(game, k=2, budget=b, random_state=0) for b in (100, 200)]).save(path)
    return path


@pytest.mark.parametrize("kind", [[], ["--kind", "beeswarm"], ["--kind", "bar"], ["--kind", "heat_map"]])
def test_a_file_with_many_rows_is_printed_drawn_and_reported(many, tmp_path, kind):
    result = run(many, "--plot", tmp_path / "out.png", *kind, "--report", tmp_path / "out.html", "--title", "Who?")
    assert result.exit_code == 0
    assert result.output.startswith("2 explanations of 10 players")
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    assert "<h1>Who?</h1>" in (tmp_path / "out.html").read_text(encoding="utf-8")


def test_a_plot_must_fit_the_file(many, saved, tmp_path):
    for path, kind in ((many, "race"), (saved, "bar")):
        result = run(path, "--plot", tmp_path / "out.png", "--kind", kind)
        with pytest.raises(topshap.ParameterError, match=f"must be one of .*. Got '{kind}' instead"):
            raise result.exception


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.json"], "The file 'missing.json' does not exist"),
        (["{saved}", "--plot", "out.docx"], "The plot must be a file of type .*png.* Got 'out.docx' instead"),
        (["{saved}", "--report", "no/r.html"], "Cannot write 'no/r.html': the directory 'no' does not exist"),
        ([__file__], "must be a JSON file that TopK.save, TopKs.save or Explanations.save wrote"),
    ],
)
def test_errors_say_what_is_wrong(saved, arguments, message):
    result = run(*(argument.format(saved=saved) for argument in arguments))
    assert isinstance(result.exception, topshap.ParameterError)
    with pytest.raises(topshap.ParameterError, match=message):
        raise result.exception
