"""What the README shows is true."""

import re
from pathlib import Path

import topshap

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_every_python_block_runs(capsys):
    namespace: dict[str, object] = {}
    assert len(blocks("python")) >= 4
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), namespace)  # noqa: S102 - our own text
    assert "Top 3 of 10 players" in capsys.readouterr().out


def test_every_shell_command_is_a_make_target():
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    commands = [line.split("#")[0].split() for block in blocks("bash") for line in block.splitlines()]
    assert [command[1] for command in commands] == ["demo", "test"]
    assert all(command[0] == "make" and command[1] in targets for command in commands)


def test_the_table_names_every_algorithm():
    table = README[README.index("| name |") :]
    rows = [row.split("|")[1] for row in table.splitlines() if row.startswith("|")]
    named = set(re.findall(r"`([a-z@-]+)`", "\n".join(rows)))
    assert named == set(topshap.algorithms.ALGORITHMS)


def test_all_code_is_python_or_shell():
    assert len(re.findall(r"^```", README, flags=re.MULTILINE)) == 2 * (len(blocks("python")) + len(blocks("bash")))
