"""topshap --version."""

import subprocess
import sys

from typer.testing import CliRunner

import topshap
from topshap import cli


def test_the_version_is_that_of_the_package():
    result = CliRunner().invoke(cli.build(), ["--version"], catch_exceptions=False)
    assert result.exit_code == 0
    assert result.output == f"topshap {topshap.__version__}\n"


def test_topshap_runs_as_a_module():
    result = subprocess.run([sys.executable, "-m", "topshap", "--version"], capture_output=True, text=True, check=True)
    assert result.stdout == f"topshap {topshap.__version__}\n"
