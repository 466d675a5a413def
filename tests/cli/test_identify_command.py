"""topshap identify, and how all commands handle Ctrl-C and errors."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import topshap

TOPSHAP = Path(sys.executable).with_name("topshap")
CODE = """
import os, signal
import numpy as np

signal.signal(signal.SIGINT, signal.default_int_handler)
strength = np.array([3.0, 0.5, 2.0, 0.1, 1.0, 0.0, 0.2, 0.3, 0.0, 0.1])


def game(coalitions):
    # not a matrix product, whose last bit depends on how many rows there are
    return (coalitions * strength).sum(axis=1) + 2.0 * (coalitions[:, 2] & coalitions[:, 4])


class Slow:
    n_players, player_names, fingerprint = 10, tuple("abcdefghij"), "slow-1"

    def __call__(self, coalitions):
        with open("calls.txt", "a") as file:
            file.write("x" * len(coalitions))
        if os.environ.get("STOP_AT") and os.path.getsize("calls.txt") >= int(os.environ["STOP_AT"]):
            os.kill(os.getpid(), signal.SIGINT)
        return game(coalitions)


slow = Slow()


def broken(coalitions):
    raise ConnectionError("no answer")
"""


def topshap_command(folder, *arguments, **environment):
    return subprocess.run(
        [TOPSHAP, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
        env={**os.environ, **environment},
    )


@pytest.fixture
def code(tmp_path):
    (tmp_path / "my_code.py").write_text(CODE)
    return tmp_path


def test_a_function_from_the_current_folder_is_run(code):
    arguments = ["identify", "my_code:game", "--players", 10, "-k", 3, "--budget", 200]
    result = topshap_command(code, *arguments, "--json", "--jobs", 2, "--store", "run.db")
    assert result.returncode == 0, result.stderr
    assert set(json.loads(result.stdout)["players"]) == {0, 2, 4}
    alone = topshap_command(code, *arguments, "--json", "--report", "out.html")
    assert json.loads(alone.stdout) == json.loads(result.stdout)
    assert "The top 3 of my_code:game" in (code / "out.html").read_text(encoding="utf-8")


def test_algorithm_guarantee_and_range_are_passed_on(code):
    arguments = ["--players", 10, "-k", 3, "--epsilon", 2, "--guarantee", "exact", "--value-range", 0, 10]
    result = topshap_command(code, "identify", "my_code:game", *arguments, "--algorithm", "swap@k", "--json")
    found = json.loads(result.stdout)
    assert (found["guarantee"], found["value_range"], found["algorithm"]) == ("exact", [0.0, 10.0], "swap@k")


def test_rank_by_is_passed_on(code):
    arguments = ["--players", 10, "-k", 3, "--budget", 200, "--rank-by", "magnitude"]
    result = topshap_command(code, "identify", "my_code:game", *arguments)
    assert result.stdout.startswith("Top 3 of 10 players by magnitude"), result.stderr


def test_ctrl_c_keeps_the_store_and_says_how_to_resume(code):
    arguments = ["identify", "my_code:slow", "-k", "3", "--budget", "120", "--store", "run.db", "--json"]
    stopped = topshap_command(code, *arguments, STOP_AT="20")
    assert stopped.returncode == 130
    assert "All evaluations are in run.db" in stopped.stderr
    assert "topshap identify my_code:slow -k 3 --budget 120 --store run.db --json" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    resumed = topshap_command(code, *arguments)
    assert resumed.returncode == 0, resumed.stderr
    (code / "run.db").unlink()
    fresh = topshap_command(code, *arguments)
    assert json.loads(resumed.stdout) == json.loads(fresh.stdout)


def test_ctrl_c_without_a_store_suggests_a_store(code):
    stopped = topshap_command(code, "identify", "my_code:slow", "-k", "3", STOP_AT="1")
    assert stopped.returncode == 130
    assert "With --store FILE, the same command resumes" in stopped.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["my_code:gaem", "-k", "3"], "The module 'my_code' has no attribute 'gaem'. Did you mean 'game'?"),
        (["no_such_code:game", "-k", "3"], "The module 'no_such_code' is neither installed"),
        (["my_code", "-k", "3"], "must be module:name"),
        (["my_code:game", "-k", "3"], "The 'n_players' parameter of identify must be given"),
        (["my_code:game", "-k", "3", "--players", "10", "--algorithm", "magic"], "Got 'magic' instead"),
    ],
)
def test_errors_are_one_line_and_exit_code_1(code, arguments, message):
    result = topshap_command(code, "identify", *arguments)
    assert result.returncode == 1
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_the_error_of_a_failing_game_names_the_coalition_and_counts_the_attempts(code):
    result = topshap_command(code, "identify", "my_code:broken", "-k", "1", "--players", "2")
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1].startswith("Error: The coalition {} could not be evaluated in 4 attempts")
    assert "Traceback" not in result.stderr


def test_usage_errors_have_exit_code_2(code):
    assert topshap_command(code, "identify", "my_code:game").returncode == 2


def test_the_error_about_a_failing_module_names_it(tmp_path, monkeypatch, run):
    (tmp_path / "failing_code.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(tmp_path)
    result = run("identify", "failing_code:game", "-k", 1)
    assert str(result.exception) == "Cannot import the module 'failing_code': ZeroDivisionError: division by zero"


def test_a_game_without_a_fingerprint_needs_a_name_in_a_store(tmp_path, monkeypatch, run):
    (tmp_path / "opaque_code.py").write_text(
        "import sys\ndef game(c, out=iter(sys.stdin)):\n    return c.sum(axis=1)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    arguments = ["identify", "opaque_code:game", "--players", 4, "-k", 1, "--store", tmp_path / "run.db"]
    refused = run(*arguments)
    assert isinstance(refused.exception, topshap.ParameterError)
    assert "give the game a name with --name" in str(refused.exception)
    assert run(*arguments, "--name", "opaque-1").exit_code == 0


def test_help_shows_an_example(run):
    for command in ("select", "explain", "identify", "demo", "show"):
        assert f"topshap {command} " in run(command, "--help").output


def test_a_game_with_several_outputs_prints_and_writes_all_of_them(code):
    (code / "outputs.py").write_text(
        "from my_code import game\ndef both(c):\n    return game(c)[:, None] * [1.0, -1.0]"
    )
    arguments = ["identify", "outputs:both", "--players", 10, "-k", 3, "--budget", 200]
    result = topshap_command(code, *arguments, "--store", "run.db", "--name", "both-v1", "--report", "out.html")
    assert result.returncode == 0, result.stderr
    assert "for each of 2 outputs after 200 evaluations" in result.stdout
    assert (code / "out.html").read_text(encoding="utf-8").count("<details") == 2
    as_json = topshap_command(code, *arguments, "--store", "run.db", "--name", "both-v1", "--json")
    assert json.loads(as_json.stdout)["format"] == "topshap.TopKs"
    assert "outputs     2" in topshap_command(code, "store", "info", "run.db").stdout
    assert "200 values" in topshap_command(code, "store", "check", "run.db").stdout
    assert topshap_command(code, "store", "export", "run.db", "run.csv").returncode == 0
    assert (code / "run.csv").read_text().splitlines()[0].endswith(",draw,value_0,value_1")
    (code / "top.json").write_text(as_json.stdout)
    assert "for each of 2 outputs" in topshap_command(code, "show", "top.json").stdout
    assert topshap_command(code, "show", "top.json", "--plot", "map.png").returncode == 0
    refused = topshap_command(code, "show", "top.json", "--plot", "race.png", "--kind", "race")
    assert "The plot 'race' is of one output, and the result has 2" in refused.stderr


def test_k_may_be_clear(code):
    arguments = ["--players", 10, "-k", "clear", "--epsilon", 0.2, "--report", "out.html", "--json"]
    result = topshap_command(code, "identify", "my_code:game", *arguments)
    found = json.loads(result.stdout)
    assert found["clear_gap"] is True
    assert f"The top {len(found['players'])} of my_code:game" in (code / "out.html").read_text(encoding="utf-8")


def test_pairs_on_the_command_line(code):
    done = topshap_command(
        code, "identify", "my_code:game", "--players", 10, "-k", 1, "--order", 2, "--budget", 1024, "--report", "r.html"
    )
    assert done.returncode == 0, done.stderr
    assert "Top 1 of 45 pairs of 10 players by magnitude" in done.stdout
    assert "2 x 4" in done.stdout
    assert 'class="network"' in (code / "r.html").read_text(encoding="utf-8")
    as_json = topshap_command(
        code, "identify", "my_code:game", "--players", 10, "-k", 1, "--order", 2, "--budget", 1024, "--json"
    )
    (code / "pairs.json").write_text(as_json.stdout, encoding="utf-8")
    assert topshap.load(code / "pairs.json").pairs.tolist() == [[2, 4]]
    shown = topshap_command(code, "show", "pairs.json", "--plot", "network.svg", "--kind", "network")
    assert "2 x 4" in shown.stdout
    assert "<svg" in (code / "network.svg").read_text(encoding="utf-8")
    wrong = topshap_command(code, "identify", "my_code:game", "--players", 10, "-k", 1, "--order", 3)
    assert wrong.returncode != 0
