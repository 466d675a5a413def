"""An OpenAI-compatible server in its own process, with a small language model."""

import pytest

from topshap_bench.prompts.launch import served


@pytest.fixture(scope="session")
def process():
    """Start the server once."""
    pytest.importorskip("httpx")
    with served(lifetime=900.0) as server:
        yield server


@pytest.fixture
def server(process):
    """Return the server without faults; `server.start_anew` sets them."""
    return process.start_anew()
