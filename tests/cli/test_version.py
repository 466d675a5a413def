"""topshap --version."""

from typer.testing import CliRunner

import topshap
from topshap import cli


def test_the_version_is_that_of_the_package():
    result = CliRunner().invoke(cli.build(), ["--version"], catch_exceptions=False)
    assert result.exit_code == 0
    assert result.output == f"topshap {topshap.__version__}\n"
